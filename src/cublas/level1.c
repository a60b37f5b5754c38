/* level1.c - vectors: one element after the other, of any type that the Ex forms take.
 *
 * Sums are kept in double, so that a result is at least as near as a GPU's, whose order of adding is its own. What is
 * computed element by element is rounded once to the type of the vector.
 */
#include "cublas/cublas.h"

#include <float.h>
#include <math.h>

struct vector {
    char *first;
    int64_t n, step; /* bytes */
    int type;
};

static struct vector vector_of(const struct mg_cublas_job *job, void *const at[], unsigned which)
{
    const struct mg_cublas_operand *x = &job->x[which];
    int type = x->typed ? x->type : job->type;
    int64_t size = (int64_t)mg__number_size(type), step = x->ld * size;
    char *first = at[which];
    if (step < 0 && x->rows > 0)
        first -= (x->rows - 1) * step;
    return (struct vector){first, x->rows, step, type};
}

static void get(const struct vector *v, int64_t i, double value[2])
{
    mg__number_get(v->type, v->first + i * v->step, value);
}

static void put(const struct vector *v, int64_t i, const double value[2])
{
    mg__number_put(v->type, v->first + i * v->step, value);
}

/* The result, which stands behind the vectors: operand 2. */
static void result(const struct mg_cublas_job *job, void *const at[], const double value[2])
{
    const struct mg_cublas_operand *x = &job->x[2];
    if (x->typed && x->type == MG_R_32I && x->cols == 8) /* the index of a 64-bit name */
        *(int64_t *)at[2] = (int64_t)value[0];
    else
        mg__number_put(x->typed ? x->type : job->type, at[2], value);
}

/* ---- one number of a vector ---- */
static void extreme(const struct mg_cublas_job *job, void *const at[], bool largest)
{
    struct vector x = vector_of(job, at, 0);
    double value[2], best = 0, found[2] = {0, 0};
    for (int64_t i = 0; i < x.n && job->x[0].ld > 0; i++) {
        get(&x, i, value);
        double size = fabs(value[0]) + fabs(value[1]);
        if (x.type == MG_C_32F)
            size = (double)((float)fabs(value[0]) + (float)fabs(value[1]));
        if (i == 0 || (largest ? size > best : size < best)) {
            best = size;
            found[0] = (double)(i + 1);
        }
    }
    result(job, at, found);
}

bool mg__cublas_amax(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    extreme(job, at, true);
    return true;
}

bool mg__cublas_amin(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    extreme(job, at, false);
    return true;
}

bool mg__cublas_asum(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    struct vector x = vector_of(job, at, 0);
    double value[2], sum[2] = {0, 0};
    for (int64_t i = 0; i < x.n && job->x[0].ld > 0; i++) {
        get(&x, i, value);
        sum[0] += fabs(value[0]) + fabs(value[1]);
    }
    result(job, at, sum);
    return true;
}

/* Scaled by the largest, so that no square is too large or too small. */
bool mg__cublas_nrm2(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    struct vector x = vector_of(job, at, 0);
    double value[2], largest = 0, norm[2] = {0, 0};
    bool valid = job->x[0].ld > 0;
    for (int64_t i = 0; i < x.n && valid; i++) {
        get(&x, i, value);
        for (int k = 0; k < 2; k++)
            largest = isnan(value[k]) || fabs(value[k]) > largest ? fabs(value[k]) : largest;
    }
    bool scale = largest > 1e150 || largest < 1e-150;
    for (int64_t i = 0; i < x.n && valid && largest != 0; i++) {
        get(&x, i, value);
        double a = scale ? value[0] / largest : value[0], b = scale ? value[1] / largest : value[1];
        norm[0] += a * a + b * b;
    }
    norm[0] = isinf(largest) ? INFINITY : sqrt(norm[0]) * (scale ? largest : 1);
    if (largest == 0)
        norm[0] = 0;
    result(job, at, norm);
    return true;
}

bool mg__cublas_dot(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    struct vector x = vector_of(job, at, 0), y = vector_of(job, at, 1);
    double a[2], b[2], sum[2] = {0, 0};
    for (int64_t i = 0; i < x.n; i++) {
        get(&x, i, a);
        get(&y, i, b);
        a[1] = job->conjugate ? -a[1] : a[1];
        sum[0] += a[0] * b[0] - a[1] * b[1];
        sum[1] += a[0] * b[1] + a[1] * b[0];
    }
    result(job, at, sum);
    return true;
}

/* ---- vectors ---- */
static void times(const double a[2], const double b[2], double product[2])
{
    double re = a[0] * b[0] - a[1] * b[1], im = a[0] * b[1] + a[1] * b[0];
    product[0] = re;
    product[1] = im;
}

bool mg__cublas_scal(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    struct vector x = vector_of(job, at, 0);
    double value[2];
    for (int64_t i = 0; i < x.n && job->x[0].ld > 0; i++) {
        get(&x, i, value);
        times(job->scalars[0], value, value);
        put(&x, i, value);
    }
    return true;
}

bool mg__cublas_axpy(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    struct vector x = vector_of(job, at, 0), y = vector_of(job, at, 1);
    double a[2], b[2];
    if (mg__cublas_zero(job->scalars[0]))
        return true;
    for (int64_t i = 0; i < x.n; i++) {
        get(&x, i, a);
        get(&y, i, b);
        times(job->scalars[0], a, a);
        put(&y, i, (const double[2]){a[0] + b[0], a[1] + b[1]});
    }
    return true;
}

bool mg__cublas_copy(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    struct vector x = vector_of(job, at, 0), y = vector_of(job, at, 1);
    double value[2];
    for (int64_t i = 0; i < x.n; i++) {
        get(&x, i, value);
        put(&y, i, value);
    }
    return true;
}

bool mg__cublas_swap(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    struct vector x = vector_of(job, at, 0), y = vector_of(job, at, 1);
    double a[2], b[2];
    for (int64_t i = 0; i < x.n; i++) {
        get(&x, i, a);
        get(&y, i, b);
        put(&x, i, b);
        put(&y, i, a);
    }
    return true;
}

/* ---- rotations ---- */
/* x, y = c x + s y, c y - conj(s) x; c is real. */
bool mg__cublas_rot(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    struct vector x = vector_of(job, at, 0), y = vector_of(job, at, 1);
    double a[2], b[2], u[2], v[2], c[2], s[2];
    mg__number_get(job->x[2].typed ? job->x[2].type : job->type, at[2], c);
    mg__number_get(job->x[3].typed ? job->x[3].type : job->type, at[3], s);
    const double back[2] = {-s[0], s[1]};
    for (int64_t i = 0; i < x.n; i++) {
        get(&x, i, a);
        get(&y, i, b);
        times(s, b, u);
        times(back, a, v);
        put(&x, i, (const double[2]){c[0] * a[0] + u[0], c[0] * a[1] + u[1]});
        put(&y, i, (const double[2]){c[0] * b[0] + v[0], c[0] * b[1] + v[1]});
    }
    return true;
}

/* The rotation that makes b 0. a becomes the length; of real numbers, b what c and s can be had from again. */
bool mg__cublas_rotg(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    int type = job->type, real = type == MG_C_32F ? MG_R_32F : type == MG_C_64F ? MG_R_64F : type;
    double a[2], b[2], c[2] = {1, 0}, s[2] = {0, 0}, r[2] = {0, 0}, z[2] = {0, 0};
    mg__number_get(type, at[0], a);
    mg__number_get(type, at[1], b);
    double la = hypot(a[0], a[1]), lb = hypot(b[0], b[1]), length = hypot(la, lb);
    if (type != real) {
        if (la == 0) {
            c[0] = 0;
            s[0] = 1;
            r[0] = b[0];
            r[1] = b[1];
        } else {
            double phase[2] = {a[0] / la, a[1] / la};
            c[0] = la / length;
            times(phase, (const double[2]){b[0] / length, -b[1] / length}, s);
            r[0] = phase[0] * length;
            r[1] = phase[1] * length;
        }
    } else if (length != 0) {
        double sign = la > lb ? copysign(1, a[0]) : copysign(1, b[0]);
        r[0] = sign * length;
        c[0] = a[0] / r[0];
        s[0] = b[0] / r[0];
        z[0] = la > lb ? s[0] : c[0] != 0 ? 1 / c[0] : 1;
    }
    mg__number_put(type, at[0], r);
    if (type == real)
        mg__number_put(type, at[1], z);
    mg__number_put(real, at[2], c);
    mg__number_put(type, at[3], s);
    return true;
}

/* The modified rotation's matrix: param[0] says which of its elements stand in param[1] to param[4]. */
static void modified(const double p[5], double h[4])
{
    bool all = p[0] == -1, off = p[0] == 0, diagonal = p[0] == 1;
    h[0] = all || diagonal ? p[1] : 1;
    h[1] = all || off ? p[2] : p[0] == 1 ? -1 : 0;
    h[2] = all || off ? p[3] : p[0] == 1 ? 1 : 0;
    h[3] = all || diagonal ? p[4] : 1;
}

bool mg__cublas_rotm(const struct mg_cublas_job *job, void *const at[CUBLAS_OPERANDS])
{
    struct vector x = vector_of(job, at, 0), y = vector_of(job, at, 1);
    double p[5], h[4], a[2], b[2], unused[2];
    size_t size = mg__number_size(job->type);
    for (size_t i = 0; i < 5; i++) {
        mg__number_get(job->type, (const char *)at[2] + i * size, unused);
        p[i] = unused[0];
    }
    modified(p, h);
    for (int64_t i = 0; i < x.n && p[0] != -2; i++) {
        get(&x, i, a);
        get(&y, i, b);
        put(&x, i, (const double[2]){h[0] * a[0] + h[2] * b[0], 0});
        put(&y, i, (const double[2]){h[1] * a[0] + h[3] * b[0], 0});
    }
    return true;
}
