/* fixed.c - values that a thread has for as long as a function's frame lives: numbers, special registers of the thread,
 * parameters of the kernel. */
#include "flow/flow.h"

static bool is_fixed(uint32_t sreg)
{
    return sreg == MG_SR_TID || sreg == MG_SR_NTID || sreg == MG_SR_CTAID || sreg == MG_SR_NCTAID ||
           sreg == MG_SR_LANEID;
}

bool mg__flow_param(const struct mg_ptx_func *f, const struct mg_ptx_insn *i, uint64_t *offset)
{
    if (i->access != MG_ACCESSES_LOAD || i->space != MG_SPACE_PARAM || !f->is_entry)
        return false;
    const struct mg_ptx_opnd *s = mg__ptx_op(f, i, i->address);
    size_t k = 0;
    while (k < f->nparams && f->params[k] != s->var)
        k++;
    if (s->kind != MG_OPND_ADDR || s->has_reg || k == f->nparams)
        return false; /* of a function that was called, or a returned value */
    *offset = s->var->offset + (uint64_t)s->imm;
    return true;
}

bool mg__flow_fixed(const struct mg_ptx_func *f, const struct mg_ptx_insn *i, struct mg_flow_fixed *value)
{
    if (i->guard >= 0 || i->nops != 2)
        return false;
    const struct mg_ptx_opnd *d = mg__ptx_op(f, i, 0), *s = mg__ptx_op(f, i, 1);
    if (d->kind != MG_OPND_REG)
        return false;
    unsigned size = mg__ptx_type_size((enum mg_ptx_type)f->regs[d->index].type);
    bool copy = mg__ptx_exactly(i) == MG_ALG_COPY;
    uint64_t offset;
    if ((size != 4 && size != 8) || mg__ptx_type_size((enum mg_ptx_type)i->type[0]) != size)
        return false;
    *value = (struct mg_flow_fixed){.size = (uint8_t)size};
    if (copy && s->kind == MG_OPND_IMM && !s->is_float) {
        value->kind = MG_FLOW_CONSTANT;
        value->bits = (uint64_t)s->imm;
        return true;
    }
    if (copy && s->kind == MG_OPND_SREG && f->is_entry && size == 4 && is_fixed(s->index) && s->dim < 3) {
        value->kind = MG_FLOW_SREG;
        value->sreg = (uint16_t)s->index;
        value->dim = s->dim;
        return true;
    }
    if (!mg__flow_param(f, i, &offset) || i->vec > 1 || s->imm < 0 || (uint64_t)s->imm + size > s->var->size)
        return false;
    value->kind = MG_FLOW_PARAM;
    value->offset = (uint32_t)offset;
    return true;
}
