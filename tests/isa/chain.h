/* chain.h - random chains of carry instructions, with what they must compute.
 *
 * Every seed is one kernel run(in, out): 32 instructions, most of them add.cc to madc.hi.cc of 32 and 64 bits in any
 * order, on registers that thread i loads from four slots at in + 32 i; it stores four slots at out + 32 i. Odd seeds
 * guard some of the instructions. Nothing here knows who runs them: test_isa.c does, and device.c on a GPU.
 */
#ifndef MG_TEST_CHAIN_H
#define MG_TEST_CHAIN_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { CHAIN_COUNT = 128, CHAIN_LENGTH = 32, CHAIN_THREADS = 256, CHAIN_SLOTS = 4 };

struct chain_step {
    uint8_t op, dst, src[3]; /* registers */
    bool wide, is_signed, in, out, immediate, guarded, when;
    uint64_t value; /* of the last operand, where that is an immediate */
};
struct chain {
    struct chain_step step[CHAIN_LENGTH];
};
void chain_make(uint32_t seed, struct chain *chain);
void chain_ptx(FILE *out, const struct chain *chain);
void chain_input(uint32_t seed, uint32_t thread, uint64_t in[CHAIN_SLOTS]);
void chain_expect(const struct chain *chain, uint32_t thread, const uint64_t in[CHAIN_SLOTS],
                  uint64_t out[CHAIN_SLOTS]);
#endif
