/* banks.cu - the bench of banks, the conflict table. Sizes are blocks x rounds. Nothing but shared memory is at work,
 * so that the rate shown is the bytes that the rung's own requests carry, timed here without anything in between; where
 * there is no clock to trust, under the simulator, the counters speak. */
#include "bench.h"
#include "banks/tile.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

struct state {
    int64_t blocks, rounds;
    uint32_t *out, *want, *got;
    int variant;
};

static const int widths[] = {
#define RUNG(id, name, idea, gain, width, stride) width,
#include "banks/banks.def"
#undef RUNG
};

static void drop(void *of)
{
    struct state *s = static_cast<struct state *>(of);
    bench_free(s->out);
    free(s->want);
    free(s->got);
    free(s);
}

static size_t bytes_of(const struct state *s)
{
    return static_cast<size_t>(s->blocks) * BANKS_THREADS * sizeof(uint32_t);
}

static void *make(const struct bench_size *size)
{
    struct state *s = static_cast<struct state *>(calloc(1, sizeof *s));
    if (!s)
        return nullptr;
    s->blocks = size->d[0];
    s->rounds = size->d[1];
    s->out = static_cast<uint32_t *>(bench_alloc(bytes_of(s)));
    s->want = static_cast<uint32_t *>(malloc(bytes_of(s) + 1));
    s->got = static_cast<uint32_t *>(malloc(bytes_of(s) + 1));
    if (!s->out || !s->want || !s->got) {
        drop(s);
        return nullptr;
    }
    return s;
}

/* Not a byte of global memory that counts: there is no limit to compare with. */
static struct bench_work work(const struct bench_size *)
{
    return {0.0, 0.0};
}

static int run(void *of, int variant, struct CUstream_st *stream)
{
    struct state *s = static_cast<struct state *>(of);
    s->variant = variant;
    return mg_banks_u32(stream, variant, s->blocks, s->rounds, s->out);
}

static struct bench_error verify(void *of)
{
    struct state *s = static_cast<struct state *>(of);
    mg_ref_banks_u32(s->variant, s->blocks, s->rounds, s->want);
    cudaMemcpy(s->got, s->out, bytes_of(s), cudaMemcpyDeviceToHost);
    cudaMemset(s->out, 0xff, bytes_of(s));
    double wrong = 0;
    for (size_t i = 0; i < bytes_of(s) / 4; i++)
        wrong += s->got[i] != s->want[i];
    return {wrong, wrong == 0};
}

/* Terabytes a second: the best of five runs. */
static double figure(void *of, int variant, const char **unit)
{
    struct state *s = static_cast<struct state *>(of);
    cudaEvent_t begin, end;
    if (bench_on_simulator() || cudaEventCreate(&begin) != cudaSuccess)
        return -1;
    float best = 0;
    if (cudaEventCreate(&end) == cudaSuccess) {
        for (int i = 0; i < 5; i++) {
            float ms = 0;
            cudaEventRecord(begin, nullptr);
            run(s, variant, nullptr);
            cudaEventRecord(end, nullptr);
            cudaEventSynchronize(end);
            cudaEventElapsedTime(&ms, begin, end);
            if (best == 0 || ms < best)
                best = ms;
        }
        cudaEventDestroy(end);
    }
    cudaEventDestroy(begin);
    *unit = "TB/s";
    double bytes =
        4.0 * widths[variant] * BANKS_THREADS * static_cast<double>(s->blocks) * static_cast<double>(s->rounds);
    return best > 0 ? bytes / (1e-3 * best) * 1e-12 : -1;
}

static const char *const peers[] = {nullptr};

extern "C" const struct bench_op bench_banks = {"banks", "u32",   2,       "1056x8192", "4x1024", mg_banks_variants,
                                                "copy",  make,    drop,    work,        run,      verify,
                                                peers,   nullptr, nullptr, nullptr,     figure};
