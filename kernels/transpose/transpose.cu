/* transpose.cu - the public calls of transpose: the checks, and the choice of the rung. MG_BEST is the last rung, which
 * itself falls back on "swizzled" where the matrices are not aligned for 16-byte accesses. */
#include "transpose/transpose_priv.h"

static const struct mg_variant variants[] = {
#define RUNG(id, name, idea, gain) {name, idea, gain},
#include "transpose/transpose.def"
#undef RUNG
};
static enum mg_kernels_status (*const rungs[])(const struct mg__transpose *) = {
#define RUNG(id, name, idea, gain) mg__transpose_##id,
#include "transpose/transpose.def"
#undef RUNG
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

MG_API const struct mg_variant *mg_transpose_variants(size_t *count)
{
    *count = RUNGS;
    return variants;
}

/* Does any of the `rows` rows of `row` bytes, `pitch` bytes apart from `matrix` on, reach into [begin, end)? */
static bool touches(uintptr_t matrix, int64_t rows, uintptr_t row, uintptr_t pitch, uintptr_t begin, uintptr_t end)
{
    if (matrix >= end)
        return false;
    /* The last row that begins before `end`: the rows before it end earlier. */
    uintptr_t last = (end - 1 - matrix) / pitch;
    if (last > static_cast<uintptr_t>(rows - 1))
        last = static_cast<uintptr_t>(rows - 1);
    return matrix + last * pitch + row > begin;
}

/* Elements of x and y in the same place. Seen for certain where one of them has no gaps between its rows; two matrices
 * that share a pitched buffer side by side are told apart from their first rows alone. */
static bool overlap(const struct mg__transpose *call)
{
    uintptr_t size = static_cast<uintptr_t>(call->size);
    uintptr_t x = reinterpret_cast<uintptr_t>(call->x), y = reinterpret_cast<uintptr_t>(call->y);
    uintptr_t row_x = static_cast<uintptr_t>(call->cols) * size, pitch_x = static_cast<uintptr_t>(call->ldx) * size;
    uintptr_t row_y = static_cast<uintptr_t>(call->rows) * size, pitch_y = static_cast<uintptr_t>(call->ldy) * size;
    if (call->ldx == call->cols || call->rows == 1)
        return touches(y, call->cols, row_y, pitch_y, x, x + static_cast<uintptr_t>(call->rows) * row_x);
    if (call->ldy == call->rows || call->cols == 1)
        return touches(x, call->rows, row_x, pitch_x, y, y + static_cast<uintptr_t>(call->cols) * row_y);
    return x < y + row_y && y < x + row_x;
}

static enum mg_kernels_status transpose(struct CUstream_st *stream, int variant, int64_t rows, int64_t cols,
                                        const void *x, int64_t ldx, void *y, int64_t ldy, int size)
{
    if (variant < MG_BEST || variant >= RUNGS)
        return MG_KERNELS_ERR_VARIANT;
    if (rows < 0 || cols < 0 || ldx < cols || ldy < rows)
        return MG_KERNELS_ERR_INVALID;
    if (rows == 0 || cols == 0)
        return MG_KERNELS_OK;
    struct mg__transpose call = {stream, rows, cols, x, ldx, y, ldy, size};
    uintptr_t low_bits = reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y);
    if (!x || !y || low_bits % static_cast<uintptr_t>(size) != 0 || ldx > INT64_MAX / size / rows ||
        ldy > INT64_MAX / size / cols || overlap(&call))
        return MG_KERNELS_ERR_INVALID;
    return rungs[variant == MG_BEST ? RUNGS - 1 : variant](&call);
}

MG_API enum mg_kernels_status mg_transpose_b32(struct CUstream_st *stream, int variant, int64_t rows, int64_t cols,
                                               const void *x, int64_t ldx, void *y, int64_t ldy)
{
    return transpose(stream, variant, rows, cols, x, ldx, y, ldy, 4);
}

MG_API enum mg_kernels_status mg_transpose_b64(struct CUstream_st *stream, int variant, int64_t rows, int64_t cols,
                                               const void *x, int64_t ldx, void *y, int64_t ldy)
{
    return transpose(stream, variant, rows, cols, x, ldx, y, ldy, 8);
}
