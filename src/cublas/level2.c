/* level2.c - matrices and vectors, by OpenBLAS; updates of rank one and two of symmetric matrices, whose complex forms
 * OpenBLAS has not all, element by element. */
#include "cublas/blas.h"

/* Operand 0 is the matrix, 1 x, 2 y; where there is no y, x is changed. */
#define COMMON                                                                                                  \
    int m = (int)job->m, n = (int)job->n, k = (int)job->k, kl = (int)job->kl, ku = (int)job->ku;                \
    int lda = (int)job->x[0].ld, incx = (int)job->x[1].ld, incy = (int)job->x[2].ld;                            \
    char trans = mg__blas_trans(job->transa), uplo = mg__blas_uplo(job->uplo), diag = mg__blas_diag(job->diag); \
    struct mg_blas_scalar alpha = mg__blas_scalar(job->type, job->scalars[0]),                                  \
                          beta = mg__blas_scalar(job->type, job->scalars[1]);                                   \
    (void)m, (void)n, (void)k, (void)kl, (void)ku, (void)lda, (void)incx, (void)incy, (void)trans, (void)uplo;  \
    (void)diag, (void)alpha, (void)beta;

bool mg__cublas_gbmv(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    BLAS(job, gbmv)(&trans, &m, &n, &kl, &ku, &alpha, at[0], &lda, at[1], &incx, &beta, at[2], &incy);
    return true;
}

bool mg__cublas_trmv(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    BLAS(job, trmv)(&uplo, &trans, &diag, &n, at[0], &lda, at[1], &incx);
    return true;
}

bool mg__cublas_trsv(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    BLAS(job, trsv)(&uplo, &trans, &diag, &n, at[0], &lda, at[1], &incx);
    return true;
}

bool mg__cublas_tbmv(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    BLAS(job, tbmv)(&uplo, &trans, &diag, &n, &k, at[0], &lda, at[1], &incx);
    return true;
}

bool mg__cublas_tbsv(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    BLAS(job, tbsv)(&uplo, &trans, &diag, &n, &k, at[0], &lda, at[1], &incx);
    return true;
}

bool mg__cublas_tpmv(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    BLAS(job, tpmv)(&uplo, &trans, &diag, &n, at[0], at[1], &incx);
    return true;
}

bool mg__cublas_tpsv(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    BLAS(job, tpsv)(&uplo, &trans, &diag, &n, at[0], at[1], &incx);
    return true;
}

bool mg__cublas_sbmv(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    BLAS2(job, sbmv, hbmv)(&uplo, &n, &k, &alpha, at[0], &lda, at[1], &incx, &beta, at[2], &incy);
    return true;
}

bool mg__cublas_spmv(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    BLAS2(job, spmv, hpmv)(&uplo, &n, &alpha, at[0], at[1], &incx, &beta, at[2], &incy);
    return true;
}

/* ---- element by element ---- */
static const char *element(const struct mg_cublas_operand *v, const void *at, int64_t i, size_t size)
{
    int64_t place = v->ld < 0 ? (i - v->rows + 1) * v->ld : i * v->ld;
    return (const char *)at + place * (int64_t)size;
}

static void load(const struct mg_cublas_job *job, void *const at[], unsigned which, int64_t i, double value[2])
{
    const struct mg_cublas_operand *x = &job->x[which];
    int type = x->typed ? x->type : job->type;
    mg__number_get(type, element(x, at[which], i, mg__number_size(type)), value);
}

static void times(const double a[2], const double b[2], double product[2])
{
    double re = a[0] * b[0] - a[1] * b[1], im = a[0] * b[1] + a[1] * b[0];
    product[0] = re;
    product[1] = im;
}

/* Where element (i, j) of the matrix lies; in packed form only one triangle is there. */
static char *place(const struct mg_cublas_job *job, void *const at[], int64_t i, int64_t j)
{
    const struct mg_cublas_operand *a = &job->x[0];
    int64_t size = (int64_t)mg__number_size(job->type), n = job->n;
    int64_t packed = job->uplo ? i + j * (j + 1) / 2 : i + j * (2 * n - j - 1) / 2;
    return (char *)at[0] + (a->form == CUBLAS_PACKED ? packed : i + j * a->ld) * size;
}

/* y = alpha op(A) x + beta y, of types that may differ: f16 and bf16 matrices with sums in f32. A symmetric or
 * Hermitian matrix (of which one triangle is there) is one with a rule for the other triangle. */
static void product(const struct mg_cublas_job *job, void *const at[], bool symmetric)
{
    bool transposed = job->transa != 0;
    int64_t rows = transposed ? job->n : job->m, cols = transposed ? job->m : job->n;
    const struct mg_cublas_operand *a = &job->x[0], *y = &job->x[2];
    int type = a->typed ? a->type : job->type, out = y->typed ? y->type : job->type;
    int64_t size = (int64_t)mg__number_size(type);
    for (int64_t i = 0; i < rows; i++) {
        double sum[2] = {0, 0}, v[2], w[2];
        for (int64_t j = 0; j < cols; j++) {
            int64_t r = transposed ? j : i, c = transposed ? i : j;
            bool other = symmetric && (job->uplo ? r > c : r < c);
            mg__number_get(type, (const char *)at[0] + (other ? c + r * a->ld : r + c * a->ld) * size, v);
            if (job->transa == 2 || (other && job->conjugate))
                v[1] = -v[1];
            if (symmetric && job->conjugate && r == c)
                v[1] = 0;
            load(job, at, 1, j, w);
            times(v, w, v);
            sum[0] += v[0];
            sum[1] += v[1];
        }
        times(job->scalars[0], sum, sum);
        if (!mg__cublas_zero(job->scalars[1])) {
            load(job, at, 2, i, v);
            times(job->scalars[1], v, v);
            sum[0] += v[0];
            sum[1] += v[1];
        }
        mg__number_put(out, (void *)(uintptr_t)element(y, at[2], i, mg__number_size(out)), sum);
    }
}

bool mg__cublas_gemv(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    if (job->x[0].typed)
        product(job, at, false);
    else
        BLAS(job, gemv)(&trans, &m, &n, &alpha, at[0], &lda, at[1], &incx, &beta, at[2], &incy);
    return true;
}

bool mg__cublas_symv(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    COMMON
    if (mg__number_complex(job->type) && !job->conjugate)
        product(job, at, true);
    else
        BLAS2(job, symv, hemv)(&uplo, &n, &alpha, at[0], &lda, at[1], &incx, &beta, at[2], &incy);
    return true;
}

bool mg__cublas_ger(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    double a[2], x[2], y[2];
    for (int64_t j = 0; j < job->n; j++) {
        load(job, at, 2, j, y);
        y[1] = job->conjugate ? -y[1] : y[1];
        times(job->scalars[0], y, y);
        for (int64_t i = 0; i < job->m; i++) {
            load(job, at, 1, i, x);
            times(x, y, x);
            mg__number_get(job->type, place(job, at, i, j), a);
            mg__number_put(job->type, place(job, at, i, j), (const double[2]){a[0] + x[0], a[1] + x[1]});
        }
    }
    return true;
}

/* A += alpha x y' + conj(alpha) y x', of one triangle; with `second` false only the first, with x in place of y. */
static void update(const struct mg_cublas_job *job, void *const at[], bool second)
{
    const double *alpha = job->scalars[0], other[2] = {alpha[0], job->conjugate ? -alpha[1] : alpha[1]};
    for (int64_t j = 0; j < job->n; j++)
        for (int64_t i = job->uplo ? 0 : j; i < (job->uplo ? j + 1 : job->n); i++) {
            double xi[2], yi[2], xj[2], yj[2], sum[2], a[2];
            load(job, at, 1, i, xi);
            load(job, at, second ? 2 : 1, j, yj);
            load(job, at, 1, j, xj);
            load(job, at, second ? 2 : 1, i, yi);
            if (job->conjugate) {
                xj[1] = -xj[1];
                yj[1] = -yj[1];
            }
            times(xi, yj, sum);
            times(alpha, sum, sum);
            if (second) {
                times(yi, xj, a);
                times(other, a, a);
                sum[0] += a[0];
                sum[1] += a[1];
            }
            mg__number_get(job->type, place(job, at, i, j), a);
            sum[0] += a[0];
            sum[1] = job->conjugate && i == j ? 0 : sum[1] + a[1];
            mg__number_put(job->type, place(job, at, i, j), sum);
        }
}

bool mg__cublas_syr(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    update(job, at, false);
    return true;
}

bool mg__cublas_syr2(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    update(job, at, true);
    return true;
}
