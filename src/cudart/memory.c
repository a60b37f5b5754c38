/* memory.c - allocations: device, pitched, managed, page-locked host memory, pools, and what a pointer points to.
 *
 * A device address is a host address (simt.h), so managed memory is device memory that the host may touch, and nothing
 * ever migrates: prefetches and advice are checked and then do nothing. Page-locked memory is mapped by us, or the
 * program's own after cudaHostRegister, and told to the engine so that kernels may touch it.
 *
 * Pools hand out plain device memory; their attributes are kept and mean nothing. Arrays come with textures, later.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "cudart/cudart.h"

#include <sys/mman.h>

/* Live allocations by address. Module variables are not here: the engine knows them. */
static MG_VEC(struct cudart_alloc) allocs;

struct cudart_pool {
    struct cudart_pool *next;
    uint64_t attributes[9]; /* by cudaMemPoolAttr */
};
static struct cudart_pool default_pool = {.attributes = {0, 1, 1, 1}};
static struct cudart_pool *pools, *current_pool = &default_pool;

enum { PITCH = 512, ALIGN = 512 }; /* what an H100 aligns to */

/* ---- the table ---- */
static size_t alloc_after(uint64_t address) /* the first that begins past `address` */
{
    size_t low = 0, high = allocs.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (allocs.at[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct cudart_alloc *alloc_of(uint64_t address)
{
    size_t i = alloc_after(address);
    if (i == 0 || address - allocs.at[i - 1].address >= allocs.at[i - 1].size)
        return NULL;
    return &allocs.at[i - 1];
}

static bool alloc_add(struct cudart_alloc alloc)
{
    mg__cudart_lock();
    size_t i = alloc_after(alloc.address);
    bool good = mg__vec_push(&allocs, alloc);
    if (good) {
        memmove(&allocs.at[i + 1], &allocs.at[i], (allocs.count - 1 - i) * sizeof(alloc));
        allocs.at[i] = alloc;
    }
    mg__cudart_unlock();
    return good;
}

static void alloc_remove(struct cudart_alloc *alloc)
{
    size_t i = (size_t)(alloc - allocs.at);
    memmove(alloc, alloc + 1, (allocs.count - 1 - i) * sizeof(*alloc));
    allocs.count--;
}

static void release(const struct cudart_alloc *alloc)
{
    void *host = (void *)(uintptr_t)alloc->address;
    mg__check_freed(mg__cudart.check, alloc->address);
    if (alloc->kind == CUDART_PINNED) {
        mg__mem_unregister_host(mg__cudart.simt, host);
        if (!alloc->registered)
            munmap(host, alloc->mapped);
    } else {
        mg__mem_free(mg__cudart.simt, alloc->address);
    }
}

void mg__cudart_memory_reset(void)
{
    for (size_t i = 0; i < allocs.count; i++)
        release(&allocs.at[i]);
    mg__vec_free(&allocs);
}

enum cudart_kind mg__cudart_classify(const void *pointer, uint64_t *left, struct cudart_alloc *out)
{
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    enum cudart_kind kind = CUDART_PAGEABLE;
    struct mg_allocation found;
    uint64_t ignored;
    if (!left)
        left = &ignored;
    *left = SIZE_MAX;
    mg__cudart_lock();
    struct cudart_alloc *alloc = alloc_of(address);
    if (alloc) {
        kind = alloc->kind;
        *left = alloc->size - (address - alloc->address);
        if (out)
            *out = *alloc;
    } else if (mg__mem_in_range(mg__cudart.simt, address)) {
        kind = CUDART_WILD;
        if (mg__mem_find(mg__cudart.simt, address, &found) && found.name) {
            kind = CUDART_DEVICE;
            *left = found.size - (address - found.address);
            if (out)
                *out = (struct cudart_alloc){.address = found.address, .size = found.size, .kind = kind};
        } else {
            *left = 0;
        }
    }
    mg__cudart_unlock();
    return kind;
}

/* ---- device and managed memory ---- */
static int device_alloc(void **pointer, size_t size, enum cudart_kind kind)
{
    uint64_t address;
    if (!pointer)
        return cudaErrorInvalidValue;
    *pointer = NULL;
    if (size == 0)
        return 0;
    if (size > UINT64_MAX / 2)
        return cudaErrorMemoryAllocation;
    if (mg__mem_alloc(mg__cudart.simt, size, ALIGN, &address))
        return cudaErrorMemoryAllocation;
    if (!alloc_add((struct cudart_alloc){.address = address, .size = size, .kind = kind})) {
        mg__mem_free(mg__cudart.simt, address);
        return cudaErrorMemoryAllocation;
    }
    mg__check_allocated(mg__cudart.check, address, size, kind == CUDART_MANAGED ? MG_CHECK_MANAGED : MG_CHECK_DEVICE);
    *pointer = (void *)(uintptr_t)address;
    return 0;
}

static int device_free(void *pointer)
{
    int error = 0;
    if (!pointer)
        return 0;
    mg__cudart_lock();
    struct cudart_alloc *alloc = alloc_of((uint64_t)(uintptr_t)pointer);
    if (!alloc || alloc->address != (uint64_t)(uintptr_t)pointer || alloc->kind == CUDART_PINNED) {
        mg__check_bad_free(mg__cudart.check, mg__cudart_call.name, (uint64_t)(uintptr_t)pointer);
        error = cudaErrorInvalidValue;
    } else {
        release(alloc);
        alloc_remove(alloc);
    }
    mg__cudart_unlock();
    return error;
}

int mg__cudaMalloc(void **pointer, size_t size)
{
    CUDART_ENTER();
    return mg__cudart_done(device_alloc(pointer, size, CUDART_DEVICE));
}

int mg__cudaFree(void *pointer)
{
    CUDART_ENTER();
    mg__check_host_waited(mg__cudart.check, 0, true);
    return mg__cudart_done(device_free(pointer));
}

int mg__cudaMallocManaged(void **pointer, size_t size, unsigned flags)
{
    CUDART_ENTER();
    if (flags != 1 && flags != 2) /* cudaMemAttachGlobal, cudaMemAttachHost */
        return mg__cudart_done(cudaErrorInvalidValue);
    return mg__cudart_done(device_alloc(pointer, size, CUDART_MANAGED));
}

int mg__cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    CUDART_ENTER();
    if (!pitch || !pointer)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (width > SIZE_MAX - PITCH)
        return mg__cudart_done(cudaErrorMemoryAllocation);
    size_t row = (width + PITCH - 1) / PITCH * PITCH;
    if (height && row > SIZE_MAX / height)
        return mg__cudart_done(cudaErrorMemoryAllocation);
    int error = device_alloc(pointer, row * height, CUDART_DEVICE);
    if (!error)
        *pitch = row;
    return mg__cudart_done(error);
}

int mg__cudaMalloc3D(struct cu_pitched_ptr *out, struct cu_extent extent)
{
    void *pointer;
    size_t rows;
    CUDART_ENTER();
    if (!out)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (extent.width > SIZE_MAX - PITCH)
        return mg__cudart_done(cudaErrorMemoryAllocation);
    size_t row = (extent.width + PITCH - 1) / PITCH * PITCH, size;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows) || __builtin_mul_overflow(row, rows, &size))
        return mg__cudart_done(cudaErrorMemoryAllocation);
    int error = device_alloc(&pointer, size, CUDART_DEVICE);
    if (!error)
        *out = (struct cu_pitched_ptr){pointer, row, extent.width, extent.height};
    return mg__cudart_done(error);
}

int mg__cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    uint64_t f, t;
    CUDART_ENTER();
    mg__mem_info(mg__cudart.simt, &f, &t);
    if (free_bytes)
        *free_bytes = f;
    if (total)
        *total = t;
    return mg__cudart_done(0);
}

/* ---- page-locked host memory ---- */
static int host_alloc(void **pointer, size_t size, unsigned flags)
{
    if (!pointer || (flags & ~7u))
        return cudaErrorInvalidValue;
    *pointer = NULL;
    if (size == 0)
        return 0;
    if (size > SIZE_MAX - 4096)
        return cudaErrorMemoryAllocation;
    size_t mapped = (size + 4095) & ~(size_t)4095;
    void *host = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (host == MAP_FAILED)
        return cudaErrorMemoryAllocation;
    if (mg__mem_register_host(mg__cudart.simt, host, size)) {
        munmap(host, mapped);
        return cudaErrorMemoryAllocation;
    }
    struct cudart_alloc alloc = {(uint64_t)(uintptr_t)host, size, CUDART_PINNED, false, flags, mapped};
    if (!alloc_add(alloc)) {
        release(&alloc);
        return cudaErrorMemoryAllocation;
    }
    mg__check_allocated(mg__cudart.check, alloc.address, size, MG_CHECK_HOST);
    *pointer = host;
    return 0;
}

int mg__cudaMallocHost(void **pointer, size_t size)
{
    CUDART_ENTER();
    return mg__cudart_done(host_alloc(pointer, size, 0));
}

int mg__cudaHostAlloc(void **pointer, size_t size, unsigned flags)
{
    CUDART_ENTER();
    return mg__cudart_done(host_alloc(pointer, size, flags));
}

static int host_free(void *pointer, bool registered, int unknown)
{
    int error = 0;
    mg__cudart_lock();
    struct cudart_alloc *alloc = alloc_of((uint64_t)(uintptr_t)pointer);
    if (!alloc || alloc->address != (uint64_t)(uintptr_t)pointer || alloc->kind != CUDART_PINNED ||
        alloc->registered != registered) {
        mg__check_bad_free(mg__cudart.check, mg__cudart_call.name, (uint64_t)(uintptr_t)pointer);
        error = unknown;
    } else {
        release(alloc);
        alloc_remove(alloc);
    }
    mg__cudart_unlock();
    return error;
}

int mg__cudaFreeHost(void *pointer)
{
    CUDART_ENTER();
    mg__check_host_waited(mg__cudart.check, 0, true);
    return mg__cudart_done(pointer ? host_free(pointer, false, cudaErrorInvalidValue) : 0);
}

int mg__cudaHostRegister(void *pointer, size_t size, unsigned flags)
{
    CUDART_ENTER();
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (!pointer || !size || (flags & ~15u) || address + size < address)
        return mg__cudart_done(cudaErrorInvalidValue);
    mg__cudart_lock();
    size_t next = alloc_after(address);
    bool taken = alloc_of(address) || (next < allocs.count && allocs.at[next].address < address + size);
    int error = taken ? cudaErrorHostMemoryAlreadyRegistered : 0;
    if (!error && mg__mem_in_range(mg__cudart.simt, address))
        error = cudaErrorInvalidValue;
    if (!error && mg__mem_register_host(mg__cudart.simt, pointer, size))
        error = cudaErrorMemoryAllocation;
    struct cudart_alloc alloc = {address, size, CUDART_PINNED, true, flags, 0};
    if (!error && !alloc_add(alloc)) {
        release(&alloc);
        error = cudaErrorMemoryAllocation;
    }
    if (!error)
        mg__check_allocated(mg__cudart.check, address, size, MG_CHECK_HOST);
    mg__cudart_unlock();
    return mg__cudart_done(error);
}

int mg__cudaHostUnregister(void *pointer)
{
    CUDART_ENTER();
    return mg__cudart_done(host_free(pointer, true, cudaErrorHostMemoryNotRegistered));
}

int mg__cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    struct cudart_alloc alloc;
    CUDART_ENTER();
    if (!device || flags)
        return mg__cudart_done(cudaErrorInvalidValue);
    enum cudart_kind kind = mg__cudart_classify(host, NULL, &alloc);
    if (kind != CUDART_PINNED && kind != CUDART_MANAGED)
        return mg__cudart_done(cudaErrorInvalidValue);
    *device = host;
    return mg__cudart_done(0);
}

int mg__cudaHostGetFlags(unsigned *flags, void *host)
{
    struct cudart_alloc alloc;
    CUDART_ENTER();
    if (!flags || mg__cudart_classify(host, NULL, &alloc) != CUDART_PINNED || alloc.registered)
        return mg__cudart_done(cudaErrorInvalidValue);
    *flags = alloc.flags | 2; /* always mapped: one address space */
    return mg__cudart_done(0);
}

/* ---- what a pointer is ---- */
int mg__cudaPointerGetAttributes(struct cu_pointer_attributes *out, const void *pointer)
{
    CUDART_ENTER();
    if (!out)
        return mg__cudart_done(cudaErrorInvalidValue);
    void *p = (void *)(uintptr_t)pointer;
    switch (mg__cudart_classify(pointer, NULL, NULL)) {
    case CUDART_PINNED:
        *out = (struct cu_pointer_attributes){CU_MEM_HOST, 0, p, p};
        break;
    case CUDART_DEVICE:
        *out = (struct cu_pointer_attributes){CU_MEM_DEVICE, 0, p, NULL};
        break;
    case CUDART_MANAGED:
        *out = (struct cu_pointer_attributes){CU_MEM_MANAGED, 0, p, p};
        break;
    default:
        *out = (struct cu_pointer_attributes){CU_MEM_UNREGISTERED, -2, NULL, p}; /* -2: cudaInvalidDeviceId */
    }
    return mg__cudart_done(0);
}

/* ---- prefetch and advice: checked, and of no effect ---- */
static int check_managed(const void *pointer, size_t count)
{
    uint64_t left;
    if (!count || mg__cudart_classify(pointer, &left, NULL) != CUDART_MANAGED || left < count)
        return cudaErrorInvalidValue;
    return 0;
}

static int check_location(struct cu_location location)
{
    if (location.type == 1) /* cudaMemLocationTypeDevice */
        return location.id == 0 ? 0 : cudaErrorInvalidDevice;
    return location.type >= 2 && location.type <= 4 ? 0 : cudaErrorInvalidValue;
}

static struct cu_location location_of(int device)
{
    return device == -1 ? (struct cu_location){2, 0} : (struct cu_location){1, device}; /* -1: cudaCpuDeviceId */
}

int mg__cudaMemPrefetchAsync(const void *pointer, size_t count, struct cu_location to, unsigned flags, void *stream)
{
    CUDART_ENTER();
    int error = flags ? cudaErrorInvalidValue : check_managed(pointer, count);
    if (!error)
        error = check_location(to);
    if (!error && !mg__cudart_stream_ok(stream))
        error = cudaErrorInvalidResourceHandle;
    return mg__cudart_done(error);
}

int mg__cudaMemPrefetchAsync_12(const void *pointer, size_t count, int device, void *stream)
{
    return mg__cudaMemPrefetchAsync(pointer, count, location_of(device), 0, stream);
}

int mg__cudaMemAdvise(const void *pointer, size_t count, int advice, struct cu_location where)
{
    CUDART_ENTER();
    int error = advice < 1 || advice > 6 ? cudaErrorInvalidValue : check_managed(pointer, count);
    if (!error && advice != 1 && advice != 2 && advice != 4) /* those ignore the location */
        error = check_location(where);
    return mg__cudart_done(error);
}

int mg__cudaMemAdvise_12(const void *pointer, size_t count, int advice, int device)
{
    return mg__cudaMemAdvise(pointer, count, advice, location_of(device));
}

int mg__cudaStreamAttachMemAsync(void *stream, void *pointer, size_t length, unsigned flags)
{
    CUDART_ENTER();
    int error = 0;
    if (!mg__cudart_stream_ok(stream))
        error = cudaErrorInvalidResourceHandle;
    else if ((flags != 1 && flags != 2 && flags != 4) || (flags == 4 && !stream)) /* singly to the default stream */
        error = cudaErrorInvalidValue;
    else
        error = check_managed(pointer, length ? length : 1);
    return mg__cudart_done(error);
}

/* ---- pools ---- */
static bool pool_ok(const struct cudart_pool *pool)
{
    if (pool == &default_pool)
        return true;
    for (const struct cudart_pool *p = pools; p; p = p->next)
        if (p == pool)
            return true;
    return false;
}

int mg__cudaMallocFromPoolAsync(void **pointer, size_t size, struct cudart_pool *pool, void *stream)
{
    CUDART_ENTER();
    mg__cudart_lock();
    bool known = pool_ok(pool);
    mg__cudart_unlock();
    if (!known)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    int error = device_alloc(pointer, size, CUDART_DEVICE);
    if (!error && *pointer)
        mg__check_in_order(mg__cudart.check, mg__cudart_call.name, mg__cudart_call.stream,
                           (uint64_t)(uintptr_t)*pointer);
    return mg__cudart_done(error);
}

int mg__cudaMallocAsync(void **pointer, size_t size, void *stream)
{
    return mg__cudaMallocFromPoolAsync(pointer, size, &default_pool, stream);
}

int mg__cudaFreeAsync(void *pointer, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    mg__check_in_order(mg__cudart.check, mg__cudart_call.name, mg__cudart_call.stream, (uint64_t)(uintptr_t)pointer);
    return mg__cudart_done(pointer ? device_free(pointer) : cudaErrorInvalidValue);
}

int mg__cudaDeviceGetDefaultMemPool(struct cudart_pool **pool, int device)
{
    CUDART_ENTER();
    if (!pool || device)
        return mg__cudart_done(pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    *pool = &default_pool;
    return mg__cudart_done(0);
}

int mg__cudaDeviceGetMemPool(struct cudart_pool **pool, int device)
{
    CUDART_ENTER();
    if (!pool || device)
        return mg__cudart_done(pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    mg__cudart_lock();
    *pool = current_pool;
    mg__cudart_unlock();
    return mg__cudart_done(0);
}

int mg__cudaDeviceSetMemPool(int device, struct cudart_pool *pool)
{
    CUDART_ENTER();
    int error = device ? cudaErrorInvalidDevice : 0;
    mg__cudart_lock();
    if (!error && !pool_ok(pool))
        error = cudaErrorInvalidValue;
    if (!error)
        current_pool = pool;
    mg__cudart_unlock();
    return mg__cudart_done(error);
}

int mg__cudaMemPoolCreate(struct cudart_pool **pool, const void *properties)
{
    CUDART_ENTER();
    struct cudart_pool *made = pool && properties ? calloc(1, sizeof(*made)) : NULL;
    if (!made)
        return mg__cudart_done(pool && properties ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    memcpy(made->attributes, default_pool.attributes, sizeof(made->attributes));
    mg__cudart_lock();
    made->next = pools;
    pools = made;
    mg__cudart_unlock();
    *pool = made;
    return mg__cudart_done(0);
}

int mg__cudaMemPoolDestroy(struct cudart_pool *pool)
{
    CUDART_ENTER();
    int error = cudaErrorInvalidValue;
    mg__cudart_lock();
    for (struct cudart_pool **p = &pools; *p; p = &(*p)->next)
        if (*p == pool) {
            *p = pool->next;
            if (current_pool == pool)
                current_pool = &default_pool;
            free(pool);
            error = 0;
            break;
        }
    mg__cudart_unlock();
    return mg__cudart_done(error);
}

/* Attributes 1 to 3 are ints, 4 to 8 are 64-bit (cudaMemPoolAttr). */
static int pool_attribute(struct cudart_pool *pool, int attribute, void *value, bool set)
{
    int error = 0;
    if (!value || attribute < 1 || attribute > 8)
        return cudaErrorInvalidValue;
    mg__cudart_lock();
    if (!pool_ok(pool)) {
        error = cudaErrorInvalidValue;
    } else if (attribute <= 3) {
        int v = (int)pool->attributes[attribute];
        if (set)
            memcpy(&v, value, sizeof(v));
        else
            memcpy(value, &v, sizeof(v));
        pool->attributes[attribute] = (uint64_t)(v != 0);
    } else if (set) {
        memcpy(&pool->attributes[attribute], value, sizeof(uint64_t));
    } else {
        memcpy(value, &pool->attributes[attribute], sizeof(uint64_t));
    }
    mg__cudart_unlock();
    return error;
}

int mg__cudaMemPoolSetAttribute(struct cudart_pool *pool, int attribute, void *value)
{
    CUDART_ENTER();
    return mg__cudart_done(pool_attribute(pool, attribute, value, true));
}

int mg__cudaMemPoolGetAttribute(struct cudart_pool *pool, int attribute, void *value)
{
    CUDART_ENTER();
    return mg__cudart_done(pool_attribute(pool, attribute, value, false));
}

int mg__cudaMemPoolTrimTo(struct cudart_pool *pool, size_t keep)
{
    CUDART_ENTER();
    (void)keep; /* a pool holds nothing back */
    mg__cudart_lock();
    bool known = pool_ok(pool);
    mg__cudart_unlock();
    return mg__cudart_done(known ? 0 : cudaErrorInvalidValue);
}

int mg__cudaMemPoolSetAccess(struct cudart_pool *pool, const struct cu_access_desc *list, size_t count)
{
    (void)list, (void)count; /* the one device has access */
    return mg__cudaMemPoolTrimTo(pool, 0);
}

int mg__cudaMemPoolGetAccess(int *flags, struct cudart_pool *pool, struct cu_location *location)
{
    if (flags && location)
        *flags = location->type == 1 && location->id == 0 ? 3 : 0; /* read and write, or none */
    return mg__cudaMemPoolTrimTo(pool, 0);
}

/* Returned by value, through memory: a missing entry point could not stand in for it. */
struct cu_channel_desc mg__cudaCreateChannelDesc(int x, int y, int z, int w, int format)
{
    return (struct cu_channel_desc){x, y, z, w, format};
}
