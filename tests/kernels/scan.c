/* scan.c - every rung of scan, both kinds, both types, at sizes and alignments that find mistakes, in place too, with
 * special values, and what wrong arguments get. */
#include "test.h"
#include "threads.h"

static int rungs;

/* About a warp, a block of each rung, a tile of the last two (16384 and 32768), and several levels of passes. */
static const int64_t sizes[] = {0,    1,    2,    31,   33,   255,   257,   511,   513,       1021,
                                1025, 4095, 4097, 8193, 9973, 32767, 32768, 32769, 32768 * 3, 132103};
enum { SIZES = sizeof sizes / sizeof *sizes, LARGEST = 132103 };

/* Runs one call; y is `got`. offset_y below 0: in place. */
#define DEFINE(NAME, TYPE)                                                                                  \
    static void run_##NAME(int variant, enum mg_scan_kind kind, int64_t n, const TYPE *data, size_t offset, \
                           int offset_y, TYPE *got)                                                         \
    {                                                                                                       \
        size_t size = (size_t)n * sizeof *data, bytes = 0;                                                  \
        struct test_buffer x = test_upload(data, size, offset), y = x;                                      \
        if (offset_y >= 0)                                                                                  \
            y = test_alloc(size, (size_t)offset_y);                                                         \
        int status = mg_scan_##NAME(NULL, variant, kind, n, NULL, NULL, NULL, &bytes);                      \
        CHECK(status == MG_KERNELS_OK && bytes > 0, "query of rung %d: %d", variant, status);               \
        struct test_buffer work = test_workspace(bytes);                                                    \
        status = mg_scan_##NAME(NULL, variant, kind, n, x.at, y.at, work.at, &bytes);                       \
        CHECK(status == MG_KERNELS_OK, "rung %d: %s", variant,                                              \
              mg_kernels_status_name((enum mg_kernels_status)status));                                      \
        bool varies = (variant == MG_BEST || variant >= rungs - 2) && TEST_ORDER_MATTERS(TYPE);             \
        (varies ? test_download_varying : test_download)(&y, got);                                          \
        test_free(&work, "workspace");                                                                      \
        if (offset_y >= 0)                                                                                  \
            test_free(&y, "y");                                                                             \
        test_free(&x, "x");                                                                                 \
    }
DEFINE(i32, int32_t)
DEFINE(f32, float)

static int32_t i32[LARGEST], want_i32[LARGEST], got_i32[LARGEST];
static float f32[LARGEST], want_f32[LARGEST], got_f32[LARGEST];

/* The first element that is wrong, or -1. */
static int64_t wrong_f32(int64_t n, const float *x, const float *want, const float *got)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += isfinite(x[i]) ? fabs((double)x[i]) : 0;
        double bound = (64 + (double)i / 1000) * 0x1p-24 * sum;
        if (isnan(want[i]) ? !isnan(got[i]) : want[i] != got[i] && !(fabs((double)got[i] - want[i]) <= bound))
            return i;
    }
    return -1;
}

static void size(int64_t n, size_t offset, int offset_y)
{
    for (int k = MG_SCAN_INCLUSIVE; k <= MG_SCAN_EXCLUSIVE; k++) {
        enum mg_scan_kind kind = (enum mg_scan_kind)k;
        mg_ref_scan_i32(kind, n, i32, want_i32);
        mg_ref_scan_f32(kind, n, f32, want_f32);
        for (int v = MG_BEST; v < rungs; v++) {
            run_i32(v, kind, n, i32, offset, offset_y, got_i32);
            int64_t i = 0;
            while (i < n && want_i32[i] == got_i32[i])
                i++;
            CHECK(i == n, "i32 rung %d kind %d n %lld offsets %zu %d: [%lld] is %d, not %d", v, k, (long long)n, offset,
                  offset_y, (long long)i, got_i32[i], want_i32[i]);
            run_f32(v, kind, n, f32, offset, offset_y, got_f32);
            i = wrong_f32(n, f32, want_f32, got_f32);
            CHECK(i < 0, "f32 rung %d kind %d n %lld offsets %zu %d: [%lld] is %a, not %a", v, k, (long long)n, offset,
                  offset_y, (long long)i, got_f32[i], want_f32[i]);
        }
    }
}

static void all_sizes(void)
{
    uint32_t seed = 1;
    for (int64_t i = 0; i < LARGEST; i++) {
        i32[i] = (int32_t)test_random(&seed); /* sums wrap */
        f32[i] = test_random_f32(&seed);
    }
    for (int s = 0; s < SIZES; s++)
        size(sizes[s], (size_t)(s % 4) * 4, s % 3 == 0 ? -1 : s % 3 == 1 ? s % 4 * 4 : (s + 1) % 4 * 4);
    for (size_t offset = 0; offset < 16; offset += 4)
        for (int offset_y = -4; offset_y < 16; offset_y += 4)
            size(32773, offset, offset_y);
}

/* What is not a number shows from its place on, and not before. */
static void special(void)
{
    static const float values[] = {NAN, INFINITY, -INFINITY, -0.0f, 0x1p-149f, 0x1p-126f};
    enum { N = 33001 };
    for (size_t s = 0; s < sizeof values / sizeof *values; s++) {
        for (int i = 0; i < N; i++)
            f32[i] = fpclassify(values[s]) == FP_SUBNORMAL ? values[s] * (float)(i % 3) : (float)(i % 5 - 2);
        f32[3001] = values[s];                          /* the next tile has it, too */
        f32[32900] = isnan(values[s]) ? 0 : -values[s]; /* infinity less infinity */
        for (int k = MG_SCAN_INCLUSIVE; k <= MG_SCAN_EXCLUSIVE; k++) {
            mg_ref_scan_f32((enum mg_scan_kind)k, N, f32, want_f32);
            for (int v = MG_BEST; v < rungs; v++) {
                run_f32(v, (enum mg_scan_kind)k, N, f32, 4, 4, got_f32);
                int64_t i = wrong_f32(N, f32, want_f32, got_f32);
                CHECK(i < 0, "%a rung %d kind %d: [%lld] is %a, not %a", values[s], v, k, (long long)i, got_f32[i],
                      want_f32[i]);
            }
        }
    }
}

static void arguments(void)
{
    float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, got[8];
    struct test_buffer x = test_upload(ones, sizeof ones, 0), y = test_upload(ones, sizeof ones, 0);
    struct test_buffer work = test_workspace(1 << 16);
    size_t need = 0, bytes = 1 << 16, little;
#define EXPECT(want, ...)                                                                                          \
    do {                                                                                                           \
        int status_ = mg_scan_f32(NULL, __VA_ARGS__);                                                              \
        CHECK(status_ == (want), "%s: %s", #__VA_ARGS__, mg_kernels_status_name((enum mg_kernels_status)status_)); \
    } while (0)
    for (int v = MG_BEST; v < rungs; v++) {
        EXPECT(MG_KERNELS_OK, v, MG_SCAN_INCLUSIVE, 8, NULL, NULL, NULL, &need);
        EXPECT(MG_KERNELS_OK, v, MG_SCAN_INCLUSIVE, 0, NULL, NULL, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_SCAN_INCLUSIVE, -1, x.at, y.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_SCAN_INCLUSIVE, INT64_MAX, x.at, y.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, (enum mg_scan_kind)2, 8, x.at, y.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_SCAN_INCLUSIVE, 8, NULL, y.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_SCAN_INCLUSIVE, 8, x.at, NULL, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_SCAN_INCLUSIVE, 4, (float *)((char *)x.at + 2), y.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_SCAN_INCLUSIVE, 4, x.at, (float *)((char *)y.at + 1), work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_SCAN_INCLUSIVE, 4, y.at, (float *)y.at + 3, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_SCAN_INCLUSIVE, 4, (float *)y.at + 3, y.at, work.at, &bytes);
        EXPECT(MG_KERNELS_ERR_INVALID, v, MG_SCAN_INCLUSIVE, 8, x.at, y.at, work.at, NULL);
        little = need - 1;
        EXPECT(MG_KERNELS_ERR_WORKSPACE, v, MG_SCAN_INCLUSIVE, 8, x.at, y.at, work.at, &little);
        EXPECT(MG_KERNELS_ERR_WORKSPACE, v, MG_SCAN_INCLUSIVE, 8, x.at, y.at, (char *)work.at + 64, &bytes);
    }
    EXPECT(MG_KERNELS_ERR_VARIANT, rungs, MG_SCAN_INCLUSIVE, 8, x.at, y.at, work.at, &bytes);
    EXPECT(MG_KERNELS_ERR_VARIANT, -2, MG_SCAN_INCLUSIVE, 8, x.at, y.at, work.at, &bytes);
    test_download(&y, got);
    CHECK(!memcmp(got, ones, sizeof got), "a refused call wrote");
    test_free(&x, "x");
    test_free(&y, "y");
    test_free(&work, "workspace");
}

/* Enough for the tiles of which every multiprocessor has one; smaller sizes are cut into smaller tiles. */
static void large(void)
{
    const int64_t n = 43008 * 133 + 77;
    size_t size = (size_t)n * 4;
    int32_t *x = malloc(size), *want = malloc(size), *got = malloc(size);
    uint32_t seed = 11;
    if (!x || !want || !got)
        exit(1);
    for (int64_t i = 0; i < n; i++)
        x[i] = (int32_t)test_random(&seed);
    for (int k = MG_SCAN_INCLUSIVE; k <= MG_SCAN_EXCLUSIVE; k++) {
        mg_ref_scan_i32((enum mg_scan_kind)k, n, x, want);
        run_i32(MG_BEST, (enum mg_scan_kind)k, n, x, 8, k == MG_SCAN_INCLUSIVE ? 8 : -1, got);
        CHECK(memcmp(want, got, size) == 0, "kind %d of %lld elements", k, (long long)n);
    }
    free(got);
    free(want);
    free(x);
}

/* More than 2^31 elements, where there is a GPU with room for them: ones, in place, looked at in samples. */
static void huge(void)
{
    const int64_t n = (INT64_C(1) << 31) + 12345;
    size_t free = 0, total = 0;
    CUDA(cudaMemGetInfo(&free, &total));
    if (test_on_simulator() || free < (size_t)n * 5)
        return;
    for (int v = MG_BEST; v < rungs; v++) {
        struct test_buffer x = test_alloc((size_t)n * 4, 0);
        CUDA(cudaMemset(x.at, 1, (size_t)n * 4)); /* 0x01010101 each */
        size_t bytes = 0;
        mg_scan_i32(NULL, v, MG_SCAN_INCLUSIVE, n, NULL, NULL, NULL, &bytes);
        struct test_buffer work = test_workspace(bytes);
        CHECK(!mg_scan_i32(NULL, v, MG_SCAN_INCLUSIVE, n, x.at, x.at, work.at, &bytes), "rung %d", v);
        for (int64_t i = n - 1; i > 0; i -= INT64_C(123456789)) {
            int32_t got;
            CUDA(cudaMemcpy(&got, (int32_t *)x.at + i, 4, cudaMemcpyDeviceToHost));
            int32_t want = (int32_t)((uint32_t)(i + 1) * 0x01010101u);
            CHECK(got == want, "rung %d: [%lld] is %d, not %d", v, (long long)i, got, want);
        }
        test_free(&work, "workspace");
        test_free(&x, "x");
    }
}

static int call(struct CUstream_st *stream, int variant, int64_t n, const float *x, float *out, void *work,
                size_t *bytes)
{
    return (int)mg_scan_f32(stream, variant, MG_SCAN_INCLUSIVE, n, x, out, work, bytes);
}

static void reference(int64_t n, const float *x, float *out)
{
    mg_ref_scan_f32(MG_SCAN_INCLUSIVE, n, x, out);
}

int main(void)
{
    test_begin();
    size_t count = 0;
    mg_scan_variants(&count);
    rungs = (int)count;
    all_sizes();
    special();
    arguments();
    test_threads(&(struct threads_operation){rungs, THREADS_N, call, reference});
    large();
    huge();
    return test_end();
}
