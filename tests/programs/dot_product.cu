// dot_product.cu - in double, a partial sum a block, the rest on the host
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

__global__ void dot(const double *x, const double *y, double *part, int n)
{
    __shared__ double s[256];
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i] * y[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d; d >>= 1) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (!threadIdx.x)
        part[blockIdx.x] = s[0];
}

int main()
{
    const int n = 4000, grid = 4;
    std::vector<double> x(n), y(n), part(grid);
    double *d, want = 0, got = 0;
    for (int i = 0; i < n; i++) {
        x[i] = 1.0 / (1 + i);
        y[i] = i % 3;
        want += x[i] * y[i];
    }
    CK(cudaMalloc(&d, (2 * n + grid) * sizeof(double)));
    CK(cudaMemcpy(d, x.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d + n, y.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    dot<<<grid, 256>>>(d, d + n, d + 2 * n, n);
    CK(cudaMemcpy(part.data(), d + 2 * n, grid * sizeof(double), cudaMemcpyDeviceToHost));
    for (double p : part)
        got += p;
    CK(cudaFree(d));
    return finish(fabs(got - want) < 1e-12 * n);
}
