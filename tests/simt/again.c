/* again.c - launches of a kernel that has been launched before: they begin with what the one before left (keep.c), and
 * nobody can tell.
 *
 * What a launch sums up must be what the first launch of a new device sums up: the same kernel, with launches of other
 * blocks, other grids and other memory in between.
 */
#include "kit.h"

#define BYTES 65536u

/* Shared memory by columns, an access of several shapes, lanes that part, registers that nobody has set, a loop whose
 * length is a parameter. */
static const char mixed[] =
    KERNEL(".shared .align 4 .b8 tile[4352];\n",
           "mul.wide.u32 %d1, %gid, 4; add.s64 %d2, %a, %d1; ld.global.u32 %r1, [%d2];\n"
           "mov.u32 %r2, tile; and.b32 %r3, %t, 31; mul.lo.u32 %r4, %r3, 136; add.u32 %r5, %r2, %r4;\n"
           "st.shared.u32 [%r5], %r1; bar.sync 0; shl.b32 %r6, %r3, 2; add.u32 %r7, %r2, %r6;\n"
           "ld.shared.u32 %r8, [%r7]; and.b32 %r9, %r1, 1; setp.eq.u32 %p1, %r9, 0; @%p1 bra even;\n"
           "and.b32 %r10, %r1, 0xffc; cvt.u64.u32 %d3, %r10; add.s64 %d4, %a, %d3; ld.global.u32 %r8, [%d4];\n"
           "even: cvt.u32.u64 %r11, %c; mov.u32 %r12, 0;\n"
           "more: add.u32 %r8, %r8, %r12; add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, %r11; @%p2 bra more;\n"
           "add.u32 %r8, %r8, %r40; mov.u32 %r40, 77;\n" /* %r40: as a new register is, 0 in the first block */
           "add.s64 %d5, %b, %d1; st.global.u32 [%d5], %r8;");

static uint64_t fill(struct kit *k)
{
    uint64_t in = kit_alloc(k, BYTES);
    for (uint32_t i = 0, x = 7; i < BYTES / 4; i++)
        ((uint32_t *)(uintptr_t)in)[i] = x = x * 1664525u + 1013904223u;
    return in;
}

static const struct {
    uint32_t grid, block;
    uint64_t loops;
} launches[] = {{1, 64, 3}, {1, 64, 3}, {1, 64, 9},   {6, 64, 3}, {1, 48, 3},
                {1, 64, 3}, {6, 64, 4}, {200, 64, 3}, {1, 1, 1}};

static void like_the_first(unsigned threads, unsigned wants)
{
    struct kit old;
    kit_open(&old, threads, 60000, wants, NULL);
    kit_load(&old, mixed);
    uint64_t in = fill(&old), out = kit_alloc(&old, BYTES);
    for (size_t i = 0; i < MG_COUNT(launches); i++) {
        struct kit new;
        uint32_t grid = launches[i].grid, block = launches[i].block;
        kit_open(&new, threads, 60000, wants, NULL);
        kit_load(&new, mixed);
        uint64_t fresh_in = fill(&new), fresh = kit_alloc(&new, BYTES);
        if (i % 3 == 2) /* its memory moves */
            in = fill(&old);
        memset((void *)(uintptr_t)out, 0, BYTES);
        kit_expect(&old, kit_launch(&old, grid, block, (struct kit_params){{in, out, launches[i].loops, 0}}));
        kit_expect(&new, kit_launch(&new, grid, block, (struct kit_params){{fresh_in, fresh, launches[i].loops, 0}}));
        size_t compared = grid == 1 ? BYTES : 0; /* of later blocks the unset register is whatever was there */
        assert_memory_equal((void *)(uintptr_t)out, (void *)(uintptr_t)fresh, compared);
        assert_int_equal(old.sums.counts, new.sums.counts);
        assert_int_equal(old.sums.issued, new.sums.issued);
        assert_int_equal(old.sums.divergent, new.sums.divergent);
        assert_int_equal(old.sums.requests, new.sums.requests);
        assert_int_equal(old.sums.lanes, new.sums.lanes);
        assert_int_equal(old.sums.sectors, new.sums.sectors);
        assert_int_equal(old.sums.wavefronts, new.sums.wavefronts);
        assert_int_equal(old.sums.shapes, new.sums.shapes);
        kit_close(&new);
    }
    kit_close(&old);
}

static void test_like_the_first(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        like_the_first(threads, MG_OBSERVE_SHAPES | MG_OBSERVE_COUNTS);
        like_the_first(threads, MG_OBSERVE_EVERY | MG_OBSERVE_COUNTS);
    }
}

/* Memory that was in bounds is so no longer when it is given back. */
static void test_freed(void **state)
{
    (void)state;
    struct kit k;
    kit_open(&k, 2, 60000, MG_OBSERVE_SHAPES | MG_OBSERVE_COUNTS, NULL);
    kit_load(&k, mixed);
    uint64_t in = fill(&k), out = kit_alloc(&k, BYTES);
    struct kit_params params = {{in, out, 3, 0}};
    for (int i = 0; i < 3; i++) {
        kit_expect(&k, kit_launch(&k, 4, 64, params));
    }
    assert_int_equal(mg__mem_free(k.simt, in), MG_OK);
    assert_int_equal(kit_launch(&k, 4, 64, params), MG_ERR_ADDRESS);
    params.p[0] = fill(&k);
    kit_expect(&k, kit_launch(&k, 4, 64, params));
    struct kit_sums good = k.sums;
    kit_expect(&k, kit_launch(&k, 4, 64, params));
    assert_int_equal(k.sums.shapes, good.shapes);
    assert_int_equal(k.sums.counts, good.counts);
    kit_close(&k);
}

/* A kernel of the same name in a module that is loaded in place of the last one. */
static void test_unloaded(void **state)
{
    (void)state;
    static const char plain[] = KERNEL("", "add.u32 %r1, %t, 100; mul.wide.u32 %d1, %t, 4;\n"
                                           "add.s64 %d2, %a, %d1; st.global.u32 [%d2], %r1;");
    struct kit k;
    kit_open(&k, 2, 60000, MG_OBSERVE_SHAPES, NULL);
    uint64_t out = kit_alloc(&k, 4096);
    for (uint32_t round = 0; round < 4; round++) {
        char ptx[sizeof plain];
        memcpy(ptx, plain, sizeof plain);
        strstr(ptx, "100;")[2] = (char)('0' + round);
        kit_load(&k, round % 2 ? ptx : mixed);
        for (int i = 0; i < 2 && round % 2; i++) {
            kit_expect(&k, kit_launch(&k, 1, 32, (struct kit_params){{out, 0, 0, 0}}));
            assert_int_equal(((uint32_t *)(uintptr_t)out)[5], 105 + round);
        }
    }
    kit_close(&k);
}

int kit_run_again(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_the_first),
        cmocka_unit_test(test_freed),
        cmocka_unit_test(test_unloaded),
    };
    return cmocka_run_group_tests_name("again", tests, NULL, NULL);
}
