// pipeline_copy.cu - asynchronous copies to shared memory, two stages, while the other is used
#include <cuda_pipeline.h>
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

const int BLOCK = 64;

__global__ void sums(const int *in, int *out, int pieces)
{
    __shared__ int stage[2][BLOCK];
    int t = threadIdx.x, sum = 0;
    __pipeline_memcpy_async(&stage[0][t], &in[t], sizeof(int));
    __pipeline_commit();
    for (int p = 0; p < pieces; p++) {
        if (p + 1 < pieces)
            __pipeline_memcpy_async(&stage[(p + 1) % 2][t], &in[(p + 1) * BLOCK + t], sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += stage[p % 2][BLOCK - 1 - t] * (p + 1);
        __syncthreads();
    }
    out[t] = sum;
}

int main()
{
    const int pieces = 6, n = pieces * BLOCK;
    std::vector<int> in(n), got(BLOCK);
    for (int i = 0; i < n; i++)
        in[i] = i * 19 % 103;
    int *d;
    CK(cudaMalloc(&d, (n + BLOCK) * sizeof(int)));
    CK(cudaMemcpy(d, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    sums<<<1, BLOCK>>>(d, d + n, pieces);
    CK(cudaMemcpy(got.data(), d + n, BLOCK * sizeof(int), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int t = 0; t < BLOCK; t++) {
        int sum = 0;
        for (int p = 0; p < pieces; p++)
            sum += in[p * BLOCK + BLOCK - 1 - t] * (p + 1);
        good &= got[t] == sum;
    }
    CK(cudaFree(d));
    return finish(good);
}
