/* 10_warp.cu - adds: warps own compact parts of the tile, and the next tiles travel through registers meanwhile.
 *
 * A warp computes 32x64 elements: 4x8 lanes, a lane 8x8 elements as four groups of 4x4 that lie 16 rows and 32 columns
 * apart. A 128-bit shared load is served 8 lanes at a time, but 16 when lanes i and i^1 all share an address, or i and i^2
 * all do (src/model/banks.c has the rule as an H100 showed it). So the lowest bit of the lane goes to the column and the
 * next to the row: both fragments then load in two wavefronts instead of four. Two buffers, filled by way of registers,
 * leave one barrier a step. Should gain a quarter to a half over the last rung.
 */
#include "gemm/gemm_priv.h"

enum { BM = 128, BN = 128, BK = 8, PAD = 4 };

template <bool VECTOR> static __global__ __launch_bounds__(256) void warp_tiled(gemm_args g)
{
    __shared__ __align__(16) float tile_a[2][BK][BM + PAD], tile_b[2][BK][BN];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int y = (lane >> 1 & 1) | (lane >> 3 & 2), x = (lane & 1) | (lane >> 1 & 6);
    int row = warp / 2 * 32 + y * 4, col = warp % 2 * 64 + x * 4;
    int64_t tiles_n = (g.n + BN - 1) / BN;
    int64_t row0 = blockIdx.x / tiles_n * BM, col0 = blockIdx.x % tiles_n * BN;
    int a_row = t / 2, a_col = t % 2 * 4, b_row = t / 32, b_col = t % 32 * 4;
    float sum[8][8] = {};
    float4 va = gemm_fetch4<VECTOR>(g.a, g.lda, row0 + a_row, a_col, g.m, g.k);
    float4 vb = gemm_fetch4<VECTOR>(g.b, g.ldb, b_row, col0 + b_col, g.k, g.n);
    int now = 0;
    for (int64_t next = BK; next < g.k + BK; next += BK, now ^= 1) {
        tile_a[now][a_col][a_row] = va.x;
        tile_a[now][a_col + 1][a_row] = va.y;
        tile_a[now][a_col + 2][a_row] = va.z;
        tile_a[now][a_col + 3][a_row] = va.w;
        *reinterpret_cast<float4 *>(&tile_b[now][b_row][b_col]) = vb;
        __syncthreads();
        va = gemm_fetch4<VECTOR>(g.a, g.lda, row0 + a_row, next + a_col, g.m, g.k);
        vb = gemm_fetch4<VECTOR>(g.b, g.ldb, next + b_row, col0 + b_col, g.k, g.n);
#pragma unroll
        for (int q = 0; q < BK; q++) {
            float a[8], b[8];
            *reinterpret_cast<float4 *>(a) = gemm_load4(&tile_a[now][q][row]);
            *reinterpret_cast<float4 *>(a + 4) = gemm_load4(&tile_a[now][q][row + 16]);
            *reinterpret_cast<float4 *>(b) = gemm_load4(&tile_b[now][q][col]);
            *reinterpret_cast<float4 *>(b + 4) = gemm_load4(&tile_b[now][q][col + 32]);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += a[i] * b[j];
        }
    }
    gemm_put<VECTOR>(g, sum, row0 + row, 16, col0 + col, 32);
}

enum mg_kernels_status mg__gemm_warp(cudaStream_t stream, const struct gemm_args *args)
{
    bool aligned = gemm_aligned(args->a, args->lda) && gemm_aligned(args->b, args->ldb) &&
                   gemm_aligned(args->c, args->ldc);
    return mg__kernels_launch(aligned ? warp_tiled<true> : warp_tiled<false>, gemm_grid(args, BM, BN), dim3(256), 0, stream,
                              *args);
}
