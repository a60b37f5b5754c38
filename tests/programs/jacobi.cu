// jacobi.cu - iterations on a square plate until the largest change is small
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

__global__ void sweep(const double *in, double *out, int n, unsigned long long *change)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    int i = y * n + x;
    double v = 0.25 * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
    out[i] = v;
    atomicMax(change, (unsigned long long)__double_as_longlong(fabs(v - in[i])));
}

int main()
{
    const int n = 18;
    std::vector<double> a(n * n), b, got(n * n);
    for (int i = 0; i < n; i++)
        a[i] = 100;
    b = a;
    double *d[2], change = 1;
    unsigned long long *dchange;
    for (auto &p : d) {
        CK(cudaMalloc(&p, n * n * sizeof(double)));
        CK(cudaMemcpy(p, a.data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
    }
    CK(cudaMalloc(&dchange, sizeof(*dchange)));
    int steps = 0;
    for (; change > 0.5 && steps < 200; steps++) {
        CK(cudaMemset(dchange, 0, sizeof(*dchange)));
        sweep<<<dim3(3, 3), dim3(8, 8)>>>(d[steps & 1], d[~steps & 1], n, dchange);
        CK(cudaMemcpy(&change, dchange, sizeof(change), cudaMemcpyDeviceToHost));
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++)
                b[y * n + x] = 0.25 * (a[y * n + x - 1] + a[y * n + x + 1] + a[y * n + x - n] + a[y * n + x + n]);
        a.swap(b);
    }
    CK(cudaMemcpy(got.data(), d[steps & 1], n * n * sizeof(double), cudaMemcpyDeviceToHost));
    for (auto p : d)
        CK(cudaFree(p));
    CK(cudaFree(dchange));
    return finish(got == a && steps > 10 && change <= 0.5);
}
