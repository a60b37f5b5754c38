/* graph_list.c - the runtime's calls for whole graphs: their nodes and edges, copies, instances and launches. */
#include "cudart/graph.h"

#include <stdio.h>

enum { INVALID = cudaErrorInvalidValue, EDGE = 8 /* bytes of cudaGraphEdgeData: all 0 is a whole dependency */ };
enum { MOST_FLAGS = 15 /* of instances */ };

/* ---- graphs ---- */
int mg__cudaGraphCreate(void **graph, unsigned flags)
{
    CUDART_ENTER();
    if (!graph || flags)
        return mg__cudart_done(INVALID);
    struct mg_graph *g = mg__graph_make();
    int error = mg__graph_publish(g);
    if (!error)
        *graph = g;
    return mg__cudart_done(error);
}

int mg__cudaGraphDestroy(void *handle)
{
    CUDART_ENTER();
    struct mg_graph *g = mg__graph_known(handle);
    if (!g || g->parent)
        return mg__cudart_done(INVALID);
    mg__graph_free(g);
    return mg__cudart_done(0);
}

int mg__cudaGraphDestroyNode(void *handle)
{
    CUDART_ENTER();
    struct mg_graph_node *node = mg__graph_node_known(handle);
    int error = node ? 0 : INVALID;
    if (node && mg__graph_has_memory(node->graph)) /* what lives when is told by all of its nodes */
        error = cudaErrorNotSupported;
    if (!error)
        mg__graph_node_free(node);
    return mg__cudart_done(error);
}

int mg__cudaGraphClone(void **clone, void *handle)
{
    CUDART_ENTER();
    const struct mg_graph *g = mg__graph_known(handle);
    if (!clone || !g)
        return mg__cudart_done(INVALID);
    bool conditional = false;
    for (size_t i = 0; i < g->nodes.count; i++)
        conditional |= g->nodes.at[i]->op.type == MG_GRAPH_CONDITIONAL;
    if (conditional || mg__graph_has_memory(g)) /* as an H200 has it */
        return mg__cudart_done(cudaErrorNotSupported);
    struct mg_graph *made = mg__graph_copy(g);
    int error = mg__graph_publish(made);
    if (!error)
        *clone = made;
    return mg__cudart_done(error);
}

int mg__cudaGraphNodeFindInClone(void **found, void *handle, void *clone)
{
    CUDART_ENTER();
    const struct mg_graph_node *node = mg__graph_node_known(handle);
    const struct mg_graph *g = mg__graph_known(clone);
    if (!found || !node || !g || !node->graph || g->origin != node->graph->id)
        return mg__cudart_done(INVALID);
    *found = mg__graph_copy_of(g, node->id);
    return mg__cudart_done(*found ? 0 : INVALID);
}

/* ---- lists ---- */
/* As every such call has it: without a place for them their number, else as many as fit, and NULL behind them. */
static void list(struct mg_graph_node *const *from, size_t count, void **to, size_t *n)
{
    for (size_t i = 0; to && i < *n; i++)
        to[i] = i < count ? from[i] : NULL;
    *n = to ? MG_MIN(count, *n) : count;
}

int mg__cudaGraphGetNodes(void *handle, void **nodes, size_t *n)
{
    CUDART_ENTER();
    const struct mg_graph *g = mg__graph_known(handle);
    if (!g || !n)
        return mg__cudart_done(INVALID);
    list(g->nodes.at, g->nodes.count, nodes, n);
    return mg__cudart_done(0);
}

int mg__cudaGraphGetRootNodes(void *handle, void **nodes, size_t *n)
{
    MG_VEC(struct mg_graph_node *) roots = {0};
    bool good = true;
    CUDART_ENTER();
    const struct mg_graph *g = mg__graph_known(handle);
    if (!g || !n)
        return mg__cudart_done(INVALID);
    for (size_t i = 0; i < g->nodes.count; i++)
        if (!g->nodes.at[i]->before.count)
            good &= mg__vec_push(&roots, g->nodes.at[i]);
    list(roots.at, roots.count, nodes, n);
    mg__vec_free(&roots);
    return mg__cudart_done(good ? 0 : cudaErrorMemoryAllocation);
}

static void whole_edges(void *edges, size_t n)
{
    if (edges)
        memset(edges, 0, n * EDGE);
}

int mg__cudaGraphGetEdges(void *handle, void **from, void **to, void *edges, size_t *n)
{
    size_t count = 0;
    CUDART_ENTER();
    const struct mg_graph *g = mg__graph_known(handle);
    if (!g || !n || !from != !to || (edges && !from))
        return mg__cudart_done(INVALID);
    for (size_t i = 0; i < g->nodes.count; i++)
        for (size_t k = 0; k < g->nodes.at[i]->before.count; k++, count++)
            if (from && count < *n) {
                from[count] = g->nodes.at[i]->before.at[k];
                to[count] = g->nodes.at[i];
            }
    for (size_t i = count; from && i < *n; i++)
        from[i] = to[i] = NULL;
    whole_edges(edges, from ? *n : 0);
    *n = from ? MG_MIN(count, *n) : count;
    return mg__cudart_done(0);
}

int mg__cudaGraphGetEdges_12(void *handle, void **from, void **to, size_t *n)
{
    return mg__cudaGraphGetEdges(handle, from, to, NULL, n);
}

int mg__cudaGraphNodeGetDependencies(void *handle, void **nodes, void *edges, size_t *n)
{
    CUDART_ENTER();
    const struct mg_graph_node *node = mg__graph_node_known(handle);
    if (!node || !n)
        return mg__cudart_done(INVALID);
    whole_edges(edges, nodes ? *n : 0);
    list(node->before.at, node->before.count, nodes, n);
    return mg__cudart_done(0);
}

int mg__cudaGraphNodeGetDependencies_12(void *handle, void **nodes, size_t *n)
{
    return mg__cudaGraphNodeGetDependencies(handle, nodes, NULL, n);
}

int mg__cudaGraphNodeGetDependentNodes(void *handle, void **nodes, void *edges, size_t *n)
{
    CUDART_ENTER();
    const struct mg_graph_node *node = mg__graph_node_known(handle);
    if (!node || !n)
        return mg__cudart_done(INVALID);
    whole_edges(edges, nodes ? *n : 0);
    list(node->after.at, node->after.count, nodes, n);
    return mg__cudart_done(0);
}

int mg__cudaGraphNodeGetDependentNodes_12(void *handle, void **nodes, size_t *n)
{
    return mg__cudaGraphNodeGetDependentNodes(handle, nodes, NULL, n);
}

/* All of them or none. */
static int edit(const struct mg_graph *g, void *const *from, void *const *to, size_t n, bool connects)
{
    int error = g && ((from && to) || !n) ? 0 : INVALID;
    if (!error && n && !connects && mg__graph_has_memory(g))
        error = cudaErrorNotSupported;
    for (size_t i = 0; i < n && !error; i++) {
        struct mg_graph_node *a = mg__graph_node_known(from[i]), *b = mg__graph_node_known(to[i]);
        bool good = a && b && a->graph == g && b->graph == g && mg__graph_has_edge(a, b) != connects && a != b;
        if (!good)
            error = INVALID;
        else if (connects)
            error = mg__graph_connect(a, b);
        else
            mg__graph_disconnect(a, b);
        for (size_t k = i; error && k-- > 0;)
            if (connects)
                mg__graph_disconnect(from[k], to[k]);
            else
                mg__graph_connect(from[k], to[k]);
    }
    return error;
}

int mg__cudaGraphAddDependencies(void *graph, void **from, void **to, const void *edges, size_t n)
{
    CUDART_ENTER();
    (void)edges;
    return mg__cudart_done(edit(mg__graph_known(graph), from, to, n, true));
}

int mg__cudaGraphAddDependencies_12(void *graph, void **from, void **to, size_t n)
{
    return mg__cudaGraphAddDependencies(graph, from, to, NULL, n);
}

int mg__cudaGraphRemoveDependencies(void *graph, void **from, void **to, const void *edges, size_t n)
{
    CUDART_ENTER();
    (void)edges;
    return mg__cudart_done(edit(mg__graph_known(graph), from, to, n, false));
}

int mg__cudaGraphRemoveDependencies_12(void *graph, void **from, void **to, size_t n)
{
    return mg__cudaGraphRemoveDependencies(graph, from, to, NULL, n);
}

/* ---- a picture ---- */
static const char *label_of(const struct mg_graph_node *node)
{
    static const char *const names[] = {"KERNEL",    "MEMCPY",     "MEMSET",       "HOST",       "GRAPH",
                                        "EMPTY",     "EVENT_WAIT", "EVENT_RECORD", "",           "",
                                        "MEM_ALLOC", "MEM_FREE",   "MEM_OP",       "CONDITIONAL"};
    struct mg_device_kernel *kernel;
    if (node->op.type == MG_GRAPH_KERNEL && !mg__cudart_func_find(node->op.kernel.function, node->device, &kernel))
        return kernel->name;
    return names[node->op.type];
}

static void draw(FILE *file, const struct mg_graph *g)
{
    fprintf(file, "subgraph cluster_%llu {\n", (unsigned long long)g->id);
    for (size_t i = 0; i < g->nodes.count; i++) {
        const struct mg_graph_node *node = g->nodes.at[i];
        fprintf(file, "\"%llu\" [shape=\"%s\" label=\"%zu\\n%s\"];\n", (unsigned long long)node->id,
                node->op.type == MG_GRAPH_KERNEL ? "octagon" : "rectangle", i, label_of(node));
        for (size_t k = 0; k < node->before.count; k++)
            fprintf(file, "\"%llu\" -> \"%llu\";\n", (unsigned long long)node->before.at[k]->id,
                    (unsigned long long)node->id);
        const struct mg_graph *part;
        for (size_t k = 0; (part = mg__graph_part(&node->op, k)) != NULL; k++)
            draw(file, part);
    }
    fprintf(file, "}\n");
}

int mg__cudaGraphDebugDotPrint(void *handle, const char *path, unsigned flags)
{
    CUDART_ENTER();
    (void)flags; /* how much is told of each node */
    const struct mg_graph *g = mg__graph_known(handle);
    if (!g || !path)
        return mg__cudart_done(INVALID);
    FILE *file = fopen(path, "w");
    if (!file)
        return mg__cudart_done(cudaErrorOperatingSystem);
    fprintf(file, "digraph dot {\n");
    draw(file, g);
    fprintf(file, "}\n");
    return mg__cudart_done(fclose(file) ? cudaErrorOperatingSystem : 0);
}

/* ---- instances ---- */
int mg__cudaGraphInstantiate(void **exec, void *handle, unsigned long long flags)
{
    struct mg_graph_exec *x;
    CUDART_ENTER();
    struct mg_graph *g = mg__graph_known(handle);
    if (!exec || !g || flags > MOST_FLAGS)
        return mg__cudart_done(INVALID);
    int error = mg__graph_instantiate(g, flags, &x);
    if (!error)
        *exec = x;
    return mg__cudart_done(error);
}

int mg__cudaGraphInstantiateWithParams(void **exec, void *handle, struct cu_instantiate *p)
{
    enum { DONE, FAILED };
    if (!p)
        return mg__cudart_done(INVALID);
    int error = mg__cudaGraphInstantiate(exec, handle, p->flags);
    p->result = error ? FAILED : DONE;
    p->node = NULL;
    return error;
}

int mg__cudaGraphExecGetFlags(void *exec, unsigned long long *flags)
{
    CUDART_ENTER();
    const struct mg_graph_exec *x = mg__graph_exec_known(exec);
    if (!x || !flags)
        return mg__cudart_done(INVALID);
    *flags = mg__graph_exec_flags(x);
    return mg__cudart_done(0);
}

int mg__cudaGraphExecDestroy(void *exec)
{
    CUDART_ENTER();
    struct mg_graph_exec *x = mg__graph_exec_known(exec);
    if (x)
        mg__graph_exec_drop(x);
    return mg__cudart_done(x ? 0 : INVALID);
}

int mg__cudaGraphLaunch(void *exec, void *stream)
{
    CUDART_ENTER();
    struct mg_graph_exec *x = mg__graph_exec_known(exec);
    return mg__cudart_done(x ? mg__graph_launch(x, stream) : INVALID);
}

int mg__cudaGraphUpload(void *exec, void *stream)
{
    CUDART_ENTER();
    if (!mg__graph_exec_known(exec))
        return mg__cudart_done(INVALID);
    return mg__cudart_done(mg__cudart_stream_ok(stream) ? 0 : cudaErrorInvalidResourceHandle);
}

int mg__cudaGraphExecUpdate(void *exec, void *handle, struct mg_graph_update *result)
{
    struct mg_graph_update update;
    CUDART_ENTER();
    struct mg_graph_exec *x = mg__graph_exec_known(exec);
    struct mg_graph *g = mg__graph_known(handle);
    if (!x || !g)
        return mg__cudart_done(INVALID);
    int error = mg__graph_exec_update(x, g, &update);
    if (result)
        *result = update;
    return mg__cudart_done(error);
}

/* A node of the instance that can be left out: a kernel, a copy or a fill. */
static struct mg_graph_node *to_enable(void *exec, void *handle)
{
    struct mg_graph_exec *x = mg__graph_exec_known(exec);
    const struct mg_graph_node *node = mg__graph_node_known(handle);
    return x && node && node->op.type <= MG_GRAPH_FILL ? mg__graph_exec_node(x, node) : NULL;
}

int mg__cudaGraphNodeSetEnabled(void *exec, void *handle, unsigned enabled)
{
    CUDART_ENTER();
    struct mg_graph_node *node = to_enable(exec, handle);
    if (node)
        node->disabled = !enabled;
    return mg__cudart_done(node ? 0 : INVALID);
}

int mg__cudaGraphNodeGetEnabled(void *exec, void *handle, unsigned *enabled)
{
    CUDART_ENTER();
    const struct mg_graph_node *node = to_enable(exec, handle);
    if (node && enabled)
        *enabled = !node->disabled;
    return mg__cudart_done(node && enabled ? 0 : INVALID);
}
