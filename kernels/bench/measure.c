/* measure.c - one case: every rung and every peer verified, then timed.
 *
 * Timing: for each repetition in turn, each row once, so that rungs and peers see the same clocks and the same heat.
 * Before each run the second-level cache is overwritten; a pair of events brackets the call; the median and the
 * quartiles count. Plain C is timed by the host's clock. Under the simulator nothing is timed: each row runs once,
 * after a mark.
 */
#include "bench_priv.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FLUSH_BYTES = 256 << 20, RATE_BYTES = 1 << 30, RATE_REPS = 20 };
static void *flush;
static cudaEvent_t begin[BENCH_MAX_ROWS], end[BENCH_MAX_ROWS];
static int events;
static unsigned marks;

static bool cuda_ok(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        fprintf(stderr, "margay-bench: error: %s: %s\n", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

void *bench_alloc(size_t bytes)
{
    void *at = NULL;
    if (cudaMalloc(&at, bytes ? bytes : 1) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return at;
}

void bench_free(void *device)
{
    cudaFree(device);
}

bool bench_on_simulator(void)
{
    return getenv("MARGAY_MODE") != NULL;
}

void bench_release(void)
{
    while (events > 0) {
        cudaEventDestroy(begin[--events]);
        cudaEventDestroy(end[events]);
    }
    cudaFree(flush);
    flush = NULL;
}

static bool prepare(void)
{
    if (!flush && !cuda_ok(cudaMalloc(&flush, FLUSH_BYTES), "memory to flush the cache with"))
        return false;
    for (; events < BENCH_MAX_ROWS; events++)
        if (!cuda_ok(cudaEventCreate(&begin[events]), "an event") ||
            !cuda_ok(cudaEventCreate(&end[events]), "an event"))
            return false;
    return true;
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The machine's own limits: the best of a few copies and of a few launches of FMA. */
bool bench_rates(struct bench_options *options)
{
    if (bench_on_simulator())
        return true;
    if (!prepare())
        return false;
    char *a = bench_alloc(RATE_BYTES), *b = bench_alloc(RATE_BYTES);
    bool ok = a && b;
    for (int i = 0; ok && i < RATE_REPS; i++) {
        float ms = 0;
        double flops = 0;
        ok = cuda_ok(cudaEventRecord(begin[0], NULL), "timing a copy") &&
             cuda_ok(cudaMemcpyAsync(a, b, RATE_BYTES, cudaMemcpyDeviceToDevice, NULL), "a copy") &&
             cuda_ok(cudaEventRecord(end[0], NULL), "timing a copy") &&
             cuda_ok(cudaEventSynchronize(end[0]), "a copy") &&
             cuda_ok(cudaEventElapsedTime(&ms, begin[0], end[0]), "timing a copy");
        if (ok && 2.0 * RATE_BYTES / (1e-3 * ms) > options->copy_rate)
            options->copy_rate = 2.0 * RATE_BYTES / (1e-3 * ms);
        ok = ok && cuda_ok(cudaEventRecord(begin[0], NULL), "timing FMA") &&
             cuda_ok((cudaError_t)bench_fma((float *)a, NULL, &flops), "FMA") &&
             cuda_ok(cudaEventRecord(end[0], NULL), "timing FMA") && cuda_ok(cudaEventSynchronize(end[0]), "FMA") &&
             cuda_ok(cudaEventElapsedTime(&ms, begin[0], end[0]), "timing FMA");
        if (ok && flops / (1e-3 * ms) > options->fp32_rate)
            options->fp32_rate = flops / (1e-3 * ms);
    }
    bench_free(a);
    bench_free(b);
    return ok;
}

static int call(struct bench_case *c, const struct bench_row *row, void *state)
{
    return row->kind == BENCH_PEER ? c->op->peer_run(state, row->index, NULL) : c->op->run(state, row->index, NULL);
}

/* Runs the row once and looks at what came out. */
static bool verify(struct bench_case *c, struct bench_row *row, void *state)
{
    if (row->kind == BENCH_PLAIN) {
        double start = now();
        c->op->plain(state);
        row->seconds = row->low = row->high = now() - start;
        row->ran = row->ok = true; /* it is the reference */
        return true;
    }
    row->mark = (long)marks;
    if (bench_on_simulator() && !cuda_ok((cudaError_t)bench_mark(marks++), "a mark"))
        return false;
    int status = call(c, row, state);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        return cuda_ok(error, row->name);
    if (status) {
        row->why = row->kind == BENCH_PEER ? "not there" : mg_kernels_status_text((enum mg_kernels_status)status);
        (void)cudaGetLastError();
        return true;
    }
    struct bench_error result = c->op->verify(state);
    row->ran = true;
    row->ok = result.ok;
    row->error = result.worst;
    if (c->op->figure && row->kind == BENCH_RUNG)
        row->figure = c->op->figure(state, row->index, &row->unit);
    return true;
}

static bool time_rows(struct bench_case *c, const struct bench_options *options, void *state)
{
    float *ms = calloc((size_t)c->rows * (size_t)options->reps, sizeof *ms);
    if (!ms || !prepare()) {
        free(ms);
        return false;
    }
    for (int rep = 0; rep < options->reps; rep++) {
        for (int i = 0; i < c->rows; i++) {
            struct bench_row *row = &c->row[i];
            if (!row->ran || row->kind == BENCH_PLAIN)
                continue;
            cudaMemsetAsync(flush, rep, FLUSH_BYTES, NULL);
            cudaEventRecord(begin[i], NULL);
            call(c, row, state);
            cudaEventRecord(end[i], NULL);
        }
        if (!cuda_ok(cudaDeviceSynchronize(), c->op->name)) {
            free(ms);
            return false;
        }
        for (int i = 0; i < c->rows; i++)
            if (c->row[i].ran && c->row[i].kind != BENCH_PLAIN)
                cudaEventElapsedTime(&ms[i * options->reps + rep], begin[i], end[i]);
        bench_output_progress(c, c->rows + rep + 1, c->rows + options->reps);
    }
    for (int i = 0; i < c->rows; i++) {
        struct bench_row *row = &c->row[i];
        if (!row->ran || row->kind == BENCH_PLAIN)
            continue;
        float *of = ms + i * options->reps;
        qsort(of, (size_t)options->reps, sizeof *of, ascending);
        row->seconds = 1e-3 * of[options->reps / 2];
        row->low = 1e-3 * of[options->reps / 4];
        row->high = 1e-3 * of[options->reps - 1 - options->reps / 4];
    }
    free(ms);
    return true;
}

bool bench_measure(struct bench_case *c, const struct bench_options *options, void *state)
{
    for (int i = 0; i < c->rows; i++) {
        if (!c->row[i].why && !verify(c, &c->row[i], state))
            return false;
        bench_output_progress(c, i + 1, c->rows + (bench_on_simulator() ? 0 : options->reps));
    }
    if (!bench_on_simulator() && !time_rows(c, options, state))
        return false;

    double first = 0, peer = 0;
    c->peer_row = -1;
    for (int i = 0; i < c->rows; i++) {
        const struct bench_row *row = &c->row[i];
        if (row->kind == BENCH_RUNG && row->ran && first == 0)
            first = row->seconds;
        if (row->kind == BENCH_PEER && row->ran && c->peer_row < 0) {
            c->peer_row = i;
            peer = row->seconds;
        }
    }
    c->limit = !strcmp(c->op->limit, "fp32") ? (options->fp32_rate > 0 ? c->work.flops / options->fp32_rate : 0)
                                             : (options->copy_rate > 0 ? c->work.bytes / options->copy_rate : 0);
    for (int i = 0; i < c->rows; i++) {
        struct bench_row *row = &c->row[i];
        if (row->seconds <= 0)
            continue;
        row->times_first = first / row->seconds;
        row->to_peer = peer / row->seconds;
        row->of_limit = c->limit / row->seconds;
    }
    return true;
}
