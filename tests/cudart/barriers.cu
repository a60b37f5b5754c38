// barriers.cu - numbers of barriers and of threads that PTX does not allow and an H200 takes for others.
// ENV: MARGAY_DEVICE=90
// EXPECT: 17 meets 1: 0 wrong, cudaSuccess
// EXPECT: 4096 threads are all: 0 wrong, cudaSuccess
// EXPECT: no threads are all: 0 wrong, cudaSuccess
// EXPECT: 33 threads: not cudaSuccess
// STDERR: barrier 17: a block has 16
// STDERR: A GPU takes it for barrier 1, for 64 threads
// STDERR: a barrier for 4096 threads: the number
// STDERR: A GPU takes it for barrier 2, for all threads of the block
// STDERR: a barrier for 0 threads
// STDERR: the number must be a multiple of 32
#include <cstdio>

// Each thread reads what another warp's has written before the barrier. A warning comes once a line, so there are four.
#define MEET(kernel)                                                                                                   \
    __global__ void kernel(int first, int second, int threads, int *wrong)                                             \
    {                                                                                                                  \
        __shared__ int said[64];                                                                                       \
        int me = threadIdx.x;                                                                                          \
        said[me] = me;                                                                                                 \
        asm volatile("bar.sync %0, %1;" ::"r"(me < 32 ? first : second), "r"(threads) : "memory");                     \
        if (said[63 - me] != 63 - me)                                                                                  \
            atomicAdd(wrong, 1);                                                                                       \
    }
MEET(other)
MEET(many)
MEET(none)
MEET(odd)

static void run(void (*kernel)(int, int, int, int *), const char *what, int first, int second, int threads)
{
    int *wrong, n = -1;
    cudaMalloc(&wrong, sizeof(int));
    cudaMemset(wrong, 0, sizeof(int));
    kernel<<<1, 64>>>(first, second, threads, wrong);
    cudaMemcpy(&n, wrong, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%s: %d wrong, %s\n", what, n, cudaGetErrorName(cudaDeviceSynchronize()));
}

int main()
{
    run(other, "17 meets 1", 17, 1, 64);
    run(many, "4096 threads are all", 2, 2, 4096);
    run(none, "no threads are all", 3, 3, 0);
    int *wrong;
    cudaMalloc(&wrong, sizeof(int));
    odd<<<1, 64>>>(1, 1, 33, wrong);
    printf("33 threads: %s\n", cudaDeviceSynchronize() == cudaSuccess ? "cudaSuccess" : "not cudaSuccess");
    return 0;
}
