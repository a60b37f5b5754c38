/* test_tiers.c - when kernels are compiled, and with what effort: at once if MARGAY_ENGINE says so, else when they have
 * run for as long as that takes, between blocks and within them; and that nobody can tell from results or counts.
 */
#include "jit/jit.h"
#include "simt/engine.h"
#include "simt/kit.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char plain[] =
    KERNEL("", "setp.eq.u32 %p1, %t, 7; @%p1 bra on; mul.wide.u32 %d1, %t, 4; add.u64 %d1, %a, %d1;\n"
               "st.global.u32 [%d1], %t; on:");
/* Each thread's sum over 60,000 rounds, in which odd lanes do more at times. */
static const char loop[] =
    KERNEL("", "mov.u32 %r1, 0; mov.u32 %r2, %gid;\n"
               "again: and.b32 %r3, %r1, 1023; setp.ne.u32 %p1, %r3, 5; @%p1 bra even;\n"
               "and.b32 %r4, %t, 1; setp.eq.u32 %p2, %r4, 0; @%p2 bra even; mul.lo.u32 %r2, %r2, 3;\n"
               "even: mad.lo.u32 %r2, %r2, 5, %r1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 60000; @%p1 bra again;\n"
               "mul.wide.u32 %d1, %gid, 4; add.u64 %d1, %a, %d1; st.global.u32 [%d1], %r2;");
/* The same number goes round the block through shared memory, with two barriers a round. */
static const char barriers[] = KERNEL(
    ".shared .align 4 .b8 s[1024];",
    "mov.u32 %r1, 0; mov.u32 %r2, %gid; shl.b32 %r5, %t, 2; mov.u32 %r6, s; add.u32 %r5, %r5, %r6;\n"
    "add.u32 %r7, %t, 1; rem.u32 %r7, %r7, %nt; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r6;\n"
    "again: st.shared.u32 [%r5], %r2; bar.sync 0; ld.shared.u32 %r3, [%r7]; mad.lo.u32 %r2, %r3, 5, %r1; bar.sync 0;\n"
    "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3000; @%p1 bra again;\n"
    "mul.wide.u32 %d1, %gid, 4; add.u64 %d1, %a, %d1; st.global.u32 [%d1], %r2;");

enum { BLOCK = 64, MOST = 8 * BLOCK };

static struct mg_jit_stats stats_of(const struct kit *k)
{
    struct mg_jit_stats stats = {0};
    mg__jit_stats(k->engine, &stats);
    return stats;
}

/* Thorough code is made by a thread of its own, which may still be at it. */
static void expect_compiled(const struct kit *k, unsigned quickly, unsigned thoroughly)
{
    struct mg_jit_stats stats = stats_of(k);
    for (unsigned ms = 0; ms < 30000 && stats.compiled[MG_ENGINE_THOROUGH] < thoroughly; ms++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        stats = stats_of(k);
    }
    assert_int_equal(stats.compiled[MG_ENGINE_QUICK], quickly);
    assert_int_equal(stats.compiled[MG_ENGINE_THOROUGH], thoroughly);
    assert_int_equal(stats.refused, 0);
}

static uint64_t open_limited(struct kit *k, const char *engine, unsigned threads, unsigned limit_ms)
{
    if (engine)
        setenv("MARGAY_ENGINE", engine, 1);
    else
        unsetenv("MARGAY_ENGINE");
    kit_open(k, threads, limit_ms, MG_OBSERVE_COUNTS | MG_OBSERVE_SHAPES, NULL);
    return kit_alloc(k, MOST * 4);
}

static uint64_t open_kit(struct kit *k, const char *engine, unsigned threads)
{
    return open_limited(k, engine, threads, 60000);
}

static void launch(struct kit *k, uint64_t out, uint32_t blocks)
{
    struct kit_params params = {{out, out, out, 0}};
    kit_expect(k, kit_launch(k, blocks, BLOCK, params));
}

static void check_plain(uint64_t out)
{
    for (uint32_t i = 0; i < BLOCK; i++)
        assert_int_equal(((uint32_t *)(uintptr_t)out)[i], i == 7 ? 0 : i);
}

static void by_launches(void **state)
{
    (void)state;
    struct kit k;
    uint64_t out = open_kit(&k, NULL, 1);
    kit_load(&k, plain);
    launch(&k, out, 3);
    launch(&k, out, 8000);
    expect_compiled(&k, 0, 0);
    launch(&k, out, 200); /* 16,406 warps of 16,384 */
    expect_compiled(&k, 1, 0);
    launch(&k, out, 130000); /* 276,406 of 262,144 */
    expect_compiled(&k, 1, 1);
    launch(&k, out, 1);
    kit_load(&k, plain);
    launch(&k, out, 140000); /* long enough by itself: begun with quick code */
    expect_compiled(&k, 2, 2);
    check_plain(out);
    kit_close(&k);
}

/* One block, or eight on several threads, must be taken over while they run; where `quick` is 0, by code that another
 * thread makes meanwhile. */
static void within(const char *ptx, uint64_t quick, uint64_t thorough, unsigned threads, uint32_t blocks)
{
    struct kit a, b;
    uint64_t want = open_kit(&a, "interp", 1), out = open_kit(&b, NULL, threads);
    b.engine->due[MG_ENGINE_QUICK] = quick;
    b.engine->due[MG_ENGINE_THOROUGH] = thorough;
    kit_load(&a, ptx);
    kit_load(&b, ptx);
    launch(&a, want, blocks);
    launch(&b, out, blocks);
    expect_compiled(&b, 1, 1);
    assert_memory_equal((void *)(uintptr_t)want, (void *)(uintptr_t)out, blocks * BLOCK * 4);
    assert_int_equal(a.sums.issued, b.sums.issued);
    assert_int_equal(a.sums.threads, b.sums.threads);
    assert_int_equal(a.sums.divergent, b.sums.divergent);
    assert_int_equal(a.sums.counts, b.sums.counts);
    assert_int_equal(a.sums.shapes, b.sums.shapes);
    kit_close(&a);
    kit_close(&b);
}

static void within_blocks(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        within(loop, 100000, 400000, threads, threads == 1 ? 1 : 8);
        within(barriers, 5000, 20000, threads, threads == 1 ? 1 : 8);
        within(loop, 0, 400000, threads, 8);
    }
}

static unsigned asked; /* of slow_compile */

static struct mg_engine_code *slow_compile(void *self, const struct mg_engine_program *program,
                                           enum mg_engine_effort effort, bool kept, const char **reason)
{
    (void)self, (void)program, (void)effort;
    *reason = "a test's engine has none";
    if (!kept) {
        asked++;
        nanosleep(&(struct timespec){.tv_nsec = 800000000}, NULL);
    }
    return NULL;
}

/* A launch's limit of 400 ms does not run while its code is made, for 800 ms. */
static void limit_waits(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct kit k;
        uint64_t out = open_limited(&k, NULL, threads, 400);
        k.engine->compile = slow_compile;
        k.engine->due[MG_ENGINE_QUICK] = 1;
        kit_load(&k, plain);
        asked = 0;
        launch(&k, out, 64);
        assert_int_equal(asked, 1);
        check_plain(out);
        kit_close(&k);
    }
}

static void named(void **state)
{
    (void)state;
    struct kit k;
    uint64_t out = open_kit(&k, "jit", 1);
    kit_load(&k, plain);
    launch(&k, out, 1);
    expect_compiled(&k, 0, 1);
    check_plain(out);
    kit_close(&k);
    out = open_kit(&k, "quick", 1);
    kit_load(&k, plain);
    launch(&k, out, 1);
    expect_compiled(&k, 1, 0);
    check_plain(out);
    kit_close(&k);
}

/* What an earlier run left is there from the first launch on, and still gets better. */
static void kept(void **state)
{
    (void)state;
    struct kit k;
    char folder[] = "/tmp/margay-tiers-XXXXXX", remove[64];
    assert_non_null(mkdtemp(folder));
    setenv("MARGAY_CACHE", folder, 1);
    for (unsigned run = 0; run < 3; run++) {
        uint64_t out = open_kit(&k, NULL, 1);
        kit_load(&k, plain);
        launch(&k, out, run == 0 ? 9000 : 1);
        expect_compiled(&k, run == 0, 0);
        assert_int_equal(stats_of(&k).loaded, run != 0);
        if (run == 1) {
            launch(&k, out, 140000);
            expect_compiled(&k, 0, 1);
        }
        check_plain(out);
        kit_close(&k);
    }
    setenv("MARGAY_CACHE", "off", 1);
    snprintf(remove, sizeof remove, "rm -rf %s", folder);
    assert_int_equal(system(remove), 0);
}

int main(void)
{
    if (!kit_compiles())
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_launches), cmocka_unit_test(within_blocks),
                                       cmocka_unit_test(limit_waits), cmocka_unit_test(named), cmocka_unit_test(kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
