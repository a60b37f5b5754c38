/* watch.c - the observer: each access of a warp is held against what is known of its bytes.
 *
 *   bounds   the object that the address was computed from, if the PTX tells (code.c); what the engine refuses anyway
 *   init     bits of what was written: a block's shared memory, a thread's local memory, the device's
 *   race     in a block by order.c: rows of cells for shared memory, and for global memory those that the block has
 *            touched since its last barrier; between blocks by grid.c
 *
 * Global memory that no instruction of the kernel can write to, as far as its addresses can be traced, needs no cells.
 * Lanes that reach beyond their variable are told and then left out: what they do to the neighbour is the same
 * mistake.
 */
#include "check/check_priv.h"

enum { SEGMENTS_FORGOTTEN = 1u << 10, LATE_MOST = 1u << 16 };

/* ---- blocks ---- */
static struct block *find_block(struct worker *w, uint64_t linear)
{
    if (w->current && w->current->busy && w->current->linear == linear)
        return w->current;
    for (size_t i = 0; i < w->blocks.count; i++)
        if (w->blocks.at[i]->busy && w->blocks.at[i]->linear == linear)
            return w->current = w->blocks.at[i];
    return NULL;
}

/* ---- what was noticed ---- */
void mg__watch_note(struct worker *w, enum check_kind kind, enum place_kind place, int32_t object, uint64_t offset,
                    uint32_t width, uint32_t insn, uint32_t other, struct actor who, struct actor with)
{
    struct occurrence o = {.kind = (uint8_t)kind,
                           .place = (uint8_t)place,
                           .insn = insn,
                           .other = other,
                           .object = object,
                           .count = 1,
                           .who = who,
                           .with = with,
                           .offset = offset,
                           .width = width};
    mg__tally_note(&w->tally, &o);
}

static const struct actor nobody = {.lane = 0xff};

static struct actor actor(const struct mg_access *a, unsigned lane)
{
    return (struct actor){a->block, (uint16_t)a->warp, (uint8_t)lane};
}

/* ---- values ---- */
/* What the lane is about to store, `bytes` of it from `from` on. False: not known. */
static bool value_of(const struct mg_access *a, unsigned element, unsigned lane, unsigned from, unsigned bytes,
                     uint8_t *out)
{
    if (a->kind != MG_ACCESS_ST || !a->value)
        return false;
    for (unsigned k = 0; k < bytes; k++) {
        unsigned v = (from + k) / element, byte = (from + k) % element;
        const uint8_t *lanes = a->value[v];
        out[k] = lanes[(size_t)lane * (a->value64 ? 8 : 4) + byte];
    }
    return true;
}

static unsigned element_of(const struct launch *l, const struct mg_access *a)
{
    unsigned bytes = mg__ptx_type_size((enum mg_ptx_type)l->info->insns[a->insn].insn->type[0]);
    /* .b128 is two values of 64 bits */
    return MG_MIN(bytes && bytes <= a->width ? bytes : a->width, a->value64 ? 8u : 4u);
}

static bool same_value(const struct launch *l, const struct mg_access *a, unsigned lane, unsigned from, unsigned bytes,
                       bool at_once, unsigned other)
{
    uint8_t mine[32], theirs[32];
    unsigned element = element_of(l, a);
    if (!value_of(a, element, lane, from, bytes, mine))
        return false;
    if (at_once)
        return other < 32 && value_of(a, element, other, from, bytes, theirs) && !memcmp(mine, theirs, bytes);
    return !memcmp(mine, a->where[lane] + from, bytes);
}

/* ---- races in a block ---- */
struct cells {
    struct launch *l;
    struct worker *w;
    struct block *b;
    const struct mg_access *a;
    const struct site *site;
    enum place_kind place;
    unsigned unit;
};

static struct actor other_of(const struct cells *c, struct mg_order_who who)
{
    return (struct actor){c->a->block, who.warp, who.lane};
}

static void race(const struct cells *c, unsigned lane, unsigned from, int32_t object, uint64_t offset, bool writes,
                 const struct mg_order_hit *hit, bool wrote)
{
    uint32_t other = hit->who.site <= c->l->code.nnumbers ? c->l->code.insn_of[hit->who.site] : NO_INSN;
    bool in_warp = hit->who.warp == c->a->warp, at_once = hit->time == c->b->order->now && in_warp;
    uint32_t bytes = MG_MIN(1u << c->unit, (uint32_t)c->a->width);
    enum check_kind kind;
    if (hit->who.async && !c->site->async)
        kind = KIND_RACE_ASYNC;
    else if (writes && wrote)
        kind = same_value(c->l, c->a, lane, from, bytes, at_once, hit->who.lane) ? KIND_RACE_SAME_VALUE
               : in_warp && !at_once                                             ? KIND_RACE_IN_STEP
                                                                                 : KIND_RACE_WRITE_WRITE;
    else
        kind = in_warp ? KIND_RACE_IN_STEP : KIND_RACE_WRITE_READ;
    struct occurrence o = {.kind = (uint8_t)kind,
                           .place = (uint8_t)c->place,
                           .insn = c->a->insn,
                           .other = other,
                           .object = object,
                           .count = 1,
                           .who = actor(c->a, lane),
                           .with = other_of(c, hit->who),
                           .offset = offset,
                           .width = element_of(c->l, c->a),
                           .value = {(uint32_t)writes, (uint32_t)wrote}};
    if (kind == KIND_RACE_WRITE_READ && writes) { /* the read first: find.c looks which comes first in the program */
        o.insn = other;
        o.other = c->a->insn;
        o.who = o.with;
        o.with = actor(c->a, lane);
    }
    mg__tally_note(&c->w->tally, &o);
}

/* A finished copy is ordered like any write; one that nobody has waited for is a mistake of its own. */
static bool pending(const struct mg_order *o, const struct mg_order_hit *hit, struct mg_order_who me)
{
    struct mg_order_who done = hit->who;
    done.async = false;
    const struct mg_order_copies *c = &o->copies[hit->who.warp];
    return mg__order_before(o, hit->time, done, me) || hit->time > c->done;
}

static void one_cell(const struct cells *c, struct mg_order_row *row, unsigned at, uint64_t key, struct mg_order_who me,
                     unsigned lane, unsigned from, int32_t object, uint64_t offset, bool *told)
{
    struct mg_order_hit with = {0}, read = {0};
    struct mg_order_who last = mg__order_unpack(row->w_who[at]);
    uint32_t time = row->w_time[at], insn = last.site <= c->l->code.nnumbers ? c->l->code.insn_of[last.site] : NO_INSN;
    if (c->site->atomic && last.class == MG_ORDER_STRONG && time && c->l->race && insn != NO_INSN &&
        c->l->code.sites[insn].atomic && c->l->code.sites[insn].width != c->site->width &&
        !mg__order_before(c->b->order, time, last, me))
        mg__watch_note(c->w, KIND_RACE_WIDTHS, c->place, object, offset, element_of(c->l, c->a), c->a->insn, insn,
                       actor(c->a, lane), other_of(c, last));
    if (c->site->writes && c->place != PLACE_NONE)
        mg__order_write(c->b->order, row, at, me, &with, &read);
    else
        mg__order_read(c->b->order, row, at, me, &with);
    if (with.time && with.who.class != MG_ORDER_PLAIN && me.class != MG_ORDER_PLAIN &&
        mg__order_taken(c->b->order, me.warp, key, with.time))
        with.time = 0; /* it had read what the other wrote */
    if (*told || !(with.time | read.time) || !c->l->race)
        return;
    *told = true;
    if (with.time && with.who.async && !pending(c->b->order, &with, me))
        with.who.async = false;
    if (with.time)
        race(c, lane, from, object, offset, c->site->writes, &with, true);
    if (read.time)
        race(c, lane, from, object, offset, true, &read, false);
}

static struct mg_order_who who_of(const struct cells *c, unsigned lane)
{
    return (struct mg_order_who){.site = c->site->number,
                                 .warp = (uint8_t)c->a->warp,
                                 .lane = (uint8_t)lane,
                                 .class = c->site->class,
                                 .async = c->site->async};
}

/* Bytes of the access that were never written in this block, or with what nobody made: a bit each. */
static uint32_t missing_shared(const struct cells *c, uint64_t address)
{
    uint32_t missing = 0;
    for (unsigned k = 0; k < c->a->width; k++) {
        uint64_t u = (address + k) >> c->unit;
        bool hole = c->b->hollow && c->b->holes[address + k];
        missing |= (uint32_t)(hole || c->b->shared.rows[u / 32].w_time[u % 32] < c->b->order->begin) << k;
    }
    return missing;
}

static uint64_t shared_bytes(const struct launch *l)
{
    return (uint64_t)l->info->shared_static + l->info->shared_dynamic + 4096;
}

/* The number of an origin in the block, from 1; the last one stands for all above 255. */
static uint8_t origin_of(struct block *b, const struct origin *origin)
{
    size_t k = 0;
    while (k < b->origins.count &&
           (b->origins.at[k].insn != origin->insn || b->origins.at[k].object != origin->object ||
            b->origins.at[k].computed != origin->computed))
        k++;
    if (k == b->origins.count && (k == 255 || !mg__vec_push(&b->origins, *origin)))
        return (uint8_t)k;
    return (uint8_t)(k + 1);
}

/* What a store to shared memory leaves there. */
static void hole_shared(const struct launch *l, struct block *b, uint64_t address, unsigned width, uint32_t missing,
                        const struct origin *origin)
{
    if (missing && !b->holes)
        b->holes = calloc(shared_bytes(l), 1);
    b->hollow |= missing && b->holes;
    uint8_t number = missing && b->holes ? origin_of(b, origin) : 0;
    for (unsigned k = 0; b->hollow && k < width && address + k < shared_bytes(l); k++)
        b->holes[address + k] = missing >> k & 1 ? number : 0;
}

/* Where what the lane reads of a hole in shared memory comes from, if it is one. */
static void came_from(const struct block *b, uint64_t address, uint32_t missing, struct origin *origin)
{
    uint8_t number = b->hollow ? b->holes[address + (unsigned)__builtin_ctz(missing)] : 0;
    if (number)
        *origin = b->origins.at[number - 1];
}

/* Lanes read bytes that nobody wrote. What can be followed is; else it is told at once. */
static void read_missing(struct worker *w, const struct block *b, const struct mg_access *a, uint32_t missing[32],
                         enum check_kind kind, enum place_kind place, int32_t object, uint64_t base)
{
    struct launch *l = w->launch;
    unsigned first = 0;
    while (first < 32 && !(a->mask >> first & 1 && missing[first]))
        first++;
    if (first == 32)
        return;
    unsigned element = element_of(l, a);
    struct origin origin = {.insn = a->insn,
                            .width = element,
                            .object = object,
                            .place = (uint8_t)place,
                            .who = actor(a, first),
                            .offset = a->address[first] + (unsigned)__builtin_ctz(missing[first]) - base};
    if (place == PLACE_SHARED)
        came_from(b, a->address[first], missing[first], &origin);
    if (mg__define_read(w, a, missing, &origin))
        return;
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (missing[lane])
            mg__watch_note(w, kind, place, object, a->address[lane] + (unsigned)__builtin_ctz(missing[lane]) - base,
                           element, a->insn, NO_INSN, actor(a, lane), nobody);
    }
}

static void race_shared(const struct cells *c, uint32_t mask, int32_t object)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        struct mg_order_who me = who_of(c, lane);
        uint64_t first = c->a->address[lane], last = first + c->a->width - 1;
        bool told = false;
        mg__shadow_changed(c->b->order, &c->b->shared, first >> c->unit, last >> c->unit);
        for (uint64_t u = first >> c->unit; u <= last >> c->unit; u++) {
            uint64_t base = object >= 0 ? c->l->info->shared_vars[object].offset : 0;
            unsigned from = (unsigned)((u << c->unit) - first);
            one_cell(c, &c->b->shared.rows[u / 32], u % 32, u | 1ull << 63, me, lane, from, object,
                     (u << c->unit) - base, &told);
        }
    }
}

static void race_global(const struct cells *c, unsigned lane, int32_t object, uint64_t offset)
{
    struct mg_order_who me = who_of(c, lane);
    uint64_t first = c->a->address[lane], last = first + c->a->width - 1;
    bool told = false;
    for (uint64_t u = first >> c->unit; u <= last >> c->unit; u++) {
        struct mg_order_row *row = mg__segment_row(&c->b->segments, u);
        unsigned from = (unsigned)((u << c->unit) - first);
        if (row)
            one_cell(c, row, u % 32, u, me, lane, from, object, offset + from, &told);
    }
}

/* ---- shared memory ---- */
static int32_t shared_object(const struct launch *l, uint64_t offset)
{
    for (uint32_t k = 0; k < l->info->nshared_vars; k++)
        if (offset - l->info->shared_vars[k].offset < l->info->shared_vars[k].size)
            return (int32_t)k;
    return -1;
}

/* ---- flags ---- */
/* A unit of memory, of either space. */
static uint64_t flag_of(const struct launch *l, uint8_t space, uint64_t address)
{
    return space == MG_SPACE_SHARED ? address >> l->code.unit_shared | 1ull << 63 : address >> l->code.unit_global;
}

/* The lanes of `rest` at the first one's address. */
static uint32_t lanes_at(const struct mg_access *a, uint32_t rest)
{
    uint64_t address = a->address[__builtin_ctz(rest)];
    uint32_t lanes = 0;
    for (uint32_t k = rest; k; k &= k - 1)
        if (a->address[__builtin_ctz(k)] == address)
            lanes |= k & -k;
    return lanes;
}

/* A strong write, at each unit that it touches; a strong read. */
static void publish(const struct launch *l, struct block *b, const struct mg_access *a, uint8_t space)
{
    if (!(b->order->fences >> a->warp & 1))
        return;
    for (uint32_t rest = a->mask, lanes; rest; rest &= ~lanes) {
        uint64_t address = a->address[__builtin_ctz(rest)];
        lanes = lanes_at(a, rest);
        for (uint64_t f = flag_of(l, space, address); f <= flag_of(l, space, address + a->width - 1); f++)
            mg__order_publish(b->order, a->warp, f);
    }
}

static void take(const struct launch *l, struct block *b, const struct mg_access *a, uint8_t space, bool waits)
{
    for (uint32_t rest = a->mask, lanes; rest && (waits || b->order->flagged); rest &= ~lanes) {
        uint64_t address = a->address[__builtin_ctz(rest)];
        lanes = lanes_at(a, rest);
        for (uint64_t f = flag_of(l, space, address); f <= flag_of(l, space, address + a->width - 1); f++)
            mg__order_take(b->order, a->warp, lanes, f, waits);
    }
}

/* Lanes on units of their own choice: reads, and atomics. */
static __attribute__((noinline)) bool quick_lanes(const struct launch *l, struct block *b, struct mg_access *a,
                                                  const struct site *site, uint32_t who)
{
    unsigned unit = l->code.unit_shared;
    struct mg_shadow *s = &b->shared;
    if (a->pattern || a->width != 1u << unit || (site->atomic ? site->own_fence || b->order->flagged : site->writes))
        return false;
    mg__access_lanes(a);
    mg__shadow_settle(b->order, s);
    for (uint32_t rest = a->mask; rest;
         rest &= rest - 1) { /* what was done is done again, if it must, with the same outcome */
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint64_t u = a->address[lane] >> unit;
        struct mg_row_sum *sum = &s->sums[u / 32];
        if (site->atomic) {
            if (!mg__quick_atomic_one(b->order, &s->rows[u / 32], u % 32, who | lane << 21, l->init && site->reads))
                return false;
            sum->written = b->order->now;
            sum->clean = 0;
        } else {
            if (!mg__quick_read_one(b->order, &s->rows[u / 32], u % 32, who | lane << 21, l->init))
                return false;
            sum->read = b->order->now;
        }
    }
    if (site->atomic) {
        b->order->now++;
        publish(l, b, a, MG_SPACE_SHARED);
    }
    return true;
}

/* The lowest and the highest address. */
static inline void reach(struct mg_access *a, uint64_t *least, uint64_t *most)
{
    if (a->pattern) {
        *least = a->base + (uint64_t)(int64_t)a->pattern->low;
        *most = a->base + (uint64_t)(int64_t)a->pattern->high;
    } else {
        mg__access_lanes(a);
        mg__quick_bounds(a, least, most);
    }
}

static inline const struct mg_memo *memo_of(struct worker *w, const struct mg_access *a, unsigned unit)
{
    if (a->pattern)
        return mg__memos_find(&w->memos, a, unit);
    return mg__quick_shape(&w->shapes[a->insn], a, unit) ? &w->shapes[a->insn].memo : NULL;
}

/* An access that is in order, as most are. False: each lane must be looked at. */
static bool quick_shared(struct worker *w, struct block *b, struct mg_access *a, const struct site *site)
{
    const struct launch *l = w->launch;
    const unsigned unit = l->code.unit_shared;
    uint64_t least, most;
    if (b->order->partial || b->hollow || (a->follow && *a->follow) || site->async ||
        (site->class != MG_ORDER_PLAIN && !site->atomic))
        return false;
    reach(a, &least, &most);
    if (least < site->lo || most + a->width > site->hi)
        return false;
    struct mg_order_who me = {.site = site->number, .warp = (uint8_t)a->warp, .class = site->class};
    uint32_t who = mg__order_pack(me);
    const struct mg_memo *memo = site->atomic ? NULL : memo_of(w, a, unit); /* an atomic's addresses are the data's */
    if (!memo)
        return quick_lanes(l, b, a, site, who);
    bool good = site->writes ? mg__shadow_write(b->order, &b->shared, least >> unit, memo, who)
                             : mg__shadow_read(b->order, &b->shared, least >> unit, memo, who, l->init, a->pattern);
    b->order->now += good && site->writes;
    return good;
}

static __attribute__((noinline)) void watch_shared(struct worker *w, struct block *b, struct mg_access *a,
                                                   const struct site *site)
{
    struct launch *l = w->launch;
    const struct mg_launch_info *info = l->info;
    uint32_t mask = a->mask;
    bool writes = site->writes, reads = site->reads;
    mg__access_lanes(a);
    mg__shadow_settle(b->order, &b->shared);
    if (site->class != MG_ORDER_PLAIN || site->async)
        b->shared.odd = site->async ? ~0u : MG_MAX(b->shared.odd, b->order->now);
    int32_t object =
        site->source.kind == MG_FLOW_VARIABLE && site->source.var->space == MG_SPACE_SHARED ? site->object : -1;
    if (object >= 0) {
        const struct mg_shared_var *v = &info->shared_vars[object];
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            uint64_t at = a->address[lane] - v->offset;
            if (at < v->size && a->width <= v->size - at)
                continue;
            mask &= ~(1u << lane);
            if (l->bounds)
                mg__watch_note(w, KIND_BOUNDS_VARIABLE, PLACE_SHARED, object, at, element_of(l, a), a->insn, NO_INSN,
                               actor(a, lane), nobody);
        }
    } else {
        object = a->shared_var >= 0 ? a->shared_var : shared_object(l, a->address[__builtin_ctz(mask)]);
    }
    if (!mask)
        return;
    if (site->takes)
        take(l, b, a, MG_SPACE_SHARED, site->class == MG_ORDER_POLL);
    uint64_t base = object >= 0 ? info->shared_vars[object].offset : 0;
    struct cells c = {l, w, b, a, site, PLACE_SHARED, l->code.unit_shared};
    uint32_t missing[32] = {0};
    for (uint32_t rest = mask; reads && l->init && rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        missing[lane] = missing_shared(&c, a->address[lane]);
    }
    if (reads && l->init)
        read_missing(w, b, a, missing, KIND_INIT_SHARED, PLACE_SHARED, object, base);
    if (writes && l->init) {
        struct origin origin = w->async_origin;
        bool some = site->async ? w->async_insn == a->insn + 1 : mg__define_written(w, a, missing, &origin);
        if (site->async && some)
            memcpy(missing, w->async, sizeof(missing));
        for (uint32_t rest = some || b->hollow ? mask : 0; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            hole_shared(l, b, a->address[lane], a->width, some ? missing[lane] : 0, &origin);
        }
    }
    race_shared(&c, mask, object);
    b->order->now += writes;
    if (site->publishes) {
        if (site->own_fence)
            mg__order_fence(b->order, a->warp);
        publish(l, b, a, MG_SPACE_SHARED);
    }
}

/* ---- local memory: a bit a byte of each lane ---- */
static uint32_t unset(const uint64_t *bits, uint64_t from, unsigned n)
{
    uint32_t missing = 0;
    for (unsigned k = 0; k < n; k++)
        missing |= (uint32_t)(~bits[(from + k) / 64] >> ((from + k) % 64) & 1) << k;
    return missing;
}

static void set_bits(uint64_t *bits, uint64_t from, unsigned n, uint32_t missing)
{
    for (unsigned k = 0; k < n; k++) {
        uint64_t bit = 1ull << ((from + k) % 64), *at = &bits[(from + k) / 64];
        *at = missing >> k & 1 ? *at & ~bit : *at | bit;
    }
}

static __attribute__((noinline)) void watch_local(struct worker *w, struct block *b, struct mg_access *a,
                                                  const struct site *site)
{
    struct launch *l = w->launch;
    size_t words = mg__block_local_words(l);
    uint32_t mask = a->mask;
    mg__access_lanes(a);
    if (site->source.kind == MG_FLOW_VARIABLE && site->source.var->space == MG_SPACE_LOCAL && l->bounds) {
        for (uint32_t rest = mask; rest && site->object_end; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            if (a->address[lane] + a->width <= site->object_end)
                continue;
            mask &= ~(1u << lane);
            mg__watch_note(w, KIND_BOUNDS_VARIABLE, PLACE_LOCAL, -1, a->address[lane], element_of(l, a), a->insn,
                           NO_INSN, actor(a, lane), nobody);
        }
    }
    if (!l->init)
        return;
    if (!b->local[a->warp] && !(b->local[a->warp] = calloc(words * 8, 32)))
        return;
    uint64_t *bits = (uint64_t *)(void *)b->local[a->warp];
    uint32_t missing[32] = {0};
    for (uint32_t rest = site->reads ? mask : 0; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        missing[lane] = unset(bits + lane * words, a->address[lane], a->width);
    }
    if (site->reads)
        read_missing(w, b, a, missing, KIND_INIT_LOCAL, PLACE_LOCAL, -1, 0);
    if (!site->writes)
        return;
    struct origin origin;
    (void)mg__define_written(w, a, missing, &origin);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        set_bits(bits + lane * words, a->address[lane], a->width, missing[lane]);
    }
}

/* ---- global memory ---- */
static int32_t find_allocation(const struct launch *l, uint64_t address, int32_t guess)
{
    const struct mg_allocation *list = l->info->allocations;
    if (guess >= 0 && address - list[guess].address < list[guess].size)
        return guess;
    size_t lo = 0, hi = l->info->nallocations;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (address - list[mid].address < list[mid].size)
            return (int32_t)mid;
        if (address < list[mid].address)
            hi = mid;
        else
            lo = mid + 1;
    }
    return -1;
}

/* Bytes of the region from `offset` on that neither the host nor this launch has written, or with what nobody made. */
static uint32_t missing_global(const struct region *r, uint64_t offset, unsigned width)
{
    uint32_t missing = 0;
    bool holes = mg__region_has_holes(r);
    if (!holes && mg__region_written(r, offset, offset + width))
        return 0;
    for (unsigned k = 0; k < width; k++) {
        uint64_t at = offset + k;
        bool written = mg__region_written(r, at, at + 1) ||
                       (r->tracked && r->cells && mg__grid_written(r, at / 4 * 4) >> at % 4 & 1);
        missing |= (uint32_t)(!written || (holes && mg__region_is_hole(r, at))) << k;
    }
    return missing;
}

/* Reads of memory that nothing in this launch writes to, and whole words of memory that only this warp has used. */
static bool quick_global(struct worker *w, struct block *b, struct mg_access *a, const struct site *site)
{
    struct launch *l = w->launch;
    int32_t k = w->last[a->insn];
    uint64_t least, most;
    bool writes = site->writes && !site->async;
    if (k < 0 || (site->class != MG_ORDER_PLAIN && !site->async) || site->atomic)
        return false;
    const struct mg_allocation *alloc = &l->info->allocations[k];
    struct region *r = l->regions[k];
    int32_t meant = site->async ? site->from_object : site->object;
    reach(a, &least, &most);
    if (!r || mg__region_has_holes(r) || (writes && a->follow && *a->follow))
        return false;
    if (least < alloc->address || most + a->width > alloc->address + alloc->size || (meant >= 0 && meant != k) ||
        (alloc->constant && writes))
        return false;
    uint64_t from = least - alloc->address, to = most + a->width - alloc->address;
    if (!writes && !mg__region_written(r, from, to))
        return false;
    if (!r->tracked)
        return true;
    if (site->async || l->ordered || l->code.unit_global != 2 || a->width % 4 || from % 4)
        return false;
    const struct mg_memo *memo = memo_of(w, a, 2);
    if (!memo || (writes && memo->twice))
        return false;
    if (l->race) {
        struct mg_order_who me = {.site = site->number, .warp = (uint8_t)a->warp, .class = site->class};
        if (b->order->partial ||
            !mg__segments_quick(b->order, &b->segments, least >> 2, memo, mg__order_pack(me), writes, a->pattern))
            return false;
        b->order->now += writes;
    }
    return mg__grid_touch_words(w, k, a, site, from, memo);
}

/* A lane stores nothing but what nobody made. */
static void note_copy(struct worker *w, const struct mg_access *a, int32_t to, const struct origin *from)
{
    struct occurrence o = {.kind = KIND_INIT_COPIED,
                           .place = from->place,
                           .insn = from->insn,
                           .other = a->insn,
                           .object = from->object,
                           .count = 1,
                           .who = from->who,
                           .with = from->who,
                           .offset = from->offset,
                           .width = from->width,
                           .value = {USE_COPY, (uint32_t)to}};
    mg__tally_note(&w->tally, &o);
}

static __attribute__((noinline)) void watch_global(struct worker *w, struct block *b, struct mg_access *a,
                                                   const struct site *site)
{
    struct launch *l = w->launch;
    const struct mg_launch_info *info = l->info;
    mg__access_lanes(a);
    bool from = site->async; /* the global side of a copy: a read */
    struct site as_read;
    int32_t meant = site->object;
    bool known = site->source.kind == MG_FLOW_POINTER ||
                 (site->source.kind == MG_FLOW_VARIABLE && site->source.var->space != MG_SPACE_SHARED &&
                  site->source.var->space != MG_SPACE_LOCAL);
    if (from) {
        as_read = *site;
        as_read.reads = true;
        as_read.writes = false;
        meant = site->from_object;
        known = site->from.kind == MG_FLOW_POINTER || site->from.kind == MG_FLOW_VARIABLE;
        site = &as_read;
    }
    struct cells c = {l, w, b, a, site, PLACE_GLOBAL, l->code.unit_global};
    uint32_t missing[32] = {0}, unread[32] = {0}, piece[32] = {0};
    uint64_t piece_at = 0, piece_size = 0;
    int32_t unread_at = -1;
    struct origin origin;
    bool some = site->writes && l->init && mg__define_written(w, a, missing, &origin);
    if (site->takes)
        take(l, b, a, MG_SPACE_GLOBAL, site->class == MG_ORDER_POLL);
    for (uint32_t rest = site->takes && !site->in_block ? a->mask : 0; rest; rest &= ~lanes_at(a, rest))
        mg__release_take(l, a->block, a->address[__builtin_ctz(rest)]);
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t address = a->address[lane];
        int32_t k = find_allocation(l, address, w->last[a->insn]);
        if (k < 0)
            continue;
        w->last[a->insn] = k;
        struct region *r = l->regions[k];
        const struct mg_allocation *alloc = &info->allocations[k];
        uint64_t offset = address - alloc->address;
        if (known && meant >= 0 && meant != k) {
            if (l->bounds)
                mg__watch_note(w, info->allocations[meant].name ? KIND_BOUNDS_VARIABLE : KIND_BOUNDS_ALLOCATION,
                               PLACE_GLOBAL, meant, address - info->allocations[meant].address, element_of(l, a),
                               a->insn, NO_INSN, actor(a, lane), nobody);
            continue;
        }
        if (!r && mg__heap_is(alloc))
            piece[lane] = mg__heap_access(w, a, site, lane, missing[lane], &piece_at, &piece_size);
        if (!r)
            continue;
        if (alloc->constant && site->writes) {
            if (l->bounds)
                mg__watch_note(w, KIND_BOUNDS_CONSTANT, PLACE_GLOBAL, k, offset, element_of(l, a), a->insn, NO_INSN,
                               actor(a, lane), nobody);
            continue;
        }
        uint32_t fresh = site->reads ? missing_global(r, offset, a->width) : 0;
        if (fresh && l->init) {
            unread[lane] = fresh;
            unread_at = k;
        }
        if (site->writes && (some || mg__region_has_holes(r)))
            mg__region_hole(r, offset, a->width, missing[lane]);
        if (some && missing[lane] == (a->width < 32 ? (1u << a->width) - 1 : ~0u))
            note_copy(w, a, k, &origin);
        if (!r->tracked)
            continue;
        if (l->race)
            race_global(&c, lane, k, offset);
        /* the sum of garbage and a number is garbage: not written before the launch ends */
        bool late = fresh && site->writes;
        if (late && w->late.count < LATE_MOST)
            (void)mg__vec_push(&w->late, ((struct freed){address, a->width}));
        for (uint64_t word = offset / 4 * 4; word < offset + a->width; word += 4) {
            uint64_t lo = MG_MAX(word, offset), hi = MG_MIN(word + 4, offset + a->width);
            struct touch t = {.block = a->block,
                              .offset = word,
                              .site = site,
                              .bytes = (uint8_t)(((1u << (hi - lo)) - 1) << (lo - word))};
            uint8_t value[4];
            if (site->writes && l->ordered)
                t.differs = !same_value(l, a, lane, (unsigned)(lo - offset), (unsigned)(hi - lo), false, 0);
            else if (site->writes &&
                     value_of(a, element_of(l, a), lane, (unsigned)(lo - offset), (unsigned)(hi - lo), value))
                t.value = mg__grid_value(value, (unsigned)(hi - lo));
            else
                t.value = VALUE_MANY;
            if (late)
                t.late = true;
            mg__grid_touch(w, k, &t, a->insn, actor(a, lane));
        }
    }
    if (from) {
        memcpy(w->async, unread, sizeof(unread));
        w->async_insn = unread_at >= 0 ? a->insn + 1 : 0;
        w->async_origin =
            (struct origin){.insn = a->insn, .width = a->width, .object = unread_at, .place = PLACE_GLOBAL};
    } else if (unread_at >= 0) {
        read_missing(w, b, a, unread, KIND_INIT_GLOBAL, PLACE_GLOBAL, unread_at, info->allocations[unread_at].address);
    }
    if (piece_size && l->init && site->reads && !from)
        read_missing(w, b, a, piece, KIND_INIT_HEAP, PLACE_HEAP, (int32_t)MG_MIN(piece_size, INT32_MAX), piece_at);
    b->order->now += site->writes;
    if (site->publishes) {
        if (site->own_fence) {
            mg__order_fence(b->order, a->warp);
            mg__release_fence(l, a->block);
        }
        publish(l, b, a, MG_SPACE_GLOBAL);
        for (uint32_t rest = site->in_block ? 0 : a->mask; rest; rest &= ~lanes_at(a, rest))
            mg__release_publish(l, a->block, a->address[__builtin_ctz(rest)]);
    }
}

/* Another block of the cluster reaches this shared memory. What orders the two is not looked at; what was written is
 * written, as if before the last barrier. */
static void watch_cluster(struct worker *w, struct mg_access *a, const struct site *site)
{
    struct block *b = find_block(w, a->target);
    unsigned unit = w->launch->code.unit_shared;
    if (!b || !site->writes || !b->shared.rows)
        return;
    mg__access_lanes(a);
    mg__shadow_settle(b->order, &b->shared);
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        uint64_t first = a->address[__builtin_ctz(rest)] >> unit,
                 last = (a->address[__builtin_ctz(rest)] + a->width - 1) >> unit;
        for (uint64_t u = first; u <= last; u++)
            b->shared.rows[u / 32].w_time[u % 32] = b->order->floor;
        mg__shadow_changed(b->order, &b->shared, first, last);
    }
}

static __attribute__((noinline)) void watch(struct worker *w, struct mg_access *a)
{
    struct block *b = find_block(w, a->block);
    const struct site *site = &w->launch->code.sites[a->insn];
    if (!b || !site->number)
        return;
    if (a->target != a->block) {
        watch_cluster(w, a, site);
        return;
    }
    if (a->space == MG_SPACE_SHARED) {
        if (!quick_shared(w, b, a, site))
            watch_shared(w, b, a, site);
    } else if (a->space == MG_SPACE_GLOBAL) {
        if (!quick_global(w, b, a, site))
            watch_global(w, b, a, site);
    } else if (a->space == MG_SPACE_LOCAL) {
        watch_local(w, b, a, site);
    }
}

/* The commonest access of all, a plain read of shared memory by a known pattern, before all others: true if it is in
 * order. */
static inline bool quick_read(struct worker *w, const struct mg_access *a)
{
    const struct launch *l = w->launch;
    const struct site *site = &l->code.sites[a->insn];
    struct block *b = w->current;
    if (!a->pattern || a->space != MG_SPACE_SHARED || !site->plain_read || !b || b->linear != a->block || !b->busy ||
        b->order->partial || b->hollow)
        return false;
    const unsigned unit = l->code.unit_shared;
    uint64_t least = a->base + (uint64_t)(int64_t)a->pattern->low, most = a->base + (uint64_t)(int64_t)a->pattern->high;
    if (least < site->lo || most + a->width > site->hi)
        return false;
    const struct mg_memo *memo = mg__memos_find(&w->memos, a, unit);
    uint32_t who = (uint32_t)site->number | a->warp << 16; /* as mg__order_pack */
    return memo && mg__shadow_read(b->order, &b->shared, least >> unit, memo, who, l->init, true);
}

void mg__watch_access(void *worker, struct mg_access *a)
{
    if (!quick_read(worker, a))
        watch(worker, a);
}

/* ---- faults ---- */
/* The allocation that an address lies behind or before, by less than 64 KiB; -1: none is that near. */
static int32_t nearest_allocation(const struct launch *l, uint64_t address)
{
    uint64_t least = 64u << 10;
    int32_t found = -1;
    for (size_t k = 0; k < l->info->nallocations; k++) {
        const struct mg_allocation *a = &l->info->allocations[k];
        uint64_t away = a->address <= address ? address - a->address - a->size : a->address - address;
        if (away < least) {
            least = away;
            found = (int32_t)k;
        }
    }
    return found;
}

void mg__watch_fault(void *self, struct mg_access *a, enum mg_fault_kind fault)
{
    struct worker *w = self;
    struct launch *l = w->launch;
    const struct site *site = &l->code.sites[a->insn];
    bool from = site->async && a->space == MG_SPACE_GLOBAL;
    int32_t meant = from ? site->from_object : site->object;
    const struct mg_flow_origin *source = from ? &site->from : &site->source;
    bool shared = source->kind == MG_FLOW_VARIABLE && source->var->space == MG_SPACE_SHARED;
    if (!l->bounds)
        return;
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t address = a->address[lane];
        enum check_kind kind = fault == MG_FAULT_MISALIGNED ? KIND_BOUNDS_MISALIGNED : KIND_BOUNDS_ALLOCATION;
        enum place_kind place = PLACE_ADDRESS;
        int32_t object = -1;
        uint64_t offset = address;
        if (a->space == MG_SPACE_SHARED) {
            place = PLACE_SHARED;
            object = shared ? meant : shared_object(l, address);
            if (object >= 0)
                offset = address - l->info->shared_vars[object].offset;
            if (fault == MG_FAULT_ADDRESS)
                kind = KIND_BOUNDS_VARIABLE;
        } else if (a->space == MG_SPACE_LOCAL) {
            place = PLACE_LOCAL;
            if (fault == MG_FAULT_ADDRESS)
                kind = KIND_BOUNDS_VARIABLE;
        } else if (fault == MG_FAULT_ADDRESS && address < 4096) {
            kind = KIND_BOUNDS_NULL;
        } else {
            object = meant >= 0 && !shared ? meant : find_allocation(l, address, -1);
            if (object >= 0) {
                place = PLACE_GLOBAL;
                offset = address - l->info->allocations[object].address;
                if (fault == MG_FAULT_ADDRESS && l->info->allocations[object].name)
                    kind = KIND_BOUNDS_VARIABLE;
            } else if (fault == MG_FAULT_ADDRESS) {
                pthread_mutex_lock(&l->check->lock);
                const struct freed *f = mg__freed_find(l->check, address);
                if (f) {
                    kind = KIND_BOUNDS_FREED;
                    place = PLACE_FREED;
                    offset = address - f->address;
                } else if (address - l->info->range >= l->info->range_size) {
                    kind = KIND_BOUNDS_HOST_POINTER;
                }
                pthread_mutex_unlock(&l->check->lock);
                if (!f && kind == KIND_BOUNDS_ALLOCATION && (object = nearest_allocation(l, address)) >= 0) {
                    place = PLACE_GLOBAL;
                    offset = address - l->info->allocations[object].address; /* below it: negative */
                }
            }
        }
        mg__watch_note(w, kind, place, object, offset, element_of(l, a), a->insn, NO_INSN, actor(a, lane), nobody);
    }
}

/* ---- synchronisation ---- */
static bool of_the_device(const struct mg_ptx_insn *i)
{
    return i->scope != MG_SCOPE_CTA && i->opcode != MG_OP_FENCE_PROXY;
}

void mg__watch_sync(void *self, const struct mg_sync *e)
{
    struct worker *w = self;
    struct launch *l = w->launch;
    if (e->kind == MG_SYNC_BLOCK_BEGIN) {
        mg__block_begin(w, e->block);
        return;
    }
    struct block *b = find_block(w, e->block);
    if (!b)
        return;
    struct mg_order *o = b->order;
    if (l->barrier)
        mg__meet(w, b, e);
    switch (e->kind) {
    case MG_SYNC_BLOCK_END:
        b->busy = false;
        if (w->shadows)
            mg__define_forget(w, b->linear);
        break;
    case MG_SYNC_BARRIER:
        if (e->barrier < 16)
            mg__order_arrive(o, e->barrier, e->warp, e->mask, !e->arrive);
        b->meetings[e->barrier & 15].count = e->count;
        break;
    case MG_SYNC_BARRIER_OPEN:
        mg__order_open(o, e->barrier, b->meetings[e->barrier & 15].count == 0);
        if (b->meetings[e->barrier & 15].count == 0)
            mg__shadow_met(&b->shared);
        if (b->meetings[e->barrier & 15].count == 0 && b->segments.count > SEGMENTS_FORGOTTEN)
            mg__segments_forget(&b->segments);
        memset(&b->meetings[e->barrier & 15], 0, sizeof(b->meetings[0]));
        break;
    case MG_SYNC_CLUSTER:
        mg__order_meet(o);
        mg__shadow_met(&b->shared);
        if (b->segments.count > SEGMENTS_FORGOTTEN)
            mg__segments_forget(&b->segments);
        break;
    case MG_SYNC_WARP: {
        uint32_t rest = e->mask;
        while (rest) { /* each set of lanes that names the same mask */
            unsigned i = (unsigned)__builtin_ctz(rest);
            uint32_t set = e->members[i] | 1u << i;
            mg__order_warp(o, e->warp, set);
            rest &= ~set;
        }
        break;
    }
    case MG_SYNC_FENCE:
        mg__order_fence(o, e->warp);
        if (e->insn < l->info->ninsns && of_the_device(l->info->insns[e->insn].insn))
            mg__release_fence(l, e->block);
        break;
    case MG_SYNC_COPY_COMMIT:
        mg__order_commit(o, e->warp);
        break;
    case MG_SYNC_COPY_WAIT:
        mg__order_wait(o, e->warp, e->count);
        break;
    case MG_SYNC_MALLOC:
        mg__heap_given(w, e);
        break;
    case MG_SYNC_FREE:
        mg__heap_taken_back(w, e);
        break;
    case MG_SYNC_EXIT:
        mg__order_exit(o, e->warp, e->mask);
        break;
    default:
        break;
    }
}
