/* poisson.c - Poisson numbers as the distribution's quantile of one word each: of MTGP32 and of Sobol's sequences, for
 * as many means as NVIDIA's host generators do the same (tests/libs/test_random.py). For smaller and larger means, and
 * with the other generators, they have other methods, which are not here: a call is refused.
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
    default:
        return false;
    }
}

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
