/* level3.c - matrices and matrices: OpenBLAS where it has the types, and around it what cuBLAS adds.
 *
 * Products of f16, bf16, 8-bit floats and f32 are computed in f32, whatever the compute type says (a GPU that sums in
 * f16 is further off); those of integers in double, which is exact. What a GPU's tensor cores round before they
 * multiply (TF32) is not rounded here.
 */
#include "cublas/blas.h"

#include <stdlib.h>
#include <string.h>

/* Operand 0 is A, 1 B, 2 C. */
#define COMMON                                                                                              \
    int m = (int)job->m, n = (int)job->n, k = (int)job->k;                                                  \
    int lda = (int)job->x[0].ld, ldb = (int)job->x[1].ld, ldc = (int)job->x[2].ld;                          \
    char transa = mg__blas_trans(job->transa), transb = mg__blas_trans(job->transb);                        \
    char uplo = mg__blas_uplo(job->uplo), side = mg__blas_side(job->side), diag = mg__blas_diag(job->diag); \
    struct mg_blas_scalar alpha = mg__blas_scalar(job->type, job->scalars[0]),                              \
                          beta = mg__blas_scalar(job->type, job->scalars[1]);                               \
    (void)m, (void)n, (void)k, (void)lda, (void)ldb, (void)ldc, (void)transa, (void)transb, (void)uplo;     \
    (void)side, (void)diag, (void)alpha, (void)beta;

static int type_of(const struct mg_cublas_job *job, unsigned which)
{
    return job->x[which].typed ? job->x[which].type : job->type;
}

static void times(const double a[2], const double b[2], double product[2])
{
    double re = a[0] * b[0] - a[1] * b[1], im = a[0] * b[1] + a[1] * b[0];
    product[0] = re;
    product[1] = im;
}

/* The operand in the job's type, columns without gaps; NULL: no memory. */
static void *converted(const struct mg_cublas_job *job, void *const at[], unsigned which)
{
    const struct mg_cublas_operand *x = &job->x[which];
    size_t from = mg__number_size(type_of(job, which)), to = mg__number_size(job->type);
    size_t rows = (size_t)x->rows;
    char *all = malloc(rows * (size_t)x->cols * to + 1);
    for (size_t j = 0; all && j < (size_t)x->cols; j++)
        mg__number_copy(job->type, all + j * rows * to, type_of(job, which),
                        (const char *)at[which] + j * (size_t)x->ld * from, rows, 1);
    return all;
}

/* C = alpha op(A) op(B) + beta C where types differ: the product in the job's type, the rest in double, one rounding.
 */
static bool mixed(const struct mg_cublas_job *job, void *const at[])
{
    COMMON
    const double one_[2] = {1, 0}, none_[2] = {0, 0};
    struct mg_blas_scalar one = mg__blas_scalar(job->type, one_), none = mg__blas_scalar(job->type, none_);
    size_t size = mg__number_size(job->type), out = mg__number_size(type_of(job, 2));
    int rows_a = m > 0 ? (int)job->x[0].rows : 1, rows_b = (int)job->x[1].rows;
    char *a = converted(job, at, 0), *b = converted(job, at, 1), *c = malloc((size_t)m * (size_t)n * size + 1);
    bool ok = a && b && c;
    if (ok) {
        rows_a = rows_a > 1 ? rows_a : 1;
        rows_b = rows_b > 1 ? rows_b : 1;
        BLAS(job, gemm)(&transa, &transb, &m, &n, &k, &one, a, &rows_a, b, &rows_b, &none, c, &m);
    }
    for (int64_t j = 0; ok && j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            double sum[2], old[2];
            char *to = (char *)at[2] + ((size_t)i + (size_t)j * (size_t)job->x[2].ld) * out;
            mg__number_get(job->type, c + ((size_t)i + (size_t)j * (size_t)m) * size, sum);
            times(job->scalars[0], sum, sum);
            if (!mg__cublas_zero(job->scalars[1])) {
                mg__number_get(type_of(job, 2), to, old);
                times(job->scalars[1], old, old);
                sum[0] += old[0];
                sum[1] += old[1];
            }
            mg__number_put(type_of(job, 2), to, sum);
        }
    free(a);
    free(b);
    free(c);
    return ok;
}

bool mg__cublas_gemm(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    if (type_of(job, 0) != job->type || type_of(job, 1) != job->type || type_of(job, 2) != job->type)
        return mixed(job, at);
    BLAS(job, gemm)(&transa, &transb, &m, &n, &k, &alpha, at[0], &lda, at[1], &ldb, &beta, at[2], &ldc);
    return true;
}

/* herk has real scalars; the job's scalar type says so. */
bool mg__cublas_syrk(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    if (job->conjugate) {
        alpha = mg__blas_scalar(job->scalar, job->scalars[0]);
        beta = mg__blas_scalar(job->scalar, job->scalars[1]);
        (job->type == MG_C_32F ? cherk_ : zherk_)(&uplo, &transa, &n, &k, &alpha, at[0], &lda, &beta, at[2], &ldc);
    } else {
        BLAS(job, syrk)(&uplo, &transa, &n, &k, &alpha, at[0], &lda, &beta, at[2], &ldc);
    }
    return true;
}

bool mg__cublas_syr2k(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    if (job->conjugate) {
        beta = mg__blas_scalar(job->type == MG_C_32F ? MG_R_32F : MG_R_64F, job->scalars[1]);
        (job->type == MG_C_32F ? cher2k_ : zher2k_)(&uplo, &transa, &n, &k, &alpha, at[0], &lda, at[1], &ldb, &beta,
                                                    at[2], &ldc);
    } else {
        BLAS(job, syr2k)(&uplo, &transa, &n, &k, &alpha, at[0], &lda, at[1], &ldb, &beta, at[2], &ldc);
    }
    return true;
}

/* One triangle of alpha op(A) op(B)' + beta C: all of the product, of which the triangle is kept. */
bool mg__cublas_syrkx(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    const double none_[2] = {0, 0};
    struct mg_blas_scalar none = mg__blas_scalar(job->type, none_);
    size_t size = mg__number_size(job->type);
    char *all = malloc((size_t)n * (size_t)n * size + 1);
    char turned = job->conjugate ? 'C' : 'T', first = job->transa ? turned : 'N', second = job->transa ? 'N' : turned;
    if (!all)
        return false;
    BLAS(job, gemm)(&first, &second, &n, &n, &k, &alpha, at[0], &lda, at[1], &ldb, &none, all, &n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = job->uplo ? 0 : j; i < (job->uplo ? j + 1 : n); i++) {
            double sum[2], old[2];
            char *to = (char *)at[2] + ((size_t)i + (size_t)j * (size_t)ldc) * size;
            mg__number_get(job->type, all + ((size_t)i + (size_t)j * (size_t)n) * size, sum);
            if (!mg__cublas_zero(job->scalars[1])) {
                mg__number_get(job->type, to, old);
                times(job->scalars[1], old, old);
                sum[0] += old[0];
                sum[1] += old[1];
            }
            if (job->conjugate && i == j)
                sum[1] = 0;
            mg__number_put(job->type, to, sum);
        }
    free(all);
    return true;
}

bool mg__cublas_symm(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    if (job->conjugate)
        (job->type == MG_C_32F ? chemm_ : zhemm_)(&side, &uplo, &m, &n, &alpha, at[0], &lda, at[1], &ldb, &beta, at[2],
                                                  &ldc);
    else
        BLAS(job, symm)(&side, &uplo, &m, &n, &alpha, at[0], &lda, at[1], &ldb, &beta, at[2], &ldc);
    return true;
}

/* Solves in place: operand 2 is B, and X. */
bool mg__cublas_trsm(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    BLAS(job, trsm)(&side, &uplo, &transa, &diag, &m, &n, &alpha, at[0], &lda, at[2], &ldc);
    return true;
}

static void copy_matrix(const struct mg_cublas_job *job, const void *from, int64_t ld_from, void *to, int64_t ld_to)
{
    size_t size = mg__number_size(job->type);
    for (int64_t j = 0; from != to && j < job->n; j++)
        memmove((char *)to + (size_t)(j * ld_to) * size, (const char *)from + (size_t)(j * ld_from) * size,
                (size_t)job->m * size);
}

/* C = alpha op(A) B, which OpenBLAS computes in B. */
bool mg__cublas_trmm(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    copy_matrix(job, at[1], ldb, at[2], ldc);
    BLAS(job, trmm)(&side, &uplo, &transa, &diag, &m, &n, &alpha, at[0], &lda, at[2], &ldc);
    return true;
}

/* ---- what BLAS does not have ---- */
static void element(const struct mg_cublas_job *job, void *const at[], unsigned which, int64_t i, int64_t j, int op,
                    double value[2])
{
    const struct mg_cublas_operand *x = &job->x[which];
    size_t size = mg__number_size(job->type);
    int64_t place = op ? j + i * x->ld : i + j * x->ld;
    mg__number_get(job->type, (const char *)at[which] + (size_t)place * size, value);
    if (op == 2)
        value[1] = -value[1];
}

static void store(const struct mg_cublas_job *job, void *const at[], int64_t i, int64_t j, const double value[2])
{
    size_t size = mg__number_size(job->type);
    mg__number_put(job->type, (char *)at[2] + (size_t)(i + j * job->x[2].ld) * size, value);
}

/* C = alpha op(A) + beta op(B); what a scalar of 0 stands before is not read. */
bool mg__cublas_geam(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    for (int64_t j = 0; j < job->n; j++)
        for (int64_t i = 0; i < job->m; i++) {
            double a[2] = {0, 0}, b[2] = {0, 0};
            if (!mg__cublas_zero(job->scalars[0])) {
                element(job, at, 0, i, j, job->transa, a);
                times(job->scalars[0], a, a);
            }
            if (!mg__cublas_zero(job->scalars[1])) {
                element(job, at, 1, i, j, job->transb, b);
                times(job->scalars[1], b, b);
            }
            store(job, at, i, j, (const double[2]){a[0] + b[0], a[1] + b[1]});
        }
    return true;
}

/* Columns (side right) or rows of A, each times its element of x: operand 1. */
bool mg__cublas_dgmm(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    const struct mg_cublas_operand *x = &job->x[1];
    size_t size = mg__number_size(job->type);
    for (int64_t j = 0; j < job->n; j++)
        for (int64_t i = 0; i < job->m; i++) {
            double a[2], f[2];
            int64_t which = job->side ? j : i;
            int64_t place = x->ld < 0 ? (which - x->rows + 1) * x->ld : which * x->ld;
            mg__number_get(job->type, (const char *)at[1] + (size_t)place * size, f);
            element(job, at, 0, i, j, 0, a);
            times(a, f, a);
            store(job, at, i, j, a);
        }
    return true;
}

static char *packed(const struct mg_cublas_job *job, void *at, int64_t i, int64_t j)
{
    int64_t place = job->uplo ? i + j * (j + 1) / 2 : i + j * (2 * job->n - j - 1) / 2;
    return (char *)at + (size_t)place * mg__number_size(job->type);
}

/* A triangle: packed in operand 0, with columns `ld` apart in operand 2. */
static void triangle(const struct mg_cublas_job *job, void *const at[], bool pack)
{
    size_t size = mg__number_size(job->type);
    for (int64_t j = 0; j < job->n; j++)
        for (int64_t i = job->uplo ? 0 : j; i < (job->uplo ? j + 1 : job->n); i++) {
            char *a = packed(job, at[0], i, j), *b = (char *)at[2] + (size_t)(i + j * job->x[2].ld) * size;
            memmove(pack ? a : b, pack ? b : a, size);
        }
}

bool mg__cublas_tpttr(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    triangle(job, at, false);
    return true;
}

bool mg__cublas_trttp(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    triangle(job, at, true);
    return true;
}
