// registers.cu - a kernel's registers are those of its machine code: in its attributes, in the occupancy, and in what a
// launch may ask for. Without machine code for the device they are an estimate, and nothing is refused for it.
// RUN: -arch=sm_90
// EXPECT: ok
// STDERR: launched with blocks of 1024 threads with
// STDERR: the registers of a block are 65536 on NVIDIA H100 80GB HBM3
#include "check.h"

template <int N> __device__ float many(const float *in, int n)
{
    float v[N], sum = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = in[i];
    for (int k = 0; k < n; k++)
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] = v[i] * v[(i + 3) % N] + in[k];
#pragma unroll
    for (int i = 0; i < N; i++)
        sum += v[i];
    return sum;
}

__global__ void large(float *out, const float *in, int n)
{
    if (n)
        out[threadIdx.x] = many<100>(in, n);
    else
        out[threadIdx.x] = 1;
}
__global__ void small(float *out)
{
    __shared__ float one[4];
    one[threadIdx.x % 4] = 1;
    __syncthreads();
    out[threadIdx.x] = one[(threadIdx.x + 1) % 4];
}

int main()
{
    cudaFuncAttributes a, s;
    float *out, *in;
    int blocks = 0;
    OK(cudaFuncGetAttributes(&a, large));
    OK(cudaFuncGetAttributes(&s, small));
    TRUE(a.numRegs > 100 && a.numRegs <= 255);
    TRUE(s.numRegs >= 4 && s.numRegs < 24);
    TRUE(s.sharedSizeBytes == 16);
    /* The register file of a block takes so many warps of it, and four schedulers share them. */
    unsigned warps = 65536 / ((a.numRegs * 32 + 255) / 256 * 256) / 4 * 4;
    TRUE(a.maxThreadsPerBlock == (int)warps * 32);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, large, a.maxThreadsPerBlock, 0));
    TRUE(blocks == 1);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, large, 1024, 0));
    TRUE(blocks == 0);
    OK(cudaMalloc(&out, 1024 * sizeof(float)));
    OK(cudaMalloc(&in, 1024 * sizeof(float)));
    large<<<1, 1024>>>(out, in, 0);
    TRUE(cudaGetLastError() == cudaErrorLaunchOutOfResources);
    large<<<1, a.maxThreadsPerBlock>>>(out, in, 0);
    OK(cudaGetLastError());
    small<<<1, 1024>>>(out);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    DONE();
}
