/* 01_global.cu - the table in global memory, a thread a byte.
 *
 * Adds: the plain way. A first launch writes the table, which comes as a parameter, to the workspace.
 * Gains: nothing yet. A warp moves 32 bytes with three requests, and the one in the middle is a gather: as many
 * wavefronts in the first cache as there are lines and conflicts in it.
 */
#include "lut/lut_priv.h"

__global__ void lut_put_table(const __grid_constant__ mg__lut_table from, uint32_t *to)
{
    to[threadIdx.x] = from.word[threadIdx.x];
}

__global__ void __launch_bounds__(256) lut_global(int64_t n, const uint8_t *x, const uint8_t *table, uint8_t *y)
{
    int64_t step = static_cast<int64_t>(gridDim.x) * 256;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x; i < n; i += step)
        y[i] = table[x[i]];
}

enum mg_kernels_status mg__lut_global(const struct mg__lut *call)
{
    enum mg_kernels_status status = mg__kernels_launch(lut_put_table, dim3(1), dim3(64), 0, call->stream, call->table,
                                                       reinterpret_cast<uint32_t *>(call->workspace));
    if (status != MG_KERNELS_OK)
        return status;
    return mg__kernels_launch(lut_global, dim3(mg__kernels_grid(call->n, 256, INT32_MAX)), dim3(256), 0, call->stream,
                              call->n, call->x, call->workspace, call->y);
}
