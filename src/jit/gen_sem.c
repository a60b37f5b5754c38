/* gen_sem.c - operation functions inlined: a row of sem.def, compiled to bitcode when Margay was built, becomes
 * instructions of the kernel.
 *
 * A function without branches, as nearly all are, is rebuilt instruction by instruction over vectors of 32 lanes, or
 * over scalars when its operands are the same in all lanes. One with branches is copied into a loop over the lanes.
 * Either way no call is left. Flags that promise no overflow are dropped: nothing is gained by them here.
 */
#include "jit/gen.h"

extern const char mg_sem_bitcode_fma[], mg_sem_bitcode_fma_end[], mg_sem_bitcode_plain[], mg_sem_bitcode_plain_end[];

static void name_of(char *name, size_t size, int row, uint32_t mode)
{
    const struct mg_sem_row *r = &mg_sem_rows[row];
    snprintf(name, size, "op_%s_%s", r->name, !r->mode || mode == 0 ? "0" : mode == SEM_FTZ ? "f" : "m");
}

/* The ops' functions that `from` has and g->sem has not, declared there; how many. */
static unsigned declare(struct mg_gen *g, LLVMModuleRef from)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < g->p->nops; i++) {
        const struct mg_engine_op *op = &g->p->ops[i];
        char name[128];
        if (op->kind != MG_ENGINE_ALU)
            continue;
        name_of(name, sizeof name, op->row, op->mode);
        LLVMValueRef f = LLVMGetNamedFunction(g->sem, name) ? NULL : from ? LLVMGetNamedFunction(from, name) : NULL;
        if (f)
            LLVMAddFunction(g->sem, name, LLVMGlobalGetValueType(f));
        n += from ? f != NULL : !LLVMGetNamedFunction(g->sem, name);
    }
    return n;
}

/* The bitcode is opened, which reads no function, and those that are declared are linked from it: a kernel has a few
 * dozen of the thousand, and reading all of them takes as long as compiling a small kernel. */
bool mg__gen_operations(struct mg_gen *g, bool fused)
{
    const char *from = fused ? mg_sem_bitcode_fma : mg_sem_bitcode_plain,
               *to = fused ? mg_sem_bitcode_fma_end : mg_sem_bitcode_plain_end;
    LLVMModuleRef all;
    if (declare(g, NULL) == 0)
        return true;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(from, (size_t)(to - from), "sem", 0);
    if (LLVMGetBitcodeModuleInContext2(g->cx, buffer, &all))
        return false;
    if (declare(g, all) == 0) { /* it has not the others either: mg__gen_row says so */
        LLVMDisposeModule(all);
        return true;
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(all); f; f = LLVMGetNextFunction(f))
        if (LLVMGetIntrinsicID(f) == 0)
            LLVMSetLinkage(f, LLVMLinkOnceODRLinkage); /* linked only if it is asked for */
    LLVMSetDataLayout(g->sem, LLVMGetDataLayoutStr(all));
    LLVMSetTarget(g->sem, LLVMGetTarget(all));
    return !LLVMLinkModules2(g->sem, all);
}

struct map {
    LLVMValueRef *from, *to;
    size_t n, capacity;
};

static void put(struct mg_gen *g, struct map *m, LLVMValueRef from, LLVMValueRef to)
{
    if (m->n == m->capacity) {
        size_t more = m->capacity ? 2 * m->capacity : 64;
        LLVMValueRef *f = mg__arena_array(&g->arena, more, sizeof *f), *t = mg__arena_array(&g->arena, more, sizeof *t);
        if (!f || !t) {
            g->reason = "memory";
            return;
        }
        if (m->n) {
            memcpy(f, m->from, m->n * sizeof *f);
            memcpy(t, m->to, m->n * sizeof *t);
        }
        m->from = f, m->to = t, m->capacity = more;
    }
    m->from[m->n] = from;
    m->to[m->n++] = to;
}

static LLVMValueRef find(const struct map *m, LLVMValueRef from)
{
    for (size_t k = m->n; k-- > 0;)
        if (m->from[k] == from)
            return m->to[k];
    return NULL;
}

static LLVMTypeRef widen(LLVMTypeRef t, bool vector)
{
    return vector ? LLVMVectorType(t, 32) : t;
}

static LLVMValueRef operand(struct mg_gen *g, const struct map *m, LLVMValueRef v, bool vector)
{
    if (!LLVMIsConstant(v))
        return find(m, v);
    if (!vector)
        return v;
    LLVMValueRef all[32];
    for (unsigned i = 0; i < 32; i++)
        all[i] = v;
    (void)g;
    return LLVMConstVector(all, 32);
}

static LLVMValueRef rebuild_call(struct mg_gen *g, const struct map *m, LLVMValueRef in, bool vector)
{
    static const char *const elementwise[] = {
        "llvm.umin",     "llvm.umax",       "llvm.smin",  "llvm.smax",     "llvm.ctlz",     "llvm.cttz",
        "llvm.ctpop",    "llvm.abs",        "llvm.rint",  "llvm.fabs",     "llvm.trunc",    "llvm.floor",
        "llvm.ceil",     "llvm.sqrt",       "llvm.fma",   "llvm.usub.sat", "llvm.uadd.sat", "llvm.ssub.sat",
        "llvm.sadd.sat", "llvm.bitreverse", "llvm.bswap", "llvm.fshl",     "llvm.fshr",     "llvm.copysign"};
    LLVMValueRef callee = LLVMGetCalledValue(in);
    unsigned id = LLVMIsAFunction(callee) ? LLVMGetIntrinsicID(callee) : 0, n = LLVMGetNumArgOperands(in);
    size_t length = 0;
    const char *name = id ? LLVMIntrinsicGetName(id, &length) : "";
    bool known = false;
    for (unsigned k = 0; k < MG_COUNT(elementwise); k++)
        known |= strlen(elementwise[k]) == length && memcmp(name, elementwise[k], length) == 0;
    if (!known || n > 3)
        return NULL;
    LLVMTypeRef type = widen(LLVMTypeOf(in), vector);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->module, id, &type, 1), args[3];
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef o = LLVMGetOperand(in, k);
        bool flag = LLVMTypeOf(o) == g->i1; /* of ctlz, cttz and abs: stays a scalar */
        args[k] = flag ? o : operand(g, m, o, vector);
        if (!args[k])
            return NULL;
    }
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, args, n, "");
}

/* One instruction over its mapped operands; NULL: there is no such form. */
static LLVMValueRef rebuild(struct mg_gen *g, const struct map *m, LLVMValueRef in, bool vector)
{
    LLVMOpcode code = LLVMGetInstructionOpcode(in);
    if (code == LLVMCall)
        return rebuild_call(g, m, in, vector);
    LLVMValueRef o[3] = {0};
    int n = LLVMGetNumOperands(in);
    if (n < 1 || n > 3)
        return NULL;
    for (int k = 0; k < n; k++)
        if (!(o[k] = operand(g, m, LLVMGetOperand(in, (unsigned)k), vector)))
            return NULL;
    switch (code) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
        return LLVMBuildBinOp(g->b, code, o[0], o[1], "");
    case LLVMFNeg:
        return LLVMBuildFNeg(g->b, o[0], "");
    case LLVMFreeze:
        return LLVMBuildFreeze(g->b, o[0], "");
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFPToUI:
    case LLVMFPToSI:
    case LLVMUIToFP:
    case LLVMSIToFP:
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMBitCast:
        return LLVMBuildCast(g->b, code, o[0], widen(LLVMTypeOf(in), vector), "");
    case LLVMICmp:
        return LLVMBuildICmp(g->b, LLVMGetICmpPredicate(in), o[0], o[1], "");
    case LLVMFCmp:
        return LLVMBuildFCmp(g->b, LLVMGetFCmpPredicate(in), o[0], o[1], "");
    case LLVMSelect:
        return LLVMBuildSelect(g->b, o[0], o[1], o[2], "");
    default:
        return NULL;
    }
}

/* A function of one basic block, over vectors or scalars. NULL: it is not such a one. */
static LLVMValueRef straight(struct mg_gen *g, LLVMValueRef f, LLVMValueRef *args, bool vector)
{
    struct map m = {0};
    if (LLVMCountBasicBlocks(f) != 1)
        return NULL;
    for (unsigned k = 0; k < LLVMCountParams(f); k++)
        put(g, &m, LLVMGetParam(f, k), args[k]);
    for (LLVMValueRef in = LLVMGetFirstInstruction(LLVMGetFirstBasicBlock(f)); in; in = LLVMGetNextInstruction(in)) {
        if (LLVMGetInstructionOpcode(in) == LLVMRet)
            return operand(g, &m, LLVMGetOperand(in, 0), vector);
        LLVMValueRef v = rebuild(g, &m, in, vector);
        if (!v)
            return NULL;
        put(g, &m, in, v);
    }
    return NULL;
}

/* Any function, over scalars, at the builder's place; `mode` replaces its last parameter if it has one more than `n`.
 * The builder goes on behind it. */
static LLVMValueRef branching(struct mg_gen *g, LLVMValueRef into, LLVMValueRef f, LLVMValueRef *args, unsigned n,
                              uint32_t mode)
{
    struct map m = {0}, blocks = {0};
    for (unsigned k = 0; k < LLVMCountParams(f); k++)
        put(g, &m, LLVMGetParam(f, k), k < n ? args[k] : mg__gen_c32(g, mode));
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
        put(g, &blocks, LLVMBasicBlockAsValue(bb),
            LLVMBasicBlockAsValue(LLVMAppendBasicBlockInContext(g->cx, into, "")));
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(g->cx, into, "");
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(f));
    LLVMBuildBr(g->b, LLVMValueAsBasicBlock(blocks.to[0]));
    LLVMPositionBuilderAtEnd(g->b, after);
    LLVMValueRef result = LLVMBuildPhi(g->b, type, "");
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb)) {
        LLVMPositionBuilderAtEnd(g->b, LLVMValueAsBasicBlock(find(&blocks, LLVMBasicBlockAsValue(bb))));
        for (LLVMValueRef in = LLVMGetFirstInstruction(bb); in; in = LLVMGetNextInstruction(in)) {
            LLVMValueRef copy;
            if (LLVMGetInstructionOpcode(in) == LLVMRet) {
                copy = LLVMBuildBr(g->b, after); /* its value is added below, when all are mapped */
            } else if (LLVMGetInstructionOpcode(in) == LLVMPHI) {
                copy = LLVMBuildPhi(g->b, LLVMTypeOf(in), "");
            } else {
                copy = LLVMInstructionClone(in);
                LLVMInsertIntoBuilder(g->b, copy);
            }
            put(g, &m, in, copy);
        }
    }
    for (size_t k = LLVMCountParams(f); k < m.n; k++) {
        LLVMValueRef in = m.from[k], copy = m.to[k];
        LLVMOpcode code = LLVMGetInstructionOpcode(in);
        if (code == LLVMRet) {
            LLVMValueRef v = LLVMGetOperand(in, 0);
            v = LLVMIsConstant(v) ? v : find(&m, v);
            LLVMBasicBlockRef from = LLVMGetInstructionParent(copy);
            LLVMAddIncoming(result, &v, &from, 1);
        } else if (code == LLVMPHI) {
            for (unsigned i = 0; i < LLVMCountIncoming(in); i++) {
                LLVMValueRef v = LLVMGetIncomingValue(in, i);
                v = LLVMIsConstant(v) ? v : find(&m, v);
                LLVMBasicBlockRef from =
                    LLVMValueAsBasicBlock(find(&blocks, LLVMBasicBlockAsValue(LLVMGetIncomingBlock(in, i))));
                LLVMAddIncoming(copy, &v, &from, 1);
            }
        } else {
            for (int i = 0; i < LLVMGetNumOperands(in); i++) {
                LLVMValueRef v = LLVMGetOperand(in, (unsigned)i), to;
                if (LLVMValueIsBasicBlock(v))
                    LLVMSetOperand(copy, (unsigned)i, find(&blocks, v));
                else if (LLVMIsAFunction(v)) {
                    unsigned id = LLVMGetIntrinsicID(v);
                    LLVMValueRef decl = LLVMGetNamedFunction(g->module, LLVMGetValueName2(v, &(size_t){0}));
                    if (!decl && id)
                        decl =
                            LLVMAddFunction(g->module, LLVMGetValueName2(v, &(size_t){0}), LLVMGlobalGetValueType(v));
                    if (!decl) {
                        g->reason = "call";
                        decl = v;
                    }
                    LLVMSetOperand(copy, (unsigned)i, decl);
                } else if (!LLVMIsConstant(v) && (to = find(&m, v)))
                    LLVMSetOperand(copy, (unsigned)i, to);
            }
        }
    }
    LLVMPositionBuilderAtEnd(g->b, after);
    return result;
}

static LLVMValueRef in_a_loop(struct mg_gen *g, LLVMValueRef f, LLVMValueRef *args, unsigned n, uint32_t mode)
{
    LLVMValueRef home[4] = {0};
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(f));
    LLVMValueRef out = mg__gen_alloca(g, LLVMVectorType(type, 32));
    for (unsigned k = 0; k < n; k++) {
        home[k] = mg__gen_alloca(g, LLVMTypeOf(args[k]));
        LLVMBuildStore(g->b, args[k], home[k]);
    }
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), head = mg__gen_bb(g), after = mg__gen_bb(g);
    LLVMBuildBr(g->b, head);
    LLVMPositionBuilderAtEnd(g->b, head);
    LLVMValueRef i = LLVMBuildPhi(g->b, g->i32, ""), one[4];
    for (unsigned k = 0; k < n; k++) {
        LLVMTypeRef t = LLVMGetElementType(LLVMTypeOf(args[k]));
        one[k] = LLVMBuildLoad2(g->b, t, LLVMBuildGEP2(g->b, t, home[k], &i, 1, ""), "");
    }
    LLVMValueRef v = branching(g, g->fn, f, one, n, mode);
    LLVMBuildStore(g->b, v, LLVMBuildGEP2(g->b, type, out, &i, 1, ""));
    LLVMValueRef next = LLVMBuildAdd(g->b, i, mg__gen_c32(g, 1), "");
    LLVMBasicBlockRef from[2] = {before, LLVMGetInsertBlock(g->b)};
    LLVMValueRef in[2] = {mg__gen_c32(g, 0), next};
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntULT, next, mg__gen_c32(g, 32), ""), head, after);
    LLVMAddIncoming(i, in, from, 2);
    LLVMPositionBuilderAtEnd(g->b, after);
    return LLVMBuildLoad2(g->b, LLVMVectorType(type, 32), out, "");
}

/* The row's function for a mode that has none of its own: a copy with the mode fixed, and simplified. */
static LLVMValueRef specialise(struct mg_gen *g, int row, uint32_t mode, LLVMValueRef general)
{
    if (g->special[row] && g->special_mode[row] == mode)
        return g->special[row];
    LLVMModuleRef keep = g->module, fresh = LLVMModuleCreateWithNameInContext("special", g->cx);
    LLVMBasicBlockRef at = LLVMGetInsertBlock(g->b);
    LLVMSetDataLayout(fresh, LLVMGetDataLayoutStr(keep));
    LLVMTypeRef params[5], type = LLVMGlobalGetValueType(general);
    unsigned n = LLVMCountParams(general) - 1;
    LLVMGetParamTypes(type, params);
    LLVMValueRef f = LLVMAddFunction(fresh, "f", LLVMFunctionType(LLVMGetReturnType(type), params, n, 0)), args[4];
    for (unsigned k = 0; k < n; k++)
        args[k] = LLVMGetParam(f, k);
    g->module = fresh;
    LLVMPositionBuilderAtEnd(g->b, LLVMAppendBasicBlockInContext(g->cx, f, ""));
    LLVMBuildRet(g->b, branching(g, f, general, args, n, mode));
    g->module = keep;
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(
        fresh, "function(sccp," MG_GEN_COMBINE ",simplifycfg," MG_GEN_COMBINE ",simplifycfg)", g->tm, options);
    LLVMDisposePassBuilderOptions(options);
    if (error)
        LLVMConsumeError(error);
    LLVMPositionBuilderAtEnd(g->b, at);
    g->special[row] = f; /* the module stays until the context goes */
    g->special_mode[row] = mode;
    return f;
}

static LLVMValueRef inlined(struct mg_gen *g, LLVMValueRef f, LLVMValueRef *args, unsigned n, uint32_t mode,
                            bool vector)
{
    LLVMValueRef v = straight(g, f, args, vector);
    if (v)
        return v;
    return vector ? in_a_loop(g, f, args, n, mode) : branching(g, g->fn, f, args, n, mode);
}

/* Of an operation over vectors that is a loop, or longer than this, quick code has one copy, which it calls: making
 * each use into code takes longer than the call. Where a vector takes twice the registers that pays sooner. */
enum { SHARED_FROM = 20, SHARED_FROM_NARROW = 8 };
static bool worth_sharing(const struct mg_gen *g, LLVMValueRef f)
{
    unsigned n = 0;
    for (LLVMValueRef in = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)); in; in = LLVMGetNextInstruction(in))
        n++;
    return LLVMCountBasicBlocks(f) > 1 || n > (g->masks ? SHARED_FROM : SHARED_FROM_NARROW);
}

static LLVMValueRef call_shared(struct mg_gen *g, const char *row, uint32_t mode, LLVMValueRef f, LLVMValueRef *args,
                                unsigned n)
{
    char name[160];
    snprintf(name, sizeof name, "%s_%x", row, mode);
    LLVMValueRef shared = LLVMGetNamedFunction(g->module, name);
    if (!shared) {
        LLVMTypeRef types[4];
        LLVMValueRef params[4], caller = g->fn;
        LLVMBasicBlockRef at = LLVMGetInsertBlock(g->b), start = g->start;
        for (unsigned k = 0; k < n; k++)
            types[k] = LLVMTypeOf(args[k]);
        shared = LLVMAddFunction(
            g->module, name, LLVMFunctionType(widen(LLVMGetReturnType(LLVMGlobalGetValueType(f)), true), types, n, 0));
        LLVMSetLinkage(shared, LLVMInternalLinkage);
        for (unsigned k = 0; k < n; k++)
            params[k] = LLVMGetParam(shared, k);
        g->fn = shared;
        g->start = mg__gen_bb(g);
        LLVMBasicBlockRef body = mg__gen_bb(g);
        LLVMPositionBuilderAtEnd(g->b, body);
        LLVMBuildRet(g->b, inlined(g, f, params, n, mode, true));
        LLVMPositionBuilderAtEnd(g->b, g->start);
        LLVMBuildBr(g->b, body);
        g->fn = caller;
        g->start = start;
        LLVMPositionBuilderAtEnd(g->b, at);
    }
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(shared), shared, args, n, "");
}

LLVMValueRef mg__gen_row(struct mg_gen *g, int row, uint32_t mode, LLVMValueRef *args, bool vector)
{
    char name[128];
    const struct mg_sem_row *r = &mg_sem_rows[row];
    name_of(name, sizeof name, row, mode);
    LLVMValueRef f = LLVMGetNamedFunction(g->sem, name);
    if (!f || LLVMIsDeclaration(f)) {
        g->reason = "row";
        return LLVMGetUndef(widen(r->ret == MG_SEM_B64 ? g->i64 : r->ret == MG_SEM_B16 ? g->i16 : g->i32, vector));
    }
    if (LLVMCountParams(f) > r->nargs)
        f = specialise(g, row, mode, f);
    if (g->quick && vector && worth_sharing(g, f))
        return call_shared(g, name, mode, f, args, r->nargs);
    return inlined(g, f, args, r->nargs, mode, vector);
}

/* ---- NaNs ----
 * Arithmetic makes every NaN the one that a GPU makes: x != x ? NaN : x. Where the result only goes into more
 * arithmetic that does the same, that may wait: a NaN of any kind gives a NaN there. It takes the comparison out of the
 * chain of a sum. */
static bool is_arithmetic(LLVMValueRef v)
{
    if (!LLVMIsAInstruction(v))
        return false;
    LLVMOpcode code = LLVMGetInstructionOpcode(v);
    if (code == LLVMFAdd || code == LLVMFSub || code == LLVMFMul)
        return true;
    LLVMValueRef f = code == LLVMCall ? LLVMGetCalledValue(v) : NULL;
    size_t length = 0;
    unsigned id = f && LLVMIsAFunction(f) ? LLVMGetIntrinsicID(f) : 0;
    const char *name = id ? LLVMIntrinsicGetName(id, &length) : "";
    return length == 8 && memcmp(name, "llvm.fma", 8) == 0;
}

/* x, if v is x != x ? constant : x; else NULL. */
static LLVMValueRef before_nan(LLVMValueRef v)
{
    if (!LLVMIsAInstruction(v) || LLVMGetInstructionOpcode(v) != LLVMSelect || !LLVMIsConstant(LLVMGetOperand(v, 1)))
        return NULL;
    LLVMValueRef test = LLVMGetOperand(v, 0), x = LLVMGetOperand(v, 2);
    bool good = LLVMIsAInstruction(test) && LLVMGetInstructionOpcode(test) == LLVMFCmp &&
                LLVMGetFCmpPredicate(test) == LLVMRealUNO && LLVMGetOperand(test, 0) == x &&
                (LLVMGetOperand(test, 1) == x || LLVMIsNull(LLVMGetOperand(test, 1)));
    return good && is_arithmetic(x) ? x : NULL;
}

/* Whether nobody sees which NaN `v` is. */
static bool hides_nan(LLVMValueRef v)
{
    for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool test = LLVMIsAFCmpInst(user) && LLVMGetFCmpPredicate(user) == LLVMRealUNO;
        if (!test && before_nan(user) != v)
            return false;
    }
    return true;
}

void mg__gen_lazy_nans(struct mg_gen *g)
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(g->fn); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef in = LLVMGetLastInstruction(bb); in; in = LLVMGetPreviousInstruction(in)) {
            if (!is_arithmetic(in) || !hides_nan(in)) /* from the last on: those behind have taken theirs already */
                continue;
            for (unsigned k = 0; k < (LLVMIsACallInst(in) ? 3u : 2u); k++) {
                LLVMValueRef x = before_nan(LLVMGetOperand(in, k));
                if (x)
                    LLVMSetOperand(in, k, x);
            }
        }
}
