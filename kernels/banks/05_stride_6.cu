/* 05_stride_6.cu - lane l reads word 6l.
 *
 * Adds: an even stride that is no power of two: 6 is 2 times 3, and only the 2 counts.
 * Gains: nothing: 2 wavefronts, not 6.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_stride_6(const struct mg__banks *call)
{
    return mg__banks_launch<1, 6>(call);
}
