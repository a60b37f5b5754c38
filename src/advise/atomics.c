/* atomics.c - atomics that get into each other's way, in global and in shared memory.
 *
 * Global: a block that adds several times to one address can add up in shared memory first, and once in global memory;
 * one that does not may do so when it loops over the work of several. One address takes one operation a cycle, from the
 * whole device; so what counts is the address that is hit most. What the atomics take in shared memory is tried on the
 * recorded accesses.
 *
 * Shared: lanes of a warp on one address, or in one bank, are served one after the other. Two remedies are tried on the
 * recorded accesses: copies of the variable, interleaved word by word, lane i using copy i modulo their number; and
 * adding up the lanes of an address before (a reduction over the warp), one lane doing the atomic.
 *
 * Where what an atomic hands back is read (a place in a list, a ticket) only the second is possible: copies would hand
 * out each place several times.
 */
#include "advise/facts.h"

#include <math.h>

enum { MOST_COPIES = 32, SHUFFLES = 5, SUMS = 7 /* of a warp's lanes that add up */ };

/* What the kernel does with the old value: nothing; it reads it; or the operation is nothing without it. */
enum old { OLD_UNUSED, OLD_READ, OLD_NEEDED };

static enum old old_of(const struct mg_facts *f, uint32_t at)
{
    const struct mg_ptx_func *func = f->info->insns[at].func;
    const struct mg_ptx_insn *atomic = f->info->insns[at].insn;
    uint32_t result, reg;
    bool is_result, written;
    if (atomic->atomop == MG_ATOM_CAS || atomic->atomop == MG_ATOM_EXCH)
        return OLD_NEEDED;
    for (struct mg_flow_walk w = {func, atomic, 0, 0}; mg__flow_next(&w, &result, &is_result);)
        for (uint32_t i = 0; is_result && i < func->ninsns; i++)
            for (struct mg_flow_walk r = {func, &func->insns[i], 0, 0}; mg__flow_next(&r, &reg, &written);)
                if (!written && reg == result)
                    return OLD_READ;
    return OLD_UNUSED;
}

/* Wavefronts of the group's atomics, did they go to the same places in shared memory: their distances are all that
 * counts. */
static double in_shared(const struct mg_facts *f, uint32_t group)
{
    double total = 0;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_shapes *set = &f->seen->global[i];
        uint32_t site = f->seen->sites.of[i];
        double wavefronts = 0, times = 0;
        if (site == UINT32_MAX || f->sites[site].group != group)
            continue;
        for (uint32_t k = 0; k < set->count; k++) {
            const struct mg_advise_shape *s = &set->at[k];
            uint64_t address[32];
            int32_t low = 0; /* of the first active lane: the others count from it */
            for (unsigned lane = 0; lane < 32; lane++)
                low = MG_MIN(low, s->at[lane]);
            for (unsigned lane = 0; lane < 32; lane++)
                address[lane] = (uint64_t)((int64_t)s->at[lane] - low);
            wavefronts += mg__model_shared(f->arch, (enum mg_access_kind)s->kind, f->info->insns[i].insn, s->width,
                                           s->mask, address)
                              .wavefronts *
                          (double)s->times;
            times += (double)s->times;
        }
        if (times > 0)
            total += wavefronts / times * (double)f->seen->insns[i].requests;
    }
    return total;
}

struct private
{                                /* one way of adding up in the block first */
    double blocks, bytes, words; /* of the grid; of a block's copy; (address, block) pairs: an atomic each is left */
    bool known;
    struct mg_change *change;
};

/* The group's atomics go to shared memory, and at the end a block adds up what it has. `sum`: it is one value, which
 * the block's threads join by shuffles. */
static void change_private(struct mg_facts *f, uint32_t group, struct private *p, double wavefronts, bool sum)
{
    const double all = (double)f->seen->nblocks, warps = f->warps * all, share = p->blocks / all;
    const uint32_t end = mg__change_at(f, true);
    struct mg_change *c = p->change = mg__change(f);
    double requests = 0;
    for (uint32_t i = 0; c && i < f->info->ninsns; i++) {
        const uint32_t site = f->seen->sites.of[i];
        if (site == UINT32_MAX || f->sites[site].group != group || !f->seen->insns[i].requests)
            continue;
        if (sum && mg__change_often(f, i) < 1.5) {
            mg__change_gone(c, i);
            mg__change_add(f, c, i, MG_TIME_NEW_SHUFFLE, 5 * mg__change_often(f, i), 0, 0);
            mg__change_add(f, c, i, MG_TIME_NEW_SHARED, mg__change_often(f, i), 1, 0);
        } else {
            c->edits[i].to = MG_SPACE_SHARED;
        }
        requests += (double)f->seen->insns[i].requests;
    }
    for (uint32_t i = 0; c && i < f->info->ninsns; i++)
        if (c->edits[i].to) {
            c->edits[i].to_cost = (float)MG_MAX(wavefronts / requests, 1);
            c->edits[i].to_rounds = c->edits[i].to_cost;
        }
    const double flush = MG_MAX(p->words / 32, p->blocks) / warps; /* of a warp */
    mg__change_add(f, c, end, MG_TIME_NEW_BARRIER, 2 * share, 0, 0);
    mg__change_add(f, c, end, MG_TIME_NEW_SHARED, 2 * flush, 1, 0);
    mg__change_add(f, c, end, MG_TIME_NEW_ATOMIC, flush, MG_MAX(MG_MIN(p->words / p->blocks, 32) / 8, 1),
                   p->bytes / 512);
    mg__change_room(f, c, (int64_t)p->bytes);
}

static void global_atomics(struct mg_facts *f, uint32_t index)
{
    const struct mg_advise_group *g = &f->groups[index];
    const struct mg_use *u = &g->use;
    double blocks = (double)f->seen->nblocks, lanes = 0;
    uint32_t worst = g->first;
    if (g->direction != MG_DIR_ATOMIC || u->bytes <= 0 || f->sampled_blocks <= 0)
        return;
    for (uint32_t i = 0; i < f->nsites; i++) {
        if (f->sites[i].group != index)
            continue;
        lanes += (double)f->sites[i].sum.lanes;
        if (f->sites[i].sum.moved > f->sites[worst].sum.moved)
            worst = i;
    }
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const uint32_t site = f->seen->sites.of[i];
        if (site != UINT32_MAX && f->sites[site].group == index && f->seen->insns[i].requests &&
            old_of(f, i) != OLD_UNUSED)
            return;
    }
    if (lanes <= 0)
        return;
    unsigned width = f->sites[worst].width;
    double all_bytes = ldexp(g->granules, (int)f->seen->sites.shift); /* that any of the sampled blocks touched */
    struct private own = {blocks, u->bytes / MG_MAX(u->blocks, 1), mg__facts_distinct(u, g->bytes) / width,
                          u->uses >= 2 * u->bytes, NULL}; /* else a block adds to each address about once */
    bool sum = own.words <= 4 * blocks;
    double wavefronts = sum ? (double)g->moved : in_shared(f, index);
    if (own.known && own.bytes <= f->arch->shared_block)
        change_private(f, index, &own, wavefronts, sum);
    /* As many blocks as are resident at once, each looping over the work of several. Only where blocks share addresses,
     * so that more work in a block does not mean more of them, and where a block has much to add: not its one sum. */
    double resident = (double)f->occupancy.blocks * f->arch->board->sm_count;
    struct private loop = {resident, all_bytes, resident * all_bytes / width, false, NULL};
    if (f->has_occupancy && blocks > resident && !u->sampled && 2 * all_bytes <= u->bytes && lanes >= 32 * blocks)
        change_private(f, index, &loop, in_shared(f, index), false);
    bool loops = loop.change && (!own.change || mg__change_saves(f, loop.change) >
                                                    mg__change_saves(f, own.change) +
                                                        0.2 * (f->seconds - mg__change_saves(f, own.change)));
    const struct private *then = loops ? &loop : &own;
    if (!then->change || then->bytes > f->arch->shared_block)
        return;
    struct mg_report_advice_item *item = mg__advise_add(f, "privatise", then->change);
    if (!item)
        return;
    const struct mg_site_fact *s = &f->sites[worst];
    item->file = s->site->file;
    item->line = s->site->line;
    item->variable = mg__facts_array(f, s->site);
    sum &= !loops;
    item->title =
        sum ? "Sum over the block first, and add once" : "Give each block a copy in shared memory, and add it once";
    item->why = mg__advise_text(f,
                                "%.0f atomic operations; in a block %.1f for each address that it touches, and about "
                                "%.0f on the one that is hit most.",
                                lanes, u->uses / u->bytes, g->hottest);
    item->how =
        sum ? mg__advise_text(f,
                              "Reduce in the block, with shuffles in each warp and %u words of shared memory between "
                              "warps, and let one thread add the sum: %.0f atomics are left.",
                              f->warps, own.words)
            : mg__advise_text(
                  f,
                  "%sAdd to %.0f bytes of shared memory that the block set to zero; after a barrier, add "
                  "those to global memory: %.0f atomics are left, for %.0f wavefronts in shared memory.",
                  loops ? mg__advise_text(f,
                                          "Launch the %.0f blocks that are resident at once, and let their "
                                          "threads loop over the work (i += gridDim.x * blockDim.x), so that a "
                                          "block adds often to each address. ",
                                          resident)
                        : "",
                  then->bytes, then->words, wavefronts);
    mg__advise_value(f, item, "operations", lanes);
    mg__advise_value(f, item, "uses_per_address", u->uses / u->bytes);
    mg__advise_value(f, item, "hottest", g->hottest);
    mg__advise_value(f, item, "operations_then", (double)mg__facts_round(then->words));
    if (loops)
        mg__advise_value(f, item, "blocks_then", resident);
}

/* Wavefronts of a variable's accesses with `copies` of it, or (0) with one lane for each address; the change;
 * and how many of a warp's lanes then do one. */
static double replay(struct mg_facts *f, uint32_t var, unsigned copies, struct mg_change **change, double *groups)
{
    double atomics = 0, leaders = 0;
    double total = 0;
    struct mg_change *c = *change = mg__change(f);
    uint32_t base = f->info->shared_vars[var].offset;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_shapes *set = &f->seen->shared[i];
        double scale = f->scale[i], now = 0, before = total;
        for (uint32_t k = 0; k < set->count; k++) {
            const struct mg_advise_shape *s = &set->at[k];
            now += s->var == (int32_t)var ? (double)s->taken * (double)s->times * scale : 0;
            bool atomic = s->kind == MG_ACCESS_ATOM || s->kind == MG_ACCESS_RED;
            if (s->var != (int32_t)var)
                continue;
            if (!atomic) {
                total += (double)s->taken * (double)s->times * scale;
                continue;
            }
            uint64_t address[32];
            struct mg_access a = {.insn = i,
                                  .kind = s->kind,
                                  .space = MG_SPACE_SHARED,
                                  .width = s->width,
                                  .mask = s->mask,
                                  .shared_var = s->var,
                                  .times = s->times,
                                  .address = address};
            for (unsigned lane = 0; lane < 32; lane++) {
                uint64_t at = (uint32_t)s->at[lane];
                if (copies)
                    at = base + (at - base) * copies + (uint64_t)(lane % copies) * s->width;
                address[lane] = at;
            }
            for (unsigned lane = 0; !copies && lane < 32; lane++)
                for (unsigned other = 0; other < lane; other++)
                    if ((a.mask >> lane & 1) && (a.mask >> other & 1) && a.address[lane] == a.address[other])
                        a.mask &= ~(1u << lane);
            atomics += (double)s->times * scale;
            leaders += (double)s->times * scale * __builtin_popcount(a.mask);
            struct mg_model_access as;
            if (mg__model_made_access(f->seen->made, &a, true, &as))
                total += mg__model_shared(f->arch, as.cost, f->info->insns[i].insn, as.width, as.mask, as.address)
                             .wavefronts *
                         (double)s->times * scale;
        }
        if (c && now > 0)
            c->edits[i].wavefronts = (float)((total - before) / now);
    }
    *groups = atomics > 0 ? leaders / atomics : 1;
    return total;
}

/* Whether in most atomics of the variable all lanes go to one address. */
static bool meet_at_one(const struct mg_facts *f, uint32_t var)
{
    double one = 0, all = 0;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        double here = 0, kept = 0; /* what is kept of an instruction stands for all of it */
        for (uint32_t k = 0; k < f->seen->shared[i].count; k++) {
            const struct mg_advise_shape *s = &f->seen->shared[i].at[k];
            if (s->var != (int32_t)var || (s->kind != MG_ACCESS_ATOM && s->kind != MG_ACCESS_RED))
                continue;
            bool same = true;
            int first = __builtin_ctz(s->mask);
            for (unsigned lane = 0; lane < 32; lane++)
                same &= !(s->mask >> lane & 1) || s->at[lane] == s->at[first];
            kept += (double)s->times;
            here += same ? (double)s->times : 0;
        }
        all += kept > 0 ? (double)f->seen->insns[i].warps : 0;
        one += kept > 0 ? here / kept * (double)f->seen->insns[i].warps : 0;
    }
    return one * 2 > all;
}

static void shared_atomics(struct mg_facts *f, uint32_t var)
{
    const struct mg_var_fact *v = &f->vars[var];
    double now = (double)v->wavefronts, best_then = now;
    unsigned best_copies = 1, blocks = f->occupancy.blocks;
    uint32_t size = f->info->shared_vars[var].size;
    double groups;
    enum old old = OLD_UNUSED;
    struct mg_change *best = NULL, *aggregate;
    for (uint32_t i = 0; v->atomics && i < f->info->ninsns; i++)
        if (mg__change_of_var(f, i, var) && mg__ptx_is_atomic(f->info->insns[i].insn))
            old = MG_MAX(old, old_of(f, i));
    if (!v->atomics || old == OLD_NEEDED)
        return;
    for (unsigned copies = 2; copies <= MOST_COPIES && (uint64_t)size * copies <= f->arch->shared_block_optin;
         copies *= 2) {
        struct mg_change *c;
        double then = replay(f, var, copies, &c, &groups);
        unsigned fit = mg__change_room(f, c, (int64_t)size * (copies - 1));
        /* Clearing the copies and adding them up at the end: each word of them twice, by as many blocks as fill half
         * of the warp slots, which can loop over the work of the others. */
        double half = ceil(f->arch->max_warps_sm / 2.0 / f->warps) * f->arch->board->sm_count;
        double blocks_then = MG_MIN((double)f->seen->nblocks, MG_MIN((double)fit * f->arch->board->sm_count, half));
        double wavefronts = 2.0 * size * copies / mg__facts_row(f) * blocks_then;
        mg__change_add(f, c, mg__change_at(f, true), MG_TIME_NEW_SHARED,
                       wavefronts / f->warps / (double)f->seen->nblocks, 1, 0);
        if (fit && then < now && mg__change_saves(f, c) > MG_MAX(mg__change_saves(f, best) * 1.02, 0)) {
            best = c;
            best_copies = copies;
            best_then = then;
            blocks = fit;
        }
    }
    double alone = replay(f, var, 0, &aggregate, &groups);
    /* lanes that do not all meet at one place find out who does, and each group of them adds up by itself */
    bool one = meet_at_one(f, var);
    double shuffles = one ? SHUFFLES : SHUFFLES + 2 * groups, sums = one ? SUMS : SUMS + 2 * groups;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_ptx_insn *insn = f->info->insns[i].insn;
        if (!mg__change_of_var(f, i, var) || (insn->access != MG_ACCESSES_ATOM && insn->access != MG_ACCESSES_RED))
            continue;
        mg__change_add(f, aggregate, i, MG_TIME_NEW_SHUFFLE, shuffles * mg__change_often(f, i), 0, 0);
        mg__change_add(f, aggregate, i, MG_TIME_NEW_ALU, sums * mg__change_often(f, i), 0, 0);
    }
    if (one || old == OLD_READ) /* copies of a sum would be summed in the same way */
        best = NULL;
    const char *name = mg__facts_variable(f, var);
    struct mg_report_advice_item *item;
    if (mg__change_saves(f, aggregate) > mg__change_saves(f, best)) {
        item = mg__advise_add(f, "aggregate", aggregate);
        if (!item)
            return;
        item->title = mg__advise_text(f, "Add up over the warp before the atomic on '%s'", name);
        item->how =
            mg__advise_text(f,
                            "Lanes with the same address reduce first (__reduce_add_sync, or shuffles; "
                            "__match_any_sync finds them) and one of them adds%s: tried on the recorded accesses, "
                            "%.0f wavefronts become %.0f.",
                            old == OLD_READ ? ", and hands the others their places by a shuffle" : "", now, alone);
        best_then = alone;
    } else {
        item = mg__advise_add(f, "copies", best);
        if (!item)
            return;
        item->title = mg__advise_text(f, "Keep %u copies of '%s' in a block", best_copies, name);
        item->how = mg__advise_text(
            f,
            "Interleave them, %s[bin * %u + lane %% %u], and sum them at the end: tried on the "
            "recorded accesses, %.0f wavefronts become %.0f. %u bytes more; %u blocks fit on an "
            "SM, now %u. (A copy for each warp keeps warps apart, but lanes of a warp still meet: %.0f wavefronts.)",
            name, best_copies, best_copies, now, best_then, size * (best_copies - 1), blocks, f->occupancy.blocks, now);
        mg__advise_value(f, item, "copies", best_copies);
        mg__advise_value(f, item, "added_bytes", (double)size * (best_copies - 1));
    }
    mg__advise_at(f, item, v->worst);
    item->variable = name;
    item->why = mg__advise_text(f, "Lanes of a warp meet: %.0f wavefronts for %llu accesses, most of them atomics.",
                                now, (unsigned long long)(v->atomics + v->loads + v->stores));
    mg__advise_value(f, item, "wavefronts_now", (double)mg__facts_round(now));
    mg__advise_value(f, item, "wavefronts_then", (double)mg__facts_round(best_then));
}

void mg__advise_atomics(struct mg_facts *f)
{
    for (uint32_t g = 0; g < f->ngroups; g++)
        global_atomics(f, g);
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        shared_atomics(f, v);
}
