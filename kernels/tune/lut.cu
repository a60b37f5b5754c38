/* lut.cu - threads and reads ahead of the rung "replicated". */
#include "tune.h"

#include "lut/replicated.cuh"

#include <stdio.h>

static struct mg__lut call;

static double work(void)
{
    return 2e-9 * static_cast<double>(call.n);
}

template <int THREADS, int VECTORS> static void shape(int blocks)
{
    char name[80];
    snprintf(name, sizeof name, "%d threads, %d reads ahead, %d blocks", THREADS, VECTORS, blocks);
    tune_row(name);
    tune_cell(0, call.y, static_cast<size_t>(call.n / 4), work(), [=] {
        return mg__kernels_launch(lut_replicated<THREADS, VECTORS>,
                                  dim3(mg__kernels_grid(call.n, THREADS * 16, mg__kernels_sm_count() * blocks)),
                                  dim3(THREADS), 0, call.stream, mg__lut_split(&call, 16), 16, call.x, call.table,
                                  call.y);
    });
}

extern "C" void tune_lut(void)
{
    static const char *const columns[] = {"random bytes"};
    int64_t n = bench_on_simulator() ? 1 << 16 : 1 << 28;
    tune_table("2^28 bytes", "GB/s", 0, columns, 1);
    call.n = n;
    call.x = reinterpret_cast<const uint8_t *>(tune_random_u32(n / 4, 1));
    call.y = static_cast<uint8_t *>(tune_alloc(static_cast<size_t>(n)));
    for (unsigned i = 0; i < 64; i++)
        call.table.word[i] = i * 0x9e3779b9u + 0x7f4a7c15u;
    tune_row("the rung shared");
    tune_cell(0, call.y, static_cast<size_t>(n / 4), work(), [] { return mg__lut_shared(&call); });
    tune_row("device copy");
    tune_cell(0, nullptr, 0, work(), [] {
        return cudaMemcpyAsync(call.y, call.x, static_cast<size_t>(call.n), cudaMemcpyDeviceToDevice, nullptr);
    });
    shape<256, 2>(4);
    shape<256, 2>(8);
    shape<512, 1>(4);
    shape<512, 2>(2);
    shape<512, 2>(4);
    shape<512, 4>(2);
    shape<512, 4>(4);
    shape<1024, 2>(1);
    shape<1024, 2>(2);
}
