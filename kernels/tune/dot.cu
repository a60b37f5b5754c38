/* dot.cu - shapes of the stream at the end of dot's ladder: threads, loads in flight a thread of each array, the most
 * blocks there are. */
#include "tune.h"

#define MG_FOLD_BLOCKS_MAX 65536
#include "common/fold.cuh"

static int64_t sizes[2];
static float *x, *y, *result;
static void *workspace;

template <int THREADS, int UNROLL, enum fold_order ORDER, int BLOCKS> static void shape(const char *name)
{
    tune_row(name);
    for (int i = 0; i < 2; i++)
        tune_cell(i, result, 1, 8e-9 * static_cast<double>(sizes[i]), [=] {
            return fold_stream<fold_sum<float>, THREADS, UNROLL, ORDER, BLOCKS, FOLD_DEPENDENT>(
                nullptr, fold_product<float, true>{x, y, x, y}, 0, sizes[i], result, workspace);
        });
}

extern "C" void tune_dot(void)
{
    static const char *const columns[] = {"2^20", "2^28"};
    bool simulated = bench_on_simulator();
    sizes[0] = simulated ? 1 << 14 : 1 << 20;
    sizes[1] = simulated ? 1 << 17 : 1 << 28;
    tune_table("Dot products of floats", "GB/s", 1e-4f, columns, 2);
    x = tune_random_f32(sizes[1], 1);
    y = tune_random_f32(sizes[1], 2);
    result = static_cast<float *>(tune_alloc(4));
    workspace = tune_alloc(FOLD_STREAM_BYTES);
    shape<512, 4, FOLD_PIECES, 8192>("512 threads, 4 loads, 8192 pieces");
    shape<1024, 1, FOLD_PIECES, 8192>("1024 threads, 1 loads, 8192 pieces");
    shape<1024, 1, FOLD_PIECES, 65536>("1024 threads, 1 loads, 65536 pieces");
    shape<512, 2, FOLD_PIECES, 65536>("512 threads, 2 loads, 65536 pieces");
    shape<512, 4, FOLD_PIECES, 32768>("512 threads, 4 loads, 32768 pieces");
    shape<1024, 2, FOLD_PIECES, 32768>("1024 threads, 2 loads, 32768 pieces");
    shape<256, 4, FOLD_PIECES, 65536>("256 threads, 4 loads, 65536 pieces");
    shape<512, 4, FOLD_SWEEP, 3>("512 threads, 4 loads, sweep of 3 blocks");
    shape<512, 2, FOLD_SWEEP, 4>("512 threads, 2 loads, sweep of 4 blocks");
    shape<512, 2, FOLD_SWEEP, 3>("512 threads, 2 loads, sweep of 3 blocks");
    shape<512, 4, FOLD_SWEEP, 2>("512 threads, 4 loads, sweep of 2 blocks");
    shape<512, 1, FOLD_SWEEP, 4>("512 threads, 1 loads, sweep of 4 blocks");
    shape<1024, 1, FOLD_SWEEP, 2>("1024 threads, 1 loads, sweep of 2 blocks");
    shape<1024, 2, FOLD_SWEEP, 2>("1024 threads, 2 loads, sweep of 2 blocks");
    shape<1024, 2, FOLD_SWEEP, 1>("1024 threads, 2 loads, sweep of 1 blocks");
    shape<1024, 4, FOLD_SWEEP, 1>("1024 threads, 4 loads, sweep of 1 blocks");
    shape<256, 4, FOLD_SWEEP, 6>("256 threads, 4 loads, sweep of 6 blocks");
    shape<256, 2, FOLD_SWEEP, 8>("256 threads, 2 loads, sweep of 8 blocks");
}
