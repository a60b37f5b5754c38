/* 09_stride_17.cu - lane l reads word 17l.
 *
 * Adds: what padding a tile 16 wide by one word gives.
 * Gains: 15 of the 16 wavefronts of stride 16: 1 is left.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_stride_17(const struct mg__banks *call)
{
    return mg__banks_launch<1, 17>(call);
}
