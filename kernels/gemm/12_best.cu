/* 12_best.cu - adds: the pipeline's tile, its depth and the split of k, chosen for the size.
 *
 * Four shapes of pipeline.cuh. The larger a thread's part of C, the fewer shared loads a product: 8x16 elements need six
 * 128-bit loads for 128 products. But a tile is computed by one multiprocessor, and a multiprocessor without one does
 * nothing: a C of 2048x512 has 32 tiles of 128x256, for 132 multiprocessors. There, tiles of 64x128, with k split among four
 * groups of warps so that each still has 16 warps to hide latency, make 128.
 *
 * The choice is by the time that the busiest multiprocessor takes: its tiles, times their elements, over the rate of
 * the shape, as measured on an H100 (docs/tuning/gemm.md has the table and what else was tried). The loop of a step is kept
 * under 1,200 instructions: at twice that every shape lost a tenth, since the instruction cache no longer holds it.
 */
#include "gemm/pipeline.cuh"

typedef gemm_shape<128, 256, 8, 8, 16, 1, 4, 1> large;
typedef gemm_shape<128, 128, 16, 8, 8, 1, 3, 2> medium;
typedef gemm_shape<64, 128, 32, 8, 8, 4, 4, 1> small;
typedef gemm_shape<64, 64, 32, 8, 8, 4, 3, 2> tiny;

/* TFLOP/s on an H100, all multiprocessors busy. */
static constexpr double LARGE_RATE = 53.0, MEDIUM_RATE = 52.0, SMALL_RATE = 47.5, TINY_RATE = 45.0;

/* The time of the busiest multiprocessor, in a unit that is the same for all shapes. */
template <class S> static double cost(const struct gemm_args *args, int multiprocessors, double rate)
{
    double tiles = static_cast<double>(gemm_tiles(args->m, S::BM)) * static_cast<double>(gemm_tiles(args->n, S::BN));
    double most = static_cast<double>(static_cast<int64_t>((tiles + multiprocessors - 1) / multiprocessors));
    return most * S::BM * S::BN / rate;
}

enum mg_kernels_status mg__gemm_best(cudaStream_t stream, const struct gemm_args *args)
{
    int count = mg__kernels_sm_count();
    double in_large = cost<large>(args, count, LARGE_RATE), in_medium = cost<medium>(args, count, MEDIUM_RATE);
    double in_small = cost<small>(args, count, SMALL_RATE), in_tiny = cost<tiny>(args, count, TINY_RATE);
    if (in_large <= in_medium && in_large <= in_small && in_large <= in_tiny)
        return gemm_run<large>(stream, args);
    if (in_medium <= in_small && in_medium <= in_tiny)
        return gemm_run<medium>(stream, args);
    return in_small <= in_tiny ? gemm_run<small>(stream, args) : gemm_run<tiny>(stream, args);
}
