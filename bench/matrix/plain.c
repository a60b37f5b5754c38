/* plain.c - the peer of bench_matrix: products of matrices as an H200's tensor cores sum them, in plain C.
 *
 * As a C programmer would write it who wants the same bits: each number is taken apart once, into a whole number and an
 * exponent; then for each element of C and each `block` of k the largest exponent is found, and what the products have
 * above the 25th bit behind it (of wgmma in eight bits the 13th) is added up and cut off. See docs/semantics.md for the
 * rules.
 */
#include "matrix.h"

#include <stdlib.h>
#include <string.h>

/* ifunc resolvers run before the sanitizers' runtime is up */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define CLONES
#endif

enum { LOW = -10000 };

struct part { /* whole * 2^(exponent - fraction bits) */
    int32_t whole, exponent;
};

static struct part take(const struct matrix_type *t, uint32_t bits)
{
    const int top = 1 << t->exponent, field = (int)(bits >> t->unused >> t->fraction) & (top - 1);
    int32_t whole = (int32_t)(bits >> t->unused & ((1u << t->fraction) - 1));
    struct part p = {whole | (field ? 1 << t->fraction : 0), (field ? field : 1) - (top / 2 - 1)};
    while (t->as_f16 && p.whole && p.whole < 1 << t->fraction) /* it is normal in f16 */
        p.whole *= 2, p.exponent--;
    if (!p.whole)
        p.exponent = LOW;
    if (bits >> (8 * t->bytes - 1) & 1)
        p.whole = -p.whole;
    return p;
}

static float cut(int64_t sum, int exponent, int bits)
{
    uint64_t whole = (uint64_t)(sum < 0 ? -sum : sum);
    for (; whole >> bits; exponent++)
        whole >>= 1;
    double value = (double)whole;
    for (; exponent > 0; exponent--)
        value *= 2;
    for (; exponent < 0; exponent++)
        value /= 2;
    return (float)(sum < 0 ? -value : value);
}

/* `count` products, from c on. */
CLONES static float block_sum(const struct matrix_type *t, const struct part *restrict a, const struct part *restrict b,
                              unsigned count, float c)
{
    const int kept = t->kept, spread = kept - 2 * t->fraction; /* no type's products have more bits than are kept */
    uint32_t bits;
    memcpy(&bits, &c, 4);
    const struct matrix_type f32 = {.bytes = 4, .exponent = 8, .fraction = 23};
    const struct part of_c = take(&f32, bits);
    int32_t most = of_c.exponent;
    for (unsigned i = 0; i < count; i++) {
        const int32_t e = a[i].exponent + b[i].exponent;
        most = most > e ? most : e;
    }
    if (most < LOW / 2)
        return 0;
    const int away = most - of_c.exponent;
    int64_t sum = (int64_t)(away > 40 ? 0 : ((int64_t)abs(of_c.whole) << kept >> 23) >> away);
    sum = of_c.whole < 0 ? -sum : sum;
    for (unsigned i = 0; i < count; i++) {
        const int32_t product = a[i].whole * b[i].whole, down = most - a[i].exponent - b[i].exponent;
        const int32_t moved = (product < 0 ? -product : product) << spread >> (down > 31 ? 31 : down);
        sum += product < 0 ? -moved : moved;
    }
    return cut(sum, most - kept, kept < 23 ? kept + 1 : 24);
}

void matrix_plain(const struct matrix_type *t, uint32_t *c, const void *a, const void *b, unsigned n, unsigned k)
{
    if (!t->kept) {
        matrix_plain_whole((int32_t *)c, a, b, n, k);
        return;
    }
    struct part *x = malloc((size_t)n * k * sizeof *x), *y = malloc((size_t)n * k * sizeof *y);
    for (size_t i = 0; x && y && i < (size_t)n * k; i++) {
        /* As f16 the first two of every four are summed before the others, in the 32 of one instruction. */
        const size_t in = i % 32, at = !t->as_f16 ? i : i - in + in / 4 * 2 + in % 2 + (in % 4 < 2 ? 0 : 16);
        uint32_t of_a = 0, of_b = 0;
        memcpy(&of_a, (const char *)a + i * t->bytes, t->bytes);
        memcpy(&of_b, (const char *)b + i * t->bytes, t->bytes);
        x[at] = take(t, of_a);
        y[at] = take(t, of_b);
    }
    for (size_t row = 0; x && y && row < n; row++)
        for (size_t column = 0; column < n; column++) {
            float sum = 0;
            for (size_t i = 0; i < k; i += t->block) {
                const struct part *of_a = x + row * k + i, *of_b = y + column * k + i;
                if (t->as_f16) /* two halves from zero on, and then to what there is */
                    sum += block_sum(t, of_a + t->block / 2, of_b + t->block / 2, t->block / 2,
                                     block_sum(t, of_a, of_b, t->block / 2, 0));
                else
                    sum = block_sum(t, of_a, of_b, t->block, sum);
            }
            memcpy(&c[row * n + column], &sum, 4);
        }
    free(x);
    free(y);
}

CLONES void matrix_plain_whole(int32_t *restrict c, const int8_t *restrict a, const int8_t *restrict b, unsigned n,
                               unsigned k)
{
    for (size_t row = 0; row < n; row++)
        for (size_t column = 0; column < n; column++) {
            int32_t sum = 0;
            for (size_t i = 0; i < k; i++)
                sum += a[row * k + i] * b[column * k + i];
            c[row * n + column] = sum;
        }
}
