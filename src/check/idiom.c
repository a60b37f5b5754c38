/* idiom.c - reads that CUDA programmers leave unordered, and may: told by what becomes of the value.
 *
 *   flag         a volatile load whose value is only compared with something. Whoever decides by it goes on to an
 *                atomic, a fence or a lock, or may as well be late: a ticket, a double-checked flag
 *   decision     a volatile load of global memory whose value itself decides a branch, as where trees and lists are
 *                walked while others change them: an older value leads another way, or to another try. A volatile
 *                store of the value elsewhere (a path that is made shorter) is part of it. Not where what was computed
 *                from it is stored at its own place: that update may be lost
 *   first read   a plain load whose value is what a compare-and-swap expects to find: if it was out of date the swap
 *                fails, and gives the value that there is
 *   first look   a plain load whose value is only compared, and an atomic minimum, maximum, AND or OR of the same place
 *                decides again: an old value makes it go there in vain at worst. Or a compare-and-swap that expects a
 *                constant, where nothing else changes the place: a hash table's slot, which is empty until it is taken
 *
 * All count as strong or as MG_ORDER_POLL, which race with plain writes only. Where a value goes is followed register
 * by register, without regard to order; what is stored, passed to a function or used in an address is more than a flag.
 */
#include "check/check_priv.h"

struct flow {
    const struct mg_ptx_func *func;
    uint8_t *seen; /* by register */
    uint32_t *todo;
    size_t ntodo;
};

static void reach(struct flow *f, uint32_t reg)
{
    if (reg >= f->func->nregs || f->seen[reg])
        return;
    f->seen[reg] = 1;
    f->todo[f->ntodo++] = reg;
}

static bool names(const struct mg_ptx_func *f, const struct mg_ptx_opnd *o, uint32_t reg)
{
    if (o->kind == MG_OPND_REG)
        return o->index == reg;
    bool found = o->kind == MG_OPND_ADDR && o->has_reg && o->index == reg;
    for (uint32_t k = 0; o->kind == MG_OPND_VEC && k < o->count; k++)
        found |= f->operands[o->first + k].kind == MG_OPND_REG && f->operands[o->first + k].index == reg;
    return found;
}

static void reach_results(struct flow *f, const struct mg_ptx_insn *i)
{
    for (unsigned n = 0; n < i->nresults; n++) {
        const struct mg_ptx_opnd *o = mg__ptx_op(f->func, i, n);
        if (o->kind == MG_OPND_REG)
            reach(f, o->index);
        for (uint32_t k = 0; o->kind == MG_OPND_VEC && k < o->count; k++)
            if (f->func->operands[o->first + k].kind == MG_OPND_REG)
                reach(f, f->func->operands[o->first + k].index);
    }
}

/* What passes on a value, or its bits. */
static bool moves(const struct mg_ptx_insn *i)
{
    enum mg_ptx_algebra algebra = mg__ptx_exactly(i);
    return algebra == MG_ALG_COPY || algebra == MG_ALG_CONVERT || algebra == MG_ALG_SELECT || algebra == MG_ALG_BITS ||
           algebra == MG_ALG_SHL || algebra == MG_ALG_AND || algebra == MG_ALG_OR;
}

/* Whether the operand is what a compare-and-swap expects to find. */
static bool expects(const struct mg_ptx_insn *i, unsigned operand)
{
    return i->access == MG_ACCESSES_ATOM && i->atomop == MG_ATOM_CAS && operand == i->address + 1u;
}

struct fate {
    bool swaps; /* a compare-and-swap expects it */
    bool back;  /* it goes back to where it came from */
    bool other; /* it goes elsewhere than into comparisons */
};

bool mg__idiom_same_place(const struct mg_ptx_func *f, const struct mg_ptx_insn *x, const struct mg_ptx_insn *y)
{
    const struct mg_ptx_opnd *a = mg__ptx_op(f, x, x->address), *b = mg__ptx_op(f, y, y->address);
    return a->kind == MG_OPND_ADDR && b->kind == MG_OPND_ADDR && a->var == b->var && a->has_reg == b->has_reg &&
           (!a->has_reg || a->index == b->index) && a->imm == b->imm;
}

/* ---- through calls, as code without optimisation has them: atomicCAS is a function there, of a function ---- */
enum { DEEP = 4, FUNCTIONS = 1000 }; /* calls within calls; functions that are gone through for one, most */
static const struct mg_ptx_func *called(const struct mg_ptx_func *f, const struct mg_ptx_insn *i)
{
    for (unsigned n = 0; i->effects & MG_E_CALLS && n < i->nops; n++)
        if (mg__ptx_op(f, i, n)->kind == MG_OPND_FUNC)
            return mg__ptx_op(f, i, n)->func;
    return NULL;
}

static bool is_expected(const struct mg_ptx_func *f, const struct mg_ptx_var *param, unsigned deep, unsigned *left);

/* Whether what a store makes an argument of is what a compare-and-swap in the called function expects. */
static bool passes_expected(const struct mg_ptx_func *f, const struct mg_ptx_insn *store, unsigned deep, unsigned *left)
{
    const struct mg_ptx_var *argument = mg__ptx_op(f, store, store->address)->var;
    for (size_t k = 0; argument && argument->is_param && deep < DEEP && k < f->ninsns; k++) {
        const struct mg_ptx_insn *call = &f->insns[k];
        const struct mg_ptx_func *to = called(f, call);
        const struct mg_ptx_opnd *all = to && call->nops ? mg__ptx_op(f, call, call->nops - 1u) : NULL;
        for (uint32_t n = 0; all && all->kind == MG_OPND_VEC && n < all->count && n < to->nparams; n++)
            if (f->operands[all->first + n].var == argument && is_expected(to, to->params[n], deep + 1, left))
                return true;
    }
    return false;
}

/* Whether the text between the load and the store has an arrival, an atomic operation with fences around it: of a
 * barrier's number of the round, which who comes last counts on. Nobody's update is lost there. */
static bool arrives_between(const struct mg_ptx_insn *load, const struct mg_ptx_insn *store)
{
    unsigned step = 0; /* fence, atomic operation, fence */
    for (const struct mg_ptx_insn *i = load + 1; i < store && step < 3; i++)
        step += (step == 1) == mg__ptx_is_atomic(i) && (step == 1 || i->effects & MG_E_ORDERS);
    return step == 3;
}

/* Of what is in the registers to do. `load`: what brought it, NULL: a call; `all`: what is computed from it counts as
 * well. */
static struct fate follow(struct flow *f, const struct mg_ptx_insn *load, bool all, unsigned deep, unsigned *left)
{
    struct fate fate = {0};
    while (f->ntodo) {
        uint32_t reg = f->todo[--f->ntodo];
        for (size_t k = 0; k < f->func->ninsns; k++) {
            const struct mg_ptx_insn *i = &f->func->insns[k];
            const bool stores = i->access == MG_ACCESSES_STORE;
            for (unsigned n = i->nresults; n < i->nops; n++) {
                const struct mg_ptx_opnd *o = mg__ptx_op(f->func, i, n);
                if (!names(f->func, o, reg))
                    continue;
                if (i->access != MG_ACCESSES_NONE || i->effects || !i->nresults) {
                    fate.swaps |=
                        expects(i, n) || (stores && n != i->address && !all && passes_expected(f->func, i, deep, left));
                    fate.back |= stores && n != i->address && load && mg__idiom_same_place(f->func, i, load) &&
                                 !arrives_between(load, i);
                    fate.other = true;
                } else if (all || moves(i)) {
                    reach_results(f, i);
                }
            }
        }
    }
    return fate;
}

static struct fate fate_of(struct flow *f, const struct mg_ptx_insn *load, bool all)
{
    unsigned left = FUNCTIONS;
    memset(f->seen, 0, f->func->nregs);
    f->ntodo = 0;
    reach_results(f, load);
    return follow(f, load, all, 0, &left);
}

/* Whether a compare-and-swap expects a parameter of the function. */
static bool is_expected(const struct mg_ptx_func *func, const struct mg_ptx_var *param, unsigned deep, unsigned *left)
{
    struct flow f = {
        .func = func, .seen = calloc(func->nregs + 1, 1), .todo = calloc(func->nregs + 1, sizeof(*f.todo))};
    *left -= *left > 0;
    for (size_t k = 0; f.seen && f.todo && *left && k < func->ninsns; k++)
        if (func->insns[k].access == MG_ACCESSES_LOAD &&
            mg__ptx_op(func, &func->insns[k], func->insns[k].address)->var == param)
            reach_results(&f, &func->insns[k]);
    const bool yes = follow(&f, NULL, false, deep, left).swaps;
    free(f.seen);
    free(f.todo);
    return yes;
}

/* Whether a branch goes by a comparison of the value itself; `seen` are the registers that it has been in. */
static bool decides(struct flow *f, const struct mg_ptx_insn *load)
{
    bool yes = false;
    memset(f->seen, 0, f->func->nregs);
    f->ntodo = 0;
    reach_results(f, load);
    while (f->ntodo) {
        const uint32_t reg = f->todo[--f->ntodo];
        for (size_t k = 0; k < f->func->ninsns; k++) {
            const struct mg_ptx_insn *i = &f->func->insns[k];
            yes |= i->guard == (int32_t)reg && i->opcode == MG_OP_BRA;
            bool passes = false;
            for (unsigned n = i->nresults; n < i->nops; n++)
                passes |= names(f->func, mg__ptx_op(f->func, i, n), reg);
            const bool whether =
                mg__ptx_exactly(i) == MG_ALG_TRUTH || i->nops == 2; /* of it alone: isnan() takes abs first */
            if (passes && i->access == MG_ACCESSES_NONE && (moves(i) || whether))
                reach_results(f, i);
        }
    }
    return yes;
}

static bool in_global(const struct mg_ptx_insn *i)
{
    return i->space == MG_SPACE_GLOBAL || i->space == MG_SPACE_GENERIC;
}

/* Whether the operand is one of the registers that were seen. */
static bool was_seen(const struct flow *f, const struct mg_ptx_opnd *o)
{
    bool seen = o->kind == MG_OPND_REG && f->seen[o->index];
    for (uint32_t k = 0; o->kind == MG_OPND_VEC && k < o->count; k++)
        seen |= was_seen(f, &f->func->operands[o->first + k]);
    return seen;
}

/* Volatile stores of what was seen, which a load gave that decides, are strong as it is; and those to the array that it
 * reads, whose elements say by themselves whether they are there. */
static void store_on(const struct flow *f, const struct mg_launch_info *info, struct code *code,
                     const struct site *load)
{
    for (uint32_t k = 0; k < info->ninsns; k++) {
        const struct mg_ptx_insn *i = info->insns[k].insn;
        struct site *s = &code->sites[k];
        if (info->insns[k].func == f->func && s->number && s->class == MG_ORDER_VOLATILE && in_global(i) &&
            i->access == MG_ACCESSES_STORE &&
            (was_seen(f, mg__ptx_op(f->func, i, i->address + 1u)) ||
             (load->object >= 0 && s->object == load->object && s->source.kind == MG_FLOW_POINTER &&
              load->source.kind == MG_FLOW_POINTER)))
            s->class = MG_ORDER_STRONG;
    }
}

/* A number, in the text or in a register that is nothing else. */
static bool is_constant(const struct mg_ptx_func *f, const struct mg_ptx_opnd *o)
{
    if (o->kind != MG_OPND_REG)
        return o->kind == MG_OPND_IMM;
    bool yes = true;
    for (size_t k = 0; yes && k < f->ninsns; k++) {
        const struct mg_ptx_insn *i = &f->insns[k];
        for (unsigned n = 0; n < i->nresults; n++)
            if (names(f, mg__ptx_op(f, i, n), o->index))
                yes = i->nops == 2 && mg__ptx_exactly(i) == MG_ALG_COPY && mg__ptx_op(f, i, 1)->kind == MG_OPND_IMM;
    }
    return yes;
}

/* Such atomics only ever move a value one way: who has seen an older one finds out there. */
static bool decided_again(const struct mg_ptx_func *f, const struct mg_ptx_insn *load)
{
    bool one_way = false, takes = false, other = false;
    for (size_t k = 0; k < f->ninsns; k++) {
        const struct mg_ptx_insn *i = &f->insns[k];
        const bool atomic = mg__ptx_is_atomic(i);
        const unsigned op = atomic ? i->atomop : MG_ATOM_NONE;
        if ((!atomic && i->access != MG_ACCESSES_STORE) || !mg__idiom_same_place(f, i, load))
            continue;
        if (op == MG_ATOM_MIN || op == MG_ATOM_MAX || op == MG_ATOM_AND || op == MG_ATOM_OR)
            one_way = true;
        else if (op == MG_ATOM_CAS && is_constant(f, mg__ptx_op(f, i, i->address + 1u)))
            takes = true;
        else
            other = true;
    }
    return one_way || (takes && !other);
}

/* In it, or in what it calls. */
static bool has_swaps(const struct mg_ptx_func *f, unsigned deep, unsigned *left)
{
    bool yes = false;
    *left -= *left > 0;
    for (size_t k = 0; !yes && *left && k < f->ninsns; k++) {
        const struct mg_ptx_func *to = deep < DEEP ? called(f, &f->insns[k]) : NULL;
        yes = (f->insns[k].access == MG_ACCESSES_ATOM && f->insns[k].atomop == MG_ATOM_CAS) ||
              (to && to != f && has_swaps(to, deep + 1, left));
    }
    return yes;
}

bool mg__idiom_read(const struct mg_launch_info *info, struct code *code)
{
    struct flow f = {0};
    bool swaps = false, good = true;
    for (uint32_t k = 0; good && k < info->ninsns; k++) {
        const struct mg_ptx_insn *i = info->insns[k].insn;
        struct site *s = &code->sites[k];
        if (info->insns[k].func != f.func) {
            f.func = info->insns[k].func;
            unsigned left = FUNCTIONS;
            swaps = has_swaps(f.func, 0, &left);
            free(f.seen);
            free(f.todo);
            f.seen = calloc(f.func->nregs + 1, 1);
            f.todo = calloc(f.func->nregs + 1, sizeof(*f.todo));
            good = f.seen && f.todo;
        }
        s->in_block = s->number && s->class == MG_ORDER_STRONG && i->scope == MG_SCOPE_CTA;
        s->width = (uint8_t)mg__ptx_type_size((enum mg_ptx_type)i->type[0]);
        if (!good || i->access != MG_ACCESSES_LOAD || !s->number)
            continue;
        if (s->class == MG_ORDER_VOLATILE) {
            const struct fate fate = fate_of(&f, i, true);
            s->goes_back = fate.back && in_global(i);
            if (!fate.other) {
                s->class = MG_ORDER_POLL;
            } else if (in_global(i) && !fate.back && decides(&f, i)) {
                s->class = MG_ORDER_STRONG;
                store_on(&f, info, code, s);
            }
        } else if (s->class == MG_ORDER_PLAIN && ((swaps && fate_of(&f, i, false).swaps) ||
                                                  (decided_again(f.func, i) && !fate_of(&f, i, true).other))) {
            s->class = MG_ORDER_POLL;
            s->letter = true;
        }
    }
    free(f.seen);
    free(f.todo);
    return good;
}
