/* fold.h - what the tests of reduce, square_sum and dot share: sizes that find mistakes,
 * and the bound of a float sum. */
#ifndef MG_TEST_FOLD_H
#define MG_TEST_FOLD_H
#include "test.h"

/* Nothing, less than a warp, about a warp, a block, one of the stream (256 threads, 4 vectors),
 * several levels of passes. */
static const int64_t fold_sizes[] = {0,   1,   2,    3,    31,   33,   255,   256,   257,
                                     511, 513, 1021, 8191, 8192, 8197, 65537, 100003};
enum { FOLD_SIZES = sizeof fold_sizes / sizeof *fold_sizes, FOLD_LARGEST = 100003 };

/* The bound that kernels.h states, with `sum` the sum of the magnitudes. `first`: the rung of global atomics, whose
 * order varies and which flushes what is smaller than the smallest normal number. */
static inline double fold_bound(int64_t n, double sum, double unit, double least, bool first)
{
    return first ? (double)n * unit * sum + (double)n * least : (64 + (double)n / 100000) * unit * sum;
}

/* got is the result within the bound; NaN for NaN, infinity for the same infinity. */
static inline bool fold_near(double got, double want, double bound)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    return got == want || fabs(got - want) <= bound;
}
#endif
