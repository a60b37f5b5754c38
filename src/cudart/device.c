/* device.c - devices as programs see them: counting and choosing, properties, attributes, peers, limits, flags;
 * attributes and occupancy of kernels.
 *
 * A thread's device is made when a call first needs it; questions about devices need none. All devices of a process are
 * alike. Properties are filled from device/attribute.def, so that they and the attributes cannot disagree.
 */
#include "cudart/graph.h"

/* ---- counting and choosing ---- */
int mg__cudaGetDeviceCount(int *count)
{
    int error = mg__cudart_begin();
    if (!error && !count)
        error = cudaErrorInvalidValue;
    if (!error)
        *count = (int)mg__cudart.process.devices;
    return mg__cudart_done(error);
}

static int check_device(int device)
{
    int error = mg__cudart_begin();
    return error ? error : mg__cudart_at(device) ? 0 : cudaErrorInvalidDevice;
}

int mg__cudaSetDevice(int device)
{
    int error = check_device(device);
    if (!error)
        mg__cudart_set_current(&mg__cudart.primary[device]);
    return mg__cudart_done(error);
}

int mg__cudaGetDevice(int *device)
{
    int error = mg__cudart_begin();
    if (!error && !device)
        error = cudaErrorInvalidValue;
    if (!error)
        *device = (int)mg__cudart_here()->ordinal;
    return mg__cudart_done(error);
}

int mg__cudaChooseDevice(int *device, const void *properties)
{
    int error = mg__cudart_begin();
    if (!error && (!device || !properties))
        error = cudaErrorInvalidValue;
    if (!error)
        *device = 0; /* all are alike */
    return mg__cudart_done(error);
}

int mg__cudaSetValidDevices(int *devices, int count)
{
    int error = mg__cudart_begin();
    if (!error && count < 0)
        error = cudaErrorInvalidValue;
    for (int i = 0; !error && devices && i < count; i++)
        error = mg__cudart_at(devices[i]) ? 0 : cudaErrorInvalidDevice;
    if (!error)
        mg__cudart.first = devices && count ? (unsigned)devices[0] : 0;
    return mg__cudart_done(error);
}

int mg__cudaSetDeviceFlags(unsigned flags)
{
    int error = mg__cudart_begin();
    if (!error && (flags & ~0x9fu))
        error = cudaErrorInvalidValue;
    if (!error)
        mg__cudart_here()->flags = flags;
    return mg__cudart_done(error);
}

int mg__cudaGetDeviceFlags(unsigned *flags)
{
    int error = mg__cudart_begin();
    if (!error && !flags)
        error = cudaErrorInvalidValue;
    if (!error)
        *flags = mg__cudart_here()->flags | 8; /* mapping is always on */
    return mg__cudart_done(error);
}

int mg__cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    int error = check_device(device);
    if (!error)
        error = mg__cudart_use(mg__cudart_at(device));
    if (!error && (flags & 1) && (device_flags & ~0x9fu))
        error = cudaErrorInvalidValue;
    if (!error && (flags & 1))
        mg__cudart_at(device)->flags = device_flags;
    return mg__cudart_done(error);
}

int mg__cudaDeviceSynchronize(void)
{
    CUDART_ENTER();
    int error = mg__capture_forbids_wait(true);
    if (error)
        return mg__cudart_done(error);
    error = mg__cudart_wait_all(mg__cudart_here());
    mg__check_host_waited(mg__cudart_here()->device->check, 0, true);
    return mg__cudart_done(error);
}

/* As driver 580 does it, for the thread's device: the memory, streams and modules go; a poisoned context stays unusable
 * for the process. */
int mg__cudaDeviceReset(void)
{
    int error = mg__cudart_begin();
    if (error)
        return mg__cudart_done(error);
    mg__cudart_reset(mg__cudart_here());
    atomic_store(&mg__cudart_here()->runtime, false);
    return 0;
}

/* ---- properties ---- */
static int get(const struct mg_device_options *o, int number)
{
    int value;
    mg__device_attribute(o, number, &value);
    return value;
}

/* What the layouts of 12 and 13 have in common. */
#define FILL_PROPERTIES(p, o)                                                    \
    do {                                                                         \
        snprintf((p)->name, sizeof((p)->name), "%s", mg__device_header(o).name); \
        memcpy((p)->uuid, "margay-simulated", 16);                               \
        (p)->uuid[15] = (char)((p)->uuid[15] + (int)(o)->number);                \
        (p)->pciBusID = get(o, 33);                                              \
        (p)->totalGlobalMem = mg__device_memory(o);                              \
        (p)->sharedMemPerBlock = (size_t)get(o, 8);                              \
        (p)->regsPerBlock = get(o, 12);                                          \
        (p)->warpSize = get(o, 10);                                              \
        (p)->memPitch = (size_t)get(o, 11);                                      \
        (p)->maxThreadsPerBlock = get(o, 1);                                     \
        for (int i_ = 0; i_ < 3; i_++) {                                         \
            (p)->maxThreadsDim[i_] = get(o, 2 + i_);                             \
            (p)->maxGridSize[i_] = get(o, 5 + i_);                               \
            (p)->maxTexture3D[i_] = get(o, 24 + i_);                             \
            (p)->maxTexture3DAlt[i_] = get(o, 47 + i_);                          \
            (p)->maxTexture2DLayered[i_] = get(o, 27 + i_);                      \
            (p)->maxTexture2DLinear[i_] = get(o, 70 + i_);                       \
            (p)->maxSurface3D[i_] = get(o, 58 + i_);                             \
            (p)->maxSurface2DLayered[i_] = get(o, 63 + i_);                      \
        }                                                                        \
        for (int i_ = 0; i_ < 2; i_++) {                                         \
            (p)->maxTexture2D[i_] = get(o, 22 + i_);                             \
            (p)->maxTexture2DMipmap[i_] = get(o, 73 + i_);                       \
            (p)->maxTexture2DGather[i_] = get(o, 45 + i_);                       \
            (p)->maxTexture1DLayered[i_] = get(o, 42 + i_);                      \
            (p)->maxTextureCubemapLayered[i_] = get(o, 53 + i_);                 \
            (p)->maxSurface2D[i_] = get(o, 56 + i_);                             \
            (p)->maxSurface1DLayered[i_] = get(o, 61 + i_);                      \
            (p)->maxSurfaceCubemapLayered[i_] = get(o, 67 + i_);                 \
        }                                                                        \
        (p)->totalConstMem = (size_t)get(o, 9);                                  \
        (p)->major = get(o, 75);                                                 \
        (p)->minor = get(o, 76);                                                 \
        (p)->textureAlignment = (size_t)get(o, 14);                              \
        (p)->texturePitchAlignment = (size_t)get(o, 51);                         \
        (p)->multiProcessorCount = get(o, 16);                                   \
        (p)->canMapHostMemory = get(o, 19);                                      \
        (p)->maxTexture1D = get(o, 21);                                          \
        (p)->maxTexture1DMipmap = get(o, 77);                                    \
        (p)->maxTextureCubemap = get(o, 52);                                     \
        (p)->maxSurface1D = get(o, 55);                                          \
        (p)->maxSurfaceCubemap = get(o, 66);                                     \
        (p)->surfaceAlignment = (size_t)get(o, 30);                              \
        (p)->concurrentKernels = get(o, 31);                                     \
        (p)->ECCEnabled = get(o, 32);                                            \
        (p)->asyncEngineCount = get(o, 40);                                      \
        (p)->unifiedAddressing = get(o, 41);                                     \
        (p)->memoryBusWidth = get(o, 37);                                        \
        (p)->l2CacheSize = get(o, 38);                                           \
        (p)->persistingL2CacheMaxSize = get(o, 108);                             \
        (p)->maxThreadsPerMultiProcessor = get(o, 39);                           \
        (p)->streamPrioritiesSupported = get(o, 78);                             \
        (p)->globalL1CacheSupported = get(o, 79);                                \
        (p)->localL1CacheSupported = get(o, 80);                                 \
        (p)->sharedMemPerMultiprocessor = (size_t)get(o, 81);                    \
        (p)->regsPerMultiprocessor = get(o, 82);                                 \
        (p)->managedMemory = get(o, 83);                                         \
        (p)->concurrentManagedAccess = get(o, 89);                               \
        (p)->computePreemptionSupported = get(o, 90);                            \
        (p)->canUseHostPointerForRegisteredMem = get(o, 91);                     \
        (p)->cooperativeLaunch = get(o, 95);                                     \
        (p)->sharedMemPerBlockOptin = (size_t)get(o, 97);                        \
        (p)->directManagedMemAccessFromHost = get(o, 101);                       \
        (p)->maxBlocksPerMultiProcessor = get(o, 106);                           \
        (p)->accessPolicyMaxWindowSize = get(o, 109);                            \
        (p)->reservedSharedMemPerBlock = (size_t)get(o, 111);                    \
    } while (0)
/* The fields after those of CUDA 11. */
#define FILL_PROPERTIES_12(p, o)                          \
    do {                                                  \
        (p)->hostRegisterSupported = get(o, 99);          \
        (p)->hostRegisterReadOnlySupported = get(o, 113); \
        (p)->memoryPoolsSupported = get(o, 115);          \
        (p)->clusterLaunch = get(o, 120);                 \
        (p)->unifiedFunctionPointers = 1;                 \
    } while (0)

static void fill_12(struct cu_prop_12 *p, const struct mg_device_options *o)
{
    FILL_PROPERTIES(p, o);
    FILL_PROPERTIES_12(p, o);
    p->clockRate = get(o, 13);
    p->deviceOverlap = get(o, 15);
    p->kernelExecTimeoutEnabled = get(o, 17);
    p->maxTexture1DLinear = get(o, 69);
    p->memoryClockRate = get(o, 36);
    p->singleToDoublePrecisionPerfRatio = get(o, 87);
}

int mg__cudaGetDeviceProperties_13(struct cu_prop_13 *out, int device)
{
    int error = check_device(device);
    if (!error && !out)
        error = cudaErrorInvalidValue;
    if (!error) {
        memset(out, 0, sizeof(*out));
        const struct mg_device_options o = mg__cudart_options((unsigned)device);
        FILL_PROPERTIES(out, &o);
        FILL_PROPERTIES_12(out, &o);
        out->deviceNumaId = get(&o, 131);
    }
    return mg__cudart_done(error);
}

int mg__cudaGetDeviceProperties_12(struct cu_prop_12 *out, int device)
{
    int error = check_device(device);
    if (!error && !out)
        error = cudaErrorInvalidValue;
    if (!error) {
        memset(out, 0, sizeof(*out));
        const struct mg_device_options o = mg__cudart_options((unsigned)device);
        fill_12(out, &o);
    }
    return mg__cudart_done(error);
}

int mg__cudaGetDeviceProperties_11(void *out, int device)
{
    struct cu_prop_12 p;
    int error = check_device(device);
    if (!error && !out)
        error = cudaErrorInvalidValue;
    if (!error) {
        memset(&p, 0, sizeof(p));
        const struct mg_device_options o = mg__cudart_options((unsigned)device);
        fill_12(&p, &o);
        memcpy(out, &p, offsetof(struct cu_prop_12, hostRegisterSupported));
    }
    return mg__cudart_done(error);
}

int mg__cudaDeviceGetAttribute(int *value, int number, int device)
{
    int error = check_device(device);
    const struct mg_device_options o = mg__cudart_options((unsigned)device);
    if (!error && (!value || !mg__device_attribute(&o, number, value)))
        error = cudaErrorInvalidValue;
    return mg__cudart_done(error);
}

int mg__cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    CUDART_ENTER();
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return mg__cudart_done(0);
}

/* The device's number is that of its bus. */
int mg__cudaDeviceGetPCIBusId(char *out, int length, int device)
{
    enum { SIZE = sizeof("0000:00:00.0") };
    int error = check_device(device);
    if (!error && (!out || length < SIZE))
        error = cudaErrorInvalidValue;
    if (!error)
        snprintf(out, SIZE, "0000:%02x:00.0", (unsigned)device & 0xff);
    return mg__cudart_done(error);
}

int mg__cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    unsigned domain = 0, bus, dev, function = 0;
    int error = mg__cudart_begin();
    if (!error && (!device || !id))
        error = cudaErrorInvalidValue;
    if (!error && sscanf(id, "%x:%x:%x.%x", &domain, &bus, &dev, &function) < 3) {
        domain = 0;
        if (sscanf(id, "%x:%x.%x", &bus, &dev, &function) < 2)
            error = cudaErrorInvalidValue;
    }
    if (!error && (domain || bus >= mg__cudart.process.devices || dev || function))
        error = cudaErrorInvalidDevice;
    if (!error)
        *device = (int)bus;
    return mg__cudart_done(error);
}

int mg__cudaDriverGetVersion_12(int *version)
{
    if (!version)
        return mg__cudart_done(cudaErrorInvalidValue);
    *version = 12090;
    return 0;
}

int mg__cudaDriverGetVersion_13(int *version)
{
    if (!version)
        return mg__cudart_done(cudaErrorInvalidValue);
    *version = 13000;
    return 0;
}

/* ---- peers: every device reaches every other ---- */
int mg__cudart_set_peer(struct cudart_device *device, struct cudart_device *peer, bool may, bool pool)
{
    int error = mg__cudart_use(device);
    if (!error)
        error = mg__cudart_use(peer);
    if (error && may)
        return error;
    mg__cudart_lock();
    (pool ? device->pool_peers : device->peers)[peer->number] = may;
    bool either = device->peers[peer->number] || device->pool_peers[peer->number];
    error = mg__cudart_error_of(mg__mem_peer(device->device->simt, peer->device->simt, either));
    mg__cudart_unlock();
    return error;
}

int mg__cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    int error = check_device(device);
    if (!error)
        error = check_device(peer);
    if (!error && !can)
        error = cudaErrorInvalidValue;
    if (!error)
        *can = device != peer;
    return mg__cudart_done(error);
}

int mg__cudaDeviceEnablePeerAccess(int number, unsigned flags)
{
    CUDART_ENTER();
    struct cudart_device *here = mg__cudart_here(), *peer = mg__cudart_at(number);
    if (!peer)
        return mg__cudart_done(cudaErrorInvalidDevice);
    if (flags || peer == here)
        return mg__cudart_done(flags ? cudaErrorInvalidValue : cudaErrorPeerAccessUnsupported);
    if (here->peers[number])
        return mg__cudart_done(cudaErrorPeerAccessAlreadyEnabled);
    return mg__cudart_done(mg__cudart_set_peer(here, peer, true, false));
}

int mg__cudaDeviceDisablePeerAccess(int number)
{
    CUDART_ENTER();
    struct cudart_device *here = mg__cudart_here(), *peer = mg__cudart_at(number);
    if (!peer)
        return mg__cudart_done(cudaErrorInvalidDevice);
    if (!here->peers[number])
        return mg__cudart_done(cudaErrorPeerAccessNotEnabled);
    return mg__cudart_done(mg__cudart_set_peer(here, peer, false, false));
}

int mg__cudaDeviceGetP2PAttribute(int *value, int number, int src, int dst)
{
    int error = mg__cudart_begin();
    if (!error && !value)
        error = cudaErrorInvalidValue;
    if (!error && (!mg__cudart_at(src) || !mg__cudart_at(dst) || src == dst))
        error = cudaErrorInvalidDevice; /* two different devices are needed */
    if (!error && (number < 1 || number > 4))
        error = cudaErrorInvalidValue;
    if (!error)
        *value = number == 2 || number == 3; /* access, and atomics; no CUDA arrays; all are equally near */
    return mg__cudart_done(error);
}

/* ---- limits ---- */
int mg__cudaDeviceSetLimit(int limit, size_t value)
{
    CUDART_ENTER();
    if (limit == CU_LIMIT_SYNC_DEPTH)
        return mg__cudart_done(cudaErrorUnsupportedLimit);
    if (limit < 0 || limit >= CU_LIMITS)
        return mg__cudart_done(cudaErrorInvalidValue);
    mg__cudart_lock();
    int error =
        mg__cudart_error_of(mg__device_set_limit(mg__cudart_here()->device, (enum mg_device_limit)limit, value));
    mg__cudart_unlock();
    return mg__cudart_done(error);
}

int mg__cudaDeviceGetLimit(size_t *value, int limit)
{
    CUDART_ENTER();
    if (!value || limit < 0 || limit >= CU_LIMITS)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (limit == CU_LIMIT_SYNC_DEPTH)
        return mg__cudart_done(cudaErrorUnsupportedLimit);
    *value = mg__device_limit(mg__cudart_here()->device, (enum mg_device_limit)limit);
    return mg__cudart_done(0);
}

static int set_preference(int *where, int value, int most)
{
    CUDART_ENTER();
    if (value < 0 || value > most)
        return mg__cudart_done(cudaErrorInvalidValue);
    *where = value;
    return mg__cudart_done(0);
}

static int get_preference(const int *where, int *value)
{
    CUDART_ENTER();
    if (!value)
        return mg__cudart_done(cudaErrorInvalidValue);
    *value = *where;
    return mg__cudart_done(0);
}

int mg__cudaDeviceSetCacheConfig(int config)
{
    return set_preference(&mg__cudart_here()->cache_config, config, 3);
}

int mg__cudaDeviceGetCacheConfig(int *config)
{
    return get_preference(&mg__cudart_here()->cache_config, config);
}

int mg__cudaDeviceSetSharedMemConfig(int config)
{
    return set_preference(&mg__cudart_here()->shared_config, config, 2);
}

int mg__cudaDeviceGetSharedMemConfig(int *config)
{
    CUDART_ENTER();
    if (!config)
        return mg__cudart_done(cudaErrorInvalidValue);
    *config = 1; /* banks of four bytes, the only kind since compute capability 5 */
    return mg__cudart_done(0);
}

int mg__cudart_no_op(void) /* cudaProfilerStart, cudaProfilerStop, cudaCtxResetPersistingL2Cache */
{
    CUDART_ENTER();
    return mg__cudart_done(0);
}

int mg__cudaSetDoubleForDevice(double *value)
{
    return mg__cudart_done(value ? 0 : cudaErrorInvalidValue); /* doubles are doubles */
}

/* ---- kernels ---- */
int mg__cudaFuncGetAttributes(struct cu_func_attributes *out, const void *handle)
{
    struct mg_device_kernel *kernel;
    CUDART_ENTER();
    if (!out)
        return mg__cudart_done(cudaErrorInvalidValue);
    int error = mg__cudart_func_find(handle, mg__cudart_here(), &kernel);
    if (error)
        return mg__cudart_done(error);
    memset(out, 0, sizeof(*out));
    out->shared_bytes = kernel->info.shared_static;
    out->const_bytes = kernel->info.const_bytes;
    out->local_bytes = kernel->info.local_bytes;
    out->max_threads = (int)kernel->info.max_threads;
    out->regs = (int)kernel->info.regs;
    out->ptx_version = (int)kernel->info.ptx->target_sm;
    out->binary_version = (int)kernel->module->device->arch.cc;
    out->max_dynamic_shared = (int)mg__device_room(kernel);
    out->shared_carveout = kernel->carveout;
    mg__cudart_cluster_attributes(kernel, out);
    return mg__cudart_done(0);
}

static int set_attribute(const void *handle, int number, int value, struct cudart_device *device)
{
    struct mg_device_kernel *kernel;
    int error = mg__cudart_func_find(handle, device, &kernel);
    if (error)
        return error;
    if (number == CU_FUNC_MAX_DYNAMIC_SHARED)
        return value < 0 ? cudaErrorInvalidValue : mg__cudart_error_of(mg__device_allow(kernel, (uint64_t)value));
    if (number == CU_FUNC_SHARED_CARVEOUT) {
        if (value < -1 || value > 100)
            return cudaErrorInvalidValue;
        kernel->carveout = value;
        return 0;
    }
    if (number > CU_FUNC_SHARED_CARVEOUT && number < CU_FUNC_ATTRIBUTES_END)
        return mg__cudart_cluster_attribute(kernel, number, value);
    return cudaErrorInvalidValue;
}

int mg__cudaFuncSetAttribute(const void *kernel, int number, int value)
{
    CUDART_ENTER();
    return mg__cudart_done(set_attribute(kernel, number, value, mg__cudart_here()));
}

int mg__cudaKernelSetAttributeForDevice(const void *kernel, int number, int value, int device)
{
    CUDART_ENTER();
    struct cudart_device *d = mg__cudart_at(device);
    int error = d ? mg__cudart_use(d) : cudaErrorInvalidDevice;
    return mg__cudart_done(error ? error : set_attribute(kernel, number, value, d));
}

static int set_func_preference(const void *handle, int value, int most)
{
    struct mg_device_kernel *kernel;
    CUDART_ENTER();
    int error = mg__cudart_func_find(handle, mg__cudart_here(), &kernel);
    return mg__cudart_done(error ? error : value < 0 || value > most ? cudaErrorInvalidValue : 0);
}

int mg__cudaFuncSetCacheConfig(const void *kernel, int config)
{
    return set_func_preference(kernel, config, 3);
}

int mg__cudaFuncSetSharedMemConfig(const void *kernel, int config)
{
    return set_func_preference(kernel, config, 2);
}

/* ---- occupancy ---- */
int mg__cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *handle, int threads,
                                                               size_t dynamic, unsigned flags)
{
    struct mg_device_kernel *kernel;
    CUDART_ENTER();
    if (!blocks || threads <= 0 || flags > 1)
        return mg__cudart_done(cudaErrorInvalidValue);
    int error = mg__cudart_func_find(handle, mg__cudart_here(), &kernel);
    if (!error)
        *blocks = (int)mg__device_resident(kernel, (unsigned)threads, dynamic);
    return mg__cudart_done(error);
}

int mg__cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads, size_t dynamic)
{
    return mg__cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, dynamic, 0);
}

/* The dynamic shared memory that `blocks` blocks leave each other. Driver 580 does not count the kilobyte that every
 * block reserves, so its answer can be one that does not fit; we give the same one. */
int mg__cudaOccupancyAvailableDynamicSMemPerBlock(size_t *out, const void *handle, int blocks, int threads)
{
    struct mg_device_kernel *kernel;
    CUDART_ENTER();
    if (!out || blocks <= 0 || threads <= 0)
        return mg__cudart_done(cudaErrorInvalidValue);
    int error = mg__cudart_func_find(handle, mg__cudart_here(), &kernel);
    if (error)
        return mg__cudart_done(error);
    if (mg__device_resident(kernel, (unsigned)threads, 0) < (unsigned)blocks)
        return mg__cudart_done(cudaErrorInvalidValue);
    const struct mg_arch *arch = &kernel->module->device->arch;
    unsigned unit = MG_MAX(arch->shared_alloc_unit, 1), fixed = kernel->info.shared_static;
    unsigned share = arch->shared_sm / (unsigned)blocks / unit * unit;
    *out = MG_MIN(share > fixed ? share - fixed : 0, mg__device_room(kernel));
    return mg__cudart_done(0);
}
