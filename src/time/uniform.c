/* uniform.c - constants that a warp reads together at a place that no lane decides: ptxas loads them into a uniform
 * register (ULDC), or makes them an operand where it unrolls the loop; neither goes to the unit that serves lanes.
 *
 * A register differs between lanes when something does that it is made of: the thread's own numbers, what memory
 * brought, what another function returned. A loop's counter does not, though it is written at two places: lanes that go
 * through the loop together are in the same round. (Of two ways that lanes took apart, and that set the same register
 * to other constants, this says nothing.)
 */
#include "time/time_priv.h"

static bool own_number(const struct mg_ptx_opnd *o)
{
    return o->kind == MG_OPND_SREG && o->index != MG_SR_NTID && o->index != MG_SR_CTAID && o->index != MG_SR_NCTAID;
}

static bool constant(const struct mg_ptx_func *func, const struct mg_ptx_insn *i)
{
    return i->access == MG_ACCESSES_LOAD &&
           (i->space == MG_SPACE_CONST || (i->space == MG_SPACE_PARAM && func->is_entry));
}

static bool differs(const struct mg_ptx_func *func, const struct mg_ptx_insn *i, const bool *varies)
{
    uint32_t reg;
    bool written;
    if ((i->access != MG_ACCESSES_NONE && !constant(func, i)) || i->effects & (MG_E_CALLS | MG_E_WARP))
        return true;
    for (uint32_t k = 0; k < i->nops; k++)
        if (own_number(mg__ptx_op(func, i, k)))
            return true;
    for (struct mg_flow_walk w = {func, i, 0, 0}; mg__flow_next(&w, &reg, &written);)
        if (!written && varies[reg])
            return true;
    return false;
}

static void find_varying(const struct mg_ptx_func *func, bool *varies)
{
    uint32_t reg;
    bool written;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < func->ninsns; i++) {
            if (!func->insns[i].nresults || !differs(func, &func->insns[i], varies))
                continue;
            for (struct mg_flow_walk w = {func, &func->insns[i], 0, 0}; mg__flow_next(&w, &reg, &written);) {
                again |= written && !varies[reg];
                varies[reg] |= written;
            }
        }
    }
}

static const struct mg_ptx_opnd *place_of(const struct mg_ptx_func *func, const struct mg_ptx_insn *i)
{
    const struct mg_ptx_opnd *at = constant(func, i) && i->nops > 1 ? mg__ptx_op(func, i, 1) : NULL;
    return at && at->kind == MG_OPND_ADDR && at->has_reg ? at : NULL;
}

bool mg__time_uniform(const struct mg_ptx_func *func, bool **uniform)
{
    bool any = false;
    *uniform = NULL;
    for (uint32_t i = 0; i < func->ninsns && !any; i++)
        any = place_of(func, &func->insns[i]);
    bool *varies = any ? calloc((size_t)func->nregs + 1, sizeof(*varies)) : NULL;
    *uniform = any ? calloc((size_t)func->ninsns + 1, sizeof(**uniform)) : NULL;
    bool good = !any || (varies && *uniform);
    if (any && good) {
        find_varying(func, varies);
        for (uint32_t i = 0; i < func->ninsns; i++) {
            const struct mg_ptx_opnd *at = place_of(func, &func->insns[i]);
            (*uniform)[i] = at && func->insns[i].guard < 0 && !varies[at->index];
        }
    }
    free(varies);
    return good;
}
