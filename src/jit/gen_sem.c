/* gen_sem.c - operation functions inlined: a row of sem.def, compiled to bitcode when Margay was built, becomes
 * instructions of the kernel.
 *
 * A function without branches, as nearly all are, is rebuilt instruction by instruction over vectors of 32 lanes, or
 * over scalars when its operands are the same in all lanes; what is done to both halves of a register, over vectors of
 * 64. One with branches is copied into a loop over the lanes.
 * Either way no call is left. Flags that promise no overflow are dropped: nothing is gained by them here.
 */
#include "jit/gen.h"

extern const char mg_sem_bitcode_fma[], mg_sem_bitcode_fma_end[], mg_sem_bitcode_plain[], mg_sem_bitcode_plain_end[];

static void name_of(char *name, size_t size, int row, uint32_t mode)
{
    const struct mg_sem_row *r = &mg_sem_rows[row];
    snprintf(name, size, "op_%s_%s", r->name, !r->mode || mode == 0 ? "0" : mode == SEM_FTZ ? "f" : "m");
}

/* What is done to each half of a register, of a row of two f16 or bf16 (add_f16 of add_f16x2); -1 of others. */
static int half_of(int row)
{
    const struct mg_sem_row *both = &mg_sem_rows[row];
    const size_t n = strlen(both->name);
    if (n < 5 || strcmp(both->name + n - 5, "f16x2") != 0 || both->ret != MG_SEM_B32)
        return -1;
    for (int k = row; k-- > 0;) { /* they are in the order of their names */
        const struct mg_sem_row *one = &mg_sem_rows[k];
        if (strncmp(one->name, both->name, n - 2) != 0)
            return -1;
        if (one->name[n - 2] == 0)
            return one->ret == MG_SEM_B16 && one->nargs == both->nargs && one->arg[0] == MG_SEM_B16 ? k : -1;
    }
    return -1;
}

static int built(int row)
{
    return half_of(row) < 0 ? row : half_of(row);
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
        name_of(name, sizeof name, built(op->row), op->mode);
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

enum { MOST = 64 }; /* lanes of a vector: of a warp's halves of registers */
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

/* `n`: of a vector, 0 of a scalar. */
static LLVMTypeRef widen(LLVMTypeRef t, unsigned n)
{
    return n ? LLVMVectorType(t, n) : t;
}

static LLVMValueRef operand(const struct map *m, LLVMValueRef v, unsigned n)
{
    if (!LLVMIsConstant(v))
        return find(m, v);
    LLVMValueRef all[MOST];
    for (unsigned i = 0; i < n; i++)
        all[i] = v;
    return n ? LLVMConstVector(all, n) : v;
}

static LLVMValueRef rebuild_call(struct mg_gen *g, const struct map *m, LLVMValueRef in, unsigned wide)
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
    LLVMTypeRef type = widen(LLVMTypeOf(in), wide);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->module, id, &type, 1), args[3];
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef o = LLVMGetOperand(in, k);
        bool flag = LLVMTypeOf(o) == g->i1; /* of ctlz, cttz and abs: stays a scalar */
        args[k] = flag ? o : operand(m, o, wide);
        if (!args[k])
            return NULL;
    }
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, args, n, "");
}

/* One instruction over its mapped operands; NULL: there is no such form. */
static LLVMValueRef rebuild(struct mg_gen *g, const struct map *m, LLVMValueRef in, unsigned wide)
{
    LLVMOpcode code = LLVMGetInstructionOpcode(in);
    if (code == LLVMCall)
        return rebuild_call(g, m, in, wide);
    LLVMValueRef o[3] = {0};
    int n = LLVMGetNumOperands(in);
    if (n < 1 || n > 3)
        return NULL;
    for (int k = 0; k < n; k++)
        if (!(o[k] = operand(m, LLVMGetOperand(in, (unsigned)k), wide)))
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
        return LLVMBuildCast(g->b, code, o[0], widen(LLVMTypeOf(in), wide), "");
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

/* The call of sem_seldom in a block, or NULL. */
static LLVMValueRef seldom_in(LLVMBasicBlockRef bb)
{
    for (LLVMValueRef in = LLVMGetFirstInstruction(bb); in; in = LLVMGetNextInstruction(in))
        if (LLVMGetInstructionOpcode(in) == LLVMCall && LLVMGetIntrinsicID(LLVMGetCalledValue(in)) == 0)
            return in;
    return NULL;
}

/* `to`, and before it what it needs that is not in `m` yet. NULL: something has no such form. */
static LLVMValueRef rebuild_for(struct mg_gen *g, struct map *m, LLVMValueRef to, unsigned wide)
{
    LLVMValueRef v = operand(m, to, wide);
    if (v || !LLVMIsAInstruction(to))
        return v;
    for (int k = 0, n = LLVMGetNumOperands(to); k < n; k++) {
        LLVMValueRef o = LLVMGetOperand(to, (unsigned)k);
        if (!LLVMIsAFunction(o) && !rebuild_for(g, m, o, wide))
            return NULL;
    }
    v = rebuild(g, m, to, wide);
    if (v)
        put(g, m, to, v);
    return v;
}

/* sem_seldom(seldom, careful, usual): what only `careful` needs is behind a branch that is taken where any lane wants
 * it. */
static LLVMValueRef rebuild_seldom(struct mg_gen *g, struct map *m, LLVMValueRef call, unsigned wide)
{
    LLVMValueRef asked = rebuild_for(g, m, LLVMGetOperand(call, 0), wide),
                 usual = rebuild_for(g, m, LLVMGetOperand(call, 2), wide);
    if (!asked || !usual)
        return NULL;
    LLVMBasicBlockRef at = LLVMGetInsertBlock(g->b), seldom = mg__gen_bb(g), after = mg__gen_bb(g);
    LLVMValueRef lanes = LLVMBuildICmp(g->b, LLVMIntNE, asked, LLVMConstNull(LLVMTypeOf(asked)), ""),
                 none = wide ? LLVMBuildBitCast(g->b, lanes, LLVMIntTypeInContext(g->cx, wide), "") : lanes;
    mg__gen_expect(g, LLVMBuildICmp(g->b, LLVMIntEQ, none, LLVMConstNull(LLVMTypeOf(none)), ""), after, seldom);
    LLVMPositionBuilderAtEnd(g->b, seldom);
    const size_t before = m->n;
    LLVMValueRef careful = rebuild_for(g, m, LLVMGetOperand(call, 1), wide);
    if (!careful)
        return NULL;
    m->n = before; /* those are not to be seen behind it */
    careful = LLVMBuildSelect(g->b, lanes, careful, usual, "");
    LLVMBuildBr(g->b, after);
    LLVMPositionBuilderAtEnd(g->b, after);
    LLVMValueRef v = LLVMBuildPhi(g->b, LLVMTypeOf(usual), "");
    LLVMAddIncoming(v, (LLVMValueRef[]){usual, careful}, (LLVMBasicBlockRef[]){at, seldom}, 2);
    put(g, m, call, v);
    return v;
}

/* A function of one basic block, over vectors or scalars. NULL: it is not such a one. */
static LLVMValueRef straight(struct mg_gen *g, LLVMValueRef f, LLVMValueRef *args, unsigned wide)
{
    struct map m = {0};
    if (LLVMCountBasicBlocks(f) != 1)
        return NULL;
    for (unsigned k = 0; k < LLVMCountParams(f); k++)
        put(g, &m, LLVMGetParam(f, k), args[k]);
    LLVMBasicBlockRef body = LLVMGetFirstBasicBlock(f);
    LLVMValueRef call = seldom_in(body), end = LLVMGetBasicBlockTerminator(body);
    if (call)
        return rebuild_seldom(g, &m, call, wide) ? rebuild_for(g, &m, LLVMGetOperand(end, 0), wide) : NULL;
    for (LLVMValueRef in = LLVMGetFirstInstruction(body); in != end; in = LLVMGetNextInstruction(in)) {
        LLVMValueRef v = rebuild(g, &m, in, wide);
        if (!v)
            return NULL;
        put(g, &m, in, v);
    }
    return operand(&m, LLVMGetOperand(end, 0), wide);
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
                    if (!decl && (id || into != g->fn)) /* sem_seldom, in a row's copy for a mode */
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

static LLVMValueRef in_a_loop(struct mg_gen *g, LLVMValueRef f, LLVMValueRef *args, unsigned n, uint32_t mode,
                              unsigned wide)
{
    LLVMValueRef home[4] = {0};
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(f));
    LLVMValueRef out = mg__gen_alloca(g, LLVMVectorType(type, wide));
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
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntULT, next, mg__gen_c32(g, wide), ""), head, after);
    LLVMAddIncoming(i, in, from, 2);
    LLVMPositionBuilderAtEnd(g->b, after);
    return LLVMBuildLoad2(g->b, LLVMVectorType(type, wide), out, "");
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
                            unsigned wide)
{
    LLVMValueRef v = straight(g, f, args, wide);
    if (v)
        return v;
    return wide ? in_a_loop(g, f, args, n, mode, wide) : branching(g, g->fn, f, args, n, mode);
}

static LLVMValueRef shuffled(struct mg_gen *g, LLVMValueRef a, LLVMValueRef b, unsigned from, unsigned n)
{
    LLVMValueRef index[MOST];
    for (unsigned i = 0; i < n; i++)
        index[i] = mg__gen_c32(g, from + i);
    return LLVMBuildShuffleVector(g->b, a, b, LLVMConstVector(index, n), "");
}

/* One part after the other: values of all 64 lanes take more registers than there are. */
static LLVMValueRef in_parts(struct mg_gen *g, LLVMValueRef f, LLVMValueRef *args, unsigned n, uint32_t mode,
                             unsigned wide)
{
    if (wide < MOST)
        return inlined(g, f, args, n, mode, wide);
    LLVMValueRef part[2], some[4];
    for (unsigned k = 0; k < 2; k++) {
        for (unsigned i = 0; i < n; i++)
            some[i] = shuffled(g, args[i], LLVMGetPoison(LLVMTypeOf(args[i])), k * wide / 2, wide / 2);
        part[k] = inlined(g, f, some, n, mode, wide / 2);
    }
    return shuffled(g, part[0], part[1], 0, wide);
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
                                unsigned n, unsigned wide)
{
    char name[160];
    snprintf(name, sizeof name, "%s_%x_%u", row, mode, wide);
    LLVMValueRef shared = LLVMGetNamedFunction(g->module, name);
    if (!shared) {
        LLVMTypeRef types[4];
        LLVMValueRef params[4], caller = g->fn;
        LLVMBasicBlockRef at = LLVMGetInsertBlock(g->b), start = g->start;
        for (unsigned k = 0; k < n; k++)
            types[k] = LLVMTypeOf(args[k]);
        shared = LLVMAddFunction(
            g->module, name, LLVMFunctionType(widen(LLVMGetReturnType(LLVMGlobalGetValueType(f)), wide), types, n, 0));
        LLVMSetLinkage(shared, LLVMInternalLinkage);
        for (unsigned k = 0; k < n; k++)
            params[k] = LLVMGetParam(shared, k);
        g->fn = shared;
        g->start = mg__gen_bb(g);
        LLVMBasicBlockRef body = mg__gen_bb(g);
        LLVMPositionBuilderAtEnd(g->b, body);
        LLVMBuildRet(g->b, in_parts(g, f, params, n, mode, wide));
        LLVMPositionBuilderAtEnd(g->b, g->start);
        LLVMBuildBr(g->b, body);
        g->fn = caller;
        g->start = start;
        LLVMPositionBuilderAtEnd(g->b, at);
    }
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(shared), shared, args, n, "");
}

static LLVMValueRef apply(struct mg_gen *g, int row, uint32_t mode, LLVMValueRef *args, unsigned wide)
{
    char name[128];
    const struct mg_sem_row *r = &mg_sem_rows[row];
    name_of(name, sizeof name, row, mode);
    LLVMValueRef f = LLVMGetNamedFunction(g->sem, name);
    if (!f || LLVMIsDeclaration(f)) {
        g->reason = "row";
        return LLVMGetUndef(widen(r->ret == MG_SEM_B64 ? g->i64 : r->ret == MG_SEM_B16 ? g->i16 : g->i32, wide));
    }
    if (LLVMCountParams(f) > r->nargs)
        f = specialise(g, row, mode, f);
    if (g->quick && wide && worth_sharing(g, f))
        return call_shared(g, name, mode, f, args, r->nargs, wide);
    return in_parts(g, f, args, r->nargs, mode, wide);
}

LLVMValueRef mg__gen_row(struct mg_gen *g, int row, uint32_t mode, LLVMValueRef *args, bool vector)
{
    const int half = half_of(row);
    if (half < 0)
        return apply(g, row, mode, args, vector ? 32 : 0);
    LLVMValueRef halves[4];
    LLVMTypeRef whole = LLVMTypeOf(args[0]), type = LLVMVectorType(g->i16, vector ? 64 : 2);
    for (unsigned k = 0; k < mg_sem_rows[row].nargs; k++)
        halves[k] = LLVMBuildBitCast(g->b, args[k], type, "");
    return LLVMBuildBitCast(g->b, apply(g, half, mode, halves, vector ? 64 : 2), whole, "");
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
