// Imaging: a sum of phases over k-space: sinf and cosf with their slow way for large arguments, fast ones, and a block
// that keeps so much shared memory that few fit.
#include "kit.cuh"
const int K = 128;
__global__ void exact(const float *x, const float4 *k, float2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float re = 0, im = 0, p = x[i];
    for (int j = 0; j < K; j++) {
        float a = 6.2831853f * p * k[j].x, s, c;
        sincosf(a, &s, &c);
        re += k[j].w * c;
        im += k[j].w * s;
    }
    out[i] = make_float2(re, im);
}
__global__ void fast(const float *x, const float4 *k, float2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float re = 0, im = 0, p = x[i];
    for (int j = 0; j < K; j++) {
        float a = 6.2831853f * p * k[j].x;
        re += k[j].w * __cosf(a);
        im += k[j].w * __sinf(a);
    }
    out[i] = make_float2(re, im);
}
__global__ void crowded(const float *x, const float4 *k, float2 *out, int n)
{
    extern __shared__ float4 s[];
    for (int j = threadIdx.x; j < K; j += blockDim.x)
        s[j] = k[j];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float re = 0, im = 0, p = x[i];
    for (int j = 0; j < K; j++) {
        float a = 6.2831853f * p * s[j].x;
        re += s[j].w * __cosf(a);
        im += s[j].w * __sinf(a);
    }
    out[i] = make_float2(re, im);
}
int main()
{
    int n = 1 << 19;
    std::vector<float> x(n), want(2 * n);
    std::vector<float4> k(K);
    for (auto &v : x)
        v = unit() * 8;
    for (auto &v : k)
        v = make_float4(unit() * 4, 0, 0, unit());
    for (int i = 0; i < n; i++) {
        double re = 0, im = 0;
        for (int j = 0; j < K; j++) {
            float a = 6.2831853f * x[i] * k[j].x;
            re += k[j].w * cosf(a);
            im += k[j].w * sinf(a);
        }
        want[2 * i] = re;
        want[2 * i + 1] = im;
    }
    float *dx = up(x);
    float4 *dk = up(k);
    float2 *a = room<float2>(n), *b = room<float2>(n), *c = room<float2>(n);
    CK(cudaFuncSetAttribute(crowded, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
    exact<<<n / 128, 128>>>(dx, dk, a, n);
    fast<<<n / 128, 128>>>(dx, dk, b, n);
    crowded<<<n / 128, 128, 100 << 10>>>(dx, dk, c, n);
    same("exact", down((float *)a, 2 * n), want, 2e-3);
    same("fast", down((float *)b, 2 * n), want, 2e-2);
    same("crowded", down((float *)c, 2 * n), want, 2e-2);
    return verdict();
}
