/* shared.cuh - kernels whose first advice is about shared memory: its banks, and whether it pays (kernels.cu). */
/* ---- transpose, and bank conflicts of every width ---- */

// ADVISE transpose_naive: stage-order twin=transpose_padded
__global__ void transpose_naive(float *out, const float *in)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[x * W + y + i] = in[(y + i) * W + x];
}

template <int COLUMNS> __device__ void transpose_tile(float *out, const float *in)
{
    __shared__ float tile[32][COLUMNS];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * W + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[(y + i) * W + x] = tile[threadIdx.x][threadIdx.y + i];
}

// ADVISE transpose_shared: pad verdict=conflicts row_elements=32 pad_elements=1 element_bytes=4 added_bytes=128 conflicts_then=0 swizzle_mask=31 twin=transpose_padded
__global__ void transpose_shared(float *out, const float *in)
{
    transpose_tile<32>(out, in);
}

// ADVISE transpose_padded: nothing verdict=already
__global__ void transpose_padded(float *out, const float *in)
{
    transpose_tile<33>(out, in);
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
        tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * M + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        out[(y + i) * M + x] = tile[threadIdx.x][threadIdx.y + i];
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
// ADVISE stride_of_two: coarsen then=pad row_elements=32 pad_elements=1 conflicts_then=0 twin=stride_of_two_padded
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

/* Butterflies: at a distance of 1 to 16 the lanes leave out every second run of elements, so that two meet in a bank. No pad
 * frees all distances from conflicts; turning every second row of banks round does. */
template <int TURN> __device__ void butterflies(float *out, const float *in)
{
    __shared__ float v[512];
#define TURNED(i) ((i) ^ ((i) / 32 & TURN) * 31)
    int t = threadIdx.x, base = blockIdx.x * 512;
    v[TURNED(t)] = in[base + t];
    v[TURNED(t + 256)] = in[base + t + 256];
#pragma unroll 1
    for (int j = 1; j < 512; j *= 2) {
        __syncthreads();
        int i = 2 * t - (t & (j - 1));
        float a = v[TURNED(i)], b = v[TURNED(i + j)];
        v[TURNED(i)] = a + b;
        v[TURNED(i + j)] = a - b;
    }
    __syncthreads();
    out[base + t] = v[TURNED(t)];
    out[base + t + 256] = v[TURNED(t + 256)];
}
// ADVISE hadamard: pad swizzle_row_elements=32 swizzle_mask=1 swizzle_times=31
__global__ void hadamard(float *out, const float *in)
{
    butterflies<0>(out, in);
}
// ADVISE hadamard_turned: nothing
__global__ void hadamard_turned(float *out, const float *in)
{
    butterflies<1>(out, in);
}

/* ---- matrix products ---- */

// ADVISE matmul_naive: stage verdict=pay twin=matmul_tiled
__global__ void matmul_naive(float *c, const float *a, const float *b)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < 64; k++)
        sum += a[row * 64 + k] * b[k * M + col];
    c[row * M + col] = sum;
}

/* COLUMNS: the tile of b is filled down its columns. */
template <bool COLUMNS> static __device__ void matmul_tiles(float *c, const float *a, const float *b)
{
    __shared__ float ta[16][16], tb[16][COLUMNS ? 17 : 16];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    int i = COLUMNS ? x : y, j = COLUMNS ? y : x;
    float sum = 0;
    for (int t = 0; t < 64; t += 16) {
        ta[y][x] = a[row * 64 + t + x];
        tb[i][j] = b[(t + i) * M + blockIdx.x * 16 + j];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += ta[y][k] * tb[k][x];
        __syncthreads();
    }
    c[row * M + col] = sum;
}

// ADVISE matmul_tiled: coarsen then=read-ahead verdict=already
__global__ void matmul_tiled(float *c, const float *a, const float *b)
{
    matmul_tiles<false>(c, a, b);
}

/* Nothing but the fill depends on the order. */
// ADVISE matmul_columns: coarsen then=swap verdict=already twin=matmul_tiled
__global__ void matmul_columns(float *c, const float *a, const float *b)
{
    matmul_tiles<true>(c, a, b);
}

/* Neighbouring threads take neighbouring rows: exchanged, it is the naive product. */
// ADVISE matmul_exchanged: swap twin=matmul_naive
__global__ void matmul_exchanged(float *c, const float *a, const float *b)
{
    int row = blockIdx.x * 16 + threadIdx.x, col = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < 64; k++)
        sum += a[row * 64 + k] * b[k * M + col];
    c[row * M + col] = sum;
}

/* Both matrices are read along their rows, so that lanes are rows apart in b: a tile mends the order and the reuse. */
// ADVISE matmul_by_rows: stage verdict=pay
__global__ void matmul_by_rows(float *c, const float *a, const float *b)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < 64; k++)
        sum += a[row * 64 + k] * b[col * 64 + k];
    c[row * M + col] = sum;
}

/* The tiles come by asynchronous copies, one ahead of the one that is used. */
// ADVISE matmul_copies: read-ahead verdict=already
__global__ void matmul_copies(float *c, const float *a, const float *b)
{
    __shared__ float ta[2][16][16], tb[2][16][16];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int t = 0; t <= 4; t++) {
        if (t < 4) {
            __pipeline_memcpy_async(&ta[t & 1][y][x], &a[row * 64 + t * 16 + x], 4);
            __pipeline_memcpy_async(&tb[t & 1][y][x], &b[(t * 16 + y) * M + col], 4);
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
    c[row * M + col] = sum;
}
