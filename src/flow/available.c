/* available.c - facts that hold at a place whichever way a thread came: the condition of available expressions.
 *
 * A register with one definition, `r = a + 4`, can be seen through at a place if on every path to it the definition is
 * executed and `a` is not written after that: then r is what a is now, plus 4. PTX is not SSA, and neither holds by
 * itself: a loop writes `a` again, and an arm that was not taken leaves r as it was. Forwards, from "all hold"
 * downwards to the greatest fixed point. What no path reaches stays as it is, and is looked at by nobody.
 */
#include "flow/flow.h"

bool mg__flow_available(const struct mg_ptx_func *func, const struct mg_cfg *cfg, size_t facts, size_t links,
                        struct mg_flow_available *a)
{
    *a = (struct mg_flow_available){.func = func, .cfg = cfg, .words = facts / 64 + 1};
    a->in = calloc(a->words * (2 * (size_t)cfg->nblocks + 1), sizeof *a->in);
    a->made = calloc(func->nregs + 1, sizeof *a->made);
    a->undone = calloc(func->nregs + 1, sizeof *a->undone);
    a->next = calloc(links + 1, sizeof *a->next);
    a->fact = calloc(links + 1, sizeof *a->fact);
    if (!a->in || !a->made || !a->undone || !a->next || !a->fact)
        return false;
    a->out = &a->in[a->words * cfg->nblocks];
    a->now = &a->out[a->words * cfg->nblocks];
    return true;
}

void mg__flow_available_free(struct mg_flow_available *a)
{
    free(a->in);
    free(a->made);
    free(a->undone);
    free(a->next);
    free(a->fact);
}

void mg__flow_available_undo(struct mg_flow_available *a, uint32_t fact, uint32_t reg)
{
    a->fact[a->nlinks] = fact;
    a->next[a->nlinks] = a->undone[reg];
    a->undone[reg] = ++a->nlinks;
}

void mg__flow_available_clear(struct mg_flow_available *a)
{
    a->nlinks = 0;
    memset(a->undone, 0, a->func->nregs * sizeof *a->undone);
}

void mg__flow_available_enter(struct mg_flow_available *a, uint32_t block)
{
    const struct mg_cfg_block *b = &a->cfg->blocks[block];
    memset(a->now, block == 0 ? 0 : 0xff, a->words * sizeof *a->now);
    for (uint32_t p = 0; p < b->npred; p++)
        for (size_t w = 0; w < a->words; w++)
            a->now[w] &= a->out[a->words * b->pred[p] + w];
}

/* Made first, then undone: `r = r + 4` does not say what r is. */
void mg__flow_available_through(struct mg_flow_available *a, uint32_t insn)
{
    const struct mg_ptx_insn *i = &a->func->insns[insn];
    struct mg_flow_walk w = {a->func, i, 0, 0};
    uint32_t reg;
    for (bool written; mg__flow_next(&w, &reg, &written);) {
        if (!written)
            continue;
        uint32_t own = a->made[reg];
        if (own && i->guard < 0)
            a->now[(own - 1) / 64] |= UINT64_C(1) << (own - 1) % 64;
        for (uint32_t k = a->undone[reg]; k; k = a->next[k - 1])
            a->now[a->fact[k - 1] / 64] &= ~(UINT64_C(1) << a->fact[k - 1] % 64);
    }
}

void mg__flow_available_solve(struct mg_flow_available *a)
{
    size_t bytes = a->words * sizeof *a->in;
    memset(a->out, 0xff, a->cfg->nblocks * bytes);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < a->cfg->nblocks; b++) {
            if (!a->cfg->blocks[b].reachable)
                continue;
            mg__flow_available_enter(a, b);
            memcpy(&a->in[a->words * b], a->now, bytes);
            for (uint32_t i = a->cfg->blocks[b].first; i < a->cfg->blocks[b].end; i++)
                mg__flow_available_through(a, i);
            changed |= memcmp(&a->out[a->words * b], a->now, bytes) != 0;
            memcpy(&a->out[a->words * b], a->now, bytes);
        }
    }
}
