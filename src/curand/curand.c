/* curand.c - the drop-in cuRAND's host API: generators, what they are told, and where the numbers go.
 *
 * Numbers depend on no memory of the device, so they are made when they are asked for, and put where they belong when
 * the stream comes to it. What generator.c does not have is refused, and the user is told: wrong numbers would be
 * worse.
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
enum { PSEUDO_DEFAULT = 100, SEEDED = 102, DYNAMIC = 104 };
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
static int create(struct curand **made, int type, bool host, const char *name)
{
    if (!made)
        return OUT_OF_RANGE;
    type = type == PSEUDO_DEFAULT ? CURAND_XORWOW : type;
    if (type != CURAND_XORWOW && type != CURAND_MRG32K3A && type != CURAND_PHILOX) {
        mg__hosted_missing(name, "CURAND_STATUS_TYPE_ERROR");
        return TYPE_ERROR;
    }
    if (!host && !mg__hosted_ready("cuRAND"))
        return INITIALIZATION_FAILED;
    struct curand *c = calloc(1, sizeof(*c));
    if (!c)
        return ALLOCATION_FAILED;
    c->magic = MAGIC;
    c->host = host;
    c->generator.type = type;
    c->generator.ordering = CURAND_DEFAULT;
    *made = c;
    return SUCCESS;
}

PUBLIC int curandCreateGenerator(struct curand **generator, int type)
{
    return create(generator, type, false, "curandCreateGenerator of MTGP32, MT19937 or a Sobol sequence");
}

PUBLIC int curandCreateGeneratorHost(struct curand **generator, int type)
{
    return create(generator, type, true, "curandCreateGeneratorHost of MTGP32, MT19937 or a Sobol sequence");
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
    if (!live(c))
        return NOT_INITIALIZED;
    c->generator.seed = seed;
    c->generator.ready = false;
    return SUCCESS;
}

PUBLIC int curandSetGeneratorOffset(struct curand *c, unsigned long long offset)
{
    if (!live(c))
        return NOT_INITIALIZED;
    c->generator.offset = offset;
    c->generator.ready = false;
    return SUCCESS;
}

PUBLIC int curandSetGeneratorOrdering(struct curand *c, int ordering)
{
    if (!live(c))
        return NOT_INITIALIZED;
    if (ordering == DYNAMIC || (ordering == SEEDED && c->generator.type == CURAND_XORWOW)) {
        mg__hosted_missing("curandSetGeneratorOrdering, seeded or dynamic", "CURAND_STATUS_OUT_OF_RANGE");
        return OUT_OF_RANGE;
    }
    if (ordering < CURAND_BEST || ordering > DYNAMIC || ordering == SEEDED)
        return OUT_OF_RANGE;
    c->generator.ordering = ordering == CURAND_LEGACY ? CURAND_LEGACY : CURAND_DEFAULT;
    c->generator.ready = false;
    return SUCCESS;
}

PUBLIC int curandSetQuasiRandomGeneratorDimensions(const struct curand *c, unsigned dimensions)
{
    (void)dimensions;
    return live(c) ? TYPE_ERROR : NOT_INITIALIZED; /* there is no such generator to have them */
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

enum what { BITS, UNIFORM, UNIFORM_DOUBLE, NORMAL, NORMAL_DOUBLE, LOG_NORMAL, LOG_NORMAL_DOUBLE };

static void make(struct mg_generator *g, enum what what, void *out, size_t n, double mean, double deviation)
{
    switch (what) {
    case BITS:
        mg__generator_bits(g, out, n);
        break;
    case UNIFORM:
        mg__generator_uniform(g, out, n);
        break;
    case UNIFORM_DOUBLE:
        mg__generator_uniform_double(g, out, n);
        break;
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
}

static int generate(struct curand *c, const char *routine, enum what what, void *to, size_t n, double mean,
                    double deviation)
{
    bool wide = what == UNIFORM_DOUBLE || what == NORMAL_DOUBLE || what == LOG_NORMAL_DOUBLE;
    size_t size;
    if (!live(c))
        return NOT_INITIALIZED;
    if (what >= NORMAL && n % 2)
        return LENGTH_NOT_MULTIPLE;
    if (!n)
        return SUCCESS;
    if (__builtin_mul_overflow(n, wide ? sizeof(double) : sizeof(float), &size))
        return ALLOCATION_FAILED;
    if (!mg__generator_ready(&c->generator))
        return ALLOCATION_FAILED;
    if (c->host) {
        make(&c->generator, what, to, n, mean, deviation);
        return SUCCESS;
    }
    struct numbers numbers = {malloc(size), to, size};
    if (!numbers.made)
        return ALLOCATION_FAILED;
    make(&c->generator, what, numbers.made, n, mean, deviation);
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

PUBLIC int curandGenerateLongLong(const struct curand *c, unsigned long long *to, size_t n)
{
    (void)to, (void)n;
    return live(c) ? TYPE_ERROR : NOT_INITIALIZED; /* that is for the 64-bit Sobol sequences */
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

/* ---- what is not there ---- */
#define API(name)
#define API_LATER(name) HOSTED_LATER(name, "CURAND_STATUS_TYPE_ERROR", TYPE_ERROR)
#include "curand/api.def"
