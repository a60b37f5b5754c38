/* model.c - the observer: turns the engine's accesses into counters, by kernel, source line and shared variable.
 *
 * Each worker adds up per instruction and per shared variable, without locks; worker_end adds the worker's sums to the
 * launch's, and launch_end folds instructions into source lines and hands the record to `done`. An access is counted as
 * the machine code makes it (merge.c): the leader of a merged group counts the wide access, its followers nothing.
 *
 * What counts where:
 *   shared     wavefronts and their ideal; load and store instructions
 *   global     requests (one a warp instruction with an active lane) and sectors by operation, and the sectors of all
 *   bulk       sectors of device memory; far: instructions, and sectors between the blocks of a cluster (far.c)
 *   matrix     instructions and operations of the tensor cores, of how often each was executed (matrix.c)
 *   local, const and param accesses are not counted
 */
#include "model/matrix.h"
#include "model/model_priv.h"

struct tally;
struct mg_model {
    void (*done)(void *arg, struct mg_report_launch *launch);
    void *arg;
    const struct mg_arch *arch;
    bool words_at_once; /* mg__model_warp_words and the like hold */
    struct mg_model_kernel *kernels[MG_MODEL_KEPT];
    struct tally *last; /* of the last launch, by instruction; NULL: nothing was counted */
    uint32_t nlast;
};

struct tally { /* of an instruction or a shared variable */
    uint64_t wavefronts, ideal, shared_ld, shared_st;
    uint64_t far[MG_FAR_KINDS], far_sectors[MG_FAR_KINDS], far_sent; /* instructions, sectors, all sectors */
    uint64_t bulk[3];                                                /* sectors: ld, st, red */
    uint64_t sectors, sectors_ideal;
    uint64_t requests[4], moved[4];     /* by operation: ld, st, red, atom */
    uint64_t warps, threads, divergent; /* the last three */
};

struct launch {
    struct mg_model *model;
    const struct mg_launch_info *info;
    const struct mg_model_kernel *kernel;
    struct tally *insns, *vars;    /* insns: the first worker's, to which the others' are added; NULL: none is over */
    struct mg_insn_counts *counts; /* likewise; in `insns` when all are over */
    bool *accessed;                /* likewise; NULL: not known */
    struct tally
        *executed; /* of a launch with a sample: of all units that ran; there are warps, threads and divergent */
    MG_VEC(struct mg_model_unit) units;
    bool lost; /* a unit did not fit into memory */
};
struct worker {
    struct launch *launch;
    struct tally *insns, *vars;
    /* How often instructions were executed, and which of them accessed memory: to read a line that another processor
     * has written takes 100 ns, and so of a worker's tallies only those are read that hold something. A launch with a
     * sample has it all in `insns`. */
    struct mg_insn_counts *counts;
    bool *accessed;
    struct mg_model_copies *copies;
    /* of a launch with a sample: sums by the units' weights, while insns and vars are the unit's */
    struct tally *weighted_insns, *weighted_vars, *executed;
    size_t unit;
    MG_VEC(struct mg_model_unit) units;
    bool lost; /* a unit did not fit into memory */
};

static void tally_add_times(struct tally *to, const struct tally *from, uint64_t times)
{
    uint64_t *t = (uint64_t *)to;
    const uint64_t *f = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof(*to) / sizeof(*t); i++)
        t[i] += times * f[i];
}

static void tally_add(struct tally *to, const struct tally *from)
{
    tally_add_times(to, from, 1);
}

/* ---- launch ---- */
static void free_launch(struct launch *l)
{
    free(l->insns);
    free(l->counts);
    free(l->accessed);
    free(l->vars);
    free(l->executed);
    mg__vec_free(&l->units);
    free(l);
}

static enum mg_status launch_begin(void *self, const struct mg_launch_info *info, unsigned workers, void **state)
{
    (void)workers;
    struct launch *l = calloc(1, sizeof(*l));
    *state = NULL;
    if (!l)
        return MG_ERR_NOMEM;
    l->model = self;
    l->info = info;
    l->vars = calloc((size_t)info->nshared_vars + 1, sizeof(*l->vars));
    l->kernel = mg__model_kernel(l->model->kernels, info);
    if (info->sample)
        l->executed = calloc((size_t)info->ninsns + 1, sizeof(*l->executed));
    if (!l->vars || !l->kernel || (info->sample && !l->executed)) {
        free_launch(l);
        return MG_ERR_NOMEM;
    }
    *state = l;
    return MG_OK;
}

/* ---- worker ---- */
static void free_worker(struct worker *w)
{
    free(w->insns);
    free(w->counts);
    free(w->accessed);
    free(w->copies);
    free(w->vars);
    free(w->weighted_insns);
    free(w->weighted_vars);
    free(w->executed);
    mg__vec_free(&w->units);
    free(w);
}

static void *worker_begin(void *state, unsigned worker)
{
    (void)worker;
    struct launch *l = state;
    struct worker *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->launch = l;
    w->insns = calloc((size_t)l->info->ninsns + 1, sizeof(*w->insns));
    w->vars = calloc((size_t)l->info->nshared_vars + 1, sizeof(*w->vars));
    w->counts = calloc((size_t)l->info->ninsns + 1, sizeof(*w->counts));
    w->accessed = calloc((size_t)l->info->ninsns + 1, sizeof(*w->accessed));
    w->unit = SIZE_MAX;
    if (l->info->sample) {
        w->weighted_insns = calloc((size_t)l->info->ninsns + 1, sizeof(*w->insns));
        w->weighted_vars = calloc((size_t)l->info->nshared_vars + 1, sizeof(*w->vars));
        w->executed = calloc((size_t)l->info->ninsns + 1, sizeof(*w->executed));
    }
    if (!w->insns || !w->vars || !w->counts || !w->accessed ||
        (l->info->sample && (!w->weighted_insns || !w->weighted_vars || !w->executed))) {
        free_worker(w);
        return NULL;
    }
    return w;
}

/* Of `a`, which is so many instructions each time. */
static void add_shared(struct worker *w, const struct mg_access *a, enum mg_access_kind kind, struct mg_cost cost,
                       uint32_t each, struct tally *t)
{
    struct tally *var =
        a->shared_var >= 0 && (uint32_t)a->shared_var < w->launch->info->nshared_vars ? &w->vars[a->shared_var] : NULL;
    for (; t; t = t == var ? NULL : var) {
        t->wavefronts += cost.wavefronts * a->times;
        t->ideal += cost.ideal * a->times;
        t->shared_ld += kind == MG_ACCESS_LD ? a->times * each : 0;
        t->shared_st += kind == MG_ACCESS_ST ? a->times * each : 0;
    }
}

/* Words, the most that comes: what costs as a load or store does, and is made as it is written. */
static bool count_words(struct worker *w, struct mg_access *a)
{
    const struct mg_model_plan *plan = &w->launch->kernel->made->plans[a->insn];
    bool plain = a->kind == MG_ACCESS_LD || a->kind == MG_ACCESS_ST ||
                 (plan->counts && a->width == 4 && (a->kind == MG_ACCESS_RED || a->kind == MG_ACCESS_ATOM));
    if (a->space != MG_SPACE_SHARED || (a->mask != UINT32_MAX && (a->word || a->touched)) || a->width > 4 ||
        plan->changed || !plain || !w->launch->model->words_at_once)
        return false;
    struct mg_cost cost = {0, a->rows};
    if (a->touched) {
        cost.wavefronts = mg__model_touched(a->touched, a->rows);
    } else if (a->rows > 1) {
        return false;
    } else if (a->word) {
        cost.wavefronts = mg__model_warp_near(a->word, a->reach);
    } else {
        mg__access_lanes(a);
        cost.wavefronts = mg__model_warp_words(a->mask, a->address);
    }
    if (cost.wavefronts)
        add_shared(w, a, a->kind, cost, 1, &w->insns[a->insn]);
    return cost.wavefronts != 0;
}

static void add_global(enum mg_access_kind kind, struct mg_global_cost cost, uint64_t times, struct tally *t)
{
    static const uint8_t operation[] = {
        [MG_ACCESS_LD] = 0, [MG_ACCESS_ST] = 1, [MG_ACCESS_RED] = 2, [MG_ACCESS_ATOM] = 3, [MG_ACCESS_CP_ASYNC] = 0};
    if (kind >= MG_COUNT(operation))
        return;
    t->requests[operation[kind]] += times;
    t->moved[operation[kind]] += cost.moved * times;
    t->sectors += cost.touched * times;
    t->sectors_ideal += cost.ideal * times;
}

static void count_global(const struct worker *w, const struct mg_model_access *a, const struct mg_ptx_insn *insn,
                         uint64_t times, struct tally *t)
{
    bool atomic = a->kind == MG_ACCESS_RED || a->kind == MG_ACCESS_ATOM;
    uint64_t origin = atomic && a->mask ? mg__model_origin(w->launch->info, a->address[__builtin_ctz(a->mask)]) : 0;
    add_global(a->kind, mg__model_access_global(w->launch->model->arch, insn, a, origin), times, t);
}

/* Bulk copies: what belongs to one line of 128 bytes of shared memory is fetched or sent at once, and the sectors of
 * each such part are counted. */
static uint64_t bulk_sectors(const struct mg_arch *arch, uint64_t at, uint64_t shared, uint32_t width)
{
    uint64_t sectors = 0, part = arch->line_bytes - shared % arch->line_bytes;
    for (uint64_t end = at + width; at < end; at += part, part = arch->line_bytes) {
        const uint64_t last = MG_MIN(at + part, end) - 1;
        sectors += last / arch->sector_bytes - at / arch->sector_bytes + 1;
    }
    return sectors;
}

static void add_far(struct tally *t, enum mg_model_far kind, unsigned blocks, struct mg_far_cost cost)
{
    t->far[kind] += blocks;
    t->far_sectors[kind] += cost.sectors;
    t->far_sent += cost.sent;
}

static void count_far(struct worker *w, struct mg_access *a, const struct mg_ptx_insn *insn)
{
    const bool tells = mg__ptx_isa((enum mg_ptx_opcode)insn->opcode)->group == MG_G_MBARRIER;
    const enum mg_model_far kind = tells && insn->atomop != MG_ATOM_NONE ? MG_FAR_REDAS
                                   : tells                               ? MG_FAR_STAS
                                   : a->kind == MG_ACCESS_LD             ? MG_FAR_LD
                                   : a->kind == MG_ACCESS_ST             ? MG_FAR_ST
                                                                         : MG_FAR_ATOM;
    mg__access_lanes(a);
    add_far(&w->insns[a->insn], kind, a->far,
            mg__model_far(w->launch->model->arch, kind, a->width, a->mask, a->address));
}

static struct mg_far_cost copy_cost(const struct mg_arch *arch, const struct mg_access *a)
{
    const uint64_t at = a->address[__builtin_ctz(a->mask)];
    const uint32_t sectors = (uint32_t)bulk_sectors(arch, at, at, a->width);
    return (struct mg_far_cost){sectors, sectors};
}

static void count_bulk(struct worker *w, const struct mg_access *a, const struct mg_ptx_insn *insn)
{
    const struct mg_arch *arch = w->launch->model->arch;
    const unsigned op = a->kind == MG_ACCESS_BULK_LD ? 0 : insn->atomop != MG_ATOM_NONE ? 2 : 1;
    if (a->space != MG_SPACE_GLOBAL) {
        if (op == 1 && insn->space2 == MG_SPACE_SHARED) /* from one block's shared memory to another's */
            add_far(&w->insns[a->insn], MG_FAR_COPY, 1, copy_cost(arch, a));
        return;
    }
    const uint64_t at = a->address[__builtin_ctz(a->mask)];
    /* As a rule all lines begin alike. */
    const bool same = a->apart % arch->sector_bytes == 0 && a->pitch % arch->line_bytes == 0;
    for (uint32_t k = 0; k < a->lines; k++) {
        w->insns[a->insn].bulk[op] +=
            bulk_sectors(arch, at + k * a->apart, a->base + (uint64_t)k * a->pitch, a->width) * (same ? a->lines : 1);
        if (same)
            break;
    }
}

/* A row of an access no wider than a sector, by the operation's number. */
static void add_sectors(const struct worker *w, const struct mg_access *a, uint32_t row, unsigned op, uint32_t sectors)
{
    const unsigned sector = w->launch->model->arch->sector_bytes;
    const uint32_t least = (mg__model_bytes(a->width, a->masks[row]) + sector - 1) / sector;
    struct tally *t = &w->insns[a->insn];
    t->requests[op]++;
    t->moved[op] += sectors;
    t->sectors += sectors;
    t->sectors_ideal += MG_MIN(least, sectors);
}

/* Rows of loads or of stores that are made as they are written; false: one by one. */
static bool count_rows(struct worker *w, const struct mg_access *a)
{
    const struct mg_model_plan *plan = &w->launch->kernel->made->plans[a->insn];
    const struct mg_arch *arch = w->launch->model->arch;
    const bool load = a->kind == MG_ACCESS_LD;
    struct tally *t = &w->insns[a->insn];
    if (!a->offset || plan->changed || plan->lanes != MG_MODEL_ALL_LANES || (!load && a->kind != MG_ACCESS_ST))
        return false;
    if (a->space == MG_SPACE_SHARED) {
        struct mg_cost cost = {0, a->rows};
        if (w->launch->model->words_at_once && a->width <= 4)
            cost.wavefronts = (uint32_t)mg__model_rows_words(a->masks, a->offset, a->rows);
        else if (w->launch->model->words_at_once && a->width == 8)
            cost = mg__model_rows_doubles(a->masks, a->offset, a->rows, load);
        if (!cost.wavefronts)
            return false;
        add_shared(w, a, a->kind, cost, a->rows, t);
    } else if (a->space == MG_SPACE_GLOBAL && a->width <= arch->sector_bytes) {
        for (uint32_t r = 0; r < a->rows; r++)
            add_sectors(w, a, r, load ? 0 : 1, mg__model_row_sectors(arch, a->masks[r], a->offset[r]));
    } else {
        return false;
    }
    return true;
}

static void count_row(struct worker *w, struct mg_access *a, uint32_t row)
{
    const struct mg_ptx_insn *insn = w->launch->info->insns[a->insn].insn;
    struct tally *t = &w->insns[a->insn];
    const struct mg_model_plan *plan = &w->launch->kernel->made->plans[a->insn];
    struct mg_model_access as;
    mg__access_row(a, row);
    bool more = mg__model_as_made(plan, a, true, &as);
    for (bool second = false; more; more = !second && mg__model_as_second(plan, &as), second = true) {
        struct mg_cost shared;
        struct mg_global_cost global;
        const bool copied =
            mg__model_copied(&w->copies, w->launch->model->arch, w->launch->info, a, &as, &shared, &global);
        if (a->space == MG_SPACE_SHARED)
            add_shared(w, a, as.kind, copied ? shared : mg__model_access_shared(w->launch->model->arch, insn, &as), 1,
                       t);
        else if (a->space == MG_SPACE_GLOBAL && copied)
            add_global(as.kind, global, a->times, t);
        else if (a->space == MG_SPACE_GLOBAL)
            count_global(w, &as, insn, a->times, t);
    }
}

/* Rows of atomics: most have no lane that waits for another one, and then it does not matter which of them are made
 * one. */
static bool count_atomics(struct worker *w, struct mg_access *a)
{
    const struct mg_model_plan *plan = &w->launch->kernel->made->plans[a->insn];
    const struct mg_arch *arch = w->launch->model->arch;
    const unsigned op = mg__model_kind(plan, a) == MG_ACCESS_RED ? 2 : 3;
    if (!a->offset || plan->changed || a->space != MG_SPACE_GLOBAL || a->width > arch->sector_bytes ||
        (a->kind != MG_ACCESS_ATOM && a->kind != MG_ACCESS_RED))
        return false;
    const uint64_t origin = mg__model_origin(w->launch->info, a->base + a->offset[0][__builtin_ctz(a->masks[0])]);
    for (uint32_t r = 0; r < a->rows; r++) {
        const uint32_t sectors = mg__model_row_atomic(arch, a->masks[r], a->offset[r], a->base, origin);
        if (sectors)
            add_sectors(w, a, r, op, sectors);
        else
            count_row(w, a, r);
    }
    return true;
}

static void on_access(void *worker, struct mg_access *a)
{
    struct worker *w = worker;
    if (a->insn >= w->launch->info->ninsns)
        return;
    w->accessed[a->insn] = true;
    if (a->kind == MG_ACCESS_BULK_LD || a->kind == MG_ACCESS_BULK_ST) {
        count_bulk(w, a, w->launch->info->insns[a->insn].insn);
        return;
    }
    if (a->far) {
        count_far(w, a, w->launch->info->insns[a->insn].insn);
        return;
    }
    if (count_rows(w, a) || count_atomics(w, a) || count_words(w, a))
        return;
    for (uint32_t row = 0; row < a->rows; row++)
        count_row(w, a, row);
}

static void add_to_counts(struct mg_insn_counts *to, const struct mg_insn_counts *counts)
{
    to->warps += counts->warps;
    to->threads += counts->threads;
    to->divergent += counts->divergent;
}

static void add_counts(struct tally *t, const struct mg_insn_counts *counts)
{
    t->warps += counts->warps;
    t->threads += counts->threads;
    t->divergent += counts->divergent;
}

static void on_counts(void *worker, const struct mg_insn_counts *counts, uint32_t ninsns)
{
    struct worker *w = worker;
    const bool sampled = w->launch->info->sample;
    for (uint32_t i = 0; i < ninsns && i < w->launch->info->ninsns; i++) {
        if (!counts[i].warps && !counts[i].divergent)
            continue;
        if (!sampled)
            add_to_counts(&w->counts[i], &counts[i]);
        else if (w->unit != SIZE_MAX)
            add_counts(&w->insns[i], &counts[i]);
        if (sampled)
            add_counts(&w->executed[i], &counts[i]);
    }
}

static void add_matrix(struct mg_metrics *m, const struct tally *t, const struct mg_insn_info *at)
{
    struct mg_model_matrix what;
    if (!at->insn || !mg__model_matrix(at->insn, &what))
        return;
    m->v[MG_METRIC_TENSOR] += t->warps * what.instructions;
    m->v[what.pipe] += t->warps * what.instructions;
    m->v[what.kind] += t->warps * what.operations;
    if (what.wgmma) {
        const uint64_t wavefronts = mg__model_wgmma_wavefronts(at->func, at->insn, t->warps);
        m->v[MG_METRIC_TENSOR_GMMA] += t->warps;
        m->v[MG_METRIC_WAVEFRONTS_SHARED] += wavefronts;
        m->v[MG_METRIC_WAVEFRONTS_SHARED_IDEAL] += wavefronts;
    }
}

/* What st.async stores counts with the stores. */
static const struct {
    enum mg_metric instructions, sectors;
} far_metric[MG_FAR_KINDS] = {
    [MG_FAR_LD] = {MG_METRIC_INST_FAR_LD, MG_METRIC_SECTORS_FAR_LD},
    [MG_FAR_ST] = {MG_METRIC_INST_FAR_ST, MG_METRIC_SECTORS_FAR_ST},
    [MG_FAR_ATOM] = {MG_METRIC_INST_FAR_ATOM, MG_METRIC_SECTORS_FAR_ATOM},
    [MG_FAR_STAS] = {MG_METRIC_INST_FAR_STAS, MG_METRIC_SECTORS_FAR_ST},
    [MG_FAR_REDAS] = {MG_METRIC_INST_FAR_REDAS, MG_METRIC_SECTORS_FAR_REDAS},
    [MG_FAR_COPY] = {MG_METRIC_INST_FAR_COPY, MG_METRIC_SECTORS_FAR_COPY},
};

/* Four at a time: every launch asks this of each of its instructions. */
static bool any_of(const struct tally *t, size_t bytes)
{
    const uint64_t *v = (const uint64_t *)t;
    uint64_t bits[4] = {0};
    size_t i = 0;
    for (; i + 4 <= bytes / sizeof(*v); i += 4)
        for (size_t k = 0; k < 4; k++)
            bits[k] |= v[i + k];
    for (; i < bytes / sizeof(*v); i++)
        bits[0] |= v[i];
    return bits[0] | bits[1] | bits[2] | bits[3];
}

/* Whether there is more than times executed: most instructions access no memory. */
static bool accesses(const struct tally *t)
{
    return any_of(t, offsetof(struct tally, warps));
}

static void add_executed(struct mg_metrics *m, const struct tally *t, const struct mg_ptx_insn *insn)
{
    m->v[MG_METRIC_INST] += t->warps;
    m->v[MG_METRIC_THREAD_INST] += t->threads;
    if (insn && mg__ptx_branches(insn)) {
        m->v[MG_METRIC_BRANCHES] += t->warps;
        m->v[MG_METRIC_DIVERGENT] += t->divergent;
    }
}

static void add_to_metrics(struct mg_metrics *m, const struct tally *t, const struct mg_ptx_insn *insn)
{
    add_executed(m, t, insn);
    if (!accesses(t))
        return;
    m->v[MG_METRIC_WAVEFRONTS_SHARED] += t->wavefronts;
    m->v[MG_METRIC_WAVEFRONTS_SHARED_IDEAL] += t->ideal;
    m->v[insn && insn->opcode == MG_OP_LDMATRIX ? MG_METRIC_INST_LDMATRIX : MG_METRIC_INST_SHARED_LD] += t->shared_ld;
    m->v[MG_METRIC_INST_SHARED_ST] += insn && insn->opcode == MG_OP_STMATRIX ? 0 : t->shared_st;
    m->v[MG_METRIC_SECTORS_GLOBAL] += t->sectors;
    m->v[MG_METRIC_SECTORS_GLOBAL_IDEAL] += t->sectors_ideal;
    m->v[MG_METRIC_REQUESTS_LD] += t->requests[0];
    m->v[MG_METRIC_REQUESTS_ST] += t->requests[1];
    m->v[MG_METRIC_REQUESTS_RED] += t->requests[2];
    m->v[MG_METRIC_REQUESTS_ATOM] += t->requests[3];
    m->v[MG_METRIC_SECTORS_LD] += t->moved[0];
    m->v[MG_METRIC_SECTORS_ST] += t->moved[1];
    m->v[MG_METRIC_SECTORS_RED] += t->moved[2];
    m->v[MG_METRIC_SECTORS_ATOM] += t->moved[3];
    for (unsigned k = 0; k < MG_FAR_KINDS; k++) {
        m->v[far_metric[k].instructions] += t->far[k];
        m->v[far_metric[k].sectors] += t->far_sectors[k];
    }
    m->v[MG_METRIC_SECTORS_FAR] += t->far_sent;
    m->v[MG_METRIC_SECTORS_BULK_LD] += t->bulk[0];
    m->v[MG_METRIC_SECTORS_BULK_ST] += t->bulk[1];
    m->v[MG_METRIC_SECTORS_BULK_RED] += t->bulk[2];
}

static bool any(const struct tally *t)
{
    return t->warps || any_of(t, sizeof(*t));
}

/* ---- units of a launch with a sample ---- */
/* The unit that ran is over, or parked. */
static void on_unit(void *worker, size_t unit)
{
    struct worker *w = worker;
    const struct mg_launch_info *info = w->launch->info;
    if (w->unit != SIZE_MAX) {
        const uint64_t weight = mg__model_weight(info->sample, w->unit);
        struct mg_model_unit is = {.unit = w->unit};
        for (uint32_t i = 0; i < info->ninsns; i++) {
            struct tally *t = &w->insns[i];
            if (!any(t))
                continue;
            add_to_metrics(&is.metrics, t, info->insns[i].insn);
            add_matrix(&is.metrics, t, &info->insns[i]);
            tally_add_times(&w->weighted_insns[i], t, weight);
            *t = (struct tally){0};
        }
        for (uint32_t i = 0; i < info->nshared_vars; i++) {
            tally_add_times(&w->weighted_vars[i], &w->vars[i], weight);
            w->vars[i] = (struct tally){0};
        }
        w->lost |= !mg__vec_push(&w->units, is);
    }
    w->unit = unit;
}

static void worker_end(void *state, void *worker)
{
    struct launch *l = state;
    struct worker *w = worker;
    const bool sampled = l->info->sample;
    struct tally **insns = sampled ? &w->weighted_insns : &w->insns;
    for (uint32_t i = 0; l->insns && i < l->info->ninsns; i++) {
        if (sampled || w->accessed[i])
            tally_add(&l->insns[i], &(*insns)[i]);
        l->accessed[i] |= w->accessed[i];
        add_to_counts(&l->counts[i], &w->counts[i]);
    }
    if (!l->insns) {
        l->insns = *insns;
        l->counts = w->counts;
        l->accessed = w->accessed;
        *insns = NULL;
        w->counts = NULL;
        w->accessed = NULL;
    }
    for (uint32_t i = 0; sampled && i < l->info->ninsns; i++)
        tally_add(&l->executed[i], &w->executed[i]);
    for (uint32_t i = 0; i < l->info->nshared_vars; i++)
        tally_add(&l->vars[i], sampled ? &w->weighted_vars[i] : &w->vars[i]);
    for (size_t i = 0; i < w->units.count; i++)
        w->lost |= !mg__vec_push(&l->units, w->units.at[i]);
    l->lost |= w->lost;
    free_worker(w);
}

static void scale_tally(struct tally *t, double scale)
{
    uint64_t *v = (uint64_t *)t;
    for (size_t i = 0; i < sizeof(*t) / sizeof(*v); i++)
        v[i] = (uint64_t)((double)v[i] * scale + 0.5);
}

/* Sums by weights become estimates of the whole launch. */
static void estimate(struct launch *l, struct mg_report_sample *r)
{
    const struct mg_launch_info *info = l->info;
    const struct mg_sample *s = info->sample;
    const size_t n = mg__model_units_join(l->units.at, l->units.count);
    uint64_t executed = 0;
    for (uint32_t i = 0; i < info->ninsns; i++)
        executed += l->executed[i].warps;
    const double scale = mg__model_scale(s, l->units.at, n, executed) / 2;
    for (uint32_t i = 0; i < info->ninsns; i++) {
        struct tally *t = &l->insns[i];
        scale_tally(t, scale);
        if (!s->left_out) {
            t->warps = l->executed[i].warps;
            t->threads = l->executed[i].threads;
            t->divergent = l->executed[i].divergent;
        }
    }
    for (uint32_t i = 0; i < info->nshared_vars; i++)
        scale_tally(&l->vars[i], scale);
    r->blocks = (uint64_t)info->grid.x * info->grid.y * info->grid.z;
    r->counted = r->blocks / s->units * n;
    r->left_out = s->left_out;
    mg__model_intervals(s, l->units.at, n, executed, r->half);
}

/* ---- the record ---- */
/* "reduce(float*)::tile" -> "tile": the last name outside of brackets. */
static const char *short_name(const char *name)
{
    const char *start = name;
    int depth = 0;
    for (const char *p = name; *p; p++) {
        depth += *p == '<' || *p == '(';
        depth -= (*p == '>' || *p == ')') && depth > 0;
        if (!depth && p[0] == ':' && p[1] == ':')
            start = p + 2;
    }
    return *start ? start : name;
}

/* Counts an instruction as the hardware makes it: one that another carries is none. */
static void add_written(struct mg_report_written *w, const struct mg_model_plan *plan, const struct mg_ptx_insn *insn)
{
    if (!insn || (plan->changed && !plan->width) ||
        (insn->space != MG_SPACE_GLOBAL && insn->space != MG_SPACE_SHARED && insn->space != MG_SPACE_GENERIC))
        return;
    switch (insn->access) {
    case MG_ACCESSES_LOAD:
        w->loads += plan->second ? 2 : 1;
        break;
    case MG_ACCESSES_STORE:
        w->stores++;
        break;
    case MG_ACCESSES_ATOM:
    case MG_ACCESSES_RED:
        if (insn->space != MG_SPACE_GLOBAL)
            return;
        w->atomics++;
        break;
    default:
        return;
    }
    w->guarded += insn->guard >= 0;
}

static bool fold_lines(const struct launch *l, struct mg_report_launch *r)
{
    const struct mg_launch_info *info = l->info;
    const struct mg_insn_info **order = l->kernel->order;
    r->lines = calloc((size_t)l->kernel->nlines + 1, sizeof(*r->lines));
    if (!r->lines)
        return false;
    for (uint32_t i = 0; i < info->ninsns; i++) {
        const char *file = order[i]->file ? order[i]->file : "";
        struct mg_report_line *line = r->nlines ? &r->lines[r->nlines - 1] : NULL;
        if (!line || line->line != order[i]->line || (line->file != file && strcmp(line->file, file))) {
            line = &r->lines[r->nlines++];
            line->file = file;
            line->line = order[i]->line;
        }
        const struct tally *t = &l->insns[order[i] - info->insns];
        add_written(&line->written, &l->kernel->made->plans[order[i] - info->insns], order[i]->insn);
        if (!any(t))
            continue;
        if (l->accessed && !l->accessed[order[i] - info->insns])
            add_executed(&line->metrics, t, order[i]->insn);
        else
            add_to_metrics(&line->metrics, t, order[i]->insn);
        add_matrix(&line->metrics, t, order[i]);
    }
    for (size_t i = 0; i < r->nlines; i++) /* sums all, up to here */
        for (unsigned m = 0; m < MG_METRIC_COUNT; m++)
            r->metrics.v[m] += r->lines[i].metrics.v[m];
    return true;
}

static bool fold_vars(const struct launch *l, struct mg_report_launch *r)
{
    const struct mg_launch_info *info = l->info;
    r->vars = calloc((size_t)info->nshared_vars + 1, sizeof(*r->vars));
    if (!r->vars)
        return false;
    r->nvars = info->nshared_vars;
    for (uint32_t i = 0; i < info->nshared_vars; i++) {
        const struct mg_shared_var *v = &info->shared_vars[i];
        r->vars[i].name = i < l->kernel->nvars ? short_name(l->kernel->vars[i]) : v->name;
        r->vars[i].offset = v->offset;
        r->vars[i].size = v->size;
        add_to_metrics(&r->vars[i].metrics, &l->vars[i], NULL);
    }
    return true;
}

static uint32_t waits_of(uint32_t waits)
{
    return (waits & MG_WAITED_POLLING ? MG_REPORT_POLLING : 0u) | (waits & MG_WAITED_PARKED ? MG_REPORT_PARKED : 0u) |
           (waits & MG_WAITED_APART ? MG_REPORT_APART : 0u) | (waits & MG_WAITED_SWAP ? MG_REPORT_SWAP : 0u);
}

static void launch_end(void *state, enum mg_status status)
{
    struct launch *l = state;
    if (!l)
        return;
    const struct mg_launch_info *info = l->info;
    struct mg_report_sample sample = {0};
    if (!l->insns) /* no worker has begun */
        l->insns = calloc((size_t)info->ninsns + 1, sizeof(*l->insns));
    l->lost |= !l->insns;
    for (uint32_t i = 0; l->counts && i < info->ninsns; i++)
        add_counts(&l->insns[i], &l->counts[i]);
    if (info->sample && !l->lost)
        estimate(l, &sample);
    struct mg_report_launch r = {
        .kernel = l->kernel->name,
        .mangled = info->kernel,
        .grid = info->grid,
        .block = info->block,
        .shared_static = info->shared_static,
        .shared_dynamic = info->shared_dynamic,
        .status = status,
        .waits = waits_of(info->waits),
        .sample = info->sample ? &sample : NULL,
    };
    if (!l->lost && fold_lines(l, &r) && fold_vars(l, &r)) {
        r.metrics.v[MG_METRIC_SHARED_STATIC] = info->shared_static;
        r.metrics.v[MG_METRIC_SHARED_DYNAMIC] = info->shared_dynamic;
        l->model->done(l->model->arg, &r);
    }
    free(r.lines);
    free(r.vars);
    free(l->model->last);
    l->model->last = l->insns;
    l->model->nlast = info->ninsns;
    l->insns = NULL;
    free_launch(l);
}

/* ---- public ---- */
static bool power_of_two(unsigned n)
{
    return n && !(n & (n - 1));
}

enum mg_status mg__model_create(const struct mg_arch *arch, void (*done)(void *arg, struct mg_report_launch *launch),
                                void *arg, struct mg_model **model)
{
    *model = NULL;
    if (!power_of_two(arch->banks) || arch->banks > MG_MODEL_BANKS || !power_of_two(arch->bank_bytes) ||
        !power_of_two(arch->sector_bytes) || arch->sector_bytes > 32 || !power_of_two(arch->line_bytes) ||
        arch->line_bytes > MG_MODEL_LINE || arch->line_bytes / 8 > arch->sector_bytes)
        return MG_ERR_INVALID;
    *model = calloc(1, sizeof(**model));
    if (!*model)
        return MG_ERR_NOMEM;
    (*model)->done = done;
    (*model)->arg = arg;
    (*model)->arch = arch;
    (*model)->words_at_once = arch->banks == 32 && arch->bank_bytes == 4;
    return MG_OK;
}

void mg__model_destroy(struct mg_model *model)
{
    if (model) {
        mg__model_kernels_free(model->kernels);
        free(model->last);
    }
    free(model);
}

bool mg__model_counted(const struct mg_model *model, uint32_t insn, struct mg_model_counted *counted)
{
    if (!model->last || insn >= model->nlast)
        return false;
    const struct tally *t = &model->last[insn];
    *counted = (struct mg_model_counted){
        .wavefronts = t->wavefronts, .ideal = t->ideal, .sectors = t->sectors, .sectors_ideal = t->sectors_ideal};
    for (unsigned op = 0; op < MG_COUNT(t->bulk); op++)
        counted->bulk += t->bulk[op];
    for (unsigned op = 0; op < MG_COUNT(t->moved); op++) {
        counted->requests += t->requests[op];
        counted->moved += t->moved[op];
    }
    return true;
}

struct mg_observer mg__model_observer(struct mg_model *model)
{
    return (struct mg_observer){
        .self = model,
        .wants = MG_OBSERVE_SHAPES | MG_OBSERVE_COUNTS | MG_OBSERVE_BULK | MG_OBSERVE_FAR | MG_OBSERVE_UNITS,
        .launch_begin = launch_begin,
        .worker_begin = worker_begin,
        .access = on_access,
        .counts = on_counts,
        .unit = on_unit,
        .worker_end = worker_end,
        .launch_end = launch_end,
    };
}
