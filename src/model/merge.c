/* merge.c - what ptxas makes of a kernel's accesses before the hardware counts them, worked out from the PTX.
 *
 * Learnt from ptxas 13.0 for sm_90 (tests/model/merge has the cases and what it made of each):
 *
 * Loads of shared memory are joined when they stand in one basic block with nothing between them that could change
 * shared memory or order it (a store or atomic to shared or generic addresses, a barrier, a fence, a call, a division
 * that becomes a call), have elements of one size, and addresses of one base plus constants. The base's alignment must
 * be provable. Of a window of four elements, aligned as a whole, three or four become one access of the whole window,
 * holes included; of an aligned pair, both become one access. Elements are 2, 4 or 8 bytes, the joined access at most
 * 8, 16 and 16. Loads that extend a sign, volatile and guarded loads stay alone.
 *
 * Of a vector that is loaded, from wherever, only what is read later counts: an element alone, an aligned pair of four,
 * or, of 4 bytes, two others by themselves; of three or four the access is whole, and so is one of bytes, or a volatile
 * one. Joining goes by such elements, too.
 *
 * Stores are joined when they follow one another with no other access to shared memory between them, and are full pairs
 * or full windows. Global accesses, which ptxas joins where another one shows their base's alignment, are left alone.
 *
 * Addresses and their alignment are linear forms of src/flow, shared variables lie where ptxas lays them out.
 *
 * Atomics whose result nobody reads become reductions, but for those of global memory that acquire. Those at generic
 * addresses, which are libcu++'s, are atomics with a result whatever they were. Integer reductions at an address that
 * all lanes provably share are made over the warp first, and one lane does the rest (`lanes_of`).
 *
 * Left out: joining across blocks (ptxas may hoist a load over a branch), loads that it removes as redundant where nvcc
 * has left any, and unrolling, which joins nothing that was not joined before.
 */
#include "model/model_priv.h"

struct access { /* a load or store that may be joined */
    uint32_t insn;
    struct mg_flow_form at;
    uint8_t element, elements;
    uint8_t read; /* elements, a bit each: of a load those that are read later, of a store all */
    bool taken;
};

struct analysis {
    const struct mg_ptx_func *func;
    const struct mg_cfg *cfg;
    struct mg_flow_values values;
    struct mg_model_plan *plan;
    MG_VEC(struct access) loads;
    MG_VEC(struct access) stores;
    bool nomem;
};

/* The power of two that the address, without its constant, is known to be a multiple of. */
static unsigned base_align(const struct analysis *a, const struct mg_flow_form *l)
{
    return 1u << mg__flow_base_zeros(&a->values, l);
}

/* Where the variable lies, if the address is that of a variable plus a constant. */
static int64_t base_offset(const struct analysis *a, const struct mg_flow_form *l)
{
    return l->var && !l->nterms ? (int64_t)a->values.shared->at[l->var->id] : 0;
}

/* ---- joining ---- */
static int64_t window_of(int64_t add, int64_t size)
{
    return (add - (add % size + size) % size) / size;
}

static void carry(struct analysis *a, struct access **owner, unsigned n, int64_t start, unsigned width)
{
    struct access *lead = NULL;
    for (unsigned i = 0; i < n; i++)
        if (owner[i] && (!lead || owner[i]->insn < lead->insn))
            lead = owner[i];
    for (unsigned i = 0; i < n; i++)
        if (owner[i])
            a->plan[owner[i]->insn] = (struct mg_model_plan){.changed = true, .joined = (uint8_t)width};
    a->plan[lead->insn] = (struct mg_model_plan){
        .changed = true, .width = (uint8_t)width, .joined = (uint8_t)width, .delta = (int8_t)(start - lead->at.add)};
}

/* How many different instructions own elements, and how many elements are owned. */
static unsigned distinct(struct access *const *owner, unsigned n, unsigned *elements)
{
    unsigned count = 0;
    *elements = 0;
    for (unsigned i = 0; i < n; i++) {
        bool first = owner[i] != NULL;
        *elements += owner[i] != NULL;
        for (unsigned k = 0; k < i; k++)
            first &= owner[k] != owner[i];
        count += first;
    }
    return count;
}

/* One window of at most four elements. `full`: holes are not allowed (stores). */
static void join_window(struct analysis *a, struct access **owner, unsigned n, unsigned element, int64_t start,
                        bool full)
{
    unsigned elements, insns = distinct(owner, n, &elements);
    if (insns > 1 && n == 4 && elements >= (full ? 4 : 3)) {
        carry(a, owner, n, start, element * n);
        return;
    }
    for (unsigned i = 0; i + 1 < n; i += 2) {
        insns = distinct(owner + i, 2, &elements);
        if (insns == 2)
            carry(a, owner + i, 2, start + (int64_t)(i * element), element * 2);
    }
}

static void join(struct analysis *a, struct access *at, size_t count, bool full)
{
    for (size_t i = 0; i < count; i++) {
        if (at[i].taken)
            continue;
        unsigned element = at[i].element, most = element == 2 ? 8 : 16;
        int64_t base = base_offset(a, &at[i].at);
        unsigned align = base ? most : base_align(a, &at[i].at);
        unsigned size = MG_MIN(most, align);
        if (size < 2 * element)
            continue;
        struct access *owner[4] = {NULL};
        int64_t window = window_of(at[i].at.add + base, size);
        for (size_t k = i; k < count; k++) {
            if (at[k].taken || at[k].element != element || !mg__flow_same_base(&at[i].at, &at[k].at) ||
                window_of(at[k].at.add + base, size) != window)
                continue;
            at[k].taken = true;
            bool fresh = false;
            for (unsigned e = 0; e < at[k].elements; e++) {
                int64_t slot = (at[k].at.add + base - window * size) / element + e;
                if (at[k].read >> e & 1 && slot < 4 && slot < size / element && !owner[slot]) {
                    owner[slot] = &at[k];
                    fresh = true;
                }
            }
            if (!fresh && !full) /* loads what another has loaded */
                a->plan[at[k].insn] = (struct mg_model_plan){.changed = true, .joined = (uint8_t)size};
        }
        join_window(a, owner, size / element, element, window * size - base, full);
    }
}

static void end_loads(struct analysis *a)
{
    join(a, a->loads.at, a->loads.count, false);
    a->loads.count = 0;
}

static void end_stores(struct analysis *a)
{
    join(a, a->stores.at, a->stores.count, true);
    a->stores.count = 0;
}

/* What is left of a load that stays alone. */
static void narrow(struct analysis *a, uint32_t i)
{
    const struct mg_ptx_insn *insn = &a->func->insns[i];
    const enum mg_ptx_type type = insn->ntypes ? (enum mg_ptx_type)insn->type[insn->ntypes - 1] : MG_T_NONE;
    const unsigned element = mg__ptx_type_size(type), n = insn->vec;
    if (insn->access != MG_ACCESSES_LOAD || insn->space == MG_SPACE_PARAM || (n != 2 && n != 4) || element < 2 ||
        element > 8 || insn->sem > MG_PTX_SEM_RELAXED || a->plan[i].changed)
        return;
    const unsigned read = mg__flow_elements(a->func, &a->values.chains, insn),
                   first = read ? (unsigned)__builtin_ctz(read) : 0, count = (unsigned)__builtin_popcount(read);
    const bool pair = count == 2 && n == 4 && first % 2 == 0 && read >> first == 3;
    const bool apart = count == 2 && n == 4 && !pair && element == 4;
    if (count == 1 || pair || apart)
        a->plan[i] = (struct mg_model_plan){
            .changed = true,
            .width = (uint8_t)(pair ? 2 * element : element),
            .delta = (int8_t)(first * element),
            .second = (int8_t)(apart ? (31 - __builtin_clz(read) - (int)first) * (int)element : 0)};
}

/* May the access be joined at all? */
static bool joinable(const struct analysis *a, const struct mg_ptx_insn *insn, uint32_t index, struct access *out)
{
    const struct mg_ptx_opnd *addr = mg__ptx_op(a->func, insn, insn->address);
    enum mg_ptx_type type = insn->ntypes ? insn->type[insn->ntypes - 1] : MG_T_NONE;
    if (insn->guard >= 0 || addr->kind != MG_OPND_ADDR || insn->sem > MG_PTX_SEM_RELAXED)
        return false;
    switch (type) {
    case MG_T_B16:
    case MG_T_U16:
    case MG_T_F16:
    case MG_T_BF16:
        out->element = 2;
        break;
    case MG_T_S16: /* sign-extended when it is loaded, not when it is stored */
        if (insn->access == MG_ACCESSES_LOAD)
            return false;
        out->element = 2;
        break;
    case MG_T_B32:
    case MG_T_U32:
    case MG_T_S32:
    case MG_T_F32:
    case MG_T_F16X2:
    case MG_T_BF16X2:
        out->element = 4;
        break;
    case MG_T_B64:
    case MG_T_U64:
    case MG_T_S64:
    case MG_T_F64:
        out->element = 8;
        break;
    default:
        return false;
    }
    out->elements = insn->vec ? insn->vec : 1;
    out->read = mg__flow_elements(a->func, &a->values.chains, insn);
    out->read = out->read ? out->read : 0xff;
    out->insn = index;
    out->taken = false;
    return mg__flow_form(&a->values, index, addr, &out->at);
}

/* Divisions and roots that are rounded right, and 64-bit integer divisions, are calls in machine code. */
static bool becomes_call(const struct mg_ptx_insn *insn)
{
    bool alu = mg__ptx_isa((enum mg_ptx_opcode)insn->opcode)->group == MG_G_ALU;
    return insn->effects & MG_E_CALLS ||
           (alu && insn->splits && !(insn->flags & (MG_F_APPROX | MG_F_FULL)) && insn->type[0] != MG_T_S32 &&
            insn->type[0] != MG_T_U16 && insn->type[0] != MG_T_S16);
}

/* What ptxas does for the warp as a whole where all lanes share the address: 32-bit reductions by REDUX, counting lanes
 * where the operand is the same for all (64-bit sums too). Sums with a result and an operand of their own go that way
 * only in a full warp. */
static enum mg_model_lanes lanes_of(const struct analysis *a, const struct mg_ptx_insn *insn, bool result)
{
    const struct mg_ptx_opnd *address = mg__ptx_op(a->func, insn, insn->address);
    enum mg_ptx_type type = insn->ntypes ? insn->type[insn->ntypes - 1] : MG_T_NONE;
    bool word = type == MG_T_U32 || type == MG_T_S32 || type == MG_T_B32;
    bool same_value = !mg__flow_varies(&a->values, address + 1);
    if (mg__flow_varies(&a->values, address))
        return MG_MODEL_ALL_LANES;
    switch (insn->atomop) {
    case MG_ATOM_ADD:
        if (same_value && (word || type == MG_T_U64))
            return MG_MODEL_ONE_LANE;
        return !word ? MG_MODEL_ALL_LANES : result ? MG_MODEL_ONE_IF_FULL : MG_MODEL_ONE_LANE;
    case MG_ATOM_MIN:
    case MG_ATOM_MAX:
    case MG_ATOM_AND:
    case MG_ATOM_OR:
    case MG_ATOM_XOR:
        return word && !result ? MG_MODEL_ONE_LANE : MG_MODEL_ALL_LANES;
    default:
        return MG_MODEL_ALL_LANES;
    }
}

/* Whether a 32-bit reduction adds the constant 1, for which the hardware has an instruction that counts lanes. */
static bool adds_one(const struct analysis *a, uint32_t i)
{
    const struct mg_ptx_insn *insn = &a->func->insns[i];
    enum mg_ptx_type type = insn->ntypes ? insn->type[insn->ntypes - 1] : MG_T_NONE;
    struct mg_flow_form value;
    return insn->atomop == MG_ATOM_ADD && (type == MG_T_U32 || type == MG_T_S32) &&
           mg__flow_form(&a->values, i, mg__ptx_op(a->func, insn, insn->address + 1u), &value) && !value.var &&
           !value.nterms && value.add == 1;
}

static bool is_unread(const struct analysis *a, const struct mg_ptx_opnd *d)
{
    bool all = d->kind == MG_OPND_VEC;
    for (uint32_t k = 0; all && k < d->count; k++)
        all = is_unread(a, &a->func->operands[d->first + k]);
    return all || d->kind == MG_OPND_SINK || (d->kind == MG_OPND_REG && !mg__flow_is_read(&a->values.chains, d->index));
}

static void visit_store(struct analysis *a, uint32_t i)
{
    const struct mg_ptx_insn *insn = &a->func->insns[i];
    struct access access;
    end_loads(a);
    if (insn->space != MG_SPACE_SHARED || !joinable(a, insn, i, &access)) {
        end_stores(a);
        return;
    }
    if (a->stores.count) { /* a store elsewhere ends the run */
        const struct access *last = &a->stores.at[a->stores.count - 1];
        int64_t most = access.element == 2 ? 8 : 16, base = base_offset(a, &access.at);
        int64_t size = base ? most : MG_MIN(most, (int64_t)base_align(a, &access.at));
        if (last->element != access.element || !mg__flow_same_base(&last->at, &access.at) ||
            window_of(last->at.add + base, size) != window_of(access.at.add + base, size))
            end_stores(a);
    }
    a->nomem |= !mg__vec_push(&a->stores, access);
}

static void visit_atomic(struct analysis *a, uint32_t i)
{
    const struct mg_ptx_insn *insn = &a->func->insns[i];
    const bool acquires = insn->sem == MG_PTX_SEM_ACQUIRE || insn->sem == MG_PTX_SEM_ACQ_REL;
    const bool result =
        insn->access == MG_ACCESSES_ATOM &&
        (!is_unread(a, mg__ptx_op(a->func, insn, 0)) || insn->atomop == MG_ATOM_CAS || insn->atomop == MG_ATOM_EXCH);
    const bool stays = result || insn->space == MG_SPACE_GENERIC || (acquires && insn->space == MG_SPACE_GLOBAL);
    a->plan[i].kind = stays ? MG_ACCESS_ATOM : MG_ACCESS_RED;
    a->plan[i].counts = !result && insn->space != MG_SPACE_GENERIC && adds_one(a, i);
    a->plan[i].lanes = (uint8_t)lanes_of(a, insn, result);
}

static void visit(struct analysis *a, uint32_t i)
{
    const struct mg_ptx_insn *insn = &a->func->insns[i];
    bool shared = insn->space == MG_SPACE_SHARED || insn->space == MG_SPACE_GENERIC;
    bool orders = insn->effects & (MG_E_SYNCS | MG_E_ORDERS) || insn->sub == MG_SUB_WARP_SYNC ||
                  mg__ptx_isa((enum mg_ptx_opcode)insn->opcode)->access == MG_ACCESSES_COPY;
    struct access access;
    if (i == a->cfg->blocks[a->cfg->block_of[i]].first || orders || becomes_call(insn) ||
        (shared && mg__ptx_is_atomic(insn))) {
        end_loads(a);
        end_stores(a);
    }
    if (insn->access == MG_ACCESSES_LOAD && insn->space == MG_SPACE_SHARED) {
        end_stores(a);
        if (joinable(a, insn, i, &access))
            a->nomem |= !mg__vec_push(&a->loads, access);
    } else if (insn->access == MG_ACCESSES_STORE && shared) {
        visit_store(a, i);
    } else if (mg__ptx_is_atomic(insn)) {
        visit_atomic(a, i);
    }
}

struct mg_model_plan *mg__model_merge(const struct mg_ptx_func *func, const struct mg_flow_shared *shared)
{
    struct analysis a = {.func = func};
    struct mg_cfg *cfg;
    if (mg__cfg_build(func, &cfg) != MG_OK)
        return NULL;
    a.cfg = cfg;
    a.plan = calloc(func->ninsns + 1, sizeof(*a.plan));
    a.nomem = !mg__flow_values(func, cfg, shared, &a.values) || !a.plan;
    for (uint32_t i = 0; i < func->ninsns && !a.nomem; i++)
        visit(&a, i);
    if (!a.nomem) {
        end_loads(&a);
        end_stores(&a);
        for (uint32_t i = 0; i < func->ninsns; i++)
            narrow(&a, i);
    }
    mg__vec_free(&a.loads);
    mg__vec_free(&a.stores);
    mg__flow_values_free(&a.values);
    mg__cfg_free(cfg);
    if (a.nomem) {
        free(a.plan);
        return NULL;
    }
    return a.plan;
}
