/* gen_some.c - blocks for a warp of which only some lanes run: a second function, which the interpreter calls where it
 * begins a block or goes on behind a barrier, and which comes back where it must look.
 *
 * Who runs next, where lanes part, meet, wait and end stays the interpreter's (simt/split.c); what a block computes is
 * compiled, under the mask of the lanes that run. Registers are in the frame between blocks, as the interpreter has
 * them; a branch on which all of these lanes agree goes on here, and so does one whose arms are small, through both
 * (gen_mask.c), unless accesses are observed. Lanes that come to where the leaf meets others, as at a loop's end, are
 * dropped, and the others go on. It comes back before any other op that parts or joins lanes, that all lanes of the
 * warp make together, or that compiled code does not have; before a block where other lanes wait; and where the slice
 * is used up. So all that depends on the order of lanes and turns is as interpreted.
 *
 * Compiled are the blocks that lie behind a branch on which lanes may disagree, up to where they meet again, or to the
 * end, if they may have in their registers there what the first function does not take; all blocks where warps have
 * idle lanes from the start, and all of a function that the kernel calls, where this is all there is.
 * Accesses are calls of the interpreter's handlers, but for those in loops whose lanes are found to be consecutive
 * (gen_mem.c); behind one that is observed it comes back where the observer wants to follow the warp. What idle lanes
 * have in the frame stays (mg__gen_blends_late).
 */
#include "jit/gen.h"

struct some {
    struct mg_gen *g;
    bool *seen;                    /* by block: on this search */
    bool *in;                      /* by block: compiled */
    LLVMBasicBlockRef *body, *way; /* by block: behind its BLOCK op, which is counted; before it, if it has one */
    uint64_t *keep;                /* variables that are live between blocks, and those that share their slots */
    uint64_t *blended;             /* those that are blended where they are written, out of arms */
    uint64_t *held;                /* of these, those that have been loaded in the block's code */
    LLVMValueRef lanes;            /* where the mask is kept: lanes may leave it */
    LLVMValueRef mask, meet;
};

static const struct mg_gen_block *block_of(const struct mg_gen *g, uint32_t op)
{
    return op < g->p->nops && g->block_at[op] ? &g->blocks[g->block_at[op] - 1] : NULL;
}

/* ---- which blocks ---- */
/* All blocks from the op on, up to `meet`: s->seen. */
static void look_from(struct some *s, uint32_t op, int64_t meet)
{
    const struct mg_gen *g = s->g;
    for (const struct mg_gen_block *b; op != meet && (b = block_of(g, op)) != NULL;) {
        if (!b->reached || s->seen[b - g->blocks])
            return;
        s->seen[b - g->blocks] = true;
        const struct mg_engine_op *last = &g->p->ops[b->end - 1];
        for (uint32_t k = 0; last->kind == MG_ENGINE_LEAVE && k < last->ntargets; k++)
            look_from(s, last->targets[k], meet);
        if (last->kind == MG_ENGINE_BRANCH && last->falls)
            look_from(s, last->target, meet);
        if (last->kind == MG_ENGINE_BRANCH && !last->falls)
            op = last->target;
        else if (last->falls || b->end - 1 < g->p->nops - 1)
            op = b->end;
        else
            return;
        if (last->kind == MG_ENGINE_EXIT && !last->falls)
            return;
    }
}

static void mark(struct some *s, uint32_t op, int64_t meet)
{
    memset(s->seen, 0, s->g->nblocks * sizeof *s->seen);
    look_from(s, op, meet);
    for (uint32_t b = 0; b < s->g->nblocks; b++)
        s->in[b] |= s->seen[b];
}

/* Whether the interpreter can begin it: a basic block, or what stands behind a barrier in the midst of one. */
static bool begins(const struct mg_gen *g, uint32_t op)
{
    return g->p->ops[op].kind == MG_ENGINE_BLOCK || (op > 0 && g->p->ops[op - 1].kind == MG_ENGINE_BARRIER);
}

/* Whether lanes that part at the block's end may have a register, where they meet, that the first function takes for a
 * line there: they are no warp of its any more. */
static bool loses_line(struct some *s, const struct mg_gen_block *b)
{
    const struct mg_gen *g = s->g;
    const struct mg_engine_op *last = &g->p->ops[b->end - 1];
    const struct mg_gen_block *meet = last->meet >= 0 ? block_of(g, (uint32_t)last->meet) : NULL;
    bool loses = false;
    memset(s->seen, 0, g->nblocks * sizeof *s->seen);
    look_from(s, b->end, last->meet);
    look_from(s, last->target, last->meet);
    for (uint32_t k = 0; meet && meet->reached && k < g->nblocks; k++)
        for (uint32_t i = g->blocks[k].first; s->seen[k] && i < g->blocks[k].end; i++)
            for (unsigned o = 0; o < g->p->ops[i].nout; o++) {
                const struct mg_engine_operand *out = &g->p->ops[i].out[o];
                const uint32_t v = mg__gen_var(g, out->slot, out->bytes);
                loses |= v != UINT32_MAX && mg__gen_is_live(meet->live, v) && !meet->in[v].vector;
            }
    return loses;
}

static bool choose(struct some *s)
{
    const struct mg_gen *g = s->g;
    const bool all = g->p->partial || g->p->ragged;
    bool any = all;
    for (uint32_t b = 0; b < g->nblocks; b++) {
        const struct mg_engine_op *last = &g->p->ops[g->blocks[b].end - 1];
        s->in[b] |= all && g->blocks[b].reached;
        if (!g->blocks[b].reached || all)
            continue;
        if (last->kind == MG_ENGINE_EXIT && last->falls) {
            mark(s, g->blocks[b].end, -1);
        } else if (g->blocks[b].diverges && !g->blocks[b].parts) {
            mark(s, g->blocks[b].end, last->meet);
            mark(s, last->target, last->meet);
            if (loses_line(s, &g->blocks[b]))
                mark(s, (uint32_t)last->meet, -1);
        }
    }
    for (uint32_t b = 0; b < g->nblocks; b++) {
        s->in[b] &= begins(g, g->blocks[b].first);
        any |= s->in[b];
    }
    return any;
}

static bool overlap(const struct mg_gen_var *a, const struct mg_gen_var *b)
{
    int32_t a_bytes = a->bytes ? 32 * a->bytes : 4, b_bytes = b->bytes ? 32 * b->bytes : 4;
    return a->slot < b->slot + b_bytes && b->slot < a->slot + a_bytes;
}

/* Where other lanes may be while these run, but for the beginnings of blocks: what the interpreter executes. */
static bool stops(const struct mg_engine_op *op)
{
    return op->kind == MG_ENGINE_BARRIER || op->kind == MG_ENGINE_EXIT || op->kind == MG_ENGINE_LEAVE ||
           op->effects & (MG_ENGINE_MEETS | MG_ENGINE_PARTS);
}

static void join(const struct mg_gen *g, uint64_t *to, const uint64_t *live)
{
    for (uint32_t w = 0; w < g->words; w++)
        to[w] |= live[w];
}

/* Those that are live where lanes may be that do not run, and those of which lanes may ask others that have not run for
 * what they had: what that is no program may rely on, but it is the same however it is run. */
static void choose_kept(struct some *s)
{
    struct mg_gen *g = s->g;
    uint64_t *live = mg__arena_array(&g->arena, g->words, sizeof *live);
    for (uint32_t i = 0; live && i < g->p->nops; i++)
        for (unsigned k = 0; g->p->ops[i].effects & MG_ENGINE_MEETS && k < g->p->ops[i].nin; k++) {
            const uint32_t v = mg__gen_var(g, g->p->ops[i].in[k].slot, g->p->ops[i].in[k].bytes);
            if (v != UINT32_MAX)
                live[v / 64] |= (uint64_t)1 << (v % 64);
        }
    for (uint32_t b = 0; live && b < g->nblocks; b++) {
        const struct mg_gen_block *block = &g->blocks[b];
        join(g, live, block->live);
        if (!block->reached)
            continue;
        mg__gen_lives(g, block);
        for (uint32_t i = block->first; i < block->end; i++)
            if (stops(&g->p->ops[i])) { /* before it, or a guard that it has, and behind it */
                join(g, live, g->lives + (size_t)(i - block->first) * g->words);
                join(g, live, g->lives + (size_t)(i + 1 - block->first) * g->words);
            }
    }
    for (uint32_t v = 0; live && v < g->nvars; v++)
        for (uint32_t u = 0; u < g->nvars; u++)
            if (mg__gen_is_live(live, u) && overlap(&g->vars[v], &g->vars[u]))
                s->keep[v / 64] |= (uint64_t)1 << (v % 64);
}

/* ---- one block ---- */
static void go_back(struct mg_gen *g, uint32_t op)
{
    LLVMBuildRet(g->b, mg__gen_c32(g, op));
}

/* On to the op's block, if it is compiled. */
static void go_on(struct some *s, uint32_t op)
{
    const struct mg_gen_block *b = block_of(s->g, op);
    if (b && s->way[b - s->g->blocks])
        LLVMBuildBr(s->g->b, s->way[b - s->g->blocks]);
    else
        go_back(s->g, op);
}

static void from_slot(struct mg_gen *g, uint32_t var)
{
    const struct mg_gen_var *v = &g->vars[var];
    LLVMTypeRef type = v->bytes ? LLVMVectorType(mg__gen_int(g, v->bytes), 32) : g->i32;
    LLVMValueRef mask = g->mask,
                 all = mg__gen_load(g, type, mg__gen_at(g, g->regs, (uint32_t)v->slot), v->bytes ? v->bytes : 4);
    g->mask = NULL;
    mg__gen_write(g, v->slot, v->bytes, mg__gen_of_vector(all));
    g->mask = mask;
}

/* Of what the block touches before op `end`, `wanted`: from the frame, where it begins, or (`out`) back to it. */
static void frame_vars(struct some *s, const struct mg_gen_block *b, uint32_t end, const uint64_t *wanted, bool out)
{
    struct mg_gen *g = s->g;
    uint64_t *seen = mg__arena_array(&g->arena, g->words, sizeof *seen);
    if (!seen) {
        g->reason = "memory";
        return;
    }
    g->running_lanes = out && mg__gen_blends_late(g) ? mg__gen_lanes(g, g->running) : NULL;
    for (uint32_t i = b->first; i < end; i++) {
        const struct mg_engine_op *op = &g->p->ops[i];
        const struct mg_engine_operand guard = {op->guard, 0};
        for (unsigned k = 0; k <= op->nin + op->nout; k++) {
            const struct mg_engine_operand *o = k < op->nout             ? &op->out[k]
                                                : k < op->nin + op->nout ? &op->in[k - op->nout]
                                                                         : &guard;
            uint32_t v = o->slot < 0 ? UINT32_MAX : mg__gen_var(g, o->slot, o->bytes);
            if (v == UINT32_MAX || mg__gen_is_live(out ? seen : s->held, v) || (out && k >= op->nout) ||
                !mg__gen_is_live(wanted, v))
                continue;
            (out ? seen : s->held)[v / 64] |= (uint64_t)1 << (v % 64);
            if (out && mg__gen_is_framed(g, v))
                continue;
            if (out)
                mg__gen_to_slot(g, v);
            else
                from_slot(g, v);
            mg__gen_framed(g, v); /* and what shares the slot is not: it may come behind */
        }
    }
    g->running_lanes = NULL;
}

static void take_mask(struct some *s)
{
    s->mask = s->g->mask = s->g->lanes = s->g->running = mg__gen_load(s->g, s->g->i32, s->lanes, 4);
}

static LLVMValueRef condition(struct some *s, const struct mg_engine_op *op)
{
    struct mg_gen *g = s->g;
    struct mg_gen_value v = mg__gen_read(g, op->guard, 0);
    LLVMValueRef way = LLVMBuildXor(g->b, mg__gen_vector(g, &v, 0), mg__gen_c32(g, op->invert), "");
    return LLVMBuildAnd(g->b, way, s->mask, "");
}

/* A guarded access or call, if any lane makes it. */
static void guarded_call(struct some *s, uint32_t i)
{
    struct mg_gen *g = s->g;
    const struct mg_engine_op *op = &g->p->ops[i];
    LLVMValueRef lanes = condition(s, op - 1);
    LLVMBasicBlockRef body = mg__gen_bb(g), after = mg__gen_bb(g);
    for (unsigned k = 0; k < op->nin; k++) /* what both ways have there is known behind them */
        mg__gen_to_frame(g, &op->in[k]);
    for (unsigned k = 0; k < op->nout; k++)
        mg__gen_to_frame(g, &op->out[k]);
    for (unsigned k = 0; k < op->nout; k++) {
        uint32_t v = mg__gen_var(g, op->out[k].slot, op->out[k].bytes);
        if (v != UINT32_MAX)
            mg__gen_settle(g, v, (struct mg_gen_form){.reached = true, .vector = true});
    }
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, lanes, mg__gen_c32(g, 0), ""), body, after);
    LLVMPositionBuilderAtEnd(g->b, body);
    g->mask = lanes;
    g->guarded = true;
    mg__gen_op_some(g, i);
    g->guarded = false;
    g->mask = s->mask;
    LLVMBuildBr(g->b, after);
    LLVMPositionBuilderAtEnd(g->b, after);
}

static void emit_op(struct some *s, const struct mg_gen_block *b, uint32_t i)
{
    struct mg_gen *g = s->g;
    const struct mg_engine_op *op = &g->p->ops[i];
    if (op->kind == MG_ENGINE_BLOCK || op->kind == MG_ENGINE_GUARD || op->kind == MG_ENGINE_NOP)
        return;
    if (i == b->first || op[-1].kind != MG_ENGINE_GUARD) {
        mg__gen_op_some(g, i);
    } else if (op->kind == MG_ENGINE_LOAD || op->kind == MG_ENGINE_STORE || op->kind == MG_ENGINE_CALL) {
        guarded_call(s, i);
    } else {
        g->mask = condition(s, op - 1);
        g->guarded = true;
        mg__gen_op_some(g, i);
        g->guarded = false;
        g->mask = s->mask;
    }
}

static LLVMValueRef nobody_asks(struct mg_gen *g)
{
    LLVMValueRef leave = mg__gen_load(g, g->i32, mg__gen_at(g, g->e, offsetof(struct mg_engine_warp, leave)), 4);
    return LLVMBuildICmp(g->b, LLVMIntEQ, leave, mg__gen_c32(g, 0), "");
}

/* An observed access may ask to leave behind it: all that is wanted there is in the frame before. */
static void emit_told(struct some *s, const struct mg_gen_block *b, uint32_t i)
{
    struct mg_gen *g = s->g;
    LLVMBasicBlockRef on = mg__gen_bb(g), back = mg__gen_bb(g);
    frame_vars(s, b, i, g->lives + (size_t)(i + 1 - b->first) * g->words, true);
    emit_op(s, b, i);
    mg__gen_expect(g, nobody_asks(g), on, back);
    LLVMPositionBuilderAtEnd(g->b, back);
    go_back(g, i + 1);
    LLVMPositionBuilderAtEnd(g->b, on);
}

/* The branch's arms, one after the other, and on to where they meet. */
static void emit_arms(struct some *s, const struct mg_gen_block *b, LLVMValueRef taken)
{
    struct mg_gen *g = s->g;
    const uint32_t i = b->end - 1, meet = (uint32_t)g->p->ops[i].meet;
    memset(s->seen, 0, g->nblocks * sizeof *s->seen);
    look_from(s, i + 1, meet);
    look_from(s, g->p->ops[i].target, meet);
    for (uint32_t k = 0; k < g->nblocks; k++)
        if (s->seen[k])
            frame_vars(s, &g->blocks[k], g->blocks[k].end, s->keep, false);
    g->keep = s->keep; /* what is not blended in an arm is lost to the lanes of the other one */
    mg__gen_arms(g, i, s->mask, taken);
    g->keep = s->blended;
    for (uint32_t k = 0; k < g->nblocks; k++)
        if (s->seen[k])
            frame_vars(s, &g->blocks[k], g->blocks[k].end, block_of(g, meet)->live, true);
    go_on(s, meet);
}

/* Where lanes of the block's branch part. Those that come to where the warp's lanes wait for one another, as at a
 * loop's end, have arrived; the others go on. */
static void emit_parting(struct some *s, const struct mg_gen_block *b, LLVMValueRef taken)
{
    struct mg_gen *g = s->g;
    const uint32_t i = b->end - 1;
    const struct mg_engine_op *op = &g->p->ops[i];
    const bool onward = op->meet == (int32_t)i + 1; /* as in mg__op_bra */
    if (b->fits && !g->tells) {
        emit_arms(s, b, taken);
        return;
    }
    if (op->meet < 0 || op->effects & MG_ENGINE_INNER || (!onward && (uint32_t)op->meet != op->target)) {
        go_back(g, i);
        return;
    }
    LLVMBasicBlockRef here = mg__gen_bb(g), back = mg__gen_bb(g);
    LLVMValueRef wait = LLVMBuildICmp(g->b, LLVMIntEQ, s->meet, mg__gen_c32(g, (uint32_t)op->meet), "");
    LLVMBuildCondBr(g->b, wait, here, back);
    LLVMPositionBuilderAtEnd(g->b, back);
    go_back(g, i);
    LLVMPositionBuilderAtEnd(g->b, here);
    LLVMValueRef stay = onward ? taken : LLVMBuildXor(g->b, s->mask, taken, "");
    LLVMTypeRef params[3] = {g->ptr, g->i32, g->i32},
                type = LLVMFunctionType(LLVMVoidTypeInContext(g->cx), params, 3, 0);
    LLVMValueRef f = mg__gen_load(g, g->ptr, mg__gen_at(g, g->calls, offsetof(struct mg_engine_calls, stay)), 8);
    LLVMBuildCall2(g->b, type, f, (LLVMValueRef[3]){g->e, mg__gen_c32(g, op->insn), stay}, 3, "");
    mg__gen_store(g, stay, s->lanes, 4);
    go_on(s, onward ? op->target : i + 1);
}

static void emit_body(struct some *s, const struct mg_gen_block *b)
{
    struct mg_gen *g = s->g;
    LLVMPositionBuilderAtEnd(g->b, s->body[b - g->blocks]);
    take_mask(s);
    for (uint32_t v = 0; v < g->nvars; v++)
        g->form[v] = (struct mg_gen_form){.reached = true, .vector = true};
    g->serial++;
    g->framed++;
    g->ngroups = 0;
    memset(s->held, 0, g->words * sizeof *s->held);
    mg__gen_lives(g, b);
    frame_vars(s, b, b->end, mg__gen_blends_late(g) ? b->live : s->keep, false);
    for (uint32_t i = b->first; i < b->end && !g->reason; i++) {
        const struct mg_engine_op *op = &g->p->ops[i];
        const uint64_t *live = g->lives + (size_t)(i - b->first) * g->words;
        const bool guarded = op->kind == MG_ENGINE_GUARD && i + 1 < b->end;
        if (op->kind == MG_ENGINE_BRANCH && !op->falls) {
            frame_vars(s, b, i, live, true);
            go_on(s, op->target);
            return;
        }
        if (op->kind == MG_ENGINE_BRANCH) {
            LLVMBasicBlockRef yes = mg__gen_bb(g), second = mg__gen_bb(g), no = mg__gen_bb(g), part = mg__gen_bb(g);
            LLVMValueRef taken = condition(s, op);
            frame_vars(s, b, i, live, true);
            LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, taken, s->mask, ""), yes, second);
            LLVMPositionBuilderAtEnd(g->b, second);
            LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, taken, mg__gen_c32(g, 0), ""), no, part);
            LLVMPositionBuilderAtEnd(g->b, yes);
            go_on(s, op->target);
            LLVMPositionBuilderAtEnd(g->b, no);
            go_on(s, i + 1);
            LLVMPositionBuilderAtEnd(g->b, part);
            emit_parting(s, b, taken);
            return;
        }
        if (stops(guarded ? op + 1 : op)) {
            frame_vars(s, b, i, live, true);
            go_back(g, i);
            return;
        }
        if (op->effects & MG_ENGINE_TELLS)
            emit_told(s, b, i);
        else
            emit_op(s, b, i);
    }
    frame_vars(s, b, b->end, g->lives + (size_t)(b->end - b->first) * g->words, true);
    go_on(s, b->end);
}

/* On the way to a basic block: where other lanes wait, where all are together and may go on in the other function, and
 * where the slice is used up, the interpreter begins it. Behind a barrier it always does. */
static void emit_way(struct some *s, const struct mg_gen_block *b)
{
    struct mg_gen *g = s->g;
    const struct mg_engine_op *op = &g->p->ops[b->first];
    if (!s->way[b - g->blocks])
        return;
    LLVMBasicBlockRef back = mg__gen_bb(g), on = mg__gen_bb(g);
    LLVMPositionBuilderAtEnd(g->b, back);
    go_back(g, b->first);
    LLVMPositionBuilderAtEnd(g->b, s->way[b - g->blocks]);
    take_mask(s);
    LLVMValueRef stop = LLVMBuildICmp(g->b, LLVMIntEQ, s->meet, mg__gen_c32(g, b->first), "");
    if (b->entry && !g->p->partial)
        stop = LLVMBuildOr(g->b, stop, LLVMBuildICmp(g->b, LLVMIntEQ, s->mask, mg__gen_c32(g, ~0u), ""), "");
    if (op->effects & (MG_ENGINE_LEFT | MG_ENGINE_INNER)) {
        LLVMValueRef nested = mg__gen_load(g, g->i32, mg__gen_at(g, g->e, offsetof(struct mg_engine_warp, nested)), 4);
        stop = LLVMBuildOr(g->b, stop, LLVMBuildICmp(g->b, LLVMIntNE, nested, mg__gen_c32(g, 0), ""), "");
    }
    LLVMBuildCondBr(g->b, stop, back, on);
    LLVMPositionBuilderAtEnd(g->b, on);
    if (op->effects & MG_ENGINE_CHARGES) {
        LLVMBasicBlockRef good = mg__gen_bb(g);
        LLVMValueRef slice = mg__gen_at(g, g->e, offsetof(struct mg_engine_warp, slice));
        LLVMValueRef left = LLVMBuildSub(g->b, mg__gen_load(g, g->i32, slice, 4), mg__gen_c32(g, 1), "");
        mg__gen_expect(g, LLVMBuildICmp(g->b, LLVMIntSGE, left, mg__gen_c32(g, 0), ""), good, back);
        LLVMPositionBuilderAtEnd(g->b, good);
        mg__gen_store(g, left, slice, 4);
    }
    mg__gen_count_block(g, op);
    LLVMBuildBr(g->b, s->body[b - g->blocks]);
}

static bool prepare(struct some *s)
{
    struct mg_gen *g = s->g;
    s->in = mg__arena_array(&g->arena, g->nblocks + 1, sizeof *s->in);
    s->body = mg__arena_array(&g->arena, g->nblocks + 1, sizeof *s->body);
    s->way = mg__arena_array(&g->arena, g->nblocks + 1, sizeof *s->way);
    s->keep = mg__arena_array(&g->arena, g->words, sizeof *s->keep);
    s->blended = mg__arena_array(&g->arena, g->words, sizeof *s->blended);
    s->held = mg__arena_array(&g->arena, g->words, sizeof *s->held);
    s->seen = mg__arena_array(&g->arena, g->nblocks + 1, sizeof *s->seen);
    if (!s->in || !s->seen || !s->body || !s->way || !s->keep || !s->blended || !s->held || !choose(s))
        return false;
    choose_kept(s);
    for (uint32_t v = 0; v < g->nvars; v++) /* homes are a function's own */
        g->vars[v].base = g->vars[v].cx = g->vars[v].cy = g->vars[v].vec = NULL;
    return true;
}

void mg__gen_some(struct mg_gen *g)
{
    struct some s = {.g = g};
    if (!prepare(&s))
        return;
    LLVMTypeRef params[4] = {g->ptr, g->i32, g->i32, g->i32};
    mg__gen_function(g, "some", LLVMFunctionType(g->i32, params, 4, 0));
    g->some = true;
    g->deferred = NULL;
    s.mask = g->mask = g->lanes = LLVMGetParam(g->fn, 2);
    s.meet = LLVMGetParam(g->fn, 3);
    if (!mg__gen_blends_late(g))
        memcpy(s.blended, s.keep, g->words * sizeof *s.blended);
    g->keep = s.blended;
    g->slots = s.keep;
    g->nlevels = 0;
    g->checkpoint.valid = false;
    LLVMPositionBuilderAtEnd(g->b, g->start);
    mg__gen_begin(g, LLVMGetParam(g->fn, 0));
    s.lanes = mg__gen_alloca(g, g->i32);
    mg__gen_store(g, s.mask, s.lanes, 4);
    LLVMBasicBlockRef table = mg__gen_bb(g), wrong = mg__gen_bb(g);
    LLVMPositionBuilderAtEnd(g->b, wrong);
    LLVMBuildUnreachable(g->b);
    LLVMPositionBuilderAtEnd(g->b, table);
    LLVMValueRef to = LLVMBuildSwitch(g->b, LLVMGetParam(g->fn, 1), wrong, g->nblocks);
    for (uint32_t b = 0; b < g->nblocks; b++)
        if (s.in[b]) {
            s.body[b] = mg__gen_bb(g);
            if (g->p->ops[g->blocks[b].first].kind == MG_ENGINE_BLOCK)
                s.way[b] = mg__gen_bb(g);
            LLVMAddCase(to, mg__gen_c32(g, g->blocks[b].first), s.body[b]);
        }
    for (uint32_t b = 0; b < g->nblocks && !g->reason; b++)
        if (s.in[b]) {
            emit_way(&s, &g->blocks[b]);
            emit_body(&s, &g->blocks[b]);
            if (!mg__vec_push(&g->somes, g->blocks[b].first))
                g->reason = "memory";
        }
    LLVMPositionBuilderAtEnd(g->b, g->start);
    LLVMBuildBr(g->b, table);
}
