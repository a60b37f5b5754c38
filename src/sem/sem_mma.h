/* sem_mma.h - what matrix multiplications compute: D = A B + C over the lanes of a warp, written once.
 *
 * sem_mma(what, cc, io) takes an instruction's registers as sem_warp.h does: those of A, then B, then C, and for sparse
 * ones the metadata; it writes D's. Which element of which matrix a register holds is sem_mma_row and sem_mma_column
 * (PTX ISA, "Matrix fragments for mma").
 *
 * Floating-point arithmetic is that of the tensor cores, which is not IEEE's: products are exact; `block` of them and
 * the accumulator are aligned to the largest exponent among them, those of subnormal numbers taken as they are written,
 * and cut off `fraction` bits behind its point; the sum of these is exact, and is cut off to f32 or rounded to the
 * nearest f16. A longer row of products goes through several such blocks, one behind the other. sem_mma_sums says which
 * numbers hold for which type and generation. f64 is a chain of fused multiply-adds, in order. Integers are exact, and
 * wrap round or saturate at the end.
 *
 * To add a type: a row of sem_mma_formats, and what sums of it are in sem_mma_sums.
 */
#ifndef MG_SEM_MMA_H
#define MG_SEM_MMA_H
#include "sem_float.h"
#include "sem_warp.h"

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
struct mg_sem_mma { /* eight bytes: an instruction's shape, types and modifiers */
    uint8_t m, n;
    uint16_t k;
    uint8_t ab; /* types of A and B: a | b << 4 */
    uint8_t cd; /* of C and D */
    uint8_t flags;
    uint8_t more; /* the sparsity selector; the rounding of f64, SEM_RZ and its kin */
};
enum { /* flags */
       SEM_MMA_SATURATES = 1,
       SEM_MMA_AND = 2 /* b1: else .xor */,
       SEM_MMA_A_COL = 4,
       SEM_MMA_B_ROW = 8 /* m8n8k4 of f16 */,
       SEM_MMA_SPARSE = 16
};
static inline unsigned sem_mma_a(const struct mg_sem_mma *w)
{
    return w->ab & 15u;
}
static inline unsigned sem_mma_b(const struct mg_sem_mma *w)
{
    return w->ab >> 4;
}
static inline unsigned sem_mma_c(const struct mg_sem_mma *w)
{
    return w->cd & 15u;
}
static inline unsigned sem_mma_d(const struct mg_sem_mma *w)
{
    return w->cd >> 4;
}

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

/* ---- where elements are ---- */

/* mma.m8n8k4 of f16: four multiplications, each by two groups of four lanes 16 apart. */
static inline bool sem_mma_is_quads(const struct mg_sem_mma *w)
{
    return w->m == 8 && w->k == 4 && sem_mma_a(w) == SEM_MMA_F16;
}

/* Element i of a lane's registers of A (operand 0), B (1), C or D (2). */
struct sem_mma_place {
    unsigned row, column;
};
static inline struct sem_mma_place sem_mma_quads(const struct mg_sem_mma *w, unsigned operand, unsigned type,
                                                 unsigned lane, unsigned i)
{
    const unsigned low = lane % 4, high = lane / 16 * 4;
    if (operand == 0)
        return w->flags & SEM_MMA_A_COL ? (struct sem_mma_place){i + high, low} : (struct sem_mma_place){low + high, i};
    if (operand == 1)
        return w->flags & SEM_MMA_B_ROW ? (struct sem_mma_place){low, i + high} : (struct sem_mma_place){i, low + high};
    if (type == SEM_MMA_F16)
        return (struct sem_mma_place){low + high, i};
    return (struct sem_mma_place){(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
}
static inline struct sem_mma_place sem_mma_place(const struct mg_sem_mma *w, unsigned operand, unsigned type,
                                                 unsigned lane, unsigned i)
{
    if (sem_mma_is_quads(w))
        return sem_mma_quads(w, operand, type, lane, i);
    const unsigned bits = sem_mma_format(type)->bits, each = bits < 32 ? 32 / bits : 1; /* elements of a register */
    const unsigned group = lane / 4, quarter = lane % 4, reg = i / each, halves = w->m / 8u;
    if (operand == 0)
        return (struct sem_mma_place){group + 8 * (reg % halves), reg / halves * 4 * each + quarter * each + i % each};
    if (operand == 1)
        return (struct sem_mma_place){reg * 4 * each + quarter * each + i % each, group};
    return (struct sem_mma_place){group + 8 * (i / 2), 2 * quarter + i % 2};
}

static inline uint64_t sem_mma_element(const struct mg_sem_warp *io, unsigned first, unsigned bits, unsigned lane,
                                       unsigned i)
{
    if (bits == 64)
        return ((const uint64_t *)io->in[first + i])[lane];
    const unsigned each = 32 / bits;
    return ((const uint32_t *)io->in[first + i / each])[lane] >> i % each * bits &
           (uint32_t)(0xffffffffu >> (32 - bits));
}

/* Matrices as bits. A of a sparse one has half as many columns. */
enum { SEM_MMA_ROWS = 16, SEM_MMA_COLUMNS = 8, SEM_MMA_K = 256 };

/* ---- floating point ---- */

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
                               -(int32_t)(bits >> (f->bits - 1))};
    if (!x.magnitude)
        x.exponent = SEM_MMA_FAR;
    if (type == SEM_MMA_E4M3 && x.magnitude && x.magnitude < 8) { /* as f16 it is normal */
        const int by = __builtin_clz(x.magnitude) - 28;
        x.magnitude <<= by;
        x.exponent -= by;
    }
    return x;
}

/* How a generation sums products of a type. */
struct sem_mma_sums {
    unsigned block; /* products that are summed at once */
    int fraction;   /* bits kept behind the point of the largest */
    bool apart;     /* they are summed from 0 on, and C is added to that, rounded to the nearest */
};
/* sm_90 has no instruction for eight bits but wgmma: ptxas makes f16 of them, and multiplies the first and second
 * element of every four, then the third and fourth. Measured on an H200; others as the papers of Fasi and others (2021)
 * and Xie and others (arXiv 2511.10909) describe them. */
static inline bool sem_mma_is_eight(unsigned type)
{
    return type == SEM_MMA_E4M3 || type == SEM_MMA_E5M2;
}
static inline struct sem_mma_sums sem_mma_sums(unsigned type, unsigned cc, unsigned k)
{
    if (sem_mma_is_eight(type))
        return cc == 89 ? (struct sem_mma_sums){16, 13, false} : (struct sem_mma_sums){k / 2, 25, true};
    if (cc >= 90)
        return (struct sem_mma_sums){type == SEM_MMA_TF32 ? 8 : 16, 25, false};
    if (cc >= 75)
        return (struct sem_mma_sums){type == SEM_MMA_TF32 ? 4 : 8, 24, false};
    return (struct sem_mma_sums){4, 23, false};
}
/* Where products of that column of A stand in the sum. */
static inline unsigned sem_mma_order(unsigned type, unsigned cc, unsigned k, unsigned column)
{
    if (!sem_mma_is_eight(type) || cc == 89)
        return column;
    return column / 4 * 2 + column % 2 + (column % 4 < 2 ? 0 : k / 2);
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

struct sem_mma_floats {
    uint32_t a[SEM_MMA_ROWS][64], b[64][SEM_MMA_COLUMNS]; /* magnitudes */
    int32_t a_exponent[SEM_MMA_ROWS][64], b_exponent[64][SEM_MMA_COLUMNS];
    int32_t a_sign[SEM_MMA_ROWS][64], b_sign[64][SEM_MMA_COLUMNS];
    uint8_t a_class[SEM_MMA_ROWS][64], b_class[64][SEM_MMA_COLUMNS];
    uint8_t at[SEM_MMA_ROWS][64];              /* the row of B that belongs to an element of A */
    uint32_t c[SEM_MMA_ROWS][SEM_MMA_COLUMNS]; /* f32 */
    bool special;                              /* some element of A or B is infinite or NaN */
};

/* What infinite and NaN ones among `count` products and c, an f32, make of their sum: the bits of an f32; 0: nothing.
 */
static inline uint32_t sem_mma_special(const struct sem_mma_floats *x, unsigned row, unsigned column, unsigned first,
                                       unsigned count, uint32_t c)
{
    unsigned seen = 0; /* bits: plus, minus, NaN */
    for (unsigned i = first; i < first + count && x->special; i++) {
        const unsigned at = x->at[row][i], a = x->a_class[row][i], b = x->b_class[at][column];
        if (a == SEM_MMA_FINITE && b == SEM_MMA_FINITE)
            continue;
        if (a == SEM_MMA_NAN || b == SEM_MMA_NAN || (a == SEM_MMA_FINITE && !x->a[row][i]) ||
            (b == SEM_MMA_FINITE && !x->b[at][column]))
            seen |= 4;
        else
            seen |= x->a_sign[row][i] == x->b_sign[at][column] ? 1 : 2;
    }
    if ((c & 0x7f800000u) == 0x7f800000u)
        seen |= c & 0x7fffffu ? 4 : c >> 31 ? 2 : 1;
    return seen == 0 ? 0 : seen == 1 ? 0x7f800000u : seen == 2 ? 0xff800000u : 0x7fffffffu;
}

/* A block of `count` products from `first` on and the accumulator, for one row: sums and what they are multiples of. */
static inline void sem_mma_block(const struct sem_mma_floats *x, unsigned row, unsigned first, unsigned count, int up,
                                 int fraction, const struct sem_mma_number c[SEM_MMA_COLUMNS],
                                 int64_t sum[SEM_MMA_COLUMNS], int32_t most[SEM_MMA_COLUMNS])
{
    int32_t part[2][SEM_MMA_COLUMNS] = {{0}}; /* eight products each: they fit */
    for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++)
        most[n] = c[n].exponent;
    for (unsigned i = first; i < first + count; i++)
        for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++) {
            const int32_t e = x->a_exponent[row][i] + x->b_exponent[x->at[row][i]][n];
            most[n] = most[n] > e ? most[n] : e;
        }
    for (unsigned i = first; i < first + count; i++)
        for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++) {
            const unsigned at = x->at[row][i];
            int32_t down = most[n] - (x->a_exponent[row][i] + x->b_exponent[at][n]);
            down = down > 31 ? 31 : down;
            const int32_t value = (int32_t)((x->a[row][i] * x->b[at][n] << up) >> down);
            const int32_t sign = x->a_sign[row][i] ^ x->b_sign[at][n];
            part[(i - first) / 8 % 2][n] += (value ^ sign) - sign;
        }
    for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++) {
        const int32_t apart = most[n] - c[n].exponent, down = 23 - fraction + apart;
        const uint64_t wide = (uint64_t)c[n].magnitude << 32;
        const int64_t value = down + 32 > 63 ? 0 : (int64_t)(wide >> (down + 32));
        sum[n] = (int64_t)part[0][n] + part[1][n] + (c[n].sign ? -value : value);
    }
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

/* A row of results, in f32 or f16. */
static inline void sem_mma_row(const struct sem_mma_floats *x, const struct mg_sem_mma *w, struct sem_mma_sums how,
                               unsigned k, unsigned row, uint32_t d[SEM_MMA_COLUMNS])
{
    const int up = how.fraction - sem_mma_format(sem_mma_a(w))->mantissa - sem_mma_format(sem_mma_b(w))->mantissa;
    /* wmma can add to f32 and give f16: ptxas then rounds what is cut off to f32 once more. */
    const bool half = sem_mma_d(w) == SEM_MMA_F16 && sem_mma_c(w) == SEM_MMA_F16;
    const unsigned block = how.block < k ? how.block : k;
    uint32_t so_far[SEM_MMA_COLUMNS]; /* f32 */
    struct sem_mma_number c[SEM_MMA_COLUMNS];
    int64_t sum[SEM_MMA_COLUMNS];
    int32_t most[SEM_MMA_COLUMNS];
    for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++)
        so_far[n] = how.apart ? 0 : x->c[row][n];
    for (unsigned first = 0; first < k; first += block) {
        for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++) {
            unsigned class;
            c[n] = sem_mma_split(SEM_MMA_F32, so_far[n], &class);
        }
        sem_mma_block(x, row, first, block, up, how.fraction, c, sum, most);
        for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++) {
            const uint32_t special = sem_mma_special(x, row, n, first, block, so_far[n]);
            /* Where C comes later each block is an instruction of its own, and gives what D is. */
            if (half && (how.apart || first + block == k)) {
                d[n] = special ? sem_mma_f16_of_f32(special) : sem_mma_to_f16(sum[n], most[n], how.fraction);
                so_far[n] = sem_mma_f32_of_f16(d[n]);
            } else {
                d[n] = so_far[n] = special ? special : sem_mma_to_f32(sum[n], most[n], how.fraction);
            }
        }
    }
    for (unsigned n = 0; how.apart && n < SEM_MMA_COLUMNS; n++) {
        uint32_t all = sem_add_f32(so_far[n], x->c[row][n], 0);
        d[n] = half ? sem_mma_f16_of_f32(all) : all;
    }
    for (unsigned n = 0; sem_mma_d(w) == SEM_MMA_F16 && !half && n < SEM_MMA_COLUMNS; n++)
        d[n] = sem_mma_f16_of_f32(d[n]);
}

/* mma.m8n8k4 since sm_75 is a chain of fused multiply-adds, to which C is added. */
static inline uint32_t sem_mma_chain(const struct sem_mma_floats *x, unsigned row, unsigned column)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        const int64_t a = x->a_sign[row][i] ? -(int64_t)x->a[row][i] : (int64_t)x->a[row][i];
        const int64_t b = x->b_sign[i][column] ? -(int64_t)x->b[i][column] : (int64_t)x->b[i][column];
        uint32_t of_a = sem_mma_to_f32(a, x->a_exponent[row][i], 10),
                 of_b = sem_mma_to_f32(b, x->b_exponent[i][column], 10);
        of_a |= (uint32_t)x->a_sign[row][i] & 0x80000000u;
        of_b |= (uint32_t)x->b_sign[i][column] & 0x80000000u;
        sum = sem_fma_f32(of_a, of_b, sum, 0);
    }
    return sum;
}

static inline void sem_mma_floats(struct sem_mma_floats *x, const struct mg_sem_mma *w, unsigned cc, unsigned k,
                                  uint32_t d[SEM_MMA_ROWS][SEM_MMA_COLUMNS])
{
    const struct sem_mma_sums how = sem_mma_sums(sem_mma_a(w), cc, k);
    for (unsigned row = 0; row < w->m; row++) {
        if (!sem_mma_is_quads(w) || cc < 75) {
            sem_mma_row(x, w, how, k, row, d[row]);
            continue;
        }
        for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++) {
            const uint32_t special = sem_mma_special(x, row, n, 0, 4, x->c[row][n]);
            const uint32_t sum = special ? special : sem_add_f32(sem_mma_chain(x, row, n), x->c[row][n], 0);
            d[row][n] = sem_mma_d(w) == SEM_MMA_F16 ? sem_mma_f16_of_f32(sum) : sum;
        }
    }
}

/* ---- sparse: of every four elements of a row of A two are stored (of tf32 one of two, of four bits two pairs of
 * eight), and the metadata say which ---- */
static inline unsigned sem_mma_metadata(const struct mg_sem_mma *w, const uint32_t *e, unsigned row, unsigned group)
{
    const unsigned type = sem_mma_a(w), each = type == SEM_MMA_TF32 ? 2 : sem_mma_format(type)->bits == 4 ? 8 : 4;
    const unsigned groups = w->k / each; /* of a row: four bits each */
    unsigned lane = row % 8 * 4, at = 0;
    if (groups == 4) { /* 16 bits a row: one lane has two rows */
        lane += w->more & 3u;
        at = 4 * group + 16 * (row / 8);
    } else if (groups == 8) { /* a pair of lanes has two rows */
        if (sem_mma_format(type)->bits >= 16) {
            lane += 2 * (w->more & 1u) + group / 4;
            at = 4 * (group % 4) + 16 * (row / 8);
        } else {
            lane += 2 * (w->more & 1u) + row / 8;
            at = 4 * group;
        }
    } else {
        lane += 2 * (group / 8) + row / 8;
        at = 4 * (group % 8);
    }
    return e[lane] >> at & 15;
}

/* Which row of B belongs to element i of a row of A. */
static inline unsigned sem_mma_partner(const struct mg_sem_mma *w, const uint32_t *e, unsigned row, unsigned i)
{
    if (!(w->flags & SEM_MMA_SPARSE))
        return i;
    const unsigned type = sem_mma_a(w), bits = sem_mma_format(type)->bits;
    if (type == SEM_MMA_TF32)
        return 2 * i + (sem_mma_metadata(w, e, row, i) == 14);
    const unsigned pair = bits == 4 ? 2 : 1, group = i / (2 * pair), which = i / pair % 2;
    return group * 4 * pair + (sem_mma_metadata(w, e, row, group) >> 2 * which & 3) * pair + i % pair;
}

/* ---- integers, exact ---- */
static inline int64_t sem_mma_integer(unsigned type, uint64_t bits)
{
    const struct sem_mma_format *f = sem_mma_format(type);
    const uint64_t top = 1ull << (f->bits - 1);
    return f->is_signed && bits & top ? (int64_t)bits - (int64_t)(top << 1) : (int64_t)bits;
}

static inline uint32_t sem_mma_whole(const struct mg_sem_mma *w, int64_t sum)
{
    if (w->flags & SEM_MMA_SATURATES)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)(uint64_t)sum;
}

/* ---- one multiplication, by the lanes of `lanes` ---- */

static inline void sem_mma_put(const struct mg_sem_warp *io, unsigned bits, unsigned lane, unsigned i, uint64_t value)
{
    if (bits == 64) {
        ((uint64_t *)io->out[i])[lane] = value;
        return;
    }
    const unsigned each = 32 / bits, at = i % each * bits;
    uint32_t *d = (uint32_t *)io->out[i / each] + lane;
    *d = at == 0 ? (uint32_t)value : *d | (uint32_t)value << at; /* in ascending order of elements */
}

/* Elements of a lane: of A, B, or C and D. */
static inline unsigned sem_mma_count(const struct mg_sem_mma *w, unsigned operand)
{
    if (sem_mma_is_quads(w))
        return operand == 2 ? 8 : 4;
    return operand == 0   ? w->m * w->k / 32u / (w->flags & SEM_MMA_SPARSE ? 2 : 1)
           : operand == 1 ? w->k * w->n / 32u
                          : w->m * w->n / 32u;
}
static inline unsigned sem_mma_registers(const struct mg_sem_mma *w, unsigned operand, unsigned type)
{
    const unsigned bits = sem_mma_format(type)->bits;
    return sem_mma_count(w, operand) * bits / (bits == 64 ? 64 : 32);
}

#define SEM_MMA_EACH(operand, type)            \
    for (unsigned lane = 0; lane < 32; lane++) \
        for (unsigned i = 0, count_ = lanes >> lane & 1 ? sem_mma_count(w, operand) : 0; i < count_; i++)

static inline void sem_mma_of_floats(const struct mg_sem_mma *w, unsigned cc, const struct mg_sem_warp *io,
                                     uint32_t lanes)
{
    struct sem_mma_floats x;
    uint32_t d[SEM_MMA_ROWS][SEM_MMA_COLUMNS];
    const unsigned atype = sem_mma_a(w), btype = sem_mma_b(w), ctype = sem_mma_c(w), dtype = sem_mma_d(w);
    const unsigned second = sem_mma_registers(w, 0, atype), third = second + sem_mma_registers(w, 1, btype);
    const uint32_t *e = w->flags & SEM_MMA_SPARSE ? io->in[third + sem_mma_registers(w, 2, ctype)] : NULL;
    const unsigned k = e ? w->k / 2u : w->k;
    x.special = false;
    SEM_MMA_EACH(0, atype)
    {
        struct sem_mma_place at = sem_mma_place(w, 0, atype, lane, i);
        const unsigned partner = sem_mma_partner(w, e, at.row, at.column);
        unsigned class;
        at.column = sem_mma_order(atype, cc, k, at.column);
        const uint32_t bits = (uint32_t)sem_mma_element(io, 0, sem_mma_format(atype)->bits, lane, i);
        const struct sem_mma_number v = sem_mma_split(atype, bits, &class);
        x.a[at.row][at.column] = v.magnitude;
        x.a_exponent[at.row][at.column] = v.exponent;
        x.a_sign[at.row][at.column] = v.sign;
        x.a_class[at.row][at.column] = (uint8_t) class;
        x.at[at.row][at.column] = (uint8_t)partner;
        x.special |= class != SEM_MMA_FINITE;
    }
    SEM_MMA_EACH(1, btype)
    {
        const struct sem_mma_place at = sem_mma_place(w, 1, btype, lane, i);
        unsigned class;
        const uint32_t bits = (uint32_t)sem_mma_element(io, second, sem_mma_format(btype)->bits, lane, i);
        const struct sem_mma_number v = sem_mma_split(btype, bits, &class);
        x.b[at.row][at.column] = v.magnitude;
        x.b_exponent[at.row][at.column] = v.exponent;
        x.b_sign[at.row][at.column] = v.sign;
        x.b_class[at.row][at.column] = (uint8_t) class;
        x.special |= class != SEM_MMA_FINITE;
    }
    SEM_MMA_EACH(2, ctype)
    {
        const struct sem_mma_place at = sem_mma_place(w, 2, ctype, lane, i);
        const uint32_t bits = (uint32_t)sem_mma_element(io, third, sem_mma_format(ctype)->bits, lane, i);
        x.c[at.row][at.column] = ctype == SEM_MMA_F16 ? sem_mma_f32_of_f16(bits) : bits;
    }
    sem_mma_floats(&x, w, cc, k, d);
    SEM_MMA_EACH(2, dtype)
    {
        const struct sem_mma_place at = sem_mma_place(w, 2, dtype, lane, i);
        sem_mma_put(io, sem_mma_format(dtype)->bits, lane, i, d[at.row][at.column]);
    }
}

static inline void sem_mma_of_integers(const struct mg_sem_mma *w, const struct mg_sem_warp *io)
{
    int16_t a[SEM_MMA_ROWS][SEM_MMA_K], b[SEM_MMA_K][SEM_MMA_COLUMNS];
    uint8_t partner[SEM_MMA_ROWS][SEM_MMA_K];
    const unsigned atype = sem_mma_a(w), btype = sem_mma_b(w), abits = sem_mma_format(atype)->bits;
    const unsigned second = sem_mma_registers(w, 0, atype), third = second + sem_mma_registers(w, 1, btype);
    const uint32_t lanes = ~0u,
                   *e = w->flags & SEM_MMA_SPARSE ? io->in[third + sem_mma_registers(w, 2, SEM_MMA_S32)] : NULL;
    const unsigned k = e ? w->k / 2u : w->k;
    SEM_MMA_EACH(0, atype)
    {
        const struct sem_mma_place at = sem_mma_place(w, 0, atype, lane, i);
        a[at.row][at.column] = (int16_t)sem_mma_integer(atype, sem_mma_element(io, 0, abits, lane, i));
        partner[at.row][at.column] = (uint8_t)sem_mma_partner(w, e, at.row, at.column);
    }
    SEM_MMA_EACH(1, btype)
    {
        const struct sem_mma_place at = sem_mma_place(w, 1, btype, lane, i);
        b[at.row][at.column] = (int16_t)sem_mma_integer(btype, sem_mma_element(io, second, abits, lane, i));
    }
    SEM_MMA_EACH(2, SEM_MMA_S32)
    {
        const struct sem_mma_place at = sem_mma_place(w, 2, SEM_MMA_S32, lane, i);
        int32_t products = 0; /* of at most 256 times 2^16 */
        for (unsigned n = 0; n < k; n++) {
            const int32_t x = a[at.row][n], y = b[partner[at.row][n]][at.column];
            products += atype != SEM_MMA_B1 ? x * y : w->flags & SEM_MMA_AND ? x & y : x ^ y;
        }
        const int64_t c = sem_mma_integer(SEM_MMA_S32, sem_mma_element(io, third, 32, lane, i));
        sem_mma_put(io, 32, lane, i, sem_mma_whole(w, c + products));
    }
}

static inline void sem_mma_of_doubles(const struct mg_sem_mma *w, const struct mg_sem_warp *io)
{
    uint64_t a[SEM_MMA_ROWS][16], b[16][SEM_MMA_COLUMNS];
    const unsigned second = sem_mma_registers(w, 0, SEM_MMA_F64), third = second + sem_mma_registers(w, 1, SEM_MMA_F64);
    const uint32_t lanes = ~0u;
    SEM_MMA_EACH(0, SEM_MMA_F64)
    {
        const struct sem_mma_place at = sem_mma_place(w, 0, SEM_MMA_F64, lane, i);
        a[at.row][at.column] = sem_mma_element(io, 0, 64, lane, i);
    }
    SEM_MMA_EACH(1, SEM_MMA_F64)
    {
        const struct sem_mma_place at = sem_mma_place(w, 1, SEM_MMA_F64, lane, i);
        b[at.row][at.column] = sem_mma_element(io, second, 64, lane, i);
    }
    SEM_MMA_EACH(2, SEM_MMA_F64)
    {
        const struct sem_mma_place at = sem_mma_place(w, 2, SEM_MMA_F64, lane, i);
        uint64_t sum = sem_mma_element(io, third, 64, lane, i);
        for (unsigned n = 0; n < w->k; n++)
            sum = sem_fma_f64(a[at.row][n], b[n][at.column], sum, w->more);
        sem_mma_put(io, 64, lane, i, sum);
    }
}

static inline void sem_mma(const struct mg_sem_mma *w, unsigned cc, const struct mg_sem_warp *io)
{
    const unsigned type = sem_mma_a(w);
    if (type == SEM_MMA_F64) {
        sem_mma_of_doubles(w, io);
    } else if (type >= SEM_MMA_S8) {
        sem_mma_of_integers(w, io);
    } else if (sem_mma_is_quads(w)) {
        for (unsigned quad = 0; quad < 4; quad++)
            sem_mma_of_floats(w, cc, io, 0x000f000fu << 4 * quad);
    } else {
        sem_mma_of_floats(w, cc, io, ~0u);
    }
}
#undef SEM_MMA_EACH
#endif
