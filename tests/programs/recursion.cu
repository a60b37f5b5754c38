// recursion.cu - Ackermann's function, quicksort and Fibonacci on the device's stack
#include <algorithm>
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

__host__ __device__ int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

__host__ __device__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ void quicksort(int *a, int low, int high)
{
    if (low >= high)
        return;
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot)
            i++;
        while (a[j] > pivot)
            j--;
        if (i <= j) {
            int t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    quicksort(a, low, j);
    quicksort(a, i, high);
}

__global__ void numbers(int *out)
{
    out[threadIdx.x] = threadIdx.x < 6 ? ackermann(2, threadIdx.x) : fibonacci(threadIdx.x);
}

__global__ void sort(int *data, int n)
{
    quicksort(data + threadIdx.x * n, 0, n - 1);
}

int main()
{
    const int n = 30, pieces = 4;
    int got[12], *d;
    std::vector<int> data(n * pieces), sorted(n * pieces);
    for (int i = 0; i < n * pieces; i++)
        data[i] = i * 101 % 67;
    CK(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
    CK(cudaMalloc(&d, data.size() * sizeof(int)));
    numbers<<<1, 12>>>(d);
    CK(cudaMemcpy(got, d, sizeof(got), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(d, data.data(), data.size() * sizeof(int), cudaMemcpyHostToDevice));
    sort<<<1, pieces>>>(d, n);
    CK(cudaMemcpy(sorted.data(), d, data.size() * sizeof(int), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < 12; i++)
        good &= got[i] == (i < 6 ? ackermann(2, i) : fibonacci(i));
    for (int p = 0; p < pieces; p++)
        std::sort(data.begin() + p * n, data.begin() + (p + 1) * n);
    CK(cudaFree(d));
    return finish(good && sorted == data);
}
