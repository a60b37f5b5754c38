/* test_patient.c - when kernels are compiled: at once if MARGAY_ENGINE says jit, else those without loops only after so many
 * warps that it pays. */
#include "jit/jit.h"
#include "simt/kit.h"

#include <stdlib.h>

static const char plain[] = KERNEL("", "setp.eq.u32 %p1, %t, 7; @%p1 bra on; mul.wide.u32 %d1, %t, 4; add.u64 %d1, %a, %d1;\n"
                                       "st.global.u32 [%d1], %t; on:");
static const char loop[] = KERNEL("", "mov.u32 %r1, 0; again: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra again;");

static uint64_t compiled(struct kit *k)
{
    struct mg_jit_stats stats = {0};
    mg__jit_stats(k->engine, &stats);
    return stats.compiled;
}

static void launch(struct kit *k, uint64_t out, uint32_t blocks)
{
    struct kit_params params = {{out, out, out, 0}};
    struct mg_simt_launch l = {.grid = {blocks, 1, 1}, .block = {64, 1, 1}, .params = params.p};
    assert_int_equal(kit_launch_full(k, &l), MG_OK);
    for (uint32_t i = 0; i < 64 && out; i++)
        assert_int_equal(((uint32_t *)(uintptr_t)out)[i], i == 7 ? 0 : i);
}

static void first_launches(void **state)
{
    (void)state;
    struct kit k;
    unsetenv("MARGAY_ENGINE");
    kit_open(&k, 1, 60000, MG_OBSERVE_COUNTS, NULL);
    uint64_t out = kit_alloc(&k, 256);
    kit_load(&k, plain);
    launch(&k, out, 3);
    launch(&k, out, 8000);
    assert_int_equal(compiled(&k), 0);
    launch(&k, out, 200); /* 16,406 warps of 16,384 */
    assert_int_equal(compiled(&k), 1);
    launch(&k, out, 1);
    kit_load(&k, plain);
    launch(&k, out, 100000); /* at once: it is long enough by itself */
    assert_int_equal(compiled(&k), 2);
    kit_load(&k, loop);
    launch(&k, 0, 1); /* at once: it has a loop */
    assert_int_equal(compiled(&k), 3);
    kit_close(&k);
}

static void named(void **state)
{
    (void)state;
    struct kit k;
    setenv("MARGAY_ENGINE", "jit", 1);
    kit_open(&k, 1, 60000, MG_OBSERVE_COUNTS, NULL);
    uint64_t out = kit_alloc(&k, 256);
    kit_load(&k, plain);
    launch(&k, out, 1);
    assert_int_equal(compiled(&k), 1);
    kit_close(&k);
}

int main(void)
{
    if (!kit_compiles())
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_launches), cmocka_unit_test(named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
