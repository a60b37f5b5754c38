/* host_memory.cu - what memory of the host costs a kernel: managed memory whose pages come, page-locked memory over the
 * link, and prefetching. Microseconds by events; host_memory.txt is what an H200 printed.
 *
 *     nvcc -O3 -arch=sm_90 -o host_memory host_memory.cu && ./host_memory
 */
#include "check.cuh"

#include <cstdio>
#include <cstdlib>

static __device__ int first()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}
static __device__ int step()
{
    return gridDim.x * blockDim.x;
}
__global__ void add(int n, const float *x, float *y)
{
    for (int i = first(); i < n; i += step())
        y[i] = x[i] + y[i];
}
__global__ void fill(int n, float *y)
{
    for (int i = first(); i < n; i += step())
        y[i] = 1;
}
__global__ void sum(int n, const float *x, float *out)
{
    float sum = 0;
    for (int i = first(); i < n; i += step())
        sum += x[i];
    if (sum == 0.5f)
        *out = sum;
}
__global__ void apart(int count, size_t words, const float *x, float *out)
{
    float sum = 0;
    for (int i = first(); i < count; i += step())
        sum += x[i * words];
    if (sum == 0.5f)
        *out = sum;
}
__global__ void anywhere(int count, unsigned mask, const float *x, float *out)
{
    float sum = 0;
    for (int i = first(); i < count; i += step())
        sum += x[i * 2654435761u & mask];
    if (sum == 0.5f)
        *out = sum;
}

static cudaEvent_t before, after;
template <class Work> static float timed(Work work)
{
    float ms;
    CHECK(cudaEventRecord(before));
    work();
    CHECK(cudaEventRecord(after));
    CHECK(cudaEventSynchronize(after));
    CHECK(cudaEventElapsedTime(&ms, before, after));
    return ms * 1e3f;
}

enum { WRITTEN, UNTOUCHED, LOCKED };
static float *make(int how, size_t n)
{
    float *x;
    CHECK(how == LOCKED ? cudaMallocHost(&x, n * sizeof(float)) : cudaMallocManaged(&x, n * sizeof(float)));
    for (size_t i = 0; how != UNTOUCHED && i < n; i++)
        x[i] = 1;
    return x;
}

static float *out;
static void sizes(int n, int grid)
{
    float *x = make(WRITTEN, n), *y = make(WRITTEN, n);
    printf("n 2^%d grid %d: managed, two arrays %.0f", __builtin_ctz(n), grid, timed([&] { add<<<grid, 256>>>(n, x, y); }));
    printf(", again %.1f", timed([&] { add<<<grid, 256>>>(n, x, y); }));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    x = make(WRITTEN, n);
    printf(", one, read %.0f", timed([&] { sum<<<grid, 256>>>(n, x, out); }));
    CHECK(cudaFree(x));
    x = make(WRITTEN, n);
    printf(", written %.0f", timed([&] { fill<<<grid, 256>>>(n, x); }));
    CHECK(cudaFree(x));
    x = make(UNTOUCHED, n);
    printf(", nobody's %.0f", timed([&] { fill<<<grid, 256>>>(n, x); }));
    CHECK(cudaFree(x));
    x = make(WRITTEN, n);
    printf(", prefetched in %.0f", timed([&] { CHECK(prefetch(x, n * sizeof(float))); }));
    printf(", then read %.1f", timed([&] { sum<<<grid, 256>>>(n, x, out); }));
    CHECK(cudaFree(x));
    x = make(LOCKED, n);
    y = make(LOCKED, n);
    timed([&] { sum<<<grid, 256>>>(n, x, out); });
    printf("; page-locked, read %.1f", timed([&] { sum<<<grid, 256>>>(n, x, out); }));
    printf(", written %.1f", timed([&] { fill<<<grid, 256>>>(n, y); }));
    printf(", both %.1f\n", timed([&] { add<<<grid, 256>>>(n, x, y); }));
    CHECK(cudaFreeHost(x));
    CHECK(cudaFreeHost(y));
}

int main()
{
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&after));
    CHECK(cudaMalloc(&out, sizeof(float)));
    timed([] { fill<<<1, 32>>>(1, out); });
    for (int bits = 10; bits <= 26; bits += 2)
        for (int grid : {1, 132, (1 << bits) / 256})
            if (bits <= 22 || grid > 1)
                sizes(1 << bits, grid);
    for (int bits : {24, 26})
        for (size_t words = 256; words <= 1 << 18; words *= 4) {
            float *x = make(WRITTEN, 1u << bits);
            int count = (int)((1u << bits) / words);
            printf("n 2^%d, managed, each %zu bytes, %d reads: %.0f\n", bits, words * sizeof(float), count,
                   timed([&] { apart<<<132, 256>>>(count, words, x, out); }));
            CHECK(cudaFree(x));
        }
    for (int bits : {20, 23})
        for (int count = 1 << 12; count <= 1 << 20; count <<= 4) {
            float *x = make(WRITTEN, 1u << bits), *y = make(LOCKED, 1u << bits);
            printf("n 2^%d, %d reads anywhere: managed %.0f", bits, count,
                   timed([&] { anywhere<<<132, 256>>>(count, (1u << bits) - 1, x, out); }));
            timed([&] { anywhere<<<132, 256>>>(count, (1u << bits) - 1, y, out); });
            printf(", page-locked %.1f\n", timed([&] { anywhere<<<132, 256>>>(count, (1u << bits) - 1, y, out); }));
            CHECK(cudaFree(x));
            CHECK(cudaFreeHost(y));
        }
    CHECK(cudaGetLastError());
    return 0;
}
