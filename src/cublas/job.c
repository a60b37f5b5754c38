/* job.c - one call of cuBLAS: refused as cuBLAS refuses it, or computed in the order of its stream. */
#include "cublas/cublas.h"

#include <limits.h>
#include <stdlib.h>

#define MAGIC 0x6d61726779626c61ull

struct mg_cublas *mg__cublas_make(void)
{
    struct mg_cublas *handle = calloc(1, sizeof(*handle));
    if (handle)
        handle->magic = MAGIC;
    return handle;
}

bool mg__cublas_live(const struct mg_cublas *handle)
{
    return handle && handle->magic == MAGIC;
}

int mg__cublas_status(int error)
{
    switch (error) {
    case 0:
        return CUBLAS_SUCCESS;
    case MG_HOSTED_NO_RUNTIME:
        return CUBLAS_NOT_INITIALIZED;
    case MG_HOSTED_NO_MEMORY:
        return CUBLAS_ALLOC_FAILED;
    default:
        return CUBLAS_EXECUTION_FAILED;
    }
}

int mg__cublas_letter(int type)
{
    return type == MG_R_32F ? 0 : type == MG_R_64F ? 1 : type == MG_C_32F ? 2 : 3;
}

bool mg__cublas_zero(const double scalar[2])
{
    return scalar[0] == 0 && scalar[1] == 0;
}

static int type_of(const struct mg_cublas_job *job, const struct mg_cublas_operand *x)
{
    return x->typed ? x->type : job->type;
}

static int beta_type(const struct mg_cublas_job *job)
{
    return job->beta_real ? (job->type == MG_C_32F ? MG_R_32F : MG_R_64F) : job->scalar;
}

/* ---- states ---- */
static const struct {
    int status;
    const char *name, *text;
} states[] = {
    {0, "CUBLAS_STATUS_SUCCESS", "success"},
    {1, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {3, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {7, "CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter was passed to the function"},
    {8, "CUBLAS_STATUS_ARCH_MISMATCH", "the function requires an architectural feature absent from the device"},
    {11, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
    {13, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {15, "CUBLAS_STATUS_NOT_SUPPORTED", "the requested functionality is not supported"},
    {16, "CUBLAS_STATUS_LICENSE_ERROR", "the functionality requested requires a license"},
};

const char *mg__cublas_state(int status, bool name)
{
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        if (states[i].status == status)
            return name ? states[i].name : states[i].text;
    return name ? "CUBLAS_STATUS_UNKNOWN" : "an unknown status";
}

/* ---- refused ---- */
static bool operand_ok(const struct mg_cublas_operand *x)
{
    switch (x->form) {
    case CUBLAS_MATRIX:
        return x->rows >= 0 && x->cols >= 0 && x->ld >= (x->rows > 1 ? x->rows : 1);
    case CUBLAS_VECTOR:
        return x->rows >= 0 && (x->ld || x->use & CUBLAS_STEP);
    default:
        return true;
    }
}

static bool job_ok(const struct mg_cublas_job *job)
{
    bool ok = job->m >= 0 && job->n >= 0 && job->k >= 0 && job->kl >= 0 && job->ku >= 0 && job->count >= 0 &&
              (unsigned)job->side <= 1 && (unsigned)job->uplo <= 1 && (unsigned)job->transa <= 2 &&
              (unsigned)job->transb <= 2 && (unsigned)job->diag <= 1;
    for (size_t i = 0; i < CUBLAS_OPERANDS; i++)
        ok = ok && operand_ok(&job->x[i]) && (job->x[i].form != CUBLAS_RESULT || job->x[i].at);
    return ok;
}

/* OpenBLAS counts in 32 bits. */
static bool fits(const struct mg_cublas_job *job)
{
    bool ok = job->m <= INT_MAX && job->n <= INT_MAX && job->k <= INT_MAX && job->kl <= INT_MAX && job->ku <= INT_MAX;
    for (size_t i = 0; i < CUBLAS_OPERANDS; i++)
        ok = ok && job->x[i].rows <= INT_MAX && job->x[i].ld <= INT_MAX && job->x[i].ld >= -INT_MAX;
    return ok;
}

static bool nothing_to_do(const struct mg_cublas_job *job)
{
    bool any = false, results = false;
    for (size_t i = 0; i < CUBLAS_OPERANDS; i++) {
        const struct mg_cublas_operand *x = &job->x[i];
        results |= x->form == CUBLAS_RESULT;
        if (x->form == CUBLAS_MATRIX || x->form == CUBLAS_VECTOR || x->form == CUBLAS_PACKED)
            any |= (x->use & CUBLAS_WRITE) && x->rows > 0 && (x->form != CUBLAS_MATRIX || x->cols > 0);
    }
    return !results && (!any || job->count == 0);
}

/* ---- computed ---- */
static bool touch_triangle(struct margay_hosted_reach *reach, const struct mg_cublas_job *job,
                           const struct mg_cublas_operand *x, const void *at, unsigned use)
{
    size_t size = mg__number_size(type_of(job, x));
    bool ok = true;
    for (int64_t j = 0; ok && j < x->cols; j++) {
        int64_t first = job->uplo ? 0 : j, n = job->uplo ? j + 1 : x->rows - j;
        ok = reach->touch(reach, x->what, (const char *)at + (size_t)(first + j * x->ld) * size, (size_t)n * size, 1, 0,
                          use);
    }
    return ok;
}

static bool touch(struct margay_hosted_reach *reach, const struct mg_cublas_job *job, const struct mg_cublas_operand *x,
                  const void *at)
{
    size_t size = mg__number_size(type_of(job, x));
    unsigned use =
        (x->use & CUBLAS_READ ? MARGAY_HOSTED_READS : 0u) | (x->use & CUBLAS_WRITE ? MARGAY_HOSTED_WRITES : 0u);
    if ((x->use & CUBLAS_BETA && !mg__cublas_zero(job->scalars[1])) ||
        (x->use & CUBLAS_ALPHA && !mg__cublas_zero(job->scalars[0])))
        use |= MARGAY_HOSTED_READS;
    if (x->use & CUBLAS_TRIANGLE)
        return touch_triangle(reach, job, x, at, use);
    switch (x->form) {
    case CUBLAS_NONE:
        return true;
    case CUBLAS_MATRIX:
        return reach->touch(reach, x->what, at, (size_t)x->rows * size, (size_t)x->cols,
                            (ptrdiff_t)x->ld * (ptrdiff_t)size, use);
    case CUBLAS_VECTOR: /* one that goes down begins with its last element */
        return reach->touch(reach, x->what, at, size, (size_t)x->rows,
                            (ptrdiff_t)(x->ld < 0 ? -x->ld : x->ld) * (ptrdiff_t)size, use);
    case CUBLAS_PACKED:
        return reach->touch(reach, x->what, at, (size_t)x->rows * size, 1, 0, use);
    case CUBLAS_RESULT:
        size = x->cols ? (size_t)x->cols : x->rows ? (size_t)x->rows * size : size;
        return !job->on_device || reach->touch(reach, x->what, at, size, 1, 0, use);
    }
    return true;
}

static bool read_scalar(struct mg_cublas_job *job, struct margay_hosted_reach *reach, const char *what, const void *at,
                        unsigned which)
{
    if (!at)
        return true;
    int type = which ? beta_type(job) : job->scalar;
    if (job->on_device && !reach->touch(reach, what, at, mg__number_size(type), 1, 0, MARGAY_HOSTED_READS))
        return false;
    if (job->on_device)
        mg__number_get(type, at, job->scalars[which]);
    return true;
}

static void compute(void *arg, struct margay_hosted_reach *reach)
{
    struct mg_cublas_job *job = arg;
    void *at[CUBLAS_OPERANDS];
    if (!read_scalar(job, reach, "alpha", job->alpha, 0) || !read_scalar(job, reach, "beta", job->beta, 1))
        return;
    for (size_t i = 0; i < CUBLAS_OPERANDS; i++)
        if (job->x[i].many && job->x[i].form != CUBLAS_NONE &&
            !reach->touch(reach, job->x[i].what, job->x[i].at, (size_t)job->count * sizeof(void *), 1, 0,
                          MARGAY_HOSTED_READS))
            return;
    for (int64_t b = 0; b < job->count; b++) {
        for (size_t i = 0; i < CUBLAS_OPERANDS; i++) {
            const struct mg_cublas_operand *x = &job->x[i];
            ptrdiff_t step = (ptrdiff_t)(x->stride * (int64_t)mg__number_size(type_of(job, x)));
            at[i] = !x->at                              ? NULL
                    : x->many && x->form != CUBLAS_NONE ? ((void *const *)x->at)[b]
                                                        : (void *)((uintptr_t)x->at + (uintptr_t)(b * step));
            if (at[i] && !touch(reach, job, x, at[i]))
                return;
        }
        if (!job->compute(job, at)) {
            reach->fail(reach);
            return;
        }
    }
}

int mg__cublas_run(struct mg_cublas *handle, struct mg_cublas_job *job)
{
    bool results = false;
    if (!mg__cublas_live(handle))
        return CUBLAS_NOT_INITIALIZED;
    if (!job->batched)
        job->count = 1;
    if (!job_ok(job))
        return CUBLAS_INVALID_VALUE;
    if (!fits(job))
        return CUBLAS_NOT_SUPPORTED;
    if (nothing_to_do(job))
        return CUBLAS_SUCCESS;
    job->on_device = handle->pointer_mode != 0;
    if (!job->on_device && job->alpha)
        mg__number_get(job->scalar, job->alpha, job->scalars[0]);
    if (!job->on_device && job->beta)
        mg__number_get(beta_type(job), job->beta, job->scalars[1]);
    for (size_t i = 0; i < CUBLAS_OPERANDS; i++)
        results |= job->x[i].form == CUBLAS_RESULT;
    struct margay_hosted call = {.library = "cuBLAS",
                                 .routine = job->routine,
                                 .stream = handle->stream,
                                 .waits = (results && !job->on_device) || job->result_waits,
                                 .compute = compute,
                                 .arg = job,
                                 .size = sizeof(*job)};
    return mg__cublas_status(mg__hosted_run(&call));
}
