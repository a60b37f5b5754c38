/* sequential addressing: the lower half of the threads joins with the upper half, then the lower quarter with the next.
 *
 * The same tree with its leaves numbered otherwise: threads that work are neighbours, so whole warps drop out instead
 * of lanes of every warp, and a warp reads 32 words that follow one another. Should gain the steps in which every warp
 * ran for a few lanes; where the memory is the limit already, little. The kernel is fold_tree_kernel: square_sum and
 * dot have it too. */
#include "reduce/reduce_priv.h"

template <typename T> enum mg_kernels_status mg__reduce_sequential(const reduce_call<T> &c)
{
    return reduce_passes<fold_tree>(c);
}
REDUCE_INSTANCES(sequential)
