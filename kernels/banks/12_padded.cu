/* 12_padded.cu - the column of a tile with a 33rd word a row.
 *
 * Adds: one unused word at the end of each row of the tile, so that the rows are 33 words apart.
 * Gains: 31 of the 32 wavefronts of stride 32: 1 is left.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_padded(const struct mg__banks *call)
{
    return mg__banks_launch<1, 33>(call);
}
