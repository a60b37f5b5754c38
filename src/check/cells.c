/* cells.c - accesses of one block to its memory's cells: which of two race, what is written, what a flag carries.
 *
 * A cell stands for a unit of shared memory, or of global memory that the block touched (order.c says what is in it).
 * Here the long way, lane by lane and unit by unit: quick.c and segment.c judge whole warps where that is possible.
 */
#include "check/watch.h"

/* ---- values ---- */
/* What the lane is about to store, `bytes` of it from `from` on. False: not known. */
bool mg__value_of(const struct mg_access *a, unsigned element, unsigned lane, unsigned from, unsigned bytes,
                  uint8_t *out)
{
    if (a->kind != MG_ACCESS_ST || !a->value)
        return false;
    if (bytes == 4 && element % 4 == 0 && from % 4 == 0) {
        memcpy(out, (const uint8_t *)a->value[from / element] + (size_t)lane * (a->value64 ? 8 : 4) + from % element,
               4);
        return true;
    }
    for (unsigned k = 0; k < bytes; k++) {
        unsigned v = (from + k) / element, byte = (from + k) % element;
        const uint8_t *lanes = a->value[v];
        out[k] = lanes[(size_t)lane * (a->value64 ? 8 : 4) + byte];
    }
    return true;
}

unsigned mg__element_of(const struct launch *l, const struct mg_access *a)
{
    const struct mg_ptx_insn *i = l->info->insns[a->insn].insn;
    unsigned bytes = mg__ptx_type_size((enum mg_ptx_type)i->type[0]);
    if (a->kind == MG_ACCESS_CP_ASYNC) /* no registers */
        return a->width;
    if (mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->group == MG_G_MATRIX) /* registers, whatever is in them */
        bytes = a->element;
    /* .b128 is two values of 64 bits */
    return MG_MIN(bytes && bytes <= a->width ? bytes : a->width, a->value64 ? 8u : 4u);
}

bool mg__same_value(const struct launch *l, const struct mg_access *a, unsigned lane, unsigned from, unsigned bytes,
                    bool at_once, unsigned other)
{
    uint8_t mine[32], theirs[32];
    unsigned element = mg__element_of(l, a);
    if (a->kind == MG_ACCESS_CP_ASYNC && a->other) /* from one place, as the spare lanes of cg::memcpy_async copy */
        return at_once && other < 32 && a->other[lane] == a->other[other];
    if (!mg__value_of(a, element, lane, from, bytes, mine))
        return false;
    if (at_once)
        return other < 32 && mg__value_of(a, element, other, from, bytes, theirs) && !memcmp(mine, theirs, bytes);
    return bytes == 4 ? !memcmp(mine, a->where[lane] + from, 4) : !memcmp(mine, a->where[lane] + from, bytes);
}

/* ---- races in a block ---- */
static struct actor other_of(const struct cells *c, struct mg_order_who who)
{
    const uint8_t lane = (uint8_t)MG_MIN(who.lane, MG_ORDER_MANY);
    return (struct actor){c->a->block, who.warp, who.warp < c->b->order->nwarps ? lane : ACTOR_COPY};
}

static void race(const struct cells *c, unsigned lane, unsigned from, int32_t object, uint64_t offset, bool writes,
                 const struct mg_order_hit *hit, bool wrote, struct told *told)
{
    uint32_t other = hit->who.site <= c->l->code.nnumbers ? c->l->code.insn_of[hit->who.site] : NO_INSN;
    bool in_warp = hit->who.warp == c->a->warp, at_once = hit->time == c->b->order->now && in_warp;
    uint32_t bytes = MG_MIN(1u << c->unit, (uint32_t)c->a->width);
    enum check_kind kind;
    if (hit->who.async && !(at_once && writes && wrote))
        kind = KIND_RACE_ASYNC;
    else if (writes && wrote)
        kind = mg__same_value(c->l, c->a, lane, from, bytes, at_once, hit->who.lane) ? KIND_RACE_SAME_VALUE
               : in_warp && !at_once                                                 ? KIND_RACE_IN_STEP
                                                                                     : KIND_RACE_WRITE_WRITE;
    else
        kind = in_warp ? KIND_RACE_IN_STEP : KIND_RACE_WRITE_READ;
    struct occurrence o = {.kind = (uint8_t)kind,
                           .place = (uint8_t)c->place,
                           .insn = c->a->insn,
                           .other = other,
                           .object = object,
                           .count = 1,
                           .who = mg__watch_actor(c->a, lane),
                           .with = other_of(c, hit->who),
                           .offset = offset,
                           .width = mg__element_of(c->l, c->a),
                           .value = {(uint32_t)writes, (uint32_t)wrote}};
    if (kind == KIND_RACE_WRITE_READ && writes) { /* the read first: find.c looks which comes first in the program */
        o.insn = other;
        o.other = c->a->insn;
        o.who = o.with;
        o.with = mg__watch_actor(c->a, lane);
    }
    if (kind == KIND_RACE_SAME_VALUE) {
        if (told->same)
            return;
        told->same = true;
        told->held = o;
        /* One store has one of its lanes' values, whichever (CUDA C++ Programming Guide, "Global memory"). And what
         * cooperative groups have of their own nobody else can mend. */
        told->silent = at_once || (c->place == PLACE_SHARED && mg__shared_is_system(c->l, c->a->address[lane]));
        return;
    }
    if (told->same && writes && wrote) { /* one store differs here: it is told from its first byte on */
        if (o.other == told->held.other)
            o.offset = told->held.offset;
        else if (!told->silent)
            mg__tally_note(&c->w->tally, &told->held);
        told->same = false;
    }
    mg__tally_note(&c->w->tally, &o);
}

void mg__told_end(const struct cells *c, struct told *told)
{
    if (told->same && !told->silent)
        mg__tally_note(&c->w->tally, &told->held);
}

/* A finished copy is ordered like any write; one that nobody has waited for is a mistake of its own. Of two copies that
 * is so where waiting for the first would have ordered them. */
static bool pending(const struct mg_order *o, const struct mg_order_hit *hit, struct mg_order_who me)
{
    struct mg_order_who done = hit->who;
    done.async = false;
    return mg__order_before(o, hit->time, done, me) ||
           (!me.async && hit->time > mg__order_waited(o, hit->who.warp));
}

/* The first read of a compare-and-swap loop and an atomic that nothing orders. */
static void letter(const struct cells *c, const struct mg_order_row *row, unsigned at, struct mg_order_who me,
                   unsigned lane, int32_t object, uint64_t offset)
{
    bool reads = c->site->letter;
    uint32_t time = reads ? row->w_time[at] : row->r_time[at];
    struct mg_order_who last = mg__order_unpack(reads ? row->w_who[at] : row->r_who[at]);
    uint32_t insn = last.site <= c->l->code.nnumbers ? c->l->code.insn_of[last.site] : NO_INSN;
    if (!time || insn == NO_INSN || !(reads ? c->l->code.sites[insn].atomic : c->l->code.sites[insn].letter) ||
        mg__order_before(c->b->order, time, last, me))
        return;
    mg__watch_note(c->w, KIND_RACE_LETTER, c->place, object, offset, mg__element_of(c->l, c->a), c->a->insn, insn,
                   mg__watch_actor(c->a, lane), other_of(c, last));
}

void mg__cells_touch(const struct cells *c, struct mg_order_row *row, unsigned at, uint64_t key, struct mg_order_who me,
                     unsigned lane, unsigned from, int32_t object, uint64_t offset, struct told *told)
{
    struct mg_order_hit with = {0}, read = {0};
    struct mg_order_who last = mg__order_unpack(row->w_who[at]);
    uint32_t time = row->w_time[at], insn = last.site <= c->l->code.nnumbers ? c->l->code.insn_of[last.site] : NO_INSN;
    if (c->site->atomic && last.class == MG_ORDER_STRONG && time && c->l->race && insn != NO_INSN &&
        c->l->code.sites[insn].atomic && c->l->code.sites[insn].width != c->site->width &&
        !mg__order_before(c->b->order, time, last, me))
        mg__watch_note(c->w, KIND_RACE_WIDTHS, c->place, object, offset, mg__element_of(c->l, c->a), c->a->insn, insn,
                       mg__watch_actor(c->a, lane), other_of(c, last));
    if (c->l->pedantic && c->l->race && (c->site->letter || c->site->atomic))
        letter(c, row, at, me, lane, object, offset);
    if (c->site->writes && c->place != PLACE_NONE)
        mg__order_write(c->b->order, row, at, me, &with, &read);
    else
        mg__order_read(c->b->order, row, at, me, &with);
    if (with.time && with.who.class != MG_ORDER_PLAIN && me.class != MG_ORDER_PLAIN && c->site->writes &&
        mg__order_taken(c->b->order, me.warp, key, with.time))
        with.time = 0; /* it had read what the other wrote */
    if ((told->any && !told->same) || !(with.time | read.time) || !c->l->race)
        return;
    if (told->same && (!with.time || with.who.async || !c->site->writes))
        return;
    if (with.time && with.who.async && !pending(c->b->order, &with, me))
        with.who.async = false;
    if (with.time)
        race(c, lane, from, object, offset, c->site->writes, &with, true, told);
    if (read.time && !told->any)
        race(c, lane, from, object, offset, true, &read, false, told);
    told->any = true;
}

struct mg_order_who mg__cells_who(const struct cells *c, unsigned lane)
{
    return (struct mg_order_who){.site = c->site->number,
                                 .warp = (uint8_t)c->a->warp,
                                 .lane = (uint8_t)lane,
                                 .class = c->site->class,
                                 .async = c->site->async,
                                 .global = c->a->space == MG_SPACE_GLOBAL};
}

/* ---- flags ---- */
/* A unit of memory, of either space. */
static uint64_t flag_of(const struct launch *l, uint8_t space, uint64_t address)
{
    return space == MG_SPACE_SHARED ? address >> l->code.unit_shared | 1ull << 63 : address >> l->code.unit_global;
}

/* The lanes of `rest` at the first one's address. */
MG_WIDE uint32_t mg__lanes_at(const struct mg_access *a, uint32_t rest)
{
    const uint64_t address = a->address[__builtin_ctz(rest)];
    uint32_t lanes = 0;
    for (unsigned i = 0; i < 32; i++)
        lanes |= a->address[i] == address ? 1u << i : 0;
    return lanes & rest;
}

/* As mostly: each active lane's address is above the one before's. */
MG_WIDE static bool all_apart(const struct mg_access *a)
{
    uint64_t wrong = 0;
    for (unsigned i = 1; i < 32; i++)
        wrong |= a->address[i] <= a->address[i - 1];
    return a->mask == ~0u && !wrong;
}

/* A strong write, at each unit that it touches; a strong read. */
void mg__flags_publish(const struct launch *l, struct block *b, const struct mg_access *a, uint8_t space)
{
    if (!(b->order->fences >> a->warp & 1))
        return;
    const bool takes = l->code.sites[a->insn].takes, apart = all_apart(a);
    for (uint32_t rest = a->mask, lanes; rest; rest &= ~lanes) {
        uint64_t address = a->address[__builtin_ctz(rest)];
        lanes = apart ? rest & -rest : mg__lanes_at(a, rest);
        for (uint64_t f = flag_of(l, space, address); f <= flag_of(l, space, address + a->width - 1); f++) {
            mg__order_publish(b->order, a->warp, f);
            if (takes && lanes & (lanes - 1)) /* an atomic of several lanes: one finds what another one has left */
                mg__order_take(b->order, a->warp, lanes, f, false);
        }
    }
}

void mg__flags_take(const struct launch *l, struct block *b, const struct mg_access *a, uint8_t space, bool waits)
{
    const bool apart = all_apart(a);
    for (uint32_t rest = a->mask, lanes; rest && (waits || b->order->flagged); rest &= ~lanes) {
        uint64_t address = a->address[__builtin_ctz(rest)];
        lanes = apart ? rest & -rest : mg__lanes_at(a, rest);
        for (uint64_t f = flag_of(l, space, address); f <= flag_of(l, space, address + a->width - 1); f++)
            mg__order_take(b->order, a->warp, lanes, f, waits);
    }
}
