/* time_fresh_more.cuh - the kernels of time_fresh.cu that are of images, chance, ciphers and sequences. */
#pragma once
#include "time_fresh.cuh"

/* ---- images ---- */
__constant__ float bell[17];
__global__ void blur_columns(int w, int h, const float *in,
                             float *out) // eight rows a thread, the column's tile in shared memory
{
    __shared__ float s[16][81];
    int x = blockIdx.x * 16 + threadIdx.x, y0 = blockIdx.y * 64;
    for (int k = threadIdx.y; k < 80; k += 8)
        s[threadIdx.x][k] = in[min(max(y0 + k - 8, 0), h - 1) * w + x];
    __syncthreads();
    for (int k = threadIdx.y; k < 64; k += 8) {
        float v = 0;
#pragma unroll
        for (int j = 0; j < 17; j++)
            v += bell[j] * s[threadIdx.x][k + j];
        out[(y0 + k) * w + x] = v;
    }
}
static void run_blur_columns(const char *name, int w)
{
    vec<float> b(17), in = floats(w * w, 60), want(w * w);
    for (int k = 0; k < 17; k++)
        b[k] = 0.06f * expf(-(k - 8) * (k - 8) * 0.03f);
    CHECK(cudaMemcpyToSymbol(bell, b.data(), 17 * 4));
    for (int y = 0; y < w; y++)
        for (int x = 0; x < w; x++)
            for (int k = 0; k < 17; k++)
                want[y * w + x] += b[k] * in[std::min(std::max(y + k - 8, 0), w - 1) * w + x];
    dev<float> di(in), out(w * w);
    GO(blur_columns, dim3(w / 16, w / 64), dim3(16, 8), w, w, di, out);
    same(name, w, out.get(), want, 1e-5);
}

__global__ void census_cost(int w, int h, const unsigned char *l, const unsigned char *r,
                            int *shift) // 7 x 7 signs of both
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    if (x < 20 || y < 3 || x >= w - 3 || y >= h - 3)
        return;
    auto signs = [&](const unsigned char *p) {
        unsigned long long bits = 0;
        for (int dy = -3; dy <= 3; dy++)
            for (int dx = -3; dx <= 3; dx++)
                bits = bits << 1 | (p[dy * w + dx] < p[0]);
        return bits;
    };
    unsigned long long mine = signs(l + y * w + x);
    int best = 0, least = 99;
    for (int d = 0; d < 16; d += 3) {
        int cost = __popcll(mine ^ signs(r + y * w + x - d));
        if (cost < least)
            least = cost, best = d;
    }
    shift[y * w + x] = best;
}
static void run_census_cost(const char *name, int w)
{
    vec<unsigned char> l = whole<unsigned char>(w * w, 61, 256), r = l;
    for (int i = 0; i + 12 < w * w; i++)
        r[i] = (unsigned char)(l[i + i / 5000 % 5 * 3] + mix(i) % 9);
    vec<int> want(w * w);
    for (int y = 3; y < w - 3; y++)
        for (int x = 20; x < w - 3; x++) {
            int least = 99;
            for (int d = 0; d < 16; d += 3) {
                int cost = 0;
                for (int k = 0; k < 49; k++) {
                    int at = (y + k / 7 - 3) * w + x + k % 7 - 3;
                    cost += (l[at] < l[y * w + x]) != (r[at - d] < r[y * w + x - d]);
                }
                if (cost < least)
                    least = cost, want[y * w + x] = d;
            }
        }
    dev<unsigned char> dl(l), dr(r);
    dev<int> shift(w * w);
    GO(census_cost, dim3(UP(w, 32), UP(w, 4)), dim3(32, 4), w, w, dl, dr, shift);
    same(name, w, shift.get(), want);
}

__global__ void turn_image(int w, int h, const uchar4 *in, uchar4 *out) // by an angle, in 8 bits of fraction
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int u = (x - w / 2) * 222 - (y - h / 2) * 128 + w * 128, v = (x - w / 2) * 128 + (y - h / 2) * 222 + h * 128;
    int px = u >> 8, py = v >> 8, fx = u & 255, fy = v & 255;
    uchar4 o = {0, 0, 0, 255};
    if (px >= 0 && py >= 0 && px < w - 1 && py < h - 1) {
        uchar4 a = in[py * w + px], b = in[py * w + px + 1], c = in[(py + 1) * w + px], d = in[(py + 1) * w + px + 1];
        int p = (256 - fx) * (256 - fy), q = fx * (256 - fy), r = (256 - fx) * fy, s = fx * fy;
        o.x = (unsigned char)((a.x * p + b.x * q + c.x * r + d.x * s) >> 16);
        o.y = (unsigned char)((a.y * p + b.y * q + c.y * r + d.y * s) >> 16);
        o.z = (unsigned char)((a.z * p + b.z * q + c.z * r + d.z * s) >> 16);
    }
    out[y * w + x] = o;
}
static void run_turn_image(const char *name, int w)
{
    vec<unsigned char> in = whole<unsigned char>(w * w * 4, 62, 256), want(w * w * 4);
    for (int i = 0; i < w * w; i++) {
        int x = i % w - w / 2, y = i / w - w / 2, u = x * 222 - y * 128 + w * 128, v = x * 128 + y * 222 + w * 128;
        int px = (int)floor(u / 256.0), py = (int)floor(v / 256.0), fx = u - px * 256, fy = v - py * 256;
        want[i * 4 + 3] = 255;
        for (int c = 0; c < 3 && px >= 0 && py >= 0 && px < w - 1 && py < w - 1; c++) {
            const unsigned char *p = &in[(py * w + px) * 4 + c];
            want[i * 4 + c] = (unsigned char)(((p[0] * (256 - fx) + p[4] * fx) * (256 - fy) +
                                               (p[w * 4] * (256 - fx) + p[w * 4 + 4] * fx) * fy) /
                                              65536);
        }
    }
    dev<unsigned char> di(in), out(w * w * 4);
    GO(turn_image, dim3(w / 16, w / 16), dim3(16, 16), w, w, (const uchar4 *)di.p, (uchar4 *)out.p);
    same(name, w, out.get(), want);
}

__constant__ float cosines[8][8];
__global__ void dct_8x8(int w, const short *in, short *out) // a tile of 32 x 8: four blocks of 8 x 8
{
    __shared__ float s[8][32], t[8][32];
    int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * w + blockIdx.x * 32 + x;
    s[y][x] = in[at];
    __syncthreads();
    float v = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        v += s[y][(x & ~7) + k] * cosines[x & 7][k];
    t[y][x] = v;
    __syncthreads();
    v = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        v += t[k][x] * cosines[y][k];
    out[at] = (short)__float2int_rn(v);
}
static void run_dct_8x8(const char *name, int w)
{
    float c[8][8];
    for (int u = 0; u < 8; u++)
        for (int k = 0; k < 8; k++)
            c[u][k] = (float)(cos((2 * k + 1) * u * 3.14159265358979 / 16) * (u ? 0.5 : sqrt(0.125)));
    CHECK(cudaMemcpyToSymbol(cosines, c, sizeof c));
    vec<short> in = whole<short>(w * w, 63, 256), got;
    vec<double> want(w * w);
    for (int i = 0; i < w * w; i++) {
        int x = i % w, y = i / w;
        for (int k = 0; k < 64; k++)
            want[i] += in[((y & ~7) + k / 8) * w + (x & ~7) + k % 8] * c[x & 7][k % 8] * c[y & 7][k / 8];
    }
    dev<short> di(in), out(w * w);
    GO(dct_8x8, dim3(w / 32, w / 8), dim3(32, 8), w, di, out);
    got = out.get();
    vec<double> off(w * w), none(w * w);
    for (int i = 0; i < w * w; i++)
        off[i] = fabs(got[i] - want[i]) < 0.52 ? 0 : got[i] - want[i];
    same(name, w, off, none);
}

__global__ void erode_bits(int words, int rows, const unsigned *in, unsigned *out) // 3 x 3 of pictures of a bit a point
{
    int i = THREAD, x = i % words, y = i / words;
    if (y >= rows)
        return;
    unsigned v = ~0u;
    for (int dy = -1; dy <= 1; dy++) {
        int r = y + dy;
        unsigned l = 0, m = 0, n = 0;
        if (r >= 0 && r < rows) {
            m = in[r * words + x];
            l = x > 0 ? in[r * words + x - 1] : 0;
            n = x + 1 < words ? in[r * words + x + 1] : 0;
        }
        v &= m & __funnelshift_l(l, m, 1) & __funnelshift_r(m, n, 1);
    }
    out[i] = v;
}
static void run_erode_bits(const char *name, int rows)
{
    int words = rows / 16;
    vec<unsigned> in(words * rows), want(words * rows);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = mix((unsigned)i) | mix((unsigned)i * 3) | mix((unsigned)i * 7) | mix((unsigned)i * 11);
    auto bit = [&](int x, int y) {
        return x >= 0 && y >= 0 && x < words * 32 && y < rows ? in[y * words + x / 32] >> x % 32 & 1 : 0;
    };
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < words * 32; x++) {
            unsigned all = 1;
            for (int k = 0; k < 9; k++)
                all &= bit(x + k % 3 - 1, y + k / 3 - 1);
            want[y * words + x / 32] |= all << x % 32;
        }
    dev<unsigned> di(in), out(in.size());
    GO(erode_bits, UP(words * rows, 128), 128, words, rows, di, out);
    same(name, rows, out.get(), want);
}

struct ball {
    float x, y, z, r;
};
__constant__ ball balls[24];
__host__ __device__ inline int bounces(const ball *all, float ox, float oy) // rays that are thrown back
{
    float p[3] = {ox, oy, -4}, d[3] = {0.1f * ox, 0.1f * oy, 0.99f};
    int code = 0;
    for (int bounce = 0; bounce < 4; bounce++) {
        int hit = -1;
        float near = 1e9f;
        for (int k = 0; k < 24; k++) {
            float x = p[0] - all[k].x, y = p[1] - all[k].y, z = p[2] - all[k].z,
                  a = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            float b = x * d[0] + y * d[1] + z * d[2], c = x * x + y * y + z * z - all[k].r * all[k].r,
                  q = b * b - a * c;
            if (q > 0) {
                float t = (-b - sqrtf(q)) / a;
                if (t > 1e-3f && t < near)
                    near = t, hit = k;
            }
        }
        code = code * 25 + hit + 1;
        if (hit < 0)
            break;
        float n[3], dot = 0, centre[3] = {all[hit].x, all[hit].y, all[hit].z};
        for (int k = 0; k < 3; k++) {
            p[k] += near * d[k];
            n[k] = (p[k] - centre[k]) / all[hit].r;
            dot += n[k] * d[k];
        }
        for (int k = 0; k < 3; k++)
            d[k] -= 2 * dot * n[k];
    }
    return code;
}
__global__ void mirror_balls(int w, int *codes)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    codes[y * w + x] = bounces(balls, (x * 2.f / w - 1) * 2, (y * 2.f / w - 1) * 2);
}
static void run_mirror_balls(const char *name, int w)
{
    ball b[24];
    for (unsigned k = 0; k < 24; k++)
        b[k] = {mix(k) % 100 * 0.04f - 2, mix(k + 50) % 100 * 0.04f - 2, mix(k + 99) % 100 * 0.04f,
                0.3f + mix(k + 150) % 10 * 0.03f};
    CHECK(cudaMemcpyToSymbol(balls, b, sizeof b));
    dev<int> codes(w * w);
    GO(mirror_balls, dim3(w / 16, w / 16), dim3(16, 16), w, codes);
    vec<int> got = codes.get(), want(w * w);
    int differ = 0;
    for (int i = 0; i < w * w; i++) {
        want[i] = bounces(b, (i % w * 2.f / w - 1) * 2, (i / w * 2.f / w - 1) * 2);
        differ += want[i] != got[i];
    }
    // Rays that graze a ball are thrown elsewhere by a bit's difference: the device rounds products and sums together.
    same(name, w, vec<int>{differ <= 3 + w * w / 200}, vec<int>{1});
}

__constant__ unsigned char curve[256];
__global__ void tone_curve(int n, const uchar4 *in, uchar4 *out) // a table in constant memory, looked up by data
{
    int i = THREAD;
    if (i < n) {
        uchar4 v = in[i];
        out[i] = make_uchar4(curve[v.x], curve[v.y], curve[v.z], v.w);
    }
}
static void run_tone_curve(const char *name, int n)
{
    vec<unsigned char> table(256), in = whole<unsigned char>(n * 4, 64, 256), want = in;
    for (int i = 0; i < 256; i++)
        table[i] = (unsigned char)(255 * pow(i / 255.0, 0.45));
    for (int i = 0; i < n * 4; i++)
        want[i] = i % 4 == 3 ? in[i] : table[in[i]];
    CHECK(cudaMemcpyToSymbol(curve, table.data(), 256));
    dev<unsigned char> di(in), out(n * 4);
    GO(tone_curve, UP(n, 256), 256, n, (const uchar4 *)di.p, (uchar4 *)out.p);
    same(name, n, out.get(), want);
}

/* ---- chance and ciphers ---- */
__host__ __device__ inline int walk(unsigned seed) // steps until a walk leaves the box; most are short, some long
{
    unsigned s = seed * 747796405u + 2891336453u;
    int x = 0, y = 0, steps = 0;
    while (x * x + y * y < 100 && steps < 600) {
        s = s * 1664525u + 1013904223u;
        switch (s >> 30) {
        case 0: x++; break;
        case 1: x--; break;
        case 2: y++; break;
        default: y--;
        }
        steps++;
    }
    return steps;
}
__global__ void walkers(int n, int *steps)
{
    int i = THREAD;
    if (i < n)
        steps[i] = walk((unsigned)i);
}
static void run_walkers(const char *name, int n)
{
    vec<int> want(n);
    for (int i = 0; i < n; i++)
        want[i] = walk((unsigned)i);
    dev<int> steps(n);
    GO(walkers, UP(n, 128), 128, n, steps);
    same(name, n, steps.get(), want);
}

__global__ void aes_tables(int n, const unsigned *table, const unsigned char *box, const unsigned *key, const uint4 *in,
                           uint4 *out)
{
    __shared__ unsigned t0[256];
    __shared__ unsigned char s[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        t0[k] = table[k], s[k] = box[k];
    __syncthreads();
    int i = THREAD;
    if (i >= n)
        return;
    uint4 v = in[i];
    unsigned a[4] = {v.x ^ key[0], v.y ^ key[1], v.z ^ key[2], v.w ^ key[3]}, b[4];
    for (int round = 1; round <= 10; round++) {
#pragma unroll
        for (int c = 0; c < 4; c++) {
            unsigned p = a[c] & 255, q = a[(c + 1) & 3] >> 8 & 255, r = a[(c + 2) & 3] >> 16 & 255,
                     u = a[(c + 3) & 3] >> 24;
            b[c] = key[round * 4 + c] ^
                   (round < 10 ? t0[p] ^ __funnelshift_l(t0[q], t0[q], 8) ^ __funnelshift_l(t0[r], t0[r], 16) ^
                                     __funnelshift_l(t0[u], t0[u], 24)
                               : s[p] | s[q] << 8 | s[r] << 16 | (unsigned)s[u] << 24);
        }
        for (int c = 0; c < 4; c++)
            a[c] = b[c];
    }
    out[i] = make_uint4(a[0], a[1], a[2], a[3]);
}
static unsigned char twice(unsigned char v)
{
    return (unsigned char)(v << 1 ^ (v & 128 ? 27 : 0));
}
static void run_aes_tables(const char *name, int n)
{
    vec<unsigned char> box(256), round_key(176), in = whole<unsigned char>(n * 16, 65, 256), want(n * 16);
    unsigned char p = 1, q = 1; // the field's elements by powers of three, beside their inverses
    do {
        p = (unsigned char)(p ^ twice(p));
        for (int k = 1; k < 8; k *= 2)
            q = (unsigned char)(q ^ q << k);
        q = (unsigned char)(q ^ (q & 128 ? 9 : 0));
        unsigned char r = 99;
        for (int k = 0; k < 5; k++)
            r = (unsigned char)(r ^ (q << k | q >> (8 - k)));
        box[p] = r;
    } while (p != 1);
    box[0] = 99;
    for (int k = 0; k < 16; k++)
        round_key[k] = (unsigned char)k;
    for (int k = 16, rcon = 1; k < 176; k++) {
        unsigned char t = round_key[k - 4 + (k % 16 < 4 ? (k % 4 == 3 ? -3 : 1) : 0)];
        round_key[k] = (unsigned char)(round_key[k - 16] ^ (k % 16 < 4 ? box[t] : t) ^ (k % 16 == 0 ? rcon : 0));
        if (k % 16 == 0)
            rcon = twice((unsigned char)rcon);
    }
    vec<unsigned> table(256), key(44);
    for (int k = 0; k < 256; k++)
        table[k] = twice(box[k]) | box[k] << 8 | box[k] << 16 | (unsigned)(twice(box[k]) ^ box[k]) << 24;
    memcpy(key.data(), round_key.data(), 176);
    for (int k = 0; k < 16; k++)
        in[k] = (unsigned char)(k * 17); // the standard's example: its result is checked below
    for (int i = 0; i < n; i++) {
        unsigned char s[16], t[16];
        for (int k = 0; k < 16; k++)
            s[k] = in[i * 16 + k] ^ round_key[k];
        for (int round = 1; round <= 10; round++) {
            for (int k = 0; k < 16; k++)
                t[k] = box[s[(k + k % 4 * 4) % 16]];
            for (int k = 0; k < 16; k++) {
                const unsigned char *c = t + k / 4 * 4;
                int r = k % 4;
                unsigned char mixed = (unsigned char)(twice(c[r]) ^ twice(c[(r + 1) % 4]) ^ c[(r + 1) % 4] ^
                                                      c[(r + 2) % 4] ^ c[(r + 3) % 4]);
                s[k] = (round < 10 ? mixed : t[k]) ^ round_key[round * 16 + k];
            }
        }
        memcpy(&want[i * 16], s, 16);
    }
    if (want[0] != 0x69 || want[1] != 0xc4 || want[15] != 0x5a)
        printf("%s: the host is not right\n", name), wrong_results++;
    dev<unsigned> dt(table), dk(key);
    dev<unsigned char> db(box), di(in), out(n * 16);
    GO(aes_tables, UP(n, 256), 256, n, dt, db, dk, (const uint4 *)di.p, (uint4 *)out.p);
    same(name, n, out.get(), want);
}

__host__ __device__ inline unsigned turned(unsigned v, int by)
{
    return v << by | v >> (32 - by);
}
#define QUARTER(a, b, c, d)                                                                                            \
    a += b, d = turned(d ^ a, 16), c += d, b = turned(b ^ c, 12), a += b, d = turned(d ^ a, 8), c += d,                \
            b = turned(b ^ c, 7)
__host__ __device__ inline void chacha(unsigned counter, unsigned *out)
{
    unsigned s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, w[16];
    for (unsigned k = 0; k < 8; k++)
        s[4 + k] = 0x03020100 + k * 0x04040404;
    s[12] = counter, s[13] = 0x09000000, s[14] = 0x4a000000, s[15] = 0;
    for (int k = 0; k < 16; k++)
        w[k] = s[k];
    for (int k = 0; k < 10; k++) {
        QUARTER(w[0], w[4], w[8], w[12]);
        QUARTER(w[1], w[5], w[9], w[13]);
        QUARTER(w[2], w[6], w[10], w[14]);
        QUARTER(w[3], w[7], w[11], w[15]);
        QUARTER(w[0], w[5], w[10], w[15]);
        QUARTER(w[1], w[6], w[11], w[12]);
        QUARTER(w[2], w[7], w[8], w[13]);
        QUARTER(w[3], w[4], w[9], w[14]);
    }
    for (int k = 0; k < 16; k++)
        out[k] = w[k] + s[k];
}
__global__ void chacha_stream(int n, unsigned *out)
{
    int i = THREAD;
    if (i < n)
        chacha((unsigned)i, out + i * 16);
}
static void run_chacha_stream(const char *name, int n)
{
    vec<unsigned> want(n * 16);
    for (int i = 0; i < n; i++)
        chacha((unsigned)i, &want[i * 16]);
    if (want[16] != 0xe4e7f110 || want[31] != 0x4e3c50a2) // the block of counter 1 in RFC 8439, 2.3.2
        printf("%s: the host is not right\n", name), wrong_results++;
    dev<unsigned> out(n * 16);
    GO(chacha_stream, UP(n, 128), 128, n, out);
    same(name, n, out.get(), want);
}

__host__ __device__ inline unsigned long long keccak(unsigned long long seed) // 24 rounds over 25 words
{
    unsigned long long s[25] = {}, lfsr = 1;
    s[0] = seed;
    for (int round = 0; round < 24; round++) {
        unsigned long long c[5], d;
        for (int x = 0; x < 5; x++)
            c[x] = s[x] ^ s[x + 5] ^ s[x + 10] ^ s[x + 15] ^ s[x + 20];
        for (int x = 0; x < 5; x++) {
            d = c[(x + 4) % 5] ^ (c[(x + 1) % 5] << 1 | c[(x + 1) % 5] >> 63);
            for (int y = 0; y < 25; y += 5)
                s[x + y] ^= d;
        }
        unsigned long long last = s[1];
        const int to[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};
#pragma unroll
        for (int k = 0; k < 24; k++) {
            const int by = (k + 1) * (k + 2) / 2 % 64;
            unsigned long long kept = s[to[k]];
            s[to[k]] = by ? last << by | last >> (64 - by) : last;
            last = kept;
        }
        for (int y = 0; y < 25; y += 5) {
            for (int x = 0; x < 5; x++)
                c[x] = s[y + x];
            for (int x = 0; x < 5; x++)
                s[y + x] = c[x] ^ (~c[(x + 1) % 5] & c[(x + 2) % 5]);
        }
        for (int k = 0; k < 7; k++) {
            if (lfsr & 1)
                s[0] ^= 1ull << ((1 << k) - 1);
            lfsr = lfsr << 1 ^ (lfsr & 128 ? 0x171 : 0);
        }
    }
    return s[0];
}
__global__ void keccak_words(int n, unsigned long long *out)
{
    int i = THREAD;
    if (i < n)
        out[i] = keccak((unsigned long long)i);
}
static void run_keccak_words(const char *name, int n)
{
    vec<unsigned long long> want(n);
    for (int i = 0; i < n; i++)
        want[i] = keccak((unsigned long long)i);
    if (want[0] != 0xf1258f7940e1dde7ull) // the permutation of nothing, as published with it
        printf("%s: the host is not right\n", name), wrong_results++;
    dev<unsigned long long> out(n);
    GO(keccak_words, UP(n, 128), 128, n, out);
    same(name, n, out.get(), want);
}

static const unsigned long long P = 0xffffffff00000001ull;                               // 2^64 - 2^32 + 1
__device__ inline unsigned long long mul_mod(unsigned long long a, unsigned long long b) // by the prime's form
{
    unsigned long long lo = a * b, hi = __umul64hi(a, b), p = 0xffffffff00000001ull;
    unsigned long long top = hi >> 32, mid = hi & 0xffffffffu, t = lo - top;
    if (lo < top)
        t -= 0xffffffffu;
    unsigned long long add = (mid << 32) - mid, r = t + add;
    if (r < add)
        r += 0xffffffffu;
    return r >= p ? r - p : r;
}
__global__ void powers_mod(int n, const unsigned long long *base, const unsigned *exponent, unsigned long long *out)
{
    int i = THREAD;
    if (i >= n)
        return;
    unsigned long long b = base[i], r = 1;
    for (unsigned e = exponent[i]; e; e >>= 1) {
        if (e & 1)
            r = mul_mod(r, b);
        b = mul_mod(b, b);
    }
    out[i] = r;
}
static unsigned long long host_mul(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b % P);
}
static void run_powers_mod(const char *name, int n)
{
    vec<unsigned long long> base(n), want(n);
    vec<unsigned> e(n);
    for (int i = 0; i < n; i++) {
        base[i] = ((unsigned long long)mix(i) << 32 | mix(i + n)) % P;
        e[i] = mix(i * 9) >> mix(i) % 24;
        unsigned long long b = base[i];
        want[i] = 1;
        for (unsigned k = e[i]; k; k >>= 1, b = host_mul(b, b))
            want[i] = k & 1 ? host_mul(want[i], b) : want[i];
    }
    dev<unsigned long long> db(base), out(n);
    dev<unsigned> de(e);
    GO(powers_mod, UP(n, 128), 128, n, db, de, out);
    same(name, n, out.get(), want);
}

__global__ void ntt_block(const unsigned *root, const unsigned *in, unsigned *out) // 512 points modulo 998244353
{
    __shared__ unsigned s[512];
    int t = threadIdx.x;
    for (int k = t; k < 512; k += 256)
        s[__brev(k) >> 23] = in[blockIdx.x * 512 + k];
    for (int h = 1; h < 512; h *= 2) {
        __syncthreads();
        int k = t % h, i = t / h * 2 * h + k;
        unsigned u = s[i], v = (unsigned)((unsigned long long)s[i + h] * root[k * (256 / h)] % 998244353u);
        s[i] = u + v >= 998244353u ? u + v - 998244353u : u + v;
        s[i + h] = u < v ? u + 998244353u - v : u - v;
    }
    __syncthreads();
    for (int k = t; k < 512; k += 256)
        out[blockIdx.x * 512 + k] = s[k];
}
static void run_ntt_block(const char *name, int blocks)
{
    const unsigned long long p = 998244353;
    unsigned long long w = 1, g = 3;
    for (unsigned long long e = (p - 1) / 512; e; e >>= 1, g = g * g % p)
        w = e & 1 ? w * g % p : w;
    vec<unsigned> root(512), in = whole<unsigned>(blocks * 512, 66, (unsigned)p), want(blocks * 512);
    for (int k = 0; k < 512; k++)
        root[k] = k ? (unsigned)(root[k - 1] * w % p) : 1;
    dev<unsigned> dr(root), di(in), out(in.size());
    GO(ntt_block, blocks, 256, dr, di, out);
    vec<unsigned> got = out.get(), some;
    want.clear();
    for (int b = 0; b < blocks; b += 1 + blocks / 16) // some by the definition
        for (int k = 0; k < 512; k++) {
            unsigned long long s = 0;
            for (int j = 0; j < 512; j++)
                s += (unsigned long long)in[b * 512 + j] * root[j * k % 512] % p;
            want.push_back((unsigned)(s % p));
            some.push_back(got[b * 512 + k]);
        }
    same(name, blocks, some, want);
}

/* ---- sequences ---- */
__global__ void count_kmers(int n, const unsigned *packed,
                            unsigned *bins) // 16 letters a word; a thread the ten-mers from one on
{
    int i = THREAD;
    if (i >= n)
        return;
    unsigned a = packed[i], b = packed[i + 1];
    for (int k = 0; k < 16; k++) {
        unsigned mer = __funnelshift_r(a, b, 2 * k) & 0xfffff;
        unsigned other = __brev(~mer) >> 12; // the other strand's, letters turned
        other = (other & 0x55555) << 1 | (other >> 1 & 0x55555);
        atomicAdd(&bins[min(mer, other) % 4093], 1);
    }
}
static void run_count_kmers(const char *name, int n)
{
    vec<unsigned> packed = whole<unsigned>(n + 1, 67, ~0u), want(4093);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 16; k++) {
            unsigned mer = 0, other = 0;
            for (int j = 0; j < 10; j++) {
                unsigned letter = packed[i + (k + j) / 16] >> (k + j) % 16 * 2 & 3;
                mer |= letter << 2 * j;
                other |= (3 - letter) << 2 * (9 - j);
            }
            want[std::min(mer, other) % 4093]++;
        }
    dev<unsigned> dp(packed), bins(4093);
    GO(count_kmers, UP(n, 128), 128, n, dp, bins);
    same(name, n, bins.get(), want);
}

__global__ void myers(int n, int length, const unsigned long long *masks, const unsigned char *text, int *distance)
{
    int i = THREAD;
    if (i >= n)
        return;
    unsigned long long up = ~0ull, down = 0;
    int d = 64;
    for (int k = 0; k < length; k++) { // a column of the table of edit distances a step
        unsigned long long eq = masks[i * 4 + text[k * n + i]], x = eq | down;
        unsigned long long h = (((eq & up) + up) ^ up) | eq, plus = down | ~(h | up), minus = up & h;
        d += (int)(plus >> 63) - (int)(minus >> 63);
        plus = plus << 1 | 1;
        up = minus << 1 | ~(x | plus);
        down = plus & x;
    }
    distance[i] = d;
}
static void run_myers(const char *name, int n)
{
    const int length = 72;
    vec<unsigned char> pattern = whole<unsigned char>(n * 64, 68, 4), text = whole<unsigned char>(n * length, 69, 4);
    vec<unsigned long long> masks(n * 4);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 64; k++) {
            masks[i * 4 + pattern[i * 64 + k]] |= 1ull << k;
            if (i % 3 == 0)
                text[k * n + i] = pattern[i * 64 + (k + i / 3 % 5) % 64];
        }
    dev<unsigned long long> dm(masks);
    dev<unsigned char> dt(text);
    dev<int> distance(n);
    GO(myers, UP(n, 128), 128, n, length, dm, dt, distance);
    vec<int> got = distance.get(), some, want;
    for (int i = 0; i < n; i += 1 + n / 500) {
        int row[65];
        for (int k = 0; k <= 64; k++)
            row[k] = k;
        for (int j = 1; j <= length; j++) {
            int corner = row[0];
            row[0] = j;
            for (int k = 1; k <= 64; k++) {
                int both = corner + (pattern[i * 64 + k - 1] != text[(j - 1) * n + i]);
                corner = row[k];
                row[k] = std::min(both, std::min(row[k], row[k - 1]) + 1);
            }
        }
        want.push_back(row[64]);
        some.push_back(got[i]);
    }
    same(name, n, some, want);
}

__global__ void longest_match(int n, int window, const unsigned char *text, int *length, int *back)
{
    int i = THREAD;
    if (i >= n)
        return;
    int best = 0, at = 0;
    for (int d = 1; d <= min(window, i); d++) {
        int k = 0;
        while (k < 32 && i + k < n && text[i + k] == text[i + k - d])
            k++;
        if (k > best)
            best = k, at = d;
    }
    length[i] = best, back[i] = at;
}
static void run_longest_match(const char *name, int n)
{
    vec<unsigned char> text = whole<unsigned char>(n, 70, 3);
    for (int i = 300; i < n; i++)
        if (i / 50 % 4 == 0)
            text[i] = text[i - 60];
    vec<int> want(n * 2);
    for (int i = 0; i < n; i++)
        for (int d = 1; d <= std::min(96, i); d++) {
            int k = 0;
            while (k < 32 && i + k < n && text[i + k] == text[i + k - d])
                k++;
            if (k > want[i])
                want[i] = k, want[n + i] = d;
        }
    dev<unsigned char> dt(text);
    dev<int> out(n * 2);
    GO(longest_match, UP(n, 256), 256, n, 96, dt, out, out + n);
    same(name, n, out.get(), want);
}
