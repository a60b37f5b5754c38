/* lower_async.c - barriers in memory that count (mbarrier), bulk copies, and stores that tell such a barrier. */
#include "simt/lower.h"
#include "simt/tensormap.h"

/* ---- loops that do nothing but wait ---- */
/* Registers that hold nothing but what the wait gave, so far in its block. */
struct told {
    uint32_t reg[8];
    unsigned n;
};

static bool is_told(const struct told *t, uint32_t reg)
{
    for (unsigned k = 0; k < t->n; k++)
        if (t->reg[k] == reg)
            return true;
    return false;
}

/* Whether the block's last instruction branches by what the wait at `at` gave alone. */
static bool branches_by(const struct mg_lower *L, uint32_t at, const struct mg_cfg_block *b)
{
    const struct mg_ptx_func *f = L->func;
    const struct mg_ptx_opnd *d = mg__ptx_op(f, &f->insns[at], 0);
    if (d->kind != MG_OPND_REG || !(f->insns[b->end - 1].effects & MG_E_ENDS) || f->insns[b->end - 1].guard < 0)
        return false;
    struct told t = {.reg = {d->index}, .n = 1};
    for (uint32_t k = at + 1; k < b->end - 1; k++) {
        const struct mg_ptx_insn *i = &f->insns[k];
        bool pure = i->nresults == 1 && i->guard < 0, any = false;
        for (unsigned n = i->nresults; n < i->nops; n++) {
            const struct mg_ptx_opnd *o = mg__ptx_op(f, i, n);
            bool from = o->kind == MG_OPND_REG && is_told(&t, o->index);
            any |= from;
            pure &= from || o->kind == MG_OPND_IMM;
        }
        const struct mg_ptx_opnd *to = i->nops ? mg__ptx_op(f, i, 0) : NULL;
        if (pure && any && to->kind == MG_OPND_REG && t.n < MG_COUNT(t.reg))
            t.reg[t.n++] = to->index;
    }
    return is_told(&t, (uint32_t)f->insns[b->end - 1].guard);
}

/* Nothing that others notice, and that ends nothing. */
static bool idle(const struct mg_ptx_insn *i)
{
    return !mg__ptx_accesses(i) && !(i->effects & ~(unsigned)MG_E_ENDS);
}

/* Whether from `block` on all that can be done is idle and leads to `wait`. */
static bool leads_back(const struct mg_lower *L, uint32_t block, uint32_t wait, bool *seen)
{
    if (block == wait || seen[block])
        return true;
    const struct mg_cfg_block *b = &L->cfg->blocks[block];
    bool good = b->nsucc > 0;
    seen[block] = true;
    for (uint32_t k = b->first; k < b->end; k++)
        good &= idle(&L->func->insns[k]);
    for (uint32_t k = 0; k < b->nsucc && good; k++)
        good = b->succ[k] < L->cfg->nblocks && leads_back(L, b->succ[k], wait, seen);
    return good;
}

/* Whether the wait, in vain, comes again and nothing else happens (PTX is full of such loops; libcu++'s sleep longer
 * and longer). */
static bool alone(struct mg_lower *L)
{
    const uint32_t at = (uint32_t)(L->insn - L->func->insns), block = L->cfg->block_of[at];
    const struct mg_cfg_block *b = &L->cfg->blocks[block];
    bool found = false;
    if (!branches_by(L, at, b))
        return false;
    for (uint32_t k = b->first; k < b->end; k++)
        if (k != at && !idle(&L->func->insns[k]))
            return false;
    bool *seen = calloc(L->cfg->nblocks, sizeof *seen);
    if (!seen)
        L->status = MG_ERR_NOMEM;
    for (uint32_t k = 0; seen && k < b->nsucc && !found; k++) {
        memset(seen, 0, L->cfg->nblocks * sizeof *seen);
        found = b->succ[k] < L->cfg->nblocks && leads_back(L, b->succ[k], block, seen);
    }
    free(seen);
    return found;
}

/* ---- mbarriers ---- */
static void change(struct mg_lower *L, enum mg_mbarrier mode)
{
    const struct mg_ptx_insn *i = L->insn;
    const unsigned at = i->nresults; /* a state comes before the address */
    const struct mg_mem *word = mg__lower_where(L, i->space, mg__lower_opnd(L, at));
    int32_t state = -1, count = -1;
    bool good = word != NULL;
    if (good && at && mg__lower_opnd(L, 0)->kind != MG_OPND_SINK)
        good = (state = mg__lower_destination(L, mg__lower_opnd(L, 0), 8)) >= 0;
    if (good && i->nops > at + 1)
        good = (count = mg__lower_source(L, mg__lower_opnd(L, at + 1), 4, MG_T_U32, 0)) >= 0;
    if (!good) {
        mg__lower_unsupported(L);
        return;
    }
    struct mg_op *op = mg__lower_op(
        L, MG_DO_MBARRIER, 1, MG_OPERANDS(MG_LONG(state), MG_SIZED(word->addr, word->addr64 ? 8 : 4), MG_WORD(count)));
    op->mode = mode;
    op->u.mem = word;
}

void mg__lower_mbarrier_init(struct mg_lower *L)
{
    change(L, MG_MBARRIER_INIT);
}

void mg__lower_mbarrier_inval(struct mg_lower *L)
{
    change(L, MG_MBARRIER_INVAL);
}

void mg__lower_mbarrier_expect(struct mg_lower *L)
{
    change(L, MG_MBARRIER_EXPECT);
}

void mg__lower_mbarrier_complete(struct mg_lower *L)
{
    change(L, MG_MBARRIER_COMPLETE);
}

void mg__lower_mbarrier_arrive(struct mg_lower *L)
{
    const unsigned sub = L->insn->sub;
    change(L, sub == MG_SUB_EXPECT_TX     ? MG_MBARRIER_ARRIVE_EXPECT
              : sub == MG_SUB_NO_COMPLETE ? MG_MBARRIER_ARRIVE_ONLY
                                          : MG_MBARRIER_ARRIVE);
}

void mg__lower_mbarrier_drop(struct mg_lower *L)
{
    const unsigned sub = L->insn->sub;
    change(L, sub == MG_SUB_EXPECT_TX     ? MG_MBARRIER_DROP_EXPECT
              : sub == MG_SUB_NO_COMPLETE ? MG_MBARRIER_DROP_ONLY
                                          : MG_MBARRIER_DROP);
}

void mg__lower_mbarrier_copies(struct mg_lower *L)
{
    change(L, L->insn->sub == MG_SUB_NOINC ? MG_MBARRIER_COPIES_ONE : MG_MBARRIER_COPIES);
}

void mg__lower_mbarrier_wait(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    const bool parity = i->sub == MG_SUB_PARITY;
    const struct mg_mem *word = mg__lower_where(L, i->space, mg__lower_opnd(L, 1));
    const uint8_t bytes = parity ? 4 : 8;
    int32_t d = mg__lower_destination(L, mg__lower_opnd(L, 0), 0),
            phase = mg__lower_source(L, mg__lower_opnd(L, 2), bytes, parity ? MG_T_B32 : MG_T_B64, 0);
    if (!word || d < 0 || phase < 0) {
        mg__lower_unsupported(L);
        return;
    }
    struct mg_op *op =
        mg__lower_op(L, MG_DO_MBARRIER_WAIT, 1,
                     MG_OPERANDS(MG_PRED(d), MG_SIZED(word->addr, word->addr64 ? 8 : 4), MG_SIZED(phase, bytes)));
    op->mode = (parity ? MG_WAIT_PARITY : 0) | (alone(L) ? MG_WAIT_ALONE : 0);
    op->u.mem = word;
}

void mg__lower_mbarrier_pending(struct mg_lower *L)
{
    const struct mg_ptx_opnd *to = mg__lower_opnd(L, 0);
    int32_t a = mg__lower_source(L, mg__lower_opnd(L, 1), 8, MG_T_B64, 0), d = mg__lower_destination(L, to, 4);
    if (a < 0 || d < 0) {
        mg__lower_unsupported(L);
        return;
    }
    mg__lower_op(L, MG_DO_MBARRIER_PENDING, 1, MG_OPERANDS(MG_WORD(d), MG_LONG(a)));
    mg__lower_widen(L, to, 4, MG_T_U32);
}

/* ---- bulk copies ---- */
struct sources { /* of a bulk op, in its row's order: to, from, word, size, mask, others */
    struct mg_engine_operand of[16];
    unsigned n;
    bool good;
};

static struct mg_engine_operand address_operand(const struct mg_mem *m)
{
    return m ? (struct mg_engine_operand)MG_SIZED(m->addr, m->addr64 ? 8 : 4) : (struct mg_engine_operand)MG_WORD(-1);
}

static void take(struct mg_lower *L, struct sources *s, const struct mg_ptx_opnd *o, unsigned bytes, uint8_t type)
{
    /* what is no register needs no slot of its own to be made in */
    int32_t slot = mg__lower_source(L, o, bytes, type, s->n % MG_COUNT(L->temp));
    s->good &= slot >= 0;
    s->of[s->n++] = (struct mg_engine_operand)MG_SIZED(slot, bytes);
}

static struct mg_bulk *new_bulk(struct mg_lower *L)
{
    struct mg_bulk *b = mg__arena_alloc(&L->program->arena, sizeof *b);
    if (!b)
        L->status = MG_ERR_NOMEM;
    return b;
}

/* What a reduction does, put down at its destination. */
static bool set_reduction(struct mg_lower *L, struct mg_bulk *b, struct mg_mem *to, uint8_t type)
{
    to->atomop = L->insn->atomop;
    to->type = type;
    to->width = (uint8_t)mg__lower_type_size(type);
    b->reduces = true;
    bool bits = to->atomop >= MG_ATOM_AND && to->atomop <= MG_ATOM_XOR;
    if (bits && (type == MG_T_U32 || type == MG_T_S32))
        to->type = MG_T_B32;
    if (bits && (type == MG_T_U64 || type == MG_T_S64))
        to->type = MG_T_B64;
    return mg__atomic_known(to);
}

static void finish(struct mg_lower *L, struct mg_bulk *b, const struct sources *s)
{
    if (s->good)
        mg__lower_op(L, MG_DO_BULK, 0, s->of, s->n)->u.bulk = b;
    else
        mg__lower_unsupported(L);
}

void mg__lower_bulk(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    const bool tells = i->sub == MG_SUB_MBARRIER_BYTES;
    struct mg_bulk *b = new_bulk(L);
    if (!b)
        return;
    struct mg_mem *to = mg__lower_where(L, i->space, mg__lower_opnd(L, 0));
    b->to = to;
    b->from = mg__lower_where(L, i->space2, mg__lower_opnd(L, 1));
    b->word = tells ? mg__lower_where(L, MG_SPACE_SHARED, mg__lower_opnd(L, 3)) : NULL;
    b->to_shared = i->space == MG_SPACE_SHARED;
    b->from_shared = i->space2 == MG_SPACE_SHARED;
    b->multicast = i->flags & MG_F_MULTICAST;
    struct sources s = {.good = to && b->from && (!tells || b->word) && b->to_shared == tells};
    s.of[s.n++] = address_operand(to);
    s.of[s.n++] = address_operand(b->from);
    s.of[s.n++] = address_operand(b->word);
    take(L, &s, mg__lower_opnd(L, 2), 4, MG_T_U32);
    if (b->multicast)
        take(L, &s, mg__lower_opnd(L, 4), 4, MG_T_U16);
    if (s.good && i->atomop != MG_ATOM_NONE)
        s.good = set_reduction(L, b, to, i->type[0]);
    finish(L, b, &s);
}

static void take_all(struct mg_lower *L, struct sources *s, const struct mg_ptx_opnd *vector, uint8_t type)
{
    for (uint32_t k = 0; k < vector->count && s->n < MG_COUNT(s->of); k++)
        take(L, s, &L->func->operands[vector->first + k], 4, type);
}

/* The map and its coordinates are operands `map` and the next; what follows the mbarrier may be offsets, and a mask. */
void mg__lower_bulk_tensor(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    const bool loads = i->space == MG_SPACE_SHARED;
    const unsigned map = loads;
    unsigned next = 4;
    struct mg_bulk *b = new_bulk(L);
    if (!b)
        return;
    struct mg_mem *side = mg__lower_where(L, MG_SPACE_SHARED, mg__lower_opnd(L, loads ? 0 : 2));
    b->tensor = true;
    b->dims = i->dims;
    b->im2col = i->flags & MG_F_IM2COL;
    b->multicast = i->flags & MG_F_MULTICAST;
    b->map = mg__lower_where(L, MG_SPACE_GENERIC, mg__lower_opnd(L, map));
    b->to_shared = loads;
    b->from_shared = !loads;
    b->to = loads ? side : NULL;
    b->from = loads ? NULL : side;
    b->word = loads ? mg__lower_where(L, MG_SPACE_SHARED, mg__lower_opnd(L, 3)) : NULL;
    const struct mg_ptx_opnd *coordinates = mg__lower_opnd(L, map + 1), *offsets = NULL;
    if (loads && b->im2col && i->nops > next && mg__lower_opnd(L, next)->kind == MG_OPND_VEC)
        offsets = mg__lower_opnd(L, next++);
    struct sources s = {.good = side && b->map && (b->word || !loads) && coordinates->kind == MG_OPND_VEC &&
                                coordinates->count == i->dims && (!b->multicast || i->nops > next)};
    s.of[s.n++] = address_operand(loads ? side : b->map);
    s.of[s.n++] = address_operand(loads ? b->map : side);
    s.of[s.n++] = address_operand(b->word);
    s.of[s.n++] = (struct mg_engine_operand)MG_WORD(-1);
    if (b->multicast && s.good)
        take(L, &s, mg__lower_opnd(L, next), 4, MG_T_U16);
    else
        s.of[s.n++] = (struct mg_engine_operand)MG_WORD(-1);
    if (s.good)
        take_all(L, &s, coordinates, MG_T_S32);
    if (s.good && offsets)
        take_all(L, &s, offsets, MG_T_U16);
    if (i->atomop != MG_ATOM_NONE) { /* the type is the map's, known when it runs */
        b->reduces = true;
        struct mg_mem *how = mg__arena_alloc(&L->program->arena, sizeof *how);
        if (!how) {
            L->status = MG_ERR_NOMEM;
            return;
        }
        how->atomop = i->atomop;
        b->to = how;
    }
    finish(L, b, &s);
}

void mg__lower_async_store(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    const bool reduces = i->atomop != MG_ATOM_NONE;
    struct mg_bulk *b = new_bulk(L);
    if (!b)
        return;
    struct mg_mem *to = mg__lower_where(L, i->space, mg__lower_opnd(L, 0));
    const struct mg_ptx_opnd *value = mg__lower_opnd(L, 1);
    b->to = to;
    b->word = mg__lower_where(L, i->space, mg__lower_opnd(L, 2));
    b->to_shared = true;
    struct sources s = {.good = to && b->word};
    s.of[s.n++] = address_operand(to);
    s.of[s.n++] = (struct mg_engine_operand)MG_WORD(-1);
    s.of[s.n++] = address_operand(b->word);
    s.of[s.n++] = (struct mg_engine_operand)MG_WORD(-1);
    s.of[s.n++] = (struct mg_engine_operand)MG_WORD(-1);
    const unsigned bytes = mg__lower_type_size(i->type[0]) == 8 ? 8 : 4;
    const struct mg_ptx_opnd *e = value->kind == MG_OPND_VEC ? &L->func->operands[value->first] : value;
    b->nvalues = (uint8_t)(value->kind == MG_OPND_VEC ? value->count : 1);
    for (unsigned k = 0; k < b->nvalues && k < 4; k++)
        take(L, &s, &e[k], bytes, i->type[0]);
    if (to)
        to->width = (uint8_t)mg__lower_type_size(i->type[0]);
    if (s.good)
        s.good =
            b->nvalues <= 4 && to->width >= 4 && to->width <= 8 && (!reduces || set_reduction(L, b, to, i->type[0]));
    finish(L, b, &s);
}

/* A cache is only filled. */
void mg__lower_bulk_prefetch(struct mg_lower *L)
{
    mg__lower_op(L, MG_DO_NOP, 0, NULL, 0);
}

void mg__lower_bulk_group(struct mg_lower *L)
{
    const bool commits = L->insn->nops == 0;
    struct mg_op *op = mg__lower_op(L, MG_DO_BULK_GROUP, 0, NULL, 0);
    op->mode = commits ? MG_SUB_COMMIT_GROUP : MG_SUB_WAIT_GROUP;
    op->u.imm = commits ? 0 : (uint64_t)mg__lower_opnd(L, 0)->imm;
}

/* ---- tensor maps that are changed ---- */
void mg__lower_tensormap_replace(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    const unsigned last = i->nops - 1u;
    const bool wide = i->type[0] == MG_T_B64, ordered = i->sub >= MG_SUB_MAP_BOX && i->sub <= MG_SUB_MAP_STEP;
    const bool takes_wide = i->sub == MG_SUB_MAP_ADDRESS || i->sub == MG_SUB_MAP_STRIDE;
    const uint64_t dim = ordered ? (uint64_t)mg__lower_opnd(L, 1)->imm : 0;
    const unsigned dims = i->sub == MG_SUB_MAP_STRIDE ? MG_TENSORMAP_DIMS - 1 : MG_TENSORMAP_DIMS;
    const struct mg_mem *at = mg__lower_where(L, i->space, mg__lower_opnd(L, 0));
    int32_t value = mg__lower_source(L, mg__lower_opnd(L, last), wide ? 8 : 4, wide ? MG_T_B64 : MG_T_B32, 0);
    if (!at || value < 0 || last != (ordered ? 2 : 1) || dim >= dims || wide != takes_wide) {
        mg__lower_unsupported(L);
        return;
    }
    struct mg_op *op = mg__lower_op(L, MG_DO_TENSORMAP_REPLACE, 0,
                                    MG_OPERANDS(MG_SIZED(at->addr, at->addr64 ? 8 : 4), MG_SIZED(value, wide ? 8 : 4)));
    op->mode = i->sub | (uint32_t)dim << 8;
    op->u.mem = at;
}

void mg__lower_tensormap_copy(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    struct mg_bulk *b = new_bulk(L);
    if (!b)
        return;
    b->to = mg__lower_where(L, i->space, mg__lower_opnd(L, 0));
    b->from = mg__lower_where(L, i->space2, mg__lower_opnd(L, 1));
    if (b->to && b->from && mg__lower_opnd(L, 2)->imm == 128)
        mg__lower_op(L, MG_DO_TENSORMAP_COPY, 0, MG_OPERANDS(address_operand(b->to), address_operand(b->from)))
            ->u.bulk = b;
    else
        mg__lower_unsupported(L);
}
