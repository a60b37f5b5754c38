/* warp shuffle: warps scan in registers, shared memory carries the warps' sums alone.
 *
 * A warp scans 32 elements in five exchanges without a barrier; it has four rows of 32, each of which begins with what
 * the rows before it sum to. One barrier a block instead of eighteen, 8 words of shared memory instead of 528, and a
 * quarter of the blocks. Should gain what barriers and shared-memory traffic cost; the bytes to and from memory stay.
 */
#include "scan/scan_priv.h"

template <typename T>
static __global__ void __launch_bounds__(SCAN_THREADS)
    warp_shuffle(bool exclusive, int64_t n, const T *x, T *y, T *sums)
{
    constexpr int ROWS = SCAN_SHUFFLE_BLOCK / SCAN_THREADS, WARPS = SCAN_THREADS / 32;
    __shared__ T warps[WARPS];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int64_t i = static_cast<int64_t>(blockIdx.x) * SCAN_SHUFFLE_BLOCK + warp * (32 * ROWS) + lane;
    T v[ROWS], carry = T(0);
    for (int r = 0; r < ROWS; r++)
        v[r] = i + 32 * r < n ? x[i + 32 * r] : T(0);
    for (int r = 0; r < ROWS; r++) {
        T sum = scan_warp(v[r]);
        T own = __shfl_up_sync(0xffffffffu, sum, 1);
        T last = __shfl_sync(0xffffffffu, sum, 31);
        if (exclusive)
            v[r] = lane ? carry + own : carry;
        else
            v[r] = carry + sum;
        carry = carry + last;
    }
    if (lane == 0)
        warps[warp] = carry;
    __syncthreads();
    T prefix = T(0), all = T(0);
    for (unsigned w = 0; w < WARPS; w++) {
        if (w == warp)
            prefix = all;
        all = all + warps[w];
    }
    for (int r = 0; r < ROWS; r++)
        if (i + 32 * r < n)
            y[i + 32 * r] = prefix + v[r];
    if (threadIdx.x == 0 && gridDim.x > 1)
        sums[blockIdx.x] = all;
}

struct warp_shuffle_block {
    static constexpr int64_t BLOCK = SCAN_SHUFFLE_BLOCK;
    template <typename T>
    static enum mg_kernels_status scan(cudaStream_t stream, bool exclusive, int64_t n, const T *x, T *y, T *sums,
                                       unsigned blocks)
    {
        return mg__kernels_launch(warp_shuffle<T>, blocks, SCAN_THREADS, 0, stream, exclusive, n, x, y, sums);
    }
};

template <typename T> enum mg_kernels_status mg__scan_warp_shuffle(const scan_call<T> &c)
{
    return scan_passes<warp_shuffle_block>(c.stream, c.exclusive, c.n, c.x, c.y, static_cast<T *>(c.workspace));
}
SCAN_INSTANCES(warp_shuffle)
