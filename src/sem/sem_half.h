/* sem_half.h - f16 and bf16 arithmetic, one value or two in a register.
 *
 * Each operation is exact, or exact enough, in a wider format and then rounded once more: a second rounding is harmless
 * when the wider format has twice the digits and two (Figueroa), so f32 serves add and mul of f16 and add of bf16.
 * An f16 product is exact in f32, and the sum of a fma is rounded to odd there, which survives the second rounding.
 * bf16 has f32's exponents: its products and their sums are moved to where f32 has digits left, and back. Both are for
 * few: what is rounded to nearest twice goes wrong only where the first time gives a tie of the second.
 */
#ifndef MG_SEM_HALF_H
#define MG_SEM_HALF_H
#include "sem_cmp.h"
#include "sem_cvt.h"

static inline uint16_t sem__ftz16(uint16_t a, uint32_t mode)
{
    uint16_t flushed = (a & 0x7c00u) == 0 ? (uint16_t)(a & 0x8000u) : a;
    return (mode & SEM_FTZ) ? flushed : a;
}
/* f32, f64 bits to f16 with .ftz, .sat and .relu. */
static inline uint16_t sem__out_f16(uint32_t wide, uint32_t mode)
{
    uint32_t r = sem__nearest_f16(wide);
    r = (mode & SEM_FTZ) && (wide & 0x7fffffffu) < 0x387ff000u ? r & 0x8000u : r; /* rounds to less than 2^-14 */
    return sem__clamp16(r, 0x3c00u, 0x7c00u, mode);
}
#define SEM__F16(a) sem__f32(sem__f16_to_f32(sem__ftz16(a, mode)))
#define SEM__BF16(a) sem__f32(sem__bf16_to_f32(a))

static inline uint16_t sem_add_f16(uint16_t a, uint16_t b, uint32_t mode)
{
    return sem__out_f16(sem__bits32(SEM__F16(a) + SEM__F16(b)), mode);
}
static inline uint16_t sem_sub_f16(uint16_t a, uint16_t b, uint32_t mode)
{
    return sem__out_f16(sem__bits32(SEM__F16(a) - SEM__F16(b)), mode);
}
static inline uint16_t sem_mul_f16(uint16_t a, uint16_t b, uint32_t mode)
{
    return sem__out_f16(sem__bits32(SEM__F16(a) * SEM__F16(b)), mode);
}
static inline uint16_t sem_fma_f16(uint16_t a, uint16_t b, uint16_t c, uint32_t mode)
{
    float x = SEM__F16(a), y = SEM__F16(b), z = SEM__F16(c);
    uint32_t r = sem__bits32(sem__add_odd32(x * y, z));
#ifdef __FMA__
    uint32_t u = sem__bits32(__builtin_fmaf(x, y, z)), tie = (u & 0x1fffu) == 0x1000u;
    uint32_t subnormal = (u & 0x7fffffffu) - 1 < 0x387fffffu; /* below 2^-14 and not 0: rounded elsewhere */
    r = sem_seldom(tie | subnormal, r, u);
#endif
    return sem__out_f16(r, mode);
}
static inline uint16_t sem_add_bf16(uint16_t a, uint16_t b, uint32_t mode)
{
    return sem__f32_to_bf16(sem__bits32(SEM__BF16(a) + SEM__BF16(b)), mode);
}
static inline uint16_t sem_sub_bf16(uint16_t a, uint16_t b, uint32_t mode)
{
    return sem__f32_to_bf16(sem__bits32(SEM__BF16(a) - SEM__BF16(b)), mode);
}
/* Products of two bf16 (16 digits) and what is added to them, moved by a power of two to where f32 has digits left:
 * upwards where the product is tiny and the other term is not so large that it does not matter, downwards where the
 * product is beyond f32's end. */
enum { SEM__UP = 144, SEM__DOWN = 130 };
struct sem__moved {
    float product, other;
    uint32_t up, down;
};
static inline struct sem__moved sem__moved(float x, float y, float z)
{
    float p = __builtin_fabsf(x * y), ax = __builtin_fabsf(x), ay = __builtin_fabsf(y);
    float least = ax < ay ? ax : ay, most = ax < ay ? ay : ax; /* a 0 beside a large one, or an infinity */
    struct sem__moved m = {.up = (uint32_t)(p < 0x1p-102f) & (uint32_t)(most < 0x1p31f) &
                                 (uint32_t)(__builtin_fabsf(z) < 0x1p-20f),
                           .down = (uint32_t)(p > 0x1.fffffep127f) & (uint32_t)(least >= 0.5f)};
    float by = m.up ? 0x1p72f : m.down ? 0x1p-65f : 1.0f;
    m.product = x * by * (y * by);
    m.other = z * by * by;
    return m;
}
/* The moved value `v`, exact or rounded to odd, back as bf16. Its subnormals have their last digit at one place,
 * 2^-133, moved 2^11: where that of 2^34 is in f32. */
static inline uint32_t sem__back_to_bf16(float v, struct sem__moved m)
{
    uint32_t u = sem__bits32(v), a = u & 0x7fffffffu, sign = u >> 31 << 15;
    uint32_t back = a - (m.up ? (uint32_t)SEM__UP << 23 : 0) + (m.down ? (uint32_t)SEM__DOWN << 23 : 0);
    uint32_t r = (back + 0x7fffu + (back >> 16 & 1u)) >> 16;
    uint32_t subnormal = sem__bits32(__builtin_fabsf(v) + 0x1p34f) - sem__bits32(0x1p34f);
    r = m.up && a < (uint32_t)(1 + SEM__UP) << 23 ? subnormal : r;
    r = m.down && a >= (uint32_t)(255 - SEM__DOWN) << 23 ? 0x7f80u : r;
    return sem__isnan32(u) ? 0x7fffu : r | sign;
}
static inline uint16_t sem_mul_bf16(uint16_t a, uint16_t b, uint32_t mode)
{
    float x = SEM__BF16(a), y = SEM__BF16(b);
    struct sem__moved m = sem__moved(x, y, 0.0f);
    uint32_t u = sem__bits32(x * y), subnormal = (u & 0x7f800000u) == 0;
    uint32_t r = sem_seldom(subnormal & ((u & 0xffffu) == 0x8000u), sem__back_to_bf16(m.product, m),
                            sem__nearest_bf16(u));
    return sem__clamp16(r, 0x3f80u, 0x7f80u, mode);
}
static inline uint16_t sem_fma_bf16(uint16_t a, uint16_t b, uint16_t c, uint32_t mode)
{
    float x = SEM__BF16(a), y = SEM__BF16(b), z = SEM__BF16(c);
    struct sem__moved m = sem__moved(x, y, z);
    uint32_t r = sem__back_to_bf16(sem__add_odd32(m.product, m.other), m);
#ifdef __FMA__
    uint32_t u = sem__bits32(__builtin_fmaf(x, y, z));
    r = sem_seldom((u & 0xffffu) == 0x8000u, r, sem__nearest_bf16(u));
#endif
    return sem__clamp16(r, 0x3f80u, 0x7f80u, mode);
}

/* ---- sign, minimum, maximum ---- */
static inline uint16_t sem_abs_f16(uint16_t a, uint32_t mode)
{
    return (a & 0x7fffu) > 0x7c00u ? 0x7fffu : sem__ftz16(a, mode) & 0x7fffu;
}
static inline uint16_t sem_neg_f16(uint16_t a, uint32_t mode)
{
    return (a & 0x7fffu) > 0x7c00u ? 0x7fffu : sem__ftz16(a, mode) ^ 0x8000u;
}
static inline uint16_t sem_abs_bf16(uint16_t a, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return (a & 0x7fffu) > 0x7f80u ? 0x7fffu : a & 0x7fffu;
}
static inline uint16_t sem_neg_bf16(uint16_t a, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return (a & 0x7fffu) > 0x7f80u ? 0x7fffu : a ^ 0x8000u;
}
/* In 16 bits throughout, so that a vector of them has twice the lanes. As integers f16 and bf16 are in order once the
 * negative ones are turned round. */
static inline int16_t sem__order16(uint16_t a)
{
    return (int16_t)(a ^ (sem__s16(a) >> 15 & 0x7fff));
}
static inline uint16_t sem__minmax16(uint16_t a, uint16_t b, bool max, uint16_t infinity, uint32_t mode)
{
    uint16_t sign = (a ^ b) & 0x8000u;
    a = (mode & SEM_XORSIGN_ABS) ? a & 0x7fffu : a;
    b = (mode & SEM_XORSIGN_ABS) ? b & 0x7fffu : b;
    bool na = (uint16_t)(a & 0x7fffu) > infinity, nb = (uint16_t)(b & 0x7fffu) > infinity;
    bool less = sem__order16(a) < sem__order16(b);
    uint16_t r = less != max ? a : b;
    r = na ? b : r;
    r = nb ? a : r;
    bool nan = (mode & SEM_NAN) ? na | nb : na & nb;
    r = (mode & SEM_XORSIGN_ABS) ? (uint16_t)(r & 0x7fffu) | sign : r;
    return nan ? 0x7fffu : r;
}
static inline uint16_t sem_min_f16(uint16_t a, uint16_t b, uint32_t mode)
{
    return sem__minmax16(sem__ftz16(a, mode), sem__ftz16(b, mode), 0, 0x7c00u, mode);
}
static inline uint16_t sem_max_f16(uint16_t a, uint16_t b, uint32_t mode)
{
    return sem__minmax16(sem__ftz16(a, mode), sem__ftz16(b, mode), 1, 0x7c00u, mode);
}
static inline uint16_t sem_min_bf16(uint16_t a, uint16_t b, uint32_t mode)
{
    return sem__minmax16(a, b, 0, 0x7f80u, mode);
}
static inline uint16_t sem_max_bf16(uint16_t a, uint16_t b, uint32_t mode)
{
    return sem__minmax16(a, b, 1, 0x7f80u, mode);
}

/* ---- two in a register ---- */
#define SEM__X2_1(op, T)                                                                                               \
    static inline uint32_t sem_##op##_##T##x2(uint32_t a, uint32_t mode)                                               \
    {                                                                                                                  \
        return (uint32_t)sem_##op##_##T((uint16_t)(a >> 16), mode) << 16 | sem_##op##_##T((uint16_t)a, mode);          \
    }
#define SEM__X2_2(op, T)                                                                                               \
    static inline uint32_t sem_##op##_##T##x2(uint32_t a, uint32_t b, uint32_t mode)                                   \
    {                                                                                                                  \
        return (uint32_t)sem_##op##_##T((uint16_t)(a >> 16), (uint16_t)(b >> 16), mode) << 16 |                        \
               sem_##op##_##T((uint16_t)a, (uint16_t)b, mode);                                                         \
    }
#define SEM__X2_3(op, T)                                                                                               \
    static inline uint32_t sem_##op##_##T##x2(uint32_t a, uint32_t b, uint32_t c, uint32_t mode)                       \
    {                                                                                                                  \
        return (uint32_t)sem_##op##_##T((uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16), mode) << 16 |   \
               sem_##op##_##T((uint16_t)a, (uint16_t)b, (uint16_t)c, mode);                                            \
    }
#define SEM__X2(T)                                                                                                     \
    SEM__X2_2(add, T)                                                                                                  \
    SEM__X2_2(sub, T)                                                                                                  \
    SEM__X2_2(mul, T)                                                                                                  \
    SEM__X2_3(fma, T)                                                                                                  \
    SEM__X2_1(abs, T)                                                                                                  \
    SEM__X2_1(neg, T)                                                                                                  \
    SEM__X2_2(min, T)                                                                                                  \
    SEM__X2_2(max, T)
SEM__X2(f16)
SEM__X2(bf16)

SEM__SETP_F(f16, uint16_t, SEM__F16)
SEM__SETP_F(bf16, uint16_t, SEM__BF16)
#endif
