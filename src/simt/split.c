/* split.c - how a warp diverges and meets again.
 *
 * A branch that sends active lanes two ways makes a join at its block's immediate post-dominator and a leaf for each
 * way. A leaf that reaches its join ends there; when all lanes that the join expects have come, they go on as one leaf.
 * Two shortcuts keep loops flat: a leaf whose join is already the branch's post-dominator needs no second one, and
 * lanes whose way starts at the join arrive at once.
 *
 * A branch that has an inner block (cfg.h) makes a join there, too, within the other one. Lanes that come to a block
 * out of its region are expected there no more.
 *
 * A call is a join as well: the lanes that make it meet at the instruction behind it. Only `ret` arrives there.
 *
 * Independent progress (CUDA promises it from compute capability 7.0 on): when the warp's turn is over, the leaf that
 * has not run for longest is next; and lanes that wait at a join are let go, for they may hold the lock that the others
 * want, soon where every leaf only polls, and after very many turns (MG_APART, turns.c) whatever the leaves do. That
 * ends their convergence, not the program's correctness. Where a leaf polls for what another block may do, as at a
 * grid's barrier, the other blocks have a turn first: a device keeps such lanes together as well.
 *
 * A slice is charged where loops and functions begin (mg__op_loop), and by polls. Compiled code charges the same, so
 * turns end at the same places under all engines, and what depends on the order of turns is the same as well.
 */
#include "simt/simt_priv.h"

#define MANY 64 /* slots of leaves; two for each lane */

static struct mg_split *current(struct mg_warp *w)
{
    return &w->splits.at[w->current];
}

void mg__warp_load(struct mg_warp *w)
{
    const struct mg_split *s = current(w);
    w->mask = s->mask;
    w->active = __builtin_popcount(s->mask);
    w->frame = s->frame;
    w->regs = s->frame->regs;
    /* A call's join is reached by `ret` alone: in a recursion its pc would be met too early. */
    w->join_pc = s->join >= 0 && !w->joins.at[s->join].call ? w->joins.at[s->join].pc : NULL;
}

static void set_mask(struct mg_warp *w, uint32_t mask)
{
    current(w)->mask = mask;
    w->mask = mask;
    w->active = __builtin_popcount(mask);
}

static const struct mg_op *out_of_memory(struct mg_warp *w, const struct mg_op *op)
{
    return mg__fault(w, op, 0, MG_ERR_NOMEM, "no host memory for a warp's state");
}

/* A slot for a leaf, behind all others: the one that runs is the last, those that it parted from come before it, and
 * where they meet they go on in its place. So arms are gone through as nested as they are, in compiled code as well
 * (gen_mask.c). Where very many slots are in use, one of a dead leaf. */
static struct mg_split *new_split(struct mg_warp *w)
{
    size_t n = w->splits.count;
    while (n > 0 && !w->splits.at[n - 1].mask && n - 1 != (size_t)w->current)
        n--;
    w->splits.count = n;
    for (size_t i = n >= MANY ? n : 0; i-- > 0;)
        if (w->splits.at[i].mask == 0 && i != (size_t)w->current) {
            memset(&w->splits.at[i], 0, sizeof w->splits.at[i]);
            return &w->splits.at[i];
        }
    if (!mg__vec_push(&w->splits, ((struct mg_split){0})))
        return NULL;
    return &w->splits.at[w->splits.count - 1];
}

static bool is_nested(const struct mg_warp *w, int32_t join)
{
    return join >= 0 && w->joins.at[join].nested && !w->joins.at[join].call;
}

bool mg__leaf_nested(const struct mg_warp *w)
{
    return is_nested(w, w->splits.at[w->current].join);
}

static int32_t new_join(struct mg_warp *w, const struct mg_op *pc, uint32_t level, uint32_t expected, int32_t parent)
{
    int32_t at = w->free_join;
    if (at >= 0) {
        w->free_join = w->joins.at[at].next_free;
    } else {
        if (!mg__vec_push(&w->joins, ((struct mg_join){0})))
            return -1;
        at = (int32_t)w->joins.count - 1;
    }
    w->joins.at[at] = (struct mg_join){.pc = pc,
                                       .frame = w->frame,
                                       .expected = expected,
                                       .nested = level || is_nested(w, parent),
                                       .level = level,
                                       .parent = parent,
                                       .next_free = -1,
                                       .live = true};
    return at;
}

static void free_join(struct mg_warp *w, int32_t at)
{
    struct mg_join *j = &w->joins.at[at];
    if (j->callee) {
        j->callee->next = w->worker->free_frames[j->callee->code->id];
        w->worker->free_frames[j->callee->code->id] = j->callee;
        j->callee = NULL;
    }
    j->live = false;
    j->next_free = w->free_join;
    w->free_join = at;
}

bool mg__warp_begin(struct mg_warp *w, uint32_t live)
{
    w->splits.count = 0;
    w->joins.count = 0;
    w->free_join = -1;
    w->live = live;
    w->nleaves = 1;
    w->current = 0;
    w->stop = MG_STOP_NONE;
    w->followed = w->worker->run->clock >= 0;
    w->choices = w->polls = w->apart = 0;
    struct mg_split first = {.pc = w->root->code->ops, .frame = w->root, .mask = live, .join = -1};
    if (!mg__vec_push(&w->splits, first))
        return false;
    mg__warp_load(w);
    return true;
}

/* The only leaf that is left is the first again, wherever its lanes met: compiled code leaves it so, too, and in which
 * order leaves run goes by their numbers. */
static void alone(struct mg_warp *w)
{
    size_t at = 0;
    while (at < w->splits.count && !w->splits.at[at].mask)
        at++;
    if (at == w->splits.count)
        return;
    w->splits.at[0] = w->splits.at[at];
    w->splits.count = 1;
    w->current = 0;
}

bool mg__warp_choose(struct mg_warp *w)
{
    if (w->nleaves == 1 && w->splits.count > 1)
        alone(w);
    if (w->splits.count == 1) { /* never diverged in this block */
        const struct mg_split *s = &w->splits.at[0];
        if (!s->mask || s->wait != MG_WAIT_NONE)
            return false;
        w->current = 0;
        mg__warp_load(w);
        return true;
    }
    int32_t n = (int32_t)w->splits.count, best = -1;
    bool turn_over = w->stop == MG_STOP_YIELD;
    for (int32_t i = n; i-- > 0 && (best < 0 || turn_over);) {
        const struct mg_split *s = &w->splits.at[i];
        if (s->mask && s->wait == MG_WAIT_NONE &&
            (best < 0 || (int32_t)(s->chosen - w->splits.at[best].chosen) <= 0)) /* 32 bits go round */
            best = i;
    }
    if (best < 0)
        return false;
    const struct mg_split chosen = w->splits.at[best];
    memmove(&w->splits.at[best], &w->splits.at[best + 1], (size_t)(n - 1 - best) * sizeof chosen);
    w->splits.at[n - 1] = chosen; /* what it parts into comes behind it, before others that wait for their turn */
    w->current = n - 1;
    current(w)->chosen = ++w->choices;
    mg__warp_load(w);
    return true;
}

/* The leaf that ran is dead or waits: another one, or the end of this warp's turn. */
const struct mg_op *mg__warp_next(struct mg_warp *w)
{
    if (w->nleaves == 0) {
        w->stop = MG_STOP_DONE;
        return NULL;
    }
    w->stop = MG_STOP_SWITCH;
    if (mg__warp_choose(w))
        return current(w)->pc;
    w->stop = MG_STOP_WAIT;
    return NULL;
}

static void come(const struct mg_warp *w, struct mg_join *j, uint32_t lanes)
{
    j->arrived |= lanes;
    j->since = w->choices;
}

bool mg__leaf_split(struct mg_warp *w, uint32_t stay, const struct mg_op *others)
{
    struct mg_split mine = *current(w);
    struct mg_split *slot = new_split(w);
    if (!slot)
        return false;
    current(w)->pc = others;
    current(w)->mask &= ~stay;
    *slot = mine;
    w->current = (int32_t)(slot - w->splits.at);
    w->nleaves++;
    set_mask(w, mine.mask & stay);
    return true;
}

void mg__leaf_stay(struct mg_warp *w, uint32_t stay)
{
    come(w, &w->joins.at[current(w)->join], w->mask & ~stay);
    set_mask(w, stay);
}

/* Whether the leaf's lanes meet there already: at its join, or, where that is of an inner block, at one around it. */
static bool meets(struct mg_warp *w, const struct mg_op *meet)
{
    int32_t at = current(w)->join;
    while (is_nested(w, at) && w->joins.at[at].level && w->joins.at[at].pc != meet)
        at = w->joins.at[at].parent;
    return at >= 0 && !w->joins.at[at].call && w->joins.at[at].pc == meet;
}

static bool join_at(struct mg_warp *w, const struct mg_op *pc, uint32_t level, uint32_t lanes)
{
    const int32_t at = new_join(w, pc, level, lanes, current(w)->join);
    if (at < 0)
        return false;
    current(w)->join = at;
    w->join_pc = pc;
    return true;
}

bool mg__leaf_part(struct mg_warp *w, const struct mg_meeting *at, uint32_t lanes, uint32_t stay,
                   const struct mg_op *others)
{
    if (at->meet && !meets(w, at->meet) && !join_at(w, at->meet, 0, lanes))
        return false;
    if (at->inner && at->inner != w->join_pc && !join_at(w, at->inner, at->level, lanes))
        return false;
    if (!w->join_pc || others != w->join_pc)
        return mg__leaf_split(w, stay, others);
    mg__leaf_stay(w, stay);
    return true;
}

/* All have come: the leaf as which they go on. */
static struct mg_split met(struct mg_warp *w, int32_t at)
{
    const struct mg_join *j = &w->joins.at[at];
    const struct mg_split leaf = {
        .pc = j->pc, .frame = j->frame, .mask = j->arrived, .join = j->parent, .chosen = w->choices};
    w->nleaves++;
    free_join(w, at);
    return leaf;
}

/* … in place of the current one, which was the last and is dead. */
static void complete(struct mg_warp *w, int32_t at)
{
    *current(w) = met(w, at);
}

/* The leaf's lanes begin a block out of regions that they were in, or at which they meet: what waits for them within
 * does so no more. False: no memory. */
static bool leave(struct mg_warp *w, const struct mg_op *block)
{
    int32_t at = current(w)->join, end = at;
    for (int32_t k = at; is_nested(w, k); k = w->joins.at[k].parent)
        if (w->joins.at[k].level && w->joins.at[k].pc == block)
            end = k;
        else if (block->a >= 0 && w->joins.at[k].level > (uint32_t)block->a)
            end = w->joins.at[k].parent;
    while (at != end) {
        struct mg_join *j = &w->joins.at[at];
        const int32_t parent = j->parent;
        j->expected &= ~w->mask;
        if (j->expected == j->arrived && !j->arrived) {
            free_join(w, at);
        } else if (j->expected == j->arrived) { /* those that it waited for go on after this leaf, which comes last */
            struct mg_split *slot = new_split(w);
            if (!slot)
                return false;
            *slot = *current(w);
            *current(w) = met(w, at);
            w->current = (int32_t)(slot - w->splits.at);
        }
        at = parent;
    }
    current(w)->join = end;
    mg__warp_load(w);
    return true;
}

const struct mg_op *mg__leaf_arrive(struct mg_warp *w, uint32_t mask)
{
    struct mg_split *s = current(w);
    int32_t at = s->join;
    struct mg_join *j = &w->joins.at[at];
    come(w, j, mask);
    s->mask = 0;
    w->nleaves--;
    if (j->arrived == j->expected)
        complete(w, at);
    return mg__warp_next(w);
}

/* After lanes have left for good: leaves that waited for them at a barrier or a warp-level operation may go on. */
static void lanes_left(struct mg_warp *w)
{
    for (unsigned b = 0; b < MG_COUNT(w->block->barriers); b++)
        if (w->block->barriers[b].arrived)
            mg__barrier_check(w->block, b);
    for (size_t i = 0; i < w->splits.count; i++)
        if (w->splits.at[i].mask && w->splits.at[i].wait == MG_WAIT_WARP) {
            /* it looks again at who must come */
            w->splits.at[i].wait = MG_WAIT_NONE;
        }
}

MG_HANDLER(mg__tell_exit)
{
    if (mg__wants_sync(w)) {
        mg__sync_event(w, op, MG_SYNC_EXIT, mask);
        mg__sync_emit(w->worker);
    }
    return op + 1;
}

void mg__leaf_exit(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    struct mg_split *s = current(w);
    mg__tell_exit(w, op, mask);
    w->live &= ~mask;
    w->block->live_threads -= (uint32_t)__builtin_popcount(mask);
    for (int32_t at = s->join; at >= 0; at = w->joins.at[at].parent)
        w->joins.at[at].expected &= ~mask;
    if (s->mask == mask) {
        int32_t at = s->join;
        s->mask = 0;
        w->nleaves--;
        while (at >= 0 && w->joins.at[at].expected == w->joins.at[at].arrived) {
            int32_t parent = w->joins.at[at].parent;
            if (w->joins.at[at].arrived) {
                complete(w, at);
                break;
            }
            free_join(w, at);
            at = parent;
        }
    } else {
        set_mask(w, s->mask & ~mask);
    }
    if (w->block->live_threads)
        lanes_left(w);
    mg__cluster_check(w->block->cluster);
}

/* The join whose lanes are let go next; NULL: none wait. */
static struct mg_join *waiting(struct mg_warp *w)
{
    for (size_t i = w->joins.count; i-- > 0;)
        if (w->joins.at[i].live && w->joins.at[i].arrived)
            return &w->joins.at[i];
    return NULL;
}

bool mg__warp_rested(struct mg_warp *w)
{
    const struct mg_join *j = waiting(w);
    return !j || j->rested;
}

void mg__warp_rest(struct mg_warp *w)
{
    for (size_t i = 0; w->nleaves && i < w->joins.count; i++)
        w->joins.at[i].rested |= w->joins.at[i].arrived != 0;
}

bool mg__warp_release(struct mg_warp *w, bool polled)
{
    struct mg_join *j = waiting(w);
    struct mg_split *s = j ? new_split(w) : NULL;
    if (!s)
        return false;
    if (mg__wants_sync(w)) {
        mg__sync_event(w, j->pc, MG_SYNC_RELEASE, j->arrived)->arrive = polled;
        mg__sync_emit(w->worker);
    }
    *s = (struct mg_split){
        .pc = j->pc, .frame = j->frame, .mask = j->arrived, .join = j->parent, .chosen = w->choices};
    w->nleaves++;
    w->worker->waits |= MG_WAITED_APART;
    j->expected &= ~j->arrived;
    j->arrived = 0;
    return true;
}

/* ---- handlers ---- */
static inline void count(struct mg_warp *w, const struct mg_op *op)
{
    struct mg_insn_counts *c = &w->counts[op->mode];
    c->warps++;
    c->threads += (uint64_t)w->active;
}

MG_HANDLER(mg__op_block)
{
    if (MG_UNLIKELY(w->interpreted) && mg__engine_back(w, op, mask))
        return NULL;
    count(w, op);
    return w->has_some ? mg__engine_some(w, op, mask) : op + 1;
}

/* Where lanes may meet, or come out of regions; false: they go on. */
static inline bool comes(struct mg_warp *w, const struct mg_op *op, uint32_t mask, const struct mg_op **next)
{
    if ((op->a >= 0 || op->b == 1) && mg__leaf_nested(w) && !leave(w, op)) {
        *next = out_of_memory(w, op);
        return true;
    }
    if (op != w->join_pc)
        return false;
    *next = mg__leaf_arrive(w, mask);
    return true;
}

MG_HANDLER(mg__op_block_join)
{
    const struct mg_op *next;
    return comes(w, op, mask, &next) ? next : mg__op_block(w, op, mask);
}

MG_HANDLER(mg__op_loop)
{
    if (MG_UNLIKELY(w->interpreted) && mg__engine_back(w, op, mask)) /* it charges for itself */
        return NULL;
    if (MG_UNLIKELY(--w->e.slice < 0) && !mg__slice_over(w)) {
        current(w)->pc = op;
        return NULL;
    }
    count(w, op);
    return w->has_some ? mg__engine_some(w, op, mask) : op + 1;
}

MG_HANDLER(mg__op_loop_join)
{
    const struct mg_op *next;
    return comes(w, op, mask, &next) ? next : mg__op_loop(w, op, mask);
}

/* Stands before an instruction with a guard. */
MG_HANDLER(mg__op_guard)
{
    mask &= mg__pred(w, op->guard) ^ op->invert;
    return mask ? op[1].fn(w, op + 1, mask) : op + 2;
}

MG_HANDLER(mg__op_jump)
{
    (void)w;
    (void)mask;
    return op->u.target;
}

static struct mg_meeting meeting(const struct mg_warp *w, const struct mg_op *op)
{
    const struct mg_op *ops = w->frame->code->ops;
    return (struct mg_meeting){op->d2 >= 0 ? &ops[op->d2] : NULL, op->e >= 0 ? &ops[op->e] : NULL, (uint32_t)op->c};
}

MG_HANDLER(mg__op_bra)
{
    uint32_t taken = mask & (mg__pred(w, op->guard) ^ op->invert);
    if (taken == mask)
        return op->u.target;
    if (!taken)
        return op + 1;
    w->worker->by_insn[op->insn].divergent++;
    const struct mg_meeting at = meeting(w, op);
    bool onward = at.meet == op + 1 || at.inner == op + 1; /* those that fall through are there */
    uint32_t stay = onward ? taken : mask & ~taken;
    if (!mg__leaf_part(w, &at, mask, stay, onward ? op + 1 : op->u.target))
        return out_of_memory(w, op);
    return onward ? op->u.target : op + 1;
}

/* brx.idx: the lanes that go where the first one goes, and the others come back here. */
MG_HANDLER(mg__op_brx)
{
    const uint32_t *index = mg__slot(w, op->a);
    const struct mg_switch *table = op->u.table;
    uint32_t first = index[__builtin_ctz(mask)], same = 0;
    for (unsigned i = 0; i < 32; i++)
        same |= (uint32_t)(index[i] == first) << i;
    same &= mask;
    if (first >= table->count)
        return mg__fault(w, op, (uint32_t)__builtin_ctz(mask), MG_ERR_TRAP,
                         "brx.idx takes entry %u of a table of %zu targets", first, table->count);
    const struct mg_op *target = table->targets[first];
    if (same == mask)
        return target;
    w->worker->by_insn[op->insn].divergent++;
    const struct mg_meeting at = meeting(w, op);
    if (!mg__leaf_part(w, &at, mask, same, op))
        return out_of_memory(w, op);
    return target;
}

struct mg_frame *mg__frame_new(struct mg_worker *worker, const struct mg_code *code)
{
    struct mg_frame *f = worker->free_frames[code->id];
    if (f) {
        worker->free_frames[code->id] = f->next;
        return f;
    }
    size_t header = (sizeof *f + 63) / 64 * 64, regs = mg__rows_at(code);
    size_t total = (header + regs + (size_t)code->param_bytes * 32 + 63) / 64 * 64;
    f = aligned_alloc(64, total);
    if (!f)
        return NULL;
    memset(f, 0, total);
    f->code = code;
    f->regs = (uint8_t *)f + header;
    f->params = f->regs + regs;
    memcpy(f->regs + code->pool_at, code->pool, code->pool_bytes);
    return f;
}

static void copy_params(const struct mg_frame *to, const uint32_t *to_at, const struct mg_frame *from,
                        const uint32_t *from_at, const uint32_t *sizes, uint32_t n, uint32_t mask)
{
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t at = 0; at < sizes[k]; at += 4)
            mg__lanes_copy(mg__param_row(to, to_at[k] + at), mg__param_row(from, from_at[k] + at), mask);
}

static const struct mg_op *enter(struct mg_warp *w, const struct mg_op *op, uint32_t mask, const struct mg_code *callee)
{
    const struct mg_callsite *site = op->u.call;
    if (callee->nformal != site->nargs || callee->nret != site->nrets)
        return mg__fault(w, op, (uint32_t)__builtin_ctz(mask), MG_ERR_TRAP,
                         "call of %s with %u arguments and %u results; it has %u and %u", callee->func->name,
                         site->nargs, site->nrets, callee->nformal, callee->nret);
    for (uint32_t k = 0; k < site->nargs; k++)
        if (site->arg_sizes[k] != callee->formal_sizes[k])
            return mg__fault(w, op, (uint32_t)__builtin_ctz(mask), MG_ERR_TRAP,
                             "call of %s: argument %u has %u bytes, the parameter %u", callee->func->name, k,
                             site->arg_sizes[k], callee->formal_sizes[k]);
    for (uint32_t k = 0; k < site->nrets; k++)
        if (site->ret_sizes[k] != callee->ret_sizes[k])
            return mg__fault(w, op, (uint32_t)__builtin_ctz(mask), MG_ERR_TRAP,
                             "call of %s: its result has another size than the call expects", callee->func->name);
    struct mg_frame *frame = mg__frame_new(w->worker, callee);
    if (!frame)
        return out_of_memory(w, op);
    frame->local_base = (w->frame->local_top + 15) & ~15u;
    /* One that calls has room for what it saves (stack.c), so that endless recursion ends. */
    frame->local_top = frame->local_base + callee->stack_bytes;
    if (frame->local_top > w->worker->run->stack_bytes) {
        frame->next = w->worker->free_frames[callee->id];
        w->worker->free_frames[callee->id] = frame;
        mg__fault(w, op, (uint32_t)__builtin_ctz(mask), MG_ERR_ADDRESS,
                  "the thread's stack is full in the call of %s: it has %u bytes", callee->func->name,
                  w->worker->run->stack_bytes);
        mg__fault_hint(w, "The recursion is too deep, or its locals too large, for the stack of a thread: "
                          "cudaDeviceSetLimit(cudaLimitStackSize, ...) makes it larger.");
        return NULL;
    }
    copy_params(frame, callee->formal, w->frame, site->args, site->arg_sizes, site->nargs, mask);
    int32_t at = new_join(w, op + 1, 0, mask, current(w)->join);
    if (at < 0)
        return out_of_memory(w, op);
    w->joins.at[at].callee = frame;
    w->joins.at[at].call = site;
    struct mg_split *s = current(w);
    uint32_t rest = s->mask & ~mask;
    if (rest) {
        /* A guarded or indirect call: the other lanes run by themselves and meet the callers behind the call, or make
         * their own call first. */
        const struct mg_op *others = op->a >= 0 ? op : op + 1; /* indirect: back here */
        int32_t meet = new_join(w, op + 1, 0, s->mask, s->join);
        if (meet < 0)
            return out_of_memory(w, op);
        w->joins.at[at].parent = meet;
        s->join = meet;
        if (!mg__leaf_split(w, mask, others))
            return out_of_memory(w, op);
        s = current(w);
    }
    s->mask = mask;
    s->frame = frame;
    s->join = at;
    s->pc = callee->ops;
    mg__warp_load(w);
    return callee->ops;
}

MG_HANDLER(mg__op_call)
{
    const struct mg_callsite *site = op->u.call;
    if (op->guard >= 0) {
        mask &= mg__pred(w, op->guard) ^ op->invert;
        if (!mask)
            return op + 1;
    }
    if (site->system)
        return mg__system_call(w, op, mask);
    if (site->callee)
        return enter(w, op, mask, site->callee);
    /* Indirect: the lanes that call what the first one calls; the others come back. */
    const uint64_t *targets = mg__slot(w, op->a);
    unsigned first = (unsigned)__builtin_ctz(mask);
    uint64_t address = targets[first];
    uint32_t same = 0;
    for (unsigned i = 0; i < 32; i++)
        same |= (uint32_t)(targets[i] == address) << i;
    const struct mg_program *program = w->worker->run->program;
    uint64_t id = (address - w->worker->run->simt->func_window) / 16;
    for (uint32_t k = 0; k < program->ncodes; k++)
        if (address % 16 == 0 && program->codes[k]->func->id == id)
            return enter(w, op, mask & same, program->codes[k]);
    return mg__fault(w, op, first, MG_ERR_ADDRESS, "indirect call to 0x%llx, which is no function",
                     (unsigned long long)address);
}

MG_HANDLER(mg__op_ret)
{
    if (op->guard >= 0) {
        mask &= mg__pred(w, op->guard) ^ op->invert;
        if (!mask)
            return op + 1;
    }
    int32_t at = current(w)->join;
    while (at >= 0 && !w->joins.at[at].call)
        at = w->joins.at[at].parent;
    if (at < 0)
        return mg__op_exit(w, op, mask); /* the kernel itself */
    struct mg_join *j = &w->joins.at[at];
    copy_params(j->frame, j->call->rets, w->frame, w->frame->code->ret, j->call->ret_sizes, j->call->nrets, mask);
    /* Joins between here and the call lose these lanes, as in an exit. */
    struct mg_split *s = current(w);
    uint32_t rest = s->mask & ~mask;
    int32_t inner = s->join;
    for (int32_t k = inner; k != at; k = w->joins.at[k].parent)
        w->joins.at[k].expected &= ~mask;
    come(w, j, mask);
    if (rest) {
        set_mask(w, rest);
        return op + 1;
    }
    s->mask = 0;
    w->nleaves--;
    while (inner != at && w->joins.at[inner].expected == w->joins.at[inner].arrived) {
        int32_t parent = w->joins.at[inner].parent;
        if (w->joins.at[inner].arrived) {
            complete(w, inner);
            return mg__warp_next(w);
        }
        free_join(w, inner);
        inner = parent;
    }
    if (inner == at && j->arrived == j->expected)
        complete(w, at);
    return mg__warp_next(w);
}

MG_HANDLER(mg__op_exit)
{
    if (op->is->id == MG_DO_EXIT && op->guard >= 0) {
        mask &= mg__pred(w, op->guard) ^ op->invert;
        if (!mask)
            return op + 1;
    }
    bool all = mask == w->mask;
    mg__leaf_exit(w, op, mask);
    if (w->stop == MG_STOP_FAULT)
        return NULL;
    return all ? mg__warp_next(w) : op + 1;
}

/* Cooperative groups look in an environment register for the grid's barrier, and trap where there is none. */
static bool has_grid(const struct mg_program *p)
{
    for (uint32_t k = 0; k < p->ninsns; k++)
        for (uint32_t n = 0; n < p->insns[k].insn->nops; n++) {
            const struct mg_ptx_opnd *o = mg__ptx_op(p->insns[k].func, p->insns[k].insn, n);
            if (o->kind == MG_OPND_SREG && o->index == MG_SR_ENVREG)
                return true;
        }
    return false;
}

MG_HANDLER(mg__op_trap)
{
    if (op->guard >= 0) {
        mask &= mg__pred(w, op->guard) ^ op->invert;
        if (!mask)
            return op + 1;
    }
    mg__fault(w, op, (uint32_t)__builtin_ctz(mask), MG_ERR_TRAP, "the kernel executed %s",
              w->worker->run->program->insns[op->insn].insn->text);
    mg__fault_hint(w, !w->worker->run->asked.cooperative && has_grid(w->worker->run->program)
                          ? "The kernel has a grid group, whose grid.sync() needs a cooperative launch: "
                            "cudaLaunchCooperativeKernel, not <<<>>>."
                          : "A __trap(), or code that the compiler proved unreachable, was reached.");
    return NULL;
}
