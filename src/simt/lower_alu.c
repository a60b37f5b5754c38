/* lower_alu.c - arithmetic: found by name, and the few that need more than a row of sem.def.
 *
 * Opcode, parts and types as written make the name of a row, whose handlers do the work. To add an arithmetic
 * instruction, add its row to isa.def and sem.def; only carries, comparisons and moves need code here.
 */
#include "simt/lower.h"

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
    if (i->round >= MG_RND_RNI && i->round <= MG_RND_RPI && i->type[0] >= MG_T_F16 && i->type[0] <= MG_T_F64)
        mode |= SEM_INTEGRAL;
    mode |= i->flags & MG_F_FTZ ? SEM_FTZ : 0;
    mode |= i->flags & MG_F_SAT ? SEM_SAT : 0;
    mode |= i->flags & MG_F_RELU ? SEM_RELU : 0;
    mode |= i->flags & MG_F_NAN ? SEM_NAN : 0;
    mode |= i->flags & MG_F_XORSIGN_ABS ? SEM_XORSIGN_ABS : 0;
    mode |= i->flags & MG_F_SATFINITE ? SEM_SATFINITE : 0;
    return mode;
}

/* The row of sem.def that an arithmetic instruction names, or -1. `stem` replaces the opcode's name if not NULL. */
static int find_row(const struct mg_ptx_insn *i, const char *stem, bool with_ftz)
{
    char name[96];
    const char *type[3];
    for (unsigned k = 0; k < 3; k++) /* the third of cvt.pack is always the same */
        type[k] =
            k < i->ntypes && !(k == 2 && i->sub == MG_SUB_PACK) ? mg__ptx_type_name((enum mg_ptx_type)i->type[k]) : "";
    snprintf(name, sizeof name, "%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s",
             stem ? stem : mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->name,
             i->flags & MG_F_LO     ? "_lo"
             : i->flags & MG_F_HI   ? "_hi"
             : i->flags & MG_F_WIDE ? "_wide"
                                    : "",
             i->sub ? "_" : "", mg__ptx_sub_name(i->sub), i->flags & MG_F_SHIFTAMT ? "_shiftamt" : "",
             i->flags & MG_F_WRAP    ? "_wrap"
             : i->flags & MG_F_CLAMP ? "_clamp"
                                     : "",
             i->flags & MG_F_FULL ? "_full" : "", i->flags & MG_F_APPROX ? "_approx" : "", with_ftz ? "_ftz" : "",
             i->cmp ? "_" : "", i->cmp ? mg__ptx_cmp_name((enum mg_ptx_cmp)i->cmp) : "", *type[0] ? "_" : "", type[0],
             *type[1] ? "_" : "", type[1], *type[2] ? "_" : "", type[2], i->atomop ? "_" : "",
             mg__ptx_atomop_name(i->atomop));
    return mg__sem_find(name);
}

static uint8_t register_bytes(uint8_t carrier)
{
    return carrier == MG_SEM_B64 ? 8 : carrier == MG_SEM_B1 ? 0 : 4;
}

void mg__lower_row(struct mg_lower *L, int row, uint32_t mode, int32_t d, const int32_t *args)
{
    const struct mg_sem_row *r = &mg_sem_rows[row];
    struct mg_engine_operand of[1 + MG_COUNT(r->arg)] = {{d, register_bytes(r->ret)}};
    for (unsigned k = 0; k < r->nargs; k++)
        of[1 + k] = (struct mg_engine_operand){args[k], register_bytes(r->arg[k])};
    struct mg_op *op = mg__lower_op(L, MG_DO_ALU, 1, of, 1u + r->nargs);
    op->mode = mode;
    op->u.imm = (uint64_t)row;
}

int32_t mg__lower_unary(struct mg_lower *L, const char *row, int32_t d, int32_t arg)
{
    mg__lower_row(L, mg__sem_find(row), 0, d, &arg);
    return d;
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
        args[k] = mg__lower_source(L, mg__lower_opnd(L, first + k), mg__lower_carrier_bytes(r->arg[k]), type, k);
        if (args[k] < 0)
            return false;
    }
    return true;
}

void mg__lower_alu(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    int row = i->flags & MG_F_APPROX && i->flags & MG_F_FTZ ? find_row(i, NULL, true) : -1;
    if (row < 0)
        row = find_row(i, NULL, false);
    int32_t args[4], d;
    if (row < 0 || i->flags & (MG_F_CC | MG_F_DUAL) || i->nops != 1u + mg_sem_rows[row].nargs ||
        !row_args(L, row, 1, args)) {
        mg__lower_unsupported(L);
        return;
    }
    unsigned bytes = mg__lower_carrier_bytes(mg_sem_rows[row].ret);
    d = mg__lower_destination(L, mg__lower_opnd(L, 0), bytes);
    if (d < 0) {
        mg__lower_unsupported(L);
        return;
    }
    mg__lower_row(L, row, mg_sem_rows[row].mode ? mode_of(i) : 0, d, args);
    mg__lower_widen(L, mg__lower_opnd(L, 0), bytes, i->type[0]);
}

/* add.cc, addc, sub.cc, subc, mad.cc, madc: the carry flag is a predicate of the frame. A subtraction adds ~b, and 1
 * where no flag goes in (sem_int.h says why). */
static void lower_carry(struct mg_lower *L, bool in)
{
    const struct mg_ptx_insn *i = L->insn;
    const char *opcode = mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->name;
    bool mad = opcode[0] == 'm', sub = opcode[0] == 's';
    bool wide = mg__lower_type_size(i->type[0]) == 8, hi = mad && i->flags & MG_F_HI;
    char name[48], carry[48];
    const char *stem = mad ? (hi ? "madx_hi" : "madx_lo") : "addx";
    char sign = hi && mg__lower_is_signed(i->type[0]) ? 's' : 'u';
    snprintf(name, sizeof name, "%s_%c%d", stem, sign, wide ? 64 : 32);
    snprintf(carry, sizeof carry, "%s_carry_%c%d", stem, sign, wide ? 64 : 32);
    int row = mg__sem_find(name), carry_row = mg__sem_find(carry);
    unsigned n = mad ? 3 : 2;
    int32_t args[4] = {-1, -1, -1, -1}, d = -1;
    if (row >= 0 && carry_row >= 0 && i->nops == n + 1) {
        for (unsigned k = 0; k < n; k++)
            args[k] = mg__lower_source(L, mg__lower_opnd(L, 1 + k), wide ? 8 : 4, i->type[0], k);
        args[n] = in ? L->carry : mg__lower_const(L, sub ? ~0u : 0, false);
        if (sub && args[1] >= 0)
            args[1] = mg__lower_unary(L, wide ? "not_b64" : "not_b32", L->temp[3], args[1]);
        d = mg__lower_destination(L, mg__lower_opnd(L, 0), wide ? 8 : 4);
    }
    if (d < 0 || args[0] < 0 || args[1] < 0 || args[2] < 0) {
        mg__lower_unsupported(L);
        return;
    }
    if (i->flags & MG_F_CC)
        mg__lower_row(L, carry_row, 0, L->temp_pred[0], args);
    mg__lower_row(L, row, 0, d, args);
    if (i->flags & MG_F_CC)
        mg__lower_op(L, MG_DO_MOV_PRED, 1, MG_OPERANDS(MG_PRED(L->carry), MG_PRED(L->temp_pred[0])));
}

void mg__lower_carry(struct mg_lower *L)
{
    lower_carry(L, false);
}

void mg__lower_carry_in(struct mg_lower *L)
{
    lower_carry(L, true);
}

/* setp and set: the comparison into a temporary predicate, then what is made of it. */
static void lower_compare(struct mg_lower *L, bool setp)
{
    const struct mg_ptx_insn *i = L->insn;
    uint8_t source_type = i->type[setp ? 0 : 1];
    bool pair = source_type == MG_T_F16X2 || source_type == MG_T_BF16X2;
    unsigned first = setp && i->flags & MG_F_DUAL ? 2 : 1;
    char name[48];
    const char *type =
        pair ? (source_type == MG_T_F16X2 ? "f16" : "bf16") : mg__ptx_type_name((enum mg_ptx_type)source_type);
    snprintf(name, sizeof name, "setp_%s_%s", mg__ptx_cmp_name((enum mg_ptx_cmp)i->cmp), type);
    int row = mg__sem_find(name);
    unsigned bytes = row >= 0 ? mg__lower_carrier_bytes(mg_sem_rows[row].arg[0]) : 0;
    if (row < 0 || i->nops < first + 2u) {
        mg__lower_unsupported(L);
        return;
    }
    int32_t args[4] = {mg__lower_source(L, mg__lower_opnd(L, first), pair ? 4 : bytes, source_type, 0),
                       mg__lower_source(L, mg__lower_opnd(L, first + 1), pair ? 4 : bytes, source_type, 1), -1, -1};
    int32_t with = i->nops > first + 2u ? mg__lower_source(L, mg__lower_opnd(L, first + 2), 0, MG_T_PRED, 2) : -1;
    if (args[0] < 0 || args[1] < 0 || (i->boolop && with < 0)) {
        mg__lower_unsupported(L);
        return;
    }
    uint32_t mode = mg_sem_rows[row].mode ? mode_of(i) & SEM_FTZ : 0;
    const struct mg_ptx_opnd *d = mg__lower_opnd(L, 0), *d2 = first == 2 ? mg__lower_opnd(L, 1) : NULL;
    if (setp && !pair && !i->boolop && !d2) {
        int32_t slot = mg__lower_destination(L, d, 0);
        if (slot < 0)
            mg__lower_unsupported(L);
        else
            mg__lower_row(L, row, mode, slot, args);
        return;
    }
    bool half = mg__lower_type_size(i->type[0]) == 2;
    int32_t to = mg__lower_destination(L, d, setp ? 0 : half ? 2 : 4), to2 = d2 ? mg__lower_destination(L, d2, 0) : -1;
    if (to < 0 || (d2 && to2 < 0)) {
        mg__lower_unsupported(L);
        return;
    }
    if (pair) { /* low halves into temp_pred[0], high halves into temp_pred[1] */
        for (unsigned high = 0; high < 2; high++) {
            const int32_t halves[2] = {L->temp[2], L->temp[3]};
            for (unsigned k = 0; k < 2; k++)
                mg__lower_op(L, MG_DO_HALVES, 1, MG_OPERANDS(MG_WORD(halves[k]), MG_WORD(args[k])))->mode = high;
            mg__lower_row(L, row, mode, L->temp_pred[high], halves);
        }
    } else {
        mg__lower_row(L, row, mode, L->temp_pred[0], args);
    }
    const int32_t low = L->temp_pred[0], high = pair ? L->temp_pred[1] : -1; /* setp without: the second is !low */
    struct mg_op *op =
        setp ? mg__lower_op(L, MG_DO_SETP_BOOL, 2,
                            MG_OPERANDS(MG_PRED(to), MG_PRED(to2), MG_PRED(low), MG_PRED(high), MG_PRED(with)))
             : mg__lower_op(L, MG_DO_SET, 1, MG_OPERANDS(MG_WORD(to), MG_PRED(low), MG_PRED(high), MG_PRED(with)));
    op->mode = i->boolop;
    op->u.imm = i->type[0];
}

void mg__lower_setp(struct mg_lower *L)
{
    lower_compare(L, true);
}

void mg__lower_set(struct mg_lower *L)
{
    lower_compare(L, false);
}

/* lop3 with a predicate: p = (d != 0) .and or .or q. */
void mg__lower_lop3_bool(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    int row = find_row(i, NULL, false), nonzero = mg__sem_find("setp_ne_b32");
    const struct mg_ptx_opnd *d = mg__lower_opnd(L, 0);
    int32_t to = mg__lower_destination(L, d, 4), p = mg__lower_destination(L, mg__lower_opnd(L, 1), 0), args[4];
    if (row < 0 || nonzero < 0 || i->nops != 7 || to < 0 || p < 0 || !row_args(L, row, 2, args)) {
        mg__lower_unsupported(L);
        return;
    }
    mg__lower_row(L, row, 0, to, args);
    mg__lower_row(L, nonzero, 0, L->temp_pred[0], (const int32_t[4]){to, mg__lower_const(L, 0, false), -1, -1});
    mg__lower_widen(L, d, 4, MG_T_B32);
    int32_t with = mg__lower_source(L, mg__lower_opnd(L, 6), 0, MG_T_PRED, 1);
    if (with < 0)
        mg__lower_unsupported(L);
    else
        mg__lower_op(L, MG_DO_SETP_BOOL, 2,
                     MG_OPERANDS(MG_PRED(p), MG_PRED(-1), MG_PRED(L->temp_pred[0]), MG_PRED(-1), MG_PRED(with)))
            ->mode = i->boolop;
}

/* The parts of a 128-bit register: two of 64 bits or four of 32; what is a register has just that size. */
static bool parts_of_128(struct mg_lower *L, const struct mg_ptx_opnd *v, bool dest, int32_t part[4])
{
    unsigned bytes = 16 / v->count;
    for (unsigned k = 0; k < v->count; k++) {
        const struct mg_ptx_opnd *e = &L->func->operands[v->first + k];
        if (e->kind == MG_OPND_REG && mg__lower_reg_size(L, e) != bytes)
            return false;
        part[k] = -1;
        if (dest)
            part[k] = e->kind == MG_OPND_REG ? L->slots[e->index] : -1;
        else if ((part[k] = mg__lower_source(L, e, bytes, bytes == 8 ? MG_T_B64 : MG_T_B32, k)) < 0)
            return false;
    }
    return true;
}

static void lower_mov128(struct mg_lower *L)
{
    const struct mg_ptx_opnd *d = mg__lower_opnd(L, 0), *s = mg__lower_opnd(L, 1);
    const struct mg_ptx_opnd *v = d->kind == MG_OPND_VEC ? d : s->kind == MG_OPND_VEC ? s : NULL;
    int32_t half[2], from[2], part[4];
    if (!mg__lower_halves(L, v == d ? s : d, v != d, half) || (!v && !mg__lower_halves(L, s, false, from)) ||
        (v && ((v->count != 2 && v->count != 4) || !parts_of_128(L, v, v == d, part)))) {
        mg__lower_unsupported(L);
        return;
    }
    for (unsigned k = 0; k < 2; k++) {
        if (!v)
            mg__lower_copy(L, 8, half[k], from[k]);
        else if (v->count == 4 && v == d)
            mg__lower_unpack(L, half[k], part[2 * k], part[2 * k + 1]);
        else if (v->count == 4)
            mg__lower_pack(L, half[k], part[2 * k], part[2 * k + 1]);
        else if (v == s)
            mg__lower_copy(L, 8, half[k], part[k]);
        else if (part[k] >= 0)
            mg__lower_copy(L, 8, part[k], half[k]);
    }
}

/* A register and its parts. */
static void lower_mov_vector(struct mg_lower *L, const struct mg_ptx_opnd *d, const struct mg_ptx_opnd *s)
{
    const struct mg_ptx_insn *i = L->insn;
    const struct mg_ptx_opnd *v = d->kind == MG_OPND_VEC ? d : s, *whole = v == d ? s : d;
    const unsigned all = mg__lower_type_size(i->type[0]), bytes = v->count ? all / v->count : 0;
    struct mg_engine_operand of[1 + 4], *part = v == d ? of : of + 1;
    bool good = d->kind != s->kind && v->count <= 4 && all <= 8 && bytes > 0;
    for (unsigned k = 0; good && k < v->count; k++) {
        const struct mg_ptx_opnd *e = &L->func->operands[v->first + k];
        part[k] = (struct mg_engine_operand)MG_WORD(-1);
        if (v == s)
            good = (part[k].slot = mg__lower_source(L, e, bytes, i->type[0], k)) >= 0;
        else if (e->kind == MG_OPND_REG)
            good = mg__lower_reg_size(L, e) >= bytes && mg__lower_reg_size(L, e) <= 4 &&
                   (part[k].slot = L->slots[e->index]) >= 0;
    }
    int32_t w = !good    ? -1
                : v == d ? mg__lower_source(L, whole, all, i->type[0], 4)
                         : mg__lower_destination(L, whole, all);
    if (w < 0) {
        mg__lower_unsupported(L);
        return;
    }
    of[v == d ? v->count : 0] = (struct mg_engine_operand)MG_SIZED(w, all == 8 ? 8 : 4);
    mg__lower_op(L, v == d ? MG_DO_UNPACK : MG_DO_PACK, v == d ? v->count : 1, of, 1 + v->count)->mode =
        v->count | bytes << 8 | (all == 8 ? 1u << 16 : 0);
}

void mg__lower_mov(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    const struct mg_ptx_opnd *d = mg__lower_opnd(L, 0), *s = mg__lower_opnd(L, 1);
    if (i->type[0] == MG_T_B128) {
        lower_mov128(L);
        return;
    }
    if (d->kind == MG_OPND_VEC || s->kind == MG_OPND_VEC) {
        lower_mov_vector(L, d, s);
        return;
    }
    unsigned bytes = mg__lower_type_size(i->type[0]);
    if (i->type[0] == MG_T_PRED) {
        int32_t a = mg__lower_source(L, s, 0, MG_T_PRED, 0), to = mg__lower_destination(L, d, 0);
        if (a < 0 || to < 0)
            mg__lower_unsupported(L);
        else
            mg__lower_op(L, MG_DO_MOV_PRED, 1, MG_OPERANDS(MG_PRED(to), MG_PRED(a)));
        return;
    }
    int32_t to = mg__lower_destination(L, d, bytes);
    if (to >= 0 && s->kind == MG_OPND_SREG) {
        mg__lower_sreg(L, s, to, bytes);
        mg__lower_widen(L, d, bytes, i->type[0]);
        return;
    }
    int32_t a = mg__lower_source(L, s, bytes, i->type[0], 0);
    if (a < 0 || to < 0 || bytes > 8) {
        mg__lower_unsupported(L);
        return;
    }
    mg__lower_copy(L, bytes, to, a);
    mg__lower_widen(L, d, bytes, i->type[0]);
}
