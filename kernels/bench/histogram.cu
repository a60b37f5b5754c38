/* histogram.cu - the bench of histogram: random bytes, bytes that are all the same (as many additions to one place as
 * there can be), and random 32-bit keys, whose sizes are keys x bins. The peer is CUB's DeviceHistogram, if it was
 * compiled in. */
#include "bench.h"
#include "peer_histogram.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

enum keys { BYTES, SAME, KEYS };
struct state {
    int64_t n, nbins;
    enum keys kind;
    uint32_t *x, *bins, *want, *got;
    void *workspace; /* CUB's */
    size_t workspace_bytes;
};

static int cub(struct state *s, void *workspace, size_t *bytes, struct CUstream_st *stream)
{
#ifdef MARGAY_KERNELS_PEERS
    return s->kind == KEYS
               ? bench_cub_histogram_u32(workspace, bytes, s->x, s->n, s->nbins, s->bins, stream)
               : bench_cub_histogram_u8(workspace, bytes, reinterpret_cast<uint8_t *>(s->x), s->n, s->bins, stream);
#else
    (void)s, (void)workspace, (void)bytes, (void)stream;
    return 1;
#endif
}

static void drop(void *of)
{
    struct state *s = static_cast<struct state *>(of);
    bench_free(s->x);
    bench_free(s->bins);
    bench_free(s->workspace);
    free(s->want);
    free(s->got);
    free(s);
}

/* The bins' whole range, and a few keys beyond it where the number of bins is no power of two. */
static uint32_t mask_of(int64_t nbins)
{
    uint32_t mask = 0;
    while (mask + INT64_C(1) < nbins)
        mask = mask * 2 + 1;
    return mask;
}

static void *make(const struct bench_size *size, enum keys kind)
{
    struct state *s = static_cast<struct state *>(calloc(1, sizeof *s));
    if (!s)
        return nullptr;
    s->kind = kind;
    s->n = size->d[0];
    s->nbins = kind == KEYS ? size->d[1] : 256;
    size_t bytes = static_cast<size_t>(s->n) * (kind == KEYS ? 4 : 1), bin_bytes = static_cast<size_t>(s->nbins) * 4;
    uint8_t *in = static_cast<uint8_t *>(malloc(bytes + 1));
    s->x = static_cast<uint32_t *>(bench_alloc(bytes + 4));
    s->bins = static_cast<uint32_t *>(bench_alloc(bin_bytes));
    s->want = static_cast<uint32_t *>(malloc(bin_bytes));
    s->got = static_cast<uint32_t *>(malloc(bin_bytes));
    if (s->nbins < 1 || !in || !s->x || !s->bins || !s->want || !s->got) {
        free(in);
        drop(s);
        return nullptr;
    }
    if (kind == SAME)
        cudaMemset(s->x, 77, bytes);
    else
        bench_fill_u32(s->x, kind == KEYS ? s->n : (s->n + 3) / 4, 1, kind == KEYS ? mask_of(s->nbins) : 0xffffffffu);
    cudaMemcpy(in, s->x, bytes, cudaMemcpyDeviceToHost);
    if (kind == KEYS)
        mg_ref_histogram_u32(s->n, reinterpret_cast<uint32_t *>(in), s->nbins, s->want);
    else
        mg_ref_histogram_u8(s->n, in, s->want);
    free(in);
    if (cub(s, nullptr, &s->workspace_bytes, nullptr) == 0)
        s->workspace = bench_alloc(s->workspace_bytes);
    cudaMemset(s->bins, 0xff, bin_bytes);
    return s;
}

static void *make_random(const struct bench_size *size)
{
    return make(size, BYTES);
}

static void *make_same(const struct bench_size *size)
{
    return make(size, SAME);
}

static void *make_keys(const struct bench_size *size)
{
    return make(size, KEYS);
}

static struct bench_work work_bytes(const struct bench_size *size)
{
    return {static_cast<double>(size->d[0]), 0.0};
}

static struct bench_work work_keys(const struct bench_size *size)
{
    return {4.0 * static_cast<double>(size->d[0]) + 4.0 * static_cast<double>(size->d[1]), 0.0};
}

static int run(void *of, int variant, struct CUstream_st *stream)
{
    struct state *s = static_cast<struct state *>(of);
    return s->kind == KEYS ? mg_histogram_u32(stream, variant, s->n, s->x, s->nbins, s->bins)
                           : mg_histogram_u8(stream, variant, s->n, reinterpret_cast<uint8_t *>(s->x), s->bins);
}

static int peer(void *of, int, struct CUstream_st *stream)
{
    struct state *s = static_cast<struct state *>(of);
    return s->workspace ? cub(s, s->workspace, &s->workspace_bytes, stream) : 1;
}

static struct bench_error verify(void *of)
{
    struct state *s = static_cast<struct state *>(of);
    size_t bytes = static_cast<size_t>(s->nbins) * 4;
    cudaMemcpy(s->got, s->bins, bytes, cudaMemcpyDeviceToHost);
    cudaMemset(s->bins, 0xff, bytes);
    double wrong = 0;
    for (int64_t i = 0; i < s->nbins; i++)
        wrong += s->got[i] != s->want[i];
    return {wrong, wrong == 0};
}

static const char *const peers[] = {"CUB", nullptr};

extern "C" const struct bench_op bench_histogram_u8 = {
    "histogram", "u8 random", 1,       "2^20,2^28", "2^16", mg_histogram_variants,
    "copy",      make_random, drop,    work_bytes,  run,    verify,
    peers,       peer,        nullptr, nullptr,     nullptr};
extern "C" const struct bench_op bench_histogram_same = {
    "histogram", "u8 same", 1,       "2^28",     "2^16", mg_histogram_variants,
    "copy",      make_same, drop,    work_bytes, run,    verify,
    peers,       peer,      nullptr, nullptr,    nullptr};
extern "C" const struct bench_op bench_histogram_u32 = {"histogram",
                                                        "u32 random",
                                                        2,
                                                        "2^26x256,2^26x4096,2^26x65536,2^26x1048576",
                                                        "4096x256,4096x2000",
                                                        mg_histogram_variants,
                                                        "copy",
                                                        make_keys,
                                                        drop,
                                                        work_keys,
                                                        run,
                                                        verify,
                                                        peers,
                                                        peer,
                                                        nullptr,
                                                        nullptr,
                                                        nullptr};
