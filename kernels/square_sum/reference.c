/* reference.c - square_sum in plain C: the first rung that the bench shows. Double for floats. */
#include "margay/kernels.h"

int32_t mg_ref_square_sum_i32(int64_t n, const int32_t *x)
{
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (uint32_t)x[i] * (uint32_t)x[i];
    return (int32_t)sum;
}

float mg_ref_square_sum_f32(int64_t n, const float *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return (float)sum;
}
