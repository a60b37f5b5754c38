/* reference.c - C = alpha A B + beta C in plain C: each element summed in double and rounded once. */
#include "margay/kernels.h"

void mg_ref_gemm_f32(int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, const float *b,
                     int64_t ldb, float beta, float *c, int64_t ldc)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float *at = c + i * ldc + j;
            if (alpha == 0.0f || k == 0) {
                *at = beta == 0.0f ? 0.0f : beta * *at;
                continue;
            }
            double sum = 0.0;
            for (int64_t p = 0; p < k; p++)
                sum += (double)a[i * lda + p] * (double)b[p * ldb + j];
            double value = (double)alpha * sum;
            *at = (float)(beta == 0.0f ? value : value + (double)beta * (double)*at);
        }
}
