/* three-pass: the sums of tiles, their scan, and then one pass that reads, scans and writes.
 *
 * Blocks that scan first and are corrected later write every element twice. Here the first pass only reads, to sum
 * tiles of 4096 elements; one block scans the sums; the third kernel starts each tile with the right prefix. That is 12
 * bytes an element instead of 16, in accesses of 16 bytes with four in flight a thread. Should gain a third. */
#include "scan/scan_priv.h"

template <typename T>
static __global__ void __launch_bounds__(SCAN_THREADS) tile_sums(int64_t n, int64_t phase, const T *x, T *sums)
{
    __shared__ T warps[SCAN_THREADS / 32];
    scan_tile<T, SCAN_THREADS, SCAN_VECTORS> tile;
    tile.load(x, n, static_cast<int64_t>(blockIdx.x) * SCAN_TILE - phase);
    T sum = tile.scan(false); /* in the order of the third pass, so that prefixes of floats never run ahead of it */
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = T(0);
        for (int w = 0; w < SCAN_THREADS / 32; w++)
            sum = sum + warps[w];
        sums[blockIdx.x] = sum;
    }
}

/* One block: exclusive, in place, 256 * 16 sums a round. */
template <typename T> static __global__ void __launch_bounds__(SCAN_THREADS) sums_scan(int64_t n, T *sums)
{
    __shared__ T warps[SCAN_THREADS / 32];
    T carry = T(0);
    for (int64_t start = 0; start < n; start += SCAN_TILE) {
        scan_tile<T, SCAN_THREADS, SCAN_VECTORS> tile;
        tile.load(sums, n, start);
        T sum = tile.scan(true), prefix = T(0), all = T(0);
        if (threadIdx.x % 32 == 0)
            warps[threadIdx.x / 32] = sum;
        __syncthreads();
        for (unsigned w = 0; w < SCAN_THREADS / 32; w++) {
            if (w == threadIdx.x / 32)
                prefix = all;
            all = all + warps[w];
        }
        tile.template store<true>(sums, n, start, carry + prefix);
        carry = carry + all;
        __syncthreads(); /* before the next round writes `warps` */
    }
}

template <typename T, bool ALIKE>
static __global__ void __launch_bounds__(SCAN_THREADS)
    tile_scan(bool exclusive, int64_t n, int64_t phase, const T *x, T *y, const T *prefixes)
{
    __shared__ T warps[SCAN_THREADS / 32];
    int64_t start = static_cast<int64_t>(blockIdx.x) * SCAN_TILE - phase;
    scan_tile<T, SCAN_THREADS, SCAN_VECTORS> tile;
    tile.load(x, n, start);
    T sum = tile.scan(exclusive), prefix = gridDim.x > 1 ? prefixes[blockIdx.x] : T(0);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    T within = T(0);
    for (unsigned w = 0; w < threadIdx.x / 32; w++)
        within = within + warps[w];
    tile.template store<ALIKE>(y, n, start, prefix + within);
}

template <typename T> enum mg_kernels_status mg__scan_three_pass(const scan_call<T> &c)
{
    int64_t phase = scan_phase(c.x);
    unsigned tiles = mg__kernels_grid(c.n + phase, SCAN_TILE, INT32_MAX);
    T *sums = static_cast<T *>(c.workspace);
    enum mg_kernels_status status = MG_KERNELS_OK;
    if (tiles > 1) {
        status = mg__kernels_launch(tile_sums<T>, tiles, SCAN_THREADS, 0, c.stream, c.n, phase, c.x, sums);
        if (!status)
            status = mg__kernels_launch(sums_scan<T>, 1, SCAN_THREADS, 0, c.stream, static_cast<int64_t>(tiles), sums);
    }
    if (status)
        return status;
    return mg__kernels_launch(phase == scan_phase(c.y) ? tile_scan<T, true> : tile_scan<T, false>, tiles, SCAN_THREADS,
                              0, c.stream, c.exclusive, c.n, phase, c.x, c.y, sums);
}
SCAN_INSTANCES(three_pass)
