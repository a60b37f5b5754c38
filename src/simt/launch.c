/* launch.c - a launch: its limits, what it needs, its turns, its end.
 *
 * A launch that is patient has turns: where it seems to wait for what is not its own (another launch, the host), or has
 * run for long, the turn ends, and another launch may have one meanwhile. What it holds stays as it is. It may begin no
 * more blocks than fit on the device beside those that others have there.
 *
 * A limit that devices enforce is mg_arch_launch_check's.
 */
#include <assert.h>

#include "simt/sched_priv.h"

/* ---- checks ---- */
static void set_cluster(const struct mg_simt_kernel *k, const struct mg_simt_launch *l, struct mg_launch_shape *shape)
{
    const uint32_t *c = k->func->reqnctapercluster;
    shape->cluster = l->cluster;
    shape->cluster_non_portable = l->cluster_non_portable;
    shape->cluster_compiled = (struct mg_dim3){c[0], c[1], c[2]};
    shape->cluster_wanted = k->func->explicitcluster;
    shape->cluster_most = k->func->maxclusterrank;
}

enum mg_launch_fault mg__simt_check(const struct mg_simt_kernel *k, const struct mg_simt_launch *l,
                                    struct mg_launch_shape *shape, struct mg_diag *diag)
{
    struct mg_diag why;
    memset(&why, 0, sizeof why);
    struct mg_occupancy_query q = l->compiled ? *l->compiled : mg_arch_query(0, 0, 0, 0);
    bool estimated = l->estimated || !q.regs;
    q.regs = q.regs ? q.regs : k->info.regs;
    q.shared_static = q.shared_static ? q.shared_static : k->info.shared_static;
    q.max_threads = q.max_threads ? q.max_threads : k->info.max_threads;
    q.shared_dynamic = l->shared;
    *shape = (struct mg_launch_shape){.grid = l->grid,
                                      .block = l->block,
                                      .kernel = q,
                                      .param_bytes = k->info.param_size,
                                      .cooperative = l->cooperative};
    set_cluster(k, l, shape);
    enum mg_launch_fault fault = mg_arch_launch_check(k->module->simt->arch, shape, &why);
    if (fault == MG_LAUNCH_REGISTERS && estimated) { /* it says how many blocks are resident, and refuses none */
        memset(&why, 0, sizeof why);
        shape->kernel.regs = 0;
        fault = mg_arch_launch_check(k->module->simt->arch, shape, &why);
    }
    if (fault) {
        bool dimensions = fault == MG_LAUNCH_ZERO || fault == MG_LAUNCH_GRID || fault == MG_LAUNCH_BLOCK;
        mg__diag_set(diag, dimensions ? MG_ERR_INVALID : MG_ERR_LAUNCH_LIMIT, "%s: %s", k->info.name, why.message);
        mg__diag_hint(diag, "%s", why.hint);
    }
    return fault;
}

static enum mg_status check_launch(const struct mg_simt_kernel *k, const struct mg_simt_launch *l, struct mg_diag *diag)
{
    struct mg_launch_shape shape;
    struct mg_diag why;
    memset(&why, 0, sizeof why);
    if (mg__simt_check(k, l, &shape, &why)) {
        if (diag)
            *diag = why;
        return why.status;
    }
    if (k->func->blocksareclusters) {
        mg__diag_set(diag, MG_ERR_UNSUPPORTED, "%s: grids of clusters (.blocksareclusters) are not simulated",
                     k->info.name);
        return MG_ERR_UNSUPPORTED;
    }
    return MG_OK;
}

/* ---- beginning ---- */
static unsigned observers_of(const struct mg_simt *s)
{
    unsigned end = MG_MIN(s->nobservers, s->observe_end);
    return s->observe && end > s->observe_first ? end - s->observe_first : 0;
}

/* `rest`: of the second part of a launch in two. */
static unsigned wants_of(const struct mg_simt *s, bool rest)
{
    unsigned wants = 0;
    for (unsigned i = 0; i < observers_of(s); i++) {
        const struct mg_observer *o = &s->observers[s->observe_first + i];
        wants |= rest ? mg__part_wants(o) : o->wants;
    }
    return wants;
}

/* What runs: for observers of every access, handlers that give them the accesses. */
static const struct mg_program *program_of(struct mg_simt_kernel *k, bool watched)
{
    if (!watched)
        return k->program;
    if (!k->watched)
        (void)mg__lower(k->module, k->func, true, &k->watched);
    return k->watched;
}

static void set_clusters(struct mg_run *run, const struct mg_simt_kernel *k)
{
    struct mg_launch_shape shape = {.grid = run->launch->grid};
    int named;
    set_cluster(k, run->launch, &shape);
    struct mg_dim3 c = mg_arch_cluster(&shape, &named);
    run->cluster = c;
    run->cluster_named = named;
    run->cluster_size = c.x * c.y * c.z;
    run->clusters = (struct mg_dim3){shape.grid.x / c.x, shape.grid.y / c.y, shape.grid.z / c.z};
    run->nclusters = (uint64_t)run->clusters.x * run->clusters.y * run->clusters.z;
}

static void set_memory(struct mg_run *run, const struct mg_simt_launch *l)
{
    const struct mg_program *p = run->program;
    uint32_t dynamic_at = (p->shared_static + p->dynamic_align - 1) / p->dynamic_align * p->dynamic_align;
    run->shared_total = l->shared ? dynamic_at + l->shared : p->shared_static;
    /* The system's part, which cooperative groups of several warps meet in: a device has it in front of all variables,
     * and here they begin at 0. It is all zeros when a block begins. */
    run->shared_size = run->shared_total;
    if (p->reserved)
        run->shared_size = (run->shared_total + 127) / 128 * 128 + MG_SHARED_RESERVED;
    if (run->param_size)
        memcpy(run->params, l->params, run->param_size);
    if (p->nshared_vars)
        memcpy(run->shared_vars, p->shared_vars, p->nshared_vars * sizeof *run->shared_vars);
    run->nshared_vars = p->nshared_vars;
    if (l->shared)
        run->shared_vars[run->nshared_vars++] = (struct mg_shared_var){"(dynamic)", NULL, dynamic_at, l->shared};
    run->stack_bytes = mg__stack_size(p, run->simt->stack_size);
}

/* Cooperative groups' grid barrier: its size, and a counter that starts at zero. Launches that are under way together
 * have one each. */
static enum mg_status set_workspace(struct mg_run *run)
{
    struct mg_simt *s = run->simt;
    bool taken = false;
    for (const struct mg_run *r = s->open; r; r = r->next_open)
        taken |= s->workspace && r->workspace == s->workspace;
    uint64_t *at = taken ? &run->workspace : &s->workspace;
    enum mg_status status = *at ? MG_OK : mg__memory_alloc_named(s, 512, 512, "(grid barrier)", at);
    if (status != MG_OK)
        return status;
    run->workspace = *at;
    run->own_workspace = taken;
    memset((void *)(uintptr_t)*at, 0, 512);
    memcpy((void *)(uintptr_t)*at, &(uint32_t){8}, 4);
    return MG_OK;
}

static void set_workers(struct mg_run *run, const struct mg_simt_launch *l, unsigned regs)
{
    const struct mg_simt *s = run->simt;
    const struct mg_program *p = run->program;
    uint32_t threads = l->block.x * l->block.y * l->block.z;
    unsigned per_sm = mg__arch_blocks_per_sm(s->arch, threads, regs, run->shared_total);
    bool ordered = p->ordered || l->cooperative;
    uint32_t warps = (threads + 31) / 32;
    const uint32_t takes[4] = {1, warps, warps * 32 * regs, run->shared_total + s->arch->shared_reserved};
    memcpy(run->takes, takes, sizeof takes);
    run->fit = MG_MAX(s->arch->board->sm_count * MG_MAX(per_sm, 1) / run->cluster_size, 1);
    run->serial = ordered || mg__pool_workers(s->pool) == 1 || run->nclusters == 1;
    run->nworkers = run->serial ? 1 : (unsigned)MG_MIN(mg__pool_workers(s->pool), run->nclusters);
    run->patient = l->patient && (ordered || run->nclusters == 1); /* whatever the number of threads */
}

static void set_observers(struct mg_run *run, struct mg_simt_kernel *k, const struct mg_simt_launch *l, bool rest)
{
    struct mg_simt *s = run->simt;
    run->observers = s->observers + s->observe_first;
    run->nobservers = observers_of(s);
    const unsigned wants = wants_of(s, rest);
    if (rest)
        mg__part_rest(run);
    run->wants = wants;
    run->want_every = wants & MG_OBSERVE_EVERY;
    run->want_shapes = wants & MG_OBSERVE_SHAPES;
    run->want_bulk = wants & MG_OBSERVE_BULK;
    run->want_far = wants & (MG_OBSERVE_FAR | MG_OBSERVE_EVERY);
    run->want_params = wants & MG_OBSERVE_PARAMS;
    run->want_sync = wants & MG_OBSERVE_SYNC;
    run->want_steps = wants & MG_OBSERVE_STEPS;
    run->mixes = run->want_sync && run->want_every && (run->program->ordered || l->cooperative);
    run->gives = run->want_sync && run->want_every;
    run->clock = run->sole = -1;
    unsigned told = 0;
    for (unsigned i = 0; i < run->nobservers; i++) {
        if (run->observers[i].wants & ~(unsigned)MG_OBSERVE_COUNTS)
            run->sole = told++ ? -1 : (int)i;
        run->goes_on |= run->observers[i].fault != NULL;
        run->clock = run->observers[i].clock ? (int)i : run->clock;
    }
    if (run->want_every || (!run->want_sync && !run->goes_on))
        run->engine = mg__tier_kernel(k, &l->block, (uint64_t)l->grid.x * l->grid.y * l->grid.z, run->want_every);
    run->lets_pass = l->warn && !run->goes_on;
}

static void set_info(struct mg_run *run, const struct mg_simt_kernel *k, const struct mg_simt_launch *l)
{
    const struct mg_program *p = run->program;
    run->info = (struct mg_launch_info){.kernel = k->info.name,
                                        .grid = l->grid,
                                        .block = l->block,
                                        .shared_static = p->shared_section,
                                        .shared_dynamic = l->shared,
                                        .shared_size = run->shared_size,
                                        .shared_reserved = p->reserved ? MG_SHARED_RESERVED : 0,
                                        .module = k->module->ptx,
                                        .insns = p->insns,
                                        .ninsns = p->ninsns,
                                        .program = p->number,
                                        .shared_vars = run->shared_vars,
                                        .nshared_vars = run->nshared_vars,
                                        .device_cc = run->simt->arch->cc,
                                        .func = k->func,
                                        .allocations = run->allocations,
                                        .nallocations = run->nallocations,
                                        .params = run->params,
                                        .param_size = run->param_size,
                                        .stack_bytes = run->stack_bytes,
                                        .sample = run->sample,
                                        .unheard = run->sole >= 0 ? run->unheard : NULL,
                                        .ordered = p->ordered || l->cooperative,
                                        .cooperative = l->cooperative,
                                        .shared_window = run->simt->shared_window,
                                        .in_order = &run->in_order};
    mg__memory_range(run->simt, &run->info.range, &run->info.range_size);
}

static void free_workers(struct mg_worker *workers, unsigned n)
{
    for (unsigned i = 0; workers && i < n; i++)
        if (workers[i].sites)
            mg__worker_free(&workers[i]);
    free(workers);
}

void mg__run_free(struct mg_run *run)
{
    if (run->rest)
        mg__run_free(run->rest);
    free(run->accesses);
    if (run->own_workspace)
        mg__mem_free(run->simt, run->workspace);
    free_workers(run->workers, run->nworkers);
    mg__sample_free(run->sample);
    free(run->allocations);
    free(run->shared_vars);
    free(run->params);
    free(run->unheard);
    free(run);
}

/* Its workers are those of the launch that it takes the place of, or new ones. */
static bool make_workers(struct mg_run *run, struct mg_run *was)
{
    if (!mg__keep_fits(was, run)) {
        free_workers(was->workers, was->nworkers);
        run->workers = calloc(run->nworkers, sizeof *run->workers);
        return run->workers;
    }
    run->workers = was->workers;
    for (unsigned i = 0; i < run->nworkers; i++)
        mg__worker_renew(&run->workers[i]);
    return true;
}

static bool take_snapshot(struct mg_run *run, struct mg_run *was)
{
    run->memory_changes = mg__memory_changes(run->simt); /* before: at worst it is taken once more */
    if (was->allocations && was->memory_changes == run->memory_changes) {
        run->allocations = was->allocations;
        run->nallocations = was->nallocations;
        return true;
    }
    free(was->allocations);
    return mg__memory_snapshot(run->simt, &run->allocations, &run->nallocations) == MG_OK;
}

/* `rest`: the second part of a launch in two (part.c). */
static enum mg_status begin_part(struct mg_simt *s, struct mg_simt_kernel *k, const struct mg_simt_launch *l, bool rest,
                                 struct mg_run **result, struct mg_diag *diag)
{
    const struct mg_program *p = program_of(k, wants_of(s, rest) & MG_OBSERVE_EVERY);
    if (p && p->error.status != MG_OK) {
        *diag = p->error;
        return p->error.status;
    }
    struct mg_run *run = p ? mg__keep_take(k, p, l, rest) : NULL, was = {0};
    if (run)
        was = *run;
    else if (!p || !(run = aligned_alloc(_Alignof(struct mg_run), sizeof *run)))
        return mg__diag_set(diag, MG_ERR_NOMEM, "%s: no host memory for the launch", k->info.name);
    *run = (struct mg_run){.simt = s, .program = p, .asked = *l, .param_size = (uint32_t)k->info.param_size};
    atomic_init(&run->until, UINT64_MAX);
    run->launch = &run->asked;
    run->asked.params = run->asked.compiled = NULL; /* the caller's, and read here */
    set_clusters(run, k);
    unsigned regs = l->compiled && l->compiled->regs && !l->estimated ? l->compiled->regs : k->info.regs;
    run->params = was.params ? was.params : calloc(1, k->info.param_size + 64);
    run->shared_vars = was.shared_vars ? was.shared_vars : calloc(p->nshared_vars + 1, sizeof *run->shared_vars);
    bool good = run->params && run->shared_vars;
    run->unheard = was.unheard;
    run->accesses = was.accesses;
    if (good) {
        set_memory(run, l);
        set_observers(run, k, l, rest);
        if (run->want_every && run->unheard)
            memset(run->unheard, 0, (p->ninsns + 1) * sizeof *run->unheard);
        else if (run->want_every)
            run->unheard = calloc(p->ninsns + 1, sizeof *run->unheard); /* without memory all is told */
        good = mg__sample_plan(run, &was);
        set_workers(run, l, regs);
    }
    good = make_workers(run, &was) && good;
    good = good && (!l->cooperative || set_workspace(run) == MG_OK); /* which the snapshot has, too */
    good = take_snapshot(run, &was) && good;
    if (!good) {
        mg__run_free(run);
        return mg__diag_set(diag, MG_ERR_NOMEM, "%s: no host memory for the launch", k->info.name);
    }
    s->heap_used |= p->heap;
    s->print_used |= p->prints;
    set_info(run, k, l);
    *result = run;
    return MG_OK;
}

static enum mg_status begin(struct mg_simt *s, struct mg_simt_kernel *k, const struct mg_simt_launch *l,
                            struct mg_run **result, struct mg_diag *diag)
{
    enum mg_status status = check_launch(k, l, diag);
    if (status == MG_OK)
        status = begin_part(s, k, l, false, result, diag);
    if (status != MG_OK || !mg__part_may(*result))
        return status;
    status = begin_part(s, k, l, true, &(*result)->rest, diag);
    if (status != MG_OK) {
        (*result)->rest = NULL;
        mg__run_free(*result);
        return status;
    }
    (*result)->info.unheard = (*result)->rest->info.unheard; /* of the first part all is told */
    (*result)->info.parting = true;
    return MG_OK;
}

/* ---- what is under way ---- */
/* Blocks like those of the launch for which an SM has room. */
static uint32_t room_of(const uint32_t left[4], const struct mg_run *run)
{
    uint32_t room = UINT32_MAX;
    for (unsigned i = 0; i < 4; i++)
        if (run->takes[i])
            room = MG_MIN(room, left[i] / run->takes[i]);
    return room;
}

/* Clusters of this launch that fit on the device beside those that others have there, which lie on its SMs one after
 * the other. */
static enum mg_status set_resident(struct mg_run *run)
{
    const struct mg_arch *a = run->simt->arch;
    const uint32_t whole[4] = {a->max_blocks_sm, a->max_warps_sm, a->regs_sm, a->shared_sm};
    uint32_t sms = a->board->sm_count, sm = 0;
    uint64_t room = 0, least = run->begun ? run->workers[0].held : run->asked.patient ? 0 : 1;
    uint32_t(*left)[4] = malloc(sms * sizeof *left);
    if (!left)
        return MG_ERR_NOMEM;
    for (uint32_t i = 0; i < sms; i++)
        memcpy(left[i], whole, sizeof whole);
    for (const struct mg_run *r = run->simt->open; r; r = r->next_open)
        for (uint64_t n = r == run ? 0 : (uint64_t)r->workers[0].held * r->cluster_size, looked = 0; n && looked < sms;
             sm = (sm + 1) % sms) {
            looked++;
            if (!room_of(left[sm], r))
                continue;
            for (unsigned i = 0; i < 4; i++)
                left[sm][i] -= r->takes[i];
            looked = 0;
            n--;
        }
    for (uint32_t i = 0; i < sms; i++)
        room += room_of(left[i], run);
    free(left);
    run->resident = (uint32_t)MG_MAX(MG_MIN(room / run->cluster_size, run->fit), least);
    return MG_OK;
}

static bool take_turn(struct mg_run *run)
{
    struct mg_simt *s = run->simt;
    if (!s->open || set_resident(run) != MG_OK)
        run->resident = run->fit;
    if (!run->begun && !run->resident) {
        run->moved = false;
        return false;
    }
    if (!run->begun) {
        run->begun = true;
        run->abandoned = false;
        run->began_at = run->last_progress = mg__time_ns();
        run->deadline = s->options.timeout_ms ? run->last_progress + s->options.timeout_ms * 1000000ull : 0;
        run->next_open = s->open;
        s->open = run;
    }
    if (!mg__run(run))
        return false;
    for (struct mg_run **at = &s->open; *at; at = &(*at)->next_open)
        if (*at == run) {
            *at = run->next_open;
            break;
        }
    return true;
}

enum mg_status mg__simt_begin(struct mg_simt *simt, struct mg_simt_kernel *kernel, const struct mg_simt_launch *l,
                              struct mg_run **run, struct mg_diag *diag)
{
    struct mg_diag unused;
    pthread_mutex_lock(&simt->launch_lock);
    enum mg_status status = begin(simt, kernel, l, run, diag ? diag : &unused);
    pthread_mutex_unlock(&simt->launch_lock);
    return status;
}

bool mg__simt_turn(struct mg_run *run, bool *moved)
{
    pthread_mutex_t *lock = &run->simt->launch_lock;
    pthread_mutex_lock(lock);
    bool over = take_turn(run);
    pthread_mutex_unlock(lock);
    *moved = over || run->moved;
    return over;
}

uint64_t mg__simt_polls(const struct mg_run *run)
{
    return run->polls_since;
}

enum mg_status mg__simt_status(const struct mg_run *run, struct mg_diag *diag)
{
    if (diag && run->status != MG_OK)
        *diag = run->diag;
    return run->status;
}

void mg__simt_end(struct mg_run *run)
{
    pthread_mutex_t *lock = &run->simt->launch_lock;
    pthread_mutex_lock(lock);
    for (unsigned i = 0; i < run->observing; i++)
        if (run->observers[i].launch_end)
            run->observers[i].launch_end(run->observer_state[i], run->status);
    struct mg_run *parts[2] = {run, run->rest};
    run->rest = NULL;
    for (unsigned p = 0; p < 2 && parts[p]; p++)
        if (!mg__keep_give(parts[p]))
            mg__run_free(parts[p]);
    pthread_mutex_unlock(lock);
}

void mg__simt_excuse(struct mg_run *run, uint64_t ns)
{
    if (atomic_load(&run->deadline))
        atomic_fetch_add(&run->deadline, ns);
}

void mg__simt_abandon(struct mg_run *run)
{
    run->abandoned = true;
    atomic_store(&run->deadline, 1);
}

bool mg__simt_begun(const struct mg_run *run)
{
    return run->begun;
}

bool mg__simt_abandoned(const struct mg_run *run)
{
    return run->abandoned;
}

enum mg_status mg__simt_launch(struct mg_simt *simt, struct mg_simt_kernel *kernel, const struct mg_simt_launch *l,
                               struct mg_diag *diag)
{
    struct mg_run *run;
    bool moved;
    assert(!l->patient);
    enum mg_status status = mg__simt_begin(simt, kernel, l, &run, diag);
    if (status != MG_OK)
        return status;
    bool over = mg__simt_turn(run, &moved);
    assert(over);
    (void)over;
    status = mg__simt_status(run, diag);
    mg__simt_end(run);
    return status;
}
