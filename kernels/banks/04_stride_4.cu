/* 04_stride_4.cu - lane l reads word 4l.
 *
 * Adds: lanes 8 apart meet in a bank, four to each of eight.
 * Gains: nothing: 4 wavefronts, a quarter of the rate. A structure of four words, read a word at a time, does this.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_stride_4(const struct mg__banks *call)
{
    return mg__banks_launch<1, 4>(call);
}
