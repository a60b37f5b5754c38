/* Blelloch: sums go up a tree, prefixes come down.
 *
 * Two additions an element where Hillis-Steele makes eight, with two elements a thread. Should gain the work; pays with
 * bank conflicts: on the tree's level d the nodes lie 2^d words apart, so that the lanes of a warp meet in 32 / 2^d
 * banks, and up to 16 wavefronts are needed for one request. The kernel is scan_blelloch_kernel without padding. */
#include "scan/scan_priv.h"

template <typename T> enum mg_kernels_status mg__scan_blelloch(const scan_call<T> &c)
{
    return scan_passes<scan_blelloch<false>>(c.stream, c.exclusive, c.n, c.x, c.y, static_cast<T *>(c.workspace));
}
SCAN_INSTANCES(blelloch)
