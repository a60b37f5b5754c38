/* reference.c - dot in plain C: the first rung that the bench shows. Double for floats, long double for doubles. */
#include "margay/kernels.h"

float mg_ref_dot_f32(int64_t n, const float *x, const float *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i] * y[i];
    return (float)sum;
}

double mg_ref_dot_f64(int64_t n, const double *x, const double *y)
{
    long double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (long double)x[i] * y[i];
    return (double)sum;
}
