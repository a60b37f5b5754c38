/* own.c - global memory in which every thread uses places of its own, whatever it does there: no cells are kept of it.
 *
 * What a kernel's addresses are is followed through its text with this launch's numbers in it (parameters, sizes of
 * the grid and of its blocks): a form, add + the sum of by[i] times an index of the thread or block, which the
 * register's value equals modulo 2^bits. Sums and products keep that, whatever wraps. Where ways join, and round loops,
 * it holds for fewer bits: those in which all that may come there agree. What is not followed holds for none, and yet
 * 4,096 times it is known to be a multiple of 4,096. A value of 32 bits is one of 64 where its form cannot leave its
 * range; otherwise the form goes on for 32 bits. Of a register that a loop counts with (rounds.c) the form has a term
 * more, a step times some number of rounds.
 *
 * Two threads cannot meet in an allocation if all accesses to it have the same form but for what is added, and these
 * places are all different (`apart`): taken from the least on, each index goes further in one step than all before it
 * do together, and so do the different sums that are added. Where the form holds modulo 2^bits only, all of it must fit
 * in there. Of what rounds add, steps shorter than those from thread to thread only make a thread's place longer;
 * others go further in one step than all before them, as indices do.
 *
 * What else may reach the allocation, or must know of what is done to it, makes it one like any other: accesses whose
 * address may be anything, atomics, copies, calls; other streams, the host that watches, launches that begin early;
 * blocks that run in order; lanes that meet without others of their warp, which counts who has used memory (order.h).
 *
 * What is left to know is what was written: a mark a granule of up to 4 bytes, which says by which of the stores.
 * The engine sets it by itself (mg_unheard). Where all was written before the launch, loads are not told either, until
 * a value that nobody made is followed: only a warp that is followed can store one, and only its own threads read it.
 */
#include "cfg/cfg.h"
#include "check/form.h"

#include <sys/mman.h>

enum {
    STORES = 64,         /* to one allocation */
    HOLE = 255,          /* a mark: the latest store's value is one that nobody made */
    THREADS_LEAST = 256, /* smaller launches are not worth it */
    MARKS_MOST = 64      /* a store that a thread may make */
};

static const struct form anything = {.known = true};

static struct form number(uint64_t value, unsigned bits)
{
    return (struct form){.add = value, .bits = (uint8_t)bits, .known = true};
}

static bool is_number(const struct form *f, unsigned bits)
{
    bool fixed = f->known && f->bits >= bits && !f->nrounds;
    for (unsigned k = 0; k < VARIABLES; k++)
        fixed &= f->by[k] == 0;
    return fixed;
}

static unsigned zeros(uint64_t v)
{
    return v ? (unsigned)__builtin_ctzll(v) : 64;
}

/* In the range of a signed number of `bits`, which is how coefficients are kept. */
static uint64_t narrow_to(uint64_t v, unsigned bits)
{
    return bits >= 64 ? v : bits == 0 ? 0 : (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits));
}

struct form mg__form_cut(struct form f, unsigned bits)
{
    unsigned n = 0;
    f.bits = (uint8_t)MG_MIN(f.bits, bits);
    f.add = narrow_to(f.add, f.bits);
    for (unsigned k = 0; k < VARIABLES; k++)
        f.by[k] = narrow_to(f.by[k], f.bits);
    for (unsigned k = 0; k < f.nrounds; k++) {
        struct rounds w = f.round[k];
        const uint64_t by = w.by;
        w.by = narrow_to(by, f.bits);
        w.capped &= w.by == by;
        for (unsigned v = 0; v < VARIABLES; v++)
            w.capped &= narrow_to(w.of[v], f.bits) == w.of[v];
        if (w.by && w.most)
            f.round[n++] = w;
    }
    f.nrounds = (uint8_t)n;
    return f;
}

/* However many rounds there are. */
static struct form without_rounds(struct form f)
{
    unsigned bits = f.bits;
    for (unsigned k = 0; k < f.nrounds; k++)
        bits = MG_MIN(bits, zeros(f.round[k].by));
    f.nrounds = 0;
    return mg__form_cut(f, bits);
}

static bool same_rounds(const struct form *a, const struct form *b)
{
    bool same = a->nrounds == b->nrounds;
    for (unsigned k = 0; same && k < a->nrounds; k++)
        same = mg__rounds_same(&a->round[k], &b->round[k]);
    return same;
}

struct form mg__form_join(const struct form *a, const struct form *b)
{
    if (!a->known || !b->known)
        return a->known ? *a : *b;
    if (!same_rounds(a, b)) {
        const struct form x = without_rounds(*a), y = without_rounds(*b);
        return mg__form_join(&x, &y);
    }
    unsigned bits = MG_MIN(MG_MIN(a->bits, b->bits), zeros(a->add - b->add));
    for (unsigned k = 0; k < VARIABLES; k++)
        bits = MG_MIN(bits, zeros(a->by[k] - b->by[k]));
    return mg__form_cut(*a, bits);
}

static struct form sum(const struct form *a, const struct form *b, bool minus)
{
    struct form f = *a;
    const uint64_t sign = minus ? ~0ull : 1;
    f.add += sign * b->add;
    for (unsigned k = 0; k < VARIABLES; k++)
        f.by[k] += sign * b->by[k];
    f = mg__form_cut(f, b->bits);
    for (unsigned k = 0; k < b->nrounds; k++) {
        struct rounds w = b->round[k];
        w.by *= sign;
        for (unsigned v = 0; v < VARIABLES; v++)
            w.of[v] *= sign;
        if (f.nrounds < ROUNDS)
            f.round[f.nrounds++] = w;
        else
            f = mg__form_cut(f, zeros(w.by));
    }
    return mg__form_cut(f, f.bits);
}

static struct form times(const struct form *a, uint64_t by, unsigned bits)
{
    struct form f = *a;
    f.add *= by;
    for (unsigned k = 0; k < VARIABLES; k++)
        f.by[k] *= by;
    for (unsigned k = 0; k < f.nrounds; k++) {
        struct rounds *w = &f.round[k];
        int64_t step, part, cap = 0;
        bool fits = !__builtin_mul_overflow((int64_t)w->by, (int64_t)by, &step) &&
                    !__builtin_mul_overflow((int64_t)w->cap, (int64_t)by, &cap) && cap != INT64_MIN;
        for (unsigned v = 0; v < VARIABLES; v++) {
            fits &= !__builtin_mul_overflow((int64_t)w->of[v], (int64_t)by, &part);
            w->of[v] *= by;
        }
        w->by *= by;
        w->capped &= fits;
        w->cap = w->capped ? (uint64_t)(cap < 0 ? -cap : cap) : 0;
    }
    f.bits = (uint8_t)MG_MIN(f.bits + zeros(by), bits);
    return mg__form_cut(f, bits);
}

/* The least and the greatest that the form comes to, as numbers of any size; false: too large. */
bool mg__form_range(const struct reader *r, const struct form *f, int64_t *least, int64_t *most)
{
    int64_t low = (int64_t)f->add, high = low, step;
    for (unsigned k = 0; k < VARIABLES; k++) {
        if (__builtin_mul_overflow((int64_t)f->by[k], (int64_t)(r->extent[k] - 1), &step) ||
            (step < 0 ? __builtin_add_overflow(low, step, &low) : __builtin_add_overflow(high, step, &high)))
            return false;
    }
    for (unsigned k = 0; k < f->nrounds; k++) {
        if (f->round[k].most > INT64_MAX ||
            __builtin_mul_overflow((int64_t)f->round[k].by, (int64_t)f->round[k].most, &step) ||
            (step < 0 ? __builtin_add_overflow(low, step, &low) : __builtin_add_overflow(high, step, &high)))
            return false;
    }
    *least = low;
    *most = high;
    return true;
}

/* A value of 32 bits as one of 64. */
struct form mg__form_wider(const struct reader *r, const struct form *from, bool is_signed)
{
    struct form f = mg__form_cut(*from, 32);
    int64_t least, most, base = is_signed ? INT32_MIN : 0;
    if (f.bits < 32 || !mg__form_range(r, &f, &least, &most))
        return f;
    const int64_t by = (least - base) >> 32; /* whole turns */
    if (most - base - by * ((int64_t)1 << 32) > (int64_t)UINT32_MAX)
        return f;
    f.add -= (uint64_t)by << 32;
    f.bits = 64;
    return f;
}

static bool is_integer(uint8_t type)
{
    return (type >= MG_T_B8 && type <= MG_T_B64) || (type >= MG_T_U8 && type <= MG_T_S64);
}

static bool is_signed(uint8_t type)
{
    return type >= MG_T_S8 && type <= MG_T_S64;
}

static struct form operand(const struct reader *r, const struct mg_ptx_opnd *o, unsigned size)
{
    if (o->kind == MG_OPND_IMM && !o->is_float)
        return mg__form_cut(number((uint64_t)o->imm, 64), 8 * size);
    if (o->kind == MG_OPND_REG && mg__ptx_type_size((enum mg_ptx_type)r->func->regs[o->index].type) == size)
        return *mg__form_of(r, o->index);
    return anything;
}

/* Bits of numbers that lie apart add up. */
static bool disjoint(const struct reader *r, const struct form *high, const struct form *low, unsigned bits)
{
    int64_t least, most;
    unsigned free = zeros(high->add);
    for (unsigned k = 0; k < VARIABLES; k++)
        free = MG_MIN(free, zeros(high->by[k]));
    for (unsigned k = 0; k < high->nrounds; k++)
        free = MG_MIN(free, zeros(high->round[k].by));
    free = MG_MIN(free, high->bits);
    return low->bits >= bits && mg__form_range(r, low, &least, &most) && least >= 0 && free < 63 &&
           most < (int64_t)1 << free;
}

static struct form product(const struct reader *r, struct form x, struct form y, const struct mg_ptx_insn *i,
                           unsigned bits)
{
    if (i->flags & MG_F_WIDE) {
        x = mg__form_wider(r, &x, is_signed(i->type[0]));
        y = mg__form_wider(r, &y, is_signed(i->type[0]));
        bits = 64;
    }
    return is_number(&y, bits) ? times(&x, y.add, bits) : is_number(&x, bits) ? times(&y, x.add, bits) : anything;
}

static struct form fixed_value(const struct reader *r, const struct mg_flow_fixed *v)
{
    const struct mg_dim3 *block = &r->info->block, *grid = &r->info->grid;
    const uint32_t sizes[2][3] = {{block->x, block->y, block->z}, {grid->x, grid->y, grid->z}};
    uint64_t value = 0;
    switch (v->kind) {
    case MG_FLOW_CONSTANT:
        value = v->bits;
        break;
    case MG_FLOW_PARAM:
        if (v->offset > r->info->param_size || v->size > r->info->param_size - v->offset)
            return anything;
        memcpy(&value, r->info->params + v->offset, v->size);
        break;
    default:
        if (v->sreg == MG_SR_TID || v->sreg == MG_SR_CTAID) {
            struct form f = number(0, 32);
            f.by[(v->sreg == MG_SR_CTAID ? 3 : 0) + v->dim] = 1;
            return f;
        }
        if (v->sreg != MG_SR_NTID && v->sreg != MG_SR_NCTAID)
            return anything;
        value = sizes[v->sreg == MG_SR_NCTAID][v->dim];
    }
    return mg__form_cut(number(value, 8u * v->size), 8u * v->size);
}

struct form mg__form_result(const struct reader *r, const struct mg_ptx_insn *i)
{
    struct mg_flow_fixed fixed;
    if (mg__flow_fixed(r->func, i, &fixed))
        return fixed_value(r, &fixed);
    const enum mg_ptx_algebra algebra = mg__ptx_exactly(i);
    const unsigned size = mg__ptx_type_size((enum mg_ptx_type)i->type[0]), bits = 8 * size,
                   n = algebra == MG_ALG_CONVERT ? 0 : i->nops;
    if (i->nresults != 1 || i->access != MG_ACCESSES_NONE || i->nops < 2 || (size != 4 && size != 8) ||
        i->flags & (MG_F_HI | MG_F_SAT | MG_F_CC) || !is_integer(i->type[0]))
        return anything;
    const unsigned wide = i->flags & MG_F_WIDE ? 8 : size;
    const struct form x = operand(r, mg__ptx_op(r->func, i, 1), size),
                      y = n > 2 ? operand(r, mg__ptx_op(r->func, i, 2), algebra == MG_ALG_SHL ? 4 : size) : anything,
                      z = n > 3 ? operand(r, mg__ptx_op(r->func, i, 3), wide) : anything;
    struct form f;
    if (algebra == MG_ALG_CONVERT) {
        const unsigned from = mg__ptx_type_size((enum mg_ptx_type)i->type[1]);
        f = operand(r, mg__ptx_op(r->func, i, 1), from);
        if (i->ntypes < 2 || !is_integer(i->type[1]) || (from != 4 && from != 8))
            return anything;
        return !f.known ? f : from < size ? mg__form_wider(r, &f, is_signed(i->type[1])) : mg__form_cut(f, bits);
    }
    if (!x.known || (n > 2 && !y.known) || (n > 3 && !z.known))
        return (struct form){.known = false};
    if (i->opcode == MG_OP_NOT && n == 2) { /* -1 - x */
        const struct form ones = mg__form_cut(number(~0ull, 64), bits);
        return sum(&ones, &x, true);
    }
    switch (algebra) {
    case MG_ALG_COPY:
        return n == 2 ? x : anything;
    case MG_ALG_ADDRESS:
        return i->space == MG_SPACE_GLOBAL ? x : anything;
    case MG_ALG_ADD:
        return sum(&x, &y, false);
    case MG_ALG_SUB:
        return sum(&x, &y, true);
    case MG_ALG_NEG:
        return times(&x, ~0ull, bits);
    case MG_ALG_SHL:
        return is_number(&y, 32) && y.add < bits ? times(&x, 1ull << y.add, bits) : anything;
    case MG_ALG_MUL:
        return product(r, x, y, i, bits);
    case MG_ALG_MAD:
        f = product(r, x, y, i, bits);
        return sum(&f, &z, false);
    case MG_ALG_OR:
        return disjoint(r, &x, &y, bits) || disjoint(r, &y, &x, bits) ? sum(&x, &y, false) : anything;
    case MG_ALG_AND:
        return is_number(&x, bits) && is_number(&y, bits) ? mg__form_cut(number(x.add & y.add, bits), bits) : anything;
    default:
        return anything;
    }
}

/* The registers whose values come to an address or to a comparison, and the instructions that make them: what others
 * make is not followed. */
struct slice {
    uint8_t *needed; /* by register */
    uint8_t *in;     /* by instruction */
    uint32_t *todo;  /* registers whose definitions are not in yet */
    uint32_t ntodo;
};

static void need(struct slice *s, uint32_t reg)
{
    if (!s->needed[reg])
        s->todo[s->ntodo++] = reg;
    s->needed[reg] = 1;
}

static void need_what_it_reads(struct slice *s, const struct mg_ptx_func *f, uint32_t insn)
{
    struct mg_flow_walk w = {f, &f->insns[insn], 0, 0};
    uint32_t reg;
    for (bool written; mg__flow_next(&w, &reg, &written);)
        if (!written)
            need(s, reg);
}

static void free_slice(struct slice *s)
{
    free(s->needed);
    free(s->in);
    free(s->todo);
}

static bool find_slice(const struct mg_ptx_func *f, struct slice *s)
{
    struct mg_flow_chains chains;
    s->needed = calloc(f->nregs + 1, 1);
    s->in = calloc(f->ninsns + 1, 1);
    s->todo = calloc(f->nregs + 1, sizeof(*s->todo));
    const bool good = mg__flow_chains(f, &chains) && s->needed && s->in && s->todo;
    for (uint32_t k = 0; good && k < f->ninsns; k++) {
        const struct mg_ptx_insn *i = &f->insns[k];
        const bool device = i->access != MG_ACCESSES_NONE && i->space != MG_SPACE_SHARED && i->space != MG_SPACE_LOCAL;
        const struct mg_ptx_opnd *o = device ? mg__ptx_op(f, i, i->address) : NULL;
        if (o && o->kind == MG_OPND_ADDR && o->has_reg)
            need(s, o->index);
        if (i->opcode == MG_OP_SETP)
            need_what_it_reads(s, f, k);
    }
    while (good && s->ntodo) {
        const uint32_t reg = s->todo[--s->ntodo];
        for (uint32_t k = chains.def_at[reg]; k < chains.def_at[reg + 1]; k++) {
            const uint32_t def = chains.defs[k];
            if (!s->in[def])
                need_what_it_reads(s, f, def);
            s->in[def] = 1;
        }
    }
    mg__flow_chains_free(&chains);
    return good;
}

/* From the best downwards: what a register may hold is what any of its definitions leaves there. */
static void solve(struct reader *r, const struct slice *s, const struct mg_flow_live *live)
{
    const struct mg_ptx_func *f = r->func;
    for (uint32_t k = 0; k < f->nregs; k++) /* it may be read before anybody wrote it */
        r->regs[k] = !s->needed[k] || mg__form_read_early(live, k) ? anything : (struct form){.known = false};
    for (bool again = true; again;) {
        again = false;
        for (size_t k = 0; k < f->ninsns; k++) {
            if (!s->in[k])
                continue;
            r->at = (uint32_t)k;
            struct mg_flow_walk w = {f, &f->insns[k], 0, 0};
            uint32_t reg;
            struct form made = {.known = false};
            for (bool written, first = true; mg__flow_next(&w, &reg, &written);) {
                if (!written || !s->needed[reg])
                    continue;
                const unsigned size = mg__ptx_type_size((enum mg_ptx_type)f->regs[reg].type);
                if (first) /* of several registers nothing is known */
                    made = w.insn->nresults == 1 && mg__ptx_op(f, w.insn, 0)->kind == MG_OPND_REG
                               ? mg__form_result(r, w.insn)
                               : anything;
                first = false;
                if (made.known)
                    made = mg__form_cut(made, 8 * size);
                if (r->counters[reg]) /* all that it ever holds is known */
                    made = r->counted.at[r->counters[reg] - 1].ever;
                const struct form now = mg__form_join(&r->regs[reg], &made);
                again |= now.known != r->regs[reg].known || now.bits != r->regs[reg].bits ||
                         now.nrounds != r->regs[reg].nrounds;
                r->regs[reg] = now;
            }
        }
    }
}

/* Registers that loops count with are told by the forms of others, and make those of others better. */
static bool read_forms(struct reader *r)
{
    enum { NESTED = 3 };
    const struct mg_ptx_func *f = r->func;
    struct mg_flow_live live;
    struct slice slice = {0};
    if (mg__cfg_build(f, &r->cfg) != MG_OK)
        return false;
    const bool good = mg__flow_live(f, r->cfg, &live) && r->cfg->nblocks && find_slice(f, &slice);
    for (unsigned k = 0; good && k <= NESTED; k++) {
        solve(r, &slice, &live);
        if (k == NESTED || !mg__rounds_find(r, &live))
            break;
    }
    mg__flow_live_free(&live);
    free_slice(&slice);
    return good;
}

/* ---- an allocation ---- */
struct use {           /* the accesses to one allocation */
    struct form form;  /* `add` is the first one's, and there are no rounds */
    struct form *each; /* STORES */
    uint64_t add[STORES];
    uint32_t insn[STORES];
    unsigned n, stores, width, granule; /* width: the widest */
    bool bad;
};

static struct form address_of(const struct reader *r, const struct mg_ptx_insn *i)
{
    const struct mg_ptx_opnd *o = mg__ptx_op(r->func, i, i->address);
    if (o->kind != MG_OPND_ADDR || !o->has_reg || o->var ||
        mg__ptx_type_size((enum mg_ptx_type)r->func->regs[o->index].type) != 8 || !mg__form_of(r, o->index)->known)
        return anything;
    struct form f = *mg__form_of(r, o->index);
    const struct form more = number((uint64_t)o->imm, 64);
    return sum(&f, &more, false);
}

static void add_use(struct reader *r, struct use *u, const struct site *s, uint32_t insn)
{
    const struct mg_ptx_insn *i = r->info->insns[insn].insn;
    r->at = r->info->insns[insn].func == r->func ? (uint32_t)(i - r->func->insns) : UINT32_MAX;
    const unsigned element = mg__ptx_type_size((enum mg_ptx_type)i->type[0]), width = element * MG_MAX(i->vec, 1u),
                   granule = MG_MIN(element, 4u);
    const struct form f = address_of(r, i);
    if (u->bad || u->n == STORES || !element || s->class != MG_ORDER_PLAIN || s->letter || s->atomic ||
        r->info->insns[insn].func != r->func || (s->writes && u->stores && u->granule != granule)) {
        u->bad = true;
        return;
    }
    if (!u->each && !(u->each = malloc(STORES * sizeof(*u->each)))) {
        u->bad = true;
        return;
    }
    struct form same = f;
    same.nrounds = 0;
    if (u->n == 0)
        u->form = same;
    same.add = u->form.add;
    u->form = mg__form_join(&u->form, &same);
    u->each[u->n] = f;
    u->add[u->n] = f.add;
    u->insn[u->n++] = insn;
    u->width = MG_MAX(u->width, width);
    if (s->writes) {
        u->granule = granule;
        u->stores++;
    }
}

struct step { /* an index, a number of rounds, or one of several sums: how far it goes at once, and in all */
    uint64_t by, span;
    unsigned variable;          /* VARIABLES: none */
    const struct rounds *round; /* NULL: none */
};
struct steps {
    struct step at[VARIABLES + 1 + 2 * ROUNDS];
    unsigned n;
    uint64_t first; /* bytes of all that is shorter than any of them */
};
#define FARTHEST (1ull << 62)

static int by_length(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    return (x->by > y->by) - (x->by < y->by);
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t size_of(uint64_t by, unsigned bits)
{
    const int64_t v = (int64_t)narrow_to(by, bits);
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* Steps from thread to thread; *least: the shortest. */
static bool thread_steps(const struct reader *r, const struct use *u, struct steps *s, uint64_t *least)
{
    *least = UINT64_MAX;
    for (unsigned k = 0; k < VARIABLES; k++) {
        const uint64_t size = size_of(u->form.by[k], u->form.bits);
        if (r->extent[k] == 1)
            continue;
        if (size == 0 || size > FARTHEST / r->extent[k])
            return false;
        s->at[s->n++] = (struct step){size, size * (r->extent[k] - 1), k, NULL};
        *least = MG_MIN(*least, size);
    }
    return true;
}

/* The different sums: a step as an index's. */
static void sum_steps(const struct use *u, struct steps *s)
{
    int64_t adds[STORES];
    unsigned nadds = 0;
    for (unsigned k = 0; k < u->n; k++)
        adds[k] = (int64_t)narrow_to(u->add[k] - u->add[0], u->form.bits);
    qsort(adds, u->n, sizeof(*adds), by_value);
    uint64_t gap = UINT64_MAX;
    for (unsigned k = 1; k < u->n; k++)
        if (adds[k] != adds[k - 1]) {
            gap = MG_MIN(gap, (uint64_t)adds[k] - (uint64_t)adds[k - 1]);
            nadds++;
        }
    if (nadds)
        s->at[s->n++] = (struct step){gap, (uint64_t)adds[u->n - 1] - (uint64_t)adds[0], VARIABLES, NULL};
}

/* Rounds: short steps, and the sums, are the length of one thread's place; long ones are steps of their own, the same
 * in all accesses or absent. */
static bool round_steps(const struct use *u, struct steps *s, uint64_t least)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    const unsigned bits = u->form.bits;
    for (unsigned k = 0; k < u->n; k++) {
        int64_t from = (int64_t)narrow_to(u->add[k] - u->add[0], bits), to = from;
        uint32_t taken = 0; /* the same twice over are two numbers */
        for (unsigned i = 0; i < u->each[k].nrounds; i++) {
            const struct rounds *w = &u->each[k].round[i];
            const uint64_t size = size_of(w->by, bits);
            unsigned other = 0;
            if (size == 0)
                continue;
            if (w->most >= FARTHEST / size)
                return false;
            const int64_t span = (int64_t)(size * w->most);
            if (size < least) {
                if ((int64_t)narrow_to(w->by, bits) < 0 ? __builtin_sub_overflow(from, span, &from)
                                                        : __builtin_add_overflow(to, span, &to))
                    return false;
                continue;
            }
            while (other < s->n &&
                   !(s->at[other].round && !(taken >> other & 1) && mg__rounds_same(s->at[other].round, w)))
                other++;
            if (other == MG_COUNT(s->at))
                return false;
            taken |= 1u << other;
            if (other == s->n)
                s->at[s->n++] = (struct step){size, (uint64_t)span, VARIABLES, w};
        }
        low = MG_MIN(low, from);
        high = MG_MAX(high, to);
    }
    if (__builtin_sub_overflow(high, low, &high) || (uint64_t)high >= FARTHEST)
        return false;
    s->first = u->width + (uint64_t)high;
    return true;
}

/* How far the first `n` steps go together, where more is known of the sum of a loop's rounds and of the indices that
 * it begins with; or `span`. */
static uint64_t capped(const struct reader *r, const struct use *u, const struct steps *s, unsigned n, uint64_t span)
{
    for (unsigned k = 0; k < n; k++) {
        const struct rounds *w = s->at[k].round;
        if (!w || !w->capped || narrow_to(w->by, u->form.bits) != w->by)
            continue;
        uint64_t others = s->first + w->cap;
        bool all = true;
        for (unsigned v = 0; v < VARIABLES; v++) {
            bool here = w->of[v] == 0 || r->extent[v] == 1;
            for (unsigned i = 0; i < n && !here; i++)
                here = s->at[i].variable == v && narrow_to(u->form.by[v], u->form.bits) == w->of[v];
            all &= here;
        }
        for (unsigned i = 0; i < n; i++)
            others += i != k && (s->at[i].variable == VARIABLES || w->of[s->at[i].variable] == 0) ? s->at[i].span : 0;
        if (all && w->cap < FARTHEST)
            span = MG_MIN(span, others);
    }
    return span;
}

static bool are_apart(const struct reader *r, const struct use *u, bool rounds)
{
    struct steps s = {.first = u->width};
    uint64_t least;
    const unsigned bits = u->form.bits;
    if (bits < 3 || !thread_steps(r, u, &s, &least) || (rounds && !round_steps(u, &s, least)))
        return false;
    if (!rounds)
        sum_steps(u, &s);
    qsort(s.at, s.n, sizeof(*s.at), by_length);
    uint64_t span = s.first;
    for (unsigned k = 0; k < s.n; k++) {
        if (s.at[k].by < span || s.at[k].span > FARTHEST)
            return false;
        span = capped(r, u, &s, k + 1, span + s.at[k].span);
    }
    return span <= FARTHEST && (bits >= 64 || span <= 1ull << bits);
}

/* Whether the places of all threads and all accesses are different: with what is known of rounds, or however many there
 * are. */
static bool apart(const struct reader *r, const struct use *u)
{
    struct use without = *u;
    bool rounds = false;
    for (unsigned k = 0; k < u->n; k++) {
        const struct form f = without_rounds(u->each[k]);
        without.form = mg__form_cut(without.form, f.bits);
        rounds |= u->each[k].nrounds > 0;
    }
    return (rounds && are_apart(r, u, true)) || are_apart(r, &without, false);
}

/* All that is ever said of a store to memory of threads' own: copies that a compiler makes of one are alike. */
static bool same_line(const struct launch *l, uint32_t a, uint32_t b)
{
    const struct line x = mg__name_line(l->info, a), y = mg__name_line(l->info, b);
    return x.line == y.line && x.column == y.column && strcmp(x.file, y.file) == 0;
}

/* Stores to the same places are told apart by nothing, and the mark is to say which one it was. */
static bool told_apart(const struct launch *l, const struct use *u)
{
    for (unsigned k = 0; k < u->n && l->kept; k++)
        for (unsigned i = 0; i < k; i++)
            if (l->code.sites[u->insn[k]].writes && l->code.sites[u->insn[i]].writes &&
                (u->each[k].nrounds || u->each[i].nrounds || !narrow_to(u->add[k] - u->add[i], u->form.bits)) &&
                !same_line(l, u->insn[k], u->insn[i]))
                return false;
    return true;
}

static bool make_marks(struct region *r, unsigned granule)
{
    const uint64_t size = r->size / granule + 64;
    if (r->marks && r->marks_size < size) {
        munmap(r->marks, r->marks_size);
        r->marks = NULL;
    }
    if (!r->marks) {
        void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            return false;
        r->marks = at;
        r->marks_size = size;
    }
    r->mark_log = (uint8_t)__builtin_ctz(granule);
    return true;
}

static void take(struct launch *l, const struct reader *r, int32_t object, const struct use *u)
{
    const struct mg_launch_info *info = l->info;
    struct region *region = l->regions[object];
    uint64_t threads = 1;
    for (unsigned k = 0; k < VARIABLES; k++)
        threads *= r->extent[k];
    if (u->bad || !u->stores || !region || !region->tracked || region->constant || region->watched ||
        mg__region_has_holes(region) || mg__heap_is(&info->allocations[object]) || region->address % u->granule ||
        region->size / u->granule / MARKS_MOST > threads * u->stores || !apart(r, u) || !told_apart(l, u) ||
        !make_marks(region, u->granule))
        return;
    region->own = true;
    for (unsigned k = 0; k < u->n; k++) {
        struct site *s = &l->code.sites[u->insn[k]];
        if (!s->writes && info->unheard && s->plain_read && region->written == WRITTEN_ALL)
            info->unheard[u->insn[k]] =
                (struct mg_unheard){.address = region->address, .size = region->size, .unfollowed = true};
        if (!s->writes)
            continue;
        s->mark = (uint8_t)(k + 1);
        if (info->unheard)
            info->unheard[u->insn[k]] =
                (struct mg_unheard){region->address, region->size, region->marks, (uint8_t)(k + 1), false};
    }
}

/* What rules it out for the whole launch. */
static bool may_own(const struct launch *l)
{
    const struct mg_launch_info *info = l->info;
    const uint64_t threads =
        (uint64_t)info->block.x * info->block.y * info->block.z * info->grid.x * info->grid.y * info->grid.z;
    if (l->by_lanes || l->ordered || l->dependent || mg__streams_matter(l->check) || threads < THREADS_LEAST)
        return false;
    for (uint32_t k = 0; k < info->ninsns; k++) {
        const struct mg_ptx_insn *i = info->insns[k].insn;
        const struct site *s = &l->code.sites[k];
        const uint8_t group = mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->group;
        if (i->effects & MG_E_CALLS || s->async || i->effects & MG_E_FLIES || group == MG_G_TEXTURE)
            return false;
        if (mg__ptx_meets_lanes(i)) {
            const struct mg_ptx_opnd *mask = i->nops ? mg__ptx_op(info->insns[k].func, i, i->nops - 1u) : NULL;
            if (!mask || mask->kind != MG_OPND_IMM || (uint32_t)mask->imm != ~0u)
                return false;
        }
        if (s->number && s->object < 0 && i->space != MG_SPACE_SHARED && i->space != MG_SPACE_LOCAL)
            return false; /* it may be anywhere */
    }
    return true;
}

void mg__own_find(struct launch *l)
{
    const struct mg_launch_info *info = l->info;
    bool any = false;
    if (!may_own(l))
        return;
    for (size_t k = 0; k < info->nallocations; k++)
        any |= l->regions[k] && l->regions[k]->tracked;
    struct reader r = {
        .info = info,
        .func = info->func,
        .regs = any ? calloc(info->func->nregs + 1, sizeof(*r.regs)) : NULL,
        .extent = {info->block.x, info->block.y, info->block.z, info->grid.x, info->grid.y, info->grid.z},
        .counters = any ? calloc(info->func->nregs + 1, sizeof(*r.counters)) : NULL};
    struct use *uses = r.regs && r.counters ? calloc(info->nallocations + 1, sizeof(*uses)) : NULL;
    if (uses && read_forms(&r)) {
        for (uint32_t k = 0; k < info->ninsns; k++) {
            const struct site *s = &l->code.sites[k];
            const uint8_t space = info->insns[k].insn->space;
            const bool device = s->number && s->object >= 0 && space != MG_SPACE_SHARED && space != MG_SPACE_LOCAL;
            if (device && s->source.kind == MG_FLOW_POINTER)
                add_use(&r, &uses[s->object], s, k);
            else if (device && s->source.kind != MG_FLOW_VARIABLE)
                any = false;
            else if (device && s->source.var->space != MG_SPACE_SHARED && s->source.var->space != MG_SPACE_LOCAL)
                uses[s->object].bad = true;
        }
        for (size_t k = 0; any && k < info->nallocations; k++)
            take(l, &r, (int32_t)k, &uses[k]);
    }
    for (size_t k = 0; uses && k < info->nallocations; k++)
        free(uses[k].each);
    free(uses);
    free(r.regs);
    mg__rounds_free(&r);
    mg__cfg_free(r.cfg);
}

/* ---- marks ---- */
void mg__own_mark_lane(struct region *r, uint64_t offset, unsigned width, uint8_t mark, bool hole)
{
    memset(r->marks + (offset >> r->mark_log), hole ? HOLE : mark, width >> r->mark_log);
}

void mg__own_mark(struct region *r, struct mg_access *a, uint8_t mark)
{
    const unsigned each = a->width >> r->mark_log;
    mg__access_lanes(a);
    for (uint32_t rest = a->mask; rest; rest &= rest - 1)
        memset(r->marks + ((a->address[__builtin_ctz(rest)] - r->address) >> r->mark_log), mark, each);
}

/* The launch is over: what was written is so for good. */
void mg__own_collect(struct launch *l, int32_t object, bool streams)
{
    struct region *r = l->regions[object];
    const uint64_t n = r->size >> r->mark_log;
    uint32_t insns[HOLE] = {0};
    const bool holes = mg__region_has_holes(r);
    for (uint32_t k = l->info->ninsns; k-- > 0;)
        if (l->code.sites[k].mark && l->code.sites[k].object == object)
            insns[0] = insns[l->code.sites[k].mark] = k;
    for (uint64_t i = 0, end; i < n; i = end) {
        uint64_t eight;
        for (end = i; end + 8 <= n && !(memcpy(&eight, r->marks + end, 8), eight); end += 8)
            ;
        while (end < n && !r->marks[end])
            end++;
        for (i = end; end + 8 <= n; end += 8) { /* all eight are not zero */
            memcpy(&eight, r->marks + end, 8);
            if ((eight - 0x0101010101010101ull) & ~eight & 0x8080808080808080ull)
                break;
        }
        while (end < n && r->marks[end])
            end++;
        if (i == end)
            break;
        const uint64_t from = i << r->mark_log, to = MG_MIN(end << r->mark_log, r->size);
        const uint32_t insn = insns[r->marks[i] == HOLE ? 0 : r->marks[i]];
        if (r->written != WRITTEN_ALL)
            mg__region_mark(r, from, to, true);
        if (l->kept)
            mg__chain_wrote(l, r, from, to, insn);
        if (streams)
            mg__streams_use(r, MG__USE_WRITE, from, to, l, insn);
        for (uint64_t k = i; holes && k < end; k++)
            if (r->marks[k] != HOLE)
                mg__region_hole(r, k << r->mark_log, 1u << r->mark_log, 0);
        memset(r->marks + i, 0, end - i);
    }
    r->own = false;
}
