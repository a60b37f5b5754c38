/* gen_call.c - calls of the interpreter's functions, and what is done without one where accesses are observed.
 *
 * An access that observers may do without is made by its line if its record fits, else by the call. Of a run of loads
 * of shared memory (gen_note.c) the first one tells which of the two ways all of them go. What is loaded in rows is
 * loaded behind both ways: from its line, or from the frame where the call has put it.
 */
#include "jit/gen_mem.h"

#define FIELD(g, base, type, field) mg__gen_at(g, base, offsetof(struct type, field))

void mg__gen_to_frame(struct mg_gen *g, const struct mg_engine_operand *o)
{
    const uint32_t var = mg__gen_var(g, o->slot, o->bytes);
    if (var == UINT32_MAX || mg__gen_is_framed(g, var))
        return;
    mg__gen_to_slot(g, var);
    mg__gen_framed(g, var);
}

/* Which function of the interpreter: an atomic whose lanes are on a line is compared and counted here, and needs no
 * look at them. */
static LLVMValueRef function_for(struct mg_gen *g, uint32_t index)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    const bool unheard = op->kind == MG_ENGINE_CALL && op->effects & MG_ENGINE_UNHEARD &&
                         op->mem->kind == MG_ACCESS_LD && op->mem->space != MG_SPACE_SHARED; /* it may be */
    LLVMValueRef general = op->effects & MG_ENGINE_COUNTER && !g->mask ? FIELD(g, g->calls, mg_engine_calls, add)
                           : op->kind == MG_ENGINE_LOAD || unheard     ? FIELD(g, g->calls, mg_engine_calls, load)
                           : op->kind == MG_ENGINE_STORE               ? FIELD(g, g->calls, mg_engine_calls, store)
                                                                       : FIELD(g, g->calls, mg_engine_calls, op),
                 checked = FIELD(g, g->calls, mg_engine_calls, checked);
    struct mg_gen_line l = {.address = op->mem ? mg__gen_read(g, op->in[0].slot, op->in[0].bytes)
                                        : (struct mg_gen_value){.base = NULL}};
    if (g->some || op->kind != MG_ENGINE_CALL || !op->mem || op->effects & MG_ENGINE_UNHEARD ||
        mg__gen_is_local(op) || l.address.form.vector)
        return mg__gen_load(g, g->ptr, general, 8);
    LLVMBasicBlockRef out = mg__gen_bb(g), after = mg__gen_bb(g), from[2] = {NULL, out};
    struct mg_gen_group *group = mg__gen_first_of_site(g, index, &l, false, out);
    group->done = group->count; /* and no other access is part of it */
    from[0] = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, after);
    LLVMPositionBuilderAtEnd(g->b, out);
    LLVMBuildBr(g->b, after);
    LLVMPositionBuilderAtEnd(g->b, after);
    LLVMValueRef field = LLVMBuildPhi(g->b, g->ptr, "");
    LLVMAddIncoming(field, (LLVMValueRef[2]){checked, general}, from, 2);
    return mg__gen_load(g, g->ptr, field, 8);
}

/* Marks what a store that is not told writes: a byte for each 4, or for each element where these are smaller. */
static void mark(struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_line *of)
{
    const struct mg_engine_mem *m = op->mem;
    const struct mg_gen_form *f = &of->address.form;
    const unsigned by = mg__gen_log2(MG_MIN(m->width, 4u)), each = (unsigned)(m->width * m->vec) >> by,
                   rows = 32 / g->row, bytes = g->row * each;
    LLVMValueRef marks = mg__gen_load(g, g->i64, FIELD(g, of->rec, mg_engine_record, marks), 8),
                 eight = mg__gen_load(g, g->i64, FIELD(g, of->rec, mg_engine_record, mark), 8);
    struct mg_gen_line l = *of;
    l.at = LLVMBuildAdd(g->b, marks, LLVMBuildLShr(g->b, of->at, mg__gen_c64(g, by), ""), "");
    l.ptr = LLVMBuildIntToPtr(g->b, l.at, g->ptr, "");
    l.address.vec = NULL;
    l.address.form.kx >>= by;
    l.address.form.ky >>= by;
    if (f->dx)
        l.address.cx = LLVMBuildAShr(g->b, mg__gen_wide(g, mg__gen_cx(g, &of->address, 8)), mg__gen_c64(g, by), "");
    if (f->dy)
        l.address.cy = LLVMBuildAShr(g->b, mg__gen_wide(g, mg__gen_cy(g, &of->address, 8)), mg__gen_c64(g, by), "");
    if (!f->dx && f->kx == m->width * m->vec && rows <= 8) {
        LLVMValueRef row =
            bytes >= 8 ? mg__gen_splat(g, eight, bytes / 8) : LLVMBuildTrunc(g->b, eight, mg__gen_int(g, bytes), "");
        for (unsigned y = 0; y < rows; y++)
            mg__gen_store(g, row, mg__gen_row_ptr(g, &l, y, 0), 1);
        return;
    }
    LLVMTypeRef one = mg__gen_int(g, each);
    LLVMValueRef value = each == 8 ? eight : LLVMBuildTrunc(g->b, eight, one, "");
    mg__gen_scattered(g, false, LLVMVectorType(one, 32), mg__gen_splat(g, value, 32), mg__gen_lane_ptrs(g, &l, 0), 1,
                      NULL);
}

/* Whether some of the lanes can make it by themselves: in rows that are contiguous, or of one place each. A mark of 4
 * bytes cannot be left by some of the lanes without the others. */
static bool some_may(const struct mg_gen *g, const struct mg_engine_mem *m, const struct mg_gen_form *f)
{
    const bool loads = m->kind == MG_ACCESS_LD;
    return (loads || m->space == MG_SPACE_SHARED) &&
           (mg__gen_uniform(*f) ||
            (!f->dx && 32 / g->row <= 8 && (f->kx == m->width * m->vec ? loads || m->vec == 1 : loads && f->kx == 0)));
}

/* A load of elements as registers hold them, in rows that are contiguous or of one place each. */
static unsigned rows_of(const struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_form *f)
{
    const struct mg_engine_mem *m = op->mem;
    const unsigned rows = 32 / g->row;
    if (g->mask || m->kind != MG_ACCESS_LD || m->vec != 1 || op->out[0].slot < 0 || op->out[0].bytes != m->width)
        return 0;
    return mg__gen_uniform(*f) ? 1 : !f->dx && rows <= 8 && (f->kx == m->width || f->kx == 0) ? rows : 0;
}

static void load_rows(struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_ways *ways,
                      struct mg_gen_form to)
{
    const unsigned width = op->mem->width;
    LLVMTypeRef one = mg__gen_int(g, width), row = LLVMVectorType(one, g->row);
    LLVMValueRef piece[8];
    if (mg__gen_uniform(ways->form)) {
        LLVMValueRef all = mg__gen_load(g, one, ways->row[0], width);
        mg__gen_write(g, op->out[0].slot, width,
                      to.vector ? mg__gen_of_vector(mg__gen_splat(g, all, 32))
                                : (struct mg_gen_value){.form = to, .base = all});
        return;
    }
    for (unsigned y = 0; y < ways->nrows; y++)
        piece[y] = ways->form.kx ? mg__gen_load(g, row, ways->row[y], width)
                                 : mg__gen_splat(g, mg__gen_load(g, one, ways->row[y], width), g->row);
    mg__gen_write(g, op->out[0].slot, width, mg__gen_of_vector(mg__gen_concat(g, piece, ways->nrows)));
}

/* Compares with the record, or knows that one before it has done so for both; goes on here, or at `general`. */
static void fit(struct mg_gen *g, uint32_t index, struct mg_gen_line *l, LLVMBasicBlockRef general)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    const bool shared = op->mem->space == MG_SPACE_SHARED;
    struct mg_gen_noted noted = g->mask ? (struct mg_gen_noted){0} : g->noted[index];
    g->noted[index].ok = NULL;
    if (noted.ok) {
        LLVMBasicBlockRef on = mg__gen_bb(g);
        mg__gen_expect(g, noted.ok, on, general);
        LLVMPositionBuilderAtEnd(g->b, on);
    } else if (g->mask || !shared || op->mem->kind != MG_ACCESS_LD || !mg__gen_note_run(g, index, general, &noted)) {
        struct mg_gen_group *group = mg__gen_first_of_site(g, index, l, shared, general);
        group->done = group->count;
        if (shared)
            mg__gen_note(g, op, l->rec, &l->address, l->at, l->on, general);
        return;
    }
    l->at = noted.at;
}

/* An access that observers may do without, by itself. The builder then stands where there is a call all the same. */
static struct mg_gen_ways unheard(struct mg_gen *g, uint32_t index)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    struct mg_gen_line l = {.address = mg__gen_read(g, op->in[0].slot, op->in[0].bytes)};
    struct mg_gen_ways ways = {.form = l.address.form};
    const bool shared = op->mem->space == MG_SPACE_SHARED;
    if (g->some || l.address.form.vector || (g->mask && !some_may(g, op->mem, &l.address.form)) ||
        (shared && !mg__gen_notes(g, op->mem, &l.address.form)))
        return ways;
    l.on = g->mask ? mg__gen_lanes(g, g->mask) : NULL;
    LLVMBasicBlockRef general = mg__gen_bb(g);
    ways.after = mg__gen_bb(g);
    fit(g, index, &l, general);
    if (!shared && op->mem->kind == MG_ACCESS_ST)
        mark(g, op, &l);
    l.ptr = mg__gen_place(g, op, l.at);
    ways.nrows = rows_of(g, op, &l.address.form);
    for (unsigned y = 0; y < ways.nrows; y++)
        ways.row[y] = mg__gen_row_ptr(g, &l, y, 0);
    if (op->mem->kind == MG_ACCESS_ST)
        mg__gen_store_line(g, op, &l);
    else if (!ways.nrows)
        mg__gen_load_line(g, op, &l);
    for (unsigned k = 0; k < op->nout && !ways.nrows; k++)
        mg__gen_to_frame(g, &op->out[k]);
    ways.from = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, ways.after);
    LLVMPositionBuilderAtEnd(g->b, general);
    return ways;
}

/* What the call has left in the frame. */
static void from_frame(struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_form to)
{
    LLVMValueRef keep = g->mask;
    g->mask = NULL; /* the frame has what idle lanes had */
    for (unsigned k = 0; k < op->nout; k++) {
        const struct mg_engine_operand *o = &op->out[k];
        if (o->slot < 0)
            continue;
        LLVMTypeRef one = o->bytes ? mg__gen_int(g, o->bytes) : g->i32,
                    all = o->bytes ? LLVMVectorType(one, 32) : g->i32;
        LLVMValueRef from = mg__gen_at(g, g->regs, (uint32_t)o->slot);
        if (!to.vector && !keep && o->bytes)
            mg__gen_write(g, o->slot, o->bytes,
                          (struct mg_gen_value){.form = to, .base = mg__gen_load(g, one, from, o->bytes)});
        else
            mg__gen_write(g, o->slot, o->bytes, mg__gen_of_vector(mg__gen_load(g, all, from, o->bytes ? o->bytes : 4)));
        const uint32_t var = mg__gen_var(g, o->slot, o->bytes);
        if (var != UINT32_MAX)
            mg__gen_framed(g, var);
    }
    g->mask = keep;
}

/* Nobody asks the warp to leave but in a call: so there, and not where both ways meet, as far as the next op is one of
 * this block. */
static void leave_behind_call(struct mg_gen *g, uint32_t index, struct mg_gen_form to)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    uint64_t *const live = g->live;
    if (!g->alone || index + 1 >= g->p->nops || g->block_at[index + 1] || !(op->effects & MG_ENGINE_TELLS))
        return;
    from_frame(g, op, to);
    g->op = index + 1;
    g->live = live + g->words;
    g->exit = NULL;
    g->checkpoint.valid = false;
    mg__gen_leave_if_asked(g);
    g->checkpoint.valid = false;
    g->exit = NULL;
    g->live = live;
    g->op = index;
    g->asked = true;
}

/* Behind both ways. */
static void meet(struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_ways *ways, struct mg_gen_form to)
{
    LLVMBasicBlockRef from[2] = {ways->from, LLVMGetInsertBlock(g->b)};
    LLVMValueRef frame[8];
    for (unsigned y = 0; y < ways->nrows; y++)
        frame[y] = mg__gen_at(g, g->regs, (uint64_t)op->out[0].slot + (uint64_t)y * g->row * op->mem->width);
    LLVMBuildBr(g->b, ways->after);
    LLVMPositionBuilderAtEnd(g->b, ways->after);
    g->serial++; /* what a way has learnt holds only there */
    for (unsigned y = 0; y < ways->nrows; y++) {
        LLVMValueRef either = LLVMBuildPhi(g->b, g->ptr, "");
        LLVMAddIncoming(either, (LLVMValueRef[2]){ways->row[y], frame[y]}, from, 2);
        ways->row[y] = either;
    }
    if (!ways->nrows) {
        from_frame(g, op, to);
        return;
    }
    load_rows(g, op, ways, to);
    const uint32_t var = mg__gen_var(g, op->out[0].slot, op->out[0].bytes);
    if (var != UINT32_MAX) { /* neither it nor what shares its slot is in the frame on both ways */
        mg__gen_framed(g, var);
        g->vars[var].framed = 0;
    }
}

void mg__gen_call_of(struct mg_gen *g, uint32_t index)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    if (op->effects & MG_ENGINE_MEETS && mg__gen_warp(g, op))
        return;
    const bool local = mg__gen_is_local(op), may = local || op->effects & MG_ENGINE_UNHEARD;
    uint32_t in[9], out[9];
    bool framed[9];
    struct mg_gen_form before[9];
    for (unsigned k = 0; k < op->nin && may; k++) {
        in[k] = mg__gen_var(g, op->in[k].slot, op->in[k].bytes);
        framed[k] = in[k] != UINT32_MAX && mg__gen_is_framed(g, in[k]);
    }
    struct mg_gen_ways ways = {0};
    if (may) {
        if (!local)
            mg__gen_deferred_settle(g);
        for (unsigned k = 0; k < op->nout; k++) {
            out[k] = mg__gen_var(g, op->out[k].slot, op->out[k].bytes);
            before[k] = out[k] != UINT32_MAX ? g->form[out[k]] : (struct mg_gen_form){0};
        }
        ways = local ? mg__gen_local(g, op) : unheard(g, index);
        for (unsigned k = 0; k < op->nout && ways.after; k++) /* the call's way has not been through that one */
            if (out[k] != UINT32_MAX) {
                g->form[out[k]] = before[k];
                g->vars[out[k]].framed = 0;
            }
    }
    struct mg_gen_form to = mg__gen_result(g, op, g->form);
    LLVMValueRef mask = g->mask ? g->mask : mg__gen_c32(g, ~0u);
    g->called = true;
    if (!(op->effects & MG_ENGINE_REGISTERS) && !g->some)
        mg__gen_deferred_settle(g);
    for (unsigned k = 0; k < op->nin; k++)
        mg__gen_to_frame(g, &op->in[k]);
    /* and what the lanes have there that do not make it, but those of which the frame has it anyway (gen_some.c) */
    for (unsigned k = 0; k < op->nout && g->mask && (!mg__gen_blends_late(g) || g->guarded || g->nlevels); k++)
        mg__gen_to_frame(g, &op->out[k]);
    LLVMTypeRef params[3] = {g->ptr, g->i32, g->i32}, type = LLVMFunctionType(g->i1, params, 3, 0);
    LLVMValueRef f = function_for(g, index), args[3] = {g->e, mg__gen_c32(g, index), mask};
    LLVMValueRef good = LLVMBuildCall2(g->b, type, f, args, 3, "");
    LLVMBasicBlockRef on = mg__gen_bb(g);
    mg__gen_expect(g, good, on, mg__gen_fault(g));
    LLVMPositionBuilderAtEnd(g->b, on);
    if (!ways.after) {
        from_frame(g, op, to);
        return;
    }
    leave_behind_call(g, index, to);
    meet(g, op, &ways, to);
    for (unsigned k = 0; k < op->nin; k++)
        if (in[k] != UINT32_MAX && !framed[k])
            g->vars[in[k]].framed = 0;
}

void mg__gen_call(struct mg_gen *g, uint32_t index)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    if (op->effects & MG_ENGINE_UNHEARD && mg__gen_form(g, g->form, op->in[0].slot, op->in[0].bytes).vector &&
        mg__gen_is_looked_at(g, index))
        mg__gen_by_look(g, index, mg__gen_read(g, op->in[0].slot, op->in[0].bytes));
    else
        mg__gen_call_of(g, index);
}
