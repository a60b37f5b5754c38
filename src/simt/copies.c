/* copies.c - registers that need no slot of their own.
 *
 * nvcc's code is full of registers that are written once, by a plain copy. Such a register d is known by another name,
 * and its copy is not executed, in two cases.
 *
 * A value that never changes while a frame lives: an immediate, a parameter of the kernel, a special register that is
 * fixed for the lane. Its slot lies among the constants and nothing ever writes it, so d reads as that value wherever
 * it is read. That needs no condition on the order: the one definition gives this value each time that it is executed,
 * and where d is read without having been written it has no value, so that a right program cannot depend on which it
 * sees. No other register is touched.
 *
 * Another register s. Then d shares the slot of r, which is s or what s itself was found to stand for, and the slot
 * must hold at every use what d was given. PTX is not SSA: a loop writes s again, and d, where its copy stands in an
 * arm that was not taken this time, still has the older value. So the copy has to be *available* at every use of d, the
 * condition of copy propagation: on every path from the entry to the use the copy D is executed, and no definition of r
 * comes after its last execution on the path. (This implies that D dominates all uses.) Proof: take a thread's path to
 * a use of d. Its last D was executed when r's slot held the value of s: either r is s, or s is a copy that was
 * available at D, which is a use of s, so r's slot held s by this same argument. From there to the use no definition of
 * r is executed; and no other register's definition writes the slot, because the slot is r's alone wherever r or d is
 * live (mg__assign_slots widens the interval of r by those of all that stand for it), which d is from its last D to the
 * use. A definition under a guard counts as one. Where s had no value at D, d has none, but one that does not change.
 *
 * A warp's lanes may be at several places of the program at once. Every handler writes the slots of active lanes
 * alone, so what a lane finds in its slots follows from the path of that lane, and the argument for one thread holds.
 */
#include "simt/lower.h"

enum { MOST_LEVELS = 16 }; /* of copies of copies; those further on stay copies */

struct copy {
    uint32_t insn, reg, source; /* reg = source */
    uint32_t root;              /* whose slot it would share */
    bool open, refused;         /* not decided yet; not available at some use */
};
struct copies {
    struct mg_lower *L;
    uint32_t *defs;    /* by register: definitions */
    uint32_t *copy_of; /* by register: its copy, + 1 */
    uint32_t *killed;  /* by register: first copy of this round whose root it is, + 1 */
    uint32_t *next;    /* by copy: the next one with the same root, + 1 */
    size_t words;
    uint64_t *out, *now; /* by block: copies available at its end; one set to work with */
    MG_VEC(struct copy) list;
};

static void count_definitions(struct copies *c)
{
    const struct mg_ptx_func *f = c->L->func;
    for (uint32_t i = 0; i < f->ninsns; i++) {
        struct mg_regs_walk w = {f, &f->insns[i], 0, 0};
        uint32_t reg;
        for (bool written; mg__regs_next(&w, &reg, &written);)
            c->defs[reg] += written;
    }
}

static bool fixed_sreg(uint32_t sreg)
{
    return sreg == MG_SR_TID || sreg == MG_SR_NTID || sreg == MG_SR_CTAID || sreg == MG_SR_NCTAID ||
           sreg == MG_SR_LANEID;
}

static bool is_kernel_param(const struct mg_ptx_func *f, const struct mg_ptx_var *v)
{
    for (size_t i = 0; f->is_entry && i < f->nparams; i++)
        if (f->params[i] == v)
            return true;
    return false;
}

bool mg__fixed_value(const struct mg_ptx_func *f, const struct mg_ptx_insn *i, struct mg_fixed *value)
{
    if (i->guard >= 0 || i->nops != 2)
        return false;
    const struct mg_ptx_opnd *d = mg__ptx_op(f, i, 0), *s = mg__ptx_op(f, i, 1);
    if (d->kind != MG_OPND_REG)
        return false;
    unsigned size = mg__ptx_type_size((enum mg_ptx_type)f->regs[d->index].type);
    if ((size != 4 && size != 8) || mg__ptx_type_size((enum mg_ptx_type)i->type[0]) != size)
        return false;
    *value = (struct mg_fixed){.fill = {.bytes = (uint8_t)size}};
    if (i->opcode == MG_OP_MOV && s->kind == MG_OPND_IMM && !s->is_float) {
        value->constant = true;
        value->bits = (uint64_t)s->imm;
    } else if (i->opcode == MG_OP_MOV && s->kind == MG_OPND_SREG && f->is_entry && size == 4 && fixed_sreg(s->index) &&
               s->dim < 3) {
        value->fill.kind = MG_FILL_SREG;
        value->fill.sreg = (uint16_t)s->index;
        value->fill.dim = s->dim;
    } else if (i->opcode == MG_OP_LD && i->space == MG_SPACE_PARAM && i->vec <= 1 && s->kind == MG_OPND_ADDR &&
               !s->has_reg && s->var && is_kernel_param(f, s->var) && s->imm >= 0 &&
               (uint64_t)s->imm + size <= s->var->size) {
        value->fill.kind = MG_FILL_PARAM;
        value->fill.offset = (uint32_t)(s->var->offset + (uint64_t)s->imm);
    } else {
        return false;
    }
    return true;
}

bool mg__copied_register(const struct mg_ptx_func *f, const struct mg_ptx_insn *i, uint32_t *from)
{
    if (i->guard >= 0 || i->nops != 2)
        return false;
    const struct mg_ptx_opnd *d = mg__ptx_op(f, i, 0), *s = mg__ptx_op(f, i, 1);
    bool copy = i->opcode == MG_OP_MOV ||
                (i->opcode == MG_OP_CVTA && (i->space == MG_SPACE_GLOBAL || i->space == MG_SPACE_CONST));
    if (!copy || d->kind != MG_OPND_REG || s->kind != MG_OPND_REG || s->index == d->index)
        return false;
    unsigned size = mg__ptx_type_size((enum mg_ptx_type)f->regs[d->index].type);
    if ((size != 4 && size != 8) || mg__ptx_type_size((enum mg_ptx_type)i->type[0]) != size ||
        mg__ptx_type_size((enum mg_ptx_type)f->regs[s->index].type) != size)
        return false;
    *from = s->index;
    return true;
}

/* Fixed values get their slots; copies are listed. */
static bool survey(struct copies *c, bool *fixed)
{
    struct mg_lower *L = c->L;
    const struct mg_ptx_func *f = L->func;
    count_definitions(c);
    for (uint32_t i = 0; i < f->ninsns; i++) {
        const struct mg_ptx_insn *insn = &f->insns[i];
        struct mg_fixed value;
        uint32_t from, d = insn->nops ? mg__ptx_op(f, insn, 0)->index : 0;
        if (mg__fixed_value(f, insn, &value) && c->defs[d] == 1) {
            L->slots[d] =
                value.constant ? mg__lower_const(L, value.bits, value.fill.bytes == 8) : mg__lower_fill(L, value.fill);
            L->skip[i] = fixed[d] = true;
        } else if (mg__copied_register(f, insn, &from) && c->defs[d] == 1 &&
                   L->cfg->blocks[L->cfg->block_of[i]].reachable) {
            if (!mg__vec_push(&c->list, ((struct copy){.insn = i, .reg = d, .source = from, .open = true})))
                return false;
            c->copy_of[d] = (uint32_t)c->list.count;
        }
    }
    return true;
}

/* Applies a block to c->now: which of this round's copies are available. With `check`, those that a use does not find
 * available are refused. */
static void through_block(struct copies *c, uint32_t block, bool check)
{
    const struct mg_ptx_func *f = c->L->func;
    const struct mg_cfg_block *b = &c->L->cfg->blocks[block];
    for (uint32_t i = b->first; i < b->end; i++) {
        struct mg_regs_walk reads = {f, &f->insns[i], 0, 0}, writes = reads;
        uint32_t reg;
        for (bool written; check && mg__regs_next(&reads, &reg, &written);) {
            uint32_t k = written ? 0 : c->copy_of[reg];
            if (k && c->list.at[k - 1].open && !(c->now[(k - 1) / 64] >> (k - 1) % 64 & 1))
                c->list.at[k - 1].refused = true;
        }
        for (bool written; mg__regs_next(&writes, &reg, &written);) {
            for (uint32_t k = written ? c->killed[reg] : 0; k; k = c->next[k - 1])
                c->now[(k - 1) / 64] &= ~(UINT64_C(1) << (k - 1) % 64);
            uint32_t own = written ? c->copy_of[reg] : 0;
            if (own)
                c->now[(own - 1) / 64] |= UINT64_C(1) << (own - 1) % 64;
        }
    }
}

static void enter_block(const struct copies *c, uint32_t block)
{
    const struct mg_cfg_block *b = &c->L->cfg->blocks[block];
    memset(c->now, block == 0 ? 0 : 0xff, c->words * sizeof *c->now);
    for (uint32_t p = 0; p < b->npred; p++)
        for (size_t w = 0; w < c->words; w++)
            c->now[w] &= c->out[c->words * b->pred[p] + w];
}

/* One round: the copies whose source is decided and whose root is known; from "all are available" downwards. What no
 * path reaches stays available, and is looked at by nobody. */
static void decide(struct copies *c, uint32_t *same, const bool *fixed)
{
    const struct mg_cfg *cfg = c->L->cfg;
    memset(c->out, 0xff, c->words * cfg->nblocks * sizeof *c->out);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < cfg->nblocks; b++) {
            if (!cfg->blocks[b].reachable)
                continue;
            enter_block(c, b);
            through_block(c, b, false);
            changed |= memcmp(&c->out[c->words * b], c->now, c->words * sizeof *c->now) != 0;
            memcpy(&c->out[c->words * b], c->now, c->words * sizeof *c->now);
        }
    }
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        if (!cfg->blocks[b].reachable)
            continue;
        enter_block(c, b);
        through_block(c, b, true);
    }
    for (size_t k = 0; k < c->list.count; k++) {
        struct copy *at = &c->list.at[k];
        if (!at->open || at->root == UINT32_MAX)
            continue;
        at->open = false;
        if (!at->refused || fixed[at->root]) {
            same[at->reg] = at->root;
            c->L->skip[at->insn] = true;
        }
    }
}

/* Gives a root to the open copies whose source is no open copy; false: there is none. */
static bool begin_round(struct copies *c, const uint32_t *same)
{
    bool any = false;
    memset(c->killed, 0, c->L->func->nregs * sizeof *c->killed);
    for (size_t k = 0; k < c->list.count; k++) {
        struct copy *at = &c->list.at[k];
        uint32_t source = c->copy_of[at->source];
        at->root = UINT32_MAX;
        if (!at->open || (source && c->list.at[source - 1].open))
            continue;
        any = true;
        at->root = same[at->source];
        c->next[k] = c->killed[at->root];
        c->killed[at->root] = (uint32_t)k + 1;
    }
    return any;
}

bool mg__find_copies(struct mg_lower *L, uint32_t *same, bool *fixed)
{
    const struct mg_ptx_func *f = L->func;
    struct copies c = {.L = L};
    for (uint32_t r = 0; r < f->nregs; r++)
        same[r] = r;
    c.defs = calloc(f->nregs + 1, sizeof *c.defs);
    c.copy_of = calloc(f->nregs + 1, sizeof *c.copy_of);
    c.killed = calloc(f->nregs + 1, sizeof *c.killed);
    bool good = c.defs && c.copy_of && c.killed && survey(&c, fixed);
    if (good && c.list.count) {
        c.words = c.list.count / 64 + 1;
        c.out = calloc(c.words * (L->cfg->nblocks + 1), sizeof *c.out);
        c.next = calloc(c.list.count, sizeof *c.next);
        good = c.out && c.next;
        c.now = good ? &c.out[c.words * L->cfg->nblocks] : NULL;
        for (unsigned level = 0; good && level < MOST_LEVELS && begin_round(&c, same); level++)
            decide(&c, same, fixed);
    }
    free(c.defs);
    free(c.copy_of);
    free(c.killed);
    free(c.out);
    free(c.next);
    mg__vec_free(&c.list);
    return good;
}
