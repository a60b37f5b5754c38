/* quick.c - quick.h: whole warps at once, for what is in order.
 *
 * Nothing is reported here, and nothing is decided that order.c would decide otherwise: an access is taken only if no unit of
 * it can be in conflict, by the plainest of reasons (the other access lies before the last barrier of the whole block, or is
 * the same lane's), and then the cells are brought up to date as order.c would. tests/check/test_quick.c holds the two against each other.
 *
 * A block with rows above the floor (named barriers, flags: `partial`) always goes the long way.
 */
#include "check/quick.h"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif
#define LANE_SHIFT 21
#define LANE_BITS (63u << LANE_SHIFT)
#define TAKEN (1u << 31)
#define MANY_LANES (MG_ORDER_MANY << LANE_SHIFT)
#define WARP_BITS (31u << 16)
#define CLASS_BITS (3u << 27)
#define STRONG_BITS ((uint32_t)MG_ORDER_STRONG << 27)
#define ASYNC (1u << 29)
#define OTHERS (1u << 30)

/* ---- shapes ---- */
static void make(struct mg_memo *m, const struct mg_access *a, unsigned unit)
{
    unsigned first = (unsigned)__builtin_ctz(a->mask), each = a->width >> unit;
    uint64_t base = a->address[first], low = UINT64_MAX, high = 0;
    m->mask = 0; /* no shape, until it is known */
    for (unsigned i = 0; i < 32; i++)
        if (a->mask >> i & 1) {
            low = MG_MIN(low, a->address[i]);
            high = MG_MAX(high, a->address[i]);
        }
    uint64_t span = ((high - low) >> unit) + each;
    if (!each || span > MG_COUNT(m->unit) * 16 || (low | base) & ((1u << unit) - 1))
        return;
    bool dense = span <= MG_COUNT(m->lane);
    if (dense)
        memset(m->lane, 0, span * sizeof(m->lane[0]));
    m->n = 0;
    m->twice = false;
    for (unsigned i = 0; i < 32; i++) {
        if (!(a->mask >> i & 1))
            continue;
        uint16_t at = (uint16_t)((a->address[i] - low) >> unit);
        for (unsigned k = 0; k < each; k++, at++) {
            unsigned seen = 0;
            if (dense) {
                seen = m->lane[at] != 0;
                m->lane[at] = m->lane[at] ? MANY_LANES | TAKEN : i << LANE_SHIFT | TAKEN;
                if (!seen)
                    m->unit[m->n++] = at;
            } else {
                while (seen < m->n && m->unit[seen] != at)
                    seen++;
                if (seen == m->n) {
                    if (m->n == MG_COUNT(m->unit))
                        return;
                    m->unit[m->n] = at;
                    m->lane[m->n++] = i << LANE_SHIFT;
                    seen = 0;
                } else {
                    m->lane[seen] = MANY_LANES;
                    seen = 1;
                }
            }
            m->twice |= seen;
        }
    }
    if (dense) {
        if (m->n == span) {
            for (unsigned k = 0; k < span; k++)
                m->lane[k] &= LANE_BITS;
        } else { /* with gaps: a list, in the order of units */
            m->n = 0;
            for (unsigned k = 0; k < span; k++)
                if (m->lane[k]) {
                    m->unit[m->n] = (uint16_t)k;
                    m->lane[m->n++] = m->lane[k] & LANE_BITS;
                }
        }
    }
    for (unsigned i = 0; i < 32; i++)
        m->delta[i] = a->mask >> i & 1 ? a->address[i] - base : 0;
    m->span = (uint16_t)span;
    m->first = first;
    m->low = (int32_t)(low - base);
    m->width = a->width;
    m->mask = a->mask;
}

WIDE static bool same(const uint64_t *address, const uint64_t *delta, uint64_t base, uint32_t mask)
{
    uint64_t differ = 0;
    if (mask == ~0u)
        for (unsigned i = 0; i < 32; i++)
            differ |= (address[i] - base) ^ delta[i];
    else
        for (unsigned i = 0; i < 32; i++)
            differ |= ((address[i] - base) ^ delta[i]) & ((uint64_t)0 - (mask >> i & 1));
    return differ == 0;
}

bool mg__quick_shape(struct mg_memo *m, const struct mg_access *a, unsigned unit)
{
    if (m->mask == a->mask && m->width == a->width && same(a->address, m->delta, a->address[m->first], a->mask) &&
        !(a->address[m->first] & ((1u << unit) - 1))) {
        m->misses = 0;
        return true;
    }
    if (++m->misses > 16 && m->misses % 64) /* irregular: not worth it */
        return false;
    make(m, a, unit);
    return m->mask != 0;
}

WIDE void mg__quick_bounds(const struct mg_access *a, uint64_t *least, uint64_t *most)
{
    int64_t low = INT64_MAX, high = 0; /* addresses are below 2^63: signed compares are what vectors have */
    if (a->mask == ~0u) {
        for (unsigned i = 0; i < 32; i++) {
            int64_t at = (int64_t)a->address[i];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
    } else {
        for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
            int64_t at = (int64_t)a->address[__builtin_ctz(rest)];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
    }
    *least = (uint64_t)low;
    *most = (uint64_t)high;
}

/* ---- one unit ---- */
/* The place was used since the floor, by `*slot`; `*who` comes as well. False: of another warp, which `*slot` now says, and
 * that is all. True: `*who` stands for both. */
static inline bool joins(uint32_t *slot, uint32_t *who)
{
    uint32_t old = *slot;
    if ((old ^ *who) & WARP_BITS) {
        *slot = old | OTHERS;
        return false;
    }
    *who |= old & OTHERS;
    if ((old ^ *who) & LANE_BITS)
        *who = (*who & ~LANE_BITS) | MANY_LANES;
    return true;
}

bool mg__quick_read_one(const struct mg_order *o, struct mg_order_row *row, unsigned at, uint32_t who, bool init)
{
    uint32_t least = init ? o->begin : 0;
    if (row->w_time[at] - least > o->floor - least || row->w_who[at] & ASYNC)
        return false;
    if (row->r_time[at] > o->floor) {
        if (row->r_who[at] & CLASS_BITS)
            return false;
        if (!joins(&row->r_who[at], &who))
            return true;
    }
    row->r_time[at] = o->now;
    row->r_who[at] = who;
    return true;
}

static inline bool own(uint32_t time, uint32_t old, uint32_t who, uint32_t floor)
{
    return time <= floor || !((old ^ who) & (WARP_BITS | LANE_BITS) || old & (OTHERS | ASYNC));
}

bool mg__quick_write_one(const struct mg_order *o, struct mg_order_row *row, unsigned at, uint32_t who)
{
    if (row->w_who[at] & ASYNC || !own(row->w_time[at], row->w_who[at], who, o->floor) ||
        !own(row->r_time[at], row->r_who[at], who, o->floor))
        return false;
    row->w_time[at] = o->now;
    row->w_who[at] = who;
    return true;
}

bool mg__quick_atomic_one(const struct mg_order *o, struct mg_order_row *row, unsigned at, uint32_t who, bool init)
{
    uint32_t time = row->w_time[at], old = row->w_who[at];
    if (row->r_time[at] > o->floor || old & ASYNC || (init && time < o->begin))
        return false;
    if (time > o->floor) {
        if ((old & CLASS_BITS) != STRONG_BITS)
            return false;
        if (!joins(&row->w_who[at], &who))
            return true;
    }
    row->w_time[at] = o->now;
    row->w_who[at] = who;
    return true;
}

/* ---- units in a row ---- */
WIDE static bool may_read(const struct mg_order_row *row, unsigned at, unsigned n, uint32_t floor, uint32_t least)
{
    uint32_t bad = 0, room = floor - least;
    for (unsigned k = at; k < at + n; k++) {
        bad |= (row->w_time[k] - least > room) | (row->w_who[k] & ASYNC);
        bad |= (row->r_time[k] > floor) & ((row->r_who[k] & CLASS_BITS) != 0);
    }
    return bad == 0;
}

WIDE static void did_read(struct mg_order_row *row, unsigned at, unsigned n, uint32_t floor, uint32_t now, uint32_t who,
                          const uint32_t *lane)
{
    for (unsigned k = 0; k < n; k++) {
        uint32_t time = row->r_time[at + k], old = row->r_who[at + k], mine = who | lane[k];
        bool fresh = time <= floor, same_warp = !((old ^ mine) & WARP_BITS), same_lane = !((old ^ mine) & LANE_BITS);
        uint32_t merged = (same_lane ? mine : (mine & ~LANE_BITS) | MANY_LANES) | (old & OTHERS);
        row->r_who[at + k] = fresh ? mine : same_warp ? merged : old | OTHERS;
        row->r_time[at + k] = fresh | same_warp ? now : time;
    }
}

WIDE static bool may_write(const struct mg_order_row *row, unsigned at, unsigned n, uint32_t floor, uint32_t who,
                           const uint32_t *lane)
{
    uint32_t bad = 0;
    for (unsigned k = 0; k < n; k++) {
        uint32_t mine = who | lane[k], w = row->w_who[at + k], r = row->r_who[at + k];
        bad |= w & ASYNC;
        bad |= (row->w_time[at + k] > floor) & ((((w ^ mine) & (WARP_BITS | LANE_BITS)) | (w & OTHERS)) != 0);
        bad |= (row->r_time[at + k] > floor) & ((((r ^ mine) & (WARP_BITS | LANE_BITS)) | (r & OTHERS)) != 0);
    }
    return bad == 0;
}

WIDE static void did_write(struct mg_order_row *row, unsigned at, unsigned n, uint32_t now, uint32_t who, const uint32_t *lane)
{
    for (unsigned k = 0; k < n; k++) {
        row->w_time[at + k] = now;
        row->w_who[at + k] = who | lane[k];
    }
}

bool mg__quick_read(const struct mg_order *o, struct mg_order_row *rows, uint64_t base, const struct mg_memo *m, uint32_t who,
                    bool init)
{
    if (m->n != m->span) {
        for (unsigned k = 0; k < m->n; k++) { /* a read that is done twice is no other than one done once */
            uint64_t u = base + m->unit[k];
            if (!mg__quick_read_one(o, &rows[u / 32], u % 32, who | m->lane[k], init))
                return false;
        }
        return true;
    }
    for (unsigned k = 0, n; k < m->span; k += n) {
        unsigned at = (base + k) % 32;
        n = MG_MIN(m->span - k, 32 - at);
        if (!may_read(&rows[(base + k) / 32], at, n, o->floor, init ? o->begin : 0))
            return false;
    }
    for (unsigned k = 0, n; k < m->span; k += n) {
        unsigned at = (base + k) % 32;
        n = MG_MIN(m->span - k, 32 - at);
        did_read(&rows[(base + k) / 32], at, n, o->floor, o->now, who, &m->lane[k]);
    }
    return true;
}

bool mg__quick_write(const struct mg_order *o, struct mg_order_row *rows, uint64_t base, const struct mg_memo *m, uint32_t who)
{
    if (m->twice)
        return false;
    if (m->n != m->span) {
        for (unsigned k = 0; k < m->n; k++)
            if (!may_write(&rows[(base + m->unit[k]) / 32], (base + m->unit[k]) % 32, 1, o->floor, who, &m->lane[k]))
                return false;
        for (unsigned k = 0; k < m->n; k++)
            did_write(&rows[(base + m->unit[k]) / 32], (base + m->unit[k]) % 32, 1, o->now, who, &m->lane[k]);
        return true;
    }
    for (unsigned k = 0, n; k < m->span; k += n) {
        unsigned at = (base + k) % 32;
        n = MG_MIN(m->span - k, 32 - at);
        if (!may_write(&rows[(base + k) / 32], at, n, o->floor, who, &m->lane[k]))
            return false;
    }
    for (unsigned k = 0, n; k < m->span; k += n) {
        unsigned at = (base + k) % 32;
        n = MG_MIN(m->span - k, 32 - at);
        did_write(&rows[(base + k) / 32], at, n, o->now, who, &m->lane[k]);
    }
    return true;
}

bool mg__quick_read_rows(const struct mg_order *o, struct mg_order_row **rows, uint64_t base, const struct mg_memo *m,
                         uint32_t who)
{
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned k = 0, n; k < m->span; k += n) {
            unsigned at = (base + k) % 32;
            struct mg_order_row *row = rows[(base % 32 + k) / 32];
            n = MG_MIN(m->span - k, 32 - at);
            if (pass)
                did_read(row, at, n, o->floor, o->now, who, &m->lane[k]);
            else if (!may_read(row, at, n, o->floor, 0))
                return false;
        }
    return true;
}

bool mg__quick_write_rows(const struct mg_order *o, struct mg_order_row **rows, uint64_t base, const struct mg_memo *m,
                          uint32_t who)
{
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned k = 0, n; k < m->span; k += n) {
            unsigned at = (base + k) % 32;
            struct mg_order_row *row = rows[(base % 32 + k) / 32];
            n = MG_MIN(m->span - k, 32 - at);
            if (pass)
                did_write(row, at, n, o->now, who, &m->lane[k]);
            else if (!may_write(row, at, n, o->floor, who, &m->lane[k]))
                return false;
        }
    return true;
}
