/* replicated.cuh - the kernels of the rung "replicated", for any number of threads and of reads ahead.
 *
 * Bin b of copy c is word b * copies + c of shared memory, and lane l counts in copy l modulo copies. Bytes always have
 * 32 copies; of other keys there are 2^copies_log2, for the bins from `low` on, `range` of them. A thread has VECTORS
 * reads of 16 bytes under way.
 */
#ifndef MG_HISTOGRAM_REPLICATED_CUH
#define MG_HISTOGRAM_REPLICATED_CUH
#include "histogram/histogram_priv.h"

/* `bins` words from `low` on get the sums of the block's copies. */
template <int THREADS>
static __device__ void histogram_add_up(const uint32_t *counts, uint32_t range, int copies_log2, uint32_t *bins)
{
    uint32_t last = (1u << copies_log2) - 1;
    for (uint32_t b = threadIdx.x; b < range; b += THREADS) {
        uint32_t sum = 0;
        for (uint32_t c = 0; c <= last; c++) /* each lane reads from another bank */
            sum += counts[(b << copies_log2) + ((c + (b >> (5 - copies_log2))) & last)];
        if (sum)
            atomicAdd(&bins[b], sum);
    }
}

template <int THREADS> static __device__ void histogram_zero(uint32_t *counts, uint32_t words)
{
    for (uint32_t w = threadIdx.x; w < words; w += THREADS)
        counts[w] = 0;
}

/* Four bytes: bin b is 128 * b bytes into the counts, and `mine` the lane's place in that. */
static __device__ inline void histogram_count_bytes(uint32_t *mine, uint32_t four)
{
    atomicAdd(&mine[four << 5 & 0x1fe0], 1u);
    atomicAdd(&mine[four >> 3 & 0x1fe0], 1u);
    atomicAdd(&mine[four >> 11 & 0x1fe0], 1u);
    atomicAdd(&mine[four >> 19 & 0x1fe0], 1u);
}

/* Calls four(v) for the 16 bytes of each vector, from element `head` on where they are aligned, VECTORS of them read ahead;
 * one(x) for the elements before and behind. */
template <int THREADS, int VECTORS, typename T, typename Four, typename One>
static __device__ inline void histogram_sweep(int64_t n, const T *x, int64_t head, Four four, One one)
{
    constexpr int EACH = 16 / sizeof(T);
    int64_t first = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    int64_t step = static_cast<int64_t>(gridDim.x) * THREADS;
    const uint4 *vectors = reinterpret_cast<const uint4 *>(x + head);
    int64_t count = (n - head) / EACH, i = first;
    for (; i + (VECTORS - 1) * step < count; i += VECTORS * step) {
        uint4 v[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            v[k] = __ldcs(vectors + i + k * step);
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            four(v[k]);
    }
    for (; i < count; i += step)
        four(__ldcs(vectors + i));
    for (i = first; i < head; i += step)
        one(x[i]);
    for (i = head + count * EACH + first; i < n; i += step)
        one(x[i]);
}

template <int THREADS, int VECTORS>
static __global__ void __launch_bounds__(THREADS)
    histogram_replicated_u8(int64_t n, const uint8_t *x, int64_t head, uint32_t *bins)
{
    __shared__ uint32_t counts[256 * 32];
    histogram_zero<THREADS>(counts, 256 * 32);
    __syncthreads();
    uint32_t *mine = counts + threadIdx.x % 32;
    histogram_sweep<THREADS, VECTORS>(
        n, x, head,
        [=](uint4 v) {
            histogram_count_bytes(mine, v.x);
            histogram_count_bytes(mine, v.y);
            histogram_count_bytes(mine, v.z);
            histogram_count_bytes(mine, v.w);
        },
        [=](uint8_t byte) { atomicAdd(&mine[byte * 32], 1u); });
    __syncthreads();
    histogram_add_up<THREADS>(counts, 256, 5, bins);
}

template <int THREADS, int VECTORS>
static __global__ void __launch_bounds__(THREADS)
    histogram_replicated_u32(int64_t n, const uint32_t *x, int64_t head, uint32_t low, uint32_t range, int copies_log2,
                             uint32_t *bins)
{
    extern __shared__ uint32_t counts[];
    histogram_zero<THREADS>(counts, range << copies_log2);
    __syncthreads();
    uint32_t *mine = counts + (threadIdx.x & ((1u << copies_log2) - 1));
    auto add = [&](uint32_t key) {
        uint32_t bin = key - low;
        if (bin < range)
            atomicAdd(&mine[bin << copies_log2], 1u);
    };
    histogram_sweep<THREADS, VECTORS>(
        n, x, head,
        [=](uint4 v) {
            add(v.x);
            add(v.y);
            add(v.z);
            add(v.w);
        },
        add);
    __syncthreads();
    histogram_add_up<THREADS>(counts, range, copies_log2, bins + low);
}
#endif
