/* launch.c - launches, and how many blocks of a kernel fit. cudart/launch.c does the rest. */
#include "cuda/driver.h"

/* One pointer a parameter, out of a buffer that holds them as the kernel reads them. One that is too short is taken, as
 * a GPU does, and the rest is 0; one that is too long is not (both as an H200 answers). *args holds them all. */
int mg__cuda_unpack(const void *function, void **extra, void ***args)
{
    const char *buffer = NULL;
    const size_t *size = NULL;
    struct mg_device_kernel *kernel;
    for (; *extra != (void *)CU_PARAM_END; extra += 2) {
        if (*extra == (void *)CU_PARAM_BUFFER)
            buffer = extra[1];
        else if (*extra == (void *)CU_PARAM_BUFFER_SIZE)
            size = extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (!size || (!buffer && *size))
        return CUDA_ERROR_INVALID_VALUE;
    int error = mg__cudart_func_find(function, mg__cudart_here(), &kernel);
    if (error)
        return error;
    const struct mg_ptx_func *f = kernel->info.func;
    if (*size > kernel->info.param_size)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    *args = calloc(1, (f->nparams + 1) * sizeof(**args) + kernel->info.param_size);
    if (!*args)
        return CUDA_ERROR_OUT_OF_MEMORY;
    char *values = (char *)(*args + f->nparams + 1);
    if (*size)
        memcpy(values, buffer, *size);
    for (size_t i = 0; i < f->nparams; i++)
        (*args)[i] = values + f->params[i]->offset;
    return 0;
}

int mg__cuda_launch(const void *function, struct cudart_request *r, void **params, void **extra)
{
    void **unpacked = NULL;
    int error = 0;
    if (params && extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    if (extra)
        error = mg__cuda_unpack(function, extra, &unpacked);
    r->args = extra ? unpacked : params;
    if (!error)
        error = mg__cudart_launch(function, r);
    free(unpacked);
    return error;
}

int mg__cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                       unsigned shared, void *stream, void **params, void **extra)
{
    CUDA_ENTER();
    struct cudart_request r = {{gx, gy, gz}, {bx, by, bz}, shared, NULL, stream, false, {0}, false};
    return mg__cuda_done(mg__cuda_launch(function, &r, params, extra));
}

int mg__cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                  unsigned bz, unsigned shared, void *stream, void **params)
{
    CUDA_ENTER();
    struct cudart_request r = {{gx, gy, gz}, {bx, by, bz}, shared, NULL, stream, true, {0}, false};
    return mg__cuda_done(mg__cuda_launch(function, &r, params, NULL));
}

static struct cu_launch_config runtime_config(const struct cu_launch *c)
{
    return (struct cu_launch_config){c->grid, c->block, c->shared, c->stream, c->attributes, c->nattributes};
}

enum { MOST_ATTRIBUTE = 20 }; /* of those that there are names for */

int mg__cuLaunchKernelEx(const struct cu_launch *config, void *function, void **params, void **extra)
{
    CUDA_ENTER();
    if (!config || (config->nattributes && !config->attributes))
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < config->nattributes; i++) {
        const struct cu_launch_attribute *a = &config->attributes[i];
        if (a->id < 0 || a->id > MOST_ATTRIBUTE)
            return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
        if (a->id == CU_LAUNCH_CLUSTER && (!a->value.cluster.x || !a->value.cluster.y || !a->value.cluster.z))
            return mg__cuda_done(CUDA_ERROR_INVALID_CLUSTER_SIZE);
    }
    const struct cu_launch_config same = runtime_config(config);
    struct cudart_request r = mg__cudart_request(&same, NULL);
    return mg__cuda_done(mg__cuda_launch(function, &r, params, extra));
}

CUDA_SAME(cuLaunchHostFunc, (void *stream, void (*function)(void *), void *arg),
          mg__cudaLaunchHostFunc(stream, function, arg))

/* ---- occupancy ---- */
CUDA_SAME(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
          (int *blocks, void *function, int threads, size_t shared, unsigned flags),
          mg__cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, flags))
CUDA_SAME(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, void *function, int threads, size_t shared),
          mg__cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0))
CUDA_SAME(cuOccupancyAvailableDynamicSMemPerBlock, (size_t * shared, void *function, int blocks, int threads),
          mg__cudaOccupancyAvailableDynamicSMemPerBlock(shared, function, blocks, threads))

/* The block that fills an SM best, the largest of those; and a grid that fills the device with it. */
static int potential(int *grid, int *block, const void *function, size_t (*shared_of)(int), size_t shared, int most)
{
    struct mg_device_kernel *kernel;
    int error = grid && block ? mg__cudart_func_find(function, mg__cudart_here(), &kernel) : CUDA_ERROR_INVALID_VALUE;
    if (error)
        return error;
    unsigned threads = MG_MIN(kernel->info.max_threads, most > 0 ? (unsigned)most : ~0u), best = 0;
    const struct mg_arch *arch = &kernel->module->device->arch;
    for (unsigned step = 32, n = (threads + step - 1) / step * step; n; n -= step) {
        unsigned t = MG_MIN(n, threads);
        unsigned blocks = mg__device_resident(kernel, t, shared_of ? shared_of((int)t) : shared);
        if (blocks * t > best) {
            best = blocks * t;
            *block = (int)t;
            *grid = (int)(blocks * arch->board->sm_count);
        }
    }
    if (!best)
        *grid = *block = 0;
    return 0;
}

CUDA_SAME(cuOccupancyMaxPotentialBlockSize,
          (int *grid, int *block, void *function, size_t (*shared_of)(int), size_t shared, int most),
          potential(grid, block, function, shared_of, shared, most))
CUDA_SAME(cuOccupancyMaxPotentialBlockSizeWithFlags,
          (int *grid, int *block, void *function, size_t (*shared_of)(int), size_t shared, int most, unsigned flags),
          flags > 1 ? CUDA_ERROR_INVALID_VALUE : potential(grid, block, function, shared_of, shared, most))

int mg__cuOccupancyMaxActiveClusters(int *clusters, void *function, const struct cu_launch *config)
{
    CUDA_ENTER();
    if (!config)
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    const struct cu_launch_config same = runtime_config(config);
    return mg__cuda_done(mg__cudaOccupancyMaxActiveClusters(clusters, function, &same));
}

int mg__cuOccupancyMaxPotentialClusterSize(int *size, void *function, const struct cu_launch *config)
{
    CUDA_ENTER();
    if (!config)
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    const struct cu_launch_config same = runtime_config(config);
    return mg__cuda_done(mg__cudaOccupancyMaxPotentialClusterSize(size, function, &same));
}
