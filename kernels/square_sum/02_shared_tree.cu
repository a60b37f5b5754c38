/* shared tree: a block joins 256 squares in shared memory, and one value leaves it.
 *
 * Threads put their squares into shared memory; the lower half adds the upper half's, then the lower quarter the next,
 * with a barrier between. Further passes of the same kernel add up the blocks' sums. Should gain what the atomics'
 * queue cost: two orders of magnitude. The kernel is fold_tree_kernel, which reduce has as well. */
#include "square_sum/square_sum_priv.h"

template <typename T> enum mg_kernels_status mg__square_sum_shared_tree(const square_sum_call<T> &c)
{
    return fold_passes<fold_tree, fold_sum<T>>(c.stream, square_sum_source(c), c.n, c.result, c.workspace);
}
SQUARE_SUM_INSTANCES(shared_tree)
