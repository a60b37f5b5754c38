/* vectors.cuh - the kernel of the rung "vectorised", for any tile.
 *
 * A block turns ROWS x COLS elements of x. A thread reads V vectors of 16 bytes from V rows (V is 4, or 2 for 8-byte
 * elements), a square of VxV elements, or several such; turns them in its registers; and puts V vectors of y into the
 * tile. The tile's rows are rows of y and leave it as vectors too. Vectors are swizzled: the eight lanes that go
 * through the banks together hold eight different positions modulo 128 bytes, on the way in (eight columns of x) and on
 * the way out (eight neighbours in a row of y).
 */
#ifndef MG_TRANSPOSE_VECTORS_CUH
#define MG_TRANSPOSE_VECTORS_CUH
#include "transpose/transpose_priv.h"

/* The parts of a 16-byte vector, as elements. */
template <typename T> union transpose_parts {
    uint4 vector;
    T element[16 / sizeof(T)];
};

/* The tile whose first element of x is in row `top` and column `left`. WHOLE: all of it lies in the matrix, and no load
 * asks. STREAMING: with the hint that nothing is used again, on loads and stores. */
template <typename T, int ROWS, int COLS, int THREADS, bool STREAMING, bool WHOLE>
static __device__ void transpose_tile(uint4 *tile, int64_t rows, int64_t cols, int64_t top, int64_t left,
                                      const T *__restrict__ x, int64_t ldx, T *__restrict__ y, int64_t ldy)
{
    constexpr int V = 16 / sizeof(T), WIDE = COLS / V, HIGH = ROWS / V; /* the tile in squares of VxV */
    constexpr int TURNS = WIDE * HIGH / THREADS;
    static_assert(WIDE % 8 == 0 && HIGH % 8 == 0 && TURNS * THREADS == WIDE * HIGH, "shapes that the swizzle can do");
    transpose_parts<T> in[TURNS][V];
#pragma unroll
    for (int t = 0; t < TURNS; t++) {
        int square = static_cast<int>(threadIdx.x) + t * THREADS;
        int64_t i = top + square / WIDE * V, j = left + square % WIDE * V;
#pragma unroll
        for (int k = 0; k < V; k++) {
            const T *from = x + (i + k) * ldx + j;
            if (WHOLE || (i + k < rows && j + V <= cols)) {
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
        if (WHOLE || (j < cols && i + V <= rows)) {
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
}

/* A block a tile, as far as a grid goes; tiles along the rows of x come one after the other. */
template <typename T, int ROWS, int COLS, int THREADS, bool STREAMING>
static __global__ void __launch_bounds__(THREADS)
    transpose_vectors(int64_t rows, int64_t cols, const T *__restrict__ x, int64_t ldx, T *__restrict__ y, int64_t ldy)
{
    __shared__ uint4 tile[COLS * ROWS * sizeof(T) / 16];
    for (int64_t top = blockIdx.y * int64_t{ROWS}; top < rows; top += gridDim.y * int64_t{ROWS})
        for (int64_t left = blockIdx.x * int64_t{COLS}; left < cols; left += gridDim.x * int64_t{COLS}) {
            if (top + ROWS <= rows && left + COLS <= cols)
                transpose_tile<T, ROWS, COLS, THREADS, STREAMING, true>(tile, rows, cols, top, left, x, ldx, y, ldy);
            else
                transpose_tile<T, ROWS, COLS, THREADS, STREAMING, false>(tile, rows, cols, top, left, x, ldx, y, ldy);
            __syncthreads();
        }
}

template <typename T, int ROWS, int COLS, int THREADS, bool STREAMING>
static enum mg_kernels_status transpose_run(const struct mg__transpose *call)
{
    return mg__kernels_launch(transpose_vectors<T, ROWS, COLS, THREADS, STREAMING>,
                              mg__transpose_grid(call->rows, call->cols, ROWS, COLS), dim3(THREADS), 0, call->stream,
                              call->rows, call->cols, static_cast<const T *>(call->x), call->ldx,
                              static_cast<T *>(call->y), call->ldy);
}
#endif
