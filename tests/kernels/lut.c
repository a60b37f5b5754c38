/* lut.c - every rung of lut against plain C: sizes, alignments alike and unlike, in place, several threads at once. */
#include "test.h"

#include <pthread.h>

enum { MOST = 70000 };
static uint8_t table[256], x[MOST], want[MOST];

/* One call on its own stream with the workspace that it asks for. */
static enum mg_kernels_status call(struct CUstream_st *stream, int variant, int64_t n, const void *from, void *to)
{
    size_t bytes = 0;
    enum mg_kernels_status status = mg_lut_u8(stream, variant, n, from, table, to, NULL, &bytes);
    CHECK(status == MG_KERNELS_OK && bytes >= 1, "query: %s, %zu bytes", mg_kernels_status_name(status), bytes);
    struct test_buffer workspace = test_workspace(bytes);
    status = mg_lut_u8(stream, variant, n, from, table, to, workspace.at, &bytes);
    CUDA(cudaStreamSynchronize(stream));
    test_free(&workspace, "workspace");
    return status;
}

static void check_size(int64_t n, size_t offset_x, size_t offset_y)
{
    static uint8_t got[MOST];
    size_t rungs;
    mg_lut_variants(&rungs);
    mg_ref_lut_u8(n, x, table, want);
    for (int variant = MG_BEST; variant < (int)rungs; variant++) {
        struct test_buffer from = test_upload(x, (size_t)n, offset_x), to = test_alloc((size_t)n, offset_y);
        CHECK(call(NULL, variant, n, from.at, to.at) == MG_KERNELS_OK, "rung %d", variant);
        test_download(&to, got);
        CHECK(!memcmp(got, want, (size_t)n), "n %lld, offsets %zu %zu, rung %d", (long long)n, offset_x, offset_y,
              variant);
        CHECK(call(NULL, variant, n, from.at, from.at) == MG_KERNELS_OK, "rung %d", variant);
        test_download(&from, got);
        CHECK(!memcmp(got, want, (size_t)n), "in place, n %lld, offset %zu, rung %d", (long long)n, offset_x, variant);
        test_free(&from, "x");
        test_free(&to, "y");
    }
}

/* The table is a parameter: it is free to change as soon as the call is back, and calls of other threads have their
 * own. */
static void *thread(void *argument)
{
    const int k = *(int *)argument;
    size_t rungs, bytes;
    mg_lut_variants(&rungs);
    uint8_t own[256], got[1000];
    struct test_buffer from = test_upload(x, sizeof got, 0), to = test_alloc(sizeof got, 0);
    struct test_buffer workspace = test_workspace(256);
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    int wrong = 0;
    for (int turn = 0; turn < 8; turn++) {
        for (int i = 0; i < 256; i++)
            own[i] = (uint8_t)(i + k * 31 + turn);
        bytes = 256;
        wrong += mg_lut_u8(stream, turn % (int)rungs, sizeof got, from.at, own, to.at, workspace.at, &bytes) !=
                 MG_KERNELS_OK;
        memset(own, 0, sizeof own);
        CUDA(cudaMemcpyAsync(got, to.at, sizeof got, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamSynchronize(stream));
        for (size_t i = 0; i < sizeof got; i++)
            wrong += got[i] != (uint8_t)(x[i] + k * 31 + turn);
    }
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(from.base));
    CUDA(cudaFree(to.base));
    CUDA(cudaFree(workspace.base));
    return wrong ? argument : NULL;
}

static void check_threads(void)
{
    enum { THREADS = 4 };
    pthread_t id[THREADS];
    int number[THREADS];
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        CHECK(pthread_create(&id[i], NULL, thread, &number[i]) == 0, "pthread_create");
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(id[i], &wrong);
        CHECK(!wrong, "thread %d", i);
    }
}

/* More bytes than 32 bits count; on a GPU with the room, when asked for. The histogram says what was written. */
static void check_large(void)
{
    const int64_t n = (INT64_C(1) << 32) + 4099;
    size_t rungs;
    mg_lut_variants(&rungs);
    uint8_t *big;
    if (cudaMalloc((void **)&big, (size_t)n) != cudaSuccess) {
        cudaGetLastError();
        puts("more than 2^32 bytes not tested: no room");
        return;
    }
    struct test_buffer bins = test_alloc(1024, 0);
    for (int variant = 0; variant < (int)rungs; variant++) {
        uint32_t got[256];
        CUDA(cudaMemset(big, 7, (size_t)n));
        CHECK(call(NULL, variant, n, big, big) == MG_KERNELS_OK, "rung %d", variant);
        CHECK(mg_histogram_u8(NULL, MG_BEST, n, big, bins.at) == MG_KERNELS_OK, "histogram");
        test_download(&bins, got);
        for (unsigned i = 0; i < 256; i++)
            CHECK(got[i] == (i == table[7] ? 4099u : 0u), "rung %d: %u of %u", variant, got[i], i);
    }
    test_free(&bins, "bins");
    CUDA(cudaFree(big));
}

static void check_arguments(void)
{
    struct test_buffer b = test_alloc(4096, 0);
    uint8_t *p = b.at;
    size_t rungs, bytes;
    mg_lut_variants(&rungs);
    for (int variant = MG_BEST; variant < (int)rungs; variant++) {
        bytes = 256;
        CHECK(mg_lut_u8(NULL, variant, -1, p, table, p, p + 1024, &bytes) == MG_KERNELS_ERR_INVALID, "n");
        CHECK(mg_lut_u8(NULL, variant, 9, NULL, table, p, p + 1024, &bytes) == MG_KERNELS_ERR_INVALID, "x");
        CHECK(mg_lut_u8(NULL, variant, 9, p, NULL, p, p + 1024, &bytes) == MG_KERNELS_ERR_INVALID, "table");
        CHECK(mg_lut_u8(NULL, variant, 9, p, table, NULL, p + 1024, &bytes) == MG_KERNELS_ERR_INVALID, "y");
        CHECK(mg_lut_u8(NULL, variant, 9, p, table, p + 8, p + 1024, &bytes) == MG_KERNELS_ERR_INVALID, "overlap");
        CHECK(mg_lut_u8(NULL, variant, 9, p, table, p, p + 1024, NULL) == MG_KERNELS_ERR_INVALID, "no size");
        CHECK(mg_lut_u8(NULL, variant, 9, p, table, p, p + 1025, &bytes) == MG_KERNELS_ERR_WORKSPACE, "alignment");
        bytes = 0;
        CHECK(mg_lut_u8(NULL, variant, 9, p, table, p, p + 1024, &bytes) == MG_KERNELS_ERR_WORKSPACE, "too small");
        CHECK(bytes == 0, "written with a workspace given");
        bytes = 256;
        CHECK(mg_lut_u8(NULL, variant, 0, NULL, NULL, NULL, p + 1024, &bytes) == MG_KERNELS_OK, "nothing to do");
    }
    bytes = 255;
    CHECK(mg_lut_u8(NULL, 0, 9, p, table, p, p + 1024, &bytes) == MG_KERNELS_ERR_WORKSPACE, "the table's 256 bytes");
    CHECK(mg_lut_u8(NULL, -2, 9, p, table, p, p + 1024, &bytes) == MG_KERNELS_ERR_VARIANT, "-2");
    CHECK(mg_lut_u8(NULL, (int)rungs, 9, p, table, p, p + 1024, &bytes) == MG_KERNELS_ERR_VARIANT, "one too many");
    unsigned char got[4096];
    test_download(&b, got);
    int touched = 0;
    for (size_t i = 0; i < sizeof got; i++)
        touched += got[i] != 0xa5;
    CHECK(!touched, "refused calls wrote %d bytes", touched);
    test_free(&b, "b");
}

int main(void)
{
    test_begin();
    uint32_t seed = 3;
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)test_random(&seed);
    for (int i = 0; i < MOST; i++)
        x[i] = (uint8_t)(i < 256 ? (uint32_t)i : test_random(&seed)); /* every entry is asked for */
    static const int64_t sizes[] = {0, 1, 3, 15, 16, 17, 31, 33, 64, 255, 257, 1021, 4099};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_size(sizes[i], 0, 0);
        check_size(sizes[i], 5, 5);
        check_size(sizes[i], 13, 1);
        check_size(sizes[i], 2, 7);
    }
    check_size(MOST, 1, 17);
    check_threads();
    if (!test_on_simulator() && getenv("MARGAY_TEST_LARGE"))
        check_large();
    check_arguments();
    return test_end();
}
