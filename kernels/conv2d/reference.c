/* reference.c - conv2d in plain C: each element summed in double and rounded once; outside, a tap meets a zero. */
#include "margay/kernels.h"

void mg_ref_conv2d_f32(int64_t rows, int64_t cols, const float *x, int64_t ldx, int fr, int fc, const float *filter,
                       float *y, int64_t ldy)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            double sum = 0.0;
            for (int p = 0; p < fr; p++)
                for (int q = 0; q < fc; q++) {
                    int64_t row = i + p - fr / 2, col = j + q - fc / 2;
                    float at = row >= 0 && row < rows && col >= 0 && col < cols ? x[row * ldx + col] : 0.0f;
                    sum += (double)filter[p * fc + q] * (double)at;
                }
            y[i * ldy + j] = (float)sum;
        }
}
