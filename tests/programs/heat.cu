// heat.cu - explicit steps of the heat equation on a bar, all in one block
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

__global__ void heat(float *u, int n, int steps)
{
    extern __shared__ float s[];
    int i = threadIdx.x;
    s[i] = u[i];
    for (int k = 0; k < steps; k++) {
        __syncthreads();
        float v = i && i < n - 1 ? s[i] + 0.25f * (s[i - 1] - 2 * s[i] + s[i + 1]) : s[i];
        __syncthreads();
        s[i] = v;
    }
    u[i] = s[i];
}

int main()
{
    const int n = 128, steps = 20;
    std::vector<float> u(n), w(n), got(n);
    for (int i = 0; i < n; i++)
        u[i] = i < n / 2 ? 64 : 0;
    float *d;
    CK(cudaMalloc(&d, n * sizeof(float)));
    CK(cudaMemcpy(d, u.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    heat<<<1, n, n * sizeof(float)>>>(d, n, steps);
    CK(cudaMemcpy(got.data(), d, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int k = 0; k < steps; k++) {
        for (int i = 0; i < n; i++)
            w[i] = i && i < n - 1 ? u[i] + 0.25f * (u[i - 1] - 2 * u[i] + u[i + 1]) : u[i];
        u.swap(w);
    }
    float worst = 0;
    for (int i = 0; i < n; i++)
        worst = std::max(worst, fabsf(got[i] - u[i]));
    CK(cudaFree(d));
    return finish(worst < 1e-4f);
}
