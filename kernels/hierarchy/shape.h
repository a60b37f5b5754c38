/* shape.h - what the kernels of hierarchy and their reference in C must agree on: who reads what.
 *
 * Streams: a block has HIERARCHY_THREADS threads and each makes `steps` loads of four words. Vector v is the words
 * (4v + k) mod n, k = 0..3, of which there are max(1, n / 4). Where each block streams by itself (shared memory, L1),
 * load j of thread t is vector (t + j T) mod V, T being the block's threads; else vector (g + j G) mod V, g being the
 * thread's number in the grid and G the grid's threads. So all loads together are a run of vectors that follow one
 * another, from 0.
 *
 * Registers: thread g holds eight words, (8g + k) mod n, of which only the low 8 bits count, so that sums of floats are
 * exact; step j reads number j mod 8.
 */
#ifndef MG_HIERARCHY_SHAPE_H
#define MG_HIERARCHY_SHAPE_H
enum {
    HIERARCHY_THREADS = 512,
    HIERARCHY_BLOCKS = 2, /* a multiprocessor's */
    HIERARCHY_CHAINS = 8,
    HIERARCHY_OPERANDS = 3,     /* registers that a multiply-add reads */
    HIERARCHY_FACTOR = 1664525, /* of the chain in registers: index = index * factor + x[0] */
};
#endif
