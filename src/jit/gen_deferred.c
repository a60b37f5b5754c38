/* gen_deferred.c - stores whose lanes lie far apart, deferred to be done together (simt/deferred.c).
 *
 * Such a store goes to a list, kept across the warps that run after one another. It is settled when the next store does
 * not fit beside those in it, before an access of device memory that may meet one of them, before a call of the
 * interpreter, and wherever the code is left: that the stores came later is not to be seen. Kernels without such
 * stores have none of this.
 */
#include "jit/gen.h"

#define DEFERRED(g, field) mg__gen_at(g, (g)->deferred, offsetof(struct mg_engine_deferred, field))
#define DEFERRED_APART 64 /* bytes: lanes closer than that share lines already */

bool mg__gen_is_deferred(const struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_form *f)
{
    const struct mg_engine_mem *m = op->mem;
    return op->kind == MG_ENGINE_STORE && m->space != MG_SPACE_SHARED && m->width == 4 && m->vec == 1 &&
           op->in[1].bytes == 4 && !g->mask && g->row >= 8 && !f->vector && (f->dx || llabs(f->kx) >= DEFERRED_APART);
}

static bool any_late(struct mg_gen *g)
{
    for (uint32_t b = 0; b < g->nblocks; b++) {
        if (!g->blocks[b].reached)
            continue;
        memcpy(g->form, g->blocks[b].in, g->nvars * sizeof *g->form);
        for (uint32_t i = g->blocks[b].first; i < g->blocks[b].end; i++) {
            const struct mg_engine_op *op = &g->p->ops[i];
            if (op->kind == MG_ENGINE_STORE) {
                struct mg_gen_form f = mg__gen_form(g, g->form, op->in[0].slot, op->in[0].bytes);
                if (mg__gen_is_deferred(g, op, &f))
                    return true;
            }
            mg__gen_step(g, i, g->form);
        }
    }
    return false;
}

void mg__gen_deferred_begin(struct mg_gen *g)
{
    if (!any_late(g))
        return;
    g->deferred = mg__gen_alloca(g, LLVMArrayType(g->i64, sizeof(struct mg_engine_deferred) / 8));
    LLVMSetAlignment(g->deferred, 64);
    mg__gen_store(g, mg__gen_c64(g, UINT64_MAX), DEFERRED(g, lo), 8);
    mg__gen_store(g, mg__gen_c64(g, 0), DEFERRED(g, hi), 8);
    mg__gen_store(g, mg__gen_c64(g, 0), DEFERRED(g, n), 8);
    mg__gen_store(g, mg__gen_c64(g, 0), DEFERRED(g, limit), 8);
    mg__gen_store(g, mg__gen_c64(g, 0), DEFERRED(g, step), 8);
    mg__gen_store(g, mg__gen_c64(g, 0), DEFERRED(g, least), 8);
    mg__gen_store(g, mg__gen_c64(g, 0), DEFERRED(g, most), 8);
    mg__gen_store(g, mg__gen_c64(g, 0), DEFERRED(g, room), 8);
}

static LLVMValueRef field(struct mg_gen *g, LLVMValueRef at)
{
    return mg__gen_load(g, g->i64, at, 8);
}

static LLVMValueRef lesser(struct mg_gen *g, LLVMIntPredicate is, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(g->b, LLVMBuildICmp(g->b, is, a, b, ""), a, b, "");
}

/* `steps` times the coefficient. */
static LLVMValueRef reach(struct mg_gen *g, LLVMValueRef coefficient, unsigned steps)
{
    return LLVMBuildMul(g->b, LLVMBuildIntCast2(g->b, coefficient, g->i64, 1, ""), mg__gen_c64(g, steps), "");
}

/* Goes on to what settles, unless `good`. */
static void settle_unless(struct mg_gen *g, LLVMValueRef good)
{
    LLVMBasicBlockRef pending = mg__gen_bb(g), after = mg__gen_bb(g);
    LLVMBuildCondBr(g->b, good, after, pending);
    LLVMPositionBuilderAtEnd(g->b, pending);
    LLVMTypeRef params[2] = {g->ptr, g->i32}, type = LLVMFunctionType(LLVMVoidTypeInContext(g->cx), params, 2, 0);
    LLVMValueRef at = mg__gen_at(g, g->calls, offsetof(struct mg_engine_calls, settle)),
                 args[2] = {g->deferred, mg__gen_c32(g, g->own_row)}; /* not that of what comes now */
    LLVMBuildCall2(g->b, type, mg__gen_load(g, g->ptr, at, 8), args, 2, "");
    LLVMBuildBr(g->b, after);
    LLVMPositionBuilderAtEnd(g->b, after);
}

void mg__gen_deferred_settle(struct mg_gen *g)
{
    if (g->deferred)
        settle_unless(g, LLVMBuildICmp(g->b, LLVMIntEQ, field(g, DEFERRED(g, n)), mg__gen_c64(g, 0), ""));
}

void mg__gen_deferred_check(struct mg_gen *g, const struct mg_gen_value *address, LLVMValueRef at, unsigned bytes)
{
    if (!g->deferred)
        return;
    LLVMValueRef zero = mg__gen_c64(g, 0), x = reach(g, mg__gen_cx(g, address, 8), g->row - 1),
                 y = reach(g, mg__gen_cy(g, address, 8), 32 / g->row - 1);
    LLVMValueRef low = LLVMBuildAdd(
        g->b, at, LLVMBuildAdd(g->b, lesser(g, LLVMIntSLT, x, zero), lesser(g, LLVMIntSLT, y, zero), ""), "");
    LLVMValueRef high = LLVMBuildAdd(
        g->b, at, LLVMBuildAdd(g->b, lesser(g, LLVMIntSGT, x, zero), lesser(g, LLVMIntSGT, y, zero), ""), "");
    high = LLVMBuildAdd(g->b, high, mg__gen_c64(g, bytes), "");
    settle_unless(g, LLVMBuildOr(g->b, LLVMBuildICmp(g->b, LLVMIntUGE, low, field(g, DEFERRED(g, hi)), ""),
                                 LLVMBuildICmp(g->b, LLVMIntULE, high, field(g, DEFERRED(g, lo)), ""), ""));
}

void mg__gen_deferred_store(struct mg_gen *g, int32_t slot, const struct mg_gen_value *address, LLVMValueRef at)
{
    unsigned rows = 32 / g->row;
    struct mg_gen_value v = mg__gen_read(g, slot, 4);
    LLVMValueRef x = mg__gen_vector(g, &v, 4), step = reach(g, mg__gen_cx(g, address, 8), 1),
                 last = LLVMBuildAdd(g->b, at, reach(g, mg__gen_cy(g, address, 8), rows - 1), "");
    LLVMValueRef low = lesser(g, LLVMIntULT, at, last), high = lesser(g, LLVMIntUGT, at, last);

    LLVMValueRef n = field(g, DEFERRED(g, n)), least = lesser(g, LLVMIntULT, low, field(g, DEFERRED(g, least))),
                 most = lesser(g, LLVMIntUGT, high, field(g, DEFERRED(g, most)));
    LLVMValueRef fits = LLVMBuildICmp(g->b, LLVMIntULE, LLVMBuildAdd(g->b, n, mg__gen_c64(g, rows), ""),
                                      field(g, DEFERRED(g, limit)), "");
    fits = LLVMBuildAnd(g->b, fits, LLVMBuildICmp(g->b, LLVMIntEQ, step, field(g, DEFERRED(g, step)), ""), "");
    fits = LLVMBuildAnd(
        g->b, fits,
        LLVMBuildICmp(g->b, LLVMIntULE, LLVMBuildSub(g->b, most, least, ""), field(g, DEFERRED(g, room)), ""), "");
    LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(g->b), mg__gen_bb(g)}, after = mg__gen_bb(g);
    LLVMBuildCondBr(g->b, fits, after, from[1]);
    LLVMPositionBuilderAtEnd(g->b, from[1]);
    LLVMTypeRef params[5] = {g->ptr, g->i32, g->i64, g->i64, g->i64},
                type = LLVMFunctionType(LLVMVoidTypeInContext(g->cx), params, 5, 0);
    LLVMValueRef f = mg__gen_at(g, g->calls, offsetof(struct mg_engine_calls, defer)),
                 args[5] = {g->deferred, mg__gen_c32(g, g->row), low, high, step};
    LLVMBuildCall2(g->b, type, mg__gen_load(g, g->ptr, f, 8), args, 5, "");
    LLVMBuildBr(g->b, after);

    LLVMPositionBuilderAtEnd(g->b, after);
    LLVMValueRef now[3], ways[3][2] = {{n, mg__gen_c64(g, 0)}, {least, low}, {most, high}};
    for (unsigned k = 0; k < 3; k++) {
        now[k] = LLVMBuildPhi(g->b, g->i64, "");
        LLVMAddIncoming(now[k], ways[k], from, 2);
    }
    mg__gen_store(g, LLVMBuildAdd(g->b, now[0], mg__gen_c64(g, rows), ""), DEFERRED(g, n), 8);
    mg__gen_store(g, now[1], DEFERRED(g, least), 8);
    mg__gen_store(g, now[2], DEFERRED(g, most), 8);
    LLVMTypeRef line = LLVMArrayType(g->i32, 32);
    for (unsigned y = 0; y < rows; y++) {
        LLVMValueRef where = LLVMBuildAdd(g->b, now[0], mg__gen_c64(g, y), ""), lanes[32];
        LLVMValueRef first = LLVMBuildAdd(g->b, at, reach(g, mg__gen_cy(g, address, 8), y), "");
        for (unsigned i = 0; i < g->row; i++)
            lanes[i] = mg__gen_c32(g, y * g->row + i);
        LLVMValueRef part = rows == 1 ? x
                                      : LLVMBuildShuffleVector(g->b, x, LLVMGetPoison(LLVMTypeOf(x)),
                                                               LLVMConstVector(lanes, g->row), "");
        mg__gen_store(g, first, LLVMBuildGEP2(g->b, g->i64, DEFERRED(g, at), &where, 1, ""), 8);
        mg__gen_store(g, part, LLVMBuildGEP2(g->b, line, DEFERRED(g, value), &where, 1, ""), 4);
    }
}
