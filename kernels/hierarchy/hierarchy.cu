/* hierarchy.cu - the public call of hierarchy: checks, then the choice of the rung. MG_BEST is the registers'
 * bandwidth: nothing is faster, and it takes any number of words. */
#include "hierarchy/hierarchy_priv.h"

enum hierarchy_rung {
#define RUNG(id, name, idea, gain, words, latency) HIERARCHY_##id,
#include "hierarchy/hierarchy.def"
#undef RUNG
    HIERARCHY_RUNGS
};
static const struct mg_variant variants[] = {
#define RUNG(id, name, idea, gain, words, latency) {name, idea, gain},
#include "hierarchy/hierarchy.def"
#undef RUNG
};
static const struct {
    enum mg_kernels_status (*run)(const struct mg__hierarchy *);
    int64_t words; /* 0: any number */
    bool latency;
} rungs[] = {
#define RUNG(id, name, idea, gain, words, latency) {mg__hierarchy_##id, words, latency},
#include "hierarchy/hierarchy.def"
#undef RUNG
};

MG_API const struct mg_variant *mg_hierarchy_variants(size_t *count)
{
    *count = HIERARCHY_RUNGS;
    return variants;
}

static uint64_t bytes_read(int variant, int64_t steps)
{
    uint64_t each = variant == HIERARCHY_registers_bandwidth ? HIERARCHY_OPERANDS * 4 : 16;
    if (rungs[variant].latency)
        return static_cast<uint64_t>(steps) * 4;
    return static_cast<uint64_t>(steps) * mg__hierarchy_blocks() * HIERARCHY_THREADS * each;
}

MG_API enum mg_kernels_status mg_hierarchy_u32(struct CUstream_st *stream, int variant, int64_t n, const uint32_t *x,
                                               int64_t steps, uint32_t *out, uint64_t *bytes)
{
    if (variant == MG_BEST)
        variant = HIERARCHY_registers_bandwidth;
    if (variant < 0 || variant >= HIERARCHY_RUNGS)
        return MG_KERNELS_ERR_VARIANT;
    uintptr_t from = reinterpret_cast<uintptr_t>(x), at = reinterpret_cast<uintptr_t>(out);
    if (n < 0 || n > INT64_C(1) << 32 || steps < 0 || steps > INT64_C(1) << 32 || !out || at % sizeof *out != 0)
        return MG_KERNELS_ERR_INVALID;
    if (rungs[variant].words && n > rungs[variant].words)
        return MG_KERNELS_ERR_UNSUPPORTED;
    uintptr_t size = static_cast<uintptr_t>(n) * sizeof *x;
    if (n && (!x || from % sizeof *x != 0 || (at + 3 * sizeof *out > from && at < from + size)))
        return MG_KERNELS_ERR_INVALID;
    enum mg_kernels_status status;
    if (n == 0 || steps == 0) {
        status = mg__kernels_status(cudaMemsetAsync(out, 0, 3 * sizeof *out, stream));
        steps = 0;
    } else {
        struct mg__hierarchy call = {stream, n, steps, x, out};
        status = rungs[variant].run(&call);
    }
    if (bytes && !status)
        *bytes = bytes_read(variant, steps);
    return status;
}
