/* lower_insn.c - one PTX instruction becomes one op or a few. Which function does it is said by its row in isa.def;
 * here are those of control flow, warps, barriers and the stack. Arithmetic is in lower_alu.c, memory in lower_mem.c.
 */
#include "simt/lower.h"

/* ---- control ---- */
static void fixup(struct mg_lower *L, uint32_t label, struct mg_switch *table, const uint32_t *labels)
{
    struct mg_fixup x = {(uint32_t)L->ops.count - 1, L->block, label, table, labels};
    if (!mg__vec_push(&L->fixups, x))
        L->status = MG_ERR_NOMEM;
}

static struct mg_engine_operand own_guard(const struct mg_lower *L)
{
    return (struct mg_engine_operand)MG_PRED(L->insn->guard >= 0 ? L->slots[L->insn->guard] : -1);
}

/* An op whose handler looks at the instruction's guard itself. */
static struct mg_op *guarded(struct mg_lower *L, enum mg_op_id id)
{
    struct mg_op *op = mg__lower_op_bare(L, id, 0, MG_OPERANDS(own_guard(L)));
    op->invert = L->insn->guard_negate ? ~0u : 0;
    return op;
}

void mg__lower_call(struct mg_lower *L)
{
    const struct mg_ptx_func *f = L->func;
    const struct mg_ptx_opnd *rets = mg__lower_opnd(L, 0), *target = mg__lower_opnd(L, 1), *args = mg__lower_opnd(L, 2);
    struct mg_callsite *site = mg__arena_alloc(&L->program->arena, sizeof *site);
    uint32_t *numbers = mg__arena_array(&L->program->arena, 2 * (rets->count + args->count) + 1, sizeof *numbers);
    if (!site || !numbers) {
        L->status = MG_ERR_NOMEM;
        return;
    }
    site->nrets = rets->count;
    site->nargs = args->count;
    site->rets = numbers;
    site->ret_sizes = site->rets + rets->count;
    site->args = site->ret_sizes + rets->count;
    site->arg_sizes = site->args + args->count;
    int32_t indirect = -1;
    for (uint32_t k = 0; k < rets->count + args->count; k++) {
        bool ret = k < rets->count;
        const struct mg_ptx_opnd *o = &f->operands[ret ? rets->first + k : args->first + k - rets->count];
        if (o->kind != MG_OPND_SYMBOL || !o->var || o->var->space != MG_SPACE_PARAM) {
            mg__lower_unsupported(L);
            return;
        }
        uint32_t j = ret ? k : k - rets->count;
        (ret ? site->rets : site->args)[j] = L->var_at[o->var->id];
        (ret ? site->ret_sizes : site->arg_sizes)[j] = (uint32_t)o->var->size;
    }
    if (target->kind == MG_OPND_FUNC && mg__simt_device_runtime(target->func->name)) {
        mg__lower_unsupported(L); /* also where its PTX is at hand: it works through the driver */
        return;
    }
    if (target->kind == MG_OPND_FUNC && target->func->defined) {
        for (uint32_t c = 0; c < L->program->ncodes; c++)
            if (L->program->codes[c]->func == target->func)
                site->callee = L->program->codes[c];
    } else if (target->kind == MG_OPND_FUNC) {
        site->system = (uint8_t)mg__system_find(target->func->name);
        if (!site->system) {
            mg__lower_unsupported(L);
            return;
        }
        /* So that lines come out in the same order every time; and a heap's addresses, which sectors depend on. */
        L->program->ordered |= site->system != MG_SYS_ASSERTFAIL;
        L->program->prints |= site->system == MG_SYS_VPRINTF;
        L->program->heap |= site->system == MG_SYS_MALLOC || site->system == MG_SYS_FREE;
        static const uint8_t arity[] = {[MG_SYS_VPRINTF] = 2,
                                        [MG_SYS_ASSERTFAIL] = 5,
                                        [MG_SYS_MALLOC] = 1,
                                        [MG_SYS_FREE] = 1,
                                        [MG_SYS_CONDITION] = 2};
        bool fits = site->nargs == arity[site->system];
        for (uint32_t k = 0; k < site->nargs; k++)
            fits &= site->arg_sizes[k] == 8 || (site->arg_sizes[k] == 4 && (site->system == MG_SYS_ASSERTFAIL ||
                                                                            (site->system == MG_SYS_CONDITION && k)));
        for (uint32_t k = 0; k < site->nrets; k++)
            fits &= site->ret_sizes[k] == (site->system == MG_SYS_MALLOC ? 8 : 4);
        if (!fits) {
            mg__lower_unsupported(L);
            return;
        }
    } else if (target->kind == MG_OPND_REG && mg__lower_reg_size(L, target) == 8) {
        indirect = L->slots[target->index];
    } else {
        mg__lower_unsupported(L);
        return;
    }
    struct mg_op *op = mg__lower_op_bare(L, MG_DO_CALL, 0, MG_OPERANDS(own_guard(L), MG_LONG(indirect)));
    op->invert = L->insn->guard_negate ? ~0u : 0;
    op->u.call = site;
}

/* A branch to what comes next parts nobody, and ptxas makes none of it. */
void mg__lower_bra(struct mg_lower *L)
{
    if (mg__lower_opnd(L, 0)->index == (uint32_t)(L->insn - L->func->insns) + 1)
        return;
    if (L->insn->guard >= 0)
        guarded(L, MG_DO_BRA);
    else
        mg__lower_op_bare(L, MG_DO_JUMP, 0, NULL, 0);
    fixup(L, mg__lower_opnd(L, 0)->index, NULL, NULL);
}

void mg__lower_brx(struct mg_lower *L)
{
    const struct mg_ptx_opnd *t = mg__lower_opnd(L, 1);
    int32_t a = mg__lower_source(L, mg__lower_opnd(L, 0), 4, MG_T_U32, 0);
    if (t->kind != MG_OPND_TABLE || a < 0 || L->insn->guard >= 0) {
        mg__lower_unsupported(L);
        return;
    }
    const struct mg_ptx_table *table = &L->func->tables[t->index];
    struct mg_switch *s = mg__arena_alloc(&L->program->arena, sizeof *s);
    if (s)
        s->targets = mg__arena_array(&L->program->arena, table->count + 1, sizeof *s->targets);
    if (!s || !s->targets) {
        L->status = MG_ERR_NOMEM;
        return;
    }
    s->count = table->count;
    mg__lower_op_bare(L, MG_DO_BRX, 0, MG_OPERANDS(MG_WORD(a)))->u.table = s;
    fixup(L, 0, s, table->labels);
}

/* ---- across lanes ---- */
static struct mg_engine_operand by_letter(struct mg_lower *L, char letter, unsigned n, bool written, unsigned part)
{
    const uint8_t bytes = letter == 'p' ? 0 : letter == 'd' ? 8 : 4;
    const uint8_t type = letter == 'p' ? MG_T_PRED : letter == 'd' ? MG_T_B64 : MG_T_B32;
    const struct mg_ptx_opnd *o = n < L->insn->nops ? mg__lower_opnd(L, n) : &(struct mg_ptx_opnd){0};
    return (struct mg_engine_operand)MG_SIZED(
        written ? mg__lower_destination(L, o, bytes) : mg__lower_source(L, o, bytes, type, part), bytes);
}

/* Across lanes: opcode, part and type as written make the name of a row of sem_warp.def. */
static void lower_warp(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    char name[64];
    const char *type = i->ntypes ? mg__ptx_type_name((enum mg_ptx_type)i->type[0]) : "";
    snprintf(name, sizeof name, "%s%s%s%s%s%s%s", mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->name, i->sub ? "_" : "",
             mg__ptx_sub_name(i->sub), i->atomop ? "_" : "", mg__ptx_atomop_name(i->atomop), *type ? "_" : "", type);
    int at = mg__sem_warp_find(name);
    if (at < 0) {
        mg__lower_unsupported(L);
        return;
    }
    const struct mg_sem_warp_row *row = &mg_sem_warp_rows[at];
    struct mg_engine_operand of[MG_SEM_WARP_OUT + 1 + MG_SEM_WARP_IN];
    unsigned n = 0, nout = 0, k = 0;
    bool good = true;
    for (; row->out[nout] && (nout == 0 || i->flags & MG_F_DUAL); nout++, n++)
        good &= (of[n] = by_letter(L, row->out[nout], n, true, 0)).slot >= 0;
    for (; row->in[k]; k++, n++)
        good &= (of[n + 1] = by_letter(L, row->in[k], n, false, k % MG_COUNT(L->temp))).slot >= 0;
    of[nout] = (struct mg_engine_operand)MG_WORD(-1); /* the lanes that take part; else all active ones */
    if (n < i->nops)
        good &= (of[nout] = by_letter(L, 'w', n, false, k % MG_COUNT(L->temp))).slot >= 0;
    if (good)
        mg__lower_op(L, MG_DO_WARP, nout, of, n + 1)->u.imm = (uint64_t)at;
    else
        mg__lower_unsupported(L);
}

void mg__lower_activemask(struct mg_lower *L)
{
    int32_t d = mg__lower_destination(L, mg__lower_opnd(L, 0), 4);
    if (d < 0)
        mg__lower_unsupported(L);
    else
        mg__lower_op(L, MG_DO_ACTIVEMASK, 1, MG_OPERANDS(MG_WORD(d)));
}

static bool is_constant(const struct mg_lower *L, int32_t slot)
{
    bool constant = slot & 1;
    for (size_t k = 0; k < L->fills.count; k++)
        constant &= L->fills.at[k].slot != slot;
    return constant;
}

void mg__lower_bar(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    bool red = i->sub == MG_SUB_RED, popc = red && i->boolop == MG_BOOL_POPC;
    unsigned k = red ? 1 : 0, rest = i->nops - k;
    int32_t d = red ? mg__lower_destination(L, mg__lower_opnd(L, 0), popc ? 4 : 0) : -1;
    int32_t id = rest > 0 ? mg__lower_source(L, mg__lower_opnd(L, k), 4, MG_T_U32, 0) : mg__lower_const(L, 0, false);
    bool has_count = red ? rest > 2 : rest > 1;
    int32_t count = has_count ? mg__lower_source(L, mg__lower_opnd(L, k + 1), 4, MG_T_U32, 1) : -1;
    int32_t pred = red && rest > 1 ? mg__lower_source(L, mg__lower_opnd(L, i->nops - 1u), 0, MG_T_PRED, 0) : -1;
    if (id < 0 || (has_count && count < 0) || (red && (d < 0 || pred < 0))) {
        mg__lower_unsupported(L);
        return;
    }
    struct mg_op *op =
        i->sub == MG_SUB_SYNC && !has_count && is_constant(L, id)
            ? mg__lower_op(L, MG_DO_BARRIER, 0, MG_OPERANDS(MG_WORD(id)))
            : mg__lower_op(L, MG_DO_BAR, 1,
                           MG_OPERANDS(MG_SIZED(d, popc ? 4 : 0), MG_WORD(id), MG_WORD(count), MG_PRED(pred)));
    op->mode = i->sub | (uint32_t)i->boolop << 8;
}

void mg__lower_bar_warp(struct mg_lower *L)
{
    int32_t members = mg__lower_source(L, mg__lower_opnd(L, 0), 4, MG_T_B32, 0);
    if (members < 0)
        mg__lower_unsupported(L);
    else
        mg__lower_op(L, MG_DO_BAR_WARP, 0, MG_OPERANDS(MG_WORD(members)));
}

/* ---- clusters ---- */
void mg__lower_barrier_cluster(struct mg_lower *L)
{
    mg__lower_op(L, L->insn->sub == MG_SUB_ARRIVE ? MG_DO_CLUSTER_ARRIVE : MG_DO_CLUSTER_WAIT, 0, NULL, 0);
}

static void lower_cluster_address(struct mg_lower *L, bool map)
{
    const struct mg_ptx_insn *i = L->insn;
    const bool wide = i->type[0] == MG_T_U64, generic = i->space == MG_SPACE_GENERIC;
    const struct mg_ptx_opnd *d = mg__lower_opnd(L, 0);
    const unsigned bytes = wide ? 8 : 4, result = map ? bytes : 4;
    int32_t to = mg__lower_destination(L, d, result),
            a = mg__lower_source(L, mg__lower_opnd(L, 1), bytes, i->type[0], 0),
            b = map ? mg__lower_source(L, mg__lower_opnd(L, 2), 4, MG_T_U32, 1) : 0;
    if (to < 0 || a < 0 || b < 0 || (generic && !wide) || (!wide && i->type[0] != MG_T_U32)) {
        mg__lower_unsupported(L);
        return;
    }
    struct mg_op *op =
        map ? mg__lower_op(L, MG_DO_MAPA, 1, MG_OPERANDS(MG_SIZED(to, bytes), MG_SIZED(a, bytes), MG_WORD(b)))
            : mg__lower_op(L, MG_DO_GETCTARANK, 1, MG_OPERANDS(MG_WORD(to), MG_SIZED(a, bytes)));
    op->mode = (uint32_t)wide | (generic ? 2u : 0);
    mg__lower_widen(L, d, result, MG_T_U32);
}

void mg__lower_mapa(struct mg_lower *L)
{
    lower_cluster_address(L, true);
}

void mg__lower_getctarank(struct mg_lower *L)
{
    lower_cluster_address(L, false);
}

static void lower_fence(struct mg_lower *L)
{
    mg__lower_op(L, MG_DO_FENCE, 0, NULL, 0);
}

static void lower_hint(struct mg_lower *L)
{
    mg__lower_op(L, MG_DO_NOP, 0, NULL, 0);
}

/* ---- ends ---- */
void mg__lower_ret(struct mg_lower *L)
{
    guarded(L, MG_DO_RET);
}

void mg__lower_exit(struct mg_lower *L)
{
    guarded(L, MG_DO_EXIT);
}

void mg__lower_trap(struct mg_lower *L)
{
    guarded(L, MG_DO_TRAP);
}

/* ---- the stack ---- */
void mg__lower_alloca(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    const struct mg_ptx_opnd *to = mg__lower_opnd(L, 0);
    L->program->stack = true;
    int32_t a = mg__lower_source(L, mg__lower_opnd(L, 1), 8, MG_T_U64, 0);
    if (a < 0 || to->kind != MG_OPND_REG) {
        mg__lower_unsupported(L);
        return;
    }
    bool wide = mg__lower_reg_size(L, to) == 8;
    struct mg_op *op =
        mg__lower_op(L, MG_DO_ALLOCA, 1, MG_OPERANDS(MG_SIZED(L->slots[to->index], wide ? 8 : 4), MG_LONG(a)));
    op->mode = wide;
    op->u.imm = i->nops > 2 && mg__lower_opnd(L, 2)->kind == MG_OPND_IMM ? (uint64_t)mg__lower_opnd(L, 2)->imm : 8;
}

static void lower_stack(struct mg_lower *L, bool save)
{
    const struct mg_ptx_opnd *r = mg__lower_opnd(L, 0);
    if (r->kind != MG_OPND_REG) {
        mg__lower_unsupported(L);
        return;
    }
    bool wide = mg__lower_reg_size(L, r) == 8;
    mg__lower_op(L, save ? MG_DO_STACK_SAVE : MG_DO_STACK_RESTORE, save,
                 MG_OPERANDS(MG_SIZED(L->slots[r->index], wide ? 8 : 4)))
        ->mode = (uint32_t)save | (wide ? 2u : 0);
}

void mg__lower_stack_save(struct mg_lower *L)
{
    lower_stack(L, true);
}

void mg__lower_stack_restore(struct mg_lower *L)
{
    lower_stack(L, false);
}

/* ---- others ---- */
void mg__lower_isspacep(struct mg_lower *L)
{
    int32_t a = mg__lower_source(L, mg__lower_opnd(L, 1), 8, MG_T_U64, 0),
            d = mg__lower_destination(L, mg__lower_opnd(L, 0), 0);
    if (a < 0 || d < 0) {
        mg__lower_unsupported(L);
        return;
    }
    struct mg_op *op = mg__lower_op(L, MG_DO_ISSPACEP, 1, MG_OPERANDS(MG_PRED(d), MG_LONG(a)));
    op->mode = L->insn->space;
    op->u.imm = L->insn->flags & MG_F_SHARED_CLUSTER ? MG_MAX_CLUSTER + 1 : 1; /* windows of shared memory */
}

void mg__lower_nanosleep(struct mg_lower *L)
{
    mg__lower_op(L, MG_DO_NANOSLEEP, 0, NULL, 0);
}

/* Nothing, where nobody watches. */
void mg__lower_setmaxnreg(struct mg_lower *L)
{
    if (!L->watched || mg__lower_opnd(L, 0)->kind != MG_OPND_IMM) {
        lower_hint(L);
        return;
    }
    struct mg_op *op = mg__lower_op(L, MG_DO_SETMAXNREG, 0, NULL, 0);
    op->mode = L->insn->sub == MG_SUB_INC;
    op->u.imm = (uint64_t)mg__lower_opnd(L, 0)->imm;
}

/* A policy is a hint: any number will do. */
void mg__lower_createpolicy(struct mg_lower *L)
{
    int32_t d = mg__lower_destination(L, mg__lower_opnd(L, 0), 8);
    if (d < 0)
        mg__lower_unsupported(L);
    else
        mg__lower_copy(L, 8, d, mg__lower_const(L, 0, true));
}

/* ---- which does it ---- */
typedef void lowering(struct mg_lower *L);

static lowering *said(const struct mg_ptx_insn *i)
{
#define ISA(id, name, group, since_ptx, since_sm, operands, access, effects, flops, ntypes, takes, needs, flags)
#define DOES(id, condition, how)                \
    if (i->opcode == MG_OP_##id && (condition)) \
        return mg__lower_##how;
#include "ptx/isa.def"
#undef ISA
    return NULL;
}

static lowering *by_row(const struct mg_ptx_isa *isa)
{
    static lowering *const by_access[] = {[MG_ACCESSES_LOAD] = mg__lower_load,
                                          [MG_ACCESSES_STORE] = mg__lower_store,
                                          [MG_ACCESSES_ATOM] = mg__lower_atomic,
                                          [MG_ACCESSES_RED] = mg__lower_atomic,
                                          [MG_ACCESSES_COPY] = mg__lower_cp_async};
    return isa->access                  ? by_access[isa->access]
           : isa->effects & MG_E_WARP   ? lower_warp
           : isa->effects & MG_E_ORDERS ? lower_fence
           : isa->effects               ? mg__lower_unsupported
           : isa->group == MG_G_MISC    ? lower_hint
                                        : mg__lower_alu;
}

void mg__lower_insn(struct mg_lower *L)
{
    const struct mg_ptx_isa *isa = mg__ptx_isa((enum mg_ptx_opcode)L->insn->opcode);
    lowering *lower = isa->executed && !(L->insn->flags & MG_F_LATER) ? said(L->insn) : mg__lower_unsupported;
    (lower ? lower : by_row(isa))(L);
}
