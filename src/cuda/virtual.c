/* virtual.c - cuMemCreate, cuMemMap and their kin: cudart/virtual.c, with the arguments that the driver takes. */
#include "cuda/driver.h"

enum { PINNED = 1, ON_DEVICE = 1, READ_WRITE = 3 };

static bool is_ours(const struct cu_allocation *p)
{
    return p && p->type == PINNED && p->location.type == ON_DEVICE && mg__cudart_at(p->location.id);
}

int mg__cuMemGetAllocationGranularity(size_t *size, const struct cu_allocation *p, int which)
{
    CUDA_BEGIN();
    if (!size || !is_ours(p) || which < 0 || which > 1)
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    *size = CUDART_GRANULE;
    return mg__cuda_done(0);
}

int mg__cuMemCreate(uint64_t *handle, size_t size, const struct cu_allocation *p, uint64_t flags)
{
    CUDA_BEGIN();
    if (!handle || !size || size % CUDART_GRANULE || flags || !p)
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    if (p->type == PINNED && p->location.type == ON_DEVICE && !mg__cudart_at(p->location.id))
        return mg__cuda_done(CUDA_ERROR_INVALID_DEVICE);
    if (!is_ours(p))
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    if (p->handles) /* to be given to other processes */
        return mg__cuda_done(mg__cuda_missing("cuMemCreate with handle types"));
    return mg__cuda_done(mg__cudart_physical_make(handle, size, (unsigned)p->location.id));
}

int mg__cuMemRelease(uint64_t handle)
{
    CUDA_BEGIN();
    return mg__cuda_done(mg__cudart_physical_release(handle));
}

int mg__cuMemRetainAllocationHandle(uint64_t *handle, void *address)
{
    CUDA_BEGIN();
    return mg__cuda_done(handle ? mg__cudart_physical_of(handle, (uint64_t)(uintptr_t)address)
                                : CUDA_ERROR_INVALID_VALUE);
}

int mg__cuMemGetAllocationPropertiesFromHandle(struct cu_allocation *p, uint64_t handle)
{
    unsigned ordinal = 0;
    CUDA_BEGIN();
    if (!p || !mg__cudart_physical_known(handle, &ordinal))
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    *p = (struct cu_allocation){.type = PINNED, .location = {ON_DEVICE, (int)ordinal}};
    return mg__cuda_done(0);
}

int mg__cuMemAddressReserve(uint64_t *address, size_t size, size_t align, uint64_t hint, uint64_t flags)
{
    CUDA_BEGIN();
    (void)hint; /* where it would be welcome */
    if (!address || !size || size % CUDART_GRANULE || (align & (align - 1)) || flags)
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    return mg__cuda_done(mg__cudart_reserve(address, size, align));
}

int mg__cuMemAddressFree(uint64_t address, size_t size)
{
    CUDA_BEGIN();
    return mg__cuda_done(mg__cudart_unreserve(address, size));
}

int mg__cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle, uint64_t flags)
{
    CUDA_BEGIN();
    return mg__cuda_done(flags ? CUDA_ERROR_INVALID_VALUE : mg__cudart_map(address, size, offset, handle));
}

int mg__cuMemUnmap(uint64_t address, size_t size)
{
    CUDA_BEGIN();
    return mg__cuda_done(mg__cudart_unmap(address, size));
}

/* The context of the device that is the thread's, or its primary one. */
static struct cudart_device *device_of(int ordinal)
{
    const struct cudart_context *context = mg__cudart_current();
    if (context && context->device && context->ordinal == (unsigned)ordinal)
        return context->device;
    return mg__cudart_at(ordinal);
}

static int set_access(uint64_t address, size_t size, const struct cu_access_desc *list, size_t count)
{
    int error = list && count ? 0 : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && !error; i++) {
        if (list[i].location.type != ON_DEVICE || list[i].flags == 2 || list[i].flags < 0 || list[i].flags > READ_WRITE)
            return CUDA_ERROR_INVALID_VALUE;
        if (!mg__cudart_at(list[i].location.id))
            return CUDA_ERROR_INVALID_DEVICE;
        if (list[i].flags == 1)
            return mg__cuda_missing("cuMemSetAccess for reading alone");
        error = mg__cudart_set_access(address, size, device_of(list[i].location.id), list[i].flags == READ_WRITE);
    }
    return error;
}

int mg__cuMemSetAccess(uint64_t address, size_t size, const struct cu_access_desc *list, size_t count)
{
    CUDA_BEGIN();
    return mg__cuda_done(set_access(address, size, list, count));
}

int mg__cuMemGetAccess(unsigned long long *flags, const struct cu_location *location, uint64_t address)
{
    bool may = false;
    CUDA_BEGIN();
    int error = flags && location && location->type == ON_DEVICE ? 0 : CUDA_ERROR_INVALID_VALUE;
    if (!error)
        error = mg__cudart_at(location->id) ? mg__cudart_get_access(address, &may) : CUDA_ERROR_INVALID_DEVICE;
    if (!error)
        *flags = may ? READ_WRITE : 0;
    return mg__cuda_done(error);
}
