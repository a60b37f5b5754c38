/* cufft.c - the drop-in cuFFT: plans, and what they compute, by FFTW.
 *
 * A plan is what was asked of it: sizes, strides, batch, type. FFTW's own plan is made when it runs, because it depends
 * on whether it works in place; estimating one takes microseconds and touches no data. Nothing is normalised, in either
 * direction, as in cuFFT; work areas are taken and not used.
 *
 * Compiled once a version of the library, with MARGAY_CUFFT 11 or 12. What is in api.def and not here says that it is
 * not there: callbacks, several devices. Transforms of halves and bfloat16 are computed in f32, over copies, and
 * rounded once.
 */
#include "hosted/names.h"

#include <fftw3.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { /* cufftResult */
       SUCCESS = 0,
       INVALID_PLAN = 1,
       ALLOC_FAILED = 2,
       INVALID_TYPE = 3,
       INVALID_VALUE = 4,
       EXEC_FAILED = 6,
       SETUP_FAILED = 7,
       INVALID_SIZE = 8,
       NOT_SUPPORTED = 16
};
enum { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, D2Z = 0x6a, Z2D = 0x6c, Z2Z = 0x69 }; /* cufftType */
enum { MOST_DIMENSIONS = 3, MOST_PLANS = 1024, FORWARD = -1, INVERSE = 1 };

struct side {    /* how the data of one end lie, in elements */
    bool simple; /* one after the other; the rest does not count */
    int64_t embed[MOST_DIMENSIONS], stride, distance;
};
struct plan {
    bool made;
    int type, rank;
    int number; /* what its data are made of: MG_R_16F or MG_R_16BF; else by the type */
    int64_t n[MOST_DIMENSIONS], batch;
    struct side in, out;
    void *stream;
};
static struct plan *plans[MOST_PLANS]; /* by handle; a handle is a number in this API, and they are the process's */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER; /* FFTW makes one plan at a time */

static struct plan *find(int handle)
{
    pthread_mutex_lock(&lock);
    struct plan *plan = handle > 0 && handle < MOST_PLANS ? plans[handle] : NULL;
    pthread_mutex_unlock(&lock);
    return plan;
}

PUBLIC int cufftCreate(int *handle)
{
    if (!handle)
        return INVALID_VALUE;
    if (!mg__hosted_ready("cuFFT"))
        return SETUP_FAILED;
    struct plan *plan = calloc(1, sizeof(*plan));
    int free_one = 1;
    pthread_mutex_lock(&lock);
    while (free_one < MOST_PLANS && plans[free_one])
        free_one++;
    if (plan && free_one < MOST_PLANS)
        plans[ *handle = free_one] = plan;
    pthread_mutex_unlock(&lock);
    if (plan && free_one < MOST_PLANS)
        return SUCCESS;
    free(plan);
    return ALLOC_FAILED;
}

PUBLIC int cufftDestroy(int handle)
{
    struct plan *plan = find(handle);
    if (!plan)
        return INVALID_PLAN;
    pthread_mutex_lock(&lock);
    plans[handle] = NULL;
    pthread_mutex_unlock(&lock);
    free(plan);
    return SUCCESS;
}

/* ---- plans ---- */
static bool is_double(int type)
{
    return (type & 0x40) != 0;
}

static size_t unit(const struct plan *plan) /* bytes of a real number */
{
    return plan->number ? mg__number_size(plan->number) : is_double(plan->type) ? 8 : 4;
}

static bool type_ok(int type)
{
    return type == R2C || type == C2R || type == C2C || type == D2Z || type == Z2D || type == Z2Z;
}

static bool reads_real(int type)
{
    return type == R2C || type == D2Z;
}

static bool writes_real(int type)
{
    return type == C2R || type == Z2D;
}

static int describe(struct plan *plan, int rank, const int64_t *n, const int64_t *inembed, int64_t istride,
                    int64_t idist, const int64_t *onembed, int64_t ostride, int64_t odist, int type, int64_t batch)
{
    int64_t all = 1;
    if (rank < 1 || rank > MOST_DIMENSIONS || !n)
        return INVALID_VALUE;
    if (!type_ok(type))
        return INVALID_TYPE;
    if (batch < 1)
        return INVALID_SIZE;
    *plan = (struct plan){.made = true, .type = type, .rank = rank, .batch = batch, .stream = plan->stream};
    for (int i = 0; i < rank; i++) {
        if (n[i] < 1 || n[i] > INT_MAX || __builtin_mul_overflow(all, n[i], &all))
            return INVALID_SIZE;
        plan->n[i] = n[i];
    }
    plan->in = (struct side){.simple = !inembed || !onembed, .stride = istride, .distance = idist};
    plan->out = (struct side){.simple = !inembed || !onembed, .stride = ostride, .distance = odist};
    for (int i = 0; i < rank && !plan->in.simple; i++) {
        plan->in.embed[i] = inembed[i];
        plan->out.embed[i] = onembed[i];
        if ((i && (inembed[i] < 1 || onembed[i] < 1)) || istride < 1 || ostride < 1)
            return INVALID_VALUE;
    }
    return SUCCESS;
}

/* What a GPU would want of this order. */
static size_t work_size(const struct plan *plan)
{
    size_t all = 2 * unit(plan);
    for (int i = 0; i < plan->rank; i++)
        all *= (size_t)plan->n[i];
    return all * (size_t)plan->batch;
}

static int make(int handle, int rank, const int64_t *n, const int64_t *inembed, int64_t istride, int64_t idist,
                const int64_t *onembed, int64_t ostride, int64_t odist, int type, int64_t batch, size_t *size,
                bool keep)
{
    struct plan *plan = find(handle), made = {0};
    if (!plan)
        return INVALID_PLAN;
    if (keep && plan->made)
        return INVALID_PLAN; /* a handle is planned once */
    made.stream = plan->stream;
    int status = describe(&made, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch);
    if (status == SUCCESS && size)
        *size = work_size(&made);
    if (status == SUCCESS && keep)
        *plan = made;
    return status;
}

static const int64_t *wide(const int *from, int rank, int64_t to[MOST_DIMENSIONS])
{
    for (int i = 0; from && i < rank && i < MOST_DIMENSIONS; i++)
        to[i] = from[i];
    return from ? to : NULL;
}

static int make_int(int handle, int rank, const int *n, const int *inembed, int istride, int idist, const int *onembed,
                    int ostride, int odist, int type, int batch, size_t *size, bool keep)
{
    int64_t a[MOST_DIMENSIONS], b[MOST_DIMENSIONS], c[MOST_DIMENSIONS];
    return make(handle, rank, wide(n, rank, a), wide(inembed, rank, b), istride, idist, wide(onembed, rank, c), ostride,
                odist, type, batch, size, keep);
}

/* A handle of its own for questions without one. */
static int estimate(int rank, const int *n, const int *inembed, int istride, int idist, const int *onembed, int ostride,
                    int odist, int type, int batch, size_t *size)
{
    int64_t a[MOST_DIMENSIONS], b[MOST_DIMENSIONS], c[MOST_DIMENSIONS];
    struct plan plan = {0};
    int status = describe(&plan, rank, wide(n, rank, a), wide(inembed, rank, b), istride, idist, wide(onembed, rank, c),
                          ostride, odist, type, batch);
    if (status == SUCCESS && size)
        *size = work_size(&plan);
    return status;
}

static int planned(int *handle, int rank, const int *n, const int *inembed, int istride, int idist, const int *onembed,
                   int ostride, int odist, int type, int batch)
{
    int status = cufftCreate(handle);
    if (status)
        return status;
    status = make_int(*handle, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, NULL, true);
    if (status)
        cufftDestroy(*handle);
    return status;
}

/* The three dimensions, each to be planned, made, sized and estimated. */
#define DIMENSIONS(D, rank, DECLARE, VALUES, type, batch)                                                     \
    PUBLIC int cufftPlan##D(int *handle, DECLARE)                                                             \
    {                                                                                                         \
        return planned(handle, rank, (const int[])VALUES, NULL, 1, 0, NULL, 1, 0, type, batch);               \
    }                                                                                                         \
    PUBLIC int cufftMakePlan##D(int handle, DECLARE, size_t *size)                                            \
    {                                                                                                         \
        return make_int(handle, rank, (const int[])VALUES, NULL, 1, 0, NULL, 1, 0, type, batch, size, true);  \
    }                                                                                                         \
    PUBLIC int cufftGetSize##D(int handle, DECLARE, size_t *size)                                             \
    {                                                                                                         \
        return make_int(handle, rank, (const int[])VALUES, NULL, 1, 0, NULL, 1, 0, type, batch, size, false); \
    }                                                                                                         \
    PUBLIC int cufftEstimate##D(DECLARE, size_t *size)                                                        \
    {                                                                                                         \
        return estimate(rank, (const int[])VALUES, NULL, 1, 0, NULL, 1, 0, type, batch, size);                \
    }
#define LIST(...) __VA_ARGS__
#define BRACED(...) \
    {               \
        __VA_ARGS__ \
    }
DIMENSIONS(1d, 1, LIST(int nx, int type, int batch), BRACED(nx), type, batch)
DIMENSIONS(2d, 2, LIST(int nx, int ny, int type), BRACED(nx, ny), type, 1)
DIMENSIONS(3d, 3, LIST(int nx, int ny, int nz, int type), BRACED(nx, ny, nz), type, 1)

#define MANY(INT)                                                                                                   \
    int rank, const INT *n, const INT *inembed, INT istride, INT idist, const INT *onembed, INT ostride, INT odist, \
        int type, INT batch
#define GIVEN rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch
PUBLIC int cufftPlanMany(int *handle, MANY(int))
{
    return planned(handle, GIVEN);
}

PUBLIC int cufftMakePlanMany(int handle, MANY(int), size_t *size)
{
    return make_int(handle, GIVEN, size, true);
}

PUBLIC int cufftGetSizeMany(int handle, MANY(int), size_t *size)
{
    return make_int(handle, GIVEN, size, false);
}

PUBLIC int cufftEstimateMany(MANY(int), size_t *size)
{
    return estimate(GIVEN, size);
}

PUBLIC int cufftMakePlanMany64(int handle, MANY(int64_t), size_t *size)
{
    return make(handle, GIVEN, size, true);
}

PUBLIC int cufftGetSizeMany64(int handle, MANY(int64_t), size_t *size)
{
    return make(handle, GIVEN, size, false);
}

/* Types of both ends as cudaDataType; 0: there is no such transform here. */
static int type_of(int in, int out, int execution)
{
    static const struct {
        int in, out, execution, type;
    } rows[] = {{MG_C_32F, MG_C_32F, MG_C_32F, C2C},    {MG_R_32F, MG_C_32F, MG_C_32F, R2C},
                {MG_C_32F, MG_R_32F, MG_C_32F, C2R},    {MG_C_64F, MG_C_64F, MG_C_64F, Z2Z},
                {MG_R_64F, MG_C_64F, MG_C_64F, D2Z},    {MG_C_64F, MG_R_64F, MG_C_64F, Z2D},
                {MG_C_16F, MG_C_16F, MG_C_16F, C2C},    {MG_R_16F, MG_C_16F, MG_C_16F, R2C},
                {MG_C_16F, MG_R_16F, MG_C_16F, C2R},    {MG_C_16BF, MG_C_16BF, MG_C_16BF, C2C},
                {MG_R_16BF, MG_C_16BF, MG_C_16BF, R2C}, {MG_C_16BF, MG_R_16BF, MG_C_16BF, C2R}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].in == in && rows[i].out == out && rows[i].execution == execution)
            return rows[i].type;
    return 0;
}

#define XT_MANY                                                                                 \
    int rank, const int64_t *n, const int64_t *inembed, int64_t istride, int64_t idist, int in, \
        const int64_t *onembed, int64_t ostride, int64_t odist, int out, int64_t batch, size_t *size, int execution
static int make_xt(int handle, XT_MANY, bool keep)
{
    const int type = type_of(in, out, execution);
    const int number = execution == MG_C_16F ? MG_R_16F : execution == MG_C_16BF ? MG_R_16BF : 0;
    struct plan *plan = find(handle);
    for (int i = 0; number && n && i < rank && i < MOST_DIMENSIONS; i++)
        if (n[i] < 1 || (n[i] & (n[i] - 1)))
            return NOT_SUPPORTED; /* as documented: sizes of small numbers are powers of two */
    int status = type ? make(handle, GIVEN, size, keep) : NOT_SUPPORTED;
    if (status == SUCCESS && number && size)
        *size = *size * mg__number_size(number) / sizeof(float);
    if (status == SUCCESS && keep)
        plan->number = number;
    return status;
}

PUBLIC int cufftXtMakePlanMany(int handle, XT_MANY)
{
    return make_xt(handle, rank, n, inembed, istride, idist, in, onembed, ostride, odist, out, batch, size, execution,
                   true);
}

PUBLIC int cufftXtGetSizeMany(int handle, XT_MANY)
{
    return make_xt(handle, rank, n, inembed, istride, idist, in, onembed, ostride, odist, out, batch, size, execution,
                   false);
}

/* ---- what a plan is told ---- */
PUBLIC int cufftGetSize(int handle, size_t *size)
{
    const struct plan *plan = find(handle);
    if (!plan || !plan->made)
        return INVALID_PLAN;
    if (!size)
        return INVALID_VALUE;
    *size = work_size(plan);
    return SUCCESS;
}

PUBLIC int cufftSetStream(int handle, void *stream)
{
    struct plan *plan = find(handle);
    if (!plan)
        return INVALID_PLAN;
    plan->stream = stream;
    return SUCCESS;
}

PUBLIC int cufftSetWorkArea(int handle, void *area)
{
    (void)area;
    return find(handle) ? SUCCESS : INVALID_PLAN;
}

PUBLIC int cufftSetAutoAllocation(int handle, int automatic)
{
    (void)automatic;
    return find(handle) ? SUCCESS : INVALID_PLAN;
}

PUBLIC int cufftGetVersion(int *version)
{
    if (!version)
        return INVALID_VALUE;
    *version = MARGAY_CUFFT == 11 ? 11401 : 12000;
    return SUCCESS;
}

PUBLIC int cufftGetProperty(int type, int *value)
{
    static const int numbers[] = {MARGAY_CUFFT, MARGAY_CUFFT == 11 ? 4 : 0, MARGAY_CUFFT == 11 ? 1 : 0};
    if ((unsigned)type > 2 || !value)
        return INVALID_VALUE;
    *value = numbers[type];
    return SUCCESS;
}

/* ---- transforms ---- */
struct run {
    struct plan plan;
    void *in, *out;
    int direction;
};

/* Where element 0 of each row lies, and the steps in elements. The last dimension of the complex side of a real
 * transform has n / 2 + 1 elements; in place the real side is as wide. */
static void steps_of(const struct run *r, bool input, int64_t step[MOST_DIMENSIONS], int64_t *distance)
{
    const struct plan *p = &r->plan;
    const struct side *s = input ? &p->in : &p->out;
    bool real = reads_real(p->type) || writes_real(p->type),
         this_real = input ? reads_real(p->type) : writes_real(p->type);
    int64_t all = s->simple ? 1 : s->stride;
    for (int i = p->rank - 1; i >= 0; i--) {
        int64_t width = s->simple ? p->n[i] : s->embed[i];
        if (s->simple && real && i == p->rank - 1)
            width = this_real ? (r->in == r->out ? 2 * (p->n[i] / 2 + 1) : p->n[i]) : p->n[i] / 2 + 1;
        step[i] = all;
        all *= width;
    }
    *distance = s->simple ? all : s->distance;
}

static bool touch(struct margay_hosted_reach *reach, const struct run *r, bool input)
{
    const struct plan *p = &r->plan;
    int64_t step[MOST_DIMENSIONS] = {0}, distance, last = p->rank - 1, rows = p->batch;
    bool real = input ? reads_real(p->type) : writes_real(p->type);
    bool half = !real && (reads_real(p->type) || writes_real(p->type));
    size_t size = unit(p) * (real ? 1u : 2u);
    int64_t width = half ? p->n[last] / 2 + 1 : p->n[last];
    steps_of(r, input, step, &distance);
    for (int i = 0; i < last; i++)
        rows *= p->n[i];
    for (int64_t row = 0; row < rows; row++) {
        int64_t place = 0, rest = row;
        for (int64_t i = last - 1; i >= 0; i--) {
            place += rest % p->n[i] * step[i];
            rest /= p->n[i];
        }
        place += rest * distance;
        const char *at = (const char *)(input ? r->in : r->out) + place * (int64_t)size;
        if (!reach->touch(reach, input ? "idata" : "odata", at, step[last] == 1 ? (size_t)width * size : size,
                          step[last] == 1 ? 1 : (size_t)width, (ptrdiff_t)(step[last] * (int64_t)size),
                          input ? MARGAY_HOSTED_READS : MARGAY_HOSTED_WRITES))
            return false;
    }
    return true;
}

/* One transform of the batch. FFTW may use its input up where cuFFT does not say that it would: C2R keeps it in one
 * dimension, and is given a copy in more. */
#define TRANSFORM(name, F, R)                                                                                       \
    static bool name(const struct run *r, const F##_iodim64 *dims, char *in, char *out)                             \
    {                                                                                                               \
        const struct plan *p = &r->plan;                                                                            \
        unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED | (in == out ? 0u : FFTW_PRESERVE_INPUT);                   \
        F##_plan plan;                                                                                              \
        pthread_mutex_lock(&planner);                                                                               \
        if (reads_real(p->type))                                                                                    \
            plan = F##_plan_guru64_dft_r2c(p->rank, dims, 0, NULL, (R *)in, (F##_complex *)out, flags);             \
        else if (writes_real(p->type))                                                                              \
            plan = F##_plan_guru64_dft_c2r(p->rank, dims, 0, NULL, (F##_complex *)in, (R *)out,                     \
                                           p->rank > 1 ? flags & ~FFTW_PRESERVE_INPUT : flags);                     \
        else                                                                                                        \
            plan = F##_plan_guru64_dft(p->rank, dims, 0, NULL, (F##_complex *)in, (F##_complex *)out, r->direction, \
                                       flags);                                                                      \
        pthread_mutex_unlock(&planner);                                                                             \
        if (plan)                                                                                                   \
            F##_execute(plan);                                                                                      \
        pthread_mutex_lock(&planner);                                                                               \
        if (plan)                                                                                                   \
            F##_destroy_plan(plan);                                                                                 \
        pthread_mutex_unlock(&planner);                                                                             \
        return plan != NULL;                                                                                        \
    }
TRANSFORM(in_double, fftw, double)
TRANSFORM(in_float, fftwf, float)

static bool one(const struct run *r, const int64_t istep[], const int64_t ostep[], char *in, char *out)
{
    const struct plan *p = &r->plan;
    fftw_iodim64 dims[MOST_DIMENSIONS];
    fftwf_iodim64 short_dims[MOST_DIMENSIONS];
    for (int i = 0; i < p->rank; i++) {
        dims[i] = (fftw_iodim64){p->n[i], istep[i], ostep[i]};
        short_dims[i] = (fftwf_iodim64){p->n[i], istep[i], ostep[i]};
    }
    size_t span = 1, size = is_double(p->type) ? 16 : 8;
    char *copy = NULL;
    if (writes_real(p->type) && p->rank > 1 && in != out) {
        for (int i = 0; i < p->rank; i++)
            span += (size_t)((i == p->rank - 1 ? p->n[i] / 2 : p->n[i] - 1) * istep[i]);
        copy = malloc(span * size);
        if (!copy)
            return false;
        memcpy(copy, in, span * size);
    }
    bool ok =
        is_double(p->type) ? in_double(r, dims, copy ? copy : in, out) : in_float(r, short_dims, copy ? copy : in, out);
    free(copy);
    return ok;
}

/* Reals from the first to the last that one transform has at that end. */
static size_t span_of(const struct run *r, bool input, const int64_t step[])
{
    const struct plan *p = &r->plan;
    const bool real = input ? reads_real(p->type) : writes_real(p->type);
    const bool half = !real && (reads_real(p->type) || writes_real(p->type));
    size_t span = 1;
    for (int i = 0; i < p->rank; i++)
        span += (size_t)((half && i == p->rank - 1 ? p->n[i] / 2 : p->n[i] - 1) * step[i]);
    return span * (real ? 1 : 2);
}

/* In f32, over copies. What lies between the results goes there and back as it is. */
static bool one_small(const struct run *r, const int64_t istep[], const int64_t ostep[], char *in, char *out)
{
    const int number = r->plan.number;
    const size_t nin = span_of(r, true, istep), nout = span_of(r, false, ostep);
    float *from = malloc(nin * sizeof(*from)), *to = malloc(nout * sizeof(*to));
    bool ok = from && to;
    if (ok) {
        mg__number_copy(MG_R_32F, from, number, in, nin, 1);
        mg__number_copy(MG_R_32F, to, number, out, nout, 1);
        ok = one(r, istep, ostep, (char *)from, (char *)to);
    }
    if (ok)
        mg__number_copy(number, out, MG_R_32F, to, nout, 1);
    free(from);
    free(to);
    return ok;
}

static void compute(void *arg, struct margay_hosted_reach *reach)
{
    const struct run *r = arg;
    const struct plan *p = &r->plan;
    int64_t istep[MOST_DIMENSIONS] = {0}, ostep[MOST_DIMENSIONS] = {0}, idist, odist;
    int64_t isize = (int64_t)unit(p) * (reads_real(p->type) ? 1 : 2);
    int64_t osize = (int64_t)unit(p) * (writes_real(p->type) ? 1 : 2);
    bool (*const do_one)(const struct run *, const int64_t[], const int64_t[], char *, char *) =
        p->number ? one_small : one;
    steps_of(r, true, istep, &idist);
    steps_of(r, false, ostep, &odist);
    if (!touch(reach, r, true) || !touch(reach, r, false))
        return;
    for (int64_t b = 0; b < p->batch; b++)
        if (!do_one(r, istep, ostep, (char *)r->in + b * idist * isize, (char *)r->out + b * odist * osize)) {
            reach->fail(reach);
            return;
        }
}

static int execute(int handle, const char *routine, int type, void *in, void *out, int direction)
{
    const struct plan *plan = find(handle);
    if (!plan || !plan->made)
        return INVALID_PLAN;
    if (type && (plan->type != type || plan->number))
        return INVALID_TYPE;
    if (!in || !out || (direction != FORWARD && direction != INVERSE))
        return INVALID_VALUE;
    struct run run = {*plan, in, out, direction};
    struct margay_hosted call = {.library = "cuFFT",
                                 .routine = routine,
                                 .stream = plan->stream,
                                 .compute = compute,
                                 .arg = &run,
                                 .size = sizeof(run)};
    return mg__hosted_run(&call) ? EXEC_FAILED : SUCCESS;
}

#define EXECUTE(T, type, ...)                                             \
    PUBLIC int cufftExec##T(int handle, void *in, void *out __VA_ARGS__)  \
    {                                                                     \
        return execute(handle, "cufftExec" #T, type, in, out, DIRECTION); \
    }
#define COMMA ,
#define DIRECTION direction
EXECUTE(C2C, C2C, COMMA int direction)
EXECUTE(Z2Z, Z2Z, COMMA int direction)
#undef DIRECTION
#define DIRECTION FORWARD
EXECUTE(R2C, R2C)
EXECUTE(D2Z, D2Z)
EXECUTE(C2R, C2R)
EXECUTE(Z2D, Z2D)

PUBLIC int cufftXtExec(int handle, void *in, void *out, int direction)
{
    return execute(handle, "cufftXtExec", 0, in, out, direction);
}

/* ---- what is not there ---- */
#define API(name)
#define API_LATER(name) HOSTED_LATER(name, "CUFFT_NOT_SUPPORTED", NOT_SUPPORTED)
#include "cufft/api.def"
