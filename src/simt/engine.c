/* engine.c - blocks run by compiled code (engine.h), and how they change places with the interpreter.
 *
 * The warps of a block run one after the other from one barrier to the next; when all that live stand at the same one,
 * they go on behind it, and no barrier is ever counted but the cluster's (cluster.c), at which the block waits until
 * the others have come (MG_ENGINE_WAITS). What the compiled code leaves to the interpreter (a branch that diverges, an
 * instruction that it does not have) is a walk of that warp through the ops from there; it comes back at the next
 * block that is an entry, or at a barrier, if all its lanes are together again and its registers have the form that is
 * expected there. When a warp waits on such a walk, the whole block is handed to the interpreter: every warp's state
 * is written out as the interpreter has it, and turns.c goes on. Only better code than it began with takes it back
 * (mg__engine_take).
 *
 * Turns and rounds are turns.c's, with the interpreter as without. Compiled code ends a turn in a loop, when the slice
 * is used up; the warp's next turn begins as a walk. A block that is parked keeps its warps as they are; before it goes
 * over to better code, and where somebody asks where its warps are, all are written out (mg__engine_settle).
 */
#include <assert.h>

#include "simt/engine_priv.h"

/* w->place. READY: behind a barrier, or at the start; AT_BARRIER: compiled code has come to one; LEFT: compiled code
 * has stopped, and nobody has looked where; OUTSIDE: it waits, in the interpreter; WALKING: interpreted to where
 * compiled code can go on; WRITTEN: AT_BARRIER, and as the interpreter has it */
enum { READY, AT_BARRIER, LEFT, OUTSIDE, WALKING, WRITTEN, ENDED };

/* ---- whether compiled code pays ---- */
#define TIMED_BLOCKS 6u /* of either kind */
#define TIMED_CLOSE 32u /* of either, where a quarter may lie between them: what is cold at first is not so later */
#define TIMED_LEAVES 24u
#define TIMED_ENOUGH 256u /* of both */

bool mg__engine_pays(struct mg_worker *worker)
{
    if (!worker->tier)
        return false;
    const struct mg_block_times *p = &worker->times;
    if (p->off || p->blocks[1] < TIMED_BLOCKS || p->leaves < TIMED_LEAVES)
        return true;
    if (p->blocks[0] < TIMED_BLOCKS)
        return false;
    const bool close = p->least[0] < p->least[1] + p->least[1] / 4 && p->least[1] < p->least[0] + p->least[0] / 4;
    return close && p->blocks[0] < TIMED_CLOSE ? p->blocks[1] <= p->blocks[0] : p->least[1] <= p->least[0];
}

/* Times matter only until either kind is known, and only where compiled code is left at all. */
bool mg__engine_timed(const struct mg_worker *worker)
{
    const struct mg_block_times *p = &worker->times;
    return worker->tier && !p->off && (p->leaves >= TIMED_LEAVES || p->blocks[1] < TIMED_BLOCKS) &&
           p->blocks[0] + p->blocks[1] < TIMED_ENOUGH;
}

void mg__engine_took(struct mg_worker *worker, bool compiled, bool done, uint64_t ns)
{
    struct mg_block_times *p = &worker->times;
    p->off |= !done;
    if (p->blocks[compiled]++ == 0 || ns < p->least[compiled])
        p->least[compiled] = ns;
}

/* Notes are one block's. */
static uint32_t run_code(struct mg_warp *w, uint32_t entry, uint32_t n)
{
    struct mg_worker *worker = w->worker;
    if (worker->notes) {
        worker->notes->running = w->e.shared;
        if (worker->notes->block == w->block->linear)
            worker->notes->shared = w->e.shared;
        else
            worker->notes->most = 0;
    }
    if (worker->joins && worker->joined_block != w->block->linear)
        mg__engine_turn(worker, w->block->linear);
    return worker->tier->code->run(&w->e, entry, n);
}

/* ---- registers between cells and frame ---- */
/* The line base + cx x + cy y over 32 lanes; how it differs from what is there, if `only`. In pieces of 16 bytes, but
 * for words in rows of two. */
#define LINE(bits)                                                                                                     \
    typedef uint##bits##_t piece##bits __attribute__((vector_size(16), aligned(bits / 8), may_alias));                 \
    static uint64_t line##bits(uint##bits##_t *lane, uint32_t row, uint64_t base, uint64_t cx, uint64_t cy, bool only) \
    {                                                                                                                  \
        enum { N = 128 / bits };                                                                                       \
        uint##bits##_t b = (uint##bits##_t)base, dx = (uint##bits##_t)cx, dy = (uint##bits##_t)cy, found = 0;          \
        piece##bits *at = (piece##bits *)(void *)lane, along, differs = {0};                                           \
        for (unsigned k = 0; k < N; k++)                                                                               \
            along[k] = (uint##bits##_t)(k * dx);                                                                       \
        for (uint32_t y = 0; y < 32 && row % N == 0; y += row, b = (uint##bits##_t)(b + dy)) {                         \
            piece##bits v = along + b;                                                                                 \
            for (uint32_t x = 0; x < row; x += N, at++, v += (uint##bits##_t)(N * dx))                                 \
                if (only)                                                                                              \
                    differs |= *at ^ v;                                                                                \
                else                                                                                                   \
                    *at = v;                                                                                           \
        }                                                                                                              \
        for (unsigned k = 0; k < N; k++)                                                                               \
            found |= differs[k];                                                                                       \
        for (uint32_t i = 0; i < 32 && row % N != 0; i++) {                                                            \
            uint##bits##_t v = (uint##bits##_t)(b + i % row * dx + i / row * dy);                                      \
            found |= lane[i] ^ v;                                                                                      \
            lane[i] = only ? lane[i] : v;                                                                              \
        }                                                                                                              \
        return only ? found : 0;                                                                                       \
    }
LINE(32)
LINE(64)

static uint64_t line(const struct mg_warp *w, const struct mg_engine_form *f, uint32_t row, uint64_t base, uint64_t cx,
                     uint64_t cy, bool only)
{
    void *at = w->root->regs + f->slot;
    return f->bytes == 8 ? line64(at, row, base, cx, cy, only) : line32(at, row, base, cx, cy, only);
}

static void write_out(struct mg_warp *w, const struct mg_engine_point *p)
{
    if (!w->filled)
        mg__fill_block(w, 32);
    const struct mg_engine_code *code = w->worker->tier->code;
    for (uint32_t k = 0; k < p->nforms; k++) {
        const struct mg_engine_form *f = &code->forms[p->first_form + k];
        if (f->vector || f->bytes == 0) /* and so are those behind it */
            break;
        const uint64_t *cell = &w->cells[f->cell];
        uint64_t cx = f->dx ? cell[1] : (uint64_t)f->cx, cy = f->dy ? cell[2] : (uint64_t)f->cy;
        line(w, f, code->row, cell[0], cx, cy, false);
    }
    mg__engine_open(w, p);
}

/* The arms that compiled code is in become leaves and joins. */
static bool part(struct mg_warp *w, const struct mg_engine_point *p)
{
    const struct mg_engine_code *code = w->worker->tier->code;
    const struct mg_op *ops = w->root->code->ops;
    for (uint32_t k = 0; k < p->nlevels; k++) {
        const struct mg_engine_level *l = &code->levels[p->first_level + k];
        uint32_t lanes = (uint32_t)w->cells[l->cell], mine = (uint32_t)w->cells[l->cell + 1];
        const struct mg_meeting at = {.meet = &ops[l->meet]};
        if (lanes != mine && !mg__leaf_part(w, &at, lanes, mine, l->second ? at.meet : &ops[l->other])) {
            mg__fault(w, &ops[p->op], 0, MG_ERR_NOMEM, "no host memory for a warp's state");
            return false;
        }
    }
    return true;
}

static uint64_t lane_value(const struct mg_warp *w, const struct mg_engine_form *f, unsigned lane)
{
    uint64_t value = 0;
    memcpy(&value, w->root->regs + f->slot + (size_t)lane * f->bytes, f->bytes);
    return value;
}

/* Whether the frame has the forms that the entry expects; the cells are filled. */
static bool read_in(struct mg_warp *w, const struct mg_engine_point *p)
{
    const struct mg_engine_code *code = w->worker->tier->code;
    const struct mg_engine_form *forms = code->forms + p->first_form;
    const uint32_t row = code->row;
    uint32_t k = 0;
    for (; k < p->nforms && !forms[k].vector && forms[k].bytes; k++) {
        const struct mg_engine_form *f = &forms[k];
        uint64_t base = lane_value(w, f, 0);
        uint64_t cx = f->dx ? lane_value(w, f, 1) - base : (uint64_t)f->cx;
        uint64_t cy = f->dy ? lane_value(w, f, row % 32) - base : (uint64_t)f->cy;
        const uint64_t zeros = f->zeros < 64 ? ((uint64_t)1 << f->zeros) - 1 : UINT64_MAX;
        if (base & zeros || line(w, f, row, base, cx, cy, true))
            return false;
        uint64_t *cell = &w->cells[f->cell];
        cell[0] = base;
        if (f->dx)
            cell[1] = f->bytes == 8 ? cx : (uint64_t)(int64_t)(int32_t)cx;
        if (f->dy)
            cell[2] = f->bytes == 8 ? cy : (uint64_t)(int64_t)(int32_t)cy;
    }
    for (; k < p->nforms && !forms[k].vector; k++) {
        uint32_t m;
        memcpy(&m, w->root->regs + forms[k].slot, 4);
        if (m != 0 && m != ~0u)
            return false;
    }
    return true;
}

/* ---- a warp ---- */
/* Compiled code is the kernel's own. */
static void own_code(struct mg_warp *w)
{
    w->e.regs = w->root->regs;
    w->ops = w->root->code->ops;
    w->rows_of = w->worker->rows_of;
    w->e.apart = w->worker->apart;
}

/* Whether compiled code has all of the warp. Of one that is not whole it has blocks, between which it is interpreted;
 * where it waits at the block's barrier it stands there as the others do. */
static bool is_whole(const struct mg_warp *w)
{
    return w->live == ~0u;
}

bool mg__engine_back(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    if (mask != w->live || w->frame != w->root || w->nleaves != 1 || w->followed || op == w->refused ||
        !w->worker->tier->entry_of[op - w->root->code->ops])
        return false;
    struct mg_split *s = &w->splits.at[w->current];
    if (s->join >= 0 || (!is_whole(w) && op->is->id != MG_DO_BAR))
        return false;
    s->pc = op;
    w->stop = MG_STOP_ENTER;
    return true;
}

static void end_warp(struct mg_warp *w)
{
    w->place = ENDED;
    w->stop = MG_STOP_DONE;
    w->block->live_warps--;
}

/* Interprets a warp until compiled code can go on, as w->place then says (READY or AT_BARRIER), until its turn is over
 * or the worker has to look (WALKING), until it waits (OUTSIDE), or ends. False: a fault. */
static bool walk(struct mg_warp *w)
{
    const struct mg_tier *tier = w->worker->tier;
    w->place = OUTSIDE;
    w->refused = NULL;
    for (;;) {
        w->interpreted = true;
        mg__warp_run(w);
        w->interpreted = false;
        if (w->stop != MG_STOP_ENTER)
            break;
        w->splits.at[0] = w->splits.at[w->current]; /* the only leaf */
        w->splits.count = 1;
        w->current = 0;
        const struct mg_op *at = w->splits.at[0].pc;
        const struct mg_engine_point *to = &tier->code->points[tier->entry_of[at - w->root->code->ops]];
        bool waits = to->kind == MG_ENGINE_AT_BARRIER;
        uint32_t entry = waits ? to->entry : (uint32_t)(to - tier->code->points);
        if (!is_whole(w) || read_in(w, &tier->code->points[entry])) {
            w->splits.at[0].resumed = false;
            w->entry = entry;
            w->place = waits ? AT_BARRIER : READY;
            w->stop = MG_STOP_WAIT;
            if (waits)
                w->point = to;
            return true;
        }
        w->refused = at; /* lanes that left a loop at different times, say: it will do at another place */
        mg__warp_choose(w);
    }
    if (w->stop == MG_STOP_DONE)
        end_warp(w);
    else if (w->stop == MG_STOP_YIELD || w->stop == MG_STOP_LOOK)
        w->place = WALKING;
    return w->stop != MG_STOP_FAULT;
}

/* Whether a barrier is the cluster's. */
static bool of_cluster(const struct mg_block *b, const struct mg_engine_point *p)
{
    return b->warps[0].root->code->ops[p->op].is->id == MG_DO_CLUSTER_WAIT;
}

/* The warp has come to a barrier, and compiled code has not said so. */
static void tell_come(struct mg_warp *w, const struct mg_engine_point *p)
{
    if (w->worker->calls.quiet && !of_cluster(w->block, p))
        mg__tell_bar(w, &w->root->code->ops[p->op], ~0u);
}

/* A warp that compiled code has left: on to the next barrier, the end, or a place where only the interpreter goes on.
 * False: a fault. */
static bool follow(struct mg_warp *w)
{
    const struct mg_described *d = w->worker->run->engine;
    const struct mg_engine_code *code = w->worker->tier->code;
    for (;; run_code(w, w->entry, 1)) {
        const struct mg_engine_point *p = &code->points[w->e.point];
        switch (p->kind) {
        case MG_ENGINE_AT_BARRIER:
            w->point = p;
            w->entry = p->entry;
            w->place = AT_BARRIER;
            w->stop = MG_STOP_WAIT;
            tell_come(w, p);
            return true;
        case MG_ENGINE_AT_EXIT:
            if (w->worker->calls.quiet)
                mg__tell_exit(w, &w->root->code->ops[p->op], ~0u);
            w->live = 0;
            w->nleaves = 0;
            w->splits.at[0].mask = 0;
            w->block->live_threads -= 32;
            end_warp(w);
            mg__cluster_check(w->block->cluster);
            return true;
        case MG_ENGINE_AT_FAULT:
            return false;
        default:
            break;
        }
        /* It is used up: w->stop says the rest. */
        bool slice = d->program.ops[p->op].kind == MG_ENGINE_BLOCK && !w->e.leave;
        w->e.leave = 0;
        w->worker->times.leaves += !slice;
        write_out(w, p);
        if (!part(w, p))
            return false;
        w->splits.at[w->current].pc = &w->root->code->ops[p->op];
        memset(w->leads, 0, sizeof w->leads);
        w->place = WALKING;
        if (slice)
            return true;
        if (p->nlevels == 0)
            mg__warp_load(w);
        if (!walk(w))
            return false;
        if (w->place != READY)
            return true;
    }
}

/* ---- a block ---- */
/* All warps as the interpreter has them; `on`: they stay with compiled code. */
static void write_block(struct mg_block *b, bool on)
{
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        assert(w->place != LEFT);
        if (!is_whole(w) && w->place == AT_BARRIER) {
            w->place = WRITTEN;
        } else if (w->place == READY || w->place == AT_BARRIER) {
            const struct mg_op *ops = w->root->code->ops;
            if (w->point)
                write_out(w, w->point);
            else
                mg__fill_block(w, 32);
            w->splits.at[0].pc = !w->point ? ops : &ops[w->point->op + (w->place == READY)];
            w->place = w->place == READY ? WALKING : WRITTEN;
        }
        if (!on && w->place != ENDED)
            w->place = OUTSIDE;
    }
}

bool mg__engine_yield(struct mg_block *b)
{
    if (!b->engine || b->fresh || !b->live_warps)
        return false;
    write_block(b, false);
    b->engine = b->waits = false;
    return true;
}

void mg__engine_settle(const struct mg_worker *worker)
{
    for (uint32_t c = 0; worker->tier && c < worker->nclusters; c++)
        for (uint32_t r = 0; worker->clusters[c]->busy && r < worker->run->cluster_size; r++) {
            struct mg_block *b = &worker->clusters[c]->blocks[r];
            if (b->engine && !b->fresh && b->live_warps)
                write_block(b, true);
        }
}

/* A warp that can go on as compiled code sooner or later, or stand beside it: all its lanes are together, and wait for
 * nothing but a barrier. */
static const struct mg_split *together_at(const struct mg_warp *w)
{
    for (size_t i = 0; i < w->splits.count; i++) {
        const struct mg_split *s = &w->splits.at[i];
        if (s->mask)
            return s->mask == w->live && s->frame == w->root && s->join < 0 && !w->followed &&
                           (s->wait == MG_WAIT_NONE || s->wait == MG_WAIT_BARRIER ||
                            (is_whole(w) && s->wait == MG_WAIT_CLUSTER))
                       ? s
                       : NULL;
    }
    return NULL;
}

/* The same in a function: with its own frame and ops in the places of the kernel's. */
static const struct mg_op *function_some(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    const struct mg_code *code = w->frame->code;
    const struct mg_described *d = w->worker->run->engine;
    const struct mg_some *some = code->id < d->nfunctions ? &w->worker->tier->some[code->id] : NULL;
    const uint32_t at = (uint32_t)(op - code->ops);
    if (!some || !some->code || !some->at[at])
        return op + 1;
    w->e.regs = w->regs;
    w->ops = code->ops;
    w->rows_of = w->worker->rows_of + code->first_op;
    w->e.apart = w->worker->apart + code->first_op;
    w->e.nested = mg__leaf_nested(w);
    uint32_t next = some->code->some(&w->e, at, mask, w->join_pc ? (uint32_t)(w->join_pc - code->ops) : ~0u);
    own_code(w);
    w->e.leave = 0;
    if (d->watched && next != ~0u && d->functions[code->id].program.ops[next].kind != MG_ENGINE_BLOCK)
        memset(w->leads, 0, sizeof w->leads); /* as in mg__engine_some */
    return next == ~0u ? NULL : &code->ops[next];
}

/* Its compiled code from op `at` on, which is one of those where it can begin. */
static const struct mg_op *root_some(struct mg_warp *w, uint32_t at, uint32_t mask)
{
    const struct mg_op *ops = w->root->code->ops;
    const struct mg_described *d = w->worker->run->engine;
    w->e.nested = mg__leaf_nested(w);
    uint32_t next = w->some(&w->e, at, mask, w->join_pc ? (uint32_t)(w->join_pc - ops) : ~0u);
    w->e.leave = 0;
    if ((mask == ~0u || d->watched) && next != ~0u && d->program.ops[next].kind != MG_ENGINE_BLOCK)
        /* in the midst of a block, of whose accesses those that were done by their line have left no word */
        memset(w->leads, 0, sizeof w->leads);
    return next == ~0u ? NULL : &ops[next];
}

const struct mg_op *mg__engine_some(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    if (w->followed)
        return op + 1;
    if (w->frame != w->root)
        return function_some(w, op, mask);
    const uint32_t at = (uint32_t)(op - w->root->code->ops);
    return w->some_at[at] ? root_some(w, at, mask) : op + 1;
}

const struct mg_op *mg__engine_behind(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    const uint32_t at = (uint32_t)(op + 1 - w->root->code->ops);
    if (w->followed || w->frame != w->root || !w->some_at[at] ||
        w->worker->run->engine->program.ops[at].kind == MG_ENGINE_BLOCK) /* which is not counted yet */
        return op + 1;
    return root_some(w, at, mask);
}

bool mg__engine_waits(const struct mg_warp *w)
{
    return w->block->engine && w->place == WRITTEN;
}

bool mg__engine_may(const struct mg_run *run)
{
    const struct mg_engine_program *p = &run->engine->program;
    return !p->partial && !(p->ragged && run->cluster_size > 1);
}

bool mg__engine_take(struct mg_block *b)
{
    if (!mg__engine_may(b->warps[0].worker->run))
        return false;
    uint32_t waiting[MG_COUNT(b->barriers)] = {0};
    for (uint32_t k = 0; k < b->nwarps; k++) {
        const struct mg_warp *w = &b->warps[k];
        const struct mg_split *s = w->nleaves ? together_at(w) : NULL;
        if (w->nleaves && !s)
            return false;
        if (s && s->wait == MG_WAIT_BARRIER)
            waiting[s->barrier] += (uint32_t)__builtin_popcount(s->mask);
    }
    for (unsigned i = 0; i < MG_COUNT(waiting); i++) /* bar.arrive came, too, and cannot come again */
        if (b->barriers[i].arrived != waiting[i])
            return false;
    b->opened = false;
    memset(b->barriers, 0, sizeof b->barriers); /* those that wait come to theirs once more */
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        w->place = ENDED;
        if (w->nleaves == 0)
            continue;
        w->splits.at[0] = *together_at(w);
        w->place = w->splits.at[0].wait == MG_WAIT_NONE ? WALKING : WRITTEN;
        w->splits.at[0].wait = MG_WAIT_NONE;
        w->splits.count = 1;
        w->current = 0;
        w->point = NULL;
    }
    return true;
}

bool mg__engine_warp(struct mg_warp *w)
{
    free(w->cells);
    w->cells = calloc(w->worker->ncells + 1, sizeof *w->cells);
    own_code(w);
    w->e.shared = w->block->shared;
    w->e.cells = w->cells;
    const struct mg_engine_code *code = w->worker->tier->code;
    const uint32_t phase = w->index % w->worker->phases;
    w->e.records = w->worker->records + phase * code->nsites;
    w->e.shapes = w->worker->shapes + phase * code->nshapes;
    w->e.full = w->worker->full;
    w->e.counts = w->worker->counts;
    w->e.by_insn = w->worker->by_insn;
    w->e.calls = &w->worker->calls;
    w->e.tag = (uint64_t)w->index << 32;
    w->some = w->worker->tier->code->some;
    w->has_some = false;
    const bool may = !w->worker->run->want_steps || w->worker->run->engine->watched;
    for (uint32_t k = 0; k < w->worker->run->engine->nfunctions && may; k++)
        w->has_some |= w->worker->tier->some[k].code && w->worker->tier->some[k].code->some;
    w->some_at = w->worker->tier->some[0].at;
    return w->cells != NULL;
}

/* A round is over: parked, looked at, or (INTERPRET here) on with the next one. Warps stay as compiled code has left
 * them: most go on with the same code. */
static enum mg_engine_outcome round_over(struct mg_worker *worker, struct mg_block *b)
{
    bool park = mg__round_over(b);
    return park ? MG_ENGINE_PARKED : worker->due ? MG_ENGINE_LOOK : MG_ENGINE_INTERPRET;
}

/* They are looked at one by one from here on; from the barrier `at` on, or from the start. */
static void part_ways(struct mg_block *b, const struct mg_engine_point *at)
{
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        w->entry = at ? at->entry : 0;
        w->point = at;
        w->place = READY;
        if (!w->filled) /* each is now the first of those that run together */
            mg__fill_block(w, 1);
    }
}

static enum mg_engine_outcome phase_over(struct mg_worker *worker, struct mg_block *b, const struct mg_engine_point *at,
                                         bool outside)
{
    b->round.outside = outside;
    b->round.met = true;
    enum mg_engine_outcome outcome = round_over(worker, b);
    if (outcome != MG_ENGINE_INTERPRET)
        part_ways(b, at);
    return outcome;
}

/* Warps from `first` on, `ran` of them, have run, and all but the last of them to the point `p`. */
static void have_run(struct mg_block *b, uint32_t first, uint32_t ran, const struct mg_engine_point *p)
{
    struct mg_round *r = &b->round;
    for (uint32_t k = first; k < first + ran; k++) {
        struct mg_warp *w = &b->warps[k];
        if (p->kind != MG_ENGINE_AT_BARRIER || k + 1 == first + ran) {
            w->place = LEFT;
            continue;
        }
        w->entry = p->entry; /* its turn is over */
        w->point = p;
        w->place = AT_BARRIER;
        w->stop = MG_STOP_WAIT;
        tell_come(w, p);
        r->outside |= w->outside != 0;
        r->ran = true;
    }
}

/* All threads that live have come to the barrier `at`; `quietly`: nobody knows of any. */
static void tell_open(struct mg_block *b, const struct mg_engine_point *at, bool quietly)
{
    struct mg_warp *w = &b->warps[0];
    const struct mg_op *op = &w->root->code->ops[at->op];
    if (!mg__wants_sync(w) || of_cluster(b, at)) /* which cluster.c tells */
        return;
    if (quietly && mg__tell_met(b, op))
        return;
    for (uint32_t k = 0; k < b->nwarps && quietly; k++)
        mg__tell_bar(&b->warps[k], op, ~0u);
    if (quietly || !b->nuntold || !mg__tell_met(b, op))
        mg__tell_open(b, mg__lane32(w, op->a, 0), b->live_threads);
    for (uint32_t k = 0; k < b->nwarps; k++)
        b->warps[k].told = false;
}

/* A warp at the cluster's barrier. WRONG: it has not come there, which the interpreter tells. */
enum gate { OPEN, SHUT, WRONG };
static enum gate gate_of(const struct mg_warp *w)
{
    return w->owed != ~0u ? WRONG : w->came ? SHUT : OPEN;
}

/* All that live stand there. Where it is open they have waited. */
static enum gate cluster_gate(struct mg_block *b)
{
    enum gate gate = OPEN;
    for (uint32_t k = 0; k < b->nwarps; k++)
        if (b->warps[k].live)
            gate = MG_MAX(gate, gate_of(&b->warps[k]));
    for (uint32_t k = 0; k < b->nwarps && gate == OPEN; k++)
        b->warps[k].owed = 0;
    return gate;
}

/* The warp that is ready, and those behind it that are. */
static void run_ready(struct mg_worker *worker, struct mg_block *b, uint32_t first)
{
    const struct mg_engine_code *code = worker->tier->code;
    struct mg_warp *w = &b->warps[first];
    uint32_t n = 0;
    for (; first + n < b->nwarps && w[n].place == READY && w[n].entry == w->entry; n++)
        mg__turn_begin(&w[n]);
    uint32_t ran = run_code(w, w->entry, n);
    have_run(b, first, ran, &code->points[w->e.point]);
}

/* From the barrier `at` on, where all stand, or from the start (NULL). As long as all warps come to the same barrier,
 * they are not looked at one by one. INTERPRET: from here on they are. */
static enum mg_engine_outcome together(struct mg_worker *worker, struct mg_block *b, const struct mg_engine_point *at)
{
    const struct mg_engine_code *code = worker->tier->code;
    uint32_t entry = at ? at->entry : 0;
    for (uint32_t k = 0; k < b->nwarps && at; k++)
        mg__turn_begin(&b->warps[k]);
    for (;;) {
        uint32_t outside = 0, ran = run_code(b->warps, entry, b->nwarps), point = b->warps[0].e.point;
        const struct mg_engine_point *p = &code->points[point];
        bool alike = ran == b->nwarps && b->warps[ran - 1].e.point == point;
        if (alike && p->kind == MG_ENGINE_AT_EXIT) {
            b->live_warps = b->live_threads = 0;
            mg__cluster_check(b->cluster);
            return MG_ENGINE_DONE;
        }
        if (!alike || p->kind != MG_ENGINE_AT_BARRIER) {
            part_ways(b, at);
            have_run(b, 0, ran, p);
            return MG_ENGINE_INTERPRET;
        }
        if (of_cluster(b, p) && cluster_gate(b) != OPEN) {
            part_ways(b, p);
            for (uint32_t k = 0; k < b->nwarps; k++) {
                b->warps[k].place = AT_BARRIER;
                b->round.outside |= b->warps[k].outside != 0;
            }
            b->round.ran = true;
            return MG_ENGINE_INTERPRET;
        }
        at = p;
        entry = p->entry;
        tell_open(b, at, worker->calls.quiet);
        for (uint32_t k = 0; k < b->nwarps && b->polled; k++) {
            outside |= b->warps[k].outside;
            mg__turn_begin(&b->warps[k]);
        }
        b->polled = false;
        if (outside || worker->run->mixes || (b->rounds + 1) % 64 == 0) {
            enum mg_engine_outcome outcome = phase_over(worker, b, at, outside != 0);
            if (outcome != MG_ENGINE_INTERPRET)
                return outcome;
        } else {
            b->rounds++;
            b->stuck = 0;
        }
        if (mg__stops(worker->run, b->cluster)) {
            part_ways(b, at);
            return MG_ENGINE_STOPPED;
        }
    }
}

/* Warps that were written out at a barrier come there once more. False: one cannot. */
static bool come_back(struct mg_block *b)
{
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        if (w->place != WRITTEN)
            continue;
        mg__warp_choose(w);
        if (!walk(w) || w->place != AT_BARRIER)
            return false;
    }
    return true;
}

/* The turn of one warp, or what is left of it. INTERPRET: go on with the next one; LOOK: the worker has to look, or
 * with b->engine false the interpreter goes on. */
static enum mg_engine_outcome turn(struct mg_worker *worker, struct mg_block *b, struct mg_warp *w)
{
    struct mg_round *r = &b->round;
    bool goes = true;
    if (!r->mid && w->place == WALKING && !mg__warp_choose(w)) {
        b->engine = false;
        return MG_ENGINE_LOOK;
    }
    if (!r->mid && w->place != LEFT)
        mg__turn_begin(w);
    if (r->mid && w->place == WALKING)
        mg__warp_load(w);
    r->mid = true;
    if (w->place == WALKING)
        goes = walk(w);
    if (goes && w->place == READY) {
        run_code(w, w->entry, 1);
        w->place = LEFT;
    }
    if (goes && w->place == LEFT)
        goes = follow(w);
    if (!goes)
        return MG_ENGINE_STOPPED;
    if (w->stop != MG_STOP_LOOK)
        mg__turn_over(b, w);
    b->engine = w->place != OUTSIDE;
    bool last = w->index + 1 == b->nwarps || w[1].place != LEFT; /* those come first */
    assert(last || b->engine);
    return (worker->due && last) || !b->engine ? MG_ENGINE_LOOK : MG_ENGINE_INTERPRET;
}

/* The rest of a round, one by one. INTERPRET: it is over. */
static enum mg_engine_outcome one_by_one(struct mg_worker *worker, struct mg_block *b)
{
    struct mg_round *r = &b->round;
    while (r->turn < b->nwarps) {
        struct mg_warp *w = &b->warps[r->turn];
        if (w->place == ENDED || w->place == AT_BARRIER) {
            r->turn++;
            continue;
        }
        if (w->place == READY) {
            run_ready(worker, b, r->turn);
            continue;
        }
        enum mg_engine_outcome outcome = turn(worker, b, w);
        if (!b->engine)
            write_block(b, false);
        if (outcome != MG_ENGINE_INTERPRET)
            return b->engine || outcome == MG_ENGINE_STOPPED ? outcome : MG_ENGINE_INTERPRET;
    }
    return MG_ENGINE_INTERPRET;
}

/* The barrier at which all warps stand that live, `*all`; NULL if there is none, and then *walks: some warp does not
 * wait. */
static const struct mg_engine_point *meeting(const struct mg_block *b, bool *walks)
{
    const struct mg_engine_point *at = NULL;
    bool alike = true;
    *walks = false;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        const struct mg_warp *w = &b->warps[k];
        if (w->place == ENDED)
            continue;
        *walks |= w->place == WALKING;
        alike &= w->place == AT_BARRIER && (!at || at == w->point);
        at = w->point;
    }
    return alike ? at : NULL;
}

/* Where warps are not all at one barrier, those at the cluster's go on as soon as that is open. */
static bool pass_cluster(struct mg_block *b)
{
    bool passed = false;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        if (w->place != AT_BARRIER || !of_cluster(b, w->point) || gate_of(w) != OPEN)
            continue;
        w->owed = 0;
        w->place = READY;
        passed = true;
    }
    return passed;
}

/* The last warp is not whole: it walks beside the others. */
static void begin_ragged(struct mg_block *b)
{
    struct mg_warp *last = &b->warps[b->nwarps - 1];
    mg__fill_block(last, 32);
    part_ways(b, NULL);
    last->place = WALKING;
}

/* From the barrier at which all have met. */
static void pass_barrier(struct mg_warp *w)
{
    w->place = is_whole(w) ? READY : WALKING;
    w->splits.at[0].resumed = !is_whole(w); /* by the barrier's own op */
}

enum mg_engine_outcome mg__engine_block(struct mg_worker *worker, struct mg_block *b)
{
    enum mg_engine_outcome outcome = MG_ENGINE_INTERPRET;
    if (b->fresh) {
        b->fresh = false;
        if (worker->run->engine->program.ragged)
            begin_ragged(b);
        else
            outcome = together(worker, b, NULL);
        b->as_begun = outcome == MG_ENGINE_DONE;
        if (outcome != MG_ENGINE_INTERPRET)
            return outcome;
    } else if (!come_back(b)) {
        write_block(b, false);
        return mg__stops(worker->run, b->cluster) ? MG_ENGINE_STOPPED : MG_ENGINE_INTERPRET;
    }
    for (;;) {
        outcome = one_by_one(worker, b);
        if (outcome != MG_ENGINE_INTERPRET || !b->engine)
            return outcome;
        if (b->live_warps == 0)
            return MG_ENGINE_DONE;
        if (mg__stops(worker->run, b->cluster))
            return MG_ENGINE_STOPPED;
        bool walks;
        const struct mg_engine_point *at = meeting(b, &walks);
        walks |= !at && pass_cluster(b);
        enum gate gate = at && of_cluster(b, at) ? cluster_gate(b) : OPEN;
        if (gate == SHUT) {
            outcome = b->round.ran ? round_over(worker, b) : MG_ENGINE_INTERPRET;
            b->waits = outcome == MG_ENGINE_INTERPRET;
            return b->waits ? MG_ENGINE_WAITS : outcome;
        }
        if ((!at && !walks) || gate == WRONG) { /* at different barriers, or undefined: the interpreter finds out */
            write_block(b, false);
            return MG_ENGINE_INTERPRET;
        }
        for (uint32_t k = 0; k < b->nwarps && at; k++)
            if (b->warps[k].place == AT_BARRIER)
                pass_barrier(&b->warps[k]);
        if (at)
            tell_open(b, at, false);
        b->round.met = at != NULL;
        if ((outcome = round_over(worker, b)) != MG_ENGINE_INTERPRET)
            return outcome;
        if (at && b->live_threads == 32 * b->nwarps && (outcome = together(worker, b, at)) != MG_ENGINE_INTERPRET)
            return outcome;
    }
}
