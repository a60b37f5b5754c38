/* staging.c - whether a tile in shared memory would pay: the texts' question, answered per array.
 *
 * An array that a block's threads read more than once can be copied to shared memory first. Then each of its sectors is
 * moved once a block, and every read becomes a wavefront there, or a fraction of one. Against the sectors saved stand
 *   the wavefronts of filling the tile and of reading it (counted without conflicts: ptxas may join neighbouring
 * reads), two barriers a phase (one if there is one phase), a phase for each tileful: the tile is what fits without
 * costing a resident block, the blocks that no longer fit, where not even a small tile is free. What each thread reads
 * again by itself, in a later pass, needs no tile: registers keep it (keep). What exchanging indices would save by
 * itself is not credited to the tile.
 */
#include "advise/facts.h"

#include <math.h>

enum { LEAST_TILE = 1024, MOST_TILE = 48 * 1024, WORD = 4, FILLING = 4 /* instructions around each load */ };
#define LEAST_SAVED 0.02 /* of the launch's sectors: what an array's reuse saves less than is not looked at */
/* of a thread: more do not fit in registers; more often is waiting, not reading */
enum { KEPT_WORDS = 32, KEPT_USES = 16 };

struct plan {
    double wavefronts, sectors_before, sectors_after, bytes;
    struct mg_change *change;
    double others;     /* seconds that exchanging indices would save by itself */
    const char *names; /* "parameter 1, parameter 2"; NULL: one of them is not known */
    uint32_t best;     /* the site of the group that saves most */
    double best_saved;
    unsigned arrays;
    double uses, threads; /* of the best group: a byte */
    bool sampled;
};

/* What other remedies do for the group's sites: the tile is not credited with that. */
static void change_others(const struct mg_facts *f, struct mg_change *c, uint32_t group)
{
    for (uint32_t i = 0; i < f->nsites; i++) {
        const struct mg_site_fact *s = &f->sites[i];
        bool fixed =
            s->swaps || s->cause == MG_VECTOR || s->cause == MG_OFFSET || s->cause == MG_DRIFT || s->cause == MG_NARROW;
        if (s->group == group && fixed && s->sum.touched)
            mg__change_sites(f, c, i, (double)s->sum.ideal / (double)s->sum.touched, 1, false);
    }
}

/* The group's loads go to the tile, which is filled before the first of them. */
static void change_group(struct mg_facts *f, struct mg_change *c, uint32_t group, double bytes, double barriers)
{
    const struct mg_advise_group *g = &f->groups[group];
    const double blocks = (double)f->seen->nblocks, warps = f->warps * blocks, once = mg__facts_once(g);
    double first = 0, from_memory = 0;
    uint32_t at = UINT32_MAX;
    for (uint32_t i = 0; c && i < f->info->ninsns; i++) {
        const uint32_t site = f->seen->sites.of[i];
        const double requests = (double)f->seen->insns[i].requests;
        if (site == UINT32_MAX || f->sites[site].group != group || requests <= 0)
            continue;
        from_memory += mg__change_memory(f, i);
        const struct mg_site_fact *s = &f->sites[site];
        c->edits[i].to = MG_SPACE_SHARED;
        c->edits[i].to_cost = (float)MG_MAX(s->ideal_staged / (double)s->sum.requests, 1);
        if (requests > first) {
            first = requests;
            at = i;
        }
    }
    /* every warp loads at least once: what there is of it waits for the rest at the barrier */
    const double part = bytes / (32 * WORD) / f->warps, loads = MG_MAX(part, 1),
                 dram = once > 0 ? MG_MIN(from_memory / once, 2) : 0;
    mg__change_add(f, c, at, MG_TIME_NEW_ALU, FILLING * loads, 0, 0);
    /* and what is more than whole rounds of the block, a halo mostly, is loaded behind the rest */
    const double rounds = floor(loads), rest = loads - rounds, sectors = MG_MIN(once / (warps * loads), 32);
    mg__change_add(f, c, at, MG_TIME_NEW_LOAD, rounds, sectors, dram);
    mg__change_add(f, c, at, MG_TIME_NEW_SHARED, rounds, MG_MIN(part, 1), 0);
    if (rest > 0) { /* some warp of the block does, and the others wait for it */
        mg__change_add(f, c, at, MG_TIME_NEW_LOAD, 1, sectors * rest, dram);
        mg__change_add(f, c, at, MG_TIME_NEW_SHARED, 1, rest, 0);
    }
    mg__change_add(f, c, at, MG_TIME_NEW_BARRIER, barriers / warps, 0, 0);
}

/* Free shared memory of a block: what it may take without a resident block less. */
static double free_shared(const struct mg_facts *f)
{
    uint32_t bytes = 0;
    struct mg_occupancy_query q = f->query;
    if (!f->has_occupancy)
        return MOST_TILE;
    q.shared_optin = f->arch->shared_block_optin;
    if (mg_arch_max_dynamic_shared(f->arch, &q, f->occupancy.blocks, &bytes) != MG_OK)
        return 0;
    double most = bytes > f->info->shared_dynamic ? (double)(bytes - f->info->shared_dynamic) : 0;
    double room = f->info->shared_static < MOST_TILE ? (double)(MOST_TILE - f->info->shared_static) : 0;
    return MG_MIN(most, room);
}

static double pieces(double bytes, double tile)
{
    return MG_MAX(ceil(bytes / tile), 1);
}

/* Warps at barriers when a block takes so many bytes through a tile: a tile that is filled once is not waited for
 * again. */
static double waits(const struct mg_facts *f, double bytes, double tile)
{
    double n = pieces(bytes, tile);
    return (n > 1 ? 2 * n : 1) * f->warps * (double)f->seen->nblocks;
}

/* Whether threads read of the array what others of their block wrote: a copy of it would grow old. */
static bool changes(const struct mg_facts *f, uint32_t group)
{
    const struct mg_advise_site *read = f->sites[f->groups[group].first].site;
    bool written = false;
    for (uint32_t i = 0; i < f->nsites && f->global_exchange; i++) {
        const struct mg_advise_site *s = f->sites[i].site;
        written |= s->direction != MG_DIR_LOAD && f->sites[i].sum.requests &&
                   (read->global ? s->global == read->global : read->param >= 0 && s->param == read->param);
    }
    return written;
}

/* Whether data decide what of an array a block reads, and it lies further apart than what a tile could hold: a tree, a
 * hash table. Which pieces to fill a tile with nobody knows before they are read. */
static bool lies_apart(const struct mg_facts *f, uint32_t group)
{
    double scattered = 0, all = 0;
    uint64_t farthest = 0;
    for (uint32_t i = 0; i < f->nsites; i++)
        if (f->sites[i].group == group) {
            all += (double)f->sites[i].sum.moved;
            scattered += f->sites[i].pattern == MG_PATTERN_SCATTERED ? (double)f->sites[i].sum.moved : 0;
        }
    for (unsigned n = 0; n < f->seen->nsampled && 2 * scattered > all; n++) {
        const struct mg_advise_block *b = f->seen->blocks[n];
        uint64_t first = UINT64_MAX, last = 0;
        for (uint32_t i = 0; b && i < b->ngrains; i++)
            if (f->sites[b->grains[i].site].group == group) {
                first = MG_MIN(first, b->grains[i].key);
                last = MG_MAX(last, b->grains[i].key);
            }
        farthest = MG_MAX(farthest, first <= last ? (last - first) << f->seen->sites.shift : 0);
    }
    return farthest > f->arch->shared_block_optin;
}

static void weigh(struct mg_facts *f, uint32_t index, double tile, struct plan *all)
{
    struct mg_advise_group *g = &f->groups[index];
    const struct mg_use *u = &g->use;
    double blocks = (double)f->seen->nblocks;
    if (g->direction != MG_DIR_LOAD || u->bytes <= 0 || u->uses < 1.5 * u->bytes || u->threads < 1.5 * u->bytes ||
        changes(f, index) || lies_apart(f, index))
        return;
    double once = mg__facts_once(g), bytes = mg__facts_distinct(u, g->bytes) / blocks;
    double fills = bytes / mg__facts_row(f) * blocks;
    double barriers = waits(f, bytes, tile);
    if ((double)g->moved - once < LEAST_SAVED * (double)f->total.moved)
        return;
    struct mg_change *other = mg__change(f), *own;
    change_others(f, other, index);
    own = mg__change_like(f, other);
    change_group(f, own, index, bytes, barriers);
    mg__change_room(f, own, (int64_t)MG_MIN(bytes, tile));
    double others = MG_MAX(mg__change_saves(f, other), 0), saved = mg__change_saves(f, own) - others;
    g->staging = saved > 0 ? MG_STAGE_PAYS : MG_STAGE_COSTS;
    g->stage_sectors = MG_MAX((double)g->touched - once, 0);
    g->stage_wavefronts = fills + g->staged;
    g->stage_barriers = barriers;
    if (saved <= 0)
        return;
    g->stages = true;
    const char *name = mg__facts_array(f, f->sites[g->first].site);
    all->names = !name[0] || (all->arrays && !all->names) ? NULL
                 : !all->arrays                           ? name
                 : strcmp(name, all->names) < 0           ? mg__advise_text(f, "%s, %s", name, all->names)
                                                          : mg__advise_text(f, "%s, %s", all->names, name);
    all->arrays++;
    all->others += others;
    if (all->change) { /* with those before it; barriers are shared */
        change_others(f, all->change, index);
        change_group(f, all->change, index, bytes, 0);
    } else {
        all->change = own;
    }
    all->wavefronts += fills + g->staged;
    all->sectors_before += (double)g->touched;
    all->sectors_after += once;
    all->bytes += bytes;
    all->sampled |= u->sampled;
    if (saved <= all->best_saved)
        return;
    all->best_saved = saved;
    all->uses = u->uses / u->bytes;
    all->threads = u->threads / u->bytes;
    all->best = g->first;
    for (uint32_t i = 0; i < f->nsites; i++) /* the line with most sectors */
        if (f->sites[i].group == index && f->sites[i].sum.moved > f->sites[all->best].sum.moved)
            all->best = i;
}

void mg__advise_staging(struct mg_facts *f)
{
    struct plan p = {0};
    double room = free_shared(f);
    double tile = MG_MAX(room, (double)LEAST_TILE);
    for (uint32_t g = 0; g < f->ngroups; g++)
        weigh(f, g, tile, &p);
    if (!p.arrays)
        return;
    double size = MG_MIN(p.bytes, tile), n = pieces(p.bytes, tile), barriers = waits(f, p.bytes, tile);
    p.change = p.arrays > 1 ? mg__change_like(f, p.change) : p.change;
    unsigned blocks = mg__change_room(f, p.change, (int64_t)size);
    struct mg_report_advice_item *item = mg__advise_add_beyond(f, "stage", p.change, p.others);
    if (!item) {
        for (uint32_t g = 0; g < f->ngroups; g++) { /* it would gain nothing to speak of */
            f->groups[g].stages = false;
            if (f->groups[g].staging)
                f->groups[g].staging = MG_STAGE_COSTS;
        }
        return;
    }
    const struct mg_site_fact *s = &f->sites[p.best];
    item->file = s->site->file;
    item->line = s->site->line;
    item->variable = mg__facts_array(f, s->site);
    item->title = mg__advise_text(f, "Stage %s in shared memory",
                                  p.names && p.arrays <= 3 ? p.names
                                  : p.arrays > 1           ? mg__advise_text(f, "%u arrays", p.arrays)
                                                           : "the array");
    item->why = mg__advise_text(f,
                                "In a block, each byte of %s is read %.1f times, by %.1f threads%s. "
                                "Staged, %.0f sectors become %.0f.",
                                item->variable[0] ? item->variable : "it", p.uses, p.threads,
                                p.sampled ? " (of a sample of its sectors)" : "", p.sectors_before, p.sectors_after);
    const char *way =
        n > 1 ? mg__advise_text(
                    f,
                    "A block reads %.0f different bytes. Take them in %.0f pieces or more, as up to %.0f bytes "
                    "fit %s: fill a tile, __syncthreads(), use it, __syncthreads().",
                    p.bytes, n, size, blocks == f->occupancy.blocks ? "without a resident block less" : "then")
              : mg__advise_text(
                    f, "A block reads %.0f different bytes: one tile, and __syncthreads() before it is read.", p.bytes);
    item->how = mg__advise_text(f,
                                "%s Let neighbouring threads fill it, from the start of a sector on. That adds %.0f "
                                "wavefronts and %.0f warps at barriers; %u blocks fit on an SM, now %u.",
                                way, p.wavefronts, barriers, blocks, f->occupancy.blocks);
    mg__advise_value(f, item, "uses_per_byte", p.uses);
    mg__advise_value(f, item, "threads_per_byte", p.threads);
    mg__advise_value(f, item, "sectors_now", p.sectors_before);
    mg__advise_value(f, item, "sectors_then", (double)mg__facts_round(p.sectors_after));
    mg__advise_value(f, item, "added_wavefronts", (double)mg__facts_round(p.wavefronts));
    mg__advise_value(f, item, "added_barriers", (double)mg__facts_round(barriers));
    mg__advise_value(f, item, "tile_bytes", (double)mg__facts_round(size));
    mg__advise_predict(f, item, MG_METRIC_SECTORS_GLOBAL,
                       (double)mg__facts_round((double)f->total.touched - p.sectors_before + p.sectors_after));
}

bool mg__advise_rereads(const struct mg_facts *f, const struct mg_advise_group *g)
{
    const struct mg_use *u = &g->use;
    return g->direction == MG_DIR_LOAD && !f->in_place && u->bytes > 0 && u->uses >= 1.8 * u->bytes &&
           u->uses <= KEPT_USES * u->bytes && u->threads < 1.1 * u->bytes;
}

/* An array of which each thread reads the same bytes in several passes. */
void mg__advise_keep(struct mg_facts *f)
{
    double best = 0;
    uint32_t which = UINT32_MAX;
    for (uint32_t i = 0; i < f->ngroups; i++) {
        const struct mg_advise_group *g = &f->groups[i];
        double saved = (double)g->moved - mg__facts_once(g);
        if (!mg__advise_rereads(f, g) || saved <= best ||
            mg__facts_distinct(&g->use, g->bytes) > 4.0 * KEPT_WORDS * f->threads * (double)f->seen->nblocks)
            continue;
        best = saved;
        which = i;
    }
    if (which == UINT32_MAX)
        return;
    const struct mg_advise_group *g = &f->groups[which];
    uint32_t last = g->first; /* the pass that could do without the array */
    for (uint32_t i = 0; i < f->nsites; i++)
        if (f->sites[i].group == which && f->sites[i].sum.requests)
            last = i;
    struct mg_change *change = mg__change(f);
    mg__change_first(f, change, UINT32_MAX, which, g->use.bytes / g->use.uses);
    struct mg_report_advice_item *item = mg__advise_add(f, "keep", change);
    if (!item)
        return;
    const struct mg_advise_site *s = f->sites[last].site;
    double once = mg__facts_once(g),
           words = mg__facts_distinct(&g->use, g->bytes) / 4 / f->threads / (double)f->seen->nblocks;
    item->file = s->file;
    item->line = s->line;
    item->variable = mg__facts_array(f, s);
    item->title = "Keep in registers what a thread reads again";
    item->why = mg__advise_text(
        f,
        "Each byte of %s is read %.1f times in a block, always by the same thread: %.0f sectors are "
        "touched where %.0f would do.",
        item->variable[0] ? item->variable : "the array", g->use.uses / g->use.bytes, (double)g->touched, once);
    item->how =
        mg__advise_text(f,
                        "Load it in the first pass, into %.0f register%s a thread (a local array, in loops that are "
                        "unrolled so that its indices are constants), and use that in the passes after.",
                        ceil(words), words > 1 ? "s" : "");
    mg__advise_value(f, item, "uses_per_byte", g->use.uses / g->use.bytes);
    mg__advise_value(f, item, "registers", ceil(words));
    mg__advise_value(f, item, "sectors_now", (double)g->touched);
    mg__advise_value(f, item, "sectors_then", (double)mg__facts_round(once));
    mg__advise_predict(f, item, MG_METRIC_SECTORS_GLOBAL, (double)(f->total.touched - g->touched) + once);
}
