/* sample.h - the accesses of a sampled block, as sample.c keeps them and digest.c reads them. */
#ifndef MG_TIME_SAMPLE_H
#define MG_TIME_SAMPLE_H
#include "time/time_priv.h"

struct request {
    uint32_t insn;
    uint32_t first, count; /* of the sample's sectors */
    uint16_t wavefronts, lines, words, passes, rounds, turns, warp; /* words: of one bank of the first cache, most */
    uint8_t kind, space;
};
enum { CONSTANT_LINE = 64, CONSTANT_LINES = 4096 };
#define LOCAL (UINT64_C(1) << 56) /* from here on: local memory, by block and warp */
/* Warps often come back to sectors that they or others were at before, an element further: they have them together. */
enum { MG_TIME_LATEST = 256 };
struct mg_time_sample {
    MG_VEC(struct request) requests;
    MG_VEC(uint64_t) sectors; /* addresses / 32; those of a request are new, or those of one before it that is alike */
    uint64_t touched;         /* of all requests, those that they have together as well */
    uint32_t latest[MG_TIME_LATEST]; /* such requests, plus 1, by their first sector */
    uint64_t constants[CONSTANT_LINES / 64]; /* a bit for each line of constant memory that is read, modulo */
    uint64_t *swapped;        /* a bit for each word of shared memory that compare-and-swaps change; NULL: none */
    uint32_t nswapped;
};
#endif
