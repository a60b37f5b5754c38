/* stream.cu - the public call of stream: the checks, and the choice of the rung. MG_BEST is unit stride. */
#include "stream/stream_priv.h"

static const struct mg_variant variants[] = {
#define RUNG(id, name, idea, gain) {name, idea, gain},
#include "stream/stream.def"
#undef RUNG
};
static enum mg_kernels_status (*const rungs[])(const struct mg__stream *) = {
#define RUNG(id, name, idea, gain) mg__stream_##id,
#include "stream/stream.def"
#undef RUNG
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

MG_API const struct mg_variant *mg_stream_variants(size_t *count)
{
    *count = RUNGS;
    return variants;
}

static bool overlap(const float *p, const float *q, int64_t n)
{
    uintptr_t from = reinterpret_cast<uintptr_t>(p), to = reinterpret_cast<uintptr_t>(q);
    return (from < to ? to - from : from - to) < static_cast<uintptr_t>(n) * sizeof *p;
}

MG_API enum mg_kernels_status mg_stream_f32(struct CUstream_st *stream, int variant, int64_t n, const float *a,
                                            const float *b, float *c)
{
    if (variant < MG_BEST || variant >= RUNGS)
        return MG_KERNELS_ERR_VARIANT;
    if (n < 0 || n > INT64_MAX / 64)
        return MG_KERNELS_ERR_INVALID;
    if (n == 0)
        return MG_KERNELS_OK;
    uintptr_t bits = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) | reinterpret_cast<uintptr_t>(c);
    if (!a || !b || !c || bits % sizeof *a != 0 || overlap(a, c, n) || overlap(b, c, n))
        return MG_KERNELS_ERR_INVALID;
    struct mg__stream call = {stream, n, a, b, c};
    return rungs[variant == MG_BEST ? 0 : variant](&call);
}
