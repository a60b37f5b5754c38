/* 01_global.cu - every key is an atomic addition in global memory.
 *
 * Adds: the plain way: a thread a key.
 * Gains: nothing yet. The second cache does the additions; those to the same bin one after the other, so that 256
 * bins, let alone one that most keys fall into, leave most of the chip waiting.
 */
#include "histogram/histogram_priv.h"

template <typename T>
__global__ void __launch_bounds__(256) histogram_global(int64_t n, const T *x, int64_t nbins, uint32_t *bins)
{
    int64_t step = static_cast<int64_t>(gridDim.x) * 256;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x; i < n; i += step) {
        T key = x[i];
        if (key < nbins)
            atomicAdd(&bins[key], 1u);
    }
}

enum mg_kernels_status mg__histogram_global(const struct mg__histogram *call)
{
    enum mg_kernels_status status = mg__histogram_clear(call);
    if (status != MG_KERNELS_OK)
        return status;
    dim3 grid(mg__kernels_grid(call->n, 256, INT32_MAX)), block(256);
    if (call->size == 1)
        return mg__kernels_launch(histogram_global<uint8_t>, grid, block, 0, call->stream, call->n,
                                  static_cast<const uint8_t *>(call->x), call->nbins, call->bins);
    return mg__kernels_launch(histogram_global<uint32_t>, grid, block, 0, call->stream, call->n,
                              static_cast<const uint32_t *>(call->x), call->nbins, call->bins);
}
