// black_scholes.cu - calls and puts, put-call parity on the host
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

__device__ float normal(float x)
{
    return 0.5f * erfcf(-x * 0.70710678f);
}

__global__ void price(const float *s, const float *k, const float *t, float r, float sigma, float *call, float *put,
                      int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float root = sqrtf(t[i]), d1 = (logf(s[i] / k[i]) + (r + 0.5f * sigma * sigma) * t[i]) / (sigma * root);
    float d2 = d1 - sigma * root, discount = expf(-r * t[i]);
    call[i] = s[i] * normal(d1) - k[i] * discount * normal(d2);
    put[i] = k[i] * discount * normal(-d2) - s[i] * normal(-d1);
}

int main()
{
    const int n = 400;
    const float r = 0.02f, sigma = 0.3f;
    std::vector<float> v(3 * n), out(2 * n);
    for (int i = 0; i < n; i++) {
        v[i] = 5 + i % 26;
        v[n + i] = 1 + i % 99;
        v[2 * n + i] = 0.25f + i % 10;
    }
    float *d;
    CK(cudaMalloc(&d, 5 * n * sizeof(float)));
    CK(cudaMemcpy(d, v.data(), 3 * n * sizeof(float), cudaMemcpyHostToDevice));
    price<<<(n + 127) / 128, 128>>>(d, d + n, d + 2 * n, r, sigma, d + 3 * n, d + 4 * n, n);
    CK(cudaMemcpy(out.data(), d + 3 * n, 2 * n * sizeof(float), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int i = 0; i < n; i++) {
        double s = v[i], k = v[n + i], t = v[2 * n + i], root = sqrt(t);
        double d1 = (log(s / k) + (r + 0.5 * sigma * sigma) * t) / (sigma * root), d2 = d1 - sigma * root;
        double call = s * 0.5 * erfc(-d1 / sqrt(2)) - k * exp(-r * t) * 0.5 * erfc(-d2 / sqrt(2));
        worst = std::max(worst, std::max(fabs(out[i] - call), fabs(out[i] - out[n + i] - (s - k * exp(-r * t)))));
    }
    CK(cudaFree(d));
    return finish(worst < 1e-3);
}
