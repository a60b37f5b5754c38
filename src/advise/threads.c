/* threads.c - how much a thread does, and how many there are.
 *
 * SHUFFLE. A block that joins its threads' values in shared memory (a reduction, a scan) writes and reads them again at
 * each step, with a barrier between. Lanes of a warp can hand values to one another instead. Told by what was recorded:
 * a variable that holds what was computed from itself, a few words for each thread, and between four barriers and three
 * for each doubling of the block. What is left is one word of each warp, two barriers, and five exchanges of each of
 * the two levels.
 *
 * WORK. What a block does once (joining, barriers, clearing and adding up) is done as often as there are blocks. Where
 * a block's result is small beside what it reads, threads may take several elements before, and TWICE the
 * multiprocessors are blocks enough. Saved is that part of all but the loads.
 *
 * VECTORS. A site whose lanes are neighbours and move less than 16 bytes each needs a request for every element; with
 * 16 bytes a thread there are fewer requests, and fewer of the instructions around them: each request is taken to come
 * with AROUND at most (the address, the bound), of what the kernel executes beside accesses and arithmetic. Only where
 * enough threads remain to fill the device with a warp for each scheduler.
 *
 * MORE_BLOCKS. A grid of fewer blocks than multiprocessors leaves the others idle, and the estimate, which is of a full
 * board, is short by that. Said of launches of LAUNCH seconds and more: a shorter one spends much of its time starting.
 */
#include "advise/facts.h"

#include <math.h>

enum { TWICE = 2, AROUND = 6, WIDEST = 16 };
static const double LAUNCH = 20e-6;

static double log2_threads(const struct mg_facts *f)
{
    return ceil(log2(MG_MAX(f->threads, 2)));
}

/* ---- shuffles ---- */
static void shuffle(struct mg_facts *f, uint32_t var)
{
    const struct mg_var_fact *v = &f->vars[var];
    double launched = (double)f->warps * (double)f->seen->nblocks, steps = f->barriers / launched;
    double accesses = (double)(v->loads + v->stores) / launched;
    if (!v->joined || v->atomics || !v->by_other_thread || f->info->shared_vars[var].size > 16 * f->threads ||
        steps < 4 || steps > 3 * log2_threads(f) + 4 || accesses < 4 || f->warps < 2 ||
        (double)v->writes < 1.5 * (double)v->words || !v->by_other_warp || v->loads * 4 < v->stores * 5 ||
        v->loads * 10 > v->stores * 29 || (double)v->loads > 2.3 * steps * launched)
        return; /* the last: of two values becomes one, once a step; not two of two, nor one of a neighbourhood */
    double left = 2 * launched, exchanges = 2 * 5 * launched;
    double saved = f->s_barrier * (1 - 2 / steps) + MG_MAX((double)v->wavefronts - left, 0) * f->price.wavefront +
                   ((double)(v->loads + v->stores) - left - exchanges) * f->price.issue;
    struct mg_report_advice_item *item = mg__advise_add(f, "shuffle", saved);
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

static void work(struct mg_facts *f)
{
    double blocks = (double)f->seen->nblocks, enough = TWICE * f->arch->board->sm_count;
    double in = bytes_of(f, MG_DIR_LOAD), out = bytes_of(f, MG_DIR_STORE) + bytes_of(f, MG_DIR_ATOMIC);
    double each = in / (blocks * f->threads);
    if (f->barriers <= 0 || blocks <= enough || f->tiles.count || out * 8 > in || each > 4 * WIDEST)
        return;
    double once = f->s_barrier + f->s_shared + f->s_issue - (double)f->total.requests * f->price.issue;
    for (uint32_t v = 0; v < f->info->nshared_vars; v++) /* atomics of every element */
        if (f->vars[v].atomics)
            once -= (double)f->vars[v].wavefronts * f->price.wavefront +
                    (double)f->vars[v].atomics * (1 + AROUND) * f->price.issue;
    struct mg_report_advice_item *item = mg__advise_add(f, "work", once * (1 - enough / blocks));
    if (!item)
        return;
    item->title = "Give each thread several elements before the block joins them";
    item->why =
        mg__advise_text(f,
                        "%.0f blocks, in which a thread reads %.0f bytes and a block writes %.0f: what a block does "
                        "once, %.0f warps at barriers and %.0f wavefronts in all, is %.0f %% of the estimate.",
                        blocks, each, out / blocks, f->barriers, (double)f->total.wavefronts, 100 * once / f->seconds);
    item->how = mg__advise_text(
        f,
        "Launch about %.0f blocks, %u for each multiprocessor, and let threads go through the rest (i += gridDim.x * "
        "blockDim.x), adding in registers; several loads under way at once, of 16 bytes each, keep memory busy.",
        enough, (unsigned)TWICE);
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
    struct mg_report_advice_item *item = mg__advise_add(f, "vectors", fewer * (1 + around) * f->price.issue);
    if (!item)
        return;
    const struct mg_site_fact *s = &f->sites[worst];
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
static void more_blocks(struct mg_facts *f)
{
    double sms = f->arch->board->sm_count, blocks = (double)f->seen->nblocks;
    if (blocks >= sms || blocks <= 0 || f->seconds * sms / blocks < LAUNCH)
        return;
    struct mg_report_advice_item *item = mg__advise_add(f, "more-blocks", f->seconds * (1 - blocks / sms));
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
