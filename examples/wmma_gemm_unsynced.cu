/* wmma_gemm_unsynced.cu - wmma_gemm.cu with the mistake that people make: what store_matrix_sync has put into shared
 * memory is read by other lanes of the warp, and no __syncwarp() stands between.
 *
 * Look:   margay check examples/wmma_gemm_unsynced.cu
 */
#define UNSYNCED 1
#include "wmma_gemm.cu"
