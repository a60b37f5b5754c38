/* time_fresh_nets.cuh - the kernels of time_fresh.cu that are of networks, and of the machine. */
#pragma once
#include <cooperative_groups.h>
#include <cuda_fp16.h>

#include "time_fresh.cuh"

/* ---- networks ---- */
__global__ void rms_norm_half(int width, const half2 *in, const half2 *gain, half2 *out) // a block a row
{
    __shared__ float part[4];
    int t = threadIdx.x;
    size_t row = (size_t)blockIdx.x * width;
    float s = 0;
    for (int i = t; i < width; i += 128) {
        float2 v = __half22float2(in[row + i]);
        s += v.x * v.x + v.y * v.y;
    }
    for (int d = 16; d; d >>= 1)
        s += __shfl_xor_sync(~0u, s, d);
    if (t % 32 == 0)
        part[t / 32] = s;
    __syncthreads();
    float scale = rsqrtf((part[0] + part[1] + part[2] + part[3]) / (float)(2 * width) + 1e-6f);
    for (int i = t; i < width; i += 128) {
        float2 v = __half22float2(in[row + i]), g = __half22float2(gain[i]);
        out[row + i] = __floats2half2_rn(v.x * scale * g.x, v.y * scale * g.y);
    }
}
static void run_rms_norm_half(const char *name, int rows)
{
    const int width = 384;
    vec<float> raw = floats(rows * width * 2, 71, -1, 1), g = floats(width * 2, 72, 0.5f, 1.5f), want(raw.size()),
               got(raw.size());
    vec<half> in(raw.size()), gain(g.size());
    for (size_t i = 0; i < raw.size(); i++)
        in[i] = __float2half(raw[i]), raw[i] = __half2float(in[i]);
    for (size_t i = 0; i < g.size(); i++)
        gain[i] = __float2half(g[i]), g[i] = __half2float(gain[i]);
    for (int r = 0; r < rows; r++) {
        double s = 0;
        for (int i = 0; i < width * 2; i++)
            s += raw[r * width * 2 + i] * raw[r * width * 2 + i];
        for (int i = 0; i < width * 2; i++)
            want[r * width * 2 + i] = (float)(raw[r * width * 2 + i] * g[i] / sqrt(s / (2 * width) + 1e-6));
    }
    dev<half> di(in), dg(gain), out(in.size());
    GO(rms_norm_half, rows, 128, width, (const half2 *)di.p, (const half2 *)dg.p, (half2 *)out.p);
    vec<half> o = out.get();
    for (size_t i = 0; i < o.size(); i++)
        got[i] = __half2float(o[i]);
    same(name, rows, got, want, 1e-3);
}

__global__ void rotary(int tokens, int heads, const float2 *in,
                       float2 *out) // 32 pairs a head are turned by the token's place
{
    int i = THREAD, pair = i % 32, token = i / 32 / heads;
    if (token >= tokens)
        return;
    float s, c, angle = (float)token * powf(10000.f, -(float)pair / 32);
    sincosf(angle, &s, &c);
    float2 v = in[i];
    out[i] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}
static void run_rotary(const char *name, int tokens)
{
    const int heads = 6, n = tokens * heads * 32;
    vec<float> in = floats(n * 2, 73, -1, 1), want(n * 2);
    for (int i = 0; i < n; i++) {
        double a = i / 32 / heads * pow(10000, -(i % 32) / 32.0);
        want[i * 2] = (float)(in[i * 2] * cos(a) - in[i * 2 + 1] * sin(a));
        want[i * 2 + 1] = (float)(in[i * 2] * sin(a) + in[i * 2 + 1] * cos(a));
    }
    dev<float> di(in), out(n * 2);
    GO(rotary, UP(n, 256), 256, tokens, heads, (const float2 *)di.p, (float2 *)out.p);
    same(name, tokens, out.get(), want, 1e-3);
}

__global__ void embedding_gradient(int tokens, int width, const int *word, const float *gradient, float *table)
{
    int token = blockIdx.x, c = threadIdx.x;
    for (; c < width; c += blockDim.x)
        atomicAdd(&table[word[token] * width + c], gradient[token * width + c]);
}
static void run_embedding_gradient(const char *name, int tokens)
{
    const int width = 160, words = 97;
    vec<int> word = whole(tokens, 74, words * words);
    vec<float> gradient = floats(tokens * width, 75, -1, 1), want(words * width);
    for (int t = 0; t < tokens; t++) {
        word[t] = (int)sqrt((double)word[t]); // the last come oftenest
        for (int c = 0; c < width; c++)
            want[word[t] * width + c] += gradient[t * width + c];
    }
    dev<int> dw(word);
    dev<float> dg(gradient), table(words * width);
    GO(embedding_gradient, tokens, 64, tokens, width, dw, dg, table);
    same(name, tokens, table.get(), want, 1e-3);
}

__global__ void attention_tiles(int n, const float *q, const float *k, const float *v,
                                float *out) // a thread a query, 32 wide
{
    __shared__ float ks[32][32], vs[32][32];
    int t = threadIdx.x, row = blockIdx.x * 64 + t;
    float mine[32], o[32] = {}, most = -1e30f, sum = 0;
    for (int c = 0; c < 32; c++)
        mine[c] = q[row * 32 + c];
    for (int tile = 0; tile < n; tile += 32) {
        __syncthreads();
        for (int i = t; i < 256; i += 64) {
            ((float4 *)ks)[i] = ((const float4 *)k)[tile * 8 + i];
            ((float4 *)vs)[i] = ((const float4 *)v)[tile * 8 + i];
        }
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float s = 0;
#pragma unroll
            for (int c = 0; c < 32; c++)
                s += mine[c] * ks[j][c];
            s *= 0.17677669f;
            if (s > most) {
                float scale = __expf(most - s);
                most = s, sum *= scale;
#pragma unroll
                for (int c = 0; c < 32; c++)
                    o[c] *= scale;
            }
            float p = __expf(s - most);
            sum += p;
#pragma unroll
            for (int c = 0; c < 32; c++)
                o[c] += p * vs[j][c];
        }
    }
    for (int c = 0; c < 32; c++)
        out[row * 32 + c] = o[c] / sum;
}
static void run_attention_tiles(const char *name, int n)
{
    vec<float> q = floats(n * 32, 76, -2, 2), k = floats(n * 32, 77, -2, 2), v = floats(n * 32, 78), want(n * 32);
    for (int r = 0; r < n; r++) {
        double sum = 0, o[32] = {};
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int c = 0; c < 32; c++)
                s += q[r * 32 + c] * k[j * 32 + c];
            double p = expf(s * 0.17677669f);
            sum += p;
            for (int c = 0; c < 32; c++)
                o[c] += p * v[j * 32 + c];
        }
        for (int c = 0; c < 32; c++)
            want[r * 32 + c] = (float)(o[c] / sum);
    }
    dev<float> dq(q), dk(k), dv(v), out(n * 32);
    GO(attention_tiles, n / 64, 64, n, dq, dk, dv, out);
    same(name, n, out.get(), want, 1e-3);
}

__global__ void depthwise(int side, int channels, const half *in, const half *weights,
                          half *out) // 3 x 3, channels last
{
    int i = THREAD, c = i % channels, x = i / channels % side, y = i / channels / side;
    if (y >= side)
        return;
    half s = __float2half(0.f);
    for (int k = 0; k < 9; k++) {
        int u = x + k % 3 - 1, v = y + k / 3 - 1;
        if (u >= 0 && v >= 0 && u < side && v < side)
            s = __hfma(in[(v * side + u) * channels + c], weights[k * channels + c], s);
    }
    out[i] = s;
}
static void run_depthwise(const char *name, int side)
{
    const int channels = 48, n = side * side * channels;
    vec<half> in(n), weights(9 * channels);
    for (int i = 0; i < n; i++)
        in[i] = __float2half((float)(mix(i) % 16)); // small whole numbers: exact in any order
    for (int i = 0; i < 9 * channels; i++)
        weights[i] = __float2half((float)(mix(i * 3) % 9) - 4);
    vec<float> want(n), got(n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 9; k++) {
            int c = i % channels, u = i / channels % side + k % 3 - 1, v = i / channels / side + k / 3 - 1;
            if (u >= 0 && v >= 0 && u < side && v < side)
                want[i] += __half2float(in[(v * side + u) * channels + c]) * __half2float(weights[k * channels + c]);
        }
    dev<half> di(in), dw(weights), out(n);
    GO(depthwise, UP(n, 256), 256, side, channels, di, dw, out);
    vec<half> o = out.get();
    for (int i = 0; i < n; i++)
        got[i] = __half2float(o[i]);
    same(name, side, got, want);
}

__global__ void argmax_rows(int rows, int width, const float *in, int *at) // a warp a row
{
    int r = THREAD / 32, lane = threadIdx.x % 32, best = -1;
    if (r >= rows)
        return;
    float most = -1e30f;
    for (int c = lane; c < width; c += 32)
        if (in[(size_t)r * width + c] > most)
            most = in[(size_t)r * width + c], best = c;
    for (int d = 16; d; d >>= 1) {
        float o = __shfl_down_sync(~0u, most, d);
        int p = __shfl_down_sync(~0u, best, d);
        if (o > most || (o == most && p < best))
            most = o, best = p;
    }
    if (lane == 0)
        at[r] = best;
}
static void run_argmax_rows(const char *name, int rows)
{
    const int width = 500;
    vec<float> in = floats(rows * width, 79);
    vec<int> want(rows);
    for (int r = 0; r < rows; r++)
        want[r] =
            (int)(std::max_element(in.begin() + r * width, in.begin() + (r + 1) * width) - in.begin()) - r * width;
    dev<float> di(in);
    dev<int> at(rows);
    GO(argmax_rows, UP(rows, 4), 128, rows, width, di, at);
    same(name, rows, at.get(), want);
}

__global__ void lstm_cell(int batch, int width, const float *gates, float *cell, float *out)
{
    int i = THREAD, b = i / width, c = i % width;
    if (b >= batch)
        return;
    const float *g = gates + (size_t)b * 4 * width + c;
    float in = 1 / (1 + expf(-g[0])), forget = 1 / (1 + expf(-g[width])), fresh = tanhf(g[2 * width]);
    float open = 1 / (1 + expf(-g[3 * width])), v = forget * cell[i] + in * fresh;
    cell[i] = v;
    out[i] = open * tanhf(v);
}
static void run_lstm_cell(const char *name, int batch)
{
    const int width = 200, n = batch * width;
    vec<float> g = floats(n * 4, 80, -3, 3), cell = floats(n, 81, -1, 1), want(n);
    for (int i = 0; i < n; i++) {
        const float *p = &g[i / width * 4 * width + i % width];
        double v = cell[i] / (1 + exp(-p[width])) + tanh(p[2 * width]) / (1 + exp(-p[0]));
        want[i] = (float)(tanh(v) / (1 + exp(-p[3 * width])));
    }
    dev<float> dg(g), dc(cell), out(n);
    GO(lstm_cell, UP(n, 256), 256, batch, width, dg, dc, out);
    same(name, batch, out.get(), want, 1e-4);
}

/* ---- of the machine ---- */
__global__ void __cluster_dims__(4, 1, 1)
    cluster_halo(int rounds, const float *in, float *out) // ends from the neighbours' shared memory
{
    __shared__ float s[2][256];
    namespace cg = cooperative_groups;
    cg::cluster_group all = cg::this_cluster();
    int t = threadIdx.x, rank = (int)all.block_rank();
    s[0][t] = in[blockIdx.x * 256 + t];
    for (int r = 0; r < rounds; r++) {
        all.sync();
        float *now = s[r & 1], l, n;
        l = t > 0 ? now[t - 1] : all.map_shared_rank(now, (rank + 3) & 3)[255];
        n = t < 255 ? now[t + 1] : all.map_shared_rank(now, (rank + 1) & 3)[0];
        s[r + 1 & 1][t] = 0.25f * l + 0.5f * now[t] + 0.25f * n;
    }
    all.sync();
    out[blockIdx.x * 256 + t] = s[rounds & 1][t];
}
static void run_cluster_halo(const char *name, int blocks)
{
    const int rounds = 9;
    vec<float> in = floats(blocks * 256, 82), want = in, next = in;
    for (int r = 0; r < rounds; r++, want = next)
        for (int i = 0; i < blocks * 256; i++) {
            int ring = i & ~1023;
            next[i] = 0.25f * want[ring | ((i - 1) & 1023)] + 0.5f * want[i] + 0.25f * want[ring | ((i + 1) & 1023)];
        }
    dev<float> di(in), out(in.size());
    GO(cluster_halo, blocks, 256, rounds, di, out);
    same(name, blocks, out.get(), want, 1e-5);
}

__global__ void tile_queue(int tiles, int *next, const int *work,
                           unsigned *out) // blocks take tiles of uneven work until none is left
{
    __shared__ int mine;
    for (;;) {
        if (threadIdx.x == 0)
            mine = atomicAdd(next, 1);
        __syncthreads();
        int tile = mine;
        __syncthreads();
        if (tile >= tiles)
            return;
        unsigned v = (unsigned)tile * 128 + threadIdx.x;
        for (int k = 0; k < work[tile]; k++)
            v = v * 1664525u + 1013904223u;
        out[tile * 128 + threadIdx.x] = v;
    }
}
static void run_tile_queue(const char *name, int tiles)
{
    vec<int> work = whole(tiles, 83, 60);
    vec<unsigned> want(tiles * 128);
    for (int i = 0; i < tiles * 128; i++) {
        work[i / 128] += i % 128 == 0 && i / 128 % 11 == 0 ? 400 : 0;
        want[i] = (unsigned)i;
        for (int k = 0; k < work[i / 128]; k++)
            want[i] = want[i] * 1664525u + 1013904223u;
    }
    dev<int> next(1), dw(work);
    dev<unsigned> out(want.size());
    GO(tile_queue, std::min(tiles, 132), 128, tiles, next, dw, out);
    same(name, tiles, out.get(), want);
}
