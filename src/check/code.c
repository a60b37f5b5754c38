/* code.c - what a kernel's instructions tell before it runs.
 *
 * Where an address comes from is worked out register by register, without regard to order: a register that is only ever
 * computed from one variable's address, or from one pointer among the parameters, and from numbers, points into that
 * object. Adding two pointers is not followed: then nothing is claimed. What was loaded from memory is a number where
 * it is added to a pointer, but may be a pointer where a register has it on one path and a pointer on another: then
 * nothing is claimed either.
 *
 * A volatile load that goes round a loop with an address that the loop does not change, and with nothing in the loop
 * that writes, waits for another thread: it synchronises (MG_ORDER_POLL), and so do its copies on the same source line.
 */
#include "check/check_priv.h"

/* ---- the instructions of one function ---- */
struct body {
    const struct mg_ptx_func *func;
    uint32_t base; /* its first instruction in the launch */
};

static struct body body_of(const struct mg_launch_info *info, uint32_t insn)
{
    const struct mg_insn_info *i = &info->insns[insn];
    return (struct body){i->func, insn - (uint32_t)(i->insn - i->func->insns)};
}

/* Calls visit for each instruction (by its number in the function) that may follow `at`. */
static void each_next(const struct mg_ptx_func *f, size_t at, void (*visit)(void *arg, size_t next), void *arg)
{
    uint32_t count;
    const uint32_t *to = mg__ptx_targets(f, &f->insns[at], &count);
    for (uint32_t k = 0; k < count; k++)
        visit(arg, to[k]);
    if (mg__ptx_falls(&f->insns[at]))
        visit(arg, at + 1);
}

struct search {
    const struct mg_ptx_func *func;
    uint8_t *seen;
    uint32_t *todo;
    size_t ntodo;
};

static void push(void *arg, size_t next)
{
    struct search *s = arg;
    if (next < s->func->ninsns && !s->seen[next]) {
        s->seen[next] = 1;
        s->todo[s->ntodo++] = (uint32_t)next;
    }
}

/* Marks what can be reached from the successors of `from` (or, with `from` past the end, from the entry) without going
 * through an instruction of which `stops` says so. The instruction that stops is marked itself. NULL: no memory. */
static uint8_t *reach(const struct mg_ptx_func *f, size_t from, bool (*stops)(const void *arg, size_t at),
                      const void *arg)
{
    struct search s = {.func = f, .seen = calloc(f->ninsns + 1, 1), .todo = calloc(f->ninsns + 1, sizeof(uint32_t))};
    if (s.seen && s.todo) {
        if (from < f->ninsns)
            each_next(f, from, push, &s);
        else
            push(&s, 0);
        while (s.ntodo) {
            uint32_t at = s.todo[--s.ntodo];
            if (!stops(arg, at))
                each_next(f, at, push, &s);
        }
    } else {
        free(s.seen);
        s.seen = NULL;
    }
    free(s.todo);
    return s.seen;
}

struct barrier_stop {
    const struct mg_ptx_func *func;
    bool stops, warp;
};

static bool at_barrier(const void *arg, size_t at)
{
    const struct barrier_stop *b = arg;
    const struct mg_ptx_insn *i = &b->func->insns[at];
    if (!b->stops || i->guard >= 0)
        return false;
    if (i->effects & MG_E_SYNCS)
        return i->sub != MG_SUB_ARRIVE;
    return b->warp && mg__ptx_meets_lanes(i);
}

bool mg__code_leads(const struct mg_launch_info *info, uint32_t from, uint32_t to, bool stops, bool warp)
{
    struct body a = body_of(info, from), b = body_of(info, to);
    if (a.func != b.func)
        return false;
    struct barrier_stop stop = {a.func, stops, warp};
    uint8_t *seen = reach(a.func, from - a.base, at_barrier, &stop);
    bool leads = seen && seen[to - b.base];
    free(seen);
    return leads;
}

struct avoid {
    size_t at;
};

static bool at_one(const void *arg, size_t at)
{
    return ((const struct avoid *)arg)->at == at;
}

static bool does_something(const struct mg_ptx_insn *i)
{
    return mg__ptx_accesses(i) || i->effects & (MG_E_SYNCS | MG_E_CALLS);
}

bool mg__code_ends(const struct mg_launch_info *info, uint32_t from)
{
    struct body b = body_of(info, from);
    struct barrier_stop never = {b.func, false, false};
    uint8_t *after = b.func->is_entry ? reach(b.func, from - b.base, at_barrier, &never) : NULL;
    bool ends = after && !does_something(&b.func->insns[from - b.base]);
    for (size_t at = 0; ends && at < b.func->ninsns; at++)
        ends = !(after[at] && does_something(&b.func->insns[at]));
    free(after);
    return ends;
}

bool mg__code_goes_around(const struct mg_launch_info *info, uint32_t barrier)
{
    struct body b = body_of(info, barrier);
    const struct mg_ptx_func *f = b.func;
    struct barrier_stop never = {f, false, false};
    uint8_t *after = reach(f, barrier - b.base, at_barrier, &never);
    bool around = false;
    /* Something that every thread comes to, whichever way it takes, behind the barrier. */
    for (size_t at = 0; after && !around && at < f->ninsns; at++) {
        if (!after[at] || at == barrier - b.base || !does_something(&f->insns[at]))
            continue;
        struct avoid avoid = {at};
        uint8_t *without = reach(f, SIZE_MAX, at_one, &avoid);
        bool must = without != NULL;
        for (size_t k = 0; without && k < f->ninsns; k++)
            must &= !(without[k] && k != at && f->insns[k].effects & MG_E_LEAVES);
        around = must;
        free(without);
    }
    free(after);
    return around;
}

/* ---- spinning ---- */
struct spin {
    const struct mg_ptx_func *func;
    uint32_t address; /* register */
    bool has_address;
};

static bool defines(const struct mg_ptx_func *f, const struct mg_ptx_insn *i, uint32_t reg)
{
    for (unsigned n = 0; n < i->nops && mg__ptx_writes(i, n); n++) {
        const struct mg_ptx_opnd *o = mg__ptx_op(f, i, n);
        uint32_t count = o->kind == MG_OPND_VEC ? o->count : 1;
        const struct mg_ptx_opnd *e = o->kind == MG_OPND_VEC ? &f->operands[o->first] : o;
        for (uint32_t k = 0; k < count; k++)
            if (e[k].kind == MG_OPND_REG && e[k].index == reg)
                return true;
    }
    return false;
}

static bool ends_spin(const void *arg, size_t at)
{
    const struct spin *s = arg;
    const struct mg_ptx_insn *i = &s->func->insns[at];
    return i->access == MG_ACCESSES_STORE || mg__ptx_is_atomic(i) || i->effects & (MG_E_CALLS | MG_E_SYNCS) ||
           (s->has_address && defines(s->func, i, s->address));
}

static bool is_volatile_load(const struct mg_ptx_insn *i)
{
    return i->access == MG_ACCESSES_LOAD && (i->sem == MG_PTX_SEM_VOLATILE || i->sem == MG_PTX_SEM_MMIO) &&
           i->space != MG_SPACE_PARAM;
}

static bool spins(const struct mg_ptx_func *f, size_t at)
{
    const struct mg_ptx_opnd *o = mg__ptx_op(f, &f->insns[at], 1);
    struct spin s = {f, o->index, o->kind == MG_OPND_ADDR && o->has_reg};
    uint8_t *seen = reach(f, at, ends_spin, &s);
    bool yes = seen && seen[at];
    free(seen);
    return yes;
}

static void find_polls(const struct mg_launch_info *info, struct code *code)
{
    for (uint32_t k = 0; k < info->ninsns; k++) {
        const struct mg_insn_info *i = &info->insns[k];
        if (!is_volatile_load(i->insn) || !spins(i->func, (size_t)(i->insn - i->func->insns)))
            continue;
        code->sites[k].class = MG_ORDER_POLL;
        for (uint32_t n = 0; i->line && n < info->ninsns; n++)
            if (is_volatile_load(info->insns[n].insn) && info->insns[n].line == i->line &&
                !strcmp(info->insns[n].file, i->file))
                code->sites[n].class = MG_ORDER_POLL;
    }
}

/* ---- where addresses come from ---- */
static bool is_value(struct source a)
{
    return a.kind == SOURCE_NONE || a.kind == SOURCE_SOME;
}

/* One or the other. */
static struct source join(struct source a, struct source b)
{
    if (a.kind == SOURCE_NONE)
        return b;
    if (b.kind == SOURCE_NONE || (a.kind == b.kind && a.var == b.var && a.offset == b.offset))
        return a;
    return (struct source){.kind = SOURCE_MANY};
}

/* Two parts of one sum. */
static struct source add(struct source a, struct source b)
{
    if (!is_value(a) && !is_value(b))
        return (struct source){.kind = SOURCE_MANY};
    return is_value(a) && b.kind != SOURCE_NONE ? b : a;
}

static struct source blur(struct source a)
{
    if (!is_value(a))
        a = (struct source){.kind = SOURCE_MANY};
    return a;
}

struct trace {
    const struct mg_launch_info *info;
    const struct mg_ptx_func *func;
    struct source *regs;
};

static struct source of_operand(const struct trace *t, const struct mg_ptx_opnd *o)
{
    struct source s = {.kind = SOURCE_NONE};
    if (o->kind == MG_OPND_REG && o->index < t->func->nregs)
        return t->regs[o->index];
    if ((o->kind == MG_OPND_SYMBOL || o->kind == MG_OPND_ADDR) && o->var && !o->var->is_param)
        s = (struct source){.kind = SOURCE_VAR, .var = o->var};
    if (o->kind == MG_OPND_ADDR && o->has_reg && o->index < t->func->nregs)
        s = add(s, t->regs[o->index]);
    return s;
}

/* A parameter that holds the address of live memory, or of memory that was, is a pointer; other numbers are numbers. */
static bool is_pointer(const struct mg_launch_info *info, uint64_t offset)
{
    uint64_t value;
    if (offset > info->param_size || sizeof(value) > info->param_size - offset)
        return false;
    memcpy(&value, info->params + offset, sizeof(value));
    if (value - info->range < info->range_size)
        return true;
    for (size_t i = 0; i < info->nallocations; i++)
        if (value - info->allocations[i].address < info->allocations[i].size)
            return true;
    return false;
}

static bool is_formal(const struct mg_ptx_func *f, const struct mg_ptx_var *var)
{
    for (size_t k = 0; k < f->nparams; k++)
        if (f->params[k] == var)
            return true;
    return false;
}

static struct source of_result(const struct trace *t, const struct mg_ptx_insn *i, unsigned element)
{
    const struct mg_ptx_func *f = t->func;
    struct source op[4] = {{.kind = SOURCE_NONE}};
    unsigned first = i->flags & MG_F_DUAL ? 2 : 1;
    for (unsigned n = first; n < i->nops && n - first < 4; n++)
        op[n - first] = of_operand(t, mg__ptx_op(f, i, n));
    switch (i->opcode) {
    case MG_OP_MOV: /* pieces of a value make numbers, and what is made of pieces may be anything */
        if (mg__ptx_op(f, i, 1)->kind == MG_OPND_VEC)
            return (struct source){.kind = SOURCE_SOME};
        return mg__ptx_op(f, i, 0)->kind == MG_OPND_VEC ? blur(op[0]) : op[0];
    case MG_OP_CVT:
    case MG_OP_CVTA:
    case MG_OP_SHFL:
        return op[0];
    case MG_OP_ADD:
    case MG_OP_ADDC:
        return add(op[0], op[1]);
    case MG_OP_SUB:
    case MG_OP_SUBC:
        return is_value(op[1]) ? op[0] : (struct source){.kind = SOURCE_MANY};
    case MG_OP_MAD:
    case MG_OP_MADC:
    case MG_OP_MAD24:
    case MG_OP_FMA:
        return add(add(blur(op[0]), blur(op[1])), op[2]);
    case MG_OP_SELP:
    case MG_OP_MIN:
    case MG_OP_MAX:
    case MG_OP_SLCT:
        return join(op[0], op[1]);
    case MG_OP_AND:
    case MG_OP_OR:
    case MG_OP_XOR:
        return add(op[0], op[1]);
    case MG_OP_LD: {
        const struct mg_ptx_opnd *o = mg__ptx_op(f, i, 1);
        struct source s = {.kind = SOURCE_SOME};
        if (i->space != MG_SPACE_PARAM || !f->is_entry || o->kind != MG_OPND_ADDR || !o->var || o->has_reg ||
            !is_formal(f, o->var) || mg__ptx_type_size((enum mg_ptx_type)i->type[0]) != 8)
            return s;
        uint64_t offset = o->var->offset + (uint64_t)o->imm + 8u * element;
        s.kind = SOURCE_NONE;
        if (is_pointer(t->info, offset))
            s = (struct source){.kind = SOURCE_PARAM, .offset = (uint32_t)offset};
        return s;
    }
    case MG_OP_ATOM:
    case MG_OP_LDU:
        return (struct source){.kind = SOURCE_SOME};
    case MG_OP_SETP:
    case MG_OP_ISSPACEP:
    case MG_OP_VOTE:
    case MG_OP_MATCH:
    case MG_OP_TESTP:
        return (struct source){.kind = SOURCE_NONE};
    default: {
        struct source s = {.kind = SOURCE_NONE};
        for (unsigned n = 0; n < 4; n++)
            s = add(s, blur(op[n]));
        return s;
    }
    }
}

/* Fills regs; each pass lets sources flow one step further, and they only ever grow. */
static void trace_function(struct trace *t)
{
    const struct mg_ptx_func *f = t->func;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = 0; k < f->ninsns; k++) {
            const struct mg_ptx_insn *i = &f->insns[k];
            if (i->nops < 2) /* a result with nothing that it came from */
                continue;
            for (unsigned n = 0; n < i->nops && mg__ptx_writes(i, n); n++) {
                const struct mg_ptx_opnd *d = mg__ptx_op(f, i, n);
                uint32_t count = d->kind == MG_OPND_VEC ? d->count : 1;
                const struct mg_ptx_opnd *e = d->kind == MG_OPND_VEC ? &f->operands[d->first] : d;
                for (uint32_t v = 0; v < count; v++) {
                    if (e[v].kind != MG_OPND_REG || e[v].index >= f->nregs)
                        continue;
                    struct source *at = &t->regs[e[v].index], now = join(*at, of_result(t, i, v));
                    changed |= now.kind != at->kind;
                    *at = now;
                }
            }
        }
    }
}

/* What the source is in this launch. */
static int32_t object_of(const struct mg_launch_info *info, const struct source *s)
{
    if (s->kind == SOURCE_VAR && s->var->space == MG_SPACE_SHARED) {
        for (uint32_t k = 0; k < info->nshared_vars; k++)
            if (info->shared_vars[k].var == s->var || (s->var->unsized && !info->shared_vars[k].var))
                return (int32_t)k;
        return -1;
    }
    uint64_t address = 0;
    if (s->kind == SOURCE_PARAM)
        memcpy(&address, info->params + s->offset, sizeof(address));
    else if (s->kind != SOURCE_VAR || (s->var->space != MG_SPACE_GLOBAL && s->var->space != MG_SPACE_CONST))
        return -1;
    for (size_t k = 0; k < info->nallocations; k++) {
        const struct mg_allocation *a = &info->allocations[k];
        if (s->kind == SOURCE_PARAM ? address - a->address < a->size : a->name && !strcmp(a->name, s->var->name))
            return (int32_t)k;
    }
    return -1;
}

/* ---- all of it ---- */
static void describe(struct site *s, const struct mg_ptx_insn *i)
{
    bool atomic = mg__ptx_is_atomic(i), load = i->access == MG_ACCESSES_LOAD;
    bool strong = i->sem == MG_PTX_SEM_RELAXED || i->sem == MG_PTX_SEM_ACQUIRE || i->sem == MG_PTX_SEM_RELEASE ||
                  i->sem == MG_PTX_SEM_ACQ_REL || i->sem == MG_PTX_SEM_SC;
    bool is_volatile = i->sem == MG_PTX_SEM_VOLATILE || i->sem == MG_PTX_SEM_MMIO;
    s->class = atomic || strong ? MG_ORDER_STRONG : is_volatile ? MG_ORDER_VOLATILE : MG_ORDER_PLAIN;
    s->atomic = atomic;
    s->reads = load || atomic;
    s->writes = !load;
    s->async = i->access == MG_ACCESSES_COPY;
    s->publishes = s->writes && s->class != MG_ORDER_PLAIN;
    s->takes = s->reads && s->class != MG_ORDER_PLAIN && i->access != MG_ACCESSES_RED;
    s->own_fence = i->sem == MG_PTX_SEM_RELEASE || i->sem == MG_PTX_SEM_ACQ_REL || i->sem == MG_PTX_SEM_SC;
}

/* How many of its lane's bytes an access moves at once: what may lie between two blocks or threads. */
static unsigned unit_of(const struct mg_ptx_insn *i)
{
    unsigned bytes = i->access == MG_ACCESSES_COPY ? 4 : mg__ptx_type_size((enum mg_ptx_type)i->type[0]);
    return bytes >= 4 ? 2 : bytes == 2 ? 1 : 0;
}

bool mg__code_read(const struct mg_launch_info *info, struct code *code)
{
    *code = (struct code){.unit_shared = 2, .unit_global = 2};
    code->sites = calloc(info->ninsns + 1, sizeof(*code->sites));
    code->insn_of = calloc(info->ninsns + 2, sizeof(*code->insn_of));
    if (!code->sites || !code->insn_of)
        return false;
    struct trace t = {.info = info};
    for (uint32_t k = 0; k < info->ninsns; k++) {
        const struct mg_insn_info *at = &info->insns[k];
        const struct mg_ptx_insn *i = at->insn;
        struct site *s = &code->sites[k];
        if (at->func != t.func) {
            free(t.regs);
            t.func = at->func;
            t.regs = calloc(at->func->nregs + 1, sizeof(*t.regs));
            if (!t.regs)
                return false;
            trace_function(&t);
        }
        s->object = s->from_object = -1;
        if (!mg__ptx_accesses(i))
            continue;
        describe(s, i);
        if (code->nnumbers < UINT16_MAX)
            code->insn_of[++code->nnumbers] = k;
        s->number = (uint16_t)code->nnumbers;
        s->source = of_operand(&t, mg__ptx_op(t.func, i, i->address));
        s->object = object_of(info, &s->source);
        if (s->async) {
            s->from = of_operand(&t, mg__ptx_op(t.func, i, i->address + 1u));
            s->from_object = object_of(info, &s->from);
        }
        unsigned unit = unit_of(i);
        if (i->space == MG_SPACE_SHARED || i->space == MG_SPACE_GENERIC)
            code->unit_shared = MG_MIN(code->unit_shared, unit);
        if (i->space == MG_SPACE_GLOBAL || i->space == MG_SPACE_GENERIC)
            code->unit_global = MG_MIN(code->unit_global, unit);
    }
    free(t.regs);
    find_polls(info, code);
    return true;
}

void mg__code_free(struct code *code)
{
    free(code->sites);
    free(code->insn_of);
}
