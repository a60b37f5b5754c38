/* decoupled look-back: one pass, in which tiles learn their prefix from the tiles before them.
 *
 * (After D. Merrill and M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.) A tile publishes
 * its sum as soon as it has it, and then looks at the tiles before it, nearest first: sums are added up until one is
 * found that has published the prefix of all up to its end. The tile then publishes its own. No tile waits for the one
 * before it to be done, only for it to have read its elements. Every element is read once and written once: 8 bytes,
 * what a copy moves. Should gain half as much again as three passes.
 *
 * What is published is one 64-bit word, state and value together, so that a single access makes or sees it whole and no
 * fence is needed. A warp looks back over 32 tiles at a time.
 *
 * All tiles that a tile waits for have to be running, and nothing is promised of the order in which blocks start. A
 * ticket for each block that starts would do, but its answer takes 0.7 us, in which nothing is read; so a block takes the
 * tile of its number, and sums for itself what it has waited for too long, if that should ever happen. In place, where
 * elements may be gone by then, there are tickets.
 *
 * The sum is published before the tile is scanned, which takes several times as long: the tiles behind wait for no more
 * than they need, and the scan fills the time until those in front have published.
 *
 * How far the sum of a tile reaches back depends on what was published when: the order of additions varies, and with it
 * the last bits of floats. */
#include "scan/look_back.cuh"

template <class Order, int THREADS, typename T> static enum mg_kernels_status shape(const scan_call<T> &c)
{
    if (scan_phase(c.x) == scan_phase(c.y))
        return scan_look_back<Order, T, true, THREADS, SCAN_LOOK_VECTORS, SCAN_LOOK_WORDS, SCAN_LOOK_DELAY>(c);
    return scan_look_back<Order, T, false, THREADS, SCAN_LOOK_VECTORS, SCAN_LOOK_WORDS, SCAN_LOOK_DELAY>(c);
}

template <class Order, typename T> static enum mg_kernels_status sized(const scan_call<T> &c)
{
    return c.n / SCAN_LOOK_TILE < mg__kernels_sm_count() ? shape<Order, SCAN_LOOK_SMALL_THREADS>(c)
                                                         : shape<Order, SCAN_LOOK_THREADS>(c);
}

template <typename T> enum mg_kernels_status mg__scan_look_back(const scan_call<T> &c)
{
    return c.x == c.y ? sized<scan_by_ticket>(c) : sized<scan_by_index<SCAN_LOOK_PATIENCE>>(c);
}
SCAN_INSTANCES(look_back)
