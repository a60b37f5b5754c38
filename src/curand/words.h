/* words.h - generators that make one number of one word, each after the other: MT19937, MTGP32 and the Sobol sequences.
 */
#ifndef MG_CURAND_WORDS_H
#define MG_CURAND_WORDS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { /* curandRngType_t */
       CURAND_MTGP32 = 141,
       CURAND_MT19937 = 142,
       CURAND_QUASI_DEFAULT = 200,
       CURAND_SOBOL32 = 201,
       CURAND_SCRAMBLED_SOBOL32 = 202,
       CURAND_SOBOL64 = 203,
       CURAND_SCRAMBLED_SOBOL64 = 204
};
enum { SOBOL_DIMENSIONS = 20000 };

struct mg_words {
    struct mg_twister *twister; /* MT19937: twister.c */
    struct mg_mtgp *mtgp;       /* MTGP32: mtgp.c */
    struct mg_sobol *sobol;     /* sobol.c */
};

/* The next `n` words. */
bool mg__twister_make(struct mg_words *words, uint64_t seed);
void mg__twister_take(struct mg_words *words, uint64_t *out, size_t n);
void mg__twister_free(struct mg_words *words);
bool mg__mtgp_make(struct mg_words *words, uint64_t seed, bool legacy);
void mg__mtgp_take(struct mg_words *words, uint64_t *out, size_t n);
void mg__mtgp_free(struct mg_words *words);

/* A call is for so many points: first all their first coordinates, then all the second. `take` gives `count` of these
 * numbers, from `first` on; `over` steps over the points. */
bool mg__sobol_make(struct mg_words *words, int type, uint64_t offset);
void mg__sobol_take(struct mg_words *words, uint64_t *out, size_t first, size_t count, size_t points);
void mg__sobol_over(struct mg_words *words, size_t points);
void mg__sobol_free(struct mg_words *words);
/* The 32 or 64 direction vectors of a dimension, the highest bits of 64. */
void mg__sobol_vectors(unsigned dimension, unsigned bits, uint64_t vectors[64]);
/* Those of all dimensions, and what the points of scrambled sequences begin with. NULL: no memory. */
struct mg_vectors {
    uint64_t wide[SOBOL_DIMENSIONS][64];
    uint32_t narrow[SOBOL_DIMENSIONS][32];
    uint64_t constants[SOBOL_DIMENSIONS];
    uint32_t narrow_constants[SOBOL_DIMENSIONS];
};
const struct mg_vectors *mg__vectors(bool scrambled);

double mg__normal_quantile(double p);      /* in (0, 1) */
float mg__normal_quantile_float(double p); /* good to a float's last place */
#endif
