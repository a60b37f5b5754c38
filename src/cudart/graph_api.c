/* graph_api.c - the runtime's calls for graphs: arguments, handles, and what is asked of nodes. */
#include "cudart/graph.h"

enum { INVALID = cudaErrorInvalidValue };

/* ---- making nodes ---- */
/* Where a node is to be, and behind what. */
struct place {
    void *graph, *const *before;
    size_t n;
    void **made;
};

static int check_place(const struct place *p)
{
    const struct mg_graph *g = mg__graph_known(p->graph);
    if (!g || !p->made || (p->n && !p->before))
        return INVALID;
    for (size_t i = 0; i < p->n; i++) {
        const struct mg_graph_node *node = mg__graph_node_known(p->before[i]);
        if (!node || node->graph != g)
            return INVALID;
        for (size_t k = 0; k < i; k++)
            if (p->before[k] == p->before[i])
                return INVALID;
    }
    return 0;
}

/* `error` is that of the operation, which is there if it is 0. */
static int add(const struct place *p, int error, struct mg_graph_op *op)
{
    struct mg_graph_node *node;
    if (error)
        return error;
    error = mg__graph_add(mg__graph_known(p->graph), (struct mg_graph_node *const *)p->before, p->n, op, &node);
    if (!error)
        *p->made = node;
    return error;
}

/* An operation in the place of a node's, in its graph or (exec not NULL) in an instance alone. */
static int set(const struct mg_graph_exec *exec, void *handle, int error, struct mg_graph_op *op)
{
    struct mg_graph_node *node = mg__graph_node_known(handle);
    if (error)
        return error;
    if (!node || node->op.type != op->type) {
        mg__graph_op_free(op);
        return INVALID;
    }
    if (exec)
        return mg__graph_exec_set((struct mg_graph_exec *)(uintptr_t)exec, node, op);
    mg__graph_node_set(node, op);
    if (op->type == MG_GRAPH_CHILD)
        mg__graph_publish(op->child);
    return 0;
}

#define PLACE                                                           \
    const struct place place = {graph, (void *const *)before, n, made}; \
    struct mg_graph_op op;                                              \
    CUDART_ENTER();                                                     \
    int error = check_place(&place);                                    \
    if (error)                                                          \
    return mg__cudart_done(error)
#define EXEC                                                        \
    struct mg_graph_op op;                                          \
    CUDART_ENTER();                                                 \
    if (!mg__graph_exec_known(exec) || !mg__graph_node_known(node)) \
    return mg__cudart_done(INVALID)
#define NODE                         \
    struct mg_graph_op op;           \
    CUDART_ENTER();                  \
    if (!mg__graph_node_known(node)) \
    return mg__cudart_done(INVALID)
/* The three calls that a node of a kind is made and changed by: what the operation is made of, and how. */
#define NODE_CALLS(Kind, parameters, make)                                                         \
    int mg__cudaGraphAdd##Kind(void **made, void *graph, void **before, size_t n, REST parameters) \
    {                                                                                              \
        PLACE;                                                                                     \
        return mg__cudart_done(add(&place, make, &op));                                            \
    }                                                                                              \
    int mg__cudaGraph##Kind##SetParams(void *node, REST parameters)                                \
    {                                                                                              \
        NODE;                                                                                      \
        return mg__cudart_done(set(NULL, node, make, &op));                                        \
    }                                                                                              \
    int mg__cudaGraphExec##Kind##SetParams(void *exec, void *node, REST parameters)                \
    {                                                                                              \
        EXEC;                                                                                      \
        return mg__cudart_done(set(exec, node, make, &op));                                        \
    }
#define REST(...) __VA_ARGS__

static int kernel_op(const struct cu_kernel_node *p, struct mg_graph_op *op)
{
    if (!p || p->extra)
        return INVALID;
    const struct cudart_request r = {.grid = {p->grid.x, p->grid.y, p->grid.z},
                                     .block = {p->block.x, p->block.y, p->block.z},
                                     .shared = p->shared,
                                     .args = p->args};
    return mg__graph_kernel(p->function, &r, op);
}

static int fill_op(const struct cu_memset_node *p, struct mg_graph_op *op)
{
    if (!p)
        return INVALID;
    const struct mg_graph_fill f = {p->to, p->pitch, 0, p->value, p->unit, p->width, p->height, 1};
    return mg__graph_fill_op(&f, op);
}

static int host_op(const struct cu_host_node *p, struct mg_graph_op *op)
{
    return p ? mg__graph_host(p->call, p->arg, op) : INVALID;
}

static int line_op(void *to, const void *from, size_t count, int kind, struct mg_graph_op *op)
{
    const struct cu_memcpy_3d p = mg__graph_line(to, from, count, kind);
    return mg__graph_copy_op(&p, op);
}

static int symbol_op(const void *symbol, void *other, size_t count, size_t offset, int kind, bool to_symbol,
                     struct mg_graph_op *op)
{
    uint64_t address, size;
    int error = mg__cudart_var_find(symbol, &address, &size);
    if (!error && (offset > size || count > size - offset))
        error = INVALID;
    if (error)
        return error;
    void *at = (void *)(uintptr_t)(address + offset);
    return to_symbol ? line_op(at, other, count, kind, op) : line_op(other, at, count, kind, op);
}

static int child_op(void *handle, void *into, struct mg_graph_op *op)
{
    const struct mg_graph *g = mg__graph_known(handle);
    if (!g || handle == into)
        return INVALID;
    return mg__graph_has_memory(g) ? cudaErrorNotSupported : mg__graph_child(g, op);
}

NODE_CALLS(KernelNode, (const struct cu_kernel_node *p), kernel_op(p, &op))
NODE_CALLS(MemcpyNode, (const struct cu_memcpy_3d *p), mg__graph_copy_op(p, &op))
NODE_CALLS(MemsetNode, (const struct cu_memset_node *p), fill_op(p, &op))
NODE_CALLS(HostNode, (const struct cu_host_node *p), host_op(p, &op))

/* Copies whose ends are told one by one: the name behind SetParams is what makes them. */
#define COPY_CALLS(Form, parameters, make)                                                                   \
    int mg__cudaGraphAddMemcpyNode##Form(void **made, void *graph, void **before, size_t n, REST parameters) \
    {                                                                                                        \
        PLACE;                                                                                               \
        return mg__cudart_done(add(&place, make, &op));                                                      \
    }                                                                                                        \
    int mg__cudaGraphMemcpyNodeSetParams##Form(void *node, REST parameters)                                  \
    {                                                                                                        \
        NODE;                                                                                                \
        return mg__cudart_done(set(NULL, node, make, &op));                                                  \
    }                                                                                                        \
    int mg__cudaGraphExecMemcpyNodeSetParams##Form(void *exec, void *node, REST parameters)                  \
    {                                                                                                        \
        EXEC;                                                                                                \
        return mg__cudart_done(set(exec, node, make, &op));                                                  \
    }
COPY_CALLS(1D, (void *to, const void *from, size_t count, int kind), line_op(to, from, count, kind, &op))
COPY_CALLS(ToSymbol, (const void *symbol, const void *from, size_t count, size_t offset, int kind),
           symbol_op(symbol, (void *)(uintptr_t)from, count, offset, kind, true, &op))
COPY_CALLS(FromSymbol, (void *to, const void *symbol, size_t count, size_t offset, int kind),
           symbol_op(symbol, to, count, offset, kind, false, &op))

#define EVENT_CALLS(Kind, type)                                                                \
    int mg__cudaGraphAdd##Kind(void **made, void *graph, void **before, size_t n, void *event) \
    {                                                                                          \
        PLACE;                                                                                 \
        return mg__cudart_done(add(&place, mg__graph_event(type, event, &op), &op));           \
    }                                                                                          \
    int mg__cudaGraph##Kind##SetEvent(void *node, void *event)                                 \
    {                                                                                          \
        NODE;                                                                                  \
        return mg__cudart_done(set(NULL, node, mg__graph_event(type, event, &op), &op));       \
    }                                                                                          \
    int mg__cudaGraphExec##Kind##SetEvent(void *exec, void *node, void *event)                 \
    {                                                                                          \
        EXEC;                                                                                  \
        return mg__cudart_done(set(exec, node, mg__graph_event(type, event, &op), &op));       \
    }                                                                                          \
    int mg__cudaGraph##Kind##GetEvent(void *handle, void **event)                              \
    {                                                                                          \
        CUDART_ENTER();                                                                        \
        const struct mg_graph_node *node = node_of(handle, type);                              \
        if (!node || !event)                                                                   \
            return mg__cudart_done(INVALID);                                                   \
        *event = node->op.event;                                                               \
        return mg__cudart_done(0);                                                             \
    }
static struct mg_graph_node *node_of(const void *handle, enum mg_graph_type type)
{
    struct mg_graph_node *node = mg__graph_node_known(handle);
    return node && node->op.type == type ? node : NULL;
}
EVENT_CALLS(EventRecordNode, MG_GRAPH_RECORD_EVENT)
EVENT_CALLS(EventWaitNode, MG_GRAPH_WAIT_EVENT)

int mg__cudaGraphAddEmptyNode(void **made, void *graph, void **before, size_t n)
{
    PLACE;
    op = (struct mg_graph_op){.type = MG_GRAPH_EMPTY};
    return mg__cudart_done(add(&place, 0, &op));
}

int mg__cudaGraphAddChildGraphNode(void **made, void *graph, void **before, size_t n, void *child)
{
    PLACE;
    error = add(&place, child_op(child, graph, &op), &op);
    if (!error)
        mg__graph_publish(op.child);
    return mg__cudart_done(error);
}

int mg__cudaGraphExecChildGraphNodeSetParams(void *exec, void *node, void *child)
{
    EXEC;
    return mg__cudart_done(set(exec, node, child_op(child, NULL, &op), &op));
}

/* ---- nodes of any kind ---- */
static int any_op(const struct cu_graph_node *p, void *into, struct mg_graph_op *op)
{
    if (!p)
        return INVALID;
    switch (p->type) {
    case MG_GRAPH_KERNEL:
        return kernel_op(&p->kernel, op);
    case MG_GRAPH_COPY:
        return mg__graph_copy_op(&p->copy.copy, op);
    case MG_GRAPH_FILL:
        return fill_op(&p->fill, op);
    case MG_GRAPH_HOST:
        return host_op(&p->host, op);
    case MG_GRAPH_CHILD:
        return child_op(p->child, into, op);
    case MG_GRAPH_EMPTY:
        *op = (struct mg_graph_op){.type = MG_GRAPH_EMPTY};
        return 0;
    case MG_GRAPH_WAIT_EVENT:
    case MG_GRAPH_RECORD_EVENT:
        return mg__graph_event((enum mg_graph_type)p->type, p->event, op);
    case MG_GRAPH_UNALLOC:
        return mg__graph_unalloc(p->unalloc, op);
    case MG_GRAPH_MEMOPS:
        return mg__graph_memops(&p->memops, op);
    default:
        return mg__cudart_missing("cudaGraphAddNode for semaphores");
    }
}

/* Those whose parameters get something back: an address, or graphs to be filled. */
static int giving_op(struct cu_graph_node *p, struct mg_graph *into, struct mg_graph_op *op)
{
    if (p->type == MG_GRAPH_ALLOC)
        return mg__graph_alloc(&p->alloc, op);
    int error = mg__graph_conditional(&p->condition, into, op);
    if (!error)
        p->condition.bodies = (void *const *)op->condition.bodies;
    return error;
}

int mg__cudaGraphAddNode(void **made, void *graph, void **before, const void *edges, size_t n, struct cu_graph_node *p)
{
    PLACE;
    (void)edges;
    const bool gives = p && (p->type == MG_GRAPH_ALLOC || p->type == MG_GRAPH_CONDITIONAL);
    error = gives ? giving_op(p, mg__graph_known(graph), &op) : any_op(p, graph, &op);
    error = add(&place, error, &op);
    struct mg_graph *part;
    for (size_t k = 0; !error && (part = mg__graph_part(&op, k)) != NULL; k++)
        mg__graph_publish(part);
    return mg__cudart_done(error);
}

int mg__cudaGraphAddMemAllocNode(void **made, void *graph, void **before, size_t n, struct cu_alloc_node *p)
{
    PLACE;
    return mg__cudart_done(add(&place, mg__graph_alloc(p, &op), &op));
}

int mg__cudaGraphAddMemFreeNode(void **made, void *graph, void **before, size_t n, void *pointer)
{
    PLACE;
    return mg__cudart_done(add(&place, mg__graph_unalloc(pointer, &op), &op));
}

int mg__cudaGraphMemAllocNodeGetParams(void *handle, struct cu_alloc_node *p)
{
    CUDART_ENTER();
    const struct mg_graph_node *node = node_of(handle, MG_GRAPH_ALLOC);
    if (!node || !p)
        return mg__cudart_done(INVALID);
    mg__graph_memory_params(node->op.memory, p);
    return mg__cudart_done(0);
}

int mg__cudaGraphMemFreeNodeGetParams(void *handle, void **pointer)
{
    CUDART_ENTER();
    const struct mg_graph_node *node = node_of(handle, MG_GRAPH_UNALLOC);
    if (!node || !pointer)
        return mg__cudart_done(INVALID);
    *pointer = mg__graph_memory_address(node->op.memory);
    return mg__cudart_done(0);
}
NODE_CALLS(BatchMemOpNode, (const struct cu_batch_node *p), mg__graph_memops(p, &op))

int mg__cudaGraphBatchMemOpNodeGetParams(void *handle, struct cu_batch_node *p)
{
    CUDART_ENTER();
    const struct mg_graph_node *node = node_of(handle, MG_GRAPH_MEMOPS);
    if (!node || !p)
        return mg__cudart_done(INVALID);
    *p = node->op.memops;
    return mg__cudart_done(0);
}

int mg__cudaGraphAddNode_12(void **made, void *graph, void **before, size_t n, struct cu_graph_node *p)
{
    return mg__cudaGraphAddNode(made, graph, before, NULL, n, p);
}

int mg__cudaGraphNodeSetParams(void *node, const struct cu_graph_node *p)
{
    NODE;
    return mg__cudart_done(set(NULL, node, any_op(p, NULL, &op), &op));
}

int mg__cudaGraphExecNodeSetParams(void *exec, void *node, const struct cu_graph_node *p)
{
    EXEC;
    return mg__cudart_done(set(exec, node, any_op(p, NULL, &op), &op));
}

/* ---- what nodes are ---- */
int mg__cudaGraphNodeGetType(void *handle, int *type)
{
    CUDART_ENTER();
    const struct mg_graph_node *node = mg__graph_node_known(handle);
    if (!node || !type)
        return mg__cudart_done(INVALID);
    *type = (int)node->op.type;
    return mg__cudart_done(0);
}

int mg__cudaGraphKernelNodeGetParams(void *handle, struct cu_kernel_node *p)
{
    CUDART_ENTER();
    const struct mg_graph_node *node = node_of(handle, MG_GRAPH_KERNEL);
    if (!node || !p)
        return mg__cudart_done(INVALID);
    const struct cudart_request *r = &node->op.kernel.request;
    *p = (struct cu_kernel_node){(void *)(uintptr_t)node->op.kernel.function,
                                 {r->grid.x, r->grid.y, r->grid.z},
                                 {r->block.x, r->block.y, r->block.z},
                                 (unsigned)r->shared,
                                 r->args,
                                 NULL};
    return mg__cudart_done(0);
}

int mg__cudaGraphMemcpyNodeGetParams(void *handle, struct cu_memcpy_3d *p)
{
    CUDART_ENTER();
    const struct mg_graph_node *node = node_of(handle, MG_GRAPH_COPY);
    if (!node || !p)
        return mg__cudart_done(INVALID);
    *p = node->op.copy;
    return mg__cudart_done(0);
}

int mg__cudaGraphMemsetNodeGetParams(void *handle, struct cu_memset_node *p)
{
    CUDART_ENTER();
    const struct mg_graph_node *node = node_of(handle, MG_GRAPH_FILL);
    if (!node || !p)
        return mg__cudart_done(INVALID);
    const struct mg_graph_fill *f = &node->op.fill;
    *p = (struct cu_memset_node){f->to, f->pitch, f->value, f->unit, f->width, f->height};
    return mg__cudart_done(0);
}

int mg__cudaGraphHostNodeGetParams(void *handle, struct cu_host_node *p)
{
    CUDART_ENTER();
    const struct mg_graph_node *node = node_of(handle, MG_GRAPH_HOST);
    if (!node || !p)
        return mg__cudart_done(INVALID);
    *p = (struct cu_host_node){node->op.host.call, node->op.host.arg};
    return mg__cudart_done(0);
}

int mg__cudaGraphChildGraphNodeGetGraph(void *handle, void **graph)
{
    CUDART_ENTER();
    const struct mg_graph_node *node = node_of(handle, MG_GRAPH_CHILD);
    if (!node || !graph)
        return mg__cudart_done(INVALID);
    *graph = node->op.child;
    return mg__cudart_done(0);
}

/* Attributes of launches; those that are no more than hints are kept, too. */
int mg__cudaGraphKernelNodeSetAttribute(void *handle, int id, const void *value)
{
    CUDART_ENTER();
    struct mg_graph_node *node = node_of(handle, MG_GRAPH_KERNEL);
    struct cu_launch_attribute a = {.id = id}, *at = NULL;
    if (!node || !value || id <= 0)
        return mg__cudart_done(INVALID);
    memcpy(&a.value, value, sizeof(a.value));
    struct mg_graph_kernel *k = &node->op.kernel;
    for (size_t i = 0; i < k->attributes.count; i++)
        if (k->attributes.at[i].id == id)
            at = &k->attributes.at[i];
    if (at)
        *at = a;
    else if (!mg__vec_push(&k->attributes, a))
        return mg__cudart_done(cudaErrorMemoryAllocation);
    if (id == CU_LAUNCH_COOPERATIVE)
        k->request.cooperative = a.value.cooperative != 0;
    if (id == CU_LAUNCH_CLUSTER)
        k->request.cluster = (struct mg_dim3){a.value.cluster.x, a.value.cluster.y, a.value.cluster.z};
    return mg__cudart_done(0);
}

int mg__cudaGraphKernelNodeGetAttribute(void *handle, int id, void *value)
{
    CUDART_ENTER();
    const struct mg_graph_node *node = node_of(handle, MG_GRAPH_KERNEL);
    struct cu_launch_attribute a = {.id = id};
    if (!node || !value || id <= 0)
        return mg__cudart_done(INVALID);
    const struct mg_graph_kernel *k = &node->op.kernel;
    if (id == CU_LAUNCH_COOPERATIVE)
        a.value.cooperative = k->request.cooperative;
    for (size_t i = 0; i < k->attributes.count; i++)
        if (k->attributes.at[i].id == id)
            a = k->attributes.at[i];
    memcpy(value, &a.value, sizeof(a.value));
    return mg__cudart_done(0);
}

int mg__cudaGraphKernelNodeCopyAttributes(void *to, void *from)
{
    const struct mg_graph_node *source = node_of(from, MG_GRAPH_KERNEL);
    int error = source && node_of(to, MG_GRAPH_KERNEL) ? 0 : INVALID;
    for (size_t i = 0; !error && i < source->op.kernel.attributes.count; i++) {
        const struct cu_launch_attribute *a = &source->op.kernel.attributes.at[i];
        error = mg__cudaGraphKernelNodeSetAttribute(to, a->id, &a->value);
    }
    CUDART_ENTER();
    return mg__cudart_done(error);
}
