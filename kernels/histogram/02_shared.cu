/* 02_shared.cu - each block counts in shared memory.
 *
 * Adds: a copy of the bins (or of a range of them, see histogram_priv.h) in each block; when its keys are counted, the
 * block adds it to the bins in global memory. The grid is no larger than what runs at once, so that this is rare.
 * Gains: additions stay in the multiprocessor: one addition in global memory for a bin and block instead of one for a
 * key. Lanes whose keys differ but lie in the same bank wait for each other.
 */
#include "histogram/histogram_priv.h"

template <typename T>
__global__ void __launch_bounds__(256)
    histogram_shared(int64_t n, const T *x, int64_t low, uint32_t range, uint32_t *bins)
{
    extern __shared__ uint32_t counts[];
    for (uint32_t b = threadIdx.x; b < range; b += 256)
        counts[b] = 0;
    __syncthreads();
    int64_t step = static_cast<int64_t>(gridDim.x) * 256;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x; i < n; i += step) {
        uint64_t bin = static_cast<uint64_t>(x[i] - low);
        if (bin < range)
            atomicAdd(&counts[bin], 1u);
    }
    __syncthreads();
    for (uint32_t b = threadIdx.x; b < range; b += 256)
        if (counts[b])
            atomicAdd(&bins[low + b], counts[b]);
}

enum mg_kernels_status mg__histogram_shared(const struct mg__histogram *call)
{
    int64_t most = MG__HISTOGRAM_STATIC / 4;
    if (call->nbins > most * MG__HISTOGRAM_PASSES)
        return mg__histogram_global(call);
    enum mg_kernels_status status = mg__histogram_clear(call);
    for (int64_t low = 0; low < call->nbins && status == MG_KERNELS_OK; low += most) {
        int64_t range = call->nbins - low < most ? call->nbins - low : most;
        size_t shared = static_cast<size_t>(range) * 4;
        dim3 grid(mg__histogram_grid(call, range, 1024, mg__kernels_sm_count() * int64_t{range <= 4096 ? 8 : 4}));
        status = call->size == 1
                     ? mg__kernels_launch(histogram_shared<uint8_t>, grid, dim3(256), shared, call->stream, call->n,
                                          static_cast<const uint8_t *>(call->x), low, range, call->bins)
                     : mg__kernels_launch(histogram_shared<uint32_t>, grid, dim3(256), shared, call->stream, call->n,
                                          static_cast<const uint32_t *>(call->x), low, range, call->bins);
    }
    return status;
}
