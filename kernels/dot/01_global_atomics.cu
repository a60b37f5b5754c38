/* global atomics: a thread for each element adds its product to one word of global memory.
 *
 * Right, and slow, because the updates of one word are made one after another where the second
 * cache keeps it. Should gain nothing worth having over plain C, which is why the next rung exists. */
#include "dot/dot_priv.h"

template <typename T> enum mg_kernels_status mg__dot_global_atomics(const dot_call<T> &c)
{
    return fold_atomics<fold_sum<T>>(c.stream, dot_source(c), c.n, c.result);
}
DOT_INSTANCES(global_atomics)
