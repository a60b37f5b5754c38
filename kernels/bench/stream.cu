/* stream.cu - the bench of stream, the coalescing table: c = a + b in every order. There is no peer; the limit is a
 * copy of as many bytes. */
#include "bench.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

struct state {
    int64_t n;
    float *a, *b, *c, *want, *got;
};

static void drop(void *of)
{
    struct state *s = static_cast<struct state *>(of);
    bench_free(s->a);
    bench_free(s->b);
    bench_free(s->c);
    free(s->want);
    free(s->got);
    free(s);
}

static void *make(const struct bench_size *size)
{
    struct state *s = static_cast<struct state *>(calloc(1, sizeof *s));
    if (!s)
        return nullptr;
    s->n = size->d[0];
    size_t bytes = static_cast<size_t>(s->n) * sizeof(float);
    s->a = static_cast<float *>(bench_alloc(bytes));
    s->b = static_cast<float *>(bench_alloc(bytes));
    s->c = static_cast<float *>(bench_alloc(bytes));
    s->want = static_cast<float *>(malloc(bytes + 1));
    s->got = static_cast<float *>(malloc(bytes + 1));
    if (!s->a || !s->b || !s->c || !s->want || !s->got) {
        drop(s);
        return nullptr;
    }
    bench_fill_f32(s->a, s->n, 1);
    bench_fill_f32(s->b, s->n, 2);
    cudaMemcpy(s->want, s->a, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(s->got, s->b, bytes, cudaMemcpyDeviceToHost);
    for (int64_t i = 0; i < s->n; i++)
        s->want[i] += s->got[i];
    cudaMemset(s->c, 0xff, bytes);
    return s;
}

static struct bench_work work(const struct bench_size *size)
{
    double n = static_cast<double>(size->d[0]);
    return {12.0 * n, n};
}

static int run(void *of, int variant, struct CUstream_st *stream)
{
    struct state *s = static_cast<struct state *>(of);
    return mg_stream_f32(stream, variant, s->n, s->a, s->b, s->c);
}

static struct bench_error verify(void *of)
{
    struct state *s = static_cast<struct state *>(of);
    size_t bytes = static_cast<size_t>(s->n) * sizeof(float);
    cudaMemcpy(s->got, s->c, bytes, cudaMemcpyDeviceToHost);
    cudaMemset(s->c, 0xff, bytes);
    double wrong = 0;
    for (int64_t i = 0; i < s->n; i++)
        wrong += !(s->got[i] == s->want[i]);
    return {wrong, wrong == 0};
}

static const char *const peers[] = {nullptr};

extern "C" const struct bench_op bench_stream = {"stream", "f32",   1,       "2^26",  "2^16", mg_stream_variants,
                                                 "copy",   make,    drop,    work,    run,    verify,
                                                 peers,    nullptr, nullptr, nullptr, nullptr};
