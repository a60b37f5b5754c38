/* 01_naive.cu - one thread an element, and a load from global memory for every weight.
 *
 * The loads are coalesced, though all but one of three at radius 1 straddle two lines, and all but one of an element's
 * loads hit the first-level cache.
 */
#include "stencil1d/stencil1d_priv.h"

static __global__ void naive(stencil_args g)
{
    int64_t i = static_cast<int64_t>(blockIdx.x) * STENCIL_THREADS + threadIdx.x;
    if (i >= g.n)
        return;
    float sum = 0.0f;
    for (int d = -g.radius; d <= g.radius; d++)
        sum += g.weights[g.radius + d] * (i + d >= 0 && i + d < g.n ? g.x[i + d] : 0.0f);
    g.y[i] = sum;
}

enum mg_kernels_status mg__stencil1d_naive(cudaStream_t stream, const struct stencil_args *args)
{
    unsigned blocks = mg__kernels_grid(args->n, STENCIL_THREADS, INT32_MAX);
    return mg__kernels_launch(naive, dim3(blocks), dim3(STENCIL_THREADS), 0, stream, *args);
}
