/* test_pattern.c - lanes of shared memory and the layouts that help them, against what is worked out by hand: a word w
 * is in bank w modulo 32, and a bank gives one word a wavefront.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model.h"
#include "picture/picture.h"

static const struct mg_picture_lanes load = {MG_ACCESS_LD, NULL}, store = {MG_ACCESS_ST, NULL};

/* Lane l at `from` + l * `step` bytes of a variable of `size` bytes at `offset`. */
static struct mg_report_access strided(uint32_t offset, uint32_t size, uint32_t width, uint32_t from, uint32_t step)
{
    struct mg_report_access a = {
        .variable = "tile", .offset = offset, .size = size, .width = width, .mask = UINT32_MAX, .count = 1};
    for (unsigned i = 0; i < 32; i++)
        a.lanes[i] = offset + from + (uint64_t)i * step;
    mg__picture_cost(mg_arch_find(90), &load, &a, a.lanes, &a.cost);
    return a;
}

static const struct mg_report_layout *layout(const struct mg_report_access *a, const char *kind)
{
    for (unsigned i = 0; i < a->nlayouts; i++)
        if (!strcmp(a->layouts[i].kind, kind))
            return &a->layouts[i];
    fail_msg("no layout of kind %s", kind);
    return NULL;
}

static void a_column_is_padded_and_swizzled(void **state)
{
    (void)state;
    struct mg_report_access column = strided(256, 4096, 4, 0, 128), row = strided(256, 4096, 4, 128, 4);
    struct mg_report_access *both[] = {&column, &row};
    const struct mg_picture_lanes as[] = {load, store};
    assert_int_equal(column.cost.taken, 32);
    assert_int_equal(row.cost.taken, 1);
    mg__picture_layouts(mg_arch_find(90), both, as, 2, 4096);
    const struct mg_report_layout *pad = layout(&column, "pad"), *swizzle = layout(&column, "swizzle");
    assert_int_equal(pad->row, 32);
    assert_int_equal(pad->pad, 1);
    assert_int_equal(pad->added, 128);
    assert_int_equal(pad->cost.taken, 1);
    assert_int_equal(swizzle->cost.taken, 1);
    assert_int_equal(layout(&row, "pad")->cost.taken, 1); /* and the row stays what it was */
    assert_int_equal(layout(&row, "swizzle")->cost.taken, 1);
    for (uint32_t i = 0; i < 32; i++) { /* element (i, 0), in rows of 33; and column 0 ^ i of row i */
        assert_int_equal(pad->lanes[i], 256 + 4 * 33 * i);
        assert_int_equal(swizzle->lanes[i], 256 + 4 * (32 * i + i));
    }
}

static void without_room_nothing_is_padded(void **state)
{
    (void)state;
    struct mg_report_access column = strided(0, 4096, 4, 0, 128), *one = &column;
    mg__picture_layouts(mg_arch_find(90), &one, &load, 1, 100); /* a word in each row takes 128 bytes */
    assert_int_equal(column.nlayouts, 1);
    assert_string_equal(column.layouts[0].kind, "swizzle");
}

static void what_has_no_conflict_is_left_alone(void **state)
{
    (void)state;
    struct mg_report_access row = strided(0, 4096, 4, 0, 4), *one = &row;
    mg__picture_layouts(mg_arch_find(90), &one, &load, 1, 4096);
    assert_int_equal(row.nlayouts, 0);
    mg__picture_layouts(mg_arch_find(90), &one, &load, 0, 4096); /* nor is nothing */
}

static void wide_accesses_have_phases(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, step;
        unsigned phases, each, wavefronts; /* in each phase */
    } rows[] = {
        {4, 4, 1, 32, 1},    {8, 8, 2, 16, 1}, {16, 16, 4, 8, 1}, /* neighbours: bytes over 128 */
        {8, 128, 2, 16, 16},                                      /* 16 lanes on one pair of banks */
        {16, 128, 4, 8, 8},                                       /* 8 lanes on one quarter of the quads */
        {16, 144, 4, 8, 1},                                       /* rows padded by one element of 16 bytes */
    };
    for (size_t k = 0; k < MG_COUNT(rows); k++) {
        struct mg_report_access a = strided(0, 8192, rows[k].width, 0, rows[k].step);
        assert_int_equal(a.cost.nphases, rows[k].phases);
        assert_int_equal(a.cost.taken, rows[k].phases * rows[k].wavefronts);
        for (unsigned i = 0; i < rows[k].phases; i++) {
            assert_int_equal(a.cost.phases[i].from, i * rows[k].each);
            assert_int_equal(a.cost.phases[i].lanes, rows[k].each);
            assert_int_equal(a.cost.phases[i].wavefronts, rows[k].wavefronts);
        }
    }
}

static void idle_lanes_do_not_count(void **state)
{
    (void)state;
    struct mg_report_access a = strided(0, 4096, 4, 0, 128);
    a.mask = 0x80000101; /* three lanes of the column */
    mg__picture_cost(mg_arch_find(90), &load, &a, a.lanes, &a.cost);
    assert_int_equal(a.cost.taken, 3);
    assert_int_equal(a.cost.ideal, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_is_padded_and_swizzled),
        cmocka_unit_test(without_room_nothing_is_padded),
        cmocka_unit_test(what_has_no_conflict_is_left_alone),
        cmocka_unit_test(wide_accesses_have_phases),
        cmocka_unit_test(idle_lanes_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
