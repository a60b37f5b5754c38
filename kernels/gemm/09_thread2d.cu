/* 09_thread2d.cu - adds: 8x8 elements of C a thread, an outer product of registers.
 *
 * A block of 256 threads computes 128x128 elements in steps of 8 along k. A is kept transposed in shared memory, so that
 * both of a thread's fragments are neighbours: four 128-bit loads feed 64 products. Its columns of A are padded by 4 words:
 * a warp writes 16 rows of two quads, which then fall into 32 different banks. Should gain two to three times: per product
 * the shared loads are an eighth of the last rung's.
 */
#include "gemm/gemm_priv.h"

enum { BM = 128, BN = 128, BK = 8, PAD = 4 };

template <bool VECTOR> static __global__ __launch_bounds__(256) void thread2d(gemm_args g)
{
    __shared__ __align__(16) float tile_a[BK][BM + PAD], tile_b[BK][BN];
    int t = threadIdx.x, x = t % 16, y = t / 16;
    int64_t tiles_n = (g.n + BN - 1) / BN;
    int64_t row0 = blockIdx.x / tiles_n * BM, col0 = blockIdx.x % tiles_n * BN;
    int a_row = t / 2, a_col = t % 2 * 4, b_row = t / 32, b_col = t % 32 * 4;
    float sum[8][8] = {};
    for (int64_t base = 0; base < g.k; base += BK) {
        float4 v = gemm_fetch4<VECTOR>(g.a, g.lda, row0 + a_row, base + a_col, g.m, g.k);
        tile_a[a_col][a_row] = v.x;
        tile_a[a_col + 1][a_row] = v.y;
        tile_a[a_col + 2][a_row] = v.z;
        tile_a[a_col + 3][a_row] = v.w;
        *reinterpret_cast<float4 *>(&tile_b[b_row][b_col]) =
            gemm_fetch4<VECTOR>(g.b, g.ldb, base + b_row, col0 + b_col, g.k, g.n);
        __syncthreads();
#pragma unroll
        for (int q = 0; q < BK; q++) {
            float a[8], b[8];
            *reinterpret_cast<float4 *>(a) = gemm_load4(&tile_a[q][y * 8]);
            *reinterpret_cast<float4 *>(a + 4) = gemm_load4(&tile_a[q][y * 8 + 4]);
            *reinterpret_cast<float4 *>(b) = gemm_load4(&tile_b[q][x * 8]);
            *reinterpret_cast<float4 *>(b + 4) = gemm_load4(&tile_b[q][x * 8 + 4]);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    gemm_put<VECTOR>(g, sum, row0 + y * 8, 4, col0 + x * 8, 4);
}

enum mg_kernels_status mg__gemm_thread2d(cudaStream_t stream, const struct gemm_args *args)
{
    bool aligned = gemm_aligned(args->a, args->lda) && gemm_aligned(args->b, args->ldb) &&
                   gemm_aligned(args->c, args->ldc);
    return mg__kernels_launch(aligned ? thread2d<true> : thread2d<false>, gemm_grid(args, BM, BN), dim3(256), 0, stream,
                              *args);
}
