/* sem_half.h - f16 and bf16 arithmetic, one value or two in a register.
 *
 * Each operation is exact, or exact enough, in a wider format and then rounded once more: a second rounding is harmless
 * when the wider format has twice the digits and two (Figueroa), so f32 serves add and mul of f16 and add of bf16.
 * An f16 product is exact in f32, and the sum of a fma is rounded to odd there, which survives the second rounding.
 * bf16 products can be f32 subnormals: they and their sums are taken in double, likewise rounded to odd.
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
    uint32_t r = sem__narrow32(wide, SEM_RN, 10, 15, 15);
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
    return sem__out_f16(sem__bits32(sem__add_odd32(SEM__F16(a) * SEM__F16(b), SEM__F16(c))), mode);
}
static inline uint16_t sem_add_bf16(uint16_t a, uint16_t b, uint32_t mode)
{
    return sem__f32_to_bf16(sem__bits32(SEM__BF16(a) + SEM__BF16(b)), mode);
}
static inline uint16_t sem_sub_bf16(uint16_t a, uint16_t b, uint32_t mode)
{
    return sem__f32_to_bf16(sem__bits32(SEM__BF16(a) - SEM__BF16(b)), mode);
}
static inline uint16_t sem_mul_bf16(uint16_t a, uint16_t b, uint32_t mode)
{
    return sem__f64_to_bf16(sem__bits64((double)SEM__BF16(a) * (double)SEM__BF16(b)), mode);
}
static inline uint16_t sem_fma_bf16(uint16_t a, uint16_t b, uint16_t c, uint32_t mode)
{
    double r = sem__add_odd((double)SEM__BF16(a) * (double)SEM__BF16(b), (double)SEM__BF16(c));
    return sem__f64_to_bf16(sem__bits64(r), mode);
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
static inline int32_t sem__order16(uint32_t a)
{
    return a & 0x8000u ? ~(int32_t)(a & 0x7fffu) : (int32_t)a;
}
static inline uint16_t sem__minmax16(uint32_t a, uint32_t b, uint32_t max, uint32_t infinity, uint32_t mode)
{
    uint32_t sign = (a ^ b) & 0x8000u;
    a = (mode & SEM_XORSIGN_ABS) ? a & 0x7fffu : a;
    b = (mode & SEM_XORSIGN_ABS) ? b & 0x7fffu : b;
    uint32_t na = (a & 0x7fffu) > infinity, nb = (b & 0x7fffu) > infinity;
    uint32_t less = sem__order16(a) < sem__order16(b);
    uint32_t r = (less ^ max) ? a : b;
    r = na ? b : r;
    r = nb ? a : r;
    uint32_t nan = (mode & SEM_NAN) ? na | nb : na & nb;
    r = (mode & SEM_XORSIGN_ABS) ? (r & 0x7fffu) | sign : r;
    return (uint16_t)(nan ? 0x7fffu : r);
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
