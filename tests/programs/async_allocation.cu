// async_allocation.cu - memory pools: allocated, used and freed in a stream's order
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

__global__ void fill(int *p, int n, int v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = v + i;
}

int main()
{
    const int n = 300;
    cudaStream_t stream;
    std::vector<int> got(n);
    bool good = true;
    CK(cudaStreamCreate(&stream));
    for (int round = 0; round < 3; round++) {
        int *p;
        CK(cudaMallocAsync(&p, n * sizeof(int), stream));
        fill<<<3, 128, 0, stream>>>(p, n, round * 1000);
        CK(cudaMemcpyAsync(got.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
        CK(cudaFreeAsync(p, stream));
        CK(cudaStreamSynchronize(stream));
        for (int i = 0; i < n; i++)
            good &= got[i] == round * 1000 + i;
    }
    CK(cudaStreamDestroy(stream));
    return finish(good);
}
