/* gemm.cu - the public calls of gemm: checks, what needs no product, the choice of the rung. */
#include "gemm/gemm_priv.h"

static const struct mg_variant variants[] = {
#define RUNG(id, name, idea, gain) {name, idea, gain},
#include "gemm/gemm.def"
#undef RUNG
};

static enum mg_kernels_status (*const rungs[])(cudaStream_t, const struct gemm_args *) = {
#define RUNG(id, name, idea, gain) mg__gemm_##id,
#include "gemm/gemm.def"
#undef RUNG
};

MG_API const struct mg_variant *mg_gemm_variants(size_t *count)
{
    *count = GEMM_RUNGS;
    return variants;
}

/* C = beta C, without reading it when beta is 0. */
static __global__ void scale(gemm_args g)
{
    int64_t tiles_n = (g.n + 31) / 32;
    int64_t col = blockIdx.x % tiles_n * 32 + threadIdx.x;
    int64_t row = blockIdx.x / tiles_n * 8 + threadIdx.y;
    if (row < g.m && col < g.n) {
        float *at = g.c + row * g.ldc + col;
        *at = g.beta == 0.0f ? 0.0f : g.beta * *at;
    }
}

static bool overlap(const float *p, int64_t rows, int64_t cols, int64_t ld, const float *c, int64_t c_rows, int64_t c_cols,
                    int64_t ldc)
{
    return p < c + (c_rows - 1) * ldc + c_cols && c < p + (rows - 1) * ld + cols;
}

MG_API enum mg_kernels_status mg_gemm_f32(struct CUstream_st *stream, int variant, int64_t m, int64_t n, int64_t k,
                                          float alpha, const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                                          float *c, int64_t ldc)
{
    if (variant < MG_BEST || variant >= GEMM_RUNGS)
        return MG_KERNELS_ERR_VARIANT;
    if (m < 0 || n < 0 || k < 0 || lda < k || ldb < n || ldc < n)
        return MG_KERNELS_ERR_INVALID;
    if (m == 0 || n == 0)
        return MG_KERNELS_OK;
    if (!c || reinterpret_cast<uintptr_t>(c) % 4)
        return MG_KERNELS_ERR_INVALID;
    struct gemm_args args = {m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};
    if (alpha == 0.0f || k == 0) {
        if (beta == 1.0f)
            return MG_KERNELS_OK;
        return mg__kernels_launch(scale, gemm_grid(&args, 8, 32), dim3(32, 8), 0, stream, args);
    }
    if (!a || !b || reinterpret_cast<uintptr_t>(a) % 4 || reinterpret_cast<uintptr_t>(b) % 4 ||
        overlap(a, m, k, lda, c, m, n, ldc) || overlap(b, k, n, ldb, c, m, n, ldc))
        return MG_KERNELS_ERR_INVALID;
    return rungs[variant == MG_BEST ? GEMM_best : variant](stream, &args);
}
