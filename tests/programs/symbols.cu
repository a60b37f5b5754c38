// symbols.cu - __device__ and __constant__ variables by name, by address, and with an offset
#include <cstddef>
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

struct settings {
    int scale;
    float shift[3];
};
__constant__ settings set;
__device__ int results[64];
__device__ const char *name = "device";

__global__ void use()
{
    int i = threadIdx.x;
    results[i] = i * set.scale + (int)set.shift[i % 3] + name[i % 6];
}

int main()
{
    settings s = {7, {1, 2, 3}};
    int got[64], *address;
    size_t size;
    CK(cudaMemcpyToSymbol(set, &s, sizeof(s)));
    float other = 40;
    CK(cudaMemcpyToSymbol(set, &other, sizeof(float), offsetof(settings, shift) + 4));
    use<<<1, 64>>>();
    CK(cudaMemcpyFromSymbol(got, results, sizeof(got)));
    CK(cudaGetSymbolAddress((void **)&address, results));
    CK(cudaGetSymbolSize(&size, results));
    bool good = size == sizeof(got);
    for (int i = 0; i < 64; i++)
        good &= got[i] == i * 7 + (i % 3 == 1 ? 40 : i % 3 + 1) + "device"[i % 6];
    CK(cudaMemset(address, 0, sizeof(got)));
    CK(cudaMemcpyFromSymbol(got, results, sizeof(int), 20));
    return finish(good && got[0] == 0);
}
