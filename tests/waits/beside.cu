// beside.cu - under `margay check`: what overlaps is checked within each launch, nothing is claimed between them, and
// the order that streams state still is.
// tests/waits/streams.py says what is to be found.
#include "../cudart/check.h"

typedef volatile int flag;
/* They tell each other through flags, and read what the other has written into memory that nobody had. */
__global__ void left(flag *mine, flag *other, int *a, const int *b, int n)
{
    for (int i = 1; i <= n; i++) {
        a[i] = i;
        __threadfence();
        *mine = i;
        while (*other < i)
            ;
        __threadfence();
        a[0] = b[i];
    }
}
__global__ void racy(flag *mine, flag *other, int *out)
{
    *mine = 1;
    while (*other != 3)
        ;
    out[0] = threadIdx.x; // @racy
}
__global__ void clean(int *out) { out[threadIdx.x] = 1; }

int main(int, char **args)
{
    cudaStream_t s, t;
    int *f, *a, *b, *c;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaMalloc((void **)&f, 16));
    OK(cudaMalloc((void **)&a, 512));
    OK(cudaMalloc((void **)&b, 512));
    OK(cudaMalloc((void **)&c, 512));
    OK(cudaMemset(f, 0, 16));
    OK(cudaDeviceSynchronize());
    if (!strcmp(args[1], "clean")) {
        left<<<1, 1, 0, s>>>(f, f + 1, a, b, 50);
        left<<<1, 1, 0, t>>>(f + 1, f, b, a, 50);
        OK(cudaDeviceSynchronize());
        clean<<<1, 32, 0, s>>>(c);
        cudaEvent_t e;
        OK(cudaEventCreate(&e));
        OK(cudaEventRecord(e, s));
        OK(cudaStreamWaitEvent(t, e, 0));
        clean<<<1, 32, 0, t>>>(c);
    } else { /* the race within one launch is found, the one between two streams as well */
        racy<<<1, 64, 0, s>>>(f, f + 1, c);
        left<<<1, 1, 0, t>>>(f + 1, f + 1, a, b, 3);
        OK(cudaDeviceSynchronize());
        clean<<<1, 32, 0, s>>>(b);
        clean<<<1, 32, 0, t>>>(b);
    }
    OK(cudaDeviceSynchronize());
    DONE();
}
