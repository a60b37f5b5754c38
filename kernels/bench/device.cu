/* device.cu - the bench's own kernels: numbers for inputs, the FP32 limit, and the marks between rungs. */
#include "bench_priv.h"

#include <cuda_runtime.h>

/* A counter-based generator: element i is a hash of i and the seed, the same for any grid and on any machine. */
__device__ static uint32_t hash(uint64_t i, uint32_t seed)
{
    uint32_t x = static_cast<uint32_t>(i) * 0x9e3779b9u + static_cast<uint32_t>(i >> 32) * 0x7feb352du + seed * 0x846ca68bu;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}
__device__ static void make(float *to, uint32_t bits, uint32_t)
{
    *to = static_cast<float>(static_cast<int32_t>(bits) >> 8) * 0x1p-23f;
}
__device__ static void make(double *to, uint32_t bits, uint32_t)
{
    *to = static_cast<double>(static_cast<int32_t>(bits)) * 0x1p-31;
}
__device__ static void make(uint32_t *to, uint32_t bits, uint32_t mask)
{
    *to = bits & mask;
}

template <typename T> __global__ static void bench_fill(T *to, int64_t n, uint32_t seed, uint32_t mask)
{
    int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        make(to + i, hash(static_cast<uint64_t>(i), seed), mask);
}

template <typename T> static void fill(T *to, int64_t n, uint32_t seed, uint32_t mask)
{
    if (n > 0)
        bench_fill<<<static_cast<unsigned>(n < 1024 * 256 ? (n + 255) / 256 : 1024), 256>>>(to, n, seed, mask);
}

extern "C" void bench_fill_f32(float *device, int64_t n, uint32_t seed)
{
    fill(device, n, seed, 0);
}

extern "C" void bench_fill_f64(double *device, int64_t n, uint32_t seed)
{
    fill(device, n, seed, 0);
}

extern "C" void bench_fill_u32(uint32_t *device, int64_t n, uint32_t seed, uint32_t mask)
{
    fill(device, n, seed, mask);
}

/* Sixteen chains of fused multiply-adds a thread: enough to hide the pipe's latency at 512 threads a sub-partition. */
enum { FMA_CHAINS = 16, FMA_ROUNDS = 4096, FMA_THREADS = 512 };
__global__ static void bench_fma_rate(float *out, float a, float b)
{
    float x[FMA_CHAINS];
#pragma unroll
    for (int i = 0; i < FMA_CHAINS; i++)
        x[i] = static_cast<float>(threadIdx.x + static_cast<unsigned>(i));
    for (int r = 0; r < FMA_ROUNDS; r++) {
#pragma unroll
        for (int i = 0; i < FMA_CHAINS; i++)
            x[i] = fmaf(x[i], a, b);
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < FMA_CHAINS; i++)
        sum += x[i];
    if (sum == 12345.678f) /* never: keeps the chains alive */
        *out = sum;
}

extern "C" int bench_fma(float *out, struct CUstream_st *stream, double *flops)
{
    int device = 0, sms = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    int blocks = sms * 4 * 2;
    *flops = 2.0 * FMA_CHAINS * FMA_ROUNDS * FMA_THREADS * blocks;
    bench_fma_rate<<<static_cast<unsigned>(blocks), FMA_THREADS, 0, stream>>>(out, 0.999f, 0.001f);
    return cudaGetLastError();
}

__global__ static void bench_mark_row(void)
{
}

extern "C" int bench_mark(unsigned row)
{
    bench_mark_row<<<row + 1, 1>>>();
    return cudaGetLastError();
}
