/* 02_stride_2.cu - lane l reads word 2l.
 *
 * Adds: a gap of one word. Lanes 16 apart meet in a bank, and the odd banks are idle.
 * Gains: nothing: 2 wavefronts a request, half of the rate.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_stride_2(const struct mg__banks *call)
{
    return mg__banks_launch<1, 2>(call);
}
