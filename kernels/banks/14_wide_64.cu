/* 14_wide_64.cu - lane l reads words 2l and 2l + 1 at once.
 *
 * Adds: two words a lane. The lanes go in two halves, each of which fills the 32 banks.
 * Gains: the same rate of bytes as stride 1 in half of the instructions: 2 wavefronts, which its 256 bytes need.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_wide_64(const struct mg__banks *call)
{
    return mg__banks_launch<2, 1>(call);
}
