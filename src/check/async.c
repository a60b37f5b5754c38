/* async.c - what mbarriers order, and the asynchronous proxy: bulk copies, which act by themselves.
 *
 * An arrival brings what its warp may rely on to the phase that is open; when the phase is over, who sees that it is
 * may rely on what all brought. Arrivals from other blocks of the cluster bring nothing: what those do to a block's
 * shared memory is far.c's.
 *
 * A bulk copy is done when the engine has to: when its mbarrier is tried or its group waited for. It may rely on what
 * the thread that asked for it could rely on then. Whatever else the block's threads did to its bytes, before or since,
 * races with it. In the order core all copies of a block are one warp more, AGENT, known to who has seen the phase of
 * their mbarrier end, or has waited for their group. A block of 32 warps has no room for it, and its copies only write.
 */
#include "check/watch.h"

enum { AGENT = MG_ORDER_WARPS - 1 };

static struct mbarrier *at(struct block *b, uint64_t address, bool make)
{
    for (size_t i = 0; i < b->mbarriers.count; i++)
        if (b->mbarriers.at[i].address == address)
            return &b->mbarriers.at[i];
    struct mbarrier fresh = {.address = address};
    if (!make || !mg__vec_push(&b->mbarriers, fresh))
        return NULL;
    return &b->mbarriers.at[b->mbarriers.count - 1];
}

/* ---- bulk copies ---- */
static struct copy *find(struct block *b, uint32_t number)
{
    for (size_t i = 0; i < b->copies.count; i++)
        if (b->copies.at[i].number == number)
            return &b->copies.at[i];
    return NULL;
}

void mg__async_ask(struct block *b, const struct mg_sync *e)
{
    struct copy c = {.number = e->count, .time = b->order->now, .floor = b->order->floor, .warp = e->warp};
    memcpy(c.known, b->order->known[e->warp], sizeof(c.known));
    c.known[e->warp] = b->order->now++;
    memcpy(c.fenced, b->proxy, sizeof(c.fenced));
    (void)mg__vec_push(&b->copies, c);
}

static void forget(struct block *b, uint32_t number)
{
    struct copy *c = find(b, number);
    if (c)
        *c = b->copies.at[--b->copies.count];
}

static bool relies(const struct block *b, const struct copy *c, uint32_t time, struct mg_order_who who)
{
    return time <= b->order->begin || time <= MG_MAX(c->floor, c->known[who.warp]);
}

void mg__async_note(struct worker *w, const struct block *b, const struct mg_access *a, enum check_kind kind,
                    uint64_t unit, struct mg_order_who who, bool wrote)
{
    const struct launch *l = w->launch;
    uint64_t offset = unit << l->code.unit_shared;
    int32_t object = mg__watch_shared_object(l, offset);
    if (!who.site || who.site > l->code.nnumbers)
        return;
    mg__tally_note(&w->tally,
                   &(struct occurrence){.kind = (uint8_t)kind,
                                        .place = PLACE_SHARED,
                                        .insn = l->code.insn_of[who.site],
                                        .other = a->insn,
                                        .object = object,
                                        .count = 1,
                                        .who = {b->linear, who.warp, who.lane},
                                        .with = mg__watch_actor(a, (unsigned)__builtin_ctz(a->mask)),
                                        .offset = object >= 0 ? offset - l->info->shared_vars[object].offset : offset,
                                        .width = 4,
                                        .value = {wrote, a->kind == MG_ACCESS_BULK_ST}});
}

/* One unit, as it was left by the threads. True: something was told. */
static bool meets(struct worker *w, struct block *b, const struct mg_access *a, const struct copy *c, uint64_t unit)
{
    const struct mg_order_row *row = &b->shared.rows[unit / 32];
    const uint32_t wrote = row->w_time[unit % 32], read = row->r_time[unit % 32];
    const struct mg_order_who writer = mg__order_unpack(row->w_who[unit % 32]),
                              reader = mg__order_unpack(row->r_who[unit % 32]);
    const bool fills = a->kind == MG_ACCESS_BULK_ST;
    if (wrote && !relies(b, c, wrote, writer)) {
        mg__async_note(w, b, a,
                       wrote > c->time && writer.warp != AGENT ? KIND_RACE_ASYNC
                       : fills                                 ? KIND_RACE_FILLED
                                                               : KIND_RACE_SOURCE,
                       unit, writer, true);
        return true;
    }
    if (fills && read && reader.warp != AGENT && !relies(b, c, read, reader)) {
        mg__async_note(w, b, a, read > c->time ? KIND_RACE_ASYNC : KIND_RACE_FILLED, unit, reader, false);
        return true;
    }
    if (!fills && wrote > b->order->begin && writer.warp != AGENT &&
        wrote > MG_MAX(c->fenced[writer.warp], c->fenced[c->warp])) {
        mg__async_note(w, b, a, KIND_RACE_PROXY, unit, writer, true);
        return true;
    }
    return false;
}

static void in_shared(struct worker *w, struct block *b, const struct mg_access *a)
{
    const struct launch *l = w->launch;
    const unsigned unit = l->code.unit_shared;
    const uint64_t at = a->address[__builtin_ctz(a->mask)];
    const uint64_t first = at >> unit, last = (at + a->width - 1) >> unit;
    const bool fills = a->kind == MG_ACCESS_BULK_ST, own = a->target == a->block;
    struct block *of = own ? b : mg__watch_block(w, a->target);
    if (!of || !of->shared.rows || last >= l->shared_units)
        return;
    const struct copy *c = own && b->order->nwarps < MG_ORDER_WARPS ? find(b, a->copy) : NULL;
    const struct mg_order_who me = {.site = l->code.sites[a->insn].number, .warp = AGENT, .async = true};
    bool told = !l->race || !c;
    mg__shadow_settle(of->order, &of->shared);
    for (uint64_t u = first; u <= last; u++) {
        struct mg_order_row *row = &of->shared.rows[u / 32];
        told = told || meets(w, b, a, c, u);
        if (fills) {
            row->w_time[u % 32] = c ? of->order->now : MG_MAX(of->order->floor, 1u);
            row->w_who[u % 32] = mg__order_pack(me);
        } else if (c) {
            row->r_time[u % 32] = of->order->now;
            row->r_who[u % 32] = mg__order_pack(me);
        }
    }
    of->shared.odd = ~0u;
    mg__shadow_changed(of->order, &of->shared, first, last);
    of->order->now++;
}

void mg__async_access(struct worker *w, struct block *b, const struct mg_access *a)
{
    struct launch *l = w->launch;
    if (a->space == MG_SPACE_SHARED) {
        in_shared(w, b, a);
        return;
    }
    uint64_t at = a->address[__builtin_ctz(a->mask)];
    int32_t k = a->kind == MG_ACCESS_BULK_ST ? mg__watch_allocation(l, at, -1) : -1;
    if (k < 0 || !l->regions[k])
        return;
    at -= l->info->allocations[k].address;
    pthread_mutex_lock(&l->lock);
    mg__region_mark(l->regions[k], at, at + a->width, true);
    pthread_mutex_unlock(&l->lock);
}

/* ---- synchronisation ---- */
static void copies(struct worker *w, struct block *b, const struct mg_sync *e)
{
    struct mg_order *o = b->order;
    uint32_t row[MG_ORDER_WARPS] = {0};
    if (e->kind == MG_SYNC_BULK) {
        mg__async_ask(b, e);
    } else if (e->kind == MG_SYNC_BULK_LANDED) {
        struct block *of = e->target == e->block ? b : mg__watch_block(w, e->target);
        struct mbarrier *m = e->arrive && of ? at(of, e->address, false) : NULL;
        forget(b, e->count);
        if (m)
            m->open[AGENT] = of->order->now++;
    } else {
        row[AGENT] = o->now++;
        mg__order_learn(o, e->warp, e->mask, row);
    }
}

void mg__async_sync(struct worker *w, struct block *b, const struct mg_sync *e)
{
    if (e->kind >= MG_SYNC_BULK && e->kind <= MG_SYNC_BULK_WAIT) {
        if (b->order->nwarps < MG_ORDER_WARPS)
            copies(w, b, e);
        return;
    }
    struct block *of = e->target == e->block ? b : mg__watch_block(w, e->target);
    struct mbarrier *m = of ? at(of, e->address, e->kind == MG_SYNC_MBARRIER_INIT) : NULL;
    if (!m)
        return;
    switch (e->kind) {
    case MG_SYNC_MBARRIER_INIT:
        *m = (struct mbarrier){.address = e->address};
        break;
    case MG_SYNC_MBARRIER_COPIES:
        if (of == b)
            mg__order_told(b->order, e->warp, m->open);
        break;
    case MG_SYNC_MBARRIER_ARRIVE:
        if (of == b)
            mg__order_bring(b->order, e->warp, m->open);
        break;
    case MG_SYNC_MBARRIER_OPEN:
        for (uint32_t v = 0; v < MG_ORDER_WARPS; v++)
            m->over[v] = MG_MAX(m->over[v], m->open[v]);
        memset(m->open, 0, sizeof(m->open));
        break;
    case MG_SYNC_MBARRIER_OVER:
        mg__order_learn(b->order, e->warp, e->mask, m->over);
        break;
    case MG_SYNC_MBARRIER_STUCK:
        mg__tally_note(&w->tally,
                       &(struct occurrence){.kind = KIND_BARRIER_MBARRIER,
                                            .place = PLACE_SHARED,
                                            .insn = e->insn,
                                            .other = NO_INSN,
                                            .object = mg__watch_shared_object(w->launch, e->address),
                                            .count = 1,
                                            .who = {b->linear, (uint16_t)e->warp, (uint8_t)__builtin_ctz(e->mask)},
                                            .with = mg__nobody,
                                            .offset = e->address,
                                            .width = 8,
                                            .value = {e->count, e->missing}});
        break;
    default:
        break;
    }
}
