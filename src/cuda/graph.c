/* graph.c - graphs and captures: the runtime's, with the driver's structures for kernels, copies and fills. */
#include "cudart/graph.h"

#include "cuda/driver.h"

#define PLACED made, graph, before, n

/* ---- kernels ---- */
/* The first version of the structure ends before `kernel`. *unpacked is for the caller to free. */
static int kernel_of(const struct cu_kernel_params *p, bool first, struct cu_kernel_node *out, void ***unpacked)
{
    *unpacked = NULL;
    if (!p || (p->args && p->extra))
        return CUDA_ERROR_INVALID_VALUE;
    void *function = p->function || first ? p->function : p->kernel;
    *out = (struct cu_kernel_node){function, p->grid, p->block, p->shared, p->args, NULL};
    int error = p->extra ? mg__cuda_unpack(function, p->extra, unpacked) : 0;
    if (*unpacked)
        out->args = *unpacked;
    return error;
}

static int add_kernel(MG_PLACE, const struct cu_kernel_params *p, bool first)
{
    struct cu_kernel_node k;
    void **unpacked;
    int error = kernel_of(p, first, &k, &unpacked);
    if (!error)
        error = mg__cudaGraphAddKernelNode(PLACED, &k);
    free(unpacked);
    return error;
}

/* In an instance, or in its graph alone. */
static int set_kernel(void *exec, void *node, const struct cu_kernel_params *p, bool first)
{
    struct cu_kernel_node k;
    void **unpacked;
    int error = kernel_of(p, first, &k, &unpacked);
    if (!error && exec)
        error = mg__cudaGraphExecKernelNodeSetParams(exec, node, &k);
    else if (!error)
        error = mg__cudaGraphKernelNodeSetParams(node, &k);
    free(unpacked);
    return error;
}

static int get_kernel(void *node, struct cu_kernel_params *p, bool first)
{
    struct cu_kernel_node k;
    void *function;
    int error = p ? mg__cudaGraphKernelNodeGetParams(node, &k) : CUDA_ERROR_INVALID_VALUE;
    if (!error)
        error = mg__cudaGetKernel(&function, k.function); /* what the runtime knows by the host's address */
    if (error)
        return error;
    struct cu_kernel_params out = {function, k.grid, k.block, k.shared, k.args, NULL, NULL, NULL};
    memcpy(p, &out, first ? offsetof(struct cu_kernel_params, kernel) : sizeof(out));
    return 0;
}

CUDA_SAME(cuGraphAddKernelNode, (MG_PLACE, const struct cu_kernel_params *p), add_kernel(PLACED, p, true))
CUDA_SAME(cuGraphAddKernelNode_v2, (MG_PLACE, const struct cu_kernel_params *p), add_kernel(PLACED, p, false))
CUDA_SAME(cuGraphKernelNodeSetParams, (void *node, const struct cu_kernel_params *p), set_kernel(NULL, node, p, true))
CUDA_SAME(cuGraphKernelNodeSetParams_v2, (void *node, const struct cu_kernel_params *p),
          set_kernel(NULL, node, p, false))
CUDA_SAME(cuGraphExecKernelNodeSetParams, (void *exec, void *node, const struct cu_kernel_params *p),
          exec ? set_kernel(exec, node, p, true) : CUDA_ERROR_INVALID_VALUE)
CUDA_SAME(cuGraphExecKernelNodeSetParams_v2, (void *exec, void *node, const struct cu_kernel_params *p),
          exec ? set_kernel(exec, node, p, false) : CUDA_ERROR_INVALID_VALUE)
CUDA_SAME(cuGraphKernelNodeGetParams, (void *node, struct cu_kernel_params *p), get_kernel(node, p, true))
CUDA_SAME(cuGraphKernelNodeGetParams_v2, (void *node, struct cu_kernel_params *p), get_kernel(node, p, false))
CUDA_SAME(cuGraphKernelNodeSetAttribute, (void *node, int id, const void *value),
          mg__cudaGraphKernelNodeSetAttribute(node, id, value))
CUDA_SAME(cuGraphKernelNodeGetAttribute, (void *node, int id, void *value),
          mg__cudaGraphKernelNodeGetAttribute(node, id, value))
CUDA_SAME(cuGraphKernelNodeCopyAttributes, (void *to, void *from), mg__cudaGraphKernelNodeCopyAttributes(to, from))

/* ---- copies and fills ---- */
static void *end_of(int type, const void *host, uint64_t device)
{
    return type == CU_TYPE_HOST ? (void *)(uintptr_t)host : (void *)(uintptr_t)device;
}

static int copy_of(const struct cu_memcpy3d *p, struct cu_memcpy_3d *out)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    size_t sp = p->src_pitch ? p->src_pitch : p->width, dp = p->dst_pitch ? p->dst_pitch : p->width;
    *out = (struct cu_memcpy_3d){.src_pos = {p->src_x, p->src_y, p->src_z},
                                 .src = {end_of(p->src_type, p->src_host, p->src_device), sp, p->width, p->src_height},
                                 .dst_pos = {p->dst_x, p->dst_y, p->dst_z},
                                 .dst = {end_of(p->dst_type, p->dst_host, p->dst_device), dp, p->width, p->dst_height},
                                 .extent = {p->width, p->height, p->depth},
                                 .kind = mg__cuda_copy_kind(p->dst_type, p->src_type)};
    if (p->src_type == CU_TYPE_ARRAY || p->dst_type == CU_TYPE_ARRAY)
        return mg__cuda_missing("a graph's copy for a CUDA array");
    return 0;
}

static int get_copy(void *node, struct cu_memcpy3d *p)
{
    struct cu_memcpy_3d c;
    int error = p ? mg__cudaGraphMemcpyNodeGetParams(node, &c) : CUDA_ERROR_INVALID_VALUE;
    if (error)
        return error;
    bool from_host = c.kind == CU_HOST_TO_HOST || c.kind == CU_HOST_TO_DEVICE;
    bool to_host = c.kind == CU_HOST_TO_HOST || c.kind == CU_DEVICE_TO_HOST;
    *p = (struct cu_memcpy3d){.src_x = c.src_pos.x,
                              .src_y = c.src_pos.y,
                              .src_z = c.src_pos.z,
                              .src_type = c.kind == CU_DEFAULT ? CU_TYPE_UNIFIED
                                          : from_host          ? CU_TYPE_HOST
                                                               : CU_TYPE_DEVICE,
                              .src_host = c.src.ptr,
                              .src_device = (uint64_t)(uintptr_t)c.src.ptr,
                              .src_pitch = c.src.pitch,
                              .src_height = c.src.ysize,
                              .dst_x = c.dst_pos.x,
                              .dst_y = c.dst_pos.y,
                              .dst_z = c.dst_pos.z,
                              .dst_type = c.kind == CU_DEFAULT ? CU_TYPE_UNIFIED
                                          : to_host            ? CU_TYPE_HOST
                                                               : CU_TYPE_DEVICE,
                              .dst_host = c.dst.ptr,
                              .dst_device = (uint64_t)(uintptr_t)c.dst.ptr,
                              .dst_pitch = c.dst.pitch,
                              .dst_height = c.dst.ysize,
                              .width = c.extent.width,
                              .height = c.extent.height,
                              .depth = c.extent.depth};
    return 0;
}

static int add_copy(MG_PLACE, const struct cu_memcpy3d *p)
{
    struct cu_memcpy_3d c;
    int error = copy_of(p, &c);
    return error ? error : mg__cudaGraphAddMemcpyNode(PLACED, &c);
}

static int set_copy(void *exec, void *node, const struct cu_memcpy3d *p)
{
    struct cu_memcpy_3d c;
    int error = copy_of(p, &c);
    return error  ? error
           : exec ? mg__cudaGraphExecMemcpyNodeSetParams(exec, node, &c)
                  : mg__cudaGraphMemcpyNodeSetParams(node, &c);
}

/* Contexts of a device share its memory: which one is named makes no difference. */
CUDA_SAME(cuGraphAddMemcpyNode, (MG_PLACE, const struct cu_memcpy3d *p, void *context),
          ((void)context, add_copy(PLACED, p)))
CUDA_SAME(cuGraphMemcpyNodeSetParams, (void *node, const struct cu_memcpy3d *p), set_copy(NULL, node, p))
CUDA_SAME(cuGraphExecMemcpyNodeSetParams, (void *exec, void *node, const struct cu_memcpy3d *p, void *context),
          ((void)context, exec ? set_copy(exec, node, p) : CUDA_ERROR_INVALID_VALUE))
CUDA_SAME(cuGraphMemcpyNodeGetParams, (void *node, struct cu_memcpy3d *p), get_copy(node, p))
CUDA_SAME(cuGraphAddMemsetNode, (MG_PLACE, const struct cu_memset_node *p, void *context),
          ((void)context, mg__cudaGraphAddMemsetNode(PLACED, p)))
CUDA_SAME(cuGraphMemsetNodeSetParams, (void *node, const struct cu_memset_node *p),
          mg__cudaGraphMemsetNodeSetParams(node, p))
CUDA_SAME(cuGraphExecMemsetNodeSetParams, (void *exec, void *node, const struct cu_memset_node *p, void *context),
          ((void)context, mg__cudaGraphExecMemsetNodeSetParams(exec, node, p)))
CUDA_SAME(cuGraphMemsetNodeGetParams, (void *node, struct cu_memset_node *p), mg__cudaGraphMemsetNodeGetParams(node, p))

/* ---- nodes of any kind ---- */
static int node_of(const struct cu_node_params *p, struct cu_graph_node *out, void ***unpacked)
{
    *unpacked = NULL;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (struct cu_graph_node){.type = p->type};
    switch (p->type) {
    case MG_GRAPH_KERNEL:
        return kernel_of(&p->kernel, false, &out->kernel, unpacked);
    case MG_GRAPH_COPY:
        return copy_of(&p->copy.copy, &out->copy.copy);
    case MG_GRAPH_FILL:
        out->fill = p->fill;
        return 0;
    case MG_GRAPH_HOST:
        out->host = p->host;
        return 0;
    case MG_GRAPH_ALLOC:
        out->alloc = p->alloc;
        return 0;
    case MG_GRAPH_CONDITIONAL:
        out->condition = p->condition;
        return 0;
    case MG_GRAPH_MEMOPS:
        out->memops = p->memops;
        return 0;
    default:
        out->child = p->child; /* or the event, or the memory to free */
        return 0;
    }
}

static int add_any(void **made, void *graph, void **before, const void *edges, size_t n, struct cu_node_params *p)
{
    struct cu_graph_node same;
    void **unpacked;
    int error = node_of(p, &same, &unpacked);
    if (!error)
        error = mg__cudaGraphAddNode(made, graph, before, edges, n, &same);
    free(unpacked);
    if (!error && p->type == MG_GRAPH_ALLOC)
        p->alloc.at = same.alloc.at;
    if (!error && p->type == MG_GRAPH_CONDITIONAL)
        p->condition.bodies = same.condition.bodies;
    return error;
}

static int set_any(void *exec, void *node, const struct cu_node_params *p)
{
    struct cu_graph_node same;
    void **unpacked;
    int error = node_of(p, &same, &unpacked);
    if (!error)
        error = exec ? mg__cudaGraphExecNodeSetParams(exec, node, &same) : mg__cudaGraphNodeSetParams(node, &same);
    free(unpacked);
    return error;
}

CUDA_SAME(cuGraphAddNode, (MG_PLACE, struct cu_node_params *p), add_any(made, graph, before, NULL, n, p))
CUDA_SAME(cuGraphAddNode_v2,
          (void **made, void *graph, void **before, const void *edges, size_t n, struct cu_node_params *p),
          add_any(made, graph, before, edges, n, p))
CUDA_SAME(cuGraphNodeSetParams, (void *node, const struct cu_node_params *p), set_any(NULL, node, p))
CUDA_SAME(cuGraphExecNodeSetParams, (void *exec, void *node, const struct cu_node_params *p),
          exec ? set_any(exec, node, p) : CUDA_ERROR_INVALID_VALUE)

/* ---- what is the runtime's as it is ---- */
CUDA_SAME(cuGraphAddMemAllocNode, (MG_PLACE, struct cu_alloc_node *p), mg__cudaGraphAddMemAllocNode(PLACED, p))
CUDA_SAME(cuGraphAddMemFreeNode, (MG_PLACE, void *at), mg__cudaGraphAddMemFreeNode(PLACED, at))
CUDA_SAME(cuGraphMemAllocNodeGetParams, (void *node, struct cu_alloc_node *p),
          mg__cudaGraphMemAllocNodeGetParams(node, p))
CUDA_SAME(cuGraphMemFreeNodeGetParams, (void *node, void **at), mg__cudaGraphMemFreeNodeGetParams(node, at))
CUDA_ANYWHERE(cuDeviceGetGraphMemAttribute, (int device, int attribute, void *value),
              mg__cudaDeviceGetGraphMemAttribute(device, attribute, value))
CUDA_ANYWHERE(cuDeviceSetGraphMemAttribute, (int device, int attribute, void *value),
              mg__cudaDeviceSetGraphMemAttribute(device, attribute, value))
CUDA_ANYWHERE(cuDeviceGraphMemTrim, (int device), mg__cudaDeviceGraphMemTrim(device))
CUDA_SAME(cuGraphConditionalHandleCreate,
          (uint64_t * handle, void *graph, void *context, unsigned value, unsigned flags),
          ((void)context, mg__cudaGraphConditionalHandleCreate(handle, graph, value, flags)))
CUDA_SAME(cuGraphAddBatchMemOpNode, (MG_PLACE, const struct cu_batch_node *p),
          mg__cudaGraphAddBatchMemOpNode(PLACED, p))
CUDA_SAME(cuGraphBatchMemOpNodeGetParams, (void *node, struct cu_batch_node *p),
          mg__cudaGraphBatchMemOpNodeGetParams(node, p))
CUDA_SAME(cuGraphBatchMemOpNodeSetParams, (void *node, const struct cu_batch_node *p),
          mg__cudaGraphBatchMemOpNodeSetParams(node, p))
CUDA_SAME(cuGraphExecBatchMemOpNodeSetParams, (void *exec, void *node, const struct cu_batch_node *p),
          mg__cudaGraphExecBatchMemOpNodeSetParams(exec, node, p))
CUDA_ANYWHERE(cuGraphCreate, (void **graph, unsigned flags), mg__cudaGraphCreate(graph, flags))
CUDA_ANYWHERE(cuGraphDestroy, (void *graph), mg__cudaGraphDestroy(graph))
CUDA_SAME(cuGraphDestroyNode, (void *node), mg__cudaGraphDestroyNode(node))
CUDA_SAME(cuGraphClone, (void **clone, void *graph), mg__cudaGraphClone(clone, graph))
CUDA_SAME(cuGraphNodeFindInClone, (void **found, void *node, void *clone),
          mg__cudaGraphNodeFindInClone(found, node, clone))
CUDA_SAME(cuGraphNodeGetType, (void *node, int *type), mg__cudaGraphNodeGetType(node, type))
CUDA_SAME(cuGraphAddHostNode, (MG_PLACE, const struct cu_host_node *p), mg__cudaGraphAddHostNode(PLACED, p))
CUDA_SAME(cuGraphHostNodeGetParams, (void *node, struct cu_host_node *p), mg__cudaGraphHostNodeGetParams(node, p))
CUDA_SAME(cuGraphHostNodeSetParams, (void *node, const struct cu_host_node *p), mg__cudaGraphHostNodeSetParams(node, p))
CUDA_SAME(cuGraphExecHostNodeSetParams, (void *exec, void *node, const struct cu_host_node *p),
          mg__cudaGraphExecHostNodeSetParams(exec, node, p))
CUDA_ANYWHERE(cuGraphAddEmptyNode, (MG_PLACE), mg__cudaGraphAddEmptyNode(PLACED))
CUDA_SAME(cuGraphAddChildGraphNode, (MG_PLACE, void *child), mg__cudaGraphAddChildGraphNode(PLACED, child))
CUDA_SAME(cuGraphChildGraphNodeGetGraph, (void *node, void **graph), mg__cudaGraphChildGraphNodeGetGraph(node, graph))
CUDA_SAME(cuGraphExecChildGraphNodeSetParams, (void *exec, void *node, void *child),
          mg__cudaGraphExecChildGraphNodeSetParams(exec, node, child))
#define EVENT_CALLS(Kind)                                                                                      \
    CUDA_SAME(cuGraphAdd##Kind, (MG_PLACE, void *event), mg__cudaGraphAdd##Kind(PLACED, event))                \
    CUDA_SAME(cuGraph##Kind##GetEvent, (void *node, void **event), mg__cudaGraph##Kind##GetEvent(node, event)) \
    CUDA_SAME(cuGraph##Kind##SetEvent, (void *node, void *event), mg__cudaGraph##Kind##SetEvent(node, event))  \
    CUDA_SAME(cuGraphExec##Kind##SetEvent, (void *exec, void *node, void *event),                              \
              mg__cudaGraphExec##Kind##SetEvent(exec, node, event))
EVENT_CALLS(EventRecordNode)
EVENT_CALLS(EventWaitNode)

CUDA_SAME(cuGraphGetNodes, (void *graph, void **nodes, size_t *n), mg__cudaGraphGetNodes(graph, nodes, n))
CUDA_SAME(cuGraphGetRootNodes, (void *graph, void **nodes, size_t *n), mg__cudaGraphGetRootNodes(graph, nodes, n))
CUDA_SAME(cuGraphGetEdges, (void *graph, void **from, void **to, size_t *n),
          mg__cudaGraphGetEdges(graph, from, to, NULL, n))
CUDA_SAME(cuGraphGetEdges_v2, (void *graph, void **from, void **to, void *edges, size_t *n),
          mg__cudaGraphGetEdges(graph, from, to, edges, n))
CUDA_SAME(cuGraphNodeGetDependencies, (void *node, void **nodes, size_t *n),
          mg__cudaGraphNodeGetDependencies(node, nodes, NULL, n))
CUDA_SAME(cuGraphNodeGetDependencies_v2, (void *node, void **nodes, void *edges, size_t *n),
          mg__cudaGraphNodeGetDependencies(node, nodes, edges, n))
CUDA_SAME(cuGraphNodeGetDependentNodes, (void *node, void **nodes, size_t *n),
          mg__cudaGraphNodeGetDependentNodes(node, nodes, NULL, n))
CUDA_SAME(cuGraphNodeGetDependentNodes_v2, (void *node, void **nodes, void *edges, size_t *n),
          mg__cudaGraphNodeGetDependentNodes(node, nodes, edges, n))
CUDA_SAME(cuGraphAddDependencies, (void *graph, void **from, void **to, size_t n),
          mg__cudaGraphAddDependencies(graph, from, to, NULL, n))
CUDA_SAME(cuGraphAddDependencies_v2, (void *graph, void **from, void **to, const void *edges, size_t n),
          mg__cudaGraphAddDependencies(graph, from, to, edges, n))
CUDA_SAME(cuGraphRemoveDependencies, (void *graph, void **from, void **to, size_t n),
          mg__cudaGraphRemoveDependencies(graph, from, to, NULL, n))
CUDA_SAME(cuGraphRemoveDependencies_v2, (void *graph, void **from, void **to, const void *edges, size_t n),
          mg__cudaGraphRemoveDependencies(graph, from, to, edges, n))
CUDA_SAME(cuGraphDebugDotPrint, (void *graph, const char *path, unsigned flags),
          mg__cudaGraphDebugDotPrint(graph, path, flags))

/* ---- instances ---- */
static int instantiate(void **exec, void *graph, void **node, char *log, size_t size)
{
    if (node)
        *node = NULL;
    if (log && size)
        *log = 0;
    return mg__cudaGraphInstantiate(exec, graph, 0);
}

static int update(void *exec, void *graph, void **node, int *result)
{
    struct mg_graph_update u = {0};
    int error = mg__cudaGraphExecUpdate(exec, graph, &u);
    if (node)
        *node = u.node;
    if (result)
        *result = u.result;
    return error;
}

CUDA_SAME(cuGraphInstantiate, (void **exec, void *graph, void **node, char *log, size_t size),
          instantiate(exec, graph, node, log, size))
CUDA_SAME(cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags),
          mg__cudaGraphInstantiate(exec, graph, flags))
CUDA_SAME(cuGraphInstantiateWithParams, (void **exec, void *graph, struct cu_instantiate *p),
          mg__cudaGraphInstantiateWithParams(exec, graph, p))
CUDA_SAME(cuGraphExecGetFlags, (void *exec, unsigned long long *flags), mg__cudaGraphExecGetFlags(exec, flags))
CUDA_SAME(cuGraphExecDestroy, (void *exec), mg__cudaGraphExecDestroy(exec))
CUDA_SAME(cuGraphExecUpdate, (void *exec, void *graph, void **node, int *result), update(exec, graph, node, result))
CUDA_SAME(cuGraphExecUpdate_v2, (void *exec, void *graph, struct mg_graph_update *result),
          mg__cudaGraphExecUpdate(exec, graph, result))
CUDA_SAME(cuGraphLaunch, (void *exec, void *stream), mg__cudaGraphLaunch(exec, stream))
CUDA_SAME(cuGraphUpload, (void *exec, void *stream), mg__cudaGraphUpload(exec, stream))
CUDA_SAME(cuGraphNodeSetEnabled, (void *exec, void *node, unsigned enabled),
          mg__cudaGraphNodeSetEnabled(exec, node, enabled))
CUDA_SAME(cuGraphNodeGetEnabled, (void *exec, void *node, unsigned *enabled),
          mg__cudaGraphNodeGetEnabled(exec, node, enabled))
CUDA_SAME(cuUserObjectCreate, (void **made, void *object, void (*destroy)(void *), unsigned uses, unsigned flags),
          mg__cudaUserObjectCreate(made, object, destroy, uses, flags))
CUDA_SAME(cuUserObjectRetain, (void *object, unsigned count), mg__cudaUserObjectRetain(object, count))
CUDA_SAME(cuUserObjectRelease, (void *object, unsigned count), mg__cudaUserObjectRelease(object, count))
CUDA_SAME(cuGraphRetainUserObject, (void *graph, void *object, unsigned count, unsigned flags),
          mg__cudaGraphRetainUserObject(graph, object, count, flags))
CUDA_SAME(cuGraphReleaseUserObject, (void *graph, void *object, unsigned count),
          mg__cudaGraphReleaseUserObject(graph, object, count))

/* ---- captures ---- */
CUDA_SAME(cuStreamBeginCapture, (void *stream), mg__cudaStreamBeginCapture(stream, 0))
CUDA_SAME(cuStreamBeginCapture_v2, (void *stream, int mode), mg__cudaStreamBeginCapture(stream, mode))
CUDA_SAME(cuStreamBeginCaptureToGraph,
          (void *stream, void *graph, void *const *nodes, const void *edges, size_t n, int mode),
          mg__cudaStreamBeginCaptureToGraph(stream, graph, nodes, edges, n, mode))
CUDA_SAME(cuStreamEndCapture, (void *stream, struct mg_graph **graph), mg__cudaStreamEndCapture(stream, graph))
CUDA_SAME(cuStreamIsCapturing, (void *stream, int *status), mg__cudaStreamIsCapturing(stream, status))
CUDA_ANYWHERE(cuThreadExchangeStreamCaptureMode, (int *mode), mg__cudaThreadExchangeStreamCaptureMode(mode))
CUDA_SAME(cuStreamGetCaptureInfo, (void *stream, int *status, unsigned long long *id),
          mg__cudaStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL))
CUDA_SAME(cuStreamGetCaptureInfo_v2,
          (void *stream, int *status, unsigned long long *id, struct mg_graph **graph,
           struct mg_graph_node *const **nodes, size_t *n),
          mg__cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, NULL, n))
CUDA_SAME(cuStreamGetCaptureInfo_v3,
          (void *stream, int *status, unsigned long long *id, struct mg_graph **graph,
           struct mg_graph_node *const **nodes, const void **edges, size_t *n),
          mg__cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, edges, n))
CUDA_SAME(cuStreamUpdateCaptureDependencies, (void *stream, void **nodes, size_t n, unsigned flags),
          mg__cudaStreamUpdateCaptureDependencies(stream, nodes, NULL, n, flags))
CUDA_SAME(cuStreamUpdateCaptureDependencies_v2,
          (void *stream, void **nodes, const void *edges, size_t n, unsigned flags),
          mg__cudaStreamUpdateCaptureDependencies(stream, nodes, edges, n, flags))
