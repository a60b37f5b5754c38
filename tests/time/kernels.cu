/* kernels.cu - launches whose times can be worked out by hand, or whose order everybody knows; test_time.py says which. */
#include <cstdio>

__global__ void nothing() {}

/* One chain: each product waits for the one before. */
template <int rounds> __global__ void chain(float *o)
{
    float v = (float)threadIdx.x;
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 64; k++)
            v = v * 0.5f + 1.5f;
    o[threadIdx.x] = v;
}
__global__ void copy(float4 *o, const float4 *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    o[i] = a[i];
}
template <int stride> __global__ void banks(float *o)
{
    __shared__ float s[1024];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x)
        s[k] = (float)k;
    __syncthreads();
    float v = 0;
    for (int r = 0; r < 256; r++)
        v += s[(threadIdx.x * stride + r) & 1023];
    o[threadIdx.x] = v;
}
__global__ void turn_naive(float *o, const float *a, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        o[x * n + y + k] = a[(y + k) * n + x];
}
__global__ void turn_tiled(float *o, const float *a, int n)
{
    __shared__ float s[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        s[threadIdx.y + k][threadIdx.x] = a[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        o[(y + k) * n + x] = s[threadIdx.x][threadIdx.y + k];
}
/* Halves of warps that go different ways; a loop whose rounds differ from block to block; a barrier. */
__global__ void uneven(float *o)
{
    float v = (float)threadIdx.x;
    for (int r = 0; r < (int)(blockIdx.x % 5) * 10; r++)
        v = threadIdx.x & 1 ? v * 0.5f + 1 : sqrtf(v + 2);
    __syncthreads();
    atomicAdd(o + blockIdx.x % 7, v);
}

int main()
{
    const int n = 1024;
    float *o, *a;
    if (cudaMalloc(&o, n * n * 4) || cudaMalloc(&a, n * n * 4) || cudaMemset(a, 0, n * n * 4))
        return 1;
    nothing<<<1, 32>>>();
    chain<50><<<1, 32>>>(o);
    chain<150><<<1, 32>>>(o);
    copy<<<n * n / 4 / 256, 256>>>((float4 *)o, (float4 *)a);
    banks<1><<<132, 256>>>(o);
    banks<32><<<132, 256>>>(o);
    turn_naive<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(o, a, n);
    turn_tiled<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(o, a, n);
    uneven<<<1000, 96>>>(o);
    if (cudaDeviceSynchronize())
        return 1;
    puts("ok");
    return 0;
}
