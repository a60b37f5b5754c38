/* peer_histogram.cu - CUB's histogram beside ours. HistogramEven with a bin for each value is what its manual offers for
 * both kinds of keys; it has no function that takes the key for the bin. */
#include "peer_histogram.h"

#include <cub/device/device_histogram.cuh>

int bench_cub_histogram_u8(void *workspace, size_t *bytes, const uint8_t *x, int64_t n, uint32_t *bins,
                           struct CUstream_st *stream)
{
    return cub::DeviceHistogram::HistogramEven(workspace, *bytes, x, bins, 257, 0, 256, n, stream);
}

int bench_cub_histogram_u32(void *workspace, size_t *bytes, const uint32_t *x, int64_t n, int64_t nbins, uint32_t *bins,
                            struct CUstream_st *stream)
{
    if (nbins > 1 << 30)
        return cudaErrorInvalidValue;
    return cub::DeviceHistogram::HistogramEven(workspace, *bytes, x, bins, static_cast<int>(nbins) + 1, 0u,
                                               static_cast<uint32_t>(nbins), n, stream);
}
