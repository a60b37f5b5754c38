/* gemm_priv.h - what the rungs of gemm share: the arguments, how an element of C is written, the launch functions. */
#ifndef MG_GEMM_PRIV_H
#define MG_GEMM_PRIV_H
#include "common/kernels_priv.h"

struct gemm_args {
    int64_t m, n, k;
    float alpha;
    const float *a;
    int64_t lda;
    const float *b;
    int64_t ldb;
    float beta;
    float *c;
    int64_t ldc;
};

enum gemm_rung {
#define RUNG(id, name, idea, gain) GEMM_##id,
#include "gemm/gemm.def"
#undef RUNG
    GEMM_RUNGS
};

/* Every rung: enqueues the product for arguments that gemm.cu has checked; m, n and k are
 * at least 1, alpha is not 0. */
#define RUNG(id, name, idea, gain) \
    enum mg_kernels_status mg__gemm_##id(cudaStream_t stream, const struct gemm_args *args);
#include "gemm/gemm.def"
#undef RUNG

/* Tiles of `rows` x `cols` in C. Grids are one-dimensional, since the other dimensions end at 65,535. */
static inline int64_t gemm_tiles(int64_t size, int64_t tile)
{
    return (size + tile - 1) / tile;
}
static inline dim3 gemm_grid(const struct gemm_args *args, int64_t rows, int64_t cols)
{
    return dim3(static_cast<unsigned>(gemm_tiles(args->m, rows) * gemm_tiles(args->n, cols)));
}
static inline bool gemm_aligned(const void *p, int64_t ld)
{
    return reinterpret_cast<uintptr_t>(p) % 16 == 0 && ld % 4 == 0;
}

#ifdef __CUDACC__
/* The new value of an element of C; with beta 0 the old one is not read. */
__device__ static inline float gemm_value(const gemm_args &g, float sum, const float *old)
{
    float value = g.alpha * sum;
    return g.beta == 0.0f ? value : fmaf(g.beta, *old, value);
}
__device__ static inline float4 gemm_load4(const float *at)
{
    return *reinterpret_cast<const float4 *>(at);
}
/* Four neighbours, which one 128-bit access moves. */
__device__ static inline void gemm_store4(const gemm_args &g, float *at, float x, float y, float z, float w)
{
    float4 value = make_float4(g.alpha * x, g.alpha * y, g.alpha * z, g.alpha * w);
    if (g.beta != 0.0f) {
        float4 old = gemm_load4(at);
        value = make_float4(fmaf(g.beta, old.x, value.x), fmaf(g.beta, old.y, value.y), fmaf(g.beta, old.z, value.z),
                            fmaf(g.beta, old.w, value.w));
    }
    *reinterpret_cast<float4 *>(at) = value;
}
/* The elements row, col … col + 3 of a matrix of rows x cols, 0 outside; `vector` when rows begin at 16 bytes. */
template <bool VECTOR>
__device__ static inline float4 gemm_fetch4(const float *p, int64_t ld, int64_t row, int64_t col, int64_t rows,
                                            int64_t cols)
{
    const float *at = p + row * ld + col;
    if (VECTOR && row < rows && col + 4 <= cols)
        return gemm_load4(at);
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row < rows) {
        if (col < cols)
            v.x = at[0];
        if (col + 1 < cols)
            v.y = at[1];
        if (col + 2 < cols)
            v.z = at[2];
        if (col + 3 < cols)
            v.w = at[3];
    }
    return v;
}
/* A thread's 8x8 elements of C: two by two groups of 4x4, at rows row + i + 4 groups of
 * `row_step`, columns likewise. */
template <bool VECTOR, int TM, int TN>
__device__ static inline void gemm_put(const gemm_args &g, const float (&sum)[TM][TN], int64_t row, int row_step,
                                       int64_t col, int col_step)
{
#pragma unroll
    for (int i = 0; i < TM; i++) {
        int64_t r = row + i / 4 * row_step + i % 4;
        if (r >= g.m)
            break;
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            int64_t s = col + j / 4 * col_step;
            float *at = g.c + r * g.ldc + s;
            if (VECTOR && s + 4 <= g.n) {
                gemm_store4(g, at, sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
            } else {
#pragma unroll
                for (int q = 0; q < 4; q++)
                    if (s + q < g.n)
                        at[q] = gemm_value(g, sum[i][j + q], at + q);
            }
        }
    }
}
#endif
#endif
