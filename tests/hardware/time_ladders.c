/* time_ladders.c - every rung of the collection once at three sizes: launches whose times the model is judged by.
 *
 *     time_ladders [OPERATION...]      all of them unless named; prints a line a call: operation, rung, size
 *
 * Data are made on the host, so that the kernels of the collection are the only ones that are launched. Nothing is
 * verified here: tests/kernels does that.
 */
#include "margay/kernels.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                              \
    do {                                                                                         \
        cudaError_t error = (call);                                                              \
        if (error != cudaSuccess) {                                                              \
            fprintf(stderr, "time_ladders: line %d: %s\n", __LINE__, cudaGetErrorString(error)); \
            exit(1);                                                                             \
        }                                                                                        \
    } while (0)

static int wanted_count;
static char **wanted_names;
static int wanted(const char *name)
{
    for (int i = 0; i < wanted_count; i++)
        if (!strcmp(wanted_names[i], name))
            return 1;
    return wanted_count == 0;
}

/* On the device: floats in 0 … 1, words or bytes at random, or one cycle through all indices. */
enum fill { FLOATS, WORDS, CHAIN, ROOM };
static void *data(size_t bytes, enum fill fill)
{
    void *device;
    CHECK(cudaMalloc(&device, bytes + 256));
    if (fill == ROOM)
        return device;
    uint32_t *host = malloc(bytes + 4), state = 12345;
    if (fill == CHAIN)
        mg_ref_chain((int64_t)(bytes / 4), 1, host);
    for (size_t i = 0; i < bytes / 4 && fill != CHAIN; i++) {
        state = state * 1664525u + 1013904223u;
        float value = (float)(state >> 8) / (float)(1 << 24);
        host[i] = state ^ state >> 16;
        if (fill == FLOATS)
            memcpy(&host[i], &value, 4);
    }
    CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    free(host);
    return device;
}

static void done(const char *operation, const char *rung, int64_t size, enum mg_kernels_status status)
{
    if (status == MG_KERNELS_OK)
        CHECK(cudaDeviceSynchronize());
    printf("%s %s %lld%s%s\n", operation, rung, (long long)size, status ? " " : "",
           status ? mg_kernels_status_text(status) : "");
    fflush(stdout);
}

/* CALL is a call of the rung `v`; one with a workspace is made twice. */
#define LADDER(op, size, CALL)                                      \
    do {                                                            \
        size_t rungs;                                               \
        const struct mg_variant *rung = mg_##op##_variants(&rungs); \
        for (int v = 0; v < (int)rungs; v++) {                      \
            void *space = NULL;                                     \
            size_t room = SIZE_MAX;                                 \
            enum mg_kernels_status status = CALL;                   \
            if (!status && room < SIZE_MAX) {                       \
                CHECK(cudaMalloc(&space, room + 256));              \
                status = CALL;                                      \
            }                                                       \
            done(#op, rung[v].name, size, status);                  \
            CHECK(cudaFree(space));                                 \
        }                                                           \
    } while (0)

static void sequences(int64_t n)
{
    float *x = data((size_t)n * 4, FLOATS), *y = data((size_t)n * 4, FLOATS), *z = data((size_t)n * 4, ROOM);
    uint8_t *bytes = data((size_t)n, WORDS), *mapped = data((size_t)n, ROOM), table[256];
    uint32_t *bins = data(4096, ROOM);
    float weights[9] = {1, 2, 3, 4, 5, 4, 3, 2, 1};
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)(i * 7);
    if (wanted("reduce"))
        LADDER(reduce, n, mg_reduce_f32(NULL, v, MG_REDUCE_SUM, n, x, z, space, &room));
    if (wanted("square_sum"))
        LADDER(square_sum, n, mg_square_sum_f32(NULL, v, n, x, z, space, &room));
    if (wanted("dot"))
        LADDER(dot, n, mg_dot_f32(NULL, v, n, x, y, z, space, &room));
    if (wanted("scan"))
        LADDER(scan, n, mg_scan_f32(NULL, v, MG_SCAN_INCLUSIVE, n, x, z, space, &room));
    if (wanted("stencil1d"))
        LADDER(stencil1d, n, mg_stencil1d_f32(NULL, v, 4, weights, n, x, z));
    if (wanted("histogram"))
        LADDER(histogram, n, mg_histogram_u8(NULL, v, n, bytes, bins));
    if (wanted("lut"))
        LADDER(lut, n, mg_lut_u8(NULL, v, n, bytes, table, mapped, space, &room));
    if (wanted("stream"))
        LADDER(stream, n, mg_stream_f32(NULL, v, n, x, y, z));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFree(z));
    CHECK(cudaFree(bytes));
    CHECK(cudaFree(mapped));
    CHECK(cudaFree(bins));
}

static void matrices(int64_t n)
{
    float *x = data((size_t)(n * n) * 4, FLOATS), *y = data((size_t)(n * n) * 4, FLOATS);
    float *z = data((size_t)(n * n) * 4, ROOM), filter[25];
    for (int i = 0; i < 25; i++) /* a column times a row, so that all rungs can do it */
        filter[i] = (float)(1 + i / 5) * (float)(1 + i % 5) / 225;
    if (wanted("transpose"))
        LADDER(transpose, n, mg_transpose_b32(NULL, v, n, n, x, n, z, n));
    if (wanted("conv2d"))
        LADDER(conv2d, n, mg_conv2d_f32(NULL, v, n, n, x, n, 5, 5, filter, z, n));
    int64_t m = n * 3 / 8;
    if (wanted("gemm"))
        LADDER(gemm, m, mg_gemm_f32(NULL, v, m, m, m, 1, x, m, y, m, 0, z, m));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFree(z));
}

static void patterns(int64_t blocks, int64_t rounds)
{
    uint32_t *out = data((size_t)blocks * 256 * 4, ROOM);
    if (wanted("banks"))
        LADDER(banks, blocks * rounds, mg_banks_u32(NULL, v, blocks, rounds, out));
    CHECK(cudaFree(out));
}

static void levels(int64_t steps)
{
    static const int64_t words[] = {8192, 8192, 8192, 1 << 20, 1 << 24};
    uint32_t *out = data(64, ROOM), *x[5];
    for (int i = 0; i < 5; i++)
        x[i] = data((size_t)words[i] * 4, CHAIN);
    if (wanted("hierarchy"))
        LADDER(hierarchy, steps,
               mg_hierarchy_u32(NULL, v, words[v % 5], x[v % 5], v < 5 ? steps * 16 : steps, out, NULL));
    CHECK(cudaFree(out));
    for (int i = 0; i < 5; i++)
        CHECK(cudaFree(x[i]));
}

int main(int argc, char **argv)
{
    wanted_count = argc - 1;
    wanted_names = argv + 1;
    for (int size = 0; size < 3; size++) {
        sequences((int64_t)1 << (14 + 4 * size));
        matrices((int64_t[]){256, 1024, 2048}[size]);
        patterns((int64_t[]){1, 132, 1056}[size], (int64_t[]){512, 64, 256}[size]);
        levels((int64_t[]){8, 32, 128}[size]);
    }
    return 0;
}
