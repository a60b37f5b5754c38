/* cluster.c - what the blocks of a cluster have in common: a barrier, one another's shared memory, special registers.
 *
 * The barrier counts threads (PTX ISA, "barrier.cluster"): it opens when all of the cluster that have not exited have
 * come. A thread that comes twice without waiting, or waits without having come, is what the ISA leaves undefined: it
 * stops the launch.
 *
 * A shared address is an offset in the block's own shared memory. Behind the window of those lie windows of the same
 * size, one for each rank of a cluster; mapa gives an address in the window of that rank, or in the block's own. A
 * block whose shared memory is reached must not have ended. An H100 stops such an access, and one of a rank that the
 * cluster has not, with cudaErrorLaunchFailure (719), and so does this.
 */
#include "simt/simt_priv.h"

/* ---- the barrier ---- */
static bool all_came(const struct mg_cluster *c, uint32_t size)
{
    uint64_t live = 0;
    for (uint32_t r = 0; r < size; r++)
        live += c->blocks[r].live_threads;
    if (c->arrived < live) /* some that came may have exited: more than a sum has to be looked at */
        return false;
    for (uint32_t r = 0; r < size; r++)
        for (uint32_t k = 0; c->blocks[r].live_threads && k < c->blocks[r].nwarps; k++)
            if (c->blocks[r].warps[k].live & ~c->blocks[r].warps[k].came)
                return false;
    return true;
}

void mg__cluster_check(struct mg_cluster *c)
{
    const struct mg_run *run = c->blocks[0].run;
    if (!c->arrived || !all_came(c, run->cluster_size))
        return;
    c->arrived = 0;
    for (uint32_t r = 0; r < run->cluster_size; r++) {
        struct mg_block *b = &c->blocks[r];
        b->waits = false;
        if (!b->engine)
            b->tier = NULL; /* compiled code may take it up again */
        mg__block_event(b, MG_SYNC_CLUSTER);
        for (uint32_t k = 0; k < b->nwarps; k++) {
            struct mg_warp *w = &b->warps[k];
            w->came = 0;
            for (size_t i = 0; w->nleaves && i < w->splits.count; i++) {
                struct mg_split *s = &w->splits.at[i];
                if (!s->mask || s->wait != MG_WAIT_CLUSTER)
                    continue;
                s->wait = MG_WAIT_NONE;
                s->resumed = true;
            }
        }
    }
}

static const struct mg_op *undefined(struct mg_warp *w, const struct mg_op *op, uint32_t lanes, const char *what)
{
    mg__fault(w, op, (unsigned)__builtin_ctz(lanes), MG_ERR_TRAP, "a thread %s", what);
    mg__fault_hint(w, "The effect is undefined (PTX ISA, barrier.cluster): each arrival needs one wait behind it.");
    return NULL;
}

MG_HANDLER(mg__op_cluster_arrive)
{
    struct mg_cluster *c = w->block->cluster;
    if (w->owed & mask)
        return undefined(w, op, w->owed & mask, "comes to the cluster's barrier again before it has waited there");
    w->came |= mask;
    w->owed |= mask;
    c->arrived += (uint32_t)__builtin_popcount(mask);
    mg__cluster_check(c);
    return op + 1;
}

MG_HANDLER(mg__op_cluster_wait)
{
    struct mg_split *s = &w->splits.at[w->current];
    if (MG_UNLIKELY(w->interpreted) && mg__engine_back(w, op, mask)) /* compiled code waits, and goes on behind it */
        return NULL;
    if (s->resumed) {
        s->resumed = false;
        w->owed &= ~mask;
        return w->has_some ? mg__engine_behind(w, op, mask) : op + 1;
    }
    if (mask & ~w->owed)
        return undefined(w, op, mask & ~w->owed, "waits at the cluster's barrier and has not come there");
    mg__cluster_check(w->block->cluster);
    if (!(w->came & mask)) { /* open: all of the block go on in the order of warps, and compiled code may take it up */
        s->pc = op;
        s->resumed = true;
        w->block->opened = true;
        w->stop = MG_STOP_WAIT;
        return NULL;
    }
    if (mask != s->mask) { /* under a guard: the others go on */
        if (!mg__leaf_split(w, mask, op + 1))
            return mg__fault(w, op, (unsigned)__builtin_ctz(mask), MG_ERR_NOMEM, "no host memory for a warp's state");
        s = &w->splits.at[w->current];
    }
    s->pc = op;
    s->wait = MG_WAIT_CLUSTER;
    return mg__warp_next(w);
}

/* ---- shared memory ---- */
struct mg_block *mg__cluster_block(const struct mg_block *b, uint64_t *offset)
{
    uint64_t window = *offset / MG_WINDOW_SIZE;
    if (window > b->run->cluster_size)
        return NULL;
    *offset %= MG_WINDOW_SIZE;
    return &b->cluster->blocks[window ? window - 1 : b->rank];
}

bool mg__cluster_holds(const struct mg_block *b, const uint8_t *at)
{
    for (uint32_t r = 0; r < b->run->cluster_size; r++)
        if ((uintptr_t)at - (uintptr_t)b->cluster->blocks[r].shared < b->shared_size)
            return true;
    return false;
}

struct mg_block *mg__cluster_reach(struct mg_warp *w, const struct mg_op *op, unsigned lane, unsigned bytes,
                                   uint64_t *offset, uint8_t **where)
{
    uint64_t at = *offset;
    struct mg_block *to = mg__cluster_block(w->block, &at);
    if (!to) {
        mg__fault(w, op, lane, MG_ERR_TRAP, "access of %u bytes at the shared memory of block %llu of a cluster of %u",
                  bytes, (unsigned long long)(*offset / MG_WINDOW_SIZE - 1), w->block->run->cluster_size);
        mg__fault_hint(w, "The rank given to mapa or map_shared_rank() must be less than the number of blocks.");
    } else if (at & (bytes - 1) && op->is->id != MG_DO_BULK) { /* whose alignment is bulk.c's */
        mg__fault(w, op, lane, MG_ERR_MISALIGNED, "shared address 0x%llx is not a multiple of the access's %u bytes",
                  (unsigned long long)at, bytes);
        mg__fault_hint(w, "Align the pointer: a vector access needs an address that is a multiple of its whole size.");
    } else if (at > to->shared_size || bytes > to->shared_size - at) {
        mg__fault(
            w, op, lane, MG_ERR_ADDRESS,
            "access of %u bytes at shared address 0x%llx of block %u,%u,%u: a block has %u bytes of shared memory",
            bytes, (unsigned long long)at, to->ctaid[0], to->ctaid[1], to->ctaid[2], to->shared_size);
        mg__fault_hint(w, "An index runs past the array, or the launch asks for too little dynamic shared memory.");
    } else if (to->live_warps == 0) {
        if (mg__wants_sync(w)) {
            struct mg_sync *e = mg__sync_event(w, op, MG_SYNC_FAR_ENDED, 1u << lane);
            e->target = to->linear;
            e->address = at;
            mg__sync_emit(w->worker);
        }
        mg__fault(w, op, lane, MG_ERR_TRAP,
                  "access to the shared memory of block %u,%u,%u of the cluster, which has ended", to->ctaid[0],
                  to->ctaid[1], to->ctaid[2]);
        mg__fault_hint(w, "A cluster.sync() at the kernel's end keeps all blocks there until the last access.");
    } else {
        *where = to->shared + at;
        *offset = at;
        return to;
    }
    return NULL;
}

struct mg_block *mg__cluster_at(struct mg_warp *w, const struct mg_op *op, const struct mg_mem *mem, unsigned lane,
                                uint64_t address, unsigned bytes, uint8_t **where)
{
    uint64_t offset = address;
    if (mem->space == MG_SPACE_GENERIC && !mem->cluster)
        offset -= w->block->run->simt->shared_window;
    if (offset >= (MG_MAX_CLUSTER + 1) * MG_WINDOW_SIZE) {
        mg__fault(w, op, lane, MG_ERR_ADDRESS, "0x%llx is no address of shared memory", (unsigned long long)address);
        return NULL;
    }
    return mg__cluster_reach(w, op, lane, bytes, &offset, where);
}

/* By lane, the rank of the block that an offset leads to and where in its memory; of the active ones the last rank, the
 * highest place and all bits of the places. */
struct reached {
    uint32_t rank[32], at[32], last, highest, bits;
    uint32_t lanes[MG_MAX_CLUSTER]; /* by rank */
};

/* A block's own memory has two windows: the first, and that of its rank. */
MG_WIDE static void find_ranks(const uint64_t offset[32], uint32_t mask, uint32_t own, struct reached *to)
{
    uint32_t last = 0, highest = 0, bits = 0;
    for (unsigned i = 0; i < 32; i++) {
        const uint32_t active = -(mask >> i & 1), window = (uint32_t)MG_MIN(offset[i] / MG_WINDOW_SIZE, UINT32_MAX),
                       at = (uint32_t)(offset[i] % MG_WINDOW_SIZE), rank = window ? window - 1 : own;
        to->rank[i] = rank;
        to->at[i] = at;
        last = MG_MAX(last, rank & active);
        highest = MG_MAX(highest, at & active);
        bits |= at & active;
    }
    to->last = last;
    to->highest = highest;
    to->bits = bits;
}

MG_WIDE static uint32_t lanes_of(const uint32_t ranks[32], uint32_t rank)
{
    uint32_t lanes = 0;
    for (unsigned i = 0; i < 32; i++)
        lanes |= ranks[i] == rank ? 1u << i : 0;
    return lanes;
}

/* Where they are in their blocks, and in windows of the ranks. */
MG_WIDE static void find_places(const struct reached *r, uint64_t at[32], uint64_t in_window[32])
{
    for (unsigned i = 0; i < 32; i++) {
        at[i] = r->at[i];
        in_window[i] = r->rank[i] * MG_WINDOW_SIZE + r->at[i];
    }
}

/* Lane by lane. False: a fault. */
static bool reach_each(struct mg_warp *w, const struct mg_op *op, uint32_t mask, const uint64_t offset[32],
                       uint8_t *where[32], struct reached *r)
{
    const unsigned bytes = op->u.mem->width * op->u.mem->vec;
    memset(r, 0, sizeof *r);
    w->worker->passes = w->block->run->goes_on;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        uint64_t at = offset[i];
        const struct mg_block *to = mg__cluster_reach(w, op, i, bytes, &at, &where[i]);
        if (to) {
            r->at[i] = (uint32_t)at;
            r->rank[i] = to->rank;
            r->lanes[to->rank] |= 1u << i;
        } else {
            if (!w->worker->passes || w->stop == MG_STOP_FAULT)
                return false;
            where[i] = memset(w->worker->sink, 0, sizeof w->worker->sink);
        }
    }
    w->worker->passes = false;
    return true;
}

/* The same of all lanes at once, if nothing is wrong; false: something may be. */
static bool reach_all(const struct mg_warp *w, unsigned bytes, uint32_t mask, const uint64_t offset[32],
                      uint8_t *where[32], struct reached *r)
{
    const struct mg_block *b = w->block;
    find_ranks(offset, mask, b->rank, r);
    if (r->last >= b->run->cluster_size || r->bits & (bytes - 1) || r->highest + bytes > b->shared_size)
        return false;
    memset(r->lanes, 0, sizeof r->lanes);
    for (uint32_t rest = mask; rest;) {
        const uint32_t rank = r->rank[__builtin_ctz(rest)], here = lanes_of(r->rank, rank) & rest;
        const struct mg_block *to = &b->cluster->blocks[rank];
        if (to->live_warps == 0)
            return false;
        for (uint32_t k = here; k; k &= k - 1)
            where[__builtin_ctz(k)] = to->shared + r->at[__builtin_ctz(k)];
        r->lanes[rank] = here;
        rest &= ~here;
    }
    return true;
}

bool mg__access_cluster(struct mg_warp *w, const struct mg_op *op, uint32_t mask, const uint64_t offset[32],
                        uint8_t *where[32])
{
    const struct mg_run *run = w->block->run;
    const struct mg_mem *m = op->u.mem;
    const unsigned bytes = m->width * m->vec;
    uint64_t at[32], in_window[32];
    struct reached r;
    uint32_t reached = 0;
    unsigned blocks = 0;
    if (!reach_all(w, bytes, mask, offset, where, &r) && !reach_each(w, op, mask, offset, where, &r))
        return false;
    if (!run->want_far)
        return true;
    find_places(&r, at, in_window);
    for (unsigned rank = 0; rank < run->cluster_size; rank++) {
        if (r.lanes[rank] && run->want_every) /* once for each block that is reached */
            mg__access_remote(w, op, r.lanes[rank], at, where, &w->block->cluster->blocks[rank]);
        reached |= r.lanes[rank];
        blocks += r.lanes[rank] != 0;
    }
    if (reached)
        mg__access_far(w, op, m, bytes, reached, blocks, in_window);
    return true;
}

/* The same place in the shared memory of another rank; which lanes have no such address: nonzero where one of `mask`
 * has not. A rank that the cluster does not have makes an address that no access reaches: nvcc moves mapa in front of
 * the branch that asks for the rank. */
MG_WIDE static uint32_t map_all(uint64_t a[32], const uint32_t rank[32], uint32_t mask, uint64_t base, uint32_t own,
                                uint32_t size)
{
    uint32_t wrong = 0;
    for (unsigned i = 0; i < 32; i++) {
        const uint64_t from = a[i] - base;
        const uint64_t window = rank[i] == own ? 0 : (uint64_t)(rank[i] + 1) * MG_WINDOW_SIZE;
        wrong |= -(mask >> i & 1) & (from / MG_WINDOW_SIZE > size);
        a[i] = from % MG_WINDOW_SIZE + (rank[i] < MG_MAX_CLUSTER ? window + base : -MG_WINDOW_SIZE);
    }
    return wrong;
}

/* mode: 1: 64 bits, 2: a generic address. d = the same place in the shared memory of rank b. */
MG_HANDLER(mg__op_mapa)
{
    const uint64_t base = op->mode & 2 ? w->block->run->simt->shared_window : 0;
    const uint32_t size = w->block->run->cluster_size, own = w->block->rank, *rank = mg__slot(w, op->b);
    const bool wide = op->mode & 1;
    uint64_t at[32], *to64 = mg__slot(w, op->d);
    uint32_t *to32 = mg__slot(w, op->d);
    for (unsigned i = 0; i < 32; i++)
        at[i] = wide ? ((const uint64_t *)mg__slot(w, op->a))[i] : ((const uint32_t *)mg__slot(w, op->a))[i];
    uint32_t wrong = map_all(at, rank, mask, base, own, size);
    for (uint32_t rest = wrong ? mask : 0; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        const uint64_t a = wide ? mg__lane64(w, op->a, i) : mg__lane32(w, op->a, i);
        if ((a - base) / MG_WINDOW_SIZE > size)
            return mg__fault(w, op, i, MG_ERR_ADDRESS, "mapa of 0x%llx, which is no address of shared memory",
                             (unsigned long long)a);
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        if (wide)
            to64[i] = at[i];
        else
            to32[i] = (uint32_t)at[i];
    }
    return op + 1;
}

/* mode as above, of the address. */
MG_HANDLER(mg__op_getctarank)
{
    uint64_t base = op->mode & 2 ? w->block->run->simt->shared_window : 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        uint64_t a = (op->mode & 1 ? mg__lane64(w, op->a, i) : mg__lane32(w, op->a, i)) - base;
        const struct mg_block *of = mg__cluster_block(w->block, &a);
        if (!of)
            return mg__fault(w, op, i, MG_ERR_ADDRESS, "getctarank of 0x%llx, which is no address of shared memory",
                             (unsigned long long)(a + base));
        ((uint32_t *)mg__slot(w, op->d))[i] = of->rank;
    }
    return op + 1;
}

/* ---- registers ---- */
static uint32_t part(const struct mg_dim3 *d, unsigned dim)
{
    return dim == 0 ? d->x : dim == 1 ? d->y : dim == 2 ? d->z : 0;
}

uint64_t mg__cluster_register(const struct mg_block *b, unsigned place)
{
    const struct mg_run *run = b->run;
    unsigned dim = place % 4;
    uint32_t in = part(&run->cluster, dim), at = dim < 3 ? b->ctaid[dim] : 0;
    if (place == MG_CLUSTER_CTARANK)
        return b->rank;
    if (place == MG_CLUSTER_NCTARANK)
        return run->cluster_size;
    if (place == MG_CLUSTER_EXPLICIT)
        return run->cluster_named;
    switch (place - dim) {
    case MG_CLUSTER_ID:
        return in ? at / in : 0;
    case MG_CLUSTER_COUNT:
        return part(&run->clusters, dim);
    case MG_CLUSTER_CTAID:
        return in ? at % in : 0;
    default:
        return in; /* MG_CLUSTER_NCTAID */
    }
}

MG_HANDLER(mg__op_cluster_named)
{
    mg__pred_set(w, op->d, w->block->run->cluster_named ? ~0u : 0, mask);
    return op + 1;
}
