/* launch.c - would a device take this launch? The first limit that it breaks, in the order in which the runtime asks,
 * with the numbers and the name of the device.
 *
 * Left out: the count of blocks of a grid of several dimensions, which no device limits beyond each one.
 * A new check is a fault in margay/arch.h and a function here.
 */
#include "arch/arch.h"

static enum mg_launch_fault refuse(struct mg_diag *diag, enum mg_launch_fault fault)
{
    if (diag)
        diag->status = MG_ERR_LAUNCH_LIMIT;
    return fault;
}

static const char *device(const struct mg_arch *a, const struct mg_launch_shape *s, char *text, size_t size)
{
    const struct mg_board *board = s->board ? s->board : a->board;
    snprintf(text, size, "%s (compute capability %u.%u)", board->name, a->cc / 10, a->cc % 10);
    return text;
}

static enum mg_launch_fault check_shape(const struct mg_arch *a, const struct mg_launch_shape *s, struct mg_diag *diag)
{
    const struct mg_dim3 *g = &s->grid, *b = &s->block;
    const unsigned *gm = a->max_grid_dim, *bm = a->max_block_dim;
    char name[128];
    device(a, s, name, sizeof(name));
    if (!g->x || !g->y || !g->z || !b->x || !b->y || !b->z) {
        mg__diag_set(diag, MG_ERR_LAUNCH_LIMIT, "launched with a dimension of 0: grid %u x %u x %u, block %u x %u x %u",
                     g->x, g->y, g->z, b->x, b->y, b->z);
        mg__diag_hint(diag, "check the numbers between <<< and >>>; an element count of zero must not be launched");
        return MG_LAUNCH_ZERO;
    }
    if (g->x > gm[0] || g->y > gm[1] || g->z > gm[2]) {
        mg__diag_set(diag, MG_ERR_LAUNCH_LIMIT, "launched with a grid of %u x %u x %u blocks; %s allows %u x %u x %u",
                     g->x, g->y, g->z, name, gm[0], gm[1], gm[2]);
        mg__diag_hint(diag, "let x be the largest dimension, or let each block do more");
        return MG_LAUNCH_GRID;
    }
    uint64_t threads = (uint64_t)b->x * b->y;
    threads = threads > UINT32_MAX ? threads : threads * b->z;
    if (b->x > bm[0] || b->y > bm[1] || b->z > bm[2] || threads > a->max_threads_block) {
        mg__diag_set(diag, MG_ERR_LAUNCH_LIMIT,
                     "launched with blocks of %u x %u x %u threads; %s allows %u threads in all, %u x %u x %u at most",
                     b->x, b->y, b->z, name, a->max_threads_block, bm[0], bm[1], bm[2]);
        mg__diag_hint(diag, "use smaller blocks and more of them");
        return MG_LAUNCH_BLOCK;
    }
    if (s->kernel.max_threads && threads > s->kernel.max_threads) {
        mg__diag_set(diag, MG_ERR_LAUNCH_LIMIT, "launched with blocks of %llu threads; its __launch_bounds__ allows %u",
                     (unsigned long long)threads, s->kernel.max_threads);
        mg__diag_hint(diag, "use smaller blocks or larger launch bounds");
        return MG_LAUNCH_BOUNDS;
    }
    return MG_LAUNCH_OK;
}

static enum mg_launch_fault check_shared(const struct mg_arch *a, const struct mg_launch_shape *s, struct mg_diag *diag)
{
    const struct mg_occupancy_query *k = &s->kernel;
    uint32_t fixed = k->shared_static, room = a->shared_block > fixed ? a->shared_block - fixed : 0;
    uint32_t most = a->shared_block_optin > fixed ? a->shared_block_optin - fixed : 0;
    char name[128];
    room = MG_MAX(room, MG_MIN(k->shared_optin, most));
    if (k->shared_dynamic <= room && fixed <= a->shared_block_optin)
        return MG_LAUNCH_OK;
    mg__diag_set(diag, MG_ERR_LAUNCH_LIMIT,
                 "launched with %u bytes of dynamic shared memory (and %u static); %u are allowed on %s",
                 k->shared_dynamic, fixed, room, device(a, s, name, sizeof(name)));
    if (k->shared_dynamic <= most)
        mg__diag_hint(diag,
                      "allow them first: cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, %u)",
                      k->shared_dynamic);
    else
        mg__diag_hint(diag, "a block can have %u bytes on this device, static and dynamic together",
                      a->shared_block_optin);
    return MG_LAUNCH_SHARED;
}

/* The largest block of whole warps that the register file takes. */
static unsigned most_threads(const struct mg_arch *a, const struct mg_occupancy_query *kernel)
{
    struct mg_occupancy_query q = mg_arch_query(0, kernel->regs, 0, 0);
    struct mg_occupancy o;
    for (q.threads = a->max_threads_block; q.threads; q.threads -= a->warp_size)
        if (mg_arch_occupancy(a, &q, &o) == MG_OK && o.blocks)
            return q.threads;
    return 0;
}

static enum mg_launch_fault check_registers(const struct mg_arch *a, const struct mg_launch_shape *s,
                                            const struct mg_occupancy *o, struct mg_diag *diag)
{
    unsigned regs = 0, threads = s->block.x * s->block.y * s->block.z;
    struct mg_occupancy_query q = mg_arch_query(threads, 0, 0, 0);
    char name[128];
    if (o->limit[MG_LIMITER_REGISTERS])
        return MG_LAUNCH_OK;
    if (s->kernel.regs > a->max_regs_thread) {
        mg__diag_set(diag, MG_ERR_LAUNCH_LIMIT, "compiled for %u registers a thread; %s has %u", s->kernel.regs,
                     device(a, s, name, sizeof(name)), a->max_regs_thread);
        mg__diag_hint(diag, "compile it for this device");
        return MG_LAUNCH_REGISTERS;
    }
    mg_arch_max_regs(a, &q, 1, &regs);
    mg__diag_set(diag, MG_ERR_LAUNCH_LIMIT,
                 "launched with blocks of %u threads with %u registers each; the registers of a block are %u on %s",
                 threads, s->kernel.regs, a->regs_block, device(a, s, name, sizeof(name)));
    mg__diag_hint(
        diag,
        "launch at most %u threads a block, or let the compiler fit it: __launch_bounds__(%u) leaves a thread %u "
        "registers",
        most_threads(a, &s->kernel), threads, regs);
    return MG_LAUNCH_REGISTERS;
}

/* ---- clusters ---- */
struct mg_dim3 mg_arch_cluster(const struct mg_launch_shape *s, int *named)
{
    const struct mg_dim3 *by = s->cluster.x ? &s->cluster : &s->cluster_compiled;
    *named = by->x != 0;
    return (struct mg_dim3){MG_MAX(by->x, 1), MG_MAX(by->y, 1), MG_MAX(by->z, 1)};
}

unsigned mg_arch_cluster_most(const struct mg_arch *a, int non_portable)
{
    bool more = a->cc / 10 == 9 || a->cc / 10 == 10; /* CUDA programming guide, "Thread Block Clusters" */
    return non_portable && more ? MG_MAX(16, a->max_cluster_blocks) : a->max_cluster_blocks;
}

/* Multiprocessors stand in groups that a cluster cannot leave: on an H200 two of 18, five of 16, one of 8 and four
 * pairs (tests/hardware/clusters.txt). Other chips of the kind have other groups; one with another number of
 * multiprocessors is taken to have groups of 16. */
unsigned mg_arch_clusters_active(const struct mg_arch *a, unsigned resident, unsigned size)
{
    enum { MOST_RESIDENT = 8, GROUP = 16 }; /* blocks of clusters that one multiprocessor takes; the same source */
    static const uint8_t measured[] = {18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2};
    unsigned count = 0, left = a->board->sm_count;
    const bool known = left == 132;
    resident = MG_MIN(resident, MOST_RESIDENT);
    for (unsigned i = 0; left; i++) {
        const unsigned group = known ? measured[i] : MG_MIN(left, GROUP);
        count += size && size <= group ? group * resident / size : 0;
        left -= group;
    }
    return count;
}

static enum mg_launch_fault check_cluster(const struct mg_arch *a, const struct mg_launch_shape *s,
                                          struct mg_diag *diag)
{
    int named;
    struct mg_dim3 c = mg_arch_cluster(s, &named);
    const struct mg_dim3 *g = &s->grid, *own = &s->cluster_compiled;
    uint64_t blocks = (uint64_t)c.x * c.y;
    blocks = blocks > UINT32_MAX ? blocks : blocks * c.z;
    unsigned most = mg_arch_cluster_most(a, s->cluster_non_portable);
    char name[128];
    if (!named && !s->cluster_wanted)
        return MG_LAUNCH_OK;
    if (!named) {
        mg__diag_set(diag, MG_ERR_LAUNCH_LIMIT, "launched without a cluster; its __cluster_dims__ asks for one");
        mg__diag_hint(diag, "name it in cudaLaunchKernelEx's attributes: cudaLaunchAttributeClusterDimension");
        return MG_LAUNCH_CLUSTER;
    }
    if (s->cluster.x && own->x && (c.x != own->x || c.y != own->y || c.z != own->z)) {
        mg__diag_set(diag, MG_ERR_LAUNCH_LIMIT,
                     "launched with clusters of %u x %u x %u blocks; its __cluster_dims__ says %u x %u x %u", c.x, c.y,
                     c.z, own->x, own->y, own->z);
        mg__diag_hint(diag, "leave the attribute out, or __cluster_dims__");
        return MG_LAUNCH_CLUSTER;
    }
    if (s->cluster_most && blocks > s->cluster_most) {
        mg__diag_set(diag, MG_ERR_LAUNCH_LIMIT,
                     "launched with clusters of %llu blocks; its __launch_bounds__ allows %u",
                     (unsigned long long)blocks, s->cluster_most);
        mg__diag_hint(diag, "use smaller clusters or larger launch bounds");
        return MG_LAUNCH_CLUSTER;
    }
    if (blocks > MG_MAX(most, 1)) {
        mg__diag_set(diag, MG_ERR_LAUNCH_LIMIT, "launched with clusters of %llu blocks; %s allows %u",
                     (unsigned long long)blocks, device(a, s, name, sizeof(name)), MG_MAX(most, 1));
        if (blocks <= mg_arch_cluster_most(a, 1))
            mg__diag_hint(diag, "allow them first: cudaFuncSetAttribute(kernel, "
                                "cudaFuncAttributeNonPortableClusterSizeAllowed, 1)");
        else
            mg__diag_hint(diag, "use smaller clusters");
        return MG_LAUNCH_CLUSTER;
    }
    if (g->x % c.x || g->y % c.y || g->z % c.z) {
        mg__diag_set(diag, MG_ERR_LAUNCH_LIMIT,
                     "launched with a grid of %u x %u x %u blocks, which clusters of %u x %u x %u do not divide", g->x,
                     g->y, g->z, c.x, c.y, c.z);
        mg__diag_hint(diag, "round the grid up to whole clusters; blocks beyond the data have nothing to do");
        return MG_LAUNCH_CLUSTER;
    }
    return MG_LAUNCH_OK;
}

enum mg_launch_fault mg_arch_launch_check(const struct mg_arch *a, const struct mg_launch_shape *s,
                                          struct mg_diag *diag)
{
    enum mg_launch_fault fault = check_shape(a, s, diag);
    struct mg_occupancy_query q = s->kernel;
    struct mg_occupancy o;
    char name[128];
    if (!fault)
        fault = check_cluster(a, s, diag);
    if (!fault)
        fault = check_shared(a, s, diag);
    if (fault)
        return refuse(diag, fault);
    q.threads = s->block.x * s->block.y * s->block.z;
    q.carveout = MG_MAX(-1, MG_MIN(q.carveout, 100));
    mg_arch_occupancy(a, &q, &o);
    fault = check_registers(a, s, &o, diag);
    if (!fault && s->param_bytes > a->max_param_bytes) {
        mg__diag_set(diag, MG_ERR_LAUNCH_LIMIT, "launched with %llu bytes of parameters; %s takes %u",
                     (unsigned long long)s->param_bytes, device(a, s, name, sizeof(name)), a->max_param_bytes);
        mg__diag_hint(diag, "pass a pointer to a structure in device memory");
        fault = MG_LAUNCH_PARAMS;
    }
    if (!fault && s->cooperative) {
        const struct mg_board *board = s->board ? s->board : a->board;
        uint64_t blocks = (uint64_t)s->grid.x * s->grid.y * s->grid.z; /* fits: 31 + 16 + 16 bits */
        uint64_t resident = (uint64_t)board->sm_count * o.blocks;
        if (blocks > resident) {
            mg__diag_set(
                diag, MG_ERR_LAUNCH_LIMIT,
                "launched cooperatively with %llu blocks; %s holds %llu of them at once, %u on each of its %u SMs "
                "(%s)",
                (unsigned long long)blocks, device(a, s, name, sizeof(name)), (unsigned long long)resident, o.blocks,
                board->sm_count, mg_limiter_name(o.binding));
            mg__diag_hint(diag, "ask cudaOccupancyMaxActiveBlocksPerMultiprocessor how many blocks fit");
            fault = MG_LAUNCH_COOPERATIVE;
        }
    }
    return fault ? refuse(diag, fault) : MG_LAUNCH_OK;
}
