// streams_events.cu - pieces of an array through three streams, an event between two, time measured
#include <cstdio>
#include <cstdlib>

#define CK(call)                                                           \
    do {                                                                   \
        cudaError_t error_ = (call);                                       \
        if (error_ != cudaSuccess) {                                       \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

static int finish(bool good)
{
    puts(good ? "PASS" : "FAIL");
    return !good;
}

__global__ void scale(float *x, int n, float f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= f;
}

int main()
{
    const int n = 900, pieces = 3, each = n / pieces;
    float *host, *d, ms = -1;
    cudaStream_t stream[pieces];
    cudaEvent_t begin, end, middle;
    CK(cudaMallocHost(&host, n * sizeof(float)));
    CK(cudaMalloc(&d, n * sizeof(float)));
    CK(cudaEventCreate(&begin));
    CK(cudaEventCreate(&end));
    CK(cudaEventCreateWithFlags(&middle, cudaEventDisableTiming));
    for (int i = 0; i < n; i++)
        host[i] = i;
    CK(cudaEventRecord(begin));
    for (int p = 0; p < pieces; p++) {
        CK(cudaStreamCreate(&stream[p]));
        CK(cudaMemcpyAsync(d + p * each, host + p * each, each * sizeof(float), cudaMemcpyHostToDevice, stream[p]));
        scale<<<3, 128, 0, stream[p]>>>(d + p * each, each, 2);
    }
    CK(cudaEventRecord(middle, stream[0]));
    CK(cudaStreamWaitEvent(stream[1], middle, 0));
    scale<<<3, 128, 0, stream[1]>>>(d, each, 3); /* the first stream's piece, after the event */
    for (int p = 0; p < pieces; p++)
        CK(cudaStreamSynchronize(stream[p]));
    CK(cudaMemcpy(host, d, n * sizeof(float), cudaMemcpyDeviceToHost));
    CK(cudaEventRecord(end));
    CK(cudaEventSynchronize(end));
    CK(cudaEventElapsedTime(&ms, begin, end));
    bool good = ms >= 0;
    for (int i = 0; i < n; i++)
        good &= host[i] == i * (i < each ? 6.0f : 2.0f);
    for (cudaStream_t s : stream)
        CK(cudaStreamDestroy(s));
    for (cudaEvent_t e : {begin, end, middle})
        CK(cudaEventDestroy(e));
    CK(cudaFreeHost(host));
    CK(cudaFree(d));
    return finish(good);
}
