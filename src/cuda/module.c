/* module.c - modules, libraries and the kernels in them. Both are held as what programs register is
 * (cudart/registry.c): a module is loaded at once and for its context alone, a library where it is first used.
 * CUfunction and CUkernel are the same handles, and the runtime takes them too.
 */
#include "cuda/driver.h"

enum { MOST_PTX = 9 }; /* major version */

/* Whether text begins as PTX does: with a directive, behind blanks and comments. */
static bool looks_like_ptx(const char *text)
{
    for (;;) {
        text += strspn(text, " \t\r\n\f\v");
        const char *end = !strncmp(text, "//", 2)   ? strchr(text, '\n')
                          : !strncmp(text, "/*", 2) ? strstr(text, "*/")
                                                    : NULL;
        if (!end)
            return *text == '.';
        text = end + (*end == '\n' ? 1 : 2);
    }
}

/* An image, copied, for programs may free theirs. A cubin's size is not known; that it is one is all that is asked. */
static int copy_image(const void *data, struct mg_device_image *image, bool now, void **copy)
{
    *image = mg__device_image(data);
    *copy = NULL;
    bool elf = image->data && image->size >= 4 && !memcmp(image->data, "\177ELF", 4);
    if (!image->data || (now && image->text && !looks_like_ptx(image->data)) ||
        (elf && !mg__cubin_is(image->data, image->size)))
        return CUDA_ERROR_INVALID_IMAGE;
    char *bytes = malloc(image->size + 1);
    if (!bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(bytes, image->data, image->size);
    bytes[image->size] = '\0';
    image->data = *copy = bytes;
    return 0;
}

const char *mg__cuda_unresolved(const struct mg_ptx_module *ptx)
{
    for (size_t i = 0; i < ptx->nfuncs; i++)
        for (size_t k = 0; k < ptx->funcs[i]->noperands; k++) {
            const struct mg_ptx_opnd *o = &ptx->funcs[i]->operands[k];
            const struct mg_ptx_func *f = o->kind == MG_OPND_FUNC ? o->func : NULL;
            if (f && !f->defined && !mg__simt_provides(f->name) && !mg__simt_device_runtime(f->name))
                return f->name;
        }
    return NULL;
}

/* What the driver refuses of PTX that the engine would take, for it fails where it is used: what is for later devices,
 * and functions that are called and are nowhere. */
static int accept(const struct mg_device_module *m, struct mg_diag *diag)
{
    const struct mg_ptx_module *ptx = m->ptx;
    unsigned cc = m->device->arch.cc;
    if (ptx->version_major > MOST_PTX) {
        mg__diag_set(diag, MG_ERR_UNSUPPORTED, "PTX of version %u.%u is newer than all that is known",
                     ptx->version_major, ptx->version_minor);
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    if (ptx->target_sm > cc) {
        mg__diag_set(diag, MG_ERR_SYNTAX, "PTX for sm_%u does not run on a device of compute capability %u.%u",
                     ptx->target_sm, cc / 10, cc % 10);
        return CUDA_ERROR_INVALID_PTX;
    }
    const char *lacks = mg__cuda_unresolved(ptx);
    if (!lacks)
        return 0;
    mg__diag_set(diag, MG_ERR_SYNTAX, "Unresolved extern function '%s'", lacks);
    return CUDA_ERROR_INVALID_PTX;
}

/* `only`: the context that it is loaded for, at once; NULL: it is a library. */
static int make(void **handle, const void *data, struct cudart_device *only, struct cuda_jit *jit)
{
    struct mg_device_image image, *kept;
    struct mg_diag diag;
    void *copy;
    int error = copy_image(data, &image, only, &copy);
    if (error)
        return error;
    /* The list of images lies behind the image itself. */
    size_t at = (image.size + 1 + 15) / 16 * 16;
    char *both = realloc(copy, at + sizeof(image));
    if (!both) {
        free(copy);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    image.data = both;
    kept = memcpy(both + at, &image, sizeof(image));
    struct mg_device_code code = {.images = kept, .nimages = 1};
    if (!image.text)
        code.machine = image;
    struct cudart_module *module = mg__cudart_module_make(&code, only, both);
    if (!module) {
        free(both);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memset(&diag, 0, sizeof(diag));
    if (only) {
        mg__cudart_lock();
        error = mg__cudart_module_load(module, only, &diag);
        if (!error)
            error = accept(module->on[only->number], &diag);
        mg__cudart_unlock();
    }
    if (mg__cuda_jit_done(jit, error, &diag)) {
        mg__cudart_module_drop(module);
        return error;
    }
    *handle = module;
    return 0;
}

static int make_of_file(void **handle, const char *path, struct cudart_device *only, struct cuda_jit *jit)
{
    char *data;
    size_t size;
    if (mg__file_read(path, SIZE_MAX / 2, &data, &size, NULL))
        return CUDA_ERROR_FILE_NOT_FOUND;
    struct mg_device_image image = mg__device_image(data);
    int error = image.size <= size ? make(handle, data, only, jit) : CUDA_ERROR_INVALID_IMAGE;
    free(data);
    return error;
}

/* ---- modules ---- */
static int load(void **handle, const void *data, const char *path, unsigned count, const int *options, void **values)
{
    struct cuda_jit jit;
    int error = handle && (data || path) ? mg__cuda_jit(count, options, values, &jit) : CUDA_ERROR_INVALID_VALUE;
    if (error)
        return error;
    return data ? make(handle, data, mg__cudart_here(), &jit) : make_of_file(handle, path, mg__cudart_here(), &jit);
}

CUDA_SAME(cuModuleLoadDataEx, (void **module, const void *data, unsigned count, const int *options, void **values),
          load(module, data, NULL, count, options, values))
CUDA_SAME(cuModuleLoadData, (void **module, const void *data), load(module, data, NULL, 0, NULL, NULL))
CUDA_SAME(cuModuleLoadFatBinary, (void **module, const void *data), load(module, data, NULL, 0, NULL, NULL))
CUDA_SAME(cuModuleLoad, (void **module, const char *path), load(module, NULL, path, 0, NULL, NULL))

/* A library is a module, too: cuLibraryGetModule says so. */
static struct cudart_module *known(const void *handle, bool library)
{
    struct cudart_module *module = mg__cudart_module_known(handle);
    return module && (!library || module->kind == CUDART_LIBRARY) ? module : NULL;
}

int mg__cuModuleUnload(void *handle)
{
    CUDA_ENTER();
    struct cudart_module *module = known(handle, false);
    if (!module || !module->only)
        return mg__cuda_done(CUDA_ERROR_INVALID_HANDLE);
    int error = mg__cudart_wait_all(module->only);
    mg__cudart_module_drop(module);
    return mg__cuda_done(error);
}

/* The kernel of that name, of a module or library that is loaded here. */
static int function(void **handle, struct cudart_module *module, const char *name)
{
    struct mg_device_kernel *kernel;
    struct cudart_device *here = mg__cudart_here();
    if (!handle || !name || !*name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    mg__cudart_lock();
    int error = module->only && module->only != here ? CUDA_ERROR_INVALID_HANDLE : mg__cudart_load(module, here);
    if (!error && mg__device_kernel(module->on[here->number], name, &kernel))
        error = CUDA_ERROR_NOT_FOUND;
    mg__cudart_unlock();
    if (error)
        return error;
    *handle = mg__cudart_func_make(module, name);
    return *handle ? 0 : CUDA_ERROR_OUT_OF_MEMORY;
}

static int variable(uint64_t *address, size_t *size, struct cudart_module *module, const char *name)
{
    uint64_t at = 0, bytes = 0;
    struct cudart_device *here = mg__cudart_here();
    if (!name || (!address && !size))
        return CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    mg__cudart_lock();
    int error = module->only && module->only != here ? CUDA_ERROR_INVALID_HANDLE : mg__cudart_load(module, here);
    if (!error && !mg__simt_module_symbol(module->on[here->number]->simt, name, &at, &bytes))
        error = CUDA_ERROR_NOT_FOUND;
    mg__cudart_unlock();
    if (!error && address)
        *address = at;
    if (!error && size)
        *size = bytes;
    return error;
}

CUDA_SAME(cuModuleGetFunction, (void **f, void *module, const char *name), function(f, known(module, false), name))
CUDA_SAME(cuModuleGetGlobal, (uint64_t * address, size_t *size, void *module, const char *name),
          variable(address, size, known(module, false), name))

/* The kernels that the PTX defines: counted, and the first `most` of them as handles. */
static int list(void **handles, unsigned most, unsigned *count, struct cudart_module *module)
{
    struct cudart_device *here = mg__cudart_here();
    unsigned n = 0;
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    mg__cudart_lock();
    int error = module->only && module->only != here ? CUDA_ERROR_INVALID_HANDLE : mg__cudart_load(module, here);
    const struct mg_ptx_module *ptx = error ? NULL : module->on[here->number]->ptx;
    for (size_t i = 0; ptx && i < ptx->nfuncs; i++) {
        if (!ptx->funcs[i]->is_entry || !ptx->funcs[i]->defined)
            continue;
        if (handles && n < most)
            error = (handles[n] = mg__cudart_func_make(module, ptx->funcs[i]->name)) ? error : CUDA_ERROR_OUT_OF_MEMORY;
        n++;
    }
    mg__cudart_unlock();
    if (count)
        *count = n;
    return error;
}

CUDA_SAME(cuModuleGetFunctionCount, (unsigned *count, void *module),
          count ? list(NULL, 0, count, known(module, false)) : CUDA_ERROR_INVALID_VALUE)
CUDA_SAME(cuModuleEnumerateFunctions, (void **functions, unsigned most, void *module),
          functions ? list(functions, most, NULL, known(module, false)) : CUDA_ERROR_INVALID_VALUE)

int mg__cuModuleGetLoadingMode(int *mode)
{
    CUDA_BEGIN();
    if (!mode)
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    *mode = 2; /* CU_MODULE_LAZY_LOADING */
    return mg__cuda_done(0);
}

/* ---- libraries ---- */
static int load_library(void **handle, const void *data, const char *path, const int *options, void **values,
                        unsigned count)
{
    struct cuda_jit jit;
    int error = handle && (data || path) ? mg__cuda_jit(count, options, values, &jit) : CUDA_ERROR_INVALID_VALUE;
    if (error)
        return error;
    return path ? make_of_file(handle, path, NULL, &jit) : make(handle, data, NULL, &jit);
}

int mg__cuLibraryLoadData(void **library, const void *code, const int *jit, void **values, unsigned njit,
                          const int *options, void **option_values, unsigned noptions)
{
    CUDA_BEGIN();
    (void)options, (void)option_values, (void)noptions; /* whether the image stays, and is binary: it is copied */
    return mg__cuda_done(load_library(library, code, NULL, jit, values, njit));
}

int mg__cuLibraryLoadFromFile(void **library, const char *path, const int *jit, void **values, unsigned njit,
                              const int *options, void **option_values, unsigned noptions)
{
    CUDA_BEGIN();
    (void)options, (void)option_values, (void)noptions;
    return mg__cuda_done(load_library(library, NULL, path, jit, values, njit));
}

static int unload(void *handle)
{
    struct cudart_module *library = known(handle, true);
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
        if (library->on[d->number])
            mg__queue_wait_all(d->device);
    mg__cudart_module_drop(library);
    return 0;
}

int mg__cuLibraryUnload(void *handle)
{
    CUDA_BEGIN();
    return mg__cuda_done(unload(handle));
}

/* A call that the runtime has as well, under its own name and with its own codes, which are the driver's numbers. */
#define BOTH_SAME(SAME, name, parameters, call)                     \
    SAME(cu##name, parameters, call) int mg__cuda##name parameters; \
    int mg__cuda##name parameters                                   \
    {                                                               \
        CUDART_ENTER();                                             \
        return mg__cudart_done(call);                               \
    }

BOTH_SAME(CUDA_ANYWHERE, LibraryGetKernel, (void **kernel, void *library, const char *name),
          function(kernel, known(library, true), name))
BOTH_SAME(CUDA_SAME, LibraryGetGlobal, (uint64_t * address, size_t *size, void *library, const char *name),
          variable(address, size, known(library, true), name))
BOTH_SAME(CUDA_ANYWHERE, LibraryGetManaged, (uint64_t * address, size_t *size, void *library, const char *name),
          variable(address, size, known(library, true), name))
BOTH_SAME(CUDA_ANYWHERE, LibraryGetKernelCount, (unsigned *count, void *library),
          count ? list(NULL, 0, count, known(library, true)) : CUDA_ERROR_INVALID_VALUE)
BOTH_SAME(CUDA_ANYWHERE, LibraryEnumerateKernels, (void **kernels, unsigned most, void *library),
          kernels ? list(kernels, most, NULL, known(library, true)) : CUDA_ERROR_INVALID_VALUE)

int mg__cudaLibraryLoadData(void **library, const void *code, const int *jit, void **values, unsigned njit,
                            const int *options, void **option_values, unsigned noptions);
int mg__cudaLibraryLoadData(void **library, const void *code, const int *jit, void **values, unsigned njit,
                            const int *options, void **option_values, unsigned noptions)
{
    CUDART_ENTER();
    (void)options, (void)option_values, (void)noptions;
    return mg__cudart_done(load_library(library, code, NULL, jit, values, njit));
}

int mg__cudaLibraryLoadFromFile(void **library, const char *path, const int *jit, void **values, unsigned njit,
                                const int *options, void **option_values, unsigned noptions);
int mg__cudaLibraryLoadFromFile(void **library, const char *path, const int *jit, void **values, unsigned njit,
                                const int *options, void **option_values, unsigned noptions)
{
    CUDART_ENTER();
    (void)options, (void)option_values, (void)noptions;
    return mg__cudart_done(load_library(library, NULL, path, jit, values, njit));
}

int mg__cudaLibraryUnload(void *handle);
int mg__cudaLibraryUnload(void *handle)
{
    CUDART_ENTER();
    return mg__cudart_done(unload(handle));
}

/* A library as its context has it. */
int mg__cuLibraryGetModule(void **module, void *handle)
{
    CUDA_ENTER();
    struct cudart_module *library = known(handle, true);
    if (!module || !library)
        return mg__cuda_done(module ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE);
    mg__cudart_lock();
    int error = mg__cudart_load(library, mg__cudart_here());
    mg__cudart_unlock();
    if (!error)
        *module = library;
    return mg__cuda_done(error);
}

/* ---- kernels ---- */
static int kernel_of(const void *handle, struct mg_device_kernel **kernel)
{
    return mg__cudart_func_find(handle, mg__cudart_here(), kernel);
}

static int as_function(void **function, void *kernel)
{
    struct mg_device_kernel *k;
    int error = function ? kernel_of(kernel, &k) : CUDA_ERROR_INVALID_VALUE;
    if (!error)
        *function = kernel;
    return error;
}

static int owner(void **owner, const void *handle, bool library)
{
    const struct cudart_func *func = mg__cudart_func_known(handle);
    if (!owner)
        return CUDA_ERROR_INVALID_VALUE;
    if (!func || func->module->kind == CUDART_REGISTERED || (library && func->module->only))
        return CUDA_ERROR_INVALID_HANDLE;
    *owner = func->module;
    return 0;
}

CUDA_SAME(cuKernelGetFunction, (void **function, void *kernel), as_function(function, kernel))
CUDA_ANYWHERE(cuKernelGetLibrary, (void **library, void *kernel), owner(library, kernel, true))
CUDA_SAME(cuFuncGetModule, (void **module, void *function), owner(module, function, false))
CUDA_ANYWHERE(cuKernelGetName, (const char **name, void *kernel), mg__cudaFuncGetName(name, kernel))
CUDA_SAME(cuFuncGetName, (const char **name, void *function), mg__cudaFuncGetName(name, function))
CUDA_SAME(cuKernelGetParamInfo, (void *kernel, size_t index, size_t *offset, size_t *size),
          offset ? mg__cudaFuncGetParamInfo(kernel, index, offset, size) : CUDA_ERROR_INVALID_VALUE)
CUDA_SAME(cuFuncGetParamInfo, (void *function, size_t index, size_t *offset, size_t *size),
          offset ? mg__cudaFuncGetParamInfo(function, index, offset, size) : CUDA_ERROR_INVALID_VALUE)
CUDA_SAME(cuFuncLoad, (void *function), as_function(&function, function))

static int is_loaded(int *state, void *function)
{
    struct mg_device_kernel *k;
    int error = state ? kernel_of(function, &k) : CUDA_ERROR_INVALID_VALUE;
    if (!error)
        *state = 1;
    return error;
}
CUDA_SAME(cuFuncIsLoaded, (int *state, void *function), is_loaded(state, function))

/* cudaFuncAttributes, as numbers. */
static int get_attribute(int *value, int number, const void *handle)
{
    struct cu_func_attributes a;
    int error = value ? mg__cudaFuncGetAttributes(&a, handle) : CUDA_ERROR_INVALID_VALUE;
    if (error)
        return error;
    const int all[] = {a.max_threads,
                       (int)a.shared_bytes,
                       (int)a.const_bytes,
                       (int)a.local_bytes,
                       a.regs,
                       a.ptx_version,
                       a.binary_version,
                       a.cache_mode_ca,
                       a.max_dynamic_shared,
                       a.shared_carveout,
                       a.cluster_dim_must_be_set,
                       a.cluster_width,
                       a.cluster_height,
                       a.cluster_depth,
                       a.cluster_non_portable,
                       a.cluster_policy};
    if (number < 0 || (size_t)number >= MG_COUNT(all))
        return CUDA_ERROR_INVALID_VALUE;
    *value = all[number];
    return 0;
}

CUDA_SAME(cuFuncGetAttribute, (int *value, int number, void *function), get_attribute(value, number, function))
CUDA_SAME(cuFuncSetAttribute, (void *function, int number, int value),
          number == CU_FUNC_CLUSTER_MUST_BE_SET ? CUDA_ERROR_INVALID_VALUE
                                                : mg__cudaFuncSetAttribute(function, number, value))
CUDA_SAME(cuFuncSetCacheConfig, (void *function, int config), mg__cudaFuncSetCacheConfig(function, config))
CUDA_SAME(cuFuncSetSharedMemConfig, (void *function, int config), mg__cudaFuncSetSharedMemConfig(function, config))
CUDA_ANYWHERE(cuKernelGetAttribute, (int *value, int number, void *kernel, int device),
              mg__cudart_at(device) ? get_attribute(value, number, kernel) : CUDA_ERROR_INVALID_DEVICE)
CUDA_ANYWHERE(cuKernelSetAttribute, (int number, int value, void *kernel, int device),
              mg__cudaKernelSetAttributeForDevice(kernel, number, value, device))
CUDA_ANYWHERE(cuKernelSetCacheConfig, (void *kernel, int config, int device),
              mg__cudart_at(device) ? mg__cudaFuncSetCacheConfig(kernel, config) : CUDA_ERROR_INVALID_DEVICE)
