/* scramble.c - the direction vectors of all dimensions as tables, plain and scrambled, and the constants of scrambling.
 *
 * A scrambled sequence is a linear scrambling (J. Matousek, "On the L2-discrepancy for anchored boxes", 1998): each
 * direction vector times a lower triangular matrix over GF(2) with ones on its diagonal, and a constant added to all
 * points. What cuRAND's matrices and constants are is in no paper. They are, as was found by solving for the state of
 * a generator from the low bits of its tables: numbers of its own XORWOW from one state on, 64 words of 64 bits for
 * each dimension, which are the rows of its matrix, highest bit first; and when all 20,000 dimensions have theirs, a
 * constant of 64 bits for each. The last of its 4,096 streams was not where it belongs when the tables were made.
 */
#include "curand/generator.h"

#include <pthread.h>
#include <stdlib.h>

static const struct mg_xorwow begin = {{0xcb27a3a7, 0x6d6a3988, 0x59ebe38c, 0xbd9e650c, 0xd1a9f43f}, 0x2abc4dd5};
static const struct mg_xorwow last = {{0x455f2458, 0xf8a42704, 0xdcd8f87c, 0x511db0d6, 0x92bd2e1c}, 0x2ac1d59a};
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static bool scrambled(struct mg_vectors *t)
{
    struct mg_generator g = {.type = CURAND_XORWOW};
    uint64_t row[64], plain[64];
    if (!mg__generator_from(&g, &begin))
        return false;
    g.xorwow[g.streams - 1] = last;
    for (unsigned d = 0; d < SOBOL_DIMENSIONS; d++) {
        mg__generator_bits(&g, (uint32_t *)row, 128); /* the low half first */
        mg__sobol_vectors(d, 64, plain);
        for (unsigned i = 0; i < 64; i++)
            row[i] = (i ? row[i] & ~0ull << (64 - i) : 0) | 1ull << (63 - i);
        for (unsigned j = 0; j < 64; j++) {
            t->wide[d][j] = 0;
            for (unsigned i = 0; i < 64; i++)
                t->wide[d][j] |= (uint64_t)__builtin_parityll(row[i] & plain[j]) << (63 - i);
        }
    }
    mg__generator_bits(&g, (uint32_t *)t->constants, (size_t)2 * SOBOL_DIMENSIONS);
    mg__generator_free(&g);
    return true;
}

static struct mg_vectors *make(bool scramble)
{
    struct mg_vectors *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    for (unsigned d = 0; !scramble && d < SOBOL_DIMENSIONS; d++)
        mg__sobol_vectors(d, 64, t->wide[d]);
    if (scramble && !scrambled(t)) {
        free(t);
        return NULL;
    }
    for (unsigned d = 0; d < SOBOL_DIMENSIONS; d++) {
        t->narrow_constants[d] = (uint32_t)(t->constants[d] >> 32);
        for (unsigned i = 0; i < 32; i++)
            t->narrow[d][i] = (uint32_t)(t->wide[d][i] >> 32);
    }
    return t;
}

const struct mg_vectors *mg__vectors(bool scramble)
{
    static struct mg_vectors *made[2]; /* NVIDIA's are there as long as the library */
    pthread_mutex_lock(&making);
    if (!made[scramble])
        made[scramble] = make(scramble);
    const struct mg_vectors *t = made[scramble];
    pthread_mutex_unlock(&making);
    return t;
}
