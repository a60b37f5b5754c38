/* 02_coalesced.cu - adds: neighbouring threads take neighbouring columns.
 *
 * The kernel is the naive one with x and y exchanged. A warp now reads one element of A, which is broadcast, and 32
 * neighbours of B: 4 sectors instead of 32, and as few for its store. Should gain several times; what is left are two
 * loads for every product.
 */
#include "gemm/gemm_priv.h"

static __global__ void coalesced(gemm_args g)
{
    int64_t tiles_n = (g.n + 31) / 32;
    int64_t row = blockIdx.x / tiles_n * 8 + threadIdx.y;
    int64_t col = blockIdx.x % tiles_n * 32 + threadIdx.x;
    if (row >= g.m || col >= g.n)
        return;
    float sum = 0.0f;
    for (int64_t p = 0; p < g.k; p++)
        sum += g.a[row * g.lda + p] * g.b[p * g.ldb + col];
    float *at = g.c + row * g.ldc + col;
    *at = gemm_value(g, sum, at);
}

enum mg_kernels_status mg__gemm_coalesced(cudaStream_t stream, const struct gemm_args *args)
{
    return mg__kernels_launch(coalesced, gemm_grid(args, 8, 32), dim3(32, 8), 0, stream, *args);
}
