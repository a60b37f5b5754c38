/* graphs.c - graphs and captures through the driver: its own structures, and what they answer. The codes are the
 * documents'; they were not compared with a device's. */
#include "check.h"

enum { N = 500 };
static CUfunction saxpy;
static CUdeviceptr x, y, z;
static float out[N];
static int calls;

static void on_host(void *arg)
{
    calls += *(int *)arg;
}

static int all(CUdeviceptr at, float value)
{
    OK(cuMemcpyDtoH(out, at, sizeof(out)));
    for (int i = 0; i < N; i++)
        if (out[i] != value)
            return 0;
    return 1;
}

static void explicit_graph(CUcontext context)
{
    CUgraph g, clone, inside;
    CUgraphExec exec;
    CUgraphNode node[8], found;
    CUgraphNodeType type;
    CUevent event, got;
    CUgraphExecUpdateResultInfo info;
    size_t count;
    float a = 2, b = 10;
    int n = N, one = 1;
    void *args[] = {&a, &x, &y, &n}, *more[] = {&b, &x, &y, &n};
    CUDA_MEMSET_NODE_PARAMS fill_x = {.dst = x, .value = 0x40400000, .elementSize = 4, .width = N, .height = 1}; /* 3 */
    CUDA_MEMSET_NODE_PARAMS fill_y = {.dst = y, .value = 0x3f800000, .elementSize = 4, .width = N, .height = 1}; /* 1 */
    CUDA_KERNEL_NODE_PARAMS k = {.func = saxpy,
                                 .gridDimX = 4,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 128,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .kernelParams = args};
    CUDA_KERNEL_NODE_PARAMS k_got;
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = y,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = z,
                          .WidthInBytes = sizeof(out),
                          .Height = 1,
                          .Depth = 1};
    CUDA_MEMCPY3D copy_got;
    CUDA_HOST_NODE_PARAMS host = {on_host, &one};
    OK(cuEventCreate(&event, 0));
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddMemsetNode(&node[0], g, NULL, 0, &fill_x, context));
    OK(cuGraphAddMemsetNode(&node[1], g, NULL, 0, &fill_y, context));
    OK(cuGraphAddKernelNode(&node[2], g, node, 2, &k));
    OK(cuGraphAddMemcpyNode(&node[3], g, &node[2], 1, &copy, context));
    OK(cuGraphAddHostNode(&node[4], g, &node[3], 1, &host));
    OK(cuGraphAddEventRecordNode(&node[5], g, &node[4], 1, event));
    OK(cuGraphAddEmptyNode(&node[6], g, &node[5], 1));
    a = 99; /* arguments are kept by value */
    OK(cuGraphInstantiate(&exec, g, 0));
    for (int i = 1; i <= 3; i++) {
        OK(cuGraphLaunch(exec, NULL));
        OK(cuEventSynchronize(event));
        OK(cuCtxSynchronize());
        TRUE(all(z, 7) && calls == i);
    }
    OK(cuGraphNodeGetType(node[5], &type));
    TRUE(type == CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    OK(cuGraphEventRecordNodeGetEvent(node[5], &got));
    TRUE(got == event);
    OK(cuGraphKernelNodeGetParams(node[2], &k_got));
    TRUE(k_got.func == saxpy && k_got.gridDimX == 4 && k_got.blockDimX == 128 && *(float *)k_got.kernelParams[0] == 2);
    OK(cuGraphMemcpyNodeGetParams(node[3], &copy_got));
    TRUE(copy_got.srcDevice == y && copy_got.dstDevice == z && copy_got.WidthInBytes == sizeof(out) &&
         copy_got.srcMemoryType == CU_MEMORYTYPE_DEVICE);
    OK(cuGraphGetEdges(g, NULL, NULL, NULL, &count));
    TRUE(count == 6);
    /* the instance, then the graph */
    k.kernelParams = more;
    OK(cuGraphExecKernelNodeSetParams(exec, node[2], &k));
    OK(cuGraphLaunch(exec, NULL));
    TRUE(all(z, 31));
    fill_y.value = 0;
    OK(cuGraphExecMemsetNodeSetParams(exec, node[1], &fill_y, context));
    OK(cuGraphLaunch(exec, NULL));
    TRUE(all(z, 30));
    OK(cuGraphClone(&clone, g));
    OK(cuGraphNodeFindInClone(&found, node[2], clone));
    OK(cuGraphExecUpdate(exec, clone, &info));
    TRUE(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    OK(cuGraphLaunch(exec, NULL));
    TRUE(all(z, 7));
    OK(cuGraphDestroyNode(found));
    WANT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, clone, &info));
    TRUE(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphAddChildGraphNode(&node[7], clone, NULL, 0, g));
    OK(cuGraphChildGraphNodeGetGraph(node[7], &inside));
    OK(cuGraphGetNodes(inside, NULL, &count));
    TRUE(count == 7);
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(inside)); /* it is its node's */
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeGetParams(node[0], &k_got));
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&found, clone, &node[0], 1)); /* another graph's */
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(NULL, NULL));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(clone));
    OK(cuGraphDestroy(g));
    OK(cuEventDestroy(event));
}

static void any_node(void)
{
    CUgraph g;
    CUgraphExec exec;
    CUgraphNode node;
    float a = 2;
    int n = N;
    struct {
        float a;
        CUdeviceptr x, y;
        int n;
    } packed = {a, x, y, n};
    size_t bytes = 28;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    p.kernel.func = saxpy;
    p.kernel.gridDimX = 4, p.kernel.gridDimY = p.kernel.gridDimZ = 1;
    p.kernel.blockDimX = 128, p.kernel.blockDimY = p.kernel.blockDimZ = 1;
    p.kernel.extra = extra;
    OK(cuMemsetD32(x, 0x3f800000, N));
    OK(cuMemsetD32(y, 0, N));
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddNode(&node, g, NULL, NULL, 0, &p));
    OK(cuGraphInstantiate(&exec, g, 0));
    OK(cuGraphLaunch(exec, NULL));
    TRUE(all(y, 2));
    packed.a = 5;
    OK(cuGraphExecNodeSetParams(exec, node, &p));
    OK(cuGraphLaunch(exec, NULL));
    TRUE(all(y, 7));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(g));
}

static void capture(void)
{
    CUgraph g;
    CUgraphExec exec;
    CUstream s, t;
    CUevent fork, join;
    CUstreamCaptureStatus status;
    cuuint64_t id;
    size_t count;
    float a = 1;
    int n = N, one = 1;
    void *args[] = {&a, &x, &y, &n}, *other[] = {&a, &x, &z, &n};
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    OK(cuMemsetD32(x, 0x3f800000, N));
    OK(cuCtxSynchronize());
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemsetD32Async(y, 0, N, s));
    OK(cuMemsetD32Async(z, 0x40000000, N, s));
    OK(cuEventRecord(fork, s));
    OK(cuStreamWaitEvent(t, fork, 0));
    OK(cuLaunchKernel(saxpy, 4, 1, 1, 128, 1, 1, 0, t, other, NULL));
    OK(cuLaunchKernel(saxpy, 4, 1, 1, 128, 1, 1, 0, s, args, NULL));
    OK(cuEventRecord(join, t));
    OK(cuStreamWaitEvent(s, join, 0));
    OK(cuMemcpyDtoDAsync(x, z, sizeof(out), s));
    OK(cuLaunchHostFunc(s, on_host, &one));
    OK(cuStreamGetCaptureInfo(s, &status, &id, NULL, NULL, NULL, &count));
    TRUE(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && count == 1);
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphGetNodes(g, NULL, &count));
    TRUE(count == 6);
    OK(cuGraphInstantiate(&exec, g, 0));
    calls = 0;
    OK(cuGraphLaunch(exec, t));
    OK(cuStreamSynchronize(t));
    TRUE(all(y, 1) && all(z, 3) && all(x, 3) && calls == 1);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(g));
    /* what is no part of a graph */
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    WANT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(s));
    WANT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s, &g));
    TRUE(g == NULL);
    WANT(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(s, &g));
    WANT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuEventRecord(fork, s));
    WANT(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(fork));
    WANT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s, &g));
    OK(cuEventDestroy(fork));
    OK(cuEventDestroy(join));
    OK(cuStreamDestroy(s));
    OK(cuStreamDestroy(t));
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, PTX));
    OK(cuModuleGetFunction(&saxpy, module, "saxpy"));
    OK(cuMemAlloc(&x, sizeof(out)));
    OK(cuMemAlloc(&y, sizeof(out)));
    OK(cuMemAlloc(&z, sizeof(out)));
    explicit_graph(context);
    any_node();
    capture();
    OK(cuMemFree(x));
    OK(cuMemFree(y));
    OK(cuMemFree(z));
    return DONE();
}
