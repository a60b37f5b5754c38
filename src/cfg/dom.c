/* dom.c - orders, components and dominators of a graph.
 *
 * Dominators after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001): immediate dominators are
 * improved over reverse postorder until nothing changes. Components after Tarjan (1972). Walks keep their own stack.
 */
#include "cfg/cfg_priv.h"

bool mg__cfg_reverse(struct mg_arena *arena, const struct graph *graph, struct graph *reversed)
{
    uint32_t n = graph->nodes, edges = graph->first[n];
    reversed->nodes = n;
    reversed->first = mg__arena_array(arena, (size_t)n + 1, sizeof(uint32_t));
    reversed->to = mg__arena_array(arena, edges, sizeof(uint32_t));
    uint32_t *fill = mg__arena_array(arena, n, sizeof(uint32_t));
    if (!reversed->first || !reversed->to || !fill)
        return false;
    for (uint32_t e = 0; e < edges; e++)
        reversed->first[graph->to[e] + 1]++;
    for (uint32_t i = 0; i < n; i++)
        reversed->first[i + 1] += reversed->first[i];
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t e = graph->first[i]; e < graph->first[i + 1]; e++)
            reversed->to[reversed->first[graph->to[e]] + fill[graph->to[e]]++] = i;
    }
    return true;
}

bool mg__cfg_order(struct mg_arena *arena, const struct graph *graph, uint32_t root, uint32_t **order, uint32_t *count,
                   uint32_t **place)
{
    uint32_t n = graph->nodes, depth = 0, at = n;
    uint32_t *stack = mg__arena_array(arena, n, sizeof(uint32_t));
    uint32_t *edge = mg__arena_array(arena, n, sizeof(uint32_t));
    *order = mg__arena_array(arena, n, sizeof(uint32_t));
    *place = mg__arena_array(arena, n, sizeof(uint32_t));
    if (!stack || !edge || !*order || !*place)
        return false;
    memset(*place, 0xFF, n * sizeof(uint32_t));
    (*place)[root] = 0; /* anything but UINT32_MAX marks a visited node; the places follow below */
    edge[root] = graph->first[root];
    stack[depth++] = root;
    while (depth) {
        uint32_t node = stack[depth - 1];
        if (edge[node] == graph->first[node + 1]) {
            (*order)[--at] = node;
            depth--;
            continue;
        }
        uint32_t next = graph->to[edge[node]++];
        if ((*place)[next] == UINT32_MAX) {
            (*place)[next] = 0;
            edge[next] = graph->first[next];
            stack[depth++] = next;
        }
    }
    *order += at;
    *count = n - at;
    for (uint32_t i = 0; i < *count; i++)
        (*place)[(*order)[i]] = i;
    return true;
}

static uint32_t meet(const uint32_t *idom, const uint32_t *place, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (place[a] > place[b])
            a = idom[a];
        while (place[b] > place[a])
            b = idom[b];
    }
    return a;
}

bool mg__cfg_dominators(struct mg_arena *arena, const struct graph *graph, uint32_t root, uint32_t **result)
{
    struct graph preds;
    uint32_t *order, *place, count;
    uint32_t *idom = mg__arena_array(arena, graph->nodes, sizeof(uint32_t));
    if (!idom || !mg__cfg_reverse(arena, graph, &preds) || !mg__cfg_order(arena, graph, root, &order, &count, &place))
        return false;
    memset(idom, 0xFF, graph->nodes * sizeof(uint32_t));
    idom[root] = root;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < count; i++) {
            uint32_t node = order[i], best = UINT32_MAX;
            for (uint32_t e = preds.first[node]; e < preds.first[node + 1]; e++) {
                uint32_t pred = preds.to[e];
                if (idom[pred] != UINT32_MAX) /* reachable, and seen in this or an earlier round */
                    best = best == UINT32_MAX ? pred : meet(idom, place, pred, best);
            }
            if (idom[node] != best) {
                idom[node] = best;
                changed = true;
            }
        }
    }
    *result = idom;
    return true;
}

bool mg__cfg_components(struct mg_arena *arena, const struct graph *graph, uint32_t **result, uint32_t *count)
{
    uint32_t n = graph->nodes, clock = 0, depth = 0, open = 0;
    uint32_t *component = mg__arena_array(arena, n, sizeof(uint32_t));
    uint32_t *entered = mg__arena_array(arena, n, sizeof(uint32_t)); /* 0: not yet */
    uint32_t *low = mg__arena_array(arena, n, sizeof(uint32_t));
    uint32_t *edge = mg__arena_array(arena, n, sizeof(uint32_t));
    uint32_t *walk = mg__arena_array(arena, n, sizeof(uint32_t));
    uint32_t *stack = mg__arena_array(arena, n, sizeof(uint32_t));
    if (!component || !entered || !low || !edge || !walk || !stack)
        return false;
    memset(component, 0xFF, n * sizeof(uint32_t));
    *count = 0;
    for (uint32_t start = 0; start < n; start++) {
        if (entered[start])
            continue;
        walk[depth++] = start;
        while (depth) {
            uint32_t node = walk[depth - 1];
            if (!entered[node]) {
                entered[node] = low[node] = ++clock;
                edge[node] = graph->first[node];
                stack[open++] = node;
            }
            if (edge[node] < graph->first[node + 1]) {
                uint32_t next = graph->to[edge[node]++];
                if (!entered[next])
                    walk[depth++] = next;
                else if (component[next] == UINT32_MAX)
                    low[node] = MG_MIN(low[node], entered[next]);
                continue;
            }
            depth--;
            if (depth)
                low[walk[depth - 1]] = MG_MIN(low[walk[depth - 1]], low[node]);
            if (low[node] != entered[node])
                continue;
            do {
                component[stack[--open]] = *count;
            } while (stack[open] != node);
            (*count)++;
        }
    }
    *result = component;
    return true;
}
