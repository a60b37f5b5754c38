/* blas.h - OpenBLAS as Fortran calls it: every argument by address, so that one call serves four types.
 *
 * FOUR(gemm) declares sgemm_ and its kin; BLAS(job, gemm) is the one of the job's type.
 */
#ifndef MG_CUBLAS_BLAS_H
#define MG_CUBLAS_BLAS_H
#include "cublas/cublas.h"

typedef const void *p_;
#define FOUR_OF(s, d, c, z, ...) extern void s(__VA_ARGS__), d(__VA_ARGS__), c(__VA_ARGS__), z(__VA_ARGS__);
#define FOUR(name, ...) FOUR_OF(s##name##_, d##name##_, c##name##_, z##name##_, __VA_ARGS__)
/* Real types have one name, complex ones another: symv and hemv. */
#define TWICE(real, complex, ...) FOUR_OF(s##real##_, d##real##_, c##complex##_, z##complex##_, __VA_ARGS__)
#define BLAS(job, name) BLAS2(job, name, name)
#define BLAS2(job, real, complex)                          \
    (mg__cublas_letter((job)->type) == 0   ? s##real##_    \
     : mg__cublas_letter((job)->type) == 1 ? d##real##_    \
     : mg__cublas_letter((job)->type) == 2 ? c##complex##_ \
                                           : z##complex##_)
#define P3 p_, p_, p_
#define P6 P3, P3

FOUR(gemv, P6, P3, p_, p_)
FOUR(gbmv, P6, P6, p_)
FOUR(trmv, P6, p_, p_)
FOUR(trsv, P6, p_, p_)
FOUR(tbmv, P6, P3)
FOUR(tbsv, P6, P3)
FOUR(tpmv, P6, p_)
FOUR(tpsv, P6, p_)
FOUR(gemm, P6, P6, p_)
FOUR(trsm, P6, P3, p_, p_)
FOUR(trmm, P6, P3, p_, p_)
FOUR(symm, P6, P6)
FOUR(syrk, P6, P3, p_)
FOUR(syr2k, P6, P6)
FOUR(getrf, P6)
FOUR(getrs, P6, P3, size_t)
FOUR(getri, P6, p_)
FOUR(geqrf, P6, p_, p_)
FOUR(gels, P6, P3, p_, p_, size_t)
TWICE(symv, hemv, P6, P3, p_)
TWICE(sbmv, hbmv, P6, P3, p_, p_)
TWICE(spmv, hpmv, P6, P3)
extern void chemm_(P6, P6), zhemm_(P6, P6), cherk_(P6, P3, p_), zherk_(P6, P3, p_), cher2k_(P6, P6), zher2k_(P6, P6);

/* Arguments as Fortran has them: lines of a routine begin with these. */
static inline char mg__blas_trans(int op)
{
    return "NTC"[op];
}
static inline char mg__blas_uplo(int uplo)
{
    return "LU"[uplo];
}
static inline char mg__blas_diag(int diag)
{
    return "NU"[diag];
}
static inline char mg__blas_side(int side)
{
    return "LR"[side];
}
/* A scalar in the type of the job's matrices (or in another). */
struct mg_blas_scalar {
    _Alignas(16) char bytes[16];
};
static inline struct mg_blas_scalar mg__blas_scalar(int type, const double value[2])
{
    struct mg_blas_scalar s;
    mg__number_put(type, s.bytes, value);
    return s;
}
#endif
