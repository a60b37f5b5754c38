/* 04_replicated.cu - copies interleaved so that each lane has its own bank.
 *
 * Adds: bin b of copy c is word b * copies + c of shared memory, and lane l counts in copy l modulo copies. With 32
 * copies a lane never leaves its bank. Bytes always have 32 (32 KB a block); of other keys there are as many copies, a
 * power of two, as fit COPIES_BYTES, and one where the bins fill more than half of that. Keys are read 16 bytes at a
 * time, several reads ahead of the first addition.
 * Gains: the additions of a warp take one wavefront, whether its keys are random, all the same, or chosen to collide.
 * What is left is reading the keys, which takes all of DRAM's rate.
 */
#include "histogram/histogram_priv.h"

enum { THREADS = 512, VECTORS = 4, COPIES_BYTES = 64 << 10 };

/* `bins` words from `low` on get the sums of the block's copies. */
static __device__ void add_up(const uint32_t *counts, uint32_t range, int copies_log2, uint32_t *bins)
{
    uint32_t last = (1u << copies_log2) - 1;
    for (uint32_t b = threadIdx.x; b < range; b += THREADS) {
        uint32_t sum = 0;
        for (uint32_t c = 0; c <= last; c++) /* each lane begins in another bank */
            sum += counts[(b << copies_log2) + ((c + b) & last)];
        if (sum)
            atomicAdd(&bins[b], sum);
    }
}

static __device__ void clear(uint32_t *counts, uint32_t words)
{
    for (uint32_t w = threadIdx.x; w < words; w += THREADS)
        counts[w] = 0;
}

/* Four bytes: bin b is 128 * b bytes into the counts, and `mine` the lane's place in that. */
static __device__ void count_bytes(uint32_t *mine, uint32_t four)
{
    atomicAdd(&mine[four << 5 & 0x1fe0], 1u);
    atomicAdd(&mine[four >> 3 & 0x1fe0], 1u);
    atomicAdd(&mine[four >> 11 & 0x1fe0], 1u);
    atomicAdd(&mine[four >> 19 & 0x1fe0], 1u);
}

__global__ void __launch_bounds__(THREADS)
    histogram_replicated_u8(int64_t n, const uint8_t *x, int64_t head, uint32_t *bins)
{
    __shared__ uint32_t counts[256 * 32];
    clear(counts, 256 * 32);
    __syncthreads();
    uint32_t *mine = counts + threadIdx.x % 32;
    int64_t first = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    int64_t step = static_cast<int64_t>(gridDim.x) * THREADS;
    const uint4 *vectors = reinterpret_cast<const uint4 *>(x + head);
    int64_t count = (n - head) / 16, i = first;
    for (; i + (VECTORS - 1) * step < count; i += VECTORS * step) {
        uint4 v[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            v[k] = __ldcs(vectors + i + k * step);
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            count_bytes(mine, v[k].x);
            count_bytes(mine, v[k].y);
            count_bytes(mine, v[k].z);
            count_bytes(mine, v[k].w);
        }
    }
    for (; i < count; i += step) {
        uint4 v = __ldcs(vectors + i);
        count_bytes(mine, v.x);
        count_bytes(mine, v.y);
        count_bytes(mine, v.z);
        count_bytes(mine, v.w);
    }
    for (i = first; i < head; i += step)
        atomicAdd(&mine[x[i] * 32], 1u);
    for (i = head + count * 16 + first; i < n; i += step)
        atomicAdd(&mine[x[i] * 32], 1u);
    __syncthreads();
    add_up(counts, 256, 5, bins);
}

__global__ void __launch_bounds__(THREADS)
    histogram_replicated_u32(int64_t n, const uint32_t *x, int64_t head, uint32_t low, uint32_t range, int copies_log2,
                             uint32_t *bins)
{
    extern __shared__ uint32_t counts[];
    clear(counts, range << copies_log2);
    __syncthreads();
    uint32_t *mine = counts + (threadIdx.x & ((1u << copies_log2) - 1));
    auto add = [&](uint32_t key) {
        uint32_t bin = key - low;
        if (bin < range)
            atomicAdd(&mine[bin << copies_log2], 1u);
    };
    int64_t first = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    int64_t step = static_cast<int64_t>(gridDim.x) * THREADS;
    const uint4 *vectors = reinterpret_cast<const uint4 *>(x + head);
    int64_t count = (n - head) / 4, i = first;
    for (; i + (VECTORS - 1) * step < count; i += VECTORS * step) {
        uint4 v[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            v[k] = __ldcs(vectors + i + k * step);
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            add(v[k].x);
            add(v[k].y);
            add(v[k].z);
            add(v[k].w);
        }
    }
    for (; i < count; i += step) {
        uint4 v = __ldcs(vectors + i);
        add(v.x);
        add(v.y);
        add(v.z);
        add(v.w);
    }
    for (i = first; i < head; i += step)
        add(x[i]);
    for (i = head + count * 4 + first; i < n; i += step)
        add(x[i]);
    __syncthreads();
    add_up(counts, range, copies_log2, bins + low);
}

/* Keys before the first 16-byte boundary. */
static int64_t head_of(const struct mg__histogram *call)
{
    uintptr_t past = reinterpret_cast<uintptr_t>(call->x) % 16;
    int64_t head = static_cast<int64_t>((16 - past) % 16) / call->size;
    return head < call->n ? head : call->n;
}

/* How many bins a block can have at all on this device; 0 when the runtime does not tell. */
static int64_t most_bins(void)
{
    int device = 0, bytes = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
        return 0;
    return bytes / 4;
}

static enum mg_kernels_status replicated_u32(const struct mg__histogram *call)
{
    int64_t most = most_bins();
    /* Keys have 32 bits: bins from 2^32 on stay empty. */
    int64_t nbins = call->nbins < INT64_C(1) << 32 ? call->nbins : INT64_C(1) << 32;
    if (nbins > most * MG__HISTOGRAM_PASSES)
        return mg__histogram_global(call);
    enum mg_kernels_status status = mg__histogram_clear(call);
    for (int64_t low = 0; low < nbins && status == MG_KERNELS_OK; low += most) {
        int64_t range = nbins - low < most ? nbins - low : most;
        int copies_log2 = 5;
        while (copies_log2 > 0 && range << copies_log2 > COPIES_BYTES / 4)
            copies_log2--;
        int64_t words = range << copies_log2;
        size_t shared = static_cast<size_t>(words) * 4;
        if (shared > MG__HISTOGRAM_STATIC)
            status = mg__kernels_status(cudaFuncSetAttribute(
                histogram_replicated_u32, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most * 4)));
        int64_t blocks = most / words < 1 ? 1 : most / words > 2048 / THREADS ? 2048 / THREADS : most / words;
        if (status == MG_KERNELS_OK)
            status =
                mg__kernels_launch(histogram_replicated_u32,
                                   dim3(mg__histogram_grid(call, words, THREADS * 4, mg__kernels_sm_count() * blocks)),
                                   dim3(THREADS), shared, call->stream, call->n, static_cast<const uint32_t *>(call->x),
                                   head_of(call), low, range, copies_log2, call->bins);
    }
    return status;
}

enum mg_kernels_status mg__histogram_replicated(const struct mg__histogram *call)
{
    if (call->size == 4)
        return replicated_u32(call);
    enum mg_kernels_status status = mg__histogram_clear(call);
    if (status != MG_KERNELS_OK)
        return status;
    int64_t resident = mg__kernels_sm_count() * int64_t{2048 / THREADS};
    return mg__kernels_launch(histogram_replicated_u8, dim3(mg__histogram_grid(call, 256 * 32, THREADS * 16, resident)),
                              dim3(THREADS), 0, call->stream, call->n, static_cast<const uint8_t *>(call->x),
                              head_of(call), call->bins);
}
