/* pipeline.cuh - the asynchronous kernel of rungs 11 and 12, for any tile.
 *
 * A block computes BM x BN elements of C in steps of BK along k. Asynchronous copies (cp.async) bring the tiles straight
 * into a ring of STAGES buffers in shared memory, without passing through registers. The buffers lie in dynamic shared
 * memory, each A then B:
 *
 *   A[BK][BM + 4]  transposed on the way: copies of 4 bytes, a warp's covering 8 columns of 4 rows. Those are whole sectors
 *                  in global memory, and the 4 words of padding put the 32 words into 32 banks.
 *   B[BK][BN]      as it lies in memory: copies of 16 bytes (of 4 where B is not so aligned).
 *
 * A warp computes 4*TM x 8*TN elements, laid out as in rung 10: groups of 4x4, so that each 128-bit load of a fragment is
 * two wavefronts. While the products of one k run, the fragments of the next k are loaded into a second set of registers;
 * across the end of a step too, which is why the barrier stands before the last k of a step and not after it. The one
 * barrier a step does two things: all see the next buffer (each thread has waited for its own copies), and none reads
 * the buffer any more that the next copies overwrite.
 *
 * SPLIT groups of warps share the tile: group s takes the k of its share of every step, and the sums are added through
 * shared memory in the end, in a fixed order. So a tile that is small, for a small C, has warps enough to hide latency.
 *
 * EXACT is for k a multiple of BK, n of 4, and B and C aligned to 16 bytes by rows. Otherwise what lies beyond k is filled
 * with zeros, in both tiles, so that no infinity outside meets a zero inside. Rows beyond m and columns beyond n are read
 * again from the last inside and never stored: in the loop nobody asks for the edge.
 */
#ifndef MG_GEMM_PIPELINE_CUH
#define MG_GEMM_PIPELINE_CUH
#include "gemm/gemm_priv.h"

template <int BM_, int BN_, int BK_, int TM_, int TN_, int SPLIT_, int STAGES_, int BLOCKS_> struct gemm_shape {
    static constexpr int BM = BM_, BN = BN_, BK = BK_, TM = TM_, TN = TN_, SPLIT = SPLIT_, STAGES = STAGES_;
    static constexpr int BLOCKS = BLOCKS_; /* that a multiprocessor shall hold */
    static constexpr int WARPS_N = BN / (8 * TN), WARPS_M = BM / (4 * TM);
    static constexpr int GROUP = WARPS_M * WARPS_N * 32, THREADS = GROUP * SPLIT;
    static constexpr int SHARE = BK / SPLIT; /* of a step, a group's */
    static constexpr int PITCH_A = BM + 4, STAGE_A = BK * PITCH_A, STAGE = STAGE_A + BK * BN; /* floats */
    static constexpr int RING = STAGES * STAGE * 4, SUMS = (SPLIT - 1) * BM * BN * 4;
    static constexpr int SHARED = RING > SUMS ? RING : SUMS;
    static_assert(BM % (4 * TM) == 0 && BN % (8 * TN) == 0, "warps tile the block's tile");
    static_assert(TM % 4 == 0 && TN % 4 == 0 && TM % SPLIT == 0, "groups of 4x4, and each share of k has rows to finish");
    static_assert(BK % (8 * SPLIT) == 0, "copies of A take 8 columns, and a share is an even number of k");
    static_assert(THREADS <= 1024 && SHARED <= 227 * 1024, "what a block may have");
};

/* `bytes` of 4 or 16 to shared memory; with `valid` false zeros, and `from` is not read. */
template <int BYTES> __device__ static inline void gemm_copy(uint32_t to, const float *from)
{
    if (BYTES == 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
    else
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ static inline void gemm_copy_or_zero(uint32_t to, const float *from, bool valid)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(valid ? 4 : 0) : "memory");
}
__device__ static inline void gemm_copies_end_group()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int PENDING> __device__ static inline void gemm_copies_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* The copies that one thread makes for a step: where from, where to, and on to the next. */
template <class S, bool EXACT> struct gemm_copier {
    static constexpr int ROWS_A = S::THREADS / 8, ROWS_EACH = S::BM / ROWS_A; /* all threads cover 8 columns of ROWS_A rows */
    static constexpr int QUADS = S::BN / 4, ROWS_B = S::THREADS / QUADS;       /* and ROWS_B whole rows of B */
    static_assert(S::BM % ROWS_A == 0 && S::THREADS % QUADS == 0 && S::BK % ROWS_B == 0, "copies come out even");

    const float *a[ROWS_EACH], *b;
    int64_t step_b, row_b; /* a step's and ROWS_B rows' distance in B */
    uint32_t to_a, to_b;
    int64_t left; /* of k, at this step */
    int k_a, k_b, cols;

    __device__ gemm_copier(const gemm_args &g, uint32_t ring, int64_t row0, int64_t col0)
    {
        int t = threadIdx.x;
        k_a = t % 8;
        int row = t / 8;
#pragma unroll
        for (int i = 0; i < ROWS_EACH; i++) {
            int64_t r = row0 + row + i * ROWS_A;
            a[i] = g.a + (r < g.m ? r : g.m - 1) * g.lda + k_a;
        }
        to_a = ring + (k_a * S::PITCH_A + row) * 4;
        k_b = t / QUADS;
        int64_t col = col0 + t % QUADS * 4;
        cols = g.n - col < 4 ? static_cast<int>(g.n - col) : 4; /* of its four that there are; none: 0 or less */
        if (cols <= 0)
            col = g.n - 1;
        b = g.b + k_b * g.ldb + (EXACT && cols <= 0 ? 0 : col);
        to_b = ring + (S::STAGE_A + k_b * S::BN + t % QUADS * 4) * 4;
        row_b = ROWS_B * g.ldb;
        step_b = S::BK * g.ldb;
        left = g.k;
    }
    /* Past the end of k nothing is copied; the group of copies is then empty. */
    __device__ void step(int buffer) /* where it begins, in floats */
    {
        uint32_t at_a = to_a + buffer * 4, at_b = to_b + buffer * 4;
        if (EXACT ? left > 0 : true) {
#pragma unroll
            for (int i = 0; i < ROWS_EACH; i++)
#pragma unroll
                for (int j = 0; j < S::BK / 8; j++) {
                    uint32_t to = at_a + (j * 8 * S::PITCH_A + i * ROWS_A) * 4;
                    if (EXACT)
                        gemm_copy<4>(to, a[i] + j * 8);
                    else
                        gemm_copy_or_zero(to, a[i] + j * 8, k_a + j * 8 < left);
                }
#pragma unroll
            for (int i = 0; i < S::BK / ROWS_B; i++) {
                uint32_t to = at_b + i * ROWS_B * S::BN * 4;
                const float *from = b + i * row_b;
                if (EXACT) {
                    gemm_copy<16>(to, from);
                } else {
                    bool valid = k_b + i * ROWS_B < left;
#pragma unroll
                    for (int q = 0; q < 4; q++)
                        gemm_copy_or_zero(to + q * 4, from + (q < cols ? q : 0), valid);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < ROWS_EACH; i++)
            a[i] += S::BK;
        b += step_b;
        left -= S::BK;
    }
};

template <int COUNT, int STRIDE> __device__ static inline void gemm_fragment(float (&to)[COUNT], const float *from)
{
#pragma unroll
    for (int i = 0; i < COUNT; i += 4)
        *reinterpret_cast<float4 *>(to + i) = gemm_load4(from + i / 4 * STRIDE);
}

template <class S, bool EXACT> static __global__ __launch_bounds__(S::THREADS, S::BLOCKS) void gemm_pipeline(gemm_args g)
{
    extern __shared__ __align__(16) float ring[];
    int t = threadIdx.x, lane = t % 32, warp = t / 32 % (S::GROUP / 32), share = t / S::GROUP;
    int y = (lane >> 1 & 1) | (lane >> 3 & 2), x = (lane & 1) | (lane >> 1 & 6);
    int row = warp / S::WARPS_N * (4 * S::TM) + y * 4, col = warp % S::WARPS_N * (8 * S::TN) + x * 4;

    /* Blocks that run together take neighbouring tiles: 8 rows of tiles, column by column, then the next 8. */
    int64_t tiles_m = (g.m + S::BM - 1) / S::BM, tiles_n = (g.n + S::BN - 1) / S::BN;
    int64_t band = blockIdx.x / (8 * tiles_n), in_band = blockIdx.x % (8 * tiles_n);
    int64_t height = tiles_m - band * 8 < 8 ? tiles_m - band * 8 : 8;
    int64_t row0 = (band * 8 + in_band % height) * S::BM, col0 = in_band / height * S::BN;

    gemm_copier<S, EXACT> copier(g, static_cast<uint32_t>(__cvta_generic_to_shared(ring)), row0, col0);
#pragma unroll
    for (int s = 0; s < S::STAGES - 1; s++) {
        copier.step(s * S::STAGE);
        gemm_copies_end_group();
    }
    float sum[S::TM][S::TN] = {}, a[2][S::TM], b[2][S::TN];
    const float *from_a = ring + share * S::SHARE * S::PITCH_A + row;
    const float *from_b = ring + S::STAGE_A + share * S::SHARE * S::BN + col;
    gemm_copies_wait<S::STAGES - 2>();
    __syncthreads();
    gemm_fragment<S::TM, 16>(a[0], from_a);
    gemm_fragment<S::TN, 32>(b[0], from_b);

    int now = 0, free = (S::STAGES - 1) * S::STAGE; /* the buffers in use, and next to be filled */
    for (int64_t left = g.k; left > 0; left -= S::BK) {
#pragma unroll
        for (int p = 0; p < S::SHARE; p++) {
            if (p == 0) {
                copier.step(free);
                gemm_copies_end_group();
            }
            if (p == S::SHARE - 1) {
                gemm_copies_wait<S::STAGES - 2>();
                __syncthreads();
                free = now;
                if (left > S::BK) /* after the last step its own buffer is read again, not one that was never filled */
                    now = now == (S::STAGES - 1) * S::STAGE ? 0 : now + S::STAGE;
            }
            gemm_fragment<S::TM, 16>(a[(p + 1) % 2], from_a + now + (p + 1) % S::SHARE * S::PITCH_A);
            gemm_fragment<S::TN, 32>(b[(p + 1) % 2], from_b + now + (p + 1) % S::SHARE * S::BN);
            /* There and back, so that neighbouring products share an operand in the register file's reuse cache. */
#pragma unroll
            for (int i = 0; i < S::TM; i++)
#pragma unroll
                for (int jj = 0; jj < S::TN; jj++) {
                    int j = i % 2 ? S::TN - 1 - jj : jj;
                    sum[i][j] = fmaf(a[p % 2][i], b[p % 2][j], sum[i][j]);
                }
        }
    }

    if (S::SPLIT > 1) {
        /* Each group finishes its rows of every thread's elements: it gets the others' sums of those, and gives the rest. */
        constexpr int ROWS = S::TM / S::SPLIT, PART = ROWS * S::TN;
        gemm_copies_wait<0>();
        __syncthreads();
        int in_group = t % S::GROUP;
        float4 *parts = reinterpret_cast<float4 *>(ring);
#pragma unroll
        for (int to = 0; to < S::SPLIT; to++)
            if (to != share) {
                int slot = to * (S::SPLIT - 1) + (share < to ? share : share - 1);
#pragma unroll
                for (int v = 0; v < PART / 4; v++) {
                    const float *from = &sum[to * ROWS + v * 4 / S::TN][v * 4 % S::TN];
                    parts[(slot * (PART / 4) + v) * S::GROUP + in_group] = make_float4(from[0], from[1], from[2], from[3]);
                }
            }
        __syncthreads();
#pragma unroll
        for (int mine = 0; mine < S::SPLIT; mine++)
            if (mine == share) {
                float total[ROWS][S::TN];
#pragma unroll
                for (int v = 0; v < PART / 4; v++) {
                    int i = v * 4 / S::TN, j = v * 4 % S::TN;
                    float4 s = make_float4(sum[mine * ROWS + i][j], sum[mine * ROWS + i][j + 1],
                                           sum[mine * ROWS + i][j + 2], sum[mine * ROWS + i][j + 3]);
#pragma unroll
                    for (int other = 0; other < S::SPLIT - 1; other++) {
                        float4 o = parts[((mine * (S::SPLIT - 1) + other) * (PART / 4) + v) * S::GROUP + in_group];
                        s.x += o.x, s.y += o.y, s.z += o.z, s.w += o.w;
                    }
                    total[i][j] = s.x, total[i][j + 1] = s.y, total[i][j + 2] = s.z, total[i][j + 3] = s.w;
                }
                gemm_put<EXACT>(g, total, row0 + row + mine * ROWS / 4 * 16 + mine * ROWS % 4, 16, col0 + col, 32);
            }
    } else {
        gemm_put<EXACT>(g, sum, row0 + row, 16, col0 + col, 32);
    }
}

template <class S, bool EXACT> static enum mg_kernels_status gemm_launch(cudaStream_t stream, const struct gemm_args *args)
{
    if (S::SHARED > 48 * 1024) {
        cudaError_t error = cudaFuncSetAttribute(reinterpret_cast<const void *>(gemm_pipeline<S, EXACT>),
                                                 cudaFuncAttributeMaxDynamicSharedMemorySize, S::SHARED);
        if (error != cudaSuccess)
            return MG_KERNELS_ERR_DEVICE;
    }
    return mg__kernels_launch(gemm_pipeline<S, EXACT>, gemm_grid(args, S::BM, S::BN), dim3(S::THREADS), S::SHARED, stream,
                              *args);
}

/* Launches the kernel of a shape, the exact one where the arguments allow. */
template <class S> static enum mg_kernels_status gemm_run(cudaStream_t stream, const struct gemm_args *args)
{
    bool exact = args->k % S::BK == 0 && args->n % 4 == 0 && gemm_aligned(args->b, args->ldb) &&
                 gemm_aligned(args->c, args->ldc);
    return exact ? gemm_launch<S, true>(stream, args) : gemm_launch<S, false>(stream, args);
}
#endif
