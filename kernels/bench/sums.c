/* sums.c - see sums.h. */
#include "sums.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

size_t sums_size(enum sums_type type)
{
    return type == SUMS_F64 ? 8 : 4;
}

void sums_free(void *sums)
{
    struct sums *s = sums;
    bench_free(s->x);
    bench_free(s->y);
    bench_free(s->result);
    bench_free(s->work);
    bench_free(s->peer_work);
    free(s->host_x);
    free(s->host_y);
    free(s);
}

static bool fill(const struct sums *s, uint32_t seed, void **device, void **host)
{
    size_t bytes = (size_t)s->n * sums_size(s->type);
    *device = bench_alloc(bytes);
    *host = malloc(bytes + 1);
    if (!*device || !*host)
        return false;
    if (s->type == SUMS_I32)
        bench_fill_u32(*device, s->n, seed, 0xffffffffu);
    else if (s->type == SUMS_F32)
        bench_fill_f32(*device, s->n, seed);
    else
        bench_fill_f64(*device, s->n, seed);
    return cudaMemcpy(*host, *device, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
}

struct sums *sums_make(enum sums_type type, int64_t n, int arrays)
{
    struct sums *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->type = type;
    s->n = n;
    s->result = bench_alloc(8);
    if (!s->result || !fill(s, 1, &s->x, &s->host_x) || (arrays > 1 && !fill(s, 2, &s->y, &s->host_y))) {
        sums_free(s);
        return NULL;
    }
    cudaMemset(s->result, 0xff, 8);
    return s;
}

bool sums_workspace(struct sums *s, const struct mg_variant *(*variants)(size_t *count),
                    int (*query)(struct sums *s, int variant, struct CUstream_st *stream, void *work, size_t *bytes))
{
    size_t count = 0;
    variants(&count);
    for (int v = 0; v < (int)count; v++) {
        size_t bytes = 0;
        if (query(s, v, NULL, NULL, &bytes))
            return false;
        s->work_bytes = bytes > s->work_bytes ? bytes : s->work_bytes;
    }
    return (s->work = bench_alloc(s->work_bytes)) != NULL;
}

struct bench_error sums_verify(void *sums)
{
    struct sums *s = sums;
    union {
        int32_t i32;
        float f32;
        double f64;
    } bits;
    if (cudaMemcpy(&bits, s->result, sums_size(s->type), cudaMemcpyDeviceToHost) != cudaSuccess)
        return (struct bench_error){.worst = INFINITY};
    cudaMemset(s->result, 0xff, 8);
    double got = s->type == SUMS_I32 ? bits.i32 : s->type == SUMS_F32 ? (double)bits.f32 : bits.f64;
    double unit = s->type == SUMS_F32 ? 0x1p-24 : 0x1p-53;
    if (s->root)
        got *= got;
    if (s->magnitude == 0) /* integers, min, max */
        return (struct bench_error){.worst = got != s->want, .ok = got == s->want};
    double factor = s->loose ? (double)s->n : 64 + (double)s->n / 100000;
    double bound = unit * (factor * s->magnitude + fabs(s->want)), error = fabs(got - s->want);
    return (struct bench_error){.worst = isnan(error) ? INFINITY : error / bound, .ok = error <= bound};
}

bool sums_skip_atomics(const struct bench_size *size, int variant)
{
    return variant == 0 && size->d[0] > 1 << 24;
}

typedef int set_pointers(void *, int);
typedef int set_stream(void *, struct CUstream_st *);
enum { ON_HOST = 0, ON_DEVICE = 1 };

void *sums_cublas(const struct sums *s, const char *name, struct CUstream_st *stream, sums_routine **routine)
{
    void *handle = bench_cublas();
    set_pointers *pointers = (set_pointers *)bench_cublas_symbol("cublasSetPointerMode_v2");
    set_stream *streams = (set_stream *)bench_cublas_symbol("cublasSetStream_v2");
    *routine = (sums_routine *)bench_cublas_symbol(name);
    if (!handle || !pointers || !streams || !*routine || s->n > INT32_MAX || streams(handle, stream) ||
        pointers(handle, ON_DEVICE))
        return NULL;
    return handle;
}

int sums_cublas_end(void *handle, int status)
{
    return ((set_pointers *)bench_cublas_symbol("cublasSetPointerMode_v2"))(handle, ON_HOST) || status;
}
