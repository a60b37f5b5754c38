// lu.cu - Doolittle's decomposition of a small matrix without pivots, a step a launch
#include <algorithm>
#include <cmath>
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

__global__ void divide(double *a, int n, int k)
{
    int i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i * n + k] /= a[k * n + k];
}

__global__ void eliminate(double *a, int n, int k)
{
    int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x, i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
}

int main()
{
    const int n = 20;
    std::vector<double> a(n * n), lu(n * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = i == j ? 2 * n : (i * 3 + j * 5) % 7 - 3;
    double *d;
    CK(cudaMalloc(&d, n * n * sizeof(double)));
    CK(cudaMemcpy(d, a.data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
    for (int k = 0; k < n - 1; k++) {
        divide<<<1, 32>>>(d, n, k);
        eliminate<<<dim3(2, 3), dim3(16, 8)>>>(d, n, k);
    }
    CK(cudaMemcpy(lu.data(), d, n * n * sizeof(double), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k <= std::min(i, j); k++)
                sum += (k == i ? 1 : lu[i * n + k]) * lu[k * n + j];
            worst = std::max(worst, fabs(sum - a[i * n + j]));
        }
    CK(cudaFree(d));
    return finish(worst < 1e-12);
}
