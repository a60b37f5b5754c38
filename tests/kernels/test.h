/* test.h - what the tests of the collection share. They run where the library runs: on a GPU with NVIDIA's runtime and
 * under `margay run` without one; so they are plain programs that want nothing but the CUDA runtime, and exit with 0
 * or 1.
 *
 * Device buffers have guard zones on both sides, filled with a pattern and looked at when the buffer is freed, and may
 * start at any byte: a rung that writes out of its output, or counts on more alignment than it may, is found on any
 * machine.
 */
#ifndef MG_TEST_KERNELS_H
#define MG_TEST_KERNELS_H
#include "margay/kernels.h"

#include <cuda_runtime_api.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned test_checks, test_failures;
static uint64_t test_digest = 0xcbf29ce484222325u; /* FNV-1a of all that test_download gave */

/* Counts a check; says so when it does not hold (the first twenty times). */
#define CHECK(condition, ...)                                                  \
    do {                                                                       \
        test_checks++;                                                         \
        if (!(condition) && test_failures++ < 20) {                            \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);    \
            fprintf(stderr, __VA_ARGS__);                                      \
            fputc('\n', stderr);                                               \
        }                                                                      \
    } while (0)

#define CUDA(call)                                                                                       \
    do {                                                                                                 \
        cudaError_t error_ = (call);                                                                     \
        if (error_ != cudaSuccess) {                                                                     \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));   \
            exit(1);                                                                                     \
        }                                                                                                \
    } while (0)

/* True under `margay run` and its like, and where MARGAY_TEST_SMALL is set
 * (compute-sanitizer): sizes are kept small. */
static inline bool test_on_simulator(void)
{
    return getenv("MARGAY_MODE") != NULL || getenv("MARGAY_TEST_SMALL") != NULL;
}

/* A device is there at all; else the test says so and ends with 77, which CTest takes for skipped. */
static inline void test_begin(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        puts("skipped: no GPU, and not under margay run");
        exit(77);
    }
}

static inline int test_end(void)
{
    CUDA(cudaDeviceSynchronize());
    const char *recorded = getenv("MARGAY_TEST_RESULTS");
    if (recorded)
        CHECK(strtoull(recorded, NULL, 16) == test_digest,
              "these are not an H100's results to the last bit (tests/kernels/h100.txt; another nvcc than the one "
              "named there may fuse other products and sums)");
    printf("%u checks, %u failed, results %016llx\n", test_checks, test_failures, (unsigned long long)test_digest);
    return test_failures ? 1 : 0;
}

/* ---- numbers: the same sequence everywhere ---- */
static inline uint32_t test_random(uint32_t *state)
{
    uint32_t x = *state += 0x9e3779b9u;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}
static inline float test_random_f32(uint32_t *state) /* in [-1, 1) */
{
    return (float)((int32_t)test_random(state) >> 8) * 0x1p-23f;
}
/* Equal to the last bit, or both NaN. */
static inline bool test_same_f32(float a, float b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

/* ---- device buffers ---- */
enum { TEST_GUARD = 1024 };
struct test_buffer {
    void *at; /* device address of the first byte */
    size_t size;
    unsigned char *base;
    size_t offset;
};
/* `offset`: bytes beyond 256-byte alignment at which the buffer starts. Its bytes are 0xa5,
 * like those of the guards. */
static inline struct test_buffer test_alloc(size_t size, size_t offset)
{
    struct test_buffer b = {.size = size, .offset = offset};
    size_t whole = size + offset + 2 * TEST_GUARD;
    CUDA(cudaMalloc((void **)&b.base, whole));
    CUDA(cudaMemset(b.base, 0xa5, whole));
    /* neither this nor a copy of pageable memory is waited for by streams of their own */
    CUDA(cudaDeviceSynchronize());
    b.at = b.base + TEST_GUARD + offset;
    return b;
}
static inline struct test_buffer test_upload(const void *data, size_t size, size_t offset)
{
    struct test_buffer b = test_alloc(size, offset);
    if (size)
        CUDA(cudaMemcpy(b.at, data, size, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    return b;
}
/* For results whose bits are not the same in every run: cycles, and where kernels.h says "order varies". */
static inline void test_download_varying(const struct test_buffer *b, void *data)
{
    if (b->size)
        CUDA(cudaMemcpy(data, b->at, b->size, cudaMemcpyDeviceToHost));
}
/* A type whose sums depend on the order of additions: a floating-point one. */
#define TEST_ORDER_MATTERS(TYPE) ((TYPE)0.5 != 0)
/* Results go into the digest that the test ends with, in the order of these calls: from one thread only. */
static inline void test_download(const struct test_buffer *b, void *data)
{
    test_download_varying(b, data);
    for (size_t i = 0; i < b->size; i++)
        test_digest = (test_digest ^ ((unsigned char *)data)[i]) * 0x100000001b3u;
}
/* Looks at the guards, and frees. `what` names the buffer in the complaint. */
static inline void test_free(struct test_buffer *b, const char *what)
{
    unsigned char guard[TEST_GUARD + 256];
    size_t before = TEST_GUARD + b->offset;
    CUDA(cudaMemcpy(guard, b->base, before, cudaMemcpyDeviceToHost));
    size_t i = 0;
    while (i < before && guard[i] == 0xa5)
        i++;
    CHECK(i == before, "%s: written %zu bytes before its start", what, before - i);
    CUDA(cudaMemcpy(guard, (unsigned char *)b->at + b->size, TEST_GUARD, cudaMemcpyDeviceToHost));
    for (i = 0; i < TEST_GUARD && guard[i] == 0xa5;)
        i++;
    CHECK(i == TEST_GUARD, "%s: written %zu bytes past its end", what, i);
    CUDA(cudaFree(b->base));
    b->base = NULL;
}

/* A workspace of just the bytes that were asked for, guarded; contents are junk, as the convention allows. */
static inline struct test_buffer test_workspace(size_t bytes)
{
    return test_alloc(bytes, 0);
}
#endif
