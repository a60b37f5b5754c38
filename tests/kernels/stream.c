/* stream.c - every order of stream against a + b on the host: each element must be written, whatever n is. The sum is
 * one rounding, the same everywhere. */
#include "test.h"

static uint32_t seed = 2;

static void check_size(int64_t n, size_t offset_a, size_t offset_b, size_t offset_c)
{
    size_t rungs, bytes = (size_t)n * sizeof(float);
    mg_stream_variants(&rungs);
    float *a = malloc(bytes + 4), *b = malloc(bytes + 4), *want = malloc(bytes + 4), *got = malloc(bytes + 4);
    static const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, FLT_MIN / 4, -FLT_MIN / 4, FLT_MAX, 1.0f};
    for (int64_t i = 0; i < n; i++) {
        a[i] = i < 81 ? special[i % 9] : test_random_f32(&seed);
        b[i] = i < 81 ? special[i / 9] : test_random_f32(&seed);
        want[i] = a[i] + b[i];
    }
    struct test_buffer da = test_upload(a, bytes, offset_a * 4), db = test_upload(b, bytes, offset_b * 4);
    for (int variant = MG_BEST; variant < (int)rungs; variant++) {
        struct test_buffer dc = test_alloc(bytes, offset_c * 4);
        CHECK(mg_stream_f32(NULL, variant, n, da.at, db.at, dc.at) == MG_KERNELS_OK, "n %lld", (long long)n);
        test_download(&dc, got);
        int64_t wrong = 0;
        for (int64_t i = 0; i < n; i++)
            wrong += !test_same_f32(got[i], want[i]);
        CHECK(wrong == 0, "n %lld, rung %d: %lld wrong", (long long)n, variant, (long long)wrong);
        test_free(&dc, "c");
    }
    test_free(&da, "a");
    test_free(&db, "b");
    free(a);
    free(b);
    free(want);
    free(got);
}

/* More elements than 32 bits count; on a GPU with the room, when asked for (MARGAY_TEST_LARGE). */
static void check_large(void)
{
    const int64_t n = (INT64_C(1) << 31) + 33;
    size_t rungs, bytes = (size_t)n * sizeof(float);
    mg_stream_variants(&rungs);
    float *p[3] = {0};
    for (int i = 0; i < 3; i++)
        if (cudaMalloc((void **)&p[i], bytes) != cudaSuccess) {
            cudaGetLastError();
            puts("more than 2^31 elements not tested: no room");
            goto done;
        }
    CUDA(cudaMemset(p[0], 0x3c, bytes));
    CUDA(cudaMemset(p[1], 0x3c, bytes));
    float word, got[64];
    memset(&word, 0x3c, sizeof word);
    for (int variant = 0; variant < (int)rungs; variant++) {
        CUDA(cudaMemset(p[2], 0, bytes));
        CHECK(mg_stream_f32(NULL, variant, n, p[0], p[1], p[2]) == MG_KERNELS_OK, "rung %d", variant);
        for (int64_t at = 0; at + 64 <= n;
             at += at + 64 + 97 * 1024 * 1024 > n - 64 && at < n - 64 ? n - 64 - at : 97 * 1024 * 1024) {
            CUDA(cudaMemcpy(got, p[2] + at, sizeof got, cudaMemcpyDeviceToHost));
            for (int i = 0; i < 64; i++)
                CHECK(got[i] == word + word, "rung %d, element %lld", variant, (long long)at + i);
        }
    }
done:
    for (int i = 0; i < 3; i++)
        CUDA(cudaFree(p[i]));
}

static void check_arguments(void)
{
    struct test_buffer b = test_alloc(4096, 0);
    float *p = b.at;
    size_t rungs;
    mg_stream_variants(&rungs);
    for (int variant = MG_BEST; variant < (int)rungs; variant++) {
        CHECK(mg_stream_f32(NULL, variant, -1, p, p + 64, p + 128) == MG_KERNELS_ERR_INVALID, "n");
        CHECK(mg_stream_f32(NULL, variant, INT64_MAX, p, p + 64, p + 128) == MG_KERNELS_ERR_INVALID, "n");
        CHECK(mg_stream_f32(NULL, variant, 9, NULL, p + 64, p + 128) == MG_KERNELS_ERR_INVALID, "a");
        CHECK(mg_stream_f32(NULL, variant, 9, p, NULL, p + 128) == MG_KERNELS_ERR_INVALID, "b");
        CHECK(mg_stream_f32(NULL, variant, 9, p, p + 64, NULL) == MG_KERNELS_ERR_INVALID, "c");
        CHECK(mg_stream_f32(NULL, variant, 9, p, p + 64, p + 8) == MG_KERNELS_ERR_INVALID, "a over c");
        CHECK(mg_stream_f32(NULL, variant, 9, p, p + 64, p + 56) == MG_KERNELS_ERR_INVALID, "c over b");
        CHECK(mg_stream_f32(NULL, variant, 9, p, p + 64, (float *)((char *)p + 513)) == MG_KERNELS_ERR_INVALID,
              "alignment");
        CHECK(mg_stream_f32(NULL, variant, 0, NULL, NULL, NULL) == MG_KERNELS_OK, "nothing to do");
    }
    CHECK(mg_stream_f32(NULL, -2, 9, p, p + 64, p + 128) == MG_KERNELS_ERR_VARIANT, "-2");
    CHECK(mg_stream_f32(NULL, (int)rungs, 9, p, p + 64, p + 128) == MG_KERNELS_ERR_VARIANT, "one too many");
    unsigned char got[4096];
    test_download(&b, got);
    int touched = 0;
    for (size_t i = 0; i < sizeof got; i++)
        touched += got[i] != 0xa5;
    CHECK(!touched, "refused calls wrote %d bytes", touched);
    CHECK(mg_stream_f32(NULL, 0, 9, p, p, p + 128) == MG_KERNELS_OK, "a may be b");
    test_free(&b, "b");
}

int main(void)
{
    test_begin();
    static const int64_t sizes[] = {0,  1,  2,   3,   15,  16,  17,   31,   32,    33,    63,
                                    64, 65, 127, 255, 256, 257, 1021, 4099, 65536, 100003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_size(sizes[i], i % 3, i % 5, i % 4);
    if (!test_on_simulator() && getenv("MARGAY_TEST_LARGE"))
        check_large();
    check_arguments();
    return test_end();
}
