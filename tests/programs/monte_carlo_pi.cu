// monte_carlo_pi.cu - points from an xorshift generator a thread, hits added by warps
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

__host__ __device__ unsigned next(unsigned &s)
{
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return s;
}

__host__ __device__ unsigned hits_of(unsigned seed, int points)
{
    unsigned s = seed * 2654435761u | 1, hits = 0;
    for (int i = 0; i < points; i++) {
        long long x = next(s) >> 16, y = next(s) >> 16;
        hits += x * x + y * y < 65536LL * 65536;
    }
    return hits;
}

__global__ void darts(int points, unsigned *total)
{
    unsigned hits = hits_of(blockIdx.x * blockDim.x + threadIdx.x + 1, points);
    for (int d = 16; d; d /= 2)
        hits += __shfl_down_sync(0xffffffff, hits, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, hits);
}

int main()
{
    const int threads = 512, points = 60;
    unsigned *total, got, want = 0;
    CK(cudaMalloc(&total, sizeof(unsigned)));
    CK(cudaMemset(total, 0, sizeof(unsigned)));
    darts<<<threads / 128, 128>>>(points, total);
    CK(cudaMemcpy(&got, total, sizeof(got), cudaMemcpyDeviceToHost));
    for (int i = 0; i < threads; i++)
        want += hits_of(i + 1, points);
    double pi = 4.0 * got / (threads * points);
    CK(cudaFree(total));
    return finish(got == want && pi > 3.0 && pi < 3.3);
}
