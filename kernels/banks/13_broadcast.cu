/* 13_broadcast.cu - all lanes read the same word.
 *
 * Adds: one address for the warp.
 * Gains: the words of a bank are not the measure, different words are: 1 wavefront.
 */
#include "banks/banks_priv.h"

enum mg_kernels_status mg__banks_broadcast(const struct mg__banks *call)
{
    return mg__banks_launch<1, 0>(call);
}
