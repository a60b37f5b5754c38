// quantise.cu - floats to int8 by a scale found with atomicMax on their bits, dp4a products of them
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

__global__ void greatest(const float *x, int n, unsigned *most)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicMax(most, __float_as_uint(fabsf(x[i])));
}

__global__ void quantise(const float *x, signed char *q, int n, const unsigned *most)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        q[i] = (signed char)max(-127, min(127, __float2int_rn(x[i] * 127.0f / __uint_as_float(*most))));
}

__global__ void dot(const int *a, const int *b, int words, int *out)
{
    int sum = 0;
    for (int i = threadIdx.x; i < words; i += 32)
        sum = __dp4a(a[i], b[i], sum);
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x == 0)
        *out = sum;
}

int main()
{
    const int n = 256;
    std::vector<float> x(2 * n);
    std::vector<signed char> q(2 * n);
    float most = 0, *d;
    int want = 0, *out, got;
    unsigned *dmost;
    signed char *dq;
    for (int i = 0; i < 2 * n; i++) {
        x[i] = (i * 71 % 255 - 127) / 64.0f;
        most = std::max(most, fabsf(x[i]));
    }
    CK(cudaMalloc(&d, 2 * n * sizeof(float)));
    CK(cudaMalloc(&dq, 2 * n));
    CK(cudaMalloc(&dmost, sizeof(unsigned)));
    CK(cudaMalloc(&out, sizeof(int)));
    CK(cudaMemset(dmost, 0, sizeof(unsigned)));
    CK(cudaMemcpy(d, x.data(), 2 * n * sizeof(float), cudaMemcpyHostToDevice));
    greatest<<<4, 128>>>(d, 2 * n, dmost);
    quantise<<<4, 128>>>(d, dq, 2 * n, dmost);
    dot<<<1, 32>>>((int *)dq, (int *)(dq + n), n / 4, out);
    CK(cudaMemcpy(q.data(), dq, 2 * n, cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(&got, out, sizeof(int), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < 2 * n; i++)
        good &= q[i] == (int)rintf(x[i] * 127.0f / most);
    for (int i = 0; i < n; i++)
        want += q[i] * q[n + i];
    for (void *p : {(void *)d, (void *)dq, (void *)dmost, (void *)out})
        CK(cudaFree(p));
    return finish(good && got == want);
}
