/* limits.c - launches that no device takes: the limit as src/arch found it, as a finding. */
#include "check/check_priv.h"

static enum check_kind kind_of(const struct mg_arch *a, const struct mg_launch_shape *s, enum mg_launch_fault fault)
{
    uint64_t threads = (uint64_t)s->block.x * s->block.y;
    threads = threads > UINT32_MAX ? threads : threads * s->block.z;
    switch (fault) {
    case MG_LAUNCH_BLOCK:
        return threads > a->max_threads_block ? KIND_LAUNCH_THREADS : KIND_LAUNCH_DIMENSIONS;
    case MG_LAUNCH_BOUNDS:
        return KIND_LAUNCH_THREADS;
    case MG_LAUNCH_SHARED:
        return (uint64_t)s->kernel.shared_static + s->kernel.shared_dynamic > a->shared_block_optin
                   ? KIND_LAUNCH_SHARED
                   : KIND_LAUNCH_OPT_IN;
    case MG_LAUNCH_REGISTERS:
        return KIND_LAUNCH_REGISTERS;
    case MG_LAUNCH_PARAMS:
        return KIND_LAUNCH_PARAMETERS;
    case MG_LAUNCH_COOPERATIVE:
        return KIND_LAUNCH_COOPERATIVE;
    default:
        return KIND_LAUNCH_DIMENSIONS;
    }
}

void mg__check_refused(struct mg_check *c, const char *kernel, const struct mg_arch *arch,
                       const struct mg_launch_shape *shape, enum mg_launch_fault fault, const char *message)
{
    if (!c || !(c->checks & MG_CHECK_LAUNCH))
        return;
    pthread_mutex_lock(&c->lock);
    mg__find_host(c, kind_of(arch, shape, fault), kernel, "", "%s", message);
    pthread_mutex_unlock(&c->lock);
}
