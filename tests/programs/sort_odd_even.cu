// sort_odd_even.cu - odd-even transposition in shared memory
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

__global__ void sort(int *data, int n)
{
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s[i] = data[i];
    __syncthreads();
    for (int round = 0; round < n; round++) {
        int i = 2 * threadIdx.x + (round & 1);
        if (i + 1 < n && s[i] > s[i + 1]) {
            int t = s[i];
            s[i] = s[i + 1];
            s[i + 1] = t;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        data[i] = s[i];
}

int main()
{
    const int n = 100;
    std::vector<int> data(n), got(n);
    int *d;
    for (int i = 0; i < n; i++)
        data[i] = (i * 7919) % 101 - 20;
    CK(cudaMalloc(&d, n * sizeof(int)));
    CK(cudaMemcpy(d, data.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    sort<<<1, 64, n * sizeof(int)>>>(d, n);
    CK(cudaMemcpy(got.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
    std::sort(data.begin(), data.end());
    CK(cudaFree(d));
    return finish(got == data);
}
