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

/* One image, or the parts of a linked program; the device code is in `data` all the same. */
static bool set_code(struct mg_device_code *code, const struct wrapper *w)
{
    bool good = w && w->magic == WRAPPER_MAGIC;
    const void *const *parts = good && w->version == WRAPPER_LINKED ? w->file_or_parts : NULL;
    size_t n = 0;
    while (parts && parts[n])
        n++;
    struct mg_device_image *images = calloc(MG_MAX(n, 1), sizeof(*images));
    if (!images)
        return false;
    if (good && w->data)
        code->machine = images[0] = (struct mg_device_image){.data = w->data, .size = readable(w->data)};
    for (size_t i = 0; i < n; i++)
        images[i] = (struct mg_device_image){.data = parts[i], .size = readable(parts[i])};
    code->images = images;
    code->nimages = parts ? n : 1;
    code->linked = parts;
    return true;
}

void **mg____cudaRegisterFatBinary(const void *fat)
{
    const struct wrapper *w = fat;
    struct cudart_module *module = calloc(1, sizeof(*module));
    if (!module)
        return NULL;
    bool kept = set_code(&module->code, w); /* asks the loader: before the lock */
    mg__cudart_lock();
    kept = kept && map_put(&registry.ours, module, module) && mg__vec_push(&registry.modules, module);
    if (!kept)
        map_put(&registry.ours, module, NULL);
    mg__cudart_unlock();
    if (!kept) {
        free((void *)module->code.images);
        free(module);
        return NULL;
    }
    return (void **)module;
}

void mg____cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

/* What the device has of the module goes. */
static void unload(struct cudart_module *module, struct cudart_device *device)
{
    unsigned n = device->number;
    for (size_t i = 0; i < module->funcs.count; i++)
        module->funcs.at[i]->on[n] = NULL;
    for (size_t i = 0; i < module->vars.count; i++) {
        struct cudart_var *var = module->vars.at[i];
        if (var->home == device) {
            mg__cudart_unshare(device, var->on[n].address);
            var->home = NULL;
        }
        var->on[n].address = 0;
    }
    mg__device_unload(module->on[n]);
    module->on[n] = NULL;
    module->error[n] = 0;
}

void mg____cudaUnregisterFatBinary(void **handle)
{
    struct cudart_module *module = module_of(handle);
    if (!module)
        return;
    mg__cudart_guard_down();
    mg__cudart_lock();
    module->gone = true; /* other threads launch none of its kernels from here on … */
    mg__cudart_unlock();
    const bool ours = mg__cudart.pid == (int)getpid(), calm = ours && mg__cudart_calm(); /* … and have launched */
    mg__cudart_lock();
    for (size_t i = 0; i < module->funcs.count; i++) {
        memset(module->funcs.at[i]->on, 0, sizeof(module->funcs.at[i]->on));
        if (map_get(&registry.funcs, module->funcs.at[i]->host) == module->funcs.at[i])
            map_put(&registry.funcs, module->funcs.at[i]->host, NULL);
    }
    for (size_t i = 0; i < module->vars.count; i++)
        if (map_get(&registry.vars, module->vars.at[i]->host) == module->vars.at[i])
            map_put(&registry.vars, module->vars.at[i]->host, NULL);
    for (struct cudart_device *d = NULL; calm && (d = mg__cudart_next(d)) != NULL;)
        unload(module, d);
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
    mg__cudart_lock();
    if (func->name && mg__vec_push(&module->funcs, func)) {
        map_put(&registry.funcs, host, func);
        map_put(&registry.handles, func, func);
        func = NULL;
    }
    mg__cudart_unlock();
    if (func) {
        free(func->name);
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
    mg__cudart_load(module, mg__cudart_here());
    mg__cudart_unlock();
    return 1;
}

/* ---- loading ---- */
/* A managed variable lies in the memory of the first device that loads it, and is the same on all. */
static void place_managed(struct cudart_var *var, struct cudart_device *device)
{
    unsigned n = device->number;
    if (!var->home) {
        var->home = device;
        *var->managed = (void *)(uintptr_t)var->on[n].address;
        (void)mg__mem_managed(device->device->simt, var->on[n].address); /* without it, its pages take no time */
        mg__check_allocated(device->device->check, var->on[n].address, var->on[n].size, MG_CHECK_MANAGED_VARIABLE);
        for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
            mg__cudart_share(device, d, var->on[n].address, var->on[n].size);
    } else if (var->home != device) {
        var->on[n].address = var->on[var->home->number].address;
        mg__simt_module_place(var->module->on[n]->simt, var->name, var->on[n].address);
    }
}

bool mg__cudart_in_managed_variable(uint64_t address)
{
    for (size_t i = 0; i < registry.modules.count; i++)
        for (size_t k = 0; k < registry.modules.at[i]->vars.count; k++) {
            const struct cudart_var *v = registry.modules.at[i]->vars.at[k];
            if (v->managed && *v->managed && address - (uint64_t)(uintptr_t)*v->managed < v->size)
                return true;
        }
    return false;
}

/* The host may touch managed variables all the same. */
static void place_unloaded(struct cudart_var *var, struct cudart_device *device)
{
    uint64_t address;
    if (var->managed && !*var->managed && !mg__mem_alloc(device->device->simt, MG_MAX(var->size, 1), 256, &address)) {
        memset((void *)(uintptr_t)address, 0, var->size);
        *var->managed = (void *)(uintptr_t)address;
    }
}

/* What went wrong, the first time that it does, is told in *diag. */
int mg__cudart_module_load(struct cudart_module *module, struct cudart_device *device, struct mg_diag *diag)
{
    unsigned n = device->number;
    memset(diag, 0, sizeof(*diag));
    if (module->on[n] || module->error[n])
        return module->error[n];
    enum mg_status status = mg__device_load(device->device, &module->code, &module->on[n], diag);
    if (status) {
        module->error[n] = mg__cudart_error_of(status);
        for (size_t i = 0; i < module->vars.count; i++)
            place_unloaded(module->vars.at[i], device);
        return module->error[n];
    }
    for (size_t i = 0; i < module->vars.count; i++) {
        struct cudart_var *var = module->vars.at[i];
        if (mg__simt_module_symbol(module->on[n]->simt, var->name, &var->on[n].address, &var->on[n].size)) {
            if (var->managed)
                place_managed(var, device);
        } /* else not in this device's PTX: asking for it says so */
    }
    return 0;
}

int mg__cudart_load(struct cudart_module *module, struct cudart_device *device)
{
    struct mg_diag diag;
    int error = mg__cudart_module_load(module, device, &diag);
    if (error && diag.status)
        mg__cudart_tell(NULL, &diag);
    return error;
}

/* ---- what the driver loads ---- */
struct cudart_module *mg__cudart_module_make(const struct mg_device_code *code, struct cudart_device *only, void *copy)
{
    struct cudart_module *module = calloc(1, sizeof(*module));
    if (!module)
        return NULL;
    module->code = *code;
    module->only = only;
    module->copy = copy;
    module->kind = only ? CUDART_MODULE : CUDART_LIBRARY;
    mg__cudart_lock();
    bool kept = mg__vec_push(&registry.modules, module);
    mg__cudart_unlock();
    if (kept)
        return module;
    free(module);
    return NULL;
}

struct cudart_module *mg__cudart_module_known(const void *handle)
{
    struct cudart_module *found = NULL;
    mg__cudart_lock();
    for (size_t i = 0; i < registry.modules.count && !found; i++)
        if (registry.modules.at[i] == handle)
            found = registry.modules.at[i];
    mg__cudart_unlock();
    return found && found->kind != CUDART_REGISTERED && !found->gone ? found : NULL;
}

struct cudart_func *mg__cudart_func_make(struct cudart_module *module, const char *name)
{
    struct cudart_func *func = NULL;
    mg__cudart_lock();
    for (size_t i = 0; i < module->funcs.count && !func; i++)
        if (!strcmp(module->funcs.at[i]->name, name))
            func = module->funcs.at[i];
    if (!func && (func = calloc(1, sizeof(*func))) != NULL) {
        func->module = module;
        func->name = strdup(name);
        if (!func->name || !map_put(&registry.handles, func, func)) {
            free(func->name);
            free(func);
            func = NULL;
        } else if (!mg__vec_push(&module->funcs, func)) {
            map_put(&registry.handles, func, NULL);
            free(func->name);
            free(func);
            func = NULL;
        }
    }
    mg__cudart_unlock();
    return func;
}

/* The handle of a kernel is one no more. */
static void forget_func(struct cudart_func *func)
{
    map_put(&registry.handles, func, NULL);
    free(func->name);
    free(func->settings);
    free(func);
}

void mg__cudart_module_drop(struct cudart_module *module)
{
    mg__cudart_lock();
    for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
        if (module->on[d->number])
            unload(module, d);
    for (size_t i = 0; i < module->funcs.count; i++)
        forget_func(module->funcs.at[i]);
    size_t at = 0;
    while (registry.modules.at[at] != module)
        at++;
    registry.modules.at[at] = registry.modules.at[--registry.modules.count];
    mg__cudart_unlock();
    mg__vec_free(&module->funcs);
    mg__vec_free(&module->vars);
    free(module->copy);
    free(module);
}

struct cudart_func *mg__cudart_func_known(const void *handle)
{
    mg__cudart_lock();
    struct cudart_func *func = map_get(&registry.handles, handle);
    mg__cudart_unlock();
    return func;
}

/* By host address or kernel handle, under the lock. */
static struct cudart_func *func_of(const void *handle)
{
    struct cudart_func *func = map_get(&registry.funcs, handle);
    return func ? func : map_get(&registry.handles, handle);
}

int mg__cudart_func_find(const void *handle, struct cudart_device *device, struct mg_device_kernel **kernel)
{
    int error = 0;
    *kernel = NULL;
    if (!handle)
        return cudaErrorInvalidDeviceFunction;
    mg__cudart_lock();
    struct cudart_func *func = func_of(handle);
    if ((!func || func->module->gone) && atomic_load(&mg__cudart.ending))
        error = cudaErrorCudartUnloading;
    else if (!func || func->module->gone)
        error = cudaErrorInvalidResourceHandle; /* as CUDA 13 answers for an address that is no kernel's */
    else if (func->module->only && func->module->only != device)
        error = cudaErrorInvalidResourceHandle;
    else
        error = mg__cudart_load(func->module, device);
    if (!error) {
        struct mg_device_kernel **on = &func->on[device->number];
        if (!*on && mg__device_kernel(func->module->on[device->number], func->name, on))
            error = cudaErrorInvalidDeviceFunction;
        *kernel = *on;
    }
    mg__cudart_unlock();
    return error;
}

int mg__cudart_var_find(const void *symbol, uint64_t *address, uint64_t *size)
{
    struct cudart_device *here = mg__cudart_here();
    int error = 0;
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
        error = mg__cudart_load(var->module, here);
    if (!error && !var->on[here->number].address)
        error = cudaErrorInvalidSymbol;
    if (!error) {
        *address = var->on[here->number].address;
        *size = var->on[here->number].size;
    }
    mg__cudart_unlock();
    return error;
}

void mg__cudart_registry_join(struct cudart_device *device)
{
    for (size_t i = 0; i < registry.modules.count; i++)
        for (size_t k = 0; k < registry.modules.at[i]->vars.count; k++) {
            const struct cudart_var *var = registry.modules.at[i]->vars.at[k];
            if (var->home)
                mg__cudart_share(var->home, device, var->on[var->home->number].address,
                                 var->on[var->home->number].size);
        }
}

void mg__cudart_registry_reset(struct cudart_device *device)
{
    for (size_t i = 0; i < registry.modules.count; i++) {
        unload(registry.modules.at[i], device);
        registry.modules.at[i]->gone |= registry.modules.at[i]->only == device;
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

int mg__cudaGetKernel(void **handle, const void *host)
{
    struct mg_device_kernel *kernel;
    CUDART_ENTER();
    int error = handle ? mg__cudart_func_find(host, mg__cudart_here(), &kernel) : cudaErrorInvalidValue;
    if (!error) {
        mg__cudart_lock();
        *handle = func_of(host);
        mg__cudart_unlock();
    }
    return mg__cudart_done(error);
}

int mg__cudaGetFuncBySymbol(void **function, const void *host)
{
    return mg__cudaGetKernel(function, host);
}

int mg__cudaFuncGetName(const char **name, const void *handle)
{
    struct mg_device_kernel *kernel;
    CUDART_ENTER();
    int error = name ? mg__cudart_func_find(handle, mg__cudart_here(), &kernel) : cudaErrorInvalidValue;
    if (!error) {
        mg__cudart_lock();
        *name = func_of(handle)->name;
        mg__cudart_unlock();
    }
    return mg__cudart_done(error);
}

int mg__cudaFuncGetParamInfo(const void *handle, size_t index, size_t *offset, size_t *size)
{
    struct mg_device_kernel *kernel;
    CUDART_ENTER();
    int error = mg__cudart_func_find(handle, mg__cudart_here(), &kernel);
    if (!error && index >= kernel->info.func->nparams)
        error = cudaErrorInvalidValue;
    if (!error) {
        if (offset)
            *offset = kernel->info.func->params[index]->offset;
        if (size)
            *size = kernel->info.func->params[index]->size;
    }
    return mg__cudart_done(error);
}

int mg__cudaGetSymbolAddress(void **address, const void *symbol)
{
    uint64_t at, size;
    CUDART_ENTER();
    int error = address ? mg__cudart_var_find(symbol, &at, &size) : cudaErrorInvalidValue;
    if (!error)
        *address = (void *)(uintptr_t)at;
    return mg__cudart_done(error);
}

int mg__cudaGetSymbolSize(size_t *size, const void *symbol)
{
    uint64_t at, bytes;
    CUDART_ENTER();
    int error = size ? mg__cudart_var_find(symbol, &at, &bytes) : cudaErrorInvalidValue;
    if (!error)
        *size = bytes;
    return mg__cudart_done(error);
}
