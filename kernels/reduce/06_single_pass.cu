/* single pass: blocks read a few 16-byte vectors a thread, and the last one to finish joins their values.
 *
 * A block takes thousands of elements in loads of 16 bytes of which several are in flight, and leaves one value. No
 * pass follows: a block that has stored its value draws a ticket, and who draws the last one knows that all values are
 * there. Should reach what the memory delivers. See fold_stream. */
#include "reduce/reduce_priv.h"

template <typename T> enum mg_kernels_status mg__reduce_single_pass(const reduce_call<T> &c)
{
    return reduce_pick<T>(c.op, [&](auto join) {
        int64_t head = fold_head(c.x, c.n);
        fold_plain<T> source = {c.x, c.x + head};
        return fold_stream<decltype(join), FOLD_TICKET>(c.stream, source, head, c.n, c.result, c.workspace);
    });
}
REDUCE_INSTANCES(single_pass)
