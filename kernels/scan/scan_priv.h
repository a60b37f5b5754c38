/* scan_priv.h - what the rungs of scan are given, and what they share: passes over blocks' sums, and tiles in
 * registers.
 *
 * Nothing here subtracts. An exclusive prefix made as "inclusive less own" would lose bits, and turn what follows an
 * infinity into NaN. Integers are scanned as unsigned ones, which wrap.
 */
#ifndef MG_SCAN_PRIV_H
#define MG_SCAN_PRIV_H
#include "common/kernels_priv.h"

#include <stdint.h>

enum scan_rung {
#define RUNG(id, name, idea, gain) SCAN_##id,
#include "scan.def"
#undef RUNG
    SCAN_RUNGS
};

/* A call whose arguments are checked: n is at least 1, the workspace large enough. T is uint32_t or float. */
template <typename T> struct scan_call {
    cudaStream_t stream;
    bool exclusive;
    int64_t n;
    const T *x;
    T *y;
    void *workspace;
};
#define RUNG(id, name, idea, gain) template <typename T> enum mg_kernels_status mg__scan_##id(const scan_call<T> &call);
#include "scan.def"
#undef RUNG
#define SCAN_INSTANCES(id)                                                                \
    template enum mg_kernels_status mg__scan_##id<uint32_t>(const scan_call<uint32_t> &); \
    template enum mg_kernels_status mg__scan_##id<float>(const scan_call<float> &);

/* Elements a block, of the rungs that work by blocks; and of the tiles of the last two. */
enum {
    SCAN_THREADS = 256,
    SCAN_HILLIS_BLOCK = SCAN_THREADS,
    SCAN_BLELLOCH_BLOCK = 2 * SCAN_THREADS,
    SCAN_SHUFFLE_BLOCK = 4 * SCAN_THREADS,
    SCAN_VECTORS = 4, /* a thread's, of 4 elements */
    SCAN_TILE = SCAN_THREADS * SCAN_VECTORS * 4,
    SCAN_LOOK_THREADS = 512,
    SCAN_LOOK_VECTORS = 21, /* a block a multiprocessor: as much as its registers hold */
    SCAN_LOOK_TILE = SCAN_LOOK_THREADS * SCAN_LOOK_VECTORS * 4,
    SCAN_LOOK_SMALL_VECTORS = 8, /* where the others would not give every multiprocessor one */
    SCAN_LOOK_SMALL_TILE = SCAN_LOOK_THREADS * SCAN_LOOK_SMALL_VECTORS * 4,
    SCAN_LOOK_WORDS = 1, /* that a lane reads at a time when it looks back */
    SCAN_LOOK_DELAY = 0, /* nanoseconds between looks */
    SCAN_PIPE_THREADS = 1024,
    SCAN_PIPE_VECTORS = 8,
    SCAN_PIPE_BLOCKS = 1, /* a multiprocessor's: a tile of 128 KiB in registers, the next in shared memory */
    SCAN_PIPE_WORDS = 2,
    SCAN_PIPE_DELAY = 100,
    SCAN_PIPE_STREAMING = true, /* hints on stores */
    SCAN_PIPE_TILE = SCAN_PIPE_THREADS * SCAN_PIPE_VECTORS * 4
};

/* ---- passes: blocks scan by themselves, their sums are scanned in the same way, and added ----
 * Block has BLOCK, the elements of one, and scan<T>(stream, exclusive, n, x, y, sums, blocks). */
template <typename T>
static __global__ void __launch_bounds__(SCAN_THREADS) scan_add_kernel(int64_t n, int64_t block, T *y, const T *sums)
{
    int64_t i =
        block + static_cast<int64_t>(blockIdx.x) * SCAN_THREADS + threadIdx.x; /* the first block has none to add */
    if (i < n)
        y[i] = sums[i / block] + y[i];
}

static inline int64_t scan_passes_scratch(int64_t n, int64_t block)
{
    int64_t sum = 0;
    while (n > block) {
        n = (n + block - 1) / block;
        sum += n;
    }
    return sum;
}

template <class Block, typename T>
static enum mg_kernels_status scan_passes(cudaStream_t stream, bool exclusive, int64_t n, const T *x, T *y, T *sums)
{
    unsigned blocks = mg__kernels_grid(n, Block::BLOCK, INT32_MAX);
    enum mg_kernels_status status = Block::scan(stream, exclusive, n, x, y, sums, blocks);
    if (status || blocks == 1)
        return status;
    status = scan_passes<Block, T>(stream, true, blocks, sums, sums, sums + blocks);
    if (status)
        return status;
    unsigned adds = mg__kernels_grid(n - Block::BLOCK, SCAN_THREADS, INT32_MAX);
    return mg__kernels_launch(scan_add_kernel<T>, adds, SCAN_THREADS, 0, stream, n, static_cast<int64_t>(Block::BLOCK),
                              y, sums);
}

/* ---- Blelloch's tree ----
 * The block's 512 elements as the leaves. Up: every node becomes the sum of its two. The root is then 0, and down: the
 * left child gets its parent's prefix, the right child that and the left one's sum. PAD: a free word after every 32. */
template <bool PAD> static __device__ inline unsigned scan_place(unsigned i)
{
    return PAD ? i + i / 32 : i;
}
template <bool PAD, typename T>
static __global__ void __launch_bounds__(SCAN_THREADS)
    scan_blelloch_kernel(bool exclusive, int64_t n, const T *x, T *y, T *sums)
{
    constexpr unsigned LEAVES = SCAN_BLELLOCH_BLOCK;
    __shared__ T tree[LEAVES + (PAD ? LEAVES / 32 : 0)];
    unsigned t = threadIdx.x;
    int64_t first = static_cast<int64_t>(blockIdx.x) * LEAVES + t, second = first + SCAN_THREADS;
    T a = first < n ? x[first] : T(0), b = second < n ? x[second] : T(0);
    tree[scan_place<PAD>(t)] = a;
    tree[scan_place<PAD>(t + SCAN_THREADS)] = b;
    unsigned apart = 1;
    for (unsigned nodes = LEAVES / 2; nodes > 0; nodes /= 2, apart *= 2) {
        __syncthreads();
        if (t < nodes)
            tree[scan_place<PAD>(apart * (2 * t + 2) - 1)] += tree[scan_place<PAD>(apart * (2 * t + 1) - 1)];
    }
    if (t == 0) { /* the thread that made the root */
        if (gridDim.x > 1)
            sums[blockIdx.x] = tree[scan_place<PAD>(LEAVES - 1)];
        tree[scan_place<PAD>(LEAVES - 1)] = T(0);
    }
    for (unsigned nodes = 1; nodes < LEAVES; nodes *= 2) {
        apart /= 2;
        __syncthreads();
        if (t < nodes) {
            T *left = &tree[scan_place<PAD>(apart * (2 * t + 1) - 1)],
              *right = &tree[scan_place<PAD>(apart * (2 * t + 2) - 1)];
            T sum = *left;
            *left = *right;
            *right = *right + sum;
        }
    }
    __syncthreads();
    T p = tree[scan_place<PAD>(t)], q = tree[scan_place<PAD>(t + SCAN_THREADS)];
    if (first < n)
        y[first] = exclusive ? p : p + a;
    if (second < n)
        y[second] = exclusive ? q : q + b;
}
template <bool PAD> struct scan_blelloch {
    static constexpr int64_t BLOCK = SCAN_BLELLOCH_BLOCK;
    template <typename T>
    static enum mg_kernels_status scan(cudaStream_t stream, bool exclusive, int64_t n, const T *x, T *y, T *sums,
                                       unsigned blocks)
    {
        return mg__kernels_launch(scan_blelloch_kernel<PAD, T>, blocks, SCAN_THREADS, 0, stream, exclusive, n, x, y,
                                  sums);
    }
};

/* ---- warps ---- */
template <typename T> static __device__ inline T scan_warp(T v) /* inclusive */
{
    unsigned lane = threadIdx.x % 32;
    for (unsigned d = 1; d < 32; d *= 2) {
        T before = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d)
            v = before + v;
    }
    return v;
}

template <typename T> static __device__ inline T scan_total(T v) /* the warp's sum, in all lanes */
{
    for (int d = 16; d > 0; d /= 2)
        v = v + __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

/* ---- tiles in registers ----
 * A warp has VECTORS rows of 128 elements that follow one another; in a row, lane l has the elements 4l to 4l+3, so
 * that every access is 16 bytes a lane and 512 bytes a warp without gaps, and shared memory is not needed to turn the
 * data round. Tiles are counted from the last multiple of 16 bytes at or before x: the first may begin `phase` elements
 * early. */
static __device__ inline uint4 scan_read(const void *p)
{
    uint4 v; /* not through the read-only path: x may be y */
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}
static __device__ inline void scan_unpack(uint4 v, uint32_t *e)
{
    e[0] = v.x, e[1] = v.y, e[2] = v.z, e[3] = v.w;
}
static __device__ inline void scan_unpack(uint4 v, float *e)
{
    e[0] = __uint_as_float(v.x), e[1] = __uint_as_float(v.y);
    e[2] = __uint_as_float(v.z), e[3] = __uint_as_float(v.w);
}
static __device__ inline uint4 scan_pack(const uint32_t *e)
{
    return make_uint4(e[0], e[1], e[2], e[3]);
}
static __device__ inline uint4 scan_pack(const float *e)
{
    return make_uint4(__float_as_uint(e[0]), __float_as_uint(e[1]), __float_as_uint(e[2]), __float_as_uint(e[3]));
}
/* STREAMING: the second-level cache is told that the line is not needed any more. */
template <bool STREAMING, typename T> static __device__ inline void scan_write(T *p, const T *e)
{
    if (STREAMING)
        __stcs(reinterpret_cast<uint4 *>(p), scan_pack(e));
    else
        *reinterpret_cast<uint4 *>(p) = scan_pack(e);
}

template <typename T, int THREADS, int VECTORS> struct scan_tile {
    static constexpr int ELEMENTS = THREADS * VECTORS * 4, WARPS = THREADS / 32;
    T e[VECTORS][4]; /* as read; after scan(), prefixes within the warp's part */
    int64_t at;      /* of this lane's first element; row r begins 128 r further */

    __device__ void place(int64_t start)
    {
        at = start + (threadIdx.x / 32) * (VECTORS * 128) + threadIdx.x % 32 * 4;
    }
    __device__ void load(const T *x, int64_t n, int64_t start)
    {
        place(start);
        if (start >= 0 && start + ELEMENTS <= n) {
            uint4 raw[VECTORS];
#pragma unroll
            for (int r = 0; r < VECTORS; r++)
                raw[r] = scan_read(x + at + r * 128);
#pragma unroll
            for (int r = 0; r < VECTORS; r++)
                scan_unpack(raw[r], e[r]);
        } else {
#pragma unroll
            for (int r = 0; r < VECTORS; r++)
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    int64_t i = at + r * 128 + k;
                    e[r][k] = i >= 0 && i < n ? x[i] : T(0);
                }
        }
    }
    /* The sum of the warp's part, in all lanes; before scan(). */
    __device__ T sum() const
    {
        T all = T(0);
#pragma unroll
        for (int r = 0; r < VECTORS; r++)
            all = all + ((e[r][0] + e[r][1]) + (e[r][2] + e[r][3]));
        return scan_total(all);
    }
    /* Scans the warp's part in place, which leaves no more in registers than the elements took; returns its sum, in all
     * lanes. */
    __device__ T scan(bool exclusive)
    {
        T sum[VECTORS];
#pragma unroll
        for (int r = 0; r < VECTORS; r++) {
            e[r][1] = e[r][0] + e[r][1];
            e[r][2] = e[r][1] + e[r][2];
            e[r][3] = e[r][2] + e[r][3];
            sum[r] = e[r][3];
        }
#pragma unroll
        for (int r = 0; r < VECTORS; r++)
            sum[r] = scan_warp(sum[r]);
        T carry = T(0);
#pragma unroll
        for (int r = 0; r < VECTORS; r++) {
            T own = __shfl_up_sync(0xffffffffu, sum[r], 1), before = threadIdx.x % 32 ? carry + own : carry;
            carry = carry + __shfl_sync(0xffffffffu, sum[r], 31);
            if (exclusive)
                e[r][3] = before + e[r][2], e[r][2] = before + e[r][1], e[r][1] = before + e[r][0], e[r][0] = before;
            else
                e[r][0] = before + e[r][0], e[r][1] = before + e[r][1], e[r][2] = before + e[r][2],
                e[r][3] = before + e[r][3];
        }
        return carry;
    }
    /* Writes the prefixes, `prefix` being what is before the warp's part. ALIKE: y is as far from 16 bytes as x. */
    template <bool ALIKE, bool STREAMING = true> __device__ void store(T *y, int64_t n, int64_t start, T prefix)
    {
        bool whole = start >= 0 && start + ELEMENTS <= n;
#pragma unroll
        for (int r = 0; r < VECTORS; r++) {
            T out[4] = {prefix + e[r][0], prefix + e[r][1], prefix + e[r][2], prefix + e[r][3]};
            if (ALIKE && whole) {
                scan_write<STREAMING>(y + at + r * 128, out);
            } else {
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    int64_t i = at + r * 128 + k;
                    if (i >= 0 && i < n)
                        y[i] = out[k];
                }
            }
        }
    }
};

/* Elements from the last multiple of 16 bytes to p. */
static inline int64_t scan_phase(const void *p)
{
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(p) % 16 / 4);
}
#endif
