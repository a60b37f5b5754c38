/* sem_mma.h - what matrix multiplications compute: D = A B + C over the lanes of a warp, written once.
 *
 * sem_mma(what, cc, io) takes an instruction's registers as sem_warp.h does: those of A, then B, then C, and for sparse
 * ones the metadata; it writes D's. Which element of which matrix a register holds is sem_mma_row and sem_mma_column
 * (PTX ISA, "Matrix fragments for mma").
 *
 * What the sums of floating-point products are is in sem_mma_float.h. f64 is a chain of fused multiply-adds, in order.
 * Integers are exact, and wrap round or saturate at the end.
 */
#ifndef MG_SEM_MMA_H
#define MG_SEM_MMA_H
#include "sem_mma_float.h"
#include "sem_warp.h"

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

/* Where elements are, but for the quads: each register has eight rows of A, columns of B or rows of C, four words of
 * each in as many lanes, one behind the other. Of two registers they become four lines of 16 words, and back; of one of
 * B four lines of eight. */
#ifdef __AVX512F__
typedef int32_t sem_mma_lanes __attribute__((vector_size(64), may_alias, aligned(4)));
#define SEM_MMA_LINES(lanes, first)                                                                            \
    __builtin_shufflevector(((const sem_mma_lanes *)(lanes))[0], ((const sem_mma_lanes *)(lanes))[1], (first), \
                            (first) + 4, (first) + 8, (first) + 12, (first) + 16, (first) + 20, (first) + 24,  \
                            (first) + 28, (first) + 1, (first) + 5, (first) + 9, (first) + 13, (first) + 17,   \
                            (first) + 21, (first) + 25, (first) + 29)
#define SEM_MMA_HALVES(a, b, from)                                                                                    \
    __builtin_shufflevector(a, b, (from), (from) + 1, (from) + 2, (from) + 3, (from) + 4, (from) + 5, (from) + 6,     \
                            (from) + 7, (from) + 16, (from) + 17, (from) + 18, (from) + 19, (from) + 20, (from) + 21, \
                            (from) + 22, (from) + 23)
static inline void sem_mma_turn(const void *low, const void *high, void *lines, size_t pitch)
{
    const sem_s32xn a[2] = {SEM_MMA_LINES(low, 0), SEM_MMA_LINES(low, 2)},
                    b[2] = {SEM_MMA_LINES(high, 0), SEM_MMA_LINES(high, 2)};
    for (unsigned q = 0; q < 4; q += 2) {
        *(sem_s32xn *)(void *)((uint32_t *)lines + q * pitch) = SEM_MMA_HALVES(a[q / 2], b[q / 2], 0);
        *(sem_s32xn *)(void *)((uint32_t *)lines + (q + 1) * pitch) = SEM_MMA_HALVES(a[q / 2], b[q / 2], 8);
    }
}
static inline void sem_mma_turn_eight(const void *lanes, void *lines)
{
    ((sem_s32xn *)lines)[0] = SEM_MMA_LINES(lanes, 0);
    ((sem_s32xn *)lines)[1] = SEM_MMA_LINES(lanes, 2);
}
#undef SEM_MMA_LINES
static inline void sem_mma_turn_back(const void *lines, size_t pitch, void *low, void *high)
{
    sem_s32xn line[4];
    for (unsigned q = 0; q < 4; q++)
        line[q] = *(const sem_s32xn *)(const void *)((const uint32_t *)lines + q * pitch);
    for (unsigned half = 0; half < 2; half++) {
        sem_mma_lanes *to = half ? high : low;
        sem_s32xn a, b;
        if (half)
            a = SEM_MMA_HALVES(line[0], line[1], 8), b = SEM_MMA_HALVES(line[2], line[3], 8);
        else
            a = SEM_MMA_HALVES(line[0], line[1], 0), b = SEM_MMA_HALVES(line[2], line[3], 0);
        to[0] = __builtin_shufflevector(a, b, 0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27);
        to[1] = __builtin_shufflevector(a, b, 4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31);
    }
}
#undef SEM_MMA_HALVES
#else
#ifdef __AVX2__
static inline void sem_mma_turn_one(const void *lanes, void *lines, size_t pitch)
{
    const __m256i *from = lanes;
    const __m256i l[4] = {_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1), _mm256_loadu_si256(from + 2),
                          _mm256_loadu_si256(from + 3)};
    const __m256i a = _mm256_permute2x128_si256(l[0], l[2], 0x20), b = _mm256_permute2x128_si256(l[0], l[2], 0x31),
                  c = _mm256_permute2x128_si256(l[1], l[3], 0x20), d = _mm256_permute2x128_si256(l[1], l[3], 0x31);
    const __m256i low[2] = {_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d)},
                  high[2] = {_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d)};
    uint32_t *to = lines;
    _mm256_store_si256((void *)to, _mm256_unpacklo_epi64(low[0], low[1]));
    _mm256_store_si256((void *)(to + pitch), _mm256_unpackhi_epi64(low[0], low[1]));
    _mm256_store_si256((void *)(to + 2 * pitch), _mm256_unpacklo_epi64(high[0], high[1]));
    _mm256_store_si256((void *)(to + 3 * pitch), _mm256_unpackhi_epi64(high[0], high[1]));
}
static inline void sem_mma_turn_one_back(const void *lines, size_t pitch, void *lanes)
{
    const uint32_t *from = lines;
    const __m256i l[4] = {_mm256_load_si256((const void *)from), _mm256_load_si256((const void *)(from + pitch)),
                          _mm256_load_si256((const void *)(from + 2 * pitch)),
                          _mm256_load_si256((const void *)(from + 3 * pitch))};
    const __m256i low[2] = {_mm256_unpacklo_epi32(l[0], l[1]), _mm256_unpacklo_epi32(l[2], l[3])},
                  high[2] = {_mm256_unpackhi_epi32(l[0], l[1]), _mm256_unpackhi_epi32(l[2], l[3])};
    const __m256i a = _mm256_unpacklo_epi64(low[0], low[1]), b = _mm256_unpackhi_epi64(low[0], low[1]),
                  c = _mm256_unpacklo_epi64(high[0], high[1]), d = _mm256_unpackhi_epi64(high[0], high[1]);
    __m256i *to = lanes;
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(a, b, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(c, d, 0x20));
    _mm256_storeu_si256(to + 2, _mm256_permute2x128_si256(a, b, 0x31));
    _mm256_storeu_si256(to + 3, _mm256_permute2x128_si256(c, d, 0x31));
}
#else
static inline void sem_mma_turn_one(const void *lanes, void *lines, size_t pitch)
{
    for (unsigned q = 0; q < 4; q++)
        for (unsigned row = 0; row < 8; row++)
            ((uint32_t *)lines)[q * pitch + row] = ((const uint32_t *)lanes)[4 * row + q];
}
static inline void sem_mma_turn_one_back(const void *lines, size_t pitch, void *lanes)
{
    for (unsigned q = 0; q < 4; q++)
        for (unsigned row = 0; row < 8; row++)
            ((uint32_t *)lanes)[4 * row + q] = ((const uint32_t *)lines)[q * pitch + row];
}
#endif
static inline void sem_mma_turn(const void *low, const void *high, void *lines, size_t pitch)
{
    sem_mma_turn_one(low, lines, pitch);
    sem_mma_turn_one(high, (uint32_t *)lines + 8, pitch);
}
static inline void sem_mma_turn_eight(const void *lanes, void *lines)
{
    sem_mma_turn_one(lanes, lines, 8);
}
static inline void sem_mma_turn_back(const void *lines, size_t pitch, void *low, void *high)
{
    sem_mma_turn_one_back(lines, pitch, low);
    sem_mma_turn_one_back((const uint32_t *)lines + 8, pitch, high);
}
#endif

/* ---- floating point ---- */

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
/* What numbers have to be made ready for. */
static inline struct sem_mma_ready sem_mma_ready(unsigned type, unsigned cc, unsigned k)
{
    return (struct sem_mma_ready){type, k, type == SEM_MMA_F16 || type == SEM_MMA_E5M2 ? -14 : -126,
                                  sem_mma_is_eight(type) && cc != 89};
}

/* mma.m8n8k4 of f16 is no instruction since sm_80: ptxas (13.0, read off its machine code) makes shuffles and f32's
 * arithmetic of it. With f32 results the products are a chain of fused multiply-adds from +0, to which C is added; with
 * f16 ones C and the sums of the first and the last two products are added up, and rounded once more. */
struct sem_mma_factors { /* of one result: infinite ones and all */
    uint32_t a[4], b[4];
};
static inline uint32_t sem_mma_chain(const struct sem_mma_factors *f)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 4; i++)
        sum = sem_fma_f32(f->a[i], f->b[i], sum, 0);
    return sum;
}
static inline uint32_t sem_mma_two(const struct sem_mma_factors *f, unsigned i)
{
    return sem_fma_f32(f->a[i + 1], f->b[i + 1], sem_mul_f32(f->a[i], f->b[i], 0), 0);
}
static inline void sem_mma_chains(const struct sem_mma_left *x, const struct sem_mma_right *y, bool half,
                                  const uint32_t c[][SEM_MMA_ROWS], uint32_t d[][SEM_MMA_ROWS])
{
    for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++)
        for (unsigned row = 0; row < 8; row++) {
            struct sem_mma_factors f;
            for (unsigned i = 0; i < 4; i++) {
                f.a[i] = sem__bits32(x->kinds.special ? x->odd[i][row] : x->value[i][row]);
                f.b[i] = sem__bits32(y->kinds.special ? y->odd[i][n] : y->value[i][n]);
            }
            const uint32_t sum = half
                                     ? sem_add_f32(sem_add_f32(c[n][row], sem_mma_two(&f, 0), 0), sem_mma_two(&f, 2), 0)
                                     : sem_add_f32(sem_mma_chain(&f), c[n][row], 0);
            d[n][row] = half ? sem_mma_f16_of_f32(sum) : sum;
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

/* What belongs to the elements of A, as they are made ready; `e`: the metadata's registers, NULL: A is not sparse. */
static inline void sem_mma_find_partners(const struct mg_sem_mma *w, const uint32_t *e, const struct sem_mma_ready *how,
                                         struct sem_mma_left *x)
{
    x->sparse = e != NULL;
    for (unsigned row = 0; e && row < SEM_MMA_ROWS; row++)
        for (unsigned i = 0; i < how->k; i++)
            x->at[sem_mma_order(how, i)][row] = (int32_t)sem_mma_partner(w, e, row, i);
}

/* ---- integers, exact: products and their sums fit into a float ---- */
static inline void sem_mma_integers_ready(unsigned type, unsigned line, const void *words, unsigned count, void *value)
{
    const struct sem_mma_format *f = sem_mma_format(type);
    const unsigned each = 32 / f->bits, up = 32 - f->bits;
    for (unsigned at = 0; at < count * line; at += SEM_MMA_LANES)
        for (unsigned e = 0; e < each; e++) {
            const sem_s32xn x = *(const sem_s32xn *)(const void *)((const uint32_t *)words + at)
                                << (int)(up - e * f->bits);
            sem_s32xn number = x >> (int)up;
            if (!f->is_signed)
                number = (sem_s32xn)((sem_u32xn)x >> up);
            const sem_f32xn real = __builtin_convertvector(number, sem_f32xn);
            for (unsigned part = 0; part < SEM_MMA_LANES; part += 8)
                memcpy((float *)value + ((at + part) / line * each + e) * line + (at + part) % line,
                       (const float *)&real + part, 8 * sizeof(float));
        }
}

static inline int32_t sem_mma_saturated(int64_t sum)
{
    return (int32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}

/* The sums of a block of column n; of single bits `x` and `y` have words alone, and these are counted. */
SEM_MMA_INLINE sem_s32xn sem_mma_products(const struct sem_mma_left *x, const struct sem_mma_right *y,
                                          struct sem_mma_block b)
{
    sem_f32xn even = {0}, odd = {0};
    for (unsigned i = 0; i < b.count; i += 2) {
        even += sem_mma_product(x, x->value, y->value, b, i);
        odd += sem_mma_product(x, x->value, y->value, b, i + 1);
    }
    return __builtin_convertvector(even + odd, sem_s32xn);
}
SEM_MMA_INLINE sem_s32xn sem_mma_bits(const struct sem_mma_left *x, const struct sem_mma_right *y,
                                      struct sem_mma_block b, bool both)
{
    sem_s32xn sum = {0};
    for (unsigned i = 0; i < b.count; i++)
        for (unsigned lane = 0; lane < SEM_MMA_LANES; lane++) {
            const uint32_t one = x->words[i][b.row + lane], other = y->words[i][b.n];
            sum[lane] += __builtin_popcount(both ? one & other : one ^ other);
        }
    return sum;
}
static inline void sem_mma_add_products(const struct mg_sem_mma *w, const struct sem_mma_left *x,
                                        const struct sem_mma_right *y, unsigned k, uint32_t c[][SEM_MMA_ROWS])
{
    const bool single = sem_mma_a(w) == SEM_MMA_B1, saturates = w->flags & SEM_MMA_SATURATES;
    for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++)
        for (unsigned row = 0; row < SEM_MMA_ROWS; row += SEM_MMA_LANES) {
            const struct sem_mma_block all = {row, n, 0, k, 0, x->sparse};
            sem_s32xn sum;
            if (single)
                sum = sem_mma_bits(x, y, all, w->flags & SEM_MMA_AND);
            else
                sum = sem_mma_products(x, y, all);
            sem_s32xn *to = (sem_s32xn *)(void *)(c[n] + row);
            if (!saturates)
                *to = (sem_s32xn)((sem_u32xn)*to + (sem_u32xn)sum);
            for (unsigned lane = 0; saturates && lane < SEM_MMA_LANES; lane++)
                (*to)[lane] = sem_mma_saturated((int64_t)(*to)[lane] + sum[lane]);
        }
}

/* ---- one multiplication ---- */

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
/* C in f32, column by column, from the registers of all lanes, and D of f32 or f16 to them: of eight rows one register
 * of f16, and of f32 one of the even columns and one of the odd ones. */
static inline void sem_mma_get_sums(bool half, const uint32_t *const *in, uint32_t c[][SEM_MMA_ROWS])
{
    uint32_t words[4][SEM_MMA_ROWS] __attribute__((aligned(64)));
    for (unsigned odd = 0; odd < 2 && !half; odd++)
        sem_mma_turn(in[odd], in[2 + odd], c[odd], 2 * SEM_MMA_ROWS);
    if (half)
        sem_mma_turn(in[0], in[1], words, SEM_MMA_ROWS);
    for (unsigned q = 0; q < 4 && half; q++)
        for (unsigned row = 0; row < SEM_MMA_ROWS; row += SEM_MMA_LANES) {
            const sem_s32xn both = *(const sem_s32xn *)(const void *)(words[q] + row);
            *(sem_s32xn *)(void *)(c[2 * q] + row) = sem_mma_of_halves(both & 0xffff);
            *(sem_s32xn *)(void *)(c[2 * q + 1] + row) = sem_mma_of_halves((both >> 16) & 0xffff);
        }
}
static inline void sem_mma_put_sums(bool half, uint32_t d[][SEM_MMA_ROWS], uint32_t *const *out)
{
    for (unsigned q = 0; q < 4 && half; q++)
        for (unsigned row = 0; row < SEM_MMA_ROWS; row++)
            d[q][row] = d[2 * q][row] | d[2 * q + 1][row] << 16;
    if (half)
        sem_mma_turn_back(d, SEM_MMA_ROWS, out[0], out[1]);
    for (unsigned odd = 0; odd < 2 && !half; odd++)
        sem_mma_turn_back(d[odd], 2 * SEM_MMA_ROWS, out[odd], out[2 + odd]);
}

static inline void sem_mma_of_floats(const struct mg_sem_mma *w, unsigned cc, const struct mg_sem_warp *io)
{
    struct sem_mma_left x;
    struct sem_mma_right y;
    uint32_t c[SEM_MMA_COLUMNS][SEM_MMA_ROWS] __attribute__((aligned(64))),
        d[SEM_MMA_COLUMNS][SEM_MMA_ROWS] __attribute__((aligned(64)));
    const unsigned atype = sem_mma_a(w), btype = sem_mma_b(w), ctype = sem_mma_c(w), dtype = sem_mma_d(w);
    const unsigned second = sem_mma_registers(w, 0, atype), third = second + sem_mma_registers(w, 1, btype);
    const uint32_t *e = w->flags & SEM_MMA_SPARSE ? io->in[third + sem_mma_registers(w, 2, ctype)] : NULL;
    const unsigned k = e ? w->k / 2u : w->k;
    /* wmma can add to f32 and give f16: ptxas then rounds what is cut off to f32 once more. */
    const bool half = dtype == SEM_MMA_F16 && ctype == SEM_MMA_F16;
    struct sem_mma_ready left = sem_mma_ready(atype, cc, k), right = sem_mma_ready(btype, cc, w->k);
    right.moved &= !e;
    for (unsigned r = 0; r < second; r += 2)
        sem_mma_turn(io->in[r], io->in[r + 1], x.words[r * 2], SEM_MMA_ROWS);
    for (unsigned r = second; r < third; r++)
        sem_mma_turn_eight(io->in[r], y.words[(r - second) * 4]);
    sem_mma_find_partners(w, e, &left, &x);
    sem_mma_left_ready(&x, &left);
    sem_mma_right_ready(&y, &right);
    sem_mma_get_sums(ctype == SEM_MMA_F16, (const uint32_t *const *)(const void *)(io->in + third), c);
    sem_mma_columns(&x, &y, sem_mma_sums(atype, cc, k), k, half, (const uint32_t(*)[SEM_MMA_ROWS])c, d);
    for (unsigned n = 0; dtype == SEM_MMA_F16 && !half && n < SEM_MMA_COLUMNS; n++)
        for (unsigned row = 0; row < SEM_MMA_ROWS; row += SEM_MMA_LANES)
            *(sem_s32xn *)(void *)(d[n] + row) = sem_mma_halves(*(const sem_s32xn *)(const void *)(d[n] + row));
    sem_mma_put_sums(dtype == SEM_MMA_F16, d, (uint32_t *const *)(const void *)io->out);
}

#define SEM_MMA_EACH(operand)                  \
    for (unsigned lane = 0; lane < 32; lane++) \
        for (unsigned i = 0, count_ = sem_mma_count(w, operand); i < count_; i++)

/* mma.m8n8k4: of each quad of lanes. */
static inline void sem_mma_of_quads(const struct mg_sem_mma *w, unsigned cc, const struct mg_sem_warp *io)
{
    struct sem_mma_left x[4];
    struct sem_mma_right y[4];
    uint32_t c[4][SEM_MMA_COLUMNS][SEM_MMA_ROWS] __attribute__((aligned(64))) = {{{0}}},
                                                 d[4][SEM_MMA_COLUMNS][SEM_MMA_ROWS] __attribute__((aligned(64)));
    const unsigned ctype = sem_mma_c(w), third = 4;
    const bool half = sem_mma_d(w) == SEM_MMA_F16;
    const struct sem_mma_ready how = sem_mma_ready(SEM_MMA_F16, cc, 4);
    for (unsigned quad = 0; quad < 4; quad++) /* eight rows of 16 */
        memset(x[quad].words, 0, 2 * sizeof x[quad].words[0]);
    SEM_MMA_EACH(0)
    {
        const struct sem_mma_place a = sem_mma_quads(w, 0, SEM_MMA_F16, lane, i),
                                   b = sem_mma_quads(w, 1, SEM_MMA_F16, lane, i);
        const uint16_t of_a = (uint16_t)sem_mma_element(io, 0, 16, lane, i),
                       of_b = (uint16_t)sem_mma_element(io, 2, 16, lane, i);
        memcpy((uint8_t *)&x[lane / 4 % 4].words[a.column / 2][a.row] + a.column % 2 * 2, &of_a, 2);
        memcpy((uint8_t *)&y[lane / 4 % 4].words[b.row / 2][b.column] + b.row % 2 * 2, &of_b, 2);
    }
    SEM_MMA_EACH(2)
    {
        const struct sem_mma_place at = sem_mma_quads(w, 2, ctype, lane, i);
        const uint32_t bits = (uint32_t)sem_mma_element(io, third, sem_mma_format(ctype)->bits, lane, i);
        c[lane / 4 % 4][at.column][at.row] = ctype == SEM_MMA_F16 ? sem_mma_f32_of_f16(bits) : bits;
    }
    for (unsigned quad = 0; quad < 4; quad++) {
        x[quad].sparse = false;
        const uint32_t(*of_c)[SEM_MMA_ROWS] = (const uint32_t(*)[SEM_MMA_ROWS])c[quad];
        sem_mma_left_ready(&x[quad], &how);
        sem_mma_right_ready(&y[quad], &how);
        if (cc < 80)
            sem_mma_columns(&x[quad], &y[quad], sem_mma_sums(SEM_MMA_F16, cc, 4), 4, half, of_c, d[quad]);
        else
            sem_mma_chains(&x[quad], &y[quad], half, of_c, d[quad]);
    }
    SEM_MMA_EACH(2)
    {
        const struct sem_mma_place at = sem_mma_quads(w, 2, sem_mma_d(w), lane, i);
        const uint32_t value = d[lane / 4 % 4][at.column][at.row];
        uint32_t *to = (uint32_t *)io->out[half ? i / 2 : i] + lane;
        *to = half && i % 2 ? *to | value << 16 : value;
    }
}

static inline void sem_mma_of_integers(const struct mg_sem_mma *w, const struct mg_sem_warp *io)
{
    struct sem_mma_left x;
    struct sem_mma_right y;
    uint32_t c[SEM_MMA_COLUMNS][SEM_MMA_ROWS] __attribute__((aligned(64))), unwanted[2][32];
    const unsigned atype = sem_mma_a(w), btype = sem_mma_b(w), halves = w->m / 8u;
    const unsigned second = sem_mma_registers(w, 0, atype), third = second + sem_mma_registers(w, 1, btype);
    const unsigned awords = second / halves * 4, bwords = (third - second) * 4, each = 32 / sem_mma_format(atype)->bits;
    const uint32_t *e = w->flags & SEM_MMA_SPARSE ? io->in[third + sem_mma_registers(w, 2, SEM_MMA_S32)] : NULL;
    /* Of eight rows the others are the same once more, and nobody wants them. */
    const uint32_t *const of_c[4] = {io->in[third], io->in[third + 1], io->in[third + 2 * (halves - 1)],
                                     io->in[third + 2 * (halves - 1) + 1]};
    uint32_t *const of_d[4] = {io->out[0], io->out[1], halves == 2 ? io->out[2] : unwanted[0],
                               halves == 2 ? io->out[3] : unwanted[1]};
    for (unsigned r = 0; r < second; r += halves)
        sem_mma_turn(io->in[r], io->in[r + halves - 1], x.words[r / halves * 4], SEM_MMA_ROWS);
    for (unsigned r = second; r < third; r++)
        sem_mma_turn_eight(io->in[r], y.words[(r - second) * 4]);
    sem_mma_find_partners(w, e, &(struct sem_mma_ready){.k = w->k / 2u}, &x);
    if (atype != SEM_MMA_B1) {
        sem_mma_integers_ready(atype, SEM_MMA_ROWS, x.words, awords, x.value);
        sem_mma_integers_ready(btype, SEM_MMA_COLUMNS, y.words, bwords, y.value);
    }
    sem_mma_get_sums(false, of_c, c);
    sem_mma_add_products(w, &x, &y, atype == SEM_MMA_B1 ? awords : awords * each, c);
    sem_mma_put_sums(false, c, of_d);
}

static inline void sem_mma_of_doubles(const struct mg_sem_mma *w, const struct mg_sem_warp *io)
{
    uint64_t a[SEM_MMA_ROWS][16], b[16][SEM_MMA_COLUMNS];
    const unsigned second = sem_mma_registers(w, 0, SEM_MMA_F64), third = second + sem_mma_registers(w, 1, SEM_MMA_F64);
    SEM_MMA_EACH(0)
    {
        const struct sem_mma_place at = sem_mma_place(w, 0, SEM_MMA_F64, lane, i);
        a[at.row][at.column] = sem_mma_element(io, 0, 64, lane, i);
    }
    SEM_MMA_EACH(1)
    {
        const struct sem_mma_place at = sem_mma_place(w, 1, SEM_MMA_F64, lane, i);
        b[at.row][at.column] = sem_mma_element(io, second, 64, lane, i);
    }
    SEM_MMA_EACH(2)
    {
        const struct sem_mma_place at = sem_mma_place(w, 2, SEM_MMA_F64, lane, i);
        uint64_t sum = sem_mma_element(io, third, 64, lane, i);
        for (unsigned n = 0; n < w->k; n++)
            sum = sem_fma_f64(a[at.row][n], b[n][at.column], sum, w->more);
        ((uint64_t *)io->out[i])[lane] = sum;
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
        sem_mma_of_quads(w, cc, io);
    } else {
        sem_mma_of_floats(w, cc, io);
    }
}
#undef SEM_MMA_EACH
#endif
