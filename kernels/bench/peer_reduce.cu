/* peer_reduce.cu - CUB's reductions beside ours. Integers as unsigned ones, which wrap. */
#include "peer_cub.h"

#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

template <typename T>
static int reduce(void *workspace, size_t *bytes, enum mg_reduce_op op, const void *from, int64_t n, void *result,
                  cudaStream_t stream)
{
    const T *x = static_cast<const T *>(from);
    T *to = static_cast<T *>(result);
    int count = static_cast<int>(n);
    if (n > INT32_MAX)
        return cudaErrorInvalidValue;
    switch (op) {
    case MG_REDUCE_SUM:
        return cub::DeviceReduce::Sum(workspace, *bytes, x, to, count, stream);
    case MG_REDUCE_MIN:
        return cub::DeviceReduce::Min(workspace, *bytes, x, to, count, stream);
    default:
        return cub::DeviceReduce::Max(workspace, *bytes, x, to, count, stream);
    }
}

int bench_cub_reduce(void *workspace, size_t *bytes, enum sums_type type, enum mg_reduce_op op, const void *x,
                     int64_t n, void *result, struct CUstream_st *stream)
{
    switch (type) {
    case SUMS_I32:
        return op == MG_REDUCE_SUM ? reduce<uint32_t>(workspace, bytes, op, x, n, result, stream)
                                   : reduce<int32_t>(workspace, bytes, op, x, n, result, stream);
    case SUMS_F32:
        return reduce<float>(workspace, bytes, op, x, n, result, stream);
    default:
        return reduce<double>(workspace, bytes, op, x, n, result, stream);
    }
}

template <typename T> struct square {
    __host__ __device__ T operator()(T v) const
    {
        return v * v;
    }
};

template <typename T>
static int square_sum(void *workspace, size_t *bytes, const void *x, int64_t n, void *result, cudaStream_t stream)
{
    if (n > INT32_MAX)
        return cudaErrorInvalidValue;
    return cub::DeviceReduce::TransformReduce(workspace, *bytes, static_cast<const T *>(x), static_cast<T *>(result),
                                              static_cast<int>(n), cuda::std::plus<T>(), square<T>(), T(0), stream);
}

int bench_cub_square_sum(void *workspace, size_t *bytes, enum sums_type type, const void *x, int64_t n, void *result,
                         struct CUstream_st *stream)
{
    return type == SUMS_I32 ? square_sum<uint32_t>(workspace, bytes, x, n, result, stream)
                            : square_sum<float>(workspace, bytes, x, n, result, stream);
}
