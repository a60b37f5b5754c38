/* transpose_priv.h - what the rungs of transpose share: a call's arguments, checked, and
 * how a grid covers the matrix. */
#ifndef MG_TRANSPOSE_PRIV_H
#define MG_TRANSPOSE_PRIV_H
#include "common/kernels_priv.h"

struct mg__transpose {
    cudaStream_t stream;
    int64_t rows, cols; /* of x; both at least 1 */
    const void *x;
    int64_t ldx;
    void *y;
    int64_t ldy;
    int size; /* of an element in bytes: 4 or 8 */
};

#define RUNG(id, name, idea, gain) enum mg_kernels_status mg__transpose_##id(const struct mg__transpose *call);
#include "transpose/transpose.def"
#undef RUNG

/* Blocks of `width` columns and `height` rows, as far as a grid goes: kernels go on in steps of the grid. */
static inline dim3 mg__transpose_grid(int64_t rows, int64_t cols, int height, int width)
{
    return dim3(mg__kernels_grid(cols, width, INT32_MAX), mg__kernels_grid(rows, height, 65535));
}

/* Launches a kernel for 32x32 tiles that is instantiated for both element types, with 32x8 threads. */
#define MG__TRANSPOSE_LAUNCH(kernel, call)                                                                             \
    ((call)->size == 4                                                                                                 \
         ? mg__kernels_launch(kernel<uint32_t>, mg__transpose_grid((call)->rows, (call)->cols, 32, 32), dim3(32, 8),   \
                              0, (call)->stream, (call)->rows, (call)->cols, static_cast<const uint32_t *>((call)->x), \
                              (call)->ldx, static_cast<uint32_t *>((call)->y), (call)->ldy)                            \
         : mg__kernels_launch(kernel<uint64_t>, mg__transpose_grid((call)->rows, (call)->cols, 32, 32), dim3(32, 8),   \
                              0, (call)->stream, (call)->rows, (call)->cols, static_cast<const uint64_t *>((call)->x), \
                              (call)->ldx, static_cast<uint64_t *>((call)->y), (call)->ldy))
#endif
