/* histogram.cu - threads and reads ahead of the rung "replicated", over bytes. */
#include "tune.h"

#include "histogram/replicated.cuh"

#include <stdio.h>

static struct mg__histogram calls[2];

static double work(void)
{
    return 1e-9 * static_cast<double>(calls[0].n);
}

template <int THREADS, int VECTORS> static void shape(int blocks)
{
    char name[80];
    snprintf(name, sizeof name, "%d threads, %d reads ahead, %d blocks", THREADS, VECTORS, blocks);
    tune_row(name);
    for (int i = 0; i < 2; i++)
        tune_cell(i, calls[i].bins, 256, work(), [=] {
            const struct mg__histogram *call = &calls[i];
            enum mg_kernels_status status = mg__histogram_clear(call);
            return status ? status
                          : mg__kernels_launch(
                                histogram_replicated_u8<THREADS, VECTORS>,
                                dim3(mg__histogram_grid(call, 256 * 32, THREADS * 16, mg__kernels_sm_count() * blocks)),
                                dim3(THREADS), 0, call->stream, call->n, static_cast<const uint8_t *>(call->x),
                                INT64_C(0), call->bins);
        });
}

extern "C" void tune_histogram(void)
{
    static const char *const columns[] = {"random bytes", "all the same"};
    int64_t n = bench_on_simulator() ? 1 << 16 : 1 << 28;
    tune_table("2^28 bytes", "GB/s", 0, columns, 2);
    uint32_t *random = tune_random_u32(n / 4, 1), *same = static_cast<uint32_t *>(tune_alloc(static_cast<size_t>(n)));
    uint32_t *bins = static_cast<uint32_t *>(tune_alloc(256 * 4));
    cudaMemset(same, 77, static_cast<size_t>(n));
    for (int i = 0; i < 2; i++)
        calls[i] = {nullptr, n, i ? same : random, 1, 256, bins};
    tune_row("the rung copy a warp");
    for (int i = 0; i < 2; i++)
        tune_cell(i, bins, 256, work(), [=] { return mg__histogram_per_warp(&calls[i]); });
    shape<256, 4>(2);
    shape<256, 4>(5);
    shape<512, 1>(4);
    shape<512, 2>(4);
    shape<512, 4>(2);
    shape<512, 4>(4);
    shape<1024, 2>(2);
    shape<1024, 4>(1);
    shape<1024, 4>(2);
}
