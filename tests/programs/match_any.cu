// match_any.cu - lanes with the same key add together, one atomic a group
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

__global__ void grouped(const int *keys, int n, int *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned active = __ballot_sync(0xffffffff, i < n);
    if (i >= n)
        return;
    unsigned peers = __match_any_sync(active, keys[i]);
    if (threadIdx.x % 32 == __ffs(peers) - 1)
        atomicAdd(&sums[keys[i]], __popc(peers));
}

int main()
{
    const int n = 500, groups = 11;
    std::vector<int> keys(n), want(groups), got(groups);
    for (int i = 0; i < n; i++)
        want[keys[i] = i * i % groups]++;
    int *d, *sums;
    CK(cudaMalloc(&d, n * sizeof(int)));
    CK(cudaMalloc(&sums, groups * sizeof(int)));
    CK(cudaMemset(sums, 0, groups * sizeof(int)));
    CK(cudaMemcpy(d, keys.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    grouped<<<(n + 127) / 128, 128>>>(d, n, sums);
    CK(cudaMemcpy(got.data(), sums, groups * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaFree(d));
    CK(cudaFree(sums));
    return finish(got == want);
}
