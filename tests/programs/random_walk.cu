// random_walk.cu - walkers on a ring, visits counted with atomics
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

__host__ __device__ int walk(unsigned seed, int steps, int sites)
{
    int at = seed % sites;
    for (int i = 0; i < steps; i++) {
        seed = seed * 1103515245u + 12345u;
        at = (at + (seed >> 16 & 1 ? 1 : sites - 1)) % sites;
    }
    return at;
}

__global__ void walkers(int n, int steps, int sites, int *ends)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&ends[walk(i * 9176 + 1, steps, sites)], 1);
}

int main()
{
    const int n = 500, steps = 40, sites = 64;
    std::vector<int> want(sites), got(sites);
    int *d;
    for (int i = 0; i < n; i++)
        want[walk(i * 9176 + 1, steps, sites)]++;
    CK(cudaMalloc(&d, sites * sizeof(int)));
    CK(cudaMemset(d, 0, sites * sizeof(int)));
    walkers<<<(n + 127) / 128, 128>>>(n, steps, sites, d);
    CK(cudaMemcpy(got.data(), d, sites * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaFree(d));
    return finish(got == want);
}
