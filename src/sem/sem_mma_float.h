/* sem_mma_float.h - sums of products of floating-point numbers as the tensor cores make them.
 *
 * They are not IEEE's: products are exact; `block` of them and the accumulator are aligned to the largest exponent
 * among them (the sum of the factors' exponents; those of subnormal numbers taken as they are written), and cut off
 * `fraction` bits behind its point; the sum of these is exact, and is cut off to f32 or rounded to the nearest f16. A
 * longer row of products goes through several such blocks, one behind the other. sem_mma_sums says which numbers hold
 * for which type and generation.
 *
 * That is done eight columns at a time, in the host's floating point, where every step is exact: a product of two
 * numbers of at most 11 bits fits into a float; it is multiplied with a power of two that leaves `fraction` bits before
 * the point, and the conversion to an integer cuts off the rest. Numbers whose products may leave a float's range
 * (`far`) take the same way in double. Infinite ones and NaNs are left out and decide afterwards (sem_mma_special).
 *
 * A multiplication is of a left part (rows of A, 16 at most) and a right part (B, of eight columns), each made ready
 * once by sem_mma_left_ready and sem_mma_right_ready, however often it is used; sem_mma_rows does the rest.
 *
 * To add a type: a row of sem_mma_formats, a case of sem_mma_spread, and what sums of it are in sem_mma_sums.
 */
#ifndef MG_SEM_MMA_FLOAT_H
#define MG_SEM_MMA_FLOAT_H
#include "sem_float.h"

enum mg_sem_mma_type {
    SEM_MMA_NONE,
    SEM_MMA_F16,
    SEM_MMA_BF16,
    SEM_MMA_TF32,
    SEM_MMA_E4M3,
    SEM_MMA_E5M2,
    SEM_MMA_F32,
    SEM_MMA_F64,
    SEM_MMA_S8,
    SEM_MMA_U8,
    SEM_MMA_S4,
    SEM_MMA_U4,
    SEM_MMA_B1,
    SEM_MMA_S32
};
struct sem_mma_format {
    uint8_t bits, exponent, mantissa, is_signed, skip; /* skip: low bits that are not looked at */
};
static inline const struct sem_mma_format *sem_mma_format(unsigned type)
{
    static const struct sem_mma_format formats[] = {
        [SEM_MMA_F16] = {16, 5, 10, 1, 0},  [SEM_MMA_BF16] = {16, 8, 7, 1, 0}, [SEM_MMA_TF32] = {32, 8, 10, 1, 13},
        [SEM_MMA_E4M3] = {8, 4, 3, 1, 0},   [SEM_MMA_E5M2] = {8, 5, 2, 1, 0},  [SEM_MMA_F32] = {32, 8, 23, 1, 0},
        [SEM_MMA_F64] = {64, 11, 52, 1, 0}, [SEM_MMA_S8] = {8, 0, 0, 1, 0},    [SEM_MMA_U8] = {8, 0, 0, 0, 0},
        [SEM_MMA_S4] = {4, 0, 0, 1, 0},     [SEM_MMA_U4] = {4, 0, 0, 0, 0},    [SEM_MMA_B1] = {1, 0, 0, 0, 0},
        [SEM_MMA_S32] = {32, 0, 0, 1, 0},
    };
    return &formats[type];
}

enum {
    SEM_MMA_ROWS = 16,
    SEM_MMA_COLUMNS = 8,
    SEM_MMA_FLOATS = 64 /* k, at most */,
    SEM_MMA_BYTES = 64 /* of a row */
};

typedef uint16_t sem_mma_u16 __attribute__((may_alias));
typedef uint32_t sem_mma_u32 __attribute__((may_alias));
typedef uint8_t sem_u8x8 __attribute__((vector_size(8), may_alias));
typedef uint16_t sem_u16x8 __attribute__((vector_size(16), may_alias));
typedef float sem_f32x8 __attribute__((vector_size(32), may_alias));
typedef int32_t sem_s32x8 __attribute__((vector_size(32), may_alias));
typedef double sem_f64x8 __attribute__((vector_size(64), may_alias));
typedef int64_t sem_s64x8 __attribute__((vector_size(64), may_alias));

/* ---- one number ---- */

/* A number as sign, magnitude and exponent: magnitude * 2^(exponent - mantissa bits of its format). A zero's exponent
 * is far below all others. */
enum { SEM_MMA_FAR = -(1 << 14) };
struct sem_mma_number {
    uint32_t magnitude;
    int32_t exponent, sign; /* sign: 0 or -1 */
};
enum { SEM_MMA_FINITE, SEM_MMA_INFINITE, SEM_MMA_NAN };

static inline struct sem_mma_number sem_mma_split(unsigned type, uint32_t bits, unsigned *class)
{
    const struct sem_mma_format *f = sem_mma_format(type);
    const uint32_t most = (1u << f->exponent) - 1, body = bits >> f->skip;
    const uint32_t field = body >> f->mantissa & most, mantissa = body & ((1u << f->mantissa) - 1);
    const int32_t bias = (int32_t)(most >> 1);
    *class = SEM_MMA_FINITE;
    if (type == SEM_MMA_E4M3 ? (field == most && mantissa == 7) : field == most)
        *class = mantissa ? SEM_MMA_NAN : SEM_MMA_INFINITE;
    struct sem_mma_number x = {mantissa | (field ? 1u << f->mantissa : 0), (field ? (int32_t)field : 1) - bias,
                               -(int32_t)(bits >> (f->bits - 1) & 1)};
    if (!x.magnitude)
        x.exponent = SEM_MMA_FAR;
    return x;
}

/* sum * 2^(exponent - fraction) as a float of so many bits behind the point and exponents up to `most`, without the
 * sign: to the nearest, or cut off. More than it can be is infinite. */
static inline uint32_t sem_mma_magnitude(uint64_t sum, int32_t exponent, int fraction, int bits, int most, bool nearest)
{
    const uint32_t infinite = (uint32_t)(2 * most + 1) << bits;
    const int top = 63 - __builtin_clzll(sum);
    int32_t e = exponent - fraction + top;
    if (e > most)
        return infinite;
    const int down = e < 1 - most ? 1 - most - e : 0, shift = top - bits + down;
    uint64_t kept = shift > 63 ? 0 : shift >= 0 ? sum >> shift : sum << -shift;
    if (nearest && shift > 0 && shift <= 63) {
        const uint64_t rest = sum & ((1ull << shift) - 1), half = 1ull << (shift - 1);
        kept += rest > half || (rest == half && kept & 1);
    }
    const uint32_t result = (uint32_t)kept + ((uint32_t)(down ? 0 : e + most - 1) << bits);
    return result < infinite ? result : infinite;
}

/* Cut off to f32. */
static inline uint32_t sem_mma_to_f32(int64_t sum, int32_t exponent, int fraction)
{
    if (sum == 0)
        return 0;
    return (sum < 0 ? 0x80000000u : 0) |
           sem_mma_magnitude(sum < 0 ? (uint64_t)-sum : (uint64_t)sum, exponent, fraction, 23, 127, false);
}

/* To the nearest f16; what becomes zero has no sign. */
static inline uint32_t sem_mma_to_f16(int64_t sum, int32_t exponent, int fraction)
{
    uint32_t result =
        sum == 0 ? 0 : sem_mma_magnitude(sum < 0 ? (uint64_t)-sum : (uint64_t)sum, exponent, fraction, 10, 15, true);
    return result && sum < 0 ? result | 0x8000u : result;
}

static inline uint32_t sem_mma_f32_of_f16(uint32_t bits)
{
    unsigned class;
    const struct sem_mma_number x = sem_mma_split(SEM_MMA_F16, bits, &class);
    if (class != SEM_MMA_FINITE)
        return class == SEM_MMA_NAN ? 0x7fffffffu : 0x7f800000u | (bits & 0x8000u) << 16;
    if (!x.magnitude)
        return (bits & 0x8000u) << 16;
    return sem_mma_to_f32(x.sign ? -(int64_t)x.magnitude : (int64_t)x.magnitude, x.exponent, 10);
}

static inline uint32_t sem_mma_f16_of_f32(uint32_t bits)
{
    unsigned class;
    const struct sem_mma_number x = sem_mma_split(SEM_MMA_F32, bits, &class);
    if (class != SEM_MMA_FINITE)
        return class == SEM_MMA_NAN ? 0x7fff : 0x7c00u | (bits >> 16 & 0x8000u);
    return sem_mma_to_f16(x.sign ? -(int64_t)x.magnitude : (int64_t)x.magnitude, x.exponent, 23) |
           (bits >> 16 & 0x8000u);
}

/* ---- many numbers ---- */
enum { SEM_MMA_NEAR = 48 }; /* exponents of at most this size, or of zeros, are not far */

/* What some of the numbers made ready are. */
struct sem_mma_kinds {
    bool special, far; /* infinite or NaN; a product of two may not be a float */
};

/* Eight numbers as the bits of f32, from bits x of their own format. A half's are moved, if it is normal, or made of
 * its mantissa, in units of 2^-24. e4m3 becomes f16 before it is multiplied, so that what is subnormal in it is not any
 * more. */
static inline void sem_mma_wide(unsigned type, const sem_s32x8 *x, sem_s32x8 *bits, sem_s32x8 *special)
{
    const bool eight = type == SEM_MMA_E4M3;
    const int32_t mantissa = eight ? 3 : 10, sign = eight ? 0x80 : 0x8000;
    switch (type) {
    case SEM_MMA_BF16:
        *bits = *x << 16;
        *special = (*bits & 0x7f800000) == 0x7f800000;
        return;
    case SEM_MMA_TF32:
        *bits = *x & ~0x1fff;
        *special = (*bits & 0x7f800000) == 0x7f800000;
        return;
    default: {
        const sem_s32x8 as = type == SEM_MMA_E5M2 ? *x << 8 : *x, body = as & (sign - 1);
        const sem_f32x8 small = __builtin_convertvector(body, sem_f32x8) * (eight ? 0x1p-9f : 0x1p-24f);
        const sem_s32x8 normal = (body << (23 - mantissa)) + ((eight ? 120 : 112) << 23),
                        is_small = body >> mantissa == 0;
        *bits = ((sem_s32x8)small & is_small) | (normal & ~is_small) | (as & sign) << (eight ? 24 : 16);
        *special = eight ? body == 0x7f : body >= 0x7c00;
    }
    }
}

/* Numbers as floats and exponents; `count` is a multiple of eight. */
static inline void sem_mma_spread(unsigned type, const void *raw, unsigned count, float *value, int32_t *exponent,
                                  struct sem_mma_kinds *kinds)
{
    const unsigned bytes = sem_mma_format(type)->bits / 8u;
    const int32_t least = type == SEM_MMA_F16 || type == SEM_MMA_E5M2 ? -14 : -126; /* of a subnormal number */
    sem_s32x8 special = {0}, far = {0};
    for (unsigned i = 0; i < count; i += 8) {
        sem_s32x8 x, bits, odd;
        if (bytes == 1)
            x = __builtin_convertvector(((const sem_u8x8 *)raw)[i / 8], sem_s32x8);
        else if (bytes == 2)
            x = __builtin_convertvector(((const sem_u16x8 *)raw)[i / 8], sem_s32x8);
        else
            x = ((const sem_s32x8 *)raw)[i / 8];
        sem_mma_wide(type, &x, &bits, &odd);
        bits &= ~odd;
        const sem_s32x8 field = (bits >> 23 & 255) - 127, is_less = field < least, is_zero = (bits & INT32_MAX) == 0;
        const sem_s32x8 e = (field & ~is_less) | (least & is_less);
        special |= odd;
        far |= ~is_zero & ((e > SEM_MMA_NEAR) | (e < -SEM_MMA_NEAR));
        *(sem_s32x8 *)(exponent + i) = (e & ~is_zero) | (SEM_MMA_FAR & is_zero);
        *(sem_s32x8 *)(value + i) = bits;
    }
    for (unsigned n = 0; n < 8; n++) {
        kinds->special |= special[n] != 0;
        kinds->far |= far[n] != 0;
    }
}

/* Made ready: rows of A, and B of eight columns. `raw` comes from outside: the elements' bits, as they lie in a
 * register or in memory; of B column by column. Where A is sparse `at` says, for each of its columns, which row of B
 * belongs to it. */
struct sem_mma_left {
    uint8_t raw[SEM_MMA_ROWS][SEM_MMA_BYTES] __attribute__((aligned(64)));
    float value[SEM_MMA_ROWS][SEM_MMA_FLOATS] __attribute__((aligned(64)));
    int32_t exponent[SEM_MMA_ROWS][SEM_MMA_FLOATS] __attribute__((aligned(64)));
    uint8_t at[SEM_MMA_ROWS][SEM_MMA_FLOATS];
    bool sparse;
    uint8_t type;
    struct sem_mma_kinds kinds;
};
struct sem_mma_right {
    uint8_t raw[SEM_MMA_COLUMNS][SEM_MMA_BYTES] __attribute__((aligned(64)));
    float value[SEM_MMA_FLOATS][SEM_MMA_COLUMNS] __attribute__((aligned(64)));
    int32_t exponent[SEM_MMA_FLOATS][SEM_MMA_COLUMNS] __attribute__((aligned(64)));
    uint8_t type;
    struct sem_mma_kinds kinds;
};

static inline void sem_mma_left_ready(struct sem_mma_left *a, unsigned type, unsigned rows, unsigned k)
{
    a->type = (uint8_t)type;
    a->kinds = (struct sem_mma_kinds){false, false};
    const unsigned bytes = sem_mma_format(type)->bits / 8u, whole = (k + 7) / 8 * 8;
    for (unsigned row = 0; row < rows; row++) {
        if (whole > k)
            memset(a->raw[row] + k * bytes, 0, (whole - k) * bytes);
        sem_mma_spread(type, a->raw[row], whole, a->value[row], a->exponent[row], &a->kinds);
    }
}
/* Transposed on the way. */
#define SEM_MMA_TURN(word)                         \
    for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++) \
        for (unsigned i = 0; i < k; i++)           \
            ((word *)turned)[i * SEM_MMA_COLUMNS + n] = ((const word *)b->raw[n])[i];
static inline void sem_mma_right_ready(struct sem_mma_right *b, unsigned type, unsigned k)
{
    uint8_t turned[SEM_MMA_COLUMNS * SEM_MMA_BYTES] __attribute__((aligned(64)));
    const unsigned bits = sem_mma_format(type)->bits;
    b->type = (uint8_t)type;
    b->kinds = (struct sem_mma_kinds){false, false};
    if (bits == 8)
        SEM_MMA_TURN(uint8_t)
    else if (bits == 16)
        SEM_MMA_TURN(sem_mma_u16)
    else
        SEM_MMA_TURN(sem_mma_u32)
    sem_mma_spread(type, turned, k * SEM_MMA_COLUMNS, b->value[0], b->exponent[0], &b->kinds);
}
#undef SEM_MMA_TURN

/* ---- sums ---- */

/* How a generation sums products of a type. */
struct sem_mma_sums {
    unsigned block; /* products that are summed at once, 16 at most */
    int fraction;   /* bits kept behind the point of the largest, 25 at most */
    bool apart;     /* they are summed from 0 on, and C is added to that, rounded to the nearest */
};

/* What infinite and NaN ones among `count` products and c, an f32, make of their sum: the bits of an f32; 0: nothing.
 */
static inline uint32_t sem_mma_element_of(unsigned type, const uint8_t *raw, unsigned i)
{
    const unsigned bits = sem_mma_format(type)->bits;
    return bits == 8    ? raw[i]
           : bits == 16 ? ((const sem_mma_u16 *)(const void *)raw)[i]
                        : ((const sem_mma_u32 *)(const void *)raw)[i];
}
static inline uint32_t sem_mma_special(const struct sem_mma_left *x, const struct sem_mma_right *y, unsigned row,
                                       unsigned column, unsigned first, unsigned count, uint32_t c)
{
    unsigned seen = 0; /* bits: plus, minus, NaN */
    for (unsigned i = first; i < first + count && (x->kinds.special || y->kinds.special); i++) {
        unsigned of_a, of_b;
        const struct sem_mma_number a = sem_mma_split(x->type, sem_mma_element_of(x->type, x->raw[row], i), &of_a);
        const unsigned at = x->sparse ? x->at[row][i] : i;
        const struct sem_mma_number b = sem_mma_split(y->type, sem_mma_element_of(y->type, y->raw[column], at), &of_b);
        if (of_a == SEM_MMA_FINITE && of_b == SEM_MMA_FINITE)
            continue;
        if (of_a == SEM_MMA_NAN || of_b == SEM_MMA_NAN || !a.magnitude || !b.magnitude)
            seen |= 4;
        else
            seen |= a.sign == b.sign ? 1 : 2;
    }
    if ((c & 0x7f800000u) == 0x7f800000u)
        seen |= c & 0x7fffffu ? 4 : c >> 31 ? 2 : 1;
    return seen == 0 ? 0 : seen == 1 ? 0x7f800000u : seen == 2 ? 0xff800000u : 0x7fffffffu;
}

/* A block of `count` products from `first` on and the accumulator c, for one row: the sums of the first and the second
 * eight products (each fits), in units of 2^(most - fraction). `most` is not below `least`, where nothing is. */
#define SEM_MMA_LARGER(a, b) ((a) ^ (((a) ^ (b)) & ((b) > (a))))
#define SEM_MMA_BLOCK(name, real, realx8, wordx8, bias, digits, least)                                                 \
    static inline void name(const struct sem_mma_left *x, const struct sem_mma_right *y, unsigned row, unsigned first, \
                            unsigned count, int fraction, const sem_f32x8 *c, const sem_s32x8 *c_exponent,             \
                            sem_s32x8 sum[2], sem_s32x8 *most, sem_s32x8 *largest)                                     \
    {                                                                                                                  \
        const sem_f32x8 *value = (const sem_f32x8 *)(const void *)y->value;                                            \
        const sem_s32x8 *exponent = (const sem_s32x8 *)(const void *)y->exponent;                                      \
        sem_s32x8 m = {0}, up, part = {0};                                                                             \
        m += SEM_MMA_FAR;                                                                                              \
        for (unsigned i = first; i < first + count; i++) {                                                             \
            const sem_s32x8 e = exponent[x->sparse ? x->at[row][i] : i] + x->exponent[row][i];                         \
            m = SEM_MMA_LARGER(m, e);                                                                                  \
        }                                                                                                              \
        *largest = m;                                                                                                  \
        m = SEM_MMA_LARGER(m, *c_exponent);                                                                            \
        up = m - m + (least);                                                                                          \
        m = SEM_MMA_LARGER(m, up);                                                                                     \
        *most = m;                                                                                                     \
        const wordx8 power = __builtin_convertvector((bias) + fraction - m, wordx8) << (digits);                       \
        const realx8 scale = (realx8)power;                                                                            \
        sum[1] = __builtin_convertvector(__builtin_convertvector(*c, realx8) * scale, sem_s32x8);                      \
        for (unsigned i = first; i < first + count; i++) {                                                             \
            const realx8 b = __builtin_convertvector(value[x->sparse ? x->at[row][i] : i], realx8);                    \
            part += __builtin_convertvector((real)x->value[row][i] * b * scale, sem_s32x8);                            \
            if (i - first == 7) {                                                                                      \
                sum[0] = part;                                                                                         \
                part = part - part;                                                                                    \
            }                                                                                                          \
        }                                                                                                              \
        if (count < 8)                                                                                                 \
            sum[0] = part - part;                                                                                      \
        sum[1] += part;                                                                                                \
    }
SEM_MMA_BLOCK(sem_mma_block_near, float, sem_f32x8, sem_s32x8, 127, 23, -2 * SEM_MMA_NEAR - 4)
SEM_MMA_BLOCK(sem_mma_block_far, double, sem_f64x8, sem_s64x8, 1023, 52, -300)
#undef SEM_MMA_BLOCK

/* The sums of a block whose numbers are near, cut off to f32: no result but a lone c is subnormal. Eight products fit
 * into one integer, whose float is one too large where it was rounded up. */
static inline void sem_mma_cut(const sem_s32x8 sum[2], unsigned count, const sem_s32x8 *most, const sem_s32x8 *largest,
                               int fraction, const sem_s32x8 *c, sem_s32x8 *d)
{
    const sem_s32x8 alone = *largest < -4 * SEM_MMA_NEAR, nothing = (*c & INT32_MAX) == 0;
    sem_s32x8 result;
    if (count <= 8) {
        const sem_s32x8 all = sum[0] + sum[1], sign = all >> 31, size = (all ^ sign) - sign;
        const sem_f32x8 nearest = __builtin_convertvector(size, sem_f32x8);
        const sem_s32x8 down = (sem_s32x8)nearest + (__builtin_convertvector(nearest, sem_s32x8) > size);
        const sem_s32x8 power = (*most + (127 - fraction)) << 23;
        result = (sem_s32x8)((sem_f32x8)down * (sem_f32x8)power) | (sign & INT32_MIN);
    } else {
        const sem_f64x8 all = __builtin_convertvector(sum[0], sem_f64x8) + __builtin_convertvector(sum[1], sem_f64x8);
        const sem_s64x8 power = __builtin_convertvector(*most + (1023 - fraction), sem_s64x8) << 52;
        const sem_s64x8 kept = (sem_s64x8)(all * (sem_f64x8)power) & ~INT64_C(0x1fffffff);
        result = (sem_s32x8) __builtin_convertvector((sem_f64x8)kept, sem_f32x8);
    }
    *d = (result & ~alone) | (*c & alone & ~nothing);
}

/* One block of a row. `c` are f32; so is `d`, or if `half` f16; `from_half`: so they
 * were before. */
static inline void sem_mma_step(const struct sem_mma_left *x, const struct sem_mma_right *y, unsigned row,
                                unsigned first, unsigned count, int fraction, bool half, bool from_half,
                                const sem_s32x8 *c, sem_s32x8 *d)
{
    const sem_s32x8 field = *c >> 23 & 255, odd = field == 255, nothing = (*c & INT32_MAX) == 0;
    const sem_s32x8 own = field - 127 - (field == 0), kept = *c & ~odd;
    const sem_s32x8 least =
        own - own + (from_half ? -14 : -126); /* an f16's subnormal numbers as they are written, too */
    const sem_s32x8 e = SEM_MMA_LARGER(own, least);
    const sem_s32x8 c_exponent = (e & ~nothing) | (SEM_MMA_FAR & nothing);
    sem_s32x8 sum[2], most, largest;
    if (x->kinds.far || y->kinds.far)
        sem_mma_block_far(x, y, row, first, count, fraction, (const sem_f32x8 *)&kept, &c_exponent, sum, &most,
                          &largest);
    else
        sem_mma_block_near(x, y, row, first, count, fraction, (const sem_f32x8 *)&kept, &c_exponent, sum, &most,
                           &largest);
    if (!half && !x->kinds.far && !y->kinds.far)
        sem_mma_cut(sum, count, &most, &largest, fraction, &kept, d);
    else
        for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++) {
            const int64_t all = (int64_t)sum[0][n] + sum[1][n];
            (*d)[n] = (int32_t)(half ? sem_mma_to_f16(all, most[n], fraction) : sem_mma_to_f32(all, most[n], fraction));
        }
    if (x->kinds.special || y->kinds.special || half) {
        for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++) {
            const uint32_t special = sem_mma_special(x, y, row, n, first, count, (uint32_t)(*c)[n]);
            if (special)
                (*d)[n] = (int32_t)(half ? sem_mma_f16_of_f32(special) : special);
        }
    } else {
        const sem_s32x8 is_nan = (*c & 0x7fffff) != 0;
        *d = (*d & ~odd) | (odd & ((*c & ~is_nan) | (is_nan & INT32_MAX)));
    }
}

/* Rows of results: c, f32, and d, f32 or if `half` (C is f16 as well) f16. */
static inline void sem_mma_rows(const struct sem_mma_left *x, const struct sem_mma_right *y, struct sem_mma_sums how,
                                unsigned rows, unsigned k, bool half, const uint32_t c[][SEM_MMA_COLUMNS],
                                uint32_t d[][SEM_MMA_COLUMNS])
{
    const unsigned block = how.block < k ? how.block : k;
    for (unsigned row = 0; row < rows; row++) {
        sem_s32x8 so_far = {0}, now = {0};
        if (!how.apart)
            memcpy(&so_far, c[row], sizeof so_far);
        for (unsigned first = 0; first < k; first += block) {
            /* Where C comes later each block is an instruction of its own, and gives what D is. */
            const bool rounds = half && (how.apart || first + block == k), was_half = half && (how.apart || !first);
            if (block == 16) /* the usual ones: the compiler knows the number */
                sem_mma_step(x, y, row, first, 16, how.fraction, rounds, was_half, &so_far, &now);
            else if (block == 8)
                sem_mma_step(x, y, row, first, 8, how.fraction, rounds, was_half, &so_far, &now);
            else
                sem_mma_step(x, y, row, first, block, how.fraction, rounds, was_half, &so_far, &now);
            so_far = now;
            for (unsigned n = 0; rounds && n < SEM_MMA_COLUMNS; n++)
                so_far[n] = (int32_t)sem_mma_f32_of_f16((uint32_t)now[n]);
        }
        for (unsigned n = 0; how.apart && n < SEM_MMA_COLUMNS; n++) {
            const uint32_t all = sem_add_f32((uint32_t)so_far[n], c[row][n], 0);
            now[n] = (int32_t)(half ? sem_mma_f16_of_f32(all) : all);
        }
        memcpy(d[row], &now, sizeof now);
    }
}
#endif
