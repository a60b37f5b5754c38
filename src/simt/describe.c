/* describe.c - lowered ops as a code generator sees them (engine.h): what each reads and writes, and which it may
 * compile.
 *
 * To let the code generator compile one more op, give it a kind of its own here and in jit; until then a row in `calls`
 * makes it a call of the interpreter's handler, and what has neither is left to the interpreter.
 */
#include "simt/engine_priv.h"

struct describe {
    struct mg_described *to;
    const struct mg_program *program;
    const struct mg_code *code;
    const struct mg_lanes *lanes;
    struct mg_arena *arena;
    struct mg_engine_op *out;
};

static void reads(struct mg_engine_op *o, int32_t slot, unsigned bytes)
{
    if (slot >= 0 && o->nin < MG_COUNT(o->in))
        o->in[o->nin++] = (struct mg_engine_operand){slot, (uint8_t)bytes};
}

static void writes(struct mg_engine_op *o, int32_t slot, unsigned bytes)
{
    if (slot >= 0 && o->nout < MG_COUNT(o->out))
        o->out[o->nout++] = (struct mg_engine_operand){slot, (uint8_t)bytes};
}

static unsigned carrier_bytes(uint8_t carrier)
{
    return carrier == MG_SEM_B64 ? 8 : carrier == MG_SEM_B1 ? 0 : 4;
}

static unsigned letter_bytes(char letter) /* of sem_warp.def */
{
    return letter == 'p' ? 0 : letter == 'd' ? 8 : 4;
}

static int row_of(const struct mg_lanes *lanes, mg_handler fn)
{
    for (int row = 0; row < MG_SEM_OP_COUNT; row++)
        for (unsigned k = 0; k < 3; k++)
            if (lanes->alu[row][k] == fn)
                return row;
    return -1;
}

static void describe_alu(struct mg_engine_op *o, const struct mg_op *op, int row)
{
    const struct mg_sem_row *r = &mg_sem_rows[row];
    const int32_t args[4] = {op->a, op->b, op->c, op->e};
    o->kind = MG_ENGINE_ALU;
    o->row = (int16_t)row;
    for (unsigned k = 0; k < r->nargs; k++)
        reads(o, args[k], carrier_bytes(r->arg[k]));
    writes(o, op->d, carrier_bytes(r->ret));
}

static const struct mg_engine_mem *describe_mem(struct describe *D, const struct mg_mem *m)
{
    struct mg_engine_mem *e = mg__arena_alloc(D->arena, sizeof *e);
    if (!e)
        return NULL;
    *e = (struct mg_engine_mem){.space = m->space,
                                .kind = m->kind,
                                .width = m->width,
                                .vec = m->vec,
                                .dst64 = m->dst64,
                                .sext = m->sext,
                                .addr64 = m->addr64,
                                .addr = m->addr,
                                .offset = m->offset};
    for (unsigned v = 0; v < MG_COUNT(e->reg); v++)
        e->reg[v] = v < m->vec ? m->reg[v] : -1;
    return e;
}

/* A load, a store or an atomic. */
static bool describe_access(struct describe *D, struct mg_engine_op *o, const struct mg_op *op, uint32_t index)
{
    const struct mg_mem *m = op->u.mem;
    const struct mg_lanes *l = D->lanes;
    bool load = m->kind == MG_ACCESS_LD, access = load || m->kind == MG_ACCESS_ST;
    bool global = m->space == MG_SPACE_GLOBAL || m->space == MG_SPACE_CONST;
    reads(o, m->addr, m->addr64 ? 8 : 4);
    o->kind = MG_ENGINE_CALL;
    if (!access) { /* atomics; the handler for counters goes on to the next op by itself: it has a form that does not */
        for (unsigned v = 0; v < m->vec && m->vec > 1; v++) {
            reads(o, m->with[v], 4);
            writes(o, m->reg[v], 4);
        }
        if (m->vec > 1)
            return true;
        reads(o, m->reg[1], m->dst64 ? 8 : 4);
        reads(o, m->reg[2], m->dst64 ? 8 : 4);
        writes(o, m->reg[0], m->dst64 ? 8 : 4);
        o->counter = op->fn == l->red_shared_add;
        D->to->call[index] = o->counter ? l->red_shared_add_alone : mg__op_atom;
        return !mg__atom_checks(m) || (o->mem = describe_mem(D, m)) != NULL;
    }
    for (unsigned v = 0; v < m->vec; v++) {
        if (load)
            writes(o, m->reg[v], m->dst64 ? 8 : 4);
        else
            reads(o, m->reg[v], m->dst64 ? 8 : 4);
    }
    if (m->space == MG_SPACE_SHARED)
        D->to->call[index] =
            load ? (m->addr64 ? l->ld_shared64 : l->ld_shared32) : (m->addr64 ? l->st_shared64 : l->st_shared32);
    else if (global)
        D->to->call[index] = load ? l->ld_global : l->st_global;
    else
        D->to->call[index] = load ? l->ld_lanes : l->st_lanes;
    if ((m->space != MG_SPACE_SHARED && !global) || m->poll || m->local_frame || m->no_shape || m->addr < 0 ||
        (global && !m->addr64))
        return true;
    o->kind = load ? MG_ENGINE_LOAD : MG_ENGINE_STORE;
    return (o->mem = describe_mem(D, m)) != NULL;
}

/* Handlers that the generated code may call: what they read and write. */
static bool describe_call(struct mg_engine_op *o, const struct mg_op *op)
{
    const struct mg_mem *m = op->u.mem;
    mg_handler fn = op->fn;
    o->kind = MG_ENGINE_CALL;
    if (fn == mg__op_warp) {
        const struct mg_sem_warp_row *row = &mg_sem_warp_rows[op->u.imm];
        const int32_t in[] = {op->a, op->b, op->c}, out[] = {op->d, op->d2};
        for (unsigned k = 0; row->in[k]; k++)
            reads(o, in[k], letter_bytes(row->in[k]));
        reads(o, op->e, 4);
        for (unsigned k = 0; row->out[k]; k++)
            writes(o, out[k], letter_bytes(row->out[k]));
        o->all_lanes = true;
    } else if (fn == mg__op_bar_warp) {
        reads(o, op->e, 4);
        o->all_lanes = true;
    } else if (fn == mg__op_activemask) {
        writes(o, op->d, 4);
    } else if (fn == mg__op_sreg || fn == mg__op_local_address) {
        writes(o, op->d, op->mode ? 8 : 4);
        unsigned reg = op->u.imm & 0xffff;
        if (fn == mg__op_sreg && (reg < MG_SR_LANEMASK_EQ || reg > MG_SR_LANEMASK_GT)) {
            o->known = reg == MG_SR_TID      ? MG_ENGINE_FILL_TID
                       : reg == MG_SR_LANEID ? MG_ENGINE_FILL_LANEID
                                             : MG_ENGINE_FILL_UNIFORM;
            o->dim = op->u.imm >> 16 & 0xff;
        }
    } else if (fn == mg__op_isspacep) {
        reads(o, op->a, 8), writes(o, op->d, 0);
    } else if (fn == mg__op_set) {
        reads(o, op->a, 0), reads(o, op->b, 0), reads(o, op->c, 0), writes(o, op->d, 4);
    } else if (fn == mg__op_halves) {
        reads(o, op->a, 4), writes(o, op->d, 4);
    } else if (fn == mg__op_ld_kparam || fn == mg__op_ld_param) {
        o->uniform = fn == mg__op_ld_kparam;
        if (fn == mg__op_ld_kparam)
            reads(o, m->addr, m->addr64 ? 8 : 4);
        for (unsigned v = 0; v < m->vec; v++)
            writes(o, m->reg[v], m->dst64 ? 8 : 4);
    } else if (fn == mg__op_st_param) {
        for (unsigned v = 0; v < m->vec; v++)
            reads(o, m->reg[v], m->dst64 ? 8 : 4);
    } else if (fn == mg__op_cp_async) {
        reads(o, op->a, m[0].sext ? 0 : 4), reads(o, m[0].addr, m[0].addr64 ? 8 : 4),
            reads(o, m[1].addr, m[1].addr64 ? 8 : 4);
    } else if (fn == mg__op_alloca) {
        reads(o, op->a, 8), writes(o, op->d, op->mode ? 8 : 4);
    } else if (fn == mg__op_stack) {
        if (op->mode & 1)
            writes(o, op->d, op->mode & 2 ? 8 : 4);
        else
            reads(o, op->d, op->mode & 2 ? 8 : 4);
    } else if (fn != mg__op_fence && fn != mg__op_nanosleep) {
        return false;
    }
    return true;
}

static bool describe_one(struct describe *D, uint32_t index)
{
    const struct mg_op *op = &D->code->ops[index];
    struct mg_engine_op *o = &D->out[index];
    mg_handler fn = op->fn;
    *o = (struct mg_engine_op){.row = -1,
                               .d = op->d,
                               .a = op->a,
                               .b = op->b,
                               .c = op->c,
                               .e = op->e,
                               .d2 = op->d2,
                               .mode = op->mode,
                               .guard = op->guard,
                               .invert = op->invert,
                               .insn = op->insn,
                               .meet = -1,
                               .falls = true};
    D->to->call[index] = fn;
    int row;
    if (fn == mg__op_unsupported) {
        o->kind = MG_ENGINE_LEAVE;
        o->falls = false;
        return true;
    }
    if (op->mode & MG_MODE_SITE && fn != mg__op_cp_async)
        return describe_access(D, o, op, index);
    if (fn == mg__op_block || fn == mg__op_block_join || fn == mg__op_loop || fn == mg__op_loop_join) {
        o->kind = MG_ENGINE_BLOCK;
        o->loop = fn == mg__op_loop || fn == mg__op_loop_join;
    } else if (fn == mg__op_guard) {
        o->kind = MG_ENGINE_GUARD;
        reads(o, op->guard, 0);
    } else if (fn == mg__op_jump || fn == mg__op_bra) {
        o->kind = MG_ENGINE_BRANCH;
        o->target = (uint32_t)(op->u.target - D->code->ops);
        o->meet = fn == mg__op_bra ? op->d2 : -1;
        o->falls = fn == mg__op_bra;
        reads(o, op->guard, 0);
    } else if (fn == mg__op_ret || fn == mg__op_exit) {
        o->kind = MG_ENGINE_EXIT;
        o->falls = op->guard >= 0;
        reads(o, op->guard, 0);
    } else if (fn == mg__op_nop) {
        o->kind = MG_ENGINE_NOP;
    } else if (fn == mg__op_bar && (op->mode & 0xff) == MG_SUB_SYNC && op->b < 0 &&
               op->a >= (int32_t)D->code->pool_at && !mg__described_fill(D->code, op->a)) {
        o->kind = MG_ENGINE_BARRIER;
    } else if (fn == D->lanes->mov32 || fn == D->lanes->mov64) {
        o->kind = MG_ENGINE_MOV;
        o->wide = fn == D->lanes->mov64;
        reads(o, op->a, o->wide ? 8 : 4);
        writes(o, op->d, o->wide ? 8 : 4);
    } else if (fn == mg__op_mov_pred || fn == mg__op_setp_bool) {
        o->kind = MG_ENGINE_SETP;
        if (fn == mg__op_mov_pred) {
            o->mode = MG_BOOL_NONE;
            o->b = o->c = o->d2 = -1;
        }
        reads(o, o->a, 0), reads(o, o->b, 0), reads(o, o->c, 0);
        writes(o, o->d, 0), writes(o, o->d2, 0);
    } else if (fn == mg__op_pack || fn == mg__op_unpack) {
        const int32_t part[4] = {op->a, op->b, op->c, op->e};
        bool wide = op->mode >> 16;
        o->kind = fn == mg__op_pack ? MG_ENGINE_PACK : MG_ENGINE_UNPACK;
        for (unsigned k = 0; k < (op->mode & 0xff) && k < 4; k++) {
            if (fn == mg__op_pack)
                reads(o, part[k], 4);
            else
                writes(o, part[k], 4);
        }
        if (fn == mg__op_pack)
            writes(o, op->d, wide ? 8 : 4);
        else
            reads(o, op->d, wide ? 8 : 4);
    } else if (describe_call(o, op)) {
        ;
    } else if ((row = row_of(D->lanes, fn)) >= 0) {
        describe_alu(o, op, row);
    } else {
        o->kind = MG_ENGINE_LEAVE;
        o->falls = (fn != mg__op_trap && fn != mg__op_brx) || op->guard >= 0;
        reads(o, op->guard, 0);
        if (fn == mg__op_brx) {
            uint32_t *targets = mg__arena_array(D->arena, op->u.table->count + 1, sizeof *targets);
            if (!targets)
                return false;
            for (size_t k = 0; k < op->u.table->count; k++)
                targets[k] = (uint32_t)(op->u.table->targets[k] - D->code->ops);
            o->targets = targets;
            o->ntargets = (uint32_t)op->u.table->count;
            reads(o, op->a, 4);
        } else if (fn == mg__op_bar) {
            reads(o, op->a, 4), reads(o, op->b, 4), reads(o, op->c, 0);
            writes(o, op->d, (op->mode >> 8) == MG_BOOL_POPC ? 4 : 0);
        } else if (fn == mg__op_call) {
            reads(o, op->u.call->target, 8);
        }
    }
    return true;
}

bool mg__described_fill(const struct mg_code *code, int32_t slot)
{
    for (uint32_t k = 0; k < code->nfills; k++)
        if (code->fills[k].slot == slot)
            return true;
    return false;
}

uint32_t mg__described_row(const struct mg_dim3 *block)
{
    if (block->y * block->z == 1 || block->x % 32 == 0)
        return 32;
    uint32_t rows = block->x >= 2 && 32 % block->x == 0 ? 32 / block->x : 0;
    return rows && block->y % rows == 0 ? block->x : 0;
}

struct mg_described *mg__describe(const struct mg_program *program, const struct mg_lanes *lanes, uint32_t row)
{
    struct mg_described *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    mg__arena_init(&d->arena);
    const struct mg_code *code = program->entry;
    struct mg_engine_op *ops = mg__arena_array(&d->arena, code->nops + 1, sizeof *ops);
    struct mg_engine_fill *fills = mg__arena_array(&d->arena, code->nfills + 1, sizeof *fills);
    d->call = mg__arena_array(&d->arena, code->nops + 1, sizeof *d->call);
    struct describe D = {d, program, code, lanes, &d->arena, ops};
    bool good = ops && fills && d->call;
    for (uint32_t i = 0; good && i < code->nops; i++)
        good = describe_one(&D, i);
    for (uint32_t i = 1; good && i < code->nops; i++) /* what is not just a value under a guard is left as a whole */
        if (ops[i - 1].kind == MG_ENGINE_GUARD && (ops[i].kind == MG_ENGINE_BARRIER || ops[i].kind == MG_ENGINE_LEAVE ||
                                                   ops[i].kind == MG_ENGINE_BRANCH || ops[i].kind == MG_ENGINE_EXIT)) {
            if (ops[i].kind == MG_ENGINE_BRANCH) {
                uint32_t *target = mg__arena_array(&d->arena, 1, sizeof *target);
                if (!target)
                    good = false;
                else
                    *target = ops[i].target, ops[i].targets = target, ops[i].ntargets = 1;
            }
            ops[i - 1].kind = MG_ENGINE_LEAVE;
            ops[i].kind = MG_ENGINE_LEAVE;
            ops[i].falls = true;
        }
    for (uint32_t k = 0; good && k < code->nfills; k++) {
        const struct mg_fill *f = &code->fills[k];
        fills[k] =
            (struct mg_engine_fill){.slot = f->slot, .bytes = f->bytes, .dim = f->dim, .kind = MG_ENGINE_FILL_UNIFORM};
        if (f->kind == MG_FILL_PARAM || f->sreg == MG_SR_CTAID || f->sreg == MG_SR_NTID || f->sreg == MG_SR_NCTAID)
            fills[k].kind = MG_ENGINE_FILL_BLOCK;
        if (f->kind == MG_FILL_SREG && f->sreg == MG_SR_TID)
            fills[k].kind = MG_ENGINE_FILL_TID;
        else if (f->kind == MG_FILL_SREG && f->sreg == MG_SR_LANEID)
            fills[k].kind = MG_ENGINE_FILL_LANEID;
    }
    if (!good) {
        mg__described_free(d);
        return NULL;
    }
    d->program = (struct mg_engine_program){.name = program->kernel->name,
                                            .ops = ops,
                                            .nops = code->nops,
                                            .row = row,
                                            .pool_at = code->pool_at,
                                            .pool = code->pool,
                                            .pool_bytes = code->pool_bytes,
                                            .frame_bytes = code->frame_bytes,
                                            .ninsns = program->ninsns,
                                            .stride = sizeof(struct mg_warp),
                                            .fills = fills,
                                            .nfills = code->nfills};
    return d;
}

void mg__described_free(struct mg_described *d)
{
    if (!d)
        return;
    mg__arena_free(&d->arena);
    free(d);
}
