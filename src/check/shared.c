/* shared.c - accesses to a block's shared memory, its own lanes' and those of other blocks of its cluster. */
#include "check/watch.h"

int32_t mg__watch_shared_object(const struct launch *l, uint64_t offset)
{
    for (uint32_t k = 0; k < l->info->nshared_vars; k++)
        if (offset - l->info->shared_vars[k].offset < l->info->shared_vars[k].size)
            return (int32_t)k;
    return -1;
}

/* The part that is neither the kernel's nor the launch's. */
bool mg__shared_is_system(const struct launch *l, uint64_t address)
{
    return l->info->shared_reserved && address >= l->info->shared_size - l->info->shared_reserved;
}

/* Bytes of the access that were never written in this block, or with what nobody made: a bit each. */
static uint32_t missing_shared(const struct cells *c, uint64_t address)
{
    uint32_t missing = 0;
    if (mg__shared_is_system(c->l, address)) /* begins as zeros */
        return 0;
    for (unsigned k = 0; k < c->a->width; k++) {
        uint64_t u = (address + k) >> c->unit;
        bool hole = c->b->hollow && c->b->holes[address + k];
        missing |= (uint32_t)(hole || c->b->shared.rows[u / 32].w_time[u % 32] < c->b->order->begin) << k;
    }
    return missing;
}

static uint64_t shared_bytes(const struct launch *l)
{
    return (uint64_t)l->info->shared_size + 4096;
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
void mg__hole_origin(const struct block *b, uint64_t address, uint32_t missing, struct origin *origin)
{
    uint8_t number = b->hollow ? b->holes[address + (unsigned)__builtin_ctz(missing)] : 0;
    if (number)
        *origin = b->origins.at[number - 1];
}

static void race_shared(const struct cells *c, uint32_t mask, int32_t object)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        struct mg_order_who me = mg__cells_who(c, lane);
        uint64_t first = c->a->address[lane], last = first + c->a->width - 1;
        struct told told;
        mg__told_begin(&told);
        mg__shadow_changed(c->b->order, &c->b->shared, first >> c->unit, last >> c->unit);
        for (uint64_t u = first >> c->unit; u <= last >> c->unit; u++) {
            uint64_t base = object >= 0 ? c->l->info->shared_vars[object].offset : 0;
            unsigned from = (unsigned)((u << c->unit) - first);
            if (c->b->far.count && c->l->race)
                mg__cluster_meets(c->w, c->b, u, c->a, lane);
            mg__cells_touch(c, &c->b->shared.rows[u / 32], u % 32, u | 1ull << 63, me, lane, from, object,
                            (u << c->unit) - base, &told);
        }
        mg__told_end(c, &told);
    }
}

/* Lanes on units of their own choice. */
static __attribute__((noinline)) bool quick_lanes(const struct worker *w, struct block *b, struct mg_access *a,
                                                  const struct site *site, uint32_t who, uint64_t least, uint64_t most)
{
    const struct launch *l = w->launch;
    unsigned unit = l->code.unit_shared;
    struct mg_shadow *s = &b->shared;
    if (site->atomic && (a->width < 1u << unit || site->own_fence || b->order->flagged || !l->one_width))
        return false;
    mg__access_lanes(a);
    if (w->takes_notes && a->width >= 1u << unit && a->width <= 16 && site->class != MG_ORDER_VOLATILE &&
        (site->atomic ? site->class == MG_ORDER_STRONG : !site->writes) &&
        mg__shadow_hold(b->order, s, a, who, site->atomic)) {
        b->order->now += site->writes;
        if (site->atomic)
            mg__flags_publish(l, b, a, MG_SPACE_SHARED);
        return true;
    }
    if (site->class == MG_ORDER_VOLATILE) {
        mg__shadow_settle(b->order, s);
        s->odd = MG_MAX(s->odd, b->order->now);
    }
    mg__shadow_settle_near(b->order, s, least >> unit, (most + a->width - 1) >> unit);
    if (!mg__shadow_lanes(b->order, s, a, unit, who,
                          site->atomic   ? MG_LANES_ATOMIC
                          : site->writes ? MG_LANES_WRITE
                                         : MG_LANES_READ,
                          l->init && site->reads))
        return false;
    b->order->now += site->writes;
    if (site->atomic)
        mg__flags_publish(l, b, a, MG_SPACE_SHARED);
    return true;
}

/* An access that is in order among the block's own, as most are. False: each lane must be looked at. */
static inline bool quick(struct worker *w, struct block *b, struct mg_access *a, const struct site *site,
                         uint64_t least, uint64_t most)
{
    const struct launch *l = w->launch;
    const unsigned unit = l->code.unit_shared;
    if (l->by_lanes || b->order->partial || b->hollow || (a->follow && *a->follow) ||
        (site->async && w->async_insn == a->insn + 1) || /* what it copies nobody has written */
        (site->class > MG_ORDER_VOLATILE && !site->atomic))
        return false;
    /* A volatile one is as a plain one, but to those that are strong, and where nobody publishes or takes anything. */
    const bool is_volatile = site->class == MG_ORDER_VOLATILE;
    if (is_volatile && (site->letter || b->order->flagged || b->order->fences >> a->warp & 1))
        return false;
    if (least < site->lo || most + a->width > site->hi)
        return false;
    struct mg_order_who me = {
        .site = site->number, .warp = (uint8_t)a->warp, .class = site->class, .async = site->async};
    uint32_t who = mg__order_pack_warp(me);
    if (site->async) {
        mg__shadow_settle(b->order, &b->shared);
        b->shared.odd = ~0u;
    }
    const struct mg_memo *memo =
        site->atomic || is_volatile ? NULL : mg__access_memo(w, a, unit); /* an atomic's addresses are the data's */
    if (!memo)
        return quick_lanes(w, b, a, site, who, least, most);
    bool good = site->writes ? mg__shadow_write(b->order, &b->shared, least >> unit, memo, who)
                             : mg__shadow_read(b->order, &b->shared, least >> unit, memo, who, l->init, a->pattern) ||
                                   mg__shadow_read_own(b->order, &b->shared, least >> unit, memo, who);
    if (!good) /* a warp may use again what one of its own lanes wrote */
        return quick_lanes(w, b, a, site, who, least, most);
    b->order->now += site->writes;
    return true;
}

bool mg__shared_quick(struct worker *w, struct block *b, struct mg_access *a, const struct site *site)
{
    uint64_t least, most;
    mg__access_reach(a, &least, &most);
    if (!quick(w, b, a, site, least, most))
        return false;
    if (b->far.count && w->launch->race)
        mg__cluster_meets_all(w, b, a, least >> w->launch->code.unit_shared,
                              (most + a->width - 1) >> w->launch->code.unit_shared);
    return true;
}

void mg__shared_watch(struct worker *w, struct block *b, struct mg_access *a, const struct site *site)
{
    struct launch *l = w->launch;
    const struct mg_launch_info *info = l->info;
    uint32_t mask = a->mask;
    const bool writes = site->writes, reads = site->reads && l->init && w->looks != LOOKS_RACES;
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
            if (l->bounds && w->looks != LOOKS_RACES)
                mg__watch_note(w, KIND_BOUNDS_VARIABLE, PLACE_SHARED, object, at, mg__element_of(l, a), a->insn,
                               NO_INSN, mg__watch_actor(a, lane), mg__nobody);
        }
    } else {
        object = a->shared_var >= 0 ? a->shared_var : mg__watch_shared_object(l, a->address[__builtin_ctz(mask)]);
    }
    if (!mask)
        return;
    if (site->takes)
        mg__flags_take(l, b, a, MG_SPACE_SHARED, site->class == MG_ORDER_POLL);
    uint64_t base = object >= 0 ? info->shared_vars[object].offset : 0;
    struct cells c = {l, w, b, a, site, PLACE_SHARED, l->code.unit_shared};
    uint32_t missing[32] = {0};
    for (uint32_t rest = mask; reads && rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        missing[lane] = missing_shared(&c, a->address[lane]);
    }
    if (reads)
        mg__watch_unwritten(w, b, a, missing, KIND_INIT_SHARED, PLACE_SHARED, object, base);
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
    if (w->looks != LOOKS_NOT_RACES)
        race_shared(&c, mask, object);
    b->order->now += writes;
    if (site->publishes) {
        if (site->own_fence)
            mg__order_fence(b->order, a->warp);
        mg__flags_publish(l, b, a, MG_SPACE_SHARED);
    }
}
