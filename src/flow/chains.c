/* chains.c - which instructions write a register, and which read it. */
#include "flow/flow.h"

/* From how many there are of each register, counted one place further on, to where each one's begin. */
static uint32_t *sums(uint32_t *count, size_t nregs)
{
    for (size_t r = 0; r < nregs; r++)
        count[r + 1] += count[r];
    return calloc(count[nregs] + 1, sizeof(uint32_t));
}

bool mg__flow_chains(const struct mg_ptx_func *f, struct mg_flow_chains *c)
{
    *c = (struct mg_flow_chains){.def_at = calloc(f->nregs + 2, sizeof *c->def_at),
                                 .use_at = calloc(f->nregs + 2, sizeof *c->use_at)};
    uint32_t reg;
    bool written;
    if (!c->def_at || !c->use_at)
        return false;
    for (uint32_t i = 0; i < f->ninsns; i++)
        for (struct mg_flow_walk w = {f, &f->insns[i], 0, 0}; mg__flow_next(&w, &reg, &written);)
            (written ? c->def_at : c->use_at)[reg + 1]++;
    c->defs = sums(c->def_at, f->nregs);
    c->uses = sums(c->use_at, f->nregs);
    if (!c->defs || !c->uses)
        return false;
    /* Backwards, from each one's end down; then the ends are the beginnings. */
    memmove(c->def_at, c->def_at + 1, f->nregs * sizeof *c->def_at);
    memmove(c->use_at, c->use_at + 1, f->nregs * sizeof *c->use_at);
    for (uint32_t i = (uint32_t)f->ninsns; i-- > 0;)
        for (struct mg_flow_walk w = {f, &f->insns[i], 0, 0}; mg__flow_next(&w, &reg, &written);) {
            if (written)
                c->defs[--c->def_at[reg]] = i;
            else
                c->uses[--c->use_at[reg]] = i;
        }
    return true;
}

uint8_t mg__flow_elements(const struct mg_ptx_func *f, const struct mg_flow_chains *c, const struct mg_ptx_insn *insn)
{
    const bool loads = insn->vec > 1 && insn->access == MG_ACCESSES_LOAD;
    const struct mg_ptx_opnd *d = loads ? mg__ptx_op(f, insn, 0) : NULL;
    uint8_t read = 0;
    for (uint32_t k = 0; d && d->kind == MG_OPND_VEC && k < d->count; k++) {
        const struct mg_ptx_opnd *e = &f->operands[d->first + k];
        read |= (uint8_t)((e->kind == MG_OPND_REG && mg__flow_is_read(c, e->index)) << k);
    }
    return read;
}

void mg__flow_chains_free(struct mg_flow_chains *c)
{
    free(c->def_at);
    free(c->use_at);
    free(c->defs);
    free(c->uses);
}
