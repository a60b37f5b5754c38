/* global.cu - races in device memory: in a block, between blocks, between streams. cases.cuh says how to read it. */
#include <cooperative_groups.h>

#include "cases.cuh"

namespace cg = cooperative_groups;

template <bool fault> __global__ void through_global(int *buffer, int *out)
{
    int t = threadIdx.x;
    buffer[t] = t; // OTHER
    if (!fault)
        __syncthreads();
    out[t] = buffer[127 - t]; // EXPECT: race/write-read
}
CASE(through_global, 0)
{
    through_global<fault><<<1, 128>>>(zeros(128), zeros(128));
}

template <bool fault> __global__ void same_place(int *out)
{
    int i = fault ? threadIdx.x : blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = blockIdx.x; // EXPECT: race/blocks-write-write
}
CASE(same_place, 0)
{
    same_place<fault><<<4, 64>>>(zeros(256));
}

template <bool fault> __global__ void smooth_in_place(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float left = i > 0 ? in[i - 1] : 0; // OTHER
    float right = i + 1 < n ? in[i + 1] : 0; // ALSO: race/*
    float middle = in[i];
    __syncthreads();
    out[i] = (left + middle + right) / 3; // EXPECT: race/blocks-*-*
}
CASE(smooth_in_place, 0)
{
    float *in = zeros<float>(256), *out = zeros<float>(256);
    smooth_in_place<fault><<<4, 64>>>(in, fault ? in : out, 256);
}

template <bool fault> __global__ void add_up_the_blocks(int *part, int *sum)
{
    if (threadIdx.x == 0)
        part[blockIdx.x] = blockIdx.x; // OTHER
    if (fault && blockIdx.x == 0 && threadIdx.x == 0) {
        int s = 0;
        for (int i = 0; i < gridDim.x; i++)
            s += ((volatile int *)part)[i]; // EXPECT: race/blocks-write-read
        *sum = s;
    }
}
template <bool fault> __global__ void add_up_afterwards(const int *part, int *sum, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += part[i];
    *sum = s;
}
CASE(add_up_the_blocks, 0)
{
    int *part = zeros(8), *sum = zeros(1);
    add_up_the_blocks<fault><<<8, 32>>>(part, sum);
    if (!fault)
        add_up_afterwards<fault><<<1, 1>>>(part, sum, 8);
}

template <bool fault> __global__ void done_flag(int *done)
{
    if (fault)
        *done = 1; // EXPECT: race/same-value
    else
        atomicExch(done, 1);
}
CASE(done_flag, 0)
{
    done_flag<fault><<<4, 1>>>(zeros(1));
}

template <bool fault> __global__ void counter_without_atomic(int *counter)
{
    if (fault)
        *counter += 1; // EXPECT: race/*
    // FIX: atomicAdd
    else
        atomicAdd(counter, 1);
}
CASE(counter_without_atomic, 0)
{
    counter_without_atomic<fault><<<8, 1>>>(zeros(1));
}

/* The last block to finish adds up what all wrote; the fence makes the writes come before the count. */
template <bool fault> __global__ void last_block(volatile int *part, unsigned *tickets, int *sum)
{
    part[blockIdx.x] = blockIdx.x + 1; // OTHER
    if (!fault)
        __threadfence();
    unsigned ticket = atomicAdd(tickets, 1);
    if (ticket == gridDim.x - 1) {
        int s = 0;
        if (!fault)
            __threadfence();
        for (int i = 0; i < gridDim.x; i++)
            s += part[i]; // EXPECT: race/blocks-write-read
        // FIX: __threadfence()
        *sum = s;
    }
}
CASE(last_block, 0)
{
    last_block<fault><<<8, 1>>>(zeros(8), zeros<unsigned>(1), zeros(1));
}

template <bool fault> __global__ void lock_without_fence(int *lock, volatile int *value)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    if (!fault)
        __threadfence();
    int v = *value; // EXPECT: race/blocks-write-read
    *value = v + blockIdx.x + 1; // ALSO: race/*
    if (!fault)
        __threadfence();
    atomicExch(lock, 0);
}
CASE(lock_without_fence, 0)
{
    lock_without_fence<fault><<<4, 1>>>(zeros(1), zeros(1));
}

/* What the grid's next barrier orders is what comes behind it. */
template <bool fault> __global__ void between_grid_barriers(int *data, int *out)
{
    const cg::grid_group grid = cg::this_grid();
    const int i = grid.thread_rank(), n = grid.size();
    grid.sync();
    data[i] = i; // ALSO: race/blocks-write-read
    if (fault)
        __syncthreads();
    else
        grid.sync();
    const int v = data[(i + 64) % n]; // EXPECT: race/blocks-write-read
    grid.sync();
    out[i] = v;
}
CASE(between_grid_barriers, 0)
{
    int *data = zeros(256), *out = zeros(256);
    void *args[] = {&data, &out};
    cudaLaunchCooperativeKernel((void *)between_grid_barriers<fault>, 4, 64, args, 0, 0);
}

template <bool fault> __global__ void grid_barrier(int *part, int *out)
{
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    part[i] = i; // OTHER
    if (fault)
        __syncthreads();
    else
        grid.sync();
    out[i] = ((volatile int *)part)[n - 1 - i]; // EXPECT: race/blocks-write-read
}
CASE(grid_barrier, 0)
{
    int *part = zeros(256), *out = zeros(256);
    void *args[] = {&part, &out};
    cudaLaunchCooperativeKernel((void *)grid_barrier<fault>, 4, 64, args, 0, 0);
}

template <bool fault> __global__ void transpose_in_place(float *m, int n)
{
    int x = threadIdx.x, y = blockIdx.x;
    if (fault ? x != y : x < y) {
        float a = m[y * n + x], b = m[x * n + y]; // ALSO: race/*
        m[y * n + x] = b + 1; // OTHER
        m[x * n + y] = a + 1; // EXPECT: race/blocks-write-write
    }
}
CASE(transpose_in_place, 0)
{
    transpose_in_place<fault><<<32, 32>>>(zeros<float>(1024), 32);
}

template <bool fault> __global__ void carry_to_the_right(int *edge, int *out)
{
    if (threadIdx.x == 0 && !fault)
        atomicAdd(&edge[blockIdx.x + 1], 5);
    if (threadIdx.x == 0 && fault)
        edge[blockIdx.x + 1] = 5; // OTHER
    if (threadIdx.x == 1 && fault)
        out[blockIdx.x] = edge[blockIdx.x]; // EXPECT: race/blocks-*-*
}
CASE(carry_to_the_right, 0)
{
    carry_to_the_right<fault><<<4, 64>>>(zeros(5), zeros(4));
}

/* ---- streams ---- */
/* Two that wait for no other, nor it for them; gone when the case ends. */
struct TwoStreams {
    cudaStream_t a, b;
    TwoStreams()
    {
        cudaDeviceSynchronize();
        cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    }
    ~TwoStreams()
    {
        cudaStreamDestroy(a);
        cudaStreamDestroy(b);
    }
};

template <bool fault> __global__ void produce(int *data)
{
    data[threadIdx.x] = threadIdx.x + 1; // ALSO: race/streams
}
template <bool fault> __global__ void consume(const int *data, int *out)
{
    out[threadIdx.x] = data[threadIdx.x]; // EXPECT: race/streams
}
CASE(two_streams, 0)
{
    int *data = zeros(64), *out = zeros(64);
    const TwoStreams s;
    cudaEvent_t event;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    produce<fault><<<1, 64, 0, s.a>>>(data);
    cudaEventRecord(event, s.a);
    if (!fault)
        cudaStreamWaitEvent(s.b, event, 0);
    consume<fault><<<1, 64, 0, s.b>>>(data, out);
    cudaDeviceSynchronize();
    cudaEventDestroy(event);
}

template <bool fault> __global__ void write_in_stream(int *data)
{
    data[threadIdx.x] = threadIdx.x; // ALSO: race/streams
}
CASE(copy_beside_a_kernel, ALONE)
{
    int *data = zeros(64), *host = nullptr;
    cudaMallocHost((void **)&host, 64 * sizeof(int));
    const TwoStreams s;
    write_in_stream<fault><<<1, 64, 0, s.a>>>(data);
    if (!fault)
        cudaStreamSynchronize(s.a);
    cudaMemcpyAsync(host, data, 64 * sizeof(int), cudaMemcpyDeviceToHost, s.b); // EXPECT: race/streams
    cudaDeviceSynchronize();
    cudaFreeHost(host);
}

/* Bytes of one word, from two streams: no word is anybody's, but its bytes are. */
template <bool fault> __global__ void blank_out(char *text, const char *from, int n)
{
    if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n)
        text[i] = from[i] & ~32; // EXPECT: race/streams
}
CASE(bytes_in_two_streams, 0)
{
    char *text = (char *)zeros(250), *from = (char *)zeros(250);
    const TwoStreams s;
    blank_out<fault><<<4, 128, 0, s.a>>>(text, from, fault ? 502 : 501);
    blank_out<fault><<<4, 128, 0, s.b>>>(text + 501, from + 501, 499);
    cudaDeviceSynchronize();
}

__constant__ int weights[64];
template <bool fault> __global__ void weighted(int *out)
{
    out[threadIdx.x] = weights[threadIdx.x] * weights[7]; // ALSO: race/streams
}
CASE(constants_beside_a_kernel, ALONE)
{
    int *out = zeros(64), host[64] = {1};
    cudaMemcpyToSymbol(weights, host, sizeof host);
    const TwoStreams s;
    weighted<fault><<<1, 64, 0, s.a>>>(out);
    if (!fault)
        cudaStreamSynchronize(s.a);
    cudaMemcpyToSymbolAsync(weights, host, sizeof host, 0, cudaMemcpyHostToDevice, s.b); // EXPECT: race/streams
    cudaDeviceSynchronize();
}

/* ---- scopes ---- */
template <bool fault> __global__ void count_in_scope(int *count)
{
    if (fault)
        atomicAdd_block(count, 1); // EXPECT: race/scope
    else
        atomicAdd(count, 1);
}
CASE(count_in_scope, 0)
{
    count_in_scope<fault><<<8, 32>>>(zeros(1));
}

/* Within one block they are what they say. */
template <bool fault> __global__ void count_by_block(int *counts)
{
    atomicAdd_block(&counts[fault ? 0 : blockIdx.x], 1); // EXPECT: race/scope
}
CASE(count_by_block, 0)
{
    count_by_block<fault><<<4, 64>>>(zeros(4));
}

template <bool fault> __global__ void pass_in_scope(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *data = 42; // ALSO: race/*
        if (fault)
            asm volatile("st.release.cta.global.s32 [%0], 1;" ::"l"(flag) : "memory"); // ALSO: race/*
        else
            asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        int seen = 0;
        while (!seen)
            if (fault)
                asm volatile("ld.acquire.cta.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory"); // EXPECT: race/scope
            else
                asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        *out = *data; // ALSO: race/*
    }
}
CASE(pass_in_scope, 0)
{
    pass_in_scope<fault><<<2, 1>>>(zeros(1), zeros(1), zeros(1));
}

/* ---- widths ---- */
template <bool fault> __global__ void two_widths(unsigned long long *word)
{
    if (threadIdx.x & 1)
        atomicAdd((unsigned *)word + (fault ? 0 : 2), 1u); // ALSO: race/widths
    else
        atomicAdd(word, 1ull); // EXPECT: race/widths
}
CASE(two_widths, 0)
{
    two_widths<fault><<<1, 64>>>(zeros<unsigned long long>(2));
}

/* ---- the source of a copy under way ---- */
template <bool fault> __global__ void source_overwritten(int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&s[t])), "l"(in + t)
                 : "memory"); // ALSO: race/async-copy
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (!fault)
        asm volatile("cp.async.wait_group 0;" ::: "memory");
    in[t] = 5; // EXPECT: race/async-copy
    if (fault)
        asm volatile("cp.async.wait_group 0;" ::: "memory");
    out[t] = s[t];
}
CASE(source_overwritten, 0)
{
    source_overwritten<fault><<<1, 64>>>(zeros(64), zeros(64));
}

/* ---- memory that is allocated and freed in the order of a stream ---- */
template <bool fault> __global__ void use_early(int *p)
{
    p[threadIdx.x] = 1; // EXPECT: race/streams
}
CASE(use_early, 0)
{
    cudaStream_t a, b;
    cudaEvent_t there;
    int *p;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreate(&there);
    cudaMallocAsync((void **)&p, 256, a);
    if (!fault) {
        cudaEventRecord(there, a);
        cudaStreamWaitEvent(b, there, 0);
    }
    use_early<fault><<<1, 64, 0, b>>>(p);
    cudaFreeAsync(p, b);
    cudaDeviceSynchronize();
    cudaEventDestroy(there);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
}

template <bool fault> __global__ void use_late(int *p)
{
    p[threadIdx.x] = 1;
}
CASE(use_late, ALONE)
{
    cudaStream_t a, b;
    int *p;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaMallocAsync((void **)&p, 256, a);
    use_late<fault><<<1, 64, 0, a>>>(p);
    if (!fault)
        cudaStreamSynchronize(a);
    cudaFreeAsync(p, b); // EXPECT: race/streams
    cudaDeviceSynchronize();
}
