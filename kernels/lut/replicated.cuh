/* replicated.cuh - the kernel of the rung "replicated", for any number of threads and of reads ahead.
 *
 * Word w of the table is there 32 times, for lane l at w * 32 + l. A thread has VECTORS reads of 16 bytes under way. Where x
 * and y are not aligned alike to 16 bytes, `width` is 4 and vectors are that wide.
 */
#ifndef MG_LUT_REPLICATED_CUH
#define MG_LUT_REPLICATED_CUH
#include "lut/lut_priv.h"

/* The four entries for the bytes of `four`. `lane` is the address of the lane's copy in bytes, as an offset in `table`.
 */
static __device__ inline uint32_t lut_look_up(const uint8_t *table, uint32_t lane, uint32_t four)
{
    uint32_t entry[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint32_t index = four >> 8 * k;
        /* Entry e is byte e % 4 of the word at (e / 4) * 128 + lane. */
        entry[k] = table[(index << 5 & 0x1f80) | (index & 3) | lane];
    }
    return __byte_perm(__byte_perm(entry[0], entry[1], 0x0040), __byte_perm(entry[2], entry[3], 0x0040), 0x5410);
}

static __device__ inline void lut_look_up(const uint8_t *table, uint32_t lane, uint4 *v)
{
    v->x = lut_look_up(table, lane, v->x);
    v->y = lut_look_up(table, lane, v->y);
    v->z = lut_look_up(table, lane, v->z);
    v->w = lut_look_up(table, lane, v->w);
}

template <int THREADS, int VECTORS>
static __global__ void __launch_bounds__(THREADS) lut_replicated(mg__lut_parts parts, int width, const uint8_t *x,
                                                                 const __grid_constant__ mg__lut_table table, uint8_t *y)
{
    __shared__ uint32_t words[64 * 32];
    for (unsigned i = threadIdx.x; i < 64 * 32; i += THREADS)
        words[i] = table.word[i / 32];
    __syncthreads();
    const uint8_t *copies = reinterpret_cast<const uint8_t *>(words);
    uint32_t lane = threadIdx.x % 32 * 4;
    int64_t first = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    int64_t step = static_cast<int64_t>(gridDim.x) * THREADS;
    if (width == 16) {
        const uint4 *from = reinterpret_cast<const uint4 *>(x + parts.head);
        uint4 *to = reinterpret_cast<uint4 *>(y + parts.head);
        int64_t i = first;
        for (; i + (VECTORS - 1) * step < parts.vectors; i += VECTORS * step) {
            uint4 v[VECTORS];
#pragma unroll
            for (int k = 0; k < VECTORS; k++)
                v[k] = from[i + k * step];
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                lut_look_up(copies, lane, &v[k]);
                to[i + k * step] = v[k];
            }
        }
        for (; i < parts.vectors; i += step) {
            uint4 v = from[i];
            lut_look_up(copies, lane, &v);
            to[i] = v;
        }
    } else {
        const uint32_t *from = reinterpret_cast<const uint32_t *>(x + parts.head);
        uint32_t *to = reinterpret_cast<uint32_t *>(y + parts.head);
        for (int64_t i = first; i < parts.vectors; i += step)
            to[i] = lut_look_up(copies, lane, from[i]);
    }
    for (int64_t i = first; i < parts.head; i += step)
        y[i] = static_cast<uint8_t>(lut_look_up(copies, lane, x[i]));
    int64_t end = parts.head + parts.vectors * width;
    for (int64_t i = first; i < parts.tail; i += step)
        y[end + i] = static_cast<uint8_t>(lut_look_up(copies, lane, x[end + i]));
}
#endif
