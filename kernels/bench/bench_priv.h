/* bench_priv.h - what the files of the bench share: rows of results, the clock, and where results go. */
#ifndef MG_BENCH_PRIV_H
#define MG_BENCH_PRIV_H
#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

enum bench_kind { BENCH_RUNG, BENCH_PLAIN, BENCH_PEER };
enum { BENCH_VERSION = 1, BENCH_MAX_REPS = 1000, BENCH_MAX_ROWS = 64 };

struct bench_row { /* one rung, peer or plain-C run of one case */
    enum bench_kind kind;
    int index; /* of the rung, of the peer */
    const char *name, *idea, *gain;
    bool ok;         /* verified */
    bool ran;        /* false: skipped, or the peer is not there */
    const char *why; /* not run: the reason */
    double error;    /* worst error over its bound, or wrong elements */
    double seconds;  /* median; 0 where nothing was timed */
    double low, high; /* quartiles */
    long mark;        /* under the simulator: the number of the mark before it; -1: none */
    double figure;    /* the op's own; negative: none */
    const char *unit;
    double times_first, to_peer, of_limit; /* ratios; 0: none */
};
struct bench_case {
    const struct bench_op *op;
    struct bench_size size;
    char size_text[64];
    struct bench_work work;
    double limit; /* seconds that the limit takes */
    int rows, peer_row; /* peer_row: the first peer that ran, -1: none */
    struct bench_row row[BENCH_MAX_ROWS];
};
struct bench_options {
    const char *json, *rows, *sizes;
    int reps;
    bool list, quiet, help;
    char **names; /* operations; empty: all */
    int nnames;
    double copy_rate, fp32_rate; /* bytes and operations a second, measured at the start */
};

/* ---- main.c ---- */
bool bench_parse_size(const char *text, int dims, struct bench_size *size, const char **end);
void bench_print_size(const struct bench_size *size, int dims, char *text, size_t room);

/* ---- measure.c ---- */
/* Verifies and times all rows of the case. False: the device failed (a message was printed), nothing can follow. */
bool bench_measure(struct bench_case *c, const struct bench_options *options, void *state);
bool bench_rates(struct bench_options *options);
void bench_release(void);

/* ---- device.cu ---- */
int bench_fma(float *out, struct CUstream_st *stream, double *flops); /* a launch that is bound by FP32 FMA alone */
int bench_mark(unsigned row);                                          /* an empty launch of row + 1 blocks */

/* ---- output.c ---- */
bool bench_output_begin(const struct bench_options *options);
void bench_output_case(const struct bench_case *c, const struct bench_options *options);
/* `done` of `total` steps of the case; only on a terminal. */
void bench_output_progress(const struct bench_case *c, int done, int total);
bool bench_output_end(const struct bench_options *options);

#ifdef __cplusplus
}
#endif
#endif
