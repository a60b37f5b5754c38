/* describe.c - lowered ops as a code generator sees them (engine.h): their rows of op.def, their operands, and of a few
 * what else there is to know.
 */
#include "simt/engine_priv.h"

struct describe {
    struct mg_described *to;
    const struct mg_code *code;
    const struct mg_lanes *lanes;
    struct mg_engine_op *out;
    mg_handler *call;
};

static const struct mg_engine_mem *describe_mem(struct describe *D, const struct mg_mem *m)
{
    struct mg_engine_mem *e = mg__arena_alloc(&D->to->arena, sizeof *e);
    if (e)
        *e = (struct mg_engine_mem){
            .space = m->space, .kind = m->kind, .width = m->width, .vec = m->vec, .sext = m->sext, .offset = m->offset};
    return e;
}

/* A load or a store whose lanes may be known to lie on a line is compiled, and one of local memory; of an atomic the
 * comparison may be. Others are the interpreter's. */
static bool describe_access(struct describe *D, struct mg_engine_op *o, const struct mg_mem *m)
{
    if (D->to->watched) {
        const bool load = m->kind == MG_ACCESS_LD && o->kind == MG_ENGINE_LOAD,
                   store = m->kind == MG_ACCESS_ST && o->kind == MG_ENGINE_STORE,
                   wide = m->space == MG_SPACE_SHARED || m->addr64;
        o->kind = MG_ENGINE_CALL;
        o->effects = MG_ENGINE_ACCESS | MG_ENGINE_TELLS;
        if (!(load || store) || m->poll || m->local_frame || m->no_shape || m->addr < 0 || !wide)
            return true;
        o->effects |= MG_ENGINE_UNHEARD;
        return (o->mem = describe_mem(D, m)) != NULL;
    }
    const bool atomic = m->kind != MG_ACCESS_LD && m->kind != MG_ACCESS_ST;
    if (m->space == MG_SPACE_LOCAL && !atomic && !m->poll && !m->local_frame && m->addr >= 0)
        return (o->mem = describe_mem(D, m)) != NULL;
    if (!atomic &&
        (m->poll || m->local_frame || m->no_shape || m->addr < 0 || (m->space != MG_SPACE_SHARED && !m->addr64)))
        o->kind = MG_ENGINE_CALL;
    if (o->kind == MG_ENGINE_CALL && !(atomic && mg__atom_checks(m)))
        return true;
    return (o->mem = describe_mem(D, m)) != NULL;
}

/* What lanes find in a special register, but for the masks. */
static void describe_sreg(struct mg_engine_op *o, uint64_t imm)
{
    const unsigned reg = imm & 0xffff;
    if (reg >= MG_SR_LANEMASK_EQ && reg <= MG_SR_LANEMASK_GT)
        return;
    o->known = reg == MG_SR_TID      ? MG_ENGINE_FILL_TID
               : reg == MG_SR_LANEID ? MG_ENGINE_FILL_LANEID
                                     : MG_ENGINE_FILL_UNIFORM;
    o->dim = imm >> 16 & 0xff;
}

/* A word of an argument or a result. */
static void describe_param(const struct describe *D, struct mg_engine_op *o, const struct mg_mem *m)
{
    if (m->width != 4 || m->vec != 1 || m->dst64 || m->offset % 4 || m->reg[0] < 0 || o->nin + o->nout != 1)
        return;
    o->kind = MG_ENGINE_ROW;
    o->effects = MG_ENGINE_REGISTERS;
    o->mode = mg__rows_at(D->code) + (uint32_t)m->offset * 32;
}

static bool set_targets(struct describe *D, struct mg_engine_op *o, const struct mg_op *const *to, size_t n)
{
    uint32_t *targets = mg__arena_array(&D->to->arena, n + 1, sizeof *targets);
    if (!targets)
        return false;
    for (size_t k = 0; k < n; k++)
        targets[k] = (uint32_t)(to[k] - D->code->ops);
    o->targets = targets;
    o->ntargets = (uint32_t)n;
    return true;
}

static bool describe_one(struct describe *D, uint32_t index)
{
    const struct mg_op *op = &D->code->ops[index];
    const struct mg_op_row *row = &mg__op_rows[op->is->id];
    struct mg_engine_op *o = &D->out[index];
    *o = (struct mg_engine_op){.kind = row->kind,
                               .effects = row->effects,
                               .row = -1,
                               .mode = op->mode,
                               .guard = op->guard,
                               .invert = op->invert,
                               .insn = op->insn,
                               .meet = -1,
                               .falls = !(row->effects & MG_ENGINE_ENDS) || op->guard >= 0,
                               .nout = op->is->nout,
                               .nin = op->is->nin,
                               .out = op->is->of,
                               .in = op->is->of + op->is->nout};
    D->call[index] = D->to->watched ? mg__watched_call(D->lanes, op) : mg__op_handler(D->lanes, op);
    if (D->to->watched && (op->is->id == MG_DO_BARRIER || row->kind == MG_ENGINE_EXIT))
        o->effects |= MG_ENGINE_TELLS;
    if (row->kind == MG_ENGINE_BLOCK)
        o->effects |= (op->a >= 0 ? MG_ENGINE_LEFT : 0) | (op->b == 1 ? MG_ENGINE_INNER : 0);
    if (row->effects & MG_ENGINE_ACCESS)
        return describe_access(D, o, op->u.mem);
    if (row->kind == MG_ENGINE_ALU) {
        o->row = (int16_t)op->u.imm;
    } else if (op->is->id == MG_DO_WARP) {
        o->row = (int16_t)op->u.imm;
        o->effects |= D->to->watched ? MG_ENGINE_HEARD : 0;
    } else if (op->is->id == MG_DO_BAR_WARP) {
        o->effects |= D->to->watched ? MG_ENGINE_HEARD : 0;
    } else if (row->kind == MG_ENGINE_BRANCH) {
        o->target = (uint32_t)(op->u.target - D->code->ops);
        o->meet = o->falls ? op->d2 : -1;
        o->effects |= o->falls && op->e >= 0 ? MG_ENGINE_INNER : 0;
    } else if (op->is->id == MG_DO_BRX) {
        return set_targets(D, o, op->u.table->targets, op->u.table->count);
    } else if (op->is->id == MG_DO_LD_PARAM || op->is->id == MG_DO_ST_PARAM) {
        describe_param(D, o, op->u.mem);
    } else if (op->is->id == MG_DO_SREG) {
        describe_sreg(o, op->u.imm);
    } else if (op->is->id == MG_DO_LOCAL_ADDRESS) {
        o->known = MG_ENGINE_FILL_UNIFORM;
    }
    return true;
}

/* What is not just a value, behind a guard, is left as a whole. */
static bool leave_guarded(struct describe *D, uint32_t index)
{
    struct mg_engine_op *guard = &D->out[index - 1], *o = &D->out[index];
    if (guard->kind != MG_ENGINE_GUARD || !(o->effects & MG_ENGINE_PARTS))
        return true;
    const bool branch = o->kind == MG_ENGINE_BRANCH;
    guard->kind = o->kind = MG_ENGINE_LEAVE;
    o->falls = true;
    return !branch || set_targets(D, o, &D->code->ops[index].u.target, 1);
}

uint32_t mg__described_row(const struct mg_dim3 *block)
{
    if (block->y * block->z == 1 || block->x % 32 == 0)
        return 32;
    uint32_t rows = block->x >= 2 && 32 % block->x == 0 ? 32 / block->x : 0;
    return rows && (block->z == 1 || block->y % rows == 0) ? block->x : 0;
}

static bool describe_code(struct mg_described *d, const struct mg_program *program, const struct mg_code *code,
                          const struct mg_lanes *lanes, uint32_t row, struct mg_function *to)
{
    struct mg_engine_op *ops = mg__arena_array(&d->arena, code->nops + 1, sizeof *ops);
    struct mg_engine_fill *fills = mg__arena_array(&d->arena, code->nfills + 1, sizeof *fills);
    to->call = mg__arena_array(&d->arena, code->nops + 1, sizeof *to->call);
    struct describe D = {d, code, lanes, ops, to->call};
    bool good = ops && fills && to->call;
    for (uint32_t i = 0; good && i < code->nops; i++)
        good = describe_one(&D, i);
    for (uint32_t i = 1; good && i < code->nops; i++)
        good = leave_guarded(&D, i);
    for (uint32_t k = 0; good && k < code->nfills; k++) {
        const struct mg_fill *f = &code->fills[k];
        fills[k] =
            (struct mg_engine_fill){.slot = f->slot, .bytes = f->bytes, .dim = f->dim, .kind = MG_ENGINE_FILL_UNIFORM};
        if (f->kind == MG_FILL_PARAM || f->sreg == MG_SR_CTAID || f->sreg == MG_SR_NTID || f->sreg == MG_SR_NCTAID)
            fills[k].kind = f->kind == MG_FILL_SREG && f->sreg == MG_SR_NTID && f->dim == 0 ? MG_ENGINE_FILL_WIDTH
                                                                                            : MG_ENGINE_FILL_BLOCK;
        if (f->kind == MG_FILL_SREG && f->sreg == MG_SR_TID)
            fills[k].kind = MG_ENGINE_FILL_TID;
        else if (f->kind == MG_FILL_SREG && f->sreg == MG_SR_LANEID)
            fills[k].kind = MG_ENGINE_FILL_LANEID;
    }
    to->program = (struct mg_engine_program){.name = code->func->name,
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
    return good;
}

struct mg_described *mg__describe(const struct mg_program *program, const struct mg_lanes *lanes, uint32_t row,
                                  enum mg_warps_are warps, bool watched)
{
    struct mg_described *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->watched = watched;
    mg__arena_init(&d->arena);
    d->nfunctions = program->ncodes;
    d->functions = mg__arena_array(&d->arena, d->nfunctions, sizeof *d->functions);
    bool good = d->functions != NULL;
    for (uint32_t k = 0; good && k < d->nfunctions; k++) {
        good = describe_code(d, program, program->codes[k], lanes, k ? 0 : row, &d->functions[k]);
        d->functions[k].program.partial = warps == MG_WARPS_PARTIAL || k;
        d->functions[k].program.ragged = warps == MG_WARPS_RAGGED;
        d->functions[k].program.function = k > 0;
    }
    if (!good) {
        mg__described_free(d);
        return NULL;
    }
    d->program = d->functions[0].program;
    d->call = d->functions[0].call;
    return d;
}

void mg__described_free(struct mg_described *d)
{
    if (!d)
        return;
    mg__arena_free(&d->arena);
    free(d);
}
