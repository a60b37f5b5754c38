/* release.c - which block may rely on what another one did, in a launch whose blocks may wait for one another.
 *
 * Such a launch runs its blocks in order. A release (a strong write after a fence) publishes what its block did before
 * the fence at that address; a strong read of the address takes it, and what its publisher had taken before.
 *
 * A block's past is counted in steps: each fence is one, and each strong store. Without a fence a strong store orders
 * nothing by the letter; but what was read before it was read before whoever saw it writes, on every device. That is
 * the loose order, which excuses a write after a read and nothing else.
 *
 * Within a block, what one warp took is known to another once that has met it, or all have: until then it is `fresh`.
 * And a warp that releases brings of the others what they had done when it last met them. Of those that have written
 * since, the release has in `lacks`; their writes count from the step on that the first of the block's was after all
 * had met.
 *
 * Who waits at a grid's barrier goes on when all blocks have come. Some may have come to the next one by the time that
 * it looks, on this run; that orders nothing.
 */
#include "check/watch.h"

struct release {
    uint64_t block;
    uint32_t place;
    uint32_t epoch, loose; /* steps of the block up to its last fence, and up to here */
    uint32_t lacks, from;  /* warps of the block, of which it brings what they did before this step */
    uint64_t order;
};
struct taken {
    uint32_t place;
    uint64_t order; /* of the latest release there that was taken */
};
struct fresh { /* taken by one warp, since the block met */
    struct taken what;
    uint32_t warp, time;
};
struct place { /* an address that blocks synchronise by */
    uint64_t address;
    bool grid; /* a grid's barrier, where each round has a release of every block */
    MG_VEC(uint32_t) releases;
};
struct member {             /* a block */
    uint32_t steps, fenced; /* fenced: steps up to its last fence */
    uint32_t strong;        /* up to its last fence or strong store */
    uint32_t published;     /* `strong` at its last release */
    uint32_t published_at;  /* … and its place + 1; 0: it lacked something */
    uint32_t met, from; /* the order's floor when a warp last wrote, and the steps when the first one did since then */
    uint32_t writers;   /* warps that have written since */
    uint32_t *wrote;    /* of these, by warp: when first; NULL: none has */
    MG_VEC(struct fresh) fresh;
    MG_VEC(uint32_t) releases;
    MG_VEC(struct taken) taken;
};
/* Up to where a block may rely on another one whose releases it took itself, as long as neither has more of them. */
enum { DIRECT = 64, MOST_FRESH = 64, MOST_PARTED = 1 << 14 };
struct direct {
    uint64_t block, except, view;
    struct reliance of;
    size_t taken, releases;
    uint32_t upto;
    bool any;
};
/* What one block knows of the others, worked out when a release of theirs was not taken directly. */
struct knows {
    uint64_t block, taken, except, view;
    uint32_t writer;
    uint32_t *of; /* by block; NULL: nothing was worked out */
};
/* The latest release at a place that a block has taken, by both: a hash table. */
struct latest {
    uint64_t block, order; /* order: and 1; 0: free */
    uint32_t place;
};
struct releases {
    struct member *members;
    uint64_t nblocks;
    struct latest *latest;
    size_t nlatest, latest_room;
    MG_VEC(struct release) releases;
    MG_VEC(struct place) places;
    uint32_t *index;
    size_t nindex;
    struct knows knows[2];        /* the latest, strictly and loosely */
    bool parts;                   /* a release lacks something */
    uint32_t parted;              /* times that it had to be worked out for one warp */
    struct direct direct[DIRECT]; /* by the other block's number: what was asked last */
};
static uint64_t scatter(uint64_t key)
{
    key *= 0x9e3779b97f4a7c15ull;
    return key ^ key >> 29;
}

bool mg__releases_begin(struct launch *l, uint64_t nblocks)
{
    l->releases = calloc(1, sizeof(*l->releases));
    if (!l->releases)
        return false;
    l->releases->nblocks = nblocks;
    l->releases->members = calloc(nblocks, sizeof(*l->releases->members));
    return l->releases->members != NULL;
}

void mg__releases_end(struct launch *l)
{
    struct releases *g = l->releases;
    if (!g)
        return;
    for (uint64_t b = 0; g->members && b < g->nblocks; b++) {
        mg__vec_free(&g->members[b].releases);
        mg__vec_free(&g->members[b].taken);
        mg__vec_free(&g->members[b].fresh);
        free(g->members[b].wrote);
    }
    for (size_t p = 0; p < g->places.count; p++)
        mg__vec_free(&g->places.at[p].releases);
    mg__vec_free(&g->places);
    mg__vec_free(&g->releases);
    free(g->members);
    free(g->index);
    free(g->latest);
    free(g->knows[0].of);
    free(g->knows[1].of);
    free(g);
}

uint32_t mg__release_steps(const struct launch *l, uint64_t block)
{
    return l->releases->members[block].steps;
}

static bool is_grid_barrier(const struct launch *l, uint64_t address)
{
    const int32_t k = mg__watch_allocation(l, address, -1);
    const char *name = k < 0 ? NULL : l->info->allocations[k].name;
    return name && !strcmp(name, "(grid barrier)");
}

/* The address's place, made if need be; UINT32_MAX: no memory. */
static uint32_t place_of(const struct launch *l, uint64_t address, bool make)
{
    struct releases *g = l->releases;
    if (g->nindex) {
        for (size_t h = scatter(address) & (g->nindex - 1); g->index[h]; h = (h + 1) & (g->nindex - 1))
            if (g->places.at[g->index[h] - 1].address == address)
                return g->index[h] - 1;
    }
    if (!make)
        return UINT32_MAX;
    if (!mg__vec_push(&g->places, ((struct place){.address = address, .grid = is_grid_barrier(l, address)})))
        return UINT32_MAX;
    if (g->places.count * 2 > g->nindex) {
        size_t n = MG_MAX(g->nindex * 2, 64);
        uint32_t *index = calloc(n, sizeof(*index));
        if (!index) {
            g->places.count--;
            return UINT32_MAX;
        }
        free(g->index);
        g->index = index;
        g->nindex = n;
        for (size_t p = 0; p + 1 < g->places.count; p++) {
            size_t h = scatter(g->places.at[p].address) & (n - 1);
            while (index[h])
                h = (h + 1) & (n - 1);
            index[h] = (uint32_t)p + 1;
        }
    }
    size_t h = scatter(address) & (g->nindex - 1);
    while (g->index[h])
        h = (h + 1) & (g->nindex - 1);
    g->index[h] = (uint32_t)g->places.count;
    return (uint32_t)g->places.count - 1;
}

void mg__release_fence(struct launch *l, uint64_t block)
{
    struct member *m = l->releases ? &l->releases->members[block] : NULL;
    if (m)
        m->fenced = m->strong = ++m->steps;
}

/* A step that is no fence: the rest is for those. */
static bool step(const struct launch *l, struct member *m)
{
    const bool room = m->steps < 1u << l->epoch_bits >> 1;
    m->steps += room;
    return room;
}

/* The warps that have written since the block met, whose writes the warp does not know of. */
static uint32_t unknown_to(const struct member *m, const struct party *who)
{
    uint32_t lacks = 0;
    if (!who->order || who->order->floor != m->met)
        return 0;
    for (uint32_t rest = m->writers; rest; rest &= rest - 1) {
        const uint32_t v = (uint32_t)__builtin_ctz(rest);
        lacks |= (uint32_t)!mg__order_knows(who->order, who->warp, v, m->wrote[v]) << v;
    }
    return lacks;
}

void mg__release_wrote(struct launch *l, const struct party *who)
{
    struct releases *g = l->releases;
    struct member *m = g ? &g->members[who->block] : NULL;
    if (!m || !who->order || who->warp >= 32 || who->order->nwarps < 2)
        return;
    if (!m->wrote && !(m->wrote = calloc(32, sizeof *m->wrote)))
        return;
    if (who->order->floor != m->met || !m->writers) {
        m->met = who->order->floor;
        m->writers = 0;
        if (!step(l, m))
            return; /* what comes now looks like what came before */
        m->from = m->steps;
    }
    if (!(m->writers >> who->warp & 1))
        m->wrote[who->warp] = who->order->now;
    m->writers |= 1u << who->warp;
}

void mg__release_publish(struct launch *l, const struct party *who, uint64_t address, bool stores)
{
    struct releases *g = l->releases;
    struct member *m = g ? &g->members[who->block] : NULL;
    if (m && stores) {
        (void)step(l, m);
        m->strong = m->steps;
    }
    if (!m || !m->strong)
        return;
    const uint32_t p = place_of(l, address, true), lacks = unknown_to(m, who);
    if (p == UINT32_MAX || (m->published == m->strong && m->published_at == p + 1 && !lacks))
        return;
    g->parts |= lacks != 0;
    struct release r = {who->block, p, m->fenced, m->strong, lacks, m->from, g->releases.count};
    uint32_t at = (uint32_t)g->releases.count;
    if (!mg__vec_push(&g->releases, r))
        return;
    (void)mg__vec_push(&g->places.at[p].releases, at);
    (void)mg__vec_push(&m->releases, at);
    m->published = m->strong;
    m->published_at = lacks ? 0 : p + 1;
}

static struct latest *latest_in(struct latest *of, size_t room, uint64_t block, uint32_t place)
{
    size_t h = scatter(scatter(block) + place) & (room - 1);
    while (of[h].order && (of[h].block != block || of[h].place != place))
        h = (h + 1) & (room - 1);
    return &of[h];
}

/* The number of the latest release there that the block has taken, and 1; 0: none. */
static uint64_t latest_taken(const struct releases *g, uint64_t block, uint32_t place)
{
    return g->latest ? latest_in(g->latest, g->latest_room, block, place)->order : 0;
}

/* False: no memory. */
static bool set_latest(struct releases *g, uint64_t block, uint32_t place, uint64_t order)
{
    if (2 * g->nlatest >= g->latest_room) {
        const size_t room = MG_MAX(2 * g->latest_room, 64u);
        struct latest *more = calloc(room, sizeof *more);
        if (!more)
            return false;
        for (size_t k = 0; k < g->latest_room; k++)
            if (g->latest[k].order)
                *latest_in(more, room, g->latest[k].block, g->latest[k].place) = g->latest[k];
        free(g->latest);
        g->latest = more;
        g->latest_room = room;
    }
    struct latest *at = latest_in(g->latest, g->latest_room, block, place);
    g->nlatest += !at->order;
    *at = (struct latest){block, order, place};
    return true;
}

static bool knows_of(const struct party *who, const struct fresh *f)
{
    return !who->order || mg__order_knows(who->order, who->warp, f->warp, f->time);
}

/* What all of the block knows. */
static void settle(struct releases *g, uint64_t block, struct taken t)
{
    if (latest_taken(g, block, t.place) <= t.order && set_latest(g, block, t.place, t.order + 1))
        (void)mg__vec_push(&g->members[block].taken, t);
}

/* What was fresh is not any more where the block has met since. */
static void settle_fresh(struct releases *g, const struct party *who)
{
    struct member *m = &g->members[who->block];
    size_t left = 0;
    for (size_t k = 0; k < m->fresh.count; k++)
        if (who->order && m->fresh.at[k].time <= who->order->floor)
            settle(g, who->block, m->fresh.at[k].what);
        else
            m->fresh.at[left++] = m->fresh.at[k];
    m->fresh.count = left;
}

void mg__release_take(struct launch *l, const struct party *who, uint64_t address, bool arrives)
{
    struct releases *g = l->releases;
    uint32_t p = g ? place_of(l, address, false) : UINT32_MAX;
    size_t count = p == UINT32_MAX ? 0 : g->places.at[p].releases.count;
    if (count && g->places.at[p].grid && !arrives)
        count -= count % g->nblocks;
    if (!count)
        return;
    struct member *m = &g->members[who->block];
    const struct taken t = {p, g->places.at[p].releases.at[count - 1]};
    if (latest_taken(g, who->block, p) > t.order)
        return;
    settle_fresh(g, who);
    if (!who->order || who->order->nwarps < 2 || who->warp >= 32) {
        settle(g, who->block, t);
        return;
    }
    size_t k = 0;
    while (k < m->fresh.count && (m->fresh.at[k].what.place != p || m->fresh.at[k].warp != who->warp))
        k++;
    const struct fresh f = {t, who->warp, who->order->now};
    if (k < m->fresh.count)
        m->fresh.at[k] = m->fresh.at[k].what.order < t.order ? f : m->fresh.at[k];
    else if (k == MOST_FRESH || !mg__vec_push(&m->fresh, f))
        settle(g, who->block, t); /* believe too much */
}

/* Of the latest release at the place that the party knows of, the number and 1; 0: of none. */
static uint64_t latest_known(const struct releases *g, const struct party *who, uint32_t place)
{
    const struct member *m = &g->members[who->block];
    uint64_t order = latest_taken(g, who->block, place);
    for (size_t k = 0; k < m->fresh.count; k++)
        if (m->fresh.at[k].what.place == place && knows_of(who, &m->fresh.at[k]))
            order = MG_MAX(order, m->fresh.at[k].what.order + 1);
    return order;
}

/* How many of the place's releases come up to this one. */
static size_t releases_to(const struct place *p, uint64_t order)
{
    size_t lo = 0, hi = p->releases.count;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (p->releases.at[mid] <= order)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Up to which step the release brings what the warp did, which is its number and 1; 0: any. */
static uint32_t brings(const struct release *r, bool loose, uint32_t writer)
{
    const uint32_t all = loose ? r->loose : r->epoch;
    return writer && r->lacks >> (writer - 1) & 1 ? MG_MIN(all, r->from) : all;
}

/* What of its block's fresh ones the party knows. */
static uint64_t view_of(const struct releases *g, const struct party *who)
{
    const struct member *m = &g->members[who->block];
    uint64_t view = 0;
    for (size_t k = 0; k < m->fresh.count; k++)
        if (knows_of(who, &m->fresh.at[k]))
            view = scatter(view + m->fresh.at[k].what.order + 1) + m->fresh.at[k].what.place;
    return view;
}

struct walk {
    struct releases *g;
    uint64_t except;
    uint64_t *upto; /* by place: what of its releases was walked */
    MG_VEC(struct taken) todo;
};

static void go_to(struct walk *w, struct taken t)
{
    if (t.order + 1 > w->upto[t.place] && w->g->places.at[t.place].address / 4 != w->except / 4)
        (void)mg__vec_push(&w->todo, t);
}

/* All that the party knows: of each other block the greatest epoch published to it, directly or through others. */
static const uint32_t *work_out(struct releases *g, const struct party *who, const struct reliance *of, uint64_t view)
{
    const uint64_t block = who->block;
    struct member *me = &g->members[block];
    struct knows *knows = &g->knows[of->loose];
    if (knows->of && knows->block == block && knows->taken == me->taken.count && knows->except == of->except &&
        knows->view == view && knows->writer == of->writer)
        return knows->of;
    if (!knows->of && !(knows->of = calloc(g->nblocks, sizeof(*knows->of))))
        return NULL;
    memset(knows->of, 0, g->nblocks * sizeof(*knows->of));
    /* Releases taken, walked backwards: what a publisher took before its release is known as well. Its latest release
     * comes first, and brings what earlier ones would. */
    struct walk w = {.g = g, .except = of->except, .upto = calloc(g->places.count + 1, sizeof(*w.upto))};
    uint64_t *walked = calloc(g->nblocks, sizeof(*walked));
    for (size_t k = 0; w.upto && walked && k < me->taken.count; k++)
        go_to(&w, me->taken.at[k]);
    for (size_t k = 0; w.upto && walked && k < me->fresh.count; k++)
        if (knows_of(who, &me->fresh.at[k]))
            go_to(&w, me->fresh.at[k].what);
    while (w.todo.count) {
        struct taken t = w.todo.at[--w.todo.count];
        const struct place *p = &g->places.at[t.place];
        const uint64_t seen = w.upto[t.place];
        w.upto[t.place] = MG_MAX(seen, t.order + 1);
        for (size_t k = releases_to(p, t.order); k-- > 0 && p->releases.at[k] >= seen;) {
            const uint32_t at = p->releases.at[k];
            const struct release *r = &g->releases.at[at];
            knows->of[r->block] = MG_MAX(knows->of[r->block], brings(r, of->loose, of->writer));
            const struct member *m = &g->members[r->block];
            if (walked[r->block] > at)
                continue;
            walked[r->block] = at + 1u;
            /* More than it had taken by then, or than that warp had, at worst: races go unseen. */
            for (size_t j = 0; j < m->taken.count; j++)
                if (m->taken.at[j].order < at)
                    go_to(&w, m->taken.at[j]);
            for (size_t j = 0; j < m->fresh.count; j++)
                if (m->fresh.at[j].what.order < at)
                    go_to(&w, m->fresh.at[j].what);
        }
    }
    mg__vec_free(&w.todo);
    free(w.upto);
    free(walked);
    knows->block = block;
    knows->taken = me->taken.count;
    knows->except = of->except;
    knows->view = view;
    knows->writer = of->writer;
    return knows->of;
}

static const struct direct *directly(struct releases *g, const struct party *who, const struct reliance *of,
                                     uint64_t view)
{
    const struct member *me = &g->members[who->block], *m = &g->members[of->other];
    struct direct *d = &g->direct[of->other % DIRECT];
    if (d->block == who->block && d->of.other == of->other && d->except == of->except && d->of.loose == of->loose &&
        d->of.writer == of->writer && d->view == view && d->taken == me->taken.count &&
        d->releases == m->releases.count)
        return d;
    *d = (struct direct){.block = who->block,
                         .except = of->except,
                         .view = view,
                         .of = *of,
                         .taken = me->taken.count,
                         .releases = m->releases.count};
    for (size_t k = m->releases.count; k-- > 0 && !d->any;) { /* the latest that was taken tells most */
        const struct release *r = &g->releases.at[m->releases.at[k]];
        if (g->places.at[r->place].address / 4 == of->except / 4)
            continue;
        d->any = latest_known(g, who, r->place) > r->order;
        d->upto = brings(r, of->loose, of->writer);
    }
    return d;
}

bool mg__release_parts(const struct launch *l)
{
    return l->releases && l->releases->parts;
}

static bool relies(struct releases *g, const struct party *who, const struct reliance *of)
{
    const struct member *me = &g->members[who->block];
    const uint64_t view = me->fresh.count ? view_of(g, who) : 0;
    const struct direct *d = directly(g, who, of, view);
    if (d->any && (d->upto > of->epoch || (of->epoch == of->most && d->upto >= of->most)))
        return true;
    const uint32_t *known = work_out(g, who, of, view);
    return known && (known[of->other] > of->epoch || (of->epoch == of->most && known[of->other] >= of->most));
}

bool mg__release_relies(struct launch *l, const struct party *who, const struct reliance *asked)
{
    struct releases *g = l->releases;
    const struct member *me = &g->members[who->block];
    if (asked->other >= g->nblocks || !g->members[asked->other].releases.count || !(me->taken.count || me->fresh.count))
        return false;
    struct reliance of = *asked;
    bool place = false;
    for (uint64_t at = of.except & ~3ull; of.except && at < (of.except & ~3ull) + 4; at++)
        place |= place_of(l, at, false) != UINT32_MAX;
    of.except = place ? of.except : 0; /* mostly it is a word of data */
    of.writer = 0;
    if (me->fresh.count)
        settle_fresh(g, who);
    if (!relies(g, who, &of))
        return false;
    if (!asked->writer || !g->parts || g->parted > MOST_PARTED)
        return true;
    g->parted++;
    of.writer = asked->writer;
    return relies(g, who, &of);
}
