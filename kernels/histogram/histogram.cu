/* histogram.cu - the public calls of histogram: the checks, and the choice of the rung. MG_BEST is the last one. */
#include "histogram/histogram_priv.h"

static const struct mg_variant variants[] = {
#define RUNG(id, name, idea, gain) {name, idea, gain},
#include "histogram/histogram.def"
#undef RUNG
};
static enum mg_kernels_status (*const rungs[])(const struct mg__histogram *) = {
#define RUNG(id, name, idea, gain) mg__histogram_##id,
#include "histogram/histogram.def"
#undef RUNG
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

MG_API const struct mg_variant *mg_histogram_variants(size_t *count)
{
    *count = RUNGS;
    return variants;
}

static enum mg_kernels_status histogram(struct CUstream_st *stream, int variant, int64_t n, const void *x, int size,
                                        int64_t nbins, uint32_t *bins)
{
    if (variant < MG_BEST || variant >= RUNGS)
        return MG_KERNELS_ERR_VARIANT;
    if (n < 0 || n > INT64_MAX / size || nbins < 1 || nbins > INT64_MAX / 4 || !bins || (n > 0 && !x))
        return MG_KERNELS_ERR_INVALID;
    uintptr_t from = reinterpret_cast<uintptr_t>(x), to = reinterpret_cast<uintptr_t>(bins);
    if (to % sizeof *bins != 0 || from % static_cast<uintptr_t>(size) != 0 ||
        (n > 0 && from < to + static_cast<uintptr_t>(nbins) * 4 && to < from + static_cast<uintptr_t>(n * size)))
        return MG_KERNELS_ERR_INVALID;
    struct mg__histogram call = {stream, n, x, size, nbins, bins};
    if (n == 0)
        return mg__histogram_clear(&call);
    return rungs[variant == MG_BEST ? RUNGS - 1 : variant](&call);
}

MG_API enum mg_kernels_status mg_histogram_u8(struct CUstream_st *stream, int variant, int64_t n, const uint8_t *x,
                                              uint32_t *bins)
{
    return histogram(stream, variant, n, x, 1, 256, bins);
}

MG_API enum mg_kernels_status mg_histogram_u32(struct CUstream_st *stream, int variant, int64_t n, const uint32_t *x,
                                               int64_t nbins, uint32_t *bins)
{
    return histogram(stream, variant, n, x, 4, nbins, bins);
}
