/* 03_constant.cu - adds: the filter is read from constant memory.
 *
 * All threads of a warp want the same tap at the same time, which is what the constant bank is made for: one word to all.
 * A kernel's parameters lie there, so nothing has to be copied beforehand. Where the size of the filter is known when the
 * kernel is compiled (3x3, 5x5, 7x7) the tap is an operand of the multiplication itself; else it is a load from that bank.
 * Should gain up to twice over the last rung: half of its shared loads were taps.
 */
#include "conv2d/tile.cuh"

/* N: the filter is N x N; 0: any. */
template <int N> static __global__ void constant(conv_args g, conv_filter filter)
{
    __shared__ float tile[CONV_WIDE][CONV_WIDE];
    int64_t tiles = (g.cols + CONV_TILE - 1) / CONV_TILE;
    int64_t row0 = blockIdx.x / tiles * CONV_TILE, col0 = blockIdx.x % tiles * CONV_TILE;
    conv_fill(tile, g, row0, col0);
    __syncthreads();
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < CONV_TILE; y += 8) {
        float sum = 0.0f;
        if (N) {
#pragma unroll
            for (int p = 0; p < N; p++)
#pragma unroll
                for (int q = 0; q < N; q++)
                    sum += filter.f[p * N + q] * tile[y + p][x + q];
        } else {
            for (int p = 0; p < g.fr; p++)
                for (int q = 0; q < g.fc; q++)
                    sum += filter.f[p * g.fc + q] * tile[y + p][x + q];
        }
        if (row0 + y < g.rows && col0 + x < g.cols)
            g.y[(row0 + y) * g.ldy + col0 + x] = sum;
    }
}

enum mg_kernels_status mg__conv2d_constant(cudaStream_t stream, const struct conv_args *args,
                                           const struct conv_filter *filter)
{
    int n = args->fr == args->fc ? args->fr : 0;
    void (*kernel)(conv_args, conv_filter) = n == 3   ? constant<3>
                                             : n == 5 ? constant<5>
                                             : n == 7 ? constant<7>
                                                      : constant<0>;
    return mg__kernels_launch(kernel, conv_grid(args, CONV_TILE, CONV_TILE), dim3(32, 8), 0, stream, *args, *filter);
}
