/* limits.c - launches that no device takes, said with the limit and the device. */
#include "check/check_priv.h"

bool mg__check_launch(struct mg_check *c, const struct mg_check_launch *l)
{
    if (!c || !(c->checks & MG_CHECK_LAUNCH))
        return false;
    const struct mg_dim3 *g = &l->grid, *b = &l->block;
    const struct mg_arch *a = l->arch;
    const char *board = a->board->name;
    uint64_t threads = (uint64_t)b->x * b->y;
    threads = threads > UINT32_MAX ? threads : threads * b->z;
    pthread_mutex_lock(&c->lock);
    bool told = true;
    if (!g->x || !g->y || !g->z || !b->x || !b->y || !b->z)
        mg__find_host(c, KIND_LAUNCH_DIMENSIONS, l->kernel, "",
                      "launched with a dimension of 0: grid (%u,%u,%u), block (%u,%u,%u)", g->x, g->y, g->z, b->x, b->y, b->z);
    else if (g->x > INT32_MAX || g->y > 65535 || g->z > 65535)
        mg__find_host(c, KIND_LAUNCH_DIMENSIONS, l->kernel, "",
                      "launched with a grid of (%u,%u,%u) blocks; %s allows (2147483647,65535,65535)", g->x, g->y, g->z, board);
    else if (threads > a->max_threads_block)
        mg__find_host(c, KIND_LAUNCH_THREADS, l->kernel, "",
                      "launched with blocks of (%u,%u,%u), %llu threads; %s allows %u", b->x, b->y, b->z,
                      (unsigned long long)threads, board, a->max_threads_block);
    else if (b->x > 1024 || b->y > 1024 || b->z > 64)
        mg__find_host(c, KIND_LAUNCH_DIMENSIONS, l->kernel, "",
                      "launched with blocks of (%u,%u,%u) threads; %s allows (1024,1024,64)", b->x, b->y, b->z, board);
    else if (threads > l->max_threads)
        mg__find_host(c, KIND_LAUNCH_THREADS, l->kernel, "",
                      "launched with blocks of %llu threads; its __launch_bounds__ allow %u", (unsigned long long)threads,
                      l->max_threads);
    else if (l->shared + l->shared_static > a->shared_block_optin)
        mg__find_host(c, KIND_LAUNCH_SHARED, l->kernel, "",
                      "launched with %llu bytes of shared memory a block (%u static, %llu dynamic); %s has %u",
                      (unsigned long long)(l->shared + l->shared_static), l->shared_static, (unsigned long long)l->shared, board,
                      a->shared_block_optin);
    else if (l->shared + l->shared_static > a->shared_block && l->shared > l->shared_optin)
        mg__find_host(c, KIND_LAUNCH_OPT_IN, l->kernel, "",
                      "launched with %llu bytes of shared memory a block (%u static, %llu dynamic); without opting in %s gives %u, "
                      "and the kernel has opted in to %u dynamic ones",
                      (unsigned long long)(l->shared + l->shared_static), l->shared_static, (unsigned long long)l->shared, board,
                      a->shared_block, l->shared_optin);
    else if (l->resident && (uint64_t)g->x * g->y * g->z > l->resident)
        mg__find_host(c, KIND_LAUNCH_COOPERATIVE, l->kernel, "",
                      "launched cooperatively with %llu blocks; %s holds %llu of them at once",
                      (unsigned long long)g->x * g->y * g->z, board, (unsigned long long)l->resident);
    else
        told = false;
    pthread_mutex_unlock(&c->lock);
    return told;
}
