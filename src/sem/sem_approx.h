/* sem_approx.h - the approximate instructions.
 *
 * An H100 has tables for these; PTX promises error bounds and special values. Here each is computed in double by a
 * series that is good to about 2^-30 and rounded once, so that it is inside the bounds, and is the same on every
 * machine: only + - * /, roots and rounding are used, and the build forbids fusing them (-ffp-contract=off).
 * Bounds and what is measured against them: docs/semantics.md.
 */
#ifndef MG_SEM_APPROX_H
#define MG_SEM_APPROX_H
#include "sem_half.h"

/* ---- series in double ---- */
/* 2^x for -1000 < x < 1000. */
static inline double sem__exp2(double x)
{
    double shifted = x + 0x1.8p52; /* its low bits are the integer nearest x */
    double f = x - (shifted - 0x1.8p52);
    double p = 1.3215486790144307e-06; /* ln2^k / k! */
    p = p * f + 1.5252733804059841e-05;
    p = p * f + 1.5403530393381609e-04;
    p = p * f + 1.3333558146428443e-03;
    p = p * f + 9.6181291076284772e-03;
    p = p * f + 5.5504108664821580e-02;
    p = p * f + 2.4022650695910072e-01;
    p = p * f + 6.9314718055994531e-01;
    p = p * f + 1.0;
    uint64_t scale = (sem__bits64(shifted) + 1023) << 52;
    return p * sem__f64(scale);
}
/* log2 of a normal double: m in [sqrt(1/2), sqrt(2)), and 2/ln2 * atanh((m-1)/(m+1)). */
static inline double sem__log2(double x)
{
    uint64_t u = sem__bits64(x);
    uint32_t up = (uint32_t)(u >> 32) - 0x3fe6a09eu;
    int32_t k = sem__s32(up) >> 20;
    double m = sem__f64(u - ((uint64_t)(uint32_t)k << 52));
    double y = (m - 1.0) / (m + 1.0), z = y * y;
    double p = 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    p = p * z + 1.0;
    return (double)k + y * p * 2.8853900817779268;
}
/* sin(x + quarters * pi/2) of an f32 value. x * 2/pi is taken in two parts, the first of 29 bits so that its product
 * with 24 bits is exact; beyond |x| of 2^40 the angle means nothing any more, here as on the hardware. */
static inline double sem__sin(double x, double quarters)
{
    double hi = x * 0x1.45f306e000000p-1, lo = x * -0x1.b1bbead603d8bp-32;
    double n = __builtin_rint(hi);
    double f = (hi - n) + lo;
    f = f > 0.75 ? 0.75 : f < -0.75 ? -0.75 : f;
    double a = f * 1.5707963267948966, z = a * a;
    double s = -2.5052108385441719e-08; /* 1/k!, alternating */
    s = s * z + 2.7557319223985891e-06;
    s = s * z - 1.9841269841269841e-04;
    s = s * z + 8.3333333333333333e-03;
    s = s * z - 1.6666666666666667e-01;
    s = a + a * z * s;
    double c = 2.0876756987868099e-09;
    c = c * z - 2.7557319223985891e-07;
    c = c * z + 2.4801587301587302e-05;
    c = c * z - 1.3888888888888889e-03;
    c = c * z + 4.1666666666666667e-02;
    c = c * z - 0.5;
    c = c * z + 1.0;
    n += quarters;
    double q = n - 4.0 * __builtin_floor(n * 0.25);
    double r = ((q == 1.0) | (q == 3.0)) ? c : s;
    return q >= 2.0 ? -r : r;
}
static inline double sem__tanh(double x)
{
    double z = x * x;
    double small = x * (1.0 + z * (-1.0 / 3 + z * (2.0 / 15 - z * (17.0 / 315))));
    double w = x > 20.0 ? 20.0 : x < -20.0 ? -20.0 : x;
    double e = sem__exp2(w * 2.8853900817779268);
    double big = (e - 1.0) / (e + 1.0);
    return z < 0x1p-10 ? small : big;
}

/* ---- f32 ---- */
static inline uint32_t sem_rcp_approx_f32(uint32_t a, uint32_t mode)
{
    mode &= SEM_FTZ;
    return sem__out32(sem__bits32(1.0f / sem__f32(sem__ftz32(a, mode))), mode);
}
static inline uint32_t sem_sqrt_approx_f32(uint32_t a, uint32_t mode)
{
    mode &= SEM_FTZ;
    return sem__out32(sem__bits32(__builtin_sqrtf(sem__f32(sem__ftz32(a, mode)))), mode);
}
static inline uint32_t sem_rsqrt_approx_f32(uint32_t a, uint32_t mode)
{
    mode &= SEM_FTZ;
    double x = (double)sem__f32(sem__ftz32(a, mode));
    return sem__out32(sem__bits32((float)(1.0 / __builtin_sqrt(x))), mode);
}
static inline uint32_t sem_sin_approx_f32(uint32_t a, uint32_t mode)
{
    mode &= SEM_FTZ;
    a = sem__ftz32(a, mode);
    uint32_t r = sem__bits32((float)sem__sin((double)sem__f32(a), 0.0));
    r = (a & 0x7fffffffu) == 0 ? a : r;
    r = (a & 0x7fffffffu) >= 0x7f800000u ? 0x7fffffffu : r;
    return sem__out32(r, mode);
}
static inline uint32_t sem_cos_approx_f32(uint32_t a, uint32_t mode)
{
    mode &= SEM_FTZ;
    a = sem__ftz32(a, mode);
    uint32_t r = sem__bits32((float)sem__sin((double)sem__f32(a), 1.0));
    r = (a & 0x7fffffffu) >= 0x7f800000u ? 0x7fffffffu : r;
    return sem__out32(r, mode);
}
static inline uint32_t sem_lg2_approx_f32(uint32_t a, uint32_t mode)
{
    mode &= SEM_FTZ;
    a = sem__ftz32(a, mode);
    uint32_t positive = a != 0 && a < 0x7f800000u;
    uint32_t r = sem__bits32((float)sem__log2((double)sem__f32(positive ? a : 0x3f800000u)));
    r = a == 0x7f800000u ? a : r;
    r = (a & 0x7fffffffu) == 0 ? 0xff800000u : r;
    r = a > 0x80000000u || sem__isnan32(a) ? 0x7fffffffu : r;
    return sem__out32(r, mode);
}
static inline uint32_t sem_ex2_approx_f32(uint32_t a, uint32_t mode)
{
    mode &= SEM_FTZ;
    a = sem__ftz32(a, mode);
    double x = (double)sem__f32(a);
    double w = x < 200.0 ? x : 200.0;
    w = w > -200.0 ? w : -200.0;
    uint32_t r = sem__bits32((float)sem__exp2(w));
    return sem__out32(sem__isnan32(a) ? a : r, mode);
}
static inline uint32_t sem_tanh_approx_f32(uint32_t a, uint32_t mode)
{
    SEM__UNUSED_MODE;
    uint32_t r = sem__bits32((float)sem__tanh((double)sem__f32(a)));
    r = (a & 0x7fffffffu) == 0 ? a : r;
    return sem__isnan32(a) ? 0x7fffffffu : r;
}
static inline uint32_t sem_div_full_f32(uint32_t a, uint32_t b, uint32_t mode)
{
    return sem_div_f32(a, b, mode & SEM_FTZ);
}
/* a * (1/b), where 1/b of the largest quarter of b's range counts as zero (PTX ISA, div). */
static inline uint32_t sem_div_approx_f32(uint32_t a, uint32_t b, uint32_t mode)
{
    mode &= SEM_FTZ;
    a = sem__ftz32(a, mode);
    b = sem__ftz32(b, mode);
    uint32_t huge = (b & 0x7fffffffu) > 0x7e800000u && (b & 0x7fffffffu) < 0x7f800000u;
    float x = sem__f32(a), y = sem__f32(b);
    float q = huge ? x * sem__f32(b & 0x80000000u) : x / y;
    return sem__out32(sem__bits32(q), mode);
}

/* ---- f64: the .ftz forms look at the upper half of the operand and give an upper half ---- */
static inline uint64_t sem__upper64(uint64_t r, uint64_t special, uint32_t is_special)
{
    r &= 0xffffffff00000000u;
    r = (r & 0x7ff0000000000000u) == 0 ? r & 0x8000000000000000u : r;
    return is_special ? special : r;
}
static inline uint64_t sem_rcp_approx_ftz_f64(uint64_t a, uint32_t mode)
{
    SEM__UNUSED_MODE;
    uint64_t x = a & 0xffffffff00000000u;
    x = (x & 0x7ff0000000000000u) == 0 ? x & 0x8000000000000000u : x;
    return sem__upper64(sem__bits64(1.0 / sem__f64(x)), 0x7fffffff00000000u, sem__isnan64(x));
}
static inline uint64_t sem_rsqrt_approx_ftz_f64(uint64_t a, uint32_t mode)
{
    SEM__UNUSED_MODE;
    uint64_t x = a & 0xffffffff00000000u;
    x = (x & 0x7ff0000000000000u) == 0 ? x & 0x8000000000000000u : x;
    uint32_t nan = sem__isnan64(x) | (x > 0x8000000000000000u);
    uint64_t r = sem__bits64(1.0 / __builtin_sqrt(sem__f64(x)));
    return sem__upper64(r, 0x7fffffff00000000u, nan);
}
static inline uint64_t sem_rsqrt_approx_f64(uint64_t a, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return sem__out64(sem__bits64(1.0 / __builtin_sqrt(sem__f64(a))), a, 0, 0);
}

/* ---- halves: the f32 result, rounded ---- */
static inline uint16_t sem_ex2_approx_f16(uint16_t a, uint32_t mode)
{
    mode &= SEM_FTZ;
    return sem__out_f16(sem_ex2_approx_f32(sem__f16_to_f32(sem__ftz16(a, mode)), 0), mode);
}
static inline uint16_t sem_ex2_approx_ftz_bf16(uint16_t a, uint32_t mode)
{
    SEM__UNUSED_MODE;
    uint16_t r = sem__f32_to_bf16(sem_ex2_approx_f32(sem__bf16_to_f32(a), SEM_FTZ), 0);
    return (r & 0x7f80u) == 0 ? (uint16_t)(r & 0x8000u) : r;
}
static inline uint16_t sem_tanh_approx_f16(uint16_t a, uint32_t mode)
{
    return sem__out_f16(sem_tanh_approx_f32(sem__f16_to_f32(a), mode), 0);
}
static inline uint16_t sem_tanh_approx_bf16(uint16_t a, uint32_t mode)
{
    return sem__f32_to_bf16(sem_tanh_approx_f32(sem__bf16_to_f32(a), mode), 0);
}
SEM__X2_1(ex2_approx, f16)
SEM__X2_1(ex2_approx_ftz, bf16)
SEM__X2_1(tanh_approx, f16)
SEM__X2_1(tanh_approx, bf16)
#endif
