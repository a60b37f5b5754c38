// cub_primitives.cu - block and warp reductions, scans and sorts of CUB
#include <cub/cub.cuh>
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

__global__ void blocks(const int *in, int *sorted, int *scanned, int *sum, int *warps)
{
    using sort = cub::BlockRadixSort<int, 128, 2>;
    using scan = cub::BlockScan<int, 128>;
    using reduce = cub::BlockReduce<int, 128>;
    using warp = cub::WarpReduce<int>;
    __shared__ union {
        typename sort::TempStorage sort;
        typename scan::TempStorage scan;
        typename reduce::TempStorage reduce;
        typename warp::TempStorage warp[4];
    } room;
    int t = threadIdx.x, mine[2] = {in[2 * t], in[2 * t + 1]}, before;
    scan(room.scan).ExclusiveSum(mine[0] + mine[1], before);
    scanned[t] = before;
    __syncthreads();
    int all = reduce(room.reduce).Sum(mine[0] + mine[1]);
    if (t == 0)
        *sum = all;
    __syncthreads();
    int most = warp(room.warp[t / 32]).Reduce(mine[0], cuda::maximum<>{});
    if (t % 32 == 0)
        warps[t / 32] = most;
    __syncthreads();
    sort(room.sort).Sort(mine);
    sorted[2 * t] = mine[0];
    sorted[2 * t + 1] = mine[1];
}

int main()
{
    const int n = 256;
    std::vector<int> in(n), got(2 * n);
    for (int i = 0; i < n; i++)
        in[i] = i * 83 % 211;
    int *d;
    CK(cudaMalloc(&d, 3 * n * sizeof(int)));
    CK(cudaMemcpy(d, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    blocks<<<1, 128>>>(d, d + n, d + 2 * n, d + 2 * n + 128, d + 2 * n + 129);
    CK(cudaMemcpy(got.data(), d + n, (n + 133) * sizeof(int), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int t = 0, sum = 0; t < 128; t++) {
        good &= got[n + t] == sum;
        sum += in[2 * t] + in[2 * t + 1];
        if (t == 127)
            good &= got[n + 128] == sum;
    }
    for (int w = 0; w < 4; w++) {
        int most = 0;
        for (int i = 0; i < 32; i++)
            most = std::max(most, in[2 * (32 * w + i)]);
        good &= got[n + 129 + w] == most;
    }
    std::sort(in.begin(), in.end());
    good &= std::equal(in.begin(), in.end(), got.begin());
    CK(cudaFree(d));
    return finish(good);
}
