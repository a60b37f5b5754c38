// queue_ends.cu - what becomes of work that waits when it faults, when what it waits for never comes, when the program
// ends first.
// ENV: MARGAY_DEVICE=90 MARGAY_TIMEOUT=4
// EXPECT: ok
// CASE fault: STDERR: kernel store(int*, int)
// CASE fault: STDERR: queue_ends.cu:@fault
// CASE meet: STDERR: deadlock: all threads wait in loops for what none of them will do; block 0: warp 0 at queue_ends.cu:@await
// CASE full: STDERR: the launch ran longer than its limit of 4 s
// CASE left: STDERR: the program ended, and this launch had not: it was waiting; block 0: warp 0 at queue_ends.cu:@await
// CASE behind: STDERR: the program ended, and this launch had not
#include "check.h"

typedef volatile int flag;
__global__ void await(flag *f, int value, int *out)
{
    while (*f != value) // @await
        ;
    *out = 1;
}
__global__ void store(int *out, int value)
{
    out[threadIdx.x] = value; // @fault
}
__global__ void crowd(flag *f)
{
    while (*f == 0)
        ;
}

int main(int, char **args)
{
    cudaStream_t a, b;
    int *h;
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaHostAlloc((void **)&h, 64, cudaHostAllocMapped));
    memset(h, 0, 64);
    if (!strcmp(args[1], "fault")) { /* found behind what waits, at the next call that waits, and it stays */
        await<<<1, 1, 0, a>>>(h, 1, h + 1);
        store<<<1, 1, 0, a>>>(NULL, 1);
        store<<<1, 1, 0, a>>>(h + 2, 1); /* never begins */
        OK(cudaGetLastError());
        IS(cudaStreamQuery(a), cudaErrorNotReady);
        *(flag *)h = 1;
        IS(cudaStreamSynchronize(a), cudaErrorIllegalAddress);
        IS(cudaGetLastError(), cudaErrorIllegalAddress);
        IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
        TRUE(h[1] == 1 && h[2] == 0);
    } else if (!strcmp(args[1], "meet")) { /* each waits for the other */
        await<<<1, 1, 0, a>>>(h, 1, h + 1);
        await<<<1, 1, 0, b>>>(h + 1, 1, h);
        IS(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
        IS(cudaGetLastError(), cudaErrorLaunchTimeout);
    } else if (!strcmp(args[1], "full")) { /* what fits beside a crowd goes on, what does not waits for it */
        OK(cudaFuncSetAttribute(crowd, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
        OK(cudaFuncSetAttribute(store, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
        crowd<<<132, 32, 200 << 10, a>>>(h);
        store<<<1, 1, 8 << 10, b>>>(h + 1, 1);
        OK(cudaStreamSynchronize(b));
        TRUE(h[1] == 1);
        store<<<132 * 4, 1, 8 << 10, b>>>(h + 2, 1); /* some of its blocks at a time */
        OK(cudaStreamSynchronize(b));
        crowd<<<132, 1, 20 << 10, b>>>(h + 3);
        store<<<1, 1, 100 << 10, cudaStreamPerThread>>>(h, 1);
        IS(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
        IS(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
        TRUE(h[0] == 0);
    } else if (!strcmp(args[1], "left")) {
        await<<<1, 1, 0, a>>>(h, 1, h + 1);
    } else if (!strcmp(args[1], "behind")) { /* the first is ended, and the second has its turn */
        await<<<1, 1, 0, a>>>(h, 1, h + 1);
        store<<<1, 1, 0, a>>>(h + 2, 1);
        store<<<1, 1, 0, b>>>(h + 3, 1);
        OK(cudaStreamSynchronize(b));
        TRUE(h[2] == 0 && h[3] == 1);
    }
    DONE();
}
