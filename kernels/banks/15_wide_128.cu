/* 15_wide_128.cu - lane l reads words 4l to 4l + 3 at once.
 *
 * Adds: four words a lane. The lanes go in four quarters, each of which fills the 32 banks.
 * Gains: the same rate of bytes in a quarter of the instructions: 4 wavefronts, which its 512 bytes need.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_wide_128(const struct mg__banks *call)
{
    return mg__banks_launch<4, 1>(call);
}
