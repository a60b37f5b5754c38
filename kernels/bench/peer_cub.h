/* peer_cub.h - what peer_reduce.cu and peer_scan.cu, compiled only with MARGAY_KERNELS_PEERS, give to the drivers. Each
 * returns a cudaError_t; workspace NULL: only *bytes is written. Sizes are 32-bit ones to CUB, whose kernels for 64-bit
 * sizes are others: what is larger is refused. */
#ifndef MG_BENCH_PEER_CUB_H
#define MG_BENCH_PEER_CUB_H
#include "sums.h"

#ifdef __cplusplus
extern "C" {
#endif

int bench_cub_reduce(void *workspace, size_t *bytes, enum sums_type type, enum mg_reduce_op op, const void *x,
                     int64_t n, void *result, struct CUstream_st *stream);
/* DeviceReduce::TransformReduce: the sum of squares. */
int bench_cub_square_sum(void *workspace, size_t *bytes, enum sums_type type, const void *x, int64_t n, void *result,
                         struct CUstream_st *stream);
int bench_cub_scan_u32(void *workspace, size_t *bytes, bool exclusive, const uint32_t *x, uint32_t *y, int64_t n,
                       struct CUstream_st *stream);
int bench_cub_scan_f32(void *workspace, size_t *bytes, bool exclusive, const float *x, float *y, int64_t n,
                       struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif
