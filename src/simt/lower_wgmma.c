/* lower_wgmma.c - warpgroup matrix multiplications: wgmma.c says when they happen, src/sem/sem_wgmma.h what.
 *
 * To add a type: its row of `types`.
 */
#include "simt/lower.h"
#include "simt/wgmma.h"

/* Types of D, A and B; steps: bits of their product's k. */
static bool describe(const struct mg_ptx_insn *i, struct mg_sem_wgmma *w)
{
    struct mg_sem_mma *each = &w->each;
    const bool sparse = i->sub == MG_SUB_SPARSE;
    const unsigned d = mg__lower_mma_type(i->type[0]), a = mg__lower_mma_type(i->type[1]),
                   b = mg__lower_mma_type(i->type[2]);
    if (i->ntypes != 3 || !a || !b || !d || i->m != 64 || !i->n || i->n % 8 || i->n > SEM_WGMMA_COLUMNS)
        return false;
    const unsigned bits = sem_mma_format(a)->bits;
    const bool eight = sem_mma_is_eight(a), whole = a == SEM_MMA_S8 || a == SEM_MMA_U8, b1 = a == SEM_MMA_B1;
    const bool same = a == b || (eight && sem_mma_is_eight(b)) || (whole && (b == SEM_MMA_S8 || b == SEM_MMA_U8));
    const bool half = d == SEM_MMA_F16 && (a == SEM_MMA_F16 || eight);
    *each = (struct mg_sem_mma){.m = 16, .n = 8, .k = i->k, .ab = (uint8_t)(a | b << 4), .cd = (uint8_t)(d | d << 4)};
    each->flags = (uint8_t)((i->flags & MG_F_SATFINITE ? SEM_MMA_SATURATES : 0) | (b1 ? SEM_MMA_AND : 0) |
                            (sparse ? SEM_MMA_SPARSE : 0));
    w->n = i->n;
    if ((whole || b1) && i->n > 32 && i->n % 16)
        return false;
    if (!same || i->k * bits != (sparse ? 512u : 256u) || (b1 && (sparse || i->atomop != MG_ATOM_AND)))
        return false;
    return whole || b1
               ? d == SEM_MMA_S32
               : (d == SEM_MMA_F32 || half) && (eight || a == SEM_MMA_F16 || a == SEM_MMA_BF16 || a == SEM_MMA_TF32);
}

/* The integers behind scale-d: 1 or -1 for A and for B, then, of 16 bits, whether A (of memory) and B are transposed.
 */
static bool take_scales(struct mg_lower *L, struct mg_sem_wgmma *w, unsigned next)
{
    const struct mg_ptx_insn *i = L->insn;
    const bool wide = sem_mma_format(sem_mma_a(&w->each))->bits == 16, of_registers = w->flags & SEM_WGMMA_A_REGISTERS;
    uint8_t flag[4] = {SEM_WGMMA_MINUS_A, SEM_WGMMA_MINUS_B, SEM_WGMMA_A_MN, SEM_WGMMA_B_MN};
    unsigned n = sem_mma_a(&w->each) >= SEM_MMA_S8 ? 0 : wide ? 4 : 2;
    if (n == 4 && of_registers)
        flag[2] = flag[--n];
    if (i->nops - next != n)
        return false;
    for (unsigned k = 0; k < n; k++) {
        const int64_t value = mg__lower_opnd(L, next + k)->imm;
        if (k < 2 ? value != 1 && value != -1 : value != 0 && value != 1)
            return false;
        w->flags |= value == (k < 2 ? -1 : 1) ? flag[k] : 0;
    }
    return true;
}

static bool take_d(struct mg_lower *L, struct mg_wgmma *g)
{
    const struct mg_ptx_opnd *o = mg__lower_opnd(L, 0), *e = &L->func->operands[o->first];
    if (o->kind != MG_OPND_VEC || o->count != sem_wgmma_registers(&g->what))
        return false;
    for (uint32_t k = 0; k < o->count; k++) {
        if (e[k].kind != MG_OPND_REG || mg__lower_reg_size(L, &e[k]) != 4)
            return false;
        g->d[k] = L->slots[e[k].index];
    }
    return true;
}

static bool take_a(struct mg_lower *L, struct mg_sem_wgmma *w, struct mg_engine_operand of[4])
{
    const struct mg_ptx_opnd *o = mg__lower_opnd(L, 1), *e = &L->func->operands[o->first];
    for (unsigned k = 0; k < 4; k++)
        of[k] = (struct mg_engine_operand)MG_WORD(-1);
    if (o->kind != MG_OPND_VEC) {
        of[0] = (struct mg_engine_operand)MG_LONG(mg__lower_source(L, o, 8, MG_T_B64, 0));
        return of[0].slot >= 0;
    }
    w->flags |= SEM_WGMMA_A_REGISTERS;
    for (uint32_t k = 0; k < 4 && o->count == 4; k++)
        of[k].slot = mg__lower_source(L, &e[k], 4, MG_T_B32, k);
    return of[0].slot >= 0 && of[1].slot >= 0 && of[2].slot >= 0 && of[3].slot >= 0;
}

void mg__lower_wgmma(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    struct mg_wgmma *g = mg__arena_alloc(&L->program->arena, sizeof *g);
    if (!g) {
        L->status = MG_ERR_NOMEM;
        return;
    }
    struct mg_engine_operand of[7] = {MG_PRED(-1), [6] = MG_WORD(-1)};
    g->sparse = i->sub == MG_SUB_SPARSE;
    const unsigned scale = g->sparse ? 5 : 3;
    bool good = describe(i, &g->what) && take_d(L, g) && take_a(L, &g->what, &of[1]);
    if (good) {
        of[5] = (struct mg_engine_operand)MG_LONG(mg__lower_source(L, mg__lower_opnd(L, 2), 8, MG_T_B64, 1));
        good = of[5].slot >= 0;
    }
    if (good && g->sparse) {
        of[6].slot = mg__lower_source(L, mg__lower_opnd(L, 3), 4, MG_T_B32, 2);
        g->what.each.more = (uint8_t)mg__lower_opnd(L, 4)->imm;
        good = of[6].slot >= 0 && mg__lower_opnd(L, 4)->imm < 4;
    }
    if (good) {
        of[0].slot = mg__lower_source(L, mg__lower_opnd(L, scale), 0, MG_T_PRED, 0);
        good = of[0].slot >= 0 && take_scales(L, &g->what, scale + 1);
    }
    if (good)
        mg__lower_op(L, MG_DO_WGMMA, 0, of, MG_COUNT(of))->u.wgmma = g;
    else
        mg__lower_unsupported(L);
}

void mg__lower_wgmma_fence(struct mg_lower *L)
{
    mg__lower_op(L, MG_DO_WGMMA_FENCE, 0, NULL, 0);
}

void mg__lower_wgmma_commit(struct mg_lower *L)
{
    mg__lower_op(L, MG_DO_WGMMA_COMMIT, 0, NULL, 0);
}

void mg__lower_wgmma_wait(struct mg_lower *L)
{
    const struct mg_ptx_func *f = L->func;
    const unsigned n = (unsigned)f->nflying;
    struct mg_engine_operand *of = mg__arena_array(&L->program->arena, 2 * n + 1, sizeof *of);
    if (!of) {
        L->status = MG_ERR_NOMEM;
        return;
    }
    for (unsigned k = 0; k < n; k++)
        of[k] = of[n + k] = (struct mg_engine_operand)MG_WORD(L->slots[f->flying[k]]);
    mg__lower_op(L, MG_DO_WGMMA_WAIT, n, of, 2 * n)->u.imm = (uint64_t)mg__lower_opnd(L, 0)->imm;
}
