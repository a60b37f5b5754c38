/* march.cuh - the kernel of the best rung for small square filters.
 *
 * A thread owns four neighbouring columns and marches down `march` rows. For every input row it holds the row's window in
 * registers, its own four elements and the neighbours on both sides, and adds what the row gives to the N outputs that
 * lie within the filter's reach: N sets of four sums, of which one is finished and stored a row, and its registers begin
 * the next. Every input row is read once (and N - 1 more where a march begins). The loop is unrolled N times, so that the set
 * a sum is in is known at compile time; taps are operands from the constant bank.
 *
 * The window is 1 + 2 QUADS loads of 128 bits. A warp's loads of its neighbours' elements hit the first-level cache. AHEAD rows
 * are under way while one is used. Where rows do not begin at 16 bytes, or cols is not a multiple of 4, the window is loaded
 * element by element (VECTOR is false).
 */
#ifndef MG_CONV2D_MARCH_CUH
#define MG_CONV2D_MARCH_CUH
#include "conv2d/conv2d_priv.h"

/* A thread's columns: which of the quads around it lie in the image, told once. */
template <int QUADS, bool VECTOR> struct conv_columns {
    static constexpr int COUNT = VECTOR ? 1 + 2 * QUADS : 4 + 8 * QUADS;
    bool inside[COUNT];

    __device__ conv_columns(const conv_args &g, int64_t col)
    {
#pragma unroll
        for (int j = 0; j < COUNT; j++) {
            int64_t c = col - 4 * QUADS + j * (VECTOR ? 4 : 1);
            inside[j] = c >= 0 && c < g.cols;
        }
    }
};

/* Columns col - 4 QUADS … col + 4 QUADS + 3 of one row of x, of which those within REACH of the thread's four matter. */
template <int QUADS, bool VECTOR> struct conv_window {
    float v[4 + 8 * QUADS];

    /* `at` is the thread's first column in the row; zeros where the row or the column is not in the image. */
    template <int REACH> __device__ void load(const float *at, const conv_columns<QUADS, VECTOR> &columns, bool row_inside)
    {
#pragma unroll
        for (int j = 0; j < columns.COUNT; j++) {
            if (VECTOR) {
                float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                if (row_inside && columns.inside[j])
                    quad = __ldg(reinterpret_cast<const float4 *>(at + (j - QUADS) * 4));
                *reinterpret_cast<float4 *>(&v[j * 4]) = quad;
            } else if (j >= 4 * QUADS - REACH && j < 4 * QUADS + 4 + REACH) {
                v[j] = row_inside && columns.inside[j] ? __ldg(at + j - 4 * QUADS) : 0.0f;
            }
        }
    }
};

template <int QUADS, bool VECTOR, bool STREAMING = true>
__device__ static inline void conv_store(float *at, const conv_columns<QUADS, VECTOR> &columns, const float (&sum)[4])
{
    if (VECTOR) {
        float4 quad = make_float4(sum[0], sum[1], sum[2], sum[3]);
        if (columns.inside[QUADS] && STREAMING)
            __stcs(reinterpret_cast<float4 *>(at), quad);
        else if (columns.inside[QUADS])
            *reinterpret_cast<float4 *>(at) = quad;
    } else {
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (columns.inside[4 * QUADS + e])
                at[e] = sum[e];
    }
}

template <int N, int AHEAD, int THREADS, int BLOCKS, bool STREAMING, bool VECTOR>
static __global__ __launch_bounds__(THREADS, BLOCKS) void conv_march(conv_args g, int march, conv_filter filter)
{
    constexpr int R = N / 2, QUADS = (R + 3) / 4;
    int64_t tiles = (g.cols + THREADS * 4 - 1) / (THREADS * 4);
    int64_t row0 = blockIdx.x / tiles * march, col = (blockIdx.x % tiles * THREADS + threadIdx.x) * 4;
    conv_columns<QUADS, VECTOR> columns(g, col);
    /* Input rows are counted from row0 - R; those from `first` on, `count` of them, are in the image and wanted. */
    int height = g.rows - row0 < march ? static_cast<int>(g.rows - row0) : march;
    int first = row0 < R ? static_cast<int>(R - row0) : 0;
    int last = g.rows - row0 + R < height + N - 1 ? static_cast<int>(g.rows - row0) + R : height + N - 1;
    unsigned count = last - first;

    conv_window<QUADS, VECTOR> window[AHEAD + 1];
    const float *x = g.x + (row0 - R) * g.ldx + col;
    float *y = g.y + (row0 - (N - 1)) * g.ldy + col;
#pragma unroll
    for (int i = 0; i < AHEAD; i++, x += g.ldx)
        window[i].template load<R>(x, columns, static_cast<unsigned>(i - first) < count);

    float sum[N][4];
#pragma unroll
    for (int s = 0; s < N; s++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            sum[s][e] = 0.0f;
    for (int base = 0; base < height + N - 1; base += N) {
#pragma unroll
        for (int u = 0; u < N; u++, x += g.ldx, y += g.ldy) {
            window[AHEAD].template load<R>(x, columns, static_cast<unsigned>(base + u + AHEAD - first) < count);
#pragma unroll
            for (int p = 0; p < N; p++) {
                const int s = (u - p + N) % N; /* the output whose row p this is */
#pragma unroll
                for (int q = 0; q < N; q++)
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        sum[s][e] = fmaf(filter.f[p * N + q], window[0].v[4 * QUADS - R + q + e], sum[s][e]);
            }
            const int done = (u + 1) % N; /* it has had its last row */
            if (static_cast<unsigned>(base + u - (N - 1)) < static_cast<unsigned>(height))
                conv_store<QUADS, VECTOR, STREAMING>(y, columns, sum[done]);
#pragma unroll
            for (int e = 0; e < 4; e++)
                sum[done][e] = 0.0f;
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
                window[i] = window[i + 1];
        }
    }
}
#endif
