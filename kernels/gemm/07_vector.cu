/* 07_vector.cu - adds: 128-bit accesses. A block of 32x8 threads computes 32x32 elements, a thread four neighbours of a row.
 *
 * Each thread moves one float4 of A and one of B a step, where the scalar kernel moved four floats of each, and reads B
 * from shared memory four elements at a time: one word of A (broadcast to the eight threads of a row) and one float4 of B
 * for four products. Where rows do not begin at 16 bytes the same elements are fetched one by one. A warp is four rows of
 * eight threads: padding A's rows by four words puts those rows into different banks. Should gain up to two times.
 */
#include "gemm/gemm_priv.h"

enum { TILE = 32 };

template <bool VECTOR> static __global__ __launch_bounds__(256) void vectorised(gemm_args g)
{
    __shared__ float4 tile_a[TILE][TILE / 4 + 1], tile_b[TILE][TILE / 4];
    int x = threadIdx.x, y = threadIdx.y;
    int64_t tiles_n = (g.n + TILE - 1) / TILE;
    int64_t row = blockIdx.x / tiles_n * TILE + y;
    int64_t col = blockIdx.x % tiles_n * TILE + x * 4;
    float sum[1][4] = {};
    for (int64_t base = 0; base < g.k; base += TILE) {
        tile_a[y][x] = gemm_fetch4<VECTOR>(g.a, g.lda, row, base + x * 4, g.m, g.k);
        tile_b[y][x] = gemm_fetch4<VECTOR>(g.b, g.ldb, base + y, col, g.k, g.n);
        __syncthreads();
        const float *a = &tile_a[y][0].x;
#pragma unroll
        for (int p = 0; p < TILE; p++) {
            float4 b = tile_b[p][x];
            sum[0][0] += a[p] * b.x;
            sum[0][1] += a[p] * b.y;
            sum[0][2] += a[p] * b.z;
            sum[0][3] += a[p] * b.w;
        }
        __syncthreads();
    }
    gemm_put<VECTOR>(g, sum, row, 0, col, 0);
}

enum mg_kernels_status mg__gemm_vector(cudaStream_t stream, const struct gemm_args *args)
{
    bool aligned = gemm_aligned(args->a, args->lda) && gemm_aligned(args->b, args->ldb) &&
                   gemm_aligned(args->c, args->ldc);
    return mg__kernels_launch(aligned ? vectorised<true> : vectorised<false>, gemm_grid(args, TILE, TILE), dim3(8, 32), 0,
                              stream, *args);
}
