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

/* Where elements are, but for the quads: four lanes have 16 bytes of a row of A, of a column of B, or of a row of C in
 * f16, one behind the other; each register has those of eight rows. `rows` are what becomes of them, `pitch` bytes
 * apart. */
static inline void sem_mma_gather(const struct mg_sem_warp *io, unsigned first, unsigned count, unsigned halves,
                                  void *rows, size_t pitch)
{
    for (unsigned r = 0; r < count; r++)
        for (unsigned group = 0; group < 8; group++)
            memcpy((uint8_t *)rows + (group + 8 * (r % halves)) * pitch + r / halves * 16,
                   (const uint32_t *)io->in[first + r] + 4 * group, 16);
}

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
/* Where products of that column of A stand in the sum. */
static inline unsigned sem_mma_order(unsigned k, unsigned column)
{
    return column / 4 * 2 + column % 2 + (column % 4 < 2 ? 0 : k / 2);
}
static inline void sem_mma_reorder(uint8_t *raw, unsigned k)
{
    uint8_t old[SEM_MMA_BYTES];
    memcpy(old, raw, k);
    for (unsigned i = 0; i < k; i++)
        raw[sem_mma_order(k, i)] = old[i];
}

/* mma.m8n8k4 of f16 is no instruction since sm_80: ptxas (13.0, read off its machine code) makes shuffles and f32's
 * arithmetic of it. With f32 results the products are a chain of fused multiply-adds from +0, to which C is added; with
 * f16 ones C and the sums of the first and the last two products are added up, and rounded once more. */
static inline uint32_t sem_mma_chain(const struct sem_mma_left *x, const struct sem_mma_right *y, unsigned row,
                                     unsigned column)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 4; i++)
        sum = sem_fma_f32(sem__bits32(x->value[row][i]), sem__bits32(y->value[i][column]), sum, 0);
    return sum;
}
static inline uint32_t sem_mma_two(const struct sem_mma_left *x, const struct sem_mma_right *y, unsigned row,
                                   unsigned column, unsigned i)
{
    const uint32_t product = sem_mul_f32(sem__bits32(x->value[row][i]), sem__bits32(y->value[i][column]), 0);
    return sem_fma_f32(sem__bits32(x->value[row][i + 1]), sem__bits32(y->value[i + 1][column]), product, 0);
}
static inline void sem_mma_chains(const struct sem_mma_left *x, const struct sem_mma_right *y, bool half,
                                  const uint32_t c[][SEM_MMA_COLUMNS], uint32_t d[][SEM_MMA_COLUMNS])
{
    for (unsigned row = 0; row < 8; row++)
        for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++) {
            uint32_t sum = sem_mma_special(x, y, row, n, 0, 4, c[row][n]);
            if (!sum && half)
                sum = sem_add_f32(sem_add_f32(c[row][n], sem_mma_two(x, y, row, n, 0), 0), sem_mma_two(x, y, row, n, 2),
                                  0);
            else if (!sum)
                sum = sem_add_f32(sem_mma_chain(x, y, row, n), c[row][n], 0);
            d[row][n] = half ? sem_mma_f16_of_f32(sum) : sum;
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
enum { SEM_MMA_K = 256 };
static inline int64_t sem_mma_integer(unsigned type, uint64_t bits)
{
    const struct sem_mma_format *f = sem_mma_format(type);
    const uint64_t top = 1ull << (f->bits - 1);
    return f->is_signed && bits & top ? (int64_t)bits - (int64_t)(top << 1) : (int64_t)bits;
}

/* A row of `count` of them, from their bits. */
static inline void sem_mma_widen_row(unsigned type, const uint8_t *raw, unsigned count, int16_t *to)
{
    switch (type) {
    case SEM_MMA_S8:
        for (unsigned i = 0; i < count; i++)
            to[i] = (int8_t)raw[i];
        break;
    case SEM_MMA_U8:
        for (unsigned i = 0; i < count; i++)
            to[i] = raw[i];
        break;
    default: { /* the lowest bits first */
        const unsigned bits = sem_mma_format(type)->bits;
        for (unsigned i = 0; i < count; i++)
            to[i] = (int16_t)sem_mma_integer(type, (uint32_t)raw[i * bits / 8] >> i * bits % 8 & ((1u << bits) - 1));
    }
    }
}

/* A sparse row written out, zeros and all. */
static inline void sem_mma_dense(const struct mg_sem_mma *w, const uint32_t *e, unsigned row, int16_t *a)
{
    int16_t stored[SEM_MMA_K / 2];
    memcpy(stored, a, w->k / 2u * sizeof *a);
    memset(a, 0, w->k * sizeof *a);
    for (unsigned i = 0; i < w->k / 2u; i++)
        a[sem_mma_partner(w, e, row, i)] = stored[i];
}

static inline uint32_t sem_mma_whole(const struct mg_sem_mma *w, int64_t sum)
{
    if (w->flags & SEM_MMA_SATURATES)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)(uint64_t)sum;
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
/* C in f32, and D of f32 or f16, in the registers of all lanes. */
static inline void sem_mma_get_sums(const struct mg_sem_mma *w, const struct mg_sem_warp *io, unsigned first,
                                    uint32_t c[][SEM_MMA_COLUMNS])
{
    uint16_t halves[SEM_MMA_ROWS][SEM_MMA_COLUMNS];
    if (sem_mma_c(w) == SEM_MMA_F16) {
        sem_mma_gather(io, first, w->m / 8u, w->m / 8u, halves, sizeof halves[0]);
        for (unsigned row = 0; row < w->m; row++)
            for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++)
                c[row][n] = sem_mma_f32_of_f16(halves[row][n]);
        return;
    }
    for (unsigned row = 0; row < w->m; row++) {
        const uint32_t *even = (const uint32_t *)io->in[first + row / 8 * 2] + row % 8 * 4,
                       *odd = (const uint32_t *)io->in[first + row / 8 * 2 + 1] + row % 8 * 4;
        for (unsigned n = 0; n < 4; n++) {
            c[row][2 * n] = even[n];
            c[row][2 * n + 1] = odd[n];
        }
    }
}
static inline void sem_mma_put_sums(const struct mg_sem_mma *w, const struct mg_sem_warp *io,
                                    const uint32_t d[][SEM_MMA_COLUMNS])
{
    const bool half = sem_mma_d(w) == SEM_MMA_F16;
    for (unsigned row = 0; row < w->m; row++) {
        const unsigned r = row / 8 * (half ? 1 : 2);
        uint32_t *first = (uint32_t *)io->out[r] + row % 8 * 4, *second = (uint32_t *)io->out[r + !half] + row % 8 * 4;
        for (unsigned n = 0; half && n < 4; n++)
            first[n] = d[row][2 * n] | d[row][2 * n + 1] << 16;
        for (unsigned n = 0; !half && n < 4; n++) {
            first[n] = d[row][2 * n];
            second[n] = d[row][2 * n + 1];
        }
    }
}

static inline void sem_mma_of_floats(const struct mg_sem_mma *w, unsigned cc, const struct mg_sem_warp *io)
{
    struct sem_mma_left x;
    struct sem_mma_right y;
    uint32_t c[SEM_MMA_ROWS][SEM_MMA_COLUMNS], d[SEM_MMA_ROWS][SEM_MMA_COLUMNS];
    const unsigned atype = sem_mma_a(w), btype = sem_mma_b(w), ctype = sem_mma_c(w);
    const unsigned second = sem_mma_registers(w, 0, atype), third = second + sem_mma_registers(w, 1, btype);
    const uint32_t *e = w->flags & SEM_MMA_SPARSE ? io->in[third + sem_mma_registers(w, 2, ctype)] : NULL;
    const unsigned k = e ? w->k / 2u : w->k;
    /* wmma can add to f32 and give f16: ptxas then rounds what is cut off to f32 once more. */
    const bool half = sem_mma_d(w) == SEM_MMA_F16 && ctype == SEM_MMA_F16;
    const bool moved = sem_mma_is_eight(atype) && cc != 89;
    sem_mma_gather(io, 0, second, w->m / 8u, x.raw, sizeof x.raw[0]);
    sem_mma_gather(io, second, third - second, 1, y.raw, sizeof y.raw[0]);
    x.sparse = e != NULL;
    for (unsigned row = 0; e && row < w->m; row++)
        for (unsigned i = 0; i < k; i++)
            x.at[row][moved ? sem_mma_order(k, i) : i] = (uint8_t)sem_mma_partner(w, e, row, i);
    for (unsigned row = 0; moved && row < w->m; row++)
        sem_mma_reorder(x.raw[row], k);
    for (unsigned n = 0; moved && !e && n < SEM_MMA_COLUMNS; n++)
        sem_mma_reorder(y.raw[n], k);
    sem_mma_left_ready(&x, atype, w->m, k);
    sem_mma_right_ready(&y, btype, w->k);
    sem_mma_get_sums(w, io, third, c);
    sem_mma_rows(&x, &y, sem_mma_sums(atype, cc, k), w->m, k, half, c, d);
    for (unsigned row = 0; sem_mma_d(w) == SEM_MMA_F16 && !half && row < w->m; row++)
        for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++)
            d[row][n] = sem_mma_f16_of_f32(d[row][n]);
    sem_mma_put_sums(w, io, d);
}

#define SEM_MMA_EACH(operand)                  \
    for (unsigned lane = 0; lane < 32; lane++) \
        for (unsigned i = 0, count_ = sem_mma_count(w, operand); i < count_; i++)

/* mma.m8n8k4: of each quad of lanes. */
static inline void sem_mma_of_quads(const struct mg_sem_mma *w, unsigned cc, const struct mg_sem_warp *io)
{
    struct sem_mma_left x[4];
    struct sem_mma_right y[4];
    uint32_t c[4][SEM_MMA_ROWS][SEM_MMA_COLUMNS], d[4][SEM_MMA_ROWS][SEM_MMA_COLUMNS];
    const unsigned ctype = sem_mma_c(w), third = 4;
    const bool half = sem_mma_d(w) == SEM_MMA_F16;
    SEM_MMA_EACH(0)
    {
        const struct sem_mma_place a = sem_mma_quads(w, 0, SEM_MMA_F16, lane, i),
                                   b = sem_mma_quads(w, 1, SEM_MMA_F16, lane, i);
        const uint16_t of_a = (uint16_t)sem_mma_element(io, 0, 16, lane, i),
                       of_b = (uint16_t)sem_mma_element(io, 2, 16, lane, i);
        memcpy(x[lane / 4 % 4].raw[a.row] + 2 * a.column, &of_a, 2);
        memcpy(y[lane / 4 % 4].raw[b.column] + 2 * b.row, &of_b, 2);
    }
    SEM_MMA_EACH(2)
    {
        const struct sem_mma_place at = sem_mma_quads(w, 2, ctype, lane, i);
        const uint32_t bits = (uint32_t)sem_mma_element(io, third, sem_mma_format(ctype)->bits, lane, i);
        c[lane / 4 % 4][at.row][at.column] = ctype == SEM_MMA_F16 ? sem_mma_f32_of_f16(bits) : bits;
    }
    for (unsigned quad = 0; quad < 4; quad++) {
        x[quad].sparse = false;
        sem_mma_left_ready(&x[quad], SEM_MMA_F16, 8, 4);
        sem_mma_right_ready(&y[quad], SEM_MMA_F16, 4);
        if (cc < 80)
            sem_mma_rows(&x[quad], &y[quad], sem_mma_sums(SEM_MMA_F16, cc, 4), 8, 4, half, c[quad], d[quad]);
        else
            sem_mma_chains(&x[quad], &y[quad], half, c[quad], d[quad]);
    }
    SEM_MMA_EACH(2)
    {
        const struct sem_mma_place at = sem_mma_quads(w, 2, sem_mma_d(w), lane, i);
        const uint32_t value = d[lane / 4 % 4][at.row][at.column];
        uint32_t *to = (uint32_t *)io->out[half ? i / 2 : i] + lane;
        *to = half && i % 2 ? *to | value << 16 : value;
    }
}

static inline void sem_mma_of_integers(const struct mg_sem_mma *w, const struct mg_sem_warp *io)
{
    int16_t a[SEM_MMA_ROWS][SEM_MMA_K], b[SEM_MMA_COLUMNS][SEM_MMA_K];
    uint8_t raw[SEM_MMA_ROWS][SEM_MMA_BYTES] __attribute__((aligned(64)));
    const unsigned atype = sem_mma_a(w), btype = sem_mma_b(w);
    const unsigned second = sem_mma_registers(w, 0, atype), third = second + sem_mma_registers(w, 1, btype);
    const uint32_t *e = w->flags & SEM_MMA_SPARSE ? io->in[third + sem_mma_registers(w, 2, SEM_MMA_S32)] : NULL;
    sem_mma_gather(io, 0, second, w->m / 8u, raw, sizeof raw[0]);
    for (unsigned row = 0; row < w->m; row++) {
        sem_mma_widen_row(atype, raw[row], e ? w->k / 2u : w->k, a[row]);
        if (e)
            sem_mma_dense(w, e, row, a[row]);
    }
    sem_mma_gather(io, second, third - second, 1, raw, sizeof raw[0]);
    for (unsigned n = 0; n < SEM_MMA_COLUMNS; n++)
        sem_mma_widen_row(btype, raw[n], w->k, b[n]);
    for (unsigned r = 0; r < w->m / 4u; r++)
        for (unsigned lane = 0; lane < 32; lane++) {
            const int16_t *x = a[r / 2 * 8 + lane / 4], *y = b[lane % 4 * 2 + r % 2];
            int32_t products = 0; /* of at most 256 times 2^16 */
            if (atype == SEM_MMA_B1 && !(w->flags & SEM_MMA_AND))
                for (unsigned n = 0; n < w->k; n++)
                    products += x[n] ^ y[n];
            else
                for (unsigned n = 0; n < w->k; n++)
                    products += x[n] * y[n];
            const int32_t c = (int32_t)((const uint32_t *)io->in[third + r])[lane];
            ((uint32_t *)io->out[r])[lane] = sem_mma_whole(w, (int64_t)c + products);
        }
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
