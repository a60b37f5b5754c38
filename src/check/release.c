/* release.c - which block may rely on what another one did, in a launch whose blocks may wait for one another.
 *
 * Such a launch runs its blocks in order. A release (a strong write after a fence) publishes what its block did before
 * the fence at that address; a strong read of the address takes it, and what its publisher had taken before.
 *
 * A block's past is counted in steps: each fence is one, and each strong store. Without a fence a strong store orders
 * nothing by the letter; but what was read before it was read before whoever saw it writes, on every device. That is
 * the loose order, which excuses a write after a read and nothing else.
 *
 * Who waits at a grid's barrier goes on when all blocks have come. Some may have come to the next one by the time that
 * it looks, on this run; that orders nothing.
 */
#include "check/watch.h"

struct release {
    uint64_t block;
    uint32_t place;
    uint32_t epoch, loose; /* steps of the block up to its last fence, and up to here */
    uint64_t order;
};
struct taken {
    uint32_t place;
    uint64_t order; /* of the latest release there that was taken */
};
struct place { /* an address that blocks synchronise by */
    uint64_t address;
    bool grid; /* a grid's barrier, where each round has a release of every block */
    MG_VEC(uint32_t) releases;
};
struct member {             /* a block */
    uint32_t steps, fenced; /* fenced: steps up to its last fence */
    uint32_t published;     /* steps at its last release */
    uint32_t published_at;  /* … and its place + 1 */
    MG_VEC(uint32_t) releases;
    MG_VEC(struct taken) taken;
};
/* Up to where a block may rely on another one whose releases it took itself, as long as neither has more of them. */
enum { DIRECT = 64 };
struct direct {
    uint64_t block, other, except;
    size_t taken, releases;
    uint32_t upto;
    bool loose, any;
};
/* What one block knows of the others, worked out when a release of theirs was not taken directly. */
struct knows {
    uint64_t block, taken, except;
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
    if (l->releases)
        l->releases->members[block].fenced = ++l->releases->members[block].steps;
}

void mg__release_publish(struct launch *l, uint64_t block, uint64_t address, bool stores)
{
    struct releases *g = l->releases;
    struct member *m = g ? &g->members[block] : NULL;
    if (m && stores && m->steps < 1u << l->epoch_bits >> 1) /* the rest is for fences */
        m->steps++;
    if (!m || !m->steps)
        return;
    uint32_t p = place_of(l, address, true);
    if (p == UINT32_MAX || (m->published == m->steps && m->published_at == p + 1))
        return;
    struct release r = {block, p, m->fenced, m->steps, g->releases.count};
    uint32_t at = (uint32_t)g->releases.count;
    if (!mg__vec_push(&g->releases, r))
        return;
    (void)mg__vec_push(&g->places.at[p].releases, at);
    (void)mg__vec_push(&m->releases, at);
    m->published = m->steps;
    m->published_at = p + 1;
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

void mg__release_take(struct launch *l, uint64_t block, uint64_t address, bool arrives)
{
    struct releases *g = l->releases;
    uint32_t p = g ? place_of(l, address, false) : UINT32_MAX;
    size_t count = p == UINT32_MAX ? 0 : g->places.at[p].releases.count;
    if (count && g->places.at[p].grid && !arrives)
        count -= count % g->nblocks;
    if (!count)
        return;
    uint32_t latest = g->places.at[p].releases.at[count - 1];
    if (latest_taken(g, block, p) <= latest && set_latest(g, block, p, latest + 1ull))
        (void)mg__vec_push(&g->members[block].taken, ((struct taken){p, latest}));
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

/* All that `block` knows: of each other block the greatest epoch published to it, directly or through others. */
static const uint32_t *work_out(struct releases *g, uint64_t block, bool loose, uint64_t except)
{
    struct member *me = &g->members[block];
    struct knows *knows = &g->knows[loose];
    if (knows->of && knows->block == block && knows->taken == me->taken.count && knows->except == except)
        return knows->of;
    if (!knows->of && !(knows->of = calloc(g->nblocks, sizeof(*knows->of))))
        return NULL;
    memset(knows->of, 0, g->nblocks * sizeof(*knows->of));
    /* Releases taken, walked backwards: what a publisher took before its release is known as well. Its latest release
     * comes first, and brings what earlier ones would. */
    uint64_t *upto = calloc(g->places.count + 1, sizeof(*upto)), *walked = calloc(g->nblocks, sizeof(*walked));
    MG_VEC(struct taken) todo = {0};
    for (size_t k = 0; upto && walked && k < me->taken.count; k++)
        if (g->places.at[me->taken.at[k].place].address / 4 != except / 4)
            (void)mg__vec_push(&todo, me->taken.at[k]);
    while (todo.count) {
        struct taken t = todo.at[--todo.count];
        const struct place *p = &g->places.at[t.place];
        const uint64_t seen = upto[t.place];
        upto[t.place] = MG_MAX(seen, t.order + 1);
        for (size_t k = releases_to(p, t.order); k-- > 0 && p->releases.at[k] >= seen;) {
            const uint32_t at = p->releases.at[k];
            const struct release *r = &g->releases.at[at];
            knows->of[r->block] = MG_MAX(knows->of[r->block], loose ? r->loose : r->epoch);
            const struct member *m = &g->members[r->block];
            if (walked[r->block] > at)
                continue;
            walked[r->block] = at + 1u;
            for (size_t j = 0; j < m->taken.count; j++) /* more than it had taken by then, at worst: races go unseen */
                if (m->taken.at[j].order < at && m->taken.at[j].order + 1 > upto[m->taken.at[j].place])
                    (void)mg__vec_push(&todo, m->taken.at[j]);
        }
    }
    mg__vec_free(&todo);
    free(upto);
    free(walked);
    knows->block = block;
    knows->taken = me->taken.count;
    knows->except = except;
    return knows->of;
}

static const struct direct *directly(struct releases *g, uint64_t block, uint64_t other, bool loose, uint64_t except)
{
    const struct member *me = &g->members[block], *m = &g->members[other];
    struct direct *d = &g->direct[other % DIRECT];
    if (d->block == block && d->other == other && d->except == except && d->loose == loose &&
        d->taken == me->taken.count && d->releases == m->releases.count)
        return d;
    *d = (struct direct){block, other, except, me->taken.count, m->releases.count, 0, loose, false};
    for (size_t k = m->releases.count; k-- > 0 && !d->any;) { /* the latest that was taken tells most */
        const struct release *r = &g->releases.at[m->releases.at[k]];
        if (g->places.at[r->place].address / 4 == except / 4)
            continue;
        d->any = latest_taken(g, block, r->place) > r->order;
        d->upto = loose ? r->loose : r->epoch;
    }
    return d;
}

bool mg__release_relies(struct launch *l, uint64_t block, uint64_t other, uint32_t epoch, uint32_t most, bool loose,
                        uint64_t except)
{
    struct releases *g = l->releases;
    const struct member *me = &g->members[block], *m = &g->members[other];
    bool place = false;
    for (uint64_t at = except & ~3ull; except && at < (except & ~3ull) + 4; at++)
        place |= place_of(l, at, false) != UINT32_MAX;
    except = place ? except : 0; /* mostly it is a word of data */
    const struct direct *d = directly(g, block, other, loose, except);
    if (d->any && (d->upto > epoch || (epoch == most && d->upto >= most)))
        return true;
    if (!m->releases.count || !me->taken.count)
        return false;
    const uint32_t *known = work_out(g, block, loose, except);
    return known && (known[other] > epoch || (epoch == most && known[other] >= most));
}
