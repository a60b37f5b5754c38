/* barrier.cu - barriers and warp operations that part of the threads miss. cases.cuh says how to read it. */
#include <cooperative_groups.h>

#include "cases.cuh"

namespace cg = cooperative_groups;

template <bool fault> __global__ void barrier_in_branch(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    if (fault) {
        if (t < 32)
            __syncthreads(); // EXPECT: barrier/*
    } else {
        __syncthreads();
    }
    out[t] = s[t];
}
CASE(barrier_in_branch, ALONE)
{
    barrier_in_branch<fault><<<1, 64>>>(zeros(64), zeros(64));
}

template <bool fault> __global__ void barrier_of_some_lanes(const int *in, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    if (fault) {
        if (in[t] == 0 && t % 2)
            __syncthreads(); // EXPECT: barrier/*
    } else {
        __syncthreads();
    }
    out[t] = s[t];
}
CASE(barrier_of_some_lanes, ALONE | HANGS)
{
    barrier_of_some_lanes<fault><<<1, 32>>>(zeros(32), zeros(32));
}

template <bool fault> __global__ void two_barriers(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    if (!fault) {
        __syncthreads();
        out[t] = s[63 - t];
    } else if (t < 32) {
        __syncthreads(); // EXPECT: barrier/different-lines
        out[t] = s[63 - t];
    } else {
        __syncthreads(); // ALSO: barrier/different-lines
        out[t] = s[63 - t] + 1;
    }
}
CASE(two_barriers, ALONE)
{
    two_barriers<fault><<<1, 64>>>(zeros(64), zeros(64));
}

template <bool fault> __global__ void early_return(const int *in, int *out, int n)
{
    __shared__ int s[64];
    int i = threadIdx.x;
    if (fault && i >= n)
        return; // ALSO: barrier/*
    s[i] = i < n ? in[i] : 0;
    __syncthreads(); // EXPECT: barrier/left
    if (i < n)
        out[i] = s[n - 1 - i];
}
CASE(early_return, ALONE)
{
    early_return<fault><<<1, 64>>>(zeros(64), zeros(64), 40);
}

template <bool fault> __global__ void loop_of_different_lengths(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    int rounds = fault ? 2 + in[t] + t / 32 : 3;
    for (int k = 0; k < rounds; k++) {
        s[t] = in[t] + k;
        __syncthreads(); // EXPECT: barrier/*
        sum += s[t];
    }
    out[t] = sum;
}
CASE(loop_of_different_lengths, ALONE)
{
    loop_of_different_lengths<fault><<<1, 64>>>(zeros(64), zeros(64));
}

template <bool fault> __global__ void break_before_barrier(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++) {
        if (fault && t >= 32 && in[t] + k == 2)
            break; // ALSO: barrier/*
        s[t] = k;
        __syncthreads(); // EXPECT: barrier/*
    }
    out[t] = s[t];
}
CASE(break_before_barrier, ALONE)
{
    break_before_barrier<fault><<<1, 64>>>(zeros(64), zeros(64));
}

template <bool fault> __global__ void group_sync_in_branch(const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    __shared__ int s[96];
    s[threadIdx.x] = in[threadIdx.x];
    if (!fault || threadIdx.x < 64)
        block.sync(); // EXPECT: barrier/*
    out[threadIdx.x] = s[threadIdx.x];
}
CASE(group_sync_in_branch, ALONE)
{
    group_sync_in_branch<fault><<<1, 96>>>(zeros(96), zeros(96));
}

/* ---- masks ---- */
template <bool fault> __global__ void warp_barrier_mask(const int *in, int *out)
{
    int t = threadIdx.x;
    if (t < 16) {
        int v = in[t];
        __syncwarp(fault ? 0xffffffffu : 0xffffu); // EXPECT: barrier/mask
        out[t] = v;
    }
    out[t] += t;
}
CASE(warp_barrier_mask, ALONE)
{
    warp_barrier_mask<fault><<<1, 32>>>(zeros(32), zeros(32));
}

template <bool fault> __global__ void shuffle_mask(const int *in, int *out)
{
    int t = threadIdx.x, v = in[t];
    if (t < 16)
        v += __shfl_down_sync(fault ? 0xffffffffu : 0xffffu, v, 8, 16); // EXPECT: barrier/mask
    out[t] = v;
}
CASE(shuffle_mask, ALONE)
{
    shuffle_mask<fault><<<1, 32>>>(zeros(32), zeros(32));
}

template <bool fault> __global__ void vote_mask(const int *in, int *out)
{
    int t = threadIdx.x, v = 0;
    if (in[t] + t < 20)
        v = __any_sync(fault ? 0xffffffffu : 0xfffffu, in[t] > 0); // EXPECT: barrier/mask
    out[t] = v;
}
CASE(vote_mask, ALONE)
{
    vote_mask<fault><<<1, 32>>>(zeros(32), zeros(32));
}

/* The last warp of a block of 40 has 8 lanes, and all may be named: those that never started need not come. */
template <bool fault> __global__ void partial_warp(const int *in, int *out)
{
    int t = threadIdx.x, v = in[t];
    if (!fault || t < 36)
        v += __shfl_xor_sync(0xffffffffu, v, 1); // EXPECT: barrier/mask
    out[t] = v;
}
CASE(partial_warp, ALONE)
{
    partial_warp<fault><<<1, 40>>>(zeros(40), zeros(40));
}

/* Lanes that have returned need not come either; lanes that go on must. */
template <bool fault> __global__ void tail_returned(const int *in, int *out, int n)
{
    int t = threadIdx.x, sum = 0;
    if (!fault && t >= n)
        return;
    if (t < n) {
        __syncwarp(); // EXPECT: barrier/mask
        sum = __popc(__ballot_sync(0xffffffffu, in[t] == 0)); // ALSO: barrier/mask
    }
    out[t] = sum;
}
CASE(tail_returned, ALONE)
{
    tail_returned<fault><<<1, 64>>>(zeros(64), zeros(64), 56);
}

template <bool fault> __global__ void tile_of_short_block(const int *in, int *out)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x, v = in[t];
    if (!fault || tile.thread_rank() < 4)
        v += tile.shfl(v, 2); // EXPECT: barrier/mask
    out[t] = v;
}
CASE(tile_of_short_block, ALONE)
{
    tile_of_short_block<fault><<<1, 40>>>(zeros(40), zeros(40));
}

template <bool fault> __global__ void mask_without_self(const int *in, int *out)
{
    int t = threadIdx.x;
    unsigned mask = fault ? 0x0000ffffu : 0xffffffffu;
    out[t] = __shfl_sync(mask, in[t], 0); // EXPECT: barrier/mask-self
}
CASE(mask_without_self, ALONE | HANGS)
{
    mask_without_self<fault><<<1, 32>>>(zeros(32), zeros(32));
}

template <bool fault> __global__ void shuffle_from_outside(const int *in, int *out)
{
    int t = threadIdx.x, v = in[t];
    if (t < 8)
        v = __shfl_sync(0xffu, v, fault ? t + 8 : 7 - t); // EXPECT: barrier/shuffle-source
    out[t] = v;
}
CASE(shuffle_from_outside, ALONE)
{
    shuffle_from_outside<fault><<<1, 32>>>(zeros(32), zeros(32));
}

/* The upper lanes get what nobody gives them, and nobody looks at what they make of it. */
template <bool fault> __global__ void sum_of_eight(const float *in, float *out)
{
    if (threadIdx.x >= 8)
        return;
    float v = in[threadIdx.x];
    for (int d = fault ? 8 : 4; d; d /= 2)
        v += __shfl_down_sync(0xff, v, d); // EXPECT: barrier/shuffle-source
    if (threadIdx.x == 0)
        *out = v;
}
CASE(sum_of_eight, 0)
{
    sum_of_eight<fault><<<1, 64>>>((float *)zeros(8), (float *)zeros(1));
}

/* Fewer lanes each round, who meet among themselves: those that have left are in nobody's way. */
template <bool fault> __global__ void fewer_each_round(int *out)
{
    __shared__ int s[32];
    int lane = threadIdx.x, v = lane, rounds = 4 - lane / 8;
    for (int r = 0; r < rounds; r++) {
        unsigned who = 0xffffffffu >> 8 * r;
        s[lane] = v; // EXPECT: race/in-step s
        __syncwarp(who);
        v += s[3]; // ALSO: race/in-step
        if (!fault)
            __syncwarp(who);
    }
    out[lane] = v;
}
CASE(fewer_each_round, 0)
{
    fewer_each_round<fault><<<1, 32>>>(zeros(32));
}

/* One lane takes for all of its warp, which others of the block do not go through: a barrier of the warp is what lacks. */
template <bool fault> __global__ void one_takes_for_all(int *n, int *out)
{
    __shared__ int at;
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0)
            at = atomicAdd(n, 32); // ALSO: race/*
        // FIX: __syncwarp()
        if (!fault)
            __syncwarp();
        out[at + threadIdx.x] = 1; // EXPECT: race/* at
    }
}
CASE(one_takes_for_all, 0)
{
    one_takes_for_all<fault><<<1, 128>>>(zeros(1), zeros(32));
}

template <bool fault> __global__ void reduce_mask(const int *in, int *out)
{
    int t = threadIdx.x, v = in[t];
    if (t >= 8)
        v = __reduce_add_sync(fault ? 0xffffffffu : 0xffffff00u, v); // EXPECT: barrier/mask
    out[t] = v;
}
CASE(reduce_mask, ALONE)
{
    reduce_mask<fault><<<1, 32>>>(zeros(32), zeros(32));
}

/* ---- named barriers ---- */
template <bool fault> __global__ void counts_differ(int *out)
{
    int warp = threadIdx.x / 32;
    int count = fault && warp ? 96 : 64;
    if (warp < 2)
        asm volatile("bar.sync 1, %0;" ::"r"(count) : "memory"); // EXPECT: barrier/*
    out[threadIdx.x] = warp;
}
CASE(counts_differ, ALONE | HANGS)
{
    counts_differ<fault><<<1, 96>>>(zeros(96));
}

template <bool fault> __global__ void odd_count(const int *in, int *out)
{
    int count = in[0] + (fault ? 40 : 64);
    asm volatile("bar.sync 2, %0;" ::"r"(count) : "memory"); // EXPECT: barrier/count
    out[threadIdx.x] = count;
}
CASE(odd_count, ALONE | HANGS)
{
    odd_count<fault><<<1, 64>>>(zeros(1), zeros(64));
}

template <bool fault> __global__ void no_count(const int *in, int *out)
{
    int count = in[0] + (fault ? 0 : 64);
    asm volatile("bar.sync 2, %0;" ::"r"(count) : "memory"); // EXPECT: barrier/count
    out[threadIdx.x] = count;
}
CASE(no_count, ALONE | HANGS)
{
    no_count<fault><<<1, 64>>>(zeros(1), zeros(64));
}

template <bool fault> __global__ void no_such_barrier(const int *in, int *out)
{
    int number = in[0] + (fault ? 17 : 7);
    asm volatile("bar.sync %0;" ::"r"(number) : "memory"); // EXPECT: barrier/count
    out[threadIdx.x] = number;
}
CASE(no_such_barrier, ALONE | HANGS)
{
    no_such_barrier<fault><<<1, 64>>>(zeros(1), zeros(64));
}

template <bool fault> __global__ void waits_for_too_many(const int *in, int *out)
{
    int count = in[0] + (fault ? 128 : 64);
    asm volatile("bar.sync 3, %0;" ::"r"(count) : "memory"); // EXPECT: barrier/*
    out[threadIdx.x] = count;
}
CASE(waits_for_too_many, ALONE | HANGS)
{
    waits_for_too_many<fault><<<1, 64>>>(zeros(1), zeros(64));
}

template <bool fault> __global__ void nobody_arrives(const int *in, int *out)
{
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 4, 64;" ::: "memory"); // EXPECT: barrier/*
        out[threadIdx.x] = in[threadIdx.x];
    } else if (!fault) {
        asm volatile("bar.arrive 4, 64;" ::: "memory");
    }
}
CASE(nobody_arrives, ALONE | HANGS)
{
    nobody_arrives<fault><<<1, 64>>>(zeros(64), zeros(64));
}

/* Two groups of two warps: any two might meet at one barrier. */
template <bool fault> __global__ void one_number(int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x, number = fault ? 1 : 1 + t / 64;
    s[t] = t; // ALSO: race/*
    asm volatile("bar.sync %0, 64;" ::"r"(number) : "memory"); // EXPECT: barrier/same-number
    out[t] = s[t / 64 * 64 + 63 - t % 64]; // ALSO: race/*
}
CASE(one_number, ALONE)
{
    one_number<fault><<<1, 128>>>(zeros(128));
}

/* The same number for one group after the other, and something between them. */
template <bool fault> __global__ void number_again(int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t; // ALSO: race/*
    if (t < 64)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // ALSO: barrier/same-number
    if (!fault)
        __syncthreads();
    if (t >= 64)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // EXPECT: barrier/same-number
    out[t] = s[t ^ 1];
}
CASE(number_again, ALONE)
{
    number_again<fault><<<1, 128>>>(zeros(128));
}

template <bool fault> __global__ void masks_differ(const int *in, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t]; // ALSO: race/*
    __syncwarp(t < 16 || !fault ? 0xffffffffu : 0xffff0000u); // EXPECT: barrier/mask
    out[t] = s[31 - t]; // ALSO: race/*
}
CASE(masks_differ, ALONE)
{
    masks_differ<fault><<<1, 32>>>(zeros(32), zeros(32));
}

/* Half the block waits at one barrier and half at the other: neither can go on. */
template <bool fault> __global__ void crossed(int *out)
{
    if (!fault || threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory"); // EXPECT: barrier/*
        asm volatile("bar.sync 2, 64;" ::: "memory"); // ALSO: barrier/*
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory"); // ALSO: barrier/*
        asm volatile("bar.sync 1, 64;" ::: "memory"); // ALSO: barrier/*
    }
    out[threadIdx.x] = 1;
}
CASE(crossed, ALONE | HANGS)
{
    crossed<fault><<<1, 64>>>(zeros(64));
}

/* barrier.sync may be come to from several places; bar.sync is the aligned one. */
template <bool fault> __global__ void met_from_two_places(int *out)
{
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = t;
    if (t < 32) {
        if (fault)
            asm volatile("bar.sync 1;" ::: "memory"); // EXPECT: barrier/different-lines
        else
            asm volatile("barrier.sync 1;" ::: "memory");
        out[t] = s[63 - t];
    } else {
        if (fault)
            asm volatile("bar.sync 1;" ::: "memory"); // ALSO: barrier/different-lines
        else
            asm volatile("barrier.sync 1;" ::: "memory");
        out[t] = 2 * s[63 - t];
    }
}
CASE(met_from_two_places, 0)
{
    met_from_two_places<fault><<<1, 64>>>(zeros(64));
}

/* A block that returns never comes to the grid's barrier. */
template <bool fault> __global__ void grid_barrier_missed(int *out)
{
    cg::grid_group grid = cg::this_grid();
    out[blockIdx.x] = 1;
    if (fault && blockIdx.x == 3)
        return; // ALSO: barrier/*
    grid.sync(); // EXPECT: barrier/*
    if (threadIdx.x == 0)
        out[4 + blockIdx.x] = 2;
}
CASE(grid_barrier_missed, ALONE | HANGS)
{
    int *out = zeros(8);
    void *args[] = {&out};
    cudaLaunchCooperativeKernel((void *)grid_barrier_missed<fault>, 4, 1, args, 0, 0);
}

/* ---- loops that can never end: no barrier is in them ---- */
/* Each of two warps waits for the other's flag before it sets its own. */
template <bool fault> __global__ void each_waits(volatile int *flags, int *out)
{
    if (threadIdx.x == 0) {
        while (fault && flags[0] == 0) // EXPECT: barrier/no-progress
            ;
        out[0] = 1;
        __threadfence();
        flags[1] = 1;
    }
    if (threadIdx.x == 32) {
        while (flags[1] == 0) // OTHER
            ;
        out[1] = 1;
        __threadfence();
        flags[0] = 1;
    }
}
CASE(each_waits, ALONE | HANGS)
{
    each_waits<fault><<<1, 64>>>(zeros(2), zeros(2));
}

/* A block returns with the lock. */
template <bool fault> __global__ void keeps_the_lock(int *lock, int *sum, const int *in)
{
    if (threadIdx.x == 0)
        while (atomicCAS(lock, 0, 1) != 0) // EXPECT: barrier/no-progress
            ;
    __syncthreads();
    __threadfence();
    if (fault && in[blockIdx.x] < 0)
        return;
    if (threadIdx.x == 0) {
        *(volatile int *)sum += in[blockIdx.x];
        __threadfence();
        atomicExch(lock, 0);
    }
}
CASE(keeps_the_lock, ALONE | HANGS)
{
    int host[8] = {1, 2, 3, -4, 5, 6, 7, 8}, *in = fresh(8);
    cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
    keeps_the_lock<fault><<<8, 64>>>(zeros(1), zeros(1), in);
}

/* All blocks meet at a counter, and more were launched than a device holds at once. */
template <bool fault> __global__ void all_meet(unsigned *count, int *out)
{
    extern __shared__ int room[];
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) // EXPECT: barrier/no-progress
            ;
        __threadfence();
        out[blockIdx.x] = room[0] = 1;
    }
}
CASE(all_meet, ALONE | HANGS)
{
    cudaFuncSetAttribute(all_meet<fault>, cudaFuncAttributeMaxDynamicSharedMemorySize, 150 << 10);
    all_meet<fault><<<fault ? 140 : 100, 1, 150 << 10>>>(zeros<unsigned>(1), zeros(140));
}

/* The one that was to open the gate looks at the wrong word. */
template <bool fault> __global__ void behind_a_gate(volatile int *gate, volatile int *ready, int *out)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            while (ready[fault ? 1 : 0] == 0) // EXPECT: barrier/no-progress
                ;
            __threadfence();
            gate[0] = 1;
        }
        return;
    }
    if (threadIdx.x == 0) {
        ready[0] = 1;
        __threadfence();
        while (gate[0] == 0) // EXPECT: barrier/no-progress
            ;
    }
    out[blockIdx.x] = threadIdx.x == 0 ? 1 : 0; // ALSO: race/*
}
CASE(behind_a_gate, ALONE | HANGS)
{
    behind_a_gate<fault><<<2, 1>>>(zeros(1), zeros(2), zeros(2));
}
