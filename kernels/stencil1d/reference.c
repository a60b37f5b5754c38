/* reference.c - stencil1d in plain C: each element summed in double and rounded once;
 * outside, a weight meets a zero. */
#include "margay/kernels.h"

void mg_ref_stencil1d_f32(int radius, const float *weights, int64_t n, const float *x, float *y)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int d = -radius; d <= radius; d++)
            sum += (double)weights[radius + d] * (double)(i + d >= 0 && i + d < n ? x[i + d] : 0.0f);
        y[i] = (float)sum;
    }
}
