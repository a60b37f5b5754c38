/* wgmma_gemm_early.cu - wgmma_gemm.cu with the mistake that people make: a stage is said to be empty when its
 * multiplication was asked for, and not when it was waited for; it is filled again while it is still read.
 *
 * Look:   margay check examples/wgmma_gemm_early.cu
 */
#define EARLY 1
#include "wgmma_gemm.cu"
