/* shared memory bandwidth: each block streams through its own copy of the words.
 *
 * 16 bytes a lane without conflicts are 4 wavefronts of 128 bytes, one a cycle: the most that the banks deliver. */
#include "hierarchy/stream.cuh"

enum mg_kernels_status mg__hierarchy_shared_bandwidth(const struct mg__hierarchy *call)
{
    return mg__stream<STREAM_SHARED>(call);
}
