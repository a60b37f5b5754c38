/* chosen.c - loads whose value counts for some lanes alone.
 *
 * Where an address cannot fault a compiler loads first, for all lanes, and chooses afterwards: `if (t == 0) a += s[1];`
 * is a load, an addition and a selp by t == 0, or a load in front of the branch around its only use. What the other
 * lanes have loaded goes nowhere.
 *
 * Found are loads of which every value ends so, by one predicate, which does not change in between, in the load's own
 * basic block; arithmetic may lie between the load and the choice, and nothing that another thread could notice.
 */
#include "flow/flow.h"

enum { REACH = 256 /* instructions from the load to the choice */, VALUES = 64 /* computed from it */ };

struct search {
    const struct mg_ptx_func *func;
    const struct mg_cfg *cfg;
    const struct mg_flow_chains *chains;
    uint32_t load, block;
    uint32_t value[VALUES]; /* registers that hold what was loaded, or what was computed from it */
    unsigned nvalues;
    struct mg_flow_choice choice;
};

static bool add_results(struct search *s, const struct mg_ptx_insn *i)
{
    struct mg_flow_walk w = {s->func, i, 0, 0};
    uint32_t reg;
    for (bool written; mg__flow_next(&w, &reg, &written);) {
        if (!written)
            continue;
        if (s->nvalues == VALUES || mg__flow_ndefs(s->chains, reg) != 1)
            return false;
        s->value[s->nvalues++] = reg;
    }
    return true;
}

/* One more place at which lanes are left out: by the same predicate as the others, or it is no choice. */
static bool chooses(struct search *s, uint32_t at, uint32_t predicate, bool when)
{
    struct mg_flow_choice *c = &s->choice;
    if (c->at && (c->predicate != predicate || c->when != when))
        return false;
    *c = (struct mg_flow_choice){c->at ? MG_MIN(c->at, at) : at, predicate, when};
    return true;
}

/* The value is used beyond the block: in an arm of the branch at its end, to which there is no other way. */
static bool used_in_arm(struct search *s, uint32_t use)
{
    const struct mg_cfg_block *own = &s->cfg->blocks[s->block];
    const struct mg_ptx_insn *branch = &s->func->insns[own->end - 1];
    if (branch->guard < 0 || !mg__ptx_branches(branch) || own->nsucc != 2)
        return false;
    uint32_t arm = s->cfg->block_of[use];
    while (arm != own->succ[0] && arm != own->succ[1] && s->cfg->blocks[arm].idom != arm)
        arm = s->cfg->blocks[arm].idom;
    const bool taken = arm == own->succ[1];
    return (taken || arm == own->succ[0]) && s->cfg->blocks[arm].npred == 1 &&
           chooses(s, own->end - 1, (uint32_t)branch->guard, taken != branch->guard_negate);
}

static bool is_register(const struct mg_ptx_opnd *o, uint32_t reg)
{
    return o->kind == MG_OPND_REG && o->index == reg;
}

static bool used_well(struct search *s, uint32_t use, uint32_t reg)
{
    const struct mg_ptx_insn *i = &s->func->insns[use];
    if (s->cfg->block_of[use] != s->block)
        return used_in_arm(s, use);
    if (use <= s->load || i->guard >= 0 || i->effects || i->access != MG_ACCESSES_NONE ||
        mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->group != MG_G_ALU)
        return false;
    if (mg__ptx_exactly(i) == MG_ALG_SELECT && i->nops == 4) {
        const struct mg_ptx_opnd *p = mg__ptx_op(s->func, i, 3);
        const bool first = is_register(mg__ptx_op(s->func, i, 1), reg),
                   second = is_register(mg__ptx_op(s->func, i, 2), reg);
        if (p->kind == MG_OPND_REG && p->index != reg && first != second &&
            chooses(s, use, p->index, first != p->negate))
            return true;
    }
    return add_results(s, i);
}

static bool find(struct search *s)
{
    if (!add_results(s, &s->func->insns[s->load]))
        return false;
    for (unsigned k = 0; k < s->nvalues; k++)
        for (uint32_t u = s->chains->use_at[s->value[k]]; u < s->chains->use_at[s->value[k] + 1]; u++)
            if (!used_well(s, s->chains->uses[u], s->value[k]))
                return false;
    const struct mg_flow_choice *c = &s->choice;
    if (!c->at || c->at - s->load > REACH || mg__flow_ndefs(s->chains, c->predicate) != 1)
        return false;
    const uint32_t set = s->chains->defs[s->chains->def_at[c->predicate]];
    bool quiet = s->cfg->block_of[set] != s->block || set < c->at; /* else it is another round's */
    for (uint32_t k = s->load + 1; k < c->at; k++) {
        const struct mg_ptx_insn *i = &s->func->insns[k];
        quiet &= !i->effects && (i->access == MG_ACCESSES_NONE || i->access == MG_ACCESSES_LOAD);
    }
    return quiet;
}

void mg__flow_choices(const struct mg_ptx_func *f, const struct mg_cfg *cfg, const struct mg_flow_chains *chains,
                      struct mg_flow_choice *by_insn)
{
    for (uint32_t k = 0; k < f->ninsns; k++) {
        const struct mg_ptx_insn *i = &f->insns[k];
        struct search s = {.func = f, .cfg = cfg, .chains = chains, .load = k, .block = cfg->block_of[k]};
        by_insn[k] = (struct mg_flow_choice){0};
        if (i->access == MG_ACCESSES_LOAD && mg__ptx_accesses(i) && i->guard < 0 && !i->effects &&
            cfg->blocks[s.block].reachable && find(&s))
            by_insn[k] = s.choice;
    }
}
