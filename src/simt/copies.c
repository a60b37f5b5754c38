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
    struct mg_flow_chains chains;
    struct mg_flow_available available; /* a fact a copy: its register holds what its root holds */
    uint32_t *copy_of;                  /* by register: its copy, + 1 */
    MG_VEC(struct copy) list;
};

bool mg__fixed_value(const struct mg_ptx_func *f, const struct mg_ptx_insn *i, struct mg_fixed *value)
{
    struct mg_flow_fixed fixed;
    if (!mg__flow_fixed(f, i, &fixed))
        return false;
    *value =
        (struct mg_fixed){.constant = fixed.kind == MG_FLOW_CONSTANT, .bits = fixed.bits, .fill.bytes = fixed.size};
    if (fixed.kind == MG_FLOW_SREG) {
        value->fill.kind = MG_FILL_SREG;
        value->fill.sreg = fixed.sreg;
        value->fill.dim = fixed.dim;
    } else if (fixed.kind == MG_FLOW_PARAM) {
        value->fill.kind = MG_FILL_PARAM;
        value->fill.offset = fixed.offset;
    }
    return true;
}

bool mg__copied_register(const struct mg_ptx_func *f, const struct mg_ptx_insn *i, uint32_t *from)
{
    if (i->guard >= 0 || i->nops != 2)
        return false;
    const struct mg_ptx_opnd *d = mg__ptx_op(f, i, 0), *s = mg__ptx_op(f, i, 1);
    enum mg_ptx_algebra algebra = mg__ptx_exactly(i);
    bool copy = algebra == MG_ALG_COPY ||
                (algebra == MG_ALG_ADDRESS && (i->space == MG_SPACE_GLOBAL || i->space == MG_SPACE_CONST));
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
    for (uint32_t i = 0; i < f->ninsns; i++) {
        const struct mg_ptx_insn *insn = &f->insns[i];
        struct mg_fixed value;
        uint32_t from, d = insn->nops ? mg__ptx_op(f, insn, 0)->index : 0;
        if (mg__fixed_value(f, insn, &value) && mg__flow_ndefs(&c->chains, d) == 1) {
            L->slots[d] =
                value.constant ? mg__lower_const(L, value.bits, value.fill.bytes == 8) : mg__lower_fill(L, value.fill);
            L->skip[i] = fixed[d] = true;
        } else if (mg__copied_register(f, insn, &from) && mg__flow_ndefs(&c->chains, d) == 1 &&
                   L->cfg->blocks[L->cfg->block_of[i]].reachable) {
            if (!mg__vec_push(&c->list, ((struct copy){.insn = i, .reg = d, .source = from, .open = true})))
                return false;
            c->copy_of[d] = (uint32_t)c->list.count;
        }
    }
    return true;
}

/* Refuses the copies of this round that a use in the block does not find available. */
static void look(struct copies *c, uint32_t block)
{
    const struct mg_ptx_func *f = c->L->func;
    const struct mg_cfg_block *b = &c->L->cfg->blocks[block];
    mg__flow_available_enter(&c->available, block);
    for (uint32_t i = b->first; i < b->end; i++) {
        struct mg_flow_walk w = {f, &f->insns[i], 0, 0};
        uint32_t reg;
        for (bool written; mg__flow_next(&w, &reg, &written);) {
            uint32_t k = written ? 0 : c->copy_of[reg];
            if (k && c->list.at[k - 1].open && !mg__flow_holds(c->available.now, k - 1))
                c->list.at[k - 1].refused = true;
        }
        mg__flow_available_through(&c->available, i);
    }
}

/* One round: the copies whose source is decided and whose root is known. */
static void decide(struct copies *c, uint32_t *same, const bool *fixed)
{
    mg__flow_available_solve(&c->available);
    for (uint32_t b = 0; b < c->L->cfg->nblocks; b++)
        if (c->L->cfg->blocks[b].reachable)
            look(c, b);
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
    mg__flow_available_clear(&c->available);
    for (size_t k = 0; k < c->list.count; k++) {
        struct copy *at = &c->list.at[k];
        uint32_t source = c->copy_of[at->source];
        at->root = UINT32_MAX;
        if (!at->open || (source && c->list.at[source - 1].open))
            continue;
        any = true;
        at->root = same[at->source];
        mg__flow_available_undo(&c->available, (uint32_t)k, at->root);
    }
    return any;
}

bool mg__find_copies(struct mg_lower *L, uint32_t *same, bool *fixed)
{
    const struct mg_ptx_func *f = L->func;
    struct copies c = {.L = L};
    for (uint32_t r = 0; r < f->nregs; r++)
        same[r] = r;
    c.copy_of = calloc(f->nregs + 1, sizeof *c.copy_of);
    bool good = c.copy_of && mg__flow_chains(f, &c.chains) && survey(&c, fixed);
    if (good && c.list.count) {
        good = mg__flow_available(f, L->cfg, c.list.count, c.list.count, &c.available);
        for (size_t k = 0; good && k < c.list.count; k++)
            c.available.made[c.list.at[k].reg] = (uint32_t)k + 1;
        for (unsigned level = 0; good && level < MOST_LEVELS && begin_round(&c, same); level++)
            decide(&c, same, fixed);
    }
    mg__flow_available_free(&c.available);
    mg__flow_chains_free(&c.chains);
    free(c.copy_of);
    mg__vec_free(&c.list);
    return good;
}
