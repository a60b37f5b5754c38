/* mma_gemm_early.cu - mma_gemm.cu with the mistake that people make: cp.async.wait_group is told one group too many, so
 * that the stage about to be read may still be on its way.
 *
 * Look:   margay check examples/mma_gemm_early.cu
 */
#define EARLY 1
#include "mma_gemm.cu"
