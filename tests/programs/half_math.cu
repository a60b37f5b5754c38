// half_math.cu - __half and __half2 arithmetic, values that half precision holds exactly
#include <cuda_fp16.h>
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

__global__ void axpy(const __half *x, __half *y, int n, __half a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hfma(a, x[i], y[i]);
}

__global__ void pairs(const __half2 *x, const __half2 *y, float *sum, int n)
{
    __half2 s = __float2half2_rn(0);
    for (int i = threadIdx.x; i < n; i += 32)
        s = __hadd2(s, __hmul2(x[i], y[i]));
    float v = __low2float(s) + __high2float(s);
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x == 0)
        *sum = v;
}

int main()
{
    const int n = 128;
    std::vector<__half> x(n), y(n), got(n);
    float want = 0, sum, *dsum;
    for (int i = 0; i < n; i++) {
        x[i] = __float2half(i % 8);
        y[i] = __float2half(i % 5 - 2);
    }
    __half *d;
    CK(cudaMalloc(&d, 2 * n * sizeof(__half)));
    CK(cudaMalloc(&dsum, sizeof(float)));
    CK(cudaMemcpy(d, x.data(), n * sizeof(__half), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d + n, y.data(), n * sizeof(__half), cudaMemcpyHostToDevice));
    axpy<<<2, 64>>>(d, d + n, n, __float2half(0.5f));
    pairs<<<1, 32>>>((__half2 *)d, (__half2 *)(d + n), dsum, n / 2);
    CK(cudaMemcpy(got.data(), d + n, n * sizeof(__half), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(&sum, dsum, sizeof(float), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n; i++) {
        float v = 0.5f * (i % 8) + i % 5 - 2;
        good &= __half2float(got[i]) == v;
        want += v * (i % 8);
    }
    CK(cudaFree(d));
    CK(cudaFree(dsum));
    return finish(good && sum == want);
}
