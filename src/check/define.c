/* define.c - values that nobody made, followed through registers: memory is read before it was written, and it matters
 * where that value decides something.
 *
 * Copying is no error: a structure has padding, and a compiler loads first and chooses afterwards. So a read of
 * unwritten bytes makes the register's bits undefined (bits.c says how they go on), the warp is followed instruction by
 * instruction as long as a register of it has such bits, and a store makes memory undefined again. What is told is the
 * use: a branch or a predicate of an access that depends on such bits, an address, an operand of an atomic, a value
 * that was computed from them and goes to device memory. A warp without such bits costs nothing. A shuffle's value from
 * a lane that does not take part is such a value.
 *
 * What a function is passed or gives back, and what matrix instructions make, counts as defined.
 */
#include "check/bits.h"
#include "check/check_priv.h"

struct undefined { /* a register */
    uint64_t bits[32];
    struct origin origin;
};
struct frame {
    const void *at; /* the engine's */
    const struct mg_ptx_func *func;
    struct undefined **regs;
    uint32_t count; /* of them */
};
struct shadow { /* a warp */
    uint64_t block;
    uint32_t warp;
    MG_VEC(struct frame) frames;
};
struct shadows {
    MG_VEC(struct shadow) warps;
};

/* ---- registers ---- */
static void clear_frame(struct frame *f)
{
    for (size_t r = 0; f->regs && f->count && r < f->func->nregs; r++) {
        f->count -= f->regs[r] != NULL;
        free(f->regs[r]);
        f->regs[r] = NULL;
    }
}

static void free_shadow(struct shadow *s)
{
    for (size_t k = 0; k < s->frames.count; k++) {
        clear_frame(&s->frames.at[k]);
        free(s->frames.at[k].regs);
    }
    mg__vec_free(&s->frames);
}

static struct shadow *shadow_of(struct worker *w, uint64_t block, uint32_t warp, bool make)
{
    struct shadows *all = w->shadows;
    for (size_t k = 0; all && k < all->warps.count; k++)
        if (all->warps.at[k].block == block && all->warps.at[k].warp == warp)
            return &all->warps.at[k];
    if (!make || (!all && !(all = w->shadows = calloc(1, sizeof(*all)))) ||
        !mg__vec_push(&all->warps, ((struct shadow){.block = block, .warp = warp})))
        return NULL;
    return &all->warps.at[all->warps.count - 1];
}

static struct frame *frame_of(struct shadow *s, const void *at, const struct mg_ptx_func *func, bool make)
{
    for (size_t k = 0; k < s->frames.count; k++) {
        struct frame *f = &s->frames.at[k];
        if (f->at == at && f->func == func)
            return f;
    }
    struct frame f = {
        .at = at, .func = func, .regs = make ? calloc(func->nregs + 1, sizeof(struct undefined *)) : NULL};
    if (!f.regs || !mg__vec_push(&s->frames, f)) {
        free(f.regs);
        return NULL;
    }
    return &s->frames.at[s->frames.count - 1];
}

void mg__define_forget(struct worker *w, uint64_t block)
{
    struct shadows *all = w->shadows;
    for (size_t k = 0; all && k < all->warps.count;)
        if (all->warps.at[k].block == block) {
            free_shadow(&all->warps.at[k]);
            all->warps.at[k] = all->warps.at[--all->warps.count];
        } else {
            k++;
        }
}

void mg__define_free(struct worker *w)
{
    for (size_t k = 0; w->shadows && k < w->shadows->warps.count; k++)
        free_shadow(&w->shadows->warps.at[k]);
    if (w->shadows)
        mg__vec_free(&w->shadows->warps);
    free(w->shadows);
}

/* The lane's bits of the register are these from now on. */
static void define(struct frame *f, uint32_t reg, unsigned lane, uint64_t bits, bool computed,
                   const struct origin *origin)
{
    struct undefined *u = f->regs[reg];
    if (!u && bits) {
        if (!(u = f->regs[reg] = calloc(1, sizeof(*u))))
            return;
        f->count++;
    }
    if (!u)
        return;
    u->bits[lane] = bits;
    if (bits) {
        u->origin = *origin;
        u->origin.computed = computed;
    }
}

static void settle(struct frame *f, uint32_t reg)
{
    struct undefined *u = f->regs[reg];
    uint64_t left = 0;
    for (unsigned k = 0; u && k < 32; k++)
        left |= u->bits[k];
    if (!u || left)
        return;
    free(u);
    f->regs[reg] = NULL;
    f->count--;
}

static bool idle(const struct shadow *s)
{
    for (size_t k = 0; k < s->frames.count; k++)
        if (s->frames.at[k].count)
            return false;
    return true;
}

/* ---- operands ---- */
struct at { /* an instruction of a warp */
    struct worker *w;
    const struct mg_step *step;
    struct frame *f;
    const struct mg_ptx_func *func;
    const struct mg_ptx_insn *insn;
    uint32_t index;
    bool known; /* the registers' values are there */
};

static uint64_t value_of(const struct at *t, uint32_t reg, unsigned lane)
{
    int32_t slot = t->known && reg < t->func->nregs ? t->step->slots[reg] : -1;
    if (slot < 0)
        return 0;
    const uint8_t *at = t->step->regs + (uint32_t)slot;
    unsigned size = mg__ptx_type_size((enum mg_ptx_type)t->func->regs[reg].type);
    uint32_t narrow;
    uint64_t wide;
    memcpy(&wide, at + (size == 8 ? 8 * lane : 0), sizeof(wide));
    memcpy(&narrow, at + (size == 0 ? 0 : 4 * lane), sizeof(narrow));
    return size == 0 ? narrow >> lane & 1 : size == 8 ? wide : narrow;
}

static const struct undefined *undefined_in(const struct at *t, uint32_t reg)
{
    return reg < t->func->nregs ? t->f->regs[reg] : NULL;
}

static struct mg_bits bits_of(const struct at *t, const struct mg_ptx_opnd *o, unsigned lane)
{
    struct mg_bits b = {0};
    if (o->kind == MG_OPND_IMM)
        b.value = (uint64_t)o->imm;
    if (o->kind != MG_OPND_REG)
        return b;
    const struct undefined *u = undefined_in(t, o->index);
    b.value = value_of(t, o->index, lane) ^ o->negate;
    b.undefined = u ? u->bits[lane] : 0;
    return b;
}

/* The first of the instruction's sources that has undefined bits. */
static const struct undefined *source_of(const struct at *t, bool *computed)
{
    const struct undefined *found = NULL;
    for (unsigned n = t->insn->nresults; n < t->insn->nops; n++) {
        const struct mg_ptx_opnd *o = mg__ptx_op(t->func, t->insn, n);
        uint32_t parts = o->kind == MG_OPND_VEC ? o->count : 1;
        const struct mg_ptx_opnd *e = o->kind == MG_OPND_VEC ? &t->func->operands[o->first] : o;
        for (uint32_t k = 0; k < parts; k++) {
            const struct undefined *u = e[k].kind == MG_OPND_REG ? undefined_in(t, e[k].index) : NULL;
            found = found ? found : u;
            *computed |= u && u->origin.computed;
        }
    }
    return found;
}

/* ---- uses ---- */
enum check_kind mg__define_kind(enum place_kind place)
{
    return place == PLACE_SHARED  ? KIND_INIT_SHARED
           : place == PLACE_LOCAL ? KIND_INIT_LOCAL
           : place == PLACE_HEAP  ? KIND_INIT_HEAP
           : place == PLACE_NONE  ? KIND_BARRIER_SHUFFLE_SOURCE
                                  : KIND_INIT_GLOBAL;
}

static void tell(const struct at *t, const struct undefined *u, enum define_use use, uint64_t count)
{
    const struct origin *from = &u->origin;
    struct occurrence o = {.kind = (uint8_t)mg__define_kind((enum place_kind)from->place),
                           .place = from->place,
                           .insn = from->insn,
                           .other = t->index,
                           .object = from->object,
                           .count = count,
                           .who = from->who,
                           .with = from->who,
                           .offset = from->offset,
                           .width = from->width,
                           .value = {use, 0}};
    if (from->place == PLACE_NONE) { /* of a shuffle */
        o.other = NO_INSN;
        o.value[0] = (uint32_t)from->offset;
        o.with = (struct actor){.lane = 0xff};
    }
    mg__tally_note(&t->w->tally, &o);
}

/* A use of the register by these lanes: told, and then it counts as defined, or all that follows would be told. */
static void used(const struct at *t, uint32_t reg, uint32_t lanes, uint64_t which, enum define_use use)
{
    struct undefined *u = reg < t->func->nregs ? t->f->regs[reg] : NULL;
    uint64_t count = 0;
    for (uint32_t rest = u ? lanes : 0; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        count += (u->bits[lane] & which) != 0;
    }
    if (!count)
        return;
    tell(t, u, use, count);
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        u->bits[__builtin_ctz(rest)] = 0;
    settle(t->f, reg);
}

static void used_operand(const struct at *t, const struct mg_ptx_opnd *o, uint32_t lanes, enum define_use use)
{
    if (o->kind == MG_OPND_REG || (o->kind == MG_OPND_ADDR && o->has_reg))
        used(t, o->index, lanes, ~0ull, use);
    for (uint32_t k = 0; o->kind == MG_OPND_VEC && k < o->count; k++)
        if (t->func->operands[o->first + k].kind == MG_OPND_REG)
            used(t, t->func->operands[o->first + k].index, lanes, ~0ull, use);
}

static void use_operands(const struct at *t, uint32_t lanes)
{
    const struct mg_ptx_insn *i = t->insn;
    bool atomic = mg__ptx_is_atomic(i);
    for (unsigned n = i->nresults; n < i->nops; n++) {
        const struct mg_ptx_opnd *o = mg__ptx_op(t->func, i, n);
        if (o->kind == MG_OPND_ADDR && i->access != MG_ACCESSES_NONE && i->space != MG_SPACE_PARAM)
            used_operand(t, o, lanes, USE_ADDRESS);
        else if (atomic)
            used_operand(t, o, lanes, USE_ATOMIC);
        else if (i->effects & (MG_E_ENDS | MG_E_SYNCS))
            used_operand(t, o, lanes, USE_BRANCH);
    }
}

/* ---- results ---- */
static void forget_results(const struct at *t, uint32_t lanes)
{
    for (unsigned n = 0; n < t->insn->nresults; n++) {
        const struct mg_ptx_opnd *o = mg__ptx_op(t->func, t->insn, n);
        uint32_t parts = o->kind == MG_OPND_VEC ? o->count : 1;
        const struct mg_ptx_opnd *e = o->kind == MG_OPND_VEC ? &t->func->operands[o->first] : o;
        for (uint32_t k = 0; k < parts; k++) {
            struct undefined *u =
                e[k].kind == MG_OPND_REG && e[k].index < t->func->nregs ? t->f->regs[e[k].index] : NULL;
            for (uint32_t rest = u ? lanes : 0; rest; rest &= rest - 1)
                u->bits[__builtin_ctz(rest)] = 0;
            if (u)
                settle(t->f, e[k].index);
        }
    }
}

static unsigned size_of(const struct at *t, const struct mg_ptx_opnd *o)
{
    return mg__ptx_type_size((enum mg_ptx_type)t->func->regs[o->index].type);
}

/* mov of a vector: pieces of a register, or a register of pieces. */
static void pieces(const struct at *t, uint32_t lanes, const struct undefined *from)
{
    const struct mg_ptx_opnd *d = mg__ptx_op(t->func, t->insn, 0), *s = mg__ptx_op(t->func, t->insn, 1);
    bool apart = d->kind == MG_OPND_VEC;
    const struct mg_ptx_opnd *v = apart ? d : s, *e = &t->func->operands[v->first];
    unsigned each = 8 * mg__ptx_type_size((enum mg_ptx_type)t->insn->type[0]) / v->count;
    struct origin origin = from->origin;
    bool computed = from->origin.computed;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t whole = apart ? bits_of(t, s, lane).undefined : 0, mask = each >= 64 ? ~0ull : (1ull << each) - 1;
        for (uint32_t k = 0; k < v->count && k * each < 64; k++) {
            if (!apart)
                whole |= (bits_of(t, &e[k], lane).undefined & mask) << (k * each);
            else if (e[k].kind == MG_OPND_REG)
                define(t->f, e[k].index, lane, whole >> (k * each) & mask, computed, &origin);
        }
        if (!apart && d->kind == MG_OPND_REG)
            define(t->f, d->index, lane, whole, computed, &origin);
    }
}

/* Results that depend on other lanes. */
static void exchange(const struct at *t, uint32_t lanes, const struct undefined *from)
{
    const struct mg_ptx_insn *i = t->insn;
    const struct mg_ptx_opnd *d = mg__ptx_op(t->func, i, 0), *s = mg__ptx_op(t->func, i, i->nresults);
    struct origin origin = from->origin;
    const struct mg_ptx_opnd *members = i->nops > i->nresults + 1u ? mg__ptx_op(t->func, i, i->nops - 1u) : NULL;
    uint64_t got[32] = {0}, whole = d->kind == MG_OPND_REG && !size_of(t, d) ? 1 : ~0ull;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest), other = lane;
        uint64_t u = bits_of(t, s, lane).undefined;
        if (i->opcode != MG_OP_SHFL) {
            const uint32_t with = u ? members ? (uint32_t)bits_of(t, members, lane).value & lanes : lanes : 0;
            for (uint32_t k = with; k; k &= k - 1)
                got[__builtin_ctz(k)] |= i->opcode == MG_OP_VOTE && i->sub == MG_SUB_BALLOT ? (u & 1) << lane : whole;
            continue;
        }
        struct mg_bits b = bits_of(t, mg__ptx_op(t->func, i, i->nresults + 1u), lane),
                       c = bits_of(t, mg__ptx_op(t->func, i, i->nresults + 2u), lane);
        unsigned by = b.value & 31, clamp = c.value & 31, segment = c.value >> 8 & 31,
                 most = (lane & segment) | (clamp & ~segment), least = lane & segment;
        int want = i->sub == MG_SUB_UP     ? (int)lane - (int)by
                   : i->sub == MG_SUB_DOWN ? (int)(lane + by)
                   : i->sub == MG_SUB_BFLY ? (int)(lane ^ by)
                                           : (int)(least | (by & ~segment));
        if (i->sub == MG_SUB_UP ? want >= (int)most : want <= (int)most)
            other = (unsigned)want;
        got[lane] = b.undefined ? ~0ull : bits_of(t, s, other & 31).undefined;
    }
    bool computed = i->opcode != MG_OP_SHFL || from->origin.computed;
    forget_results(t, lanes);
    for (uint32_t rest = lanes; d->kind == MG_OPND_REG && rest; rest &= rest - 1)
        define(t->f, d->index, (unsigned)__builtin_ctz(rest), got[__builtin_ctz(rest)], computed, &origin);
}

/* `unsure`: lanes of which it is undefined whether they execute it. */
static void compute(const struct at *t, uint32_t lanes, uint32_t unsure, const struct undefined *from, bool computed)
{
    const struct mg_ptx_insn *i = t->insn;
    struct origin origin = from->origin;
    uint64_t bits[32] = {0};
    const struct mg_ptx_opnd *d = mg__ptx_op(t->func, i, 0);
    if (d->kind != MG_OPND_REG && !(i->flags & MG_F_DUAL))
        return;
    unsigned size = d->kind == MG_OPND_REG ? size_of(t, d) : 0;
    bool copies = true;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        struct mg_bits in[MG_BITS_OPERANDS] = {{0}};
        for (unsigned n = i->nresults; n < i->nops && n - i->nresults < MG_BITS_OPERANDS; n++)
            in[n - i->nresults] = bits_of(t, mg__ptx_op(t->func, i, n), lane);
        bits[lane] = unsure >> lane & 1 ? ~0ull : mg__bits_of_result(i, in, size, &copies);
    }
    forget_results(t, lanes);
    for (unsigned n = 0; n < i->nresults; n++)
        for (uint32_t rest = lanes; mg__ptx_op(t->func, i, n)->kind == MG_OPND_REG && rest; rest &= rest - 1)
            define(t->f, mg__ptx_op(t->func, i, n)->index, (unsigned)__builtin_ctz(rest), bits[__builtin_ctz(rest)],
                   computed || !copies, &origin);
}

static void one(const struct at *t)
{
    const struct mg_ptx_insn *i = t->insn;
    uint32_t lanes = t->step->mask, unsure = 0;
    const struct undefined *from = NULL;
    if (i->guard >= 0) {
        bool decides = i->access != MG_ACCESSES_NONE || i->effects;
        if (decides)
            used(t, (uint32_t)i->guard, lanes, 1, USE_BRANCH);
        from = undefined_in(t, (uint32_t)i->guard);
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            if (from && from->bits[lane] & 1)
                unsure |= 1u << lane;
            else if (t->known && (value_of(t, (uint32_t)i->guard, lane) & 1) == (i->guard_negate ? 1u : 0u))
                lanes &= ~(1u << lane);
        }
    }
    use_operands(t, lanes);
    bool computed = false, plain = i->access == MG_ACCESSES_NONE && !i->effects;
    const struct undefined *source = source_of(t, &computed);
    if (unsure && !source)
        source = from;
    if (!i->nresults)
        return;
    if (source && mg__ptx_exactly(i) == MG_ALG_COPY &&
        (mg__ptx_op(t->func, i, 0)->kind == MG_OPND_VEC || mg__ptx_op(t->func, i, 1)->kind == MG_OPND_VEC)) {
        struct undefined copy = *source;
        forget_results(t, lanes);
        pieces(t, lanes, &copy);
    } else if (source && plain && mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->group == MG_G_ALU) {
        compute(t, lanes, unsure, source, computed);
    } else if (source && i->nops > i->nresults && mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->group == MG_G_WARP) {
        exchange(t, lanes, source);
    } else {
        forget_results(t, lanes);
    }
}

/* Not of a function's, as all are in code for debuggers: what it gives back counts as defined. */
bool mg__define_shuffled(struct worker *w, const struct mg_sync *e)
{
    const struct mg_insn_info *info = &w->launch->info->insns[e->insn];
    const struct mg_ptx_insn *i = info->insn;
    const struct mg_ptx_opnd *d = i->nresults && info->func->is_entry ? mg__ptx_op(info->func, i, 0) : NULL;
    struct shadow *s = e->follow && d && d->kind == MG_OPND_REG ? shadow_of(w, e->block, e->warp, true) : NULL;
    struct frame *f = s ? frame_of(s, e->frame, info->func, true) : NULL;
    if (!f)
        return false;
    const unsigned first = (unsigned)__builtin_ctz(e->mask);
    const struct origin origin = {.insn = e->insn,
                                  .object = -1,
                                  .place = PLACE_NONE,
                                  .who = {e->block, (uint16_t)e->warp, (uint8_t)first},
                                  .offset = e->members[first]};
    for (uint32_t rest = e->mask; rest; rest &= rest - 1)
        define(f, d->index, (unsigned)__builtin_ctz(rest), ~0ull, true, &origin);
    *e->follow = true;
    return true;
}

bool mg__define_step(void *self, const struct mg_step *step)
{
    struct worker *w = self;
    const struct mg_launch_info *info = w->launch->info;
    struct shadow *s = shadow_of(w, step->block, step->warp, false);
    if (!s)
        return false;
    for (uint32_t k = step->from; k <= step->to && k < info->ninsns; k++) {
        const struct mg_insn_info *i = &info->insns[k];
        struct frame *f = frame_of(s, step->frame, i->func, false);
        if (!f)
            continue;
        if (i->insn == i->func->insns)
            clear_frame(f); /* another call's */
        struct at t = {w, step, f, i->func, i->insn, k, k == step->to};
        if (f->count)
            one(&t);
    }
    return !idle(s);
}

/* ---- memory ---- */
bool mg__define_read(struct worker *w, const struct mg_access *a, const uint32_t missing[32],
                     const struct origin *origin)
{
    const struct mg_insn_info *info = &w->launch->info->insns[a->insn];
    const struct mg_ptx_insn *i = info->insn;
    if (!a->follow || i->access != MG_ACCESSES_LOAD || !i->nresults)
        return false;
    struct shadow *s = shadow_of(w, a->block, a->warp, true);
    struct frame *f = s ? frame_of(s, a->frame, info->func, true) : NULL;
    if (!f)
        return false;
    const struct mg_ptx_opnd *d = mg__ptx_op(info->func, i, 0);
    uint32_t parts = d->kind == MG_OPND_VEC ? d->count : 1;
    const struct mg_ptx_opnd *e = d->kind == MG_OPND_VEC ? &info->func->operands[d->first] : d;
    unsigned each = mg__ptx_type_size((enum mg_ptx_type)i->type[0]);
    for (uint32_t k = 0; k < parts; k++)
        for (uint32_t rest = a->mask; e[k].kind == MG_OPND_REG && rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            uint64_t bits = 0;
            for (unsigned b = 0; b < each && b < 8; b++)
                bits |= missing[lane] >> (k * each + b) & 1 ? 255ull << (8 * b) : 0;
            if (i->type[0] >= MG_T_S8 && i->type[0] <= MG_T_S64 && each < 8 && bits >> (8 * each - 1) & 1)
                bits |= ~0ull << (8 * each);
            define(f, e[k].index, lane, bits, origin->computed, origin);
        }
    *a->follow = true;
    return true;
}

bool mg__define_written(struct worker *w, const struct mg_access *a, uint32_t missing[32], struct origin *origin)
{
    const struct mg_insn_info *info = &w->launch->info->insns[a->insn];
    const struct mg_ptx_insn *i = info->insn;
    struct shadow *s = w->shadows ? shadow_of(w, a->block, a->warp, false) : NULL;
    struct frame *f = s ? frame_of(s, a->frame, info->func, false) : NULL;
    memset(missing, 0, 32 * sizeof(*missing));
    if (!f || !f->count || i->access != MG_ACCESSES_STORE)
        return false;
    const struct mg_ptx_opnd *v = mg__ptx_op(info->func, i, i->address + 1u);
    uint32_t parts = v->kind == MG_OPND_VEC ? v->count : 1;
    const struct mg_ptx_opnd *e = v->kind == MG_OPND_VEC ? &info->func->operands[v->first] : v;
    unsigned each = mg__ptx_type_size((enum mg_ptx_type)i->type[0]);
    struct at t = {.w = w, .f = f, .func = info->func, .insn = i, .index = a->insn};
    bool any = false;
    for (uint32_t k = 0; k < parts; k++) {
        const struct undefined *u = e[k].kind == MG_OPND_REG ? undefined_in(&t, e[k].index) : NULL;
        if (u && u->origin.computed && a->space == MG_SPACE_GLOBAL) {
            used(&t, e[k].index, a->mask, each >= 8 ? ~0ull : (1ull << 8 * each) - 1, USE_RESULT);
            continue;
        }
        uint64_t all = 0;
        for (uint32_t rest = u ? a->mask : 0; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            uint32_t bytes = 0;
            for (unsigned b = 0; b < each && b < 8; b++) /* a byte of which some bits are defined passes for defined */
                bytes |= (uint32_t)((u->bits[lane] >> (8 * b) & 255) == 255) << b;
            missing[lane] |= bytes << (k * each);
            all |= bytes;
        }
        any |= all != 0;
        if (all)
            *origin = u->origin;
    }
    return any;
}
