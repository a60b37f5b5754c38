/* cfg.c - from instructions to blocks, edges and reconvergence points.
 *
 * Two graphs are built. The one that the caller sees has the blocks as nodes. The one for post-dominators has one node
 * more, the virtual exit, and lacks edges that lead to code that only traps or never ends ("doomed"): see README.md.
 * In doomed code a trap leads to the exit, and of each endless loop that nothing leaves, the last block does.
 */
#include "cfg/cfg_priv.h"

#define MOST_EDGES (UINT64_C(1) << 27) /* hostile text: many brx.idx over one long table */

struct builder {
    const struct mg_ptx_func *func;
    struct mg_cfg *cfg;
    struct mg_arena temp;
    struct graph succ;
    bool *exits, *traps; /* by block: leaves the function at its end; ends in a trap */
    bool *doomed;
    uint32_t main;          /* of the ways out of a kernel, the one that counts */
    bool *reach;            /* by block: comes there */
    uint32_t *round, *queue; /* by block: the round that settled it, from 1 on; blocks */
};

static bool make_blocks(struct builder *b)
{
    const struct mg_ptx_func *func = b->func;
    struct mg_cfg *cfg = b->cfg;
    uint32_t n = (uint32_t)func->ninsns;
    bool *leader = mg__arena_alloc(&b->temp, (size_t)n + 1);
    cfg->block_of = mg__arena_array(&cfg->arena, n, sizeof(uint32_t));
    if (!leader || !cfg->block_of)
        return false;
    leader[0] = true;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t count;
        const uint32_t *to = mg__ptx_targets(func, &func->insns[i], &count);
        for (uint32_t k = 0; k < count; k++)
            leader[to[k]] = true;
        if (func->insns[i].effects & MG_E_ENDS)
            leader[i + 1] = true;
    }
    for (uint32_t i = 0; i < n; i++)
        cfg->nblocks += leader[i];
    cfg->blocks = mg__arena_array(&cfg->arena, cfg->nblocks, sizeof(*cfg->blocks));
    if (!cfg->blocks)
        return false;
    uint32_t block = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        if (leader[i])
            cfg->blocks[++block].first = i;
        cfg->blocks[block].end = i + 1;
        cfg->block_of[i] = block;
    }
    return true;
}

/* Edges of all blocks, each successor once: the fall-through first, then targets in their order. */
static bool make_edges(struct builder *b)
{
    const struct mg_ptx_func *func = b->func;
    struct mg_cfg *cfg = b->cfg;
    uint32_t n = cfg->nblocks;
    uint64_t most = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t count;
        mg__ptx_targets(func, &func->insns[cfg->blocks[i].end - 1], &count);
        most += (uint64_t)count + 1;
    }
    if (most > MOST_EDGES)
        return false;
    b->succ.nodes = n;
    b->succ.first = mg__arena_array(&cfg->arena, (size_t)n + 1, sizeof(uint32_t));
    b->succ.to = mg__arena_array(&cfg->arena, (size_t)most, sizeof(uint32_t));
    b->exits = mg__arena_alloc(&b->temp, n);
    b->traps = mg__arena_alloc(&b->temp, n);
    uint32_t *seen = mg__arena_array(&b->temp, n, sizeof(uint32_t)); /* block + 1 that has it as a successor */
    if (!b->succ.first || !b->succ.to || !b->exits || !b->traps || !seen)
        return false;
    uint32_t edges = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct mg_ptx_insn *last = &func->insns[cfg->blocks[i].end - 1];
        uint32_t count;
        const uint32_t *to = mg__ptx_targets(func, last, &count);
        bool falls = mg__ptx_falls(last);
        b->traps[i] = !falls && last->effects & MG_E_TRAPS;
        b->exits[i] = !falls && last->effects & MG_E_LEAVES;
        for (uint32_t k = 0; k < count + falls; k++) {
            uint32_t insn = falls && k == 0 ? cfg->blocks[i].end : to[k - falls];
            if (insn >= func->ninsns) {
                b->exits[i] = true; /* past the last instruction is the function's end */
                continue;
            }
            uint32_t block = cfg->block_of[insn];
            if (seen[block] == i + 1)
                continue;
            seen[block] = i + 1;
            b->succ.to[edges++] = block;
        }
        b->succ.first[i + 1] = edges;
    }
    struct graph pred;
    if (!mg__cfg_reverse(&cfg->arena, &b->succ, &pred))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        cfg->blocks[i].succ = b->succ.to + b->succ.first[i];
        cfg->blocks[i].nsucc = b->succ.first[i + 1] - b->succ.first[i];
        cfg->blocks[i].pred = pred.to + pred.first[i];
        cfg->blocks[i].npred = pred.first[i + 1] - pred.first[i];
    }
    return true;
}

/* Blocks from which no path leaves the function. */
static bool find_doomed(struct builder *b)
{
    struct mg_cfg *cfg = b->cfg;
    uint32_t n = cfg->nblocks, count = 0;
    uint32_t *queue = mg__arena_array(&b->temp, n, sizeof(uint32_t));
    b->doomed = mg__arena_alloc(&b->temp, n);
    if (!queue || !b->doomed)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        b->doomed[i] = !b->exits[i];
        if (b->exits[i])
            queue[count++] = i;
    }
    for (uint32_t at = 0; at < count; at++) {
        const struct mg_cfg_block *block = &cfg->blocks[queue[at]];
        for (uint32_t k = 0; k < block->npred; k++) {
            if (b->doomed[block->pred[k]]) {
                b->doomed[block->pred[k]] = false;
                queue[count++] = block->pred[k];
            }
        }
    }
    return true;
}

/* Of every component that no edge leaves and no trap ends, the last block gets an edge to the exit. */
static bool end_loops(struct builder *b, bool *to_exit)
{
    struct mg_cfg *cfg = b->cfg;
    uint32_t *component, count;
    if (!mg__cfg_components(&b->temp, &b->succ, &component, &count))
        return false;
    bool *leaves = mg__arena_alloc(&b->temp, (size_t)count + 1);
    bool *done = mg__arena_alloc(&b->temp, (size_t)count + 1);
    if (!leaves || !done)
        return false;
    for (uint32_t i = 0; i < cfg->nblocks; i++) {
        const struct mg_cfg_block *block = &cfg->blocks[i];
        for (uint32_t k = 0; k < block->nsucc; k++)
            leaves[component[i]] |= component[block->succ[k]] != component[i];
        leaves[component[i]] |= to_exit[i];
    }
    for (uint32_t i = cfg->nblocks; i-- > 0;) {
        if (b->doomed[i] && !leaves[component[i]] && !done[component[i]]) {
            done[component[i]] = true;
            to_exit[i] = true;
        }
    }
    return true;
}

/* ipdom[] of the graph whose edges are those that `counts` has, and to_exit[]. */
static bool sought(struct builder *b, const bool *to_exit, bool (*counts)(const struct builder *, uint32_t, uint32_t),
                   uint32_t **ipdom)
{
    const struct mg_cfg *cfg = b->cfg;
    uint32_t n = cfg->nblocks, edges = 0;
    struct graph graph = {.nodes = n + 1}, backwards;
    graph.first = mg__arena_array(&b->temp, (size_t)n + 2, sizeof(uint32_t));
    graph.to = mg__arena_array(&b->temp, (size_t)b->succ.first[n] + n, sizeof(uint32_t));
    if (!graph.first || !graph.to)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct mg_cfg_block *block = &cfg->blocks[i];
        for (uint32_t k = 0; k < block->nsucc; k++)
            if (counts(b, i, block->succ[k]))
                graph.to[edges++] = block->succ[k];
        if (to_exit[i])
            graph.to[edges++] = n;
        graph.first[i + 1] = edges;
    }
    graph.first[n + 1] = edges;
    return mg__cfg_reverse(&b->temp, &graph, &backwards) && mg__cfg_dominators(&b->temp, &backwards, n, ipdom);
}

static bool not_doomed(const struct builder *b, uint32_t from, uint32_t to)
{
    return b->doomed[from] || !b->doomed[to];
}

static bool plain_post_dominators(struct builder *b)
{
    struct mg_cfg *cfg = b->cfg;
    uint32_t n = cfg->nblocks, *ipdom;
    bool *to_exit = mg__arena_alloc(&b->temp, n);
    if (!to_exit || !find_doomed(b))
        return false;
    for (uint32_t i = 0; i < n; i++)
        to_exit[i] = b->exits[i] || b->traps[i];
    if (!end_loops(b, to_exit) || !sought(b, to_exit, not_doomed, &ipdom))
        return false;
    for (uint32_t i = 0; i < n; i++)
        cfg->blocks[i].ipdom = ipdom[i] < n ? ipdom[i] : MG_CFG_EXIT;
    return true;
}

/* ---- ways out of a kernel ---- */
/* A block of which nothing is left but the end of a kernel's thread. */
static bool only_ends(const struct builder *b, uint32_t block)
{
    const struct mg_cfg_block *at = &b->cfg->blocks[block];
    return b->exits[block] && at->nsucc == 0 && at->end == at->first + 1 &&
           b->func->insns[at->first].effects & MG_E_LEAVES;
}

/* A block that is not such a one and ends the thread, or whose lanes may go to one: a way out. */
static bool leads_out(const struct builder *b, uint32_t block)
{
    const struct mg_cfg_block *at = &b->cfg->blocks[block];
    bool out = b->exits[block] && !only_ends(b, block);
    for (uint32_t k = 0; k < at->nsucc; k++)
        out |= only_ends(b, at->succ[k]);
    return out;
}

/* Of the blocks that no round has, those that come to `to`: b->reach[]; how many. */
static uint32_t reach(struct builder *b, uint32_t to)
{
    uint32_t count = 0;
    memset(b->reach, 0, b->cfg->nblocks);
    b->reach[to] = true;
    b->queue[count++] = to;
    for (uint32_t at = 0; at < count; at++) {
        const struct mg_cfg_block *block = &b->cfg->blocks[b->queue[at]];
        for (uint32_t k = 0; k < block->npred; k++)
            if (!b->reach[block->pred[k]] && b->round[block->pred[k]] == 0) {
                b->reach[block->pred[k]] = true;
                b->queue[count++] = block->pred[k];
            }
    }
    return count;
}

static bool in_round(const struct builder *b, uint32_t from, uint32_t to)
{
    return b->reach[from] && (b->reach[to] || (from == b->main && only_ends(b, to)));
}

/* Whether the branch's lanes meet elsewhere than where those that leave are waited for, and not just because those that
 * stay have nobody to wait for. */
static bool meets_elsewhere(const struct builder *b, uint32_t i, uint32_t ipdom)
{
    const struct mg_cfg_block *block = &b->cfg->blocks[i];
    unsigned stay = 0;
    for (uint32_t k = 0; k < block->nsucc; k++)
        stay += b->round[block->succ[k]] == b->round[i];
    return block->reachable && block->nsucc > 1 && stay > 1 && block->ipdom != ipdom;
}

/* In a kernel, lanes that have returned are gone, and a device has nobody wait for them: where others meet is where
 * they would if there were no such way out. One way out counts, that to which most blocks lead; what does not come
 * there has one of its own, and so on. Where all that changes is that lanes which stay behind a guard wait for nobody,
 * the plain answer is as good. */
enum { MOST_ROUNDS = 32, MOST_STEPS = 1 << 24 };
static bool without_those_that_leave(struct builder *b)
{
    struct mg_cfg *cfg = b->cfg;
    const uint32_t n = cfg->nblocks;
    uint32_t *ipdom = mg__arena_array(&b->temp, n, sizeof *ipdom), ways = 0, *of_round;
    bool *to_exit = mg__arena_alloc(&b->temp, n), changed = false;
    b->reach = mg__arena_alloc(&b->temp, n);
    b->round = mg__arena_array(&b->temp, n, sizeof *b->round);
    b->queue = mg__arena_array(&b->temp, n, sizeof *b->queue);
    if (!ipdom || !to_exit || !b->reach || !b->round || !b->queue)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        ipdom[i] = cfg->blocks[i].ipdom;
        to_exit[i] = only_ends(b, i);
        ways += leads_out(b, i);
    }
    /* In very long text the last way out counts, and only that one. */
    const bool count = (uint64_t)ways * ways * (n + b->succ.first[n]) < MOST_STEPS;
    for (uint32_t round = 1; ways > 1 && round <= (count ? MOST_ROUNDS : 1u); round++) {
        uint32_t most = 0;
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t from = b->round[i] || !leads_out(b, i) ? 0 : count ? reach(b, i) : 1;
            if (from && from >= most)
                most = from, b->main = i;
        }
        if (!most)
            break;
        reach(b, b->main);
        const bool own = to_exit[b->main];
        to_exit[b->main] |= b->exits[b->main];
        if (!sought(b, to_exit, in_round, &of_round))
            return false;
        to_exit[b->main] = own;
        for (uint32_t i = 0; i < n; i++)
            if (b->reach[i]) {
                b->round[i] = round;
                ipdom[i] = of_round[i] < n ? of_round[i] : MG_CFG_EXIT;
            }
    }
    for (uint32_t i = 0; i < n; i++)
        changed |= b->round[i] && meets_elsewhere(b, i, ipdom[i]);
    for (uint32_t i = 0; i < n && changed; i++)
        cfg->blocks[i].ipdom = ipdom[i];
    return true;
}

static bool post_dominators(struct builder *b)
{
    return plain_post_dominators(b) && (!b->func->is_entry || without_those_that_leave(b));
}

static bool meetings(struct builder *b)
{
    struct mg_cfg *cfg = b->cfg;
    bool *unfit = mg__arena_alloc(&b->temp, cfg->nblocks);
    for (uint32_t i = 0; unfit && i < cfg->nblocks; i++)
        unfit[i] = b->doomed[i] || only_ends(b, i);
    if (!unfit || !mg__cfg_inner(cfg, &b->temp, unfit))
        return false;
    for (uint32_t i = 0; i < cfg->nblocks; i++) {
        const struct mg_cfg_block *block = &cfg->blocks[i];
        if (block->nsucc > 1 && block->meet != MG_CFG_EXIT)
            cfg->blocks[block->meet].reconverges = true;
        if (block->inner != MG_CFG_EXIT)
            cfg->blocks[block->inner].reconverges = true;
    }
    return true;
}

static bool dominators(struct builder *b)
{
    struct mg_cfg *cfg = b->cfg;
    uint32_t *idom, *order, *place, count;
    if (!mg__cfg_dominators(&b->temp, &b->succ, 0, &idom) ||
        !mg__cfg_order(&b->temp, &b->succ, 0, &order, &count, &place))
        return false;
    for (uint32_t i = 0; i < cfg->nblocks; i++) {
        struct mg_cfg_block *block = &cfg->blocks[i];
        block->reachable = idom[i] != UINT32_MAX;
        block->idom = block->reachable ? idom[i] : i;
        for (uint32_t k = 0; block->reachable && k < block->npred; k++) {
            uint32_t from = place[block->pred[k]]; /* an edge against the order closes a loop */
            block->loop_head |= from != UINT32_MAX && from >= place[i];
        }
    }
    return true;
}

enum mg_status mg__cfg_build(const struct mg_ptx_func *func, struct mg_cfg **result)
{
    *result = NULL;
    if (func->ninsns >= UINT32_MAX)
        return MG_ERR_INVALID;
    struct mg_cfg *cfg = calloc(1, sizeof(*cfg));
    if (!cfg)
        return MG_ERR_NOMEM;
    struct builder b = {.func = func, .cfg = cfg};
    bool ok = func->ninsns == 0 ||
              (make_blocks(&b) && make_edges(&b) && dominators(&b) && post_dominators(&b) && meetings(&b));
    mg__arena_free(&b.temp);
    if (!ok) {
        mg__cfg_free(cfg);
        return MG_ERR_NOMEM;
    }
    *result = cfg;
    return MG_OK;
}

void mg__cfg_free(struct mg_cfg *cfg)
{
    if (!cfg)
        return;
    mg__arena_free(&cfg->arena);
    free(cfg);
}
