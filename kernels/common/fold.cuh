/* fold.cuh - joining a sequence to one value: what reduce, square_sum and dot share, so that it is written once.
 *
 * A fold has a source (what element i is: x[i], x[i]*x[i], x[i]*y[i]) and a join (sum, min, max). Here are both, the
 * joining of a warp and of a block, the folds in several passes that the tree rungs are (each pass folds the results of
 * the one before), and two kernels: atomics on one word, and the stream at the end of each ladder.
 *
 * The model of the stream: device memory is the limit, so all that counts is bytes in flight. A thread asks for UNROLL
 * times 16 bytes before it uses the first; each of a vector's elements has an accumulator of its own, so that no
 * addition waits for the one before. What is left is the end: blocks must hand their results to one another, in the
 * same launch or in the next.
 *
 * Leaves out: results of more than one word, joins that do not commute. A join more: a struct with none(), empty() and
 * join(); a source more: a struct with at(), load(), nothing() and fold().
 */
#ifndef MG_FOLD_CUH
#define MG_FOLD_CUH
#include "common/kernels_priv.h"

#include <stdint.h>

/* ---- joins ----
 * none() joined with any v is v, to the last bit; empty() is the result of no elements. They differ for min and max of
 * floats: infinity would hide that all elements are NaN, NaN does not, because fmin and fmax leave NaN out. */
template <typename T> struct fold_sum {
    using value = T;
    static __host__ __device__ T none()
    {
        return T(0);
    }
    static T empty()
    {
        return T(0);
    }
    static __device__ T join(T a, T b)
    {
        return a + b;
    }
};
template <> __device__ inline int32_t fold_sum<int32_t>::join(int32_t a, int32_t b)
{
    return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)); /* wraps */
}

template <typename T> struct fold_limits;
template <> struct fold_limits<int32_t> {
    static constexpr int32_t least = INT32_MIN, most = INT32_MAX, none_of_min = INT32_MAX, none_of_max = INT32_MIN;
};
template <> struct fold_limits<float> {
    static constexpr float least = -__builtin_inff(), most = __builtin_inff(), none_of_min = __builtin_nanf(""),
                           none_of_max = __builtin_nanf("");
};
template <> struct fold_limits<double> {
    static constexpr double least = -__builtin_inf(), most = __builtin_inf(), none_of_min = __builtin_nan(""),
                            none_of_max = __builtin_nan("");
};
static __device__ inline int32_t fold_less(int32_t a, int32_t b)
{
    return min(a, b);
}
static __device__ inline float fold_less(float a, float b)
{
    return fminf(a, b);
}
static __device__ inline double fold_less(double a, double b)
{
    return fmin(a, b);
}
static __device__ inline int32_t fold_more(int32_t a, int32_t b)
{
    return max(a, b);
}
static __device__ inline float fold_more(float a, float b)
{
    return fmaxf(a, b);
}
static __device__ inline double fold_more(double a, double b)
{
    return fmax(a, b);
}
template <typename T> struct fold_min {
    using value = T;
    static __host__ __device__ T none()
    {
        return fold_limits<T>::none_of_min;
    }
    static T empty()
    {
        return fold_limits<T>::most;
    }
    static __device__ T join(T a, T b)
    {
        return fold_less(a, b);
    }
};
template <typename T> struct fold_max {
    using value = T;
    static __host__ __device__ T none()
    {
        return fold_limits<T>::none_of_max;
    }
    static T empty()
    {
        return fold_limits<T>::least;
    }
    static __device__ T join(T a, T b)
    {
        return fold_more(a, b);
    }
};

/* ---- sources ---- */
/* 16 bytes; `p` is aligned to them. Where they are not `wanted`, v stays: one instruction with a predicate, where the
 * compiler would make a branch for each. No hint to the caches, though nothing is read twice: the sum of 2^28 floats
 * took 354 us so, and 365 to 368 with L1::no_allocate, L2::256B, evict-first or .cs (H100, 2026-11-21). */
static __device__ inline void fold_read(const void *p, bool wanted, uint4 &v)
{
    asm volatile("{\n\t.reg .pred wanted;\n\t"
                 "setp.ne.u32 wanted, %5, 0;\n\t"
                 "@wanted ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];\n\t}"
                 : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w)
                 : "l"(p), "r"(static_cast<unsigned>(wanted)));
}
static __device__ inline void fold_unpack(uint4 v, int32_t (&e)[4])
{
    e[0] = static_cast<int32_t>(v.x), e[1] = static_cast<int32_t>(v.y);
    e[2] = static_cast<int32_t>(v.z), e[3] = static_cast<int32_t>(v.w);
}
static __device__ inline void fold_unpack(uint4 v, float (&e)[4])
{
    e[0] = __uint_as_float(v.x), e[1] = __uint_as_float(v.y);
    e[2] = __uint_as_float(v.z), e[3] = __uint_as_float(v.w);
}
static __device__ inline void fold_unpack(uint4 v, double (&e)[2])
{
    e[0] = __hiloint2double(static_cast<int>(v.y), static_cast<int>(v.x));
    e[1] = __hiloint2double(static_cast<int>(v.w), static_cast<int>(v.z));
}
static __device__ inline uint4 fold_pack(const int32_t (&e)[4])
{
    return make_uint4(static_cast<unsigned>(e[0]), static_cast<unsigned>(e[1]), static_cast<unsigned>(e[2]),
                      static_cast<unsigned>(e[3]));
}
static __device__ inline uint4 fold_pack(const float (&e)[4])
{
    return make_uint4(__float_as_uint(e[0]), __float_as_uint(e[1]), __float_as_uint(e[2]), __float_as_uint(e[3]));
}
static __device__ inline uint4 fold_pack(const double (&e)[2])
{
    return make_uint4(static_cast<unsigned>(__double2loint(e[0])), static_cast<unsigned>(__double2hiint(e[0])),
                      static_cast<unsigned>(__double2loint(e[1])), static_cast<unsigned>(__double2hiint(e[1])));
}
static __device__ inline int32_t fold_multiply(int32_t a, int32_t b)
{
    return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}
template <typename T> static __device__ inline T fold_multiply(T a, T b)
{
    return a * b;
}
/* acc + a * b: the compiler makes one instruction of it. */
template <typename T> static __device__ inline T fold_multiply_add(T a, T b, T acc)
{
    return fold_sum<T>::join(acc, fold_multiply(a, b));
}

/* Elements between x and the next address that is a multiple of 16. */
template <typename T> static inline int64_t fold_head(const T *x, int64_t n)
{
    int64_t head = static_cast<int64_t>((16 - reinterpret_cast<uintptr_t>(x) % 16) % 16 / sizeof(T));
    return head < n ? head : n;
}

/* More elements than memory can hold, and so that no count of bytes or blocks overflows. */
template <typename T> static inline int64_t fold_most()
{
    return INT64_MAX / 16 / static_cast<int64_t>(sizeof(T));
}
/* x is there if there is anything to read, is aligned as its type asks for, and the result is not one of its elements.
 */
template <typename T> static inline bool fold_pointers_are_good(int64_t n, const T *x, const T *result)
{
    uintptr_t from = reinterpret_cast<uintptr_t>(x), to = from + static_cast<uintptr_t>(n) * sizeof(T),
              at = reinterpret_cast<uintptr_t>(result);
    if (!result || at % sizeof(T) || (n && (!x || from % sizeof(T))))
        return false;
    return n == 0 || at + sizeof(T) <= from || at >= to;
}

/* A source has, for element i, at(i); and for vector v, which begins at element `head` + v * WIDTH, load(v) and fold().
 */
template <typename T> struct fold_plain {
    using value = T;
    using raw = uint4;
    static constexpr int WIDTH = 16 / sizeof(T);
    const T *x;
    const T *vectors; /* x + head */
    __device__ T at(int64_t i) const
    {
        return x[i];
    }
    __device__ void load(int64_t v, bool wanted, raw &r) const
    {
        fold_read(vectors + v * WIDTH, wanted, r);
    }
    template <class Join> static __device__ raw nothing()
    {
        T e[WIDTH];
        for (int k = 0; k < WIDTH; k++)
            e[k] = Join::none();
        return fold_pack(e);
    }
    template <class Join> static __device__ void fold(T (&acc)[WIDTH], raw r)
    {
        T e[WIDTH];
        fold_unpack(r, e);
        for (int k = 0; k < WIDTH; k++)
            acc[k] = Join::join(acc[k], e[k]);
    }
};
template <typename T> struct fold_square {
    using value = T;
    using raw = uint4;
    static constexpr int WIDTH = 16 / sizeof(T);
    const T *x;
    const T *vectors;
    __device__ T at(int64_t i) const
    {
        return fold_multiply(x[i], x[i]);
    }
    __device__ void load(int64_t v, bool wanted, raw &r) const
    {
        fold_read(vectors + v * WIDTH, wanted, r);
    }
    template <class Join> static __device__ raw nothing()
    {
        return make_uint4(0, 0, 0, 0);
    }
    template <class Join> static __device__ void fold(T (&acc)[WIDTH], raw r)
    {
        T e[WIDTH];
        fold_unpack(r, e);
        for (int k = 0; k < WIDTH; k++)
            acc[k] = fold_multiply_add(e[k], e[k], acc[k]);
    }
};
/* ALIKE: y is as far from a multiple of 16 bytes as x, so that both are read in vectors; else y is read by elements. */
template <typename T, bool ALIKE> struct fold_product {
    using value = T;
    struct raw {
        uint4 x, y;
    };
    static constexpr int WIDTH = 16 / sizeof(T);
    const T *x, *y;
    const T *vectors, *vectors_y; /* x + head, y + head */
    __device__ T at(int64_t i) const
    {
        return fold_multiply(x[i], y[i]);
    }
    __device__ void load(int64_t v, bool wanted, raw &r) const
    {
        fold_read(vectors + v * WIDTH, wanted, r.x);
        if (ALIKE) {
            fold_read(vectors_y + v * WIDTH, wanted, r.y);
        } else if (wanted) {
            T e[WIDTH];
            for (int k = 0; k < WIDTH; k++)
                e[k] = __ldg(vectors_y + v * WIDTH + k);
            r.y = fold_pack(e);
        }
    }
    template <class Join> static __device__ raw nothing()
    {
        return {make_uint4(0, 0, 0, 0), make_uint4(0, 0, 0, 0)};
    }
    template <class Join> static __device__ void fold(T (&acc)[WIDTH], raw r)
    {
        T a[WIDTH], b[WIDTH];
        fold_unpack(r.x, a);
        fold_unpack(r.y, b);
        for (int k = 0; k < WIDTH; k++)
            acc[k] = fold_multiply_add(a[k], b[k], acc[k]);
    }
};

/* ---- joining a warp, a block ---- */
/* The warp's values to lane 0: five exchanges between registers, no shared memory, no barrier. */
template <class Join> static __device__ inline typename Join::value fold_warp(typename Join::value v)
{
    for (int d = 16; d > 0; d /= 2)
        v = Join::join(v, __shfl_down_sync(0xffffffffu, v, d));
    return v;
}
/* The block's values to thread 0: each warp by itself, then the first warp what the warps left. May be called again
 * only past a barrier. */
template <class Join, int THREADS> static __device__ inline typename Join::value fold_block(typename Join::value v)
{
    constexpr int WARPS = THREADS / 32;
    static_assert(THREADS % 32 == 0 && WARPS <= 32, "whole warps, at most 32");
    __shared__ typename Join::value warps[WARPS];
    v = fold_warp<Join>(v);
    if (WARPS == 1)
        return v;
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < WARPS ? warps[threadIdx.x] : Join::none();
        for (int d = WARPS > 16 ? 16 : WARPS > 8 ? 8 : WARPS > 4 ? 4 : WARPS > 2 ? 2 : 1; d > 0; d /= 2)
            v = Join::join(v, __shfl_down_sync(0xffffffffu, v, d));
    }
    return v;
}

/* ---- a value to device memory: results of no elements, and where atomics begin ---- */
template <typename T> static __global__ void fold_set_kernel(T *result, T value)
{
    *result = value;
}
template <typename T> static enum mg_kernels_status fold_set(cudaStream_t stream, T *result, T value)
{
    return mg__kernels_launch(fold_set_kernel<T>, 1, 1, 0, stream, result, value);
}

/* ---- atomics on one word ---- */
static __device__ inline void fold_atomic(fold_sum<int32_t>, int32_t *p, int32_t v)
{
    atomicAdd(p, v);
}
static __device__ inline void fold_atomic(fold_min<int32_t>, int32_t *p, int32_t v)
{
    atomicMin(p, v);
}
static __device__ inline void fold_atomic(fold_max<int32_t>, int32_t *p, int32_t v)
{
    atomicMax(p, v);
}
static __device__ inline void fold_atomic(fold_sum<float>, float *p, float v)
{
    atomicAdd(p, v);
}
static __device__ inline void fold_atomic(fold_sum<double>, double *p, double v)
{
    atomicAdd(p, v);
}
/* No instruction takes the smaller of floats in memory: compare and swap, until the word holds what it should. */
template <class Join> static __device__ inline void fold_atomic(Join, float *p, float v)
{
    unsigned *word = reinterpret_cast<unsigned *>(p), old = atomicAdd(word, 0u), want;
    while ((want = __float_as_uint(Join::join(__uint_as_float(old), v))) != old) {
        unsigned seen = atomicCAS(word, old, want);
        if (seen == old)
            break;
        old = seen;
    }
}
template <class Join> static __device__ inline void fold_atomic(Join, double *p, double v)
{
    unsigned long long *word = reinterpret_cast<unsigned long long *>(p), old = atomicAdd(word, 0ull), want;
    while ((want = __double_as_longlong(Join::join(__longlong_as_double(old), v))) != old) {
        unsigned long long seen = atomicCAS(word, old, want);
        if (seen == old)
            break;
        old = seen;
    }
}

enum { FOLD_THREADS = 256 };
template <class Join, class Source>
static __global__ void __launch_bounds__(FOLD_THREADS)
    fold_atomics_kernel(Source source, int64_t n, typename Join::value *result)
{
    int64_t i = static_cast<int64_t>(blockIdx.x) * FOLD_THREADS + threadIdx.x;
    if (i < n)
        fold_atomic(Join(), result, source.at(i));
}
template <class Join, class Source>
static enum mg_kernels_status fold_atomics(cudaStream_t stream, Source source, int64_t n, typename Join::value *result)
{
    enum mg_kernels_status status = fold_set(stream, result, Join::none());
    if (status)
        return status;
    unsigned blocks = mg__kernels_grid(n, FOLD_THREADS, INT32_MAX); /* 2^39 elements: more than any memory holds */
    return mg__kernels_launch(fold_atomics_kernel<Join, Source>, blocks, FOLD_THREADS, 0, stream, source, n, result);
}

/* ---- folds in passes ----
 * A pass has a block for every `per_block` elements, which leaves one value; the next folds those, until one is left.
 * Pass has pass<Join>(stream, source, n, blocks, out). */
static inline int64_t fold_passes_scratch(int64_t n, int64_t per_block)
{
    int64_t sum = 0;
    while (n > per_block) {
        n = (n + per_block - 1) / per_block;
        sum += n;
    }
    return sum;
}
template <class Pass, class Join, class Source>
static enum mg_kernels_status fold_passes(cudaStream_t stream, Source source, int64_t n, typename Join::value *result,
                                          void *workspace)
{
    using T = typename Join::value;
    T *out = static_cast<T *>(workspace);
    int64_t blocks = mg__kernels_grid(n, Pass::PER_BLOCK, INT32_MAX);
    enum mg_kernels_status status =
        Pass::template pass<Join>(stream, source, n, static_cast<unsigned>(blocks), blocks == 1 ? result : out);
    while (!status && blocks > 1) {
        fold_plain<T> last = {out, nullptr};
        n = blocks;
        out += n;
        blocks = mg__kernels_grid(n, Pass::PER_BLOCK, INT32_MAX);
        status = Pass::template pass<Join>(stream, last, n, static_cast<unsigned>(blocks), blocks == 1 ? result : out);
    }
    return status;
}

/* The shared tree with sequential addressing: the upper half of the threads is added to the lower, so that the threads
 * that work are always neighbours, and whole warps drop out at once. */
template <class Join, class Source>
static __global__ void __launch_bounds__(FOLD_THREADS)
    fold_tree_kernel(Source source, int64_t n, typename Join::value *out)
{
    __shared__ typename Join::value tile[FOLD_THREADS];
    unsigned t = threadIdx.x;
    int64_t i = static_cast<int64_t>(blockIdx.x) * FOLD_THREADS + t;
    tile[t] = i < n ? source.at(i) : Join::none();
    __syncthreads();
    for (unsigned half = FOLD_THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            tile[t] = Join::join(tile[t], tile[t + half]);
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = tile[0];
}
struct fold_tree {
    static constexpr int64_t PER_BLOCK = FOLD_THREADS;
    template <class Join, class Source>
    static enum mg_kernels_status pass(cudaStream_t stream, Source source, int64_t n, unsigned blocks,
                                       typename Join::value *out)
    {
        return mg__kernels_launch(fold_tree_kernel<Join, Source>, blocks, FOLD_THREADS, 0, stream, source, n, out);
    }
};

/* ---- the stream ----
 * A block takes THREADS * UNROLL vectors, few enough that blocks come and go in the order of memory: what is read at
 * any moment lies within a few MB. (On an H100 blocks that stay were slower, whether each had a piece of the sequence
 * or all swept over it together.) There are at most FOLD_BLOCKS_MAX; beyond that a block takes several such tiles, one
 * after the other. It leaves one value. Elements in front of the first vector and behind the last are left to who folds
 * the blocks' values:
 *
 * FOLD_TICKET: one kernel. A block that has stored its value draws a ticket; the block that draws the last one folds
 * all values, in the order of the blocks, so that the result does not depend on who was last. The tickets' counter is
 * set to 0 by a memset in front. FOLD_DEPENDENT: two kernels, the second launched while the first runs (programmatic
 * dependent launch): it is resident and waits when the first ends. */
enum fold_end { FOLD_TICKET, FOLD_DEPENDENT };
enum { FOLD_BLOCKS_MAX = 65536, FOLD_PARTS_AT_ONCE = 8 };

/* What a stream reads: vectors v of the source, and the elements [0, head) and [tail, n), fewer than a vector each. */
struct fold_extent {
    int64_t vectors, tail, n;
    int head;
    unsigned tiles; /* a block's; the last one may not be whole */
};

template <class Join, class Source>
static __device__ inline typename Join::value fold_ends(const Source &source, const struct fold_extent &extent)
{
    typename Join::value v = Join::none();
    if (static_cast<int>(threadIdx.x) < extent.head)
        v = source.at(threadIdx.x);
    if (extent.tail + threadIdx.x < extent.n)
        v = Join::join(v, source.at(extent.tail + threadIdx.x));
    return v;
}

/* All values of the blocks, past the first-level cache, since other blocks wrote them; `parts` is aligned to 16 bytes.
 * Reads in whole vectors, FOLD_PARTS_AT_ONCE under way; what is left over is less than a vector. */
template <class Join, int THREADS>
static __device__ inline typename Join::value fold_parts(const typename Join::value *parts, unsigned count)
{
    using T = typename Join::value;
    constexpr unsigned WIDTH = 16 / sizeof(T);
    const uint4 *vectors = reinterpret_cast<const uint4 *>(parts);
    T all = Join::none();
    unsigned whole = count / WIDTH;
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < whole; i += FOLD_PARTS_AT_ONCE * THREADS) {
        uint4 raw[FOLD_PARTS_AT_ONCE];
#pragma unroll
        for (unsigned k = 0; k < FOLD_PARTS_AT_ONCE; k++) {
            raw[k] = fold_plain<T>::template nothing<Join>();
            if (i + k * THREADS < whole)
                raw[k] = __ldcg(vectors + i + k * THREADS);
        }
#pragma unroll
        for (unsigned k = 0; k < FOLD_PARTS_AT_ONCE; k++) {
            T e[WIDTH];
            fold_unpack(raw[k], e);
            for (unsigned w = 0; w < WIDTH; w++)
                all = Join::join(all, e[w]);
        }
    }
    if (whole * WIDTH + threadIdx.x < count)
        all = Join::join(all, __ldcg(parts + whole * WIDTH + threadIdx.x));
    return all;
}

template <class Join, class Source, int THREADS, int UNROLL, enum fold_end END>
static __global__ void __launch_bounds__(THREADS)
    fold_stream_kernel(Source source, struct fold_extent extent, typename Join::value *parts, unsigned *tickets,
                       typename Join::value *result)
{
    using T = typename Join::value;
    constexpr int WIDTH = Source::WIDTH;
    if (END == FOLD_DEPENDENT)
        asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    T acc[WIDTH];
    for (int k = 0; k < WIDTH; k++)
        acc[k] = Join::none();
    int64_t v = static_cast<int64_t>(blockIdx.x) * extent.tiles * (THREADS * UNROLL) + threadIdx.x;
    int64_t left = extent.vectors - v;
    int stop = static_cast<int>(left < INT32_MAX ? left : INT32_MAX); /* from v on; a block reads less than 2^31 */
#pragma unroll 1
    for (unsigned tile = 0; tile < extent.tiles; tile++, v += THREADS * UNROLL, stop -= THREADS * UNROLL) {
        typename Source::raw r[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) { /* whole tiles and the last one by the same few instructions */
            r[u] = Source::template nothing<Join>();
            source.load(v + u * THREADS, u * THREADS < stop, r[u]);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            Source::template fold<Join>(acc, r[u]);
    }
    for (int k = 1; k < WIDTH; k *= 2) /* pairs of neighbours, then of pairs */
        for (int j = 0; j + k < WIDTH; j += 2 * k)
            acc[j] = Join::join(acc[j], acc[j + k]);
    T block = fold_block<Join, THREADS>(acc[0]);
    if (END == FOLD_DEPENDENT) {
        if (threadIdx.x == 0)
            parts[blockIdx.x] = block;
        return;
    }
    __shared__ bool last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = block;
        unsigned ticket; /* releases this block's value, and acquires those of the blocks that drew before */
        asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(ticket) : "l"(tickets) : "memory");
        last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    T all = Join::join(fold_ends<Join>(source, extent), fold_parts<Join, THREADS>(parts, gridDim.x));
    all = fold_block<Join, THREADS>(all);
    if (threadIdx.x == 0)
        *result = all;
}

/* Folds the blocks' values. What it does while it waits is to fold the ends, which also brings its instructions to the
 * multiprocessor: the second round then runs without a miss. */
template <class Join, class Source, int THREADS>
static __global__ void __launch_bounds__(THREADS)
    fold_last_kernel(Source source, struct fold_extent extent, const typename Join::value *parts, unsigned count,
                     typename Join::value *result)
{
    typename Join::value ends = fold_ends<Join>(source, extent), all = ends;
#pragma unroll 1
    for (unsigned known = 0;; known = count) {
        all = Join::join(all, fold_parts<Join, THREADS>(parts, known));
        all = fold_block<Join, THREADS>(all);
        if (known == count)
            break;
        asm volatile("griddepcontrol.wait;" ::
                         : "memory"); /* until the first kernel has ended and its writes are seen */
        __syncthreads();
        all = ends;
    }
    if (threadIdx.x == 0)
        *result = all;
}

/* Launches `kernel` so that it may start before the kernel in front of it in the stream has ended. */
template <typename... Params, typename... Args>
static inline enum mg_kernels_status fold_launch_dependent(void (*kernel)(Params...), dim3 grid, dim3 block,
                                                           cudaStream_t stream, Args... args)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return mg__kernels_status(cudaLaunchKernelEx(&config, kernel, static_cast<Params>(args)...));
}

/* How many blocks there are, and tiles of each. */
static inline unsigned fold_blocks(int64_t vectors, int per_tile, unsigned &each)
{
    int64_t tiles = vectors / per_tile + (vectors % per_tile != 0);
    int64_t tiles_each = tiles / FOLD_BLOCKS_MAX + (tiles % FOLD_BLOCKS_MAX != 0);
    each = static_cast<unsigned>(tiles_each < 1 ? 1 : tiles_each);
    return mg__kernels_grid(tiles, each, FOLD_BLOCKS_MAX);
}

template <class Join, int THREADS, int UNROLL, enum fold_end END, class Source>
static enum mg_kernels_status fold_stream_shape(cudaStream_t stream, Source source, int64_t head, int64_t n,
                                                typename Join::value *result, void *workspace)
{
    using T = typename Join::value;
    struct fold_extent extent;
    extent.vectors = (n - head) / Source::WIDTH;
    extent.tail = head + extent.vectors * Source::WIDTH;
    extent.n = n;
    extent.head = static_cast<int>(head);
    unsigned blocks = fold_blocks(extent.vectors, THREADS * UNROLL, extent.tiles);
    unsigned *tickets = static_cast<unsigned *>(workspace);
    T *parts = reinterpret_cast<T *>(static_cast<char *>(workspace) + 256);
    if (END == FOLD_TICKET) {
        cudaError_t error = cudaMemsetAsync(tickets, 0, sizeof *tickets, stream);
        if (error != cudaSuccess)
            return mg__kernels_status(error);
    }
    enum mg_kernels_status status = mg__kernels_launch(fold_stream_kernel<Join, Source, THREADS, UNROLL, END>, blocks,
                                                       THREADS, 0, stream, source, extent, parts, tickets, result);
    if (END == FOLD_DEPENDENT && !status)
        status = fold_launch_dependent(fold_last_kernel<Join, Source, THREADS>, 1, THREADS, stream, source, extent,
                                       parts, blocks, result);
    return status;
}

/* The shapes, as measured on an H100: small blocks where there is one for each multiprocessor or two, else large ones.
 */
enum { FOLD_SMALL_THREADS = 256, FOLD_SMALL_LOADS = 4, FOLD_LARGE_THREADS = 1024, FOLD_LARGE_LOADS = 2 };
static constexpr int64_t FOLD_SMALL_BYTES = INT64_C(1) << 23;

template <class Join, enum fold_end END, class Source>
static enum mg_kernels_status fold_stream(cudaStream_t stream, Source source, int64_t head, int64_t n,
                                          typename Join::value *result, void *workspace)
{
    if (n * static_cast<int64_t>(sizeof(typename Join::value)) <= FOLD_SMALL_BYTES)
        return fold_stream_shape<Join, FOLD_SMALL_THREADS, FOLD_SMALL_LOADS, END>(stream, source, head, n, result,
                                                                                  workspace);
    return fold_stream_shape<Join, FOLD_LARGE_THREADS, FOLD_LARGE_LOADS, END>(stream, source, head, n, result,
                                                                              workspace);
}

/* The workspace of a stream over n elements: the counter, then a value a block, of the shape that has more. */
static inline size_t fold_stream_bytes(int64_t n, size_t element)
{
    int64_t vectors = n / static_cast<int64_t>(16 / element) + 1;
    int64_t blocks = vectors / (FOLD_SMALL_THREADS * FOLD_SMALL_LOADS) + 1;
    return 256 + static_cast<size_t>(blocks < FOLD_BLOCKS_MAX ? blocks : FOLD_BLOCKS_MAX) * element;
}
#endif
