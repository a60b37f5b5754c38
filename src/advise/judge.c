/* judge.c - from the record of a launch to its advice: gathers the facts, asks each adviser, and puts what they say in
 * order.
 *
 * Advice is ordered by the seconds that it would save by the model of time (price.c); what ties (equal to a tenth of a
 * percent of the launch) stands in the order of importance that advice.def gives. To add a kind: a row of
 * advice.def, and an adviser that calls mg__advise_add (items.c).
 */
#include "advise/facts.h"

#include <math.h>

static const struct {
    const char *id;
    int order;
} catalogue[] = {
#define ADVICE(name, id, order, text) {id, order},
#include "advise/advice.def"
#undef ADVICE
};

static int order_of(const char *id)
{
    for (size_t i = 0; i < MG_COUNT(catalogue); i++)
        if (!strcmp(catalogue[i].id, id))
            return catalogue[i].order;
    return 100;
}

static bool before(const struct mg_report_advice_item *a, const struct mg_report_advice_item *b)
{
    double x = floor(a->gain * 1000 + 0.5), y = floor(b->gain * 1000 + 0.5);
    if (x != y)
        return x > y;
    return order_of(a->id) < order_of(b->id);
}

static void sort_items(struct mg_facts *f)
{
    struct mg_report_advice_item *at = f->items.at;
    for (size_t i = 1; i < f->items.count; i++) { /* insertion: few, and stable */
        struct mg_report_advice_item item = at[i];
        size_t k = i;
        for (; k > 0 && before(&item, &at[k - 1]); k--)
            at[k] = at[k - 1];
        at[k] = item;
    }
}

/* What is about the launch stands at the kernel's first line. */
static void place_rest(struct mg_facts *f)
{
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        if (f->info->insns[i].func != f->info->func || !f->info->insns[i].line)
            continue;
        for (size_t k = 0; k < f->items.count; k++)
            if (!f->items.at[k].line && strcmp(f->items.at[k].id, "nothing"))
                mg__advise_at(f, &f->items.at[k], i);
        return;
    }
}

static void say_nothing(struct mg_facts *f, const struct mg_report_advice *a)
{
    struct mg_report_advice_item *item = mg__advise_add(f, "nothing", NULL);
    if (!item)
        return;
    item->title = "Nothing to do";
    if (f->inst <= 0)
        item->why = "No instruction was executed.";
    else if (a->binding < a->nroofs)
        item->why = mg__advise_text(f,
                                    "No change that the counts point to would save %.0f %% of the estimated time. "
                                    "What binds is %s.",
                                    MG_ADVICE_LEAST * 100, a->roofs[a->binding].name);
    unsigned sms = f->arch->board->sm_count;
    if (f->seen->nblocks < sms)
        item->how =
            mg__advise_text(f, "But the grid has %llu block%s for %u multiprocessors, and the others idle: %s",
                            (unsigned long long)f->seen->nblocks, f->seen->nblocks == 1 ? "" : "s", sms,
                            f->in_steps ? "more work in a launch would take little longer. More blocks for the same "
                                          "would not be faster: most of the time is steps of which each waits for the "
                                          "one before."
                                        : "more and smaller blocks, or more work in a launch. (The estimate is of a "
                                          "board that is full.)");
}

/* Whether a tile would pay for the site, or does: of its array, what is saved and what that takes. */
static void stage_site(const struct mg_facts *f, uint32_t site, struct mg_report_advice_site *r)
{
    const struct mg_advise_group *g = &f->groups[f->sites[site].group];
    r->staging = g->staging == MG_STAGE_PAYS ? "would pay" : g->staging == MG_STAGE_COSTS ? "would not pay" : "";
    r->stage_sectors = g->stage_sectors;
    r->stage_wavefronts = g->stage_wavefronts;
    r->stage_barriers = g->stage_barriers;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        if (f->seen->sites.of[i] != site || f->tile_of[i] < 0 || !f->vars[f->tile_of[i]].copy)
            continue;
        const struct mg_var_fact *v = &f->vars[f->tile_of[i]];
        double wavefronts = (double)v->wavefronts;
        r->staging = f->tiles.pay == MG_TILES_PAY        ? "pays already"
                     : f->tiles.pay == MG_TILES_CONFLICT ? "pays once its bank conflicts are gone"
                                                         : "is there, and does not pay";
        r->stage_sectors = MG_MAX(v->as_global - v->filled, 0);
        r->stage_wavefronts = wavefronts;
        r->stage_barriers = f->barriers;
        return;
    }
}

static void list_sites(struct mg_facts *f, struct mg_report_advice *a)
{
    static const char *const operations[] = {"load", "store", "atomic"};
    a->sites = mg__arena_array(&f->arena, (size_t)f->nsites + 1, sizeof(*a->sites));
    for (uint32_t i = 0; a->sites && i < f->nsites; i++) {
        const struct mg_site_fact *s = &f->sites[i];
        if (!s->sum.requests)
            continue;
        struct mg_report_advice_site *r = &a->sites[a->nsites++];
        r->file = s->site->file;
        r->line = s->site->line;
        r->operation = operations[s->site->direction];
        r->array = mg__facts_array(f, s->site);
        r->pattern = mg__facts_pattern(f, s);
        r->requests = s->sum.requests;
        r->sectors = s->sum.touched;
        r->ideal = s->sum.ideal;
        r->uses_byte = s->use.bytes > 0 ? s->use.uses / s->use.bytes : 0;
        r->threads_byte = s->use.bytes > 0 ? s->use.threads / s->use.bytes : 0;
        r->bytes_block = mg__facts_round(mg__facts_distinct(&s->use, s->sum.bytes) / (double)f->seen->nblocks);
        r->sampled = s->use.sampled;
        r->remedy = mg__advise_remedy(f, s);
        stage_site(f, i, r);
    }
}

/* The largest part of the launch's time; of short ones, without what it takes to launch them. */
static const char *limiter_of(const struct mg_facts *f)
{
    static const char *const names[] = {
#define PART(id, metric, name) [MG_TIME_##id] = name,
#include "report/part.def"
    };
    size_t largest = MG_TIME_LAUNCH;
    for (size_t i = 0; i < MG_TIME_PARTS; i++)
        if (i != MG_TIME_LAUNCH && i != MG_TIME_PAGES && (largest == MG_TIME_LAUNCH || f->part[i] > f->part[largest]))
            largest = i;
    return f->part[largest] > 0 ? names[largest] : "nothing";
}

static void describe(struct mg_facts *f, enum mg_status ended, struct mg_report_advice *a)
{
    const struct mg_launch_info *info = f->info;
    *a = (struct mg_report_advice){
        .mangled = info->kernel,
        .board = f->arch->board->name,
        .grid = info->grid,
        .block = info->block,
        .cc = info->device_cc,
        .shared_static = info->shared_static,
        .shared_dynamic = info->shared_dynamic,
        .regs = f->seen->regs,
        .regs_from = f->seen->regs_from,
        .regs_exact = f->seen->regs_exact,
        .status = ended,
        .blocks = f->seen->nblocks,
        .blocks_sampled = mg__facts_round(f->sampled_blocks),
        .occupancy_limiter = "",
        .occupancy_step = "",
        .occupancy_max_warps = f->arch->max_warps_sm,
        .flops_f16 = f->flops_f16,
        .flops_f32 = f->flops_f32,
        .flops_f64 = f->flops_f64,
        .seconds = f->seconds,
        .pages = f->part[MG_TIME_PAGES],
        .limiter = limiter_of(f),
        .verdict = "",
    };
    char *name = mg__report_demangle(info->kernel);
    a->kernel = name ? mg__arena_strdup(&f->arena, name) : info->kernel;
    free(name);
    if (!a->kernel)
        a->kernel = info->kernel;
    if (f->has_occupancy) {
        struct mg_occupancy_step step;
        a->occupancy_blocks = f->occupancy.blocks;
        a->occupancy_warps = f->occupancy.warps;
        a->occupancy_limiter = mg_limiter_name(f->occupancy.binding);
        if (f->occupancy.occupancy < 0.999 && mg_arch_next_step(f->arch, &f->query, &step) == MG_OK && step.blocks) {
            if (step.by_regs)
                a->occupancy_step = mg__advise_text(f, "%u registers a thread", step.regs);
            if (step.by_shared)
                a->occupancy_step = mg__advise_text(f, "%s%s%u bytes of shared memory a block", a->occupancy_step,
                                                    a->occupancy_step[0] ? ", or " : "", step.shared);
            if (step.by_threads)
                a->occupancy_step = mg__advise_text(f, "%s%sblocks of %u threads", a->occupancy_step,
                                                    a->occupancy_step[0] ? ", or " : "", step.threads);
            if (a->occupancy_step[0])
                a->occupancy_step = mg__advise_text(f, "one block more with %s", a->occupancy_step);
        }
    }
}

void mg__advise_count(const struct mg_seen *seen, enum mg_status ended,
                      void (*done)(void *arg, const struct mg_report_advice *advice), void *arg)
{
    const struct mg_launch_info *info = seen->info;
    const struct mg_time_result *time = mg__time_result(seen->time);
    const struct mg_report_advice a = {.kernel = info->kernel,
                                       .mangled = info->kernel,
                                       .board = seen->arch->board->name,
                                       .grid = info->grid,
                                       .block = info->block,
                                       .cc = info->device_cc,
                                       .shared_static = info->shared_static,
                                       .shared_dynamic = info->shared_dynamic,
                                       .status = ended,
                                       .seconds = mg__time_of_kernel(time),
                                       .pages = time->part[MG_TIME_PAGES],
                                       .shorter = true};
    done(arg, &a);
}

enum mg_status mg__advise_judge(struct mg_seen *seen, enum mg_status ended,
                                void (*done)(void *arg, const struct mg_report_advice *advice), void *arg)
{
    struct mg_facts f;
    struct mg_report_advice a;
    if (!mg__facts_gather(&f, seen)) {
        mg__facts_free(&f);
        return MG_ERR_NOMEM;
    }
    describe(&f, ended, &a);
    mg__advise_roofline(&f, &a);
    if (ended != MG_OK) { /* half a launch says nothing about a whole one */
        struct mg_report_advice_item *item = mg__advise_add(&f, "nothing", NULL);
        if (item) {
            item->title = "Fix the failure first";
            item->why = "The launch failed, and what it did until then is not what it would do. margay check looks for "
                        "the cause.";
        }
        a.verdict = "Not known: the launch failed.";
        goto judged;
    }
    mg__advise_causes(&f);
    mg__advise_staging(&f);
    mg__advise_keep(&f);
    mg__advise_global(&f);
    mg__advise_atomics(&f);
    mg__advise_constant(&f);
    mg__advise_layout(&f);
    mg__advise_shared(&f);
    mg__advise_tiles_pay(&f);
    mg__advise_products(&f);
    mg__advise_threads(&f);
    mg__advise_pages(&f);
    mg__advise_lanes(&f);
    mg__advise_occupancy(&f);
    list_sites(&f, &a);
    mg__advise_chart(&f, &a);
    mg__advise_checklist(&f, &a);
    sort_items(&f);
    place_rest(&f);
    if (!f.items.count)
        say_nothing(&f, &a);
judged:
    a.items = f.items.at;
    a.nitems = f.items.count;
    done(arg, &a);
    mg__facts_free(&f);
    return MG_OK;
}
