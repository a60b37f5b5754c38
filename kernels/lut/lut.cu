/* lut.cu - the public call of lut: the checks, and the choice of the rung. MG_BEST is the last one. */
#include "lut/lut_priv.h"

static const struct mg_variant variants[] = {
#define RUNG(id, name, idea, gain) {name, idea, gain},
#include "lut/lut.def"
#undef RUNG
};
static enum mg_kernels_status (*const rungs[])(const struct mg__lut *) = {
#define RUNG(id, name, idea, gain) mg__lut_##id,
#include "lut/lut.def"
#undef RUNG
};
enum { RUNGS = sizeof rungs / sizeof *rungs, GLOBAL = 0 };

MG_API const struct mg_variant *mg_lut_variants(size_t *count)
{
    *count = RUNGS;
    return variants;
}

MG_API enum mg_kernels_status mg_lut_u8(struct CUstream_st *stream, int variant, int64_t n, const uint8_t *x,
                                        const uint8_t table[256], uint8_t *y, void *workspace, size_t *workspace_bytes)
{
    if (variant < MG_BEST || variant >= RUNGS)
        return MG_KERNELS_ERR_VARIANT;
    if (n < 0)
        return MG_KERNELS_ERR_INVALID;
    enum mg_kernels_status status;
    if (mg__kernels_workspace(workspace, workspace_bytes, variant == GLOBAL ? 256 : 0, &status))
        return status;
    if (n == 0)
        return MG_KERNELS_OK;
    uintptr_t from = reinterpret_cast<uintptr_t>(x), to = reinterpret_cast<uintptr_t>(y);
    if (!x || !y || !table || (from != to && (from < to ? to - from : from - to) < static_cast<uintptr_t>(n)))
        return MG_KERNELS_ERR_INVALID;
    struct mg__lut call = {stream, n, x, y, {}, static_cast<uint8_t *>(workspace)};
    for (unsigned i = 0; i < 256; i++)
        call.table.word[i / 4] |= static_cast<uint32_t>(table[i]) << i % 4 * 8;
    return rungs[variant == MG_BEST ? RUNGS - 1 : variant](&call);
}
