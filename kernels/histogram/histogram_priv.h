/* histogram_priv.h - what the rungs of histogram share: a call's arguments, checked, the keys, and bins in ranges.
 *
 * Bins that do not fit shared memory are counted in passes over ranges of them, each of which reads all keys; from
 * MG__HISTOGRAM_PASSES passes on, additions in global memory are quicker (docs/tuning/histogram.md), and the rung
 * "global" does the work.
 */
#ifndef MG_HISTOGRAM_PRIV_H
#define MG_HISTOGRAM_PRIV_H
#include "common/kernels_priv.h"

struct mg__histogram {
    cudaStream_t stream;
    int64_t n; /* at least 1 */
    const void *x;
    int size;      /* of a key in bytes: 1 or 4 */
    int64_t nbins; /* at least 1; 256 for bytes */
    uint32_t *bins;
};

#define RUNG(id, name, idea, gain) enum mg_kernels_status mg__histogram_##id(const struct mg__histogram *call);
#include "histogram/histogram.def"
#undef RUNG

enum { MG__HISTOGRAM_PASSES = 8, MG__HISTOGRAM_STATIC = 48 << 10 };

/* All bins to 0, before the first launch that adds to them. */
static inline enum mg_kernels_status mg__histogram_clear(const struct mg__histogram *call)
{
    return mg__kernels_status(
        cudaMemsetAsync(call->bins, 0, static_cast<size_t>(call->nbins) * sizeof *call->bins, call->stream));
}

/* Blocks for keys at `per_block` at least each: no more than run at once, and none that would have fewer keys to count
 * than bins to clear and add up. */
static inline unsigned mg__histogram_grid(const struct mg__histogram *call, int64_t bins, int64_t per_block,
                                          int64_t resident)
{
    return mg__kernels_grid(call->n, per_block > bins ? per_block : bins, resident);
}
#endif
