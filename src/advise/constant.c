/* constant.c - constant memory that lanes of a warp read at different addresses.
 *
 * The constant bank serves one address of a warp at a time: made for coefficients that all lanes read together, it
 * makes a look-up table that each lane reads at its own index wait once for each different index. The remedy is a table
 * in shared memory. It is tried: the recorded accesses are counted as accesses of shared memory at the same offsets,
 * and the copy that each block makes of the table is paid for.
 */
#include "advise/facts.h"

#include <math.h>

void mg__advise_constant(struct mg_facts *f)
{
    double passes = 0, requests = 0, wavefronts = 0;
    struct mg_change *change = mg__change(f);
    /* Blocks that copy the table: as many as fill half of the warp slots can loop over the work of more. */
    double blocks =
        MG_MIN((double)f->seen->nblocks, ceil(f->arch->max_warps_sm / 2.0 / f->warps) * f->arch->board->sm_count);
    int64_t low = INT64_MAX, high = 0;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_tried *t = &f->seen->insns[i];
        const struct mg_shapes *set = &f->seen->shared[i];
        double scale = f->scale[i], before = wavefronts;
        if (t->const_passes == t->const_requests)
            continue; /* stays where it is */
        passes += (double)t->const_passes;
        requests += (double)t->const_requests;
        for (uint32_t k = 0; k < set->count; k++) {
            const struct mg_advise_shape *s = &set->at[k];
            uint64_t address[32];
            if (s->var != MG_VAR_CONST)
                continue;
            for (unsigned lane = 0; lane < 32; lane++) {
                address[lane] = (uint32_t)s->at[lane];
                if (s->mask >> lane & 1) {
                    low = MG_MIN(low, (int64_t)(uint32_t)s->at[lane]);
                    high = MG_MAX(high, (int64_t)(uint32_t)s->at[lane] + s->width);
                }
            }
            wavefronts +=
                mg__model_shared(f->arch, MG_ACCESS_LD, f->info->insns[i].insn, s->width, s->mask, address).wavefronts *
                (double)s->times * scale;
        }
        if (change && t->const_requests) {
            change->edits[i].to = MG_SPACE_SHARED;
            change->edits[i].to_cost = (float)((wavefronts - before) / (double)t->const_requests);
        }
    }
    if (passes <= 0 || high <= low || f->worst_const == UINT32_MAX)
        return;
    double bytes = (double)(high - low), fills = ceil(bytes / mg__facts_row(f)) * blocks;
    unsigned fit = mg__change_room(f, change, (int64_t)bytes);
    if (f->has_occupancy && !fit)
        return;
    const uint32_t begin = mg__change_at(f, false);
    const double share = blocks / (double)f->seen->nblocks, part = bytes / mg__facts_row(f) / f->warps,
                 loads = share * MG_MAX(part, 1);
    mg__change_add(f, change, begin, MG_TIME_NEW_LOAD, loads,
                   mg__facts_row(f) / f->arch->sector_bytes * MG_MIN(part, 1), 0);
    mg__change_add(f, change, begin, MG_TIME_NEW_SHARED, loads, MG_MIN(part, 1), 0);
    mg__change_add(f, change, begin, MG_TIME_NEW_BARRIER, share, 0, 0);
    struct mg_report_advice_item *item = mg__advise_add(f, "constant", change);
    if (!item)
        return;
    mg__advise_at(f, item, f->worst_const);
    item->title = "Read this table from shared memory, not from constant memory";
    item->why = mg__advise_text(
        f,
        "Lanes of a warp read different addresses, and constant memory serves one at a time: %.0f passes "
        "for %.0f loads, %.1f each.",
        passes, requests, passes / requests);
    item->how = mg__advise_text(
        f,
        "Pass the table in global memory and let each block copy its %.0f bytes to shared memory "
        "first%s. Tried on the recorded accesses: %.0f wavefronts, and %.0f to fill it; %u blocks fit on "
        "an SM, now %u.",
        bytes,
        blocks < (double)f->seen->nblocks ? mg__advise_text(f, ", %.0f blocks that loop over the work of all", blocks)
                                          : "",
        wavefronts, fills, fit, f->occupancy.blocks);
    mg__advise_value(f, item, "passes", passes);
    mg__advise_value(f, item, "loads", requests);
    mg__advise_value(f, item, "table_bytes", bytes);
    mg__advise_value(f, item, "wavefronts_then", (double)mg__facts_round(wavefronts + fills));
    mg__advise_predict(f, item, MG_METRIC_WAVEFRONTS_SHARED, (double)f->total.wavefronts + wavefronts + fills);
}
