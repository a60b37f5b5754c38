/* sem_int.h - integer arithmetic, bits, carry chains, DSP.
 *
 * Signed arithmetic is done on unsigned carriers, so that it wraps. 8-bit lanes live in dp4a and prmt only.
 * Division by zero and the most negative value over -1 give what an H100 gives: see sem_div below.
 */
#ifndef MG_SEM_INT_H
#define MG_SEM_INT_H
#include "sem_base.h"

#define SEM__UNUSED_MODE ((void)mode)

/* ---- add, sub, mul, mad, sad, min, max, abs, neg ---- */
#define SEM__BIN(name, C, expr)                                                                                        \
    static inline C sem_##name(C a, C b, uint32_t mode)                                                                \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        return (C)(expr);                                                                                              \
    }
#define SEM__UN(name, C, expr)                                                                                         \
    static inline C sem_##name(C a, uint32_t mode)                                                                     \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        return (C)(expr);                                                                                              \
    }
#define SEM__TER(name, C, expr)                                                                                        \
    static inline C sem_##name(C a, C b, C c, uint32_t mode)                                                           \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        return (C)(expr);                                                                                              \
    }

static inline uint32_t sem__clamp_s32(int64_t v)
{
    v = v > INT32_MAX ? INT32_MAX : v;
    v = v < INT32_MIN ? INT32_MIN : v;
    return (uint32_t)v;
}

SEM__BIN(add_u16, uint16_t, a + b)
SEM__BIN(add_s16, uint16_t, a + b)
SEM__BIN(add_u32, uint32_t, a + b)
SEM__BIN(add_u64, uint64_t, a + b)
SEM__BIN(add_s64, uint64_t, a + b)
SEM__BIN(sub_u16, uint16_t, a - b)
SEM__BIN(sub_s16, uint16_t, a - b)
SEM__BIN(sub_u32, uint32_t, a - b)
SEM__BIN(sub_u64, uint64_t, a - b)
SEM__BIN(sub_s64, uint64_t, a - b)
/* Saturation by the sign of the wrapped result: it is wrong exactly when both inputs differ from it in sign. */
static inline uint32_t sem_add_s32(uint32_t a, uint32_t b, uint32_t mode)
{
    uint32_t r = a + b;
    uint32_t limit = 0x7fffffffu + (a >> 31);
    uint32_t over = ((a ^ r) & (b ^ r)) >> 31;
    return (mode & SEM_SAT) && over ? limit : r;
}
static inline uint32_t sem_sub_s32(uint32_t a, uint32_t b, uint32_t mode)
{
    uint32_t r = a - b;
    uint32_t limit = 0x7fffffffu + (a >> 31);
    uint32_t over = ((a ^ b) & (a ^ r)) >> 31;
    return (mode & SEM_SAT) && over ? limit : r;
}

SEM__BIN(mul_lo_u16, uint16_t, (uint32_t)a * b)
SEM__BIN(mul_lo_s16, uint16_t, (uint32_t)a * b)
SEM__BIN(mul_lo_u32, uint32_t, a * b)
SEM__BIN(mul_lo_s32, uint32_t, a * b)
SEM__BIN(mul_lo_u64, uint64_t, a * b)
SEM__BIN(mul_lo_s64, uint64_t, a * b)
SEM__BIN(mul_hi_u16, uint16_t, (uint32_t)a * b >> 16)
SEM__BIN(mul_hi_s16, uint16_t, (uint32_t)(sem__s16(a) * sem__s16(b)) >> 16)
SEM__BIN(mul_hi_u32, uint32_t, (uint64_t)a * b >> 32)
SEM__BIN(mul_hi_s32, uint32_t, (uint64_t)((int64_t)sem__s32(a) * sem__s32(b)) >> 32)
SEM__BIN(mul_hi_u64, uint64_t, (sem_u128)a * b >> 64)
SEM__BIN(mul_hi_s64, uint64_t, (sem_u128)((sem_s128)sem__s64(a) * sem__s64(b)) >> 64)

static inline uint32_t sem_mul_wide_u16(uint16_t a, uint16_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return (uint32_t)a * b;
}
static inline uint32_t sem_mul_wide_s16(uint16_t a, uint16_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return (uint32_t)(sem__s16(a) * sem__s16(b));
}
static inline uint64_t sem_mul_wide_u32(uint32_t a, uint32_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return (uint64_t)a * b;
}
static inline uint64_t sem_mul_wide_s32(uint32_t a, uint32_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return (uint64_t)((int64_t)sem__s32(a) * sem__s32(b));
}

SEM__TER(mad_lo_u16, uint16_t, (uint32_t)a * b + c)
SEM__TER(mad_lo_s16, uint16_t, (uint32_t)a * b + c)
SEM__TER(mad_lo_u32, uint32_t, a * b + c)
SEM__TER(mad_lo_s32, uint32_t, a * b + c)
SEM__TER(mad_lo_u64, uint64_t, a * b + c)
SEM__TER(mad_lo_s64, uint64_t, a * b + c)
SEM__TER(mad_hi_u16, uint16_t, sem_mul_hi_u16(a, b, 0) + c)
SEM__TER(mad_hi_s16, uint16_t, sem_mul_hi_s16(a, b, 0) + c)
SEM__TER(mad_hi_u32, uint32_t, sem_mul_hi_u32(a, b, 0) + c)
SEM__TER(mad_hi_u64, uint64_t, sem_mul_hi_u64(a, b, 0) + c)
SEM__TER(mad_hi_s64, uint64_t, sem_mul_hi_s64(a, b, 0) + c)
static inline uint32_t sem_mad_hi_s32(uint32_t a, uint32_t b, uint32_t c, uint32_t mode)
{
    return sem_add_s32(sem_mul_hi_s32(a, b, 0), c, mode & SEM_SAT);
}
static inline uint32_t sem_mad_wide_u16(uint16_t a, uint16_t b, uint32_t c, uint32_t mode)
{
    return sem_mul_wide_u16(a, b, mode) + c;
}
static inline uint32_t sem_mad_wide_s16(uint16_t a, uint16_t b, uint32_t c, uint32_t mode)
{
    return sem_mul_wide_s16(a, b, mode) + c;
}
static inline uint64_t sem_mad_wide_u32(uint32_t a, uint32_t b, uint64_t c, uint32_t mode)
{
    return sem_mul_wide_u32(a, b, mode) + c;
}
static inline uint64_t sem_mad_wide_s32(uint32_t a, uint32_t b, uint64_t c, uint32_t mode)
{
    return sem_mul_wide_s32(a, b, mode) + c;
}

/* 24-bit operands; .lo is bits 31..0 of the 48-bit product, .hi bits 47..16. */
static inline uint64_t sem__mul24_u(uint32_t a, uint32_t b)
{
    return (uint64_t)(a & 0xffffffu) * (b & 0xffffffu);
}
static inline int64_t sem__mul24_s(uint32_t a, uint32_t b)
{
    return (int64_t)(sem__s32(a << 8) >> 8) * (sem__s32(b << 8) >> 8);
}
SEM__BIN(mul24_lo_u32, uint32_t, sem__mul24_u(a, b))
SEM__BIN(mul24_lo_s32, uint32_t, sem__mul24_s(a, b))
SEM__BIN(mul24_hi_u32, uint32_t, sem__mul24_u(a, b) >> 16)
SEM__BIN(mul24_hi_s32, uint32_t, sem__mul24_s(a, b) >> 16)
SEM__TER(mad24_lo_u32, uint32_t, sem_mul24_lo_u32(a, b, 0) + c)
SEM__TER(mad24_lo_s32, uint32_t, sem_mul24_lo_s32(a, b, 0) + c)
SEM__TER(mad24_hi_u32, uint32_t, sem_mul24_hi_u32(a, b, 0) + c)
static inline uint32_t sem_mad24_hi_s32(uint32_t a, uint32_t b, uint32_t c, uint32_t mode)
{
    return sem_add_s32(sem_mul24_hi_s32(a, b, 0), c, mode & SEM_SAT);
}

SEM__TER(sad_u16, uint16_t, c + (a < b ? b - a : a - b))
SEM__TER(sad_s16, uint16_t, c + (sem__s16(a) < sem__s16(b) ? b - a : a - b))
SEM__TER(sad_u32, uint32_t, c + (a < b ? b - a : a - b))
SEM__TER(sad_s32, uint32_t, c + (sem__s32(a) < sem__s32(b) ? b - a : a - b))
SEM__TER(sad_u64, uint64_t, c + (a < b ? b - a : a - b))
SEM__TER(sad_s64, uint64_t, c + (sem__s64(a) < sem__s64(b) ? b - a : a - b))

SEM__BIN(min_u16, uint16_t, a < b ? a : b)
SEM__BIN(max_u16, uint16_t, a > b ? a : b)
SEM__BIN(min_s16, uint16_t, sem__s16(a) < sem__s16(b) ? a : b)
SEM__BIN(max_s16, uint16_t, sem__s16(a) > sem__s16(b) ? a : b)
SEM__BIN(min_u32, uint32_t, a < b ? a : b)
SEM__BIN(max_u32, uint32_t, a > b ? a : b)
SEM__BIN(min_u64, uint64_t, a < b ? a : b)
SEM__BIN(max_u64, uint64_t, a > b ? a : b)
SEM__BIN(min_s64, uint64_t, sem__s64(a) < sem__s64(b) ? a : b)
SEM__BIN(max_s64, uint64_t, sem__s64(a) > sem__s64(b) ? a : b)
/* .relu: a negative result becomes zero. */
static inline uint32_t sem_min_s32(uint32_t a, uint32_t b, uint32_t mode)
{
    uint32_t r = sem__s32(a) < sem__s32(b) ? a : b;
    return (mode & SEM_RELU) && (r >> 31) ? 0 : r;
}
static inline uint32_t sem_max_s32(uint32_t a, uint32_t b, uint32_t mode)
{
    uint32_t r = sem__s32(a) > sem__s32(b) ? a : b;
    return (mode & SEM_RELU) && (r >> 31) ? 0 : r;
}
SEM__UN(abs_s16, uint16_t, a >> 15 ? 0 - a : a)
SEM__UN(abs_s32, uint32_t, a >> 31 ? 0 - a : a)
SEM__UN(abs_s64, uint64_t, a >> 63 ? 0 - a : a)
SEM__UN(neg_s16, uint16_t, 0 - a)
SEM__UN(neg_s32, uint32_t, 0 - a)
SEM__UN(neg_s64, uint64_t, 0 - a)

/* ---- two 16-bit lanes in 32 bits ---- */
SEM__BIN(add_u16x2, uint32_t, ((a + b) & 0xffffu) | ((a & 0xffff0000u) + (b & 0xffff0000u)))
SEM__BIN(add_s16x2, uint32_t, ((a + b) & 0xffffu) | ((a & 0xffff0000u) + (b & 0xffff0000u)))
SEM__BIN(min_u16x2, uint32_t,
         (uint32_t)sem_min_u16((uint16_t)a, (uint16_t)b, 0) |
             (uint32_t)sem_min_u16((uint16_t)(a >> 16), (uint16_t)(b >> 16), 0) << 16)
SEM__BIN(max_u16x2, uint32_t,
         (uint32_t)sem_max_u16((uint16_t)a, (uint16_t)b, 0) |
             (uint32_t)sem_max_u16((uint16_t)(a >> 16), (uint16_t)(b >> 16), 0) << 16)
static inline uint32_t sem__relu_s16x2(uint32_t r, uint32_t mode)
{
    uint32_t keep = ((r >> 15 & 1u) ? 0 : 0xffffu) | ((r >> 31) ? 0 : 0xffff0000u);
    return (mode & SEM_RELU) ? r & keep : r;
}
static inline uint32_t sem_min_s16x2(uint32_t a, uint32_t b, uint32_t mode)
{
    uint32_t r = (uint32_t)sem_min_s16((uint16_t)a, (uint16_t)b, 0) |
                 (uint32_t)sem_min_s16((uint16_t)(a >> 16), (uint16_t)(b >> 16), 0) << 16;
    return sem__relu_s16x2(r, mode);
}
static inline uint32_t sem_max_s16x2(uint32_t a, uint32_t b, uint32_t mode)
{
    uint32_t r = (uint32_t)sem_max_s16((uint16_t)a, (uint16_t)b, 0) |
                 (uint32_t)sem_max_s16((uint16_t)(a >> 16), (uint16_t)(b >> 16), 0) << 16;
    return sem__relu_s16x2(r, mode);
}

/* ---- division ----
 * PTX leaves division by zero open; an H100 gives all ones as quotient and as remainder (measured, see
 * docs/semantics.md). Quotients of up to 32 bits are taken in floating point: the nearest double to a/b is never
 * rounded up to an integer that a/b does not reach, since a/b is at least 1/b > 2^-32 away from it. */
static inline uint32_t sem__double_to_u32(double t)
{
    double shifted = t - 2147483648.0;
    return (uint32_t)(int32_t)shifted ^ 0x80000000u;
}
static inline double sem__u32_to_double(uint32_t a)
{
    return (double)sem__s32(a ^ 0x80000000u) + 2147483648.0;
}
static inline uint32_t sem_div_u32(uint32_t a, uint32_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    double d = b ? sem__u32_to_double(b) : 1.0;
    uint32_t q = sem__double_to_u32(__builtin_trunc(sem__u32_to_double(a) / d));
    return b ? q : 0xffffffffu;
}
static inline uint32_t sem_rem_u32(uint32_t a, uint32_t b, uint32_t mode)
{
    uint32_t q = sem_div_u32(a, b, mode);
    return b ? a - q * b : 0xffffffffu;
}
static inline uint32_t sem_div_s32(uint32_t a, uint32_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    double d = b ? (double)sem__s32(b) : 1.0;
    double q = (double)sem__s32(a) / d;
    q = q >= 2147483648.0 ? -2147483648.0 : q; /* INT_MIN / -1 wraps */
    return b ? (uint32_t)(int32_t)q : 0xffffffffu;
}
static inline uint32_t sem_rem_s32(uint32_t a, uint32_t b, uint32_t mode)
{
    uint32_t q = sem_div_s32(a, b, mode);
    return b ? a - q * b : 0xffffffffu;
}
static inline uint16_t sem_div_u16(uint16_t a, uint16_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    float q = (float)(int32_t)a / (b ? (float)(int32_t)b : 1.0f);
    return b ? (uint16_t)(int32_t)q : (uint16_t)0xffff;
}
static inline uint16_t sem_rem_u16(uint16_t a, uint16_t b, uint32_t mode)
{
    return (uint16_t)(b ? a - (uint32_t)sem_div_u16(a, b, mode) * b : 0xffffu);
}
static inline uint16_t sem_div_s16(uint16_t a, uint16_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    float q = (float)sem__s16(a) / (b ? (float)sem__s16(b) : 1.0f);
    return b ? (uint16_t)(int32_t)q : (uint16_t)0xffff;
}
static inline uint16_t sem_rem_s16(uint16_t a, uint16_t b, uint32_t mode)
{
    return (uint16_t)(b ? a - (uint32_t)sem_div_s16(a, b, mode) * b : 0xffffu);
}
static inline uint64_t sem_div_u64(uint64_t a, uint64_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return b ? a / b : ~(uint64_t)0;
}
static inline uint64_t sem_rem_u64(uint64_t a, uint64_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return b ? a % b : ~(uint64_t)0;
}
static inline uint64_t sem_div_s64(uint64_t a, uint64_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    if (b == 0)
        return ~(uint64_t)0;
    if (b == ~(uint64_t)0)
        return 0 - a; /* also the most negative value, which wraps */
    return (uint64_t)(sem__s64(a) / sem__s64(b));
}
static inline uint64_t sem_rem_s64(uint64_t a, uint64_t b, uint32_t mode)
{
    SEM__UNUSED_MODE;
    if (b == 0)
        return ~(uint64_t)0;
    if (b == ~(uint64_t)0)
        return 0;
    return (uint64_t)(sem__s64(a) % sem__s64(b));
}

/* ---- carry chains: the sum and the carry are two rows, so that each is one value ----
 * There is none for sub.cc and subc: the hardware has one carry flag, and subtracts by adding ~b and the flag, 1 where
 * a chain begins. So the flag after a subtraction says that nothing was borrowed, to addc as well. The PTX ISA speaks
 * of a borrow and leaves open what addc makes of it; nvcc's division of 128-bit numbers relies on the hardware. */
#define SEM__CARRY(T, C)                                                                                               \
    static inline C sem_addx_##T(C a, C b, uint32_t cin, uint32_t mode)                                                \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        return a + b + cin;                                                                                            \
    }                                                                                                                  \
    static inline uint32_t sem_addx_carry_##T(C a, C b, uint32_t cin, uint32_t mode)                                   \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        C s = a + b, t = s + cin;                                                                                      \
        return (uint32_t)(s < a) | (uint32_t)(t < s);                                                                  \
    }
#define SEM__MADX(T, C, part, product)                                                                                 \
    static inline C sem_madx_##part##_##T(C a, C b, C c, uint32_t cin, uint32_t mode)                                  \
    {                                                                                                                  \
        return product(a, b, mode) + c + cin;                                                                          \
    }                                                                                                                  \
    static inline uint32_t sem_madx_##part##_carry_##T(C a, C b, C c, uint32_t cin, uint32_t mode)                     \
    {                                                                                                                  \
        C p = product(a, b, mode), s = p + c, t = s + cin;                                                             \
        return (uint32_t)(s < p) | (uint32_t)(t < s);                                                                  \
    }
SEM__CARRY(u32, uint32_t)
SEM__CARRY(u64, uint64_t)
SEM__MADX(u32, uint32_t, lo, sem_mul_lo_u32)
SEM__MADX(u64, uint64_t, lo, sem_mul_lo_u64)
SEM__MADX(u32, uint32_t, hi, sem_mul_hi_u32)
SEM__MADX(u64, uint64_t, hi, sem_mul_hi_u64)
SEM__MADX(s32, uint32_t, hi, sem_mul_hi_s32)
SEM__MADX(s64, uint64_t, hi, sem_mul_hi_s64)

SEM__BIN(atom_inc_u32, uint32_t, a >= b ? 0 : a + 1)             /* a: the old value, b: the limit */
SEM__BIN(atom_dec_u32, uint32_t, a == 0 || a > b ? b : a - 1)

/* ---- dot products ---- */
#define SEM__BYTE_u32(x, i) (sem__s32((x) >> (8 * (i)) & 0xffu))
#define SEM__BYTE_s32(x, i) ((int32_t)(int8_t)((x) >> (8 * (i)) & 0xffu))
#define SEM__HALF_u32(x, i) (sem__s32((x) >> (16 * (i)) & 0xffffu))
#define SEM__HALF_s32(x, i) ((int32_t)(int16_t)((x) >> (16 * (i)) & 0xffffu))
#define SEM__DOT(A, B)                                                                                                 \
    SEM__TER(dp4a_##A##_##B, uint32_t,                                                                                 \
             c + (uint32_t)(SEM__BYTE_##A(a, 0) * SEM__BYTE_##B(b, 0) + SEM__BYTE_##A(a, 1) * SEM__BYTE_##B(b, 1) +    \
                            SEM__BYTE_##A(a, 2) * SEM__BYTE_##B(b, 2) + SEM__BYTE_##A(a, 3) * SEM__BYTE_##B(b, 3)))    \
    SEM__TER(dp2a_lo_##A##_##B, uint32_t,                                                                              \
             c + (uint32_t)(SEM__HALF_##A(a, 0) * SEM__BYTE_##B(b, 0) + SEM__HALF_##A(a, 1) * SEM__BYTE_##B(b, 1)))    \
    SEM__TER(dp2a_hi_##A##_##B, uint32_t,                                                                              \
             c + (uint32_t)(SEM__HALF_##A(a, 0) * SEM__BYTE_##B(b, 2) + SEM__HALF_##A(a, 1) * SEM__BYTE_##B(b, 3)))
SEM__DOT(u32, u32)
SEM__DOT(u32, s32)
SEM__DOT(s32, u32)
SEM__DOT(s32, s32)
#endif
