/* vectors.cu - atomics on float2 and float4 (compute capability 9.0): with and without a reader, beside those on float.
 *
 *     vectors        prints "vectors: ok"
 *
 * One warp a launch: strides of 1, 0, 2, 8 and 3 elements, from the first element and from the second.
 */
#include <cstdio>

#define QUESTION(type, value)                                                                                          \
    __global__ void red_##type(type *p, int stride, int first)                                                        \
    {                                                                                                                  \
        atomicAdd(p + threadIdx.x * stride + first, value);                                                            \
    }                                                                                                                  \
    __global__ void atom_##type(type *p, int stride, int first, type *old)                                            \
    {                                                                                                                  \
        old[threadIdx.x] = atomicAdd(p + threadIdx.x * stride + first, value);                                         \
    }                                                                                                                  \
    static void ask_##type(char *p, char *old, int stride, int first)                                                  \
    {                                                                                                                  \
        red_##type<<<1, 32>>>((type *)p, stride, first);                                                               \
        atom_##type<<<1, 32>>>((type *)p, stride, first, (type *)old);                                                 \
    }
QUESTION(float4, make_float4(1, 2, 3, 4))
QUESTION(float2, make_float2(1, 2))
QUESTION(float, 1.0f)

int main()
{
    static const int strides[] = {1, 0, 2, 8, 3};
    char *p, *old;
    if (cudaMalloc(&p, 1 << 20) || cudaMalloc(&old, 1 << 20) || cudaMemset(p, 0, 1 << 20))
        return 1;
    for (int stride : strides)
        for (int first = 0; first < 2; first++) {
            ask_float4(p, old, stride, first);
            ask_float2(p, old, stride, first);
            ask_float(p, old, stride, first);
        }
    cudaError_t error = cudaDeviceSynchronize();
    puts(error ? cudaGetErrorString(error) : "vectors: ok");
    return error != cudaSuccess;
}
