// overrun.cu - accesses beyond their allocation that a GPU does not notice: neighbours are read and written, what is nobody's
// reads as zero and keeps what is stored, lanes inside are as ever; all instructions, in loops and by several blocks.
// ENV: MARGAY_DEVICE=90
// EXPECT: cudaSuccess
// EXPECT: inside 4950, between 0, neighbour 4950
// EXPECT: stored 128, left 1, vector 99 0 0 0
// EXPECT: added 32, swapped 5
// STDERR: margay: warning: kernel sum(int const*, int*, int)
// STDERR: bytes past the end of an allocation of 400 bytes
// ONCE: overrun.cu:@load
// STDERR: margay: warning: kernel store(int*)
// ONCE: overrun.cu:@store
// ONCE: overrun.cu:@many
// ONCE: overrun.cu:@more
// STDERR: margay: warning: kernel vector(int4*, int4*)
// STDERR: 12 bytes past the end of an allocation of 4 bytes
// STDERR: margay: warning: kernel atomics(int*)
#include <cstdio>

__global__ void sum(const int *p, int *out, int n)
{
    int s = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        s += p[i]; // @load
    atomicAdd(out, s);
}
__global__ void store(int *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = 1; // @store
}
__global__ void vector(int4 *p, int4 *q)
{
    *q = *p;
}
__global__ void atomics(int *p)
{
    atomicAdd(&p[100], 1);
    atomicExch(&p[101], 5);
}
__global__ void many(const int *p, int *q)
{
    int v = blockIdx.x > 7 ? p[100 + threadIdx.x % 4] : 0; // @many
    if (blockIdx.x != 5)
        v += p[101 + blockIdx.x % 4] + p[99]; // @more
    q[blockIdx.x] = v;
}

int main()
{
    int *a, *b, *out, h[200] = {0}, sums[3];
    int4 *q, v;
    cudaMalloc(&a, 400); // the next allocation begins at the next multiple of 512, at least 256 bytes on
    cudaMalloc(&b, 400);
    cudaMalloc(&out, 64);
    cudaMalloc(&q, 16);
    int apart = (int)(b - a);
    for (int i = 0; i < 100; i++)
        h[i] = i;
    cudaMemcpy(a, h, 400, cudaMemcpyHostToDevice);
    cudaMemcpy(b, h, 400, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, 64);
    sum<<<1, 32>>>(a, out, 100);
    sum<<<1, 32>>>(a + 100, out + 1, apart - 100);
    sum<<<1, 32>>>(a, out + 2, apart + 100);
    cudaMemcpy(sums, out, 12, cudaMemcpyDeviceToHost);
    store<<<4, 32>>>(a);
    int *firsts;
    cudaMalloc(&firsts, 256);
    for (int i = 0; i < 50; i++)
        many<<<64, 64>>>(a, firsts);
    cudaMemset(out, 0, 64);
    sum<<<1, 32>>>(a, out, 128);
    sum<<<1, 32>>>(a + 127, out + 1, 1);
    cudaError_t e = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorName(e));
    printf("inside %d, between %d, neighbour %d\n", sums[0], sums[1], sums[2] - sums[0]);
    cudaMemcpy(h, out, 8, cudaMemcpyDeviceToHost);
    int *one, last = 99;
    cudaMalloc(&one, 4);
    cudaMemcpy(one, &last, 4, cudaMemcpyHostToDevice);
    vector<<<1, 1>>>((int4 *)one, q);
    cudaMemcpy(&v, q, 16, cudaMemcpyDeviceToHost);
    printf("stored %d, left %d, vector %d %d %d %d\n", h[0], h[1], v.x, v.y, v.z, v.w);
    int *c;
    cudaMalloc(&c, 400);
    atomics<<<1, 32>>>(c);
    cudaMemset(out, 0, 64);
    sum<<<1, 32>>>(c + 100, out, 1);
    sum<<<1, 32>>>(c + 101, out + 1, 1);
    cudaMemcpy(h, out, 8, cudaMemcpyDeviceToHost);
    printf("added %d, swapped %d\n", h[0], h[1]);
    return 0;
}
