/* test_longest.c - which launches are judged: the first one of a kernel in a shape, and each that takes longer than all
 * before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "advise/advise_priv.h"

static const struct mg_launch_info one = {
    .kernel = "one", .grid = {8, 1, 1}, .block = {256, 1, 1}, .shared_dynamic = 1024};

static void the_longest_of_a_shape(void **state)
{
    struct mg_longest *l = mg__longest_create();
    struct mg_launch_info other = one;
    (void)state;
    assert_non_null(l);
    assert_true(mg__longest_is(l, &one, 2e-6));
    assert_false(mg__longest_is(l, &one, 2e-6)); /* the same again */
    assert_false(mg__longest_is(l, &one, 1e-6));
    assert_false(mg__longest_is(l, &one, 0)); /* it failed */
    assert_true(mg__longest_is(l, &one, 3e-6));
    assert_false(mg__longest_is(l, &one, 2.5e-6));
    other.grid.x = 9;
    assert_true(mg__longest_is(l, &other, 1e-6));
    assert_false(mg__longest_is(l, &other, 1e-6));
    other = one;
    other.shared_dynamic = 2048;
    assert_true(mg__longest_is(l, &other, 1e-6));
    other = one;
    other.kernel = "ones";
    assert_true(mg__longest_is(l, &other, 1e-6));
    assert_false(mg__longest_is(l, &one, 3e-6));
    mg__longest_free(l);
}

/* Names of any length, and more shapes than are remembered: those beyond are judged each time. */
static void many_shapes(void **state)
{
    static char name[1000];
    struct mg_longest *l = mg__longest_create();
    struct mg_launch_info info = one;
    (void)state;
    assert_non_null(l);
    memset(name, 'k', sizeof(name) - 1);
    info.kernel = name;
    for (int again = 0; again < 2; again++)
        for (uint32_t k = 1; k <= 5000; k++) {
            info.grid.x = k;
            assert_int_equal(mg__longest_is(l, &info, 1e-6), !again || k > 4096);
        }
    mg__longest_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_longest_of_a_shape), cmocka_unit_test(many_shapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
