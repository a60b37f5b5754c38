/* peer_scan.cu - CUB's scan beside ours. */
#include "peer_cub.h"

#include <cub/device/device_scan.cuh>

template <typename T>
static int scan(void *workspace, size_t *bytes, bool exclusive, const T *x, T *y, int64_t n, cudaStream_t stream)
{
    int count = static_cast<int>(n);
    if (n > INT32_MAX)
        return cudaErrorInvalidValue;
    return exclusive ? cub::DeviceScan::ExclusiveSum(workspace, *bytes, x, y, count, stream)
                     : cub::DeviceScan::InclusiveSum(workspace, *bytes, x, y, count, stream);
}

int bench_cub_scan_u32(void *workspace, size_t *bytes, bool exclusive, const uint32_t *x, uint32_t *y, int64_t n,
                       struct CUstream_st *stream)
{
    return scan(workspace, bytes, exclusive, x, y, n, stream);
}

int bench_cub_scan_f32(void *workspace, size_t *bytes, bool exclusive, const float *x, float *y, int64_t n,
                       struct CUstream_st *stream)
{
    return scan(workspace, bytes, exclusive, x, y, n, stream);
}
