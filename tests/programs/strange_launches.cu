// strange_launches.cu - kernels with nothing in them, one thread, a huge grid, early returns, shared memory alone
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

__global__ void empty()
{
}

__global__ void say(int quiet)
{
    if (!quiet)
        printf("thread %d\n", threadIdx.x);
}

__global__ void shared_only(int seed)
{
    __shared__ volatile int s[64];
    s[threadIdx.x] = seed;
    __syncthreads();
    if (s[63 - threadIdx.x] != seed)
        __trap();
}

__global__ void only_barriers()
{
    for (int i = 0; i < 3; i++)
        __syncthreads();
}

__global__ void leave(int *p)
{
    if (blockIdx.x != 5 || threadIdx.x != 3)
        return;
    *p = 1;
}

__global__ void never(int *p, int n)
{
    if (n)
        *p = 2;
}

__constant__ int table[32];

__global__ void constants_only(int i)
{
    if (table[(threadIdx.x * i) % 32] == 12345)
        __trap();
}

__global__ void registers_only(float x)
{
    for (int i = 0; i < 10; i++)
        x = x * x + threadIdx.x;
    if (x == 0.12345f)
        __trap();
}

__global__ void local_only(int n)
{
    volatile int a[16];
    for (int i = 0; i < 16; i++)
        a[i] = i + n;
    if (a[n % 16] != n % 16 + n)
        __trap();
}

__global__ void atomics_only(int *p)
{
    atomicAdd(p, 1);
}

int main()
{
    int *d, got[2];
    CK(cudaMalloc(&d, 2 * sizeof(int)));
    CK(cudaMemset(d, 0, 2 * sizeof(int)));
    for (unsigned threads : {1u, 33u, 1024u})
        empty<<<2, threads>>>();
    empty<<<dim3(3000, 2, 2), 1>>>();
    say<<<1, 2>>>(0);
    say<<<1, 2>>>(1);
    shared_only<<<2, 64>>>(7);
    only_barriers<<<2, 96>>>();
    leave<<<700, 40>>>(d);
    never<<<3, 32>>>(d, 0);
    constants_only<<<1, 32>>>(3);
    registers_only<<<1, 1>>>(0.5f);
    local_only<<<1, 1>>>(3);
    atomics_only<<<dim3(1, 1, 3), dim3(1, 1, 5)>>>(d + 1);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(got, d, sizeof(got), cudaMemcpyDeviceToHost));
    CK(cudaFree(d));
    return finish(got[0] == 1 && got[1] == 15);
}
