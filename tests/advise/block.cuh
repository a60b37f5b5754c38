/* block.cuh - kernels whose first advice is about what threads of a block do together: too much shared memory, atomics,
 * reductions, lanes and warps, the block's size, occupancy (kernels.cu). */
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

/* Each lane gives a row's address, and gets words of other lanes' rows. */
// ADVISE through_ldmatrix: nothing
__global__ void through_ldmatrix(uint4 *out, const uint4 *in)
{
    __shared__ __align__(16) uint4 rows[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    uint4 v;
    rows[t] = in[i];
    __syncwarp();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"((unsigned)__cvta_generic_to_shared(&rows[t]))
                 : "memory");
    out[i] = v;
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

// ADVISE histogram_global: privatise verdict=pay operations_then=16384
__global__ void histogram_global(unsigned *bins, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < N; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i] >> 6 & 63], 1u);
}

/* A block adds about once to each address, but all blocks to the same: those that are resident, each looping over the work of
 * several, have something to add up. */
// ADVISE histogram_once: privatise verdict=pay blocks_then=4224 operations_then=67584
__global__ void histogram_once(unsigned *bins, const int *in)
{
    atomicAdd(&bins[in[blockIdx.x * 32 + threadIdx.x] >> 8 & 15], 1u);
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

// ADVISE dot_global: privatise operations_then=4096
__global__ void dot_global(float *sum, const float *a, const float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, a[i] * b[i]);
}

/* A block that has added up already: its one atomic stays. */
// ADVISE dot_in_blocks: nothing
__global__ void dot_in_blocks(float *sum, const float *a, const float *b)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    float v = a[i] * b[i];
    for (int offset = 16; offset; offset /= 2)
        v += __shfl_down_sync(~0u, v, offset);
    if (threadIdx.x == 0)
        atomicAdd(sum, v);
}

/* Each thread writes at the place that it got: copies of the counter would hand it out twice. */
// ADVISE compact: nothing without=privatise
__global__ void compact(int *out, int *count, const int *in)
{
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    out[atomicAdd(count, 1)] = v;
}

/* The same of few lists in a block. */
// ADVISE sort_few: nothing without=copies
__global__ void sort_few(int *out, const int *in)
{
    __shared__ unsigned next[8];
    if (threadIdx.x < 8)
        next[threadIdx.x] = 0;
    __syncthreads();
    int v = in[(blockIdx.x * 256 + threadIdx.x) & (N - 1)];
    unsigned at = 0;
    for (int k = 0; k < 32; k++)
        at += atomicAdd(&next[(v + k) & 7], 1u);
    out[blockIdx.x * 256 + threadIdx.x] = at;
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

/* The steps of a library's scan, which takes them in a header of the toolkit. */
// ADVISE scan_by_cub: nothing without=shuffle
__global__ void scan_by_cub(int *out, const int *in, int n)
{
    typedef cub::BlockScan<int, 256> Scan;
    __shared__ Scan::TempStorage temporary;
    int before = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        int mine, all;
        Scan(temporary).ExclusiveSum(in[i], mine, all);
        out[i] = before + mine;
        before += all;
        __syncthreads();
    }
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
// ADVISE reduce_interleaved: shuffle then=divergence
__global__ void reduce_interleaved(float *out, const float *in)
{
    reduce<0>(out, in);
}
// ADVISE reduce_spread: shuffle then=pad row_elements=32 pad_elements=1
__global__ void reduce_spread(float *out, const float *in)
{
    reduce<1>(out, in);
}
// ADVISE reduce_halves: shuffle verdict=needed
__global__ void reduce_halves(float *out, const float *in)
{
    reduce<2>(out, in);
}

/* A tridiagonal system by parallel cyclic reduction: as many steps, but what threads hand on are coefficients, each
 * made of several arrays by products and quotients. There is no one value that a warp could hand on. */
// ADVISE tridiagonal: nothing without=shuffle
__global__ void tridiagonal(float *x, const float *in)
{
    __shared__ float low[256], middle[256], high[256], right[256];
    int t = threadIdx.x;
    float a = 1, b = 4 + in[blockIdx.x * 256 + t], c = 1, d = b;
    for (int s = 1; s < 256; s *= 2) {
        low[t] = a;
        middle[t] = b;
        high[t] = c;
        right[t] = d;
        __syncthreads();
        int l = t - s < 0 ? 0 : t - s, r = t + s > 255 ? 255 : t + s;
        float of_low = a / middle[l], of_high = c / middle[r];
        b -= high[l] * of_low + low[r] * of_high;
        d -= right[l] * of_low + right[r] * of_high;
        a = -low[l] * of_low;
        c = -high[r] * of_high;
        __syncthreads();
    }
    x[blockIdx.x * 256 + t] = d / b;
}

/* The same by halves: lanes are fewer and further apart at each step, and fuller warps would meet in as many banks. */
// ADVISE tridiagonal_halved: swizzle
__global__ void tridiagonal_halved(float *x, const float *in)
{
    __shared__ float low[256], middle[256], high[256], right[256];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 128) {
        low[i] = high[i] = 1;
        middle[i] = right[i] = 4 + in[blockIdx.x * 256 + i];
    }
    __syncthreads();
    for (int n = 128, s = 2; n > 1; n /= 2, s *= 2) {
        if (t < n) {
            int at = s * t + s - 1, l = at - s / 2, r = at + s / 2 < 256 ? at + s / 2 : 255;
            float of_low = low[at] / middle[l], of_high = at + s / 2 < 256 ? high[at] / middle[r] : 0;
            middle[at] -= high[l] * of_low + low[r] * of_high;
            right[at] -= right[l] * of_low + right[r] * of_high;
            low[at] = -low[l] * of_low;
            high[at] = -high[r] * of_high;
        }
        __syncthreads();
    }
    x[blockIdx.x * 128 + t] = right[t * 2 + 1] / middle[t * 2 + 1];
}

/* Two passes over a row, each thread over its own elements: they need not be read again. */
__device__ float sum_of_block(float v)
{
    __shared__ float part[8];
    for (int offset = 16; offset; offset /= 2)
        v += __shfl_xor_sync(~0u, v, offset);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int k = 0; k < 8; k++)
        v += part[k];
    return v;
}
/* All lanes read one word at a time, but of a tile that is filled again and again: no table for constant memory. */
// ADVISE pulls: read-ahead
__global__ void pulls(float *out, const float *in)
{
    __shared__ float bodies[256];
    float me = in[blockIdx.x * 256 + threadIdx.x], sum = 0;
    for (int first = 0; first < 16 * 256; first += 256) {
        bodies[threadIdx.x] = in[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 256; k++)
            sum += rsqrtf((bodies[k] - me) * (bodies[k] - me) + 1);
        __syncthreads();
    }
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}

/* Sweeps over a neighbourhood have a tree's barriers, and join nothing. */
// ADVISE sweeps: nothing
__global__ void sweeps(float *out, const float *in)
{
    __shared__ float s[2][10][34];
    int x = threadIdx.x + 1, y = threadIdx.y + 1, from = 0;
    int i = (blockIdx.x * 8 + threadIdx.y) * 32 + threadIdx.x;
    s[0][y][x] = s[1][y][x] = in[i];
    if (x == 1 || x == 32)
        s[0][y][x == 1 ? 0 : 33] = s[1][y][x == 1 ? 0 : 33] = 0;
    if (y == 1 || y == 8)
        s[0][y == 1 ? 0 : 9][x] = s[1][y == 1 ? 0 : 9][x] = 0;
    __syncthreads();
    for (int sweep = 0; sweep < 6; sweep++, from ^= 1) {
        s[from ^ 1][y][x] = (s[from][y - 1][x] + s[from][y + 1][x] + s[from][y][x - 1] + s[from][y][x + 1]) / 4;
        __syncthreads();
    }
    out[i] = s[from][y][x];
}

// ADVISE normalise_rows: keep registers=32 twin=normalise_kept
__global__ void normalise_rows(float *out, const float *in)
{
    float sum = 0;
    for (int c = threadIdx.x; c < 8192; c += 256)
        sum += in[blockIdx.x % 128 * 8192 + c];
    sum = sum_of_block(sum);
    for (int c = threadIdx.x; c < 8192; c += 256)
        out[blockIdx.x % 128 * 8192 + c] = in[blockIdx.x % 128 * 8192 + c] - sum;
}
// ADVISE normalise_kept: nothing
__global__ void normalise_kept(float *out, const float *in)
{
    float sum = 0, kept[32];
#pragma unroll
    for (int k = 0; k < 32; k++)
        sum += kept[k] = in[blockIdx.x % 128 * 8192 + k * 256 + threadIdx.x];
    sum = sum_of_block(sum);
#pragma unroll
    for (int k = 0; k < 32; k++)
        out[blockIdx.x % 128 * 8192 + k * 256 + threadIdx.x] = kept[k] - sum;
}

/* What one lane does in the end is no divergence that another numbering would mend. */
// ADVISE sum_in_warps: nothing
__global__ void sum_in_warps(float *out, const float *in)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float v = in[i];
    for (int offset = 16; offset; offset /= 2)
        v += __shfl_down_sync(~0u, v, offset);
    if (threadIdx.x % 32 == 0)
        out[i / 32] = v;
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

/* Neither is this about where the array starts, but where blocks of 100 do. */
// ADVISE block_of_100: block-size threads_then=128
__global__ void block_of_100(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2 * in[i];
}

/* Half of the lanes do nothing: they, and not where the array starts, leave sectors half used. */
// ADVISE exchange_pairs: divergence
__global__ void exchange_pairs(float *data, int distance)
{
    unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) & NEAR, other = i ^ distance;
    if (other > i) {
        float a = data[i], b = data[other];
        data[i] = fminf(a, b);
        data[other] = fmaxf(a, b);
    }
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

#define POOLS 528 /* blocks */
__device__ void through_pool(float *out, const float *in)
{
    extern __shared__ float pool[];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    for (int k = 0; k < 8; k++)
        pool[t + k * 256] = in[i + k * POOLS * 256] * 2;
    __syncthreads();
    for (int k = 0; k < 8; k++)
        out[i + k * POOLS * 256] = pool[(t ^ 32) + k * 256];
}

/* 72 KiB: three blocks of eight warps on a multiprocessor that has room for 64 warps, 37.5 %. */
// ADVISE three_blocks: capacity blocks_now=3 blocks_then=4 twin=four_blocks
__global__ void three_blocks(float *out, const float *in)
{
    through_pool(out, in);
}

/* The same with as much shared memory as the advice for it says. */
__global__ void four_blocks(float *out, const float *in)
{
    through_pool(out, in);
}

template <int VALUES> __device__ void reuse_many(float *out, const float *in)
{
    float v[VALUES];
    int t = blockIdx.x % 64 * 256 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < VALUES; k++)
        v[k] = in[k * 16384 + t];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < VALUES; k++)
        sum += v[k] + v[VALUES - 1 - k] * v[(k * 7 + 3) % VALUES];
    out[t] = sum;
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
