/* 08_thread1d.cu - adds: a thread computes eight elements of C, one below the other, in registers.
 *
 * A block of 512 threads computes 64x64 elements in steps of 8 along k. For each of them a thread reads one element of B
 * and uses it for eight rows, whose elements of A are broadcast: 9 shared loads for 8 products instead of 16. Each thread
 * copies one element of A and one of B a step. Should gain up to twice the tiled rungs: shared loads were their limit.
 */
#include "gemm/gemm_priv.h"

enum { BM = 64, BN = 64, BK = 8, TM = 8 };

static __global__ __launch_bounds__(BM *BN / TM) void thread1d(gemm_args g)
{
    __shared__ float tile_a[BM][BK], tile_b[BK][BN];
    int t = threadIdx.x, x = t % BN, y = t / BN;
    int64_t tiles_n = (g.n + BN - 1) / BN;
    int64_t row0 = blockIdx.x / tiles_n * BM, col0 = blockIdx.x % tiles_n * BN;
    float sum[TM] = {};
    for (int64_t base = 0; base < g.k; base += BK) {
        int64_t row = row0 + t / BK, p = base + t % BK;
        tile_a[t / BK][t % BK] = row < g.m && p < g.k ? g.a[row * g.lda + p] : 0.0f;
        tile_b[y][x] = base + y < g.k && col0 + x < g.n ? g.b[(base + y) * g.ldb + col0 + x] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int q = 0; q < BK; q++) {
            float b = tile_b[q][x];
#pragma unroll
            for (int i = 0; i < TM; i++)
                sum[i] += tile_a[y * TM + i][q] * b;
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; i++) {
        int64_t row = row0 + y * TM + i;
        if (row < g.m && col0 + x < g.n) {
            float *at = g.c + row * g.ldc + col0 + x;
            *at = gemm_value(g, sum[i], at);
        }
    }
}

enum mg_kernels_status mg__gemm_thread1d(cudaStream_t stream, const struct gemm_args *args)
{
    return mg__kernels_launch(thread1d, gemm_grid(args, BM, BN), dim3(BM * BN / TM), 0, stream, *args);
}
