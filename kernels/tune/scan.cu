/* scan.cu - shapes of the last two rungs of scan: the threads that scan, vectors a thread, words that a lane looks back
 * over at a time; of the pipelined one also the ring's tiles and the blocks a multiprocessor has. */
#include "tune.h"

#include "scan/pipelined.cuh"

static const char *const columns[] = {"2^20", "2^28"};
static int64_t sizes[2];
static float *x, *y;
static void *workspace;

static scan_call<float> call(int i)
{
    return {nullptr, false, sizes[i], x, y, workspace};
}

template <int THREADS, int VECTORS, int LOOK> static void look_back_shape(const char *name)
{
    tune_row(name);
    for (int i = 0; i < 2; i++)
        tune_cell(i, y, static_cast<size_t>(sizes[i]), 8e-9 * static_cast<double>(sizes[i]),
                  [=] { return scan_look_back<float, true, THREADS, VECTORS, LOOK>(call(i)); });
}

template <int THREADS, int VECTORS, int STAGES, int BLOCKS, int LOOK> static void pipelined_shape(const char *name)
{
    tune_row(name);
    for (int i = 0; i < 2; i++)
        tune_cell(i, y, static_cast<size_t>(sizes[i]), 8e-9 * static_cast<double>(sizes[i]),
                  [=] { return scan_pipelined<float, true, THREADS, VECTORS, STAGES, BLOCKS, LOOK>(call(i)); });
}

static void begin(const char *title)
{
    tune_table(title, "GB/s", 1e-3f, columns, 2);
    x = tune_random_f32(sizes[1], 1);
    y = static_cast<float *>(tune_alloc(static_cast<size_t>(sizes[1]) * 4));
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
    look_back_shape<256, 8, 2>("256 threads, 8 vectors, look 2");
    look_back_shape<256, 8, 1>("256 threads, 8 vectors, look 1");
    look_back_shape<256, 8, 4>("256 threads, 8 vectors, look 4");
    look_back_shape<256, 4, 2>("256 threads, 4 vectors, look 2");
    look_back_shape<384, 6, 2>("384 threads, 6 vectors, look 2");
    look_back_shape<512, 4, 2>("512 threads, 4 vectors, look 2");
    look_back_shape<512, 8, 2>("512 threads, 8 vectors, look 2");
    look_back_shape<1024, 4, 1>("1024 threads, 4 vectors, look 1");
    look_back_shape<1024, 8, 1>("1024 threads, 8 vectors, look 1");
    begin("Pipelined");
    pipelined_shape<512, 4, 3, 2, 2>("512 threads, 4 vectors, 3 tiles, 2 blocks, look 2");
    pipelined_shape<512, 4, 3, 2, 1>("512 threads, 4 vectors, 3 tiles, 2 blocks, look 1");
    pipelined_shape<512, 4, 3, 2, 4>("512 threads, 4 vectors, 3 tiles, 2 blocks, look 4");
    pipelined_shape<512, 3, 4, 2, 2>("512 threads, 3 vectors, 4 tiles, 2 blocks, look 2");
    pipelined_shape<512, 2, 6, 2, 2>("512 threads, 2 vectors, 6 tiles, 2 blocks, look 2");
    pipelined_shape<256, 8, 3, 2, 2>("256 threads, 8 vectors, 3 tiles, 2 blocks, look 2");
    pipelined_shape<256, 4, 4, 3, 2>("256 threads, 4 vectors, 4 tiles, 3 blocks, look 2");
    pipelined_shape<256, 6, 3, 3, 2>("256 threads, 6 vectors, 3 tiles, 3 blocks, look 2");
    pipelined_shape<256, 4, 3, 4, 2>("256 threads, 4 vectors, 3 tiles, 4 blocks, look 2");
    pipelined_shape<384, 6, 3, 2, 2>("384 threads, 6 vectors, 3 tiles, 2 blocks, look 2");
    pipelined_shape<768, 6, 3, 1, 2>("768 threads, 6 vectors, 3 tiles, 1 block, look 2");
    pipelined_shape<960, 4, 3, 1, 2>("960 threads, 4 vectors, 3 tiles, 1 block, look 2");
    pipelined_shape<512, 8, 3, 1, 2>("512 threads, 8 vectors, 3 tiles, 1 block, look 2");
}
