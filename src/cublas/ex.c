/* ex.c - products whose types are arguments: which there are, and what they are computed in. */
#include "cublas/cublas.h"

enum {
    IN_16F_PEDANTIC = 65,
    IN_32F_PEDANTIC = 69,
    IN_64F_PEDANTIC = 71,
    IN_32I = 72,
    IN_32I_PEDANTIC = 73,
    IN_32F_FAST_16F = 74,
    IN_32F_FAST_16BF = 75,
    IN_32F_FAST_TF32 = 77,
    IN_32F_EMULATED = 78,
    IN_64F_EMULATED = 79
};

/* The table of cublasGemmEx: A and B are alike, C may be wider. False: there is no such product. */
static bool types_ok(int compute, int a, int b, int c, int *type, int *scalar)
{
    bool complex_ = mg__number_complex(a);
    if (a != b || mg__number_complex(c) != complex_ || !mg__number_size(a) || !mg__number_size(c))
        return false;
    switch (compute) {
    case CUBLAS_IN_16F:
    case IN_16F_PEDANTIC:
        *type = MG_R_32F;
        *scalar = MG_R_16F;
        return a == MG_R_16F && c == MG_R_16F;
    case IN_32I:
    case IN_32I_PEDANTIC:
        *type = MG_R_64F;
        *scalar = MG_R_32I;
        return a == MG_R_8I && c == MG_R_32I;
    case CUBLAS_IN_32F:
    case IN_32F_PEDANTIC:
    case IN_32F_FAST_16F:
    case IN_32F_FAST_16BF:
    case IN_32F_FAST_TF32:
    case IN_32F_EMULATED:
        *type = a == MG_R_8I ? MG_R_64F : complex_ ? MG_C_32F : MG_R_32F;
        *scalar = complex_ ? MG_C_32F : MG_R_32F;
        return complex_ ? a == MG_C_32F && c == MG_C_32F
                        : ((a == MG_R_16F || a == MG_R_16BF) && (c == a || c == MG_R_32F)) ||
                              ((a == MG_R_8I || a == MG_R_32F) && c == MG_R_32F);
    case CUBLAS_IN_64F:
    case IN_64F_PEDANTIC:
    case IN_64F_EMULATED:
        *type = *scalar = a;
        return (a == MG_R_64F || a == MG_C_64F) && c == a;
    default:
        return false;
    }
}

static struct mg_cublas_operand operand(const char *what, const struct mg_cublas_ex *x, int64_t rows, int64_t cols,
                                        unsigned use, bool many)
{
    return (struct mg_cublas_operand){.form = CUBLAS_MATRIX,
                                      .what = what,
                                      .at = x->at,
                                      .rows = rows,
                                      .cols = cols,
                                      .ld = x->ld,
                                      .use = use,
                                      .type = x->type,
                                      .typed = true,
                                      .many = many,
                                      .stride = x->stride};
}

int mg__cublas_gemm_ex(struct mg_cublas *handle, const char *routine, int compute, int transa, int transb, int64_t m,
                       int64_t n, int64_t k, const void *alpha, const void *beta, const struct mg_cublas_ex x[3],
                       bool many, int64_t count)
{
    struct mg_cublas_job job = {.routine = routine,
                                .compute = mg__cublas_gemm,
                                .transa = transa,
                                .transb = transb,
                                .m = m,
                                .n = n,
                                .k = k,
                                .alpha = alpha,
                                .beta = beta,
                                .batched = count >= 0,
                                .count = count};
    if (!mg__cublas_live(handle))
        return CUBLAS_NOT_INITIALIZED;
    if (!types_ok(compute, x[0].type, x[1].type, x[2].type, &job.type, &job.scalar))
        return CUBLAS_NOT_SUPPORTED;
    job.x[0] = operand("A", &x[0], transa ? k : m, transa ? m : k, CUBLAS_READ, many);
    job.x[1] = operand("B", &x[1], transb ? n : k, transb ? k : n, CUBLAS_READ, many);
    job.x[2] = operand("C", &x[2], m, n, CUBLAS_WRITE | CUBLAS_BETA, many);
    return mg__cublas_run(handle, &job);
}
