/* cub_block.cu - CUB within a block and within a warp, one after another over one piece of shared memory. */
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>

#include "held.h"

enum { THREADS = 128, EACH = 4, TILE = THREADS * EACH };

struct less {
    __device__ bool operator()(int a, int b) const { return a < b; }
};
struct differs {
    __device__ bool operator()(int a, int b) const { return a != b; }
};

__global__ void block_primitives(const int *in, int *sorted, int *scanned, int *heads, unsigned *bins, int *sums)
{
    using Load = cub::BlockLoad<int, THREADS, EACH, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<int, THREADS, EACH, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<int, THREADS, EACH>;
    using Merge = cub::BlockMergeSort<int, THREADS, EACH>;
    using Scan = cub::BlockScan<int, THREADS>;
    using Raking = cub::BlockScan<int, THREADS, cub::BLOCK_SCAN_RAKING>;
    using Reduce = cub::BlockReduce<int, THREADS>;
    using Heads = cub::BlockDiscontinuity<int, THREADS>;
    using Bins = cub::BlockHistogram<unsigned char, THREADS, EACH, 32, cub::BLOCK_HISTO_ATOMIC>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Sort::TempStorage sort;
        typename Merge::TempStorage merge;
        typename Scan::TempStorage scan;
        typename Raking::TempStorage raking;
        typename Reduce::TempStorage reduce;
        typename Heads::TempStorage heads;
        typename Bins::TempStorage bins;
    } room;
    __shared__ unsigned counts[32];
    int x[EACH], y[EACH], flags[EACH], from = blockIdx.x * TILE;
    unsigned char small[EACH];
    Load(room.load).Load(in + from, x);
    __syncthreads();
    for (int k = 0; k < EACH; k++) {
        y[k] = x[k];
        small[k] = x[k] % 32;
    }
    Sort(room.sort).Sort(x);
    __syncthreads();
    Heads(room.heads).FlagHeads(flags, x, differs());
    __syncthreads();
    Store(room.store).Store(sorted + from, x); /* which leaves x in another order */
    __syncthreads();
    Store(room.store).Store(heads + from, flags);
    __syncthreads();
    Merge(room.merge).Sort(y, less());
    __syncthreads();
    Scan(room.scan).InclusiveSum(y, y);
    __syncthreads();
    Store(room.store).Store(scanned + from, y);
    __syncthreads();
    int first = 0;
    Raking(room.raking).ExclusiveSum(x[0], first);
    __syncthreads();
    int sum = Reduce(room.reduce).Sum(x);
    __syncthreads();
    int last = Reduce(room.reduce).Reduce(first, cuda::maximum<>());
    __syncthreads();
    Bins(room.bins).Histogram(small, counts);
    __syncthreads();
    if (threadIdx.x < 32)
        bins[blockIdx.x * 32 + threadIdx.x] = counts[threadIdx.x];
    if (threadIdx.x == 0) {
        sums[2 * blockIdx.x] = sum;
        sums[2 * blockIdx.x + 1] = last;
    }
}

__global__ void warp_primitives(const int *in, int *sums, int *scanned, int *sorted)
{
    using Reduce = cub::WarpReduce<int>;
    using Eight = cub::WarpReduce<int, 8>;
    using Scan = cub::WarpScan<int>;
    using Sort = cub::WarpMergeSort<int, 2, 32>;
    __shared__ typename Reduce::TempStorage reduce[4];
    __shared__ typename Eight::TempStorage eight[16];
    __shared__ typename Scan::TempStorage scan[4];
    __shared__ typename Sort::TempStorage sort[4];
    int t = threadIdx.x, warp = t / 32, x = in[t], pair[2] = {in[2 * t], in[2 * t + 1]}, running;
    int sum = Reduce(reduce[warp]).Sum(x), part = Eight(eight[t / 8]).Sum(x);
    Scan(scan[warp]).InclusiveSum(x, running);
    Sort(sort[warp]).Sort(pair, less());
    scanned[t] = running;
    sorted[2 * t] = pair[0];
    sorted[2 * t + 1] = pair[1];
    if (t % 32 == 0)
        sums[warp] = sum;
    if (t % 8 == 0)
        sums[4 + t / 8] = part;
}

int main()
{
    const int blocks = 3, n = blocks * TILE;
    std::vector<int> h = numbers(n, 1000), none(n);
    int *in = to_device(h), *sorted = to_device(none), *scanned = to_device(none), *heads = to_device(none);
    int *sums = to_device(std::vector<int>(64));
    unsigned *bins = to_device(std::vector<unsigned>(32 * blocks));
    block_primitives<<<blocks, THREADS>>>(in, sorted, scanned, heads, bins, sums);
    done("block_primitives");
    std::vector<int> s = h, c(n), f(n);
    std::vector<unsigned> b(32 * blocks);
    for (int k = 0; k < blocks; k++) {
        std::sort(s.begin() + k * TILE, s.begin() + (k + 1) * TILE);
        std::partial_sum(s.begin() + k * TILE, s.begin() + (k + 1) * TILE, c.begin() + k * TILE);
        for (int i = k * TILE; i < (k + 1) * TILE; i++) {
            b[32 * k + h[i] % 32]++;
            f[i] = i == k * TILE || s[i] != s[i - 1];
        }
    }
    hold(to_host(sorted, n) == s, "BlockRadixSort");
    hold(to_host(scanned, n) == c, "BlockMergeSort and BlockScan");
    hold(to_host(heads, n) == f, "BlockDiscontinuity");
    hold(to_host(bins, 32 * blocks) == b, "BlockHistogram");
    warp_primitives<<<1, THREADS>>>(in, sums, scanned, sorted);
    done("warp_primitives");
    std::vector<int> ws = to_host(sums, 20);
    for (int w = 0; w < 4; w++)
        hold(ws[w] == std::accumulate(h.begin() + 32 * w, h.begin() + 32 * (w + 1), 0), "WarpReduce");
    for (int *p : {in, sorted, scanned, heads, sums})
        cudaFree(p);
    cudaFree(bins);
    puts("PASS");
}
