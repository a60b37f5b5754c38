// faults.cu - programs that misuse CUDA: each must end with the message and the error code stated beside it, and leave the
// program itself running. The codes are those of an H200 with driver 580.159 and CUDA 13.0; where a GPU has no
// such limit (the timeout), the code is the nearest that it has. What a GPU does not notice goes on with a warning: it maps
// memory in pieces of 2 MiB.
// ENV: MARGAY_DEVICE=90
// CASE null: EXPECT: launch 0, sync 700, again 700, after reset 46
// CASE null: STDERR: margay: error: kernel store(int*, int)
// CASE null: STDERR: faults.cu:@store
// CASE freed: EXPECT: launch 0, sync 700, again 700, after reset 46
// CASE freed: STDERR: faults.cu:@store
// CASE freed_small: EXPECT: launch 0, sync 0, again 0, after reset 0
// CASE freed_small: STDERR: margay: warning: kernel store(int*, int): access of 4 bytes
// CASE freed_small: STDERR: faults.cu:@store
// CASE past: EXPECT: launch 0, sync 0, again 0, after reset 0
// CASE past: STDERR: margay: warning: kernel store(int*, int): access of 4 bytes
// CASE past: STDERR: 4 bytes past the end of an allocation of 1024 bytes (block 0,0,0, thread 0,0,0)
// CASE past: STDERR: faults.cu:@store
// CASE before: EXPECT: launch 0, sync 0, again 0, after reset 0
// CASE before: STDERR: 4 bytes before an allocation of 512 bytes
// CASE past_strict: ENV: MARGAY_STRICT=1
// CASE past_strict: EXPECT: launch 0, sync 700, again 700, after reset 46
// CASE past_strict: STDERR: margay: error: kernel store(int*, int): access of 4 bytes
// CASE past_strict: STDERR: 4 bytes past the end of an allocation of 1024 bytes
// CASE past_mapped: EXPECT: launch 0, sync 700, again 700, after reset 46
// CASE past_mapped: STDERR: margay: error: kernel store(int*, int): access of 4 bytes
// CASE past_mapped: STDERR: 4 bytes past the end of an allocation of 8388608 bytes
// CASE past_misaligned: EXPECT: launch 0, sync 716, again 716, after reset 46
// CASE past_misaligned: STDERR: faults.cu:@misaligned
// CASE beyond: EXPECT: launch 0, sync 700, again 700, after reset 46
// CASE beyond: STDERR: faults.cu:@store
// CASE host: EXPECT: launch 0, sync 700, again 700, after reset 46
// CASE host: STDERR: faults.cu:@store
// CASE misaligned: EXPECT: launch 0, sync 716, again 716, after reset 46
// CASE misaligned: STDERR: faults.cu:@misaligned
// CASE assert: EXPECT: launch 0, sync 710, again 710, after reset 46
// CASE assert: STDERR: faults.cu:@assert
// CASE assert: STDERR: value == 2
// CASE trap: EXPECT: launch 0, sync 719, again 719, after reset 46
// CASE trap: STDERR: faults.cu:@trap
// CASE endless: ENV: MARGAY_TIMEOUT=0.3
// CASE endless: EXPECT: launch 0, sync 702, again 702, after reset 46
// CASE endless: STDERR: kernel endless(int volatile*)
// CASE deadlock: EXPECT: launch 0, sync 702, again 702, after reset 46
// CASE deadlock: STDERR: faults.cu:@deadlock
// CASE threads: EXPECT: launch 1, sync 0, again 0, after reset 0
// CASE threads: STDERR: blocks of 2048 x 1 x 1 threads; NVIDIA H100 80GB HBM3 (compute capability 9.0) allows 1024 threads in all
// CASE shared: EXPECT: launch 1, sync 0, again 0, after reset 0
// CASE shared: STDERR: 300000 bytes of dynamic shared memory
// CASE shared: STDERR: 232448 bytes
// CASE video: EXPECT: launch 801, sync 0, again 0, after reset 0
// CASE video: STDERR: vadd
// CASE video: STDERR: faults.cu:@video
// CASE counter: EXPECT: launch 801, sync 0, again 0, after reset 0
// CASE counter: STDERR: the special register %pm0 is not simulated
// CASE counter: STDERR: faults.cu:@counter
// CASE header: EXPECT: launch 0, sync 700, again 700, after reset 46
// CASE header: STDERR: faults.cu:@header
// CASE header: STDERR: .hpp:
// CASE header: STDERR: inlined there
// CASE copy: EXPECT: null 1, freed 1, too long 1, wild 1
// CASE fork: EXPECT: child 3, parent 0
#include <cassert>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

__global__ void store(int *p, int i)
{
    p[i] = 1; // @store
}

__global__ void misaligned(char *p)
{
    *(int *)(p + 1) = 1; // @misaligned
}

__global__ void check(int value)
{
    assert(value == 2); // @assert
}

__global__ void trap()
{
    asm("trap;"); // @trap
}

__global__ void endless(volatile int *p)
{
    while (*p == 0)
        ;
}

__global__ void deadlock(volatile int *p)
{
    if (threadIdx.x == 0) asm volatile("barrier.sync 1, 64;"); // @deadlock
    p[threadIdx.x] = 1;
}

__global__ void video(int *p)
{
    int r, i = threadIdx.x;
    asm volatile("vadd.s32.s32.s32 %0, %1, %1;" : "=r"(r) : "r"(i)); // @video
    p[i] = r;
}

__global__ void counter(int *p)
{
    asm volatile("mov.u32 %0, %%pm0;" : "=r"(p[threadIdx.x])); // @counter
}

__global__ void header(int *p)
{
    p[0] = __ldcg(p + (1 << 28)); // @header
}

static int copies(int *d)
{
    int h[4] = {0}, *freed;
    cudaMalloc(&freed, 16);
    cudaFree(freed);
    printf("null %d", cudaMemcpy(0, h, 16, cudaMemcpyHostToDevice));
    printf(", freed %d", cudaMemcpy(h, freed, 16, cudaMemcpyDeviceToHost));
    printf(", too long %d", cudaMemcpy(d, h, 1 << 20, cudaMemcpyHostToDevice));
    printf(", wild %d\n", cudaMemcpy((void *)0x10, h, 16, cudaMemcpyHostToDevice));
    return 0;
}

static int forks()
{
    int status, *p;
    pid_t child = fork();
    if (child == 0)
        _exit(cudaMalloc(&p, 4));
    waitpid(child, &status, 0);
    printf("child %d, parent %d\n", WEXITSTATUS(status), cudaMalloc(&p, 4));
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    static int on_host;
    int *d, *gone;
    cudaMalloc(&d, 1024);
    cudaMemset(d, 0, 1024);
    if (!strcmp(what, "copy"))
        return copies(d);
    if (!strcmp(what, "fork"))
        return forks();
    if (!strcmp(what, "null"))
        store<<<1, 1>>>(0, 0);
    if (!strcmp(what, "freed")) {
        cudaMalloc(&gone, 4 << 20);
        cudaFree(gone);
        store<<<1, 1>>>(gone, 5);
    }
    if (!strcmp(what, "freed_small")) {
        cudaMalloc(&gone, 1024);
        cudaFree(gone);
        store<<<1, 1>>>(gone, 5);
    }
    if (!strcmp(what, "past") || !strcmp(what, "past_strict"))
        store<<<1, 1>>>(d, 256);
    if (!strcmp(what, "before")) {
        cudaMalloc(&gone, 4 << 10);
        cudaFree(gone);
        cudaMalloc(&gone, 512);
        store<<<1, 1>>>(gone, -1);
    }
    if (!strcmp(what, "past_mapped")) {
        cudaMalloc(&gone, 8 << 20);
        store<<<1, 1>>>(gone, 2 << 20);
    }
    if (!strcmp(what, "past_misaligned"))
        misaligned<<<1, 1>>>((char *)d + 1024);
    if (!strcmp(what, "beyond"))
        store<<<1, 1>>>(d, 1 << 28);
    if (!strcmp(what, "host"))
        store<<<1, 1>>>(&on_host, 0);
    if (!strcmp(what, "misaligned"))
        misaligned<<<1, 1>>>((char *)d);
    if (!strcmp(what, "assert"))
        check<<<2, 32>>>(1);
    if (!strcmp(what, "trap"))
        trap<<<1, 32>>>();
    if (!strcmp(what, "endless"))
        endless<<<1, 32>>>(d);
    if (!strcmp(what, "deadlock"))
        deadlock<<<1, 32>>>(d);
    if (!strcmp(what, "threads"))
        store<<<1, 2048>>>(d, 0);
    if (!strcmp(what, "shared"))
        store<<<1, 1, 300000>>>(d, 0);
    if (!strcmp(what, "video"))
        video<<<1, 32>>>(d);
    if (!strcmp(what, "counter"))
        counter<<<1, 32>>>(d);
    if (!strcmp(what, "header"))
        header<<<1, 32>>>(d);
    int launch = cudaGetLastError(), sync = cudaDeviceSynchronize(), again = cudaMalloc(&gone, 4);
    cudaDeviceReset();
    printf("launch %d, sync %d, again %d, after reset %d\n", launch, sync, again, cudaMalloc(&gone, 4));
    return 0;
}
