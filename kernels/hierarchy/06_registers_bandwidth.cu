/* registers bandwidth: multiply-adds, whose three operands all come from registers.
 *
 * A thread has eight chains, so that no operation waits for the one before. A float's multiply-add is the operation of
 * which most can be started in a cycle, 128 a multiprocessor; sums stay below 2^24, where floats are exact, and go to
 * an integer before they get there. */
#include "hierarchy/stream.cuh"

enum { ROUNDS_EXACT = 1 << 16 }; /* times 255 is below 2^24 */

static __global__ void __launch_bounds__(HIERARCHY_THREADS, HIERARCHY_BLOCKS)
    hierarchy_registers(int64_t n, const uint32_t *x, int64_t steps, float unity, uint32_t *out)
{
    const float one = __shfl_sync(0xffffffffu, unity, 0); /* in a register, which the compiler cannot know */
    int64_t g = static_cast<int64_t>(blockIdx.x) * HIERARCHY_THREADS + threadIdx.x;
    float word[HIERARCHY_CHAINS], chain[HIERARCHY_CHAINS];
    uint32_t sum = 0;
#pragma unroll
    for (int k = 0; k < HIERARCHY_CHAINS; k++) {
        word[k] = static_cast<float>(x[(g * HIERARCHY_CHAINS + k) % n] & 0xff);
        chain[k] = k < steps % HIERARCHY_CHAINS ? word[k] : 0.0f; /* the last, incomplete round */
    }
    for (int64_t left = steps / HIERARCHY_CHAINS; left > 0; left -= ROUNDS_EXACT - 1) {
        int rounds = static_cast<int>(left < ROUNDS_EXACT - 1 ? left : ROUNDS_EXACT - 1);
#pragma unroll 8
        for (int r = 0; r < rounds; r++) {
#pragma unroll
            for (int k = 0; k < HIERARCHY_CHAINS; k++)
                asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(chain[k]) : "f"(word[k]), "f"(one));
        }
#pragma unroll
        for (int k = 0; k < HIERARCHY_CHAINS; k++) {
            sum += static_cast<uint32_t>(chain[k]);
            chain[k] = 0.0f;
        }
    }
#pragma unroll
    for (int k = 0; k < HIERARCHY_CHAINS; k++)
        sum += static_cast<uint32_t>(chain[k]);
    mg__hierarchy_result(sum, out);
}

enum mg_kernels_status mg__hierarchy_registers_bandwidth(const struct mg__hierarchy *call)
{
    cudaError_t error = cudaMemsetAsync(call->out, 0, 3 * sizeof *call->out, call->stream);
    if (error != cudaSuccess)
        return mg__kernels_status(error);
    return mg__kernels_launch(hierarchy_registers, dim3(mg__hierarchy_blocks()), dim3(HIERARCHY_THREADS), 0,
                              call->stream, call->n, call->x, call->steps, 1.0f, call->out);
}
