/* lower.c - from parsed PTX to what the interpreter runs: one kernel and all functions that it may call.
 *
 * Every register gets a slot in its function's frame, every immediate one behind them, and every instruction becomes
 * one handler or a few (lower_insn.c). A basic block starts with an op that counts it; instructions are not counted one
 * by one, because all of a block, or of the part of it between two calls, execute as often as its first.
 *
 * Shared variables that the kernel or its callees name are laid out by declaration order and alignment; dynamic shared
 * memory follows them.
 */
#include <assert.h>

#include "simt/lower.h"

static const char *const system_names[] = {[MG_SYS_VPRINTF] = "vprintf",
                                           [MG_SYS_ASSERTFAIL] = "__assertfail",
                                           [MG_SYS_MALLOC] = "malloc",
                                           [MG_SYS_FREE] = "free",
                                           [MG_SYS_CONDITION] = "cudaGraphSetConditional"};

enum mg_system_call mg__system_find(const char *name)
{
    for (unsigned i = 1; i < MG_COUNT(system_names); i++)
        if (strcmp(name, system_names[i]) == 0)
            return (enum mg_system_call)i;
    return MG_SYS_NONE;
}

bool mg__simt_provides(const char *function)
{
    return mg__system_find(function) != MG_SYS_NONE;
}

uint32_t mg__lower_new_slot(struct mg_lower *L, unsigned bytes)
{
    uint32_t align = bytes <= 4 ? 4 : 64, at = (L->frame_bytes + align - 1) / align * align;
    L->frame_bytes = at + bytes;
    return at;
}

int32_t mg__lower_const(struct mg_lower *L, uint64_t value, bool wide)
{
    uint64_t key[2] = {wide ? value : (uint32_t)value, wide};
    void *hit = mg__strtab_get(&L->pool_index, (const char *)key, sizeof key);
    if (hit)
        return (int32_t)((intptr_t)hit - 1);
    size_t at = L->pool.count, bytes = wide ? 256 : 128;
    while (L->pool.count < at + bytes) {
        uint64_t unit = wide ? value : (uint32_t)value | (uint64_t)(uint32_t)value << 32;
        if (!mg__strbuf_append(&L->pool, (const char *)&unit, 8)) {
            L->status = MG_ERR_NOMEM;
            return 1;
        }
    }
    int32_t operand = (int32_t)at | 1;
    if (!mg__strtab_put(&L->pool_index, (const char *)key, sizeof key, (void *)((intptr_t)operand + 1)))
        L->status = MG_ERR_NOMEM;
    return operand;
}

int32_t mg__lower_fill(struct mg_lower *L, struct mg_fill fill)
{
    static const uint8_t zero[256];
    for (size_t i = 0; i < L->fills.count; i++) {
        const struct mg_fill *f = &L->fills.at[i];
        if (f->kind == fill.kind && f->bytes == fill.bytes && f->dim == fill.dim && f->sreg == fill.sreg &&
            f->offset == fill.offset)
            return f->slot;
    }
    fill.slot = (int32_t)L->pool.count | 1;
    if (!mg__strbuf_append(&L->pool, (const char *)zero, fill.bytes == 8 ? 256 : 128) || !mg__vec_push(&L->fills, fill))
        L->status = MG_ERR_NOMEM;
    return fill.slot;
}

struct mg_op *mg__lower_op_bare(struct mg_lower *L, enum mg_op_id id, unsigned nout, const struct mg_engine_operand *of,
                                unsigned n)
{
    assert(mg__op_fits(id, of, nout, n));
    struct mg_op op = {.insn = L->insn_index};
    op.is = mg__arena_alloc(&L->program->arena, sizeof *op.is + n * sizeof *of);
    if (!op.is || !mg__vec_push(&L->ops, op)) {
        L->status = MG_ERR_NOMEM;
        return &L->spare;
    }
    op.is->id = (uint16_t)id;
    op.is->nout = (uint16_t)nout;
    op.is->nin = (uint16_t)(n - nout);
    if (n)
        memcpy(op.is->of, of, n * sizeof *of);
    return &L->ops.at[L->ops.count - 1];
}

struct mg_op *mg__lower_op(struct mg_lower *L, enum mg_op_id id, unsigned nout, const struct mg_engine_operand *of,
                           unsigned n)
{
    if (L->only >= 0)
        mg__lower_op_bare(L, MG_DO_GUARD, 0, MG_OPERANDS(MG_PRED(L->only)))->invert = 0;
    else if (L->insn->guard >= 0)
        mg__lower_op_bare(L, MG_DO_GUARD, 0, MG_OPERANDS(MG_PRED(L->slots[L->insn->guard])))->invert =
            L->insn->guard_negate ? ~0u : 0;
    return mg__lower_op_bare(L, id, nout, of, n);
}

void mg__lower_copy(struct mg_lower *L, unsigned bytes, int32_t to, int32_t from)
{
    if (bytes == 8)
        mg__lower_op(L, MG_DO_MOV64, 1, MG_OPERANDS(MG_LONG(to), MG_LONG(from)));
    else
        mg__lower_op(L, MG_DO_MOV32, 1, MG_OPERANDS(MG_WORD(to), MG_WORD(from)));
}

/* ---- which functions and variables take part ---- */
static bool add_function(struct mg_program *p, const struct mg_ptx_module *ptx, const struct mg_ptx_func *f)
{
    for (uint32_t i = 0; i < p->ncodes; i++)
        if (p->codes[i]->func == f)
            return true;
    if (!p->codes)
        p->codes = mg__arena_array(&p->arena, ptx->nfuncs, sizeof *p->codes);
    struct mg_code *code = mg__arena_alloc(&p->arena, sizeof *code);
    if (!code || !p->codes)
        return false;
    code->func = f;
    code->id = p->ncodes;
    p->codes[p->ncodes++] = code;
    return true;
}

static bool reach(struct mg_program *p, const struct mg_ptx_module *ptx)
{
    for (uint32_t c = 0; c < p->ncodes; c++) {
        const struct mg_ptx_func *f = p->codes[c]->func;
        for (size_t i = 0; i < f->ninsns; i++) {
            if (!(f->insns[i].effects & MG_E_CALLS))
                continue;
            const struct mg_ptx_opnd *target = mg__ptx_op(f, &f->insns[i], 1);
            if (target->kind == MG_OPND_FUNC && target->func->defined && !add_function(p, ptx, target->func))
                return false;
            if (target->kind == MG_OPND_FUNC || p->indirect)
                continue;
            p->indirect = true; /* any function of the module may be meant */
            for (size_t k = 0; k < ptx->nfuncs; k++)
                if (ptx->funcs[k]->defined && !ptx->funcs[k]->is_entry && !ptx->funcs[k]->copy_of &&
                    !add_function(p, ptx, ptx->funcs[k]))
                    return false;
        }
    }
    return true;
}

static bool layout_shared(struct mg_lower *L)
{
    struct mg_program *p = L->program;
    const struct mg_ptx_module *ptx = L->module->ptx;
    const struct mg_ptx_func **funcs = mg__arena_array(&p->arena, p->ncodes, sizeof *funcs);
    struct mg_flow_shared s = {0};
    L->shared_at = mg__arena_array(&p->arena, ptx->nvars + 1, sizeof *L->shared_at);
    p->shared_vars = mg__arena_array(&p->arena, ptx->nvars + 1, sizeof *p->shared_vars);
    for (uint32_t c = 0; funcs && c < p->ncodes; c++)
        funcs[c] = p->codes[c]->func;
    bool good = funcs && L->shared_at && p->shared_vars && mg__flow_shared(ptx, funcs, p->ncodes, &s);
    if (good && s.size > UINT32_MAX / 2) {
        mg__diag_set(&p->error, MG_ERR_LAUNCH_LIMIT, "the kernel's shared variables have more than 2 GB");
    } else if (good) {
        for (size_t i = 0; i < ptx->nvars; i++)
            L->shared_at[i] = (uint32_t)s.at[i];
        for (size_t k = 0; k < s.count; k++) {
            const struct mg_ptx_var *v = s.order[k];
            p->shared_vars[p->nshared_vars++] =
                (struct mg_shared_var){v->name, v, (uint32_t)s.at[v->id], (uint32_t)v->size};
        }
        p->shared_static = (uint32_t)s.size;
        p->shared_section = (uint32_t)s.section;
    }
    p->dynamic_align = s.dynamic_align;
    mg__flow_shared_free(&s);
    return good;
}

/* ---- one function ---- */
static uint32_t place(uint32_t *top, uint64_t size, uint32_t align)
{
    align = MG_MAX(align, 1);
    uint32_t at = (*top + align - 1) / align * align;
    *top = at + (uint32_t)size;
    return at;
}

/* Builds for tests hold every function's slots to what they have to be; so does any build that is asked to. */
static bool slots_are_checked(void)
{
#if !defined(NDEBUG) || defined(MG_CHECK_SLOTS)
    return true;
#else
    const char *asked = getenv("MARGAY_CHECK_SLOTS");
    return asked && *asked && strcmp(asked, "0") != 0;
#endif
}

static void check_slots(struct mg_lower *L)
{
    struct mg_strbuf why = {0};
    if (slots_are_checked() && !mg__check_slots(L, &why))
        mg__diag_set(&L->program->error, MG_ERR_INTERNAL,
                     "the slots of %s's registers are wrong, which is a defect of Margay; %s", L->func->name,
                     why.at ? why.at : "");
    mg__strbuf_free(&why);
}

/* Of arguments and results: in words of their own, so that a call copies words. */
static uint32_t place_param(uint32_t *top, const struct mg_ptx_var *v)
{
    return place(top, (v->size + 3) & ~3ull, MG_MAX(v->align, 4));
}

static bool layout_frame(struct mg_lower *L)
{
    const struct mg_ptx_func *f = L->func;
    struct mg_arena *a = &L->program->arena;
    struct mg_code *code = L->code;
    L->frame_bytes = 0;
    L->slots = mg__arena_array(a, f->nregs + 1, sizeof *L->slots);
    L->skip = mg__arena_array(a, f->ninsns + 1, sizeof *L->skip);
    if (!L->slots || !L->skip)
        return false;
    L->only = -1;
    L->carry = (int32_t)mg__lower_new_slot(L, 4);
    for (unsigned i = 0; i < MG_COUNT(L->temp_pred); i++)
        L->temp_pred[i] = (int32_t)mg__lower_new_slot(L, 4);
    for (unsigned i = 0; i < MG_COUNT(L->temp); i++)
        L->temp[i] = (int32_t)mg__lower_new_slot(L, 256);
    for (unsigned i = 0; i < MG_COUNT(L->quad); i++)
        L->quad[i] = -1;
    if (!mg__assign_slots(L) || L->frame_bytes > 256u << 20)
        return false;
    check_slots(L);
    size_t nvars = L->module->ptx->nvars;
    memset(L->var_at, 0, nvars * sizeof *L->var_at);
    uint32_t params = 0, locals = 0;
    uint32_t *offsets = mg__arena_array(a, 2 * (f->nparams + f->nrets) + 1, sizeof *offsets);
    if (!offsets)
        return false;
    if (!f->is_entry) {
        code->nformal = (uint32_t)f->nparams;
        code->nret = (uint32_t)f->nrets;
        uint32_t *formal = offsets, *formal_sizes = formal + f->nparams, *ret = formal_sizes + f->nparams,
                 *ret_sizes = ret + f->nrets;
        for (size_t i = 0; i < f->nparams; i++) {
            formal[i] = L->var_at[f->params[i]->id] = place_param(&params, f->params[i]);
            formal_sizes[i] = (uint32_t)f->params[i]->size;
        }
        for (size_t i = 0; i < f->nrets; i++) {
            ret[i] = L->var_at[f->rets[i]->id] = place_param(&params, f->rets[i]);
            ret_sizes[i] = (uint32_t)f->rets[i]->size;
        }
        code->formal = formal;
        code->formal_sizes = formal_sizes;
        code->ret = ret;
        code->ret_sizes = ret_sizes;
    }
    for (size_t i = 0; i < f->nvars; i++) {
        const struct mg_ptx_var *v = f->vars[i];
        if (v->size > 16u << 20)
            return false;
        if (v->space == MG_SPACE_PARAM)
            L->var_at[v->id] = place_param(&params, v);
        else if (v->space == MG_SPACE_LOCAL)
            L->var_at[v->id] = place(&locals, v->size, v->align);
    }
    code->param_bytes = (params + 15) & ~15u;
    code->local_bytes = (locals + 15) & ~15u;
    code->stack_bytes = mg__stack_frame(code->func, locals);
    return true;
}

static uint32_t begin_segment(struct mg_lower *L)
{
    struct mg_segment s = {.first_insn = L->insn_index};
    if (!mg__vec_push(&L->segments, s))
        L->status = MG_ERR_NOMEM;
    return (uint32_t)L->segments.count - 1;
}

static void emit_block(struct mg_lower *L, bool join)
{
    struct mg_op *op = mg__lower_op_bare(L, join ? MG_DO_BLOCK_JOIN : MG_DO_BLOCK, 0, NULL, 0);
    op->mode = begin_segment(L);
    L->nleads = 0;
}

/* A loop begins where some branch goes back to, wherever its other ways lead; and a recursion where its function does.
 */
static void mark_loop(const struct mg_lower *L, const struct mg_op *target)
{
    struct mg_op *op = &L->code->ops[target - L->code->ops];
    op->is->id = op->is->id == MG_DO_BLOCK ? MG_DO_LOOP : op->is->id == MG_DO_BLOCK_JOIN ? MG_DO_LOOP_JOIN : op->is->id;
    op->fn = mg__op_handler(L->lanes, op);
}

static void mark_loops(const struct mg_lower *L)
{
    const struct mg_code *code = L->code;
    if (!code->func->is_entry)
        mark_loop(L, code->ops);
    for (uint32_t i = 0; i < code->nops; i++) {
        const struct mg_op *op = &code->ops[i];
        if (mg__op_rows[op->is->id].kind == MG_ENGINE_BRANCH && op->u.target <= op)
            mark_loop(L, op->u.target);
        for (size_t k = 0; op->is->id == MG_DO_BRX && k < op->u.table->count; k++)
            if (op->u.table->targets[k] <= op)
                mark_loop(L, op->u.table->targets[k]);
    }
}

/* Constants are known by odd numbers until the registers' room is: now they get their slots behind the registers. */
static void settle(const struct mg_code *code, int32_t *operand)
{
    if (*operand >= 0 && *operand & 1)
        *operand = (int32_t)code->pool_at + (*operand & ~1);
}

static bool place_pool(struct mg_lower *L)
{
    struct mg_code *code = L->code;
    code->pool_at = (L->frame_bytes + 63) & ~63u;
    code->pool_bytes = (uint32_t)L->pool.count;
    code->frame_bytes = code->pool_at + code->pool_bytes;
    uint8_t *pool = mg__arena_alloc_aligned(&L->program->arena, L->pool.count + 1, 64);
    if (!pool)
        return false;
    if (L->pool.count)
        memcpy(pool, L->pool.at, L->pool.count);
    code->pool = pool;
    for (size_t i = 0; i < L->ops.count; i++) {
        struct mg_op *op = &L->ops.at[i];
        for (unsigned k = 0; k < op->is->nout + op->is->nin; k++)
            settle(code, &op->is->of[k].slot);
        mg__op_finish(op, L->lanes);
    }
    for (size_t i = 0; i < L->mems.count; i++) {
        settle(code, &L->mems.at[i]->addr);
        for (unsigned k = 0; k < MG_COUNT(L->mems.at[i]->reg); k++) {
            settle(code, &L->mems.at[i]->reg[k]);
            settle(code, &L->mems.at[i]->with[k]);
        }
    }
    code->fills = mg__arena_array(&L->program->arena, L->fills.count + 1, sizeof *code->fills);
    if (!code->fills)
        return false;
    for (size_t i = 0; i < L->fills.count; i++) {
        code->fills[i] = L->fills.at[i];
        settle(code, &code->fills[i].slot);
    }
    code->nfills = (uint32_t)L->fills.count;
    for (size_t r = 0; r < L->func->nregs; r++)
        settle(code, &L->slots[r]);
    code->slots = L->slots;
    mg__lower_forms(L);
    return true;
}

/* The block that begins at the label, or the end. */
static uint32_t block_of(const struct mg_lower *L, uint32_t label)
{
    return label < L->func->ninsns ? L->cfg->block_of[label] : L->cfg->nblocks;
}

/* How often each register is read. */
static bool count_reads(struct mg_lower *L)
{
    const struct mg_ptx_func *f = L->func;
    L->reads = mg__arena_array(&L->program->arena, f->nregs + 1, sizeof *L->reads);
    if (!L->reads)
        return false;
    for (size_t i = 0; i < f->noperands; i++)
        if (f->operands[i].kind == MG_OPND_REG || (f->operands[i].kind == MG_OPND_ADDR && f->operands[i].has_reg))
            L->reads[f->operands[i].index]++;
    for (size_t i = 0; i < f->ninsns; i++)
        if (f->insns[i].guard >= 0)
            L->reads[f->insns[i].guard]++;
    return true;
}

/* The ops of all blocks, one after the other; block_op: where each block's begin, and behind them the end. */
static void lower_blocks(struct mg_lower *L, uint32_t insn_base, uint32_t *block_op)
{
    const struct mg_ptx_func *f = L->func;
    const struct mg_cfg *cfg = L->cfg;
    L->ops.count = 0;
    L->fixups.count = 0;
    L->mems.count = 0;
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        block_op[b] = (uint32_t)L->ops.count;
        L->block = b;
        L->insn_index = insn_base + cfg->blocks[b].first;
        emit_block(L, cfg->blocks[b].reconverges || cfg->blocks[b].leaves);
        for (uint32_t i = cfg->blocks[b].first; i < cfg->blocks[b].end && L->status == MG_OK; i++) {
            L->insn_index = insn_base + i;
            L->insn = &f->insns[i];
            L->segments.at[L->segments.count - 1].ninsns++;
            if (!L->skip[i] && !mg__lower_fused(L, i))
                mg__lower_insn(L);
            mg__lower_close_leads(L);
            if (f->insns[i].effects & MG_E_CALLS) {
                L->insn_index++;
                emit_block(L, true);
            }
        }
    }
    /* Running off the end returns. */
    L->insn_index = f->ninsns ? insn_base + (uint32_t)f->ninsns - 1 : insn_base;
    block_op[cfg->nblocks] = (uint32_t)L->ops.count;
    mg__lower_op_bare(L, MG_DO_RET, 0, NULL, 0);
}

/* Branches get the ops that they go to, where their lanes meet (d2), and before (e, whose level is in c). Blocks get
 * what is left of regions where lanes come out of some (a), and whether a branch's meet there before others (b). */
static void link_ops(struct mg_lower *L, const uint32_t *block_op)
{
    const struct mg_cfg *cfg = L->cfg;
    struct mg_op *ops = L->code->ops;
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        ops[block_op[b]].a = cfg->blocks[b].leaves ? (int32_t)cfg->blocks[b].depth : -1;
    for (size_t k = 0; k < L->fixups.count; k++) {
        const struct mg_fixup *x = &L->fixups.at[k];
        struct mg_op *op = &ops[x->op];
        const uint32_t meet = cfg->blocks[x->block].meet, inner = cfg->blocks[x->block].inner;
        op->d2 = meet == MG_CFG_EXIT ? -1 : (int32_t)block_op[meet];
        op->e = inner == MG_CFG_EXIT ? -1 : (int32_t)block_op[inner];
        op->c = (int32_t)cfg->blocks[x->block].depth + 1;
        if (op->e >= 0)
            ops[op->e].b = 1;
        for (size_t i = 0; x->table && i < x->table->count; i++)
            x->table->targets[i] = &ops[block_op[block_of(L, x->labels[i])]];
        if (!x->table)
            op->u.target = &ops[block_op[block_of(L, x->label)]];
    }
}

static bool lower_function(struct mg_lower *L, uint32_t insn_base)
{
    struct mg_code *code = L->code;
    struct mg_cfg *cfg;
    bool good = false;
    if (mg__cfg_build(L->func, &cfg) != MG_OK)
        return false;
    L->pool.count = 0;
    L->fills.count = 0;
    mg__strtab_init(&L->pool_index, &L->program->arena);
    L->cfg = cfg;
    if (!mg__fuse(L))
        goto done;
    if (!layout_frame(L)) {
        mg__diag_set(&L->program->error, MG_ERR_UNSUPPORTED, "the function %s is too large to be simulated",
                     L->func->name);
        good = true;
        goto done;
    }
    uint32_t *block_op = mg__arena_array(&L->program->arena, cfg->nblocks + 1, sizeof *block_op);
    if (!block_op || !count_reads(L))
        goto done;
    lower_blocks(L, insn_base, block_op);
    code->nops = (uint32_t)L->ops.count;
    code->ops = mg__arena_array(&L->program->arena, code->nops, sizeof *code->ops);
    if (!place_pool(L) || !code->ops || L->status != MG_OK)
        goto done;
    memcpy(code->ops, L->ops.at, code->nops * sizeof *code->ops);
    link_ops(L, block_op);
    mark_loops(L);
    good = true;
done:
    mg__cfg_free(cfg);
    return good;
}

static bool gather_insns(struct mg_program *p, const struct mg_ptx_module *ptx)
{
    uint64_t total = 0;
    for (uint32_t c = 0; c < p->ncodes; c++)
        total += p->codes[c]->func->ninsns;
    if (total >= UINT32_MAX)
        return false;
    p->insns = mg__arena_array(&p->arena, total + 1, sizeof *p->insns);
    if (!p->insns)
        return false;
    for (uint32_t c = 0; c < p->ncodes; c++) {
        const struct mg_ptx_func *f = p->codes[c]->func;
        for (size_t i = 0; i < f->ninsns; i++) {
            struct mg_ptx_place place = mg__ptx_place(ptx, f->insns[i].loc);
            p->insns[p->ninsns++] = (struct mg_insn_info){f, &f->insns[i], place.file, place.line};
        }
    }
    return true;
}

enum mg_status mg__lower(struct mg_simt_module *module, const struct mg_ptx_func *kernel, bool watched,
                         struct mg_program **program)
{
    struct mg_program *p = calloc(1, sizeof *p);
    if (!p)
        return MG_ERR_NOMEM;
    mg__arena_init(&p->arena);
    p->kernel = kernel;
    p->number = atomic_fetch_add(&module->simt->programs, 1) + 1;
    struct mg_lower L = {.module = module, .program = p, .lanes = module->simt->lanes, .watched = watched};
    enum mg_status status = MG_ERR_NOMEM;
    L.var_at = mg__arena_array(&p->arena, module->ptx->nvars + 1, sizeof *L.var_at);
    if (!L.var_at || !add_function(p, module->ptx, kernel) || !reach(p, module->ptx) || !gather_insns(p, module->ptx) ||
        !layout_shared(&L))
        goto fail;
    p->entry = p->codes[0];
    uint32_t base = 0;
    for (uint32_t c = 0; c < p->ncodes && p->error.status == MG_OK; c++) {
        L.code = p->codes[c];
        L.func = L.code->func;
        if (!lower_function(&L, base))
            goto fail;
        base += (uint32_t)L.func->ninsns;
        L.code->first_op = p->nops;
        p->nops += L.code->nops;
    }
    p->segments = mg__arena_array(&p->arena, L.segments.count + 1, sizeof *p->segments);
    if (!p->segments || L.status != MG_OK)
        goto fail;
    if (L.segments.count)
        memcpy(p->segments, L.segments.at, L.segments.count * sizeof *p->segments);
    p->nsegments = (uint32_t)L.segments.count;
    if (p->error.status == MG_OK && !mg__stack_measure(p))
        goto fail;
    status = MG_OK;
fail:
    mg__vec_free(&L.ops);
    mg__vec_free(&L.segments);
    mg__vec_free(&L.fixups);
    mg__vec_free(&L.mems);
    mg__vec_free(&L.fills);
    mg__strbuf_free(&L.pool);
    if (status != MG_OK) {
        mg__program_free(p);
        p = NULL;
    }
    *program = p;
    return status;
}

void mg__program_free(struct mg_program *program)
{
    if (!program)
        return;
    mg__arena_free(&program->arena);
    free(program);
}
