/* 04_tiled32.cu - adds: a larger tile, 32x32 (tiled.cuh has the kernel).
 *
 * Half the global loads of the 16x16 tile, half the barriers for a product, and a warp's reads of A are a single broadcast.
 * Shared loads, two for a product, stay what they were: should gain little once those are the limit.
 */
#include "gemm/tiled.cuh"

enum mg_kernels_status mg__gemm_tiled32(cudaStream_t stream, const struct gemm_args *args)
{
    return mg__kernels_launch(gemm_tiled<32, 0>, gemm_grid(args, 32, 32), dim3(32, 32), 0, stream, *args);
}
