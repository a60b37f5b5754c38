// Audio: a finite impulse response of 64 taps: taps and samples from global memory, taps from constant memory, samples
// staged, four outputs a thread.
#include "kit.cuh"
const int TAPS = 64;
__constant__ float taps_c[TAPS];
__global__ void plain(const float *x, const float *h, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = 0;
    for (int k = 0; k < TAPS; k++)
        s += h[k] * x[i + k];
    y[i] = s;
}
__global__ void constants(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = 0;
    for (int k = 0; k < TAPS; k++)
        s += taps_c[k] * x[i + k];
    y[i] = s;
}
__global__ void staged(const float *x, float *y, int n)
{
    __shared__ float t[256 + TAPS];
    int b = blockIdx.x * 256;
    for (int k = threadIdx.x; k < 256 + TAPS; k += 256)
        t[k] = x[b + k];
    __syncthreads();
    float s = 0;
    for (int k = 0; k < TAPS; k++)
        s += taps_c[k] * t[threadIdx.x + k];
    y[b + threadIdx.x] = s;
}
__global__ void fours(const float *x, float *y, int n)
{
    __shared__ float t[1024 + TAPS];
    int b = blockIdx.x * 1024;
    for (int k = threadIdx.x; k < 1024 + TAPS; k += 256)
        t[k] = x[b + k];
    __syncthreads();
    const float4 *v = (const float4 *)t + threadIdx.x;
    float4 c = v[0], s = {0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < TAPS / 4; k++) {
        float4 d = v[k + 1];
        float h0 = taps_c[4 * k], h1 = taps_c[4 * k + 1], h2 = taps_c[4 * k + 2], h3 = taps_c[4 * k + 3];
        s.x += h0 * c.x + h1 * c.y + h2 * c.z + h3 * c.w;
        s.y += h0 * c.y + h1 * c.z + h2 * c.w + h3 * d.x;
        s.z += h0 * c.z + h1 * c.w + h2 * d.x + h3 * d.y;
        s.w += h0 * c.w + h1 * d.x + h2 * d.y + h3 * d.z;
        c = d;
    }
    ((float4 *)y)[blockIdx.x * 256 + threadIdx.x] = s;
}
int main()
{
    int n = 1 << 23;
    std::vector<float> x(n + TAPS), h(TAPS), want(n);
    for (auto &v : x)
        v = unit() - .5f;
    for (auto &v : h)
        v = unit() - .5f;
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int k = 0; k < TAPS; k++)
            s += h[k] * x[i + k];
        want[i] = s;
    }
    float *dx = up(x), *dh = up(h), *a = room<float>(n), *b = room<float>(n), *c = room<float>(n), *d = room<float>(n);
    CK(cudaMemcpyToSymbol(taps_c, h.data(), sizeof taps_c));
    plain<<<n / 256, 256>>>(dx, dh, a, n);
    constants<<<n / 256, 256>>>(dx, b, n);
    staged<<<n / 256, 256>>>(dx, c, n);
    fours<<<n / 1024, 256>>>(dx, d, n);
    same("plain", down(a, n), want, 1e-4);
    same("constants", down(b, n), want, 1e-4);
    same("staged", down(c, n), want, 1e-4);
    same("fours", down(d, n), want, 1e-4);
    return verdict();
}
