/* 12_best.cu - adds: the pipeline's tile, depth and split of k chosen for the size.
 */
#include "gemm/pipeline.cuh"

enum mg_kernels_status mg__gemm_best(cudaStream_t stream, const struct gemm_args *args)
{
    int64_t blocks = gemm_tiles(args->m, 128) * gemm_tiles(args->n, 128);
    if (blocks < 132)
        return gemm_run<gemm_shape<128, 64, 32, 8, 8, 2, 4, 1>>(stream, args);
    return gemm_run<gemm_shape<128, 128, 8, 8, 8, 1, 4, 2>>(stream, args);
}
