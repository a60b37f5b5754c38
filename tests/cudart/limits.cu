// limits.cu - cudaDeviceSetLimit: each limit that is accepted has its effect, both ways, or is read back.
// ENV: MARGAY_DEVICE=90
// EXPECT: ok
#include "check.h"

// Frames of 200 bytes and more: four fit into 1,024 bytes, a hundred do not. No frame is larger than 400.
__device__ __noinline__ int deep(int n, volatile int *p)
{
    volatile int own[50];
    own[n % 50] = n + *p;
    int below = n ? deep(n - 1, p) : 0;
    return below + own[n % 50];
}
__device__ __noinline__ int down(int n, volatile int *p); // mutual recursion
__device__ __noinline__ int up(int n, volatile int *p)
{
    volatile int own[20];
    own[n % 20] = *p;
    return n ? own[n % 20] + down(n - 1, p) + 1 : 0;
}
__device__ __noinline__ int down(int n, volatile int *p)
{
    return n ? up(n - 1, p) + *p + 1 : 0;
}
// Its need is known: the limit does not matter.
__device__ __noinline__ int large(int n, volatile int *p)
{
    volatile int own[3000];
    for (int i = 0; i < 3000; i++)
        own[i] = i + *p;
    return own[n % 3000];
}
typedef int (*function)(int, volatile int *);
__device__ function table[2] = {large, up};

__global__ void recurse(int *p, int n) { p[1 + threadIdx.x] = deep(n, p); }
__global__ void mutual(int *p, int n) { p[1] = up(n, p); }
__global__ void known(int *p, int n) { p[1] = large(n, p); }
__global__ void indirect(int *p, int n, int which) { p[1] = table[which](n, p); }
__global__ void pieces(int *p, int n, int bytes)
{
    p[1] = 0;
    for (int i = 0; i < n; i++) {
        char *piece = (char *)malloc(bytes);
        if (piece) {
            piece[0] = piece[bytes - 1] = (char)i;
            p[1]++;
        }
    }
}
__global__ void say(int *p) { p[1] = printf(""); }

static int first(int *d)
{
    int h = -1;
    OK(cudaMemcpy(&h, d + 1, 4, cudaMemcpyDeviceToHost));
    return h;
}
static size_t get(cudaLimit which)
{
    size_t v = 0;
    OK(cudaDeviceGetLimit(&v, which));
    return v;
}
static void set(cudaLimit which, size_t value)
{
    OK(cudaDeviceSetLimit(which, value));
    TRUE(get(which) == value);
}

int main()
{
    int *d;
    OK(cudaMalloc(&d, 1024));
    OK(cudaMemset(d, 0, 1024));
    // the heap, before anything uses it
    TRUE(get(cudaLimitMallocHeapSize) == 8 << 20);
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t)1 << 40)); // as much as may be
    TRUE(get(cudaLimitMallocHeapSize) > 1 << 30 && get(cudaLimitMallocHeapSize) < (size_t)1 << 40);
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1));
    TRUE(get(cudaLimitMallocHeapSize) == 4 << 20);
    set(cudaLimitMallocHeapSize, 64 << 20);
    LAUNCH(0, pieces<<<1, 1>>>(d, 100, 1 << 20));
    TRUE(first(d) > 50 && first(d) <= 64);
    IS(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 128 << 20), 1);
    IS(cudaGetLastError(), 1);
    TRUE(get(cudaLimitMallocHeapSize) == 64 << 20);
    // a reset puts all back
    set(cudaLimitStackSize, 2048);
    OK(cudaDeviceReset());
    TRUE(get(cudaLimitStackSize) == 1024 && get(cudaLimitMallocHeapSize) == 8 << 20);
    OK(cudaMalloc(&d, 1024));
    OK(cudaMemset(d, 0, 1024));
    LAUNCH(0, pieces<<<1, 1>>>(d, 100, 1 << 20));
    TRUE(first(d) > 4 && first(d) <= 8);
    // the stack
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 1000));
    TRUE(get(cudaLimitStackSize) == 1008);
    IS(cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20), 1);
    IS(cudaGetLastError(), 1);
    LAUNCH(0, recurse<<<1, 32>>>(d, 1));
    TRUE(first(d) == 1);
    LAUNCH(0, known<<<1, 1>>>(d, 2999));
    TRUE(first(d) == 2999);
    set(cudaLimitStackSize, 64 << 10);
    LAUNCH(0, recurse<<<4, 64>>>(d, 100));
    TRUE(first(d) == 5050);
    LAUNCH(0, mutual<<<1, 1>>>(d, 200));
    TRUE(first(d) == 200);
    LAUNCH(0, indirect<<<1, 1>>>(d, 2999, 0));
    TRUE(first(d) == 2999);
    // what printf's buffer holds; it stays after the first kernel that prints
    TRUE(get(cudaLimitPrintfFifoSize) == 8650752);
    OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1));
    TRUE(get(cudaLimitPrintfFifoSize) == 512 << 10);
    set(cudaLimitPrintfFifoSize, 1 << 20);
    LAUNCH(0, say<<<1, 1>>>(d));
    TRUE(first(d) == 0);
    IS(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20), 1);
    IS(cudaGetLastError(), 1);
    TRUE(get(cudaLimitPrintfFifoSize) == 1 << 20);
    // hints, and what kernels that launch kernels would have
    set(cudaLimitMaxL2FetchGranularity, 128);
    IS(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 129), 1);
    IS(cudaGetLastError(), 1);
    int most;
    OK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0));
    set(cudaLimitPersistingL2CacheSize, most);
    IS(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)most + 1), 1);
    IS(cudaGetLastError(), 1);
    set(cudaLimitDevRuntimePendingLaunchCount, 4096);
    IS(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 2), 215);
    IS(cudaGetLastError(), 215);
    // the other way: a stack that is too small. Last, for the context is lost.
    set(cudaLimitStackSize, 1024);
    recurse<<<1, 32>>>(d, 100);
    IS(cudaGetLastError(), 0);
    IS(cudaDeviceSynchronize(), 700);
    IS(cudaMalloc(&d, 4), 700);
    DONE();
}
