/* shared.c - where ptxas puts shared variables: read off what ptxas 13.0 makes of sm_90 (tests/flow).
 *
 * First the entry's own in the order of their declaration, then those of the module, then those of the functions that
 * it may call, in the order in which the functions are declared; each at its alignment, and only those that are named.
 * Dynamic shared memory follows at a multiple of 16, or of what its declarations ask for. What an entry is said to take
 * is rounded up to the greatest multiple that any declaration of dynamic memory in the module asks for so.
 */
#include "flow/flow.h"

struct layout {
    struct mg_flow_shared *s;
    bool *used; /* by variable id: named, and not placed yet */
    uint64_t end;
};

static void place(struct layout *l, const struct mg_ptx_var *v, const struct mg_ptx_func *owner)
{
    if (v->space != MG_SPACE_SHARED || v->owner != owner || !l->used[v->id])
        return;
    l->used[v->id] = false;
    uint64_t align = MG_MAX(v->align, 1u);
    if (v->unsized) {
        l->s->dynamic_align = MG_MAX(l->s->dynamic_align, (uint32_t)align);
        return;
    }
    l->end = (l->end + align - 1) / align * align;
    l->s->at[v->id] = l->end;
    l->s->order[l->s->count++] = v;
    l->end += MG_MIN(v->size, UINT64_C(1) << 40); /* more than there is anywhere; the sum fits */
}

bool mg__flow_shared(const struct mg_ptx_module *m, const struct mg_ptx_func *const *funcs, size_t nfuncs,
                     struct mg_flow_shared *s)
{
    *s = (struct mg_flow_shared){.at = calloc(m->nvars + 1, sizeof *s->at),
                                 .order = calloc(m->nvars + 1, sizeof *s->order),
                                 .dynamic_align = 16};
    struct layout l = {.s = s, .used = calloc(m->nvars + 1, sizeof *l.used)};
    if (!s->at || !s->order || !l.used) {
        free(l.used);
        return false;
    }
    for (size_t k = 0; k < nfuncs; k++)
        for (size_t i = 0; i < funcs[k]->noperands; i++)
            if (funcs[k]->operands[i].var)
                l.used[funcs[k]->operands[i].var->id] = true;
    for (size_t i = 0; nfuncs && i < funcs[0]->nvars; i++)
        place(&l, funcs[0]->vars[i], funcs[0]);
    for (size_t i = 0; i < m->nvars; i++)
        place(&l, m->vars[i], NULL);
    for (size_t k = 0; k < m->nfuncs; k++)
        for (size_t i = 0; i < m->funcs[k]->nvars; i++)
            place(&l, m->funcs[k]->vars[i], m->funcs[k]);
    s->size = l.end;
    uint64_t dynamic = (l.end + s->dynamic_align - 1) / s->dynamic_align * s->dynamic_align;
    uint32_t unit = 1;
    for (size_t i = 0; i < m->nvars; i++)
        if (m->vars[i]->space == MG_SPACE_SHARED && m->vars[i]->unsized) {
            s->at[i] = dynamic;
            unit = MG_MAX(MG_MAX(unit, 16), m->vars[i]->align);
        }
    s->section = (l.end + unit - 1) / unit * unit;
    free(l.used);
    return true;
}

void mg__flow_shared_free(struct mg_flow_shared *s)
{
    free(s->at);
    free(s->order);
}
