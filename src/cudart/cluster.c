/* cluster.c - clusters of thread blocks: a kernel's attributes, and how many are resident at once.
 */
#include "cudart/cudart.h"

int mg__cudart_cluster_attribute(struct mg_device_kernel *kernel, int number, int value)
{
    bool compiled = kernel->info.func->reqnctapercluster[0] != 0;
    if (value < 0)
        return cudaErrorInvalidValue;
    switch (number) {
    case CU_FUNC_CLUSTER_WIDTH:
    case CU_FUNC_CLUSTER_HEIGHT:
    case CU_FUNC_CLUSTER_DEPTH:
        if (compiled)
            return cudaErrorNotPermitted;
        *(number == CU_FUNC_CLUSTER_WIDTH    ? &kernel->cluster.x
          : number == CU_FUNC_CLUSTER_HEIGHT ? &kernel->cluster.y
                                             : &kernel->cluster.z) = (unsigned)value;
        return 0;
    case CU_FUNC_CLUSTER_NON_PORTABLE:
        kernel->cluster_non_portable = value != 0;
        return 0;
    default: /* a scheduling policy is a hint; that the dimension must be set is the compiler's to say */
        return number == CU_FUNC_CLUSTER_MUST_BE_SET ? cudaErrorNotPermitted : 0;
    }
}

void mg__cudart_cluster_attributes(const struct mg_device_kernel *kernel, struct cu_func_attributes *out)
{
    const uint32_t *own = kernel->info.func->reqnctapercluster;
    out->cluster_dim_must_be_set = kernel->info.func->explicitcluster;
    out->cluster_width = (int)(own[0] ? own[0] : kernel->cluster.x);
    out->cluster_height = (int)(own[0] ? own[1] : kernel->cluster.y);
    out->cluster_depth = (int)(own[0] ? own[2] : kernel->cluster.z);
    out->cluster_non_portable = kernel->cluster_non_portable;
}

/* A launch with this configuration: the blocks of a cluster, and how many an SM has at once. */
static int ask(const struct cu_launch_config *config, const void *handle, struct mg_device_kernel **kernel,
               struct mg_dim3 *cluster, unsigned *resident)
{
    if (!config || (config->nattributes && !config->attributes))
        return cudaErrorInvalidValue;
    int named, error = mg__cudart_func_find(handle, mg__cudart_here(), kernel);
    if (error)
        return error;
    const struct mg_device_kernel *k = *kernel;
    const uint32_t *own = k->info.func->reqnctapercluster;
    struct mg_launch_shape shape = {.cluster = k->cluster, .cluster_compiled = {own[0], own[1], own[2]}};
    for (unsigned i = 0; i < config->nattributes; i++) {
        const struct cu_launch_attribute *a = &config->attributes[i];
        if (a->id == CU_LAUNCH_CLUSTER)
            shape.cluster = (struct mg_dim3){a->value.cluster.x, a->value.cluster.y, a->value.cluster.z};
    }
    if (own[0] && shape.cluster.x &&
        (shape.cluster.x != own[0] || shape.cluster.y != own[1] || shape.cluster.z != own[2]))
        return cudaErrorInvalidClusterSize;
    *cluster = mg_arch_cluster(&shape, &named);
    const struct mg_arch *arch = &k->module->device->arch;
    uint64_t threads = (uint64_t)config->block.x * config->block.y * config->block.z;
    *resident =
        !threads || threads > arch->max_threads_block ? 0 : mg__device_resident(k, (unsigned)threads, config->shared);
    return 0;
}

int mg__cudaOccupancyMaxActiveClusters(int *clusters, const void *handle, const struct cu_launch_config *config)
{
    struct mg_device_kernel *kernel;
    struct mg_dim3 c;
    unsigned resident;
    CUDART_ENTER();
    int error = clusters ? ask(config, handle, &kernel, &c, &resident) : cudaErrorInvalidValue;
    if (error)
        return mg__cudart_done(error);
    uint64_t size = (uint64_t)c.x * c.y * c.z;
    if (size > mg_arch_cluster_most(&kernel->module->device->arch, kernel->cluster_non_portable))
        return mg__cudart_done(cudaErrorInvalidClusterSize);
    *clusters = (int)mg_arch_clusters_active(&kernel->module->device->arch, resident, (unsigned)size);
    return mg__cudart_done(0);
}

/* The largest size, a power of two, of which one cluster fits; an H100 does not look at what the kernel's launch bounds
 * allow. */
int mg__cudaOccupancyMaxPotentialClusterSize(int *size, const void *handle, const struct cu_launch_config *config)
{
    struct mg_device_kernel *kernel;
    struct mg_dim3 c;
    unsigned resident;
    CUDART_ENTER();
    int error = size ? ask(config, handle, &kernel, &c, &resident) : cudaErrorInvalidValue;
    if (error)
        return mg__cudart_done(error);
    unsigned most = mg_arch_cluster_most(&kernel->module->device->arch, kernel->cluster_non_portable);
    while (most > 1 && !mg_arch_clusters_active(&kernel->module->device->arch, resident, most))
        most /= 2;
    *size = resident ? (int)most : 0;
    return mg__cudart_done(0);
}
