// bfloat16.cu - conversions and products of __nv_bfloat16, exact small numbers
#include <cuda_bf16.h>
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

__global__ void product(const __nv_bfloat16 *x, const __nv_bfloat16 *y, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __bfloat162float(__hmul(x[i], y[i])) + __bfloat162float(__hadd(x[i], y[i]));
}

int main()
{
    const int n = 100;
    std::vector<__nv_bfloat16> v(2 * n);
    std::vector<float> got(n);
    for (int i = 0; i < n; i++) {
        v[i] = __float2bfloat16(i % 11 - 5);
        v[n + i] = __float2bfloat16(i % 7 * 0.5f);
    }
    __nv_bfloat16 *d;
    float *out;
    CK(cudaMalloc(&d, 2 * n * sizeof(*d)));
    CK(cudaMalloc(&out, n * sizeof(float)));
    CK(cudaMemcpy(d, v.data(), 2 * n * sizeof(*d), cudaMemcpyHostToDevice));
    product<<<4, 32>>>(d, d + n, out, n);
    CK(cudaMemcpy(got.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n; i++) {
        float a = i % 11 - 5, b = i % 7 * 0.5f;
        good &= got[i] == a * b + a + b;
    }
    CK(cudaFree(d));
    CK(cudaFree(out));
    return finish(good);
}
