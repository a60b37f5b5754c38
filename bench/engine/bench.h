/* bench.h - the parts of bench_engine: cases, and the contenders that run them.
 *
 * A case is a kernel with its data: buffers, the launches that make the result, and the bytes that must come out. A
 * contender (our engine, PoCL, plain C) gets a case ready, runs it as often as it is asked, and hands over its result.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_BUFFERS = 5, BENCH_STEPS = 3 };

struct bench_step { /* one launch: kernel(buffer[args[0]], …, n) */
    int args[BENCH_BUFFERS], nargs;
    int n;
    unsigned grid[2];
};
struct bench_case {
    const char *name, *kernel, *size;
    unsigned block[2];
    struct bench_step steps[BENCH_STEPS];
    int nsteps;
    int launches;                /* more than 1: of the only step, and n is the number of each */
    bool wild;                   /* of wild.c */
    size_t bytes[BENCH_BUFFERS]; /* 0: no such buffer */
    void *data[BENCH_BUFFERS];   /* what is in it before the first launch; NULL: zeros */
    int n;                       /* for `plain` */
    int result;                  /* the buffer of the result */
    size_t result_bytes;
    void *expect; /* made by double-precision arithmetic, or by `plain`; all results are exact */
    void (*plain)(void *const *buffers, int n);
};

/* ---- cases.c: data and expectations ---- */
size_t bench_case_count(void);
const char *bench_case_name(size_t i);
/* Makes case `i`; false: out of memory. bench_case_free frees what it holds. */
bool bench_case_make(size_t i, struct bench_case *c);
void bench_case_free(struct bench_case *c);

/* ---- wild.c: the same, for kernels of the kinds that people run ---- */
size_t bench_wild_count(void);
const char *bench_wild_name(size_t i);
bool bench_wild_make(size_t i, struct bench_case *c);

/* ---- plain.c: the same work in plain C, at -O3 with function multiversioning ---- */
/* ifunc resolvers run before the sanitizers' runtime is up */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define CLONES
#endif

void bench_plain_matmul_naive(void *const *buffers, int n);
void bench_plain_matmul_tiled(void *const *buffers, int n);
void bench_plain_reduce(void *const *buffers, int n);
void bench_plain_transpose_naive(void *const *buffers, int n);
void bench_plain_transpose_tiled(void *const *buffers, int n);
void bench_plain_histogram(void *const *buffers, int n);

/* ---- contenders: each is opened once and then loaded with one case after another ---- */
struct bench_peer;
struct bench_peer_ops {
    /* Gets ready for `c` (copies the data, compiles what there is to compile) and drops the case before it. */
    bool (*load)(struct bench_peer *peer, const struct bench_case *c);
    /* Puts the inputs back and clears the result; not timed. */
    bool (*reset)(struct bench_peer *peer);
    /* All launches of the case, to their end; this is what is timed. */
    bool (*run)(struct bench_peer *peer);
    /* The result buffer; NULL on failure. Valid until the next call. */
    const void *(*result)(struct bench_peer *peer);
    void (*close)(struct bench_peer *peer);
};
struct bench_peer {
    const struct bench_peer_ops *ops;
    const struct bench_case *current;
    char error[2048];      /* why the last call failed */
    char description[256]; /* what it is, with its version */
};

struct bench_peer *bench_plain_open(void);

/* ---- engine.c ---- */
enum bench_engine_mode {
    BENCH_BARE,
    BENCH_MODELS,
    BENCH_INTERPRET, /* with the models */
    BENCH_COUNT,
    BENCH_CHECK,       /* with what `margay check` attaches */
    BENCH_ADVISE,      /* with what `margay advise` attaches */
    BENCH_TIMED,       /* with what `margay profile` attaches to a launch that the program times, by events */
    BENCH_CHECK_TIMED, /* with what `margay check` attaches to one */
    BENCH_SAMPLE,      /* with the models, of one block in eight; each launch is held to what BENCH_MODELS counts */
    BENCH_SAMPLE_ALONE /* and the others do not run */
};
/* NULL with the reason in `error`. BENCH_COUNT only counts the warp instructions of the last run. `quick`: compiled
 * with little effort. */
struct bench_texts {
    const char *ptx, *wild; /* of kernels.cu and of wild.cu */
    size_t length, wild_length;
};
struct bench_peer *bench_engine_open(const struct bench_texts *texts, unsigned threads, enum bench_engine_mode mode,
                                     bool quick, char *error, size_t size);
uint64_t bench_engine_warp_instructions(const struct bench_peer *engine);
bool bench_engine_ordered(
    const struct bench_peer *engine); /* blocks of one of its launches took turns in their order */
/* What it takes to make a case's kernel into code, or to load code that was kept, seconds each. False, with the reason
 * in `error`, where the case cannot be run; 0: not built, or not compiled. */
struct bench_making {
    unsigned instructions; /* of its PTX */
    double quick, thorough, load;
};
bool bench_engine_making(const struct bench_texts *texts, const struct bench_case *c, struct bench_making *making,
                         char *error, size_t size);
/* What the model saw in the last run: shows that it was at work. */
uint64_t bench_engine_wavefronts(const struct bench_peer *engine);
unsigned bench_engine_findings(const struct bench_peer *check); /* of the last run */
/* Of the last run of a sample the sums of launches that were estimated, and of those the ones whose interval of 95 %
 * has what `exact` counted; and the largest interval, as a part of its sum. */
struct bench_intervals {
    unsigned sums, held;
    double widest;
};
void bench_engine_intervals(const struct bench_peer *sample, const struct bench_peer *exact,
                            struct bench_intervals *sum);
/* Whether the models of both counted the same in their last runs; the first metric that differs goes to `error`. */
bool bench_engine_agree(const struct bench_peer *a, const struct bench_peer *b, char *error, size_t size);

/* ---- pocl.c: any OpenCL CPU device through the ICD loader; NULL with the reason in `error` ---- */
struct bench_peer *bench_opencl_open(const char *source, size_t length, char *error, size_t size);

/* ---- report.c ---- */
struct bench_time { /* seconds */
    double best, median;
    double cpu; /* of all threads: processor time, the median */
    int runs;
};
enum bench_column {
    COL_MODELS,
    COL_INTERPRET,
    COL_BARE,
    COL_CHECK,
    COL_ADVISE,
    COL_TIMED,
    COL_CHECK_TIMED,
    COL_THREADS,
    COL_OPENCL,
    COL_PLAIN,
    COL_COUNT
};
struct bench_row {
    const char *name, *size;
    bool wild;
    int launches; /* as of the case */
    bool ordered; /* its blocks run one after the other, whatever the number of workers */
    double pairs; /* median of the rounds' ratios: one worker's time over that of several; 0: not measured */
    uint64_t warp_instructions, wavefronts;
    struct bench_time time[COL_COUNT]; /* runs == 0: not measured */
    struct bench_making making;        /* 0: not measured */
};
struct bench_report {
    char processor[128], opencl[320]; /* opencl: the device, or why there is none */
    unsigned processors, threads;     /* allowed to us; of the engine's column with several */
    int reps;
    bool cpu_time; /* processor time, not time that passes */
    struct bench_row rows[64];
    size_t nrows;
};
/* The table and the targets as text; returns the number of targets that were measured and not met. */
int bench_report_print(const struct bench_report *report, bool markdown);
bool bench_report_json(const struct bench_report *report, const char *path);

#endif
