/* lower_insn.c - one PTX instruction becomes one op or a few.
 *
 * Arithmetic is found by name: opcode, parts and types as written make the name of a row of sem.def, whose handlers do
 * the work. To add an arithmetic instruction, add its row to isa.def and sem.def; only what moves data between lanes, spaces or
 * registers of other sizes needs code here.
 */
#include "simt/lower.h"

static const struct mg_ptx_opnd *opnd(const struct mg_lower *L, unsigned n)
{
    return mg__ptx_op(L->func, L->insn, n);
}

static void unsupported(struct mg_lower *L)
{
    mg__lower_emit(L, mg__op_unsupported);
}

static unsigned type_size(uint8_t type)
{
    return mg__ptx_type_size((enum mg_ptx_type)type);
}

static unsigned reg_size(const struct mg_lower *L, const struct mg_ptx_opnd *o)
{
    return type_size(L->func->regs[o->index].type); /* 0: a predicate */
}

static bool is_signed(uint8_t type)
{
    return type >= MG_T_S8 && type <= MG_T_S64;
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
static bool static_address(const struct mg_lower *L, const struct mg_ptx_opnd *o, uint64_t *address)
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

/* The operand as a slot of the carrier's size; conversions on the way are emitted. -1: it cannot be. */
static int32_t source(struct mg_lower *L, const struct mg_ptx_opnd *o, unsigned bytes, uint8_t type, unsigned temp)
{
    struct mg_op *op;
    uint64_t address;
    switch (o->kind) {
    case MG_OPND_REG: {
        unsigned size = reg_size(L, o);
        if (size == 0) {
            if (!o->negate)
                return L->slots[o->index];
            int row = mg__sem_find("not_pred");
            op = mg__lower_emit(L, L->lanes->alu[row][0]);
            op->a = L->slots[o->index];
            return op->d = L->temp_pred[temp % MG_COUNT(L->temp_pred)];
        }
        if (size == 8 && bytes <= 4) { /* the low half of a wider register */
            op = mg__lower_emit(L, L->lanes->alu[mg__sem_find("cvt_u32_u64")][0]);
            op->a = L->slots[o->index];
            return op->d = L->temp[temp];
        }
        if (size <= 4 && bytes == 8) {
            op = mg__lower_emit(L, L->lanes->alu[mg__sem_find(is_signed(type) ? "cvt_s64_s32" : "cvt_u64_u32")][0]);
            op->a = L->slots[o->index];
            return op->d = L->temp[temp];
        }
        return size > 8 ? -1 : L->slots[o->index];
    }
    case MG_OPND_IMM:
        if (bytes == 0)
            return mg__lower_const(L, ((o->imm != 0) != o->negate) ? ~0u : 0, false);
        return mg__lower_const(L, immediate(o, type), bytes == 8);
    case MG_OPND_SREG:
        op = mg__lower_emit(L, mg__op_sreg);
        op->u.imm = o->index | (uint64_t)o->dim << 16;
        op->mode = bytes == 8;
        return op->d = L->temp[temp];
    case MG_OPND_SYMBOL:
    case MG_OPND_FUNC:
        if (o->var && o->var->space == MG_SPACE_LOCAL) {
            op = mg__lower_emit(L, mg__op_local_address);
            op->u.imm = L->var_at[o->var->id] + (uint64_t)o->imm;
            op->mode = bytes == 8;
            return op->d = L->temp[temp];
        }
        return static_address(L, o, &address) ? mg__lower_const(L, address, bytes == 8) : -1;
    default:
        return -1;
    }
}

static unsigned carrier_bytes(uint8_t carrier)
{
    return carrier == MG_SEM_B64 ? 8 : carrier == MG_SEM_B32 ? 4 : carrier == MG_SEM_B16 ? 2 : 0;
}

/* The slot that an operation of `carrier` writes for destination `o`, and what must follow for a wider register. */
static int32_t destination(struct mg_lower *L, const struct mg_ptx_opnd *o, unsigned bytes)
{
    if (o->kind == MG_OPND_SINK)
        return bytes == 0 ? L->temp_pred[2] : L->temp[5];
    if (o->kind != MG_OPND_REG)
        return -1;
    unsigned size = reg_size(L, o);
    if ((size == 0) != (bytes == 0) || size > 8 || (bytes == 8 && size < 8))
        return -1;
    return size == 8 && bytes < 8 ? L->temp[5] : L->slots[o->index];
}

static void widen(struct mg_lower *L, const struct mg_ptx_opnd *o, unsigned bytes, uint8_t type)
{
    if (o->kind != MG_OPND_REG || bytes == 0)
        return;
    unsigned size = reg_size(L, o);
    struct mg_op *op;
    if (bytes == 2 && size > 2 && is_signed(type)) {
        op = mg__lower_emit(L, L->lanes->alu[mg__sem_find("cvt_s32_s16")][0]);
        op->d = op->a = size == 8 ? L->temp[5] : L->slots[o->index];
    }
    if (size == 8 && bytes < 8) {
        op = mg__lower_emit(L, L->lanes->alu[mg__sem_find(is_signed(type) ? "cvt_s64_s32" : "cvt_u64_u32")][0]);
        op->a = L->temp[5];
        op->d = L->slots[o->index];
    }
}

static uint32_t mode_of(const struct mg_ptx_insn *i)
{
    uint32_t mode = 0;
    switch (i->round) {
    case MG_RND_RZ:
    case MG_RND_RZI:
        mode = 1;
        break;
    case MG_RND_RM:
    case MG_RND_RMI:
        mode = 2;
        break;
    case MG_RND_RP:
    case MG_RND_RPI:
        mode = 3;
        break;
    case MG_RND_RNA:
        mode = 4;
        break;
    default:
        break;
    }
    if (i->round >= MG_RND_RNI && i->round <= MG_RND_RPI && i->opcode == MG_OP_CVT && i->type[0] >= MG_T_F16 &&
        i->type[0] <= MG_T_F64)
        mode |= SEM_INTEGRAL;
    mode |= i->flags & MG_F_FTZ ? SEM_FTZ : 0;
    mode |= i->flags & MG_F_SAT ? SEM_SAT : 0;
    mode |= i->flags & MG_F_RELU ? SEM_RELU : 0;
    mode |= i->flags & MG_F_NAN ? SEM_NAN : 0;
    mode |= i->flags & MG_F_XORSIGN_ABS ? SEM_XORSIGN_ABS : 0;
    mode |= i->flags & MG_F_SATFINITE ? SEM_SATFINITE : 0;
    return mode;
}

static const char *sub_name(const struct mg_ptx_insn *i)
{
    static const char *const names[] = {
        [MG_SUB_F4E] = "_f4e", [MG_SUB_B4E] = "_b4e", [MG_SUB_RC8] = "_rc8", [MG_SUB_ECL] = "_ecl",
        [MG_SUB_ECR] = "_ecr", [MG_SUB_RC16] = "_rc16", [MG_SUB_L] = "_l", [MG_SUB_R] = "_r",
        [MG_SUB_FINITE] = "_finite", [MG_SUB_INFINITE] = "_infinite", [MG_SUB_NUMBER] = "_number",
        [MG_SUB_NOTANUMBER] = "_notanumber", [MG_SUB_NORMAL] = "_normal", [MG_SUB_SUBNORMAL] = "_subnormal",
        [MG_SUB_PACK] = "_pack"};
    return i->sub < MG_COUNT(names) && names[i->sub] ? names[i->sub] : "";
}

/* The row of sem.def that an arithmetic instruction names, or -1. `stem` replaces the opcode's name if not NULL. */
static int find_row(const struct mg_ptx_insn *i, const char *stem, bool with_ftz)
{
    char name[96];
    const char *type0 = i->ntypes > 0 ? mg__ptx_type_name((enum mg_ptx_type)i->type[0]) : "";
    const char *type1 = i->ntypes > 1 ? mg__ptx_type_name((enum mg_ptx_type)i->type[1]) : "";
    snprintf(name, sizeof name, "%s%s%s%s%s%s%s%s%s%s%s%s%s%s", stem ? stem : mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->name,
             i->flags & MG_F_LO ? "_lo" : i->flags & MG_F_HI ? "_hi" : i->flags & MG_F_WIDE ? "_wide" : "", sub_name(i),
             i->flags & MG_F_SHIFTAMT ? "_shiftamt" : "", i->flags & MG_F_WRAP ? "_wrap" : i->flags & MG_F_CLAMP ? "_clamp" : "",
             i->flags & MG_F_FULL ? "_full" : "", i->flags & MG_F_APPROX ? "_approx" : "", with_ftz ? "_ftz" : "",
             i->cmp ? "_" : "", i->cmp ? mg__ptx_cmp_name((enum mg_ptx_cmp)i->cmp) : "", *type0 ? "_" : "", type0,
             *type1 ? "_" : "", type1);
    return mg__sem_find(name);
}

static mg_handler row_handler(const struct mg_lower *L, int row, uint32_t mode)
{
    return L->lanes->alu[row][mode == 0 ? 0 : mode == SEM_FTZ ? 1 : 2];
}

/* Emits row(d; operands from..). Returns false when an operand does not fit. */
static bool emit_row(struct mg_lower *L, int row, uint32_t mode, int32_t d, const int32_t args[4])
{
    struct mg_op *op = mg__lower_emit(L, row_handler(L, row, mode));
    op->mode = mode;
    op->d = d;
    op->a = args[0];
    op->b = args[1];
    op->c = args[2];
    op->e = args[3];
    return true;
}

static bool row_args(struct mg_lower *L, int row, unsigned first, int32_t args[4])
{
    const struct mg_sem_row *r = &mg_sem_rows[row];
    if (first + r->nargs > L->insn->nops)
        return false;
    for (unsigned k = 0; k < 4; k++)
        args[k] = -1;
    for (unsigned k = 0; k < r->nargs; k++) {
        uint8_t type = L->insn->type[L->insn->ntypes > 1 ? L->insn->ntypes - 1 : 0];
        args[k] = source(L, opnd(L, first + k), carrier_bytes(r->arg[k]), type, k);
        if (args[k] < 0)
            return false;
    }
    return true;
}

static void lower_alu(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    int row = i->flags & MG_F_APPROX && i->flags & MG_F_FTZ ? find_row(i, NULL, true) : -1;
    if (row < 0)
        row = find_row(i, NULL, false);
    int32_t args[4], d;
    if (row < 0 || i->flags & (MG_F_CC | MG_F_DUAL) || i->nops != 1u + mg_sem_rows[row].nargs || !row_args(L, row, 1, args)) {
        unsupported(L);
        return;
    }
    unsigned bytes = carrier_bytes(mg_sem_rows[row].ret);
    d = destination(L, opnd(L, 0), bytes);
    if (d < 0) {
        unsupported(L);
        return;
    }
    emit_row(L, row, mg_sem_rows[row].mode ? mode_of(i) : 0, d, args);
    widen(L, opnd(L, 0), bytes, i->type[0]);
}

/* add.cc, addc, sub.cc, subc, mad.cc, madc: the carry flag is a predicate of the frame. */
static void lower_carry(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    bool in = i->opcode == MG_OP_ADDC || i->opcode == MG_OP_SUBC || i->opcode == MG_OP_MADC;
    bool mad = i->opcode == MG_OP_MAD || i->opcode == MG_OP_MADC;
    bool sub = i->opcode == MG_OP_SUB || i->opcode == MG_OP_SUBC;
    bool wide = type_size(i->type[0]) == 8, hi = mad && i->flags & MG_F_HI;
    char name[48], carry[48];
    const char *stem = mad ? (hi ? "madx_hi" : "madx_lo") : sub ? "subx" : "addx";
    char sign = hi && is_signed(i->type[0]) ? 's' : 'u';
    snprintf(name, sizeof name, "%s_%c%d", stem, sign, wide ? 64 : 32);
    snprintf(carry, sizeof carry, "%s_carry_%c%d", stem, sign, wide ? 64 : 32);
    int row = mg__sem_find(name), carry_row = mg__sem_find(carry);
    unsigned n = mad ? 3 : 2;
    int32_t args[4] = {-1, -1, -1, -1}, d = -1;
    if (row >= 0 && carry_row >= 0 && i->nops == n + 1) {
        for (unsigned k = 0; k < n; k++)
            args[k] = source(L, opnd(L, 1 + k), wide ? 8 : 4, i->type[0], k);
        args[n] = in ? L->carry : mg__lower_const(L, 0, false);
        d = destination(L, opnd(L, 0), wide ? 8 : 4);
    }
    if (d < 0 || args[0] < 0 || args[1] < 0 || args[2] < 0) {
        unsupported(L);
        return;
    }
    if (i->flags & MG_F_CC)
        emit_row(L, carry_row, 0, L->temp_pred[0], args);
    emit_row(L, row, 0, d, args);
    if (i->flags & MG_F_CC) {
        struct mg_op *op = mg__lower_emit(L, mg__op_mov_pred);
        op->d = L->carry;
        op->a = L->temp_pred[0];
    }
}

/* setp and set: the comparison into a temporary predicate, then what is made of it. */
static void lower_compare(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    bool setp = i->opcode == MG_OP_SETP;
    uint8_t source_type = i->type[setp ? 0 : 1];
    bool pair = source_type == MG_T_F16X2 || source_type == MG_T_BF16X2;
    unsigned first = setp && i->flags & MG_F_DUAL ? 2 : 1;
    char name[48];
    const char *type = pair ? (source_type == MG_T_F16X2 ? "f16" : "bf16") : mg__ptx_type_name((enum mg_ptx_type)source_type);
    snprintf(name, sizeof name, "setp_%s_%s", mg__ptx_cmp_name((enum mg_ptx_cmp)i->cmp), type);
    int row = mg__sem_find(name);
    unsigned bytes = row >= 0 ? carrier_bytes(mg_sem_rows[row].arg[0]) : 0;
    if (row < 0 || i->nops < first + 2u) {
        unsupported(L);
        return;
    }
    int32_t args[4] = {source(L, opnd(L, first), pair ? 4 : bytes, source_type, 0),
                       source(L, opnd(L, first + 1), pair ? 4 : bytes, source_type, 1), -1, -1};
    int32_t with = i->nops > first + 2u ? source(L, opnd(L, first + 2), 0, MG_T_PRED, 2) : -1;
    if (args[0] < 0 || args[1] < 0 || (i->boolop && with < 0)) {
        unsupported(L);
        return;
    }
    uint32_t mode = mg_sem_rows[row].mode ? mode_of(i) & SEM_FTZ : 0;
    const struct mg_ptx_opnd *d = opnd(L, 0), *d2 = first == 2 ? opnd(L, 1) : NULL;
    if (setp && !pair && !i->boolop && !d2) {
        int32_t slot = destination(L, d, 0);
        if (slot < 0)
            unsupported(L);
        else
            emit_row(L, row, mode, slot, args);
        return;
    }
    struct mg_op *op;
    if (pair) { /* low halves into temp_pred[0], high halves into temp_pred[1] */
        for (unsigned half = 0; half < 2; half++) {
            int32_t halves[4] = {L->temp[2], L->temp[3], -1, -1};
            for (unsigned k = 0; k < 2; k++) {
                op = mg__lower_emit(L, mg__op_halves);
                op->d = halves[k];
                op->a = args[k];
                op->mode = half;
            }
            emit_row(L, row, mode, L->temp_pred[half], halves);
        }
    } else {
        emit_row(L, row, mode, L->temp_pred[0], args);
    }
    if (setp) {
        op = mg__lower_emit(L, mg__op_setp_bool);
        op->a = L->temp_pred[0];
        op->b = pair ? L->temp_pred[1] : -1; /* -1: the second result is the first comparison negated */
        op->c = with;
        op->d = destination(L, d, 0);
        op->d2 = d2 ? destination(L, d2, 0) : -1;
        op->mode = i->boolop;
    } else {
        op = mg__lower_emit(L, mg__op_set);
        op->a = L->temp_pred[0];
        op->b = pair ? L->temp_pred[1] : -1;
        op->c = with;
        op->mode = i->boolop;
        op->u.imm = i->type[0];
        op->d = destination(L, d, i->type[0] == MG_T_F16 || i->type[0] == MG_T_BF16 || type_size(i->type[0]) == 2 ? 2 : 4);
    }
    if (op->d < 0 || (d2 && op->d2 < 0))
        op->fn = mg__op_unsupported;
}

static void lower_mov(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    const struct mg_ptx_opnd *d = opnd(L, 0), *s = opnd(L, 1);
    struct mg_op *op;
    if (d->kind == MG_OPND_VEC || s->kind == MG_OPND_VEC) {
        const struct mg_ptx_opnd *v = d->kind == MG_OPND_VEC ? d : s, *whole = v == d ? s : d;
        if (d->kind == s->kind || v->count == 0 || v->count > 4 || type_size(i->type[0]) > 8) {
            unsupported(L);
            return;
        }
        unsigned bytes = type_size(i->type[0]) / v->count;
        int32_t part[4] = {-1, -1, -1, -1};
        bool good = true;
        for (unsigned k = 0; k < v->count; k++) {
            const struct mg_ptx_opnd *e = &L->func->operands[v->first + k];
            if (v == s)
                good &= (part[k] = source(L, e, bytes, i->type[0], k)) >= 0;
            else if (e->kind == MG_OPND_REG)
                good &= reg_size(L, e) >= bytes && reg_size(L, e) <= 4 && (part[k] = L->slots[e->index]) >= 0;
        }
        int32_t w = v == d ? source(L, whole, type_size(i->type[0]), i->type[0], 4)
                           : destination(L, whole, type_size(i->type[0]));
        if (!good || w < 0 || bytes == 0) {
            unsupported(L);
            return;
        }
        op = mg__lower_emit(L, v == d ? mg__op_unpack : mg__op_pack);
        op->d = w;
        op->a = part[0];
        op->b = part[1];
        op->c = part[2];
        op->e = part[3];
        op->mode = v->count | bytes << 8 | (type_size(i->type[0]) == 8 ? 1u << 16 : 0);
        return;
    }
    unsigned bytes = type_size(i->type[0]);
    if (i->type[0] == MG_T_PRED) {
        op = mg__lower_emit(L, mg__op_nop);
        int32_t a = source(L, s, 0, MG_T_PRED, 0), to = destination(L, d, 0);
        op = mg__lower_emit(L, a < 0 || to < 0 ? mg__op_unsupported : mg__op_mov_pred);
        op->a = a;
        op->d = to;
        return;
    }
    int32_t to = destination(L, d, bytes);
    if (to >= 0 && s->kind == MG_OPND_SREG) {
        op = mg__lower_emit(L, mg__op_sreg);
        op->u.imm = s->index | (uint64_t)s->dim << 16;
        op->mode = bytes == 8;
        op->d = to;
        widen(L, d, bytes, i->type[0]);
        return;
    }
    int32_t a = source(L, s, bytes, i->type[0], 0);
    if (a < 0 || to < 0 || bytes > 8) {
        unsupported(L);
        return;
    }
    op = mg__lower_emit(L, bytes == 8 ? L->lanes->mov64 : L->lanes->mov32);
    op->a = a;
    op->d = to;
    widen(L, d, bytes, i->type[0]);
}

/* ---- memory ---- */
static struct mg_mem *new_mem(struct mg_lower *L, uint8_t space, uint8_t kind)
{
    struct mg_mem *m = mg__arena_alloc(&L->program->arena, sizeof *m);
    if (!m) {
        L->status = MG_ERR_NOMEM;
        static struct mg_mem spare; /* written, never run: the status ends the lowering */
        return &spare;
    }
    if (!mg__vec_push(&L->mems, m))
        L->status = MG_ERR_NOMEM;
    m->site = L->program->nsites++;
    m->lead = -1;
    m->space = space;
    m->kind = kind;
    m->vec = 1;
    m->scope = L->insn->scope;
    return m;
}

static bool set_address(struct mg_lower *L, struct mg_mem *m, const struct mg_ptx_opnd *o)
{
    if (o->kind != MG_OPND_ADDR)
        return false;
    if (o->has_reg) {
        m->addr = L->slots[o->index];
        m->addr64 = type_size(L->func->regs[o->index].type) == 8;
        m->offset = o->imm;
        if (!o->var)
            return m->addr64 || m->space == MG_SPACE_SHARED || m->space == MG_SPACE_LOCAL || m->space == MG_SPACE_PARAM;
        uint64_t address;
        struct mg_ptx_opnd plain = *o;
        plain.kind = MG_OPND_SYMBOL;
        if (o->var->space == MG_SPACE_LOCAL) {
            m->offset += L->var_at[o->var->id];
            m->local_frame = true;
            return true;
        }
        if (!static_address(L, &plain, &address))
            return false;
        m->offset = (int64_t)address;
        return true;
    }
    uint64_t address;
    m->addr64 = m->space != MG_SPACE_SHARED && m->space != MG_SPACE_LOCAL;
    if (o->var && o->var->space == MG_SPACE_LOCAL) {
        m->local_frame = true;
        m->offset = (int64_t)L->var_at[o->var->id] + o->imm;
        if (m->space == MG_SPACE_GENERIC)
            m->space = MG_SPACE_LOCAL;
        m->addr64 = false;
        m->addr = mg__lower_const(L, 0, false);
        return true;
    }
    if (!static_address(L, o, &address))
        return false;
    if (o->var && m->space == MG_SPACE_GENERIC)
        m->space = o->var->space;
    m->addr = mg__lower_const(L, address, m->addr64);
    return true;
}

/* The elements of a load or store; false when a register does not fit. */
static bool set_elements(struct mg_lower *L, struct mg_mem *m, const struct mg_ptx_opnd *o, bool load)
{
    const struct mg_ptx_insn *i = L->insn;
    unsigned n = o->kind == MG_OPND_VEC ? o->count : 1;
    const struct mg_ptx_opnd *e = o->kind == MG_OPND_VEC ? &L->func->operands[o->first] : o;
    m->width = (uint8_t)type_size(i->type[0]);
    m->vec = (uint8_t)n;
    m->type = i->type[0];
    if (n == 0 || n > 8 || m->width == 0 || m->width > 8 || n * m->width > 32)
        return false;
    m->dst64 = m->width == 8;
    for (unsigned k = 0; k < n; k++)
        if (e[k].kind == MG_OPND_REG && reg_size(L, &e[k]) == 8)
            m->dst64 = true;
    for (unsigned k = 0; k < n; k++) {
        m->reg[k] = -1;
        if (e[k].kind == MG_OPND_REG) {
            unsigned size = reg_size(L, &e[k]);
            if (size == 0 || size > 8 || size < m->width || (size == 8) != m->dst64)
                return false;
            m->reg[k] = L->slots[e[k].index];
            m->sext = load && is_signed(i->type[0]) && size > m->width;
        } else if (!load) {
            m->reg[k] = source(L, &e[k], m->dst64 ? 8 : 4, i->type[0], k % 6);
            if (m->reg[k] < 0)
                return false;
        }
    }
    return true;
}

static bool polls(const struct mg_ptx_insn *i)
{
    return i->sem == MG_SEM_VOLATILE || i->sem == MG_SEM_RELAXED || i->sem == MG_SEM_ACQUIRE || i->sem == MG_SEM_MMIO;
}

static void lower_param(struct mg_lower *L, bool load)
{
    const struct mg_ptx_opnd *at = opnd(L, load ? 1 : 0);
    struct mg_mem *m = new_mem(L, MG_SPACE_PARAM, load ? MG_ACCESS_LD : MG_ACCESS_ST);
    bool kernel = L->func->is_entry && (!at->var || (at->var->is_param && at->var->owner != L->func)) ;
    /* a formal parameter of the kernel is in its parameter buffer; an argument block is in the frame */
    if (L->func->is_entry) {
        kernel = at->var == NULL;
        for (size_t k = 0; k < L->func->nparams; k++)
            kernel |= at->var == L->func->params[k];
    } else {
        kernel = false;
    }
    bool good = set_elements(L, m, opnd(L, load ? 0 : 1), load) && at->kind == MG_OPND_ADDR;
    if (good && kernel) {
        m->addr = at->has_reg ? L->slots[at->index] : -1;
        m->addr64 = at->has_reg && type_size(L->func->regs[at->index].type) == 8;
        m->offset = at->imm + (at->var ? (int64_t)at->var->offset : 0);
    } else if (good) {
        good = at->var && !at->has_reg && at->imm >= 0 && (uint64_t)at->imm + (uint64_t)m->width * m->vec <= at->var->size;
        m->offset = good ? (int64_t)L->var_at[at->var->id] + at->imm : 0;
    }
    if (!good || (kernel && !load)) {
        unsupported(L);
        return;
    }
    mg__lower_emit(L, kernel ? mg__op_ld_kparam : load ? mg__op_ld_param : mg__op_st_param)->u.mem = m;
}

/* Accesses of one block by one register show the same pattern: the first compares the lanes, the others rely on it. */
static void join_lead(struct mg_lower *L, struct mg_mem *m, uint32_t reg)
{
    for (uint32_t k = 0; k < L->nleads; k++)
        if (L->leads[k].open && L->leads[k].reg == reg) {
            m->lead = (int8_t)k;
            return;
        }
    if (L->nleads == MG_LEADS)
        return;
    L->leads[L->nleads].reg = reg;
    L->leads[L->nleads].open = true;
    m->lead = (int8_t)L->nleads++;
    m->leads = true;
}

/* What an instruction writes starts a new lead; where leaves may change, all do. */
static void close_leads(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    enum mg_ptx_group group = mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->group;
    if (group == MG_G_SYNC || group == MG_G_WARP || i->opcode == MG_OP_CALL) {
        L->nleads = 0;
        return;
    }
    for (unsigned n = 0; n < i->nops && n < (i->flags & MG_F_DUAL ? 2u : 1u); n++) {
        const struct mg_ptx_opnd *o = opnd(L, n);
        uint32_t count = o->kind == MG_OPND_VEC ? o->count : 1;
        const struct mg_ptx_opnd *e = o->kind == MG_OPND_VEC ? &L->func->operands[o->first] : o;
        for (uint32_t v = 0; v < count; v++)
            for (uint32_t k = 0; e[v].kind == MG_OPND_REG && k < L->nleads; k++)
                if (L->leads[k].reg == e[v].index)
                    L->leads[k].open = false;
    }
}

static bool word_handler(const struct mg_lanes *l, const struct mg_mem *m, mg_handler *fn)
{
    bool load = m->kind == MG_ACCESS_LD, follows = m->lead >= 0 && !m->leads;
    if (m->width != 4 || m->vec != 1 || m->dst64 || m->poll || m->local_frame || m->no_shape || m->reg[0] < 0 ||
        m->offset != (int32_t)m->offset)
        return false;
    if (m->space == MG_SPACE_SHARED && !m->addr64)
        *fn = load ? l->ld_shared_word[follows] : l->st_shared_word[follows];
    else if ((m->space == MG_SPACE_GLOBAL || m->space == MG_SPACE_CONST) && m->addr64)
        *fn = load ? l->ld_global_word[follows] : l->st_global_word[follows];
    else
        return false;
    return true;
}

/* The word accesses that follow ops[first], up to where the next lead of that number begins. */
static bool make_group(struct mg_lower *L, size_t first)
{
    const struct mg_op *lead = &L->ops.at[first];
    struct mg_mem *m = (struct mg_mem *)lead->u.mem;
    struct mg_group g = {0};
    for (unsigned pass = 0; pass < 2; pass++) {
        g.count = 0;
        for (size_t k = first; k < L->ops.count; k++) {
            const struct mg_op *op = &L->ops.at[k];
            mg_handler fn;
            if (op->fn == mg__op_block || op->fn == mg__op_block_join)
                break;
            if (!(op->mode & MG_MODE_SITE) || op->u.mem->lead != m->lead)
                continue;
            if (k != first && op->u.mem->leads)
                break;
            int64_t offset = op->u.mem->offset - m->offset;
            if (!word_handler(L->lanes, op->u.mem, &fn) || op->u.mem->space != m->space || offset != (int32_t)offset)
                return true; /* a member that must look for itself: so do all */
            if (pass) {
                g.members[g.count] = (struct mg_member){op->insn, (int32_t)offset, op->u.mem};
                g.least = MG_MIN(g.least, (int32_t)offset);
                g.greatest = MG_MAX(g.greatest, (int32_t)offset);
            }
            g.count++;
        }
        if (g.count < 2)
            return true;
        if (!pass && !(g.members = mg__arena_array(&L->program->arena, g.count, sizeof *g.members)))
            return false;
    }
    struct mg_group *kept = mg__arena_alloc(&L->program->arena, sizeof *kept);
    if (!kept)
        return false;
    *kept = g;
    m->group = kept;
    return true;
}

void mg__lower_words(struct mg_lower *L)
{
    for (size_t k = 0; k < L->ops.count; k++) {
        struct mg_op *op = &L->ops.at[k];
        mg_handler fn;
        if (!(op->mode & MG_MODE_SITE) || !word_handler(L->lanes, op->u.mem, &fn))
            continue;
        const struct mg_mem *m = op->u.mem;
        if (m->leads && !make_group(L, k))
            L->status = MG_ERR_NOMEM;
        op->fn = fn;
        op->a = m->addr;
        op->b = (int32_t)m->site;
        op->c = (int32_t)m->offset;
        op->d = m->reg[0];
        op->e = m->lead;
        op->d2 = m->group != NULL;
    }
}

static void lower_ld_st(struct mg_lower *L, bool load)
{
    const struct mg_ptx_insn *i = L->insn;
    if (i->space == MG_SPACE_PARAM) {
        lower_param(L, load);
        return;
    }
    struct mg_mem *m = new_mem(L, i->space, load ? MG_ACCESS_LD : MG_ACCESS_ST);
    m->poll = load && polls(i);
    if (!set_elements(L, m, opnd(L, load ? 0 : 1), load) || !set_address(L, m, opnd(L, load ? 1 : 0))) {
        unsupported(L);
        return;
    }
    if (m->poll && (m->space == MG_SPACE_GLOBAL || m->space == MG_SPACE_GENERIC))
        L->program->ordered = true;
    const struct mg_lanes *l = L->lanes;
    mg_handler fn;
    if (m->space == MG_SPACE_SHARED)
        fn = load ? (m->addr64 ? l->ld_shared64 : l->ld_shared32) : (m->addr64 ? l->st_shared64 : l->st_shared32);
    else if (m->space == MG_SPACE_GLOBAL || m->space == MG_SPACE_CONST)
        fn = load ? l->ld_global : l->st_global;
    else
        fn = load ? l->ld_lanes : l->st_lanes;
    const struct mg_ptx_opnd *at = opnd(L, load ? 1 : 0);
    if (at->has_reg && i->guard < 0)
        join_lead(L, m, at->index);
    struct mg_op *op = mg__lower_emit(L, fn);
    op->mode = MG_MODE_SITE;
    op->u.mem = m;
}

static void lower_atomic(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    bool atom = i->opcode == MG_OP_ATOM;
    const struct mg_ptx_opnd *d = atom ? opnd(L, 0) : NULL;
    unsigned first = atom ? 1 : 0;
    struct mg_mem *m = new_mem(L, i->space, MG_ACCESS_RED);
    m->width = (uint8_t)type_size(i->type[0]);
    m->type = i->type[0];
    m->atomop = i->atomop;
    m->dst64 = m->width == 8;
    m->no_shape = true;
    m->reg[0] = m->reg[1] = m->reg[2] = -1;
    m->vec = 1;
    if (i->nops < first + 2u || i->vec > 1 || m->width < 2 || m->width > 8 || !set_address(L, m, opnd(L, first))) {
        unsupported(L);
        return;
    }
    /* ptxas turns an atom whose result nobody reads into red, where red has the operation; so do the counts. */
    bool unused = !atom || d->kind == MG_OPND_SINK || (d->kind == MG_OPND_REG && L->reads[d->index] == 1);
    bool always = i->atomop == MG_ATOM_CAS || i->atomop == MG_ATOM_EXCH;
    m->kind = unused && !always ? MG_ACCESS_RED : MG_ACCESS_ATOM;
    m->poll = i->atomop == MG_ATOM_CAS || i->atomop == MG_ATOM_EXCH;
    bool good = true;
    if (atom && d->kind == MG_OPND_REG) {
        m->reg[0] = destination(L, d, m->width);
        good = m->reg[0] >= 0 && !(reg_size(L, d) == 8 && m->width < 8);
    }
    m->reg[1] = source(L, opnd(L, first + 1), m->dst64 ? 8 : 4, i->type[0], 0);
    if (i->atomop == MG_ATOM_CAS)
        m->reg[2] = i->nops > first + 2u ? source(L, opnd(L, first + 2), m->dst64 ? 8 : 4, i->type[0], 1) : -1;
    if (!good || m->reg[1] < 0 || (i->atomop == MG_ATOM_CAS && m->reg[2] < 0)) {
        unsupported(L);
        return;
    }
    if (m->kind == MG_ACCESS_ATOM && m->space != MG_SPACE_SHARED)
        L->program->ordered = true;
    bool counter = m->space == MG_SPACE_SHARED && !m->addr64 && m->kind == MG_ACCESS_RED && m->atomop == MG_ATOM_ADD &&
                   (m->type == MG_T_U32 || m->type == MG_T_S32);
    struct mg_op *op = mg__lower_emit(L, counter ? L->lanes->red_shared_add : mg__op_atom);
    op->mode = MG_MODE_SITE;
    op->u.mem = m;
}

static void lower_cp_async(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    if (i->sub != MG_SUB_NONE) {
        mg__lower_emit(L, mg__op_nop); /* copies are made at once: every wait is over when it begins */
        return;
    }
    struct mg_mem *m = mg__arena_array(&L->program->arena, 2, sizeof *m);
    if (!m || i->nops < 3 || opnd(L, 2)->kind != MG_OPND_IMM) {
        unsupported(L);
        return;
    }
    int64_t bytes = opnd(L, 2)->imm;
    bool good = bytes == 4 || bytes == 8 || bytes == 16;
    for (unsigned k = 0; k < 2; k++) {
        if (!mg__vec_push(&L->mems, &m[k]))
            L->status = MG_ERR_NOMEM;
        m[k].site = L->program->nsites++;
        m[k].lead = -1;
        m[k].space = k ? MG_SPACE_GLOBAL : MG_SPACE_SHARED;
        m[k].kind = MG_ACCESS_CP_ASYNC;
        m[k].no_shape = true;
        m[k].width = (uint8_t)(bytes == 16 ? 8 : bytes);
        m[k].vec = bytes == 16 ? 2 : 1;
        m[k].reg[0] = -1;
        good = good && set_address(L, &m[k], opnd(L, k));
    }
    int32_t size = -1;
    if (good && i->nops > 3) {
        const struct mg_ptx_opnd *o = opnd(L, 3);
        bool predicate = o->kind == MG_OPND_REG && reg_size(L, o) == 0; /* ignore-src */
        size = source(L, o, predicate ? 0 : 4, MG_T_U32, 0);
        good = size >= 0;
        m[0].sext = predicate;
    }
    if (!good) {
        unsupported(L);
        return;
    }
    struct mg_op *op = mg__lower_emit(L, mg__op_cp_async);
    op->a = size;
    op->u.mem = m;
}

static void lower_cvta(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    const struct mg_simt *simt = L->module->simt;
    uint8_t space = i->space;
    uint64_t window = space == MG_SPACE_SHARED  ? simt->shared_window
                      : space == MG_SPACE_LOCAL ? simt->local_window
                      : space == MG_SPACE_PARAM ? simt->param_window
                                                : 0;
    int32_t a = source(L, opnd(L, 1), 8, MG_T_U64, 0), d = destination(L, opnd(L, 0), 8);
    if (a < 0 || d < 0) {
        unsupported(L);
        return;
    }
    if (!window) {
        struct mg_op *op = mg__lower_emit(L, L->lanes->mov64);
        op->a = a;
        op->d = d;
        return;
    }
    int32_t args[4] = {a, mg__lower_const(L, window, true), -1, -1};
    emit_row(L, mg__sem_find(i->flags & MG_F_TO ? "sub_u64" : "add_u64"), 0, d, args);
}

/* ---- control ---- */
static void fixup(struct mg_lower *L, uint32_t block, uint32_t label, struct mg_switch *table, const uint32_t *labels)
{
    struct mg_fixup x = {(uint32_t)L->ops.count - 1, block, label, table, labels};
    if (!mg__vec_push(&L->fixups, x))
        L->status = MG_ERR_NOMEM;
}

static void own_guard(struct mg_lower *L, struct mg_op *op)
{
    if (L->insn->guard >= 0) {
        op->guard = L->slots[L->insn->guard];
        op->invert = L->insn->guard_negate ? ~0u : 0;
    }
}

static void lower_call(struct mg_lower *L)
{
    const struct mg_ptx_func *f = L->func;
    const struct mg_ptx_opnd *rets = opnd(L, 0), *target = opnd(L, 1), *args = opnd(L, 2);
    struct mg_callsite *site = mg__arena_alloc(&L->program->arena, sizeof *site);
    uint32_t *numbers = mg__arena_array(&L->program->arena, 2 * (rets->count + args->count) + 1, sizeof *numbers);
    if (!site || !numbers) {
        L->status = MG_ERR_NOMEM;
        return;
    }
    site->nrets = rets->count;
    site->nargs = args->count;
    site->rets = numbers;
    site->ret_sizes = site->rets + rets->count;
    site->args = site->ret_sizes + rets->count;
    site->arg_sizes = site->args + args->count;
    site->target = -1;
    for (uint32_t k = 0; k < rets->count + args->count; k++) {
        bool ret = k < rets->count;
        const struct mg_ptx_opnd *o = &f->operands[ret ? rets->first + k : args->first + k - rets->count];
        if (o->kind != MG_OPND_SYMBOL || !o->var || o->var->space != MG_SPACE_PARAM) {
            unsupported(L);
            return;
        }
        uint32_t j = ret ? k : k - rets->count;
        (ret ? site->rets : site->args)[j] = L->var_at[o->var->id];
        (ret ? site->ret_sizes : site->arg_sizes)[j] = (uint32_t)o->var->size;
    }
    if (target->kind == MG_OPND_FUNC && target->func->defined) {
        for (uint32_t c = 0; c < L->program->ncodes; c++)
            if (L->program->codes[c]->func == target->func)
                site->callee = L->program->codes[c];
    } else if (target->kind == MG_OPND_FUNC) {
        site->system = (uint8_t)mg__system_find(target->func->name);
        if (!site->system) {
            unsupported(L);
            return;
        }
        if (site->system == MG_SYS_VPRINTF)
            L->program->ordered = true; /* so that lines come out in the same order every time */
        static const uint8_t arity[] = {[MG_SYS_VPRINTF] = 2, [MG_SYS_ASSERTFAIL] = 5, [MG_SYS_MALLOC] = 1, [MG_SYS_FREE] = 1};
        bool fits = site->nargs == arity[site->system];
        for (uint32_t k = 0; k < site->nargs; k++)
            fits &= site->arg_sizes[k] == 8 || (site->arg_sizes[k] == 4 && site->system == MG_SYS_ASSERTFAIL);
        for (uint32_t k = 0; k < site->nrets; k++)
            fits &= site->ret_sizes[k] == (site->system == MG_SYS_MALLOC ? 8 : 4);
        if (!fits) {
            unsupported(L);
            return;
        }
    } else if (target->kind == MG_OPND_REG && reg_size(L, target) == 8) {
        site->target = L->slots[target->index];
    } else {
        unsupported(L);
        return;
    }
    struct mg_op *op = mg__lower_emit_bare(L, mg__op_call);
    own_guard(L, op);
    op->u.call = site;
    op->mode = site->target >= 0;
}

static void lower_bra(struct mg_lower *L, uint32_t block)
{
    struct mg_op *op = mg__lower_emit_bare(L, L->insn->guard >= 0 ? mg__op_bra : mg__op_jump);
    own_guard(L, op);
    fixup(L, block, opnd(L, 0)->index, NULL, NULL);
}

static void lower_brx(struct mg_lower *L, uint32_t block)
{
    const struct mg_ptx_opnd *t = opnd(L, 1);
    int32_t a = source(L, opnd(L, 0), 4, MG_T_U32, 0);
    if (t->kind != MG_OPND_TABLE || a < 0 || L->insn->guard >= 0) {
        unsupported(L);
        return;
    }
    const struct mg_ptx_table *table = &L->func->tables[t->index];
    struct mg_switch *s = mg__arena_alloc(&L->program->arena, sizeof *s);
    if (s)
        s->targets = mg__arena_array(&L->program->arena, table->count + 1, sizeof *s->targets);
    if (!s || !s->targets) {
        L->status = MG_ERR_NOMEM;
        return;
    }
    s->count = table->count;
    struct mg_op *op = mg__lower_emit_bare(L, mg__op_brx);
    op->a = a;
    op->u.table = s;
    fixup(L, block, 0, s, table->labels);
}

/* ---- across lanes ---- */
static void lower_warp(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    unsigned k = i->flags & MG_F_DUAL ? 2 : 1;
    int32_t d = -1, d2 = -1, src[4] = {-1, -1, -1, -1};
    mg_handler fn = NULL;
    unsigned need = 0;
    uint8_t bytes = 4;
    bool pred_source = false;
    switch (i->opcode) {
    case MG_OP_SHFL:
        fn = mg__op_shfl;
        need = 3;
        break;
    case MG_OP_VOTE:
        fn = mg__op_vote;
        need = 1;
        pred_source = true;
        break;
    case MG_OP_MATCH:
        fn = mg__op_match;
        need = 1;
        bytes = (uint8_t)type_size(i->type[0]);
        break;
    case MG_OP_REDUX:
        fn = mg__op_redux;
        need = 1;
        break;
    case MG_OP_ACTIVEMASK:
        fn = mg__op_activemask;
        break;
    default:
        fn = mg__op_elect;
        break;
    }
    bool pred_result = i->opcode == MG_OP_VOTE && i->sub != MG_SUB_BALLOT;
    d = destination(L, opnd(L, 0), pred_result ? 0 : 4);
    d2 = k == 2 ? destination(L, opnd(L, 1), 0) : -1;
    bool good = d >= 0 && (k == 1 || d2 >= 0) && i->nops >= k + need;
    for (unsigned n = 0; good && n < need; n++)
        good = (src[n] = source(L, opnd(L, k + n), pred_source ? 0 : n ? 4 : bytes, i->type[0], n)) >= 0;
    if (good && i->nops > k + need)
        good = (src[3] = source(L, opnd(L, k + need), 4, MG_T_B32, 3)) >= 0;
    if (!good) {
        unsupported(L);
        return;
    }
    struct mg_op *op = mg__lower_emit(L, fn);
    op->d = d;
    op->d2 = d2;
    op->a = src[0];
    op->b = src[1];
    op->c = src[2];
    op->e = src[3]; /* the lanes that take part; -1: all active ones */
    op->mode = i->opcode == MG_OP_REDUX ? i->atomop | (uint32_t)(is_signed(i->type[0])) << 8 : i->sub;
    op->u.imm = bytes;
}

static void lower_bar(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    bool red = i->sub == MG_SUB_RED, popc = red && i->boolop == MG_BOOL_POPC;
    unsigned k = red ? 1 : 0, rest = i->nops - k;
    int32_t d = red ? destination(L, opnd(L, 0), popc ? 4 : 0) : -1;
    int32_t id = rest > 0 ? source(L, opnd(L, k), 4, MG_T_U32, 0) : mg__lower_const(L, 0, false);
    bool has_count = red ? rest > 2 : rest > 1;
    int32_t count = has_count ? source(L, opnd(L, k + 1), 4, MG_T_U32, 1) : -1;
    int32_t pred = red && rest > 1 ? source(L, opnd(L, i->nops - 1u), 0, MG_T_PRED, 0) : -1;
    if (id < 0 || (has_count && count < 0) || (red && (d < 0 || pred < 0))) {
        unsupported(L);
        return;
    }
    struct mg_op *op = mg__lower_emit(L, mg__op_bar);
    op->d = d;
    op->a = id;
    op->b = count;
    op->c = pred;
    op->mode = i->sub | (uint32_t)i->boolop << 8;
}

static void lower_one(struct mg_lower *L, uint32_t block)
{
    const struct mg_ptx_insn *i = L->insn;
    struct mg_op *op;
    if (!mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->engine || i->flags & MG_F_LATER) {
        unsupported(L);
        return;
    }
    switch (i->opcode) {
    case MG_OP_MOV:
        lower_mov(L);
        break;
    case MG_OP_SETP:
    case MG_OP_SET:
        lower_compare(L);
        break;
    case MG_OP_ADD:
    case MG_OP_SUB:
    case MG_OP_MAD:
        if (i->flags & MG_F_CC)
            lower_carry(L);
        else
            lower_alu(L);
        break;
    case MG_OP_ADDC:
    case MG_OP_SUBC:
    case MG_OP_MADC:
        lower_carry(L);
        break;
    case MG_OP_LD:
    case MG_OP_LDU:
        lower_ld_st(L, true);
        break;
    case MG_OP_ST:
        lower_ld_st(L, false);
        break;
    case MG_OP_ATOM:
    case MG_OP_RED:
        lower_atomic(L);
        break;
    case MG_OP_CP_ASYNC:
        lower_cp_async(L);
        break;
    case MG_OP_CVTA:
        lower_cvta(L);
        break;
    case MG_OP_ISSPACEP: {
        int32_t a = source(L, opnd(L, 1), 8, MG_T_U64, 0), d = destination(L, opnd(L, 0), 0);
        op = mg__lower_emit(L, a < 0 || d < 0 ? mg__op_unsupported : mg__op_isspacep);
        op->a = a;
        op->d = d;
        op->mode = i->space;
        break;
    }
    case MG_OP_ALLOCA: {
        L->program->stack = true;
        int32_t a = source(L, opnd(L, 1), 8, MG_T_U64, 0), d = opnd(L, 0)->kind == MG_OPND_REG ? L->slots[opnd(L, 0)->index] : -1;
        bool wide = d >= 0 && reg_size(L, opnd(L, 0)) == 8;
        op = mg__lower_emit(L, a < 0 || d < 0 ? mg__op_unsupported : mg__op_alloca);
        op->a = a;
        op->d = d;
        op->mode = wide;
        op->u.imm = i->nops > 2 && opnd(L, 2)->kind == MG_OPND_IMM ? (uint64_t)opnd(L, 2)->imm : 8;
        break;
    }
    case MG_OP_STACKSAVE:
    case MG_OP_STACKRESTORE: {
        bool save = i->opcode == MG_OP_STACKSAVE;
        const struct mg_ptx_opnd *r = opnd(L, 0);
        op = mg__lower_emit(L, r->kind == MG_OPND_REG ? mg__op_stack : mg__op_unsupported);
        op->d = r->kind == MG_OPND_REG ? L->slots[r->index] : -1;
        op->mode = (uint32_t)save | (r->kind == MG_OPND_REG && reg_size(L, r) == 8 ? 2u : 0);
        break;
    }
    case MG_OP_BRA:
        lower_bra(L, block);
        break;
    case MG_OP_BRX_IDX:
        lower_brx(L, block);
        break;
    case MG_OP_CALL:
        lower_call(L);
        break;
    case MG_OP_RET:
    case MG_OP_EXIT:
    case MG_OP_TRAP:
    case MG_OP_BRKPT:
        own_guard(L, mg__lower_emit_bare(L, i->opcode == MG_OP_RET    ? mg__op_ret
                                            : i->opcode == MG_OP_EXIT ? mg__op_exit
                                                                      : mg__op_trap));
        break;
    case MG_OP_SHFL:
    case MG_OP_VOTE:
    case MG_OP_MATCH:
    case MG_OP_REDUX:
    case MG_OP_ACTIVEMASK:
    case MG_OP_ELECT:
        lower_warp(L);
        break;
    case MG_OP_BAR:
        lower_bar(L);
        break;
    case MG_OP_BAR_WARP: {
        int32_t a = source(L, opnd(L, 0), 4, MG_T_B32, 0);
        op = mg__lower_emit(L, a < 0 ? mg__op_unsupported : mg__op_bar_warp);
        op->e = a;
        break;
    }
    case MG_OP_MEMBAR:
    case MG_OP_FENCE:
    case MG_OP_FENCE_PROXY:
        mg__lower_emit(L, mg__op_fence);
        break;
    case MG_OP_NANOSLEEP:
        mg__lower_emit(L, mg__op_nanosleep);
        break;
    case MG_OP_CREATEPOLICY: {
        int32_t d = destination(L, opnd(L, 0), 8);
        op = mg__lower_emit(L, d < 0 ? mg__op_unsupported : L->lanes->mov64);
        op->d = d;
        op->a = mg__lower_const(L, 0, true);
        break;
    }
    case MG_OP_PREFETCH:
    case MG_OP_PREFETCHU:
    case MG_OP_APPLYPRIORITY:
    case MG_OP_DISCARD:
    case MG_OP_PMEVENT:
    case MG_OP_GRIDDEPCONTROL:
    case MG_OP_SETMAXNREG:
        mg__lower_emit(L, mg__op_nop);
        break;
    default:
        if (mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->group == MG_G_ALU)
            lower_alu(L);
        else
            unsupported(L);
    }
}

void mg__lower_insn(struct mg_lower *L, uint32_t block)
{
    lower_one(L, block);
    close_leads(L);
}
