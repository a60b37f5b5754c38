/* time_judge.cu - kernels of all kinds, each launched at two sizes: times that the model is judged by and was never
 * fitted to.
 *
 *     time_judge        prints a line a launch
 *
 * All kernels have the same arguments: room for results, two arrays of floats, one of random indices, a size. Results
 * are not verified; what is measured is time. One more is a kernel and a row of `main`.
 */
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "time_judge: line %d: %s\n", __LINE__, cudaGetErrorString(error));                         \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define KERNEL(name) __global__ void name(float *o, const float *a, const float *b, const int *x, int n)
#define I (int)(blockIdx.x * blockDim.x + threadIdx.x)
#define ALL (int)(gridDim.x * blockDim.x)

/* ---- element by element ---- */
KERNEL(vector_add) { int i = I; if (i < n) o[i] = a[i] + b[i]; }
KERNEL(saxpy_strided) { for (int i = I; i < n; i += ALL) o[i] = 2.5f * a[i] + b[i]; }
KERNEL(fill) { int i = I; if (i < n) o[i] = 1.5f; }
KERNEL(triad4) { int i = I; if (i < n / 4) { float4 p = ((float4 *)a)[i], q = ((float4 *)b)[i]; ((float4 *)o)[i] = make_float4(p.x + 3 * q.x, p.y + 3 * q.y, p.z + 3 * q.z, p.w + 3 * q.w); } }
KERNEL(halves) { int i = I; if (i < n / 2) ((half2 *)o)[i] = __hfma2(((half2 *)a)[i], ((half2 *)b)[i], ((half2 *)a)[i]); }
KERNEL(bytes_invert) { int i = I; if (i < n) ((unsigned char *)o)[i] = (unsigned char)~((const unsigned char *)a)[i]; }
KERNEL(grey) { int i = I; if (i < n / 3) o[i] = 0.3f * a[3 * i] + 0.59f * a[3 * i + 1] + 0.11f * a[3 * i + 2]; }
KERNEL(structs) { struct s { float f[8]; }; int i = I; if (i < n / 8) { s v = ((const s *)a)[i]; v.f[0] += v.f[7]; ((s *)o)[i] = v; } }
KERNEL(reverse) { int i = I; if (i < n) o[i] = a[n - 1 - i]; }
KERNEL(gelu) { int i = I; if (i < n) { float v = a[i]; o[i] = 0.5f * v * (1 + tanhf(0.79788456f * (v + 0.044715f * v * v * v))); } }
KERNEL(black_scholes)
{
    int i = I;
    if (i < n) {
        float s = a[i] + 1, k = b[i] + 1, d1 = (logf(s / k) + 0.06f) / 0.3f, d2 = d1 - 0.3f;
        o[i] = s * normcdff(d1) - k * expf(-0.02f) * normcdff(d2);
    }
}
KERNEL(polynomial) { int i = I; if (i < n) { double v = a[i], r = 1; for (int k = 0; k < 24; k++) r = r * v + 0.5; o[i] = (float)r; } }
KERNEL(mix_integers) { int i = I; if (i < n) { unsigned h = (unsigned)x[i]; for (int k = 0; k < 32; k++) { h ^= h >> 15; h *= 2246822519u; h ^= h << 7; } ((unsigned *)o)[i] = h; } }
KERNEL(divide) { int i = I; if (i < n) ((int *)o)[i] = x[i] / (x[n - 1 - i] % 97 + 1) + x[i] % 13; }
KERNEL(quantise) { int i = I; if (i < n / 4) { float4 v = ((const float4 *)a)[i]; ((char4 *)o)[i] = make_char4((char)__float2int_rn(v.x * 127), (char)__float2int_rn(v.y * 127), (char)__float2int_rn(v.z * 127), (char)__float2int_rn(v.w * 127)); } }
KERNEL(mandelbrot) { int i = I; if (i < n) { float cx = (float)(i % 512) / 256 - 1.5f, cy = (float)(i / 512 % 512) / 256 - 1, u = 0, v = 0; int k = 0; while (k < 100 && u * u + v * v < 4) { float t = u * u - v * v + cx; v = 2 * u * v + cy; u = t; k++; } o[i] = (float)k; } }
KERNEL(collatz) { int i = I; if (i < n) { unsigned v = (unsigned)i + 1; int k = 0; while (v != 1 && k < 200) { v = v & 1 ? 3 * v + 1 : v / 2; k++; } o[i] = (float)k; } }
KERNEL(monte_carlo) { int i = I; if (i < n) { unsigned s = (unsigned)i * 747796405u + 1, hits = 0; for (int k = 0; k < 64; k++) { s = s * 1664525u + 1013904223u; float u = (float)(s >> 8) * 0x1p-24f; s = s * 1664525u + 1013904223u; float v = (float)(s >> 8) * 0x1p-24f; hits += u * u + v * v < 1; } o[i] = (float)hits; } }
KERNEL(sines) { int i = I; if (i < n) { float s = 0; for (int k = 1; k <= 8; k++) s += __sinf(a[i] * (float)k) / (float)k; o[i] = s; } }
/* ---- gathers and scatters ---- */
KERNEL(gather) { int i = I; if (i < n) o[i] = a[x[i] & (n - 1)]; }
KERNEL(scatter) { int i = I; if (i < n) o[x[i] & (n - 1)] = a[i]; }
KERNEL(gather_small) { int i = I; if (i < n) o[i] = a[x[i] & 1023]; }
KERNEL(embedding) { int row = (int)blockIdx.x, t = (int)threadIdx.x; if (row < n / 64) for (int c = t; c < 64; c += (int)blockDim.x) o[row * 64 + c] = a[(x[row] & (n / 64 - 1)) * 64 + c]; }
KERNEL(every_16th) { int i = I; if (i < n / 16) o[i] = a[i * 16]; }
KERNEL(columns) { int c = I; if (c < 1024) { float s = 0; for (int r = 0; r < n / 1024; r++) s += a[r * 1024 + c]; o[c] = s; } }
KERNEL(rows) { int r = I; if (r < n / 256) { float s = 0; for (int c = 0; c < 256; c++) s += a[r * 256 + c]; o[r] = s; } }
KERNEL(rows_by_warp) { int r = I / 32, lane = I % 32; if (r < n / 256) { float s = 0; for (int c = lane; c < 256; c += 32) s += a[r * 256 + c]; for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d); if (lane == 0) o[r] = s; } }
KERNEL(binary_search) { int i = I; if (i < n) { int lo = 0, hi = 65536; while (lo < hi) { int m = (lo + hi) / 2; if (a[m] < b[i]) lo = m + 1; else hi = m; } ((int *)o)[i] = lo; } }
KERNEL(follow) { int i = I; if (i < n / 16) { int p = x[i]; for (int k = 0; k < 8; k++) p = x[(p + k) & (n - 1)]; ((int *)o)[i] = p; } }
KERNEL(csr_rows) { int r = I; if (r < n / 16) { float s = 0; int from = r * 16 + (x[r] & 3), to = from + 4 + (x[r] & 7); for (int k = from; k < to; k++) s += a[k & (n - 1)] * b[x[k & (n - 1)] & (n - 1)]; o[r] = s; } }
/* ---- neighbours ---- */
KERNEL(jacobi) { int w = 512, i = I, r = i / w, c = i % w, h = n / w; if (r > 0 && r < h - 1 && c > 0 && c < w - 1) o[i] = 0.25f * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w]); }
KERNEL(box_5x5) { int w = 512, i = I, r = i / w, c = i % w, h = n / w; if (r > 1 && r < h - 2 && c > 1 && c < w - 2) { float s = 0; for (int p = -2; p <= 2; p++) for (int q = -2; q <= 2; q++) s += a[i + p * w + q]; o[i] = s / 25; } }
KERNEL(heat_3d) { int i = I, z = i / 4096; if (z > 0 && z < n / 4096 - 1 && i % 4096 > 64 && i % 4096 < 4030) o[i] = a[i] + 0.1f * (a[i - 1] + a[i + 1] + a[i - 64] + a[i + 64] + a[i - 4096] + a[i + 4096] - 6 * a[i]); }
KERNEL(fir_shared)
{
    __shared__ float s[288];
    int t = (int)threadIdx.x, i = I;
    s[t + 16] = i < n ? a[i] : 0;
    if (t < 16) {
        s[t] = i >= 16 ? a[i - 16] : 0;
        s[t + 272] = i + 256 < n ? a[i + 256] : 0;
    }
    __syncthreads();
    float v = 0;
    for (int k = 0; k < 32; k++)
        v += s[t + k] * b[k];
    if (i < n)
        o[i] = v;
}
KERNEL(life) { int w = 1024, i = I, r = i / w, c = i % w, h = n / w; if (r > 0 && r < h - 1 && c > 0 && c < w - 1) { int s = 0; for (int p = -1; p <= 1; p++) for (int q = -1; q <= 1; q++) s += x[i + p * w + q] & 1; ((int *)o)[i] = s == 3 || s == 4; } }
KERNEL(median_3) { int i = I; if (i > 0 && i < n - 1) { float p = a[i - 1], q = a[i], r = a[i + 1]; o[i] = fmaxf(fminf(p, q), fminf(fmaxf(p, q), r)); } }
/* ---- sums, scans, sorts in a block ---- */
KERNEL(sum_tree) { __shared__ float s[256]; int t = (int)threadIdx.x; s[t] = I < n ? a[I] : 0; __syncthreads(); for (int d = 128; d; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); } if (t == 0) o[blockIdx.x] = s[0]; }
KERNEL(sum_modulo) { __shared__ float s[256]; int t = (int)threadIdx.x; s[t] = I < n ? a[I] : 0; __syncthreads(); for (int d = 1; d < 256; d *= 2) { if (t % (2 * d) == 0) s[t] += s[t + d]; __syncthreads(); } if (t == 0) o[blockIdx.x] = s[0]; }
KERNEL(sum_warps) { float s = 0; for (int i = I; i < n; i += ALL) s += a[i]; for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d); if (threadIdx.x % 32 == 0) atomicAdd(o, s); }
KERNEL(scan_block) { __shared__ float s[512]; int t = (int)threadIdx.x; s[t] = I < n ? a[I] : 0; __syncthreads(); for (int d = 1; d < 512; d *= 2) { float v = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += v; __syncthreads(); } if (I < n) o[I] = s[t]; }
KERNEL(bitonic) { __shared__ float s[512]; int t = (int)threadIdx.x; s[t] = I < n ? a[I] : 0; __syncthreads(); for (int k = 2; k <= 512; k *= 2) for (int j = k / 2; j; j /= 2) { int u = t ^ j; if (u > t && (s[t] > s[u]) == !(t & k)) { float v = s[t]; s[t] = s[u]; s[u] = v; } __syncthreads(); } if (I < n) o[I] = s[t]; }
KERNEL(softmax_rows)
{
    __shared__ float s[8];
    const float *row = a + (size_t)blockIdx.x * 1024;
    int t = (int)threadIdx.x;
    float m = -1e30f, sum = 0;
    for (int c = t; c < 1024; c += 256)
        m = fmaxf(m, row[c]);
    for (int d = 16; d; d /= 2)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    if (t % 32 == 0)
        s[t / 32] = m;
    __syncthreads();
    for (int w = 0; w < 8; w++)
        m = fmaxf(m, s[w]);
    for (int c = t; c < 1024; c += 256)
        sum += __expf(row[c] - m);
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    __syncthreads();
    if (t % 32 == 0)
        s[t / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < 8; w++)
        sum += s[w];
    for (int c = t; c < 1024; c += 256)
        o[(size_t)blockIdx.x * 1024 + c] = __expf(row[c] - m) / sum;
}
KERNEL(ranks) { __shared__ float s[256]; int t = (int)threadIdx.x; s[t] = a[I]; __syncthreads(); int r = 0; for (int k = 0; k < 256; k++) r += s[k] < s[t]; ((int *)o)[I] = r; }
KERNEL(column_of_tile) { __shared__ float s[32][32]; int t = (int)threadIdx.x; float v = 0; for (int r = t / 32; r < 32; r += 8) s[r][t % 32] = a[(I + r) & (n - 1)]; __syncthreads(); for (int k = 0; k < 32; k++) v += s[t % 32][k]; o[I] = v; }
KERNEL(lut_shared) { __shared__ float s[1024]; for (int k = (int)threadIdx.x; k < 1024; k += (int)blockDim.x) s[k] = b[k]; __syncthreads(); for (int i = I; i < n; i += ALL) o[i] = s[x[i] & 1023]; }
/* ---- atomics ---- */
KERNEL(count_global) { int i = I; if (i < n) atomicAdd((int *)o + (x[i] & 255), 1); }
KERNEL(count_few) { int i = I; if (i < n) atomicAdd((int *)o + (x[i] & 3), 1); }
KERNEL(count_many) { int i = I; if (i < n) atomicAdd((int *)o + (x[i] & 0xffff), 1); }
KERNEL(count_shared) { __shared__ int s[256]; s[threadIdx.x] = 0; __syncthreads(); for (int i = I; i < n; i += ALL) atomicAdd(&s[x[i] & 255], 1); __syncthreads(); atomicAdd((int *)o + threadIdx.x, s[threadIdx.x]); }
KERNEL(count_skewed) { __shared__ int s[256]; s[threadIdx.x] = 0; __syncthreads(); for (int i = I; i < n; i += ALL) atomicAdd(&s[(x[i] & 255) * (x[i] & 256) >> 8], 1); __syncthreads(); atomicAdd((int *)o + threadIdx.x, s[threadIdx.x]); }
KERNEL(largest) { int i = I; if (i < n) atomicMax((int *)o, x[i]); }
KERNEL(push) { int i = I; if (i < n && (x[i] & 7) == 0) ((int *)o)[64 + atomicAdd((int *)o, 1) % n] = i; }
KERNEL(push_by_warp) { int i = I; bool w = i < n && (x[i] & 7) == 0; unsigned m = __ballot_sync(~0u, w), l = threadIdx.x % 32; int at = 0; if (l == 0 && m) at = atomicAdd((int *)o, __popc(m)); at = __shfl_sync(~0u, at, 0); if (w) ((int *)o)[64 + (at + __popc(m & ((1u << l) - 1))) % n] = i; }
KERNEL(sum_floats) { int i = I; if (i < n) atomicAdd(o + (i & 1023), a[i]); }
/* ---- matrices of 256 or 512 columns: n is rows times columns ---- */
KERNEL(mat_vec) { int r = (int)blockIdx.x, w = 512; __shared__ float s[4]; float v = 0; for (int c = (int)threadIdx.x; c < w; c += 128) v += a[r * w + c] * b[c]; for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d); if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v; __syncthreads(); if (threadIdx.x == 0) o[r] = s[0] + s[1] + s[2] + s[3]; }
KERNEL(mat_mul) { int w = 256, r = I / w, c = I % w; float v = 0; for (int k = 0; k < w; k++) v += a[r * w + k] * b[k * w + c]; o[I] = v; }
KERNEL(mat_mul_swapped) { int w = 256, h = n / w, r = I % h, c = I / h; float v = 0; for (int k = 0; k < w; k++) v += a[r * w + k] * b[k * w + c]; o[r * w + c] = v; }
KERNEL(mat_mul_8)
{
    __shared__ float s[8][9], t[8][9];
    int w = 256, y = (int)threadIdx.x / 8, z = (int)threadIdx.x % 8, r = (int)blockIdx.x / 32 * 8 + y, c = (int)blockIdx.x % 32 * 8 + z;
    float v = 0;
    for (int k = 0; k < w; k += 8) {
        s[y][z] = a[r * w + k + z];
        t[y][z] = b[(k + y) * w + c];
        __syncthreads();
        for (int p = 0; p < 8; p++)
            v += s[y][p] * t[p][z];
        __syncthreads();
    }
    o[r * w + c] = v;
}
KERNEL(mat_mul_16x4)
{
    __shared__ float s[16][64], t[16][16];
    int w = 256, y = (int)threadIdx.x / 16, z = (int)threadIdx.x % 16, r0 = (int)blockIdx.x / 16 * 64, c = (int)blockIdx.x % 16 * 16 + z;
    float v[4] = {};
    for (int k = 0; k < w; k += 16) {
        for (int p = 0; p < 4; p++)
            s[z][y + 16 * p] = a[(r0 + y + 16 * p) * w + k + z];
        t[y][z] = b[(k + y) * w + c];
        __syncthreads();
        for (int q = 0; q < 16; q++)
            for (int p = 0; p < 4; p++)
                v[p] += s[q][y + 16 * p] * t[q][z];
        __syncthreads();
    }
    for (int p = 0; p < 4; p++)
        o[(r0 + y + 16 * p) * w + c] = v[p];
}
KERNEL(turn) { int w = 512, h = n / w, r = I / w, c = I % w; if (r < h) o[c * h + r] = a[r * w + c]; }
KERNEL(turn_tile) { __shared__ float s[16][17]; int w = 512, h = n / w, y = (int)threadIdx.x / 16, z = (int)threadIdx.x % 16, r = (int)blockIdx.x / 32 * 16, c = (int)blockIdx.x % 32 * 16; s[y][z] = a[(r + y) * w + c + z]; __syncthreads(); o[(c + y) * h + r + z] = s[z][y]; }
KERNEL(floyd_step) { int w = 512, i = I, r = i / w, c = i % w; if (i < n) o[i] = fminf(a[i], a[r * w + 7] + a[7 * w + c]); }
/* ---- work a thread, few threads, long code ---- */
KERNEL(bodies) { float p = a[I & 4095], q = b[I & 4095], f = 0; for (int k = 0; k < 512; k++) { float d = a[k] - p, e = b[k] - q; f += d * rsqrtf(d * d + e * e + 0.01f); } if (I < n) o[I] = f; }
KERNEL(bodies_shared) { __shared__ float2 s[128]; float p = a[I & 4095], q = b[I & 4095], f = 0; for (int g = 0; g < 512; g += 128) { s[threadIdx.x] = make_float2(a[g + threadIdx.x], b[g + threadIdx.x]); __syncthreads(); for (int k = 0; k < 128; k++) { float d = s[k].x - p, e = s[k].y - q; f += d * rsqrtf(d * d + e * e + 0.01f); } __syncthreads(); } if (I < n) o[I] = f; }
KERNEL(nearest) { float p = a[I & (n - 1)]; float best = 1e30f; int at = 0; for (int k = 0; k < 64; k++) { float d = (p - b[k]) * (p - b[k]); if (d < best) { best = d; at = k; } } if (I < n) ((int *)o)[I] = at; }
KERNEL(one_thread) { float s = 0; for (int k = 0; k < n / 1024; k++) s = s * 0.5f + a[k]; *o = s; }
KERNEL(one_warp) { float s = 0; for (int k = (int)threadIdx.x; k < n / 32; k += 32) s += a[k]; o[threadIdx.x] = s; }
KERNEL(insertion) { float v[12]; int i = I * 12; if (i + 12 > n) return; for (int k = 0; k < 12; k++) v[k] = a[i + k]; for (int k = 1; k < 12; k++) { float t = v[k]; int j = k - 1; while (j >= 0 && v[j] > t) { v[j + 1] = v[j]; j--; } v[j + 1] = t; } for (int k = 0; k < 12; k++) o[i + k] = v[k]; }
KERNEL(uneven) { float s = a[I & (n - 1)]; int m = (int)(blockIdx.x % 7) * 40; for (int k = 0; k < m; k++) s = s * 0.99f + 0.1f; if (I < n) o[I] = s; }
KERNEL(branches) { int i = I; if (i < n) { float v = a[i]; switch (i % 4) { case 0: v = sqrtf(v); break; case 1: v = expf(v); break; case 2: v = logf(v + 1); break; default: v = v * v * v; } o[i] = v; } }
KERNEL(doubles) { int i = I; if (i < n / 2) ((double *)o)[i] = ((const double *)a)[i] * 1.5 + ((const double *)b)[i]; }
KERNEL(wide_counts) { long long s = 0; for (int i = I; i < n; i += ALL) s += (long long)x[i] * x[i]; ((long long *)o)[I] = s; }

static float *o, *a, *b;
static int *x;
typedef void (*kernel)(float *, const float *, const float *, const int *, int);
static void launch(const char *name, kernel k, int blocks, int threads, int n)
{
    k<<<blocks, threads>>>(o, a, b, x, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    printf("%s %d\n", name, n);
}
/* For the small size and the large one: a thread for each `per` elements, or a number of blocks. */
#define EACH(name, threads, per)                                                                                       \
    for (int n : {1 << 14, 1 << 20})                                                                                   \
        launch(#name, name, (n / (per) + (threads)-1) / (threads), threads, n);
#define BLOCKS(name, threads, small, large)                                                                            \
    launch(#name, name, small, threads, 1 << 14);                                                                      \
    launch(#name, name, large, threads, 1 << 20);

int main()
{
    const int most = 1 << 21;
    std::vector<float> f(most);
    std::vector<int> g(most);
    unsigned s = 1;
    for (int i = 0; i < most; i++) {
        s = s * 1664525u + 1013904223u;
        f[i] = (float)(s >> 8) * 0x1p-24f;
        g[i] = (int)((s >> 9) ^ (s << 5 & 0x3fffff));
    }
    CHECK(cudaMalloc(&o, most * 4));
    CHECK(cudaMalloc(&a, most * 4));
    CHECK(cudaMalloc(&b, most * 4));
    CHECK(cudaMalloc(&x, most * 4));
    CHECK(cudaMemcpy(a, f.data(), most * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, f.data(), most * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(x, g.data(), most * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(o, 0, most * 4));
    EACH(vector_add, 256, 1)
    BLOCKS(saxpy_strided, 256, 16, 528)
    EACH(fill, 512, 1)
    EACH(triad4, 128, 4)
    EACH(halves, 256, 2)
    EACH(bytes_invert, 256, 1)
    EACH(grey, 256, 3)
    EACH(structs, 128, 8)
    EACH(reverse, 1024, 1)
    EACH(gelu, 256, 1)
    EACH(black_scholes, 128, 1)
    EACH(polynomial, 256, 1)
    EACH(mix_integers, 256, 1)
    EACH(divide, 192, 1)
    EACH(quantise, 256, 4)
    EACH(mandelbrot, 256, 1)
    EACH(collatz, 128, 1)
    EACH(monte_carlo, 256, 1)
    EACH(sines, 64, 1)
    EACH(gather, 256, 1)
    EACH(scatter, 256, 1)
    EACH(gather_small, 256, 1)
    BLOCKS(embedding, 64, 256, 16384)
    EACH(every_16th, 256, 16)
    BLOCKS(columns, 128, 8, 8)
    EACH(rows, 128, 256)
    EACH(rows_by_warp, 256, 8)
    EACH(binary_search, 256, 1)
    EACH(follow, 128, 16)
    EACH(csr_rows, 256, 16)
    EACH(jacobi, 256, 1)
    EACH(box_5x5, 256, 1)
    EACH(heat_3d, 128, 1)
    EACH(fir_shared, 256, 1)
    EACH(life, 256, 1)
    EACH(median_3, 256, 1)
    EACH(sum_tree, 256, 1)
    EACH(sum_modulo, 256, 1)
    BLOCKS(sum_warps, 256, 16, 264)
    EACH(scan_block, 512, 1)
    EACH(bitonic, 512, 1)
    BLOCKS(softmax_rows, 256, 16, 1024)
    EACH(ranks, 256, 1)
    EACH(column_of_tile, 256, 1)
    BLOCKS(lut_shared, 256, 16, 264)
    EACH(count_global, 256, 1)
    EACH(count_few, 256, 1)
    EACH(count_many, 256, 1)
    BLOCKS(count_shared, 256, 16, 264)
    BLOCKS(count_skewed, 256, 16, 264)
    EACH(largest, 256, 1)
    EACH(push, 256, 1)
    EACH(push_by_warp, 256, 1)
    EACH(sum_floats, 256, 1)
    BLOCKS(mat_vec, 128, 32, 2048)
    EACH(mat_mul, 256, 1)
    EACH(mat_mul_swapped, 256, 1)
    BLOCKS(mat_mul_8, 64, 256, 16384)
    BLOCKS(mat_mul_16x4, 256, 16, 1024)
    EACH(turn, 256, 1)
    BLOCKS(turn_tile, 256, 64, 4096)
    EACH(floyd_step, 256, 1)
    EACH(bodies, 128, 1)
    EACH(bodies_shared, 128, 1)
    EACH(nearest, 256, 1)
    BLOCKS(one_thread, 1, 1, 1)
    BLOCKS(one_warp, 32, 1, 1)
    EACH(insertion, 128, 12)
    EACH(uneven, 128, 1)
    EACH(branches, 256, 1)
    EACH(doubles, 256, 2)
    BLOCKS(wide_counts, 256, 16, 132)
    return 0;
}
