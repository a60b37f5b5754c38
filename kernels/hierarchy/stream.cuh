/* stream.cuh - bandwidth: all threads read as fast as they can, in a pattern that suits the level.
 *
 * Loads are of 16 bytes where x allows, UNROLL of them before the first is used, so that what counts is how many bytes
 * the level delivers and not how long it takes to. Nothing is read ahead of the clock on purpose: a caller who wants
 * the cache warm makes more steps. What is read is summed, lest the compiler drop it; one atomic addition a block makes
 * it a result.
 */
#ifndef MG_HIERARCHY_STREAM_CUH
#define MG_HIERARCHY_STREAM_CUH
#include "hierarchy/hierarchy_priv.h"

enum stream_level { STREAM_SHARED, STREAM_L1, STREAM_PAST_L1 };
enum { STREAM_UNROLL = 8 };

/* One atomic addition a warp, to what is 0 before the kernel starts. */
static __device__ inline void mg__hierarchy_result(uint32_t sum, uint32_t *out)
{
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, sum);
}

/* Vector v of x; ALIGNED: x is a multiple of 16 bytes and n at least 4. */
template <enum stream_level LEVEL, bool ALIGNED>
static __device__ inline uint4 mg__stream_load(const uint32_t *x, int64_t n, int64_t v)
{
    uint4 r;
    if (!ALIGNED) {
        const uint32_t *p = x + 4 * v;
        if (LEVEL == STREAM_PAST_L1)
            return make_uint4(__ldcg(p), __ldcg(x + (4 * v + 1) % n), __ldcg(x + (4 * v + 2) % n),
                              __ldcg(x + (4 * v + 3) % n));
        return make_uint4(p[0], x[(4 * v + 1) % n], x[(4 * v + 2) % n], x[(4 * v + 3) % n]);
    }
    if (LEVEL == STREAM_L1)
        asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
                     : "l"(x + 4 * v));
    else
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
                     : "l"(x + 4 * v));
    return r;
}

/* I: int32_t where vectors can be counted in it, which saves a few operations a load. */
template <enum stream_level LEVEL, bool ALIGNED, typename I>
static __global__ void __launch_bounds__(HIERARCHY_THREADS, HIERARCHY_BLOCKS)
    hierarchy_stream(int64_t n, I vectors, I begin_step, const uint32_t *x, int64_t steps, uint32_t *out)
{
    extern __shared__ uint4 tile[];
    if (LEVEL == STREAM_SHARED) {
        for (I v = static_cast<I>(threadIdx.x); v < vectors; v += HIERARCHY_THREADS)
            tile[v] = mg__stream_load<STREAM_L1, ALIGNED>(x, n, v);
        __syncthreads();
    }
    I at = static_cast<I>(threadIdx.x);
    if (LEVEL == STREAM_PAST_L1)
        at += static_cast<I>(blockIdx.x) * HIERARCHY_THREADS;
    at %= vectors;
    uint32_t sum = 0;
    uint32_t base = LEVEL == STREAM_SHARED ? static_cast<uint32_t>(__cvta_generic_to_shared(tile)) : 0;
    auto next = [&] {
        uint4 r;
        if (LEVEL == STREAM_SHARED)
            asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
                         : "r"(base + static_cast<uint32_t>(at) * 16));
        else
            r = mg__stream_load<LEVEL, ALIGNED>(x, n, at);
        at += begin_step; /* less than vectors */
        at -= at >= vectors ? vectors : 0;
        return r;
    };
    for (int64_t j = steps / STREAM_UNROLL; j > 0; j--) {
        uint4 r[STREAM_UNROLL];
#pragma unroll
        for (int k = 0; k < STREAM_UNROLL; k++)
            r[k] = next();
#pragma unroll
        for (int k = 0; k < STREAM_UNROLL; k++)
            sum += r[k].x + r[k].y + r[k].z + r[k].w;
    }
    for (int64_t j = steps % STREAM_UNROLL; j > 0; j--) {
        uint4 r = next();
        sum += r.x + r.y + r.z + r.w;
    }
    mg__hierarchy_result(sum, out);
}

template <enum stream_level LEVEL, bool ALIGNED, typename I>
static enum mg_kernels_status mg__stream_launch(const struct mg__hierarchy *call)
{
    unsigned blocks = mg__hierarchy_blocks();
    int64_t vectors = call->n < 4 ? 1 : call->n / 4;
    int64_t step = LEVEL == STREAM_PAST_L1 ? static_cast<int64_t>(blocks) * HIERARCHY_THREADS : HIERARCHY_THREADS;
    size_t shared = LEVEL == STREAM_SHARED ? static_cast<size_t>(vectors) * sizeof(uint4) : 0;
    cudaError_t error = cudaMemsetAsync(call->out, 0, 3 * sizeof *call->out, call->stream);
    if (error != cudaSuccess)
        return mg__kernels_status(error);
    return mg__kernels_launch(hierarchy_stream<LEVEL, ALIGNED, I>, dim3(blocks), dim3(HIERARCHY_THREADS), shared,
                              call->stream, call->n, static_cast<I>(vectors), static_cast<I>(step % vectors), call->x,
                              call->steps, call->out);
}

template <enum stream_level LEVEL> static enum mg_kernels_status mg__stream(const struct mg__hierarchy *call)
{
    bool narrow = call->n < INT64_C(1) << 31; /* a grid's threads more than the vectors still fit */
    if (call->n < 4 || reinterpret_cast<uintptr_t>(call->x) % 16 != 0)
        return mg__stream_launch<LEVEL, false, int64_t>(call);
    return narrow ? mg__stream_launch<LEVEL, true, int32_t>(call) : mg__stream_launch<LEVEL, true, int64_t>(call);
}
#endif
