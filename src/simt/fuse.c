/* fuse.c - products and sums that the assembler makes one operation of, with one rounding.
 *
 * mul, add and sub of a float type that name no rounding may be fused (PTX ISA, "Floating Point Instructions"); nvcc
 * leaves a - b * c so, and ptxas fuses it. Which pairs it takes is written nowhere. The rule here was read off its
 * machine code (tools/fuse_rule.py, docs/semantics.md) and holds for sm_75 to sm_90 alike:
 *
 * - The product and the sum are of one type, in one stretch of straight-line code, and name no rounding; both flush
 *   (.ftz) or neither. The product has no guard and no .sat; the sum may have either.
 * - All uses of the product are such sums. A copy or a negation of it is looked through, save neg.bf16x2, which takes
 *   an instruction, and a neg.ftz that flushes what the product did not; any other neg.ftz.f32 that sums read is itself
 * such a sum.
 * - Of two products in one sum, the one with fewer uses is taken, then the first. The other is then the addend of a
 *   fused operation, which is no use that can be fused. For f32 and f64 the sums with a product of one use go first.
 *   A sum of a product with itself stays.
 * - A stretch ends where control may go elsewhere, and at what ptxas makes a branch or a call of: calls, fences,
 *   divisions and roots that round (SPLITS in isa.def), and whatever is not arithmetic and stands under a guard.
 *
 * PTX is not SSA: registers are followed by their definitions within the stretch, and what is still live behind it has
 * another use. Where a factor changes between product and sum, it is saved in a register of its own. Lowering works on
 * a copy of the function, in which the sum is a fma and the product is gone (or stays, if an addend needs it); what
 * observers and messages see is the text as it was, and both instructions are counted.
 *
 * Left out: what ptxas fuses only after unrolling a loop (a product used in the next round), or after finding that a
 * value was computed twice; nvcc has done these before. Modules with .target debug (nvcc -G)
 * are assembled without optimisation, and nothing is fused.
 */
#include <assert.h>

#include "simt/lower.h"

#define NONE UINT32_MAX

struct use { /* of a product, by a sum; or a copy of it, negated or not */
    uint32_t product;
    bool negated, moved[2]; /* factors that have changed since */
};
struct node {             /* what is known of an instruction */
    struct use use[2];    /* a sum's operands 1 and 2; a copy's source */
    uint32_t version[2];  /* a product's factors: definitions seen before it */
    uint32_t uses, fused; /* of a product; of a neg.ftz: other uses, and sums */
    bool other;           /* the product has a use that cannot be fused */
    bool save[2];         /* factors to be saved */
    uint8_t role;         /* 0, or */
    uint8_t take;         /* a sum: the operand that is fused, or 0 */
    bool dead;            /* computes what nothing reads: no use of what it reads itself */
};
enum { PRODUCT = 1, SUM, COPY };

struct value { /* what a register holds: a product, or NONE, since that stretch */
    uint32_t product, stretch;
    bool negated;
    uint32_t flushed; /* the neg.ftz that it came through, or NONE */
    uint32_t version; /* definitions so far */
};
struct fuse {
    struct mg_lower *L;
    const struct mg_ptx_func *f;
    struct node *nodes;   /* by instruction */
    struct value *values; /* by register */
    struct mg_flow_live live;
    uint32_t stretch, first; /* the present one; the first of its chain of blocks */
    MG_VEC(uint32_t) sums;   /* of the chain */
    MG_VEC(uint32_t) negs;   /* of the chain: neg.ftz with results that are not only for sums */
    uint32_t taken, saved;   /* in the function */
    bool failed;
};

/* ---- what an instruction is ---- */
static bool is_float(uint8_t type)
{
    return type == MG_T_F32 || type == MG_T_F64 || type == MG_T_F16 || type == MG_T_F16X2 || type == MG_T_BF16 ||
           type == MG_T_BF16X2;
}
static bool is_half(uint8_t type)
{
    return type != MG_T_F32 && type != MG_T_F64;
}

static bool is_open(const struct mg_ptx_insn *i, uint32_t flags)
{
    return i->ntypes == 1 && is_float(i->type[0]) && i->round == MG_RND_NONE && !(i->flags & ~flags) && i->nops == 3;
}
static bool is_product(const struct fuse *F, const struct mg_ptx_insn *i)
{
    return mg__ptx_exactly(i) == MG_ALG_MUL && i->guard < 0 && is_open(i, MG_F_FTZ) &&
           mg__ptx_op(F->f, i, 0)->kind == MG_OPND_REG;
}
static bool is_sum(const struct mg_ptx_insn *i)
{
    enum mg_ptx_algebra algebra = mg__ptx_exactly(i);
    return (algebra == MG_ALG_ADD || algebra == MG_ALG_SUB) && is_open(i, MG_F_FTZ | MG_F_SAT);
}

static bool is_negation(const struct mg_ptx_insn *i)
{
    return mg__ptx_exactly(i) == MG_ALG_NEG;
}

/* Whether instruction i copies a register that holds what `mul` computed, as ptxas sees through it. */
static bool is_copy(const struct fuse *F, const struct mg_ptx_insn *i, const struct mg_ptx_insn *mul)
{
    if (i->guard >= 0 || i->nops != 2 || i->ntypes != 1 || mg__ptx_op(F->f, i, 0)->kind != MG_OPND_REG)
        return false;
    uint8_t type = mul->type[0];
    if (is_negation(i))
        return i->type[0] == type && type != MG_T_BF16X2 &&
               (!(i->flags & MG_F_FTZ) || (mul->flags & MG_F_FTZ && !is_half(type)));
    unsigned size = mg__lower_type_size(type);
    return mg__ptx_exactly(i) == MG_ALG_COPY && mg__lower_type_size(i->type[0]) == size &&
           mg__lower_reg_size(F->L, mg__ptx_op(F->f, i, 0)) == size;
}

/* Whether ptxas begins another basic block behind the instruction, although PTX does not. */
static bool ends_stretch(const struct mg_ptx_insn *i)
{
    enum mg_ptx_group group = mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->group;
    bool computes = group == MG_G_ALU || (group == MG_G_MEM && i->algebra != MG_ALG_NONE);
    return i->splits || (i->guard >= 0 && !computes);
}

/* ---- products and their uses, in program order ---- */
static struct value *held(const struct fuse *F, const struct mg_ptx_opnd *o)
{
    return o->kind == MG_OPND_REG ? &F->values[o->index] : NULL;
}

static uint32_t product_in(const struct fuse *F, const struct value *v)
{
    return v && v->stretch >= F->first ? v->product : NONE;
}

/* A use that cannot be fused. Of what came through a neg.ftz it is settled later: see settle(). */
static void otherwise(struct fuse *F, const struct value *v)
{
    uint32_t product = product_in(F, v);
    if (product == NONE)
        return;
    if (v->flushed == NONE)
        F->nodes[product].other = true;
    else if (!F->nodes[v->flushed].uses++ && !mg__vec_push(&F->negs, v->flushed))
        F->failed = true;
}

/* neg.ftz is -x + -0 to ptxas, a sum itself: where sums read its result, what else reads it counts as one use more, for
 * which the product is computed as before. Where none does, the product has a use that cannot be fused. */
static void settle(struct fuse *F)
{
    for (size_t k = 0; k < F->negs.count; k++) {
        const struct node *n = &F->nodes[F->negs.at[k]];
        struct node *product = &F->nodes[n->use[0].product];
        product->uses += n->fused != 0;
        product->other |= n->fused == 0;
    }
    F->negs.count = 0;
}

static bool changed(const struct fuse *F, uint32_t product, unsigned k)
{
    const struct value *v = held(F, mg__ptx_op(F->f, &F->f->insns[product], 1 + k));
    return v && v->version != F->nodes[product].version[k];
}

static void see_sum(struct fuse *F, uint32_t at)
{
    const struct mg_ptx_insn *i = &F->f->insns[at];
    struct node *n = &F->nodes[at];
    n->role = SUM;
    for (unsigned k = 0; k < 2; k++) {
        const struct value *v = held(F, mg__ptx_op(F->f, i, 1 + k));
        n->use[k].product = NONE;
        if (product_in(F, v) == NONE)
            continue;
        const struct mg_ptx_insn *mul = &F->f->insns[v->product];
        bool twice = k == 1 && n->use[0].product == v->product;
        if (twice || v->stretch != F->stretch || mul->type[0] != i->type[0] || (mul->flags ^ i->flags) & MG_F_FTZ) {
            if (twice)
                F->nodes[v->product].other = true;
            otherwise(F, v);
            continue;
        }
        n->use[k] = (struct use){v->product, v->negated, {changed(F, v->product, 0), changed(F, v->product, 1)}};
        F->nodes[v->product].uses++;
        if (v->flushed != NONE)
            F->nodes[v->flushed].fused++;
    }
    if (!mg__vec_push(&F->sums, at))
        F->failed = true;
}

/* Whether the instruction copies a product; if not, what it reads is used. */
static bool see_reads(struct fuse *F, uint32_t at)
{
    const struct mg_ptx_insn *i = &F->f->insns[at];
    const struct value *source = i->nops == 2 ? held(F, mg__ptx_op(F->f, i, 1)) : NULL;
    if (product_in(F, source) != NONE && source->stretch == F->stretch && is_copy(F, i, &F->f->insns[source->product]))
        return true;
    if (is_sum(i)) {
        see_sum(F, at);
        return false;
    }
    struct mg_flow_walk w = {F->f, i, 0, 0};
    uint32_t reg;
    for (bool written; mg__flow_next(&w, &reg, &written);)
        if (!written)
            otherwise(F, &F->values[reg]);
    return false;
}

static void see_insn(struct fuse *F, uint32_t at)
{
    const struct mg_ptx_insn *i = &F->f->insns[at];
    struct node *n = &F->nodes[at];
    struct value made = {NONE, F->stretch, false, NONE, 0};
    if (n->dead) {
        ;
    } else if (see_reads(F, at)) {
        const struct value *v = held(F, mg__ptx_op(F->f, i, 1));
        n->role = COPY;
        n->use[0].product = v->product;
        made.product = v->product;
        made.negated = v->negated ^ is_negation(i);
        made.flushed = is_negation(i) && i->flags & MG_F_FTZ ? at : v->flushed;
    } else if (is_product(F, i)) {
        n->role = PRODUCT;
        for (unsigned k = 0; k < 2; k++) {
            const struct value *v = held(F, mg__ptx_op(F->f, i, 1 + k));
            n->version[k] = v ? v->version : 0;
        }
        made.product = at;
    }
    struct mg_flow_walk w = {F->f, i, 0, 0};
    uint32_t reg;
    for (bool written; mg__flow_next(&w, &reg, &written);) {
        if (!written)
            continue;
        struct value *v = &F->values[reg];
        if (i->guard >= 0) /* where the guard is false, what was there is used on */
            otherwise(F, v);
        made.version = v->version + 1;
        *v = made;
    }
}

static void find_dead(struct fuse *F, const struct mg_cfg_block *block)
{
    uint64_t *live = F->live.live;
    mg__flow_live_out(&F->live, block);
    for (uint32_t at = block->end; at-- > block->first;) {
        const struct mg_ptx_insn *i = &F->f->insns[at];
        struct mg_flow_walk w = {F->f, i, 0, 0};
        uint32_t reg;
        bool dead = mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->group == MG_G_ALU && !(i->flags & MG_F_CC);
        for (bool written; mg__flow_next(&w, &reg, &written);)
            dead &= !written || !mg__flow_holds(live, reg);
        F->nodes[at].dead = dead;
        if (!dead)
            mg__flow_live_before(F->f, i, live);
    }
}

/* ---- which are taken ---- */
static bool may(const struct fuse *F, const struct use *u)
{
    return u->product != NONE && !F->nodes[u->product].other;
}

static void choose(struct fuse *F, uint32_t at, bool single)
{
    struct node *n = &F->nodes[at];
    unsigned best = 0;
    for (unsigned k = 0; k < 2; k++)
        if (may(F, &n->use[k]) && (!best || F->nodes[n->use[k].product].uses < F->nodes[n->use[best - 1].product].uses))
            best = k + 1;
    if (n->take || !best || (single && F->nodes[n->use[best - 1].product].uses != 1))
        return;
    const struct use *u = &n->use[best - 1], *rest = &n->use[2 - best];
    struct node *mul = &F->nodes[u->product];
    n->take = (uint8_t)best;
    mul->fused++;
    F->taken++;
    for (unsigned k = 0; k < 2; k++)
        if (u->moved[k] && !mul->save[k]) {
            mul->save[k] = true;
            F->saved++;
        }
    if (rest->product != NONE)
        F->nodes[rest->product].other = true;
}

/* At the end of a chain of blocks all uses are known: what is live behind its last block is used there, and a stretch
 * that used another's product has said so. */
static void end_chain(struct fuse *F, const struct mg_cfg_block *last)
{
    mg__flow_live_out(&F->live, last);
    for (size_t w = 0; w < F->live.words; w++)
        for (uint64_t rest = F->live.live[w]; rest; rest &= rest - 1)
            otherwise(F, &F->values[w * 64 + (size_t)__builtin_ctzll(rest)]);
    settle(F);
    for (size_t k = 0; k < F->sums.count; k++)
        if (!is_half(F->f->insns[F->sums.at[k]].type[0]))
            choose(F, F->sums.at[k], true);
    for (size_t k = 0; k < F->sums.count; k++)
        choose(F, F->sums.at[k], false);
    F->sums.count = 0;
    F->first = ++F->stretch;
}

/* The block that can only be entered from `b`, which can only go there; or NONE. */
static uint32_t follower(const struct mg_cfg *cfg, uint32_t b)
{
    if (cfg->blocks[b].nsucc != 1)
        return NONE;
    uint32_t s = cfg->blocks[b].succ[0], entries = 0;
    for (uint32_t k = 0; k < cfg->blocks[s].npred; k++)
        entries += cfg->blocks[cfg->blocks[s].pred[k]].reachable;
    return entries == 1 && s != 0 && s != b ? s : NONE;
}

static bool is_followed(const struct mg_cfg *cfg, uint32_t b)
{
    for (uint32_t k = 0; k < cfg->blocks[b].npred; k++) {
        uint32_t p = cfg->blocks[b].pred[k];
        if (cfg->blocks[p].reachable && follower(cfg, p) == b)
            return true;
    }
    return false;
}

static void see_chain(struct fuse *F, uint32_t block)
{
    const struct mg_cfg *cfg = F->L->cfg;
    uint32_t last = block;
    for (uint32_t b = block; b != NONE; b = follower(cfg, b)) {
        find_dead(F, &cfg->blocks[b]);
        for (uint32_t i = cfg->blocks[b].first; i < cfg->blocks[b].end; i++) {
            see_insn(F, i);
            F->stretch += ends_stretch(&F->f->insns[i]);
        }
        last = b;
    }
    end_chain(F, &cfg->blocks[last]);
}

/* ---- the function with fused operations ---- */
struct rewrite {
    struct mg_ptx_func *f; /* a copy: its instructions, operands and registers may be written */
    struct mg_fused *marks;
    uint32_t noperands, nregs;
};

static bool copy_function(struct fuse *F, struct rewrite *W)
{
    struct mg_arena *a = &F->L->program->arena;
    const struct mg_ptx_func *f = F->f;
    W->f = mg__arena_alloc(a, sizeof *W->f);
    W->marks = mg__arena_array(a, f->ninsns, sizeof *W->marks);
    if (!W->f || !W->marks)
        return false;
    *W->f = *f;
    W->f->insns = mg__arena_array(a, f->ninsns, sizeof *f->insns);
    /* A sum gets four operands; a saved factor, with two others, a place in a vector, and the factors behind it. */
    W->f->noperands = f->noperands + 4 * (size_t)F->taken + 6 * (size_t)F->saved;
    W->f->operands = mg__arena_array(a, W->f->noperands, sizeof *f->operands);
    W->f->nregs = f->nregs + F->saved;
    W->f->regs = mg__arena_array(a, W->f->nregs + 1, sizeof *f->regs);
    if (!W->f->insns || !W->f->operands || !W->f->regs)
        return false;
    memcpy(W->f->insns, f->insns, f->ninsns * sizeof *f->insns);
    memcpy(W->f->operands, f->operands, f->noperands * sizeof *f->operands);
    memcpy(W->f->regs, f->regs, f->nregs * sizeof *f->regs);
    W->noperands = (uint32_t)f->noperands;
    W->nregs = (uint32_t)f->nregs;
    return true;
}

/* The product: gone, or only its factors saved, or both it and they. saved[]: where the factors are from now on. */
static void rewrite_product(struct fuse *F, struct rewrite *W, uint32_t at)
{
    const struct node *n = &F->nodes[at];
    struct mg_ptx_insn *i = &W->f->insns[at];
    bool kept = n->other || n->fused != n->uses;
    if (!n->save[0] && !n->save[1]) {
        if (!kept)
            W->marks[at].gone = true;
        return;
    }
    struct mg_ptx_opnd *o = &W->f->operands[W->noperands];
    o[0] = (struct mg_ptx_opnd){.kind = MG_OPND_VEC, .first = W->noperands + 3, .count = 3};
    o[1] = *mg__ptx_op(F->f, i, 1);
    o[2] = *mg__ptx_op(F->f, i, 2);
    o[3] = kept ? *mg__ptx_op(F->f, i, 0) : (struct mg_ptx_opnd){.kind = MG_OPND_SINK};
    for (unsigned k = 0; k < 2; k++) {
        o[4 + k] = (struct mg_ptx_opnd){.kind = MG_OPND_SINK};
        if (!n->save[k])
            continue;
        W->f->regs[W->nregs] = (struct mg_ptx_reg){"saved factor", i->type[0]};
        o[4 + k].kind = MG_OPND_REG;
        o[4 + k].index = W->nregs++;
    }
    i->first_op = W->noperands;
    W->noperands += 6;
    W->marks[at].saves = true;
}

static void rewrite_sum(struct fuse *F, struct rewrite *W, uint32_t at)
{
    const struct node *n = &F->nodes[at];
    struct mg_ptx_insn *i = &W->f->insns[at];
    unsigned taken = n->take - 1u;
    const struct mg_ptx_insn *mul = &W->f->insns[n->use[taken].product];
    bool sub = mg__ptx_exactly(i) == MG_ALG_SUB;
    struct mg_ptx_opnd *o = &W->f->operands[W->noperands];
    o[0] = *mg__ptx_op(F->f, i, 0);
    for (unsigned k = 0; k < 2; k++)
        o[1 + k] = n->use[taken].moved[k] ? W->f->operands[mul->first_op + 4 + k] : *mg__ptx_op(W->f, mul, 1 + k);
    o[3] = *mg__ptx_op(F->f, i, 2 - taken);
    W->marks[at].fma = true;
    W->marks[at].negate_product = n->use[taken].negated ^ (sub && taken == 1);
    W->marks[at].negate_addend = sub && taken == 0;
    i->opcode = MG_OP_FMA;
    i->algebra = MG_ALG_NONE;
    i->round = MG_RND_RN;
    i->nops = 4;
    i->first_op = W->noperands;
    W->noperands += 4;
}

static bool rewrite(struct fuse *F)
{
    struct rewrite W;
    if (!copy_function(F, &W))
        return false;
    for (uint32_t i = 0; i < F->f->ninsns; i++) {
        const struct node *n = &F->nodes[i];
        if (n->role == PRODUCT && n->fused)
            rewrite_product(F, &W, i);
        else if (n->role == SUM && n->take)
            rewrite_sum(F, &W, i);
    }
    for (uint32_t i = 0; i < F->f->ninsns; i++) {
        uint32_t product = F->nodes[i].role == COPY ? F->nodes[i].use[0].product : i;
        const struct node *n = &F->nodes[product];
        W.marks[i].gone |= F->nodes[i].role == COPY && n->fused && !n->other && n->fused == n->uses;
        W.marks[i].gone |= F->nodes[i].dead; /* it may read a product that is gone */
        if (W.marks[i].gone)
            W.f->insns[i].nops = 0;
    }
    assert(W.noperands <= W.f->noperands && W.nregs == W.f->nregs);
    W.f->noperands = W.noperands;
    F->L->func = W.f;
    F->L->fused = W.marks;
    return true;
}

static bool has_pair(const struct fuse *F)
{
    bool product = false, sum = false;
    for (size_t i = 0; i < F->f->ninsns; i++) {
        product |= is_product(F, &F->f->insns[i]);
        sum |= is_sum(&F->f->insns[i]);
    }
    return product && sum;
}

bool mg__fuse(struct mg_lower *L)
{
    struct fuse F = {.L = L, .f = L->func, .stretch = 1, .first = 1};
    L->fused = NULL;
    if (L->module->ptx->apart || !has_pair(&F))
        return true;
    F.nodes = calloc(F.f->ninsns + 1, sizeof *F.nodes);
    F.values = calloc(F.f->nregs + 1, sizeof *F.values);
    bool good = F.nodes && F.values && mg__flow_live(F.f, L->cfg, &F.live);
    for (uint32_t b = 0; good && b < L->cfg->nblocks; b++)
        if (L->cfg->blocks[b].reachable && !is_followed(L->cfg, b))
            see_chain(&F, b);
    good = good && !F.failed && (F.taken == 0 || rewrite(&F));
    mg__flow_live_free(&F.live);
    free(F.nodes);
    free(F.values);
    mg__vec_free(&F.sums);
    mg__vec_free(&F.negs);
    return good;
}

/* ---- lowering of what was rewritten ---- */
static int32_t negated(struct mg_lower *L, int32_t from, uint8_t type, unsigned temp)
{
    /* A NaN of f64 keeps its sign; the others have one NaN, which the fma makes of any. */
    static const char *const rows[] = {[MG_T_F32] = "xor_b32", [MG_T_F16X2] = "xor_b32", [MG_T_BF16X2] = "xor_b32",
                                       [MG_T_F16] = "xor_b16", [MG_T_BF16] = "xor_b16",  [MG_T_F64] = "neg_f64"};
    bool pair = type == MG_T_F16X2 || type == MG_T_BF16X2;
    uint32_t sign = type == MG_T_F32 ? 0x80000000u : pair ? 0x80008000u : 0x8000u;
    int32_t other = type == MG_T_F64 ? -1 : mg__lower_const(L, sign, false);
    mg__lower_row(L, mg__sem_find(rows[type]), 0, L->temp[temp], (const int32_t[4]){from, other, -1, -1});
    return L->temp[temp];
}

static void lower_fma(struct mg_lower *L, const struct mg_fused *mark)
{
    const struct mg_ptx_insn *i = L->insn;
    char name[32];
    snprintf(name, sizeof name, "fma_%s", mg__ptx_type_name((enum mg_ptx_type)i->type[0]));
    int row = mg__sem_find(name);
    unsigned bytes = mg__lower_type_size(i->type[0]);
    int32_t d = mg__lower_destination(L, mg__lower_opnd(L, 0), bytes), args[4] = {-1, -1, -1, -1};
    for (unsigned k = 0; k < 3; k++)
        args[k] = mg__lower_source(L, mg__lower_opnd(L, 1 + k), bytes, i->type[0], k);
    if (row < 0 || d < 0 || args[0] < 0 || args[1] < 0 || args[2] < 0) {
        mg__lower_unsupported(L);
        return;
    }
    if (mark->negate_product)
        args[0] = negated(L, args[0], i->type[0], 0);
    if (mark->negate_addend)
        args[2] = negated(L, args[2], i->type[0], 2);
    uint32_t mode = (i->flags & MG_F_FTZ ? SEM_FTZ : 0u) | (i->flags & MG_F_SAT ? SEM_SAT : 0u);
    mg__lower_row(L, row, mode, d, args);
    mg__lower_widen(L, mg__lower_opnd(L, 0), bytes, i->type[0]);
}

/* Saves factors, and computes the product if it is still wanted. */
static void lower_saving(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    const struct mg_ptx_opnd *v = &L->func->operands[mg__lower_opnd(L, 0)->first];
    unsigned bytes = mg__lower_type_size(i->type[0]);
    int32_t args[4] = {-1, -1, -1, -1};
    char name[32];
    snprintf(name, sizeof name, "mul_%s", mg__ptx_type_name((enum mg_ptx_type)i->type[0]));
    for (unsigned k = 0; k < 2; k++) {
        args[k] = mg__lower_source(L, mg__lower_opnd(L, 1 + k), bytes, i->type[0], k);
        if (v[1 + k].kind != MG_OPND_REG || args[k] < 0)
            continue;
        mg__lower_copy(L, bytes, L->slots[v[1 + k].index], args[k]);
    }
    if (v[0].kind != MG_OPND_REG)
        return;
    int32_t d = mg__lower_destination(L, &v[0], bytes);
    if (d < 0 || args[0] < 0 || args[1] < 0) {
        mg__lower_unsupported(L);
        return;
    }
    mg__lower_row(L, mg__sem_find(name), i->flags & MG_F_FTZ ? SEM_FTZ : 0, d, args);
    mg__lower_widen(L, &v[0], bytes, i->type[0]);
}

bool mg__lower_fused(struct mg_lower *L, uint32_t at)
{
    const struct mg_fused *mark = L->fused ? &L->fused[at] : NULL;
    if (!mark || !(mark->gone || mark->fma || mark->saves))
        return false;
    if (mark->fma)
        lower_fma(L, mark);
    else if (mark->saves)
        lower_saving(L);
    return true;
}
