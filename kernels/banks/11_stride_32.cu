/* 11_stride_32.cu - lane l reads word 32l, a column of a tile 32 wide.
 *
 * Adds: the column of a tile 32 wide: every lane in the same bank.
 * Gains: nothing: 32 wavefronts, the worst there is; shared memory at a thirty-second of its rate.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_stride_32(const struct mg__banks *call)
{
    return mg__banks_launch<1, 32>(call);
}
