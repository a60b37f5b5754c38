/* 10_stride_31.cu - lane l reads word 31l.
 *
 * Adds: -1 modulo 32: the banks in descending order.
 * Gains: nothing over stride 1, and loses nothing: 1 wavefront; the order of the banks does not matter.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_stride_31(const struct mg__banks *call)
{
    return mg__banks_launch<1, 31>(call);
}
