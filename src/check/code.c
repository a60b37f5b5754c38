/* code.c - what a kernel's instructions tell before it runs.
 *
 * A volatile load that goes round a loop with an address that the loop does not change, and with nothing in the loop
 * that writes, waits for another thread: it synchronises (MG_ORDER_POLL), and so do its copies on the same source line.
 *
 * What a launch's code tells is kept for those that come after it, as long as its instructions are the same and the
 * same of its parameters are pointers; which arrays it means is looked up each time.
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

/* Marks what can be reached from the successors of `from` (or, with `from` past the end, from `start`) without going
 * through an instruction of which `stops` says so. The instruction that stops is marked itself. NULL: no memory. */
static uint8_t *reach_from(const struct mg_ptx_func *f, size_t from, size_t start,
                           bool (*stops)(const void *arg, size_t at), const void *arg)
{
    struct search s = {.func = f, .seen = calloc(f->ninsns + 1, 1), .todo = calloc(f->ninsns + 1, sizeof(uint32_t))};
    if (s.seen && s.todo) {
        if (from < f->ninsns)
            each_next(f, from, push, &s);
        else
            push(&s, start);
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

/* The same, from the entry with `from` past the end. */
static uint8_t *reach(const struct mg_ptx_func *f, size_t from, bool (*stops)(const void *arg, size_t at),
                      const void *arg)
{
    return reach_from(f, from, 0, stops, arg);
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

struct arms { /* of a branch: where it may go on */
    size_t at[2];
    unsigned n;
};

static void add_arm(void *arg, size_t next)
{
    struct arms *a = arg;
    if (a->n < 2 && (!a->n || a->at[0] != next))
        a->at[a->n++] = next;
}

/* What each arm of a branch leads to without coming back to it. */
struct reached {
    uint8_t *by[2];
};

static bool arms_of(const struct mg_ptx_func *f, size_t branch, struct reached *r)
{
    struct arms a = {.n = 0};
    struct avoid avoid = {branch};
    *r = (struct reached){{NULL, NULL}};
    if (!mg__ptx_branches(&f->insns[branch]))
        return false;
    each_next(f, branch, add_arm, &a);
    for (unsigned k = 0; k < 2 && a.n == 2; k++)
        r->by[k] = reach_from(f, SIZE_MAX, a.at[k], at_one, &avoid);
    return r->by[0] && r->by[1];
}

static void free_arms(struct reached *r)
{
    free(r->by[0]);
    free(r->by[1]);
}

/* The arm without the instruction, where the other has it. */
static const uint8_t *arm_without(const struct reached *r, size_t at)
{
    return r->by[0][at] == r->by[1][at] ? NULL : r->by[0][at] ? r->by[1] : r->by[0];
}

/* Whether one arm of the branch alone has the instruction, and who takes the other one comes to the end: else that one
 * is a loop that comes back to the branch. */
static bool passed_by(const struct mg_ptx_func *f, const struct reached *r, size_t at)
{
    const uint8_t *other = arm_without(r, at);
    bool ends = false;
    for (size_t k = 0; other && !ends && k < f->ninsns; k++)
        ends = other[k] && f->insns[k].effects & MG_E_LEAVES;
    return ends;
}

/* The same of a barrier, and the other arm leads to what follows it. */
static bool is_arm(const struct mg_ptx_func *f, const struct reached *r, size_t branch, size_t barrier,
                   const uint8_t *after)
{
    const uint8_t *other = arm_without(r, barrier);
    bool follows = false;
    for (size_t k = 0; other && !follows && k < f->ninsns; k++)
        follows = other[k] && after[k] && k != branch && !(f->insns[k].effects & MG_E_LEAVES);
    return follows && passed_by(f, r, barrier);
}

/* Whether who takes the arm never comes to the barrier again, which leads to the branch: it leaves the loop. */
static bool leaves_loop(const struct mg_ptx_func *f, const struct reached *r, size_t branch, size_t barrier,
                        const uint8_t *after)
{
    struct barrier_stop never = {f, false, false};
    const uint8_t *other = arm_without(r, barrier);
    struct arms a = {.n = 0};
    if (!other || !after[branch])
        return false;
    each_next(f, branch, add_arm, &a);
    uint8_t *again = reach_from(f, SIZE_MAX, a.at[other == r->by[1]], at_barrier, &never);
    const bool leaves = again && !again[barrier];
    free(again);
    return leaves;
}

enum code_inside mg__code_inside(const struct mg_launch_info *info, uint32_t barrier)
{
    struct body b = body_of(info, barrier);
    struct barrier_stop never = {b.func, false, false};
    const size_t at = barrier - b.base;
    uint8_t *after = reach(b.func, at, at_barrier, &never);
    enum code_inside in = INSIDE_NOTHING;
    for (size_t k = 0; after && k < b.func->ninsns && in != INSIDE_BRANCH; k++) {
        struct reached r;
        if (arms_of(b.func, k, &r) && is_arm(b.func, &r, k, at, after))
            in = leaves_loop(b.func, &r, k, at, after) ? INSIDE_LOOP : INSIDE_BRANCH;
        free_arms(&r);
    }
    free(after);
    return in;
}

/* ---- where between two accesses the barrier may stand ---- */
static bool same_line(const struct mg_launch_info *info, uint32_t a, uint32_t b)
{
    const struct line x = mg__name_line(info, a), y = mg__name_line(info, b);
    return x.line == y.line && !strcmp(x.file, y.file);
}

enum code_inside mg__code_alone(const struct mg_launch_info *info, uint32_t insn, uint32_t other)
{
    struct body b = body_of(info, insn);
    struct barrier_stop never = {b.func, false, false};
    const size_t at = insn - b.base, mate = other - b.base;
    struct avoid avoid = {mate};
    if (body_of(info, other).func != b.func)
        return INSIDE_NOTHING;
    uint8_t *after = reach(b.func, at, at_one, &avoid), *from_mate = reach(b.func, mate, at_barrier, &never);
    uint32_t outer = NO_INSN;
    size_t head = SIZE_MAX, back = 0; /* of the outermost loop that goes round in one piece of text, without the mate */
    enum code_inside in = INSIDE_NOTHING;
    for (size_t k = at; after && k < b.func->ninsns; k++) {
        struct arms a = {.n = 0};
        if (after[k] && mg__ptx_branches(&b.func->insns[k]))
            each_next(b.func, k, add_arm, &a);
        for (unsigned n = 0; n < a.n; n++)
            if (a.at[n] <= at && a.at[n] < head && (mate < a.at[n] || mate > k)) {
                head = a.at[n];
                back = k;
            }
    }
    for (size_t k = 0; after && from_mate && k < b.func->ninsns; k++) {
        struct reached r;
        const uint8_t *without = arms_of(b.func, k, &r) && passed_by(b.func, &r, at) ? arm_without(&r, at) : NULL;
        const uint32_t branch = b.base + (uint32_t)k;
        /* the mate behind both arms, or in front of both */
        const bool behind = without && without[mate] && after[mate],
                   before = without && !r.by[0][mate] && !r.by[1][mate] && from_mate[k];
        if ((behind || before) && !same_line(info, branch, insn)) {
            const bool loop = k != at && k >= head && k <= back;
            if (outer == NO_INSN)
                outer = branch;
            if (in == INSIDE_NOTHING || (loop && same_line(info, branch, outer)))
                in = loop ? INSIDE_LOOP : INSIDE_BRANCH;
        }
        free_arms(&r);
    }
    if (head != SIZE_MAX &&
        (outer == NO_INSN || head < outer - b.base || same_line(info, b.base + (uint32_t)back, outer)))
        in = INSIDE_LOOP;
    free(after);
    free(from_mate);
    return in;
}

/* Whether one comes to `at` only through `taken`, and behind `at` to `given`. */
static bool is_under(const struct mg_ptx_func *f, size_t at, size_t taken, size_t given)
{
    const struct barrier_stop stop = {f, true, false};
    const struct avoid avoid = {taken};
    uint8_t *without = reach(f, SIZE_MAX, at_one, &avoid), *after = reach(f, at, at_barrier, &stop),
            *back = reach(f, given, at_one, &avoid);
    const bool under = without && after && back && !without[at] && after[given] && !back[at];
    free(without);
    free(after);
    free(back);
    return under;
}

bool mg__code_locked(const struct mg_launch_info *info, const struct code *code, uint32_t insn, uint32_t other,
                     struct code_lock *lock)
{
    const struct body b = body_of(info, insn);
    if (body_of(info, other).func != b.func)
        return false;
    for (size_t taken = 0; taken < b.func->ninsns; taken++) {
        const struct mg_ptx_insn *i = &b.func->insns[taken];
        const struct site *take = &code->sites[b.base + taken];
        if (i->access != MG_ACCESSES_ATOM || (i->atomop != MG_ATOM_CAS && i->atomop != MG_ATOM_EXCH) ||
            take->object < 0 || !mg__code_leads(info, b.base + (uint32_t)taken, b.base + (uint32_t)taken, true, false))
            continue;
        for (size_t given = 0; given < b.func->ninsns; given++) {
            const struct site *give = &code->sites[b.base + given];
            if (given == taken || !give->number || !give->writes || give->object != take->object ||
                !is_under(b.func, insn - b.base, taken, given) || !is_under(b.func, other - b.base, taken, given))
                continue;
            *lock = (struct code_lock){b.base + (uint32_t)taken, b.base + (uint32_t)given};
            return true;
        }
    }
    return false;
}

bool mg__code_forwarded(const struct mg_launch_info *info, const struct code *code, uint32_t write, uint32_t read)
{
    struct body b = body_of(info, write);
    const size_t from = write - b.base, to = read - b.base;
    if (body_of(info, read).func != b.func)
        return false;
    bool found = false;
    for (size_t k = 0; !found && k < b.func->ninsns; k++) {
        struct reached r;
        struct avoid avoid = {k}; /* a loop may lead back to it */
        const uint8_t *arm = arms_of(b.func, k, &r) ? arm_without(&r, from) : NULL;
        uint8_t *after = arm && arm[to] ? reach(b.func, from, at_one, &avoid) : NULL;
        found = after && !after[to];
        for (size_t n = 0; found && n < b.func->ninsns; n++) {
            const struct site *s = &code->sites[b.base + n];
            if (arm[n] && !after[n] && does_something(&b.func->insns[n]))
                found = s->plain_read && s->object == code->sites[write].object;
        }
        free(after);
        free_arms(&r);
    }
    return found;
}

/* ---- spinning ---- */
struct spin {
    const struct mg_ptx_func *func;
    uint32_t address; /* register */
    bool has_address;
};

static bool defines(const struct mg_ptx_func *f, const struct mg_ptx_insn *i, uint32_t wanted)
{
    struct mg_flow_walk w = {f, i, 0, 0};
    uint32_t reg;
    for (bool written; mg__flow_next(&w, &reg, &written);)
        if (written && reg == wanted)
            return true;
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
/* Nothing is claimed of what may come out of memory, too. */
static struct mg_flow_origin source_of(const struct mg_flow_origin *regs, const struct mg_ptx_opnd *o)
{
    struct mg_flow_origin s = mg__flow_origin_of(regs, o);
    if (s.some && s.kind != MG_FLOW_NUMBER)
        s.kind = MG_FLOW_SEVERAL;
    return s;
}

/* What the source is in this launch. */
static int32_t object_of(const struct mg_launch_info *info, const struct mg_flow_origin *s)
{
    if (s->kind == MG_FLOW_VARIABLE && s->var->space == MG_SPACE_SHARED) {
        for (uint32_t k = 0; k < info->nshared_vars; k++)
            if (info->shared_vars[k].var == s->var || (s->var->unsized && !info->shared_vars[k].var))
                return (int32_t)k;
        return -1;
    }
    uint64_t address = 0;
    if (s->kind == MG_FLOW_POINTER)
        memcpy(&address, info->params + s->offset, sizeof(address));
    else if (s->kind != MG_FLOW_VARIABLE || (s->var->space != MG_SPACE_GLOBAL && s->var->space != MG_SPACE_CONST))
        return -1;
    int32_t named = -1;
    for (size_t k = 0; k < info->nallocations; k++) {
        const struct mg_allocation *a = &info->allocations[k];
        if (s->kind == MG_FLOW_POINTER ? address - a->address < a->size : a->name == s->var->name)
            return (int32_t)k;
        if (s->kind == MG_FLOW_VARIABLE && a->name && !strcmp(a->name, s->var->name))
            named = named == -1 ? (int32_t)k : -2; /* another module's, as that of a declaration is; or of several */
    }
    return MG_MAX(named, -1);
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

/* A copy of its own proxy, whose accesses come as such (async.c). */
static bool in_bulk(const struct mg_ptx_insn *i)
{
    return mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->group == MG_G_BULK || i->opcode == MG_OP_ST_ASYNC ||
           i->opcode == MG_OP_RED_ASYNC;
}

/* A multiplication by a warpgroup, whose reads come as such (wgmma.c). */
static bool multiplies(const struct mg_ptx_insn *i)
{
    return i->effects & MG_E_FLIES && i->nresults;
}

/* What may ask who wrote a block's shared memory, or come from another block, whatever barriers there were since:
 * copies and multiplications by proxy, mbarriers, clusters. All of them but mbarriers came with capability 9.0. */
static bool asks_later(const struct mg_ptx_insn *i)
{
    const struct mg_ptx_isa *isa = mg__ptx_isa((enum mg_ptx_opcode)i->opcode);
    return isa->group == MG_G_MBARRIER || strtol(isa->since_sm, NULL, 10) >= 90;
}

/* An exchange of which nobody wants what was there. */
static bool only_writes(const struct mg_ptx_func *f, const struct mg_ptx_insn *i)
{
    uint32_t result, reg;
    bool written, wanted = false;
    if (i->access != MG_ACCESSES_ATOM || i->atomop != MG_ATOM_EXCH)
        return false;
    for (struct mg_flow_walk w = {f, i, 0, 0}; mg__flow_next(&w, &result, &written);)
        for (size_t k = 0; written && !wanted && k < f->ninsns; k++) {
            bool writes;
            for (struct mg_flow_walk u = {f, &f->insns[k], 0, 0}; mg__flow_next(&u, &reg, &writes);)
                wanted |= !writes && reg == result;
        }
    return !wanted;
}

/* A load of a place to which the same function stores by the same register: mostly a lane's own. */
static bool of_its_own(const struct mg_ptx_func *f, const struct mg_ptx_insn *load)
{
    enum { MOST = 4096 }; /* instructions, of longer functions */
    for (size_t k = 0; load->access == MG_ACCESSES_LOAD && k < MG_MIN(f->ninsns, (size_t)MOST); k++)
        if (f->insns[k].access == MG_ACCESSES_STORE && mg__idiom_same_place(f, load, &f->insns[k]))
            return true;
    return false;
}

static bool read_insns(const struct mg_launch_info *info, struct code *code)
{
    *code = (struct code){.unit_shared = 2, .unit_global = 2, .ninsns = info->ninsns};
    code->sites = calloc(info->ninsns + 1, sizeof(*code->sites));
    code->insn_of = calloc(2 * (size_t)info->ninsns + 2, sizeof(*code->insn_of));
    if (!code->sites || !code->insn_of)
        return false;
    const struct mg_ptx_func *func = NULL;
    struct mg_flow_origin *regs = NULL;
    for (uint32_t k = 0; k < info->ninsns; k++) {
        const struct mg_insn_info *at = &info->insns[k];
        const struct mg_ptx_insn *i = at->insn;
        struct site *s = &code->sites[k];
        if (at->func != func) {
            free(regs);
            func = at->func;
            regs = calloc(func->nregs + 1, sizeof(*regs));
            if (!regs)
                return false;
            mg__flow_origins(func, mg__launch_is_pointer, info, regs);
        }
        code->asks_later |= asks_later(i);
        if (!mg__ptx_accesses(i) && !in_bulk(i) && !multiplies(i))
            continue;
        describe(s, i);
        s->reads &= !only_writes(func, i);
        const bool own = of_its_own(func, i);
        for (bool more = true; more && code->nnumbers < UINT16_MAX; more = mg__order_own(code->nnumbers) != own)
            code->insn_of[++code->nnumbers] = k;
        s->number = (uint16_t)code->nnumbers;
        if (in_bulk(i) || multiplies(i)) {
            s->async = in_bulk(i);
            continue;
        }
        s->named = true;
        s->source = source_of(regs, mg__ptx_op(func, i, i->address));
        if (s->async)
            s->from = source_of(regs, mg__ptx_op(func, i, i->address + 1u));
        unsigned unit = unit_of(i);
        if (i->space == MG_SPACE_SHARED || i->space == MG_SPACE_GENERIC)
            code->unit_shared = MG_MIN(code->unit_shared, unit);
        if (i->space == MG_SPACE_GLOBAL || i->space == MG_SPACE_GENERIC)
            code->unit_global = MG_MIN(code->unit_global, unit);
    }
    free(regs);
    find_polls(info, code);
    return mg__idiom_read(info, code) && mg__chosen_find(info, code);
}

/* Which arrays the launch's instructions mean. */
static void find_objects(const struct mg_launch_info *info, struct code *code)
{
    for (uint32_t k = 0; k < info->ninsns; k++) {
        struct site *s = &code->sites[k];
        s->object = s->named ? object_of(info, &s->source) : -1;
        s->from_object = s->named && s->async ? object_of(info, &s->from) : -1;
    }
}

static bool copy(const struct code *from, struct code *to)
{
    const size_t sites = (from->ninsns + 1) * sizeof(*to->sites), insn_of = (from->nnumbers + 2) * sizeof(*to->insn_of);
    *to = *from;
    to->sites = malloc(sites);
    to->insn_of = malloc(insn_of);
    if (!to->sites || !to->insn_of)
        return false;
    memcpy(to->sites, from->sites, sites);
    memcpy(to->insn_of, from->insn_of, insn_of);
    return true;
}

bool mg__code_read(struct code_kept kept[CODE_KEPT], const struct mg_launch_info *info, struct code *code)
{
    uint64_t pointers;
    const uint64_t program = mg__launch_pointers(info, &pointers) ? info->program : 0;
    struct code_kept *k = &kept[(program ^ pointers) % CODE_KEPT];
    const bool again = program && k->program == program && k->pointers == pointers;
    if (!(again ? copy(&k->code, code) : read_insns(info, code)))
        return false;
    if (program && !again) {
        mg__code_free(&k->code);
        *k = (struct code_kept){.program = program, .pointers = pointers};
        if (!copy(code, &k->code))
            k->program = 0;
    }
    find_objects(info, code);
    return true;
}

void mg__code_forget(struct code_kept kept[CODE_KEPT])
{
    for (unsigned k = 0; k < CODE_KEPT; k++)
        mg__code_free(&kept[k].code);
}

void mg__code_free(struct code *code)
{
    free(code->sites);
    free(code->insn_of);
}
