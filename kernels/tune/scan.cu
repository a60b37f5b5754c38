/* scan.cu - shapes of the last two rungs of scan: threads, vectors a thread, words that a lane looks back over at a
 * time, nanoseconds between looks; of the pipelined one also the blocks a multiprocessor has. Integers, so that all
 * orders of additions give the same bits. */
#include "tune.h"

#include "scan/pipelined.cuh"

static const char *const columns[] = {"2^20", "2^28"};
static int64_t sizes[2];
static uint32_t *x, *y;
static void *workspace;

static scan_call<uint32_t> call(int i)
{
    return {nullptr, false, sizes[i], x, y, workspace};
}

/* ahead: tiles a multiprocessor, 0: not paced; in quarters. */
template <int THREADS, int VECTORS, int LOOK> static void look_back_shape(int quarters)
{
    char name[80];
    int64_t ahead = static_cast<int64_t>(mg__kernels_sm_count()) * quarters / 4;
    snprintf(name, sizeof name, "%d threads, %d vectors, look %d, ahead %g", THREADS, VECTORS, LOOK, quarters / 4.0);
    tune_row(name);
    for (int i = 0; i < 2; i++)
        tune_cell(i, y, static_cast<size_t>(sizes[i]), 8e-9 * static_cast<double>(sizes[i]), [=] {
            return quarters ? scan_look_back<uint32_t, true, true, THREADS, VECTORS, LOOK, 100>(call(i), ahead)
                            : scan_look_back<uint32_t, true, false, THREADS, VECTORS, LOOK, 100>(call(i), 0);
        });
}

template <int THREADS, int VECTORS, int BLOCKS, int LOOK, int DELAY, bool STREAMING = false>
static void pipelined_shape(const char *name)
{
    tune_row(name);
    for (int i = 0; i < 2; i++)
        tune_cell(i, y, static_cast<size_t>(sizes[i]), 8e-9 * static_cast<double>(sizes[i]), [=] {
            return scan_pipelined<uint32_t, true, THREADS, VECTORS, BLOCKS, LOOK, DELAY, STREAMING>(call(i));
        });
}

static void begin(const char *title)
{
    tune_table(title, "GB/s", 0, columns, 2);
    x = tune_random_u32(sizes[1], 1);
    y = static_cast<uint32_t *>(tune_alloc(static_cast<size_t>(sizes[1]) * 4));
    workspace = tune_alloc(static_cast<size_t>(sizes[1] / 1024 + 3) * 8);
    tune_row("device copy");
    for (int i = 0; i < 2; i++)
        tune_cell(i, nullptr, 0, 8e-9 * static_cast<double>(sizes[i]), [=] {
            return cudaMemcpyAsync(y, x, static_cast<size_t>(sizes[i]) * 4, cudaMemcpyDeviceToDevice, nullptr);
        });
}

extern "C" void tune_scan(void)
{
    bool simulated = bench_on_simulator();
    sizes[0] = simulated ? 1 << 15 : 1 << 20;
    sizes[1] = simulated ? 1 << 18 : 1 << 28;
    begin("Decoupled look-back");
    look_back_shape<256, 8, 2>(0);
    look_back_shape<256, 8, 2>(2);
    look_back_shape<256, 8, 2>(4);
    look_back_shape<256, 8, 2>(6);
    look_back_shape<256, 8, 2>(8);
    look_back_shape<256, 8, 2>(10);
    look_back_shape<256, 8, 2>(12);
    look_back_shape<256, 6, 2>(0);
    look_back_shape<256, 6, 2>(4);
    look_back_shape<256, 6, 2>(8);
    look_back_shape<256, 6, 2>(12);
    look_back_shape<256, 4, 2>(0);
    look_back_shape<256, 4, 2>(8);
    look_back_shape<256, 4, 2>(12);
    look_back_shape<256, 4, 2>(16);
    look_back_shape<512, 8, 1>(0);
    look_back_shape<512, 8, 1>(2);
    look_back_shape<512, 8, 1>(4);
    look_back_shape<512, 8, 1>(6);
    look_back_shape<512, 6, 2>(0);
    look_back_shape<512, 6, 2>(4);
    look_back_shape<512, 6, 2>(6);
    look_back_shape<512, 4, 2>(0);
    look_back_shape<512, 4, 2>(4);
    look_back_shape<512, 4, 2>(8);
    look_back_shape<1024, 8, 1>(0);
    look_back_shape<1024, 8, 1>(2);
    look_back_shape<1024, 8, 1>(3);
    look_back_shape<128, 8, 2>(0);
    look_back_shape<128, 8, 2>(8);
    look_back_shape<128, 8, 2>(16);
    begin("Pipelined");
    pipelined_shape<512, 8, 2, 2, 100>("512 threads, 8 vectors, 2 blocks, look 2, 100 ns");
    pipelined_shape<512, 4, 2, 2, 100>("512 threads, 4 vectors, 2 blocks, look 2, 100 ns");
    pipelined_shape<1024, 8, 1, 2, 100>("1024 threads, 8 vectors, 1 block, look 2, 100 ns");
}
