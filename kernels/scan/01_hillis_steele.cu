/* Hillis-Steele: in step d every element adds the one d before it, for d = 1, 2, 4, ...
 *
 * A block scans 256 elements in eight steps, each from one half of shared memory into the other, since a thread's
 * neighbour may not have read yet what it overwrites. The blocks' sums are scanned in the same way, and a last kernel
 * adds them. Simple, and free of bank conflicts, as neighbours read neighbours; but it makes n log n additions, and 16
 * bytes an element cross the memory's wires where 8 would do. */
#include "scan/scan_priv.h"

template <typename T>
static __global__ void __launch_bounds__(SCAN_THREADS)
    hillis_steele(bool exclusive, int64_t n, const T *x, T *y, T *sums)
{
    __shared__ T tile[2][SCAN_THREADS];
    unsigned t = threadIdx.x, from = 0;
    int64_t i = static_cast<int64_t>(blockIdx.x) * SCAN_THREADS + t;
    tile[0][t] = i < n ? x[i] : T(0);
    __syncthreads();
    for (unsigned d = 1; d < SCAN_THREADS; d *= 2, from ^= 1) {
        T v = tile[from][t];
        tile[from ^ 1][t] = t >= d ? tile[from][t - d] + v : v;
        __syncthreads();
    }
    if (i < n)
        y[i] = !exclusive ? tile[from][t] : t ? tile[from][t - 1] : T(0);
    if (t == 0 && gridDim.x > 1)
        sums[blockIdx.x] = tile[from][SCAN_THREADS - 1];
}

struct hillis_steele_block {
    static constexpr int64_t BLOCK = SCAN_HILLIS_BLOCK;
    template <typename T>
    static enum mg_kernels_status scan(cudaStream_t stream, bool exclusive, int64_t n, const T *x, T *y, T *sums,
                                       unsigned blocks)
    {
        return mg__kernels_launch(hillis_steele<T>, blocks, SCAN_THREADS, 0, stream, exclusive, n, x, y, sums);
    }
};

template <typename T> enum mg_kernels_status mg__scan_hillis_steele(const scan_call<T> &c)
{
    return scan_passes<hillis_steele_block>(c.stream, c.exclusive, c.n, c.x, c.y, static_cast<T *>(c.workspace));
}
SCAN_INSTANCES(hillis_steele)
