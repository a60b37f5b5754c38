/* kernels.cu - kernels with a known best remedy, each beside what must be the first advice for it.
 *
 * Above a kernel stands
 *     // ADVISE <kernel>: <id> [name=value ...] [twin=<kernel>]
 * which test_advise.py holds the report to: the first piece of advice is `id`, its values (or the launch's: uses.., and
 * counts of the record) are those given, and the counters that it predicts are those that the twin, the same kernel with the
 * advice followed, is then profiled with. Every kernel is launched once; results are not looked at here, but kernels and twins
 * are written to compute something, so that the compiler leaves them alone.
 *
 * Usage: kernels [NAME ...]: all, or those named.
 */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N (64 * 1024) /* floats of the one-dimensional kernels */
#define W 256         /* rows and columns of the two-dimensional ones */

/* ---- nothing to do ---- */

// ADVISE vector_add: nothing
__global__ void vector_add(float *c, const float *a, const float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

// ADVISE vector_scale4: nothing
__global__ void vector_scale4(float4 *c, const float4 *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = a[i];
    c[i] = make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2);
}

// ADVISE does_nothing: nothing
__global__ void does_nothing(float *c, const float *a)
{
    if (c == a)
        c[threadIdx.x] = 0;
}

/* Each byte is read twice in a block: about even, so shared memory does not pay. */
// ADVISE two_reads: nothing verdict=no
__global__ void two_reads(float *c, const float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + a[i ^ 1];
}

/* ---- transpose, and bank conflicts of every width ---- */

// ADVISE transpose_naive: stage-order twin=transpose_padded
__global__ void transpose_naive(float *out, const float *in)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[x * W + y + i] = in[(y + i) * W + x];
}

// ADVISE transpose_shared: pad verdict=conflicts row_elements=32 pad_elements=1 element_bytes=4 added_bytes=128 conflicts_then=0 swizzle_mask=31 twin=transpose_padded
__global__ void transpose_shared(float *out, const float *in)
{
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * W + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[(y + i) * W + x] = tile[threadIdx.x][threadIdx.y + i];
}

// ADVISE transpose_padded: nothing verdict=already
__global__ void transpose_padded(float *out, const float *in)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * W + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[(y + i) * W + x] = tile[threadIdx.x][threadIdx.y + i];
}

// ADVISE transpose_swizzled: nothing
__global__ void transpose_swizzled(float *out, const float *in)
{
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x ^ (threadIdx.y + i)] = in[(y + i) * W + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[(y + i) * W + x] = tile[threadIdx.x][(threadIdx.y + i) ^ threadIdx.x];
}

/* A tile of 16 x 16: a warp takes two rows, and no number of columns more frees both the rows and the columns from
 * conflicts. Two words after every 32 do. */
template <int PAD> __device__ void transpose16(float *out, const float *in)
{
    __shared__ float tile[256 + 8 * PAD];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int at = threadIdx.y * 16 + threadIdx.x, back = threadIdx.x * 16 + threadIdx.y;
    tile[at + at / 32 * PAD] = in[y * W + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    out[y * W + x] = tile[back + back / 32 * PAD];
}
// ADVISE transpose16_shared: pad row_elements=32 pad_elements=2 added_bytes=64 conflicts_then=0 twin=transpose16_padded
__global__ void transpose16_shared(float *out, const float *in)
{
    transpose16<0>(out, in);
}
__global__ void transpose16_padded(float *out, const float *in)
{
    transpose16<2>(out, in);
}

/* Elements of 8 bytes. */
template <int PAD> __device__ void transpose_wide(double *out, const double *in)
{
    __shared__ double tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * 128 + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[(y + i) * 128 + x] = tile[threadIdx.x][threadIdx.y + i];
}
// ADVISE transpose_double: pad row_elements=32 pad_elements=1 element_bytes=8 conflicts_then=0 twin=transpose_double_padded
__global__ void transpose_double(double *out, const double *in)
{
    transpose_wide<0>(out, in);
}
__global__ void transpose_double_padded(double *out, const double *in)
{
    transpose_wide<1>(out, in);
}

/* A static tile that fills the 48 KiB: padding does not fit, a permutation does. */
template <bool SWIZZLE> __device__ void full_tile(float *out, const float *in)
{
    __shared__ float tile[96][128];
    for (int r = threadIdx.y; r < 96; r += 8)
        for (int c = threadIdx.x; c < 128; c += 32)
            tile[r][SWIZZLE ? c ^ (r & 31) : c] = in[r * W + c];
    __syncthreads();
    for (int c = threadIdx.y; c < 128; c += 8)
        for (int r = threadIdx.x; r < 96; r += 32)
            out[c * W + r] = tile[r][SWIZZLE ? c ^ (r & 31) : c];
}
// ADVISE tile_of_48k: swizzle row_elements=128 swizzle_mask=31 added_bytes=0 conflicts_then=0 twin=tile_of_48k_swizzled
__global__ void tile_of_48k(float *out, const float *in)
{
    full_tile<false>(out, in);
}
__global__ void tile_of_48k_swizzled(float *out, const float *in)
{
    full_tile<true>(out, in);
}

/* A distance of two words: pad by the row of banks. */
template <bool PAD> __device__ void every_second(float *out, const float *in)
{
    __shared__ float buffer[PAD ? 528 : 512];
#define AT(i) (PAD ? (i) + (i) / 32 : (i))
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    buffer[AT(t)] = in[i];
    buffer[AT(t + 256)] = in[i + 256];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += buffer[AT((2 * t + 64 * k) & 511)] * buffer[AT((2 * t + 64 * k + 1) & 511)];
    out[i] = sum;
}
// ADVISE stride_of_two: pad row_elements=32 pad_elements=1 conflicts_then=0 twin=stride_of_two_padded
__global__ void stride_of_two(float *out, const float *in)
{
    every_second<false>(out, in);
}
__global__ void stride_of_two_padded(float *out, const float *in)
{
    every_second<true>(out, in);
}

/* Lanes 32 words apart, as in data[tid * 32]. */
template <int ROW> __device__ void rows_apart(float *out, const float *in)
{
    __shared__ float data[64 * ROW];
    int t = threadIdx.x, i = blockIdx.x * 2048 + t;
    for (int k = 0; k < 32; k++)
        data[t / 32 * ROW + t % 32 + k * 2 * ROW] = in[i + k * 64] * 2;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 32; k++)
        sum += data[t * ROW + k];
    out[blockIdx.x * 64 + t] = sum;
}
// ADVISE lanes_32_apart: pad row_elements=32 pad_elements=1 conflicts_then=0 twin=lanes_33_apart
__global__ void lanes_32_apart(float *out, const float *in)
{
    rows_apart<32>(out, in);
}
// ADVISE lanes_33_apart: nothing
__global__ void lanes_33_apart(float *out, const float *in)
{
    rows_apart<33>(out, in);
}

/* ---- matrix products ---- */

// ADVISE matmul_naive: stage verdict=pay twin=matmul_tiled
__global__ void matmul_naive(float *c, const float *a, const float *b)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < 64; k++)
        sum += a[row * 64 + k] * b[k * 64 + col];
    c[row * 64 + col] = sum;
}

// ADVISE matmul_tiled: nothing verdict=already
__global__ void matmul_tiled(float *c, const float *a, const float *b)
{
    __shared__ float ta[16][16], tb[16][16];
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < 64; t += 16) {
        ta[threadIdx.y][threadIdx.x] = a[row * 64 + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * 64 + col];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[row * 64 + col] = sum;
}

/* A tile that is filled down its columns: nothing but the fill depends on that order. */
// ADVISE matmul_columns: swap verdict=already twin=matmul_tiled
__global__ void matmul_columns(float *c, const float *a, const float *b)
{
    __shared__ float ta[16][16], tb[16][17];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int t = 0; t < 64; t += 16) {
        ta[y][x] = a[row * 64 + t + x];
        tb[x][y] = b[(t + x) * 64 + blockIdx.x * 16 + y];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += ta[y][k] * tb[k][x];
        __syncthreads();
    }
    c[row * 64 + col] = sum;
}

/* Both matrices are read along their rows, so that lanes are rows apart in b: a tile mends the order and the reuse. */
// ADVISE matmul_by_rows: stage verdict=pay
__global__ void matmul_by_rows(float *c, const float *a, const float *b)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < 64; k++)
        sum += a[row * 64 + k] * b[col * 64 + k];
    c[row * 64 + col] = sum;
}

/* The tiles come by asynchronous copies, one ahead of the one that is used. */
// ADVISE matmul_copies: nothing verdict=already
__global__ void matmul_copies(float *c, const float *a, const float *b)
{
    __shared__ float ta[2][16][16], tb[2][16][16];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int t = 0; t <= 4; t++) {
        if (t < 4) {
            __pipeline_memcpy_async(&ta[t & 1][y][x], &a[row * 64 + t * 16 + x], 4);
            __pipeline_memcpy_async(&tb[t & 1][y][x], &b[(t * 16 + y) * 64 + col], 4);
        }
        __pipeline_commit();
        if (!t)
            continue;
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += ta[(t - 1) & 1][y][k] * tb[(t - 1) & 1][k][x];
        __syncthreads();
    }
    c[row * 64 + col] = sum;
}

/* ---- the wrong way round ---- */

// ADVISE add_by_columns: swap twin=add_by_rows
__global__ void add_by_columns(float *c, const float *a, const float *b)
{
    int row = blockIdx.x * 16 + threadIdx.x, col = blockIdx.y * 16 + threadIdx.y;
    c[row * W + col] = a[row * W + col] + b[row * W + col];
}

// ADVISE add_by_rows: nothing
__global__ void add_by_rows(float *c, const float *a, const float *b)
{
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    c[row * W + col] = a[row * W + col] + b[row * W + col];
}

// ADVISE write_columns: swap twin=write_rows
__global__ void write_columns(float *out)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[x * W + y] = x * 0.5f + y;
}
__global__ void write_rows(float *out)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[y * W + x] = x * 0.5f + y;
}

// ADVISE copy_chunks: swap twin=copy_strided
__global__ void copy_chunks(float *out, const float *in)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 16; k++)
        out[t * 16 + k] = in[t * 16 + k] * 3;
}
__global__ void copy_strided(float *out, const float *in)
{
    int t = blockIdx.x * blockDim.x * 16 + threadIdx.x;
    for (int k = 0; k < 16; k++)
        out[t + k * blockDim.x] = in[t + k * blockDim.x] * 3;
}

/* A thread sums a row: its own order is wanted, so a tile must change it. */
// ADVISE sum_rows: stage-order verdict=pay twin=sum_rows_tiled
__global__ void sum_rows(float *out, const float *in)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < W; k++)
        sum += in[row * W + k];
    out[row] = sum;
}

// ADVISE sum_rows_tiled: nothing verdict=already
__global__ void sum_rows_tiled(float *out, const float *in)
{
    __shared__ float tile[128][33];
    int t = threadIdx.x, row = blockIdx.x * 128;
    float sum = 0;
    for (int c = 0; c < W; c += 32) {
        for (int r = t / 32; r < 128; r += 4)
            tile[r][t % 32] = in[(row + r) * W + c + t % 32];
        __syncthreads();
        for (int k = 0; k < 32; k++)
            sum += tile[t][k];
        __syncthreads();
    }
    out[row + t] = sum;
}

/* ---- records ---- */
struct particle {
    float x, y, z, w;
};

// ADVISE sum_fields: vectorise twin=sum_vector
__global__ void sum_fields(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[4 * i] + in[4 * i + 1] + in[4 * i + 2] + in[4 * i + 3];
}
__global__ void sum_vector(float *out, const float4 *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = in[i];
    out[i] = v.x + v.y + v.z + v.w;
}

// ADVISE one_field: fields twin=one_array
__global__ void one_field(float *out, const particle *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i].y * 2;
}
__global__ void one_array(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 2;
}

// ADVISE every_32nd: fields twin=packed
__global__ void every_32nd(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * 32] * 2;
}
__global__ void packed(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 2;
}

/* All lanes read one element: one sector, and no reason for a tile. */
// ADVISE broadcast: nothing
__global__ void broadcast(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[blockIdx.x] * threadIdx.x;
}

/* ---- where accesses start ---- */

// ADVISE shifted: align twin=aligned
__global__ void shifted(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i + 1] = in[i + 1] * 2;
}
__global__ void aligned(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 2;
}

// ADVISE narrow_block: widen twin=wide_block
__global__ void narrow_block(float *out, const float *in)
{
    int x = blockIdx.x * 4 + threadIdx.x, y = blockIdx.y * 64 + threadIdx.y;
    out[y * W + x] = in[y * W + x] * 2;
}

__global__ void wide_block(float *out, const float *in)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[y * W + x] = in[y * W + x] * 2;
}

// ADVISE gather: gather
__global__ void gather(float *out, const float *in, const int *index)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[index[i]];
}

/* ---- reuse ---- */

// ADVISE look_up: stage
__global__ void look_up(float *out, const int *index, const float *table)
{
    int i = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    for (int k = 0; k < 8; k++)
        out[i + k * blockDim.x] = table[index[i + k * blockDim.x] & 255];
}

/* A table in constant memory, and coefficients there: the one is read at as many places as there are lanes, the others
 * at one. */
__constant__ float constants[256];
// ADVISE look_up_constant: constant twin=look_up_shared
__global__ void look_up_constant(float *out, const int *index)
{
    int i = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    for (int k = 0; k < 8; k++)
        out[i + k * blockDim.x] = constants[index[i + k * blockDim.x] & 255];
}
// ADVISE look_up_shared: nothing
__global__ void look_up_shared(float *out, const int *index, const float *table)
{
    __shared__ float mine[256];
    int i = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    mine[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 8; k++)
        out[i + k * blockDim.x] = mine[index[i + k * blockDim.x] & 255];
}
// ADVISE coefficients: nothing
__global__ void coefficients(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0, v = in[i];
#pragma unroll 1
    for (int k = 0; k < 8; k++)
        sum = sum * v + constants[k];
    out[i] = sum;
}

/* Three points: a byte is read three times, which a tile saves. */
// ADVISE smooth3: stage verdict=pay twin=smooth3_tiled
__global__ void smooth3(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 8;
    out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}
// ADVISE smooth3_tiled: nothing verdict=already
__global__ void smooth3_tiled(float *out, const float *in)
{
    __shared__ float tile[258];
    int t = threadIdx.x, i = blockIdx.x * 256 + t + 8;
    tile[t + 1] = in[i];
    if (t == 0)
        tile[0] = in[i - 1];
    if (t == 255)
        tile[257] = in[i + 1];
    __syncthreads();
    out[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / 3;
}

// ADVISE stencil9: stage twin=stencil9_tiled
__global__ void stencil9(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 16;
    float sum = 0;
    for (int k = -4; k <= 4; k++)
        sum += in[i + k];
    out[i] = sum;
}

__global__ void stencil9_tiled(float *out, const float *in)
{
    __shared__ float tile[272]; /* from a sector's start on: four of the eight before the first are not used */
    int t = threadIdx.x, i = blockIdx.x * 256 + t + 16;
    for (int k = t; k < 272; k += 256)
        tile[k] = in[i - t + k - 8];
    __syncthreads();
    float sum = 0;
    for (int k = 4; k <= 12; k++)
        sum += tile[t + k];
    out[i] = sum;
}

// ADVISE blur5x5: stage
__global__ void blur5x5(float *out, const float *in)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < 2 || y < 2 || x >= W - 2 || y >= W - 2)
        return;
    float sum = 0;
    for (int r = -2; r <= 2; r++)
        for (int c = -2; c <= 2; c++)
            sum += in[(y + r) * W + x + c];
    out[y * W + x] = sum / 25;
}

/* ---- shared memory and barriers that are too much ---- */

// ADVISE staged_once: unstage verdict=not-needed twin=not_staged
__global__ void staged_once(float *out, const float *in)
{
    __shared__ float buffer[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    buffer[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = buffer[threadIdx.x] * 2;
}
__global__ void not_staged(float *out, const float *in)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    out[i] = in[i] * 2;
}

/* Read once, by another thread than the one that staged it: global memory would do as well. */
// ADVISE reversed_tile: unstage verdict=wasted twin=reversed
__global__ void reversed_tile(float *out, const float *in)
{
    __shared__ float buffer[256];
    int t = threadIdx.x, i = blockIdx.x * 256;
    buffer[t] = in[i + t];
    __syncthreads();
    out[i + t] = buffer[255 - t];
}
__global__ void reversed(float *out, const float *in)
{
    int t = threadIdx.x, i = blockIdx.x * 256;
    out[i + t] = in[i + 255 - t];
}
/* The same in place: now the tile keeps what is overwritten. */
// ADVISE reversed_in_place: nothing
__global__ void reversed_in_place(float *data)
{
    __shared__ float buffer[256];
    int t = threadIdx.x, i = blockIdx.x * 256;
    buffer[t] = data[i + t];
    __syncthreads();
    data[i + t] = buffer[255 - t];
}

// ADVISE turn_in_warps: syncwarp
__global__ void turn_in_warps(float *out, const float *in)
{
    __shared__ float buffer[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float v = in[i];
    for (int k = 1; k < 32; k *= 2) {
        buffer[t] = v;
        __syncthreads();
        v += buffer[t ^ k];
        __syncthreads();
    }
    out[i] = v;
}

/* ---- atomics ---- */

// ADVISE histogram_global: privatise verdict=pay operations_then=1024
__global__ void histogram_global(unsigned *bins, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < N; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i] & 63], 1u);
}

// ADVISE histogram_shared: nothing verdict=needed
__global__ void histogram_shared(unsigned *bins, const int *in)
{
    __shared__ unsigned mine[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (; i < N; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i] & 255], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

// ADVISE dot_global: privatise operations_then=64
__global__ void dot_global(float *sum, const float *a, const float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, a[i] * b[i]);
}

// ADVISE histogram_few: copies
__global__ void histogram_few(unsigned *bins, const int *in)
{
    __shared__ unsigned mine[8];
    if (threadIdx.x < 8)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 32; k++)
        atomicAdd(&mine[(in[(blockIdx.x * 256 + threadIdx.x) & (N - 1)] + k) & 7], (unsigned)k);
    __syncthreads();
    if (threadIdx.x < 8)
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

// ADVISE sum_shared_float: aggregate
__global__ void sum_shared_float(float *out, const float *in)
{
    __shared__ float sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

/* ---- reductions, as the tutorials improve them ---- */
template <int STEP> __device__ void reduce(float *out, const float *in)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    if (STEP == 0)
        for (int s = 1; s < 256; s *= 2) {
            if (t % (2 * s) == 0)
                part[t] += part[t + s];
            __syncthreads();
        }
    if (STEP == 1)
        for (int s = 1; s < 256; s *= 2) {
            int at = 2 * s * t;
            if (at < 256)
                part[at] += part[at + s];
            __syncthreads();
        }
    if (STEP == 2)
        for (int s = 128; s > 0; s /= 2) {
            if (t < s)
                part[t] += part[t + s];
            __syncthreads();
        }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
// ADVISE reduce_interleaved: divergence
__global__ void reduce_interleaved(float *out, const float *in)
{
    reduce<0>(out, in);
}
// ADVISE reduce_spread: pad row_elements=32 pad_elements=1
__global__ void reduce_spread(float *out, const float *in)
{
    reduce<1>(out, in);
}
// ADVISE reduce_halves: nothing verdict=needed
__global__ void reduce_halves(float *out, const float *in)
{
    reduce<2>(out, in);
}

/* ---- lanes and warps ---- */
__device__ float busy(float x, int rounds)
{
    for (int i = 0; i < rounds; i++)
        x = x * 1.0001f + 0.5f;
    return x;
}

// ADVISE block_of_40: block-size threads_then=64
__global__ void block_of_40(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = busy(in[i], 100);
}

// ADVISE block_of_16: block-size threads_then=32
__global__ void block_of_16(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = busy(in[i], 100);
}

// ADVISE block_of_33: block-size threads_then=64
__global__ void block_of_33(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = busy(in[i], 100);
}

// ADVISE odd_and_even: divergence
__global__ void odd_and_even(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 2)
        out[i] = busy(in[i], 200);
    else
        out[i] = busy(in[i] + 1, 201);
}

// ADVISE much_shared: capacity
__global__ void much_shared(float *out, const float *in)
{
    extern __shared__ float pool[];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    pool[t] = in[i] * 2;
    pool[t + 20000] = in[i + N / 2] * 3;
    __syncthreads();
    out[i] = pool[127 - t] + pool[20127 - t];
}

/* 72 KiB: three blocks of eight warps on a multiprocessor that has room for 64 warps, 37.5 %. */
// ADVISE three_blocks: capacity blocks_now=3 blocks_then=4 twin=four_blocks
__global__ void three_blocks(float *out, const float *in)
{
    extern __shared__ float pool[];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    for (int k = 0; k < 8; k++)
        pool[t + k * 256] = in[i + k * 4096] * 2;
    __syncthreads();
    for (int k = 0; k < 8; k++)
        out[i + k * 4096] = pool[(t ^ 32) + k * 256];
}

/* The same with as much shared memory as the advice for it says. */
__global__ void four_blocks(float *out, const float *in)
{
    extern __shared__ float pool[];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    for (int k = 0; k < 8; k++)
        pool[t + k * 256] = in[i + k * 4096] * 2;
    __syncthreads();
    for (int k = 0; k < 8; k++)
        out[i + k * 4096] = pool[(t ^ 32) + k * 256];
}

template <int VALUES> __device__ void reuse_many(float *out, const float *in)
{
    float v[VALUES];
    int t = blockIdx.x * 256 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < VALUES; k++)
        v[k] = in[k * 512 + t];
#pragma unroll
    for (int k = 0; k < VALUES; k++)
        out[k * 512 + t] = v[k] + v[VALUES - 1 - k] * v[(k * 7 + 3) % VALUES];
}
// ADVISE many_registers: registers regs_then=64 blocks_then=4 twin=bounded_registers
__global__ void __launch_bounds__(256) many_registers(float *out, const float *in)
{
    reuse_many<160>(out, in);
}
__global__ void __launch_bounds__(256, 4) bounded_registers(float *out, const float *in)
{
    reuse_many<160>(out, in);
}

/* Not launched unless named. */
__global__ void out_of_bounds(float *out)
{
    out[threadIdx.x + (1ull << 40)] = 1;
}

/* ---- main ---- */
static bool wanted(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], name))
            return true;
    return argc == 1;
}

int main(int argc, char **argv)
{
    size_t bytes = 1u << 20;
    float *out, *a, *b;
    int *index, *host = (int *)malloc(bytes);
    unsigned seed = 12345;
    for (size_t i = 0; i < bytes / 4; i++) {
        seed = seed * 1664525u + 1013904223u;
        host[i] = (int)(seed >> 8) & (N - 1);
    }
    cudaMalloc(&out, bytes);
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&index, bytes);
    cudaMemset(a, 0, bytes);
    cudaMemset(b, 0, bytes);
    cudaMemcpy(index, host, bytes, cudaMemcpyHostToDevice);
    cudaFuncSetAttribute(much_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024);
    cudaFuncSetAttribute(four_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, 72 * 1024);
    cudaFuncSetAttribute(three_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, 72 * 1024);
    dim3 tile(32, 8), grid(W / 32, W / 32), t16(16, 16), g16(W / 16, W / 16), gm(4, 4);

#define RUN(name, ...)                  \
    if (wanted(argc, argv, #name)) {    \
        name __VA_ARGS__;               \
    }
    RUN(vector_add, <<<N / 256, 256>>>(out, a, b))
    RUN(vector_scale4, <<<N / 4 / 256, 256>>>((float4 *)out, (float4 *)a))
    RUN(does_nothing, <<<16, 256>>>(out, a))
    RUN(two_reads, <<<N / 256, 256>>>(out, a))
    RUN(transpose_naive, <<<grid, tile>>>(out, a))
    RUN(transpose_shared, <<<grid, tile>>>(out, a))
    RUN(transpose_padded, <<<grid, tile>>>(out, a))
    RUN(transpose_swizzled, <<<grid, tile>>>(out, a))
    RUN(transpose16_shared, <<<g16, t16>>>(out, a))
    RUN(transpose16_padded, <<<g16, t16>>>(out, a))
    RUN(transpose_double, <<<dim3(4, 4), tile>>>((double *)out, (double *)a))
    RUN(transpose_double_padded, <<<dim3(4, 4), tile>>>((double *)out, (double *)a))
    RUN(tile_of_48k, <<<4, tile>>>(out, a))
    RUN(tile_of_48k_swizzled, <<<4, tile>>>(out, a))
    RUN(stride_of_two, <<<N / 512, 256>>>(out, a))
    RUN(stride_of_two_padded, <<<N / 512, 256>>>(out, a))
    RUN(lanes_32_apart, <<<N / 2048, 64>>>(out, a))
    RUN(lanes_33_apart, <<<N / 2048, 64>>>(out, a))
    RUN(matmul_naive, <<<gm, t16>>>(out, a, b))
    RUN(matmul_tiled, <<<gm, t16>>>(out, a, b))
    RUN(matmul_columns, <<<gm, t16>>>(out, a, b))
    RUN(matmul_by_rows, <<<gm, t16>>>(out, a, b))
    RUN(matmul_copies, <<<gm, t16>>>(out, a, b))
    RUN(add_by_columns, <<<g16, t16>>>(out, a, b))
    RUN(add_by_rows, <<<g16, t16>>>(out, a, b))
    RUN(write_columns, <<<dim3(W / 32, W / 8), tile>>>(out))
    RUN(write_rows, <<<dim3(W / 32, W / 8), tile>>>(out))
    RUN(copy_chunks, <<<16, 256>>>(out, a))
    RUN(copy_strided, <<<16, 256>>>(out, a))
    RUN(sum_rows, <<<2, 128>>>(out, a))
    RUN(sum_rows_tiled, <<<2, 128>>>(out, a))
    RUN(sum_fields, <<<64, 256>>>(out, a))
    RUN(sum_vector, <<<64, 256>>>(out, (float4 *)a))
    RUN(one_field, <<<64, 256>>>(out, (particle *)a))
    RUN(one_array, <<<64, 256>>>(out, a))
    RUN(every_32nd, <<<32, 256>>>(out, a))
    RUN(packed, <<<32, 256>>>(out, a))
    RUN(broadcast, <<<64, 256>>>(out, a))
    RUN(shifted, <<<N / 256, 256>>>(out, a))
    RUN(aligned, <<<N / 256, 256>>>(out, a))
    RUN(narrow_block, <<<dim3(W / 4, W / 64), dim3(4, 64)>>>(out, a))
    RUN(wide_block, <<<dim3(W / 32, W / 8), tile>>>(out, a))
    RUN(gather, <<<N / 256, 256>>>(out, a, index))
    RUN(look_up, <<<32, 256>>>(out, index, a))
    RUN(look_up_constant, <<<32, 256>>>(out, index))
    RUN(look_up_shared, <<<32, 256>>>(out, index, a))
    RUN(coefficients, <<<64, 256>>>(out, a))
    RUN(smooth3, <<<64, 256>>>(out, a))
    RUN(smooth3_tiled, <<<64, 256>>>(out, a))
    RUN(stencil9, <<<64, 256>>>(out, a))
    RUN(stencil9_tiled, <<<64, 256>>>(out, a))
    RUN(blur5x5, <<<g16, t16>>>(out, a))
    RUN(staged_once, <<<N / 256, 256>>>(out, a))
    RUN(not_staged, <<<N / 256, 256>>>(out, a))
    RUN(reversed_tile, <<<N / 256, 256>>>(out, a))
    RUN(reversed, <<<N / 256, 256>>>(out, a))
    RUN(reversed_in_place, <<<N / 256, 256>>>(b))
    RUN(turn_in_warps, <<<64, 256>>>(out, a))
    RUN(histogram_global, <<<16, 256>>>((unsigned *)out, index))
    RUN(histogram_shared, <<<16, 256>>>((unsigned *)out, index))
    RUN(dot_global, <<<64, 256>>>(out, a, b))
    RUN(histogram_few, <<<16, 256>>>((unsigned *)out, index))
    RUN(sum_shared_float, <<<64, 256>>>(out, a))
    RUN(reduce_interleaved, <<<64, 256>>>(out, a))
    RUN(reduce_spread, <<<64, 256>>>(out, a))
    RUN(reduce_halves, <<<64, 256>>>(out, a))
    RUN(block_of_40, <<<200, 40>>>(out, a))
    RUN(block_of_16, <<<512, 16>>>(out, a))
    RUN(block_of_33, <<<200, 33>>>(out, a))
    RUN(odd_and_even, <<<32, 256>>>(out, a))
    RUN(much_shared, <<<64, 128, 100 * 1024>>>(out, a))
    RUN(three_blocks, <<<16, 256, 72 * 1024>>>(out, a))
    RUN(four_blocks, <<<16, 256, 56 * 1024>>>(out, a))
    RUN(many_registers, <<<2, 256>>>(out, a))
    RUN(bounded_registers, <<<2, 256>>>(out, a))
    for (int k = 0; argc > 1 && k < 200; k++)
        if (wanted(argc, argv, "many_launches"))
            vector_add<<<1 + k % 2, 256>>>(out, a, b);
    if (argc > 1 && wanted(argc, argv, "out_of_bounds"))
        out_of_bounds<<<4, 64>>>(out);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        printf("%s\n", cudaGetErrorString(error));
    free(host);
    return error != cudaSuccess;
}
