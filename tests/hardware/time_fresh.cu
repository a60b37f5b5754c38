/* time_fresh.cu - kernels of many fields at three sizes, written without looking at the model of time, after it was
 * fitted: what it says of them the first time is how good it is. Every result is held to plain C on the host.
 *
 *     time_fresh [NAME]        prints a line a launch; NAME: that kernel alone; ends with 1 when a result is wrong
 *
 * One more is a kernel, a function that runs and checks it, and a row of the table at the end. Dense and
 * sparse matrices and grids are here, the others in the headers beside.
 */
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
// FLAGS: -O2
#include "time_fresh.cuh"
#include "time_fresh_more.cuh"
#include "time_fresh_nets.cuh"
#include "time_fresh_some.cuh"

/* ---- dense matrices ---- */
__global__ void gesummv(int n, const float *a, const float *b, const float *x, float *y)
{
    int r = THREAD;
    if (r >= n)
        return;
    float s = 0, t = 0;
    for (int k = 0; k < n; k++) {
        s += a[r * n + k] * x[k];
        t += b[r * n + k] * x[k];
    }
    y[r] = 1.5f * s + 0.5f * t;
}
static void run_gesummv(const char *name, int n)
{
    vec<float> a = floats(n * n, 1), b = floats(n * n, 2), x = floats(n, 3), want(n);
    for (int r = 0; r < n; r++) {
        double s = 0;
        for (int k = 0; k < n; k++)
            s += (1.5 * a[r * n + k] + 0.5 * b[r * n + k]) * x[k];
        want[r] = (float)s;
    }
    dev<float> da(a), db(b), dx(x), y(n);
    GO(gesummv, UP(n, 64), 64, n, da, db, dx, y);
    same(name, n, y.get(), want, 1e-4);
}

__global__ void covariance(int rows, int n, const float *data, float *sym)
{
    int j = THREAD;
    if (j >= n)
        return;
    for (int k = j; k < n; k++) {
        float s = 0;
        for (int i = 0; i < rows; i++)
            s += data[i * n + j] * data[i * n + k];
        sym[j * n + k] = s;
        sym[k * n + j] = s;
    }
}
static void run_covariance(const char *name, int n)
{
    vec<float> d = floats(n * n, 4, -1, 1), want(n * n);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            double s = 0;
            for (int i = 0; i < n; i++)
                s += (double)d[i * n + j] * d[i * n + k];
            want[j * n + k] = (float)s;
        }
    dev<float> dd(d), sym(n * n);
    GO(covariance, UP(n, 32), 32, n, n, dd, sym);
    same(name, n, sym.get(), want, 1e-4);
}

__global__ void syrk_lower(int n, int depth, const float *a, float *c)
{
    if (blockIdx.x > blockIdx.y)
        return;
    __shared__ float p[16][16], q[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16, col = blockIdx.x * 16;
    float s = 0;
    for (int k = 0; k < depth; k += 16) {
        p[y][x] = a[(row + y) * depth + k + x];
        q[y][x] = a[(col + y) * depth + k + x];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            s += p[y][i] * q[x][i];
        __syncthreads();
    }
    if (col + x <= row + y)
        c[(row + y) * n + col + x] = s;
}
static void run_syrk_lower(const char *name, int n)
{
    const int depth = 96;
    vec<float> a = floats(n * depth, 5), want(n * n);
    for (int r = 0; r < n; r++)
        for (int c = 0; c <= r; c++) {
            double s = 0;
            for (int k = 0; k < depth; k++)
                s += (double)a[r * depth + k] * a[c * depth + k];
            want[r * n + c] = (float)s;
        }
    dev<float> da(a), c(n * n);
    GO(syrk_lower, dim3(n / 16, n / 16), dim3(16, 16), n, depth, da, c);
    same(name, n, c.get(), want, 1e-4);
}

__global__ void gram_schmidt(int rows, int cols, const float *q, float *a) // a block a column, as rows of memory lie
{
    __shared__ float part[8];
    int col = blockIdx.x, t = threadIdx.x;
    float s = 0;
    for (int i = t; i < rows; i += 256)
        s += q[i] * a[i * cols + col];
    for (int d = 16; d; d >>= 1)
        s += __shfl_down_sync(~0u, s, d);
    if (t % 32 == 0)
        part[t / 32] = s;
    __syncthreads();
    s = 0;
    for (int k = 0; k < 8; k++)
        s += part[k];
    for (int i = t; i < rows; i += 256)
        a[i * cols + col] -= s * q[i];
}
static void run_gram_schmidt(const char *name, int rows)
{
    const int cols = 96;
    vec<float> q = floats(rows, 6, -0.1f, 0.1f), a = floats(rows * cols, 7), want = a;
    for (int c = 0; c < cols; c++) {
        double s = 0;
        for (int i = 0; i < rows; i++)
            s += (double)q[i] * a[i * cols + c];
        for (int i = 0; i < rows; i++)
            want[i * cols + c] -= (float)(s * q[i]);
    }
    dev<float> dq(q), da(a);
    GO(gram_schmidt, cols, 256, rows, cols, dq, da);
    same(name, rows, da.get(), want, 1e-4);
}

__global__ void potrf_warp(int many, double *m) // a warp a matrix of 32 x 32, a lane a row
{
    __shared__ double s[2][32][33];
    int w = threadIdx.x / 32, lane = threadIdx.x % 32, at = blockIdx.x * 2 + w;
    if (at >= many)
        return;
    for (int r = 0; r < 32; r++)
        s[w][r][lane] = m[at * 1024 + r * 32 + lane];
    __syncwarp();
    for (int k = 0; k < 32; k++) {
        double d = sqrt(s[w][k][k]);
        __syncwarp();
        if (lane == k)
            s[w][k][k] = d;
        else if (lane > k)
            s[w][lane][k] /= d;
        __syncwarp();
        for (int j = k + 1; j <= lane; j++)
            s[w][lane][j] -= s[w][lane][k] * s[w][j][k];
        __syncwarp();
    }
    for (int r = 0; r < 32; r++)
        m[at * 1024 + r * 32 + lane] = lane <= r ? s[w][r][lane] : 0;
}
static void run_potrf_warp(const char *name, int many)
{
    vec<double> m((size_t)many * 1024), want(m.size());
    for (int at = 0; at < many; at++) {
        double *p = &m[at * 1024], *l = &want[at * 1024];
        for (int r = 0; r < 32; r++)
            for (int c = 0; c < 32; c++)
                p[r * 32 + c] = r == c ? 40 + at % 7 : (mix((r + c) * 64 + r * c + at) >> 8) * 0x1p-24;
        for (int j = 0; j < 32; j++)
            for (int i = j; i < 32; i++) {
                double v = p[i * 32 + j];
                for (int k = 0; k < j; k++)
                    v -= l[i * 32 + k] * l[j * 32 + k];
                l[i * 32 + j] = i == j ? sqrt(v) : v / l[j * 32 + j];
            }
    }
    dev<double> dm(m);
    GO(potrf_warp, UP(many, 2), 64, many, dm);
    same(name, many, dm.get(), want, 1e-10);
}

__global__ void inverse_4x4(int n, const float4 *in, float4 *out) // a thread a matrix, held in registers
{
    int i = THREAD;
    if (i >= n)
        return;
    float a[4][4], b[4][4];
    for (int r = 0; r < 4; r++) {
        float4 v = in[i * 4 + r];
        a[r][0] = v.x, a[r][1] = v.y, a[r][2] = v.z, a[r][3] = v.w;
        for (int c = 0; c < 4; c++)
            b[r][c] = r == c;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float f = 1 / a[k][k];
        for (int c = 0; c < 4; c++)
            a[k][c] *= f, b[k][c] *= f;
        for (int r = 0; r < 4; r++)
            if (r != k) {
                float g = a[r][k];
                for (int c = 0; c < 4; c++)
                    a[r][c] -= g * a[k][c], b[r][c] -= g * b[k][c];
            }
    }
    for (int r = 0; r < 4; r++)
        out[i * 4 + r] = make_float4(b[r][0], b[r][1], b[r][2], b[r][3]);
}
static void run_inverse_4x4(const char *name, int n)
{
    vec<float4> m(n * 4);
    for (int i = 0; i < n * 16; i++)
        ((float *)m.data())[i] = (mix(i) >> 8) * 0x1p-24f + (i % 16 % 5 == 0 ? 4 : 0);
    dev<float4> dm(m), inverse(n * 4);
    GO(inverse_4x4, UP(n, 128), 128, n, dm, inverse);
    vec<float4> back = inverse.get();
    vec<float> got(n * 16), want(n * 16);
    for (int i = 0; i < n; i++)
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 4; c++) {
                for (int k = 0; k < 4; k++)
                    got[i * 16 + r * 4 + c] += ((float *)&m[i * 4 + r])[k] * ((float *)&back[i * 4 + k])[c];
                want[i * 16 + r * 4 + c] = r == c;
            }
    same(name, n, got, want, 1e-4);
}

__global__ void mma_bf16(int n, const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                         float *c) // c = a * transposed b; 32 x 32 a block
{
    __shared__ __align__(16) __nv_bfloat16 p[2][32][40], q[2][32][40];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32, row = blockIdx.y * 32, col = blockIdx.x * 32;
    const int y = warp / 2 * 16, x = warp % 2 * 16;
    float s[2][4] = {};
    auto fetch = [&](int stage, int k) {
        __pipeline_memcpy_async(&p[stage][t / 4][t % 4 * 8], a + (row + t / 4) * n + k + t % 4 * 8, 16);
        __pipeline_memcpy_async(&q[stage][t / 4][t % 4 * 8], b + (col + t / 4) * n + k + t % 4 * 8, 16);
        __pipeline_commit();
    };
    fetch(0, 0);
    for (int k = 0, stage = 0; k < n; k += 32, stage ^= 1) {
        __pipeline_wait_prior(0);
        __syncthreads();
        if (k + 32 < n)
            fetch(stage ^ 1, k + 32);
        for (int i = 0; i < 32; i += 16) {
            unsigned f[4], g[2];
            unsigned at = (unsigned)__cvta_generic_to_shared(&p[stage][y + lane % 16][i + lane / 16 * 8]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                         : "r"(at));
            for (int h = 0; h < 2; h++) {
                at = (unsigned)__cvta_generic_to_shared(&q[stage][x + h * 8 + lane % 8][i + lane / 8 % 2 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                             : "=r"(g[0]), "=r"(g[1])
                             : "r"(at));
                asm volatile(
                    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                    "{%0,%1,%2,%3};"
                    : "+f"(s[h][0]), "+f"(s[h][1]), "+f"(s[h][2]), "+f"(s[h][3])
                    : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "r"(g[0]), "r"(g[1]));
            }
        }
    }
    for (int h = 0; h < 2; h++)
        for (int e = 0; e < 4; e++)
            c[(row + y + lane / 4 + e / 2 * 8) * n + col + x + h * 8 + lane % 4 * 2 + e % 2] = s[h][e];
}
static void run_mma_bf16(const char *name, int n)
{
    vec<__nv_bfloat16> a(n * n), b(n * n);
    vec<float> want(n * n), fa(n * n), fb(n * n);
    for (int i = 0; i < n * n; i++) {
        fa[i] = (float)(mix(i) % 17) - 8, fb[i] = (float)(mix(i + n * n) % 13) - 6;
        a[i] = __float2bfloat16(fa[i]), b[i] = __float2bfloat16(fb[i]);
    }
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++)
            for (int k = 0; k < n; k++)
                want[r * n + c] += fa[r * n + k] * fb[c * n + k];
    dev<__nv_bfloat16> da(a), db(b);
    dev<float> c(n * n);
    GO(mma_bf16, dim3(n / 32, n / 32), 128, n, da, db, c);
    same(name, n, c.get(), want);
}

__global__ void igemm_dp4a(int n, int words, const int *a, const int *b, int *c) // four bytes a word; rows against rows
{
    __shared__ int p[16][17], q[16][17];
    int x = threadIdx.x, y = threadIdx.y, s = 0;
    for (int k = 0; k < words; k += 16) {
        p[y][x] = a[(blockIdx.y * 16 + y) * words + k + x];
        q[y][x] = b[(blockIdx.x * 16 + y) * words + k + x];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++)
            s = __dp4a(p[y][i], q[x][i], s);
        __syncthreads();
    }
    c[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x] = s;
}
static void run_igemm_dp4a(const char *name, int n)
{
    const int words = 48;
    vec<int> a = whole(n * words, 8, ~0u), b = whole(n * words, 9, ~0u), want(n * n);
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++)
            for (int k = 0; k < words * 4; k++)
                want[r * n + c] += ((signed char *)&a[r * words])[k] * ((signed char *)&b[c * words])[k];
    dev<int> da(a), db(b), c(n * n);
    GO(igemm_dp4a, dim3(n / 16, n / 16), dim3(16, 16), n, words, da, db, c);
    same(name, n, c.get(), want);
}

__global__ void dgemm_2x2(int n, const double *a, const double *b, double *c)
{
    __shared__ double p[8][33], q[8][32];
    int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x, row = blockIdx.y * 32, col = blockIdx.x * 32;
    double s[2][2] = {};
    for (int k = 0; k < n; k += 8) {
        p[t % 8][t / 8] = a[(row + t / 8) * n + k + t % 8];
        q[t / 32][t % 32] = b[(k + t / 32) * n + col + t % 32];
        __syncthreads();
        for (int i = 0; i < 8; i++)
            for (int u = 0; u < 2; u++)
                for (int v = 0; v < 2; v++)
                    s[u][v] += p[i][y + 16 * u] * q[i][x + 16 * v];
        __syncthreads();
    }
    for (int u = 0; u < 2; u++)
        for (int v = 0; v < 2; v++)
            c[(row + y + 16 * u) * n + col + x + 16 * v] = s[u][v];
}
static void run_dgemm_2x2(const char *name, int n)
{
    vec<double> a(n * n), b(n * n), want(n * n);
    for (int i = 0; i < n * n; i++)
        a[i] = mix(i) * 0x1p-32, b[i] = mix(~i) * 0x1p-32 - 0.5;
    for (int r = 0; r < n; r++)
        for (int k = 0; k < n; k++)
            for (int c = 0; c < n; c++)
                want[r * n + c] += a[r * n + k] * b[k * n + c];
    dev<double> da(a), db(b), c(n * n);
    GO(dgemm_2x2, dim3(n / 32, n / 32), dim3(16, 16), n, da, db, c);
    same(name, n, c.get(), want, 1e-11);
}

__global__ void wmma_bytes(int n, const signed char *a, const signed char *b, int *c)
{
    using namespace nvcuda::wmma;
    int warp = THREAD / 32, row = warp / (n / 16) * 16, col = warp % (n / 16) * 16;
    fragment<matrix_a, 16, 16, 16, signed char, row_major> p;
    fragment<matrix_b, 16, 16, 16, signed char, col_major> q;
    fragment<accumulator, 16, 16, 16, int> s;
    fill_fragment(s, 0);
    for (int k = 0; k < n; k += 16) {
        load_matrix_sync(p, a + row * n + k, n);
        load_matrix_sync(q, b + col * n + k, n);
        mma_sync(s, p, q, s);
    }
    store_matrix_sync(c + row * n + col, s, n, mem_row_major);
}
static void run_wmma_bytes(const char *name, int n)
{
    vec<signed char> a = whole<signed char>(n * n, 10, 256), b = whole<signed char>(n * n, 11, 256);
    vec<int> want(n * n);
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++)
            for (int k = 0; k < n; k++)
                want[r * n + c] += a[r * n + k] * b[c * n + k];
    dev<signed char> da(a), db(b);
    dev<int> c(n * n);
    GO(wmma_bytes, n * n / 256 / 2, 64, n, da, db, c);
    same(name, n, c.get(), want);
}

/* ---- sparse ones ---- */
__global__ void spmv_coo(int n, const int *row, const int *col, const float *v, const float *x, float *y)
{
    int k = THREAD;
    if (k < n)
        atomicAdd(&y[row[k]], v[k] * x[col[k]]);
}
static void run_spmv_coo(const char *name, int n)
{
    int rows = n / 12;
    vec<int> row(n), col = whole(n, 12, rows);
    vec<float> v = floats(n, 13), x = floats(rows, 14), want(rows);
    for (int k = 0; k < n; k++) {
        row[k] = (int)((long long)k * rows / n);
        want[row[k]] += v[k] * x[col[k]];
    }
    dev<int> dr(row), dc(col);
    dev<float> dv(v), dx(x), y(rows);
    GO(spmv_coo, UP(n, 256), 256, n, dr, dc, dv, dx, y);
    same(name, n, y.get(), want, 1e-4);
}

__global__ void spmv_bsr(int rows, const int *start, const int *col, const float4 *v, const float4 *x, float *y)
{
    int r = THREAD;
    if (r >= rows)
        return;
    float s = 0;
    for (int k = start[r / 4]; k < start[r / 4 + 1]; k++) { // blocks of 4 x 4
        float4 p = v[k * 4 + r % 4], q = x[col[k]];
        s += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
    y[r] = s;
}
static void run_spmv_bsr(const char *name, int rows)
{
    vec<int> start(rows / 4 + 1);
    for (int r = 0; r < rows / 4; r++)
        start[r + 1] = start[r] + 1 + (int)(mix(r) % 9);
    int blocks = start[rows / 4];
    vec<int> col = whole(blocks, 15, rows / 4);
    vec<float4> v(blocks * 4), x(rows / 4);
    vec<float> raw = floats(blocks * 16, 16), rawx = floats(rows, 17), want(rows);
    memcpy(v.data(), raw.data(), raw.size() * 4);
    memcpy(x.data(), rawx.data(), rawx.size() * 4);
    for (int r = 0; r < rows; r++)
        for (int k = start[r / 4]; k < start[r / 4 + 1]; k++)
            for (int c = 0; c < 4; c++)
                want[r] += raw[(k * 4 + r % 4) * 4 + c] * rawx[col[k] * 4 + c];
    dev<int> ds(start), dc(col);
    dev<float4> dv(v), dx(x);
    dev<float> y(rows);
    GO(spmv_bsr, UP(rows, 128), 128, rows, ds, dc, dv, dx, y);
    same(name, rows, y.get(), want, 1e-4);
}

__global__ void sddmm(int n, const int *row, const int *col, const float2 *a, const float2 *b,
                      float *out) // a warp an entry
{
    int k = THREAD / 32, lane = threadIdx.x % 32;
    if (k >= n)
        return;
    float2 p = a[row[k] * 32 + lane], q = b[col[k] * 32 + lane];
    float s = p.x * q.x + p.y * q.y;
    for (int d = 16; d; d >>= 1)
        s += __shfl_xor_sync(~0u, s, d);
    if (lane == 0)
        out[k] = s;
}
static void run_sddmm(const char *name, int n)
{
    int side = n / 8;
    vec<int> row = whole(n, 18, side), col = whole(n, 19, side);
    vec<float> a = floats(side * 64, 20), b = floats(side * 64, 21), want(n);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 64; i++)
            want[k] += a[row[k] * 64 + i] * b[col[k] * 64 + i];
    dev<int> dr(row), dc(col);
    dev<float> da(a), db(b), out(n);
    GO(sddmm, UP(n, 4), 128, n, dr, dc, (const float2 *)da.p, (const float2 *)db.p, out);
    same(name, n, out.get(), want, 1e-4);
}

/* ---- grids ---- */
__global__ void hotspot(int w, const float *power, const float *in, float *out) // two steps of tiles that overlap
{
    __shared__ float s[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * 12 - 2, y0 = blockIdx.y * 12 - 2, x = x0 + tx,
        y = y0 + ty;
    bool inside = x >= 0 && y >= 0 && x < w && y < w;
    float p = inside ? power[y * w + x] : 0;
    s[ty][tx] = inside ? in[y * w + x] : 0;
    int n = max(y - 1, 0) - y0, d = min(y + 1, w - 1) - y0, l = max(x - 1, 0) - x0, r = min(x + 1, w - 1) - x0;
    for (int step = 0; step < 2; step++) {
        bool mine = inside && tx > step && ty > step && tx < 15 - step && ty < 15 - step;
        float v = 0;
        __syncthreads();
        if (mine) {
            float c = s[ty][tx];
            v = c + 0.1f * (p + (s[n][tx] + s[d][tx] - 2 * c) * 0.5f + (s[ty][l] + s[ty][r] - 2 * c) * 0.4f +
                            (0.8f - c) * 0.1f);
        }
        __syncthreads();
        if (mine)
            s[ty][tx] = v;
    }
    if (inside && tx > 1 && ty > 1 && tx < 14 && ty < 14)
        out[y * w + x] = s[ty][tx];
}
static void run_hotspot(const char *name, int w)
{
    vec<float> power = floats(w * w, 22), in = floats(w * w, 23), a = in, b = in;
    for (int step = 0; step < 2; step++, a = b)
        for (int y = 0; y < w; y++)
            for (int x = 0; x < w; x++) {
                auto at = [&](int u, int v) {
                    return a[std::min(std::max(v, 0), w - 1) * w + std::min(std::max(u, 0), w - 1)];
                };
                float c = at(x, y);
                b[y * w + x] = c + 0.1f * (power[y * w + x] + (at(x, y - 1) + at(x, y + 1) - 2 * c) * 0.5f +
                                           (at(x - 1, y) + at(x + 1, y) - 2 * c) * 0.4f + (0.8f - c) * 0.1f);
            }
    dev<float> dp(power), di(in), out(w * w);
    GO(hotspot, dim3(UP(w, 12), UP(w, 12)), dim3(16, 16), w, dp, di, out);
    same(name, w, out.get(), a, 1e-5);
}

__global__ void srad_coefficients(int w, int h, const float *j, float q0, float *c)
{
    int i = THREAD, x = i % w, y = i / w;
    if (y >= h)
        return;
    float m = j[i], n = j[max(y - 1, 0) * w + x] - m, s = j[min(y + 1, h - 1) * w + x] - m;
    float l = j[y * w + max(x - 1, 0)] - m, r = j[y * w + min(x + 1, w - 1)] - m;
    float g2 = (n * n + s * s + l * l + r * r) / (m * m), t = (n + s + l + r) / m;
    float num = 0.5f * g2 - 1.0f / 16 * t * t, den = 1 + 0.25f * t, q = num / (den * den);
    c[i] = fminf(fmaxf(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0.f), 1.f);
}
static void run_srad_coefficients(const char *name, int w)
{
    vec<float> j = floats(w * w, 24, 1, 2), want(w * w);
    for (int y = 0; y < w; y++)
        for (int x = 0; x < w; x++) {
            double m = j[y * w + x], n = j[std::max(y - 1, 0) * w + x] - m, s = j[std::min(y + 1, w - 1) * w + x] - m;
            double l = j[y * w + std::max(x - 1, 0)] - m, r = j[y * w + std::min(x + 1, w - 1)] - m;
            double g2 = (n * n + s * s + l * l + r * r) / (m * m), t = (n + s + l + r) / m, den = 1 + 0.25 * t;
            double q = (0.5 * g2 - t * t / 16) / (den * den);
            want[y * w + x] = (float)fmin(fmax(1 / (1 + (q - 0.5) / 0.75), 0), 1);
        }
    dev<float> dj(j), c(w * w);
    GO(srad_coefficients, UP(w * w, 192), 192, w, w, dj, 0.5f, c);
    same(name, w, c.get(), want, 1e-4);
}

__global__ void stencil_27(int n, const float *in, float *out) // n + 2 a side; three planes in shared memory
{
    __shared__ float s[3][10][18];
    int tx = threadIdx.x, ty = threadIdx.y, w = n + 2, x = blockIdx.x * 16, y = blockIdx.y * 8;
    auto load = [&](int z) {
        for (int k = ty * 16 + tx; k < 180; k += 128)
            s[z % 3][k / 18][k % 18] = in[((size_t)z * w + y + k / 18) * w + x + k % 18];
    };
    load(0);
    load(1);
    for (int z = 1; z <= n; z++) {
        load(z + 1);
        __syncthreads();
        float v = 0;
#pragma unroll
        for (int d = 0; d < 27; d++) {
            int far = (d % 3 != 1) + (d / 3 % 3 != 1) + (d / 9 != 1);
            v += s[(z + d / 9 - 1) % 3][ty + d / 3 % 3][tx + d % 3] * (far == 0   ? 0.5f
                                                                       : far == 1 ? 0.05f
                                                                       : far == 2 ? 0.01f
                                                                                  : 0.01f);
        }
        out[((size_t)z * w + y + ty + 1) * w + x + tx + 1] = v;
        __syncthreads();
    }
}
static void run_stencil_27(const char *name, int n)
{
    int w = n + 2;
    vec<float> in = floats(w * w * w, 25), want(w * w * w);
    for (int z = 1; z <= n; z++)
        for (int y = 1; y <= n; y++)
            for (int x = 1; x <= n; x++) {
                float v = 0;
                for (int d = 0; d < 27; d++) {
                    int dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1, far = abs(dx) + abs(dy) + abs(dz);
                    v += in[((z + dz) * w + y + dy) * w + x + dx] * (far == 0 ? 0.5f : far == 1 ? 0.05f : 0.01f);
                }
                want[(z * w + y) * w + x] = v;
            }
    dev<float> di(in), out(w * w * w);
    GO(stencil_27, dim3(n / 16, n / 8), dim3(16, 8), n, di, out);
    same(name, n, out.get(), want, 1e-5);
}

__global__ void sor_red(int w, int h, double *u, const double *f) // every second point, in place
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 2 + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    x += y & 1;
    if (x < w - 1 && y < h - 1) {
        int i = y * w + x;
        u[i] += 0.4 * (u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - 4 * u[i] - f[i]);
    }
}
static void run_sor_red(const char *name, int w)
{
    vec<double> u(w * w), f(w * w);
    for (int i = 0; i < w * w; i++)
        u[i] = mix(i) * 0x1p-32, f[i] = mix(i * 7) * 0x1p-34;
    vec<double> want = u;
    for (int y = 1; y < w - 1; y++)
        for (int x = 1; x < w - 1; x++)
            if ((x + y) % 2 == 1 && x >= 1 + (y & 1)) {
                int i = y * w + x;
                want[i] += 0.4 * (u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - 4 * u[i] - f[i]);
            }
    dev<double> du(u), df(f);
    GO(sor_red, dim3(UP(w / 2, 32), UP(w, 4)), dim3(32, 4), w, w, du, df);
    same(name, w, du.get(), want, 1e-12);
}

template <class R> __host__ __device__ inline R pressure(const R *u)
{
    return R(0.4) * (u[4] - R(0.5) * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0]);
}

__global__ void euler_flux(int n, const int *near, const float *normal, const float *u,
                           float *flux) // unstructured cells
{
    int i = THREAD;
    if (i >= n)
        return;
    float a[5], b[5], sum[5] = {};
    for (int k = 0; k < 5; k++)
        a[k] = u[k * n + i];
    float pa = pressure(a), speed_a = sqrtf(1.4f * pa / a[0]);
    for (int side = 0; side < 4; side++) {
        int j = near[side * n + i];
        if (j < 0)
            continue;
        float nx = normal[(side * 3 + 0) * n + i], ny = normal[(side * 3 + 1) * n + i],
              nz = normal[(side * 3 + 2) * n + i];
        for (int k = 0; k < 5; k++)
            b[k] = u[k * n + j];
        float pb = pressure(b),
              factor = 0.2f * sqrtf(nx * nx + ny * ny + nz * nz) * (speed_a + sqrtf(1.4f * pb / b[0]));
        float va = (a[1] * nx + a[2] * ny + a[3] * nz) / a[0], vb = (b[1] * nx + b[2] * ny + b[3] * nz) / b[0];
        for (int k = 0; k < 5; k++)
            sum[k] += 0.5f * (va * a[k] + vb * b[k]) - factor * (b[k] - a[k]);
        sum[1] += 0.5f * nx * (pa + pb), sum[2] += 0.5f * ny * (pa + pb), sum[3] += 0.5f * nz * (pa + pb);
        sum[4] += 0.5f * (va * pa + vb * pb);
    }
    for (int k = 0; k < 5; k++)
        flux[k * n + i] = sum[k];
}
static void run_euler_flux(const char *name, int n)
{
    vec<int> near = whole(n * 4, 26, n);
    vec<float> normal = floats(n * 12, 27, -1, 1), u = floats(n * 5, 28, 0, 0.5f), want(n * 5);
    for (int i = 0; i < n; i++)
        u[i] += 1, u[4 * n + i] += 3;
    for (int i = 0; i < n * 4; i += 37)
        near[i] = -1;
    for (int i = 0; i < n; i++) {
        double a[5], b[5], sum[5] = {};
        for (int side = 0; side < 4; side++) {
            int j = near[side * n + i];
            if (j < 0)
                continue;
            double m[3];
            for (int k = 0; k < 3; k++)
                m[k] = normal[(side * 3 + k) * n + i];
            for (int k = 0; k < 5; k++)
                a[k] = u[k * n + i], b[k] = u[k * n + j];
            double pa = pressure(a), pb = pressure(b), length = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
            double factor = 0.2 * length * (sqrt(1.4 * pa / a[0]) + sqrt(1.4 * pb / b[0]));
            double va = (a[1] * m[0] + a[2] * m[1] + a[3] * m[2]) / a[0],
                   vb = (b[1] * m[0] + b[2] * m[1] + b[3] * m[2]) / b[0];
            for (int k = 0; k < 5; k++) {
                sum[k] += 0.5 * (va * a[k] + vb * b[k]) - factor * (b[k] - a[k]);
                sum[k] += k == 0 ? 0 : k == 4 ? 0.5 * (va * pa + vb * pb) : 0.5 * m[k - 1] * (pa + pb);
            }
        }
        for (int k = 0; k < 5; k++)
            want[k * n + i] = (float)sum[k];
    }
    dev<int> dn(near);
    dev<float> dm(normal), du(u), flux(n * 5);
    GO(euler_flux, UP(n, 192), 192, n, dn, dm, du, flux);
    same(name, n, flux.get(), want, 1e-4);
}

#define ROW(name, ...)                                                                                                 \
    {                                                                                                                  \
#name, run_##name,                                                                                             \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
static const row rows[] = {
    ROW(gesummv, 96, 256, 768),
    ROW(covariance, 48, 96, 160),
    ROW(syrk_lower, 64, 192, 384),
    ROW(gram_schmidt, 64, 512, 2048),
    ROW(potrf_warp, 4, 64, 500),
    ROW(inverse_4x4, 200, 6000, 60000),
    ROW(mma_bf16, 64, 128, 288),
    ROW(igemm_dp4a, 64, 128, 320),
    ROW(dgemm_2x2, 64, 128, 256),
    ROW(wmma_bytes, 64, 128, 256),
    ROW(spmv_coo, 2000, 50000, 400000),
    ROW(spmv_bsr, 512, 8192, 65536),
    ROW(sddmm, 64, 2000, 16000),
    ROW(hotspot, 48, 192, 516),
    ROW(srad_coefficients, 64, 256, 600),
    ROW(stencil_27, 16, 48, 96),
    ROW(sor_red, 66, 258, 770),
    ROW(euler_flux, 500, 10000, 80000),
    ROW(md_neighbours, 256, 4096, 24576),
    ROW(coulomb_slice, 32, 96, 192),
    ROW(mri_q, 256, 6000, 30000),
    ROW(pair_histogram, 128, 512, 1500),
    ROW(neurons, 256, 8192, 40000),
    ROW(charge_deposit, 2000, 40000, 300000),
    ROW(resample, 256, 1024, 4096),
    ROW(tree_search, 64, 2048, 16384),
    ROW(needleman, 8, 132, 1000),
    ROW(pathfinder, 1000, 32768, 300000),
    ROW(floyd_tile, 4, 132, 800),
    ROW(scan_int4, 2, 64, 1024),
    ROW(segment_sums, 2000, 60000, 500000),
    ROW(radix_block, 4, 128, 2048),
    ROW(bitonic_global, 4096, 65536, 1 << 20),
    ROW(relax_edges, 2000, 60000, 400000),
    ROW(rank_push, 256, 6000, 40000),
    ROW(triangles, 64, 1000, 5000),
    ROW(colour_maxima, 1000, 20000, 200000),
    ROW(blur_columns, 64, 256, 640),
    ROW(census_cost, 64, 200, 480),
    ROW(turn_image, 64, 256, 800),
    ROW(dct_8x8, 64, 256, 768),
    ROW(erode_bits, 64, 512, 2048),
    ROW(mirror_balls, 32, 128, 320),
    ROW(tone_curve, 2000, 60000, 500000),
    ROW(walkers, 500, 8000, 40000),
    ROW(aes_tables, 256, 8192, 60000),
    ROW(chacha_stream, 256, 8192, 60000),
    ROW(keccak_words, 256, 8192, 40000),
    ROW(powers_mod, 256, 8192, 60000),
    ROW(ntt_block, 4, 132, 1000),
    ROW(count_kmers, 500, 8000, 40000),
    ROW(myers, 256, 8192, 60000),
    ROW(longest_match, 1000, 10000, 60000),
    ROW(rms_norm_half, 4, 132, 1200),
    ROW(rotary, 16, 256, 2000),
    ROW(embedding_gradient, 32, 512, 4000),
    ROW(attention_tiles, 64, 192, 448),
    ROW(depthwise, 8, 32, 96),
    ROW(argmax_rows, 8, 256, 2000),
    ROW(lstm_cell, 4, 64, 800),
    ROW(cluster_halo, 4, 132, 1000),
    ROW(tile_queue, 16, 300, 3000),
};

int main(int count, char **words)
{
    for (int size = 0; size < 3; size++) {
        for (const row &r : rows)
            if (count < 2 || !strcmp(words[1], r.name))
                r.run(r.name, r.sizes[size]);
    }
    printf(wrong_results ? "FAIL\n" : "PASS\n");
    return wrong_results != 0;
}
