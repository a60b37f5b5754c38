/* chart.c - the tutorials' decision chart, should this kernel use shared memory: its questions answered from what was
 * counted, and the verdict that follows from them and from the advice.
 */
#include "advise/facts.h"

static void ask(struct mg_report_advice *a, const char *id, const char *text, bool yes, const char *counts)
{
    a->chart[a->nchart++] = (struct mg_report_advice_row){id, text, yes ? "yes" : "no", counts};
}

/* Whether there is advice about global accesses that needs no shared memory. */
static bool fixed_without(const struct mg_facts *f)
{
    static const char *const ids[] = {"swap", "vectorise", "fields", "align", "widen", "gather"};
    for (size_t i = 0; i < MG_COUNT(ids); i++)
        if (mg__advise_has(f, ids[i]))
            return true;
    return false;
}

static const char *name_of(struct mg_facts *f, const struct mg_advise_group *group, const char *otherwise)
{
    const char *name = mg__facts_array(f, f->sites[group->first].site);
    return name[0] ? name : otherwise;
}

static const char *exchanged(struct mg_facts *f, uint64_t words, uint64_t passing)
{
    if (!passing && (f->total.bulk > 0 || f->matrices > 0))
        return "through shared memory, by bulk copies or multiplications of matrices";
    if (words)
        return mg__advise_text(f, "%llu of %llu shared words pass between threads", (unsigned long long)passing,
                               (unsigned long long)words);
    return f->global_exchange ? "through global memory" : "nothing passes between threads";
}

static const char *reused(struct mg_facts *f, const struct mg_advise_group *group)
{
    if (group)
        return mg__advise_text(f, "%s is read %.1f times a byte, by %.1f threads",
                               name_of(f, group, "the most used array"), mg__facts_uses(group),
                               group->use.threads / group->use.bytes);
    for (uint32_t g = 0; g < f->ngroups; g++)
        if (mg__advise_rereads(f, &f->groups[g]))
            return mg__advise_text(f, "%s is read %.1f times a byte, but always by the same thread, which can keep it",
                                   name_of(f, &f->groups[g], "an array"), mg__facts_uses(&f->groups[g]));
    return "no byte is read by several threads";
}

/* Of tiles that there are: what the same reads would cost without. */
static const char *of_tiles(struct mg_facts *f, bool pays)
{
    return mg__advise_text(f,
                           "Shared memory %s: without its tiles, the same reads would touch about %.0f sectors "
                           "of global memory; filling them touches %.0f. That takes %.0f wavefronts and %.0f warps "
                           "at barriers.%s",
                           pays ? "already pays" : "pays once its bank conflicts are gone", f->tiles.as_global,
                           f->tiles.filled, f->tiles.wavefronts, f->barriers,
                           mg__advise_has(f, "stage") ? " Staging more would save more: see the advice." : "");
}

/* What shared memory would do, by the advice that asks for it; NULL: none does. */
static const char *would_pay(struct mg_facts *f)
{
    static const struct {
        const char *id, *what;
    } reasons[] = {{"stage", "Shared memory would pay: staging saves about %.0f %% of the estimated time."},
                   {"stage-order", "Shared memory would pay, to change the order of accesses: about %.0f %% of the "
                                   "estimated time."},
                   {"privatise", "Shared memory would pay, to add up in a block first: about %.0f %% of the estimated "
                                 "time."},
                   {"constant", "Shared memory would pay, for the table that lanes read at different places: about "
                                "%.0f %% of the estimated time."}};
    for (size_t i = 0; i < MG_COUNT(reasons); i++) {
        const struct mg_report_advice_item *item = mg__advise_has(f, reasons[i].id);
        if (item)
            return mg__advise_text(f, reasons[i].what, 100 * item->gain);
    }
    return NULL;
}

/* Of kernels that have no shared memory, and need none. */
static const char *does_not_pay(struct mg_facts *f, const struct mg_advise_group *group, bool coalesced)
{
    if (mg__facts_uses(group) >= 1.5)
        return mg__advise_text(f,
                               "Shared memory does not pay: at %.1f reads of a byte, filling and reading a tile costs "
                               "as much as it saves.%s",
                               mg__facts_uses(group),
                               (double)group->touched <= 1.2 * (double)group->requests
                                   ? " The lanes of a warp read one address together: that takes a sector now, and "
                                     "would take a wavefront then."
                                   : "");
    if (coalesced)
        return "Shared memory does not pay: a block has nothing to read twice, nothing to exchange, no order to "
               "restore.";
    return mg__advise_text(f,
                           "Shared memory does not pay: a block has nothing to read twice and nothing to exchange, "
                           "and %s.",
                           fixed_without(f) ? "what its global accesses lack is put right without it"
                                            : "a tile that put its global accesses in order would cost as much as it "
                                              "saves");
}

void mg__advise_chart(struct mg_facts *f, struct mg_report_advice *a)
{
    uint64_t words = 0, passing = 0;
    const struct mg_advise_group *group = mg__facts_most_read(f);
    double touched = (double)f->total.touched, ideal = (double)f->total.ideal;
    const bool copied = f->total.bulk > 0, multiplied = f->matrices > 0;
    bool coalesced = touched - ideal <= 0.2 * touched, shared = f->total.wavefronts > 0 || copied || multiplied;
    a->chart = mg__arena_array(&f->arena, 4, sizeof(*a->chart));
    if (!a->chart)
        return;
    for (uint32_t v = 0; v < f->info->nshared_vars; v++) {
        words += f->vars[v].words;
        passing += f->vars[v].by_other_thread;
    }
    ask(a, "exchange", "Do threads of a block exchange data?", passing || f->global_exchange || copied || multiplied,
        exchanged(f, words, passing));
    ask(a, "reuse", "Does a block read the same global bytes three times or more?",
        mg__facts_uses(group) >= 2.95, /* edges */
        reused(f, group));
    ask(a, "coalesced", "Are global accesses coalesced?", coalesced,
        mg__advise_text(f, "%.0f sectors, ideal %.0f", touched, ideal));

    const char *would = would_pay(f);
    if (mg__advise_has(f, "unstage"))
        a->verdict = f->tiles.count && passing
                         ? "Shared memory is wasted here: what is staged is read about once, and global memory itself "
                           "would do."
                         : "Shared memory is not needed here: no thread reads what another wrote.";
    else if (f->tiles.pay == MG_TILES_PAY || f->tiles.pay == MG_TILES_CONFLICT)
        a->verdict = of_tiles(f, f->tiles.pay == MG_TILES_PAY);
    else if (would)
        a->verdict = would;
    else if (multiplied)
        a->verdict = "Shared memory is used, and needed: multiplications of matrices read their operands from it.";
    else if (copied)
        a->verdict = "Shared memory is used, and needed: bulk copies fill it or are made from it.";
    else if (shared)
        a->verdict = passing ? "Shared memory is used, and needed: threads exchange data through it."
                             : "Shared memory is used, but nothing passes through it between threads.";
    else
        a->verdict = does_not_pay(f, group, coalesced);
}
