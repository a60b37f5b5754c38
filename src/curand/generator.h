/* generator.h - pseudo-random generators as the host API of cuRAND orders them: so many streams, taken in turn.
 *
 * A generator is a ring of streams, which are parts of one long sequence, far from each other. Each number, or pair of
 * numbers, is made of the next elements of the stream whose turn it is. So the same numbers come out as from as many
 * threads of a GPU.
 */
#ifndef MG_CURAND_GENERATOR_H
#define MG_CURAND_GENERATOR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CURAND_XORWOW = 101, CURAND_MRG32K3A = 121, CURAND_PHILOX = 161 }; /* curandRngType_t */
enum { CURAND_BEST = 100, CURAND_DEFAULT = 101, CURAND_LEGACY = 103 };    /* curandOrdering_t */

struct mg_generator {
    int type, ordering;
    uint64_t seed, offset;
    bool ready; /* the streams stand where seed and offset say, or further */
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
};
bool mg__generator_ready(struct mg_generator *generator); /* false: no memory */
void mg__generator_free(struct mg_generator *generator);
/* `n` numbers; normals are pairs, and `n` is even. */
void mg__generator_bits(struct mg_generator *generator, uint32_t *out, size_t n);
void mg__generator_uniform(struct mg_generator *generator, float *out, size_t n);
void mg__generator_uniform_double(struct mg_generator *generator, double *out, size_t n);
void mg__generator_normal(struct mg_generator *generator, float *out, size_t n, float mean, float deviation);
void mg__generator_normal_double(struct mg_generator *generator, double *out, size_t n, double mean, double deviation);
#endif
