/* hierarchy.c - the bench's driver of hierarchy: words x steps. A latency rung shows the cycles that a load takes (the
 * device's clock), a bandwidth rung the bytes a second that all threads read (events, the best of five runs); both are
 * taken here, with nothing in between but a flush of the second-level cache. Where there is no clock to trust, under
 * the simulator, the counters speak.
 *
 * A level gets as many of the words as it holds. Chases have chains of at most 2^25 words, 128 MiB, since making one on
 * the host takes a while; that is more than twice what the largest second-level cache holds. Every result is held to
 * plain C.
 */
#include "bench.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

enum { CHAIN_MOST = 1 << 25, FLUSH_BYTES = 256 << 20, RUNS = 5 };

static const struct {
    int64_t words;
    bool latency;
} rungs[] = {
#define RUNG(id, name, idea, gain, words, latency) {words, latency},
#include "hierarchy/hierarchy.def"
#undef RUNG
};
enum { RUNGS = sizeof rungs / sizeof *rungs };
enum rung {
#define RUNG(id, name, idea, gain, words, latency) HIERARCHY_##id,
#include "hierarchy/hierarchy.def"
#undef RUNG
    REGISTERS = HIERARCHY_registers_bandwidth
};

struct state {
    int64_t n, steps;
    uint32_t *words, *out, *flush; /* on the device */
    uint32_t *host_words;
    struct {
        uint32_t *device, *host;
        int64_t n;
    } chain[RUNGS]; /* those of latency rungs */
    int variant;
    uint64_t bytes;
};

static void release(void *p)
{
    struct state *s = p;
    bench_free(s->words);
    bench_free(s->out);
    bench_free(s->flush);
    free(s->host_words);
    for (int v = 0; v < RUNGS; v++) {
        bench_free(s->chain[v].device);
        free(s->chain[v].host);
    }
    free(s);
}

static bool make_chain(struct state *s, int variant)
{
    int64_t most = rungs[variant].words ? rungs[variant].words : CHAIN_MOST, n = s->n < most ? s->n : most;
    uint32_t *host = malloc((size_t)n * 4 + 1);
    s->chain[variant].host = host;
    s->chain[variant].n = n;
    s->chain[variant].device = bench_alloc((size_t)n * 4);
    if (!host || !s->chain[variant].device)
        return false;
    mg_ref_chain(n, 1, host);
    return cudaMemcpy(s->chain[variant].device, host, (size_t)n * 4, cudaMemcpyHostToDevice) == cudaSuccess;
}

static void *make(const struct bench_size *size)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->n = size->d[0];
    s->steps = size->d[1];
    size_t bytes = (size_t)s->n * 4;
    s->words = bench_alloc(bytes);
    s->out = bench_alloc(12);
    s->flush = bench_on_simulator() ? NULL : bench_alloc(FLUSH_BYTES);
    s->host_words = malloc(bytes + 1);
    bool ok = s->words && s->out && s->host_words && (s->flush || bench_on_simulator());
    if (ok) {
        bench_fill_u32(s->words, s->n, 1, 0xffffffffu);
        ok = cudaMemcpy(s->host_words, s->words, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
    }
    for (int v = 0; ok && v < RUNGS; v++)
        ok = !rungs[v].latency || make_chain(s, v);
    if (!ok) {
        release(s);
        return NULL;
    }
    return s;
}

/* No work that has a limit to compare with: the figures are the result. */
static struct bench_work work(const struct bench_size *size)
{
    (void)size;
    return (struct bench_work){.bytes = 0, .flops = 0};
}

/* Registers are so fast that a launch would be a good part of the time: 16 times the steps. */
static int64_t steps_of(const struct state *s, int variant)
{
    return variant == REGISTERS && !bench_on_simulator() ? 16 * s->steps : s->steps;
}

/* What the rung gets: its chain, or as many words as the level holds. */
static int64_t words_of(const struct state *s, int variant)
{
    int64_t most = rungs[variant].words;
    return rungs[variant].latency ? s->chain[variant].n : most && most < s->n ? most : s->n;
}

static int run(void *p, int variant, struct CUstream_st *stream)
{
    struct state *s = p;
    s->variant = variant;
    return (int)mg_hierarchy_u32(stream, variant, words_of(s, variant),
                                 rungs[variant].latency ? s->chain[variant].device : s->words, steps_of(s, variant),
                                 s->out, &s->bytes);
}

static struct bench_error verify(void *p)
{
    struct state *s = p;
    const uint32_t *x = rungs[s->variant].latency ? s->chain[s->variant].host : s->host_words;
    uint32_t got = 0,
             want = mg_ref_hierarchy_u32(s->variant, words_of(s, s->variant), x, steps_of(s, s->variant), s->bytes);
    bool ok = cudaMemcpy(&got, s->out, 4, cudaMemcpyDeviceToHost) == cudaSuccess && got == want;
    cudaMemset(s->out, 0xff, 12);
    return (struct bench_error){.worst = !ok, .ok = ok};
}

static double seconds_of(struct state *s, int variant, cudaEvent_t begin, cudaEvent_t end)
{
    float ms = 0;
    cudaEventRecord(begin, NULL);
    run(s, variant, NULL);
    cudaEventRecord(end, NULL);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    return 1e-3 * (double)ms;
}

static double figure(void *p, int variant, const char **unit)
{
    struct state *s = p;
    cudaEvent_t begin, end;
    double best = 0;
    if (bench_on_simulator() || s->steps == 0 || cudaEventCreate(&begin) != cudaSuccess)
        return -1;
    if (cudaEventCreate(&end) != cudaSuccess) {
        cudaEventDestroy(begin);
        return -1;
    }
    for (int i = 0; i < RUNS; i++) {
        uint32_t out[3] = {0, 0, 0};
        cudaMemset(s->flush, i, FLUSH_BYTES);
        double seconds = seconds_of(s, variant, begin, end), value;
        cudaMemcpy(out, s->out, sizeof out, cudaMemcpyDeviceToHost);
        value = rungs[variant].latency ? (double)s->steps / (double)(out[1] | (uint64_t)out[2] << 32)
                                       : (double)s->bytes / seconds;
        best = value > best ? value : best;
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    *unit = rungs[variant].latency ? "cycles" : "GB/s";
    return best <= 0 ? -1 : rungs[variant].latency ? 1 / best : 1e-9 * best;
}

static const char *const peers[] = {NULL};

const struct bench_op bench_hierarchy = {
    .name = "hierarchy",
    .type = "u32",
    .dims = 2,
    .sizes_gpu = "2^28x4096",
    .sizes_sim = "16384x16",
    .variants = mg_hierarchy_variants,
    .limit = "copy",
    .make = make,
    .free = release,
    .work = work,
    .run = run,
    .verify = verify,
    .peers = peers,
    .figure = figure,
};
