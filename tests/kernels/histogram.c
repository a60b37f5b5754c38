/* histogram.c - every rung of histogram against plain C: bytes and 32-bit keys, random, all the same, out of range,
 * more bins than shared memory holds. Counts are exact. */
#include "test.h"

static uint32_t seed = 4;

enum keys { RANDOM, SAME, RAMP, KINDS };
static uint32_t key_of(enum keys kind, int64_t i, uint64_t bins)
{
    return kind == RANDOM ? (uint32_t)(test_random(&seed) % (bins + bins / 8 + 1))
           : kind == SAME ? (uint32_t)bins / 3
                          : (uint32_t)i;
}

static void check_u8(int64_t n, enum keys kind, size_t offset)
{
    size_t rungs;
    mg_histogram_variants(&rungs);
    uint8_t *x = malloc((size_t)n + 1);
    for (int64_t i = 0; i < n; i++)
        x[i] = (uint8_t)key_of(kind, i, 256);
    uint32_t want[256], got[256];
    mg_ref_histogram_u8(n, x, want);
    struct test_buffer from = test_upload(x, (size_t)n, offset);
    for (int variant = MG_BEST; variant < (int)rungs; variant++) {
        struct test_buffer bins = test_alloc(sizeof got, 4);
        CHECK(mg_histogram_u8(NULL, variant, n, from.at, bins.at) == MG_KERNELS_OK, "rung %d", variant);
        test_download(&bins, got);
        CHECK(!memcmp(got, want, sizeof got), "bytes: n %lld, keys %d, offset %zu, rung %d", (long long)n, kind, offset,
              variant);
        test_free(&bins, "bins");
    }
    test_free(&from, "x");
    free(x);
}

static void check_u32(int64_t n, int64_t nbins, enum keys kind, size_t offset)
{
    size_t rungs, bytes = (size_t)nbins * 4;
    mg_histogram_variants(&rungs);
    uint32_t *x = malloc((size_t)n * 4 + 4), *want = malloc(bytes), *got = malloc(bytes);
    for (int64_t i = 0; i < n; i++)
        x[i] = i % 97 == 96 ? 0xffffffffu - (uint32_t)(i % 3) : key_of(kind, i, (uint64_t)nbins);
    mg_ref_histogram_u32(n, x, nbins, want);
    struct test_buffer from = test_upload(x, (size_t)n * 4, offset * 4);
    for (int variant = MG_BEST; variant < (int)rungs; variant++) {
        struct test_buffer bins = test_alloc(bytes, 4);
        CHECK(mg_histogram_u32(NULL, variant, n, from.at, nbins, bins.at) == MG_KERNELS_OK, "rung %d", variant);
        test_download(&bins, got);
        CHECK(!memcmp(got, want, bytes), "n %lld, %lld bins, keys %d, offset %zu, rung %d", (long long)n,
              (long long)nbins, kind, offset, variant);
        test_free(&bins, "bins");
    }
    test_free(&from, "x");
    free(x);
    free(want);
    free(got);
}

/* Counts wrap at 2^32, and so must not any index; on a GPU with the room, when asked for. */
static void check_large(void)
{
    const int64_t n = (INT64_C(1) << 32) + 4099;
    size_t rungs;
    mg_histogram_variants(&rungs);
    uint8_t *big;
    if (cudaMalloc((void **)&big, (size_t)n) != cudaSuccess) {
        cudaGetLastError();
        puts("more than 2^32 bytes not tested: no room");
        return;
    }
    CUDA(cudaMemset(big, 200, (size_t)n));
    CUDA(cudaMemset(big + n - 5, 9, 5));
    struct test_buffer bins = test_alloc(1024, 0);
    for (int variant = 0; variant < (int)rungs; variant++) {
        uint32_t got[256];
        CHECK(mg_histogram_u8(NULL, variant, n, big, bins.at) == MG_KERNELS_OK, "rung %d", variant);
        test_download(&bins, got);
        for (unsigned i = 0; i < 256; i++)
            CHECK(got[i] == (i == 200 ? 4094u : i == 9 ? 5u : 0u), "rung %d: %u of %u", variant, got[i], i);
    }
    test_free(&bins, "bins");
    CUDA(cudaFree(big));
}

static void check_arguments(void)
{
    struct test_buffer b = test_alloc(4096, 0);
    uint8_t *p = b.at;
    uint32_t *x = b.at, *bins = x + 256;
    size_t rungs;
    mg_histogram_variants(&rungs);
    for (int variant = MG_BEST; variant < (int)rungs; variant++) {
        CHECK(mg_histogram_u8(NULL, variant, -1, p, bins) == MG_KERNELS_ERR_INVALID, "n");
        CHECK(mg_histogram_u8(NULL, variant, 9, NULL, bins) == MG_KERNELS_ERR_INVALID, "x");
        CHECK(mg_histogram_u8(NULL, variant, 9, p, NULL) == MG_KERNELS_ERR_INVALID, "bins");
        CHECK(mg_histogram_u8(NULL, variant, 9, p, (uint32_t *)(p + 2)) == MG_KERNELS_ERR_INVALID, "alignment of bins");
        CHECK(mg_histogram_u8(NULL, variant, 1025, p, bins) == MG_KERNELS_ERR_INVALID, "overlap");
        CHECK(mg_histogram_u32(NULL, variant, 9, x, 0, bins) == MG_KERNELS_ERR_INVALID, "no bins");
        CHECK(mg_histogram_u32(NULL, variant, 9, x, INT64_MAX, bins) == MG_KERNELS_ERR_INVALID, "too many bins");
        CHECK(mg_histogram_u32(NULL, variant, 9, (uint32_t *)(p + 1), 9, bins) == MG_KERNELS_ERR_INVALID, "alignment");
        CHECK(mg_histogram_u32(NULL, variant, 9, x, 9, x + 8) == MG_KERNELS_ERR_INVALID, "overlap");
        CHECK(mg_histogram_u32(NULL, variant, INT64_MAX / 2, x, 9, bins) == MG_KERNELS_ERR_INVALID, "size");
    }
    CHECK(mg_histogram_u8(NULL, -2, 9, p, bins) == MG_KERNELS_ERR_VARIANT, "-2");
    CHECK(mg_histogram_u32(NULL, (int)rungs, 9, x, 9, bins) == MG_KERNELS_ERR_VARIANT, "one too many");
    unsigned char got[4096];
    test_download(&b, got);
    int touched = 0;
    for (size_t i = 0; i < sizeof got; i++)
        touched += got[i] != 0xa5;
    CHECK(!touched, "refused calls wrote %d bytes", touched);
    CHECK(mg_histogram_u32(NULL, MG_BEST, 0, NULL, 9, bins) == MG_KERNELS_OK, "no keys");
    test_download(&b, got);
    for (size_t i = 0; i < 36; i++)
        CHECK(got[1024 + i] == 0, "bins of no keys are not 0");
    test_free(&b, "b");
}

int main(void)
{
    test_begin();
    static const int64_t sizes[] = {0, 1, 15, 16, 17, 31, 33, 255, 257, 1021, 100003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (enum keys kind = RANDOM; kind < KINDS; kind++) {
            check_u8(sizes[i], kind, i * 3 % 16);
            check_u32(sizes[i] % 60000, 256, kind, i % 4);
        }
    static const int64_t bins[] = {1, 2, 31, 33, 257, 1000, 4096, 5000, 12289, 60000};
    for (size_t i = 0; i < sizeof bins / sizeof *bins; i++)
        check_u32(5003, bins[i], (enum keys)(i % KINDS), 1);
    check_u32(3001, 70001, RANDOM, 0); /* several ranges */
    check_u32(3001, 600000, RAMP, 3);  /* and more of them than are worth it */
    if (!test_on_simulator() && getenv("MARGAY_TEST_LARGE"))
        check_large();
    check_arguments();
    return test_end();
}
