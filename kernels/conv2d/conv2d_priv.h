/* conv2d_priv.h - what the rungs of conv2d share: the arguments, the filter as a parameter, how x is read outside.
 *
 * The filter travels as a parameter of the kernel: it is read before the call returns, needs no allocation, and calls
 * in several threads do not meet in it, as they would in a __constant__ variable. Parameters lie in the constant bank.
 */
#ifndef MG_CONV2D_PRIV_H
#define MG_CONV2D_PRIV_H
#include "common/kernels_priv.h"

struct conv_args {
    int64_t rows, cols;
    const float *x;
    int64_t ldx;
    int fr, fc;
    float *y;
    int64_t ldy;
};
struct conv_filter { /* row major, dense */
    float f[MG_CONV_MAX * MG_CONV_MAX];
};

enum conv_rung {
#define RUNG(id, name, idea, gain) CONV_##id,
#include "conv2d/conv2d.def"
#undef RUNG
    CONV_RUNGS
};

/* Every rung: enqueues the convolution for arguments that conv2d.cu has checked; rows and cols are at least 1. */
#define RUNG(id, name, idea, gain)                                                            \
    enum mg_kernels_status mg__conv2d_##id(cudaStream_t stream, const struct conv_args *args, \
                                           const struct conv_filter *filter);
#include "conv2d/conv2d.def"
#undef RUNG

/* Tiles of rows x cols; grids are one-dimensional, since the other dimensions end at 65,535. */
static inline dim3 conv_grid(const struct conv_args *args, int64_t rows, int64_t cols)
{
    return dim3(static_cast<unsigned>((args->rows + rows - 1) / rows * ((args->cols + cols - 1) / cols)));
}

#ifdef __CUDACC__
__device__ static inline float conv_at(const conv_args &g, int64_t row, int64_t col)
{
    return row >= 0 && row < g.rows && col >= 0 && col < g.cols ? g.x[row * g.ldx + col] : 0.0f;
}
#endif
#endif
