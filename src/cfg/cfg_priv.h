/* cfg_priv.h - a graph in compressed rows, and its dominators. */
#ifndef MG_CFG_PRIV_H
#define MG_CFG_PRIV_H
#include "cfg/cfg.h"

struct graph { /* successors of node n: to[first[n]] … to[first[n + 1] - 1] */
    uint32_t nodes;
    uint32_t *first, *to;
};
/* The graph with all edges turned round. */
bool mg__cfg_reverse(struct mg_arena *arena, const struct graph *graph, struct graph *reversed);
/* Reverse postorder from `root`: *order the reachable nodes, *place each node's rank or UINT32_MAX. */
bool mg__cfg_order(struct mg_arena *arena, const struct graph *graph, uint32_t root, uint32_t **order, uint32_t *count,
                   uint32_t **place);
/* idom[n]: the immediate dominator; the root's is itself, an unreachable node's UINT32_MAX. */
bool mg__cfg_dominators(struct mg_arena *arena, const struct graph *graph, uint32_t root, uint32_t **idom);
/* Strongly connected components, numbered so that edges go to equal or lower numbers. */
bool mg__cfg_components(struct mg_arena *arena, const struct graph *graph, uint32_t **component, uint32_t *count);
/* Sets meet, inner, depth and leaves of all blocks; by block, `unfit`: nobody meets there. False: no memory. */
bool mg__cfg_inner(struct mg_cfg *cfg, struct mg_arena *temp, const bool *unfit);
#endif
