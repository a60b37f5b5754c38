/* factor.c - factorisations, solutions and inverses of batches of small matrices, by OpenBLAS. */
#include "cublas/blas.h"

#include <stdlib.h>
#include <string.h>

static char *element(const struct mg_cublas_job *job, unsigned which, void *const at[], int64_t i, int64_t j)
{
    return (char *)at[which] + (size_t)(i + j * job->x[which].ld) * mg__number_size(job->type);
}

static void divide(const double a[2], const double b[2], double quotient[2])
{
    double size = b[0] * b[0] + b[1] * b[1], re = a[0] * b[0] + a[1] * b[1], im = a[1] * b[0] - a[0] * b[1];
    quotient[0] = re / size;
    quotient[1] = im / size;
}

/* LU without pivots, which OpenBLAS does not have. The first pivot that is 0, from 1; 0: none. */
static int plain_lu(const struct mg_cublas_job *job, void *const at[])
{
    int64_t n = job->n;
    int zero = 0;
    for (int64_t k = 0; k < n; k++) {
        double pivot[2], l[2], u[2], a[2];
        mg__number_get(job->type, element(job, 0, at, k, k), pivot);
        if (mg__cublas_zero(pivot)) {
            zero = zero ? zero : (int)k + 1;
            continue;
        }
        for (int64_t i = k + 1; i < n; i++) {
            mg__number_get(job->type, element(job, 0, at, i, k), l);
            divide(l, pivot, l);
            mg__number_put(job->type, element(job, 0, at, i, k), l);
            for (int64_t j = k + 1; j < n; j++) {
                mg__number_get(job->type, element(job, 0, at, k, j), u);
                mg__number_get(job->type, element(job, 0, at, i, j), a);
                a[0] -= l[0] * u[0] - l[1] * u[1];
                a[1] -= l[0] * u[1] + l[1] * u[0];
                mg__number_put(job->type, element(job, 0, at, i, j), a);
            }
        }
    }
    return zero;
}

/* Operand 0 is A, 1 the pivots (or none), 2 the states. */
bool mg__cublas_getrf(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    int n = (int)job->n, lda = (int)job->x[0].ld, info = 0;
    if (at[1])
        BLAS(job, getrf)(&n, &n, at[0], &lda, at[1], &info);
    else
        info = plain_lu(job, at);
    *(int *)at[2] = info;
    return true;
}

static int *straight(int n)
{
    int *pivots = malloc(((size_t)n + 1) * sizeof(*pivots));
    for (int i = 0; pivots && i < n; i++)
        pivots[i] = i + 1;
    return pivots;
}

static void copy_square(const struct mg_cublas_job *job, void *const at[], unsigned from, unsigned to)
{
    for (int64_t j = 0; j < job->n; j++)
        memmove(element(job, to, at, 0, j), element(job, from, at, 0, j), (size_t)job->n * mg__number_size(job->type));
}

static bool invert(const struct mg_cublas_job *job, void *lu, int ld, const int *pivots, int *info)
{
    int n = (int)job->n, room = n > 0 ? n * 64 : 1;
    void *work = malloc((size_t)room * mg__number_size(job->type));
    if (work)
        BLAS(job, getri)(&n, lu, &ld, pivots, work, &room, info);
    free(work);
    return work != NULL;
}

/* Operand 0 is LU, 1 the pivots (or none), 2 the states, 3 the inverse. */
bool mg__cublas_getri(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    int *own = at[1] ? NULL : straight((int)job->n), info = 0;
    if (!at[1] && !own)
        return false;
    copy_square(job, at, 0, 3);
    bool ok = invert(job, at[3], (int)job->x[3].ld, at[1] ? at[1] : own, &info);
    *(int *)at[2] = info;
    free(own);
    return ok;
}

/* The same in one step, with pivots of its own. */
bool mg__cublas_matinv(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    int n = (int)job->n, ld = (int)job->x[3].ld, info = 0, *pivots = straight(n);
    bool ok = pivots != NULL;
    if (ok) {
        copy_square(job, at, 0, 3);
        BLAS(job, getrf)(&n, &n, at[3], &ld, pivots, &info);
        ok = info || invert(job, at[3], ld, pivots, &info);
        *(int *)at[2] = info;
    }
    free(pivots);
    return ok;
}

/* Operand 0 is LU, 1 the pivots (or none), 2 the right sides and the solutions. */
bool mg__cublas_getrs(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    int n = (int)job->n, k = (int)job->k, lda = (int)job->x[0].ld, ldb = (int)job->x[2].ld, info;
    int *own = at[1] ? NULL : straight(n);
    char trans = mg__blas_trans(job->transa);
    bool ok = at[1] || own;
    if (ok)
        BLAS(job, getrs)(&trans, &n, &k, at[0], &lda, at[1] ? at[1] : own, at[2], &ldb, &info, 1);
    free(own);
    return ok;
}

/* Operand 0 is A, and Q and R; 2 the scalars of the reflectors. */
bool mg__cublas_geqrf(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    int m = (int)job->m, n = (int)job->n, lda = (int)job->x[0].ld, room = n > 0 ? n * 64 : 1, info;
    void *work = malloc((size_t)room * mg__number_size(job->type));
    if (work)
        BLAS(job, geqrf)(&m, &n, at[0], &lda, at[2], work, &room, &info);
    free(work);
    return work != NULL;
}

/* Least squares. Operand 0 is A, 1 the states (or none), 2 the right sides and the solutions. */
bool mg__cublas_gels(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    int m = (int)job->m, n = (int)job->n, k = (int)job->k, lda = (int)job->x[0].ld, ldc = (int)job->x[2].ld, info = 0;
    int room = 64 * (m + n + k + 1);
    char trans = 'N';
    void *work = malloc((size_t)room * mg__number_size(job->type));
    if (work)
        BLAS(job, gels)(&trans, &m, &n, &k, at[0], &lda, at[2], &ldc, work, &room, &info, 1);
    if (at[1])
        *(int *)at[1] = info;
    free(work);
    return work != NULL;
}
