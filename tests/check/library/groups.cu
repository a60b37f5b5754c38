/* groups.cu - cooperative groups: tiles, sums and scans over them, lanes that met by chance, the whole grid. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "held.h"

namespace cg = cooperative_groups;

__global__ void tiles(const int *in, int *sums, int *scanned, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8> eight = cg::tiled_partition<8>(warp);
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i < n ? in[i] : 0;
    int by_warp = cg::reduce(warp, x, cg::plus<int>()), by_eight = cg::reduce(eight, x, cg::greater<int>());
    scanned[i] = cg::inclusive_scan(warp, x);
    int halved = x;
    for (int d = eight.size() / 2; d > 0; d /= 2)
        halved += eight.shfl_down(halved, d);
    if (warp.thread_rank() == 0)
        atomicAdd(&sums[0], by_warp);
    if (eight.thread_rank() == 0) {
        atomicMax(&sums[1], by_eight);
        atomicAdd(&sums[2], halved);
    }
}

/* A tile of more than a warp goes through shared memory. */
__global__ void wide_tiles(const int *in, int *sums)
{
    __shared__ cg::block_tile_memory<128> room;
    cg::thread_block block = cg::this_thread_block(room);
    auto half = cg::tiled_partition<64>(block);
    int sum = cg::reduce(half, in[block.thread_rank()], cg::plus<int>());
    half.sync();
    if (half.thread_rank() == 0)
        sums[half.meta_group_rank()] = sum;
}

__global__ void by_chance(const int *in, int *counts, int *slots, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (in[i] % 3 == 0) {
        cg::coalesced_group met = cg::coalesced_threads();
        int at = 0;
        if (met.thread_rank() == 0)
            at = atomicAdd(&counts[0], (int)met.size());
        at = met.shfl(at, 0) + met.thread_rank();
        slots[at] = in[i];
    }
    cg::coalesced_group all = cg::coalesced_threads();
    auto same = cg::labeled_partition(all, in[i] % 4);
    if (same.thread_rank() == 0)
        atomicAdd(&counts[1 + in[i] % 4], (int)same.size());
    auto odd = cg::binary_partition(all, in[i] & 1);
    if ((in[i] & 1) && odd.thread_rank() == 0)
        atomicAdd(&counts[5], (int)odd.size());
}

__global__ void whole_grid(int *a, int *b, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    int i = (int)grid.thread_rank(), n = (int)grid.size();
    for (int r = 0; r < rounds; r++) {
        b[i] = a[(i + 1) % n] + 1;
        grid.sync();
        a[i] = b[(i + n - 1) % n] + 1;
        grid.sync();
    }
}

__global__ void copied(const int *in, int *out)
{
    extern __shared__ int tile[];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in + blockIdx.x * 128, sizeof(int) * 128);
    cg::wait(block);
    out[blockIdx.x * 128 + block.thread_rank()] = tile[127 - block.thread_rank()];
}

int main()
{
    const int n = 500;
    std::vector<int> h = numbers(512, 100), none(512);
    int *in = to_device(h), *out = to_device(none), *sums = to_device(none), *slots = to_device(none);
    tiles<<<4, 128>>>(in, sums, out, n);
    done("tiles");
    int sum = 0, top = 0, thirds = 0, odd = 0;
    for (int i = 0; i < n; i++) {
        sum += h[i];
        top = h[i] > top ? h[i] : top;
        thirds += h[i] % 3 == 0;
        odd += h[i] & 1;
    }
    std::vector<int> s = to_host(sums, 3), c = to_host(out, 512);
    hold(s[0] == sum && s[1] == top && s[2] == sum, "tiles");
    hold(c[33] == h[32] + h[33], "inclusive_scan");
    wide_tiles<<<1, 128>>>(in, sums);
    done("wide_tiles");
    int first = 0;
    for (int i = 0; i < 64; i++)
        first += h[i];
    hold(to_host(sums, 1)[0] == first, "wide tiles");
    cudaMemset(sums, 0, 512 * sizeof(int));
    by_chance<<<4, 128>>>(in, sums, slots, n);
    done("by_chance");
    s = to_host(sums, 6);
    hold(s[0] == thirds && s[5] == odd && s[1] + s[2] + s[3] + s[4] == n, "groups by chance");
    int rounds = 2;
    cudaMemset(sums, 0, 512 * sizeof(int));
    void *args[] = {&sums, &out, &rounds};
    cudaLaunchCooperativeKernel((void *)whole_grid, 4, 128, args, 0, 0);
    done("whole_grid");
    hold(to_host(sums, 512) == std::vector<int>(512, 4), "grid");
    copied<<<4, 128, 128 * sizeof(int)>>>(in, out);
    done("copied");
    hold(to_host(out, 128)[0] == h[127], "memcpy_async");
    for (int *p : {in, out, sums, slots})
        cudaFree(p);
    puts("PASS");
}
