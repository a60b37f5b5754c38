/* hierarchy_priv.h - what the rungs of hierarchy are given. */
#ifndef MG_HIERARCHY_PRIV_H
#define MG_HIERARCHY_PRIV_H
#include "common/kernels_priv.h"
#include "hierarchy/shape.h"

#include <stdint.h>

/* A call whose arguments are checked: n and steps are at least 1, and the level holds n words. */
struct mg__hierarchy {
    cudaStream_t stream;
    int64_t n, steps;
    const uint32_t *x;
    uint32_t *out;
};
#define RUNG(id, name, idea, gain, words, latency) \
    enum mg_kernels_status mg__hierarchy_##id(const struct mg__hierarchy *call);
#include "hierarchy/hierarchy.def"
#undef RUNG

/* Blocks of a stream's grid: the same for the rung and for the bytes that the call reports. */
static inline unsigned mg__hierarchy_blocks(void)
{
    return static_cast<unsigned>(mg__kernels_sm_count() * HIERARCHY_BLOCKS);
}
#endif
