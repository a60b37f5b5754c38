/* sem_cvt.h - conversions.
 *
 * Carriers: 8-bit values sit in 16 bits; a source is read through its own width, a result is zero- or sign-extended
 * to its carrier. Float to integer rounds to integral first, then clamps to the integer's range (PTX ISA, cvt: "implied
 * saturation"). Float to a narrower float is one rounding of the exact value. What NaN becomes: see SEM__NAN_INT.
 * Not here: f4, f6 and scale formats of later architectures; stochastic rounding.
 */
#ifndef MG_SEM_CVT_H
#define MG_SEM_CVT_H
#include "sem_float.h"

/* ---- the 16-bit formats ---- */
/* f16's bits to f32's, NaN to some NaN. Where the code generator has the processor's conversions (F16C), those. */
#ifdef SEM_F16C
static inline uint32_t sem__f16_to_f32(uint16_t h)
{
    _Float16 v;
    memcpy(&v, &h, sizeof v);
    return sem__bits32((float)v);
}
static inline uint32_t sem__nearest_f16(uint32_t a)
{
    const _Float16 v = (_Float16)sem__f32(a);
    uint16_t r;
    memcpy(&r, &v, sizeof r);
    return (r & 0x7fffu) > 0x7c00u ? 0x7fffu : r;
}
#else
static inline uint32_t sem__f16_to_f32(uint16_t h)
{
    uint32_t a = h & 0x7fffu, sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t normal = (a << 13) + ((127u - 15u) << 23);
    uint32_t subnormal = sem__bits32((float)(int32_t)a * 0x1p-24f); /* exact, and 0 for 0 */
    uint32_t r = a < 0x400u ? subnormal : normal;
    r = a >= 0x7c00u ? (a << 13) | 0x7f800000u : r;
    return a > 0x7c00u ? 0x7fffffffu : r | sign;
}
static inline uint32_t sem__nearest_f16(uint32_t a)
{
    return sem__narrow32(a, SEM_RN, 10, 15, 15);
}
#endif
static inline uint32_t sem__bf16_to_f32(uint16_t h)
{
    return (uint32_t)h << 16;
}
/* The end of every 16-bit float operation; NaN is already the one NaN 0x7fff. */
static inline uint16_t sem__clamp16(uint32_t r, uint32_t one, uint32_t infinity, uint32_t mode)
{
    uint32_t sat = r > 0x8000u || r == 0x8000u ? 0 : r > infinity ? 0 : r > one ? one : r;
    r = (mode & SEM_SAT) ? sat : r;
    uint32_t relu = r >= 0x8000u ? 0 : r;
    r = (mode & SEM_RELU) ? relu : r;
    return (uint16_t)r;
}
/* The upper half of f32's bits, rounded: the formats differ in length alone. */
static inline uint32_t sem__nearest_bf16(uint32_t a)
{
    uint32_t r = (a + 0x7fffu + (a >> 16 & 1u)) >> 16;
    return sem__isnan32(a) ? 0x7fffu : r;
}
static inline uint32_t sem__finite16(uint32_t r, uint32_t infinity, uint32_t mode)
{
    return (mode & SEM_SATFINITE) && (r & 0x7fffu) == infinity ? r - 1 : r;
}
static inline uint16_t sem__f32_to_f16(uint32_t a, uint32_t mode)
{
    uint32_t r;
    if (mode & SEM_RND_MASK)
        r = sem__narrow32(a, mode, 10, 15, 15);
    else
        r = sem__finite16(sem__nearest_f16(a), 0x7c00u, mode);
    return sem__clamp16(r, 0x3c00u, 0x7c00u, mode);
}
static inline uint16_t sem__f64_to_f16(uint64_t a, uint32_t mode)
{
    return sem__clamp16(sem__narrow64(a, mode, 10, 15, 15), 0x3c00u, 0x7c00u, mode);
}
static inline uint16_t sem__f32_to_bf16(uint32_t a, uint32_t mode)
{
    uint32_t r;
    if (mode & SEM_RND_MASK)
        r = sem__narrow32(a, mode, 7, 127, 15);
    else
        r = sem__finite16(sem__nearest_bf16(a), 0x7f80u, mode);
    return sem__clamp16(r, 0x3f80u, 0x7f80u, mode);
}
static inline uint16_t sem__f64_to_bf16(uint64_t a, uint32_t mode)
{
    return sem__clamp16(sem__narrow64(a, mode, 7, 127, 15), 0x3f80u, 0x7f80u, mode);
}

/* ---- integer to integer ---- */
#define SEM__VAL_u8(a) ((uint32_t)(uint8_t)(a))
#define SEM__VAL_s8(a) ((int32_t)(int8_t)(a))
#define SEM__VAL_u16(a) ((uint32_t)(uint16_t)(a))
#define SEM__VAL_s16(a) ((int32_t)(int16_t)(a))
#define SEM__VAL_u32(a) (a)
#define SEM__VAL_s32(a) sem__s32(a)
#define SEM__VAL_u64(a) (a)
#define SEM__VAL_s64(a) sem__s64(a)
#define SEM__WRAP_u8(v) ((uint16_t)(uint8_t)(v))
#define SEM__WRAP_s8(v) ((uint16_t)(int16_t)(int8_t)(v))
#define SEM__WRAP_u16(v) ((uint16_t)(v))
#define SEM__WRAP_s16(v) ((uint16_t)(v))
#define SEM__WRAP_u32(v) ((uint32_t)(v))
#define SEM__WRAP_s32(v) ((uint32_t)(v))
#define SEM__WRAP_u64(v) ((uint64_t)(v))
#define SEM__WRAP_s64(v) ((uint64_t)(v))
#define SEM__MIN_u8 0
#define SEM__MIN_s8 INT8_MIN
#define SEM__MIN_u16 0
#define SEM__MIN_s16 INT16_MIN
#define SEM__MIN_u32 0
#define SEM__MIN_s32 INT32_MIN
#define SEM__MIN_u64 0
#define SEM__MIN_s64 INT64_MIN
#define SEM__MAX_u8 UINT8_MAX
#define SEM__MAX_s8 INT8_MAX
#define SEM__MAX_u16 UINT16_MAX
#define SEM__MAX_s16 INT16_MAX
#define SEM__MAX_u32 UINT32_MAX
#define SEM__MAX_s32 INT32_MAX
#define SEM__MAX_u64 UINT64_MAX
#define SEM__MAX_s64 INT64_MAX
/* Clamping of a signed and of an unsigned source. */
static inline int64_t sem__sat_s(int64_t v, int64_t lo, uint64_t hi)
{
    v = v < lo ? lo : v;
    return hi <= INT64_MAX && v > (int64_t)hi ? (int64_t)hi : v;
}
static inline uint64_t sem__sat_u(uint64_t v, int64_t lo, uint64_t hi)
{
    (void)lo;
    return v > hi ? hi : v;
}
#define SEM__CVT_II(D, DC, S, SC, W, SAT)                                                                              \
    static inline DC sem_cvt_##D##_##S(SC a, uint32_t mode)                                                            \
    {                                                                                                                  \
        if (mode & SEM_SAT)                                                                                            \
            return SEM__WRAP_##D(SAT((W)SEM__VAL_##S(a), SEM__MIN_##D, SEM__MAX_##D));                                 \
        return SEM__WRAP_##D(SEM__VAL_##S(a));                                                                         \
    }
#define SEM__CVT_I_FROM(S, SC, W, SAT)                                                                                 \
    SEM__CVT_II(u8, uint16_t, S, SC, W, SAT)                                                                           \
    SEM__CVT_II(s8, uint16_t, S, SC, W, SAT)                                                                           \
    SEM__CVT_II(u16, uint16_t, S, SC, W, SAT)                                                                          \
    SEM__CVT_II(s16, uint16_t, S, SC, W, SAT)                                                                          \
    SEM__CVT_II(u32, uint32_t, S, SC, W, SAT)                                                                          \
    SEM__CVT_II(s32, uint32_t, S, SC, W, SAT)                                                                          \
    SEM__CVT_II(u64, uint64_t, S, SC, W, SAT)                                                                          \
    SEM__CVT_II(s64, uint64_t, S, SC, W, SAT)
SEM__CVT_I_FROM(u8, uint16_t, uint64_t, sem__sat_u)
SEM__CVT_I_FROM(s8, uint16_t, int64_t, sem__sat_s)
SEM__CVT_I_FROM(u16, uint16_t, uint64_t, sem__sat_u)
SEM__CVT_I_FROM(s16, uint16_t, int64_t, sem__sat_s)
SEM__CVT_I_FROM(u32, uint32_t, uint64_t, sem__sat_u)
SEM__CVT_I_FROM(s32, uint32_t, int64_t, sem__sat_s)
SEM__CVT_I_FROM(u64, uint64_t, uint64_t, sem__sat_u)
SEM__CVT_I_FROM(s64, uint64_t, int64_t, sem__sat_s)

/* ---- to an integral value ---- */
static inline float sem__integral32(float x, uint32_t mode)
{
    uint32_t rnd = mode & SEM_RND_MASK;
    return rnd == SEM_RN   ? __builtin_rintf(x)
           : rnd == SEM_RZ ? __builtin_truncf(x)
           : rnd == SEM_RM ? __builtin_floorf(x)
                           : __builtin_ceilf(x);
}
static inline double sem__integral64(double x, uint32_t mode)
{
    uint32_t rnd = mode & SEM_RND_MASK;
    return rnd == SEM_RN   ? __builtin_rint(x)
           : rnd == SEM_RZ ? __builtin_trunc(x)
           : rnd == SEM_RM ? __builtin_floor(x)
                           : __builtin_ceil(x);
}

/* ---- float to integer ---- */
/* Doubles hold every bound up to 32 bits. The comparisons put a NaN on the low side; nan says what it becomes. */
static inline int32_t sem__f64_to_s32(double t, double lo, double hi)
{
    t = t < hi ? t : hi;
    t = t > lo ? t : lo;
    return (int32_t)t;
}
static inline int32_t sem__f32_to_small(float t, float lo, float hi)
{
    t = t < hi ? t : hi;
    t = t > lo ? t : lo;
    return (int32_t)t;
}
static inline uint32_t sem__f64_to_u32(double t)
{
    t = t < 4294967295.0 ? t : 4294967295.0;
    t = t > 0.0 ? t : 0.0;
    return sem__double_to_u32(t);
}
static inline int64_t sem__f64_to_s64(double t)
{
    int64_t r = (int64_t)(t >= -0x1p63 && t < 0x1p63 ? t : 0.0);
    r = t >= 0x1p63 ? INT64_MAX : r;
    return t < -0x1p63 ? INT64_MIN : r;
}
static inline uint64_t sem__f64_to_u64(double t)
{
    uint64_t r = (uint64_t)(t > 0.0 && t < 0x1p64 ? t : 0.0);
    return t >= 0x1p64 ? UINT64_MAX : r;
}
/* NaN: 0 where the destination is 8, 16 or 32 bits and the source f32 or a half ("NaN inputs are converted to 0",
 * PTX ISA, cvt); for 64-bit destinations and for f64 sources the top bit alone, as measured on an H100. */
#define SEM__NAN_INT(D, S) SEM__NAN_##S(SEM__NAN_##D, SEM__TOP_##D)
#define SEM__NAN_f32(low, top) (low)
#define SEM__NAN_f16(low, top) (low)
#define SEM__NAN_bf16(low, top) (low)
#define SEM__NAN_f64(low, top) (top)
#define SEM__TOP_u8 0x80
#define SEM__TOP_s8 0xff80
#define SEM__TOP_u16 0x8000
#define SEM__TOP_s16 0x8000
#define SEM__TOP_u32 0x80000000u
#define SEM__TOP_s32 0x80000000u
#define SEM__TOP_u64 0x8000000000000000u
#define SEM__TOP_s64 0x8000000000000000u
#define SEM__NAN_u8 0
#define SEM__NAN_s8 0
#define SEM__NAN_u16 0
#define SEM__NAN_s16 0
#define SEM__NAN_u32 0
#define SEM__NAN_s32 0
#define SEM__NAN_u64 0x8000000000000000u
#define SEM__NAN_s64 0x8000000000000000u

#define SEM__CVT_IF(D, DC, S, SC, X, ROUND, conv)           \
    static inline DC sem_cvt_##D##_##S(SC a, uint32_t mode) \
    {                                                       \
        X t = ROUND(SEM__FVAL_##S(a), mode);                \
        DC r = (DC)(conv);                                  \
        return t != t ? (DC)SEM__NAN_INT(D, S) : r;         \
    }
#define SEM__CVT_I_FROM_F32(S, SC)                                                                                     \
    SEM__CVT_IF(u8, uint16_t, S, SC, float, sem__integral32, sem__f32_to_small(t, 0.0f, 255.0f))                       \
    SEM__CVT_IF(s8, uint16_t, S, SC, float, sem__integral32, sem__f32_to_small(t, -128.0f, 127.0f))                    \
    SEM__CVT_IF(u16, uint16_t, S, SC, float, sem__integral32, sem__f32_to_small(t, 0.0f, 65535.0f))                    \
    SEM__CVT_IF(s16, uint16_t, S, SC, float, sem__integral32, sem__f32_to_small(t, -32768.0f, 32767.0f))               \
    SEM__CVT_IF(u32, uint32_t, S, SC, float, sem__integral32, sem__f64_to_u32((double)t))                              \
    SEM__CVT_IF(s32, uint32_t, S, SC, float, sem__integral32, sem__f64_to_s32((double)t, -2147483648.0, 2147483647.0)) \
    SEM__CVT_IF(u64, uint64_t, S, SC, float, sem__integral32, sem__f64_to_u64((double)t))                              \
    SEM__CVT_IF(s64, uint64_t, S, SC, float, sem__integral32, sem__f64_to_s64((double)t))
#define SEM__FVAL_f32(a) sem__f32(sem__ftz32(a, mode))
#define SEM__FVAL_f16(a) sem__f32(sem__f16_to_f32(a))
#define SEM__FVAL_bf16(a) sem__f32(sem__bf16_to_f32(a))
#define SEM__FVAL_f64(a) sem__f64(a)
SEM__CVT_I_FROM_F32(f32, uint32_t)
SEM__CVT_I_FROM_F32(f16, uint16_t)
SEM__CVT_I_FROM_F32(bf16, uint16_t)
SEM__CVT_IF(u8, uint16_t, f64, uint64_t, double, sem__integral64, sem__f64_to_s32(t, 0.0, 255.0))
SEM__CVT_IF(s8, uint16_t, f64, uint64_t, double, sem__integral64, sem__f64_to_s32(t, -128.0, 127.0))
SEM__CVT_IF(u16, uint16_t, f64, uint64_t, double, sem__integral64, sem__f64_to_s32(t, 0.0, 65535.0))
SEM__CVT_IF(s16, uint16_t, f64, uint64_t, double, sem__integral64, sem__f64_to_s32(t, -32768.0, 32767.0))
SEM__CVT_IF(u32, uint32_t, f64, uint64_t, double, sem__integral64, sem__f64_to_u32(t))
SEM__CVT_IF(s32, uint32_t, f64, uint64_t, double, sem__integral64, sem__f64_to_s32(t, -2147483648.0, 2147483647.0))
SEM__CVT_IF(u64, uint64_t, f64, uint64_t, double, sem__integral64, sem__f64_to_u64(t))
SEM__CVT_IF(s64, uint64_t, f64, uint64_t, double, sem__integral64, sem__f64_to_s64(t))

/* ---- integer to float ---- */
static inline uint64_t sem__sat64(uint64_t r, uint32_t mode)
{
    uint64_t clamped = r > 0x3ff0000000000000u ? 0x3ff0000000000000u : r;
    clamped = r > 0x7ff0000000000000u ? 0 : clamped;
    return (mode & SEM_SAT) ? clamped : r;
}
static inline double sem__s32_to_double(uint32_t a)
{
    return (double)sem__s32(a);
}
/* A 32-bit integer to f32, rounded to odd: of more than 24 bits the last eight become one. */
static inline uint32_t sem__odd_f32(uint32_t negative, uint32_t a)
{
    uint32_t m = negative ? 0 - a : a, large = m >> 24;
    m = large ? m >> 8 | ((m & 0xffu) != 0) : m;
    float f = (float)(int32_t)m * (large ? 256.0f : 1.0f);
    return sem__bits32(negative ? -f : f);
}
/* 8- and 16-bit values are exact in f32, 32-bit ones in double. */
#define SEM__CVT_F_SMALL(S)                                                                                            \
    static inline uint32_t sem_cvt_f32_##S(uint16_t a, uint32_t mode)                                                  \
    {                                                                                                                  \
        return sem__out32(sem__bits32((float)(int32_t)SEM__VAL_##S(a)), mode);                                         \
    }                                                                                                                  \
    static inline uint64_t sem_cvt_f64_##S(uint16_t a, uint32_t mode)                                                  \
    {                                                                                                                  \
        return sem__sat64(sem__bits64((double)(int32_t)SEM__VAL_##S(a)), mode);                                        \
    }                                                                                                                  \
    static inline uint16_t sem_cvt_f16_##S(uint16_t a, uint32_t mode)                                                  \
    {                                                                                                                  \
        return sem__f32_to_f16(sem__bits32((float)(int32_t)SEM__VAL_##S(a)), mode);                                    \
    }                                                                                                                  \
    static inline uint16_t sem_cvt_bf16_##S(uint16_t a, uint32_t mode)                                                 \
    {                                                                                                                  \
        return sem__f32_to_bf16(sem__bits32((float)(int32_t)SEM__VAL_##S(a)), mode);                                   \
    }
#define SEM__CVT_F_32(S, toDouble, negative)                                                                           \
    static inline uint32_t sem_cvt_f32_##S(uint32_t a, uint32_t mode)                                                  \
    {                                                                                                                  \
        double d = toDouble(a);                                                                                        \
        uint32_t r;                                                                                                    \
        if (mode & SEM_RND_MASK)                                                                                       \
            r = sem__narrow64(sem__bits64(d), mode, 23, 127, 31);                                                      \
        else                                                                                                           \
            r = sem__bits32((float)d);                                                                                 \
        return sem__out32(r, mode);                                                                                    \
    }                                                                                                                  \
    static inline uint64_t sem_cvt_f64_##S(uint32_t a, uint32_t mode)                                                  \
    {                                                                                                                  \
        return sem__sat64(sem__bits64(toDouble(a)), mode);                                                             \
    }                                                                                                                  \
    static inline uint16_t sem_cvt_f16_##S(uint32_t a, uint32_t mode)                                                  \
    {                                                                                                                  \
        return sem__f32_to_f16(sem__odd_f32(negative, a), mode);                                                       \
    }                                                                                                                  \
    static inline uint16_t sem_cvt_bf16_##S(uint32_t a, uint32_t mode)                                                 \
    {                                                                                                                  \
        return sem__f32_to_bf16(sem__odd_f32(negative, a), mode);                                                      \
    }
#define SEM__CVT_F_64(S, sign, magnitude)                                                                              \
    static inline uint32_t sem_cvt_f32_##S(uint64_t a, uint32_t mode)                                                  \
    {                                                                                                                  \
        uint32_t r = sem__bits32((float)SEM__VAL_##S(a));                                                              \
        if (mode & SEM_RND_MASK)                                                                                       \
            r = (uint32_t)sem__soft_int(sign, magnitude, mode, 23, 127);                                               \
        return sem__out32(r, mode);                                                                                    \
    }                                                                                                                  \
    static inline uint64_t sem_cvt_f64_##S(uint64_t a, uint32_t mode)                                                  \
    {                                                                                                                  \
        uint64_t r = sem__bits64((double)SEM__VAL_##S(a));                                                             \
        if (mode & SEM_RND_MASK)                                                                                       \
            r = sem__soft_int(sign, magnitude, mode, 52, 1023);                                                        \
        return sem__sat64(r, mode);                                                                                    \
    }                                                                                                                  \
    static inline uint16_t sem_cvt_f16_##S(uint64_t a, uint32_t mode)                                                  \
    {                                                                                                                  \
        return sem__clamp16((uint32_t)sem__soft_int(sign, magnitude, mode, 10, 15), 0x3c00u, 0x7c00u, mode);           \
    }                                                                                                                  \
    static inline uint16_t sem_cvt_bf16_##S(uint64_t a, uint32_t mode)                                                 \
    {                                                                                                                  \
        return sem__clamp16((uint32_t)sem__soft_int(sign, magnitude, mode, 7, 127), 0x3f80u, 0x7f80u, mode);           \
    }
SEM__CVT_F_SMALL(u8)
SEM__CVT_F_SMALL(s8)
SEM__CVT_F_SMALL(u16)
SEM__CVT_F_SMALL(s16)
SEM__CVT_F_32(u32, sem__u32_to_double, 0)
SEM__CVT_F_32(s32, sem__s32_to_double, a >> 31)
SEM__CVT_F_64(u64, 0, a)
SEM__CVT_F_64(s64, (uint32_t)(a >> 63), (a >> 63 ? 0 - a : a))

/* ---- float to float ----
 * Conversions between f64 and narrower formats keep a NaN's sign and as much of its payload as fits (measured). */
static inline uint32_t sem_cvt_f32_f32(uint32_t a, uint32_t mode)
{
    a = sem__ftz32(a, mode);
    if (mode & SEM_INTEGRAL)
        a = sem__bits32(sem__integral32(sem__f32(a), mode));
    return sem__out32(a, mode);
}
static inline uint64_t sem_cvt_f64_f64(uint64_t a, uint32_t mode)
{
    uint64_t r = a;
    if (mode & SEM_INTEGRAL)
        r = sem__bits64(sem__integral64(sem__f64(a), mode));
    return sem__sat64(sem__out64(r, a, 0, 0), mode);
}
static inline uint16_t sem_cvt_f16_f16(uint16_t a, uint32_t mode)
{
    uint32_t f = sem__f16_to_f32(a);
    if (mode & SEM_INTEGRAL)
        f = sem__bits32(sem__integral32(sem__f32(f), mode));
    return sem__f32_to_f16(f, mode);
}
static inline uint16_t sem_cvt_bf16_bf16(uint16_t a, uint32_t mode)
{
    uint32_t f = sem__bf16_to_f32(a);
    if (mode & SEM_INTEGRAL)
        f = sem__bits32(sem__integral32(sem__f32(f), mode));
    return sem__f32_to_bf16(f, mode);
}
static inline uint32_t sem_cvt_f32_f64(uint64_t a, uint32_t mode)
{
    uint32_t r, nan = (uint32_t)(a >> 32 & 0x80000000u) | 0x7fc00000u | (uint32_t)(a >> 29 & 0x7fffffu);
    if (mode & SEM_RND_MASK)
        r = sem__narrow64(a, mode, 23, 127, 31);
    else
        r = sem__bits32((float)sem__f64(a));
    r = (mode & SEM_FTZ) && sem__tiny32(sem__f64(a), mode) ? r & 0x80000000u : r;
    return sem__isnan64(a) && !(mode & SEM_SAT) ? nan : sem__out32(r, mode);
}
static inline uint64_t sem_cvt_f64_f32(uint32_t a, uint32_t mode)
{
    a = sem__ftz32(a, mode);
    uint64_t nan = (uint64_t)(a >> 31) << 63 | 0x7ff8000000000000u | (uint64_t)(a & 0x7fffffu) << 29;
    nan = (mode & SEM_FTZ) ? 0x7fffffffe0000000u : nan; /* flushing goes through an f32 operation with its one NaN */
    return sem__sat64(sem__isnan32(a) ? nan : sem__bits64((double)sem__f32(a)), mode);
}
static inline uint32_t sem_cvt_f32_f16(uint16_t a, uint32_t mode)
{
    return sem__out32(sem__f16_to_f32(a), mode);
}
static inline uint32_t sem_cvt_f32_bf16(uint16_t a, uint32_t mode)
{
    uint32_t r = sem__bf16_to_f32(a);
    return (mode & SEM_SAT) ? sem__out32(r, mode) : r; /* a shift: NaN stays as it is (measured) */
}
static inline uint64_t sem_cvt_f64_f16(uint16_t a, uint32_t mode)
{
    uint64_t nan = (uint64_t)(a >> 15) << 63 | 0x7ff8000000000000u | (uint64_t)(a & 0x3ffu) << 42;
    uint64_t r = sem__bits64((double)sem__f32(sem__f16_to_f32(a)));
    return sem__sat64((a & 0x7fffu) > 0x7c00u ? nan : r, mode);
}
static inline uint64_t sem_cvt_f64_bf16(uint16_t a, uint32_t mode)
{
    return sem_cvt_f64_f32(sem__bf16_to_f32(a), mode & SEM_SAT);
}
static inline uint16_t sem_cvt_f16_f32(uint32_t a, uint32_t mode)
{
    return sem__f32_to_f16(a, mode); /* .ftz flushes nothing here (measured): only directed roundings could tell */
}
static inline uint16_t sem_cvt_bf16_f32(uint32_t a, uint32_t mode)
{
    return sem__f32_to_bf16(sem__ftz32(a, mode), mode);
}
static inline uint16_t sem_cvt_f16_f64(uint64_t a, uint32_t mode)
{
    uint32_t nan = (uint32_t)(a >> 48 & 0x8000u) | 0x7e00u | (uint32_t)(a >> 42 & 0x3ffu);
    return sem__isnan64(a) ? sem__clamp16(nan, 0x3c00u, 0x7c00u, mode) : sem__f64_to_f16(a, mode);
}
static inline uint16_t sem_cvt_bf16_f64(uint64_t a, uint32_t mode)
{
    uint32_t nan = (uint32_t)(a >> 48 & 0x8000u) | 0x7fc0u | (uint32_t)(a >> 45 & 0x7fu);
    return sem__isnan64(a) ? sem__clamp16(nan, 0x3f80u, 0x7f80u, mode) : sem__f64_to_bf16(a, mode);
}
static inline uint16_t sem_cvt_bf16_f16(uint16_t a, uint32_t mode)
{
    return sem__f32_to_bf16(sem__f16_to_f32(a), mode);
}
static inline uint16_t sem_cvt_f16_bf16(uint16_t a, uint32_t mode)
{
    return sem__f32_to_f16(sem__bf16_to_f32(a), mode);
}
/* tf32 keeps f32's place with ten bits of significand; the other thirteen are zero. */
static inline uint32_t sem_cvt_tf32_f32(uint32_t a, uint32_t mode)
{
    uint32_t r = sem__narrow32(a, mode & ~(uint32_t)SEM_SATFINITE, 10, 127, 18);
    uint32_t wide = (r & 0x3ffffu) << 13 | (r >> 18) << 31;
    wide = (mode & SEM_RELU) && wide >> 31 ? 0 : wide;
    /* .rna keeps NaN's upper bits, which may be none; its .satfinite takes one unit off all that is not finite */
    uint32_t nan = (mode & SEM_RND_MASK) == SEM_RNA ? a & 0xffffe000u : 0x7fffe000u;
    wide = sem__isnan32(a) ? nan : wide;
    return (mode & SEM_SATFINITE) && (wide & 0x7f800000u) == 0x7f800000u ? wide - 0x2000u : wide;
}
/* Two sources to one register: the first goes to the upper half. */
static inline uint32_t sem_cvt_f16x2_f32(uint32_t a, uint32_t b, uint32_t mode)
{
    return (uint32_t)sem_cvt_f16_f32(a, mode) << 16 | sem_cvt_f16_f32(b, mode);
}
static inline uint32_t sem_cvt_bf16x2_f32(uint32_t a, uint32_t b, uint32_t mode)
{
    return (uint32_t)sem_cvt_bf16_f32(a, mode) << 16 | sem_cvt_bf16_f32(b, mode);
}

/* ---- 8-bit floats: e4m3 (bias 7, no infinity, largest 448 = 0x7e) and e5m2 (bias 15, largest 57344 = 0x7b) ----
 * Only saturating conversions exist: what is too large, infinity included, becomes the largest finite value. */
/* The magnitude, to the nearest even, with no shift that depends on it: numbers below the format's least normal one,
 * which have its smallest step, are rounded by adding the number whose last place is that step. */
static inline uint32_t sem__round8(uint32_t u, uint32_t mbits, uint32_t bias)
{
    const uint32_t a = u & 0x7fffffffu, sh = 23 - mbits, least = (128 - bias) << 23; /* the least normal one */
    const uint32_t step = (151 - bias - mbits) << 23;
    uint32_t normal = (a - ((127 - bias) << 23) + ((1u << (sh - 1)) - 1) + (a >> sh & 1u)) >> sh;
    uint32_t below = sem__bits32(sem__f32(a) + sem__f32(step)) - step;
    return a < least ? below : normal;
}
static inline uint32_t sem__f32_to_e4m3(uint32_t a, uint32_t mode)
{
    uint32_t mag = sem__round8(a, 3, 7);
    uint32_t r = (mag > 0x7eu ? 0x7eu : mag) | (a >> 31) << 7;
    r = (mode & SEM_RELU) && a >> 31 ? 0 : r;
    return sem__isnan32(a) ? 0x7fu : r;
}
static inline uint32_t sem__f32_to_e5m2(uint32_t a, uint32_t mode)
{
    uint32_t mag = sem__round8(a, 2, 15);
    uint32_t r = (mag > 0x7bu ? 0x7bu : mag) | (a >> 31) << 7;
    r = (mode & SEM_RELU) && a >> 31 ? 0 : r;
    return sem__isnan32(a) ? 0x7fu : r;
}
static inline uint16_t sem__e4m3_to_f16(uint32_t b, uint32_t mode)
{
    uint32_t mag = b & 0x7fu, sign = (b & 0x80u) << 8;
    uint32_t normal = (mag << 7) + (8u << 10);                                /* rebias from 7 to 15 */
    uint32_t sub = (sem__bits32((float)(int32_t)mag) >> 13) - ((127 - 15 + 9) << 10); /* of 1 to 7, normal in f16 */
    uint32_t r = (mag >= 8 ? normal : mag ? sub : 0) | sign;
    r = mag == 0x7fu ? 0x7fffu : r;
    return (uint16_t)((mode & SEM_RELU) && r >= 0x8000u ? 0 : r);
}
static inline uint16_t sem__e5m2_to_f16(uint32_t b, uint32_t mode)
{
    uint32_t r = (b & 0xffu) << 8;
    r = (b & 0x7fu) > 0x7cu ? 0x7fffu : r;
    return (uint16_t)((mode & SEM_RELU) && r >= 0x8000u ? 0 : r);
}
#define SEM__CVT_FP8(T)                                                                                                \
    static inline uint16_t sem_cvt_##T##x2_f32(uint32_t a, uint32_t b, uint32_t mode)                                  \
    {                                                                                                                  \
        return (uint16_t)(sem__f32_to_##T(a, mode) << 8 | sem__f32_to_##T(b, mode));                                   \
    }                                                                                                                  \
    static inline uint16_t sem_cvt_##T##x2_f16x2(uint32_t a, uint32_t mode)                                            \
    {                                                                                                                  \
        return sem_cvt_##T##x2_f32(sem__f16_to_f32((uint16_t)(a >> 16)), sem__f16_to_f32((uint16_t)a), mode);          \
    }                                                                                                                  \
    static inline uint32_t sem_cvt_f16x2_##T##x2(uint16_t a, uint32_t mode)                                            \
    {                                                                                                                  \
        return (uint32_t)sem__##T##_to_f16((uint32_t)a >> 8, mode) << 16 | sem__##T##_to_f16(a, mode);                 \
    }
SEM__CVT_FP8(e4m3)
SEM__CVT_FP8(e5m2)

/* ---- cvt.pack.sat: two clamped integers side by side, the third operand shifted up beyond them ---- */
#define SEM__PACK16(D)                                                                                                 \
    static inline uint32_t sem_cvt_pack_##D##_s32(uint32_t a, uint32_t b, uint32_t mode)                               \
    {                                                                                                                  \
        return (uint32_t)sem_cvt_##D##_s32(a, mode | SEM_SAT) << 16 | sem_cvt_##D##_s32(b, mode | SEM_SAT);            \
    }
#define SEM__PACK(D, bits, lo, hi)                                                                                     \
    static inline uint32_t sem_cvt_pack_##D##_s32(uint32_t a, uint32_t b, uint32_t c, uint32_t mode)                   \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        uint32_t ta = (uint32_t)(sem__s32(a) < (lo) ? (lo) : sem__s32(a) > (hi) ? (hi) : sem__s32(a));                 \
        uint32_t tb = (uint32_t)(sem__s32(b) < (lo) ? (lo) : sem__s32(b) > (hi) ? (hi) : sem__s32(b));                 \
        uint32_t mask = (1u << (bits)) - 1;                                                                            \
        return c << 2 * (bits) | (ta & mask) << (bits) | (tb & mask);                                                  \
    }
SEM__PACK16(u16)
SEM__PACK16(s16)
SEM__PACK(u8, 8, 0, 255)
SEM__PACK(s8, 8, -128, 127)
SEM__PACK(u4, 4, 0, 15)
SEM__PACK(s4, 4, -8, 7)
SEM__PACK(u2, 2, 0, 3)
SEM__PACK(s2, 2, -2, 1)
#endif
