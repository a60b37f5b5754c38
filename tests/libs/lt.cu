/* lt.cu - cuBLASLt against sums in plain C++: types, orders, transposes, batches, epilogues, transforms. */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

static int failures;
static void expect(bool good, const char *what, int a = 0, int b = 0, int c = 0)
{
    if (!good && failures++ < 20)
        printf("FAIL %s %d %d %d\n", what, a, b, c);
}
#define OK(call) expect((call) == CUBLAS_STATUS_SUCCESS, #call)
static double next()
{
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (double)(int)(state >> 20) / 2048. - 1;
}
template <class T> struct Of;
template <> struct Of<float> { static const cudaDataType type = CUDA_R_32F; };
template <> struct Of<double> { static const cudaDataType type = CUDA_R_64F; };
template <> struct Of<__half> { static const cudaDataType type = CUDA_R_16F; };
template <> struct Of<__nv_bfloat16> { static const cudaDataType type = CUDA_R_16BF; };
template <> struct Of<__nv_fp8_e4m3> { static const cudaDataType type = CUDA_R_8F_E4M3; };
template <> struct Of<signed char> { static const cudaDataType type = CUDA_R_8I; };
template <> struct Of<int> { static const cudaDataType type = CUDA_R_32I; };
template <class T> static T of(double v) { return (T)(float)v; }
template <> double of<double>(double v) { return v; }
template <> signed char of<signed char>(double v) { return (signed char)(v * 100); }
template <class T> static double value(T v) { return (double)(float)v; }
template <> double value<double>(double v) { return v; }
template <> double value<int>(int v) { return v; }

template <class T> struct Data {
    std::vector<T> host;
    T *at;
    Data(size_t n) : host(n)
    {
        for (T &t : host)
            t = of<T>(next());
        cudaMalloc(&at, n * sizeof(T));
        cudaMemcpy(at, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    }
    ~Data() { cudaFree(at); }
    double operator[](size_t i) const { return value(host[i]); }
    void fetch() { cudaMemcpy(host.data(), at, host.size() * sizeof(T), cudaMemcpyDeviceToHost); }
};
static cublasLtHandle_t lt;
static double gelu(double x) { return .5 * x * (1 + tanh(.7978845608028654 * (x + .044715 * x * x * x))); }

/* One product with what the epilogue asks for, as llm.c does it. A, B and D in `order`, `batch` of them. */
template <class A, class D, class S>
static void product(cublasComputeType_t in, int ta, int tb, int order, int batch, int epilogue, double tolerance)
{
    const int m = 16, n = 12, k = 20;
    int ra = ta ? k : m, ca = ta ? m : k, rb = tb ? n : k, cb = tb ? k : n;
    auto ld = [&](int r, int c) { return order ? c : r; };
    auto at = [&](int r, int c, int i, int j, int b) { return (size_t)b * r * c + (order ? i * c + j : i + j * r); };
    Data<A> a(m * k * batch), b(k * n * batch);
    Data<D> c(m * n * batch), d(m * n * batch), bias(m > n ? m : n), aux(m * n * batch);
    S alpha = (S)2, beta = (S)(epilogue == 1 ? 3 : 0);
    cublasLtMatmulDesc_t op;
    cublasLtMatrixLayout_t la, lb, lc;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t result;
    cublasOperation_t oa = (cublasOperation_t)ta, ob = (cublasOperation_t)tb;
    int found = 0, o = order;
    size_t space = 1 << 20;
    int64_t stride[] = {m * k, k * n, m * n}, aux_ld = m, aux_stride = m * n;
    cudaDataType scale = sizeof(S) == 8 ? CUDA_R_64F : in == CUBLAS_COMPUTE_32I ? CUDA_R_32I : CUDA_R_32F;
    OK(cublasLtMatmulDescCreate(&op, in, scale));
    OK(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_TRANSA, &oa, sizeof(oa)));
    OK(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_TRANSB, &ob, sizeof(ob)));
    OK(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue)));
    void *pointer = bias.at, *beside = aux.at;
    OK(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &pointer, sizeof(pointer)));
    if (epilogue & 128) {
        OK(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &beside, sizeof(beside)));
        OK(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &aux_ld, sizeof(aux_ld)));
        OK(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, &aux_stride, 8));
    }
    OK(cublasLtMatrixLayoutCreate(&la, Of<A>::type, ra, ca, ld(ra, ca)));
    OK(cublasLtMatrixLayoutCreate(&lb, Of<A>::type, rb, cb, ld(rb, cb)));
    OK(cublasLtMatrixLayoutCreate(&lc, Of<D>::type, m, n, ld(m, n)));
    cublasLtMatrixLayout_t layouts[] = {la, lb, lc};
    for (int i = 0; i < 3; i++) {
        OK(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_ORDER, &o, sizeof(o)));
        OK(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch)));
        OK(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride[i], 8));
    }
    OK(cublasLtMatmulPreferenceCreate(&preference));
    OK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &space, sizeof(space)));
    OK(cublasLtMatmulAlgoGetHeuristic(lt, op, la, lb, lc, lc, preference, 1, &result, &found));
    expect(found == 1, "an algorithm");
    OK(cublasLtMatmul(lt, op, &alpha, a.at, la, b.at, lb, &beta, c.at, lc, d.at, lc, &result.algo, NULL, 0, NULL));
    d.fetch();
    std::vector<double> rows(m), before(aux.host.size());
    for (size_t i = 0; i < before.size(); i++)
        before[i] = aux[i];
    aux.fetch();
    for (int g = 0; g < batch; g++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                double sum = 0, size = 1;
                for (int l = 0; l < k; l++) {
                    double p = (ta ? a[at(k, m, l, i, g)] : a[at(m, k, i, l, g)]) *
                               (tb ? b[at(n, k, j, l, g)] : b[at(k, n, l, j, g)]);
                    sum += 2 * p;
                    size += 2 * fabs(p);
                }
                if (epilogue == 1)
                    sum += 3 * c[at(m, n, i, j, g)];
                if (epilogue & 4)
                    sum += bias[i];
                double kept = sum;
                if (epilogue & 32)
                    sum = gelu(sum);
                if (epilogue & 2)
                    sum = sum > 0 ? sum : 0;
                if (epilogue & 64) { /* the slope, by a difference */
                    double x = before[i + j * m + g * m * n], e = 1e-4;
                    sum *= (gelu(x + e) - gelu(x - e)) / (2 * e);
                }
                rows[i] += sum;
                expect(fabs(value(d.host[at(m, n, i, j, g)]) - sum) <= tolerance * (size + fabs(sum)), "product", epilogue,
                       i, j);
                if ((epilogue & 160) == 160)
                    expect(fabs(aux[i + j * m + g * m * n] - kept) <= tolerance * size, "aux", epilogue, i, j);
            }
    if (epilogue & (16 | 256 | 512)) {
        bias.fetch();
        for (int i = 0; i < (epilogue & 512 ? n : m); i++) {
            double want = epilogue & 16 ? rows[i] : 0;
            for (int l = 0; l < k && !(epilogue & 16); l++)
                want += epilogue & 256 ? (ta ? a[at(k, m, l, i, 0)] : a[at(m, k, i, l, 0)])
                                       : (tb ? b[at(n, k, i, l, 0)] : b[at(k, n, l, i, 0)]);
            expect(fabs(bias[i] - want) <= tolerance * 100, "bias gradient", epilogue, i);
        }
    }
    OK(cublasLtMatmulPreferenceDestroy(preference));
    for (cublasLtMatrixLayout_t layout : layouts)
        OK(cublasLtMatrixLayoutDestroy(layout));
    OK(cublasLtMatmulDescDestroy(op));
}

/* A matrix turned, and added to another, from columns to rows. */
static void transform()
{
    const int m = 5, n = 7;
    Data<float> a(n * m), b(m * n), c(m * n);
    float alpha = 2, beta = -1;
    cublasLtMatrixTransformDesc_t op;
    cublasLtMatrixLayout_t la, lb, lc;
    cublasOperation_t turn = CUBLAS_OP_T;
    int rows = CUBLASLT_ORDER_ROW;
    OK(cublasLtMatrixTransformDescCreate(&op, CUDA_R_32F));
    OK(cublasLtMatrixTransformDescSetAttribute(op, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &turn, sizeof(turn)));
    OK(cublasLtMatrixLayoutCreate(&la, CUDA_R_32F, n, m, n));
    OK(cublasLtMatrixLayoutCreate(&lb, CUDA_R_32F, m, n, m));
    OK(cublasLtMatrixLayoutCreate(&lc, CUDA_R_32F, m, n, n));
    OK(cublasLtMatrixLayoutSetAttribute(lc, CUBLASLT_MATRIX_LAYOUT_ORDER, &rows, sizeof(rows)));
    OK(cublasLtMatrixTransform(lt, op, &alpha, a.at, la, &beta, b.at, lb, c.at, lc, NULL));
    c.fetch();
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            expect(fabs(c[i * n + j] - (2 * a[j + i * n] - b[i + j * m])) < 1e-6, "transform", i, j);
    OK(cublasLtMatrixLayoutDestroy(la));
    OK(cublasLtMatrixLayoutDestroy(lb));
    OK(cublasLtMatrixLayoutDestroy(lc));
    OK(cublasLtMatrixTransformDescDestroy(op));
}

int main()
{
    size_t capacity = 1;
    OK(cublasLtCreate(&lt));
    OK(cublasLtLoggerSetLevel(0));
    OK(cublasLtLoggerSetMask(0));
    OK(cublasLtLoggerForceDisable());
    expect(cublasLtLoggerSetLevel(6) == CUBLAS_STATUS_INVALID_VALUE, "a level that there is not");
    OK(cublasLtHeuristicsCacheSetCapacity(100));
    OK(cublasLtHeuristicsCacheGetCapacity(&capacity));
    expect(!capacity, "a cache that there is not");
    for (int ta = 0; ta < 2; ta++)
        for (int tb = 0; tb < 2; tb++)
            for (int order = 0; order < 2; order++) {
                product<float, float, float>(CUBLAS_COMPUTE_32F, ta, tb, order, 3, 1, 1e-5);
                product<double, double, double>(CUBLAS_COMPUTE_64F, ta, tb, order, 2, 1, 1e-13);
            }
    product<__half, __half, float>(CUBLAS_COMPUTE_32F, 1, 0, 0, 1, 1, 1e-3);
    product<__nv_bfloat16, float, float>(CUBLAS_COMPUTE_32F, 1, 0, 0, 2, 1, 1e-5);
    product<__nv_fp8_e4m3, __half, float>(CUBLAS_COMPUTE_32F, 1, 0, 0, 1, 1, 1e-3);
    product<signed char, int, int>(CUBLAS_COMPUTE_32I, 1, 0, 0, 1, 1, 0);
    const int epilogues[] = {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS,
                             CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS, CUBLASLT_EPILOGUE_GELU_AUX,
                             CUBLASLT_EPILOGUE_GELU_AUX_BIAS, CUBLASLT_EPILOGUE_DGELU, CUBLASLT_EPILOGUE_DGELU_BGRAD,
                             CUBLASLT_EPILOGUE_BGRADA, CUBLASLT_EPILOGUE_BGRADB};
    for (int epilogue : epilogues) {
        product<float, float, float>(CUBLAS_COMPUTE_32F, 1, 0, 0, 1, epilogue, 1e-5);
        product<float, float, float>(CUBLAS_COMPUTE_32F, 0, 1, 0, 1, epilogue, 1e-5);
    }
    transform();
    /* What is not there says so. */
    cublasLtMatmulDesc_t op;
    cublasLtMatrixLayout_t l;
    int mask = CUBLASLT_EPILOGUE_RELU_AUX;
    float one = 1, *at;
    cudaMalloc(&at, 64 * sizeof(float));
    OK(cublasLtMatmulDescCreate(&op, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    OK(cublasLtMatrixLayoutCreate(&l, CUDA_R_32F, 8, 8, 8));
    expect(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_EPILOGUE, &mask, 8) == CUBLAS_STATUS_INVALID_VALUE,
           "an attribute's size");
    OK(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_EPILOGUE, &mask, sizeof(mask)));
    expect(cublasLtMatmul(lt, op, &one, at, l, at, l, &one, at, l, at, l, NULL, NULL, 0, NULL) ==
               CUBLAS_STATUS_NOT_SUPPORTED, "masks");
    cudaFree(at);
    OK(cublasLtMatrixLayoutDestroy(l));
    OK(cublasLtMatmulDescDestroy(op));
    OK(cublasLtDestroy(lt));
    expect(cudaDeviceSynchronize() == cudaSuccess, "the device");
    printf(failures ? "%d wrong\n" : "PASS\n", failures);
    return failures != 0;
}
