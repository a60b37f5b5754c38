/* hierarchy.c - where every chase ends and what every stream sums to, at sizes and alignments that find mistakes; that
 * a chain visits every word once; wrong arguments; several host threads. How fast it is, is no business of a test. */
#include "test.h"

#include <pthread.h>

static int rungs;

static int find(const char *name)
{
    size_t count;
    const struct mg_variant *v = mg_hierarchy_variants(&count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(v[i].name, name))
            return (int)i;
    CHECK(false, "no rung is called %s", name);
    return 0;
}

/* Runs one call on words at `offset` bytes from a multiple of 16; out[0], and the bytes. */
static uint32_t run(int variant, int64_t n, const uint32_t *words, size_t offset, int64_t steps, uint64_t *bytes)
{
    uint32_t got[3];
    struct test_buffer x = test_upload(words, (size_t)n * 4, offset), out = test_alloc(sizeof got, 4);
    int status = mg_hierarchy_u32(NULL, variant, n, x.at, steps, out.at, bytes);
    CHECK(status == MG_KERNELS_OK, "rung %d, n %lld: %d", variant, (long long)n, status);
    test_download_varying(&out, got);
    test_download(&(struct test_buffer){.at = out.at, .size = sizeof *got}, got); /* the others are cycles */
    bool latency = variant >= 0 && variant < find("registers bandwidth");
    if (!latency)
        CHECK(got[1] == 0 && got[2] == 0, "rung %d: a stream has no cycles", variant);
    else if (!test_on_simulator())
        CHECK(((got[1] | got[2]) == 0) == (n == 0 || steps == 0), "rung %d: cycles %u", variant, got[1]);
    test_free(&x, "x");
    test_free(&out, "out");
    return got[0];
}

static void check(int variant, int64_t n, const uint32_t *words, size_t offset, int64_t steps)
{
    uint64_t bytes = 12345;
    uint32_t got = run(variant, n, words, offset, steps, &bytes);
    uint32_t want = mg_ref_hierarchy_u32(variant, n, words, steps, bytes);
    CHECK(got == want, "rung %d n %lld steps %lld offset %zu: %u, not %u", variant, (long long)n, (long long)steps,
          offset, got, want);
    CHECK((bytes == 0) == (n == 0 || steps == 0), "rung %d: %llu bytes", variant, (unsigned long long)bytes);
}

static void sizes(void)
{
    static const int64_t n[] = {0, 1, 2, 3, 4, 5, 31, 33, 255, 257, 4099, 8192}, steps[] = {0, 1, 7, 8, 19};
    static uint32_t words[8192];
    for (size_t s = 0; s < sizeof n / sizeof *n; s++) {
        mg_ref_chain(n[s], (uint32_t)s, words);
        for (int v = 0; v < rungs; v++) /* all numbers of steps for a chase; a stream has all threads of a device */
            for (size_t t = v < 5 ? 0 : s % 5; t < sizeof steps / sizeof *steps; t += v < 5 ? 1 : 5)
                check(v, n[s], words, s % 4 * 4, steps[t]);
    }
    mg_ref_chain(8192, 7, words);
    for (int v = 0; v < rungs; v++)
        check(v, 8192, words, 0, v < 5 ? 1000 : 25);
    check(MG_BEST, 8192, words, 4, 9);
    check(find("L2 bandwidth"), 8191, words, 8, 13);
}

/* What the reference says is worked out once more, without it. */
static void meaning(void)
{
    enum { N = 1021 };
    uint32_t words[N], seen[N] = {0}, at = 0;
    mg_ref_chain(N, 3, words);
    for (int i = 0; i < N; i++) {
        CHECK(seen[at] == 0, "index %u is visited twice", at);
        seen[at] = 1;
        at = words[at];
    }
    CHECK(at == 0, "the chain ends at %u", at);
    for (int v = find("shared latency"); v <= find("global latency"); v++)
        CHECK(run(v, N, words, 0, 2 * N + 1, NULL) == words[0], "rung %d: not twice around", v);
    for (int i = 0; i < N; i++)
        words[i] = 1;
    for (int v = find("registers bandwidth"); v < rungs; v++) {
        uint64_t bytes = 0;
        uint32_t sum = run(v, N, words, 0, 11, &bytes);
        CHECK(sum == bytes / (v == find("registers bandwidth") ? 12 : 4), "rung %d: %u words of %llu bytes", v, sum,
              (unsigned long long)bytes);
    }
    uint32_t number = 5, other[1] = {77};
    CHECK(run(find("registers latency"), 1, &number, 4, 2, NULL) == 5u * 1664525u + 5u, "registers latency");
    CHECK(run(find("global bandwidth"), 1, other, 4, 0, NULL) == 0, "no steps");
}

static void arguments(void)
{
    uint32_t ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, got[8];
    struct test_buffer x = test_upload(ones, sizeof ones, 0), out = test_upload(ones, sizeof ones, 0);
#define EXPECT(want, ...)                                                                                          \
    do {                                                                                                           \
        int status_ = (int)mg_hierarchy_u32(NULL, __VA_ARGS__, NULL);                                              \
        CHECK(status_ == (want), "%s: %s", #__VA_ARGS__, mg_kernels_status_name((enum mg_kernels_status)status_)); \
    } while (0)
    for (int v = MG_BEST; v < rungs; v++) {
        EXPECT(MG_KERNELS_ERR_INVALID, v, -1, x.at, 8, out.at);
        EXPECT(MG_KERNELS_ERR_INVALID, v, INT64_MAX, x.at, 8, out.at);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 8, x.at, -1, out.at);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 8, x.at, INT64_MAX, out.at);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 8, NULL, 8, out.at);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 8, x.at, 8, NULL);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 4, (uint32_t *)((char *)x.at + 2), 8, out.at);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 4, x.at, 8, (uint32_t *)((char *)out.at + 1));
        EXPECT(MG_KERNELS_ERR_INVALID, v, 4, out.at, 8, (uint32_t *)out.at + 3);
        EXPECT(MG_KERNELS_ERR_INVALID, v, 4, (uint32_t *)out.at + 2, 8, out.at);
    }
    static const struct {
        const char *name;
        int64_t words;
    } most[] = {{"shared latency", 8192}, {"shared bandwidth", 8192}, {"L1 latency", 8192},
                {"L1 bandwidth", 8192},   {"L2 latency", 1 << 20},    {"L2 bandwidth", 1 << 20}};
    for (size_t i = 0; i < sizeof most / sizeof *most; i++)
        EXPECT(MG_KERNELS_ERR_UNSUPPORTED, find(most[i].name), most[i].words + 1, x.at, 8, out.at);
    EXPECT(MG_KERNELS_ERR_VARIANT, rungs, 8, x.at, 8, out.at);
    EXPECT(MG_KERNELS_ERR_VARIANT, -2, 8, x.at, 8, out.at);
    test_download(&out, got);
    CHECK(!memcmp(got, ones, sizeof got), "a refused call wrote");
    test_free(&x, "x");
    test_free(&out, "out");
}

/* Calls of four threads at once, each on its stream; the thread's result is a null pointer if all is well. */
static void *caller(void *argument)
{
    enum { N = 511 };
    uint32_t seed = *(uint32_t *)argument, words[N], got = 0, *x, *out;
    bool ok = true;
    cudaStream_t stream;
    mg_ref_chain(N, seed, words);
    if (cudaStreamCreate(&stream) || cudaMalloc((void **)&x, sizeof words) || cudaMalloc((void **)&out, 12) ||
        cudaMemcpy(x, words, sizeof words, cudaMemcpyHostToDevice))
        return argument;
    for (int v = 0; ok && v < rungs; v++) {
        uint64_t bytes = 0;
        ok = !mg_hierarchy_u32(stream, v, N, x, 5, out, &bytes) &&
             !cudaMemcpyAsync(&got, out, 4, cudaMemcpyDeviceToHost, stream) && !cudaStreamSynchronize(stream) &&
             got == mg_ref_hierarchy_u32(v, N, words, 5, bytes);
    }
    return cudaFree(x) || cudaFree(out) || cudaStreamDestroy(stream) || !ok ? argument : NULL;
}

static void threads(void)
{
    pthread_t thread[4];
    uint32_t seed[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&thread[i], NULL, caller, &seed[i]) == 0, "thread %d", i);
    for (int i = 0; i < 4; i++) {
        void *bad = NULL;
        CHECK(pthread_join(thread[i], &bad) == 0 && bad == NULL, "thread %d got wrong results", i);
    }
}

int main(void)
{
    test_begin();
    size_t count;
    mg_hierarchy_variants(&count);
    rungs = (int)count;
    sizes();
    meaning();
    arguments();
    threads();
    return test_end();
}
