/* gen_mask.c - branches whose lanes disagree: both arms are gone through, each for its own lanes.
 *
 * Where the arms are small and meet again (an "if" around a few instructions, with or without "else", and ifs inside
 * it), they are compiled a second time, under a mask, in the order in which the interpreter takes them: first the lanes
 * that fall through. A register that is still wanted where idle lanes wait, at the meeting point or in the other arm,
 * is blended; any other, an address say, keeps its form, for idle lanes are never asked for it. Blocks are counted with
 * the lanes that they have. An exit from an arm tells the interpreter which arms the warp is in (struct
 * mg_engine_level), and it takes all up there.
 *
 * Left to the interpreter from the branch on: arms with a loop, a barrier, an exit or an operation of the whole warp,
 * arms whose lanes may meet before all do, and arms that would cost a register its line where they meet.
 */
#include "jit/gen.h"

/* ---- which branches ---- */
struct walk {
    const struct mg_gen *g;
    uint64_t *written;
    uint32_t left; /* ops that may yet come */
    bool inner;    /* lanes may wait for others in the arms (MG_ENGINE_INNER) */
};

static const struct mg_gen_block *block_of(const struct mg_gen *g, uint32_t op)
{
    return op < g->p->nops && g->block_at[op] ? &g->blocks[g->block_at[op] - 1] : NULL;
}

static bool small(struct walk *w, const struct mg_gen_block *b)
{
    const struct mg_gen *g = w->g;
    for (uint32_t i = b->first; i < b->end; i++) {
        const struct mg_engine_op *op = &g->p->ops[i];
        if (w->left-- == 0 || op->kind == MG_ENGINE_BARRIER || op->kind == MG_ENGINE_EXIT ||
            op->kind == MG_ENGINE_LEAVE || op->effects & MG_ENGINE_MEETS)
            return false;
        for (unsigned k = 0; k < op->nout; k++) {
            uint32_t v = mg__gen_var(g, op->out[k].slot, op->out[k].bytes);
            if (v != UINT32_MAX)
                w->written[v / 64] |= (uint64_t)1 << (v % 64);
        }
    }
    return true;
}

static bool arms_fit(struct walk *w, uint32_t branch, unsigned depth);

/* All blocks from `at` to where the arms meet. */
static bool arm_fits(struct walk *w, uint32_t at, uint32_t meet, unsigned depth)
{
    while (at != meet) {
        const struct mg_gen_block *b = block_of(w->g, at);
        if (!b || !b->reached || b->loop || w->g->p->ops[b->first].effects & MG_ENGINE_CHARGES || !small(w, b))
            return false;
        w->inner |= w->g->p->ops[b->first].kind == MG_ENGINE_BLOCK && w->g->p->ops[b->first].effects & MG_ENGINE_INNER;
        const struct mg_engine_op *last = &w->g->p->ops[b->end - 1];
        if (last->kind != MG_ENGINE_BRANCH) {
            at = b->end;
        } else if (!last->falls) {
            at = last->target;
        } else {
            if (!arms_fit(w, b->end - 1, depth + 1))
                return false;
            at = (uint32_t)last->meet;
        }
    }
    return true;
}

static bool arms_fit(struct walk *w, uint32_t branch, unsigned depth)
{
    const struct mg_engine_op *op = &w->g->p->ops[branch];
    return depth <= MG_GEN_LEVELS && op->meet >= 0 && !(op->effects & MG_ENGINE_INNER) &&
           arm_fits(w, branch + 1, (uint32_t)op->meet, depth) && arm_fits(w, op->target, (uint32_t)op->meet, depth);
}

void mg__gen_regions(struct mg_gen *g)
{
    uint64_t *written = mg__arena_array(&g->arena, g->words, sizeof *written);
    for (uint32_t b = 0; written && !g->whole && b < g->nblocks; b++) {
        struct mg_gen_block *block = &g->blocks[b];
        if (!block->reached || !block->diverges)
            continue;
        struct walk w = {g, written, MG_GEN_REGION, false};
        const struct mg_engine_op *op = &g->p->ops[block->end - 1];
        const struct mg_gen_block *meet = op->meet >= 0 ? block_of(g, (uint32_t)op->meet) : NULL;
        memset(written, 0, g->words * sizeof *written);
        block->parts = meet && meet->reached && arms_fit(&w, block->end - 1, 1);
        block->fits = block->parts && !w.inner;
        for (uint32_t v = 0; v < g->nvars && block->parts; v++)
            block->parts = !mg__gen_is_live(written, v) || !mg__gen_is_live(meet->live, v) || meet->in[v].vector;
        g->parts |= block->parts;
    }
}

/* ---- arms ---- */
static LLVMValueRef counts(struct mg_gen *g, size_t table, uint64_t index, size_t field)
{
    LLVMValueRef at = mg__gen_load(g, g->ptr, mg__gen_at(g, g->e, table), 8);
    return mg__gen_at(g, at, index * sizeof(struct mg_insn_counts) + field);
}

void mg__gen_count_block(struct mg_gen *g, const struct mg_engine_op *op)
{
    unsigned id = LLVMLookupIntrinsicID("llvm.ctpop", 10);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->module, id, &g->i32, 1);
    LLVMValueRef n = LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, &g->lanes, 1, "");
    size_t table = offsetof(struct mg_engine_warp, counts);
    mg__gen_add(g, counts(g, table, op->mode, offsetof(struct mg_insn_counts, warps)), mg__gen_c64(g, 1));
    mg__gen_add(g, counts(g, table, op->mode, offsetof(struct mg_insn_counts, threads)),
                LLVMBuildZExt(g->b, n, g->i64, ""));
}

static LLVMValueRef some(struct mg_gen *g, LLVMValueRef mask)
{
    return LLVMBuildICmp(g->b, LLVMIntNE, mask, mg__gen_c32(g, 0), "");
}

/* Behind an access that was told: the warp leaves, in its arms, before op `next` if the observer asked for it. */
static void leave_if_asked(struct mg_gen *g, const struct mg_gen_block *b, uint32_t next)
{
    const struct mg_gen_block *other = next < b->end ? NULL : block_of(g, next);
    g->op = next;
    g->live = other ? other->live : g->lives + (size_t)(next - b->first) * g->words;
    g->exit = NULL;
    g->checkpoint.valid = false;
    mg__gen_leave_if_asked(g);
    g->checkpoint.valid = false;
}

/* The blocks of one arm, for g->lanes. */
static void go_through(struct mg_gen *g, uint32_t at, uint32_t meet)
{
    while (at != meet && !g->reason) {
        const struct mg_gen_block *b = block_of(g, at);
        const struct mg_engine_op *last = &g->p->ops[b->end - 1];
        mg__gen_lives(g, b);
        g->serial++;
        g->framed++;
        g->ngroups = 0;
        g->checkpoint.valid = false;
        if (g->p->ops[b->first].kind == MG_ENGINE_BLOCK)
            mg__gen_count_block(g, &g->p->ops[b->first]);
        for (uint32_t i = b->first; i < b->end; i++)
            if (g->p->ops[i].kind != MG_ENGINE_BRANCH) {
                mg__gen_op(g, b, i);
                if (g->p->ops[i].effects & MG_ENGINE_TELLS)
                    leave_if_asked(g, b, i + 1);
            }
        if (last->kind != MG_ENGINE_BRANCH) {
            at = b->end;
        } else if (!last->falls) {
            at = last->target;
        } else {
            struct mg_gen_value v = mg__gen_read(g, last->guard, 0);
            LLVMValueRef way = LLVMBuildXor(g->b, mg__gen_vector(g, &v, 0), mg__gen_c32(g, last->invert), "");
            mg__gen_arms(g, b->end - 1, g->lanes, LLVMBuildAnd(g->b, way, g->lanes, ""));
            at = (uint32_t)last->meet;
        }
    }
}

/* The arm from op `at`, if any lane goes there. */
static void arm(struct mg_gen *g, uint32_t at, struct mg_gen_level level)
{
    const struct mg_gen_block *meet = block_of(g, level.meet),
                              *other = level.other == level.meet ? NULL : block_of(g, level.other);
    uint64_t *keep = mg__arena_array(&g->arena, g->words, sizeof *keep);
    struct mg_gen_form *before = mg__arena_array(&g->arena, 2 * (size_t)g->nvars + 1, sizeof *before),
                       *to = before + g->nvars;
    if (!keep || !before)
        g->reason = "memory";
    if (at == level.meet || g->reason)
        return;
    const uint64_t *outer_keep = g->keep;
    LLVMValueRef outer_lanes = g->lanes, outer_mask = g->mask;
    for (uint32_t w = 0; w < g->words; w++)
        keep[w] = (outer_keep ? outer_keep[w] : 0) | meet->live[w] | (other && !level.second ? other->live[w] : 0);
    memcpy(before, g->form, g->nvars * sizeof *before);
    LLVMBasicBlockRef body = mg__gen_bb(g), skip = mg__gen_bb(g), after = mg__gen_bb(g);
    LLVMBuildCondBr(g->b, some(g, level.mine), body, skip);

    LLVMPositionBuilderAtEnd(g->b, body);
    g->levels[g->nlevels++] = level;
    g->keep = keep;
    g->lanes = g->mask = level.mine;
    go_through(g, at, level.meet);
    g->nlevels--;
    g->keep = outer_keep;
    g->lanes = outer_lanes;
    g->mask = outer_mask;
    for (uint32_t v = 0; v < g->nvars; v++)
        to[v] = mg__gen_is_live(keep, v) ? mg__gen_meet(before[v], g->form[v]) : (struct mg_gen_form){0};
    for (uint32_t v = 0; v < g->nvars; v++)
        mg__gen_settle(g, v, to[v]);
    LLVMBuildBr(g->b, after);

    LLVMPositionBuilderAtEnd(g->b, skip);
    memcpy(g->form, before, g->nvars * sizeof *before);
    for (uint32_t v = 0; v < g->nvars; v++)
        mg__gen_settle(g, v, to[v]);
    LLVMBuildBr(g->b, after);
    LLVMPositionBuilderAtEnd(g->b, after);
    g->checkpoint.valid = false;
    g->exit = NULL;
    g->ngroups = 0;
    g->framed++;
}

void mg__gen_arms(struct mg_gen *g, uint32_t i, LLVMValueRef lanes, LLVMValueRef taken)
{
    const struct mg_engine_op *op = &g->p->ops[i];
    LLVMValueRef rest = LLVMBuildAnd(g->b, lanes, LLVMBuildNot(g->b, taken, ""), "");
    LLVMValueRef both = LLVMBuildAnd(g->b, some(g, taken), some(g, rest), "");
    mg__gen_add(
        g, counts(g, offsetof(struct mg_engine_warp, by_insn), op->insn, offsetof(struct mg_insn_counts, divergent)),
        LLVMBuildZExt(g->b, both, g->i64, ""));
    arm(g, i + 1, (struct mg_gen_level){(uint32_t)op->meet, op->target, false, lanes, rest});
    arm(g, op->target, (struct mg_gen_level){(uint32_t)op->meet, i + 1, true, lanes, taken});
}

void mg__gen_part(struct mg_gen *g, uint32_t i, LLVMValueRef taken)
{
    const struct mg_gen_block *meet = block_of(g, (uint32_t)g->p->ops[i].meet);
    mg__gen_arms(g, i, mg__gen_c32(g, ~0u), taken);
    mg__gen_settle_for(g, meet);
    LLVMBuildBr(g->b, meet->bb);
}
