/* fields.cu - pieces of programs from many fields, as they are written there, each with the slip that is made there.
 * cases.cuh says how to read it. */
#include "cases.cuh"

/* ---- images ---- */
/* A pyramid, two levels in one block: the second reads what the first one wrote. */
template <bool fault> __global__ void pyramid(const float *image, float *out)
{
    __shared__ float half[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    const float *at = image + 2 * y * 32 + 2 * x;
    half[y][x] = (at[0] + at[1] + at[32] + at[33]) / 4; // OTHER
    if (!fault)
        __syncthreads();
    if (x < 8 && y < 8)
        out[y * 8 + x] = (half[2 * y][2 * x] + half[2 * y][2 * x + 1] + half[2 * y + 1][2 * x] + // EXPECT: race/* half
                          half[2 * y + 1][2 * x + 1]) / 4; // ALSO: race/*
}
CASE(pyramid, 0)
{
    pyramid<fault><<<1, dim3(16, 16)>>>(zeros<float>(1024), zeros<float>(64));
}

/* A bilateral grid: points are splatted on cells that several of them share. */
template <bool fault> __global__ void splat(const float *value, float *grid, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int cell = i / 3 + 8 * (int)(value[i] * 7);
    if (fault)
        grid[cell] += value[i]; // EXPECT: race/* *
    else
        atomicAdd(&grid[cell], value[i]);
}
CASE(splat, 0)
{
    splat<fault><<<2, 64>>>(zeros<float>(128), zeros<float>(128), 100);
}

/* ---- sets ---- */
/* Union-find: links by compare-and-swap, or by a plain store. */
template <bool fault> __global__ void unite(const int2 *edges, int *parent, int n)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    int a = edges[e].x, b = edges[e].y;
    for (;;) {
        while (true) {
            int p = *(volatile int *)&parent[a]; // ALSO: race/*
            if (p == a)
                break;
            a = p;
        }
        while (true) {
            int p = *(volatile int *)&parent[b]; // ALSO: race/*
            if (p == b)
                break;
            b = p;
        }
        if (a == b)
            break;
        int low = min(a, b), high = max(a, b);
        if (fault) {
            parent[high] = low; // EXPECT: race/* *
            break;
        }
        if (atomicCAS(&parent[high], high, low) == high)
            break;
    }
}
CASE(unite, 0)
{
    std::vector<int2> edges;
    std::vector<int> own;
    for (int i = 0; i < 128; i++) {
        edges.push_back(make_int2(i, (i * 7 + 3) % 64));
        own.push_back(i);
    }
    int2 *e = fresh<int2>(128);
    int *parent = fresh(128);
    cudaMemcpy(e, edges.data(), 128 * sizeof(int2), cudaMemcpyHostToDevice);
    cudaMemcpy(parent, own.data(), 128 * sizeof(int), cudaMemcpyHostToDevice);
    unite<fault><<<2, 64>>>(e, parent, 128);
}

/* A hash table in which erased places stay marked: a place is claimed by a swap, or looked at and taken. */
enum { EMPTY = 0, TOMB = -1 };
template <bool fault> __global__ void insert(const int *keys, int *table, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int key = keys[i] + i / 2 + 1; // most come twice
    for (unsigned at = (unsigned)key * 2654435761u;; at++) {
        int *place = &table[at % 512];
        if (fault) {
            int was = *place; // ALSO: race/*
            if (was == EMPTY || was == TOMB) {
                *place = key; // EXPECT: race/* *
                break;
            }
        } else {
            int was = atomicCAS(place, EMPTY, key);
            if (was == EMPTY || (was == TOMB && atomicCAS(place, TOMB, key) == TOMB))
                break;
        }
    }
}
CASE(insert, 0)
{
    int *table = fresh(512);
    cudaMemset(table, 0xff, 512 * sizeof(int));
    cudaMemset(table, 0, 256 * sizeof(int));
    insert<fault><<<4, 64>>>(zeros(256), table, 256);
}

/* ---- trees ---- */
/* A k-d tree's level: the points of a node are parted around its middle, counted by a scan of the block. */
template <bool fault> __global__ void part_points(const float *x, float *low_high, int n)
{
    __shared__ int sum[128];
    int t = threadIdx.x, below = t < n && x[t] < 0.5f;
    sum[t] = below;
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int add = t >= d ? sum[t - d] : 0;
        if (!fault)
            __syncthreads();
        sum[t] += add; // EXPECT: race/* sum
        __syncthreads();
    }
    int lows = sum[127], at = below ? sum[t] - 1 : lows + t - sum[t];
    if (t < n)
        low_high[at] = x[t]; // ALSO: race/*
}
CASE(part_points, 0)
{
    part_points<fault><<<1, 128>>>(zeros<float>(128), zeros<float>(256), 128);
}

/* Boxes of a tree from its leaves up: the second child that comes goes on, behind a fence. */
template <bool fault> __global__ void boxes(float *box, int *came, int leaves)
{
    int node = leaves - 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= 2 * leaves - 1)
        return;
    box[node] = node; // ALSO: race/*
    while (node) {
        node = (node - 1) / 2;
        if (!fault)
            __threadfence();
        if (!atomicAdd(&came[node], 1))
            return;
        if (!fault)
            __threadfence();
        box[node] = fmaxf(box[2 * node + 1], box[2 * node + 2]); // EXPECT: race/* *
    }
}
CASE(boxes, 0)
{
    boxes<fault><<<2, 64>>>(fresh<float>(255), zeros(127), 128);
}

/* ---- codes and sequences ---- */
/* LDPC, min-sum: checks write messages, variables read them. */
template <bool fault> __global__ void min_sum(const float *channel, const int *edge, float *total)
{
    __shared__ float message[128], belief[64];
    int t = threadIdx.x;
    if (t < 64)
        belief[t] = channel[t];
    __syncthreads();
    for (int round = 0; round < 3; round++) {
        int v = edge[t] & 63;
        message[t] = 0.75f * belief[v]; // EXPECT: race/* *
        __syncthreads();
        if (t < 64)
            belief[t] += message[2 * t] + message[2 * t + 1]; // ALSO: race/*
        if (!fault)
            __syncthreads(); // the next round reads the beliefs
    }
    __syncthreads();
    if (t < 64)
        total[t] = belief[t];
}
CASE(min_sum, 0)
{
    min_sum<fault><<<1, 128>>>(zeros<float>(64), zeros(128), zeros<float>(64));
}

/* Smith-Waterman along anti-diagonals, three of them in shared memory. */
template <bool fault> __global__ void align(const char *a, const char *b, int *best)
{
    __shared__ int row[3][65];
    int t = threadIdx.x + 1, most = 0;
    for (int k = t - 1; k < (fault ? 2 : 3) * 65; k += 64)
        row[k / 65][k % 65] = 0;
    __syncthreads();
    for (int d = 0; d < 40; d++) {
        int now = d % 3, last = (d + 2) % 3, before = (d + 1) % 3;
        int j = d - (t - 1), score = 0;
        if (j >= 0 && j < 40) {
            score = row[before][t - 1] + (a[t - 1] == b[j] ? 2 : -1); // EXPECT: init/shared row
            score = max(score, max(row[last][t], row[last][t - 1]) - 1); // ALSO: init/shared
        }
        row[now][t] = max(score, 0);
        most = max(most, score);
        __syncthreads();
    }
    best[t - 1] = most;
}
CASE(align, 0)
{
    align<fault><<<1, 64>>>(zeros<char>(64), zeros<char>(64), zeros(64));
}

/* Viterbi: survivors of a step go to the other half of a double buffer, or to the same. */
template <bool fault> __global__ void viterbi(const float *cost, float *out)
{
    __shared__ float metric[2][64];
    int s = threadIdx.x;
    metric[0][s] = cost[s];
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        int from = fault ? 0 : k & 1, to = fault ? 0 : 1 - from;
        float one = metric[from][s >> 1], other = metric[from][(s >> 1) + 32]; // OTHER
        metric[to][s] = fminf(one, other) + cost[s]; // EXPECT: race/* metric
        __syncthreads();
    }
    out[s] = metric[0][s];
}
CASE(viterbi, 0)
{
    viterbi<fault><<<1, 64>>>(zeros<float>(64), zeros<float>(64));
}

/* ---- queues and allocators ---- */
/* A ring between two blocks: one fills, one drains, told by counters behind fences. */
template <bool fault> __global__ void ring(int *slots, volatile int *head, volatile int *tail, int *out, int n)
{
    if (blockIdx.x == 0) {
        for (int i = 0; i < n; i++) {
            while (i - *tail >= 8)
                ;
            __threadfence();
            slots[i % 8] = i; // ALSO: race/*
            if (!fault)
                __threadfence();
            *head = i + 1;
        }
    } else {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            while (*head <= i)
                ;
            __threadfence();
            sum += slots[i % 8]; // EXPECT: race/* *
            __threadfence();
            *tail = i + 1;
        }
        *out = sum;
    }
}
CASE(ring, 0)
{
    ring<fault><<<2, 1>>>(zeros(8), zeros(1), zeros(1), zeros(1), 40);
}

/* A bump allocator, one atomic a warp: the leader's answer goes to the others by a shuffle. */
template <bool fault> __global__ void allocate(int *next, int *pool, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned wanting = __ballot_sync(~0u, i % 3 != 0);
    if (i % 3 == 0)
        return;
    int lane = threadIdx.x % 32, leader = __ffs(wanting) - 1, base = 0;
    if (lane == leader)
        base = atomicAdd(next, fault ? __popc(wanting) - 1 : __popc(wanting));
    base = __shfl_sync(wanting, base, leader);
    pool[base + __popc(wanting & ((1u << lane) - 1))] = i; // EXPECT: race/* *
}
CASE(allocate, 0)
{
    allocate<fault><<<2, 64>>>(zeros(1), zeros(256), 256);
}

/* A free list of blocks, taken from its end: the index that comes back may be below zero. */
template <bool fault> __global__ void take_free(int *count, const int *list, int *owner)
{
    int at = atomicSub(count, 1) - 1;
    if (!fault && at < 0)
        return;
    owner[list[at]] = threadIdx.x; // EXPECT: bounds/* *
    // ALSO: race/*
}
CASE(take_free, ALONE)
{
    int *count = fresh(1), *list = fresh(48), have = 48;
    std::vector<int> free_ones;
    for (int i = 0; i < 48; i++)
        free_ones.push_back(i);
    cudaMemcpy(count, &have, sizeof(have), cudaMemcpyHostToDevice);
    cudaMemcpy(list, free_ones.data(), 48 * sizeof(int), cudaMemcpyHostToDevice);
    take_free<fault><<<1, 64>>>(count, list, zeros(48));
}

/* ---- physics and algebra ---- */
/* Ising spins on a board of two colours: neighbours are of the other colour, unless the width is odd. */
template <bool fault> __global__ void flip(int *spin, int width, int colour)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, y = i / width, x = i % width, n = width * width;
    bool mine = fault ? (i & 1) == colour : ((x + y) & 1) == colour;
    if (i >= n || !mine)
        return;
    int around = spin[y * width + (x + 1) % width] + spin[(y + 1) % width * width + x]; // OTHER
    if (around == 0)
        spin[i] = 1; // EXPECT: race/* *
}
CASE(flip, 0)
{
    int *spin = zeros(256);
    flip<fault><<<2, 128>>>(spin, 16, 0);
    flip<fault><<<2, 128>>>(spin, 16, 1);
}

/* LU in one block's shared memory: all use the pivot's row, which its own threads scale. */
template <bool fault> __global__ void factor(float *matrix)
{
    __shared__ float m[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    m[y][x] = matrix[y * 16 + x] + (x == y ? 16 : 1);
    __syncthreads();
    for (int k = 0; k < 15; k++) {
        if (x == k && y > k)
            m[y][k] /= m[k][k];
        if (!fault)
            __syncthreads();
        if (x > k && y > k)
            m[y][x] -= m[y][k] * m[k][x]; // EXPECT: race/* m
        __syncthreads();
    }
    matrix[y * 16 + x] = m[y][x];
}
CASE(factor, 0)
{
    factor<fault><<<1, dim3(16, 16)>>>(zeros<float>(256));
}

/* Every solver has it: the norm of a block's part is used by all, before it is there. */
template <bool fault> __global__ void normalise(float *v)
{
    __shared__ float part[8], norm;
    int t = threadIdx.x, warp = t / 32;
    float s = v[blockIdx.x * 256 + t] + 1;
    s *= s;
    for (int d = 16; d; d /= 2)
        s += __shfl_down_sync(~0u, s, d);
    if (t % 32 == 0)
        part[warp] = s;
    __syncthreads();
    if (t == 0) {
        float sum = 0;
        for (int k = 0; k < 8; k++)
            sum += part[k];
        norm = sqrtf(sum); // ALSO: race/*
    }
    if (!fault)
        __syncthreads();
    v[blockIdx.x * 256 + t] /= norm; // EXPECT: race/* norm
}
CASE(normalise, 0)
{
    normalise<fault><<<2, 256>>>(zeros<float>(512));
}

/* Tile by tile shortest ways: the third phase needs what the second left in the pivot's row and column. */
template <bool fault> __global__ void pivot_row(int *d, int n, int k)
{
    __shared__ int tile[8][8], pivot[8][8];
    int x = threadIdx.x, y = threadIdx.y, b = blockIdx.x;
    pivot[y][x] = d[(k * 8 + y) * n + k * 8 + x];
    tile[y][x] = d[(k * 8 + y) * n + b * 8 + x];
    __syncthreads();
    for (int i = 0; i < 8; i++) {
        int by = pivot[y][i] + tile[i][x];
        if (!fault)
            __syncthreads();
        tile[y][x] = min(tile[y][x], by); // EXPECT: race/* tile
        __syncthreads();
    }
    if (b != k)
        d[(k * 8 + y) * n + b * 8 + x] = tile[y][x];
}
CASE(pivot_row, 0)
{
    pivot_row<fault><<<4, dim3(8, 8)>>>(zeros(32 * 32), 32, 1);
}
