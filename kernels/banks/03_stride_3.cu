/* 03_stride_3.cu - lane l reads word 3l.
 *
 * Adds: a stride without a factor of two: l -> 3l is a permutation of the residues modulo 32.
 * Gains: all that stride 2 lost: 1 wavefront.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_stride_3(const struct mg__banks *call)
{
    return mg__banks_launch<1, 3>(call);
}
