/* 01_naive.cu - a thread an element, straight from x to y.
 *
 * Adds: the plain mapping of threads to elements, 32 columns by 8 rows a block.
 * Gains: nothing yet. A warp reads 32 neighbours, 4 sectors of 32 bytes; but it writes them a whole row of y apart, 32
 * sectors of which 4 bytes are used. The second cache merges some of these stores, the load/store unit cannot.
 */
#include "transpose/transpose_priv.h"

template <typename T>
__global__ void __launch_bounds__(256)
    transpose_naive(int64_t rows, int64_t cols, const T *x, int64_t ldx, T *y, int64_t ldy)
{
    for (int64_t top = blockIdx.y * int64_t{32}; top < rows; top += gridDim.y * int64_t{32})
        for (int64_t j = blockIdx.x * int64_t{32} + threadIdx.x; j < cols; j += gridDim.x * int64_t{32})
            for (int64_t i = top + threadIdx.y; i < top + 32 && i < rows; i += 8)
                y[j * ldy + i] = x[i * ldx + j];
}

enum mg_kernels_status mg__transpose_naive(const struct mg__transpose *call)
{
    return MG__TRANSPOSE_LAUNCH(transpose_naive, call);
}
