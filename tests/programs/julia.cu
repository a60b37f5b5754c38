// julia.cu - a struct of complex numbers with operators, in float without fused operations
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

struct complex {
    float re, im;
    __host__ __device__ float norm2() const
    {
#ifdef __CUDA_ARCH__
        return __fadd_rn(__fmul_rn(re, re), __fmul_rn(im, im));
#else
        volatile float a = re * re, b = im * im;
        return a + b;
#endif
    }
};

__host__ __device__ complex operator*(complex a, complex b)
{
#ifdef __CUDA_ARCH__
    return {__fsub_rn(__fmul_rn(a.re, b.re), __fmul_rn(a.im, b.im)),
            __fadd_rn(__fmul_rn(a.re, b.im), __fmul_rn(a.im, b.re))};
#else
    volatile float p = a.re * b.re, q = a.im * b.im, r = a.re * b.im, s = a.im * b.re;
    return {p - q, r + s};
#endif
}

__host__ __device__ complex operator+(complex a, complex b)
{
    return {a.re + b.re, a.im + b.im};
}

__host__ __device__ int escape(int x, int y, int size)
{
    complex z = {(x - size / 2) * 0.03125f, (y - size / 2) * 0.03125f}, c = {-0.8f, 0.156f};
    for (int i = 0; i < 60; i++) {
        if (z.norm2() > 4)
            return i;
        z = z * z + c;
    }
    return 60;
}

__global__ void julia(int *out, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size * size)
        out[i] = escape(i % size, i / size, size);
}

int main()
{
    const int size = 48;
    std::vector<int> out(size * size);
    int *d;
    CK(cudaMalloc(&d, out.size() * sizeof(int)));
    julia<<<(size * size + 127) / 128, 128>>>(d, size);
    CK(cudaMemcpy(out.data(), d, out.size() * sizeof(int), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < size * size; i++)
        good &= out[i] == escape(i % size, i / size, size);
    CK(cudaFree(d));
    return finish(good);
}
