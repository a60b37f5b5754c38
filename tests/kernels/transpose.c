/* transpose.c - every rung of transpose against plain C: shapes, leading dimensions, alignments, and what lies between
 * the rows of y, which must not change. Elements are moved bit by bit, so that there is no error to allow. */
#include "test.h"

static uint32_t seed = 1;

static enum mg_kernels_status call(int size, struct CUstream_st *stream, int variant, int64_t rows, int64_t cols,
                                   const void *x, int64_t ldx, void *y, int64_t ldy)
{
    return size == 4 ? mg_transpose_b32(stream, variant, rows, cols, x, ldx, y, ldy)
                     : mg_transpose_b64(stream, variant, rows, cols, x, ldx, y, ldy);
}

/* One shape, all rungs and MG_BEST; `offset` elements beyond alignment. */
static void check_shape(int size, int64_t rows, int64_t cols, int64_t ldx, int64_t ldy, size_t offset)
{
    size_t rungs, bytes = (size_t)size;
    mg_transpose_variants(&rungs);
    size_t nx = rows && cols ? (size_t)((rows - 1) * ldx + cols) * bytes : 0;
    size_t ny = rows && cols ? (size_t)((cols - 1) * ldy + rows) * bytes : 0;
    unsigned char *x = malloc(nx + 1), *want = malloc(ny + 1), *got = malloc(ny + 1);
    for (size_t i = 0; i < nx; i++)
        x[i] = (unsigned char)test_random(&seed);
    memset(want, 0xa5, ny + 1);
    if (size == 4)
        mg_ref_transpose_b32(rows, cols, x, ldx, want, ldy);
    else
        mg_ref_transpose_b64(rows, cols, x, ldx, want, ldy);
    struct test_buffer from = test_upload(x, nx, offset * bytes);
    for (int variant = MG_BEST; variant < (int)rungs; variant++) {
        struct test_buffer to = test_alloc(ny, offset * bytes);
        enum mg_kernels_status status = call(size, NULL, variant, rows, cols, from.at, ldx, to.at, ldy);
        CHECK(status == MG_KERNELS_OK, "%s", mg_kernels_status_name(status));
        test_download(&to, got);
        CHECK(memcmp(got, want, ny) == 0, "b%d %lld x %lld, ldx %lld ldy %lld, offset %zu, rung %d", size * 8,
              (long long)rows, (long long)cols, (long long)ldx, (long long)ldy, offset, variant);
        test_free(&to, "y");
    }
    test_download(&from, x);
    test_free(&from, "x");
    free(x);
    free(want);
    free(got);
}

static void check_shapes(void)
{
    static const int64_t shapes[][2] = {{0, 5},   {5, 0},   {0, 0},     {1, 1},     {1, 257},   {257, 1},   {2, 3},
                                        {31, 33}, {33, 31}, {32, 32},   {64, 64},   {127, 131}, {255, 257}, {128, 192},
                                        {36, 68}, {68, 36}, {260, 132}, {101, 103}, {3, 1021},  {1021, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int size = 4; size <= 8; size += 4) {
            int64_t rows = shapes[i][0], cols = shapes[i][1];
            check_shape(size, rows, cols, cols, rows, 0);
            check_shape(size, rows, cols, cols + 3, rows + 1, 1);
            check_shape(size, rows, cols, (cols + 7) / 4 * 4, (rows + 11) / 4 * 4, 0);
        }
    check_shape(4, 520, 516, 516, 520, 0); /* more than one strip of tiles, the last ones not whole */
    check_shape(8, 260, 260, 260, 260, 0);
}

/* More rows of tiles than a grid has in y. */
static void check_tall(void)
{
    check_shape(4, 65536 * 32 + 4, 4, 4, 65536 * 32 + 4, 0);
}

/* Offsets beyond 2^31 elements, with few elements: only the rows are written and read. */
static void check_far(void)
{
    enum { ROWS = 3, COLS = 37 };
    const int64_t far = (INT64_C(1) << 30) + 4;
    size_t rungs, bytes = ((size_t)far * 2 + COLS) * 4;
    mg_transpose_variants(&rungs);
    uint32_t *wide, *narrow, x[ROWS * COLS], got[ROWS * COLS];
    if (cudaMalloc((void **)&wide, bytes) != cudaSuccess) {
        cudaGetLastError();
        puts("far offsets not tested: no room for 8 GB");
        return;
    }
    CUDA(cudaMalloc((void **)&narrow, sizeof x));
    for (int i = 0; i < ROWS * COLS; i++)
        x[i] = test_random(&seed);
    for (int variant = MG_BEST; variant < (int)rungs; variant++) {
        for (int r = 0; r < ROWS; r++)
            CUDA(cudaMemcpy(wide + r * far, x + r * COLS, COLS * 4, cudaMemcpyHostToDevice));
        CHECK(mg_transpose_b32(NULL, variant, ROWS, COLS, wide, far, narrow, ROWS) == MG_KERNELS_OK, "rung %d",
              variant);
        CUDA(cudaMemcpy(got, narrow, sizeof got, cudaMemcpyDeviceToHost));
        int wrong = 0;
        for (int i = 0; i < ROWS * COLS; i++)
            wrong += got[i % COLS * ROWS + i / COLS] != x[i];
        CHECK(!wrong, "rung %d: %d of %d wrong when x is far apart", variant, wrong, ROWS * COLS);
        for (int r = 0; r < ROWS; r++)
            CUDA(cudaMemset(wide + r * far, 0, COLS * 4));
        CHECK(mg_transpose_b32(NULL, variant, COLS, ROWS, narrow, ROWS, wide, far) == MG_KERNELS_OK, "rung %d",
              variant);
        for (int r = 0; r < ROWS; r++)
            CUDA(cudaMemcpy(got + r * COLS, wide + r * far, COLS * 4, cudaMemcpyDeviceToHost));
        CHECK(!memcmp(got, x, sizeof x), "rung %d: y far apart", variant);
    }
    CUDA(cudaFree(wide));
    CUDA(cudaFree(narrow));
}

/* Two matrices side by side in one buffer, on a stream; then arguments that must be refused. */
static void check_arguments(void)
{
    struct test_buffer b = test_alloc(64 * 64 * 4, 0);
    static uint32_t host[64 * 64];
    for (int i = 0; i < 64 * 64; i++)
        host[i] = test_random(&seed);
    CUDA(cudaMemcpy(b.at, host, sizeof host, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    uint32_t *p = b.at;
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(mg_transpose_b32(stream, MG_BEST, 30, 32, p, 64, p + 32, 64) == MG_KERNELS_OK, "side by side");
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaStreamDestroy(stream));
    static uint32_t got[64 * 64];
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < 32; j++)
            host[j * 64 + 32 + i] = host[i * 64 + j];
    test_download(&b, got);
    CHECK(!memcmp(host, got, sizeof got), "side by side");

    size_t rungs;
    mg_transpose_variants(&rungs);
    for (int size = 4; size <= 8; size += 4)
        for (int variant = MG_BEST; variant < (int)rungs; variant++) {
            uint32_t *q = p + 32 * 64;
            CHECK(call(size, NULL, variant, -1, 4, p, 4, q, 4) == MG_KERNELS_ERR_INVALID, "rows");
            CHECK(call(size, NULL, variant, 4, -1, p, 4, q, 4) == MG_KERNELS_ERR_INVALID, "cols");
            CHECK(call(size, NULL, variant, 4, 5, p, 4, q, 4) == MG_KERNELS_ERR_INVALID, "ldx");
            CHECK(call(size, NULL, variant, 5, 4, p, 4, q, 4) == MG_KERNELS_ERR_INVALID, "ldy");
            CHECK(call(size, NULL, variant, 4, 4, NULL, 4, q, 4) == MG_KERNELS_ERR_INVALID, "x");
            CHECK(call(size, NULL, variant, 4, 4, p, 4, NULL, 4) == MG_KERNELS_ERR_INVALID, "y");
            CHECK(call(size, NULL, variant, 4, 4, (char *)p + 1, 4, q, 4) == MG_KERNELS_ERR_INVALID, "alignment");
            CHECK(call(size, NULL, variant, 4, 4, p, 4, p, 4) == MG_KERNELS_ERR_INVALID, "in place");
            CHECK(call(size, NULL, variant, 4, 4, p, 4, p + 14, 4) == MG_KERNELS_ERR_INVALID,
                  "overlap at the end of x");
            CHECK(call(size, NULL, variant, 4, 4, p + 14, 4, p, 4) == MG_KERNELS_ERR_INVALID,
                  "overlap at the end of y");
            CHECK(call(size, NULL, variant, 4, 4, p, 8, p + 8, 4) == MG_KERNELS_ERR_INVALID, "y within x");
            CHECK(call(size, NULL, variant, 4, 4, p, INT64_MAX, q, 4) == MG_KERNELS_ERR_INVALID, "size of x");
            CHECK(call(size, NULL, variant, 4, 4, p, 4, q, INT64_MAX / 8) == MG_KERNELS_ERR_INVALID, "size of y");
            CHECK(call(size, NULL, variant, 0, 4, NULL, 4, NULL, 0) == MG_KERNELS_OK, "nothing to do");
        }
    CHECK(mg_transpose_b32(NULL, -2, 4, 4, p, 4, p + 64, 4) == MG_KERNELS_ERR_VARIANT, "-2");
    CHECK(mg_transpose_b64(NULL, (int)rungs, 4, 4, p, 4, p + 64, 4) == MG_KERNELS_ERR_VARIANT, "one too many");
    test_download(&b, got);
    CHECK(!memcmp(host, got, sizeof got), "refused calls wrote");
    test_free(&b, "b");
}

int main(void)
{
    test_begin();
    check_shapes();
    check_tall();
    check_far();
    check_arguments();
    return test_end();
}
