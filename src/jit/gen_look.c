/* gen_look.c - accesses at addresses of which nothing is proven, where they are looked at.
 *
 * Lanes mostly lie as they did before: one behind the other, all at one place, or as a tile's rows and columns have it,
 * in any object. Where all lanes run, the code compares them with the site's shape, which calls have found to come
 * again; then bounds and counts are those of a line, one comparison and one sum for all accesses through one
 * register. Lines and single places are loaded here, others by a call that has nothing left to look at. Where some of
 * the lanes run they are looked at for a line alone.
 */
#include "jit/gen_mem.h"

#define SHAPE(g, shape, field) mg__gen_at(g, shape, offsetof(struct mg_engine_shape, field))

/* Lanes that are looked at in vain are so again where a call has found a line, or lanes as those before them, this many
 * times: first where they lay otherwise, then where it was in no record. */
#define FOUND_AFTER 1
#define FITS_AFTER 100

static LLVMValueRef reduce(struct mg_gen *g, const char *name, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->module, LLVMLookupIntrinsicID(name, strlen(name)), &type, 1);
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, &v, 1, "");
}

/* Whether lane i is at a place + i * bytes, which goes to *first, of the lanes that run: where all have the same place
 * that is the same as the bits that any has and that all have. */
static LLVMValueRef one_behind_the_other(struct mg_gen *g, LLVMValueRef lanes, unsigned bytes, LLVMValueRef on,
                                         LLVMValueRef *first)
{
    LLVMTypeRef vector = LLVMTypeOf(lanes), one = LLVMGetElementType(vector);
    LLVMValueRef steps[32];
    for (unsigned i = 0; i < 32; i++)
        steps[i] = LLVMConstInt(one, i * bytes, 0);
    LLVMValueRef places = LLVMBuildSub(g->b, lanes, LLVMConstVector(steps, 32), "");
    *first = reduce(g, "llvm.vector.reduce.or", LLVMBuildSelect(g->b, on, places, LLVMConstNull(vector), ""));
    LLVMValueRef all =
        reduce(g, "llvm.vector.reduce.and", LLVMBuildSelect(g->b, on, places, LLVMConstAllOnes(vector), ""));
    return LLVMBuildICmp(g->b, LLVMIntEQ, *first, all, "");
}

/* Whether all lanes lie as the shape has it. */
static LLVMValueRef of_shape(struct mg_gen *g, LLVMValueRef lanes, LLVMValueRef shape, LLVMValueRef *first)
{
    LLVMTypeRef vector = LLVMTypeOf(lanes), one = LLVMGetElementType(vector);
    *first = LLVMBuildExtractElement(g->b, lanes, mg__gen_c32(g, 0), "");
    LLVMValueRef from = mg__gen_load(g, LLVMVectorType(g->i32, 32), SHAPE(g, shape, from), 64);
    if (one == g->i64)
        from = LLVMBuildSExt(g->b, from, vector, "");
    LLVMValueRef there = LLVMBuildAdd(g->b, mg__gen_splat(g, *first, 32), from, "");
    LLVMValueRef differ = reduce(g, "llvm.vector.reduce.or", LLVMBuildXor(g->b, lanes, there, ""));
    return LLVMBuildICmp(g->b, LLVMIntEQ, differ, LLVMConstNull(one), "");
}

static LLVMValueRef shape_of(struct mg_gen *g, const struct mg_gen_group *group)
{
    const uint32_t number = g->sites.at[group->site].shape - 1;
    LLVMValueRef shapes = mg__gen_load(g, g->ptr, mg__gen_at(g, g->e, offsetof(struct mg_engine_warp, shapes)), 8);
    return mg__gen_at(g, shapes, (uint64_t)number * sizeof(struct mg_engine_shape));
}

/* The lanes are looked at: where they are as they were and fit their record they are counted, for all of the group, and
 * the code goes on here; else at the block that is returned. */
static LLVMBasicBlockRef look(struct mg_gen *g, uint32_t index, struct mg_gen_value *address, struct mg_gen_line *l,
                              struct mg_gen_group **group)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    const unsigned bytes = op->mem->width * op->mem->vec;
    LLVMBasicBlockRef see = mg__gen_bb(g), fits = mg__gen_bb(g), unfit = mg__gen_bb(g), parted = mg__gen_bb(g),
                      none = mg__gen_bb(g);
    LLVMValueRef lanes = mg__gen_vector(g, address, op->in[0].bytes), shape = NULL;
    *l = (struct mg_gen_line){
        .address = {.form = {.reached = true, .kx = bytes, .ky = g->row == 32 ? 0 : bytes * g->row}},
        .on = g->mask ? mg__gen_lanes(g, g->mask) : NULL};
    *group = mg__gen_site(g, index, &l->address.form, true);
    const struct mg_engine_site site = g->sites.at[(*group)->site];
    LLVMValueRef at = mg__gen_at(g, g->apart, index), zero = LLVMConstInt(g->i8, 0, 0);
    mg__gen_expect(g, LLVMBuildICmp(g->b, LLVMIntEQ, mg__gen_load(g, g->i8, at, 1), zero, ""), see, none);

    LLVMPositionBuilderAtEnd(g->b, see);
    if (site.shape)
        shape = shape_of(g, *group);
    LLVMValueRef found = shape ? of_shape(g, lanes, shape, &l->address.base)
                               : one_behind_the_other(g, lanes, bytes, l->on, &l->address.base);
    l->at = mg__gen_at_offset(g, op, l->address.base);
    mg__gen_expect(g, found, fits, parted);

    LLVMPositionBuilderAtEnd(g->b, parted);
    mg__gen_store(g, LLVMConstInt(g->i8, FOUND_AFTER, 0), at, 1);
    LLVMBuildBr(g->b, none);
    LLVMPositionBuilderAtEnd(g->b, unfit);
    mg__gen_store(g, LLVMConstInt(g->i8, FITS_AFTER, 0), at, 1);
    LLVMBuildBr(g->b, none);

    LLVMPositionBuilderAtEnd(g->b, fits);
    mg__gen_fits_record(g, *group, l, &site, unfit);
    (*group)->lie = shape ? mg__gen_load(g, g->i8, SHAPE(g, shape, lie), 1) : NULL;
    l->address = (struct mg_gen_value){.form = {.reached = true, .kx = bytes}};
    return none;
}

/* What the call has found out; of a shape, what is to be looked for from now on. */
static void heed_call(struct mg_gen *g, uint32_t index, const struct mg_gen_group *group)
{
    LLVMValueRef at = mg__gen_at(g, g->apart, index), apart = mg__gen_load(g, g->i8, at, 1),
                 line = mg__gen_load(g, g->i32, mg__gen_at(g, g->e, offsetof(struct mg_engine_warp, line)), 4);
    LLVMValueRef any = LLVMBuildAnd(g->b, LLVMBuildICmp(g->b, LLVMIntNE, apart, LLVMConstInt(g->i8, 0, 0), ""),
                                    LLVMBuildICmp(g->b, LLVMIntNE, line, mg__gen_c32(g, 0), ""), "");
    LLVMValueRef left = LLVMBuildSub(g->b, apart, LLVMBuildZExt(g->b, any, g->i8, ""), "");
    mg__gen_store(g, left, at, 1);
    if (!g->sites.at[group->site].shape)
        return;
    LLVMBasicBlockRef again = mg__gen_bb(g), after = mg__gen_bb(g);
    LLVMValueRef none = LLVMBuildICmp(g->b, LLVMIntEQ, left, LLVMConstInt(g->i8, 0, 0), "");
    mg__gen_expect(g, LLVMBuildNot(g->b, LLVMBuildAnd(g->b, any, none, ""), ""), after, again);
    LLVMPositionBuilderAtEnd(g->b, again);
    LLVMTypeRef params[3] = {g->ptr, g->i32, g->i32},
                type = LLVMFunctionType(LLVMVoidTypeInContext(g->cx), params, 3, 0);
    LLVMValueRef f = mg__gen_load(g, g->ptr, mg__gen_at(g, g->calls, offsetof(struct mg_engine_calls, learn)), 8),
                 args[3] = {g->e, mg__gen_c32(g, group->site), mg__gen_c32(g, index)};
    LLVMBuildCall2(g->b, type, f, args, 3, "");
    LLVMBuildBr(g->b, after);
    LLVMPositionBuilderAtEnd(g->b, after);
}

/* ---- moves ---- */
/* Where the register that a load writes lies in the frame, if an element in memory is as the register holds it. Then a
 * load is one of vectors behind all ways: of the line itself, or of the frame where another way has put it. So there
 * are no vectors in the ways that would have to be brought together, of which LLVM has most to do. That lanes lie as
 * they did is expected, so that values wait in registers where they do, and in memory around the calls. */
static LLVMValueRef as_in_memory(struct mg_gen *g, const struct mg_engine_op *op)
{
    const struct mg_engine_mem *m = op->mem;
    return mg__gen_loads(op) && !g->mask && m->vec == 1 && op->out[0].slot >= 0 && op->out[0].bytes == m->width
               ? mg__gen_at(g, g->regs, (uint32_t)op->out[0].slot)
               : NULL;
}

/* Of one place by all lanes, as vectors, which go to `frame` if that is not NULL. */
static void load_one_place(struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_line *l,
                           LLVMValueRef frame)
{
    const struct mg_engine_mem *m = op->mem;
    struct mg_gen_line of_one = *l;
    LLVMValueRef got[8] = {0};
    of_one.address.form.kx = 0;
    mg__gen_point_to(g, op, &of_one);
    for (unsigned v = 0; v < m->vec; v++)
        if (op->out[v].slot >= 0) {
            LLVMValueRef from = mg__gen_row_ptr(g, &of_one, 0, v * m->width),
                         x = mg__gen_load(g, mg__gen_int(g, m->width), from, m->width);
            got[v] = mg__gen_splat(g, mg__gen_to_register(g, m, x, false, op->out[v].bytes), 32);
        }
    if (frame) {
        mg__gen_store(g, got[0], frame, m->width);
        return;
    }
    for (unsigned v = 0; v < m->vec; v++)
        if (got[v])
            mg__gen_write(g, op->out[v].slot, op->out[v].bytes, mg__gen_of_vector(got[v]));
}

/* By a call, through the frame; what is known to be in the frame is left as it was. */
static void move_shape(struct mg_gen *g, uint32_t index, const struct mg_gen_group *group, LLVMValueRef at,
                       LLVMValueRef frame)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    const struct mg_engine_mem *m = op->mem;
    mg__gen_deferred_settle(g);
    for (unsigned k = 1; k < op->nin; k++) {
        const uint32_t var = mg__gen_var(g, op->in[k].slot, op->in[k].bytes);
        if (var != UINT32_MAX && !mg__gen_is_framed(g, var))
            mg__gen_to_slot(g, var);
    }
    LLVMTypeRef params[4] = {g->ptr, g->i32, g->ptr, g->i64},
                type = LLVMFunctionType(LLVMVoidTypeInContext(g->cx), params, 4, 0);
    LLVMValueRef f = mg__gen_load(g, g->ptr, mg__gen_at(g, g->calls, offsetof(struct mg_engine_calls, move)), 8),
                 args[4] = {g->e, mg__gen_c32(g, index), shape_of(g, group), at};
    LLVMBuildCall2(g->b, type, f, args, 4, "");
    for (unsigned v = 0; v < m->vec && mg__gen_loads(op) && !frame; v++)
        if (op->out[v].slot >= 0) {
            LLVMTypeRef all = LLVMVectorType(mg__gen_int(g, op->out[v].bytes), 32);
            mg__gen_write(g, op->out[v].slot, op->out[v].bytes,
                          mg__gen_of_vector(mg__gen_load(g, all, mg__gen_at(g, g->regs, (uint32_t)op->out[v].slot),
                                                         op->out[v].bytes)));
        }
}

/* Lanes of a row, or of what may well be a part of one. */
static unsigned piece_of(const struct mg_gen *g)
{
    return g->p->row ? g->own_row : MG_ENGINE_PIECE;
}

/* Rows that are lines each, or of one place each, of elements as a register holds them. */
static void move_rows(struct mg_gen *g, uint32_t index, const struct mg_gen_group *group, LLVMValueRef at,
                      LLVMValueRef frame, bool lines)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    const unsigned width = op->mem->width, row = piece_of(g);
    LLVMTypeRef one = mg__gen_int(g, width), of_row = LLVMVectorType(one, row);
    struct mg_gen_value v;
    LLVMValueRef value = NULL, ptr = mg__gen_place(g, op, at);
    mg__gen_deferred_settle(g);
    if (!frame) {
        v = mg__gen_read(g, op->in[1].slot, width);
        value = mg__gen_vector(g, &v, width);
    }
    for (unsigned y = 0; y < 32 / row; y++) {
        LLVMValueRef from = mg__gen_at(g, SHAPE(g, shape_of(g, group), from), 4 * (uint64_t)y * row),
                     by = mg__gen_wide(g, mg__gen_load(g, g->i32, from, 4)),
                     there = LLVMBuildGEP2(g->b, g->i8, ptr, &by, 1, "");
        if (frame) {
            LLVMValueRef got = lines ? mg__gen_load(g, of_row, there, width)
                                     : mg__gen_splat(g, mg__gen_load(g, one, there, width), row);
            mg__gen_store(g, got, mg__gen_at(g, frame, (uint64_t)y * row * width), width);
        } else {
            mg__gen_store(g, mg__gen_part_of(g, value, y * row, row), there, width);
        }
    }
}

static LLVMValueRef lies(struct mg_gen *g, const struct mg_gen_group *group, enum mg_engine_lie lie)
{
    return LLVMBuildICmp(g->b, LLVMIntEQ, group->lie, LLVMConstInt(g->i8, lie, 0), "");
}

/* Whether the code moves rows of this access that are lines each, or places. */
static bool moves_rows(const struct mg_gen *g, const struct mg_engine_op *op, LLVMValueRef frame, bool lines)
{
    const struct mg_engine_mem *m = op->mem;
    return (piece_of(g) == 8 || piece_of(g) == 16 || !g->p->row) &&
           (frame || (lines && !mg__gen_loads(op) && m->vec == 1 && op->in[1].bytes == m->width));
}

/* Lanes that are in bounds and counted. Where there is a `frame`, what is loaded is at the place that is returned. */
static LLVMValueRef move(struct mg_gen *g, uint32_t index, struct mg_gen_group *group, struct mg_gen_line *l,
                         bool first, LLVMValueRef frame)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    LLVMBasicBlockRef moved = mg__gen_bb(g), from[5];
    LLVMValueRef place[5] = {frame, frame, frame, frame, frame};
    unsigned ways = 0;
    if (group->lie) {
        LLVMBasicBlockRef line = mg__gen_bb(g), other = mg__gen_bb(g), off_line = mg__gen_bb(g);
        mg__gen_expect(g, lies(g, group, MG_ENGINE_LINE), line, off_line);
        LLVMPositionBuilderAtEnd(g->b, off_line);
        if (mg__gen_loads(op)) {
            LLVMBasicBlockRef one = mg__gen_bb(g);
            LLVMBuildCondBr(g->b, lies(g, group, MG_ENGINE_ONE_PLACE), one, other);
            LLVMPositionBuilderAtEnd(g->b, one);
            load_one_place(g, op, l, frame);
            from[ways++] = LLVMGetInsertBlock(g->b);
            LLVMBuildBr(g->b, moved);
        } else {
            LLVMBuildBr(g->b, other);
        }
        LLVMPositionBuilderAtEnd(g->b, other);
        for (unsigned k = 0; k < 2 && moves_rows(g, op, frame, k == 0); k++) {
            LLVMBasicBlockRef rows = mg__gen_bb(g), not_so = mg__gen_bb(g);
            LLVMBuildCondBr(g->b, lies(g, group, k == 0 ? MG_ENGINE_LINES : MG_ENGINE_PLACES), rows, not_so);
            LLVMPositionBuilderAtEnd(g->b, rows);
            move_rows(g, index, group, l->at, frame, k == 0);
            from[ways++] = LLVMGetInsertBlock(g->b);
            LLVMBuildBr(g->b, moved);
            LLVMPositionBuilderAtEnd(g->b, not_so);
        }
        move_shape(g, index, group, l->at, frame);
        from[ways++] = LLVMGetInsertBlock(g->b);
        LLVMBuildBr(g->b, moved);
        LLVMPositionBuilderAtEnd(g->b, line);
    }
    if (first)
        mg__gen_fetch_ahead(g, group, op->mem, l);
    if (frame) {
        mg__gen_point_to(g, op, l);
        place[ways] = l->ptr;
    } else {
        mg__gen_move_line(g, op, l);
    }
    from[ways++] = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, moved);
    LLVMPositionBuilderAtEnd(g->b, moved);
    if (!frame)
        return NULL;
    LLVMValueRef phi = LLVMBuildPhi(g->b, g->ptr, "");
    LLVMAddIncoming(phi, place, from, ways);
    return phi;
}

/* An access at an address of which nothing is known: as one that was before where it is found to be, else a call. */
void mg__gen_by_look(struct mg_gen *g, uint32_t index, struct mg_gen_value address)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    const uint32_t row = g->row, var = mg__gen_var(g, op->in[0].slot, op->in[0].bytes);
    struct mg_gen_group *group = mg__gen_open_group(g, index);
    LLVMBasicBlockRef none, after = mg__gen_bb(g);
    LLVMValueRef frame = as_in_memory(g, op);
    struct mg_gen_line l = {.address = {.form = {.reached = true, .kx = op->mem->width * op->mem->vec}}};
    const bool first = !group;
    if (first) {
        none = look(g, index, &address, &l, &group);
    } else {
        LLVMBasicBlockRef some = mg__gen_bb(g);
        none = mg__gen_bb(g);
        mg__gen_expect(g, group->found, some, none);
        LLVMPositionBuilderAtEnd(g->b, some);
        l.at = mg__gen_of_member(g, group);
    }
    for (uint32_t v = 0; v < g->nvars; v++)
        g->stamps[v] = g->vars[v].framed;
    g->row = 32; /* whatever the rows of the block: it is one */
    LLVMValueRef place[2] = {move(g, index, group, &l, first, frame), frame};
    g->row = row;
    for (unsigned k = 0; k < op->nout && g->some; k++) /* a call leaves it there, and there it must be in the end */
        mg__gen_to_frame(g, &op->out[k]);
    LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(g->b), NULL};
    LLVMBuildBr(g->b, after);
    for (uint32_t v = 0; v < g->nvars; v++) {
        const uint32_t stamp = g->vars[v].framed;
        g->vars[v].framed = g->stamps[v];
        g->stamps[v] = stamp;
    }

    LLVMPositionBuilderAtEnd(g->b, none);
    if (!first && var != UINT32_MAX) /* the first one came this way, too, and its call found the address there */
        mg__gen_framed(g, var);
    mg__gen_call_of(g, index);
    if (first)
        heed_call(g, index, group);
    from[1] = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, after);
    for (uint32_t v = 0; v < g->nvars; v++) /* what is in the frame whichever way it went */
        if (g->stamps[v] != g->framed)
            g->vars[v].framed = 0;

    LLVMPositionBuilderAtEnd(g->b, after);
    if (first && group->count > 1) {
        LLVMValueRef lie = group->lie;
        group->found = LLVMBuildPhi(g->b, g->i1, "");
        group->at = LLVMBuildPhi(g->b, g->i64, "");
        LLVMAddIncoming(group->found, (LLVMValueRef[2]){LLVMConstInt(g->i1, 1, 0), LLVMConstInt(g->i1, 0, 0)}, from, 2);
        LLVMAddIncoming(group->at, (LLVMValueRef[2]){l.at, mg__gen_c64(g, MG_ENGINE_UNCOUNTED)}, from, 2);
        if (lie) {
            group->lie = LLVMBuildPhi(g->b, g->i8, "");
            LLVMAddIncoming(group->lie, (LLVMValueRef[2]){lie, LLVMConstInt(g->i8, 0, 0)}, from, 2);
        }
    }
    if (frame) {
        LLVMValueRef phi = LLVMBuildPhi(g->b, g->ptr, "");
        LLVMAddIncoming(phi, place, from, 2);
        LLVMTypeRef all = LLVMVectorType(mg__gen_int(g, op->mem->width), 32);
        mg__gen_write(g, op->out[0].slot, op->mem->width, mg__gen_of_vector(mg__gen_load(g, all, phi, op->mem->width)));
    }
    group->done++;
}

static bool in_loop(const struct mg_gen *g, uint32_t index)
{
    for (uint32_t b = 0; b < g->nblocks && g->blocks[b].first <= index; b++)
        if (g->blocks[b].loop && index < g->blocks[g->blocks[b].latch].end)
            return true;
    return false;
}

/* Where some of the lanes run, in code that is theirs alone, there are records for few masks and no places in words:
 * they must be met often. */
bool mg__gen_is_looked_at(const struct mg_gen *g, uint32_t index)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    if (g->blind || g->far[index] || !mg__gen_may_be_found(op))
        return false;
    if (op->kind == MG_ENGINE_CALL) /* what it stores leaves marks, and what it does to shared memory notes */
        return !g->some && !g->mask && mg__gen_loads(op) && op->mem->space != MG_SPACE_SHARED;
    return g->some ? g->masks && op->mem->vec == 1 && op->mem->width >= 4 && !g->p->partial && in_loop(g, index)
                   : !g->mask;
}
