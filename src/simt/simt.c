/* simt.c - the device: its creation, its modules, and a launch's checks before the first block.
 *
 * A limit that devices enforce is mg_arch_launch_check's.
 */
#include "simt/simt_priv.h"

#define STACK 1024u /* cudaLimitStackSize's default */

enum mg_status mg__simt_create(const struct mg_simt_options *options, struct mg_simt **simt)
{
    *simt = NULL;
    struct mg_simt *s = calloc(1, sizeof *s);
    if (!s)
        return MG_ERR_NOMEM;
    if (options)
        s->options = *options;
    s->arch = s->options.arch ? s->options.arch : mg_arch_find(90);
    s->observe = true;
    s->stack_size = STACK;
    s->lanes = mg__lanes_select();
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->launch_lock, NULL);
    pthread_mutex_init(&s->print_lock, NULL);
    enum mg_status status = s->arch ? mg__memory_create(s) : MG_ERR_NOT_FOUND;
    if (status == MG_OK)
        status = mg__pool_create(s->options.threads, &s->pool);
    if (status != MG_OK) {
        mg__simt_destroy(s);
        return status;
    }
    *simt = s;
    return MG_OK;
}

void mg__simt_destroy(struct mg_simt *simt)
{
    if (!simt)
        return;
    while (simt->modules)
        mg__simt_module_unload(simt->modules);
    if (simt->pool)
        mg__pool_destroy(simt->pool);
    mg__heap_destroy(simt);
    mg__memory_destroy(simt);
    pthread_mutex_destroy(&simt->lock);
    pthread_mutex_destroy(&simt->launch_lock);
    pthread_mutex_destroy(&simt->print_lock);
    free(simt);
}

const struct mg_arch *mg__simt_arch(const struct mg_simt *simt)
{
    return simt->arch;
}

enum mg_status mg__simt_observe(struct mg_simt *simt, const struct mg_observer *observer)
{
    const unsigned both = MG_OBSERVE_EVERY | MG_OBSERVE_SHAPES; /* the one is instead of the other */
    if (simt->nobservers == MG_MAX_OBSERVERS || (observer->wants & both) == both ||
        (observer->wants & both && !observer->access))
        return MG_ERR_INVALID;
    simt->observers[simt->nobservers++] = *observer;
    return MG_OK;
}

void mg__simt_observe_enable(struct mg_simt *simt, bool enable)
{
    pthread_mutex_lock(&simt->launch_lock);
    simt->observe = enable;
    pthread_mutex_unlock(&simt->launch_lock);
}

void mg__simt_attach(struct mg_simt *simt, const struct mg_engine *engine)
{
    simt->engine = engine;
}

void mg__simt_set_timeout(struct mg_simt *simt, unsigned timeout_ms)
{
    pthread_mutex_lock(&simt->launch_lock);
    simt->options.timeout_ms = timeout_ms;
    pthread_mutex_unlock(&simt->launch_lock);
}

void mg__simt_set_stack(struct mg_simt *simt, uint64_t bytes)
{
    pthread_mutex_lock(&simt->launch_lock);
    simt->stack_size = bytes;
    pthread_mutex_unlock(&simt->launch_lock);
}

enum mg_status mg__simt_set_heap(struct mg_simt *simt, uint64_t bytes)
{
    enum mg_status status = MG_OK;
    pthread_mutex_lock(&simt->launch_lock);
    bool made = simt->heap_state != NULL; /* by a module that is loaded and has not run */
    uint64_t room, total;
    mg__mem_info(simt, &room, &total);
    if (simt->heap_used)
        status = MG_ERR_INVALID;
    else if (bytes > room)
        status = MG_ERR_NOMEM;
    if (status == MG_OK) {
        uint64_t before = simt->heap_size;
        mg__heap_destroy(simt);
        simt->heap_size = MG_MAX(bytes, 16); /* 0 stands for the default */
        if (made && (status = mg__heap_create(simt)) != MG_OK) {
            simt->heap_size = before;
            (void)mg__heap_create(simt);
        }
    }
    pthread_mutex_unlock(&simt->launch_lock);
    return status;
}

bool mg__simt_printed(struct mg_simt *simt)
{
    pthread_mutex_lock(&simt->launch_lock);
    bool printed = simt->print_used;
    pthread_mutex_unlock(&simt->launch_lock);
    return printed;
}

void mg__simt_reset_limits(struct mg_simt *simt)
{
    pthread_mutex_lock(&simt->launch_lock);
    mg__heap_destroy(simt);
    simt->heap_size = 0;
    simt->heap_used = simt->print_used = false;
    simt->stack_size = STACK;
    pthread_mutex_unlock(&simt->launch_lock);
}

/* ---- modules ---- */
static bool names_function(const struct mg_ptx_module *ptx, const char *name)
{
    for (size_t f = 0; f < ptx->nfuncs; f++)
        if (strcmp(ptx->funcs[f]->name, name) == 0)
            return true;
    return false;
}

static void write_reloc(const struct mg_simt_module *m, const struct mg_ptx_var *v, const struct mg_ptx_reloc *r)
{
    uint64_t value = r->func ? m->simt->func_window + 16ull * r->func->id
                     : r->var ? m->addresses[r->var->id] : 0;
    value += (uint64_t)r->addend;
    if (r->mask != ~0ull && r->mask) {
        value = (value & r->mask) >> __builtin_ctzll(r->mask);
    }
    if (r->offset <= v->size && r->size <= v->size - r->offset && r->size <= 8)
        memcpy((uint8_t *)(uintptr_t)m->addresses[v->id] + r->offset, &value, r->size);
}

enum mg_status mg__simt_module_load(struct mg_simt *simt, struct mg_ptx_module *ptx, struct mg_simt_module **module,
                                    struct mg_diag *diag)
{
    *module = NULL;
    struct mg_simt_module *m = calloc(1, sizeof *m);
    if (!m)
        return mg__diag_set(diag, MG_ERR_NOMEM, "no host memory for a module");
    m->simt = simt;
    m->ptx = ptx;
    m->addresses = calloc(ptx->nvars + 1, sizeof *m->addresses);
    m->kernels = calloc(ptx->nfuncs + 1, sizeof(struct mg_simt_kernel *));
    enum mg_status status = MG_ERR_NOMEM;
    if (!m->addresses || !m->kernels) {
        mg__diag_set(diag, status, "no host memory for a module");
        goto fail;
    }
    for (size_t i = 0; i < ptx->nvars; i++) {
        const struct mg_ptx_var *v = ptx->vars[i];
        if (v->is_param || (v->space != MG_SPACE_GLOBAL && v->space != MG_SPACE_CONST))
            continue;
        if (v->linkage == MG_LINK_EXTERN) {
            status =
                mg__diag_set(diag, MG_ERR_NOT_FOUND, "the variable %s is declared extern and defined nowhere", v->name);
            mg__diag_at(diag, "<ptx>", v->ptx_line, 0);
            mg__diag_hint(diag, "Link the object that defines it (nvcc -rdc=true needs all parts in one program).");
            goto fail;
        }
        status = mg__memory_alloc_named(simt, v->size, v->align, v->name, &m->addresses[i]);
        if (status != MG_OK) {
            mg__diag_set(diag, status, "no device memory for the variable %s of %llu bytes", v->name,
                         (unsigned long long)v->size);
            goto fail;
        }
        if (v->space == MG_SPACE_CONST)
            mg__memory_mark_constant(simt, m->addresses[i]);
        if (v->init)
            memcpy((void *)(uintptr_t)m->addresses[i], v->init, v->size);
    }
    for (size_t i = 0; i < ptx->nvars; i++)
        for (size_t k = 0; m->addresses[i] && k < ptx->vars[i]->nrelocs; k++)
            write_reloc(m, ptx->vars[i], &ptx->vars[i]->relocs[k]);
    if (names_function(ptx, "malloc") && (status = mg__heap_create(simt)) != MG_OK) {
        mg__diag_set(diag, status, "no device memory for the heap of device-side malloc");
        goto fail;
    }
    m->next = simt->modules;
    simt->modules = m;
    *module = m;
    return MG_OK;
fail:
    for (size_t i = 0; m->addresses && i < ptx->nvars; i++)
        if (m->addresses[i])
            mg__mem_free(simt, m->addresses[i]);
    free(m->addresses);
    free(m->kernels);
    free(m);
    return status;
}

void mg__simt_module_unload(struct mg_simt_module *module)
{
    if (!module)
        return;
    for (struct mg_simt_module **at = &module->simt->modules; *at; at = &(*at)->next)
        if (*at == module) {
            *at = module->next;
            break;
        }
    for (size_t i = 0; i < module->ptx->nfuncs; i++)
        if (module->kernels[i]) {
            mg__tier_kernel_free(module->kernels[i]);
            mg__program_free(module->kernels[i]->program);
            mg__program_free(module->kernels[i]->watched);
            free(module->kernels[i]);
        }
    for (size_t i = 0; i < module->ptx->nvars; i++)
        if (module->addresses[i])
            mg__mem_free(module->simt, module->addresses[i]);
    free(module->addresses);
    free(module->kernels);
    mg__ptx_free(module->ptx);
    free(module);
}

bool mg__simt_module_place(struct mg_simt_module *m, const char *name, uint64_t address)
{
    const struct mg_ptx_var *v = mg__ptx_find_var(m->ptx, name);
    if (!v || !m->addresses[v->id])
        return false;
    mg__mem_free(m->simt, m->addresses[v->id]);
    m->addresses[v->id] = address;
    for (size_t i = 0; i < m->ptx->nvars; i++)
        for (size_t k = 0; m->addresses[i] && m->ptx->vars[i] != v && k < m->ptx->vars[i]->nrelocs; k++)
            if (m->ptx->vars[i]->relocs[k].var == v)
                write_reloc(m, m->ptx->vars[i], &m->ptx->vars[i]->relocs[k]);
    return true;
}

bool mg__simt_module_symbol(const struct mg_simt_module *module, const char *name, uint64_t *address, uint64_t *size)
{
    const struct mg_ptx_var *v = mg__ptx_find_var(module->ptx, name);
    if (!v || !module->addresses[v->id])
        return false;
    *address = module->addresses[v->id];
    *size = v->size;
    return true;
}

/* ---- kernels ---- */
static void describe(struct mg_simt_kernel *k)
{
    const struct mg_ptx_func *f = k->func;
    const struct mg_arch *arch = k->module->simt->arch;
    struct mg_simt_kernel_info *i = &k->info;
    i->name = f->name;
    i->func = f;
    i->ptx = k->module->ptx;
    i->shared_static = k->program->shared_static;
    i->local_bytes = k->program->entry->local_bytes;
    for (size_t v = 0; v < k->module->ptx->nvars; v++)
        if (k->module->ptx->vars[v]->space == MG_SPACE_CONST)
            i->const_bytes += (uint32_t)k->module->ptx->vars[v]->size;
    i->max_threads = arch->max_threads_block;
    uint32_t given = f->maxntid[0] * MG_MAX(f->maxntid[1], 1) * MG_MAX(f->maxntid[2], 1);
    uint32_t required = f->reqntid[0] * MG_MAX(f->reqntid[1], 1) * MG_MAX(f->reqntid[2], 1);
    if (given)
        i->max_threads = MG_MIN(i->max_threads, given);
    if (required)
        i->max_threads = MG_MIN(i->max_threads, required);
    i->regs = mg__estimate_regs(f);
    if (f->maxnreg)
        i->regs = MG_MIN(i->regs, f->maxnreg);
    /* What fits when a block of the largest size must be able to launch. */
    uint32_t most = arch->regs_block / MG_MAX(i->max_threads, 1);
    if (given || required)
        i->regs = MG_MIN(i->regs, MG_MAX(most, 16));
    i->regs = MG_MIN(i->regs, arch->max_regs_thread);
    i->param_size = f->param_size;
}

struct mg_simt_kernel *mg__simt_kernel_find(struct mg_simt_module *module, const char *name)
{
    const struct mg_ptx_func *f = mg__ptx_find_func(module->ptx, name);
    if (!f || !f->is_entry || !f->defined)
        return NULL;
    pthread_mutex_lock(&module->simt->launch_lock);
    struct mg_simt_kernel *k = module->kernels[f->id];
    if (!k && (k = calloc(1, sizeof *k))) {
        k->module = module;
        k->func = f;
        if (mg__lower(module, f, false, &k->program) == MG_OK) {
            describe(k);
            module->kernels[f->id] = k;
        } else {
            free(k);
            k = NULL;
        }
    }
    pthread_mutex_unlock(&module->simt->launch_lock);
    return k;
}

void mg__simt_kernel_info(const struct mg_simt_kernel *kernel, struct mg_simt_kernel_info *info)
{
    *info = kernel->info;
}

/* ---- launches ---- */
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
    *shape = (struct mg_launch_shape){.grid = l->grid, .block = l->block, .kernel = q,
                                      .param_bytes = k->info.param_size, .cooperative = l->cooperative};
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

static enum mg_status check_launch(const struct mg_simt_kernel *k, const struct mg_simt_launch *l,
                                   struct mg_diag *diag)
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

static unsigned wants_of(const struct mg_simt *s)
{
    unsigned wants = 0;
    for (unsigned i = 0; s->observe && i < s->nobservers; i++)
        wants |= s->observers[i].wants;
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

static enum mg_status launch(struct mg_simt *s, struct mg_simt_kernel *k, const struct mg_simt_launch *l,
                             struct mg_diag *diag)
{
    enum mg_status status = check_launch(k, l, diag);
    if (status != MG_OK)
        return status;
    const unsigned wants = wants_of(s);
    const struct mg_program *p = program_of(k, wants & MG_OBSERVE_EVERY);
    if (!p)
        return mg__diag_set(diag, MG_ERR_NOMEM, "%s: no host memory for the launch", k->info.name);
    if (p->error.status != MG_OK) {
        if (diag)
            *diag = p->error;
        return p->error.status;
    }
    struct mg_run *run = aligned_alloc(_Alignof(struct mg_run), sizeof *run);
    if (!run)
        return mg__diag_set(diag, MG_ERR_NOMEM, "%s: no host memory for the launch", k->info.name);
    uint8_t *params = calloc(1, k->info.param_size + 64);
    *run = (struct mg_run){.simt = s, .program = p};
    run->launch = l;
    run->params = params;
    run->param_size = (uint32_t)k->info.param_size;
    uint64_t nblocks = (uint64_t)l->grid.x * l->grid.y * l->grid.z;
    set_clusters(run, k);
    uint32_t dynamic_at = (p->shared_static + p->dynamic_align - 1) / p->dynamic_align * p->dynamic_align;
    run->shared_total = l->shared ? dynamic_at + l->shared : p->shared_static;
    run->shared_vars = calloc(p->nshared_vars + 1, sizeof *run->shared_vars);
    status = mg__memory_snapshot(s, &run->allocations, &run->nallocations);
    if (!params || !run->shared_vars || status != MG_OK) {
        status = mg__diag_set(diag, MG_ERR_NOMEM, "%s: no host memory for the launch", k->info.name);
        goto done;
    }
    if (k->info.param_size)
        memcpy(params, l->params, k->info.param_size);
    if (p->nshared_vars)
        memcpy(run->shared_vars, p->shared_vars, p->nshared_vars * sizeof *run->shared_vars);
    run->nshared_vars = p->nshared_vars;
    if (l->shared)
        run->shared_vars[run->nshared_vars++] = (struct mg_shared_var){"(dynamic)", NULL, dynamic_at, l->shared};
    uint32_t threads = l->block.x * l->block.y * l->block.z;
    unsigned regs = l->compiled && l->compiled->regs && !l->estimated ? l->compiled->regs : k->info.regs;
    unsigned per_sm = mg__arch_blocks_per_sm(s->arch, threads, regs, run->shared_total);
    run->resident = MG_MAX(s->arch->board->sm_count * MG_MAX(per_sm, 1) / run->cluster_size, 1);
    if (l->cooperative) {
        if (!s->workspace && (status = mg__memory_alloc_named(s, 512, 512, "(grid barrier)", &s->workspace)) != MG_OK)
            goto done;
        /* Cooperative groups' grid barrier: its size, and a counter that starts at zero. */
        memset((void *)(uintptr_t)s->workspace, 0, 512);
        memcpy((void *)(uintptr_t)s->workspace, &(uint32_t){8}, 4);
        run->workspace = s->workspace;
        free(run->allocations);
        run->allocations = NULL;
        if ((status = mg__memory_snapshot(s, &run->allocations, &run->nallocations)) != MG_OK)
            goto done;
    }
    run->serial = p->ordered || l->cooperative || mg__pool_workers(s->pool) == 1 || run->nclusters == 1;
    run->nworkers = run->serial ? 1 : (unsigned)MG_MIN(mg__pool_workers(s->pool), run->nclusters);
    if (s->observe) {
        run->observers = s->observers;
        run->nobservers = s->nobservers;
    }
    run->want_every = wants & MG_OBSERVE_EVERY;
    run->want_shapes = wants & MG_OBSERVE_SHAPES;
    run->want_sync = wants & MG_OBSERVE_SYNC;
    run->want_steps = wants & MG_OBSERVE_STEPS;
    for (unsigned i = 0; i < run->nobservers; i++)
        run->goes_on |= run->observers[i].fault != NULL;
    if (!run->want_every && !run->want_sync && !run->goes_on)
        run->engine = mg__tier_kernel(k, &l->block, nblocks);
    run->local_stride = mg__stack_size(p, s->stack_size);
    run->lets_pass = l->warn && !run->goes_on;
    s->heap_used |= p->heap;
    s->print_used |= p->prints;
    run->info = (struct mg_launch_info){
        .kernel = k->info.name, .grid = l->grid, .block = l->block, .shared_static = p->shared_static,
        .shared_dynamic = l->shared, .module = k->module->ptx, .insns = p->insns, .ninsns = p->ninsns,
        .program = p->number, .shared_vars = run->shared_vars, .nshared_vars = run->nshared_vars,
        .device_cc = s->arch->cc, .func = k->func, .allocations = run->allocations,
        .nallocations = run->nallocations, .params = params, .param_size = run->param_size,
        .local_stride = run->local_stride, .ordered = p->ordered || l->cooperative};
    mg__memory_range(s, &run->info.range, &run->info.range_size);
    run->last_progress = mg__time_ns();
    if (s->options.timeout_ms)
        run->deadline = run->last_progress + s->options.timeout_ms * 1000000ull;
    status = mg__run(run, diag);
done:
    free(run->allocations);
    free(run->shared_vars);
    free(params);
    free(run);
    return status;
}

enum mg_status mg__simt_launch(struct mg_simt *simt, struct mg_simt_kernel *kernel, const struct mg_simt_launch *l,
                               struct mg_diag *diag)
{
    pthread_mutex_lock(&simt->launch_lock);
    enum mg_status status = launch(simt, kernel, l, diag);
    pthread_mutex_unlock(&simt->launch_lock);
    return status;
}
