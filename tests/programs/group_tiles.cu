// group_tiles.cu - cooperative groups of several warps, which meet in the system's part of shared memory
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

#define CK(call)                                                           \
    do {                                                                   \
        cudaError_t error_ = (call);                                       \
        if (error_ != cudaSuccess) {                                       \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

// What the groups keep there must not be what the kernel keeps in its own variables.
template <int size> __global__ void tiles(const int *in, int *sums, int *before, int *kept)
{
    __shared__ int mine[256];
    extern __shared__ int more[];
    __shared__ cg::block_tile_memory<256> room;
    auto block = cg::this_thread_block(room);
    auto tile = cg::tiled_partition<size>(block);
    int t = block.thread_rank(), at = blockIdx.x * 256 + t;
    mine[t] = -t;
    more[t] = 3 * t;
    sums[at] = cg::reduce(tile, in[at], cg::plus<int>());
    before[at] = cg::exclusive_scan(tile, in[at]);
    for (int round = 0; round < 3; round++) {
        more[t] += tile.shfl(round, 0);
        tile.sync();
    }
    block.sync();
    kept[at] = mine[255 - t] + more[255 - t];
}

template <int size> static bool run(const std::vector<int> &in)
{
    const int n = (int)in.size();
    int *d;
    CK(cudaMalloc(&d, 4 * n * sizeof(int)));
    CK(cudaMemcpy(d, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    tiles<size><<<n / 256, 256, 1024>>>(d, d + n, d + 2 * n, d + 3 * n);
    CK(cudaDeviceSynchronize());
    std::vector<int> got(3 * n);
    CK(cudaMemcpy(got.data(), d + n, 3 * n * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaFree(d));
    bool good = true;
    for (int i = 0; i < n; i++) {
        int from = i / size * size, sum = 0, before = 0, other = 255 - i % 256;
        for (int k = from; k < from + size; k++) {
            sum += in[k];
            before += k < i ? in[k] : 0;
        }
        good &= got[i] == sum && got[n + i] == before && got[2 * n + i] == 2 * other + 3;
    }
    printf("tiles of %d: %s\n", size, good ? "right" : "wrong");
    return good;
}

int main()
{
    std::vector<int> in(1024);
    for (int i = 0; i < 1024; i++)
        in[i] = i * 61 % 199;
    bool good = run<64>(in) & run<128>(in) & run<256>(in);
    puts(good ? "PASS" : "FAIL");
    return !good;
}
