/* order.c - the happens-before core of a block; order.h says what it rests on.
 *
 * A warp counts as one in what it may rely on from other warps: what one of its lanes has learnt by a barrier or a
 * flag, all have. Lanes that part of the warp's barrier excludes are rare, and only make a race go unseen.
 */
#include "check/order.h"

struct mg_order *mg__order_new(void)
{
    return calloc(1, sizeof(struct mg_order));
}

void mg__order_free(struct mg_order *o)
{
    for (uint32_t w = 0; o && w < MG_ORDER_WARPS; w++)
        free(o->pairs[w]);
    if (o) {
        free(o->flags);
        free(o->index);
        free(o->seen);
    }
    free(o);
}

bool mg__order_begin(struct mg_order *o, uint32_t threads)
{
    bool goes_on = o->now < 3u << 30;
    if (!goes_on) {
        o->now = o->released = 0;
        for (uint32_t w = 0; w < MG_ORDER_WARPS; w++) {
            free(o->pairs[w]);
            o->pairs[w] = NULL;
        }
        memset(o->known, 0, sizeof(o->known));
    }
    o->floor = o->begin = o->agent = ++o->now;
    if (o->fences)
        memset(o->fenced, 0, sizeof(o->fenced));
    for (uint32_t rest = o->arrived; rest; rest &= rest - 1)
        memset(&o->barriers[__builtin_ctz(rest)], 0, sizeof(*o->barriers));
    o->fences = o->arrived = 0;
    o->now++;
    o->nwarps = MG_MIN((threads + 31) / 32, MG_ORDER_AGENT);
    o->partial = o->flagged = o->loses = false;
    for (uint32_t w = 0; w < o->nwarps; w++)
        o->live[w] = threads - 32 * w >= 32 ? ~0u : (1u << (threads - 32 * w)) - 1;
    memset(o->idle, 0, sizeof(o->idle));
    o->parted = 0;
    if (o->nflags)
        memset(o->index, 0, 2 * (size_t)o->room * sizeof(*o->index));
    o->nflags = 0;
    memset(o->lost, 0, sizeof(o->lost));
    memset(o->lanes, 0, sizeof(o->lanes));
    memset(o->met, 0, sizeof(o->met));
    memset(o->copies, 0, sizeof(o->copies));
    for (uint32_t k = 0; o->any_seen && k < MG_ORDER_WARPS * MG_ORDER_WARPS; k++)
        o->seen[k / MG_ORDER_WARPS][k % MG_ORDER_WARPS].count = 0;
    o->any_seen = false;
    return goes_on;
}

static void join(uint32_t *to, const uint32_t *from)
{
    for (uint32_t v = 0; v < MG_ORDER_WARPS; v++)
        to[v] = MG_MAX(to[v], from[v]);
}

void mg__order_exit(struct mg_order *o, uint32_t warp, uint32_t lanes)
{
    o->live[warp] &= ~lanes;
}

/* ---- within a warp ---- */
static uint32_t (*pairs_of(struct mg_order *o, uint32_t warp))[32]
{
    if (!o->pairs[warp])
        o->pairs[warp] = calloc(32, sizeof(*o->pairs[warp]));
    return o->pairs[warp];
}

/* From now on it is known when each lane last used memory; those that have since the warp last met may just have. */
static void begin_parted(struct mg_order *o, uint32_t warp)
{
    if (o->parted >> warp & 1)
        return;
    for (unsigned global = 0; global < 2; global++) {
        const struct mg_order_idle *idle = &o->idle[global][warp];
        const uint32_t busy = idle->since <= o->floor || idle->since <= o->lanes[warp] ? 0 : ~idle->lanes;
        for (unsigned k = 0; k < 32; k++)
            o->used[global][warp][k] = busy >> k & 1 ? o->now : 0;
    }
    o->parted |= UINT64_C(1) << warp;
}

void mg__order_warp(struct mg_order *o, uint32_t warp, uint32_t lanes)
{
    uint32_t(*pairs)[32] = o->live[warp] & ~lanes ? pairs_of(o, warp) : NULL;
    if (pairs)
        begin_parted(o, warp);
    uint32_t t = o->now++;
    if (!pairs) { /* all; or there is no memory: believe too much rather than report what is not there */
        o->lanes[warp] = t;
        o->parted &= ~(UINT64_C(1) << warp);
        return;
    }
    uint32_t together[32] = {0};
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        for (unsigned k = 0; k < 32; k++)
            together[k] = MG_MAX(together[k], pairs[i][k]);
    }
    for (unsigned k = 0; k < 32; k++)
        together[k] = lanes >> k & 1 ? t : together[k];
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        memcpy(pairs[__builtin_ctz(rest)], together, sizeof(together));
}

/* ---- between warps ---- */
void mg__order_arrive(struct mg_order *o, uint32_t barrier, uint32_t warp, uint32_t lanes, bool waits)
{
    struct mg_order_barrier *b = &o->barriers[barrier & 15];
    const uint32_t t = o->released = o->now++;
    if (o->partial || o->known[warp][MG_ORDER_AGENT] > o->agent) /* else all of it is below the floor */
        join(b->known, o->known[warp]);
    b->known[warp] = t;
    b->all |= 1u << warp;
    o->arrived |= 1u << (barrier & 15);
    o->came[barrier & 15][warp] = t;
    if (waits) {
        b->waiting |= 1u << warp;
        b->lanes[warp] |= lanes;
    }
}

void mg__order_meet(struct mg_order *o)
{
    uint32_t t = o->now++;
    o->floor = t;
    o->partial = false;
    for (uint32_t w = 0; w < o->nwarps; w++) {
        o->agent = MG_MAX(o->agent, o->known[w][MG_ORDER_AGENT]);
        o->copies[w].met = o->copies[w].told;
    }
}

void mg__order_open(struct mg_order *o, uint32_t barrier, bool all)
{
    struct mg_order_barrier *b = &o->barriers[barrier & 15];
    if (all) {
        mg__order_meet(o);
    } else {
        o->now++;
        for (uint32_t rest = b->waiting; rest; rest &= rest - 1) {
            uint32_t w = (uint32_t)__builtin_ctz(rest);
            join(o->known[w], b->known);
            o->fences |= 1u << w;
            join(o->fenced[w], o->known[w]); /* a barrier orders memory for those that meet */
            mg__order_warp(o, w, b->lanes[w]);
        }
        o->partial = true;
    }
    o->met[barrier & 15] = b->all;
    o->arrivals = (o->arrivals & ~(1u << (barrier & 15))) | (uint32_t)!b->waiting << (barrier & 15);
    memset(b, 0, sizeof(*b));
}

void mg__order_fence(struct mg_order *o, uint32_t warp)
{
    o->fences |= 1u << warp;
    memcpy(o->fenced[warp], o->known[warp], sizeof(o->fenced[warp]));
    o->fenced[warp][warp] = o->now++;
}

/* ---- flags ---- */
enum { FLAGS_FIRST = 16, FLAGS_MOST = 4096 };

static uint32_t slot_of(const struct mg_order *o, uint64_t address)
{
    uint32_t h = (uint32_t)((address * 0x9e3779b97f4a7c15ull) >> 40) & (2 * o->room - 1);
    while (o->index[h] && o->flags[o->index[h] - 1].address != address)
        h = (h + 1) & (2 * o->room - 1);
    return h;
}

static bool more_flags(struct mg_order *o)
{
    uint32_t room = o->room ? 2 * o->room : FLAGS_FIRST;
    struct mg_order_flag *flags = room <= FLAGS_MOST ? realloc(o->flags, room * sizeof(*flags)) : NULL;
    if (!flags)
        return false;
    o->flags = flags;
    uint32_t *index = calloc(2 * (size_t)room, sizeof(*index));
    if (!index)
        return false;
    free(o->index);
    o->index = index;
    o->room = room;
    for (uint32_t k = 0; k < o->nflags; k++)
        o->index[slot_of(o, flags[k].address)] = k + 1;
    return true;
}

/* NULL: there is none, and if it was to be made, no room for it. */
static struct mg_order_flag *flag_at(struct mg_order *o, uint64_t address, bool make)
{
    uint32_t h = o->room ? slot_of(o, address) : 0;
    if (o->room && o->index[h])
        return &o->flags[o->index[h] - 1];
    if (!make || (o->nflags == o->room && !more_flags(o)))
        return NULL;
    struct mg_order_flag *f = &o->flags[o->nflags++];
    *f = (struct mg_order_flag){.address = address};
    o->index[slot_of(o, address)] = o->nflags;
    return f;
}

void mg__order_publish(struct mg_order *o, uint32_t warp, uint64_t address)
{
    if (!(o->fences >> warp & 1))
        return;
    struct mg_order_flag *f = flag_at(o, address, true);
    join(f ? f->known : o->lost, o->fenced[warp]);
    o->released = o->now;
    *(f ? &f->published : &o->loses) = true;
    o->flagged = true;
}

/* These lanes may rely on what any lane of their warp had done by then. */
static void catch_up(struct mg_order *o, uint32_t warp, uint32_t lanes, uint32_t time)
{
    if (time <= o->floor || time <= o->lanes[warp])
        return;
    if ((o->live[warp] & ~lanes) == 0) {
        o->lanes[warp] = time;
        return;
    }
    uint32_t(*pairs)[32] = pairs_of(o, warp);
    if (!pairs) {
        o->lanes[warp] = time;
        return;
    }
    o->partial = true;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        for (unsigned k = 0; k < 32; k++)
            pairs[__builtin_ctz(rest)][k] = MG_MAX(pairs[__builtin_ctz(rest)][k], time);
}

void mg__order_bring(struct mg_order *o, uint32_t warp, uint32_t known[MG_ORDER_WARPS])
{
    join(known, o->known[warp]);
    known[warp] = o->released = o->now++;
}

void mg__order_fenced(struct mg_order *o, uint32_t warp, uint32_t known[MG_ORDER_WARPS])
{
    if (o->fences >> warp & 1)
        join(known, o->fenced[warp]);
}

uint32_t mg__order_told(struct mg_order *o, uint32_t warp, uint32_t known[MG_ORDER_WARPS])
{
    const uint32_t upto = o->now - 1;
    mg__order_bring(o, warp, known);
    return upto;
}

static uint32_t latest(const struct mg_order_over *v)
{
    return v->count ? v->last[(v->count - 1) % MG_COUNT(v->last)].upto : 0;
}

static void learn_over(struct mg_order_over *v, uint32_t upto, uint32_t at)
{
    if (upto <= latest(v))
        return;
    v->last[v->count % MG_COUNT(v->last)].upto = upto;
    v->last[v->count++ % MG_COUNT(v->last)].at = at;
}

/* Which copies are over for those who may rely on what was done up to `from`. */
static uint32_t over_by(const struct mg_order_over *v, uint32_t from)
{
    for (uint32_t k = v->count; k > 0 && v->count - k < MG_COUNT(v->last); k--)
        if (v->last[(k - 1) % MG_COUNT(v->last)].at <= from)
            return v->last[(k - 1) % MG_COUNT(v->last)].upto;
    return 0;
}

void mg__order_seen(struct mg_order *o, uint32_t warp, uint32_t of, uint32_t upto)
{
    struct mg_order_copies *c = &o->copies[of];
    c->told = MG_MAX(c->told, upto);
    if (!o->seen && !(o->seen = calloc(MG_ORDER_WARPS, sizeof(*o->seen)))) {
        c->met = c->told; /* without memory: believe too much */
        return;
    }
    if (upto <= latest(&o->seen[of][warp]))
        return;
    o->any_seen = true;
    learn_over(&o->seen[of][warp], upto, o->now++);
}

void mg__order_learn(struct mg_order *o, uint32_t warp, uint32_t lanes, const uint32_t known[MG_ORDER_WARPS])
{
    o->now++;
    o->known[warp][warp] = MG_MAX(o->known[warp][warp], known[warp]); /* of its own copies */
    catch_up(o, warp, lanes, known[warp]);
    for (uint32_t k = 0; k <= o->nwarps; k++) {
        const uint32_t v = k < o->nwarps ? k : MG_ORDER_AGENT;
        if (v != warp && known[v] > MG_MAX(v == MG_ORDER_AGENT ? o->agent : o->floor, o->known[warp][v])) {
            o->known[warp][v] = known[v];
            o->partial = true;
        }
    }
}

void mg__order_take(struct mg_order *o, uint32_t warp, uint32_t lanes, uint64_t address, bool waits)
{
    struct mg_order_flag *f = flag_at(o, address, waits);
    if (f && f->published)
        mg__order_learn(o, warp, lanes, f->known);
    if (f)
        f->taken[warp] = o->now;
    if (o->loses)
        mg__order_learn(o, warp, lanes, o->lost);
    o->now++;
}

bool mg__order_taken(const struct mg_order *o, uint32_t warp, uint64_t address, uint32_t time)
{
    uint32_t at = o->room ? o->index[slot_of(o, address)] : 0;
    return at && o->flags[at - 1].taken[warp] > time;
}

/* ---- asynchronous copies ---- */
void mg__order_commit(struct mg_order *o, uint32_t warp)
{
    struct mg_order_copies *c = &o->copies[warp];
    c->commits[c->ncommits++ % MG_COUNT(c->commits)] = o->now++;
}

void mg__order_wait(struct mg_order *o, uint32_t warp, uint32_t pending)
{
    struct mg_order_copies *c = &o->copies[warp];
    uint32_t t = o->now++;
    uint32_t done = 0;
    if (pending == ~0u)
        done = t;
    else if (pending < MG_COUNT(c->commits) && c->ncommits > pending)
        done = c->commits[(c->ncommits - 1 - pending) % MG_COUNT(c->commits)];
    learn_over(&c->waits, done, t);
}

uint32_t mg__order_waited(const struct mg_order *o, uint32_t warp)
{
    return latest(&o->copies[warp].waits);
}

/* ---- accesses ---- */
static uint32_t relies(const struct mg_order *o, uint32_t warp, uint32_t other)
{
    return o->partial ? MG_MAX(o->floor, o->known[warp][other]) : o->floor;
}

bool mg__order_knows(const struct mg_order *o, uint32_t warp, uint32_t other, uint32_t time)
{
    return other == warp || time <= relies(o, warp, other);
}

bool mg__order_apart(const struct mg_order *o, uint32_t barrier, uint32_t warp, uint32_t *other)
{
    uint32_t met = o->met[barrier & 15];
    if (met >> warp & 1)
        return false;
    for (; met; met &= met - 1) {
        *other = (uint32_t)__builtin_ctz(met);
        if (o->came[barrier & 15][*other] > relies(o, warp, *other))
            return true;
    }
    return false;
}

uint32_t mg__order_floor(const struct mg_order *o, uint32_t warp)
{
    uint32_t least = o->floor;
    if (!o->partial)
        return least;
    least = ~0u;
    for (uint32_t v = 0; v < o->nwarps; v++)
        if (v != warp)
            least = MG_MIN(least, o->known[warp][v]);
    return MG_MAX(o->floor, least == ~0u ? 0 : least);
}

/* A copy is over for its own lane once it has waited, for others once they have met it after that. */
uint32_t mg__order_copied(const struct mg_order *o, uint32_t warp, uint32_t of)
{
    const struct mg_order_copies *c = &o->copies[of];
    uint32_t over = MG_MAX(over_by(&c->waits, of == warp ? o->now : relies(o, warp, of)), c->met);
    for (uint32_t v = 0; o->any_seen && v < o->nwarps; v++)
        over = MG_MAX(over, over_by(&o->seen[of][v], v == warp ? o->now : relies(o, warp, v)));
    return over;
}

void mg__order_known(const struct mg_order *o, uint32_t warp, uint32_t known[MG_ORDER_WARPS])
{
    for (uint32_t v = 0; v < MG_ORDER_WARPS; v++)
        known[v] = MG_MAX(v == MG_ORDER_AGENT ? o->agent : o->floor, o->known[warp][v]);
}

bool mg__order_before(const struct mg_order *o, uint32_t time, struct mg_order_who who, struct mg_order_who me)
{
    if (time <= o->begin)
        return true;                /* of the block that was here before */
    if (who.warp == MG_ORDER_AGENT) /* a bulk copy: its time is when it was over (async.c) */
        return time <= MG_MAX(o->agent, o->known[me.warp][MG_ORDER_AGENT]);
    if (who.async && time == o->now && who.warp == me.warp && who.lane == me.lane)
        return true; /* the very copy, which another look at it has noted */
    if (who.async && time > mg__order_copied(o, me.warp, who.warp))
        return false;
    if (time <= o->floor)
        return true;
    if (who.warp != me.warp)
        return time <= relies(o, me.warp, who.warp);
    if (who.lane == me.lane)
        return true;
    if (time <= o->lanes[me.warp])
        return true;
    const uint32_t(*pairs)[32] = (const uint32_t(*)[32])o->pairs[me.warp];
    if (!pairs || me.lane >= MG_ORDER_MANY)
        return false;
    if (who.lane < MG_ORDER_MANY)
        return time <= pairs[me.lane][who.lane];
    /* Which lanes of the group it was is not known: any of those that have not met counts as one. */
    const struct mg_order_idle *idle = &o->idle[me.global][me.warp];
    const uint32_t may =
        mg__order_lanes(mg__order_number(who.lane)) & o->live[me.warp] & ~(time >= idle->since ? idle->lanes : 0);
    const bool parted = o->parted >> me.warp & 1;
    for (unsigned k = 0; k < 32; k++)
        if (may >> k & 1 && k != me.lane && time > pairs[me.lane][k] &&
            !(parted && o->used[me.global][me.warp][k] < time))
            return false;
    return true;
}

static bool harmless(struct mg_order_who a, struct mg_order_who b)
{
    return a.class != MG_ORDER_PLAIN && b.class != MG_ORDER_PLAIN &&
           (a.class >= MG_ORDER_STRONG || b.class >= MG_ORDER_STRONG);
}

/* Whether the remembered access conflicts with `me`. */
static bool conflicts(const struct mg_order *o, uint32_t time, struct mg_order_who who, struct mg_order_who me)
{
    if (!time || harmless(who, me))
        return false;
    if (!mg__order_before(o, time, who, me))
        return true;
    /* Its own warp's, or one that it knows of; but other warps had done the same. A race if none of them has met us
     * since. */
    if (!who.others || time <= o->floor)
        return false;
    for (uint32_t v = 0; v < o->nwarps; v++)
        if (v != me.warp && time <= relies(o, me.warp, v))
            return false;
    return true;
}

static void remember(const struct mg_order *o, uint32_t *time, uint32_t *packed, struct mg_order_who me, bool keeps)
{
    struct mg_order_who old = mg__order_unpack(*packed);
    if (keeps && *time > o->floor) {
        if (old.warp == me.warp) {
            if (old.class == MG_ORDER_PLAIN && me.class != MG_ORDER_PLAIN)
                return;
            me.others = old.others && *time > o->released; /* else they may have let go since they were here */
            const bool own = mg__order_own(me.site) && !mg__order_own(old.site);
            if (old.lane == me.lane ? *time > o->lanes[me.warp] : !mg__order_before(o, *time, old, me)) {
                me.site = own ? old.site : me.site;
                me.lane =
                    (uint8_t)mg__order_numbered(mg__order_both(mg__order_number(old.lane), mg__order_number(me.lane)));
            }
        } else if (!mg__order_before(o, *time, old, me) &&
                   !(old.class != MG_ORDER_PLAIN && me.class == MG_ORDER_PLAIN)) {
            old.others = true;
            *packed = mg__order_pack(old);
            return;
        }
    }
    *time = o->now;
    *packed = mg__order_pack(me);
}

void mg__order_read(struct mg_order *o, struct mg_order_row *row, unsigned at, struct mg_order_who me,
                    struct mg_order_hit *with)
{
    struct mg_order_who w = mg__order_unpack(row->w_who[at]);
    with->time = 0;
    if (conflicts(o, row->w_time[at], w, me))
        *with = (struct mg_order_hit){row->w_time[at], w};
    remember(o, &row->r_time[at], &row->r_who[at], me, true);
}

void mg__order_write(struct mg_order *o, struct mg_order_row *row, unsigned at, struct mg_order_who me,
                     struct mg_order_hit *with, struct mg_order_hit *read)
{
    struct mg_order_who w = mg__order_unpack(row->w_who[at]), r = mg__order_unpack(row->r_who[at]);
    with->time = read->time = 0;
    if (conflicts(o, row->w_time[at], w, me))
        *with = (struct mg_order_hit){row->w_time[at], w};
    if (conflicts(o, row->r_time[at], r, me))
        *read = (struct mg_order_hit){row->r_time[at], r};
    /* Atomics of several warps: the first is kept, as with reads, or the plain write before them, which is graver. Of
     * other writes the last one counts. */
    bool keeps = me.class == MG_ORDER_STRONG;
    remember(o, &row->w_time[at], &row->w_who[at], me, keeps);
}
