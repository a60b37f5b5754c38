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

/* 16 bytes of x. Volatile, so that all loads of a thread stay in front of what is done with the first; and like the stores
 * in assembly, which the compiler does not take apart. */
template <bool STREAMING> static __device__ inline uint4 transpose_read(const void *at)
{
    uint4 v;
    if (STREAMING)
        asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(at));
    else
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(at));
    return v;
}

template <bool STREAMING> static __device__ inline void transpose_write(void *at, uint4 v)
{
    if (STREAMING)
        asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w));
    else
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w));
}

/* The tile whose first element of x is `x`, and of y `y`, of which `high` rows and `wide` columns lie in the matrix. WHOLE:
 * all do, and no load asks. STREAMING: with the hint that nothing is used again, on loads and stores. Stride: an int, if
 * offsets within a tile are ints: what a block does before its first load is to work out addresses. */
template <typename T, int ROWS, int COLS, int THREADS, bool STREAMING, bool WHOLE, typename Stride>
static __device__ void transpose_tile(uint4 *tile, int high, int wide, const T *__restrict__ x, Stride ldx,
                                      T *__restrict__ y, Stride ldy)
{
    constexpr int V = 16 / sizeof(T), WIDE = COLS / V, HIGH = ROWS / V; /* the tile in squares of VxV */
    constexpr int TURNS = WIDE * HIGH / THREADS;
    static_assert(WIDE % 8 == 0 && HIGH % 8 == 0 && TURNS * THREADS == WIDE * HIGH, "shapes that the swizzle can do");
    transpose_parts<T> in[TURNS][V];
#pragma unroll
    for (int t = 0; t < TURNS; t++) {
        int square = static_cast<int>(threadIdx.x) + t * THREADS, i = square / WIDE * V, j = square % WIDE * V;
#pragma unroll
        for (int k = 0; k < V; k++) {
            const T *from = x + (i + k) * ldx + j;
            if (WHOLE || (i + k < high && j + V <= wide)) {
                in[t][k].vector = transpose_read<STREAMING>(from);
            } else {
#pragma unroll
                for (int e = 0; e < V; e++)
                    in[t][k].element[e] = i + k < high && j + e < wide ? from[e] : T{0};
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
        int vector = static_cast<int>(threadIdx.x) + t * THREADS, row = vector / HIGH, at = vector % HIGH, i = at * V;
        transpose_parts<T> out;
        out.vector = tile[row * HIGH + (at ^ (row / V & 7))];
        T *to = y + row * ldy + i;
        if (WHOLE || (row < wide && i + V <= high)) {
            transpose_write<STREAMING>(to, out.vector);
        } else if (row < wide) {
#pragma unroll
            for (int e = 0; e < V; e++)
                if (i + e < high)
                    to[e] = out.element[e];
        }
    }
}

/* Matrices that are whole tiles: a block each, and nothing else in the kernel, for where launching is most of the time,
 * fetching its instructions counts, too. */
template <typename T, int ROWS, int COLS, int THREADS, bool STREAMING>
static __global__ void __launch_bounds__(THREADS)
    transpose_whole(const T *__restrict__ x, int ldx, T *__restrict__ y, int ldy)
{
    __shared__ uint4 tile[COLS * ROWS * sizeof(T) / 16];
    int64_t left = blockIdx.x * int64_t{COLS}, top = blockIdx.y * int64_t{ROWS};
    transpose_tile<T, ROWS, COLS, THREADS, STREAMING, true>(tile, ROWS, COLS, x + top * ldx + left, ldx,
                                                            y + left * ldy + top, ldy);
}

/* Any matrix: a block a tile, as far as a grid goes, which is always far enough for the columns. */
template <typename T, int ROWS, int COLS, int THREADS, bool STREAMING>
static __global__ void __launch_bounds__(THREADS)
    transpose_vectors(int64_t rows, int64_t cols, const T *__restrict__ x, int64_t ldx, T *__restrict__ y, int64_t ldy)
{
    __shared__ uint4 tile[COLS * ROWS * sizeof(T) / 16];
    int64_t left = blockIdx.x * int64_t{COLS};
    int wide = static_cast<int>(cols - left < COLS ? cols - left : COLS);
    for (int64_t top = blockIdx.y * int64_t{ROWS}; top < rows; top += gridDim.y * int64_t{ROWS}) {
        int high = static_cast<int>(rows - top < ROWS ? rows - top : ROWS);
        const T *from = x + top * ldx + left;
        T *to = y + left * ldy + top;
        if (high == ROWS && wide == COLS)
            transpose_tile<T, ROWS, COLS, THREADS, STREAMING, true>(tile, high, wide, from, ldx, to, ldy);
        else
            transpose_tile<T, ROWS, COLS, THREADS, STREAMING, false>(tile, high, wide, from, ldx, to, ldy);
        __syncthreads();
    }
}

/* BLOCKS: the most that a multiprocessor is to have at a time, for which each takes its part of the shared memory; 0: as
 * many as fit. */
template <typename T, int ROWS, int COLS, int THREADS, bool STREAMING, int BLOCKS = 0>
static enum mg_kernels_status transpose_run(const struct mg__transpose *call)
{
    constexpr int TILE = ROWS * COLS * sizeof(T), MOST = INT32_MAX / (ROWS > COLS ? ROWS : COLS);
    dim3 grid = mg__transpose_grid(call->rows, call->cols, ROWS, COLS);
    const T *x = static_cast<const T *>(call->x);
    T *y = static_cast<T *>(call->y);
    int more = BLOCKS ? mg__kernels_shared_part(BLOCKS) - TILE : 0;
    size_t shared = more > 0 ? static_cast<size_t>(more) : 0;
    if (call->rows == grid.y * int64_t{ROWS} && call->cols == grid.x * int64_t{COLS} && call->ldx <= MOST &&
        call->ldy <= MOST)
        return mg__kernels_launch(transpose_whole<T, ROWS, COLS, THREADS, STREAMING>, grid, dim3(THREADS), shared,
                                  call->stream, x, static_cast<int>(call->ldx), y, static_cast<int>(call->ldy));
    return mg__kernels_launch(transpose_vectors<T, ROWS, COLS, THREADS, STREAMING>, grid, dim3(THREADS), shared,
                              call->stream, call->rows, call->cols, x, call->ldx, y, call->ldy);
}
#endif
