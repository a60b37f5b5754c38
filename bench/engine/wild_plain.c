/* wild_plain.c - the kernels of wild.cu as plain C: what they must give, and a peer to be measured with.
 *
 * Each gets the buffers of its case (wild.c) and the case's n, and leaves in them what all launches of the kernel leave
 * in device memory. Compiled without contraction: products and sums are fused where fma stands, as in wild.cu.
 */
#include "bench_wild.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALL(i, n) for (size_t i = 0; i < (size_t)(n); i++)

/* ---- numbers ---- */
static uint32_t e4m3(float x)
{
    uint32_t bits, sign;
    float a = fabsf(x);
    memcpy(&bits, &x, 4);
    sign = bits >> 24 & 0x80;
    if (a < 0x1p-6f)
        return sign | (uint32_t)rintf(a * 0x1p9f);
    memcpy(&bits, &a, 4);
    bits = ((bits + 0x7ffff + (bits >> 20 & 1)) >> 20) - (120 << 3);
    return sign | (bits > 0x7e ? 0x7e : bits);
}

CLONES void wild_fp8_convert(void *const *b, int n)
{
    uint32_t *out = b[0];
    const float *in = b[1];
    ALL(i, 8192)
    {
        float x = in[i];
        uint32_t sum = 0;
        for (int k = 0; k < n; k++) {
            sum = sum * 31 + (e4m3(x) << 8 | e4m3(x * -0.37f));
            x = x > 300.0f ? x * 0.0001f : x * 1.7f;
        }
        out[i] = sum;
    }
}

void wild_collatz(void *const *b, int n)
{
    uint32_t *out = b[0];
    const uint32_t *in = b[1];
    ALL(i, 16384)
    {
        uint64_t x = in[i] % (uint32_t)n + 1;
        for (out[i] = 0; x != 1; out[i]++)
            x = x & 1 ? 3 * x + 1 : x / 2;
    }
}

void wild_monte_carlo(void *const *b, int n)
{
    uint32_t *out = b[0], *state = b[1];
    ALL(i, 16384)
    {
        uint32_t s = state[i];
        out[i] = 0;
        for (int path = 0; path < n; path++)
            for (int at = 0, step = 0; at > -6 && at < 6 && step < 100; step++) {
                s ^= s << 13, s ^= s >> 17, s ^= s << 5;
                at += s & 64 ? 1 : -1;
                out[i]++;
            }
        state[i] = s;
    }
}

static uint32_t paths(uint32_t right, uint32_t down)
{
    return right == 0 || down == 0 ? 1 : paths(right - 1, down) + paths(right, down - 1);
}

void wild_recursion(void *const *b, int n)
{
    uint32_t *out = b[0];
    const uint32_t *in = b[1];
    ALL(i, 4096)
    out[i] = paths((uint32_t)n, 2 + in[i] % 2);
}

/* ---- tables and strings ---- */
void wild_search_shared(void *const *b, int n)
{
    uint32_t *out = b[0];
    const uint32_t *table = b[1], *keys = b[2];
    ALL(i, 8192)
    {
        uint32_t sum = 0;
        for (int k = 0; k < n; k++) {
            uint32_t key = keys[(size_t)k * 8192 + i], low = 0, high = 1024;
            while (low < high) {
                uint32_t middle = (low + high) / 2;
                if (table[middle] < key)
                    low = middle + 1;
                else
                    high = middle;
            }
            sum += low;
        }
        out[i] = sum;
    }
}

void wild_hash_keys(void *const *b, int n)
{
    uint32_t *out = b[0];
    const uint8_t *text = b[1];
    const uint32_t *begins = b[2];
    ALL(key, n)
    {
        uint32_t h = 2166136261u;
        for (uint32_t at = begins[key]; at < begins[key + 1]; at++)
            h = (h ^ text[at]) * 16777619u;
        out[key] = h;
    }
}

void wild_string_match(void *const *b, int n)
{
    uint32_t *out = b[0];
    const uint8_t *text = b[1], *word = b[2];
    memset(out, 0, 32768 * sizeof *out);
    ALL(at, 4 * 32768)
    {
        int k = 0;
        while (k < n && text[at + (size_t)k] == word[k])
            k++;
        out[at % 32768] += (uint32_t)(k * k);
    }
}

void wild_private_counters(void *const *b, int n)
{
    uint32_t *out = b[0];
    const uint8_t *in = b[1];
    memset(out, 0, 64 * sizeof *out);
    ALL(i, 128 * 64 * (size_t)n)
    out[in[i] & 63]++;
}

/* ---- elements moved ---- */
void wild_transpose_heads(void *const *buf, int n)
{
    uint32_t *out = buf[0];
    const uint32_t *in = buf[1];
    const uint64_t *dims = buf[2], tokens = dims[0], heads = dims[1], width = dims[2];
    for (uint64_t b = 0; b < (uint64_t)n / (tokens * heads * width); b++)
        for (uint64_t t = 0; t < tokens; t++)
            for (uint64_t h = 0; h < heads; h++)
                for (uint64_t d = 0; d < width; d++)
                    out[((b * heads + h) * tokens + t) * width + d] = in[((b * tokens + t) * heads + h) * width + d];
}

void wild_reverse_bytes(void *const *b, int n)
{
    uint8_t *out = b[0];
    const uint8_t *in = b[1];
    ALL(row, 256)
    ALL(col, n)
    out[row * (size_t)n + ((size_t)n - 1 - col)] = in[row * (size_t)n + col];
}

void wild_reverse_rows(void *const *b, int n)
{
    uint64_t *out = b[0];
    const uint64_t *in = b[1];
    ALL(row, 8192)
    ALL(col, n)
    out[row * (size_t)n + ((size_t)n - 1 - col)] = in[row * (size_t)n + col];
}

static int clamp(int x, int n)
{
    return x < 0 ? 0 : x >= n ? n - 1 : x;
}

CLONES void wild_blur_bytes(void *const *b, int n)
{
    uint8_t *out = b[0];
    const uint8_t *in = b[1];
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            int sum = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    sum += in[clamp(y + dy, n) * n + clamp(x + dx, n)] * (2 - abs(dx)) * (2 - abs(dy));
            out[y * n + x] = (uint8_t)(sum >> 4);
        }
}

CLONES void wild_box_clamped(void *const *b, int n)
{
    float *out = b[0];
    ALL(y, n)
    ALL(x, n)
    {
        float sum = 0.0f;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const int r = (int)y + dy, c = (int)x + dx;
                sum += ((const float *)b[1])[(r < 0 ? 0 : r < n ? r : n - 1) * n + (c < 0 ? 0 : c < n ? c : n - 1)];
            }
        out[y * (size_t)n + x] = sum;
    }
}

CLONES void wild_depthwise_half(void *const *b, int n)
{
    const uint8_t *in = b[1], *weights = b[2];
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            for (int c = 0; c < 48; c++) {
                int sum = 0;
                for (int k = 0; k < 9; k++) {
                    int u = x + k % 3 - 1, v = y + k / 3 - 1;
                    if (u >= 0 && v >= 0 && u < n && v < n)
                        sum += in[(v * n + u) * 48 + c] % 16 * (weights[k * 48 + c] % 8 - 4);
                }
                ((float *)b[0])[(y * n + x) * 48 + c] = (float)sum;
            }
}

void wild_radix_pass(void *const *b, int n)
{
    uint32_t *out = b[0], at[16];
    const uint32_t *in = b[1];
    memcpy(at, b[3], sizeof at);
    ALL(i, 65536)
    out[at[in[i] >> n & 15]++] = in[i];
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void wild_bitonic(void *const *b, int n)
{
    memcpy(b[0], b[1], 32 * (size_t)n * 4);
    ALL(block, 32)
    qsort((uint32_t *)b[0] + block * (size_t)n, (size_t)n, 4, by_value);
}

/* ---- ciphers ---- */
void wild_aes(void *const *b, int n)
{
    const uint32_t(*t)[256] = b[2], *keys = b[3];
    ALL(i, 16384)
    {
        uint32_t s[4], next[4];
        for (unsigned k = 0; k < 4; k++)
            s[k] = ((const uint32_t *)b[1])[4 * i + k] ^ keys[k];
        for (int r = 1; r < n; r++) {
            for (unsigned k = 0; k < 4; k++)
                next[k] = t[0][s[k] & 255] ^ t[1][s[(k + 1) & 3] >> 8 & 255] ^ t[2][s[(k + 2) & 3] >> 16 & 255] ^
                          t[3][s[(k + 3) & 3] >> 24] ^ keys[4 * (unsigned)r + k];
            memcpy(s, next, sizeof s);
        }
        memcpy((uint32_t *)b[0] + 4 * i, s, sizeof s);
    }
}

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x >> by | x << (32 - by);
}

void wild_sha256(void *const *b, int n)
{
    static const uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint32_t *constant = b[2];
    ALL(m, 8192)
    {
        uint32_t w[64], s[8];
        memcpy(w, (const uint32_t *)b[1] + 16 * m, 64);
        memcpy(s, h, sizeof s);
        for (int i = 16; i < n; i++)
            w[i] = w[i - 16] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
                   (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
        for (int i = 0; i < n; i++) {
            uint32_t e = s[4], a = s[0],
                     x = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & s[5]) ^ (~e & s[6])) +
                         constant[i] + w[i],
                     y = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
            memmove(s + 1, s, 7 * sizeof s[0]);
            s[4] += x;
            s[0] = x + y;
        }
        ALL(i, 8)
        ((uint32_t *)b[0])[8 * m + i] = h[i] + s[i];
    }
}

/* ---- graphs and sparse matrices ---- */
CLONES void wild_spmv(void *const *b, int n)
{
    float *out = b[0];
    const uint32_t *begins = b[1], *columns = b[2];
    const float *values = b[3], *x = b[4];
    ALL(i, n)
    {
        out[i] = 0.0f;
        for (uint32_t k = begins[i]; k < begins[i + 1]; k++)
            out[i] = fmaf(values[k], x[columns[k]], out[i]);
    }
}

void wild_bfs(void *const *b, int n)
{
    int *distance = b[0];
    const uint32_t *begins = b[1], *edges = b[2];
    for (int level = 0; level < n; level++)
        ALL(i, 32768)
    for (uint32_t k = begins[i]; distance[i] == level + 1 && k < begins[i + 1]; k++)
        if (distance[edges[k]] == 0)
            distance[edges[k]] = level + 2;
}

CLONES void wild_kmeans(void *const *b, int n)
{
    const float(*p)[2] = b[1], (*c)[2] = b[2];
    ALL(i, 65536)
    {
        float least = 1e30f;
        uint32_t best = 0;
        for (uint32_t k = 0; k < (uint32_t)n; k++) {
            float dx = p[i][0] - c[k][0], dy = p[i][1] - c[k][1], d = fmaf(dx, dx, dy * dy);
            if (d < least)
                least = d, best = k;
        }
        ((uint32_t *)b[0])[i] = best;
    }
}

void wild_reduce_by_key(void *const *b, int n)
{
    memset(b[0], 0, 8192 * 4);
    ALL(i, n)
    ((uint32_t *)b[0])[((const uint32_t *)b[1])[i]] += ((const uint32_t *)b[2])[i];
}

void wild_priority_queue(void *const *b, int n)
{
    uint32_t *all = malloc((size_t)n * sizeof *all), *out = b[0];
    ALL(t, 8192)
    {
        ALL(i, n)
        all[i] = ((const uint32_t *)b[1])[i * 8192 + t];
        qsort(all, (size_t)n, sizeof *all, by_value);
        out[t] = 0;
        ALL(k, 15)
        out[t] += all[k];
    }
    free(all);
}

void wild_diagonals(void *const *b, int n)
{
    int *score = b[0];
    const uint8_t *a = b[1], *c = b[2];
    (void)n;
    ALL(y, 1024)
    ALL(x, 1024)
    {
        int *at = &score[(y + 1) * 1025 + x + 1], best = at[-1026] + (a[y] == c[x] ? 3 : -2);
        int gap = (at[-1025] > at[-1] ? at[-1025] : at[-1]) - 1;
        *at = best > gap ? best : gap;
    }
}

/* ---- what a launch itself costs ---- */
void wild_launch_empty(void *const *b, int n)
{
    (void)b, (void)n;
}

void wild_launch_small(void *const *b, int n)
{
    int *out = b[0];
    for (int launch = 0; launch < n; launch++)
        ALL(i, 32)
    out[i] += launch;
}

/* ---- dense matrices ---- */
CLONES void wild_matvec_rows(void *const *b, int n)
{
    const float *a = b[1], *x = b[2];
    ALL(i, 2048)
    {
        float sum = 0.0f;
        ALL(k, n)
        sum = fmaf(a[i * (size_t)n + k], x[k], sum);
        ((float *)b[0])[i] = sum;
    }
}

CLONES void wild_warp_gemv(void *const *b, int n)
{
    const float *a = b[1], *x = b[2];
    ALL(i, 1024)
    {
        float sum[32] = {0};
        for (size_t k = 0; k < (size_t)n; k += 32)
            ALL(lane, 32)
        sum[lane] = fmaf(a[i * (size_t)n + k + lane], x[k + lane], sum[lane]);
        for (size_t d = 16; d; d /= 2) /* lane 0's sums are those of a butterfly */
            ALL(lane, d)
        sum[lane] += sum[lane + d];
        ((float *)b[0])[i] = sum[0];
    }
}

CLONES void wild_flat_tiles(void *const *b, int n)
{
    const float *a = b[1], *c = b[2];
    float *out = b[0];
    ALL(y, n)
    {
        float sum[256] = {0};
        ALL(k, n)
        ALL(x, n)
        sum[x] = fmaf(a[y * (size_t)n + k], c[k * (size_t)n + x], sum[x]);
        memcpy(out + y * (size_t)n, sum, (size_t)n * 4);
    }
}

CLONES void wild_layer_norm(void *const *b, int n)
{
    ALL(row, 1024)
    {
        const float *in = (const float *)b[1] + row * (size_t)n;
        float *out = (float *)b[0] + row * (size_t)n, sum[32] = {0}, square[32] = {0};
        ALL(k, n / 4)
        {
            const float *v = in + 4 * k;
            sum[k % 32] += v[0] + v[1] + v[2] + v[3];
            square[k % 32] += v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3];
        }
        for (size_t d = 16; d; d /= 2)
            ALL(lane, d)
            {
                sum[lane] += sum[lane + d];
                square[lane] += square[lane + d];
            }
        const float mean = sum[0] / (float)n, spread = sqrtf(square[0] / (float)n - mean * mean + 1e-5f);
        ALL(k, n)
        out[k] = (in[k] - mean) / spread;
    }
}

CLONES void wild_lu(void *const *b, int n)
{
    memcpy(b[0], b[1], 256 * 256 * 4);
    ALL(m, 256)
    {
        float(*a)[16] = (float(*)[16])b[0] + m * 16;
        for (int k = 0; k < n; k++)
            for (int y = k + 1; y < n; y++) {
                a[y][k] /= a[k][k];
                for (int x = k + 1; x < n; x++)
                    a[y][x] = fmaf(-a[y][k], a[k][x], a[y][x]);
            }
    }
}

/* Column by column, rows moved by their pointers: each element has the same products taken off in the same order. */
CLONES void wild_small_systems(void *const *b, int n)
{
    const size_t count = 8192, row = (size_t)n + 1;
    ALL(t, count)
    {
        float all[8][9], *a[8];
        ALL(i, row * (size_t)n)
        all[i / row][i % row] = ((const float *)b[1])[i * count + t];
        ALL(y, n)
        a[y] = all[y];
        for (int x = 0; x <= n; x++) {
            for (int k = 0; k < x && k < n; k++)
                for (int y = k + 1; y < n; y++)
                    a[y][x] = fmaf(-a[y][k], a[k][x], a[y][x]);
            if (x == n)
                break;
            int top = x;
            for (int y = x + 1; y < n; y++)
                top = fabsf(a[y][x]) > fabsf(a[top][x]) ? y : top;
            float *keep = a[x];
            a[x] = a[top], a[top] = keep;
            for (int y = x + 1; y < n; y++)
                a[y][x] /= a[x][x];
        }
        for (int y = n; y-- > 0; ((float *)b[0])[(size_t)y * count + t] = a[y][n] /= a[y][y])
            for (int x = y + 1; x < n; x++)
                a[y][n] = fmaf(-a[y][x], a[x][n], a[y][n]);
    }
}

CLONES void wild_triangular(void *const *buf, int n)
{
    float *x = buf[0];
    const float *l = buf[1], *b = buf[2];
    enum { COLUMNS = 8192 };
    ALL(i, n)
    {
        memcpy(x + i * COLUMNS, b + i * COLUMNS, COLUMNS * 4);
        ALL(k, i)
        ALL(c, COLUMNS)
        x[i * COLUMNS + c] = fmaf(-l[i * 32 + k], x[k * COLUMNS + c], x[i * COLUMNS + c]);
        ALL(c, COLUMNS)
        x[i * COLUMNS + c] /= l[i * 32 + i];
    }
}

void wild_cholesky(void *const *b, int n)
{
    double *out = b[0];
    const double *in = b[1];
    ALL(m, 64)
    {
        double(*a)[32] = (double(*)[32])(out + m * 1024);
        ALL(i, 1024)
        out[m * 1024 + i] = in[m * 1024 + i] + (i / 32 == i % 32 ? n : 0);
        ALL(k, 32)
        {
            a[k][k] = sqrt(a[k][k]);
            for (size_t i = k + 1; i < 32; i++)
                a[i][k] /= a[k][k];
            for (size_t i = k + 1; i < 32; i++)
                for (size_t j = k + 1; j <= i; j++)
                    a[i][j] = fma(-a[i][k], a[j][k], a[i][j]);
        }
        ALL(i, 1024)
        out[m * 1024 + i] = i % 32 <= i / 32 ? out[m * 1024 + i] : 0.0;
    }
}

CLONES void wild_shuffle_sum(void *const *b, int n)
{
    memset(b[0], 0, 64 * 4);
    ALL(i, n)
    ((uint32_t *)b[0])[i / 256 % 64] += ((const uint32_t *)b[1])[i];
}

/* ---- fields and particles ---- */
CLONES void wild_stencil_f64(void *const *b, int n)
{
    const double *in = b[1];
    ALL(z, 32)
    ALL(y, 32)
    ALL(x, 32)
    {
        double sum = 0.0, square = 0.0;
        ALL(dz, 7)
        ALL(dy, 7)
        ALL(dx, 7)
        {
            double v = in[((z + dz) * (size_t)n + y + dy) * (size_t)n + x + dx];
            sum = fma(v, 1.0 + (double)dz * 0.25 + (double)dy * 0.125 + (double)dx * 0.0625, sum);
            square = fma(v, v, square);
        }
        ((double *)b[0])[(z * 32 + y) * 32 + x] = sum + square;
    }
}

CLONES void wild_wave3d(void *const *b, int n)
{
    float *next = b[0];
    const float *now = b[1], *last = b[2];
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++) {
                int i = (z * n + y) * n + x;
                float sum = now[i - 1] + now[i + 1] + now[i - n] + now[i + n] + now[i - n * n] + now[i + n * n];
                next[i] = 2.0f * now[i] - last[i] + 0.1f * (sum - 6.0f * now[i]);
            }
}

CLONES void wild_heat_tile(void *const *b, int n)
{
    float *out = b[0];
    ALL(y, n)
    ALL(x, n)
    {
        const float *s = (const float *)b[1] + (y + 1) * ((size_t)n + 2) + x + 1;
        out[y * (size_t)n + x] = 0.2f * (s[0] + s[-(n + 2)] + s[n + 2] + s[-1] + s[1]);
    }
}

/* What is added is exact, so that the order does not matter. */
void wild_deposit(void *const *b, int n)
{
    const uint32_t *place = b[2];
    ALL(i, 65536)
    {
        const uint32_t p = place[i], side = (uint32_t)n - 1;
        float *at = (float *)b[0] + (p >> 8) % side * (uint32_t)n + p % side, q = ((const float *)b[1])[i];
        float x = (float)(p >> 24 & 3) * 0.25f, y = (float)(p >> 26 & 3) * 0.25f;
        at[0] += q * (1.0f - x) * (1.0f - y);
        at[1] += q * x * (1.0f - y);
        at[n] += q * (1.0f - x) * y;
        at[n + 1] += q * x * y;
    }
}

CLONES void wild_nbody(void *const *b, int n)
{
    const float(*p)[4] = b[1];
    float(*out)[4] = b[0];
    ALL(i, n)
    {
        float force[3] = {0};
        ALL(k, n)
        {
            float dx = p[k][0] - p[i][0], dy = p[k][1] - p[i][1], dz = p[k][2] - p[i][2];
            float r2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f))), f = p[k][3] / (r2 * sqrtf(r2));
            force[0] = fmaf(dx, f, force[0]);
            force[1] = fmaf(dy, f, force[1]);
            force[2] = fmaf(dz, f, force[2]);
        }
        memcpy(out[i], force, sizeof force);
        out[i][3] = 0.0f;
    }
}

CLONES void wild_particles(void *const *b, int n)
{
    const float(*p)[4] = b[1];
    const uint32_t *begins = b[2], *neighbours = b[3];
    ALL(i, n)
    {
        float sum = 0.0f;
        for (uint32_t k = begins[i]; k < begins[i + 1]; k++) {
            const float *at = p[neighbours[k]];
            float dx = at[0] - p[i][0], dy = at[1] - p[i][1], r2 = fmaf(dx, dx, fmaf(dy, dy, 0.001f));
            if (r2 < 0.5f) {
                float i2 = 1.0f / r2, i6 = i2 * i2 * i2;
                sum = fmaf(i6 * at[3], i6 - 1.0f, sum);
            }
        }
        ((float *)b[0])[i] = sum;
    }
}

/* ---- blocks that wait for one another ---- */
CLONES void wild_spin_lock(void *const *b, int n)
{
    uint32_t *out = b[0];
    ALL(i, 64 * 32 * (size_t)n)
    out[0] = ((const uint32_t *)b[1])[i] > out[0] ? ((const uint32_t *)b[1])[i] : out[0];
    out[1] = 64 * (uint32_t)n;
}

CLONES void wild_grid_barrier(void *const *b, int n)
{
    enum { THREADS = 1024 };
    for (int round = 1; round <= n; round++) {
        const uint32_t *from = b[round & 1 ? 0 : 1];
        uint32_t *to = b[round & 1 ? 1 : 0];
        ALL(i, THREADS)
        ALL(k, 8)
        to[i + k * THREADS] = from[i * 8 + k] * 3 + 1;
    }
}

/* ---- blocks of a cluster, in one another's shared memory ---- */
CLONES void wild_cluster_stencil(void *const *b, int n)
{
    enum { WIDTH = 1024, ROWS = 64 };
    float tile[2][WIDTH];
    ALL(row, ROWS)
    {
        memcpy(tile[0], (const float *)b[1] + row * WIDTH, sizeof tile[0]);
        for (int k = 0; k < n; k++) {
            const float *now = tile[k % 2];
            ALL(i, WIDTH)
            tile[(k + 1) % 2][i] = 0.25f * now[(i + WIDTH - 1) % WIDTH] + 0.5f * now[i] + 0.25f * now[(i + 1) % WIDTH];
        }
        memcpy((float *)b[0] + row * WIDTH, tile[n % 2], sizeof tile[0]);
    }
}

CLONES void wild_cluster_histogram(void *const *b, int n)
{
    ALL(i, n)
    ((uint32_t *)b[0])[((const uint32_t *)b[1])[i] % 1024]++;
}
