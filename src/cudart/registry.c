/* registry.c - the device code of the program: fatbins, kernels and variables as nvcc's start-up code registers them.
 *
 * Registration happens before main and keeps pointers only. A fatbin's PTX is parsed and loaded when one of its kernels
 * or variables is first needed; what goes wrong then is told once and returned by every use. Kernels are found by the
 * address of their host stub, variables by that of their host shadow.
 *
 * A program linked from relocatable objects (nvcc -rdc=true) registers one wrapper of version 2, whose `data` is the
 * linked machine code and whose `parts` are the objects' own fatbins. Their PTX is put together by link.c.
 *
 * Handles stay valid after their fatbin was unregistered (dlclose, exit), but do nothing any more.
 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "cudart/cudart.h"
#include "cudart/link.h"

#include <link.h>
#include <unistd.h>

enum { WRAPPER_MAGIC = 0x466243b1, WRAPPER_LINKED = 2 };
struct wrapper { /* what nvcc puts into .nvFatBinSegment */
    int magic, version;
    const void *data;
    const void *file_or_parts;
};

/* ---- address -> object, open addressing; a removed key keeps its slot with a NULL value ---- */
struct map_slot {
    const void *key;
    void *value;
};
struct map {
    struct map_slot *slots;
    size_t count, capacity;
};

static struct {
    MG_VEC(struct cudart_module *) modules;
    struct map funcs, vars; /* by host address */
    struct map handles;     /* the kernel handles that we gave out */
    struct map ours;        /* the fatbin handles that we gave out */
} registry;

static struct map_slot *map_slot(const struct map *map, const void *key)
{
    size_t i = mg__hash(&key, sizeof(key)) & (map->capacity - 1);
    while (map->slots[i].key && map->slots[i].key != key)
        i = (i + 1) & (map->capacity - 1);
    return &map->slots[i];
}

static void *map_get(const struct map *map, const void *key)
{
    return map->capacity && key ? map_slot(map, key)->value : NULL;
}

static bool map_put(struct map *map, const void *key, void *value)
{
    if (!key)
        return false;
    if (map->count * 2 >= map->capacity) {
        struct map grown = {NULL, 0, map->capacity ? map->capacity * 2 : 64};
        grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
        if (!grown.slots)
            return false;
        for (size_t i = 0; i < map->capacity; i++)
            if (map->slots[i].key) {
                *map_slot(&grown, map->slots[i].key) = map->slots[i];
                grown.count++;
            }
        free(map->slots);
        *map = grown;
    }
    struct map_slot *slot = map_slot(map, key);
    if (!slot->key)
        map->count++;
    slot->key = key;
    slot->value = value;
    return true;
}

/* ---- registration: called by the program's constructors ---- */
struct extent {
    uintptr_t address;
    size_t left;
};

static int find_extent(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct extent *e = arg;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && e->address >= start && e->address - start < p->p_memsz) {
            e->left = p->p_memsz - (e->address - start);
            return 1;
        }
    }
    return 0;
}

/* Bytes that may be read at `data`: to the end of its segment; what lies in no segment is trusted to its header. */
static size_t readable(const void *data)
{
    struct extent e = {(uintptr_t)data, SIZE_MAX / 2};
    dl_iterate_phdr(find_extent, &e);
    return e.left;
}

/* NULL for a handle that is not ours: of another runtime that was at work before its entry points led here. */
static struct cudart_module *module_of(void **handle)
{
    mg__cudart_lock();
    struct cudart_module *module = map_get(&registry.ours, handle);
    mg__cudart_unlock();
    return module;
}

void **mg____cudaRegisterFatBinary(const void *fat)
{
    const struct wrapper *w = fat;
    struct cudart_module *module = calloc(1, sizeof(*module));
    if (!module)
        return NULL;
    module->wrapper = w;
    if (w && w->magic == WRAPPER_MAGIC) {
        module->data = w->data;
        module->limit = readable(w->data);
        if (w->version == WRAPPER_LINKED)
            module->parts = w->file_or_parts;
    }
    mg__cudart_lock();
    bool kept = map_put(&registry.ours, module, module) && mg__vec_push(&registry.modules, module);
    if (!kept)
        map_put(&registry.ours, module, NULL);
    mg__cudart_unlock();
    if (!kept) {
        free(module);
        return NULL;
    }
    return (void **)module;
}

void mg____cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void mg____cudaUnregisterFatBinary(void **handle)
{
    struct cudart_module *module = module_of(handle);
    if (!module)
        return;
    mg__cudart_lock();
    module->gone = true;
    for (size_t i = 0; i < module->funcs.count; i++) {
        module->funcs.at[i]->kernel = NULL;
        if (map_get(&registry.funcs, module->funcs.at[i]->host) == module->funcs.at[i])
            map_put(&registry.funcs, module->funcs.at[i]->host, NULL);
    }
    for (size_t i = 0; i < module->vars.count; i++)
        if (map_get(&registry.vars, module->vars.at[i]->host) == module->vars.at[i])
            map_put(&registry.vars, module->vars.at[i]->host, NULL);
    if (module->simt && mg__cudart.pid == (int)getpid())
        mg__simt_module_unload(module->simt);
    module->simt = NULL;
    mg__cudart_unlock();
}

void mg____cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
                                void *tid, void *bid, void *block, void *grid, int *warp_size)
{
    struct cudart_module *module = module_of(handle);
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
    if (!module || !name)
        return;
    struct cudart_func *func = calloc(1, sizeof(*func));
    if (!func)
        return;
    func->module = module;
    func->host = host;
    func->name = strdup(name);
    func->demangled = mg__report_demangle(name);
    func->carveout = -1;
    func->recorded = -1;
    mg__cudart_lock();
    if (func->name && mg__vec_push(&module->funcs, func)) {
        map_put(&registry.funcs, host, func);
        map_put(&registry.handles, func, func);
        func = NULL;
    }
    mg__cudart_unlock();
    if (func) {
        free(func->name);
        free(func->demangled);
        free(func);
    }
}

static void register_var(void **handle, const void *host, void **managed, const char *name, size_t size)
{
    struct cudart_module *module = module_of(handle);
    if (!module || !name)
        return;
    struct cudart_var *var = calloc(1, sizeof(*var));
    if (!var)
        return;
    var->module = module;
    var->host = host;
    var->managed = managed;
    var->size = size;
    var->name = strdup(name);
    mg__cudart_lock();
    if (var->name && mg__vec_push(&module->vars, var)) {
        map_put(&registry.vars, host, var);
        var = NULL;
    }
    mg__cudart_unlock();
    if (var) {
        free(var->name);
        free(var);
    }
}

void mg____cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size,
                           int constant, int global)
{
    (void)device, (void)ext, (void)constant, (void)global;
    register_var(handle, host, NULL, name, size);
}

void mg____cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t size,
                                  int constant, int global)
{
    (void)device, (void)ext, (void)constant, (void)global;
    register_var(handle, host, host, name, size);
}

void mg____cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size)
{
    (void)handle, (void)name, (void)host, (void)size; /* host variables that kernels name: reached by address */
}

/* Called by host code before it first touches a managed variable. */
char mg____cudaInitModule(void **handle)
{
    struct cudart_module *module = module_of(handle);
    if (!module || mg__cudart_enter())
        return 1;
    mg__cudart_lock();
    mg__cudart_load(module);
    mg__cudart_unlock();
    return 1;
}

/* ---- loading ---- */
/* Parts of a linked program that have no PTX for this device. One may be missing: the device runtime, which programs
 * with dynamic parallelism carry. Its PTX is for the newest device alone, and the engine would not run it: a kernel
 * that calls it is told so when it does. */
struct left_out {
    unsigned parts;
    struct mg_diag why; /* of the first */
};

static bool may_be_missing(const struct left_out *left_out, const struct mg_ptx_module *ptx)
{
    bool asked_for = false;
    if (left_out->parts != 1)
        return left_out->parts == 0;
    for (size_t i = 0; i < ptx->nfuncs; i++) {
        const struct mg_ptx_func *f = ptx->funcs[i];
        bool device_runtime = mg__simt_device_runtime(f->name);
        asked_for |= device_runtime && !f->defined;
        if (!f->defined && !device_runtime && !mg__simt_provides(f->name))
            return false;
    }
    return asked_for;
}

/* *apart: products and sums are not fused, as the program was built (of several parts: any of them). */
static enum mg_status load_text(struct cudart_module *module, char **text, size_t *length, bool *apart,
                                struct left_out *left_out, struct mg_diag *diag)
{
    struct mg_fatbin_entry entry;
    unsigned cc = mg__cudart.arch->cc;
    if (module->wrapper && !module->data && !module->parts)
        return mg__diag_set(diag, MG_ERR_SYNTAX, "the program's fatbin wrapper is corrupt");
    if (!module->parts) {
        enum mg_status status = mg__fatbin_choose(module->data, module->limit, cc, &entry, diag);
        if (status)
            return status;
        *apart = mg__fatbin_apart(&entry);
        return mg__fatbin_text(&entry, text, length, diag);
    }
    struct mg_linker *linker;
    enum mg_status status = mg__link_create(&linker);
    for (size_t i = 0; !status && module->parts[i]; i++) {
        char *part;
        size_t n;
        status = mg__fatbin_choose(module->parts[i], readable(module->parts[i]), cc, &entry, diag);
        if (status == MG_ERR_NO_PTX) {
            if (!left_out->parts++)
                left_out->why = *diag;
            memset(diag, 0, sizeof(*diag));
            status = MG_OK;
            continue;
        }
        if (!status) {
            *apart |= mg__fatbin_apart(&entry);
            status = mg__fatbin_text(&entry, &part, &n, diag);
        }
        if (!status) {
            status = mg__link_add(linker, part, n, diag);
            free(part);
        }
    }
    if (!status)
        status = mg__link_finish(linker, text, length, diag);
    mg__link_destroy(linker);
    if (status && left_out->parts) {
        *diag = left_out->why;
        return left_out->why.status;
    }
    return status;
}

int mg__cudart_load(struct cudart_module *module)
{
    struct mg_diag diag;
    struct mg_ptx_module *ptx = NULL;
    char *text = NULL;
    size_t length = 0;
    if (module->simt || module->error)
        return module->error;
    memset(&diag, 0, sizeof(diag));
    struct left_out left_out;
    bool apart = false;
    memset(&left_out, 0, sizeof(left_out));
    enum mg_status status = load_text(module, &text, &length, &apart, &left_out, &diag);
    if (!status)
        status = mg__ptx_parse(text, length, &ptx, &diag);
    if (!status && !may_be_missing(&left_out, ptx)) {
        mg__ptx_free(ptx);
        diag = left_out.why;
        status = diag.status;
    }
    if (!status) {
        ptx->apart |= apart;
        status = mg__simt_module_load(mg__cudart.simt, ptx, &module->simt, &diag);
        if (status) {
            mg__ptx_free(ptx);
            module->simt = NULL;
        }
    }
    free(text);
    if (status) {
        if (!diag.message[0])
            mg__diag_set(&diag, status, "the program's device code cannot be loaded: %s", mg_status_text(status));
        mg__cudart_tell(NULL, &diag);
        module->error = mg__cudart_error_of(status);
        for (size_t i = 0; i < module->vars.count; i++) { /* the host may touch managed variables all the same */
            struct cudart_var *var = module->vars.at[i];
            uint64_t address;
            if (var->managed && !*var->managed &&
                !mg__mem_alloc(mg__cudart.simt, MG_MAX(var->size, 1), 256, &address)) {
                memset((void *)(uintptr_t)address, 0, var->size);
                *var->managed = (void *)(uintptr_t)address;
            }
        }
        return module->error;
    }
    for (size_t i = 0; i < module->vars.count; i++) {
        struct cudart_var *var = module->vars.at[i];
        uint64_t address, size;
        if (!mg__simt_module_symbol(module->simt, var->name, &address, &size))
            continue; /* not in this device's PTX: asking for it says so */
        var->address = address;
        var->device_size = size;
        if (var->managed)
            *var->managed = (void *)(uintptr_t)address;
    }
    return 0;
}

/* ---- machine code: not run, but it says what a kernel takes ---- */
static void read_code(struct cudart_module *module)
{
    struct mg_fatbin_entry entry;
    struct mg_diag ignored; /* damaged machine code hurts nobody: PTX is what runs */
    char *bytes;
    size_t size;
    module->code_read = true;
    mg__arena_init(&module->code_arena);
    if (!module->data || mg__fatbin_code(module->data, module->limit, mg__cudart.arch->cc, false, &entry, &ignored) ||
        mg__fatbin_unpack(&entry, &bytes, &size, &ignored))
        return;
    module->code_cc = entry.sm;
    if (mg__cubin_read(bytes, size, &module->code_arena, &module->code, &ignored))
        memset(&module->code, 0, sizeof(module->code));
    free(bytes);
}

/* What the compiler gave the kernel, in place of the engine's estimate. */
static void apply_code(struct cudart_func *func)
{
    unsigned cc = mg__cudart.arch->cc;
    if (!func->module->code_read)
        read_code(func->module);
    unsigned from = func->module->code_cc;
    const struct mg_cubin_kernel *k = mg__cubin_find(&func->module->code, func->name);
    snprintf(func->regs_from, sizeof(func->regs_from), "an estimate");
    if (!k)
        return;
    func->info.regs = k->regs;
    func->barriers = k->barriers;
    func->exact = from <= cc && from / 10 == cc / 10;
    snprintf(func->regs_from, sizeof(func->regs_from), "machine code for %u.%u", from / 10, from % 10);
    if (!func->exact)
        return;
    func->info.shared_static = k->shared_static; /* rounded up, as a device tells and counts it */
    /* A device counts only blocks that the register file takes. */
    struct mg_occupancy_query q = mg_arch_query(func->info.max_threads, k->regs, 0, 0);
    while (q.threads > 32 && mg__arch_blocks_per_sm(mg__cudart.arch, q.threads, k->regs, 0) == 0)
        q.threads = (q.threads - 1) / 32 * 32;
    func->info.max_threads = q.threads;
}

int mg__cudart_func_find(const void *handle, struct cudart_func **out)
{
    int error = 0;
    *out = NULL;
    if (!handle)
        return cudaErrorInvalidDeviceFunction;
    mg__cudart_lock();
    struct cudart_func *func = map_get(&registry.funcs, handle);
    if (!func)
        func = map_get(&registry.handles, handle);
    if (!func || func->module->gone)
        error = cudaErrorInvalidResourceHandle; /* as CUDA 13 answers for an address that is no kernel's */
    else
        error = mg__cudart_load(func->module);
    if (!error && !func->kernel) {
        func->kernel = mg__simt_kernel_find(func->module->simt, func->name);
        if (func->kernel) {
            mg__simt_kernel_info(func->kernel, &func->info);
            func->bounds = func->info.max_threads;
            apply_code(func);
        } else {
            error = cudaErrorInvalidDeviceFunction;
        }
    }
    mg__cudart_unlock();
    *out = error ? NULL : func;
    return error;
}

int mg__cudart_var_find(const void *symbol, struct cudart_var **out)
{
    int error = 0;
    *out = NULL;
    mg__cudart_lock();
    struct cudart_var *var = map_get(&registry.vars, symbol);
    /* A managed variable is also named by its address, which is what `variable` means in host code. */
    for (size_t i = 0; !var && symbol && i < registry.modules.count; i++)
        for (size_t k = 0; !var && k < registry.modules.at[i]->vars.count; k++) {
            struct cudart_var *v = registry.modules.at[i]->vars.at[k];
            if (v->managed && *v->managed == symbol && !v->module->gone)
                var = v;
        }
    if (!var || var->module->gone)
        error = cudaErrorInvalidSymbol;
    else
        error = mg__cudart_load(var->module);
    if (!error && !var->address)
        error = cudaErrorInvalidSymbol;
    mg__cudart_unlock();
    *out = error ? NULL : var;
    return error;
}

void mg__cudart_registry_reset(void)
{
    for (size_t i = 0; i < registry.modules.count; i++) {
        struct cudart_module *module = registry.modules.at[i];
        for (size_t k = 0; k < module->funcs.count; k++) {
            module->funcs.at[k]->kernel = NULL;
            module->funcs.at[k]->shared_optin = 0;
        }
        for (size_t k = 0; k < module->vars.count; k++)
            module->vars.at[k]->address = 0;
        if (module->simt)
            mg__simt_module_unload(module->simt);
        module->simt = NULL;
    }
}

/* ---- kernel handles ---- */
int mg____cudaGetKernel(void **kernel, const void *host)
{
    /* Called from static initialisers of launch code: no device is made for it, and no error is kept. */
    mg__cudart_lock();
    struct cudart_func *func = map_get(&registry.funcs, host);
    mg__cudart_unlock();
    *kernel = func;
    return func ? 0 : cudaErrorInvalidDeviceFunction;
}

int mg__cudaGetKernel(void **kernel, const void *host)
{
    struct cudart_func *func;
    CUDART_ENTER();
    int error = kernel ? mg__cudart_func_find(host, &func) : cudaErrorInvalidValue;
    if (!error)
        *kernel = func;
    return mg__cudart_done(error);
}

int mg__cudaGetFuncBySymbol(void **function, const void *host)
{
    return mg__cudaGetKernel(function, host);
}

int mg__cudaFuncGetName(const char **name, const void *handle)
{
    struct cudart_func *func;
    CUDART_ENTER();
    int error = name ? mg__cudart_func_find(handle, &func) : cudaErrorInvalidValue;
    if (!error)
        *name = func->name;
    return mg__cudart_done(error);
}

int mg__cudaFuncGetParamInfo(const void *handle, size_t index, size_t *offset, size_t *size)
{
    struct cudart_func *func;
    CUDART_ENTER();
    int error = mg__cudart_func_find(handle, &func);
    if (!error && index >= func->info.func->nparams)
        error = cudaErrorInvalidValue;
    if (!error) {
        if (offset)
            *offset = func->info.func->params[index]->offset;
        if (size)
            *size = func->info.func->params[index]->size;
    }
    return mg__cudart_done(error);
}

int mg__cudaGetSymbolAddress(void **address, const void *symbol)
{
    struct cudart_var *var;
    CUDART_ENTER();
    int error = address ? mg__cudart_var_find(symbol, &var) : cudaErrorInvalidValue;
    if (!error)
        *address = (void *)(uintptr_t)var->address;
    return mg__cudart_done(error);
}

int mg__cudaGetSymbolSize(size_t *size, const void *symbol)
{
    struct cudart_var *var;
    CUDART_ENTER();
    int error = size ? mg__cudart_var_find(symbol, &var) : cudaErrorInvalidValue;
    if (!error)
        *size = var->device_size;
    return mg__cudart_done(error);
}
