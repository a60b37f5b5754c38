/* L2 bandwidth: the grid streams through words that the second-level cache holds, round after round, past the first.
 *
 * What kernels get that read the same data from many multiprocessors, such as the panels of a matrix product. */
#include "hierarchy/stream.cuh"

enum mg_kernels_status mg__hierarchy_l2_bandwidth(const struct mg__hierarchy *call)
{
    return mg__stream<STREAM_PAST_L1>(call);
}
