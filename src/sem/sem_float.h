/* sem_float.h - f32 and f64 arithmetic.
 *
 * f32: a NaN result is the one NaN 0x7fffffff. Rounding to nearest is the host's operator. The directed roundings of
 * add, mul and fma go through double rounded to odd and stay branch-free (libdevice's expf is full of fma.rm).
 * f64: a NaN operand is passed on, made quiet; an invalid operation gives 0xfff8000000000000. Of several NaN operands
 * the hardware prefers b, then c, then a (division: a); docs/semantics.md has the measurements.
 */
#ifndef MG_SEM_FLOAT_H
#define MG_SEM_FLOAT_H
#include "sem_int.h"
#include "sem_soft.h"

/* ---- f32: add, sub, mul, fma ---- */
/* Adds doubles that came from f32 (or are an exact product of two), rounding once, in any direction, to f32. */
static inline uint32_t sem__add_f32_directed(double x, double y, uint32_t mode)
{
    double s = sem__add_odd(x, y);
    uint32_t r = sem__narrow64(sem__bits64(s), mode, 23, 127, 31);
    /* An exact zero from terms of different sign is -0 when rounding down, +0 otherwise. */
    uint32_t differ = (uint32_t)((sem__bits64(x) ^ sem__bits64(y)) >> 63);
    uint32_t zero = (mode & SEM_RND_MASK) == SEM_RM ? 0x80000000u : 0;
    r = (mode & SEM_FTZ) && sem__tiny32(s, mode) ? r & 0x80000000u : r;
    return s == 0.0 && differ ? zero : r;
}
/* Rounding to nearest alone: the same product with exponents 24 higher tells what .ftz flushes (see sem__tiny32). An
 * overflow of the higher one is no matter: its comparison is false, and the product is far from tiny. */
static inline uint32_t sem__flush_if(uint32_t r, float higher, uint32_t mode)
{
    return (mode & SEM_FTZ) && __builtin_fabsf(higher) < 0x1p-102f ? r & 0x80000000u : r;
}
static inline uint32_t sem_add_f32(uint32_t a, uint32_t b, uint32_t mode)
{
    a = sem__ftz32(a, mode);
    b = sem__ftz32(b, mode);
    uint32_t r;
    if (mode & SEM_RND_MASK)
        r = sem__add_f32_directed((double)sem__f32(a), (double)sem__f32(b), mode);
    else
        r = sem__bits32(sem__f32(a) + sem__f32(b));
    return sem__out32(r, mode);
}
static inline uint32_t sem_sub_f32(uint32_t a, uint32_t b, uint32_t mode)
{
    return sem_add_f32(a, b ^ 0x80000000u, mode);
}
static inline uint32_t sem_mul_f32(uint32_t a, uint32_t b, uint32_t mode)
{
    a = sem__ftz32(a, mode);
    b = sem__ftz32(b, mode);
    uint32_t r;
    if (mode & SEM_RND_MASK) {
        double p = (double)sem__f32(a) * (double)sem__f32(b);
        r = sem__narrow64(sem__bits64(p), mode, 23, 127, 31);
        r = (mode & SEM_FTZ) && sem__tiny32(p, mode) ? r & 0x80000000u : r;
    } else {
        r = sem__bits32(sem__f32(a) * sem__f32(b));
        r = sem__flush_if(r, sem__f32(a) * 0x1p24f * sem__f32(b), mode);
    }
    return sem__out32(r, mode);
}
static inline uint32_t sem_fma_f32(uint32_t a, uint32_t b, uint32_t c, uint32_t mode)
{
    a = sem__ftz32(a, mode);
    b = sem__ftz32(b, mode);
    c = sem__ftz32(c, mode);
    uint32_t r;
    if (mode & SEM_RND_MASK) {
        r = sem__add_f32_directed((double)sem__f32(a) * (double)sem__f32(b), (double)sem__f32(c), mode);
    } else {
#ifdef __FMA__
        r = sem__bits32(__builtin_fmaf(sem__f32(a), sem__f32(b), sem__f32(c)));
        if (mode & SEM_FTZ)
            r = sem__flush_if(r, __builtin_fmaf(sem__f32(a) * 0x1p24f, sem__f32(b), sem__f32(c) * 0x1p24f), mode);
#else
        /* The product of two f32 is exact in double; rounded to odd, the sum survives the second rounding. */
        double s = sem__add_odd((double)sem__f32(a) * (double)sem__f32(b), (double)sem__f32(c));
        r = sem__bits32((float)s);
        r = (mode & SEM_FTZ) && sem__tiny32(s, SEM_RN) ? r & 0x80000000u : r;
#endif
    }
    return sem__out32(r, mode);
}
static inline uint32_t sem_mad_f32(uint32_t a, uint32_t b, uint32_t c, uint32_t mode)
{
    return sem_fma_f32(a, b, c, mode);
}

/* ---- f32: division, reciprocal, root ---- */
static inline uint32_t sem_div_f32(uint32_t a, uint32_t b, uint32_t mode)
{
    a = sem__ftz32(a, mode);
    b = sem__ftz32(b, mode);
    uint32_t r = sem__bits32(sem__f32(a) / sem__f32(b));
    if (mode & SEM_RND_MASK) {
        uint32_t x = a & 0x7fffffffu, y = b & 0x7fffffffu;
        if (x != 0 && x < 0x7f800000u && y != 0 && y < 0x7f800000u)
            r = (uint32_t)sem__soft_div((double)sem__f32(a), (double)sem__f32(b), mode, 23, 127);
    }
    if (mode & SEM_FTZ)
        r = sem__tiny32((double)sem__f32(a) / (double)sem__f32(b), mode) ? r & 0x80000000u : r;
    return sem__out32(r, mode);
}
static inline uint32_t sem_rcp_f32(uint32_t a, uint32_t mode)
{
    return sem_div_f32(0x3f800000u, a, mode);
}
static inline uint32_t sem_sqrt_f32(uint32_t a, uint32_t mode)
{
    a = sem__ftz32(a, mode);
    uint32_t r = sem__bits32(__builtin_sqrtf(sem__f32(a)));
    if ((mode & SEM_RND_MASK) && a != 0 && a < 0x7f800000u)
        r = (uint32_t)sem__soft_sqrt((double)sem__f32(a), mode, 23, 127);
    return sem__out32(r, mode);
}

/* ---- f32: sign, minimum, maximum ---- */
static inline uint32_t sem_abs_f32(uint32_t a, uint32_t mode)
{
    return sem__isnan32(a) ? 0x7fffffffu : sem__ftz32(a, mode) & 0x7fffffffu;
}
static inline uint32_t sem_neg_f32(uint32_t a, uint32_t mode)
{
    return sem__isnan32(a) ? 0x7fffffffu : sem__ftz32(a, mode) ^ 0x80000000u;
}
static inline uint32_t sem_copysign_f32(uint32_t a, uint32_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return (a & 0x80000000u) | (b & 0x7fffffffu);
}
/* Bits in an order that signed integers compare: -0 before +0. */
static inline int32_t sem__order32(uint32_t a)
{
    return sem__s32(a ^ ((uint32_t)(sem__s32(a) >> 31) & 0x7fffffffu));
}
/* One NaN loses against a number, unless .NaN says that it wins. .xorsign.abs: compare magnitudes, sign is the xor. */
static inline uint32_t sem__minmax_f32(uint32_t a, uint32_t b, uint32_t max, uint32_t mode)
{
    uint32_t sign = (a ^ b) & 0x80000000u;
    a = sem__ftz32(a, mode);
    b = sem__ftz32(b, mode);
    a = (mode & SEM_XORSIGN_ABS) ? a & 0x7fffffffu : a;
    b = (mode & SEM_XORSIGN_ABS) ? b & 0x7fffffffu : b;
    uint32_t na = sem__isnan32(a), nb = sem__isnan32(b);
    uint32_t less = sem__order32(a) < sem__order32(b);
    uint32_t r = (less ^ max) ? a : b;
    r = na ? b : r;
    r = nb ? a : r;
    uint32_t nan = (mode & SEM_NAN) ? na | nb : na & nb;
    r = (mode & SEM_XORSIGN_ABS) ? (r & 0x7fffffffu) | sign : r;
    return nan ? 0x7fffffffu : r;
}
static inline uint32_t sem_min_f32(uint32_t a, uint32_t b, uint32_t mode)
{
    return sem__minmax_f32(a, b, 0, mode);
}
static inline uint32_t sem_max_f32(uint32_t a, uint32_t b, uint32_t mode)
{
    return sem__minmax_f32(a, b, 1, mode);
}

/* ---- f64 ---- */
static inline uint64_t sem__quiet64(uint64_t a)
{
    return a | 0x0008000000000000u;
}
static inline uint32_t sem__finite64(uint64_t a)
{
    return (a & 0x7ff0000000000000u) != 0x7ff0000000000000u;
}
static inline uint64_t sem__passed64(uint64_t r, uint64_t operand)
{
    return sem__f64(operand) != sem__f64(operand) ? sem__quiet64(operand) : r;
}
/* The result r of an operation on some operands: which NaN, if any. The last operand given is preferred. */
static inline uint64_t sem__out64(uint64_t r, uint64_t third, uint64_t second, uint64_t first)
{
    r = sem__f64(r) != sem__f64(r) ? 0xfff8000000000000u : r;
    return sem__passed64(sem__passed64(sem__passed64(r, third), second), first);
}
/* The same of sums and products. An x86 does so, but for its choice among several NaNs: one alone comes out quiet,
 * whichever operand it is, and an invalid operation gives this very NaN. So r is right where the others are numbers. */
static inline uint64_t sem__chosen64(uint64_t r, uint64_t third, uint64_t second, uint64_t first)
{
#ifdef __x86_64__
    (void)third;
    return sem__passed64(sem__passed64(r, second), first);
#else
    return sem__out64(r, third, second, first);
#endif
}
static inline uint64_t sem_add_f64(uint64_t a, uint64_t b, uint32_t mode)
{
    uint64_t r = sem__bits64(sem__f64(a) + sem__f64(b));
    if ((mode & SEM_RND_MASK) && sem__finite64(a) && sem__finite64(b))
        r = sem__soft_fma(sem__f64(a), 1.0, sem__f64(b), mode, 52, 1023);
    return sem__chosen64(r, 0, a, b);
}
static inline uint64_t sem_sub_f64(uint64_t a, uint64_t b, uint32_t mode)
{
    uint64_t r = sem__bits64(sem__f64(a) - sem__f64(b));
    if ((mode & SEM_RND_MASK) && sem__finite64(a) && sem__finite64(b))
        r = sem__soft_fma(sem__f64(a), 1.0, -sem__f64(b), mode, 52, 1023);
    return sem__chosen64(r, 0, a, b);
}
static inline uint64_t sem_mul_f64(uint64_t a, uint64_t b, uint32_t mode)
{
    uint64_t r = sem__bits64(sem__f64(a) * sem__f64(b));
    if ((mode & SEM_RND_MASK) && sem__finite64(a) && sem__finite64(b) && a << 1 != 0 && b << 1 != 0)
        r = sem__soft_fma(sem__f64(a), sem__f64(b), 0.0, mode, 52, 1023);
    return sem__chosen64(r, 0, a, b);
}
static inline uint64_t sem_fma_f64(uint64_t a, uint64_t b, uint64_t c, uint32_t mode)
{
    uint64_t r;
    if ((mode & SEM_RND_MASK) && sem__finite64(a) && sem__finite64(b) && sem__finite64(c))
        r = sem__soft_fma(sem__f64(a), sem__f64(b), sem__f64(c), mode, 52, 1023);
    else
        r = sem__bits64(__builtin_fma(sem__f64(a), sem__f64(b), sem__f64(c)));
    return sem__chosen64(r, a, c, b);
}
static inline uint64_t sem_mad_f64(uint64_t a, uint64_t b, uint64_t c, uint32_t mode)
{
    return sem_fma_f64(a, b, c, mode);
}
static inline uint64_t sem_div_f64(uint64_t a, uint64_t b, uint32_t mode)
{
    uint64_t r = sem__bits64(sem__f64(a) / sem__f64(b));
    if ((mode & SEM_RND_MASK) && sem__finite64(a) && sem__finite64(b) && a << 1 != 0 && b << 1 != 0)
        r = sem__soft_div(sem__f64(a), sem__f64(b), mode, 52, 1023);
    return sem__out64(r, 0, b, a);
}
static inline uint64_t sem_rcp_f64(uint64_t a, uint32_t mode)
{
    return sem_div_f64(0x3ff0000000000000u, a, mode);
}
static inline uint64_t sem_sqrt_f64(uint64_t a, uint32_t mode)
{
    uint64_t r = sem__bits64(__builtin_sqrt(sem__f64(a)));
    if ((mode & SEM_RND_MASK) && a != 0 && a < 0x7ff0000000000000u)
        r = sem__soft_sqrt(sem__f64(a), mode, 52, 1023);
    return sem__out64(r, a, 0, 0);
}
static inline uint64_t sem_abs_f64(uint64_t a, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return sem__isnan64(a) ? sem__quiet64(a) : a & 0x7fffffffffffffffu;
}
static inline uint64_t sem_neg_f64(uint64_t a, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return sem__isnan64(a) ? sem__quiet64(a) : a ^ 0x8000000000000000u;
}
static inline uint64_t sem_copysign_f64(uint64_t a, uint64_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return (a & 0x8000000000000000u) | (b & 0x7fffffffffffffffu);
}
static inline int64_t sem__order64(uint64_t a)
{
    return sem__s64(a ^ ((uint64_t)(sem__s64(a) >> 63) & 0x7fffffffffffffffu));
}
static inline uint64_t sem__minmax_f64(uint64_t a, uint64_t b, uint32_t max)
{
    uint32_t less = sem__order64(a) < sem__order64(b);
    uint64_t r = (less ^ max) ? a : b;
    r = sem__isnan64(b) ? a : r;
    r = sem__isnan64(a) ? b : r;
    return sem__isnan64(r) ? sem__quiet64(r) : r;
}
static inline uint64_t sem_min_f64(uint64_t a, uint64_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return sem__minmax_f64(a, b, 0);
}
static inline uint64_t sem_max_f64(uint64_t a, uint64_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return sem__minmax_f64(a, b, 1);
}
#endif
