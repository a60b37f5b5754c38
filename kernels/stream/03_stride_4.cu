/* 03_stride_4.cu - neighbouring threads take elements 4 apart.
 *
 * Adds: a gap of three elements: 8 of the 32 bytes of each sector are used, 16 sectors a request.
 * Gains: nothing; about a quarter of the rate is left.
 */
#include "stream/stream_priv.h"

enum mg_kernels_status mg__stream_stride_4(const struct mg__stream *call)
{
    return mg__stream_launch(call, mg__stream_strided<4>(call->n));
}
