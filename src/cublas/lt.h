/* lt.h - cuBLASLt: descriptors, which lie in the caller's opaque structures, and what is computed of them. */
#ifndef MG_CUBLAS_LT_H
#define MG_CUBLAS_LT_H
#include "cublas/cublas.h"

struct mg_lt_layout { /* cublasLtMatrixLayoutOpaque_t, 64 bytes */
    int type, order;
    uint64_t rows, cols;
    int64_t ld;
    int batch, mode;
    int64_t stride, plane;
};
struct mg_lt_matmul { /* cublasLtMatmulDescOpaque_t, 256 bytes */
    int compute, scale, pointer_mode, transa, transb, transc, fill, epilogue, aux_type, bias_type, sm_count;
    int scale_modes[5];
    const void *bias, *aux, *scales[4], *amax, *aux_scale, *aux_amax; /* scales of A, B, C, D */
    int64_t bias_stride, aux_ld, aux_stride;
    signed char fast;
};
struct mg_lt_transform { /* cublasLtMatrixTransformDescOpaque_t, 64 bytes */
    int scale, pointer_mode, transa, transb;
};
struct mg_lt_preference { /* cublasLtMatmulPreferenceOpaque_t, 64 bytes */
    int search, reduction;
    uint64_t workspace, implementations;
    uint32_t alignment[4];
    float waves;
};
enum { LT_COLUMNS = 0, LT_ROWS = 1 }; /* cublasLtOrder_t */
enum {                                /* cublasLtEpilogue_t, bit by bit */
       LT_DEFAULT = 1,
       LT_RELU = 2,
       LT_BIAS = 4,
       LT_BGRAD = 16,
       LT_GELU = 32,
       LT_DGELU = 64,
       LT_AUX = 128,
       LT_BGRADA = 256,
       LT_BGRADB = 512
};
struct mg_lt_call {
    struct mg_lt_matmul desc;
    struct mg_lt_layout layout[4]; /* A, B, C, D */
    const void *at[4], *alpha, *beta;
    double scalars[2][2];
};
/* CUBLAS_SUCCESS, or what the call must return: there is no such product here. */
int mg__lt_check(const struct mg_lt_call *call);
int mg__lt_run(struct mg_lt_call *call, void *stream);
struct mg_lt_change { /* C = alpha op(A) + beta op(B) */
    struct mg_lt_transform desc;
    struct mg_lt_layout layout[3];
    const void *at[3], *alpha, *beta;
    double scalars[2][2];
};
int mg__lt_change(struct mg_lt_change *change, void *stream);
#endif
