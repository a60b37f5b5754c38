/* names.c - the public names of libcublas.so.MARGAY_CUBLAS that compute: names.h, with arguments of 32 and of 64 bits,
 * and what has only the first. The rest of api.def is not there, and says so.
 */
#include "cublas/cublas.h"
#include "hosted/names.h"

#define INT int
#define N(name) name
#define V(name) name##_v2
#include "cublas/names.h"
#undef INT
#undef N
#undef V
#define INT int64_t
#define N(name) name##_64
#define V(name) name##_v2_64
#include "cublas/names.h"
#undef N
#undef V

/* ---- batches of factorisations ---- */
#define STATES(at_)                                                                                       \
    {                                                                                                     \
        .form = CUBLAS_VECTOR, .what = "info", .at = at_, .rows = 1, .ld = 1, .stride = 1, .typed = true, \
        .type = MG_R_32I, .use = CUBLAS_WRITE                                                             \
    }
#define BOTH (CUBLAS_READ | CUBLAS_WRITE)
/* What LAPACK would have said of the arguments, which were looked at already. */
#define HOST_INFO(h, info)                                                         \
    if (!mg__cublas_live(h) || !(info))                                            \
        return mg__cublas_live(h) ? CUBLAS_INVALID_VALUE : CUBLAS_NOT_INITIALIZED; \
    *(info) = 0;

#define FACTORS(L, t)                                                                                                 \
    PUBLIC int cublas##L##getrfBatched(H h, int n, P a, int lda, int *pivots, int *info, int count)                   \
        JOB(h, "cublas" #L "getrfBatched", .compute = mg__cublas_getrf, .type = t, .n = n, .batched = true,           \
            .count = count, .x = {MANY("A", a, n, n, lda, BOTH), PIVOTS_OUT(pivots, n), STATES(info)})                \
            PUBLIC int cublas##L##getriBatched(H h, int n, P a, int lda, const int *pivots, P c, int ldc, int *info,  \
                                               int count)                                                             \
                JOB(h, "cublas" #L "getriBatched", .compute = mg__cublas_getri, .type = t, .n = n, .batched = true,   \
                    .count = count,                                                                                   \
                    .x = {MANY("A", a, n, n, lda, CUBLAS_READ), PIVOTS_IN(pivots, n), STATES(info),                   \
                          MANY("C", c, n, n, ldc, CUBLAS_WRITE)})                                                     \
                    PUBLIC int cublas##L##matinvBatched(H h, int n, P a, int lda, P c, int ldc, int *info, int count) \
    {                                                                                                                 \
        struct mg_cublas_job job = {.routine = "cublas" #L "matinvBatched",                                           \
                                    .compute = mg__cublas_matinv,                                                     \
                                    .type = t,                                                                        \
                                    .n = n,                                                                           \
                                    .batched = true,                                                                  \
                                    .count = count,                                                                   \
                                    .x = {MANY("A", a, n, n, lda, CUBLAS_READ), VALUES(0), STATES(info),              \
                                          MANY("Ainv", c, n, n, ldc, CUBLAS_WRITE)}};                                 \
        return n > 32 ? CUBLAS_INVALID_VALUE : mg__cublas_run(h, &job); /* as the manual limits it */                 \
    }                                                                                                                 \
    PUBLIC int cublas##L##getrsBatched(H h, int trans, int n, int k, P a, int lda, const int *pivots, P b, int ldb,   \
                                       int *info, int count){HOST_INFO(h, info) JOB(                                  \
        h, "cublas" #L "getrsBatched", .compute = mg__cublas_getrs, .type = t, .transa = trans, .n = n, .k = k,       \
        .batched = true, .count = count,                                                                              \
        .x = {MANY("Aarray", a, n, n, lda, CUBLAS_READ), PIVOTS_IN(pivots, n),                                        \
              MANY("Barray", b, n, k, ldb, BOTH)})} PUBLIC int cublas##L##geqrfBatched(H h, int m, int n, P a,        \
                                                                                       int lda, P tau, int *info,     \
                                                                                       int count){HOST_INFO(          \
        h, info) JOB(h, "cublas" #L "geqrfBatched", .compute = mg__cublas_geqrf, .type = t, .m = m, .n = n,           \
                     .batched = true, .count = count,                                                                 \
                     .x = {MANY("Aarray", a, m, n, lda, BOTH),                                                        \
                           VALUES(0),                                                                                 \
                           {.form = CUBLAS_VECTOR,                                                                    \
                            .what = "TauArray",                                                                       \
                            .at = tau,                                                                                \
                            .rows = m < n ? m : n,                                                                    \
                            .ld = 1,                                                                                  \
                            .use = CUBLAS_WRITE,                                                                      \
                            .many = true}})} PUBLIC int cublas##L##gelsBatched(H h, int trans, int m, int n, int k,   \
                                                                               P a, int lda, P c, int ldc, int *info, \
                                                                               int *states, int count)                \
    {                                                                                                                 \
        HOST_INFO(h, info)                                                                                            \
        if (trans || m < n)                                                                                           \
            return trans ? CUBLAS_NOT_SUPPORTED : CUBLAS_INVALID_VALUE; /* only tall ones, as they are */             \
        JOB(h, "cublas" #L "gelsBatched", .compute = mg__cublas_gels, .type = t, .m = m, .n = n, .k = k,              \
            .batched = true, .count = count,                                                                          \
            .x = {MANY("Aarray", a, m, n, lda, BOTH), STATES(states), MANY("Carray", c, m, k, ldc, BOTH)})            \
    }                                                                                                                 \
    PUBLIC int cublas##L##tpttr(H h, int uplo, int n, P ap, P a, int lda) JOB(                                        \
        h, "cublas" #L "tpttr", .compute = mg__cublas_tpttr, .type = t, .uplo = uplo, .n = n,                         \
        .x = {PACKED("AP", ap, n, CUBLAS_READ), VALUES(0), MAT("A", a, n, n, lda, CUBLAS_TRIANGLE | CUBLAS_WRITE)})   \
        PUBLIC int cublas##L##trttp(H h, int uplo, int n, P a, int lda, P ap)                                         \
            JOB(h, "cublas" #L "trttp", .compute = mg__cublas_trttp, .type = t, .uplo = uplo, .n = n,                 \
                .x = {PACKED("AP", ap, n, CUBLAS_WRITE), VALUES(0),                                                   \
                      MAT("A", a, n, n, lda, CUBLAS_TRIANGLE | CUBLAS_READ)})
#define PIVOTS_OF(at_, n_, use_)                                                                              \
    {                                                                                                         \
        .form = CUBLAS_VECTOR, .what = "pivots", .at = at_, .rows = n_, .ld = 1, .stride = n_, .typed = true, \
        .type = MG_R_32I, .use = use_                                                                         \
    }
#define PIVOTS_OUT(at_, n_) PIVOTS_OF(at_, n_, CUBLAS_WRITE)
#define PIVOTS_IN(at_, n_) PIVOTS_OF(at_, n_, CUBLAS_READ)
FOUR_TYPES(FACTORS)

#define ROTG(name, t, real)                                                                             \
    PUBLIC int name##_v2(H h, P a, P b, P c, P s)                                                       \
        JOB(h, #name, .compute = mg__cublas_rotg, .type = t,                                            \
            .x = {RESULT("a", a, t, BOTH), RESULT("b", b, t, BOTH), RESULT("c", c, real, CUBLAS_WRITE), \
                  RESULT("s", s, t, CUBLAS_WRITE)})
ROTG(cublasSrotg, MG_R_32F, MG_R_32F)
ROTG(cublasDrotg, MG_R_64F, MG_R_64F)
ROTG(cublasCrotg, MG_C_32F, MG_R_32F)
ROTG(cublasZrotg, MG_C_64F, MG_R_64F)

/* ---- what is not there ---- */
#define API(name)
#define API_LATER(name) HOSTED_LATER(name, "CUBLAS_STATUS_NOT_SUPPORTED", CUBLAS_NOT_SUPPORTED)
#include "cublas/api.def"
