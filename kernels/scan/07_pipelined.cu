/* pipelined: blocks that stay; while a tile looks back and is written, the next one is on its way.
 *
 * In the rung before, a block waits for its elements, then for the tiles before it, and holds its registers all the
 * while; nothing of it is under way while it looks back. Here a block stays, and has two tiles: one in registers, which
 * is scanned, looks back and is written, and one in shared memory, to which asynchronous copies (cp.async) bring it in
 * the meantime, without a register. A thread copies the very 16 bytes that it will scan: only the copy's own wait is
 * needed, no barrier. Should gain the time in which a multiprocessor asks the memory for nothing: towards the rate of a
 * copy.
 *
 * A block takes its tiles in the order of their tickets and waits only for tiles before them: of all tiles that are not
 * done, the first is always one that nobody holds up. */
#include "scan/pipelined.cuh"

template <typename T> enum mg_kernels_status mg__scan_pipelined(const scan_call<T> &c)
{
    if (scan_phase(c.x) == scan_phase(c.y))
        return scan_pipelined<T, true, SCAN_PIPE_THREADS, SCAN_PIPE_VECTORS, SCAN_PIPE_BLOCKS, SCAN_PIPE_WORDS,
                              SCAN_PIPE_DELAY, SCAN_PIPE_STREAMING>(c);
    return scan_pipelined<T, false, SCAN_PIPE_THREADS, SCAN_PIPE_VECTORS, SCAN_PIPE_BLOCKS, SCAN_PIPE_WORDS,
                          SCAN_PIPE_DELAY, SCAN_PIPE_STREAMING>(c);
}
SCAN_INSTANCES(pipelined)
