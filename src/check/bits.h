/* bits.h - which bits of a result are undefined, when bits of the operands are. */
#ifndef MG_CHECK_BITS_H
#define MG_CHECK_BITS_H
#include "ptx/ptx.h"

enum { MG_BITS_OPERANDS = 4 };
struct mg_bits { /* an operand of one lane */
    uint64_t value, undefined;
};
/* Of the instruction's first result, which has `size` bytes (0: a predicate, bit 0). *copies: all that the result has
 * of its operands are bits of theirs. */
uint64_t mg__bits_of_result(const struct mg_ptx_insn *insn, const struct mg_bits in[MG_BITS_OPERANDS], unsigned size,
                            bool *copies);
#endif
