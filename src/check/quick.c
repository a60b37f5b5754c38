/* quick.c - quick.h: whole warps at once, for what is in order.
 *
 * Nothing is reported here, and nothing is decided that order.c would decide otherwise: an access is taken only if no
 * unit of it can be in conflict, by the plainest of reasons (the other access lies before the last barrier of the whole
 * block, or is the same lane's, or its warp's before all of that met; a copy has landed), and then the cells are
 * brought up to date as order.c would. tests/check/test_quick.c holds the two against each other.
 *
 * A block with rows above the floor (named barriers, flags: `partial`) always goes the long way.
 *
 * A plain read of shared memory that was written before the last barrier can only matter to a write that comes before
 * the next one. So it is held back, and the cells are told of it when such a write, or anything that looks at cells,
 * comes near; when the block meets, what is still held is forgotten. Whether a row was written before the barrier is
 * found out once.
 */
#include "check/quick.h"

#define WARP_BITS (31u << 16)
#define CLASS_BITS (3u << 27)
#define STRONG_BITS ((uint32_t)MG_ORDER_STRONG << 27)
#define ASYNC (1u << 29)
#define OTHERS (1u << 30)
#define AGENT (1u << 31)

/* ---- one unit ---- */
/* Whether `who` and `old` are to be remembered as one: other lanes, or a site that tells more. */
static inline bool differs(uint32_t who, uint32_t old)
{
    return (((old ^ who) & MG_WHO_LANES) | (who & ~old & 1)) != 0; /* mg__order_own */
}

/* `who`, with the site of the two that tells more. */
static inline __attribute__((always_inline)) uint32_t with_site(uint32_t who, uint32_t old)
{
    const uint32_t differ = (who ^ old) & UINT16_MAX;
    return who ^ (who & ~old & 1 ? differ : 0); /* mg__order_own */
}

/* … and of the lanes that were there as well. */
static inline uint32_t with_lanes(uint32_t who, uint32_t old)
{
    const uint32_t mine = (who & MG_WHO_LANES) >> MG_WHO_NUMBER, theirs = (old & MG_WHO_LANES) >> MG_WHO_NUMBER;
    return (with_site(who, old) & ~MG_WHO_LANES) | mg__order_both(mine, theirs) << MG_WHO_NUMBER;
}

/* The place was used at `time`, since the floor, by `*slot`; `*who` comes as well, whose warp's lanes have all met at
 * `met`. False: of another warp, which `*slot` now says, and that is all. True: `*who` stands for both. `released`: of
 * the order. */
static inline bool joins(uint32_t *slot, uint32_t *who, uint32_t time, uint32_t met, uint32_t released)
{
    uint32_t old = *slot;
    if ((old ^ *who) & WARP_BITS) {
        *slot = old | OTHERS;
        return false;
    }
    *who |= time > released ? old & OTHERS : 0;
    if (differs(*who, old) && time > met)
        *who = with_lanes(*who, old);
    return true;
}

/* Whether what `old` did at `time` was the same lane's, or its warp's, whose lanes have all met since, at `met`; and
 * nobody else has done the like. */
static inline bool own(uint32_t old, uint32_t time, uint32_t who, uint32_t met)
{
    const bool same_lane = !(((old ^ who) & MG_WHO_LANES) | (~old & 1u << MG_WHO_NUMBER)),
               others = ((old ^ who) & WARP_BITS) | (old & (OTHERS | AGENT));
    return (same_lane | (time <= met)) & !others;
}

/* Whether what `w` did at `time` is no asynchronous copy, or one that is over for the warp of `who`. A bulk copy is for
 * order.c. */
static inline bool landed(const struct mg_order *o, uint32_t w, uint32_t time, uint32_t who)
{
    return !(w & ASYNC) || time <= o->begin ||
           (!(w & AGENT) && time <= mg__order_copied(o, mg__order_unpack(who).warp, mg__order_unpack(w).warp));
}

/* What an access is held against, and when it is. */
struct moment {
    const struct mg_order *order;
    uint32_t floor, least, met, now; /* least: what is written was written since then */
};

static inline struct moment moment_of(const struct mg_order *o, uint32_t who, bool init)
{
    return (struct moment){o, o->floor, init ? o->begin : 0, mg__quick_met(o, who), o->now};
}

static inline bool may_read_one(struct moment m, const struct mg_order_row *row, unsigned at, uint32_t who)
{
    const uint32_t w = row->w_who[at], time = row->w_time[at];
    return (time - m.least <= m.floor - m.least || (time > m.floor && own(w, time, who, m.met))) &&
           landed(m.order, w, time, who) && !(row->r_time[at] > m.floor && (row->r_who[at] ^ who) & CLASS_BITS);
}

static inline bool read_one(struct moment m, struct mg_order_row *row, unsigned at, uint32_t who)
{
    if (!may_read_one(m, row, at, who))
        return false;
    if (row->r_time[at] > m.floor && !joins(&row->r_who[at], &who, row->r_time[at], m.met, m.order->released))
        return true;
    row->r_time[at] = m.now;
    row->r_who[at] = who;
    return true;
}

static inline bool may_write_one(struct moment m, const struct mg_order_row *row, unsigned at, uint32_t who)
{
    const uint32_t w = row->w_who[at], r = row->r_who[at], time = row->w_time[at], read = row->r_time[at];
    return !(r & ASYNC) && (time <= m.floor || own(w, time, who, m.met)) &&
           (read <= m.floor || own(r, read, who, m.met)) && landed(m.order, w, time, who);
}

static inline bool write_one(struct moment m, struct mg_order_row *row, unsigned at, uint32_t who)
{
    if (!may_write_one(m, row, at, who))
        return false;
    row->w_time[at] = m.now;
    row->w_who[at] = who;
    return true;
}

static inline bool atomic_one(struct moment m, struct mg_order_row *row, unsigned at, uint32_t who)
{
    const uint32_t time = row->w_time[at], old = row->w_who[at];
    if (row->r_time[at] > m.floor || old & ASYNC || time < m.least)
        return false;
    if (time > m.floor) {
        if ((old & CLASS_BITS) != STRONG_BITS)
            return false;
        if (!joins(&row->w_who[at], &who, time, m.met, m.order->released))
            return true;
    }
    row->w_time[at] = m.now;
    row->w_who[at] = who;
    return true;
}

/* ---- four units ---- */
/* In a row, from a multiple of four on, which nobody has used since the floor, or this lane alone. False: each is to be
 * looked at. */
typedef uint32_t four __attribute__((vector_size(16)));

static inline four four_at(const uint32_t *at)
{
    four v;
    memcpy(&v, at, sizeof(v));
    return v;
}

static inline bool put_four(uint32_t *time, uint32_t *slot, four bad, uint32_t now, uint32_t who)
{
    const four times = bad * 0 + now, all = bad * 0 + who;
    uint64_t half[2];
    memcpy(half, &bad, sizeof(half));
    if (half[0] | half[1])
        return false;
    memcpy(time, &times, sizeof(times));
    memcpy(slot, &all, sizeof(all));
    return true;
}

static inline bool read_four(struct moment m, struct mg_order_row *row, unsigned at, uint32_t who)
{
    const four w = four_at(row->w_who + at), time = four_at(row->w_time + at), r = four_at(row->r_who + at),
               read = four_at(row->r_time + at);
    return put_four(row->r_time + at, row->r_who + at,
                    (four)(time - m.least > m.floor - m.least) | (w & ASYNC) | (four)((read > m.floor) & (r != who)),
                    m.now, who);
}

static inline bool write_four(struct moment m, struct mg_order_row *row, unsigned at, uint32_t who)
{
    const four w = four_at(row->w_who + at), time = four_at(row->w_time + at), r = four_at(row->r_who + at),
               read = four_at(row->r_time + at);
    return put_four(row->w_time + at, row->w_who + at,
                    ((w | r) & ASYNC) | (four)((time > m.floor) & (w != who)) | (four)((read > m.floor) & (r != who)),
                    m.now, who);
}

bool mg__quick_read_one(const struct mg_order *o, struct mg_order_row *row, unsigned at, uint32_t who, bool init)
{
    return read_one(moment_of(o, who, init), row, at, who);
}

bool mg__quick_write_one(const struct mg_order *o, struct mg_order_row *row, unsigned at, uint32_t who)
{
    return write_one(moment_of(o, who, false), row, at, who);
}

bool mg__quick_atomic_one(const struct mg_order *o, struct mg_order_row *row, unsigned at, uint32_t who, bool init)
{
    return atomic_one(moment_of(o, who, init), row, at, who);
}

bool mg__quick_units(const struct mg_order *o, struct mg_order_row *row, uint64_t base, const uint16_t *unit,
                     const uint32_t *lane, unsigned n, uint32_t who, bool writes)
{
    const struct moment m = moment_of(o, who, false);
    for (unsigned k = 0; k < n; k++) {
        const unsigned at = (unsigned)(base + unit[k]) % 32;
        if (!(writes ? write_one(m, row, at, who | lane[k]) : read_one(m, row, at, who | lane[k])))
            return false;
    }
    return true;
}

/* ---- units in a row ----
 * Numbered by size_t: of sums of unsigned, which may go round, gcc takes each unit by itself. */
/* Whether all copies among them have landed: mostly they are one warp's. */
MG_WIDE static bool all_landed(const struct mg_order_row *row, size_t at, size_t n, const struct mg_order *o,
                               uint32_t who)
{
    uint32_t of = 0, late = 0;
    for (size_t k = at; k < at + n && !of; k++)
        of = row->w_who[k] & ASYNC ? row->w_who[k] : 0;
    const uint32_t until =
        of & AGENT ? o->begin : mg__order_copied(o, mg__order_unpack(who).warp, mg__order_unpack(of).warp);
    for (size_t k = at; k < at + n; k++) {
        const uint32_t w = row->w_who[k];
        late |= ((w & ASYNC) != 0) & ((row->w_time[k] > until) | (((w ^ of) & (WARP_BITS | AGENT)) != 0));
    }
    for (size_t k = at; late && k < at + n; k++)
        if (!landed(o, row->w_who[k], row->w_time[k], who))
            return false;
    return true;
}

MG_WIDE static bool may_read(const struct mg_order_row *row, size_t at, size_t n, const struct mg_order *o,
                             uint32_t who, uint32_t least)
{
    const uint32_t floor = o->floor, room = floor - least;
    uint32_t bad = 0, copies = 0;
    for (size_t k = at; k < at + n; k++) {
        bad |= row->w_time[k] - least > room;
        bad |= (row->r_time[k] > floor) & (((row->r_who[k] ^ who) & CLASS_BITS) != 0);
        copies |= row->w_who[k] & ASYNC;
    }
    return bad == 0 && (!copies || all_landed(row, at, n, o, who));
}

/* Of units that were written before the floor, or since by the lane that reads, or before its warp met. */
MG_WIDE static bool may_read_own(const struct mg_order_row *restrict row, size_t at, size_t n, const struct mg_order *o,
                                 uint32_t who, const uint32_t *restrict lane)
{
    const uint32_t floor = o->floor, least = o->begin, room = floor - least, met = mg__quick_met(o, who);
    uint32_t bad = 0;
    for (size_t k = 0; k < n; k++) {
        uint32_t w = row->w_who[at + k], mine = who | lane[k], time = row->w_time[at + k];
        bad |= (uint32_t) !((time - least <= room) | ((time > floor) & own(w, time, mine, met))) | (w & ASYNC);
        bad |= (row->r_time[at + k] > floor) & ((row->r_who[at + k] & CLASS_BITS) != 0);
    }
    return bad == 0;
}

/* `many`: where another lane of the warp has read, both have. */
static inline __attribute__((always_inline)) void read_unit(uint32_t *time, uint32_t *slot, uint32_t mine,
                                                            uint32_t floor, uint32_t met, uint32_t released,
                                                            uint32_t now, const bool many)
{
    const uint32_t old = *slot;
    const bool fresh = *time <= floor, same_warp = !((old ^ mine) & WARP_BITS);
    const uint32_t one = *time > met ? with_site(mine, old) : mine,
                   both = many && *time > met ? with_lanes(mine, old) : one;
    *slot = fresh ? mine : same_warp ? both | (*time > released ? old & OTHERS : 0) : old | OTHERS;
    *time = fresh | same_warp ? now : *time;
}

MG_WIDE static void did_read(struct mg_order_row *restrict row, size_t at, size_t n, const struct mg_order *o,
                             uint32_t met, uint32_t now, uint32_t who, const uint32_t *restrict lane)
{
    const uint32_t floor = o->floor, released = o->released;
    uint32_t many = 0;
    for (size_t k = 0; k < n; k++) {
        const uint32_t time = row->r_time[at + k], differ = row->r_who[at + k] ^ (who | lane[k]);
        many |= (time > floor) & !(differ & WARP_BITS) & ((differ & MG_WHO_LANES) != 0) & (time > met);
    }
    for (size_t k = 0; many && k < n; k++)
        read_unit(&row->r_time[at + k], &row->r_who[at + k], who | lane[k], floor, met, released, now, true);
    for (size_t k = 0; !many && k < n; k++)
        read_unit(&row->r_time[at + k], &row->r_who[at + k], who | lane[k], floor, met, released, now, false);
}

MG_WIDE static bool may_write(const struct mg_order_row *restrict row, size_t at, size_t n, const struct mg_order *o,
                              uint32_t who, const uint32_t *restrict lane)
{
    const uint32_t floor = o->floor, met = mg__quick_met(o, who);
    uint32_t bad = 0, copies = 0;
    for (size_t k = 0; k < n; k++) {
        uint32_t mine = who | lane[k], w = row->w_who[at + k], r = row->r_who[at + k];
        bad |= r & ASYNC;
        copies |= w & ASYNC;
        bad |= (row->w_time[at + k] > floor) & !own(w, row->w_time[at + k], mine, met);
        bad |= (row->r_time[at + k] > floor) & !own(r, row->r_time[at + k], mine, met);
    }
    return bad == 0 && (!copies || all_landed(row, at, n, o, who));
}

MG_WIDE static void did_write(struct mg_order_row *restrict row, size_t at, size_t n, uint32_t now, uint32_t who,
                              const uint32_t *restrict lane)
{
    for (size_t k = 0; k < n; k++) {
        row->w_time[at + k] = now;
        row->w_who[at + k] = who | lane[k];
    }
}

/* ---- a block's shared memory ---- */
bool mg__shadow_make(struct mg_shadow *s, size_t units)
{
    size_t n = (units + 32) / 32;
    s->rows = calloc(n, sizeof(*s->rows));
    s->sums = calloc(n, sizeof(*s->sums));
    s->written = calloc(n + 2, sizeof(*s->written));
    s->stale = calloc(n / 64 + 1, sizeof(*s->stale));
    s->atoms = calloc(n, sizeof(*s->atoms));
    s->unsure = calloc(n / 64 + 1, sizeof(*s->unsure));
    s->fresh = calloc(n + 1, sizeof(*s->fresh));
    return s->rows && s->sums && s->written && s->stale && s->atoms && s->unsure && s->fresh;
}

void mg__shadow_free(struct mg_shadow *s)
{
    free(s->rows);
    free(s->sums);
    free(s->written);
    free(s->stale);
    free(s->held);
    free(s->lanes);
    free(s->atoms);
    free(s->unsure);
    free(s->fresh);
}

void mg__shadow_begin(struct mg_shadow *s, size_t units, bool clear)
{
    size_t n = (units + 32) / 32;
    if (clear) {
        memset(s->rows, 0, n * sizeof(*s->rows));
        memset(s->sums, 0, n * sizeof(*s->sums));
    }
    memset(s->written, 0, n * sizeof(*s->written));
    memset(s->stale, 0, (n / 64 + 1) * sizeof(*s->stale));
    memset(s->unsure, 0, (n / 64 + 1) * sizeof(*s->unsure));
    memset(s->atoms, 0, n * sizeof(*s->atoms));
    memset(s->fresh, 0, n * sizeof(*s->fresh));
    s->nstale = n / 64 + 1;
    s->odd = s->read = 0;
    mg__shadow_met(s);
}

MG_WIDE static uint32_t written_of(const uint32_t *time, uint32_t least, uint32_t room)
{
    uint32_t bits = 0;
    for (unsigned k = 0; k < 32; k++)
        bits |= (uint32_t)(time[k] - least <= room) << k;
    return bits;
}

void mg__shadow_all_written(const struct mg_order *o, struct mg_shadow *s)
{
    for (size_t w = 0; w < s->nstale; w++) {
        for (; s->stale[w]; s->stale[w] &= s->stale[w] - 1)
            s->fresh[64 * w + (size_t)__builtin_ctzll(s->stale[w])] = 0;
        for (; s->unsure[w]; s->unsure[w] &= s->unsure[w] - 1) {
            const size_t r = 64 * w + (size_t)__builtin_ctzll(s->unsure[w]);
            s->written[r] = written_of(s->rows[r].w_time, o->begin, o->floor - o->begin);
        }
    }
}

MG_WIDE static bool all_written(const uint32_t *time, size_t n, uint32_t least, uint32_t room)
{
    uint32_t bad = 0;
    for (size_t k = 0; k < n; k++)
        bad |= time[k] - least > room;
    return bad == 0;
}

static inline bool clean(const struct mg_order *o, struct mg_shadow *s, uint64_t r, uint32_t least)
{
    struct mg_row_sum *sum = &s->sums[r];
    if (sum->clean == o->begin)
        return true;
    if (sum->unclean == o->floor)
        return false;
    bool good = all_written(s->rows[r].w_time, 32, least, o->floor - least);
    if (good)
        sum->clean = o->begin;
    else
        sum->unclean = o->floor;
    return good;
}

/* Whether what is read was written before the floor. */
static bool settled(const struct mg_order *o, struct mg_shadow *s, uint64_t base, const struct mg_memo *m,
                    uint32_t least)
{
    uint64_t r = base / 32, last = (base + m->span - 1) / 32;
    while (clean(o, s, r, least))
        if (r++ == last)
            return true;
    if (m->n == m->span) {
        for (unsigned k = 0, n; k < m->span; k += n) {
            unsigned at = (base + k) % 32;
            n = MG_MIN(m->span - k, 32 - at);
            if (!all_written(&s->rows[(base + k) / 32].w_time[at], n, least, o->floor - least))
                return false;
        }
        return true;
    }
    uint32_t bad = 0;
    for (unsigned k = 0; k < m->n; k++) {
        uint64_t u = base + m->unit[k];
        bad |= s->rows[u / 32].w_time[u % 32] - least > o->floor - least;
    }
    return bad == 0;
}

/* The read goes into the cells now; nothing is looked at. */
static void read_now(const struct mg_order *o, struct mg_shadow *s, uint64_t base, const struct mg_memo *m,
                     uint32_t now, uint32_t met, uint32_t who)
{
    uint64_t last = (base + m->span - 1) / 32;
    s->read = now;
    for (uint64_t r = base / 32; r <= last; r++)
        s->sums[r].read = now;
    if (m->n != m->span) {
        for (unsigned k = 0; k < m->n; k++) {
            struct mg_order_row *row = &s->rows[(base + m->unit[k]) / 32];
            unsigned at = (base + m->unit[k]) % 32;
            uint32_t mine = who | m->lane[k];
            if (row->r_time[at] > o->floor && !joins(&row->r_who[at], &mine, row->r_time[at], met, o->released))
                continue;
            row->r_time[at] = now;
            row->r_who[at] = mine;
        }
        return;
    }
    for (unsigned k = 0, n; k < m->span; k += n) {
        unsigned at = (base + k) % 32;
        n = MG_MIN(m->span - k, 32 - at);
        did_read(&s->rows[(base + k) / 32], at, n, o, met, now, who, &m->lane[k]);
    }
}

/* The same of lanes on units of their own choice, as mg__quick_read_one and mg__quick_atomic_one would. */
static void lanes_now(const struct mg_order *o, struct mg_shadow *s, const struct mg_held *h)
{
    const struct mg_held_lanes *lanes = &s->lanes[h->base];
    for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(rest), u = lanes->unit[lane], r = u / 32;
        struct mg_order_row *row = &s->rows[r];
        uint32_t *time = lanes->atomic ? &row->w_time[u % 32] : &row->r_time[u % 32],
                 *slot = lanes->atomic ? &row->w_who[u % 32] : &row->r_who[u % 32];
        *(lanes->atomic ? &s->sums[r].written : &s->sums[r].read) = h->now;
        s->read = h->now;
        if (lanes->atomic) {
            s->atoms[r] = 0;
            s->fresh[r] |= mg__held_units(lanes, lane);
        }
        for (unsigned k = 0; k < lanes->each; k++) {
            uint32_t who = h->who | mg__order_pack_lane(lane);
            if (time[k] > o->floor && !joins(&slot[k], &who, time[k], h->met, o->released))
                continue;
            time[k] = h->now;
            slot[k] = who;
        }
    }
}

void mg__shadow_settle(const struct mg_order *o, struct mg_shadow *s)
{
    for (uint32_t k = 0; k < s->nheld; k++)
        if (s->held[k].memo)
            read_now(o, s, s->held[k].base, s->held[k].memo, s->held[k].now, s->held[k].met, s->held[k].who);
        else
            lanes_now(o, s, &s->held[k]);
    mg__shadow_met(s);
}

/* Lanes, a unit each, whose cells are read before any of them is written. Where two lanes meet the second one's cell is
 * not what it was. */
struct lanes {
    uint32_t cell[32]; /* number of the unit's w_time among the words of all rows; of an idle lane any */
    uint32_t time[32], read[32], w[32], r[32]; /* what is there; of a read: `read` and `r` as they are to be */
};
enum { R_TIME = 32, W_WHO = 64, R_WHO = 96, ROW_WORDS = 128 }; /* words behind w_time */

MG_WIDE static void find_cells(struct lanes *l, const struct mg_access *a, unsigned unit, const uint32_t *words)
{
    const uint64_t any = a->address[__builtin_ctz(a->mask)];
    for (unsigned i = 0; i < 32; i++) {
        const uint32_t u = (uint32_t)((a->mask >> i & 1 ? a->address[i] : any) >> unit);
        l->cell[i] = u / 32 * ROW_WORDS + u % 32;
    }
    for (unsigned i = 0; i < 32; i++) {
        const uint32_t *cell = words + l->cell[i];
        l->time[i] = cell[0];
        l->read[i] = cell[R_TIME];
        l->w[i] = cell[W_WHO];
        l->r[i] = cell[R_WHO];
    }
}

/* Whether one of them may not go on. */
MG_WIDE static bool may_not_read(struct lanes *l, struct moment m, uint32_t mask, uint32_t who)
{
    const uint32_t released = m.order->released;
    uint32_t before_it[32], bad = 0, several = 0; /* lanes on a unit that another one of the warp has read */
    for (unsigned i = 0; i < 32; i++) {
        const uint32_t differ = l->r[i] ^ (who | mg__order_pack_lane(i)), read = l->read[i];
        const bool many = (read > m.floor) & !(differ & WARP_BITS) & ((differ & MG_WHO_LANES) != 0) & (read > m.met);
        several |= many ? 1u << i : 0;
    }
    for (unsigned i = 0; i < 32; i++) {
        const uint32_t me = who | mg__order_pack_lane(i), time = l->time[i], read = l->read[i], w = l->w[i],
                       r = l->r[i];
        const bool before = time - m.least <= m.floor - m.least, recent = read > m.floor,
                   other = recent & (((r ^ me) & WARP_BITS) != 0);
        const bool no = !(before | ((time > m.floor) & own(w, time, me, m.met))) | ((w & ASYNC) != 0) |
                        (recent & (((r ^ me) & CLASS_BITS) != 0));
        bad |= (uint32_t)no & mask >> i;
        l->read[i] = other ? read : m.now;
        before_it[i] = r;
        const uint32_t one = recent & (read > m.met) ? with_site(me, r) : me;
        l->r[i] = other ? r | OTHERS : one | (recent & (read > released) ? r & OTHERS : 0);
    }
    for (unsigned i = 0; several && i < 32; i++)
        l->r[i] = several >> i & 1 ? with_lanes(l->r[i], before_it[i]) : l->r[i];
    return bad & 1;
}

MG_WIDE static bool may_not_write(const struct lanes *l, struct moment m, uint32_t mask, uint32_t who)
{
    uint32_t bad = 0;
    for (unsigned i = 0; i < 32; i++) {
        const uint32_t me = who | mg__order_pack_lane(i), time = l->time[i], read = l->read[i], w = l->w[i],
                       r = l->r[i];
        const bool no = (((w | r) & ASYNC) != 0) | ((time > m.floor) & !own(w, time, me, m.met)) |
                        ((read > m.floor) & !own(r, read, me, m.met));
        bad |= (uint32_t)no & mask >> i;
    }
    return bad & 1;
}

/* Units of row r, a bit each. */
static inline void lanes_did(struct mg_shadow *s, uint64_t r, uint32_t units, uint32_t now, bool writes)
{
    *(writes ? &s->sums[r].written : &s->sums[r].read) = now;
    if (writes) {
        mg__shadow_wrote(s, r, units);
        mg__shadow_stale(s, r);
    }
}

static bool lanes_at_once(struct mg_shadow *s, const struct mg_access *a, unsigned unit, struct moment now,
                          uint32_t who, bool writes)
{
    struct lanes l;
    uint32_t *const words = (uint32_t *)(void *)s->rows;
    find_cells(&l, a, unit, words);
    if (writes ? may_not_write(&l, now, a->mask, who) : may_not_read(&l, now, a->mask, who))
        return false;
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(rest), me = who | mg__order_pack_lane(lane);
        const uint32_t r = l.cell[lane] / ROW_WORDS, at = l.cell[lane] % 32;
        uint32_t *const cell = words + l.cell[lane];
        if (writes) {
            if (cell[0] == now.now && cell[W_WHO] != me)
                return false;
            cell[0] = now.now;
            cell[W_WHO] = me;
        } else if (cell[R_TIME] == now.now) { /* another one of these lanes, too */
            (void)read_one(now, &s->rows[r], at, me);
        } else {
            cell[R_TIME] = l.read[lane];
            cell[R_WHO] = l.r[lane];
        }
        lanes_did(s, r, 1u << at, now.now, writes);
    }
    return true;
}

static inline __attribute__((always_inline)) bool each_lane(struct mg_shadow *s, const struct mg_access *a,
                                                            unsigned unit, struct moment now, uint32_t who,
                                                            enum mg_lanes what)
{
    struct mg_order_row *const rows = s->rows;
    const uint32_t each = MG_MAX(a->width >> unit, 1u);
    uint64_t row = (a->address[__builtin_ctz(a->mask)] >> unit) / 32;
    uint32_t units = 0; /* of that row, so far */
    bool good = true;
    for (uint32_t rest = a->mask; rest && good; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(rest), me = who | mg__order_pack_lane(lane);
        uint64_t u = a->address[lane] >> unit;
        for (uint32_t k = 0, n = 1; k < each && good; k += n, u += n) {
            if (u / 32 != row) {
                lanes_did(s, row, units, now.now, what != MG_LANES_READ);
                row = u / 32;
                units = 0;
            }
            n = what != MG_LANES_ATOMIC && !(each % 4 | u % 4) &&
                        (what == MG_LANES_READ ? read_four : write_four)(now, &rows[row], u % 32, me)
                    ? 4
                    : 1;
            good = n == 4 || (what == MG_LANES_READ    ? read_one(now, &rows[row], u % 32, me)
                              : what == MG_LANES_WRITE ? write_one(now, &rows[row], u % 32, me)
                                                       : atomic_one(now, &rows[row], u % 32, me));
            units |= good ? ((1u << n) - 1) << u % 32 : 0;
        }
    }
    if (units)
        lanes_did(s, row, units, now.now, what != MG_LANES_READ);
    return good;
}

bool mg__shadow_lanes(const struct mg_order *o, struct mg_shadow *s, const struct mg_access *a, unsigned unit,
                      uint32_t who, enum mg_lanes what, bool init)
{
    enum { MANY = 24 }; /* lanes, for which it pays */
    const struct moment now = moment_of(o, who, init);
    s->read = o->now;
    if (what != MG_LANES_ATOMIC && a->width == 1u << unit && s->odd != ~0u && __builtin_popcount(a->mask) > MANY)
        return lanes_at_once(s, a, unit, now, who, what == MG_LANES_WRITE);
    switch (what) {
    case MG_LANES_READ:
        return each_lane(s, a, unit, now, who, MG_LANES_READ);
    case MG_LANES_WRITE:
        return each_lane(s, a, unit, now, who, MG_LANES_WRITE);
    default:
        return each_lane(s, a, unit, now, who, MG_LANES_ATOMIC);
    }
}

MG_WIDE bool mg__shadow_lanes_written(const struct mg_shadow *s, const struct mg_access *a, struct mg_held_lanes *lanes)
{
    const uint64_t first = a->address[__builtin_ctz(a->mask)];
    const uint32_t each = MG_MAX(a->width / 4, 1u), units = (UINT32_C(1) << each) - 1;
    uint32_t missing = 0;
    uint64_t rows = 0;
    for (unsigned i = 0; i < 32; i++)
        lanes->unit[i] = (uint16_t)((a->mask >> i & 1 ? a->address[i] : first) >> 2);
    for (unsigned i = 0; i < 32; i++) {
        missing |= ~(s->written[lanes->unit[i] / 32] >> lanes->unit[i] % 32);
        rows |= 1ull << lanes->unit[i] / 32 % 64;
    }
    lanes->mask = a->mask;
    lanes->each = (uint8_t)each;
    lanes->rows = rows;
    return !(missing & units);
}

/* Whether one of the memo's units from `base` on has its bit; `flip`: 0, or ~0 to look for one that has not. */
static inline bool any_bit(const uint32_t *bits, uint32_t flip, uint64_t base, const struct mg_memo *m)
{
    uint64_t any = 0;
    if (m->units) {
        const uint64_t two = (bits[base / 32] ^ flip) | (uint64_t)(bits[base / 32 + 1] ^ flip) << 32;
        return two & (uint64_t)m->units << base % 32;
    }
    for (unsigned k = 0; m->n != m->span && k < m->n; k++)
        any |= (bits[(base + m->unit[k]) / 32] ^ flip) >> (base + m->unit[k]) % 32 & 1;
    for (unsigned k = 0, n; m->n == m->span && k < m->span; k += n) {
        unsigned at = (base + k) % 32;
        n = MG_MIN(m->span - k, 32 - at);
        any |= (bits[(base + k) / 32] ^ flip) & ((1ull << n) - 1) << at;
    }
    return any;
}

bool mg__shadow_is_written(const struct mg_shadow *s, uint64_t base, const struct mg_memo *m)
{
    return !any_bit(s->written, ~0u, base, m);
}

/* Rows from 64 * word on that have one of the units. */
MG_WIDE static uint64_t rows_of(const uint16_t *unit, uint32_t word)
{
    uint64_t rows = 0;
    for (unsigned i = 0; i < 32; i++)
        rows |= (uint64_t)(unit[i] / 2048u == word) << (unit[i] / 32 % 64);
    return rows;
}

enum { HELD_WORDS = 8 /* of rows, of a block's memory in which lanes are held */ };

bool mg__shadow_hold(const struct mg_order *o, struct mg_shadow *s, const struct mg_access *a, uint32_t who,
                     bool atomic)
{
    struct mg_held_lanes lanes = {.atomic = atomic};
    uint64_t rows[HELD_WORDS];
    if (s->odd > o->floor || s->nstale > HELD_WORDS || !(s->held || (s->held = malloc(MG_HELD * sizeof(*s->held)))) ||
        !(s->lanes || (s->lanes = malloc(MG_HELD * sizeof(*s->lanes)))))
        return false;
    if (!mg__shadow_lanes_written(s, a, &lanes))
        return false;
    for (size_t k = 0; k < s->nstale; k++) {
        rows[k] = rows_of(lanes.unit, (uint32_t)k);
        if (!atomic && rows[k] & s->stale[k])
            return false;
        for (uint64_t rest = atomic ? rows[k] : 0; rest; rest &= rest - 1) {
            const uint64_t r = 64 * k + (uint64_t)__builtin_ctzll(rest);
            if (s->atoms[r] != o->floor &&
                (s->sums[r].written > o->floor || s->sums[r].read > o->floor || s->stale[k] & rest & -rest))
                return false;
        }
    }
    if (atomic && lanes.rows & s->read_rows)
        return false;
    if (s->nheld == MG_HELD) {
        mg__shadow_settle(o, s);
        return false;
    }
    for (size_t k = 0; atomic && k < s->nstale; k++)
        for (uint64_t rest = rows[k]; rest; rest &= rest - 1) {
            const uint64_t r = 64 * k + (uint64_t)__builtin_ctzll(rest);
            s->atoms[r] = o->floor;
            mg__shadow_stale(s, r);
        }
    *(atomic ? &s->atom_rows : &s->read_rows) |= lanes.rows;
    s->lanes[s->nlanes] = lanes;
    s->held[s->nheld++] = (struct mg_held){s->nlanes++, NULL, o->now, mg__quick_met(o, who), who};
    return true;
}

/* Where not all accesses are plain. */
static bool may_read_now(const struct mg_order *o, const struct mg_shadow *s, uint64_t base, const struct mg_memo *m,
                         uint32_t who, bool init)
{
    const struct moment now = moment_of(o, who, init);
    if (m->n != m->span) {
        for (unsigned k = 0; k < m->n; k++)
            if (!may_read_one(now, &s->rows[(base + m->unit[k]) / 32], (base + m->unit[k]) % 32, who | m->lane[k]))
                return false;
        return true;
    }
    for (unsigned k = 0, n; k < m->span; k += n) {
        unsigned at = (base + k) % 32;
        n = MG_MIN(m->span - k, 32 - at);
        if (!may_read(&s->rows[(base + k) / 32], at, n, o, who, now.least))
            return false;
    }
    return true;
}

void mg__shadow_will_write(struct mg_shadow *s, uint64_t base, const struct mg_memo *m)
{
    for (uint64_t r = base / 32; r <= (base + m->span - 1) / 32; r++)
        s->stale[r / 64] |= 1ull << r % 64;
}

bool mg__shadow_was_written(const struct mg_shadow *s, uint64_t first, uint64_t last)
{
    uint64_t any = 0;
    for (uint64_t r = first / 32; r <= last / 32; r++)
        any |= s->stale[r / 64] >> r % 64 & 1;
    return any;
}

bool mg__shadow_read_own(const struct mg_order *o, struct mg_shadow *s, uint64_t base, const struct mg_memo *m,
                         uint32_t who)
{
    if (s->odd > o->floor)
        return false;
    mg__shadow_settle_near(o, s, base, base + m->span - 1);
    const struct moment now = moment_of(o, who, true);
    for (unsigned k = 0; m->n != m->span && k < m->n; k++)
        if (!may_read_one(now, &s->rows[(base + m->unit[k]) / 32], (base + m->unit[k]) % 32, who | m->lane[k]))
            return false;
    for (unsigned k = 0, n; m->n == m->span && k < m->span; k += n) {
        unsigned at = (base + k) % 32;
        n = MG_MIN(m->span - k, 32 - at);
        if (!may_read_own(&s->rows[(base + k) / 32], at, n, o, who, &m->lane[k]))
            return false;
    }
    read_now(o, s, base, m, o->now, mg__quick_met(o, who), who);
    return true;
}

bool mg__shadow_read_any(const struct mg_order *o, struct mg_shadow *s, uint64_t base, const struct mg_memo *m,
                         uint32_t who, bool init, bool lasts)
{
    uint32_t least = init ? o->begin : 0;
    bool plain = s->odd <= o->floor;
    if (s->atom_rows & mg__shadow_rows(base / 32, (base + m->span - 1) / 32))
        mg__shadow_settle(o, s);
    if (!(plain ? settled(o, s, base, m, least) : may_read_now(o, s, base, m, who, init)))
        return false;
    if (plain && lasts && (s->held || (s->held = malloc(MG_HELD * sizeof(*s->held))))) {
        if (s->nheld == MG_HELD)
            mg__shadow_settle(o, s);
        s->held[s->nheld++] = (struct mg_held){base, m, o->now, mg__quick_met(o, who), who};
        s->read_rows |= mg__shadow_rows(base / 32, (base + m->span - 1) / 32);
        return true;
    }
    mg__shadow_settle(o, s);
    read_now(o, s, base, m, o->now, mg__quick_met(o, who), who);
    return true;
}

bool mg__shadow_write(const struct mg_order *o, struct mg_shadow *s, uint64_t base, const struct mg_memo *m,
                      uint32_t who)
{
    uint64_t first = base / 32, last = (base + m->span - 1) / 32;
    if (m->twice)
        return false;
    mg__shadow_settle_near(o, s, base, base + m->span - 1);
    bool untouched = s->odd <= o->floor && !any_bit(s->fresh, 0, base, m);
    for (uint64_t r = first; r <= last; r++)
        untouched &= s->sums[r].read <= o->floor;
    if (m->n != m->span) {
        const struct moment now = moment_of(o, who, false);
        for (unsigned k = 0; !untouched && k < m->n; k++)
            if (!may_write_one(now, &s->rows[(base + m->unit[k]) / 32], (base + m->unit[k]) % 32, who | m->lane[k]))
                return false;
        for (unsigned k = 0; k < m->n; k++) {
            const uint64_t u = base + m->unit[k];
            struct mg_order_row *row = &s->rows[u / 32];
            row->w_time[u % 32] = o->now;
            row->w_who[u % 32] = who | m->lane[k];
            mg__shadow_wrote(s, u / 32, 1u << u % 32);
        }
    } else {
        for (unsigned k = 0, n; !untouched && k < m->span; k += n) {
            unsigned at = (base + k) % 32;
            n = MG_MIN(m->span - k, 32 - at);
            if (!may_write(&s->rows[(base + k) / 32], at, n, o, who, &m->lane[k]))
                return false;
        }
        for (unsigned k = 0, n; k < m->span; k += n) {
            unsigned at = (base + k) % 32;
            n = MG_MIN(m->span - k, 32 - at);
            did_write(&s->rows[(base + k) / 32], at, n, o->now, who, &m->lane[k]);
            mg__shadow_wrote(s, (base + k) / 32, (uint32_t)(((1ull << n) - 1) << at));
        }
    }
    for (uint64_t r = first; r <= last; r++) {
        s->sums[r].written = o->now;
        mg__shadow_stale(s, r);
    }
    return true;
}

bool mg__quick_row(const struct mg_order *o, struct mg_order_row *row, unsigned at, unsigned n, uint32_t who,
                   const uint32_t *lane, bool writes, bool apply)
{
    if (!apply)
        return writes ? may_write(row, at, n, o, who, lane) : may_read(row, at, n, o, who, 0);
    if (writes)
        did_write(row, at, n, o->now, who, lane);
    else
        did_read(row, at, n, o, mg__quick_met(o, who), o->now, who, lane);
    return true;
}
