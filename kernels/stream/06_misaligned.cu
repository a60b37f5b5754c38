/* 06_misaligned.cu - thread t takes element t + 1, the last thread element 0.
 *
 * Adds: an offset of 4 bytes from where a warp's 128 bytes would be aligned (when the arrays are).
 * Gains: nothing; a request touches 5 sectors instead of 4. The fifth is the first of the next warp's and comes from
 * the first cache, so that little of this shows in the rate on chips that cache global loads there.
 */
#include "stream/stream_priv.h"

struct misaligned {
    int64_t n;
    __host__ int64_t threads(int64_t) const
    {
        return n;
    }
    __device__ int64_t element(int64_t t) const
    {
        return t + 1 < n ? t + 1 : 0;
    }
};

enum mg_kernels_status mg__stream_misaligned(const struct mg__stream *call)
{
    return mg__stream_launch(call, misaligned{call->n});
}
