// sort_bitonic.cu - a launch for each step of the network
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

__global__ void step(float *data, int j, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
    if (other > i) {
        float a = data[i], b = data[other];
        if ((a > b) == ((i & k) == 0)) {
            data[i] = b;
            data[other] = a;
        }
    }
}

int main()
{
    const int n = 512;
    std::vector<float> data(n), got(n);
    float *d;
    for (int i = 0; i < n; i++)
        data[i] = (i * 193) % 509 * 0.25f;
    CK(cudaMalloc(&d, n * sizeof(float)));
    CK(cudaMemcpy(d, data.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    for (int k = 2; k <= n; k *= 2)
        for (int j = k / 2; j; j /= 2)
            step<<<n / 128, 128>>>(d, j, k);
    CK(cudaMemcpy(got.data(), d, n * sizeof(float), cudaMemcpyDeviceToHost));
    std::sort(data.begin(), data.end());
    CK(cudaFree(d));
    return finish(got == data);
}
