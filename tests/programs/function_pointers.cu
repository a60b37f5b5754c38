// function_pointers.cu - a table of device functions, called by an index from the data
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

typedef int (*operation)(int, int);

__host__ __device__ int add(int a, int b)
{
    return a + b;
}
__host__ __device__ int subtract(int a, int b)
{
    return a - b;
}
__host__ __device__ int multiply(int a, int b)
{
    return a * b;
}
__host__ __device__ int greatest(int a, int b)
{
    return a > b ? a : b;
}

__device__ operation table[4] = {add, subtract, multiply, greatest};

__global__ void apply(const int *which, const int *a, const int *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = table[which[i]](a[i], b[i]);
}

int main()
{
    const int n = 200;
    const operation host[4] = {add, subtract, multiply, greatest};
    std::vector<int> v(3 * n), got(n);
    for (int i = 0; i < n; i++) {
        v[i] = i * i % 4;
        v[n + i] = i * 7 % 31;
        v[2 * n + i] = i * 5 % 23;
    }
    int *d;
    CK(cudaMalloc(&d, 4 * n * sizeof(int)));
    CK(cudaMemcpy(d, v.data(), 3 * n * sizeof(int), cudaMemcpyHostToDevice));
    apply<<<4, 64>>>(d, d + n, d + 2 * n, d + 3 * n, n);
    CK(cudaMemcpy(got.data(), d + 3 * n, n * sizeof(int), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n; i++)
        good &= got[i] == host[v[i]](v[n + i], v[2 * n + i]);
    CK(cudaFree(d));
    return finish(good);
}
