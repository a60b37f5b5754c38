/* threads.c - how much a thread does, and how many there are.
 *
 * SHUFFLE. A block that joins its threads' values in shared memory (a reduction, a scan) writes and reads them again at
 * each step, with a barrier between. Lanes of a warp can hand values to one another instead. Told by what was recorded:
 * a variable that holds what was computed from itself by one operation, a few words for each thread, and between four
 * barriers and three for each doubling of the block. What is left is one word of each warp, two barriers, and five
 * exchanges of each of the two levels. What a library does so in its headers (CUB's scans) is not the reader's to
 * change.
 *
 * WORK. What a block does once (joining, barriers, clearing and adding up) is done as often as there are blocks. Where
 * a block's result is small beside what it reads, threads may take several elements before, and TWICE the
 * multiprocessors or more, as many as are resident at most, are blocks enough.
 *
 * VECTORS. A site whose lanes are neighbours and move less than 16 bytes each needs a request for every element; with
 * 16 bytes a thread there are fewer requests, and fewer of the instructions around them, which are done once a thread
 * and not with each element (elements.c). Only where enough threads remain to fill the device with a warp for each
 * scheduler.
 *
 * MORE_BLOCKS. A grid of fewer blocks than multiprocessors leaves the others idle. Said of launches of LAUNCH seconds
 * and more: a shorter one spends much of its time starting. Only what does not wait for the step before can be divided
 * (spread.c).
 */
#include "advise/facts.h"

#include <math.h>

enum { TWICE = 2, AROUND = 6, WIDEST = 16, EXCHANGES = 5 /* of 32 lanes */, MOST_TIMES = 64 };
static const double LAUNCH = 20e-6;

static double log2_threads(const struct mg_facts *f)
{
    return ceil(log2(MG_MAX(f->threads, 2)));
}

/* ---- shuffles ---- */
/* What the steps did is done twice, by exchanges: of what each step came to, and of the accesses, so much is left. */
static struct mg_change *change_shuffle(struct mg_facts *f, uint32_t var, double left, double steps)
{
    struct mg_change *c = mg__change(f);
    uint32_t at = UINT32_MAX;
    for (uint32_t i = 0; c && i < f->info->ninsns; i++) {
        const struct mg_ptx_insn *insn = f->info->insns[i].insn;
        bool barrier = insn && insn->effects & MG_E_SYNCS;
        if (mg__change_of_var(f, i, var)) {
            c->edits[i].times = (float)left;
            c->edits[i].wavefronts = f->seen->insns[i].wavefronts ? (float)f->seen->insns[i].wavefronts_ideal /
                                                                        (float)f->seen->insns[i].wavefronts
                                                                  : 1;
            at = at == UINT32_MAX ? i : at;
        } else if (barrier || (mg__change_often(f, i) > 0.6 * steps && f->seen->sites.of[i] == UINT32_MAX)) {
            c->edits[i].times = (float)(2 / steps);
        }
    }
    mg__change_add(f, c, at, MG_TIME_NEW_SHUFFLE, 2 * EXCHANGES, 0, 0);
    mg__change_add(f, c, at, MG_TIME_NEW_ALU, 2 * EXCHANGES, 0, 0);
    return c;
}

static void shuffle(struct mg_facts *f, uint32_t var)
{
    const struct mg_var_fact *v = &f->vars[var];
    double launched = (double)f->warps * (double)f->seen->nblocks, steps = f->barriers / launched;
    double accesses = (double)(v->loads + v->stores) / launched;
    if (v->library || !mg__facts_folded(f, var) || v->atomics || !v->by_other_thread ||
        f->info->shared_vars[var].size > 16 * f->threads || steps < 4 || steps > 3 * log2_threads(f) + 4 ||
        accesses < 4 || f->warps < 2 || (double)v->writes < 1.5 * (double)v->words || !v->by_other_warp ||
        v->loads * 4 < v->stores * 5 || v->loads * 10 > v->stores * 29 || (double)v->loads > 2.3 * steps * launched)
        return; /* the last: of two values becomes one, once a step; not two of two, nor one of a neighbourhood */
    double left = 2 * launched;
    struct mg_report_advice_item *item =
        mg__advise_add(f, "shuffle", change_shuffle(f, var, left / (double)(v->loads + v->stores), steps));
    if (!item)
        return;
    const char *name = mg__facts_variable(f, var);
    mg__advise_at(f, item, v->worst);
    item->variable = name;
    item->title = "Join values within a warp by shuffles";
    item->why =
        mg__advise_text(f,
                        "Threads hand values on through '%s' in %.0f steps, each with a barrier: %.0f wavefronts and "
                        "%.0f warps at barriers.",
                        name, steps, (double)v->wavefronts, f->barriers);
    item->how = mg__advise_text(f,
                                "Five exchanges (__shfl_down_sync, in a scan __shfl_up_sync) join the 32 lanes without "
                                "shared memory and without a barrier. Then each warp stores one word, and after a "
                                "barrier the first warp joins the %u: %.0f wavefronts are left.",
                                f->warps, left);
    mg__advise_value(f, item, "steps", steps);
    mg__advise_value(f, item, "wavefronts_now", (double)v->wavefronts);
    mg__advise_value(f, item, "wavefronts_then", left);
    mg__advise_value(f, item, "barriers", f->barriers);
}

/* ---- more elements a thread ---- */
static double bytes_of(const struct mg_facts *f, enum mg_direction direction)
{
    double bytes = 0;
    for (uint32_t i = 0; i < f->nsites; i++)
        bytes += f->sites[i].site->direction == direction ? (double)f->sites[i].sum.bytes : 0;
    return bytes;
}

/* So many times fewer blocks, whose threads load as many times more, one after the other; what is done with each
 * element is taken to be an addition or its atomic, and the loop's own instructions. */
static struct mg_change *change_work(struct mg_facts *f, double more)
{
    struct mg_change *c = mg__change(f);
    more = MG_MIN(more, MOST_TIMES);
    for (uint32_t i = 0; c && i < f->info->ninsns; i++) {
        const uint32_t site = f->seen->sites.of[i];
        const struct mg_ptx_insn *insn = f->info->insns[i].insn;
        bool loads = site != UINT32_MAX && f->sites[site].site->direction == MG_DIR_LOAD;
        bool adds = insn && insn->space == MG_SPACE_SHARED &&
                    (insn->access == MG_ACCESSES_ATOM || insn->access == MG_ACCESSES_RED);
        if ((!loads && !adds) || !f->seen->insns[i].warps)
            continue;
        c->edits[i].times = (float)more;
        c->edits[i].chain = 1;
        if (loads)
            mg__change_add(f, c, i, MG_TIME_NEW_ALU, more * mg__change_often(f, i) * 2, 0, 0);
    }
    if (c)
        c->blocks = (uint64_t)MG_MAX((double)f->seen->nblocks / more + 0.5, 1);
    return c;
}

static void work(struct mg_facts *f)
{
    double blocks = (double)f->seen->nblocks, enough = TWICE * f->arch->board->sm_count;
    struct mg_change *best = NULL;
    double in = bytes_of(f, MG_DIR_LOAD), out = bytes_of(f, MG_DIR_STORE) + bytes_of(f, MG_DIR_ATOMIC);
    double each = in / (blocks * f->threads);
    if (f->barriers <= 0 || blocks <= enough || f->tiles.count || out * 8 > in || each > 4 * WIDEST)
        return;
    for (double each_sm = TWICE; each_sm <= MG_MAX(f->occupancy.blocks, TWICE); each_sm *= 2) {
        const double then = each_sm * f->arch->board->sm_count;
        struct mg_change *c = then < blocks ? change_work(f, blocks / then) : NULL;
        if (c && (!best || mg__change_saves(f, c) > mg__change_saves(f, best))) {
            best = c;
            enough = then;
        }
    }
    struct mg_report_advice_item *item = mg__advise_add(f, "work", best);
    if (!item)
        return;
    item->title = "Give each thread several elements before the block joins them";
    item->why =
        mg__advise_text(f,
                        "%.0f blocks, in which a thread reads %.0f bytes and a block writes %.0f: what a block does "
                        "once, %.0f warps at barriers and %.0f wavefronts in all, is done as often.",
                        blocks, each, out / blocks, f->barriers, (double)f->total.wavefronts);
    item->how = mg__advise_text(
        f,
        "Launch about %.0f blocks, %u for each multiprocessor, and let threads go through the rest (i += gridDim.x * "
        "blockDim.x), adding in registers; several loads under way at once, of 16 bytes each, keep memory busy.",
        enough, (unsigned)(enough / f->arch->board->sm_count + 0.5));
    mg__advise_value(f, item, "blocks_now", blocks);
    mg__advise_value(f, item, "blocks_then", enough);
    mg__advise_value(f, item, "bytes_per_thread", each);
}

/* ---- 16 bytes at once ---- */
static bool widens(const struct mg_facts *f, const struct mg_site_fact *s)
{
    double left = (double)f->seen->nblocks * f->threads * s->width / WIDEST;
    return s->site->direction != MG_DIR_ATOMIC && s->width < WIDEST && s->pattern == MG_PATTERN_UNIT &&
           (s->cause == MG_FINE || s->cause == MG_OFFSET) &&
           left >= 32.0 * f->arch->partitions * f->arch->board->sm_count;
}

/* An access by which a block joins its threads' values: one for each thread, however much it brings. */
static bool joins(const struct mg_facts *f, uint32_t insn)
{
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        if (mg__facts_folded(f, v) && !f->vars[v].atomics && mg__change_of_var(f, insn, v))
            return true;
    return false;
}

/* So many times fewer threads: what they load at once is larger, and what they do with it is done as many times more;
 * or, of a loop that goes on by all threads, so many times fewer loads. */
static struct mg_change *change_vectors(struct mg_facts *f, uint32_t worst, double more)
{
    struct mg_change *c = mg__change(f);
    const bool *each = mg__facts_of_elements(f);
    bool loop = false;
    if (!each)
        return NULL;
    for (uint32_t i = 0; i < f->info->ninsns; i++)
        loop |= f->seen->sites.of[i] == worst && mg__change_often(f, i) >= more;
    for (uint32_t i = 0; c && i < f->info->ninsns; i++) {
        const uint32_t site = f->seen->sites.of[i];
        const struct mg_ptx_insn *insn = f->info->insns[i].insn;
        if (site != UINT32_MAX && widens(f, &f->sites[site])) {
            c->edits[i].sectors = c->edits[i].past = (float)more;
            c->edits[i].times = loop ? (float)(1 / more) : 1;
        } else if (!loop && insn && f->seen->insns[i].warps &&
                   (site != UINT32_MAX || (insn->space == MG_SPACE_SHARED && !joins(f, i)) || each[i])) {
            c->edits[i].times = (float)more;
        }
    }
    if (c && !loop)
        c->blocks = (uint64_t)MG_MAX((double)f->seen->nblocks / more + 0.5, 1);
    return c;
}

static void vectors(struct mg_facts *f)
{
    double requests = 0, fewer = 0, most = 0, accesses = (double)f->total.requests;
    uint32_t worst = UINT32_MAX;
    unsigned sites = 0;
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        accesses += (double)(f->vars[v].loads + f->vars[v].stores + f->vars[v].atomics);
    for (uint32_t i = 0; i < f->nsites; i++) {
        const struct mg_site_fact *s = &f->sites[i];
        if (!widens(f, s))
            continue;
        sites++;
        requests += (double)s->sum.requests;
        fewer += (double)s->sum.requests * (1 - (double)s->width / WIDEST);
        if ((double)s->sum.requests > most) {
            most = (double)s->sum.requests;
            worst = i;
        }
    }
    if (!sites)
        return;
    double beside = MG_MAX(f->inst - accesses - f->arithmetic, 0), around = MG_MIN(beside / requests, AROUND);
    const struct mg_site_fact *s = &f->sites[worst];
    struct mg_report_advice_item *item =
        mg__advise_add(f, "vectors", change_vectors(f, worst, (double)WIDEST / s->width));
    if (!item)
        return;
    item->file = s->site->file;
    item->line = s->site->line;
    item->variable = mg__facts_array(f, s->site);
    item->title = "Load and store 16 bytes a thread at once";
    item->why =
        mg__advise_text(f,
                        "Neighbouring threads move neighbouring %u bytes at %u access site%s: %.0f requests, each with "
                        "about %.0f other instructions.",
                        s->width, sites, sites > 1 ? "s" : "", requests, around);
    item->how =
        mg__advise_text(f,
                        "Let each thread take %u neighbouring elements as one vector (float4, uint4; the address a "
                        "multiple of 16, what is left over one by one): %.0f requests fewer, a quarter of the "
                        "threads, and more bytes under way for each of them.",
                        WIDEST / s->width, fewer);
    mg__advise_value(f, item, "sites", sites);
    mg__advise_value(f, item, "requests", requests);
    mg__advise_value(f, item, "requests_then", requests - fewer);
}

/* ---- the grid ---- */
/* Threads of a block hand on what they computed: its warps cannot go to other blocks. */
static bool works_together(const struct mg_facts *f)
{
    bool together = f->global_exchange;
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        together |= f->vars[v].by_other_warp && !f->vars[v].copy;
    return together;
}

/* So many times more blocks, whose loops are as much shorter, as far as one step does not wait for the one before;
 * where the work is in no such loops, of fewer warps. NULL: neither is possible. */
static struct mg_change *divided(struct mg_facts *f, double more)
{
    struct mg_change *c = mg__change(f);
    const float *left = mg__facts_steps_left(f);
    double looped = 0, steps = 0;
    if (!c || !left)
        return NULL;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        looped += mg__change_often(f, i) >= more * left[i] ? (double)f->seen->insns[i].warps : 0;
        steps += left[i] > 1 && 2 * left[i] > mg__change_often(f, i) ? (double)f->seen->insns[i].warps : 0;
    }
    f->in_steps = 2 * steps > f->inst;
    c->blocks = (uint64_t)((double)f->seen->nblocks * more + 0.5);
    if (2 * looped < f->inst) {
        c->warps = (unsigned)MG_MAX(f->warps / more + 0.5, 1);
        c->blocks = MG_MIN(c->blocks, (f->seen->nblocks * f->warps + c->warps - 1) / c->warps);
        return f->warps > 1 && !works_together(f) ? c : NULL;
    }
    for (uint32_t i = 0; i < f->info->ninsns; i++)
        if (mg__change_often(f, i) > left[i])
            c->edits[i].times = (float)MG_MAX(1 / more, left[i] / mg__change_often(f, i));
    return c;
}

static void more_blocks(struct mg_facts *f)
{
    double sms = f->arch->board->sm_count, blocks = (double)f->seen->nblocks;
    if (blocks >= sms || blocks <= 0 || f->seconds < LAUNCH)
        return;
    struct mg_report_advice_item *item = mg__advise_add(f, "more-blocks", divided(f, sms / blocks));
    if (!item)
        return;
    item->title = "Divide the work among more blocks";
    item->why = mg__advise_text(f, "The grid has %.0f block%s for %.0f multiprocessors, and %.0f of them idle.", blocks,
                                blocks > 1 ? "s" : "", sms, sms - blocks);
    item->how =
        "Take smaller tiles, fewer elements a thread, or divide the longest loop (the sum of a product, the rows of "
        "a reduction) among blocks that add up their parts at the end; or more work in one launch.";
    mg__advise_value(f, item, "blocks", blocks);
    mg__advise_value(f, item, "multiprocessors", sms);
}

void mg__advise_threads(struct mg_facts *f)
{
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        shuffle(f, v);
    work(f);
    vectors(f);
    more_blocks(f);
}
