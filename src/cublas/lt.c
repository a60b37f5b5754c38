/* lt.c - what cuBLASLt computes: products with what is done to them on their way out (epilogues), and transforms.
 *
 * A product is computed in f32 (f16, bf16, 8-bit floats, f32), in double (f64, integers) or in their complex kin;
 * scales, bias and functions are applied in double, and the result is rounded once. GELU is the one with tanh, as in
 * cuBLASLt. Left out, because what a GPU gives for it is not known here: masks of ReLU, the largest magnitudes of 8-bit
 * floats, scales by block, the interleaved orders.
 */
#include "cublas/lt.h"

#include "cublas/blas.h"

#include <math.h>
#include <stdlib.h>

static const char *const names[] = {"A", "B", "C", "D"};

/* ---- matrices ---- */
static int64_t place(const struct mg_lt_layout *l, int64_t i, int64_t j)
{
    return l->order == LT_ROWS ? i * l->ld + j : i + j * l->ld;
}

static void get(const struct mg_lt_layout *l, const void *at, int64_t batch, int64_t i, int64_t j, double value[2])
{
    int64_t element = place(l, i, j) + batch * l->stride;
    mg__number_get(l->type, (const char *)at + element * (int64_t)mg__number_size(l->type), value);
}

static void put(const struct mg_lt_layout *l, const void *at, int64_t batch, int64_t i, int64_t j,
                const double value[2])
{
    int64_t element = place(l, i, j) + batch * l->stride;
    mg__number_put(l->type, (char *)(uintptr_t)at + element * (int64_t)mg__number_size(l->type), value);
}

static bool touch(struct margay_hosted_reach *reach, const char *what, const struct mg_lt_layout *l, const void *at,
                  unsigned use)
{
    size_t size = mg__number_size(l->type);
    bool by_rows = l->order == LT_ROWS, ok = true;
    for (int b = 0; ok && b < l->batch; b++)
        ok = reach->touch(reach, what, (const char *)at + (int64_t)b * l->stride * (int64_t)size,
                          (size_t)(by_rows ? l->cols : l->rows) * size, (size_t)(by_rows ? l->rows : l->cols),
                          (ptrdiff_t)(l->ld * (int64_t)size), use);
    return ok;
}

static bool layout_ok(const struct mg_lt_layout *l)
{
    uint64_t least = l->order == LT_ROWS ? l->cols : l->rows;
    return (l->order == LT_COLUMNS || l->order == LT_ROWS) && mg__number_size(l->type) && l->batch >= 1 && !l->mode &&
           l->rows < INT32_MAX && l->cols < INT32_MAX && l->ld >= (int64_t)least;
}

static void times(const double a[2], const double b[2], double product[2])
{
    double re = a[0] * b[0] - a[1] * b[1], im = a[0] * b[1] + a[1] * b[0];
    product[0] = re;
    product[1] = im;
}

static bool scalars(struct margay_hosted_reach *reach, bool device, int type, const void *const from[2],
                    double values[2][2])
{
    for (int i = 0; device && i < 2; i++) {
        if (from[i] &&
            !reach->touch(reach, i ? "beta" : "alpha", from[i], mg__number_size(type), 1, 0, MARGAY_HOSTED_READS))
            return false;
        if (from[i])
            mg__number_get(type, from[i], values[i]);
    }
    return true;
}

/* ---- products ---- */
static int64_t rows_of(const struct mg_lt_layout *l, int op)
{
    return (int64_t)(op ? l->cols : l->rows);
}

static int64_t cols_of(const struct mg_lt_layout *l, int op)
{
    return (int64_t)(op ? l->rows : l->cols);
}

/* What the product of A and B is summed in. */
static int sum_type(const struct mg_lt_call *c)
{
    int a = c->layout[0].type;
    bool wide = a == MG_R_64F || a == MG_C_64F || a == MG_R_8I || a == MG_R_8U || a == MG_R_32I;
    return mg__number_complex(a) ? (wide ? MG_C_64F : MG_C_32F) : wide ? MG_R_64F : MG_R_32F;
}

int mg__lt_check(const struct mg_lt_call *c)
{
    const struct mg_lt_layout *l = c->layout;
    const struct mg_lt_matmul *d = &c->desc;
    const int known = LT_DEFAULT | LT_RELU | LT_BIAS | LT_BGRAD | LT_GELU | LT_DGELU | LT_AUX | LT_BGRADA | LT_BGRADB;
    bool complex_ = mg__number_complex(l[0].type);
    for (int i = 0; i < 4; i++)
        if (!layout_ok(&l[i]) || mg__number_complex(l[i].type) != complex_)
            return CUBLAS_NOT_SUPPORTED;
    if (rows_of(&l[0], d->transa) != (int64_t)l[3].rows || cols_of(&l[1], d->transb) != (int64_t)l[3].cols ||
        cols_of(&l[0], d->transa) != rows_of(&l[1], d->transb) || l[2].rows != l[3].rows || l[2].cols != l[3].cols ||
        l[0].batch != l[3].batch || l[1].batch != l[3].batch || l[2].batch != l[3].batch)
        return CUBLAS_INVALID_VALUE;
    bool masks = d->epilogue & LT_AUX && !(d->epilogue & (LT_GELU | LT_DGELU));
    if (d->pointer_mode > 1 || d->transc || d->fill != 2 || d->epilogue & ~known || masks || d->amax || d->aux_amax ||
        d->aux_scale)
        return CUBLAS_NOT_SUPPORTED;
    for (int i = 0; i < 5; i++)
        if (d->scale_modes[i])
            return CUBLAS_NOT_SUPPORTED;
    bool bias = d->epilogue & (LT_BIAS | LT_BGRAD | LT_BGRADA | LT_BGRADB), aux = d->epilogue & LT_AUX;
    return (bias && !d->bias) || (aux && (!d->aux || d->aux_ld < (int64_t)l[3].rows)) ? CUBLAS_INVALID_VALUE
                                                                                      : CUBLAS_SUCCESS;
}

/* op(X), columns without gaps, in the type of the sums. */
static char *dense(const struct mg_lt_call *c, int which, int op, int64_t batch)
{
    const struct mg_lt_layout *l = &c->layout[which];
    int type = sum_type(c);
    size_t size = mg__number_size(type);
    int64_t rows = rows_of(l, op), cols = cols_of(l, op);
    char *all = malloc((size_t)(rows * cols) * size + 1);
    for (int64_t j = 0; all && j < cols; j++)
        for (int64_t i = 0; i < rows; i++) {
            double value[2];
            get(l, c->at[which], batch, op ? j : i, op ? i : j, value);
            value[1] = op == 2 ? -value[1] : value[1];
            mg__number_put(type, all + (size_t)(i + j * rows) * size, value);
        }
    return all;
}

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static double gelu_slope(double x)
{
    double t = tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
}

/* A layout for the matrix beside the result, and one for the bias. */
static struct mg_lt_layout aux_of(const struct mg_lt_call *c)
{
    struct mg_lt_layout l = c->layout[3];
    l.order = LT_COLUMNS;
    l.type = c->desc.aux_type >= 0 ? c->desc.aux_type : l.type;
    l.ld = c->desc.aux_ld;
    l.stride = c->desc.aux_stride;
    return l;
}

static struct mg_lt_layout bias_of(const struct mg_lt_call *c)
{
    struct mg_lt_layout l = c->layout[3];
    l.order = LT_COLUMNS;
    if (c->desc.epilogue & LT_BGRADB)
        l.rows = l.cols;
    l.cols = 1;
    l.type = c->desc.bias_type >= 0                       ? c->desc.bias_type
             : l.type == MG_R_E4M3 || l.type == MG_R_E5M2 ? MG_R_16BF
                                                          : l.type;
    l.ld = (int64_t)l.rows;
    l.stride = c->desc.bias_stride;
    return l;
}

/* One element on its way out. */
static void finish(const struct mg_lt_call *c, int64_t batch, int64_t i, int64_t j, double v[2])
{
    const struct mg_lt_matmul *d = &c->desc;
    const struct mg_lt_layout aux = aux_of(c), bias = bias_of(c);
    double other[2];
    if (d->epilogue & LT_BIAS) {
        get(&bias, d->bias, batch, i, 0, other);
        v[0] += other[0];
    }
    if (d->epilogue & LT_GELU && d->epilogue & LT_AUX)
        put(&aux, d->aux, batch, i, j, v);
    if (d->epilogue & LT_GELU)
        v[0] = gelu(v[0]);
    if (d->epilogue & LT_RELU)
        v[0] = v[0] > 0 || isnan(v[0]) ? v[0] : 0;
    if (d->epilogue & LT_DGELU) {
        get(&aux, d->aux, batch, i, j, other);
        v[0] *= gelu_slope(other[0]);
    }
}

/* Sums for the gradient of a bias: of the result's rows, of those of op(A), or of op(B)'s columns. */
static void gradient(const struct mg_lt_call *c, int64_t batch, const char *a, const char *b, const double *sums)
{
    const struct mg_lt_layout bias = bias_of(c);
    int64_t m = (int64_t)c->layout[3].rows, k = cols_of(&c->layout[0], c->desc.transa);
    size_t size = mg__number_size(sum_type(c));
    for (int64_t i = 0; i < (int64_t)bias.rows; i++) {
        double sum[2] = {sums[i < m ? i : 0], 0}, v[2];
        if (c->desc.epilogue & (LT_BGRADA | LT_BGRADB))
            sum[0] = 0;
        for (int64_t l = 0; c->desc.epilogue & (LT_BGRADA | LT_BGRADB) && l < k; l++) {
            mg__number_get(
                sum_type(c),
                c->desc.epilogue & LT_BGRADA ? a + (size_t)(i + l * m) * size : b + (size_t)(l + i * k) * size, v);
            sum[0] += v[0];
        }
        put(&bias, c->desc.bias, batch, i, 0, sum);
    }
}

static bool product(const struct mg_lt_call *c, int64_t batch, const double scale[4])
{
    struct mg_cublas_job job = {.type = sum_type(c)};
    const double one_[2] = {1, 0}, none_[2] = {0, 0};
    struct mg_blas_scalar one = mg__blas_scalar(job.type, one_), none = mg__blas_scalar(job.type, none_);
    size_t size = mg__number_size(job.type);
    int m = (int)c->layout[3].rows, n = (int)c->layout[3].cols, k = (int)cols_of(&c->layout[0], c->desc.transa);
    int k_or_one = k > 1 ? k : 1;
    char *a = dense(c, 0, c->desc.transa, batch), *b = dense(c, 1, c->desc.transb, batch);
    char *sum = malloc((size_t)m * (size_t)n * size + 1);
    double *rows = calloc((size_t)m + 1, sizeof(*rows));
    bool ok = a && b && sum && rows;
    if (ok)
        BLAS(&job, gemm)("N", "N", &m, &n, &k, &one, a, &m, b, &k_or_one, &none, sum, &m);
    for (int64_t j = 0; ok && j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            double v[2], old[2];
            mg__number_get(job.type, sum + (size_t)(i + j * m) * size, v);
            times(c->scalars[0], v, v);
            v[0] *= scale[0] * scale[1];
            if (!mg__cublas_zero(c->scalars[1])) {
                get(&c->layout[2], c->at[2], batch, i, j, old);
                times(c->scalars[1], old, old);
                v[0] += old[0] * scale[2];
                v[1] += old[1];
            }
            finish(c, batch, i, j, v);
            rows[i] += v[0];
            v[0] *= scale[3];
            put(&c->layout[3], c->at[3], batch, i, j, v);
        }
    if (ok && c->desc.epilogue & (LT_BGRAD | LT_BGRADA | LT_BGRADB))
        gradient(c, batch, a, b, rows);
    free(a);
    free(b);
    free(sum);
    free(rows);
    return ok;
}

static bool touch_all(const struct mg_lt_call *c, struct margay_hosted_reach *reach)
{
    const struct mg_lt_layout aux = aux_of(c), bias = bias_of(c);
    for (int i = 0; i < 4; i++) {
        bool reads = i < 2 || (i == 2 && !mg__cublas_zero(c->scalars[1]));
        if ((reads || i == 3) &&
            !touch(reach, names[i], &c->layout[i], c->at[i], i == 3 ? MARGAY_HOSTED_WRITES : MARGAY_HOSTED_READS))
            return false;
        if (c->desc.scales[i] &&
            !reach->touch(reach, "a scale", c->desc.scales[i], sizeof(float), 1, 0, MARGAY_HOSTED_READS))
            return false;
    }
    if (c->desc.epilogue & LT_AUX && !touch(reach, "the auxiliary matrix", &aux, c->desc.aux,
                                            c->desc.epilogue & LT_DGELU ? MARGAY_HOSTED_READS : MARGAY_HOSTED_WRITES))
        return false;
    return !(c->desc.epilogue & (LT_BIAS | LT_BGRAD | LT_BGRADA | LT_BGRADB)) ||
           touch(reach, "the bias", &bias, c->desc.bias,
                 c->desc.epilogue & LT_BIAS ? MARGAY_HOSTED_READS : MARGAY_HOSTED_WRITES);
}

static void compute(void *arg, struct margay_hosted_reach *reach)
{
    struct mg_lt_call *c = arg;
    const void *const from[2] = {c->alpha, c->beta};
    double scale[4] = {1, 1, 1, 1};
    if (!scalars(reach, c->desc.pointer_mode == 1, c->desc.scale, from, c->scalars) || !touch_all(c, reach))
        return;
    for (int i = 0; i < 4; i++)
        if (c->desc.scales[i])
            scale[i] = (double)*(const float *)c->desc.scales[i];
    for (int b = 0; b < c->layout[3].batch; b++)
        if (!product(c, b, scale)) {
            reach->fail(reach);
            return;
        }
}

static void host_scalars(bool device, int type, const void *alpha, const void *beta, double values[2][2])
{
    if (!device && alpha)
        mg__number_get(type, alpha, values[0]);
    if (!device && beta)
        mg__number_get(type, beta, values[1]);
}

int mg__lt_run(struct mg_lt_call *c, void *stream)
{
    int status = mg__lt_check(c);
    if (status || !c->layout[3].rows || !c->layout[3].cols)
        return status;
    host_scalars(c->desc.pointer_mode == 1, c->desc.scale, c->alpha, c->beta, c->scalars);
    struct margay_hosted call = {.library = "cuBLASLt",
                                 .routine = "cublasLtMatmul",
                                 .stream = stream,
                                 .compute = compute,
                                 .arg = c,
                                 .size = sizeof(*c)};
    return mg__cublas_status(mg__hosted_run(&call));
}

/* ---- transforms ---- */
static void change(void *arg, struct margay_hosted_reach *reach)
{
    struct mg_lt_change *c = arg;
    const void *const from[2] = {c->alpha, c->beta};
    const int ops[2] = {c->desc.transa, c->desc.transb};
    if (!scalars(reach, c->desc.pointer_mode == 1, c->desc.scale, from, c->scalars))
        return;
    for (int i = 0; i < 3; i++)
        if (c->at[i] && (i == 2 || !mg__cublas_zero(c->scalars[i])) &&
            !touch(reach, names[i], &c->layout[i], c->at[i], i == 2 ? MARGAY_HOSTED_WRITES : MARGAY_HOSTED_READS))
            return;
    for (int b = 0; b < c->layout[2].batch; b++)
        for (int64_t j = 0; j < (int64_t)c->layout[2].cols; j++)
            for (int64_t i = 0; i < (int64_t)c->layout[2].rows; i++) {
                double sum[2] = {0, 0}, v[2];
                for (int x = 0; x < 2; x++)
                    if (c->at[x] && !mg__cublas_zero(c->scalars[x])) {
                        get(&c->layout[x], c->at[x], b, ops[x] ? j : i, ops[x] ? i : j, v);
                        v[1] = ops[x] == 2 ? -v[1] : v[1];
                        times(c->scalars[x], v, v);
                        sum[0] += v[0];
                        sum[1] += v[1];
                    }
                put(&c->layout[2], c->at[2], b, i, j, sum);
            }
}

int mg__lt_change(struct mg_lt_change *c, void *stream)
{
    const int ops[3] = {c->desc.transa, c->desc.transb, 0};
    for (int i = 0; i < 3; i++)
        if (c->at[i]) {
            if (!layout_ok(&c->layout[i]))
                return CUBLAS_NOT_SUPPORTED;
            if (rows_of(&c->layout[i], ops[i]) != (int64_t)c->layout[2].rows ||
                cols_of(&c->layout[i], ops[i]) != (int64_t)c->layout[2].cols ||
                c->layout[i].batch != c->layout[2].batch)
                return CUBLAS_INVALID_VALUE;
        }
    host_scalars(c->desc.pointer_mode == 1, c->desc.scale, c->alpha, c->beta, c->scalars);
    struct margay_hosted call = {.library = "cuBLASLt",
                                 .routine = "cublasLtMatrixTransform",
                                 .stream = stream,
                                 .compute = change,
                                 .arg = c,
                                 .size = sizeof(*c)};
    return mg__cublas_status(mg__hosted_run(&call));
}
