/* names.h - the routines, each its arguments turned into a job. Included by names.c, once with INT int and once with
 * INT int64_t for the names that end in _64: N(name) and V(name) make those of it, V those of the second interface.
 *
 * Operands are (name in the manual, address, shape, leading dimension or increment, use). A routine of four types is
 * one row with its letter, the type of its matrices and that of its real numbers.
 */
#define JOB(h, name, ...)                                          \
    {                                                              \
        struct mg_cublas_job job = {.routine = name, __VA_ARGS__}; \
        return mg__cublas_run(h, &job);                            \
    }
#define MAT(what_, at_, rows_, cols_, ld_, use_)                                                              \
    {                                                                                                         \
        .form = CUBLAS_MATRIX, .what = what_, .at = at_, .rows = rows_, .cols = cols_, .ld = ld_, .use = use_ \
    }
#define VEC(what_, at_, n_, inc_, use_)                                                      \
    {                                                                                        \
        .form = CUBLAS_VECTOR, .what = what_, .at = at_, .rows = n_, .ld = inc_, .use = use_ \
    }
#define PACKED(what_, at_, n_, use_)                                                                         \
    {                                                                                                        \
        .form = CUBLAS_PACKED, .what = what_, .at = at_, .rows = (n_) * ((int64_t)(n_) + 1) / 2, .use = use_ \
    }
#define RESULT(what_, at_, type_, use_)                                                            \
    {                                                                                              \
        .form = CUBLAS_RESULT, .what = what_, .at = at_, .typed = true, .type = type_, .use = use_ \
    }
#define TYPED(form_, what_, at_, type_, n_, inc_, use_)                                                            \
    {                                                                                                              \
        .form = form_, .what = what_, .at = at_, .rows = n_, .ld = inc_, .use = use_, .typed = true, .type = type_ \
    }
#define VALUES(...) \
    {               \
        __VA_ARGS__ \
    }
#define P const void *
#define H struct mg_cublas *

/* ---- level 1 ---- */
#define ONE_OF(name, text, fn, t, result)              \
    PUBLIC int V(name)(H h, INT n, P x, INT incx, P r) \
        JOB(h, text, .compute = fn, .type = t, .n = n, \
            .x = {VEC("x", x, n, incx, CUBLAS_READ | CUBLAS_STEP), VALUES(0), result})
#define INDEX(letter, t)                                                                         \
    ONE_OF(cublasI##letter##amax, "cublasI" #letter "amax", mg__cublas_amax, t, INDEX_RESULT(r)) \
    ONE_OF(cublasI##letter##amin, "cublasI" #letter "amin", mg__cublas_amin, t, INDEX_RESULT(r))
#define INDEX_RESULT(r)                                                                                         \
    {                                                                                                           \
        .form = CUBLAS_RESULT, .what = "result", .at = r, .typed = true, .type = MG_R_32I, .cols = sizeof(INT), \
        .use = CUBLAS_WRITE                                                                                     \
    }
INDEX(s, MG_R_32F)
INDEX(d, MG_R_64F)
INDEX(c, MG_C_32F)
INDEX(z, MG_C_64F)
ONE_OF(cublasSasum, "cublasSasum", mg__cublas_asum, MG_R_32F, RESULT("result", r, MG_R_32F, CUBLAS_WRITE))
ONE_OF(cublasDasum, "cublasDasum", mg__cublas_asum, MG_R_64F, RESULT("result", r, MG_R_64F, CUBLAS_WRITE))
ONE_OF(cublasScasum, "cublasScasum", mg__cublas_asum, MG_C_32F, RESULT("result", r, MG_R_32F, CUBLAS_WRITE))
ONE_OF(cublasDzasum, "cublasDzasum", mg__cublas_asum, MG_C_64F, RESULT("result", r, MG_R_64F, CUBLAS_WRITE))
ONE_OF(cublasSnrm2, "cublasSnrm2", mg__cublas_nrm2, MG_R_32F, RESULT("result", r, MG_R_32F, CUBLAS_WRITE))
ONE_OF(cublasDnrm2, "cublasDnrm2", mg__cublas_nrm2, MG_R_64F, RESULT("result", r, MG_R_64F, CUBLAS_WRITE))
ONE_OF(cublasScnrm2, "cublasScnrm2", mg__cublas_nrm2, MG_C_32F, RESULT("result", r, MG_R_32F, CUBLAS_WRITE))
ONE_OF(cublasDznrm2, "cublasDznrm2", mg__cublas_nrm2, MG_C_64F, RESULT("result", r, MG_R_64F, CUBLAS_WRITE))

#define DOT(name, t, conj)                                                                                          \
    PUBLIC int V(name)(H h, INT n, P x, INT incx, P y, INT incy, P r)                                               \
        JOB(h, #name, .compute = mg__cublas_dot, .type = t, .n = n, .conjugate = conj,                              \
            .x = {VEC("x", x, n, incx, CUBLAS_READ | CUBLAS_STEP), VEC("y", y, n, incy, CUBLAS_READ | CUBLAS_STEP), \
                  RESULT("result", r, t, CUBLAS_WRITE)})
DOT(cublasSdot, MG_R_32F, false)
DOT(cublasDdot, MG_R_64F, false)
DOT(cublasCdotu, MG_C_32F, false)
DOT(cublasZdotu, MG_C_64F, false)
DOT(cublasCdotc, MG_C_32F, true)
DOT(cublasZdotc, MG_C_64F, true)

#define SCAL(name, t, s)                                                                          \
    PUBLIC int V(name)(H h, INT n, P alpha, P x, INT incx)                                        \
        JOB(h, #name, .compute = mg__cublas_scal, .type = t, .scalar = s, .n = n, .alpha = alpha, \
            .x = {VEC("x", x, n, incx, CUBLAS_READ | CUBLAS_WRITE | CUBLAS_STEP)})
SCAL(cublasSscal, MG_R_32F, MG_R_32F)
SCAL(cublasDscal, MG_R_64F, MG_R_64F)
SCAL(cublasCscal, MG_C_32F, MG_C_32F)
SCAL(cublasZscal, MG_C_64F, MG_C_64F)
SCAL(cublasCsscal, MG_C_32F, MG_R_32F)
SCAL(cublasZdscal, MG_C_64F, MG_R_64F)

#define ROTATE(name, t, ct, st)                                                                                    \
    PUBLIC int V(name)(H h, INT n, P x, INT incx, P y, INT incy, P c, P s)                                         \
        JOB(h, #name, .compute = mg__cublas_rot, .type = t, .n = n,                                                \
            .x = {VEC("x", x, n, incx, CUBLAS_READ | CUBLAS_WRITE | CUBLAS_STEP),                                  \
                  VEC("y", y, n, incy, CUBLAS_READ | CUBLAS_WRITE | CUBLAS_STEP), RESULT("c", c, ct, CUBLAS_READ), \
                  RESULT("s", s, st, CUBLAS_READ)})
ROTATE(cublasSrot, MG_R_32F, MG_R_32F, MG_R_32F)
ROTATE(cublasDrot, MG_R_64F, MG_R_64F, MG_R_64F)
ROTATE(cublasCrot, MG_C_32F, MG_R_32F, MG_C_32F)
ROTATE(cublasCsrot, MG_C_32F, MG_R_32F, MG_R_32F)
ROTATE(cublasZrot, MG_C_64F, MG_R_64F, MG_C_64F)
ROTATE(cublasZdrot, MG_C_64F, MG_R_64F, MG_R_64F)

#define MODIFIED(name, t)                                                         \
    PUBLIC int V(name)(H h, INT n, P x, INT incx, P y, INT incy, P param)         \
        JOB(h, #name, .compute = mg__cublas_rotm, .type = t, .n = n,              \
            .x = {VEC("x", x, n, incx, CUBLAS_READ | CUBLAS_WRITE | CUBLAS_STEP), \
                  VEC("y", y, n, incy, CUBLAS_READ | CUBLAS_WRITE | CUBLAS_STEP), \
                  {.form = CUBLAS_RESULT, .what = "param", .at = param, .rows = 5, .use = CUBLAS_READ}})
MODIFIED(cublasSrotm, MG_R_32F)
MODIFIED(cublasDrotm, MG_R_64F)

#define LEVEL1(L, t)                                                                                                  \
    PUBLIC int V(cublas##L##axpy)(H h, INT n, P alpha, P x, INT incx, P y, INT incy)                                  \
        JOB(h, "cublas" #L "axpy", .compute = mg__cublas_axpy, .type = t, .scalar = t, .n = n, .alpha = alpha,        \
            .x = {VEC("x", x, n, incx, CUBLAS_READ | CUBLAS_STEP),                                                    \
                  VEC("y", y, n, incy, CUBLAS_READ | CUBLAS_WRITE | CUBLAS_STEP)}) PUBLIC int                         \
        V(cublas##L##copy)(H h, INT n, P x, INT incx, P y, INT incy) JOB(                                             \
            h, "cublas" #L "copy", .compute = mg__cublas_copy, .type = t, .n = n,                                     \
            .x = {VEC("x", x, n, incx, CUBLAS_READ | CUBLAS_STEP), VEC("y", y, n, incy, CUBLAS_WRITE | CUBLAS_STEP)}) \
            PUBLIC int                                                                                                \
            V(cublas##L##swap)(H h, INT n, P x, INT incx, P y, INT incy)                                              \
                JOB(h, "cublas" #L "swap", .compute = mg__cublas_swap, .type = t, .n = n,                             \
                    .x = {VEC("x", x, n, incx, CUBLAS_READ | CUBLAS_WRITE | CUBLAS_STEP),                             \
                          VEC("y", y, n, incy, CUBLAS_READ | CUBLAS_WRITE | CUBLAS_STEP)})

/* ---- level 2 ---- */
#define TRIANGULAR(L, t, op)                                                                                           \
    PUBLIC int V(cublas##L##tr##op)(H h, int uplo, int trans, int diag, INT n, P a, INT lda, P x,                      \
                                    INT incx) JOB(h, "cublas" #L "tr" #op, .compute = mg__cublas_tr##op, .type = t,    \
                                                  .uplo = uplo, .transa = trans, .diag = diag, .n = n,                 \
                                                  .x = {MAT("A", a, n, n, lda, CUBLAS_TRIANGLE | CUBLAS_READ),         \
                                                        VEC("x", x, n, incx, CUBLAS_READ | CUBLAS_WRITE)}) PUBLIC int  \
    V(cublas##L##tb##op)(H h, int uplo, int trans, int diag, INT n, INT k, P a, INT lda, P x, INT incx)                \
        JOB(h, "cublas" #L "tb" #op, .compute = mg__cublas_tb##op, .type = t, .uplo = uplo, .transa = trans,           \
            .diag = diag, .n = n, .k = k,                                                                              \
            .x = {MAT("A", a, (int64_t)k + 1, n, lda, CUBLAS_BAND), VEC("x", x, n, incx, CUBLAS_READ | CUBLAS_WRITE)}) \
            PUBLIC int                                                                                                 \
            V(cublas##L##tp##op)(H h, int uplo, int trans, int diag, INT n, P a, P x, INT incx)                        \
                JOB(h, "cublas" #L "tp" #op, .compute = mg__cublas_tp##op, .type = t, .uplo = uplo, .transa = trans,   \
                    .diag = diag, .n = n,                                                                              \
                    .x = {PACKED("AP", a, n, CUBLAS_READ), VEC("x", x, n, incx, CUBLAS_READ | CUBLAS_WRITE)})
#define SYMMETRIC_V(L, t, op, conj)                                                                                \
    PUBLIC int V(cublas##L##op)(H h, int uplo, INT n, P alpha, P a, INT lda, P x, INT incx, P beta, P y, INT incy) \
        JOB(h, "cublas" #L#op, .compute = mg__cublas_symv, .type = t, .scalar = t, .uplo = uplo, .m = n, .n = n,   \
            .conjugate = conj, .alpha = alpha, .beta = beta,                                                       \
            .x = {MAT("A", a, n, n, lda, CUBLAS_TRIANGLE | CUBLAS_READ), VEC("x", x, n, incx, CUBLAS_READ),        \
                  VEC("y", y, n, incy, CUBLAS_WRITE | CUBLAS_BETA)})
#define SYMMETRIC_BP(L, t, band, pack)                                                                             \
    PUBLIC int V(cublas##L##band)(H h, int uplo, INT n, INT k, P alpha, P a, INT lda, P x, INT incx, P beta, P y,  \
                                  INT incy)                                                                        \
        JOB(h, "cublas" #L#band, .compute = mg__cublas_sbmv, .type = t, .scalar = t, .uplo = uplo, .n = n, .k = k, \
            .alpha = alpha, .beta = beta,                                                                          \
            .x = {MAT("A", a, (int64_t)k + 1, n, lda, CUBLAS_BAND), VEC("x", x, n, incx, CUBLAS_READ),             \
                  VEC("y", y, n, incy, CUBLAS_WRITE | CUBLAS_BETA)}) PUBLIC int                                    \
        V(cublas##L##pack)(H h, int uplo, INT n, P alpha, P a, P x, INT incx, P beta, P y, INT incy)               \
            JOB(h, "cublas" #L#pack, .compute = mg__cublas_spmv, .type = t, .scalar = t, .uplo = uplo, .n = n,     \
                .alpha = alpha, .beta = beta,                                                                      \
                .x = {PACKED("AP", a, n, CUBLAS_READ), VEC("x", x, n, incx, CUBLAS_READ),                          \
                      VEC("y", y, n, incy, CUBLAS_WRITE | CUBLAS_BETA)})
#define RANK1(name, t, conj)                                                                                \
    PUBLIC int V(name)(H h, INT m, INT n, P alpha, P x, INT incx, P y, INT incy, P a, INT lda)              \
        JOB(h, #name, .compute = mg__cublas_ger, .type = t, .scalar = t, .m = m, .n = n, .conjugate = conj, \
            .alpha = alpha,                                                                                 \
            .x = {MAT("A", a, m, n, lda, CUBLAS_READ | CUBLAS_WRITE), VEC("x", x, m, incx, CUBLAS_READ),    \
                  VEC("y", y, n, incy, CUBLAS_READ)})
#define UPDATE1(name, t, s, conj)                                                                                 \
    PUBLIC int V(name)(H h, int uplo, INT n, P alpha, P x, INT incx, P a, INT lda)                                \
        JOB(h, #name, .compute = mg__cublas_syr, .type = t, .scalar = s, .uplo = uplo, .n = n, .conjugate = conj, \
            .alpha = alpha,                                                                                       \
            .x = {MAT("A", a, n, n, lda, CUBLAS_TRIANGLE | CUBLAS_READ | CUBLAS_WRITE),                           \
                  VEC("x", x, n, incx, CUBLAS_READ)})
#define UPDATE2(name, t, conj)                                                                                     \
    PUBLIC int V(name)(H h, int uplo, INT n, P alpha, P x, INT incx, P y, INT incy, P a, INT lda)                  \
        JOB(h, #name, .compute = mg__cublas_syr2, .type = t, .scalar = t, .uplo = uplo, .n = n, .conjugate = conj, \
            .alpha = alpha,                                                                                        \
            .x = {MAT("A", a, n, n, lda, CUBLAS_TRIANGLE | CUBLAS_READ | CUBLAS_WRITE),                            \
                  VEC("x", x, n, incx, CUBLAS_READ), VEC("y", y, n, incy, CUBLAS_READ)})
#define PACKED1(name, t, s, conj)                                                                                 \
    PUBLIC int V(name)(H h, int uplo, INT n, P alpha, P x, INT incx, P a)                                         \
        JOB(h, #name, .compute = mg__cublas_syr, .type = t, .scalar = s, .uplo = uplo, .n = n, .conjugate = conj, \
            .alpha = alpha, .x = {PACKED("AP", a, n, CUBLAS_READ | CUBLAS_WRITE), VEC("x", x, n, incx, CUBLAS_READ)})
#define PACKED2(name, t, conj)                                                                                     \
    PUBLIC int V(name)(H h, int uplo, INT n, P alpha, P x, INT incx, P y, INT incy, P a)                           \
        JOB(h, #name, .compute = mg__cublas_syr2, .type = t, .scalar = t, .uplo = uplo, .n = n, .conjugate = conj, \
            .alpha = alpha,                                                                                        \
            .x = {PACKED("AP", a, n, CUBLAS_READ | CUBLAS_WRITE), VEC("x", x, n, incx, CUBLAS_READ),               \
                  VEC("y", y, n, incy, CUBLAS_READ)})
#define LEVEL2(L, t)                                                                                                   \
    PUBLIC int V(cublas##L##gemv)(H h, int trans, INT m, INT n, P alpha, P a, INT lda, P x, INT incx, P beta, P y,     \
                                  INT incy)                                                                            \
        JOB(h, "cublas" #L "gemv", .compute = mg__cublas_gemv, .type = t, .scalar = t, .transa = trans, .m = m,        \
            .n = n, .alpha = alpha, .beta = beta,                                                                      \
            .x = {MAT("A", a, m, n, lda, CUBLAS_READ), VEC("x", x, trans ? m : n, incx, CUBLAS_READ),                  \
                  VEC("y", y, trans ? n : m, incy, CUBLAS_WRITE | CUBLAS_BETA)}) PUBLIC int                            \
        V(cublas##L##gbmv)(H h, int trans, INT m, INT n, INT kl, INT ku, P alpha, P a, INT lda, P x, INT incx, P beta, \
                           P y, INT incy)                                                                              \
            JOB(h, "cublas" #L "gbmv", .compute = mg__cublas_gbmv, .type = t, .scalar = t, .transa = trans, .m = m,    \
                .n = n, .kl = kl, .ku = ku, .alpha = alpha, .beta = beta,                                              \
                .x = {MAT("A", a, (int64_t)kl + ku + 1, n, lda, CUBLAS_BAND),                                          \
                      VEC("x", x, trans ? m : n, incx, CUBLAS_READ),                                                   \
                      VEC("y", y, trans ? n : m, incy, CUBLAS_WRITE | CUBLAS_BETA)}) TRIANGULAR(L, t, mv)              \
                TRIANGULAR(L, t, sv)

/* ---- level 3 ---- */
#define GEMM(name, t)                                                                                                 \
    PUBLIC int V(name)(H h, int transa, int transb, INT m, INT n, INT k, P alpha, P a, INT lda, P b, INT ldb, P beta, \
                       P c, INT ldc)                                                                                  \
        JOB(h, #name, .compute = mg__cublas_gemm, .type = t, .scalar = t, .transa = transa, .transb = transb, .m = m, \
            .n = n, .k = k, .alpha = alpha, .beta = beta,                                                             \
            .x = {MAT("A", a, transa ? k : m, transa ? m : k, lda, CUBLAS_READ),                                      \
                  MAT("B", b, transb ? n : k, transb ? k : n, ldb, CUBLAS_READ),                                      \
                  MAT("C", c, m, n, ldc, CUBLAS_WRITE | CUBLAS_BETA)})
#define RANK_K(name, t, s, conj)                                                                                 \
    PUBLIC int V(name)(H h, int uplo, int trans, INT n, INT k, P alpha, P a, INT lda, P beta, P c, INT ldc)      \
        JOB(h, #name, .compute = mg__cublas_syrk, .type = t, .scalar = s, .uplo = uplo, .transa = trans, .n = n, \
            .k = k, .conjugate = conj, .alpha = alpha, .beta = beta,                                             \
            .x = {MAT("A", a, trans ? k : n, trans ? n : k, lda, CUBLAS_READ), VALUES(0),                        \
                  MAT("C", c, n, n, ldc, CUBLAS_TRIANGLE | CUBLAS_WRITE | CUBLAS_BETA)})
#define RANK_2K(name, fn, t, real, conj) RANK_2K_AS(V(name), #name, fn, t, real, conj)
#define RANK_2K_AS(name, text, fn, t, real, conj)                                                                      \
    PUBLIC int name(H h, int uplo, int trans, INT n, INT k, P alpha, P a, INT lda, P b, INT ldb, P beta, P c, INT ldc) \
        JOB(h, text, .compute = fn, .type = t, .scalar = t, .beta_real = real, .uplo = uplo, .transa = trans, .n = n,  \
            .k = k, .conjugate = conj, .alpha = alpha, .beta = beta,                                                   \
            .x = {MAT("A", a, trans ? k : n, trans ? n : k, lda, CUBLAS_READ),                                         \
                  MAT("B", b, trans ? k : n, trans ? n : k, ldb, CUBLAS_READ),                                         \
                  MAT("C", c, n, n, ldc, CUBLAS_TRIANGLE | CUBLAS_WRITE | CUBLAS_BETA)})
#define SYMM(name, t, conj)                                                                                           \
    PUBLIC int V(name)(H h, int side, int uplo, INT m, INT n, P alpha, P a, INT lda, P b, INT ldb, P beta, P c,       \
                       INT ldc)                                                                                       \
        JOB(h, #name, .compute = mg__cublas_symm, .type = t, .scalar = t, .side = side, .uplo = uplo, .m = m, .n = n, \
            .conjugate = conj, .alpha = alpha, .beta = beta,                                                          \
            .x = {MAT("A", a, side ? n : m, side ? n : m, lda, CUBLAS_TRIANGLE | CUBLAS_READ),                        \
                  MAT("B", b, m, n, ldb, CUBLAS_READ), MAT("C", c, m, n, ldc, CUBLAS_WRITE | CUBLAS_BETA)})
#define LEVEL3(L, t)                                                                                                   \
    GEMM(cublas##L##gemm, t)                                                                                           \
    SYMM(cublas##L##symm, t, false)                                                                                    \
    RANK_K(cublas##L##syrk, t, t, false)                                                                               \
    RANK_2K_AS(V(cublas##L##syr2k), "cublas" #L "syr2k", mg__cublas_syr2k, t, false, false)                            \
    PUBLIC int V(cublas##L##trsm)(H h, int side, int uplo, int trans, int diag, INT m, INT n, P alpha, P a, INT lda,   \
                                  P b, INT ldb)                                                                        \
        JOB(h, "cublas" #L "trsm", .compute = mg__cublas_trsm, .type = t, .scalar = t, .side = side, .uplo = uplo,     \
            .transa = trans, .diag = diag, .m = m, .n = n, .alpha = alpha,                                             \
            .x = {MAT("A", a, side ? n : m, side ? n : m, lda, CUBLAS_TRIANGLE | CUBLAS_READ), VALUES(0),              \
                  MAT("B", b, m, n, ldb, CUBLAS_READ | CUBLAS_WRITE)}) PUBLIC int                                      \
        V(cublas##L##trmm)(H h, int side, int uplo, int trans, int diag, INT m, INT n, P alpha, P a, INT lda, P b,     \
                           INT ldb, P c, INT ldc)                                                                      \
            JOB(h, "cublas" #L "trmm", .compute = mg__cublas_trmm, .type = t, .scalar = t, .side = side, .uplo = uplo, \
                .transa = trans, .diag = diag, .m = m, .n = n, .alpha = alpha,                                         \
                .x = {MAT("A", a, side ? n : m, side ? n : m, lda, CUBLAS_TRIANGLE | CUBLAS_READ),                     \
                      MAT("B", b, m, n, ldb, CUBLAS_READ), MAT("C", c, m, n, ldc, CUBLAS_WRITE)})

/* ---- batches, and what BLAS does not have ---- */
#define MANY(what_, at_, rows_, cols_, ld_, use_)                                                              \
    {                                                                                                          \
        .form = CUBLAS_MATRIX, .what = what_, .at = at_, .rows = rows_, .cols = cols_, .ld = ld_, .use = use_, \
        .many = true                                                                                           \
    }
#define EACH(what_, at_, rows_, cols_, ld_, use_, stride_)                                                     \
    {                                                                                                          \
        .form = CUBLAS_MATRIX, .what = what_, .at = at_, .rows = rows_, .cols = cols_, .ld = ld_, .use = use_, \
        .stride = stride_                                                                                      \
    }
#define BATCHED(name, t)                                                                                               \
    PUBLIC int N(name##Batched)(H h, int transa, int transb, INT m, INT n, INT k, P alpha, P a, INT lda, P b, INT ldb, \
                                P beta, P c, INT ldc, INT count)                                                       \
        JOB(h, #name "Batched", .compute = mg__cublas_gemm, .type = t, .scalar = t, .transa = transa,                  \
            .transb = transb, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta, .batched = true, .count = count,   \
            .x = {MANY("Aarray", a, transa ? k : m, transa ? m : k, lda, CUBLAS_READ),                                 \
                  MANY("Barray", b, transb ? n : k, transb ? k : n, ldb, CUBLAS_READ),                                 \
                  MANY("Carray", c, m, n, ldc, CUBLAS_WRITE | CUBLAS_BETA)}) PUBLIC int                                \
        N(name##StridedBatched)(H h, int transa, int transb, INT m, INT n, INT k, P alpha, P a, INT lda, int64_t sa,   \
                                P b, INT ldb, int64_t sb, P beta, P c, INT ldc, int64_t sc, INT count)                 \
            JOB(h, #name "StridedBatched", .compute = mg__cublas_gemm, .type = t, .scalar = t, .transa = transa,       \
                .transb = transb, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta, .batched = true,               \
                .count = count,                                                                                        \
                .x = {EACH("A", a, transa ? k : m, transa ? m : k, lda, CUBLAS_READ, sa),                              \
                      EACH("B", b, transb ? n : k, transb ? k : n, ldb, CUBLAS_READ, sb),                              \
                      EACH("C", c, m, n, ldc, CUBLAS_WRITE | CUBLAS_BETA, sc)})
/* Matrices and vectors of types that may differ; sums in f32 or wider. */
#define MV_OPERAND(form_, what_, at_, type_, rows_, cols_, ld_, use_, many_, stride_)                                 \
    {                                                                                                                 \
        .form = form_, .what = what_, .at = at_, .rows = rows_, .cols = cols_, .ld = ld_, .use = use_, .many = many_, \
        .stride = stride_, .typed = (type_) >= 0, .type = (type_) >= 0 ? (type_) : 0                                  \
    }
#define BATCHED_V(name, t, ti, to)                                                                                     \
    PUBLIC int N(name##Batched)(H h, int trans, INT m, INT n, P alpha, P a, INT lda, P x, INT incx, P beta, P y,       \
                                INT incy, INT count)                                                                   \
        JOB(h, #name "Batched", .compute = mg__cublas_gemv, .type = t, .scalar = t, .transa = trans, .m = m, .n = n,   \
            .alpha = alpha, .beta = beta, .batched = true, .count = count,                                             \
            .x = {MV_OPERAND(CUBLAS_MATRIX, "Aarray", a, ti, m, n, lda, CUBLAS_READ, true, 0),                         \
                  MV_OPERAND(CUBLAS_VECTOR, "xarray", x, ti, trans ? m : n, 0, incx, CUBLAS_READ, true, 0),            \
                  MV_OPERAND(CUBLAS_VECTOR, "yarray", y, to, trans ? n : m, 0, incy, CUBLAS_WRITE | CUBLAS_BETA, true, \
                             0)}) PUBLIC int                                                                           \
        N(name##StridedBatched)(H h, int trans, INT m, INT n, P alpha, P a, INT lda, int64_t sa, P x, INT incx,        \
                                int64_t sx, P beta, P y, INT incy, int64_t sy, INT count)                              \
            JOB(h, #name "StridedBatched", .compute = mg__cublas_gemv, .type = t, .scalar = t, .transa = trans,        \
                .m = m, .n = n, .alpha = alpha, .beta = beta, .batched = true, .count = count,                         \
                .x = {MV_OPERAND(CUBLAS_MATRIX, "A", a, ti, m, n, lda, CUBLAS_READ, false, sa),                        \
                      MV_OPERAND(CUBLAS_VECTOR, "x", x, ti, trans ? m : n, 0, incx, CUBLAS_READ, false, sx),           \
                      MV_OPERAND(CUBLAS_VECTOR, "y", y, to, trans ? n : m, 0, incy, CUBLAS_WRITE | CUBLAS_BETA, false, \
                                 sy)})
#define OTHERS(L, t)                                                                                                   \
    BATCHED(cublas##L##gemm, t)                                                                                        \
    BATCHED_V(cublas##L##gemv, t, -1, -1)                                                                              \
    RANK_2K_AS(N(cublas##L##syrkx), "cublas" #L "syrkx", mg__cublas_syrkx, t, false, false)                            \
    PUBLIC int N(cublas##L##geam)(H h, int transa, int transb, INT m, INT n, P alpha, P a, INT lda, P beta, P b,       \
                                  INT ldb, P c, INT ldc)                                                               \
        JOB(h, "cublas" #L "geam", .compute = mg__cublas_geam, .type = t, .scalar = t, .transa = transa,               \
            .transb = transb, .m = m, .n = n, .alpha = alpha, .beta = beta,                                            \
            .x = {MAT("A", a, transa ? n : m, transa ? m : n, lda, CUBLAS_ALPHA),                                      \
                  MAT("B", b, transb ? n : m, transb ? m : n, ldb, CUBLAS_BETA),                                       \
                  MAT("C", c, m, n, ldc, CUBLAS_WRITE)}) PUBLIC int                                                    \
        N(cublas##L##dgmm)(H h, int mode, INT m, INT n, P a, INT lda, P x, INT incx, P c, INT ldc)                     \
            JOB(h, "cublas" #L "dgmm", .compute = mg__cublas_dgmm, .type = t, .side = mode, .m = m, .n = n,            \
                .x = {MAT("A", a, m, n, lda, CUBLAS_READ), VEC("x", x, mode ? n : m, incx, CUBLAS_READ | CUBLAS_STEP), \
                      MAT("C", c, m, n, ldc, CUBLAS_WRITE)}) PUBLIC int                                                \
            N(cublas##L##trsmBatched)(H h, int side, int uplo, int trans, int diag, INT m, INT n, P alpha, P a,        \
                                      INT lda, P b, INT ldb, INT count)                                                \
                JOB(h, "cublas" #L "trsmBatched", .compute = mg__cublas_trsm, .type = t, .scalar = t, .side = side,    \
                    .uplo = uplo, .transa = trans, .diag = diag, .m = m, .n = n, .alpha = alpha, .batched = true,      \
                    .count = count,                                                                                    \
                    .x = {MANY("A", a, side ? n : m, side ? n : m, lda, CUBLAS_TRIANGLE | CUBLAS_READ), VALUES(0),     \
                          MANY("B", b, m, n, ldb, CUBLAS_READ | CUBLAS_WRITE)})

/* ---- the rows ---- */
#define FOUR_TYPES(X) X(S, MG_R_32F) X(D, MG_R_64F) X(C, MG_C_32F) X(Z, MG_C_64F)
FOUR_TYPES(LEVEL1)
FOUR_TYPES(LEVEL2)
FOUR_TYPES(LEVEL3)
FOUR_TYPES(OTHERS)
SYMMETRIC_V(S, MG_R_32F, symv, false)
SYMMETRIC_V(D, MG_R_64F, symv, false)
SYMMETRIC_V(C, MG_C_32F, symv, false)
SYMMETRIC_V(Z, MG_C_64F, symv, false)
SYMMETRIC_V(C, MG_C_32F, hemv, true)
SYMMETRIC_V(Z, MG_C_64F, hemv, true)
SYMMETRIC_BP(S, MG_R_32F, sbmv, spmv)
SYMMETRIC_BP(D, MG_R_64F, sbmv, spmv)
SYMMETRIC_BP(C, MG_C_32F, hbmv, hpmv)
SYMMETRIC_BP(Z, MG_C_64F, hbmv, hpmv)
RANK1(cublasSger, MG_R_32F, false)
RANK1(cublasDger, MG_R_64F, false)
RANK1(cublasCgeru, MG_C_32F, false)
RANK1(cublasZgeru, MG_C_64F, false)
RANK1(cublasCgerc, MG_C_32F, true)
RANK1(cublasZgerc, MG_C_64F, true)
UPDATE1(cublasSsyr, MG_R_32F, MG_R_32F, false)
UPDATE1(cublasDsyr, MG_R_64F, MG_R_64F, false)
UPDATE1(cublasCsyr, MG_C_32F, MG_C_32F, false)
UPDATE1(cublasZsyr, MG_C_64F, MG_C_64F, false)
UPDATE1(cublasCher, MG_C_32F, MG_R_32F, true)
UPDATE1(cublasZher, MG_C_64F, MG_R_64F, true)
UPDATE2(cublasSsyr2, MG_R_32F, false)
UPDATE2(cublasDsyr2, MG_R_64F, false)
UPDATE2(cublasCsyr2, MG_C_32F, false)
UPDATE2(cublasZsyr2, MG_C_64F, false)
UPDATE2(cublasCher2, MG_C_32F, true)
UPDATE2(cublasZher2, MG_C_64F, true)
PACKED1(cublasSspr, MG_R_32F, MG_R_32F, false)
PACKED1(cublasDspr, MG_R_64F, MG_R_64F, false)
PACKED1(cublasChpr, MG_C_32F, MG_R_32F, true)
PACKED1(cublasZhpr, MG_C_64F, MG_R_64F, true)
PACKED2(cublasSspr2, MG_R_32F, false)
PACKED2(cublasDspr2, MG_R_64F, false)
PACKED2(cublasChpr2, MG_C_32F, true)
PACKED2(cublasZhpr2, MG_C_64F, true)
RANK_K(cublasCherk, MG_C_32F, MG_R_32F, true)
RANK_K(cublasZherk, MG_C_64F, MG_R_64F, true)
RANK_2K(cublasCher2k, mg__cublas_syr2k, MG_C_32F, true, true)
RANK_2K(cublasZher2k, mg__cublas_syr2k, MG_C_64F, true, true)
RANK_2K_AS(N(cublasCherkx), "cublasCherkx", mg__cublas_syrkx, MG_C_32F, true, true)
RANK_2K_AS(N(cublasZherkx), "cublasZherkx", mg__cublas_syrkx, MG_C_64F, true, true)
SYMM(cublasChemm, MG_C_32F, true)
SYMM(cublasZhemm, MG_C_64F, true)
#define GEMM3M(name, t)                                                                                               \
    PUBLIC int N(name)(H h, int transa, int transb, INT m, INT n, INT k, P alpha, P a, INT lda, P b, INT ldb, P beta, \
                       P c, INT ldc)                                                                                  \
        JOB(h, #name, .compute = mg__cublas_gemm, .type = t, .scalar = t, .transa = transa, .transb = transb, .m = m, \
            .n = n, .k = k, .alpha = alpha, .beta = beta,                                                             \
            .x = {MAT("A", a, transa ? k : m, transa ? m : k, lda, CUBLAS_READ),                                      \
                  MAT("B", b, transb ? n : k, transb ? k : n, ldb, CUBLAS_READ),                                      \
                  MAT("C", c, m, n, ldc, CUBLAS_WRITE | CUBLAS_BETA)})
GEMM3M(cublasCgemm3m, MG_C_32F)
GEMM3M(cublasZgemm3m, MG_C_64F)
BATCHED(cublasCgemm3m, MG_C_32F)
BATCHED_V(cublasHSHgemv, MG_R_32F, MG_R_16F, MG_R_16F)
BATCHED_V(cublasHSSgemv, MG_R_32F, MG_R_16F, MG_R_32F)
BATCHED_V(cublasTSTgemv, MG_R_32F, MG_R_16BF, MG_R_16BF)
BATCHED_V(cublasTSSgemv, MG_R_32F, MG_R_16BF, MG_R_32F)

/* ---- types by argument ---- */
PUBLIC int N(cublasGemmEx)(H h, int transa, int transb, INT m, INT n, INT k, P alpha, P a, int ta, INT lda, P b, int tb,
                           INT ldb, P beta, P c, int tc, INT ldc, int compute, int algo)
{
    (void)algo;
    return mg__cublas_gemm_ex(h, "cublasGemmEx", compute, transa, transb, m, n, k, alpha, beta,
                              (const struct mg_cublas_ex[3]){{a, ta, lda, 0}, {b, tb, ldb, 0}, {c, tc, ldc, 0}}, false,
                              -1);
}

PUBLIC int N(cublasGemmBatchedEx)(H h, int transa, int transb, INT m, INT n, INT k, P alpha, P a, int ta, INT lda, P b,
                                  int tb, INT ldb, P beta, P c, int tc, INT ldc, INT count, int compute, int algo)
{
    (void)algo;
    return mg__cublas_gemm_ex(h, "cublasGemmBatchedEx", compute, transa, transb, m, n, k, alpha, beta,
                              (const struct mg_cublas_ex[3]){{a, ta, lda, 0}, {b, tb, ldb, 0}, {c, tc, ldc, 0}}, true,
                              count);
}

/* A group after the other: each has sizes and scalars of its own, which are the host's, and so many matrices. */
static int N(grouped)(H h, const char *name, const int *transa, const int *transb, const INT *m, const INT *n,
                      const INT *k, P alpha, const struct mg_cublas_ex x[3], const INT *const ld[3], P beta, INT groups,
                      const INT *sizes, int compute)
{
    size_t scalar = x[0].type == MG_R_64F ? sizeof(double) : sizeof(float), done = 0;
    int state = !mg__cublas_live(h) ? CUBLAS_NOT_INITIALIZED : groups < 0 ? CUBLAS_INVALID_VALUE : CUBLAS_SUCCESS;
    if (!state && (h->pointer_mode || mg__number_complex(x[0].type) || compute < CUBLAS_IN_32F))
        state = CUBLAS_NOT_SUPPORTED;
    for (INT g = 0; g < groups && !state; g++)
        state = sizes[g] < 0 ? CUBLAS_INVALID_VALUE : state;
    for (INT g = 0; g < groups && !state; g++) {
        struct mg_cublas_ex one[3];
        for (int i = 0; i < 3; i++)
            one[i] = (struct mg_cublas_ex){(const void *const *)x[i].at + done, x[i].type, ld[i][g], 0};
        state = mg__cublas_gemm_ex(h, name, compute, transa[g], transb[g], m[g], n[g], k[g],
                                   (const char *)alpha + (size_t)g * scalar, (const char *)beta + (size_t)g * scalar,
                                   one, true, sizes[g]);
        done += (size_t)sizes[g];
    }
    return state;
}

PUBLIC int N(cublasGemmGroupedBatchedEx)(H h, const int *transa, const int *transb, const INT *m, const INT *n,
                                         const INT *k, P alpha, P a, int ta, const INT *lda, P b, int tb,
                                         const INT *ldb, P beta, P c, int tc, const INT *ldc, INT groups,
                                         const INT *sizes, int compute)
{
    return N(grouped)(h, "cublasGemmGroupedBatchedEx", transa, transb, m, n, k, alpha,
                      (const struct mg_cublas_ex[3]){{a, ta, 0, 0}, {b, tb, 0, 0}, {c, tc, 0, 0}},
                      (const INT *const[3]){lda, ldb, ldc}, beta, groups, sizes, compute);
}

#define GROUPED(L, t, compute)                                                                                         \
    PUBLIC int N(cublas##L##gemmGroupedBatched)(H h, const int *transa, const int *transb, const INT *m, const INT *n, \
                                                const INT *k, P alpha, P a, const INT *lda, P b, const INT *ldb,       \
                                                P beta, P c, const INT *ldc, INT groups, const INT *sizes)             \
    {                                                                                                                  \
        return N(grouped)(h, "cublas" #L "gemmGroupedBatched", transa, transb, m, n, k, alpha,                         \
                          (const struct mg_cublas_ex[3]){{a, t, 0, 0}, {b, t, 0, 0}, {c, t, 0, 0}},                    \
                          (const INT *const[3]){lda, ldb, ldc}, beta, groups, sizes, compute);                         \
    }
GROUPED(S, MG_R_32F, CUBLAS_IN_32F)
GROUPED(D, MG_R_64F, CUBLAS_IN_64F)
#undef GROUPED

PUBLIC int N(cublasGemmStridedBatchedEx)(H h, int transa, int transb, INT m, INT n, INT k, P alpha, P a, int ta,
                                         INT lda, int64_t sa, P b, int tb, INT ldb, int64_t sb, P beta, P c, int tc,
                                         INT ldc, int64_t sc, INT count, int compute, int algo)
{
    (void)algo;
    return mg__cublas_gemm_ex(h, "cublasGemmStridedBatchedEx", compute, transa, transb, m, n, k, alpha, beta,
                              (const struct mg_cublas_ex[3]){{a, ta, lda, sa}, {b, tb, ldb, sb}, {c, tc, ldc, sc}},
                              false, count);
}

PUBLIC int N(cublasSgemmEx)(H h, int transa, int transb, INT m, INT n, INT k, P alpha, P a, int ta, INT lda, P b,
                            int tb, INT ldb, P beta, P c, int tc, INT ldc)
{
    return mg__cublas_gemm_ex(h, "cublasSgemmEx", CUBLAS_IN_32F, transa, transb, m, n, k, alpha, beta,
                              (const struct mg_cublas_ex[3]){{a, ta, lda, 0}, {b, tb, ldb, 0}, {c, tc, ldc, 0}}, false,
                              -1);
}

PUBLIC int N(cublasCgemmEx)(H h, int transa, int transb, INT m, INT n, INT k, P alpha, P a, int ta, INT lda, P b,
                            int tb, INT ldb, P beta, P c, int tc, INT ldc)
{
    return mg__cublas_gemm_ex(h, "cublasCgemmEx", CUBLAS_IN_32F, transa, transb, m, n, k, alpha, beta,
                              (const struct mg_cublas_ex[3]){{a, ta, lda, 0}, {b, tb, ldb, 0}, {c, tc, ldc, 0}}, false,
                              -1);
}

PUBLIC int N(cublasHgemm)(H h, int transa, int transb, INT m, INT n, INT k, P alpha, P a, INT lda, P b, INT ldb, P beta,
                          P c, INT ldc)
{
    return mg__cublas_gemm_ex(
        h, "cublasHgemm", CUBLAS_IN_16F, transa, transb, m, n, k, alpha, beta,
        (const struct mg_cublas_ex[3]){{a, MG_R_16F, lda, 0}, {b, MG_R_16F, ldb, 0}, {c, MG_R_16F, ldc, 0}}, false, -1);
}

PUBLIC int N(cublasHgemmBatched)(H h, int transa, int transb, INT m, INT n, INT k, P alpha, P a, INT lda, P b, INT ldb,
                                 P beta, P c, INT ldc, INT count)
{
    return mg__cublas_gemm_ex(
        h, "cublasHgemmBatched", CUBLAS_IN_16F, transa, transb, m, n, k, alpha, beta,
        (const struct mg_cublas_ex[3]){{a, MG_R_16F, lda, 0}, {b, MG_R_16F, ldb, 0}, {c, MG_R_16F, ldc, 0}}, true,
        count);
}

PUBLIC int N(cublasHgemmStridedBatched)(H h, int transa, int transb, INT m, INT n, INT k, P alpha, P a, INT lda,
                                        int64_t sa, P b, INT ldb, int64_t sb, P beta, P c, INT ldc, int64_t sc,
                                        INT count)
{
    return mg__cublas_gemm_ex(
        h, "cublasHgemmStridedBatched", CUBLAS_IN_16F, transa, transb, m, n, k, alpha, beta,
        (const struct mg_cublas_ex[3]){{a, MG_R_16F, lda, sa}, {b, MG_R_16F, ldb, sb}, {c, MG_R_16F, ldc, sc}}, false,
        count);
}

#define EX(what_, at_, type_, n_, inc_, use_) TYPED(CUBLAS_VECTOR, what_, at_, type_, n_, inc_, (use_) | CUBLAS_STEP)
PUBLIC int N(cublasAxpyEx)(H h, INT n, P alpha, int alpha_type, P x, int x_type, INT incx, P y, int y_type, INT incy,
                           int execution)
    JOB(h, "cublasAxpyEx", .compute = mg__cublas_axpy, .type = execution, .scalar = alpha_type, .n = n, .alpha = alpha,
        .x = {EX("x", x, x_type, n, incx, CUBLAS_READ), EX("y", y, y_type, n, incy, CUBLAS_READ | CUBLAS_WRITE)})

        PUBLIC int N(cublasScalEx)(H h, INT n, P alpha, int alpha_type, P x, int x_type, INT incx, int execution)
            JOB(h, "cublasScalEx", .compute = mg__cublas_scal, .type = execution, .scalar = alpha_type, .n = n,
                .alpha = alpha, .x = {EX("x", x, x_type, n, incx, CUBLAS_READ | CUBLAS_WRITE)})

                PUBLIC
    int N(cublasDotEx)(H h, INT n, P x, int x_type, INT incx, P y, int y_type, INT incy, P r, int r_type, int execution)
        JOB(h, "cublasDotEx", .compute = mg__cublas_dot, .type = execution, .n = n,
            .x = {EX("x", x, x_type, n, incx, CUBLAS_READ), EX("y", y, y_type, n, incy, CUBLAS_READ),
                  RESULT("result", r, r_type, CUBLAS_WRITE)})

            PUBLIC int N(cublasDotcEx)(H h, INT n, P x, int x_type, INT incx, P y, int y_type, INT incy, P r,
                                       int r_type, int execution)
                JOB(h, "cublasDotcEx", .compute = mg__cublas_dot, .type = execution, .n = n, .conjugate = true,
                    .x = {EX("x", x, x_type, n, incx, CUBLAS_READ), EX("y", y, y_type, n, incy, CUBLAS_READ),
                          RESULT("result", r, r_type, CUBLAS_WRITE)})

                    PUBLIC
    int N(cublasNrm2Ex)(H h, INT n, P x, int x_type, INT incx, P r, int r_type, int execution)
        JOB(h, "cublasNrm2Ex", .compute = mg__cublas_nrm2, .type = execution, .n = n,
            .x = {EX("x", x, x_type, n, incx, CUBLAS_READ), VALUES(0), RESULT("result", r, r_type, CUBLAS_WRITE)})

            PUBLIC
    int N(cublasAsumEx)(H h, INT n, P x, int x_type, INT incx, P r, int r_type, int execution)
        JOB(h, "cublasAsumEx", .compute = mg__cublas_asum, .type = execution, .n = n,
            .x = {EX("x", x, x_type, n, incx, CUBLAS_READ), VALUES(0), RESULT("result", r, r_type, CUBLAS_WRITE)})

            PUBLIC int N(cublasIamaxEx)(H h, INT n, P x, int x_type, INT incx, P r)
                JOB(h, "cublasIamaxEx", .compute = mg__cublas_amax, .type = x_type, .n = n,
                    .x = {EX("x", x, x_type, n, incx, CUBLAS_READ), VALUES(0), INDEX_RESULT(r)})

                    PUBLIC int N(cublasIaminEx)(H h, INT n, P x, int x_type, INT incx, P r)
                        JOB(h, "cublasIaminEx", .compute = mg__cublas_amin, .type = x_type, .n = n,
                            .x = {EX("x", x, x_type, n, incx, CUBLAS_READ), VALUES(0), INDEX_RESULT(r)})

                            PUBLIC
    int N(cublasCopyEx)(H h, INT n, P x, int x_type, INT incx, P y, int y_type, INT incy)
        JOB(h, "cublasCopyEx", .compute = mg__cublas_copy, .type = x_type, .n = n,
            .x = {EX("x", x, x_type, n, incx, CUBLAS_READ), EX("y", y, y_type, n, incy, CUBLAS_WRITE)})

            PUBLIC int N(cublasSwapEx)(H h, INT n, P x, int x_type, INT incx, P y, int y_type, INT incy)
                JOB(h, "cublasSwapEx", .compute = mg__cublas_swap, .type = x_type, .n = n,
                    .x = {EX("x", x, x_type, n, incx, CUBLAS_READ | CUBLAS_WRITE),
                          EX("y", y, y_type, n, incy, CUBLAS_READ | CUBLAS_WRITE)})
