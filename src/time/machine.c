/* machine.c - one multiprocessor at work: the warps of its blocks, four schedulers, pipes, caches, and its share of
 * what all multiprocessors use.
 *
 * A warp is issued its instructions in order, each when its operands are there, its scheduler and its pipe are free;
 * of several warps the one that can go first goes first. What is used by one at a time (a scheduler, a pipe, the path
 * to shared memory, the way to the second cache, the share of device memory) is a clock that says until when it is
 * taken. Loads come after the latency of the place that has them, and after their turn there. Where an access goes is
 * dealt out by what sample.c found of its instruction: of ten requests of which three miss, each third or fourth does.
 *
 * Every block of one multiprocessor is gone through: about one in 132 of the grid's. What a warp waits for is added up
 * by reason, and the launch's time divided in proportion.
 *
 * Left out: pages of device memory, the two halves of the second cache, instruction fetch but for a launch's first,
 * register banks.
 */
#include "time/ready.h"
#include "time/time_priv.h"

#include <math.h>

enum {
    STACK = 64,
    CALLS = 16,
    SCHEDULERS = 4,
    NEAR = 64,
    SAMPLE = 32 /* cycles */,
    FILLS = 8,
    COLD_FROM = 16,
    COPIES = 16,
    REFUSALS = 100000 /* beyond: who holds the lock waits for who wants it, which was otherwise in the launch */
};
#define QUEUE 64 /* at least QUEUED */
#ifndef MG_TIME_OPS /* most of a launch, what is left then goes on at the same pace; fewer for the fuzzer */
#define MG_TIME_OPS 6000000u
#endif

struct pending {
    uint32_t other, meet; /* the other way, UINT32_MAX: taken; where both meet */
};
struct value { /* in a register, or what a scoreboard tells of */
    double ready;
    uint8_t why, stall; /* enum mg_time_part, enum mg_time_stall */
    float queued;       /* of the time until then: its instruction, `by`, had to wait for a place in the queue */
    uint32_t by;
};
struct warp {
    double order;              /* when it can be issued its next instruction, as far as the one before goes */
    double at;                 /* when that is looked at */
    uint32_t block, next, end; /* of the code */
    uint32_t slot, scheduler;
    uint32_t nstack, ncalls;
    bool done, waits;
    bool looked;          /* it was looked at, and `operand` found */
    struct value operand; /* of its next instruction */
    uint64_t executed;
    double stored;      /* when its stores have arrived */
    struct value store; /* its latest one: how long it was queued */
    double copied;      /* when its copies of this group have come, … */
    uint32_t ngroups;
    /* what comes from here on few of its instructions need */
    struct value scoreboard[MG_TIME_SCOREBOARDS];
    double group[COPIES]; /* … and those of groups before */
    struct pending stack[STACK];
    struct {
        uint32_t block, next, end;
    } calls[CALLS];
};
struct slot {      /* a resident block */
    uint32_t wave; /* the how manieth block in this slot */
    unsigned live, waiting;
    double latest;
    double swaps; /* of its shared memory, compare-and-swaps at one place */
};
struct round {        /* of a warp in a loop that has several exits */
    float left, pick; /* rounds; which exit it takes */
    bool in;
};
struct fill { /* of a load that several warps make at the same time round: when its data come */
    uint32_t wave, turn;
    double ready;
};
struct queue { /* of accesses: when the last ones left it, in turn */
    double left[QUEUE];
    uint32_t n;
};
struct machine {
    const struct mg_time_machine *m;
    uint32_t *times;    /* by warp and instruction: how often it was there */
    struct fill *fills; /* by instruction, FILLS times round */
    struct warp *warps;
    struct slot *slots;
    struct value *values;         /* by warp and register */
    float *turns;                 /* by warp and block of the code */
    struct round *rounds;         /* likewise; NULL: no loop has several exits */
    float *shared_turns;          /* by block, for all warps */
    float *miss, *fetched, *made; /* by instruction: dealt out so far */
    float *parts;                 /* by warp and op, of code that was changed: dealt out so far; NULL: none is */
    double *code;                 /* by block of the code: when it is in the instruction cache; 0: nobody asked */
    struct mg_ready ready;        /* the warps that could go on */
    uint32_t nwarps;
    double free_at[SCHEDULERS], pipe[SCHEDULERS][MG_PIPES];
    struct warp *holder;       /* of the lock, … */
    double taken, given;       /* … since when; when it can be taken again */
    double shared[SCHEDULERS]; /* the way from each to shared memory */
    struct queue near[SCHEDULERS], far[SCHEDULERS]; /* of accesses to shared memory, and to global memory */
    double lsu, constants, l2, dram, atomic, starts, end;
    double from_host, to_host;                    /* the link, each way */
    double link_latency, link_request, link_rate; /* cycles; bytes a cycle, of this multiprocessor's part of it */
    bool cold;
    double clock; /* cycles a second */
    double fence; /* cycles */
    double l2_rate, dram_rate, atomic_rate;
    double waited[MG_TIME_PARTS];
    double dram_bytes;
    uint64_t begun, own, executed, refused; /* refused: by a lock, since the last op */
    double active;
    double queued; /* by the access at hand, for a place in the queue */
};

/* ---- what warps wait for ---- */
static void wait_part(struct machine *x, const struct mg_time_op *op, double cycles, enum mg_time_part part,
                      enum mg_time_stall stall)
{
    if (cycles <= 0)
        return;
    x->waited[part] += cycles;
    x->m->stalled[op->insn][stall] += cycles;
}

/* The same of a wait for a value. The model lets an access be issued although many are before it, and what needs its
 * result waits for all of them; a multiprocessor's queue is short, and the access itself waits for a place there. */
static void wait_value(struct machine *x, const struct mg_time_op *op, double cycles, const struct value *v)
{
    double queued = MG_MIN((double)v->queued, cycles);
    if (cycles <= 0)
        return;
    wait_part(x, op, cycles - queued, (enum mg_time_part)v->why, (enum mg_time_stall)v->stall);
    if (queued <= 0)
        return;
    const struct mg_time_access *a = &x->m->access[v->by];
    bool far = a->space == MG_SPACE_GLOBAL || a->space == MG_SPACE_LOCAL;
    x->waited[v->why] += queued;
    x->m->stalled[v->by][far ? MG_STALL_LG : MG_STALL_MIO] += queued;
}

static void go_on(struct machine *x, uint32_t warp)
{
    mg__ready_push(&x->ready, (struct mg_ready_warp){x->warps[warp].at, warp});
}

/* ---- a warp's way through the code ---- */
static float *turn_of(struct machine *x, const struct warp *w)
{
    return &x->turns[(size_t)(w - x->warps) * x->m->code->nblocks + w->block];
}

static struct round *round_of(struct machine *x, const struct warp *w, uint32_t head)
{
    return &x->rounds[(size_t)(w - x->warps) * x->m->code->nblocks + head];
}

/* A warp comes to the head of a loop that has several exits: for the first time, or round again. */
static void begin_round(struct machine *x, const struct warp *w, uint32_t head)
{
    const struct mg_time_block *b = &x->m->code->blocks[head];
    struct round *r = round_of(x, w, head);
    float *carry = &x->shared_turns[head], *pick = &x->shared_turns[x->m->code->nblocks + head];
    if (r->in) {
        r->left -= 1;
        return;
    }
    float n = (float)(b->turns * (b->outermost ? x->m->unequal : 1)) + *carry;
    *r = (struct round){.left = MG_MAX(floorf(n + 1e-3f), 1.0f), .pick = *pick, .in = true};
    *carry = n - r->left;
    *pick += 0.618034f;
    *pick -= floorf(*pick);
}

/* Whether it leaves it at this branch. */
static bool ends_rounds(struct machine *x, const struct warp *w, const struct mg_time_block *b)
{
    struct round *r = round_of(x, w, b->head - 1);
    if (!r->in || r->left > 1.5f || r->pick < b->from || r->pick >= b->to)
        return false;
    r->in = false;
    return true;
}

static void enter(struct machine *x, struct warp *w, uint32_t block)
{
    const struct mg_time_block *blocks = x->m->code->blocks;
    bool near = blocks[block].first - blocks[w->block].end < NEAR; /* it came with the code before */
    if (!near && block > w->block && x->code[block] <= 0)
        x->code[block] = w->order + P(CODE);
    if (blocks[block].first < blocks[block].end)
        wait_part(x, &x->m->code->ops[blocks[block].first], x->code[block] - w->order, MG_TIME_ISSUE, MG_STALL_NO_INST);
    w->order = w->at = MG_MAX(w->order, x->code[block]);
    w->block = block;
    w->next = blocks[block].first;
    w->end = blocks[block].end;
    if (blocks[block].turns > 0)
        begin_round(x, w, block);
    if (blocks[block].rounds <= 0)
        return;
    float *left = turn_of(x, w);
    if (*left < 0.5f) { /* comes to the loop: how many rounds? */
        float *carry = &x->shared_turns[block], n = (float)blocks[block].rounds + *carry;
        if (blocks[block].outermost)
            n *= (float)x->m->unequal;
        *left = MG_MAX(floorf(n + 1e-3f), 1.0f);
        *carry = n - *left;
    }
    if (blocks[block].unrolled_end && *left >= MG_TIME_UNROLLED) {
        w->next = blocks[block].unrolled;
        w->end = blocks[block].unrolled_end;
    }
}

/* Whether the rare way is taken this time. */
static bool rare(float *turn, double part)
{
    *turn += (float)part;
    if (*turn < 1 - 1e-4f)
        return false;
    *turn -= 1;
    return true;
}

/* The same of a branch at which a warp always goes the same way: which one is shared out among them when they come
 * there first. */
static bool always(float *way, float *shared, double part)
{
    if (*way >= 0)
        *way = rare(shared, part) ? -2 : -1;
    return *way < -1.5f;
}

static void leave(struct machine *x, struct warp *w)
{
    if (w->nstack) { /* others of the warp go on elsewhere */
        struct pending *p = &w->stack[w->nstack - 1];
        uint32_t to = p->other != UINT32_MAX ? p->other : p->meet;
        if (p->other != UINT32_MAX)
            p->other = UINT32_MAX;
        else
            w->nstack--;
        if (to != UINT32_MAX) {
            enter(x, w, to);
            return;
        }
    }
    w->done = true;
}

/* To a block, or first to the other side of a branch if both meet there. */
static void go(struct machine *x, struct warp *w, uint32_t block)
{
    while (w->nstack && w->stack[w->nstack - 1].meet == block) {
        struct pending *p = &w->stack[w->nstack - 1];
        uint32_t other = p->other;
        if (other != UINT32_MAX && other != block) {
            p->other = UINT32_MAX;
            enter(x, w, other);
            return;
        }
        w->nstack--;
    }
    enter(x, w, block);
}

static void next_block(struct machine *x, struct warp *w)
{
    const struct mg_time_code *code = x->m->code;
    const struct mg_time_block *b = &code->blocks[w->block];
    float *turn = b->once && b->rounds <= 0 ? &x->shared_turns[w->block] : turn_of(x, w);
    if (b->nsucc == 0) {
        if (b->returns && w->ncalls) {
            w->ncalls--;
            w->block = w->calls[w->ncalls].block;
            w->next = w->calls[w->ncalls].next;
            w->end = w->calls[w->ncalls].end;
            return;
        }
        leave(x, w);
    } else if (b->nsucc == 1) {
        if (b->rare > 0 && rare(turn, b->rare))
            leave(x, w);
        else
            go(x, w, b->succ[0]);
    } else if (b->head) {
        go(x, w, b->succ[ends_rounds(x, w, b) ? b->leaves : !b->leaves]);
    } else if (b->rounds > 0) {
        *turn -= w->end == b->end ? 1 : MG_TIME_UNROLLED;
        go(x, w, b->succ[*turn < 0.5f ? b->leaves : !b->leaves]);
    } else if (!(b->steady ? always(turn, &x->shared_turns[w->block], b->rare) : rare(turn, b->rare))) {
        go(x, w, b->succ[!b->rare_at]);
    } else if (b->both > 0 && w->nstack < STACK &&
               (b->both >= 1 - 1e-4 || rare(&x->shared_turns[code->nblocks + w->block], b->both))) {
        w->stack[w->nstack++] = (struct pending){b->succ[!b->rare_at], b->ipdom};
        go(x, w, b->succ[b->rare_at]);
    } else {
        go(x, w, b->succ[b->rare_at]);
    }
}

/* ---- blocks ---- */
/* When it is free; it is taken for so many cycles from then on. */
static double take_turn(double *clock, double at, double cycles)
{
    double begin = MG_MAX(*clock, at);
    *clock = begin + cycles;
    return begin;
}

/* Where a warp's ops begin that are executed a part of the times: elsewhere than the next warp's, but at barriers. */
static void begin_parts(struct machine *x, uint32_t index, unsigned k)
{
    const struct mg_time_machine *m = x->m;
    const double step = 0.6180339887498949, own = step * (double)(x->begun * m->warps + k),
                 all = step * (double)x->begun;
    for (uint32_t i = 0; i < m->code->nops; i++) {
        double at = m->code->ops[i].barrier ? all : own;
        x->parts[(size_t)index * m->code->nops + i] = (float)(at - floor(at));
    }
}

/* Whether the warp executes it this time. */
static bool is_due(const struct machine *x, uint32_t index, const struct mg_time_op *op)
{
    return op->part <= 0 ||
           x->parts[(size_t)index * x->m->code->nops + (size_t)(op - x->m->code->ops)] + op->part >= 1 - 1e-4f;
}

static void deal_part(struct machine *x, uint32_t index, const struct mg_time_op *op)
{
    if (op->part > 0) {
        float *part = &x->parts[(size_t)index * x->m->code->nops + (size_t)(op - x->m->code->ops)];
        *part += op->part - (*part + op->part >= 1 - 1e-4f ? 1 : 0);
    }
}

static void begin_block(struct machine *x, uint32_t slot, double at)
{
    const struct mg_time_machine *m = x->m;
    at = take_turn(&x->starts, at, P(BLOCK_START) * x->active) + P(BLOCK_FIRST);
    x->begun++;
    x->slots[slot] = (struct slot){.live = m->warps, .wave = x->slots[slot].wave + 1};
    for (unsigned k = 0; k < m->warps; k++) {
        uint32_t index = slot * m->warps + k;
        struct warp *w = &x->warps[index];
        *w = (struct warp){.at = at, .order = at, .slot = slot, .scheduler = index % SCHEDULERS};
        memset(&x->values[(size_t)index * m->code->nregs], 0, m->code->nregs * sizeof(*x->values));
        memset(&x->times[(size_t)index * m->ninsns], 0, m->ninsns * sizeof(*x->times));
        memset(&x->turns[(size_t)index * m->code->nblocks], 0, m->code->nblocks * sizeof(*x->turns));
        if (x->rounds)
            memset(&x->rounds[(size_t)index * m->code->nblocks], 0, m->code->nblocks * sizeof(*x->rounds));
        if (x->parts)
            begin_parts(x, index, k);
        enter(x, w, 0);
        if (x->slots[slot].wave == 1 && w->next < w->end) /* it is there, and waits for its code */
            m->stalled[m->code->ops[w->next].insn][MG_STALL_NO_INST] += P(BLOCK_FIRST);
        go_on(x, index);
    }
}

static void open_barrier(struct machine *x, struct slot *s, uint32_t slot)
{
    double at = s->latest + P(BARRIER) + P(BARRIER_WARP) * s->live;
    s->waiting = 0;
    s->latest = 0;
    for (uint32_t k = 0; k < x->m->warps; k++) {
        struct warp *w = &x->warps[slot * x->m->warps + k];
        if (!w->waits)
            continue;
        w->waits = false;
        wait_part(x, &x->m->code->ops[w->next - 1], at - w->at, MG_TIME_BARRIER, MG_STALL_BARRIER);
        w->at = w->order = at;
        go_on(x, slot * x->m->warps + k);
    }
}

/* Its room is free when its stores have arrived. */
static void end_warp(struct machine *x, uint32_t index)
{
    struct warp *w = &x->warps[index];
    struct slot *s = &x->slots[w->slot];
    x->end = MG_MAX(x->end, w->at);
    if (w->at < w->stored) {
        if (w->next)
            wait_value(x, &x->m->code->ops[w->next - 1], w->stored - w->at, &w->store);
        w->at = w->stored;
        w->done = true;
        go_on(x, index);
    } else if (--s->live == 0) {
        if (x->begun < x->own)
            begin_block(x, w->slot, w->at);
    } else if (s->waiting == s->live) {
        open_barrier(x, s, w->slot);
    }
}

/* ---- accesses ---- */
/* One place that warps take turns at holding: those of all multiprocessors, which do alike. A warp that finds it taken
 * waits, which stands for any number of rounds. */
static bool is_taken(struct machine *x, struct warp *w, const struct mg_time_op *op)
{
    double at = MG_MAX(w->at, w->order), wait = MG_MAX(x->given - at, 0.0);
    if (x->m->access[op->insn].places > 1.5)
        return false;
    if (x->holder && x->holder != w && !x->holder->done)
        wait = MG_MAX(wait, P(ATOMIC_LATENCY));
    wait_part(x, op, wait, MG_TIME_ATOMICS, MG_STALL_LONG);
    w->at = w->order = at + wait;
    return wait > 0;
}

static void use_lock(struct machine *x, struct warp *w, const struct mg_time_op *op, double at)
{
    if (op->lock == MG_TIME_LOCK_TAKES && x->m->access[op->insn].places <= 1.5) {
        x->holder = w;
        x->taken = at;
    } else if (op->lock == MG_TIME_LOCK_GIVES && x->holder == w) {
        x->holder = NULL;
        x->given = x->taken + (at - x->taken + P(ATOMIC_LATENCY)) * x->active;
    }
}

/* How many of a request's, dealt out. */
static bool dealt(float *turn, double part)
{
    *turn += (float)part;
    if (*turn < 1 - 1e-4f)
        return false;
    *turn -= 1;
    return true;
}

/* Of a load whose data other warps ask for the same time round: NULL, it is in the first cache; else whose fill it
 * waits for, or, where `ready` is negative, makes. */
static struct fill *comes_along(struct machine *x, const struct warp *w, const struct mg_time_op *op,
                                const struct mg_time_access *a)
{
    uint32_t turn = ++x->times[(size_t)(w - x->warps) * x->m->ninsns + op->insn], wave = x->slots[w->slot].wave;
    double part = MG_MIN(a->misses + a->shared, 1.0);
    if (floor(turn * part + 1e-6) <= floor((turn - 1) * part + 1e-6)) /* nobody misses, this time round */
        return NULL;
    struct fill *fill = &x->fills[(size_t)op->insn * FILLS + turn % FILLS];
    float *deal = &x->miss[op->insn];
    *deal += (float)(a->misses / (a->misses + a->shared));
    bool makes = fill->wave != wave || fill->turn != turn || *deal >= 1 - 1e-4f;
    if (makes) {
        *deal -= 1;
        *fill = (struct fill){wave, turn, -1};
    }
    return fill;
}

/* How long an access that leaves a queue at `begin` waits for a place: until the one QUEUED before it has left. */
static double wait_place(struct queue *q, double at, double begin)
{
    double *place = &q->left[q->n++ % (uint32_t)P(QUEUED)], wait = *place - at;
    *place = begin;
    return wait;
}

/* What goes over the link to the host's memory, of an access that goes there: when its turn comes. */
static double take_link(struct machine *x, double *clock, double at, const struct mg_time_access *a, double sectors)
{
    return take_turn(clock, at, a->host * MG_MAX(a->lines * x->link_request, sectors * 32 / x->link_rate));
}

/* When its result is there, and what that is mostly due to. */
static double access_memory(struct machine *x, struct warp *w, const struct mg_time_op *op, double at, uint8_t *why)
{
    const struct mg_time_access *a = &x->m->access[op->insn];
    *why = MG_TIME_L1;
    if (a->seen && (a->space == MG_SPACE_CONST || a->space == MG_SPACE_PARAM)) {
        const double missing = MG_MAX(1 - P(CONSTANT_ROOM) / MG_MAX(a->places, 1.0), 0) * a->lines,
                     takes = P(CONSTANT_REQUEST) + a->rounds * P(CONSTANT) + missing * P(CONSTANT_LINE);
        return take_turn(&x->constants, at, takes) + takes + P(L1_LATENCY);
    }
    if (!a->seen)
        return take_turn(&x->lsu, at, 1) + P(L1_LATENCY);
    if (x->cold && a->space == MG_SPACE_GLOBAL) { /* nobody has been here: where does the page lie? */
        x->cold = false;
        at += P(COLD) * MG_MIN(x->active / COLD_FROM, 1.0);
    }
    bool atomic = a->kind == MG_ACCESS_ATOM || a->kind == MG_ACCESS_RED;
    if (a->space == MG_SPACE_SHARED && op->swaps) {
        struct slot *s = &x->slots[w->slot];
        double turns = MG_MAX(a->turns, 1.0), words = turns / MG_MAX(a->rounds, 1.0); /* in one bank, at first */
        double begin = take_turn(&x->lsu, at, turns * ((words + 1) / 2 + P(SWAP_WAY)));
        /* at each place one warp after the other, the sooner the more try */
        double one = P(SWAP) * MG_MAX(1 - s->live / 32.0, 0.5), each = MG_MIN(32 / MG_MAX(a->places, 1.0), a->rounds);
        double place = take_turn(&s->swaps, begin, each * one) + each * one;
        *why = MG_TIME_ATOMICS;
        return MG_MAX(begin + turns * P(SWAP), place);
    }
    if (a->space == MG_SPACE_SHARED) {
        double begin = take_turn(&x->shared[w->scheduler], at, a->wavefronts * P(SHARED_WAY)), cycles = a->wavefronts;
        begin = take_turn(&x->lsu, begin, cycles * (atomic ? P(SHARED_ATOMIC) : 1));
        x->queued = wait_place(&x->near[w->scheduler], at, begin);
        *why = atomic ? MG_TIME_ATOMICS : MG_TIME_SHARED;
        return begin + P(SHARED_LATENCY) + (cycles - 1) * P(SHARED_WAY);
    }
    /* stores are taken as long as there is room for them */
    double held = MG_MAX(MG_MAX(x->l2, x->dram), x->to_host) - P(QUEUE);
    double takes = MG_MAX(a->passes, P(L1_REQUEST)), begin = take_turn(&x->lsu, MG_MAX(at, held), takes);
    x->queued = wait_place(&x->far[w->scheduler], at, begin);
    if (atomic) {
        double ops = MG_MAX(a->wavefronts, a->sectors), rate = x->atomic_rate;
        if (op->floats && a->wavefronts > 1.5 * a->sectors) /* one sum waits for the other */
            ops = MG_MAX(ops, P(ATOMIC_FLOAT) * a->wavefronts / a->sectors);
        rate = MG_MIN(rate, MG_MAX(a->places, 1.0) * P(ATOMIC_ONE) / x->active);
        double there = take_turn(&x->atomic, begin, ops / rate), late = 0;
        if (a->first > 0) { /* what it changes comes from device memory first */
            double turn = take_turn(&x->dram, begin, a->sectors * a->first * 32 / x->dram_rate);
            x->dram_bytes += a->sectors * a->first * 32;
            if (dealt(&x->fetched[op->insn], MG_MIN(a->first * a->sectors / 2, 1.0)))
                late = turn - begin + P(DRAM_LATENCY) - P(L2_LATENCY) + P(DRAM_LINE) * a->lines;
        }
        *why = MG_TIME_ATOMICS;
        return there + ops / rate + P(ATOMIC_LATENCY) + late;
    }
    if (a->kind == MG_ACCESS_ST) {
        double cycles = MG_MAX(a->sectors * 32 * P(WRITE), a->lines * P(WRITE_LINE)) / x->l2_rate;
        double arrives = take_turn(&x->l2, begin, cycles) + P(STORE_LATENCY);
        if (a->host > 0)
            take_link(x, &x->to_host, begin, a, a->sectors);
        if (a->space == MG_SPACE_GLOBAL && x->m->written > 0)
            take_turn(&x->dram, begin, a->sectors * x->m->written * 32 / x->dram_rate);
        if (a->space == MG_SPACE_LOCAL && a->first > 0)
            take_turn(&x->dram, begin, a->sectors * a->first * 32 / x->dram_rate);
        w->stored = MG_MAX(w->stored, arrives);
        w->store = (struct value){arrives, MG_TIME_L2, MG_STALL_DRAIN, (float)MG_MAX(x->queued, 0.0), op->insn};
        *why = MG_TIME_L2;
        return begin + P(L1_LATENCY);
    }
    double near = begin + P(L1_LATENCY) + takes;
    struct fill *fill = NULL;
    if (a->misses <= 0)
        return near;
    if (a->shared > 0) {
        fill = comes_along(x, w, op, a);
        if (fill && fill->ready >= 0) {
            *why = MG_TIME_LATENCY;
            return MG_MAX(near, fill->ready);
        }
    }
    if (!fill && !dealt(&x->miss[op->insn], a->misses))
        return near;
    double sectors = a->past_l1 / a->misses, first = sectors * a->first;
    double there = take_turn(&x->l2, begin, sectors * 32 / x->l2_rate);
    double result = there + P(L2_LATENCY) + P(L2_LINE) * a->lines;
    *why = there - begin > P(L2_LATENCY) / 2 ? MG_TIME_L2 : MG_TIME_LATENCY;
    double often = x->begun <= x->m->resident ? a->fresh : MG_MIN(a->fresh, first / 2);
    bool fetches = dealt(&x->fetched[op->insn], MG_MIN(often / a->misses, 1.0));
    if (first > 0) {
        double turn = take_turn(&x->dram, begin, first * 32 / x->dram_rate);
        double late = turn + P(DRAM_LATENCY) + P(DRAM_LINE) * a->lines;
        x->dram_bytes += first * 32;
        if ((fetches || turn - begin > P(DRAM_LATENCY)) && late > result) {
            result = late;
            *why = turn - begin > P(DRAM_LATENCY) / 2 ? MG_TIME_DRAM : MG_TIME_LATENCY;
        }
    }
    if (a->host > 0) {
        double late = take_link(x, &x->from_host, begin, a, sectors) + x->link_latency;
        if (a->host > 0.5 && late > result) {
            result = late;
            *why = MG_TIME_HOST;
        }
    }
    if (fill)
        fill->ready = result;
    return result;
}

/* ---- issue ---- */
/* What those wait for that need the op's result, and for those that come to its pipe too early. */
static enum mg_time_stall stall_of(const struct machine *x, const struct mg_time_op *op, bool result)
{
    const struct mg_time_access *a = &x->m->access[op->insn];
    if (op->access && a->seen && (a->space == MG_SPACE_GLOBAL || a->space == MG_SPACE_LOCAL))
        return result ? MG_STALL_LONG : MG_STALL_LG;
    if (op->pipe == MG_PIPE_LSU)
        return result ? MG_STALL_SHORT : MG_STALL_MIO;
    if (op->pipe == MG_PIPE_MUFU)
        return result ? MG_STALL_SHORT : MG_STALL_MIO;
    return result ? MG_STALL_WAIT : MG_STALL_MATH;
}

/* Of a wait for a pipe: the part in which it would have taken the warp, but took another one. */
static double not_selected(const struct mg_time_op *op)
{
    return op->pipe == MG_PIPE_LSU || op->pipe == MG_PIPE_MUFU ? 0
           : op->pipe == MG_PIPE_EITHER || op->interval < 1    ? 1
                                                               : 1.0 / op->interval;
}

/* ptxas shares out to both pipes what either can do. */
static unsigned pipe_of(const struct machine *x, const struct warp *w, const struct mg_time_op *op)
{
    const double *free_at = x->pipe[w->scheduler];
    if (op->pipe != MG_PIPE_EITHER)
        return op->pipe;
    return free_at[MG_PIPE_FMA] <= free_at[MG_PIPE_ALU] ? MG_PIPE_FMA : MG_PIPE_ALU;
}

/* When the op's operands are there, and what they come late for. */
static struct value operands(const struct machine *x, uint32_t index, const struct mg_time_op *op)
{
    const struct mg_time_code *code = x->m->code;
    const struct value *values = &x->values[(size_t)index * code->nregs];
    const struct warp *w = &x->warps[index];
    struct value last = {.ready = w->order, .why = MG_TIME_ISSUE, .stall = MG_STALL_WAIT};
    if (op->copies == MG_TIME_COPIES_WAIT) { /* for all groups but the latest so many */
        uint32_t n = w->ngroups > op->pending ? w->ngroups - op->pending : 0;
        double ready = op->pending == 0 ? w->copied : 0;
        for (uint32_t k = n > COPIES ? n - COPIES : 0; k < n; k++)
            ready = MG_MAX(ready, w->group[k % COPIES]);
        if (ready > last.ready)
            last = (struct value){.ready = ready, .why = MG_TIME_LATENCY, .stall = MG_STALL_LONG};
    }
    for (unsigned k = 0; op->native && k < MG_TIME_SCOREBOARDS; k++)
        if (op->waits >> k & 1 && w->scoreboard[k].ready > last.ready)
            last = w->scoreboard[k];
    for (uint32_t k = 0; k < op->reads; k++) {
        const struct value *v = &values[code->regs[op->regs + k]];
        if (v->ready > last.ready)
            last = *v;
    }
    return last;
}

static void write_results(struct machine *x, uint32_t index, const struct mg_time_op *op, struct value value)
{
    const struct mg_time_code *code = x->m->code;
    for (uint32_t k = 0; k < op->writes; k++)
        x->values[(size_t)index * code->nregs + code->regs[op->regs + op->reads + k]] = value;
}

/* When its operands are read, and when its result is there; what several set at once waits for the last of them. */
static void set_scoreboards(struct warp *w, const struct mg_time_op *op, double at, struct value result)
{
    if (op->sets < MG_TIME_SCOREBOARDS && result.ready > w->scoreboard[op->sets].ready)
        w->scoreboard[op->sets] = result;
    struct value read = {.ready = at + P(OPERANDS), .why = MG_TIME_ISSUE, .stall = MG_STALL_WAIT};
    if (op->frees < MG_TIME_SCOREBOARDS && read.ready > w->scoreboard[op->frees].ready)
        w->scoreboard[op->frees] = read;
}

static void issue(struct machine *x, uint32_t index, const struct mg_time_op *op, struct value operand)
{
    struct warp *w = &x->warps[index];
    uint32_t s = w->scheduler;
    double at = MG_MAX(w->at, x->free_at[s]);
    if (op->lock)
        use_lock(x, w, op, at);
    enum mg_time_part pipe = op->pipe == MG_PIPE_LSU ? MG_TIME_L1 : MG_TIME_ARITHMETIC;
    double others = (w->at - operand.ready) * not_selected(op);
    wait_value(x, op, operand.ready - w->order, &operand);
    wait_part(x, op, others, pipe, MG_STALL_NOT_SELECTED);
    wait_part(x, op, w->at - operand.ready - others, pipe, stall_of(x, op, false));
    wait_part(x, op, at - w->at, MG_TIME_ISSUE, MG_STALL_NOT_SELECTED);
    wait_part(x, op, op->slots, MG_TIME_ISSUE, MG_STALL_SELECTED);
    const double latency = op->membar ? x->fence : op->latency;
    x->free_at[s] = at + op->slots;
    x->pipe[s][pipe_of(x, w, op)] = at + op->slots * op->interval;
    struct value result = {
        .ready = at + op->latency, .why = MG_TIME_ARITHMETIC, .stall = (uint8_t)stall_of(x, op, true), .by = op->insn};
    x->queued = 0;
    bool made = !op->native || !op->access || op->made >= 1 || dealt(&x->made[op->insn], op->made);
    if (!made) {
        result.ready = at + P(SHARED_LATENCY);
    } else if (op->orders) { /* as a fence before it and one behind it would */
        double fence = MG_MAX(w->stored - at, 0.0) + x->fence;
        wait_part(x, op, fence, MG_TIME_LATENCY, MG_STALL_MEMBAR);
        result.ready = access_memory(x, w, op, at + fence, &result.why) + x->fence;
        at += fence;
    } else if (op->access)
        result.ready = access_memory(x, w, op, at, &result.why);
    else if (op->pipe == MG_PIPE_LSU)
        result.ready = take_turn(&x->lsu, at, 1) + op->latency;
    result.queued = (float)MG_MAX(x->queued, 0.0);
    write_results(x, index, op, result);
    if (op->copies == MG_TIME_COPIES_BEGIN)
        w->copied = MG_MAX(w->copied, result.ready);
    else if (op->copies == MG_TIME_COPIES_COMMIT)
        w->group[w->ngroups++ % COPIES] = w->copied;
    w->at = w->order = at + op->slots;
    if (op->swaps && made) { /* a loop, until all lanes have had their turn */
        wait_part(x, op, result.ready - w->at, MG_TIME_ATOMICS, MG_STALL_SHORT);
        w->at = w->order = MG_MAX(w->at, result.ready);
    }
    if (op->native) {
        set_scoreboards(w, op, at, result);
        double fence = op->fence ? MG_MAX(w->stored - at, 0.0) + latency : 0;
        w->at = w->order = at + MG_MAX(op->slots, op->stall) + fence;
        wait_part(x, op, fence, MG_TIME_LATENCY, MG_STALL_MEMBAR);
        bool branch = op->pipe == MG_PIPE_CONTROL;
        wait_part(x, op, (double)op->stall - op->slots, branch ? MG_TIME_ISSUE : MG_TIME_ARITHMETIC,
                  branch ? MG_STALL_BRANCH : MG_STALL_WAIT);
    }
    if (op->pipe == MG_PIPE_CONTROL && !op->native) {
        double stores = latency > 0 ? MG_MAX(w->stored - w->at, 0.0) : 0; /* they arrive first */
        w->at = w->order = w->at + P(BRANCH) + latency + stores;
        wait_part(x, op, P(BRANCH), MG_TIME_ISSUE, MG_STALL_BRANCH);
        wait_part(x, op, latency + stores, MG_TIME_LATENCY, op->fence ? MG_STALL_MEMBAR : MG_STALL_SLEEPING);
    }
    x->end = MG_MAX(x->end, at + 1);
}

/* A parameter that all lanes read at one place: where ptxas can, it is part of the instruction that needs it. */
static bool is_operand(const struct machine *x, const struct mg_time_op *op)
{
    const struct mg_time_access *a = &x->m->access[op->insn];
    return !op->native && op->access && a->seen && a->space == MG_SPACE_PARAM && a->rounds < 1.05;
}

/* The warp is issued one instruction, or waits for what that needs. */
static void step(struct machine *x, uint32_t index)
{
    struct warp *w = &x->warps[index];
    const struct mg_time_code *code = x->m->code;
    for (unsigned quiet = 0; quiet < 100000; quiet++) {
        while (!w->done && w->next == w->end)
            next_block(x, w);
        if (w->done || w->executed > x->m->most)
            break;
        const struct mg_time_op *op = &code->ops[w->next];
        const struct value operand = w->looked ? w->operand : operands(x, index, op);
        double at = operand.ready;
        bool due = is_due(x, index, op), none = !due || op->pipe == MG_PIPE_NONE || is_operand(x, op);
        if (due && op->lock == MG_TIME_LOCK_TAKES && is_taken(x, w, op)) {
            x->refused++;
            w->looked = false; /* its turn is another one */
            go_on(x, index);
            return;
        }
        if (!none) {
            at = MG_MAX(at, x->pipe[w->scheduler][pipe_of(x, w, op)]);
            if (at > w->at) { /* others may be issued before */
                w->at = at;
                w->looked = true;
                w->operand = operand;
                go_on(x, index);
                return;
            }
        }
        w->looked = false;
        w->next++;
        w->executed++;
        x->executed++;
        x->refused = 0;
        deal_part(x, index, op);
        if (none)
            write_results(x, index, op, operand);
        else
            issue(x, index, op, operand);
        if (op->call != UINT32_MAX && w->ncalls < CALLS) {
            w->calls[w->ncalls].block = w->block;
            w->calls[w->ncalls].end = w->end;
            w->calls[w->ncalls++].next = w->next;
            enter(x, w, op->call);
        }
        if (op->barrier && due) {
            struct slot *s = &x->slots[w->slot];
            w->waits = true;
            s->latest = MG_MAX(s->latest, w->at);
            if (++s->waiting == s->live)
                open_barrier(x, s, w->slot);
            return;
        }
        if (!none) {
            go_on(x, index);
            return;
        }
    }
    end_warp(x, index);
}

static void share(struct machine *x)
{
    const struct mg_time_machine *m = x->m;
    const struct mg_board *b = m->arch->board;
    const double clock = x->clock = b->clock_khz * 1e3 * P(CLOCK);
    x->cold = true;
    x->fence = OF(m->arch, FENCE);
    x->active = (double)MG_MIN(m->blocks, (uint64_t)b->sm_count);
    x->own = (m->blocks + b->sm_count - 1) / b->sm_count;
    x->l2_rate = MG_MIN(P(L2_BYTES), P(L2_ALL) / x->active);
    x->dram_rate = MG_MIN(P(L2_BYTES), P(DRAM_SHARE) * mg_board_memory_peak(b) / clock / x->active);
    x->atomic_rate = P(ATOMIC_ALL) / x->active;
    const double link = mg_board_link_peak(b); /* 0: the host's memory is the device's */
    x->link_latency = link > 0 ? P(LINK_LATENCY) * 1e-9 * clock : 0;
    x->link_request = link > 0 ? P(LINK_REQUEST) * 1e-9 * clock * x->active : 0;
    x->link_rate = link > 0 ? P(LINK_SHARE) * link / clock / x->active : INFINITY;
}

static bool make(struct machine *x)
{
    const struct mg_time_machine *m = x->m;
    x->nwarps = m->warps * (uint32_t)MG_MIN((uint64_t)m->resident, x->own);
    x->warps = calloc(x->nwarps + 1, sizeof(*x->warps));
    x->slots = calloc(x->nwarps + 1, sizeof(*x->slots));
    x->values = calloc((size_t)x->nwarps * m->code->nregs + 1, sizeof(*x->values));
    x->turns = calloc((size_t)x->nwarps * m->code->nblocks + 1, sizeof(*x->turns));
    x->shared_turns = calloc(2 * (size_t)m->code->nblocks + 1, sizeof(*x->shared_turns));
    x->miss = calloc(m->ninsns + 1, sizeof(*x->miss));
    x->fetched = calloc(m->ninsns + 1, sizeof(*x->fetched));
    x->made = calloc(m->ninsns + 1, sizeof(*x->made));
    x->times = calloc((size_t)x->nwarps * m->ninsns + 1, sizeof(*x->times));
    x->fills = calloc((size_t)m->ninsns * FILLS + 1, sizeof(*x->fills));
    x->code = calloc(m->code->nblocks + 1, sizeof(*x->code));
    if (m->code->parts && !(x->parts = calloc((size_t)x->nwarps * m->code->nops + 1, sizeof(*x->parts))))
        return false;
    if (m->code->exits && !(x->rounds = calloc((size_t)x->nwarps * m->code->nblocks + 1, sizeof(*x->rounds))))
        return false;
    return mg__ready_make(&x->ready, x->nwarps) && x->warps && x->slots && x->values && x->turns && x->shared_turns &&
           x->miss && x->fetched && x->made && x->times && x->fills && x->code;
}

static void sum_up(struct machine *x, struct mg_time_result *r)
{
    const struct mg_time_machine *m = x->m;
    double sum = 0, host = MG_MAX(x->from_host, x->to_host);
    double cycles = MG_MAX(MG_MAX(MG_MAX(x->end, x->l2), MG_MAX(x->dram, x->atomic)), host);
    double alone = (cycles - x->end) / cycles; /* the part of it in which stores and atomics were still under way */
    if (x->ready.n && m->all_ops > (double)x->executed)
        cycles *= m->all_ops / (double)x->executed;
    else if (x->begun < x->own)
        cycles *= (double)x->own / (double)MG_MAX(x->begun, 1u);
    double work = cycles / x->clock, floor_seconds = OF(m->arch, FLOOR) * 1e-9;
    for (unsigned k = 0; k < MG_TIME_PARTS; k++)
        sum += x->waited[k];
    for (unsigned k = 0; k < MG_TIME_PARTS; k++)
        r->part[k] = sum > 0 ? (1 - alone) * work * x->waited[k] / sum : 0;
    r->part[host > MG_MAX(MG_MAX(x->l2, x->dram), x->atomic) ? MG_TIME_HOST
            : x->atomic > MG_MAX(x->l2, x->dram)             ? MG_TIME_ATOMICS
            : x->dram > x->l2                                ? MG_TIME_DRAM
                                                             : MG_TIME_L2] += alone * work;
    r->part[MG_TIME_LAUNCH] += floor_seconds;
    r->seconds = work + floor_seconds;
    r->least = r->seconds / P(RANGE);
    r->most = r->seconds * P(RANGE);
    r->dram_read = x->dram_bytes / m->unequal * (double)m->blocks / (double)MG_MAX(x->begun, 1u);
    double samples = (double)m->blocks / (double)MG_MAX(x->begun, 1u) / SAMPLE;
    for (uint32_t i = 0; i < m->ninsns; i++)
        for (unsigned k = 0; k < MG_STALLS; k++)
            r->stalled[k] += m->stalled[i][k] *= samples;
    r->known = true;
}

bool mg__time_run(const struct mg_time_machine *m, struct mg_time_result *r)
{
    struct machine x = {.m = m};
    *r = (struct mg_time_result){0};
    share(&x);
    bool good = make(&x);
    if (good) {
        for (uint32_t k = 0; k < m->resident && x.begun < x.own; k++)
            begin_block(&x, k, 0);
        const uint64_t most = m->enough ? MG_MIN(m->enough, (uint64_t)MG_TIME_OPS) : MG_TIME_OPS;
        while (x.ready.n && x.executed < most && x.refused < REFUSALS) {
            step(&x, mg__ready_take(&x.ready));
            mg__ready_close(&x.ready);
        }
        sum_up(&x, r);
    }
    free(x.warps);
    free(x.slots);
    mg__ready_free(&x.ready);
    free(x.values);
    free(x.turns);
    free(x.rounds);
    free(x.shared_turns);
    free(x.miss);
    free(x.fetched);
    free(x.made);
    free(x.times);
    free(x.fills);
    free(x.parts);
    free(x.code);
    return good;
}
