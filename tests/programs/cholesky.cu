// cholesky.cu - in one block, columns one after the other in shared memory
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

const int N = 24;

__global__ void cholesky(double *a)
{
    __shared__ double s[N][N + 1];
    int t = threadIdx.x;
    for (int i = t; i < N * N; i += blockDim.x)
        s[i / N][i % N] = a[i];
    __syncthreads();
    for (int k = 0; k < N; k++) {
        if (t == 0)
            s[k][k] = sqrt(s[k][k]);
        __syncthreads();
        if (t > k && t < N)
            s[t][k] /= s[k][k];
        __syncthreads();
        if (t > k && t < N)
            for (int j = k + 1; j <= t; j++)
                s[t][j] -= s[t][k] * s[j][k];
        __syncthreads();
    }
    for (int i = t; i < N * N; i += blockDim.x)
        a[i] = i % N <= i / N ? s[i / N][i % N] : 0;
}

int main()
{
    std::vector<double> a(N * N), l(N * N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i * N + j] = i == j ? N : 1.0 / (1 + abs(i - j));
    double *d, worst = 0;
    CK(cudaMalloc(&d, N * N * sizeof(double)));
    CK(cudaMemcpy(d, a.data(), N * N * sizeof(double), cudaMemcpyHostToDevice));
    cholesky<<<1, 32>>>(d);
    CK(cudaMemcpy(l.data(), d, N * N * sizeof(double), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += l[i * N + k] * l[j * N + k];
            worst = std::max(worst, fabs(sum - a[i * N + j]));
        }
    CK(cudaFree(d));
    return finish(worst < 1e-12);
}
