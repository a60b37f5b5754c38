/* 05_stride_32.cu - neighbouring threads take elements 32 apart.
 *
 * Adds: 128 bytes between lanes: every lane has a line of its own, and the request needs 32 tags instead of 16.
 * Gains: nothing; the same sectors as at stride 16, and the bound that no stride is worse than.
 */
#include "stream/stream_priv.h"

enum mg_kernels_status mg__stream_stride_32(const struct mg__stream *call)
{
    return mg__stream_launch(call, mg__stream_strided<32>(call->n));
}
