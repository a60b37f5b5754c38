/* memory.c - allocations: device, pitched, managed, page-locked host memory, pools, and what a pointer points to.
 *
 * A device address is a host address (simt.h), so managed memory is device memory that the host may touch, and nothing
 * ever migrates: prefetches and advice are checked and then do nothing. Page-locked memory is mapped by us, or the
 * program's own after cudaHostRegister, and told to the engine so that kernels may touch it.
 *
 * Pools hand out plain device memory; their attributes are kept and mean nothing. Arrays come with textures, later.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "cudart/graph.h"
#include "device/timeline.h"

#include <sys/mman.h>

/* Live allocations of all devices, by address: their ranges are apart. Module variables are not here: the engine knows
 * them. */
static MG_VEC(struct cudart_alloc) allocs;
static struct cudart_pool *pools; /* that programs made */

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
    static uint64_t ids;
    size_t i = alloc_after(alloc.address);
    alloc.id = ++ids;
    bool good = mg__vec_push(&allocs, alloc);
    if (good) {
        memmove(&allocs.at[i + 1], &allocs.at[i], (allocs.count - 1 - i) * sizeof(alloc));
        allocs.at[i] = alloc;
    }
    return good;
}

static void alloc_remove(struct cudart_alloc *alloc)
{
    size_t i = (size_t)(alloc - allocs.at);
    memmove(alloc, alloc + 1, (allocs.count - 1 - i) * sizeof(*alloc));
    allocs.count--;
}

/* ---- who may touch it ---- */
void mg__cudart_share(struct cudart_device *device, struct cudart_device *with, uint64_t address, uint64_t size)
{
    if (with == device || mg__mem_register_host(with->device->simt, (void *)(uintptr_t)address, size))
        return;
    mg__check_allocated(with->device->check, address, size, MG_CHECK_HOST);
}

void mg__cudart_unshare(struct cudart_device *device, uint64_t address)
{
    for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
        if (d != device && mg__mem_unregister_host(d->device->simt, (void *)(uintptr_t)address) == MG_OK)
            mg__check_freed(d->device->check, address);
}

/* Page-locked and managed memory is all devices'. */
static bool is_shared(const struct cudart_alloc *alloc)
{
    return alloc->kind == CUDART_PINNED || alloc->kind == CUDART_MANAGED;
}

void mg__cudart_memory_join(struct cudart_device *device)
{
    for (size_t i = 0; i < allocs.count; i++)
        if (is_shared(&allocs.at[i]))
            mg__cudart_share(allocs.at[i].device, device, allocs.at[i].address, allocs.at[i].size);
}

static void release(const struct cudart_alloc *alloc)
{
    void *host = (void *)(uintptr_t)alloc->address;
    struct mg_device *home = alloc->device->device;
    if (is_shared(alloc) || alloc->mapped_in)
        mg__cudart_unshare(alloc->device, alloc->address);
    mg__check_freed(home->check, alloc->address);
    if (alloc->mapped_in) {
        mg__mem_unregister_host(home->simt, host);
    } else if (alloc->kind == CUDART_PINNED) {
        mg__mem_unregister_host(home->simt, host);
        if (!alloc->registered)
            munmap(host, alloc->mapped);
    } else {
        mg__mem_free(home->simt, alloc->address);
    }
}

/* Keeps it, for all who may touch it. */
static bool keep(struct cudart_alloc alloc, enum mg_check_memory kind)
{
    mg__cudart_lock();
    bool kept = alloc_add(alloc);
    if (kept)
        mg__check_allocated(alloc.device->device->check, alloc.address, alloc.size, kind);
    if (kept && is_shared(&alloc))
        for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
            mg__cudart_share(alloc.device, d, alloc.address, alloc.size);
    mg__cudart_unlock();
    return kept;
}

void mg__cudart_memory_reset(struct cudart_device *device)
{
    size_t kept = 0;
    for (size_t i = 0; i < allocs.count; i++)
        if (allocs.at[i].device == device)
            release(&allocs.at[i]);
        else
            allocs.at[kept++] = allocs.at[i];
    allocs.count = kept;
}

enum cudart_kind mg__cudart_classify(const void *pointer, uint64_t *left, struct cudart_alloc *out)
{
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    struct cudart_alloc found = {.address = address, .size = SIZE_MAX, .kind = CUDART_PAGEABLE};
    struct mg_allocation variable;
    mg__cudart_lock();
    struct cudart_alloc *alloc = alloc_of(address);
    if (alloc && alloc->of_graph && !mg__cudart_call.plans && mg__graph_memory_absent(pointer))
        found = (struct cudart_alloc){address, 0, CUDART_WILD, .device = alloc->device};
    else if (alloc)
        found = *alloc;
    else if (mg__cudart_reserved(address))
        found = (struct cudart_alloc){address, 0, CUDART_WILD, .device = mg__cudart_here()};
    else
        for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
            if (mg__mem_in_range(d->device->simt, address)) {
                bool named = mg__mem_find(d->device->simt, address, &variable) && variable.name;
                enum cudart_kind kind = mg__cudart_in_managed_variable(address) ? CUDART_MANAGED : CUDART_DEVICE;
                found = named ? (struct cudart_alloc){variable.address, variable.size, kind, .device = d}
                              : (struct cudart_alloc){address, 0, CUDART_WILD, .device = d};
            }
    mg__cudart_unlock();
    if (left)
        *left = found.kind == CUDART_PAGEABLE ? SIZE_MAX : found.size - (address - found.address);
    if (out)
        *out = found;
    return found.kind;
}

/* ---- mappings ---- */
int mg__cudart_memory_open(struct cudart_device *device, uint64_t address, uint64_t size)
{
    struct cudart_alloc alloc = {.address = address, .size = size, .kind = CUDART_DEVICE, .device = device};
    alloc.mapped_in = true;
    if (mg__mem_register_host(device->device->simt, (void *)(uintptr_t)address, size))
        return cudaErrorMemoryAllocation;
    if (keep(alloc, MG_CHECK_DEVICE))
        return 0;
    mg__mem_unregister_host(device->device->simt, (void *)(uintptr_t)address);
    return cudaErrorMemoryAllocation;
}

void mg__cudart_memory_close(uint64_t address)
{
    struct cudart_alloc *alloc = alloc_of(address);
    if (alloc && alloc->mapped_in) { /* else its context is gone */
        release(alloc);
        alloc_remove(alloc);
    }
}

struct cudart_device *mg__cudart_memory_owner(uint64_t address)
{
    const struct cudart_alloc *alloc = alloc_of(address);
    return alloc ? alloc->device : mg__cudart_here();
}

/* Whose checks know of what lies at `pointer`: the thread's device's, if it is nobody's. */
static struct mg_check *check_of(const void *pointer)
{
    struct cudart_alloc alloc;
    mg__cudart_classify(pointer, NULL, &alloc);
    return (alloc.device ? alloc.device : mg__cudart_here())->device->check;
}

/* ---- device and managed memory ---- */
int mg__cudart_alloc(void **pointer, size_t size, enum cudart_kind kind, struct cudart_device *device)
{
    uint64_t address;
    if (!pointer)
        return cudaErrorInvalidValue;
    *pointer = NULL;
    if (size == 0)
        return 0;
    if (size > UINT64_MAX / 2)
        return cudaErrorMemoryAllocation;
    int error = mg__cudart_use(device);
    if (!error && !mg__cudart_call.async)
        error = mg__capture_forbids();
    if (error)
        return error;
    if (mg__mem_alloc(device->device->simt, size, ALIGN, &address))
        return cudaErrorMemoryAllocation;
    struct cudart_alloc alloc = {.address = address, .size = size, .kind = kind, .device = device};
    if ((kind == CUDART_MANAGED && mg__mem_managed(device->device->simt, address)) ||
        !keep(alloc, kind == CUDART_MANAGED ? MG_CHECK_MANAGED : MG_CHECK_DEVICE)) {
        mg__mem_free(device->device->simt, address);
        return cudaErrorMemoryAllocation;
    }
    *pointer = (void *)(uintptr_t)address;
    return 0;
}

uint64_t mg__cudart_graphs_own(const void *pointer)
{
    mg__cudart_lock();
    struct cudart_alloc *alloc = alloc_of((uint64_t)(uintptr_t)pointer);
    alloc->of_graph = true;
    const uint64_t id = alloc->id;
    mg__cudart_unlock();
    return id;
}

/* Page-locked memory is all devices'. */
static void wait_for_owner(const void *pointer)
{
    struct cudart_alloc alloc;
    mg__cudart_classify(pointer, NULL, &alloc);
    for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
        if (d == alloc.device || is_shared(&alloc))
            mg__queue_wait_all(d->device);
}

/* Of any device: it waits for that device. */
int mg__cudart_free(void *pointer, bool waits)
{
    int error = 0;
    if (!pointer)
        return 0;
    if (waits)
        wait_for_owner(pointer);
    mg__cudart_lock();
    struct cudart_alloc *alloc = alloc_of((uint64_t)(uintptr_t)pointer);
    if (waits)
        mg__check_host_waited(check_of(pointer), 0, true);
    if (!alloc || alloc->address != (uint64_t)(uintptr_t)pointer || alloc->kind == CUDART_PINNED || alloc->mapped_in) {
        mg__check_bad_free(check_of(pointer), mg__cudart_call.name, (uint64_t)(uintptr_t)pointer);
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
    return mg__cudart_done(mg__cudart_alloc(pointer, size, CUDART_DEVICE, mg__cudart_here()));
}

int mg__cudaFree(void *pointer)
{
    CUDART_ENTER();
    int error = mg__capture_forbids();
    if (error)
        return mg__cudart_done(error);
    error = mg__cudart_wait_all(mg__cudart_here());
    mg__check_host_waited(mg__cudart_here()->device->check, 0, true);
    if (!error && mg__graph_memory_freed(pointer, &error))
        return mg__cudart_done(error);
    return mg__cudart_done(error ? error : mg__cudart_free(pointer, true));
}

int mg__cudaMallocManaged(void **pointer, size_t size, unsigned flags)
{
    CUDART_ENTER();
    if (flags != 1 && flags != 2) /* cudaMemAttachGlobal, cudaMemAttachHost */
        return mg__cudart_done(cudaErrorInvalidValue);
    return mg__cudart_done(mg__cudart_alloc(pointer, size, CUDART_MANAGED, mg__cudart_here()));
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
    int error = mg__cudart_alloc(pointer, row * height, CUDART_DEVICE, mg__cudart_here());
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
    int error = mg__cudart_alloc(&pointer, size, CUDART_DEVICE, mg__cudart_here());
    if (!error)
        *out = (struct cu_pitched_ptr){pointer, row, extent.width, extent.height};
    return mg__cudart_done(error);
}

int mg__cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    uint64_t f, t;
    CUDART_ENTER();
    mg__mem_info(mg__cudart_here()->device->simt, &f, &t);
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
    int error = mg__capture_forbids();
    if (error)
        return error;
    size_t mapped = (size + 4095) & ~(size_t)4095;
    void *host = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (host == MAP_FAILED)
        return cudaErrorMemoryAllocation;
    struct cudart_device *here = mg__cudart_here();
    struct cudart_alloc alloc = {.address = (uint64_t)(uintptr_t)host, .size = size, .kind = CUDART_PINNED};
    alloc.flags = flags;
    alloc.mapped = mapped;
    alloc.device = here;
    if (mg__mem_register_host(here->device->simt, host, size)) {
        munmap(host, mapped);
        return cudaErrorMemoryAllocation;
    }
    if (!keep(alloc, MG_CHECK_PINNED)) {
        release(&alloc);
        return cudaErrorMemoryAllocation;
    }
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
    wait_for_owner(pointer);
    mg__cudart_lock();
    struct cudart_alloc *alloc = alloc_of((uint64_t)(uintptr_t)pointer);
    if (!alloc || alloc->address != (uint64_t)(uintptr_t)pointer || alloc->kind != CUDART_PINNED ||
        alloc->registered != registered) {
        mg__check_bad_free(check_of(pointer), mg__cudart_call.name, (uint64_t)(uintptr_t)pointer);
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
    mg__check_host_waited(check_of(pointer), 0, true);
    return mg__cudart_done(pointer ? host_free(pointer, false, cudaErrorInvalidValue) : 0);
}

int mg__cudaHostRegister(void *pointer, size_t size, unsigned flags)
{
    CUDART_ENTER();
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    struct cudart_device *here = mg__cudart_here();
    if (!pointer || !size || (flags & ~15u) || address + size < address)
        return mg__cudart_done(cudaErrorInvalidValue);
    mg__cudart_lock();
    size_t next = alloc_after(address);
    bool taken = alloc_of(address) || (next < allocs.count && allocs.at[next].address < address + size);
    int error = taken ? cudaErrorHostMemoryAlreadyRegistered : 0;
    if (!error && mg__cudart_classify(pointer, NULL, NULL) != CUDART_PAGEABLE)
        error = cudaErrorInvalidValue;
    if (!error && mg__mem_register_host(here->device->simt, pointer, size))
        error = cudaErrorMemoryAllocation;
    struct cudart_alloc alloc = {address, size, CUDART_PINNED, true, false, flags, 0, here, 0, false};
    if (!error && !keep(alloc, MG_CHECK_HOST)) {
        release(&alloc);
        error = cudaErrorMemoryAllocation;
    }
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
    struct cudart_alloc alloc;
    void *p = (void *)(uintptr_t)pointer;
    enum cudart_kind kind = mg__cudart_classify(pointer, NULL, &alloc);
    int device = alloc.device ? (int)alloc.device->ordinal : -2; /* cudaInvalidDeviceId */
    switch (kind) {
    case CUDART_PINNED:
        *out = (struct cu_pointer_attributes){CU_MEM_HOST, device, p, p};
        break;
    case CUDART_DEVICE:
        *out = (struct cu_pointer_attributes){CU_MEM_DEVICE, device, p, NULL};
        break;
    case CUDART_MANAGED:
        *out = (struct cu_pointer_attributes){CU_MEM_MANAGED, device, p, p};
        break;
    default:
        *out = (struct cu_pointer_attributes){CU_MEM_UNREGISTERED, -2, NULL, p};
    }
    return mg__cudart_done(0);
}

/* ---- prefetch and advice: checked, and of no effect but on times ---- */
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
        return mg__cudart_at(location.id) ? 0 : cudaErrorInvalidDevice;
    return location.type >= 2 && location.type <= 4 ? 0 : cudaErrorInvalidValue;
}

static struct cu_location location_of(int device)
{
    return device == -1 ? (struct cu_location){2, 0} : (struct cu_location){1, device}; /* -1: cudaCpuDeviceId */
}

/* What the model of time knows of it: who has these bytes from then on. */
struct move {
    struct mg_simt *simt;
    uint64_t address, size;
    bool here;
};
static void move_now(void *arg)
{
    struct move *m = arg;
    mg__mem_move(m->simt, m->address, m->size, m->here);
    free(m);
}

static int prefetch(const void *pointer, size_t count, bool here)
{
    struct cudart_alloc alloc;
    struct mg_device *device = mg__cudart_call.device->device;
    struct mg_capture *into;
    int error = mg__capture_asked(&into);
    if (error || into)
        return error;
    struct move *move = malloc(sizeof(*move));
    if (!move)
        return cudaErrorMemoryAllocation;
    mg__cudart_classify(pointer, NULL, &alloc);
    *move = (struct move){(alloc.device ? alloc.device->device : device)->simt, (uintptr_t)pointer, count, here};
    mg__timeline_copy(device->timeline, mg__cudart_order(), here ? MG_TRANSFER_PREFETCH : MG_TRANSFER_PREFETCH_BACK,
                      count, false);
    if (mg__queue_clear(device, mg__cudart_order())) {
        move_now(move);
    } else if (mg__queue_call(device, mg__cudart_order(), move_now, move)) {
        free(move);
        return cudaErrorMemoryAllocation;
    }
    return 0;
}

int mg__cudaMemPrefetchAsync(const void *pointer, size_t count, struct cu_location to, unsigned flags, void *stream)
{
    CUDART_ENTER();
    int error = flags ? cudaErrorInvalidValue : check_managed(pointer, count);
    if (!error)
        error = check_location(to);
    if (!error && !mg__cudart_stream_ok(stream))
        error = cudaErrorInvalidResourceHandle;
    return mg__cudart_done(error ? error : prefetch(pointer, count, to.type == 1));
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
    for (unsigned i = 0; i < mg__cudart.process.devices; i++)
        if (pool == &mg__cudart.devices[i].default_pool)
            return true;
    for (const struct cudart_pool *p = pools; p; p = p->next)
        if (p == pool)
            return true;
    return false;
}

/* What is allocated and freed in a stream is ordered by it, where the stream is of the memory's device. */
static void tell_order(const struct cudart_device *device, void *pointer)
{
    if (pointer && device == mg__cudart_call.device)
        mg__check_in_order(device->device->check, mg__cudart_call.name, mg__cudart_call.stream,
                           (uint64_t)(uintptr_t)pointer);
}

static int pool_alloc(void **pointer, size_t size, const struct cudart_pool *pool)
{
    struct mg_capture *capture;
    struct mg_graph_op op;
    int error = mg__capture_asked(&capture);
    if (!error && capture && pointer) {
        struct cu_alloc_node p = {.pool = {1, 0, {1, (int)pool->device->ordinal}, NULL, 0, 0, {0}}, .size = size};
        error = mg__graph_alloc(&p, &op);
        *pointer = p.at;
        return error ? error : mg__capture_add(capture, &op);
    }
    if (!error)
        error = mg__cudart_alloc(pointer, size, CUDART_DEVICE, pool->device);
    if (!error)
        tell_order(pool->device, *pointer);
    return error;
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
    return mg__cudart_done(pool_alloc(pointer, size, pool));
}

int mg__cudaMallocAsync(void **pointer, size_t size, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    mg__cudart_lock();
    struct cudart_pool *pool = mg__cudart_call.device->pool; /* the stream's device's */
    mg__cudart_unlock();
    return mg__cudart_done(pool_alloc(pointer, size, pool));
}

struct release {
    void *pointer;
    struct cudart_call call;
};

/* The memory goes when what its stream was given before is over. */
static int free_now(void *pointer)
{
    struct cudart_alloc alloc;
    mg__cudart_classify(pointer, NULL, &alloc);
    tell_order(alloc.device, pointer);
    return mg__cudart_free(pointer, false);
}

static void free_later(void *arg)
{
    struct release *r = arg;
    struct cudart_call call = mg__cudart_call;
    mg__cudart_call = r->call;
    free_now(r->pointer);
    mg__cudart_call = call;
    free(r);
}

int mg__cudaFreeAsync(void *pointer, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    if (!pointer)
        return mg__cudart_done(cudaErrorInvalidValue);
    struct mg_capture *capture;
    struct mg_graph_op op;
    int error = mg__capture_asked(&capture);
    if (!error && capture)
        error = mg__graph_unalloc(pointer, &op);
    if (!error && capture)
        return mg__cudart_done(mg__capture_add(capture, &op));
    if (error || mg__graph_memory_freed(pointer, &error))
        return mg__cudart_done(error);
    struct mg_device *d = mg__cudart_call.device->device;
    if (mg__queue_clear(d, mg__cudart_call.order))
        return mg__cudart_done(free_now(pointer));
    struct release *r = malloc(sizeof(*r));
    if (r)
        *r = (struct release){pointer, mg__cudart_call};
    if (!r || mg__queue_call(d, mg__cudart_call.order, free_later, r)) {
        free(r);
        return mg__cudart_done(cudaErrorMemoryAllocation);
    }
    return mg__cudart_done(0);
}

static int get_pool(struct cudart_pool **pool, int number, bool current)
{
    CUDART_ENTER();
    struct cudart_device *device = mg__cudart_at(number);
    if (!pool || !device)
        return mg__cudart_done(pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    mg__cudart_lock();
    *pool = current ? device->pool : &device->default_pool;
    mg__cudart_unlock();
    return mg__cudart_done(0);
}

int mg__cudaDeviceGetDefaultMemPool(struct cudart_pool **pool, int device)
{
    return get_pool(pool, device, false);
}

int mg__cudaDeviceGetMemPool(struct cudart_pool **pool, int device)
{
    return get_pool(pool, device, true);
}

int mg__cudaDeviceSetMemPool(int number, struct cudart_pool *pool)
{
    CUDART_ENTER();
    struct cudart_device *device = mg__cudart_at(number);
    int error = device ? 0 : cudaErrorInvalidDevice;
    mg__cudart_lock();
    if (!error && (!pool_ok(pool) || pool->device != device))
        error = cudaErrorInvalidValue;
    if (!error)
        device->pool = pool;
    mg__cudart_unlock();
    return mg__cudart_done(error);
}

int mg__cudaMemPoolCreate(struct cudart_pool **pool, const struct cu_pool_properties *properties)
{
    CUDART_ENTER();
    if (!pool || !properties)
        return mg__cudart_done(cudaErrorInvalidValue);
    int number = properties->location.type == 1 ? properties->location.id : (int)mg__cudart_here()->ordinal;
    struct cudart_device *device = mg__cudart_at(number);
    struct cudart_pool *made = device ? calloc(1, sizeof(*made)) : NULL;
    if (!made)
        return mg__cudart_done(device ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    made->device = device;
    memcpy(made->attributes, device->default_pool.attributes, sizeof(made->attributes));
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
            if (pool->device->pool == pool)
                pool->device->pool = &pool->device->default_pool;
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

/* Access is given to all of a device's memory: there is one pool of it. */
int mg__cudaMemPoolSetAccess(struct cudart_pool *pool, const struct cu_access_desc *list, size_t count)
{
    CUDART_ENTER();
    int error = list || !count ? 0 : cudaErrorInvalidValue;
    mg__cudart_lock();
    if (!error && !pool_ok(pool))
        error = cudaErrorInvalidValue;
    for (size_t i = 0; !error && i < count; i++) {
        struct cudart_device *d = mg__cudart_at(list[i].location.id);
        if (list[i].location.type != 1) /* the host has access anyway */
            continue;
        if (!d)
            error = cudaErrorInvalidDevice;
        else if (d != pool->device)
            error = mg__cudart_set_peer(d, pool->device, list[i].flags != 0, true);
    }
    mg__cudart_unlock();
    return mg__cudart_done(error);
}

int mg__cudaMemPoolGetAccess(int *flags, struct cudart_pool *pool, struct cu_location *location)
{
    CUDART_ENTER();
    mg__cudart_lock();
    struct cudart_device *d = location && location->type == 1 ? mg__cudart_at(location->id) : NULL;
    bool known = pool_ok(pool), may = known && d && (d == pool->device || d->pool_peers[pool->device->number]);
    mg__cudart_unlock();
    if (flags && location)
        *flags = may ? 3 : 0; /* read and write, or none */
    return mg__cudart_done(known ? 0 : cudaErrorInvalidValue);
}

/* Returned by value, through memory: a missing entry point could not stand in for it. */
struct cu_channel_desc mg__cudaCreateChannelDesc(int x, int y, int z, int w, int format)
{
    return (struct cu_channel_desc){x, y, z, w, format};
}
