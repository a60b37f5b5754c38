/* observe.c - the observer: of every instruction the worst access that any warp made, and what a warp has in flight.
 *
 * The worst is the one with the most wavefronts or sectors above its ideal; of several the one with more lanes, and
 * then the first in the order of their contents, so that the same is found for any number of workers. Of global memory
 * only distances are looked at: where device memory lies differs from run to run. An access is taken as the machine
 * code makes it. Asynchronous copies are followed in the first block alone.
 *
 * Most accesses are met again and again: what one cost is remembered by its pattern and where it begins, and one that
 * is met again is added and not looked at, since it cannot be worse than itself.
 *
 * What is not shown: bulk copies (one lane asks for all), and shared memory of other blocks of a cluster.
 */
#include "picture/picture.h"

#include "model/model.h"
#include "ptx/ptx.h"

#include <stdlib.h>

enum { SPACES = 2, MOST_WARPS = 32, MOST_IN_FLIGHT = 64, WIDEST = 32 }; /* bytes a lane; more is a bulk copy */
enum { SHARED, GLOBAL };

struct worst { /* of an instruction in one space */
    uint64_t count, taken, ideal;
    struct mg_report_cost cost;
    struct mg_picture_lanes as;
    int32_t var;
    uint32_t width, mask;
    uint64_t lanes[32]; /* 0 in idle ones */
};
struct flight { /* of a warp of the first block */
    struct {
        uint32_t insn;
        bool wait;
        uint64_t bytes;
        uint32_t pending;
    } steps[MG_PICTURE_STEPS];
    uint64_t nsteps, open; /* asked for and not committed, bytes */
    uint32_t pending;
    bool used;
};
struct mg_pictures {
    const struct mg_arch *arch;
    void (*done)(void *arg, struct mg_report_picture *picture);
    void *arg;
    struct mg_arena arena; /* of the keys */
    struct mg_strtab seen; /* kernels and shapes that were drawn */
};
struct launch {
    struct mg_pictures *pictures;
    const struct mg_launch_info *info;
    struct mg_model_made *made;
    struct worst **at;      /* by instruction and space */
    uint64_t *warps;        /* by instruction */
    struct flight *flights; /* by warp; the one worker that runs the first block writes here */
    bool failed;
};
enum { KNOWN = 128, KNOWN_SHIFT = 32 - 7 };
struct known { /* what an access cost that was met before; taken 0: it is none of its own */
    const struct mg_pattern *pattern;
    uint64_t base;
    int32_t var;
    uint32_t taken, ideal;
};
struct worker {
    struct launch *launch;
    struct worst **at;
    struct known **known; /* likewise, KNOWN each, where its place is found by a hash of pattern and base */
    uint64_t *warps;
    bool failed;
};

/* ---- launch ---- */
static void free_all(struct worst **at, uint32_t ninsns)
{
    for (uint32_t i = 0; at && i < ninsns * SPACES; i++)
        free(at[i]);
    free(at);
}

static void free_worker(struct worker *w)
{
    uint32_t ninsns = w->launch->info->ninsns;
    free_all(w->at, ninsns);
    for (uint32_t i = 0; w->known && i < ninsns * SPACES; i++)
        free(w->known[i]);
    free(w->known);
    free(w->warps);
    free(w);
}

static void free_launch(struct launch *l)
{
    free_all(l->at, l->info->ninsns);
    mg__model_made_free(l->made);
    free(l->warps);
    free(l->flights);
    free(l);
}

static enum mg_status launch_begin(void *self, const struct mg_launch_info *info, unsigned workers, void **state)
{
    (void)workers;
    struct launch *l = calloc(1, sizeof(*l));
    *state = NULL;
    if (!l)
        return MG_ERR_NOMEM;
    l->pictures = self;
    l->info = info;
    l->made = mg__model_made_create(info);
    l->at = calloc((size_t)info->ninsns * SPACES + 1, sizeof(struct worst *));
    l->warps = calloc((size_t)info->ninsns + 1, sizeof(*l->warps));
    l->flights = calloc(MOST_WARPS, sizeof(*l->flights));
    if (l->made && l->at && l->warps && l->flights) {
        *state = l;
        return MG_OK;
    }
    free_launch(l);
    return MG_ERR_NOMEM;
}

/* ---- worker ---- */
static void *worker_begin(void *state, unsigned worker)
{
    (void)worker;
    struct launch *l = state;
    struct worker *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->launch = l;
    w->at = calloc((size_t)l->info->ninsns * SPACES + 1, sizeof(struct worst *));
    w->known = calloc((size_t)l->info->ninsns * SPACES + 1, sizeof(struct known *));
    w->warps = calloc((size_t)l->info->ninsns + 1, sizeof(*w->warps));
    if (w->at && w->known && w->warps)
        return w;
    free_worker(w);
    return NULL;
}

/* Where lanes go: of shared memory their offsets, of global their distances from the line that the first of them is in.
 */
static void set_lanes(struct worst *to, const struct mg_arch *arch, unsigned space, const uint64_t address[32])
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < 32; i++)
        if (to->mask >> i & 1)
            least = MG_MIN(least, address[i]);
    uint64_t base = space == SHARED ? 0 : least & ~(uint64_t)(arch->line_bytes - 1);
    for (unsigned i = 0; i < 32; i++)
        to->lanes[i] = to->mask >> i & 1 ? address[i] - base : 0;
}

static uint32_t excess(const struct worst *w)
{
    return w->cost.taken > w->cost.ideal ? w->cost.taken - w->cost.ideal : 0;
}

/* Whether `a` is worse than `b`: a total order of what they hold. */
static bool is_worse(const struct worst *a, const struct worst *b)
{
    int lanes = __builtin_popcount(a->mask) - __builtin_popcount(b->mask);
    if (excess(a) != excess(b))
        return excess(a) > excess(b);
    if (lanes)
        return lanes > 0;
    if (a->mask != b->mask)
        return a->mask < b->mask;
    if (a->width != b->width)
        return a->width > b->width;
    for (unsigned i = 0; i < 32; i++)
        if (a->lanes[i] != b->lanes[i])
            return a->lanes[i] < b->lanes[i];
    return a->var < b->var;
}

static void note_copy(struct worker *w, const struct mg_access *a)
{
    if (a->block || a->warp >= MOST_WARPS)
        return;
    w->launch->flights[a->warp].open += (uint64_t)__builtin_popcount(a->mask) * a->width;
}

/* Where it is remembered what such an access cost, and whether it is known yet; NULL: it has no pattern, or its cost
 * depends on more than that (an atomic's in global memory on which lines they are). */
static struct known *remembered(struct worker *w, const struct mg_access *a, unsigned space, bool *found)
{
    bool by_line = space == GLOBAL && (a->kind == MG_ACCESS_ATOM || a->kind == MG_ACCESS_RED);
    struct known **of = &w->known[a->insn * SPACES + space];
    *found = false;
    if (!a->pattern || by_line)
        return NULL;
    if (!*of)
        *of = calloc(KNOWN, sizeof(**of));
    if (!*of)
        return NULL; /* it is a shortcut only */
    uint64_t base = space == GLOBAL ? a->base & (w->launch->pictures->arch->line_bytes - 1) : a->base;
    uint32_t hash = ((uint32_t)base / 4 * 0x9E3779B1u) ^ (a->pattern->id * 0x85EBCA6Bu);
    struct known *k = &(*of)[hash >> KNOWN_SHIFT];
    *found = k->pattern == a->pattern && k->base == base && k->var == a->shared_var;
    if (!*found)
        *k = (struct known){.pattern = a->pattern, .base = base, .var = a->shared_var};
    return k;
}

/* The access as the machine code makes it, with its cost. False: it makes none of its own. */
static bool look(const struct launch *l, struct mg_access *a, unsigned space, struct worst *now)
{
    const struct mg_arch *arch = l->pictures->arch;
    struct mg_model_access as;
    mg__access_lanes(a);
    if (!mg__model_made_access(l->made, a, true, &as))
        return false;
    *now = (struct worst){
        .as = {as.cost, l->info->insns[a->insn].insn}, .var = a->shared_var, .width = as.width, .mask = as.mask};
    set_lanes(now, arch, space, as.address);
    if (space == SHARED) {
        const struct mg_report_access given = {.width = as.width, .mask = as.mask};
        mg__picture_cost(arch, &now->as, &given, as.address, &now->cost);
        if (as.other) { /* the other side counts, too, and there are no phases */
            now->cost.taken = mg__model_access_shared(arch, now->as.insn, &as).wavefronts;
            now->cost.nphases = 0;
        }
    } else {
        uint64_t origin = mg__model_origin(l->info, as.address[__builtin_ctz(as.mask)]);
        struct mg_global_cost c = mg__model_access_global(arch, now->as.insn, &as, origin);
        now->cost.taken = c.touched;
        now->cost.ideal = c.ideal;
    }
    return now->cost.taken > 0;
}

static void add(struct worst *to, uint32_t taken, uint32_t ideal, uint64_t times)
{
    to->taken += taken * times;
    to->ideal += ideal * times;
    to->count += times;
}

static void on_access(void *worker, struct mg_access *a)
{
    struct worker *w = worker;
    const struct launch *l = w->launch;
    if (a->width > WIDEST || a->insn >= l->info->ninsns || (a->space != MG_SPACE_SHARED && a->space != MG_SPACE_GLOBAL))
        return;
    unsigned space = a->space == MG_SPACE_SHARED ? SHARED : GLOBAL;
    struct worst **at = &w->at[a->insn * SPACES + space], *have = *at, now;
    bool found;
    if (a->kind == MG_ACCESS_CP_ASYNC && space == SHARED)
        note_copy(w, a);
    struct known *known = remembered(w, a, space, &found);
    if (found) {
        if (known->taken)
            add(have, known->taken, known->ideal, a->times);
        return;
    }
    if (!look(l, a, space, &now))
        return;
    if (!have) {
        have = *at = calloc(1, sizeof(*have));
        w->failed |= !have;
        if (!have)
            return;
    }
    if (known) {
        known->taken = now.cost.taken;
        known->ideal = now.cost.ideal;
    }
    add(have, now.cost.taken, now.cost.ideal, a->times);
    now.count = have->count;
    now.taken = have->taken;
    now.ideal = have->ideal;
    if (have->count == a->times || is_worse(&now, have))
        *have = now;
}

static void on_sync(void *worker, const struct mg_sync *sync)
{
    struct worker *w = worker;
    if ((sync->kind != MG_SYNC_COPY_COMMIT && sync->kind != MG_SYNC_COPY_WAIT) || sync->block ||
        sync->warp >= MOST_WARPS)
        return;
    struct flight *f = &w->launch->flights[sync->warp];
    bool wait = sync->kind == MG_SYNC_COPY_WAIT;
    uint64_t bytes = wait ? 0 : f->open;
    if (wait && sync->count == ~0u) { /* of all, committed or not */
        f->pending = 0;
        f->open = 0;
    } else if (wait) {
        f->pending = MG_MIN(f->pending, sync->count);
    } else {
        f->pending = MG_MIN(f->pending + 1, (uint32_t)MOST_IN_FLIGHT);
        f->open = 0;
    }
    f->used |= bytes > 0;
    if (f->nsteps < MG_PICTURE_STEPS) {
        f->steps[f->nsteps].insn = sync->insn;
        f->steps[f->nsteps].wait = wait;
        f->steps[f->nsteps].bytes = bytes;
        f->steps[f->nsteps].pending = f->pending;
    }
    f->nsteps++;
}

static void on_counts(void *worker, const struct mg_insn_counts *counts, uint32_t ninsns)
{
    struct worker *w = worker;
    for (uint32_t i = 0; i < ninsns && i < w->launch->info->ninsns; i++)
        w->warps[i] += counts[i].warps;
}

static void join(struct worst **to, struct worst **from)
{
    struct worst *a = *to, *b = *from;
    if (!b)
        return;
    *from = NULL;
    if (!a) {
        *to = b;
        return;
    }
    uint64_t count = a->count + b->count, taken = a->taken + b->taken, ideal = a->ideal + b->ideal;
    if (is_worse(b, a))
        *a = *b;
    a->count = count;
    a->taken = taken;
    a->ideal = ideal;
    free(b);
}

static void worker_end(void *state, void *worker)
{
    struct launch *l = state;
    struct worker *w = worker;
    for (uint32_t i = 0; i < l->info->ninsns * SPACES; i++)
        join(&l->at[i], &w->at[i]);
    for (uint32_t i = 0; i < l->info->ninsns; i++)
        l->warps[i] += w->warps[i];
    l->failed |= w->failed;
    free_worker(w);
}

/* ---- the record ---- */
struct drawing {
    struct mg_arena arena;
    const struct launch *launch;
    struct mg_report_picture picture;
    struct mg_picture_lanes *as;    /* by access */
    struct mg_report_access *shown; /* the same, in the order of instructions */
};

static void place(const struct mg_launch_info *info, uint32_t insn, const char **file, uint32_t *line)
{
    *file = info->insns[insn].file ? info->insns[insn].file : "";
    *line = info->insns[insn].line;
}

static void name_variable(struct drawing *d, const struct worst *w, struct mg_report_access *a)
{
    const struct mg_launch_info *info = d->launch->info;
    a->variable = "";
    if (w->var < 0 || (uint32_t)w->var >= info->nshared_vars)
        return;
    const struct mg_shared_var *var = &info->shared_vars[w->var];
    char *name = mg__report_variable_name(var->name);
    const char *copy = name ? mg__arena_strdup(&d->arena, name) : NULL;
    free(name);
    a->variable = copy ? copy : "";
    a->offset = var->offset;
    a->size = var->size;
}

static bool add_accesses(struct drawing *d)
{
    static const char *const operation[] = {[MG_ACCESS_LD] = "load",
                                            [MG_ACCESS_ST] = "store",
                                            [MG_ACCESS_ATOM] = "atomic",
                                            [MG_ACCESS_RED] = "atomic",
                                            [MG_ACCESS_CP_ASYNC] = "copy"};
    const struct launch *l = d->launch;
    size_t n = 0;
    for (uint32_t i = 0; i < l->info->ninsns * SPACES; i++)
        n += l->at[i] != NULL;
    d->shown = mg__arena_array(&d->arena, n + 1, sizeof(*d->shown));
    d->as = mg__arena_array(&d->arena, n + 1, sizeof(*d->as));
    if (!d->shown || !d->as)
        return false;
    for (uint32_t i = 0; i < l->info->ninsns * SPACES; i++) {
        const struct worst *w = l->at[i];
        if (!w)
            continue;
        struct mg_report_access *a = &d->shown[d->picture.naccesses];
        *a = (struct mg_report_access){.insn = i / SPACES,
                                       .count = w->count,
                                       .taken = w->taken,
                                       .ideal = w->ideal,
                                       .width = w->width,
                                       .mask = w->mask,
                                       .cost = w->cost};
        place(l->info, a->insn, &a->file, &a->line);
        a->space = i % SPACES == SHARED ? "shared" : "global";
        const struct mg_ptx_insn *insn = w->as.insn;
        unsigned kind = (unsigned)w->as.kind;
        if (insn && (insn->access == MG_ACCESSES_ATOM || insn->access == MG_ACCESSES_RED))
            kind = MG_ACCESS_ATOM; /* one that costs what a load does is an atomic all the same */
        a->operation = kind < MG_COUNT(operation) ? operation[kind] : "";
        memcpy(a->lanes, w->lanes, sizeof(a->lanes));
        name_variable(d, w, a);
        d->as[d->picture.naccesses++] = w->as;
    }
    return true;
}

static bool try_layouts(struct drawing *d)
{
    const struct launch *l = d->launch;
    size_t n = d->picture.naccesses;
    struct mg_report_access **of = mg__arena_array(&d->arena, n + 1, sizeof(struct mg_report_access *));
    struct mg_picture_lanes *as = mg__arena_array(&d->arena, n + 1, sizeof(*as));
    uint64_t taken = (uint64_t)l->info->shared_static + l->info->shared_dynamic,
             most = l->pictures->arch->shared_block_optin;
    if (!of || !as)
        return false;
    for (uint32_t v = 0; v < l->info->nshared_vars; v++) {
        const struct mg_shared_var *var = &l->info->shared_vars[v];
        unsigned count = 0;
        for (size_t i = 0; i < n; i++) {
            struct mg_report_access *a = &d->shown[i];
            if (strcmp(a->space, "shared") || !a->variable[0] || a->offset != var->offset || a->size != var->size)
                continue;
            of[count] = a;
            as[count++] = d->as[i];
        }
        mg__picture_layouts(l->pictures->arch, of, as, count, most > taken ? most - taken : 0);
    }
    return true;
}

static int worst_first(const void *left, const void *right)
{
    const struct mg_report_access *a = left, *b = right;
    uint64_t x = a->taken - MG_MIN(a->ideal, a->taken), y = b->taken - MG_MIN(b->ideal, b->taken);
    if (x != y)
        return x > y ? -1 : 1;
    if (a->taken != b->taken)
        return a->taken > b->taken ? -1 : 1;
    if (a->insn != b->insn)
        return a->insn < b->insn ? -1 : 1;
    return strcmp(b->space, a->space);
}

/* The function's instructions that branches go to; NULL: out of memory. */
static const bool *targets_of(struct drawing *d, const struct mg_ptx_func *func)
{
    bool *targets = mg__arena_array(&d->arena, func->ninsns + 1, sizeof(*targets));
    for (size_t i = 0; targets && i < func->noperands; i++)
        if (func->operands[i].kind == MG_OPND_LABEL)
            targets[func->operands[i].index] = true;
    for (size_t i = 0; targets && i < func->ntables; i++)
        for (size_t k = 0; func->tables[i].labels && k < func->tables[i].count; k++)
            targets[func->tables[i].labels[k]] = true;
    return targets;
}

/* With its label and its guard. */
static bool print(struct mg_strbuf *out, const struct mg_launch_info *info, const struct mg_insn_info *at,
                  const bool *targets)
{
    const struct mg_ptx_insn *insn = at->insn;
    size_t index = (size_t)(insn - at->func->insns);
    bool ok = !targets[index] || mg__strbuf_printf(out, "$L_%zu: ", index);
    if (ok && insn->guard >= 0)
        ok = mg__strbuf_printf(out, "@%s%s ", insn->guard_negate ? "!" : "", at->func->regs[insn->guard].name);
    return ok && mg__ptx_print_insn(info->module, at->func, insn, out);
}

static bool add_insns(struct drawing *d)
{
    const struct mg_launch_info *info = d->launch->info;
    const struct mg_ptx_func *func = NULL;
    const bool *targets = NULL;
    size_t n = MG_MIN(info->ninsns, (uint32_t)MG_PICTURE_INSNS);
    struct mg_report_picture *p = &d->picture;
    p->insns = mg__arena_array(&d->arena, n + 1, sizeof(*p->insns));
    p->insns_left_out = info->ninsns - n;
    for (size_t i = 0; p->insns && i < n; i++) {
        const struct mg_insn_info *at = &info->insns[i];
        struct mg_strbuf text = {0};
        p->insns[i].text = "";
        p->insns[i].warps = d->launch->warps[i];
        place(info, (uint32_t)i, &p->insns[i].file, &p->insns[i].line);
        if (!at->insn || !at->func)
            continue;
        if (at->func != func)
            targets = targets_of(d, func = at->func);
        bool ok = targets && print(&text, info, at, targets);
        p->insns[i].text = ok ? mg__arena_strdup(&d->arena, text.at) : NULL;
        mg__strbuf_free(&text);
        if (!p->insns[i].text)
            return false;
    }
    p->ninsns = n;
    return p->insns != NULL;
}

static bool add_steps(struct drawing *d)
{
    struct mg_report_picture *p = &d->picture;
    const struct flight *f = d->launch->flights;
    while (p->steps_warp < MOST_WARPS && !f[p->steps_warp].used)
        p->steps_warp++;
    if (p->steps_warp == MOST_WARPS) {
        p->steps_warp = 0;
        return true;
    }
    f += p->steps_warp;
    p->nsteps = MG_MIN(f->nsteps, (uint64_t)MG_PICTURE_STEPS);
    p->steps_left_out = f->nsteps - p->nsteps;
    p->steps = mg__arena_array(&d->arena, p->nsteps + 1, sizeof(*p->steps));
    for (size_t i = 0; p->steps && i < p->nsteps; i++) {
        p->steps[i] = (struct mg_report_step){.what = f->steps[i].wait ? "wait" : "commit",
                                              .file = "",
                                              .bytes = f->steps[i].bytes,
                                              .pending = f->steps[i].pending};
        if (f->steps[i].insn < d->launch->info->ninsns)
            place(d->launch->info, f->steps[i].insn, &p->steps[i].file, &p->steps[i].line);
    }
    return p->steps != NULL;
}

static void draw(const struct launch *l)
{
    const struct mg_launch_info *info = l->info;
    const struct mg_arch *arch = l->pictures->arch;
    struct drawing d = {.launch = l};
    mg__arena_init(&d.arena);
    d.picture = (struct mg_report_picture){.mangled = info->kernel,
                                           .grid = info->grid,
                                           .block = info->block,
                                           .shared_dynamic = info->shared_dynamic,
                                           .banks = arch->banks,
                                           .bank_bytes = arch->bank_bytes,
                                           .sector_bytes = arch->sector_bytes,
                                           .line_bytes = arch->line_bytes};
    if (add_accesses(&d) && try_layouts(&d) && add_insns(&d) && add_steps(&d)) {
        struct mg_report_picture *p = &d.picture;
        qsort(d.shown, p->naccesses, sizeof(*d.shown), worst_first);
        p->accesses = d.shown;
        p->accesses_left_out = p->naccesses - MG_MIN(p->naccesses, (size_t)MG_PICTURE_ACCESSES);
        p->naccesses -= p->accesses_left_out;
        for (size_t i = 0; i < p->naccesses; i++)
            if (p->accesses[i].insn >= p->ninsns)
                p->accesses[i].insn = ~0u;
        l->pictures->done(l->pictures->arg, p);
    }
    mg__arena_free(&d.arena);
}

static void launch_end(void *state, enum mg_status status)
{
    struct launch *l = state;
    (void)status; /* what a failed launch did until then is worth a picture */
    if (!l)
        return;
    if (!l->failed)
        draw(l);
    free_launch(l);
}

/* ---- public ---- */
enum mg_status mg__pictures_create(const struct mg_arch *arch,
                                   void (*done)(void *arg, struct mg_report_picture *picture), void *arg,
                                   struct mg_pictures **pictures)
{
    struct mg_pictures *p = *pictures = calloc(1, sizeof(*p));
    if (!p)
        return MG_ERR_NOMEM;
    p->arch = arch;
    p->done = done;
    p->arg = arg;
    mg__arena_init(&p->arena);
    mg__strtab_init(&p->seen, &p->arena);
    return MG_OK;
}

void mg__pictures_destroy(struct mg_pictures *p)
{
    if (p)
        mg__arena_free(&p->arena);
    free(p);
}

bool mg__pictures_wants(struct mg_pictures *p, const char *kernel, struct mg_dim3 grid, struct mg_dim3 block,
                        uint64_t shared)
{
    struct mg_strbuf key = {0};
    bool wanted = false;
    if (mg__strbuf_printf(&key, "%u %u %u %u %u %u %llu %s", grid.x, grid.y, grid.z, block.x, block.y, block.z,
                          (unsigned long long)shared, kernel) &&
        !mg__strtab_get(&p->seen, key.at, key.count))
        wanted = mg__strtab_put(&p->seen, key.at, key.count, p);
    mg__strbuf_free(&key);
    return wanted;
}

void mg__pictures_observer(struct mg_pictures *p, struct mg_observer *observer)
{
    *observer = (struct mg_observer){
        .self = p,
        .wants = MG_OBSERVE_EVERY | MG_OBSERVE_COUNTS | MG_OBSERVE_SYNC,
        .launch_begin = launch_begin,
        .worker_begin = worker_begin,
        .access = on_access,
        .sync = on_sync,
        .counts = on_counts,
        .worker_end = worker_end,
        .launch_end = launch_end,
    };
}
