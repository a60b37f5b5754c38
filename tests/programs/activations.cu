// activations.cu - relu, gelu, sigmoid and swish as functors of one template
#include <cmath>
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

struct relu {
    __host__ __device__ float operator()(float x) const
    {
        return x > 0 ? x : 0;
    }
};
struct gelu {
    __host__ __device__ float operator()(float x) const
    {
        return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    }
};
struct sigmoid {
    __host__ __device__ float operator()(float x) const
    {
        return 1 / (1 + expf(-x));
    }
};
struct swish {
    __host__ __device__ float operator()(float x) const
    {
        return x * sigmoid()(x);
    }
};

template <typename F> __global__ void apply(const float4 *in, float4 *out, int n, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = make_float4(f(in[i].x), f(in[i].y), f(in[i].z), f(in[i].w));
}

template <typename F> static bool check(const float *in, float *d, int n, F f)
{
    std::vector<float> got(n);
    bool good = true;
    apply<<<(n / 4 + 63) / 64, 64>>>((const float4 *)d, (float4 *)(d + n), n / 4, f);
    CK(cudaMemcpy(got.data(), d + n, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        good &= fabsf(got[i] - f(in[i])) <= 2e-6f * (1 + fabsf(in[i]));
    return good;
}

int main()
{
    const int n = 800;
    std::vector<float> in(n);
    for (int i = 0; i < n; i++)
        in[i] = (i - n / 2) * 0.02f;
    float *d;
    CK(cudaMalloc(&d, 2 * n * sizeof(float)));
    CK(cudaMemcpy(d, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    bool good = check(in.data(), d, n, relu()) & check(in.data(), d, n, gelu()) & check(in.data(), d, n, sigmoid()) &
                check(in.data(), d, n, swish());
    CK(cudaFree(d));
    return finish(good);
}
