/* square_sum.c - every rung of square_sum in both types, at sizes and alignments that find mistakes, with special
 * values, and what wrong arguments get. */
#include "fold.h"
#include "threads.h"

static int rungs;

#define DEFINE(NAME, TYPE)                                                                    \
    static TYPE run_##NAME(int variant, int64_t n, const TYPE *data, size_t offset)           \
    {                                                                                         \
        struct test_buffer x = test_upload(data, (size_t)n * sizeof *data, offset);           \
        struct test_buffer result = test_alloc(sizeof *data, 0);                              \
        size_t bytes = 0;                                                                     \
        int status = mg_square_sum_##NAME(NULL, variant, n, NULL, NULL, NULL, &bytes);        \
        CHECK(status == MG_KERNELS_OK && bytes > 0, "query of rung %d: %d", variant, status); \
        struct test_buffer work = test_workspace(bytes);                                      \
        status = mg_square_sum_##NAME(NULL, variant, n, x.at, result.at, work.at, &bytes);    \
        CHECK(status == MG_KERNELS_OK, "rung %d: %s", variant,                                \
              mg_kernels_status_name((enum mg_kernels_status)status));                        \
        TYPE got;                                                                             \
        bool varies = variant == 0 && TEST_ORDER_MATTERS(TYPE);                               \
        (varies ? test_download_varying : test_download)(&result, &got);                      \
        test_free(&x, "x");                                                                   \
        test_free(&result, "result");                                                         \
        test_free(&work, "workspace");                                                        \
        return got;                                                                           \
    }
DEFINE(i32, int32_t)
DEFINE(f32, float)

/* One size, all rungs, both types. */
static void size(int64_t n, size_t offset, const int32_t *i32, const float *f32)
{
    for (int v = MG_BEST; v < rungs; v++) {
        int32_t want = mg_ref_square_sum_i32(n, i32), got = run_i32(v, n, i32, offset);
        CHECK(got == want, "i32 rung %d n %lld: %d, not %d", v, (long long)n, got, want);
        float want32 = mg_ref_square_sum_f32(n, f32), got32 = run_f32(v, n, f32, offset);
        double bound = fold_bound(n, want32, 0x1p-24, 0x1p-126, v == 0);
        CHECK(fold_near(got32, want32, bound), "f32 rung %d n %lld: %a, not %a", v, (long long)n, got32, want32);
    }
}

static void sizes(void)
{
    static int32_t i32[FOLD_LARGEST];
    static float f32[FOLD_LARGEST];
    uint32_t seed = 1;
    for (int64_t i = 0; i < FOLD_LARGEST; i++) {
        i32[i] = (int32_t)test_random(&seed); /* squares and sums wrap */
        f32[i] = test_random_f32(&seed);
    }
    for (int s = 0; s < FOLD_SIZES; s++)
        size(fold_sizes[s], (size_t)(s % 4) * 4, i32, f32);
    for (int end = 0; end < 2; end++) { /* most of the sum at the ends, where heads and tails are */
        float kept = f32[end ? 8196 : 0];
        f32[end ? 8196 : 0] = 1e6f;
        size(8197, 12, i32, f32);
        f32[end ? 8196 : 0] = kept;
    }
}

static void special(void)
{
    static const float values[] = {NAN, INFINITY, -INFINITY, -0.0f, 0x1p-149f, 0x1p-70f, 1e30f};
    enum { N = 1000 };
    static float x[N];
    for (size_t s = 0; s < sizeof values / sizeof *values; s++)
        for (int all = 0; all < 2; all++) {
            for (int i = 0; i < N; i++)
                x[i] = all || i == 700 ? values[s] : (float)(i % 7 - 3);
            for (int v = MG_BEST; v < rungs; v++) {
                float want = mg_ref_square_sum_f32(N, x), got = run_f32(v, N, x, 4);
                CHECK(fold_near(got, want, fold_bound(N, want, 0x1p-24, 0x1p-126, v == 0)),
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
        int status_ = mg_square_sum_f32(NULL, __VA_ARGS__);                                                        \
        CHECK(status_ == (want), "%s: %s", #__VA_ARGS__, mg_kernels_status_name((enum mg_kernels_status)status_)); \
    } while (0)
    for (int v = MG_BEST; v < rungs; v++) {
        EXPECT(MG_KERNELS_OK, v, 8, NULL, NULL, NULL, &need);
        EXPECT(MG_KERNELS_ERR_INVALID, v, -1, x.at, result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, INT64_MAX, x.at, result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 8, NULL, result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 8, x.at, NULL, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 8, x.at, (float *)x.at + 3, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 4, (float *)((char *)x.at + 2), result.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 8, x.at, result.at, work.at, NULL);
        little = need - 1;
        EXPECT(MG_KERNELS_ERR_WORKSPACE, v, 8, x.at, result.at, work.at, &little);
        EXPECT(MG_KERNELS_ERR_WORKSPACE, v, 8, x.at, result.at, (char *)work.at + 64, &bytes);
    }
    EXPECT(MG_KERNELS_ERR_VARIANT, rungs, 8, x.at, result.at, work.at, &bytes);
    EXPECT(MG_KERNELS_ERR_VARIANT, -2, 8, x.at, result.at, work.at, &bytes);
    test_download(&result, &got);
    CHECK(got == 1, "a refused call wrote %g", got);
    test_free(&x, "x");
    test_free(&result, "result");
    test_free(&work, "workspace");
}

/* Past the size from which the stream's blocks are large, with a head and a tail. */
static void large(void)
{
    enum { N = (1 << 21) + 5003 };
    int32_t *x = malloc(N * sizeof *x);
    uint32_t seed = 5;
    for (int i = 0; i < N; i++)
        x[i] = (int32_t)test_random(&seed);
    int32_t want = mg_ref_square_sum_i32(N, x), got = run_i32(rungs - 1, N, x, 12);
    CHECK(got == want, "%d, not %d", got, want);
    free(x);
}

static int call(struct CUstream_st *stream, int variant, int64_t n, const float *x, float *out, void *work,
                size_t *bytes)
{
    return (int)mg_square_sum_f32(stream, variant, n, x, out, work, bytes);
}

static void reference(int64_t n, const float *x, float *out)
{
    *out = mg_ref_square_sum_f32(n, x);
}

int main(void)
{
    test_begin();
    size_t count = 0;
    mg_square_sum_variants(&count);
    rungs = (int)count;
    sizes();
    special();
    arguments();
    large();
    test_threads(&(struct threads_operation){rungs, 1, call, reference});
    return test_end();
}
