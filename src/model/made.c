/* made.c - one access as the machine code makes it, by the plan that merge.c worked out for its instruction.
 *
 * The leader of a joined group makes the wide access and its followers none. An atomic whose result nobody reads is a
 * reduction, one that all lanes make at one address is made by one of them, and one that adds the constant 1 costs what
 * a load does.
 */
#include "model/model_priv.h"

struct mg_model_made *mg__model_made_create(const struct mg_launch_info *info)
{
    struct mg_model_made *made = calloc(1, sizeof(*made));
    if (!made)
        return NULL;
    made->ninsns = info->ninsns;
    made->plans = calloc((size_t)info->ninsns + 1, sizeof(*made->plans));
    if (!made->plans)
        goto fail;
    /* An instruction's place in its function is its distance from the first; a function's
     * instructions stay together. */
    const struct mg_ptx_func *func = NULL;
    struct mg_model_plan *plan = NULL;
    for (uint32_t i = 0; i < info->ninsns; i++) {
        const struct mg_insn_info *at = &info->insns[i];
        if (!at->func || !at->insn)
            continue;
        if (at->func != func) {
            free(plan);
            func = at->func;
            plan = mg__model_merge(info->module, func);
            if (!plan)
                goto fail;
        }
        size_t k = (size_t)(at->insn - func->insns);
        if (k < func->ninsns)
            made->plans[i] = plan[k];
    }
    free(plan);
    return made;
fail:
    mg__model_made_free(made);
    return NULL;
}

void mg__model_made_free(struct mg_model_made *made)
{
    if (made)
        free(made->plans);
    free(made);
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
    if (plan->changed && joined && !plan->width)
        return false;
    as->kind = plan->no_result && a->kind == MG_ACCESS_ATOM ? MG_ACCESS_RED : (enum mg_access_kind)a->kind;
    as->width = a->width;
    as->mask = a->mask;
    as->address = a->address;
    if (plan->changed && joined) {
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

bool mg__model_made_access(const struct mg_model_made *made, struct mg_access *access, bool joined,
                           struct mg_model_access *as)
{
    return access->insn < made->ninsns && mg__model_as_made(&made->plans[access->insn], access, joined, as);
}

unsigned mg__model_made_joined(const struct mg_model_made *made, uint32_t insn)
{
    if (insn >= made->ninsns || !made->plans[insn].changed)
        return 0;
    return made->plans[insn].joined;
}
