/* global atomics: every thread adds its element to one word of global memory.
 *
 * The shortest program that is right, and the slowest: updates of one word are made one after another where the second
 * cache keeps it. Sums have an instruction for that; the smaller of two floats has none, and is a loop of compare and
 * swap that stops early when the word is small enough already. Gains nothing: the others are measured against it. */
#include "reduce/reduce_priv.h"

template <typename T> enum mg_kernels_status mg__reduce_global_atomics(const reduce_call<T> &c)
{
    return reduce_pick<T>(c.op, [&](auto join) {
        fold_plain<T> source = {c.x, nullptr};
        return fold_atomics<decltype(join)>(c.stream, source, c.n, c.result);
    });
}
REDUCE_INSTANCES(global_atomics)
