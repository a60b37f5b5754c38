/* lower_operand.c - operands of PTX instructions as slots: registers of another size, immediates, addresses, special
 * registers. */
#include "simt/lower.h"

void mg__lower_unsupported(struct mg_lower *L)
{
    mg__lower_op(L, MG_DO_UNSUPPORTED, 0, NULL, 0);
}

static uint64_t immediate(const struct mg_ptx_opnd *o, uint8_t type)
{
    if (!o->is_float)
        return (uint64_t)o->imm;
    uint64_t bits = (uint64_t)o->imm;
    if (type == MG_T_F64 && !o->wide_float) {
        float f;
        memcpy(&f, &(uint32_t){(uint32_t)bits}, 4);
        double d = f;
        memcpy(&bits, &d, 8);
    } else if (type != MG_T_F64 && o->wide_float && type != MG_T_B64) {
        double d;
        memcpy(&d, &bits, 8);
        float f = (float)d;
        uint32_t b;
        memcpy(&b, &f, 4);
        bits = b;
    }
    return bits;
}

/* Where a variable's address is known when the launch is lowered; local ones depend on the frame. */
bool mg__lower_address(const struct mg_lower *L, const struct mg_ptx_opnd *o, uint64_t *address)
{
    if (o->func) {
        *address = L->module->simt->func_window + 16ull * o->func->id;
        return true;
    }
    const struct mg_ptx_var *v = o->var;
    if (!v) {
        *address = (uint64_t)o->imm;
        return true;
    }
    switch (v->space) {
    case MG_SPACE_SHARED:
        *address = L->shared_at[v->id] + (uint64_t)o->imm;
        return true;
    case MG_SPACE_PARAM:
        *address = v->offset + (uint64_t)o->imm;
        return L->func->is_entry;
    case MG_SPACE_GLOBAL:
    case MG_SPACE_CONST:
        *address = L->module->addresses[v->id] + (uint64_t)o->imm;
        return L->module->addresses[v->id] != 0;
    default:
        return false;
    }
}

void mg__lower_sreg(struct mg_lower *L, const struct mg_ptx_opnd *o, int32_t to, unsigned bytes)
{
    struct mg_op *op = mg__lower_op(L, MG_DO_SREG, 1, MG_OPERANDS(MG_SIZED(to, bytes == 8 ? 8 : 4)));
    op->u.imm = o->index | (uint64_t)o->dim << 16;
    op->mode = bytes == 8;
    L->program->reserved |= o->index == MG_SR_RESERVED_SMEM;
}

/* The operand as a slot of the carrier's size; conversions on the way are emitted. -1: it cannot be. */
int32_t mg__lower_source(struct mg_lower *L, const struct mg_ptx_opnd *o, unsigned bytes, uint8_t type, unsigned temp)
{
    if (o->kind == MG_OPND_REG && o->dim) /* a part of it */
        return -1;
    const int32_t to = bytes == 0 ? L->temp_pred[temp % MG_COUNT(L->temp_pred)] : L->temp[temp];
    uint64_t address;
    switch (o->kind) {
    case MG_OPND_REG: {
        unsigned size = mg__lower_reg_size(L, o);
        if ((size == 0) != (bytes == 0))
            return -1;
        if (size == 0) {
            if (!o->negate)
                return L->slots[o->index];
            return mg__lower_unary(L, "not_pred", to, L->slots[o->index]);
        }
        if (size == 8 && bytes <= 4) /* the low half of a wider register */
            return mg__lower_unary(L, "cvt_u32_u64", to, L->slots[o->index]);
        if (size <= 4 && bytes == 8)
            return mg__lower_unary(L, mg__lower_is_signed(type) ? "cvt_s64_s32" : "cvt_u64_u32", to,
                                   L->slots[o->index]);
        return size > 8 ? -1 : L->slots[o->index];
    }
    case MG_OPND_IMM:
        if (bytes == 0)
            return mg__lower_const(L, ((o->imm != 0) != o->negate) ? ~0u : 0, false);
        return mg__lower_const(L, immediate(o, type), bytes == 8);
    case MG_OPND_SREG:
        if (bytes == 0) { /* there is one that is a predicate */
            if (o->index != MG_SR_CLUSTER || o->dim != MG_CLUSTER_EXPLICIT)
                return -1;
            mg__lower_op(L, MG_DO_CLUSTER_NAMED, 1, MG_OPERANDS(MG_PRED(to)));
            return to;
        }
        mg__lower_sreg(L, o, to, bytes);
        return to;
    case MG_OPND_SYMBOL:
    case MG_OPND_FUNC:
        if (o->var && o->var->space == MG_SPACE_LOCAL) {
            if (bytes == 0)
                return -1;
            struct mg_op *op = mg__lower_op(L, MG_DO_LOCAL_ADDRESS, 1, MG_OPERANDS(MG_SIZED(to, bytes == 8 ? 8 : 4)));
            op->u.imm = L->var_at[o->var->id] + (uint64_t)o->imm;
            op->mode = bytes == 8;
            return to;
        }
        return mg__lower_address(L, o, &address) ? mg__lower_const(L, address, bytes == 8) : -1;
    default:
        return -1;
    }
}

/* The slot that an operation of `carrier` writes for destination `o`, and what must follow for a wider register. */
int32_t mg__lower_destination(struct mg_lower *L, const struct mg_ptx_opnd *o, unsigned bytes)
{
    if (o->kind == MG_OPND_SINK)
        return bytes == 0 ? L->temp_pred[2] : L->temp[5];
    if (o->kind != MG_OPND_REG || o->dim)
        return -1;
    unsigned size = mg__lower_reg_size(L, o);
    if ((size == 0) != (bytes == 0) || size > 8 || (bytes == 8 && size < 8))
        return -1;
    return size == 8 && bytes < 8 ? L->temp[5] : L->slots[o->index];
}

void mg__lower_widen(struct mg_lower *L, const struct mg_ptx_opnd *o, unsigned bytes, uint8_t type)
{
    if (o->kind != MG_OPND_REG || bytes == 0)
        return;
    unsigned size = mg__lower_reg_size(L, o);
    int32_t narrow = size == 8 ? L->temp[5] : L->slots[o->index];
    if (bytes == 2 && size > 2 && mg__lower_is_signed(type))
        mg__lower_unary(L, "cvt_s32_s16", narrow, narrow);
    if (size == 8 && bytes < 8)
        mg__lower_unary(L, mg__lower_is_signed(type) ? "cvt_s64_s32" : "cvt_u64_u32", L->slots[o->index], narrow);
}

bool mg__lower_halves(struct mg_lower *L, const struct mg_ptx_opnd *o, bool dest, int32_t half[2])
{
    if (o->kind == MG_OPND_REG && mg__lower_reg_size(L, o) == 16) {
        half[0] = L->slots[o->index];
        half[1] = half[0] + 256;
        return true;
    }
    /* ptxas takes any constant of 64 bits; what it puts above a negative one is written nowhere, so it is refused. */
    if (dest || o->kind != MG_OPND_IMM || o->is_float || o->imm < 0)
        return false;
    half[0] = mg__lower_const(L, (uint64_t)o->imm, true);
    half[1] = mg__lower_const(L, 0, true);
    return true;
}

#define MG_TWO_WORDS (2 | 4u << 8 | 1u << 16) /* misc.c: the mode of a register and its parts */

void mg__lower_pack(struct mg_lower *L, int32_t whole, int32_t low, int32_t high)
{
    mg__lower_op(L, MG_DO_PACK, 1, MG_OPERANDS(MG_LONG(whole), MG_WORD(low), MG_WORD(high)))->mode = MG_TWO_WORDS;
}

void mg__lower_unpack(struct mg_lower *L, int32_t whole, int32_t low, int32_t high)
{
    mg__lower_op(L, MG_DO_UNPACK, 2, MG_OPERANDS(MG_WORD(low), MG_WORD(high), MG_LONG(whole)))->mode = MG_TWO_WORDS;
}
