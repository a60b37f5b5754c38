/* device.c - the one simulated device: properties, attributes, limits, flags; kernels' attributes and occupancy.
 *
 * Properties are filled from device_attr.def, so that they and the attributes cannot disagree. Features that are not
 * simulated (clusters, sparse arrays, interprocess handles) are reported as absent: programs that ask do without.
 */
#include "cudart/cudart.h"

static const struct mg_arch *arch(void)
{
    return mg__cudart.arch;
}

/* Queries need the device's row but work on a poisoned context. */
static int query(void)
{
    int error = mg__cudart_enter();
    return error == atomic_load(&mg__cudart.poison) ? 0 : error;
}

static bool attribute(int number, int *value)
{
    const struct mg_arch *a = arch();
    switch (number) {
#define ATTR(id, name, v)  \
    case id:               \
        *value = (int)(v); \
        return true;
#include "cudart/device_attr.def"
#undef ATTR
    }
    *value = 0;
    return number > 0 && number < 148; /* reserved ones read 0 */
}

static int get(int number)
{
    int value;
    attribute(number, &value);
    return value;
}

/* ---- counting and choosing ---- */
int mg__cudaGetDeviceCount(int *count)
{
    int error = query();
    if (!error && !count)
        error = cudaErrorInvalidValue;
    if (!error)
        *count = 1;
    return mg__cudart_done(error);
}

int mg__cudaSetDevice(int device)
{
    int error = query();
    return mg__cudart_done(error ? error : device ? cudaErrorInvalidDevice : 0);
}

int mg__cudaGetDevice(int *device)
{
    int error = query();
    if (!error && !device)
        error = cudaErrorInvalidValue;
    if (!error)
        *device = 0;
    return mg__cudart_done(error);
}

int mg__cudaChooseDevice(int *device, const void *properties)
{
    return properties ? mg__cudaGetDevice(device) : mg__cudart_done(cudaErrorInvalidValue);
}

int mg__cudaSetValidDevices(int *devices, int count)
{
    int error = query();
    if (!error && count < 0)
        error = cudaErrorInvalidValue;
    for (int i = 0; !error && devices && i < count; i++)
        error = devices[i] ? cudaErrorInvalidDevice : 0;
    return mg__cudart_done(error);
}

int mg__cudaSetDeviceFlags(unsigned flags)
{
    int error = query();
    if (!error && (flags & ~0x9fu))
        error = cudaErrorInvalidValue;
    if (!error)
        mg__cudart.device_flags = flags;
    return mg__cudart_done(error);
}

int mg__cudaGetDeviceFlags(unsigned *flags)
{
    int error = query();
    if (!error && !flags)
        error = cudaErrorInvalidValue;
    if (!error)
        *flags = mg__cudart.device_flags | 8; /* mapping is always on */
    return mg__cudart_done(error);
}

int mg__cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    CUDART_ENTER();
    if (device)
        return mg__cudart_done(cudaErrorInvalidDevice);
    return flags & 1 ? mg__cudaSetDeviceFlags(device_flags) : mg__cudart_done(0);
}

int mg__cudaDeviceSynchronize(void)
{
    CUDART_ENTER();
    mg__check_host_waited(mg__cudart.check, 0, true);
    return mg__cudart_done(0);
}

/* As driver 580 does it: the memory, streams and modules go; a poisoned context stays unusable for the process. */
int mg__cudaDeviceReset(void)
{
    int error = query();
    if (error)
        return mg__cudart_done(error);
    pthread_mutex_lock(&mg__cudart.launch);
    mg__cudart_lock();
    if (atomic_load(&mg__cudart.poison)) {
        atomic_store(&mg__cudart.poison, cudaErrorDevicesUnavailable);
    } else {
        mg__check_host_waited(mg__cudart.check, 0, true);
        mg__cudart_registry_reset();
        mg__cudart_memory_reset();
        mg__cudart_stream_reset();
        mg__cudart_limits_reset();
    }
    mg__cudart_unlock();
    pthread_mutex_unlock(&mg__cudart.launch);
    return 0;
}

static uint64_t most_persisting(void)
{
    return (uint64_t)get(108);
}

/* ---- properties ---- */
static uint64_t memory_total(void)
{
    uint64_t f, t;
    mg__mem_info(mg__cudart.simt, &f, &t);
    return t;
}

/* What the layouts of 12 and 13 have in common. */
#define FILL_PROPERTIES(p)                                           \
    do {                                                             \
        snprintf((p)->name, sizeof((p)->name), "%s", arch()->board->name); \
        memcpy((p)->uuid, "margay-simulated", 16);                   \
        (p)->totalGlobalMem = memory_total();                        \
        (p)->sharedMemPerBlock = (size_t)get(8);                     \
        (p)->regsPerBlock = get(12);                                 \
        (p)->warpSize = get(10);                                     \
        (p)->memPitch = (size_t)get(11);                             \
        (p)->maxThreadsPerBlock = get(1);                            \
        for (int i_ = 0; i_ < 3; i_++) {                             \
            (p)->maxThreadsDim[i_] = get(2 + i_);                    \
            (p)->maxGridSize[i_] = get(5 + i_);                      \
            (p)->maxTexture3D[i_] = get(24 + i_);                    \
            (p)->maxTexture3DAlt[i_] = get(47 + i_);                 \
            (p)->maxTexture2DLayered[i_] = get(27 + i_);             \
            (p)->maxTexture2DLinear[i_] = get(70 + i_);              \
            (p)->maxSurface3D[i_] = get(58 + i_);                    \
            (p)->maxSurface2DLayered[i_] = get(63 + i_);             \
        }                                                            \
        for (int i_ = 0; i_ < 2; i_++) {                             \
            (p)->maxTexture2D[i_] = get(22 + i_);                    \
            (p)->maxTexture2DMipmap[i_] = get(73 + i_);              \
            (p)->maxTexture2DGather[i_] = get(45 + i_);              \
            (p)->maxTexture1DLayered[i_] = get(42 + i_);             \
            (p)->maxTextureCubemapLayered[i_] = get(53 + i_);        \
            (p)->maxSurface2D[i_] = get(56 + i_);                    \
            (p)->maxSurface1DLayered[i_] = get(61 + i_);             \
            (p)->maxSurfaceCubemapLayered[i_] = get(67 + i_);        \
        }                                                            \
        (p)->totalConstMem = (size_t)get(9);                         \
        (p)->major = get(75);                                        \
        (p)->minor = get(76);                                        \
        (p)->textureAlignment = (size_t)get(14);                     \
        (p)->texturePitchAlignment = (size_t)get(51);                \
        (p)->multiProcessorCount = get(16);                          \
        (p)->canMapHostMemory = get(19);                             \
        (p)->maxTexture1D = get(21);                                 \
        (p)->maxTexture1DMipmap = get(77);                           \
        (p)->maxTextureCubemap = get(52);                            \
        (p)->maxSurface1D = get(55);                                 \
        (p)->maxSurfaceCubemap = get(66);                            \
        (p)->surfaceAlignment = (size_t)get(30);                     \
        (p)->concurrentKernels = get(31);                            \
        (p)->ECCEnabled = get(32);                                   \
        (p)->asyncEngineCount = get(40);                             \
        (p)->unifiedAddressing = get(41);                            \
        (p)->memoryBusWidth = get(37);                               \
        (p)->l2CacheSize = get(38);                                  \
        (p)->persistingL2CacheMaxSize = get(108);                    \
        (p)->maxThreadsPerMultiProcessor = get(39);                  \
        (p)->streamPrioritiesSupported = get(78);                    \
        (p)->globalL1CacheSupported = get(79);                       \
        (p)->localL1CacheSupported = get(80);                        \
        (p)->sharedMemPerMultiprocessor = (size_t)get(81);           \
        (p)->regsPerMultiprocessor = get(82);                        \
        (p)->managedMemory = get(83);                                \
        (p)->concurrentManagedAccess = get(89);                      \
        (p)->computePreemptionSupported = get(90);                   \
        (p)->canUseHostPointerForRegisteredMem = get(91);            \
        (p)->cooperativeLaunch = get(95);                            \
        (p)->sharedMemPerBlockOptin = (size_t)get(97);               \
        (p)->directManagedMemAccessFromHost = get(101);              \
        (p)->maxBlocksPerMultiProcessor = get(106);                  \
        (p)->accessPolicyMaxWindowSize = get(109);                   \
        (p)->reservedSharedMemPerBlock = (size_t)get(111);           \
    } while (0)
/* The fields after those of CUDA 11. */
#define FILL_PROPERTIES_12(p)                          \
    do {                                               \
        (p)->hostRegisterSupported = get(99);          \
        (p)->hostRegisterReadOnlySupported = get(113); \
        (p)->memoryPoolsSupported = get(115);          \
        (p)->unifiedFunctionPointers = 1;              \
    } while (0)

static void fill_12(struct cu_prop_12 *p)
{
    FILL_PROPERTIES(p);
    FILL_PROPERTIES_12(p);
    p->clockRate = get(13);
    p->deviceOverlap = get(15);
    p->kernelExecTimeoutEnabled = get(17);
    p->maxTexture1DLinear = get(69);
    p->memoryClockRate = get(36);
    p->singleToDoublePrecisionPerfRatio = get(87);
}

static int check_device(int device)
{
    int error = query();
    return error ? error : device ? cudaErrorInvalidDevice : 0;
}

int mg__cudaGetDeviceProperties_13(struct cu_prop_13 *out, int device)
{
    int error = check_device(device);
    if (!error && !out)
        error = cudaErrorInvalidValue;
    if (!error) {
        memset(out, 0, sizeof(*out));
        FILL_PROPERTIES(out);
        FILL_PROPERTIES_12(out);
        out->deviceNumaId = get(131);
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
        fill_12(out);
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
        fill_12(&p);
        memcpy(out, &p, offsetof(struct cu_prop_12, hostRegisterSupported));
    }
    return mg__cudart_done(error);
}

int mg__cudaDeviceGetAttribute(int *value, int number, int device)
{
    int error = check_device(device);
    if (!error && (!value || !attribute(number, value)))
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

int mg__cudaDeviceGetPCIBusId(char *out, int length, int device)
{
    static const char id[] = "0000:00:00.0";
    int error = check_device(device);
    if (!error && (!out || length < (int)sizeof(id)))
        error = cudaErrorInvalidValue;
    if (!error)
        memcpy(out, id, sizeof(id));
    return mg__cudart_done(error);
}

int mg__cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    unsigned domain = 0, bus, dev, function = 0;
    int error = query();
    if (!error && (!device || !id))
        error = cudaErrorInvalidValue;
    if (!error && sscanf(id, "%x:%x:%x.%x", &domain, &bus, &dev, &function) < 3) {
        domain = 0;
        if (sscanf(id, "%x:%x.%x", &bus, &dev, &function) < 2)
            error = cudaErrorInvalidValue;
    }
    if (!error && (domain || bus || dev || function))
        error = cudaErrorInvalidDevice;
    if (!error)
        *device = 0;
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

/* ---- one device: no peers ---- */
int mg__cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    int error = check_device(device);
    if (!error && peer)
        error = cudaErrorInvalidDevice;
    if (!error && !can)
        error = cudaErrorInvalidValue;
    if (!error)
        *can = 0;
    return mg__cudart_done(error);
}

int mg__cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    CUDART_ENTER();
    if (peer)
        return mg__cudart_done(cudaErrorInvalidDevice);
    return mg__cudart_done(flags ? cudaErrorInvalidValue : cudaErrorPeerAccessUnsupported);
}

int mg__cudaDeviceDisablePeerAccess(int peer)
{
    CUDART_ENTER();
    return mg__cudart_done(peer ? cudaErrorInvalidDevice : cudaErrorPeerAccessNotEnabled);
}

int mg__cudaDeviceGetP2PAttribute(int *value, int number, int src, int dst)
{
    (void)number, (void)src, (void)dst; /* two different devices would be needed */
    int error = query();
    return mg__cudart_done(error ? error : value ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
}

/* ---- limits ---- */
void mg__cudart_limits_reset(void)
{
    uint64_t *limits = mg__cudart.limits;
    limits[CU_LIMIT_STACK] = 1024; /* as an H100 starts */
    limits[CU_LIMIT_PRINTF_FIFO] = 8650752;
    limits[CU_LIMIT_MALLOC_HEAP] = 8u << 20;
    limits[CU_LIMIT_PENDING_LAUNCHES] = 2048;
    limits[CU_LIMIT_L2_GRANULARITY] = 64;
    limits[CU_LIMIT_PERSISTING_L2] = arch()->board->l2_bytes / 16 * 3;
    mg__simt_reset_limits(mg__cudart.simt);
}

/* The stack and the heap are the engine's. What kernels print is written as it comes, so that no buffer of printf's
 * fills up; the caches have no persisting part and fetch by sectors; and kernels launch none: those values are kept,
 * within what a device takes. */
/* What a device makes of a value, as an H200 answered (driver 580.159, CUDA 13.0, 2026-11-22): stacks in steps of 16
 * bytes, at least 512 KiB of printf's buffer and 4 MiB of heap, no more heap than an eighth of the memory. */
static size_t fitting(int limit, size_t value)
{
    switch (limit) {
    case CU_LIMIT_STACK:
        return value > SIZE_MAX - 15 ? value : (value + 15) / 16 * 16;
    case CU_LIMIT_PRINTF_FIFO:
        return MG_MAX(value, (size_t)512 << 10);
    case CU_LIMIT_MALLOC_HEAP:
        value = MG_MIN(MG_MAX(value, (size_t)4 << 20), memory_total() / 8);
        return (value + 8191) / 8192 * 8192;
    default:
        return value;
    }
}

int mg__cudaDeviceSetLimit(int limit, size_t value)
{
    CUDART_ENTER();
    int error = 0;
    value = fitting(limit, value);
    switch (limit) {
    case CU_LIMIT_STACK: /* the most of local memory that a thread may have, and of memory, for all that are resident */
        if (value > 512u << 10 ||
            value > memory_total() / ((uint64_t)arch()->board->sm_count * arch()->max_threads_sm))
            error = cudaErrorInvalidValue;
        else
            mg__simt_set_stack(mg__cudart.simt, value);
        break;
    case CU_LIMIT_MALLOC_HEAP:
        error = mg__cudart_error_of(mg__simt_set_heap(mg__cudart.simt, value));
        break;
    case CU_LIMIT_L2_GRANULARITY: /* a hint; 0 to 128 */
        error = value > 128 ? cudaErrorInvalidValue : 0;
        break;
    case CU_LIMIT_PERSISTING_L2:
        error = value > most_persisting() ? cudaErrorInvalidValue : 0;
        break;
    case CU_LIMIT_PRINTF_FIFO:
        error = mg__simt_printed(mg__cudart.simt) ? cudaErrorInvalidValue : 0;
        break;
    case CU_LIMIT_PENDING_LAUNCHES:
        break;
    case CU_LIMIT_SYNC_DEPTH:
        error = cudaErrorUnsupportedLimit;
        break;
    default:
        error = cudaErrorInvalidValue;
    }
    mg__cudart_lock();
    if (!error)
        mg__cudart.limits[limit] = value;
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
    mg__cudart_lock();
    *value = mg__cudart.limits[limit];
    mg__cudart_unlock();
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
    return set_preference(&mg__cudart.cache_config, config, 3);
}

int mg__cudaDeviceGetCacheConfig(int *config)
{
    return get_preference(&mg__cudart.cache_config, config);
}

int mg__cudaDeviceSetSharedMemConfig(int config)
{
    return set_preference(&mg__cudart.shared_config, config, 2);
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
/* The dynamic shared memory that a launch may ask for. */
static unsigned dynamic_room(const struct cudart_func *func)
{
    unsigned fixed = func->info.shared_static;
    unsigned room = arch()->shared_block > fixed ? arch()->shared_block - fixed : 0;
    return func->shared_optin ? func->shared_optin : room;
}

int mg__cudaFuncGetAttributes(struct cu_func_attributes *out, const void *kernel)
{
    struct cudart_func *func;
    CUDART_ENTER();
    if (!out)
        return mg__cudart_done(cudaErrorInvalidValue);
    int error = mg__cudart_func_find(kernel, &func);
    if (error)
        return mg__cudart_done(error);
    memset(out, 0, sizeof(*out));
    out->shared_bytes = func->info.shared_static;
    out->const_bytes = func->info.const_bytes;
    out->local_bytes = func->info.local_bytes;
    out->max_threads = (int)func->info.max_threads;
    out->regs = (int)func->info.regs;
    out->ptx_version = (int)func->info.ptx->target_sm;
    out->binary_version = (int)arch()->cc;
    out->max_dynamic_shared = (int)dynamic_room(func);
    out->shared_carveout = func->carveout;
    return mg__cudart_done(0);
}

int mg__cudaFuncSetAttribute(const void *kernel, int number, int value)
{
    struct cudart_func *func;
    CUDART_ENTER();
    int error = mg__cudart_func_find(kernel, &func);
    if (error)
        return mg__cudart_done(error);
    if (number == CU_FUNC_MAX_DYNAMIC_SHARED) {
        if (value < 0 || (uint64_t)value + func->info.shared_static > arch()->shared_block_optin)
            return mg__cudart_done(cudaErrorInvalidValue);
        func->shared_optin = (uint32_t)value;
    } else if (number == CU_FUNC_SHARED_CARVEOUT) {
        if (value < -1 || value > 100)
            return mg__cudart_done(cudaErrorInvalidValue);
        func->carveout = value;
    } else if (number > CU_FUNC_SHARED_CARVEOUT && number < CU_FUNC_ATTRIBUTES_END) {
        if (value)
            return mg__cudart_missing("cudaFuncSetAttribute with a cluster attribute");
    } else {
        return mg__cudart_done(cudaErrorInvalidValue);
    }
    return mg__cudart_done(0);
}

int mg__cudaKernelSetAttributeForDevice(const void *kernel, int number, int value, int device)
{
    return device ? mg__cudart_done(cudaErrorInvalidDevice) : mg__cudaFuncSetAttribute(kernel, number, value);
}

static int set_func_preference(const void *kernel, int value, int most)
{
    struct cudart_func *func;
    CUDART_ENTER();
    int error = mg__cudart_func_find(kernel, &func);
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
/* As a device answers: launch bounds are not looked at (a launch beyond them fails all the same). */
static unsigned resident(const struct cudart_func *func, int threads, size_t dynamic)
{
    if (dynamic > dynamic_room(func))
        return 0;
    struct mg_occupancy_query q =
        mg_arch_query((unsigned)threads, func->info.regs, func->info.shared_static, (uint32_t)dynamic);
    struct mg_occupancy o;
    q.carveout = func->carveout;
    q.barriers = func->barriers;
    return mg_arch_occupancy(arch(), &q, &o) == MG_OK ? o.blocks : 0;
}

int mg__cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *kernel, int threads,
                                                               size_t dynamic, unsigned flags)
{
    struct cudart_func *func;
    CUDART_ENTER();
    if (!blocks || threads <= 0 || flags > 1)
        return mg__cudart_done(cudaErrorInvalidValue);
    int error = mg__cudart_func_find(kernel, &func);
    if (!error)
        *blocks = (int)resident(func, threads, dynamic);
    return mg__cudart_done(error);
}

int mg__cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads, size_t dynamic)
{
    return mg__cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, dynamic, 0);
}

/* The dynamic shared memory that `blocks` blocks leave each other. Driver 580 does not count the kilobyte that every
 * block reserves, so its answer can be one that does not fit; we give the same one. */
int mg__cudaOccupancyAvailableDynamicSMemPerBlock(size_t *out, const void *kernel, int blocks, int threads)
{
    struct cudart_func *func;
    CUDART_ENTER();
    if (!out || blocks <= 0 || threads <= 0)
        return mg__cudart_done(cudaErrorInvalidValue);
    int error = mg__cudart_func_find(kernel, &func);
    if (error)
        return mg__cudart_done(error);
    if (resident(func, threads, 0) < (unsigned)blocks)
        return mg__cudart_done(cudaErrorInvalidValue);
    unsigned unit = MG_MAX(arch()->shared_alloc_unit, 1), fixed = func->info.shared_static;
    unsigned share = arch()->shared_sm / (unsigned)blocks / unit * unit;
    *out = MG_MIN(share > fixed ? share - fixed : 0, dynamic_room(func));
    return mg__cudart_done(0);
}
