/* warp.c - operations across the lanes of a warp: who does them together, and when. What they compute is src/sem's.
 *
 * The .sync forms name the lanes that take part. When all of them that have not exited run in this leaf, the operation
 * is done at once. Otherwise the leaf waits; as soon as leaves that wait at the same instruction, in whatever calls of
 * its function, or for bar.warp.sync at any, make up the set, they all do it together (PTX ISA, "shfl.sync": the
 * executing thread waits until all non-exited threads of membermask have executed it with the same qualifiers and the
 * same membermask).
 *
 * Lanes of one leaf may name different sets (tiles of cooperative groups do): each set is its own operation.
 */
#include "sem/sem_mma.h"
#include "simt/simt_priv.h"

static uint32_t members_of(const struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    if (op->e < 0)
        return mask;
    const uint32_t *m = mg__slot(w, op->e);
    uint32_t members = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        members |= m[__builtin_ctz(rest)];
    return members & w->live;
}

/* `run` do it together, each with the set that it names. */
static void tell(struct mg_warp *w, const struct mg_op *op, uint32_t run)
{
    uint32_t all = run;
    for (unsigned i = 0; op->e >= 0 && i < 32; i++)
        all &= mg__lane32(w, op->e, i);
    if (all == ~0u) {
        mg__warp_met(w, op);
        return;
    }
    struct mg_sync *e = mg__sync_event(w, op, MG_SYNC_WARP, run);
    for (unsigned i = 0; i < 32; i++)
        e->members[i] = op->e < 0 ? run : mg__lane32(w, op->e, i);
    mg__sync_emit(w->worker);
}

void mg__warp_met(struct mg_warp *w, const struct mg_op *op)
{
    const struct mg_notes *notes = w->worker->notes;
    if (!mg__wants_sync(w) || (w->worker->met == w && (!notes || notes->n == w->worker->met_notes)))
        return;
    struct mg_sync *e = mg__sync_event(w, op, MG_SYNC_WARP, ~0u);
    memset(e->members, 0xff, sizeof e->members);
    mg__sync_emit(w->worker);
    w->worker->met = w;
    w->worker->met_notes = notes ? notes->n : 0;
}

/* Lanes that came to the operation by other calls of its function: their registers are in frames of their own. */
struct guests {
    struct {
        const struct mg_frame *frame;
        uint32_t mask;
    } at[32];
    unsigned n;
};

static void copy_lanes(const struct mg_engine_operand *o, const struct mg_frame *to, const struct mg_frame *from,
                       uint32_t mask)
{
    char *t = (char *)to->regs + o->slot;
    const char *f = (const char *)from->regs + o->slot;
    if (o->bytes == 0) {
        uint32_t own, theirs;
        memcpy(&own, t, sizeof own);
        memcpy(&theirs, f, sizeof theirs);
        own = (own & ~mask) | (theirs & mask);
        memcpy(t, &own, sizeof own);
    }
    for (uint32_t rest = o->bytes ? mask : 0; rest; rest &= rest - 1)
        memcpy(t + (size_t)__builtin_ctz(rest) * o->bytes, f + (size_t)__builtin_ctz(rest) * o->bytes, o->bytes);
}

/* What the guests bring, into the frame at hand, where their lanes are nobody's; or, after it, what they take along. */
static void seat(const struct mg_warp *w, const struct mg_op *op, const struct guests *g, bool come)
{
    const struct mg_engine_operand *of = op->is->of + (come ? op->is->nout : 0);
    for (unsigned i = 0; i < g->n; i++)
        for (unsigned k = 0; k < (come ? op->is->nin : op->is->nout); k++)
            copy_lanes(&of[k], come ? w->frame : g->at[i].frame, come ? g->at[i].frame : w->frame, g->at[i].mask);
}

/* Whether the leaf is at that operation, in this call or in another; of a function that each call has its own copy of,
 * in any copy. */
static bool is_at(const struct mg_split *s, const struct mg_op *op, const struct mg_frame *frame)
{
    const struct mg_code *a = s->frame->code, *b = frame->code;
    return s->pc == op || (a->func->copy_of && a->func->copy_of == b->func->copy_of && s->pc - a->ops == op - b->ops);
}

/* The lanes that execute `op` now, or 0 when the leaf has to wait (w->stop is set) and `*next` is to be returned. */
static uint32_t gather(struct mg_warp *w, const struct mg_op *op, uint32_t mask, const struct mg_op **next,
                       struct guests *guests)
{
    uint32_t members = members_of(w, op, mask);
    if ((members & ~mask) == 0) {
        if (mg__wants_sync(w))
            tell(w, op, mask);
        return mask;
    }
    bool anywhere = op->is->id == MG_DO_BAR_WARP;
    struct mg_split *self = &w->splits.at[w->current];
    if (mask != self->mask) { /* under a guard: the others go on */
        if (!mg__leaf_split(w, mask, op + 1)) {
            *next = mg__fault(w, op, 0, MG_ERR_NOMEM, "no host memory for a warp's state");
            return 0;
        }
        self = &w->splits.at[w->current];
    }
    self->wait = MG_WAIT_WARP;
    self->member = members;
    self->pc = op;
    uint32_t come = 0;
    for (size_t i = 0; i < w->splits.count; i++) {
        const struct mg_split *s = &w->splits.at[i];
        if (s->mask && s->wait == MG_WAIT_WARP &&
            (is_at(s, op, self->frame) || (anywhere && s->pc->is->id == op->is->id)))
            come |= s->mask;
    }
    if (members & ~come) {
        if (mg__wants_sync(w)) {
            mg__sync_event(w, op, MG_SYNC_WARP_WAIT, mask)->missing = members & ~come;
            mg__sync_emit(w->worker);
        }
        *next = mg__warp_next(w);
        return 0;
    }
    /* All are here. Those at this instruction go on behind it; with bar.warp.sync each behind its own. */
    uint32_t together = 0;
    for (size_t i = 0; i < w->splits.count; i++) {
        struct mg_split *s = &w->splits.at[i];
        if (!s->mask || s->wait != MG_WAIT_WARP)
            continue;
        bool here = is_at(s, op, self->frame);
        if (!here && !(anywhere && s->pc->is->id == op->is->id && (s->mask & members)))
            continue;
        if (here)
            together |= s->mask;
        if (here && s->frame != self->frame) {
            guests->at[guests->n].frame = s->frame;
            guests->at[guests->n++].mask = s->mask;
        }
        if (mg__wants_sync(w)) { /* the lanes that it names are in its own registers */
            w->regs = s->frame->regs;
            tell(w, s->pc, s->mask);
            w->regs = w->frame->regs;
        }
        s->wait = MG_WAIT_NONE;
        s->pc = s->pc + 1;
    }
    return together;
}

MG_HANDLER(mg__op_bar_warp)
{
    const struct mg_op *next = op + 1;
    struct guests guests = {.n = 0};
    gather(w, op, mask, &next, &guests);
    return next;
}

/* The lanes of lane i's own set. */
static uint32_t set_of(const struct mg_warp *w, const struct mg_op *op, uint32_t run, unsigned i)
{
    return op->e < 0 ? run : mg__lane32(w, op->e, i) & run;
}

/* Lanes that get another lane's value must get it from one that they name. Where the whole warp runs it may be compiled
 * code that calls, which goes on behind it; `guests`: some lanes stand in another place, of another frame perhaps. */
static void tell_sources(struct mg_warp *w, const struct mg_op *op, uint32_t run, bool guests, const uint32_t from[32])
{
    uint32_t astray = 0;
    for (uint32_t rest = run; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        astray |= (~set_of(w, op, run, i) >> from[i] & 1) << i;
    }
    if (astray) {
        struct mg_sync *e = mg__sync_event(w, op, MG_SYNC_WARP_SOURCE, astray);
        memcpy(e->members, from, sizeof e->members);
        e->follow = w->worker->run->want_steps && run != ~0u && !guests ? &w->followed : NULL;
        e->frame = w->frame;
        mg__sync_emit(w->worker);
        if (w->followed)
            mg__engine_following(w->worker);
    }
}

/* Results of lanes; those of lanes outside `run` keep what they have. */
union result {
    uint32_t word[32]; /* the first is a predicate's */
    uint64_t both[32];
};
static void keep(struct mg_warp *w, const struct mg_op *op, const union result *result, uint32_t run)
{
    const struct mg_engine_operand *out = op->is->of;
    for (unsigned k = 0; k < op->is->nout; k++) {
        const size_t size = out[k].bytes;
        char *to = mg__slot(w, out[k].slot);
        if (size == 0)
            mg__pred_set(w, out[k].slot, result[k].word[0], run);
        else if (run == ~0u && size == 4)
            memcpy(to, &result[k], sizeof result[k].word);
        else if (run == ~0u)
            memcpy(to, &result[k], sizeof result[k].both);
        for (uint32_t rest = size && run != ~0u ? run : 0; rest; rest &= rest - 1) {
            size_t at = (size_t)__builtin_ctz(rest) * size;
            memcpy(to + at, (const char *)&result[k] + at, size);
        }
    }
}

static void operands(struct mg_warp *w, const struct mg_op *op, union result *result, struct mg_sem_warp *io)
{
    const struct mg_engine_operand *in = op->is->of + op->is->nout + 1;
    for (unsigned k = 0; k + 1 < op->is->nin; k++)
        io->in[k] = mg__slot(w, in[k].slot);
    for (unsigned k = 0; k < op->is->nout; k++)
        io->out[k] = &result[k];
}

/* Any row of sem_warp.def. The first source are the lanes that take part. */
MG_HANDLER(mg__op_warp)
{
    const struct mg_op *next = op + 1;
    struct guests guests = {.n = 0};
    uint32_t run = gather(w, op, mask, &next, &guests);
    if (!run)
        return next;
    seat(w, op, &guests, true);
    const struct mg_sem_warp_row *row = &mg_sem_warp_rows[op->u.imm];
    uint32_t set[32], from[32];
    union result result[MG_SEM_WARP_OUT];
    struct mg_sem_warp io = {.set = set, .run = run};
    operands(w, op, result, &io);
    for (unsigned i = 0; row->sets && i < 32; i++)
        set[i] = set_of(w, op, run, i) | (run & 1u << i);
    if (mg__wants_sync(w)) {
        memset(from, 0xff, sizeof from);
        io.from = from;
    }
    row->fn(&io);
    if (io.from && from[0] < 32)
        tell_sources(w, op, run, guests.n != 0, from);
    keep(w, op, result, run);
    seat(w, op, &guests, false);
    return next;
}

MG_HANDLER(mg__op_mma)
{
    const struct mg_op *next = op + 1;
    struct guests guests = {.n = 0};
    uint32_t run = gather(w, op, mask, &next, &guests);
    if (!run)
        return next;
    seat(w, op, &guests, true);
    union result result[MG_SEM_WARP_OUT];
    struct mg_sem_warp io = {.run = run};
    struct mg_sem_mma what;
    memcpy(&what, &op->u.imm, sizeof what);
    operands(w, op, result, &io);
    const struct mg_simt *simt = w->worker->run->simt;
    simt->lanes->mma(&what, simt->arch->cc, &io);
    keep(w, op, result, run);
    seat(w, op, &guests, false);
    return next;
}

/* Where a lane's part of a fragment of wmma begins (lower_matrix.c). */
MG_HANDLER(mg__op_matrix_address)
{
    const bool wide = op->mode & 1, across = op->mode & 2;
    const uint32_t units = op->mode >> 2 & 0xff, bits = op->mode >> 16;
    const uint64_t line = (uint32_t)op->u.imm, position = op->u.imm >> 32;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        const uint64_t lines = line + (across ? i % 4 * units : i / 4),
                       along = position + (across ? i / 4 : i % 4 * units);
        const uint64_t offset = (lines * mg__lane32(w, op->b, i) + along) * bits / 8;
        if (wide)
            ((uint64_t *)mg__slot(w, op->d))[i] = ((const uint64_t *)mg__slot(w, op->a))[i] + offset;
        else
            ((uint32_t *)mg__slot(w, op->d))[i] = ((const uint32_t *)mg__slot(w, op->a))[i] + (uint32_t)offset;
    }
    return op + 1;
}

MG_HANDLER(mg__op_activemask)
{
    uint32_t *d = mg__slot(w, op->d);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        d[__builtin_ctz(rest)] = mask;
    return op + 1;
}
