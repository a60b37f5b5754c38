/* reference.c - scan in plain C: one loop, one accumulator, double for floats. y may be x. */
#include "margay/kernels.h"

void mg_ref_scan_i32(enum mg_scan_kind kind, int64_t n, const int32_t *x, int32_t *y)
{
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t before = sum;
        sum += (uint32_t)x[i];
        y[i] = (int32_t)(kind == MG_SCAN_EXCLUSIVE ? before : sum);
    }
}

void mg_ref_scan_f32(enum mg_scan_kind kind, int64_t n, const float *x, float *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double before = sum;
        sum += x[i];
        y[i] = (float)(kind == MG_SCAN_EXCLUSIVE ? before : sum);
    }
}
