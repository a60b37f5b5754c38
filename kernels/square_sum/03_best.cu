/* best: blocks stream through the elements in loads of 16 bytes, and a kernel that already waits joins their sums.
 *
 * The stream of reduce with squares for elements: the multiplication is free, since memory is the limit. cublasSnrm2,
 * which computes the root of this, guards against overflow by scaling and pays for it; here squares overflow as in
 * plain C. Should reach what reduce reaches. See fold_stream. */
#include "square_sum/square_sum_priv.h"

template <typename T> enum mg_kernels_status mg__square_sum_best(const square_sum_call<T> &c)
{
    int64_t head = fold_head(c.x, c.n);
    fold_square<T> source = {c.x, c.x + head};
    return fold_stream<fold_sum<T>, FOLD_DEPENDENT>(c.stream, source, head, c.n, c.result, c.workspace);
}
SQUARE_SUM_INSTANCES(best)
