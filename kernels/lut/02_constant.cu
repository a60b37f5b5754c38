/* 02_constant.cu - the table in constant memory, where the kernel's arguments lie.
 *
 * Adds: the table is indexed in place, as a parameter. (A __constant__ array would be one for all callers, and calls
 * from several threads would overwrite each other's.)
 * Gains: no first launch, no copy. But the constant cache answers one address at a time: it is made for the case in
 * which all lanes ask for the same, and here up to 32 lanes ask for up to 32 of the 64 words.
 */
#include "lut/lut_priv.h"

__global__ void __launch_bounds__(256)
    lut_constant(int64_t n, const uint8_t *x, const __grid_constant__ mg__lut_table table, uint8_t *y)
{
    const uint8_t *entry = reinterpret_cast<const uint8_t *>(table.word);
    int64_t step = static_cast<int64_t>(gridDim.x) * 256;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x; i < n; i += step)
        y[i] = entry[x[i]];
}

enum mg_kernels_status mg__lut_constant(const struct mg__lut *call)
{
    return mg__kernels_launch(lut_constant, dim3(mg__kernels_grid(call->n, 256, INT32_MAX)), dim3(256), 0, call->stream,
                              call->n, call->x, call->table, call->y);
}
