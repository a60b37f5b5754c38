/* price.c - what a change is worth: how the launch's record would be after it, and the time of that by the model of
 * time (time/time.h), which is asked for nothing else than what it was asked of the launch itself.
 *
 * A change says of instructions how often they would be executed, how many wavefronts and sectors their accesses would
 * take and where they would go; what would be added before which of them; and how many blocks, warps and resident
 * blocks there would be. Advisers have no prices of their own.
 */
#include "advise/facts.h"

#include <math.h>

/* Of the ratio of both times: what the model gets wrong before, it mostly gets wrong behind, too. Four of five pairs of
 * tests/hardware/advise_pairs.json. */
#define RATIO 1.26

struct mg_change *mg__change(struct mg_facts *f)
{
    struct mg_change *c = mg__arena_alloc(&f->arena, sizeof(*c));
    if (!c)
        return NULL;
    *c = (struct mg_change){.edits = mg__arena_array(&f->arena, (size_t)f->info->ninsns + 1, sizeof(*c->edits))};
    if (!c->edits)
        return NULL;
    for (uint32_t i = 0; i < f->info->ninsns; i++)
        c->edits[i] = (struct mg_time_edit){.times = 1, .wavefronts = 1, .sectors = 1, .past = 1, .dram = 1};
    return c;
}

struct mg_change *mg__change_like(struct mg_facts *f, const struct mg_change *from)
{
    struct mg_change *c = mg__change(f);
    if (!c || !from)
        return c;
    struct mg_time_edit *edits = c->edits;
    *c = *from;
    c->edits = edits;
    c->room = c->nadded; /* what is added to the one is not to the other */
    c->asked = false;
    memcpy(edits, from->edits, f->info->ninsns * sizeof(*edits));
    return c;
}

double mg__change_often(const struct mg_facts *f, uint32_t insn)
{
    double warps = (double)f->warps * (double)f->seen->nblocks;
    return insn < f->info->ninsns && warps > 0 ? (double)f->seen->insns[insn].warps / warps : 0;
}

uint32_t mg__change_at(const struct mg_facts *f, bool end)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < f->info->ninsns; i++)
        if (f->info->insns[i].func == f->info->func && mg__change_often(f, i) > 0.99 && (end || found == UINT32_MAX))
            found = i;
    return found;
}

void mg__change_add(struct mg_facts *f, struct mg_change *c, uint32_t before, enum mg_time_new what, double each,
                    double cost, double dram)
{
    double often = mg__change_often(f, before);
    if (!c || often <= 0 || each <= 0)
        return;
    if (c->nadded == c->room) {
        struct mg_time_addition *more = mg__arena_array(&f->arena, 2 * (size_t)c->room + 8, sizeof(*more));
        if (!more)
            return;
        if (c->nadded)
            memcpy(more, c->added, c->nadded * sizeof(*more));
        c->added = more;
        c->room = 2 * c->room + 8;
    }
    c->added[c->nadded++] = (struct mg_time_addition){.before = before,
                                                      .what = (uint8_t)what,
                                                      .times = (float)(each / often),
                                                      .cost = (float)cost,
                                                      .dram = (float)dram};
}

void mg__change_gone(struct mg_change *c, uint32_t insn)
{
    c->edits[insn].times = 0;
}

void mg__change_sites(const struct mg_facts *f, struct mg_change *c, uint32_t site, double sectors, double dram,
                      bool turned)
{
    double past = 0, memory = 0, waits = 0, misses = 0, fresh = 0, all = 0;
    for (uint32_t i = 0; c && i < f->info->ninsns; i++) /* which of them finds what another one brought will change */
        if (f->seen->sites.of[i] == site) {
            double n = (double)f->seen->insns[i].requests;
            const struct mg_time_sectors each = mg__time_sectors(f->seen->time, i);
            past += n * each.past;
            memory += n * each.dram;
            waits += n * each.waits;
            misses += n * each.misses;
            fresh += n * each.fresh;
            all += n;
        }
    for (uint32_t i = 0; c && i < f->info->ninsns; i++)
        if (f->seen->sites.of[i] == site) {
            struct mg_time_edit *e = &c->edits[i];
            e->sectors *= (float)sectors;
            e->shared_out = f->sites[site].site->direction == MG_DIR_LOAD && all > 0;
            e->to_past = (float)(past / MG_MAX(all, 1));
            e->to_dram = (float)(memory / MG_MAX(all, 1) * dram);
            e->to_waits = (float)(turned ? waits / MG_MAX(all, 1) : 0);
            e->to_fresh = (float)(turned && misses > 0 ? MG_MIN(fresh / misses, 1) : 0);
        }
}

double mg__change_memory(const struct mg_facts *f, uint32_t insn)
{
    return mg__time_sectors(f->seen->time, insn).dram * (double)f->seen->insns[insn].requests;
}

void mg__change_first(const struct mg_facts *f, struct mg_change *c, uint32_t site, uint32_t group, double part)
{
    double left = 0;
    for (int pass = 0; c && pass < 2; pass++)
        for (uint32_t i = 0; i < f->info->ninsns; i++) {
            uint32_t s = f->seen->sites.of[i];
            double n = (double)f->seen->insns[i].requests;
            if (s == UINT32_MAX || (site != UINT32_MAX ? s != site : f->sites[s].group != group) || n <= 0)
                continue;
            if (!pass) {
                left += n * part;
                continue;
            }
            double times = MG_MIN(1, left / n);
            left = MG_MAX(0, left - n);
            c->edits[i].times *= (float)times;
            c->edits[i].past *= times > 0 ? (float)(1 / times) : 1; /* what was brought stays to be brought */
        }
}

void mg__change_barriers(const struct mg_facts *f, struct mg_change *c, double times)
{
    for (uint32_t i = 0; c && i < f->info->ninsns; i++) {
        const struct mg_ptx_insn *insn = f->info->insns[i].insn;
        if (insn && insn->effects & MG_E_SYNCS)
            c->edits[i].times *= (float)times;
    }
}

bool mg__change_of_var(const struct mg_facts *f, uint32_t insn, uint32_t var)
{
    const struct mg_shapes *set = &f->seen->shared[insn];
    for (uint32_t k = 0; k < set->count; k++)
        if (set->at[k].var == (int32_t)var)
            return true;
    return false;
}

unsigned mg__change_room(const struct mg_facts *f, struct mg_change *c, int64_t bytes)
{
    unsigned blocks = mg__advise_blocks_with(f, bytes);
    if (c && f->has_occupancy)
        c->resident = MG_MAX(blocks, 1u);
    return blocks;
}

double mg__change_saves(struct mg_facts *f, struct mg_change *c)
{
    if (!c || !f->known)
        return 0;
    if (!c->asked) {
        struct mg_time_change change = {.edits = c->edits,
                                        .added = c->added,
                                        .nadded = c->nadded,
                                        .blocks = c->blocks,
                                        .warps = c->warps,
                                        .resident = c->resident};
        double then;
        c->asked = true;
        c->saves = mg__time_changed(f->seen->time, &change, &then) ? f->seconds - then : 0;
    }
    return c->saves;
}

struct mg_change *mg__change_best(struct mg_facts *f, struct mg_change *a, struct mg_change *b)
{
    return mg__change_saves(f, b) > mg__change_saves(f, a) ? b : a;
}

/* Without what the launch takes before its first instruction. */
bool mg__change_worth(const struct mg_facts *f, double seconds)
{
    return seconds >= MG_ADVICE_LEAST * (f->seconds - f->part[MG_TIME_LAUNCH]) && seconds > 0;
}

void mg__change_range(const struct mg_facts *f, double seconds, double *least, double *most)
{
    double left = f->seconds > 0 ? MG_MAX(1 - seconds / f->seconds, 0) : 1;
    *least = 1 - left * RATIO;
    *most = 1 - left / RATIO;
}
