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
/* A table among the arguments: all lanes ask for one word of it, or each for another. */
struct table {
    int word[64];
};
template <int apart> __global__ void pick(int *o, const __grid_constant__ table t, int rounds)
{
    int at = threadIdx.x * apart % 64;
    for (int r = 0; r < rounds; r++)
        at = (t.word[at] + threadIdx.x * apart) % 64;
    o[threadIdx.x] = at;
}
/* Constants that all lanes read together, one after the other. */
__constant__ float3 lines_to[256];
__global__ void together(int *o)
{
    float x = (float)threadIdx.x, y = (float)blockIdx.x;
    int left = 0;
    for (int k = 0; k < 256; k++)
        left += lines_to[k].x * x + lines_to[k].y * y > lines_to[k].z;
    o[blockIdx.x * blockDim.x + threadIdx.x] = left;
}
/* A loop that half of the warps leave in one place, and half in another, all in the same round: or all in one place. */
template <bool two> __global__ void left(float *o, const int *even, const int *odd)
{
    const int *mine = threadIdx.x / 32 % 2 ? odd : even, first = mine[0], second = mine[1];
    float v = (float)threadIdx.x;
    for (int r = 0;; r++) {
        if (r == first)
            break;
        for (int k = 0; k < 8; k++)
            v = v * 0.5f + o[k];
        if (two && r == second)
            break;
        v = sqrtf(v + 2);
    }
    o[threadIdx.x] = v;
}
/* Floats added in shared memory: each lane to a place of its own, or all of a warp to one. */
template <int apart> __global__ void added(float *o)
{
    __shared__ float s[32];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int r = 0; r < 64; r++)
        atomicAdd(&s[threadIdx.x * apart], 1.0f);
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x];
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
/* Loops whose rounds are a multiple of what they are unrolled by: nothing is left for what comes behind them. */
__global__ void from_block(float *o, const float *a, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = blockIdx.y * m; k < blockIdx.y * m + m; k++)
        sum += a[k * 8192 + i % 8192];
    o[i] = sum;
}
__global__ void nested(float *o, const float *a, int rounds, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < n; k++)
            sum += a[(r * n + k) * 8192 + i % 8192];
    o[i] = sum;
}
/* Two ways, each with its own end: by lane both are gone, by warp one. */
template <int lanes> __global__ void parted(float *o, const float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = a[i];
    if (i / lanes % 2) {
        for (int k = 0; k < 400; k++)
            v = v * 1.1f + 0.3f;
        o[i] = v;
    } else {
        for (int k = 0; k < 400; k++)
            v = v * v + 0.7f;
        o[i] = v * 2;
    }
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
    together<<<1024, 256>>>((int *)o);
    turn_naive<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(o, a, n);
    turn_tiled<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(o, a, n);
    banks<96><<<132, 32>>>(o);
    table t;
    for (int k = 0; k < 64; k++)
        t.word[k] = k;
    pick<0><<<132, 256>>>((int *)o, t, 64);
    pick<1><<<132, 256>>>((int *)o, t, 64);
    int *rounds, ways[] = {500, 500, 500, 1 << 30, 1 << 30, 500};
    if (cudaMalloc(&rounds, sizeof(ways)) || cudaMemcpy(rounds, ways, sizeof(ways), cudaMemcpyHostToDevice))
        return 1;
    left<false><<<132, 256>>>(o, rounds, rounds);
    left<true><<<132, 256>>>(o, rounds + 2, rounds + 4);
    added<1><<<132, 32>>>(o);
    added<0><<<132, 32>>>(o);
    uneven<<<1000, 96>>>(o);
    from_block<<<dim3(256, 4), 256>>>(o, a, 16);
    nested<<<256, 256>>>(o, a, 4, 16);
    parted<1><<<1024, 256>>>(o, a);
    parted<32><<<1024, 256>>>(o, a);
    if (cudaDeviceSynchronize())
        return 1;
    puts("ok");
    return 0;
}
