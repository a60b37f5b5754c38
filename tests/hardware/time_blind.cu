/* time_blind.cu - kernels of many fields at three sizes, written without looking at the model: its times were taken on a
 * GPU before the model had run them once, and nothing was fitted to them.
 *
 *     time_blind        prints a line a launch
 *
 * Results are not verified; what is measured is time. One more is a kernel and a line of `main`.
 */
#include "check.cuh"

#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <vector>

namespace cg = cooperative_groups;

static const int MOST = 1 << 22;
static float *A, *B, *C;   // MOST each: at random in 0 … 1
static int *X;             // at random in 0 … MOST - 1
static double *D;

/* ---- linear algebra ---- */
__global__ void rot(int n, float *x, float *y, float c, float s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float u = x[i], v = y[i];
        x[i] = c * u + s * v;
        y[i] = c * v - s * u;
    }
}

__global__ void dot_atomic(int n, const float *x, const float *y, float *out)
{
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += x[i] * y[i];
    for (int d = 16; d > 0; d >>= 1)
        s += __shfl_xor_sync(0xffffffffu, s, d);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(out, s);
}

__global__ void outer(int n, const float *x, const float *y, float *m)
{
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    if (r < n && c < n)
        m[r * n + c] += x[r] * y[c];
}

__global__ void gemv_transposed(int rows, int cols, const float *m, const float *x, float *y)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    if (c < cols)
        for (int r = 0; r < rows; r++)
            s = fmaf(m[(size_t)r * cols + c], x[r], s);
    if (c < cols)
        y[c] = s;
}

template <int T> __global__ void gemm_shared(int n, const float *a, const float *b, float *c)
{
    __shared__ float as[T][T], bs[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float s = 0;
    for (int k = 0; k < n; k += T) {
        as[y][x] = a[row * n + k + x];
        bs[y][x] = b[(k + y) * n + col];
        __syncthreads();
        for (int i = 0; i < T; i++)
            s += as[y][i] * bs[i][x];
        __syncthreads();
    }
    c[row * n + col] = s;
}

__global__ void gemm_registers(int n, const float *a, const float *b, float *c)
{
    __shared__ float as[8][128], bs[8][128];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16;
    float s[8][8] = {};
    for (int k = 0; k < n; k += 8) {
        const float4 av = *(const float4 *)&a[(blockIdx.y * 128 + t / 2) * n + k + t % 2 * 4];
        as[t % 2 * 4 + 0][t / 2] = av.x;
        as[t % 2 * 4 + 1][t / 2] = av.y;
        as[t % 2 * 4 + 2][t / 2] = av.z;
        as[t % 2 * 4 + 3][t / 2] = av.w;
        *(float4 *)&bs[t / 32][t % 32 * 4] = *(const float4 *)&b[(k + t / 32) * n + blockIdx.x * 128 + t % 32 * 4];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; i++) {
            float p[8], q[8];
            for (int j = 0; j < 8; j++)
                p[j] = as[i][ty * 8 + j];
            for (int j = 0; j < 8; j++)
                q[j] = bs[i][tx * 8 + j];
            for (int u = 0; u < 8; u++)
                for (int v = 0; v < 8; v++)
                    s[u][v] += p[u] * q[v];
        }
        __syncthreads();
    }
    for (int u = 0; u < 8; u++)
        for (int v = 0; v < 8; v += 4)
            *(float4 *)&c[(blockIdx.y * 128 + ty * 8 + u) * n + blockIdx.x * 128 + tx * 8 + v] =
                make_float4(s[u][v], s[u][v + 1], s[u][v + 2], s[u][v + 3]);
}

__global__ void gemm_wmma(int n, const half *a, const half *b, float *c)
{
    using namespace nvcuda::wmma;
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, per = n / 16;
    if (warp >= per * per)
        return;
    int row = warp / per * 16, col = warp % per * 16;
    fragment<matrix_a, 16, 16, 16, half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, half, row_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0);
    for (int k = 0; k < n; k += 16) {
        load_matrix_sync(fa, a + row * n + k, n);
        load_matrix_sync(fb, b + k * n + col, n);
        mma_sync(fc, fa, fb, fc);
    }
    store_matrix_sync(c + row * n + col, fc, n, mem_row_major);
}

__global__ void solve_lower(int n, const float *l, float *x) // a block a system of n unknowns, in shared memory
{
    extern __shared__ float s[];
    int t = threadIdx.x;
    l += (size_t)blockIdx.x * n * n;
    s[t] = x[blockIdx.x * n + t];
    for (int k = 0; k < n; k++) {
        __syncthreads();
        if (t > k)
            s[t] -= l[t * n + k] * s[k];
    }
    __syncthreads();
    x[blockIdx.x * n + t] = s[t];
}

__global__ void lu_batched(double *m) // a warp a matrix of 16 x 16
{
    __shared__ double s[4][16][17];
    int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    double *mine = m + ((size_t)blockIdx.x * 4 + w) * 256;
    for (int i = lane; i < 256; i += 32)
        s[w][i / 16][i % 16] = mine[i] + (i % 17 == 0 ? 20 : 0);
    __syncwarp();
    for (int k = 0; k < 15; k++) {
        if (lane > k && lane < 16) {
            double f = s[w][lane][k] / s[w][k][k];
            s[w][lane][k] = f;
            for (int j = k + 1; j < 16; j++)
                s[w][lane][j] -= f * s[w][k][j];
        }
        __syncwarp();
    }
    for (int i = lane; i < 256; i += 32)
        mine[i] = s[w][i / 16][i % 16];
}

__global__ void spmv_ell(int rows, int width, const float *v, const int *col, const float *x, float *y)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    if (r < rows)
        for (int k = 0; k < width; k++)
            s += v[k * rows + r] * x[col[k * rows + r] % rows];
    if (r < rows)
        y[r] = s;
}

__global__ void spmv_csr_warp(int rows, const float *v, const int *col, const float *x, float *y, int n)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows)
        return;
    int from = r * 40, to = from + 20 + col[r] % 40;
    float s = 0;
    for (int k = from + lane; k < to; k += 32)
        s += v[k] * x[col[k] & (n - 1)];
    for (int d = 16; d; d /= 2)
        s += __shfl_down_sync(~0u, s, d);
    if (!lane)
        y[r] = s;
}

/* ---- grids ---- */
__global__ void wave_3d(int nx, int ny, int nz, const float *u, const float *old, float *next)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || x >= nx - 2 || y < 2 || y >= ny - 2)
        return;
    int plane = nx * ny, i = y * nx + x + 2 * plane;
    for (int z = 2; z < nz - 2; z++, i += plane) {
        float l = -7.5f * u[i] + 1.333f * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + u[i - plane] + u[i + plane]) -
                  0.083f * (u[i - 2] + u[i + 2] + u[i - 2 * nx] + u[i + 2 * nx] + u[i - 2 * plane] + u[i + 2 * plane]);
        next[i] = 2 * u[i] - old[i] + 0.1f * l;
    }
}

__global__ void heat_tile(int w, int h, const float *in, float *out)
{
    __shared__ float s[18][34];
    int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 16 - 1;
    for (int k = ty * 32 + tx; k < 18 * 34; k += 512) {
        int x = min(max(x0 + k % 34, 0), w - 1), y = min(max(y0 + k / 34, 0), h - 1);
        s[k / 34][k % 34] = in[y * w + x];
    }
    __syncthreads();
    int x = x0 + 1 + tx, y = y0 + 1 + ty;
    if (x < w && y < h)
        out[y * w + x] = 0.2f * (s[ty + 1][tx + 1] + s[ty][tx + 1] + s[ty + 2][tx + 1] + s[ty + 1][tx] + s[ty + 1][tx + 2]);
}

__global__ void lattice(int w, int h, const float *f, float *g) // D2Q9, one array after the other
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = w * h;
    if (i >= n)
        return;
    int x = i % w, y = i / w;
    float v[9], rho = 0, ux = 0, uy = 0;
    for (int k = 0; k < 9; k++) {
        int dx = k % 3 - 1, dy = k / 3 - 1, sx = (x - dx + w) % w, sy = (y - dy + h) % h;
        v[k] = f[k * n + sy * w + sx];
        rho += v[k];
        ux += v[k] * dx;
        uy += v[k] * dy;
    }
    ux /= rho;
    uy /= rho;
    for (int k = 0; k < 9; k++) {
        int dx = k % 3 - 1, dy = k / 3 - 1;
        float wk = (dx == 0 ? 2.f / 3 : 1.f / 6) * (dy == 0 ? 2.f / 3 : 1.f / 6), e = dx * ux + dy * uy;
        g[k * n + i] = v[k] + 0.6f * (wk * rho * (1 + 3 * e + 4.5f * e * e - 1.5f * (ux * ux + uy * uy)) - v[k]);
    }
}

__global__ void sobel(int w, int h, const unsigned char *in, unsigned char *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
        return;
    const unsigned char *p = in + y * w + x;
    int gx = p[-w + 1] + 2 * p[1] + p[w + 1] - p[-w - 1] - 2 * p[-1] - p[w - 1];
    int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
    out[y * w + x] = (unsigned char)min(255, (int)sqrtf((float)(gx * gx + gy * gy)));
}

__global__ void bilateral(int w, int h, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float c = in[y * w + x], s = 0, n = 0;
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++) {
            float v = in[min(max(y + dy, 0), h - 1) * w + min(max(x + dx, 0), w - 1)];
            float k = __expf(-(dx * dx + dy * dy) * 0.06f - (v - c) * (v - c) * 50);
            s += v * k;
            n += k;
        }
    out[y * w + x] = s / n;
}

__global__ void conv_channels(int side, int in_channels, const float *in, const float *weights, float *out)
{
    extern __shared__ float k[]; // in_channels * 9 weights of this output channel
    for (int i = threadIdx.x; i < in_channels * 9; i += blockDim.x)
        k[i] = weights[blockIdx.y * in_channels * 9 + i];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % side, y = i / side;
    if (y >= side)
        return;
    float s = 0;
    for (int c = 0; c < in_channels; c++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if (x + dx >= 0 && x + dx < side && y + dy >= 0 && y + dy < side)
                    s += in[(c * side + y + dy) * side + x + dx] * k[c * 9 + (dy + 1) * 3 + dx + 1];
    out[(blockIdx.y * side + y) * side + x] = fmaxf(s, 0);
}

/* ---- scans, sorts, sets ---- */
__global__ void scan_blelloch(const int *in, int *out)
{
    __shared__ int s[1024];
    int t = threadIdx.x;
    size_t at = (size_t)blockIdx.x * 1024;
    s[2 * t] = in[at + 2 * t];
    s[2 * t + 1] = in[at + 2 * t + 1];
    int step = 1;
    for (int d = 512; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
        step *= 2;
    }
    if (t == 0)
        s[1023] = 0;
    for (int d = 1; d < 1024; d *= 2) {
        step >>= 1;
        __syncthreads();
        if (t < d) {
            int i = step * (2 * t + 1) - 1, j = step * (2 * t + 2) - 1, v = s[i];
            s[i] = s[j];
            s[j] += v;
        }
    }
    __syncthreads();
    out[at + 2 * t] = s[2 * t];
    out[at + 2 * t + 1] = s[2 * t + 1];
}

__global__ void radix_count(int n, const int *keys, int shift, int *counts)
{
    __shared__ int bins[16];
    if (threadIdx.x < 16)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x * 8 + threadIdx.x, k = 0; k < 8; k++, i += blockDim.x)
        if (i < n) {
            unsigned digit = (unsigned)keys[i] >> shift & 15, same = __match_any_sync(__activemask(), digit);
            if ((threadIdx.x & 31) == __ffs(same) - 1)
                atomicAdd(&bins[digit], __popc(same));
        }
    __syncthreads();
    if (threadIdx.x < 16)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

__global__ void compact(int n, const float *in, float *out, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool keep = i < n && in[i] > 0.7f;
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    unsigned ballot = warp.ballot(keep);
    int base = 0;
    if (warp.thread_rank() == 0)
        base = atomicAdd(count, __popc(ballot));
    base = warp.shfl(base, 0);
    if (keep)
        out[(base + __popc(ballot & ((1u << warp.thread_rank()) - 1))) & (MOST - 1)] = in[i];
}

__global__ void odd_even(int *keys)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = keys[blockIdx.x * 256 + t];
    for (int round = 0; round < 64; round++) {
        __syncthreads();
        int i = t * 2 + (round & 1);
        if (i + 1 < 256 && t < 128 && s[i] > s[i + 1]) {
            int v = s[i];
            s[i] = s[i + 1];
            s[i + 1] = v;
        }
    }
    __syncthreads();
    keys[blockIdx.x * 256 + t] = s[t];
}

__global__ void hash_insert(int n, const int *keys, int *table, int mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned h = (unsigned)keys[i] * 2654435761u;
    for (int tries = 0; tries < 16; tries++, h++) {
        int was = atomicCAS(&table[h & mask], 0, keys[i] | 1);
        if (was == 0 || was == (keys[i] | 1))
            break;
    }
}

__global__ void merge_path(int n, const float *a, const float *b, float *out)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i >= 2 * n)
        return;
    int lo = max(0, i - n), hi = min(i, n);
    while (lo < hi) {
        int m = (lo + hi) / 2;
        if (a[m] <= b[i - 1 - m])
            lo = m + 1;
        else
            hi = m;
    }
    int p = lo, q = i - lo;
    for (int k = 0; k < 8; k++)
        out[(i + k) & (MOST - 1)] = q >= n || (p < n && a[p] <= b[q]) ? a[p++] : b[q++];
}

__global__ void bfs_level(int nodes, const int *edges, int *level, int depth)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || (level[v] & 7) != depth)
        return;
    for (int k = 0; k < 6; k++) {
        int to = edges[v * 6 + k] % nodes;
        if (level[to] > 1000)
            level[to] = depth + 8;
    }
}

/* ---- simulation ---- */
__global__ void cells_forces(int cells, const float *x, float *f) // particles in cells of 8 on a line of cells
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, cell = i / 8;
    if (cell >= cells)
        return;
    float me = x[i], s = 0;
    for (int c = max(cell - 1, 0); c <= min(cell + 1, cells - 1); c++)
        for (int k = 0; k < 8; k++) {
            float d = x[c * 8 + k] - me, r2 = d * d + 0.01f;
            if (r2 < 0.5f) {
                float inv = 1 / r2, r6 = inv * inv * inv;
                s += d * r6 * (r6 - 0.5f);
            }
        }
    f[i] = s;
}

__global__ void asian_option(int paths, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s0 = i * 2 + 1, s1 = i ^ 0x9e3779b9u;
    float price = 100, sum = 0;
    for (int step = 0; step < 32; step++) {
        unsigned t = s0;
        s0 = s1;
        t ^= t << 13;
        t ^= t >> 17;
        s1 = t ^ s0 ^ s0 << 5;
        float u = (s0 + 1) * 0x1p-32f, v = s1 * 0x1p-32f;
        float z = sqrtf(-2 * logf(u)) * cosf(6.2831853f * v);
        price *= expf(0.0001f + 0.02f * z);
        sum += price;
    }
    if (i < paths)
        out[i] = fmaxf(sum / 32 - 100, 0);
}

__global__ void runge_kutta(int n, double *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double v = y[i], h = 0.01;
    for (int k = 0; k < 10; k++) {
        double k1 = -v * v, a = v + 0.5 * h * k1, k2 = -a * a, b = v + 0.5 * h * k2, k3 = -b * b, c = v + h * k3;
        v += h / 6 * (k1 + 2 * k2 + 2 * k3 - c * c);
    }
    y[i] = v / sqrt(1 + v);
}

__global__ void ising(int w, int h, int colour, int *spin, unsigned seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, y = i / (w / 2), x = i % (w / 2) * 2 + ((y + colour) & 1);
    if (y >= h)
        return;
    int s = spin[y * w + x] & 1, n = (spin[y * w + (x + 1) % w] & 1) + (spin[y * w + (x + w - 1) % w] & 1) +
                                     (spin[(y + 1) % h * w + x] & 1) + (spin[(y + h - 1) % h * w + x] & 1);
    unsigned r = (seed ^ (unsigned)i) * 747796405u + 2891336453u;
    r = (r >> (r >> 28 | 4)) ^ r;
    float p = __expf(-0.88f * (s ? 2 * n - 4 : 4 - 2 * n));
    if ((r & 0xffffff) * 0x1p-24f < p)
        spin[y * w + x] = !s;
}

/* ---- sequences and text ---- */
__global__ void smith_waterman(int length, const int *a, const int *b, int *best) // a warp a pair; lanes one behind the other
{
    int pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    int mine = a[pair * 32 + lane] & 3, left = 0, up_left = 0, most = 0;
    for (int step = 0; step < length + 32; step++) {
        int j = step - lane, above = __shfl_up_sync(~0u, left, 1), letter = j >= 0 && j < length ? b[(pair * 7 + j) & 0xffff] & 3 : 4;
        if (lane == 0)
            above = 0;
        int v = max(0, max(up_left + (letter == mine ? 3 : -2), max(above, left) - 1));
        up_left = above;
        if (j >= 0 && j < length) {
            left = v;
            most = max(most, v);
        }
    }
    for (int d = 16; d; d /= 2)
        most = max(most, __shfl_xor_sync(~0u, most, d));
    if (lane == 0)
        best[pair] = most;
}

__global__ void find_pattern(int n, const unsigned char *text, int *hits)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const char pattern[6] = {'k', 'e', 'r', 'n', 'e', 'l'};
    int k = 0;
    while (k < 6 && i + k < n && (text[i + k] & 7) == (pattern[k] & 7))
        k++;
    if (k == 6)
        atomicAdd(hits, 1);
}

__global__ void crc_rows(int rows, const unsigned *words, unsigned *out)
{
    __shared__ unsigned table[256];
    unsigned v = threadIdx.x;
    for (int k = 0; k < 8; k++)
        v = v & 1 ? v >> 1 ^ 0xedb88320u : v >> 1;
    table[threadIdx.x] = v;
    __syncthreads();
    int r = blockIdx.x * 256 + threadIdx.x;
    if (r >= rows)
        return;
    unsigned c = ~0u;
    for (int k = 0; k < 16; k++) {
        unsigned w = words[r * 16 + k];
        for (int byte = 0; byte < 4; byte++, w >>= 8)
            c = table[(c ^ w) & 255] ^ c >> 8;
    }
    out[r] = ~c;
}

__global__ void sha_rounds(int n, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s[8] = {0x6a09e667u + i, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
    unsigned w[16];
#pragma unroll
    for (int k = 0; k < 16; k++)
        w[k] = i * 16 + k;
#pragma unroll 16
    for (int k = 0; k < 64; k++) {
        unsigned a = w[(k + 1) & 15], b = w[(k + 14) & 15];
        w[k & 15] += (__funnelshift_r(a, a, 7) ^ __funnelshift_r(a, a, 18) ^ a >> 3) + w[(k + 9) & 15] +
                     (__funnelshift_r(b, b, 17) ^ __funnelshift_r(b, b, 19) ^ b >> 10);
        unsigned e = s[4], t1 = s[7] + (__funnelshift_r(e, e, 6) ^ __funnelshift_r(e, e, 11) ^ __funnelshift_r(e, e, 25)) +
                                ((e & s[5]) ^ (~e & s[6])) + 0x428a2f98u + w[k & 15];
        unsigned a0 = s[0], t2 = (__funnelshift_r(a0, a0, 2) ^ __funnelshift_r(a0, a0, 13) ^ __funnelshift_r(a0, a0, 22)) +
                                 ((a0 & s[1]) ^ (a0 & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--)
            s[j] = s[j - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    if (i < n)
        out[i] = s[0] ^ s[4];
}

/* ---- networks ---- */
__global__ void layer_norm(int width, const float *in, float *out)
{
    __shared__ float sums[2][32];
    const float *row = in + (size_t)blockIdx.x * width;
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float v = row[i];
        s += v;
        q += v * v;
    }
    for (int d = 16; d; d /= 2) {
        s += __shfl_xor_sync(~0u, s, d);
        q += __shfl_xor_sync(~0u, q, d);
    }
    if (threadIdx.x % 32 == 0) {
        sums[0][threadIdx.x / 32] = s;
        sums[1][threadIdx.x / 32] = q;
    }
    __syncthreads();
    s = q = 0;
    for (int k = 0; k < (int)blockDim.x / 32; k++) {
        s += sums[0][k];
        q += sums[1][k];
    }
    float mean = s / width, scale = rsqrtf(q / width - mean * mean + 1e-5f);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[(size_t)blockIdx.x * width + i] = (row[i] - mean) * scale;
}

__global__ void attention(int length, const float *q, const float *k, const float *v, float *out) // a warp a query, 64 wide
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= length)
        return;
    float q0 = q[row * 64 + lane], q1 = q[row * 64 + 32 + lane], most = -1e30f, sum = 0, o0 = 0, o1 = 0;
    for (int j = 0; j <= row; j++) {
        float s = q0 * k[j * 64 + lane] + q1 * k[j * 64 + 32 + lane];
        for (int d = 16; d; d /= 2)
            s += __shfl_xor_sync(~0u, s, d);
        s *= 0.125f;
        float m = fmaxf(most, s), scale = __expf(most - m), p = __expf(s - m);
        sum = sum * scale + p;
        o0 = o0 * scale + p * v[j * 64 + lane];
        o1 = o1 * scale + p * v[j * 64 + 32 + lane];
        most = m;
    }
    out[row * 64 + lane] = o0 / sum;
    out[row * 64 + 32 + lane] = o1 / sum;
}

__global__ void adam(int n, float *p, const float *g, float *m, float *v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float gi = g[i] - 0.5f, mi = m[i] = 0.9f * m[i] + 0.1f * gi, vi = v[i] = 0.999f * v[i] + 0.001f * gi * gi;
    p[i] -= 0.001f * mi / (sqrtf(vi) + 1e-8f);
}

__global__ void pool_nhwc(int side, int channels, const half *in, half *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, c = i % channels, x = i / channels % (side / 2), y = i / channels / (side / 2);
    if (y >= side / 2)
        return;
    const half *p = in + ((size_t)(2 * y) * side + 2 * x) * channels + c;
    out[i] = __hmax(__hmax(p[0], p[channels]), __hmax(p[side * channels], p[side * channels + channels]));
}

__global__ void dequantise(int n, const unsigned *packed, const float *scales, half2 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned w = packed[i];
    half2 scale = __float2half2_rn(scales[i / 16]);
    for (int k = 0; k < 4; k++, w >>= 8)
        out[i * 4 + k] = __hmul2(scale, __floats2half2_rn((float)(w & 15) - 8, (float)(w >> 4 & 15) - 8));
}

/* ---- of the machine ---- */
__global__ void copy_async(int tiles, const float4 *in, float *out)
{
    __shared__ float4 stage[2][256];
    int t = threadIdx.x, tile = blockIdx.x;
    float s = 0;
    __pipeline_memcpy_async(&stage[0][t], &in[tile * 256 + t], 16);
    __pipeline_commit();
    for (int k = 0; tile < tiles; tile += gridDim.x, k ^= 1) {
        if (tile + (int)gridDim.x < tiles)
            __pipeline_memcpy_async(&stage[k ^ 1][t], &in[(tile + gridDim.x) * 256 + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 v = stage[k][t ^ 31];
        s += v.x * v.y + v.z * v.w;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = s;
}

__global__ void fft_shared(const float2 *in, float2 *out) // 256 points a block, radix 2
{
    __shared__ float2 s[256];
    int t = threadIdx.x;
    for (int k = t; k < 256; k += 128)
        s[__brev(k) >> 24] = in[blockIdx.x * 256 + k];
    for (int half_ = 1; half_ < 256; half_ *= 2) {
        __syncthreads();
        int k = t % half_, i = t / half_ * 2 * half_ + k, j = i + half_;
        float sine, cosine;
        __sincosf(-3.14159265f * k / half_, &sine, &cosine);
        float2 u = s[i], v = s[j], p = make_float2(v.x * cosine - v.y * sine, v.x * sine + v.y * cosine);
        s[i] = make_float2(u.x + p.x, u.y + p.y);
        s[j] = make_float2(u.x - p.x, u.y - p.y);
    }
    __syncthreads();
    out[blockIdx.x * 256 + t] = s[t];
    out[blockIdx.x * 256 + t + 128] = s[t + 128];
}

__global__ void private_stack(int n, const int *keys, int *out) // an array of each thread, indexed by data
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, stack[64], top = 0, s = 0;
    if (i >= n)
        return;
    for (int k = 0; k < 64; k++)
        stack[k] = k;
    unsigned v = (unsigned)keys[i];
    for (int k = 0; k < 40; k++) {
        v = v * 1664525u + 1013904223u;
        top = v >> 26;
        s += stack[top];
        stack[(top + k) & 63] = s;
    }
    out[i] = s;
}

__global__ void divide_long(int n, const int *x, long long *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        long long v = (long long)x[i] * 1000003, s = 0;
        for (int k = 1; k <= 4; k++)
            s += v / (x[(i + k) & (MOST - 1)] + 7) + v % (k * 1001);
        out[i] = s;
    }
}

__global__ void chase(int steps, const int *x, int *out)
{
    int p = threadIdx.x + blockIdx.x * 977;
    for (int k = 0; k < steps; k++)
        p = x[p];
    out[blockIdx.x * blockDim.x + threadIdx.x] = p;
}

__global__ void few_registers_many(int n, const float *in, float *out) // much kept at once, a block of 128
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v[48];
#pragma unroll
    for (int k = 0; k < 48; k++)
        v[k] = in[(i + k * 1024) & (MOST - 1)];
    float s = 0;
#pragma unroll
    for (int k = 0; k < 48; k++)
#pragma unroll
        for (int j = k & ~7; j < (k & ~7) + 8; j++)
            s = fmaf(v[k], v[j], s);
    out[i] = s;
}

__global__ void grid_rounds(int rounds, float *a, int n)
{
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < rounds; r++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            a[i] = a[i] * 0.5f + 1;
        grid.sync();
    }
}

__global__ void lock_list(int n, int *lock, int *list)
{
    if (threadIdx.x == 0)
        for (int k = 0; k < n; k++) {
            while (atomicCAS(lock, 0, 1))
                ;
            __threadfence();
            list[0] = list[0] + 1;
            __threadfence();
            atomicExch(lock, 0);
        }
}

static void done(const char *name, int size)
{
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    printf("%s %d\n", name, size);
}

#define UP(n, d) (((n) + (d)-1) / (d))
#define RUN(name, size, ...)                                                                                           \
    do {                                                                                                               \
        name<<<__VA_ARGS__;                                                                                            \
        done(#name, size);                                                                                             \
    } while (0)

int main()
{
    std::vector<float> f(MOST);
    std::vector<int> g(MOST);
    unsigned s = 7;
    for (int i = 0; i < MOST; i++) {
        s = s * 1664525u + 1013904223u;
        f[i] = (float)(s >> 8) * 0x1p-24f;
        g[i] = (int)(s >> 10);
    }
    for (float **p : {&A, &B, &C}) {
        CHECK(cudaMalloc(p, MOST * 4));
        CHECK(cudaMemcpy(*p, f.data(), MOST * 4, cudaMemcpyHostToDevice));
    }
    CHECK(cudaMalloc(&D, MOST * 8));
    CHECK(cudaMemset(D, 0, MOST * 8));
    CHECK(cudaMalloc(&X, MOST * 4));
    CHECK(cudaMemcpy(X, g.data(), MOST * 4, cudaMemcpyHostToDevice));
    int *E = (int *)D, *room;
    CHECK(cudaMalloc(&room, 1 << 20));
    CHECK(cudaMemset(room, 0, 1 << 20));

    for (int n : {3000, 200000, 1500000}) {
        RUN(rot, n, UP(n, 256), 256>>>(n, A, B, 0.8f, 0.6f));
        RUN(dot_atomic, n, UP(n, 4096), 256>>>(n, A, B, C));
        RUN(compact, n, UP(n, 256), 256>>>(n, A, C, room));
        RUN(adam, n, UP(n, 256), 256>>>(n / 2, A, B, C, C + n / 2));
        RUN(dequantise, n, UP(n / 4, 128), 128>>>(n / 4, (unsigned *)X, B, (half2 *)D));
        RUN(find_pattern, n, UP(n, 256), 256>>>(n, (unsigned char *)X, room));
        RUN(merge_path, n, UP(n / 4, 8 * 128), 128>>>(n / 8, A, B, C));
        RUN(radix_count, n, UP(n, 2048), 256>>>(n, X, 4, room));
        RUN(hash_insert, n, UP(n / 4, 256), 256>>>(n / 4, X, E, (1 << 20) - 1));
        RUN(bfs_level, n, UP(n / 8, 256), 256>>>(n / 8, X, E, n & 1));
    }
    for (int n : {2000, 40000, 300000}) {
        RUN(asian_option, n, UP(n, 128), 128>>>(n, C));
        RUN(runge_kutta, n, UP(n, 256), 256>>>(n, D));
        RUN(cells_forces, n, UP(n, 128), 128>>>(n / 8, A, C));
        RUN(crc_rows, n, UP(n / 2, 256), 256>>>(n / 2, (unsigned *)X, (unsigned *)C));
        RUN(sha_rounds, n, UP(n, 256), 256>>>(n, (unsigned *)C));
        RUN(private_stack, n, UP(n, 128), 128>>>(n, X, (int *)C));
        RUN(divide_long, n, UP(n, 256), 256>>>(n, X, (long long *)D));
        RUN(few_registers_many, n, UP(n, 128), 128>>>(n, A, C));
        RUN(spmv_ell, n, UP(n / 4, 256), 256>>>(n / 4, 12, A, X, B, C));
        RUN(spmv_csr_warp, n, UP(n / 8, 8), 256>>>(n / 8, A, X, B, C, 1 << 18));
    }
    for (int n : {128, 256, 512}) {
        RUN(outer, n, dim3(n / 32, n / 8), dim3(32, 8)>>>(n, A, B, C));
        RUN(gemv_transposed, n, UP(n * 4, 128), 128>>>(n, n * 4, A, B, C));
        RUN(gemm_shared<16>, n, dim3(n / 16, n / 16), dim3(16, 16)>>>(n, A, B, C));
        RUN(gemm_shared<32>, n, dim3(n / 32, n / 32), dim3(32, 32)>>>(n, A, B, C));
        RUN(gemm_registers, n, dim3(n / 128, n / 128), 256>>>(n, A, B, C));
        RUN(gemm_wmma, n, n * n / 256 / 4, 128>>>(n, (half *)A, (half *)B, C));
        RUN(solve_lower, n, 16, n, n * 4>>>(n, A, C));
        RUN(heat_tile, n, dim3(n / 32, n / 8), dim3(32, 16)>>>(n, n * 2, A, C));
        RUN(sobel, n, dim3(n / 16, n / 4), dim3(16, 16)>>>(n, n * 4, (unsigned char *)A, (unsigned char *)C));
        RUN(bilateral, n, dim3(n / 16, n / 16), dim3(16, 16)>>>(n, n, A, C));
        RUN(lattice, n, n * n / 128, 128>>>(n, n, A, C));
        RUN(ising, n, UP(n * n, 256), 256>>>(n, n * 2, 0, X, n));
        RUN(attention, n, n / 4, 128>>>(n, A, B, A + 100000, C));
        RUN(layer_norm, n, n, 256>>>(n * 6, A, C));
    }
    for (int n : {16, 256, 2048}) {
        RUN(lu_batched, n, n, 128>>>(D));
        RUN(scan_blelloch, n, n, 512>>>(X, (int *)C));
        RUN(odd_even, n, n, 256>>>((int *)C));
        RUN(smith_waterman, n, n, 128>>>(200, X, X + 70000, (int *)C));
        RUN(fft_shared, n, n, 128>>>((float2 *)A, (float2 *)C));
        RUN(copy_async, n, min(n, 264), 256>>>(n * 2, (float4 *)A, C));
    }
    for (int side : {16, 32, 64}) {
        RUN(conv_channels, side, dim3(side * side / 128, 16), 128, 16 * 9 * 4>>>(side, 16, A, B, C));
        RUN(pool_nhwc, side, side * side / 4 * 64 / 256, 256>>>(side, 64, (half *)A, (half *)C));
        RUN(wave_3d, side, dim3(UP(side * 2, 32), UP(side * 2, 4)), dim3(32, 4)>>>(side * 2, side * 2, side, A, B, C));
        RUN(chase, side, side, 32>>>(side * 4, X, room));
        RUN(lock_list, side, side, 32>>>(4, room, room + 1));
        int rounds = side / 8, count = side * 4096;
        void *args[] = {&rounds, &C, &count};
        CHECK(cudaLaunchCooperativeKernel((void *)grid_rounds, side * 2, 256, args, 0, nullptr));
        done("grid_rounds", side);
    }
    return 0;
}
