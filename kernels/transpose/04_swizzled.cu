/* 04_swizzled.cu - the tile is swizzled instead of padded.
 *
 * Adds: row k keeps its element of column c at c xor k. Both are below 32, and so is the result; for a fixed row it is
 * a permutation of the columns, and for a fixed column it is a different bank in each row.
 * Gains: no conflicts along rows nor columns, like the padding, with a tile that is a power of two: no memory lost,
 * and rows that stay aligned for wider accesses, which padding by one element spoils.
 */
#include "transpose/transpose_priv.h"

template <typename T>
__global__ void __launch_bounds__(256)
    transpose_swizzled(int64_t rows, int64_t cols, const T *x, int64_t ldx, T *y, int64_t ldy)
{
    __shared__ T tile[32][32];
    for (int64_t top = blockIdx.y * int64_t{32}; top < rows; top += gridDim.y * int64_t{32}) {
        for (int64_t left = blockIdx.x * int64_t{32}; left < cols; left += gridDim.x * int64_t{32}) {
            int64_t j = left + threadIdx.x;
            for (unsigned k = threadIdx.y; k < 32 && top + k < rows; k += 8)
                if (j < cols)
                    tile[k][threadIdx.x ^ k] = x[(top + k) * ldx + j];
            __syncthreads();
            int64_t i = top + threadIdx.x; /* now the lanes run along the column of the tile */
            for (unsigned k = threadIdx.y; k < 32 && left + k < cols; k += 8)
                if (i < rows)
                    y[(left + k) * ldy + i] = tile[threadIdx.x][k ^ threadIdx.x];
            __syncthreads();
        }
    }
}

enum mg_kernels_status mg__transpose_swizzled(const struct mg__transpose *call)
{
    return MG__TRANSPOSE_LAUNCH(transpose_swizzled, call);
}
