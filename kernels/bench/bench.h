/* bench.h - what the drivers of the operations give to the bench: how to make a case, run a rung, check it, and the
 * peers.
 *
 * A driver is a file <op>.cu here with one or more `const struct bench_op bench_<name>`, each a row of op.def:
 * OP(<name>). CUB peers are in files peer_*.cu, compiled when MARGAY_KERNELS_PEERS is on (drivers see the macro).
 * main.c does the rest: it makes the inputs once a case, verifies every rung and every peer against the reference, then
 * times them (CUDA events, the second cache flushed before each repetition, median of at least 20), and prints. Under
 * the simulator nothing is timed: each rung runs once after a mark, and `margay bench` shows its counters.
 */
#ifndef MG_BENCH_KERNELS_H
#define MG_BENCH_KERNELS_H
#include "margay/kernels.h"

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_DIMS = 3 };
struct bench_size { /* "2048x512x1024", "2^28", "16384x16384" */
    int64_t d[BENCH_DIMS]; /* unused ones are 1 */
};
/* What one call moves and computes, by which rates are figured: bytes that any method must
 * move, floating operations. */
struct bench_work {
    double bytes, flops;
};
struct bench_error {
    double worst;  /* the largest |got - exact| / bound over all elements, or a count of wrong elements */
    bool ok;
};
struct bench_op {
    const char *name, *type; /* "gemm", "f32"; several drivers may share a name: "reduce" "sum f32" */
    int dims;
    const char *sizes_gpu, *sizes_sim; /* default --sizes, comma-separated */
    const struct mg_variant *(*variants)(size_t *count);
    const char
        *limit; /* what "% of limit" is of: "copy" (measured device copy of work.bytes) or "fp32" (measured FMA rate) */
    /* Allocates and fills device buffers and what verification needs; NULL: does not fit. Freed by `free`. */
    void *(*make)(const struct bench_size *size);
    void (*free)(void *state);
    struct bench_work (*work)(const struct bench_size *size);
    /* Enqueues one call. `variant` as in the public call. Returns a mg_kernels_status. */
    int (*run)(void *state, int variant, struct CUstream_st *stream);
    /* Checks the outputs of the last run against the reference (computed once a state), and spoils them for the next.
     * For sizes at which the reference takes too long it checks a sample that it names in its comment. */
    struct bench_error (*verify)(void *state);
    /* Peers: NULL-terminated names; peer_run returns 0, or non-zero when the peer is not there on this machine. They
     * write the same outputs. The first is the one that ratios are to. */
    const char *const *peers;
    int (*peer_run)(void *state, int peer, struct CUstream_st *stream);
    /* Plain C on the host as a rung of its own ("plain C"), or NULL. Timed with the host's clock. */
    void (*plain)(void *state);
    /* rungs that would take minutes at this size; may be NULL */
    bool (*skip)(const struct bench_size *size, int variant);
    /* A figure that the last run of the rung itself gave, such as cycles a load, shown in place of the rate; NULL:
     * none. Returns a negative number for a rung that has none. */
    double (*figure)(void *state, int variant, const char **unit);
};
/* made from op.def: OP(symbol) for each `struct bench_op bench_<symbol>` */
extern const struct bench_op *const bench_ops[];

/* Helpers of main.c for the drivers. */
void *bench_alloc(size_t bytes);                       /* device memory, NULL when there is none left */
void bench_free(void *device);
void bench_fill_f32(float *device, int64_t n, uint32_t seed);          /* uniform in [-1, 1), the same everywhere */
void bench_fill_f64(double *device, int64_t n, uint32_t seed);
void bench_fill_u32(uint32_t *device, int64_t n, uint32_t seed, uint32_t mask);
/* a cublasHandle_t (pedantic math is the driver's to set), NULL when libcublas is not there */
void *bench_cublas(void);
void *bench_cublas_symbol(const char *name);
bool bench_on_simulator(void);
#ifdef __cplusplus
}
#endif
#endif
