/* reference.c - transpose in plain C, one thread: what every rung is held to. */
#include "margay/kernels.h"

void mg_ref_transpose_b32(int64_t rows, int64_t cols, const void *x, int64_t ldx, void *y, int64_t ldy)
{
    const uint32_t *from = x;
    uint32_t *to = y;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            to[j * ldy + i] = from[i * ldx + j];
}

void mg_ref_transpose_b64(int64_t rows, int64_t cols, const void *x, int64_t ldx, void *y, int64_t ldy)
{
    const uint64_t *from = x;
    uint64_t *to = y;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            to[j * ldy + i] = from[i * ldx + j];
}
