/* cooperative.cu - what people do with cooperative groups, pipelines and barriers of libcu++ and CUB's storage, and the
 * mistakes that are made with them. cases.cuh says how to read it. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cuda/atomic>
#include <cuda/pipeline>
#include <cuda/std/mdspan>

#include "cases.cuh"

namespace cg = cooperative_groups;

/* ---- copies under way ---- */
template <bool fault> __global__ void release_early(const int *in, int *out, int tiles)
{
    __shared__ alignas(16) int stage[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int s = 0;
    for (int t = 0, fetched = 0; t < tiles; t++) {
        for (; fetched < tiles && fetched < t + 2; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage[fetched % 2], in + fetched * 128, sizeof(int) * 128, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        if (fault)
            pipe.consumer_release();
        s += stage[t % 2][127 - threadIdx.x]; // EXPECT: race/*
        if (!fault)
            pipe.consumer_release();
    }
    out[threadIdx.x] = s;
}
CASE(release_early, 0)
{
    release_early<fault><<<1, 128>>>(zeros(1024), zeros(128), 8);
}

template <bool fault> __global__ void copied_by_the_group(const int *in, int *out)
{
    __shared__ int s[128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof(s));
    if (fault)
        block.sync();
    else
        cg::wait(block);
    out[threadIdx.x] = s[threadIdx.x ^ 1]; // EXPECT: race/async-copy s
}
CASE(copied_by_the_group, 0)
{
    copied_by_the_group<fault><<<1, 128>>>(zeros(128), zeros(128));
}

/* ---- groups that are too small ---- */
template <bool fault> __global__ void tile_for_block(const int *in, int *out)
{
    __shared__ int s[128];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    s[threadIdx.x] = in[threadIdx.x]; // OTHER
    if (fault)
        tile.sync();
    else
        block.sync();
    out[threadIdx.x] = s[(threadIdx.x + 32) % 128]; // EXPECT: race/write-read s
}
CASE(tile_for_block, 0)
{
    tile_for_block<fault><<<1, 128>>>(zeros(128), zeros(128));
}

template <bool fault> __global__ void tile_of_two_warps(const int *in, int *out)
{
    __shared__ int s[128];
    __shared__ cg::block_tile_memory<128> room;
    auto tile = cg::tiled_partition<64>(cg::this_thread_block(room));
    int t = threadIdx.x;
    s[t] = in[t]; // OTHER
    tile.sync();
    out[t] = s[fault ? t ^ 64 : t ^ 32]; // EXPECT: race/write-read s
}
CASE(tile_of_two_warps, 0)
{
    tile_of_two_warps<fault><<<1, 128>>>(zeros(128), zeros(128));
}

template <bool fault> __global__ void some_of_the_warp(const int *in, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t]; // OTHER
    if (!fault)
        __syncwarp();
    else if (t < 16)
        cg::coalesced_threads().sync();
    if (t < 16)
        out[t] = s[t + 16]; // EXPECT: race/in-step s
}
CASE(some_of_the_warp, 0)
{
    some_of_the_warp<fault><<<1, 32>>>(zeros(32), zeros(32));
}

template <bool fault> __global__ void by_label(const int *in, int *out)
{
    __shared__ int sums[4];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x, label = t % 4;
    auto mine = cg::labeled_partition(warp, label);
    int s = cg::reduce(mine, in[t], cg::plus<int>());
    if (mine.thread_rank() == 0)
        sums[label] = s; // OTHER
    if (fault)
        mine.sync();
    else
        warp.sync();
    out[t] = sums[(label + 1) % 4]; // EXPECT: race/in-step sums
}
CASE(by_label, 0)
{
    by_label<fault><<<1, 32>>>(zeros(32), zeros(32));
}

template <bool fault> __global__ void tile_in_branch(const int *in, int *out)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x, v = in[t];
    if (!fault || t % 16 < 8)
        v = tile.shfl_down(v, 4); // EXPECT: barrier/*
    out[t] = v;
}
CASE(tile_in_branch, 0)
{
    tile_in_branch<fault><<<1, 64>>>(zeros(64), zeros(64));
}

template <bool fault> __global__ void one_slot(const int *in, int *out)
{
    __shared__ int s[4];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int v = cg::reduce(tile, in[threadIdx.x] + (int)threadIdx.x, cg::plus<int>());
    if (tile.thread_rank() == 0)
        s[fault ? 0 : tile.meta_group_rank()] = v; // EXPECT: race/write-write s*
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = fault ? s[0] : s[0] + s[1] + s[2] + s[3];
}
CASE(one_slot, 0)
{
    one_slot<fault><<<1, 128>>>(zeros(128), zeros(1));
}

/* ---- storage, flags and views ---- */
template <bool fault> __global__ void storage_of_both(const int *in, int *out)
{
    using reduce = cub::BlockReduce<int, 128>;
    using sort = cub::BlockRadixSort<int, 128, 1>;
    __shared__ union {
        typename reduce::TempStorage reduce;
        typename sort::TempStorage sort;
    } room;
    int sum = reduce(room.reduce).Sum(in[threadIdx.x]); // ALSO: race/*
    if (!fault)
        __syncthreads();
    int key[1] = {in[threadIdx.x]};
    sort(room.sort).Sort(key); // EXPECT: race/* room
    out[threadIdx.x] = key[0] + (threadIdx.x == 0 ? sum : 0);
}
CASE(storage_of_both, 0)
{
    storage_of_both<fault><<<1, 128>>>(zeros(128), zeros(128));
}

template <bool fault> __global__ void relaxed_flag(int *data, int *flag, int *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> raised(*flag);
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        data[0] = 7; // OTHER
        raised.store(1, fault ? cuda::memory_order_relaxed : cuda::memory_order_release);
    } else {
        while (raised.load(cuda::memory_order_acquire) == 0) {
        }
        out[0] = data[0]; // EXPECT: race/blocks-write-read
    }
}
CASE(relaxed_flag, 0)
{
    relaxed_flag<fault><<<2, 32>>>(zeros(1), zeros(1), zeros(1));
}

template <bool fault> __global__ void span_swapped(const float *in, float *out, int rows, int columns)
{
    cuda::std::mdspan<const float, cuda::std::dextents<int, 2>> a(in, rows, columns);
    int x = threadIdx.x, y = threadIdx.y;
    if (x < columns && y < rows)
        out[y * columns + x] = fault ? a(x, y) : a(y, x); // EXPECT: bounds/out-of-allocation
}
CASE(span_swapped, ALONE)
{
    span_swapped<fault><<<1, dim3(32, 8)>>>(zeros<float>(240), zeros<float>(240), 8, 30);
}
