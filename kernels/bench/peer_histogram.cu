/* peer_histogram.cu - CUB's histogram beside ours. HistogramEven with a bin for each value is what its manual offers for
 * both kinds of keys; it has no function that takes the key for the bin. The number of keys is an int where it fits, which
 * CUB has kernels of its own for. */
#include "peer_histogram.h"

#include <cub/device/device_histogram.cuh>

int bench_cub_histogram_u8(void *workspace, size_t *bytes, const uint8_t *x, int64_t n, uint32_t *bins,
                           struct CUstream_st *stream)
{
    return n <= INT32_MAX ? cub::DeviceHistogram::HistogramEven(workspace, *bytes, x, bins, 257, 0, 256,
                                                                static_cast<int>(n), stream)
                          : cub::DeviceHistogram::HistogramEven(workspace, *bytes, x, bins, 257, 0, 256, n, stream);
}

int bench_cub_histogram_u32(void *workspace, size_t *bytes, const uint32_t *x, int64_t n, int64_t nbins, uint32_t *bins,
                            struct CUstream_st *stream)
{
    if (nbins > 1 << 30)
        return cudaErrorInvalidValue;
    int levels = static_cast<int>(nbins) + 1;
    uint32_t end = static_cast<uint32_t>(nbins);
    return n <= INT32_MAX
               ? cub::DeviceHistogram::HistogramEven(workspace, *bytes, x, bins, levels, 0u, end, static_cast<int>(n), stream)
               : cub::DeviceHistogram::HistogramEven(workspace, *bytes, x, bins, levels, 0u, end, n, stream);
}
