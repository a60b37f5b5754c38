/* global atomics: a thread for each element adds its square to one word of global memory.
 *
 * The version without shared memory: right, and slow, because the updates of one word are made one after another where
 * the second cache keeps it. Should gain nothing worth having over plain C, which is why the next rung exists. */
#include "square_sum/square_sum_priv.h"

template <typename T> enum mg_kernels_status mg__square_sum_global_atomics(const square_sum_call<T> &c)
{
    return fold_atomics<fold_sum<T>>(c.stream, square_sum_source(c), c.n, c.result);
}
SQUARE_SUM_INSTANCES(global_atomics)
