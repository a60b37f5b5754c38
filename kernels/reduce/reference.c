/* reference.c - reduce in plain C: one loop, one accumulator, double for floats. */
#include "margay/kernels.h"

#include <math.h>

int32_t mg_ref_reduce_i32(enum mg_reduce_op op, int64_t n, const int32_t *x)
{
    uint32_t sum = 0;
    int32_t least = INT32_MAX, most = INT32_MIN;
    for (int64_t i = 0; i < n; i++) {
        sum += (uint32_t)x[i];
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    return op == MG_REDUCE_SUM ? (int32_t)sum : op == MG_REDUCE_MIN ? least : most;
}

/* The smaller of two of which either may be NaN, which is left out; -0 is smaller than +0, as on the device. */
static double less(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    return a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}

double mg_ref_reduce_f64(enum mg_reduce_op op, int64_t n, const double *x)
{
    if (op == MG_REDUCE_SUM) {
        long double sum = 0; /* more than double where the machine has more */
        for (int64_t i = 0; i < n; i++)
            sum += x[i];
        return (double)sum;
    }
    if (n == 0)
        return op == MG_REDUCE_MIN ? INFINITY : -INFINITY;
    double result = NAN, sign = op == MG_REDUCE_MIN ? 1 : -1; /* max is min of the negated, negated */
    for (int64_t i = 0; i < n; i++)
        result = less(result, sign * x[i]);
    return sign * result;
}

float mg_ref_reduce_f32(enum mg_reduce_op op, int64_t n, const float *x)
{
    if (op == MG_REDUCE_SUM) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += x[i];
        return (float)sum;
    }
    if (n == 0)
        return op == MG_REDUCE_MIN ? INFINITY : -INFINITY;
    double result = NAN, sign = op == MG_REDUCE_MIN ? 1 : -1;
    for (int64_t i = 0; i < n; i++)
        result = less(result, sign * x[i]);
    return (float)(sign * result);
}
