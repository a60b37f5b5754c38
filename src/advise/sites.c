/* sites.c - access sites: what the programmer sees as one access, of the instructions that make it.
 *
 * A loop that was unrolled four times has four loads for one `a[i]`; `a[i] * b[i]` has two loads on one line that are
 * two accesses. So a site is a source line, a direction and an array, and the array is the kernel parameter or the
 * __device__ variable that the address is computed from. Where it may come from more than one, or none is
 * known, the array is unknown: such accesses of a line are one site.
 *
 * They are those of the launch before if its instructions are the same, and the same of its parameters are pointers.
 */
#include "advise/advise_priv.h"

/* The array that an instruction's address comes from; what a pointer out of memory may be otherwise is left open. */
static void array_of(const struct mg_ptx_func *f, const struct mg_flow_origin *regs, const struct mg_ptx_insn *insn,
                     struct mg_advise_site *site)
{
    unsigned n = insn->address + (insn->access == MG_ACCESSES_COPY ? 1u : 0u); /* the copy's second is its source */
    struct mg_flow_origin from = mg__flow_origin_of(regs, mg__ptx_op(f, insn, n));
    site->param = -1;
    site->global = from.kind == MG_FLOW_VARIABLE && from.var->space == MG_SPACE_GLOBAL ? from.var : NULL;
    for (size_t p = 0; from.kind == MG_FLOW_POINTER && p < f->nparams; p++)
        if (from.offset - f->params[p]->offset < f->params[p]->size)
            site->param = (int)p;
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
    /* Line 0 is what the compiler made of several lines: the one before it is the nearest that there is. */
    for (uint32_t k = insn; !i->line && i->file && k > 0 && info->insns[k - 1].func == i->func; k--)
        if (info->insns[k - 1].line) {
            i = &info->insns[k - 1];
            break;
        }
    *file = i->file ? i->file : "";
    *line = i->line;
}

static bool find_kept(struct mg_sites *kept, uint64_t program, uint64_t pointers, struct mg_sites *s)
{
    for (unsigned k = 0; program && k < MG_SITES_KEPT; k++)
        if (kept[k].program == program && kept[k].pointers == pointers) {
            *s = kept[k];
            memset(&kept[k], 0, sizeof(kept[k]));
            return true;
        }
    return false;
}

void mg__sites_keep(struct mg_sites *kept, struct mg_sites *s)
{
    unsigned to = 0;
    while (to < MG_SITES_KEPT - 1 && kept[to].program)
        to++;
    if (s->program) { /* the oldest, which is the first one, goes */
        if (kept[to].program) {
            mg__sites_free(&kept[0]);
            memmove(&kept[0], &kept[1], (MG_SITES_KEPT - 1) * sizeof(*kept));
        }
        kept[to] = *s;
        memset(s, 0, sizeof(*s));
    }
    mg__sites_free(s);
}

bool mg__sites_find(const struct mg_launch_info *info, struct mg_sites *kept, struct mg_sites *s)
{
    const struct mg_ptx_func *func = NULL;
    struct mg_flow_origin *regs = NULL;
    uint64_t pointers;
    const uint64_t program = mg__launch_pointers(info, &pointers) ? info->program : 0;
    if (find_kept(kept, program, pointers, s))
        return true;
    memset(s, 0, sizeof(*s));
    s->program = program;
    s->pointers = pointers;
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
        if (at->func != func) {
            free(regs);
            func = at->func;
            regs = calloc(func->nregs + 1, sizeof(*regs));
            if (!regs)
                goto fail;
            mg__flow_origins(func, mg__launch_is_pointer, info, regs);
        }
        array_of(func, regs, at->insn, &site);
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
    free(regs);
    return true;
fail:
    free(regs);
    mg__sites_free(s);
    return false;
}

void mg__sites_free(struct mg_sites *s)
{
    free(s->at);
    free(s->of);
    memset(s, 0, sizeof(*s));
}
