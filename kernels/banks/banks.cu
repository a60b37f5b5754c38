/* banks.cu - the public call of banks: the checks, and the choice of the rung. MG_BEST is stride 1. */
#include "banks/banks_priv.h"

static const struct mg_variant variants[] = {
#define RUNG(id, name, idea, gain, width, stride) {name, idea, gain},
#include "banks/banks.def"
#undef RUNG
};
static enum mg_kernels_status (*const rungs[])(const struct mg__banks *) = {
#define RUNG(id, name, idea, gain, width, stride) mg__banks_##id,
#include "banks/banks.def"
#undef RUNG
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

MG_API const struct mg_variant *mg_banks_variants(size_t *count)
{
    *count = RUNGS;
    return variants;
}

MG_API enum mg_kernels_status mg_banks_u32(struct CUstream_st *stream, int variant, int64_t blocks, int64_t rounds,
                                           uint32_t *out)
{
    if (variant < MG_BEST || variant >= RUNGS)
        return MG_KERNELS_ERR_VARIANT;
    if (blocks < 0 || rounds < 0 || blocks > INT64_MAX / (BANKS_THREADS * 4))
        return MG_KERNELS_ERR_INVALID;
    if (blocks == 0)
        return MG_KERNELS_OK;
    if (!out || reinterpret_cast<uintptr_t>(out) % sizeof *out != 0)
        return MG_KERNELS_ERR_INVALID;
    struct mg__banks call = {stream, blocks, rounds, out};
    return rungs[variant == MG_BEST ? 0 : variant](&call);
}
