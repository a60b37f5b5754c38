/* fft.cu - cuFFT against sums in plain C++: one to three dimensions, all types, batches, strides and embedded data, in
 * place and not, streams; and that nothing is normalised.
 */
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cufft.h>
#include <cufftXt.h>

typedef std::complex<double> Z;
static int failures;
static void expect(bool good, const char *what, int a = 0, int b = 0)
{
    if (!good && failures++ < 20)
        printf("FAIL %s %d %d\n", what, a, b);
}
#define OK(call) expect((call) == CUFFT_SUCCESS, #call)
static double next()
{
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (double)(int)(state >> 20) / 2048. - 1;
}

/* Element k of the transform of n[0] x n[1] x n[2] numbers. */
static std::vector<Z> transform(const std::vector<Z> &x, const int n[3], int sign)
{
    std::vector<Z> y(x.size());
    for (int a = 0; a < n[0]; a++)
        for (int b = 0; b < n[1]; b++)
            for (int c = 0; c < n[2]; c++) {
                Z sum = 0;
                for (int i = 0; i < n[0]; i++)
                    for (int j = 0; j < n[1]; j++)
                        for (int k = 0; k < n[2]; k++) {
                            double turn = (double)a * i / n[0] + (double)b * j / n[1] + (double)c * k / n[2];
                            sum += x[(i * n[1] + j) * n[2] + k] * std::polar(1., sign * 2 * M_PI * turn);
                        }
                y[(a * n[1] + b) * n[2] + c] = sum;
            }
    return y;
}

template <class C, class R> struct Run {
    cufftType forward, back, both;
    double eps;
    int exec(cufftHandle p, void *in, void *out, int direction)
    {
        return cufftXtExec(p, in, out, direction);
    }
    /* `rank` dimensions, `batch` of them. */
    void complex(int rank, const int *n3, int batch, bool place)
    {
        int size = n3[0] * n3[1] * n3[2];
        std::vector<std::vector<Z>> x(batch);
        std::vector<C> host((size_t)size * batch), got(host.size());
        for (int b = 0; b < batch; b++)
            for (int i = 0; i < size; i++) {
                Z v(next(), next());
                host[b * size + i].x = (R)v.real();
                host[b * size + i].y = (R)v.imag();
                x[b].push_back(Z(host[b * size + i].x, host[b * size + i].y));
            }
        C *in, *out;
        cudaMalloc(&in, host.size() * sizeof(C));
        cudaMalloc(&out, host.size() * sizeof(C));
        cudaMemcpy(in, host.data(), host.size() * sizeof(C), cudaMemcpyHostToDevice);
        cufftHandle plan;
        OK(cufftPlanMany(&plan, rank, (int *)n3 + 3 - rank, NULL, 1, size, NULL, 1, size, both, batch));
        expect(exec(plan, in, place ? in : out, CUFFT_FORWARD) == 0, "exec");
        cudaMemcpy(got.data(), place ? in : out, got.size() * sizeof(C), cudaMemcpyDeviceToHost);
        for (int b = 0; b < batch; b++) {
            std::vector<Z> want = transform(x[b], n3, -1);
            for (int i = 0; i < size; i++)
                expect(std::abs(Z(got[b * size + i].x, got[b * size + i].y) - want[i]) < eps * size, "complex", rank, i);
        }
        /* Back again: size times what it was. */
        expect(exec(plan, place ? in : out, place ? in : out, CUFFT_INVERSE) == 0, "exec");
        cudaMemcpy(got.data(), place ? in : out, got.size() * sizeof(C), cudaMemcpyDeviceToHost);
        for (size_t i = 0; i < got.size(); i++)
            expect(fabs(got[i].x - (double)size * host[i].x) < eps * size * 10, "and back", rank, (int)i);
        OK(cufftDestroy(plan));
        cudaFree(in);
        cudaFree(out);
    }
    void real(int rank, const int *n3, int batch, bool place)
    {
        int last = n3[2], half = last / 2 + 1, rows = n3[0] * n3[1], width = place ? 2 * half : last;
        std::vector<R> host((size_t)rows * width * batch), again(host.size());
        std::vector<C> got((size_t)rows * half * batch);
        std::vector<std::vector<Z>> x(batch);
        for (int b = 0; b < batch; b++)
            for (int i = 0; i < rows * last; i++) {
                R &v = host[(size_t)b * rows * width + i / last * width + i % last];
                v = (R)next();
                x[b].push_back(v);
            }
        R *in;
        C *out;
        cudaMalloc(&in, std::max(host.size() * sizeof(R), got.size() * sizeof(C)));
        cudaMalloc(&out, got.size() * sizeof(C));
        cudaMemcpy(in, host.data(), host.size() * sizeof(R), cudaMemcpyHostToDevice);
        void *to = place ? (void *)in : out;
        cufftHandle plan, inverse;
        int *n = (int *)n3 + 3 - rank;
        OK(cufftPlanMany(&plan, rank, n, NULL, 1, 0, NULL, 1, 0, forward, batch));
        OK(cufftPlanMany(&inverse, rank, n, NULL, 1, 0, NULL, 1, 0, back, batch));
        expect(exec(plan, in, to, CUFFT_FORWARD) == 0, "exec");
        cudaMemcpy(got.data(), to, got.size() * sizeof(C), cudaMemcpyDeviceToHost);
        for (int b = 0; b < batch; b++) {
            std::vector<Z> want = transform(x[b], n3, -1);
            for (int r = 0; r < rows; r++)
                for (int k = 0; k < half; k++) {
                    C v = got[((size_t)b * rows + r) * half + k];
                    expect(std::abs(Z(v.x, v.y) - want[r * last + k]) < eps * rows * last, "real", rank, r * half + k);
                }
        }
        expect(exec(inverse, to, in, CUFFT_INVERSE) == 0, "exec");
        cudaMemcpy(again.data(), in, again.size() * sizeof(R), cudaMemcpyDeviceToHost);
        for (int b = 0; b < batch; b++)
            for (int i = 0; i < rows * last; i++)
                expect(fabs(again[(size_t)b * rows * width + i / last * width + i % last] -
                            rows * last * x[b][i].real()) < eps * rows * last * 10, "and back to real", rank, i);
        OK(cufftDestroy(plan));
        OK(cufftDestroy(inverse));
        cudaFree(in);
        cudaFree(out);
    }
    void all()
    {
        const int sizes[][3] = {{1, 1, 12}, {1, 1, 17}, {1, 6, 10}, {3, 5, 8}};
        for (const int *n : sizes)
            for (int place = 0; place < 2; place++) {
                int rank = n[0] > 1 ? 3 : n[1] > 1 ? 2 : 1;
                complex(rank, n, 3, place);
                real(rank, n, 2, place);
            }
    }
};

/* Every third column of a matrix, transformed along its rows into the columns of another. */
static void strides()
{
    const int n = 8, columns = 4, step = 3;
    std::vector<cufftComplex> host(n * columns * step), got(n * columns);
    for (cufftComplex &v : host)
        v = {(float)next(), (float)next()};
    cufftComplex *in, *out;
    cudaMalloc(&in, host.size() * sizeof(cufftComplex));
    cudaMalloc(&out, got.size() * sizeof(cufftComplex));
    cudaMemcpy(in, host.data(), host.size() * sizeof(cufftComplex), cudaMemcpyHostToDevice);
    int size = n, inembed = n, onembed = n;
    cufftHandle plan;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    OK(cufftPlanMany(&plan, 1, &size, &inembed, columns * step, step, &onembed, 1, n, CUFFT_C2C, columns));
    OK(cufftSetStream(plan, stream));
    OK(cufftExecC2C(plan, in, out, CUFFT_FORWARD));
    cudaMemcpyAsync(got.data(), out, got.size() * sizeof(cufftComplex), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    for (int c = 0; c < columns; c++) {
        std::vector<Z> x;
        for (int i = 0; i < n; i++)
            x.push_back(Z(host[i * columns * step + c * step].x, host[i * columns * step + c * step].y));
        const int n3[] = {1, 1, n};
        std::vector<Z> want = transform(x, n3, -1);
        for (int i = 0; i < n; i++)
            expect(std::abs(Z(got[c * n + i].x, got[c * n + i].y) - want[i]) < 1e-4, "strides", c, i);
    }
    OK(cufftDestroy(plan));
    cudaStreamDestroy(stream);
    cudaFree(in);
    cudaFree(out);
}

static void errors()
{
    cufftHandle plan;
    size_t size = 0;
    int version = 0;
    expect(cufftPlan1d(&plan, -1, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE, "a negative size");
    expect(cufftPlan1d(&plan, 8, (cufftType)7, 1) == CUFFT_INVALID_TYPE, "no type");
    expect(cufftExecC2C(12345, NULL, NULL, CUFFT_FORWARD) == CUFFT_INVALID_PLAN, "no plan");
    OK(cufftCreate(&plan));
    OK(cufftMakePlan2d(plan, 4, 6, CUFFT_Z2Z, &size));
    expect(size >= 1, "a work area");
    OK(cufftGetSize(plan, &size));
    OK(cufftEstimate3d(4, 4, 4, CUFFT_C2C, &size));
    OK(cufftGetVersion(&version));
    expect(version >= 11000, "version", version);
    cufftDoubleComplex *data;
    cudaMalloc(&data, 24 * sizeof(*data));
    expect(cufftExecZ2Z(plan, data, data, 3) == CUFFT_INVALID_VALUE, "no direction");
    expect(cufftExecC2C(plan, (cufftComplex *)data, (cufftComplex *)data, -1) == CUFFT_INVALID_TYPE, "another type");
    OK(cufftDestroy(plan));
    expect(cufftDestroy(plan) == CUFFT_INVALID_PLAN, "destroyed twice");
    cudaFree(data);
}

/* Halves and bfloat16: within a step or two of the largest result, in place and not, with a stride. */
template <typename T> static void small(cudaDataType real, cudaDataType complex, double step)
{
    const int n[3] = {1, 8, 16};
    long long dims[2] = {n[1], n[2]};
    const int all = n[1] * n[2], half = n[2] / 2 + 1;
    size_t size = 0;
    T *in, *out;
    cudaMallocManaged(&in, 8 * all * sizeof(T));
    cudaMallocManaged(&out, 8 * all * sizeof(T));
    for (int gap = 1; gap < 4; gap++)
        for (int place = 0; place < 2; place++) {
            cufftHandle plan;
            std::vector<Z> x(all);
            OK(cufftCreate(&plan));
            OK(cufftXtMakePlanMany(plan, 2, dims, dims, gap, 0, complex, dims, gap, 0, complex, 1, &size, complex));
            for (int i = 0; i < 8 * all; i++)
                in[i] = out[i] = T(42.f);
            for (int i = 0; i < all; i++) {
                in[2 * gap * i] = T((float)next()), in[2 * gap * i + 1] = T((float)next());
                x[i] = Z((float)in[2 * gap * i], (float)in[2 * gap * i + 1]);
            }
            OK(cufftXtExec(plan, in, place ? in : out, CUFFT_FORWARD));
            cudaDeviceSynchronize();
            const T *got = place ? in : out;
            std::vector<Z> y = transform(x, n, -1);
            for (int i = 0; i < all; i++) {
                const Z d = y[i] - Z((float)got[2 * gap * i], (float)got[2 * gap * i + 1]);
                expect(std::abs(d) <= step * 16, "small C2C", i, place);
                if (gap > 1)
                    expect((float)got[2 * gap * i + 2] == 42, "small between", i, place);
            }
            expect(cufftExecC2C(plan, (cufftComplex *)in, (cufftComplex *)out, CUFFT_FORWARD) == CUFFT_INVALID_TYPE,
                   "small as f32");
            OK(cufftDestroy(plan));
        }
    cufftHandle there, back, wrong;
    std::vector<Z> x(all);
    OK(cufftCreate(&there));
    OK(cufftCreate(&back));
    OK(cufftXtMakePlanMany(there, 2, dims, nullptr, 1, 0, real, nullptr, 1, 0, complex, 1, &size, complex));
    OK(cufftXtMakePlanMany(back, 2, dims, nullptr, 1, 0, complex, nullptr, 1, 0, real, 1, &size, complex));
    for (int i = 0; i < all; i++) x[i] = (float)(in[i] = T((float)next()));
    OK(cufftXtExec(there, in, out, CUFFT_FORWARD));
    cudaDeviceSynchronize();
    std::vector<Z> y = transform(x, n, -1);
    for (int r = 0; r < n[1]; r++)
        for (int c = 0; c < half; c++) {
            const int at = 2 * (r * half + c);
            expect(std::abs(y[r * n[2] + c] - Z((float)out[at], (float)out[at + 1])) <= step * 16, "small R2C", r, c);
        }
    OK(cufftXtExec(back, out, in, CUFFT_INVERSE));
    cudaDeviceSynchronize();
    for (int i = 0; i < all; i++) expect(std::abs(x[i].real() * all - (float)in[i]) <= step * all, "small C2R", i);
    long long three[] = {12};
    OK(cufftCreate(&wrong));
    expect(cufftXtMakePlanMany(wrong, 1, three, nullptr, 1, 0, complex, nullptr, 1, 0, complex, 1, &size, complex) ==
               CUFFT_NOT_SUPPORTED,
           "12 halves");
    OK(cufftDestroy(wrong));
    OK(cufftDestroy(there));
    OK(cufftDestroy(back));
    cudaFree(in);
    cudaFree(out);
}

int main()
{
    Run<cufftComplex, float>{CUFFT_R2C, CUFFT_C2R, CUFFT_C2C, 1e-5}.all();
    Run<cufftDoubleComplex, double>{CUFFT_D2Z, CUFFT_Z2D, CUFFT_Z2Z, 1e-13}.all();
    strides();
    small<__half>(CUDA_R_16F, CUDA_C_16F, 1. / 1024);
    small<__nv_bfloat16>(CUDA_R_16BF, CUDA_C_16BF, 1. / 128);
    errors();
    expect(cudaDeviceSynchronize() == cudaSuccess, "the device");
    printf(failures ? "%d wrong\n" : "PASS\n", failures);
    return failures != 0;
}
