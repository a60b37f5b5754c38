/* 03_padded.cu - the tile has a 33rd column.
 *
 * Adds: one unused element at the end of each row of the tile.
 * Gains: the words of a column are 33 apart, in 32 different banks: 1 wavefront a read instead of 32 (2 for 8-byte
 * elements, which is their best). It costs 1/32 of shared memory.
 */
#include "transpose/transpose_priv.h"

template <typename T>
__global__ void __launch_bounds__(256)
    transpose_padded(int64_t rows, int64_t cols, const T *x, int64_t ldx, T *y, int64_t ldy)
{
    __shared__ T tile[32][32 + 1];
    for (int64_t top = blockIdx.y * int64_t{32}; top < rows; top += gridDim.y * int64_t{32}) {
        for (int64_t left = blockIdx.x * int64_t{32}; left < cols; left += gridDim.x * int64_t{32}) {
            int64_t j = left + threadIdx.x;
            for (unsigned k = threadIdx.y; k < 32 && top + k < rows; k += 8)
                if (j < cols)
                    tile[k][threadIdx.x] = x[(top + k) * ldx + j];
            __syncthreads();
            int64_t i = top + threadIdx.x; /* now the lanes run along the column of the tile */
            for (unsigned k = threadIdx.y; k < 32 && left + k < cols; k += 8)
                if (i < rows)
                    y[(left + k) * ldy + i] = tile[threadIdx.x][k];
            __syncthreads();
        }
    }
}

enum mg_kernels_status mg__transpose_padded(const struct mg__transpose *call)
{
    return MG__TRANSPOSE_LAUNCH(transpose_padded, call);
}
