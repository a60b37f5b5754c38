/* chain.c - launches that may begin before the one in front of them in their stream has ended (programmatic dependent
 * launch): race/dependent-launch.
 *
 * Such a kernel finds what the one in front of it writes only behind griddepcontrol.wait, which is
 * cudaGridDependencySynchronize. So what each launch has written is kept until the stream is given something else, or
 * the host waits; and what a dependent launch used of it, in instructions that come before every wait, is told. An
 * instruction that some wait leads to is taken to be behind it, for one thread may wait for its block.
 *
 * Nothing is claimed of code for older devices, which has no such instruction: libraries ask for early launches
 * whatever their kernels were compiled for, and no kernel of theirs lets the next one begin before it ends.
 *
 * A kernel that lets none begin (griddepcontrol.launch_dependents) is over when the next one starts, though its writes
 * need not be seen: CUB reads them so, ahead of its wait. Of a kernel that waits somewhere that is said if --pedantic.
 *
 * Left out: launches whose blocks run in order, and what they use; functions that are called.
 */
#include "check/check_priv.h"

enum { RANGES_MOST = 1 << 16, DEVICE = 90 }; /* the first capability that has it */

struct range {
    uint64_t from, to;
};
struct wrote { /* to one region */
    uint64_t serial;
    char *file;
    uint32_t line, column;
    MG_VEC(struct range) ranges;
};
struct chain {
    uint64_t stream;
    char *kernel;
    bool lets; /* it lets the next one begin before it ends */
    MG_VEC(struct wrote) wrote;
    MG_VEC(uint32_t) told; /* instructions of the launch under way */
};

/* The launch that this thread is about to begin. */
static _Thread_local struct {
    uint64_t stream;
    bool dependent;
} next;

void mg__check_launches(struct mg_check *c, uint64_t stream, bool dependent)
{
    if (!c)
        return;
    next.stream = stream;
    next.dependent = dependent;
}

static void clear(struct chain *chain)
{
    for (size_t i = 0; i < chain->wrote.count; i++) {
        free(chain->wrote.at[i].file);
        mg__vec_free(&chain->wrote.at[i].ranges);
    }
    mg__vec_free(&chain->wrote);
    mg__vec_free(&chain->told);
    free(chain->kernel);
    *chain = (struct chain){0};
}

void mg__chain_break(struct mg_check *c)
{
    if (c->chain)
        clear(c->chain);
}

void mg__chain_free(struct mg_check *c)
{
    mg__chain_break(c);
    free(c->chain);
}

void mg__chain_begin(struct launch *l)
{
    struct mg_check *c = l->check;
    l->stream = next.stream;
    l->kept = l->race && !l->ordered && l->info->device_cc >= DEVICE &&
              (c->chain || (c->chain = calloc(1, sizeof(*c->chain))));
    l->dependent = next.dependent && l->kept && l->info->module->target_sm >= DEVICE && c->chain->kernel &&
                   c->chain->stream == next.stream;
    next.dependent = false;
}

static bool is_wait(const struct mg_ptx_insn *i)
{
    return i->opcode == MG_OP_GRIDDEPCONTROL && i->sub == MG_SUB_WAIT;
}

/* Whether the code has a griddepcontrol: a wait, or one that lets the next kernel begin. */
static bool has(const struct mg_launch_info *info, bool wait)
{
    for (uint32_t k = 0; k < info->ninsns; k++)
        if (info->insns[k].insn->opcode == MG_OP_GRIDDEPCONTROL && is_wait(info->insns[k].insn) == wait)
            return true;
    return false;
}

/* Whether the instruction comes before every wait. */
static bool is_early(const struct mg_launch_info *info, uint32_t insn)
{
    for (uint32_t k = 0; k < info->ninsns; k++)
        if (is_wait(info->insns[k].insn) &&
            (info->insns[k].func != info->insns[insn].func || mg__code_leads(info, k, insn, false, false)))
            return false;
    return true;
}

static const struct wrote *met(const struct chain *chain, uint64_t serial, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < chain->wrote.count; i++) {
        const struct wrote *w = &chain->wrote.at[i];
        size_t low = 0, high = w->serial == serial ? w->ranges.count : 0;
        while (low < high) { /* in order: the first that ends behind `from` */
            size_t middle = (low + high) / 2;
            if (w->ranges.at[middle].to > from)
                high = middle;
            else
                low = middle + 1;
        }
        if (w->serial == serial && low < w->ranges.count && w->ranges.at[low].from < to)
            return w;
    }
    return NULL;
}

void mg__chain_used(struct launch *l, const struct region *r, uint64_t from, uint64_t to, uint32_t insn)
{
    struct chain *chain = l->check->chain;
    const struct wrote *by = insn == NO_INSN ? NULL : met(chain, r->serial, from, to);
    char variable[160];
    if (!by)
        return;
    for (size_t i = 0; i < chain->told.count; i++)
        if (chain->told.at[i] == insn)
            return;
    if (!mg__vec_push(&chain->told, insn) || !is_early(l->info, insn))
        return;
    if (!chain->lets && !l->pedantic && has(l->info, true))
        return;
    struct line line = mg__name_line(l->info, insn);
    char *own = r->name ? mg__report_variable_name(r->name) : NULL, *name = mg__report_demangle(chain->kernel);
    if (own)
        snprintf(variable, sizeof(variable), "%s, byte %llu", own, (unsigned long long)from);
    else
        snprintf(variable, sizeof(variable), "allocation of %llu bytes, byte %llu", (unsigned long long)r->size,
                 (unsigned long long)from);
    mg__find_at(l->check, KIND_RACE_CHAIN, l->info->kernel,
                (struct mg_report_finding){.file = line.file,
                                           .line = line.line,
                                           .column = line.column,
                                           .other_file = by->file,
                                           .other_line = by->line,
                                           .other_column = by->column,
                                           .variable = variable},
                "%s %s, which %s in front of it writes, and has not waited for that kernel's end",
                l->code.sites[insn].writes ? "writes" : "reads", variable, name ? name : chain->kernel);
    free(own);
    free(name);
}

void mg__chain_wrote(struct launch *l, const struct region *r, uint64_t from, uint64_t to, uint32_t insn)
{
    struct chain *chain = l->check->next_chain;
    struct wrote *w = NULL;
    for (size_t i = 0; i < chain->wrote.count && !w; i++)
        if (chain->wrote.at[i].serial == r->serial)
            w = &chain->wrote.at[i];
    if (!w) {
        struct line line = mg__name_line(l->info, insn);
        struct wrote new = {.serial = r->serial, .file = strdup(line.file), .line = line.line, .column = line.column};
        if (!new.file || !mg__vec_push(&chain->wrote, new)) {
            free(new.file);
            return;
        }
        w = &chain->wrote.at[chain->wrote.count - 1];
    }
    struct range *last = w->ranges.count ? &w->ranges.at[w->ranges.count - 1] : NULL;
    if (last && last->to == from)
        last->to = to;
    else if (w->ranges.count < RANGES_MOST)
        (void)mg__vec_push(&w->ranges, ((struct range){from, to}));
}

/* Around the collection of a launch's cells: what it wrote takes the place of what the one before it did. */
void mg__chain_collects(struct launch *l)
{
    if (l->kept)
        l->check->next_chain = calloc(1, sizeof(struct chain));
    l->kept = l->kept && l->check->next_chain;
}

void mg__chain_collected(struct launch *l)
{
    struct mg_check *c = l->check;
    mg__chain_break(c);
    if (!l->kept)
        return;
    *c->chain = *c->next_chain;
    free(c->next_chain);
    c->next_chain = NULL;
    c->chain->stream = l->stream;
    c->chain->kernel = strdup(l->info->kernel);
    c->chain->lets = has(l->info, false);
}
