/* 02_shared.cu - a tile of 32x32 goes through shared memory.
 *
 * Adds: the block reads its tile along the rows of x, waits, and writes it along the rows of y.
 * Gains: every global access of a warp is 4 full sectors (8 for 8-byte elements), for stores an eighth of the naive
 * rung's. The price: the lanes read a column of the tile, words 32 apart, all of one bank: 32 wavefronts instead of 1.
 */
#include "transpose/transpose_priv.h"

template <typename T>
__global__ void __launch_bounds__(256)
    transpose_shared(int64_t rows, int64_t cols, const T *x, int64_t ldx, T *y, int64_t ldy)
{
    __shared__ T tile[32][32];
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

enum mg_kernels_status mg__transpose_shared(const struct mg__transpose *call)
{
    return MG__TRANSPOSE_LAUNCH(transpose_shared, call);
}
