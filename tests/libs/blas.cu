/* blas.cu - cuBLAS against sums in plain C++: levels 1 to 3 in four types, all transposes, triangles and sides, strides,
 * both pointer modes, batches, factorisations, and the forms whose types are arguments. Sizes are small, odd, and not
 * alike, so that a swapped one is seen.
 */
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef std::complex<double> Z;
static int failures, looked;

static void expect(bool good, const char *what, int a = 0, int b = 0, int c = 0)
{
    looked++;
    if (!good && failures++ < 20)
        printf("FAIL %s %d %d %d\n", what, a, b, c);
}
#define OK(call) expect((call) == CUBLAS_STATUS_SUCCESS, #call)

static unsigned state = 1;
static double next()
{
    state = state * 1664525u + 1013904223u;
    return (double)(int)(state >> 20) / 2048. - 1;
}

template <class T> struct Of;
#define TYPE(T, R, L, l, real_)                                                                                       \
    template <> struct Of<T> {                                                                                        \
        typedef R Real;                                                                                               \
        static const bool real = real_;                                                                               \
        static constexpr auto gemv = cublas##L##gemv_v2;                                                              \
        static constexpr auto gbmv = cublas##L##gbmv_v2;                                                              \
        static constexpr auto trmv = cublas##L##trmv_v2;                                                              \
        static constexpr auto trsv = cublas##L##trsv_v2;                                                              \
        static constexpr auto tbmv = cublas##L##tbmv_v2;                                                              \
        static constexpr auto tpsv = cublas##L##tpsv_v2;                                                              \
        static constexpr auto tpmv = cublas##L##tpmv_v2;                                                              \
        static constexpr auto axpy = cublas##L##axpy_v2;                                                              \
        static constexpr auto scal = cublas##L##scal_v2;                                                              \
        static constexpr auto swap = cublas##L##swap_v2;                                                              \
        static constexpr auto copy = cublas##L##copy_v2;                                                              \
        static constexpr auto amax = cublasI##l##amax_v2;                                                             \
        static constexpr auto amin = cublasI##l##amin_v2;                                                             \
        static constexpr auto gemm = cublas##L##gemm_v2;                                                              \
        static constexpr auto gemm64 = cublas##L##gemm_v2_64;                                                         \
        static constexpr auto symm = cublas##L##symm_v2;                                                              \
        static constexpr auto symv = cublas##L##symv_v2;                                                              \
        static constexpr auto syr = cublas##L##syr_v2;                                                                \
        static constexpr auto syr2 = cublas##L##syr2_v2;                                                              \
        static constexpr auto syrk = cublas##L##syrk_v2;                                                              \
        static constexpr auto syr2k = cublas##L##syr2k_v2;                                                            \
        static constexpr auto syrkx = cublas##L##syrkx;                                                               \
        static constexpr auto trsm = cublas##L##trsm_v2;                                                              \
        static constexpr auto trmm = cublas##L##trmm_v2;                                                              \
        static constexpr auto geam = cublas##L##geam;                                                                 \
        static constexpr auto dgmm = cublas##L##dgmm;                                                                 \
        static constexpr auto batched = cublas##L##gemmBatched;                                                       \
        static constexpr auto strided = cublas##L##gemmStridedBatched;                                                \
        static constexpr auto getrf = cublas##L##getrfBatched;                                                        \
        static constexpr auto getri = cublas##L##getriBatched;                                                        \
        static constexpr auto getrs = cublas##L##getrsBatched;                                                        \
        static constexpr auto matinv = cublas##L##matinvBatched;                                                      \
        static constexpr auto trsmb = cublas##L##trsmBatched;                                                         \
        static constexpr auto geqrf = cublas##L##geqrfBatched;                                                        \
        static constexpr auto gels = cublas##L##gelsBatched;                                                          \
        static constexpr auto tpttr = cublas##L##tpttr;                                                               \
        static constexpr auto trttp = cublas##L##trttp;                                                               \
    };
TYPE(float, float, S, s, true)
TYPE(double, double, D, d, true)
TYPE(cuComplex, float, C, c, false)
TYPE(cuDoubleComplex, double, Z, z, false)

static void set(float &t, Z v) { t = (float)v.real(); }
static void set(double &t, Z v) { t = v.real(); }
static void set(cuComplex &t, Z v) { t = make_cuComplex((float)v.real(), (float)v.imag()); }
static void set(cuDoubleComplex &t, Z v) { t = make_cuDoubleComplex(v.real(), v.imag()); }
static Z get(float t) { return t; }
static Z get(double t) { return t; }
static Z get(cuComplex t) { return Z(t.x, t.y); }
static Z get(cuDoubleComplex t) { return Z(t.x, t.y); }
template <class T> static Z random_of() { return Of<T>::real ? Z(next()) : Z(next(), next()); }
template <class T> static double eps() { return sizeof(typename Of<T>::Real) == 4 ? 4e-5 : 1e-11; }

/* Device memory with random numbers, and what is in it. */
template <class T> struct Data {
    std::vector<T> host;
    T *at;
    Data(size_t n) : host(n)
    {
        for (T &t : host)
            set(t, random_of<T>());
        cudaMalloc(&at, n * sizeof(T));
        put();
    }
    ~Data() { cudaFree(at); }
    void put() { cudaMemcpy(at, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice); }
    std::vector<T> now() const
    {
        std::vector<T> v(host.size());
        cudaMemcpy(v.data(), at, v.size() * sizeof(T), cudaMemcpyDeviceToHost);
        return v;
    }
    Z operator[](size_t i) const { return get(host[i]); }
};
template <class T> static bool near(const std::vector<T> &have, const std::vector<Z> &want)
{
    for (size_t i = 0; i < have.size(); i++)
        if (!(std::abs(get(have[i]) - want[i]) <= eps<T>() * (1 + std::abs(want[i]))))
            return false;
    return true;
}
template <class T> static std::vector<Z> wide(const std::vector<T> &v)
{
    std::vector<Z> w;
    for (const T &t : v)
        w.push_back(get(t));
    return w;
}
static Z turned(const std::vector<Z> &a, int ld, int op, int i, int j)
{
    Z v = op ? a[j + (size_t)i * ld] : a[i + (size_t)j * ld];
    return op == 2 ? std::conj(v) : v;
}
/* The whole matrix that a triangle stands for. how: 0 triangular, 1 symmetric, 2 Hermitian. */
template <class T> static std::vector<Z> full(const Data<T> &a, int n, int ld, int upper, int unit, int how)
{
    std::vector<Z> m((size_t)n * n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            bool mine = upper ? i <= j : i >= j;
            Z v = mine ? a[i + (size_t)j * ld] : how ? a[j + (size_t)i * ld] : 0;
            if (how == 2 && !mine)
                v = std::conj(v);
            if (how == 2 && i == j)
                v = v.real();
            m[i + (size_t)j * n] = i == j && unit ? Z(1) : v;
        }
    return m;
}
/* So that solving is well conditioned. */
template <class T> static void dominate(Data<T> &a, int n, int ld, size_t from = 0)
{
    for (int i = 0; i < n; i++)
        set(a.host[from + i + (size_t)i * ld], a[from + i + (size_t)i * ld] + Z(4. * n));
    a.put();
}
static size_t at(int i, int n, int inc) { return inc > 0 ? (size_t)i * inc : (size_t)(n - 1 - i) * -inc; }
static size_t length(int n, int inc) { return 1 + (size_t)(n - 1) * abs(inc); }

template <class T> static void level1(cublasHandle_t h)
{
    const int n = 37, incs[] = {1, 3, -2};
    for (int ix : incs)
        for (int iy : incs) {
            Data<T> x(length(n, ix)), y(length(n, iy));
            T alpha;
            Z a = random_of<T>();
            set(alpha, a);
            a = get(alpha);
            std::vector<Z> wx = wide(x.host), wy = wide(y.host), want = wy;
            for (int i = 0; i < n; i++)
                want[at(i, n, iy)] += a * wx[at(i, n, ix)];
            OK(Of<T>::axpy(h, n, &alpha, x.at, ix, y.at, iy));
            expect(near(y.now(), want), "axpy", ix, iy);
            y.put();
            for (int i = 0; i < n; i++)
                std::swap(wx[at(i, n, ix)], wy[at(i, n, iy)]);
            OK(Of<T>::swap(h, n, x.at, ix, y.at, iy));
            expect(near(x.now(), wx) && near(y.now(), wy), "swap", ix, iy);
            for (int i = 0; i < n; i++)
                wy[at(i, n, iy)] = wx[at(i, n, ix)];
            OK(Of<T>::copy(h, n, x.at, ix, y.at, iy));
            expect(near(y.now(), wy), "copy", ix, iy);
        }
    for (int inc = 1; inc < 4; inc += 2) {
        Data<T> x(length(n, inc));
        T alpha;
        set(alpha, Z(1.5));
        int most, least, big = 0, small = 0;
        for (int i = 1; i < n; i++) {
            auto size = [&](int k) { return fabs(x[(size_t)k * inc].real()) + fabs(x[(size_t)k * inc].imag()); };
            big = size(i) > size(big) ? i : big;
            small = size(i) < size(small) ? i : small;
        }
        OK(Of<T>::amax(h, n, x.at, inc, &most));
        OK(Of<T>::amin(h, n, x.at, inc, &least));
        expect(most == big + 1 && least == small + 1, "amax", inc, most, big);
        std::vector<Z> want = wide(x.host);
        for (int i = 0; i < n; i++)
            want[(size_t)i * inc] *= 1.5;
        OK(Of<T>::scal(h, n, &alpha, x.at, inc));
        expect(near(x.now(), want), "scal", inc);
    }
}

static void sums(cublasHandle_t h)
{
    const int n = 41;
    Data<float> s(2 * n), s2(2 * n);
    Data<cuDoubleComplex> z(n), z2(n);
    float dot, asum, norm;
    double zasum, znorm;
    cuDoubleComplex u, c;
    double d = 0, sum = 0, square = 0, zsum = 0, zsquare = 0;
    Z du = 0, dc = 0;
    for (int i = 0; i < n; i++) {
        d += (s[2 * i] * s2[i]).real();
        sum += std::abs(s[2 * i]);
        square += std::norm(s[2 * i]);
        du += z[i] * z2[i];
        dc += std::conj(z[i]) * z2[i];
        zsum += fabs(z[i].real()) + fabs(z[i].imag());
        zsquare += std::norm(z[i]);
    }
    OK(cublasSdot(h, n, s.at, 2, s2.at, 1, &dot));
    OK(cublasSasum(h, n, s.at, 2, &asum));
    OK(cublasSnrm2(h, n, s.at, 2, &norm));
    OK(cublasDzasum(h, n, z.at, 1, &zasum));
    OK(cublasDznrm2(h, n, z.at, 1, &znorm));
    OK(cublasZdotu(h, n, z.at, 1, z2.at, 1, &u));
    OK(cublasZdotc(h, n, z.at, 1, z2.at, 1, &c));
    expect(fabs(dot - d) < 1e-4 && fabs(asum - sum) < 1e-4 && fabs(norm - sqrt(square)) < 1e-5, "dot, asum, nrm2");
    expect(std::abs(get(u) - du) < 1e-12 && std::abs(get(c) - dc) < 1e-12, "dotu, dotc");
    expect(fabs(zasum - zsum) < 1e-12 && fabs(znorm - sqrt(zsquare)) < 1e-12, "dzasum, dznrm2");
    /* The same with results on the device, behind a stream. */
    float *results;
    cudaStream_t stream;
    cudaMalloc(&results, 8);
    cudaStreamCreate(&stream);
    cublasSetStream(h, stream);
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
    OK(cublasSdot(h, n, s.at, 2, s2.at, 1, results));
    OK(cublasSscal(h, n, results, s2.at, 1));
    OK(cublasSdot(h, n, s.at, 2, s2.at, 1, results + 1));
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
    cublasSetStream(h, NULL);
    cudaStreamSynchronize(stream);
    float two[2];
    cudaMemcpy(two, results, 8, cudaMemcpyDeviceToHost);
    expect(fabs(two[0] - d) < 1e-4 && fabs(two[1] - d * d) < 1e-3, "results on the device");
    cudaStreamDestroy(stream);
    cudaFree(results);
    /* Rotations: of a vector, and the one that makes b 0. */
    float a = 3, b = 4, co, si;
    OK(cublasSrotg(h, &a, &b, &co, &si));
    expect(fabs(a - 5) < 1e-6 && fabs(co - .6) < 1e-6 && fabs(si - .8) < 1e-6 && fabs(b - 1 / .6) < 1e-5, "rotg");
    Data<float> x(n), y(n);
    std::vector<Z> wx, wy;
    for (int i = 0; i < n; i++) {
        wx.push_back(.6 * x[i] + .8 * y[i]);
        wy.push_back(.6 * y[i] - .8 * x[i]);
    }
    OK(cublasSrot(h, n, x.at, 1, y.at, 1, &co, &si));
    expect(near(x.now(), wx) && near(y.now(), wy), "rot");
    float param[5] = {-1, 1, 2, 3, 4};
    x.put();
    y.put();
    for (int i = 0; i < n; i++) {
        wx[i] = x[i] + 3. * y[i];
        wy[i] = 2. * x[i] + 4. * y[i];
    }
    OK(cublasSrotm(h, n, x.at, 1, y.at, 1, param));
    expect(near(x.now(), wx) && near(y.now(), wy), "rotm");
}

template <class T> static void level2(cublasHandle_t h)
{
    const int m = 9, n = 13, ld = 17, kl = 2, ku = 3;
    T alpha, beta;
    set(alpha, Z(.5));
    set(beta, Z(-2));
    for (int op = 0; op < 3; op++) {
        Data<T> a((size_t)ld * n), x(3 * 20), y(2 * 20), band((size_t)(kl + ku + 1) * n);
        int rows = op ? n : m, cols = op ? m : n;
        std::vector<Z> wa = wide(a.host), want = wide(y.host), dense((size_t)m * n);
        for (int i = 0; i < rows; i++) {
            Z sum = 0;
            for (int j = 0; j < cols; j++)
                sum += turned(wa, ld, op, i, j) * x[at(j, cols, -3)];
            want[at(i, rows, 2)] = .5 * sum - 2. * y[at(i, rows, 2)];
        }
        OK(Of<T>::gemv(h, (cublasOperation_t)op, m, n, &alpha, a.at, ld, x.at, -3, &beta, y.at, 2));
        expect(near(y.now(), want), "gemv", op);
        y.put();
        for (int j = 0; j < n; j++)
            for (int i = j - ku > 0 ? j - ku : 0; i < m && i <= j + kl; i++)
                dense[i + (size_t)j * m] = band[ku + i - j + (size_t)j * (kl + ku + 1)];
        want = wide(y.host);
        for (int i = 0; i < rows; i++) {
            Z sum = 0;
            for (int j = 0; j < cols; j++)
                sum += turned(dense, m, op, i, j) * x[j];
            want[i] = .5 * sum - 2. * y[i];
        }
        OK(Of<T>::gbmv(h, (cublasOperation_t)op, m, n, kl, ku, &alpha, band.at, kl + ku + 1, x.at, 1, &beta, y.at, 1));
        expect(near(y.now(), want), "gbmv", op);
    }
    for (int upper = 0; upper < 2; upper++)
        for (int op = 0; op < 3; op++)
            for (int unit = 0; unit < 2; unit++) {
                Data<T> a((size_t)ld * n), x(2 * n), packed(n * (n + 1) / 2);
                for (T &t : a.host)
                    set(t, get(t) / Z(n));
                dominate(a, n, ld);
                std::vector<Z> tri = full(a, n, ld, upper, unit, 0), want = wide(x.host), first = want;
                for (int i = 0; i < n; i++) {
                    Z sum = 0;
                    for (int j = 0; j < n; j++)
                        sum += turned(tri, n, op, i, j) * x[2 * j];
                    want[2 * i] = sum;
                }
                cublasFillMode_t fill = (cublasFillMode_t)upper;
                cublasDiagType_t diag = (cublasDiagType_t)unit;
                OK(Of<T>::trmv(h, fill, (cublasOperation_t)op, diag, n, a.at, ld, x.at, 2));
                expect(near(x.now(), want), "trmv", upper, op, unit);
                OK(Of<T>::trsv(h, fill, (cublasOperation_t)op, diag, n, a.at, ld, x.at, 2));
                expect(near(x.now(), first), "trsv", upper, op, unit);
                OK(Of<T>::trttp(h, fill, n, a.at, ld, packed.at));
                OK(Of<T>::tpmv(h, fill, (cublasOperation_t)op, diag, n, packed.at, x.at, 2));
                expect(near(x.now(), want), "trttp, tpmv", upper, op, unit);
                OK(Of<T>::tpsv(h, fill, (cublasOperation_t)op, diag, n, packed.at, x.at, 2));
                expect(near(x.now(), first), "tpsv", upper, op, unit);
            }
    for (int upper = 0; upper < 2; upper++) {
        Data<T> a((size_t)ld * n), x(n), y(n);
        std::vector<Z> all = full(a, n, ld, upper, 0, 1), want(n), sum = wide(a.host), sum2 = sum;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++)
                want[i] += .5 * all[i + (size_t)j * n] * x[j];
            want[i] -= 2. * y[i];
            for (int j = 0; j < n; j++)
                if (upper ? i <= j : i >= j) {
                    sum[i + (size_t)j * ld] += .5 * x[i] * x[j];
                    sum2[i + (size_t)j * ld] += .5 * x[i] * x[j] + .5 * (x[i] * y[j] + y[i] * x[j]);
                }
        }
        std::vector<T> old = y.host;
        OK(Of<T>::symv(h, (cublasFillMode_t)upper, n, &alpha, a.at, ld, x.at, 1, &beta, y.at, 1));
        expect(near(y.now(), want), "symv", upper);
        y.put();
        OK(Of<T>::syr(h, (cublasFillMode_t)upper, n, &alpha, x.at, 1, a.at, ld));
        expect(near(a.now(), sum), "syr", upper);
        OK(Of<T>::syr2(h, (cublasFillMode_t)upper, n, &alpha, x.at, 1, y.at, 1, a.at, ld));
        expect(near(a.now(), sum2), "syr2", upper);
    }
}

template <class T> static void level3(cublasHandle_t h)
{
    const int m = 7, n = 11, k = 5, ld = 14;
    T alpha, beta, zero;
    set(alpha, Z(.5));
    set(beta, Z(-2));
    set(zero, 0);
    for (int ta = 0; ta < 3; ta++)
        for (int tb = 0; tb < 3; tb++) {
            const int count = 3;
            Data<T> a((size_t)ld * ld * count), b((size_t)ld * ld * count), c((size_t)ld * n * count);
            std::vector<Z> wa = wide(a.host), wb = wide(b.host), want = wide(c.host), only = want;
            for (int g = 0; g < count; g++)
                for (int j = 0; j < n; j++)
                    for (int i = 0; i < m; i++) {
                        Z sum = 0;
                        std::vector<Z> ga(wa.begin() + g * ld * ld, wa.end()), gb(wb.begin() + g * ld * ld, wb.end());
                        for (int l = 0; l < k; l++)
                            sum += turned(ga, ld, ta, i, l) * turned(gb, ld, tb, l, j);
                        Z v = .5 * sum - 2. * want[i + (size_t)j * ld + (size_t)g * ld * n];
                        want[i + (size_t)j * ld + (size_t)g * ld * n] = v;
                        if (!g)
                            only[i + (size_t)j * ld] = v;
                    }
            cublasOperation_t oa = (cublasOperation_t)ta, ob = (cublasOperation_t)tb;
            OK(Of<T>::gemm(h, oa, ob, m, n, k, &alpha, a.at, ld, b.at, ld, &beta, c.at, ld));
            expect(near(c.now(), only), "gemm", ta, tb);
            c.put();
            OK(Of<T>::gemm64(h, oa, ob, m, n, k, &alpha, a.at, ld, b.at, ld, &beta, c.at, ld));
            expect(near(c.now(), only), "gemm_64", ta, tb);
            c.put();
            OK(Of<T>::strided(h, oa, ob, m, n, k, &alpha, a.at, ld, ld * ld, b.at, ld, ld * ld, &beta, c.at, ld,
                              ld * n, count));
            expect(near(c.now(), want), "gemmStridedBatched", ta, tb);
            c.put();
            T **lists, *list[3 * count];
            for (int g = 0; g < count; g++) {
                list[g] = a.at + g * ld * ld;
                list[count + g] = b.at + g * ld * ld;
                list[2 * count + g] = c.at + g * ld * n;
            }
            cudaMalloc(&lists, sizeof(list));
            cudaMemcpy(lists, list, sizeof(list), cudaMemcpyHostToDevice);
            OK(Of<T>::batched(h, oa, ob, m, n, k, &alpha, lists, ld, lists + count, ld, &beta, lists + 2 * count, ld,
                              count));
            expect(near(c.now(), want), "gemmBatched", ta, tb);
            cudaFree(lists);
            /* Sums of matrices, turned or not. */
            Data<T> sum((size_t)m * n);
            std::vector<Z> both((size_t)m * n);
            for (int j = 0; j < n; j++)
                for (int i = 0; i < m; i++)
                    both[i + (size_t)j * m] = .5 * turned(wa, ld, ta, i, j) - 2. * turned(wb, ld, tb, i, j);
            OK(Of<T>::geam(h, oa, ob, m, n, &alpha, a.at, ld, &beta, b.at, ld, sum.at, m));
            expect(near(sum.now(), both), "geam", ta, tb);
        }
    for (int upper = 0; upper < 2; upper++)
        for (int op = 0; op < (Of<T>::real ? 3 : 2); op++) {
            Data<T> a((size_t)ld * ld), b((size_t)ld * ld), c((size_t)ld * n);
            std::vector<Z> wa = wide(a.host), wb = wide(b.host), one = wide(c.host), two = one, three = one;
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    Z s1 = 0, s2 = 0, s3 = 0;
                    for (int l = 0; l < k; l++) {
                        Z ai = turned(wa, ld, op, i, l), aj = turned(wa, ld, op, j, l);
                        Z bi = turned(wb, ld, op, i, l), bj = turned(wb, ld, op, j, l);
                        s1 += ai * aj;
                        s2 += ai * bj + bi * aj;
                        s3 += ai * bj;
                    }
                    if (upper ? i <= j : i >= j) {
                        one[i + (size_t)j * ld] = .5 * s1 - 2. * one[i + (size_t)j * ld];
                        two[i + (size_t)j * ld] = .5 * s2 - 2. * two[i + (size_t)j * ld];
                        three[i + (size_t)j * ld] = .5 * s3 - 2. * three[i + (size_t)j * ld];
                    }
                }
            cublasFillMode_t fill = (cublasFillMode_t)upper;
            cublasOperation_t o = (cublasOperation_t)op;
            OK(Of<T>::syrk(h, fill, o, n, k, &alpha, a.at, ld, &beta, c.at, ld));
            expect(near(c.now(), one), "syrk", upper, op);
            c.put();
            OK(Of<T>::syr2k(h, fill, o, n, k, &alpha, a.at, ld, b.at, ld, &beta, c.at, ld));
            expect(near(c.now(), two), "syr2k", upper, op);
            c.put();
            OK(Of<T>::syrkx(h, fill, o, n, k, &alpha, a.at, ld, b.at, ld, &beta, c.at, ld));
            expect(near(c.now(), three), "syrkx", upper, op);
        }
    for (int side = 0; side < 2; side++)
        for (int upper = 0; upper < 2; upper++) {
            int size = side ? n : m;
            Data<T> a((size_t)ld * ld), b((size_t)ld * n), c((size_t)ld * n), x(ld);
            for (T &t : a.host)
                set(t, get(t) / Z(n));
            dominate(a, size, ld);
            std::vector<Z> all = full(a, size, ld, upper, 0, 1), want = wide(c.host), scaled = want;
            for (int j = 0; j < n; j++)
                for (int i = 0; i < m; i++) {
                    Z sum = 0;
                    for (int l = 0; l < size; l++)
                        sum += side ? b[i + (size_t)l * ld] * all[l + (size_t)j * size]
                                    : all[i + (size_t)l * size] * b[l + (size_t)j * ld];
                    want[i + (size_t)j * ld] = .5 * sum - 2. * want[i + (size_t)j * ld];
                    scaled[i + (size_t)j * ld] = b[i + (size_t)j * ld] * x[side ? j : i];
                }
            OK(Of<T>::symm(h, (cublasSideMode_t)side, (cublasFillMode_t)upper, m, n, &alpha, a.at, ld, b.at, ld, &beta,
                           c.at, ld));
            expect(near(c.now(), want), "symm", side, upper);
            c.put();
            OK(Of<T>::dgmm(h, (cublasSideMode_t)side, m, n, b.at, ld, x.at, 1, c.at, ld));
            expect(near(c.now(), scaled), "dgmm", side);
            for (int op = 0; op < 3; op++)
                for (int unit = 0; unit < 2; unit++) {
                    std::vector<Z> tri = full(a, size, ld, upper, unit, 0), made = wide(c.host);
                    c.put();
                    for (int j = 0; j < n; j++)
                        for (int i = 0; i < m; i++) {
                            Z sum = 0;
                            for (int l = 0; l < size; l++)
                                sum += side ? b[i + (size_t)l * ld] * turned(tri, size, op, l, j)
                                            : turned(tri, size, op, i, l) * b[l + (size_t)j * ld];
                            made[i + (size_t)j * ld] = .5 * sum;
                        }
                    cublasOperation_t o = (cublasOperation_t)op;
                    OK(Of<T>::trmm(h, (cublasSideMode_t)side, (cublasFillMode_t)upper, o, (cublasDiagType_t)unit, m, n,
                                   &alpha, a.at, ld, b.at, ld, c.at, ld));
                    expect(near(c.now(), made), "trmm", side * 2 + upper, op, unit);
                    T back;
                    set(back, 2);
                    OK(Of<T>::trsm(h, (cublasSideMode_t)side, (cublasFillMode_t)upper, o, (cublasDiagType_t)unit, m, n,
                                   &back, a.at, ld, c.at, ld));
                    std::vector<Z> again = made;
                    for (int j = 0; j < n; j++)
                        for (int i = 0; i < m; i++)
                            again[i + (size_t)j * ld] = b[i + (size_t)j * ld];
                    expect(near(c.now(), again), "trsm", side * 2 + upper, op, unit);
                }
        }
    /* beta 0: what stood in C is not looked at. */
    Data<T> a((size_t)m * k), b((size_t)k * n), c((size_t)m * n);
    set(c.host[0], Z(NAN));
    c.put();
    OK(Of<T>::gemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a.at, m, b.at, k, &zero, c.at, m));
    Z first = 0;
    for (int l = 0; l < k; l++)
        first += .5 * a[(size_t)l * m] * b[l];
    expect(std::abs(get(c.now()[0]) - first) < 1e-4, "gemm with beta 0");
}

template <class T> static void factor(cublasHandle_t h)
{
    const int n = 6, count = 4, k = 2;
    const size_t size = n * n;
    Data<T> a(size * count), lu(size * count), inverse(size * count), b((size_t)n * k * count);
    for (int g = 0; g < count; g++)
        dominate(a, n, n, g * size);
    lu.host = a.host;
    lu.put();
    T **lists, *list[4 * count];
    int *pivots, *info, state = -1;
    for (int g = 0; g < count; g++) {
        list[g] = a.at + g * size;
        list[count + g] = lu.at + g * size;
        list[2 * count + g] = inverse.at + g * size;
        list[3 * count + g] = b.at + (size_t)g * n * k;
    }
    cudaMalloc(&lists, sizeof(list));
    cudaMemcpy(lists, list, sizeof(list), cudaMemcpyHostToDevice);
    cudaMalloc(&pivots, n * count * sizeof(int));
    cudaMalloc(&info, count * sizeof(int));
    auto is_inverse = [&](const char *what) {
        std::vector<T> have = inverse.now();
        for (int g = 0; g < count; g++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    Z sum = 0;
                    for (int l = 0; l < n; l++)
                        sum += a[g * size + i + (size_t)l * n] * get(have[g * size + l + (size_t)j * n]);
                    expect(std::abs(sum - Z(i == j)) < 1e-3, what, g, i, j);
                }
    };
    for (int plain = 0; plain < 2; plain++) {
        lu.put();
        OK(Of<T>::getrf(h, n, lists + count, n, plain ? NULL : pivots, info, count));
        OK(Of<T>::getri(h, n, lists + count, n, plain ? NULL : pivots, lists + 2 * count, n, info, count));
        is_inverse("getri");
        b.put();
        OK(Of<T>::getrs(h, CUBLAS_OP_N, n, k, lists + count, n, plain ? NULL : pivots, lists + 3 * count, n, &state,
                        count));
        std::vector<T> x = b.now();
        for (int g = 0; g < count; g++)
            for (int i = 0; i < n; i++) {
                Z sum = 0;
                for (int l = 0; l < n; l++)
                    sum += a[g * size + i + (size_t)l * n] * get(x[(size_t)g * n * k + l]);
                expect(std::abs(sum - b[(size_t)g * n * k + i]) < 1e-3 && !state, "getrs", g, i, plain);
            }
    }
    OK(Of<T>::matinv(h, n, lists, n, lists + 2 * count, n, info, count));
    is_inverse("matinv");
    /* Least squares of a square system is its solution. */
    lu.put();
    b.put();
    OK(Of<T>::gels(h, CUBLAS_OP_N, n, n, k, lists + count, n, lists + 3 * count, n, &state, info, count));
    std::vector<T> x = b.now();
    Z sum = 0;
    for (int l = 0; l < n; l++)
        sum += a[(size_t)l * n] * get(x[l]);
    expect(std::abs(sum - b[0]) < 1e-3 && !state, "gels");
    /* QR: the diagonal of R has the determinant's size. */
    Data<T> tau((size_t)n * count);
    T *taus[count], **tau_list;
    for (int g = 0; g < count; g++)
        taus[g] = tau.at + (size_t)g * n;
    cudaMalloc(&tau_list, sizeof(taus));
    cudaMemcpy(tau_list, taus, sizeof(taus), cudaMemcpyHostToDevice);
    lu.put();
    OK(Of<T>::geqrf(h, n, n, lists + count, n, tau_list, &state, count));
    double column = 0;
    for (int i = 0; i < n; i++)
        column += std::norm(a[i]);
    expect(fabs(std::abs(get(lu.now()[0])) - sqrt(column)) < 1e-3, "geqrf");
    T one;
    set(one, 1);
    lu.put();
    b.put();
    OK(Of<T>::trsmb(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, k, &one,
                    lists + count, n, lists + 3 * count, n, count));
    expect(std::abs(get(b.now()[0]) - b[0] / a[0]) < 1e-3, "trsmBatched");
    cudaFree(tau_list);
    cudaFree(lists);
    cudaFree(pivots);
    cudaFree(info);
}

/* Hermitian forms. */
static void hermitian(cublasHandle_t h)
{
    const int n = 8, k = 5, ld = 10;
    cuDoubleComplex alpha = {.5, .25}, beta = {-2, 1};
    double ra = .5, rb = -2;
    Z za = get(alpha), zb = get(beta);
    for (int upper = 0; upper < 2; upper++) {
        cublasFillMode_t fill = (cublasFillMode_t)upper;
        Data<cuDoubleComplex> a((size_t)ld * n), b((size_t)ld * n), c((size_t)ld * n), x(n), y(n);
        for (int i = 0; i < n; i++) {
            a.host[i + i * ld].y = 0;
            c.host[i + i * ld].y = 0;
        }
        a.put();
        c.put();
        std::vector<Z> all = full(a, n, ld, upper, 0, 2), v(n), r1 = wide(c.host), r2 = r1, r3 = r1, k1 = r1, k2 = r1;
        for (int i = 0; i < n; i++) {
            v[i] = zb * y[i];
            for (int j = 0; j < n; j++) {
                v[i] += za * all[i + j * n] * x[j];
                Z s1 = 0, s2 = 0;
                for (int l = 0; l < k; l++) {
                    s1 += a[i + l * ld] * std::conj(a[j + l * ld]);
                    s2 += za * a[i + l * ld] * std::conj(b[j + l * ld]) +
                          std::conj(za) * b[i + l * ld] * std::conj(a[j + l * ld]);
                }
                if (upper ? i <= j : i >= j) {
                    r1[i + j * ld] += ra * x[i] * std::conj(x[j]);
                    r2[i + j * ld] += za * x[i] * std::conj(y[j]) + std::conj(za) * y[i] * std::conj(x[j]);
                    k1[i + j * ld] = ra * s1 + rb * k1[i + j * ld];
                    k2[i + j * ld] = s2 + rb * k2[i + j * ld];
                }
            }
        }
        OK(cublasZhemv(h, fill, n, &alpha, a.at, ld, x.at, 1, &beta, y.at, 1));
        expect(near(y.now(), v), "hemv", upper);
        y.put();
        OK(cublasZher(h, fill, n, &ra, x.at, 1, c.at, ld));
        expect(near(c.now(), r1), "her", upper);
        c.put();
        OK(cublasZher2(h, fill, n, &alpha, x.at, 1, y.at, 1, c.at, ld));
        expect(near(c.now(), r2), "her2", upper);
        c.put();
        OK(cublasZherk(h, fill, CUBLAS_OP_N, n, k, &ra, a.at, ld, &rb, c.at, ld));
        expect(near(c.now(), k1), "herk", upper);
        c.put();
        OK(cublasZher2k(h, fill, CUBLAS_OP_N, n, k, &alpha, a.at, ld, b.at, ld, &rb, c.at, ld));
        expect(near(c.now(), k2), "her2k", upper);
    }
}

/* Types by argument. */
static float as_float(__half v) { return __half2float(v); }
static float as_float(__nv_bfloat16 v) { return __bfloat162float(v); }
static float as_float(float v) { return v; }
static float as_float(int v) { return (float)v; }
template <class T> static T from(double v) { return (T)(float)v; }
template <> signed char from<signed char>(double v) { return (signed char)(v * 127); }
template <class A, class C, class S>
static void ex(cublasHandle_t h, cudaDataType a_type, cudaDataType c_type, cublasComputeType_t in, double tolerance)
{
    const int m = 9, n = 6, k = 20;
    std::vector<A> a(m * k), b(k * n);
    std::vector<C> c(m * n);
    for (A &v : a)
        v = from<A>(next());
    for (A &v : b)
        v = from<A>(next());
    for (C &v : c)
        v = (C)1.f;
    A *da, *db;
    C *dc;
    S alpha = (S)2.f, beta = (S)3.f;
    cudaMalloc(&da, a.size() * sizeof(A));
    cudaMalloc(&db, b.size() * sizeof(A));
    cudaMalloc(&dc, c.size() * sizeof(C));
    cudaMemcpy(da, a.data(), a.size() * sizeof(A), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), b.size() * sizeof(A), cudaMemcpyHostToDevice);
    cudaMemcpy(dc, c.data(), c.size() * sizeof(C), cudaMemcpyHostToDevice);
    OK(cublasGemmEx(h, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha, da, a_type, k, db, a_type, k, &beta, dc, c_type, m, in,
                    CUBLAS_GEMM_DEFAULT));
    cudaMemcpy(c.data(), dc, c.size() * sizeof(C), cudaMemcpyDeviceToHost);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 3, size = 3;
            for (int l = 0; l < k; l++) {
                sum += 2. * as_float(a[l + i * k]) * as_float(b[l + j * k]);
                size += fabs(2. * as_float(a[l + i * k]) * as_float(b[l + j * k]));
            }
            expect(fabs(as_float(c[i + j * m]) - sum) <= tolerance * size, "GemmEx", a_type, c_type, i);
        }
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
}

static void errors(cublasHandle_t h)
{
    Data<float> a(64);
    float one = 1;
    expect(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a.at, 7, a.at, 8, &one, a.at, 8) ==
               CUBLAS_STATUS_INVALID_VALUE, "a short leading dimension");
    expect(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, -1, 8, 8, &one, a.at, 8, a.at, 8, &one, a.at, 8) ==
               CUBLAS_STATUS_INVALID_VALUE, "a negative size");
    expect(cublasSgemv(h, CUBLAS_OP_N, 8, 8, &one, a.at, 8, a.at, 0, &one, a.at, 1) == CUBLAS_STATUS_INVALID_VALUE,
           "an increment of 0");
    expect(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 0, 8, 8, &one, NULL, 8, NULL, 8, &one, NULL, 8) ==
               CUBLAS_STATUS_SUCCESS, "nothing to do");
    expect(cublasSgemm(NULL, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a.at, 8, a.at, 8, &one, a.at, 8) ==
               CUBLAS_STATUS_NOT_INITIALIZED, "no handle");
    expect(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a.at, CUDA_R_16F, 8, a.at, CUDA_R_32F, 8, &one, a.at,
                        CUDA_R_32F, 8, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED,
           "types that do not go together");
    int version = 0, major = 0;
    OK(cublasGetVersion(h, &version));
    OK(cublasGetProperty(MAJOR_VERSION, &major));
    expect(version / 10000 == major || version / 1000 == major, "versions", version, major);
    expect(!strcmp(cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED"), "names of states");
    /* Columns of a matrix to the device and back. */
    float host[12], back[12] = {0}, *device;
    for (int i = 0; i < 12; i++)
        host[i] = (float)i;
    cudaMalloc(&device, sizeof(host));
    OK(cublasSetMatrix(3, 2, sizeof(float), host, 4, device, 3));
    OK(cublasGetVector(6, sizeof(float), device, 1, back, 2));
    expect(back[0] == 0 && back[4] == 2 && back[6] == 4 && back[10] == 6 && back[1] == 0, "SetMatrix, GetVector");
    cudaFree(device);
}

/* Groups of batches, each with its own sizes and scalars, against one product after the other. */
template <class T, class S> static void groups(cublasHandle_t h, cudaDataType_t type, cublasComputeType_t compute, S call)
{
    const int many = 3, size[] = {2, 0, 3}, m[] = {5, 4, 7}, n[] = {6, 4, 3}, k[] = {4, 4, 9}, ld[] = {12, 12, 12};
    const cublasOperation_t ta[] = {CUBLAS_OP_N, CUBLAS_OP_N, CUBLAS_OP_T}, tb[] = {CUBLAS_OP_T, CUBLAS_OP_N, CUBLAS_OP_N};
    const T alpha[] = {2, 1, -1}, beta[] = {0.5, 0, 3};
    const int total = 5, each = 12 * 12;
    T *data, **lists, *list[3 * total];
    std::vector<T> first(3 * total * each), want, have(first.size());
    for (T &x : first)
        x = (T)next();
    cudaMalloc(&data, first.size() * sizeof(T));
    for (int i = 0; i < 3 * total; i++)
        list[i] = data + i * each;
    cudaMalloc(&lists, sizeof(list));
    cudaMemcpy(lists, list, sizeof(list), cudaMemcpyHostToDevice);
    want = first;
    for (int g = 0, done = 0; g < many; done += size[g++])
        for (int b = done; b < done + size[g]; b++)
            for (int j = 0; j < n[g]; j++)
                for (int i = 0; i < m[g]; i++) {
                    const T *x = &first[b * each], *y = &first[(total + b) * each];
                    double sum = 0;
                    for (int l = 0; l < k[g]; l++)
                        sum += (double)(ta[g] ? x[l + i * 12] : x[i + l * 12]) * (double)(tb[g] ? y[j + l * 12] : y[l + j * 12]);
                    T *z = &want[(2 * total + b) * each + i + j * 12];
                    *z = (T)(alpha[g] * sum + beta[g] * (double)*z);
                }
    for (int way = 0; way < 2; way++) {
        cudaMemcpy(data, first.data(), first.size() * sizeof(T), cudaMemcpyHostToDevice);
        if (way)
            OK(call(h, ta, tb, m, n, k, alpha, lists, ld, lists + total, ld, beta, lists + 2 * total, ld, many, size));
        else
            OK(cublasGemmGroupedBatchedEx(h, ta, tb, m, n, k, alpha, (const void *const *)lists, type, ld,
                                          (const void *const *)(lists + total), type, ld, beta,
                                          (void *const *)(lists + 2 * total), type, ld, many, size, compute));
        cudaMemcpy(have.data(), data, have.size() * sizeof(T), cudaMemcpyDeviceToHost);
        for (size_t i = 0; i < have.size(); i++)
            expect(fabs((double)have[i] - (double)want[i]) < 1e-5, "groups", way, (int)i);
    }
    expect(cublasGemmGroupedBatchedEx(h, ta, tb, m, n, k, alpha, (const void *const *)lists, type, ld,
                                      (const void *const *)lists, type, ld, beta, (void *const *)lists, type, ld, -1, size,
                                      compute) == CUBLAS_STATUS_INVALID_VALUE, "fewer groups than none");
    cudaFree(lists);
    cudaFree(data);
}

int main()
{
    cublasHandle_t h;
    OK(cublasCreate(&h));
    level1<float>(h);
    level1<double>(h);
    level1<cuComplex>(h);
    level1<cuDoubleComplex>(h);
    sums(h);
    level2<float>(h);
    level2<double>(h);
    level2<cuComplex>(h);
    level2<cuDoubleComplex>(h);
    level3<float>(h);
    level3<double>(h);
    level3<cuComplex>(h);
    level3<cuDoubleComplex>(h);
    factor<float>(h);
    factor<double>(h);
    factor<cuComplex>(h);
    factor<cuDoubleComplex>(h);
    hermitian(h);
    groups<float>(h, CUDA_R_32F, CUBLAS_COMPUTE_32F, cublasSgemmGroupedBatched);
    groups<double>(h, CUDA_R_64F, CUBLAS_COMPUTE_64F, cublasDgemmGroupedBatched);
    ex<__half, __half, float>(h, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 1e-3);
    ex<__half, float, float>(h, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-6);
    ex<__half, __half, __half>(h, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, 1e-2);
    ex<__nv_bfloat16, __nv_bfloat16, float>(h, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1e-2);
    ex<__nv_bfloat16, float, float>(h, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-6);
    ex<float, float, float>(h, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 1e-3);
    ex<signed char, int, int>(h, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 0);
    ex<signed char, float, float>(h, CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-6);
    errors(h);
    OK(cublasDestroy(h));
    expect(cudaDeviceSynchronize() == cudaSuccess, "the device");
    printf(failures ? "%d of %d wrong\n" : "PASS\n", failures, looked);
    return failures != 0;
}
