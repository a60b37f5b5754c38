/* code.c - a kernel as the device runs it: its instructions with what they take (cost.def), put in the order in which
 * ptxas would issue them within a basic block, and how often each branch went where. It is a function of the program,
 * the launch's size and the counts, and kept for launches that have all of these alike.
 */
#include "time/time_priv.h"

enum { PREDICATED = 7 };

/* ---- what an instruction takes ---- */
enum of { ANY, F64, FLOATS, LONG, WIDE, ROUGH, WIDENS, WAITS, OF_BLOCK };
static const struct cost {
    uint16_t opcode;
    uint8_t of, pipe, slots, interval;
    uint16_t latency;
} costs[] = {
#define COST(op, of, pipe, slots, interval, latency) {MG_OP_##op, of, MG_PIPE_##pipe, slots, interval, latency},
#include "time/cost.def"
};

static bool is_float(uint8_t t)
{
    return t == MG_T_F32 || t == MG_T_F16 || t == MG_T_BF16 || t == MG_T_F16X2 || t == MG_T_BF16X2;
}

static bool fits(const struct mg_ptx_insn *i, enum of of)
{
    uint8_t t = i->ntypes ? i->type[0] : (uint8_t)MG_T_NONE, u = i->ntypes > 1 ? i->type[1] : t;
    unsigned size = mg__ptx_type_size((enum mg_ptx_type)t), from = mg__ptx_type_size((enum mg_ptx_type)u);
    bool floats = is_float(t) || is_float(u) || t == MG_T_F64 || u == MG_T_F64;
    switch (of) {
    case F64:
        return t == MG_T_F64 || u == MG_T_F64;
    case FLOATS:
        return is_float(t);
    case LONG:
        return size == 8 && !floats && !(i->flags & MG_F_WIDE);
    case WIDE:
        return i->flags & MG_F_WIDE;
    case ROUGH:
        return i->flags & (MG_F_APPROX | MG_F_FULL);
    case WAITS:
        return i->sub == MG_SUB_WAIT;
    case OF_BLOCK:
        return i->scope == MG_SCOPE_CTA;
    case WIDENS:
        return !floats && size >= 4 && from >= 4;
    default:
        return true;
    }
}

/* Constant memory at a place that the text names is part of the instruction that needs it, as parameters are. */
static void take_constant(const struct mg_ptx_func *func, const struct mg_ptx_insn *i, struct mg_time_op *op)
{
    const struct mg_ptx_opnd *at = i->nops > 1 ? mg__ptx_op(func, i, 1) : NULL;
    if (!op->access || i->space != MG_SPACE_CONST || at->kind != MG_OPND_ADDR || at->has_reg)
        return;
    op->access = false;
    op->pipe = MG_PIPE_NONE;
    op->slots = op->interval = 0;
    op->latency = 0;
}

/* Constant memory at a place that is the same for all lanes: into a uniform register (ULDC), in the time of an LDC. */
static void take_uniform(struct mg_time_op *op)
{
    op->access = false;
    op->pipe = MG_PIPE_UNIFORM;
    op->slots = 1;
    op->interval = 2;
    op->latency = 30;
}

/* Parameters at places that a register names lie in constant memory. */
static void take_parameter(const struct mg_ptx_func *func, const struct mg_ptx_insn *i, struct mg_time_op *op)
{
    const struct mg_ptx_opnd *at = i->nops > 1 ? mg__ptx_op(func, i, 1) : NULL;
    if (i->access != MG_ACCESSES_LOAD || i->space != MG_SPACE_PARAM || !func->is_entry || at->kind != MG_OPND_ADDR ||
        !at->has_reg)
        return;
    op->access = true;
    op->pipe = MG_PIPE_LSU;
    op->slots = 1;
    op->interval = 2;
    op->latency = 0;
}

/* cp.async and what waits for it. */
static void take_copies(const struct mg_ptx_func *func, const struct mg_ptx_insn *i, struct mg_time_op *op)
{
    bool told = i->sub == MG_SUB_COMMIT_GROUP || i->sub == MG_SUB_WAIT_GROUP || i->sub == MG_SUB_WAIT_ALL;
    if (mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->group != MG_G_MEM || (i->access != MG_ACCESSES_COPY && !told))
        return;
    if (i->sub == MG_SUB_NONE) {
        op->copies = MG_TIME_COPIES_BEGIN;
        return;
    }
    const struct mg_ptx_opnd *n = i->sub == MG_SUB_WAIT_GROUP ? mg__ptx_op(func, i, 0) : NULL;
    op->copies = i->sub == MG_SUB_COMMIT_GROUP ? MG_TIME_COPIES_COMMIT : MG_TIME_COPIES_WAIT;
    op->pending = n && n->kind == MG_OPND_IMM ? (uint8_t)MG_MIN(n->imm, 255u) : 0;
    op->pipe = MG_PIPE_LSU;
    op->slots = 1;
    op->interval = 2;
    op->access = false;
    op->fence = true;
}

bool mg__time_swaps(const struct mg_ptx_insn *i)
{
    return (i->access == MG_ACCESSES_ATOM || i->access == MG_ACCESSES_RED) && i->ntypes &&
           i->space == MG_SPACE_SHARED && (is_float(i->type[0]) || i->type[0] == MG_T_F64);
}

static void take(const struct mg_ptx_insn *i, struct mg_time_op *op)
{
    op->pipe = MG_PIPE_ALU;
    op->slots = 1;
    op->interval = 2;
    op->latency = 6;
    op->barrier = i->effects & MG_E_SYNCS && i->opcode == MG_OP_BAR;
    op->access = mg__ptx_accesses(i);
    op->fence = i->effects & (MG_E_SYNCS | MG_E_WARP | MG_E_ORDERS | MG_E_CALLS | MG_E_TRAPS | MG_E_ENDS) ||
                i->access == MG_ACCESSES_ATOM || i->access == MG_ACCESSES_RED || i->access == MG_ACCESSES_COPY;
    op->orders = op->access && i->sem >= MG_PTX_SEM_ACQUIRE && i->sem <= MG_PTX_SEM_SC;
    op->floats = i->ntypes && (is_float(i->type[0]) || i->type[0] == MG_T_F64);
    op->swaps = mg__time_swaps(i);
    if (op->access) {
        op->pipe = MG_PIPE_LSU;
        op->latency = 0;
    } else if (i->access != MG_ACCESSES_NONE || mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->group == MG_G_MISC) {
        op->pipe = MG_PIPE_NONE; /* parameters are constants to ptxas */
        op->slots = op->interval = 0;
        op->latency = 0;
    }
    for (size_t k = 0; k < MG_COUNT(costs); k++)
        if (costs[k].opcode == i->opcode && fits(i, (enum of)costs[k].of)) {
            op->pipe = costs[k].pipe;
            op->slots = costs[k].slots;
            op->interval = costs[k].interval;
            op->latency = costs[k].latency;
            break;
        }
    op->membar = op->pipe == MG_PIPE_CONTROL && i->effects & MG_E_ORDERS && i->scope != MG_SCOPE_CTA;
}

/* ---- the functions of a launch ---- */
static const struct mg_time_function *function_of(const struct mg_time_builder *b, const struct mg_ptx_func *func)
{
    for (size_t i = 0; i < b->nfunctions; i++)
        if (b->functions[i].func == func)
            return &b->functions[i];
    return NULL;
}

static bool find_functions(struct mg_time_builder *b)
{
    const struct mg_launch_info *info = b->info;
    uint32_t blocks = 0, regs = 0;
    for (uint32_t i = 0; i < info->ninsns;) {
        const struct mg_ptx_func *func = info->insns[i].func;
        if (!func || info->insns[i].insn != func->insns || info->ninsns - i < func->ninsns)
            return false;
        struct mg_time_function *f = &b->functions[b->nfunctions];
        *f = (struct mg_time_function){.func = func, .base = i, .block = blocks, .reg = regs};
        if (mg__cfg_build(func, &f->cfg) != MG_OK)
            return false;
        b->nfunctions++;
        blocks += f->cfg->nblocks;
        regs += (uint32_t)func->nregs;
        i += (uint32_t)func->ninsns;
    }
    b->code->nblocks = blocks;
    b->code->nregs = regs;
    return blocks > 0;
}

/* ---- ops and blocks ---- */
static void add_regs(struct mg_time_builder *b, const struct mg_time_function *f, const struct mg_ptx_insn *insn,
                     struct mg_time_op *op)
{
    uint32_t reg;
    bool written, elsewhere = op->access && b->made && mg__model_made_elsewhere(b->made, op->insn);
    op->regs = b->nregs_used;
    for (int pass = 0; pass < 2; pass++) {
        struct mg_flow_walk walk = {.func = f->func, .insn = insn};
        while (mg__flow_next(&walk, &reg, &written)) {
            if (written != (pass == 1))
                continue;
            b->code->regs[b->nregs_used++] = f->reg + reg;
            *(pass ? &op->writes : &op->reads) += 1;
        }
        if (!pass && elsewhere && b->wide != UINT32_MAX) {
            b->code->regs[b->nregs_used++] = b->wide;
            op->reads++;
        }
    }
    if (elsewhere) { /* its result comes with another one's */
        op->pipe = MG_PIPE_NONE;
        op->slots = op->interval = 0;
        op->access = false;
    } else if (op->access && b->made && op->writes && mg__model_made_joined(b->made, op->insn)) {
        b->wide = b->code->regs[op->regs + op->reads];
    }
}

static uint32_t count_regs(const struct mg_time_builder *b)
{
    uint32_t n = 0, reg;
    bool written;
    for (uint32_t i = 0; i < b->info->ninsns; i++) {
        struct mg_flow_walk walk = {.func = b->info->insns[i].func, .insn = b->info->insns[i].insn};
        while (mg__flow_next(&walk, &reg, &written))
            n++;
        n++; /* what add_regs adds */
    }
    return n;
}

static uint32_t called(const struct mg_time_builder *b, const struct mg_time_function *f,
                       const struct mg_ptx_insn *insn)
{
    for (unsigned k = 0; insn->effects & MG_E_CALLS && k < insn->nops; k++) {
        const struct mg_ptx_opnd *o = mg__ptx_op(f->func, insn, k);
        const struct mg_time_function *to = o->kind == MG_OPND_FUNC ? function_of(b, o->func) : NULL;
        if (to)
            return to->block;
    }
    return UINT32_MAX;
}

/* A branch over a few instructions: ptxas gives them a predicate instead. */
static bool predicated(const struct mg_time_function *f, uint32_t at)
{
    const struct mg_cfg_block *c = &f->cfg->blocks[at], *over;
    if (c->nsucc != 2 || at + 2 >= f->cfg->nblocks || (c->succ[0] != at + 2 && c->succ[1] != at + 2))
        return false;
    over = &f->cfg->blocks[at + 1];
    if (over->end - over->first > PREDICATED || over->npred != 1 || over->nsucc != 1)
        return false;
    for (uint32_t i = over->first; i < over->end; i++)
        if (f->func->insns[i].effects & (MG_E_SYNCS | MG_E_CALLS | MG_E_ENDS))
            return false;
    return true;
}

void mg__time_shape(const struct mg_time_builder *b, const struct mg_time_function *f, uint32_t at)
{
    const struct mg_cfg_block *c = &f->cfg->blocks[at];
    const struct mg_ptx_insn *last = &f->func->insns[c->end - 1];
    struct mg_time_block *block = &b->code->blocks[f->block + at];
    if (b->code->native) {
        *block = (struct mg_time_block){.first = c->first, .end = c->end};
    }
    block->nsucc = MG_MIN(c->nsucc, 2u);
    block->ipdom = c->ipdom != MG_CFG_EXIT ? f->block + c->ipdom : UINT32_MAX;
    for (uint32_t k = 0; k < block->nsucc; k++)
        block->succ[k] = f->block + c->succ[k];
    double n = mg__time_executed(b, f, at);
    block->once = n <= b->warps * 1.0001;
    block->returns = last->opcode == MG_OP_RET;
    if (block->nsucc == 2)
        mg__time_ways(b, f, at, block);
    else if (block->nsucc == 1 && last->effects & MG_E_LEAVES && f->cfg->blocks[c->succ[0]].npred == 1 && n > 0)
        block->rare = MG_MAX(1 - mg__time_executed(b, f, c->succ[0]) / n, 0.0);
}

static void add_block(struct mg_time_builder *b, const struct mg_time_function *f, uint32_t at)
{
    struct mg_time_code *code = b->code;
    const struct mg_cfg_block *c = &f->cfg->blocks[at];
    struct mg_time_block *block = &code->blocks[f->block + at];
    *block = (struct mg_time_block){.first = code->nops};
    b->wide = UINT32_MAX;
    for (uint32_t i = c->first; i < c->end; i++) {
        const struct mg_ptx_insn *insn = &f->func->insns[i];
        struct mg_time_op *op = &code->ops[code->nops++];
        *op = (struct mg_time_op){.insn = f->base + i, .call = called(b, f, insn)};
        take(insn, op);
        take_constant(f->func, insn, op);
        take_parameter(f->func, insn, op);
        take_copies(f->func, insn, op);
        if (b->uniform && b->uniform[i])
            take_uniform(op);
        add_regs(b, f, insn, op);
    }
    block->end = code->nops;
    if (predicated(f, at))
        code->ops[code->nops - 1].pipe = MG_PIPE_NONE;
    mg__time_shape(b, f, at);
}

static bool fill(struct mg_time_builder *b)
{
    struct mg_time_code *code = b->code;
    const struct mg_launch_info *info = b->info;
    size_t copies = 1 + MG_TIME_UNROLLED;
    code->ops = mg__arena_array(&code->arena, copies * info->ninsns + 1, sizeof(*code->ops));
    code->regs = mg__arena_array(&code->arena, copies * count_regs(b) + 1, sizeof(*code->regs));
    code->blocks = mg__arena_array(&code->arena, (size_t)code->nblocks + 1, sizeof(*code->blocks));
    if (!code->ops || !code->regs || !code->blocks)
        return false;
    uint32_t threads = info->block.x * info->block.y * info->block.z;
    b->warps = (double)((threads + 31) / 32) * info->grid.x * info->grid.y * info->grid.z;
    for (size_t i = 0; i < b->nfunctions; i++) {
        bool *uniform;
        const bool known = mg__time_uniform(b->functions[i].func, &uniform);
        b->uniform = uniform;
        for (uint32_t k = 0; known && k < b->functions[i].cfg->nblocks; k++)
            add_block(b, &b->functions[i], k);
        b->uniform = NULL;
        free(uniform);
        if (!known || !mg__time_rounds(b, &b->functions[i]))
            return false;
    }
    mg__time_locks(b);
    return mg__time_fuse(b) && mg__time_unroll(b) && mg__time_order(code, info);
}

struct mg_time_code *mg__time_code(const struct mg_launch_info *info, const struct mg_insn_counts *counts,
                                   const struct mg_model_made *made, const struct mg_time_native *native)
{
    struct mg_time_code *code = calloc(1, sizeof(*code));
    struct mg_time_builder b = {.info = info, .counts = counts, .made = made, .code = code};
    b.functions = calloc((size_t)info->ninsns + 1, sizeof(*b.functions));
    if (code)
        mg__arena_init(&code->arena);
    bool good = code && b.functions && find_functions(&b) && fill(&b);
    struct mg_time_code *better = good && native ? mg__time_native_code(&b, native) : NULL;
    for (size_t i = 0; b.functions && i < b.nfunctions; i++)
        mg__cfg_free(b.functions[i].cfg);
    free(b.functions);
    if (!good) {
        mg__time_code_free(code);
        return NULL;
    }
    if (better)
        mg__time_code_free(code);
    return better ? better : code;
}

void mg__time_code_free(struct mg_time_code *code)
{
    if (code && code->others) {
        code->others--;
        return;
    }
    if (code)
        mg__arena_free(&code->arena);
    free(code);
}

/* ---- code of launches before ---- */
static bool same_size(const struct mg_dim3 *a, const struct mg_dim3 *b)
{
    return a->x == b->x && a->y == b->y && a->z == b->z;
}

static void drop(struct mg_time_code_of *of)
{
    mg__time_code_free(of->code);
    free(of->counts);
    *of = (struct mg_time_code_of){.code = NULL};
}

struct mg_time_code *mg__time_code_again(struct mg_time_codes *codes, const struct mg_launch_info *info,
                                         const struct mg_insn_counts *counts, const struct mg_model_made *made,
                                         const struct mg_time_native *native)
{
    const size_t bytes = info->ninsns * sizeof(*counts);
    const void *words = native ? native->words : NULL;
    for (unsigned i = 0; info->program && i < MG_TIME_CODES; i++) {
        const struct mg_time_code_of *of = &codes->at[i];
        if (of->code && of->program == info->program && of->native == words && same_size(&of->grid, &info->grid) &&
            same_size(&of->block, &info->block) && !memcmp(of->counts, counts, bytes)) {
            of->code->others++;
            return of->code;
        }
    }
    struct mg_time_code *code = mg__time_code(info, counts, made, native);
    struct mg_insn_counts *copy = info->program && code ? malloc(bytes) : NULL;
    if (copy) {
        struct mg_time_code_of *of = &codes->at[codes->next++ % MG_TIME_CODES];
        memcpy(copy, counts, bytes);
        drop(of);
        *of = (struct mg_time_code_of){info->program, info->grid, info->block, words, copy, code};
        code->others++;
    }
    return code;
}

void mg__time_codes_forget(struct mg_time_codes *codes)
{
    for (unsigned i = 0; i < MG_TIME_CODES; i++)
        drop(&codes->at[i]);
}
