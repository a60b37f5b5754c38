/* single pass: blocks stream through the elements, and the last one to finish joins their values.
 *
 * As many blocks as run at once take tiles in turns, in loads of 16 bytes of which several are in flight; a block is
 * set up once, not once for 512 elements. Nothing is launched behind: a block that has stored its value draws a ticket,
 * and who draws the last one knows that all values are there. Should reach what the memory delivers. See fold_stream.
 */
#include "reduce/reduce_priv.h"

template <typename T> enum mg_kernels_status mg__reduce_single_pass(const reduce_call<T> &c)
{
    return reduce_pick<T>(c.op, [&](auto join) {
        int64_t head = fold_head(c.x, c.n);
        fold_plain<T> source = {c.x, c.x + head};
        return fold_stream<decltype(join), 512, 4, FOLD_SWEEP, 4, FOLD_TICKET>(c.stream, source, head, c.n,
                                                                                   c.result, c.workspace);
    });
}
REDUCE_INSTANCES(single_pass)
