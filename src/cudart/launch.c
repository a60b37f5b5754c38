/* launch.c - kernel launches in every form that the API has, and what became of them, as CUDA errors.
 *
 * A launch that breaks a limit fails at once and leaves the context as it was. One that faults while it runs poisons
 * its device's context and returns success, as the program of a GPU sees it (cudart.c). Either way the user is told
 * what, where and why, which no GPU does. device/launch.c does the rest.
 *
 * A launch that has not ended when it returns (device/queue.h) does so later, on whatever thread: mg__cudart_ended.
 */
#include <unistd.h>

#include "cudart/graph.h"

static int error_of(const struct mg_device_outcome *outcome)
{
    switch (outcome->refused) {
    case MG_LAUNCH_OK:
        return mg__cudart_error_of(outcome->status);
    case MG_LAUNCH_ZERO:
    case MG_LAUNCH_GRID:
    case MG_LAUNCH_BLOCK:
        /* CUDA 12 has a code of its own for wrong dimensions, 13 no more. Both read off driver 580. */
        return mg__cudart.version == 12 ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue;
    case MG_LAUNCH_REGISTERS:
        return cudaErrorLaunchOutOfResources;
    case MG_LAUNCH_COOPERATIVE:
        return cudaErrorCooperativeLaunchTooLarge;
    case MG_LAUNCH_CLUSTER:
        return cudaErrorInvalidClusterSize;
    case MG_LAUNCH_BOUNDS:
    case MG_LAUNCH_SHARED:
    case MG_LAUNCH_PARAMS:
        break;
    }
    return cudaErrorInvalidValue;
}

/* With several devices under check: what a kernel of one writes into the memory of another is not seen there, and that
 * memory counts as written. */
static void tell_peers(const struct cudart_device *device)
{
    if (!device->device->check)
        return;
    mg__cudart_lock();
    for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
        if (device->peers[d->number] || device->pool_peers[d->number])
            mg__check_unobserved(d->device->check);
    mg__cudart_unlock();
}

/* What became of a launch that ran: the error that it returns. */
static int result(struct cudart_device *device, const struct mg_device_kernel *kernel,
                  const struct mg_device_outcome *outcome)
{
    int error = error_of(outcome);
    if (!outcome->refused)
        tell_peers(device);
    if (!error)
        return 0;
    if (outcome->abandoned) {
        mg__cudart_warn(kernel->name, &outcome->diag);
        return 0;
    }
    if (mg__cudart_sticky(outcome->status)) {
        mg__cudart_poison(device, error);
        mg__queue_break(device->device);
        error = 0;
    }
    mg__cudart_tell(kernel->name, &outcome->diag);
    return error;
}

void mg__cudart_ended(void *device, const struct mg_device_kernel *kernel, const struct mg_device_outcome *outcome)
{
    struct cudart_device *d = device;
    int error = result(d, kernel, outcome), none = 0;
    if (error)
        atomic_compare_exchange_strong(&d->pending, &none, error);
}

static _Thread_local unsigned launching; /* of mg__cudart.launching: a host function may launch, or end the process */

bool mg__cudart_calm(void)
{
    enum { MOST = 10000 }; /* milliseconds */
    for (unsigned i = 0; i < MOST; i++) {
        for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
            mg__queue_finish(d->device);
        if (atomic_load(&mg__cudart.launching) == launching)
            return true;
        usleep(1000);
    }
    return false;
}

static int launch(const void *handle, const struct cudart_request *r)
{
    struct cudart_device *here = mg__cudart_call.device;
    struct mg_device_kernel *kernel;
    struct mg_device_outcome outcome;
    int error = mg__cudart_func_find(handle, here, &kernel);
    if (error)
        return error;
    const struct mg_device_launch l = {.grid = r->grid,
                                       .block = r->block,
                                       .shared = r->shared,
                                       .args = r->args,
                                       .cooperative = r->cooperative,
                                       .dependent = r->dependent,
                                       .cluster = r->cluster,
                                       .stream = mg__cudart_call.stream,
                                       .order = mg__cudart_call.order};
    mg__queue_launch(kernel, &l, false, &outcome);
    return outcome.pending ? 0 : result(here, kernel, &outcome);
}

int mg__cudart_launch_now(const void *handle, const struct cudart_request *r)
{
    launching++;
    atomic_fetch_add(&mg__cudart.launching, 1);
    const int error = atomic_load(&mg__cudart.ended) ? cudaErrorCudartUnloading : launch(handle, r);
    atomic_fetch_sub(&mg__cudart.launching, 1);
    launching--;
    return error;
}

int mg__cudart_launch(const void *handle, const struct cudart_request *r)
{
    struct cudart_device *here = mg__cudart_here();
    struct mg_device_kernel *kernel;
    struct mg_capture *capture;
    struct mg_graph_op op;
    CUDART_ENTER_AS(r->cooperative ? "cudaLaunchCooperativeKernel" : "cudaLaunchKernel");
    int error = mg__cudart_func_find(handle, here, &kernel);
    if (!error && (!mg__cudart_stream_ok(r->stream) || mg__cudart_call.device != here))
        error = cudaErrorInvalidResourceHandle;
    if (!error)
        error = mg__capture_asked(&capture);
    if (error)
        return mg__cudart_done(error);
    if (!capture)
        return mg__cudart_done(mg__cudart_launch_now(handle, r));
    error = mg__graph_kernel(handle, r, &op);
    return mg__cudart_done(error ? error : mg__capture_add(capture, &op));
}

/* ---- entry points ---- */
int mg__cudaLaunchKernel(const void *kernel, struct mg_dim3 grid, struct mg_dim3 block, void **args, size_t shared,
                         void *stream)
{
    return mg__cudart_launch(kernel, &(struct cudart_request){grid, block, shared, args, stream, false, {0}, false});
}

int mg__cudaLaunchCooperativeKernel(const void *kernel, struct mg_dim3 grid, struct mg_dim3 block, void **args,
                                    size_t shared, void *stream)
{
    return mg__cudart_launch(kernel, &(struct cudart_request){grid, block, shared, args, stream, true, {0}, false});
}

struct cudart_request mg__cudart_request(const struct cu_launch_config *config, void **args)
{
    struct cudart_request r = {.grid = {config->grid.x, config->grid.y, config->grid.z},
                               .block = {config->block.x, config->block.y, config->block.z},
                               .shared = config->shared,
                               .args = args,
                               .stream = config->stream};
    for (unsigned i = 0; i < config->nattributes; i++) {
        const struct cu_launch_attribute *a = &config->attributes[i];
        if (a->id == CU_LAUNCH_COOPERATIVE)
            r.cooperative = a->value.cooperative != 0;
        else if (a->id == CU_LAUNCH_DEPENDENT)
            r.dependent = a->value.dependent != 0;
        else if (a->id == CU_LAUNCH_CLUSTER)
            r.cluster = (struct mg_dim3){a->value.cluster.x, a->value.cluster.y, a->value.cluster.z};
    }
    return r;
}

int mg__cudaLaunchKernelExC(const struct cu_launch_config *config, const void *kernel, void **args)
{
    if (!config || (config->nattributes && !config->attributes))
        return mg__cudart_done(cudaErrorInvalidValue);
    const struct cudart_request r = mg__cudart_request(config, args);
    return mg__cudart_launch(kernel, &r);
}

/* What stands between <<< and >>> is pushed here and popped by the kernel's host stub: several where a launch's
 * arguments launch. Few, since a library that is opened at run time, as from Python, has some 1,500 bytes for what
 * threads keep. */
enum { CONFIGURATIONS = 8 };
static _Thread_local struct {
    struct mg_dim3 grid, block;
    size_t shared;
    void *stream;
} configurations[CONFIGURATIONS];
static _Thread_local unsigned nconfigurations;

unsigned mg____cudaPushCallConfiguration(struct mg_dim3 grid, struct mg_dim3 block, size_t shared, void *stream)
{
    if (nconfigurations == CONFIGURATIONS)
        return 1;
    configurations[nconfigurations].grid = grid;
    configurations[nconfigurations].block = block;
    configurations[nconfigurations].shared = shared;
    configurations[nconfigurations].stream = stream;
    nconfigurations++;
    return 0;
}

int mg____cudaPopCallConfiguration(struct mg_dim3 *grid, struct mg_dim3 *block, size_t *shared, void *stream)
{
    if (!nconfigurations)
        return mg__cudart_done(cudaErrorMissingConfiguration);
    nconfigurations--;
    *grid = configurations[nconfigurations].grid;
    *block = configurations[nconfigurations].block;
    *shared = configurations[nconfigurations].shared;
    memcpy(stream, &configurations[nconfigurations].stream, sizeof(void *));
    return 0;
}
