/* gemm.c - every rung of gemm against plain C: sizes around every tile, leading dimensions, alignments, special values,
 * alpha and beta, bad arguments, several host threads.
 *
 * Two kinds of numbers. Exact: multiples of 1/8, so that every sum is exact in float and the result must equal the
 * reference to the last bit, in any order of summation. Any: the result must be within the bound that the manual
 * states.
 */
#include "test.h"

#include <pthread.h>

struct gemm_case {
    int64_t m, n, k;
    int pad_a, pad_b, pad_c;       /* leading dimensions beyond the least */
    unsigned off_a, off_b, off_c;  /* first elements, in floats beyond 256 bytes */
    float alpha, beta;
};

enum fill { EXACT, ANY, SPECIAL };

static float number(enum fill fill, uint32_t *seed)
{
    static const float special[] = {NAN,       INFINITY,   -INFINITY, -0.0f, 0.0f,
                                    0x1p-149f, -0x1p-130f, 0x1p-126f, 1.0f,  -1.0f};
    uint32_t r = test_random(seed);
    if (fill == EXACT)
        return (float)((int)(r % 17) - 8) / 8.0f;
    if (fill == SPECIAL && r % 19 == 0)
        return special[(r >> 8) % (sizeof special / sizeof *special)];
    if (fill == SPECIAL && r % 2 == 0) /* products that underflow */
        return test_random_f32(seed) * 0x1p-70f;
    return test_random_f32(seed);
}

static float *numbers(size_t count, enum fill fill, uint32_t seed)
{
    float *p = malloc((count + 1) * sizeof *p);
    for (size_t i = 0; i < count; i++)
        p[i] = number(fill, &seed);
    return p;
}

/* The elements of a matrix with rows of `cols` that begin `ld` apart; the last row ends with its last element. */
static size_t extent(int64_t rows, int64_t cols, int64_t ld)
{
    return rows && cols ? (size_t)((rows - 1) * ld + cols) : 0;
}

/* (k + 2) u (|alpha| |A||B| + |beta C|), and the least denormal for every operation. */
static double bound(const struct gemm_case *t, const float *a, int64_t lda, const float *b, int64_t ldb, float old,
                    int64_t i, int64_t j)
{
    double sum = 0.0;
    for (int64_t p = 0; p < t->k; p++)
        sum += fabs((double)a[i * lda + p] * (double)b[p * ldb + j]);
    sum *= fabs((double)t->alpha);
    if (t->beta != 0.0f)
        sum += fabs((double)t->beta * (double)old);
    return (double)(t->k + 2) * (0x1p-24 * sum + 0x1p-149);
}

static void one(const struct gemm_case *t, enum fill fill, int variant, const char *name)
{
    int64_t lda = t->k + t->pad_a, ldb = t->n + t->pad_b, ldc = t->n + t->pad_c;
    size_t size_a = extent(t->m, t->k, lda), size_b = extent(t->k, t->n, ldb), size_c = extent(t->m, t->n, ldc);
    float *a = numbers(size_a, fill, 1), *b = numbers(size_b, fill, 2),
          *c = numbers(size_c, fill == SPECIAL ? ANY : fill, 3);
    if (t->beta == 0.0f)
        for (size_t i = 0; i < size_c; i++)
            c[i] = NAN; /* must not be read */
    float *want = malloc((size_c + 1) * sizeof *want), *got = malloc((size_c + 1) * sizeof *got);
    memcpy(want, c, size_c * sizeof *c);
    struct test_buffer da = test_upload(a, size_a * 4, t->off_a * 4), db = test_upload(b, size_b * 4, t->off_b * 4),
                       dc = test_upload(c, size_c * 4, t->off_c * 4);
    enum mg_kernels_status status =
        mg_gemm_f32(NULL, variant, t->m, t->n, t->k, t->alpha, da.at, lda, db.at, ldb, t->beta, dc.at, ldc);
    CHECK(status == MG_KERNELS_OK, "%s: %s", name, mg_kernels_status_name(status));
    CUDA(cudaDeviceSynchronize());
    test_download(&dc, got);
    mg_ref_gemm_f32(t->m, t->n, t->k, t->alpha, a, lda, b, ldb, t->beta, want, ldc);
    bool scaled = t->alpha == 0.0f || t->k == 0;
    int64_t wrong = 0, at = 0;
    for (int64_t e = 0; e < (int64_t)size_c; e++) {
        bool same = test_same_f32(got[e], want[e]);
        if (!same && e % ldc < t->n && fill != EXACT && !scaled && isfinite(want[e]))
            same = fabs((double)got[e] - (double)want[e]) <= bound(t, a, lda, b, ldb, c[e], e / ldc, e % ldc);
        if (!same && !wrong++)
            at = e;
    }
    CHECK(
        wrong == 0,
        "%s %lldx%lldx%lld, ld +%d +%d +%d, at %u %u %u, alpha %g beta %g, fill %d: %lld wrong, first [%lld][%lld] %a "
        "for %a",
        name, (long long)t->m, (long long)t->n, (long long)t->k, t->pad_a, t->pad_b, t->pad_c, t->off_a, t->off_b,
        t->off_c, (double)t->alpha, (double)t->beta, (int)fill, (long long)wrong, (long long)(at / ldc),
        (long long)(at % ldc), (double)got[at], (double)want[at]);
    test_free(&da, "A");
    test_free(&db, "B");
    test_free(&dc, "C");
    free(a);
    free(b);
    free(c);
    free(want);
    free(got);
}

static void every_rung(const struct gemm_case *t, enum fill fill)
{
    size_t count;
    const struct mg_variant *variants = mg_gemm_variants(&count);
    for (size_t v = 0; v < count; v++)
        one(t, fill, (int)v, variants[v].name);
    one(t, fill, MG_BEST, "MG_BEST");
}

static void sizes(void)
{
    static const struct gemm_case small[] = {
        {1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0},
        {2, 3, 5, 0, 0, 0, 0, 0, 0, 1, 0},
        {31, 33, 17, 1, 2, 3, 0, 0, 0, 1, 0},
        {33, 31, 37, 0, 0, 0, 1, 2, 3, -2, 1},
        {64, 128, 32, 0, 0, 0, 0, 0, 0, 1, 0},
        {128, 128, 64, 0, 0, 0, 0, 0, 0, 0.5f, -1},
        {130, 68, 40, 4, 4, 4, 4, 4, 4, 1, 2},
        {127, 132, 41, 3, 0, 0, 0, 0, 0, 1, 1},
        {1, 257, 7, 0, 0, 0, 0, 0, 0, 1, 0},
        {255, 1, 7, 0, 0, 0, 0, 0, 0, 1, 0},
        {2, 2, 257, 0, 0, 0, 0, 0, 0, 1, 0},
        {5, 8, 96, 0, 0, 0, 3, 1, 2, 1, 0},
        {4, 8, 96, 0, 0, 0, 1, 0, 0, 1, 0},
        {3, 4, 0, 2, 0, 1, 0, 0, 0, 1, 2},
        {3, 4, 5, 2, 0, 1, 0, 0, 0, 0, -1},
        {3, 4, 5, 2, 0, 1, 0, 0, 0, 0, 0},
        {3, 4, 5, 2, 0, 1, 0, 0, 0, 0, 1},
        {0, 4, 5, 0, 0, 0, 0, 0, 0, 1, 0},
        {4, 0, 5, 0, 0, 0, 0, 0, 0, 1, 0},
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0},
    };
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        every_rung(&small[i], EXACT);
    static const struct gemm_case any[] = {
        {67, 131, 71, 1, 0, 0, 0, 0, 0, 1.7f, 0.3f},
        {132, 68, 64, 0, 0, 0, 0, 0, 0, 1, 0},
    };
    for (size_t i = 0; i < sizeof any / sizeof *any; i++) {
        every_rung(&any[i], ANY);
        every_rung(&any[i], SPECIAL);
    }
}

/* More tiles than the second dimension of a grid has. On the simulator only the rungs whose tiles are small. */
static void many_tiles(void)
{
    size_t count;
    const struct mg_variant *variants = mg_gemm_variants(&count);
    for (size_t v = 0; v < count; v++) {
        if (test_on_simulator() && v > 1)
            break;
        int64_t tile = v > 7 ? 128 : 64, size = 65536 * (test_on_simulator() ? 8 : tile) + 1;
        struct gemm_case tall = {.m = size, .n = 1, .k = 1, .alpha = 1}, wide = {.m = 1, .n = size, .k = 1, .alpha = 1};
        one(&tall, EXACT, (int)v, variants[v].name);
        one(&wide, EXACT, (int)v, variants[v].name);
    }
}

/* Sizes at which the best rung takes each of its shapes; on a GPU only. */
static void large(void)
{
    static const int64_t sizes[][3] = {{2048, 512, 1024}, {1024, 1024, 1024}, {2000, 2004, 104}, {513, 1031, 333},
                                       {256, 256, 2048},  {128, 4096, 64},    {4096, 64, 96},    {1536, 1536, 256}};
    if (test_on_simulator())
        return;
    size_t count;
    const struct mg_variant *variants = mg_gemm_variants(&count);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct gemm_case t = {.m = sizes[i][0], .n = sizes[i][1], .k = sizes[i][2], .alpha = 1.5f, .beta = 0.5f};
        one(&t, EXACT, MG_BEST, "MG_BEST");
        one(&t, EXACT, (int)count - 2, variants[count - 2].name);
        t.pad_a = 1, t.pad_b = 3, t.pad_c = 5;
        one(&t, EXACT, MG_BEST, "MG_BEST");
    }
}

static void bad_arguments(void)
{
    float zero[64] = {0};
    struct test_buffer a = test_upload(zero, sizeof zero, 0), b = test_upload(zero, sizeof zero, 0),
                       c = test_alloc(sizeof zero, 0);
    float *pa = a.at, *pb = b.at, *pc = c.at;
    size_t count;
    mg_gemm_variants(&count);
#define GEMM(variant, m, n, k, a, lda, b, ldb, c, ldc) \
    mg_gemm_f32(NULL, variant, m, n, k, 1.0f, a, lda, b, ldb, 0.0f, c, ldc)
    CHECK(GEMM((int)count, 4, 4, 4, pa, 4, pb, 4, pc, 4) == MG_KERNELS_ERR_VARIANT, "a rung too many");
    CHECK(GEMM(-2, 4, 4, 4, pa, 4, pb, 4, pc, 4) == MG_KERNELS_ERR_VARIANT, "rung -2");
    CHECK(GEMM(0, -1, 4, 4, pa, 4, pb, 4, pc, 4) == MG_KERNELS_ERR_INVALID, "m");
    CHECK(GEMM(0, 4, -1, 4, pa, 4, pb, 4, pc, 4) == MG_KERNELS_ERR_INVALID, "n");
    CHECK(GEMM(0, 4, 4, -1, pa, 4, pb, 4, pc, 4) == MG_KERNELS_ERR_INVALID, "k");
    CHECK(GEMM(0, 4, 4, 4, pa, 3, pb, 4, pc, 4) == MG_KERNELS_ERR_INVALID, "lda");
    CHECK(GEMM(0, 4, 4, 4, pa, 4, pb, 3, pc, 4) == MG_KERNELS_ERR_INVALID, "ldb");
    CHECK(GEMM(0, 4, 4, 4, pa, 4, pb, 4, pc, 3) == MG_KERNELS_ERR_INVALID, "ldc");
    CHECK(GEMM(0, 4, 4, 4, NULL, 4, pb, 4, pc, 4) == MG_KERNELS_ERR_INVALID, "a");
    CHECK(GEMM(0, 4, 4, 4, pa, 4, NULL, 4, pc, 4) == MG_KERNELS_ERR_INVALID, "b");
    CHECK(GEMM(0, 4, 4, 4, pa, 4, pb, 4, NULL, 4) == MG_KERNELS_ERR_INVALID, "c");
    CHECK(GEMM(0, 4, 4, 4, pa, 4, pb, 4, (float *)((char *)pc + 2), 4) == MG_KERNELS_ERR_INVALID, "half a float");
    CHECK(GEMM(0, 4, 4, 4, pc + 15, 4, pb, 4, pc, 4) == MG_KERNELS_ERR_INVALID, "A within C");
    CHECK(GEMM(0, 4, 4, 4, pa, 4, pc, 4, pc + 15, 4) == MG_KERNELS_ERR_INVALID, "B within C");
    CHECK(GEMM(0, 0, 4, 4, NULL, 4, NULL, 4, NULL, 4) == MG_KERNELS_OK, "nothing to do");
    CHECK(GEMM(0, 4, 4, 0, NULL, 0, NULL, 4, pc + 16, 4) == MG_KERNELS_OK, "k 0 needs neither A nor B");
    CUDA(cudaDeviceSynchronize());
    unsigned char bytes[sizeof zero];
    test_download(&c, bytes);
    for (size_t i = 0; i < 64; i++)
        CHECK(bytes[i] == 0xa5, "byte %zu of C was written", i);
    test_free(&a, "A");
    test_free(&b, "B");
    test_free(&c, "C");
}

/* Calls from four threads at once, each on its stream; the first sizes need more shared memory than a kernel has
 * unasked. */
static void *caller(void *argument)
{
    enum { M = 128, N = 64, K = 96 };
    uint32_t seed = *(uint32_t *)argument;
    float *a = numbers(M * K, EXACT, seed), *b = numbers(K * N, EXACT, seed + 1);
    float *want = malloc(M * N * sizeof *want), *got = malloc(M * N * sizeof *got);
    mg_ref_gemm_f32(M, N, K, 1.0f, a, K, b, N, 0.0f, want, N);
    float *da, *db, *dc;
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMalloc((void **)&da, M * K * 4));
    CUDA(cudaMalloc((void **)&db, K * N * 4));
    CUDA(cudaMalloc((void **)&dc, M * N * 4));
    CUDA(cudaMemcpyAsync(da, a, M * K * 4, cudaMemcpyHostToDevice, stream));
    CUDA(cudaMemcpyAsync(db, b, K * N * 4, cudaMemcpyHostToDevice, stream));
    intptr_t bad = 0;
    for (int i = 0; i < (test_on_simulator() ? 2 : 50); i++) {
        bad += mg_gemm_f32(stream, MG_BEST, M, N, K, 1.0f, da, K, db, N, 0.0f, dc, N) != MG_KERNELS_OK;
        CUDA(cudaMemcpyAsync(got, dc, M * N * 4, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamSynchronize(stream));
        bad += memcmp(got, want, M * N * 4) != 0;
    }
    CUDA(cudaFree(da));
    CUDA(cudaFree(db));
    CUDA(cudaFree(dc));
    CUDA(cudaStreamDestroy(stream));
    free(a);
    free(b);
    free(want);
    free(got);
    return (void *)bad;
}

static void threads(void)
{
    pthread_t thread[4];
    uint32_t seed[4] = {11, 22, 33, 44};
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&thread[i], NULL, caller, &seed[i]) == 0, "thread %d", i);
    for (int i = 0; i < 4; i++) {
        void *bad;
        CHECK(pthread_join(thread[i], &bad) == 0 && bad == NULL, "thread %d got wrong results", i);
    }
}

int main(void)
{
    test_begin();
    sizes();
    many_tiles();
    large();
    bad_arguments();
    threads();
    return test_end();
}
