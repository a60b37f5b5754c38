/* mtgp.c - MTGP32 of period 2^11213 - 1 as cuRAND orders it: 192 generators with parameters of their own, or 64 in the
 * legacy ordering, which give 256 numbers each in turn.
 *
 * M. Saito and M. Matsumoto, "Variants of Mersenne Twister suitable for graphic processors", 2013; parameters:
 * mtgp.def. How the seeds are made of one was found with NVIDIA's host generator.
 */
#include "curand/words.h"

#include <stdlib.h>

enum { N = 351, RING = 512, MANY = 192, LEGACY = 64, TURN = 256, TABLE = 16 };
static const uint32_t upper = 0xfff80000u; /* the bits of the first word that count: 11213 = 351 * 32 - 19 */

static const struct set {
    unsigned position, left, right;
    uint32_t recurrence[4], tempering[4];
} sets[] = {
#define SET(position, left, right, r0, r1, r2, r3, t0, t1, t2, t3) \
    {position, left, right, {r0, r1, r2, r3}, {t0, t1, t2, t3}},
#include "curand/mtgp.def"
#undef SET
};

struct mg_mtgp {
    uint32_t count;
    uint64_t place; /* of the next number */
    struct state {
        uint32_t x[RING], at; /* the oldest of the 351 */
        unsigned position, left, right;
        uint32_t recurrence[TABLE], tempering[TABLE];
    } states[MANY];
};

static void table(const uint32_t rows[4], uint32_t sums[TABLE])
{
    for (unsigned i = 0; i < TABLE; i++) {
        sums[i] = 0;
        for (unsigned k = 0; k < 4; k++)
            sums[i] ^= i >> k & 1 ? rows[k] : 0;
    }
}

static void start(struct state *s, const struct set *set, uint32_t seed)
{
    uint32_t hidden, fill;
    table(set->recurrence, s->recurrence);
    table(set->tempering, s->tempering);
    s->position = set->position;
    s->left = set->left;
    s->right = set->right;
    hidden = s->recurrence[4] ^ s->recurrence[8] << 16;
    fill = hidden + (hidden >> 16);
    fill = ((fill + (fill >> 8)) & 0xff) * 0x01010101u;
    for (unsigned i = 0; i < N; i++)
        s->x[i] = i == 0 ? seed : i == 1 ? hidden : fill;
    for (unsigned i = 1; i < N; i++)
        s->x[i] ^= 1812433253u * (s->x[i - 1] ^ s->x[i - 1] >> 30) + i;
}

static uint32_t step(struct state *s)
{
    const uint32_t *x = s->x;
    uint32_t a = (x[s->at % RING] & upper) ^ x[(s->at + 1) % RING], t = x[(s->at + s->position - 1) % RING];
    a ^= a << s->left;
    a ^= x[(s->at + s->position) % RING] >> s->right;
    a ^= s->recurrence[a % TABLE];
    s->x[(s->at + N) % RING] = a;
    s->at++;
    t ^= t >> 16;
    t ^= t >> 8;
    return a ^ s->tempering[t % TABLE];
}

bool mg__mtgp_make(struct mg_words *w, uint64_t seed, bool legacy)
{
    _Static_assert(sizeof(sets) / sizeof(sets[0]) >= MANY, "parameters for all");
    uint32_t both = (uint32_t)(seed ^ seed >> 32);
    w->mtgp = calloc(1, sizeof(*w->mtgp));
    if (!w->mtgp)
        return false;
    w->mtgp->count = legacy ? LEGACY : MANY;
    for (uint32_t i = 0; i < w->mtgp->count; i++)
        start(&w->mtgp->states[i], &sets[i], both + i + 1);
    return true;
}

void mg__mtgp_take(struct mg_words *w, uint64_t *out, size_t n)
{
    struct mg_mtgp *m = w->mtgp;
    for (size_t i = 0; i < n; i++, m->place++)
        out[i] = step(&m->states[m->place / TURN % m->count]);
}

void mg__mtgp_free(struct mg_words *w)
{
    free(w->mtgp);
    w->mtgp = NULL;
}
