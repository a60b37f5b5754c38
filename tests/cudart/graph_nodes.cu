// graph_nodes.cu - what graphs allocate, wait for, and choose: memory nodes, conditions, waits for memory; and what
// outlives what: objects of the user, graphs and instances. Codes are an H200's (driver 580.159.04), 2026-11-23, but those
// of objects.
// RUN: -std=c++17 -lcuda -L/usr/local/cuda/lib64/stubs
// ENV: MARGAY_DEVICE=90
// EXPECT: ok
#include "check.h"

#include <cuda.h>

#define EXPECT(got, wanted) IS(got, (int)(wanted))
#define FAILS(call) TRUE((call) != 0)
enum { N = 64 };
__global__ void put(int *a, int value) { a[threadIdx.x] = value; }
__global__ void add(int *to, const int *a) { to[threadIdx.x] += a[threadIdx.x]; }
__global__ void more(int *n, int by) { *n += by; }
__global__ void count_down(cudaGraphConditionalHandle h, int *n) { cudaGraphSetConditional(h, --*n > 0); }
__global__ void set(cudaGraphConditionalHandle h, const int *v) { cudaGraphSetConditional(h, *v); }

static int value(const int *at)
{
    int v = -1;
    OK(cudaMemcpy(&v, at, sizeof(v), cudaMemcpyDeviceToHost));
    return v;
}
static void store(int *at, int v) { OK(cudaMemcpy(at, &v, sizeof(v), cudaMemcpyHostToDevice)); }
static cudaKernelNodeParams kernel(const void *function, void **args, int threads)
{
    cudaKernelNodeParams p = {};
    p.func = (void *)function;
    p.gridDim = dim3(1), p.blockDim = dim3(threads);
    p.kernelParams = args;
    return p;
}
static cudaMemAllocNodeParams bytes(size_t size)
{
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = size;
    return p;
}

// sum += 7, over memory that the graph allocates and frees
static void memory(cudaStream_t s, int *sum)
{
    cudaGraph_t g, other;
    cudaGraphExec_t x, y;
    cudaGraphNode_t n[4], no;
    cudaGraphNodeType type;
    int seven = 7;
    OK(cudaMemset(sum, 0, N * 4));
    OK(cudaGraphCreate(&g, 0));
    cudaMemAllocNodeParams p = bytes(N * 4), q;
    OK(cudaGraphAddMemAllocNode(&n[0], g, nullptr, 0, &p));
    int *d = (int *)p.dptr;
    EXPECT(d != nullptr, 1);
    EXPECT(cudaMemset(d, 0, 4), cudaErrorInvalidValue); // nobody's yet
    void *with_seven[] = {&d, &seven}, *to_sum[] = {&sum, &d};
    cudaKernelNodeParams k = kernel((void *)put, with_seven, N);
    OK(cudaGraphAddKernelNode(&n[1], g, &n[0], 1, &k));
    k = kernel((void *)add, to_sum, N);
    OK(cudaGraphAddKernelNode(&n[2], g, &n[1], 1, &k));
    OK(cudaGraphAddMemFreeNode(&n[3], g, &n[2], 1, d));
    EXPECT(cudaGraphAddMemFreeNode(&no, g, &n[2], 1, d), cudaErrorInvalidValue);
    OK(cudaGraphNodeGetType(n[0], &type));
    EXPECT(type, cudaGraphNodeTypeMemAlloc);
    OK(cudaGraphNodeGetType(n[3], &type));
    EXPECT(type, cudaGraphNodeTypeMemFree);
    OK(cudaGraphMemAllocNodeGetParams(n[0], &q));
    EXPECT(q.dptr == d && q.bytesize == N * 4, 1);
    void *freed = nullptr;
    OK(cudaGraphMemFreeNodeGetParams(n[3], &freed));
    EXPECT(freed == d, 1);
    EXPECT(cudaGraphMemFreeNodeGetParams(n[0], &freed), cudaErrorInvalidValue);
    OK(cudaGraphInstantiate(&x, g, 0));
    EXPECT(cudaGraphInstantiate(&y, g, 0), cudaErrorNotSupported); // there is one such memory
    EXPECT(cudaGraphClone(&other, g), cudaErrorNotSupported);
    EXPECT(cudaGraphDestroyNode(n[1]), cudaErrorNotSupported);
    EXPECT(cudaGraphRemoveDependencies(g, &n[0], &n[1], nullptr, 1), cudaErrorNotSupported);
    OK(cudaGraphCreate(&other, 0));
    EXPECT(cudaGraphAddChildGraphNode(&no, other, nullptr, 0, g), cudaErrorNotSupported);
    for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(x, s));
    OK(cudaGraphDestroy(g)); // the instance has it all
    OK(cudaGraphLaunch(x, s));
    OK(cudaStreamSynchronize(s));
    EXPECT(value(sum + N - 1), 28);
    OK(cudaGraphExecDestroy(x));
    EXPECT(cudaGraphMemFreeNodeGetParams(n[3], &freed), cudaErrorInvalidValue);
    EXPECT(cudaGraphAddMemFreeNode(&no, other, nullptr, 0, d), cudaErrorInvalidValue);
    for (int bad = 0; bad < 4; bad++) {
        p = bytes(bad == 0 ? 0 : 100);
        if (bad == 1) p.poolProps.location.id = 77;
        if (bad == 2) p.poolProps.handleTypes = cudaMemHandleTypePosixFileDescriptor;
        if (bad == 3) p.accessDescCount = 3;
        EXPECT(cudaGraphAddMemAllocNode(&no, other, nullptr, 0, &p), bad == 2 ? cudaErrorNotSupported : cudaErrorInvalidValue);
    }
    p = bytes((size_t)1 << 60);
    EXPECT(cudaGraphAddMemAllocNode(&no, other, nullptr, 0, &p), cudaErrorMemoryAllocation);
    OK(cudaGraphDestroy(other));
}

// What a graph does not free is the program's, until it does or the next launch may.
static void left(cudaStream_t s)
{
    cudaGraph_t g, other;
    cudaGraphExec_t x, y;
    cudaGraphNode_t a, k, f;
    int five = 5;
    unsigned long long most = 0, used = 0;
    OK(cudaGraphCreate(&g, 0));
    cudaMemAllocNodeParams p = bytes(1000);
    OK(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &p));
    int *d = (int *)p.dptr;
    void *args[] = {&d, &five};
    cudaKernelNodeParams kp = kernel((void *)put, args, N);
    OK(cudaGraphAddKernelNode(&k, g, &a, 1, &kp));
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, s));
    OK(cudaStreamSynchronize(s));
    EXPECT(value(d), 5);
    EXPECT(cudaGraphLaunch(x, s), cudaErrorInvalidValue); // it is still there
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    EXPECT(used >= 1000, 1);
    OK(cudaFree(d));
    EXPECT(cudaFree(d), cudaErrorInvalidValue);
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    EXPECT(used, 0ull);
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &most));
    EXPECT(most > 0, 1);
    OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
    EXPECT(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used), cudaErrorInvalidValue);
    EXPECT(cudaDeviceGetGraphMemAttribute(0, (cudaGraphMemAttributeType)9, &used), cudaErrorInvalidValue);
    OK(cudaDeviceGraphMemTrim(0));
    EXPECT(cudaDeviceGraphMemTrim(99), cudaErrorInvalidDevice);
    OK(cudaGraphLaunch(x, s));
    OK(cudaFreeAsync(d, s));
    OK(cudaGraphLaunch(x, s));
    OK(cudaGraphCreate(&other, 0)); // freed by another graph
    OK(cudaGraphAddMemFreeNode(&f, other, nullptr, 0, d));
    OK(cudaGraphInstantiate(&y, other, 0));
    OK(cudaGraphLaunch(y, s));
    EXPECT(cudaGraphLaunch(y, s), cudaErrorInvalidValue);
    OK(cudaStreamSynchronize(s));
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    OK(cudaGraphLaunch(x, s));
    OK(cudaGraphLaunch(x, s));
    OK(cudaGraphExecDestroy(x)); // in flight; and what it allocated stays
    OK(cudaGraphDestroy(g));
    EXPECT(value(d), 5);
    OK(cudaGraphExecDestroy(y));
    OK(cudaGraphDestroy(other));
    OK(cudaFree(d));
    EXPECT(cudaFree(d), cudaErrorInvalidValue);
}

static void captured(cudaStream_t s, int *sum)
{
    cudaGraph_t g;
    cudaGraphExec_t x;
    int *d = nullptr;
    size_t count = 0;
    OK(cudaMemset(sum, 0, N * 4));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaMallocAsync((void **)&d, N * 4, s));
    OK(cudaMemsetAsync(d, 0, N * 4, s));
    put<<<1, N / 2, 0, s>>>(d, 3);
    add<<<1, N, 0, s>>>(sum, d);
    OK(cudaFreeAsync(d, s));
    EXPECT(cudaFreeAsync(d, s), cudaErrorInvalidValue); // and the capture goes on
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphGetNodes(g, nullptr, &count));
    EXPECT(count, (size_t)5);
    OK(cudaGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 2; i++) OK(cudaGraphLaunch(x, s));
    OK(cudaStreamSynchronize(s));
    EXPECT(value(sum), 6);
    EXPECT(value(sum + N - 1), 0);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); // a capture that comes to nothing
    OK(cudaMallocAsync((void **)&d, N * 4, s));
    FAILS(cudaFreeAsync(sum, s)); // no graph's
    FAILS(cudaStreamSynchronize(s));
    FAILS(cudaStreamEndCapture(s, &g));
}

static void conditions(cudaStream_t s, int *n, int *which)
{
    cudaGraph_t g, copy;
    cudaGraphExec_t x, y;
    cudaGraphNode_t first, node, k, k2;
    cudaGraphConditionalHandle h, other, w;
    int one = 1, ten = 10, hundred = 100;
    OK(cudaGraphCreate(&g, 0));
    EXPECT(cudaGraphConditionalHandleCreate(&h, g, 0, 77), cudaErrorInvalidValue);
    OK(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
    OK(cudaGraphConditionalHandleCreate(&other, g, 0, 0));
    OK(cudaGraphConditionalHandleCreate(&w, g, 0, 0));
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.type = cudaGraphCondTypeWhile, p.conditional.size = 2, p.conditional.handle = h;
    EXPECT(cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &p), cudaErrorInvalidValue);
    p.conditional.size = 1, p.conditional.handle = 12345;
    EXPECT(cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &p), cudaErrorInvalidValue);
    // while (--*which > 0) *n += 1: at least once
    p.conditional.handle = h;
    OK(cudaGraphAddNode(&first, g, nullptr, nullptr, 0, &p));
    cudaGraph_t loop = p.conditional.phGraph_out[0];
    EXPECT(cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &p), cudaErrorInvalidValue); // a handle is for one node
    EXPECT(cudaGraphDestroy(loop), cudaErrorInvalidValue);
    void *plus_one[] = {&n, &one}, *down[] = {&h, &which};
    cudaKernelNodeParams kp = kernel((void *)more, plus_one, 1);
    OK(cudaGraphAddKernelNode(&k, loop, nullptr, 0, &kp));
    kp = kernel((void *)count_down, down, 1);
    OK(cudaGraphAddKernelNode(&k2, loop, &k, 1, &kp));
    cudaHostNodeParams hp = {[](void *) {}, nullptr};
    OK(cudaGraphAddHostNode(&node, loop, nullptr, 0, &hp));
    EXPECT(cudaGraphInstantiate(&x, g, 0), cudaErrorInvalidValue); // the device does it alone
    OK(cudaGraphDestroyNode(node));
    // then if (*which) *n += 10 else *n += 100; *which is 0 or less by now
    cudaGraphNode_t set_node, if_node, switch_node;
    void *set_other[] = {&other, &which}, *plus_ten[] = {&n, &ten}, *plus_hundred[] = {&n, &hundred};
    kp = kernel((void *)set, set_other, 1);
    OK(cudaGraphAddKernelNode(&set_node, g, &first, 1, &kp));
    p.conditional.type = cudaGraphCondTypeIf, p.conditional.size = 2, p.conditional.handle = other;
    OK(cudaGraphAddNode(&if_node, g, &set_node, nullptr, 1, &p));
    cudaGraph_t yes = p.conditional.phGraph_out[0], no = p.conditional.phGraph_out[1];
    kp = kernel((void *)more, plus_ten, 1);
    OK(cudaGraphAddKernelNode(&k, yes, nullptr, 0, &kp));
    kp = kernel((void *)more, plus_hundred, 1);
    OK(cudaGraphAddKernelNode(&k, no, nullptr, 0, &kp));
    OK(cudaGraphInstantiate(&x, g, 0));
    store(n, 0), store(which, 4);
    OK(cudaGraphLaunch(x, s));
    OK(cudaStreamSynchronize(s));
    EXPECT(value(n), 104);
    OK(cudaGraphLaunch(x, s)); // *which: 0, then -1
    OK(cudaStreamSynchronize(s));
    EXPECT(value(n), 104 + 1 + 10);
    // an instance goes on without its graph
    EXPECT(cudaGraphClone(&copy, g), cudaErrorNotSupported);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphInstantiate(&y, g, 0));
    OK(cudaGraphDestroy(g));
    EXPECT(cudaGraphAddEmptyNode(&node, loop, nullptr, 0), cudaErrorInvalidValue);
    store(n, 0), store(which, 2);
    OK(cudaGraphLaunch(y, s));
    OK(cudaStreamSynchronize(s));
    EXPECT(value(n), 102);
    OK(cudaGraphExecDestroy(y));
    // switch, with a condition within
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphConditionalHandleCreate(&h, g, 0, 0));
    void *set_h[] = {&h, &which};
    kp = kernel((void *)set, set_h, 1);
    OK(cudaGraphAddKernelNode(&set_node, g, nullptr, 0, &kp));
    p.conditional.type = cudaGraphCondTypeSwitch, p.conditional.size = 3, p.conditional.handle = h;
    OK(cudaGraphAddNode(&switch_node, g, &set_node, nullptr, 1, &p));
    cudaGraph_t cases[3] = {p.conditional.phGraph_out[0], p.conditional.phGraph_out[1], p.conditional.phGraph_out[2]};
    kp = kernel((void *)more, plus_ten, 1);
    OK(cudaGraphAddKernelNode(&k, cases[1], nullptr, 0, &kp));
    OK(cudaGraphConditionalHandleCreate(&w, cases[2], 1, cudaGraphCondAssignDefault));
    p.conditional.type = cudaGraphCondTypeIf, p.conditional.size = 1, p.conditional.handle = w;
    OK(cudaGraphAddNode(&node, cases[2], nullptr, nullptr, 0, &p));
    kp = kernel((void *)more, plus_hundred, 1);
    OK(cudaGraphAddKernelNode(&k, p.conditional.phGraph_out[0], nullptr, 0, &kp));
    OK(cudaGraphInstantiate(&x, g, 0));
    const int expected[] = {0, 10, 100, 0};
    for (int i = 0; i < 4; i++) {
        store(n, 0), store(which, i);
        OK(cudaGraphLaunch(x, s));
        OK(cudaStreamSynchronize(s));
        EXPECT(value(n), expected[i]);
    }
    // a kernel within is changed in the instance alone, by its node
    void *plus_one_more[] = {&n, &one};
    kp = kernel((void *)more, plus_one_more, 1);
    OK(cudaGraphExecKernelNodeSetParams(x, k, &kp));
    store(n, 0), store(which, 2);
    OK(cudaGraphLaunch(x, s));
    OK(cudaStreamSynchronize(s));
    EXPECT(value(n), 1);
    OK(cudaGraphExecUpdate(x, g, nullptr));
    store(n, 0);
    OK(cudaGraphLaunch(x, s));
    OK(cudaStreamSynchronize(s));
    EXPECT(value(n), 100);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
}

#define CU(call, wanted) EXPECT((int)(call), (int)(wanted))
static void memops(int *word)
{
    CUgraph g;
    CUgraphNode n;
    CUgraphExec x;
    CUgraphNodeType type;
    CUcontext context;
    CUstream s;
    CUdeviceptr d = (CUdeviceptr)word;
    store(word, 0), store(word + 2, 0);
    CU(cuCtxGetCurrent(&context), 0);
    CU(cuGraphCreate(&g, 0), 0);
    CUstreamBatchMemOpParams op[3] = {};
    op[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, op[0].writeValue.address = d, op[0].writeValue.value = 5;
    op[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32, op[1].waitValue.address = d, op[1].waitValue.value = 5;
    op[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    op[2] = op[0], op[2].writeValue.address = d + 8;
    CUDA_BATCH_MEM_OP_NODE_PARAMS p = {context, 3, op, 0}, q;
    CU(cuGraphAddBatchMemOpNode(&n, g, nullptr, 0, &p), 0);
    CU(cuGraphNodeGetType(n, &type), 0);
    CU(type, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    CU(cuGraphBatchMemOpNodeGetParams(n, &q), 0);
    CU(q.count == 3 && q.paramArray[2].writeValue.address == d + 8, 1);
    CU(cuGraphInstantiate(&x, g, 0), 0);
    CU(cuGraphLaunch(x, 0), 0);
    CU(cuCtxSynchronize(), 0);
    EXPECT(value(word), 5);
    EXPECT(value(word + 2), 5);
    op[2].writeValue.value = 6;
    CU(cuGraphExecBatchMemOpNodeSetParams(x, n, &p), 0);
    CU(cuGraphLaunch(x, 0), 0);
    CU(cuCtxSynchronize(), 0);
    EXPECT(value(word + 2), 6);
    p.count = 0;
    CU(cuGraphBatchMemOpNodeSetParams(n, &p), 0);
    p.count = 3, op[1].waitValue.address = 64;
    CU(cuGraphBatchMemOpNodeSetParams(n, &p), CUDA_ERROR_INVALID_VALUE);
    CU(cuGraphExecDestroy(x), 0);
    CU(cuGraphDestroy(g), 0);
    CU(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING), 0);
    CU(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL), 0);
    CU(cuStreamWriteValue32(s, d, 9, 0), 0);
    CU(cuStreamWaitValue32(s, d, 9, CU_STREAM_WAIT_VALUE_EQ), 0);
    CU(cuStreamEndCapture(s, &g), 0);
    EXPECT(value(word), 5);
    CU(cuGraphInstantiate(&x, g, 0), 0);
    CU(cuGraphLaunch(x, s), 0);
    CU(cuStreamSynchronize(s), 0);
    EXPECT(value(word), 9);
    CU(cuGraphExecDestroy(x), 0);
    CU(cuGraphDestroy(g), 0);
    CU(cuStreamDestroy(s), 0);
}

// A graph's references to an object are its own.
static int destroyed;
static void CUDART_CB on_destroy(void *object) { destroyed += *(int *)object; }
static void objects()
{
    static int one = 1;
    cudaUserObject_t u;
    cudaGraph_t g, copy;
    cudaGraphExec_t x;
    OK(cudaUserObjectCreate(&u, &one, on_destroy, 2, cudaUserObjectNoDestructorSync));
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphRetainUserObject(g, u, 1000000000, 0));
    EXPECT(cudaGraphRetainUserObject(g, u, 3, cudaGraphUserObjectMove), cudaErrorInvalidValue); // it has two
    EXPECT(cudaUserObjectRelease(u, 3), cudaErrorInvalidValue);
    OK(cudaUserObjectRelease(u, 1));
    OK(cudaGraphRetainUserObject(g, u, 1, cudaGraphUserObjectMove));
    EXPECT(cudaUserObjectRelease(u, 1), cudaErrorInvalidValue); // none of the program's is left
    OK(cudaGraphClone(&copy, g));
    OK(cudaGraphInstantiate(&x, g, 0));
    EXPECT(cudaGraphReleaseUserObject(g, u, 1000000002), cudaErrorInvalidValue);
    OK(cudaGraphReleaseUserObject(g, u, 1000000001));
    EXPECT(cudaGraphReleaseUserObject(g, u, 1), cudaErrorInvalidValue);
    OK(cudaGraphDestroy(g));
    OK(cudaGraphDestroy(copy));
    EXPECT(destroyed, 0);
    OK(cudaGraphExecDestroy(x));
    EXPECT(destroyed, 1);
    EXPECT(cudaUserObjectRetain(u, 1), cudaErrorInvalidValue);
}

int main()
{
    int *a, *b;
    cudaStream_t s;
    OK(cudaMalloc(&a, N * 4));
    OK(cudaMalloc(&b, N * 4));
    OK(cudaStreamCreate(&s));
    memory(s, a);
    left(s);
    captured(s, a);
    conditions(s, a, b);
    memops(a);
    objects();
    OK(cudaStreamDestroy(s));
    OK(cudaFree(a));
    OK(cudaFree(b));
    DONE();
}
