/* systems.cu - queues, tables, allocators, pipelines: programs whose parts wait for one another. cases.cuh says how to read it. */
#include "cases.cuh"

/* ---- queues ---- */
/* Producer and consumer warps over a ring of four places. */
template <bool fault> __global__ void ring(int *out, int n)
{
    __shared__ volatile int slot[4], full[4];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x < 4)
        full[threadIdx.x] = 0;
    __syncthreads();
    if (lane)
        return;
    for (int k = 0; k < n; k++) {
        if (warp == 0) {
            while (full[k % 4]) {
            }
            __threadfence_block();
            slot[k % 4] = k * k; // OTHER
            if (!fault)
                __threadfence_block();
            full[k % 4] = 1;
        } else {
            while (!full[k % 4]) {
            }
            __threadfence_block();
            out[k] = slot[k % 4]; // EXPECT: race/* slot
            __threadfence_block();
            full[k % 4] = 0;
        }
    }
}
CASE(ring, 0)
{
    ring<fault><<<1, 64>>>(zeros(12), 12);
}

/* Work is taken from a counter; what was done is written where the counter said. */
template <bool fault> __global__ void take_work(int *next, int *done, int n)
{
    __shared__ int mine;
    for (;;) {
        if (threadIdx.x == 0)
            mine = atomicAdd(next, 1); // EXPECT: race/read-write mine
        __syncthreads(); // ALSO: barrier/*
        int item = mine; // OTHER
        if (!fault)
            __syncthreads();
        if (item >= n)
            break;
        done[item * 64 + threadIdx.x] = item;
    }
}
CASE(take_work, ALONE)
{
    take_work<fault><<<2, 64>>>(zeros(1), zeros(6 * 64), 6);
}

/* A list that blocks append to, as long as there is room. */
template <bool fault> __global__ void append(int *list, int *length, int room)
{
    int at = atomicAdd(length, 1);
    if (fault || at < room)
        list[at] = threadIdx.x; // EXPECT: bounds/out-of-allocation
}
CASE(append, ALONE)
{
    append<fault><<<2, 64>>>(zeros(96), zeros(1), 96);
}

/* The room that a warp takes at once: its first lane asks, and the others hear it through shared memory. */
template <bool fault> __global__ void append_by_warps(const int *in, int *list, int *length)
{
    __shared__ int base[4];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = in[threadIdx.x];
    unsigned wanted = __ballot_sync(~0u, x >= 0);
    if (lane == 0)
        base[warp] = atomicAdd(length, __popc(wanted)); // OTHER
    if (!fault)
        __syncwarp();
    list[base[warp] + __popc(wanted & ((1u << lane) - 1))] = x; // EXPECT: race/* base
    // ALSO: race/*
}
CASE(append_by_warps, 0)
{
    append_by_warps<fault><<<1, 128>>>(zeros(128), zeros(128), zeros(1));
}

/* ---- tables ---- */
/* A hash table with a lock a bucket. */
template <bool fault> __global__ void insert(const int *keys, int *locks, volatile int *table, volatile int *used)
{
    int key = keys[blockIdx.x] + blockIdx.x, bucket = key % 2;
    while (atomicCAS(&locks[bucket], 0, 1) != 0) {
    }
    __threadfence();
    int at = used[bucket]; // EXPECT: race/*
    table[bucket * 16 + at] = key; // ALSO: race/*
    used[bucket] = at + 1; // ALSO: race/*
    if (fault)
        *(volatile int *)&locks[bucket] = 0;
    else {
        __threadfence();
        atomicExch(&locks[bucket], 0);
    }
}
CASE(insert, 0)
{
    insert<fault><<<8, 1>>>(zeros(8), zeros(2), zeros(32), zeros(2));
}

/* Open addressing: the key by an atomic, the value beside it. */
template <bool fault> __global__ void look_up(int *keys, volatile int *values, const int *wanted, int *out)
{
    int key = wanted[threadIdx.x] + 1 + blockIdx.x * 0;
    int at = key % 64;
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            values[at] = 7; // OTHER
            if (!fault)
                __threadfence();
            atomicExch(&keys[at], key);
        }
    } else if (threadIdx.x == 0) {
        while (atomicAdd(&keys[at], 0) != key) {
        }
        __threadfence();
        out[0] = values[at]; // EXPECT: race/blocks-write-read
    }
}
CASE(look_up, 0)
{
    look_up<fault><<<2, 32>>>(zeros(64), zeros(64), zeros(32), zeros(1));
}

/* ---- waiting for others ---- */
/* A triangular system: each row waits for those before it. */
template <bool fault> __global__ void solve_rows(const float *l, volatile float *x, volatile int *ready, int n)
{
    int row = blockIdx.x;
    if (threadIdx.x)
        return;
    float sum = 1;
    for (int k = 0; k < row; k++) {
        while (!ready[k]) {
        }
        __threadfence();
        sum -= l[row * n + k] * x[k]; // EXPECT: race/blocks-write-read
    }
    x[row] = sum; // OTHER
    if (!fault)
        __threadfence();
    ready[row] = 1;
}
CASE(solve_rows, 0)
{
    solve_rows<fault><<<6, 32>>>(zeros<float>(36), zeros<float>(6), zeros(6), 6);
}

/* Blocks pass a sum along, each to the next. */
template <bool fault> __global__ void chained_scan(const int *in, int *out, volatile int *carry, volatile int *flags)
{
    __shared__ int s[64], before;
    int t = threadIdx.x, b = blockIdx.x;
    s[t] = in[b * 64 + t];
    for (int d = 1; d < 64; d *= 2) {
        __syncthreads();
        int add = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += add;
    }
    if (t == 63) {
        int from = 0;
        if (b > 0) {
            while (!flags[b - 1]) {
            }
            __threadfence();
            from = carry[b - 1]; // EXPECT: race/blocks-write-read
            // FIX: __threadfence()
        }
        carry[b] = from + s[63]; // OTHER
        if (!fault)
            __threadfence();
        flags[b] = 1;
        before = from;
    }
    __syncthreads();
    out[b * 64 + t] = before + s[t];
}
CASE(chained_scan, 0)
{
    chained_scan<fault><<<4, 64>>>(zeros(256), zeros(256), zeros(4), zeros(4));
}

/* Two rows of blocks, with a barrier of their own making between the halves. */
template <bool fault> __global__ void home_made_barrier(int *data, int *out, unsigned *arrived, unsigned expected)
{
    data[blockIdx.x * 32 + threadIdx.x] = threadIdx.x; // OTHER
    if (fault) {
        __syncthreads();
    } else {
        __threadfence();
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < expected) {
        }
        if (!fault)
            __threadfence();
    }
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = data[(gridDim.x - 1 - blockIdx.x) * 32 + threadIdx.x]; // EXPECT: race/blocks-write-read
}
CASE(home_made_barrier, 0)
{
    home_made_barrier<fault><<<4, 32>>>(zeros(128), zeros(128), zeros<unsigned>(1), 4);
}

/* A descriptor of a sum and a flag: the flag is waited for, the sum comes along. */
template <bool fault> __global__ void look_back(volatile unsigned long long *tile, int *out)
{
    if (threadIdx.x)
        return;
    unsigned before = 0;
    if (blockIdx.x > 0) {
        unsigned long long d;
        do
            d = tile[blockIdx.x - 1]; // EXPECT: race/torn
        while (!(d >> 32));
        before = (unsigned)d;
    }
    if (fault) {
        volatile unsigned *half = (volatile unsigned *)&tile[blockIdx.x];
        half[0] = before + blockIdx.x; // OTHER
        half[1] = 1;
    } else {
        tile[blockIdx.x] = 1ull << 32 | (before + blockIdx.x);
    }
    out[blockIdx.x] = before;
}
CASE(look_back, 0)
{
    look_back<fault><<<6, 32>>>(zeros<unsigned long long>(6), zeros(6));
}

/* ---- pipelines ---- */
/* Tiles come while the last one is worked on; at the end there is none behind. */
template <bool fault> __global__ void prefetch(const int *in, int *out, int tiles)
{
    __shared__ int tile[2][64];
    int t = threadIdx.x, sum = 0;
    unsigned at[2] = {(unsigned)__cvta_generic_to_shared(&tile[0][t]), (unsigned)__cvta_generic_to_shared(&tile[1][t])};
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at[0]), "l"(in + t) : "memory"); // ALSO: race/async-copy
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) {
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at[(k + 1) % 2]), "l"(in + (k + 1) * 64 + t) : "memory"); // ALSO: race/*
            asm volatile("cp.async.commit_group;" ::: "memory");
        }
        if (fault || k + 1 < tiles)
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        else
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        sum += tile[k % 2][63 - t]; // EXPECT: race/async-copy tile
        __syncthreads();
    }
    out[t] = sum;
}
CASE(prefetch, 0)
{
    prefetch<fault><<<1, 64>>>(zeros(256), zeros(64), 4);
}

/* Warps with jobs of their own, and a barrier of two of them. */
template <bool fault> __global__ void loader_and_adder(const int *in, int *out)
{
    __shared__ int tile[64];
    int t = threadIdx.x, warp = t / 32;
    if (warp < 2) {
        tile[t] = in[t]; // OTHER
        asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
        if (!fault)
            asm volatile("bar.sync 1, 128;" ::: "memory");
        else
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        out[t - 64] = tile[127 - t]; // EXPECT: race/write-read tile
    }
}
CASE(loader_and_adder, 0)
{
    loader_and_adder<fault><<<1, 128>>>(zeros(64), zeros(64));
}

/* Copies and kernels of two halves, each in its stream. */
template <bool fault> __global__ void double_it(const int *in, int *out)
{
    out[threadIdx.x] = 2 * in[threadIdx.x]; // EXPECT: race/streams
}
CASE(two_halves, ALONE)
{
    int *in = zeros(128), *out = zeros(128), *host;
    cudaStream_t s[2];
    cudaMallocHost((void **)&host, 512);
    memset(host, 0, 512);
    cudaDeviceSynchronize();
    for (int k = 0; k < 2; k++)
        cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking);
    for (int k = 0; k < 2; k++) {
        cudaMemcpyAsync(in + 64 * k, host + 64 * k, 256, cudaMemcpyHostToDevice, s[k]);
        double_it<fault><<<1, 64, 0, s[fault ? 1 - k : k]>>>(in + 64 * k, out + 64 * k);
    }
    cudaDeviceSynchronize();
    for (int k = 0; k < 2; k++)
        cudaStreamDestroy(s[k]);
    cudaFreeHost(host);
}

/* ---- room that is shared out ---- */
/* Two arrays in one piece of dynamic shared memory. */
template <bool fault> __global__ void two_arrays(const int *in, int *out, int n)
{
    extern __shared__ int room[];
    int *keys = room;
    short *ranks = (short *)(room + (fault ? n / 2 : n));
    int t = threadIdx.x;
    keys[t] = in[t]; // ALSO: race/*
    ranks[t] = (short)t; // EXPECT: race/*
    __syncthreads();
    out[t] = keys[n - 1 - t] + ranks[n - 1 - t];
}
CASE(two_arrays, 0)
{
    two_arrays<fault><<<1, 64, 64 * 6>>>(zeros(64), zeros(64), 64);
}

/* A pool of blocks of memory, given out by a counter. */
template <bool fault> __global__ void pool(int *room, int *given, int *out, int n)
{
    int *mine = room + atomicAdd(given, fault ? n - 1 : n), sum = 0;
    for (int k = 0; k < n; k++)
        mine[k] = k + threadIdx.x; // EXPECT: race/write-write
    for (int k = 0; k < n; k++)
        sum += mine[k]; // ALSO: race/*
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
CASE(pool, 0)
{
    pool<fault><<<1, 64>>>(zeros(64 * 4), zeros(1), zeros(64), 4);
}

/* A stack a thread, kept in local memory. */
template <bool fault> __global__ void walk_tree(const int *left, const int *right, int *visited)
{
    int stack[16], depth = 0, seen = 0;
    stack[depth++] = 0;
    while (depth > 0 && seen < 40) {
        int node = stack[--depth]; // ALSO: bounds/*
        seen++;
        if (left[node] && (fault || depth < 15))
            stack[depth++] = left[node]; // ALSO: bounds/*
        if (right[node] && (fault || depth < 15))
            stack[depth++] = right[node]; // EXPECT: bounds/out-of-variable
    }
    visited[threadIdx.x] = seen;
}
CASE(walk_tree, ALONE)
{
    int host[2][64], *left = fresh(64), *right = fresh(64);
    for (int i = 0; i < 64; i++) {
        host[0][i] = i < 60 ? i + 1 : 0;
        host[1][i] = i < 60 ? i + 1 : 0;
    }
    cudaMemcpy(left, host[0], 256, cudaMemcpyHostToDevice);
    cudaMemcpy(right, host[1], 256, cudaMemcpyHostToDevice);
    walk_tree<fault><<<1, 32>>>(left, right, zeros(32));
}

/* ---- coming together ---- */
/* Rows of different lengths, and a barrier for each step. */
template <bool fault> __global__ void ragged(const int *length, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x, steps = fault ? length[t] : 4, sum = 0;
    for (int k = 0; k < steps; k++) {
        s[t] = k; // ALSO: race/*
        __syncthreads(); // EXPECT: barrier/*
        sum += s[t ^ 1]; // ALSO: race/*
        __syncthreads(); // ALSO: barrier/*
    }
    out[t] = sum;
}
CASE(ragged, ALONE)
{
    int host[64], *length = fresh(64);
    for (int i = 0; i < 64; i++)
        host[i] = i < 32 ? 2 : 4;
    cudaMemcpy(length, host, 256, cudaMemcpyHostToDevice);
    ragged<fault><<<1, 64>>>(length, zeros(64));
}

/* Threads without work go home before the others meet. */
template <bool fault> __global__ void tail_goes_home(const int *in, int *out, int n)
{
    __shared__ int s[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (fault && i >= n)
        return;
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads(); // EXPECT: barrier/*
    if (i < n)
        out[i] = s[threadIdx.x] + s[threadIdx.x & ~1];
}
CASE(tail_goes_home, 0)
{
    tail_goes_home<fault><<<2, 64>>>(zeros(100), zeros(100), 100);
}

/* A vote in a branch that part of the warp takes. */
template <bool fault> __global__ void vote_in_branch(const int *in, int *out)
{
    int t = threadIdx.x, x = in[t] + t;
    unsigned all = __ballot_sync(~0u, x & 1);
    if (x & 1)
        out[t] = __any_sync(fault ? 0xffffffffu : all, x > 40); // EXPECT: barrier/mask
    __syncwarp(); // ALSO: barrier/mask
}
CASE(vote_in_branch, ALONE | HANGS)
{
    vote_in_branch<fault><<<1, 32>>>(zeros(32), zeros(32));
}

/* Three roles, and barriers of each two of them: nobody is the first to come. */
template <bool fault> __global__ void three_roles(int *out)
{
    int warp = threadIdx.x / 32;
    if (warp == 0) {
        asm volatile("bar.sync 1, 64;" ::: "memory"); // ALSO: barrier/not-reached
        asm volatile("bar.sync 3, 64;" ::: "memory");
    } else if (warp == 1) {
        if (fault)
            asm volatile("bar.sync 2, 64;" ::: "memory"); // EXPECT: barrier/not-reached
        asm volatile("bar.sync 1, 64;" ::: "memory");
        if (!fault)
            asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        if (fault)
            asm volatile("bar.sync 3, 64;" ::: "memory");
        asm volatile("bar.sync 2, 64;" ::: "memory");
        if (!fault)
            asm volatile("bar.sync 3, 64;" ::: "memory");
    }
    out[threadIdx.x] = warp;
}
CASE(three_roles, ALONE | HANGS)
{
    three_roles<fault><<<1, 96>>>(zeros(96));
}

/* A scan over the lanes that are left, from one that is not. */
template <bool fault> __global__ void short_scan(const int *in, int *out, int n)
{
    int t = threadIdx.x;
    if (t >= n)
        return;
    unsigned mask = __activemask();
    int x = in[t];
    int other = __shfl_sync(mask, x, fault ? n : n - 1); // EXPECT: barrier/shuffle-source
    out[t] = x + other;
}
CASE(short_scan, 0)
{
    short_scan<fault><<<1, 32>>>(zeros(32), zeros(32), 20);
}

/* ---- the reader of a lock's data who does not lock ---- */
template <bool fault> __global__ void sneak(int *lock, volatile int *pair, int *out)
{
    bool writer = blockIdx.x % 2 == 0;
    if (!fault || writer) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
    }
    if (writer) {
        pair[0] = pair[0] + 1; // ALSO: race/*
        pair[1] = pair[1] + 1; // ALSO: race/*
    } else {
        out[blockIdx.x] = pair[0] - pair[1]; // EXPECT: race/*
    }
    if (!fault || writer) {
        __threadfence();
        atomicExch(lock, 0);
    }
}
CASE(sneak, 0)
{
    sneak<fault><<<4, 1>>>(zeros(1), zeros(2), zeros(4));
}

/* Blocks that stay, and take work which any of them has put into a queue: who puts it there is seldom who takes it. */
struct Queue {
    int head, tail, open, ready[64], items[64];
};
template <bool fault> __global__ void work_off(Queue *q)
{
    __shared__ int task;
    for (;;) {
        if (threadIdx.x == 0) {
            int at = atomicAdd(&q->head, 0);
            task = -1;
            if (at < atomicAdd(&q->tail, 0) && atomicCAS(&q->head, at, at + 1) == at) {
                while (atomicAdd(&q->ready[at], 0) == 0) {
                }
                __threadfence();
                task = q->items[at]; // OTHER
            } else if (atomicAdd(&q->open, 0) == 0) {
                task = -2;
            }
        }
        __syncthreads();
        const int mine = task;
        __syncthreads();
        if (mine == -2)
            return;
        if (mine < 0)
            continue;
        if (threadIdx.x < 2 && mine > 1) {
            atomicAdd(&q->open, 1);
            int to = atomicAdd(&q->tail, 1);
            q->items[to] = mine - 1; // EXPECT: race/blocks-read-write
            if (!fault)
                __threadfence();
            atomicExch(&q->ready[to], 1);
        }
        __syncthreads();
        if (threadIdx.x == 0)
            atomicAdd(&q->open, -1);
    }
}
CASE(work_off, 0)
{
    Queue *q = zeros<Queue>(1), first = {};
    first.tail = first.open = first.ready[0] = 1;
    first.items[0] = 5;
    cudaMemcpy(q, &first, sizeof first, cudaMemcpyHostToDevice);
    work_off<fault><<<4, 32>>>(q);
}

/* Warps take their work by a counter, as long as there is some; what all of them look up the first one has loaded. */
template <bool fault> __global__ void taken_by_warps(const float *in, float *out, unsigned *next, unsigned n)
{
    __shared__ float table[32];
    __shared__ unsigned first[4];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp == 0)
        table[lane] = in[lane]; // OTHER
    if (!fault)
        __syncthreads();
    for (;;) {
        if (lane == 0)
            first[warp] = atomicAdd(next, 32);
        __syncwarp();
        unsigned at = first[warp];
        __syncwarp();
        if (at >= n)
            break;
        out[at + lane] = table[(at / 32 + lane * 7) % 32]; // EXPECT: race/write-read table
    }
}
CASE(taken_by_warps, 0)
{
    taken_by_warps<fault><<<1, 128>>>(zeros<float>(32), zeros<float>(1024), zeros<unsigned>(1), 1024);
}

/* The same from a counter of the block's. */
template <bool fault> __global__ void taken_in_the_block(const float *in, float *out, unsigned n)
{
    __shared__ float table[32];
    __shared__ unsigned next, first[4];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0)
        next = 0;
    __syncthreads();
    if (warp == 0)
        table[lane] = in[lane]; // OTHER
    if (!fault)
        __syncthreads();
    for (;;) {
        if (lane == 0)
            first[warp] = atomicAdd(&next, 32);
        __syncwarp();
        unsigned at = first[warp];
        __syncwarp();
        if (at >= n)
            break;
        out[at + lane] = table[(at / 32 + lane * 7) % 32]; // EXPECT: race/write-read table
    }
}
CASE(taken_in_the_block, 0)
{
    taken_in_the_block<fault><<<1, 128>>>(zeros<float>(32), zeros<float>(1024), 1024);
}
