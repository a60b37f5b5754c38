/* best: blocks stream through both arrays in loads of 16 bytes, and a kernel that already waits joins their sums.
 *
 * The stream of reduce over two arrays. Loads of 16 bytes want addresses that are multiples of 16; elements in front of
 * the first such address of x are taken one by one. Where y is not as far from such an address as x, y is read by
 * elements: four loads for one, from the same lines. Should reach what the memory delivers. See fold_stream. */
#include "dot/dot_priv.h"

template <bool ALIKE, typename T> static enum mg_kernels_status stream(const dot_call<T> &c, int64_t head)
{
    fold_product<T, ALIKE> source = {c.x, c.y, c.x + head, c.y + head};
    return fold_stream<fold_sum<T>, FOLD_DEPENDENT>(c.stream, source, head, c.n, c.result, c.workspace);
}

template <typename T> enum mg_kernels_status mg__dot_best(const dot_call<T> &c)
{
    int64_t head = fold_head(c.x, c.n);
    bool alike = (reinterpret_cast<uintptr_t>(c.x) - reinterpret_cast<uintptr_t>(c.y)) % 16 == 0;
    return alike ? stream<true>(c, head) : stream<false>(c, head);
}
DOT_INSTANCES(best)
