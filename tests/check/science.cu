/* science.cu - small programs as people of many fields write them: grids, particles, graphs, matrices, signals, sequences. Each
 * has the slip that is made there. cases.cuh says how to read it. */
#include "cases.cuh"

/* ---- grids ---- */
/* Heat in a plate: a tile with its rim. */
template <bool fault> __global__ void heat_step(const float *in, float *out, int n)
{
    __shared__ float t[10][10];
    int x = threadIdx.x + 1, y = threadIdx.y + 1, gx = blockIdx.x * 8 + x, gy = blockIdx.y * 8 + y;
    t[y][x] = in[gy * n + gx]; // OTHER
    if (x == 1)
        t[y][0] = in[gy * n + gx - 1]; // ALSO: race/*
    if (x == 8)
        t[y][9] = in[gy * n + gx + 1]; // ALSO: race/*
    if (y == 1)
        t[0][x] = in[(gy - 1) * n + gx]; // ALSO: race/*
    if (y == 8)
        t[9][x] = in[(gy + 1) * n + gx]; // ALSO: race/*
    if (!fault)
        __syncthreads();
    out[gy * n + gx] = 0.25f * (t[y][x - 1] + t[y][x + 1] + t[y - 1][x] + t[y + 1][x]); // EXPECT: race/write-read t
}
CASE(heat_step, 0)
{
    heat_step<fault><<<dim3(2, 2), dim3(8, 8)>>>(zeros<float>(18 * 18), zeros<float>(18 * 18), 18);
}

/* The game of life on the board itself, or on a second one. */
template <bool fault> __global__ void live(const unsigned char *now, unsigned char *next, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, alive = 0;
    for (int d = 0; d < 9; d++)
        if (d != 4)
            alive += now[((y + d / 3 + n - 1) % n) * n + (x + d % 3 + n - 1) % n]; // ALSO: race/*
    unsigned char me = now[y * n + x]; // ALSO: race/*
    next[y * n + x] = alive == 3 || (alive == 2 && me); // EXPECT: race/*
}
CASE(live, 0)
{
    unsigned char *a = zeros<unsigned char>(4096), *b = zeros<unsigned char>(4096);
    live<fault><<<dim3(2, 64), 32>>>(a, fault ? a : b, 64);
}

/* A box of voxels with its sides mixed up. */
template <bool fault> __global__ void voxels(float *box, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x < nx)
        box[fault ? (x * ny + y) * nx + z : (z * ny + y) * nx + x] = x + y + z; // EXPECT: bounds/out-of-allocation
}
CASE(voxels, ALONE)
{
    voxels<fault><<<dim3(2, 20, 10), 32>>>(zeros<float>(64 * 20 * 10), 64, 20, 10);
}

/* A wave on a string, several steps in one launch. */
template <bool fault> __global__ void string_steps(float *u, float *v, int n, int steps)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = u[t];
    float speed = v[t];
    for (int k = 0; k < steps; k++) {
        __syncthreads();
        float left = t > 0 ? s[t - 1] : 0, right = t < n - 1 ? s[t + 1] : 0; // OTHER
        speed += left + right - 2 * s[t];
        if (!fault)
            __syncthreads();
        s[t] += 0.1f * speed; // EXPECT: race/read-write s
    }
    u[t] = s[t];
    v[t] = speed;
}
CASE(string_steps, 0)
{
    string_steps<fault><<<1, 256>>>(zeros<float>(256), zeros<float>(256), 256, 4);
}

/* ---- particles ---- */
template <bool fault> __global__ void gravity(const float4 *bodies, float3 *pull, int n)
{
    __shared__ float4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = bodies[i];
    float3 sum = {0, 0, 0};
    for (int from = 0; from < n; from += 64) {
        tile[threadIdx.x] = bodies[from + threadIdx.x]; // EXPECT: race/read-write tile
        __syncthreads();
        for (int k = 0; k < 64; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z; // OTHER
            float s = tile[k].w * rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f);
            sum.x += dx * s;
            sum.y += dy * s;
            sum.z += dz * s;
        }
        if (!fault)
            __syncthreads();
    }
    pull[i] = sum;
}
CASE(gravity, 0)
{
    gravity<fault><<<2, 64>>>(zeros<float4>(128), zeros<float3>(128), 128);
}

/* Particles into cells: how many are there already decides where one goes. */
template <bool fault> __global__ void into_cells(const int *cell, int *count, int *list, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int at = atomicAdd(&count[cell[i]], 1); // EXPECT: init/global
        if (at < 8)
            list[cell[i] * 8 + at] = i;
    }
}
CASE(into_cells, 0)
{
    into_cells<fault><<<2, 64>>>(zeros(100), fault ? fresh(16) : zeros(16), zeros(128), 100);
}

template <bool fault> __global__ void box_around(const float *x, int *low, int *high, int n)
{
    __shared__ int least, most;
    if (threadIdx.x == 0) {
        least = 1 << 30; // ALSO: race/*
        most = -1; // ALSO: race/*
    }
    if (!fault)
        __syncthreads();
    int mine = (int)(x[threadIdx.x] * 1000) + threadIdx.x;
    atomicMin(&least, mine); // EXPECT: race/* least
    atomicMax(&most, mine); // ALSO: *
    __syncthreads();
    if (threadIdx.x == 0) {
        *low = least;
        *high = most;
    }
}
CASE(box_around, 0)
{
    box_around<fault><<<1, 128>>>(zeros<float>(128), zeros(1), zeros(1), 128);
}

/* ---- graphs ---- */
template <bool fault> __global__ void next_frontier(const int *edges, int *seen, int *queue, int *tail)
{
    int to = edges[blockIdx.x * blockDim.x + threadIdx.x];
    if (atomicExch(&seen[to], 1) == 0) {
        int at = fault ? (*tail)++ : atomicAdd(tail, 1); // EXPECT: race/*
        queue[at] = to; // ALSO: race/*
    }
}
CASE(next_frontier, 0)
{
    int host[128], *edges = fresh(128);
    for (int i = 0; i < 128; i++)
        host[i] = i;
    cudaMemcpy(edges, host, sizeof(host), cudaMemcpyHostToDevice);
    next_frontier<fault><<<2, 64>>>(edges, zeros(128), zeros(128), zeros(1));
}

/* Labels of connected parts: the smaller of two wins. */
template <bool fault> __global__ void hook(const int2 *edges, int *label)
{
    int2 e = edges[blockIdx.x * blockDim.x + threadIdx.x];
    int low = min(e.x, e.y), high = max(e.x, e.y);
    if (fault)
        label[high] = low; // EXPECT: race/*
    else
        atomicMin(&label[high], low);
}
CASE(hook, 0)
{
    int2 host[128], *edges = fresh<int2>(128);
    for (int i = 0; i < 128; i++)
        host[i] = make_int2(i % 16, 16 + i / 64);
    cudaMemcpy(edges, host, sizeof(host), cudaMemcpyHostToDevice);
    hook<fault><<<2, 64>>>(edges, zeros(32));
}

/* Rows of a sparse matrix: there is one more beginning than rows. */
template <bool fault> __global__ void sparse_rows(const int *begins, const int *columns, const float *values, const float *x,
                                                  float *y, int rows)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0;
    for (int k = begins[r]; k < begins[r + 1]; k++) // EXPECT: bounds/out-of-allocation
        sum += values[k] * x[columns[k]];
    y[r] = sum;
}
CASE(sparse_rows, ALONE)
{
    sparse_rows<fault><<<2, 32>>>(zeros(fault ? 64 : 65), zeros(64), zeros<float>(64), zeros<float>(64), zeros<float>(64), 64);
}

/* All distances, each by way of k: the next k only when all are done with this one. */
template <bool fault> __global__ void all_distances(int *d, int n, int first, int last)
{
    int i = blockIdx.x, j = threadIdx.x;
    for (int k = first; k < last; k++) {
        int way = d[i * n + k] + d[k * n + j] + 1; // ALSO: race/*
        if (way > d[i * n + j]) // ALSO: race/*
            d[i * n + j] = way; // EXPECT: race/*
    }
}
template <bool fault> __global__ void distances_by_way_of(const int *d, int *next, int n, int k)
{
    int i = blockIdx.x, j = threadIdx.x;
    next[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}
CASE(all_distances, 0)
{
    int *d = zeros(32 * 32), *e = zeros(32 * 32);
    if (fault)
        all_distances<fault><<<32, 32>>>(d, 32, 0, 4);
    for (int k = 0; !fault && k < 4; k++)
        distances_by_way_of<fault><<<32, 32>>>(k % 2 ? e : d, k % 2 ? d : e, 32, k);
}

/* ---- matrices ---- */
/* Elimination in one block: the factors of a column before the rows use them. */
template <bool fault> __global__ void eliminate(float *a, int n)
{
    __shared__ float factor[32];
    int r = threadIdx.y, c = threadIdx.x;
    for (int k = 0; k < n - 1; k++) {
        if (c == 0 && r > k)
            factor[r] = a[r * n + k] / (a[k * n + k] + 1); // ALSO: race/*
        if (!fault)
            __syncthreads();
        if (r > k && c > k)
            a[r * n + c] -= factor[r] * a[k * n + c]; // EXPECT: race/* factor
        __syncthreads();
    }
}
CASE(eliminate, 0)
{
    eliminate<fault><<<1, dim3(16, 16)>>>(zeros<float>(256), 16);
}

/* A row's softmax: the greatest first, for all. */
template <bool fault> __global__ void softmax(const float *in, float *out)
{
    __shared__ float part[4], most;
    int t = threadIdx.x, row = blockIdx.x * 128;
    float m = in[row + t];
    for (int d = 16; d; d /= 2)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    if (t % 32 == 0)
        part[t / 32] = m;
    __syncthreads();
    if (t == 0)
        most = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3])); // OTHER
    if (!fault)
        __syncthreads();
    out[row + t] = expf(in[row + t] - most); // EXPECT: race/write-read most
}
CASE(softmax, 0)
{
    softmax<fault><<<2, 128>>>(zeros<float>(256), zeros<float>(256));
}

/* Mean, then variance, in the same room. */
template <bool fault> __global__ void normalise(const float *in, float *out)
{
    __shared__ float room[64];
    int t = threadIdx.x;
    float x = in[blockIdx.x * 64 + t], sums[2];
    for (int pass = 0; pass < 2; pass++) {
        room[t] = pass ? (x - sums[0]) * (x - sums[0]) : x; // EXPECT: race/read-write room
        __syncthreads();
        float s = 0;
        for (int k = 0; k < 64; k++)
            s += room[k]; // OTHER
        sums[pass] = s / 64;
        if (!fault)
            __syncthreads();
    }
    out[blockIdx.x * 64 + t] = (x - sums[0]) * rsqrtf(sums[1] + 1e-5f);
}
CASE(normalise, 0)
{
    normalise<fault><<<2, 64>>>(zeros<float>(128), zeros<float>(128));
}

/* One warp a row; the last rows are fewer than the warps. */
template <bool fault> __global__ void row_sums(const float *m, float *sums, int rows, int columns)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float s = 0;
    for (int c = lane; c < columns; c += 32)
        if (fault || row < rows)
            s += m[row * columns + c]; // EXPECT: bounds/out-of-allocation
    for (int d = 16; d; d /= 2)
        s += __shfl_down_sync(~0u, s, d);
    if (lane == 0 && row < rows)
        sums[row] = s;
}
CASE(row_sums, ALONE)
{
    row_sums<fault><<<2, 128>>>(zeros<float>(6 * 40), zeros<float>(6), 6, 40);
}

/* ---- signals and images ---- */
__constant__ float taps[9];
template <bool fault> __global__ void filter(const float *in, float *out)
{
    __shared__ float window[64 + 8];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    window[t] = in[i];
    if (t < (fault ? 7 : 8))
        window[64 + t] = in[i + 64];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 9; k++)
        sum += taps[k] * window[t + k]; // EXPECT: init/shared window
    out[i] = sum;
}
CASE(filter, 0)
{
    filter<fault><<<2, 64>>>(zeros<float>(256), zeros<float>(128));
}

template <bool fault> __global__ void weights(float *out, int radius)
{
    float sum = 0;
    for (int k = -radius; k <= radius; k++)
        sum += taps[k + radius]; // EXPECT: bounds/out-of-variable taps
    out[threadIdx.x] = sum;
}
CASE(weights, ALONE)
{
    weights<fault><<<1, 32>>>(zeros<float>(32), fault ? 5 : 4);
}

/* Pixels of three bytes, read four at a time. */
template <bool fault> __global__ void grey(const unsigned char *rgb, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (fault) {
        unsigned four = *(const unsigned *)(rgb + 3 * i); // EXPECT: bounds/misaligned
        out[i] = (four & 255) / 3 + (four >> 8 & 255) / 3 + (four >> 16 & 255) / 3;
    } else {
        out[i] = rgb[3 * i] / 3 + rgb[3 * i + 1] / 3 + rgb[3 * i + 2] / 3;
    }
}
CASE(grey, ALONE)
{
    grey<fault><<<2, 64>>>(zeros<unsigned char>(512), zeros<unsigned char>(128), 100);
}

/* Bytes are signed on the host's compiler, and so is the index. */
template <bool fault> __global__ void byte_counts(const signed char *text, unsigned *total)
{
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    int c = text[threadIdx.x];
    atomicAdd(&bins[fault ? c : c & 255], 1u); // EXPECT: bounds/out-of-variable
    __syncthreads();
    total[threadIdx.x] += bins[threadIdx.x];
}
CASE(byte_counts, ALONE)
{
    signed char host[256], *text = fresh<signed char>(256);
    for (int i = 0; i < 256; i++)
        host[i] = (signed char)(i * 7);
    cudaMemcpy(text, host, sizeof(host), cudaMemcpyHostToDevice);
    byte_counts<fault><<<1, 256>>>(text, zeros<unsigned>(256));
}

/* A transform in place, stage by stage. */
template <bool fault> __global__ void butterflies(float2 *data)
{
    __shared__ float2 s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    s[t + 32] = data[t + 32];
    __syncwarp();
    for (int half = 1; half < 64; half *= 2) {
        int j = t % half, i = (t - j) * 2 + j;
        float2 a = s[i], b = s[i + half]; // EXPECT: race/*
        s[i] = make_float2(a.x + b.x, a.y + b.y); // ALSO: race/*
        s[i + half] = make_float2(a.x - b.x, a.y - b.y); // ALSO: race/*
        if (!fault)
            __syncwarp();
    }
    data[t] = s[t];
    data[t + 32] = s[t + 32];
}
CASE(butterflies, 0)
{
    butterflies<fault><<<1, 32>>>(zeros<float2>(64));
}

/* ---- sequences and text ---- */
/* Alignment: one diagonal after another. */
template <bool fault> __global__ void align(const char *a, const char *b, int *score)
{
    __shared__ int m[33][33];
    int t = threadIdx.x;
    if (t < 33)
        m[0][t] = m[t][0] = -t; // ALSO: race/*
    __syncthreads();
    for (int d = 0; d < 63; d++) {
        int i = t + 1, j = d - t + 1;
        if (t < 32 && j >= 1 && j <= 32) {
            int hit = m[i - 1][j - 1] + (a[i - 1] == b[j - 1]), gap = max(m[i - 1][j], m[i][j - 1]) - 1; // EXPECT: race/* m
            m[i][j] = max(hit, gap); // ALSO: race/*
        }
        if (!fault)
            __syncthreads();
    }
    __syncthreads();
    if (t == 0)
        *score = m[32][32];
}
CASE(align, 0)
{
    align<fault><<<1, 64>>>(zeros<char>(32), zeros<char>(32), zeros(1));
}

template <bool fault> __global__ void first_match(const char *text, int n, int *where)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n && text[i] == 0 && text[i + 1] == 0) {
        if (fault)
            *where = i; // EXPECT: race/*
        else
            atomicMin(where, i);
    }
}
CASE(first_match, 0)
{
    first_match<fault><<<2, 64>>>(zeros<char>(128), 128, zeros(1));
}

/* ---- chance ---- */
struct Generator {
    unsigned s;
    __device__ unsigned next() { return s = s * 1664525u + 1013904223u; }
};
template <bool fault> __global__ void seed(Generator *g, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        g[i].s = 2 * i + 1;
}
template <bool fault> __global__ void throw_darts(Generator *g, unsigned *hits)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, in = 0;
    Generator mine = g[i]; // EXPECT: init/global
    for (int k = 0; k < 10; k++) {
        float x = (mine.next() >> 8) * 0x1p-24f, y = (mine.next() >> 8) * 0x1p-24f;
        in += x * x + y * y < 1;
    }
    g[i] = mine;
    atomicAdd(hits, in);
}
CASE(throw_darts, 0)
{
    Generator *g = fresh<Generator>(128);
    seed<fault><<<2, 64>>>(g, fault ? 100 : 128);
    throw_darts<fault><<<2, 64>>>(g, zeros<unsigned>(1));
}

/* The best of each block, by a shuffle that half the warp does not come to. */
template <bool fault> __global__ void best_walk(const float *gain, float *best)
{
    int t = threadIdx.x;
    float g = gain[blockIdx.x * 32 + t];
    if (fault ? t < 16 : true)
        for (int d = 8; d; d /= 2)
            g = fmaxf(g, __shfl_down_sync(0xffffffffu, g, d)); // EXPECT: barrier/mask
    __syncwarp(); // ALSO: barrier/mask
    if (t == 0)
        best[blockIdx.x] = g;
}
CASE(best_walk, ALONE | HANGS)
{
    best_walk<fault><<<4, 32>>>(zeros<float>(128), zeros<float>(4));
}

/* ---- learning ---- */
template <bool fault> __global__ void cluster_sums(const float *x, const int *nearest, float *sum, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, c = nearest[i];
    if (fault)
        sum[c] += x[i]; // EXPECT: race/*
    else
        atomicAdd(&sum[c], x[i]);
    atomicAdd(&count[c], 1);
}
CASE(cluster_sums, 0)
{
    cluster_sums<fault><<<4, 64>>>(zeros<float>(256), zeros(256), zeros<float>(4), zeros(4));
}

/* The gradient of an embedding: rows that come twice. */
template <bool fault> __global__ void embedding_gradient(const int *words, const float *from, float *table, int width)
{
    int word = words[blockIdx.x];
    for (int k = threadIdx.x; k < width; k += blockDim.x) {
        if (fault)
            table[word * width + k] += from[blockIdx.x * width + k]; // EXPECT: race/*
        else
            atomicAdd(&table[word * width + k], from[blockIdx.x * width + k]);
    }
}
CASE(embedding_gradient, 0)
{
    embedding_gradient<fault><<<8, 32>>>(zeros(8), zeros<float>(8 * 40), zeros<float>(40), 40);
}

/* A mask of bits, 32 at a time. */
template <bool fault> __global__ void pack_mask(const float *x, unsigned *bits, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned word = __ballot_sync(~0u, i < n && x[i] > 0.5f);
    if (threadIdx.x % 32 == 0 && (fault || i < n))
        bits[i / 32] = word; // EXPECT: bounds/out-of-allocation
}
CASE(pack_mask, ALONE)
{
    pack_mask<fault><<<2, 128>>>(zeros<float>(160), zeros<unsigned>(5), 160);
}
