/* memory.c - allocations, pools, and what is known of a pointer: the runtime's, in the driver's words. */
#include "cuda/driver.h"

enum { PITCH = 512 };

static int allocate(uint64_t *address, size_t size, enum cudart_kind kind)
{
    void *pointer;
    if (!address || !size)
        return CUDA_ERROR_INVALID_VALUE;
    int error = mg__cudart_alloc(&pointer, size, kind, mg__cudart_here());
    if (!error)
        *address = (uint64_t)(uintptr_t)pointer;
    return error;
}

static int allocate_pitched(uint64_t *address, size_t *pitch, size_t width, size_t height, unsigned element)
{
    size_t row = (width + PITCH - 1) / PITCH * PITCH, size;
    if (!pitch || !width || !height || (element != 4 && element != 8 && element != 16))
        return CUDA_ERROR_INVALID_VALUE;
    if (row < width || __builtin_mul_overflow(row, height, &size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    int error = allocate(address, size, CUDART_DEVICE);
    if (!error)
        *pitch = row;
    return error;
}

static int allocate_managed(uint64_t *address, size_t size, unsigned flags)
{
    return flags == 1 || flags == 2 ? allocate(address, size, CUDART_MANAGED) : CUDA_ERROR_INVALID_VALUE;
}

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

CUDA_SAME(cuMemAlloc, (uint64_t * address, size_t size), allocate(address, size, CUDART_DEVICE))
CUDA_SAME(cuMemAllocPitch, (uint64_t * address, size_t *pitch, size_t width, size_t height, unsigned element),
          allocate_pitched(address, pitch, width, height, element))
CUDA_SAME(cuMemAllocManaged, (uint64_t * address, size_t size, unsigned flags), allocate_managed(address, size, flags))
int mg__cuMemFree(uint64_t address)
{
    CUDA_BEGIN();
    if (!address)
        return mg__cuda_done(0);
    CUDA_ENTER();
    return mg__cuda_done(mg__cudaFree(at(address)));
}

CUDA_SAME(cuMemGetInfo, (size_t * free_bytes, size_t *total),
          free_bytes &&total ? mg__cudaMemGetInfo(free_bytes, total) : CUDA_ERROR_INVALID_VALUE)

/* ---- the host's ---- */
static int host_alloc(void **pointer, size_t size, unsigned flags)
{
    return pointer ? mg__cudaHostAlloc(pointer, size, flags) : CUDA_ERROR_INVALID_VALUE;
}

static int device_pointer(uint64_t *address, void *host, unsigned flags)
{
    void *pointer;
    int error = address ? mg__cudaHostGetDevicePointer(&pointer, host, flags) : CUDA_ERROR_INVALID_VALUE;
    if (!error)
        *address = (uint64_t)(uintptr_t)pointer;
    return error;
}

CUDA_SAME(cuMemAllocHost, (void **pointer, size_t size), host_alloc(pointer, size, 0))
CUDA_SAME(cuMemHostAlloc, (void **pointer, size_t size, unsigned flags), host_alloc(pointer, size, flags))
CUDA_SAME(cuMemFreeHost, (void *pointer), mg__cudaFreeHost(pointer))
CUDA_SAME(cuMemHostRegister, (void *pointer, size_t size, unsigned flags), mg__cudaHostRegister(pointer, size, flags))
/* Inside of what is registered, and not where it begins, is another error than elsewhere. */
static int unregister(void *pointer)
{
    struct cudart_alloc alloc;
    bool inside = mg__cudart_classify(pointer, NULL, &alloc) == CUDART_PINNED && alloc.registered;
    return inside && alloc.address != (uint64_t)(uintptr_t)pointer ? CUDA_ERROR_INVALID_VALUE
                                                                   : mg__cudaHostUnregister(pointer);
}
CUDA_SAME(cuMemHostUnregister, (void *pointer), unregister(pointer))
CUDA_SAME(cuMemHostGetDevicePointer, (uint64_t * address, void *host, unsigned flags),
          device_pointer(address, host, flags))
CUDA_SAME(cuMemHostGetFlags, (unsigned *flags, void *pointer), mg__cudaHostGetFlags(flags, pointer))

/* ---- managed ---- */
CUDA_SAME(cuMemPrefetchAsync, (uint64_t address, size_t size, int device, void *stream),
          mg__cudaMemPrefetchAsync_12(at(address), size, device, stream))
CUDA_SAME(cuMemPrefetchAsync_v2, (uint64_t address, size_t size, struct cu_location to, unsigned flags, void *stream),
          mg__cudaMemPrefetchAsync(at(address), size, to, flags, stream))
CUDA_SAME(cuMemAdvise, (uint64_t address, size_t size, int advice, int device),
          mg__cudaMemAdvise_12(at(address), size, advice, device))
CUDA_SAME(cuMemAdvise_v2, (uint64_t address, size_t size, int advice, struct cu_location where),
          mg__cudaMemAdvise(at(address), size, advice, where))
CUDA_SAME(cuStreamAttachMemAsync, (void *stream, uint64_t address, size_t size, unsigned flags),
          mg__cudaStreamAttachMemAsync(stream, at(address), size, flags))

/* ---- pools ---- */
static int pool_address(uint64_t *address, void *pointer, int error)
{
    if (!error)
        *address = (uint64_t)(uintptr_t)pointer;
    return error;
}

int mg__cuMemAllocAsync(uint64_t *address, size_t size, void *stream)
{
    void *pointer = NULL;
    CUDA_ENTER();
    int error = address ? mg__cudaMallocAsync(&pointer, size, stream) : CUDA_ERROR_INVALID_VALUE;
    return mg__cuda_done(pool_address(address, pointer, error));
}

int mg__cuMemAllocFromPoolAsync(uint64_t *address, size_t size, struct cudart_pool *pool, void *stream)
{
    void *pointer = NULL;
    CUDA_ENTER();
    int error = address ? mg__cudaMallocFromPoolAsync(&pointer, size, pool, stream) : CUDA_ERROR_INVALID_VALUE;
    return mg__cuda_done(pool_address(address, pointer, error));
}

CUDA_SAME(cuMemFreeAsync, (uint64_t address, void *stream), address ? mg__cudaFreeAsync(at(address), stream) : 0)
CUDA_ANYWHERE(cuDeviceGetDefaultMemPool, (struct cudart_pool * *pool, int device),
              mg__cudaDeviceGetDefaultMemPool(pool, device))
CUDA_ANYWHERE(cuDeviceGetMemPool, (struct cudart_pool * *pool, int device), mg__cudaDeviceGetMemPool(pool, device))
CUDA_ANYWHERE(cuDeviceSetMemPool, (int device, struct cudart_pool *pool), mg__cudaDeviceSetMemPool(device, pool))
CUDA_ANYWHERE(cuMemPoolCreate, (struct cudart_pool * *pool, const struct cu_pool_properties *properties),
              properties && properties->allocation == 1 /* pinned */ ? mg__cudaMemPoolCreate(pool, properties)
                                                                     : CUDA_ERROR_INVALID_VALUE)
CUDA_ANYWHERE(cuMemPoolDestroy, (struct cudart_pool * pool), mg__cudaMemPoolDestroy(pool))
CUDA_ANYWHERE(cuMemPoolSetAttribute, (struct cudart_pool * pool, int attribute, void *value),
              mg__cudaMemPoolSetAttribute(pool, attribute, value))
CUDA_ANYWHERE(cuMemPoolGetAttribute, (struct cudart_pool * pool, int attribute, void *value),
              mg__cudaMemPoolGetAttribute(pool, attribute, value))
CUDA_ANYWHERE(cuMemPoolTrimTo, (struct cudart_pool * pool, size_t keep), mg__cudaMemPoolTrimTo(pool, keep))
CUDA_ANYWHERE(cuMemPoolSetAccess, (struct cudart_pool * pool, const struct cu_access_desc *list, size_t count),
              mg__cudaMemPoolSetAccess(pool, list, count))
CUDA_ANYWHERE(cuMemPoolGetAccess, (int *flags, struct cudart_pool *pool, struct cu_location *location),
              mg__cudaMemPoolGetAccess(flags, pool, location))

/* ---- what a pointer is ---- */
static int address_range(uint64_t *base, size_t *size, uint64_t address)
{
    struct cudart_alloc alloc;
    enum cudart_kind kind = mg__cudart_classify(at(address), NULL, &alloc);
    if (kind == CUDART_PAGEABLE || kind == CUDART_WILD)
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = alloc.address;
    if (size)
        *size = alloc.size;
    return 0;
}
CUDA_SAME(cuMemGetAddressRange, (uint64_t * base, size_t *size, uint64_t address), address_range(base, size, address))

static void put_int(void *out, int value)
{
    memcpy(out, &value, sizeof(value));
}

static void put_long(void *out, uint64_t value)
{
    memcpy(out, &value, sizeof(value));
}

/* Of memory that CUDA does not know: the error, with what it reads as where many are asked for. */
static int of_unknown(void *out, int number, uint64_t address)
{
    switch (number) {
    case CU_POINTER_HOST:
        put_long(out, address);
        break;
    case CU_POINTER_RANGE_START:
    case CU_POINTER_RANGE_SIZE:
        break;
    case CU_POINTER_MANAGED:
    case CU_POINTER_MAPPED:
    case CU_POINTER_LEGACY_IPC:
    case CU_POINTER_RDMA:
    case CU_POINTER_ACCESS:
    case CU_POINTER_TYPE:
    case CU_POINTER_SYNC_MEMOPS:
        put_int(out, 0);
        break;
    case CU_POINTER_ORDINAL:
        put_int(out, -2); /* CU_DEVICE_INVALID */
        break;
    default:
        put_long(out, 0);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static int attribute(void *out, int number, uint64_t address)
{
    struct cudart_alloc alloc;
    uint64_t end;
    if (!out || number < CU_POINTER_CONTEXT || number >= CU_POINTER_END)
        return CUDA_ERROR_INVALID_VALUE;
    enum cudart_kind kind = mg__cudart_classify(at(address), NULL, &alloc);
    bool host = kind == CUDART_PINNED, managed = kind == CUDART_MANAGED;
    if (kind == CUDART_PAGEABLE || kind == CUDART_WILD)
        return of_unknown(out, number, address);
    switch (number) {
    case CU_POINTER_CONTEXT:
        put_long(out, (uint64_t)(uintptr_t)mg__cudart_context_at(alloc.device));
        return 0;
    case CU_POINTER_TYPE:
        put_int(out, host ? CU_TYPE_HOST : CU_TYPE_DEVICE);
        return 0;
    case CU_POINTER_HOST:
        put_long(out, host || managed ? address : 0);
        return host || managed ? 0 : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_DEVICE:
        put_long(out, address);
        return 0;
    case CU_POINTER_BUFFER_ID:
        put_long(out, alloc.id);
        return 0;
    case CU_POINTER_MANAGED:
        put_int(out, managed);
        return 0;
    case CU_POINTER_ORDINAL:
        put_int(out, (int)alloc.device->ordinal);
        return 0;
    case CU_POINTER_RANGE_START:
        put_long(out, alloc.address);
        return 0;
    case CU_POINTER_RANGE_SIZE:
        put_long(out, alloc.size);
        return 0;
    case CU_POINTER_MAPPING_BASE:
        put_long(out, alloc.address / CUDART_GRANULE * CUDART_GRANULE);
        return 0;
    case CU_POINTER_MAPPING_SIZE:
        end = (alloc.address + alloc.size + CUDART_GRANULE - 1) / CUDART_GRANULE * CUDART_GRANULE;
        put_long(out, end - alloc.address / CUDART_GRANULE * CUDART_GRANULE);
        return 0;
    case CU_POINTER_BLOCK_ID:
        put_long(out, alloc.address / CUDART_GRANULE);
        return 0;
    case CU_POINTER_MAPPED:
        put_int(out, 1);
        return 0;
    case CU_POINTER_ACCESS:
        put_int(out, 3); /* read and write */
        return 0;
    case CU_POINTER_HANDLE_TYPES:
    case CU_POINTER_POOL:
        put_long(out, 0);
        return 0;
    case CU_POINTER_SYNC_MEMOPS:
        put_int(out, managed);
        return 0;
    case CU_POINTER_LEGACY_IPC: /* neither can be given to others here */
    case CU_POINTER_RDMA:
    case CU_POINTER_HW_DECOMPRESS:
        put_int(out, 0);
        return 0;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

int mg__cuPointerGetAttribute(void *out, int number, uint64_t address)
{
    uint64_t value = 0;
    CUDA_BEGIN();
    int error = out ? attribute(&value, number, address) : CUDA_ERROR_INVALID_VALUE;
    bool known = mg__cudart_classify(at(address), NULL, NULL) != CUDART_PAGEABLE;
    if (known && out && (!error || number == CU_POINTER_HOST))
        attribute(out, number, address);
    return mg__cuda_done(error);
}

int mg__cuPointerGetAttributes(unsigned count, const int *numbers, void **out, uint64_t address)
{
    CUDA_BEGIN();
    if (!count || !numbers || !out)
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count; i++) {
        if (!out[i] || numbers[i] < CU_POINTER_CONTEXT || numbers[i] >= CU_POINTER_END)
            return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
        attribute(out[i], numbers[i], address); /* what does not apply reads as nothing */
    }
    return mg__cuda_done(0);
}

int mg__cuPointerSetAttribute(const void *value, int number, uint64_t address)
{
    uint64_t ignored;
    CUDA_BEGIN();
    int error =
        value && number == CU_POINTER_SYNC_MEMOPS ? attribute(&ignored, number, address) : CUDA_ERROR_INVALID_VALUE;
    return mg__cuda_done(error); /* copies wait as they are documented to */
}

/* ---- other processes ---- */
CUDA_SAME(cuIpcGetMemHandle, (struct cu_ipc * handle, uint64_t address),
          mg__cudaIpcGetMemHandle(handle, (void *)(uintptr_t)address))
CUDA_SAME(cuIpcOpenMemHandle, (void **address, struct cu_ipc handle, unsigned flags),
          mg__cudaIpcOpenMemHandle(address, handle, flags))
CUDA_SAME(cuIpcCloseMemHandle, (uint64_t address), mg__cudaIpcCloseMemHandle((void *)(uintptr_t)address))
CUDA_SAME(cuIpcGetEventHandle, (struct cu_ipc * handle, void *event), mg__cudaIpcGetEventHandle(handle, event))
CUDA_SAME(cuIpcOpenEventHandle, (void **event, struct cu_ipc handle), mg__cudaIpcOpenEventHandle(event, handle))
