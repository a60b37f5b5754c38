/* merge.c - what ptxas makes of a kernel's accesses before the hardware counts them, worked out from the PTX.
 *
 * Learnt from ptxas 13.0 for sm_90 (tests/model/merge has the cases and what it made of each):
 *
 * Loads of shared memory are joined when they stand in one basic block with nothing between them that could change
 * shared memory or order it (a store or atomic to shared or generic addresses, a barrier, a fence, a call, a division
 * that becomes a call), have elements of one size, and addresses of one base plus constants. The base's alignment must
 * be provable. Of a window of four elements, aligned as a whole, three or four become one access of the whole window,
 * holes included; of an aligned pair, both become one access. Elements are 2, 4 or 8 bytes, the joined access at most
 * 8, 16 and 16. Loads that extend a sign, volatile and guarded loads stay alone.
 *
 * Stores are joined when they follow one another with no other access to shared memory between them, and are full pairs
 * or full windows. Global accesses are never joined.
 *
 * The alignment of an address is that of a linear form: constants times registers, plus a variable, plus a constant.
 * Within a block it follows the values as they are computed; what was computed before is seen through only where it
 * still holds (holds.c), for a register may be written again, and its old value be in use.
 * What is known of a register is how many of its low bits are zero, over all its definitions. ptxas lays out the
 * function's own shared variables in the order of their declaration, then those of the module that it uses, dynamic
 * shared memory behind them at a multiple of 16.
 *
 * Atomics whose result nobody reads become reductions. Integer reductions at an address that all lanes provably share
 * are made over the warp first, and one lane does the rest (`lanes_of`).
 *
 * Left out: joining across blocks (ptxas may hoist a load over a branch), loads that it removes as redundant where nvcc
 * has left any, and unrolling, which joins nothing that was not joined before.
 */
#include "model/model_priv.h"

enum { MAX_TERMS = 4, ZERO_BITS = 16, MAX_DEPTH = 24 };

struct term {
    uint32_t reg, version;
    int64_t times;
};
struct linear { /* add + var + sum of times * reg */
    int64_t add;
    const struct mg_ptx_var *var;
    struct term term[MAX_TERMS];
    unsigned nterms;
};

struct reg_info {
    uint32_t ndefs;     /* definitions in the function */
    uint32_t def;       /* one of them */
    uint32_t block;     /* the last one that wrote it, of those visited; 0: none did */
    uint32_t version;   /* definitions passed in that block */
    bool known;         /* `form` is its value since the last of them */
    uint8_t zeros;      /* low bits known to be zero */
    bool read, varies;  /* varies: may differ between the lanes of a warp */
    struct linear form; /* with versions of the block; version 0 is the value that a register had at its beginning */
};

struct access { /* a load or store that may be joined */
    uint32_t insn;
    struct linear at;
    uint8_t element, elements;
    bool taken;
};

struct analysis {
    const struct mg_ptx_module *module;
    const struct mg_ptx_func *func;
    struct reg_info *regs;
    uint32_t block;          /* that is being visited, from 1 */
    const uint64_t *through; /* registers that can be seen through where it began (holds.c) */
    struct mg_model_holds holds;
    struct mg_model_plan *plan;
    MG_VEC(struct access) loads;
    MG_VEC(struct access) stores;
    bool nomem;
};

/* ---- what an instruction writes ---- */
static unsigned results(const struct mg_ptx_insn *insn)
{
    unsigned n = 0;
    while (n < insn->nops && mg__ptx_writes(insn, n))
        n++;
    return n;
}

static const struct mg_ptx_opnd *operand(const struct analysis *a, const struct mg_ptx_insn *insn, unsigned n)
{
    static const struct mg_ptx_opnd none;
    return n < insn->nops && insn->first_op + n < a->func->noperands ? mg__ptx_op(a->func, insn, n) : &none;
}

/* Calls `each` for every register of an operand: itself, an address's base, or a vector's. */
static void each_reg(struct analysis *a, const struct mg_ptx_opnd *o,
                     void (*each)(struct analysis *a, uint32_t reg, uint32_t insn), uint32_t insn)
{
    const struct mg_ptx_opnd *at = o;
    size_t n = 1;
    if (o->kind == MG_OPND_VEC) {
        if (o->first > a->func->noperands || o->count > a->func->noperands - o->first)
            return;
        at = a->func->operands + o->first;
        n = o->count;
    }
    for (size_t i = 0; i < n; i++)
        if ((at[i].kind == MG_OPND_REG || (at[i].kind == MG_OPND_ADDR && at[i].has_reg)) &&
            at[i].index < a->func->nregs)
            each(a, at[i].index, insn);
}

static void note_def(struct analysis *a, uint32_t reg, uint32_t insn)
{
    a->regs[reg].ndefs++;
    a->regs[reg].def = insn;
}

static void note_read(struct analysis *a, uint32_t reg, uint32_t insn)
{
    (void)insn;
    a->regs[reg].read = true;
}

static void note_version(struct analysis *a, uint32_t reg, uint32_t insn)
{
    struct reg_info *r = &a->regs[reg];
    (void)insn;
    r->version = r->block == a->block ? r->version + 1 : 1;
    r->block = a->block;
    r->known = false;
}

static void note_varies(struct analysis *a, uint32_t reg, uint32_t insn)
{
    (void)insn;
    a->regs[reg].varies = true;
}

static void survey(struct analysis *a)
{
    const struct mg_ptx_func *f = a->func;
    for (uint32_t i = 0; i < f->ninsns; i++) {
        const struct mg_ptx_insn *insn = &f->insns[i];
        unsigned nresults = results(insn);
        for (unsigned n = 0; n < insn->nops; n++) {
            const struct mg_ptx_opnd *o = operand(a, insn, n);
            each_reg(a, o, n < nresults && o->kind != MG_OPND_ADDR ? note_def : note_read, i);
        }
        if (insn->guard >= 0 && (uint32_t)insn->guard < f->nregs)
            a->regs[insn->guard].read = true;
    }
}

/* ---- where ptxas puts shared variables ---- */
static uint64_t place(uint64_t at, const struct mg_ptx_var *v, const struct mg_ptx_var *wanted, bool *found)
{
    uint64_t align = v->align ? v->align : 1;
    at = (at + align - 1) / align * align;
    *found = v == wanted;
    return *found ? at : at + v->size;
}

static uint64_t offset_of(const struct analysis *a, const struct mg_ptx_var *wanted)
{
    uint64_t at = 0;
    bool found = false;
    if (wanted->unsized)
        return 16;
    for (size_t i = 0; i < a->func->nvars; i++)
        if (a->func->vars[i]->space == MG_SPACE_SHARED && !a->func->vars[i]->unsized) {
            at = place(at, a->func->vars[i], wanted, &found);
            if (found)
                return at;
        }
    for (size_t i = 0; a->module && i < a->module->nvars; i++) {
        const struct mg_ptx_var *v = a->module->vars[i];
        if (v->space != MG_SPACE_SHARED || v->owner || v->unsized)
            continue;
        bool used = false;
        for (size_t k = 0; k < a->func->noperands && !used; k++)
            used = a->func->operands[k].var == v;
        if (used || v == wanted) {
            at = place(at, v, wanted, &found);
            if (found)
                return at;
        }
    }
    return wanted->align ? wanted->align : 1;
}

/* ---- low bits that are zero ---- */
static unsigned zeros_of(uint64_t value)
{
    return value ? MG_MIN((unsigned)__builtin_ctzll(value), (unsigned)ZERO_BITS) : ZERO_BITS;
}

static unsigned operand_zeros(const struct analysis *a, const struct mg_ptx_opnd *o)
{
    switch (o->kind) {
    case MG_OPND_REG:
        return o->index < a->func->nregs ? a->regs[o->index].zeros : 0;
    case MG_OPND_IMM:
        return o->is_float ? 0 : zeros_of((uint64_t)o->imm);
    case MG_OPND_SYMBOL:
    case MG_OPND_ADDR:
        if (!o->var || o->has_reg)
            return 0;
        return o->var->space == MG_SPACE_SHARED ? zeros_of(offset_of(a, o->var) + (uint64_t)o->imm)
                                                : zeros_of((o->var->align ? o->var->align : 1u) | (uint64_t)o->imm);
    default:
        return 0;
    }
}

static unsigned result_zeros(const struct analysis *a, const struct mg_ptx_insn *insn)
{
    unsigned x = operand_zeros(a, operand(a, insn, 1)), y = operand_zeros(a, operand(a, insn, 2));
    unsigned z = operand_zeros(a, operand(a, insn, 3));
    const struct mg_ptx_opnd *by = operand(a, insn, 2);
    switch (insn->opcode) {
    case MG_OP_MOV:
    case MG_OP_CVTA:
        return x;
    case MG_OP_CVT:
        return insn->round == MG_RND_NONE ? x : 0;
    case MG_OP_SHL:
        return by->kind == MG_OPND_IMM ? MG_MIN(x + (unsigned)MG_MIN((uint64_t)by->imm, 64u), (unsigned)ZERO_BITS) : x;
    case MG_OP_MUL:
        return insn->flags & MG_F_HI ? 0 : MG_MIN(x + y, (unsigned)ZERO_BITS);
    case MG_OP_MAD:
        return insn->flags & MG_F_HI ? 0 : MG_MIN(MG_MIN(x + y, (unsigned)ZERO_BITS), z);
    case MG_OP_AND:
        return MG_MAX(x, y);
    case MG_OP_ADD:
    case MG_OP_SUB:
    case MG_OP_OR:
    case MG_OP_XOR:
    case MG_OP_SELP:
        return MG_MIN(x, y);
    default:
        return 0;
    }
}

/* From "all are zero" downwards to the greatest fixed point; each round lowers a register or is the last. */
static void find_zeros(struct analysis *a)
{
    const struct mg_ptx_func *f = a->func;
    for (uint32_t r = 0; r < f->nregs; r++)
        a->regs[r].zeros = a->regs[r].ndefs ? ZERO_BITS : 0;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < f->ninsns; i++) {
            const struct mg_ptx_insn *insn = &f->insns[i];
            const struct mg_ptx_opnd *d = operand(a, insn, 0);
            if (!results(insn))
                continue;
            if (d->kind == MG_OPND_REG && d->index < f->nregs) {
                unsigned zeros = result_zeros(a, insn);
                if (zeros < a->regs[d->index].zeros) {
                    a->regs[d->index].zeros = (uint8_t)zeros;
                    again = true;
                }
            } else if (d->kind == MG_OPND_VEC && d->first <= f->noperands && d->count <= f->noperands - d->first) {
                for (uint32_t k = d->first; k < d->first + d->count; k++)
                    if (f->operands[k].kind == MG_OPND_REG && f->operands[k].index < f->nregs &&
                        a->regs[f->operands[k].index].zeros) {
                        a->regs[f->operands[k].index].zeros = 0;
                        again = true;
                    }
            }
        }
    }
}

/* ---- which registers differ between lanes ---- */
static bool operand_varies(const struct analysis *a, const struct mg_ptx_opnd *o)
{
    switch (o->kind) {
    case MG_OPND_REG:
        return o->index >= a->func->nregs || a->regs[o->index].varies;
    case MG_OPND_ADDR:
        return o->has_reg && (o->index >= a->func->nregs || a->regs[o->index].varies);
    case MG_OPND_SREG:
        switch (o->index) {
        case MG_SR_NTID:
        case MG_SR_CTAID:
        case MG_SR_NCTAID:
        case MG_SR_DYNAMIC_SMEM_SIZE:
        case MG_SR_TOTAL_SMEM_SIZE:
            return false;
        default:
            return true;
        }
    case MG_OPND_IMM:
    case MG_OPND_SYMBOL:
    case MG_OPND_FUNC:
    case MG_OPND_LABEL:
        return false;
    default:
        return true;
    }
}

static void find_varying(struct analysis *a)
{
    const struct mg_ptx_func *f = a->func;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < f->ninsns; i++) {
            const struct mg_ptx_insn *insn = &f->insns[i];
            const struct mg_ptx_opnd *d = operand(a, insn, 0);
            if (!results(insn) || (d->kind == MG_OPND_REG && d->index < f->nregs && a->regs[d->index].varies))
                continue;
            bool varies = insn->guard >= 0 || d->kind != MG_OPND_REG || d->index >= f->nregs ||
                          a->regs[d->index].ndefs > 1 || insn->opcode == MG_OP_ATOM;
            for (unsigned n = 1; n < insn->nops && !varies; n++)
                varies = operand_varies(a, operand(a, insn, n));
            if (varies && d->kind == MG_OPND_REG && d->index < f->nregs) {
                a->regs[d->index].varies = true;
                again = true;
            } else if (d->kind == MG_OPND_VEC) {
                each_reg(a, d, note_varies, i);
            }
        }
    }
}

/* ---- linear forms ---- */
static bool add_term(struct linear *l, uint32_t reg, uint32_t version, int64_t times)
{
    unsigned n = 0;
    while (n < l->nterms && (l->term[n].reg != reg || l->term[n].version != version))
        n++;
    if (n == MAX_TERMS)
        return false;
    if (n == l->nterms)
        l->term[l->nterms++] = (struct term){reg, version, 0};
    l->term[n].times += times;
    if (!l->term[n].times)
        l->term[n] = l->term[--l->nterms];
    return true;
}

/* How deep definitions from before the block have been seen through; 0: what is asked for is a register as it is now,
 * otherwise as it was when the block began. */
static bool add_reg(const struct analysis *a, struct linear *l, uint32_t reg, int64_t times, unsigned depth);

static bool add_operand(const struct analysis *a, struct linear *l, const struct mg_ptx_opnd *o, int64_t times,
                        unsigned depth)
{
    switch (o->kind) {
    case MG_OPND_REG:
        return add_reg(a, l, o->index, times, depth);
    case MG_OPND_IMM:
        if (o->is_float)
            return false;
        l->add += o->imm * times;
        return true;
    case MG_OPND_SYMBOL:
    case MG_OPND_ADDR:
        if (!o->var || l->var || times != 1 || o->has_reg || o->var->space != MG_SPACE_SHARED)
            return false;
        l->var = o->var;
        l->add += o->imm;
        return true;
    default:
        return false;
    }
}

/* Sees through the definition of a register, or says false and leaves *l as good as it was. */
static bool add_definition(const struct analysis *a, struct linear *l, const struct mg_ptx_insn *insn, int64_t times,
                           unsigned depth)
{
    const struct mg_ptx_opnd *x = operand(a, insn, 1), *y = operand(a, insn, 2), *z = operand(a, insn, 3);
    if (insn->flags & (MG_F_HI | MG_F_WIDE | MG_F_SAT | MG_F_CC) || operand(a, insn, 0)->kind != MG_OPND_REG)
        return false; /* parts of a value are others than the value */
    switch (insn->opcode) {
    case MG_OP_MOV:
        return x->kind != MG_OPND_SREG && add_operand(a, l, x, times, depth);
    case MG_OP_CVTA:
        return add_operand(a, l, x, times, depth);
    case MG_OP_CVT: /* a 32-bit shared address widened, or narrowed back */
        return (insn->type[0] == MG_T_U64 || insn->type[0] == MG_T_U32) &&
               (insn->type[1] == MG_T_U32 || insn->type[1] == MG_T_U64) && add_operand(a, l, x, times, depth);
    case MG_OP_ADD:
        return add_operand(a, l, x, times, depth) && add_operand(a, l, y, times, depth);
    case MG_OP_SUB:
        return add_operand(a, l, x, times, depth) && add_operand(a, l, y, -times, depth);
    case MG_OP_OR: /* of bits that are zero is a sum */
        return y->kind == MG_OPND_IMM && y->imm >= 0 && y->imm < INT64_C(1) << operand_zeros(a, x) &&
               add_operand(a, l, x, times, depth) && add_operand(a, l, y, times, depth);
    case MG_OP_SHL:
        return y->kind == MG_OPND_IMM && y->imm >= 0 && y->imm < 20 &&
               add_operand(a, l, x, times * (INT64_C(1) << y->imm), depth);
    case MG_OP_MUL:
    case MG_OP_MAD:
        if (x->kind == MG_OPND_IMM) {
            const struct mg_ptx_opnd *swap = x;
            x = y;
            y = swap;
        }
        return y->kind == MG_OPND_IMM && !y->is_float && y->imm > -(1 << 20) && y->imm < 1 << 20 &&
               add_operand(a, l, x, times * y->imm, depth) &&
               (insn->opcode == MG_OP_MUL || add_operand(a, l, z, times, depth));
    default:
        return false;
    }
}

static bool add_form(struct linear *l, const struct linear *form, int64_t times)
{
    if (form->var && (l->var || times != 1))
        return false;
    if (form->var)
        l->var = form->var;
    l->add += form->add * times;
    for (unsigned i = 0; i < form->nterms; i++)
        if (!add_term(l, form->term[i].reg, form->term[i].version, form->term[i].times * times))
            return false;
    return true;
}

static bool add_reg(const struct analysis *a, struct linear *l, uint32_t reg, int64_t times, unsigned depth)
{
    if (reg >= a->func->nregs || times > INT64_C(1) << 40 || times < -(INT64_C(1) << 40))
        return false;
    const struct reg_info *r = &a->regs[reg];
    bool here = depth == 0 && r->block == a->block; /* written in this block already */
    struct linear before = *l;
    if (here && r->known && add_form(l, &r->form, times))
        return true;
    *l = before;
    if (!here && depth < MAX_DEPTH && a->through[reg / 64] >> reg % 64 & 1) {
        if (add_definition(a, l, &a->func->insns[r->def], times, depth + 1))
            return true;
        *l = before;
    }
    return add_term(l, reg, here ? r->version : 0, times);
}

/* The instruction's result, out of its operands as they are before it. */
static void note_results(struct analysis *a, uint32_t i)
{
    const struct mg_ptx_insn *insn = &a->func->insns[i];
    const struct mg_ptx_opnd *d = operand(a, insn, 0);
    unsigned nresults = results(insn);
    struct linear form = {0};
    bool known = nresults == 1 && insn->guard < 0 && d->kind == MG_OPND_REG && d->index < a->func->nregs &&
                 add_definition(a, &form, insn, 1, 0);
    for (unsigned n = 0; n < nresults; n++)
        each_reg(a, operand(a, insn, n), note_version, i);
    if (known) {
        a->regs[d->index].known = true;
        a->regs[d->index].form = form;
    }
}

static bool same_base(const struct linear *x, const struct linear *y)
{
    if (x->var != y->var || x->nterms != y->nterms)
        return false;
    for (unsigned i = 0; i < x->nterms; i++) {
        unsigned k = 0;
        while (k < y->nterms && (x->term[i].reg != y->term[k].reg || x->term[i].version != y->term[k].version ||
                                 x->term[i].times != y->term[k].times))
            k++;
        if (k == y->nterms)
            return false;
    }
    return true;
}

/* The power of two that the base, without its constant, is known to be a multiple of. */
static unsigned base_align(const struct analysis *a, const struct linear *l)
{
    unsigned zeros = ZERO_BITS;
    for (unsigned i = 0; i < l->nterms; i++) {
        unsigned z = a->regs[l->term[i].reg].zeros + zeros_of((uint64_t)l->term[i].times);
        zeros = MG_MIN(zeros, z);
    }
    if (l->var)
        zeros = MG_MIN(zeros, zeros_of(offset_of(a, l->var)));
    return 1u << zeros;
}

/* ---- joining ---- */
static int64_t window_of(int64_t add, int64_t size)
{
    return (add - (add % size + size) % size) / size;
}

static void carry(struct analysis *a, struct access **owner, unsigned n, int64_t start, unsigned width)
{
    struct access *lead = NULL;
    for (unsigned i = 0; i < n; i++)
        if (owner[i] && (!lead || owner[i]->insn < lead->insn))
            lead = owner[i];
    for (unsigned i = 0; i < n; i++)
        if (owner[i])
            a->plan[owner[i]->insn] = (struct mg_model_plan){.changed = true, .joined = (uint8_t)width};
    a->plan[lead->insn] = (struct mg_model_plan){
        .changed = true, .width = (uint8_t)width, .joined = (uint8_t)width, .delta = (int8_t)(start - lead->at.add)};
}

/* How many different instructions own elements, and how many elements are owned. */
static unsigned distinct(struct access *const *owner, unsigned n, unsigned *elements)
{
    unsigned count = 0;
    *elements = 0;
    for (unsigned i = 0; i < n; i++) {
        bool first = owner[i] != NULL;
        *elements += owner[i] != NULL;
        for (unsigned k = 0; k < i; k++)
            first &= owner[k] != owner[i];
        count += first;
    }
    return count;
}

/* One window of at most four elements. `full`: holes are not allowed (stores). */
static void join_window(struct analysis *a, struct access **owner, unsigned n, unsigned element, int64_t start,
                        bool full)
{
    unsigned elements, insns = distinct(owner, n, &elements);
    if (insns > 1 && n == 4 && elements >= (full ? 4 : 3)) {
        carry(a, owner, n, start, element * n);
        return;
    }
    for (unsigned i = 0; i + 1 < n; i += 2) {
        insns = distinct(owner + i, 2, &elements);
        if (insns == 2)
            carry(a, owner + i, 2, start + (int64_t)(i * element), element * 2);
    }
}

static void join(struct analysis *a, struct access *at, size_t count, bool full)
{
    for (size_t i = 0; i < count; i++) {
        if (at[i].taken)
            continue;
        unsigned element = at[i].element, most = element == 2 ? 8 : 16;
        int64_t base = at[i].at.var && !at[i].at.nterms ? (int64_t)offset_of(a, at[i].at.var) : 0;
        unsigned align = base ? 1u << ZERO_BITS : base_align(a, &at[i].at);
        unsigned size = MG_MIN(most, align);
        if (size < 2 * element)
            continue;
        struct access *owner[4] = {NULL};
        int64_t window = window_of(at[i].at.add + base, size);
        for (size_t k = i; k < count; k++) {
            if (at[k].taken || at[k].element != element || !same_base(&at[i].at, &at[k].at) ||
                window_of(at[k].at.add + base, size) != window)
                continue;
            at[k].taken = true;
            bool fresh = false;
            for (unsigned e = 0; e < at[k].elements; e++) {
                int64_t slot = (at[k].at.add + base - window * size) / element + e;
                if (slot < 4 && slot < size / element && !owner[slot]) {
                    owner[slot] = &at[k];
                    fresh = true;
                }
            }
            if (!fresh && !full) /* loads what another has loaded */
                a->plan[at[k].insn] = (struct mg_model_plan){.changed = true, .joined = (uint8_t)size};
        }
        join_window(a, owner, size / element, element, window * size - base, full);
    }
}

static void end_loads(struct analysis *a)
{
    join(a, a->loads.at, a->loads.count, false);
    a->loads.count = 0;
}

static void end_stores(struct analysis *a)
{
    join(a, a->stores.at, a->stores.count, true);
    a->stores.count = 0;
}

/* May the access be joined at all? */
static bool joinable(const struct analysis *a, const struct mg_ptx_insn *insn, uint32_t index, struct access *out)
{
    const struct mg_ptx_opnd *addr = operand(a, insn, insn->opcode == MG_OP_LD ? 1 : 0);
    enum mg_ptx_type type = insn->ntypes ? insn->type[insn->ntypes - 1] : MG_T_NONE;
    if (insn->guard >= 0 || addr->kind != MG_OPND_ADDR || insn->sem > MG_PTX_SEM_RELAXED)
        return false;
    switch (type) {
    case MG_T_B16:
    case MG_T_U16:
    case MG_T_F16:
    case MG_T_BF16:
        out->element = 2;
        break;
    case MG_T_S16: /* sign-extended when it is loaded, not when it is stored */
        if (insn->opcode == MG_OP_LD)
            return false;
        out->element = 2;
        break;
    case MG_T_B32:
    case MG_T_U32:
    case MG_T_S32:
    case MG_T_F32:
    case MG_T_F16X2:
    case MG_T_BF16X2:
        out->element = 4;
        break;
    case MG_T_B64:
    case MG_T_U64:
    case MG_T_S64:
    case MG_T_F64:
        out->element = 8;
        break;
    default:
        return false;
    }
    out->elements = insn->vec ? insn->vec : 1;
    out->insn = index;
    out->taken = false;
    out->at = (struct linear){.add = addr->imm, .var = addr->has_reg ? NULL : addr->var};
    if (!addr->has_reg && (!addr->var || addr->var->space != MG_SPACE_SHARED))
        return false;
    return !addr->has_reg || add_reg(a, &out->at, addr->index, 1, 0);
}

/* Divisions and roots that are rounded right, and 64-bit integer divisions, are calls in machine code. */
static bool becomes_call(const struct mg_ptx_insn *insn)
{
    enum mg_ptx_type type = insn->ntypes ? insn->type[0] : MG_T_NONE;
    switch (insn->opcode) {
    case MG_OP_CALL:
        return true;
    case MG_OP_DIV:
    case MG_OP_REM:
    case MG_OP_SQRT:
    case MG_OP_RCP:
        return !(insn->flags & (MG_F_APPROX | MG_F_FULL)) && type != MG_T_U32 && type != MG_T_S32 && type != MG_T_U16 &&
               type != MG_T_S16;
    default:
        return false;
    }
}

/* What ptxas does for the warp as a whole where all lanes share the address: 32-bit reductions by REDUX, counting lanes
 * where the operand is the same for all (64-bit sums too). Sums with a result and an operand of their own go that way
 * only in a full warp. */
static enum mg_model_lanes lanes_of(const struct analysis *a, const struct mg_ptx_insn *insn, bool result)
{
    unsigned first = insn->opcode == MG_OP_ATOM ? 1 : 0;
    enum mg_ptx_type type = insn->ntypes ? insn->type[insn->ntypes - 1] : MG_T_NONE;
    bool word = type == MG_T_U32 || type == MG_T_S32 || type == MG_T_B32;
    bool same_value = !operand_varies(a, operand(a, insn, first + 1));
    if (operand_varies(a, operand(a, insn, first)))
        return MG_MODEL_ALL_LANES;
    switch (insn->atomop) {
    case MG_ATOM_ADD:
        if (same_value && (word || type == MG_T_U64))
            return MG_MODEL_ONE_LANE;
        return !word ? MG_MODEL_ALL_LANES : result ? MG_MODEL_ONE_IF_FULL : MG_MODEL_ONE_LANE;
    case MG_ATOM_MIN:
    case MG_ATOM_MAX:
    case MG_ATOM_AND:
    case MG_ATOM_OR:
    case MG_ATOM_XOR:
        return word && !result ? MG_MODEL_ONE_LANE : MG_MODEL_ALL_LANES;
    default:
        return MG_MODEL_ALL_LANES;
    }
}

/* Whether a 32-bit reduction adds the constant 1, for which the hardware has an instruction that counts lanes. */
static bool adds_one(const struct analysis *a, const struct mg_ptx_insn *insn)
{
    enum mg_ptx_type type = insn->ntypes ? insn->type[insn->ntypes - 1] : MG_T_NONE;
    if (insn->atomop != MG_ATOM_ADD || (type != MG_T_U32 && type != MG_T_S32))
        return false;
    const struct mg_ptx_opnd *value = operand(a, insn, insn->opcode == MG_OP_ATOM ? 2 : 1);
    if (value->kind == MG_OPND_REG && value->index < a->func->nregs && a->regs[value->index].ndefs == 1) {
        const struct mg_ptx_insn *def = &a->func->insns[a->regs[value->index].def];
        if (def->opcode == MG_OP_MOV && def->guard < 0)
            value = operand(a, def, 1);
    }
    return value->kind == MG_OPND_IMM && !value->is_float && value->imm == 1;
}

static void visit(struct analysis *a, uint32_t i)
{
    const struct mg_ptx_insn *insn = &a->func->insns[i];
    bool shared = insn->space == MG_SPACE_SHARED || insn->space == MG_SPACE_GENERIC;
    struct access access;
    uint32_t block = a->holds.cfg->block_of[i];
    if (i == a->holds.cfg->blocks[block].first) {
        end_loads(a);
        end_stores(a);
        a->block = block + 1;
        a->through = &a->holds.in[a->holds.words * block];
    }
    switch (insn->opcode) {
    case MG_OP_LD:
        if (insn->space == MG_SPACE_SHARED) {
            end_stores(a);
            if (joinable(a, insn, i, &access))
                a->nomem |= !mg__vec_push(&a->loads, access);
        }
        break;
    case MG_OP_ST:
        if (!shared)
            break;
        end_loads(a);
        if (insn->space != MG_SPACE_SHARED || !joinable(a, insn, i, &access)) {
            end_stores(a);
            break;
        }
        if (a->stores.count) { /* a store elsewhere ends the run */
            const struct access *last = &a->stores.at[a->stores.count - 1];
            int64_t size = MG_MIN(access.element == 2 ? 8 : 16, (int)base_align(a, &access.at));
            int64_t base = access.at.var && !access.at.nterms ? (int64_t)offset_of(a, access.at.var) : 0;
            size = base ? (access.element == 2 ? 8 : 16) : size;
            if (last->element != access.element || !same_base(&last->at, &access.at) ||
                window_of(last->at.add + base, size) != window_of(access.at.add + base, size))
                end_stores(a);
        }
        a->nomem |= !mg__vec_push(&a->stores, access);
        break;
    case MG_OP_ATOM:
    case MG_OP_RED:
        if (shared) {
            end_loads(a);
            end_stores(a);
        }
        if (insn->opcode == MG_OP_ATOM) {
            const struct mg_ptx_opnd *d = operand(a, insn, 0);
            a->plan[i].no_result = d->kind == MG_OPND_SINK ||
                                   (d->kind == MG_OPND_REG && d->index < a->func->nregs && !a->regs[d->index].read);
            a->plan[i].no_result &= insn->atomop != MG_ATOM_CAS && insn->atomop != MG_ATOM_EXCH;
        }
        a->plan[i].counts = (insn->opcode == MG_OP_RED || a->plan[i].no_result) && adds_one(a, insn);
        a->plan[i].lanes = (uint8_t)lanes_of(a, insn, insn->opcode == MG_OP_ATOM && !a->plan[i].no_result);
        break;
    case MG_OP_BAR:
    case MG_OP_BAR_WARP:
    case MG_OP_MEMBAR:
    case MG_OP_FENCE:
    case MG_OP_CP_ASYNC:
        end_loads(a);
        end_stores(a);
        break;
    default:
        if (becomes_call(insn)) {
            end_loads(a);
            end_stores(a);
        }
        break;
    }
    note_results(a, i);
}

struct mg_model_plan *mg__model_merge(const struct mg_ptx_module *module, const struct mg_ptx_func *func)
{
    struct analysis a = {.module = module, .func = func};
    a.plan = calloc(func->ninsns + 1, sizeof(*a.plan));
    a.regs = calloc(func->nregs + 1, sizeof(*a.regs));
    a.nomem = !a.plan || !a.regs || !mg__model_holds(func, &a.holds);
    if (!a.nomem) {
        survey(&a);
        find_zeros(&a);
        find_varying(&a);
        for (uint32_t i = 0; i < func->ninsns && !a.nomem; i++)
            visit(&a, i);
        end_loads(&a);
        end_stores(&a);
    }
    mg__vec_free(&a.loads);
    mg__vec_free(&a.stores);
    free(a.regs);
    mg__model_holds_free(&a.holds);
    if (a.nomem) {
        free(a.plan);
        return NULL;
    }
    return a.plan;
}
