/* test_quick.c - the quick way of quick.c finds what the long way of order.c finds.
 *
 * Two histories of the same random accesses are kept side by side: one takes each lane through order.c, the other asks
 * quick.c first and does what is left over. A step that quick.c takes must be one in which the long way finds nothing,
 * not even a unit that nobody wrote, and all others must find the same conflicts with the same accesses in both. So for
 * shared memory, with and without a look at what was written, and for global memory, whose rows are kept by segment.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check/check_priv.h"

enum { UNITS = 256, WARPS = 4, STEPS = 200000 };

struct history {
    struct mg_order *order;
    struct mg_shadow shadow;
    struct segments segments;
    bool global; /* the rows are segment.c's */
};

static struct mg_order_row *row_of(struct history *h, uint64_t unit)
{
    if (!h->global)
        return &h->shadow.rows[unit / 32];
    struct mg_order_row *row = mg__segment_row(&h->segments, unit);
    assert_non_null(row);
    return row;
}

static uint64_t state = 1;
static uint32_t draw(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

/* Of what was found: how much, and a number that stands for all of it. */
struct found {
    unsigned hits, fresh;
    uint64_t sum;
};

static void add(struct found *f, const struct mg_order_hit *hit)
{
    f->hits += hit->time != 0;
    f->sum = f->sum * 0x9e3779b97f4a7c15u + hit->time;
    f->sum = f->sum * 0x9e3779b97f4a7c15u + (hit->time ? mg__order_pack(hit->who) : 0);
}

static struct found by_lanes(struct history *h, const struct mg_access *a, bool writes, struct mg_order_who me)
{
    struct found f = {0};
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(a->mask >> lane & 1))
            continue;
        for (uint64_t u = a->address[lane] / 4; u < (a->address[lane] + a->width) / 4; u++) {
            struct mg_order_hit with = {0}, read = {0};
            struct mg_order_row *row = row_of(h, u);
            f.fresh += row->w_time[u % 32] < h->order->begin;
            me.lane = (uint8_t)lane;
            if (writes)
                mg__order_write(h->order, row, u % 32, me, &with, &read);
            else
                mg__order_read(h->order, row, u % 32, me, &with);
            add(&f, &with);
            add(&f, &read);
        }
    }
    return f;
}

static bool lane_by_lane(struct history *h, const struct mg_access *a, enum mg_lanes what, bool init, uint32_t who)
{
    uint64_t least, most;
    mg__memo_bounds(a, &least, &most);
    mg__shadow_settle_near(h->order, &h->shadow, least / 4, (most + a->width - 1) / 4);
    return mg__shadow_lanes(h->order, &h->shadow, a, 2, who, what, init && what != MG_LANES_WRITE);
}

static bool quickly(struct history *h, struct mg_last *last, struct mg_memos *memos, const struct mg_access *a,
                    bool writes, bool init, struct mg_order_who me)
{
    uint32_t who = mg__order_pack_warp(me);
    const enum mg_lanes what = writes ? MG_LANES_WRITE : MG_LANES_READ;
    if (me.class == MG_ORDER_STRONG && h->global)
        return false;
    if (me.class == MG_ORDER_STRONG)
        return a->width == 4 && lane_by_lane(h, a, MG_LANES_ATOMIC, init, who);
    const struct mg_memo *memo = a->pattern                  ? mg__memos_find(memos, a, 2)
                                 : mg__memo_last(last, a, 2) ? &last->memo
                                                             : NULL;
    if (!memo)
        return !h->global && lane_by_lane(h, a, what, init, who);
    uint64_t base = (a->address[__builtin_ctz(a->mask)] + (uint64_t)(int64_t)memo->low) / 4;
    if (h->global)
        return !(writes && memo->twice) &&
               mg__segments_quick(h->order, &h->segments, base, memo, who, writes, a->pattern != NULL);
    if (writes ? mg__shadow_write(h->order, &h->shadow, base, memo, who)
               : mg__shadow_read(h->order, &h->shadow, base, memo, who, init, a->pattern) ||
                     mg__shadow_read_own(h->order, &h->shadow, base, memo, who))
        return true;
    return draw(2) && lane_by_lane(h, a, what, init, who);
}

/* What watch.c does when the quick way was not open. */
static struct found slowly(struct history *h, const struct mg_access *a, bool writes, struct mg_order_who me)
{
    mg__shadow_settle(h->order, &h->shadow);
    if (me.class != MG_ORDER_PLAIN)
        h->shadow.odd = h->order->now;
    for (unsigned lane = 0; lane < 32; lane++)
        if (a->mask >> lane & 1)
            mg__shadow_changed(h->order, &h->shadow, a->address[lane] / 4, (a->address[lane] + a->width - 1) / 4);
    return by_lanes(h, a, writes, me);
}

/* The engine's work: one object for each set of distances, and numbers anew in each launch. */
static struct mg_pattern patterns[512];
static uint32_t npatterns;
static const struct mg_pattern *pattern_of(const struct mg_access *a)
{
    struct mg_pattern p = {.mask = a->mask};
    uint64_t base = a->address[__builtin_ctz(a->mask)];
    for (unsigned i = 0; i < 32; i++)
        p.delta[i] = a->mask >> i & 1 ? (int32_t)(a->address[i] - base) : 0;
    for (uint32_t k = 0; k < npatterns; k++)
        if (patterns[k].mask == p.mask && !memcmp(patterns[k].delta, p.delta, sizeof(p.delta)))
            return &patterns[k];
    if (npatterns == sizeof(patterns) / sizeof(patterns[0]))
        return NULL;
    p.id = npatterns;
    patterns[npatterns] = p;
    return &patterns[npatterns++];
}

static void make_access(struct mg_access *a)
{
    static uint64_t address[32];
    static const uint32_t strides[] = {0, 1, 1, 1, 1, 2, 4, 7}, widths[] = {4, 4, 4, 4, 4, 8, 8, 16};
    *a = (struct mg_access){.mask = ~0u, .width = widths[draw(8)], .address = address};
    uint32_t stride = strides[draw(8)] * a->width / (a->width == 16 && draw(2) ? 4 : 1), base = draw(24) * 4;
    uint32_t fold = draw(3) ? 32 : 16;
    for (unsigned lane = 0; lane < 32; lane++)
        address[lane] = (base + lane % fold * stride) % (4 * UNITS - 16) / a->width * a->width;
    if (draw(4) == 0)
        a->mask = draw(UINT32_MAX) | 1u << draw(32);
}

static void compare(bool init, bool global)
{
    struct history slow = {0}, quick = {.global = global}, *both[] = {&slow, &quick};
    static struct mg_last last[8];
    struct mg_memos memos = {0};
    unsigned taken = 0, held = 0, conflicts = 0;
    for (unsigned k = 0; k < 2; k++) {
        both[k]->order = mg__order_new();
        assert_non_null(both[k]->order);
        assert_true(mg__shadow_make(&both[k]->shadow, UNITS));
    }
    for (unsigned step = 0; step < STEPS; step++) {
        uint32_t what = draw(40), warp = draw(WARPS);
        if (step % 500 == 0) { /* a new block: what was written before is no conflict any more */
            for (unsigned k = 0; k < 2; k++)
                mg__shadow_begin(&both[k]->shadow, UNITS, !mg__order_begin(both[k]->order, 32 * WARPS));
            mg__segments_forget(&quick.segments);
            if (draw(2)) { /* of another launch */
                npatterns = 0;
                memos.launch++;
            }
            continue;
        }
        if (what < 6) {
            for (unsigned k = 0; k < 2; k++) {
                for (uint32_t w = 0; w < WARPS; w++)
                    mg__order_arrive(both[k]->order, 0, w, ~0u, true);
                mg__order_open(both[k]->order, 0, true);
                mg__shadow_met(&both[k]->shadow);
            }
            if (draw(4) == 0)
                mg__segments_forget(&quick.segments);
            continue;
        }
        if (what < 8) {
            for (unsigned k = 0; k < 2; k++)
                mg__order_warp(both[k]->order, warp, ~0u);
            continue;
        }
        struct mg_access a;
        make_access(&a);
        if (draw(4))
            a.pattern = pattern_of(&a);
        bool writes = what < 16;
        struct mg_order_who me = {.site = (uint16_t)(1 + draw(8)), .warp = (uint8_t)warp,
                                  .class = what < 10 || what == 39 ? MG_ORDER_STRONG : MG_ORDER_PLAIN};
        struct found expected = by_lanes(&slow, &a, writes, me);
        if ((writes || me.class == MG_ORDER_PLAIN) &&
            quickly(&quick, &last[me.site - 1], &memos, &a, writes, init, me)) {
            assert_int_equal(expected.hits, 0);
            assert_true(!init || writes || !expected.fresh);
            taken++;
            held += global || quick.shadow.nheld != 0;
        } else {
            struct found same = slowly(&quick, &a, writes, me);
            assert_int_equal(same.hits, expected.hits);
            assert_true(same.sum == expected.sum);
            conflicts += expected.hits != 0;
        }
        slow.order->now += writes;
        quick.order->now += writes;
    }
    assert_true(taken > STEPS / 40 && held > STEPS / 80 && conflicts > STEPS / 40); /* both ways were gone */
    for (unsigned k = 0; k < 2; k++) {
        mg__order_free(both[k]->order);
        mg__shadow_free(&both[k]->shadow);
    }
    mg__memos_free(&memos);
    mg__segments_free(&quick.segments);
}

static void same_findings(void **unused)
{
    (void)unused;
    for (unsigned k = 0; k < 3; k++) {
        compare(false, false);
        compare(true, false);
        compare(false, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_findings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
