// saxpy.cu - y = a x + y in place, a grid-stride loop over managed memory
#include <cstdio>
#include <cstdlib>

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

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

int main()
{
    const int n = 3000;
    float *x, *y;
    CK(cudaMallocManaged(&x, n * sizeof(float)));
    CK(cudaMallocManaged(&y, n * sizeof(float)));
    for (int i = 0; i < n; i++) {
        x[i] = i % 17;
        y[i] = i % 5;
    }
    saxpy<<<4, 128>>>(n, 2.0f, x, y);
    CK(cudaDeviceSynchronize());
    bool good = true;
    for (int i = 0; i < n; i++)
        good &= y[i] == 2.0f * (i % 17) + i % 5;
    CK(cudaFree(x));
    CK(cudaFree(y));
    return finish(good);
}
