/* gemm.c - the bench's driver of gemm: m x n x k, row major without gaps, alpha 1, beta 0, beside cuBLAS in pedantic
 * f32.
 *
 * Verified: every element is a number, and up to 4,096 elements, spread evenly over C from the first to the last, are
 * within the bound that the manual states (k + 2 units of |A||B|) of a sum in double. In small cases that is all of C.
 */
#include "bench.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

enum { SAMPLE = 4096 };

struct state {
    int64_t m, n, k, samples;
    float *a, *b, *c; /* on the device */
    float *host;      /* C */
    double *exact, *bound;
};

static int64_t sample_at(const struct state *s, int64_t i)
{
    return s->samples == 1 ? 0 : (int64_t)((double)(s->m * s->n - 1) * (double)i / (double)(s->samples - 1));
}

static void release(void *p)
{
    struct state *s = p;
    bench_free(s->a);
    bench_free(s->b);
    bench_free(s->c);
    free(s->host);
    free(s->exact);
    free(s->bound);
    free(s);
}

static bool reference(struct state *s)
{
    float *a = malloc((size_t)(s->m * s->k) * sizeof *a), *b = malloc((size_t)(s->k * s->n) * sizeof *b);
    bool ok = a && b && cudaMemcpy(a, s->a, (size_t)(s->m * s->k) * 4, cudaMemcpyDeviceToHost) == cudaSuccess &&
              cudaMemcpy(b, s->b, (size_t)(s->k * s->n) * 4, cudaMemcpyDeviceToHost) == cudaSuccess;
    for (int64_t i = 0; ok && i < s->samples; i++) {
        int64_t row = sample_at(s, i) / s->n, col = sample_at(s, i) % s->n;
        double sum = 0, size = 0;
        for (int64_t p = 0; p < s->k; p++) {
            double product = (double)a[row * s->k + p] * (double)b[p * s->n + col];
            sum += product;
            size += fabs(product);
        }
        s->exact[i] = sum;
        s->bound[i] = (double)(s->k + 2) * 0x1p-24 * size;
    }
    free(a);
    free(b);
    return ok;
}

static void *make(const struct bench_size *size)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->m = size->d[0], s->n = size->d[1], s->k = size->d[2];
    s->samples = s->m * s->n < SAMPLE ? s->m * s->n : SAMPLE;
    s->a = bench_alloc((size_t)(s->m * s->k) * 4);
    s->b = bench_alloc((size_t)(s->k * s->n) * 4);
    s->c = bench_alloc((size_t)(s->m * s->n) * 4);
    s->host = malloc((size_t)(s->m * s->n) * 4 + 1);
    s->exact = calloc((size_t)s->samples + 1, sizeof *s->exact);
    s->bound = calloc((size_t)s->samples + 1, sizeof *s->bound);
    if (!s->a || !s->b || !s->c || !s->host || !s->exact || !s->bound) {
        release(s);
        return NULL;
    }
    bench_fill_f32(s->a, s->m * s->k, 1);
    bench_fill_f32(s->b, s->k * s->n, 2);
    cudaMemset(s->c, 0xff, (size_t)(s->m * s->n) * 4);
    if (!reference(s)) {
        release(s);
        return NULL;
    }
    return s;
}

static struct bench_work work(const struct bench_size *size)
{
    double m = (double)size->d[0], n = (double)size->d[1], k = (double)size->d[2];
    return (struct bench_work){.bytes = 4 * (m * k + k * n + m * n), .flops = 2 * m * n * k};
}

static int run(void *p, int variant, struct CUstream_st *stream)
{
    const struct state *s = p;
    return mg_gemm_f32(stream, variant, s->m, s->n, s->k, 1.0f, s->a, s->k, s->b, s->n, 0.0f, s->c, s->n);
}

static struct bench_error verify(void *p)
{
    struct state *s = p;
    struct bench_error e = {.worst = 0, .ok = true};
    if (cudaMemcpy(s->host, s->c, (size_t)(s->m * s->n) * 4, cudaMemcpyDeviceToHost) != cudaSuccess)
        return (struct bench_error){.worst = INFINITY};
    for (int64_t i = 0; i < s->m * s->n; i++)
        if (isnan(s->host[i]))
            return (struct bench_error){.worst = INFINITY};
    for (int64_t i = 0; i < s->samples; i++) {
        double error = fabs((double)s->host[sample_at(s, i)] - s->exact[i]);
        if (error > s->bound[i])
            e.ok = false;
        if (error > 0 && error / s->bound[i] > e.worst)
            e.worst = error / s->bound[i];
    }
    cudaMemset(s->c, 0xff, (size_t)(s->m * s->n) * 4);
    return e;
}

/* cuBLAS is column major: C' = B' A'. */
static int peer_run(void *p, int peer, struct CUstream_st *stream)
{
    enum { PEDANTIC = 2, NOT_TRANSPOSED = 0 };
    typedef int sgemm(void *, int, int, int, int, int, const float *, const float *, int, const float *, int,
                      const float *, float *, int);
    const struct state *s = p;
    const float one = 1.0f, zero = 0.0f;
    (void)peer;
    void *handle = bench_cublas();
    int (*set_mode)(void *, int) = (int (*)(void *, int))bench_cublas_symbol("cublasSetMathMode");
    int (*set_stream)(void *, struct CUstream_st *) =
        (int (*)(void *, struct CUstream_st *))bench_cublas_symbol("cublasSetStream_v2");
    sgemm *product = (sgemm *)bench_cublas_symbol("cublasSgemm_v2");
    if (!handle || !set_mode || !set_stream || !product || set_mode(handle, PEDANTIC) || set_stream(handle, stream))
        return 1;
    return product(handle, NOT_TRANSPOSED, NOT_TRANSPOSED, (int)s->n, (int)s->m, (int)s->k, &one, s->b, (int)s->n, s->a,
                   (int)s->k, &zero, s->c, (int)s->n);
}

static const char *const peers[] = {"cuBLAS", NULL};

const struct bench_op bench_gemm = {
    .name = "gemm",
    .type = "f32",
    .dims = 3,
    .sizes_gpu = "2048x512x1024,2048x2048x2048,4096x4096x4096",
    .sizes_sim = "256x256x128",
    .variants = mg_gemm_variants,
    .limit = "fp32",
    .make = make,
    .free = release,
    .work = work,
    .run = run,
    .verify = verify,
    .peers = peers,
    .peer_run = peer_run,
};
