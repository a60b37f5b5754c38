/* curand.c - the drop-in cuRAND's host API: generators, what they are told, and where the numbers go.
 *
 * Numbers depend on no memory of the device, so they are made when they are asked for, and put where they belong when
 * the stream comes to it. What is refused with which status is as NVIDIA's library refuses it for host generators
 * (tests/libs/test_random.py). What cannot be had right is refused by name: wrong numbers would be worse.
 */
#include "curand/generator.h"
#include "hosted/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { /* curandStatus_t */
       SUCCESS = 0,
       NOT_INITIALIZED = 101,
       ALLOCATION_FAILED = 102,
       TYPE_ERROR = 103,
       OUT_OF_RANGE = 104,
       LENGTH_NOT_MULTIPLE = 105,
       LAUNCH_FAILURE = 201,
       PREEXISTING_FAILURE = 202,
       INITIALIZATION_FAILED = 203
};
enum { PSEUDO_DEFAULT = 100 };
#define MAGIC 0x6d61726779726e64ull

struct curand {
    uint64_t magic;
    bool host; /* results go to memory of the host */
    void *stream;
    struct mg_generator generator;
};

static bool live(const struct curand *c)
{
    return c && c->magic == MAGIC;
}

/* ---- generators ---- */
static int create(struct curand **made, int type, bool host)
{
    if (!made)
        return OUT_OF_RANGE;
    type = type == PSEUDO_DEFAULT ? CURAND_XORWOW : type == CURAND_QUASI_DEFAULT ? CURAND_SOBOL32 : type;
    if (type != CURAND_XORWOW && type != CURAND_MRG32K3A && type != CURAND_PHILOX && type != CURAND_MTGP32 &&
        type != CURAND_MT19937 && (type < CURAND_SOBOL32 || type > CURAND_SCRAMBLED_SOBOL64))
        return TYPE_ERROR;
    if (!host && !mg__hosted_ready("cuRAND"))
        return INITIALIZATION_FAILED;
    struct curand *c = calloc(1, sizeof(*c));
    if (!c)
        return ALLOCATION_FAILED;
    c->magic = MAGIC;
    c->host = host;
    c->generator.type = type;
    c->generator.ordering = CURAND_DEFAULT;
    c->generator.dimensions = 1;
    *made = c;
    return SUCCESS;
}

PUBLIC int curandCreateGenerator(struct curand **generator, int type)
{
    return create(generator, type, false);
}

PUBLIC int curandCreateGeneratorHost(struct curand **generator, int type)
{
    return create(generator, type, true);
}

PUBLIC int curandDestroyGenerator(struct curand *c)
{
    if (!live(c))
        return NOT_INITIALIZED;
    mg__generator_free(&c->generator);
    c->magic = 0;
    free(c);
    return SUCCESS;
}

PUBLIC int curandSetStream(struct curand *c, void *stream)
{
    if (!live(c))
        return NOT_INITIALIZED;
    c->stream = stream;
    return SUCCESS;
}

PUBLIC int curandSetPseudoRandomGeneratorSeed(struct curand *c, unsigned long long seed)
{
    if (!live(c) || mg__generator_quasi(&c->generator))
        return live(c) ? TYPE_ERROR : NOT_INITIALIZED;
    c->generator.seed = seed;
    c->generator.ready = false;
    return SUCCESS;
}

PUBLIC int curandSetGeneratorOffset(struct curand *c, unsigned long long offset)
{
    if (!live(c))
        return NOT_INITIALIZED;
    if (c->generator.type == CURAND_MTGP32 || c->generator.type == CURAND_MT19937)
        return TYPE_ERROR; /* nobody can step over numbers of these */
    c->generator.offset = offset;
    c->generator.ready = false;
    return SUCCESS;
}

PUBLIC int curandSetGeneratorOrdering(struct curand *c, int ordering)
{
    if (!live(c))
        return NOT_INITIALIZED;
    struct mg_generator *g = &c->generator;
    bool known = mg__generator_quasi(g)       ? ordering == CURAND_QUASI_ORDERING
                 : ordering == CURAND_SEEDED  ? g->type == CURAND_XORWOW
                 : ordering == CURAND_BEST    ? g->type != CURAND_MT19937
                 : ordering == CURAND_DYNAMIC ? !c->host
                                              : ordering == CURAND_DEFAULT || ordering == CURAND_LEGACY;
    if (ordering == CURAND_DYNAMIC && known) /* its sequences are those of the GPU that it runs on */
        mg__hosted_missing("curandSetGeneratorOrdering, dynamic", "CURAND_STATUS_OUT_OF_RANGE");
    if (!known || ordering == CURAND_DYNAMIC)
        return OUT_OF_RANGE;
    g->ordering = ordering == CURAND_BEST ? CURAND_DEFAULT : ordering;
    g->ready = false;
    return SUCCESS;
}

PUBLIC int curandSetQuasiRandomGeneratorDimensions(struct curand *c, unsigned dimensions)
{
    if (!live(c) || !mg__generator_quasi(&c->generator))
        return live(c) ? TYPE_ERROR : NOT_INITIALIZED;
    if (!dimensions || dimensions > SOBOL_DIMENSIONS)
        return OUT_OF_RANGE;
    c->generator.dimensions = dimensions; /* of the points that are still to come */
    return SUCCESS;
}

PUBLIC int curandGenerateSeeds(struct curand *c)
{
    if (!live(c))
        return NOT_INITIALIZED;
    return mg__generator_ready(&c->generator) ? SUCCESS : ALLOCATION_FAILED;
}

PUBLIC int curandGetVersion(int *version)
{
    if (!version)
        return OUT_OF_RANGE;
    *version = 10400;
    return SUCCESS;
}

PUBLIC int curandGetProperty(int type, int *value)
{
    static const int numbers[] = {10, 4, 0};
    if ((unsigned)type > 2 || !value)
        return OUT_OF_RANGE;
    *value = numbers[type];
    return SUCCESS;
}

/* ---- numbers ---- */
struct numbers {
    void *made, *to;
    size_t size;
};

static void put(void *arg, struct margay_hosted_reach *reach)
{
    const struct numbers *n = arg;
    if (reach->touch(reach, "outputPtr", n->to, n->size, 1, 0, MARGAY_HOSTED_WRITES))
        memcpy(n->to, n->made, n->size);
    free(n->made);
}

enum what { BITS, LONG_BITS, UNIFORM, UNIFORM_DOUBLE, POISSON, NORMAL, NORMAL_DOUBLE, LOG_NORMAL, LOG_NORMAL_DOUBLE };

static bool make(struct mg_generator *g, enum what what, void *out, size_t n, double mean, double deviation)
{
    switch (what) {
    case BITS:
        mg__generator_bits(g, out, n);
        break;
    case LONG_BITS:
        mg__generator_long_bits(g, out, n);
        break;
    case UNIFORM:
        mg__generator_uniform(g, out, n);
        break;
    case UNIFORM_DOUBLE:
        mg__generator_uniform_double(g, out, n);
        break;
    case POISSON:
        return mg__generator_poisson(g, out, n, mean);
    case NORMAL:
    case LOG_NORMAL:
        mg__generator_normal(g, out, n, (float)mean, (float)deviation);
        break;
    case NORMAL_DOUBLE:
    case LOG_NORMAL_DOUBLE:
        mg__generator_normal_double(g, out, n, mean, deviation);
        break;
    }
    for (size_t i = 0; what == LOG_NORMAL && i < n; i++)
        ((float *)out)[i] = (float)exp((double)((float *)out)[i]);
    for (size_t i = 0; what == LOG_NORMAL_DOUBLE && i < n; i++)
        ((double *)out)[i] = exp(((double *)out)[i]);
    return true;
}

static int generate(struct curand *c, const char *routine, enum what what, void *to, size_t n, double mean,
                    double deviation)
{
    bool wide = what == LONG_BITS || what == UNIFORM_DOUBLE || what == NORMAL_DOUBLE || what == LOG_NORMAL_DOUBLE;
    size_t size;
    if (!live(c))
        return NOT_INITIALIZED;
    struct mg_generator *g = &c->generator;
    bool sobol64 = g->type == CURAND_SOBOL64 || g->type == CURAND_SCRAMBLED_SOBOL64;
    if (what == BITS ? sobol64 : what == LONG_BITS && !sobol64)
        return TYPE_ERROR;
    if (mg__generator_quasi(g) && n % g->dimensions)
        return LENGTH_NOT_MULTIPLE;
    if (what >= NORMAL && n % 2 && (g->type == CURAND_XORWOW || g->type == CURAND_MRG32K3A))
        return LENGTH_NOT_MULTIPLE;
    if (!n)
        return SUCCESS;
    if (__builtin_mul_overflow(n, wide ? sizeof(double) : sizeof(float), &size))
        return ALLOCATION_FAILED;
    if (!mg__generator_ready(&c->generator))
        return ALLOCATION_FAILED;
    if (c->host)
        return make(&c->generator, what, to, n, mean, deviation) ? SUCCESS : ALLOCATION_FAILED;
    struct numbers numbers = {malloc(size), to, size};
    if (!numbers.made)
        return ALLOCATION_FAILED;
    if (!make(&c->generator, what, numbers.made, n, mean, deviation)) {
        free(numbers.made);
        return ALLOCATION_FAILED;
    }
    struct margay_hosted call = {.library = "cuRAND",
                                 .routine = routine,
                                 .stream = c->stream,
                                 .compute = put,
                                 .arg = &numbers,
                                 .size = sizeof(numbers)};
    int error = mg__hosted_run(&call);
    if (error)
        free(numbers.made);
    return error ? PREEXISTING_FAILURE : SUCCESS;
}

PUBLIC int curandGenerate(struct curand *c, uint32_t *to, size_t n)
{
    return generate(c, "curandGenerate", BITS, to, n, 0, 0);
}

PUBLIC int curandGenerateLongLong(struct curand *c, unsigned long long *to, size_t n)
{
    return generate(c, "curandGenerateLongLong", LONG_BITS, to, n, 0, 0);
}

PUBLIC int curandGenerateUniform(struct curand *c, float *to, size_t n)
{
    return generate(c, "curandGenerateUniform", UNIFORM, to, n, 0, 0);
}

PUBLIC int curandGenerateUniformDouble(struct curand *c, double *to, size_t n)
{
    return generate(c, "curandGenerateUniformDouble", UNIFORM_DOUBLE, to, n, 0, 0);
}

PUBLIC int curandGenerateNormal(struct curand *c, float *to, size_t n, float mean, float deviation)
{
    return generate(c, "curandGenerateNormal", NORMAL, to, n, (double)mean, (double)deviation);
}

PUBLIC int curandGenerateNormalDouble(struct curand *c, double *to, size_t n, double mean, double deviation)
{
    return generate(c, "curandGenerateNormalDouble", NORMAL_DOUBLE, to, n, mean, deviation);
}

PUBLIC int curandGenerateLogNormal(struct curand *c, float *to, size_t n, float mean, float deviation)
{
    return generate(c, "curandGenerateLogNormal", LOG_NORMAL, to, n, (double)mean, (double)deviation);
}

PUBLIC int curandGenerateLogNormalDouble(struct curand *c, double *to, size_t n, double mean, double deviation)
{
    return generate(c, "curandGenerateLogNormalDouble", LOG_NORMAL_DOUBLE, to, n, mean, deviation);
}

PUBLIC int curandGeneratePoisson(struct curand *c, uint32_t *to, size_t n, double mean)
{
    if (live(c) && (mean <= 0 || mean > 400000)) /* as the manual limits it */
        return OUT_OF_RANGE;
    if (live(c) && !mg__poisson_has(&c->generator, mean)) {
        mg__hosted_missing("curandGeneratePoisson with this generator and mean", "CURAND_STATUS_TYPE_ERROR");
        return TYPE_ERROR;
    }
    return generate(c, "curandGeneratePoisson", POISSON, to, n, mean, 0);
}

/* ---- tables ---- */
enum { VECTORS32 = 101, SCRAMBLED32 = 102, VECTORS64 = 103, SCRAMBLED64 = 104 }; /* curandDirectionVectorSet_t */

PUBLIC int curandGetDirectionVectors32(const uint32_t (**vectors)[32], int set)
{
    if (!vectors || (set != VECTORS32 && set != SCRAMBLED32))
        return OUT_OF_RANGE;
    const struct mg_vectors *t = mg__vectors(set == SCRAMBLED32);
    if (t)
        *vectors = t->narrow;
    return t ? SUCCESS : INITIALIZATION_FAILED;
}

PUBLIC int curandGetDirectionVectors64(const uint64_t (**vectors)[64], int set)
{
    if (!vectors || (set != VECTORS64 && set != SCRAMBLED64))
        return OUT_OF_RANGE;
    const struct mg_vectors *t = mg__vectors(set == SCRAMBLED64);
    if (t)
        *vectors = t->wide;
    return t ? SUCCESS : INITIALIZATION_FAILED;
}

PUBLIC int curandGetScrambleConstants32(const uint32_t **constants)
{
    const struct mg_vectors *t = constants ? mg__vectors(true) : NULL;
    if (t)
        *constants = t->narrow_constants;
    return t ? SUCCESS : constants ? INITIALIZATION_FAILED : OUT_OF_RANGE;
}

PUBLIC int curandGetScrambleConstants64(const uint64_t **constants)
{
    const struct mg_vectors *t = constants ? mg__vectors(true) : NULL;
    if (t)
        *constants = t->constants;
    return t ? SUCCESS : constants ? INITIALIZATION_FAILED : OUT_OF_RANGE;
}

/* ---- what is not there ---- */
#define API(name)
#define API_LATER(name) HOSTED_LATER(name, "CURAND_STATUS_TYPE_ERROR", TYPE_ERROR)
#include "curand/api.def"
