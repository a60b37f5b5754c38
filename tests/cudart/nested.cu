// nested.cu - a kernel that launches another: told at the line of the launch, when it is reached and not before.
// RUN: -arch=sm_90
// EXPECT: plain 7
// EXPECT: not taken 0 3
// EXPECT: taken 801
// EXPECT: after 0 7
// STDERR: kernel parent(int*, int): the kernel launches kernels (CUDA dynamic parallelism), which is not simulated
// STDERR: nested.cu:@launch
// STDERR: inlined there
#include <cstdio>

__global__ void child(int *p)
{
    p[threadIdx.x] = 7;
}

__global__ void parent(int *p, int n)
{
    p[0] = 3;
    if (n)
        child<<<1, n>>>(p); // @launch
}

static int first(int *p)
{
    int value = -1;
    cudaMemcpy(&value, p, sizeof(int), cudaMemcpyDeviceToHost);
    return value;
}

int main()
{
    int *p;
    cudaMalloc(&p, 128);
    child<<<1, 1>>>(p);
    printf("plain %d\n", first(p));
    parent<<<1, 1>>>(p, 0);
    int error = cudaGetLastError();
    printf("not taken %d %d\n", error, first(p));
    parent<<<1, 1>>>(p, 32);
    printf("taken %d\n", cudaGetLastError());
    child<<<1, 32>>>(p);
    error = cudaGetLastError();
    printf("after %d %d\n", error, first(p));
    return 0;
}
