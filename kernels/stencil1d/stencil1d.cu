/* stencil1d.cu - the public calls of stencil1d: checks, and the choice of the rung. */
#include "stencil1d/stencil1d_priv.h"

static const struct mg_variant variants[] = {
#define RUNG(id, name, idea, gain) {name, idea, gain},
#include "stencil1d/stencil1d.def"
#undef RUNG
};

static enum mg_kernels_status (*const rungs[])(cudaStream_t, const struct stencil_args *) = {
#define RUNG(id, name, idea, gain) mg__stencil1d_##id,
#include "stencil1d/stencil1d.def"
#undef RUNG
};

MG_API const struct mg_variant *mg_stencil1d_variants(size_t *count)
{
    *count = STENCIL_RUNGS;
    return variants;
}

MG_API enum mg_kernels_status mg_stencil1d_f32(struct CUstream_st *stream, int variant, int radius, const float *weights,
                                               int64_t n, const float *x, float *y)
{
    if (variant < MG_BEST || variant >= STENCIL_RUNGS)
        return MG_KERNELS_ERR_VARIANT;
    if (n < 0 || radius < 0 || radius > MG_STENCIL_MAX_RADIUS || !weights)
        return MG_KERNELS_ERR_INVALID;
    if (n == 0)
        return MG_KERNELS_OK;
    if (!x || !y || reinterpret_cast<uintptr_t>(x) % 4 || reinterpret_cast<uintptr_t>(y) % 4 || (x < y + n && y < x + n))
        return MG_KERNELS_ERR_INVALID;
    struct stencil_args args = {n, x, y, radius, {}};
    for (int i = 0; i <= 2 * radius; i++)
        args.weights[i] = weights[i];
    return rungs[variant == MG_BEST ? STENCIL_best : variant](stream, &args);
}
