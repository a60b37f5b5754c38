/* pipelined: blocks that stay, and read their next tiles while the present one looks back.
 *
 * In the rung before, a tile's registers wait for its elements, then for the tiles before it, and a multiprocessor that
 * waits asks for nothing. Here a block stays and has a ring of tiles in shared memory, filled by asynchronous copies
 * (cp.async): while one tile is scanned, looks back and is written, the next ones are on their way. A thread copies the
 * very 16 bytes that it will scan, so that the ring needs no barrier, only the copy's own wait. Should gain what the
 * memory idles: up to the rate of a copy.
 *
 * A block draws a tile's ticket when it begins to read it. Of all tiles that are not done the first is always the
 * present one of its block, since a block takes its tiles in order: it waits for none, and everything moves on. */
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

template <typename T, bool ALIKE, int THREADS, int VECTORS, int STAGES, int BLOCKS, int LOOK>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    scan_pipelined_kernel(bool exclusive, int64_t n, int64_t phase, unsigned tiles, const T *x, T *y, unsigned *tickets,
                          uint64_t *words)
{
    constexpr int WARPS = THREADS / 32;
    constexpr int64_t TILE = THREADS * VECTORS * 4;
    extern __shared__ uint4 ring[]; /* STAGES x VECTORS x THREADS */
    __shared__ T warps[2][WARPS];   /* by turns: the next tile's may be written while this one's are read */
    __shared__ T prefixes[2];
    __shared__ unsigned drawn[2];
    unsigned queue[STAGES]; /* the numbers of the tiles in the ring, the present one first */
#pragma unroll
    for (int s = 0; s < STAGES; s++) { /* one after the other, so that blocks draw by turns */
        if (threadIdx.x == 0)
            drawn[s % 2] = atomicAdd(tickets, 1u);
        __syncthreads();
        queue[s] = drawn[s % 2];
        if (queue[s] < tiles)
            prefetch<T, THREADS, VECTORS>(ring + s * (VECTORS * THREADS) + threadIdx.x, x, n, queue[s] * TILE - phase);
        copy_commit();
    }
    unsigned ticket = 0, stage = 0, turn = 0;
    if (threadIdx.x == 0)
        ticket = atomicAdd(tickets, 1u);
    __syncthreads();
    while (queue[0] < tiles) {
        uint4 *slots = ring + stage * (VECTORS * THREADS) + threadIdx.x;
        int64_t start = queue[0] * TILE - phase;
        copy_wait<STAGES - 1>();
        scan_tile<T, THREADS, VECTORS> tile;
        tile.place(start);
#pragma unroll
        for (int r = 0; r < VECTORS; r++)
            scan_unpack(slots[r * THREADS], tile.e[r]);
        T sum = tile.scan();
        if (threadIdx.x % 32 == 0)
            warps[turn][threadIdx.x / 32] = sum;
        if (threadIdx.x == 0)
            drawn[turn] = ticket;
        __syncthreads();
        unsigned fresh = drawn[turn];
        if (fresh < tiles)
            prefetch<T, THREADS, VECTORS>(slots, x, n, fresh * TILE - phase);
        copy_commit(); /* a group even where it is empty: groups are counted */
        if (threadIdx.x == 0)
            ticket = atomicAdd(tickets, 1u);
        if (threadIdx.x < 32) {
            T all = scan_warp(threadIdx.x < WARPS ? warps[turn][threadIdx.x] : T(0));
            all = __shfl_sync(0xffffffffu, all, 31);
            T prefix = look_back_and_publish<LOOK>(words, queue[0], all);
            if (threadIdx.x == 0)
                prefixes[turn] = prefix;
        }
        T within = T(0);
        for (unsigned w = 0; w < threadIdx.x / 32; w++)
            within = within + warps[turn][w];
        __syncthreads();
        tile.template store<ALIKE>(y, n, start, prefixes[turn] + within, exclusive);
#pragma unroll
        for (int s = 0; s < STAGES - 1; s++)
            queue[s] = queue[s + 1];
        queue[STAGES - 1] = fresh;
        stage = stage == STAGES - 1 ? 0 : stage + 1;
        turn ^= 1;
    }
}

template <typename T, bool ALIKE, int THREADS, int VECTORS, int STAGES, int BLOCKS, int LOOK>
static enum mg_kernels_status launch(const scan_call<T> &c)
{
    int64_t phase = scan_phase(c.x);
    unsigned tiles = mg__kernels_grid(c.n + phase, THREADS * VECTORS * 4, INT32_MAX);
    enum mg_kernels_status status = look_back_clear(c.workspace, tiles, c.stream);
    if (status)
        return status;
    constexpr int RING = STAGES * VECTORS * THREADS * 16;
    auto kernel = scan_pipelined_kernel<T, ALIKE, THREADS, VECTORS, STAGES, BLOCKS, LOOK>;
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, RING);
    if (error != cudaSuccess)
        return mg__kernels_status(error);
    int64_t most = static_cast<int64_t>(mg__kernels_sm_count()) * BLOCKS;
    unsigned blocks = static_cast<unsigned>(tiles < most ? tiles : most);
    return mg__kernels_launch(kernel, blocks, THREADS, RING, c.stream, c.exclusive, c.n, phase, tiles, c.x, c.y,
                              static_cast<unsigned *>(c.workspace), static_cast<uint64_t *>(c.workspace) + 1);
}

template <typename T> enum mg_kernels_status mg__scan_pipelined(const scan_call<T> &c)
{
    if (scan_phase(c.x) == scan_phase(c.y))
        return launch<T, true, SCAN_PIPE_THREADS, SCAN_PIPE_VECTORS, SCAN_PIPE_STAGES, SCAN_PIPE_BLOCKS,
                      SCAN_LOOK_WORDS>(c);
    return launch<T, false, SCAN_PIPE_THREADS, SCAN_PIPE_VECTORS, SCAN_PIPE_STAGES, SCAN_PIPE_BLOCKS, SCAN_LOOK_WORDS>(
        c);
}
SCAN_INSTANCES(pipelined)
