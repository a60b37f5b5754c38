/* global memory bandwidth: the grid streams through words that no cache holds.
 *
 * As for the latency, the caller sees to it that there are enough of them. The limit of every kernel that reads once:
 * the best rungs of reduce and dot are held to it. */
#include "hierarchy/stream.cuh"

enum mg_kernels_status mg__hierarchy_global_bandwidth(const struct mg__hierarchy *call)
{
    return mg__stream<STREAM_PAST_L1>(call);
}
