/* checklist.c - the tutorials' checklist and decision chart, each item answered from what was counted.
 *
 * An item that has nothing to speak of in this launch ("no bank conflicts" where there is no shared memory) is neither
 * passed nor failed. To add an item: a row of checklist.def, and its answer in `answer`.
 */
#include "advise/facts.h"

enum check {
#define CHECK(name, id, text) CHECK_##name,
#include "advise/checklist.def"
#undef CHECK
    CHECKS
};
static const struct {
    const char *id, *text;
} checks[] = {
#define CHECK(name, id, text) {id, text},
#include "advise/checklist.def"
#undef CHECK
};

static const char passed[] = "passed", failed[] = "failed", none[] = "none";

static const char *judge(bool good)
{
    return good ? passed : failed;
}

/* The array that a block reads most often, of those whose bytes several threads read. */
static const struct mg_advise_group *most_read(const struct mg_facts *f)
{
    const struct mg_advise_group *best = NULL;
    for (uint32_t g = 0; g < f->ngroups; g++) {
        const struct mg_advise_group *group = &f->groups[g];
        if (group->direction == MG_DIR_LOAD && group->use.bytes > 0 && group->use.threads >= 1.5 * group->use.bytes &&
            (!best || group->use.uses * best->use.bytes > best->use.uses * group->use.bytes))
            best = group;
    }
    return best;
}

static double uses(const struct mg_advise_group *g)
{
    return g ? g->use.uses / g->use.bytes : 0;
}

static bool any_shared(const struct mg_facts *f)
{
    return f->total.wavefronts > 0;
}

/* Reads a word written, of variables that are stored and loaded. */
static double shared_reuse(const struct mg_facts *f, bool *any)
{
    double reads = 0, writes = 0;
    for (uint32_t v = 0; v < f->info->nshared_vars; v++) {
        if (f->vars[v].atomics || !f->vars[v].by_other_thread)
            continue; /* no tile: counters, or storage of one thread */
        reads += (double)f->vars[v].reads;
        writes += (double)f->vars[v].writes;
    }
    *any = writes > 0;
    return writes > 0 ? reads / writes : 0;
}

static uint64_t executed(const struct mg_facts *f, enum mg_ptx_opcode opcode, enum mg_ptx_sub sub)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_ptx_insn *insn = f->info->insns[i].insn;
        if (insn && insn->opcode == opcode && insn->sub == sub)
            n += f->seen->insns[i].warps;
    }
    return n;
}

/* Loads of global memory whose value goes to shared memory next: the instructions that fill tiles; those of 4 bytes or
 * less that stand on neighbouring addresses. */
static double narrow_fills(const struct mg_facts *f, double *all)
{
    double narrow = 0;
    *all = 0;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_ptx_insn *insn = f->info->insns[i].insn;
        const struct mg_ptx_func *func = f->info->insns[i].func;
        if (!insn || insn->access != MG_ACCESSES_LOAD || !f->seen->insns[i].requests || insn->nops < 1)
            continue;
        const struct mg_ptx_opnd *d = mg__ptx_op(func, insn, 0);
        if (d->kind != MG_OPND_REG)
            continue;
        for (size_t k = 0; k < func->ninsns; k++) {
            const struct mg_ptx_insn *st = &func->insns[k];
            if (st->access != MG_ACCESSES_STORE || st->space != MG_SPACE_SHARED || st->nops < 2)
                continue;
            const struct mg_ptx_opnd *value = mg__ptx_op(func, st, 1);
            if (value->kind != MG_OPND_REG || value->index != d->index)
                continue;
            *all += (double)f->seen->insns[i].requests;
            if (f->seen->insns[i].bytes < 4 * f->seen->insns[i].lanes)
                narrow += (double)f->seen->insns[i].requests;
            break;
        }
    }
    return narrow;
}

static const char *answer(struct mg_facts *f, enum check check, const char **counts)
{
    const struct mg_advise_group *group = most_read(f);
    const struct mg_occupancy *o = &f->occupancy;
    double touched = (double)f->total.touched, ideal = (double)f->total.ideal;
    uint32_t bytes = f->info->shared_static + f->info->shared_dynamic;
    unsigned sms = f->arch->board->sm_count;
    *counts = "";
    switch (check) {
    case CHECK_COALESCED:
        if (touched <= 0)
            return none;
        *counts = mg__advise_text(f, "%.0f sectors, ideal %.0f: %.1f %% beyond", touched, ideal,
                                  100 * (touched - ideal) / touched);
        return judge(touched - ideal <= 0.05 * touched);
    case CHECK_ALIGNED: {
        double more = 0, all = 0;
        for (uint32_t i = 0; i < f->nsites; i++)
            if (f->sites[i].pattern == MG_PATTERN_UNIT) {
                all += (double)f->sites[i].sum.touched;
                more += (double)f->sites[i].sum.touched * (1 - f->sites[i].aligned);
            }
        if (all <= 0)
            return none;
        *counts = mg__advise_text(f, "%.0f of %.0f sectors because of where accesses start", more, all);
        return judge(more * 20 <= all);
    }
    case CHECK_REUSE: {
        bool any;
        double reads = shared_reuse(f, &any);
        if (!any)
            return none;
        bool ordered = touched - ideal <= 0.05 * touched; /* a tile that changes the order is read once */
        *counts = mg__advise_text(f, "%.1f reads of a word for each write%s", reads,
                                  reads <= 2 && ordered ? "; one is enough where it keeps global memory in order" : "");
        return judge(reads > 2 || ordered);
    }
    case CHECK_NOT_ONCE: {
        unsigned alone = 0, used = 0;
        if (!any_shared(f))
            return none;
        for (uint32_t v = 0; v < f->info->nshared_vars; v++) {
            used += f->vars[v].words > 0;
            alone += f->vars[v].words > 0 && !f->vars[v].by_other_thread && !f->vars[v].atomics;
        }
        *counts = mg__advise_text(f, "%u of %u variables pass nothing between threads", alone, used);
        return used ? judge(!alone) : none;
    }
    case CHECK_STAGED:
        if (!group)
            return none;
        *counts = mg__advise_text(f, "at most %.1f reads of a byte in a block%s", uses(group),
                                  mg__advise_has(f, "stage") ? "" : ", and a tile would cost more than it saves");
        return judge(!mg__advise_has(f, "stage"));
    case CHECK_CONSTANTS:
        if (!f->total.const_requests)
            return none;
        *counts = mg__advise_text(f, "%llu passes for %llu loads", (unsigned long long)f->total.const_passes,
                                  (unsigned long long)f->total.const_requests);
        return judge(f->total.const_passes * 10 <= f->total.const_requests * 11);
    case CHECK_CONFLICTS:
        if (!any_shared(f))
            return none;
        *counts = mg__advise_text(f, "%llu wavefronts, ideal %llu", (unsigned long long)f->total.wavefronts,
                                  (unsigned long long)f->total.wavefronts_ideal);
        return judge(f->total.wavefronts <= f->total.wavefronts_ideal);
    case CHECK_CAPACITY:
        if (!bytes)
            return none;
        *counts = mg__advise_text(f, "%u of %u bytes", bytes, f->arch->shared_block);
        return judge((uint64_t)bytes * 10 <= (uint64_t)f->arch->shared_block * 9);
    case CHECK_CAPACITY_OCCUPANCY:
    case CHECK_REGISTERS_OCCUPANCY: {
        enum mg_limiter which = check == CHECK_CAPACITY_OCCUPANCY ? MG_LIMITER_SHARED : MG_LIMITER_REGISTERS;
        if (!f->has_occupancy || (which == MG_LIMITER_SHARED && !bytes))
            return none;
        *counts = mg__advise_text(f, "%u blocks on an SM; %s would allow %u", o->blocks, mg_limiter_name(which),
                                  o->limit[which]);
        if (o->limit[which] == MG_NO_LIMIT)
            *counts = "no limit";
        return judge(o->binding != which || o->occupancy >= 0.999);
    }
    case CHECK_OCCUPANCY:
        if (!f->has_occupancy)
            return none;
        *counts = mg__advise_text(f, "%.0f %%: %u of %u warps; held back by %s", 100 * o->occupancy, o->warps,
                                  f->arch->max_warps_sm, mg_limiter_name(o->binding));
        return judge(o->occupancy >= 0.5);
    case CHECK_WHOLE_WARPS:
        *counts = mg__advise_text(f, "%u threads", f->threads);
        return judge(f->threads % 32 == 0);
    case CHECK_BLOCK_RANGE:
        *counts = mg__advise_text(f, "%u threads", f->threads);
        return judge(f->threads >= 64);
    case CHECK_GRID_FILLS:
        *counts = mg__advise_text(f, "%llu blocks for %u multiprocessors", (unsigned long long)f->seen->nblocks, sms);
        return judge(f->seen->nblocks >= sms);
    case CHECK_LANES:
        if (f->inst <= 0)
            return none;
        *counts = mg__advise_text(f, "%.1f lanes an instruction; %.0f of %.0f branches diverge",
                                  f->thread_inst / f->inst, f->divergent, f->branches);
        return judge(f->thread_inst >= 0.9 * 32 * f->inst);
    case CHECK_BARRIERS_ALL:
        if (f->barriers <= 0)
            return none;
        *counts = "margay check looks for barriers that threads miss";
        return none;
    case CHECK_BARRIERS_FEW:
        if (f->barriers <= 0)
            return none;
        *counts = mg__advise_text(f, "%.0f warps at barriers, %.1f %% of the estimated time", f->barriers,
                                  100 * f->s_barrier / f->seconds);
        return judge(f->s_barrier < 0.1 * f->seconds);
    case CHECK_BARRIERS_NEEDED: {
        bool passes = f->global_exchange;
        for (uint32_t v = 0; v < f->info->nshared_vars; v++)
            passes |= f->vars[v].by_other_warp > 0;
        if (f->barriers <= 0)
            return none;
        *counts = passes ? "data passes from warp to warp" : "no word passes from one warp to another";
        return judge(passes);
    }
    case CHECK_ATOMICS_GLOBAL: {
        double hottest = 0;
        for (uint32_t g = 0; g < f->ngroups; g++)
            hottest = MG_MAX(hottest, f->groups[g].hottest);
        if (hottest <= 0)
            return none;
        *counts = mg__advise_text(f, "%.0f operations on the address that is hit most", hottest);
        return judge(!mg__advise_has(f, "privatise"));
    }
    case CHECK_ATOMICS_SHARED: {
        uint64_t atomics = 0, taken = 0, least = 0;
        for (uint32_t v = 0; v < f->info->nshared_vars; v++)
            if (f->vars[v].atomics) {
                atomics += f->vars[v].atomics;
                taken += f->vars[v].wavefronts;
                least += f->vars[v].ideal;
            }
        if (!atomics)
            return none;
        *counts =
            mg__advise_text(f, "%llu wavefronts, ideal %llu", (unsigned long long)taken, (unsigned long long)least);
        return judge(taken * 10 <= least * 11);
    }
    case CHECK_VECTORISED: {
        double all, narrow = narrow_fills(f, &all);
        if (all <= 0)
            return none;
        *counts = mg__advise_text(f, "%.0f of %.0f loads into tiles move less than a word a lane", narrow, all);
        return judge(narrow <= 0);
    }
    case CHECK_OVERLAP: {
        uint64_t copies = executed(f, MG_OP_CP_ASYNC, MG_SUB_NONE);
        if (!copies)
            return none; /* plain loads may overlap or not: nothing counted says */
        *counts = mg__advise_text(f, "%llu asynchronous copies", (unsigned long long)copies);
        return passed;
    }
    case CHECK_UNROLLED:
        if (f->inst <= 0)
            return none;
        *counts = mg__advise_text(f, "%.1f %% of PTX instructions are branches", 100 * f->branches / f->inst);
        return judge(f->branches < 0.1 * f->inst);
    case CHECK_BOUNDS:
        *counts = "margay check looks for them";
        return none;
    case CHECKS:
        break;
    }
    return none;
}

void mg__advise_checklist(struct mg_facts *f, struct mg_report_advice *a)
{
    a->checks = mg__arena_array(&f->arena, CHECKS, sizeof(*a->checks));
    for (int i = 0; a->checks && i < CHECKS; i++) {
        struct mg_report_advice_row *r = &a->checks[a->nchecks++];
        r->id = checks[i].id;
        r->text = checks[i].text;
        r->result = answer(f, (enum check)i, &r->counts);
    }
}

/* ---- the chart ---- */
static void ask(struct mg_facts *f, struct mg_report_advice *a, const char *id, const char *text, bool yes,
                const char *counts)
{
    (void)f;
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

void mg__advise_chart(struct mg_facts *f, struct mg_report_advice *a)
{
    uint64_t words = 0, passing = 0;
    const struct mg_advise_group *group = most_read(f), *rereads = NULL;
    for (uint32_t g = 0; g < f->ngroups && !rereads; g++)
        rereads = mg__advise_rereads(f, &f->groups[g]) ? &f->groups[g] : NULL;
    double touched = (double)f->total.touched, ideal = (double)f->total.ideal;
    bool coalesced = touched - ideal <= 0.2 * touched, shared = any_shared(f);
    a->chart = mg__arena_array(&f->arena, 4, sizeof(*a->chart));
    if (!a->chart)
        return;
    for (uint32_t v = 0; v < f->info->nshared_vars; v++) {
        words += f->vars[v].words;
        passing += f->vars[v].by_other_thread;
    }
    ask(f, a, "exchange", "Do threads of a block exchange data?", passing || f->global_exchange,
        words ? mg__advise_text(f, "%llu of %llu shared words pass between threads", (unsigned long long)passing,
                                (unsigned long long)words)
              : f->global_exchange ? "through global memory" : "nothing passes between threads");
    ask(f, a, "reuse", "Does a block read the same global bytes three times or more?", uses(group) >= 2.95, /* edges */
        group ? mg__advise_text(f, "%s is read %.1f times a byte, by %.1f threads",
                                mg__facts_array(f, f->sites[group->first].site)[0]
                                    ? mg__facts_array(f, f->sites[group->first].site) : "the most used array",
                                uses(group), group->use.threads / group->use.bytes)
        : rereads ? mg__advise_text(f, "%s is read %.1f times a byte, but always by the same thread, which can keep it",
                                    mg__facts_array(f, f->sites[rereads->first].site)[0]
                                        ? mg__facts_array(f, f->sites[rereads->first].site) : "an array", uses(rereads))
                  : "no byte is read by several threads");
    ask(f, a, "coalesced", "Are global accesses coalesced?", coalesced,
        mg__advise_text(f, "%.0f sectors, ideal %.0f", touched, ideal));

    const struct mg_report_advice_item *stage = mg__advise_has(f, "stage"), *order = mg__advise_has(f, "stage-order"),
                                       *sum = mg__advise_has(f, "privatise"), *drop = mg__advise_has(f, "unstage"),
                                       *table = mg__advise_has(f, "constant");
    double saved = (f->tiles.as_global - f->tiles.filled) * f->price.again - f->s_barrier;
    bool pays = saved > f->tiles.wavefronts * f->price.wavefront;
    if (drop)
        a->verdict = f->tiles.count && passing
                         ? "Shared memory is wasted here: what is staged is read about once, and global memory itself "
                           "would do."
                         : "Shared memory is not needed here: no thread reads what another wrote.";
    else if (f->tiles.count && saved > f->tiles.ideal * f->price.wavefront)
        a->verdict = mg__advise_text(
            f,
            "Shared memory %s: without its tiles, the same reads would touch about %.0f sectors "
            "of global memory; filling them touches %.0f. That takes %.0f wavefronts and %.0f warps "
            "at barriers.%s",
            pays ? "already pays" : "pays once its bank conflicts are gone", f->tiles.as_global, f->tiles.filled,
            f->tiles.wavefronts, f->barriers, stage ? " Staging more would save more: see the advice." : "");
    else if (stage)
        a->verdict = mg__advise_text(f, "Shared memory would pay: staging saves about %.0f %% of the estimated time.",
                                     100 * stage->gain);
    else if (order)
        a->verdict = mg__advise_text(f,
                                     "Shared memory would pay, to change the order of accesses: about %.0f %% of the "
                                     "estimated time.",
                                     100 * order->gain);
    else if (sum)
        a->verdict =
            mg__advise_text(f,
                            "Shared memory would pay, to add up in a block first: about %.0f %% of the estimated "
                            "time.",
                            100 * sum->gain);
    else if (table)
        a->verdict =
            mg__advise_text(f,
                            "Shared memory would pay, for the table that lanes read at different places: about %.0f "
                            "%% of the estimated time.",
                            100 * table->gain);
    else if (shared && passing)
        a->verdict = "Shared memory is used, and needed: threads exchange data through it.";
    else if (shared)
        a->verdict = "Shared memory is used, but nothing passes through it between threads.";
    else if (uses(group) >= 1.5)
        a->verdict =
            mg__advise_text(f,
                            "Shared memory does not pay: at %.1f reads of a byte, filling and reading a tile costs "
                            "as much as it saves.%s",
                            uses(group),
                            (double)group->touched <= 1.2 * (double)group->requests
                                ? " The lanes of a warp read one address together: that takes a sector now, and would "
                                  "take a wavefront then."
                                : "");
    else if (coalesced)
        a->verdict =
            "Shared memory does not pay: a block has nothing to read twice, nothing to exchange, no order to restore.";
    else
        a->verdict =
            mg__advise_text(f,
                            "Shared memory does not pay: a block has nothing to read twice and nothing to exchange, "
                            "and %s.",
                            fixed_without(f) ? "what its global accesses lack is put right without it"
                                           : "a tile that put its global accesses in order would cost as much as it "
                                             "saves");
}
