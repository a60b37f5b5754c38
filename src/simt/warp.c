/* warp.c - operations across the lanes of a warp: shfl, vote, match, redux, activemask, elect, bar.warp.sync.
 *
 * The .sync forms name the lanes that take part. When all of them that have not exited run in this leaf, the operation
 * is done at once. Otherwise the leaf waits; as soon as leaves that wait at the same instruction, or for bar.warp.sync
 * at any, make up the set, they all do it together (PTX ISA, "shfl.sync": the executing thread waits until all
 * non-exited threads of membermask have executed it with the same qualifiers and the same membermask).
 *
 * Lanes of one leaf may name different sets (tiles of cooperative groups do): each set is its own operation.
 */
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
    struct mg_sync *e = mg__sync_event(w, op, MG_SYNC_WARP, run);
    for (unsigned i = 0; i < 32; i++)
        e->members[i] = op->e < 0 ? run : mg__lane32(w, op->e, i);
    mg__sync_emit(w->worker);
}

/* The lanes that execute `op` now, or 0 when the leaf has to wait (w->stop is set) and `*next` is to be returned. */
static uint32_t gather(struct mg_warp *w, const struct mg_op *op, uint32_t mask, const struct mg_op **next)
{
    uint32_t members = members_of(w, op, mask);
    if ((members & ~mask) == 0) {
        if (mg__wants_sync(w))
            tell(w, op, mask);
        return mask;
    }
    bool anywhere = op->fn == mg__op_bar_warp;
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
            ((s->pc == op && s->frame == self->frame) || (anywhere && s->pc->fn == op->fn)))
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
        bool here = s->pc == op && s->frame == self->frame;
        if (!here && !(anywhere && s->pc->fn == op->fn && (s->mask & members)))
            continue;
        if (here)
            together |= s->mask;
        if (mg__wants_sync(w))
            tell(w, s->pc, s->mask);
        s->wait = MG_WAIT_NONE;
        s->pc = s->pc + 1;
    }
    return together;
}

MG_HANDLER(mg__op_bar_warp)
{
    const struct mg_op *next = op + 1;
    gather(w, op, mask, &next);
    return next;
}

/* The lanes of lane i's own set. */
static uint32_t set_of(const struct mg_warp *w, const struct mg_op *op, uint32_t run, unsigned i)
{
    return op->e < 0 ? run : mg__lane32(w, op->e, i) & run;
}

/* PTX ISA, "shfl.sync": c holds the clamp in its low five bits and the segment mask in bits 8 to 12. */
MG_HANDLER(mg__op_shfl)
{
    const struct mg_op *next = op + 1;
    uint32_t run = gather(w, op, mask, &next);
    if (!run)
        return next;
    uint32_t *d = mg__slot(w, op->d);
    const uint32_t *b = mg__slot(w, op->b), *c = mg__slot(w, op->c);
    uint32_t a[32], valid = 0;
    memcpy(a, mg__slot(w, op->a), sizeof a);
    uint32_t result[32], from[32];
    for (unsigned i = 0; i < 32; i++) {
        int32_t lane = (int32_t)i, bval = (int32_t)(b[i] & 31), cval = (int32_t)(c[i] & 31);
        int32_t segment = (int32_t)(c[i] >> 8 & 31);
        int32_t max = (lane & segment) | (cval & ~segment), min = lane & segment, j;
        bool p;
        switch (op->mode) {
        case MG_SUB_UP:
            j = lane - bval;
            p = j >= max;
            break;
        case MG_SUB_DOWN:
            j = lane + bval;
            p = j <= max;
            break;
        case MG_SUB_BFLY:
            j = lane ^ bval;
            p = j <= max;
            break;
        default:
            j = min | (bval & ~segment);
            p = j <= max;
            break;
        }
        result[i] = a[p ? j & 31 : lane];
        valid |= (uint32_t)p << i;
        from[i] = p ? (uint32_t)j & 31 : i;
    }
    if (mg__wants_sync(w)) {
        uint32_t astray = 0;
        for (uint32_t rest = run; rest; rest &= rest - 1) {
            unsigned i = (unsigned)__builtin_ctz(rest);
            astray |= (~set_of(w, op, run, i) >> from[i] & 1) << i;
        }
        if (astray) {
            memcpy(mg__sync_event(w, op, MG_SYNC_WARP_SOURCE, astray)->members, from, sizeof from);
            mg__sync_emit(w->worker);
        }
    }
    for (unsigned i = 0; i < 32; i++)
        d[i] = run >> i & 1 ? result[i] : d[i];
    if (op->d2 >= 0)
        mg__pred_set(w, op->d2, valid, run);
    return next;
}

MG_HANDLER(mg__op_vote)
{
    const struct mg_op *next = op + 1;
    uint32_t run = gather(w, op, mask, &next);
    if (!run)
        return next;
    uint32_t p = mg__pred(w, op->a), bits = 0;
    uint32_t ballot[32];
    for (unsigned i = 0; i < 32; i++) {
        uint32_t set = set_of(w, op, run, i), yes = p & set;
        bool result = op->mode == MG_SUB_ALL ? yes == set : op->mode == MG_SUB_ANY ? yes != 0 : yes == set || yes == 0;
        ballot[i] = yes;
        bits |= (uint32_t)result << i;
    }
    if (op->mode == MG_SUB_BALLOT) {
        uint32_t *d = mg__slot(w, op->d);
        for (unsigned i = 0; i < 32; i++)
            d[i] = run >> i & 1 ? ballot[i] : d[i];
    } else {
        mg__pred_set(w, op->d, bits, run);
    }
    return next;
}

MG_HANDLER(mg__op_match)
{
    const struct mg_op *next = op + 1;
    uint32_t run = gather(w, op, mask, &next);
    if (!run)
        return next;
    bool wide = op->u.imm == 8;
    uint64_t a[32];
    for (unsigned i = 0; i < 32; i++)
        a[i] = wide ? mg__lane64(w, op->a, i) : mg__lane32(w, op->a, i);
    uint32_t result[32] = {0}, valid = 0;
    for (uint32_t rest = run; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        uint32_t set = set_of(w, op, run, i), equal = 0;
        for (unsigned k = 0; k < 32; k++)
            equal |= (uint32_t)(a[k] == a[i]) << k;
        equal &= set;
        bool all = equal == set;
        result[i] = op->mode == MG_SUB_ALL ? (all ? set : 0) : equal;
        valid |= (uint32_t)all << i;
    }
    uint32_t *d = mg__slot(w, op->d);
    for (unsigned i = 0; i < 32; i++)
        d[i] = run >> i & 1 ? result[i] : d[i];
    if (op->d2 >= 0)
        mg__pred_set(w, op->d2, valid, run);
    return next;
}

static uint32_t reduce(uint32_t x, uint32_t y, uint32_t mode)
{
    bool is_signed = mode >> 8, less = is_signed ? (int32_t)x < (int32_t)y : x < y;
    switch (mode & 0xff) {
    case MG_ATOM_ADD:
        return x + y;
    case MG_ATOM_MIN:
        return less ? x : y;
    case MG_ATOM_MAX:
        return less ? y : x;
    case MG_ATOM_AND:
        return x & y;
    case MG_ATOM_OR:
        return x | y;
    default:
        return x ^ y;
    }
}

MG_HANDLER(mg__op_redux)
{
    const struct mg_op *next = op + 1;
    uint32_t run = gather(w, op, mask, &next);
    if (!run)
        return next;
    uint32_t a[32], result[32] = {0};
    memcpy(a, mg__slot(w, op->a), sizeof a);
    for (uint32_t rest = run; rest;) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        uint32_t set = set_of(w, op, run, i) | 1u << i, value = a[i];
        for (uint32_t others = set & ~(1u << i); others; others &= others - 1)
            value = reduce(value, a[__builtin_ctz(others)], op->mode);
        uint32_t same = 0; /* the lanes that named this set */
        for (uint32_t k = rest; k; k &= k - 1)
            if ((set_of(w, op, run, (unsigned)__builtin_ctz(k)) | (k & -k)) == set)
                same |= k & -k;
        for (uint32_t k = same; k; k &= k - 1)
            result[__builtin_ctz(k)] = value;
        rest &= ~same;
    }
    uint32_t *d = mg__slot(w, op->d);
    for (unsigned i = 0; i < 32; i++)
        d[i] = run >> i & 1 ? result[i] : d[i];
    return next;
}

MG_HANDLER(mg__op_activemask)
{
    uint32_t *d = mg__slot(w, op->d);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        d[__builtin_ctz(rest)] = mask;
    return op + 1;
}

/* The lowest lane of the set leads; its number is the result. */
MG_HANDLER(mg__op_elect)
{
    const struct mg_op *next = op + 1;
    uint32_t run = gather(w, op, mask, &next);
    if (!run)
        return next;
    uint32_t *d = mg__slot(w, op->d), leaders = 0;
    for (uint32_t rest = run; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        uint32_t set = set_of(w, op, run, i) | 1u << i;
        unsigned leader = (unsigned)__builtin_ctz(set);
        d[i] = leader;
        leaders |= (uint32_t)(leader == i) << i;
    }
    if (op->d2 >= 0)
        mg__pred_set(w, op->d2, leaders, run);
    return next;
}
