/* test_timeline.c - the line of modelled time: streams, room, events, copies, late ends; launches that are the same. */
#include "device/queue.h"
#include "device/same.h"
#include "device/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

static const struct mg_order none = {0, true, 0}, a = {10, true, 0}, b = {11, false, 0}, c = {12, false, 0},
                             d = {13, false, 0};

static struct mg_mark *record(struct mg_timeline *l, struct mg_order order)
{
    struct mg_mark *m = mg__mark_make();
    m->timed = true;
    mg__timeline_record(l, order, m);
    return m;
}

static struct mg_timeline_item *begin(struct mg_timeline *l, struct mg_order order, double share)
{
    struct mg_timeline_item *i = mg__timeline_launch(l, order, share);
    assert_non_null(i);
    return i;
}

static void run(struct mg_timeline *l, struct mg_order order, double share, double seconds)
{
    mg__timeline_ran(l, begin(l, order, share), seconds, 0);
}

/* Seconds from one to the other; both are given back. */
static double between(struct mg_timeline *l, struct mg_mark *from, struct mg_mark *to)
{
    double seconds = -1;
    assert_true(mg__timeline_between(l, from, to, &seconds));
    mg__mark_release(from);
    mg__mark_release(to);
    return seconds;
}

/* Beside seconds, calls take microseconds. */
static void about(double value, double seconds)
{
    assert_true(value > 0.999 * seconds && value < seconds + 1e-4);
}

static struct mg_timeline *make(void)
{
    struct mg_timeline *l = mg__timeline_create(mg_arch_find(90));
    assert_non_null(l);
    assert_false(mg__timeline_is_on(l));
    assert_null(mg__timeline_launch(l, none, 1)); /* nobody has asked for a time */
    return l;
}

static void streams(void **state)
{
    (void)state;
    struct mg_timeline *l = make();
    struct mg_mark *from = record(l, none);
    run(l, b, 0.5, 1);
    run(l, b, 0.5, 1);
    struct mg_mark *one = mg__mark_keep(from), *to = record(l, b);
    about(between(l, one, to), 2); /* one stream: one after the other */
    mg__timeline_wait(l, NULL);
    one = record(l, b);
    run(l, b, 0.5, 1);
    run(l, c, 0.5, 1);
    mg__timeline_wait(l, NULL);
    to = record(l, b);
    about(between(l, one, to), 1); /* two: side by side, as there is room */
    one = record(l, b);
    run(l, b, 0.75, 1);
    run(l, c, 0.75, 1);
    mg__timeline_wait(l, NULL);
    to = record(l, c);
    about(between(l, one, to), 2); /* no room for both */
    one = record(l, none);
    run(l, a, 0.1, 1);
    run(l, none, 0.1, 1); /* waits for the blocking one, */
    run(l, a, 0.1, 1);    /* which waits for it */
    run(l, b, 0.1, 1);    /* and that one for nobody */
    mg__timeline_wait(l, &a);
    to = record(l, a);
    about(between(l, one, to), 3);
    mg__mark_release(from);
    mg__timeline_destroy(l);
}

static void events(void **state)
{
    (void)state;
    struct mg_timeline *l = make();
    struct mg_mark *from = record(l, b);
    run(l, b, 0.1, 1);
    struct mg_mark *middle = record(l, b);
    mg__timeline_behind(l, c, middle);
    run(l, c, 0.1, 1);
    struct mg_mark *to = record(l, c), *beside = record(l, b);
    about(between(l, mg__mark_keep(from), beside), 1);
    about(between(l, from, mg__mark_keep(to)), 2);
    about(between(l, middle, to), 1);
    /* A wait for an event makes the host's clock go on. */
    run(l, b, 0.1, 1);
    from = record(l, d);
    to = record(l, b);
    mg__timeline_wait_mark(l, to);
    about(between(l, from, record(l, d)), 2);
    mg__mark_release(to);
    mg__timeline_destroy(l);
}

/* 63 GB/s of PCIe 5.0 are not reached; both ways go at once, one way one after the other. */
static void copies(void **state)
{
    (void)state;
    struct mg_timeline *l = make();
    const uint64_t bytes = UINT64_C(1) << 30;
    struct mg_mark *from = record(l, b);
    mg__timeline_copy(l, b, MG_TRANSFER_TO_DEVICE, bytes, false);
    double one = between(l, from, record(l, b));
    assert_true(one > (double)bytes / 63e9 && one < (double)bytes / 45e9);
    from = record(l, b);
    mg__timeline_copy(l, b, MG_TRANSFER_TO_DEVICE, bytes, false);
    mg__timeline_copy(l, c, MG_TRANSFER_TO_HOST, bytes, true);
    mg__timeline_wait(l, NULL);
    about(between(l, from, record(l, b)), one);
    from = record(l, b);
    mg__timeline_copy(l, b, MG_TRANSFER_TO_DEVICE, bytes, false);
    mg__timeline_copy(l, c, MG_TRANSFER_TO_DEVICE_PAGEABLE, 4, true);
    about(between(l, from, record(l, c)), one);
    mg__timeline_destroy(l);
}

/* Looked at the first, second, fourth … time, those of other facts by themselves; beyond the most that there is room
 * for, always. */
static void same(void **state)
{
    (void)state;
    struct mg_sames *all = mg__sames_create();
    const uint64_t facts[] = {7, 8};
    struct mg_same *first = NULL;
    bool look;
    for (unsigned i = 1; i <= 8; i++) {
        struct mg_same *s = mg__same_launch(all, facts, sizeof(facts), &look);
        assert_int_equal(look, i == 1 || i == 2 || i == 4 || i == 8);
        first = first ? first : s;
        assert_ptr_equal(s, first);
    }
    for (uint64_t k = 0; k < 5000; k++) {
        assert_ptr_not_equal(mg__same_launch(all, &k, sizeof(k), &look), first);
        assert_true(look);
    }
    for (unsigned i = 0; i < 3; i++) {
        assert_null(mg__same_launch(all, &(uint64_t){4999}, sizeof(uint64_t), &look));
        assert_true(look);
    }
    mg__sames_destroy(all);
}

/* Between those that are looked at, as long as the one before; one with no entry only takes its own. */
static void alike(void **state)
{
    (void)state;
    struct mg_timeline *l = make();
    struct mg_sames *all = mg__sames_create();
    struct mg_mark *from = record(l, b);
    for (unsigned i = 1; i <= 8; i++) {
        bool look;
        struct mg_same *s = mg__same_launch(all, "7", 1, &look);
        struct mg_timeline_item *item = begin(l, b, 1);
        assert_int_equal(look, i == 1 || i == 2 || i == 4 || i == 8);
        mg__timeline_ran(l, item, mg__same_took(s, look, look ? i : 0), 0);
    }
    about(between(l, from, record(l, b)), 1 + 2 + 2 + 4 * 4 + 8); /* 1 2 2 4 4 4 4 8 */
    assert_true(mg__same_took(NULL, true, 3) == 3 && mg__same_took(NULL, false, 3) == 0);
    mg__sames_destroy(all);
    mg__timeline_destroy(l);
}

/* Launches end in any order, and one that never does is nothing to those that do not wait for it. */
static void late(void **state)
{
    (void)state;
    struct mg_timeline *l = make();
    struct mg_mark *from = record(l, b);
    struct mg_timeline_item *first = begin(l, b, 0.1), *second = begin(l, c, 0.1), *third = begin(l, b, 0.1);
    struct mg_mark *to = record(l, b);
    mg__timeline_ran(l, third, 1, 0);
    mg__timeline_ran(l, second, 5, 0);
    mg__timeline_ran(l, first, 2, 1); /* and one second of waiting */
    about(between(l, from, to), 4);
    from = record(l, b);
    struct mg_timeline_item *endless = begin(l, c, 0.1);
    run(l, b, 0.1, 1);
    about(between(l, from, record(l, b)), 1);
    mg__timeline_ran(l, endless, 1, 0);
    mg__timeline_destroy(l);
}

/* A program that makes a stream for each piece of work: no call takes longer for those that are gone. */
static void many_streams(void **state)
{
    enum { MANY = 200000 };
    (void)state;
    struct mg_timeline *l = make();
    struct mg_mark *from = record(l, none), *middle = NULL;
    clock_t begin = clock();
    for (unsigned i = 0; i < MANY; i++) {
        const struct mg_order own = {100 + i, false, 0};
        run(l, own, 0.1, 1e-3);
        mg__timeline_wait(l, &own);
        if (i == MANY / 2)
            middle = record(l, own);
    }
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 5);
    struct mg_mark *to = record(l, b);
    double half = between(l, from, mg__mark_keep(middle)), rest = between(l, middle, to);
    assert_true(half > MANY / 2 * 1e-3 && half < rest * 1.001 && rest < half * 1.001);
    mg__timeline_destroy(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(streams), cmocka_unit_test(events),
                                       cmocka_unit_test(copies),  cmocka_unit_test(same), cmocka_unit_test(alike),
                                       cmocka_unit_test(late),    cmocka_unit_test(many_streams)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
