/* values.c - what is known of the integers that registers hold: low bits that are zero, whether lanes differ, and
 * linear forms.
 *
 * The first two are of all definitions of a register, from the best downwards to the greatest fixed point.
 *
 * Lanes agree on a register if it has one definition, under no guard, that computes it from what they agree on. That is
 * then the same each time that it is computed, and so for lanes that were there at different times. What threads have
 * of their own (local memory, arguments of a function that was called, answers of warp operations) varies.
 *
 * Within a block a linear form follows the values as they are computed; what was computed before is seen through only
 * where its definition still holds (available.c). All operations that are followed are sums and products, so forms are
 * right modulo 2^32 whatever wraps.
 */
#include "flow/flow.h"

enum { MAX_DEPTH = 24 }; /* definitions from before the block that are seen through */

static const struct mg_ptx_opnd *operand(const struct mg_flow_values *v, const struct mg_ptx_insn *insn, unsigned n)
{
    static const struct mg_ptx_opnd none;
    return n < insn->nops ? mg__ptx_op(v->func, insn, n) : &none;
}

static bool is_integer(uint8_t type)
{
    return (type >= MG_T_B8 && type <= MG_T_B64) || (type >= MG_T_U8 && type <= MG_T_S64);
}

/* ---- low bits that are zero ---- */
static unsigned zeros_of(uint64_t value)
{
    return value ? MG_MIN((unsigned)__builtin_ctzll(value), (unsigned)MG_FLOW_ZEROS) : MG_FLOW_ZEROS;
}

static unsigned operand_zeros(const struct mg_flow_values *v, const struct mg_ptx_opnd *o)
{
    if (o->kind == MG_OPND_REG)
        return v->zeros[o->index];
    if (o->kind == MG_OPND_IMM)
        return o->is_float ? 0 : zeros_of((uint64_t)o->imm);
    if ((o->kind != MG_OPND_SYMBOL && o->kind != MG_OPND_ADDR) || !o->var || o->has_reg)
        return 0;
    return o->var->space == MG_SPACE_SHARED ? zeros_of(v->shared->at[o->var->id] + (uint64_t)o->imm)
                                            : zeros_of(MG_MAX(o->var->align, 1u) | (uint64_t)o->imm);
}

static unsigned result_zeros(const struct mg_flow_values *v, const struct mg_ptx_insn *insn)
{
    unsigned x = operand_zeros(v, operand(v, insn, 1)), y = operand_zeros(v, operand(v, insn, 2));
    unsigned z = operand_zeros(v, operand(v, insn, 3));
    const struct mg_ptx_opnd *by = operand(v, insn, 2);
    enum mg_ptx_algebra algebra = mg__ptx_exactly(insn);
    if (algebra == MG_ALG_COPY || algebra == MG_ALG_ADDRESS)
        return x;
    if (algebra == MG_ALG_SELECT)
        return MG_MIN(x, y);
    if (!is_integer(insn->type[0]) || (insn->ntypes > 1 && !is_integer(insn->type[1])) ||
        insn->flags & (MG_F_HI | MG_F_SAT))
        return 0;
    switch (algebra) {
    case MG_ALG_CONVERT:
    case MG_ALG_NEG:
        return x;
    case MG_ALG_SHL:
        return MG_MIN(x + (by->kind == MG_OPND_IMM ? (unsigned)MG_MIN((uint64_t)by->imm, 64u) : 0),
                      (unsigned)MG_FLOW_ZEROS);
    case MG_ALG_MUL:
        return MG_MIN(x + y, (unsigned)MG_FLOW_ZEROS);
    case MG_ALG_MAD:
        return MG_MIN(MG_MIN(x + y, (unsigned)MG_FLOW_ZEROS), z);
    case MG_ALG_AND:
        return MG_MAX(x, y);
    case MG_ALG_ADD:
    case MG_ALG_SUB:
    case MG_ALG_OR:
    case MG_ALG_XOR:
        return MG_MIN(x, y);
    default:
        return 0;
    }
}

static void find_zeros(struct mg_flow_values *v)
{
    const struct mg_ptx_func *f = v->func;
    for (uint32_t r = 0; r < f->nregs; r++)
        v->zeros[r] = mg__flow_ndefs(&v->chains, r) ? MG_FLOW_ZEROS : 0;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < f->ninsns; i++) {
            struct mg_flow_walk w = {f, &f->insns[i], 0, 0};
            uint32_t reg;
            unsigned zeros =
                f->insns[i].nresults == 1 && operand(v, w.insn, 0)->kind == MG_OPND_REG ? result_zeros(v, w.insn) : 0;
            for (bool written; mg__flow_next(&w, &reg, &written);)
                if (written && zeros < v->zeros[reg]) {
                    v->zeros[reg] = (uint8_t)zeros;
                    again = true;
                }
        }
    }
}

/* ---- which registers differ between lanes ---- */
bool mg__flow_varies(const struct mg_flow_values *v, const struct mg_ptx_opnd *o)
{
    switch (o->kind) {
    case MG_OPND_REG:
        return v->varies[o->index];
    case MG_OPND_ADDR:
        return o->has_reg && v->varies[o->index];
    case MG_OPND_SREG:
        return o->index != MG_SR_NTID && o->index != MG_SR_CTAID && o->index != MG_SR_NCTAID &&
               o->index != MG_SR_DYNAMIC_SMEM_SIZE && o->index != MG_SR_TOTAL_SMEM_SIZE;
    case MG_OPND_SYMBOL:
        return o->var && o->var->space == MG_SPACE_LOCAL;
    case MG_OPND_IMM:
    case MG_OPND_FUNC:
    case MG_OPND_LABEL:
        return false;
    default:
        return true;
    }
}

static bool results_vary(const struct mg_flow_values *v, const struct mg_ptx_insn *insn)
{
    uint64_t offset;
    bool own = insn->space == MG_SPACE_LOCAL || insn->access == MG_ACCESSES_ATOM ||
               (insn->space == MG_SPACE_PARAM && !mg__flow_param(v->func, insn, &offset)) ||
               (mg__ptx_isa((enum mg_ptx_opcode)insn->opcode)->group == MG_G_WARP &&
                (insn->algebra & ~(unsigned)MG_ALG_ROUGH) != MG_ALG_COPY);
    if (own || insn->guard >= 0 || insn->nresults != 1 || operand(v, insn, 0)->kind != MG_OPND_REG)
        return true;
    bool varies = mg__flow_ndefs(&v->chains, operand(v, insn, 0)->index) > 1;
    for (unsigned n = 1; n < insn->nops && !varies; n++)
        varies = mg__flow_varies(v, operand(v, insn, n));
    return varies;
}

static void find_varying(struct mg_flow_values *v)
{
    const struct mg_ptx_func *f = v->func;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < f->ninsns; i++) {
            struct mg_flow_walk w = {f, &f->insns[i], 0, 0};
            uint32_t reg;
            if (!w.insn->nresults || !results_vary(v, w.insn))
                continue;
            for (bool written; mg__flow_next(&w, &reg, &written);) {
                again |= written && !v->varies[reg];
                v->varies[reg] |= written;
            }
        }
    }
}

/* ---- linear forms ---- */
struct place { /* where a value is asked for */
    uint32_t insn;
    unsigned depth; /* definitions from before the block that were seen through; 0: it is asked for as it is now,
                       otherwise as it was when the block began */
};

static bool same_symbol(const struct mg_flow_term *a, const struct mg_flow_term *b)
{
    return a->kind == b->kind && a->index == b->index && a->at == b->at;
}

static bool add_term(struct mg_flow_form *l, struct mg_flow_term term)
{
    unsigned n = 0;
    while (n < l->nterms && !same_symbol(&l->term[n], &term))
        n++;
    if (n == MG_FLOW_TERMS)
        return false;
    if (n == l->nterms) {
        l->term[l->nterms++] = term;
        return true;
    }
    l->term[n].times += term.times;
    if (!l->term[n].times)
        l->term[n] = l->term[--l->nterms];
    return true;
}

static bool add_form(struct mg_flow_form *l, const struct mg_flow_form *form, int64_t times)
{
    if (form->var && (l->var || times != 1))
        return false;
    if (form->var)
        l->var = form->var;
    l->add += form->add * times;
    for (unsigned i = 0; i < form->nterms; i++) {
        struct mg_flow_term term = form->term[i];
        term.times *= times;
        if (!add_term(l, term))
            return false;
    }
    return true;
}

/* The last instruction of the block before `at.insn` that writes the register, + 1; or 0. */
static uint32_t written_here(const struct mg_flow_values *v, struct place at, uint32_t reg)
{
    uint32_t low = v->chains.def_at[reg], high = v->chains.def_at[reg + 1], begin = low;
    while (low < high) { /* the first that is not before it */
        uint32_t middle = low + (high - low) / 2;
        if (v->chains.defs[middle] < at.insn)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == begin)
        return 0;
    uint32_t insn = v->chains.defs[low - 1];
    return insn >= v->cfg->blocks[v->cfg->block_of[at.insn]].first ? insn + 1 : 0;
}

static bool add_definition(const struct mg_flow_values *v, struct mg_flow_form *l, const struct mg_ptx_insn *insn,
                           int64_t times, struct place at);

static bool add_reg(const struct mg_flow_values *v, struct mg_flow_form *l, uint32_t reg, int64_t times,
                    struct place at)
{
    if (times > INT64_C(1) << 40 || times < -(INT64_C(1) << 40))
        return false;
    uint32_t here = at.depth == 0 ? written_here(v, at, reg) : 0;
    struct mg_flow_form before = *l;
    if (here && v->known[here - 1] && add_form(l, &v->forms[here - 1], times))
        return true;
    *l = before;
    uint32_t block = v->cfg->block_of[at.insn];
    if (!here && at.depth < MAX_DEPTH && mg__flow_holds(&v->through.in[v->through.words * block], reg)) {
        const struct mg_ptx_insn *def = &v->func->insns[v->chains.defs[v->chains.def_at[reg]]];
        if (add_definition(v, l, def, times, (struct place){at.insn, at.depth + 1}))
            return true;
        *l = before;
    }
    return add_term(l, (struct mg_flow_term){MG_FLOW_TERM_REG, reg, here, times});
}

static bool add_operand(const struct mg_flow_values *v, struct mg_flow_form *l, const struct mg_ptx_opnd *o,
                        int64_t times, struct place at)
{
    switch (o->kind) {
    case MG_OPND_REG:
        return add_reg(v, l, o->index, times, at);
    case MG_OPND_IMM:
        l->add += o->imm * times;
        return !o->is_float;
    case MG_OPND_SYMBOL:
    case MG_OPND_ADDR:
        if (o->var && (l->var || times != 1 || o->var->space != MG_SPACE_SHARED))
            return false;
        if (o->var)
            l->var = o->var;
        l->add += o->imm * times;
        return o->has_reg ? add_reg(v, l, o->index, times, at) : o->var != NULL;
    default:
        return false;
    }
}

static bool add_fixed(const struct mg_flow_values *v, struct mg_flow_form *l, const struct mg_ptx_insn *insn,
                      int64_t times)
{
    struct mg_flow_fixed fixed;
    if (!mg__flow_fixed(v->func, insn, &fixed) || fixed.kind == MG_FLOW_CONSTANT)
        return false;
    return add_term(l, fixed.kind == MG_FLOW_SREG
                           ? (struct mg_flow_term){MG_FLOW_TERM_SREG, fixed.sreg, fixed.dim, times}
                           : (struct mg_flow_term){MG_FLOW_TERM_PARAM, fixed.offset, 0, times});
}

/* Sees through the instruction to its operands, as they are at the place. */
static bool add_definition(const struct mg_flow_values *v, struct mg_flow_form *l, const struct mg_ptx_insn *insn,
                           int64_t times, struct place at)
{
    const struct mg_ptx_opnd *x = operand(v, insn, 1), *y = operand(v, insn, 2), *z = operand(v, insn, 3);
    enum mg_ptx_algebra algebra = mg__ptx_exactly(insn);
    if (add_fixed(v, l, insn, times))
        return true;
    if (insn->nresults != 1 || insn->flags & (MG_F_HI | MG_F_WIDE | MG_F_SAT | MG_F_CC) ||
        operand(v, insn, 0)->kind != MG_OPND_REG || mg__ptx_type_size((enum mg_ptx_type)insn->type[0]) < 4 ||
        (algebra != MG_ALG_COPY && !is_integer(insn->type[0])))
        return false; /* parts of a value are others than the value */
    switch (algebra) {
    case MG_ALG_COPY:
    case MG_ALG_ADDRESS:
        return add_operand(v, l, x, times, at);
    case MG_ALG_CONVERT: /* a 32-bit shared address widened, or narrowed back */
        return (insn->type[0] == MG_T_U64 || insn->type[0] == MG_T_U32) &&
               (insn->type[1] == MG_T_U32 || insn->type[1] == MG_T_U64) && add_operand(v, l, x, times, at);
    case MG_ALG_ADD:
        return add_operand(v, l, x, times, at) && add_operand(v, l, y, times, at);
    case MG_ALG_SUB:
        return add_operand(v, l, x, times, at) && add_operand(v, l, y, -times, at);
    case MG_ALG_OR: /* of bits that are zero is a sum */
        return y->kind == MG_OPND_IMM && y->imm >= 0 && y->imm < INT64_C(1) << operand_zeros(v, x) &&
               add_operand(v, l, x, times, at) && add_operand(v, l, y, times, at);
    case MG_ALG_SHL:
        return y->kind == MG_OPND_IMM && y->imm >= 0 && y->imm < 20 &&
               add_operand(v, l, x, times * (INT64_C(1) << y->imm), at);
    case MG_ALG_MUL:
    case MG_ALG_MAD:
        if (x->kind == MG_OPND_IMM) {
            const struct mg_ptx_opnd *swap = x;
            x = y;
            y = swap;
        }
        return y->kind == MG_OPND_IMM && !y->is_float && y->imm > -(1 << 20) && y->imm < 1 << 20 &&
               add_operand(v, l, x, times * y->imm, at) && (algebra == MG_ALG_MUL || add_operand(v, l, z, times, at));
    default:
        return false;
    }
}

static void find_forms(struct mg_flow_values *v)
{
    for (uint32_t i = 0; i < v->func->ninsns; i++) {
        const struct mg_ptx_insn *insn = &v->func->insns[i];
        v->known[i] = insn->nresults == 1 && insn->guard < 0 && operand(v, insn, 0)->kind == MG_OPND_REG &&
                      add_definition(v, &v->forms[i], insn, 1, (struct place){i, 0});
    }
}

bool mg__flow_form(const struct mg_flow_values *v, uint32_t insn, const struct mg_ptx_opnd *o,
                   struct mg_flow_form *form)
{
    *form = (struct mg_flow_form){0};
    return add_operand(v, form, o, 1, (struct place){insn, 0});
}

bool mg__flow_same_base(const struct mg_flow_form *a, const struct mg_flow_form *b)
{
    if (a->var != b->var || a->nterms != b->nterms)
        return false;
    for (unsigned i = 0; i < a->nterms; i++) {
        unsigned k = 0;
        while (k < b->nterms && (!same_symbol(&a->term[i], &b->term[k]) || a->term[i].times != b->term[k].times))
            k++;
        if (k == b->nterms)
            return false;
    }
    return true;
}

unsigned mg__flow_base_zeros(const struct mg_flow_values *v, const struct mg_flow_form *form)
{
    unsigned zeros = form->var ? zeros_of(v->shared->at[form->var->id]) : MG_FLOW_ZEROS;
    for (unsigned i = 0; i < form->nterms; i++) {
        const struct mg_flow_term *t = &form->term[i];
        unsigned z = (t->kind == MG_FLOW_TERM_REG ? v->zeros[t->index] : 0) + zeros_of((uint64_t)t->times);
        zeros = MG_MIN(zeros, z);
    }
    return zeros;
}

/* ---- all of it ---- */
/* A register's only definition, if it is executed without a guard; else NULL. */
static const struct mg_ptx_insn *sure_definition(const struct mg_flow_values *v, uint32_t reg)
{
    if (mg__flow_ndefs(&v->chains, reg) != 1)
        return NULL;
    const struct mg_ptx_insn *def = &v->func->insns[v->chains.defs[v->chains.def_at[reg]]];
    return def->guard < 0 ? def : NULL;
}

/* Pairs of a register and one that its definition reads: an instruction of eight results has its operands eight times.
 */
static size_t count_links(const struct mg_flow_values *v)
{
    size_t links = 0;
    for (uint32_t r = 0; r < v->func->nregs; r++) {
        const struct mg_ptx_insn *def = sure_definition(v, r);
        struct mg_flow_walk w = {v->func, def, 0, 0};
        uint32_t reg;
        for (bool written; def && mg__flow_next(&w, &reg, &written);)
            links += !written;
    }
    return links;
}

/* Such a definition is true until what it reads is written. */
static bool find_through(struct mg_flow_values *v)
{
    const struct mg_ptx_func *f = v->func;
    if (!mg__flow_available(f, v->cfg, f->nregs, count_links(v), &v->through))
        return false;
    for (uint32_t r = 0; r < f->nregs; r++) {
        const struct mg_ptx_insn *def = sure_definition(v, r);
        if (!def)
            continue;
        v->through.made[r] = r + 1;
        struct mg_flow_walk w = {f, def, 0, 0};
        uint32_t reg;
        for (bool written; mg__flow_next(&w, &reg, &written);)
            if (!written)
                mg__flow_available_undo(&v->through, r, reg);
    }
    mg__flow_available_solve(&v->through);
    return true;
}

bool mg__flow_values(const struct mg_ptx_func *func, const struct mg_cfg *cfg, const struct mg_flow_shared *shared,
                     struct mg_flow_values *v)
{
    *v = (struct mg_flow_values){.func = func, .cfg = cfg, .shared = shared};
    v->zeros = calloc(func->nregs + 1, sizeof *v->zeros);
    v->varies = calloc(func->nregs + 1, sizeof *v->varies);
    v->forms = calloc(func->ninsns + 1, sizeof *v->forms);
    v->known = calloc(func->ninsns + 1, sizeof *v->known);
    if (!mg__flow_chains(func, &v->chains) || !v->zeros || !v->varies || !v->forms || !v->known || !find_through(v))
        return false;
    find_zeros(v);
    find_varying(v);
    find_forms(v);
    return true;
}

void mg__flow_values_free(struct mg_flow_values *v)
{
    mg__flow_chains_free(&v->chains);
    mg__flow_available_free(&v->through);
    free(v->zeros);
    free(v->varies);
    free(v->forms);
    free(v->known);
}
