/* 05_best.cu - adds: registers instead of shared memory, and as few loads as there can be.
 *
 * A convolution with a small filter moves 8 bytes an element, and with 3x3 to 7x7 taps that takes longer than its arithmetic:
 * it should run at the speed of a copy. march.cuh has that kernel. Larger filters and those that are not square are limited
 * by arithmetic: their kernel is here. A thread computes 4 columns of ROWS rows; going through the rows of the filter it needs,
 * for each, one input row more, and keeps the last ROWS windows in registers: a tap is loaded once for 4 ROWS products.
 */
#include "conv2d/march.cuh"

enum { ROWS = 4, THREADS = 128 };

template <int FC, bool VECTOR> static __global__ __launch_bounds__(THREADS) void wide(conv_args g, conv_filter filter)
{
    constexpr int R = FC / 2, QUADS = (R + 3) / 4;
    int64_t tiles = (g.cols + THREADS * 4 - 1) / (THREADS * 4);
    int64_t row0 = blockIdx.x / tiles * ROWS, col = (blockIdx.x % tiles * THREADS + threadIdx.x) * 4;
    conv_columns<QUADS, VECTOR> columns(g, col);
    int64_t row = row0 - g.fr / 2;
    const float *x = g.x + row * g.ldx + col;
    conv_window<QUADS, VECTOR> window[ROWS]; /* of input row row + i at i % ROWS */
    float sum[ROWS][4] = {};
#pragma unroll
    for (int i = 0; i < ROWS - 1; i++)
        window[i].template load<R>(x + i * g.ldx, columns, row + i >= 0 && row + i < g.rows);
    for (int base = 0; base < g.fr; base += ROWS) {
#pragma unroll
        for (int u = 0; u < ROWS; u++) {
            int p = base + u;
            if (p >= g.fr)
                break;
            int64_t last = row + p + ROWS - 1;
            window[(u + ROWS - 1) % ROWS].template load<R>(x + (p + ROWS - 1) * g.ldx, columns, last >= 0 && last < g.rows);
            const float *taps = filter.f + p * FC;
#pragma unroll
            for (int q = 0; q < FC; q++) {
                float tap = taps[q];
#pragma unroll
                for (int r = 0; r < ROWS; r++)
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        sum[r][e] = fmaf(tap, window[(u + r) % ROWS].v[4 * QUADS - R + q + e], sum[r][e]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (row0 + r < g.rows)
            conv_store<QUADS, VECTOR>(g.y + (row0 + r) * g.ldy + col, columns, sum[r]);
}

template <int FC>
static enum mg_kernels_status run_wide(cudaStream_t stream, const struct conv_args *args, const struct conv_filter *filter,
                                       bool vector)
{
    return mg__kernels_launch(vector ? wide<FC, true> : wide<FC, false>, conv_grid(args, ROWS, THREADS * 4), dim3(THREADS),
                              0, stream, *args, *filter);
}

template <int N>
static enum mg_kernels_status run_march(cudaStream_t stream, const struct conv_args *args, const struct conv_filter *filter,
                                        bool vector)
{
    /* docs/tuning/conv2d.md */
    constexpr int AHEAD = N == 3 ? 3 : N == 5 ? 4 : 2, SIZE = N == 3 ? 256 : 128, BLOCKS = N == 3 ? 3 : 4;
    /* Marches are long, since each begins with rows that another reads too; shorter where blocks would be too few. */
    int64_t across = (args->cols + SIZE * 4 - 1) / (SIZE * 4), resident = mg__kernels_sm_count() * int64_t{BLOCKS};
    int march = N == 3 ? 128 : 256;
    while (march > 16 && (args->rows + march - 1) / march * across < resident)
        march /= 2;
    return mg__kernels_launch(vector ? conv_march<N, AHEAD, SIZE, BLOCKS, true, true>
                                     : conv_march<N, AHEAD, SIZE, BLOCKS, true, false>,
                              conv_grid(args, march, SIZE * 4), dim3(SIZE), 0, stream, *args, march, *filter);
}

enum mg_kernels_status mg__conv2d_best(cudaStream_t stream, const struct conv_args *args, const struct conv_filter *filter)
{
    bool vector = reinterpret_cast<uintptr_t>(args->x) % 16 == 0 && reinterpret_cast<uintptr_t>(args->y) % 16 == 0 &&
                  args->ldx % 4 == 0 && args->ldy % 4 == 0 && args->cols % 4 == 0;
    if (args->fr == args->fc) {
        if (args->fc == 3)
            return run_march<3>(stream, args, filter, vector);
        if (args->fc == 5)
            return run_march<5>(stream, args, filter, vector);
        if (args->fc == 7)
            return run_march<7>(stream, args, filter, vector);
    }
    switch (args->fc) {
    case 1:
        return run_wide<1>(stream, args, filter, vector);
    case 3:
        return run_wide<3>(stream, args, filter, vector);
    case 5:
        return run_wide<5>(stream, args, filter, vector);
    case 7:
        return run_wide<7>(stream, args, filter, vector);
    case 9:
        return run_wide<9>(stream, args, filter, vector);
    case 11:
        return run_wide<11>(stream, args, filter, vector);
    case 13:
        return run_wide<13>(stream, args, filter, vector);
    default:
        return run_wide<15>(stream, args, filter, vector);
    }
}
