/* decoupled look-back: one pass, in which tiles learn their prefix from the tiles before them.
 *
 * (After D. Merrill and M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.) A tile publishes
 * its sum as soon as it has it, and then looks at the tiles before it, nearest first: sums are added up until one is
 * found that has published the prefix of all up to its end. The tile then publishes its own. No tile waits for the one
 * before it to be done, only for it to have read its elements. Every element is read once and written once: 8 bytes,
 * what a copy moves. Should gain half as much again as three passes.
 *
 * What is published is one 64-bit word, state and value together, so that a single access makes or sees it whole and no
 * fence is needed. All tiles that a tile may wait for have to be running: tiles are therefore numbered in the order in
 * which blocks start, by a ticket, and not by blockIdx, of whose order nothing is promised. A warp looks back, 32 tiles
 * at a time.
 *
 * The sum is published before the tile is scanned, which takes several times as long: the tiles behind wait for no more
 * than they need, and the scan fills the time until those in front have published.
 *
 * How far the sum of a tile reaches back depends on what was published when: the order of additions varies, and with it
 * the last bits of floats. */
#include "scan/look_back.cuh"

template <int VECTORS, typename T> static enum mg_kernels_status shape(const scan_call<T> &c)
{
    if (scan_phase(c.x) == scan_phase(c.y))
        return scan_look_back<T, true, SCAN_LOOK_THREADS, VECTORS, SCAN_LOOK_WORDS, SCAN_LOOK_DELAY>(c);
    return scan_look_back<T, false, SCAN_LOOK_THREADS, VECTORS, SCAN_LOOK_WORDS, SCAN_LOOK_DELAY>(c);
}

template <typename T> enum mg_kernels_status mg__scan_look_back(const scan_call<T> &c)
{
    return c.n / SCAN_LOOK_TILE < mg__kernels_sm_count() ? shape<SCAN_LOOK_SMALL_VECTORS>(c)
                                                         : shape<SCAN_LOOK_VECTORS>(c);
}
SCAN_INSTANCES(look_back)
