/* time_events.cu - what a program that times itself by events reads: launches, copies, streams.
 *
 *     time_events [LARGEST]     copies of up to so many bytes, 64 MiB unless told
 *
 * One line a measurement: name, parameter, microseconds. The device's answers are kept in time_events.txt. What is asked:
 * empty intervals and launches; loops of launches, of nothing and of work that takes a while; products of matrices, naive
 * and tiled, once and in a loop; copies and fills of many sizes; streams side by side. Each is the median of several.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "time_events: line %d: %s\n", __LINE__, cudaGetErrorString(error));                        \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static cudaEvent_t from, to;

/* Microseconds of `work`, which is given to the default stream or to streams that wait for it. */
template <class Work> static void measure(const char *name, long parameter, unsigned times, Work work)
{
    std::vector<float> us;
    for (unsigned i = 0; i <= times; i++) {
        float ms;
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventRecord(from));
        work();
        CHECK(cudaEventRecord(to));
        CHECK(cudaEventSynchronize(to));
        CHECK(cudaEventElapsedTime(&ms, from, to));
        if (i)
            us.push_back(ms * 1e3f); /* the first one warms up */
    }
    std::sort(us.begin(), us.end());
    printf("%-24s %10ld %12.3f\n", name, parameter, us[us.size() / 2]);
}

__global__ void nothing()
{
}

/* So many dependent multiply-adds. */
__global__ void chain(float *data, int n)
{
    float x = data[threadIdx.x];
    for (int i = 0; i < n; i++)
        x = x * 1.0001f + 0.5f;
    data[threadIdx.x] = x;
}

__global__ void triad(float *a, const float *b, const float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = b[i] + 2 * c[i];
}

enum { T = 32 };

__global__ void naive(float *c, const float *a, const float *b, int n)
{
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

__global__ void tiled(float *c, const float *a, const float *b, int n)
{
    __shared__ float s[T][T], t[T][T];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    float sum = 0;
    for (int i = 0; i < n; i += T) {
        s[threadIdx.y][threadIdx.x] = a[y * n + i + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(i + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < T; k++)
            sum += s[threadIdx.y][k] * t[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

static void launches(float *d)
{
    measure("interval", 0, 9, [] {});
    for (int n : {1, 2, 5, 10, 100, 1000})
        measure("empty", n, 9, [=] {
            for (int i = 0; i < n; i++)
                nothing<<<1, 1>>>();
        });
    for (int n : {1, 2, 10, 100})
        measure("chain_10000", n, 5, [=] {
            for (int i = 0; i < n; i++)
                chain<<<1, 32>>>(d, 10000);
        });
    for (int n : {1000, 5000, 50000})
        measure("chain", n, 5, [=] { chain<<<1, 32>>>(d, n); });
    measure("wide", 4096, 5, [=] { nothing<<<4096, 256>>>(); });
}

static void kernels(float *a, float *b, float *c)
{
    for (int n : {128, 512}) {
        dim3 grid(n / T, n / T), block(T, T);
        measure("naive", n, 5, [=] { naive<<<grid, block>>>(c, a, b, n); });
        measure("tiled", n, 5, [=] { tiled<<<grid, block>>>(c, a, b, n); });
        measure("naive_10", n, 3, [=] {
            for (int i = 0; i < 10; i++)
                naive<<<grid, block>>>(c, a, b, n);
        });
        measure("tiled_10", n, 3, [=] {
            for (int i = 0; i < 10; i++)
                tiled<<<grid, block>>>(c, a, b, n);
        });
    }
    for (int n : {1 << 16, 1 << 20, 1 << 22}) {
        measure("triad", n, 5, [=] { triad<<<n / 256, 256>>>(a, b, c, n); });
        measure("triad_10", n, 3, [=] {
            for (int i = 0; i < 10; i++)
                triad<<<n / 256, 256>>>(a, b, c, n);
        });
    }
}

static void copies(size_t largest)
{
    char *d, *e, *pinned, *pageable = (char *)malloc(largest);
    memset(pageable, 1, largest);
    CHECK(cudaMalloc(&d, largest));
    CHECK(cudaMalloc(&e, largest));
    CHECK(cudaMallocHost(&pinned, largest));
    memset(pinned, 1, largest);
    for (size_t n : {(size_t)4, (size_t)4096, (size_t)65536, (size_t)1 << 20, (size_t)1 << 24, (size_t)1 << 26}) {
        if (n > largest)
            break;
        measure("to_device", n, 5, [=] { CHECK(cudaMemcpyAsync(d, pinned, n, cudaMemcpyHostToDevice)); });
        measure("to_host", n, 5, [=] { CHECK(cudaMemcpyAsync(pinned, d, n, cudaMemcpyDeviceToHost)); });
        measure("to_device_waited", n, 5, [=] { CHECK(cudaMemcpy(d, pinned, n, cudaMemcpyHostToDevice)); });
        measure("to_host_waited", n, 5, [=] { CHECK(cudaMemcpy(pinned, d, n, cudaMemcpyDeviceToHost)); });
        measure("to_device_pageable", n, 5, [=] { CHECK(cudaMemcpy(d, pageable, n, cudaMemcpyHostToDevice)); });
        measure("to_host_pageable", n, 5, [=] { CHECK(cudaMemcpy(pageable, d, n, cudaMemcpyDeviceToHost)); });
        measure("within_device", n, 5, [=] { CHECK(cudaMemcpyAsync(e, d, n, cudaMemcpyDeviceToDevice)); });
        measure("fill", n, 5, [=] { CHECK(cudaMemsetAsync(e, 0, n)); });
    }
    for (int n : {2, 10})
        measure("to_device_many", n, 5, [=] {
            for (int i = 0; i < n; i++)
                CHECK(cudaMemcpyAsync(d, pinned, 65536, cudaMemcpyHostToDevice));
        });
    CHECK(cudaFree(d));
    CHECK(cudaFree(e));
    CHECK(cudaFreeHost(pinned));
    free(pageable);
}

/* Work in two streams between two records in the default one, which both wait for it and it for them. */
static void streams(float *a, float *d, size_t n)
{
    cudaStream_t s[2];
    char *pinned;
    CHECK(cudaMallocHost(&pinned, n));
    for (auto &stream : s)
        CHECK(cudaStreamCreate(&stream));
    measure("one_stream", 2, 5, [=] {
        chain<<<1, 32, 0, s[0]>>>(a, 20000);
        chain<<<1, 32, 0, s[0]>>>(a, 20000);
    });
    measure("two_streams", 2, 5, [=] {
        chain<<<1, 32, 0, s[0]>>>(a, 20000);
        chain<<<1, 32, 0, s[1]>>>(a + 1024, 20000);
    });
    measure("kernel_and_copy", (long)n, 5, [=] {
        chain<<<1, 32, 0, s[0]>>>(a, 20000);
        CHECK(cudaMemcpyAsync(d, pinned, n, cudaMemcpyHostToDevice, s[1]));
    });
    measure("both_ways", (long)n, 5, [=] {
        CHECK(cudaMemcpyAsync(pinned, a, n / 2, cudaMemcpyDeviceToHost, s[0]));
        CHECK(cudaMemcpyAsync(d, pinned + n / 2, n / 2, cudaMemcpyHostToDevice, s[1]));
    });
    measure("one_way_twice", (long)n, 5, [=] {
        CHECK(cudaMemcpyAsync(a, pinned, n / 2, cudaMemcpyHostToDevice, s[0]));
        CHECK(cudaMemcpyAsync(d, pinned + n / 2, n / 2, cudaMemcpyHostToDevice, s[1]));
    });
    measure("half_and_half", 66, 5, [=] { /* 66 blocks of a thousand threads each leave half of the machine */
        chain<<<66, 1024, 0, s[0]>>>(a, 20000);
        chain<<<66, 1024, 0, s[1]>>>(a + 1024, 20000);
    });
    measure("full_and_full", 264, 5, [=] {
        chain<<<264, 1024, 0, s[0]>>>(a, 20000);
        chain<<<264, 1024, 0, s[1]>>>(a + 1024, 20000);
    });
    for (auto &stream : s)
        CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(pinned));
}

int main(int argc, char **argv)
{
    size_t largest = argc > 1 ? strtoul(argv[1], nullptr, 0) : (size_t)64 << 20, floats = 1 << 22;
    float *a, *b, *c;
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    for (float **p : {&a, &b, &c}) {
        CHECK(cudaMalloc(p, floats * sizeof(float)));
        CHECK(cudaMemset(*p, 0, floats * sizeof(float)));
    }
    launches(a);
    kernels(a, b, c);
    copies(largest);
    streams(a, c, std::min(largest, floats * sizeof(float)));
    return 0;
}
