/* conv2d.c - the bench's driver of conv2d: rows x cols x N for a filter of N x N, beside a device copy of the same
 * bytes.
 *
 * The filter is a column times a row, so that the separable rung takes part. Verified: up to 48 whole rows, the first
 * three, the last three and others spread evenly between, within the bound that the manual states. The copy must have
 * copied them.
 */
#include "bench.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 48 };

struct state {
    int64_t rows, cols, samples;
    int size; /* of the filter */
    bool copied;
    float *x, *y; /* on the device */
    float filter[MG_CONV_MAX * MG_CONV_MAX];
    float *host, *source; /* a row of y; the sampled rows of x */
    double *exact, *bound; /* for the sampled rows */
};

static int64_t sample_at(const struct state *s, int64_t i)
{
    if (i < 3)
        return i;
    if (i >= s->samples - 3)
        return s->rows - (s->samples - i);
    return 3 + (int64_t)((double)(s->rows - 6) * (double)(i - 3) / (double)(s->samples - 6));
}

static void release(void *p)
{
    struct state *s = p;
    bench_free(s->x);
    bench_free(s->y);
    free(s->host);
    free(s->source);
    free(s->exact);
    free(s->bound);
    free(s);
}

/* The sampled rows in double, from the rows of x around each. */
static bool reference(struct state *s)
{
    int reach = s->size / 2;
    float *x = malloc((size_t)(s->cols * s->size) * sizeof *x);
    bool ok = x != NULL;
    for (int64_t i = 0; ok && i < s->samples; i++) {
        int64_t row = sample_at(s, i), first = row < reach ? 0 : row - reach;
        int64_t last = row + reach < s->rows ? row + reach : s->rows - 1;
        ok = cudaMemcpy(x, s->x + first * s->cols, (size_t)((last - first + 1) * s->cols) * 4,
                        cudaMemcpyDeviceToHost) == cudaSuccess;
        memcpy(s->source + i * s->cols, x + (row - first) * s->cols, (size_t)s->cols * sizeof *x);
        for (int64_t j = 0; j < s->cols; j++) {
            double sum = 0, size = 0;
            for (int64_t r = first; r <= last; r++)
                for (int q = 0; q < s->size; q++) {
                    int64_t col = j + q - reach;
                    double tap = (double)s->filter[(r - row + reach) * s->size + q];
                    double product = col >= 0 && col < s->cols ? tap * (double)x[(r - first) * s->cols + col] : 0;
                    sum += product;
                    size += fabs(product);
                }
            s->exact[i * s->cols + j] = sum;
            s->bound[i * s->cols + j] = (s->size * s->size + 16) * 0x1p-24 * size;
        }
    }
    free(x);
    return ok;
}

static void *make(const struct bench_size *size)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->rows = size->d[0], s->cols = size->d[1], s->size = (int)size->d[2];
    if (s->size < 1 || s->size > MG_CONV_MAX || s->size % 2 == 0 || s->rows < 1 || s->cols < 1) {
        free(s);
        return NULL;
    }
    for (int i = 0; i < s->size * s->size; i++) /* tents, so no two taps of a quarter are alike */
        s->filter[i] =
            (float)(s->size - abs(i / s->size - s->size / 2)) * (float)(s->size - abs(i % s->size - s->size / 2)) / 64;
    s->samples = s->rows < SAMPLE ? s->rows : SAMPLE;
    s->x = bench_alloc((size_t)(s->rows * s->cols) * 4);
    s->y = bench_alloc((size_t)(s->rows * s->cols) * 4);
    s->host = malloc((size_t)s->cols * sizeof *s->host);
    s->source = malloc((size_t)(s->samples * s->cols) * sizeof *s->source);
    s->exact = malloc((size_t)(s->samples * s->cols) * sizeof *s->exact);
    s->bound = malloc((size_t)(s->samples * s->cols) * sizeof *s->bound);
    if (!s->x || !s->y || !s->host || !s->source || !s->exact || !s->bound) {
        release(s);
        return NULL;
    }
    bench_fill_f32(s->x, s->rows * s->cols, 1);
    cudaMemset(s->y, 0xff, (size_t)(s->rows * s->cols) * 4);
    if (!reference(s)) {
        release(s);
        return NULL;
    }
    return s;
}

static struct bench_work work(const struct bench_size *size)
{
    double elements = (double)size->d[0] * (double)size->d[1];
    return (struct bench_work){.bytes = 8 * elements, .flops = 2 * elements * (double)size->d[2] * (double)size->d[2]};
}

static int run(void *p, int variant, struct CUstream_st *stream)
{
    struct state *s = p;
    s->copied = false;
    return mg_conv2d_f32(stream, variant, s->rows, s->cols, s->x, s->cols, s->size, s->size, s->filter, s->y, s->cols);
}

static struct bench_error verify(void *p)
{
    struct state *s = p;
    struct bench_error e = {.worst = 0, .ok = true};
    for (int64_t i = 0; i < s->samples; i++) {
        if (cudaMemcpy(s->host, s->y + sample_at(s, i) * s->cols, (size_t)s->cols * 4, cudaMemcpyDeviceToHost) !=
            cudaSuccess)
            return (struct bench_error){.worst = INFINITY};
        for (int64_t j = 0; j < s->cols; j++) {
            int64_t at = i * s->cols + j;
            double error = fabs((double)s->host[j] - (s->copied ? (double)s->source[at] : s->exact[at]));
            double bound = s->copied ? 0 : s->bound[at];
            if (!(error <= bound))
                return (struct bench_error){.worst = INFINITY};
            if (error > 0 && error / bound > e.worst)
                e.worst = error / bound;
        }
    }
    cudaMemset(s->y, 0xff, (size_t)(s->rows * s->cols) * 4);
    return e;
}

static int peer_run(void *p, int peer, struct CUstream_st *stream)
{
    struct state *s = p;
    (void)peer;
    s->copied = true;
    return cudaMemcpyAsync(s->y, s->x, (size_t)(s->rows * s->cols) * 4, cudaMemcpyDeviceToDevice, stream) !=
           cudaSuccess;
}

static const char *const peers[] = {"device copy", NULL};

const struct bench_op bench_conv2d = {
    .name = "conv2d",
    .type = "f32",
    .dims = 3,
    .sizes_gpu = "16384x16384x3,16384x16384x5,4096x4096x15",
    .sizes_sim = "128x512x5",
    .variants = mg_conv2d_variants,
    .limit = "copy",
    .make = make,
    .free = release,
    .work = work,
    .run = run,
    .verify = verify,
    .peers = peers,
    .peer_run = peer_run,
};
