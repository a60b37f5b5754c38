/* look_back.cuh - what tiles publish, and how a warp looks back over it: shared by the two rungs of a single pass.
 *
 * A tile's word holds state and value together in 64 bits, so that one access makes or sees it whole and no fence is
 * needed. The workspace is 0 before the kernel starts: nothing published, no ticket drawn. Its first words are the
 * tickets' counter.
 */
#ifndef MG_SCAN_LOOK_BACK_CUH
#define MG_SCAN_LOOK_BACK_CUH
#include "scan/scan_priv.h"

enum { SCAN_NOTHING = 0, SCAN_SUM = 1, SCAN_PREFIX = 2 }; /* in the upper half of a tile's word */

static __device__ inline uint32_t scan_bits(uint32_t v)
{
    return v;
}
static __device__ inline uint32_t scan_bits(float v)
{
    return __float_as_uint(v);
}
static __device__ inline void scan_from_bits(uint32_t bits, uint32_t &v)
{
    v = bits;
}
static __device__ inline void scan_from_bits(uint32_t bits, float &v)
{
    v = __uint_as_float(bits);
}

template <typename T> static __device__ inline void publish(uint64_t *word, uint32_t state, T value)
{
    uint64_t w = static_cast<uint64_t>(state) << 32 | scan_bits(value);
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(w) : "memory");
}
/* The word of a tile; tiles before the first know their prefix: nothing. */
static __device__ inline uint64_t look(const uint64_t *words, int64_t tile)
{
    uint64_t w = static_cast<uint64_t>(SCAN_PREFIX) << 32;
    if (tile >= 0)
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(w) : "l"(words + tile) : "memory");
    return w;
}

/* A whole warp: the sum of all that is before `tile`, in all lanes. A lane has LOOK words, 32 tiles apart. What was not
 * published yet is asked for again after DELAY nanoseconds: all tiles under way look at the same few lines of the
 * second-level cache, where requests queue up in front of those who publish. */
template <int LOOK, int DELAY, typename T> static __device__ inline T look_back(const uint64_t *words, int64_t tile)
{
    T prefix = T(0);
    int64_t at = tile - 1 - threadIdx.x % 32;
    for (;; at -= 32 * LOOK) {
        uint64_t w[LOOK];
#pragma unroll
        for (int k = 0; k < LOOK; k++)
            w[k] = look(words, at - 32 * k);
#pragma unroll
        for (int k = 0; k < LOOK; k++) {
            unsigned known, upto;
            for (;;) {
                uint32_t state = static_cast<uint32_t>(w[k] >> 32);
                known = __ballot_sync(0xffffffffu, state == SCAN_PREFIX);
                upto = known ? (known & -known) * 2 - 1 : 0xffffffffu; /* lanes up to the nearest prefix */
                if (!(__ballot_sync(0xffffffffu, state == SCAN_NOTHING) & upto))
                    break;
                if (DELAY)
                    __nanosleep(DELAY);
                if (state == SCAN_NOTHING)
                    w[k] = look(words, at - 32 * k);
            }
            T v;
            scan_from_bits(static_cast<uint32_t>(w[k]), v);
            if (!(upto >> threadIdx.x % 32 & 1))
                v = T(0);
            for (int d = 16; d > 0; d /= 2)
                v = __shfl_xor_sync(0xffffffffu, v, d) + v;
            prefix = v + prefix;
            if (known)
                return prefix;
        }
    }
}

/* One warp of the tile's block: publishes the tile's sum, which is its prefix, too, where nothing is before it. */
template <typename T> static __device__ inline void publish_sum(uint64_t *words, int64_t tile, T sum)
{
    if (threadIdx.x % 32 == 0)
        publish(words + tile, tile == 0 ? SCAN_PREFIX : SCAN_SUM, sum);
}
/* The same warp, later: finds what is before the tile, publishes the prefix up to its end. */
template <int LOOK, int DELAY, typename T>
static __device__ inline T look_back_and_publish(uint64_t *words, int64_t tile, T sum)
{
    if (tile == 0)
        return T(0);
    T prefix = look_back<LOOK, DELAY, T>(words, tile);
    if (threadIdx.x % 32 == 0)
        publish(words + tile, SCAN_PREFIX, prefix + sum);
    return prefix;
}

/* Clears what a kernel of `tiles` tiles publishes. */
static inline enum mg_kernels_status look_back_clear(void *workspace, int64_t tiles, cudaStream_t stream)
{
    return mg__kernels_status(cudaMemsetAsync(workspace, 0, static_cast<size_t>(tiles + 1) * 8, stream));
}

/* ---- the kernel of the rung "decoupled look-back", for any shape ---- */
template <typename T, bool ALIKE, int THREADS, int VECTORS, int LOOK, int DELAY>
static __global__ void __launch_bounds__(THREADS)
    scan_look_back_kernel(bool exclusive, int64_t n, int64_t phase, const T *x, T *y, unsigned *tickets,
                          uint64_t *words)
{
    constexpr int WARPS = THREADS / 32;
    __shared__ T warps[WARPS];
    __shared__ T shared_prefix;
    __shared__ unsigned ticket;
    if (threadIdx.x == 0)
        ticket = gridDim.x > 1 ? atomicAdd(tickets, 1u) : 0;
    __syncthreads();
    int64_t number = ticket, start = number * (THREADS * VECTORS * 4) - phase;
    scan_tile<T, THREADS, VECTORS> tile;
    tile.load(x, n, start);
    T sum = tile.sum();
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    T all = T(0);
    if (threadIdx.x < 32) {
        all = scan_total(threadIdx.x < WARPS ? warps[threadIdx.x] : T(0));
        if (gridDim.x > 1)
            publish_sum(words, number, all);
    }
    tile.scan(exclusive);
    T within = T(0);
    if (threadIdx.x < 32) {
        T prefix = T(0);
        if (gridDim.x > 1)
            prefix = look_back_and_publish<LOOK, DELAY>(words, number, all);
        if (threadIdx.x == 0)
            shared_prefix = prefix;
    } else {
        for (unsigned w = 0; w < threadIdx.x / 32; w++)
            within = within + warps[w];
    }
    __syncthreads();
    tile.template store<ALIKE>(y, n, start, shared_prefix + within);
}

template <typename T, bool ALIKE, int THREADS, int VECTORS, int LOOK, int DELAY>
static enum mg_kernels_status scan_look_back(const scan_call<T> &c)
{
    int64_t phase = scan_phase(c.x);
    unsigned tiles = mg__kernels_grid(c.n + phase, THREADS * VECTORS * 4, INT32_MAX);
    if (tiles > 1) {
        enum mg_kernels_status status = look_back_clear(c.workspace, tiles, c.stream);
        if (status)
            return status;
    }
    return mg__kernels_launch(scan_look_back_kernel<T, ALIKE, THREADS, VECTORS, LOOK, DELAY>, tiles, THREADS, 0,
                              c.stream, c.exclusive, c.n, phase, c.x, c.y, static_cast<unsigned *>(c.workspace),
                              static_cast<uint64_t *>(c.workspace) + 1);
}
#endif
