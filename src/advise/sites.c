/* sites.c - access sites: what the programmer sees as one access, of the instructions that make it.
 *
 * A loop that was unrolled four times has four loads for one `a[i]`; `a[i] * b[i]` has two loads on one line that are
 * two accesses. So a site is a source line, a direction and an array, and the array is the kernel parameter or the
 * __device__ variable that the address is computed from. That is found by going back over the definitions of the
 * address's registers, through 64-bit values only (an index is 32 bits, or was widened from them by an instruction that
 * takes no pointer). Where more than one parameter is reached, or none, the array is unknown: such accesses of a line
 * are one site.
 */
#include "advise/advise_priv.h"

enum { MAX_STEPS = 512 };

struct defs { /* the definitions of a function's registers */
    const struct mg_ptx_func *func;
    uint32_t *head, *next; /* by register; by instruction: +1, 0 ends */
    uint8_t *visited;
    int param;
    const struct mg_ptx_var *global;
    bool several;
    unsigned steps;
};

static const struct mg_ptx_opnd *operand(const struct mg_ptx_func *f, const struct mg_ptx_insn *insn, unsigned n)
{
    return n < insn->nops && insn->first_op + n < f->noperands ? mg__ptx_op(f, insn, n) : NULL;
}

static bool defs_build(struct defs *d, const struct mg_ptx_func *func)
{
    memset(d, 0, sizeof(*d));
    d->func = func;
    d->head = calloc(func->nregs + 1, sizeof(*d->head));
    d->next = calloc(func->ninsns + 1, sizeof(*d->next));
    d->visited = calloc(func->nregs + 1, 1);
    if (!d->head || !d->next || !d->visited)
        return false;
    for (size_t i = 0; i < func->ninsns; i++) {
        const struct mg_ptx_insn *insn = &func->insns[i];
        const struct mg_ptx_opnd *o = mg__ptx_writes(insn, 0) ? operand(func, insn, 0) : NULL;
        if (o && o->kind == MG_OPND_REG && o->index < func->nregs) {
            d->next[i] = d->head[o->index];
            d->head[o->index] = (uint32_t)i + 1;
        }
    }
    return true;
}

static void defs_free(struct defs *d)
{
    free(d->head);
    free(d->next);
    free(d->visited);
    memset(d, 0, sizeof(*d));
}

static void found(struct defs *d, int param, const struct mg_ptx_var *global)
{
    if ((d->param >= 0 || d->global) && (d->param != param || d->global != global))
        d->several = true;
    d->param = param;
    d->global = global;
}

static void trace(struct defs *d, uint32_t reg)
{
    const struct mg_ptx_func *f = d->func;
    uint32_t stack[64];
    unsigned depth = 0;
    stack[depth++] = reg;
    while (depth && d->steps++ < MAX_STEPS) {
        reg = stack[--depth];
        if (reg >= f->nregs || d->visited[reg])
            continue;
        d->visited[reg] = 1;
        for (uint32_t at = d->head[reg]; at; at = d->next[at - 1]) {
            const struct mg_ptx_insn *insn = &f->insns[at - 1];
            if (insn->opcode == MG_OP_LD) {
                const struct mg_ptx_opnd *o = operand(f, insn, 1);
                for (size_t p = 0; insn->space == MG_SPACE_PARAM && o && p < f->nparams && f->is_entry; p++)
                    if (o->kind == MG_OPND_ADDR && o->var == f->params[p])
                        found(d, (int)p, NULL);
                continue; /* a pointer out of memory: unknown */
            }
            for (unsigned n = 1; n < insn->nops; n++) {
                const struct mg_ptx_opnd *o = operand(f, insn, n);
                if (o && (o->kind == MG_OPND_SYMBOL || o->kind == MG_OPND_ADDR) && o->var &&
                    o->var->space == MG_SPACE_GLOBAL)
                    found(d, -1, o->var);
                if (o && o->kind == MG_OPND_REG && o->index < f->nregs && depth < MG_COUNT(stack) &&
                    mg__ptx_type_size((enum mg_ptx_type)f->regs[o->index].type) == 8)
                    stack[depth++] = o->index;
            }
        }
    }
}

/* The array that an instruction's address comes from. */
static void array_of(struct defs *d, const struct mg_ptx_insn *insn, struct mg_advise_site *site)
{
    unsigned n = insn->address + (insn->access == MG_ACCESSES_COPY ? 1u : 0u); /* the copy's second is its source */
    const struct mg_ptx_opnd *o = operand(d->func, insn, n);
    memset(d->visited, 0, d->func->nregs);
    d->param = -1;
    d->global = NULL;
    d->several = false;
    d->steps = 0;
    site->param = -1;
    site->global = NULL;
    if (!o || o->kind != MG_OPND_ADDR)
        return;
    if (o->var && o->var->space == MG_SPACE_GLOBAL)
        found(d, -1, o->var);
    if (o->has_reg)
        trace(d, o->index);
    if (!d->several) {
        site->param = d->param;
        site->global = d->global;
    }
}

/* An access that may be one of device memory, and its direction as device memory sees it. */
static bool is_memory(const struct mg_ptx_insn *insn, uint8_t *direction)
{
    *direction = mg__ptx_is_atomic(insn)             ? MG_DIR_ATOMIC
                 : insn->access == MG_ACCESSES_STORE ? MG_DIR_STORE
                                                     : MG_DIR_LOAD;
    return insn->access == MG_ACCESSES_COPY ||
           (insn->access != MG_ACCESSES_NONE && (insn->space == MG_SPACE_GLOBAL || insn->space == MG_SPACE_GENERIC));
}

void mg__site_place(const struct mg_launch_info *info, uint32_t insn, const char **file, uint32_t *line)
{
    const struct mg_insn_info *i = &info->insns[insn];
    const struct mg_ptx_module *m = info->module;
    /* Line 0 is what the compiler made of several lines: the one before it is the nearest that there is. */
    for (uint32_t k = insn; !i->line && i->file && k > 0 && info->insns[k - 1].func == i->func; k--)
        if (info->insns[k - 1].line) {
            i = &info->insns[k - 1];
            break;
        }
    *file = i->file ? i->file : "";
    *line = i->line;
    if (m && i->insn && i->insn->loc) {
        struct mg_ptx_place place = mg__ptx_place(m, i->insn->loc);
        *file = place.file;
        *line = place.line;
    }
}

bool mg__sites_find(const struct mg_launch_info *info, struct mg_sites *s)
{
    struct defs defs = {0};
    memset(s, 0, sizeof(*s));
    s->shift = 4;
    s->at = calloc((size_t)info->ninsns + 1, sizeof(*s->at));
    s->of = malloc(((size_t)info->ninsns + 1) * sizeof(*s->of));
    if (!s->at || !s->of)
        goto fail;
    for (uint32_t i = 0; i < info->ninsns; i++) {
        const struct mg_insn_info *at = &info->insns[i];
        struct mg_advise_site site = {.file = "", .line = 0};
        mg__site_place(info, i, &site.file, &site.line);
        s->of[i] = UINT32_MAX;
        if (!at->insn || !at->func || !is_memory(at->insn, &site.direction))
            continue;
        if (at->func != defs.func) {
            defs_free(&defs);
            if (!defs_build(&defs, at->func))
                goto fail;
        }
        array_of(&defs, at->insn, &site);
        unsigned size = mg__ptx_type_size((enum mg_ptx_type)at->insn->type[0]);
        unsigned shift = size ? (unsigned)__builtin_ctz(size) : 2;
        s->shift = MG_MIN(s->shift, shift);
        uint32_t k = 0;
        for (; k < s->count; k++)
            if (s->at[k].line == site.line && s->at[k].param == site.param && s->at[k].global == site.global &&
                s->at[k].direction == site.direction && !strcmp(s->at[k].file, site.file))
                break;
        if (k == s->count)
            s->at[s->count++] = site;
        s->of[i] = k;
    }
    s->shift = MG_MIN(s->shift, 2u);
    defs_free(&defs);
    return true;
fail:
    defs_free(&defs);
    mg__sites_free(s);
    return false;
}

void mg__sites_free(struct mg_sites *s)
{
    free(s->at);
    free(s->of);
    memset(s, 0, sizeof(*s));
}
