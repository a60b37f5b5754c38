/* quads.cuh - the kernel of the best rung, for any number of threads.
 *
 * A thread takes four neighbouring elements, a quad. The elements on both sides are those of the neighbouring lanes: up
 * to radius 4 they come by shuffles, and only the first and the last lane load a quad more; beyond that the
 * neighbouring quads are loaded again, from the first-level cache.
 */
#ifndef MG_STENCIL1D_QUADS_CUH
#define MG_STENCIL1D_QUADS_CUH
#include "stencil1d/stencil1d_priv.h"

/* Quad q of x: zeros outside, a part of it where x ends within. INSIDE: it is known to be whole. */
template <bool INSIDE> __device__ static inline float4 stencil_quad(const stencil_args &g, int64_t q)
{
    if (INSIDE)
        return __ldg(reinterpret_cast<const float4 *>(g.x) + q);
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (q < 0)
        return v;
    if (q * 4 + 4 <= g.n)
        return __ldg(reinterpret_cast<const float4 *>(g.x) + q);
    if (q * 4 < g.n)
        v.x = g.x[q * 4];
    if (q * 4 + 1 < g.n)
        v.y = g.x[q * 4 + 1];
    if (q * 4 + 2 < g.n)
        v.z = g.x[q * 4 + 2];
    return v;
}

__device__ static inline void stencil_put(float *to, float4 v)
{
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

/* The elements of quad q and its neighbours, which are loaded here. */
template <int QUADS, bool INSIDE>
__device__ static inline void stencil_window(const stencil_args &g, int64_t q, float (&window)[4 + 8 * QUADS])
{
#pragma unroll
    for (int s = -QUADS; s <= QUADS; s++)
        stencil_put(&window[4 * (QUADS + s)], stencil_quad<INSIDE>(g, q + s));
}

/* The same for a radius up to 4, from the neighbouring lanes: only what the radius needs. */
template <int RADIUS>
__device__ static inline void stencil_exchange(const stencil_args &g, int64_t q, float (&window)[12])
{
    int lane = threadIdx.x % 32;
    float edge[4] = {};
    stencil_put(&window[4], stencil_quad<false>(g, q));
    if (lane == 0 || lane == 31)
        stencil_put(edge, stencil_quad<false>(g, lane ? q + 1 : q - 1));
#pragma unroll
    for (int d = 1; d <= RADIUS; d++) {
        float left = __shfl_up_sync(0xffffffffu, window[8 - d], 1);
        float right = __shfl_down_sync(0xffffffffu, window[3 + d], 1);
        window[4 - d] = lane == 0 ? edge[4 - d] : left;
        window[7 + d] = lane == 31 ? edge[d - 1] : right;
    }
}

template <int RADIUS, int THREADS> static __global__ __launch_bounds__(THREADS) void stencil_quads(stencil_args g)
{
    constexpr int QUADS = (RADIUS + 3) / 4, SIDE = 4 * QUADS;
    int64_t first = static_cast<int64_t>(blockIdx.x) * THREADS, q = first + threadIdx.x;
    float window[4 + 2 * SIDE];
    if constexpr (RADIUS >= 1 && RADIUS <= 4)
        stencil_exchange<RADIUS>(g, q, window);
    else if (first >= QUADS &&
             (first + THREADS + QUADS) * 4 <= g.n) /* the whole block, which then loads without asking */
        stencil_window<QUADS, true>(g, q, window);
    else
        stencil_window<QUADS, false>(g, q, window);
    float sum[4] = {};
#pragma unroll
    for (int d = 0; d <= 2 * RADIUS; d++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            sum[e] = fmaf(g.weights[d], window[SIDE - RADIUS + e + d], sum[e]);
    if (q * 4 + 4 <= g.n) {
        __stcs(reinterpret_cast<float4 *>(g.y) + q, make_float4(sum[0], sum[1], sum[2], sum[3]));
    } else {
#pragma unroll
        for (int e = 0; e < 3; e++)
            if (q * 4 + e < g.n)
                g.y[q * 4 + e] = sum[e];
    }
}
#endif
