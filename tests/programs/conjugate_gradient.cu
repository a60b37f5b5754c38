// conjugate_gradient.cu - a tridiagonal system, dot products and updates as kernels of their own
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

const int BLOCK = 128;

__global__ void multiply(const double *p, double *q, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        q[i] = 4 * p[i] - (i ? p[i - 1] : 0) - (i + 1 < n ? p[i + 1] : 0);
}

__global__ void dot(const double *a, const double *b, double *out, int n)
{
    __shared__ double s[BLOCK];
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += BLOCK)
        sum += a[i] * b[i];
    s[threadIdx.x] = sum;
    for (int d = BLOCK / 2; d; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
    }
    if (threadIdx.x == 0)
        *out = s[0];
}

__global__ void axpy(double a, const double *x, double b, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + b * y[i];
}

static double dot_of(const double *a, const double *b, double *scratch, int n)
{
    double v;
    dot<<<1, BLOCK>>>(a, b, scratch, n);
    CK(cudaMemcpy(&v, scratch, sizeof(v), cudaMemcpyDeviceToHost));
    return v;
}

int main()
{
    const int n = 300, grid = (n + BLOCK - 1) / BLOCK;
    std::vector<double> b(n), x(n);
    for (int i = 0; i < n; i++)
        b[i] = (i * 11) % 19 - 9;
    double *dx, *r, *p, *q, *scratch;
    for (double **v : {&dx, &r, &p, &q})
        CK(cudaMalloc(v, n * sizeof(double)));
    CK(cudaMalloc(&scratch, sizeof(double)));
    CK(cudaMemset(dx, 0, n * sizeof(double)));
    CK(cudaMemcpy(r, b.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(p, b.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    double rr = dot_of(r, r, scratch, n);
    int steps = 0;
    for (; rr > 1e-20 && steps < 100; steps++) {
        multiply<<<grid, BLOCK>>>(p, q, n);
        double alpha = rr / dot_of(p, q, scratch, n), before = rr;
        axpy<<<grid, BLOCK>>>(alpha, p, 1, dx, n);
        axpy<<<grid, BLOCK>>>(-alpha, q, 1, r, n);
        rr = dot_of(r, r, scratch, n);
        axpy<<<grid, BLOCK>>>(1, r, rr / before, p, n);
    }
    CK(cudaMemcpy(x.data(), dx, n * sizeof(double), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int i = 0; i < n; i++)
        worst = std::max(worst, fabs(4 * x[i] - (i ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0) - b[i]));
    for (double *v : {dx, r, p, q, scratch})
        CK(cudaFree(v));
    return finish(worst < 1e-8 && steps < 60);
}
