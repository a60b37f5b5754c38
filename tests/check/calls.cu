/* calls.cu - calls of the host that fail, and what it does with the answer. cases.cuh says how to read it. Compiled with -g: the
 * lines are the host's. A fault ends the program, for what is not looked at is told at the end. */
#include "cases.cuh"

__constant__ int table[4];
__device__ int counter;

template <bool fault> __global__ void use(int *out)
{
    out[threadIdx.x] = table[threadIdx.x % 4];
}
static void leave(bool fault)
{
    cudaDeviceSynchronize();
    if (fault)
        exit(0);
}

CASE(table_too_small, ALONE)
{
    int host[8] = {};
    cudaMemcpyToSymbol(table, host, fault ? 32 : 16); // EXPECT: launch/copy-shape
    use<fault><<<1, 4>>>(zeros(4));
}

CASE(symbol_of_the_host, ALONE)
{
    int host[4] = {};
    cudaMemcpyToSymbol(fault ? (const void *)host : (const void *)table, host, 16); // EXPECT: launch/copy-shape
    use<fault><<<1, 4>>>(zeros(4));
}

CASE(pitch_below_the_row, ALONE)
{
    int host[64] = {}, *image = zeros(64);
    cudaMemcpy2D(image, fault ? 32 : 64, host, 64, 64, 4, cudaMemcpyHostToDevice); // EXPECT: launch/copy-shape
    use<fault><<<1, 4>>>(image);
}

CASE(stream_destroyed, ALONE)
{
    cudaStream_t stream;
    int *out = zeros(4);
    cudaStreamCreate(&stream);
    if (fault)
        cudaStreamDestroy(stream);
    use<fault><<<1, 4, 0, stream>>>(out); // EXPECT: launch/handle
    if (!fault)
        cudaStreamDestroy(stream);
    use<fault><<<1, 4>>>(out);
}

CASE(event_destroyed, ALONE)
{
    cudaEvent_t event;
    cudaEventCreate(&event);
    use<fault><<<1, 4>>>(zeros(4));
    if (fault)
        cudaEventDestroy(event);
    cudaEventRecord(event); // EXPECT: launch/handle
    if (!fault)
        cudaEventDestroy(event);
}

CASE(event_waited_for_too_late, ALONE)
{
    cudaStream_t stream;
    cudaEvent_t event;
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    cudaEventRecord(event, stream);
    use<fault><<<1, 4>>>(zeros(4));
    if (fault)
        cudaEventDestroy(event);
    cudaStreamWaitEvent(stream, event, 0); // EXPECT: launch/handle
    if (!fault)
        cudaEventDestroy(event);
    cudaStreamDestroy(stream);
}

/* More memory than there is, and nobody asks. */
CASE(allocation_refused, ALONE)
{
    void *p = nullptr;
    use<fault><<<1, 4>>>(zeros(4));
    cudaMalloc(&p, fault ? (size_t)1 << 50 : 1 << 10); // EXPECT: launch/call-failed
    leave(fault);
    cudaFree(p);
}

CASE(no_such_device, ALONE)
{
    int *out = zeros(4);
    cudaSetDevice(fault ? 99 : 0); // EXPECT: launch/call-failed
    use<fault><<<1, 4>>>(out);
    leave(fault);
}

/* The right twins do fail, and look. */
CASE(looked_at, ALONE)
{
    void *p = nullptr;
    use<fault><<<1, 4>>>(zeros(4));
    if (fault) {
        cudaMalloc(&p, (size_t)1 << 50); // EXPECT: launch/call-failed
        leave(true);
    } else if (cudaMalloc(&p, (size_t)1 << 50) != cudaSuccess) {
        p = nullptr;
    }
}

CASE(attribute_refused, ALONE)
{
    cudaFuncSetCacheConfig(use<fault>, cudaFuncCachePreferL1);
    use<fault><<<1, 4>>>(zeros(4));
    cudaFuncSetAttribute(use<fault>, (cudaFuncAttribute)77, 1); // EXPECT: launch/call-failed
    leave(fault);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}

/* Through a wrapper of the headers, and one of the program. The last one, and in a process of its own, for it leaves before
 * anybody asks for the last error. */
static cudaError_t room_for(int **p, size_t n)
{
    return cudaMalloc(p, n * sizeof(int));
}
CASE(looked_at_through_wrappers, ALONE | PEDANTIC)
{
    int *p = nullptr, *q = nullptr;
    use<fault><<<1, 4>>>(zeros(4));
    if (fault) {
        cudaMalloc(&q, (size_t)1 << 50); // EXPECT: launch/call-failed
        leave(true);
    }
    if (cudaMalloc(&p, (size_t)1 << 50) != cudaSuccess)
        p = zeros(1);
    if (room_for(&q, (size_t)1 << 50))
        q = p;
    if (q)
        use<fault><<<1, 4>>>(zeros(4));
    leave(true);
}
