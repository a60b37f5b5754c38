/* 02_halo.cu - adds: the block's elements, and radius more on both sides, in shared memory.
 *
 * Every element is loaded from global memory once, but for the halo. Should gain where the first-level cache was the limit,
 * with large radii; at radius 1 the barrier costs about what the saved loads bring.
 */
#include "stencil1d/stencil1d_priv.h"

static __global__ void halo(stencil_args g)
{
    __shared__ float tile[STENCIL_THREADS + 2 * MG_STENCIL_MAX_RADIUS];
    int64_t first = static_cast<int64_t>(blockIdx.x) * STENCIL_THREADS;
    for (int t = threadIdx.x; t < STENCIL_THREADS + 2 * g.radius; t += STENCIL_THREADS) {
        int64_t i = first + t - g.radius;
        tile[t] = i >= 0 && i < g.n ? g.x[i] : 0.0f;
    }
    __syncthreads();
    int64_t i = first + threadIdx.x;
    if (i >= g.n)
        return;
    float sum = 0.0f;
    for (int d = 0; d <= 2 * g.radius; d++)
        sum += g.weights[d] * tile[threadIdx.x + d];
    g.y[i] = sum;
}

enum mg_kernels_status mg__stencil1d_halo(cudaStream_t stream, const struct stencil_args *args)
{
    unsigned blocks = mg__kernels_grid(args->n, STENCIL_THREADS, INT32_MAX);
    return mg__kernels_launch(halo, dim3(blocks), dim3(STENCIL_THREADS), 0, stream, *args);
}
