// occupancy_api.cu - the block size that the runtime suggests, and a launch with it
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

__global__ void square(int *p, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = i * i;
}

int main()
{
    const int n = 5000;
    int grid, block, blocks, *d;
    cudaDeviceProp prop;
    cudaFuncAttributes attributes;
    CK(cudaGetDeviceProperties(&prop, 0));
    CK(cudaFuncGetAttributes(&attributes, square));
    CK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, square));
    CK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, square, block, 0));
    bool good = block % prop.warpSize == 0 && block <= attributes.maxThreadsPerBlock && blocks >= 1;
    good &= blocks * block <= prop.maxThreadsPerMultiProcessor && grid <= blocks * prop.multiProcessorCount;
    std::vector<int> got(n);
    CK(cudaMalloc(&d, n * sizeof(int)));
    square<<<(n + block - 1) / block, block>>>(d, n);
    CK(cudaMemcpy(got.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        good &= got[i] == i * i;
    CK(cudaFree(d));
    return finish(good);
}
