/* time_clocks.cu - what kernels that time themselves by clock64 read.
 *
 *     time_clocks      one line a measurement: name, parameter, cycles
 *
 * The device's answers are kept in time_clocks.txt. One warp unless the name says otherwise; the smallest of three
 * launches, so that code has been fetched. Loads of `chase` go round a list of so many bytes, each address from the one
 * before, after a first round that brings it into the caches.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "time_clocks: line %d: %s\n", __LINE__, cudaGetErrorString(error));                        \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { N = 100 };

/* KERNEL(name, what is done N times in a row): x, y are floats, i, j ints, p the list, s shared memory. */
#define KERNELS                                                                                                        \
    KERNEL(fma_chain, asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y)))                                   \
    KERNEL(add_chain, asm volatile("add.s32 %0, %0, %1;" : "+r"(i) : "r"(j)))                                          \
    KERNEL(mul_chain, asm volatile("mad.lo.s32 %0, %0, %1, %1;" : "+r"(i) : "r"(j)))                                   \
    KERNEL(double_chain, asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(d) : "d"(e)))                                \
    KERNEL(sine_chain, asm volatile("sin.approx.ftz.f32 %0, %0;" : "+f"(x)))                                           \
    KERNEL(divide_chain, asm volatile("div.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))                                    \
    KERNEL(shuffle_chain, asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(i)))                             \
    KERNEL(shared_chain, i = ((volatile int *)s)[i])                                                                   \
    KERNEL(shared_conflicts, i = ((volatile int *)s)[i + threadIdx.x % 32 * 32] & 3)                                   \
    KERNEL(barrier, __syncthreads())                                                                                   \
    KERNEL(fma_apart, asm volatile("fma.rn.f32 %0, %0, %2, %2; fma.rn.f32 %1, %1, %2, %2;" : "+f"(x), "+f"(z) : "f"(y)))

#define KERNEL(name, work)                                                                                             \
    __global__ void name(long long *cycles, float *floats, int *ints)                                                  \
    {                                                                                                                  \
        __shared__ int s[2048];                                                                                        \
        float x = floats[threadIdx.x], y = floats[0], z = floats[1];                                                   \
        double d = x, e = y;                                                                                           \
        int i = ints[0], j = ints[1];                                                                                  \
        for (int k = threadIdx.x; k < 2048; k += blockDim.x)                                                           \
            s[k] = k & 3;                                                                                              \
        if (d + e + z == 12345 || i + j == 12345) /* they have come */                                                 \
            s[threadIdx.x] = 1;                                                                                        \
        __syncthreads();                                                                                               \
        long long start = clock64();                                                                                   \
        _Pragma("unroll") for (int k = 0; k < N; k++)                                                                  \
            work;                                                                                                      \
        long long end = clock64();                                                                                     \
        floats[threadIdx.x] = x + z + (float)(d + e);                                                                  \
        ints[threadIdx.x] = i + j + s[threadIdx.x];                                                                    \
        if (!threadIdx.x)                                                                                              \
            *cycles = end - start;                                                                                     \
    }
KERNELS
#undef KERNEL

__global__ void empty(long long *cycles, float *, int *)
{
    long long start = clock64(), end = clock64();
    *cycles = end - start;
}

/* A load whose value is needed at once, `rounds` times around a list of n. */
__global__ void chase(long long *cycles, const unsigned *list, unsigned n, unsigned steps, unsigned *out)
{
    unsigned at = 0;
    for (unsigned i = 0; i < n; i++)
        at = list[at];
    long long start = clock64();
    for (unsigned i = 0; i < steps; i++)
        at = list[at];
    long long end = clock64();
    *out = at;
    *cycles = (end - start) / steps;
}

/* The first touch of a line: from device memory. */
__global__ void touch(long long *cycles, const int *data, int *out)
{
    long long start = clock64();
    int x = *(const volatile int *)data;
    *(volatile int *)out = x; /* which waits for it */
    long long end = clock64();
    *cycles = end - start;
}

__global__ void atomics(long long *cycles, int *to)
{
    long long start = clock64();
    int x = 0;
    for (int i = 0; i < 10; i++)
        x = atomicAdd(to + x, 0);
    *(volatile int *)(to + 1) = x;
    long long end = clock64();
    *cycles = (end - start) / 10;
}

/* Each warp adds; how long the first one takes beside the others. */
__global__ void crowd(long long *cycles, float *floats)
{
    float x = floats[threadIdx.x], y = floats[0];
    __syncthreads();
    long long start = clock64();
#pragma unroll
    for (int k = 0; k < N; k++)
        asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y));
    long long end = clock64();
    floats[threadIdx.x] = x;
    if (!threadIdx.x)
        *cycles = end - start;
}

__global__ void timer(long long *ns, float *floats)
{
    unsigned long long start, end;
    float x = floats[0];
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    for (int i = 0; i < 100000; i++)
        x = x * 1.0001f + 0.5f;
    floats[0] = x;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
    *ns = (long long)(end - start);
}

static long long *cycles;
static int *ints; /* noughts when a kernel begins */

template <class Work> static void measure(const char *name, long parameter, Work work)
{
    long long least = 0;
    for (int i = 0; i < 3; i++) {
        CHECK(cudaMemset(ints, 0, 4096));
        work();
        CHECK(cudaDeviceSynchronize());
        least = i ? std::min(least, *cycles) : *cycles;
    }
    printf("%-20s %10ld %10lld\n", name, parameter, least);
}

static void lists(unsigned *list, unsigned *out)
{
    for (unsigned bytes : {4096u, 65536u, 1u << 20, 1u << 23}) {
        unsigned stride = 32, n = bytes / 4 / stride; /* a line each, in an order that no stride tells */
        std::vector<unsigned> host(bytes / 4);
        for (unsigned i = 0, at = 0; i < n; i++) {
            unsigned next = (at + 2 * (n / 5) + 1) % n;
            host[at * stride] = (i + 1 == n ? 0 : next) * stride;
            at = next;
        }
        CHECK(cudaMemcpy(list, host.data(), bytes, cudaMemcpyHostToDevice));
        measure("chase", bytes, [=] { chase<<<1, 1>>>(cycles, list, n, 64, out); });
    }
}

int main()
{
    float *floats;
    unsigned *list;
    CHECK(cudaMallocManaged(&cycles, sizeof(*cycles)));
    CHECK(cudaMalloc(&floats, 4096));
    CHECK(cudaMalloc(&ints, 4096));
    CHECK(cudaMalloc(&list, 1 << 26));
    CHECK(cudaMemset(floats, 0, 4096));
    CHECK(cudaMemset(list, 0, 1 << 26));
    measure("empty", 0, [=] { empty<<<1, 1>>>(cycles, floats, ints); });
#define KERNEL(name, work) measure(#name, N, [=] { name<<<1, 32>>>(cycles, floats, ints); });
    KERNELS
#undef KERNEL
    measure("barrier_8_warps", N, [=] { barrier<<<1, 256>>>(cycles, floats, ints); });
    for (int warps : {1, 4, 8, 16, 32})
        measure("crowd", warps, [=] { crowd<<<1, 32 * warps>>>(cycles, floats); });
    int *cold = (int *)list + (1 << 22);
    int launch = 0;
    measure("touch", 4, [&] { touch<<<1, 1>>>(cycles, cold + 65536 * launch++, ints); });
    measure("atomic", 10, [=] { atomics<<<1, 1>>>(cycles, ints + 512); });
    lists(list, (unsigned *)ints);
    measure("globaltimer", 100000, [=] { timer<<<1, 1>>>(cycles, floats); });
    return 0;
}
