/* checklist.c - the tutorials' checklist and decision chart, each item answered from what was counted.
 *
 * An item that has nothing to speak of in this launch ("no bank conflicts" where there is no shared memory) is neither
 * passed nor failed. To add an item: a row of checklist.def, and its answer, a function of the row's name.
 */
#include "advise/facts.h"

static const char passed[] = "passed", failed[] = "failed", none[] = "none";

static const char *judge(bool good)
{
    return good ? passed : failed;
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

/* Loads of global memory that fill tiles, by tiles.c: those that move less than a word a lane. */
static double narrow_fills(const struct mg_facts *f, double *all)
{
    double narrow = 0;
    *all = 0;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_tried *t = &f->seen->insns[i];
        if (f->tile_of[i] < 0 || !t->requests || f->info->insns[i].insn->access != MG_ACCESSES_LOAD)
            continue;
        *all += (double)t->requests;
        narrow += t->bytes < 4 * t->lanes ? (double)t->requests : 0;
    }
    return narrow;
}

static const char *answer_coalesced(struct mg_facts *f, const char **counts)
{
    double touched = (double)f->total.touched;
    double ideal = (double)f->total.ideal;
    if (touched <= 0)
        return none;
    *counts = mg__advise_text(f, "%.0f sectors, ideal %.0f: %.1f %% beyond", touched, ideal,
                              100 * (touched - ideal) / touched);
    return judge(touched - ideal <= 0.05 * touched);
}

static const char *answer_aligned(struct mg_facts *f, const char **counts)
{
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

static const char *answer_reuse(struct mg_facts *f, const char **counts)
{
    double touched = (double)f->total.touched;
    double ideal = (double)f->total.ideal;
    bool any;
    double reads = shared_reuse(f, &any);
    if (!any)
        return none;
    bool ordered = touched - ideal <= 0.05 * touched; /* a tile that changes the order is read once */
    *counts = mg__advise_text(f, "%.1f reads of a word for each write%s", reads,
                              reads <= 2 && ordered ? "; one is enough where it keeps global memory in order" : "");
    return judge(reads > 2 || ordered);
}

static const char *answer_not_once(struct mg_facts *f, const char **counts)
{
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

static const char *answer_staged(struct mg_facts *f, const char **counts)
{
    const struct mg_advise_group *group = mg__facts_most_read(f);
    if (!group)
        return none;
    *counts = mg__advise_text(f, "at most %.1f reads of a byte in a block%s", mg__facts_uses(group),
                              mg__advise_has(f, "stage") ? "" : ", and a tile would cost more than it saves");
    return judge(!mg__advise_has(f, "stage"));
}

static const char *answer_constants(struct mg_facts *f, const char **counts)
{
    if (!f->total.const_requests)
        return none;
    *counts = mg__advise_text(f, "%llu passes for %llu loads", (unsigned long long)f->total.const_passes,
                              (unsigned long long)f->total.const_requests);
    return judge(f->total.const_passes * 10 <= f->total.const_requests * 11);
}

static const char *answer_conflicts(struct mg_facts *f, const char **counts)
{
    if (!any_shared(f))
        return none;
    *counts = mg__advise_text(f, "%llu wavefronts, ideal %llu", (unsigned long long)f->total.wavefronts,
                              (unsigned long long)f->total.wavefronts_ideal);
    return judge(f->total.wavefronts <= f->total.wavefronts_ideal);
}

static const char *answer_capacity(struct mg_facts *f, const char **counts)
{
    uint32_t bytes = f->info->shared_static + f->info->shared_dynamic;
    if (!bytes)
        return none;
    *counts = mg__advise_text(f, "%u of %u bytes", bytes, f->arch->shared_block);
    return judge((uint64_t)bytes * 10 <= (uint64_t)f->arch->shared_block * 9);
}

static const char *held_back(struct mg_facts *f, enum mg_limiter which, const char **counts)
{
    const struct mg_occupancy *o = &f->occupancy;
    uint32_t bytes = f->info->shared_static + f->info->shared_dynamic;
    if (!f->has_occupancy || (which == MG_LIMITER_SHARED && !bytes))
        return none;
    *counts =
        mg__advise_text(f, "%u blocks on an SM; %s would allow %u", o->blocks, mg_limiter_name(which), o->limit[which]);
    if (o->limit[which] == MG_NO_LIMIT)
        *counts = "no limit";
    return judge(o->binding != which || o->occupancy >= 0.999);
}

static const char *answer_capacity_occupancy(struct mg_facts *f, const char **counts)
{
    return held_back(f, MG_LIMITER_SHARED, counts);
}

static const char *answer_registers_occupancy(struct mg_facts *f, const char **counts)
{
    return held_back(f, MG_LIMITER_REGISTERS, counts);
}

static const char *answer_occupancy(struct mg_facts *f, const char **counts)
{
    const struct mg_occupancy *o = &f->occupancy;
    if (!f->has_occupancy)
        return none;
    *counts = mg__advise_text(f, "%.0f %%: %u of %u warps; held back by %s", 100 * o->occupancy, o->warps,
                              f->arch->max_warps_sm, mg_limiter_name(o->binding));
    return judge(o->occupancy >= 0.5);
}

static const char *answer_whole_warps(struct mg_facts *f, const char **counts)
{
    *counts = mg__advise_text(f, "%u threads", f->threads);
    return judge(f->threads % 32 == 0);
}

static const char *answer_block_range(struct mg_facts *f, const char **counts)
{
    *counts = mg__advise_text(f, "%u threads", f->threads);
    return judge(f->threads >= 64);
}

static const char *answer_grid_fills(struct mg_facts *f, const char **counts)
{
    unsigned sms = f->arch->board->sm_count;
    *counts = mg__advise_text(f, "%llu blocks for %u multiprocessors", (unsigned long long)f->seen->nblocks, sms);
    return judge(f->seen->nblocks >= sms);
}

static const char *answer_lanes(struct mg_facts *f, const char **counts)
{
    if (f->inst <= 0)
        return none;
    *counts = mg__advise_text(f, "%.1f lanes an instruction; %.0f of %.0f branches diverge", f->thread_inst / f->inst,
                              f->divergent, f->branches);
    return judge(f->thread_inst >= 0.9 * 32 * f->inst);
}

static const char *answer_barriers_all(struct mg_facts *f, const char **counts)
{
    if (f->barriers <= 0)
        return none;
    *counts = "margay check looks for barriers that threads miss";
    return none;
}

static const char *answer_barriers_few(struct mg_facts *f, const char **counts)
{
    if (f->barriers <= 0)
        return none;
    *counts = mg__advise_text(f, "%.0f warps at barriers, %.1f %% of the estimated time", f->barriers,
                              f->seconds > 0 ? 100 * f->part[MG_TIME_BARRIER] / f->seconds : 0);
    return judge(f->part[MG_TIME_BARRIER] < 0.1 * f->seconds);
}

static const char *answer_barriers_needed(struct mg_facts *f, const char **counts)
{
    bool passes = f->global_exchange;
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        passes |= f->vars[v].by_other_warp > 0;
    if (f->barriers <= 0 || (!passes && f->others_use_shared))
        return none;
    *counts = passes ? "data passes from warp to warp" : "no word passes from one warp to another";
    return judge(passes);
}

static const char *answer_atomics_global(struct mg_facts *f, const char **counts)
{
    double hottest = 0;
    for (uint32_t g = 0; g < f->ngroups; g++)
        hottest = MG_MAX(hottest, f->groups[g].hottest);
    if (hottest <= 0)
        return none;
    *counts = mg__advise_text(f, "%.0f operations on the address that is hit most", hottest);
    return judge(!mg__advise_has(f, "privatise"));
}

static const char *answer_atomics_shared(struct mg_facts *f, const char **counts)
{
    uint64_t atomics = 0, taken = 0, least = 0;
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        if (f->vars[v].atomics) {
            atomics += f->vars[v].atomics;
            taken += f->vars[v].wavefronts;
            least += f->vars[v].ideal;
        }
    if (!atomics)
        return none;
    *counts = mg__advise_text(f, "%llu wavefronts, ideal %llu", (unsigned long long)taken, (unsigned long long)least);
    return judge(taken * 10 <= least * 11);
}

static const char *answer_vectorised(struct mg_facts *f, const char **counts)
{
    double all, narrow = narrow_fills(f, &all);
    if (all <= 0)
        return none;
    *counts = mg__advise_text(f, "%.0f of %.0f loads into tiles move less than a word a lane", narrow, all);
    return judge(narrow <= 0);
}

static const char *answer_overlap(struct mg_facts *f, const char **counts)
{
    uint64_t copies = executed(f, MG_OP_CP_ASYNC, MG_SUB_NONE);
    if (!copies)
        return none; /* plain loads may overlap or not: nothing counted says */
    *counts = mg__advise_text(f, "%llu asynchronous copies", (unsigned long long)copies);
    return passed;
}

static const char *answer_unrolled(struct mg_facts *f, const char **counts)
{
    if (f->inst <= 0)
        return none;
    *counts = mg__advise_text(f, "%.1f %% of PTX instructions are branches", 100 * f->branches / f->inst);
    return judge(f->branches < 0.1 * f->inst);
}

static const char *answer_bounds(struct mg_facts *f, const char **counts)
{
    (void)f;
    *counts = "margay check looks for them";
    return none;
}

typedef const char *answer_fn(struct mg_facts *f, const char **counts);

void mg__advise_checklist(struct mg_facts *f, struct mg_report_advice *a)
{
    static const struct {
        const char *id, *text;
        answer_fn *answer;
    } checks[] = {
#define CHECK(name, id, text) {id, text, answer_##name},
#include "advise/checklist.def"
#undef CHECK
    };
    a->checks = mg__arena_array(&f->arena, MG_COUNT(checks), sizeof(*a->checks));
    for (size_t i = 0; a->checks && i < MG_COUNT(checks); i++) {
        struct mg_report_advice_row *r = &a->checks[a->nchecks++];
        r->id = checks[i].id;
        r->text = checks[i].text;
        r->counts = "";
        r->result = checks[i].answer(f, &r->counts);
    }
}
