/* far.c - shared memory that several blocks of a cluster use. Barriers of the cluster order them, and mbarriers; where
 * a kernel polls, flags may as well, and nothing is claimed. Of each unit a read and a write from elsewhere are kept
 * until the blocks meet: the first of those that the others need not know of.
 *
 * A block that reaches into another one must know that it has begun, and that one, when it ends, that nobody reaches
 * into it any more.
 */
#include "check/watch.h"

static bool strong(const struct launch *l, uint32_t insn)
{
    return l->code.sites[insn].class >= MG_ORDER_STRONG;
}

static void note(struct worker *w, uint64_t unit, const struct mg_access *a, unsigned lane, uint32_t other,
                 struct actor with)
{
    const struct launch *l = w->launch;
    uint64_t offset = unit << l->code.unit_shared;
    int32_t object = mg__watch_shared_object(l, offset);
    if (object >= 0)
        offset -= l->info->shared_vars[object].offset;
    if (!strong(l, a->insn) || !strong(l, other))
        mg__watch_note(w, KIND_RACE_CLUSTER, PLACE_SHARED, object, offset, mg__element_of(l, a), a->insn, other,
                       mg__watch_actor(a, lane), with);
}

void mg__cluster_met(struct block *b)
{
    for (size_t k = 0; k < b->far.count; k++)
        b->far_at[2 * b->far.at[k].unit] = b->far_at[2 * b->far.at[k].unit + 1] = 0;
    b->far.count = 0;
    for (size_t i = 0; i < b->mbarriers.count; i++)
        b->mbarriers.at[i].remote.time = 0;
    b->met = b->order->now;
}

/* What was used from elsewhere is known to who uses it now. */
static bool knows(struct worker *w, const struct mg_access *a, const struct far_use *use)
{
    const struct block *mine = mg__watch_block(w, a->block);
    return !mine || use->time <= mg__beyond_of(mine, a->warp, use->who.block, use->who.warp);
}

void mg__cluster_meets(struct worker *w, struct block *b, uint64_t unit, const struct mg_access *a, unsigned lane)
{
    bool writes = w->launch->code.sites[a->insn].writes;
    for (unsigned wrote = !writes; wrote < 2; wrote++) {
        uint32_t at = b->far_at ? b->far_at[2 * unit + wrote] : 0;
        const struct far_use *use = at ? &b->far.at[at - 1] : NULL;
        if (use && use->who.block != a->block && !knows(w, a, use)) {
            note(w, unit, a, lane, use->insn, use->who);
            return;
        }
    }
}

void mg__cluster_meets_all(struct worker *w, struct block *b, struct mg_access *a, uint64_t first, uint64_t last)
{
    const unsigned unit = w->launch->code.unit_shared;
    bool used = b->far.count > last - first; /* or one looks whether any is */
    for (size_t k = 0; k < b->far.count && !used; k++)
        used = b->far.at[k].unit - first <= last - first;
    if (!used)
        return;
    mg__access_lanes(a);
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        for (uint64_t u = a->address[lane] >> unit; u <= (a->address[lane] + a->width - 1) >> unit; u++)
            if (b->far_at[2 * u] | b->far_at[2 * u + 1])
                mg__cluster_meets(w, b, u, a, lane);
    }
}

/* An access from another block, and what the block itself did since they met. */
static void meets_own(struct worker *w, struct block *b, uint64_t unit, const struct mg_access *a, unsigned lane)
{
    const struct launch *l = w->launch;
    const struct mg_order_row *row = &b->shared.rows[unit / 32];
    const struct block *from = mg__watch_block(w, a->block);
    uint32_t known[MG_ORDER_WARPS];
    if (!from)
        return;
    mg__beyond_known(from, a->warp, b, known);
    bool wrote = row->w_time[unit % 32] > known[mg__order_unpack(row->w_who[unit % 32]).warp],
         read = row->r_time[unit % 32] > known[mg__order_unpack(row->r_who[unit % 32]).warp];
    if (!wrote && !(read && l->code.sites[a->insn].writes))
        return;
    struct mg_order_who who = mg__order_unpack(wrote ? row->w_who[unit % 32] : row->r_who[unit % 32]);
    if (who.site && who.site <= l->code.nnumbers)
        note(w, unit, a, lane, l->code.insn_of[who.site], (struct actor){b->linear, who.warp, who.lane});
}

static void keep(struct worker *w, struct block *b, uint64_t unit, const struct mg_access *a, unsigned lane,
                 uint32_t now)
{
    const struct launch *l = w->launch;
    bool writes = l->code.sites[a->insn].writes;
    const struct far_use use = {unit, a->insn, now, mg__watch_actor(a, lane)};
    if (!b->far_at && !(b->far_at = calloc(l->shared_units * 2, sizeof(*b->far_at))))
        return;
    const uint32_t at = b->far_at[2 * unit + writes];
    if (!at && mg__vec_push(&b->far, use))
        b->far_at[2 * unit + writes] = (uint32_t)b->far.count;
    else if (at && ((b->far.at[at - 1].who.block == a->block && b->far.at[at - 1].who.warp == a->warp) ||
                    knows(w, a, &b->far.at[at - 1])))
        b->far.at[at - 1] = use;
}

/* What was written is written, as if when they met. */
void mg__cluster_watch(struct worker *w, struct mg_access *a, const struct site *site)
{
    const struct launch *l = w->launch;
    struct block *b = mg__watch_block(w, a->target), *from = mg__watch_block(w, a->block);
    unsigned unit = l->code.unit_shared;
    if (!b || !b->shared.rows || !from)
        return;
    mg__access_lanes(a);
    mg__shadow_settle(b->order, &b->shared);
    const unsigned any = (unsigned)__builtin_ctz(a->mask);
    const uint32_t now = from->order->now++;
    mg__cluster_begun(w, from, b, a->warp, a->address[any], a->insn, mg__watch_actor(a, any));
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t first = a->address[lane] >> unit, last = (a->address[lane] + a->width - 1) >> unit;
        for (uint64_t u = first; u <= last && u < l->shared_units; u++) {
            struct mg_order_row *row = &b->shared.rows[u / 32];
            if (l->race && !l->polls) {
                meets_own(w, b, u, a, lane);
                mg__cluster_meets(w, b, u, a, lane);
                keep(w, b, u, a, lane, now);
            }
            if (site->writes) {
                row->w_time[u % 32] = b->met;
                row->w_who[u % 32] = mg__order_pack((struct mg_order_who){.site = site->number});
            }
        }
        if (site->writes)
            mg__shadow_changed(b->order, &b->shared, first, last);
    }
}

/* ---- a block's life ---- */
static void tell_life(struct worker *w, uint64_t address, uint32_t insn, struct actor who, uint64_t of, bool ended)
{
    const struct launch *l = w->launch;
    const int32_t object = mg__watch_shared_object(l, address);
    if (l->race)
        mg__tally_note(&w->tally,
                       &(struct occurrence){.kind = KIND_RACE_CLUSTER_LIFE,
                                            .place = PLACE_SHARED,
                                            .insn = insn,
                                            .other = NO_INSN,
                                            .object = object,
                                            .count = 1,
                                            .who = who,
                                            .with = {.block = of, .lane = 0xff},
                                            .offset = address - (object >= 0 ? l->info->shared_vars[object].offset : 0),
                                            .width = 4,
                                            .value = {ended}});
}

void mg__cluster_begun(struct worker *w, const struct block *b, const struct block *of, uint32_t warp, uint64_t address,
                       uint32_t insn, struct actor who)
{
    if (!mg__beyond_begun(b, warp, of))
        tell_life(w, address, insn, who, of->linear, false);
}

void mg__cluster_ended(struct worker *w, const struct block *b, uint64_t address, const struct far_use *use)
{
    bool known = false;
    for (uint32_t v = 0; v < b->order->nwarps; v++)
        known |= use->time <= mg__beyond_of(b, v, use->who.block, use->who.warp);
    if (!known)
        tell_life(w, address, use->insn, use->who, b->linear, true);
}

void mg__cluster_end(struct worker *w, struct block *b)
{
    for (size_t k = 0; k < b->far.count; k++)
        mg__cluster_ended(w, b, b->far.at[k].unit << w->launch->code.unit_shared, &b->far.at[k]);
    mg__mbarriers_end(w, b);
    for (size_t i = 0; i < w->blocks.count; i++) { /* copies that are still to come */
        const struct block *o = w->blocks.at[i];
        for (size_t k = 0; o != b && o->busy && k < o->copies.count; k++)
            if (o->copies.at[k].target == b->linear && !o->copies.at[k].mask)
                tell_life(w, 0, o->copies.at[k].insn, (struct actor){o->linear, (uint16_t)o->copies.at[k].warp, 0xff},
                          b->linear, true);
    }
}

void mg__cluster_over(struct worker *w, const struct mg_sync *e)
{
    tell_life(w, e->address, e->insn, (struct actor){e->block, (uint16_t)e->warp, (uint8_t)__builtin_ctz(e->mask)},
              e->target, true);
}
