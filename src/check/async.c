/* async.c - the asynchronous proxy: bulk copies, which act by themselves.
 *
 * A bulk copy is done when the engine has to: when its mbarrier is tried or its group waited for. It may rely on what
 * the thread that asked for it could rely on then. Whatever else the block's threads did to its bytes, before or since,
 * races with it. In the order core all copies into or out of a block are one warp more, AGENT, known to who has seen
 * the phase of their mbarrier end (mbarrier.c), or has waited for their group. Of a copy into another block of the
 * cluster the asking thread relies on what it knows of that one (beyond.c).
 */
#include "check/watch.h"

enum { AGENT = MG_ORDER_AGENT };

/* ---- bulk copies ---- */
static struct copy *find(struct block *b, uint32_t number)
{
    for (size_t i = 0; i < b->copies.count; i++)
        if (b->copies.at[i].number == number)
            return &b->copies.at[i];
    return NULL;
}

void mg__async_ask(struct block *b, const struct block *to, const struct mg_sync *e)
{
    struct copy c = {.number = e->count,
                     .warp = e->warp,
                     .insn = e->insn,
                     .target = to->linear,
                     .tells = e->arrive ? e->address : ~0ull,
                     .mask = e->arrive ? 0 : e->mask};
    if (to != b)
        mg__beyond_known(b, e->warp, to, c.there.known);
    c.there.time = to->order->now;
    c.own.time = b->order->now;
    mg__order_known(b->order, e->warp, c.own.known);
    for (uint32_t v = 0; v < b->order->nwarps; v++)
        c.copied[v] = mg__order_copied(b->order, e->warp, v);
    c.own.known[e->warp] = b->order->now++;
    if (to == b)
        c.there = c.own;
    memcpy(c.fenced, b->proxy, sizeof(c.fenced));
    (void)mg__vec_push(&b->copies, c);
}

static void forget(struct block *b, uint32_t number)
{
    struct copy *c = find(b, number);
    if (c)
        *c = b->copies.at[--b->copies.count];
}

static bool relies(const struct block *b, const struct since *c, uint32_t time, struct mg_order_who who)
{
    return time <= b->order->begin || time <= c->known[who.warp];
}

static void note(struct worker *w, const struct block *b, const struct mg_access *a, struct occurrence o, uint64_t unit,
                 struct mg_order_who who)
{
    const struct launch *l = w->launch;
    uint64_t offset = unit << l->code.unit_shared;
    if (!who.site || who.site > l->code.nnumbers)
        return;
    const uint32_t other = l->code.insn_of[who.site];
    o.place = PLACE_SHARED;
    o.insn = o.value[2] ? a->insn : other;
    o.other = o.value[2] ? other : a->insn;
    o.object = mg__watch_shared_object(l, offset);
    o.count = 1;
    o.width = 4;
    o.offset = o.object >= 0 ? offset - l->info->shared_vars[o.object].offset : offset;
    const struct actor first = {b->linear, who.warp, who.warp == AGENT ? ACTOR_COPY : who.lane},
                       second = mg__watch_actor(a, (unsigned)__builtin_ctz(a->mask));
    o.who = o.value[2] ? second : first;
    o.with = o.value[2] ? first : second;
    mg__tally_note(&w->tally, &o);
}

void mg__async_note(struct worker *w, const struct block *b, const struct mg_access *a, enum check_kind kind,
                    uint64_t unit, struct mg_order_who who, bool wrote)
{
    note(w, b, a, (struct occurrence){.kind = (uint8_t)kind, .value = {wrote, a->kind == MG_ACCESS_BULK_ST}}, unit,
         who);
}

void mg__async_early(struct worker *w, const struct block *b, const struct mg_access *a, uint64_t unit,
                     struct mg_order_who who)
{
    note(w, b, a, (struct occurrence){.kind = KIND_RACE_ASYNC, .value = {false, true, true}}, unit, who);
}

/* Reductions of single elements, which do not mind one another. */
static bool reduces(const struct launch *l, uint32_t insn)
{
    const enum mg_ptx_opcode op = l->info->insns[insn].insn->opcode;
    return op == MG_OP_RED_ASYNC || op == MG_OP_CP_REDUCE_ASYNC_BULK;
}

/* One unit, as it was left by the threads. True: something was told. */
static bool meets(struct worker *w, struct block *b, const struct mg_access *a, const struct copy *c, uint64_t unit)
{
    const struct since *since = b->linear == a->block ? &c->own : &c->there;
    const struct mg_order_row *row = &b->shared.rows[unit / 32];
    const uint32_t wrote = row->w_time[unit % 32], read = row->r_time[unit % 32];
    const struct mg_order_who writer = mg__order_unpack(row->w_who[unit % 32]),
                              reader = mg__order_unpack(row->r_who[unit % 32]);
    const bool fills = a->kind == MG_ACCESS_BULK_ST;
    const struct launch *l = w->launch;
    if (wrote && writer.warp == AGENT && writer.site && reduces(l, a->insn) && reduces(l, l->code.insn_of[writer.site]))
        return false;
    if (wrote && !relies(b, since, wrote, writer)) {
        mg__async_note(w, b, a,
                       wrote > since->time && writer.warp != AGENT ? KIND_RACE_ASYNC
                       : fills                                     ? KIND_RACE_FILLED
                                                                   : KIND_RACE_SOURCE,
                       unit, writer, true);
        return true;
    }
    if (fills && read && !relies(b, since, read, reader)) {
        /* it was to wait for this copy, and did for an earlier one or none */
        const uint32_t vain = mg__mbarrier_vain(b, c->tells, reader.warp, read);
        const bool early = reader.warp != AGENT && (read > since->time || vain != NO_INSN);
        note(w, b, a,
             (struct occurrence){.kind = early ? KIND_RACE_ASYNC : KIND_RACE_FILLED,
                                 .value = {false, true, false, early ? vain + 1 : 0}},
             unit, reader);
        return true;
    }
    if (!fills && wrote > b->order->begin && writer.async && writer.warp != AGENT && wrote > c->copied[writer.warp]) {
        mg__async_early(w, b, a, unit, writer);
        return true;
    }
    if (!fills && wrote > b->order->begin && writer.warp != AGENT && !writer.async &&
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
    const struct copy *c = find(b, a->copy);
    const struct mg_order_who me = {.site = l->code.sites[a->insn].number, .warp = AGENT, .async = true};
    bool told = !l->race || !c;
    if (fills)
        mg__swizzle_wrote(of, a, first, last);
    mg__shadow_settle(of->order, &of->shared);
    for (uint64_t u = first; u <= last; u++) {
        struct mg_order_row *row = &of->shared.rows[u / 32];
        told = told || meets(w, of, a, c, u);
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
    int32_t k = -1;
    if (a->kind != MG_ACCESS_BULK_ST)
        return;
    pthread_mutex_lock(&l->lock);
    for (uint32_t line = 0; line < a->lines; line++, at += a->apart) {
        k = mg__watch_allocation(l, at, k);
        if (k < 0 || !l->regions[k])
            continue;
        const uint64_t from = at - l->info->allocations[k].address;
        mg__region_mark(l->regions[k], from, from + a->width, true);
    }
    pthread_mutex_unlock(&l->lock);
}

/* ---- synchronisation ---- */
static void landed(struct block *b, struct block *to, const struct mg_sync *e)
{
    struct copy *c = find(b, e->count);
    if (c && !e->arrive) /* of a group, which may be waited for yet */
        c->over = b->order->now++;
    else
        forget(b, e->count);
    if (e->arrive && to)
        mg__mbarrier_landed(b, to, e->address);
}

static void refused(struct worker *w, const struct mg_sync *e)
{
    struct launch *l = w->launch;
    uint32_t text = 0;
    pthread_mutex_lock(&l->lock);
    while (text < l->texts.count && strcmp(l->texts.at[text], e->text))
        text++;
    const bool good = text < l->texts.count || mg__vec_push(&l->texts, e->text);
    pthread_mutex_unlock(&l->lock);
    if (l->bounds && good)
        mg__tally_note(&w->tally,
                       &(struct occurrence){.kind = KIND_BOUNDS_BULK,
                                            .place = PLACE_NONE,
                                            .insn = e->insn,
                                            .other = NO_INSN,
                                            .object = -1,
                                            .count = 1,
                                            .who = {e->block, (uint16_t)e->warp, (uint8_t)__builtin_ctz(e->mask)},
                                            .with = mg__nobody,
                                            .value = {text}});
}

/* All groups of these lanes but the latest `count`: they were done in the order in which they were asked for. */
static void groups(struct block *b, const struct mg_sync *e)
{
    uint32_t row[MG_ORDER_WARPS] = {0};
    for (size_t i = b->copies.count; i-- > 0;) {
        struct copy *c = &b->copies.at[i];
        if (c->warp != e->warp || !(c->mask & e->mask))
            continue;
        if (e->kind == MG_SYNC_BULK_COMMIT) {
            c->group++;
        } else if (c->over && c->group > e->count) {
            row[AGENT] = MG_MAX(row[AGENT], c->over);
            *c = b->copies.at[--b->copies.count];
        }
    }
    if (row[AGENT])
        mg__order_learn(b->order, e->warp, e->mask, row);
}

void mg__async_sync(struct worker *w, struct block *b, const struct mg_sync *e)
{
    struct block *to = e->target == e->block ? b : mg__watch_block(w, e->target);
    switch (e->kind) {
    case MG_SYNC_BULK:
        if (e->arrive && to) {
            const struct actor who = {e->block, (uint16_t)e->warp, (uint8_t)__builtin_ctz(e->mask)};
            if (to != b)
                mg__cluster_begun(w, b, to, e->warp, e->address, e->insn, who);
            mg__mbarrier_used(w, b, to, e);
        }
        mg__async_ask(b, to ? to : b, e);
        break;
    case MG_SYNC_BULK_LANDED:
        landed(b, to, e);
        break;
    case MG_SYNC_BULK_REFUSED:
        refused(w, e);
        break;
    default:
        groups(b, e);
    }
}
