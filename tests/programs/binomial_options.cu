// binomial_options.cu - a tree of prices a block, folded back in shared memory
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

const int STEPS = 60;

__global__ void price(const float *strike, float *value, float s, float up, float p, float discount)
{
    __shared__ float v[STEPS + 1];
    int t = threadIdx.x;
    float k = strike[blockIdx.x];
    if (t <= STEPS)
        v[t] = fmaxf(s * powf(up, 2 * t - STEPS) - k, 0);
    __syncthreads();
    for (int step = STEPS; step > 0; step--) {
        float next = t < step ? discount * (p * v[t + 1] + (1 - p) * v[t]) : 0;
        __syncthreads();
        if (t < step)
            v[t] = next;
        __syncthreads();
    }
    if (t == 0)
        value[blockIdx.x] = v[0];
}

int main()
{
    const int n = 12;
    const double s = 30, dt = 1.0 / STEPS, up = exp(0.3 * sqrt(dt)), p = (exp(0.02 * dt) - 1 / up) / (up - 1 / up);
    std::vector<float> strike(n), got(n);
    for (int i = 0; i < n; i++)
        strike[i] = 20 + 2 * i;
    float *d;
    CK(cudaMalloc(&d, 2 * n * sizeof(float)));
    CK(cudaMemcpy(d, strike.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    price<<<n, 64>>>(d, d + n, s, up, p, exp(-0.02 * dt));
    CK(cudaMemcpy(got.data(), d + n, n * sizeof(float), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int i = 0; i < n; i++) {
        double v[STEPS + 1];
        for (int t = 0; t <= STEPS; t++)
            v[t] = std::max(s * pow(up, 2 * t - STEPS) - strike[i], 0.0);
        for (int step = STEPS; step > 0; step--)
            for (int t = 0; t < step; t++)
                v[t] = exp(-0.02 * dt) * (p * v[t + 1] + (1 - p) * v[t]);
        worst = std::max(worst, fabs(got[i] - v[0]));
    }
    CK(cudaFree(d));
    return finish(worst < 2e-3);
}
