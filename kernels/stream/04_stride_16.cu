/* 04_stride_16.cu - neighbouring threads take elements 16 apart.
 *
 * Adds: 64 bytes between lanes: every lane has a sector of its own (as from stride 8 on), two lanes share a 128-byte
 * line.
 * Gains: nothing; an eighth of the rate, or less where DRAM moves 64 bytes for a sector of 32.
 */
#include "stream/stream_priv.h"

enum mg_kernels_status mg__stream_stride_16(const struct mg__stream *call)
{
    return mg__stream_launch(call, mg__stream_strided<16>(call->n));
}
