// Signals: autocorrelation at 32 lags: a block a lag (few blocks), a grid of lags and pieces with an atomic each, and
// all lags of a staged piece.
#include "kit.cuh"
const int LAGS = 32;
__device__ inline long long total(long long v)
{
    __shared__ long long s[8];
    for (int o = 16; o; o /= 2)
        v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    if (threadIdx.x == 0)
        for (int k = 0; k < 8; k++)
            v += s[k];
    return v;
}
__global__ void lag_a_block(const short *x, long long *out, int n)
{
    int l = blockIdx.x;
    long long s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s += x[i] * x[i + l];
    s = total(s);
    if (threadIdx.x == 0)
        out[l] = s;
}
__global__ void pieces(const short *x, long long *out, int n)
{
    int l = blockIdx.y;
    long long s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += x[i] * x[i + l];
    s = total(s);
    if (threadIdx.x == 0)
        atomicAdd((unsigned long long *)&out[l], (unsigned long long)s);
}
__global__ void all_lags(const short *x, long long *out, int n)
{
    __shared__ int t[1024 + LAGS];
    int b = blockIdx.x * 1024;
    for (int k = threadIdx.x; k < 1024 + LAGS; k += 256)
        t[k] = x[b + k];
    __syncthreads();
    int l = threadIdx.x % 32, w = threadIdx.x / 32;
    long long s = 0;
    for (int i = w; i < 1024; i += 8)
        s += t[i] * t[i + l];
    __shared__ long long p[8][LAGS];
    p[w][l] = s;
    __syncthreads();
    if (w == 0) {
        s = 0;
        for (int k = 0; k < 8; k++)
            s += p[k][l];
        atomicAdd((unsigned long long *)&out[l], (unsigned long long)s);
    }
}
int main()
{
    int n = 1 << 22;
    std::vector<short> x(n + LAGS);
    for (auto &v : x)
        v = (short)(rnd() & 2047) - 1024;
    std::vector<long long> want(LAGS);
    for (int l = 0; l < LAGS; l++)
        for (int i = 0; i < n; i++)
            want[l] += x[i] * x[i + l];
    short *d = up(x);
    long long *a = room<long long>(LAGS), *b = room<long long>(LAGS), *c = room<long long>(LAGS);
    lag_a_block<<<LAGS, 256>>>(d, a, n);
    pieces<<<dim3(64, LAGS), 256>>>(d, b, n);
    all_lags<<<n / 1024, 256>>>(d, c, n);
    same("lag_a_block", down(a, LAGS), want);
    same("pieces", down(b, LAGS), want);
    same("all_lags", down(c, LAGS), want);
    return verdict();
}
