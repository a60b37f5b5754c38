/* generator.c - XORWOW, MRG32k3a and Philox4x32-10, and what is made of their bits.
 *
 * XORWOW: G. Marsaglia, "Xorshift RNGs", 2003; 4,096 streams 2^67 steps apart, which a matrix over GF(2) jumps over.
 * MRG32k3a: P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number
 * generators", 1999; 81,920 streams (4,096 in the legacy ordering) 2^76 steps apart. Philox4x32-10: J. Salmon and
 * others, "Parallel random numbers: as easy as 1, 2, 3", 2011; 65,536 streams, which are a word of the counter. How
 * seeds become states and bits become numbers was held to an H200's sequences (tests/libs/random.cu): integers and
 * uniform numbers are its, to the last bit; normal ones are computed in double here, and differ in the last places.
 * XORWOW seeded stream by stream was held to NVIDIA's host generator (tests/libs/test_random.py).
 */
#include "curand/generator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { XORWOW_STREAMS = 4096, MRG_STREAMS = 81920, MRG_LEGACY_STREAMS = 4096, PHILOX_STREAMS = 65536 };

/* ---- XORWOW ---- */
enum { BITS = 160, WORDS = 5, JUMP = 67 };
static const uint64_t seed_step = 3133713; /* between streams in the seeded ordering */
struct matrix {
    uint32_t image[BITS][WORDS]; /* of each bit of the state */
};

static uint32_t xorwow(struct mg_xorwow *s)
{
    uint32_t t = s->v[0] ^ (s->v[0] >> 2);
    memmove(s->v, s->v + 1, 4 * sizeof(s->v[0]));
    s->v[4] = (s->v[4] ^ (s->v[4] << 4)) ^ (t ^ (t << 1));
    s->d += 362437;
    return s->v[4] + s->d;
}

static void apply(const struct matrix *m, uint32_t v[WORDS])
{
    uint32_t sum[WORDS] = {0};
    for (unsigned i = 0; i < BITS; i++)
        for (unsigned k = 0; v[i / 32] >> (i % 32) & 1 && k < WORDS; k++)
            sum[k] ^= m->image[i][k];
    memcpy(v, sum, sizeof(sum));
}

static void square(struct matrix *m)
{
    struct matrix twice = *m;
    for (unsigned i = 0; i < BITS; i++)
        apply(m, twice.image[i]);
    *m = twice;
}

static struct matrix one_step(void)
{
    struct matrix m;
    for (unsigned i = 0; i < BITS; i++) {
        struct mg_xorwow s = {{0}, 0};
        s.v[i / 32] = 1u << (i % 32);
        xorwow(&s);
        memcpy(m.image[i], s.v, sizeof(s.v));
    }
    return m;
}

static struct mg_xorwow seeded(uint64_t seed)
{
    uint32_t low = (uint32_t)seed ^ 0xaad26b49u, high = (uint32_t)(seed >> 32) ^ 0xf7dcefddu;
    uint32_t t0 = 1099087573u * low, t1 = 2591861531u * high;
    return (struct mg_xorwow){{123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1, 5783321u + t0},
                              6615241u + t1 + t0};
}

/* All streams from one, or where each has a seed, all of these, so many rows on. */
static void spread_xorwow(struct mg_generator *g, uint32_t seeds)
{
    uint64_t rows = g->offset / XORWOW_STREAMS;
    struct matrix m = one_step();
    for (unsigned i = 0; i < JUMP; i++) { /* all streams have made so many steps; they commute with the jump */
        for (unsigned k = 0; i < 64 && rows >> i & 1 && k < seeds; k++)
            apply(&m, g->xorwow[k].v);
        square(&m);
    }
    for (unsigned i = 0; i < seeds; i++)
        g->xorwow[i].d += 362437u * (uint32_t)rows;
    for (unsigned i = seeds; i < XORWOW_STREAMS; i++) {
        g->xorwow[i] = g->xorwow[i - 1];
        apply(&m, g->xorwow[i].v);
    }
}

static void seed_xorwow(struct mg_generator *g)
{
    uint32_t seeds = g->ordering == CURAND_SEEDED ? XORWOW_STREAMS : 1;
    for (unsigned i = 0; i < seeds; i++)
        g->xorwow[i] = seeded(g->seed + i * seed_step);
    spread_xorwow(g, seeds);
    for (unsigned i = 0; i < g->offset % XORWOW_STREAMS; i++)
        xorwow(&g->xorwow[i]);
    g->turn = (uint32_t)(g->offset % XORWOW_STREAMS);
}

/* ---- MRG32k3a ---- */
static const uint64_t m1 = 4294967087u, m2 = 4294944443u;

static double mrg(struct mg_mrg *s)
{
    uint64_t p1 = (1403580u * (uint64_t)s->a[1] + 810728u * (m1 - s->a[0])) % m1;
    uint64_t p2 = (527612u * (uint64_t)s->b[2] + 1370589u * (m2 - s->b[0])) % m2;
    memmove(s->a, s->a + 1, 2 * sizeof(s->a[0]));
    memmove(s->b, s->b + 1, 2 * sizeof(s->b[0]));
    s->a[2] = (uint32_t)p1;
    s->b[2] = (uint32_t)p2;
    return (double)(p1 > p2 ? p1 - p2 : p1 - p2 + m1);
}

struct step { /* of one of the two recurrences */
    uint64_t m[3][3];
};

static void times(const struct step *a, const struct step *b, uint64_t modulus, struct step *product)
{
    struct step made;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            uint64_t sum = 0;
            for (int k = 0; k < 3; k++)
                sum = (sum + a->m[i][k] * b->m[k][j] % modulus) % modulus;
            made.m[i][j] = sum;
        }
    *product = made;
}

static void move(const struct step *by, uint64_t modulus, uint32_t v[3])
{
    uint32_t moved[3];
    for (int i = 0; i < 3; i++) {
        uint64_t sum = 0;
        for (int k = 0; k < 3; k++)
            sum = (sum + by->m[i][k] * v[k] % modulus) % modulus;
        moved[i] = (uint32_t)sum;
    }
    memcpy(v, moved, sizeof(moved));
}

static void seed_mrg(struct mg_generator *g)
{
    struct step a = {{{0, 1, 0}, {0, 0, 1}, {m1 - 810728, 1403580, 0}}};
    struct step b = {{{0, 1, 0}, {0, 0, 1}, {m2 - 1370589, 0, 527612}}};
    uint32_t x[2] = {(uint32_t)g->seed ^ 0x55555555u, (uint32_t)(g->seed >> 32) ^ 0xaaaaaaaau};
    uint64_t rows = g->offset / g->streams;
    struct mg_mrg *first = &g->mrg[0];
    for (int i = 0; i < 3; i++) {
        first->a[i] = g->seed ? (uint32_t)(12345 * (uint64_t)x[i & 1] % m1) : 12345;
        first->b[i] = g->seed ? (uint32_t)(12345 * (uint64_t)x[~i & 1] % m2) : 12345;
    }
    for (unsigned i = 0; i < 76; i++) {
        if (i < 64 && rows >> i & 1) {
            move(&a, m1, first->a);
            move(&b, m2, first->b);
        }
        times(&a, &a, m1, &a);
        times(&b, &b, m2, &b);
    }
    for (unsigned i = 1; i < g->streams; i++) {
        g->mrg[i] = g->mrg[i - 1];
        move(&a, m1, g->mrg[i].a);
        move(&b, m2, g->mrg[i].b);
    }
    g->turn = (uint32_t)(g->offset % g->streams);
    for (unsigned i = 0; i < g->turn; i++)
        mrg(&g->mrg[i]);
}

/* ---- Philox ---- */
static void philox(uint64_t seed, uint64_t count, uint32_t stream, uint32_t x[4])
{
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)count, (uint32_t)(count >> 32), stream, 0};
    memcpy(x, counter, sizeof(counter));
    for (int round = 0; round < 10; round++) {
        uint64_t p = 0xd2511f53ull * x[0], q = 0xcd9e8d57ull * x[2];
        uint32_t next[4] = {(uint32_t)(q >> 32) ^ x[1] ^ key[0], (uint32_t)q, (uint32_t)(p >> 32) ^ x[3] ^ key[1],
                            (uint32_t)p};
        memcpy(x, next, sizeof(next));
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
}

static void seed_philox(struct mg_generator *g)
{
    uint64_t groups = g->offset / 4;
    for (uint32_t i = 0; i < PHILOX_STREAMS; i++)
        g->philox[i] = groups / PHILOX_STREAMS + (i < groups % PHILOX_STREAMS);
    g->turn = (uint32_t)(groups % PHILOX_STREAMS);
    g->group.used = (unsigned)(g->offset % 4);
    g->group.kind = 0;
}

/* ---- numbers ---- */
bool mg__generator_from(struct mg_generator *g, const struct mg_xorwow *first)
{
    g->ready = mg__generator_ready(g);
    if (g->ready) {
        g->xorwow[0] = *first;
        spread_xorwow(g, 1);
    }
    return g->ready;
}

bool mg__generator_ready(struct mg_generator *g)
{
    if (g->ready)
        return true;
    mg__generator_free(g);
    if (mg__generator_of_words(g))
        return g->ready = g->type == CURAND_MT19937  ? mg__twister_make(&g->words, g->seed)
                          : g->type == CURAND_MTGP32 ? mg__mtgp_make(&g->words, g->seed, g->ordering == CURAND_LEGACY)
                                                     : mg__sobol_make(&g->words, g->type, g->offset);
    g->streams = g->type == CURAND_XORWOW                                     ? XORWOW_STREAMS
                 : g->type == CURAND_PHILOX                                   ? PHILOX_STREAMS
                 : g->type == CURAND_MRG32K3A && g->ordering == CURAND_LEGACY ? MRG_LEGACY_STREAMS
                                                                              : MRG_STREAMS;
    g->state = calloc(g->streams, g->type == CURAND_XORWOW     ? sizeof(struct mg_xorwow)
                                  : g->type == CURAND_MRG32K3A ? sizeof(struct mg_mrg)
                                                               : sizeof(uint64_t));
    if (!g->state)
        return false;
    if (g->type == CURAND_XORWOW)
        seed_xorwow(g);
    else if (g->type == CURAND_MRG32K3A)
        seed_mrg(g);
    else
        seed_philox(g);
    return g->ready = true;
}

void mg__generator_free(struct mg_generator *g)
{
    free(g->state);
    g->state = NULL;
    mg__twister_free(&g->words);
    mg__mtgp_free(&g->words);
    mg__sobol_free(&g->words);
    g->ready = false;
}

/* The next elements of the stream whose turn it is, and its turn is over. Not of Philox. */
static void take(struct mg_generator *g, uint32_t *words, double *values, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (g->type == CURAND_XORWOW)
            words[i] = xorwow(&g->xorwow[g->turn]);
        else
            values[i] = mrg(&g->mrg[g->turn]);
    g->turn = (g->turn + 1) % g->streams;
}

static const double mrg_norm = 2.3283065498378288e-10; /* one over the modulus and one */

/* In (0, 1]. */
static float uniform(const struct mg_generator *g, uint32_t word, double value)
{
    return g->type == CURAND_MRG32K3A ? (float)(value * mrg_norm) : fmaf((float)word, 0x1p-32f, 0x1p-33f);
}

static double uniform_double(const struct mg_generator *g, const uint32_t words[2], double value)
{
    uint64_t bits = words[0] ^ (uint64_t)words[1] << 21;
    return g->type == CURAND_MRG32K3A ? value * mrg_norm : (double)bits * 0x1p-53 + 0x1p-54;
}

/* Box and Muller: two uniform numbers give two normal ones. */
static void normal(const struct mg_generator *g, const uint32_t words[2], const double values[2], double pair[2])
{
    const float turn = 6.2831855f;
    float u = uniform(g, words[0], values[0]);
    float v = g->type == CURAND_MRG32K3A ? uniform(g, 0, values[1]) * turn
                                         : fmaf((float)words[1], turn * 0x1p-32f, turn * 0x1p-33f);
    double length = sqrt(-2 * log((double)u));
    pair[0] = (double)(float)(length * sin((double)v));
    pair[1] = (double)(float)(length * cos((double)v));
}

static void normal_double(const struct mg_generator *g, const uint32_t words[4], const double values[2], double pair[2])
{
    const long double pi = 3.14159265358979323846L;
    long double u = (long double)uniform_double(g, words, values[0]);
    long double angle = 2 * (long double)uniform_double(g, words + 2, values[1]) * pi;
    double length = (double)sqrtl(-2 * logl(u));
    pair[0] = length * (double)sinl(angle);
    pair[1] = length * (double)cosl(angle);
}

enum kind { NONE, BIT_WORDS, UNIFORM, UNIFORM_DOUBLE, NORMAL, NORMAL_DOUBLE };

/* A turn of Philox: four numbers of any kind, of one step of its counter, or of two for those in double. A group that
 * was begun as another kind is made again, and goes on at the number that it had come to. */
static void make_group(struct mg_generator *g, enum kind kind)
{
    const double none[4] = {0};
    double *to = g->group.numbers;
    uint32_t x[8];
    philox(g->seed, g->philox[g->turn], g->turn, x);
    philox(g->seed, g->philox[g->turn] + 1, g->turn, x + 4);
    for (unsigned i = 0; i < 4; i++)
        to[i] = kind == BIT_WORDS ? (double)x[i] : (double)uniform(g, x[i], 0);
    for (unsigned i = 0; kind == UNIFORM_DOUBLE && i < 4; i++)
        to[i] = uniform_double(g, x + 2 * i, 0);
    for (unsigned i = 0; kind == NORMAL && i < 4; i += 2)
        normal(g, x + i, none, to + i);
    for (unsigned i = 0; kind == NORMAL_DOUBLE && i < 4; i += 2)
        normal_double(g, x + 2 * i, none, to + i);
    g->group.kind = (int)kind;
}

static double of_group(struct mg_generator *g, enum kind kind)
{
    if (g->group.kind != (int)kind)
        make_group(g, kind);
    double number = g->group.numbers[g->group.used++];
    if (g->group.used == 4) {
        g->philox[g->turn] += kind == UNIFORM_DOUBLE || kind == NORMAL_DOUBLE ? 2 : 1;
        g->turn = (g->turn + 1) % g->streams;
        g->group.used = 0;
        g->group.kind = NONE;
    }
    return number;
}

/* ---- one number of each word ---- */
static bool wide(const struct mg_generator *g)
{
    return g->type == CURAND_SOBOL64 || g->type == CURAND_SCRAMBLED_SOBOL64;
}

static float word_normal(uint32_t word)
{
    bool up = word > 0x80000000u; /* its mirror image is nearer to 0, and so more exact */
    float p = uniform(&(const struct mg_generator){0}, up ? ~word : word, 0);
    float z = mg__normal_quantile_float((double)p);
    return up ? -z : z;
}

static double word_normal_double(const struct mg_generator *g, uint64_t word)
{
    uint64_t half = wide(g) ? 1ull << 52 : 0x80000000u, n = wide(g) ? word >> 11 : word;
    bool up = n > half;
    double unit = wide(g) ? 0x1p-53 : 0x1p-32, p = (double)(up ? 2 * half - 1 - n : n) * unit + unit / 2;
    return up ? -mg__normal_quantile(p) : mg__normal_quantile(p);
}

static double word_uniform_double(const struct mg_generator *g, uint64_t word)
{
    if (wide(g))
        return (double)(word >> 11) * 0x1p-53 + 0x1p-54;
    return (double)word * 0x1p-32 + (g->type == CURAND_MT19937 ? 0x1p-33 : 0x1p-32);
}

static void of_words(struct mg_generator *g, enum kind kind, void *out, size_t n, double mean, double deviation)
{
    uint64_t words[1024];
    size_t count;
    for (size_t first = 0; first < n; first += count) {
        count = n - first < 1024 ? n - first : 1024;
        if (g->type == CURAND_MT19937)
            mg__twister_take(&g->words, words, count);
        else if (g->type == CURAND_MTGP32)
            mg__mtgp_take(&g->words, words, count);
        else
            mg__sobol_take(&g->words, words, first, count, n / g->dimensions);
        for (size_t i = 0; i < count; i++) {
            uint32_t word = (uint32_t)(wide(g) ? words[i] >> 32 : words[i]);
            if (kind == BIT_WORDS && wide(g))
                ((uint64_t *)out)[first + i] = words[i];
            else if (kind == BIT_WORDS)
                ((uint32_t *)out)[first + i] = word;
            else if (kind == UNIFORM)
                ((float *)out)[first + i] = uniform(g, word, 0);
            else if (kind == UNIFORM_DOUBLE)
                ((double *)out)[first + i] = word_uniform_double(g, words[i]);
            else if (kind == NORMAL)
                ((float *)out)[first + i] = fmaf(word_normal(word), (float)deviation, (float)mean);
            else
                ((double *)out)[first + i] = fma(word_normal_double(g, words[i]), deviation, mean);
        }
    }
    if (mg__generator_quasi(g))
        mg__sobol_over(&g->words, n / g->dimensions);
}

/* ---- what is asked for ---- */
void mg__generator_long_bits(struct mg_generator *g, uint64_t *out, size_t n)
{
    of_words(g, BIT_WORDS, out, n, 0, 0);
}

void mg__generator_bits(struct mg_generator *g, uint32_t *out, size_t n)
{
    double value;
    if (mg__generator_of_words(g)) {
        of_words(g, BIT_WORDS, out, n, 0, 0);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (g->type == CURAND_PHILOX) {
            out[i] = (uint32_t)of_group(g, BIT_WORDS);
            continue;
        }
        take(g, &out[i], &value, 1);
        if (g->type == CURAND_MRG32K3A)
            out[i] = (uint32_t)(value * 1.000000048662); /* 2^32 over the modulus */
    }
}

void mg__generator_uniform(struct mg_generator *g, float *out, size_t n)
{
    uint32_t word = 0;
    double value = 0;
    if (mg__generator_of_words(g)) {
        of_words(g, UNIFORM, out, n, 0, 0);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (g->type == CURAND_PHILOX) {
            out[i] = (float)of_group(g, UNIFORM);
            continue;
        }
        take(g, &word, &value, 1);
        out[i] = uniform(g, word, value);
    }
}

void mg__generator_uniform_double(struct mg_generator *g, double *out, size_t n)
{
    uint32_t words[2] = {0};
    double values[2] = {0};
    if (mg__generator_of_words(g)) {
        of_words(g, UNIFORM_DOUBLE, out, n, 0, 0);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (g->type == CURAND_PHILOX) {
            out[i] = of_group(g, UNIFORM_DOUBLE);
            continue;
        }
        take(g, words, values, g->type == CURAND_MRG32K3A ? 1 : 2);
        out[i] = uniform_double(g, words, values[0]);
    }
}

void mg__generator_normal(struct mg_generator *g, float *out, size_t n, float mean, float deviation)
{
    uint32_t words[2] = {0};
    double values[2] = {0}, pair[2];
    if (mg__generator_of_words(g)) {
        of_words(g, NORMAL, out, n, (double)mean, (double)deviation);
        return;
    }
    for (size_t i = 0; g->type == CURAND_PHILOX && i < n; i++)
        out[i] = fmaf((float)of_group(g, NORMAL), deviation, mean);
    for (size_t i = 0; g->type != CURAND_PHILOX && i + 1 < n; i += 2) {
        take(g, words, values, 2);
        normal(g, words, values, pair);
        for (size_t k = 0; k < 2; k++)
            out[i + k] = fmaf((float)pair[k], deviation, mean);
    }
}

void mg__generator_normal_double(struct mg_generator *g, double *out, size_t n, double mean, double deviation)
{
    uint32_t words[4] = {0};
    double values[4] = {0}, pair[2];
    if (mg__generator_of_words(g)) {
        of_words(g, NORMAL_DOUBLE, out, n, mean, deviation);
        return;
    }
    for (size_t i = 0; g->type == CURAND_PHILOX && i < n; i++)
        out[i] = fma(of_group(g, NORMAL_DOUBLE), deviation, mean);
    for (size_t i = 0; g->type != CURAND_PHILOX && i + 1 < n; i += 2) {
        take(g, words, values, g->type == CURAND_MRG32K3A ? 2 : 4);
        normal_double(g, words, values, pair);
        for (size_t k = 0; k < 2; k++)
            out[i + k] = fma(pair[k], deviation, mean);
    }
}
