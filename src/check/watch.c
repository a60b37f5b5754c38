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
#include "check/watch.h"

enum { SEGMENTS_FORGOTTEN = 1u << 10 };

/* ---- accesses ---- */
/* A read of what nobody writes while the launch runs, through a pointer that means just that, or an access to memory in
 * which threads cannot meet: it orders nothing, and compiled code may leave it untold (leave_unheard in launch.c,
 * own.c). */
static inline bool orders_nothing(const struct launch *l, const struct site *site)
{
    const struct region *r =
        site->object >= 0 && site->source.kind == MG_FLOW_POINTER ? l->regions[site->object] : NULL;
    return r && (r->own || (site->plain_read && !r->tracked));
}

void mg__watch_shared(struct worker *w, struct block *b, struct mg_access *a, const struct site *site)
{
    mg__order_uses(b->order, a->warp, a->mask, false);
    if (!mg__shared_quick(w, b, a, site))
        mg__shared_watch(w, b, a, site);
}

static __attribute__((noinline)) void watch(struct worker *w, struct mg_access *a)
{
    struct block *b = mg__watch_block(w, a->block);
    const struct site *site = &w->launch->code.sites[a->insn];
    if (!b || !site->number)
        return;
    if (a->kind >= MG_ACCESS_BULK_LD) {
        (a->copy >> 31 ? mg__wgmma_access : mg__async_access)(w, b, a);
        return;
    }
    if (a->target != a->block) {
        mg__cluster_watch(w, a, site);
        return;
    }
    if (a->space == MG_SPACE_GLOBAL && !orders_nothing(w->launch, site))
        mg__order_uses(b->order, a->warp, a->mask, true);
    if (mg__chosen_wait(w, a, site) || mg__chosen_parts(w, a, site)) {
        w->looks = LOOKS_NOT_RACES;
        (a->space == MG_SPACE_SHARED ? mg__shared_watch : mg__global_watch)(w, b, a, site);
        w->looks = LOOKS_ALL;
    } else if (a->space == MG_SPACE_SHARED) {
        mg__watch_shared(w, b, a, site);
    } else if (a->space == MG_SPACE_GLOBAL || (a->space == MG_SPACE_CONST && w->launch->reads)) {
        if (!mg__global_quick(w, b, a, site))
            mg__global_watch(w, b, a, site);
    } else if (a->space == MG_SPACE_LOCAL) {
        mg__local_watch(w, b, a, site);
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
        b->order->partial || b->hollow || b->far.count)
        return false;
    const unsigned unit = l->code.unit_shared;
    uint64_t least = a->base + (uint64_t)(int64_t)a->pattern->low, most = a->base + (uint64_t)(int64_t)a->pattern->high;
    if (least < site->lo || most + a->width > site->hi)
        return false;
    const struct mg_memo *memo = mg__memos_find(&w->learnt.memos, a, unit);
    uint32_t who = (uint32_t)site->number | a->warp << 16; /* as mg__order_pack_warp */
    mg__order_uses(b->order, a->warp, a->mask, false);
    return memo && mg__shadow_read(b->order, &b->shared, least >> unit, memo, who, l->init, true);
}

/* What the notes say does not hang on it, nor it on them: a plain access to other memory. */
static inline bool is_apart(const struct worker *w, const struct mg_access *a)
{
    const struct site *site = &w->launch->code.sites[a->insn];
    return a->space == MG_SPACE_GLOBAL && a->kind <= MG_ACCESS_ST && a->block == w->notes.block &&
           site->class == MG_ORDER_PLAIN && !site->async && !site->publishes && !site->takes &&
           !(w->noted_meets >> a->warp & 1);
}

/* A poll of one place in device memory may be the same as the warp's last one: where nothing else was told since then,
 * it changes nothing. Several workers would not know of one another. */
static struct polled *polled_of(struct worker *w, struct mg_access *a, uint64_t *address)
{
    uint64_t last;
    const struct launch *l = w->launch;
    const bool may = a->space == MG_SPACE_GLOBAL && l->workers == 1 && !l->by_lanes && a->warp < MG_ORDER_AGENT;
    struct block *b = may ? mg__watch_block(w, a->block) : NULL;
    if (!b)
        return NULL;
    mg__access_reach(a, address, &last);
    return *address == last ? &b->polled[a->warp] : NULL;
}

static __attribute__((noinline)) void watch_poll(struct worker *w, struct mg_access *a)
{
    uint64_t address;
    struct polled *p = polled_of(w, a, &address);
    if (p && p->told == w->told && p->address == address && p->insn == a->insn && p->mask == a->mask)
        return;
    const uint64_t notes = w->tally.notes;
    w->told++;
    watch(w, a);
    if (p && w->tally.notes == notes && !(a->follow && *a->follow))
        *p = (struct polled){address, w->told, a->insn, a->mask};
}

/* A read or an atomic operation in the midst of notes, which becomes one more. */
static inline bool is_noted(struct worker *w, struct mg_access *a)
{
    const struct block *b = w->current;
    return a->space == MG_SPACE_SHARED && w->notes.most && a->kind != MG_ACCESS_ST && a->kind < MG_ACCESS_CP_ASYNC &&
           b && b == w->notes_of && b->linear == w->notes.block && a->block == w->notes.block &&
           a->target == a->block && ((a->pattern && mg__notes_pattern(w, a)) || mg__notes_lanes(w, a));
}

void mg__watch_access(void *worker, struct mg_access *a)
{
    struct worker *w = worker;
    if (w->choices)
        mg__chosen_settle(w, a->block, a->warp);
    if (is_noted(w, a)) {
        w->told++;
        return;
    }
    if (w->notes.n && !is_apart(w, a))
        mg__notes_read(w);
    if (quick_read(w, a)) {
        w->told++;
        if (w->notes.most)
            return;
    } else {
        w->takes_notes &= a->kind < MG_ACCESS_BULK_LD && a->target == a->block;
        if (w->launch->code.sites[a->insn].class == MG_ORDER_POLL && a->kind == MG_ACCESS_LD) {
            watch_poll(w, a);
        } else {
            w->told++;
            watch(w, a);
        }
    }
    mg__notes_go_on(w);
}

void mg__watch_again(struct worker *w, struct mg_access *a)
{
    if (w->notes.n)
        mg__notes_read(w);
    w->told++;
    watch(w, a);
    mg__notes_go_on(w);
}

bool mg__watch_step(void *self, const struct mg_step *step)
{
    struct worker *w = self;
    const bool chooses = w->choices && mg__chosen_step(w, step);
    return mg__define_step(w, step) || chooses;
}

/* ---- synchronisation ---- */
static bool of_the_device(const struct mg_ptx_insn *i)
{
    return i->scope != MG_SCOPE_CTA && i->opcode != MG_OP_FENCE_PROXY;
}

/* All of the block have met: what came before matters no more. */
static void forget(struct block *b)
{
    mg__shadow_met(&b->shared);
    mg__shadow_all_written(b->order, &b->shared);
    if (b->segments.count > SEGMENTS_FORGOTTEN)
        mg__segments_forget(&b->segments);
}

static void fence(struct launch *l, struct block *b, const struct mg_sync *e)
{
    const struct mg_ptx_insn *insn = e->insn < l->info->ninsns ? l->info->insns[e->insn].insn : NULL;
    if (insn && insn->proxy == MG_PROXY_ASYNC)
        b->proxy[e->warp] = b->order->now;
    mg__order_fence(b->order, e->warp);
    if (insn && of_the_device(insn)) {
        mg__mbarriers_fenced(b, e->warp);
        mg__release_fence(l, e->block);
    }
}

static void sync_event(struct worker *w, const struct mg_sync *e)
{
    struct launch *l = w->launch;
    if (e->kind == MG_SYNC_BLOCK_BEGIN) {
        mg__block_begin(w, e->block);
        return;
    }
    struct block *b = mg__watch_block(w, e->block);
    if (!b)
        return;
    struct mg_order *o = b->order;
    if (l->barrier)
        mg__meet(w, b, e);
    switch (e->kind) {
    case MG_SYNC_BLOCK_END:
        if (e->wrong) /* it has not come to its end, and the launch goes on without it */
            mg__meet_end(w, b);
        else
            mg__cluster_end(w, b);
        if (!e->wrong)
            mg__registers_end(w, b);
        mg__registers_forget(b);
        b->busy = false;
        if (w->shadows)
            mg__define_forget(w, b->linear);
        break;
    case MG_SYNC_BARRIER:
        if (e->barrier < 16)
            mg__order_arrive(o, e->barrier, e->warp, e->mask, !e->arrive);
        b->meetings[e->barrier & 15].count = e->count;
        break;
    case MG_SYNC_BARRIER_OPEN: {
        const bool all = b->meetings[e->barrier & 15].count == 0;
        const uint32_t came = all ? ~0u : o->barriers[e->barrier & 15].all;
        if (came)
            mg__beyond_meet(b, came);
        mg__order_open(o, e->barrier, all);
        if (all)
            forget(b);
        memset(&b->meetings[e->barrier & 15], 0, sizeof(b->meetings[0]));
        break;
    }
    case MG_SYNC_CLUSTER:
        mg__cluster_met(b);
        mg__order_meet(o);
        forget(b);
        break;
    case MG_SYNC_WARP:
        for (uint32_t rest = e->mask, set; rest; rest &= ~set) { /* each set of lanes that names the same mask */
            unsigned i = (unsigned)__builtin_ctz(rest);
            set = e->members[i] | 1u << i;
            mg__order_warp(o, e->warp, set);
        }
        break;
    case MG_SYNC_FENCE:
        fence(l, b, e);
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
    case MG_SYNC_BULK:
    case MG_SYNC_BULK_LANDED:
    case MG_SYNC_BULK_COMMIT:
    case MG_SYNC_BULK_WAIT:
    case MG_SYNC_BULK_REFUSED:
        mg__async_sync(w, b, e);
        break;
    case MG_SYNC_MBARRIER_INIT:
    case MG_SYNC_MBARRIER_INVAL:
    case MG_SYNC_MBARRIER_BYTES:
    case MG_SYNC_MBARRIER_ARRIVE:
    case MG_SYNC_MBARRIER_COPIES:
    case MG_SYNC_MBARRIER_OPEN:
    case MG_SYNC_MBARRIER_OVER:
    case MG_SYNC_MBARRIER_NONE:
    case MG_SYNC_MBARRIER_MANY:
    case MG_SYNC_MBARRIER_STUCK:
        mg__mbarrier_sync(w, b, e);
        break;
    case MG_SYNC_FAR_ENDED:
        mg__cluster_over(w, e);
        break;
    case MG_SYNC_WGMMA:
    case MG_SYNC_WGMMA_WAIT:
        mg__wgmma_sync(w, b, e);
        break;
    case MG_SYNC_REGISTERS:
        mg__registers_sync(w, b, e);
        break;
    case MG_SYNC_EXIT:
        mg__order_exit(o, e->warp, e->mask);
        break;
    default:
        break;
    }
}

/* What tells of more than one block, and may come in the midst of another one. */
static bool reaches_beyond(const struct mg_sync *e)
{
    return e->target != e->block || e->kind == MG_SYNC_CLUSTER ||
           (e->kind >= MG_SYNC_MBARRIER_INIT && e->kind <= MG_SYNC_WGMMA_WAIT);
}

/* All warps of the block have come to a barrier for all of it, and it opens: what their events would do (mg__meet,
 * mg__order_arrive, mg__order_open), where nobody was there before them. That nobody met there apart (mg__order_apart)
 * is plain from here on: all times are below the floor. */
bool mg__watch_met(void *self, uint64_t block, uint32_t barrier)
{
    struct worker *w = self;
    struct block *b = w->current;
    if (barrier >= 16 || !b || !b->busy || b->linear != block || b->meetings[barrier].arrived)
        return false;
    w->told++;
    if (w->notes.n && w->notes.block == block)
        mg__notes_met(w);
    else if (w->notes.n)
        mg__notes_read(w);
    if (!w->takes_notes) /* somebody may know of other blocks */
        mg__beyond_meet(b, b->order->nwarps < 32 ? (1u << b->order->nwarps) - 1 : ~0u);
    mg__order_meet(b->order);
    b->order->met[barrier] = 0;
    forget(b);
    mg__notes_go_on(w);
    return true;
}

/* The commonest of the events that are told one by one: a warp comes to a barrier of the whole block where others of it
 * are. What mg__meet and mg__order_arrive would do, where nobody knows more than all do. */
static inline bool arrives(struct worker *w, const struct mg_sync *e)
{
    struct block *b = w->current;
    if (e->kind != MG_SYNC_BARRIER || e->count || e->arrive || e->wrong || e->barrier >= 16 || !b || !b->busy ||
        b->linear != e->block || e->target != e->block)
        return false;
    struct mg_order *o = b->order;
    struct meeting *m = &b->meetings[e->barrier];
    if (!m->arrived || m->count || m->insn != e->insn || o->partial || o->known[e->warp][MG_ORDER_AGENT] > o->agent)
        return false;
    m->arrived += (uint32_t)__builtin_popcount(e->mask);
    mg__order_arrive(o, e->barrier, e->warp, e->mask, true);
    return true;
}

void mg__watch_sync(void *self, const struct mg_sync *e)
{
    struct worker *w = self;
    if (w->choices)
        mg__chosen_settle(w, UINT64_MAX, 0);
    w->told++;
    if ((!w->notes.n || e->block == w->notes.block) && arrives(w, e))
        return;
    if (w->notes.n) { /* a barrier of the whole block, or its end: nothing that notes say hangs on who has come to it */
        const bool own = e->block == w->notes.block;
        if (own && mg__notes_warp(w, e))
            return;
        const bool comes = (e->kind == MG_SYNC_BARRIER && !e->count && !e->arrive) ||
                           (e->kind == MG_SYNC_EXIT && !w->notes_of->order->pairs[e->warp]),
                   over = (e->kind == MG_SYNC_BARRIER_OPEN && !w->notes_of->meetings[e->barrier & 15].count) ||
                          e->kind == MG_SYNC_BLOCK_END;
        if (own && over)
            mg__notes_met(w);
        else if (!own || !comes)
            mg__notes_read(w);
    }
    w->takes_notes &= !reaches_beyond(e);
    sync_event(w, e);
    mg__notes_go_on(w);
}
