/* transpose.cu - tiles of the rung "vectorised": rows x columns, threads, strips, with hints to the caches or without.
 */
#include "tune.h"

#include "transpose/vectors.cuh"

struct shape_case {
    struct mg__transpose call;
    double bytes;
};
static struct shape_case cases[2];

template <typename T, int ROWS, int COLS, int THREADS, bool STREAMING, int BLOCKS = 0>
static void shape(const char *name)
{
    tune_row(name);
    for (int i = 0; i < 2; i++)
        tune_cell(i, cases[i].call.y, static_cast<size_t>(cases[i].bytes / 8), 1e-9 * cases[i].bytes,
                  [=] { return transpose_run<T, ROWS, COLS, THREADS, STREAMING, BLOCKS>(&cases[i].call); });
}

static void make(int size, int64_t small, int64_t large, const char *title, const char *const *columns)
{
    tune_table(title, "GB/s", 0, columns, 2);
    const uint32_t *x = tune_random_u32(large * large * size / 4, 1);
    void *y = tune_alloc(static_cast<size_t>(large * large * size));
    for (int i = 0; i < 2; i++) {
        int64_t n = i ? large : small;
        cases[i].call = {nullptr, n, n, x, n, y, n, size};
        cases[i].bytes = 2.0 * static_cast<double>(n) * static_cast<double>(n) * size;
    }
    tune_row("the rung swizzled");
    for (int i = 0; i < 2; i++)
        tune_cell(i, y, static_cast<size_t>(cases[i].bytes / 8), 1e-9 * cases[i].bytes,
                  [=] { return mg__transpose_swizzled(&cases[i].call); });
    tune_row("device copy");
    for (int i = 0; i < 2; i++)
        tune_cell(i, nullptr, 0, 1e-9 * cases[i].bytes, [=] {
            return cudaMemcpyAsync(y, x, static_cast<size_t>(cases[i].bytes / 2), cudaMemcpyDeviceToDevice, nullptr);
        });
}

extern "C" void tune_transpose(void)
{
    static const char *const columns4[] = {"1024x1024", "16384x16384"}, *const columns8[] = {"1024x1024", "8192x8192"};
    bool simulated = bench_on_simulator();
    make(4, simulated ? 64 : 1024, simulated ? 256 : 16384, "Elements of 4 bytes", columns4);
    shape<uint32_t, 32, 32, 32, false>("32x32, 32 threads");
    shape<uint32_t, 32, 32, 64, false>("32x32, 64 threads");
    shape<uint32_t, 32, 64, 64, false>("32x64, 64 threads");
    shape<uint32_t, 32, 64, 128, false>("32x64, 128 threads");
    shape<uint32_t, 32, 64, 128, true>("32x64, 128 threads, streaming");
    shape<uint32_t, 64, 64, 64, false>("64x64, 64 threads");
    shape<uint32_t, 64, 64, 128, false>("64x64, 128 threads");
    shape<uint32_t, 64, 64, 128, false, 4>("64x64, 128 threads, 4 blocks a multiprocessor");
    shape<uint32_t, 64, 64, 128, false, 5>("64x64, 128 threads, 5 blocks a multiprocessor");
    shape<uint32_t, 64, 64, 256, false, 5>("64x64, 256 threads, 5 blocks a multiprocessor");
    shape<uint32_t, 64, 64, 128, true>("64x64, 128 threads, streaming");
    shape<uint32_t, 64, 64, 256, false>("64x64, 256 threads");
    shape<uint32_t, 128, 64, 256, false>("128x64, 256 threads");
    make(8, simulated ? 64 : 1024, simulated ? 128 : 8192, "Elements of 8 bytes", columns8);
    shape<uint64_t, 16, 32, 32, false>("16x32, 32 threads");
    shape<uint64_t, 32, 32, 64, false>("32x32, 64 threads");
    shape<uint64_t, 32, 32, 128, false>("32x32, 128 threads");
    shape<uint64_t, 32, 32, 128, true>("32x32, 128 threads, streaming");
    shape<uint64_t, 16, 32, 64, false>("16x32, 64 threads");
    shape<uint64_t, 32, 64, 128, false>("32x64, 128 threads");
    shape<uint64_t, 32, 32, 32, false>("32x32, 32 threads");
    shape<uint64_t, 32, 32, 128, false, 5>("32x32, 128 threads, 5 blocks a multiprocessor");
    shape<uint64_t, 64, 32, 128, false, 5>("64x32, 128 threads, 5 blocks a multiprocessor");
    shape<uint64_t, 64, 32, 128, false>("64x32, 128 threads");
    shape<uint64_t, 64, 32, 256, false>("64x32, 256 threads");
}
