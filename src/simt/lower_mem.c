/* lower_mem.c - loads, stores, atomics, asynchronous copies; and which accesses of a block
 * share one address register. */
#include <assert.h>

#include "simt/lower.h"

/* ---- memory ---- */
static struct mg_mem *new_mem(struct mg_lower *L, uint8_t space, uint8_t kind)
{
    struct mg_mem *m = mg__arena_alloc(&L->program->arena, sizeof *m);
    if (!m) {
        L->status = MG_ERR_NOMEM;
        static struct mg_mem spare; /* written, never run: the status ends the lowering */
        return &spare;
    }
    if (!mg__vec_push(&L->mems, m))
        L->status = MG_ERR_NOMEM;
    m->site = L->program->nsites++;
    m->lead = -1;
    m->space = space;
    m->kind = kind;
    m->vec = 1;
    m->scope = L->insn->scope;
    return m;
}

static bool find_address(struct mg_lower *L, struct mg_mem *m, const struct mg_ptx_opnd *o)
{
    if (o->kind != MG_OPND_ADDR)
        return false;
    if (o->has_reg) {
        m->addr = L->slots[o->index];
        m->addr64 = mg__lower_type_size(L->func->regs[o->index].type) == 8;
        m->offset = o->imm;
        if (!o->var)
            return m->addr64 || m->space == MG_SPACE_SHARED || m->space == MG_SPACE_LOCAL || m->space == MG_SPACE_PARAM;
        uint64_t address;
        struct mg_ptx_opnd plain = *o;
        plain.kind = MG_OPND_SYMBOL;
        if (o->var->space == MG_SPACE_LOCAL) {
            m->offset += L->var_at[o->var->id];
            m->local_frame = true;
            return true;
        }
        if (!mg__lower_address(L, &plain, &address))
            return false;
        m->offset = (int64_t)address;
        return true;
    }
    uint64_t address;
    m->addr64 = m->space != MG_SPACE_SHARED && m->space != MG_SPACE_LOCAL;
    if (o->var && o->var->space == MG_SPACE_LOCAL) {
        m->local_frame = true;
        m->offset = (int64_t)L->var_at[o->var->id] + o->imm;
        if (m->space == MG_SPACE_GENERIC)
            m->space = MG_SPACE_LOCAL;
        m->addr64 = false;
        m->addr = mg__lower_const(L, 0, false);
        return true;
    }
    if (!mg__lower_address(L, o, &address))
        return false;
    if (o->var && m->space == MG_SPACE_GENERIC)
        m->space = o->var->space;
    m->addr = mg__lower_const(L, address, m->addr64);
    return true;
}

static bool set_address(struct mg_lower *L, struct mg_mem *m, const struct mg_ptx_opnd *o)
{
    if (!find_address(L, m, o))
        return false;
    if (m->space == MG_SPACE_SHARED && L->insn->flags & MG_F_SHARED_CLUSTER) { /* per lane, as a generic one */
        m->space = MG_SPACE_GENERIC;
        m->cluster = true;
    }
    return true;
}

struct mg_mem *mg__lower_where(struct mg_lower *L, uint8_t space, const struct mg_ptx_opnd *o)
{
    struct mg_mem *m = new_mem(L, space, MG_ACCESS_CP_ASYNC);
    m->no_shape = true;
    return set_address(L, m, o) ? m : NULL;
}

/* The elements of a load or store; false when a register does not fit. */
static bool set_elements(struct mg_lower *L, struct mg_mem *m, const struct mg_ptx_opnd *o, bool load)
{
    const struct mg_ptx_insn *i = L->insn;
    unsigned n = o->kind == MG_OPND_VEC ? o->count : 1;
    const struct mg_ptx_opnd *e = o->kind == MG_OPND_VEC ? &L->func->operands[o->first] : o;
    m->width = (uint8_t)mg__lower_type_size(i->type[0]);
    m->vec = (uint8_t)n;
    m->type = i->type[0];
    if (m->width == 16) {
        m->width = 8;
        m->vec = 2;
        m->dst64 = true;
        return n == 1 && mg__lower_halves(L, e, load, m->reg);
    }
    if (n == 0 || n > 8 || m->width == 0 || m->width > 8 || n * m->width > 32)
        return false;
    m->dst64 = m->width == 8;
    for (unsigned k = 0; k < n; k++)
        if (e[k].kind == MG_OPND_REG && mg__lower_reg_size(L, &e[k]) == 8)
            m->dst64 = true;
    for (unsigned k = 0; k < n; k++) {
        m->reg[k] = -1;
        if (e[k].kind == MG_OPND_REG) {
            unsigned size = mg__lower_reg_size(L, &e[k]);
            if (size == 0 || size > 8 || size < m->width || (size == 8) != m->dst64)
                return false;
            m->reg[k] = L->slots[e[k].index];
            m->sext = load && mg__lower_is_signed(i->type[0]) && size > m->width;
        } else if (!load) {
            m->reg[k] = mg__lower_source(L, &e[k], m->dst64 ? 8 : 4, i->type[0], k % 6);
            if (m->reg[k] < 0)
                return false;
        }
    }
    return true;
}

/* The op of an access that `m` says all of: its address, and elements or what an atomic operates with. */
static void emit_access(struct mg_lower *L, enum mg_op_id id, struct mg_mem *m)
{
    const bool load = m->kind == MG_ACCESS_LD, store = m->kind == MG_ACCESS_ST;
    const bool in_frame = id == MG_DO_LD_PARAM || id == MG_DO_ST_PARAM; /* there is no address */
    const int32_t *from = store ? m->reg : m->vec > 1 ? m->with : m->reg + 1;
    const unsigned nout = store || id == MG_DO_COUNTER ? 0 : m->vec;
    const unsigned nfrom = load ? 0 : store || m->vec > 1 ? m->vec : m->atomop == MG_ATOM_CAS ? 2 : 1;
    struct mg_engine_operand of[MG_COUNT(m->reg) + 1 + MG_COUNT(m->with)];
    unsigned n = 0;
    for (unsigned k = 0; k < nout; k++)
        of[n++] = (struct mg_engine_operand)MG_SIZED(m->reg[k], m->dst64 ? 8 : 4);
    if (!in_frame)
        of[n++] = (struct mg_engine_operand)MG_SIZED(m->addr, m->addr64 ? 8 : 4);
    for (unsigned k = 0; k < nfrom; k++)
        of[n++] = (struct mg_engine_operand)MG_SIZED(from[k], m->dst64 ? 8 : 4);
    assert(n <= MG_COUNT(of));
    mg__lower_op(L, id, nout, of, n)->u.mem = m;
}

static bool polls(const struct mg_ptx_insn *i)
{
    return i->sem == MG_PTX_SEM_VOLATILE || i->sem == MG_PTX_SEM_RELAXED || i->sem == MG_PTX_SEM_ACQUIRE ||
           i->sem == MG_PTX_SEM_MMIO;
}

static void lower_param(struct mg_lower *L, bool load)
{
    const struct mg_ptx_opnd *at = mg__lower_opnd(L, load ? 1 : 0);
    struct mg_mem *m = new_mem(L, MG_SPACE_PARAM, load ? MG_ACCESS_LD : MG_ACCESS_ST);
    bool kernel = L->func->is_entry && (!at->var || (at->var->is_param && at->var->owner != L->func));
    /* a formal parameter of the kernel is in its parameter buffer; an argument block is in the frame */
    if (L->func->is_entry) {
        kernel = at->var == NULL;
        for (size_t k = 0; k < L->func->nparams; k++)
            kernel |= at->var == L->func->params[k];
    } else {
        kernel = false;
    }
    bool good = set_elements(L, m, mg__lower_opnd(L, load ? 0 : 1), load) && at->kind == MG_OPND_ADDR;
    if (good && kernel) {
        m->addr = at->has_reg ? L->slots[at->index] : -1;
        m->addr64 = at->has_reg && mg__lower_type_size(L->func->regs[at->index].type) == 8;
        m->offset = at->imm + (at->var ? (int64_t)at->var->offset : 0);
    } else if (good) {
        good =
            at->var && !at->has_reg && at->imm >= 0 && (uint64_t)at->imm + (uint64_t)m->width * m->vec <= at->var->size;
        m->offset = good ? (int64_t)L->var_at[at->var->id] + at->imm : 0;
    }
    if (!good || (kernel && !load)) {
        mg__lower_unsupported(L);
        return;
    }
    emit_access(L, kernel ? MG_DO_LD_KPARAM : load ? MG_DO_LD_PARAM : MG_DO_ST_PARAM, m);
}

/* Accesses of one block by one register show the same pattern: the first compares the lanes, the others rely on it. */
static void join_lead(struct mg_lower *L, struct mg_mem *m, uint32_t reg)
{
    for (uint32_t k = 0; k < L->nleads; k++)
        if (L->leads[k].open && L->leads[k].reg == reg) {
            m->lead = (int8_t)k;
            return;
        }
    if (L->nleads == MG_LEADS)
        return;
    L->leads[L->nleads].reg = reg;
    L->leads[L->nleads].open = true;
    m->lead = (int8_t)L->nleads++;
    m->leads = true;
}

/* What an instruction writes starts a new lead; where leaves may change, all do. */
void mg__lower_close_leads(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    if (i->effects & (MG_E_SYNCS | MG_E_WARP | MG_E_ORDERS | MG_E_CALLS)) {
        L->nleads = 0;
        return;
    }
    for (unsigned n = 0; n < i->nops && mg__ptx_writes(i, n); n++) {
        const struct mg_ptx_opnd *o = mg__lower_opnd(L, n);
        uint32_t count = o->kind == MG_OPND_VEC ? o->count : 1;
        const struct mg_ptx_opnd *e = o->kind == MG_OPND_VEC ? &L->func->operands[o->first] : o;
        for (uint32_t v = 0; v < count; v++)
            for (uint32_t k = 0; e[v].kind == MG_OPND_REG && k < L->nleads; k++)
                if (L->leads[k].reg == e[v].index)
                    L->leads[k].open = false;
    }
}

static bool is_global(const struct mg_mem *m)
{
    return m->space == MG_SPACE_GLOBAL || m->space == MG_SPACE_CONST;
}

static bool word_handler(const struct mg_lanes *l, const struct mg_mem *m, bool watched, mg_handler *fn)
{
    bool load = m->kind == MG_ACCESS_LD, follows = m->lead >= 0 && !m->leads;
    if (watched || m->width != 4 || m->vec != 1 || m->dst64 || m->poll || m->local_frame || m->no_shape ||
        m->reg[0] < 0 || m->offset != (int32_t)m->offset)
        return false;
    if (m->space == MG_SPACE_SHARED && !m->addr64)
        *fn = load ? l->ld_shared_word[follows] : l->st_shared_word[follows];
    else if (is_global(m) && m->addr64)
        *fn = load ? l->ld_global_word[follows] : l->st_global_word[follows];
    else
        return false;
    return true;
}

/* The word accesses that follow ops[first], up to where the next lead of that number begins. */
static bool make_group(struct mg_lower *L, size_t first)
{
    const struct mg_op *lead = &L->ops.at[first];
    struct mg_mem *m = (struct mg_mem *)lead->u.mem;
    struct mg_group g = {0};
    for (unsigned pass = 0; pass < 2; pass++) {
        g.count = 0;
        for (size_t k = first; k < L->ops.count; k++) {
            const struct mg_op *op = &L->ops.at[k];
            mg_handler fn;
            if (mg__op_rows[op->is->id].kind == MG_ENGINE_BLOCK)
                break;
            if (!mg__op_has(op, MG_ENGINE_ACCESS) || op->u.mem->lead != m->lead)
                continue;
            if (k != first && op->u.mem->leads)
                break;
            int64_t offset = op->u.mem->offset - m->offset;
            if (!word_handler(L->lanes, op->u.mem, L->watched, &fn) || op->u.mem->space != m->space ||
                offset != (int32_t)offset)
                return true; /* a member that must look for itself: so do all */
            if (pass) {
                g.members[g.count] = (struct mg_member){op->insn, (int32_t)offset, op->u.mem};
                g.least = MG_MIN(g.least, (int32_t)offset);
                g.greatest = MG_MAX(g.greatest, (int32_t)offset);
            }
            g.count++;
        }
        if (g.count < 2)
            return true;
        if (!pass && !(g.members = mg__arena_array(&L->program->arena, g.count, sizeof *g.members)))
            return false;
    }
    struct mg_group *kept = mg__arena_alloc(&L->program->arena, sizeof *kept);
    if (!kept)
        return false;
    *kept = g;
    m->group = kept;
    return true;
}

static mg_handler watched_handler(const struct mg_lanes *l, const struct mg_op *op, bool alone)
{
    const struct mg_mem *m = op->u.mem;
    const bool load = m->kind == MG_ACCESS_LD;
    if ((!load && m->kind != MG_ACCESS_ST) || (m->space != MG_SPACE_SHARED && !is_global(m)))
        return mg__op_handler(l, op);
    if (m->space == MG_SPACE_SHARED)
        return load ? l->ld_shared_watched[alone][m->addr64] : l->st_shared_watched[alone][m->addr64];
    return load ? l->ld_global_watched[alone] : l->st_global_watched[alone];
}

mg_handler mg__watched_call(const struct mg_lanes *l, const struct mg_op *op)
{
    switch (mg__op_rows[op->is->id].kind) {
    case MG_ENGINE_BARRIER:
        return mg__tell_bar;
    case MG_ENGINE_EXIT:
        return mg__tell_exit;
    default:
        return mg__op_has(op, MG_ENGINE_ACCESS) ? watched_handler(l, op, true) : mg__op_handler(l, op);
    }
}

void mg__lower_forms(struct mg_lower *L)
{
    for (size_t k = 0; k < L->ops.count; k++) {
        struct mg_op *op = &L->ops.at[k];
        mg_handler fn;
        if (!mg__op_has(op, MG_ENGINE_ACCESS))
            continue;
        if (L->watched)
            op->fn = watched_handler(L->lanes, op, false);
        if (op->is->id == MG_DO_COUNTER)
            op->fn = L->lanes->red_shared_add;
        if (!word_handler(L->lanes, op->u.mem, L->watched, &fn))
            continue;
        const struct mg_mem *m = op->u.mem;
        if (m->leads && !make_group(L, k))
            L->status = MG_ERR_NOMEM;
        op->fn = fn;
        op->a = m->addr;
        op->b = (int32_t)m->site;
        op->c = (int32_t)m->offset;
        op->d = m->reg[0];
        op->e = m->lead;
        op->d2 = m->group != NULL;
    }
}

static bool together(const struct mg_mem *m)
{
    return (m->space == MG_SPACE_SHARED || is_global(m)) && !m->no_shape;
}

static void emit_load_store(struct mg_lower *L, struct mg_mem *m)
{
    const bool load = m->kind == MG_ACCESS_LD;
    if (m->space == MG_SPACE_SHARED && together(m))
        emit_access(L,
                    load ? (m->addr64 ? MG_DO_LD_SHARED64 : MG_DO_LD_SHARED32)
                         : (m->addr64 ? MG_DO_ST_SHARED64 : MG_DO_ST_SHARED32),
                    m);
    else if (together(m))
        emit_access(L, load ? MG_DO_LD_GLOBAL : MG_DO_ST_GLOBAL, m);
    else
        emit_access(L, load ? MG_DO_LD_LANES : MG_DO_ST_LANES, m);
}

struct mg_mem *mg__lower_place(struct mg_lower *L, bool load, const struct mg_ptx_opnd *address)
{
    struct mg_mem *m = new_mem(L, L->insn->space, load ? MG_ACCESS_LD : MG_ACCESS_ST);
    m->type = MG_T_B32;
    m->no_shape = L->module->simt->options.each_lane;
    return set_address(L, m, address) ? m : NULL;
}

struct mg_mem *mg__lower_again(struct mg_lower *L, const struct mg_mem *like)
{
    struct mg_mem *m = new_mem(L, like->space, like->kind);
    const uint32_t site = m->site;
    *m = *like;
    m->site = site;
    return m;
}

void mg__lower_words(struct mg_lower *L, struct mg_mem *m)
{
    emit_load_store(L, m);
}

static void lower_ld_st(struct mg_lower *L, bool load)
{
    const struct mg_ptx_insn *i = L->insn;
    if (i->space == MG_SPACE_PARAM) {
        lower_param(L, load);
        return;
    }
    struct mg_mem *m = new_mem(L, i->space, load ? MG_ACCESS_LD : MG_ACCESS_ST);
    if (!set_elements(L, m, mg__lower_opnd(L, load ? 0 : 1), load) ||
        !set_address(L, m, mg__lower_opnd(L, load ? 1 : 0))) {
        mg__lower_unsupported(L);
        return;
    }
    if (load && polls(i) && m->space != MG_SPACE_LOCAL)
        m->poll = m->space == MG_SPACE_SHARED ? 1 : 2;
    if (m->poll && !m->cluster && (m->space == MG_SPACE_GLOBAL || m->space == MG_SPACE_GENERIC))
        L->program->ordered = true;
    const struct mg_ptx_opnd *at = mg__lower_opnd(L, load ? 1 : 0);
    m->no_shape = L->module->simt->options.each_lane;
    if (at->has_reg && i->guard < 0 && together(m)) /* the others compare no lanes */
        join_lead(L, m, at->index);
    emit_load_store(L, m);
}

void mg__lower_load(struct mg_lower *L)
{
    lower_ld_st(L, true);
}

void mg__lower_store(struct mg_lower *L)
{
    lower_ld_st(L, false);
}

/* Whether somebody reads what an atom gives back. */
static bool is_read(const struct mg_lower *L, const struct mg_ptx_opnd *d)
{
    return d->kind == MG_OPND_REG && L->reads[d->index] != 1;
}

/* atom and red on a vector in global memory: each element is an operation of its own. */
static bool set_vector(struct mg_lower *L, struct mg_mem *m, const struct mg_ptx_opnd *d,
                       const struct mg_ptx_opnd *with)
{
    struct mg_mem sources = *m;
    bool wide = m->width == 4 || m->width == 2;
    bool one = m->atomop == MG_ATOM_ADD || m->atomop == MG_ATOM_MIN || m->atomop == MG_ATOM_MAX;
    if (!wide || !one || !set_elements(L, &sources, with, false) || sources.vec != L->insn->vec || sources.dst64)
        return false;
    if (d && (!set_elements(L, m, d, true) || m->vec != sources.vec || m->dst64))
        return false;
    memcpy(m->with, sources.reg, sizeof m->with);
    m->vec = sources.vec;
    m->sext = false;
    return true;
}

/* The four words of a 128-bit operand, unpacked into L->quad from `at` on. */
static bool set_words(struct mg_lower *L, const struct mg_ptx_opnd *o, int32_t *with, unsigned at)
{
    int32_t half[2];
    if (!mg__lower_halves(L, o, false, half))
        return false;
    for (unsigned k = 0; k < 4; k++)
        with[k] = L->quad[at + k];
    mg__lower_unpack(L, half[0], with[0], with[1]);
    mg__lower_unpack(L, half[1], with[2], with[3]);
    return true;
}

/* atom.exch and atom.cas of 128 bits. The operands are unpacked to words (cas: first what is compared) and the old
 * value is packed from words, so that both engines know all slots of the operation as those of any other vector: eight
 * elements of two bytes are the sixteen that it reaches. Blocks of such a kernel run in order on one worker. */
static void lower_atomic128(struct mg_lower *L, struct mg_mem *m)
{
    const struct mg_ptx_insn *i = L->insn;
    const struct mg_ptx_opnd *d = mg__lower_opnd(L, 0);
    bool cas = i->atomop == MG_ATOM_CAS;
    int32_t half[2] = {-1, -1};
    if (i->access != MG_ACCESSES_ATOM || (!cas && i->atomop != MG_ATOM_EXCH) || i->vec > 1 || i->nops < (cas ? 4 : 3) ||
        !set_address(L, m, mg__lower_opnd(L, 1)) || (d->kind != MG_OPND_SINK && !mg__lower_halves(L, d, true, half))) {
        mg__lower_unsupported(L);
        return;
    }
    for (unsigned k = 0; k < MG_COUNT(L->quad); k++)
        if (L->quad[k] < 0)
            L->quad[k] = (int32_t)mg__lower_new_slot(L, 128);
    for (unsigned k = 0; k < MG_COUNT(m->with); k++)
        m->with[k] = -1;
    if (!set_words(L, mg__lower_opnd(L, 2), m->with, 0) ||
        (cas && !set_words(L, mg__lower_opnd(L, 3), m->with + 4, 4))) {
        mg__lower_unsupported(L);
        return;
    }
    m->kind = MG_ACCESS_ATOM;
    m->poll = m->space == MG_SPACE_SHARED ? 1 : 2;
    m->width = 2;
    m->vec = 8;
    m->dst64 = false;
    L->program->ordered |= m->space != MG_SPACE_SHARED && !m->cluster;
    for (unsigned k = 0; k < 4 && half[0] >= 0; k++)
        m->reg[k] = L->quad[8 + k];
    emit_access(L, MG_DO_ATOM, m);
    for (unsigned k = 0; k < 2 && half[0] >= 0; k++)
        mg__lower_pack(L, half[k], L->quad[8 + 2 * k], L->quad[9 + 2 * k]);
}

void mg__lower_atomic(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    bool atom = i->access == MG_ACCESSES_ATOM;
    const struct mg_ptx_opnd *d = atom ? mg__lower_opnd(L, 0) : NULL;
    unsigned first = atom ? 1 : 0;
    struct mg_mem *m = new_mem(L, i->space, MG_ACCESS_RED);
    m->width = (uint8_t)mg__lower_type_size(i->type[0]);
    m->type = i->type[0];
    m->atomop = i->atomop;
    m->dst64 = m->width == 8;
    m->no_shape = true;
    for (unsigned k = 0; k < MG_COUNT(m->reg); k++)
        m->reg[k] = -1;
    m->vec = 1;
    if (m->width == 16) {
        lower_atomic128(L, m);
        return;
    }
    if (i->nops < first + 2u || m->width < 2 || m->width > 8 || !set_address(L, m, mg__lower_opnd(L, first))) {
        mg__lower_unsupported(L);
        return;
    }
    /* ptxas turns an atom whose result nobody reads into red, where red has the operation; so do the counts. */
    bool used = false;
    for (unsigned k = 0; d && k < (d->kind == MG_OPND_VEC ? d->count : 1); k++)
        used |= is_read(L, d->kind == MG_OPND_VEC ? &L->func->operands[d->first + k] : d);
    bool always = i->atomop == MG_ATOM_CAS || i->atomop == MG_ATOM_EXCH;
    m->kind = used || always ? MG_ACCESS_ATOM : MG_ACCESS_RED;
    m->poll = m->kind == MG_ACCESS_RED ? 0 : m->space == MG_SPACE_SHARED ? 1 : 2;
    bool good = true;
    const struct mg_ptx_opnd *with = mg__lower_opnd(L, first + 1);
    if (i->vec > 1) {
        good = set_vector(L, m, d, with);
    } else {
        if (atom && d->kind == MG_OPND_REG) {
            m->reg[0] = mg__lower_destination(L, d, m->width);
            good = m->reg[0] >= 0 && !(mg__lower_reg_size(L, d) == 8 && m->width < 8);
        }
        m->reg[1] = mg__lower_source(L, with, m->dst64 ? 8 : 4, i->type[0], 0);
        if (i->atomop == MG_ATOM_CAS)
            m->reg[2] = i->nops > first + 2u
                            ? mg__lower_source(L, mg__lower_opnd(L, first + 2), m->dst64 ? 8 : 4, i->type[0], 1)
                            : -1;
        good = good && m->reg[1] >= 0 && (i->atomop != MG_ATOM_CAS || m->reg[2] >= 0);
    }
    if (!good) {
        mg__lower_unsupported(L);
        return;
    }
    if (m->kind == MG_ACCESS_ATOM && m->space != MG_SPACE_SHARED && !m->cluster)
        L->program->ordered = true;
    bool counter = m->space == MG_SPACE_SHARED && !m->addr64 && m->kind == MG_ACCESS_RED && m->atomop == MG_ATOM_ADD &&
                   (m->type == MG_T_U32 || m->type == MG_T_S32) && !L->module->simt->options.each_lane;
    emit_access(L, counter ? MG_DO_COUNTER : MG_DO_ATOM, m);
}

void mg__lower_cp_async(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    if (i->sub != MG_SUB_NONE) {
        bool all = i->sub == MG_SUB_WAIT_ALL || i->nops == 0 || mg__lower_opnd(L, 0)->kind != MG_OPND_IMM;
        uint64_t pending = all ? ~0u : (uint64_t)mg__lower_opnd(L, 0)->imm;
        struct mg_op *group = mg__lower_op(L, MG_DO_CP_GROUP, 0, NULL, 0);
        group->mode = i->sub != MG_SUB_COMMIT_GROUP;
        group->u.imm = pending;
        return;
    }
    struct mg_mem *m = mg__arena_array(&L->program->arena, 2, sizeof *m);
    if (!m || i->nops < 3 || mg__lower_opnd(L, 2)->kind != MG_OPND_IMM) {
        mg__lower_unsupported(L);
        return;
    }
    int64_t bytes = mg__lower_opnd(L, 2)->imm;
    bool good = bytes == 4 || bytes == 8 || bytes == 16;
    for (unsigned k = 0; k < 2; k++) {
        if (!mg__vec_push(&L->mems, &m[k]))
            L->status = MG_ERR_NOMEM;
        m[k].site = L->program->nsites++;
        m[k].lead = -1;
        m[k].space = k ? MG_SPACE_GLOBAL : MG_SPACE_SHARED;
        m[k].kind = MG_ACCESS_CP_ASYNC;
        m[k].no_shape = true;
        m[k].width = (uint8_t)(bytes == 16 ? 8 : bytes);
        m[k].vec = bytes == 16 ? 2 : 1;
        m[k].reg[0] = -1;
        good = good && set_address(L, &m[k], mg__lower_opnd(L, k));
    }
    int32_t size = -1;
    const struct mg_ptx_opnd *o = i->nops > 3 ? mg__lower_opnd(L, 3) : NULL;
    if (good && o && !(o->kind == MG_OPND_IMM && o->imm == bytes)) {              /* not all that is copied */
        bool predicate = o->kind == MG_OPND_REG && mg__lower_reg_size(L, o) == 0; /* ignore-src */
        size = mg__lower_source(L, o, predicate ? 0 : 4, MG_T_U32, 0);
        good = size >= 0;
        m[0].sext = predicate;
    }
    if (!good) {
        mg__lower_unsupported(L);
        return;
    }
    mg__lower_op(L, MG_DO_CP_ASYNC, 0,
                 MG_OPERANDS(MG_SIZED(size, m[0].sext ? 0 : 4), MG_SIZED(m[0].addr, m[0].addr64 ? 8 : 4),
                             MG_SIZED(m[1].addr, m[1].addr64 ? 8 : 4)))
        ->u.mem = m;
}

void mg__lower_cvta(struct mg_lower *L)
{
    const struct mg_ptx_insn *i = L->insn;
    const struct mg_simt *simt = L->module->simt;
    uint8_t space = i->space;
    uint64_t window = space == MG_SPACE_SHARED  ? simt->shared_window
                      : space == MG_SPACE_LOCAL ? simt->local_window
                      : space == MG_SPACE_PARAM ? simt->param_window
                                                : 0;
    int32_t a = mg__lower_source(L, mg__lower_opnd(L, 1), 8, MG_T_U64, 0),
            d = mg__lower_destination(L, mg__lower_opnd(L, 0), 8);
    if (a < 0 || d < 0) {
        mg__lower_unsupported(L);
        return;
    }
    if (!window) {
        mg__lower_copy(L, 8, d, a);
        return;
    }
    int32_t args[4] = {a, mg__lower_const(L, window, true), -1, -1};
    mg__lower_row(L, mg__sem_find(i->flags & MG_F_TO ? "sub_u64" : "add_u64"), 0, d, args);
}
