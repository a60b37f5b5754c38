/* twister.c - MT19937 as cuRAND orders it: 8,192 streams, 2^2048 steps apart, of eight threads each.
 *
 * M. Matsumoto and T. Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudo-random number
 * generator", 1998. The jump from one stream to the next is a polynomial in the step, t^(2^2048) modulo the
 * characteristic polynomial that the paper gives, applied to the sequence as H. Haramoto and others, "Efficient jump
 * ahead for F2-linear random number generators", 2008, have it. A stream is made when it is first asked for: a call for
 * few numbers does not pay for 8,192.
 *
 * A row of results holds eight numbers of each stream. Of each 624 words of a stream, its eight threads give one word
 * each at `lone`, and then seven in a row at a time, thread by thread, as far as the next lone word. Which words these
 * are, and how far apart the streams, was found with NVIDIA's host generator.
 */
#include "curand/words.h"

#include <stdlib.h>
#include <string.h>

enum { N = 624, M = 397, DEGREE = 19937, STREAMS = 8192, THREADS = 8, RUN = 7, ROWS = N / THREADS };
enum { LIMBS = (2 * DEGREE + 63) / 64 + 1, TERMS = 256, JUMP = 2048 };
enum { WINDOW = 6, PATTERNS = 1 << WINDOW, WINDOWS = (DEGREE + WINDOW - 1) / WINDOW };
static const uint32_t twist_matrix = 0x9908b0df;

struct stream {
    uint32_t x[N];
};
/* As many words as fit vectors: the compiler takes them together. */
typedef uint32_t vector __attribute__((vector_size(32), aligned(4), may_alias));
enum { WIDE = 8, VECTORS = (N + WINDOW + WIDE - 1) / WIDE };
struct mg_twister {
    struct stream *streams;
    uint32_t made;  /* so many of them */
    uint64_t place; /* of the next number */
    /* The jump's polynomial: the term that a window begins with, by pattern; where those of a pattern end. */
    uint16_t windows[WINDOWS], ends[PATTERNS];
    uint32_t path[DEGREE + WINDOW + VECTORS * WIDE]; /* while jumping */
};

/* ---- the jump's polynomial ---- */

/* a = a t^high + a t^low */
static void times_binomial(uint64_t *a, unsigned high, unsigned low)
{
    static const unsigned limbs = LIMBS;
    uint64_t product[LIMBS] = {0};
    for (unsigned i = 0; i < limbs; i++)
        for (unsigned k = 0; a[i] && k < 2; k++) {
            unsigned by = k ? low : high, at = i + by / 64;
            if (at < limbs)
                product[at] ^= a[i] << (by % 64);
            if (by % 64 && at + 1 < limbs)
                product[at + 1] ^= a[i] >> (64 - by % 64);
        }
    memcpy(a, product, sizeof(product));
}

/* The characteristic polynomial's exponents below its degree. */
static unsigned characteristic(unsigned terms[TERMS])
{
    uint64_t a[LIMBS] = {1};
    unsigned n = 0;
    for (unsigned i = 0; i < 31; i++) {
        times_binomial(a, N - 1, M - 1);
        a[0] ^= twist_matrix >> i & 1;
    }
    times_binomial(a, N, M);
    a[0] ^= twist_matrix >> 31;
    for (unsigned i = 0; i < DEGREE; i++)
        if (a[i / 64] >> (i % 64) & 1 && n < TERMS)
            terms[n++] = i;
    return n;
}

static void xor_at(uint64_t *a, unsigned bit, uint64_t limb)
{
    a[bit / 64] ^= limb << (bit % 64);
    if (bit % 64)
        a[bit / 64 + 1] ^= limb >> (64 - bit % 64);
}

/* The second highest exponent is 227 below the degree, so whole limbs can be taken off. */
static void reduce(uint64_t *a, const unsigned *terms, unsigned n)
{
    for (unsigned i = LIMBS - 1; i > DEGREE / 64; i--) {
        uint64_t limb = a[i];
        a[i] = 0;
        for (unsigned k = 0; limb && k < n; k++)
            xor_at(a, i * 64 - DEGREE + terms[k], limb);
    }
    uint64_t limb = a[DEGREE / 64] >> (DEGREE % 64);
    a[DEGREE / 64] &= (1ull << (DEGREE % 64)) - 1;
    for (unsigned k = 0; limb && k < n; k++)
        xor_at(a, terms[k], limb);
}

static uint64_t spread(uint32_t x) /* its bits at even places */
{
    uint64_t v = x;
    v = (v | v << 16) & 0x0000ffff0000ffffull;
    v = (v | v << 8) & 0x00ff00ff00ff00ffull;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0full;
    v = (v | v << 2) & 0x3333333333333333ull;
    return (v | v << 1) & 0x5555555555555555ull;
}

static unsigned pattern_of(const uint64_t *a, unsigned first)
{
    uint64_t bits = a[first / 64] >> (first % 64);
    if (first % 64 > 64 - WINDOW)
        bits |= a[first / 64 + 1] << (64 - first % 64);
    return (unsigned)bits % PATTERNS;
}

static void make_jump(struct mg_twister *t)
{
    unsigned terms[TERMS], n = characteristic(terms), count = 0;
    uint64_t a[LIMBS] = {2}; /* t */
    for (unsigned i = 0; i < JUMP; i++) {
        for (unsigned k = DEGREE / 64 + 1; k-- > 0;) {
            uint64_t limb = a[k];
            if (2 * k + 1 < LIMBS)
                a[2 * k + 1] = spread((uint32_t)(limb >> 32));
            a[2 * k] = spread((uint32_t)limb);
        }
        reduce(a, terms, n);
    }
    for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
        for (unsigned i = 0; i < DEGREE; i += WINDOW)
            if (pattern_of(a, i) == pattern)
                t->windows[count++] = (uint16_t)i;
        t->ends[pattern] = (uint16_t)count;
    }
}

/* ---- streams ---- */
static uint32_t twisted(uint32_t first, uint32_t second, uint32_t far)
{
    uint32_t y = (first & 0x80000000u) | (second & 0x7fffffffu);
    return far ^ (y >> 1) ^ (y & 1 ? twist_matrix : 0);
}

static void twist(struct stream *s)
{
    for (unsigned i = 0; i < N; i++)
        s->x[i] = twisted(s->x[i], s->x[(i + 1) % N], s->x[(i + M) % N]);
}

static uint32_t tempered(uint32_t y)
{
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* As base's MG_WIDE, which a library of its own does without. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("avx2", "default")))
#endif
static void add(uint32_t *to, const uint32_t *from, unsigned vectors)
{
    vector *t = (vector *)to;
    const vector *f = (const vector *)from;
    for (unsigned k = 0; k < vectors; k++)
        t[k] ^= f[k];
}

/* The state 2^2048 steps on: the sum of the states so many steps on as the polynomial has terms. WINDOW terms are taken
 * at a time: places with the same pattern of terms are summed first, and then shifted once. */
static void jump(struct mg_twister *t, const struct stream *from, struct stream *to)
{
    memcpy(t->path, from->x, sizeof(from->x));
    for (unsigned i = 0; i + N < sizeof(t->path) / sizeof(*t->path); i++)
        t->path[i + N] = twisted(t->path[i], t->path[i + 1], t->path[i + M]);
    memset(to->x, 0, sizeof(to->x));
    for (unsigned pattern = 1, w = t->ends[0]; pattern < PATTERNS; pattern++) {
        uint32_t sum[VECTORS * WIDE] = {0};
        for (; w < t->ends[pattern]; w++)
            add(sum, t->path + t->windows[w], VECTORS);
        for (unsigned i = 0; i < WINDOW; i++)
            if (pattern >> i & 1)
                add(to->x, sum + i, N / WIDE);
    }
}

/* Where the word of a thread stands among the 624, in one of the 78 rows that these fill. */
static unsigned word_of(unsigned row, unsigned thread)
{
    static const unsigned lone[THREADS] = {0, 113, 170, 283, 340, 397, 510, 567};
    static const unsigned run[] = {1, 57, 114, 171, 227, 284, 341, 398, 454, 511, 568};
    return row ? run[(row - 1) / RUN] + RUN * thread + (row - 1) % RUN : lone[thread];
}

bool mg__twister_make(struct mg_words *w, uint64_t seed)
{
    struct mg_twister *t = calloc(1, sizeof(*t));
    w->twister = t;
    if (!t)
        return false;
    t->streams = calloc(STREAMS, sizeof(*t->streams));
    if (!t->streams)
        return false;
    uint32_t *x = t->streams[0].x;
    x[0] = (uint32_t)seed;
    for (unsigned i = 1; i < N; i++)
        x[i] = 1812433253u * (x[i - 1] ^ x[i - 1] >> 30) + i;
    twist(&t->streams[0]);
    t->made = 1;
    return true;
}

void mg__twister_free(struct mg_words *w)
{
    if (w->twister)
        free(w->twister->streams);
    free(w->twister);
    w->twister = NULL;
}

void mg__twister_take(struct mg_words *w, uint64_t *out, size_t n)
{
    struct mg_twister *t = w->twister;
    for (size_t i = 0; i < n; i++, t->place++) {
        unsigned thread = t->place % THREADS, s = t->place / THREADS % STREAMS;
        unsigned row = (unsigned)(t->place / THREADS / STREAMS % ROWS);
        if (s >= t->made) {
            if (t->made == 1)
                make_jump(t);
            jump(t, &t->streams[s - 1], &t->streams[s]);
            t->made = s + 1;
        } else if (!row && !thread && t->place >= (uint64_t)THREADS * STREAMS) {
            twist(&t->streams[s]);
        }
        out[i] = tempered(t->streams[s].x[word_of(row, thread)]);
    }
}
