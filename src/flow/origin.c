/* origin.c - what an address was computed from.
 *
 * It is worked out register by register, without regard to order: a register that is only ever computed from one
 * variable's address, or from one pointer among the parameters, and from numbers, points into that object. Adding two
 * pointers is not followed: then nothing is claimed. What was loaded from memory is a number where it is added to a
 * pointer, but may be a pointer where a register has it on one path and a pointer on another.
 */
#include "flow/flow.h"

struct trace {
    const struct mg_ptx_func *func;
    bool (*is_pointer)(const void *arg, uint64_t offset);
    const void *arg;
    struct mg_flow_origin *regs;
};

static const struct mg_flow_origin several = {.kind = MG_FLOW_SEVERAL}, memory = {.some = true};

/* One or the other. */
static struct mg_flow_origin join(struct mg_flow_origin a, struct mg_flow_origin b)
{
    bool some = a.some || b.some;
    bool same = a.kind == b.kind && a.var == b.var && a.offset == b.offset;
    struct mg_flow_origin j = a.kind == MG_FLOW_NUMBER ? b : b.kind == MG_FLOW_NUMBER || same ? a : several;
    j.some = some;
    return j;
}

/* Two parts of one sum. */
static struct mg_flow_origin add(struct mg_flow_origin a, struct mg_flow_origin b)
{
    if (a.kind != MG_FLOW_NUMBER && b.kind != MG_FLOW_NUMBER)
        return several;
    return a.kind != MG_FLOW_NUMBER ? a : b.kind != MG_FLOW_NUMBER ? b : join(a, b);
}

/* Something made of it. */
static struct mg_flow_origin blur(struct mg_flow_origin a)
{
    return a.kind == MG_FLOW_NUMBER ? a : several;
}

struct mg_flow_origin mg__flow_origin_of(const struct mg_flow_origin *regs, const struct mg_ptx_opnd *o)
{
    struct mg_flow_origin s = {.kind = MG_FLOW_NUMBER};
    if (o->kind == MG_OPND_REG)
        return regs[o->index];
    if ((o->kind == MG_OPND_SYMBOL || o->kind == MG_OPND_ADDR) && o->var && !o->var->is_param)
        s = (struct mg_flow_origin){.kind = MG_FLOW_VARIABLE, .var = o->var};
    return o->kind == MG_OPND_ADDR && o->has_reg ? add(s, regs[o->index]) : s;
}

/* Of the entry's own parameters, 8 bytes may be an address; the rest of them is numbers, or may be anything. */
static struct mg_flow_origin of_load(const struct trace *t, const struct mg_ptx_insn *i, unsigned element)
{
    uint64_t offset;
    if (mg__ptx_type_size((enum mg_ptx_type)i->type[0]) != 8 || !mg__flow_param(t->func, i, &offset))
        return memory;
    offset += 8u * element;
    if (!t->is_pointer(t->arg, offset))
        return (struct mg_flow_origin){.kind = MG_FLOW_NUMBER};
    return (struct mg_flow_origin){.kind = MG_FLOW_POINTER, .offset = (uint32_t)offset};
}

static struct mg_flow_origin of_result(const struct trace *t, const struct mg_ptx_insn *i, unsigned element)
{
    const struct mg_ptx_func *f = t->func;
    struct mg_flow_origin op[4] = {{.kind = MG_FLOW_NUMBER}};
    unsigned first = i->flags & MG_F_DUAL ? 2 : 1;
    if (i->access == MG_ACCESSES_LOAD)
        return of_load(t, i, element);
    if (i->access != MG_ACCESSES_NONE || i->effects & MG_E_CALLS)
        return memory;
    for (unsigned n = first; n < i->nops && n - first < 4; n++)
        op[n - first] = mg__flow_origin_of(t->regs, mg__ptx_op(f, i, n));
    switch (i->algebra & ~(unsigned)MG_ALG_ROUGH) {
    case MG_ALG_COPY: /* pieces of a value make numbers, and what is made of pieces may be anything */
        if (mg__ptx_op(f, i, 1)->kind == MG_OPND_VEC)
            return memory;
        return mg__ptx_op(f, i, 0)->kind == MG_OPND_VEC ? blur(op[0]) : op[0];
    case MG_ALG_CONVERT:
    case MG_ALG_ADDRESS:
        return op[0];
    case MG_ALG_ADD:
    case MG_ALG_AND:
    case MG_ALG_OR:
    case MG_ALG_XOR:
        return add(op[0], op[1]);
    case MG_ALG_SUB:
        return op[1].kind == MG_FLOW_NUMBER ? op[0] : several;
    case MG_ALG_MAD:
        return add(add(blur(op[0]), blur(op[1])), op[2]);
    case MG_ALG_SELECT:
        return join(op[0], op[1]);
    case MG_ALG_TRUTH:
        return (struct mg_flow_origin){.kind = MG_FLOW_NUMBER};
    default: {
        struct mg_flow_origin s = {.kind = MG_FLOW_NUMBER};
        for (unsigned n = 0; n < 4; n++)
            s = add(s, blur(op[n]));
        return s;
    }
    }
}

/* Each pass lets origins flow one step further, and they only ever grow. */
void mg__flow_origins(const struct mg_ptx_func *f, bool (*is_pointer)(const void *arg, uint64_t offset),
                      const void *arg, struct mg_flow_origin *regs)
{
    struct trace t = {f, is_pointer, arg, regs};
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = 0; k < f->ninsns; k++) {
            const struct mg_ptx_insn *i = &f->insns[k];
            for (unsigned n = 0; i->nops > 1 && n < i->nresults; n++) {
                const struct mg_ptx_opnd *d = mg__ptx_op(f, i, n);
                uint32_t count = d->kind == MG_OPND_VEC ? d->count : 1;
                const struct mg_ptx_opnd *e = d->kind == MG_OPND_VEC ? &f->operands[d->first] : d;
                for (uint32_t v = 0; v < count; v++) {
                    if (e[v].kind != MG_OPND_REG)
                        continue;
                    struct mg_flow_origin *at = &regs[e[v].index], now = join(*at, of_result(&t, i, v));
                    changed |= now.kind != at->kind || now.some != at->some;
                    *at = now;
                }
            }
        }
    }
}
