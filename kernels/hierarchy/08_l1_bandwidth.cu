/* L1 bandwidth: each block streams through the same few words of global memory, which every first-level cache soon
 * holds.
 *
 * A request of 16 bytes a lane without gaps is four whole lines. */
#include "hierarchy/stream.cuh"

enum mg_kernels_status mg__hierarchy_l1_bandwidth(const struct mg__hierarchy *call)
{
    return mg__stream<STREAM_L1>(call);
}
