/* threads.h - calls of an operation over floats from four host threads at once, each on a stream of its own, for the
 * tests of reduce, square_sum, dot and scan. The elements are small whole numbers, so that sums are exact in any order.
 */
#ifndef MG_TEST_THREADS_H
#define MG_TEST_THREADS_H
#include "test.h"

#include <pthread.h>

enum { THREADS = 4, THREADS_N = 20011 };
struct threads_operation {
    int rungs;
    size_t outputs; /* floats that a call writes */
    int (*call)(struct CUstream_st *stream, int variant, int64_t n, const float *x, float *out, void *work,
                size_t *bytes);
    void (*reference)(int64_t n, const float *x, float *out);
};
struct threads_caller {
    const struct threads_operation *operation;
    uint32_t seed;
    int bad;
};

static inline bool threads_rung(const struct threads_operation *o, int variant, cudaStream_t stream, const float *x,
                                float *out, const float *want, float *got)
{
    size_t bytes = 0;
    void *work = NULL;
    bool ok = !o->call(stream, variant, THREADS_N, NULL, NULL, NULL, &bytes) && !cudaMalloc(&work, bytes);
    for (int i = 0; ok && i < (test_on_simulator() ? 1 : 20); i++)
        ok = !cudaMemsetAsync(out, 0xff, o->outputs * 4, stream) &&
             !o->call(stream, variant, THREADS_N, x, out, work, &bytes) &&
             !cudaMemcpyAsync(got, out, o->outputs * 4, cudaMemcpyDeviceToHost, stream) &&
             !cudaStreamSynchronize(stream) && !memcmp(got, want, o->outputs * 4);
    return !cudaFree(work) && ok;
}

static inline void *threads_run(void *argument)
{
    struct threads_caller *c = argument;
    const struct threads_operation *o = c->operation;
    float *host = malloc(THREADS_N * 4), *want = malloc(o->outputs * 4), *got = malloc(o->outputs * 4), *x = NULL,
          *out = NULL;
    cudaStream_t stream;
    for (int i = 0; i < THREADS_N; i++)
        host[i] = (float)(test_random(&c->seed) % 7);
    o->reference(THREADS_N, host, want);
    if (cudaStreamCreate(&stream) || cudaMalloc((void **)&x, THREADS_N * 4) ||
        cudaMalloc((void **)&out, o->outputs * 4) || cudaMemcpy(x, host, THREADS_N * 4, cudaMemcpyHostToDevice)) {
        c->bad = 1;
        return NULL;
    }
    for (int v = MG_BEST; v < o->rungs; v++)
        c->bad += !threads_rung(o, v, stream, x, out, want, got);
    c->bad += cudaFree(x) || cudaFree(out) || cudaStreamDestroy(stream);
    free(host);
    free(want);
    free(got);
    return NULL;
}

static inline void test_threads(const struct threads_operation *operation)
{
    pthread_t thread[THREADS];
    struct threads_caller caller[THREADS];
    for (int i = 0; i < THREADS; i++) {
        caller[i] = (struct threads_caller){.operation = operation, .seed = (uint32_t)i * 1000};
        CHECK(pthread_create(&thread[i], NULL, threads_run, &caller[i]) == 0, "thread %d", i);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0, "thread %d", i);
        CHECK(caller[i].bad == 0, "thread %d: %d rungs were wrong", i, caller[i].bad);
    }
}
#endif
