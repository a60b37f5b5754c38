/* far.c - shared memory that several blocks of a cluster use. Barriers of the cluster order them; where a kernel polls,
 * flags may as well, and nothing is claimed. Of each unit the first read and the first write from elsewhere are kept
 * until the blocks meet.
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
    b->met = b->order->now;
}

void mg__cluster_meets(struct worker *w, struct block *b, uint64_t unit, const struct mg_access *a, unsigned lane)
{
    bool writes = w->launch->code.sites[a->insn].writes;
    for (unsigned wrote = !writes; wrote < 2; wrote++) {
        uint32_t at = b->far_at ? b->far_at[2 * unit + wrote] : 0;
        if (at && b->far.at[at - 1].who.block != a->block) {
            note(w, unit, a, lane, b->far.at[at - 1].insn, b->far.at[at - 1].who);
            return;
        }
    }
}

/* An access from another block, and what the block itself did since they met. */
static void meets_own(struct worker *w, struct block *b, uint64_t unit, const struct mg_access *a, unsigned lane)
{
    const struct launch *l = w->launch;
    const struct mg_order_row *row = &b->shared.rows[unit / 32];
    bool wrote = row->w_time[unit % 32] > b->met, read = row->r_time[unit % 32] > b->met;
    if (!wrote && !(read && l->code.sites[a->insn].writes))
        return;
    struct mg_order_who who = mg__order_unpack(wrote ? row->w_who[unit % 32] : row->r_who[unit % 32]);
    if (who.site && who.site <= l->code.nnumbers)
        note(w, unit, a, lane, l->code.insn_of[who.site], (struct actor){b->linear, who.warp, who.lane});
}

static void keep(const struct launch *l, struct block *b, uint64_t unit, const struct mg_access *a, unsigned lane)
{
    bool writes = l->code.sites[a->insn].writes;
    if (!b->far_at && !(b->far_at = calloc(l->shared_units * 2, sizeof(*b->far_at))))
        return;
    if (!b->far_at[2 * unit + writes] &&
        mg__vec_push(&b->far, ((struct far_use){unit, a->insn, mg__watch_actor(a, lane)})))
        b->far_at[2 * unit + writes] = (uint32_t)b->far.count;
}

/* What was written is written, as if when they met. */
void mg__cluster_watch(struct worker *w, struct mg_access *a, const struct site *site)
{
    const struct launch *l = w->launch;
    struct block *b = mg__watch_block(w, a->target);
    unsigned unit = l->code.unit_shared;
    if (!b || !b->shared.rows)
        return;
    mg__access_lanes(a);
    mg__shadow_settle(b->order, &b->shared);
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t first = a->address[lane] >> unit, last = (a->address[lane] + a->width - 1) >> unit;
        for (uint64_t u = first; u <= last && u < l->shared_units; u++) {
            if (l->race && !l->polls) {
                meets_own(w, b, u, a, lane);
                mg__cluster_meets(w, b, u, a, lane);
                keep(l, b, u, a, lane);
            }
            if (site->writes)
                b->shared.rows[u / 32].w_time[u % 32] = b->met;
        }
        if (site->writes)
            mg__shadow_changed(b->order, &b->shared, first, last);
    }
}
