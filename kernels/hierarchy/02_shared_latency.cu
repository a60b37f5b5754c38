/* shared memory latency: a chase through a copy of the words.
 *
 * The chain that lies in shared memory is one of addresses, so that a load is all that there is between one index and
 * the next. What a tree in shared memory pays on every level, beside its barrier. */
#include "hierarchy/chase.cuh"

enum mg_kernels_status mg__hierarchy_shared_latency(const struct mg__hierarchy *call)
{
    return mg__chase<CHASE_SHARED>(call);
}
