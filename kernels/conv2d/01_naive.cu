/* 01_naive.cu - one thread an element, a load from global memory for every tap.
 *
 * The filter waits in shared memory, where each block puts it first. Neighbouring threads take neighbouring columns, so the
 * loads are coalesced, and of the fr fc loads of an element all but about one hit the first-level cache: the limit is the
 * number of load instructions, two for every product.
 */
#include "conv2d/conv2d_priv.h"

static __global__ void naive(conv_args g, conv_filter filter)
{
    __shared__ float taps[MG_CONV_MAX * MG_CONV_MAX];
    for (int i = threadIdx.y * 32 + threadIdx.x; i < g.fr * g.fc; i += 256)
        taps[i] = filter.f[i];
    __syncthreads();
    int64_t tiles = (g.cols + 31) / 32;
    int64_t row = blockIdx.x / tiles * 8 + threadIdx.y, col = blockIdx.x % tiles * 32 + threadIdx.x;
    if (row >= g.rows || col >= g.cols)
        return;
    float sum = 0.0f;
    for (int p = 0; p < g.fr; p++)
        for (int q = 0; q < g.fc; q++)
            sum += taps[p * g.fc + q] * conv_at(g, row + p - g.fr / 2, col + q - g.fc / 2);
    g.y[row * g.ldy + col] = sum;
}

enum mg_kernels_status mg__conv2d_naive(cudaStream_t stream, const struct conv_args *args, const struct conv_filter *filter)
{
    return mg__kernels_launch(naive, conv_grid(args, 8, 32), dim3(32, 8), 0, stream, *args, *filter);
}
