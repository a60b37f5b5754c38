// assert_printf.cu - device printf with many formats, and an assertion that holds
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

__global__ void talk(const char *word)
{
    assert(blockDim.x == 4);
    if (threadIdx.x == 2)
        printf("thread %d of %u: %5.2f %s %c %lld %#x %%\n", threadIdx.x, blockDim.x, 3.14159, word, '!', 1LL << 40,
               255);
}

int main()
{
    char *word;
    CK(cudaMallocManaged(&word, 6));
    strcpy(word, "hello");
    talk<<<1, 4>>>(word);
    CK(cudaDeviceSynchronize());
    CK(cudaFree(word));
    return finish(true);
}
