/* chosen.c - loads whose value some lanes throw away (flow/chosen.c): they are no reads there.
 *
 * nvcc loads for all lanes what one arm of an `if` wants, where the address cannot fault, and chooses afterwards. Which
 * lanes have read is plain where the predicate is there at the latest: just before the choice. So such a load's warp is
 * followed to that place, without anything in between that others could notice, and there the access is looked at once
 * more, for races and of the lanes that it counts for. What nobody wrote is looked at when it is loaded (define.c knows
 * of choices). Where the warp does not come to that place in one go, all lanes have read.
 */
#include "check/watch.h"

struct chosen {
    struct mg_access access;
    uint64_t address[32];
};
struct choices {
    MG_VEC(struct chosen) waiting;
};

bool mg__chosen_wait(struct worker *w, struct mg_access *a, const struct site *site)
{
    if (!site->choice.at || !a->follow || a->kind != MG_ACCESS_LD || a->target != a->block)
        return false;
    if (!w->choices && !(w->choices = calloc(1, sizeof *w->choices)))
        return false;
    mg__access_lanes(a);
    struct chosen c = {.access = *a};
    memcpy(c.address, a->address, sizeof c.address);
    c.access.where = NULL;
    c.access.at = NULL;
    c.access.pattern = NULL;
    c.access.word = NULL;
    c.access.offset = NULL;
    c.access.other = NULL;
    c.access.follow = NULL;
    if (!mg__vec_push(&w->choices->waiting, c))
        return false;
    *a->follow = true;
    return true;
}

/* These lanes have read. */
static void look(struct worker *w, size_t k, uint32_t lanes)
{
    struct chosen c = w->choices->waiting.at[k];
    memmove(&w->choices->waiting.at[k], &w->choices->waiting.at[k + 1],
            (--w->choices->waiting.count - k) * sizeof c);
    c.access.address = c.address;
    c.access.mask &= lanes;
    if (!c.access.mask)
        return;
    w->looks = LOOKS_RACES;
    mg__watch_again(w, &c.access);
    w->looks = LOOKS_ALL;
}

void mg__chosen_settle(struct worker *w, uint64_t block, uint32_t warp)
{
    for (size_t k = 0; w->choices && k < w->choices->waiting.count;) {
        const struct mg_access *a = &w->choices->waiting.at[k].access;
        if (a->block == block && a->warp == warp)
            k++;
        else
            look(w, k, ~0u);
    }
}

bool mg__chosen_step(struct worker *w, const struct mg_step *step)
{
    bool goes_on = false;
    for (size_t k = 0; w->choices && k < w->choices->waiting.count;) {
        const struct mg_access *a = &w->choices->waiting.at[k].access;
        const struct mg_flow_choice *c = &w->launch->code.sites[a->insn].choice;
        if (a->block != step->block || a->warp != step->warp || a->frame != step->frame) {
            k++;
        } else if (step->to > a->insn && step->to < c->at) {
            goes_on = true;
            k++;
        } else {
            const int32_t slot = step->from <= c->at && c->at <= step->to ? step->slots[c->predicate] : -1;
            uint32_t lanes = ~0u;
            if (slot >= 0) {
                memcpy(&lanes, step->regs + (uint32_t)slot, sizeof lanes);
                lanes ^= c->when ? 0 : ~0u;
            }
            look(w, k, lanes);
        }
    }
    return goes_on;
}

void mg__chosen_free(struct worker *w)
{
    if (w->choices)
        mg__vec_free(&w->choices->waiting);
    free(w->choices);
}

bool mg__chosen_find(const struct mg_launch_info *info, struct code *code)
{
    bool good = true;
    for (uint32_t first = 0, n; good && first < info->ninsns; first += n) {
        const struct mg_ptx_func *f = info->insns[first].func;
        struct mg_cfg *cfg = NULL;
        n = (uint32_t)f->ninsns;
        struct mg_flow_choice *by_insn = calloc(n + 1, sizeof *by_insn);
        good = by_insn && mg__cfg_build(f, &cfg) == MG_OK && mg__flow_choices(f, cfg, by_insn);
        for (uint32_t k = 0; good && k < n; k++)
            if (by_insn[k].at) {
                code->sites[first + k].choice = by_insn[k];
                code->sites[first + k].choice.at += first;
            }
        free(by_insn);
        mg__cfg_free(cfg);
    }
    return good;
}
