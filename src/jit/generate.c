/* generate.c - a kernel from its ops to the bytes that are kept: sets LLVM up, and has the generator's IR made shorter
 * and turned into an object file.
 *
 * With little effort (MG_ENGINE_QUICK) the IR is hardly looked at, and LLVM selects and allocates without optimisation:
 * a fifth of the time, for code that takes up to four times as long. Arms of branches whose lanes disagree are left out
 * there, for they are the larger part of many kernels, and so are looks at lanes, whose values would have to go to the
 * stack and come back. LLVM's verifier then looks at what tests ask for alone: the generator is the same.
 */
#include <llvm-c/Support.h>
#include <pthread.h>
#include <unistd.h>

#include "jit/gen.h"
#include "jit/gen_mem.h"

/* By effort: one thread makes quick code while another makes thorough code. */
static struct maker {
    pthread_mutex_t lock;
    LLVMContextRef context; /* kept: an operation's function is read once */
    LLVMModuleRef operations;
    LLVMTargetMachineRef machine;
} makers[MG_ENGINE_EFFORTS] = {{.lock = PTHREAD_MUTEX_INITIALIZER}, {.lock = PTHREAD_MUTEX_INITIALIZER}};
static pthread_mutex_t setting_up = PTHREAD_MUTEX_INITIALIZER;
static bool ending; /* under either lock: the process is */
static pid_t process;
static bool fused; /* the processor has fused multiply-add, and conversions of f16 */
static bool masks; /* and moves of some of the elements of a vector, of whatever size */

/* How far the register allocator looks for a place to split a range; by LLVM's own choice it looks for half of the time
 * that a kernel of a thousand accesses takes, and finds nothing better. */
static const char *const allocation[] = {"", "-grow-region-complexity-budget=300"};

/* Code may be made while the process ends, when LLVM takes itself apart: that is waited for, and no more is made. It is
 * registered behind what LLVM has registered, and so comes first: LLVM makes some of its tables (of value types) with
 * the first code, so set_up has it make some. Set up it is by the program's own thread (mg_engine.prepare). */
static void end_making(void)
{
    if (getpid() != process) /* one that was forked off has nobody to wait for */
        return;
    for (unsigned k = 0; k < MG_ENGINE_EFFORTS; k++)
        pthread_mutex_lock(&makers[k].lock);
    ending = true;
    for (unsigned k = 0; k < MG_ENGINE_EFFORTS; k++)
        pthread_mutex_unlock(&makers[k].lock);
}

/* Code of a function that calls one with a library's name, and of whose operations one takes an operand from memory
 * while it overwrites another that is used again: of all that LLVM has tables for when it first meets it these are the
 * ones that are taken down when the process ends (tests/diff/test_ending.c). */
static bool make_first(const struct maker *by)
{
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("first", by->context);
    LLVMTypeRef whole = LLVMInt32TypeInContext(by->context), pointer = LLVMPointerTypeInContext(by->context, 0);
    LLVMTypeRef of_one = LLVMFunctionType(whole, &whole, 1, false),
                of_two = LLVMFunctionType(whole, (LLVMTypeRef[]){whole, pointer}, 2, false);
    LLVMValueRef abs = LLVMAddFunction(module, "abs", of_one), first = LLVMAddFunction(module, "first", of_two);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(by->context);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(by->machine);
    LLVMMemoryBufferRef object = NULL;
    LLVMSetModuleDataLayout(module, layout);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(by->context, first, "entry"));
    LLVMValueRef x = LLVMGetParam(first, 0),
                 sum = LLVMBuildAdd(b, x, LLVMBuildLoad2(b, whole, LLVMGetParam(first, 1), ""), "");
    LLVMValueRef product = LLVMBuildMul(b, sum, x, "");
    LLVMBuildRet(b, LLVMBuildCall2(b, of_one, abs, &product, 1, ""));
    const bool good = !LLVMTargetMachineEmitToMemoryBuffer(by->machine, module, LLVMObjectFile, NULL, &object);
    if (object)
        LLVMDisposeMemoryBuffer(object);
    LLVMDisposeTargetData(layout);
    LLVMDisposeBuilder(b);
    LLVMDisposeModule(module);
    return good;
}

static bool set_up(const char **reason)
{
    static bool done;
    if (done)
        return true;
    *reason = "llvm";
    LLVMParseCommandLineOptions(MG_COUNT(allocation), allocation, "");
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    const unsigned isa = mg__isa();
    const bool less = isa < mg__isa_processor();
    char *triple = LLVMGetDefaultTargetTriple(), *message = NULL,
         *cpu = less ? LLVMCreateMessage(isa == 3 ? "x86-64-v3" : "x86-64-v2") : LLVMGetHostCPUName(),
         *features = less ? LLVMCreateMessage("") : LLVMGetHostCPUFeatures();
    fused = less ? isa == 3 : strstr(features, "+fma,") && strstr(features, "+f16c,");
    masks = !less && strstr(features, "+avx512bw,") && strstr(features, "+avx512vl,");
    LLVMTargetRef target;
    done = LLVMGetTargetFromTriple(triple, &target, &message) == 0;
    for (unsigned k = 0; k < MG_ENGINE_EFFORTS && done; k++) {
        const LLVMCodeGenOptLevel level = k == MG_ENGINE_QUICK ? LLVMCodeGenLevelNone : LLVMCodeGenLevelLess;
        makers[k].context = LLVMContextCreate();
        makers[k].operations = LLVMModuleCreateWithNameInContext("operations", makers[k].context);
        makers[k].machine =
            LLVMCreateTargetMachine(target, triple, cpu, features, level, LLVMRelocPIC, LLVMCodeModelSmall);
        done = makers[k].machine != NULL;
    }
    LLVMDisposeMessage(message);
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    process = getpid();
    for (unsigned k = 0; k < MG_ENGINE_EFFORTS && done; k++)
        done = make_first(&makers[k]);
    done = done && atexit(end_making) == 0;
    return done;
}

static bool passes(struct mg_gen *g, const char *names)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(g->module, names, g->tm, options);
    LLVMDisposePassBuilderOptions(options);
    if (error) {
        LLVMConsumeError(error);
        g->reason = "llvm";
    }
    return !error;
}

/* (x & C) | (y & ~C) for some of the lanes, the others keeping one of the two: LLVM 19 makes a vpternlog under a mask
 * of it, with its operands in one order and its table in another where one is in memory. It does not where it does not
 * know C, so that comes from a register here. */
static bool is_masked(LLVMValueRef v)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
        if (LLVMIsASelectInst(LLVMGetUser(u)))
            return true;
    return false;
}

static bool is_and_with_constant(LLVMValueRef v)
{
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMAnd &&
           LLVMIsAConstantDataVector(LLVMGetOperand(v, 1));
}

static void hide_constant(struct mg_gen *g, LLVMValueRef i)
{
    LLVMValueRef all = LLVMGetOperand(i, 1), one = LLVMGetAggregateElement(all, 0);
    const unsigned n = LLVMGetVectorSize(LLVMTypeOf(all));
    for (unsigned k = 1; k < n; k++)
        if (LLVMGetAggregateElement(all, k) != one)
            return;
    LLVMTypeRef scalar = LLVMTypeOf(one), type = LLVMFunctionType(scalar, &scalar, 1, 0);
    LLVMValueRef same = LLVMGetInlineAsm(type, "", 0, "=r,0", 4, 0, 0, LLVMInlineAsmDialectATT, 0);
    LLVMPositionBuilderBefore(g->b, i);
    LLVMSetOperand(i, 1, mg__gen_splat(g, LLVMBuildCall2(g->b, type, same, &one, 1, ""), n));
}

static void hide_choices_of_bits(struct mg_gen *g)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (LLVMGetInstructionOpcode(i) == LLVMOr && is_masked(i) &&
                    is_and_with_constant(LLVMGetOperand(i, 0)) && is_and_with_constant(LLVMGetOperand(i, 1)))
                    hide_constant(g, LLVMGetOperand(i, 0));
}

static bool optimise(struct mg_gen *g)
{
    if (g->quick)
        return passes(g, "function(mem2reg,early-cse)");
    if (!passes(g, "function(sroa,early-cse," MG_GEN_COMBINE ",simplifycfg)"))
        return false;
    mg__gen_lazy_nans(g);
    if (g->fn != g->first) {
        g->fn = g->first;
        mg__gen_lazy_nans(g);
    }
    return passes(g, "function(early-cse,sink,simplifycfg)");
}

static bool append(struct mg_strbuf *out, const void *data, size_t size)
{
    return size == 0 || mg__strbuf_append(out, data, size);
}

static bool pack(struct mg_gen *g, const uint64_t key[2], LLVMMemoryBufferRef object, struct mg_strbuf *out)
{
    struct mg_jit_header h = {.magic = MG_JIT_MAGIC,
                              .version = MG_JIT_VERSION,
                              .engine = MG_ENGINE_VERSION,
                              .npoints = (uint32_t)g->points.count,
                              .nforms = (uint32_t)g->forms.count,
                              .nopens = (uint32_t)g->opens.count,
                              .nsites = (uint32_t)g->sites.count,
                              .nmembers = (uint32_t)g->members.count,
                              .nlevels = (uint32_t)g->point_levels.count,
                              .nsomes = (uint32_t)g->somes.count,
                              .ncells = g->ncells,
                              .row = g->own_row,
                              .object = LLVMGetBufferSize(object),
                              .key = {key[0], key[1]}};
    bool good = append(out, &h, sizeof h) && append(out, g->points.at, g->points.count * sizeof *g->points.at) &&
                append(out, g->forms.at, g->forms.count * sizeof *g->forms.at) &&
                append(out, g->opens.at, g->opens.count * sizeof *g->opens.at) &&
                append(out, g->sites.at, g->sites.count * sizeof *g->sites.at) &&
                append(out, g->members.at, g->members.count * sizeof *g->members.at) &&
                append(out, g->point_levels.at, g->point_levels.count * sizeof *g->point_levels.at) &&
                append(out, g->somes.at, g->somes.count * sizeof *g->somes.at) &&
                append(out, LLVMGetBufferStart(object), LLVMGetBufferSize(object));
    if (good) {
        h.check = mg__hash(out->at + sizeof h, out->count - sizeof h);
        memcpy(out->at, &h, sizeof h);
    }
    return good;
}

static uint32_t size_of(const struct mg_gen *g)
{
    uint32_t n = 0;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(g->fn); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef in = LLVMGetFirstInstruction(bb); in; in = LLVMGetNextInstruction(in))
            n++;
    return n;
}

static uint32_t most_parts(const struct mg_gen *g)
{
    return g->blind && !g->tells ? MG_GEN_BLIND : MG_GEN_PARTS;
}

/* Where lanes part. What would be too long goes without looks at lanes, and then without it at all. */
static bool second_function(struct mg_gen *g)
{
    for (unsigned round = 0; round < 2; round++) {
        const bool blind = g->blind;
        mg__gen_some(g);
        if (g->fn == g->first || g->reason || size_of(g) <= most_parts(g))
            break;
        LLVMDeleteFunction(g->fn);
        g->fn = g->first;
        g->somes.count = 0;
        if (blind)
            break;
        g->blind = true;
    }
    return !g->reason;
}

static void generate(struct mg_gen *g, const uint64_t key[2], struct mg_strbuf *out, struct mg_strbuf *dump)
{
    LLVMMemoryBufferRef object = NULL;
    char *message = NULL;
    g->module = LLVMModuleCreateWithNameInContext("kernel", g->cx);
    char *triple = LLVMGetTargetMachineTriple(g->tm);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(g->tm);
    LLVMSetTarget(g->module, triple);
    LLVMSetModuleDataLayout(g->module, layout);
    LLVMDisposeMessage(triple);
    LLVMDisposeTargetData(layout);
    g->b = LLVMCreateBuilderInContext(g->cx);
    if (!mg__gen_emit(g)) {
        g->reason = g->reason ? g->reason : "memory";
    } else if (size_of(g) > (g->parts ? most_parts(g) : MG_GEN_SIZE)) {
        g->reason = "long";
    } else if (!second_function(g)) {
        g->reason = g->reason ? g->reason : "memory";
    } else if ((!g->quick || dump) && LLVMVerifyModule(g->module, LLVMReturnStatusAction, &message)) {
        g->reason = "verify";
    } else if (optimise(g)) {
        if (g->masks)
            hide_choices_of_bits(g);
        if (LLVMTargetMachineEmitToMemoryBuffer(g->tm, g->module, LLVMObjectFile, NULL, &object) || !object)
            g->reason = "llvm";
        else if (!pack(g, key, object, out))
            g->reason = "memory";
    }
    if (dump) {
        char *text = LLVMPrintModuleToString(g->module);
        mg__strbuf_append(dump, text, strlen(text));
        LLVMDisposeMessage(text);
    }
    LLVMDisposeMessage(message);
    if (object)
        LLVMDisposeMemoryBuffer(object);
    LLVMDisposeBuilder(g->b);
    LLVMDisposeModule(g->module);
}

/* One try. With `whole` only branches whose lanes agree are compiled, with `blind` lanes are not looked at for a line:
 * either makes less code. */
static const char *attempt(const struct mg_engine_program *program, enum mg_engine_effort effort, bool whole,
                           bool blind, const uint64_t key[2], struct mg_strbuf *out, struct mg_strbuf *dump)
{
    const struct maker *by = &makers[effort];
    LLVMContextRef context = by->context;
    struct mg_gen *g = calloc(1, sizeof *g);
    if (!g)
        return "memory";
    g->p = program;
    g->quick = effort == MG_ENGINE_QUICK;
    g->whole = whole;
    g->blind = blind;
    g->masks = masks;
    mg__arena_init(&g->arena);
    g->cx = context;
    g->sem = by->operations;
    g->tm = by->machine;
    g->i1 = LLVMInt1TypeInContext(context);
    g->i8 = LLVMInt8TypeInContext(context);
    g->i16 = LLVMInt16TypeInContext(context);
    g->i32 = LLVMInt32TypeInContext(context);
    g->i64 = LLVMInt64TypeInContext(context);
    g->ptr = LLVMPointerTypeInContext(context, 0);
    if (!mg__gen_analyse(g))
        g->reason = "memory";
    else if (!mg__gen_operations(g, fused))
        g->reason = "llvm";
    else
        generate(g, key, out, dump);
    const char *reason = g->reason;
    mg__vec_free(&g->points);
    mg__vec_free(&g->forms);
    mg__vec_free(&g->opens);
    mg__vec_free(&g->sites);
    mg__vec_free(&g->members);
    mg__vec_free(&g->point_levels);
    mg__vec_free(&g->somes);
    mg__arena_free(&g->arena);
    free(g);
    return reason;
}

extern const char mg_jit_generate_build[];
__attribute__((visibility("default"))) const char mg_jit_generate_build[] = MG_JIT_BUILD;
__attribute__((visibility("default"))) mg_jit_generate mg_jit_generate_kernel;
bool mg_jit_generate_kernel(const struct mg_engine_program *program, enum mg_engine_effort effort,
                            const uint64_t key[2], char **bytes, size_t *size, const char **reason,
                            struct mg_strbuf *dump)
{
    struct mg_strbuf out = {0};
    pthread_mutex_lock(&setting_up);
    bool ready = set_up(reason);
    pthread_mutex_unlock(&setting_up);
    if (!program)
        return ready;
    pthread_mutex_lock(&makers[effort].lock);
    if (program->nops > MG_GEN_OPS) {
        *reason = "long";
    } else if (ending) {
        *reason = "ending";
    } else if (ready) {
        *reason = "long";
        for (unsigned less = effort == MG_ENGINE_QUICK ? 3 : 0; less < 4 && *reason && strcmp(*reason, "long") == 0;
             less++)
            *reason = attempt(program, effort, less & 2, less & 1, key, &out, dump);
    }
    pthread_mutex_unlock(&makers[effort].lock);
    if (*reason) {
        mg__strbuf_free(&out);
        return false;
    }
    *bytes = out.at;
    *size = out.count;
    return true;
}
