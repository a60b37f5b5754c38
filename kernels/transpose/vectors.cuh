/* vectors.cuh - the kernel of the rung "vectorised", for any tile.
 *
 * A block turns ROWS x COLS elements of x. A thread reads V vectors of 16 bytes from V rows (V is 4, or 2 for 8-byte
 * elements), a square of VxV elements, or several such; turns them in its registers; and puts V vectors of y into the tile. The
 * tile's rows are rows of y and leave it as vectors too. Vectors are swizzled: the eight lanes that go through the banks
 * together hold eight different positions modulo 128 bytes, on the way in (eight columns of x) and on the way out (eight
 * neighbours in a row of y). Tiles are taken in strips of 2^group_log2 rows of tiles, column by column in a strip.
 */
#ifndef MG_TRANSPOSE_VECTORS_CUH
#define MG_TRANSPOSE_VECTORS_CUH
#include "transpose/transpose_priv.h"

/* The parts of a 16-byte vector, as elements. */
template <typename T> union transpose_parts {
    uint4 vector;
    T element[16 / sizeof(T)];
};

/* STREAMING: with the hint that nothing is used again, on loads and stores. */
template <typename T, int ROWS, int COLS, int THREADS, bool STREAMING>
static __global__ void __launch_bounds__(THREADS)
    transpose_vectors(int64_t rows, int64_t cols, const T *__restrict__ x, int64_t ldx, T *__restrict__ y, int64_t ldy,
                      int group_log2)
{
    constexpr int V = 16 / sizeof(T), WIDE = COLS / V, HIGH = ROWS / V; /* the tile in squares of VxV */
    constexpr int TURNS = WIDE * HIGH / THREADS;
    static_assert(WIDE % 8 == 0 && HIGH % 8 == 0 && TURNS * THREADS == WIDE * HIGH, "shapes that the swizzle can do");
    __shared__ uint4 tile[COLS * HIGH];
    int64_t tiles_down = (rows + ROWS - 1) / ROWS, tiles_across = (cols + COLS - 1) / COLS;
    int64_t group = int64_t{1} << group_log2;
    for (int64_t strip = blockIdx.y * group; strip < tiles_down; strip += gridDim.y * group) {
        for (int64_t id = blockIdx.x; id < tiles_across * group; id += gridDim.x) {
            int64_t top = (strip + (id & (group - 1))) * ROWS, left = (id >> group_log2) * COLS;
            if (top >= rows)
                continue; /* the whole block: the last strip may have fewer rows of tiles */
            bool whole = top + ROWS <= rows && left + COLS <= cols;
            transpose_parts<T> in[TURNS][V];
#pragma unroll
            for (int t = 0; t < TURNS; t++) {
                int square = static_cast<int>(threadIdx.x) + t * THREADS;
                int64_t i = top + square / WIDE * V, j = left + square % WIDE * V;
#pragma unroll
                for (int k = 0; k < V; k++) {
                    const T *from = x + (i + k) * ldx + j;
                    if (whole || (i + k < rows && j + V <= cols)) {
                        const uint4 *at = reinterpret_cast<const uint4 *>(from);
                        in[t][k].vector = STREAMING ? __ldcs(at) : *at;
                    } else {
#pragma unroll
                        for (int e = 0; e < V; e++)
                            in[t][k].element[e] = i + k < rows && j + e < cols ? from[e] : T{0};
                    }
                }
            }
#pragma unroll
            for (int t = 0; t < TURNS; t++) {
                int square = static_cast<int>(threadIdx.x) + t * THREADS, across = square % WIDE, down = square / WIDE;
#pragma unroll
                for (int k = 0; k < V; k++) {
                    transpose_parts<T> out;
#pragma unroll
                    for (int e = 0; e < V; e++)
                        out.element[e] = in[t][e].element[k];
                    tile[(across * V + k) * HIGH + (down ^ (across & 7))] = out.vector;
                }
            }
            __syncthreads();
#pragma unroll
            for (int t = 0; t < TURNS * V; t++) {
                int vector = static_cast<int>(threadIdx.x) + t * THREADS, row = vector / HIGH, at = vector % HIGH;
                int64_t j = left + row, i = top + at * V;
                transpose_parts<T> out;
                out.vector = tile[row * HIGH + (at ^ (row / V & 7))];
                T *to = y + j * ldy + i;
                if (whole || (j < cols && i + V <= rows)) {
                    if (STREAMING)
                        __stcs(reinterpret_cast<uint4 *>(to), out.vector);
                    else
                        *reinterpret_cast<uint4 *>(to) = out.vector;
                } else if (j < cols) {
#pragma unroll
                    for (int e = 0; e < V; e++)
                        if (i + e < rows)
                            to[e] = out.element[e];
                }
            }
            __syncthreads();
        }
    }
}

template <typename T, int ROWS, int COLS, int THREADS, bool STREAMING>
static enum mg_kernels_status transpose_run(const struct mg__transpose *call, int group_log2)
{
    int64_t tiles_across = (call->cols + COLS - 1) / COLS;
    dim3 grid(mg__kernels_grid(tiles_across << group_log2, 1, INT32_MAX),
              mg__kernels_grid(call->rows, int64_t{ROWS} << group_log2, 65535));
    return mg__kernels_launch(transpose_vectors<T, ROWS, COLS, THREADS, STREAMING>, grid, dim3(THREADS), 0, call->stream,
                              call->rows, call->cols, static_cast<const T *>(call->x), call->ldx,
                              static_cast<T *>(call->y), call->ldy, group_log2);
}
#endif
