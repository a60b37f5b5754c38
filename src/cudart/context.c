/* context.c - contexts: the primary ones of devices, those that the driver was asked for, and which are a thread's.
 *
 * Every context has a simulated device of its own, so its memory, modules and streams are its alone and go with it. A
 * fault poisons all of a device, as on an H200 (driver 580.159): no context of it works in the process any more. The
 * runtime uses the thread's current context, whoever set it; a thread that has none gets the primary context of its
 * device with its first call of the runtime. Handles stay, so that one of a destroyed context is known as such.
 */
#include "cudart/cudart.h"

/* Small, because memory of threads is scarce for libraries that are opened while a program runs. */
struct pushed {
    struct pushed *next;
    struct cudart_context *context;
};
static _Thread_local struct {
    struct cudart_context *top;
    struct pushed *below;
    bool implied; /* the runtime was called without any */
} stack;

struct cudart_device *mg__cudart_here(void)
{
    const struct cudart_context *c = stack.top;
    return c ? c->device ? c->device : &mg__cudart.devices[c->ordinal] : &mg__cudart.devices[mg__cudart.first];
}

int mg__cudart_settle(void)
{
    if (!mg__cudart_driver) {
        stack.implied |= !stack.top;
        atomic_store_explicit(&mg__cudart_here()->runtime, true, memory_order_relaxed);
    }
    return stack.top && !stack.top->device ? cudaErrorContextIsDestroyed : 0;
}

struct cudart_context *mg__cudart_current(void)
{
    return stack.top ? stack.top : stack.implied ? &mg__cudart.primary[mg__cudart.first] : NULL;
}

void mg__cudart_set_current(struct cudart_context *context)
{
    stack.implied = false;
    if (context)
        stack.top = context;
    else
        mg__cudart_pop();
}

bool mg__cudart_push(struct cudart_context *context)
{
    struct cudart_context *last = mg__cudart_current();
    struct pushed *below = last ? malloc(sizeof(*below)) : NULL;
    if (last && !below)
        return false;
    if (last) {
        *below = (struct pushed){stack.below, last};
        stack.below = below;
    }
    stack.top = context;
    stack.implied = false;
    return true;
}

struct cudart_context *mg__cudart_pop(void)
{
    struct cudart_context *last = mg__cudart_current();
    struct pushed *below = stack.below;
    stack.top = below ? below->context : NULL;
    stack.implied = false;
    if (below) {
        stack.below = below->next;
        free(below);
    }
    return last;
}

struct cudart_context *mg__cudart_context_of(const void *handle)
{
    struct cudart_context *found = NULL;
    for (unsigned i = 0; i < mg__cudart.process.devices; i++)
        if (handle == &mg__cudart.primary[i])
            return &mg__cudart.primary[i];
    mg__cudart_lock();
    for (struct cudart_context *c = mg__cudart.contexts; c && !found; c = c->next)
        if (c == handle)
            found = c;
    mg__cudart_unlock();
    return found;
}

struct cudart_context *mg__cudart_context_at(const struct cudart_device *device)
{
    if (device->number < MG_MOST_DEVICES)
        return &mg__cudart.primary[device->number];
    mg__cudart_lock();
    struct cudart_context *c = mg__cudart.contexts;
    while (c && c->device != device)
        c = c->next;
    mg__cudart_unlock();
    return c;
}

/* ---- making and ending ---- */
/* As an H200's driver (580.159) has it, kernels of one context may touch the memory of another of the same device. */
static void set_joined(struct cudart_device *device, bool may)
{
    for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
        if (d != device && d->ordinal == device->ordinal) {
            mg__mem_peer(d->device->simt, device->device->simt, may);
            mg__mem_peer(device->device->simt, d->device->simt, may);
        }
}

void mg__cudart_join_contexts(struct cudart_device *device)
{
    set_joined(device, true);
}

int mg__cudart_context_make(unsigned ordinal, unsigned flags, struct cudart_context **made)
{
    struct cudart_context *c = calloc(1, sizeof(*c));
    unsigned at = MG_MOST_DEVICES;
    if (!c)
        return cudaErrorMemoryAllocation;
    mg__cudart_lock();
    while (at < CUDART_CONTEXTS && atomic_load(&mg__cudart.devices[at].ready))
        at++;
    int error = at < CUDART_CONTEXTS ? 0 : cudaErrorMemoryAllocation;
    if (!error)
        error = atomic_load(&mg__cudart.devices[ordinal].poison);
    struct cudart_device *d = error ? NULL : &mg__cudart.devices[at];
    if (d) {
        d->ordinal = ordinal;
        d->flags = flags;
        d->pool = &d->default_pool;
        atomic_store(&d->poison, 0);
        atomic_store(&d->pending, 0);
        error = mg__cudart_use(d);
        if (error) {
            d->init_error = 0;
            atomic_store(&d->ready, 0);
        }
    }
    if (!error) {
        *c = (struct cudart_context){.next = mg__cudart.contexts, .device = d, .ordinal = ordinal};
        mg__cudart.contexts = *made = c;
    }
    mg__cudart_unlock();
    if (error)
        free(c);
    return error;
}

static void reset_peers(struct cudart_device *device)
{
    for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;) {
        if (device->peers[d->number])
            mg__cudart_set_peer(device, d, false, false);
        if (device->pool_peers[d->number])
            mg__cudart_set_peer(device, d, false, true);
    }
}

/* All that was made in it; under the lock. */
static void empty(struct cudart_device *d)
{
    mg__check_host_waited(d->device->check, 0, true);
    mg__cudart_registry_reset(d);
    mg__cudart_memory_reset(d);
    mg__cudart_ipc_reset(d);
    mg__streams_reset(d->device);
    reset_peers(d);
}

void mg__cudart_reset(struct cudart_device *d)
{
    if (d->device)
        mg__cudart_wait_all(d);
    mg__cudart_lock();
    if (atomic_load(&d->poison)) {
        atomic_store(&d->poison, cudaErrorDevicesUnavailable);
    } else if (d->device) {
        empty(d);
        mg__device_reset_limits(d->device);
    }
    mg__cudart_unlock();
}

int mg__cudart_context_drop(struct cudart_context *c)
{
    struct cudart_device *d = c->device;
    if (!d || c->primary)
        return d ? cudaErrorInvalidValue : cudaErrorContextIsDestroyed;
    mg__queue_wait_all(d->device);
    mg__cudart_lock();
    mg__check_ended(d->device->check);
    empty(d);
    for (struct cudart_device *other = NULL; (other = mg__cudart_next(other)) != NULL;)
        if (other->peers[d->number] || other->pool_peers[d->number]) {
            mg__cudart_set_peer(other, d, false, false);
            mg__cudart_set_peer(other, d, false, true);
        }
    set_joined(d, false);
    c->device = NULL;
    struct mg_device *gone = d->device;
    d->device = NULL;
    mg__device_destroy(gone);
    atomic_store(&d->ready, 0);
    mg__cudart_unlock();
    return 0;
}
