/* test_mma.c - matrix multiplications in floating point against a second reading of their rules.
 *
 * The model here is slow and goes one product at a time, in integers: decode a number by its format; multiply; put
 * every product and the accumulator on the grid of the largest exponent, towards zero; add; cut off, or round to the
 * nearest even, one bit at a time. The rules and their numbers are those that were published (Fasi, Higham, Mikaitis,
 * Pranesh: "Numerical behavior of NVIDIA tensor cores", 2021; Xie and others: arXiv 2511.10909, 2025); where fragments
 * lie is typed from the figures of the PTX ISA. Nothing of it comes from src/sem but the numbers of the types.
 */
#include "sem/sem_mma.h"
#include "simt/simt_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static uint64_t state = 88172645463325252u;
static uint32_t next(void) /* xorshift */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

/* ---- the model ---- */
struct format {
    unsigned type;
    const char *name;
    int bits, exponent_bits, fraction_bits, unused; /* unused: at the low end */
};
static const struct format formats[] = {
    {SEM_MMA_F16, "f16", 16, 5, 10, 0}, {SEM_MMA_BF16, "bf16", 16, 8, 7, 0}, {SEM_MMA_TF32, "tf32", 32, 8, 10, 13},
    {SEM_MMA_E4M3, "e4m3", 8, 4, 3, 0}, {SEM_MMA_E5M2, "e5m2", 8, 5, 2, 0},  {SEM_MMA_F32, "f32", 32, 8, 23, 0},
};
static const struct format *format(unsigned type)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].type == type)
            return &formats[i];
    return NULL;
}

enum kind { ZERO, FINITE, INFINITE, NAN_ };
struct number {
    enum kind kind;
    bool negative;
    int64_t whole; /* value: whole * 2^scale */
    int scale, exponent;
};

static struct number decode(unsigned type, uint32_t bits)
{
    const struct format *f = format(type);
    struct number x = {.negative = bits >> (f->bits - 1) & 1};
    const uint32_t magnitude = (bits & ((1u << (f->bits - 1)) - 1)) >> f->unused;
    const int field = (int)(magnitude >> f->fraction_bits), top = (1 << f->exponent_bits) - 1;
    const int64_t fraction = magnitude & ((1u << f->fraction_bits) - 1);
    const bool no_infinity = type == SEM_MMA_E4M3;
    if (field == top && (!no_infinity || fraction == 7)) {
        x.kind = fraction ? NAN_ : INFINITE;
        return x;
    }
    if (!magnitude)
        return x;
    x.kind = FINITE;
    x.exponent = (field ? field : 1) - top / 2;
    x.whole = field ? fraction + (1 << f->fraction_bits) : fraction;
    x.scale = x.exponent - f->fraction_bits;
    while (no_infinity && x.whole < 8) { /* it is multiplied as f16, in which it is normal */
        x.whole *= 2;
        x.scale--;
        x.exponent--;
    }
    return x;
}

static struct number multiply(struct number a, struct number b)
{
    struct number p = {.negative = a.negative != b.negative};
    if (a.kind == NAN_ || b.kind == NAN_ || (a.kind == INFINITE && b.kind == ZERO) ||
        (a.kind == ZERO && b.kind == INFINITE)) {
        p.kind = NAN_;
    } else if (a.kind == INFINITE || b.kind == INFINITE) {
        p.kind = INFINITE;
    } else if (a.kind == FINITE && b.kind == FINITE) {
        p.kind = FINITE;
        p.whole = a.whole * b.whole;
        p.scale = a.scale + b.scale;
        p.exponent = a.exponent + b.exponent;
    }
    return p;
}

/* whole * 2^scale as a float of that format: bits that do not fit are dropped, or rounded. */
static uint32_t encode(unsigned type, bool negative, uint64_t whole, int scale, bool to_nearest)
{
    const struct format *f = format(type);
    const int bias = (1 << (f->exponent_bits - 1)) - 1, least = 1 - bias - f->fraction_bits;
    const uint32_t infinity = (uint32_t)((1 << f->exponent_bits) - 1) << f->fraction_bits;
    bool half = false, below = false; /* what was dropped: its first bit, and whether anything behind it */
    while (whole >> (f->fraction_bits + 1) || ((whole || half || below) && scale < least)) {
        below = below || half;
        half = whole & 1;
        whole >>= 1;
        scale++;
    }
    while (whole && !(whole >> f->fraction_bits) && scale > least) {
        whole <<= 1;
        scale--;
    }
    if (to_nearest && half && (below || whole & 1))
        whole++; /* which may carry into the exponent, rightly */
    uint32_t bits = whole ? (uint32_t)whole : 0;
    if (whole >> f->fraction_bits) { /* normal */
        const int64_t field = (int64_t)scale - least + 1;
        bits = field >= (1 << f->exponent_bits) - 1
                   ? infinity
                   : (uint32_t)(whole - (1u << f->fraction_bits)) + ((uint32_t)field << f->fraction_bits);
    }
    return bits | (negative ? 1u << (f->bits - 1) : 0);
}

static int64_t on_grid(struct number x, int grid)
{
    int64_t whole = x.kind == FINITE ? x.whole : 0;
    for (int at = x.scale; at < grid && whole; at++)
        whole /= 2;
    for (int at = x.scale; at > grid && whole; at--)
        whole *= 2;
    return x.negative ? -whole : whole;
}

/* One sum of a block: f32, or f16 rounded to the nearest. */
static uint32_t sum_block(const struct number *term, unsigned count, int fraction, bool half)
{
    int64_t sum = 0;
    bool any = false, plus = false, minus = false, nan = false;
    int most = 0;
    for (unsigned i = 0; i < count; i++) {
        nan = nan || term[i].kind == NAN_;
        plus = plus || (term[i].kind == INFINITE && !term[i].negative);
        minus = minus || (term[i].kind == INFINITE && term[i].negative);
        if (term[i].kind == FINITE && (!any || term[i].exponent > most))
            most = term[i].exponent;
        any = any || term[i].kind == FINITE;
    }
    if (nan || (plus && minus))
        return half ? 0x7fff : 0x7fffffff;
    if (plus || minus)
        return half ? (minus ? 0xfc00 : 0x7c00) : minus ? 0xff800000 : 0x7f800000;
    for (unsigned i = 0; i < count; i++)
        sum += on_grid(term[i], most - fraction);
    const uint32_t bits =
        encode(half ? SEM_MMA_F16 : SEM_MMA_F32, sum < 0, (uint64_t)(sum < 0 ? -sum : sum), most - fraction, half);
    return sum == 0 || (half && !(bits & 0x7fff)) ? 0 : bits;
}

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static uint32_t as_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return value != value ? 0x7fffffff : bits;
}
static uint32_t widen(uint32_t half)
{
    const struct number x = decode(SEM_MMA_F16, half);
    if (x.kind == NAN_)
        return 0x7fffffff;
    if (x.kind == INFINITE)
        return x.negative ? 0xff800000 : 0x7f800000;
    return encode(SEM_MMA_F32, x.negative, (uint64_t)x.whole, x.scale, false);
}
static uint32_t narrow(uint32_t bits)
{
    const struct number x = decode(SEM_MMA_F32, bits);
    if (x.kind == NAN_)
        return 0x7fff;
    if (x.kind == INFINITE)
        return x.negative ? 0xfc00 : 0x7c00;
    return encode(SEM_MMA_F16, x.negative, (uint64_t)x.whole, x.scale, true);
}

struct shape {
    unsigned type_a, type_b, k, cc;
    bool half; /* C and D in f16 */
};
/* c is in f32 already; the result in f32 or f16. */
static uint32_t element(const struct shape *s, const uint32_t *a, const uint32_t *b, uint32_t c)
{
    struct number product[64], term[17];
    unsigned order[64], block = 16, n = 0;
    int fraction = 25;
    const bool eight = format(s->type_a)->bits == 8, emulated = eight && s->cc != 89;
    for (unsigned i = 0; i < s->k; i++)
        if (!emulated || i % 4 < 2)
            order[n++] = i;
    for (unsigned i = 0; emulated && i < s->k; i++)
        if (i % 4 >= 2)
            order[n++] = i;
    if (emulated)
        block = s->k / 2;
    else if (eight)
        fraction = 13;
    else if (s->cc == 70)
        block = 4, fraction = 23;
    else if (s->cc < 90)
        block = s->type_a == SEM_MMA_TF32 ? 4 : 8, fraction = 24;
    else if (s->type_a == SEM_MMA_TF32)
        block = 8;
    for (unsigned i = 0; i < s->k; i++)
        product[i] = multiply(decode(s->type_a, a[order[i]]), decode(s->type_b, b[order[i]]));
    uint32_t so_far = emulated ? 0 : c, last = 0;
    for (unsigned first = 0; first < s->k; first += block) {
        unsigned count = 0;
        while (count < block && first + count < s->k) {
            term[count] = product[first + count];
            count++;
        }
        /* What comes in f16 has the exponents of f16. */
        term[count++] =
            s->half && (emulated || first == 0) ? decode(SEM_MMA_F16, narrow(so_far)) : decode(SEM_MMA_F32, so_far);
        const bool half = s->half && (emulated || first + block >= s->k);
        last = sum_block(term, count, fraction, half);
        so_far = half ? widen(last) : last;
    }
    if (emulated) {
        last = as_bits(as_float(so_far) + as_float(c));
        last = s->half ? narrow(last) : last;
    }
    return last;
}

/* ---- against src/sem ---- */

/* Bits of a type, of one of several kinds. */
static uint32_t draw(unsigned type, unsigned kind)
{
    const struct format *f = format(type);
    const uint32_t mask = f->bits == 32 ? ~0u : (1u << f->bits) - 1, top = (1u << f->exponent_bits) - 1;
    uint32_t bits = next() & mask, field = bits >> (f->bits - 1 - f->exponent_bits) & top;
    const uint32_t rest = bits & ~(top << (f->bits - 1 - f->exponent_bits));
    switch (kind) {
    case 0: /* near each other */
        field = top / 2 - 1 + next() % 3;
        break;
    case 1: /* 32 binades, or all there are */
        field = top < 63 ? next() % top : top / 2 - 16 + next() % 32;
        break;
    case 2: /* any, infinities and NaNs as well, but rarely */
        if (field == top && next() % 16)
            field--;
        break;
    case 3: /* small ones, subnormal ones, zeros */
        field = next() % 3;
        if (next() % 4 == 0)
            return (bits >> (f->bits - 1)) << (f->bits - 1);
        break;
    case 4: /* the largest */
        field = top - 1 - next() % 2;
        break;
    default: { /* sums that cancel: few different ones */
        const uint32_t sign = next() % 2;
        return sign << (f->bits - 1) | (top / 2 + next() % 2) << (f->bits - 1 - f->exponent_bits);
    }
    }
    return rest | field << (f->bits - 1 - f->exponent_bits);
}

/* PTX ISA, "Matrix Fragments for mma": for every shape of 16 rows, a lane's element i of A lies in row lane / 4, or
 * eight below for every second register, and in the lane's columns of the register's; of B likewise with columns; of C
 * the first two elements lie in row lane / 4, the others eight below. */
static void one_warp(const struct shape *s, unsigned kind)
{
    uint32_t a[16][64], b[8][64], c[16][8], in[16][32], out[8][32];
    memset(in, 0, sizeof in);
    const int bits = format(s->type_a)->bits;
    const unsigned each = 32 / (unsigned)bits, a_regs = 16 * s->k / 32 / each, b_regs = 8 * s->k / 32 / each;
    for (unsigned i = 0; i < s->k; i++) {
        for (unsigned row = 0; row < 16; row++)
            a[row][i] = draw(s->type_a, kind);
        for (unsigned n = 0; n < 8; n++)
            b[n][i] = draw(s->type_b, kind == 4 ? 3 : kind);
    }
    for (unsigned row = 0; row < 16; row++)
        for (unsigned n = 0; n < 8; n++)
            c[row][n] = next() % 8 == 0 ? 0 : draw(s->half ? SEM_MMA_F16 : SEM_MMA_F32, kind == 4 ? 1 : kind);
    for (unsigned lane = 0; lane < 32; lane++) {
        const unsigned group = lane / 4, thread = lane % 4;
        for (unsigned r = 0; r < a_regs; r++)
            for (unsigned j = 0; j < each; j++)
                in[r][lane] |= a[group + (r % 2 ? 8 : 0)][r / 2 * 4 * each + thread * each + j]
                               << j * (unsigned)bits % 32;
        for (unsigned r = 0; r < b_regs; r++)
            for (unsigned j = 0; j < each; j++)
                in[a_regs + r][lane] |= b[group][r * 4 * each + thread * each + j] << j * (unsigned)bits % 32;
        for (unsigned i = 0; i < 4; i++) {
            const uint32_t x = c[group + (i < 2 ? 0 : 8)][thread * 2 + i % 2];
            in[a_regs + b_regs + (s->half ? i / 2 : i)][lane] |= s->half ? x << 16 * (i % 2) : x;
        }
    }
    struct mg_sem_warp io = {.run = ~0u};
    for (unsigned r = 0; r < 16; r++)
        io.in[r] = in[r];
    for (unsigned r = 0; r < 8; r++)
        io.out[r] = out[r];
    const unsigned sum = s->half ? SEM_MMA_F16 : SEM_MMA_F32;
    const struct mg_sem_mma what = {16, 8, (uint16_t)s->k, (uint8_t)(s->type_a | s->type_b << 4), (uint8_t)(sum * 17),
                                    0,  0};
    mg__lanes_select()->mma(&what, s->cc, &io); /* as the engine does */
    for (unsigned row = 0; row < 16; row++)
        for (unsigned n = 0; n < 8; n++) {
            const unsigned lane = row % 8 * 4 + n / 2, i = row / 8 * 2 + n % 2;
            const uint32_t got = s->half ? out[i / 2][lane] >> 16 * (i % 2) & 0xffff : out[i][lane];
            const uint32_t want = element(s, a[row], b[n], s->half ? widen(c[row][n]) : c[row][n]);
            if (got != want) {
                print_error("sm_%u %s %s k %u%s, kind %u, row %u column %u: %08x, by the rules %08x\n", s->cc,
                            format(s->type_a)->name, format(s->type_b)->name, s->k, s->half ? " into f16" : "", kind,
                            row, n, got, want);
                fail();
            }
        }
}

static void sums_follow_the_published_rules(void **unused)
{
    (void)unused;
    static const struct shape shapes[] = {
        {SEM_MMA_F16, SEM_MMA_F16, 16, 90, false},   {SEM_MMA_F16, SEM_MMA_F16, 16, 90, true},
        {SEM_MMA_F16, SEM_MMA_F16, 8, 90, false},    {SEM_MMA_F16, SEM_MMA_F16, 8, 90, true},
        {SEM_MMA_BF16, SEM_MMA_BF16, 16, 90, false}, {SEM_MMA_BF16, SEM_MMA_BF16, 8, 90, false},
        {SEM_MMA_TF32, SEM_MMA_TF32, 8, 90, false},  {SEM_MMA_TF32, SEM_MMA_TF32, 4, 90, false},
        {SEM_MMA_E4M3, SEM_MMA_E4M3, 32, 90, false}, {SEM_MMA_E4M3, SEM_MMA_E5M2, 32, 90, false},
        {SEM_MMA_E5M2, SEM_MMA_E5M2, 32, 90, true},  {SEM_MMA_E5M2, SEM_MMA_E4M3, 16, 90, true},
        {SEM_MMA_E4M3, SEM_MMA_E4M3, 32, 89, false}, {SEM_MMA_E5M2, SEM_MMA_E4M3, 32, 89, true},
        {SEM_MMA_F16, SEM_MMA_F16, 16, 80, false},   {SEM_MMA_F16, SEM_MMA_F16, 16, 86, true},
        {SEM_MMA_BF16, SEM_MMA_BF16, 16, 80, false}, {SEM_MMA_TF32, SEM_MMA_TF32, 8, 80, false},
        {SEM_MMA_F16, SEM_MMA_F16, 8, 75, false},    {SEM_MMA_F16, SEM_MMA_F16, 8, 75, true},
        {SEM_MMA_F16, SEM_MMA_F16, 8, 70, false},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (unsigned warp = 0; warp < 600; warp++)
            one_warp(&shapes[i], warp % 6);
}

/* By hand: on sm_90 a product is cut off 25 bits behind the point of the largest, on sm_80 24. */
static void the_model_knows_what_is_cut_off(void **unused)
{
    (void)unused;
    uint32_t a[16] = {0x3c00, 0x3c00}, b[16] = {0x3c00}; /* 1 * 1 + 1 * 2^-24 twice, from c = -1: */
    struct shape s = {SEM_MMA_F16, SEM_MMA_F16, 16, 90, false};
    b[1] = 1; /* the least subnormal half: 2^-24 */
    assert_int_equal(element(&s, a, b, 0xbf800000), 0x33800000);
    s.cc = 80;
    assert_int_equal(element(&s, a, b, 0xbf800000), 0x33800000);
    b[1] = 0x8001, a[1] = 0x3800; /* -2^-25: kept by sm_90, not by sm_80 */
    s.cc = 90;
    assert_int_equal(element(&s, a, b, 0), 0x3f7fffff);
    s.cc = 80;
    assert_int_equal(element(&s, a, b, 0), 0x3f800000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_knows_what_is_cut_off),
        cmocka_unit_test(sums_follow_the_published_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
