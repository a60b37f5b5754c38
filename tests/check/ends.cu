/* ends.cu - launches that a fault or a deadlock ends early, in some blocks of many, some beside other mistakes. What is
 * said of them is the same for any number of threads and under all engines: test_ends.py compares.
 *
 *     ends            the names
 *     ends NAME       runs one: prints what the runtime says */
#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

struct Program {
    const char *name;
    void (*run)(int *out, int *in);
};
static Program programs[64];
static int count;
struct Add {
    Add(const char *name, void (*run)(int *, int *)) { programs[count++] = {name, run}; }
};
#define PROGRAM(name)                                                                                                  \
    static void run_##name(int *out, int *in);                                                                         \
    static Add add_##name(#name, run_##name);                                                                          \
    static void run_##name(int *out, int *in)

/* Blocks take very different times, so that they come to their faults in another order than they begin. */
__device__ int work(int rounds)
{
    int x = rounds;
    for (int i = 0; i < rounds; i++)
        x = x * 1664525 + 1013904223;
    return x;
}
__device__ int late() { return work((64 - blockIdx.x % 64) * 100); }

/* A race in shared memory in front of the fault, by blocks of which every third goes wrong. */
__global__ void trap_in_some(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = late();
    int x = tile[63 - threadIdx.x];
    if (blockIdx.x % 3 == 2 && threadIdx.x == 5)
        __trap();
    out[blockIdx.x * 64 + threadIdx.x] = x;
}
PROGRAM(trap_in_some) { trap_in_some<<<64, 64>>>(out); }

__global__ void assert_in_some(int *out)
{
    int x = late();
    assert(blockIdx.x < 20 || blockIdx.x % 7 != threadIdx.x % 32);
    out[blockIdx.x * 64 + threadIdx.x] = x;
}
PROGRAM(assert_in_some) { assert_in_some<<<64, 64>>>(out); }

__global__ void null_in_some(int *out, int *in)
{
    int x = late(), *p = blockIdx.x % 9 == 4 ? in : out + blockIdx.x * 64;
    p[threadIdx.x] = x;
}
PROGRAM(null_in_some) { null_in_some<<<64, 64>>>(out, nullptr); }

__global__ void beyond_and_misaligned(char *out)
{
    int x = late(), at = (blockIdx.x * 64 + threadIdx.x) * 4;
    if (blockIdx.x > 10 && blockIdx.x % 5 == 1)
        at += 2;
    if (blockIdx.x > 10 && blockIdx.x % 5 == 3)
        at += 1 << 30;
    *(int *)(out + at) = x;
}
PROGRAM(beyond_and_misaligned) { beyond_and_misaligned<<<64, 64>>>((char *)out); }

/* Lanes that wait for others of their warp, in all blocks and in some, with a race behind it that only the others have. */
__global__ void mask_in_all(int *out)
{
    int x = late();
    if (threadIdx.x % 32 < 16)
        x = __shfl_down_sync(~0u, x, 8);
    __syncwarp();
    out[blockIdx.x * 64 + threadIdx.x] = x;
}
PROGRAM(mask_in_all) { mask_in_all<<<16, 32>>>(out); }

__global__ void barrier_in_some(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = late();
    if (blockIdx.x % 4 == 3) {
        if (threadIdx.x < 32)
            asm volatile("bar.sync 1, 64;");
        else
            asm volatile("bar.sync 2, 64;");
    }
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}
PROGRAM(barrier_in_some) { barrier_in_some<<<48, 64>>>(out); }

__global__ void three_ways(int *out, int *in)
{
    int x = late();
    if (blockIdx.x == 40)
        __trap();
    if (blockIdx.x == 23 && threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    if (blockIdx.x == 31)
        x = in[1 << 28];
    out[(blockIdx.x * 64 + threadIdx.x) / 2] = x;
}
PROGRAM(three_ways) { three_ways<<<64, 64>>>(out, in); }

/* Two blocks write to the same words, those behind the fault and those before it. */
__global__ void shared_between(int *out)
{
    int x = late();
    out[(blockIdx.x / 2) * 64 + threadIdx.x] = x;
    if (blockIdx.x == 33)
        __trap();
    out[8192 + (blockIdx.x % 7) * 64 + threadIdx.x] = x;
}
PROGRAM(shared_between) { shared_between<<<64, 64>>>(out); }

__device__ int deep(int n, int *p) { return n ? deep(n - 1, p) + p[n & 7] : *p; }
__global__ void stack_in_some(int *out, int *in)
{
    int x = late();
    if (blockIdx.x % 6 == 5)
        x += deep(1 << 20, in);
    out[blockIdx.x * 64 + threadIdx.x] = x;
}
PROGRAM(stack_in_some) { stack_in_some<<<24, 64>>>(out, in); }

/* Blocks that wait for one that is lost: in order, and by plain reads. */
__global__ void waits_for_the_lost(volatile int *flag, int *out)
{
    if (blockIdx.x == 3)
        __trap();
    if (blockIdx.x == 9) {
        while (*flag == 0)
            ;
    }
    if (blockIdx.x == 12)
        *flag = 1;
    out[blockIdx.x * 32 + threadIdx.x] = 1;
}
PROGRAM(waits_for_the_lost) { waits_for_the_lost<<<16, 32>>>(in, out); }

__global__ void reads_for_ever(const int *flag, int *out)
{
    int seen = 0;
    if (blockIdx.x == 11)
        __trap();
    if (blockIdx.x == 2)
        while (seen == 0)
            asm volatile("ld.global.b32 %0, [%1];" : "=r"(seen) : "l"(flag));
    out[blockIdx.x * 32 + threadIdx.x] = seen;
}
PROGRAM(reads_for_ever) { reads_for_ever<<<16, 32>>>(in, out); }

/* Blocks in order: an atomic whose result is used. */
__global__ void tickets(int *next, int *out)
{
    __shared__ int mine;
    if (threadIdx.x == 0)
        mine = atomicAdd(next, 1);
    __syncthreads();
    if (mine == 17)
        __trap();
    if (mine == 9 && threadIdx.x == 0)
        out[1 << 28] = 1;
    out[(mine / 2) * 64 + threadIdx.x] = mine;
}
PROGRAM(tickets) { tickets<<<32, 64>>>(in, out); }

__global__ void grid_barrier(int *out)
{
    out[blockIdx.x * 64 + threadIdx.x] = 1;
    if (blockIdx.x == 2 && threadIdx.x == 0)
        __trap();
    cg::this_grid().sync();
    out[(blockIdx.x / 2) * 64 + threadIdx.x] = 2;
}
PROGRAM(grid_barrier)
{
    void *args[] = {&out};
    cudaLaunchCooperativeKernel((void *)grid_barrier, 8, 64, args);
}

__global__ void not_all_come(int *out)
{
    if (blockIdx.x == 5)
        return;
    cg::this_grid().sync();
    out[blockIdx.x * 64 + threadIdx.x] = 2;
}
PROGRAM(not_all_come)
{
    void *args[] = {&out};
    cudaLaunchCooperativeKernel((void *)not_all_come, 8, 64, args);
}

/* Clusters: of 4 in two dimensions, so that the numbers of their blocks mix. */
__global__ void __cluster_dims__(2, 2) cluster_trap(int *out)
{
    int b = blockIdx.x + gridDim.x * blockIdx.y, x = work((64 - b) * 100);
    if (b == 9 || b == 6 || b == 30)
        __trap();
    cg::this_cluster().sync();
    out[(b / 2) * 64 + threadIdx.x] = x;
}
PROGRAM(cluster_trap) { cluster_trap<<<dim3(8, 8), 64>>>(out); }

__global__ void __cluster_dims__(2, 2) cluster_left(int *out)
{
    int b = blockIdx.x + gridDim.x * blockIdx.y, x = work((64 - b) * 100);
    if ((b == 12 || b == 5 || b == 33) && threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    cg::this_cluster().sync();
    out[b * 64 + threadIdx.x] = x;
}
PROGRAM(cluster_left) { cluster_left<<<dim3(8, 8), 64>>>(out); }

/* Threads that take turns at an mbarrier, by generic addresses, until half of them end: all blocks wait for ever, and each is told
 * so, however long it has waited when another one is. */
__global__ void half_arrive(int *out)
{
    __shared__ unsigned long long turns;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.b64 [%0], 128;" ::"l"(&turns) : "memory");
    __syncthreads();
    for (int i = 0; i < 8 && (i < 6 || threadIdx.x < 64); i++) {
        asm volatile("mbarrier.arrive.b64 _, [%0];" ::"l"(&turns) : "memory");
        asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.try_wait.parity.b64 p, [%0], %1;\n@!p bra AGAIN; }" ::"l"(&turns), "r"(i & 1)
                     : "memory");
        out[blockIdx.x * 128 + threadIdx.x] = i;
    }
}
PROGRAM(half_arrive) { half_arrive<<<8, 128>>>(out); }

int main(int argc, char **argv)
{
    for (int i = 0; i < count; i++) {
        if (argc < 2)
            printf("%s\n", programs[i].name);
        else if (!strcmp(argv[1], programs[i].name)) {
            int *out, *in;
            cudaMalloc(&out, 16384 * sizeof(int));
            cudaMalloc(&in, 1024 * sizeof(int));
            cudaMemset(out, 0, 16384 * sizeof(int));
            cudaMemset(in, 0, 1024 * sizeof(int));
            programs[i].run(out, in);
            cudaError_t launch = cudaGetLastError(), sync = cudaDeviceSynchronize();
            printf("%s: %s, %s\n", argv[1], cudaGetErrorName(launch), cudaGetErrorName(sync));
        }
    }
}
