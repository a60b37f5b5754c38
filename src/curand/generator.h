/* generator.h - generators as the host API of cuRAND orders them: so many streams, taken in turn.
 *
 * A pseudo-random generator is a ring of streams, which are parts of one long sequence, far from each other. Each
 * number, or pair of numbers, is made of the next elements of the stream whose turn it is. So the same numbers come out
 * as from as many threads of a GPU. MT19937, MTGP32 and the Sobol sequences make one number of each word: words.h.
 */
#ifndef MG_CURAND_GENERATOR_H
#define MG_CURAND_GENERATOR_H
#include "curand/words.h"

enum { CURAND_XORWOW = 101, CURAND_MRG32K3A = 121, CURAND_PHILOX = 161 }; /* curandRngType_t */
enum {                                                                    /* curandOrdering_t */
       CURAND_BEST = 100,
       CURAND_DEFAULT = 101,
       CURAND_SEEDED = 102,
       CURAND_LEGACY = 103,
       CURAND_DYNAMIC = 104,
       CURAND_QUASI_ORDERING = 201
};

struct mg_generator {
    int type, ordering;
    uint64_t seed, offset;
    unsigned dimensions; /* of a Sobol sequence */
    bool ready;          /* the streams stand where seed and offset say, or further */
    uint32_t streams, turn;
    union {
        struct mg_xorwow {
            uint32_t v[5], d;
        } * xorwow;
        struct mg_mrg {
            uint32_t a[3], b[3];
        } * mrg;
        uint64_t *philox; /* the counter */
        void *state;      /* any of them, one a stream */
    };
    struct { /* Philox gives four numbers at a turn */
        double numbers[4];
        unsigned used;
        int kind; /* what they are; 0: they are not made yet */
    } group;
    struct mg_words words;
};
static inline bool mg__generator_of_words(const struct mg_generator *g) /* one number of each word */
{
    return g->type == CURAND_MTGP32 || g->type == CURAND_MT19937 || g->type >= CURAND_QUASI_DEFAULT;
}
static inline bool mg__generator_quasi(const struct mg_generator *g)
{
    return g->type >= CURAND_QUASI_DEFAULT;
}
bool mg__generator_ready(struct mg_generator *generator);                               /* false: no memory */
bool mg__generator_from(struct mg_generator *generator, const struct mg_xorwow *first); /* of type XORWOW */
void mg__generator_free(struct mg_generator *generator);
/* `n` numbers; normals are pairs, and `n` is even, with XORWOW and MRG32k3a. */
void mg__generator_bits(struct mg_generator *generator, uint32_t *out, size_t n);
void mg__generator_long_bits(struct mg_generator *generator, uint64_t *out, size_t n); /* 64-bit Sobol sequences */
void mg__generator_uniform(struct mg_generator *generator, float *out, size_t n);
void mg__generator_uniform_double(struct mg_generator *generator, double *out, size_t n);
void mg__generator_normal(struct mg_generator *generator, float *out, size_t n, float mean, float deviation);
void mg__generator_normal_double(struct mg_generator *generator, double *out, size_t n, double mean, double deviation);
/* Poisson numbers, of the generators and means for which there are some. False: no memory. */
bool mg__poisson_has(const struct mg_generator *generator, double mean);
bool mg__generator_poisson(struct mg_generator *generator, uint32_t *out, size_t n, double mean);
#endif
