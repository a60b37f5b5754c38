/* 02_stride_2.cu - neighbouring threads take elements 2 apart.
 *
 * Adds: a gap of one element between lanes. The elements between are taken by later threads, when the sectors are long
 * gone from the caches if the array is larger than those.
 * Gains: nothing; it shows that 8 sectors are moved where 4 would do, so that about half of the rate is left.
 */
#include "stream/stream_priv.h"

enum mg_kernels_status mg__stream_stride_2(const struct mg__stream *call)
{
    return mg__stream_launch(call, mg__stream_strided<2>(call->n));
}
