// graphs.cu - graphs: made node by node and by capture, launched, changed, asked; and what is refused, by the documents:
// the codes were not compared with a device's.
// ENV: MARGAY_DEVICE=90
// EXPECT: ok
#include "check.h"

#include <atomic>
#include <thread>

enum { N = 256 };
__global__ void add(int *a, int value) { a[threadIdx.x + blockIdx.x * blockDim.x] += value; }
__global__ void times(int *a, int value) { a[threadIdx.x + blockIdx.x * blockDim.x] *= value; }
__global__ void sum(int *out, const int *a, const int *b) { out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }
struct Big { int at[40]; };
__global__ void big(int *out, Big b) { out[threadIdx.x] = b.at[threadIdx.x % 40]; }

static int *a, *b, *c, *host;
static int calls;
static void CUDART_CB on_host(void *arg) { calls += *(int *)arg; }
static int first(const int *device)
{
    int value[N];
    cudaMemcpy(value, device, sizeof(value), cudaMemcpyDeviceToHost);
    for (int i = 1; i < N; i++)
        if (value[i] != value[0]) return -1000000 - i;
    return value[0];
}
static cudaKernelNodeParams kernel(const void *function, void **args, int threads = N)
{
    cudaKernelNodeParams p = {};
    p.func = (void *)function;
    p.gridDim = dim3(1), p.blockDim = dim3(threads);
    p.kernelParams = args;
    return p;
}
static cudaMemsetParams fill(void *to, unsigned value, unsigned unit, size_t width, size_t height = 1, size_t pitch = 0)
{
    cudaMemsetParams p = {};
    p.dst = to, p.value = value, p.elementSize = unit, p.width = width, p.height = height, p.pitch = pitch;
    return p;
}

// Two branches and what joins them: ((0 + 3) * 4) + (7 + 5)
static void diamond()
{
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t n[8], found[16], from[16], to[16];
    cudaGraphNodeType type;
    cudaStream_t s;
    size_t count;
    int three = 3, four = 4, five = 5, one = 1;
    void *add_a[] = {&a, &three}, *times_a[] = {&a, &four}, *add_b[] = {&b, &five}, *sum_c[] = {&c, &a, &b};
    OK(cudaStreamCreate(&s));
    OK(cudaGraphCreate(&g, 0));
    cudaMemsetParams ma = fill(a, 0, 4, N), mb = fill(b, 7, 4, N);
    OK(cudaGraphAddMemsetNode(&n[0], g, nullptr, 0, &ma));
    OK(cudaGraphAddMemsetNode(&n[1], g, nullptr, 0, &mb));
    cudaKernelNodeParams k = kernel((void *)add, add_a);
    OK(cudaGraphAddKernelNode(&n[2], g, &n[0], 1, &k));
    k = kernel((void *)times, times_a);
    OK(cudaGraphAddKernelNode(&n[3], g, &n[2], 1, &k));
    k = kernel((void *)add, add_b);
    OK(cudaGraphAddKernelNode(&n[4], g, &n[1], 1, &k));
    k = kernel((void *)sum, sum_c);
    cudaGraphNode_t both[] = {n[3], n[4]};
    OK(cudaGraphAddKernelNode(&n[5], g, both, 2, &k));
    OK(cudaGraphAddMemcpyNode1D(&n[6], g, &n[5], 1, host, c, N * sizeof(int), cudaMemcpyDeviceToHost));
    cudaHostNodeParams h = {on_host, &one};
    OK(cudaGraphAddHostNode(&n[7], g, &n[6], 1, &h));
    // what was passed is kept by value
    three = four = five = 1000;
    OK(cudaGraphInstantiate(&x, g, 0));
    calls = 0;
    for (int i = 0; i < 3; i++) {
        host[0] = host[N - 1] = 0;
        OK(cudaGraphLaunch(x, s));
        OK(cudaStreamSynchronize(s));
        TRUE(host[0] == 24 && host[N - 1] == 24);
    }
    TRUE(calls == 3);
    OK(cudaGraphUpload(x, s));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    TRUE(calls == 4 && first(c) == 24);
    // asked
    count = 0;
    OK(cudaGraphGetNodes(g, nullptr, &count));
    TRUE(count == 8);
    count = 3;
    OK(cudaGraphGetNodes(g, found, &count));
    TRUE(count == 3);
    count = 16;
    OK(cudaGraphGetNodes(g, found, &count));
    TRUE(count == 8 && found[8] == nullptr && found[15] == nullptr);
    for (int i = 0; i < 8; i++) TRUE(found[i] == n[i]);
    OK(cudaGraphGetRootNodes(g, nullptr, &count));
    TRUE(count == 2);
    OK(cudaGraphGetRootNodes(g, found, &count));
    TRUE((found[0] == n[0] && found[1] == n[1]) || (found[0] == n[1] && found[1] == n[0]));
    OK(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &count));
    TRUE(count == 7);
    OK(cudaGraphGetEdges(g, from, to, nullptr, &count));
    int joins = 0;
    for (size_t i = 0; i < count; i++) joins += to[i] == n[5];
    TRUE(joins == 2);
    IS(cudaGraphGetEdges(g, from, nullptr, nullptr, &count), 1);
    OK(cudaGraphNodeGetDependencies(n[5], nullptr, nullptr, &count));
    TRUE(count == 2);
    OK(cudaGraphNodeGetDependencies(n[5], found, nullptr, &count));
    TRUE((found[0] == n[3] && found[1] == n[4]) || (found[0] == n[4] && found[1] == n[3]));
    OK(cudaGraphNodeGetDependentNodes(n[2], found, nullptr, &count));
    TRUE(count == 1 && found[0] == n[3]);
    OK(cudaGraphNodeGetDependentNodes(n[7], nullptr, nullptr, &count));
    TRUE(count == 0);
    OK(cudaGraphNodeGetType(n[0], &type));
    TRUE(type == cudaGraphNodeTypeMemset);
    OK(cudaGraphNodeGetType(n[5], &type));
    TRUE(type == cudaGraphNodeTypeKernel);
    OK(cudaGraphNodeGetType(n[6], &type));
    TRUE(type == cudaGraphNodeTypeMemcpy);
    OK(cudaGraphNodeGetType(n[7], &type));
    TRUE(type == cudaGraphNodeTypeHost);
    cudaKernelNodeParams got;
    OK(cudaGraphKernelNodeGetParams(n[2], &got));
    TRUE(got.func == (void *)add && got.blockDim.x == N && got.gridDim.y == 1 && got.extra == nullptr);
    TRUE(*(int **)got.kernelParams[0] == a && *(int *)got.kernelParams[1] == 3);
    cudaMemsetParams set;
    OK(cudaGraphMemsetNodeGetParams(n[1], &set));
    TRUE(set.dst == b && set.value == 7 && set.elementSize == 4 && set.width == N && set.height == 1);
    cudaHostNodeParams on;
    OK(cudaGraphHostNodeGetParams(n[7], &on));
    TRUE(on.fn == on_host && on.userData == &one);
    IS(cudaGraphKernelNodeGetParams(n[7], &got), 1);
    IS(cudaGraphMemsetNodeGetParams(n[2], &set), 1);
    IS(cudaGraphHostNodeGetParams(n[2], &on), 1);
    // edges
    IS(cudaGraphAddDependencies(g, &n[2], &n[3], nullptr, 1), 1); // twice
    IS(cudaGraphAddDependencies(g, &n[5], &n[2], nullptr, 1), 0); // a circle, which instantiation finds
    cudaGraphExec_t never = nullptr;
    IS(cudaGraphInstantiate(&never, g, 0), 1);
    OK(cudaGraphRemoveDependencies(g, &n[5], &n[2], nullptr, 1));
    IS(cudaGraphRemoveDependencies(g, &n[5], &n[2], nullptr, 1), 1);
    IS(cudaGraphAddDependencies(g, &n[2], &n[2], nullptr, 1), 1);
    OK(cudaGraphAddDependencies(g, nullptr, nullptr, nullptr, 0));
    // the graph goes; what was made of it stays
    OK(cudaGraphDestroyNode(n[7]));
    OK(cudaGraphGetNodes(g, nullptr, &count));
    TRUE(count == 7);
    OK(cudaGraphNodeGetDependentNodes(n[6], nullptr, nullptr, &count));
    TRUE(count == 0);
    OK(cudaGraphDestroy(g));
    OK(cudaGraphLaunch(x, s));
    OK(cudaStreamSynchronize(s));
    TRUE(calls == 5);
    OK(cudaGraphExecDestroy(x));
    OK(cudaStreamDestroy(s));
}

// Copies of every form, a child, events, empty nodes.
static void nodes()
{
    cudaGraph_t g, child, inside;
    cudaGraphExec_t x;
    cudaGraphNode_t n[8], into;
    cudaGraphNodeType type;
    cudaEvent_t e, f, got;
    size_t count;
    float ms = -1;
    int one = 1;
    void *add_a[] = {&a, &one};
    OK(cudaEventCreate(&e));
    OK(cudaEventCreate(&f));
    OK(cudaGraphCreate(&child, 0));
    cudaKernelNodeParams k = kernel((void *)add, add_a);
    OK(cudaGraphAddKernelNode(&into, child, nullptr, 0, &k));
    OK(cudaGraphCreate(&g, 0));
    for (int i = 0; i < N; i++) host[i] = i;
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(host, 64, 16, 16);
    p.dstPtr = make_cudaPitchedPtr(a, 64, 16, 16);
    p.extent = make_cudaExtent(64, 16, 1);
    p.kind = cudaMemcpyHostToDevice;
    OK(cudaGraphAddEventRecordNode(&n[0], g, nullptr, 0, e));
    OK(cudaGraphAddMemcpyNode(&n[1], g, &n[0], 1, &p));
    OK(cudaGraphAddChildGraphNode(&n[2], g, &n[1], 1, child));
    OK(cudaGraphAddEmptyNode(&n[3], g, &n[2], 1));
    OK(cudaGraphAddMemcpyNode1D(&n[4], g, &n[3], 1, b, a, 4 * N, cudaMemcpyDeviceToDevice));
    cudaMemsetParams m = fill(c, 0x0102, 2, 8, 4, 64);
    OK(cudaGraphAddMemsetNode(&n[5], g, &n[3], 1, &m));
    OK(cudaGraphAddEventRecordNode(&n[6], g, &n[4], 1, f));
    OK(cudaGraphAddEventWaitNode(&n[7], g, &n[6], 1, e));
    OK(cudaGraphNodeGetType(n[0], &type));
    TRUE(type == cudaGraphNodeTypeEventRecord);
    OK(cudaGraphNodeGetType(n[7], &type));
    TRUE(type == cudaGraphNodeTypeWaitEvent);
    OK(cudaGraphNodeGetType(n[2], &type));
    TRUE(type == cudaGraphNodeTypeGraph);
    OK(cudaGraphNodeGetType(n[3], &type));
    TRUE(type == cudaGraphNodeTypeEmpty);
    OK(cudaGraphEventRecordNodeGetEvent(n[0], &got));
    TRUE(got == e);
    OK(cudaGraphEventWaitNodeGetEvent(n[7], &got));
    TRUE(got == e);
    IS(cudaGraphEventWaitNodeGetEvent(n[0], &got), 1);
    OK(cudaGraphChildGraphNodeGetGraph(n[2], &inside));
    TRUE(inside != child);
    OK(cudaGraphGetNodes(inside, nullptr, &count));
    TRUE(count == 1);
    OK(cudaGraphDestroy(child)); // it was copied
    OK(cudaMemset(c, 0, 4 * N));
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(&ms, e, f));
    TRUE(ms >= 0);
    int got_b[N];
    unsigned short got_c[2 * N];
    OK(cudaMemcpy(got_b, b, sizeof(got_b), cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(got_c, c, sizeof(got_c), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) TRUE(got_b[i] == i + 1);
    for (int i = 0; i < 2 * N; i++) TRUE(got_c[i] == (i / 32 < 4 && i % 32 < 8 ? 0x0102 : 0));
    cudaMemcpy3DParms q = {};
    OK(cudaGraphMemcpyNodeGetParams(n[1], &q));
    TRUE(q.srcPtr.ptr == host && q.dstPtr.ptr == a && q.extent.width == 64 && q.extent.height == 16);
    // the child's node is changed in the instance
    int five = 5;
    void *add_five[] = {&a, &five};
    cudaGraph_t other;
    cudaGraphNode_t there;
    OK(cudaGraphCreate(&other, 0));
    k = kernel((void *)add, add_five);
    OK(cudaGraphAddKernelNode(&there, other, nullptr, 0, &k));
    OK(cudaGraphExecChildGraphNodeSetParams(x, n[2], other));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaMemcpy(got_b, b, sizeof(got_b), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) TRUE(got_b[i] == i + 5);
    OK(cudaGraphDestroy(other));
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
    OK(cudaEventDestroy(e));
    OK(cudaEventDestroy(f));
}

__device__ int symbol[4] = {1, 2, 3, 4};
static void updates()
{
    cudaGraph_t g, h;
    cudaGraphExec_t x;
    cudaGraphNode_t n[5], m[5], copied;
    cudaGraphExecUpdateResultInfo info;
    unsigned enabled;
    unsigned long long flags = 99;
    int one = 1, ten = 10, nine[4] = {9, 9, 9, 9}, four[4];
    void *with_one[] = {&a, &one}, *with_ten[] = {&a, &ten};
    OK(cudaGraphCreate(&g, 0));
    cudaMemsetParams zero = fill(a, 0, 4, N), two = fill(a, 2, 4, N);
    OK(cudaGraphAddMemsetNode(&n[0], g, nullptr, 0, &zero));
    cudaKernelNodeParams k = kernel((void *)add, with_one);
    OK(cudaGraphAddKernelNode(&n[1], g, &n[0], 1, &k));
    OK(cudaGraphAddMemcpyNodeToSymbol(&n[2], g, &n[1], 1, symbol, nine, 8, 8, cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&n[3], g, &n[2], 1, host, symbol, 16, 0, cudaMemcpyDeviceToHost));
    cudaHostNodeParams on = {on_host, &one};
    OK(cudaGraphAddHostNode(&n[4], g, &n[3], 1, &on));
    OK(cudaGraphInstantiateWithFlags(&x, g, cudaGraphInstantiateFlagUseNodePriority));
    OK(cudaGraphExecGetFlags(x, &flags));
    TRUE(flags == cudaGraphInstantiateFlagUseNodePriority);
    calls = 0;
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    memcpy(four, host, sizeof(four));
    TRUE(first(a) == 1 && calls == 1 && four[0] == 1 && four[1] == 2 && four[2] == 9 && four[3] == 9);
    // in the instance alone
    k = kernel((void *)times, with_ten);
    OK(cudaGraphExecKernelNodeSetParams(x, n[1], &k));
    OK(cudaGraphExecMemsetNodeSetParams(x, n[0], &two));
    OK(cudaGraphExecMemcpyNodeSetParams1D(x, n[3], host, a, 16, cudaMemcpyDeviceToHost));
    cudaHostNodeParams on_ten = {on_host, &ten};
    OK(cudaGraphExecHostNodeSetParams(x, n[4], &on_ten));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    TRUE(first(a) == 20 && calls == 11 && host[3] == 20);
    IS(cudaGraphExecKernelNodeSetParams(x, n[0], &k), 1);
    // left out
    OK(cudaGraphNodeGetEnabled(x, n[1], &enabled));
    TRUE(enabled == 1);
    OK(cudaGraphNodeSetEnabled(x, n[1], 0));
    OK(cudaGraphNodeGetEnabled(x, n[1], &enabled));
    TRUE(enabled == 0);
    IS(cudaGraphNodeSetEnabled(x, n[4], 0), 1);
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    TRUE(first(a) == 2 && calls == 21);
    OK(cudaGraphNodeSetEnabled(x, n[1], 1));
    // in the graph: the instance follows with an update
    k = kernel((void *)add, with_ten);
    OK(cudaGraphKernelNodeSetParams(n[1], &k));
    OK(cudaGraphMemsetNodeSetParams(n[0], &zero));
    OK(cudaGraphMemcpyNodeSetParams1D(n[3], host, a, 16, cudaMemcpyDeviceToHost));
    OK(cudaGraphHostNodeSetParams(n[4], &on));
    OK(cudaGraphExecUpdate(x, g, &info));
    TRUE(info.result == cudaGraphExecUpdateSuccess && info.errorNode == nullptr);
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    TRUE(first(a) == 10 && calls == 22);
    // a clone
    OK(cudaGraphClone(&h, g));
    OK(cudaGraphNodeFindInClone(&copied, n[1], h));
    TRUE(copied != n[1]);
    IS(cudaGraphNodeFindInClone(&m[0], copied, g), 1);
    k = kernel((void *)add, with_one);
    OK(cudaGraphKernelNodeSetParams(copied, &k));
    OK(cudaGraphExecUpdate(x, h, &info));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    TRUE(first(a) == 1);
    // and what cannot be followed
    OK(cudaGraphAddEmptyNode(&m[0], h, nullptr, 0));
    IS(cudaGraphExecUpdate(x, h, &info), 910);
    TRUE(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    OK(cudaGraphDestroyNode(m[0]));
    cudaGraphNode_t last;
    OK(cudaGraphNodeFindInClone(&last, n[4], h));
    OK(cudaGraphDestroyNode(last));
    cudaGraphNode_t before;
    OK(cudaGraphNodeFindInClone(&before, n[3], h));
    OK(cudaGraphAddEmptyNode(&m[1], h, &before, 1));
    IS(cudaGraphExecUpdate(x, h, &info), 910);
    TRUE(info.result == cudaGraphExecUpdateErrorNodeTypeChanged && info.errorNode == m[1]);
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    TRUE(first(a) == 1);
    OK(cudaGraphDestroy(h));
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
}

// Nodes of any type through one function.
static void any()
{
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t n[3];
    cudaGraphNodeParams p = {};
    Big block;
    for (int i = 0; i < 40; i++) block.at[i] = 3 * i;
    void *args[] = {&a, &block};
    OK(cudaGraphCreate(&g, 0));
    p.type = cudaGraphNodeTypeMemset;
    p.memset.dst = a, p.memset.value = 1, p.memset.elementSize = 4, p.memset.width = N, p.memset.height = 1;
    OK(cudaGraphAddNode(&n[0], g, nullptr, nullptr, 0, &p));
    p = {};
    p.type = cudaGraphNodeTypeKernel;
    p.kernel.func = (void *)big, p.kernel.gridDim = dim3(1), p.kernel.blockDim = dim3(40), p.kernel.kernelParams = args;
    OK(cudaGraphAddNode(&n[1], g, &n[0], nullptr, 1, &p));
    cudaGraphInstantiateParams ip = {};
    OK(cudaGraphInstantiateWithParams(&x, g, &ip));
    TRUE(ip.result_out == cudaGraphInstantiateSuccess);
    OK(cudaGraphLaunch(x, 0));
    int got[N];
    OK(cudaMemcpy(got, a, sizeof(got), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) TRUE(got[i] == (i < 40 ? 3 * i : 1));
    block.at[1] = 77;
    OK(cudaGraphExecNodeSetParams(x, n[1], &p));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaMemcpy(got, a, sizeof(got), cudaMemcpyDeviceToHost));
    TRUE(got[1] == 77);
    block.at[1] = 78;
    OK(cudaGraphNodeSetParams(n[1], &p));
    OK(cudaGraphExecUpdate(x, g, nullptr));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaMemcpy(got, a, sizeof(got), cudaMemcpyDeviceToHost));
    TRUE(got[1] == 78);
    cudaGraphExecDestroy(x);
    cudaGraphDestroy(g);
}

static void capture()
{
    cudaGraph_t g, in_use;
    cudaGraphExec_t x;
    cudaStream_t s, t;
    cudaEvent_t fork, join;
    cudaStreamCaptureStatus status;
    unsigned long long id = 0;
    size_t count;
    const cudaGraphNode_t *deps;
    int one = 1;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    OK(cudaMemset(a, 0, 4 * N));
    OK(cudaMemset(b, 0, 4 * N));
    OK(cudaStreamIsCapturing(s, &status));
    TRUE(status == cudaStreamCaptureStatusNone);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaStreamIsCapturing(s, &status));
    TRUE(status == cudaStreamCaptureStatusActive);
    OK(cudaStreamGetCaptureInfo(s, &status, &id, &in_use, &deps, nullptr, &count));
    TRUE(status == cudaStreamCaptureStatusActive && id && in_use && count == 0);
    OK(cudaMemsetAsync(a, 0, 4 * N, s));
    add<<<1, N, 0, s>>>(a, 3);
    OK(cudaEventRecord(fork, s));
    OK(cudaStreamWaitEvent(t, fork, 0));
    OK(cudaStreamIsCapturing(t, &status));
    TRUE(status == cudaStreamCaptureStatusActive);
    OK(cudaMemcpyAsync(b, a, 4 * N, cudaMemcpyDeviceToDevice, t));
    add<<<1, N, 0, t>>>(b, 10);
    times<<<1, N, 0, s>>>(a, 5);
    OK(cudaEventRecord(join, t));
    OK(cudaStreamWaitEvent(s, join, 0));
    OK(cudaStreamGetCaptureInfo(s, &status, &id, &in_use, &deps, nullptr, &count));
    TRUE(count == 2);
    sum<<<1, N, 0, s>>>(c, a, b);
    OK(cudaLaunchHostFunc(s, on_host, &one));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaStreamIsCapturing(t, &status));
    TRUE(status == cudaStreamCaptureStatusNone);
    TRUE(first(a) == 0 && first(b) == 0); // nothing was done yet
    OK(cudaGraphGetNodes(g, nullptr, &count));
    TRUE(count == 7);
    OK(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &count));
    TRUE(count == 7);
    OK(cudaGraphInstantiate(&x, g, 0));
    calls = 0;
    for (int i = 0; i < 2; i++) OK(cudaGraphLaunch(x, t));
    OK(cudaStreamSynchronize(t));
    TRUE(first(a) == 15 && first(b) == 13 && first(c) == 28 && calls == 2);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
    // into a graph that is there, behind its nodes
    cudaGraphNode_t n;
    cudaMemsetParams m = fill(a, 6, 4, N);
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &m));
    OK(cudaStreamBeginCaptureToGraph(s, g, &n, nullptr, 1, cudaStreamCaptureModeThreadLocal));
    add<<<1, N, 0, s>>>(a, 1);
    cudaGraph_t same;
    OK(cudaStreamEndCapture(s, &same));
    TRUE(same == g);
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, s));
    OK(cudaStreamSynchronize(s));
    TRUE(first(a) == 7);
    // a captured launch of a graph is a child of it
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaGraphLaunch(x, s));
    OK(cudaGraphLaunch(x, s));
    add<<<1, N, 0, s>>>(a, 1);
    OK(cudaStreamEndCapture(s, &same));
    cudaGraphNode_t list[4];
    cudaGraphNodeType type;
    count = 4;
    OK(cudaGraphGetNodes(same, list, &count));
    TRUE(count == 3);
    OK(cudaGraphNodeGetType(list[0], &type));
    TRUE(type == cudaGraphNodeTypeGraph);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphInstantiate(&x, same, 0));
    OK(cudaGraphLaunch(x, s));
    OK(cudaStreamSynchronize(s));
    TRUE(first(a) == 8);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(same));
    OK(cudaGraphDestroy(g));
    // dependencies told by hand
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    add<<<1, N, 0, s>>>(a, 1);
    OK(cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies));
    add<<<1, N, 0, s>>>(b, 1);
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphGetRootNodes(g, nullptr, &count));
    TRUE(count == 2);
    OK(cudaGraphDestroy(g));
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
}

// What may not be done while a stream is captured, and what becomes of the capture.
static void misuse()
{
    cudaGraph_t g = (cudaGraph_t)&g, h;
    cudaStream_t s, t;
    cudaEvent_t e;
    cudaStreamCaptureStatus status;
    void *p = nullptr;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreate(&t));
    OK(cudaEventCreate(&e));
    IS(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal), 900);
    IS(cudaStreamBeginCapture(s, (cudaStreamCaptureMode)7), 1);
    IS(cudaStreamEndCapture(s, &g), 401);
    // waiting for a captured stream
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    IS(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed), 401);
    add<<<1, N, 0, s>>>(a, 1);
    IS(cudaStreamSynchronize(s), 900);
    OK(cudaStreamIsCapturing(s, &status));
    TRUE(status == cudaStreamCaptureStatusInvalidated);
    add<<<1, N, 0, s>>>(a, 1);
    IS(cudaGetLastError(), 901);
    IS(cudaStreamEndCapture(s, &g), 901);
    TRUE(g == nullptr);
    OK(cudaStreamIsCapturing(s, &status));
    TRUE(status == cudaStreamCaptureStatusNone);
    // or asking it
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    IS(cudaStreamQuery(s), 900);
    IS(cudaStreamEndCapture(s, &g), 901);
    // the device
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    IS(cudaDeviceSynchronize(), 900);
    IS(cudaStreamEndCapture(s, &g), 901);
    // a call that is not safe, as the mode has it
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    IS(cudaMalloc(&p, 16), 900);
    IS(cudaStreamEndCapture(s, &g), 901);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaMalloc(&p, 16));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphDestroy(g));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    std::thread([] {
        void *q;
        OK(cudaMalloc(&q, 16));
        OK(cudaFree(q));
    }).join();
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    TRUE(mode == cudaStreamCaptureModeGlobal);
    OK(cudaFree(p));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphDestroy(g));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    std::thread([] {
        void *q;
        IS(cudaMalloc(&q, 16), 900);
    }).join();
    IS(cudaStreamEndCapture(s, &g), 901);
    // the legacy default stream
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    add<<<1, N>>>(a, 1);
    IS(cudaGetLastError(), 906);
    IS(cudaStreamEndCapture(s, &g), 901);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    IS(cudaMemcpy(a, b, 16, cudaMemcpyDeviceToDevice), 906);
    IS(cudaStreamEndCapture(s, &g), 901);
    // a fork that is not joined, and an end on the wrong stream
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(e, s));
    OK(cudaStreamWaitEvent(t, e, 0));
    add<<<1, N, 0, t>>>(a, 1);
    IS(cudaStreamEndCapture(t, &g), 903);
    OK(cudaStreamIsCapturing(s, &status));
    TRUE(status == cudaStreamCaptureStatusInvalidated);
    IS(cudaStreamEndCapture(s, &g), 901);
    OK(cudaStreamIsCapturing(t, &status));
    TRUE(status == cudaStreamCaptureStatusNone);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(e, s));
    OK(cudaStreamWaitEvent(t, e, 0));
    add<<<1, N, 0, t>>>(a, 1);
    IS(cudaStreamEndCapture(s, &g), 904);
    TRUE(g == nullptr);
    // events of a capture
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(e, s));
    IS(cudaEventSynchronize(e), 907);
    IS(cudaStreamEndCapture(s, &g), 901);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(e, s));
    IS(cudaEventQuery(e), 907);
    IS(cudaStreamEndCapture(s, &g), 901);
    OK(cudaEventRecord(e, t));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    IS(cudaStreamWaitEvent(s, e, 0), 905);
    IS(cudaStreamEndCapture(s, &g), 901);
    // two captures that meet
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(e, s));
    IS(cudaStreamWaitEvent(t, e, 0), 902);
    IS(cudaStreamEndCapture(s, &g), 901);
    IS(cudaStreamEndCapture(t, &h), 901);
    // another thread's
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    std::thread([s] {
        cudaGraph_t mine;
        IS(cudaStreamEndCapture(s, &mine), 908);
    }).join();
    IS(cudaStreamEndCapture(s, &g), 901);
    // a stream that goes
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    IS(cudaStreamDestroy(s), 0);
    OK(cudaDeviceSynchronize());
    OK(cudaStreamDestroy(t));
    OK(cudaEventDestroy(e));
}

static void arguments()
{
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t n, m;
    size_t count;
    int one = 1;
    void *args[] = {&a, &one};
    IS(cudaGraphCreate(nullptr, 0), 1);
    IS(cudaGraphCreate(&g, 1), 1);
    OK(cudaGraphCreate(&g, 0));
    IS(cudaGraphAddEmptyNode(nullptr, g, nullptr, 0), 1);
    IS(cudaGraphAddEmptyNode(&n, nullptr, nullptr, 0), 1);
    IS(cudaGraphAddEmptyNode(&n, g, nullptr, 1), 1);
    IS(cudaGraphAddKernelNode(&n, g, nullptr, 0, nullptr), 1);
    cudaKernelNodeParams k = kernel(nullptr, args);
    IS(cudaGraphAddKernelNode(&n, g, nullptr, 0, &k), 1);
    k = kernel((void *)arguments, args);
    IS(cudaGraphAddKernelNode(&n, g, nullptr, 0, &k), 400);
    k = kernel((void *)add, args, 4096);
    IS(cudaGraphAddKernelNode(&n, g, nullptr, 0, &k), 1);
    k = kernel((void *)add, args, 0);
    IS(cudaGraphAddKernelNode(&n, g, nullptr, 0, &k), 1);
    k = kernel((void *)add, args);
    k.sharedMemBytes = 1 << 20;
    IS(cudaGraphAddKernelNode(&n, g, nullptr, 0, &k), 1);
    cudaMemsetParams p = fill(nullptr, 0, 4, 4);
    IS(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &p), 1);
    p = fill(a, 0, 3, 4);
    IS(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &p), 1);
    p = fill((char *)a + 1, 0, 4, 4);
    IS(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &p), 1);
    p = fill(a, 0, 4, 4, 2, 8);
    IS(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &p), 1);
    p = fill(a, 0, 4, 0);
    IS(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &p), 1);
    IS(cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, nullptr, a, 4, cudaMemcpyDeviceToHost), 1);
    IS(cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, host, a, 0, cudaMemcpyDeviceToHost), 1);
    IS(cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, host, a, 4, (cudaMemcpyKind)9), 21);
    cudaHostNodeParams h = {nullptr, nullptr};
    IS(cudaGraphAddHostNode(&n, g, nullptr, 0, &h), 1);
    IS(cudaGraphAddChildGraphNode(&n, g, nullptr, 0, nullptr), 1);
    IS(cudaGraphAddChildGraphNode(&n, g, nullptr, 0, g), 1);
    IS(cudaGraphAddEventRecordNode(&n, g, nullptr, 0, nullptr), 400);
    OK(cudaGraphAddEmptyNode(&n, g, nullptr, 0));
    OK(cudaGraphAddEmptyNode(&m, g, &n, 1));
    cudaGraphNode_t twice[] = {n, n};
    cudaGraphNode_t never;
    IS(cudaGraphAddEmptyNode(&never, g, twice, 2), 1);
    IS(cudaGraphGetNodes(g, nullptr, nullptr), 1);
    IS(cudaGraphGetNodes(nullptr, nullptr, &count), 1);
    IS(cudaGraphInstantiate(nullptr, g, 0), 1);
    IS(cudaGraphInstantiate(&x, nullptr, 0), 1);
    IS(cudaGraphInstantiate(&x, g, 64), 1);
    IS(cudaGraphLaunch(nullptr, 0), 1);
    IS(cudaGraphExecDestroy(nullptr), 1);
    IS(cudaGraphDestroy(nullptr), 1);
    IS(cudaGraphDestroyNode(nullptr), 1);
    IS(cudaGraphClone(nullptr, g), 1);
    OK(cudaGraphDestroy(g));
    // an empty graph can be launched
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
}

static int gone;
static void CUDART_CB goes(void *arg) { gone += *(int *)arg; }
static void user_objects()
{
    static int one = 1;
    cudaGraph_t g, h;
    cudaUserObject_t o;
    OK(cudaUserObjectCreate(&o, &one, goes, 1, cudaUserObjectNoDestructorSync));
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphRetainUserObject(g, o, 1, cudaGraphUserObjectMove));
    OK(cudaGraphClone(&h, g));
    OK(cudaGraphDestroy(g));
    OK(cudaDeviceSynchronize());
    TRUE(gone == 0);
    OK(cudaGraphReleaseUserObject(h, o, 1));
    for (int i = 0; i < 100 && gone == 0; i++) cudaDeviceSynchronize(), std::this_thread::yield();
    OK(cudaGraphDestroy(h));
    OK(cudaUserObjectCreate(&o, &one, goes, 2, cudaUserObjectNoDestructorSync));
    OK(cudaUserObjectRetain(o, 1));
    OK(cudaUserObjectRelease(o, 3));
    IS(cudaUserObjectCreate(&o, &one, goes, 1, 0), 1);
    IS(cudaUserObjectCreate(&o, &one, nullptr, 1, cudaUserObjectNoDestructorSync), 1);
}

int main()
{
    OK(cudaMalloc(&a, 4 * N));
    OK(cudaMalloc(&b, 4 * N));
    OK(cudaMalloc(&c, 4 * N));
    OK(cudaMallocHost(&host, 4 * N));
    diamond();
    nodes();
    updates();
    any();
    capture();
    misuse();
    arguments();
    user_objects();
    DONE();
}
