/* sem_soft.h - exact fma, division and square root in 128-bit integers, rounded once in any direction.
 *
 * These serve the directed roundings that no plain operator gives: every f64 one, and f32 division, reciprocal and
 * root. They are slow and never vectorise, which is why the nearest rounding does not come here. Operands are finite
 * and the caller deals with zeros and infinities, for which all rounding modes agree with the plain operator.
 */
#ifndef MG_SEM_SOFT_H
#define MG_SEM_SOFT_H
#include "sem_base.h"

struct sem__num { /* (-1)^sign * sig * 2^exp; sig is 0 or has bit 52 as its highest */
    uint64_t sig;
    int exp;
    uint32_t sign;
};
static inline struct sem__num sem__unpack(uint64_t u)
{
    struct sem__num n = {u & 0xfffffffffffffu, (int)(u >> 52 & 0x7ff), (uint32_t)(u >> 63)};
    if (n.exp)
        n.sig |= 0x10000000000000u;
    else
        n.exp = 1;
    n.exp -= 1075;
    if (n.sig) {
        int up = __builtin_clzll(n.sig) - 11;
        n.sig <<= up;
        n.exp -= up;
    }
    return n;
}
static inline int sem__top128(sem_u128 v) /* position of the highest bit of a value above zero */
{
    uint64_t hi = (uint64_t)(v >> 64);
    return hi ? 127 - __builtin_clzll(hi) : 63 - __builtin_clzll((uint64_t)v);
}
/* sig * 2^exp, plus something below its last bit if sticky, rounded to a format as sem__narrow64's. sig is above zero
 * and, if sticky, has at least two bits more than the format keeps. */
static inline uint64_t sem__pack(uint32_t sign, int exp, sem_u128 sig, uint32_t sticky, uint32_t mode, int mbits,
                                 int bias)
{
    int top = exp + sem__top128(sig);
    int last = top - mbits > 1 - bias - mbits ? top - mbits : 1 - bias - mbits;
    int sh = last - exp;
    uint64_t q;
    uint32_t above = 0, tie = 0; /* the part cut off is more than, or just, half a unit */
    uint32_t inexact = sticky;
    if (sh <= 0) {
        q = (uint64_t)(sig << -sh);
    } else if (sh > 127) {
        q = 0;
        inexact = 1;
    } else {
        sem_u128 rem = sig & (((sem_u128)1 << sh) - 1), half = (sem_u128)1 << (sh - 1);
        q = (uint64_t)(sig >> sh);
        above = rem > half || (rem == half && sticky);
        tie = rem == half && !sticky;
        inexact |= rem != 0;
    }
    uint32_t rnd = mode & SEM_RND_MASK, up = 0;
    if (rnd == SEM_RN)
        up = above || (tie && (q & 1));
    else if (rnd == SEM_RNA)
        up = above || tie;
    else if (rnd == SEM_RM)
        up = inexact && sign;
    else if (rnd == SEM_RP)
        up = inexact && !sign;
    q += up;
    uint64_t infinity = (uint64_t)(2 * bias + 1) << mbits;
    uint64_t r = q;
    if (last > 1 - bias - mbits) /* a normal number: put its exponent on top; a carry out of q moves it up */
        r = q + ((uint64_t)(last + bias + mbits - 1) << mbits);
    if (r >= infinity) {
        uint32_t finite = rnd == SEM_RZ || (rnd == SEM_RM && !sign) || (rnd == SEM_RP && sign);
        r = infinity - finite;
    }
    int signbit = mbits == 52 ? 63 : mbits == 23 ? 31 : 15;
    return r | (uint64_t)sign << signbit;
}
/* a*b + c for finite operands; the result's bits in the format of mbits and bias. */
static inline uint64_t sem__soft_fma(double a, double b, double c, uint32_t mode, int mbits, int bias)
{
    struct sem__num x = sem__unpack(sem__bits64(a)), y = sem__unpack(sem__bits64(b)), z = sem__unpack(sem__bits64(c));
    int signbit = mbits == 52 ? 63 : mbits == 23 ? 31 : 15;
    uint32_t psign = x.sign ^ y.sign;
    sem_u128 p = (sem_u128)x.sig * y.sig, q = z.sig;
    int pe = x.exp + y.exp, qe = z.exp;
    if (p == 0 && q == 0) {
        uint32_t sign = psign == z.sign ? psign : (mode & SEM_RND_MASK) == SEM_RM;
        return (uint64_t)sign << signbit;
    }
    if (q == 0)
        return sem__pack(psign, pe, p, 0, mode, mbits, bias);
    if (p == 0)
        return sem__pack(z.sign, qe, q, 0, mode, mbits, bias);
    /* Both with bit 126 on top: one spare bit for the carry. Bits of the smaller one are lost only when it is more
     * than 20 places down, where a last bit set for them rounds as they do. */
    int up = 126 - sem__top128(p);
    p <<= up, pe -= up;
    up = 126 - sem__top128(q);
    q <<= up, qe -= up;
    uint32_t sign = psign;
    if (qe > pe || (qe == pe && q > p)) {
        sem_u128 t = p;
        int te = pe;
        p = q, pe = qe, sign = z.sign;
        q = t, qe = te;
    }
    int down = pe - qe;
    if (down > 126)
        q = 1;
    else if (down)
        q = q >> down | ((q & (((sem_u128)1 << down) - 1)) != 0);
    sem_u128 sum = psign == z.sign ? p + q : p - q;
    if (sum == 0)
        return (uint64_t)((mode & SEM_RND_MASK) == SEM_RM) << signbit;
    return sem__pack(sign, pe, sum, 0, mode, mbits, bias);
}
/* a / b for finite operands above zero in magnitude. */
static inline uint64_t sem__soft_div(double a, double b, uint32_t mode, int mbits, int bias)
{
    struct sem__num x = sem__unpack(sem__bits64(a)), y = sem__unpack(sem__bits64(b));
    sem_u128 n = (sem_u128)x.sig << 64;
    sem_u128 q = n / y.sig;
    return sem__pack(x.sign ^ y.sign, x.exp - y.exp - 64, q, q * y.sig != n, mode, mbits, bias);
}
/* The square root of a finite operand above zero, bit by bit. */
static inline uint64_t sem__soft_sqrt(double a, uint32_t mode, int mbits, int bias)
{
    struct sem__num x = sem__unpack(sem__bits64(a));
    int up = 66 + ((x.exp - 66) & 1);
    sem_u128 n = (sem_u128)x.sig << up, rem = n;
    int exp = (x.exp - up) / 2;
    uint64_t root = 0;
    for (int bit = 60; bit >= 0; bit--) {
        sem_u128 t = ((sem_u128)root << 1 | (sem_u128)1 << bit) << bit;
        if (rem >= t) {
            rem -= t;
            root |= (uint64_t)1 << bit;
        }
    }
    return sem__pack(0, exp, root, rem != 0, mode, mbits, bias);
}
/* An integer's magnitude to a floating-point format. */
static inline uint64_t sem__soft_int(uint32_t sign, uint64_t magnitude, uint32_t mode, int mbits, int bias)
{
    return magnitude ? sem__pack(sign, 0, magnitude, 0, mode, mbits, bias) : 0;
}
#endif
