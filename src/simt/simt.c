/* simt.c - the device: its creation, its modules, its kernels. */
#include "simt/simt_priv.h"
#include "simt/texture.h"

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
    s->observe_end = ~0u;
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
    mg__keep_drop(simt, NULL);
    while (simt->modules)
        mg__simt_module_unload(simt->modules);
    if (simt->pool)
        mg__pool_destroy(simt->pool);
    mg__heap_destroy(simt);
    mg__textures_free(simt);
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

void mg__simt_observe_range(struct mg_simt *simt, unsigned first, unsigned end)
{
    pthread_mutex_lock(&simt->launch_lock);
    simt->observe_first = first;
    simt->observe_end = end;
    pthread_mutex_unlock(&simt->launch_lock);
}

void mg__simt_sample(struct mg_simt *simt, uint64_t every, bool alone)
{
    pthread_mutex_lock(&simt->launch_lock);
    simt->sample_every = every;
    simt->sample_alone = alone;
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
    uint64_t value = r->func ? m->simt->func_window + 16ull * r->func->id : r->var ? m->addresses[r->var->id] : 0;
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
    pthread_mutex_lock(&module->simt->launch_lock);
    mg__keep_drop(module->simt, module);
    pthread_mutex_unlock(&module->simt->launch_lock);
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
    i->shared_static = k->program->shared_section;
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
