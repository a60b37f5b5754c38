/* sem_bits.h - logic, shifts, bit fields, counting, permutes.
 *
 * Counting is done with shifts and masks, not with the processor's own instruction: that is one value at a time on
 * most machines, and this vectorises. PTX clamps shift counts; positions and lengths of bit fields are eight bits.
 */
#ifndef MG_SEM_BITS_H
#define MG_SEM_BITS_H
#include "sem_int.h"

#define SEM__LOGIC(T, C)                                                                                               \
    SEM__BIN(and_##T, C, a & b)                                                                                        \
    SEM__BIN(or_##T, C, a | b)                                                                                         \
    SEM__BIN(xor_##T, C, a ^ b)
SEM__LOGIC(pred, uint32_t)
SEM__LOGIC(b16, uint16_t)
SEM__LOGIC(b32, uint32_t)
SEM__LOGIC(b64, uint64_t)
SEM__UN(not_pred, uint32_t, a ^ 1u)
SEM__UN(not_b16, uint16_t, ~a)
SEM__UN(not_b32, uint32_t, ~a)
SEM__UN(not_b64, uint64_t, ~a)
SEM__UN(cnot_b16, uint16_t, a == 0)
SEM__UN(cnot_b32, uint32_t, a == 0)
SEM__UN(cnot_b64, uint64_t, a == 0)

/* ---- shifts: counts of the width and above give 0, or copies of the sign ---- */
#define SEM__SHIFT(name, C, W, expr, over)                                                                             \
    static inline C sem_##name(C a, uint32_t b, uint32_t mode)                                                         \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        uint32_t n = b < W ? b : W - 1;                                                                                \
        C r = (C)(expr);                                                                                               \
        return b < W ? r : (C)(over);                                                                                  \
    }
SEM__SHIFT(shl_b16, uint16_t, 16, (uint32_t)a << n, 0)
SEM__SHIFT(shl_b32, uint32_t, 32, a << n, 0)
SEM__SHIFT(shl_b64, uint64_t, 64, a << n, 0)
SEM__SHIFT(shr_b16, uint16_t, 16, a >> n, 0)
SEM__SHIFT(shr_u16, uint16_t, 16, a >> n, 0)
SEM__SHIFT(shr_s16, uint16_t, 16, sem__s16(a) >> n, r)
SEM__SHIFT(shr_b32, uint32_t, 32, a >> n, 0)
SEM__SHIFT(shr_u32, uint32_t, 32, a >> n, 0)
SEM__SHIFT(shr_s32, uint32_t, 32, sem__s32(a) >> n, r)
SEM__SHIFT(shr_b64, uint64_t, 64, a >> n, 0)
SEM__SHIFT(shr_u64, uint64_t, 64, a >> n, 0)
SEM__SHIFT(shr_s64, uint64_t, 64, sem__s64(a) >> n, r)

/* Funnel shifts of the 64 bits b:a. */
SEM__TER(shf_l_wrap_b32, uint32_t, ((uint64_t)b << 32 | a) << (c & 31u) >> 32)
SEM__TER(shf_l_clamp_b32, uint32_t, ((uint64_t)b << 32 | a) << (c < 32u ? c : 32u) >> 32)
SEM__TER(shf_r_wrap_b32, uint32_t, ((uint64_t)b << 32 | a) >> (c & 31u))
SEM__TER(shf_r_clamp_b32, uint32_t, ((uint64_t)b << 32 | a) >> (c < 32u ? c : 32u))

/* ---- counting ---- */
static inline uint32_t sem__popc32(uint32_t a)
{
    a -= a >> 1 & 0x55555555u;
    a = (a & 0x33333333u) + (a >> 2 & 0x33333333u);
    a = (a + (a >> 4)) & 0x0f0f0f0fu;
    return a * 0x01010101u >> 24;
}
/* All bits at and below the highest one set. */
static inline uint32_t sem__smear32(uint32_t a)
{
    a |= a >> 1;
    a |= a >> 2;
    a |= a >> 4;
    a |= a >> 8;
    return a | a >> 16;
}
static inline uint32_t sem__clz64(uint64_t a)
{
    uint32_t hi = (uint32_t)(a >> 32), lo = (uint32_t)a;
    uint32_t in_lo = hi == 0;
    return 32 - sem__popc32(sem__smear32(in_lo ? lo : hi)) + (in_lo ? 32 : 0);
}
static inline uint32_t sem_popc_b32(uint32_t a, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return sem__popc32(a);
}
static inline uint32_t sem_popc_b64(uint64_t a, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return sem__popc32((uint32_t)a) + sem__popc32((uint32_t)(a >> 32));
}
static inline uint32_t sem_clz_b32(uint32_t a, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return 32 - sem__popc32(sem__smear32(a));
}
static inline uint32_t sem_clz_b64(uint64_t a, uint32_t mode)
{
    SEM__UNUSED_MODE;
    return sem__clz64(a);
}
/* The highest bit that is not a copy of the sign; .shiftamt: the left shift that would bring it to the top.
 * None: all ones. */
#define SEM__BFIND(T, C, W, clz, fold)                                                                                 \
    static inline uint32_t sem_bfind_##T(C a, uint32_t mode)                                                           \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        return W - 1 - clz((C)(fold), 0); /* 31 - 32 is the all ones of "none" */                                      \
    }                                                                                                                  \
    static inline uint32_t sem_bfind_shiftamt_##T(C a, uint32_t mode)                                                  \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        uint32_t n = clz((C)(fold), 0);                                                                                \
        return n == W ? 0xffffffffu : n;                                                                               \
    }
SEM__BFIND(u32, uint32_t, 32, sem_clz_b32, a)
SEM__BFIND(s32, uint32_t, 32, sem_clz_b32, a >> 31 ? ~a : a)
SEM__BFIND(u64, uint64_t, 64, sem_clz_b64, a)
SEM__BFIND(s64, uint64_t, 64, sem_clz_b64, a >> 63 ? ~a : a)

static inline uint32_t sem_brev_b32(uint32_t a, uint32_t mode)
{
    SEM__UNUSED_MODE;
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    a = (a >> 8 & 0x00ff00ffu) | (a & 0x00ff00ffu) << 8;
    return a >> 16 | a << 16;
}
static inline uint64_t sem_brev_b64(uint64_t a, uint32_t mode)
{
    return (uint64_t)sem_brev_b32((uint32_t)a, mode) << 32 | sem_brev_b32((uint32_t)(a >> 32), mode);
}

/* ---- bit fields ----
 * Positions and lengths are eight bits of b and c in the 32-bit forms. The 64-bit ones an H100 makes of several
 * instructions that look at all 32 bits (measured); in PTX ISA's range, up to 255, both are the same. */
static inline uint32_t sem_bfe_u32(uint32_t a, uint32_t b, uint32_t c, uint32_t mode)
{
    SEM__UNUSED_MODE;
    uint32_t pos = b & 0xffu, len = c & 0xffu;
    uint32_t r = pos < 32 ? a >> (pos & 31u) : 0;
    uint32_t mask = len < 32 ? (1u << (len & 31u)) - 1 : 0xffffffffu;
    return r & mask;
}
static inline uint64_t sem_bfe_u64(uint64_t a, uint32_t b, uint32_t c, uint32_t mode)
{
    SEM__UNUSED_MODE;
    uint32_t pos = b, len = c;
    uint64_t r = pos < 64 ? a >> (pos & 63u) : 0;
    uint64_t mask = len < 64 ? ((uint64_t)1 << (len & 63u)) - 1 : ~(uint64_t)0;
    return r & mask;
}
/* The sign of the field, or of `a` where the field reaches beyond it, fills the result. */
static inline uint32_t sem_bfe_s32(uint32_t a, uint32_t b, uint32_t c, uint32_t mode)
{
    SEM__UNUSED_MODE;
    uint32_t pos = b & 0xffu, len = c & 0xffu;
    int32_t r = sem__s32(a) >> (pos < 31 ? pos : 31);
    uint32_t up = (32 - (len < 32 ? len : 32)) & 31u;
    uint32_t field = (uint32_t)(sem__s32((uint32_t)r << up) >> up);
    return len ? field : 0;
}
static inline uint64_t sem_bfe_s64(uint64_t a, uint32_t b, uint32_t c, uint32_t mode)
{
    SEM__UNUSED_MODE;
    uint32_t pos = b, len = c;
    int64_t r = sem__s64(a) >> (pos < 63 ? pos : 63);
    uint32_t up = (64 - (len < 64 ? len : 64)) & 63u;
    uint64_t field = (uint64_t)(sem__s64((uint64_t)r << up) >> up);
    return len ? field : 0;
}
/* bfi f, a, b, c, d: the low d bits of a, at position c of b. */
static inline uint32_t sem_bfi_b32(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t mode)
{
    SEM__UNUSED_MODE;
    uint32_t pos = c & 0xffu, len = d & 0xffu;
    uint32_t mask = len < 32 ? (1u << (len & 31u)) - 1 : 0xffffffffu;
    mask = pos < 32 ? mask << (pos & 31u) : 0;
    return (b & ~mask) | (a << (pos & 31u) & mask);
}
static inline uint64_t sem_bfi_b64(uint64_t a, uint64_t b, uint32_t c, uint32_t d, uint32_t mode)
{
    SEM__UNUSED_MODE;
    uint32_t pos = c, len = d;
    uint64_t mask = len < 64 ? ((uint64_t)1 << (len & 63u)) - 1 : ~(uint64_t)0;
    mask = pos < 64 ? mask << (pos & 63u) : 0;
    return (b & ~mask) | (a << (pos & 63u) & mask);
}
/* fns d, mask, base, offset: the offset-th set bit at or above base (below, when negative); 0: bit base itself. */
static inline uint32_t sem_fns_b32(uint32_t a, uint32_t b, uint32_t c, uint32_t mode)
{
    SEM__UNUSED_MODE;
    if (b > 31)
        return 0xffffffffu;
    if (c == 0)
        return (a >> b & 1u) ? b : 0xffffffffu;
    uint32_t up = c >> 31 ? 0 : 1;
    uint32_t count = up ? c : 0 - c;
    for (uint32_t pos = b; pos < 32; pos += up ? 1u : 0xffffffffu) {
        count -= a >> pos & 1u;
        if (count == 0)
            return pos;
    }
    return 0xffffffffu;
}
/* b ones from bit a up. .clamp: positions and widths from 32 up stay out, .wrap: they count modulo 32. */
static inline uint32_t sem__bmsk(uint32_t a, uint32_t b, uint32_t clamp)
{
    uint32_t pos = a & 31u, len = b & 31u, sum = pos + len;
    uint32_t from = clamp && a >= 32 ? 0 : 0xffffffffu << pos;
    uint32_t past = sum >= 32 || (clamp && (a >= 32 || b >= 32)) ? 0 : 0xffffffffu << (sum & 31u);
    past = len == 0 && !(clamp && (a >= 32 || b >= 32)) ? 0xffffffffu : past;
    return from & ~past;
}
SEM__BIN(bmsk_clamp_b32, uint32_t, sem__bmsk(a, b, 1))
SEM__BIN(bmsk_wrap_b32, uint32_t, sem__bmsk(a, b, 0))
/* The low b bits of a, zero- or sign-extended. */
SEM__BIN(szext_clamp_u32, uint32_t, b >= 32 ? a : a & ((1u << (b & 31u)) - 1))
SEM__BIN(szext_wrap_u32, uint32_t, a & ((1u << (b & 31u)) - 1))
SEM__BIN(szext_wrap_s32, uint32_t, (b & 31u) ? (uint32_t)(sem__s32(a << (32 - (b & 31u))) >> (32 - (b & 31u))) : 0)
SEM__BIN(szext_clamp_s32, uint32_t, b >= 32 ? a : sem_szext_wrap_s32(a, b, 0))

/* ---- permutes ---- */
/* One byte of b:a by a selector: three bits choose it, the fourth replicates its sign. */
static inline uint32_t sem__prmt_byte(uint64_t ba, uint32_t sel)
{
    uint32_t byte = (uint32_t)(ba >> (8 * (sel & 7u))) & 0xffu;
    uint32_t sign = byte >> 7 ? 0xffu : 0;
    return (sel & 8u) ? sign : byte;
}
static inline uint32_t sem__prmt(uint32_t a, uint32_t b, uint32_t s0, uint32_t s1, uint32_t s2, uint32_t s3)
{
    uint64_t ba = (uint64_t)b << 32 | a;
    return sem__prmt_byte(ba, s0) | sem__prmt_byte(ba, s1) << 8 | sem__prmt_byte(ba, s2) << 16 |
           sem__prmt_byte(ba, s3) << 24;
}
SEM__TER(prmt_b32, uint32_t, sem__prmt(a, b, c & 15u, c >> 4 & 15u, c >> 8 & 15u, c >> 12 & 15u))
/* The special modes by c's low two bits n; the selectors of PTX ISA's table, byte 0 first. */
SEM__TER(prmt_f4e_b32, uint32_t, sem__prmt(a, b, c & 3u, (c & 3u) + 1, (c & 3u) + 2, (c & 3u) + 3))
SEM__TER(prmt_b4e_b32, uint32_t,
         sem__prmt(a, b, c & 3u, ((c & 3u) + 7) & 7u, ((c & 3u) + 6) & 7u, ((c & 3u) + 5) & 7u))
SEM__TER(prmt_rc8_b32, uint32_t, sem__prmt(a, b, c & 3u, c & 3u, c & 3u, c & 3u))
SEM__TER(prmt_ecl_b32, uint32_t,
         sem__prmt(a, b, c & 3u, (c & 3u) > 1 ? c & 3u : 1, (c & 3u) > 2 ? c & 3u : 2, 3))
SEM__TER(prmt_ecr_b32, uint32_t,
         sem__prmt(a, b, 0, (c & 3u) < 1 ? c & 3u : 1, (c & 3u) < 2 ? c & 3u : 2, c & 3u))
SEM__TER(prmt_rc16_b32, uint32_t, sem__prmt(a, b, (c & 1u) * 2, (c & 1u) * 2 + 1, (c & 1u) * 2, (c & 1u) * 2 + 1))

/* Any function of three bits: bit i of d is row a*4+b*2+c of the truth table. */
static inline uint32_t sem_lop3_b32(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t mode)
{
    SEM__UNUSED_MODE;
    uint32_t c0 = (~c & (0 - (d & 1u))) | (c & (0 - (d >> 1 & 1u)));
    uint32_t c1 = (~c & (0 - (d >> 2 & 1u))) | (c & (0 - (d >> 3 & 1u)));
    uint32_t c2 = (~c & (0 - (d >> 4 & 1u))) | (c & (0 - (d >> 5 & 1u)));
    uint32_t c3 = (~c & (0 - (d >> 6 & 1u))) | (c & (0 - (d >> 7 & 1u)));
    uint32_t lo = (~b & c0) | (b & c1), hi = (~b & c2) | (b & c3);
    return (~a & lo) | (a & hi);
}
#endif
