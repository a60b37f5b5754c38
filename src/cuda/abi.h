/* abi.h - the driver's binary interface, as far as this room needs it and it is not the runtime's (cudart/abi.h):
 * values and structure layouts, written from the documentation. tests/cuda compares them with the toolkit's header.
 *
 * Names are ours. `int` stands for CUresult and the other enums, uint64_t for CUdeviceptr, void * for handles.
 */
#ifndef MG_CUDA_ABI_H
#define MG_CUDA_ABI_H
#include "cudart/abi.h"

enum cu_result {
#define CUDA_ERROR(value, name, text) name = value,
#include "cuda/errors.def"
#undef CUDA_ERROR
};
enum cu_memorytype { CU_TYPE_HOST = 1, CU_TYPE_DEVICE, CU_TYPE_ARRAY, CU_TYPE_UNIFIED };
enum cu_jit_option {
    CU_JIT_MAX_REGS,
    CU_JIT_THREADS,
    CU_JIT_WALL,
    CU_JIT_INFO_LOG,
    CU_JIT_INFO_LOG_SIZE,
    CU_JIT_ERROR_LOG,
    CU_JIT_ERROR_LOG_SIZE,
};
enum cu_jit_input { CU_INPUT_CUBIN, CU_INPUT_PTX, CU_INPUT_FATBIN, CU_INPUT_OBJECT, CU_INPUT_LIBRARY, CU_INPUT_NVVM };
enum cu_pointer_attribute {
    CU_POINTER_CONTEXT = 1,
    CU_POINTER_TYPE,
    CU_POINTER_DEVICE,
    CU_POINTER_HOST,
    CU_POINTER_P2P_TOKENS,
    CU_POINTER_SYNC_MEMOPS,
    CU_POINTER_BUFFER_ID,
    CU_POINTER_MANAGED,
    CU_POINTER_ORDINAL,
    CU_POINTER_LEGACY_IPC,
    CU_POINTER_RANGE_START,
    CU_POINTER_RANGE_SIZE,
    CU_POINTER_MAPPED,
    CU_POINTER_HANDLE_TYPES,
    CU_POINTER_RDMA,
    CU_POINTER_ACCESS,
    CU_POINTER_POOL,
    CU_POINTER_MAPPING_SIZE,
    CU_POINTER_MAPPING_BASE,
    CU_POINTER_BLOCK_ID,
    CU_POINTER_HW_DECOMPRESS,
    CU_POINTER_END
};
enum { CU_PARAM_END, CU_PARAM_BUFFER, CU_PARAM_BUFFER_SIZE }; /* of cuLaunchKernel's `extra` */

struct cu_memcpy_2d { /* CUDA_MEMCPY2D_v2 */
    size_t src_x, src_y;
    int src_type;
    const void *src_host;
    uint64_t src_device;
    void *src_array;
    size_t src_pitch, dst_x, dst_y;
    int dst_type;
    void *dst_host;
    uint64_t dst_device;
    void *dst_array;
    size_t dst_pitch, width, height;
};
struct cu_memcpy3d { /* CUDA_MEMCPY3D_v2; CUDA_MEMCPY3D_PEER has contexts where this has what is reserved */
    size_t src_x, src_y, src_z, src_lod;
    int src_type;
    const void *src_host;
    uint64_t src_device;
    void *src_array, *src_context;
    size_t src_pitch, src_height, dst_x, dst_y, dst_z, dst_lod;
    int dst_type;
    void *dst_host;
    uint64_t dst_device;
    void *dst_array, *dst_context;
    size_t dst_pitch, dst_height, width, height, depth;
};
struct cu_kernel_params { /* CUDA_KERNEL_NODE_PARAMS_v2; the first version ends before `kernel` */
    void *function;
    struct cu_dim3 grid, block;
    unsigned shared;
    void **args, **extra;
    void *kernel, *context;
};
struct cu_memcpy_params { /* CUDA_MEMCPY_NODE_PARAMS */
    int flags, reserved;
    void *context;
    struct cu_memcpy3d copy;
};
struct cu_node_params { /* CUgraphNodeParams */
    int type, reserved[3];
    union {
        long long pad[29];
        struct cu_kernel_params kernel;
        struct cu_memcpy_params copy;
        struct cu_memset_node fill;
        struct cu_host_node host;
        void *child, *event, *unalloc;
        struct cu_alloc_node alloc;
        struct cu_condition_node condition;
        struct cu_batch_node memops;
    };
    long long reserved_too;
};
struct cu_array2d { /* CUDA_ARRAY_DESCRIPTOR_v2 */
    size_t width, height;
    int format;
    unsigned channels;
};
struct cu_array3d { /* CUDA_ARRAY3D_DESCRIPTOR_v2 */
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};
struct cu_driver_resource { /* CUDA_RESOURCE_DESC */
    int type;
    union {
        void *array;
        struct {
            uint64_t at;
            int format;
            unsigned channels;
            size_t size;
        } linear;
        struct {
            uint64_t at;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } pitched;
        int reserved[32];
    };
    unsigned flags;
};
struct cu_driver_texture { /* CUDA_TEXTURE_DESC */
    int address[3], filter;
    unsigned flags, anisotropy;
    int mip_filter;
    float mip_bias, mip_least, mip_most, border[4];
    int reserved[12];
};
struct cu_launch { /* CUlaunchConfig */
    struct cu_dim3 grid, block;
    unsigned shared;
    void *stream;
    struct cu_launch_attribute *attributes;
    unsigned nattributes;
};
struct cu_devprop { /* CUdevprop */
    int max_threads, max_block[3], max_grid[3], shared, constant, warp, pitch, regs, clock, alignment;
};
struct cu_allocation { /* CUmemAllocationProp */
    int type, handles;
    struct cu_location location;
    void *win32;
    struct {
        unsigned char compression, rdma;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
};
#endif
