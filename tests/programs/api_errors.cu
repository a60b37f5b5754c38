// api_errors.cu - calls that fail, their codes kept and taken away, and work that goes on after them
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

__global__ void one(int *p)
{
    *p = 1;
}

int main()
{
    int *d, count, value = 0;
    bool good = cudaGetLastError() == cudaSuccess;
    good &= cudaSetDevice(1000) == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice;
    good &= cudaGetLastError() == cudaSuccess;
    good &= cudaMalloc((void **)nullptr, 4) == cudaErrorInvalidValue;
    good &= cudaPeekAtLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaErrorInvalidValue;
    good &= !strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
    good &= strlen(cudaGetErrorString(cudaErrorInvalidValue)) > 5;
    CK(cudaGetDeviceCount(&count));
    CK(cudaMalloc(&d, sizeof(int)));
    one<<<1, 1>>>(d);
    CK(cudaMemcpy(&value, d, sizeof(int), cudaMemcpyDeviceToHost));
    good &= cudaStreamQuery(nullptr) == cudaSuccess && cudaGetLastError() == cudaSuccess;
    CK(cudaFree(d));
    CK(cudaFree(nullptr));
    return finish(good && count >= 1 && value == 1);
}
