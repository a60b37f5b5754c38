// thomas.cu - many tridiagonal systems at once, a thread a system, interleaved in memory
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

__global__ void solve(const float *a, const float *b, float *c, float *d, int n, int systems)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems)
        return;
    c[s] /= b[s];
    d[s] /= b[s];
    for (int i = 1; i < n; i++) {
        int at = i * systems + s, before = at - systems;
        float m = 1 / (b[at] - a[at] * c[before]);
        c[at] *= m;
        d[at] = (d[at] - a[at] * d[before]) * m;
    }
    for (int i = n - 2; i >= 0; i--)
        d[i * systems + s] -= c[i * systems + s] * d[(i + 1) * systems + s];
}

int main()
{
    const int n = 30, systems = 100, all = n * systems;
    std::vector<float> a(all), b(all), c(all), d(all), x(all);
    for (int i = 0; i < all; i++) {
        a[i] = i < systems ? 0 : 1;
        c[i] = i >= all - systems ? 0 : 1;
        b[i] = 4 + i % 3;
        d[i] = (i * 7) % 13 - 6;
    }
    float *v;
    CK(cudaMalloc(&v, 4 * all * sizeof(float)));
    CK(cudaMemcpy(v, a.data(), all * sizeof(float), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(v + all, b.data(), all * sizeof(float), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(v + 2 * all, c.data(), all * sizeof(float), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(v + 3 * all, d.data(), all * sizeof(float), cudaMemcpyHostToDevice));
    solve<<<(systems + 31) / 32, 32>>>(v, v + all, v + 2 * all, v + 3 * all, n, systems);
    CK(cudaMemcpy(x.data(), v + 3 * all, all * sizeof(float), cudaMemcpyDeviceToHost));
    float worst = 0;
    for (int i = 0; i < all; i++) {
        float left = b[i] * x[i] - d[i];
        left += i >= systems ? a[i] * x[i - systems] : 0;
        left += i < all - systems ? c[i] * x[i + systems] : 0;
        worst = std::max(worst, fabsf(left));
    }
    CK(cudaFree(v));
    return finish(worst < 1e-5f);
}
