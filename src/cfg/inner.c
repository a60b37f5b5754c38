/* inner.c - where lanes meet that come to one block on several ways while others pass it by.
 *
 * if (a || b) T: lanes that `a` sends to T and those that `b` sends there run it together, though what follows `if` is
 * where all lanes of the first branch meet. ptxas gives T a barrier of its own (BSSY at the first branch, BSYNC before
 * T), which lanes leave (BREAK) that can no more come to T. So it does for what follows if (a) { if (b) break; } in a
 * loop.
 *
 * Which blocks have one was found from what ptxas 13.0 makes of some 35 kernels for sm_90: of the blocks to which a
 * branch is the immediate dominator, that have two ways in, and are not where all meet, the last one. Its region, the
 * blocks from the branch to it, holds others or lies in them, and crosses none. There is none where the two are not in
 * the same loop, where a loop in the region has another way out than into it, or where the block leads out of the
 * kernel and the branch's other lanes stay.
 */
#include "cfg/cfg_priv.h"

enum { MOST_STEPS = 1 << 24 }; /* hostile text */
#define NONE UINT32_MAX

struct search {
    struct mg_cfg *cfg;
    const bool *unfit;         /* by block: only traps, or only ends: nobody meets there */
    uint32_t *loop;            /* by block: the head of the innermost loop that it is in, or NONE */
    uint32_t *region;          /* by block: the branch of the innermost region that it is in, or NONE */
    uint32_t *child, *sibling; /* by block: the last block that it is the dominator of; the one before */
    uint32_t *first, *last;    /* by block: its number in the tree of dominators, and the last one below it */
    uint32_t *round, now;      /* by block: of the walk that came there */
    uint32_t *queue, count;    /* blocks that the walk came to */
    uint32_t steps;
};

static bool dominates(const struct search *s, uint32_t a, uint32_t b)
{
    return s->first[a] <= s->first[b] && s->first[b] <= s->last[a];
}

/* Numbers the tree of dominators from the entry on. */
static void number(struct search *s)
{
    uint32_t next = 1, at = 0;
    s->first[0] = next++;
    for (;;) {
        uint32_t down = s->child[at];
        while (down == NONE) {
            s->last[at] = next - 1;
            if (at == 0)
                return;
            down = s->sibling[at];
            at = s->cfg->blocks[at].idom;
        }
        at = down;
        s->first[at] = next++;
    }
}

/* All blocks from which `to` is reached without passing it or `from`, by edges that do not come back to it. */
static void walk(struct search *s, uint32_t from, uint32_t to)
{
    s->count = 0;
    s->now++;
    s->round[from] = s->round[to] = s->now;
    for (uint32_t at = NONE; at == NONE || at < s->count; at++) {
        const struct mg_cfg_block *b = &s->cfg->blocks[at == NONE ? to : s->queue[at]];
        for (uint32_t k = 0; k < b->npred; k++, s->steps++)
            if (s->round[b->pred[k]] != s->now && s->cfg->blocks[b->pred[k]].reachable &&
                (at != NONE || !dominates(s, to, b->pred[k]))) {
                s->round[b->pred[k]] = s->now;
                s->queue[s->count++] = b->pred[k];
            }
    }
}

/* Blocks of a loop: from where an edge comes back to the block that dominates it, up to that one. */
static void find_loops(struct search *s)
{
    struct mg_cfg *cfg = s->cfg;
    for (uint32_t head = 0; head < cfg->nblocks && s->steps < MOST_STEPS; head++) {
        if (!cfg->blocks[head].loop_head)
            continue;
        s->now++;
        s->count = 0;
        s->round[head] = s->now;
        for (uint32_t at = NONE; at == NONE || at < s->count; at++) {
            const struct mg_cfg_block *b = &cfg->blocks[at == NONE ? head : s->queue[at]];
            for (uint32_t k = 0; k < b->npred; k++, s->steps++)
                if (s->round[b->pred[k]] != s->now && (at != NONE || dominates(s, head, b->pred[k]))) {
                    s->round[b->pred[k]] = s->now;
                    s->queue[s->count++] = b->pred[k];
                }
        }
        s->queue[s->count++] = head;
        for (uint32_t k = 0; k < s->count; k++) /* an inner loop's head is dominated by the outer one's */
            if (s->loop[s->queue[k]] == NONE || dominates(s, s->loop[s->queue[k]], head))
                s->loop[s->queue[k]] = head;
    }
}

/* Whether lanes that come to the block, and do not leave the kernel behind it, come to where all the branch's meet. */
static bool leads_on(struct search *s, uint32_t branch, uint32_t block)
{
    const struct mg_cfg *cfg = s->cfg;
    const uint32_t meet = cfg->blocks[branch].ipdom;
    while (block != meet && block != MG_CFG_EXIT && s->steps++ < MOST_STEPS)
        block = cfg->blocks[block].ipdom;
    return block == meet;
}

/* Whether lanes of the branch meet at `to`: s->queue has the region's blocks then. */
static bool meet_at(struct search *s, uint32_t branch, uint32_t to)
{
    const struct mg_cfg *cfg = s->cfg;
    const struct mg_cfg_block *b = &cfg->blocks[to];
    uint32_t ways = 0;
    for (uint32_t k = 0; k < b->npred; k++, s->steps++)
        ways += cfg->blocks[b->pred[k]].reachable && !dominates(s, to, b->pred[k]);
    if (ways < 2 || s->unfit[to] || to == cfg->blocks[branch].ipdom || s->loop[to] != s->loop[branch] ||
        s->region[to] != s->region[branch] || !leads_on(s, branch, to))
        return false;
    walk(s, branch, to);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct mg_cfg_block *in = &cfg->blocks[s->queue[i]];
        if (s->region[s->queue[i]] != s->region[branch])
            return false;
        for (uint32_t k = 0; k < in->nsucc && s->loop[s->queue[i]] != s->loop[branch]; k++)
            if (s->round[in->succ[k]] != s->now || in->succ[k] == to || in->succ[k] == branch)
                return false;
    }
    return true;
}

/* They go there no more. */
static void leave(struct search *s, uint32_t from)
{
    const struct mg_cfg_block *b = &s->cfg->blocks[from];
    for (uint32_t k = 0; k < b->nsucc; k++)
        s->cfg->blocks[b->succ[k]].leaves |= s->round[b->succ[k]] != s->now;
}

static void find(struct search *s, uint32_t branch)
{
    struct mg_cfg_block *b = &s->cfg->blocks[branch];
    for (uint32_t to = s->child[branch]; to != NONE && s->steps < MOST_STEPS; to = s->sibling[to])
        if (meet_at(s, branch, to)) {
            b->inner = to;
            while (b->meet != MG_CFG_EXIT && s->round[b->meet] == s->now)
                b->meet = s->cfg->blocks[b->meet].ipdom;
            s->round[branch] = 0; /* who comes back to it begins anew */
            for (uint32_t i = 0; i < s->count; i++) {
                s->region[s->queue[i]] = branch;
                s->cfg->blocks[s->queue[i]].depth++;
                leave(s, s->queue[i]);
            }
            leave(s, branch);
            return;
        }
}

bool mg__cfg_inner(struct mg_cfg *cfg, struct mg_arena *temp, const bool *unfit)
{
    const uint32_t n = cfg->nblocks;
    struct search s = {.cfg = cfg, .unfit = unfit};
    uint32_t *all = mg__arena_array(temp, 8 * (size_t)n, sizeof *all);
    if (!all)
        return false;
    s.loop = all, s.region = all + n, s.child = all + 2 * (size_t)n, s.sibling = all + 3 * (size_t)n;
    s.round = all + 4 * (size_t)n, s.queue = all + 5 * (size_t)n;
    s.first = all + 6 * (size_t)n, s.last = all + 7 * (size_t)n;
    memset(all, 0xFF, 4 * (size_t)n * sizeof *all);
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        const struct mg_cfg_block *b = &cfg->blocks[i];
        cfg->blocks[i].meet = b->ipdom;
        cfg->blocks[i].inner = MG_CFG_EXIT;
        if (!b->reachable || b->idom == i)
            continue;
        s.sibling[i] = s.child[b->idom];
        s.child[b->idom] = i;
        any |= b->npred > 1 && cfg->blocks[b->idom].nsucc > 1 && cfg->blocks[b->idom].ipdom != i;
    }
    if (!any)
        return true;
    number(&s);
    find_loops(&s);
    for (uint32_t i = 0; i < n && s.steps < MOST_STEPS; i++)
        if (cfg->blocks[i].nsucc > 1 && cfg->blocks[i].reachable && !unfit[i])
            find(&s, i);
    return true;
}
