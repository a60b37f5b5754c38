/* tile.cuh - the part of the input that a block needs, with the whole halo, in shared memory: for rungs 2 to 4. */
#ifndef MG_CONV2D_TILE_CUH
#define MG_CONV2D_TILE_CUH
#include "conv2d/conv2d_priv.h"

enum { CONV_TILE = 32, CONV_WIDE = CONV_TILE + MG_CONV_MAX - 1 }; /* a block's elements are 32x32, its threads 32x8 */

/* Fills tile[0 … 32+fr-2][0 … 32+fc-2] with x from row0 - fr/2, col0 - fc/2 on; zeros outside. A barrier must follow. */
__device__ static inline void conv_fill(float (&tile)[CONV_WIDE][CONV_WIDE], const conv_args &g, int64_t row0, int64_t col0)
{
    for (int r = threadIdx.y; r < CONV_TILE + g.fr - 1; r += 8)
        for (int c = threadIdx.x; c < CONV_TILE + g.fc - 1; c += 32)
            tile[r][c] = conv_at(g, row0 + r - g.fr / 2, col0 + c - g.fc / 2);
}
#endif
