/* 06_stride_8.cu - lane l reads word 8l.
 *
 * Adds: lanes 4 apart meet in a bank, eight to each of four.
 * Gains: nothing: 8 wavefronts.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_stride_8(const struct mg__banks *call)
{
    return mg__banks_launch<1, 8>(call);
}
