/* 07_stride_12.cu - lane l reads word 12l.
 *
 * Adds: 12 is 4 times 3, and only the 4 counts.
 * Gains: nothing: 4 wavefronts, not 12.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_stride_12(const struct mg__banks *call)
{
    return mg__banks_launch<1, 12>(call);
}
