/* dependent launch: the blocks' values are joined by a second kernel that is there before the first has ended.
 *
 * A ticket needs a counter that is 0, which costs a memset in front; a second kernel costs a launch behind.
 * Programmatic dependent launch hides the latter: the second kernel's one block is set up and has its instructions
 * while the first streams, and waits within the device. Should gain a microsecond or two, which is a fifth of the time
 * at 2^20 elements and nothing at 2^28. */
#include "reduce/reduce_priv.h"

template <typename T> enum mg_kernels_status mg__reduce_dependent(const reduce_call<T> &c)
{
    return reduce_pick<T>(c.op, [&](auto join) {
        int64_t head = fold_head(c.x, c.n);
        fold_plain<T> source = {c.x, c.x + head};
        return fold_stream<decltype(join), FOLD_DEPENDENT>(c.stream, source, head, c.n, c.result, c.workspace);
    });
}
REDUCE_INSTANCES(dependent)
