/* 03_shared.cu - every block keeps the table in shared memory.
 *
 * Adds: a copy of the table's 64 words in each block, and a grid of no more blocks than run at once, so that it is
 * made rarely; four bytes are read, looked up and written together.
 * Gains: 32 banks answer at once. Two lanes still wait for each other when their entries are in the same bank and not
 * in the same word; 64 words are two a bank, so 32 random bytes take two wavefronts, and none take more.
 */
#include "lut/lut_priv.h"

__global__ void __launch_bounds__(256)
    lut_shared(mg__lut_parts parts, const uint8_t *x, const __grid_constant__ mg__lut_table table, uint8_t *y)
{
    __shared__ uint32_t words[64];
    if (threadIdx.x < 64)
        words[threadIdx.x] = table.word[threadIdx.x];
    __syncthreads();
    const uint8_t *entry = reinterpret_cast<const uint8_t *>(words);
    int64_t first = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x, step = static_cast<int64_t>(gridDim.x) * 256;
    const uint32_t *from = reinterpret_cast<const uint32_t *>(x + parts.head);
    uint32_t *to = reinterpret_cast<uint32_t *>(y + parts.head);
    for (int64_t i = first; i < parts.vectors; i += step) {
        uint32_t four = from[i];
        to[i] = entry[four & 0xff] | static_cast<uint32_t>(entry[four >> 8 & 0xff]) << 8 |
                static_cast<uint32_t>(entry[four >> 16 & 0xff]) << 16 | static_cast<uint32_t>(entry[four >> 24]) << 24;
    }
    for (int64_t i = first; i < parts.head; i += step)
        y[i] = entry[x[i]];
    int64_t end = parts.head + parts.vectors * 4;
    for (int64_t i = first; i < parts.tail; i += step)
        y[end + i] = entry[x[end + i]];
}

enum mg_kernels_status mg__lut_shared(const struct mg__lut *call)
{
    int64_t resident = mg__kernels_sm_count() * int64_t{8};
    return mg__kernels_launch(lut_shared, dim3(mg__kernels_grid(call->n, 1024, resident)), dim3(256), 0, call->stream,
                              mg__lut_split(call, 4), call->x, call->table, call->y);
}
