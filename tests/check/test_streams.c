/* test_streams.c - the program's threads call side by side: what one has under way when another makes the first stream.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check/check.h"

static unsigned found;

static void count(void *arg, const struct mg_report_finding *finding)
{
    (void)arg, (void)finding;
    found++;
}

/* A fill that began when there were no streams ends when there are some that matter. It is not known what it is ordered
 * with, so it leaves nothing behind; a fill in one of the streams and a copy in another, begun after, still race. */
static void streams_are_made_in_the_middle(void **unused)
{
    (void)unused;
    struct mg_check *c = NULL;
    found = 0;
    assert_int_equal(mg__check_create(MG_CHECK_RACE, count, NULL, &c), MG_OK);
    mg__check_allocated(c, 0x1000, 256, MG_CHECK_DEVICE);
    mg__check_begins(c, "cudaMemset", 0, false);
    mg__check_stream_made(c, 1, false);
    mg__check_stream_made(c, 2, false);
    mg__check_filled(c, 0x1000, 256);
    mg__check_ends(c);
    mg__check_begins(c, "cudaMemsetAsync", 1, false);
    mg__check_filled(c, 0x1000, 256);
    mg__check_ends(c);
    assert_int_equal(found, 0);
    mg__check_begins(c, "cudaMemcpyAsync", 2, false);
    mg__check_copied(c, 0x9000, 0x1000, 256);
    mg__check_ends(c);
    assert_int_equal(found, 1);
    mg__check_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(streams_are_made_in_the_middle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
