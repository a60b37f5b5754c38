/* transpose.cu - the bench of transpose, for elements of 4 and of 8 bytes. The peer is cuBLAS's geam, which can
 * transpose as well as add. Everything is compared with plain C, all of it at any size. */
#include "bench.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

typedef int sgeam(void *, int, int, int, int, const float *, const float *, int, const float *, const float *, int,
                  float *, int);
typedef int dgeam(void *, int, int, int, int, const double *, const double *, int, const double *, const double *, int,
                  double *, int);

struct state {
    int64_t rows, cols;
    int size;
    uint32_t *x, *y, *want, *got;
};

static size_t bytes_of(const struct state *s)
{
    return static_cast<size_t>(s->rows * s->cols * s->size);
}

static void drop(void *of)
{
    struct state *s = static_cast<struct state *>(of);
    bench_free(s->x);
    bench_free(s->y);
    free(s->want);
    free(s->got);
    free(s);
}

static void *make(const struct bench_size *size, int element)
{
    struct state *s = static_cast<struct state *>(calloc(1, sizeof *s));
    if (!s)
        return nullptr;
    s->rows = size->d[0];
    s->cols = size->d[1];
    s->size = element;
    size_t bytes = bytes_of(s);
    s->x = static_cast<uint32_t *>(bench_alloc(bytes));
    s->y = static_cast<uint32_t *>(bench_alloc(bytes));
    s->want = static_cast<uint32_t *>(malloc(bytes + 1));
    s->got = static_cast<uint32_t *>(malloc(bytes + 1));
    if (!s->x || !s->y || !s->want || !s->got) {
        drop(s);
        return nullptr;
    }
    /* Numbers with exponents that leave arithmetic alone: geam computes, and would quieten a NaN. */
    if (element == 4)
        bench_fill_f32(reinterpret_cast<float *>(s->x), s->rows * s->cols, 1);
    else
        bench_fill_f64(reinterpret_cast<double *>(s->x), s->rows * s->cols, 1);
    cudaMemcpy(s->got, s->x, bytes, cudaMemcpyDeviceToHost);
    if (element == 4)
        mg_ref_transpose_b32(s->rows, s->cols, s->got, s->cols, s->want, s->rows);
    else
        mg_ref_transpose_b64(s->rows, s->cols, s->got, s->cols, s->want, s->rows);
    cudaMemset(s->y, 0xff, bytes);
    return s;
}

static void *make_b32(const struct bench_size *size)
{
    return make(size, 4);
}

static void *make_b64(const struct bench_size *size)
{
    return make(size, 8);
}

static struct bench_work work_b32(const struct bench_size *size)
{
    return {2.0 * 4.0 * static_cast<double>(size->d[0]) * static_cast<double>(size->d[1]), 0.0};
}

static struct bench_work work_b64(const struct bench_size *size)
{
    return {2.0 * 8.0 * static_cast<double>(size->d[0]) * static_cast<double>(size->d[1]), 0.0};
}

static int run(void *of, int variant, struct CUstream_st *stream)
{
    struct state *s = static_cast<struct state *>(of);
    return s->size == 4 ? mg_transpose_b32(stream, variant, s->rows, s->cols, s->x, s->cols, s->y, s->rows)
                        : mg_transpose_b64(stream, variant, s->rows, s->cols, s->x, s->cols, s->y, s->rows);
}

static struct bench_error verify(void *of)
{
    struct state *s = static_cast<struct state *>(of);
    size_t bytes = bytes_of(s);
    cudaMemcpy(s->got, s->y, bytes, cudaMemcpyDeviceToHost);
    cudaMemset(s->y, 0xff, bytes);
    double wrong = 0;
    if (memcmp(s->got, s->want, bytes) != 0)
        for (size_t i = 0; i < bytes / 4; i++)
            wrong += s->got[i] != s->want[i];
    return {wrong, wrong == 0};
}

/* cuBLAS is column major: y is rows x cols to it, the transpose of x with a leading dimension of cols. */
static int peer(void *of, int, struct CUstream_st *stream)
{
    struct state *s = static_cast<struct state *>(of);
    void *handle = bench_cublas();
    int (*set)(void *, struct CUstream_st *) =
        reinterpret_cast<int (*)(void *, struct CUstream_st *)>(bench_cublas_symbol("cublasSetStream_v2"));
    if (!handle || !set || set(handle, stream) || s->rows > INT32_MAX || s->cols > INT32_MAX)
        return 1;
    int m = static_cast<int>(s->rows), n = static_cast<int>(s->cols);
    if (s->size == 4) {
        sgeam *geam = reinterpret_cast<sgeam *>(bench_cublas_symbol("cublasSgeam"));
        const float one = 1, zero = 0;
        float *x = reinterpret_cast<float *>(s->x), *y = reinterpret_cast<float *>(s->y);
        return !geam || geam(handle, 1, 0, m, n, &one, x, n, &zero, y, m, y, m);
    }
    dgeam *geam = reinterpret_cast<dgeam *>(bench_cublas_symbol("cublasDgeam"));
    const double one = 1, zero = 0;
    double *x = reinterpret_cast<double *>(s->x), *y = reinterpret_cast<double *>(s->y);
    return !geam || geam(handle, 1, 0, m, n, &one, x, n, &zero, y, m, y, m);
}

static const char *const peers[] = {"cuBLAS geam", nullptr};

extern "C" const struct bench_op bench_transpose_b32 = {"transpose", "b32",
                                                        2,           "1024x1024,16384x16384",
                                                        "256x256",   mg_transpose_variants,
                                                        "copy",      make_b32,
                                                        drop,        work_b32,
                                                        run,         verify,
                                                        peers,       peer,
                                                        nullptr,     nullptr,
                                                        nullptr};
extern "C" const struct bench_op bench_transpose_b64 = {"transpose", "b64",
                                                        2,           "1024x1024,8192x8192",
                                                        "128x256",   mg_transpose_variants,
                                                        "copy",      make_b64,
                                                        drop,        work_b64,
                                                        run,         verify,
                                                        peers,       peer,
                                                        nullptr,     nullptr,
                                                        nullptr};
