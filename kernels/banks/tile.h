/* tile.h - what the kernels of banks and their reference in C must agree on. */
#ifndef MG_BANKS_TILE_H
#define MG_BANKS_TILE_H
enum {
    BANKS_THREADS = 256,
    BANKS_TILE = 32 * 33, /* words; 33 for the padded column */
    BANKS_SHIFTS = 8,     /* rounds after which the pattern is back where it began */
};
#endif
