/* cublas.h - what the files of this room share: a handle, and a job, which is one call written down.
 *
 * Every routine turns its arguments into a job (names.h): its operands with their shapes, its scalars, and the function
 * that computes it. job.c does for all of them what is alike: it refuses what cuBLAS refuses, asks for the memory in
 * the order of the handle's stream, reads scalars where the pointer mode has them, and goes through a batch.
 */
#ifndef MG_CUBLAS_H
#define MG_CUBLAS_H
#include "hosted/hosted.h"

enum mg_cublas_status { /* cublasStatus_t */
                        CUBLAS_SUCCESS = 0,
                        CUBLAS_NOT_INITIALIZED = 1,
                        CUBLAS_ALLOC_FAILED = 3,
                        CUBLAS_INVALID_VALUE = 7,
                        CUBLAS_EXECUTION_FAILED = 13,
                        CUBLAS_NOT_SUPPORTED = 15
};
struct mg_cublas {
    uint64_t magic;
    void *stream;
    int pointer_mode, atomics_mode, math_mode, sm_count;
};
struct mg_cublas *mg__cublas_make(void); /* NULL: no memory */
bool mg__cublas_live(const struct mg_cublas *handle);

/* How an operand lies in memory. */
enum mg_cublas_form {
    CUBLAS_NONE,
    CUBLAS_MATRIX, /* rows × cols, columns `ld` apart */
    CUBLAS_VECTOR, /* rows, `ld` apart, which may be negative */
    CUBLAS_PACKED, /* rows elements in a row */
    CUBLAS_RESULT  /* one; where the pointer mode says */
};
enum {
    CUBLAS_READ = 1,
    CUBLAS_WRITE = 2,
    CUBLAS_BETA = 4,      /* read unless beta is 0 */
    CUBLAS_ALPHA = 8,     /* read unless alpha is 0 */
    CUBLAS_TRIANGLE = 16, /* no more than the job's */
    CUBLAS_BAND = 32,     /* the corners are not used: nothing is said of its bytes */
    CUBLAS_STEP = 64      /* an increment of 0 is allowed */
};
struct mg_cublas_operand {
    enum mg_cublas_form form;
    const char *what;
    const void *at;
    int64_t rows, cols, ld;
    unsigned use;
    int type; /* 0 (MG_R_32F) too: of the job, unless `typed` */
    bool typed;
    bool many;      /* `at` is an array in device memory of pointers, one a member of the batch */
    int64_t stride; /* else members are so many elements apart */
};
enum { CUBLAS_OPERANDS = 4, CUBLAS_MOST_SCALARS = 2 };
struct mg_cublas_job {
    const char *routine;
    bool (*compute)(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS]);
    int type;   /* of the operands */
    int scalar; /* of alpha and beta */
    int64_t m, n, k, kl, ku;
    int side, uplo, transa, transb, diag;
    bool beta_real; /* beta is a real number of complex matrices */
    bool conjugate; /* of syrk and herk, dotu and dotc: the second */
    struct mg_cublas_operand x[CUBLAS_OPERANDS];
    const void *alpha, *beta; /* where they are; after job.c has read them, in `scalars` */
    bool batched;
    int64_t count;     /* of a batch */
    bool on_device;    /* scalars and results */
    bool result_waits; /* the results are the host's */
    double scalars[CUBLAS_MOST_SCALARS][2];
};
int mg__cublas_run(struct mg_cublas *handle, struct mg_cublas_job *job);
const char *mg__cublas_state(int status, bool name); /* its name, or what it means */
int mg__cublas_status(int error);                    /* of mg__hosted_run, or a CUDA error */
bool mg__cublas_zero(const double scalar[2]);

/* ---- level1.c, level2.c, level3.c, factor.c: what a job computes. False: no memory ---- */
typedef bool mg_cublas_compute(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS]);
mg_cublas_compute mg__cublas_amax, mg__cublas_amin, mg__cublas_asum, mg__cublas_nrm2, mg__cublas_dot, mg__cublas_scal,
    mg__cublas_axpy, mg__cublas_copy, mg__cublas_swap, mg__cublas_rot, mg__cublas_rotg, mg__cublas_rotm;
mg_cublas_compute mg__cublas_gemv, mg__cublas_gbmv, mg__cublas_trmv, mg__cublas_trsv, mg__cublas_tbmv, mg__cublas_tbsv,
    mg__cublas_tpmv, mg__cublas_tpsv, mg__cublas_symv, mg__cublas_sbmv, mg__cublas_spmv, mg__cublas_ger, mg__cublas_syr,
    mg__cublas_syr2;
mg_cublas_compute mg__cublas_gemm, mg__cublas_syrk, mg__cublas_syr2k, mg__cublas_syrkx, mg__cublas_symm,
    mg__cublas_trsm, mg__cublas_trmm, mg__cublas_geam, mg__cublas_dgmm, mg__cublas_tpttr, mg__cublas_trttp;
mg_cublas_compute mg__cublas_getrf, mg__cublas_getri, mg__cublas_getrs, mg__cublas_matinv, mg__cublas_geqrf,
    mg__cublas_gels;
/* Products whose types are arguments; `count` below 0: no batch. */
struct mg_cublas_ex {
    const void *at;
    int type;
    int64_t ld, stride;
};
enum { CUBLAS_IN_16F = 64, CUBLAS_IN_32F = 68, CUBLAS_IN_64F = 70 }; /* cublasComputeType_t */
int mg__cublas_gemm_ex(struct mg_cublas *handle, const char *routine, int compute, int transa, int transb, int64_t m,
                       int64_t n, int64_t k, const void *alpha, const void *beta, const struct mg_cublas_ex x[3],
                       bool many, int64_t count);
/* 0 to 3: S, D, C, Z. */
int mg__cublas_letter(int type);
#endif
