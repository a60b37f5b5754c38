/* conv2d.cu - numbers of the best rung's march: rows ahead, rows a block, blocks that a multiprocessor shall hold. */
#include "tune.h"

#include "conv2d/march.cuh"

static struct conv_args args;
static struct conv_filter filter;
static int64_t side;

static double work(void)
{
    return 8e-9 * static_cast<double>(side) * static_cast<double>(side);
}

static const int column_of[] = {0, 0, 0, 0, 0, 1, 1, 2}; /* by the filter's size */

template <int N, int AHEAD, int THREADS, int BLOCKS, bool STREAMING = true> static void shape(int march = 128)
{
    tune_cell(column_of[N], args.y, static_cast<size_t>(side * side), work(), [=] {
        args.fr = args.fc = N;
        return mg__kernels_launch(conv_march<N, AHEAD, THREADS, BLOCKS, STREAMING, true>,
                                  conv_grid(&args, march, THREADS * 4), dim3(THREADS), 0, nullptr, args, march, filter);
    });
}

extern "C" void tune_conv2d(void)
{
    static const char *const columns[] = {"3x3", "5x5", "7x7"};
    side = bench_on_simulator() ? 512 : 16384;
    tune_table("16384x16384 elements", "GB/s", 1e-5f, columns, 3);
    float *x = tune_random_f32(side * side, 1),
          *y = static_cast<float *>(tune_alloc(static_cast<size_t>(side * side) * 4));
    args.rows = args.cols = args.ldx = args.ldy = side;
    args.x = x;
    args.y = y;
    for (int i = 0; i < 49; i++)
        filter.f[i] = 0.01f * static_cast<float>(i + 1);
    tune_row("the rung constant filter");
    for (int n = 3; n <= 7; n += 2)
        tune_cell(column_of[n], y, static_cast<size_t>(side * side), work(), [=] {
            args.fr = args.fc = n;
            return mg__conv2d_constant(nullptr, &args, &filter);
        });
    tune_row("device copy");
    for (int n = 3; n <= 7; n += 2)
        tune_cell(column_of[n], nullptr, 0, work(), [=] {
            return cudaMemcpyAsync(y, x, static_cast<size_t>(side * side) * 4, cudaMemcpyDeviceToDevice, nullptr);
        });
    tune_row("1 row ahead, 8, 8, 5 blocks");
    shape<3, 1, 128, 8>();
    shape<5, 1, 128, 8>();
    shape<7, 1, 128, 5>();
    tune_row("2 rows ahead, 8, 6, 4 blocks");
    shape<3, 2, 128, 8>();
    shape<5, 2, 128, 6>();
    shape<7, 2, 128, 4>();
    tune_row("3 rows ahead, 6, 5, 4 blocks");
    shape<3, 3, 128, 6>();
    shape<5, 3, 128, 5>();
    shape<7, 3, 128, 4>();
    tune_row("4 rows ahead, 6, 4, 3 blocks");
    shape<3, 4, 128, 6>();
    shape<5, 4, 128, 4>();
    shape<7, 4, 128, 3>();
    tune_row("as chosen: 3, 4, 2 rows ahead, but marches of 32 rows");
    shape<3, 3, 128, 6>(32);
    shape<5, 4, 128, 4>(32);
    shape<7, 2, 128, 4>(32);
    tune_row("marches of 64 rows");
    shape<3, 3, 128, 6>(64);
    shape<5, 4, 128, 4>(64);
    shape<7, 2, 128, 4>(64);
    tune_row("marches of 256 rows");
    shape<3, 3, 128, 6>(256);
    shape<5, 4, 128, 4>(256);
    shape<7, 2, 128, 4>(256);
    tune_row("256 threads");
    shape<3, 3, 256, 3>();
    shape<5, 4, 256, 2>();
    shape<7, 2, 256, 2>();
    tune_row("stores without the hint that y is not used again");
    shape<3, 3, 128, 6, false>();
    shape<5, 4, 128, 4, false>();
    shape<7, 2, 128, 4, false>();
}
