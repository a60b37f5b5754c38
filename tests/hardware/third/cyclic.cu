// Solvers: 12288 tridiagonal systems of 256 in shared memory: cyclic reduction (conflicts of 2, 4 ... 32), the same
// with padded places, parallel cyclic reduction.
#include "kit.cuh"
const int N = 256;
template <int PAD> __device__ inline int pl(int i)
{
    return PAD ? i + (i >> 5) : i;
}
template <int PAD> __global__ void cyclic(const float *A, const float *B, const float *C, const float *D, float *X)
{
    const int M = PAD ? N + N / 32 : N;
    __shared__ float a[M], b[M], c[M], d[M], x[M];
    int t = threadIdx.x, o = blockIdx.x * N;
    for (int i = t; i < N; i += N / 2) {
        int p = pl<PAD>(i);
        a[p] = A[o + i];
        b[p] = B[o + i];
        c[p] = C[o + i];
        d[p] = D[o + i];
    }
    __syncthreads();
    int s = 1;
    for (int n = N / 2; n > 1; n /= 2) {
        s *= 2;
        if (t < n) {
            int i = s * t + s - 1, l = pl<PAD>(i - s / 2), r = pl<PAD>(min(i + s / 2, N - 1)), p = pl<PAD>(i);
            float k1 = a[p] / b[l], k2 = i + s / 2 < N ? c[p] / b[r] : 0;
            b[p] = b[p] - c[l] * k1 - a[r] * k2;
            d[p] = d[p] - d[l] * k1 - d[r] * k2;
            a[p] = -a[l] * k1;
            c[p] = -c[r] * k2;
        }
        __syncthreads();
    }
    if (t == 0) {
        int i = pl<PAD>(N / 2 - 1), j = pl<PAD>(N - 1);
        float det = b[i] * b[j] - c[i] * a[j];
        x[i] = (b[j] * d[i] - c[i] * d[j]) / det;
        x[j] = (b[i] * d[j] - a[j] * d[i]) / det;
    }
    __syncthreads();
    for (int n = 2; n < N; n *= 2) {
        s = N / n;
        if (t < n) {
            int i = s * t + s / 2 - 1, p = pl<PAD>(i), r = pl<PAD>(i + s / 2);
            float v = d[p] - c[p] * x[r];
            if (t)
                v -= a[p] * x[pl<PAD>(i - s / 2)];
            x[p] = v / b[p];
        }
        __syncthreads();
    }
    for (int i = t; i < N; i += N / 2)
        X[o + i] = x[pl<PAD>(i)];
}
__global__ void parallel_cyclic(const float *A, const float *B, const float *C, const float *D, float *X)
{
    __shared__ float a[N], b[N], c[N], d[N];
    int t = threadIdx.x, o = blockIdx.x * N;
    float ta = A[o + t], tb = B[o + t], tc = C[o + t], td = D[o + t];
    for (int s = 1; s < N; s *= 2) {
        a[t] = ta;
        b[t] = tb;
        c[t] = tc;
        d[t] = td;
        __syncthreads();
        float k1 = 0, k2 = 0;
        int l = t - s, r = t + s;
        if (l >= 0)
            k1 = ta / b[l];
        if (r < N)
            k2 = tc / b[r];
        float na = 0, nc = 0;
        if (l >= 0) {
            tb -= c[l] * k1;
            td -= d[l] * k1;
            na = -a[l] * k1;
        }
        if (r < N) {
            tb -= a[r] * k2;
            td -= d[r] * k2;
            nc = -c[r] * k2;
        }
        ta = na;
        tc = nc;
        __syncthreads();
    }
    X[o + t] = td / tb;
}
int main()
{
    int S = 12288, n = S * N;
    std::vector<float> a(n), b(n), c(n), d(n), want(n);
    for (int k = 0; k < S; k++) {
        std::vector<double> cp(N), dp(N);
        for (int i = 0; i < N; i++) {
            int j = k * N + i;
            a[j] = i ? -unit() : 0;
            c[j] = i < N - 1 ? -unit() : 0;
            b[j] = 3 + unit();
            d[j] = unit();
            double m = i ? b[j] - a[j] * cp[i - 1] : b[j];
            cp[i] = c[j] / m;
            dp[i] = (d[j] - (i ? a[j] * dp[i - 1] : 0)) / m;
        }
        double x = 0;
        for (int i = N - 1; i >= 0; i--) {
            x = dp[i] - cp[i] * x;
            want[k * N + i] = x;
        }
    }
    float *A = up(a), *B = up(b), *C = up(c), *D = up(d), *x = room<float>(n), *y = room<float>(n), *z = room<float>(n);
    cyclic<0><<<S, N / 2>>>(A, B, C, D, x);
    cyclic<1><<<S, N / 2>>>(A, B, C, D, y);
    parallel_cyclic<<<S, N>>>(A, B, C, D, z);
    same("cyclic", down(x, n), want, 1e-4);
    same("padded", down(y, n), want, 1e-4);
    same("parallel", down(z, n), want, 1e-4);
    return verdict();
}
