/* live.c - liveness: backwards over all paths, to the least fixed point. */
#include "flow/flow.h"

static void put(uint64_t *set, uint32_t i, bool on)
{
    set[i / 64] = (set[i / 64] & ~(UINT64_C(1) << i % 64)) | (uint64_t)on << i % 64;
}

/* Definitions die before uses are born. One under a guard may not happen, and what was there before lives on. */
void mg__flow_live_before(const struct mg_ptx_func *f, const struct mg_ptx_insn *i, uint64_t *live)
{
    struct mg_flow_walk writes = {f, i, 0, 0}, reads = writes;
    uint32_t reg;
    for (bool written; mg__flow_next(&writes, &reg, &written);)
        if (written && i->guard < 0)
            put(live, reg, false);
    for (bool written; mg__flow_next(&reads, &reg, &written);)
        if (!written)
            put(live, reg, true);
}

void mg__flow_live_out(struct mg_flow_live *l, const struct mg_cfg_block *block)
{
    memset(l->live, 0, l->words * sizeof *l->live);
    for (uint32_t s = 0; s < block->nsucc; s++)
        for (size_t w = 0; w < l->words; w++)
            l->live[w] |= l->in[l->words * block->succ[s] + w];
}

bool mg__flow_live(const struct mg_ptx_func *func, const struct mg_cfg *cfg, struct mg_flow_live *l)
{
    l->words = func->nregs / 64 + 1;
    l->in = calloc(l->words * (cfg->nblocks + 1), sizeof *l->in);
    if (!l->in)
        return false;
    l->live = &l->in[l->words * cfg->nblocks];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = cfg->nblocks; b-- > 0;) {
            const struct mg_cfg_block *k = &cfg->blocks[b];
            mg__flow_live_out(l, k);
            for (uint32_t i = k->end; i-- > k->first;)
                mg__flow_live_before(func, &func->insns[i], l->live);
            changed |= memcmp(&l->in[l->words * b], l->live, l->words * sizeof *l->live) != 0;
            memcpy(&l->in[l->words * b], l->live, l->words * sizeof *l->live);
        }
    }
    return true;
}

void mg__flow_live_free(struct mg_flow_live *l)
{
    free(l->in);
}
