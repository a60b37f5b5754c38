/* reduce.c - every rung of reduce, every operation and type, at sizes and alignments that find mistakes, with special
 * values, and what wrong arguments get. */
#include "fold.h"
#include "threads.h"

static int rungs;

#define DEFINE(NAME, TYPE)                                                                                \
    static TYPE run_##NAME(int variant, enum mg_reduce_op op, int64_t n, const TYPE *data, size_t offset) \
    {                                                                                                     \
        struct test_buffer x = test_upload(data, (size_t)n * sizeof *data, offset);                       \
        struct test_buffer result = test_alloc(sizeof *data, 0);                                          \
        size_t bytes = 0;                                                                                 \
        int status = mg_reduce_##NAME(NULL, variant, op, n, NULL, NULL, NULL, &bytes);                    \
        CHECK(status == MG_KERNELS_OK && bytes > 0, "query of rung %d: %d", variant, status);             \
        struct test_buffer work = test_workspace(bytes);                                                  \
        status = mg_reduce_##NAME(NULL, variant, op, n, x.at, result.at, work.at, &bytes);                \
        CHECK(status == MG_KERNELS_OK, "rung %d: %s", variant,                                            \
              mg_kernels_status_name((enum mg_kernels_status)status));                                    \
        TYPE got;                                                                                         \
        bool varies = variant == 0 && TEST_ORDER_MATTERS(TYPE);                                           \
        (varies ? test_download_varying : test_download)(&result, &got);                                  \
        test_free(&x, "x");                                                                               \
        test_free(&result, "result");                                                                     \
        test_free(&work, "workspace");                                                                    \
        return got;                                                                                       \
    }
DEFINE(i32, int32_t)
DEFINE(f32, float)
DEFINE(f64, double)

static double magnitude(int64_t n, const double *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += fabs(x[i]);
    return sum;
}

/* One size, all rungs, operations and types. */
static void size(int64_t n, size_t offset, const int32_t *i32, const float *f32, const double *f64)
{
    for (int v = MG_BEST; v < rungs; v++)
        for (int o = MG_REDUCE_SUM; o <= MG_REDUCE_MAX; o++) {
            enum mg_reduce_op op = (enum mg_reduce_op)o;
            int32_t want = mg_ref_reduce_i32(op, n, i32), got = run_i32(v, op, n, i32, offset);
            CHECK(got == want, "i32 rung %d op %d n %lld: %d, not %d", v, o, (long long)n, got, want);
            double bound = op != MG_REDUCE_SUM ? 0 : fold_bound(n, magnitude(n, f64), 0x1p-24, 0x1p-126, v == 0);
            float want32 = mg_ref_reduce_f32(op, n, f32), got32 = run_f32(v, op, n, f32, offset);
            CHECK(fold_near(got32, want32, bound), "f32 rung %d op %d n %lld: %a, not %a", v, o, (long long)n, got32,
                  want32);
            double want64 = mg_ref_reduce_f64(op, n, f64), got64 = run_f64(v, op, n, f64, offset & 8);
            CHECK(fold_near(got64, want64, bound * 0x1p-29), "f64 rung %d op %d n %lld: %a, not %a", v, o, (long long)n,
                  got64, want64);
        }
}

static void sizes(void)
{
    static int32_t i32[FOLD_LARGEST];
    static float f32[FOLD_LARGEST];
    static double f64[FOLD_LARGEST];
    uint32_t seed = 1;
    for (int64_t i = 0; i < FOLD_LARGEST; i++) {
        i32[i] = (int32_t)test_random(&seed); /* sums wrap */
        f32[i] = test_random_f32(&seed);
        f64[i] = f32[i];
    }
    for (int s = 0; s < FOLD_SIZES; s++)
        size(fold_sizes[s], (size_t)(s % 4) * 4, i32, f32, f64);
    /* the largest and the smallest at the ends, where heads and tails are */
    for (int64_t n = 5; n <= 8197; n += 4096)
        for (int end = 0; end < 2; end++) {
            int64_t at = end ? n - 1 : 0;
            int32_t kept = i32[at];
            float kept32 = f32[at];
            i32[at] = end ? INT32_MIN : INT32_MAX;
            f64[at] = f32[at] = end ? -7 : 7;
            size(n, 12, i32, f32, f64);
            i32[at] = kept;
            f64[at] = f32[at] = kept32;
        }
}

/* NaN, infinities, zeros of both signs, denormals: one of them among 300 ordinary elements, or nothing else. */
static void special(void)
{
    static const double values[] = {NAN,      INFINITY,  -INFINITY, -0.0,    0.0,
                                    0x1p-149, -0x1p-149, 0x1p-1074, FLT_MAX, -FLT_MAX};
    enum { N = 1000 };
    static float f32[N];
    static double f64[N];
    for (size_t s = 0; s < sizeof values / sizeof *values; s++)
        for (int all = 0; all < 3; all++) {
            if (all && fabs(values[s]) == FLT_MAX)
                continue; /* sums overflow, and when depends on the order */
            for (int i = 0; i < N; i++) {
                f64[i] = all == 1 || i == 700 ? values[s] : all == 2 ? 0.0 : i % 7 - 3.0;
                f32[i] = (float)f64[i];
            }
            for (int v = MG_BEST; v < rungs; v++)
                for (int o = MG_REDUCE_SUM; o <= MG_REDUCE_MAX; o++) {
                    enum mg_reduce_op op = (enum mg_reduce_op)o;
                    double bound = op == MG_REDUCE_SUM ? fold_bound(N, 3 * N, 0x1p-24, 0x1p-126, v == 0) : 0;
                    float want = mg_ref_reduce_f32(op, N, f32), got = run_f32(v, op, N, f32, 4);
                    CHECK(fold_near(got, want, bound) &&
                              (op == MG_REDUCE_SUM || !signbit(got) == !signbit(want) || isnan(want)),
                          "f32 %a (%d) rung %d op %d: %a, not %a", values[s], all, v, o, got, want);
                    double want64 = mg_ref_reduce_f64(op, N, f64), got64 = run_f64(v, op, N, f64, 8);
                    bound *= 0x1p-29;
                    CHECK(fold_near(got64, want64, bound) &&
                              (op == MG_REDUCE_SUM || !signbit(got64) == !signbit(want64) || isnan(want64)),
                          "f64 %a (%d) rung %d op %d: %a, not %a", values[s], all, v, o, got64, want64);
                }
        }
    /* denormals alone: their sum is exact in every rung but the first, which flushes them */
    for (int i = 0; i < N; i++)
        f32[i] = 0x1p-149f * (float)(i % 5);
    for (int v = MG_BEST; v < rungs; v++)
        if (v != 0)
            CHECK(run_f32(v, MG_REDUCE_SUM, N, f32, 0) == mg_ref_reduce_f32(MG_REDUCE_SUM, N, f32),
                  "denormals, rung %d", v);
}

/* The same bits in every run, but for the first rung. */
static void repeat(void)
{
    enum { N = 70001 };
    static float x[N];
    uint32_t seed = 5;
    for (int i = 0; i < N; i++)
        x[i] = test_random_f32(&seed);
    for (int v = 1; v < rungs; v++) {
        float a = run_f32(v, MG_REDUCE_SUM, N, x, 4), b = run_f32(v, MG_REDUCE_SUM, N, x, 4);
        CHECK(test_same_f32(a, b), "rung %d: %a and %a", v, a, b);
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
        int status_ = mg_reduce_f32(NULL, __VA_ARGS__);                                                            \
        CHECK(status_ == (want), "%s: %s", #__VA_ARGS__, mg_kernels_status_name((enum mg_kernels_status)status_)); \
    } while (0)
    for (int v = MG_BEST; v < rungs; v++) {
        EXPECT(MG_KERNELS_OK, v, MG_REDUCE_SUM, 8, NULL, NULL, NULL, &need);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_REDUCE_SUM, -1, x.at, result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_REDUCE_SUM, INT64_MAX, x.at, result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, (enum mg_reduce_op)3, 8, x.at, result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_REDUCE_SUM, 8, NULL, result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_REDUCE_SUM, 8, x.at, NULL, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_REDUCE_SUM, 8, x.at, (float *)x.at + 3, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_REDUCE_SUM, 4, (float *)((char *)x.at + 2), result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_REDUCE_SUM, 8, x.at, result.at, work.at, NULL);
        little = need - 1;
        EXPECT(MG_KERNELS_ERR_WORKSPACE, v, MG_REDUCE_SUM, 8, x.at, result.at, work.at, &little);
        EXPECT(MG_KERNELS_ERR_WORKSPACE, v, MG_REDUCE_SUM, 8, x.at, result.at, (char *)work.at + 64, &bytes);
    }
    EXPECT(MG_KERNELS_ERR_VARIANT, rungs, MG_REDUCE_SUM, 8, x.at, result.at, work.at, &bytes);
    EXPECT(MG_KERNELS_ERR_VARIANT, -2, MG_REDUCE_SUM, 8, x.at, result.at, work.at, &bytes);
    test_download(&result, &got);
    CHECK(got == 1, "a refused call wrote %g", got);
    test_free(&x, "x");
    test_free(&result, "result");
    test_free(&work, "workspace");
}

/* More than 2^31 elements, where there is a GPU with room for them. */
static void huge(void)
{
    const int64_t n = (INT64_C(1) << 31) + 12345;
    size_t free = 0, total = 0;
    CUDA(cudaMemGetInfo(&free, &total));
    if (test_on_simulator() || free < (size_t)n * 4 + ((size_t)1 << 30))
        return;
    struct test_buffer x = test_alloc((size_t)n * 4, 0), result = test_alloc(4, 0); /* 0xa5a5a5a5 each */
    int32_t mark = 0x7fffffff, got;
    CUDA(cudaMemcpy((int32_t *)x.at + n - 1, &mark, 4, cudaMemcpyHostToDevice));
    for (int v = MG_BEST; v < rungs; v++) {
        size_t bytes = 0;
        mg_reduce_i32(NULL, v, MG_REDUCE_MAX, n, NULL, NULL, NULL, &bytes);
        struct test_buffer work = test_workspace(bytes);
        CHECK(!mg_reduce_i32(NULL, v, MG_REDUCE_MAX, n, x.at, result.at, work.at, &bytes), "rung %d", v);
        test_download(&result, &got);
        CHECK(got == mark, "rung %d of 2^31 elements: %d", v, got);
        CHECK(!mg_reduce_i32(NULL, v, MG_REDUCE_SUM, n, x.at, result.at, work.at, &bytes), "rung %d", v);
        test_download(&result, &got);
        int32_t want = (int32_t)((uint32_t)(n - 1) * 0xa5a5a5a5u + (uint32_t)mark);
        CHECK(got == want, "rung %d of 2^31 elements: %d, not %d", v, got, want);
        test_free(&work, "workspace");
    }
    test_free(&x, "x");
    test_free(&result, "result");
}

/* Past the size from which the stream's blocks are large, with a head and a tail. */
static void large(void)
{
    enum { N = (1 << 21) + 5003 };
    float *x = malloc(N * sizeof *x);
    uint32_t seed = 5;
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += fabs((double)(x[i] = test_random_f32(&seed)));
    for (int v = rungs - 2; v < rungs; v++)
        for (int o = MG_REDUCE_SUM; o <= MG_REDUCE_MAX; o++) {
            enum mg_reduce_op op = (enum mg_reduce_op)o;
            float want = mg_ref_reduce_f32(op, N, x), got = run_f32(v, op, N, x, 4);
            CHECK(fold_near(got, want, op == MG_REDUCE_SUM ? fold_bound(N, sum, 0x1p-24, 0, false) : 0),
                  "rung %d op %d: %a, not %a", v, o, got, want);
        }
    free(x);
}

static int call(struct CUstream_st *stream, int variant, int64_t n, const float *x, float *out, void *work,
                size_t *bytes)
{
    return (int)mg_reduce_f32(stream, variant, MG_REDUCE_SUM, n, x, out, work, bytes);
}

static void reference(int64_t n, const float *x, float *out)
{
    *out = mg_ref_reduce_f32(MG_REDUCE_SUM, n, x);
}

int main(void)
{
    test_begin();
    size_t count = 0;
    mg_reduce_variants(&count);
    rungs = (int)count;
    sizes();
    special();
    repeat();
    arguments();
    large();
    test_threads(&(struct threads_operation){rungs, 1, call, reference});
    huge();
    return test_end();
}
