/* test_unheard.c - loads of which an observer says that it need not hear, on a line, anywhere, and of some of the
 * lanes: neither engine tells of them; those that reach beyond what was said are told, and it is forgotten with the
 * launch. Where it was said of a worker that follows no warp, they are told from the first one on that is followed.
 * Results are the same.
 */
#include "simt/kit.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64, GRID = 4, THREADS = BLOCK * GRID, LOADS = 6 };

/* a[i] = b[i] + 3 c[0] + e[i], of 32, 64 twice over and 8 bits; and b[37 i % 256], and where i % 3 is not 0 b[i] more.
 */
static const char ptx[] = KERNEL("", "mul.wide.u32 %d1, %gid, 4; add.u64 %d2, %b, %d1; ld.global.u32 %r1, [%d2];\n"
                                     "ld.global.v2.u32 {%r2, %r3}, [%c]; mad.lo.u32 %r1, %r2, 3, %r1;\n"
                                     "cvt.u64.u32 %d3, %gid; add.u64 %d4, %e, %d3; ld.global.u8 %r4, [%d4];\n"
                                     "add.u32 %r1, %r1, %r4; shl.b64 %d5, %d3, 3; add.u64 %d6, %c, %d5;\n"
                                     "ld.global.u64 %d7, [%d6]; cvt.u32.u64 %r5, %d7; xor.b32 %r1, %r1, %r5;\n"
                                     "mul.lo.u32 %r6, %gid, 37; and.b32 %r6, %r6, 255; mul.wide.u32 %d9, %r6, 4;\n"
                                     "add.u64 %d9, %b, %d9; ld.global.u32 %r7, [%d9]; add.u32 %r1, %r1, %r7;\n"
                                     "rem.u32 %r8, %gid, 3; setp.eq.u32 %p1, %r8, 0; @%p1 bra X;\n"
                                     "ld.global.u32 %r9, [%d2]; add.u32 %r1, %r1, %r9;\nX:\n"
                                     "add.u64 %d8, %a, %d1; st.global.u32 [%d8], %r1;");

static struct {
    struct mg_unheard say[LOADS]; /* by load, in the order of the text */
    uint32_t insn[LOADS];
    unsigned heard[LOADS], stores;
    bool other; /* an access of no such load, nor the store */
    bool follow; /* the warp, from its store on */
} seen;

static enum mg_status begin(void *self, const struct mg_launch_info *info, unsigned workers, void **state)
{
    unsigned n = 0;
    (void)workers;
    *state = self;
    memset(seen.heard, 0, sizeof seen.heard);
    seen.stores = 0;
    assert_non_null(info->unheard);
    for (uint32_t k = 0; k < info->ninsns; k++) {
        assert_int_equal(info->unheard[k].size, 0);
        if (strncmp(info->insns[k].insn->text, "ld.global", 9) != 0)
            continue;
        assert_true(n < LOADS);
        info->unheard[k] = seen.say[n];
        seen.insn[n++] = k;
    }
    assert_int_equal(n, LOADS);
    return MG_OK;
}

static void *worker(void *state, unsigned index)
{
    (void)index;
    return state;
}

static void on_access(void *state, struct mg_access *a)
{
    (void)state;
    unsigned n = 0;
    while (n < LOADS && seen.insn[n] != a->insn)
        n++;
    if (n < LOADS)
        seen.heard[n]++;
    else if (a->kind == MG_ACCESS_ST)
        seen.stores++;
    else
        seen.other = true;
    if (a->kind == MG_ACCESS_ST && seen.follow)
        *a->follow = true;
}

static bool on_step(void *state, const struct mg_step *step)
{
    (void)state;
    (void)step;
    return false;
}

static void launch(struct kit *k, const uint64_t at[4], const unsigned heard[LOADS])
{
    const struct kit_params params = {{at[0], at[1], at[2], at[3]}};
    memset((void *)(uintptr_t)at[0], 0, THREADS * 4);
    kit_expect(k, kit_launch(k, GRID, BLOCK, params));
    for (uint32_t i = 0; i < THREADS; i++) {
        const uint32_t *b = (const uint32_t *)(uintptr_t)at[1], *c = (const uint32_t *)(uintptr_t)at[2];
        const uint8_t *e = (const uint8_t *)(uintptr_t)at[3];
        const uint32_t more = b[37 * i % 256] + (i % 3 ? b[i] : 0);
        assert_int_equal(((const uint32_t *)(uintptr_t)at[0])[i], ((b[i] + 3 * c[0] + e[i]) ^ c[2 * i]) + more);
    }
    for (unsigned n = 0; n < LOADS; n++)
        assert_int_equal(seen.heard[n], heard[n]);
    assert_int_equal(seen.stores, THREADS / 32);
    assert_false(seen.other);
}

static void told_as_said(const char *engine)
{
    const struct mg_observer observer = {
        .self = &seen, .wants = MG_OBSERVE_EVERY | MG_OBSERVE_STEPS, .launch_begin = begin, .worker_begin = worker,
        .access = on_access, .step = on_step};
    const unsigned all = THREADS / 32, none = 0, half = all / 2;
    struct kit k;
    setenv("MARGAY_ENGINE", engine, 1);
    kit_open(&k, 1, 60000, 0, NULL);
    assert_int_equal(mg__simt_observe(k.simt, &observer), MG_OK);
    const uint64_t at[4] = {kit_alloc(&k, THREADS * 4), kit_alloc(&k, THREADS * 4), kit_alloc(&k, THREADS * 8),
                            kit_alloc(&k, THREADS)};
    for (uint32_t i = 0; i < THREADS; i++) {
        ((uint32_t *)(uintptr_t)at[1])[i] = 7 * i + 1;
        ((uint64_t *)(uintptr_t)at[2])[i] = 1000003ull * i + 5;
        ((uint8_t *)(uintptr_t)at[3])[i] = (uint8_t)(i * i);
    }
    const struct mg_unheard b = {.address = at[1], .size = THREADS * 4}, c = {.address = at[2], .size = THREADS * 8},
                            e = {.address = at[3], .size = THREADS};
    kit_load(&k, ptx);
    struct mg_unheard whole[LOADS] = {b, c, e, c, b, b}, halves[LOADS] = {b, c, e, c, b, b};
    halves[0].size /= 2;
    halves[1].size = 8;
    halves[2].size /= 2;
    halves[2].address += halves[2].size;
    halves[3].size /= 2;
    halves[4].size /= 2;
    halves[5].size /= 2;
    memcpy(seen.say, whole, sizeof whole);
    launch(&k, at, (unsigned[]){none, none, none, none, none, none});
    memcpy(seen.say, halves, sizeof halves);
    launch(&k, at, (unsigned[]){half, none, half, half, all, half});
    memset(seen.say, 0, sizeof seen.say); /* nothing of it is left */
    launch(&k, at, (unsigned[]){all, all, all, all, all, all});
    memcpy(seen.say, whole, sizeof whole);
    launch(&k, at, (unsigned[]){none, none, none, none, none, none});
    for (unsigned n = 0; n < LOADS; n++)
        seen.say[n].unfollowed = n % 2;
    launch(&k, at, (unsigned[]){none, none, none, none, none, none});
    seen.follow = true;
    launch(&k, at, (unsigned[]){none, all - 1, none, all - 1, none, all - 1});
    seen.follow = false;
    launch(&k, at, (unsigned[]){none, none, none, none, none, none});
    kit_close(&k);
}

static void interpreted(void **state)
{
    (void)state;
    told_as_said("interp");
}

static void compiled(void **state)
{
    (void)state;
    if (!kit_compiles())
        skip();
    told_as_said("jit");
    told_as_said("quick");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(interpreted), cmocka_unit_test(compiled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
