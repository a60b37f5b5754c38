/* rounds.c - registers that loops count with, for the forms of own.c.
 *
 * Such a register has one definition that adds a number to it, its step, in a block that ends with a branch. All others
 * set it anew, to values of one form. From one of the branch's ways, the loop's end, no way leads to the block again
 * that does not set it anew. So between two of its steps the branch has taken the other way, as a comparison of the
 * counter that the branch goes by says: with a number, of the same block. That bounds how often the step is gone, and
 * what the counter itself comes to.
 *
 * Registers of one block go with the same counter, if nothing sets that one anew on the way round.
 *
 * Nothing is said of counters that may wrap, of steps and ends that this launch's numbers do not tell, and of registers
 * that are set anew under a guard only.
 */
#include "check/form.h"

/* The ends of a block, and what it goes on for. */
struct end {
    uint32_t block, on, over; /* blocks: that goes on, that is behind the loop */
    uint32_t setp;            /* instruction */
    uint32_t reg;             /* the counter that is compared */
    uint8_t cmp;              /* it goes on while the counter is so, … */
    int64_t bound;            /* … compared with this */
    bool is_signed;
    uint64_t most; /* what is found: rounds behind the first; and what the counter holds before its step */
    int64_t low, high;
};
struct search {
    struct reader *r;
    const struct mg_cfg *cfg;
    const struct mg_flow_live *live;
    struct mg_flow_chains chains;
    uint8_t *seen; /* by block */
    uint32_t *todo;
};

static unsigned reg_bits(const struct reader *r, uint32_t reg)
{
    return 8 * mg__ptx_type_size((enum mg_ptx_type)r->func->regs[reg].type);
}

/* The definition of the register that adds to it, in `block`; NO_INSN: there is no such one, or another one there. */
static uint32_t step_in(const struct search *s, uint32_t reg, uint32_t block)
{
    const struct mg_ptx_func *f = s->r->func;
    uint32_t found = NO_INSN;
    for (uint32_t k = s->chains.def_at[reg]; k < s->chains.def_at[reg + 1]; k++) {
        const struct mg_ptx_insn *i = &f->insns[s->chains.defs[k]];
        if (s->cfg->block_of[s->chains.defs[k]] != block)
            continue;
        const enum mg_ptx_algebra algebra = mg__ptx_exactly(i);
        const struct mg_ptx_opnd *a = i->nops == 3 ? mg__ptx_op(f, i, 1) : NULL, *b = a ? mg__ptx_op(f, i, 2) : NULL;
        if (found != NO_INSN || i->guard >= 0 || i->nresults != 1 || !a ||
            (algebra != MG_ALG_ADD && algebra != MG_ALG_SUB) || mg__ptx_op(f, i, 0)->kind != MG_OPND_REG)
            return NO_INSN;
        const bool first = a->kind == MG_OPND_REG && a->index == reg,
                   second = algebra == MG_ALG_ADD && b->kind == MG_OPND_REG && b->index == reg;
        if (first == second)
            return NO_INSN;
        found = s->chains.defs[k];
    }
    return found;
}

/* What all other definitions set it to; false: not of one form, to the last bit. */
static bool begins_as(struct search *s, uint32_t reg, uint32_t step, struct form *begin)
{
    struct reader *r = s->r;
    *begin = (struct form){.known = false};
    for (uint32_t k = s->chains.def_at[reg]; k < s->chains.def_at[reg + 1]; k++) {
        const uint32_t def = s->chains.defs[k];
        const struct mg_ptx_insn *i = &r->func->insns[def];
        if (def == step)
            continue;
        if (i->nresults != 1 || mg__ptx_op(r->func, i, 0)->kind != MG_OPND_REG)
            return false;
        r->at = def;
        const struct form made = mg__form_result(r, i);
        *begin = mg__form_join(begin, &made);
    }
    return begin->known && begin->bits >= reg_bits(r, reg);
}

/* Whether the block sets the register anew for all that come through it; `maybe`: for any. */
static bool sets_anew(const struct search *s, uint32_t block, uint32_t reg, uint32_t step, bool maybe)
{
    bool found = false;
    for (uint32_t k = s->chains.def_at[reg]; k < s->chains.def_at[reg + 1]; k++) {
        const uint32_t def = s->chains.defs[k];
        found |= def != step && s->cfg->block_of[def] == block && (maybe || s->r->func->insns[def].guard < 0);
    }
    return found;
}

/* Whether a way leads from block `from` to `to` on which the register is not set anew; `maybe`: whether one does on
 * which it may be. */
static bool leads(struct search *s, uint32_t from, uint32_t to, uint32_t reg, uint32_t step, bool maybe)
{
    uint32_t n = 0;
    bool found = false;
    memset(s->seen, 0, s->cfg->nblocks);
    s->todo[n++] = from;
    s->seen[from] = 1;
    while (n && !found) {
        const uint32_t at = s->todo[--n];
        if (at == to && !maybe)
            return true;
        const bool anew = at != to && sets_anew(s, at, reg, step, maybe);
        found = maybe && anew;
        for (uint32_t k = 0; at != to && (maybe || !anew) && k < s->cfg->blocks[at].nsucc; k++) {
            const uint32_t next = s->cfg->blocks[at].succ[k];
            if (next != MG_CFG_EXIT && !s->seen[next]) {
                s->seen[next] = 1;
                s->todo[n++] = next;
            }
        }
    }
    return found;
}

static uint8_t opposite(uint8_t cmp)
{
    switch (cmp) {
    case MG_CMP_EQ:
        return MG_CMP_NE;
    case MG_CMP_LT:
        return MG_CMP_GE;
    case MG_CMP_LE:
        return MG_CMP_GT;
    case MG_CMP_GT:
        return MG_CMP_LE;
    case MG_CMP_GE:
        return MG_CMP_LT;
    default:
        return MG_CMP_NONE;
    }
}

static bool number_of(struct reader *r, const struct mg_ptx_opnd *o, unsigned bits, bool is_signed, int64_t *value)
{
    uint64_t v;
    if (o->kind == MG_OPND_IMM && !o->is_float) {
        v = (uint64_t)o->imm;
    } else if (o->kind == MG_OPND_REG && reg_bits(r, o->index) == bits) {
        const struct form *f = mg__form_of(r, o->index);
        bool fixed = f->known && f->bits >= bits && !f->nrounds;
        for (unsigned k = 0; k < VARIABLES; k++)
            fixed &= f->by[k] == 0;
        if (!fixed)
            return false;
        v = f->add;
    } else {
        return false;
    }
    if (bits == 32)
        v = is_signed ? (uint64_t)(int64_t)(int32_t)v : (uint32_t)v;
    *value = (int64_t)v;
    return is_signed || bits == 32 || v <= INT64_MAX;
}

/* The comparison that the block's branch goes by; false: there is none that is understood. */
static bool find_end(const struct search *s, uint32_t block, struct end *e)
{
    struct reader *r = s->r;
    const struct mg_ptx_func *f = r->func;
    const struct mg_cfg_block *b = &s->cfg->blocks[block];
    const struct mg_ptx_insn *branch = &f->insns[b->end - 1], *i = NULL;
    if (branch->opcode != MG_OP_BRA || branch->guard < 0 || b->nsucc != 2 || b->succ[0] == MG_CFG_EXIT ||
        b->succ[1] == MG_CFG_EXIT || b->succ[0] == b->succ[1])
        return false;
    for (uint32_t k = b->first; k < b->end - 1; k++) {
        struct mg_flow_walk w = {f, &f->insns[k], 0, 0};
        uint32_t reg;
        for (bool written; mg__flow_next(&w, &reg, &written);)
            if (written && reg == (uint32_t)branch->guard) {
                i = &f->insns[k];
                e->setp = k;
            }
    }
    if (!i || i->opcode != MG_OP_SETP || i->guard >= 0 || i->nops != 3 || i->nresults != 1 || i->boolop ||
        mg__ptx_op(f, i, 1)->kind != MG_OPND_REG)
        return false;
    const uint8_t type = i->type[0];
    const bool bits = type == MG_T_B32 || type == MG_T_B64, is_signed = type == MG_T_S32 || type == MG_T_S64;
    if (!bits && !is_signed && type != MG_T_U32 && type != MG_T_U64)
        return false;
    e->block = block;
    e->reg = mg__ptx_op(f, i, 1)->index;
    e->cmp = i->cmp;
    e->is_signed = is_signed || i->cmp == MG_CMP_EQ || i->cmp == MG_CMP_NE; /* there it is the same */
    r->at = e->setp;
    return reg_bits(r, e->reg) == 8 * mg__ptx_type_size((enum mg_ptx_type)type) &&
           number_of(r, mg__ptx_op(f, i, 2), reg_bits(r, e->reg), e->is_signed, &e->bound);
}

/* How often the block may be come to again, of a counter that begins from `least` to `greatest` and goes on by `step`.
 * False: it may wrap, or go on for ever. */
static bool count(struct end *e, int64_t least, int64_t greatest, int64_t step, unsigned bits)
{
    const int64_t top = bits == 64     ? INT64_MAX / 2
                        : e->is_signed ? INT32_MAX
                                       : UINT32_MAX,
                  bottom = !e->is_signed ? 0
                           : bits == 64  ? INT64_MIN / 2
                                         : INT32_MIN;
    const int64_t bound = e->bound;
    if (least < bottom || greatest > top || bound < bottom || bound > top || step < bottom - top || step > top ||
        step == 0)
        return false;
    if (e->cmp == MG_CMP_NE) {
        if (least != greatest || (bound - least) % step || (bound - least) / step < 1)
            return false;
        e->most = (uint64_t)((bound - least) / step) - 1;
        e->low = MG_MIN(least, bound - step);
        e->high = MG_MAX(least, bound - step);
    } else if ((e->cmp == MG_CMP_LT || e->cmp == MG_CMP_LE) && step > 0) {
        const int64_t last = bound - (e->cmp == MG_CMP_LT);
        if (MG_MAX(greatest, last) > top - step)
            return false;
        e->most = last >= least ? (uint64_t)(last - least) / (uint64_t)step : 0;
        e->low = least;
        e->high = MG_MAX(greatest, last);
    } else if ((e->cmp == MG_CMP_GT || e->cmp == MG_CMP_GE) && step < 0) {
        const int64_t last = bound + (e->cmp == MG_CMP_GT);
        if (MG_MIN(least, last) < bottom - step)
            return false;
        e->most = last <= greatest ? (uint64_t)(greatest - last) / (uint64_t)-step : 0;
        e->low = MG_MIN(least, last);
        e->high = greatest;
    } else {
        return false;
    }
    return true;
}

static bool step_of(const struct search *s, uint32_t reg, uint32_t insn, int64_t *step)
{
    const struct mg_ptx_insn *i = &s->r->func->insns[insn];
    const struct mg_ptx_opnd *a = mg__ptx_op(s->r->func, i, 1), *b = mg__ptx_op(s->r->func, i, 2);
    const struct mg_ptx_opnd *by = a->kind == MG_OPND_REG && a->index == reg ? b : a;
    s->r->at = insn;
    if (i->flags & (MG_F_SAT | MG_F_CC | MG_F_HI) ||
        8 * mg__ptx_type_size((enum mg_ptx_type)i->type[0]) != reg_bits(s->r, reg) ||
        !number_of(s->r, by, reg_bits(s->r, reg), true, step) || *step < -INT32_MAX || *step > INT32_MAX)
        return false;
    if (mg__ptx_exactly(i) == MG_ALG_SUB)
        *step = -*step;
    return true;
}

/* Whether the register counts with the rounds of this end: its step is in the block, and it is set anew behind the
 * loop before the block comes again. */
static bool counts(struct search *s, const struct end *e, uint32_t reg, uint32_t *insn, int64_t *step,
                   struct form *begin)
{
    struct reader *r = s->r;
    const unsigned bits = reg_bits(r, reg);
    return (bits == 32 || bits == 64) && mg__flow_ndefs(&s->chains, reg) > 1 && !mg__form_read_early(s->live, reg) &&
           (*insn = step_in(s, reg, e->block)) != NO_INSN && step_of(s, reg, *insn, step) &&
           begins_as(s, reg, *insn, begin) && begin->nrounds < ROUNDS &&
           !leads(s, e->over, e->block, reg, *insn, false);
}

/* Blocks that ways lead to from behind this one. */
static void reached(struct search *s, uint32_t block, uint8_t *found)
{
    uint32_t n = 0;
    s->todo[n++] = block;
    while (n) {
        const struct mg_cfg_block *b = &s->cfg->blocks[s->todo[--n]];
        for (uint32_t k = 0; k < b->nsucc; k++)
            if (b->succ[k] != MG_CFG_EXIT && !found[b->succ[k]]) {
                found[b->succ[k]] = 1;
                s->todo[n++] = b->succ[k];
            }
    }
}

static struct form with_rounds(struct form begin, int64_t step, uint64_t most, int64_t more, bool capped, uint64_t cap)
{
    struct rounds *w = &begin.round[begin.nrounds];
    begin.add += (uint64_t)more;
    if (most == 0)
        return begin;
    *w = (struct rounds){.by = (uint64_t)step, .most = most, .cap = cap, .capped = capped};
    memcpy(w->of, begin.by, sizeof(w->of));
    begin.nrounds++;
    return begin;
}

static void add_counter(struct search *s, const struct end *e, uint32_t reg, uint32_t insn, int64_t step,
                        const struct form *begin)
{
    struct reader *r = s->r;
    const struct mg_cfg_block *b = &s->cfg->blocks[e->block];
    const unsigned bits = reg_bits(r, reg);
    const bool capped = reg == e->reg && !begin->nrounds && e->high - e->low < INT32_MAX;
    const uint64_t cap = capped ? (uint64_t)(e->high - e->low) : 0,
                   more = capped ? cap + (uint64_t)(step < 0 ? -step : step) : 0;
    uint8_t *later = calloc(s->cfg->nblocks + 1, 1);
    if (!later)
        return;
    reached(s, e->block, later);
    const struct counter c = {.reg = reg,
                              .insn = insn,
                              .later = later,
                              .begin = mg__form_cut(*begin, bits),
                              .first = b->first,
                              .end = b->end,
                              .before = mg__form_cut(with_rounds(*begin, step, e->most, 0, capped, cap), bits),
                              .behind = mg__form_cut(with_rounds(*begin, step, e->most, step, capped, cap), bits),
                              .ever = mg__form_cut(with_rounds(*begin, step, e->most + 1, 0, capped, more), bits)};
    if (mg__vec_push(&r->counted, c))
        r->counters[reg] = (uint32_t)r->counted.count;
    else
        free(later);
}

/* The counter that the end goes by, and how far it comes. */
static bool find_counter(struct search *s, struct end *e, uint32_t *insn, int64_t *step, struct form *begin)
{
    struct reader *r = s->r;
    int64_t least, greatest;
    if (!counts(s, e, e->reg, insn, step, begin) || *insn > e->setp)
        return false;
    const unsigned bits = reg_bits(r, e->reg);
    if (bits == 32)
        *begin = mg__form_wider(r, begin, e->is_signed);
    return begin->bits == 64 && mg__form_range(r, begin, &least, &greatest) && count(e, least, greatest, *step, bits);
}

static bool look_at(struct search *s, uint32_t block)
{
    struct reader *r = s->r;
    struct end e;
    struct form begin;
    uint32_t insn;
    int64_t step;
    bool found = false, any = false;
    if (!find_end(s, block, &e))
        return false;
    const bool negated = r->func->insns[s->cfg->blocks[block].end - 1].guard_negate;
    const uint8_t taken = negated ? opposite(e.cmp) : e.cmp;
    for (unsigned way = 0; way < 2 && !found; way++) { /* it goes on where it jumps, or where it does not */
        e.on = s->cfg->blocks[block].succ[1 - way];
        e.over = s->cfg->blocks[block].succ[way];
        e.cmp = way ? opposite(taken) : taken;
        found = find_counter(s, &e, &insn, &step, &begin);
    }
    if (!found)
        return false;
    if (!r->counters[e.reg]) {
        add_counter(s, &e, e.reg, insn, step, &begin);
        any = true;
    }
    if (leads(s, e.on, block, e.reg, insn, true)) /* its rounds are not those of others */
        return any;
    for (uint32_t k = s->cfg->blocks[block].first; k < s->cfg->blocks[block].end; k++) {
        const struct mg_ptx_insn *i = &r->func->insns[k];
        const struct mg_ptx_opnd *to = i->nresults == 1 ? mg__ptx_op(r->func, i, 0) : NULL;
        if (!to || to->kind != MG_OPND_REG || to->index == e.reg || r->counters[to->index] ||
            !counts(s, &e, to->index, &insn, &step, &begin))
            continue;
        add_counter(s, &e, to->index, insn, step, &begin);
        any = true;
    }
    return any;
}

void mg__rounds_free(struct reader *r)
{
    for (size_t k = 0; k < r->counted.count; k++)
        free(r->counted.at[k].later);
    mg__vec_free(&r->counted);
    free(r->counters);
}

bool mg__rounds_find(struct reader *r, const struct mg_flow_live *live)
{
    const struct mg_cfg *cfg = r->cfg;
    struct search s = {.r = r, .cfg = cfg, .live = live};
    bool any = false;
    s.seen = calloc(cfg->nblocks + 1, 1);
    s.todo = calloc(cfg->nblocks + 1, sizeof(*s.todo));
    if (mg__flow_chains(r->func, &s.chains) && s.seen && s.todo)
        for (uint32_t b = 0; b < cfg->nblocks; b++)
            any |= cfg->blocks[b].reachable && look_at(&s, b);
    mg__flow_chains_free(&s.chains);
    free(s.seen);
    free(s.todo);
    return any;
}
