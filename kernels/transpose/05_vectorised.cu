/* 05_vectorised.cu - 16-byte accesses to global and shared memory.
 *
 * Adds: squares of 4x4 elements (2x2 of 8 bytes) are turned in registers, and then a tile of them in shared memory, all by
 * 16-byte accesses; vectors.cuh has the kernel. Where DRAM is the limit, tiles of 16 KB are best, 128 bytes a thread,
 * no hints to the caches, and no more than five blocks a multiprocessor; where launching is, blocks of a single warp, and
 * a kernel of few instructions (docs/tuning/transpose.md).
 * Gains: a quarter of the load and store instructions, and all of a thread's loads in flight before the first is used.
 * Matrices that are not aligned to 16 bytes, rows included, are left to the rung "swizzled".
 */
#include "transpose/vectors.cuh"

enum mg_kernels_status mg__transpose_vectorised(const struct mg__transpose *call)
{
    uintptr_t size = static_cast<uintptr_t>(call->size);
    uintptr_t bits = reinterpret_cast<uintptr_t>(call->x) | reinterpret_cast<uintptr_t>(call->y) |
                     static_cast<uintptr_t>(call->ldx) * size | static_cast<uintptr_t>(call->ldy) * size;
    if (bits % 16 != 0)
        return mg__transpose_swizzled(call);
    bool small = call->rows * call->cols * call->size <= 16 << 20;
    if (call->size == 4)
        return small ? transpose_run<uint32_t, 32, 32, 32, false>(call)
                     : transpose_run<uint32_t, 64, 64, 128, false, 5>(call);
    return small ? transpose_run<uint64_t, 32, 32, 32, false>(call)
                 : transpose_run<uint64_t, 64, 32, 128, false, 5>(call);
}
