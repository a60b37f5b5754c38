/* memo.c - memo.h: which units lanes at some distances fall on, and which lane each. */
#include "check/memo.h"

#define TAKEN (1u << 31)

struct shape {          /* on its way to a memo; the arrays have room for MG_MEMO_UNITS */
    uint64_t delta[32]; /* from the first active lane's address */
    uint16_t *unit;
    uint32_t *lane;
};

/* The lanes of `lane` and lane i. */
static uint32_t both(uint32_t lane, unsigned i)
{
    return mg__order_both((lane & MG_WHO_LANES) >> MG_WHO_NUMBER, 2 * i + 1) << MG_WHO_NUMBER;
}

static bool make(struct mg_memo *m, const struct shape *s, uint32_t mask, uint32_t width, unsigned unit)
{
    unsigned each = width >> unit;
    int64_t low = 0, high = 0;
    for (unsigned i = 0; i < 32; i++)
        if (mask >> i & 1) {
            low = MG_MIN(low, (int64_t)s->delta[i]);
            high = MG_MAX(high, (int64_t)s->delta[i]);
        }
    uint64_t span = ((uint64_t)(high - low) >> unit) + each;
    if (!each || span > MG_MEMO_SPAN)
        return false;
    uint32_t *lane = s->lane;
    bool dense = span <= MG_MEMO_UNITS;
    if (dense)
        memset(lane, 0, span * sizeof(*lane));
    m->n = 0;
    m->twice = false;
    for (unsigned i = 0; i < 32; i++) {
        if (!(mask >> i & 1))
            continue;
        uint16_t at = (uint16_t)((s->delta[i] - (uint64_t)low) >> unit);
        for (unsigned k = 0; k < each; k++, at++) {
            unsigned seen = 0;
            if (dense) {
                seen = lane[at] != 0;
                lane[at] = (seen ? both(lane[at], i) : mg__order_pack_lane(i)) | TAKEN;
                if (!seen)
                    s->unit[m->n++] = at;
            } else {
                while (seen < m->n && s->unit[seen] != at)
                    seen++;
                if (seen == m->n) {
                    if (m->n == MG_MEMO_UNITS)
                        return false;
                    s->unit[m->n] = at;
                    lane[m->n++] = mg__order_pack_lane(i);
                    seen = 0;
                } else {
                    lane[seen] = both(lane[seen], i);
                    seen = 1;
                }
            }
            m->twice |= seen;
        }
    }
    if (dense) {
        if (m->n == span) {
            for (unsigned k = 0; k < span; k++)
                lane[k] &= MG_WHO_LANES;
        } else { /* with gaps: a list, in the order of units */
            m->n = 0;
            for (unsigned k = 0; k < span; k++)
                if (lane[k]) {
                    s->unit[m->n] = (uint16_t)k;
                    lane[m->n++] = lane[k] & MG_WHO_LANES;
                }
        }
    }
    unsigned runs = 1;
    for (unsigned k = 1; k < m->n; k++)
        runs += s->unit[k] != s->unit[k - 1] + 1;
    m->apart = runs * 4 > m->n;
    m->in_a_row = !m->twice;
    m->first = (uint8_t)(lane[0] >> MG_WHO_NUMBER >> 1);
    m->in_order = m->n == span && span == 32 * each;
    m->units = 0;
    for (unsigned k = 0; k < m->n; k++) {
        m->in_order &= lane[k] == mg__order_pack_lane(k / each % 32);
        const unsigned at = m->n == span ? k : s->unit[k];
        m->in_a_row &= lane[k] == lane[0] + (2 * at << MG_WHO_NUMBER);
        m->units |= span <= 32 ? 1u << at : 0;
    }
    m->span = (uint16_t)span;
    m->low = (int32_t)low;
    m->width = width;
    m->unit_log = (uint8_t)unit;
    m->unit = s->unit;
    m->lane = lane;
    return true;
}

struct mg_memo *mg__memo_new(const uint64_t delta[32], uint32_t mask, uint32_t width, unsigned unit)
{
    uint16_t units[MG_MEMO_UNITS];
    uint32_t lanes[MG_MEMO_UNITS];
    struct shape s = {.unit = units, .lane = lanes};
    struct mg_memo made = {0};
    memcpy(s.delta, delta, sizeof(s.delta));
    bool good = make(&made, &s, mask, width, unit);
    size_t n = good ? made.n : 0;
    struct mg_memo *m = malloc(sizeof(*m) + n * (sizeof(*lanes) + sizeof(*units)));
    if (!m)
        return NULL;
    *m = made;
    m->width = width;
    m->unit_log = (uint8_t)unit;
    m->n = (uint16_t)n; /* 0: no shape that can be used */
    uint32_t *lane = (uint32_t *)(void *)(m + 1);
    uint16_t *at = (uint16_t *)(void *)(lane + n);
    memcpy(lane, lanes, n * sizeof(*lane));
    memcpy(at, units, n * sizeof(*at));
    m->lane = lane;
    m->unit = at;
    return m;
}

static bool grow(struct mg_memos *memos, uint32_t id)
{
    const uint32_t capacity = MG_MAX(memos->capacity * 2, id + 16), more = capacity - memos->capacity;
    struct mg_memo **at = realloc(memos->at, capacity * sizeof(struct mg_memo *));
    memos->at = at ? at : memos->at;
    struct mg_memos_of *of = realloc(memos->of, capacity * sizeof(*of));
    memos->of = of ? of : memos->of;
    if (!at || !of)
        return false;
    memset(at + memos->capacity, 0, more * sizeof(struct mg_memo *));
    memset(of + memos->capacity, 0, more * sizeof(*of));
    memos->capacity = capacity;
    return true;
}

static void forget(struct mg_memos *memos, uint32_t id)
{
    for (struct mg_memo *m = memos->at[id], *next; m; m = next) {
        next = m->next;
        free(m);
    }
    memos->at[id] = NULL;
}

/* The pattern's memos; those of another one, which had its id in a launch before, are gone then. */
static struct mg_memo **memos_of(struct mg_memos *memos, const struct mg_pattern *p)
{
    if (p->id >= memos->capacity && !grow(memos, p->id))
        return NULL;
    struct mg_memos_of *of = &memos->of[p->id];
    if (of->launch != memos->launch && (of->mask != p->mask || memcmp(of->delta, p->delta, sizeof(of->delta)))) {
        forget(memos, p->id);
        of->mask = p->mask;
        memcpy(of->delta, p->delta, sizeof(of->delta));
    }
    of->launch = memos->launch;
    return &memos->at[p->id];
}

const struct mg_memo *mg__memos_other(struct mg_memos *memos, const struct mg_access *a, unsigned unit)
{
    const struct mg_pattern *p = a->pattern;
    struct mg_memo **at = memos_of(memos, p), *m = at ? *at : NULL;
    while (m && (m->width != a->width || m->unit_log != unit))
        m = m->next;
    if (!m && at) {
        uint64_t delta[32];
        for (unsigned i = 0; i < 32; i++)
            delta[i] = (uint64_t)(int64_t)p->delta[i];
        m = mg__memo_new(delta, p->mask, a->width, unit);
        if (m) {
            m->next = *at;
            *at = m;
        }
    }
    return m && m->n ? m : NULL;
}

void mg__memos_free(struct mg_memos *memos)
{
    for (uint32_t k = 0; k < memos->capacity; k++)
        forget(memos, k);
    free(memos->at);
    free(memos->of);
}

MG_WIDE static bool same(const uint64_t *address, const uint64_t *delta, uint64_t base, uint32_t mask)
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

bool mg__memo_last(struct mg_last *l, const struct mg_access *a, unsigned unit)
{
    struct mg_memo *m = &l->memo;
    if (l->mask != a->mask || m->width != a->width || m->unit_log != unit ||
        !same(a->address, l->delta, a->address[l->first], a->mask)) {
        if (++l->misses > 16 && l->misses % 64) /* irregular: not worth keeping */
            return false;
        l->first = (unsigned)__builtin_ctz(a->mask);
        l->mask = a->mask;
        l->known = false;
        *m = (struct mg_memo){.width = a->width, .unit_log = (uint8_t)unit};
        for (unsigned i = 0; i < 32; i++)
            l->delta[i] = a->mask >> i & 1 ? a->address[i] - a->address[l->first] : 0;
        return false;
    }
    l->misses = 0;
    if (!l->known) { /* it has come twice: worth a memo */
        struct shape s = {.unit = l->unit, .lane = l->lane};
        memcpy(s.delta, l->delta, sizeof(s.delta));
        l->known = true;
        if (!make(m, &s, a->mask, a->width, unit))
            m->n = 0;
    }
    return m->n != 0;
}

MG_WIDE void mg__memo_bounds(const struct mg_access *a, uint64_t *least, uint64_t *most)
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
