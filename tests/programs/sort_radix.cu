// sort_radix.cu - one bit a pass in one block, places by a scan of the bits
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

const int N = 256;

__global__ void sort(unsigned *data)
{
    __shared__ unsigned keys[N], sums[2][N];
    unsigned t = threadIdx.x, key = data[t];
    for (int bit = 0; bit < 16; bit++) {
        unsigned one = key >> bit & 1, from = 0;
        sums[0][t] = one;
        __syncthreads();
        for (unsigned d = 1; d < N; d *= 2, from ^= 1) {
            sums[from ^ 1][t] = sums[from][t] + (t >= d ? sums[from][t - d] : 0);
            __syncthreads();
        }
        unsigned ones_to_here = sums[from][t], zeros = N - sums[from][N - 1];
        keys[one ? zeros + ones_to_here - 1 : t - ones_to_here] = key;
        __syncthreads();
        key = keys[t];
        __syncthreads();
    }
    data[t] = key;
}

int main()
{
    std::vector<unsigned> data(N), got(N);
    unsigned *d;
    for (int i = 0; i < N; i++)
        data[i] = i * 40503u & 0xffff;
    CK(cudaMalloc(&d, N * sizeof(unsigned)));
    CK(cudaMemcpy(d, data.data(), N * sizeof(unsigned), cudaMemcpyHostToDevice));
    sort<<<1, N>>>(d);
    CK(cudaMemcpy(got.data(), d, N * sizeof(unsigned), cudaMemcpyDeviceToHost));
    std::sort(data.begin(), data.end());
    CK(cudaFree(d));
    return finish(got == data);
}
