/* cfg.h - basic blocks of a function, and where diverged lanes meet again.
 *
 * A block ends at bra, brx.idx, ret, exit and trap, and before a label that something jumps to. Calls do not end a
 * block. A guarded ret, exit or trap has one successor, what follows it: lanes that leave there are gone, and nobody
 * waits for them. The reconvergence point of a branch is the immediate post-dominator of its block (Fung et al., MICRO
 * 2007); blocks that only reach the function's end share a virtual exit, shown as MG_CFG_EXIT. Paths that end in a
 * trap, or that never end, do not count: a check that traps keeps nobody apart. Within code that only traps or never
 * ends, traps lead to the virtual exit, and so does the last block of an endless loop, so that every block has an
 * ipdom. Nor, in a kernel, do ways out of it before its end: if (p) { if (q) return; } sends the others on together.
 * Before that, lanes meet at the branch's inner block, if it has one (inner.c): lanes that go on to a block which
 * `leaves` are waited for no more in regions that are deeper than it.
 * A function without instructions has no blocks.
 */
#ifndef MG_CFG_H
#define MG_CFG_H
#include "ptx/ptx.h"

#define MG_CFG_EXIT UINT32_MAX

struct mg_cfg_block {
    uint32_t first, end;      /* instructions first … end-1 */
    const uint32_t *succ;     /* fall-through first where there is one */
    uint32_t nsucc;
    const uint32_t *pred;
    uint32_t npred;
    uint32_t idom;            /* immediate dominator; the entry's and an unreachable block's is itself */
    uint32_t ipdom;           /* immediate post-dominator, or MG_CFG_EXIT */
    uint32_t meet;            /* of a branch: where all its lanes meet, its first post-dominator out of its region */
    uint32_t inner;           /* where those meet that come there; MG_CFG_EXIT: it has none */
    uint32_t depth;           /* how many regions it is in, between a branch and its inner block */
    bool reachable, loop_head;
    bool reconverges;         /* is where lanes of some block with two successors or more meet */
    bool leaves;              /* lanes come here out of a region */
};
struct mg_cfg {
    struct mg_arena arena;
    struct mg_cfg_block *blocks; /* in program order; [0] is the entry */
    uint32_t nblocks;
    uint32_t *block_of;          /* by instruction */
};
enum mg_status mg__cfg_build(const struct mg_ptx_func *func, struct mg_cfg **cfg);
void mg__cfg_free(struct mg_cfg *cfg);
/* Whether all who come to block `b` have been at block `a`; a block dominates itself. */
static inline bool mg__cfg_dominates(const struct mg_cfg *cfg, uint32_t a, uint32_t b)
{
    while (b != a && cfg->blocks[b].idom != b)
        b = cfg->blocks[b].idom;
    return a == b;
}
#endif
