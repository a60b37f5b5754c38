/* staging.c - whether a tile in shared memory would pay: the texts' question, answered per array.
 *
 * An array that a block's threads read more than once can be copied to shared memory first. Then each of its sectors is
 * moved once a block, and every read becomes a wavefront there, or a fraction of one. Against the sectors saved stand
 *   the wavefronts of filling the tile and of reading it (counted without conflicts: ptxas may join neighbouring
 * reads), two barriers a phase (one if there is one phase), a phase for each tileful: the tile is what fits without
 * costing a resident block, the blocks that no longer fit, where not even a small tile is free. What each thread reads
 * again by itself, in a later pass, needs no tile: registers keep it (keep). What exchanging indices would save by
 * itself is not credited to the tile. What stays out: the instructions that fill the tile, and the cache that may have
 * served the repeated reads.
 */
#include "advise/facts.h"

#include <math.h>

enum { LEAST_TILE = 1024, MOST_TILE = 48 * 1024 };
/* of a thread: more do not fit in registers; more often is waiting, not reading */
enum { KEPT_WORDS = 32, KEPT_USES = 16 };

struct plan {
    /* `saved` without the barriers, which arrays share */
    double saved, wavefronts, sectors_before, sectors_after, bytes;
    const char *names; /* "parameter 1, parameter 2"; NULL: one of them is not known */
    uint32_t best; /* the site of the group that saves most */
    double best_saved;
    unsigned arrays;
    double uses, threads; /* of the best group: a byte */
    bool sampled;
};

/* Seconds that the group's sectors take now, not counting what an exchange of indices fixes. */
static double seconds_now(const struct mg_facts *f, uint32_t group, double once)
{
    double moved = 0;
    for (uint32_t i = 0; i < f->nsites; i++) {
        const struct mg_site_fact *s = &f->sites[i];
        if (s->group != group)
            continue;
        bool fixed = s->swaps || s->cause == MG_VECTOR || s->cause == MG_OFFSET || s->cause == MG_DRIFT ||
                      s->cause == MG_NARROW;
        moved += (double)s->sum.moved * (fixed && s->sum.touched ? (double)s->sum.ideal / (double)s->sum.touched : 1);
    }
    return once * f->price.memory + MG_MAX(moved - once, 0) * f->price.again;
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

static void weigh(struct mg_facts *f, uint32_t index, double tile, struct plan *all)
{
    struct mg_advise_group *g = &f->groups[index];
    const struct mg_use *u = &g->use;
    double blocks = (double)f->seen->nblocks;
    if (g->direction != MG_DIR_LOAD || u->bytes <= 0 || u->uses < 1.5 * u->bytes || u->threads < 1.5 * u->bytes)
        return;
    double once = mg__facts_once(g), bytes = mg__facts_distinct(u, g->bytes) / blocks;
    double saved = seconds_now(f, index, once) - once * f->price.memory;
    double fills = bytes / mg__facts_row(f) * blocks;
    double barriers = waits(f, bytes, tile);
    double cost = (fills + g->staged) * f->price.wavefront + barriers * f->price.barrier;
    g->staging = saved > cost ? MG_STAGE_PAYS : MG_STAGE_COSTS;
    g->stage_sectors = MG_MAX((double)g->touched - once, 0);
    g->stage_wavefronts = fills + g->staged;
    g->stage_barriers = barriers;
    if (saved <= cost)
        return;
    g->stages = true;
    const char *name = mg__facts_array(f, f->sites[g->first].site);
    all->names = !name[0] || (all->arrays && !all->names) ? NULL
                 : !all->arrays              ? name
                 : strcmp(name, all->names) < 0 ? mg__advise_text(f, "%s, %s", name, all->names)
                                                : mg__advise_text(f, "%s, %s", all->names, name);
    all->arrays++;
    all->saved += saved - (fills + g->staged) * f->price.wavefront;
    all->wavefronts += fills + g->staged;
    all->sectors_before += (double)g->touched;
    all->sectors_after += once;
    all->bytes += bytes;
    all->sampled |= u->sampled;
    if (saved - cost <= all->best_saved)
        return;
    all->best_saved = saved - cost;
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
    double room = free_shared(f), cost = 0;
    double tile = MG_MAX(room, (double)LEAST_TILE);
    for (uint32_t g = 0; g < f->ngroups; g++)
        weigh(f, g, tile, &p);
    if (!p.arrays)
        return;
    double size = MG_MIN(p.bytes, tile), n = pieces(p.bytes, tile), barriers = waits(f, p.bytes, tile);
    unsigned blocks = mg__advise_blocks_with(f, (int64_t)size, &cost);
    struct mg_report_advice_item *item = mg__advise_add(f, "stage", p.saved - barriers * f->price.barrier - cost);
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
    item->why = mg__advise_text(f, "In a block, each byte of %s is read %.1f times, by %.1f threads%s. "
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
    item->how = mg__advise_text(f, "%s Let neighbouring threads fill it, from the start of a sector on. That adds %.0f "
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
        double saved = ((double)g->moved - mg__facts_once(g)) * f->price.again;
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
    struct mg_report_advice_item *item = mg__advise_add(f, "keep", best);
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
