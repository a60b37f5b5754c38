// lambdas.cu - device lambdas that capture by value, passed to a kernel template
// FLAGS: --extended-lambda
#include <cstdio>
#include <cstdlib>

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

template <typename F> __global__ void for_each(int n, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        f(i);
}

int main()
{
    const int n = 300;
    int *p, factor = 7;
    CK(cudaMallocManaged(&p, n * sizeof(int)));
    for_each<<<3, 128>>>(n, [=] __device__(int i) { p[i] = i; });
    for_each<<<3, 128>>>(n, [=] __device__(int i) { p[i] = p[i] * factor + 1; });
    CK(cudaDeviceSynchronize());
    bool good = true;
    for (int i = 0; i < n; i++)
        good &= p[i] == i * 7 + 1;
    CK(cudaFree(p));
    return finish(good);
}
