/* reference.c - lut in plain C, one thread: what every rung is held to. */
#include "margay/kernels.h"

void mg_ref_lut_u8(int64_t n, const uint8_t *x, const uint8_t table[256], uint8_t *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = table[x[i]];
}
