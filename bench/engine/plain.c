/* plain.c - the kernels as a C programmer would write them, for one core.
 *
 * "naive" is the kernel's own loop nest with the threads as loops. "tiled" is the same idea done for a cache: blocks
 * that fit, with the inner loop over neighbouring elements, which the compiler turns into vector code. Compiled at -O3
 * with the compiler's function multiversioning, so that one portable binary uses the vectors of the machine it runs on.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

CLONES static void matmul_naive(float *restrict c, const float *restrict a, const float *restrict b, int n)
{
    for (int row = 0; row < n; row++)
        for (int col = 0; col < n; col++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k++)
                sum += a[row * n + k] * b[k * n + col];
            c[row * n + col] = sum;
        }
}

/* Blocks of 64 rows of B stay in the second-level cache; the inner loop runs along rows of B and C. */
CLONES static void matmul_tiled(float *restrict c, const float *restrict a, const float *restrict b, int n)
{
    enum { BLOCK = 64 };
    memset(c, 0, (size_t)n * (size_t)n * sizeof *c);
    for (int base = 0; base < n; base += BLOCK)
        for (int row = 0; row < n; row++)
            for (int k = base; k < base + BLOCK && k < n; k++) {
                float x = a[row * n + k];
                for (int col = 0; col < n; col++)
                    c[row * n + col] += x * b[k * n + col];
            }
}

/* Sixteen running sums, which the compiler may keep in vectors: one sum alone would wait for every addition. */
CLONES static float reduce(const float *restrict in, int n)
{
    enum { LANES = 16 };
    float sums[LANES] = {0}, sum = 0.0f;
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            sums[lane] += in[i + lane];
    for (; i < n; i++)
        sum += in[i];
    for (int lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

CLONES static void transpose_naive(float *restrict out, const float *restrict in, int n)
{
    for (int row = 0; row < n; row++)
        for (int col = 0; col < n; col++)
            out[col * n + row] = in[row * n + col];
}

CLONES static void transpose_tiled(float *restrict out, const float *restrict in, int n)
{
    enum { TILE = 32 };
    for (int y = 0; y < n; y += TILE)
        for (int x = 0; x < n; x += TILE)
            for (int col = x; col < x + TILE && col < n; col++)
                for (int row = y; row < y + TILE && row < n; row++)
                    out[col * n + row] = in[row * n + col];
}

CLONES static void histogram(unsigned *restrict bins, const unsigned char *restrict data, int n)
{
    for (int i = 0; i < n; i++)
        bins[data[i]]++;
}

void bench_plain_matmul_naive(void *const *buffers, int n)
{
    matmul_naive(buffers[0], buffers[1], buffers[2], n);
}

void bench_plain_matmul_tiled(void *const *buffers, int n)
{
    matmul_tiled(buffers[0], buffers[1], buffers[2], n);
}

void bench_plain_reduce(void *const *buffers, int n)
{
    *(float *)buffers[0] = reduce(buffers[2], n);
}

void bench_plain_transpose_naive(void *const *buffers, int n)
{
    transpose_naive(buffers[0], buffers[1], n);
}

void bench_plain_transpose_tiled(void *const *buffers, int n)
{
    transpose_tiled(buffers[0], buffers[1], n);
}

void bench_plain_histogram(void *const *buffers, int n)
{
    histogram(buffers[0], buffers[1], n);
}

/* ---- the contender ---- */
struct plain {
    struct bench_peer peer;
    void *buffers[BENCH_BUFFERS];
};

static void drop(struct plain *plain)
{
    for (int i = 0; i < BENCH_BUFFERS; i++) {
        free(plain->buffers[i]);
        plain->buffers[i] = NULL;
    }
}

static bool plain_reset(struct bench_peer *peer)
{
    struct plain *plain = (struct plain *)peer;
    const struct bench_case *c = peer->current;
    for (int i = 0; i < BENCH_BUFFERS; i++)
        if (c->bytes[i] && c->data[i])
            memcpy(plain->buffers[i], c->data[i], c->bytes[i]);
        else if (c->bytes[i])
            memset(plain->buffers[i], 0, c->bytes[i]);
    return true;
}

static bool plain_load(struct bench_peer *peer, const struct bench_case *c)
{
    struct plain *plain = (struct plain *)peer;
    drop(plain);
    peer->current = c;
    for (int i = 0; i < BENCH_BUFFERS; i++)
        if (c->bytes[i] && !(plain->buffers[i] = aligned_alloc(64, (c->bytes[i] + 63) / 64 * 64)))
            return false;
    return plain_reset(peer);
}

static bool plain_run(struct bench_peer *peer)
{
    peer->current->plain(((struct plain *)peer)->buffers, peer->current->n);
    return true;
}

static const void *plain_result(struct bench_peer *peer)
{
    return ((struct plain *)peer)->buffers[peer->current->result];
}

static void plain_close(struct bench_peer *peer)
{
    drop((struct plain *)peer);
    free(peer);
}

struct bench_peer *bench_plain_open(void)
{
    static const struct bench_peer_ops ops = {plain_load, plain_reset, plain_run, plain_result, plain_close};
    struct plain *plain = calloc(1, sizeof *plain);
    if (!plain)
        return NULL;
    plain->peer.ops = &ops;
    return &plain->peer;
}
