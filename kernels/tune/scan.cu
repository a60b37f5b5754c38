/* scan.cu - shapes of the last two rungs of scan: threads, vectors a thread, words that a lane looks back over at a
 * time, nanoseconds between looks; of the pipelined one also the blocks a multiprocessor has. Integers, so that all
 * orders of additions give the same bits. */
#include "tune.h"

#include "scan/pipelined.cuh"

enum { SIZES = 4 };
static const char *const columns[SIZES] = {"2^20", "2^22", "2^24", "2^28"};
static int64_t sizes[SIZES];
static uint32_t *x, *y;
static void *workspace;

static scan_call<uint32_t> call(int i)
{
    return {nullptr, false, sizes[i], x, y, workspace};
}

template <int THREADS, int VECTORS, int LOOK, int DELAY> static void look_back_shape(const char *name)
{
    tune_row(name);
    for (int i = 0; i < SIZES; i++)
        tune_cell(i, y, static_cast<size_t>(sizes[i]), 8e-9 * static_cast<double>(sizes[i]),
                  [=] { return scan_look_back<uint32_t, true, THREADS, VECTORS, LOOK, DELAY>(call(i)); });
}

template <int THREADS, int VECTORS, int BLOCKS, int LOOK, int DELAY, bool STREAMING = false>
static void pipelined_shape(const char *name)
{
    tune_row(name);
    for (int i = 0; i < SIZES; i++)
        tune_cell(i, y, static_cast<size_t>(sizes[i]), 8e-9 * static_cast<double>(sizes[i]), [=] {
            return scan_pipelined<uint32_t, true, THREADS, VECTORS, BLOCKS, LOOK, DELAY, STREAMING>(call(i));
        });
}

static void begin(const char *title)
{
    tune_table(title, "GB/s", 0, columns, SIZES);
    x = tune_random_u32(sizes[SIZES - 1], 1);
    y = static_cast<uint32_t *>(tune_alloc(static_cast<size_t>(sizes[SIZES - 1]) * 4));
    workspace = tune_alloc(static_cast<size_t>(sizes[SIZES - 1] / 1024 + 3) * 8);
    tune_row("device copy");
    for (int i = 0; i < SIZES; i++)
        tune_cell(i, nullptr, 0, 8e-9 * static_cast<double>(sizes[i]), [=] {
            return cudaMemcpyAsync(y, x, static_cast<size_t>(sizes[i]) * 4, cudaMemcpyDeviceToDevice, nullptr);
        });
}

extern "C" void tune_scan(void)
{
    bool simulated = bench_on_simulator();
    static const int real[SIZES] = {20, 22, 24, 28}, small[SIZES] = {15, 16, 17, 18};
    for (int i = 0; i < SIZES; i++)
        sizes[i] = INT64_C(1) << (simulated ? small[i] : real[i]);
    begin("Decoupled look-back");
    look_back_shape<128, 8, 2, 0>("128 threads, 8 vectors, look 2, 0 ns");
    look_back_shape<256, 4, 2, 0>("256 threads, 4 vectors, look 2, 0 ns");
    look_back_shape<256, 8, 2, 0>("256 threads, 8 vectors, look 2, 0 ns");
    look_back_shape<256, 8, 2, 300>("256 threads, 8 vectors, look 2, 300 ns");
    look_back_shape<512, 4, 2, 0>("512 threads, 4 vectors, look 2, 0 ns");
    look_back_shape<512, 8, 1, 0>("512 threads, 8 vectors, look 1, 0 ns");
    look_back_shape<512, 8, 2, 0>("512 threads, 8 vectors, look 2, 0 ns");
    look_back_shape<512, 16, 1, 0>("512 threads, 16 vectors, look 1, 0 ns");
    look_back_shape<512, 18, 1, 0>("512 threads, 18 vectors, look 1, 0 ns");
    look_back_shape<512, 19, 1, 0>("512 threads, 19 vectors, look 1, 0 ns");
    look_back_shape<512, 20, 1, 0>("512 threads, 20 vectors, look 1, 0 ns");
    look_back_shape<512, 20, 2, 0>("512 threads, 20 vectors, look 2, 0 ns");
    look_back_shape<512, 20, 1, 300>("512 threads, 20 vectors, look 1, 300 ns");
    look_back_shape<512, 21, 1, 0>("512 threads, 21 vectors, look 1, 0 ns");
    look_back_shape<512, 22, 1, 0>("512 threads, 22 vectors, look 1, 0 ns");
    look_back_shape<512, 24, 1, 0>("512 threads, 24 vectors, look 1, 0 ns");
    look_back_shape<256, 40, 1, 0>("256 threads, 40 vectors, look 1, 0 ns");
    look_back_shape<640, 16, 1, 0>("640 threads, 16 vectors, look 1, 0 ns");
    look_back_shape<768, 12, 1, 0>("768 threads, 12 vectors, look 1, 0 ns");
    look_back_shape<768, 13, 1, 0>("768 threads, 13 vectors, look 1, 0 ns");
    look_back_shape<1024, 4, 1, 0>("1024 threads, 4 vectors, look 1, 0 ns");
    look_back_shape<1024, 8, 1, 0>("1024 threads, 8 vectors, look 1, 0 ns");
    look_back_shape<1024, 8, 1, 300>("1024 threads, 8 vectors, look 1, 300 ns");
    look_back_shape<1024, 8, 2, 0>("1024 threads, 8 vectors, look 2, 0 ns");
    begin("Pipelined");
    pipelined_shape<512, 4, 2, 2, 100>("512 threads, 4 vectors, 2 blocks, look 2, 100 ns");
    pipelined_shape<512, 8, 2, 2, 100>("512 threads, 8 vectors, 2 blocks, look 2, 100 ns");
    pipelined_shape<512, 8, 2, 2, 100, true>("512 threads, 8 vectors, 2 blocks, look 2, 100 ns, streaming");
    pipelined_shape<1024, 8, 1, 2, 100>("1024 threads, 8 vectors, 1 block, look 2, 100 ns");
    pipelined_shape<1024, 8, 1, 2, 100, true>("1024 threads, 8 vectors, 1 block, look 2, 100 ns, streaming");
    pipelined_shape<512, 16, 1, 1, 100>("512 threads, 16 vectors, 1 block, look 1, 100 ns");
}
