/* gen.c - the code generator: basic blocks, branches, and where the compiled function is entered and left.
 *
 * One function runs the warps of a block one after the other, each with all 32 lanes active, to the same barrier. It
 * has a way in at the kernel's start, behind each barrier, at loops and where diverged lanes meet; on each, what is
 * live comes from the frame and the cells. Where it leaves (a branch whose lanes disagree, a record that does not fit,
 * an op that it does not have) what is live goes back there. Forms of registers on an edge between blocks are weakened
 * on that edge alone.
 *
 * To compile one more kind of op: emit() here, a form in forms.c, and the generator of random programs in tests/diff.
 */
#include <assert.h>

#include "jit/gen.h"

/* ---- points ---- */
static void no_memory(struct mg_gen *g)
{
    g->reason = "memory";
}

static uint32_t new_point(struct mg_gen *g, enum mg_engine_point_kind kind, uint32_t op)
{
    struct mg_engine_point p = {.kind = (uint8_t)kind,
                                .op = op,
                                .first_form = (uint32_t)g->forms.count,
                                .first_open = (uint32_t)g->opens.count};
    if (!mg__vec_push(&g->points, p))
        no_memory(g);
    return (uint32_t)g->points.count - 1;
}

static void point_form(struct mg_gen *g, uint32_t point, uint32_t var, struct mg_gen_form f)
{
    struct mg_engine_form e = {.slot = g->vars[var].slot,
                               .bytes = g->vars[var].bytes,
                               .vector = f.vector || !f.reached,
                               .dx = f.dx,
                               .dy = f.dy,
                               .zeros = (uint8_t)f.zeros,
                               .cx = f.kx,
                               .cy = f.ky,
                               .cell = 3 * var};
    if (!mg__vec_push(&g->forms, e))
        no_memory(g);
    if (point < g->points.count)
        g->points.at[point].nforms++;
}

static LLVMValueRef cell(struct mg_gen *g, uint32_t index)
{
    return mg__gen_at(g, g->cells, 8 * (uint64_t)index);
}

static LLVMValueRef to64(struct mg_gen *g, LLVMValueRef v)
{
    return LLVMTypeOf(v) == g->i64 ? v : LLVMBuildSExt(g->b, v, g->i64, "");
}

/* What is live, as it is now, goes to cells and frame, in the block `to` (NULL: here). */
static void save(struct mg_gen *g, uint32_t point, const uint64_t *live, LLVMBasicBlockRef to)
{
    LLVMBasicBlockRef from = LLVMGetInsertBlock(g->b);
    for (uint32_t k = 0; k < g->nvars; k++) {
        if (!mg__gen_is_live(live, k))
            continue;
        const struct mg_gen_var *v = &g->vars[k];
        LLVMPositionBuilderAtEnd(g->b, from);
        struct mg_gen_value value = mg__gen_read(g, v->slot, v->bytes);
        point_form(g, point, k, value.form);
        LLVMPositionBuilderAtEnd(g->b, to ? to : from);
        if (value.form.vector || v->bytes == 0) {
            mg__gen_store(g, mg__gen_vector(g, &value, v->bytes), mg__gen_at(g, g->regs, (uint32_t)v->slot), v->bytes);
            continue;
        }
        mg__gen_store(g, to64(g, value.base), cell(g, 3 * k), 8);
        if (value.form.dx)
            mg__gen_store(g, to64(g, value.cx), cell(g, 3 * k + 1), 8);
        if (value.form.dy)
            mg__gen_store(g, to64(g, value.cy), cell(g, 3 * k + 2), 8);
    }
    LLVMPositionBuilderAtEnd(g->b, from);
}

/* The warp stops here; `point` is an i32. */
static void stop(struct mg_gen *g, bool end, LLVMValueRef point)
{
    LLVMBasicBlockRef from = LLVMGetInsertBlock(g->b);
    LLVMAddIncoming(end ? g->end_point : g->leave_point, &point, &from, 1);
    LLVMBuildBr(g->b, end ? g->at_end : g->at_leave);
}

static void checkpoint(struct mg_gen *g)
{
    struct mg_gen_checkpoint *c = &g->checkpoint;
    uint32_t point = new_point(g, MG_ENGINE_AT_LEAVE, g->op);
    LLVMBasicBlockRef at = LLVMGetInsertBlock(g->b);
    if (point >= g->points.count)
        return;
    *c = (struct mg_gen_checkpoint){.valid = true, .op = g->op, .save = mg__gen_bb(g)};
    const uint64_t *live = g->live;
    if (g->nlevels) { /* the other arms, and what comes behind them, want theirs as well */
        uint64_t *all = mg__arena_array(&g->arena, g->words, sizeof *all);
        for (uint32_t w = 0; all && w < g->words; w++)
            all[w] = g->live[w] | g->keep[w];
        if (!all)
            no_memory(g);
        else
            live = all;
    }
    LLVMPositionBuilderAtEnd(g->b, c->save);
    c->point = LLVMBuildPhi(g->b, g->i32, "");
    LLVMPositionBuilderAtEnd(g->b, at);
    save(g, point, live, c->save);
    c->first_form = g->points.at[point].first_form;
    c->nforms = g->points.at[point].nforms;
    LLVMPositionBuilderAtEnd(g->b, c->save);
    stop(g, false, c->point);
    LLVMPositionBuilderAtEnd(g->b, at);
    for (uint32_t k = 0; k < g->ngroups; k++)
        g->groups[k].mark = g->groups[k].done;
}

/* In which arms the exit is; their masks go to cells. */
static void save_levels(struct mg_gen *g, uint32_t point)
{
    if (point >= g->points.count)
        return;
    struct mg_engine_point *p = &g->points.at[point];
    p->first_level = (uint32_t)g->point_levels.count;
    p->nlevels = g->nlevels;
    for (unsigned k = 0; k < g->nlevels; k++) {
        const struct mg_gen_level *l = &g->levels[k];
        if (!mg__vec_push(&g->point_levels, ((struct mg_engine_level){l->meet, l->other, g->ncells, l->second})))
            no_memory(g);
        mg__gen_store(g, LLVMBuildZExt(g->b, l->lanes, g->i64, ""), cell(g, g->ncells++), 8);
        mg__gen_store(g, LLVMBuildZExt(g->b, l->mine, g->i64, ""), cell(g, g->ncells++), 8);
    }
}

LLVMBasicBlockRef mg__gen_exit(struct mg_gen *g)
{
    assert(!g->some);
    if (g->exit)
        return g->exit;
    if (!g->checkpoint.valid)
        checkpoint(g);
    const struct mg_gen_checkpoint *c = &g->checkpoint;
    LLVMBasicBlockRef at = LLVMGetInsertBlock(g->b);
    g->exit = mg__gen_bb(g);
    if (!c->valid)
        return g->exit;
    uint32_t point = new_point(g, MG_ENGINE_AT_LEAVE, c->op);
    LLVMPositionBuilderAtEnd(g->b, g->exit);
    for (uint32_t k = 0; k < g->ngroups; k++) {
        const struct mg_gen_group *group = &g->groups[k];
        if (group->mark >= group->count)
            continue;
        struct mg_engine_open open = {group->site, group->mark, g->ncells};
        mg__gen_store(g, group->at, cell(g, g->ncells++), 8);
        if (!mg__vec_push(&g->opens, open))
            no_memory(g);
        else if (point < g->points.count)
            g->points.at[point].nopen++;
    }
    if (point < g->points.count) {
        g->points.at[point].first_form = c->first_form;
        g->points.at[point].nforms = c->nforms;
    }
    save_levels(g, point);
    LLVMBuildBr(g->b, c->save);
    LLVMValueRef number = mg__gen_c32(g, point);
    LLVMAddIncoming(c->point, &number, &g->exit, 1);
    LLVMPositionBuilderAtEnd(g->b, at);
    return g->exit;
}

LLVMBasicBlockRef mg__gen_fault(struct mg_gen *g)
{
    LLVMBasicBlockRef at = LLVMGetInsertBlock(g->b), bb = mg__gen_bb(g);
    LLVMPositionBuilderAtEnd(g->b, bb);
    if (g->some)
        LLVMBuildRet(g->b, mg__gen_c32(g, ~0u));
    else
        stop(g, false, mg__gen_c32(g, new_point(g, MG_ENGINE_AT_FAULT, g->op)));
    LLVMPositionBuilderAtEnd(g->b, at);
    return bb;
}

/* A way in: what is live comes from cells and frame in the forms that the block wants. */
static LLVMBasicBlockRef way_in(struct mg_gen *g, struct mg_gen_block *b, uint32_t *point)
{
    LLVMBasicBlockRef bb = mg__gen_bb(g);
    LLVMPositionBuilderAtEnd(g->b, bb);
    *point = new_point(g, MG_ENGINE_AT_ENTRY, b->first);
    for (uint32_t k = 0; k < g->nvars; k++) {
        if (!mg__gen_is_live(b->live, k))
            continue;
        const struct mg_gen_var *v = &g->vars[k];
        const struct mg_gen_form *f = &b->in[k];
        LLVMTypeRef one = mg__gen_int(g, v->bytes), all = v->bytes ? LLVMVectorType(one, 32) : g->i32;
        struct mg_gen_value value = {.form = *f};
        point_form(g, *point, k, *f);
        if (f->vector || v->bytes == 0)
            value.vec = mg__gen_load(g, all, mg__gen_at(g, g->regs, (uint32_t)v->slot), v->bytes);
        if (!f->vector && v->bytes == 0) {
            value.base = LLVMBuildICmp(g->b, LLVMIntNE, value.vec, mg__gen_c32(g, 0), "");
        } else if (!f->vector) {
            LLVMValueRef *to[3] = {&value.base, &value.cx, &value.cy};
            for (unsigned c = 0; c < 3; c++)
                if (c == 0 || (c == 1 ? f->dx : f->dy))
                    *to[c] = LLVMBuildIntCast2(g->b, mg__gen_load(g, g->i64, cell(g, 3 * k + c), 8), one, 1, "");
        }
        mg__gen_write(g, v->slot, v->bytes, value);
    }
    LLVMBuildBr(g->b, b->bb);
    return bb;
}

/* ---- edges ---- */
void mg__gen_settle_for(struct mg_gen *g, const struct mg_gen_block *b)
{
    for (uint32_t v = 0; v < g->nvars; v++)
        if (mg__gen_is_live(b->live, v))
            mg__gen_settle(g, v, b->in[v]);
}

/* A block that goes on to the op's, with what it wants. */
static LLVMBasicBlockRef edge(struct mg_gen *g, uint32_t op, LLVMBasicBlockRef bb, struct mg_gen_form *keep)
{
    const struct mg_gen_block *b = &g->blocks[g->block_at[op] - 1];
    LLVMBasicBlockRef at = LLVMGetInsertBlock(g->b);
    memcpy(keep, g->form, g->nvars * sizeof *keep);
    bb = bb ? bb : mg__gen_bb(g);
    LLVMPositionBuilderAtEnd(g->b, bb);
    mg__gen_settle_for(g, b);
    LLVMBuildBr(g->b, b->bb);
    memcpy(g->form, keep, g->nvars * sizeof *keep);
    LLVMPositionBuilderAtEnd(g->b, at);
    return bb;
}

static LLVMValueRef guard_mask(struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_value *v)
{
    if (!v->form.vector)
        return op->invert ? LLVMBuildNot(g->b, v->base, "") : v->base;
    return LLVMBuildXor(g->b, v->vec, mg__gen_c32(g, op->invert), "");
}

/* On to `yes` and to `no` where the ends of the lanes tell; else here. */
static void quick(struct mg_gen *g, const struct mg_engine_op *op, LLVMBasicBlockRef yes, LLVMBasicBlockRef no)
{
    LLVMValueRef all, none;
    if (!mg__gen_known(g, op->guard, &all, &none))
        return;
    LLVMBasicBlockRef second = mg__gen_bb(g), on = mg__gen_bb(g);
    LLVMBuildCondBr(g->b, op->invert ? none : all, yes, second);
    LLVMPositionBuilderAtEnd(g->b, second);
    LLVMBuildCondBr(g->b, op->invert ? all : none, no, on);
    LLVMPositionBuilderAtEnd(g->b, on);
}

/* To `yes` if all lanes take it, to `no` if none does; else both arms are gone through, or the interpreter goes on. */
static void decide(struct mg_gen *g, const struct mg_gen_block *b, uint32_t i, LLVMBasicBlockRef yes,
                   LLVMBasicBlockRef no)
{
    const struct mg_engine_op *op = &g->p->ops[i];
    struct mg_gen_value v = mg__gen_read(g, op->guard, 0);
    LLVMValueRef m = guard_mask(g, op, &v);
    if (!v.form.vector) {
        LLVMBuildCondBr(g->b, m, yes, no);
        return;
    }
    LLVMBasicBlockRef rest = mg__gen_bb(g);
    quick(g, op, yes, no);
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, m, mg__gen_c32(g, ~0u), ""), yes, rest);
    LLVMPositionBuilderAtEnd(g->b, rest);
    LLVMValueRef none = LLVMBuildICmp(g->b, LLVMIntEQ, m, mg__gen_c32(g, 0), "");
    if (!b->parts) {
        mg__gen_expect(g, none, no, mg__gen_exit(g));
        return;
    }
    LLVMBasicBlockRef some = mg__gen_bb(g);
    LLVMBuildCondBr(g->b, none, no, some);
    LLVMPositionBuilderAtEnd(g->b, some);
    mg__gen_part(g, i, m);
}

/* ---- ops ---- */
static void emit_value(struct mg_gen *g, uint32_t i)
{
    const struct mg_engine_op *op = &g->p->ops[i];
    switch (op->kind) {
    case MG_ENGINE_ALU:
        mg__gen_alu(g, op);
        break;
    case MG_ENGINE_MOV:
        mg__gen_write(g, op->out[0].slot, op->out[0].bytes, mg__gen_read(g, op->in[0].slot, op->in[0].bytes));
        break;
    case MG_ENGINE_SETP:
        mg__gen_setp(g, op);
        break;
    case MG_ENGINE_PACK:
    case MG_ENGINE_UNPACK:
        mg__gen_pack(g, op);
        break;
    case MG_ENGINE_ROW:
        mg__gen_param(g, op);
        break;
    case MG_ENGINE_LOAD:
    case MG_ENGINE_STORE:
        mg__gen_access(g, i);
        break;
    case MG_ENGINE_CALL:
        mg__gen_call(g, i);
        break;
    default:
        break;
    }
}

static void settle_outs(struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_form *to)
{
    for (unsigned k = 0; k < op->nout; k++) {
        uint32_t v = mg__gen_var(g, op->out[k].slot, op->out[k].bytes);
        if (v != UINT32_MAX)
            mg__gen_settle(g, v, to[v]);
    }
}

/* One way through a guarded op: its results settle in the form that all ways have behind it. */
static void arm(struct mg_gen *g, uint32_t i, LLVMBasicBlockRef bb, LLVMBasicBlockRef after,
                const struct mg_gen_form *before, const struct mg_gen_form *to, bool executes, LLVMValueRef mask)
{
    const struct mg_gen_checkpoint c = g->checkpoint;
    uint32_t ngroups = g->ngroups;
    LLVMPositionBuilderAtEnd(g->b, bb);
    memcpy(g->form, before, g->nvars * sizeof *before);
    g->exit = NULL; /* no arm goes through another one's */
    g->mask = mask;
    g->framed++;
    if (executes)
        emit_value(g, i);
    g->framed++;
    g->mask = g->lanes;
    settle_outs(g, &g->p->ops[i], to);
    LLVMBuildBr(g->b, after);
    g->checkpoint = c;
    g->ngroups = ngroups; /* an address of this way is none of the others' */
}

static bool needs_all(const struct mg_engine_op *op)
{
    return op->kind == MG_ENGINE_LOAD || op->kind == MG_ENGINE_STORE || op->kind == MG_ENGINE_CALL;
}

static void emit_guarded(struct mg_gen *g, uint32_t i)
{
    const struct mg_engine_op *op = &g->p->ops[i], *at = &g->p->ops[i - 1];
    struct mg_gen_value v = mg__gen_read(g, at->guard, 0);
    LLVMValueRef m = guard_mask(g, at, &v);
    struct mg_gen_form *before = mg__arena_array(&g->arena, 2 * (size_t)g->nvars + 1, sizeof *before),
                       *to = before + g->nvars;
    if (!before) {
        no_memory(g);
        return;
    }
    if (v.form.vector && g->lanes)
        m = LLVMBuildAnd(g->b, m, g->lanes, "");
    if (v.form.vector && !needs_all(op)) {
        g->mask = m;
        g->guarded = true;
        emit_value(g, i);
        g->guarded = false;
        g->mask = g->lanes;
        return;
    }
    memcpy(before, g->form, g->nvars * sizeof *before);
    memcpy(to, g->form, g->nvars * sizeof *to);
    mg__gen_step(g, i, to);
    for (unsigned k = 0; k < op->nout && g->lanes; k++) {
        uint32_t var = mg__gen_var(g, op->out[k].slot, op->out[k].bytes);
        if (var != UINT32_MAX)
            to[var] = mg__gen_no_line();
    }
    LLVMBasicBlockRef all = mg__gen_bb(g), none = mg__gen_bb(g), after = mg__gen_bb(g);
    if (!v.form.vector) {
        LLVMBuildCondBr(g->b, m, all, none);
    } else if (g->lanes) {
        LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, m, mg__gen_c32(g, 0), ""), all, none);
    } else {
        LLVMBasicBlockRef rest = mg__gen_bb(g), some = op->effects & MG_ENGINE_MEETS ? mg__gen_exit(g) : mg__gen_bb(g);
        quick(g, at, all, none);
        LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, m, mg__gen_c32(g, ~0u), ""), all, rest);
        LLVMPositionBuilderAtEnd(g->b, rest);
        LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, m, mg__gen_c32(g, 0), ""), none, some);
        if (!(op->effects & MG_ENGINE_MEETS))
            arm(g, i, some, after, before, to, true, m);
    }
    arm(g, i, none, after, before, to, false, NULL);
    g->guarded = v.form.vector;
    arm(g, i, all, after, before, to, true, g->lanes && v.form.vector ? m : g->lanes);
    g->guarded = false;
    LLVMPositionBuilderAtEnd(g->b, after);
    memcpy(g->form, to, g->nvars * sizeof *to);
    g->exit = NULL;
    g->serial++; /* what a way has learnt holds only there */
    if (needs_all(op))
        g->checkpoint.valid = false;
}

void mg__gen_leave_if_asked(struct mg_gen *g)
{
    LLVMBasicBlockRef on = mg__gen_bb(g);
    LLVMValueRef asked = mg__gen_load(g, g->i32, mg__gen_at(g, g->e, offsetof(struct mg_engine_warp, leave)), 4);
    mg__gen_expect(g, LLVMBuildICmp(g->b, LLVMIntEQ, asked, mg__gen_c32(g, 0), ""), on, mg__gen_exit(g));
    LLVMPositionBuilderAtEnd(g->b, on);
}

/* The observers hear of a barrier or an exit to which all lanes have come, if not from the engine. */
static void tell(struct mg_gen *g, uint32_t i)
{
    if (!(g->p->ops[i].effects & MG_ENGINE_TELLS))
        return;
    LLVMTypeRef params[3] = {g->ptr, g->i32, g->i32}, type = LLVMFunctionType(g->i1, params, 3, 0);
    LLVMBasicBlockRef told = mg__gen_bb(g), on = mg__gen_bb(g);
    LLVMValueRef quiet = mg__gen_load(g, g->i32, mg__gen_at(g, g->calls, offsetof(struct mg_engine_calls, quiet)), 4);
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, quiet, mg__gen_c32(g, 0), ""), told, on);
    LLVMPositionBuilderAtEnd(g->b, told);
    LLVMValueRef f = mg__gen_load(g, g->ptr, mg__gen_at(g, g->calls, offsetof(struct mg_engine_calls, op)), 8);
    LLVMBuildCall2(g->b, type, f, (LLVMValueRef[3]){g->e, mg__gen_c32(g, i), mg__gen_c32(g, ~0u)}, 3, "");
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
}

static void emit_begin(struct mg_gen *g, const struct mg_engine_op *op)
{
    if (g->tells)
        mg__gen_leave_if_asked(g);
    if (op->effects & MG_ENGINE_CHARGES) {
        LLVMBasicBlockRef on = mg__gen_bb(g), used = mg__gen_bb(g);
        LLVMValueRef slice = mg__gen_at(g, g->e, offsetof(struct mg_engine_warp, slice));
        LLVMValueRef left = LLVMBuildSub(g->b, mg__gen_load(g, g->i32, slice, 4), mg__gen_c32(g, 1), "");
        mg__gen_store(g, left, slice, 4);
        mg__gen_expect(g, LLVMBuildICmp(g->b, LLVMIntSGE, left, mg__gen_c32(g, 0), ""), on, used);
        LLVMPositionBuilderAtEnd(g->b, used);
        LLVMTypeRef type = LLVMFunctionType(g->i1, &g->ptr, 1, 0);
        LLVMValueRef f = mg__gen_load(g, g->ptr, mg__gen_at(g, g->calls, offsetof(struct mg_engine_calls, slice)), 8);
        LLVMBuildCondBr(g->b, LLVMBuildCall2(g->b, type, f, &g->e, 1, ""), on, mg__gen_exit(g));
        LLVMPositionBuilderAtEnd(g->b, on);
    }
    if (op->kind == MG_ENGINE_BLOCK) {
        mg__gen_add(g, mg__gen_at(g, g->full, 8 * (uint64_t)op->mode), mg__gen_c64(g, 1));
    }
}

static bool is_guarded(const struct mg_gen *g, const struct mg_gen_block *b, uint32_t i)
{
    return i > b->first && g->p->ops[i - 1].kind == MG_ENGINE_GUARD;
}

static void begin_op(struct mg_gen *g, const struct mg_gen_block *b, uint32_t i)
{
    bool guarded = is_guarded(g, b, i);
    g->live = g->lives + (size_t)(i - guarded - b->first) * g->words;
    g->op = i - guarded;
    g->exit = NULL;
    g->called = false;
}

void mg__gen_op(struct mg_gen *g, const struct mg_gen_block *b, uint32_t i)
{
    const struct mg_engine_op *op = &g->p->ops[i];
    begin_op(g, b, i);
    if (op->kind == MG_ENGINE_BLOCK || op->kind == MG_ENGINE_GUARD || op->kind == MG_ENGINE_NOP)
        return;
    if (is_guarded(g, b, i))
        emit_guarded(g, i);
    else
        emit_value(g, i);
    if (op->kind == MG_ENGINE_STORE || op->kind == MG_ENGINE_CALL || op->kind == MG_ENGINE_ROW ||
        (op->kind == MG_ENGINE_LOAD && (g->called || g->mask)))
        g->checkpoint.valid = false;
}

void mg__gen_op_some(struct mg_gen *g, uint32_t i)
{
    g->op = i;
    emit_value(g, i);
}

/* Returns true when the block is over. */
static bool emit(struct mg_gen *g, const struct mg_gen_block *b, uint32_t i, struct mg_gen_form *keep)
{
    const struct mg_engine_op *op = &g->p->ops[i];
    begin_op(g, b, i);
    if (i > b->first && op[-1].effects & MG_ENGINE_TELLS && !g->asked)
        mg__gen_leave_if_asked(g);
    g->asked = false;
    switch (op->kind) {
    case MG_ENGINE_BRANCH:
        if (!op->falls)
            edge(g, op->target, LLVMGetInsertBlock(g->b), keep);
        else
            decide(g, b, i, edge(g, op->target, NULL, keep), edge(g, i + 1, NULL, keep));
        return true;
    case MG_ENGINE_EXIT: {
        LLVMBasicBlockRef end = LLVMGetInsertBlock(g->b);
        if (op->falls) {
            end = mg__gen_bb(g);
            decide(g, b, i, end, edge(g, i + 1, NULL, keep));
            LLVMPositionBuilderAtEnd(g->b, end);
        }
        tell(g, i);
        if (g->exit_point == 0)
            g->exit_point = new_point(g, MG_ENGINE_AT_EXIT, i); /* one for all */
        stop(g, true, mg__gen_c32(g, g->exit_point));
        return true;
    }
    case MG_ENGINE_BARRIER: {
        const struct mg_gen_block *next = &g->blocks[g->block_at[i + 1] - 1];
        mg__gen_settle_for(g, next);
        tell(g, i);
        uint32_t point = new_point(g, MG_ENGINE_AT_BARRIER, i);
        save(g, point, next->live, NULL);
        if (point < g->points.count)
            g->points.at[point].entry = next->point;
        stop(g, true, mg__gen_c32(g, point));
        return true;
    }
    case MG_ENGINE_LEAVE:
        g->checkpoint.valid = false; /* what comes before is done */
        LLVMBuildBr(g->b, mg__gen_exit(g));
        return true;
    default:
        g->alone = !is_guarded(g, b, i);
        mg__gen_op(g, b, i);
        g->alone = false;
        return false;
    }
}

static void emit_block(struct mg_gen *g, struct mg_gen_block *b, struct mg_gen_form *keep)
{
    LLVMPositionBuilderAtEnd(g->b, b->bb);
    memcpy(g->form, b->in, g->nvars * sizeof *g->form);
    mg__gen_lives(g, b);
    g->serial++;
    g->framed++;
    g->inside = b->inside;
    g->ngroups = 0;
    g->live = g->lives;
    g->op = b->first;
    g->exit = NULL;
    g->checkpoint.valid = false;
    emit_begin(g, &g->p->ops[b->first]);
    g->checkpoint.valid = false;
    for (uint32_t i = b->first; i < b->end; i++)
        if (emit(g, b, i, keep))
            return;
    if (b->end < g->p->nops)
        edge(g, b->end, LLVMGetInsertBlock(g->b), keep);
    else
        LLVMBuildUnreachable(g->b); /* never: the last op ends the kernel */
}

static void lane_numbers(struct mg_gen *g)
{
    for (unsigned wide = 0; wide < 2; wide++) {
        LLVMValueRef x[32], y[32];
        for (unsigned i = 0; i < 32; i++) {
            x[i] = LLVMConstInt(wide ? g->i64 : g->i32, i % g->row, 0);
            y[i] = LLVMConstInt(wide ? g->i64 : g->i32, i / g->row, 0);
        }
        g->lane_x[wide] = LLVMConstVector(x, 32);
        g->lane_y[wide] = LLVMConstVector(y, 32);
    }
}

/* Those of the block, before the loop over its warps, or those of the warp. */
static void load_fills(struct mg_gen *g, bool block)
{
    for (uint32_t k = 0; k < g->p->nfills; k++) {
        const struct mg_engine_fill *f = &g->p->fills[k];
        if ((f->kind == MG_ENGINE_FILL_BLOCK || f->kind == MG_ENGINE_FILL_WIDTH) != block)
            continue;
        LLVMTypeRef one = mg__gen_int(g, f->bytes);
        struct mg_gen_form form = mg__gen_form(g, NULL, f->slot, f->bytes);
        LLVMValueRef v = mg__gen_load(g, form.vector ? LLVMVectorType(one, 32) : one,
                                      mg__gen_at(g, g->regs, (uint32_t)f->slot), f->bytes);
        g->fills[k] =
            (struct mg_gen_value){.form = form, .base = form.vector ? NULL : v, .vec = form.vector ? v : NULL};
    }
}

static void load_fields(struct mg_gen *g, LLVMValueRef e, unsigned from, unsigned to)
{
    static const size_t fields[] = {offsetof(struct mg_engine_warp, regs),   offsetof(struct mg_engine_warp, cells),
                                    offsetof(struct mg_engine_warp, records), offsetof(struct mg_engine_warp, shared),
                                    offsetof(struct mg_engine_warp, full),   offsetof(struct mg_engine_warp, calls),
                                    offsetof(struct mg_engine_warp, apart)};
    LLVMValueRef *const values[] = {&g->regs, &g->cells, &g->records, &g->shared, &g->full, &g->calls, &g->apart};
    for (unsigned k = from; k < to; k++)
        *values[k] = mg__gen_load(g, g->ptr, mg__gen_at(g, e, fields[k]), 8);
}

/* The loop over the warps: `head` begins one, and where it ends at the point of those before it another one follows. */
static void begin_warp(struct mg_gen *g, LLVMBasicBlockRef head)
{
    LLVMValueRef ran = LLVMBuildPhi(g->b, g->i32, ""), where = LLVMBuildPhi(g->b, g->i32, ""), zero = mg__gen_c32(g, 0),
                 one = mg__gen_c32(g, 1);
    g->e = LLVMBuildPhi(g->b, g->ptr, "");
    LLVMBasicBlockRef next = mg__gen_bb(g), over = mg__gen_bb(g);
    g->at_end = mg__gen_bb(g);
    g->at_leave = mg__gen_bb(g);
    LLVMPositionBuilderAtEnd(g->b, g->at_leave);
    g->leave_point = LLVMBuildPhi(g->b, g->i32, "");
    mg__gen_store(g, g->leave_point, mg__gen_at(g, g->e, offsetof(struct mg_engine_warp, point)), 4);
    LLVMValueRef now = LLVMBuildAdd(g->b, ran, one, "");
    mg__gen_deferred_settle(g);
    LLVMBuildRet(g->b, now);
    LLVMPositionBuilderAtEnd(g->b, g->at_end);
    g->end_point = LLVMBuildPhi(g->b, g->i32, "");
    mg__gen_store(g, g->end_point, mg__gen_at(g, g->e, offsetof(struct mg_engine_warp, point)), 4);
    now = LLVMBuildAdd(g->b, ran, one, "");
    LLVMValueRef alike = LLVMBuildOr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, ran, zero, ""),
                                     LLVMBuildICmp(g->b, LLVMIntEQ, where, g->end_point, ""), "");
    LLVMBuildCondBr(g->b,
                    LLVMBuildAnd(g->b, alike, LLVMBuildICmp(g->b, LLVMIntULT, now, LLVMGetParam(g->fn, 2), ""), ""),
                    next, over);
    LLVMPositionBuilderAtEnd(g->b, over);
    mg__gen_deferred_settle(g);
    LLVMBuildRet(g->b, now);
    LLVMPositionBuilderAtEnd(g->b, next);
    LLVMValueRef e = mg__gen_at(g, g->e, g->p->stride);
    LLVMBuildBr(g->b, head);
    LLVMBasicBlockRef from[2] = {g->start, next};
    LLVMAddIncoming(ran, (LLVMValueRef[2]){zero, now}, from, 2);
    LLVMAddIncoming(where, (LLVMValueRef[2]){zero, g->end_point}, from, 2);
    LLVMAddIncoming(g->e, (LLVMValueRef[2]){LLVMGetParam(g->fn, 0), e}, from, 2);
    LLVMPositionBuilderAtEnd(g->b, head);
}

void mg__gen_function(struct mg_gen *g, const char *name, LLVMTypeRef type)
{
    g->fn = LLVMAddFunction(g->module, name, type);
    static const char *const attributes[][2] = {{"prefer-vector-width", "512"}, {"min-legal-vector-width", "512"}};
    for (unsigned k = 0; k < MG_COUNT(attributes); k++)
        LLVMAddAttributeAtIndex(g->fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateStringAttribute(g->cx, attributes[k][0], (unsigned)strlen(attributes[k][0]),
                                                          attributes[k][1], (unsigned)strlen(attributes[k][1])));
    LLVMAddAttributeAtIndex(g->fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(g->cx, LLVMGetEnumAttributeKindForName("nounwind", 8), 0));
    g->start = mg__gen_bb(g);
}

void mg__gen_begin(struct mg_gen *g, LLVMValueRef e)
{
    g->e = e;
    load_fields(g, e, 0, 7);
    load_fills(g, true);
    load_fills(g, false);
}

/* Of each point the lines first, then predicates that are the same in all lanes, then what lies in the frame: who goes
 * through the forms (simt/engine.c) ends at the first of those that it has no use for. */
static bool sort_forms(struct mg_gen *g)
{
    struct mg_engine_form *sorted = mg__arena_array(&g->arena, g->nvars + 1, sizeof *sorted);
    for (size_t p = 0; sorted && p < g->points.count; p++) {
        struct mg_engine_form *at = &g->forms.at[g->points.at[p].first_form];
        uint32_t n = 0, nforms = g->points.at[p].nforms;
        if (nforms == 0)
            continue;
        for (unsigned class = 0; class < 3; class++)
            for (uint32_t k = 0; k < nforms; k++)
                if ((at[k].vector ? 2u : at[k].bytes == 0) == class)
                    sorted[n++] = at[k];
        memcpy(at, sorted, n * sizeof *at);
    }
    return sorted != NULL;
}

bool mg__gen_emit(struct mg_gen *g)
{
    LLVMTypeRef params[3] = {g->ptr, g->i32, g->i32};
    struct mg_gen_form *keep = mg__arena_array(&g->arena, g->nvars + 1, sizeof *keep);
    if (!keep)
        return false;
    for (uint32_t i = 0; i < g->p->nops; i++)
        g->tells |= g->p->ops[i].kind == MG_ENGINE_CALL && g->p->ops[i].effects & MG_ENGINE_TELLS;
    mg__gen_function(g, "run", LLVMFunctionType(g->i32, params, 3, 0));
    if (g->p->partial) { /* only `some` is used */
        lane_numbers(g);
        LLVMPositionBuilderAtEnd(g->b, g->start);
        LLVMBuildRet(g->b, mg__gen_c32(g, 0));
        g->first = g->fn;
        return true;
    }
    LLVMBasicBlockRef head = mg__gen_bb(g);
    LLVMPositionBuilderAtEnd(g->b, head);
    lane_numbers(g);
    LLVMPositionBuilderAtEnd(g->b, g->start); /* what all warps of the block share */
    g->e = LLVMGetParam(g->fn, 0);
    load_fields(g, g->e, 0, 7);
    g->notes = mg__gen_load(g, g->ptr, mg__gen_at(g, g->calls, offsetof(struct mg_engine_calls, notes)), 8);
    load_fills(g, true);
    mg__gen_deferred_begin(g);
    LLVMPositionBuilderAtEnd(g->b, head);
    begin_warp(g, head);
    load_fields(g, g->e, 0, g->p->row ? 2 : 3); /* records: of a block without such rows each phase has its own */
    g->tag = mg__gen_load(g, g->i64, mg__gen_at(g, g->e, offsetof(struct mg_engine_warp, tag)), 8);
    load_fills(g, false);
    g->ncells = 3 * g->nvars;
    for (uint32_t b = 0; b < g->nblocks; b++)
        if (g->blocks[b].reached) {
            g->blocks[b].bb = mg__gen_bb(g);
            for (uint32_t v = 0; v < g->nvars; v++)
                if (mg__gen_is_live(g->blocks[b].live, v) && !g->blocks[b].in[v].reached)
                    g->blocks[b].in[v] = mg__gen_no_line();
        }
    LLVMBasicBlockRef wrong = mg__gen_bb(g);
    LLVMPositionBuilderAtEnd(g->b, wrong);
    LLVMBuildUnreachable(g->b);
    uint32_t point;
    LLVMBasicBlockRef first = way_in(g, &g->blocks[0], &point);
    LLVMPositionBuilderAtEnd(g->b, head);
    LLVMValueRef table = LLVMBuildSwitch(g->b, LLVMGetParam(g->fn, 1), wrong, g->nblocks + 1);
    LLVMAddCase(table, mg__gen_c32(g, point), first);
    for (uint32_t b = 0; b < g->nblocks; b++)
        if (g->blocks[b].reached && g->blocks[b].entry) {
            LLVMBasicBlockRef in = way_in(g, &g->blocks[b], &point);
            g->blocks[b].point = point;
            LLVMAddCase(table, mg__gen_c32(g, point), in);
        }
    for (uint32_t b = 0; b < g->nblocks && !g->reason; b++)
        if (g->blocks[b].reached)
            emit_block(g, &g->blocks[b], keep);
    LLVMPositionBuilderAtEnd(g->b, g->start);
    LLVMBuildBr(g->b, head);
    g->first = g->fn;
    return sort_forms(g) && !g->reason;
}
