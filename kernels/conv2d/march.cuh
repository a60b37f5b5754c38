/* march.cuh - the kernel of the best rung for small square filters.
 *
 * A thread owns four neighbouring columns and marches down HEIGHT rows. For every input row it holds the row's window in
 * registers, its own four elements and the neighbours on both sides, and adds what the row gives to the N outputs that
 * lie within the filter's reach: N sets of four sums, of which one is finished and stored a row, and its registers begin
 * the next. Every input row is read once (and N - 1 more where a march begins). The loop is unrolled N times, so that the set
 * a sum is in is known at compile time; taps are operands from the constant bank.
 *
 * The window is 1 + 2 QUADS loads of 128 bits. A warp's loads of its neighbours' elements hit the first-level cache. AHEAD rows
 * are under way while one is used. Where rows do not begin at 16 bytes, or cols is not a multiple of 4, the window is loaded
 * element by element (VECTOR is false).
 */
#ifndef MG_CONV2D_MARCH_CUH
#define MG_CONV2D_MARCH_CUH
#include "conv2d/conv2d_priv.h"

/* Columns col - 4 QUADS … col + 4 QUADS + 3 of one row of x; zeros outside. */
template <int QUADS, bool VECTOR> struct conv_window {
    float v[4 + 8 * QUADS];

    template <int REACH>
    __device__ void load(const conv_args &g, const float *row, int64_t col, bool inside) /* REACH: columns to each side */
    {
#pragma unroll
        for (int j = 0; j < 1 + 2 * QUADS; j++) {
            int64_t c = col + (j - QUADS) * 4;
            if (VECTOR) {
                float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                if (inside && c >= 0 && c < g.cols)
                    quad = __ldg(reinterpret_cast<const float4 *>(row + c));
                *reinterpret_cast<float4 *>(&v[j * 4]) = quad;
            } else {
#pragma unroll
                for (int e = 0; e < 4; e++)
                    if (j * 4 + e >= 4 * QUADS - REACH && j * 4 + e < 4 * QUADS + 4 + REACH)
                        v[j * 4 + e] = inside && c + e >= 0 && c + e < g.cols ? __ldg(row + c + e) : 0.0f;
            }
        }
    }
};

template <bool VECTOR>
__device__ static inline void conv_store(const conv_args &g, int64_t row, int64_t col, const float (&sum)[4])
{
    float *at = g.y + row * g.ldy + col;
    if (VECTOR) {
        if (col < g.cols)
            __stcs(reinterpret_cast<float4 *>(at), make_float4(sum[0], sum[1], sum[2], sum[3]));
    } else {
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (col + e < g.cols)
                at[e] = sum[e];
    }
}

template <int N, int AHEAD, int HEIGHT, int THREADS, int BLOCKS, bool VECTOR>
static __global__ __launch_bounds__(THREADS, BLOCKS) void conv_march(conv_args g, conv_filter filter)
{
    constexpr int R = N / 2, QUADS = (R + 3) / 4;
    int64_t tiles = (g.cols + THREADS * 4 - 1) / (THREADS * 4);
    int64_t row0 = blockIdx.x / tiles * HEIGHT, col = (blockIdx.x % tiles * THREADS + threadIdx.x) * 4;
    int height = g.rows - row0 < HEIGHT ? static_cast<int>(g.rows - row0) : HEIGHT;

    conv_window<QUADS, VECTOR> window[AHEAD + 1];
    int64_t row = row0 - R;
    const float *at = g.x + row * g.ldx;
#pragma unroll
    for (int i = 0; i < AHEAD; i++, row++, at += g.ldx)
        window[i].template load<R>(g, at, col, row >= 0 && row < g.rows);

    float sum[N][4];
#pragma unroll
    for (int s = 0; s < N; s++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            sum[s][e] = 0.0f;
    for (int base = 0; base < height + N - 1; base += N) {
#pragma unroll
        for (int u = 0; u < N; u++, row++, at += g.ldx) {
            window[AHEAD].template load<R>(g, at, col, row >= 0 && row < g.rows && base + u + AHEAD < height + N - 1);
#pragma unroll
            for (int p = 0; p < N; p++) {
                const int s = (u - p + N) % N; /* the output whose row p this is */
#pragma unroll
                for (int q = 0; q < N; q++)
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        sum[s][e] = fmaf(filter.f[p * N + q], window[0].v[4 * QUADS - R + q + e], sum[s][e]);
            }
            const int done = (u + 1) % N; /* it has had its last row */
            int out = base + u - (N - 1);
            if (out >= 0 && out < height)
                conv_store<VECTOR>(g, row0 + out, col, sum[done]);
#pragma unroll
            for (int e = 0; e < 4; e++)
                sum[done][e] = 0.0f;
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
                window[i] = window[i + 1];
        }
    }
}
#endif
