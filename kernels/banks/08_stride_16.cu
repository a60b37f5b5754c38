/* 08_stride_16.cu - lane l reads word 16l.
 *
 * Adds: every second lane meets in a bank, sixteen to each of two.
 * Gains: nothing: 16 wavefronts. The column of a tile 16 wide does this.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_stride_16(const struct mg__banks *call)
{
    return mg__banks_launch<1, 16>(call);
}
