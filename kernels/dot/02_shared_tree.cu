/* shared tree: a block joins 256 products in shared memory, and one value leaves it.
 *
 * Threads put their products into shared memory; the lower half adds the upper half's, then the lower quarter the next,
 * with a barrier between. Further passes of the same kernel add up the blocks' sums. Should gain what the atomics'
 * queue cost: two orders of magnitude. The kernel is fold_tree_kernel, which reduce has as well. */
#include "dot/dot_priv.h"

template <typename T> enum mg_kernels_status mg__dot_shared_tree(const dot_call<T> &c)
{
    return fold_passes<fold_tree, fold_sum<T>>(c.stream, dot_source(c), c.n, c.result, c.workspace);
}
DOT_INSTANCES(shared_tree)
