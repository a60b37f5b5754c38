// survey.cu - a kernel for each row of survey.def, which does one thing again and again: what it costs.
//
//     survey [ROUNDS [LAUNCHES [NAME]]]
//
// Launches each of them, of 16 blocks of 256 threads, so often, and prints a checksum of what it has left. survey.py runs it
// under Margay's commands.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                      \
    do {                                                                                 \
        cudaError_t error = call;                                                        \
        if (error != cudaSuccess) {                                                      \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

enum { BLOCKS = 16, THREADS = 256, OWN = 1024, IN = 1 << 18 };

__constant__ int table[256];

__device__ __noinline__ int three_times(int v, int i) { return v * 3 + i; }
__device__ __noinline__ int five_times(int v, int i) { return v * 5 - i; }
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
typedef int (*function)(int, int);
__device__ function functions[2] = {three_times, five_times};

#define WAYS                              \
    case 0: v += s[t]; break;             \
    case 1: v ^= 5; s[t] = v; break;      \
    case 2: v *= 3; break;                \
    case 3: v += 9; s[t] = i; break;      \
    case 4: v -= 7; break;                \
    case 5: v <<= 1; break;               \
    case 6: v = ~v; break;                \
    default: v += 1;

struct data {
    const int *in;
    int *own, *sums, *out, rounds;
    cudaTextureObject_t texture;
};

#define OP(name, before, ...)                                                              \
    __global__ void name##_(data d)                                                        \
    {                                                                                      \
        __shared__ __align__(16) int s[1024];                                              \
        const int t = threadIdx.x, *in = d.in;                                             \
        [[maybe_unused]] int *own = d.own + blockIdx.x * OWN, *sums = d.sums;              \
        [[maybe_unused]] cudaTextureObject_t texture = d.texture;                          \
        int v = in[t];                                                                     \
        for (int k = t; k < 1024; k += THREADS)                                            \
            s[k] = in[k];                                                                  \
        __syncthreads();                                                                   \
        before;                                                                            \
        _Pragma("unroll 1") for (int i = 0; i < d.rounds; i++) { __VA_ARGS__; }            \
        __syncthreads();                                                                   \
        d.out[blockIdx.x * THREADS + t] = v + s[t];                                        \
    }
#include "survey.def"
#undef OP

static const struct {
    const char *name;
    void (*kernel)(data);
} kernels[] = {
#define OP(name, before, ...) {#name, name##_},
#include "survey.def"
};

static unsigned checksum(const int *from, int n, unsigned sum)
{
    int *host = (int *)malloc(n * sizeof(int));
    CHECK(cudaMemcpy(host, from, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int k = 0; k < n; k++)
        sum = (sum ^ (unsigned)host[k]) * 16777619u;
    free(host);
    return sum;
}

int main(int argc, char **argv)
{
    data d = {};
    int *in, launches = argc > 2 ? atoi(argv[2]) : 1;
    d.rounds = argc > 1 ? atoi(argv[1]) : 1024;
    CHECK(cudaMalloc(&in, IN * sizeof(int)));
    CHECK(cudaMalloc(&d.own, BLOCKS * OWN * sizeof(int)));
    CHECK(cudaMalloc(&d.sums, 256 * sizeof(int)));
    CHECK(cudaMalloc(&d.out, BLOCKS * THREADS * sizeof(int)));
    int *values = (int *)malloc(IN * sizeof(int));
    for (int k = 0; k < IN; k++)
        values[k] = k * 2654435761u >> 16;
    CHECK(cudaMemcpy(in, values, IN * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(table, values, sizeof(table)));
    free(values);
    d.in = in;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = in;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = 1024;
    cudaTextureDesc how = {};
    CHECK(cudaCreateTextureObject(&d.texture, &resource, &how, NULL));
    for (const auto &k : kernels) {
        if (argc > 3 && strcmp(argv[3], k.name))
            continue;
        for (int n = 0; n < launches; n++) {
            CHECK(cudaMemset(d.own, 1, BLOCKS * OWN * sizeof(int)));
            CHECK(cudaMemset(d.sums, 0, 256 * sizeof(int)));
            k.kernel<<<BLOCKS, THREADS>>>(d);
            CHECK(cudaDeviceSynchronize());
        }
        const unsigned sum = checksum(d.own, BLOCKS * OWN, checksum(d.out, BLOCKS * THREADS, 2166136261u));
        printf("%s %08x\n", k.name, checksum(d.sums, 256, sum));
    }
    return 0;
}
