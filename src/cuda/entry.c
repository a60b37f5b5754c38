/* entry.c - how a call begins and ends; errors, versions, and functions by name.
 *
 * The driver needs cuInit, or a call of the runtime, before anything else. A call that needs a context returns what
 * its context was poisoned with. The codes of the runtime are the driver's, but for those that the driver has not.
 */
#define _GNU_SOURCE /* dladdr */
#include "cuda/driver.h"

#include <dlfcn.h>

enum { DRIVER_VERSION = 13000 };

int mg__cuda_begin(const char *name)
{
    mg__cudart_driver = name + 4; /* behind mg__ */
    if (!atomic_load_explicit(&mg__cudart.ready, memory_order_acquire))
        return CUDA_ERROR_NOT_INITIALIZED;
    return mg__cudart_begin();
}

bool mg__cuda_primary_active(const struct cudart_device *device)
{
    return (device->retained && !device->ended) || device->runtime;
}

int mg__cuda_enter(const char *name)
{
    int error = mg__cuda_begin(name);
    const struct cudart_context *context = error ? NULL : mg__cudart_current();
    if (error)
        return error;
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->device || (context->primary && !mg__cuda_primary_active(context->device)))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    mg__cudart_call = mg__cudart_call_of(name + 4);
    return mg__cudart_use(context->device);
}

static const char *name_of(int error)
{
    switch (error) {
#define CUDA_ERROR(value, name, text) \
    case value:                       \
        return #name;
#include "cuda/errors.def"
#undef CUDA_ERROR
    }
    return NULL;
}

static int driver_error(int error)
{
    switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
        return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
        return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction:
        return CUDA_ERROR_INVALID_HANDLE;
    default:
        return error;
    }
}

int mg__cuda_done(int error)
{
    error = driver_error(error);
    if (error && error != CUDA_ERROR_NOT_READY && atomic_load(&mg__cudart.ready)) {
        const char *name = name_of(error);
        mg__cudart_failed(error, name ? name : "an error");
    }
    mg__cudart_driver = NULL;
    mg__cudart_call.name = NULL;
    mg__cudart_per_thread = 0;
    mg__cudart_guard_up();
    return error;
}

/* Whether `name`, a string that stays where it is, comes for the first time. */
static bool first_time(const char *name)
{
    static _Atomic(const char *) told[64];
    for (size_t i = 0; i < MG_COUNT(told); i++) {
        const char *seen = NULL;
        if (atomic_compare_exchange_strong(&told[i], &seen, name))
            return true;
        if (seen == name)
            return false;
    }
    return true;
}

int mg__cuda_missing(const char *name)
{
    struct mg_diag diag;
    mg__cudart_per_thread = 0;
    if (!first_time(name))
        return CUDA_ERROR_NOT_SUPPORTED;
    memset(&diag, 0, sizeof(diag));
    mg__diag_set(&diag, MG_ERR_UNSUPPORTED, "the program calls %s, which is not simulated", name);
    mg__diag_hint(&diag, "it returned CUDA_ERROR_NOT_SUPPORTED; docs/cuda-driver.md lists what there is");
    mg__cudart_tell(NULL, &diag);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- the entry points ---- */
int mg__cuInit(unsigned flags)
{
    mg__cudart_driver = __func__ + 4;
    return mg__cuda_done(flags ? CUDA_ERROR_INVALID_VALUE : mg__cudart_begin());
}

int mg__cuDriverGetVersion(int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = DRIVER_VERSION;
    return CUDA_SUCCESS;
}

int mg__cuGetErrorName(int error, const char **name)
{
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = name_of(error);
    if (atomic_load(&mg__cudart.ready))
        mg__cudart_looked(*name);
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

int mg__cuGetErrorString(int error, const char **text)
{
    const char *name;
    int found = mg__cuGetErrorName(error, text ? &name : NULL);
    if (!text)
        return found;
    *text = NULL;
    switch (error) {
#define CUDA_ERROR(value, name, words) \
    case value:                        \
        *text = words;                 \
        break;
#include "cuda/errors.def"
#undef CUDA_ERROR
    }
    return found;
}

enum cuda_found mg__cuda_find(const char *name, unsigned version, bool per_thread, void **function)
{
    const struct cuda_api *best = NULL;
    bool known = false;
    *function = NULL;
    for (const struct cuda_api *a = mg__cuda_api; a->name; a++) {
        if (strcmp(a->name, name))
            continue;
        known = true;
        /* The thread's own default stream came with 7.0: versions before it stand for theirs. */
        bool better = !best || a->thread > best->thread || (a->thread == best->thread && a->version > best->version);
        if (a->version <= version && (!a->thread || per_thread) && better)
            best = a;
    }
    if (best)
        memcpy(function, &best->entry, sizeof(*function));
    return best ? CUDA_FOUND : known ? CUDA_TOO_NEW : CUDA_NOT_FOUND;
}

int mg__cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *status)
{
    enum { LEGACY = 1, PER_THREAD = 2 };
    if (!symbol || !function || flags > PER_THREAD)
        return CUDA_ERROR_INVALID_VALUE;
    *function = NULL;
    enum cuda_found found = mg__cuda_find(symbol, (unsigned)version, flags == PER_THREAD, function);
    if (status)
        *status = (int)found;
    return CUDA_SUCCESS; /* with or without a status, as an H200's driver has it (580.159) */
}

int mg__cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
    void *found = NULL;
    int error = mg__cuGetProcAddress_v2(symbol, function ? &found : NULL, version, flags, NULL);
    if (!error && found)
        *function = found;
    return error || found ? error : CUDA_ERROR_NOT_FOUND;
}

/* Its tables are not documented, and libraries ask for them as they start: nothing is said. */
/* Who asks is a runtime inside a library that could not be redirected: what it serves finds no device, and the user is
 * told which library that is. NVRTC and nvJitLink ask too, and do without. */
int mg__cuGetExportTable(const void **table, const void *id)
{
    Dl_info caller;
    if (!table || !id)
        return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    bool known = dladdr(__builtin_return_address(0), &caller) && caller.dli_fname;
    if (known && !strstr(caller.dli_fname, "/libnvrtc") && !strstr(caller.dli_fname, "/libnvJitLink") &&
        first_time(caller.dli_fname)) {
        struct mg_diag diag;
        memset(&diag, 0, sizeof(diag));
        mg__diag_set(&diag, MG_ERR_UNSUPPORTED,
                     "%s has a CUDA runtime inside, which asks the driver for tables (cuGetExportTable) that are not "
                     "documented: it finds no device",
                     caller.dli_fname);
        mg__diag_hint(&diag, "if it is yours, do not strip it, or link it with nvcc -cudart shared");
        mg__cudart_tell(NULL, &diag);
    }
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUDA_SAME(cuProfilerStart, (void), 0)
CUDA_SAME(cuProfilerStop, (void), 0)

/* The runtime's way to the driver's functions. Without a version it is that of the runtime that the program has. */
int mg__cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version, uint64_t flags,
                                         int *found)
{
    enum { PER_THREAD = 2 };
    CUDART_ENTER();
    if (!symbol || !function || flags > PER_THREAD)
        return mg__cudart_done(cudaErrorInvalidValue);
    enum cuda_found how = mg__cuda_find(symbol, version, flags == PER_THREAD, function);
    if (found)
        *found = (int)how;
    return mg__cudart_done(*function || found ? cudaSuccess : cudaErrorSymbolNotFound);
}

int mg__cudaGetDriverEntryPoint(const char *symbol, void **function, uint64_t flags, int *found)
{
    return mg__cudaGetDriverEntryPointByVersion(symbol, function, mg__cudart.version == 12 ? 12090 : 13000, flags,
                                                found);
}
