/* made.c - one access as the machine code makes it, by the plan that merge.c worked out for its instruction.
 *
 * The leader of a joined group makes the wide access and its followers none. A load of which not all is read makes a
 * narrower access, or two. An atomic whose result nobody reads is a
 * reduction, one that all lanes make at one address is made by one of them, and one that adds the constant 1 costs what
 * a load does.
 */
#include "model/model_priv.h"

/* The functions of a launch, the entry first: a function's instructions stay together. */
static size_t functions_of(const struct mg_launch_info *info, const struct mg_ptx_func **funcs)
{
    size_t n = 0;
    for (uint32_t i = 0; i < info->ninsns; i++)
        if (info->insns[i].func && (!n || funcs[n - 1] != info->insns[i].func))
            funcs[n++] = info->insns[i].func;
    return n;
}

static bool plan_all(struct mg_model_made *made, const struct mg_launch_info *info, const struct mg_flow_shared *shared)
{
    const struct mg_ptx_func *func = NULL;
    struct mg_model_plan *plan = NULL;
    for (uint32_t i = 0; i < info->ninsns; i++) {
        const struct mg_insn_info *at = &info->insns[i];
        if (!at->func || !at->insn)
            continue;
        if (at->func != func) {
            free(plan);
            func = at->func;
            plan = mg__model_merge(func, shared);
            if (!plan)
                return false;
        }
        size_t k = (size_t)(at->insn - func->insns);
        if (k < func->ninsns)
            made->plans[i] = plan[k];
    }
    free(plan);
    return true;
}

struct mg_model_made *mg__model_made_create(const struct mg_launch_info *info)
{
    struct mg_model_made *made = calloc(1, sizeof(*made));
    const struct mg_ptx_func **funcs = calloc((size_t)info->ninsns + 1, sizeof(*funcs));
    struct mg_flow_shared shared = {0};
    bool good = made && funcs;
    if (good) {
        made->uses = 1;
        made->ninsns = info->ninsns;
        made->plans = calloc((size_t)info->ninsns + 1, sizeof(*made->plans));
        good = made->plans && mg__flow_shared(info->module, funcs, functions_of(info, funcs), &shared) &&
               plan_all(made, info, &shared);
    }
    mg__flow_shared_free(&shared);
    free(funcs);
    if (!good) {
        mg__model_made_free(made);
        return NULL;
    }
    return made;
}

void mg__model_made_free(struct mg_model_made *made)
{
    if (!made || (made->uses && --made->uses))
        return;
    free(made->plans);
    free(made);
}

struct mg_model_made *mg__model_made_kept(struct mg_model_made *kept[MG_MODEL_MADE_KEPT],
                                          const struct mg_launch_info *info)
{
    struct mg_model_made **at = &kept[info->program % MG_MODEL_MADE_KEPT];
    if (!info->program)
        return mg__model_made_create(info);
    if (!*at || (*at)->program != info->program) {
        mg__model_made_free(*at);
        *at = mg__model_made_create(info);
        if (!*at)
            return NULL;
        (*at)->program = info->program;
    }
    (*at)->uses++;
    return *at;
}

static bool uniform(uint32_t mask, const uint64_t address[32])
{
    uint64_t first = address[__builtin_ctz(mask)];
    for (uint32_t m = mask; m; m &= m - 1)
        if (address[__builtin_ctz(m)] != first)
            return false;
    return true;
}

bool mg__model_as_made(const struct mg_model_plan *plan, struct mg_access *a, bool joined, struct mg_model_access *as)
{
    const bool changed = plan->changed && (joined || !plan->joined);
    if (changed && !plan->width)
        return false;
    as->kind = (enum mg_access_kind)mg__model_kind(plan, a);
    as->width = a->width;
    as->mask = a->mask;
    as->address = a->address;
    as->other = a->other;
    if (changed) {
        as->width = plan->width;
        for (unsigned i = 0; plan->delta && i < 32; i++)
            as->moved[i] = a->address[i] + (uint64_t)(int64_t)plan->delta;
        as->address = plan->delta ? as->moved : a->address;
    } else if ((plan->lanes == MG_MODEL_ONE_LANE || (plan->lanes == MG_MODEL_ONE_IF_FULL && a->mask == UINT32_MAX)) &&
               uniform(a->mask, a->address)) {
        as->mask &= -as->mask;
    }
    as->cost = as->kind == MG_ACCESS_RED && as->width == 4 && plan->counts && a->space == MG_SPACE_SHARED ? MG_ACCESS_LD
                                                                                                          : as->kind;
    return true;
}

bool mg__model_as_second(const struct mg_model_plan *plan, struct mg_model_access *as)
{
    for (unsigned i = 0; plan->second && i < 32; i++)
        as->moved[i] = as->address[i] + (uint64_t)(int64_t)plan->second;
    as->address = plan->second ? as->moved : as->address;
    return plan->second;
}

bool mg__model_made_second(const struct mg_model_made *made, uint32_t insn, struct mg_model_access *as)
{
    return insn < made->ninsns && mg__model_as_second(&made->plans[insn], as);
}

bool mg__model_made_access(const struct mg_model_made *made, struct mg_access *access, bool joined,
                           struct mg_model_access *as)
{
    return access->insn < made->ninsns && mg__model_as_made(&made->plans[access->insn], access, joined, as);
}

bool mg__model_made_elsewhere(const struct mg_model_made *made, uint32_t insn)
{
    return insn < made->ninsns && made->plans[insn].changed && !made->plans[insn].width;
}

unsigned mg__model_made_joined(const struct mg_model_made *made, uint32_t insn)
{
    if (insn >= made->ninsns || !made->plans[insn].changed)
        return 0;
    return made->plans[insn].joined;
}
