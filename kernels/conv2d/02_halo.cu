/* 02_halo.cu - adds: the block's part of the input and the halo around it in shared memory, before anything is computed.
 *
 * A block of 32x8 threads computes 32x32 elements from a tile of (32 + fr - 1) x (32 + fc - 1): for 5x5, 1.27 global loads
 * an element instead of 25. The threads load the tile in rows, with no regard to which is whose neighbour: the halo needs
 * no cases. What remains are two shared loads a tap, the element's and the filter's. Should gain up to twice, where the
 * naive rung waited for the first-level cache.
 */
#include "conv2d/tile.cuh"

static __global__ void halo(conv_args g, conv_filter filter)
{
    __shared__ float tile[CONV_WIDE][CONV_WIDE], taps[MG_CONV_MAX * MG_CONV_MAX];
    for (int i = threadIdx.y * 32 + threadIdx.x; i < g.fr * g.fc; i += 256)
        taps[i] = filter.f[i];
    int64_t tiles = (g.cols + CONV_TILE - 1) / CONV_TILE;
    int64_t row0 = blockIdx.x / tiles * CONV_TILE, col0 = blockIdx.x % tiles * CONV_TILE;
    conv_fill(tile, g, row0, col0);
    __syncthreads();
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < CONV_TILE; y += 8) {
        float sum = 0.0f;
        for (int p = 0; p < g.fr; p++)
            for (int q = 0; q < g.fc; q++)
                sum += taps[p * g.fc + q] * tile[y + p][x + q];
        if (row0 + y < g.rows && col0 + x < g.cols)
            g.y[(row0 + y) * g.ldy + col0 + x] = sum;
    }
}

enum mg_kernels_status mg__conv2d_halo(cudaStream_t stream, const struct conv_args *args, const struct conv_filter *filter)
{
    return mg__kernels_launch(halo, conv_grid(args, CONV_TILE, CONV_TILE), dim3(32, 8), 0, stream, *args, *filter);
}
