// fused.cu - a - b * c, b * c - a and their kin in C++: one rounding as nvcc builds by default, two with -fmad=false,
// -G and -Xptxas -O0, and always two through __fmul_rn. Held to the host's own arithmetic, for float and double.
// CASE once: EXPECT: float: 4096 of one rounding, by __fmul_rn two
// CASE once: EXPECT: double: 4096 of one rounding, by __dmul_rn two
// CASE once: EXPECT: tridiagonal: as with one rounding
// CASE twice: EXPECT: float: 4096 of two roundings, by __fmul_rn two
// CASE twice: EXPECT: double: 4096 of two roundings, by __dmul_rn two
// CASE twice: EXPECT: tridiagonal: as with two roundings
#include <cmath>
#include <cstdio>

enum { N = 1024, ROWS = 24 };

__device__ float apart(float a, float b, float c) { return a - __fmul_rn(b, c); }
__device__ double apart(double a, double b, double c) { return a - __dmul_rn(b, c); }

template <class T> __global__ void differences(const T *a, const T *b, const T *c, T *out, T *rn)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] - b[i] * c[i];
    out[i + N] = b[i] * c[i] - a[i];
    T minus = -b[i];
    out[i + 2 * N] = minus * c[i] + a[i];
    T product = b[i] * c[i]; // twice used, both times in a difference
    out[i + 3 * N] = i % 2 ? a[i] - product : product - a[i];
    rn[i] = apart(a[i], b[i], c[i]);
}

// x of a tridiagonal system by Thomas' algorithm; the same on the host, with one rounding or two.
template <class T, class Less> __host__ __device__ void solve(const T *d, T *x, T lower, T upper, Less less)
{
    T c[ROWS], pivot = d[0] + 3;
    c[0] = upper / pivot;
    x[0] = d[0] / pivot;
    for (int r = 1; r < ROWS; r++) {
        pivot = less(d[r] + 3, lower, c[r - 1]);
        c[r] = upper / pivot;
        x[r] = less(d[r], lower, x[r - 1]) / pivot;
    }
    for (int r = ROWS - 2; r >= 0; r--)
        x[r] = less(x[r], c[r], x[r + 1]);
}
__global__ void tridiagonal(const float *d, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    solve(d + i * ROWS, x + i * ROWS, .7f, .3f, [](float a, float b, float c) { return a - b * c; });
}

template <class T> static T *shared(int n)
{
    T *p;
    cudaMallocManaged(&p, n * sizeof(T));
    return p;
}
static unsigned state = 1;
template <class T> static T next()
{
    state = state * 1664525u + 1013904223u;
    return (T)(state >> 8) / (T)12345 - (T)600;
}

template <class T> static void compare(const char *name, const char *intrinsic)
{
    T *a = shared<T>(N), *b = shared<T>(N), *c = shared<T>(N), *out = shared<T>(4 * N), *rn = shared<T>(N);
    for (int i = 0; i < N; i++) {
        b[i] = next<T>();
        c[i] = next<T>();
        a[i] = b[i] * c[i] * (T)1.0001; // near the product: its roundings show
    }
    differences<<<N / 128, 128>>>(a, b, c, out, rn);
    cudaDeviceSynchronize();
    int once = 0, twice = 0, by_rn = 0;
    for (int i = 0; i < N; i++) {
        volatile T product = b[i] * c[i];
        T one = std::fma(-b[i], c[i], a[i]), two = a[i] - product;
        for (int k = 0; k < 4; k++) {
            bool turned = k == 1 || (k == 3 && i % 2 == 0);
            once += out[i + k * N] == (turned ? -one : one);
            twice += out[i + k * N] == (turned ? -two : two);
        }
        by_rn += rn[i] == two;
    }
    bool fused = once > twice;
    printf("%s: %d of %s, by %s %s\n", name, fused ? once : twice, fused ? "one rounding" : "two roundings", intrinsic,
           by_rn == N ? "two" : "NOT two");
}

int main()
{
    compare<float>("float", "__fmul_rn");
    compare<double>("double", "__dmul_rn");
    float *d = shared<float>(128 * ROWS), *x = shared<float>(128 * ROWS);
    for (int i = 0; i < 128 * ROWS; i++)
        d[i] = 1 + std::fabs(next<float>()) / 600;
    tridiagonal<<<1, 128>>>(d, x);
    cudaDeviceSynchronize();
    bool once = true, twice = true;
    for (int i = 0; i < 128; i++) {
        float one[ROWS], two[ROWS];
        solve(d + i * ROWS, one, .7f, .3f, [](float a, float b, float c) { return std::fma(-b, c, a); });
        solve(d + i * ROWS, two, .7f, .3f, [](float a, float b, float c) { volatile float p = b * c; return a - p; });
        for (int r = 0; r < ROWS; r++) {
            once &= x[i * ROWS + r] == one[r];
            twice &= x[i * ROWS + r] == two[r];
        }
    }
    printf("tridiagonal: as with %s\n", once ? "one rounding" : twice ? "two roundings" : "NEITHER");
}
