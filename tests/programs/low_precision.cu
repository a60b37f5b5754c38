// low_precision.cu - half, bfloat16 and 8-bit floating point through CUDA's own headers
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>
#include "kit.cuh"

__global__ void halfs(const float *in, float *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    half a = __float2half(in[i]), b = __float2half(in[n - 1 - i]);
    o[i] = __half2float(__hadd(a, b));
    o[n + i] = __half2float(hexp(__hmul(a, __float2half(0.1f))));
    o[2 * n + i] = __half2float(__hfma_sat(a, b, a));
    half2 h = __halves2half2(a, b);
    h = __hmul2(h, h2sqrt(__habs2(h)));
    o[3 * n + i] = __low2float(h) + __high2float(h);
    o[4 * n + i] = __half2float(__hmax_nan(a, b)) + (__hlt(a, b) ? 100 : 0) + __half2int_rd(a);
    o[5 * n + i] = __half2float(__hdiv(a, __hadd(b, __float2half(20.f))));
}
__global__ void bf(const float *in, float *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_bfloat16 a = __float2bfloat16(in[i]), b = __float2bfloat16(in[n - 1 - i]);
    o[i] = __bfloat162float(__hadd(a, b));
    o[n + i] = __bfloat162float(__hfma(a, b, a));
    __nv_bfloat162 h = __floats2bfloat162_rn(in[i], in[n - 1 - i]);
    h = __hmul2(h, h);
    h = __hmax2(h, __float2bfloat162_rn(1.5f));
    o[2 * n + i] = __low2float(h) - __high2float(h);
    o[3 * n + i] = __bfloat162float(hrsqrt(__habs(a) + __float2bfloat16(1.f)));
}
__global__ void fp8(const float *in, float *o, unsigned char *raw, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_fp8_e4m3 a(in[i]);
    __nv_fp8_e5m2 b(in[i]);
    o[i] = float(a);
    o[n + i] = float(b);
    __nv_fp8x2_e4m3 p(make_float2(in[i], -in[i]));
    raw[i] = a.__x;
    float2 f = float2(p);
    o[2 * n + i] = f.x + f.y;
    __nv_fp8_storage_t st = __nv_cvt_float_to_fp8(in[i] * 1000, __NV_SATFINITE, __NV_E4M3);
    o[3 * n + i] = __half2float(__half(__nv_cvt_fp8_to_halfraw(st, __NV_E4M3)));
    __nv_fp8x4_e5m2 q(make_float4(in[i], in[i] * 2, in[i] * 4, in[i] * 8));
    float4 g = float4(q);
    o[4 * n + i] = g.w;
}
__global__ void at(half2 *h, __nv_bfloat162 *b, half *s)
{
    atomicAdd(h, __floats2half2_rn(1, 2));
    atomicAdd(b + threadIdx.x % 2, __floats2bfloat162_rn(1, 0.5f));
    atomicAdd(s, __float2half(0.5f));
}
int main()
{
    int n = 1000;
    std::vector<float> in(n);
    for (int i = 0; i < n; i++)
        in[i] = (mixed(i) % 4001 - 2000) * 0.005f;
    for (int i = 0; i < n; i++)
        in[i] = ((int)(mixed(i) % 4001) - 2000) * 0.005f;
    auto H = [](float f) { return __half2float(__float2half(f)); };
    auto B = [](float f) { return __bfloat162float(__float2bfloat16(f)); };
    {
        device<float> d(in), o(6 * n);
        halfs<<<8, 128>>>(d, o, n);
        CK(cudaGetLastError());
        CK(cudaDeviceSynchronize());
        auto g = o.get();
        for (int i = 0; i < n; i++) {
            float a = H(in[i]), b = H(in[n - 1 - i]);
            EXPECT(g[i] == H(a + b));
            EXPECT(fabs(g[n + i] - exp(H(a * H(0.1f)))) <= 2e-3 * exp(a * 0.1));
            EXPECT(g[2 * n + i] == H(std::min(1.f, std::max(0.f, (float)((double)a * b + a)))));
            EXPECT(g[4 * n + i] == std::max(a, b) + (a < b ? 100 : 0) + floorf(a));
            float w = H(a * H(sqrtf(fabs(a)))) + H(b * H(sqrtf(fabs(b))));
            EXPECT(fabs(g[3 * n + i] - w) <= 1e-4);
            EXPECT(fabs(g[5 * n + i] - a / H(b + 20)) < 2e-3);
        }
    }
    {
        device<float> d(in), o(4 * n);
        bf<<<8, 128>>>(d, o, n);
        CK(cudaGetLastError());
        CK(cudaDeviceSynchronize());
        auto g = o.get();
        for (int i = 0; i < n; i++) {
            float a = B(in[i]), b = B(in[n - 1 - i]);
            EXPECT(g[i] == B(a + b));
            EXPECT(g[n + i] == B((float)((double)a * b + a)));
            EXPECT(g[2 * n + i] == std::max(1.5f, B(a * a)) - std::max(1.5f, B(b * b)));
            EXPECT(fabs(g[3 * n + i] - 1 / sqrt(B(fabs(a) + 1))) < 5e-3);
        }
    }
    {
        device<float> d(in), o(5 * n);
        device<unsigned char> r(n);
        fp8<<<8, 128>>>(d, o, r, n);
        CK(cudaGetLastError());
        CK(cudaDeviceSynchronize());
        auto g = o.get();
        auto rr = r.get();
        for (int i = 0; i < n; i++) {
            __nv_fp8_e4m3 a(in[i]);
            __nv_fp8_e5m2 b(in[i]);
            EXPECT(g[i] == float(a) && rr[i] == a.__x && g[n + i] == float(b) && g[2 * n + i] == 0);
            float w = float(__nv_fp8_e4m3(in[i] * 1000));
            EXPECT(g[3 * n + i] == w);
            EXPECT(g[4 * n + i] == float(__nv_fp8_e5m2(in[i] * 8)));
        }
    }
    {
        device<half2> h(1);
        device<__nv_bfloat162> b(2);
        device<half> s(1);
        at<<<1, 64>>>(h, b, s);
        CK(cudaGetLastError());
        CK(cudaDeviceSynchronize());
        auto g = h.get()[0];
        EXPECT(__low2float(g) == 64 && __high2float(g) == 128);
        auto q = b.get()[1];
        EXPECT(__low2float(q) == 32 && __high2float(q) == 16);
        EXPECT(__half2float(s.get()[0]) == 32);
    }
    puts(good ? "PASS" : "FAIL");
    return !good;
}
