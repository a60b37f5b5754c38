/* test_quick.c - the quick way of quick.c finds what the long way of order.c finds.
 *
 * Two histories of the same random accesses are kept side by side: one takes each lane through order.c, the other asks quick.c
 * first and does what is left over. A step that quick.c takes must be one in which the long way finds nothing, and all others
 * must find the same number of conflicts in both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check/quick.h"

enum { UNITS = 256, WARPS = 4, STEPS = 200000 };

struct history {
    struct mg_order *order;
    struct mg_order_row rows[UNITS / 32 + 1];
};

static uint64_t state = 1;
static uint32_t draw(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static unsigned by_lanes(struct history *h, const struct mg_access *a, bool writes, struct mg_order_who me)
{
    unsigned hits = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(a->mask >> lane & 1))
            continue;
        for (uint64_t u = a->address[lane] / 4; u < (a->address[lane] + a->width) / 4; u++) {
            struct mg_order_hit with = {0}, read = {0};
            me.lane = (uint8_t)lane;
            if (writes)
                mg__order_write(h->order, &h->rows[u / 32], u % 32, me, &with, &read);
            else
                mg__order_read(h->order, &h->rows[u / 32], u % 32, me, &with);
            hits += (with.time ? 1u : 0u) + (read.time ? 1u : 0u);
        }
    }
    return hits;
}

static bool quickly(struct history *h, struct mg_memo *memo, const struct mg_access *a, bool writes, struct mg_order_who me)
{
    uint32_t who = mg__order_pack(me);
    if (me.class == MG_ORDER_STRONG) {
        for (unsigned lane = 0; lane < 32; lane++) {
            uint64_t u = a->address[lane] / 4;
            if (a->width != 4 ||
                (a->mask >> lane & 1 && !mg__quick_atomic_one(h->order, &h->rows[u / 32], u % 32, who | lane << 21, false)))
                return false;
        }
        return true;
    }
    if (!mg__quick_shape(memo, a, 2))
        return false;
    uint64_t base = (a->address[memo->first] + (uint64_t)(int64_t)memo->low) / 4;
    return writes ? mg__quick_write(h->order, h->rows, base, memo, who) : mg__quick_read(h->order, h->rows, base, memo, who, false);
}

static void make_access(struct mg_access *a)
{
    static const uint32_t strides[] = {0, 1, 1, 1, 1, 2, 4, 7};
    *a = (struct mg_access){.mask = ~0u, .width = draw(8) ? 4 : 16};
    uint32_t stride = strides[draw(8)] * a->width / (a->width == 16 && draw(2) ? 4 : 1), base = draw(24) * 4;
    uint32_t fold = draw(3) ? 32 : 16;
    for (unsigned lane = 0; lane < 32; lane++)
        a->address[lane] = (base + lane % fold * stride) % (4 * UNITS - 16) / a->width * a->width;
    if (draw(4) == 0)
        a->mask = draw(UINT32_MAX) | 1u << draw(32);
}

static void same_findings(void **unused)
{
    (void)unused;
    static struct history slow, quick;
    static struct mg_memo memos[8];
    unsigned taken = 0, conflicts = 0;
    slow.order = mg__order_new();
    quick.order = mg__order_new();
    assert_non_null(slow.order);
    assert_non_null(quick.order);
    for (unsigned step = 0; step < STEPS; step++) {
        uint32_t what = draw(40), warp = draw(WARPS);
        struct history *both[] = {&slow, &quick};
        if (step % 500 == 0) { /* a new block: what was written before is no conflict any more */
            for (unsigned k = 0; k < 2; k++)
                mg__order_begin(both[k]->order, 32 * WARPS);
            continue;
        }
        if (what < 6) {
            for (unsigned k = 0; k < 2; k++) {
                for (uint32_t w = 0; w < WARPS; w++)
                    mg__order_arrive(both[k]->order, 0, w, ~0u, true);
                mg__order_open(both[k]->order, 0, true);
            }
            continue;
        }
        if (what < 8) {
            for (unsigned k = 0; k < 2; k++)
                mg__order_warp(both[k]->order, warp, ~0u);
            continue;
        }
        struct mg_access a;
        make_access(&a);
        bool writes = what < 16;
        struct mg_order_who me = {.site = (uint16_t)(1 + draw(8)), .warp = (uint8_t)warp,
                                  .class = what < 10 ? MG_ORDER_STRONG : MG_ORDER_PLAIN};
        unsigned expected = by_lanes(&slow, &a, writes, me);
        if (quickly(&quick, &memos[me.site - 1], &a, writes, me)) {
            assert_int_equal(expected, 0);
            taken++;
        } else {
            assert_int_equal(by_lanes(&quick, &a, writes, me), expected);
            conflicts += expected != 0;
        }
        slow.order->now += writes;
        quick.order->now += writes;
    }
    assert_true(taken > STEPS / 20 && conflicts > STEPS / 20); /* both ways were gone */
    mg__order_free(slow.order);
    mg__order_free(quick.order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_findings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
