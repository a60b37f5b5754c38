// int128.cu - multiplication, division and shifts of 128 bits, and carries by hand
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

__host__ __device__ unsigned __int128 mix(unsigned __int128 x, unsigned long long k)
{
    unsigned __int128 y = x * k + ((unsigned __int128)k << 70);
    y ^= y >> 37;
    y -= x;
    return y / (k | 1) + y % 1000003;
}

__global__ void wide(unsigned long long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned __int128 y = mix(((unsigned __int128)(i * 0x9E3779B97F4A7C15ull) << 64) | i * 77, i * 12345ull + 1);
    out[2 * i] = (unsigned long long)y;
    out[2 * i + 1] = (unsigned long long)(y >> 64);
}

int main()
{
    const int n = 100;
    std::vector<unsigned long long> got(2 * n);
    unsigned long long *d;
    CK(cudaMalloc(&d, 2 * n * sizeof(*d)));
    wide<<<4, 32>>>(d, n);
    CK(cudaMemcpy(got.data(), d, 2 * n * sizeof(*d), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n; i++) {
        unsigned __int128 y = mix(((unsigned __int128)(i * 0x9E3779B97F4A7C15ull) << 64) | i * 77, i * 12345ull + 1);
        good &= got[2 * i] == (unsigned long long)y && got[2 * i + 1] == (unsigned long long)(y >> 64);
    }
    CK(cudaFree(d));
    return finish(good);
}
