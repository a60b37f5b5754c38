// per_thread.cu - a program built with --default-stream per-thread: stream 0 is the calling thread's own, for launches,
// copies, fills and waits; the legacy default stream waits for all threads'.
// RUN: -std=c++17 --default-stream per-thread
// ENV: MARGAY_DEVICE=90 MARGAY_TIMEOUT=60
// EXPECT: ok
#include "check.h"
#include <thread>

typedef volatile int flag;
__global__ void await(flag *f, int value, int *out)
{
    while (*f != value)
        ;
    *out = value;
}
__global__ void twice(int *out, const int *in) { *out = 2 * *in; }

int main()
{
    int *h, *d, back = -1;
    cudaEvent_t e;
    OK(cudaHostAlloc((void **)&h, 64, cudaHostAllocMapped));
    OK(cudaMalloc((void **)&d, 64));
    OK(cudaEventCreate(&e));
    memset(h, 0, 64);
    OK(cudaMemset(d, 0, 64));
    await<<<1, 1>>>(h, 1, h + 1);
    OK(cudaEventRecord(e, 0));
    OK(cudaMemcpyAsync(d + 1, h + 1, 4, cudaMemcpyHostToDevice, 0));
    IS(cudaStreamQuery(0), cudaErrorNotReady);
    std::thread([&] { /* goes past */
        OK(cudaStreamQuery(0));
        OK(cudaMemcpy(&back, d, 4, cudaMemcpyDeviceToHost));
        TRUE(back == 0);
        twice<<<1, 1>>>(h + 2, h + 1);
        OK(cudaStreamSynchronize(0));
        TRUE(h[1] == 0);
        OK(cudaStreamWaitEvent(0, e, 0));
        OK(cudaMemsetAsync(d + 2, 1, 4, 0));
        IS(cudaStreamQuery(0), cudaErrorNotReady);
    }).join();
    twice<<<1, 1, 0, cudaStreamLegacy>>>(h + 3, h + 1);
    IS(cudaStreamQuery(cudaStreamLegacy), cudaErrorNotReady);
    TRUE(h[3] == 0);
    *(flag *)h = 1;
    OK(cudaMemcpy(&back, d + 1, 4, cudaMemcpyDeviceToHost)); /* of this thread's stream */
    TRUE(back == 1);
    OK(cudaStreamSynchronize(cudaStreamLegacy));
    TRUE(h[3] == 2);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(&back, d + 2, 4, cudaMemcpyDeviceToHost));
    TRUE(back == 0x01010101);
    DONE();
}
