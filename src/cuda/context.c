/* context.c - devices and contexts. All devices of a process are alike (device/attribute.def); a device's number is its
 * handle. What contexts are stands in cudart/context.c.
 */
#include "cuda/driver.h"

enum { VERSION = 3020 };
#define CONTEXT_FLAGS 0xffu

static int get(int ordinal, int number)
{
    const struct mg_device_options o = mg__cudart_options((unsigned)ordinal);
    int value;
    mg__device_attribute(&o, number, &value);
    return value;
}

/* ---- devices ---- */
int mg__cuDeviceGet(int *device, int ordinal)
{
    CUDA_BEGIN();
    if (!device)
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    if (!mg__cudart_at(ordinal))
        return mg__cuda_done(CUDA_ERROR_INVALID_DEVICE);
    *device = ordinal;
    return mg__cuda_done(0);
}

int mg__cuDeviceGetCount(int *count)
{
    CUDA_BEGIN();
    if (!count)
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    *count = (int)mg__cudart.process.devices;
    return mg__cuda_done(0);
}

/* Whether there is such a device, and somewhere for the answer to go. */
static int check(const void *out, int device)
{
    return !out ? CUDA_ERROR_INVALID_VALUE : mg__cudart_at(device) ? 0 : CUDA_ERROR_INVALID_DEVICE;
}

int mg__cuDeviceGetName(char *name, int length, int device)
{
    CUDA_BEGIN();
    int error = length <= 0 ? CUDA_ERROR_INVALID_VALUE : check(name, device);
    if (!error) {
        const struct mg_device_options o = mg__cudart_options((unsigned)device);
        snprintf(name, (size_t)length, "%s", mg__device_header(&o).name);
    }
    return mg__cuda_done(error);
}

int mg__cuDeviceGetUuid(char *uuid, int device) /* 16 bytes */
{
    CUDA_BEGIN();
    int error = check(uuid, device);
    if (!error) {
        memcpy(uuid, "margay-simulated", 16);
        uuid[15] = (char)(uuid[15] + device);
    }
    return mg__cuda_done(error);
}

int mg__cuDeviceTotalMem(size_t *bytes, int device)
{
    CUDA_BEGIN();
    int error = check(bytes, device);
    if (!error) {
        const struct mg_device_options o = mg__cudart_options((unsigned)device);
        *bytes = mg__device_memory(&o);
    }
    return mg__cuda_done(error);
}

int mg__cuDeviceGetAttribute(int *value, int number, int device)
{
    CUDA_BEGIN();
    int error = check(value, device);
    if (!error) {
        const struct mg_device_options o = mg__cudart_options((unsigned)device);
        error = mg__device_attribute(&o, number, value) ? 0 : CUDA_ERROR_INVALID_VALUE;
    }
    return mg__cuda_done(error);
}

int mg__cuDeviceComputeCapability(int *major, int *minor, int device)
{
    CUDA_BEGIN();
    int error = major && minor ? check(major, device) : CUDA_ERROR_INVALID_VALUE;
    if (!error) {
        *major = get(device, 75);
        *minor = get(device, 76);
    }
    return mg__cuda_done(error);
}

int mg__cuDeviceGetProperties(struct cu_devprop *p, int device)
{
    CUDA_BEGIN();
    int error = check(p, device);
    if (!error)
        *p = (struct cu_devprop){.max_threads = get(device, 1),
                                 .max_block = {get(device, 2), get(device, 3), get(device, 4)},
                                 .max_grid = {get(device, 5), get(device, 6), get(device, 7)},
                                 .shared = get(device, 8),
                                 .constant = get(device, 9),
                                 .warp = get(device, 10),
                                 .pitch = get(device, 11),
                                 .regs = get(device, 12),
                                 .clock = get(device, 13),
                                 .alignment = get(device, 14)};
    return mg__cuda_done(error);
}

/* Questions of devices that the runtime answers without a context. */
#define ABOUT_DEVICE(name, parameters, call) \
    int mg__##name parameters;               \
    int mg__##name parameters                \
    {                                        \
        CUDA_BEGIN();                        \
        return mg__cuda_done(call);          \
    }
ABOUT_DEVICE(cuDeviceGetByPCIBusId, (int *device, const char *id), mg__cudaDeviceGetByPCIBusId(device, id))
ABOUT_DEVICE(cuDeviceGetPCIBusId, (char *out, int length, int device), mg__cudaDeviceGetPCIBusId(out, length, device))
ABOUT_DEVICE(cuDeviceCanAccessPeer, (int *can, int device, int peer), mg__cudaDeviceCanAccessPeer(can, device, peer))
ABOUT_DEVICE(cuDeviceGetP2PAttribute, (int *value, int number, int from, int to),
             mg__cudaDeviceGetP2PAttribute(value, number, from, to))

int mg__cuDeviceGetExecAffinitySupport(int *supported, int type, int device)
{
    CUDA_BEGIN();
    int error = type ? CUDA_ERROR_INVALID_VALUE : check(supported, device);
    if (!error)
        *supported = 0; /* needs MPS */
    return mg__cuda_done(error);
}

/* Flags of contexts: of the ways to wait (1, 2, 4) one at most. */
static bool flags_ok(unsigned flags)
{
    unsigned waits = flags & 7;
    return !(flags & ~CONTEXT_FLAGS) && !(waits & (waits - 1));
}

/* ---- primary contexts ---- */
int mg__cuDevicePrimaryCtxRetain(void **context, int device)
{
    CUDA_BEGIN();
    int error = check(context, device);
    if (!error)
        error = mg__cudart_use(mg__cudart_at(device));
    if (!error) {
        mg__cudart_lock();
        mg__cudart_at(device)->retained++;
        atomic_store(&mg__cudart_at(device)->ended, false);
        mg__cudart_unlock();
        *context = &mg__cudart.primary[device];
    }
    return mg__cuda_done(error);
}

int mg__cuDevicePrimaryCtxRelease(int device)
{
    struct cudart_device *d;
    bool last = false;
    CUDA_BEGIN();
    int error = check(&last, device);
    if (!error) {
        d = mg__cudart_at(device);
        mg__cudart_lock();
        if (!d->retained)
            error = CUDA_ERROR_INVALID_CONTEXT;
        else
            last = --d->retained == 0 && !d->runtime;
        mg__cudart_unlock();
        if (last)
            mg__cudart_reset(d);
    }
    return mg__cuda_done(error);
}

int mg__cuDevicePrimaryCtxReset(int device)
{
    CUDA_BEGIN();
    int error = check(&device, device);
    if (!error) {
        mg__cudart_reset(mg__cudart_at(device));
        atomic_store(&mg__cudart_at(device)->runtime, false);
        atomic_store(&mg__cudart_at(device)->ended, true);
    }
    return mg__cuda_done(error);
}

int mg__cuDevicePrimaryCtxSetFlags(int device, unsigned flags)
{
    CUDA_BEGIN();
    int error = flags_ok(flags) ? check(&device, device) : CUDA_ERROR_INVALID_VALUE;
    if (!error)
        mg__cudart_at(device)->flags = flags;
    return mg__cuda_done(error);
}

int mg__cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    CUDA_BEGIN();
    int error = flags ? check(active, device) : CUDA_ERROR_INVALID_VALUE;
    if (!error) {
        *flags = mg__cudart_at(device)->flags;
        *active = mg__cuda_primary_active(mg__cudart_at(device));
    }
    return mg__cuda_done(error);
}

/* ---- contexts ---- */
static int make(void **context, unsigned flags, int device)
{
    struct cudart_context *made;
    int error = flags_ok(flags) ? check(context, device) : CUDA_ERROR_INVALID_VALUE;
    if (!error)
        error = mg__cudart_context_make((unsigned)device, flags, &made);
    if (error)
        return error;
    if (!mg__cudart_push(made)) {
        mg__cudart_context_drop(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *context = made;
    return 0;
}

int mg__cuCtxCreate(void **context, unsigned flags, int device)
{
    CUDA_BEGIN();
    return mg__cuda_done(make(context, flags, device));
}

/* How many SMs a context is to have needs MPS, which there is not. */
int mg__cuCtxCreate_v3(void **context, const void *affinity, int count, unsigned flags, int device)
{
    CUDA_BEGIN();
    return mg__cuda_done(affinity || count ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : make(context, flags, device));
}

int mg__cuCtxCreate_v4(void **context, const void *const *params, unsigned flags, int device)
{
    CUDA_BEGIN();
    /* CUctxCreateParams begins with the affinities; behind their number comes what graphics want. */
    bool plain = !params || (!params[0] && !params[2]);
    return mg__cuda_done(plain ? make(context, flags, device) : CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
}

/* Its context is no longer the thread's, if it was; others find it destroyed. */
int mg__cuCtxDestroy(void *handle)
{
    CUDA_BEGIN();
    struct cudart_context *context = handle ? mg__cudart_context_of(handle) : NULL;
    int error = handle ? context && !context->primary ? 0 : CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
    if (!error && !context->device)
        error = CUDA_ERROR_INVALID_CONTEXT;
    if (!error && mg__cudart_current() == context)
        mg__cudart_pop();
    return mg__cuda_done(error ? error : mg__cudart_context_drop(context));
}

static int set(void *handle, bool push)
{
    struct cudart_context *context = handle ? mg__cudart_context_of(handle) : NULL;
    if (!context && (handle || push))
        return handle ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
    if (push) /* one that is destroyed, too: the calls that follow say so */
        return mg__cudart_push(context) ? 0 : CUDA_ERROR_OUT_OF_MEMORY;
    mg__cudart_set_current(context);
    return 0;
}

int mg__cuCtxPushCurrent(void *context)
{
    CUDA_BEGIN();
    return mg__cuda_done(set(context, true));
}

int mg__cuCtxSetCurrent(void *context)
{
    CUDA_BEGIN();
    return mg__cuda_done(set(context, false));
}

int mg__cuCtxPopCurrent(void **context)
{
    CUDA_BEGIN();
    struct cudart_context *last = mg__cudart_pop();
    if (last && context)
        *context = last;
    return mg__cuda_done(last ? 0 : CUDA_ERROR_INVALID_CONTEXT);
}

int mg__cuCtxGetCurrent(void **context)
{
    CUDA_BEGIN();
    if (!context)
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    *context = mg__cudart_current();
    return mg__cuda_done(0);
}

/* The context that is meant: the thread's, where none is named. */
static int named(const void *handle, struct cudart_context **context)
{
    *context = handle ? mg__cudart_context_of(handle) : mg__cudart_current();
    if (!*context)
        return CUDA_ERROR_INVALID_CONTEXT;
    return (*context)->device || !handle ? 0 : CUDA_ERROR_INVALID_CONTEXT;
}

int mg__cuCtxGetDevice_v2(int *device, void *handle)
{
    struct cudart_context *context;
    CUDA_BEGIN();
    int error = device ? named(handle, &context) : CUDA_ERROR_INVALID_VALUE;
    if (!error)
        *device = (int)context->ordinal;
    return mg__cuda_done(error);
}

int mg__cuCtxGetDevice(int *device)
{
    return mg__cuCtxGetDevice_v2(device, NULL);
}

int mg__cuCtxGetApiVersion(void *handle, unsigned *version)
{
    struct cudart_context *context;
    CUDA_BEGIN();
    int error = version ? named(handle, &context) : CUDA_ERROR_INVALID_VALUE;
    if (!error)
        *version = VERSION;
    return mg__cuda_done(error);
}

int mg__cuCtxGetId(void *handle, unsigned long long *id)
{
    struct cudart_context *context;
    CUDA_BEGIN();
    int error = id ? named(handle, &context) : CUDA_ERROR_INVALID_VALUE;
    if (!error)
        *id = context->device ? context->device->id : 0;
    return mg__cuda_done(error);
}

int mg__cuCtxGetFlags(unsigned *flags)
{
    struct cudart_context *context;
    CUDA_BEGIN();
    int error = flags ? named(NULL, &context) : CUDA_ERROR_INVALID_VALUE;
    if (!error)
        *flags = mg__cudart_here()->flags;
    return mg__cuda_done(error);
}

int mg__cuCtxSetFlags(unsigned flags)
{
    CUDA_ENTER();
    if (!flags_ok(flags))
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    mg__cudart_here()->flags = flags;
    return mg__cuda_done(0);
}

int mg__cuCtxSynchronize_v2(void *handle)
{
    struct cudart_context *context;
    CUDA_ENTER();
    int error = named(handle, &context);
    if (error)
        return mg__cuda_done(error);
    error = mg__cudart_wait_all(context->device);
    mg__check_host_waited(context->device->device->check, 0, true);
    return mg__cuda_done(error);
}

int mg__cuCtxSynchronize(void)
{
    return mg__cuCtxSynchronize_v2(NULL);
}

CUDA_SAME(cuCtxSetLimit, (int limit, size_t value), mg__cudaDeviceSetLimit(limit, value))
CUDA_SAME(cuCtxGetLimit, (size_t * value, int limit), mg__cudaDeviceGetLimit(value, limit))
CUDA_SAME(cuCtxGetCacheConfig, (int *config), mg__cudaDeviceGetCacheConfig(config))
CUDA_SAME(cuCtxSetCacheConfig, (int config), mg__cudaDeviceSetCacheConfig(config))
CUDA_SAME(cuCtxGetSharedMemConfig, (int *config), mg__cudaDeviceGetSharedMemConfig(config))
CUDA_SAME(cuCtxSetSharedMemConfig, (int config), mg__cudaDeviceSetSharedMemConfig(config))
CUDA_SAME(cuCtxGetStreamPriorityRange, (int *least, int *greatest),
          mg__cudaDeviceGetStreamPriorityRange(least, greatest))
CUDA_SAME(cuCtxResetPersistingL2Cache, (void), 0)

/* ---- peers ---- */
static int set_peer(void *handle, unsigned flags, bool may)
{
    struct cudart_context *context = handle ? mg__cudart_context_of(handle) : NULL;
    struct cudart_device *here = mg__cudart_here(), *peer = context ? context->device : NULL;
    if (!context || !peer)
        return context ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (peer->ordinal == here->ordinal)
        return may ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    if (here->peers[peer->number] == may)
        return may ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    return mg__cudart_set_peer(here, peer, may, false);
}

CUDA_SAME(cuCtxEnablePeerAccess, (void *peer, unsigned flags), set_peer(peer, flags, true))
CUDA_SAME(cuCtxDisablePeerAccess, (void *peer), set_peer(peer, 0, false))
