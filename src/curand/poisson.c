/* poisson.c - Poisson numbers of one word each, as NVIDIA's host generators make them (tests/libs/test_random.py).
 *
 * MTGP32 and Sobol's sequences take the distribution's quantile, for as many means as is known. The other generators,
 * for means below 2,000, look the word up in a table: as many bins of one width as there are numbers whose probability
 * is more than 0 in double precision, each with its own number's share below and the rest another number's. The table
 * is made by giving to each number that has less than a bin what it lacks, in ascending order and again from the first,
 * from the largest number that still has a whole bin. Other means have other methods, which are not here: a call is
 * refused.
 */
#include "curand/generator.h"

#include <math.h>
#include <stdlib.h>

enum { LARGEST = 4000, WIDE_LIMIT = 2000, NARROW_LEAST = 10, MTGP_LEAST = 50, SPAN = 40 };

bool mg__poisson_has(const struct mg_generator *g, double mean)
{
    switch (g->type) {
    case CURAND_MTGP32:
        return mean >= MTGP_LEAST && mean <= LARGEST;
    case CURAND_SOBOL32:
    case CURAND_SCRAMBLED_SOBOL32:
        return mean >= NARROW_LEAST && mean <= LARGEST;
    case CURAND_SOBOL64:
    case CURAND_SCRAMBLED_SOBOL64:
        return mean > 0 && mean < WIDE_LIMIT;
    case CURAND_XORWOW:
    case CURAND_MRG32K3A:
    case CURAND_PHILOX:
    case CURAND_MT19937:
        return mean > 0 && mean < WIDE_LIMIT;
    default:
        return false;
    }
}

/* ---- by a table ---- */
struct bin {
    double share; /* of a bin that is the number's own, or, before it is its turn, what it has to give */
    uint32_t other;
    bool settled;
};

static double probability(double k, double mean)
{
    return exp(k * log(mean) - mean - lgamma(k + 1));
}

static void settle(struct bin *bins, uint32_t n)
{
    uint32_t giver = n;
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < n; i++) {
            if (bins[i].settled || bins[i].share >= 1)
                continue;
            while (giver && (bins[giver - 1].settled || bins[giver - 1].share < 1))
                giver--; /* who has given down to less than a bin never has more again */
            if (!giver)
                return;
            bins[i].settled = moved = true;
            bins[i].other = giver - 1;
            bins[giver - 1].share -= 1 - bins[i].share;
        }
    }
}

static bool by_table(struct mg_generator *g, uint32_t *out, size_t n, double mean)
{
    uint32_t first = (uint32_t)mean, last = first;
    while (first && probability(first - 1., mean) > 0)
        first--;
    while (probability(last + 1., mean) > 0)
        last++;
    const uint32_t count = last - first + 1;
    struct bin *bins = calloc(count, sizeof(*bins));
    if (!bins)
        return false;
    for (uint32_t i = 0; i < count; i++)
        bins[i] = (struct bin){probability((double)first + i, mean) * count, i, false};
    settle(bins, count);
    /* MRG32k3a's own number is between its words, which are stretched over 32 bits. */
    double *parts = g->type == CURAND_MRG32K3A ? calloc(n, sizeof(*parts)) : NULL;
    if (g->type == CURAND_MRG32K3A && !parts) {
        free(bins);
        return false;
    }
    if (parts)
        mg__generator_uniform_double(g, parts, n);
    else
        mg__generator_bits(g, out, n);
    for (size_t i = 0; i < n; i++) {
        const double at = (parts ? parts[i] : ((double)out[i] + 0.5) * 0x1p-32) * count;
        const uint32_t bin = at < count ? (uint32_t)at : count - 1;
        out[i] = first + (at - bin < bins[bin].share ? bin : bins[bin].other);
    }
    free(parts);
    free(bins);
    return true;
}

/* ---- by the quantile ---- */

/* Sums of probabilities as far as any word reaches: those left out are below 2^-64. */
struct sums {
    uint32_t first, count;
    long double *at;
};

static bool add_up(struct sums *s, double mean)
{
    long double sum = 0, m = (long double)mean;
    double low = mean - SPAN / 2 * sqrt(mean) - SPAN;
    s->first = low > 0 ? (uint32_t)low : 0;
    s->count = (uint32_t)(mean + SPAN * sqrt(mean) + SPAN) - s->first;
    s->at = malloc(s->count * sizeof(*s->at));
    for (uint32_t i = 0; s->at && i < s->count; i++) {
        long double k = (long double)(s->first + i);
        sum += expl(k * logl(m) - m - lgammal(k + 1));
        s->at[i] = sum;
    }
    return s->at != NULL;
}

static uint32_t quantile(const struct sums *s, long double p)
{
    uint32_t low = 0, high = s->count - 1;
    while (low < high) { /* the first whose sum is not below */
        uint32_t middle = low + (high - low) / 2;
        if (s->at[middle] < p)
            low = middle + 1;
        else
            high = middle;
    }
    return s->first + low;
}

bool mg__generator_poisson(struct mg_generator *g, uint32_t *out, size_t n, double mean)
{
    if (g->type == CURAND_XORWOW || g->type == CURAND_MRG32K3A || g->type == CURAND_PHILOX || g->type == CURAND_MT19937)
        return by_table(g, out, n, mean);
    bool wide = g->type == CURAND_SOBOL64 || g->type == CURAND_SCRAMBLED_SOBOL64;
    uint64_t *words = wide ? calloc(n, sizeof(*words)) : NULL;
    struct sums sums = {0};
    bool ok = (!wide || words) && add_up(&sums, mean);
    if (ok && wide)
        mg__generator_long_bits(g, words, n);
    else if (ok)
        mg__generator_bits(g, out, n);
    for (size_t i = 0; ok && i < n; i++)
        out[i] = wide ? quantile(&sums, ((long double)(words[i] >> 11) + 0.5L) * 0x1p-53L)
                      : quantile(&sums, fminl(((long double)out[i] + 1) * 0x1p-32L, 1 - 0x1p-33L));
    free(sums.at);
    free(words);
    return ok;
}
