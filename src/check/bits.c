/* bits.c - definedness through one instruction of one lane, bit by bit.
 *
 * Moves, selections, shifts by a known distance, products with a power of two and what takes fields out of words and
 * puts them in are exact. So are the bitwise operations: each combination of undefined inputs as all zeros and all
 * ones is tried, and a bit that comes out the same every time is defined. In sums an undefined bit makes those above
 * it undefined, for a carry goes up. Comparisons for equality are defined where a defined bit differs. Of all else the
 * whole result is undefined if any bit of an operand is, half by half where two numbers of 16 bits are packed. An
 * instruction that is not listed is one of these.
 */
#include "check/bits.h"

static uint64_t ones(unsigned bits)
{
    return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

static uint64_t any(const struct mg_bits in[MG_BITS_OPERANDS])
{
    uint64_t u = 0;
    for (unsigned k = 0; k < MG_BITS_OPERANDS; k++)
        u |= in[k].undefined;
    return u;
}

/* From the lowest undefined bit on. */
static uint64_t upwards(uint64_t undefined)
{
    return undefined ? ~0ull << __builtin_ctzll(undefined) : 0;
}

static uint64_t bitwise(const struct mg_ptx_insn *i, uint64_t a, uint64_t b, uint64_t c, uint64_t table)
{
    switch (i->opcode) {
    case MG_OP_AND:
        return a & b;
    case MG_OP_OR:
        return a | b;
    case MG_OP_XOR:
        return a ^ b;
    case MG_OP_NOT:
        return ~a;
    default: {
        uint64_t r = 0;
        for (unsigned k = 0; k < 8; k++)
            if (table >> k & 1)
                r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
        return r;
    }
    }
}

static uint64_t of_bitwise(const struct mg_ptx_insn *i, const struct mg_bits in[MG_BITS_OPERANDS])
{
    uint64_t first = 0, undefined = 0;
    unsigned n = i->opcode == MG_OP_LOP3 ? 8 : i->opcode == MG_OP_NOT ? 2 : 4;
    for (unsigned k = 0; k < n; k++) {
        uint64_t v[3];
        for (unsigned j = 0; j < 3; j++)
            v[j] = k >> j & 1 ? in[j].value | in[j].undefined : in[j].value & ~in[j].undefined;
        uint64_t r = bitwise(i, v[0], v[1], v[2], in[3].value);
        if (k == 0)
            first = r;
        undefined |= r ^ first;
    }
    return undefined;
}

static bool is_signed(uint8_t type)
{
    return type >= MG_T_S8 && type <= MG_T_S64;
}

static bool is_float(uint8_t type)
{
    return type >= MG_T_F16 && type <= MG_T_BF16X2;
}

static bool is_packed(uint8_t type)
{
    return type == MG_T_F16X2 || type == MG_T_BF16X2 || type == MG_T_U16X2 || type == MG_T_S16X2;
}

/* Of two numbers in a word, each of a number of the operands'. */
static uint64_t of_halves(const struct mg_bits in[MG_BITS_OPERANDS])
{
    const uint64_t u = any(in);
    return (u & 0xffff ? 0xffffu : 0) | (u & 0xffff0000u ? 0xffff0000u : 0);
}

static uint64_t of_shift(const struct mg_ptx_insn *i, const struct mg_bits in[MG_BITS_OPERANDS])
{
    unsigned bits = 8 * mg__ptx_type_size((enum mg_ptx_type)i->type[0]);
    uint64_t a = in[0].undefined & ones(bits), by = MG_MIN(in[1].value & 0xffffffffu, bits);
    if (in[1].undefined)
        return ~0ull;
    if (i->opcode == MG_OP_SHL)
        return by >= 64 ? 0 : a << by;
    uint64_t top = is_signed(i->type[0]) && a >> (bits - 1) & 1 ? ~ones(bits - (unsigned)by) : 0;
    return (by >= 64 ? 0 : a >> by) | top;
}

static uint64_t of_funnel(const struct mg_ptx_insn *i, const struct mg_bits in[MG_BITS_OPERANDS])
{
    uint64_t pair = in[1].undefined << 32 | (in[0].undefined & ones(32)), by = in[2].value & 0xffffffffu;
    if (in[2].undefined)
        return ~0ull;
    by = i->flags & MG_F_CLAMP ? MG_MIN(by, 32) : by & 31;
    return i->sub == MG_SUB_L ? pair << by >> 32 : pair >> by;
}

static uint64_t of_field(const struct mg_ptx_insn *i, const struct mg_bits in[MG_BITS_OPERANDS])
{
    unsigned bits = 8 * mg__ptx_type_size((enum mg_ptx_type)i->type[0]);
    const struct mg_bits *at = i->opcode == MG_OP_BFI ? &in[2] : &in[1];
    uint64_t from = at[0].value & 255, n = at[1].value & 255;
    if (at[0].undefined || at[1].undefined)
        return ~0ull;
    if (i->opcode == MG_OP_BFI) {
        uint64_t field = from >= bits ? 0 : ones((unsigned)MG_MIN(n, bits)) << from;
        return (in[1].undefined & ~field) | (from >= 64 ? 0 : in[0].undefined << from & field);
    }
    uint64_t got = from >= bits ? 0 : (in[0].undefined & ones(bits)) >> from & ones((unsigned)n);
    uint64_t sign = MG_MIN(from + n - (n != 0), bits - 1); /* where the sign was */
    bool extends = is_signed(i->type[0]) && n && in[0].undefined >> sign & 1;
    return got | (extends ? ~ones((unsigned)MG_MIN(n, 64)) : 0);
}

static uint64_t of_bytes(const struct mg_ptx_insn *i, const struct mg_bits in[MG_BITS_OPERANDS])
{
    uint64_t both = in[1].undefined << 32 | (in[0].undefined & ones(32)), r = 0;
    if (in[2].undefined || i->sub != MG_SUB_NONE)
        return any(in) ? ~0ull : 0;
    for (unsigned k = 0; k < 4; k++) {
        unsigned pick = in[2].value >> (4 * k) & 15;
        uint64_t byte = both >> (8 * (pick & 7)) & 255;
        r |= (pick & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * k);
    }
    return r;
}

static uint64_t of_conversion(const struct mg_ptx_insn *i, const struct mg_bits in[MG_BITS_OPERANDS], bool *copies)
{
    uint8_t to = i->type[0], from = i->type[1];
    unsigned bits = 8 * mg__ptx_type_size((enum mg_ptx_type)from);
    *copies = i->ntypes == 2 && !(i->flags & MG_F_SAT) && from >= MG_T_B8 && from <= MG_T_S64 && to >= MG_T_B8 &&
              to <= MG_T_S64;
    if ((to == MG_T_F16X2 || to == MG_T_BF16X2) && from == MG_T_F32) /* the first operand becomes the upper half */
        return (in[0].undefined ? 0xffff0000u : 0) | (in[1].undefined ? 0xffffu : 0);
    if (!*copies)
        return any(in) ? ~0ull : 0;
    uint64_t u = in[0].undefined & ones(bits);
    return u | (is_signed(from) && u >> (bits - 1) & 1 ? ~ones(bits) : 0);
}

/* By a power of two a product is a shift: nvcc moves bytes up by mul.wide.u16. */
static bool of_product(const struct mg_ptx_insn *i, const struct mg_bits in[MG_BITS_OPERANDS], uint64_t *undefined)
{
    const unsigned bits = 8 * mg__ptx_type_size((enum mg_ptx_type)i->type[0]), by = in[1].undefined ? 0 : 1;
    const uint64_t factor = in[by].value & ones(bits), u = in[1 - by].undefined & ones(bits);
    const bool wide = i->flags & MG_F_WIDE, negative = is_signed(i->type[0]) && factor >> (bits - 1) & 1;
    if (in[by].undefined || !factor || factor & (factor - 1) || (wide && negative))
        return false;
    const bool extends = wide && is_signed(i->type[0]) && u >> (bits - 1) & 1;
    *undefined = (u | (extends ? ~ones(bits) : 0)) << __builtin_ctzll(factor);
    return true;
}

/* Equal, whatever the undefined bits are, or not; or the sign alone is asked for. */
static uint64_t of_comparison(const struct mg_ptx_insn *i, const struct mg_bits in[MG_BITS_OPERANDS])
{
    uint8_t type = i->type[i->opcode == MG_OP_SET ? 1 : 0];
    unsigned bits = 8 * mg__ptx_type_size((enum mg_ptx_type)type);
    uint64_t u = (in[0].undefined | in[1].undefined) & ones(bits);
    if (in[2].undefined)
        return ~0ull;
    if (!u)
        return 0;
    if (i->opcode == MG_OP_SET && is_packed(type))
        return of_halves(in);
    if (!is_float(type) && (i->cmp == MG_CMP_EQ || i->cmp == MG_CMP_NE))
        return (in[0].value ^ in[1].value) & ones(bits) & ~u ? 0 : ~0ull;
    if (is_signed(type) && (i->cmp == MG_CMP_LT || i->cmp == MG_CMP_GE) && !(in[1].value & ones(bits)))
        return u >> (bits - 1) & 1 ? ~0ull : 0;
    return ~0ull;
}

static uint64_t of_choice(const struct mg_bits in[MG_BITS_OPERANDS])
{
    if (in[2].undefined & 1)
        return in[0].undefined | in[1].undefined | (in[0].value ^ in[1].value);
    return in[2].value & 1 ? in[0].undefined : in[1].undefined;
}

uint64_t mg__bits_of_result(const struct mg_ptx_insn *i, const struct mg_bits in[MG_BITS_OPERANDS], unsigned size,
                            bool *copies)
{
    uint64_t whole = size ? ones(8 * size) : 1;
    *copies = true;
    switch (i->opcode) {
    case MG_OP_MOV:
    case MG_OP_CVTA:
        return in[0].undefined & whole;
    case MG_OP_AND:
    case MG_OP_OR:
    case MG_OP_XOR:
    case MG_OP_NOT:
    case MG_OP_LOP3:
        return of_bitwise(i, in) & whole;
    case MG_OP_SHL:
    case MG_OP_SHR:
        return of_shift(i, in) & whole;
    case MG_OP_SHF:
        return of_funnel(i, in) & whole;
    case MG_OP_BFE:
    case MG_OP_BFI:
        return of_field(i, in) & whole;
    case MG_OP_PRMT:
        return of_bytes(i, in) & whole;
    case MG_OP_SELP:
        return of_choice(in) & whole;
    case MG_OP_CVT:
        return of_conversion(i, in, copies) & whole;
    case MG_OP_MUL: {
        uint64_t undefined;
        if (!is_float(i->type[0]) && !(i->flags & (MG_F_HI | MG_F_SAT)) && of_product(i, in, &undefined))
            return undefined & whole;
        break;
    }
    default:
        break;
    }
    *copies = false;
    if (i->ntypes == 1 && is_packed(i->type[0]) && size == 4)
        return of_halves(in);
    switch (i->opcode) {
    case MG_OP_SETP:
    case MG_OP_SET:
        return of_comparison(i, in) & whole;
    case MG_OP_ADD:
    case MG_OP_SUB:
    case MG_OP_MUL:
    case MG_OP_MAD:
    case MG_OP_NEG:
        if (!is_float(i->type[0]) && !(i->flags & (MG_F_HI | MG_F_SAT)))
            return upwards(any(in)) & whole;
        break;
    default:
        break;
    }
    return any(in) ? whole : 0;
}
