/* dot.c - every rung of dot in both types, at sizes and alignments that find mistakes, with special values, and what
 * wrong arguments get. */
#include "fold.h"
#include "threads.h"

static int rungs;

#define DEFINE(NAME, TYPE)                                                                              \
    static TYPE run_##NAME(int variant, int64_t n, const TYPE *data, const TYPE *data_y, size_t offset, \
                           size_t offset_y)                                                             \
    {                                                                                                   \
        struct test_buffer x = test_upload(data, (size_t)n * sizeof *data, offset);                     \
        struct test_buffer y = test_upload(data_y, (size_t)n * sizeof *data, offset_y);                 \
        struct test_buffer result = test_alloc(sizeof *data, 0);                                        \
        size_t bytes = 0;                                                                               \
        int status = mg_dot_##NAME(NULL, variant, n, NULL, NULL, NULL, NULL, &bytes);                   \
        CHECK(status == MG_KERNELS_OK && bytes > 0, "query of rung %d: %d", variant, status);           \
        struct test_buffer work = test_workspace(bytes);                                                \
        status = mg_dot_##NAME(NULL, variant, n, x.at, y.at, result.at, work.at, &bytes);               \
        CHECK(status == MG_KERNELS_OK, "rung %d: %s", variant,                                          \
              mg_kernels_status_name((enum mg_kernels_status)status));                                  \
        TYPE got;                                                                                       \
        bool varies = variant == 0 && TEST_ORDER_MATTERS(TYPE);                                         \
        (varies ? test_download_varying : test_download)(&result, &got);                                \
        test_free(&x, "x");                                                                             \
        test_free(&y, "y");                                                                             \
        test_free(&result, "result");                                                                   \
        test_free(&work, "workspace");                                                                  \
        return got;                                                                                     \
    }
DEFINE(f32, float)
DEFINE(f64, double)

/* One size, all rungs, both types, for offsets of both arrays. */
static void size(int64_t n, size_t offset, size_t offset_y, const float *x, const float *y, const double *x64,
                 const double *y64)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += fabs(x64[i] * y64[i]);
    for (int v = MG_BEST; v < rungs; v++) {
        double bound = fold_bound(n, sum, 0x1p-24, 0x1p-126, v == 0);
        float want = mg_ref_dot_f32(n, x, y), got = run_f32(v, n, x, y, offset, offset_y);
        CHECK(fold_near(got, want, bound), "f32 rung %d n %lld: %a, not %a", v, (long long)n, got, want);
        double want64 = mg_ref_dot_f64(n, x64, y64), got64 = run_f64(v, n, x64, y64, offset & 8, offset_y & 8);
        CHECK(fold_near(got64, want64, bound * 0x1p-29), "f64 rung %d n %lld: %a, not %a", v, (long long)n, got64,
              want64);
    }
}

static void sizes(void)
{
    static float x[FOLD_LARGEST], y[FOLD_LARGEST];
    static double x64[FOLD_LARGEST], y64[FOLD_LARGEST];
    uint32_t seed = 1;
    for (int64_t i = 0; i < FOLD_LARGEST; i++) {
        x64[i] = x[i] = test_random_f32(&seed);
        y64[i] = y[i] = test_random_f32(&seed);
    }
    for (int s = 0; s < FOLD_SIZES; s++)
        size(fold_sizes[s], (size_t)(s % 4) * 4, (size_t)(s / 2 % 4) * 4, x, y, x64, y64);
    for (size_t offset = 0; offset < 16; offset += 4)
        for (size_t offset_y = 0; offset_y < 16; offset_y += 4)
            size(1029, offset, offset_y, x, y, x64, y64);
    for (int end = 0; end < 2; end++) { /* most of the sum at the ends, where heads and tails are */
        float kept = x[end ? 8196 : 0];
        x64[end ? 8196 : 0] = x[end ? 8196 : 0] = 1e6f;
        size(8197, 12, 12, x, y, x64, y64);
        size(8197, 4, 8, x, y, x64, y64);
        x64[end ? 8196 : 0] = x[end ? 8196 : 0] = kept;
    }
    for (int v = 0; v < rungs; v++) { /* x and y may be the same array */
        struct test_buffer b = test_upload(x, 999 * 4, 4), result = test_alloc(4, 0), work;
        size_t bytes = 0;
        float got = 0, want = mg_ref_dot_f32(999, x, x);
        mg_dot_f32(NULL, v, 999, NULL, NULL, NULL, NULL, &bytes);
        work = test_workspace(bytes);
        CHECK(!mg_dot_f32(NULL, v, 999, b.at, b.at, result.at, work.at, &bytes), "rung %d", v);
        test_download_varying(&result, &got);
        CHECK(fold_near(got, want, fold_bound(999, want, 0x1p-24, 0x1p-126, v == 0)), "rung %d: %a, not %a", v, got,
              want);
        test_free(&b, "x");
        test_free(&result, "result");
        test_free(&work, "workspace");
    }
}

static void special(void)
{
    static const float values[] = {NAN, INFINITY, -INFINITY, -0.0f, 0x1p-149f, 1e30f};
    enum { N = 1000 };
    static float x[N], y[N];
    for (size_t s = 0; s < sizeof values / sizeof *values; s++)
        for (int all = 0; all < 3; all++) {
            double sum = 0;
            for (int i = 0; i < N; i++) {
                x[i] = all == 1 || i == 700 ? values[s] : (float)(i % 7 - 3);
                y[i] = all == 2 && i == 700 ? 0.0f : 0.5f; /* infinity times 0 is NaN */
                sum += fabs((double)x[i] * y[i]);
            }
            for (int v = MG_BEST; v < rungs; v++) {
                float want = mg_ref_dot_f32(N, x, y), got = run_f32(v, N, x, y, 4, 4);
                CHECK(fold_near(got, want, fold_bound(N, sum, 0x1p-24, 0x1p-126, v == 0) + N * 0x1p-149),
                      "%a (%d) rung %d: %a, not %a", values[s], all, v, got, want);
            }
        }
}

static void arguments(void)
{
    float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, got;
    struct test_buffer x = test_upload(ones, sizeof ones, 0), result = test_upload(ones, sizeof *ones, 0);
    struct test_buffer work = test_workspace(1 << 17);
    size_t need = 0, bytes = 1 << 17, little;
#define EXPECT(want, ...)                                                                                          \
    do {                                                                                                           \
        int status_ = mg_dot_f32(NULL, __VA_ARGS__);                                                               \
        CHECK(status_ == (want), "%s: %s", #__VA_ARGS__, mg_kernels_status_name((enum mg_kernels_status)status_)); \
    } while (0)
    for (int v = MG_BEST; v < rungs; v++) {
        EXPECT(MG_KERNELS_OK, v, 8, NULL, NULL, NULL, NULL, &need);
        EXPECT(MG_KERNELS_ERR_INVALID, v, -1, x.at, x.at, result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, INT64_MAX, x.at, x.at, result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 8, NULL, x.at, result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 8, x.at, x.at, NULL, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 8, x.at, x.at, (float *)x.at + 3, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 4, (float *)((char *)x.at + 2), x.at, result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 8, x.at, NULL, result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 4, x.at, (float *)((char *)x.at + 2), result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 8, x.at, x.at, result.at, work.at, NULL);
        little = need - 1;
        EXPECT(MG_KERNELS_ERR_WORKSPACE, v, 8, x.at, x.at, result.at, work.at, &little);
        EXPECT(MG_KERNELS_ERR_WORKSPACE, v, 8, x.at, x.at, result.at, (char *)work.at + 64, &bytes);
    }
    EXPECT(MG_KERNELS_ERR_VARIANT, rungs, 8, x.at, x.at, result.at, work.at, &bytes);
    EXPECT(MG_KERNELS_ERR_VARIANT, -2, 8, x.at, x.at, result.at, work.at, &bytes);
    test_download(&result, &got);
    CHECK(got == 1, "a refused call wrote %g", got);
    test_free(&x, "x");
    test_free(&result, "result");
    test_free(&work, "workspace");
}

/* Past the size from which the stream's blocks are large, with a head and a tail; y aligned like x, and not. */
static void large(void)
{
    enum { N = (1 << 21) + 5003 };
    float *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    uint32_t seed = 5;
    double sum = 0;
    for (int i = 0; i < N; i++) {
        x[i] = test_random_f32(&seed);
        y[i] = test_random_f32(&seed);
        sum += fabs((double)x[i] * (double)y[i]);
    }
    for (size_t offset = 4; offset <= 8; offset += 4) {
        float want = mg_ref_dot_f32(N, x, y), got = run_f32(rungs - 1, N, x, y, 4, offset);
        CHECK(fold_near(got, want, fold_bound(N, sum, 0x1p-24, 0, false)), "%a, not %a", got, want);
    }
    free(x);
    free(y);
}

static int call(struct CUstream_st *stream, int variant, int64_t n, const float *x, float *out, void *work,
                size_t *bytes)
{
    return (int)mg_dot_f32(stream, variant, n, x, x, out, work, bytes);
}

static void reference(int64_t n, const float *x, float *out)
{
    *out = mg_ref_dot_f32(n, x, x);
}

int main(void)
{
    test_begin();
    size_t count = 0;
    mg_dot_variants(&count);
    rungs = (int)count;
    sizes();
    special();
    arguments();
    large();
    test_threads(&(struct threads_operation){rungs, 1, call, reference});
    return test_end();
}
