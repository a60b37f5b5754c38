/* Blelloch padded: a free word after every 32 spreads the nodes of a level over the banks.
 *
 * Element i lives at word i + i/32: nodes that are a multiple of 32 words apart move on by a bank for each row between
 * them. Should gain nearly all wavefronts that the rung before needs above one a request, for 3% more shared memory and
 * an addition an address. The kernel is scan_blelloch_kernel with padding. */
#include "scan/scan_priv.h"

template <typename T> enum mg_kernels_status mg__scan_blelloch_padded(const scan_call<T> &c)
{
    return scan_passes<scan_blelloch<true>>(c.stream, c.exclusive, c.n, c.x, c.y, static_cast<T *>(c.workspace));
}
SCAN_INSTANCES(blelloch_padded)
