/* abi.h - the CUDA runtime's binary interface, as far as this room needs it: values and structure layouts, written
 * from the documentation so that Margay builds without a CUDA toolkit. tests/cudart compares sizes and offsets with the
 * toolkit's own headers where there is one.
 *
 * Names are ours; a comment gives the API's where it is not plain. `int` stands for cudaError_t and the other enums.
 */
#ifndef MG_CUDART_ABI_H
#define MG_CUDART_ABI_H
#include <stddef.h>
#include <stdint.h>

enum cu_error {
#define CUDA_ERROR(value, name, text) name = value,
#include "cudart/errors.def"
#undef CUDA_ERROR
};

enum cu_memcpy_kind { CU_HOST_TO_HOST, CU_HOST_TO_DEVICE, CU_DEVICE_TO_HOST, CU_DEVICE_TO_DEVICE, CU_DEFAULT };
enum cu_memory_type { CU_MEM_UNREGISTERED, CU_MEM_HOST, CU_MEM_DEVICE, CU_MEM_MANAGED };
enum cu_limit {
    CU_LIMIT_STACK,
    CU_LIMIT_PRINTF_FIFO,
    CU_LIMIT_MALLOC_HEAP,
    CU_LIMIT_SYNC_DEPTH,
    CU_LIMIT_PENDING_LAUNCHES,
    CU_LIMIT_L2_GRANULARITY,
    CU_LIMIT_PERSISTING_L2,
    CU_LIMITS
};
enum {
    CU_FUNC_MAX_DYNAMIC_SHARED = 8,
    CU_FUNC_SHARED_CARVEOUT,
    CU_FUNC_CLUSTER_MUST_BE_SET,
    CU_FUNC_CLUSTER_WIDTH,
    CU_FUNC_CLUSTER_HEIGHT,
    CU_FUNC_CLUSTER_DEPTH,
    CU_FUNC_CLUSTER_NON_PORTABLE,
    CU_FUNC_ATTRIBUTES_END = 16
};
enum { CU_LAUNCH_COOPERATIVE = 2, CU_LAUNCH_CLUSTER = 4, CU_LAUNCH_DEPENDENT = 6, CU_LAUNCH_PREFERRED_CLUSTER = 11 };
enum { CU_EVENT_BLOCKING = 1, CU_EVENT_NO_TIMING = 2, CU_EVENT_INTERPROCESS = 4 };
enum { CU_STREAM_LEGACY = 1, CU_STREAM_PER_THREAD = 2 }; /* handles with a meaning of their own */

struct cu_extent {
    size_t width, height, depth;
};
struct cu_pos {
    size_t x, y, z;
};
struct cu_pitched_ptr {
    void *ptr;
    size_t pitch, xsize, ysize;
};
struct cu_memcpy_3d { /* cudaMemcpy3DParms */
    void *src_array;
    struct cu_pos src_pos;
    struct cu_pitched_ptr src;
    void *dst_array;
    struct cu_pos dst_pos;
    struct cu_pitched_ptr dst;
    struct cu_extent extent;
    int kind;
};
struct cu_memcpy_3d_peer {
    void *src_array;
    struct cu_pos src_pos;
    struct cu_pitched_ptr src;
    int src_device;
    void *dst_array;
    struct cu_pos dst_pos;
    struct cu_pitched_ptr dst;
    int dst_device;
    struct cu_extent extent;
};
struct cu_location { /* cudaMemLocation */
    int type, id;
};
struct cu_access_desc { /* cudaMemAccessDesc */
    struct cu_location location;
    int flags;
};
struct cu_pool_properties { /* the beginning of cudaMemPoolProps */
    int allocation, handles;
    struct cu_location location;
};
struct cu_pointer_attributes { /* version 13 adds `long reserved[8]`, which is left as it is */
    int type, device;
    void *device_pointer, *host_pointer;
};
struct cu_func_attributes {
    size_t shared_bytes, const_bytes, local_bytes;
    int max_threads, regs, ptx_version, binary_version, cache_mode_ca, max_dynamic_shared, shared_carveout;
    int cluster_dim_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy, cluster_non_portable;
    int reserved[16];
};
struct cu_launch_attribute {
    int id;
    char pad[4];
    union {
        char pad[64];
        int cooperative, dependent;
        struct {
            unsigned x, y, z;
        } cluster;
    } value;
};
struct cu_dim3 {
    unsigned x, y, z;
};
struct cu_kernel_node { /* cudaKernelNodeParams */
    void *function;
    struct cu_dim3 grid, block;
    unsigned shared;
    void **args, **extra;
};
struct cu_memset_node { /* cudaMemsetParams */
    void *to;
    size_t pitch;
    unsigned value, unit;
    size_t width, height;
};
struct cu_host_node { /* cudaHostNodeParams */
    void (*call)(void *arg);
    void *arg;
};
struct cu_copy_node { /* cudaMemcpyNodeParams */
    int flags, reserved[3];
    struct cu_memcpy_3d copy;
};
struct cu_pool_whole { /* cudaMemPoolProps */
    int allocation, handles;
    struct cu_location location;
    void *win32;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
};
struct cu_alloc_node { /* cudaMemAllocNodeParams */
    struct cu_pool_whole pool;
    const struct cu_access_desc *access;
    size_t naccess, size;
    void *at;
};
struct cu_condition_node { /* cudaConditionalNodeParams; the driver's has a context behind it */
    uint64_t handle;
    int type;
    unsigned size;
    void *const *bodies;
};
struct cu_memop { /* the beginning of each kind of CUstreamBatchMemOpParams */
    int operation;
    uint64_t address, value;
    unsigned flags;
    uint64_t alias;
    uint64_t pad;
};
struct cu_batch_node { /* CUDA_BATCH_MEM_OP_NODE_PARAMS */
    void *context;
    unsigned count;
    struct cu_memop *ops;
    unsigned flags;
};
struct cu_graph_node { /* cudaGraphNodeParams */
    int type, reserved[3];
    union {
        long long pad[29];
        struct cu_alloc_node alloc;
        struct cu_condition_node condition;
        struct cu_batch_node memops; /* the driver's alone */
        struct cu_kernel_node kernel;
        struct cu_copy_node copy;
        struct cu_memset_node fill;
        struct cu_host_node host;
        void *child, *event, *unalloc;
    };
    long long reserved_too;
};
struct cu_instantiate { /* cudaGraphInstantiateParams */
    unsigned long long flags;
    void *stream, *node;
    int result;
};
struct cu_ipc { /* cudaIpcMemHandle_t, cudaIpcEventHandle_t */
    char bytes[64];
};
struct cu_channel_desc { /* cudaChannelFormatDesc */
    int x, y, z, w, format;
};
struct cu_launch_config {
    struct cu_dim3 grid, block;
    size_t shared;
    void *stream;
    struct cu_launch_attribute *attributes;
    unsigned nattributes;
};

/* cudaDeviceProp of CUDA 13. The fields keep the API's names: there are too many to rename. */
#define CU_PROP_TEXTURES                                                                                       \
    int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], \
        maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3],                 \
        maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2],   \
        maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];                                \
    size_t surfaceAlignment;                                                                                   \
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount,        \
        unifiedAddressing
#define CU_PROP_POOLS                                                                    \
    int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported,  \
        timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported; \
    unsigned gpuDirectRDMAFlushWritesOptions;                                            \
    int gpuDirectRDMAWritesOrdering;                                                     \
    unsigned memoryPoolSupportedHandleTypes;                                             \
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers
struct cu_prop_13 {
    char name[256], uuid[16], luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int multiProcessorCount, integrated, canMapHostMemory, maxTexture1D, maxTexture1DMipmap;
    CU_PROP_TEXTURES;
    int memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported,
        globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
        pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem,
        cooperativeLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
        accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    CU_PROP_POOLS;
    int deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;
    unsigned gpuPciDeviceID, gpuPciSubsystemID;
    int hostNumaMultinodeIpcSupported, reserved[56];
};
/* cudaDeviceProp of CUDA 12. Up to and with reservedSharedMemPerBlock it is also that of CUDA 11, which
 * cudaGetDeviceProperties of libcudart.so.12 fills for programs that were built then. */
struct cu_prop_12 {
    char name[256], uuid[16], luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode,
        maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear;
    CU_PROP_TEXTURES;
    int memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor,
        streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
        singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported,
        canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
        accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    CU_PROP_POOLS;
    int reserved[63];
};
#endif
