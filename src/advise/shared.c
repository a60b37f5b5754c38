/* shared.c - shared memory that is not needed, and barriers that are more than is needed.
 *
 * These are read off the sampled blocks, word by word: who wrote it, who read it. Where no word of a variable is ever
 * read or overwritten by another thread than its writer, the variable is private storage: a register does it, without
 * wavefronts, and without the barriers if no variable needs them. Where words pass between threads, but each is a copy
 * of global memory and read about once, global memory itself does as well (tiles.c counts what that would cost). Where
 * words pass between threads, but never out of a warp, and nothing passes through global memory either, __syncwarp is
 * enough. What cannot be seen: an exchange that happens in other blocks only.
 */
#include "advise/facts.h"

enum { MOST_PRIVATE_WORDS = 8 }; /* of a thread: more, or indexed ones, do not fit in registers */

static bool exchanges(const struct mg_facts *f, bool between_warps)
{
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        if (between_warps ? f->vars[v].by_other_warp : f->vars[v].by_other_thread)
            return true;
    return f->global_exchange;
}

static void unused(struct mg_facts *f, uint32_t var)
{
    const struct mg_var_fact *v = &f->vars[var];
    if (f->others_use_shared)
        return;
    double words = (double)v->words, threads = f->threads * f->sampled_blocks;
    if (!v->used || v->library || !v->words || v->by_other_thread || v->atomics || words > MOST_PRIVATE_WORDS * threads)
        return;
    bool alone = !exchanges(f, false);
    struct mg_change *change = mg__change(f);
    for (uint32_t i = 0; change && i < f->info->ninsns; i++)
        if (mg__change_of_var(f, i, var))
            mg__change_gone(change, i);
    if (alone)
        mg__change_barriers(f, change, 0);
    uint32_t size = f->info->shared_vars[var].size;
    unsigned blocks = mg__change_room(f, change, -(int64_t)size);
    struct mg_report_advice_item *item = mg__advise_add(f, "unstage", change);
    if (!item)
        return;
    const char *name = mg__facts_variable(f, var);
    mg__advise_at(f, item, v->worst);
    item->variable = name;
    item->title = mg__advise_text(f, "Keep '%s' in registers", name);
    item->why =
        mg__advise_text(f,
                        "Each of its words is written and read by one thread only: %.1f writes and %.1f reads a "
                        "word, and none by another thread.",
                        (double)v->writes / words, (double)v->reads / words);
    item->how = mg__advise_text(
        f,
        "Use a local variable. That saves %.0f wavefronts%s and %u bytes of shared memory; %u blocks "
        "fit on an SM, now %u.",
        (double)v->wavefronts, alone && f->barriers > 0 ? ", every barrier" : "", size, blocks, f->occupancy.blocks);
    mg__advise_value(f, item, "wavefronts_now", (double)v->wavefronts);
    mg__advise_value(f, item, "writes_per_word", (double)v->writes / words);
    mg__advise_value(f, item, "reads_per_word", (double)v->reads / words);
    mg__advise_predict(f, item, MG_METRIC_WAVEFRONTS_SHARED, (double)(f->total.wavefronts - v->wavefronts));
}

/* The tiles' reads go to global memory, and nobody fills them. */
static struct mg_change *without_tiles(struct mg_facts *f)
{
    struct mg_change *c = mg__change(f);
    double size = 0, from_memory = 0, reads = 0;
    for (uint32_t i = 0; c && i < f->info->ninsns; i++)
        if (f->tile_of[i] >= 0 && f->vars[f->tile_of[i]].copy) {
            from_memory += mg__change_memory(f, i);
            mg__change_gone(c, i);
        }
    for (uint32_t v = 0; c && v < f->info->nshared_vars; v++) {
        const struct mg_var_fact *var = &f->vars[v];
        if (!var->copy)
            continue;
        size += f->info->shared_vars[v].size;
        reads += var->as_global;
        for (uint32_t i = 0; i < f->info->ninsns; i++) {
            const struct mg_ptx_insn *insn = f->info->insns[i].insn;
            if (!mg__change_of_var(f, i, v))
                continue;
            if (insn->access != MG_ACCESSES_LOAD) {
                mg__change_gone(c, i);
                continue;
            }
            c->edits[i].to = MG_SPACE_GLOBAL;
            c->edits[i].to_cost = (float)MG_MAX(var->as_global / (double)MG_MAX(var->loads, 1u), 1);
        }
    }
    for (uint32_t i = 0; c && i < f->info->ninsns; i++)
        if (c->edits[i].to)
            c->edits[i].dram = (float)(reads > 0 ? MG_MIN(from_memory / reads, 1) : 0);
    if (f->tiles.only)
        mg__change_barriers(f, c, 0);
    mg__change_room(f, c, -(int64_t)size);
    return c;
}

/* Whether the tiles that there are pay, or would without their conflicts. */
void mg__advise_tiles_pay(struct mg_facts *f)
{
    if (!f->tiles.count)
        return;
    const double without = mg__change_saves(f, without_tiles(f));
    f->tiles.pay = without < 0 ? MG_TILES_PAY : MG_TILES_COST;
    if (without < 0 || f->tiles.wavefronts <= f->tiles.ideal)
        return;
    struct mg_change *free_of = mg__change(f);
    for (uint32_t v = 0; free_of && v < f->info->nshared_vars; v++)
        for (uint32_t i = 0; f->vars[v].copy && i < f->info->ninsns; i++)
            if (mg__change_of_var(f, i, v) && f->seen->insns[i].wavefronts)
                free_of->edits[i].wavefronts =
                    (float)f->seen->insns[i].wavefronts_ideal / (float)f->seen->insns[i].wavefronts;
    if (mg__change_saves(f, free_of) > without)
        f->tiles.pay = MG_TILES_CONFLICT;
}

/* Tiles that are read about once: the same reads from global memory would touch no more sectors than filling the tile
 * does. Left out: kernels that write what they read, where the tile may keep old values, and tiles beside other shared
 * memory. */
static void read_once(struct mg_facts *f)
{
    double reads = 0, writes = 0, words = 0, size = 0;
    uint32_t first = UINT32_MAX;
    if (!f->tiles.count || !f->tiles.only || f->in_place || mg__advise_has(f, "unstage"))
        return;
    for (uint32_t v = 0; v < f->info->nshared_vars; v++) {
        const struct mg_var_fact *var = &f->vars[v];
        if (!var->copy)
            continue;
        first = MG_MIN(first, v);
        reads += (double)var->reads;
        writes += (double)var->writes;
        words += (double)var->words;
        size += f->info->shared_vars[v].size;
    }
    if (first == UINT32_MAX || words <= 0 || reads >= 2 * writes)
        return;
    unsigned blocks = mg__advise_blocks_with(f, -(int64_t)size);
    struct mg_report_advice_item *item = mg__advise_add(f, "unstage", without_tiles(f));
    if (!item)
        return;
    const char *name = mg__facts_variable(f, first);
    mg__advise_at(f, item, f->vars[first].worst);
    item->variable = name;
    item->title = mg__advise_text(f, "Do without '%s': read global memory where it is used", name);
    item->why =
        mg__advise_text(f,
                        "A word of it is read %.1f times for each time it is filled. Read straight from global memory, "
                        "the same accesses would touch about %.0f sectors; filling it touches %.0f.",
                        reads / writes, f->tiles.as_global, f->tiles.filled);
    item->how =
        mg__advise_text(f,
                        "That saves %.0f wavefronts, %.0f warps at barriers and %.0f bytes of shared memory; %u "
                        "blocks fit on an SM, now %u.",
                        f->tiles.wavefronts, f->barriers, size, blocks, f->occupancy.blocks);
    mg__advise_value(f, item, "reads_per_fill", reads / writes);
    mg__advise_value(f, item, "sectors_filled", f->tiles.filled);
    mg__advise_value(f, item, "sectors_then", f->tiles.as_global);
    mg__advise_value(f, item, "wavefronts_now", f->tiles.wavefronts);
    mg__advise_predict(f, item, MG_METRIC_WAVEFRONTS_SHARED, (double)f->total.wavefronts - f->tiles.wavefronts);
}

static void syncwarp(struct mg_facts *f)
{
    uint32_t insn = UINT32_MAX;
    uint64_t most = 0;
    if (f->barriers <= 0 || f->others_use_shared || exchanges(f, true) || !exchanges(f, false) ||
        mg__advise_has(f, "unstage"))
        return;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_ptx_insn *bar = f->info->insns[i].insn;
        if (bar && bar->effects & MG_E_SYNCS && bar->sub == MG_SUB_RED)
            return; /* it brings a result from all warps */
        if (bar && bar->effects & MG_E_SYNCS && f->seen->insns[i].warps > most) {
            most = f->seen->insns[i].warps;
            insn = i;
        }
    }
    struct mg_change *change = mg__change(f);
    mg__change_barriers(f, change, 0);
    struct mg_report_advice_item *item = mg__advise_add(f, "syncwarp", change);
    if (!item)
        return;
    mg__advise_at(f, item, insn);
    item->title = "Replace __syncthreads() by __syncwarp()";
    item->why = mg__advise_text(
        f, "%.0f warps waited at barriers, but no word of shared memory passed from one warp to another.", f->barriers);
    item->how =
        "Each warp waits for its own lanes only. (Seen in the blocks that were followed; an exchange that depends on "
        "data may need the barrier.)";
    mg__advise_value(f, item, "barriers", f->barriers);
}

void mg__advise_shared(struct mg_facts *f)
{
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        unused(f, v);
    read_once(f);
    syncwarp(f);
}
