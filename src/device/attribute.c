/* attribute.c - what a program asks of a device: attributes, limits, and how much of it a kernel may have.
 *
 * Attributes are rows of attribute.def. Features that are not simulated (clusters, sparse arrays, interprocess handles)
 * are reported as absent: programs that ask do without. Of the limits, the stack and the heap are the engine's. What
 * kernels print is written as it comes, so that no buffer of printf's fills up; the caches have no persisting part and
 * fetch by sectors; and kernels launch none: those values are kept, within what a device takes.
 */
#include "device/device.h"

enum { ATTRIBUTES = 148, PERSISTING_MOST = 108 };

bool mg__device_attribute(const struct mg_device_options *o, int number, int *value)
{
    struct mg_arch row = *(o->arch ? o->arch : mg_arch_find(90));
    const struct mg_arch *a = &row;
    if (o->board)
        row.board = o->board;
    switch (number) {
#define ATTR(id, name, v)  \
    case id:               \
        *value = (int)(v); \
        return true;
#include "device/attribute.def"
#undef ATTR
    }
    *value = 0;
    return number > 0 && number < ATTRIBUTES; /* reserved ones read 0 */
}

/* ---- limits ---- */
void mg__device_reset_limits(struct mg_device *d)
{
    d->limits[MG_DEVICE_STACK] = 1024; /* as an H100 starts */
    d->limits[MG_DEVICE_PRINTF_FIFO] = 8650752;
    d->limits[MG_DEVICE_MALLOC_HEAP] = 8u << 20;
    d->limits[MG_DEVICE_PENDING_LAUNCHES] = 2048;
    d->limits[MG_DEVICE_L2_GRANULARITY] = 64;
    d->limits[MG_DEVICE_PERSISTING_L2] = d->arch.board->l2_bytes / 16 * 3;
    mg__simt_reset_limits(d->simt);
}

uint64_t mg__device_limit(const struct mg_device *d, enum mg_device_limit limit)
{
    return d->limits[limit];
}

/* What a device makes of a value, as an H200 answered (driver 580.159, CUDA 13.0, 2026-11-22): stacks in steps of 16
 * bytes, at least 512 KiB of printf's buffer and 4 MiB of heap, no more heap than an eighth of the memory. */
static uint64_t fitting(const struct mg_device *d, enum mg_device_limit limit, uint64_t value)
{
    switch (limit) {
    case MG_DEVICE_STACK:
        return value > UINT64_MAX - 15 ? value : (value + 15) / 16 * 16;
    case MG_DEVICE_PRINTF_FIFO:
        return MG_MAX(value, (uint64_t)512 << 10);
    case MG_DEVICE_MALLOC_HEAP:
        value = MG_MIN(MG_MAX(value, (uint64_t)4 << 20), d->arch.board->memory / 8);
        return (value + 8191) / 8192 * 8192;
    default:
        return value;
    }
}

enum mg_status mg__device_set_limit(struct mg_device *d, enum mg_device_limit limit, uint64_t value)
{
    enum mg_status status = MG_OK;
    int most = 0;
    value = fitting(d, limit, value);
    switch (limit) {
    case MG_DEVICE_STACK: /* the most of local memory that a thread may have, and of memory, for all that are resident
                           */
        if (value > 512u << 10 ||
            value > d->arch.board->memory / ((uint64_t)d->arch.board->sm_count * d->arch.max_threads_sm))
            return MG_ERR_INVALID;
        mg__simt_set_stack(d->simt, value);
        break;
    case MG_DEVICE_MALLOC_HEAP:
        status = mg__simt_set_heap(d->simt, value);
        break;
    case MG_DEVICE_L2_GRANULARITY: /* a hint; 0 to 128 */
        status = value > 128 ? MG_ERR_INVALID : MG_OK;
        break;
    case MG_DEVICE_PERSISTING_L2:
        mg__device_attribute(&d->options, PERSISTING_MOST, &most);
        status = value > (uint64_t)most ? MG_ERR_INVALID : MG_OK;
        break;
    case MG_DEVICE_PRINTF_FIFO:
        status = mg__simt_printed(d->simt) ? MG_ERR_INVALID : MG_OK;
        break;
    case MG_DEVICE_PENDING_LAUNCHES:
        break;
    case MG_DEVICE_SYNC_DEPTH:
        return MG_ERR_UNSUPPORTED;
    default:
        return MG_ERR_INVALID;
    }
    if (!status)
        d->limits[limit] = value;
    return status;
}

/* ---- what of it a kernel may have ---- */
uint32_t mg__device_room(const struct mg_device_kernel *k)
{
    const struct mg_arch *a = &k->module->device->arch;
    uint32_t fixed = k->info.shared_static, room = a->shared_block > fixed ? a->shared_block - fixed : 0;
    return k->shared_optin ? k->shared_optin : room;
}

enum mg_status mg__device_allow(struct mg_device_kernel *k, uint64_t shared)
{
    if (shared > k->module->device->arch.shared_block_optin ||
        shared + k->info.shared_static > k->module->device->arch.shared_block_optin)
        return MG_ERR_INVALID;
    k->shared_optin = (uint32_t)shared;
    return MG_OK;
}

/* As a device answers: launch bounds are not looked at (a launch beyond them fails all the same). */
unsigned mg__device_resident(const struct mg_device_kernel *k, unsigned threads, uint64_t shared)
{
    if (shared > mg__device_room(k))
        return 0;
    struct mg_occupancy_query q = mg_arch_query(threads, k->info.regs, k->info.shared_static, (uint32_t)shared);
    struct mg_occupancy o;
    q.carveout = k->carveout;
    q.barriers = k->barriers;
    return mg_arch_occupancy(&k->module->device->arch, &q, &o) == MG_OK ? o.blocks : 0;
}
