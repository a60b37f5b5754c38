// compaction.cu - what passes a test is kept in order: ballots in a warp, sums over warps, an atomic a block
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

__global__ void compact(const int *in, int n, int *out, int *count)
{
    __shared__ int warps[8], base;
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, w = threadIdx.x / 32;
    bool keep = i < n && in[i] % 3 == 0;
    unsigned votes = __ballot_sync(0xffffffff, keep);
    if (lane == 0)
        warps[w] = __popc(votes);
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int k = 0; k < 8; k++) {
            int here = warps[k];
            warps[k] = sum;
            sum += here;
        }
        base = atomicAdd(count, sum);
    }
    __syncthreads();
    if (keep)
        out[base + warps[w] + __popc(votes & ((1u << lane) - 1))] = in[i];
}

int main()
{
    const int n = 1000;
    std::vector<int> in(n), want, got;
    for (int i = 0; i < n; i++) {
        in[i] = i * 71 % 997;
        if (in[i] % 3 == 0)
            want.push_back(in[i]);
    }
    int *d, *count, kept;
    CK(cudaMalloc(&d, 2 * n * sizeof(int)));
    CK(cudaMalloc(&count, sizeof(int)));
    CK(cudaMemset(count, 0, sizeof(int)));
    CK(cudaMemcpy(d, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    compact<<<(n + 255) / 256, 256>>>(d, n, d + n, count);
    CK(cudaMemcpy(&kept, count, sizeof(int), cudaMemcpyDeviceToHost));
    got.resize(kept);
    CK(cudaMemcpy(got.data(), d + n, kept * sizeof(int), cudaMemcpyDeviceToHost));
    std::sort(want.begin(), want.end());
    std::sort(got.begin(), got.end());
    CK(cudaFree(d));
    CK(cudaFree(count));
    return finish(got == want);
}
