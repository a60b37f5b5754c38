/* idiom.cu - what CUDA programmers write with atomics, volatile and fences: right as they do it, wrong when a part is left
 * out. cases.cuh says how to read it. */
#include "cases.cuh"

/* ---- compare and swap ---- */
/* The first read may be out of date: the swap fails then, and gives the value that there is. */
template <bool fault> __global__ void sum_by_swap(double *sum)
{
    unsigned long long *word = (unsigned long long *)sum, old = *word, expected;
    do {
        expected = old;
        unsigned long long next = __double_as_longlong(1.0 + __longlong_as_double(expected));
        if (fault) {
            *word = next; // EXPECT: race/*
            break;
        }
        old = atomicCAS(word, expected, next);
    } while (old != expected);
}
/* The faulty ones run in one block: which threads differ hangs on luck where blocks that race are beside one another. */
CASE(sum_by_swap, 0)
{
    sum_by_swap<fault><<<fault ? 1 : 4, 64>>>(zeros<double>(1));
}

template <bool fault> __global__ void greatest_by_swap(const float *in, float *most)
{
    float mine = in[threadIdx.x] + threadIdx.x;
    int old = *(int *)most;
    while (__int_as_float(old) < mine) {
        int expected = old;
        if (fault) {
            *most = mine; // EXPECT: race/*
            break;
        }
        old = atomicCAS((int *)most, expected, __float_as_int(mine));
        if (old == expected)
            break;
    }
}
CASE(greatest_by_swap, 0)
{
    greatest_by_swap<fault><<<fault ? 1 : 2, 96>>>(zeros<float>(96), zeros<float>(1));
}

/* A byte in a word of four. */
template <bool fault> __global__ void byte_by_swap(unsigned *counts)
{
    unsigned shift = 8 * (threadIdx.x % 4), *word = counts + threadIdx.x % 2, old = *word, seen;
    do {
        seen = old;
        unsigned byte = ((seen >> shift) + 1) & 255, next = (seen & ~(255u << shift)) | byte << shift;
        if (fault) {
            *word = next; // EXPECT: race/*
            return;
        }
        old = atomicCAS(word, seen, next);
    } while (old != seen);
}
CASE(byte_by_swap, 0)
{
    byte_by_swap<fault><<<2, 64>>>(zeros<unsigned>(2));
}

/* ---- a look before the atomic ---- */
template <bool fault> __global__ void look_then_least(int *least, const int *in)
{
    int mine = in[threadIdx.x] + 1000 - (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (mine < *(volatile int *)least) {
        if (fault)
            *least = mine; // EXPECT: race/*
        else
            atomicMin(least, mine);
    }
}
CASE(look_then_least, 0)
{
    int *least = zeros(1);
    cudaMemset(least, 0x7f, 4);
    look_then_least<fault><<<3, 64>>>(least, zeros(64));
}

/* Without volatile too: the minimum decides again. */
template <bool fault> __global__ void relax_edges(int *distance)
{
    int e = (int)(blockIdx.x * blockDim.x + threadIdx.x), *to = distance + e * 7 % 16;
    if (fault || 1000 - e < *to) {
        if (fault)
            *to = 1000 - e; // EXPECT: race/*
        else
            atomicMin(to, 1000 - e);
    }
}
CASE(relax_edges, 0)
{
    int *distance = zeros(16);
    cudaMemset(distance, 0x7f, 16 * 4);
    relax_edges<fault><<<4, 64>>>(distance);
}

/* A slot is empty until a key takes it, or somebody empties it again. */
template <bool fault> __global__ void put_keys(const int *keys, int *table, int *counts)
{
    int key = keys[blockIdx.x * blockDim.x + threadIdx.x] + 1 + threadIdx.x % 8;
    for (unsigned at = key * 5;; at++) {
        int *slot = &table[at % 16], old = *slot; // ALSO: race/* *
        if (old == 0)
            old = atomicCAS(slot, 0, key); // ALSO: race/* *
        if (old == 0 || old == key) {
            atomicAdd(&counts[at % 16], 1);
            if (fault && at == 5)
                *slot = 0; // EXPECT: race/* *
            return;
        }
    }
}
CASE(put_keys, 0)
{
    put_keys<fault><<<4, 64>>>(zeros(256), zeros(16), zeros(16));
}

/* What is looked at and then used is more than a look: it may be old. */
template <bool fault> __global__ void least_and_next(int *least, int *next)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (fault)
        next[i] = *least + 1; // EXPECT: race/*
    // FIX: atomic_ref
    else
        next[i] = *(volatile int *)least + 1;
    atomicMin(least, 1000 - i);
}
CASE(least_and_next, 0)
{
    least_and_next<fault><<<3, 32>>>(zeros(1), zeros(96));
}

template <bool fault> __global__ void stop_when_found(int *found, const int *in, int *tried)
{
    for (int k = 0; k < 4 && *(volatile int *)found < 0; k++) {
        int at = k * 128 + blockIdx.x * 64 + threadIdx.x;
        atomicAdd(tried, 1);
        if (in[at] + at % 100 == 77) {
            if (fault)
                *found = at; // EXPECT: race/*
            else
                atomicMax(found, at);
        }
    }
}
CASE(stop_when_found, 0)
{
    int *found = zeros(1);
    cudaMemset(found, 0xff, 4);
    stop_when_found<fault><<<2, 64>>>(found, zeros(512), zeros(1));
}

/* ---- locks ---- */
template <bool fault> __global__ void tickets(unsigned *next, volatile unsigned *serving, int *value)
{
    if (threadIdx.x % 32)
        return;
    unsigned mine = atomicAdd(next, 1);
    while (*serving != mine) {
    }
    __threadfence();
    *value += 1; // EXPECT: race/*
    if (!fault)
        __threadfence();
    *serving = mine + 1;
}
CASE(tickets, 0)
{
    tickets<fault><<<2, 128>>>(zeros<unsigned>(1), zeros<unsigned>(1), zeros(1));
}

template <bool fault> __global__ void lock_of_lanes(int *lock, int *value)
{
    bool done = false;
    while (!done)
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *value += 1; // EXPECT: race/*
            if (!fault)
                __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
}
CASE(lock_of_lanes, 0)
{
    lock_of_lanes<fault><<<2, 64>>>(zeros(1), zeros(1));
}

template <bool fault> __global__ void lock_in_shared(int *out)
{
    __shared__ int lock, value;
    if (threadIdx.x == 0)
        lock = value = 0;
    __syncthreads();
    bool done = false;
    while (!done)
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();
            value = value + 2; // EXPECT: race/*
            if (!fault)
                __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    __syncthreads();
    if (threadIdx.x == 0)
        *out = value;
}
CASE(lock_in_shared, 0)
{
    lock_in_shared<fault><<<1, 96>>>(zeros(1));
}

/* Each lane has a lock of its own among several. */
template <bool fault> __global__ void many_locks(int *locks, volatile int *bins)
{
    int at = threadIdx.x % 5;
    for (bool done = false; !done;)
        if (atomicExch(&locks[at], 1) == 0) {
            __threadfence();
            bins[at] = bins[at] + 1; // EXPECT: race/*
            if (!fault)
                __threadfence();
            atomicExch(&locks[at], 0);
            done = true;
        }
}
CASE(many_locks, 0)
{
    many_locks<fault><<<2, 64>>>(zeros(5), zeros(5));
}

template <bool fault> __global__ void made_once(volatile int *made, int *lock, int *table, int *out)
{
    if (threadIdx.x)
        return;
    if (!*made) {
        while (atomicCAS(lock, 0, 1)) {
        }
        __threadfence();
        if (!*made) {
            *table = 42; // OTHER
            if (!fault)
                __threadfence();
            *made = 1;
        }
        if (!fault)
            __threadfence();
        atomicExch(lock, 0);
    }
    __threadfence();
    out[blockIdx.x] = *table; // EXPECT: race/*
}
CASE(made_once, 0)
{
    made_once<fault><<<4, 32>>>(zeros(1), zeros(1), zeros(1), zeros(4));
}

/* ---- order that comes by luck ---- */
/* A fence and an atomic on another address order nothing. */
template <bool fault> __global__ void unrelated_atomics(int *counts, int *out)
{
    __shared__ int box[32];
    int t = threadIdx.x;
    if (t < 32) {
        box[t] = t * 3; // OTHER
        __threadfence_block();
        atomicAdd(&counts[0], 1);
    } else {
        atomicAdd(&counts[1], 1);
    }
    if (!fault)
        __syncthreads();
    if (t >= 32)
        out[t] = box[63 - t]; // EXPECT: race/write-read box
}
CASE(unrelated_atomics, 0)
{
    unrelated_atomics<fault><<<1, 64>>>(zeros(2), zeros(64));
}

template <bool fault> __global__ void other_flag(int *out)
{
    __shared__ volatile int ready[2];
    __shared__ int box[2];
    int t = threadIdx.x;
    if (t < 2)
        ready[t] = box[t] = 0;
    __syncthreads();
    if (t % 32 == 0 && t < 64) {
        box[t / 32] = 40 + t; // OTHER
        __threadfence_block();
        ready[t / 32] = 1;
    }
    if (t == 64) {
        while (!ready[fault ? 0 : 1]) {
        }
        __threadfence_block();
        *out = box[1]; // EXPECT: race/write-read box
    }
}
CASE(other_flag, 0)
{
    other_flag<fault><<<1, 96>>>(zeros(1));
}

template <bool fault> __global__ void queue_of_another(int *heads, int *items, int *out)
{
    int t = threadIdx.x;
    if (t == 0) {
        items[0] = 7; // OTHER
        __threadfence();
        atomicAdd(&heads[0], 1);
    } else if (t == 32) {
        int *head = heads + (fault ? 1 : 0);
        while (atomicAdd(head, 0) == (fault ? 1 : 0)) {
        }
        __threadfence();
        *out = items[0]; // EXPECT: race/write-read
    }
}
CASE(queue_of_another, 0)
{
    queue_of_another<fault><<<1, 64>>>(zeros(2), zeros(1), zeros(1));
}

/* A round of a ring of warps: each takes from the one before it and publishes for the next. */
template <bool fault> __global__ void relay(int *out)
{
    __shared__ volatile int turn;
    __shared__ int sum;
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0)
        turn = sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (turn != warp) {
        }
        __threadfence_block();
        sum += warp; // EXPECT: race/*
        if (!fault)
            __threadfence_block();
        turn = warp + 1;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *out = sum;
}
CASE(relay, 0)
{
    relay<fault><<<1, 128>>>(zeros(1));
}

/* ---- helpers ---- */
struct Line {
    /* Turned around: what others have put there. */
    static __device__ __forceinline__ int behind(const int *s, int n);
};
template <bool fault> __global__ void by_a_helper(int *out)
{
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x; // OTHER
    if (!fault)
        __syncthreads();
    out[threadIdx.x] = Line::behind(s, 64); // CALL
}
__device__ __forceinline__ int Line::behind(const int *s, int n)
{
    return s[n - 1 - threadIdx.x]; // EXPECT: race/write-read s
    // FIX: between
}
CASE(by_a_helper, 0)
{
    by_a_helper<fault><<<1, 64>>>(zeros(64));
}

/* ---- by the letter ---- */
template <bool fault> __global__ void swap_by_the_letter(unsigned *most, const unsigned *in)
{
    unsigned mine = in[threadIdx.x] + threadIdx.x, old;
    if (fault)
        old = *most; // EXPECT: race/by-the-letter
    else
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(old) : "l"(most) : "memory");
    while (old < mine) {
        unsigned seen = atomicCAS(most, old, mine); // ALSO: race/by-the-letter
        if (seen == old)
            break;
        old = seen;
    }
}
CASE(swap_by_the_letter, ALONE | PEDANTIC)
{
    swap_by_the_letter<fault><<<2, 64>>>(zeros<unsigned>(1), zeros<unsigned>(64));
}

/* Sets are joined by atomics, and paths made shorter on the way: an older parent is a longer way, if the store is one. */
template <bool fault> __device__ int root_of(volatile int *parent, int of);
template <bool fault> __global__ void join_sets(int *parent, int n)
{
    int a = root_of<fault>(parent, blockIdx.x * blockDim.x + threadIdx.x);
    int b = root_of<fault>(parent, (blockIdx.x * blockDim.x + threadIdx.x) * 7 % n);
    while (a != b) {
        int high = max(a, b), low = min(a, b), was = atomicCAS(&parent[high], high, low); // ALSO: race/* *
        if (was == high)
            break;
        a = low;
        b = was;
    }
}
template <bool fault> __device__ int root_of(volatile int *parent, int of)
{
    int at = parent[of], before = of, next; // EXPECT: race/* *
    while (at != before && at > (next = parent[at])) { // ALSO: race/* *
        if (fault)
            ((int *)parent)[before] = next; // ALSO: race/* *
        else
            parent[before] = next;
        before = at;
        at = next;
    }
    return at;
}
CASE(join_sets, 0)
{
    int *parent = zeros(512), first[512];
    for (int i = 0; i < 512; i++)
        first[i] = i;
    cudaMemcpy(parent, first, sizeof first, cudaMemcpyHostToDevice);
    join_sets<fault><<<4, 128>>>(parent, 512);
}

/* Volatile makes no update whole, though its value decides. */
template <bool fault> __global__ void up_to_a_limit(int *count, int limit)
{
    volatile int *seen = count;
    int before = *seen; // ALSO: race/* *
    if (before >= limit)
        return;
    if (fault)
        *seen = before + 1; // EXPECT: race/*
    // FIX: atomic
    else
        atomicAdd(count, 1);
}
CASE(up_to_a_limit, 0)
{
    up_to_a_limit<fault><<<4, 64>>>(zeros(1), 1000);
}

/* What was read is compacted in place, to where blocks before have read, and said so by a flag. */
template <bool fault> __global__ void compact_in_place(int *data, volatile int *ends)
{
    __shared__ int s[32], to;
    int t = threadIdx.x, b = blockIdx.x;
    s[t] = data[b * 32 + t]; // ALSO: race/by-the-letter
    __syncthreads();
    if (t == 0) {
        int end = 0;
        if (b > 0) {
            while ((end = ends[b - 1]) == 0) {
            }
            if (!fault)
                __threadfence();
        }
        to = end;
        if (!fault)
            __threadfence();
        ends[b] = end + 16;
    }
    __syncthreads();
    if (t < 16)
        data[to + t] = s[2 * t]; // EXPECT: race/by-the-letter
}
CASE(compact_in_place, ALONE | PEDANTIC)
{
    compact_in_place<fault><<<6, 32>>>(zeros(192), zeros(6));
}

/* ---- hand-overs between blocks, by one thread for all of its block ---- */
/* Each block adds to what the one before it left. */
template <bool fault> __global__ void raised_alone(int *rows, volatile int *raised)
{
    const int b = blockIdx.x, i = threadIdx.x;
    if (b > 0) {
        if (i == 0)
            while (raised[b - 1] == 0) {
            }
        __threadfence();
        __syncthreads();
    }
    int mine = i;
    if (b > 0)
        mine += rows[(b - 1) * 128 + i]; // EXPECT: race/blocks-write-read
    rows[b * 128 + i] = mine; // OTHER
    if (!fault)
        __syncthreads();
    if (i == 127) {
        __threadfence();
        raised[b] = 1;
    }
}
CASE(raised_alone, 0)
{
    raised_alone<fault><<<4, 128>>>(zeros(512), zeros(4));
}

template <bool fault> __global__ void waited_for_alone(int *row, volatile int *raised, int *out)
{
    __shared__ int scale[128];
    const int b = blockIdx.x, i = threadIdx.x;
    if (b == 0)
        row[i] = i; // OTHER
    scale[i] = i + b;
    __syncthreads();
    if (i == 0 && b == 0) {
        __threadfence();
        *raised = 1;
    } else if (i == 0) {
        while (*raised == 0) {
        }
        __threadfence();
    }
    if (!fault)
        __syncthreads();
    if (b > 0)
        out[b * 128 + i] = row[i] * scale[127 - i]; // EXPECT: race/blocks-write-read
}
CASE(waited_for_alone, 0)
{
    waited_for_alone<fault><<<4, 128>>>(zeros(128), zeros(1), zeros(512));
}

/* A grid's barrier of one's own. */
template <bool fault> __global__ void barrier_of_one_thread(float *a, float *b, unsigned *came, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < 4; step++) {
        float *from = step % 2 ? b : a, *to = step % 2 ? a : b;
        to[i] = 0.5f * (from[i] + from[(i + 64) % n]); // EXPECT: race/blocks-*
        if (!fault)
            __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(came, 1);
            while (*(volatile unsigned *)came < (step + 1) * gridDim.x) {
            }
            __threadfence();
        }
        __syncthreads();
    }
}
CASE(barrier_of_one_thread, 0)
{
    barrier_of_one_thread<fault><<<4, 128>>>(zeros<float>(512), zeros<float>(512), zeros<unsigned>(1), 512);
}

/* Every warp for itself, and waited for all of them; the warp that comes last, told by a counter in shared memory. */
template <bool fault> __global__ void raised_by_warps(int *rows, unsigned *raised, volatile unsigned *last)
{
    __shared__ unsigned came;
    const int b = blockIdx.x, i = threadIdx.x;
    if (i == 0)
        came = 0;
    __syncthreads();
    if (b == 0) {
        rows[i] = i;
        __threadfence();
        __syncwarp();
        if (i % 32 == 0) {
            atomicAdd(raised, 1);
            if (atomicAdd(&came, 1) == (fault ? 2 : 3)) {
                __threadfence();
                *last = 1;
            }
        }
    } else {
        if (i == 0)
            while (b == 1 ? *(volatile unsigned *)raised < 4 : *last == 0) {
            }
        __threadfence();
        __syncthreads();
        rows[b * 128 + i] = rows[i] + 1; // EXPECT: race/blocks-write-read
    }
}
CASE(raised_by_warps, 0)
{
    raised_by_warps<fault><<<3, 128>>>(zeros(384), zeros<unsigned>(1), zeros<unsigned>(1));
}

/* So many accesses, and so many blocks, that a block's number is kept but in part. */
template <bool fault> __global__ void many_of_both(int *rows, volatile int *raised, int never)
{
    const int b = blockIdx.x, i = threadIdx.x;
    if (b > 0) {
        if (i == 0)
            while (raised[b - 1] == 0) {
            }
        __threadfence();
        __syncthreads();
    }
    int mine = i;
    if (b > 0)
        mine += rows[(b - 1) * 64 + i]; // EXPECT: race/blocks-write-read
    if (never)
#pragma unroll
        for (int k = 0; k < 300; k++)
            raised[k * never + i] = raised[k * never * 3 + mine] + k;
    rows[b * 64 + i] = mine; // OTHER
    __syncthreads();
    if (i == 63) {
        if (!fault)
            __threadfence();
        raised[b] = 1;
    }
}
CASE(many_of_both, 0)
{
    many_of_both<fault><<<4000, 64>>>(zeros(4000 * 64), zeros(4000), 0);
}
