/* conv2d.cu - the public calls of conv2d: checks, and the choice of the rung. */
#include "conv2d/conv2d_priv.h"

static const struct mg_variant variants[] = {
#define RUNG(id, name, idea, gain) {name, idea, gain},
#include "conv2d/conv2d.def"
#undef RUNG
};

static enum mg_kernels_status (*const rungs[])(cudaStream_t, const struct conv_args *, const struct conv_filter *) = {
#define RUNG(id, name, idea, gain) mg__conv2d_##id,
#include "conv2d/conv2d.def"
#undef RUNG
};

MG_API const struct mg_variant *mg_conv2d_variants(size_t *count)
{
    *count = CONV_RUNGS;
    return variants;
}

MG_API enum mg_kernels_status mg_conv2d_f32(struct CUstream_st *stream, int variant, int64_t rows, int64_t cols,
                                            const float *x, int64_t ldx, int fr, int fc, const float *filter, float *y,
                                            int64_t ldy)
{
    if (variant < MG_BEST || variant >= CONV_RUNGS)
        return MG_KERNELS_ERR_VARIANT;
    if (rows < 0 || cols < 0 || ldx < cols || ldy < cols || fr < 1 || fr > MG_CONV_MAX || fr % 2 == 0 || fc < 1 ||
        fc > MG_CONV_MAX || fc % 2 == 0 || !filter)
        return MG_KERNELS_ERR_INVALID;
    if (rows == 0 || cols == 0)
        return MG_KERNELS_OK;
    if (!x || !y || reinterpret_cast<uintptr_t>(x) % 4 || reinterpret_cast<uintptr_t>(y) % 4 ||
        (x < y + (rows - 1) * ldy + cols && y < x + (rows - 1) * ldx + cols))
        return MG_KERNELS_ERR_INVALID;
    struct conv_args args = {rows, cols, x, ldx, fr, fc, y, ldy};
    struct conv_filter copy = {};
    for (int i = 0; i < fr * fc; i++)
        copy.f[i] = filter[i];
    return rungs[variant == MG_BEST ? CONV_best : variant](stream, &args, &copy);
}
