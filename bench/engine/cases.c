/* cases.c - the data of the kernels and what must come out.
 *
 * Inputs are small multiples of a power of two, so that every product and every partial sum is exact in float in any
 * order and with or without fused multiply-add. The expectation is made in double precision, or by counting, and every
 * contender must give it bit for bit.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum { TRANSPOSE_N = 1024, REDUCE_N = 1 << 20, HISTOGRAM_N = 1 << 20 };

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static bool make_matmul(struct bench_case *c, unsigned N)
{
    size_t count = (size_t)N * N, bytes = count * sizeof(float);
    uint32_t seed = 1;
    float *a = malloc(bytes), *b = malloc(bytes), *expect = malloc(bytes);
    double *row = malloc(N * sizeof *row);
    c->data[1] = a, c->data[2] = b, c->expect = expect;
    if (!a || !b || !expect || !row) {
        free(row);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        a[i] = (float)((int)(next(&seed) % 17) - 8) / 8.0f;
        b[i] = (float)((int)(next(&seed) % 17) - 8) / 8.0f;
    }
    for (size_t i = 0; i < N; i++) {
        memset(row, 0, N * sizeof *row);
        for (size_t k = 0; k < N; k++)
            for (size_t j = 0; j < N; j++)
                row[j] += (double)a[i * N + k] * b[k * N + j];
        for (size_t j = 0; j < N; j++)
            expect[i * N + j] = (float)row[j];
    }
    free(row);
    c->size = N == 512 ? "512x512x512" : "1024x1024x1024";
    c->n = (int)N;
    c->block[0] = c->block[1] = 16;
    c->steps[0] = (struct bench_step){{0, 1, 2}, 3, c->n, {N / 16, N / 16}};
    c->nsteps = 1;
    c->bytes[0] = c->bytes[1] = c->bytes[2] = c->result_bytes = bytes;
    return true;
}

static bool make_matmul_512(struct bench_case *c)
{
    return make_matmul(c, 512);
}

static bool make_matmul_1024(struct bench_case *c)
{
    return make_matmul(c, 1024);
}

/* A million values to 4096 sums, to 16, to one: in buffers 0, 1 and 0 (the input is buffer 2). */
static bool make_reduce(struct bench_case *c)
{
    uint32_t seed = 2;
    float *in = malloc(REDUCE_N * sizeof *in), *expect = malloc(sizeof *expect);
    double sum = 0.0;
    c->data[2] = in, c->expect = expect;
    if (!in || !expect)
        return false;
    for (size_t i = 0; i < REDUCE_N; i++) {
        in[i] = (float)(next(&seed) % 16) / 16.0f;
        sum += in[i];
    }
    *expect = (float)sum;
    c->size = "1048576 floats";
    c->n = REDUCE_N;
    c->block[0] = 256, c->block[1] = 1;
    c->steps[0] = (struct bench_step){{0, 2}, 2, REDUCE_N, {REDUCE_N / 256, 1}};
    c->steps[1] = (struct bench_step){{1, 0}, 2, REDUCE_N / 256, {REDUCE_N / 256 / 256, 1}};
    c->steps[2] = (struct bench_step){{0, 1}, 2, REDUCE_N / 256 / 256, {1, 1}};
    c->nsteps = 3;
    c->bytes[0] = c->bytes[1] = REDUCE_N / 256 * sizeof(float);
    c->bytes[2] = REDUCE_N * sizeof(float);
    c->result_bytes = sizeof(float);
    return true;
}

static bool make_transpose(struct bench_case *c)
{
    enum { N = TRANSPOSE_N };
    size_t bytes = (size_t)N * N * sizeof(float);
    float *in = malloc(bytes), *expect = malloc(bytes);
    c->data[1] = in, c->expect = expect;
    if (!in || !expect)
        return false;
    for (size_t i = 0; i < (size_t)N * N; i++)
        in[i] = (float)i;
    for (size_t row = 0; row < N; row++)
        for (size_t col = 0; col < N; col++)
            expect[col * N + row] = in[row * N + col];
    c->size = "1024x1024";
    c->n = N;
    c->block[0] = 32, c->block[1] = 8;
    c->steps[0] = (struct bench_step){{0, 1}, 2, N, {N / 32, N / 32}};
    c->nsteps = 1;
    c->bytes[0] = c->bytes[1] = c->result_bytes = bytes;
    return true;
}

static bool make_histogram(struct bench_case *c)
{
    uint32_t seed = 3;
    unsigned char *data = malloc(HISTOGRAM_N);
    unsigned *expect = calloc(256, sizeof *expect);
    c->data[1] = data, c->expect = expect;
    if (!data || !expect)
        return false;
    for (size_t i = 0; i < HISTOGRAM_N; i++) {
        data[i] = (unsigned char)(next(&seed) >> 3);
        expect[data[i]]++;
    }
    c->size = "1048576 bytes";
    c->n = HISTOGRAM_N;
    c->block[0] = 256, c->block[1] = 1;
    c->steps[0] = (struct bench_step){{0, 1}, 2, HISTOGRAM_N, {128, 1}};
    c->nsteps = 1;
    c->bytes[0] = c->result_bytes = 256 * sizeof(unsigned);
    c->bytes[1] = HISTOGRAM_N;
    return true;
}

static const struct {
    const char *name, *kernel;
    bool (*make)(struct bench_case *);
    void (*plain)(void *const *buffers, int n);
} table[] = {
    {"matmul_naive", "matmul_naive", make_matmul_512, bench_plain_matmul_naive},
    {"matmul_tiled", "matmul_tiled", make_matmul_512, bench_plain_matmul_tiled},
    {"reduce", "reduce", make_reduce, bench_plain_reduce},
    {"transpose_naive", "transpose_naive", make_transpose, bench_plain_transpose_naive},
    {"transpose_tiled", "transpose_tiled", make_transpose, bench_plain_transpose_tiled},
    {"histogram", "histogram", make_histogram, bench_plain_histogram},
    {"matmul_naive_1024", "matmul_naive", make_matmul_1024, bench_plain_matmul_naive},
    {"matmul_tiled_1024", "matmul_tiled", make_matmul_1024, bench_plain_matmul_tiled},
};

size_t bench_case_count(void)
{
    return sizeof table / sizeof table[0];
}

const char *bench_case_name(size_t i)
{
    return table[i].name;
}

bool bench_case_make(size_t i, struct bench_case *c)
{
    memset(c, 0, sizeof *c);
    c->name = table[i].name;
    c->kernel = table[i].kernel;
    c->plain = table[i].plain;
    return table[i].make(c);
}

void bench_case_free(struct bench_case *c)
{
    for (int i = 0; i < BENCH_BUFFERS; i++)
        free(c->data[i]);
    free(c->expect);
    memset(c, 0, sizeof *c);
}
