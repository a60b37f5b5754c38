/* tiled.cuh - the tiled kernel of rungs 3 to 5: a block of TILE x TILE threads computes TILE x TILE elements of C.
 *
 * In each of k/TILE steps the threads copy a tile of A and one of B into shared memory, an element each, and every element
 * is then used TILE times. Elements outside the matrices are 0 in both tiles, so that sizes need not be multiples. Both
 * barriers are needed: no thread may read a tile before all have written it, nor overwrite it before all have read it.
 */
#ifndef MG_GEMM_TILED_CUH
#define MG_GEMM_TILED_CUH
#include "gemm/gemm_priv.h"

template <int TILE, int PAD> static __global__ __launch_bounds__(TILE *TILE) void gemm_tiled(gemm_args g)
{
    __shared__ float tile_a[TILE][TILE + PAD], tile_b[TILE][TILE + PAD];
    int x = threadIdx.x, y = threadIdx.y;
    int64_t tiles_n = (g.n + TILE - 1) / TILE;
    int64_t row = blockIdx.x / tiles_n * TILE + y;
    int64_t col = blockIdx.x % tiles_n * TILE + x;
    float sum = 0.0f;
    for (int64_t base = 0; base < g.k; base += TILE) {
        tile_a[y][x] = row < g.m && base + x < g.k ? g.a[row * g.lda + base + x] : 0.0f;
        tile_b[y][x] = base + y < g.k && col < g.n ? g.b[(base + y) * g.ldb + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int p = 0; p < TILE; p++)
            sum += tile_a[y][p] * tile_b[p][x];
        __syncthreads();
    }
    if (row < g.m && col < g.n) {
        float *at = g.c + row * g.ldc + col;
        *at = gemm_value(g, sum, at);
    }
}
#endif
