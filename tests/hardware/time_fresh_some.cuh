/* time_fresh_some.cuh - the kernels of time_fresh.cu that are of particles, searches, tables of states, sorts and
 * graphs. */
#pragma once
#include "time_fresh.cuh"

/* ---- particles ---- */
__global__ void md_neighbours(int n, int most, const float4 *at, const int *near, float3 *force)
{
    int i = THREAD;
    if (i >= n)
        return;
    float4 p = at[i];
    float3 f = {0, 0, 0};
    for (int k = 0; k < most; k++) {
        float4 q = at[near[k * n + i]];
        float x = p.x - q.x, y = p.y - q.y, z = p.z - q.z, r2 = x * x + y * y + z * z;
        if (r2 < 4 && r2 > 0.04f) {
            float r = 1 / r2, r6 = r * r * r, s = r * r6 * (r6 - 0.5f) * 1e-6f * (4 - r2);
            f.x += x * s, f.y += y * s, f.z += z * s;
        }
    }
    force[i] = f;
}
static void run_md_neighbours(const char *name, int n)
{
    const int most = 40;
    vec<float4> at(n);
    for (int i = 0; i < n; i++)
        at[i] = make_float4(mix(i * 3) * 0x1p-30f, mix(i * 3 + 1) * 0x1p-30f, mix(i * 3 + 2) * 0x1p-30f, 0);
    vec<int> near(n * most);
    for (int i = 0; i < n * most; i++)
        near[i] = (i % n + 1 + (int)(mix(i) % 500)) % n;
    vec<float> want(n * 3), got(n * 3);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < most; k++) {
            float4 p = at[i], q = at[near[k * n + i]];
            double d[3] = {p.x - q.x, p.y - q.y, p.z - q.z}, r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            if (r2 < 4 && r2 > 0.04f)
                for (int c = 0; c < 3; c++)
                    want[i * 3 + c] += (float)(d[c] * pow(r2, -4) * (pow(r2, -3) - 0.5) * 1e-6 * (4 - r2));
        }
    dev<float4> da(at);
    dev<int> dn(near);
    dev<float3> force(n);
    GO(md_neighbours, UP(n, 256), 256, n, most, da, dn, force);
    vec<float3> f = force.get();
    memcpy(got.data(), f.data(), n * 12);
    same(name, n, got, want, 2e-3);
}

__constant__ float4 atoms[512];
__global__ void coulomb_slice(int w, float z, float *grid) // four points a thread, atoms in constant memory
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, y = blockIdx.y * blockDim.y + threadIdx.y;
    float e[4] = {};
    for (int k = 0; k < 512; k++) {
        float dy = y * 0.1f - atoms[k].y, dz = z - atoms[k].z, far = dy * dy + dz * dz, dx = x * 0.1f - atoms[k].x;
#pragma unroll
        for (int j = 0; j < 4; j++, dx += 0.1f)
            e[j] += atoms[k].w * rsqrtf(dx * dx + far);
    }
    *(float4 *)&grid[y * w + x] = make_float4(e[0], e[1], e[2], e[3]);
}
static void run_coulomb_slice(const char *name, int w)
{
    vec<float4> a(512);
    for (unsigned i = 0; i < 512; i++)
        a[i] = make_float4(mix(i) % 1000 * 0.02f, mix(i + 600) % 1000 * 0.02f, 1 + mix(i + 1200) % 100 * 0.02f,
                           0.01f * (float)(i % 7));
    CHECK(cudaMemcpyToSymbol(atoms, a.data(), 512 * 16));
    vec<float> want(w * w);
    for (int y = 0; y < w; y++)
        for (int x = 0; x < w; x++) {
            float s = 0;
            for (int k = 0; k < 512; k++) {
                float dx = x * 0.1f - a[k].x, dy = y * 0.1f - a[k].y, dz = 0.5f - a[k].z;
                s += a[k].w / sqrtf(dx * dx + dy * dy + dz * dz);
            }
            want[y * w + x] = s;
        }
    dev<float> grid(w * w);
    GO(coulomb_slice, dim3(w / 32, w / 16), dim3(8, 16), w, 0.5f, grid);
    same(name, w, grid.get(), want, 1e-3);
}

__global__ void mri_q(int n, int samples, const float4 *k, const float *x, const float *y, const float *z, float2 *q)
{
    int i = THREAD;
    if (i >= n)
        return;
    float re = 0, im = 0, px = x[i], py = y[i], pz = z[i];
    for (int s = 0; s < samples; s++) {
        float4 v = k[s];
        float a = 6.2831853f * (v.x * px + v.y * py + v.z * pz);
        re += v.w * cosf(a);
        im += v.w * sinf(a);
    }
    q[i] = make_float2(re, im);
}
static void run_mri_q(const char *name, int n)
{
    const int samples = 96;
    vec<float> raw = floats(samples * 4, 29), x = floats(n, 30), y = floats(n, 31), z = floats(n, 32), want(n * 2),
               got(n * 2);
    for (int i = 0; i < n; i++)
        for (int s = 0; s < samples; s++) {
            float a = 6.2831853f * (raw[s * 4] * x[i] + raw[s * 4 + 1] * y[i] + raw[s * 4 + 2] * z[i]);
            want[i * 2] += raw[s * 4 + 3] * cosf(a);
            want[i * 2 + 1] += raw[s * 4 + 3] * sinf(a);
        }
    dev<float> k(raw), dx(x), dy(y), dz(z);
    dev<float2> q(n);
    GO(mri_q, UP(n, 128), 128, n, samples, (const float4 *)k.p, dx, dy, dz, q);
    vec<float2> f = q.get();
    memcpy(got.data(), f.data(), n * 8);
    same(name, n, got, want, 1e-3);
}

__constant__ int edges[33];
__global__ void pair_histogram(int n, const int *x, const int *y, const int *z,
                               unsigned *bins) // pairs by their product
{
    __shared__ int3 tile[128];
    __shared__ unsigned mine[4][32];
    int i = THREAD, t = threadIdx.x;
    mine[t / 32][t % 32] = 0;
    int px = i < n ? x[i] : 0, py = i < n ? y[i] : 0, pz = i < n ? z[i] : 0;
    for (int from = 0; from < n; from += 128) {
        __syncthreads();
        if (from + t < n)
            tile[t] = make_int3(x[from + t], y[from + t], z[from + t]);
        __syncthreads();
        for (int j = 0; j < min(128, n - from); j++)
            if (i < n && from + j > i) {
                int d = px * tile[j].x + py * tile[j].y + pz * tile[j].z, lo = 0, hi = 32;
                while (hi - lo > 1) {
                    int m = (lo + hi) / 2;
                    if (d >= edges[m])
                        lo = m;
                    else
                        hi = m;
                }
                atomicAdd(&mine[t / 32][lo], 1);
            }
    }
    __syncthreads();
    if (t < 32)
        atomicAdd(&bins[t], mine[0][t] + mine[1][t] + mine[2][t] + mine[3][t]);
}
static void run_pair_histogram(const char *name, int n)
{
    vec<int> x = whole(n, 33, 2001), y = whole(n, 34, 2001), z = whole(n, 35, 2001), e(33);
    for (int i = 0; i < n; i++)
        x[i] -= 1000, y[i] -= 1000, z[i] -= 1000;
    for (int i = 0; i < 33; i++)
        e[i] = i == 0 ? -3000001 : (i - 16) * abs(i - 16) * 5000;
    CHECK(cudaMemcpyToSymbol(edges, e.data(), 33 * 4));
    vec<unsigned> want(32);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            int d = x[i] * x[j] + y[i] * y[j] + z[i] * z[j], b = 31;
            while (d < e[b])
                b--;
            want[b]++;
        }
    dev<int> dx(x), dy(y), dz(z);
    dev<unsigned> bins(32);
    GO(pair_histogram, UP(n, 128), 128, n, dx, dy, dz, bins);
    same(name, n, bins.get(), want);
}

__global__ void neurons(int n, int steps, float *v, float *m, float *h) // gates that open and close by the voltage
{
    int i = THREAD;
    if (i >= n)
        return;
    float V = v[i], M = m[i], H = h[i];
    for (int k = 0; k < steps; k++) {
        float am = 0.1f * (V + 41) / (1 - expf(-(V + 41) * 0.1f)), bm = 4 * expf(-(V + 66) / 18);
        float ah = 0.07f * expf(-(V + 66) * 0.05f), bh = 1 / (1 + expf(-(V + 36) * 0.1f));
        M += 0.01f * (am * (1 - M) - bm * M);
        H += 0.01f * (ah * (1 - H) - bh * H);
        V += 0.01f * (-120 * M * M * M * H * (V - 50) * 0.1f - 0.3f * (V + 54.4f));
    }
    v[i] = V, m[i] = M, h[i] = H;
}
static void run_neurons(const char *name, int n)
{
    vec<float> v = floats(n, 36, -80, -60), m = floats(n, 37, 0, 0.1f), h = floats(n, 38, 0.5f, 1), want(n);
    for (int i = 0; i < n; i++) {
        double V = v[i], M = m[i], H = h[i];
        for (int k = 0; k < 24; k++) {
            double am = 0.1 * (V + 41) / (1 - exp(-(V + 41) * 0.1)), bm = 4 * exp(-(V + 66) / 18);
            double ah = 0.07 * exp(-(V + 66) * 0.05), bh = 1 / (1 + exp(-(V + 36) * 0.1));
            M += 0.01 * (am * (1 - M) - bm * M);
            H += 0.01 * (ah * (1 - H) - bh * H);
            V += 0.01 * (-120 * M * M * M * H * (V - 50) * 0.1 - 0.3 * (V + 54.4));
        }
        want[i] = (float)V;
    }
    dev<float> dv(v), dm(m), dh(h);
    GO(neurons, UP(n, 128), 128, n, 24, dv, dm, dh);
    same(name, n, dv.get(), want, 1e-4);
}

__global__ void charge_deposit(int n, int w, const float2 *at,
                               float *rho) // each particle into the four points around it
{
    int i = THREAD;
    if (i >= n)
        return;
    float2 p = at[i];
    int x = (int)p.x, y = (int)p.y;
    float u = p.x - x, v = p.y - y;
    atomicAdd(&rho[y * w + x], (1 - u) * (1 - v));
    atomicAdd(&rho[y * w + x + 1], u * (1 - v));
    atomicAdd(&rho[(y + 1) * w + x], (1 - u) * v);
    atomicAdd(&rho[(y + 1) * w + x + 1], u * v);
}
static void run_charge_deposit(const char *name, int n)
{
    int w = 128;
    vec<float2> at(n);
    vec<float> want(w * w);
    for (int i = 0; i < n; i++) {
        at[i] = make_float2(mix(i) % 12700 * 0.01f, mix(i + n) % 12700 * 0.01f);
        int x = (int)at[i].x, y = (int)at[i].y;
        float u = at[i].x - x, v = at[i].y - y;
        want[y * w + x] += (1 - u) * (1 - v), want[y * w + x + 1] += u * (1 - v);
        want[(y + 1) * w + x] += (1 - u) * v, want[(y + 1) * w + x + 1] += u * v;
    }
    dev<float2> da(at);
    dev<float> rho(w * w);
    GO(charge_deposit, UP(n, 256), 256, n, w, da, rho);
    same(name, n, rho.get(), want, 1e-3);
}

/* ---- searching and dynamic programming ---- */
__global__ void resample(int n, const int *sums, const int *u,
                         int *out) // the first sum that is not less, from the front
{
    int i = THREAD;
    if (i >= n)
        return;
    int k = 0;
    while (k < n - 1 && sums[k] < u[i])
        k++;
    out[i] = k;
}
static void run_resample(const char *name, int n)
{
    vec<int> sums(n), u, want(n);
    for (int i = 0; i < n; i++)
        sums[i] = (i ? sums[i - 1] : 0) + 1 + (int)(mix(i) % 100);
    u = whole(n, 39, sums[n - 1]);
    std::sort(u.begin(), u.end());
    for (int i = 0; i < n; i++)
        want[i] = std::min((int)(std::lower_bound(sums.begin(), sums.end(), u[i]) - sums.begin()), n - 1);
    dev<int> ds(sums), du(u), out(n);
    GO(resample, UP(n, 128), 128, n, ds, du, out);
    same(name, n, out.get(), want);
}

__global__ void tree_search(int queries, const int *keys, const int *want,
                            int *at) // 32 children a node, a warp a query
{
    int q = THREAD / 32, lane = threadIdx.x % 32;
    if (q >= queries)
        return;
    int wanted = want[q], from = 0;
    for (int stride = 1024; stride; stride /= 32) {
        unsigned less = __ballot_sync(~0u, keys[from + lane * stride] <= wanted);
        from += (31 - __clz(less | 1)) * stride;
    }
    if (lane == 0)
        at[q] = keys[from] == wanted ? from : -1;
}
static void run_tree_search(const char *name, int queries)
{
    vec<int> keys(32768), want = whole(queries, 40, 32768 * 7), at(queries);
    for (int i = 0; i < 32768; i++)
        keys[i] = i * 7 + (int)(mix(i) % 7);
    for (int q = 0; q < queries; q++) {
        if (q % 2)
            want[q] = keys[want[q] / 7];
        auto p = std::lower_bound(keys.begin(), keys.end(), want[q]);
        at[q] = p != keys.end() && *p == want[q] ? (int)(p - keys.begin()) : -1;
    }
    dev<int> dk(keys), dw(want), da(queries);
    GO(tree_search, UP(queries, 8), 256, queries, dk, dw, da);
    same(name, queries, da.get(), at);
}

__global__ void needleman(int length, const char *a, const char *b, int *score) // a block a pair; along the diagonals
{
    __shared__ int s[3][65];
    int t = threadIdx.x + 1, best = 0;
    const char mine = a[blockIdx.x * 64 + t - 1];
    for (int d = 0; d <= length + 64; d++) { // cell (t, j), j = d - t
        int j = d - t, *now = s[d % 3], *one = s[(d + 2) % 3], *two = s[(d + 1) % 3];
        if (t == 1)
            now[0] = -d;
        if (j == 0)
            now[t] = -t;
        if (j >= 1 && j <= length) {
            int both = two[t - 1] + (mine == b[blockIdx.x * length + j - 1] ? 2 : -1);
            now[t] = best = max(both, max(one[t - 1], one[t]) - 1);
        }
        __syncthreads();
    }
    if (t == 64)
        score[blockIdx.x] = best;
}
static void run_needleman(const char *name, int pairs)
{
    const int length = 80;
    vec<char> a = whole<char>(pairs * 64, 41, 4), b = whole<char>(pairs * length, 42, 4);
    vec<int> want(pairs);
    for (int p = 0; p < pairs; p++) {
        vec<int> last(length + 1), now(length + 1);
        for (int j = 0; j <= length; j++)
            last[j] = -j;
        for (int i = 1; i <= 64; i++, last = now) {
            now[0] = -i;
            for (int j = 1; j <= length; j++)
                now[j] = std::max(last[j - 1] + (a[p * 64 + i - 1] == b[p * length + j - 1] ? 2 : -1),
                                  std::max(last[j], now[j - 1]) - 1);
        }
        want[p] = last[length];
    }
    dev<char> da(a), db(b);
    dev<int> score(pairs);
    GO(needleman, pairs, 64, length, da, db, score);
    same(name, pairs, score.get(), want);
}

__global__ void pathfinder(int cols, int rows, const int *cost, const int *in,
                           int *out) // the tile gets narrower every row
{
    __shared__ int s[256];
    int t = threadIdx.x, x = blockIdx.x * (256 - 2 * rows) - rows + t;
    bool inside = x >= 0 && x < cols;
    s[t] = inside ? in[x] : 1 << 30;
    int v = s[t];
    __syncthreads();
    for (int r = 0; r < rows; r++) {
        if (t > r && t < 255 - r && inside)
            v = min(s[t], min(s[t - 1], s[t + 1])) + cost[r * cols + x];
        __syncthreads();
        s[t] = v;
        __syncthreads();
    }
    if (t >= rows && t < 256 - rows && x < cols)
        out[x] = v;
}
static void run_pathfinder(const char *name, int cols)
{
    const int rows = 10;
    vec<int> cost = whole(rows * cols, 43, 10), in = whole(cols, 44, 10), now = in, next(cols);
    for (int r = 0; r < rows; r++, now = next)
        for (int x = 0; x < cols; x++)
            next[x] = std::min(now[x], std::min(now[std::max(x - 1, 0)], now[std::min(x + 1, cols - 1)])) +
                      cost[r * cols + x];
    dev<int> dc(cost), di(in), out(cols);
    GO(pathfinder, UP(cols, 256 - 2 * rows), 256, cols, rows, dc, di, out);
    same(name, cols, out.get(), now);
}

__global__ void floyd_tile(int *d) // all pairs of 32 nodes a block
{
    __shared__ int s[32][32];
    int x = threadIdx.x, y = threadIdx.y, at = blockIdx.x * 1024 + y * 32 + x;
    s[y][x] = d[at];
    __syncthreads();
    for (int k = 0; k < 32; k++) {
        int via = s[y][k] + s[k][x];
        if (via < s[y][x])
            s[y][x] = via;
        __syncthreads();
    }
    d[at] = s[y][x];
}
static void run_floyd_tile(const char *name, int graphs)
{
    vec<int> d = whole(graphs * 1024, 45, 1000);
    for (int i = 0; i < graphs * 1024; i++)
        d[i] = i / 32 % 32 == i % 32 ? 0 : d[i] + 1;
    vec<int> want = d;
    for (int g = 0; g < graphs; g++)
        for (int k = 0; k < 32; k++)
            for (int i = 0; i < 32; i++)
                for (int j = 0; j < 32; j++) {
                    int *p = &want[g * 1024];
                    p[i * 32 + j] = std::min(p[i * 32 + j], p[i * 32 + k] + p[k * 32 + j]);
                }
    dev<int> dd(d);
    GO(floyd_tile, graphs, dim3(32, 32), dd);
    same(name, graphs, dd.get(), want);
}

/* ---- scans and sorts ---- */
__global__ void scan_int4(const int4 *in, int4 *out, int *sums)
{
    __shared__ int part[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, at = blockIdx.x * 256 + t;
    int4 v = in[at];
    v.y += v.x, v.z += v.y, v.w += v.z;
    int s = v.w;
    for (int d = 1; d < 32; d *= 2) {
        int o = __shfl_up_sync(~0u, s, d);
        if (lane >= d)
            s += o;
    }
    if (lane == 31)
        part[warp] = s;
    __syncthreads();
    int before = s - v.w;
    for (int k = 0; k < warp; k++)
        before += part[k];
    out[at] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
    if (t == 255)
        sums[blockIdx.x] = v.w + before;
}
static void run_scan_int4(const char *name, int blocks)
{
    int n = blocks * 1024;
    vec<int> in = whole(n, 46, 1000), want(n);
    for (int i = 0; i < n; i++)
        want[i] = in[i] + (i % 1024 ? want[i - 1] : 0);
    dev<int> di(in), out(n), sums(blocks);
    GO(scan_int4, blocks, 256, (const int4 *)di.p, (int4 *)out.p, sums);
    same(name, blocks, out.get(), want);
}

__global__ void segment_sums(int n, const int *key, const int *v,
                             int *sum) // keys in order; a warp adds what is of one key first
{
    int i = THREAD, lane = threadIdx.x % 32, k = i < n ? key[i] : -1, s = i < n ? v[i] : 0;
    for (int d = 1; d < 32; d *= 2) {
        int o = __shfl_up_sync(~0u, s, d), ok = __shfl_up_sync(~0u, k, d);
        if (lane >= d && ok == k)
            s += o;
    }
    int next = __shfl_down_sync(~0u, k, 1);
    if (k >= 0 && (lane == 31 || next != k))
        atomicAdd(&sum[k], s);
}
static void run_segment_sums(const char *name, int n)
{
    vec<int> key(n), v = whole(n, 47, 100);
    for (int i = 1; i < n; i++)
        key[i] = key[i - 1] + (mix(i) % 9 == 0);
    vec<int> want(key[n - 1] + 1);
    for (int i = 0; i < n; i++)
        want[key[i]] += v[i];
    dev<int> dk(key), dv(v), sum(want.size());
    GO(segment_sums, UP(n, 256), 256, n, dk, dv, sum);
    same(name, n, sum.get(), want);
}

__global__ void radix_block(const unsigned *in, unsigned *out,
                            int shift) // 256 keys a block by four bits, one bit after another
{
    __shared__ unsigned keys[256];
    __shared__ int zeros[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    unsigned k = in[blockIdx.x * 256 + t];
    for (int bit = shift; bit < shift + 4; bit++) {
        bool one = k >> bit & 1;
        unsigned zero = __ballot_sync(~0u, !one);
        if (lane == 0)
            zeros[warp] = __popc(zero);
        __syncthreads();
        int before = 0, all = 0;
        for (int w = 0; w < 8; w++) {
            before += w < warp ? zeros[w] : 0;
            all += zeros[w];
        }
        before += __popc(zero & ((1u << lane) - 1));
        keys[one ? all + t - before : before] = k;
        __syncthreads();
        k = keys[t];
    }
    out[blockIdx.x * 256 + t] = k;
}
static void run_radix_block(const char *name, int blocks)
{
    vec<unsigned> in = whole<unsigned>(blocks * 256, 48, ~0u), want = in;
    for (int b = 0; b < blocks; b++)
        std::stable_sort(want.begin() + b * 256, want.begin() + (b + 1) * 256,
                         [](unsigned p, unsigned q) { return (p >> 8 & 15) < (q >> 8 & 15); });
    dev<unsigned> di(in), out(in.size());
    GO(radix_block, blocks, 256, di, out, 8);
    same(name, blocks, out.get(), want);
}

__global__ void bitonic_global(int n, int j, int k, float *v)
{
    int i = THREAD, p = i ^ j;
    if (i < n && p > i) {
        float a = v[i], b = v[p];
        if ((a > b) == ((i & k) == 0)) {
            v[i] = b;
            v[p] = a;
        }
    }
}
static void run_bitonic_global(const char *name, int n)
{
    vec<float> v = floats(n, 49), want = v;
    int j = n / 8, k = n / 2;
    for (int i = 0; i < n; i++)
        if ((i ^ j) > i && (want[i] > want[i ^ j]) == ((i & k) == 0))
            std::swap(want[i], want[i ^ j]);
    dev<float> dv(v);
    GO(bitonic_global, UP(n, 512), 512, n, j, k, dv);
    same(name, n, dv.get(), want);
}

/* ---- graphs ---- */
__global__ void relax_edges(int n, const int *from, const int *to, const int *weight, const int *dist, int *next)
{
    int e = THREAD;
    if (e >= n)
        return;
    int d = dist[from[e]];
    if (d < 1 << 29)
        atomicMin(&next[to[e]], d + weight[e]);
}
static void run_relax_edges(const char *name, int n)
{
    int nodes = n / 8;
    vec<int> from = whole(n, 50, nodes), to = whole(n, 51, nodes), weight = whole(n, 52, 100),
             dist = whole(nodes, 53, 5000);
    for (int i = 0; i < nodes; i += 3)
        dist[i] = 1 << 30;
    vec<int> want = dist;
    for (int e = 0; e < n; e++)
        if (dist[from[e]] < 1 << 29)
            want[to[e]] = std::min(want[to[e]], dist[from[e]] + weight[e]);
    dev<int> df(from), dt(to), dw(weight), dd(dist), next(dist);
    GO(relax_edges, UP(n, 256), 256, n, df, dt, dw, dd, next);
    same(name, n, next.get(), want);
}

__global__ void rank_push(int nodes, const int *start, const int *to, const float *rank, float *next)
{
    int v = THREAD;
    if (v >= nodes)
        return;
    int from = start[v], end = start[v + 1];
    float share = 0.85f * rank[v] / (float)(end - from);
    for (int e = from; e < end; e++)
        atomicAdd(&next[to[e]], share);
}
static void run_rank_push(const char *name, int nodes)
{
    vec<int> start(nodes + 1);
    for (int v = 0; v < nodes; v++)
        start[v + 1] = start[v] + (v % 61 == 0 ? 90 : 1 + (int)(mix(v) % 6)); // a few have many
    vec<int> to = whole(start[nodes], 54, nodes);
    vec<float> rank = floats(nodes, 55), want(nodes);
    for (int v = 0; v < nodes; v++)
        for (int e = start[v]; e < start[v + 1]; e++) {
            to[e] = e % 5 ? to[e] : to[e] % 16;
            want[to[e]] += 0.85f * rank[v] / (float)(start[v + 1] - start[v]);
        }
    dev<int> ds(start), dt(to);
    dev<float> dr(rank), next(nodes);
    GO(rank_push, UP(nodes, 128), 128, nodes, ds, dt, dr, next);
    same(name, nodes, next.get(), want, 1e-3);
}

__global__ void triangles(int edges, const int *start, const int *to, const int *owner, unsigned long long *count)
{
    int e = THREAD, found = 0;
    if (e < edges) {
        int u = owner[e], v = to[e];
        if (u < v)
            for (int p = start[u], q = start[v]; p < start[u + 1] && q < start[v + 1];) {
                int a = to[p], b = to[q];
                found += a == b;
                p += a <= b;
                q += b <= a;
            }
    }
    found = __reduce_add_sync(~0u, found);
    if (threadIdx.x % 32 == 0 && found)
        atomicAdd(count, (unsigned long long)found);
}
static void run_triangles(const char *name, int nodes)
{
    vec<vec<int>> near(nodes);
    for (int v = 0; v < nodes; v++)
        for (int k = 1; k <= 8; k++) {
            int u = (v + 1 + (int)(mix(v * 8 + k) % (k < 5 ? 12 : nodes / 2))) % nodes;
            if (u != v)
                near[v].push_back(u), near[u].push_back(v);
        }
    vec<int> start(1), to, owner;
    for (int v = 0; v < nodes; v++) {
        std::sort(near[v].begin(), near[v].end());
        near[v].erase(std::unique(near[v].begin(), near[v].end()), near[v].end());
        for (int u : near[v])
            to.push_back(u), owner.push_back(v);
        start.push_back((int)to.size());
    }
    vec<unsigned long long> want(1);
    for (size_t e = 0; e < to.size(); e++)
        if (owner[e] < to[e])
            for (int w : near[owner[e]])
                want[0] += std::binary_search(near[to[e]].begin(), near[to[e]].end(), w);
    dev<int> ds(start), dt(to), dw(owner);
    dev<unsigned long long> count(1);
    GO(triangles, UP((int)to.size(), 128), 128, (int)to.size(), ds, dt, dw, count);
    same(name, nodes, count.get(), want);
}

__global__ void colour_maxima(int nodes, int round, const int *near, const int *colour, int *next)
{
    int v = THREAD;
    if (v >= nodes)
        return;
    if (colour[v] >= 0) {
        next[v] = colour[v];
        return;
    }
    unsigned mine = (unsigned)v * 2654435761u;
    for (int k = 0; k < 8; k++) {
        int u = near[v * 8 + k];
        if (u != v && colour[u] < 0 && (unsigned)u * 2654435761u >= mine) {
            next[v] = -1;
            return;
        }
    }
    next[v] = round;
}
static void run_colour_maxima(const char *name, int nodes)
{
    vec<int> near = whole(nodes * 8, 56, nodes), colour = whole(nodes, 57, 4), want(nodes);
    for (int v = 0; v < nodes; v++)
        colour[v] = colour[v] == 0 ? 2 : -1;
    for (int v = 0; v < nodes; v++) {
        bool most = true;
        for (int k = 0; k < 8; k++) {
            int u = near[v * 8 + k];
            most &= u == v || colour[u] >= 0 || (unsigned)u * 2654435761u < (unsigned)v * 2654435761u;
        }
        want[v] = colour[v] >= 0 ? colour[v] : most ? 5 : -1;
    }
    dev<int> dn(near), dc(colour), next(nodes);
    GO(colour_maxima, UP(nodes, 256), 256, nodes, 5, dn, dc, next);
    same(name, nodes, next.get(), want);
}
