// histogram.cu - counts in shared memory first, then added to the whole with atomics
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

__global__ void histogram(const unsigned char *data, int n, unsigned *bins)
{
    __shared__ unsigned own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (own[i])
            atomicAdd(&bins[i], own[i]);
}

int main()
{
    const int n = 5000;
    std::vector<unsigned char> data(n);
    std::vector<unsigned> want(256), got(256);
    unsigned state = 1;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        data[i] = (state >> 24) & (state >> 16);
        want[data[i]]++;
    }
    unsigned char *ddata;
    unsigned *bins;
    CK(cudaMalloc(&ddata, n));
    CK(cudaMalloc(&bins, 256 * sizeof(unsigned)));
    CK(cudaMemcpy(ddata, data.data(), n, cudaMemcpyHostToDevice));
    CK(cudaMemset(bins, 0, 256 * sizeof(unsigned)));
    histogram<<<3, 192>>>(ddata, n, bins);
    CK(cudaMemcpy(got.data(), bins, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CK(cudaFree(ddata));
    CK(cudaFree(bins));
    return finish(got == want);
}
