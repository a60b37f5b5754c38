/* pipelined: blocks that stay; while one tile is scanned, the next one's prefix is looked up and more are on their way.
 *
 * In the rung before, a tile waits for its elements, then for the tiles before it, and holds its registers all the
 * while; what a multiprocessor has under way is what it has registers for. Here a block stays, and has a ring of tiles
 * in shared memory, filled by asynchronous copies (cp.async). Its warps but one scan; the last one, the scout, draws
 * tickets, publishes and looks back. In phase j, between two barriers:
 *
 * - the others scan and write tile j, whose prefix is known, begin to copy tile j + STAGES into its place in the ring,
 *   wait for tile j + 2, and sum it;
 * - the scout publishes the sum of tile j + 1, and looks back for its prefix.
 *
 * So a tile's sum is published long before its prefix is needed, and the look-back costs nothing as long as it is
 * shorter than a phase. A thread copies the very 16 bytes that it will scan: the ring needs no barrier, only the copy's
 * own wait. Should gain the time in which the memory idles: towards the rate of a copy.
 *
 * Of all tiles that are not done the first is always the present one of its block or next to it, since a block takes
 * its tiles in the order of their tickets, and waits only for tiles before them: everything moves on. */
#include "scan/pipelined.cuh"

template <typename T> enum mg_kernels_status mg__scan_pipelined(const scan_call<T> &c)
{
    if (scan_phase(c.x) == scan_phase(c.y))
        return scan_pipelined<T, true, SCAN_PIPE_THREADS, SCAN_PIPE_VECTORS, SCAN_PIPE_STAGES, SCAN_PIPE_BLOCKS,
                              SCAN_LOOK_WORDS>(c);
    return scan_pipelined<T, false, SCAN_PIPE_THREADS, SCAN_PIPE_VECTORS, SCAN_PIPE_STAGES, SCAN_PIPE_BLOCKS,
                          SCAN_LOOK_WORDS>(c);
}
SCAN_INSTANCES(pipelined)
