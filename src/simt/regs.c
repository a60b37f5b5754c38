/* regs.c - registers: how many a thread needs, and which may share a slot of the frame.
 *
 * An unrolled loop has a new register for every value, and a frame with a slot for each would push the warps of a block
 * out of the processor's first cache. So slots are shared by linear scan (Poletto and Sarkar, TOPLAS 1999): a register
 * owns its slot from its first to its last instruction in program order, widened over the blocks that it is live
 * through; one that some path reads without having written it is live from the entry on. What stands for another value
 * (copies.c) has no slot of its own. Handlers write active lanes only, so a lane's registers follow that lane's own
 * path, and what is right for one thread is right for diverged warps. regs_check.c holds the outcome to that.
 *
 * How many registers the machine code will need is ptxas' business. From PTX one can tell how many values are live at
 * once; the device code needs a few more for addresses and reserves: RESERVE is what ptxas 13 was seen to add on the
 * programs in examples/.
 */
#include "simt/lower.h"

#define RESERVE 8u

static uint32_t weight(const struct mg_ptx_func *f, const uint64_t *live, size_t words)
{
    uint32_t total = 0;
    for (size_t w = 0; w < words; w++)
        for (uint64_t rest = live[w]; rest; rest &= rest - 1) {
            unsigned size = mg__ptx_type_size((enum mg_ptx_type)f->regs[w * 64 + (size_t)__builtin_ctzll(rest)].type);
            total += size == 0 ? 0 : (size + 3) / 4;
        }
    return total;
}

uint32_t mg__estimate_regs(const struct mg_ptx_func *func)
{
    struct mg_cfg *cfg;
    struct mg_flow_live l;
    if (!func->ninsns || mg__cfg_build(func, &cfg) != MG_OK)
        return 16;
    uint32_t most = 0;
    if (mg__flow_live(func, cfg, &l)) {
        for (uint32_t b = 0; b < cfg->nblocks; b++) {
            mg__flow_live_out(&l, &cfg->blocks[b]);
            for (uint32_t i = cfg->blocks[b].end; i-- > cfg->blocks[b].first;) {
                mg__flow_live_before(func, &func->insns[i], l.live);
                most = MG_MAX(most, weight(func, l.live, l.words));
            }
        }
        mg__flow_live_free(&l);
    }
    mg__cfg_free(cfg);
    return MG_MAX(most + RESERVE, 16);
}

/* Words that a function saves on its stack: what is live across its calls, and the return address. 0: it calls none. */
uint32_t mg__estimate_saved(const struct mg_ptx_func *func)
{
    struct mg_cfg *cfg;
    struct mg_flow_live l;
    uint32_t most = 0;
    if (!func->ninsns || mg__cfg_build(func, &cfg) != MG_OK)
        return 0;
    if (mg__flow_live(func, cfg, &l)) {
        for (uint32_t b = 0; b < cfg->nblocks; b++) {
            mg__flow_live_out(&l, &cfg->blocks[b]);
            for (uint32_t i = cfg->blocks[b].end; i-- > cfg->blocks[b].first;) {
                if (func->insns[i].effects & MG_E_CALLS)
                    most = MG_MAX(most, weight(func, l.live, l.words) + 2);
                mg__flow_live_before(func, &func->insns[i], l.live);
            }
        }
        mg__flow_live_free(&l);
    }
    mg__cfg_free(cfg);
    return most;
}

/* ---- slots ---- */
struct interval {
    uint32_t reg, begin, end; /* instructions, both included */
    uint8_t size;             /* bytes of the register; 0: a predicate */
};

static void widen_to(struct interval *v, uint32_t at)
{
    v->begin = MG_MIN(v->begin, at);
    v->end = MG_MAX(v->end, at);
}

static int by_begin(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : (x->reg > y->reg) - (x->reg < y->reg);
}

static void widen_by_operands(const struct mg_ptx_func *f, uint32_t i, struct interval *all, const uint32_t *same)
{
    struct mg_flow_walk w = {f, &f->insns[i], 0, 0};
    uint32_t reg;
    for (bool written; mg__flow_next(&w, &reg, &written);)
        widen_to(&all[same[reg]], i);
}

/* Sizes share slots with their like: predicates, up to 32 bits, 64 bits, and more. */
static unsigned class_of(uint8_t size)
{
    return size == 0 ? 0 : size <= 4 ? 1 : size <= 8 ? 2 : 3;
}

struct expiry {
    uint32_t end;
    int32_t slot;
};

bool mg__assign_slots(struct mg_lower *L)
{
    static const unsigned bytes[] = {4, 128, 256, 512};
    const struct mg_ptx_func *f = L->func;
    struct mg_flow_live l;
    struct interval *all = calloc(f->nregs + 1, sizeof *all);
    uint32_t *same = calloc(f->nregs + 1, sizeof *same);
    bool *fixed = calloc(f->nregs + 1, sizeof *fixed);
    MG_VEC(struct expiry) active[4] = {0};
    bool good = all && same && fixed && mg__find_copies(L, same, fixed) && mg__flow_live(f, L->cfg, &l);
    if (!good) {
        free(all);
        free(same);
        free(fixed);
        return false;
    }
    for (uint32_t r = 0; r < f->nregs; r++)
        all[r] = (struct interval){r, UINT32_MAX, 0, (uint8_t)mg__ptx_type_size((enum mg_ptx_type)f->regs[r].type)};
    for (uint32_t b = 0; b < L->cfg->nblocks; b++) {
        const struct mg_cfg_block *k = &L->cfg->blocks[b];
        mg__flow_live_out(&l, k);
        for (uint32_t r = 0; r < f->nregs; r++) {
            if (mg__flow_holds(&l.in[l.words * b], r))
                widen_to(&all[same[r]], k->first);
            if (mg__flow_holds(l.live, r))
                widen_to(&all[same[r]], k->end - 1);
        }
        for (uint32_t i = k->first; i < k->end; i++)
            widen_by_operands(f, i, all, same);
    }
    mg__flow_live_free(&l);
    qsort(all, f->nregs, sizeof *all, by_begin);
    for (uint32_t n = 0; good && n < f->nregs && all[n].begin != UINT32_MAX; n++) {
        if (fixed[all[n].reg] || same[all[n].reg] != all[n].reg)
            continue;
        unsigned c = class_of(all[n].size);
        size_t at = 0;
        while (at < active[c].count && active[c].at[at].end >= all[n].begin)
            at++;
        if (at == active[c].count)
            good = mg__vec_push(&active[c], ((struct expiry){0, (int32_t)mg__lower_new_slot(L, bytes[c])}));
        if (good) {
            active[c].at[at].end = all[n].end;
            L->slots[all[n].reg] = active[c].at[at].slot;
        }
    }
    for (uint32_t r = 0; r < f->nregs; r++)
        L->slots[r] = L->slots[same[r]];
    free(all);
    free(same);
    free(fixed);
    for (unsigned c = 0; c < MG_COUNT(active); c++)
        mg__vec_free(&active[c]);
    return good;
}
