// prime_sieve.cu - Eratosthenes with a bit a number, and trial division beside it
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

__global__ void strike(unsigned *bits, int n, int p)
{
    int k = p * p + (blockIdx.x * blockDim.x + threadIdx.x) * p;
    if (k < n)
        atomicOr(&bits[k / 32], 1u << k % 32);
}

__global__ void count(const unsigned *bits, int n, int *sieved, int *divided)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 2 || i >= n)
        return;
    if (!(bits[i / 32] >> i % 32 & 1))
        atomicAdd(sieved, 1);
    bool prime = true;
    for (int d = 2; d * d <= i; d++)
        prime &= i % d != 0;
    if (prime)
        atomicAdd(divided, 1);
}

int main()
{
    const int n = 1000;
    unsigned *bits;
    int *counts, got[2];
    CK(cudaMalloc(&bits, (n + 31) / 32 * 4));
    CK(cudaMalloc(&counts, 2 * sizeof(int)));
    CK(cudaMemset(bits, 0, (n + 31) / 32 * 4));
    CK(cudaMemset(counts, 0, 2 * sizeof(int)));
    for (int p = 2; p * p < n; p++)
        strike<<<(n / p + 127) / 128, 128>>>(bits, n, p);
    count<<<(n + 127) / 128, 128>>>(bits, n, counts, counts + 1);
    CK(cudaMemcpy(got, counts, sizeof(got), cudaMemcpyDeviceToHost));
    CK(cudaFree(bits));
    CK(cudaFree(counts));
    return finish(got[0] == 168 && got[1] == 168);
}
