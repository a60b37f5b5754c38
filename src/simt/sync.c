/* sync.c - barriers of a block, fences, asynchronous copies.
 *
 * A barrier counts threads, not warps, as it does from compute capability 7.0 on (PTX ISA, "barrier"). Lanes that have
 * exited, or that the last warp of the block never had, count as arrived with their warp. Where all threads of a block
 * have met, they go on in the order of warps, the last to come as well. Copies of cp.async are made
 * when they are issued, which is one of the orders that the ISA allows.
 */
#include "simt/simt_priv.h"

/* Opens the barrier if all have come. */
void mg__barrier_check(struct mg_block *block, unsigned index)
{
    struct mg_barrier *b = &block->barriers[index];
    uint32_t need = block->live_threads;
    bool all = b->expected == 0;
    if (b->expected) {
        need = b->expected;
        for (uint32_t rest = b->warps; rest; rest &= rest - 1) {
            const struct mg_warp *w = &block->warps[__builtin_ctz(rest)];
            uint32_t gone = (uint32_t)__builtin_popcount(~(w->live | b->lanes[w->index]));
            need = need > gone ? need - gone : 0;
        }
    }
    if (b->arrived < need)
        return;
    if (mg__wants_sync(&block->warps[0]))
        mg__tell_open(block, index, b->arrived);
    for (uint32_t k = 0; k < block->nwarps; k++) {
        struct mg_warp *w = &block->warps[k];
        for (size_t i = 0; i < w->splits.count; i++) {
            struct mg_split *s = &w->splits.at[i];
            if (!s->mask || s->wait != MG_WAIT_BARRIER || s->barrier != index)
                continue;
            s->wait = MG_WAIT_NONE;
            s->resumed = true;
            uint32_t boolop = s->pc->mode >> 8;
            s->result = boolop == MG_BOOL_POPC ? b->count : boolop == MG_BOOL_AND ? !b->all_false : b->any;
        }
    }
    memset(b, 0, sizeof *b);
    block->opened |= all;
}

/* What PTX does not allow an H200 takes for something else, without a word: of a barrier's number the lower 4 bits, of
 * a number of threads the lower 12, none for all of the block. False: it stops there, too. */
static bool lets_pass(struct mg_warp *w, const struct mg_op *op, unsigned lane, uint32_t *id, uint32_t *expected)
{
    uint32_t taken = *id % MG_COUNT(w->block->barriers), count = *expected & 0xfff;
    struct mg_diag *warning = NULL;
    if (!w->worker->run->lets_pass || count % 32)
        return false;
    if (taken != *id)
        warning = mg__warn(w, op, lane, "barrier %u: a block has %zu", *id, MG_COUNT(w->block->barriers));
    else
        warning = mg__warn(w, op, lane, "a barrier for %u threads: the number must be a multiple of 32 up to 1024",
                           *expected);
    if (warning && count)
        mg__diag_hint(warning, "A GPU takes it for barrier %u, for %u threads; --strict stops here.", taken, count);
    else if (warning)
        mg__diag_hint(warning, "A GPU takes it for barrier %u, for all threads of the block; --strict stops here.",
                      taken);
    *id = taken;
    *expected = count;
    return true;
}

/* Lanes arrive at the barrier, of all of the block or of `count` threads. */
static void tell_come(struct mg_warp *w, const struct mg_op *op, uint32_t mask, uint32_t id, uint32_t count, bool wrong)
{
    if (!mg__wants_sync(w))
        return;
    struct mg_sync *e = mg__sync_event(w, op, MG_SYNC_BARRIER, mask);
    e->barrier = id;
    e->count = count;
    e->arrive = (op->mode & 0xff) == MG_SUB_ARRIVE;
    e->wrong = wrong;
    mg__sync_emit(w->worker);
}

MG_HANDLER(mg__tell_bar)
{
    struct mg_block *b = w->block;
    if (w->told)
        return op + 1;
    w->told = true;
    if (!w->worker->calls.quiet || (b->nuntold && b->untold_at != op)) {
        tell_come(w, op, mask, mg__lane32(w, op->a, 0), 0, false);
        return op + 1;
    }
    b->untold_at = op;
    b->untold[b->nuntold++] = (uint8_t)w->index;
    return op + 1;
}

void mg__tell_untold(struct mg_block *b)
{
    const uint32_t n = b->nuntold, id = mg__lane32(&b->warps[0], b->untold_at->a, 0);
    b->nuntold = 0;
    for (uint32_t k = 0; k < n; k++)
        tell_come(&b->warps[b->untold[k]], b->untold_at, b->warps[b->untold[k]].live, id, 0, false);
}

bool mg__tell_met(struct mg_block *b, const struct mg_op *at)
{
    struct mg_worker *worker = b->warps[0].worker;
    const struct mg_run *run = worker->run;
    const bool all = b->nuntold ? b->nuntold == b->nwarps && b->untold_at == at : b->live_warps == b->nwarps;
    if (!worker->calls.quiet || !all ||
        !run->observers[run->sole].met(worker->observers[run->sole], b->linear, mg__lane32(&b->warps[0], at->a, 0)))
        return false;
    b->nuntold = 0;
    worker->met = NULL;
    return true;
}

void mg__tell_open(struct mg_block *block, uint32_t id, uint32_t threads)
{
    struct mg_sync *e = mg__sync_event(&block->warps[0], NULL, MG_SYNC_BARRIER_OPEN, 0);
    e->barrier = id;
    e->count = threads;
    mg__sync_emit(block->warps[0].worker);
}

MG_HANDLER(mg__op_bar)
{
    struct mg_split *s = &w->splits.at[w->current];
    unsigned sub = op->mode & 0xff, boolop = op->mode >> 8;
    if (s->resumed) {
        s->resumed = false;
        if (sub == MG_SUB_RED && boolop == MG_BOOL_POPC) {
            uint32_t *d = mg__slot(w, op->d);
            for (uint32_t rest = s->mask; rest; rest &= rest - 1)
                d[__builtin_ctz(rest)] = s->result;
        } else if (sub == MG_SUB_RED) {
            mg__pred_set(w, op->d, s->result ? ~0u : 0, s->mask);
        }
        return w->has_some ? mg__engine_behind(w, op, mask) : op + 1;
    }
    if (MG_UNLIKELY(w->interpreted) &&
        mg__engine_back(w, op, mask)) { /* compiled code waits here, and goes on behind it */
        mg__tell_bar(w, op, mask);
        return NULL;
    }
    unsigned first = (unsigned)__builtin_ctz(mask);
    uint32_t id = mg__lane32(w, op->a, first), expected = op->b >= 0 ? mg__lane32(w, op->b, first) : 0;
    bool none = id >= MG_COUNT(w->block->barriers),
         odd = op->b >= 0 && (expected == 0 || expected % 32 || expected > 1024);
    if (!w->told)
        tell_come(w, op, mask, id, expected, none || odd);
    w->told = false;
    if ((none || odd) && lets_pass(w, op, first, &id, &expected))
        none = odd = false;
    if (none)
        return mg__fault(w, op, first, MG_ERR_TRAP, "barrier %u: a block has %zu", id, MG_COUNT(w->block->barriers));
    if (odd)
        return mg__fault(w, op, first, MG_ERR_TRAP,
                         "a barrier for %u threads: the number must be a multiple of 32 up to 1024", expected);
    struct mg_barrier *b = &w->block->barriers[id];
    if (b->arrived && b->expected != expected) {
        mg__fault(w, op, first, MG_ERR_TRAP, "barrier %u is used with %u threads here and with %u elsewhere", id,
                  expected, b->expected);
        mg__fault_hint(w, "All that meet at a barrier must name the same number of threads.");
        return NULL;
    }
    if (mask != s->mask) { /* under a guard: the others go on */
        if (!mg__leaf_split(w, mask, op + 1))
            return mg__fault(w, op, first, MG_ERR_NOMEM, "no host memory for a warp's state");
        s = &w->splits.at[w->current];
    }
    b->expected = expected;
    b->arrived += (uint32_t)__builtin_popcount(mask);
    b->warps |= 1u << w->index;
    b->lanes[w->index] |= mask;
    if (sub == MG_SUB_RED) {
        uint32_t p = mg__pred(w, op->c);
        b->any |= (p & mask) != 0;
        b->all_false |= (~p & mask) != 0;
        b->count += (uint32_t)__builtin_popcount(p & mask);
    }
    s->pc = op;
    if (sub == MG_SUB_ARRIVE) {
        mg__barrier_check(w->block, id);
        return op + 1;
    }
    s->wait = MG_WAIT_BARRIER;
    s->barrier = (uint8_t)id;
    mg__barrier_check(w->block, id);
    if (s->wait != MG_WAIT_NONE)
        return mg__warp_next(w);
    if (!w->block->opened)
        return op;
    w->stop = MG_STOP_WAIT; /* all waited, and go on in the order of warps, as compiled code does */
    return NULL;
}

MG_HANDLER(mg__op_fence)
{
    if (mg__wants_sync(w)) {
        mg__sync_event(w, op, MG_SYNC_FENCE, mask);
        mg__sync_emit(w->worker);
    }
    atomic_thread_fence(memory_order_seq_cst);
    return op + 1;
}

/* How many registers a thread may use changes nothing of what it computes: observers alone are told. */
MG_HANDLER(mg__op_setmaxnreg)
{
    if (mg__wants_sync(w)) {
        struct mg_sync *e = mg__sync_event(w, op, MG_SYNC_REGISTERS, mask);
        e->arrive = op->mode;
        e->count = (uint32_t)op->u.imm;
        mg__sync_emit(w->worker);
    }
    return op + 1;
}

/* cp.async.commit_group and the waits. Copies are made at once, so every wait is over when it begins. */
MG_HANDLER(mg__op_cp_group)
{
    if (mg__wants_sync(w)) {
        struct mg_sync *e = mg__sync_event(w, op, op->mode ? MG_SYNC_COPY_WAIT : MG_SYNC_COPY_COMMIT, mask);
        e->count = (uint32_t)op->u.imm;
        mg__sync_emit(w->worker);
    }
    return op + 1;
}

/* u.mem[0] is the shared destination, u.mem[1] the global source; a: bytes to read (the rest is zero), or with
 * mem[0].sext a predicate that says to read nothing. */
MG_NO_TSAN MG_HANDLER(mg__op_cp_async)
{
    const struct mg_mem *mem = op->u.mem;
    uint64_t to[32], from[32];
    uint8_t *dst[32], *src[32];
    uint32_t bytes = mem->width * mem->vec, reads = 0, size[32];
    mg__address(w, &mem[0], to);
    mg__address(w, &mem[1], from);
    const bool whole = op->a < 0;
    for (unsigned i = 0; i < 32 && !whole; i++) {
        size[i] = mem[0].sext ? (mg__pred(w, op->a) >> i & 1 ? 0 : bytes) : MG_MIN(mg__lane32(w, op->a, i), bytes);
        reads |= (uint32_t)(size[i] != 0) << i;
    }
    reads |= whole ? mask : 0;
    struct mg_op part = *op;
    part.u.mem = &mem[1];
    w->worker->other_side = to;
    bool good = !(reads & mask) || mg__access_slow(w, &part, reads & mask, from, src);
    part.u.mem = &mem[0];
    w->worker->other_side = from;
    good = good && mg__access_slow(w, &part, mask, to, dst);
    w->worker->other_side = NULL;
    if (!good)
        return NULL;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        uint8_t value[16] = {0};
        if (whole && bytes == 16) {
            memcpy(dst[i], src[i], 16);
        } else if (whole && bytes == 8) {
            memcpy(dst[i], src[i], 8);
        } else if (whole && bytes == 4) {
            memcpy(dst[i], src[i], 4);
        } else {
            if (whole || size[i])
                memcpy(value, src[i], whole ? bytes : size[i]);
            memcpy(dst[i], value, bytes);
        }
    }
    return op + 1;
}
