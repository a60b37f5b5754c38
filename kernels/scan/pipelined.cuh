/* pipelined.cuh - the kernel of the rung "pipelined", which says how it works, for any shape: THREADS, VECTORS of 16
 * bytes a thread and tile, BLOCKS a multiprocessor, LOOK words a lane, DELAY between looks, STREAMING stores. */
#ifndef MG_SCAN_PIPELINED_CUH
#define MG_SCAN_PIPELINED_CUH
#include "scan/look_back.cuh"

static __device__ inline void copy_async(uint4 *to, const void *from)
{
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}
static __device__ inline void copy_wait()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
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
#pragma unroll 1
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

template <typename T, bool ALIKE, int THREADS, int VECTORS, int BLOCKS, int LOOK, int DELAY, bool STREAMING>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    scan_pipelined_kernel(bool exclusive, int64_t n, int phase, unsigned tiles, const T *x, T *y, unsigned *tickets,
                          uint64_t *words)
{
    constexpr int WARPS = THREADS / 32;
    constexpr int64_t TILE = THREADS * VECTORS * 4;
    extern __shared__ uint4 next[]; /* VECTORS x THREADS */
    /* By turns, so that who is done with a tile need not wait for those who are not. */
    __shared__ T sums[2][WARPS];
    __shared__ T prefixes[2];
    __shared__ unsigned numbers[2]; /* tickets */
    uint4 *slots = next + threadIdx.x;

    if (threadIdx.x == 0)
        numbers[0] = atomicAdd(tickets, 1u);
    __syncthreads();
    if (numbers[0] < tiles)
        prefetch<T, THREADS, VECTORS>(slots, x, n, numbers[0] * TILE - phase);
    for (unsigned turn = 0; numbers[turn] < tiles; turn ^= 1) {
        unsigned number = numbers[turn];
        int64_t start = number * TILE - phase;
        unsigned ticket = 0;
        if (threadIdx.x == 0)
            ticket = atomicAdd(tickets, 1u); /* is there before the tile is */
        scan_tile<T, THREADS, VECTORS> tile;
        tile.place(start);
        copy_wait();
#pragma unroll
        for (int r = 0; r < VECTORS; r++)
            scan_unpack(slots[r * THREADS], tile.e[r]);
        T sum = tile.sum();
        if (threadIdx.x % 32 == 0)
            sums[turn][threadIdx.x / 32] = sum;
        if (threadIdx.x == 0)
            numbers[turn ^ 1] = ticket;
        __syncthreads();
        if (numbers[turn ^ 1] < tiles)
            prefetch<T, THREADS, VECTORS>(slots, x, n, numbers[turn ^ 1] * TILE - phase);
        T within = T(0), all = T(0);
        if (threadIdx.x < 32) {
            all = scan_total(threadIdx.x < WARPS ? sums[turn][threadIdx.x] : T(0));
            publish_sum(words, number, all);
        }
        tile.scan(exclusive);
        if (threadIdx.x < 32) {
            T prefix = look_back_and_publish<LOOK, DELAY>(words, number, all);
            if (threadIdx.x == 0)
                prefixes[turn] = prefix;
        } else {
            for (unsigned w = 0; w < threadIdx.x / 32; w++)
                within = within + sums[turn][w];
        }
        __syncthreads();
        tile.template store<ALIKE, STREAMING>(y, n, start, prefixes[turn] + within);
    }
}

template <typename T, bool ALIKE, int THREADS, int VECTORS, int BLOCKS, int LOOK, int DELAY, bool STREAMING>
static enum mg_kernels_status scan_pipelined(const scan_call<T> &c)
{
    int64_t phase = scan_phase(c.x);
    unsigned tiles = mg__kernels_grid(c.n + phase, THREADS * VECTORS * 4, INT32_MAX);
    enum mg_kernels_status status = look_back_clear(c.workspace, tiles, c.stream);
    if (status)
        return status;
    constexpr int BYTES = VECTORS * THREADS * 16;
    auto kernel = scan_pipelined_kernel<T, ALIKE, THREADS, VECTORS, BLOCKS, LOOK, DELAY, STREAMING>;
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    if (error != cudaSuccess)
        return mg__kernels_status(error);
    int64_t most = static_cast<int64_t>(mg__kernels_sm_count()) * BLOCKS;
    unsigned blocks = static_cast<unsigned>(tiles < most ? tiles : most);
    return mg__kernels_launch(kernel, blocks, THREADS, BYTES, c.stream, c.exclusive, c.n, static_cast<int>(phase),
                              tiles, c.x, c.y, static_cast<unsigned *>(c.workspace),
                              static_cast<uint64_t *>(c.workspace) + 1);
}
#endif
