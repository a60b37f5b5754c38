/* 01_unit.cu - thread t takes element t.
 *
 * Adds: the coalesced order. A request of a warp covers 128 bytes without a gap: 4 sectors of 32 bytes, all of them
 * used.
 * Gains: it is the measure for the others.
 */
#include "stream/stream_priv.h"

struct unit {
    __host__ int64_t threads(int64_t n) const
    {
        return n;
    }
    __device__ int64_t element(int64_t t) const
    {
        return t;
    }
};

enum mg_kernels_status mg__stream_unit(const struct mg__stream *call)
{
    return mg__stream_launch(call, unit{});
}
