/* sobol.c - Sobol's sequences of 32 and 64 bits in up to 20,000 dimensions.
 *
 * I. Sobol, "On the distribution of points in a cube and the approximate evaluation of integrals", 1967, in the order
 * of Gray codes (I. Antonov and V. Saleev, 1979). Point i is the sum over GF(2) of the direction vectors at the bits of
 * i ^ i / 2. They grow from a primitive polynomial of each dimension and the first numbers that S. Joe and F. Kuo
 * found, "Constructing Sobol sequences with better two-dimensional projections", 2008: joekuo.bin, with joekuo.txt,
 * whose licence it has and which says how its bits stand. What scrambled sequences have in their place: scramble.c.
 */
#include "curand/words.h"

#include <stdlib.h>

enum { MOST_DEGREE = 18 };
extern const unsigned char mg__joekuo[];
/* clang-format off */
__asm__(".pushsection .rodata\n"
        ".globl mg__joekuo\n.hidden mg__joekuo\n.type mg__joekuo, @object\n"
        "mg__joekuo: .incbin \"" MG_JOEKUO "\"\n"
        ".size mg__joekuo, . - mg__joekuo\n"
        ".popsection\n");
/* clang-format on */

struct mg_sobol {
    unsigned bits;
    uint64_t point; /* the next */
    const struct mg_vectors *scrambled;
    unsigned have; /* vectors of this dimension, or none has come yet: SOBOL_DIMENSIONS */
    uint64_t vectors[64], constant;
};

static unsigned field(uint64_t *bit, unsigned width)
{
    unsigned value = 0;
    for (unsigned i = 0; i < width; i++, ++*bit)
        value |= (unsigned)(mg__joekuo[*bit / 8] >> (*bit % 8) & 1) << i;
    return value;
}

/* Where a dimension's numbers stand, which depends on how many polynomials there are of each degree. */
static unsigned find(unsigned dimension, uint64_t *bit)
{
    static const unsigned polynomials[] = {0, 1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710};
    unsigned degree = 1, left = dimension - 1;
    *bit = 0;
    for (; degree < MOST_DEGREE && left >= polynomials[degree]; degree++) {
        left -= polynomials[degree];
        *bit += (uint64_t)polynomials[degree] * (degree - 1 + degree * (degree - 1) / 2);
    }
    *bit += (uint64_t)left * (degree - 1 + degree * (degree - 1) / 2);
    return degree;
}

void mg__sobol_vectors(unsigned dimension, unsigned bits, uint64_t vectors[64])
{
    uint64_t bit = 0;
    if (!dimension) {
        for (unsigned i = 0; i < bits; i++)
            vectors[i] = 1ull << (63 - i);
        return;
    }
    unsigned degree = find(dimension, &bit), inner = field(&bit, degree - 1);
    for (unsigned i = 0; i < degree; i++)
        vectors[i] = (uint64_t)(field(&bit, i) << 1 | 1) << (63 - i);
    for (unsigned i = degree; i < bits; i++) {
        uint64_t v = vectors[i - degree] ^ vectors[i - degree] >> degree;
        for (unsigned k = 1; k < degree; k++)
            v ^= inner >> (k - 1) & 1 ? vectors[i - k] : 0;
        vectors[i] = v;
    }
    for (unsigned i = 0; bits == 32 && i < bits; i++)
        vectors[i] &= 0xffffffff00000000ull;
}

bool mg__sobol_make(struct mg_words *w, int type, uint64_t offset)
{
    w->sobol = calloc(1, sizeof(*w->sobol));
    if (!w->sobol)
        return false;
    w->sobol->bits = type == CURAND_SOBOL64 || type == CURAND_SCRAMBLED_SOBOL64 ? 64 : 32;
    w->sobol->point = offset;
    w->sobol->have = SOBOL_DIMENSIONS;
    if (type == CURAND_SCRAMBLED_SOBOL32 || type == CURAND_SCRAMBLED_SOBOL64) {
        w->sobol->scrambled = mg__vectors(true);
        return w->sobol->scrambled != NULL;
    }
    return true;
}

static void enter(struct mg_sobol *s, unsigned dimension)
{
    const uint64_t keep = s->bits == 32 ? 0xffffffff00000000ull : ~0ull;
    s->have = dimension;
    if (!s->scrambled) {
        mg__sobol_vectors(dimension, s->bits, s->vectors);
        return;
    }
    for (unsigned i = 0; i < s->bits; i++)
        s->vectors[i] = s->scrambled->wide[dimension][i] & keep;
    s->constant = s->scrambled->constants[dimension] & keep;
}

void mg__sobol_take(struct mg_words *w, uint64_t *out, size_t first, size_t count, size_t points)
{
    struct mg_sobol *s = w->sobol;
    uint64_t x = 0, gray;
    for (size_t i = 0; i < count; i++) {
        unsigned dimension = (unsigned)((first + i) / points);
        uint64_t point = s->point + (first + i) % points;
        point = s->bits == 32 ? (uint32_t)point : point;
        if (dimension != s->have) {
            enter(s, dimension);
        } else if (i) { /* one vector from the point before */
            x ^= s->vectors[point ? (unsigned)__builtin_ctzll(point) : s->bits - 1];
            out[i] = s->bits == 32 ? x >> 32 : x;
            continue;
        }
        gray = point ^ point >> 1;
        x = s->constant;
        for (unsigned k = 0; k < s->bits; k++)
            x ^= gray >> k & 1 ? s->vectors[k] : 0;
        out[i] = s->bits == 32 ? x >> 32 : x;
    }
}

void mg__sobol_over(struct mg_words *w, size_t points)
{
    w->sobol->point += points;
}

void mg__sobol_free(struct mg_words *w)
{
    free(w->sobol);
    w->sobol = NULL;
}
