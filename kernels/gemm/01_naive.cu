/* 01_naive.cu - one thread an element of C, as the formula says it.
 *
 * Neighbouring threads take neighbouring rows, the way one first writes it: a warp's load of A and its store of C touch 32
 * rows, so 32 sectors for 128 useful bytes, and B's element is the same for all. Nothing is gained; this is the measure
 * of the others.
 */
#include "gemm/gemm_priv.h"

static __global__ void naive(gemm_args g)
{
    int64_t tiles_n = (g.n + 7) / 8;
    int64_t row = blockIdx.x / tiles_n * 32 + threadIdx.x;
    int64_t col = blockIdx.x % tiles_n * 8 + threadIdx.y;
    if (row >= g.m || col >= g.n)
        return;
    float sum = 0.0f;
    for (int64_t p = 0; p < g.k; p++)
        sum += g.a[row * g.lda + p] * g.b[p * g.ldb + col];
    float *at = g.c + row * g.ldc + col;
    *at = gemm_value(g, sum, at);
}

enum mg_kernels_status mg__gemm_naive(cudaStream_t stream, const struct gemm_args *args)
{
    return mg__kernels_launch(naive, gemm_grid(args, 32, 8), dim3(32, 8), 0, stream, *args);
}
