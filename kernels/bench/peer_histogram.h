/* peer_histogram.h - what peer_histogram.cu, compiled only with MARGAY_KERNELS_PEERS, gives to the driver. */
#ifndef MG_BENCH_PEER_HISTOGRAM_H
#define MG_BENCH_PEER_HISTOGRAM_H
#include <stddef.h>
#include <stdint.h>

struct CUstream_st;

/* CUB's DeviceHistogram::HistogramEven. workspace NULL: only *bytes is written. Returns a cudaError_t. */
int bench_cub_histogram_u8(void *workspace, size_t *bytes, const uint8_t *x, int64_t n, uint32_t *bins,
                           struct CUstream_st *stream);
int bench_cub_histogram_u32(void *workspace, size_t *bytes, const uint32_t *x, int64_t n, int64_t nbins, uint32_t *bins,
                            struct CUstream_st *stream);
#endif
