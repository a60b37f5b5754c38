/* pipelined.cuh - the kernel of the rung "pipelined", which says how it works, for any shape: THREADS that scan (a warp
 * more looks back), VECTORS of 16 bytes a thread and tile, STAGES of the ring, BLOCKS a multiprocessor, LOOK words a
 * lane. */
#ifndef MG_SCAN_PIPELINED_CUH
#define MG_SCAN_PIPELINED_CUH
#include "scan/look_back.cuh"

static __device__ inline void copy_async(uint4 *to, const void *from)
{
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}
static __device__ inline void copy_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int PENDING> static __device__ inline void copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* Starts to read a tile into the thread's own slots, THREADS apart. Tiles at the ends are read at once, what is outside
 * as 0. */
template <typename T, int THREADS, int VECTORS>
static __device__ inline void prefetch(uint4 *slots, const T *x, int64_t n, int64_t start)
{
    int64_t at = start + (threadIdx.x / 32) * (VECTORS * 128) + threadIdx.x % 32 * 4;
    if (start >= 0 && start + THREADS * VECTORS * 4 <= n) {
#pragma unroll
        for (int r = 0; r < VECTORS; r++)
            copy_async(slots + r * THREADS, x + at + r * 128);
    } else {
        for (int r = 0; r < VECTORS; r++) {
            T e[4];
            for (int k = 0; k < 4; k++) {
                int64_t i = at + r * 128 + k;
                e[k] = i >= 0 && i < n ? x[i] : T(0);
            }
            slots[r * THREADS] = scan_pack(e);
        }
    }
}

/* The sum of what the thread's slots hold. */
template <typename T, int THREADS, int VECTORS> static __device__ inline T slots_sum(const uint4 *slots)
{
    T sum = T(0);
#pragma unroll
    for (int r = 0; r < VECTORS; r++) {
        T e[4];
        scan_unpack(slots[r * THREADS], e);
        sum = sum + ((e[0] + e[1]) + (e[2] + e[3]));
    }
    return sum;
}
template <typename T> static __device__ inline T warp_sum(T v) /* in all lanes */
{
    for (int d = 16; d > 0; d /= 2)
        v = v + __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

enum { RING = 8 }; /* of small things, by tile: more than the tiles that are under way */

template <typename T, bool ALIKE, int THREADS, int VECTORS, int STAGES, int BLOCKS, int LOOK>
static __global__ void __launch_bounds__(THREADS + 32, BLOCKS)
    scan_pipelined_kernel(bool exclusive, int64_t n, int64_t phase, unsigned tiles, const T *x, T *y, unsigned *tickets,
                          uint64_t *words)
{
    constexpr int WARPS = THREADS / 32;
    constexpr int64_t TILE = THREADS * VECTORS * 4;
    static_assert(STAGES >= 3 && STAGES + 2 <= RING && WARPS <= 32, "tiles under way, warps that a warp can sum");
    extern __shared__ uint4 ring[]; /* STAGES x VECTORS x THREADS */
    __shared__ T sums[RING][WARPS];
    __shared__ T prefixes[RING];
    __shared__ unsigned numbers[RING]; /* the tickets */
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool scout = warp == WARPS;

    for (int s = 0; s < STAGES - 1; s++) { /* one after the other, so that blocks draw by turns */
        if (threadIdx.x == THREADS)
            numbers[s] = atomicAdd(tickets, 1u);
        __syncthreads();
        if (!scout) {
            if (numbers[s] < tiles)
                prefetch<T, THREADS, VECTORS>(ring + s * (VECTORS * THREADS) + threadIdx.x, x, n,
                                              numbers[s] * TILE - phase);
            copy_commit();
        }
    }
    unsigned stage = STAGES - 2; /* of tile j */
    for (int64_t j = -2; j < 0 || numbers[j % RING] < tiles; j++) {
        if (scout) {
            unsigned ticket = 0;
            if (lane == 0)
                ticket = atomicAdd(tickets, 1u);
            if (j >= -1 && numbers[(j + 1) % RING] < tiles) {
                T all = warp_sum(lane < WARPS ? sums[(j + 1) % RING][lane] : T(0));
                T prefix = look_back_and_publish<LOOK>(words, numbers[(j + 1) % RING], all);
                if (lane == 0)
                    prefixes[(j + 1) % RING] = prefix;
            }
            if (lane == 0)
                numbers[(j + 1 + STAGES) % RING] = ticket;
        } else {
            uint4 *slots = ring + stage * (VECTORS * THREADS) + threadIdx.x;
            if (j >= 0) {
                int64_t start = numbers[j % RING] * TILE - phase;
                scan_tile<T, THREADS, VECTORS> tile;
                tile.place(start);
#pragma unroll
                for (int r = 0; r < VECTORS; r++)
                    scan_unpack(slots[r * THREADS], tile.e[r]);
                T within = warp_sum(lane < warp ? sums[j % RING][lane] : T(0));
                tile.scan();
                tile.template store<ALIKE>(y, n, start, prefixes[j % RING] + within, exclusive);
            }
            if (j >= -1) {
                unsigned number = numbers[(j + STAGES) % RING];
                if (number < tiles)
                    prefetch<T, THREADS, VECTORS>(slots, x, n, number * TILE - phase);
                copy_commit(); /* a group even where it is empty: groups are counted */
            }
            copy_wait<STAGES - 2>();
            unsigned later = stage + 2 < STAGES ? stage + 2 : stage + 2 - STAGES;
            if (numbers[(j + 2) % RING] < tiles) {
                T sum = warp_sum(slots_sum<T, THREADS, VECTORS>(ring + later * (VECTORS * THREADS) + threadIdx.x));
                if (lane == 0)
                    sums[(j + 2) % RING][warp] = sum;
            }
        }
        stage = stage == STAGES - 1 ? 0 : stage + 1;
        __syncthreads();
    }
}

template <typename T, bool ALIKE, int THREADS, int VECTORS, int STAGES, int BLOCKS, int LOOK>
static enum mg_kernels_status scan_pipelined(const scan_call<T> &c)
{
    int64_t phase = scan_phase(c.x);
    unsigned tiles = mg__kernels_grid(c.n + phase, THREADS * VECTORS * 4, INT32_MAX);
    enum mg_kernels_status status = look_back_clear(c.workspace, tiles, c.stream);
    if (status)
        return status;
    constexpr int BYTES = STAGES * VECTORS * THREADS * 16;
    auto kernel = scan_pipelined_kernel<T, ALIKE, THREADS, VECTORS, STAGES, BLOCKS, LOOK>;
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    if (error != cudaSuccess)
        return mg__kernels_status(error);
    int64_t most = static_cast<int64_t>(mg__kernels_sm_count()) * BLOCKS;
    unsigned blocks = static_cast<unsigned>(tiles < most ? tiles : most);
    return mg__kernels_launch(kernel, blocks, THREADS + 32, BYTES, c.stream, c.exclusive, c.n, phase, tiles, c.x, c.y,
                              static_cast<unsigned *>(c.workspace), static_cast<uint64_t *>(c.workspace) + 1);
}
#endif
