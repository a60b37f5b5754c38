/* 03_per_warp.cu - each warp has a copy of the bins.
 *
 * Adds: eight copies in a block, one a warp; fewer, shared evenly, where the bins are so many that eight do not fit.
 * Gains: warps no longer meet in a bin. Since shared memory takes the requests of a multiprocessor one by one anyway,
 * what is saved is little on chips that add in shared memory itself; it was much where a loop of compare and swap did
 * it.
 */
#include "histogram/histogram_priv.h"

enum { WARPS = 8 };

template <typename T>
__global__ void __launch_bounds__(WARPS * 32)
    histogram_per_warp(int64_t n, const T *x, int64_t low, uint32_t range, uint32_t copies, uint32_t *bins)
{
    extern __shared__ uint32_t counts[];
    for (uint32_t b = threadIdx.x; b < range * copies; b += WARPS * 32)
        counts[b] = 0;
    __syncthreads();
    uint32_t *mine = counts + threadIdx.x / 32 % copies * range;
    int64_t step = static_cast<int64_t>(gridDim.x) * WARPS * 32;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * WARPS * 32 + threadIdx.x; i < n; i += step) {
        uint64_t bin = static_cast<uint64_t>(x[i] - low);
        if (bin < range)
            atomicAdd(&mine[bin], 1u);
    }
    __syncthreads();
    for (uint32_t b = threadIdx.x; b < range; b += WARPS * 32) {
        uint32_t sum = 0;
        for (uint32_t c = 0; c < copies; c++)
            sum += counts[c * range + b];
        if (sum)
            atomicAdd(&bins[low + b], sum);
    }
}

enum mg_kernels_status mg__histogram_per_warp(const struct mg__histogram *call)
{
    int64_t most = MG__HISTOGRAM_STATIC / 4;
    if (call->nbins > most * MG__HISTOGRAM_PASSES)
        return mg__histogram_global(call);
    enum mg_kernels_status status = mg__histogram_clear(call);
    for (int64_t low = 0; low < call->nbins && status == MG_KERNELS_OK; low += most) {
        int64_t range = call->nbins - low < most ? call->nbins - low : most;
        int64_t copies = most / range < WARPS ? most / range : WARPS;
        size_t shared = static_cast<size_t>(range * copies) * 4;
        dim3 grid(
            mg__histogram_grid(call, range * copies, 1024, mg__kernels_sm_count() * int64_t{shared <= 16384 ? 8 : 4}));
        status =
            call->size == 1
                ? mg__kernels_launch(histogram_per_warp<uint8_t>, grid, dim3(WARPS * 32), shared, call->stream, call->n,
                                     static_cast<const uint8_t *>(call->x), low, range, copies, call->bins)
                : mg__kernels_launch(histogram_per_warp<uint32_t>, grid, dim3(WARPS * 32), shared, call->stream,
                                     call->n, static_cast<const uint32_t *>(call->x), low, range, copies, call->bins);
    }
    return status;
}
