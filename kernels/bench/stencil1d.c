/* stencil1d.c - the bench's drivers of stencil1d: radius 1, the 3-point mean, and radius 16; beside a device copy.
 *
 * Verified: the first and the last 4,096 elements and 62 more runs of as many, spread evenly (all of a small case),
 * within the bound that the manual states. The copy must have copied them.
 */
#include "bench.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUN = 4096, RUNS = 64 };

struct state {
    int64_t n, runs, length; /* `runs` stretches of `length` elements are looked at */
    int radius;
    bool copied;
    float *x, *y; /* on the device */
    float weights[2 * MG_STENCIL_MAX_RADIUS + 1];
    float *source, *host;
    double *exact, *bound;
};

static int64_t run_at(const struct state *s, int64_t i)
{
    return s->runs == 1 ? 0 : (int64_t)((double)(s->n - s->length) * (double)i / (double)(s->runs - 1));
}

static void release(void *p)
{
    struct state *s = p;
    bench_free(s->x);
    bench_free(s->y);
    free(s->source);
    free(s->host);
    free(s->exact);
    free(s->bound);
    free(s);
}

static bool reference(struct state *s)
{
    float *x = malloc((size_t)(s->length + 2 * MG_STENCIL_MAX_RADIUS) * sizeof *x);
    bool ok = x != NULL;
    for (int64_t i = 0; ok && i < s->runs; i++) {
        int64_t at = run_at(s, i), first = at < s->radius ? 0 : at - s->radius;
        int64_t end = at + s->length + s->radius < s->n ? at + s->length + s->radius : s->n;
        ok = cudaMemcpy(x, s->x + first, (size_t)(end - first) * 4, cudaMemcpyDeviceToHost) == cudaSuccess;
        memcpy(s->source + i * s->length, x + (at - first), (size_t)s->length * sizeof *x);
        for (int64_t j = 0; j < s->length; j++) {
            double sum = 0, size = 0;
            for (int d = -s->radius; d <= s->radius; d++) {
                int64_t e = at + j + d;
                double product = e >= 0 && e < s->n ? (double)s->weights[s->radius + d] * (double)x[e - first] : 0;
                sum += product;
                size += fabs(product);
            }
            s->exact[i * s->length + j] = sum;
            s->bound[i * s->length + j] = (2 * s->radius + 2) * 0x1p-24 * size;
        }
    }
    free(x);
    return ok;
}

static void *make(const struct bench_size *size, int radius)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->n = size->d[0];
    s->radius = radius;
    for (int d = 0; d <= 2 * radius; d++)
        s->weights[d] = 1.0f / (float)(2 * radius + 1);
    s->runs = s->n < RUN * RUNS ? 1 : RUNS;
    s->length = s->n < RUN * RUNS ? s->n : RUN;
    s->x = bench_alloc((size_t)s->n * 4);
    s->y = bench_alloc((size_t)s->n * 4);
    s->source = malloc((size_t)(s->runs * s->length + 1) * sizeof *s->source);
    s->host = malloc((size_t)(s->length + 1) * sizeof *s->host);
    s->exact = malloc((size_t)(s->runs * s->length + 1) * sizeof *s->exact);
    s->bound = malloc((size_t)(s->runs * s->length + 1) * sizeof *s->bound);
    if (!s->x || !s->y || !s->source || !s->host || !s->exact || !s->bound) {
        release(s);
        return NULL;
    }
    bench_fill_f32(s->x, s->n, 1);
    cudaMemset(s->y, 0xff, (size_t)s->n * 4);
    if (!reference(s)) {
        release(s);
        return NULL;
    }
    return s;
}

static void *make_1(const struct bench_size *size)
{
    return make(size, 1);
}

static void *make_16(const struct bench_size *size)
{
    return make(size, 16);
}

static struct bench_work work(const struct bench_size *size, int radius)
{
    return (struct bench_work){.bytes = 8 * (double)size->d[0], .flops = 2 * (2 * radius + 1) * (double)size->d[0]};
}

static struct bench_work work_1(const struct bench_size *size)
{
    return work(size, 1);
}

static struct bench_work work_16(const struct bench_size *size)
{
    return work(size, 16);
}

static int run(void *p, int variant, struct CUstream_st *stream)
{
    struct state *s = p;
    s->copied = false;
    return mg_stencil1d_f32(stream, variant, s->radius, s->weights, s->n, s->x, s->y);
}

static struct bench_error verify(void *p)
{
    struct state *s = p;
    struct bench_error e = {.worst = 0, .ok = true};
    for (int64_t i = 0; i < s->runs; i++) {
        if (cudaMemcpy(s->host, s->y + run_at(s, i), (size_t)s->length * 4, cudaMemcpyDeviceToHost) != cudaSuccess)
            return (struct bench_error){.worst = INFINITY};
        for (int64_t j = 0; j < s->length; j++) {
            int64_t at = i * s->length + j;
            double error = fabs((double)s->host[j] - (s->copied ? (double)s->source[at] : s->exact[at]));
            double bound = s->copied ? 0 : s->bound[at];
            if (!(error <= bound))
                return (struct bench_error){.worst = INFINITY};
            if (error > 0 && error / bound > e.worst)
                e.worst = error / bound;
        }
    }
    cudaMemset(s->y, 0xff, (size_t)s->n * 4);
    return e;
}

static int peer_run(void *p, int peer, struct CUstream_st *stream)
{
    struct state *s = p;
    (void)peer;
    s->copied = true;
    return cudaMemcpyAsync(s->y, s->x, (size_t)s->n * 4, cudaMemcpyDeviceToDevice, stream) != cudaSuccess;
}

static const char *const peers[] = {"device copy", NULL};

#define DRIVER(radius, text)                                                                        \
    {                                                                                               \
        .name = "stencil1d", .type = text, .dims = 1, .sizes_gpu = "2^28", .sizes_sim = "2^16",     \
        .variants = mg_stencil1d_variants, .limit = "copy", .make = make_##radius, .free = release, \
        .work = work_##radius, .run = run, .verify = verify, .peers = peers, .peer_run = peer_run,  \
    }
const struct bench_op bench_stencil1d = DRIVER(1, "f32 radius 1");
const struct bench_op bench_stencil1d_wide = DRIVER(16, "f32 radius 16");
