/* L2 latency: loads that pass the first-level cache by, of words that were just read into the second.
 *
 * The cache has two halves on large chips, and what a multiprocessor reads from the far one takes longer: the figure is
 * their mean, as the chain visits all of the words in no order. */
#include "hierarchy/chase.cuh"

enum mg_kernels_status mg__hierarchy_l2_latency(const struct mg__hierarchy *call)
{
    return mg__chase<CHASE_L2>(call);
}
