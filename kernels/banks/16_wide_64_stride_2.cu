/* 16_wide_64_stride_2.cu - lane l reads words 4l and 4l + 1 at once.
 *
 * Adds: a gap between pairs of words: a quarter of the lanes fills every second pair of banks.
 * Gains: nothing: 4 wavefronts where 2 would do.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_wide_64_stride_2(const struct mg__banks *call)
{
    return mg__banks_launch<2, 2>(call);
}
