/* banks_priv.h - the kernel that all rungs of banks share, for a width in words and a stride in items of that width.
 *
 * The reads are volatile assembly: the compiler may neither drop, merge nor widen them, so that a round is one request
 * of each warp. The addresses do not depend on what was read, and BANKS_SHIFTS rounds have theirs in the instruction:
 * requests follow each other with one addition between them.
 */
#ifndef MG_BANKS_PRIV_H
#define MG_BANKS_PRIV_H
#include "banks/tile.h"
#include "common/kernels_priv.h"

struct mg__banks {
    cudaStream_t stream;
    int64_t blocks, rounds; /* blocks: at least 1 */
    uint32_t *out;
};

#define RUNG(id, name, idea, gain, width, stride) enum mg_kernels_status mg__banks_##id(const struct mg__banks *call);
#include "banks/banks.def"
#undef RUNG

template <int WIDTH> static __device__ uint32_t mg__banks_read(uint32_t address)
{
    uint32_t a, b, c, d;
    if (WIDTH == 4) {
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "r"(address));
        return a + b + c + d;
    }
    if (WIDTH == 2) {
        asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(address));
        return a + b;
    }
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(address));
    return a;
}

template <int WIDTH, int STRIDE>
__global__ void __launch_bounds__(BANKS_THREADS) banks_read(int64_t blocks, int64_t rounds, uint32_t *out)
{
    __shared__ __align__(16) uint32_t tile[BANKS_TILE];
    for (unsigned w = threadIdx.x; w < BANKS_TILE; w += BANKS_THREADS)
        tile[w] = w;
    __syncthreads();
    uint32_t item = threadIdx.x % 32 * STRIDE + threadIdx.x / 32, step = WIDTH * 4;
    uint32_t first = static_cast<uint32_t>(__cvta_generic_to_shared(tile)) + item * step;
    for (int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
        uint32_t sum = 0;
        for (int64_t r = rounds / BANKS_SHIFTS; r > 0; r--) {
#pragma unroll
            for (uint32_t k = 0; k < BANKS_SHIFTS; k++)
                sum += mg__banks_read<WIDTH>(first + k * step);
        }
        for (uint32_t k = 0; k < rounds % BANKS_SHIFTS; k++)
            sum += mg__banks_read<WIDTH>(first + k * step);
        out[block * BANKS_THREADS + threadIdx.x] = sum;
    }
}

template <int WIDTH, int STRIDE> static enum mg_kernels_status mg__banks_launch(const struct mg__banks *call)
{
    static_assert((31 * STRIDE + BANKS_THREADS / 32 + BANKS_SHIFTS - 1) * WIDTH <= BANKS_TILE, "within the tile");
    return mg__kernels_launch(banks_read<WIDTH, STRIDE>, dim3(mg__kernels_grid(call->blocks, 1, INT32_MAX)),
                              dim3(BANKS_THREADS), 0, call->stream, call->blocks, call->rounds, call->out);
}
#endif
