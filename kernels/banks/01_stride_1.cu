/* 01_stride_1.cu - lane l reads word l.
 *
 * Adds: the pattern without conflicts: the lanes' words are in 32 different banks.
 * Gains: nothing yet: 1 wavefront a request, the measure for the others.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_stride_1(const struct mg__banks *call)
{
    return mg__banks_launch<1, 1>(call);
}
