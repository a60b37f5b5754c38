/* decoupled look-back: one pass, in which tiles learn their prefix from the tiles before them.
 *
 * (After D. Merrill and M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.) A tile publishes
 * its sum as soon as it has it, and then looks at the tiles before it, nearest first: sums are added up until one is
 * found that has published the prefix of all up to its end. The tile then publishes its own. No tile waits for the one
 * before it to be done, only for it to have read its elements. Every element is read once and written once: 8 bytes,
 * what a copy moves. Should gain half as much again as three passes.
 *
 * What is published is one 64-bit word, state and value together, so that a single access makes or sees it whole and no
 * fence is needed. All tiles that a tile may wait for have to be running: tiles are therefore numbered in the order in
 * which blocks start, by a ticket, and not by blockIdx, of whose order nothing is promised. A warp looks back, 64 tiles
 * at a time: half of them are asked for again only when the sum must go on past the others, or when one had not
 * published yet.
 *
 * How far the sum of a tile reaches back depends on what was published when: the order of additions varies, and with it
 * the last bits of floats. */
#include "scan/look_back.cuh"

template <typename T, bool ALIKE, int THREADS, int VECTORS, int LOOK>
static __global__ void __launch_bounds__(THREADS)
    scan_look_back_kernel(bool exclusive, int64_t n, int64_t phase, const T *x, T *y, unsigned *tickets,
                          uint64_t *words)
{
    constexpr int WARPS = THREADS / 32;
    __shared__ T warps[WARPS];
    __shared__ T shared_prefix;
    __shared__ unsigned ticket;
    if (threadIdx.x == 0)
        ticket = gridDim.x > 1 ? atomicAdd(tickets, 1u) : 0;
    __syncthreads();
    int64_t number = ticket, start = number * (THREADS * VECTORS * 4) - phase;
    scan_tile<T, THREADS, VECTORS> tile;
    tile.load(x, n, start);
    T sum = tile.scan();
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        T all = scan_warp(threadIdx.x < WARPS ? warps[threadIdx.x] : T(0));
        all = __shfl_sync(0xffffffffu, all, 31);
        T prefix = T(0);
        if (gridDim.x > 1)
            prefix = look_back_and_publish<LOOK>(words, number, all);
        if (threadIdx.x == 0)
            shared_prefix = prefix;
    }
    T within = T(0);
    for (unsigned w = 0; w < threadIdx.x / 32; w++)
        within = within + warps[w];
    __syncthreads();
    tile.template store<ALIKE>(y, n, start, shared_prefix + within, exclusive);
}

template <typename T> enum mg_kernels_status mg__scan_look_back(const scan_call<T> &c)
{
    int64_t phase = scan_phase(c.x);
    unsigned tiles = mg__kernels_grid(c.n + phase, SCAN_LOOK_TILE, INT32_MAX);
    unsigned *tickets = static_cast<unsigned *>(c.workspace);
    uint64_t *words = static_cast<uint64_t *>(c.workspace) + 1;
    if (tiles > 1) {
        enum mg_kernels_status status = look_back_clear(c.workspace, tiles, c.stream);
        if (status)
            return status;
    }
    auto kernel = scan_look_back_kernel<T, false, SCAN_LOOK_THREADS, SCAN_LOOK_VECTORS, SCAN_LOOK_WORDS>;
    if (phase == scan_phase(c.y))
        kernel = scan_look_back_kernel<T, true, SCAN_LOOK_THREADS, SCAN_LOOK_VECTORS, SCAN_LOOK_WORDS>;
    return mg__kernels_launch(kernel, tiles, SCAN_LOOK_THREADS, 0, c.stream, c.exclusive, c.n, phase, c.x, c.y, tickets,
                              words);
}
SCAN_INSTANCES(look_back)
