/* chosen.c - loads whose value some lanes throw away (flow/chosen.c), or of which nobody reads a part: they are no
 * reads there.
 *
 * nvcc loads for all lanes what one arm of an `if` wants, where the address cannot fault, and chooses afterwards. Which
 * lanes have read is plain where the predicate is there at the latest: just before the choice. So such a load's warp is
 * followed to that place, without anything in between that others could notice, and there the access is looked at once
 * more, for races and of the lanes that it counts for. What nobody wrote is looked at when it is loaded (define.c knows
 * of choices). Where the warp does not come to that place in one go, all lanes have read.
 *
 * Of a vector only the elements count whose register is read anywhere: ptxas loads no others where it can, and a record
 * whose last field others change may be copied for the sake of its first.
 */
#include "check/watch.h"

struct chosen {
    struct mg_access access;
    uint64_t address[32];
};
struct choices {
    MG_VEC(struct chosen) waiting;
};

/* With addresses alone, of which lanes and bytes may be taken away. */
static struct chosen copy_of(struct mg_access *a)
{
    struct chosen c = {.access = *a};
    mg__access_lanes(a);
    c.access.least = c.access.most = 0;
    memcpy(c.address, a->address, sizeof c.address);
    c.access.where = NULL;
    c.access.at = NULL;
    c.access.pattern = NULL;
    c.access.word = NULL;
    c.access.offset = NULL;
    c.access.other = NULL;
    c.access.follow = NULL;
    return c;
}

static void look_for_races(struct worker *w, struct chosen *c)
{
    c->access.address = c->address;
    w->looks = LOOKS_RACES;
    mg__watch_again(w, &c->access);
    w->looks = LOOKS_ALL;
}

/* Elements that lie side by side go together. */
bool mg__chosen_parts(struct worker *w, struct mg_access *a, const struct site *site)
{
    if (!site->parts || w->looks != LOOKS_ALL || a->kind != MG_ACCESS_LD || a->target != a->block)
        return false;
    const struct chosen whole = copy_of(a);
    const unsigned n = a->width / a->element;
    for (unsigned from = 0, end; from < n; from = end + 1) {
        for (end = from; end < n && site->parts >> end & 1; end++)
            ;
        struct chosen part = whole;
        part.access.width = (end - from) * a->element;
        for (unsigned i = 0; i < 32; i++)
            part.address[i] += from * a->element;
        if (end > from)
            look_for_races(w, &part);
    }
    return true;
}

bool mg__chosen_wait(struct worker *w, struct mg_access *a, const struct site *site)
{
    if (!site->choice.at || !a->follow || a->kind != MG_ACCESS_LD || a->target != a->block)
        return false;
    if (!w->choices && !(w->choices = calloc(1, sizeof *w->choices)))
        return false;
    const struct chosen c = copy_of(a);
    if (!mg__vec_push(&w->choices->waiting, c))
        return false;
    *a->follow = true;
    return true;
}

/* These lanes have read. */
static void look(struct worker *w, size_t k, uint32_t lanes)
{
    struct chosen c = w->choices->waiting.at[k];
    memmove(&w->choices->waiting.at[k], &w->choices->waiting.at[k + 1], (--w->choices->waiting.count - k) * sizeof c);
    c.access.mask &= lanes;
    if (c.access.mask)
        look_for_races(w, &c);
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
        struct mg_flow_chains chains = {0};
        good = by_insn && mg__cfg_build(f, &cfg) == MG_OK && mg__flow_chains(f, &chains);
        if (good)
            mg__flow_choices(f, cfg, &chains, by_insn);
        for (uint32_t k = 0; good && k < n; k++) {
            struct site *s = &code->sites[first + k];
            const uint8_t read = mg__flow_elements(f, &chains, &f->insns[k]);
            s->parts = read + 1u < 1u << f->insns[k].vec ? read : 0;
            s->choice = by_insn[k];
            s->choice.at += s->choice.at ? first : 0;
        }
        mg__flow_chains_free(&chains);
        free(by_insn);
        mg__cfg_free(cfg);
    }
    return good;
}
