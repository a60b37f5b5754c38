/* pairs.cu - kernels as they are found, each with the same after a piece of advice was followed, at two sizes.
 *
 *     pairs [small|large] [NAME...]      all pairs unless named, at both sizes unless one is; a line for each: its name,
 *                                        and whether both came to the same sums
 *
 * Of each pair `NAME_before` is what advice is asked about and `NAME_after` what it leads to; test_pairs.py holds the gain
 * that `margay advise` expects to the time of the second one, and both to what a device took (tests/hardware/advise_pairs.json). A pair is two
 * kernels and a row of `main`. All have the same arguments: results, floats, the same or others in another order, indices.
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                   \
    do {                                                                                              \
        cudaError_t error = (call);                                                                   \
        if (error != cudaSuccess) {                                                                   \
            fprintf(stderr, "pairs: line %d: %s\n", __LINE__, cudaGetErrorString(error));             \
            exit(1);                                                                                  \
        }                                                                                             \
    } while (0)
#define KERNEL(name) __global__ void name(float *o, const float *a, const float *b, const int *x, int n)
#define I ((int)(blockIdx.x * blockDim.x + threadIdx.x))

/* ---- transposes: `n` is the side ---- */
template <int COLUMNS> __device__ void transpose(float *o, const float *a, int n)
{
    __shared__ float tile[32][COLUMNS];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x] = a[(r + i) * n + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x;
    r = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        o[(r + i) * n + c] = tile[threadIdx.x][threadIdx.y + i];
}
KERNEL(pad_before) { transpose<32>(o, a, n); }
KERNEL(pad_after) { transpose<33>(o, a, n); }
KERNEL(stage_order_before)
{
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        o[c * n + r + i] = a[(r + i) * n + c];
}
KERNEL(stage_order_after) { transpose<33>(o, a, n); }

/* ---- banks ---- */
template <int ROW> __device__ void own_rows(float *o, const float *a)
{
    __shared__ float data[64 * ROW];
    int t = threadIdx.x, i = blockIdx.x * 2048 + t;
    for (int k = 0; k < 32; k++)
        data[t / 32 * ROW + t % 32 + k * 2 * ROW] = a[i + k * 64] * 2;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 32; k++)
        sum += data[t * ROW + k];
    o[blockIdx.x * 64 + t] = sum;
}
KERNEL(pad_rows_before) { own_rows<32>(o, a); }
KERNEL(pad_rows_after) { own_rows<33>(o, a); }

#define TURNED(i) ((i) ^ ((i) / 32 & TURN) * 31)
template <int TURN> __device__ void butterflies(float *o, const float *a)
{
    __shared__ float v[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    v[TURNED(t)] = a[base + t];
    v[TURNED(t + 256)] = a[base + t + 256];
#pragma unroll 1
    for (int j = 1; j < 512; j *= 2) {
        __syncthreads();
        int i = 2 * t - (t & (j - 1));
        float p = v[TURNED(i)], q = v[TURNED(i + j)];
        v[TURNED(i)] = p + q;
        v[TURNED(i + j)] = p - q;
    }
    __syncthreads();
    o[base + t] = v[TURNED(t)];
    o[base + t + 256] = v[TURNED(t + 256)];
}
KERNEL(swizzle_before) { butterflies<0>(o, a); }
KERNEL(swizzle_after) { butterflies<1>(o, a); }

/* ---- the order and the width of accesses ---- */
KERNEL(swap_before)
{
    for (int k = 0; k < 16; k++)
        o[I * 16 + k] = a[I * 16 + k] * 3;
}
KERNEL(swap_after)
{
    int t = blockIdx.x * blockDim.x * 16 + threadIdx.x;
    for (int k = 0; k < 16; k++)
        o[t + k * blockDim.x] = a[t + k * blockDim.x] * 3;
}
KERNEL(exchange_before)
{
    int row = blockIdx.x * 16 + threadIdx.x, col = blockIdx.y * 16 + threadIdx.y;
    o[row * n + col] = a[row * n + col] + b[row * n + col];
}
KERNEL(exchange_after)
{
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    o[row * n + col] = a[row * n + col] + b[row * n + col];
}
KERNEL(vectorise_before) { o[I] = a[4 * I] + a[4 * I + 1] * 2 + a[4 * I + 2] * 3 + a[4 * I + 3]; }
KERNEL(vectorise_after)
{
    float4 v = ((const float4 *)a)[I];
    o[I] = v.x + v.y * 2 + v.z * 3 + v.w;
}
KERNEL(vectors_before)
{
    if (I < n)
        o[I] = a[I] * 2 + b[I];
}
KERNEL(vectors_after)
{
    if (I < n / 4) {
        float4 p = ((const float4 *)a)[I], q = ((const float4 *)b)[I];
        ((float4 *)o)[I] = make_float4(p.x * 2 + q.x, p.y * 2 + q.y, p.z * 2 + q.z, p.w * 2 + q.w);
    }
}
KERNEL(fields_before) { o[I] = a[4 * I + 1] * 2; }
KERNEL(fields_after) { o[I] = b[n + I] * 2; }
KERNEL(align_before) { o[I] = a[I + 1] * 2 + b[I + 1]; }
KERNEL(align_after) { o[I] = a[I] * 2 + b[I]; }
KERNEL(widen_before)
{
    int c = blockIdx.x * 4 + threadIdx.x, r = blockIdx.y * 64 + threadIdx.y;
    o[r * n + c] = a[r * n + c] * 2;
}
KERNEL(widen_after)
{
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    o[r * n + c] = a[r * n + c] * 2;
}

/* ---- what is read again ---- */
KERNEL(stage_before)
{
    float sum = 0;
    for (int k = 0; k <= 16; k++)
        sum += a[I + k] * (float)k;
    o[I] = sum;
}
KERNEL(stage_after)
{
    __shared__ float tile[272];
    for (int k = threadIdx.x; k < 272; k += 256)
        tile[k] = a[blockIdx.x * 256 + k];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 16; k++)
        sum += tile[threadIdx.x + k] * (float)k;
    o[I] = sum;
}
#define DEPTH 64 /* of the products; `n`: their side */
KERNEL(stage_product_before)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < DEPTH; k++)
        sum += a[row * DEPTH + k] * b[k * n + col];
    o[row * n + col] = sum;
}
__device__ void product(float *o, const float *a, const float *b, int n)
{
    __shared__ float ta[16][16], tb[16][16];
    int c = threadIdx.x, r = threadIdx.y, col = blockIdx.x * 16 + c, row = blockIdx.y * 16 + r;
    float sum = 0;
    for (int t = 0; t < DEPTH; t += 16) {
        ta[r][c] = a[row * DEPTH + t + c];
        tb[r][c] = b[(t + r) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += ta[r][k] * tb[k][c];
        __syncthreads();
    }
    o[row * n + col] = sum;
}
KERNEL(stage_product_after) { product(o, a, b, n); }
KERNEL(read_ahead_before) { product(o, a, b, n); }
KERNEL(read_ahead_after)
{
    __shared__ float ta[2][16][16], tb[2][16][16];
    int c = threadIdx.x, r = threadIdx.y, col = blockIdx.x * 16 + c, row = blockIdx.y * 16 + r;
    float sum = 0;
    __pipeline_memcpy_async(&ta[0][r][c], &a[row * DEPTH + c], 4);
    __pipeline_memcpy_async(&tb[0][r][c], &b[r * n + col], 4);
    __pipeline_commit();
    for (int t = 0; t < DEPTH / 16; t++) {
        __pipeline_wait_prior(0);
        __syncthreads();
        if (t + 1 < DEPTH / 16) {
            __pipeline_memcpy_async(&ta[~t & 1][r][c], &a[row * DEPTH + (t + 1) * 16 + c], 4);
            __pipeline_memcpy_async(&tb[~t & 1][r][c], &b[((t + 1) * 16 + r) * n + col], 4);
            __pipeline_commit();
        }
        for (int k = 0; k < 16; k++)
            sum += ta[t & 1][r][k] * tb[t & 1][k][c];
    }
    o[row * n + col] = sum;
}
/* A block of 16 x 16 threads, SIDE x SIDE elements each. */
template <int SIDE> __device__ void coarse(float *o, const float *a, const float *b, int n)
{
    __shared__ float ta[16][16 * SIDE + 1], tb[16][16 * SIDE];
    int c = threadIdx.x, r = threadIdx.y, col = blockIdx.x * 16 * SIDE, row = blockIdx.y * 16 * SIDE;
    float sum[SIDE][SIDE] = {};
    for (int t = 0; t < DEPTH; t += 16) {
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
            ta[c][r + 16 * i] = a[(row + r + 16 * i) * DEPTH + t + c];
            tb[r][c + 16 * i] = b[(t + r) * n + col + c + 16 * i];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float p[SIDE], q[SIDE];
#pragma unroll
            for (int i = 0; i < SIDE; i++) {
                p[i] = ta[k][r + 16 * i];
                q[i] = tb[k][c + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < SIDE * SIDE; i++)
                sum[i / SIDE][i % SIDE] += p[i / SIDE] * q[i % SIDE];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < SIDE * SIDE; i++)
        o[(row + r + 16 * (i / SIDE)) * n + col + c + 16 * (i % SIDE)] = sum[i / SIDE][i % SIDE];
}
KERNEL(coarsen2_before) { product(o, a, b, n); }
KERNEL(coarsen2_after) { coarse<2>(o, a, b, n); }
KERNEL(coarsen4_before) { product(o, a, b, n); }
KERNEL(coarsen4_after) { coarse<4>(o, a, b, n); }

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
KERNEL(keep_before)
{
    float sum = 0;
    for (int c = threadIdx.x; c < 2048; c += 256)
        sum += a[blockIdx.x * 2048 + c];
    sum = sum_of_block(sum) / 4096;
    for (int c = threadIdx.x; c < 2048; c += 256)
        o[blockIdx.x * 2048 + c] = a[blockIdx.x * 2048 + c] - sum;
}
KERNEL(keep_after)
{
    float sum = 0, kept[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        sum += kept[k] = a[blockIdx.x * 2048 + k * 256 + threadIdx.x];
    sum = sum_of_block(sum) / 4096;
#pragma unroll
    for (int k = 0; k < 8; k++)
        o[blockIdx.x * 2048 + k * 256 + threadIdx.x] = kept[k] - sum;
}

/* ---- tables ---- */
__constant__ float table[256];
KERNEL(constant_before)
{
    int i = blockIdx.x * 2048 + threadIdx.x;
    for (int k = 0; k < 8; k++)
        o[i + k * 256] = table[x[i + k * 256] & 255];
}
KERNEL(constant_after)
{
    __shared__ float mine[256];
    int i = blockIdx.x * 2048 + threadIdx.x;
    mine[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 8; k++)
        o[i + k * 256] = mine[x[i + k * 256] & 255];
}
KERNEL(uniform_before)
{
    __shared__ float weights[32];
    if (threadIdx.x < 32)
        weights[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    float v = b[I], sum = 0;
    for (int k = 0; k < 32; k++)
        sum = sum * v + weights[k];
    o[I] = sum;
}
KERNEL(uniform_after)
{
    float v = b[I], sum = 0;
    for (int k = 0; k < 32; k++)
        sum = sum * v + table[k];
    o[I] = sum;
}

/* ---- atomics ---- */
KERNEL(privatise_before)
{
    for (int i = I; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&((unsigned *)o)[x[i] & 63], 1u);
}
KERNEL(privatise_after)
{
    __shared__ unsigned mine[64];
    if (threadIdx.x < 64)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = I; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[x[i] & 63], 1u);
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(&((unsigned *)o)[threadIdx.x], mine[threadIdx.x]);
}
template <int COPIES> __device__ void few_bins(unsigned *o, const int *x)
{
    __shared__ unsigned mine[8 * COPIES];
    if (threadIdx.x < 8 * COPIES)
        mine[threadIdx.x] = 0;
    __syncthreads();
    int v = x[I];
    for (int k = 0; k < 32; k++)
        atomicAdd(&mine[((v >> k & 7) * COPIES) + threadIdx.x % COPIES], (unsigned)k);
    __syncthreads();
    if (threadIdx.x < 8) {
        unsigned sum = 0;
        for (int k = 0; k < COPIES; k++)
            sum += mine[threadIdx.x * COPIES + k];
        atomicAdd(&o[threadIdx.x], sum);
    }
}
KERNEL(copies_before) { few_bins<1>((unsigned *)o, x); }
KERNEL(copies_after) { few_bins<32>((unsigned *)o, x); }
KERNEL(aggregate_before)
{
    __shared__ float sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, a[I]);
    __syncthreads();
    if (threadIdx.x == 0)
        o[blockIdx.x] = sum;
}
KERNEL(aggregate_after)
{
    __shared__ float sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    float v = a[I];
    for (int offset = 16; offset; offset /= 2)
        v += __shfl_down_sync(~0u, v, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sum, v);
    __syncthreads();
    if (threadIdx.x == 0)
        o[blockIdx.x] = sum;
}

/* ---- reductions ---- */
__device__ float tree(float v)
{
    __shared__ float part[256];
    part[threadIdx.x] = v;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    return part[0];
}
KERNEL(shuffle_before)
{
    float sum = tree(a[I]);
    if (threadIdx.x == 0)
        o[blockIdx.x] = sum;
}
KERNEL(shuffle_after)
{
    float sum = sum_of_block(a[I]);
    if (threadIdx.x == 0)
        o[blockIdx.x] = sum;
}
KERNEL(work_before)
{
    float sum = tree(a[I]);
    if (threadIdx.x == 0)
        o[blockIdx.x] = sum;
}
KERNEL(work_after)
{
    float sum = 0;
    for (int i = I; i < n; i += gridDim.x * blockDim.x)
        sum += a[i];
    sum = tree(sum);
    if (threadIdx.x == 0)
        o[blockIdx.x] = sum;
}

/* ---- shared memory and barriers that are too much ---- */
KERNEL(unstage_before)
{
    __shared__ float buffer[256];
    buffer[threadIdx.x] = a[I];
    __syncthreads();
    o[I] = buffer[threadIdx.x] * 2;
}
KERNEL(unstage_after) { o[I] = a[I] * 2; }
template <bool ALL> __device__ void turn(float *o, const float *a)
{
    __shared__ volatile float buffer[256];
    int t = threadIdx.x;
    float v = a[I];
    for (int round = 0; round < 4; round++)
        for (int k = 1; k < 32; k *= 2) {
            buffer[t] = v;
            if (ALL)
                __syncthreads();
            else
                __syncwarp();
            v = (v + buffer[t ^ k]) / 2;
            if (ALL)
                __syncthreads();
            else
                __syncwarp();
        }
    o[I] = v;
}
KERNEL(syncwarp_before) { turn<true>(o, a); }
KERNEL(syncwarp_after) { turn<false>(o, a); }
/* As much shared memory as the launch says. */
__device__ void through_pool(float *o, const float *a)
{
    extern __shared__ float pool[];
    int t = threadIdx.x, i = blockIdx.x * 2048 + t;
    for (int k = 0; k < 8; k++)
        pool[t + k * 256] = a[i + k * 256] * 2;
    __syncthreads();
    for (int k = 0; k < 8; k++)
        o[i + k * 256] = pool[(t ^ 32) + k * 256];
}
KERNEL(capacity_before) { through_pool(o, a); }
KERNEL(capacity_after) { through_pool(o, a); }

/* ---- lanes, warps, blocks ---- */
__device__ float busy(float v, int rounds)
{
    for (int i = 0; i < rounds; i++)
        v = v * 0.999f + 0.5f;
    return v;
}
KERNEL(block_size_before) { o[I] = busy(a[I], 100); }
KERNEL(block_size_after) { o[I] = busy(a[I], 100); }
KERNEL(divergence_before)
{
    if (threadIdx.x % 2)
        o[I] = busy(a[I], 200);
    else
        o[I] = busy(a[I] + 1, 201);
}
KERNEL(divergence_after)
{
    int half = threadIdx.x / 128, i = blockIdx.x * 256 + threadIdx.x % 128 * 2 + half;
    if (half)
        o[i] = busy(a[i], 200);
    else
        o[i] = busy(a[i] + 1, 201);
}
__device__ void long_loop(float *o, const float *a, int n)
{
    float sum = 0;
    for (int i = I; i < n; i += gridDim.x * blockDim.x)
        sum += a[i];
    atomicAdd(o, sum);
}
KERNEL(more_blocks_before) { long_loop(o, a, n); }
KERNEL(more_blocks_after) { long_loop(o, a, n); }

/* ---- main ---- */
static int named, wrong;
static char **names;
static float *o, *a, *b, *apart;
static int *x;
static size_t bytes;
static std::vector<float> host;

static bool wanted(const char *name)
{
    for (int i = 1; i < named; i++)
        if (!strcmp(names[i], name))
            return true;
    return named == 1;
}

/* Of the results, which are whole numbers where atomics made them. */
static double sum(bool whole)
{
    double total = 0;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host.data(), o, bytes, cudaMemcpyDeviceToHost));
    for (float &v : host) {
        unsigned n;
        memcpy(&n, &v, 4);
        total += whole ? (double)n : (double)v;
    }
    CHECK(cudaMemset(o, 0, bytes));
    return total;
}

/* NAME_before and NAME_after, each launched as its parentheses say. */
#define UNPACK(...) __VA_ARGS__
#define PAIR(name, whole, now, then, ...)                                                 \
    if (wanted(#name)) {                                                                  \
        name##_before<<<UNPACK now>>>(__VA_ARGS__);                                       \
        double first = sum(whole);                                                        \
        name##_after<<<UNPACK then>>>(__VA_ARGS__);                                       \
        double second = sum(whole);                                                       \
        bool same = std::fabs(first - second) <= 1e-3 * std::fabs(first) && first != 0;   \
        printf("%s %s %g %g\n", #name, same ? "same" : "DIFFERENT", first, second);       \
        wrong += !same;                                                                   \
    }

static void run(int n, int side, bool large)
{
    const int all = n / 256, many = large ? 264 : 256; /* blocks: no two sizes have the same */
    const dim3 tile(32, 8), tiles(side / 32, side / 32), t16(16, 16), g16(side / 16, side / 16);
    const dim3 product(side / 32, side / 32); /* of half the side */
    PAIR(pad, false, (tiles, tile), (tiles, tile), o, a, b, x, side)
    PAIR(stage_order, false, (tiles, tile), (tiles, tile), o, a, b, x, side)
    PAIR(pad_rows, false, (n / 2048, 64), (n / 2048, 64), o, a, b, x, n)
    PAIR(swizzle, false, (n / 512, 256), (n / 512, 256), o, a, b, x, n)
    PAIR(swap, false, (all / 16, 256), (all / 16, 256), o, a, b, x, n)
    PAIR(exchange, false, (g16, t16), (g16, t16), o, a, b, x, side)
    PAIR(vectorise, false, (all / 4, 256), (all / 4, 256), o, a, b, x, n)
    PAIR(vectors, false, (all, 256), (all / 4, 256), o, a, b, x, n)
    PAIR(fields, false, (all / 4, 256), (all / 4, 256), o, a, apart, x, n / 4)
    PAIR(align, false, (all, 256), (all, 256), o, a, b, x, n)
    PAIR(widen, false, (dim3(side / 4, side / 64), dim3(4, 64)), (dim3(side / 32, side / 8), tile), o, a, b, x, side)
    PAIR(stage, false, (all, 256), (all, 256), o, a, b, x, n)
    PAIR(stage_product, false, (product, t16), (product, t16), o, a, b, x, side / 2)
    PAIR(read_ahead, false, (product, t16), (product, t16), o, a, b, x, side / 2)
    if (large) {
        PAIR(coarsen4, false, (product, t16), (dim3(side / 128, side / 128), t16), o, a, b, x, side / 2)
    } else {
        PAIR(coarsen2, false, (g16, t16), (product, t16), o, a, b, x, side)
    }
    PAIR(keep, false, (n / 2048, 256), (n / 2048, 256), o, a, b, x, n)
    PAIR(constant, false, (n / 2048, 256), (n / 2048, 256), o, a, b, x, n)
    PAIR(uniform, false, (all, 256), (all, 256), o, a, b, x, n)
    PAIR(privatise, true, (many, 256), (many, 256), o, a, b, x, n)
    PAIR(copies, true, (all / 4, 256), (all / 4, 256), o, a, b, x, n)
    PAIR(aggregate, false, (all, 256), (all, 256), o, a, b, x, n)
    PAIR(shuffle, false, (all, 256), (all, 256), o, a, b, x, n)
    PAIR(work, false, (all, 256), (large ? 1056 : 528, 256), o, a, b, x, n)
    PAIR(unstage, false, (all, 256), (all, 256), o, a, b, x, n)
    PAIR(syncwarp, false, (all / 4, 256), (all / 4, 256), o, a, b, x, n)
    PAIR(capacity, false, (n / 2048, 256, 72 * 1024), (n / 2048, 256, 56 * 1024), o, a, b, x, n)
    PAIR(block_size, false, (n / 160, 40), (n / 256, 64), o, a, b, x, n)
    PAIR(divergence, false, (all / 4, 256), (all / 4, 256), o, a, b, x, n)
    PAIR(more_blocks, false, (many / 16, 256), (many / 2, 256), o, a, b, x, n)
}

int main(int argc, char **argv)
{
    const int most = 1 << 22;
    const bool one = argc > 1 && (!strcmp(argv[1], "small") || !strcmp(argv[1], "large"));
    named = argc - one;
    names = argv + one;
    bytes = 4 * (size_t)most;
    host.resize(most);
    std::vector<float> fields(most), floats(most + 256);
    std::vector<int> index(most);
    unsigned state = 12345;
    for (int i = 0; i < most; i++) {
        state = state * 1664525u + 1013904223u;
        index[i] = (int)(state ^ state >> 16) & 0x7fffffff;
        floats[i] = (float)(state >> 8) / (float)(1 << 24);
    }
    CHECK(cudaMalloc(&o, bytes + 1024));
    CHECK(cudaMalloc(&a, bytes + 1024));
    CHECK(cudaMalloc(&b, bytes + 1024));
    CHECK(cudaMalloc(&apart, bytes + 1024));
    CHECK(cudaMalloc(&x, bytes + 1024));
    CHECK(cudaMemset(o, 0, bytes));
    CHECK(cudaMemcpy(a, floats.data(), bytes + 1024, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, floats.data(), bytes + 1024, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(x, index.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(table, floats.data(), sizeof(table)));
    CHECK(cudaFuncSetAttribute(capacity_before, cudaFuncAttributeMaxDynamicSharedMemorySize, 72 * 1024));
    CHECK(cudaFuncSetAttribute(capacity_after, cudaFuncAttributeMaxDynamicSharedMemorySize, 56 * 1024));
    for (int size = 0; size < 2; size++) {
        if (one && !strcmp(argv[1], "small") == size)
            continue;
        const int n = size ? most : most / 16;
        for (int i = 0; i < n; i++) /* records of four, as arrays of n / 4 */
            fields[i % 4 * (n / 4) + i / 4] = floats[i];
        CHECK(cudaMemcpy(apart, fields.data(), 4 * (size_t)n, cudaMemcpyHostToDevice));
        run(n, size ? 2048 : 512, size);
    }
    return wrong != 0;
}
