/* L1 latency: the chase through words that the block has just read into the first-level cache.
 *
 * The same memory cells as shared memory's; what is added is the look at the tags, and the making of a 64-bit address.
 */
#include "hierarchy/chase.cuh"

enum mg_kernels_status mg__hierarchy_l1_latency(const struct mg__hierarchy *call)
{
    return mg__chase<CHASE_L1>(call);
}
