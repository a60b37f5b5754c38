/* check.cuh - what these programs do with a call of the runtime that fails: say which, where and why, and stop. */
#ifndef CHECK_CUH
#define CHECK_CUH

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));                  \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Brings bytes of managed memory to device 0: the call's arguments changed with CUDA 13. */
static inline cudaError_t prefetch(const void *x, size_t bytes)
{
#if CUDART_VERSION >= 13000
    cudaMemLocation to = {cudaMemLocationTypeDevice, 0};
    return cudaMemPrefetchAsync(x, bytes, to, 0, 0);
#else
    return cudaMemPrefetchAsync(x, bytes, 0, 0);
#endif
}

#endif
