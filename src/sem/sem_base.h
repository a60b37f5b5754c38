/* sem_base.h - what all of src/sem stands on: mode bits, bit casts, rounding to a narrower format.
 *
 * Nothing here looks at or changes the floating-point environment: the host is taken to round to nearest and to keep
 * subnormals, as every program does that has not asked otherwise. Directed rounding is computed, not asked for:
 * either the exact result is first rounded to odd in double (which keeps enough to round once more to a narrower
 * format: Boldo and Melquiond, "When double rounding is odd"), or it is held in a 128-bit integer (sem_soft.h).
 */
#ifndef MG_SEM_BASE_H
#define MG_SEM_BASE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    SEM_RND_MASK = 7,
    SEM_RN = 0,  /* nearest even; as an integral rounding .rni */
    SEM_RZ = 1,  /* towards zero; .rzi */
    SEM_RM = 2,  /* towards minus infinity; .rmi */
    SEM_RP = 3,  /* towards plus infinity; .rpi */
    SEM_RNA = 4, /* nearest, ties away from zero */
    SEM_INTEGRAL = 8, /* a float-to-float cvt rounds to an integral value */
    SEM_FTZ = 16,
    SEM_SAT = 32,
    SEM_RELU = 64,
    SEM_NAN = 128,
    SEM_XORSIGN_ABS = 256,
    SEM_SATFINITE = 512,
    SEM_APPROX = 1024
};

__extension__ typedef unsigned __int128 sem_u128;
__extension__ typedef __int128 sem_s128;

static inline float sem__f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}
static inline uint32_t sem__bits32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}
static inline double sem__f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}
static inline uint64_t sem__bits64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}
/* Conversion to a signed type of the same width, defined for every value. */
static inline int16_t sem__s16(uint16_t a)
{
    return (int16_t)a;
}
static inline int32_t sem__s32(uint32_t a)
{
    return (int32_t)a;
}
static inline int64_t sem__s64(uint64_t a)
{
    return (int64_t)a;
}

/* seldom ? careful : usual. A warp whose compiled code comes here works `careful` out only where one of its lanes wants
 * it: the code generator knows the function (jit/gen_sem.c). One of them in an operation. */
#ifdef SEM_BITCODE
uint32_t sem_seldom(uint32_t seldom, uint32_t careful, uint32_t usual) __attribute__((const));
#else
static inline uint32_t sem_seldom(uint32_t seldom, uint32_t careful, uint32_t usual)
{
    return seldom ? careful : usual;
}
#endif

/* ---- flushing and clamping of raw f32, f64 and f16 values ---- */
/* PTX ISA, "Floating-Point Instructions": .ftz flushes subnormal inputs and results to sign-preserving zero. */
static inline uint32_t sem__ftz32(uint32_t a, uint32_t mode)
{
    uint32_t flushed = (a & 0x7f800000u) == 0 ? a & 0x80000000u : a;
    return (mode & SEM_FTZ) ? flushed : a;
}
static inline uint32_t sem__isnan32(uint32_t a)
{
    return (a & 0x7fffffffu) > 0x7f800000u;
}
static inline uint32_t sem__isnan64(uint64_t a)
{
    return (a & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
}
/* The end of every f32 operation: the one NaN, flush, clamp to [0, 1] (where NaN becomes +0). */
static inline uint32_t sem__out32(uint32_t r, uint32_t mode)
{
    float value = sem__f32(r);
    r = value != value ? 0x7fffffffu : r; /* one comparison of vectors, where the bits would take two */
    r = sem__ftz32(r, mode);
    uint32_t clamped = r > 0x3f800000u ? 0x3f800000u : r;
    clamped = r > 0x7f800000u ? 0 : clamped; /* negative, or NaN: the sign bit makes both large */
    return (mode & SEM_SAT) ? clamped : r;
}

/* Whether an exact value (or one rounded to odd) is flushed by .ftz. An H100 rounds to f32's digits as if exponents had
 * no end, and flushes if that is below the smallest normal: 0x3f7fffff * 0x00800000 is flushed although f32's rounding
 * of it is normal (measured). */
static inline uint32_t sem__tiny32(double v, uint32_t mode)
{
    uint32_t rnd = mode & SEM_RND_MASK;
    uint32_t away = (rnd == SEM_RP && v > 0.0) || (rnd == SEM_RM && v < 0.0);
    double limit = rnd == SEM_RN ? 0x1.ffffffp-127 : away ? 0x1.fffffe0000001p-127 : 0x1p-126;
    return __builtin_fabs(v) < limit;
}

/* ---- rounding to odd ---- */
/* s, the double nearest to an exact value, and err of the exact value's side: odd if inexact. */
static inline double sem__to_odd(double s, double err)
{
    uint64_t u = sem__bits64(s);
    uint64_t inexact = (uint64_t)(err > 0.0) | (uint64_t)(err < 0.0);
    uint64_t toward = (sem__bits64(err) ^ u) >> 63; /* 1: the exact value is nearer zero than s */
    uint64_t step = inexact & ~u & 1u;
    return sem__f64(u + step - 2 * (step & toward));
}
/* x + y rounded to odd (Knuth's two-sum). Neither may be so large that the sum overflows. */
static inline double sem__add_odd(double x, double y)
{
    double s = x + y;
    double t = s - x;
    double err = (x - (s - t)) + (y - t);
    return sem__to_odd(s, err);
}

static inline float sem__add_odd32(float x, float y)
{
    float s = x + y;
    float t = s - x;
    float err = (x - (s - t)) + (y - t);
    uint32_t u = sem__bits32(s);
    uint32_t inexact = (uint32_t)(err > 0.0f) | (uint32_t)(err < 0.0f);
    uint32_t toward = (sem__bits32(err) ^ u) >> 31;
    uint32_t step = inexact & ~u & 1u;
    return sem__f32(u + step - 2 * (step & toward));
}

/* ---- one rounding to a narrower format ---- */
/* src >> sh rounded by mode: what is added below decides whether the part cut off carries. Nothing here compares, which
 * is what lets loops of it vectorise. sh is at least 1; src leaves the top bit free. */
#define SEM__ROUND_SHIFT(name, C)                                                                                      \
    static inline C name(C src, uint32_t sh, uint32_t sign, uint32_t mode)                                             \
    {                                                                                                                  \
        uint32_t rnd = mode & SEM_RND_MASK;                                                                            \
        C half = (C)1 << (sh - 1), all = ((C)1 << sh) - 1;                                                             \
        C negative = (C)0 - sign;                                                                                      \
        C add = rnd == SEM_RN   ? half - 1 + (src >> sh & 1u)                                                          \
                : rnd == SEM_RZ ? 0                                                                                    \
                : rnd == SEM_RM ? all & negative                                                                       \
                : rnd == SEM_RP ? all & ~negative                                                                      \
                                : half;                                                                                \
        return (src + add) >> sh;                                                                                      \
    }
SEM__ROUND_SHIFT(sem__round_shift32, uint32_t)
SEM__ROUND_SHIFT(sem__round_shift64, uint64_t)
/* What a finite value too large for the format becomes: infinity, or the largest finite value. */
static inline uint32_t sem__overflow(uint32_t infinity, uint32_t sign, uint32_t mode)
{
    uint32_t rnd = mode & SEM_RND_MASK;
    uint32_t finite = rnd == SEM_RZ || (rnd == SEM_RM && !sign) || (rnd == SEM_RP && sign);
    return infinity - finite;
}
/* Double to a format of `mbits` stored significand bits and exponent bias `bias` (a sign, then exponent and
 * significand as IEEE has them). NaN becomes all ones without the sign. SEM_SATFINITE: no infinities. */
static inline uint32_t sem__narrow64(uint64_t u, uint32_t mode, uint32_t mbits, uint32_t bias, uint32_t signbit)
{
    uint32_t sign = (uint32_t)(u >> 63);
    uint64_t a = u & 0x7fffffffffffffffu;
    uint32_t e = (uint32_t)(a >> 52), minexp = 1023 - bias;
    uint64_t full = (a & 0xfffffffffffffu) | (e ? 0x10000000000000u : 0);
    uint32_t normal = e > minexp;
    uint32_t below = minexp + 1 - (e ? e : 1);
    below = below > 55 - (52 - mbits) ? 55 - (52 - mbits) : below;
    uint32_t sh = 52 - mbits + (normal ? 0 : below);
    uint64_t src = normal ? a - ((uint64_t)minexp << 52) : full;
    uint64_t wide = sem__round_shift64(src, sh, sign, mode);
    uint32_t infinity = (2 * bias + 1) << mbits;
    uint32_t q = wide >= infinity ? sem__overflow(infinity, sign, mode) : (uint32_t)wide;
    q = a == 0x7ff0000000000000u ? infinity : q;
    q = (mode & SEM_SATFINITE) && q >= infinity ? infinity - 1 : q;
    q |= sign << signbit;
    return a > 0x7ff0000000000000u ? (1u << signbit) - 1 : q;
}
/* The same from f32, in 32-bit arithmetic: first the magnitude alone, as if exponents had no end. */
static inline uint32_t sem__round32(uint32_t u, uint32_t mode, uint32_t mbits, uint32_t bias)
{
    uint32_t sign = u >> 31;
    uint32_t a = u & 0x7fffffffu;
    uint32_t e = a >> 23, minexp = 127 - bias;
    uint32_t full = (a & 0x7fffffu) | (e ? 0x800000u : 0);
    uint32_t normal = e > minexp;
    uint32_t below = minexp + 1 - (e ? e : 1);
    below = below > 26 - (23 - mbits) ? 26 - (23 - mbits) : below;
    uint32_t sh = 23 - mbits + (normal ? 0 : below);
    uint32_t src = normal ? a - (minexp << 23) : full;
    return sem__round_shift32(src, sh, sign, mode);
}
static inline uint32_t sem__narrow32(uint32_t u, uint32_t mode, uint32_t mbits, uint32_t bias, uint32_t signbit)
{
    uint32_t sign = u >> 31, a = u & 0x7fffffffu;
    uint32_t q = sem__round32(u, mode, mbits, bias);
    uint32_t infinity = (2 * bias + 1) << mbits;
    q = q >= infinity ? sem__overflow(infinity, sign, mode) : q;
    q = a == 0x7f800000u ? infinity : q;
    q = (mode & SEM_SATFINITE) && q >= infinity ? infinity - 1 : q;
    q |= u >> (31 - signbit) & 1u << signbit;
    return a > 0x7f800000u ? (1u << signbit) - 1 : q;
}
#endif
