/* 11_async.cu - adds: asynchronous copies into a ring of four buffers, and fragments double-buffered in registers.
 *
 * pipeline.cuh has the kernel; here a tile of 128x128, 8x8 elements a thread, steps of 8, two blocks a multiprocessor.
 * Three steps are always under way, and none of them holds a register, where the last rung held one step in eight. Shared
 * loads of the next k run under the products of this one. Should gain a tenth to a fifth over the last rung.
 */
#include "gemm/pipeline.cuh"

enum mg_kernels_status mg__gemm_async(cudaStream_t stream, const struct gemm_args *args)
{
    return gemm_run<gemm_shape<128, 128, 8, 8, 8, 1, 4, 2>>(stream, args);
}
