/* 06_doubled.cu - adds: two buffers, and the next tiles under way while this one is used.
 *
 * A thread reads its elements of the next tiles into registers before it computes with the present ones, and writes them to
 * the other buffer afterwards. The latency of global memory hides behind the arithmetic, and one barrier a tile remains:
 * what is written in a step was last read a step ago. Should gain where few warps are there to hide latency; with 1024
 * threads a block it is modest.
 */
#include "gemm/gemm_priv.h"

enum { TILE = 32 };

static __global__ __launch_bounds__(TILE *TILE) void doubled(gemm_args g)
{
    __shared__ float tile_a[2][TILE][TILE + 1], tile_b[2][TILE][TILE + 1];
    int x = threadIdx.x, y = threadIdx.y;
    int64_t tiles_n = (g.n + TILE - 1) / TILE;
    int64_t row = blockIdx.x / tiles_n * TILE + y;
    int64_t col = blockIdx.x % tiles_n * TILE + x;
    tile_a[0][y][x] = row < g.m && x < g.k ? g.a[row * g.lda + x] : 0.0f;
    tile_b[0][y][x] = y < g.k && col < g.n ? g.b[y * g.ldb + col] : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    int now = 0;
    for (int64_t next = TILE; next < g.k + TILE; next += TILE, now ^= 1) {
        float a = row < g.m && next + x < g.k ? g.a[row * g.lda + next + x] : 0.0f;
        float b = next + y < g.k && col < g.n ? g.b[(next + y) * g.ldb + col] : 0.0f;
#pragma unroll
        for (int p = 0; p < TILE; p++)
            sum += tile_a[now][y][p] * tile_b[now][p][x];
        tile_a[now ^ 1][y][x] = a;
        tile_b[now ^ 1][y][x] = b;
        __syncthreads();
    }
    if (row < g.m && col < g.n) {
        float *at = g.c + row * g.ldc + col;
        *at = gemm_value(g, sum, at);
    }
}

enum mg_kernels_status mg__gemm_doubled(cudaStream_t stream, const struct gemm_args *args)
{
    return mg__kernels_launch(doubled, gemm_grid(args, TILE, TILE), dim3(TILE, TILE), 0, stream, *args);
}
