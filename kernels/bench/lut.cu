/* lut.cu - the bench of lut, over random bytes. The peer is a device copy of the same bytes: what moving them costs. */
#include "bench.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

struct state {
    int64_t n;
    uint8_t *x, *y, *workspace;
    uint8_t *in, *want, *got, table[256];
    bool copied; /* the last run was the copy, and y should be x */
};

static void drop(void *of)
{
    struct state *s = static_cast<struct state *>(of);
    bench_free(s->x);
    bench_free(s->y);
    bench_free(s->workspace);
    free(s->in);
    free(s->want);
    free(s->got);
    free(s);
}

static void *make(const struct bench_size *size)
{
    struct state *s = static_cast<struct state *>(calloc(1, sizeof *s));
    if (!s)
        return nullptr;
    s->n = size->d[0];
    size_t bytes = static_cast<size_t>(s->n);
    s->x = static_cast<uint8_t *>(bench_alloc(bytes + 4));
    s->y = static_cast<uint8_t *>(bench_alloc(bytes));
    s->workspace = static_cast<uint8_t *>(bench_alloc(256));
    s->in = static_cast<uint8_t *>(malloc(bytes + 1));
    s->want = static_cast<uint8_t *>(malloc(bytes + 1));
    s->got = static_cast<uint8_t *>(malloc(bytes + 1));
    if (!s->x || !s->y || !s->workspace || !s->in || !s->want || !s->got) {
        drop(s);
        return nullptr;
    }
    for (unsigned i = 0; i < 256; i++)
        s->table[i] = static_cast<uint8_t>(i * 167 + 13); /* a permutation: no two entries are alike */
    bench_fill_u32(reinterpret_cast<uint32_t *>(s->x), (s->n + 3) / 4, 1, 0xffffffffu);
    cudaMemcpy(s->in, s->x, bytes, cudaMemcpyDeviceToHost);
    mg_ref_lut_u8(s->n, s->in, s->table, s->want);
    return s;
}

static struct bench_work work(const struct bench_size *size)
{
    return {2.0 * static_cast<double>(size->d[0]), 0.0};
}

static int run(void *of, int variant, struct CUstream_st *stream)
{
    struct state *s = static_cast<struct state *>(of);
    size_t bytes = 256;
    s->copied = false;
    return mg_lut_u8(stream, variant, s->n, s->x, s->table, s->y, s->workspace, &bytes);
}

static int peer(void *of, int, struct CUstream_st *stream)
{
    struct state *s = static_cast<struct state *>(of);
    s->copied = true;
    return cudaMemcpyAsync(s->y, s->x, static_cast<size_t>(s->n), cudaMemcpyDeviceToDevice, stream);
}

static struct bench_error verify(void *of)
{
    struct state *s = static_cast<struct state *>(of);
    size_t bytes = static_cast<size_t>(s->n);
    const uint8_t *want = s->copied ? s->in : s->want;
    cudaMemcpy(s->got, s->y, bytes, cudaMemcpyDeviceToHost);
    cudaMemset(s->y, 0, bytes);
    double wrong = 0;
    if (memcmp(s->got, want, bytes) != 0)
        for (size_t i = 0; i < bytes; i++)
            wrong += s->got[i] != want[i];
    return {wrong, wrong == 0};
}

static const char *const peers[] = {"device copy", nullptr};

extern "C" const struct bench_op bench_lut = {"lut",  "u8", 1,       "2^20,2^28", "2^16", mg_lut_variants,
                                              "copy", make, drop,    work,        run,    verify,
                                              peers,  peer, nullptr, nullptr,     nullptr};
