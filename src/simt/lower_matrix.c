/* lower_matrix.c - matrix instructions: mma is one op; what moves fragments is loads and stores, addresses, and
 * exchanges between lanes, so that the engines and all observers know what happens.
 *
 * ldmatrix: the first 8, 16 or 32 lanes load a row of 16 bytes each, and the rows are handed out to the lanes.
 * stmatrix: the same, backwards. A fragment of wmma is one of mma, or several (the PTX ISA leaves it open; so it is on
 * an H200): each register is an access of its own, and where 16-bit elements lie across, 8x8 of them are transposed as
 * ptxas does it, by movmatrix. wmma.mma is an mma of 16x8 (or 8x8), or two or four; shape m8n32 multiplies B's
 * transpose with A's.
 *
 * To add a type of mma: its name in mma_type, and what it computes in src/sem/sem_mma.h.
 */
#include <assert.h>

#include "sem/sem_mma.h"
#include "simt/lower.h"

enum {
    MG_FRAGMENT = 16, /* registers of one operand, at most */
    MG_OPERANDS_MOST = MG_SEM_WARP_OUT + 1 + MG_SEM_WARP_IN
};

/* ---- mma ---- */
unsigned mg__lower_mma_type(uint8_t type)
{
    switch (type) {
    case MG_T_F16:
        return SEM_MMA_F16;
    case MG_T_BF16:
        return SEM_MMA_BF16;
    case MG_T_TF32:
        return SEM_MMA_TF32;
    case MG_T_E4M3:
        return SEM_MMA_E4M3;
    case MG_T_E5M2:
        return SEM_MMA_E5M2;
    case MG_T_F32:
        return SEM_MMA_F32;
    case MG_T_F64:
        return SEM_MMA_F64;
    case MG_T_S8:
        return SEM_MMA_S8;
    case MG_T_U8:
        return SEM_MMA_U8;
    case MG_T_S4:
        return SEM_MMA_S4;
    case MG_T_U4:
        return SEM_MMA_U4;
    case MG_T_B1:
        return SEM_MMA_B1;
    case MG_T_S32:
        return SEM_MMA_S32;
    default:
        return SEM_MMA_NONE;
    }
}

/* What is multiplied, of the instruction's types: those of D, A, B and C. */
static bool describe(const struct mg_ptx_insn *i, const uint8_t type[4], struct mg_sem_mma *w)
{
    const unsigned d = mg__lower_mma_type(type[0]), a = mg__lower_mma_type(type[1]), b = mg__lower_mma_type(type[2]),
                   c = mg__lower_mma_type(type[3]);
    *w = (struct mg_sem_mma){.m = i->m, .n = (uint8_t)i->n, .k = i->k};
    w->ab = (uint8_t)(a | b << 4);
    w->cd = (uint8_t)(c | d << 4);
    w->flags = (uint8_t)((i->flags & MG_F_SATFINITE ? SEM_MMA_SATURATES : 0) |
                         (i->atomop == MG_ATOM_AND ? SEM_MMA_AND : 0) | (i->layout[0] == 2 ? SEM_MMA_A_COL : 0) |
                         (i->layout[1] == 1 ? SEM_MMA_B_ROW : 0) | (i->sub == MG_SUB_SPARSE ? SEM_MMA_SPARSE : 0));
    const bool f64 = a == SEM_MMA_F64, whole = a >= SEM_MMA_S8;
    if (!a || !b || !c || !d || sem_mma_format(a)->bits != sem_mma_format(b)->bits || f64 != (b == SEM_MMA_F64))
        return false;
    if (f64)
        w->more = (uint8_t)(i->round == MG_RND_RZ   ? SEM_RZ
                            : i->round == MG_RND_RM ? SEM_RM
                            : i->round == MG_RND_RP ? SEM_RP
                                                    : SEM_RN);
    return f64     ? c == SEM_MMA_F64 && d == SEM_MMA_F64
           : whole ? c == SEM_MMA_S32 && d == SEM_MMA_S32
                   : (c == SEM_MMA_F16 || c == SEM_MMA_F32) && (d == SEM_MMA_F16 || d == SEM_MMA_F32);
}

/* Shapes of mma, by the bits of an element of A: what PTX has, and what has fragments of this kind. */
static bool has_shape(const struct mg_sem_mma *w)
{
    const unsigned bits = sem_mma_format(sem_mma_a(w))->bits, step = bits >= 32 ? 4 : 128 / bits; /* k of a register */
    const unsigned k = w->flags & SEM_MMA_SPARSE ? w->k / 2u : w->k;
    if (sem_mma_is_quads(w))
        return w->n == 8 && (sem_mma_d(w) == SEM_MMA_F32 || sem_mma_c(w) == SEM_MMA_F16);
    if (w->n != 8 || (w->m != 8 && w->m != 16) || !k || k % step)
        return false;
    return w->m == 8 ? k == step && sem_mma_a(w) >= SEM_MMA_F64 : k <= (bits == 64 ? 4 : 2) * step;
}

/* The registers of operand n, as many as `count`; false: they are others. */
static bool registers(struct mg_lower *L, const struct mg_ptx_opnd *o, bool written, unsigned bytes, unsigned count,
                      int32_t *slots)
{
    const struct mg_ptx_opnd *e = o->kind == MG_OPND_VEC ? &L->func->operands[o->first] : o;
    if (count > MG_FRAGMENT || (o->kind == MG_OPND_VEC ? o->count : 1) != count)
        return false;
    for (unsigned k = 0; k < count; k++) {
        if (written && e[k].kind == MG_OPND_REG && mg__lower_reg_size(L, &e[k]) != bytes)
            return false;
        slots[k] = written ? mg__lower_destination(L, &e[k], bytes)
                           : mg__lower_source(L, &e[k], bytes, bytes == 8 ? MG_T_B64 : MG_T_B32, k % MG_COUNT(L->temp));
        if (slots[k] < 0 || (!written && e[k].kind != MG_OPND_REG && e[k].kind != MG_OPND_IMM))
            return false;
    }
    return true;
}

struct fragments { /* slots of an op's operands */
    int32_t d[8], a[MG_FRAGMENT], b[MG_FRAGMENT], c[8], metadata;
};

static void add(struct mg_engine_operand *of, unsigned *n, const int32_t *slots, unsigned count, unsigned type)
{
    for (unsigned k = 0; k < count && *n < MG_OPERANDS_MOST; k++)
        of[(*n)++] = (struct mg_engine_operand)MG_SIZED(slots[k], type == SEM_MMA_F64 ? 8 : 4);
}

static void emit_mma(struct mg_lower *L, const struct mg_sem_mma *w, const struct fragments *f)
{
    struct mg_engine_operand of[MG_OPERANDS_MOST];
    const unsigned nout = sem_mma_registers(w, 2, sem_mma_d(w));
    unsigned n = 0;
    add(of, &n, f->d, nout, sem_mma_d(w));
    add(of, &n, &(int32_t){-1}, 1, SEM_MMA_S32); /* lanes that take part: all that come together */
    add(of, &n, f->a, sem_mma_registers(w, 0, sem_mma_a(w)), sem_mma_a(w));
    add(of, &n, f->b, sem_mma_registers(w, 1, sem_mma_b(w)), sem_mma_b(w));
    add(of, &n, f->c, sem_mma_registers(w, 2, sem_mma_c(w)), sem_mma_c(w));
    if (w->flags & SEM_MMA_SPARSE)
        add(of, &n, &f->metadata, 1, SEM_MMA_S32);
    uint64_t bits;
    static_assert(sizeof *w == sizeof bits, "an op holds what is multiplied");
    memcpy(&bits, w, sizeof bits);
    mg__lower_op(L, MG_DO_MMA, nout, of, n)->u.imm = bits;
}

static unsigned bytes_of(unsigned type)
{
    return type == SEM_MMA_F64 ? 8 : 4;
}

void mg__lower_mma(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    struct mg_sem_mma w;
    struct fragments f;
    bool good = i->ntypes == 4 && describe(i, i->type, &w) && has_shape(&w);
    const bool sparse = good && w.flags & SEM_MMA_SPARSE;
    good = good && i->nops == (sparse ? 6 : 4);
    if (sparse)
        w.more = (uint8_t)mg__lower_opnd(L, 5)->imm;
    good = good &&
           registers(L, mg__lower_opnd(L, 0), true, bytes_of(sem_mma_d(&w)), sem_mma_registers(&w, 2, sem_mma_d(&w)),
                     f.d) &&
           registers(L, mg__lower_opnd(L, 1), false, bytes_of(sem_mma_a(&w)), sem_mma_registers(&w, 0, sem_mma_a(&w)),
                     f.a) &&
           registers(L, mg__lower_opnd(L, 2), false, bytes_of(sem_mma_b(&w)), sem_mma_registers(&w, 1, sem_mma_b(&w)),
                     f.b) &&
           registers(L, mg__lower_opnd(L, 3), false, bytes_of(sem_mma_c(&w)), sem_mma_registers(&w, 2, sem_mma_c(&w)),
                     f.c) &&
           (!sparse || registers(L, mg__lower_opnd(L, 4), false, 4, 1, &f.metadata));
    if (good)
        emit_mma(L, &w, &f);
    else
        mg__lower_unsupported(L);
}

/* ---- ldmatrix, stmatrix ---- */

/* The slot of a predicate: the instruction's guard, and of its lanes the first ones. */
static int32_t first_lanes(struct mg_lower *L, unsigned count)
{
    int32_t mask = mg__lower_const(L, count == 32 ? ~0u : (1u << count) - 1, false);
    if (L->insn->guard < 0)
        return mask;
    int32_t guard = L->slots[L->insn->guard], both = L->temp_pred[0];
    const int32_t only = L->only;
    L->only = mg__lower_const(L, ~0u, false); /* for all lanes, or it would keep old bits */
    if (L->insn->guard_negate)
        guard = mg__lower_unary(L, "not_pred", both, guard);
    const int32_t args[4] = {guard, mask, -1, -1};
    mg__lower_row(L, mg__sem_find("and_pred"), 0, both, args);
    L->only = only;
    return both;
}

static void emit_warp(struct mg_lower *L, const char *name, unsigned nout, const int32_t *out, unsigned nin,
                      const int32_t *in)
{
    struct mg_engine_operand of[MG_OPERANDS_MOST];
    unsigned n = 0;
    add(of, &n, out, nout, SEM_MMA_S32);
    add(of, &n, &(int32_t){-1}, 1, SEM_MMA_S32);
    add(of, &n, in, nin, SEM_MMA_S32);
    const int at = mg__sem_warp_find(name);
    assert(at >= 0);
    mg__lower_op(L, MG_DO_WARP, nout, of, n)->u.imm = (uint64_t)at;
}

static void lower_rows(struct mg_lower *L, bool load)
{
    const struct mg_ptx_insn *i = L->insn;
    int32_t slots[4];
    char name[32];
    struct mg_mem *m = mg__lower_place(L, load, mg__lower_opnd(L, load ? 1 : 0));
    const bool good = m && i->type[0] == MG_T_B16 &&
                      registers(L, mg__lower_opnd(L, load ? 0 : 1), load, 4, i->vec, slots) &&
                      (m->space == MG_SPACE_SHARED || m->space == MG_SPACE_GENERIC);
    if (!good) {
        mg__lower_unsupported(L);
        return;
    }
    snprintf(name, sizeof name, "%s_x%u%s_b16", load ? "ldmatrix" : "stmatrix", i->vec,
             i->sub == MG_SUB_TRANS ? "_trans" : "");
    m->width = 4;
    m->vec = 4;
    for (unsigned k = 0; k < 4; k++)
        m->reg[k] = L->temp[k];
    if (!load)
        emit_warp(L, name, 4, m->reg, i->vec, slots);
    const int32_t only = first_lanes(L, 8u * i->vec);
    L->only = only;
    mg__lower_words(L, m);
    L->only = -1;
    if (load)
        emit_warp(L, name, i->vec, slots, 4, m->reg);
}

void mg__lower_ldmatrix(struct mg_lower *L)
{
    lower_rows(L, true);
}

void mg__lower_stmatrix(struct mg_lower *L)
{
    lower_rows(L, false);
}

/* ---- wmma ---- */

/* What a fragment is: of the operand of 16 rows (`wide`: A, or B of m8n32), of that of 8 columns, or C. */
enum { WIDE, NARROW, SUM };
struct fragment {
    unsigned part, type;
    unsigned rows, k; /* of the wide part, or columns of the narrow one */
    bool across;      /* neighbours in a register are a line apart in memory */
    unsigned count;   /* registers that hold something else each */
    unsigned words;   /* all: of f16 they are repeated until there are eight */
};

static bool is_swapped(const struct mg_ptx_insn *i)
{
    return i->n == 32;
}

static bool wmma_shape(const struct mg_ptx_insn *i, unsigned type)
{
    const unsigned bits = sem_mma_format(type)->bits;
    if (i->m * i->n == 256)
        return (i->m == 16 || i->m == 8 || i->m == 32) &&
               (i->k == 16 ? bits == 16 || bits == 8 : i->k == 8 && i->m == 16 && type == SEM_MMA_TF32);
    return i->m == 8 && i->n == 8 &&
           ((type == SEM_MMA_F64 && i->k == 4) || (bits == 4 && i->k == 32) || (bits == 1 && i->k == 128));
}

/* Operand 0 A, 1 B, 2 C and D. */
static struct fragment fragment(const struct mg_ptx_insn *i, unsigned operand, unsigned type, bool col)
{
    const bool swapped = is_swapped(i);
    const unsigned bits = sem_mma_format(type)->bits, m = swapped ? i->n : i->m, n = swapped ? i->m : i->n;
    struct fragment f = {.type = type, .k = i->k};
    f.part = operand == 2 ? SUM : (operand == 0) != swapped ? WIDE : NARROW;
    f.rows = f.part == NARROW ? n : m;
    if (operand == 2) {
        f.across = col != swapped;
        f.count = m * n / 32 * bits / (bits == 64 ? 64 : 32);
    } else {
        f.across = operand == 0 ? col : !col;
        f.count = f.rows * i->k / 32 * bits / (bits == 64 ? 64 : 32);
    }
    f.words = operand < 2 && type == SEM_MMA_F16 ? 8 : f.count;
    return f;
}

/* Where register r's first element is: in rows of the wide part or columns of the narrow one (for C: rows), and in k
 * (for C: columns). */
static void origin(const struct fragment *f, const struct mg_ptx_insn *i, unsigned r, unsigned *row, unsigned *k)
{
    const unsigned bits = sem_mma_format(f->type)->bits, each = bits < 32 ? 32 / bits : 1, step = 4 * each;
    if (f->part == NARROW) {
        *row = r / (f->k / step) * 8;
        *k = r % (f->k / step) * step;
    } else if (f->part == WIDE) {
        const unsigned halves = f->rows == 8 ? 1 : 2, of_tile = f->k / step * halves;
        *row = r / of_tile * 16 + r % halves * 8;
        *k = r % of_tile / halves * step;
    } else {
        const unsigned pair = bits == 16 ? r : r / 2, halves = f->rows / 8;
        *row = pair % halves * 8;
        *k = pair / halves * 8 + (bits == 16 ? 0 : r % 2);
    }
    (void)i;
}

/* The address of each lane's part of a register: `line` and `position` of the lane 0's, and the lane's own steps from
 * there: lane / 4 lines and lane % 4 * units, or, across, lane % 4 * units lines and lane / 4. */
static void emit_address(struct mg_lower *L, const struct mg_mem *m, int32_t stride, unsigned bits, bool across,
                         unsigned units, unsigned line, unsigned position)
{
    struct mg_op *op = mg__lower_op(
        L, MG_DO_MATRIX_ADDRESS, 1,
        MG_OPERANDS(MG_SIZED(L->temp[4], m->addr64 ? 8 : 4), MG_SIZED(m->addr, m->addr64 ? 8 : 4), MG_WORD(stride)));
    op->mode = (uint32_t)m->addr64 | (uint32_t)across << 1 | units << 2 | bits << 16;
    op->u.imm = line | (uint64_t)position << 32;
}

/* One access of a fragment: of `vec` elements of `width` bytes. */
static void emit_part(struct mg_lower *L, const struct mg_mem *like, unsigned width, unsigned vec, const int32_t *reg)
{
    struct mg_mem *m = mg__lower_again(L, like);
    m->addr = L->temp[4];
    m->width = (uint8_t)width;
    m->vec = (uint8_t)vec;
    m->dst64 = width == 8;
    memcpy(m->reg, reg, vec * sizeof *reg);
    mg__lower_words(L, m);
}

/* Bytes of a register that lie a line apart, in memory from temp[4] on. */
static void move_bytes(struct mg_lower *L, const struct mg_mem *m, int32_t stride, unsigned row, unsigned k,
                       int32_t reg)
{
    int32_t parts[4];
    for (unsigned b = 0; b < 4; b++) {
        parts[b] = L->temp[b];
        emit_address(L, m, stride, 8, true, 4, k + b, row);
        emit_part(L, m, 1, 1, &parts[b]);
    }
    mg__lower_op(L, MG_DO_PACK, 1,
                 MG_OPERANDS(MG_WORD(reg), MG_WORD(parts[0]), MG_WORD(parts[1]), MG_WORD(parts[2]), MG_WORD(parts[3])))
        ->mode = 4 | 1u << 8;
}

/* Loads or stores register r of the fragment, or r and the next one; gives how many. */
static unsigned move_register(struct mg_lower *L, const struct fragment *f, const struct mg_mem *m, int32_t stride,
                              unsigned r, const int32_t *slots, bool load)
{
    const unsigned bits = sem_mma_format(f->type)->bits, width = bits == 64 ? 8 : 4;
    unsigned row, k;
    origin(f, L->insn, r, &row, &k);
    if (f->across && bits == 8 && f->part != SUM) {
        move_bytes(L, m, stride, row, k, slots[r]);
        return 1;
    }
    if (f->across && bits == 16) { /* 8x8 elements the other way round */
        const int32_t turned = L->temp[0];
        emit_address(L, m, stride, bits, false, 2, k, row);
        if (!load)
            emit_warp(L, "movmatrix_trans_b16", 1, &turned, 1, &slots[r]);
        emit_part(L, m, 4, 1, &turned);
        if (load)
            emit_warp(L, "movmatrix_trans_b16", 1, &slots[r], 1, &turned);
        return 1;
    }
    const bool pair = f->part == SUM && bits >= 32;
    if (f->across)
        emit_address(L, m, stride, bits, true, pair ? 2 : 1, k, row);
    else
        emit_address(L, m, stride, bits, false, pair ? 2 : bits < 32 ? 32 / bits : 1, row, k);
    const unsigned vec = pair && !f->across ? 2 : 1;
    emit_part(L, m, width, vec, &slots[r]);
    return vec;
}

static void lower_wmma_move(struct mg_lower *L, bool load)
{
    const struct mg_ptx_insn *i = L->insn;
    const unsigned type = mg__lower_mma_type(i->type[0]), nops = i->nops;
    const unsigned operand = i->sub == MG_SUB_A ? 0 : i->sub == MG_SUB_B ? 1 : 2;
    int32_t slots[MG_FRAGMENT];
    struct mg_mem *m = mg__lower_place(L, load, mg__lower_opnd(L, load ? 1 : 0));
    bool good = m && type && i->layout[0] && !m->local_frame;
    /* C's type does not tell the shape's; 8x8 of s32 may be of any k. */
    if (good && operand < 2)
        good = wmma_shape(i, type);
    else if (good)
        good = i->m * i->n == 256 ? type == SEM_MMA_F16 || type == SEM_MMA_F32 || type == SEM_MMA_S32
                                  : i->m == 8 && i->n == 8 && (type == SEM_MMA_F64 || type == SEM_MMA_S32);
    const struct fragment f = good ? fragment(i, operand, type, i->layout[0] == 2) : (struct fragment){0};
    good = good && (!f.across || sem_mma_format(type)->bits >= 8) &&
           registers(L, mg__lower_opnd(L, load ? 0 : 1), load, bytes_of(type), f.words, slots);
    /* Without a stride, lines are as long as the matrix. */
    const unsigned rows = operand == 1 ? i->k : i->m, columns = operand == 0 ? i->k : i->n;
    int32_t stride = !good      ? -1
                     : nops > 2 ? mg__lower_source(L, mg__lower_opnd(L, 2), 4, MG_T_U32, 5)
                                : mg__lower_const(L, i->layout[0] == 2 ? rows : columns, false);
    if (stride < 0) {
        mg__lower_unsupported(L);
        return;
    }
    for (unsigned r = 0; load && r < f.words; r++)
        if (slots[r] == m->addr) { /* it is written before the last use of the address */
            const int32_t copy = (int32_t)mg__lower_new_slot(L, m->addr64 ? 256 : 128);
            mg__lower_copy(L, m->addr64 ? 8 : 4, copy, m->addr);
            m->addr = copy;
        }
    for (unsigned r = 0; r < f.count;)
        r += move_register(L, &f, m, stride, r, slots, load);
    for (unsigned r = f.count; load && r < f.words; r++)
        if (slots[r] != L->temp[5])
            mg__lower_copy(L, 4, slots[r], slots[r % f.count]);
}

void mg__lower_wmma_load(struct mg_lower *L)
{
    lower_wmma_move(L, true);
}

void mg__lower_wmma_store(struct mg_lower *L)
{
    lower_wmma_move(L, false);
}

/* Registers of a fragment that one mma takes: of the wide part's tile, of the narrow one's, of C's at both. */
static void take(const struct fragment *f, const int32_t *slots, unsigned wide, unsigned narrow, int32_t *to)
{
    const unsigned tiles_wide = f->rows > 16 ? f->rows / 16 : 1;
    if (f->part == WIDE) {
        const unsigned each = f->count / tiles_wide;
        memcpy(to, slots + wide * each, each * sizeof *to);
    } else if (f->part == NARROW) {
        const unsigned each = f->count / (f->rows / 8);
        memcpy(to, slots + narrow * each, each * sizeof *to);
    } else { /* rows first, then columns */
        const unsigned each = f->count / 2 < 2 ? f->count : f->count / 2;
        const unsigned tile = tiles_wide > 1 ? wide : narrow;
        memcpy(to, slots + tile * each, each * sizeof *to);
    }
}

void mg__lower_wmma_mma(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    const bool f16 = i->ntypes == 2, swapped = is_swapped(i);
    const uint8_t type[4] = {i->type[0], f16 ? MG_T_F16 : i->type[1], f16 ? MG_T_F16 : i->type[2],
                             f16 ? i->type[1] : i->type[3]};
    struct mg_sem_mma w;
    int32_t a[MG_FRAGMENT], b[MG_FRAGMENT], c[MG_FRAGMENT], d[MG_FRAGMENT];
    bool good = (f16 || i->ntypes == 4) && describe(i, type, &w) && wmma_shape(i, sem_mma_a(&w));
    if (!good) {
        mg__lower_unsupported(L);
        return;
    }
    const struct fragment of_a = fragment(i, 0, sem_mma_a(&w), false), of_b = fragment(i, 1, sem_mma_b(&w), false),
                          of_c = fragment(i, 2, sem_mma_c(&w), false), of_d = fragment(i, 2, sem_mma_d(&w), false);
    good = registers(L, mg__lower_opnd(L, 0), true, bytes_of(of_d.type), of_d.words, d) &&
           registers(L, mg__lower_opnd(L, 1), false, bytes_of(of_a.type), of_a.words, a) &&
           registers(L, mg__lower_opnd(L, 2), false, bytes_of(of_b.type), of_b.words, b) &&
           registers(L, mg__lower_opnd(L, 3), false, bytes_of(of_c.type), of_c.words, c);
    if (!good) {
        mg__lower_unsupported(L);
        return;
    }
    const struct fragment *wide = swapped ? &of_b : &of_a, *narrow = swapped ? &of_a : &of_b;
    const unsigned rows = wide->rows, columns = narrow->rows;
    w.m = rows == 8 ? 8 : 16;
    w.n = 8;
    w.flags &= (uint8_t) ~(SEM_MMA_A_COL | SEM_MMA_B_ROW);
    if (swapped)
        w.ab = (uint8_t)(w.ab >> 4 | w.ab << 4);
    for (unsigned y = 0; y < (rows + 15) / 16; y++)
        for (unsigned x = 0; x < columns / 8; x++) {
            struct fragments f;
            take(wide, swapped ? b : a, y, x, f.a);
            take(narrow, swapped ? a : b, y, x, f.b);
            take(&of_c, c, y, x, f.c);
            take(&of_d, d, y, x, f.d);
            if (sem_mma_a(&w) == SEM_MMA_TF32) { /* ptxas does: k in two steps */
                w.k = 4;
                emit_mma(L, &w, &f);
                memcpy(f.a, f.a + 2, 2 * sizeof f.a[0]);
                f.b[0] = f.b[1];
                memcpy(f.c, f.d, sizeof f.c);
            }
            emit_mma(L, &w, &f);
        }
}
