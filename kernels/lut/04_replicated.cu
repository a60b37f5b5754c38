/* 04_replicated.cu - a copy of the table in each bank.
 *
 * Adds: word w of the table is there 32 times, for lane l at w * 32 + l: 8 KB. A lane never leaves its own bank. 16
 * bytes are read and written at a time, several of them before the first look-up.
 * Gains: 1 wavefront for the look-ups of any 32 bytes, where the single copy needs 2 on random ones; what is left is
 * moving the bytes. The copies are spread by the lanes themselves once a block, and blocks are few and long.
 * Arrays of which one is not aligned to 16 bytes where the other is, are moved by 4 bytes, or one.
 */
#include "lut/replicated.cuh"

enum { THREADS = 512, VECTORS = 2 }; /* docs/tuning/lut.md */

enum mg_kernels_status mg__lut_replicated(const struct mg__lut *call)
{
    uintptr_t apart = reinterpret_cast<uintptr_t>(call->x) - reinterpret_cast<uintptr_t>(call->y);
    int width = apart % 16 == 0 ? 16 : 4;
    int64_t resident = mg__kernels_sm_count() * int64_t{2048 / THREADS};
    return mg__kernels_launch(lut_replicated<THREADS, VECTORS>, dim3(mg__kernels_grid(call->n, THREADS * int64_t{width}, resident)),
                              dim3(THREADS), 0, call->stream, mg__lut_split(call, width), width, call->x, call->table,
                              call->y);
}
