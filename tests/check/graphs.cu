/* graphs.cu - nodes of graphs without an order between them, made by hand and by capture. cases.cuh says how to read it. */
#include "cases.cuh"

template <bool fault> static cudaGraphNode_t node(cudaGraph_t graph, cudaGraphNode_t *before, size_t n, void *kernel,
                                                  void **args)
{
    cudaGraphNode_t made;
    cudaKernelNodeParams p = {};
    p.func = kernel;
    p.gridDim = dim3(1), p.blockDim = dim3(64);
    p.kernelParams = args;
    cudaGraphAddKernelNode(&made, graph, before, n, &p);
    return made;
}
template <bool fault> static void launch(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    cudaDeviceSynchronize(); /* what the memory was cleared by is over */
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

/* The edge is missing. */
template <bool fault> __global__ void produce(int *data)
{
    data[threadIdx.x] = threadIdx.x + 1; // ALSO: race/streams
}
template <bool fault> __global__ void consume(const int *data, int *out)
{
    out[threadIdx.x] = data[threadIdx.x]; // EXPECT: race/streams
}
CASE(no_edge, 0)
{
    int *data = zeros(64), *out = zeros(64);
    cudaGraph_t graph;
    void *a[] = {&data}, *b[] = {&data, &out};
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t first = node<fault>(graph, nullptr, 0, (void *)produce<fault>, a);
    node<fault>(graph, &first, fault ? 0 : 1, (void *)consume<fault>, b);
    launch<fault>(graph);
}

/* Two branches come together, and one of them is left out. */
template <bool fault> __global__ void left(int *data)
{
    data[threadIdx.x] = threadIdx.x;
}
template <bool fault> __global__ void right(int *data)
{
    data[64 + threadIdx.x] = threadIdx.x; // ALSO: race/streams
}
template <bool fault> __global__ void both(const int *data, int *out)
{
    out[threadIdx.x] = data[threadIdx.x] + data[64 + threadIdx.x]; // EXPECT: race/streams
}
CASE(half_a_join, 0)
{
    int *data = zeros(128), *out = zeros(64);
    cudaGraph_t graph;
    void *a[] = {&data}, *b[] = {&data, &out};
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t branches[] = {node<fault>(graph, nullptr, 0, (void *)left<fault>, a),
                                  node<fault>(graph, nullptr, 0, (void *)right<fault>, a)};
    node<fault>(graph, branches, fault ? 1 : 2, (void *)both<fault>, b);
    launch<fault>(graph);
}

/* Captured: the other stream forks before the kernel that it needs. */
template <bool fault> __global__ void fills(int *data)
{
    data[threadIdx.x] = 1; // ALSO: race/streams
}
template <bool fault> __global__ void reads(const int *data, int *out)
{
    out[threadIdx.x] = data[threadIdx.x]; // EXPECT: race/streams
}
CASE(forks_early, 0)
{
    int *data = zeros(64), *out = zeros(64);
    cudaGraph_t graph;
    cudaStream_t s, t;
    cudaEvent_t fork, join;
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    if (fault)
        cudaEventRecord(fork, s);
    fills<fault><<<1, 64, 0, s>>>(data);
    if (!fault)
        cudaEventRecord(fork, s);
    cudaStreamWaitEvent(t, fork, 0);
    reads<fault><<<1, 64, 0, t>>>(data, out);
    cudaEventRecord(join, t);
    cudaStreamWaitEvent(s, join, 0);
    cudaStreamEndCapture(s, &graph);
    launch<fault>(graph);
}

/* A child is behind what its node is behind, and no more. */
template <bool fault> __global__ void before_child(int *data)
{
    data[threadIdx.x] = 2; // ALSO: race/streams
}
template <bool fault> __global__ void in_child(int *data)
{
    data[threadIdx.x] += 1; // EXPECT: race/streams
}
CASE(child_too_early, 0)
{
    int *data = zeros(64);
    cudaGraph_t graph, child;
    cudaGraphNode_t made;
    void *a[] = {&data};
    cudaGraphCreate(&child, 0);
    node<fault>(child, nullptr, 0, (void *)in_child<fault>, a);
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t first = node<fault>(graph, nullptr, 0, (void *)before_child<fault>, a);
    cudaGraphAddChildGraphNode(&made, graph, &first, fault ? 0 : 1, child);
    cudaGraphDestroy(child);
    launch<fault>(graph);
}
