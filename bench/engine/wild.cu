/* wild.cu - kernels of the kinds that people run, for `bench_engine --only wild`. What each must give is wild_plain.c.
 *
 * wild.ptx is what nvcc makes of this file, kept so that the benchmark runs where nvcc is not:
 *
 *     nvcc -ptx -arch=compute_90 -fmad=false wild.cu -o wild.ptx
 *
 * Products and sums are fused only where fma stands, so that plain C gives the same bits. The last argument is a size,
 * or the number of the launch where there are many.
 */
#include <cooperative_groups.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;
typedef unsigned char u8;
typedef unsigned u32;
typedef unsigned long long u64;
#define KERNEL extern "C" __global__ void

static __device__ int here()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* ---- numbers ---- */
KERNEL fp8_convert(u32 *out, const float *in, int n)
{
    float x = in[here()];
    u32 sum = 0;
    for (int k = 0; k < n; k++) {
        unsigned short pair;
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(x), "f"(x * -0.37f));
        sum = sum * 31 + pair;
        x = x > 300.0f ? x * 0.0001f : x * 1.7f;
    }
    out[here()] = sum;
}

KERNEL collatz(u32 *out, const u32 *in, int n)
{
    u64 x = in[here()] % n + 1;
    u32 steps = 0;
    for (; x != 1; steps++)
        x = x & 1 ? 3 * x + 1 : x / 2;
    out[here()] = steps;
}

KERNEL monte_carlo(u32 *out, u32 *state, int n)
{
    u32 s = state[here()], ends = 0;
    for (int path = 0; path < n; path++) {
        int at = 0, step = 0;
        while (at > -6 && at < 6 && step < 100) {
            s ^= s << 13, s ^= s >> 17, s ^= s << 5;
            at += s & 64 ? 1 : -1;
            step++;
        }
        ends += step;
    }
    state[here()] = s;
    out[here()] = ends;
}

static __device__ u32 __noinline__ paths(u32 right, u32 down)
{
    return right == 0 || down == 0 ? 1 : paths(right - 1, down) + paths(right, down - 1);
}

KERNEL recursion(u32 *out, const u32 *in, int n)
{
    out[here()] = paths(n, 2 + in[here()] % 2);
}

/* ---- tables and strings ---- */
KERNEL search_shared(u32 *out, const u32 *table, const u32 *keys, int n)
{
    __shared__ u32 sorted[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        sorted[i] = table[i];
    __syncthreads();
    u32 sum = 0;
    for (int k = 0; k < n; k++) {
        u32 key = keys[k * gridDim.x * blockDim.x + here()], low = 0, high = 1024;
        while (low < high) {
            u32 middle = (low + high) / 2;
            if (sorted[middle] < key)
                low = middle + 1;
            else
                high = middle;
        }
        sum += low;
    }
    out[here()] = sum;
}

KERNEL hash_keys(u32 *out, const u8 *text, const u32 *begins, int n)
{
    for (int key = here(); key < n; key += gridDim.x * blockDim.x) {
        u32 h = 2166136261u;
        for (u32 at = begins[key]; at < begins[key + 1]; at++)
            h = (h ^ text[at]) * 16777619u;
        out[key] = h;
    }
}

KERNEL string_match(u32 *out, const u8 *text, const u8 *word, int n)
{
    int found = 0;
    for (int i = 0; i < 4; i++) {
        int at = (i * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x, k = 0;
        while (k < n && text[at + k] == word[k])
            k++;
        found += k * k;
    }
    out[here()] = found;
}

KERNEL private_counters(u32 *out, const u8 *in, int n)
{
    __shared__ u8 counters[64][128];
    for (int k = 0; k < 64; k++)
        counters[k][threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < n; i++)
        counters[in[(blockIdx.x * n + i) * 128 + threadIdx.x] & 63][threadIdx.x]++;
    __syncthreads();
    if (threadIdx.x < 64) {
        u32 sum = 0;
        for (int k = 0; k < 128; k++)
            sum += counters[threadIdx.x][(k + threadIdx.x) & 127];
        atomicAdd(&out[threadIdx.x], sum);
    }
}

/* ---- elements moved ---- */
KERNEL transpose_heads(u32 *out, const u32 *in, const long long *dims, int n)
{
    long long tokens = dims[0], heads = dims[1], width = dims[2];
    for (long long i = here(); i < n; i += gridDim.x * blockDim.x) {
        long long d = i % width, h = i / width % heads, t = i / width / heads % tokens, b = i / width / heads / tokens;
        out[((b * heads + h) * tokens + t) * width + d] = in[i];
    }
}

KERNEL reverse_bytes(u8 *out, const u8 *in, int n)
{
    for (int row = blockIdx.x; row < 256; row += gridDim.x)
        for (int col = threadIdx.x; col < n; col += blockDim.x)
            out[row * n + (n - 1 - col)] = in[row * n + col];
}

KERNEL reverse_rows(u64 *out, const u64 *in, int n)
{
    for (int col = 0; col < n; col++)
        out[here() * n + (n - 1 - col)] = in[here() * n + col];
}

KERNEL blur_bytes(u8 *out, const u8 *in, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += in[min(max(y + dy, 0), n - 1) * n + min(max(x + dx, 0), n - 1)] * (2 - abs(dx)) * (2 - abs(dy));
    out[y * n + x] = sum >> 4;
}

KERNEL box_clamped(float *out, const float *in, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += in[min(max(y + dy, 0), n - 1) * n + min(max(x + dx, 0), n - 1)];
    out[y * n + x] = sum;
}

/* A convolution of 3 x 3 in halves, 48 channels last, of small whole numbers, whose sums are exact. */
KERNEL depthwise_half(float *out, const u8 *in, const u8 *weights, int n)
{
    int c = here() % 48, x = here() / 48 % n, y = here() / 48 / n;
    __half sum = __float2half(0.0f);
    for (int k = 0; k < 9; k++) {
        int u = x + k % 3 - 1, v = y + k / 3 - 1;
        if (u >= 0 && v >= 0 && u < n && v < n) {
            int pixel = in[(v * n + u) * 48 + c] % 16, weight = weights[k * 48 + c] % 8 - 4;
            sum = __hfma(__int2half_rn(pixel), __int2half_rn(weight), sum);
        }
    }
    out[here()] = __half2float(sum);
}

/* One pass of a radix sort: ranks in a warp by match, in a block by counts, among blocks by looking back. */
KERNEL radix_pass(u32 *out, const u32 *in, volatile u32 *status, const u32 *begins, int n)
{
    __shared__ u32 counts[8][16], before[16];
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, key = in[here()], digit = key >> n & 15;
    if (threadIdx.x < 128)
        counts[threadIdx.x / 16][threadIdx.x % 16] = 0;
    __syncthreads();
    u32 same = __match_any_sync(~0u, digit), rank = __popc(same & ((1u << lane) - 1));
    if (rank == 0)
        counts[warp][digit] = __popc(same);
    __syncthreads();
    if (threadIdx.x < 16) {
        u32 total = 0, sum = 0;
        for (int w = 0; w < 8; w++) {
            u32 c = counts[w][threadIdx.x];
            counts[w][threadIdx.x] = total;
            total += c;
        }
        status[blockIdx.x * 16 + threadIdx.x] = total | 1u << 30;
        for (int b = blockIdx.x - 1; b >= 0; b--) {
            u32 s;
            while ((s = status[b * 16 + threadIdx.x]) == 0)
                ;
            sum += s & 0x3fffffff;
            if (s >> 31)
                break;
        }
        status[blockIdx.x * 16 + threadIdx.x] = (total + sum) | 1u << 31;
        before[threadIdx.x] = sum + begins[threadIdx.x];
    }
    __syncthreads();
    out[before[digit] + counts[warp][digit] + rank] = key;
}

KERNEL bitonic(u32 *out, const u32 *in, int n)
{
    __shared__ u32 s[512];
    for (int i = threadIdx.x; i < 512; i += 256)
        s[i] = in[blockIdx.x * 512 + i];
    for (int size = 2; size <= n; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            int i = 2 * threadIdx.x - (threadIdx.x & (step - 1));
            u32 a = s[i], b = s[i + step];
            if ((a > b) == ((i & size) == 0)) {
                s[i] = b;
                s[i + step] = a;
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 256)
        out[blockIdx.x * 512 + i] = s[i];
}

/* ---- ciphers ---- */
KERNEL aes(uint4 *out, const uint4 *in, const u32 *tables, const u32 *keys, int n)
{
    __shared__ u32 t[4][256];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        t[i / 256][i % 256] = tables[i];
    __syncthreads();
    uint4 v = in[here()];
    u32 a = v.x ^ keys[0], b = v.y ^ keys[1], c = v.z ^ keys[2], d = v.w ^ keys[3];
    for (int r = 1; r < n; r++) {
        u32 e = t[0][a & 255] ^ t[1][b >> 8 & 255] ^ t[2][c >> 16 & 255] ^ t[3][d >> 24] ^ keys[4 * r];
        u32 f = t[0][b & 255] ^ t[1][c >> 8 & 255] ^ t[2][d >> 16 & 255] ^ t[3][a >> 24] ^ keys[4 * r + 1];
        u32 g = t[0][c & 255] ^ t[1][d >> 8 & 255] ^ t[2][a >> 16 & 255] ^ t[3][b >> 24] ^ keys[4 * r + 2];
        d = t[0][d & 255] ^ t[1][a >> 8 & 255] ^ t[2][b >> 16 & 255] ^ t[3][c >> 24] ^ keys[4 * r + 3];
        a = e, b = f, c = g;
    }
    out[here()] = make_uint4(a, b, c, d);
}

#define ROTATE(x, by) ((x) >> (by) | (x) << (32 - (by)))
KERNEL sha256(u32 *out, const u32 *in, const u32 *k, int n)
{
    u32 w[16], s[8], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int i = 0; i < 16; i++)
        w[i] = in[here() * 16 + i];
    for (int i = 0; i < 8; i++)
        s[i] = h[i];
    for (int base = 0; base < n; base += 16)
#pragma unroll
        for (int i = 0; i < 16; i++) {
            if (base) {
                u32 a = w[(i + 1) & 15], b = w[(i + 14) & 15];
                w[i] += (ROTATE(a, 7) ^ ROTATE(a, 18) ^ a >> 3) + w[(i + 9) & 15] + (ROTATE(b, 17) ^ ROTATE(b, 19) ^ b >> 10);
            }
            u32 x = s[7] + (ROTATE(s[4], 6) ^ ROTATE(s[4], 11) ^ ROTATE(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
                    k[base + i] + w[i];
            u32 y = (ROTATE(s[0], 2) ^ ROTATE(s[0], 13) ^ ROTATE(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + x, s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = x + y;
        }
    for (int i = 0; i < 8; i++)
        out[here() * 8 + i] = h[i] + s[i];
}

/* ---- graphs and sparse matrices ---- */
KERNEL spmv(float *out, const u32 *begins, const u32 *columns, const float *values, const float *x, int n)
{
    if (here() >= n)
        return;
    float sum = 0.0f;
    for (u32 k = begins[here()]; k < begins[here() + 1]; k++)
        sum = fmaf(values[k], x[columns[k]], sum);
    out[here()] = sum;
}

KERNEL bfs(int *distance, const u32 *begins, const u32 *edges, u32 *reached, int n)
{
    if (distance[here()] != n + 1)
        return;
    for (u32 k = begins[here()]; k < begins[here() + 1]; k++)
        if (atomicCAS(&distance[edges[k]], 0, n + 2) == 0)
            atomicAdd(&reached[n], 1);
}

KERNEL kmeans(u32 *label, const float2 *points, const float2 *centres, u32 *counts, int n)
{
    __shared__ u32 found[16];
    __shared__ float2 c[16];
    if (threadIdx.x < 16) {
        found[threadIdx.x] = 0;
        c[threadIdx.x] = centres[threadIdx.x];
    }
    __syncthreads();
    float2 p = points[here()];
    float least = 1e30f;
    u32 best = 0;
    for (int k = 0; k < n; k++) {
        float dx = p.x - c[k].x, dy = p.y - c[k].y, d = fmaf(dx, dx, dy * dy);
        if (d < least)
            least = d, best = k;
    }
    label[here()] = best;
    atomicAdd(&found[best], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&counts[threadIdx.x], found[threadIdx.x]);
}

KERNEL reduce_by_key(u32 *out, const u32 *keys, const u32 *values, int n)
{
    for (int i = here(); i < n; i += gridDim.x * blockDim.x) {
        u32 lane = threadIdx.x % 32, key = keys[i], sum = values[i];
        for (int d = 1; d < 32; d *= 2) {
            u32 k = __shfl_up_sync(~0u, key, d), v = __shfl_up_sync(~0u, sum, d);
            if (lane >= d && k == key)
                sum += v;
        }
        u32 next = __shfl_down_sync(~0u, key, 1);
        if (lane == 31 || next != key)
            atomicAdd(&out[key], sum);
    }
}

KERNEL priority_queue(u32 *out, const u32 *in, int n)
{
    u32 heap[16];
    for (int k = 0; k < 16; k++)
        heap[k] = ~0u;
    for (int i = 0; i < n; i++) {
        u32 v = in[i * gridDim.x * blockDim.x + here()];
        if (v >= heap[1])
            continue;
        int at = 1; /* of the least fifteen the greatest is on top */
        while (2 * at < 16) {
            int child = 2 * at + (2 * at + 1 < 16 && heap[2 * at + 1] > heap[2 * at]);
            if (heap[child] <= v)
                break;
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = v;
    }
    u32 sum = 0;
    for (int k = 1; k < 16; k++)
        sum += heap[k];
    out[here()] = sum;
}

/* Alignment by diagonals of one tile: the launch's. */
KERNEL diagonals(int *score, const u8 *a, const u8 *b, int n)
{
    __shared__ int s[17][17];
    int t = threadIdx.x, y0 = n / 64 * 16, x0 = n % 64 * 16;
    const int W = 1025;
    s[t + 1][0] = score[(y0 + t + 1) * W + x0];
    s[0][t + 1] = score[y0 * W + x0 + t + 1];
    if (t == 0)
        s[0][0] = score[y0 * W + x0];
    u8 mine = a[y0 + t];
    __syncthreads();
    for (int d = 0; d < 31; d++) {
        int x = d - t;
        if (x >= 0 && x < 16)
            s[t + 1][x + 1] = max(s[t][x] + (mine == b[x0 + x] ? 3 : -2), max(s[t][x + 1], s[t + 1][x]) - 1);
        __syncthreads();
    }
    for (int y = 1; y <= 16; y++)
        score[(y0 + y) * W + x0 + t + 1] = s[y][t + 1];
}

/* ---- what a launch itself costs ---- */
KERNEL launch_empty(int *out, int n)
{
}

KERNEL launch_small(int *out, int n)
{
    out[threadIdx.x] += n;
}

/* ---- dense matrices ---- */
KERNEL matvec_rows(float *out, const float *a, const float *x, int n)
{
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum = fmaf(a[here() * n + k], x[k], sum);
    out[here()] = sum;
}

KERNEL warp_gemv(float *out, const float *a, const float *x, int n)
{
    int row = here() / 32, lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int k = lane; k < n; k += 32)
        sum = fmaf(a[row * n + k], x[k], sum);
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0)
        out[row] = sum;
}

/* A product by tiles, of threads with one index each. */
KERNEL flat_tiles(float *out, const float *a, const float *b, int n)
{
    __shared__ float s[16][16], t[16][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 16) {
        s[y][x] = a[row * n + k + x];
        t[y][x] = b[(k + y) * n + col];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum = fmaf(s[y][i], t[i][x], sum);
        __syncthreads();
    }
    out[row * n + col] = sum;
}

KERNEL layer_norm(float4 *out, const float4 *in, int n)
{
    int from = here() / 32 * (n / 4), lane = threadIdx.x % 32;
    float sum = 0.0f, square = 0.0f;
    for (int k = lane; k < n / 4; k += 32) {
        float4 v = in[from + k];
        sum += v.x + v.y + v.z + v.w;
        square += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int d = 16; d; d /= 2) {
        sum += __shfl_xor_sync(~0u, sum, d);
        square += __shfl_xor_sync(~0u, square, d);
    }
    float mean = sum / n, spread = sqrtf(square / n - mean * mean + 1e-5f);
    for (int k = lane; k < n / 4; k += 32) {
        float4 v = in[from + k];
        out[from + k] = make_float4((v.x - mean) / spread, (v.y - mean) / spread, (v.z - mean) / spread,
                                    (v.w - mean) / spread);
    }
}

KERNEL lu(float *out, const float *in, int n)
{
    __shared__ float a[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    a[y][x] = in[(blockIdx.x * 16 + y) * 16 + x];
    __syncthreads();
    for (int k = 0; k < n; k++) {
        if (y > k && x == k)
            a[y][k] /= a[k][k];
        __syncthreads();
        if (y > k && x > k)
            a[y][x] = fmaf(-a[y][k], a[k][x], a[y][x]);
        __syncthreads();
    }
    out[(blockIdx.x * 16 + y) * 16 + x] = a[y][x];
}

KERNEL triangular(float *x, const float *l, const float *b, int n)
{
    __shared__ float s[32][33];
    int columns = gridDim.x * blockDim.x;
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        s[i / 32][i % 32] = l[i];
    __syncthreads();
    for (int i = 0; i < n; i++) {
        float sum = b[i * columns + here()];
        for (int k = 0; k < i; k++)
            sum = fmaf(-s[i][k], x[k * columns + here()], sum);
        x[i * columns + here()] = sum / s[i][i];
    }
}

/* A system of n equations a thread, in an array of its own, by the greatest of each column. */
KERNEL small_systems(float *out, const float *in, int n)
{
    float a[8][9];
    const int t = here(), count = gridDim.x * blockDim.x;
    for (int y = 0; y < n; y++)
        for (int x = 0; x <= n; x++)
            a[y][x] = in[(y * (n + 1) + x) * count + t];
    for (int k = 0; k < n; k++) {
        int top = k;
        for (int y = k + 1; y < n; y++)
            top = fabsf(a[y][k]) > fabsf(a[top][k]) ? y : top;
        for (int x = k; x <= n; x++) {
            float keep = a[k][x];
            a[k][x] = a[top][x];
            a[top][x] = keep;
        }
        for (int y = k + 1; y < n; y++) {
            float f = a[y][k] / a[k][k];
            for (int x = k; x <= n; x++)
                a[y][x] = fmaf(-f, a[k][x], a[y][x]);
        }
    }
    for (int y = n - 1; y >= 0; y--) {
        float sum = a[y][n];
        for (int x = y + 1; x < n; x++)
            sum = fmaf(-a[y][x], a[x][n], sum);
        a[y][n] = sum / a[y][y];
        out[y * count + t] = a[y][n];
    }
}

KERNEL cholesky(double *out, const double *in, int n)
{
    __shared__ double both[2][32][33];
    double(*a)[33] = both[threadIdx.x / 32];
    int lane = threadIdx.x % 32, at = here() / 32 * 1024;
    for (int r = 0; r < 32; r++)
        a[r][lane] = in[at + r * 32 + lane] + (r == lane ? n : 0);
    __syncwarp();
    for (int k = 0; k < 32; k++) {
        double d = sqrt(a[k][k]);
        __syncwarp();
        if (lane == k)
            a[k][k] = d;
        else if (lane > k)
            a[lane][k] /= d;
        __syncwarp();
        for (int j = k + 1; j <= lane; j++)
            a[lane][j] = fma(-a[lane][k], a[j][k], a[lane][j]);
        __syncwarp();
    }
    for (int r = 0; r < 32; r++)
        out[at + r * 32 + lane] = lane <= r ? a[r][lane] : 0.0;
}

KERNEL shuffle_sum(u32 *out, const u32 *in, int n)
{
    __shared__ u32 sums[8];
    u32 sum = 0;
    for (int i = here(); i < n; i += gridDim.x * blockDim.x) {
        u32 v = in[i];
        for (int d = 16; d; d /= 2)
            v += __shfl_down_sync(~0u, v, d);
        sum += v;
    }
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++)
            sum += sums[k];
        out[blockIdx.x] = sum;
    }
}

/* ---- fields and particles ---- */
KERNEL stencil_f64(double *out, const double *in, int n)
{
    int i = here(), x = i % 32, y = i / 32 % 32, z = i / 1024;
    double sum = 0.0, square = 0.0;
#pragma unroll
    for (int dz = 0; dz < 7; dz++)
#pragma unroll
        for (int dy = 0; dy < 7; dy++)
#pragma unroll
            for (int dx = 0; dx < 7; dx++) {
                double v = in[((z + dz) * n + y + dy) * n + x + dx];
                sum = fma(v, 1.0 + dz * 0.25 + dy * 0.125 + dx * 0.0625, sum);
                square = fma(v, v, square);
            }
    out[i] = sum + square;
}

KERNEL wave3d(float *next, const float *now, const float *last, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1)
        return;
    for (int z = 1; z < n - 1; z++) {
        int i = (z * n + y) * n + x;
        float sum = now[i - 1] + now[i + 1] + now[i - n] + now[i + n] + now[i - n * n] + now[i + n * n];
        next[i] = 2.0f * now[i] - last[i] + 0.1f * (sum - 6.0f * now[i]);
    }
}

KERNEL heat_tile(float *out, const float *in, int n)
{
    __shared__ float s[18][34];
    int x = threadIdx.x, from = blockIdx.y * 16 * (n + 2) + blockIdx.x * 32, to = blockIdx.y * 16 * n + blockIdx.x * 32;
    for (int i = threadIdx.y * 32 + x; i < 18 * 34; i += 128)
        s[i / 34][i % 34] = in[from + i / 34 * (n + 2) + i % 34];
    __syncthreads();
    for (int y = threadIdx.y; y < 16; y += 4)
        out[to + y * n + x] =
            0.2f * (s[y + 1][x + 1] + s[y][x + 1] + s[y + 2][x + 1] + s[y + 1][x] + s[y + 1][x + 2]);
}

KERNEL deposit(float *grid, const float *charge, const u32 *place, int n)
{
    u32 p = place[here()];
    float *at = grid + (p >> 8) % (n - 1) * n + p % (n - 1), q = charge[here()];
    float x = (p >> 24 & 3) * 0.25f, y = (p >> 26 & 3) * 0.25f;
    atomicAdd(at, q * (1.0f - x) * (1.0f - y));
    atomicAdd(at + 1, q * x * (1.0f - y));
    atomicAdd(at + n, q * (1.0f - x) * y);
    atomicAdd(at + n + 1, q * x * y);
}

KERNEL nbody(float4 *out, const float4 *bodies, int n)
{
    __shared__ float4 tile[256];
    float4 me = bodies[here()], force = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int base = 0; base < n; base += 256) {
        tile[threadIdx.x] = bodies[base + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 256; k++) {
            float4 b = tile[k];
            float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
            float r2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f))), f = b.w / (r2 * sqrtf(r2));
            force.x = fmaf(dx, f, force.x);
            force.y = fmaf(dy, f, force.y);
            force.z = fmaf(dz, f, force.z);
        }
        __syncthreads();
    }
    out[here()] = force;
}

KERNEL particles(float *out, const float4 *bodies, const u32 *begins, const u32 *neighbours, int n)
{
    if (here() >= n)
        return;
    float4 me = bodies[here()];
    float sum = 0.0f;
    for (u32 k = begins[here()]; k < begins[here() + 1]; k++) {
        float4 b = bodies[neighbours[k]];
        float dx = b.x - me.x, dy = b.y - me.y, r2 = fmaf(dx, dx, fmaf(dy, dy, 0.001f));
        if (r2 < 0.5f) {
            float i2 = 1.0f / r2, i6 = i2 * i2 * i2;
            sum = fmaf(i6 * b.w, i6 - 1.0f, sum);
        }
    }
    out[here()] = sum;
}

/* ---- blocks that wait for one another ---- */
KERNEL spin_lock(u32 *out, const u32 *in, u32 *lock, int n)
{
    for (int k = 0; k < n; k++) {
        u32 v = in[(k * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x];
        v = __reduce_max_sync(~0u, v);
        if (threadIdx.x == 0) {
            while (atomicCAS(lock, 0, 1))
                ;
            __threadfence();
            ((volatile u32 *)out)[0] = max(((volatile u32 *)out)[0], v);
            ((volatile u32 *)out)[1]++;
            __threadfence();
            atomicExch(lock, 0);
        }
        __syncwarp();
    }
}

KERNEL grid_barrier(u32 *a, u32 *b, volatile u32 *count, int n)
{
    u32 threads = gridDim.x * blockDim.x;
    for (int round = 1; round <= n; round++) {
        u32 i = here(), *from = round & 1 ? a : b, *to = round & 1 ? b : a;
        for (int k = 0; k < 8; k++)
            to[i + k * threads] = __ldcg(&from[(i * 8 + k) % (8 * threads)]) * 3 + 1;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd((u32 *)count, 1);
            while (*count < round * gridDim.x)
                ;
        }
        __syncthreads();
    }
}

/* ---- blocks of a cluster, in one another's shared memory ---- */
KERNEL __cluster_dims__(4, 1, 1) cluster_stencil(float *out, const float *in, int n)
{
    __shared__ float tile[2][256];
    const cg::cluster_group cluster = cg::this_cluster();
    const u32 t = threadIdx.x, rank = cluster.block_rank();
    tile[0][t] = in[here()];
    cluster.sync();
    const float *left = cluster.map_shared_rank(&tile[0][255], (rank + 3) % 4);
    const float *right = cluster.map_shared_rank(&tile[0][0], (rank + 1) % 4);
    for (int k = 0; k < n; k++) {
        const float *now = tile[k % 2];
        float a = t > 0 ? now[t - 1] : left[k % 2 * 256], b = t < 255 ? now[t + 1] : right[k % 2 * 256];
        tile[(k + 1) % 2][t] = 0.25f * a + 0.5f * now[t] + 0.25f * b;
        cluster.sync();
    }
    out[here()] = tile[n % 2][t];
}

KERNEL __cluster_dims__(4, 1, 1) cluster_histogram(u32 *out, const u32 *in, int n)
{
    __shared__ u32 bins[256];
    const cg::cluster_group cluster = cg::this_cluster();
    bins[threadIdx.x] = 0;
    cluster.sync();
    for (int i = here(); i < n; i += gridDim.x * blockDim.x) {
        u32 key = in[i] % 1024;
        atomicAdd(cluster.map_shared_rank(bins, key / 256) + key % 256, 1);
    }
    cluster.sync();
    atomicAdd(&out[cluster.block_rank() * 256 + threadIdx.x], bins[threadIdx.x]);
}
