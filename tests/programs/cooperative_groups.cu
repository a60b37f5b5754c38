// cooperative_groups.cu - tiles of a block, a coalesced group and a barrier over the grid
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(call)                                                           \
    do {                                                                   \
        cudaError_t error_ = (call);                                       \
        if (error_ != cudaSuccess) {                                       \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

static int finish(bool good)
{
    puts(good ? "PASS" : "FAIL");
    return !good;
}

namespace cg = cooperative_groups;

__global__ void tiles(const int *in, int *out)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int v = in[threadIdx.x];
    for (int d = tile.size() / 2; d; d /= 2)
        v += tile.shfl_down(v, d);
    if (tile.thread_rank() == 0)
        out[tile.meta_group_rank()] = v;
    int all = cg::reduce(tile, in[threadIdx.x], cg::greater<int>());
    if (tile.thread_rank() == 3)
        out[16 + tile.meta_group_rank()] = all;
}

__device__ int odd;

__global__ void coalesced(const int *in)
{
    if (in[threadIdx.x] & 1) {
        auto group = cg::coalesced_threads();
        if (group.thread_rank() == 0)
            atomicAdd(&odd, (int)group.size());
    }
}

__global__ void grid(int *a, int *b, int n)
{
    auto g = cg::this_grid();
    for (int i = g.thread_rank(); i < n; i += g.size())
        a[i] = i * 3;
    g.sync();
    for (int i = g.thread_rank(); i < n; i += g.size())
        b[i] = a[n - 1 - i];
}

int main()
{
    int in[128], got[32], *d, count, want = 0, n = 1000;
    for (int i = 0; i < 128; i++)
        want += (in[i] = i * 11 % 53) & 1;
    CK(cudaMalloc(&d, 4 * n * sizeof(int)));
    CK(cudaMemcpy(d, in, sizeof(in), cudaMemcpyHostToDevice));
    tiles<<<1, 128>>>(d, d + 128);
    coalesced<<<1, 128>>>(d);
    CK(cudaMemcpy(got, d + 128, sizeof(got), cudaMemcpyDeviceToHost));
    CK(cudaMemcpyFromSymbol(&count, odd, sizeof(int)));
    bool good = count == want;
    for (int t = 0; t < 16; t++) {
        int sum = 0, most = 0;
        for (int i = 0; i < 8; i++) {
            sum += in[8 * t + i];
            most = std::max(most, in[8 * t + i]);
        }
        good &= got[t] == sum && got[16 + t] == most;
    }
    int *a = d + 256, *b = a + n;
    void *args[] = {&a, &b, &n};
    CK(cudaLaunchCooperativeKernel((void *)grid, dim3(4), dim3(64), args));
    std::vector<int> back(n);
    CK(cudaMemcpy(back.data(), b, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        good &= back[i] == (n - 1 - i) * 3;
    CK(cudaFree(d));
    return finish(good);
}
