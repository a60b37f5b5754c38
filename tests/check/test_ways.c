/* test_ways.c - random kernels, with races and without, are found to have the same mistakes whichever way they are
 * checked.
 *
 * The long way takes each lane of each access by itself, interpreted, on one worker (MG_CHECK_LONG). The others are the
 * short ones: whole warps, loads that compiled code notes, and those that it leaves out; interpreted and compiled, on
 * one worker and on several (unless blocks race, and what they read is chance). Kernels read and write shared memory
 * and two arrays, by words, halves and bytes, at places that are lanes' own, neighbours', one for all, far apart or
 * anywhere; some in a loop or behind a condition, with barriers or without. Compared is all that a finding says, of two
 * launches after one another.
 *
 * What such kernels would hardly meet is written out below (`written`), and there results are compared as well.
 *
 *     test_check_ways [FIRST [COUNT]]
 */
#include "check/check.h"
#include "simt/kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 96, GRID = 5, SHARED = 2048, ARRAY = BLOCK * GRID * 64, TEXT = 1 << 15 };

static uint64_t state;
static unsigned draw(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((state >> 33) % n);
}

struct text {
    char at[TEXT];
    size_t n;
};

#define PUT(t, ...) ((t)->n += (size_t)snprintf((t)->at + (t)->n, TEXT - (t)->n, __VA_ARGS__))

/* A place among `bytes`, a power of two, of elements of `width`: its byte, into %r2. */
static void place(struct text *t, unsigned bytes, unsigned width, const char *thread)
{
    const unsigned n = bytes / width;
    switch (draw(8)) {
    case 0: /* its own */
    case 1:
        PUT(t, "mov.u32 %%r2, %s;\n", thread);
        break;
    case 2: /* a neighbour's */
        PUT(t, "xor.b32 %%r2, %s, %u;\n", thread, 1u << draw(6));
        break;
    case 3:
        PUT(t, "add.u32 %%r2, %s, %u;\n", thread, draw(70));
        break;
    case 4: /* one for all, or for all of a warp */
        PUT(t, "shr.u32 %%r2, %s, 5; add.u32 %%r2, %%r2, %u;\n", thread, draw(n));
        break;
    case 5: /* columns */
        PUT(t, "mul.lo.u32 %%r2, %s, 33;\n", thread);
        break;
    case 6: /* rows of 16 lanes */
        PUT(t, "shr.u32 %%r2, %s, 4; shl.b32 %%r2, %%r2, 5; and.b32 %%r3, %s, 15; add.u32 %%r2, %%r2, %%r3;\n", thread,
            thread);
        break;
    default: /* anywhere */
        PUT(t, "mul.lo.u32 %%r2, %s, %u; xor.b32 %%r2, %%r2, %u; mul.lo.u32 %%r2, %%r2, %%r2; shr.u32 %%r2, %%r2, 3;\n",
            thread, 2 * draw(500) + 1, draw(1000));
        break;
    }
    PUT(t, "and.b32 %%r2, %%r2, %u; shl.b32 %%r2, %%r2, %u;\n", n - 1, (unsigned)__builtin_ctz(width));
}

static void step(struct text *t, unsigned line, bool narrow)
{
    const unsigned kind = draw(10), width = narrow ? 1u << draw(3) : 4u, bits = 8 * width;
    const char *to = draw(2) ? "%a" : "%b", *guard = draw(8) ? "" : "@%p2 ";
    PUT(t, ".loc 1 %u 1\n", line);
    if (kind < 6) {
        place(t, kind < 4 ? SHARED : 4096, width, kind < 4 || draw(4) == 0 ? "%t" : "%gid");
        if (kind < 4)
            PUT(t, "add.u32 %%r2, %%r2, %%r4;\n");
        else
            PUT(t, "cvt.u64.u32 %%d1, %%r2; add.u64 %%d1, %s, %%d1;\n", to);
        const char *space = kind < 4 ? "shared" : "global", *at = kind < 4 ? "%r2" : "%d1";
        if (kind % 2)
            PUT(t, "%sst.%s.u%u [%s], %%r1;\n", guard, space, bits, at);
        else
            PUT(t, "%sld.%s.u%u %%r5, [%s]; add.u32 %%r1, %%r1, %%r5;\n", guard, space, bits, at);
    } else if (kind == 6) { /* far apart, each its own */
        PUT(t, "mul.wide.u32 %%d1, %%gid, 64; add.u64 %%d1, %%d1, %u; add.u64 %%d1, %s, %%d1;\n", 4 * draw(16), to);
        PUT(t, "%s%s\n", guard,
            draw(2) ? "st.global.u32 [%d1], %r1;" : "ld.global.u32 %r5, [%d1]; add.u32 %r1, %r1, %r5;");
    } else if (kind == 7) {
        PUT(t, "bar.warp.sync 0xffffffff;\n");
    } else if (kind == 8) {
        PUT(t, "mov.u32 %%r1, %u;\n", draw(3)); /* the same in all lanes */
    } else {
        PUT(t, "bar.sync 0;\n");
    }
}

static void make(struct text *t)
{
    const unsigned steps = 4 + draw(16), loop = draw(steps), sure = draw(2), narrow = draw(3) == 0;
    t->n = 0;
    PUT(t, "%s.shared .align 16 .b8 s[%u];\n.file 1 \"k.cu\"\n", HEADER, SHARED);
    PUT(t, "%s", ENTRY);
    PUT(t, "mov.u32 %%r4, s; mov.u32 %%r1, %%gid; mov.u32 %%r20, 0; setp.lt.u32 %%p2, %%t, %u;\n", 1 + draw(BLOCK));
    if (draw(3)) { /* all of it is written */
        PUT(t, ".loc 1 1 1\nmov.u32 %%r6, %%t;\nF: shl.b32 %%r7, %%r6, 2; add.u32 %%r7, %%r7, %%r4;\n"
               "st.shared.u32 [%%r7], %%r6; add.u32 %%r6, %%r6, %u; setp.lt.u32 %%p3, %%r6, %u; @%%p3 bra F;\n"
               "bar.sync 0;\n",
            BLOCK, SHARED / 4);
    }
    for (unsigned k = 0; k < steps; k++) {
        if (k == loop)
            PUT(t, "L:\n");
        step(t, 10 + k, narrow);
        if (sure)
            PUT(t, "bar.sync 0;\n");
    }
    PUT(t, "add.u32 %%r20, %%r20, 1; setp.lt.u32 %%p1, %%r20, 4; @%%p1 bra L;\n");
    PUT(t, "ret;\n}\n");
    assert_true(t->n < TEXT);
}

/* ---- what is found ---- */
static void on_found(void *arg, const struct mg_report_finding *f)
{
    struct text *t = arg;
    PUT(t, "%s/%s %u %u %s %llu: %s\n", f->check, f->kind, f->line, f->other_line, f->variable ? f->variable : "",
        (unsigned long long)f->count, f->message);
}

static uint32_t results[2][ARRAY / 4]; /* of the last run: what the two arrays hold */

static void run(const char *ptx, const char *engine, unsigned threads, unsigned checks, unsigned filled,
                struct text *findings)
{
    struct kit k;
    struct mg_check *check;
    setenv("MARGAY_ENGINE", engine, 1);
    findings->n = 0;
    findings->at[0] = 0;
    kit_open(&k, threads, 60000, 0, NULL);
    assert_int_equal(mg__check_create(checks, on_found, findings, &check), MG_OK);
    const struct mg_observer observer = mg__check_observer(check);
    assert_int_equal(mg__simt_observe(k.simt, &observer), MG_OK);
    struct kit_params params = {{kit_alloc(&k, ARRAY), kit_alloc(&k, ARRAY)}};
    for (unsigned i = 0; i < 2; i++) {
        mg__check_allocated(check, params.p[i], ARRAY, MG_CHECK_DEVICE);
        if (filled >> i & 1)
            mg__check_filled(check, params.p[i], ARRAY);
    }
    kit_load(&k, ptx);
    for (unsigned i = 0; i < 2; i++)
        kit_expect(&k, kit_launch(&k, GRID, BLOCK, params));
    for (unsigned i = 0; i < 2; i++)
        memcpy(results[i], (const void *)(uintptr_t)params.p[i], ARRAY);
    kit_close(&k);
    mg__check_destroy(check);
}

static unsigned first = 1, count = 150, clean, wrong;

static const struct {
    const char *engine;
    unsigned threads, checks;
} ways[] = {{"interp", 1, 0}, {"jit", 1, 0}, {"quick", 1, 0}, {"jit", 3, 0}, {"jit", 1, MG_CHECK_LONG}};

static void same_findings(void **unused)
{
    static struct text program, expected, found;
    (void)unused;
    if (!kit_compiles())
        skip();
    for (unsigned k = first; k < first + count; k++) {
        state = k;
        make(&program);
        const unsigned filled = draw(4);
        run(program.at, "interp", 1, MG_CHECK_ALL | MG_CHECK_LONG, filled, &expected);
        *(expected.n ? &wrong : &clean) += 1;
        for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            if (ways[i].threads > 1 && strstr(expected.at, ", block (")) /* what they read of each other is chance */
                continue;
            run(program.at, ways[i].engine, ways[i].threads, MG_CHECK_ALL | ways[i].checks, filled, &found);
            if (strcmp(expected.at, found.at) != 0)
                fail_msg("program %u, %s, %u workers:\n%s\nthe long way finds\n%s\n%s", k, ways[i].engine,
                         ways[i].threads, found.at, expected.at, program.at);
        }
    }
    printf("%u kernels with findings, %u without\n", wrong, clean);
    assert_true(count < 100 || (wrong > count / 10 && clean > count / 10));
}

/* ---- written out ---- */
static const struct {
    const char *name, *body;
    unsigned findings;
} written[] = {
    /* Two loads by one register in a loop. All of `s` is written before a barrier, and its second half again behind it:
     * the first load is of words that are settled from the second time round on, the other one's never are. */
    {"a load that is noted, and one behind it that is told",
     "mov.u32 %r4, s; shl.b32 %r1, %t, 2; add.u32 %r4, %r4, %r1; mov.u32 %r5, 0;\n"
     "st.shared.u32 [%r4], 100; st.shared.u32 [%r4+384], 200; st.shared.u32 [%r4+768], 300;\n"
     "st.shared.u32 [%r4+1152], 400; bar.sync 0;\n"
     "st.shared.u32 [%r4+768], 500; st.shared.u32 [%r4+1152], 600;\n"
     "add.u32 %r2, %r4, 768; mov.u32 %r20, 0;\n"
     "L: ld.shared.u32 %r6, [%r2]; ld.shared.u32 %r7, [%r2+384];\n"
     "mad.lo.u32 %r5, %r5, 7, %r6; mad.lo.u32 %r5, %r5, 7, %r7;\n"
     "add.u32 %r20, %r20, 1; sub.u32 %r2, %r4, 0; add.u32 %r2, %r2, 384; setp.lt.u32 %p1, %r20, 3; @%p1 bra L;\n"
     "mul.wide.u32 %d1, %gid, 4; add.u64 %d1, %a, %d1; st.global.u32 [%d1], %r5;\n",
     0},
};

static void same_as_written(void **unused)
{
    static struct text program, expected, found;
    static uint32_t right[2][ARRAY / 4];
    (void)unused;
    if (!kit_compiles())
        skip();
    for (unsigned k = 0; k < sizeof(written) / sizeof(written[0]); k++) {
        program.n = 0;
        PUT(&program, "%s.shared .align 16 .b8 s[%u];\n.file 1 \"k.cu\"\n%s.loc 1 1 1\n%s\nret;\n}\n", HEADER, SHARED,
            ENTRY, written[k].body);
        run(program.at, "interp", 1, MG_CHECK_ALL | MG_CHECK_LONG, 3, &expected);
        memcpy(right, results, sizeof(right));
        unsigned n = 0;
        for (size_t i = 0; i < expected.n; i++)
            n += expected.at[i] == '\n';
        if (n != written[k].findings)
            fail_msg("%s: %u findings are expected, and these are made:\n%s", written[k].name, written[k].findings,
                     expected.at);
        for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            run(program.at, ways[i].engine, ways[i].threads, MG_CHECK_ALL | ways[i].checks, 3, &found);
            if (strcmp(expected.at, found.at) != 0)
                fail_msg("%s, %s, %u workers:\n%s\nthe long way finds\n%s", written[k].name, ways[i].engine,
                         ways[i].threads, found.at, expected.at);
            if (!n && memcmp(right, results, sizeof(right)) != 0)
                fail_msg("%s, %s, %u workers: other results", written[k].name, ways[i].engine, ways[i].threads);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_findings), cmocka_unit_test(same_as_written)};
    first = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : first;
    count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : count;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
