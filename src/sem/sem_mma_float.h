/* sem_mma_float.h - sums of products of floating-point numbers as the tensor cores make them.
 *
 * They are not IEEE's: products are exact; `block` of them and the accumulator are aligned to the largest exponent
 * among them (the sum of the factors' exponents; those of subnormal numbers taken as they are written), and cut off
 * `fraction` bits behind its point; the sum of these is exact, and is cut off to f32 or rounded to the nearest f16. A
 * longer row of products goes through several such blocks, one behind the other. sem_mma_sums says which numbers hold
 * for which type and generation.
 *
 * That is done for 16 rows of a column at a time, or eight, in the host's floating point, where every step is exact: a
 * product of two numbers of at most 11 bits fits into a float; it is multiplied with a power of two that leaves
 * `fraction` bits before the point, and the conversion to an integer cuts off the rest. Numbers whose products may
 * leave a float's range (`far`) take the same way in double. Infinite ones and NaNs are left out and decide afterwards
 * (sem_mma_special).
 *
 * A multiplication is of a left part (16 rows of A) and a right part (B, of eight columns), each made ready once by
 * sem_mma_left_ready and sem_mma_right_ready, however often it is used; sem_mma_columns does the rest.
 *
 * To add a type: a row of sem_mma_formats, a case of sem_mma_wide, and what sums of it are in sem_mma_sums.
 */
#ifndef MG_SEM_MMA_FLOAT_H
#define MG_SEM_MMA_FLOAT_H
#include "sem_float.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif

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
    SEM_MMA_FLOATS = 128 /* k, at most, of numbers that are not single bits */,
    SEM_MMA_WORDS = 16 /* of four bytes, of a row */
};

/* As many rows as the host has in a vector: of wider ones than it has the compiler makes poor code. */
#ifdef __AVX512F__
enum { SEM_MMA_LANES = 16 };
#else
enum { SEM_MMA_LANES = 8 };
#endif
typedef float sem_f32xn __attribute__((vector_size(4 * SEM_MMA_LANES), may_alias));
typedef int32_t sem_s32xn __attribute__((vector_size(4 * SEM_MMA_LANES), may_alias));
typedef uint32_t sem_u32xn __attribute__((vector_size(4 * SEM_MMA_LANES), may_alias));
typedef float sem_f32x8 __attribute__((vector_size(32), may_alias));
typedef int32_t sem_s32x8 __attribute__((vector_size(32), may_alias));
typedef double sem_f64x8 __attribute__((vector_size(64), may_alias));
typedef int64_t sem_s64x8 __attribute__((vector_size(64), may_alias));
#define SEM_MMA_INLINE static inline __attribute__((always_inline))

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

/* Whether any lane is not 0. */
SEM_MMA_INLINE bool sem_mma_any(sem_s32xn x)
{
    int32_t any = 0;
    for (unsigned n = 0; n < SEM_MMA_LANES; n++)
        any |= x[n];
    return any != 0;
}

SEM_MMA_INLINE sem_s32xn sem_mma_larger(sem_s32xn a, sem_s32xn b)
{
#if defined(__AVX512F__)
    return (sem_s32xn)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (sem_s32xn)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    const sem_s32xn above = b > a;
    return (a & ~above) | (b & above);
#endif
}

/* Each lane of `a` where `where` is all ones, else of `b`. */
SEM_MMA_INLINE sem_s32xn sem_mma_either(sem_s32xn where, sem_s32xn a, sem_s32xn b)
{
    return (a & where) | (b & ~where);
}

/* f16, or if `eight` e4m3, as the bits of f32. A number that is normal is moved; else it is made of its mantissa, in
 * units of the least subnormal one. */
SEM_MMA_INLINE sem_s32xn sem_mma_moved(sem_s32xn x, bool eight)
{
    const int32_t mantissa = eight ? 3 : 10, sign = eight ? 0x80 : 0x8000;
    const sem_s32xn body = x & (sign - 1);
    const sem_f32xn small = __builtin_convertvector(body, sem_f32xn) * (eight ? 0x1p-9f : 0x1p-24f);
    const sem_s32xn normal = (body << (23 - mantissa)) + ((eight ? 120 : 112) << 23),
                    special = body >= (eight ? 0x7f : 0x7c00);
    return sem_mma_either(body >> mantissa == 0, (sem_s32xn)small, normal) | (x & sign) << (eight ? 24 : 16) |
           (special & 0x7f800000);
}

/* Numbers as the bits of f32, from bits x of their own format. e4m3 becomes f16 before it is multiplied, so that what
 * is subnormal in it is not any more. */
SEM_MMA_INLINE sem_s32xn sem_mma_wide(unsigned type, sem_s32xn x)
{
    switch (type) {
    case SEM_MMA_BF16:
        return x << 16;
    case SEM_MMA_TF32:
        return x & ~0x1fff;
    case SEM_MMA_E4M3:
        return sem_mma_moved(x, true);
    default:
#ifdef __AVX512F__
        return (sem_s32xn)_mm512_cvtph_ps(
            _mm512_cvtepi32_epi16((__m512i)(type == SEM_MMA_E5M2 ? (sem_u32xn)x << 8 : (sem_u32xn)x)));
#else
        return sem_mma_moved(x << (type == SEM_MMA_E5M2 ? 8 : 0), false);
#endif
    }
}

/* f32 to the nearest f16, and back. */
SEM_MMA_INLINE sem_s32xn sem_mma_halves(sem_s32xn bits)
{
    const sem_s32xn size = bits & INT32_MAX, is_nan = size > 0x7f800000, least = size - size + (113 << 23);
    const sem_s32xn kept = sem_mma_either(size > 0x47800000, least - least + 0x47800000, size);
    /* Adding so much that the last bit of an f16 is the last one of the sum. */
    const sem_f32xn more = (sem_f32xn)((sem_mma_larger(kept & 0x7f800000, least) + (13 << 23)) | 0x400000),
                    near = ((sem_f32xn)kept + more) - more;
    const sem_s32xn normal = ((sem_s32xn)near >> 13) - (112 << 10),
                    small = __builtin_convertvector(near * 0x1p24f, sem_s32xn);
    return sem_mma_either(is_nan, least - least + 0x7fff,
                          sem_mma_either((sem_s32xn)near < least, small, normal) | (bits >> 16 & 0x8000));
}
SEM_MMA_INLINE sem_s32xn sem_mma_of_halves(sem_s32xn x)
{
    const sem_s32xn bits = sem_mma_wide(SEM_MMA_F16, x), is_nan = (bits & INT32_MAX) > 0x7f800000;
    return sem_mma_either(is_nan, is_nan - is_nan + INT32_MAX, bits);
}

/* Made ready: A, of 16 rows, and B, of eight columns. `words` come from outside: the elements' bits along k as they lie
 * in memory, four bytes of each row, or column, beside one another. Elements are numbered in the order in which they
 * are summed. Where A is sparse `at` says, for each of its columns, which row of B belongs to it. `odd` has infinite
 * numbers and NaNs among the others, if there are any; `value` has zeros there. */
struct sem_mma_left {
    uint32_t words[SEM_MMA_WORDS][SEM_MMA_ROWS] __attribute__((aligned(64)));
    float value[SEM_MMA_FLOATS][SEM_MMA_ROWS] __attribute__((aligned(64)));
    float odd[SEM_MMA_FLOATS][SEM_MMA_ROWS] __attribute__((aligned(64)));
    int32_t exponent[SEM_MMA_FLOATS][SEM_MMA_ROWS] __attribute__((aligned(64)));
    int32_t at[SEM_MMA_FLOATS][SEM_MMA_ROWS] __attribute__((aligned(64)));
    bool sparse;
    struct sem_mma_kinds kinds;
};
struct sem_mma_right {
    uint32_t words[SEM_MMA_WORDS][SEM_MMA_COLUMNS] __attribute__((aligned(64)));
    float value[SEM_MMA_FLOATS][SEM_MMA_COLUMNS] __attribute__((aligned(64)));
    float odd[SEM_MMA_FLOATS][SEM_MMA_COLUMNS] __attribute__((aligned(64)));
    int32_t exponent[SEM_MMA_FLOATS][SEM_MMA_COLUMNS] __attribute__((aligned(64)));
    struct sem_mma_kinds kinds;
};

/* How elements are to be made ready. */
struct sem_mma_ready {
    unsigned type, k;
    int32_t least; /* exponent, of numbers that are subnormal */
    bool moved;    /* the first and second of every four are summed first, then the third and fourth */
};
/* Where the element stands in the sum. */
static inline unsigned sem_mma_order(const struct sem_mma_ready *how, unsigned i)
{
    return how->moved ? i / 4 * 2 + i % 2 + (i % 4 < 2 ? 0 : how->k / 2) : i;
}

/* Of numbers: the largest, as bits of f32 without a sign, and those that are far, infinite ones and NaNs among them. */
struct sem_mma_ends {
    sem_s32xn largest, far;
};

/* A vector of `words`, which are in lines of `line` rows or columns, from `from` on; its numbers go to where they
 * stand. A vector may have several lines, or a line several vectors. */
SEM_MMA_INLINE void sem_mma_spread(unsigned type, const struct sem_mma_ready *how, unsigned line, const uint32_t *words,
                                   unsigned from, unsigned element, float *value, int32_t *exponent,
                                   struct sem_mma_ends *ends)
{
    const unsigned bits = type == SEM_MMA_TF32 ? 32 : type == SEM_MMA_F16 || type == SEM_MMA_BF16 ? 16 : 8;
    const sem_s32xn x = *(const sem_s32xn *)(const void *)(words + from),
                    wide = sem_mma_wide(type, (x >> (int)(element * bits)) & (int32_t)(UINT32_MAX >> (32 - bits))),
                    size = wide & INT32_MAX, is_zero = size == 0;
    const sem_s32xn e = sem_mma_larger((size >> 23) - 127, size - size + how->least),
                    kept = sem_mma_either(is_zero, size - size + SEM_MMA_FAR, e);
    ends->largest = sem_mma_larger(ends->largest, size);
    if (bits != 8 && type != SEM_MMA_F16)
        ends->far |= (sem_s32xn)((sem_u32xn)(e + SEM_MMA_NEAR) > 2u * SEM_MMA_NEAR) & ~is_zero;
    for (unsigned part = 0; part < SEM_MMA_LANES; part += 8) {
        const unsigned at =
            sem_mma_order(how, (from + part) / line * (32 / bits) + element) * line + (from + part) % line;
        *(sem_s32x8 *)(void *)(value + at) = ((const sem_s32x8 *)&wide)[part / 8];
        *(sem_s32x8 *)(void *)(exponent + at) = ((const sem_s32x8 *)&kept)[part / 8];
    }
}

/* All of a part. `count` words are a multiple of two. */
SEM_MMA_INLINE struct sem_mma_kinds sem_mma_spread_all(unsigned type, const struct sem_mma_ready *how, unsigned line,
                                                       const uint32_t *words, unsigned count, float *value,
                                                       int32_t *exponent)
{
    const unsigned each = type == SEM_MMA_TF32 ? 1 : type == SEM_MMA_F16 || type == SEM_MMA_BF16 ? 2 : 4;
    struct sem_mma_ends ends = {{0}, {0}};
    for (unsigned from = 0; from < count * line; from += SEM_MMA_LANES)
        for (unsigned element = 0; element < each; element++)
            sem_mma_spread(type, how, line, words, from, element, value, exponent, &ends);
    return (struct sem_mma_kinds){sem_mma_any(ends.largest >= 0x7f800000), sem_mma_any(ends.far)};
}

/* Infinite numbers and NaNs are taken out of `count` numbers. Returns whether there are any others that are far. */
static inline bool sem_mma_set_aside(unsigned count, float *value, int32_t *exponent, float *odd)
{
    bool far = false;
    for (unsigned i = 0; i < count; i++) {
        odd[i] = value[i];
        if (!(__builtin_fabsf(value[i]) < __builtin_inff())) {
            value[i] = 0;
            exponent[i] = SEM_MMA_FAR;
        }
        far |= exponent[i] != SEM_MMA_FAR && (exponent[i] > SEM_MMA_NEAR || exponent[i] < -SEM_MMA_NEAR);
    }
    return far;
}

/* All of a part, lines of `line` rows or columns. For each type that is multiplied: the compiler knows it. */
SEM_MMA_INLINE struct sem_mma_kinds sem_mma_make_ready(const struct sem_mma_ready *how, unsigned line,
                                                       const uint32_t *words, float *value, int32_t *exponent,
                                                       float *odd)
{
    const unsigned bits = sem_mma_format(how->type)->bits, count = (how->k * bits / 32 + 1) / 2 * 2;
    struct sem_mma_kinds kinds;
#define SEM_MMA_CASE(type)                                                          \
    case type:                                                                      \
        kinds = sem_mma_spread_all(type, how, line, words, count, value, exponent); \
        break;
    switch (how->type) {
        SEM_MMA_CASE(SEM_MMA_F16)
        SEM_MMA_CASE(SEM_MMA_BF16)
        SEM_MMA_CASE(SEM_MMA_TF32)
        SEM_MMA_CASE(SEM_MMA_E4M3)
    default:
        SEM_MMA_CASE(SEM_MMA_E5M2)
    }
#undef SEM_MMA_CASE
    if (kinds.special)
        kinds.far = sem_mma_set_aside(count * 32 / bits * line, value, exponent, odd);
    return kinds;
}
static inline void sem_mma_left_ready(struct sem_mma_left *a, const struct sem_mma_ready *how)
{
    a->kinds = sem_mma_make_ready(how, SEM_MMA_ROWS, a->words[0], a->value[0], a->exponent[0], a->odd[0]);
}
static inline void sem_mma_right_ready(struct sem_mma_right *b, const struct sem_mma_ready *how)
{
    b->kinds = sem_mma_make_ready(how, SEM_MMA_COLUMNS, b->words[0], b->value[0], b->exponent[0], b->odd[0]);
}

/* ---- sums ---- */

/* How a generation sums products of a type. */
struct sem_mma_sums {
    unsigned block; /* products that are summed at once, 16 at most, or 32 */
    int fraction;   /* bits kept behind the point of the largest, 25 at most, or 13 */
    bool apart;     /* they are summed from 0 on, and C is added to that, rounded to the nearest */
};

/* A block: `count` products from `first` on, of the rows from `row` on and column n of B. */
struct sem_mma_block {
    unsigned row, n, first, count;
    int fraction;
    bool sparse;
};

/* What belongs to column i of a sparse A, row by row. */
SEM_MMA_INLINE sem_s32xn sem_mma_partners(const struct sem_mma_left *x, const void *right, struct sem_mma_block b,
                                          unsigned i)
{
    const int32_t(*from)[SEM_MMA_COLUMNS] = right;
    sem_s32xn of = {0};
    for (unsigned lane = 0; lane < SEM_MMA_LANES; lane++)
        of[lane] = from[x->at[i][b.row + lane]][b.n];
    return of;
}

/* Column i of A, times those of B among `right`. */
SEM_MMA_INLINE sem_f32xn sem_mma_product(const struct sem_mma_left *x, const float a[][SEM_MMA_ROWS],
                                         const float right[][SEM_MMA_COLUMNS], struct sem_mma_block b, unsigned i)
{
    const sem_f32xn left = *(const sem_f32xn *)(const void *)(a[i] + b.row);
    return b.sparse ? left * (sem_f32xn)sem_mma_partners(x, right, b, i) : left * right[i][b.n];
}

/* The largest exponent of the products. */
SEM_MMA_INLINE sem_s32xn sem_mma_largest(const struct sem_mma_left *x, const struct sem_mma_right *y,
                                         struct sem_mma_block b)
{
    sem_s32xn most = {0};
    most += 2 * SEM_MMA_FAR;
    for (unsigned i = b.first; i < b.first + b.count; i++) {
        sem_s32xn e = *(const sem_s32xn *)(const void *)(x->exponent[i] + b.row);
        if (b.sparse)
            e += sem_mma_partners(x, y->exponent, b, i);
        else
            e += y->exponent[i][b.n];
        most = sem_mma_larger(most, e);
    }
    return most;
}

/* The sums of c and the first eight products, and of the others (each fits), in units of 2^(most - fraction). */
SEM_MMA_INLINE void sem_mma_near(const struct sem_mma_left *x, const struct sem_mma_right *y, struct sem_mma_block b,
                                 sem_s32xn c, sem_s32xn most, sem_s32xn sum[2])
{
    const sem_f32xn scale = (sem_f32xn)((127 + b.fraction - most) << 23);
    sum[0] = __builtin_convertvector((sem_f32xn)c * scale, sem_s32xn);
    sum[1] = c - c;
    for (unsigned i = 0; i < b.count; i++)
        sum[i >= 8] +=
            __builtin_convertvector(sem_mma_product(x, x->value, y->value, b, b.first + i) * scale, sem_s32xn);
}
static inline void sem_mma_far(const struct sem_mma_left *x, const struct sem_mma_right *y, struct sem_mma_block b,
                               const sem_s32xn *c, const sem_s32xn *most, sem_s32xn sum[2])
{
    for (unsigned half = 0; half < SEM_MMA_LANES / 8; half++) {
        const sem_s64x8 power = __builtin_convertvector(1023 + b.fraction - ((const sem_s32x8 *)most)[half], sem_s64x8)
                                << 52;
        const sem_f64x8 scale = (sem_f64x8)power;
        sem_s32x8 part[2] = {__builtin_convertvector(
            __builtin_convertvector(((const sem_f32x8 *)c)[half], sem_f64x8) * scale, sem_s32x8)};
        for (unsigned i = 0; i < b.count; i++) {
            sem_f32xn right = {0};
            if (b.sparse)
                right = (sem_f32xn)sem_mma_partners(x, y->value, b, b.first + i);
            else
                right += y->value[b.first + i][b.n];
            const sem_f64x8 of_a = __builtin_convertvector(
                                *(const sem_f32x8 *)(const void *)(x->value[b.first + i] + b.row + 8 * half),
                                sem_f64x8),
                            of_b = __builtin_convertvector(((const sem_f32x8 *)&right)[half], sem_f64x8);
            part[i >= 8] += __builtin_convertvector(of_a * of_b * scale, sem_s32x8);
        }
        for (unsigned k = 0; k < 2; k++)
            ((sem_s32x8 *)&sum[k])[half] = part[k];
    }
}

/* The sums of numbers that are near, as f32: no result but a lone c is subnormal. Cut off; or for an f16 to which they
 * are rounded, with the last bit set where anything was cut off, so that it is rounded once. */
SEM_MMA_INLINE sem_s32xn sem_mma_cut(const sem_s32xn sum[2], sem_s32xn most, int fraction, bool rounds)
{
    const sem_s32xn all = (sem_s32xn)((sem_u32xn)sum[0] + (sem_u32xn)sum[1]), /* modulo 2^32 */
        sign = ((sum[0] >> 1) + (sum[1] >> 1) < 0) & (all != 0);
    const sem_u32xn size = (sem_u32xn)((all ^ sign) - sign); /* fits without a sign */
    sem_s32xn power = (most + (127 - fraction)) << 23, down;
    if (rounds) { /* 16 bits and more are enough */
        const sem_s32xn large = size > 0xffffff, rest = (sem_s32xn)(size >> 8) | ((sem_s32xn)((size & 255) != 0) & 1);
        down = (sem_s32xn) __builtin_convertvector(sem_mma_either(large, rest, (sem_s32xn)size), sem_f32xn);
        power += large & 8 << 23;
    } else {
#ifdef __AVX512F__
        down = (sem_s32xn)_mm512_cvt_roundepu32_ps((__m512i)size, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
        const sem_s32xn large = size > INT32_MAX / 2,
                        kept = sem_mma_either(large, (sem_s32xn)(size >> 6), (sem_s32xn)size);
        const sem_f32xn nearest = __builtin_convertvector(kept, sem_f32xn); /* one too large where rounded up */
        down = (sem_s32xn)nearest + (__builtin_convertvector(nearest, sem_s32xn) > kept);
        power += large & 6 << 23;
#endif
    }
    return (sem_s32xn)((sem_f32xn)down * (sem_f32xn)power) | (sign & INT32_MIN);
}

/* What infinite numbers and NaNs among the products and in c make of their sums: bits of f32; 0: nothing. */
SEM_MMA_INLINE sem_s32xn sem_mma_special(const struct sem_mma_left *x, const struct sem_mma_right *y,
                                         struct sem_mma_block b, sem_s32xn c)
{
    const int32_t infinite = 0x7f800000;
    const float(*right)[SEM_MMA_COLUMNS] = y->kinds.special ? y->odd : y->value;
    sem_f32xn seen = (sem_f32xn)(c & ((c & infinite) == infinite));
    const float(*left)[SEM_MMA_ROWS] = x->kinds.special ? x->odd : x->value;
    for (unsigned i = b.first; i < b.first + b.count && (x->kinds.special || y->kinds.special); i++) {
        sem_s32xn odd = {0};
        for (unsigned lane = 0; lane < SEM_MMA_LANES; lane++) {
            const float one = left[i][b.row + lane],
                        other = right[b.sparse ? (unsigned)x->at[i][b.row + lane] : i][b.n];
            odd[lane] = -!(__builtin_fabsf(one) < __builtin_inff() && __builtin_fabsf(other) < __builtin_inff());
        }
        seen += (sem_f32xn)((sem_s32xn)sem_mma_product(x, left, right, b, i) & odd);
    }
    const sem_s32xn bits = (sem_s32xn)seen, is_nan = (bits & INT32_MAX) > infinite;
    return sem_mma_either(is_nan, is_nan - is_nan + INT32_MAX, bits);
}

/* One block of a column. `c` are f32; so are the results, or if `half` f16; `from_half`: so they were before. */
SEM_MMA_INLINE sem_s32xn sem_mma_step(const struct sem_mma_left *x, const struct sem_mma_right *y,
                                      struct sem_mma_block b, bool half, bool from_half, sem_s32xn c)
{
    const sem_s32xn odd = (c & 0x7f800000) == 0x7f800000, kept = c & ~odd, nothing = (kept & INT32_MAX) == 0;
    /* a subnormal number as it is written, one of an f16 too */
    const sem_s32xn own = sem_mma_larger((kept >> 23 & 255) - 127, c - c + (from_half ? -14 : -126));
    const sem_s32xn largest = sem_mma_largest(x, y, b);
    const bool far = x->kinds.far || y->kinds.far;
    const sem_s32xn most = sem_mma_larger(sem_mma_larger(largest, sem_mma_either(nothing, c - c + SEM_MMA_FAR, own)),
                                          c - c + (far ? -300 : -2 * SEM_MMA_NEAR - 4));
    sem_s32xn sum[2], d;
    if (far) { /* not of types that have f16 results */
        sem_mma_far(x, y, b, &kept, &most, sum);
        for (unsigned lane = 0; lane < SEM_MMA_LANES; lane++)
            d[lane] = (int32_t)sem_mma_to_f32((int64_t)sum[0][lane] + sum[1][lane], most[lane], b.fraction);
    } else {
        sem_mma_near(x, y, b, kept, most, sum);
        d = sem_mma_cut(sum, most, b.fraction, half);
        const sem_s32xn alone = largest < -4 * SEM_MMA_NEAR; /* c is */
        d = sem_mma_either(alone, kept & ~nothing, d);
    }
    if (half) {
        d = sem_mma_halves(d);
        d &= (d & 0x7fff) != 0; /* what becomes zero has no sign */
    }
    sem_s32xn special = sem_mma_special(x, y, b, c);
    const sem_s32xn any = special != 0;
    if (half)
        special = sem_mma_halves(special);
    return sem_mma_either(any, special, d);
}

/* Columns of results: c, f32, and d, f32 or if `half` (C is f16 as well) f16. */
SEM_MMA_INLINE void sem_mma_column(const struct sem_mma_left *x, const struct sem_mma_right *y, struct sem_mma_sums how,
                                   unsigned block, unsigned n, unsigned k, bool half, bool sparse, const uint32_t *c,
                                   uint32_t *d)
{
    for (unsigned row = 0; row < SEM_MMA_ROWS; row += SEM_MMA_LANES) {
        const sem_s32xn of_c = *(const sem_s32xn *)(const void *)(c + row);
        sem_s32xn so_far = of_c & (how.apart ? 0 : -1), now = so_far;
        for (unsigned first = 0; first < k; first += block) {
            /* Where C comes later each block is an instruction of its own, and gives what D is. */
            const bool rounds = half && (how.apart || first + block == k), was_half = half && (how.apart || !first);
            now = sem_mma_step(x, y, (struct sem_mma_block){row, n, first, block, how.fraction, sparse}, rounds,
                               was_half, so_far);
            so_far = now;
            if (rounds)
                so_far = sem_mma_of_halves(now);
        }
        if (how.apart) {
            const sem_s32xn all = (sem_s32xn)((sem_f32xn)so_far + (sem_f32xn)of_c),
                            is_nan = (all & INT32_MAX) > 0x7f800000;
            now = sem_mma_either(is_nan, is_nan - is_nan + INT32_MAX, all);
            if (half)
                now = sem_mma_halves(now);
        }
        *(sem_s32xn *)(void *)(d + row) = now;
    }
}
static inline void sem_mma_columns(const struct sem_mma_left *x, const struct sem_mma_right *y, struct sem_mma_sums how,
                                   unsigned k, bool half, const uint32_t c[][SEM_MMA_ROWS], uint32_t d[][SEM_MMA_ROWS])
{
    const unsigned block = how.block < k ? how.block : k;
    for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++) /* of the usual ones the compiler knows the number */
        switch (x->sparse || half ? 0 : block) {
        case 8:
            sem_mma_column(x, y, how, 8, n, k, false, false, c[n], d[n]);
            break;
        case 16:
            sem_mma_column(x, y, how, 16, n, k, false, false, c[n], d[n]);
            break;
        case 32:
            sem_mma_column(x, y, how, 32, n, k, false, false, c[n], d[n]);
            break;
        default:
            sem_mma_column(x, y, how, block, n, k, half, x->sparse, c[n], d[n]);
        }
}
#endif
