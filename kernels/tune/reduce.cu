/* reduce.cu - shapes of the stream at the end of the ladders of reduce and square_sum: threads, loads in flight a
 * thread, the most blocks there are, and how the blocks' values are joined. */
#include "tune.h"

#include "common/fold.cuh"

static int64_t sizes[2];
static float *x, *result;
static void *workspace;

template <int THREADS, int UNROLL, enum fold_end END> static void shape(const char *name)
{
    tune_row(name);
    for (int i = 0; i < 2; i++)
        tune_cell(i, result, 1, 4e-9 * static_cast<double>(sizes[i]), [=] {
            return fold_stream_shape<fold_sum<float>, THREADS, UNROLL, END>(nullptr, fold_plain<float>{x, x}, 0,
                                                                            sizes[i], result, workspace);
        });
}

extern "C" void tune_reduce(void)
{
    static const char *const columns[] = {"2^20", "2^28"};
    bool simulated = bench_on_simulator();
    sizes[0] = simulated ? 1 << 14 : 1 << 20;
    sizes[1] = simulated ? 1 << 17 : 1 << 28;
    tune_table("Sums of floats", "GB/s", 1e-4f, columns, 2);
    x = tune_random_f32(sizes[1], 1);
    result = static_cast<float *>(tune_alloc(4));
    workspace = tune_alloc(256 + FOLD_BLOCKS_MAX * 4);
    shape<1024, 2, FOLD_DEPENDENT>("1024 threads, 2 loads");
    shape<1024, 1, FOLD_DEPENDENT>("1024 threads, 1 loads");
    shape<1024, 3, FOLD_DEPENDENT>("1024 threads, 3 loads");
    shape<1024, 4, FOLD_DEPENDENT>("1024 threads, 4 loads");
    shape<768, 2, FOLD_DEPENDENT>("768 threads, 2 loads");
    shape<768, 3, FOLD_DEPENDENT>("768 threads, 3 loads");
    shape<512, 1, FOLD_DEPENDENT>("512 threads, 1 loads");
    shape<512, 2, FOLD_DEPENDENT>("512 threads, 2 loads");
    shape<512, 3, FOLD_DEPENDENT>("512 threads, 3 loads");
    shape<512, 4, FOLD_DEPENDENT>("512 threads, 4 loads");
    shape<256, 2, FOLD_DEPENDENT>("256 threads, 2 loads");
    shape<256, 4, FOLD_DEPENDENT>("256 threads, 4 loads");
    shape<256, 8, FOLD_DEPENDENT>("256 threads, 8 loads");
    shape<128, 4, FOLD_DEPENDENT>("128 threads, 4 loads");
    shape<128, 8, FOLD_DEPENDENT>("128 threads, 8 loads");
    shape<1024, 2, FOLD_TICKET>("1024 threads, 2 loads, tickets");
}
