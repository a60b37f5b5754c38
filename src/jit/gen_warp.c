/* gen_warp.c - operations across the lanes of a warp whose lanes all run: shuffles of known segments, votes,
 * reductions, matches and bar.warp.sync become instructions. All others are calls (gen_mem.c), as are those of some
 * lanes.
 */
#include "jit/gen_mem.h"

static bool is_known(const struct mg_gen *g, const struct mg_engine_operand *o, int64_t *value)
{
    return o->slot >= 0 && mg__gen_constant(g, o->slot, 4, value);
}

static LLVMValueRef splat(struct mg_gen *g, LLVMValueRef one)
{
    LLVMValueRef none = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(one), 32));
    LLVMValueRef first = LLVMBuildInsertElement(g->b, none, one, mg__gen_c32(g, 0), "");
    return LLVMBuildShuffleVector(g->b, first, none, LLVMConstNull(LLVMVectorType(g->i32, 32)), "");
}

static void write_shuffled(struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_value to,
                           struct mg_gen_value in_reach)
{
    if (op->out[0].slot >= 0)
        mg__gen_write(g, op->out[0].slot, 4, to);
    if (op->nout > 1 && op->out[1].slot >= 0)
        mg__gen_write(g, op->out[1].slot, 0, in_reach);
}

/* PTX ISA, "shfl.sync": from which lane each lane has its value, and which of them had one in reach. By a distance that
 * only the running kernel knows values go through memory, where lanes lie one behind the other. */
static bool shuffle(struct mg_gen *g, const struct mg_engine_op *op, const char *kind)
{
    int64_t known;
    if (!is_known(g, &op->in[3], &known))
        return false;
    const uint32_t clamp = (uint32_t)known & 31, segment = (uint32_t)known >> 8 & 31;
    const bool up = strcmp(kind, "up_b32") == 0, idx = strcmp(kind, "idx_b32") == 0;
    struct mg_gen_value v = mg__gen_read(g, op->in[1].slot, 4), by = mg__gen_read(g, op->in[2].slot, 4);
    LLVMValueRef from = mg__gen_vector(g, &v, 4), lane[32], least[32], most[32];
    if (idx && segment == 0 && clamp == 31 && mg__gen_uniform(by.form)) { /* one lane's, for all */
        LLVMValueRef at = LLVMBuildAnd(g->b, by.base, mg__gen_c32(g, 31), "");
        write_shuffled(g, op, mg__gen_of_base(LLVMBuildExtractElement(g->b, from, at, "")),
                       mg__gen_of_base(LLVMConstInt(g->i1, 1, 0)));
        return true;
    }
    for (uint32_t i = 0; i < 32; i++) {
        lane[i] = mg__gen_c32(g, i);
        least[i] = mg__gen_c32(g, i & segment);
        most[i] = mg__gen_c32(g, (i & segment) | (clamp & ~segment));
    }
    LLVMValueRef self = LLVMConstVector(lane, 32), distance = mg__gen_vector(g, &by, 4),
                 b = LLVMBuildAnd(g->b, distance, splat(g, mg__gen_c32(g, idx ? 31 & ~segment : 31)), ""),
                 j = up                              ? LLVMBuildSub(g->b, self, b, "")
                     : strcmp(kind, "down_b32") == 0 ? LLVMBuildAdd(g->b, self, b, "")
                     : idx                           ? LLVMBuildOr(g->b, LLVMConstVector(least, 32), b, "")
                                                     : LLVMBuildXor(g->b, self, b, "");
    LLVMValueRef good = LLVMBuildICmp(g->b, up ? LLVMIntSGE : LLVMIntSLE, j, LLVMConstVector(most, 32), ""),
                 index = LLVMBuildSelect(g->b, good, j, self, ""), to;
    if (LLVMIsConstant(index)) {
        to = LLVMBuildShuffleVector(g->b, from, LLVMGetPoison(LLVMTypeOf(from)), index, "");
    } else {
        LLVMValueRef home = mg__gen_alloca(g, LLVMTypeOf(from));
        LLVMBuildStore(g->b, from, home);
        LLVMValueRef ptrs = LLVMBuildGEP2(g->b, g->i32, home, &index, 1, "");
        to = mg__gen_scattered(g, true, LLVMTypeOf(from), NULL, ptrs, 4, NULL);
    }
    write_shuffled(g, op, mg__gen_of_vector(to), mg__gen_of_vector(LLVMBuildBitCast(g->b, good, g->i32, "")));
    return true;
}

static bool vote(struct mg_gen *g, const struct mg_engine_op *op, const char *kind)
{
    struct mg_gen_value v = mg__gen_read(g, op->in[1].slot, 0);
    LLVMValueRef lanes = mg__gen_vector(g, &v, 0), all = LLVMBuildICmp(g->b, LLVMIntEQ, lanes, mg__gen_c32(g, ~0u), ""),
                 none = LLVMBuildICmp(g->b, LLVMIntEQ, lanes, mg__gen_c32(g, 0), "");
    if (strcmp(kind, "ballot_b32") == 0)
        mg__gen_write(g, op->out[0].slot, 4, mg__gen_of_base(lanes));
    else if (strcmp(kind, "all_pred") == 0)
        mg__gen_write(g, op->out[0].slot, 0, mg__gen_of_base(all));
    else if (strcmp(kind, "any_pred") == 0)
        mg__gen_write(g, op->out[0].slot, 0, mg__gen_of_base(LLVMBuildNot(g->b, none, "")));
    else if (strcmp(kind, "uni_pred") == 0)
        mg__gen_write(g, op->out[0].slot, 0, mg__gen_of_base(LLVMBuildOr(g->b, all, none, "")));
    else
        return false;
    return true;
}

static bool reduce(struct mg_gen *g, const struct mg_engine_op *op, const char *kind)
{
    static const struct {
        const char *kind, *name;
    } table[] = {{"add_s32", "llvm.vector.reduce.add"},  {"add_u32", "llvm.vector.reduce.add"},
                 {"and_b32", "llvm.vector.reduce.and"},  {"or_b32", "llvm.vector.reduce.or"},
                 {"xor_b32", "llvm.vector.reduce.xor"},  {"max_s32", "llvm.vector.reduce.smax"},
                 {"max_u32", "llvm.vector.reduce.umax"}, {"min_s32", "llvm.vector.reduce.smin"},
                 {"min_u32", "llvm.vector.reduce.umin"}};
    for (unsigned k = 0; k < MG_COUNT(table); k++) {
        if (strcmp(table[k].kind, kind) != 0)
            continue;
        struct mg_gen_value v = mg__gen_read(g, op->in[1].slot, 4);
        LLVMValueRef in = mg__gen_vector(g, &v, 4);
        LLVMTypeRef type = LLVMTypeOf(in);
        LLVMValueRef f = LLVMGetIntrinsicDeclaration(
            g->module, LLVMLookupIntrinsicID(table[k].name, strlen(table[k].name)), &type, 1);
        mg__gen_write(g, op->out[0].slot, 4,
                      mg__gen_of_base(LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, &in, 1, "")));
        return true;
    }
    return false;
}

/* Which lanes have the same value: each lane's goes to all that are as it is, a bit at a time. */
static bool match(struct mg_gen *g, const struct mg_engine_op *op, const char *kind)
{
    const unsigned bytes = op->in[1].bytes;
    const bool any = strncmp(kind, "any_", 4) == 0;
    struct mg_gen_value v = mg__gen_read(g, op->in[1].slot, bytes);
    LLVMValueRef in = mg__gen_vector(g, &v, bytes), set = LLVMConstNull(LLVMVectorType(g->i32, 32));
    for (uint32_t k = 0; k < (any ? 32 : 1); k++) {
        LLVMValueRef same =
            LLVMBuildICmp(g->b, LLVMIntEQ, in, splat(g, LLVMBuildExtractElement(g->b, in, mg__gen_c32(g, k), "")), "");
        if (any) {
            LLVMValueRef bit = LLVMBuildSelect(g->b, same, splat(g, mg__gen_c32(g, UINT32_C(1) << k)),
                                               LLVMConstNull(LLVMVectorType(g->i32, 32)), "");
            set = LLVMBuildOr(g->b, set, bit, "");
            continue;
        }
        LLVMValueRef all =
            LLVMBuildICmp(g->b, LLVMIntEQ, LLVMBuildBitCast(g->b, same, g->i32, ""), mg__gen_c32(g, ~0u), "");
        if (op->out[0].slot >= 0)
            mg__gen_write(g, op->out[0].slot, 4, mg__gen_of_base(LLVMBuildSExt(g->b, all, g->i32, "")));
        if (op->nout > 1 && op->out[1].slot >= 0)
            mg__gen_write(g, op->out[1].slot, 0, mg__gen_of_base(all));
    }
    if (any)
        mg__gen_write(g, op->out[0].slot, 4, mg__gen_of_vector(set));
    return true;
}

static bool done(struct mg_gen *g, const struct mg_engine_op *op)
{
    if (op->effects & MG_ENGINE_TOGETHER) /* bar.warp.sync: they are */
        return true;
    if (op->row < 0)
        return false;
    const char *name = mg_sem_warp_rows[op->row].name;
    if (op->nout && op->out[0].slot < 0 && op->nout == 1)
        return false;
    return (strncmp(name, "shfl_", 5) == 0 && shuffle(g, op, name + 5)) ||
           (strncmp(name, "vote_", 5) == 0 && vote(g, op, name + 5)) ||
           (strncmp(name, "match_", 6) == 0 && match(g, op, name + 6)) ||
           (strncmp(name, "redux_", 6) == 0 && reduce(g, op, name + 6));
}

/* What a lane gets does not hang on which lanes take part with it. */
static bool asks_for_itself(const struct mg_engine_op *op)
{
    return op->effects & MG_ENGINE_TOGETHER ||
           (op->row >= 0 && strncmp(mg_sem_warp_rows[op->row].name, "shfl_", 5) == 0);
}

bool mg__gen_warp(struct mg_gen *g, const struct mg_engine_op *op)
{
    int64_t members = 0;
    if (g->mask || g->some || op->nin < 1)
        return false;
    /* Whichever lanes take part with one, as in tiles of a warp, they run, and a shuffle asks no more. */
    const bool all = is_known(g, &op->in[0], &members) && (uint32_t)members == ~0u;
    if ((!all && (op->effects & MG_ENGINE_HEARD || !asks_for_itself(op))) || !done(g, op))
        return false;
    if (op->effects & MG_ENGINE_HEARD) {
        LLVMTypeRef params[2] = {g->ptr, g->i32}, type = LLVMFunctionType(LLVMVoidTypeInContext(g->cx), params, 2, 0);
        LLVMValueRef args[2] = {g->e, mg__gen_c32(g, (uint32_t)(op - g->p->ops))};
        LLVMBuildCall2(g->b, type,
                       mg__gen_load(g, g->ptr, mg__gen_at(g, g->calls, offsetof(struct mg_engine_calls, met)), 8), args,
                       2, "");
    }
    return true;
}
