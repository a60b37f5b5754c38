/* mbarrier.c - what mbarriers order, and how they are used.
 *
 * An arrival brings what its warp may rely on to the phase that is open; when the phase is over, who sees that it is
 * may rely on what all brought. Of other blocks of the cluster it is brought in their own time (beyond.c).
 *
 * Who uses an mbarrier must know that it was initialised, and who invalidates it, that nobody uses it any more. Lanes
 * of one warp are taken to know.
 */
#include "check/watch.h"

static struct mbarrier *at(struct block *b, uint64_t address, bool make)
{
    for (size_t i = 0; i < b->mbarriers.count; i++)
        if (b->mbarriers.at[i].address == address)
            return &b->mbarriers.at[i];
    if (!make || !mg__vec_push(&b->mbarriers, (struct mbarrier){.address = address}))
        return NULL;
    return &b->mbarriers.at[b->mbarriers.count - 1];
}

void mg__mbarriers_forget(struct block *b)
{
    for (size_t i = 0; i < b->mbarriers.count; i++) {
        mg__vec_free(&b->mbarriers.at[i].far_open.list);
        mg__vec_free(&b->mbarriers.at[i].far_over.list);
    }
    b->mbarriers.count = 0;
}

static void tell(struct worker *w, enum check_kind kind, const struct mg_sync *e, uint32_t insn, uint32_t other,
                 struct actor who, struct actor with, const uint32_t value[4])
{
    const struct launch *l = w->launch;
    const int32_t object = mg__watch_shared_object(l, e->address);
    struct occurrence o = {.kind = (uint8_t)kind,
                           .place = PLACE_SHARED,
                           .insn = insn,
                           .other = other,
                           .object = object,
                           .count = 1,
                           .who = who,
                           .with = with,
                           .offset = e->address - (object >= 0 ? l->info->shared_vars[object].offset : 0),
                           .width = 8};
    memcpy(o.value, value, sizeof o.value);
    if (l->barrier)
        mg__tally_note(&w->tally, &o);
}

void mg__mbarriers_fenced(struct block *b, uint32_t warp)
{
    for (size_t i = 0; i < b->mbarriers.count; i++)
        b->mbarriers.at[i].fenced |= b->mbarriers.at[i].by.warp == warp;
}

static struct actor actor_of(const struct mg_sync *e)
{
    return (struct actor){e->block, (uint16_t)e->warp, (uint8_t)__builtin_ctz(e->mask)};
}

enum { NOT_MADE, NOT_KNOWN, ENDED, NOT_FENCED }; /* value[0] of mbarrier-life */
static void tell_life(struct worker *w, const struct mg_sync *e, uint32_t how, uint32_t insn, uint32_t other,
                      struct actor who, struct actor with)
{
    tell(w, KIND_BARRIER_MBARRIER_LIFE, e, insn, other, who, with, (const uint32_t[4]){how});
}

/* What the event's warp may rely on of block `of`. */
static void known_of(const struct block *b, const struct mg_sync *e, const struct block *of,
                     uint32_t known[MG_ORDER_WARPS])
{
    if (of == b)
        mg__order_known(b->order, e->warp, known);
    else
        mg__beyond_known(b, e->warp, of, known);
}

void mg__mbarrier_used(struct worker *w, struct block *b, struct block *of, const struct mg_sync *e)
{
    struct mbarrier *m = at(of, e->address, false);
    uint32_t known[MG_ORDER_WARPS];
    if (!m || m->ended)
        return;
    known_of(b, e, of, known);
    if (of != b && w->launch->relaxed && !m->fenced)
        tell_life(w, e, NOT_FENCED, m->insn, e->insn, m->by, actor_of(e));
    if ((of != b || m->by.warp != e->warp) && m->made > known[m->by.warp])
        tell_life(w, e, NOT_KNOWN, e->insn, m->insn, actor_of(e), m->by);
    if (of == b) {
        m->used[e->warp] = b->order->now++;
        m->used_by[e->warp] = e->insn;
    }
    if (e->kind != MG_SYNC_MBARRIER_OVER) {
        m->latest = e->insn;
        m->latest_by = actor_of(e);
    }
}

/* It is made, or made again, or ended. */
static void changes(struct worker *w, struct block *b, struct mbarrier *m, const struct mg_sync *e)
{
    uint32_t known[MG_ORDER_WARPS];
    mg__order_known(b->order, e->warp, known);
    for (uint32_t v = 0; v < b->order->nwarps; v++)
        if (v != e->warp && m->used[v] > known[v])
            tell_life(w, e, ENDED, e->insn, m->used_by[v], actor_of(e), (struct actor){b->linear, (uint16_t)v, 0xff});
    memset(m->used, 0, sizeof m->used);
    memset(m->came, 0, sizeof m->came);
    m->ended = e->kind == MG_SYNC_MBARRIER_INVAL;
    m->fenced = false;
    m->insn = e->insn;
    m->by = actor_of(e);
    m->made = b->order->now++;
    memset(m->open, 0, sizeof m->open);
    memset(m->over, 0, sizeof m->over);
    memset(m->told_open, 0, sizeof m->told_open);
    memset(m->told, 0, sizeof m->told);
    m->tells = false;
    m->phases = 0;
    memset(m->seen, 0, sizeof m->seen);
    memset(m->looks, 0, sizeof m->looks);
    memset(m->look_mask, 0, sizeof m->look_mask);
    memset(m->vain_at, 0, sizeof m->vain_at);
    m->ever_vain = 0;
    m->far_open.list.count = m->far_over.list.count = 0;
    m->remote.time = 0;
}

static void missing(struct worker *w, struct block *of, const struct mg_sync *e)
{
    const struct mbarrier *m = at(of, e->address, false);
    if (m && m->ended)
        tell_life(w, e, ENDED, m->insn, e->insn, m->by, actor_of(e));
    else
        tell_life(w, e, NOT_MADE, e->insn, NO_INSN, actor_of(e), mg__nobody);
}

/* ---- what they order ---- */
static void arrive(const struct launch *l, struct block *b, struct block *of, struct mbarrier *m,
                   const struct mg_sync *e)
{
    uint32_t row[MG_ORDER_WARPS];
    if (of == b && l->info->insns[e->insn].insn->sem == MG_PTX_SEM_RELAXED) {
        mg__order_fenced(b->order, e->warp, m->open); /* it orders nothing by itself */
        return;
    }
    mg__beyond_join(&m->far_open, &b->beyond[e->warp], of->linear);
    if (of == b) {
        mg__order_bring(b->order, e->warp, m->open);
        return;
    }
    mg__beyond_known(b, e->warp, of, row);
    for (uint32_t v = 0; v < MG_ORDER_WARPS; v++)
        m->open[v] = MG_MAX(m->open[v], row[v]);
    mg__order_known(b->order, e->warp, row);
    row[e->warp] = b->order->now++;
    mg__beyond_bring(&m->far_open, b->linear, row);
    m->remote.insn = e->insn;
    m->remote.who = actor_of(e);
    m->remote.time = row[e->warp];
}

static void over(struct mbarrier *m)
{
    for (uint32_t v = 0; v < MG_ORDER_WARPS; v++)
        m->over[v] = MG_MAX(m->over[v], m->open[v]);
    memset(m->open, 0, sizeof(m->open));
    for (uint32_t v = 0; m->tells && v < MG_ORDER_WARPS; v++)
        m->told[v] = MG_MAX(m->told[v], m->told_open[v]);
    mg__beyond_join(&m->far_over, &m->far_open, MG_NO_BLOCK);
    m->far_open.list.count = 0;
}

void mg__mbarrier_landed(struct block *b, struct block *of, uint64_t address)
{
    struct mbarrier *m = at(of, address, false);
    if (!m)
        return;
    m->open[MG_ORDER_AGENT] = of->order->now++;
    if (of != b) /* who knows that it has come knows that its source was read */
        mg__beyond_bring(&m->far_open, b->linear, (const uint32_t[MG_ORDER_WARPS]){[MG_ORDER_AGENT] = b->order->now++});
}

/* Arrivals from other blocks that it may not have waited for when it ended. */
void mg__mbarriers_end(struct worker *w, struct block *b)
{
    for (size_t i = 0; i < b->mbarriers.count; i++) {
        const struct mbarrier *m = &b->mbarriers.at[i];
        if (m->remote.time)
            mg__cluster_ended(w, b, m->address, &m->remote);
    }
}

/* ---- waits for a phase that was over before, which a wrong parity makes of them ---- */
static bool same_wait(const struct launch *l, uint32_t a, uint32_t b)
{
    const struct mg_insn_info *x = &l->info->insns[a], *y = &l->info->insns[b];
    return a == b || (x->line && x->line == y->line && !strcmp(x->file, y->file)); /* of a loop that was unrolled */
}

/* Lanes that see the same phase one after another, and a second wait elsewhere to be sure, are right: what is in vain
 * is the same wait of a lane for the same phase again, or one before any phase is over. */
static void looks(const struct launch *l, struct block *b, struct mbarrier *m, const struct mg_sync *e)
{
    const uint32_t warp = e->warp;
    if (m->phases && m->seen[warp] != m->phases) {
        m->seen[warp] = m->phases;
        m->looks[warp]++;
        m->look[warp] = e->insn;
        m->look_mask[warp] = e->mask;
        m->vain_at[warp] = 0;
    } else if (!m->phases || (m->look_mask[warp] & e->mask && same_wait(l, m->look[warp], e->insn))) {
        m->vain[warp] = e->insn;
        m->vain_at[warp] = b->order->now++;
        m->ever_vain = m->ever_vain ? m->ever_vain : e->insn + 1;
    } else {
        m->look_mask[warp] |= e->mask;
    }
}

uint32_t mg__mbarrier_vain(struct block *of, uint64_t address, uint32_t warp, uint32_t time)
{
    const struct mbarrier *m = at(of, address, false);
    return m && warp < MG_ORDER_AGENT && m->vain_at[warp] && m->vain_at[warp] < time ? m->vain[warp] : NO_INSN;
}

/* Who comes too early may have waited in vain: somebody at this mbarrier, or itself at another one since it last
 * arrived here. The wait, + 1; 0: none. */
static uint32_t vain_before(const struct block *b, const struct mbarrier *m, uint32_t warp)
{
    uint32_t wait = m->ever_vain;
    for (size_t i = 0; !wait && m->came[warp] && i < b->mbarriers.count; i++) {
        const struct mbarrier *other = &b->mbarriers.at[i];
        if (other->vain_at[warp] > m->came[warp])
            wait = other->vain[warp] + 1;
    }
    return wait;
}

/* A phase is over that the warp has not seen, nor any that it could know of it from, and nobody has come to the next.
 */
static bool waits_for_next(const struct block *b, const struct mbarrier *m, const struct mg_sync *e)
{
    uint32_t known[MG_ORDER_WARPS], looks = 0;
    bool knows = true;
    mg__order_known(b->order, e->warp, known);
    for (uint32_t v = 0; v < MG_ORDER_WARPS; v++) {
        knows &= m->over[v] <= known[v];
        looks += v < MG_ORDER_AGENT ? m->looks[v] : 0;
    }
    return m->phases == m->looks[e->warp] + 1 && (!knows || !looks) && e->count == e->missing && !e->size;
}

static bool uses(const struct mg_sync *e)
{
    return e->kind == MG_SYNC_MBARRIER_BYTES || e->kind == MG_SYNC_MBARRIER_ARRIVE ||
           e->kind == MG_SYNC_MBARRIER_COPIES || e->kind == MG_SYNC_MBARRIER_OVER;
}

void mg__mbarrier_sync(struct worker *w, struct block *b, const struct mg_sync *e)
{
    struct block *of = e->target == e->block ? b : mg__watch_block(w, e->target);
    if (!of)
        return;
    if (e->kind == MG_SYNC_MBARRIER_NONE) {
        missing(w, of, e);
        return;
    }
    struct mbarrier *m = at(of, e->address, e->kind == MG_SYNC_MBARRIER_INIT);
    if (!m)
        return;
    if (uses(e)) {
        if (of != b)
            mg__cluster_begun(w, b, of, e->warp, e->address, e->insn, actor_of(e));
        mg__mbarrier_used(w, b, of, e);
    }
    switch (e->kind) {
    case MG_SYNC_MBARRIER_INIT:
    case MG_SYNC_MBARRIER_INVAL:
        changes(w, of, m, e);
        break;
    case MG_SYNC_MBARRIER_COPIES:
        if (of == b) {
            m->told_open[e->warp] = mg__order_told(b->order, e->warp, m->open);
            m->tells = true;
        }
        break;
    case MG_SYNC_MBARRIER_ARRIVE:
        if (of == b) {
            m->after_vain = vain_before(b, m, e->warp);
            m->came[e->warp] = b->order->now++;
        }
        arrive(w->launch, b, of, m, e);
        break;
    case MG_SYNC_MBARRIER_OPEN:
        over(m);
        m->phases++;
        break;
    case MG_SYNC_MBARRIER_OVER:
        if (of == b)
            looks(w->launch, b, m, e);
        mg__order_learn(b->order, e->warp, e->mask, m->over);
        for (uint32_t v = 0; m->tells && of == b && v < b->order->nwarps; v++)
            mg__order_seen(b->order, e->warp, v, m->told[v]);
        mg__beyond_join(&b->beyond[e->warp], &m->far_over, b->linear);
        break;
    case MG_SYNC_MBARRIER_MANY:
        tell(w, KIND_BARRIER_MBARRIER_COUNT, e, e->insn, m->insn, actor_of(e), m->by,
             /* all have arrived, and bytes are to come: who waited in vain let the next round begin */
             (const uint32_t[4]){e->count, e->missing, (uint32_t)e->size, e->missing ? 0 : m->after_vain});
        break;
    case MG_SYNC_MBARRIER_STUCK:
        if (of == b && m->phases >= m->looks[e->warp] + 2) /* the one that it waits for, and another one since */
            tell(w, KIND_BARRIER_MBARRIER, e, e->insn, m->latest, actor_of(e), m->latest_by,
                 (const uint32_t[4]){m->phases, m->looks[e->warp]});
        else if (of == b && waits_for_next(b, m, e))
            tell(w, KIND_BARRIER_MBARRIER, e, e->insn, m->latest, actor_of(e), m->latest_by,
                 (const uint32_t[4]){m->phases, m->looks[e->warp], 1});
        else
            tell(w, KIND_BARRIER_MBARRIER, e, e->insn, NO_INSN, actor_of(e), mg__nobody,
                 (const uint32_t[4]){e->count, e->missing, (uint32_t)e->size, e->barrier});
        break;
    default:
        break;
    }
}
