/* occupancy.c - how many blocks of a kernel an SM holds at once, what holds it back, and what would let one more in.
 *
 * The model: an SM hands out block slots, warp slots, registers, shared memory and, since 9.0, named barriers; each by
 * itself would allow so many blocks, and the tightest counts.
 *
 * - Registers go to warps, in multiples of an allocation unit, from the part of the register file that belongs to the
 *   warp's scheduler: a warp finds room in one partition or not at all. A launch is checked more coarsely: the
 *   registers of a block, its warps rounded up to a multiple of the partitions, must be within the limit of a block.
 * - Shared memory goes to blocks in multiples of a unit; since 8.0 the system takes a kilobyte in every block. An SM's
 *   is a carve-out of one memory with the L1 cache since 7.0: a kernel may prefer a share in percent, which is rounded
 *   up to a size that exists; a block that needs more than was preferred gets the smallest size that holds it.
 * - Code is one family's: what 6.1 could not run for its four partitions, the two partitions of 6.0 refuse as well.
 *
 * What the driver sets an SM to when a kernel prefers nothing is not documented; on an H100 it was as much as the
 * blocks need, or more. A caller that knows it says so (shared_config).
 *
 * Left out: the partitioned caching of 5.2 to 6.2 (-Xptxas -dlcm=ca), with which a block has half an SM; clusters
 * (launch.c). Checked against NVIDIA's occupancy calculator and against an H100
 * (tests/arch).
 */
#include "arch/arch.h"

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static unsigned capped(uint64_t value)
{
    return value < MG_NO_LIMIT ? (unsigned)value : MG_NO_LIMIT;
}

struct mg_occupancy_query mg_arch_query(unsigned threads, unsigned regs, uint32_t shared_static,
                                        uint32_t shared_dynamic)
{
    return (struct mg_occupancy_query){.threads = threads, .regs = regs, .shared_static = shared_static,
                                       .shared_dynamic = shared_dynamic, .carveout = -1};
}

/* ---- the limits, each by itself ---- */
static unsigned by_registers(const struct mg_arch *a, unsigned warps, unsigned regs, unsigned partitions)
{
    uint64_t warp = round_up((uint64_t)regs * a->warp_size, a->reg_alloc_unit);
    if (!warp)
        return MG_NO_LIMIT;
    if (regs > a->max_regs_thread || warp * round_up(warps, partitions) > a->regs_block)
        return 0;
    return (unsigned)(a->regs_sm / partitions / warp * partitions / warps);
}

/* The smallest carve-out that has `bytes`. */
static uint32_t carveout(const struct mg_arch *a, uint64_t bytes)
{
    for (unsigned i = 0; i < a->ncarveouts; i++)
        if ((uint64_t)a->carveouts_kib[i] * 1024 >= bytes)
            return a->carveouts_kib[i] * 1024;
    return a->shared_sm;
}

static uint64_t shared_allocated(const struct mg_arch *a, uint64_t shared)
{
    return round_up(shared + a->shared_reserved, a->shared_alloc_unit);
}

/* What an SM gives a kernel that allocates so much a block: what it is set to, or can be set to. */
static uint32_t shared_of_sm(const struct mg_arch *a, const struct mg_occupancy_query *q, uint64_t allocated)
{
    if (q->shared_config)
        return q->shared_config;
    if (q->carveout < 0 || a->ncarveouts < 2)
        return a->shared_sm;
    uint32_t preferred = carveout(a, (uint64_t)a->shared_sm * (unsigned)q->carveout / 100);
    return MG_MAX(preferred, carveout(a, allocated));
}

static unsigned by_shared(const struct mg_arch *a, const struct mg_occupancy_query *q, uint64_t shared)
{
    uint64_t allocated = shared_allocated(a, shared);
    if (shared > a->shared_block_optin)
        return 0;
    return allocated ? (unsigned)(shared_of_sm(a, q, allocated) / allocated) : MG_NO_LIMIT;
}

enum mg_status mg_arch_occupancy(const struct mg_arch *a, const struct mg_occupancy_query *q, struct mg_occupancy *o)
{
    static const enum mg_limiter order[] = {MG_LIMITER_REGISTERS, MG_LIMITER_SHARED, MG_LIMITER_BARRIERS,
                                            MG_LIMITER_WARPS, MG_LIMITER_BLOCKS};
    if (!a || !q || !o || q->threads == 0 || q->carveout < -1 || q->carveout > 100)
        return MG_ERR_INVALID;
    uint64_t shared = (uint64_t)q->shared_static + q->shared_dynamic, allocated = shared_allocated(a, shared);
    unsigned warps = (unsigned)(round_up(q->threads, a->warp_size) / a->warp_size);
    memset(o, 0, sizeof(*o));
    o->warps_block = warps;
    o->regs_warp = (unsigned)round_up((uint64_t)MG_MIN(q->regs, 1u << 20) * a->warp_size, a->reg_alloc_unit);
    o->regs_block = capped((uint64_t)o->regs_warp * warps);
    o->shared_block = capped(allocated);
    o->shared_sm = shared_of_sm(a, q, allocated);

    o->limit[MG_LIMITER_BLOCKS] = a->max_blocks_sm;
    o->limit[MG_LIMITER_WARPS] = q->threads > a->max_threads_block ? 0 : a->max_warps_sm / warps;
    o->limit[MG_LIMITER_REGISTERS] = by_registers(a, warps, q->regs, a->partitions);
    if (a->partitions < 4 && by_registers(a, warps, q->regs, 4) == 0)
        o->limit[MG_LIMITER_REGISTERS] = 0;
    o->limit[MG_LIMITER_SHARED] = by_shared(a, q, shared);
    o->limit[MG_LIMITER_BARRIERS] = q->barriers && a->cc >= 90 ? a->barriers_sm / q->barriers : MG_NO_LIMIT;

    o->blocks = MG_NO_LIMIT;
    for (size_t i = 0; i < MG_COUNT(order); i++)
        if (o->limit[order[i]] < o->blocks) {
            o->blocks = o->limit[order[i]];
            o->binding = order[i];
        }
    o->warps = o->blocks * warps;
    if (o->warps == a->max_warps_sm) /* full: nothing else is to blame */
        o->binding = MG_LIMITER_WARPS;
    o->occupancy = (double)o->warps / a->max_warps_sm;
    /* Nsight Compute never shows more blocks by barriers than there are block slots. */
    if (o->limit[MG_LIMITER_BARRIERS] != MG_NO_LIMIT)
        o->limit[MG_LIMITER_BARRIERS] = MG_MIN(o->limit[MG_LIMITER_BARRIERS], a->max_blocks_sm);
    return MG_OK;
}

unsigned mg__arch_blocks_per_sm(const struct mg_arch *arch, unsigned threads, unsigned regs, unsigned shared)
{
    struct mg_occupancy_query q = mg_arch_query(threads, regs, shared, 0);
    struct mg_occupancy o;
    return mg_arch_occupancy(arch, &q, &o) == MG_OK ? o.blocks : 0;
}

static unsigned blocks_of(const struct mg_arch *a, const struct mg_occupancy_query *q)
{
    struct mg_occupancy o;
    return mg_arch_occupancy(a, q, &o) == MG_OK ? o.blocks : 0;
}

/* ---- the other way round: what may a block have? ---- */
/* The most static and dynamic shared memory together with which shared memory allows `blocks` blocks; false: not even
 * none. More memory never allows more blocks, so the answer can be halved for. */
static bool most_shared(const struct mg_arch *a, const struct mg_occupancy_query *q, unsigned blocks, uint32_t *most)
{
    uint32_t low = 0, high = a->shared_block_optin;
    if (by_shared(a, q, 0) < blocks)
        return false;
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        if (by_shared(a, q, middle) >= blocks)
            low = middle;
        else
            high = middle - 1;
    }
    *most = low;
    return true;
}

enum mg_status mg_arch_max_dynamic_shared(const struct mg_arch *a, const struct mg_occupancy_query *query,
                                          unsigned blocks, uint32_t *bytes)
{
    uint32_t most;
    if (!a || !query || !bytes || blocks == 0)
        return MG_ERR_INVALID;
    struct mg_occupancy_query q = *query;
    q.shared_dynamic = 0;
    struct mg_occupancy o;
    enum mg_status status = mg_arch_occupancy(a, &q, &o);
    if (status)
        return status;
    if (o.blocks < blocks || !most_shared(a, &q, blocks, &most) || most < q.shared_static)
        return MG_ERR_NOT_FOUND;
    *bytes = most - q.shared_static;
    return MG_OK;
}

enum mg_status mg_arch_max_regs(const struct mg_arch *a, const struct mg_occupancy_query *query, unsigned blocks,
                                unsigned *regs)
{
    if (!a || !query || !regs || blocks == 0 || query->threads == 0 || query->carveout < -1 || query->carveout > 100)
        return MG_ERR_INVALID;
    struct mg_occupancy_query q = *query;
    for (q.regs = a->max_regs_thread; q.regs; q.regs--)
        if (blocks_of(a, &q) >= blocks) {
            *regs = q.regs;
            return MG_OK;
        }
    return MG_ERR_NOT_FOUND;
}

static void step_threads(const struct mg_arch *a, const struct mg_occupancy_query *query,
                         struct mg_occupancy_step *step)
{
    struct mg_occupancy_query q = *query;
    for (q.threads = MG_MIN(query->threads - 1, a->max_threads_block) / a->warp_size * a->warp_size; q.threads;
         q.threads -= a->warp_size)
        if (blocks_of(a, &q) >= step->blocks) {
            step->by_threads = 1;
            step->threads = q.threads;
            return;
        }
}

static void step_larger(const struct mg_arch *a, const struct mg_occupancy_query *query, const struct mg_occupancy *now,
                        struct mg_occupancy_step *step)
{
    struct mg_occupancy_query q = *query;
    unsigned most = q.max_threads ? MG_MIN(q.max_threads, a->max_threads_block) : a->max_threads_block;
    struct mg_occupancy o;
    for (q.threads = (query->threads / a->warp_size + 1) * a->warp_size; q.threads <= most; q.threads += a->warp_size)
        if (mg_arch_occupancy(a, &q, &o) == MG_OK && o.warps > now->warps) {
            step->larger_threads = q.threads;
            step->larger_occupancy = o.occupancy;
            return;
        }
}

static void step_others(const struct mg_arch *a, const struct mg_occupancy_query *query, struct mg_occupancy_step *step)
{
    struct mg_occupancy_query q = *query;
    for (q.barriers = MG_MIN(query->barriers, a->barriers_sm + 1); q.barriers > 1 && !step->by_barriers;) {
        q.barriers--;
        step->by_barriers = q.barriers < query->barriers && blocks_of(a, &q) >= step->blocks;
        step->barriers = q.barriers;
    }
    q = *query;
    for (; q.carveout >= 0 && q.carveout < 100 && !step->by_carveout;) {
        q.carveout++;
        step->by_carveout = blocks_of(a, &q) >= step->blocks;
        step->carveout = q.carveout;
    }
    if (!step->by_barriers)
        step->barriers = 0;
    if (!step->by_carveout)
        step->carveout = 0;
}

enum mg_status mg_arch_next_step(const struct mg_arch *a, const struct mg_occupancy_query *query,
                                 struct mg_occupancy_step *step)
{
    struct mg_occupancy now;
    if (!step)
        return MG_ERR_INVALID;
    enum mg_status status = mg_arch_occupancy(a, query, &now);
    if (status)
        return status;
    memset(step, 0, sizeof(*step));
    uint64_t shared = (uint64_t)query->shared_static + query->shared_dynamic;
    uint32_t most = 0;
    unsigned regs = 0;
    step->blocks = now.blocks + 1;
    struct mg_occupancy_query q = *query;
    step_threads(a, query, step);
    /* With the other of the two out of the way, how far must each go down? */
    q.shared_static = q.shared_dynamic = 0;
    bool regs_can = query->regs && mg_arch_max_regs(a, &q, step->blocks, &regs) == MG_OK;
    bool shared_can = most_shared(a, query, step->blocks, &most);
    bool regs_must = query->regs && now.limit[MG_LIMITER_REGISTERS] < step->blocks;
    bool shared_must = now.limit[MG_LIMITER_SHARED] < step->blocks;
    q = *query;
    q.regs = regs_must && regs_can ? regs : query->regs;
    q.shared_static = 0;
    q.shared_dynamic = shared_must && shared_can ? most : capped(shared);
    if ((regs_must || shared_must) && blocks_of(a, &q) >= step->blocks) {
        step->by_regs = regs_must && !shared_must;
        step->by_shared = shared_must && !regs_must;
        step->by_both = regs_must && shared_must;
        if (step->by_regs)
            step->regs = regs;
        if (step->by_shared)
            step->shared = most;
        if (step->by_both) {
            step->both_regs = regs;
            step->both_shared = most;
        }
    }
    step_others(a, query, step);
    if (!step->by_threads && !step->by_regs && !step->by_shared && !step->by_both && !step->by_barriers &&
        !step->by_carveout)
        step->blocks = 0;
    step_larger(a, query, &now, step);
    return MG_OK;
}

enum mg_status mg_arch_best_threads(const struct mg_arch *a, const struct mg_occupancy_query *query,
                                    uint32_t (*shared)(unsigned threads, void *arg), void *arg, unsigned *threads,
                                    struct mg_occupancy *occupancy)
{
    if (!a || !query || !threads || query->carveout < -1 || query->carveout > 100)
        return MG_ERR_INVALID;
    struct mg_occupancy_query q = *query;
    struct mg_occupancy o, best;
    unsigned most = q.max_threads ? MG_MIN(q.max_threads, a->max_threads_block) : a->max_threads_block;
    uint64_t kept = 0;
    memset(&best, 0, sizeof(best));
    *threads = 0;
    for (unsigned top = (unsigned)round_up(most, a->warp_size); top; top -= a->warp_size) {
        q.threads = MG_MIN(top, most);
        if (shared)
            q.shared_dynamic = shared(q.threads, arg);
        if (mg_arch_occupancy(a, &q, &o) != MG_OK || (uint64_t)o.blocks * q.threads <= kept)
            continue;
        kept = (uint64_t)o.blocks * q.threads;
        *threads = q.threads;
        best = o;
    }
    if (occupancy)
        *occupancy = best;
    return kept ? MG_OK : MG_ERR_NOT_FOUND;
}
