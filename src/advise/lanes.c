/* lanes.c - lanes that do nothing, and warps that are not there: block size, divergence, occupancy.
 *
 * Idle lanes are counted: a block that is no multiple of 32 leaves the last warp's idle in every instruction; the rest
 * of what is missing from 32 active threads an instruction is divergence (or lanes that left early). What one lane does
 * for its warp or its block (the result written, a barrier's counter) is no loss that another numbering avoids, and not
 * counted as one; nor are the idle lanes of the grid's last warp, where the work ends, nor those beside lanes that hand
 * values round, or that try a compare-and-swap again.
 *
 * Occupancy is worth something where warps wait; it is looked at below half of the warp slots. What holds it back is
 * what the occupancy rules say (margay/arch.h); registers are those of the launch record: of the program's machine
 * code, or an estimate from the PTX where it has none.
 */
#include "advise/facts.h"

#include <math.h>

/* Whole warps: fewer of them, whose accesses are as much larger. */
static struct mg_change *whole_warps(struct mg_facts *f)
{
    struct mg_change *c = mg__change(f);
    const double fuller = f->warps * 32.0 / f->threads, blocks = (double)f->seen->nblocks / fuller;
    if (!c)
        return NULL;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const uint32_t site = f->seen->sites.of[i];
        if (site == UINT32_MAX || f->sites[site].pattern == MG_PATTERN_UNIFORM)
            continue;
        const double drift = f->sites[site].cause == MG_DRIFT ? f->sites[site].aligned : 1;
        c->edits[i].sectors *= (float)(f->threads > 1 ? fuller * drift : f->sites[site].width);
        c->edits[i].past *= f->threads > 1 ? (float)(fuller * drift) : 1;
    }
    if (f->threads > 1) {
        c->blocks = (uint64_t)MG_MAX(blocks + 0.5, 1);
        return c;
    }
    const float *left = mg__facts_steps_left(f);
    for (uint32_t i = 0; left && i < f->info->ninsns; i++) /* one thread did all of it */
        if (mg__change_often(f, i) > left[i])
            c->edits[i].times = (float)MG_MAX(1.0 / 32, left[i] / mg__change_often(f, i));
    return c;
}

static void partial_warps(struct mg_facts *f)
{
    unsigned idle = f->warps * 32 - f->threads;
    double part = (double)idle / (f->warps * 32);
    struct mg_report_advice_item *item = idle ? mg__advise_add(f, "block-size", whole_warps(f)) : NULL;
    if (!item)
        return;
    unsigned larger = MG_MIN(f->warps * 32, f->arch->max_threads_block);
    item->title = f->threads == 1 ? "Divide the work among threads: one does all of it"
                                  : mg__advise_text(f, "Launch blocks of %u threads", larger);
    item->why = mg__advise_text(
        f, "A block of %u thread%s takes %u warp%s, and %u of %u lanes never do anything (%.0f %%).%s", f->threads,
        f->threads == 1 ? "" : "s", f->warps, f->warps == 1 ? "" : "s", idle, f->warps * 32, 100 * part,
        f->drift.sites
            ? mg__advise_text(f,
                              " And blocks start inside sectors, so that their warps touch %.0f sectors more than "
                              "they would from the start of one.",
                              f->drift.sectors)
            : "");
    item->how = f->threads == 1
                    ? "Let thread i of n take the elements i, i + n, i + 2n and so on, in blocks of a multiple of 32 "
                      "threads and "
                      "several blocks for each multiprocessor."
                    : "Choose a multiple of 32, and let the kernel check its index against the size of the problem.";
    mg__advise_value(f, item, "threads", f->threads);
    mg__advise_value(f, item, "threads_then", larger);
    mg__advise_value(f, item, "idle_lanes", idle);
    if (f->drift.sites)
        mg__advise_value(f, item, "drift_sectors", (double)mg__facts_round(f->drift.sectors));
}

/* The part of an instruction's executions that is left where its lanes are in whole warps: in each round of the grid's
 * warps there is a last one, which is seldom full. */
static double in_whole_warps(const struct mg_facts *f, const struct mg_tried *t, double lanes)
{
    const double rounds = MG_MAX((double)t->warps / ((double)f->warps * (double)f->seen->nblocks), 1),
                 warps = ceil((double)t->threads / rounds / lanes - 1e-6) * rounds;
    return MG_MIN(warps / (double)t->warps, 1);
}

/* Whether as many lanes as execute the instruction, of as many warps, hand one another values: their places in the warp
 * are what they go by. Or try a compare-and-swap: of those that come together one wins, whoever they are. */
static bool meets_so(const struct mg_facts *f, const uint32_t *meetings, uint32_t n, const struct mg_tried *t)
{
    bool found = false;
    for (uint32_t k = 0; k < n && !found; k++) {
        const struct mg_tried *other = &f->seen->insns[meetings[k]];
        found = other->warps >= t->warps && other->threads * t->warps == t->threads * other->warps;
    }
    return found;
}

/* As many lanes as were active, in whole warps. */
static struct mg_change *converged(struct mg_facts *f, double lanes)
{
    struct mg_change *c = mg__change(f);
    uint32_t *meetings = mg__arena_array(&f->arena, (size_t)f->info->ninsns + 1, sizeof(*meetings)), n = 0;
    for (uint32_t i = 0; meetings && i < f->info->ninsns; i++) {
        const struct mg_ptx_insn *insn = f->info->insns[i].insn;
        if (insn && f->seen->insns[i].warps &&
            (mg__ptx_meets_lanes(insn) || (insn->access == MG_ACCESSES_ATOM && insn->atomop == MG_ATOM_CAS)))
            meetings[n++] = i;
    }
    for (uint32_t i = 0; c && i < f->info->ninsns; i++) {
        const struct mg_tried *t = &f->seen->insns[i];
        const struct mg_ptx_insn *insn = f->info->insns[i].insn;
        const double part = t->warps ? in_whole_warps(f, t, lanes) : 1;
        if (part > 0.97 || t->threads == t->warps || !insn || insn->effects & MG_E_SYNCS || meets_so(f, meetings, n, t))
            continue;
        c->edits[i].times = (float)part;
        if (t->touched) /* what lanes leave out of a sector, others take */
            c->edits[i].sectors = (float)(MG_MAX((double)t->ideal / (double)t->touched, part) / part);
        c->edits[i].past = c->edits[i].sectors;
        if (t->wavefronts) /* lanes that meet in a bank meet there in another warp, too */
            c->edits[i].wavefronts = (float)(((double)(t->wavefronts - t->wavefronts_ideal) / (double)t->wavefronts +
                                              (double)t->wavefronts_ideal / (double)t->wavefronts * part) /
                                             part);
    }
    return c;
}

static void divergence(struct mg_facts *f)
{
    double lanes = (double)f->threads / f->warps; /* of a warp, at most */
    double lost = f->inst * lanes - f->thread_inst - f->alone * (lanes - 1),
           part = f->inst > 0 ? lost / (f->inst * lanes) : 0;
    if (f->worst_branch == UINT32_MAX || part < 0.1)
        return;
    struct mg_report_advice_item *item = mg__advise_add(f, "divergence", converged(f, lanes));
    if (!item)
        return;
    mg__advise_at(f, item, f->worst_branch);
    item->title = "Let whole warps take one way at this branch";
    item->why =
        mg__advise_text(f,
                        "%.0f of %.0f branches sent lanes of a warp different ways; an instruction has %.1f active "
                        "lanes of %.0f.",
                        f->divergent, f->branches, f->thread_inst / f->inst, lanes);
    item->how = "Number the work so that a condition is the same for the 32 threads of a warp: tid < n / 2 in place of "
                "tid % 2 == 0, consecutive threads for the active elements of a reduction, shuffles for its last 32.";
    mg__advise_value(f, item, "divergent_branches", f->divergent);
    mg__advise_value(f, item, "lanes_per_instruction", f->thread_inst / f->inst);
}

void mg__advise_lanes(struct mg_facts *f)
{
    partial_warps(f);
    divergence(f);
}

/* What would lift the occupancy to half of the warp slots, or nearer to it: the id of the advice, and the numbers that
 * it names. */
struct lift {
    const char *id;
    struct mg_occupancy_query query;
    struct mg_occupancy then;
    unsigned regs, threads;
    uint32_t bytes; /* of shared memory, static and dynamic */
};

static void lift_registers(const struct mg_facts *f, struct lift *l, unsigned target)
{
    l->id = "registers";
    while (target > f->occupancy.blocks && mg_arch_max_regs(f->arch, &l->query, target, &l->regs) != MG_OK)
        target--;
    l->query.regs = l->regs;
}

static void lift_shared(const struct mg_facts *f, struct lift *l, unsigned target)
{
    uint32_t bytes = 0;
    l->id = "capacity";
    while (target > f->occupancy.blocks && mg_arch_max_dynamic_shared(f->arch, &l->query, target, &bytes) != MG_OK) {
        if (l->query.shared_static) { /* it is the sum that counts: as if all of it were dynamic */
            l->query.shared_static = 0;
            continue;
        }
        target--;
    }
    l->query.shared_dynamic = bytes;
    l->query.shared_optin = bytes;
    l->bytes = l->query.shared_static + bytes;
}

static bool lift_threads(const struct mg_facts *f, struct lift *l)
{
    struct mg_occupancy_step step;
    l->id = "block-size";
    if (mg_arch_next_step(f->arch, &l->query, &step) != MG_OK || !step.larger_threads)
        return false;
    l->threads = step.larger_threads;
    while (l->threads < 256 && (double)f->arch->max_blocks_sm * ((l->threads + 31) / 32) < 0.5 * f->arch->max_warps_sm)
        l->threads += 32;
    l->query.threads = l->threads;
    return true;
}

static bool find_lift(const struct mg_facts *f, struct lift *l)
{
    const struct mg_occupancy *o = &f->occupancy;
    *l = (struct lift){.query = f->query, .then = *o, .threads = f->threads};
    if (!f->has_occupancy || o->occupancy >= 0.5 || !o->warps_block)
        return false;
    unsigned target = (f->arch->max_warps_sm / 2 + o->warps_block - 1) / o->warps_block;
    l->query.shared_optin = f->arch->shared_block_optin;
    if (o->binding == MG_LIMITER_REGISTERS)
        lift_registers(f, l, target);
    else if (o->binding == MG_LIMITER_SHARED)
        lift_shared(f, l, target);
    else if (!lift_threads(f, l))
        return false;
    return mg_arch_occupancy(f->arch, &l->query, &l->then) == MG_OK && l->then.occupancy > o->occupancy;
}

static void tell_lift(struct mg_facts *f, struct mg_report_advice_item *item, const struct lift *l)
{
    unsigned blocks = l->then.blocks;
    double percent = 100 * l->then.occupancy;
    if (!strcmp(l->id, "registers")) {
        item->title = mg__advise_text(f, "Use at most %u registers a thread", l->regs);
        item->how = mg__advise_text(f,
                                    "Now %u (%s). __launch_bounds__(%u, %u) asks the compiler for it; then "
                                    "%u blocks fit, %.0f %%. Spills cost: look at the result.",
                                    f->query.regs, f->seen->regs_from, f->threads, blocks, blocks, percent);
        mg__advise_value(f, item, "regs", f->query.regs);
        mg__advise_value(f, item, "regs_then", l->regs);
    } else if (!strcmp(l->id, "capacity")) {
        uint32_t now = f->info->shared_static + f->info->shared_dynamic;
        item->title = mg__advise_text(f, "Use at most %u bytes of shared memory a block", l->bytes);
        item->how =
            mg__advise_text(f, "Now %u. A smaller tile, a narrower type, or two passes: then %u blocks fit, %.0f %%.",
                            now, blocks, percent);
        mg__advise_value(f, item, "shared", now);
        mg__advise_value(f, item, "shared_then", l->bytes);
    } else {
        item->title = mg__advise_text(f, "Launch blocks of %u threads", l->threads);
        item->how = mg__advise_text(
            f,
            "An SM holds at most %u blocks, however small. With %u threads a block, %u blocks fit and fill "
            "%.0f %%.",
            f->arch->max_blocks_sm, l->threads, blocks, percent);
        mg__advise_value(f, item, "threads", f->threads);
        mg__advise_value(f, item, "threads_then", l->threads);
    }
}

void mg__advise_occupancy(struct mg_facts *f)
{
    const struct mg_occupancy *o = &f->occupancy;
    struct lift l;
    if (!find_lift(f, &l))
        return;
    struct mg_change *change = mg__change(f);
    if (!change)
        return;
    change->resident = l.then.blocks;
    if (l.threads != f->threads) {
        change->warps = (l.threads + 31) / 32;
        change->blocks = MG_MAX(f->seen->nblocks * f->warps / change->warps, 1u);
    }
    struct mg_report_advice_item *item = mg__advise_add(f, l.id, change);
    if (!item)
        return;
    item->why = mg__advise_text(f,
                                "%u block%s of %u warps %s resident on an SM, %.0f %% of its %u warp slots; what holds "
                                "back is %s.",
                                o->blocks, o->blocks == 1 ? "" : "s", o->warps_block, o->blocks == 1 ? "is" : "are",
                                100 * o->occupancy, f->arch->max_warps_sm, mg_limiter_name(o->binding));
    tell_lift(f, item, &l);
    mg__advise_value(f, item, "occupancy", o->occupancy);
    mg__advise_value(f, item, "occupancy_then", l.then.occupancy);
    mg__advise_value(f, item, "blocks_now", o->blocks);
    mg__advise_value(f, item, "blocks_then", l.then.blocks);
}
