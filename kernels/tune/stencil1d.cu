/* stencil1d.cu - threads a block of the best rung. */
#include "tune.h"

#include "stencil1d/quads.cuh"

static struct stencil_args args;

static double work(void)
{
    return 8e-9 * static_cast<double>(args.n);
}

template <int THREADS> static void shape(const char *name)
{
    tune_row(name);
    dim3 grid(mg__kernels_grid(args.n, THREADS * 4, INT32_MAX));
    tune_cell(0, args.y, static_cast<size_t>(args.n), work(), [=] {
        args.radius = 1;
        return mg__kernels_launch(stencil_quads<1, THREADS>, grid, dim3(THREADS), 0, nullptr, args);
    });
    tune_cell(1, args.y, static_cast<size_t>(args.n), work(), [=] {
        args.radius = 16;
        return mg__kernels_launch(stencil_quads<16, THREADS>, grid, dim3(THREADS), 0, nullptr, args);
    });
}

extern "C" void tune_stencil1d(void)
{
    static const char *const columns[] = {"radius 1", "radius 16"};
    tune_table("2^28 elements", "GB/s", 1e-5f, columns, 2);
    args.n = bench_on_simulator() ? 1 << 16 : 1 << 28;
    float *x = tune_random_f32(args.n, 1), *y = static_cast<float *>(tune_alloc(static_cast<size_t>(args.n) * 4));
    args.x = x;
    args.y = y;
    for (int i = 0; i < 2 * MG_STENCIL_MAX_RADIUS + 1; i++)
        args.weights[i] = 0.03f * static_cast<float>(i + 1);
    tune_row("the rung shared halo");
    for (int i = 0; i < 2; i++)
        tune_cell(i, y, static_cast<size_t>(args.n), work(), [=] {
            args.radius = i ? 16 : 1;
            return mg__stencil1d_halo(nullptr, &args);
        });
    tune_row("device copy");
    for (int i = 0; i < 2; i++)
        tune_cell(i, nullptr, 0, work(), [=] {
            return cudaMemcpyAsync(y, x, static_cast<size_t>(args.n) * 4, cudaMemcpyDeviceToDevice, nullptr);
        });
    shape<64>("64 threads");
    shape<128>("128 threads");
    shape<256>("256 threads");
    shape<512>("512 threads");
    shape<1024>("1024 threads");
}
