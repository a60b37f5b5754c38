// templates.cu - a reduction over any type, operation and block size, unrolled by the compiler
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

struct plus {
    template <typename T> __host__ __device__ T operator()(T a, T b) const
    {
        return a + b;
    }
};
struct smallest {
    template <typename T> __host__ __device__ T operator()(T a, T b) const
    {
        return a < b ? a : b;
    }
};

template <typename T, typename Op, int BLOCK> __global__ void reduce(const T *in, T *out, int n, T none, Op op)
{
    __shared__ T s[BLOCK];
    T v = none;
    for (int i = threadIdx.x; i < n; i += BLOCK)
        v = op(v, in[i]);
    s[threadIdx.x] = v;
    __syncthreads();
#pragma unroll
    for (int d = BLOCK / 2; d; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] = op(s[threadIdx.x], s[threadIdx.x + d]);
        __syncthreads();
    }
    if (!threadIdx.x)
        *out = s[0];
}

template <typename T, int BLOCK, typename Op> static bool check(int n, T none, Op op)
{
    std::vector<T> in(n);
    T want = none, got, *d;
    for (int i = 0; i < n; i++)
        want = op(want, in[i] = T(i * 37 % 101 - 50));
    CK(cudaMalloc(&d, (n + 1) * sizeof(T)));
    CK(cudaMemcpy(d, in.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    reduce<T, Op, BLOCK><<<1, BLOCK>>>(d, d + n, n, none, op);
    CK(cudaMemcpy(&got, d + n, sizeof(T), cudaMemcpyDeviceToHost));
    CK(cudaFree(d));
    return got == want;
}

int main()
{
    bool good = check<int, 64>(300, 0, plus()) & check<double, 128>(500, 0.0, plus()) &
                check<long long, 32>(77, 1LL << 40, smallest()) & check<float, 256>(1000, 1e30f, smallest()) &
                check<short, 64>(90, (short)1000, smallest());
    return finish(good);
}
