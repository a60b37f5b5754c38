/* 03_best.cu - adds: registers instead of shared memory, and 128-bit accesses.
 *
 * A thread takes four neighbouring elements; those on both sides come from the neighbouring lanes' registers. quads.cuh has
 * the kernel. More quads a thread were tried, and gain nothing (docs/tuning/stencil1d.md). The radius is known at compile
 * time, so the weights are operands from the constant bank. Should reach the speed of a copy: 8 bytes an element, and at
 * radius 16 33 products for them. Arrays that do not begin at 16 bytes go to the rung before.
 */
#include "stencil1d/quads.cuh"

/* Up to radius 4 there are few registers, and large blocks are best; beyond, small ones (docs/tuning/stencil1d.md). */
static constexpr int threads_for(int radius)
{
    return radius <= 4 ? 1024 : 128;
}

enum mg_kernels_status mg__stencil1d_best(cudaStream_t stream, const struct stencil_args *args)
{
#define Q(radius) stencil_quads<radius, threads_for(radius)>
    static void (*const kernels[])(stencil_args) = {Q(0), Q(1), Q(2),  Q(3),  Q(4),  Q(5),  Q(6),  Q(7), Q(8),
                                                    Q(9), Q(10), Q(11), Q(12), Q(13), Q(14), Q(15), Q(16)};
#undef Q
    static_assert(sizeof kernels / sizeof *kernels == MG_STENCIL_MAX_RADIUS + 1, "a kernel for every radius");
    if (reinterpret_cast<uintptr_t>(args->x) % 16 || reinterpret_cast<uintptr_t>(args->y) % 16)
        return mg__stencil1d_halo(stream, args);
    int threads = threads_for(args->radius);
    unsigned blocks = mg__kernels_grid(args->n, threads * 4, INT32_MAX);
    return mg__kernels_launch(kernels[args->radius], dim3(blocks), dim3(static_cast<unsigned>(threads)), 0, stream, *args);
}
