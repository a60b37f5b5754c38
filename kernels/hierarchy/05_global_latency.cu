/* global memory latency: the same loads, of words that no cache holds.
 *
 * That is for the caller to see to: words several times what the second-level cache holds, and not chased just before.
 * The figure has a part of translating addresses, more of it the wider the words are spread. */
#include "hierarchy/chase.cuh"

enum mg_kernels_status mg__hierarchy_global_latency(const struct mg__hierarchy *call)
{
    return mg__chase<CHASE_GLOBAL>(call);
}
