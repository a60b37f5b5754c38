/* 03_tiled16.cu - adds: shared memory. Tiles of 16x16 (tiled.cuh has the kernel).
 *
 * Global loads fall to a sixteenth. A warp is two rows of the tile: its reads of A are two words that are broadcast, its
 * reads of B one row of 16 words that both halves share. The texts print 11 times the naive rung; where a first-level
 * cache serves the naive rung's repeated loads it is far less, since two shared loads for a product remain.
 */
#include "gemm/tiled.cuh"

enum mg_kernels_status mg__gemm_tiled16(cudaStream_t stream, const struct gemm_args *args)
{
    return mg__kernels_launch(gemm_tiled<16, 0>, gemm_grid(args, 16, 16), dim3(16, 16), 0, stream, *args);
}
