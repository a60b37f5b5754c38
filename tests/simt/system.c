/* system.c - what kernels call: printf, assert, malloc and free; and how they call:
 * recursion, function tables, alloca. */
#include "kit.h"

static struct kit kit;
static uint64_t memory;

static int open_kit(void **state)
{
    (void)state;
    kit_open(&kit, 3, 10000, 0, NULL);
    memory = kit_alloc(&kit, 65536);
    return 0;
}

static int close_kit(void **state)
{
    (void)state;
    kit_close(&kit);
    return 0;
}

static enum mg_status run(const char *ptx, uint32_t grid, uint32_t block)
{
    kit_load(&kit, ptx);
    memset((void *)(uintptr_t)memory, 0, 65536);
    return kit_launch(&kit, grid, block, (struct kit_params){{memory, memory + 4096, memory + 8192, grid}});
}
static const uint32_t *words(void)
{
    return (const uint32_t *)(uintptr_t)memory;
}

/* One printf by each thread: the format and a string as variables, and the arguments as bytes stored to the stack. */
#define PRINTF ".extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);\n"
#define PRINT                                                                                                          \
    "mov.u64 %d30, format; cvta.global.u64 %d30, %d30; cvta.local.u64 %d31, %d29;\n"                                   \
    "{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], %d30; st.param.b64 [y], %d31;\n"                 \
    "call.uni (z), vprintf, (x, y); ld.param.b32 %r50, [z]; }\n"
#define STACK ".local .align 16 .b8 stack[128]; mov.u64 %d29, stack;\n"

static char *global_string(const char *name, const char *text)
{
    struct mg_strbuf t = {0};
    mg__strbuf_printf(&t, ".global .align 1 .b8 %s[%zu] = {", name, strlen(text) + 1);
    for (size_t i = 0; i <= strlen(text); i++)
        mg__strbuf_printf(&t, "%s%u", i ? ", " : "", (unsigned char)text[i]);
    mg__strbuf_printf(&t, "};\n");
    return t.at;
}

static enum mg_status print(const char *format, const char *body, uint32_t grid, uint32_t block)
{
    struct mg_strbuf t = {0};
    char *f = global_string("format", format), *word = global_string("word", "wörd"),
         *empty = global_string("none", "");
    mg__strbuf_printf(&t, "%s%s%s%s%s%s%s%s%s", HEADER PRINTF, f, word, empty, ENTRY, STACK, body,
                      PRINT "mul.wide.u32 %d32, %gid, 4; add.u64 %d32, %d32, %a; st.global.u32 [%d32], %r50;\n",
                      "ret;\n}\n");
    enum mg_status status = run(t.at, grid, block);
    free(f);
    free(word);
    free(empty);
    mg__strbuf_free(&t);
    return status;
}

static void printf_formats(void **state)
{
    (void)state;
#define D(at, bits) "mov.u64 %d1, " bits "; st.local.u64 [%d29+" at "], %d1;"
#define W(at, bits) "mov.u32 %r1, " bits "; st.local.u32 [%d29+" at "], %r1;"
#define S(at, name) "mov.u64 %d1, " name "; cvta.global.u64 %d1, %d1; st.local.u64 [%d29+" at "], %d1;"
    static const struct {
        const char *format, *body, *expected;
    } rows[] = {
        {"plain\n", "", "plain\n"},
        {"100%%|%d|%i|%u\n", W("0", "-5") W("4", "7") W("8", "0xffffffff"), "100%|-5|7|4294967295\n"},
        {"%x %X %o %#x %08x\n", W("0", "0xbeef") W("4", "0xbeef") W("8", "8") W("12", "255") W("16", "0xabc"),
         "beef BEEF 10 0xff 00000abc\n"},
        {"%5d|%-5d|%+d|% d|%05d|%.3d\n",
         W("0", "42") W("4", "42") W("8", "42") W("12", "42") W("16", "42") W("20", "42"),
         "   42|42   |+42| 42|00042|042\n"},
        {"%lld %llu %llx %ld %zu\n",
         D("0", "-1234567890123") D("8", "0xffffffffffffffff") D("16", "0x123456789abcdef") D("24", "-2") D("32", "77"),
         "-1234567890123 18446744073709551615 123456789abcdef -2 77\n"},
        {"%d %lld %c\n", W("0", "1") D("8", "2") W("16", "65"), "1 2 A\n"},
        {"%f %5.2f %e %g %G %.0f\n",
         D("0", "0x3ff8000000000000") D("8", "0x400921fb54442d18") D("16", "0x40c81c8000000000")
             D("24", "0x3f1a36e2eb1c432d") D("32", "0x7ff0000000000000") D("40", "0x4004000000000000"),
         "1.500000  3.14 1.234500e+04 0.0001 INF 2\n"},
        {"%s|%c|%10s|%-6s|%.2s|%s|\n",
         S("0", "word") W("8", "33") S("16", "word") S("24", "word") S("32", "word") S("40", "none"),
         "wörd|!|     wörd|wörd |w\xc3||\n"},
        {"%p %*d %.*f\n", D("0", "0xdeadbeef") W("8", "6") W("12", "9") W("16", "1") D("24", "0x3ff4000000000000"),
         "0xdeadbeef      9 1.2\n"},
        {"%a %hd %hhd\n", D("0", "0x3ff0000000000000") W("8", "12") W("12", "13"), "0x1p+0 12 13\n"},
    };
    unsigned wrong = 0;
    for (size_t i = 0; i < MG_COUNT(rows); i++) {
        kit_expect(&kit, print(rows[i].format, rows[i].body, 1, 1));
        if (!kit.printed || strcmp(kit.printed, rows[i].expected) != 0) {
            print_error("%s gives %s, not %s", rows[i].format, kit.printed ? kit.printed : "nothing", rows[i].expected);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
    /* A line by each of the active lanes, in the order of blocks, however many workers there are. */
    kit_expect(&kit,
               print("%d.%d;",
                     "and.b32 %r3, %t, 7; setp.ne.u32 %p0, %r3, 2; @%p0 ret; st.local.v2.u32 [%d29], {%bid, %t};\n", 20,
                     20));
    struct mg_strbuf all = {0};
    for (unsigned b = 0; b < 20; b++)
        for (unsigned t = 2; t < 20; t += 8)
            mg__strbuf_printf(&all, "%u.%u;", b, t);
    assert_string_equal(kit.printed, all.at);
    mg__strbuf_free(&all);
    /* Arguments and strings that cannot be read end the launch. */
    assert_int_equal(print("%s\n", D("0", "0x10"), 1, 1), MG_ERR_ADDRESS);
    assert_non_null(strstr(kit.diag.message, "block 0,0,0, thread 0,0,0"));
    assert_int_equal(print("%d\n", "add.u64 %d29, %d29, 0x100000;", 1, 1), MG_ERR_ADDRESS);
    /* A format that ends in the middle of a conversion, or has none that is known, is shown as it is. */
    kit_expect(&kit, print("a%", "", 1, 1));
    assert_string_equal(kit.printed, "a%");
    kit_expect(&kit, print("%y", "", 1, 1));
    assert_string_equal(kit.printed, "%y");
}

/* What printf returns: how many arguments the format took; -1 for none. */
static void printf_counts(void **state)
{
    (void)state;
    static const struct {
        const char *format, *body;
        uint32_t count;
    } rows[] = {{"text\n", "", 0},
                {"100%%\n", "", 0},
                {"%d %d\n", W("0", "1") W("4", "2"), 2},
                {"%*d %.*f %s %c\n",
                 W("0", "6") W("4", "9") W("8", "1") D("16", "0x3ff4000000000000") S("24", "word") W("32", "65"), 6},
                {"%y %d\n", W("0", "1"), 1}};
    for (size_t i = 0; i < MG_COUNT(rows); i++) {
        kit_expect(&kit, print(rows[i].format, rows[i].body, 2, 3));
        for (unsigned k = 0; k < 6; k++)
            assert_int_equal(words()[k], rows[i].count);
    }
    kit_expect(&kit, run(KERNEL(PRINTF, STACK "{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], 0;\n"
                                              "st.param.b64 [y], %d29; call.uni (z), vprintf, (x, y);\n"
                                              "ld.param.b32 %r50, [z]; }\nst.global.u32 [%a], %r50;"),
                         1, 1));
    assert_int_equal(words()[0], 0xffffffff);
}

/* %globaltimer counts nanoseconds since 1970, whole and in halves. */
static void timer(void **state)
{
    (void)state;
    uint64_t before = mg__clock_ns();
    kit_expect(&kit, run(KERNEL("", "mov.u64 %d0, %globaltimer; st.global.u64 [%a], %d0;\n"
                                    "mov.u32 %r0, %globaltimer_lo; mov.u32 %r1, %globaltimer_hi;\n"
                                    "st.global.v2.u32 [%a+8], {%r0, %r1};"),
                         1, 1));
    uint64_t now = mg__clock_ns(), whole, halves;
    memcpy(&whole, words(), 8);
    memcpy(&halves, words() + 2, 8);
    assert_in_range(whole, before, now);
    assert_true(halves >> 32 == whole >> 32 || (halves >> 32) - (whole >> 32) == 1);
    assert_true(now > 1700000000ull * 1000000000ull); /* 2023 */
}

static void asserts(void **state)
{
    (void)state;
    char *text = global_string("text", "x > 0"), *file = global_string("file", "a.cu"),
         *name = global_string("name", "void k()");
    struct mg_strbuf t = {0};
    mg__strbuf_printf(
        &t, "%s%s%s%s%s%s%s",
        HEADER
        ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);\n",
        text, file, name, ENTRY,
        "setp.ne.u32 %p0, %gid, 50; @%p0 bra FINE;\nmov.u64 %d0, text; cvta.global.u64 %d0, %d0;\n"
        "mov.u64 %d1, file; cvta.global.u64 %d1, %d1; mov.u64 %d2, name; cvta.global.u64 %d2, %d2;\n"
        "{ .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c; st.param.b64 [m], %d0;\n"
        "st.param.b64 [f], %d1; st.param.b32 [l], 123; st.param.b64 [n], %d2; st.param.b64 [c], 1;\n"
        "call.uni __assertfail, (m, f, l, n, c); }\n",
        "FINE: st.global.u32 [%a], 1;\nret;\n}\n");
    assert_int_equal(run(t.at, 2, 32), MG_ERR_ASSERT);
    assert_non_null(strstr(kit.diag.message, "assertion `x > 0' failed at a.cu:123 in void k()"));
    assert_non_null(strstr(kit.diag.message, "block 1,0,0, thread 18,0,0"));
    kit_expect(&kit, run(t.at, 1, 32));
    mg__strbuf_free(&t);
    free(text);
    free(file);
    free(name);
}

static void heap(void **state)
{
    (void)state;
#define HEAP                                                                                                           \
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
#define MALLOC \
    "{ .param .b64 n; .param .b64 p; st.param.b64 [n], %d1; call.uni (p), malloc, (n); ld.param.b64 %d2, [p]; }\n"
#define FREE "{ .param .b64 p; st.param.b64 [p], %d2; call.uni free, (p); }\n"
    /* Each thread has its own piece; all are given back, so that a hundred launches find room. */
    for (unsigned round = 0; round < 20; round++) {
        kit_expect(
            &kit,
            run(KERNEL(HEAP,
                       "mov.u64 %d1, 4096; setp.eq.u32 %p0, %lane, 3; @%p0 mov.u64 %d1, 100;\n" MALLOC
                       "setp.eq.u64 %p1, %d2, 0; @%p1 trap; st.u32 [%d2], %gid; st.u32 [%d2+96], %t; bar.sync 0;\n"
                       "ld.u32 %r0, [%d2]; mul.wide.u32 %d3, %gid, 4; add.u64 %d3, %d3, %b; st.global.u32 [%d3], "
                       "%r0;\n" FREE),
                5, 96));
        for (unsigned k = 0; k < 480; k++)
            assert_int_equal(words()[1024 + k], k);
    }
    /* Too much gives null; free of null does nothing. */
    kit_expect(&kit, run(KERNEL(HEAP, "mov.u64 %d1, 0x40000000;\n" MALLOC "st.global.u64 [%a], %d2;\n" FREE
                                "mov.u64 %d1, -1;\n" MALLOC "st.global.u64 [%a+8], %d2;"),
                         1, 1));
    assert_int_equal(words()[0] | words()[1] | words()[2] | words()[3], 0);
    /* Memory that leaks is kept: a later launch finds what an earlier one left. */
    kit_expect(&kit, run(KERNEL(HEAP ".global .align 8 .u64 kept;\n",
                                "mov.u64 %d1, 64;\n" MALLOC "st.u32 [%d2], 4711; st.global.u64 [kept], %d2;"),
                         1, 1));
    uint64_t address, size;
    assert_true(mg__simt_module_symbol(kit.module, "kept", &address, &size));
    assert_int_equal(size, 8);
    assert_int_equal(**(uint32_t **)(uintptr_t)address, 4711);
}

/* Where the pieces lie, and so what accesses to them cost, is the same for any number of workers and each engine. */
static void heap_addresses(void **state)
{
    (void)state;
    static const char ptx[] =
        KERNEL(HEAP, "and.b32 %r0, %gid, 7; mad.lo.u32 %r0, %r0, 24, 16; cvt.u64.u32 %d1, %r0; mov.u32 %r1, 0;\n"
                     "L:" MALLOC "st.u32 [%d2], %gid; st.u32 [%d2+8], %t; ld.u32 %r2, [%d2];\n"
                     "mad.lo.u32 %r3, %gid, 3, %r1; mul.wide.u32 %d3, %r3, 8; add.u64 %d3, %d3, %a;\n"
                     "st.global.u64 [%d3], %d2; and.b32 %r4, %gid, %r1; setp.eq.u32 %p1, %r4, 1; @%p1 bra NEXT;\n" FREE
                     "NEXT: add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 3; @%p0 bra L;");
    enum { BLOCKS = 40, THREADS = 96, PIECES = BLOCKS * THREADS * 3 };
    static uint64_t first[PIECES];
    struct kit_sums sums = {0};
    for (unsigned threads = 1; threads <= 7; threads += threads == 3 ? 4 : 1) {
        struct kit k;
        kit_open(&k, threads, 30000, MG_OBSERVE_SHAPES | MG_OBSERVE_COUNTS, NULL);
        uint64_t at = kit_alloc(&k, PIECES * 8);
        kit_load(&k, ptx);
        kit_expect(&k, kit_launch(&k, BLOCKS, THREADS, (struct kit_params){{at, 0, 0, 0}}));
        const uint64_t *pieces = (const uint64_t *)(uintptr_t)at;
        for (size_t i = 0; i < PIECES; i++) {
            assert_true(pieces[i] != 0);
            if (threads == 1)
                first[i] = pieces[i] - pieces[0];
            assert_int_equal(pieces[i] - pieces[0], first[i]);
        }
        if (threads == 1)
            sums = k.sums;
        assert_int_equal(k.sums.sectors, sums.sectors);
        assert_int_equal(k.sums.shapes, sums.shapes);
        assert_int_equal(k.sums.counts, sums.counts);
        kit_close(&k);
    }
}

/* The limits: a heap of another size, and a stack that is larger. */
static void limits(void **state)
{
    (void)state;
    struct kit k;
    kit_open(&k, 3, 30000, 0, NULL);
    uint64_t at = kit_alloc(&k, 4096);
    static const char deep[] = KERNEL(
        ".func (.param .b32 r) down(.param .b32 x)\n{\n.reg .b32 %q<4>; .reg .pred %z; .local .align 8 .b8 own[64];\n"
        "ld.param.u32 %q0, [x]; st.local.u32 [own], %q0; mov.u32 %q1, 0; setp.eq.u32 %z, %q0, 0; @%z bra END;\n"
        "sub.u32 %q2, %q0, 1; { .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %q2; call (r0), down, (a0);\n"
        "ld.param.b32 %q1, [r0]; }\nld.local.u32 %q3, [own]; add.u32 %q1, %q1, %q3;\nEND: st.param.b32 [r], %q1;\n"
        "ret;\n}\n",
        "cvt.u32.u64 %r0, %e; { .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %r0; call (r0), down, (a0);\n"
        "ld.param.b32 %r1, [r0]; }\nst.global.u32 [%a], %r1;");
    /* frames of 64 bytes and what is saved: at most 96 */
    kit_load(&k, deep);
    kit_expect(&k, kit_launch(&k, 1, 32, (struct kit_params){{at, 0, 0, 9}}));
    assert_int_equal(*(uint32_t *)(uintptr_t)at, 45);
    assert_int_equal(kit_launch(&k, 1, 32, (struct kit_params){{at, 0, 0, 16}}), MG_ERR_ADDRESS);
    assert_non_null(strstr(k.diag.message, "it has 1024 bytes"));
    mg__simt_set_stack(k.simt, 100000);
    kit_expect(&k, kit_launch(&k, 1, 32, (struct kit_params){{at, 0, 0, 1000}}));
    assert_int_equal(*(uint32_t *)(uintptr_t)at, 500500);
    assert_int_equal(kit_launch(&k, 1, 32, (struct kit_params){{at, 0, 0, 2000}}), MG_ERR_ADDRESS);
    static const char large[] = KERNEL(HEAP, "mov.u64 %d1, %e;\n" MALLOC "st.global.u64 [%a], %d2;\n" FREE);
    kit_load(&k, large); /* the module's heap is made, and made again */
    assert_int_equal(mg__simt_set_heap(k.simt, 32 << 20), MG_OK);
    kit_expect(&k, kit_launch(&k, 1, 1, (struct kit_params){{at, 0, 0, 20 << 20}}));
    assert_true(*(uint64_t *)(uintptr_t)at != 0);
    kit_expect(&k, kit_launch(&k, 1, 1, (struct kit_params){{at, 0, 0, 33 << 20}}));
    assert_true(*(uint64_t *)(uintptr_t)at == 0);
    assert_int_equal(mg__simt_set_heap(k.simt, 64 << 20), MG_ERR_INVALID);
    kit_close(&k);
}

static void calls(void **state)
{
    (void)state;
    /* Recursion whose depth differs from lane to lane, with a local array a frame. */
    kit_expect(
        &kit,
        run(KERNEL(
                ".func (.param .b32 r) fib(.param .b32 x)\n{\n.reg .b32 %q<8>; .reg .pred %z; .local .align 4 .b8 "
                "own[8];\n"
                "ld.param.u32 %q0, [x]; mov.u32 %q1, %q0; setp.lt.u32 %z, %q0, 2; @%z bra END; st.local.u32 [own], "
                "%q0;\n"
                "sub.u32 %q2, %q0, 1; { .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %q2; call (r0), fib, (a0);\n"
                "ld.param.b32 %q3, [r0]; }\nst.local.u32 [own+4], %q3; ld.local.u32 %q4, [own]; sub.u32 %q4, %q4, 2;\n"
                "{ .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %q4; call (r0), fib, (a0); ld.param.b32 %q5, "
                "[r0]; }\n"
                "ld.local.u32 %q6, [own+4]; add.u32 %q1, %q5, %q6;\nEND: st.param.b32 [r], %q1; ret;\n}\n",
                "and.b32 %r0, %t, 15; { .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %r0; call (r0), fib, (a0);\n"
                "ld.param.b32 %r1, [r0]; }\nmul.wide.u32 %d0, %gid, 4; add.u64 %d0, %d0, %b; st.global.u32 [%d0], "
                "%r1;"),
            2, 50));
    static const uint32_t fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610};
    for (unsigned k = 0; k < 100; k++)
        assert_int_equal(words()[1024 + k], fib[k % 50 & 15]);
    /* A table of functions in global memory, each lane its own entry. */
    kit_expect(&kit, run(KERNEL(".func (.param .b32 r) one(.param .b32 x)\n{ .reg .b32 %q; ld.param.u32 %q, [x]; "
                                "add.u32 %q, %q, 1; st.param.b32 [r], %q; ret; }\n"
                                ".func (.param .b32 r) two(.param .b32 x)\n{ .reg .b32 %q; ld.param.u32 %q, [x]; "
                                "mul.lo.u32 %q, %q, 2; st.param.b32 [r], %q; ret; }\n"
                                ".func (.param .b32 r) three(.param .b32 x)\n{ .reg .b32 %q; ld.param.u32 %q, [x]; "
                                "xor.b32 %q, %q, 3; st.param.b32 [r], %q; ret; }\n"
                                ".global .align 8 .u64 table[3] = {one, two, three};\n",
                                "rem.u32 %r0, %t, 3; mul.wide.u32 %d0, %r0, 8; mov.u64 %d1, table; add.u64 %d1, %d1, "
                                "%d0; ld.global.u64 %d2, [%d1];\n"
                                "PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                                "{ .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %gid; call (r0), %d2, (a0), "
                                "PROTO; ld.param.b32 %r1, [r0]; }\n"
                                "mul.wide.u32 %d3, %gid, 4; add.u64 %d3, %d3, %b; st.global.u32 [%d3], %r1;"),
                         3, 45));
    for (unsigned k = 0; k < 135; k++)
        assert_int_equal(words()[1024 + k], k % 45 % 3 == 0 ? k + 1 : k % 45 % 3 == 1 ? 2 * k : k ^ 3);
    /* A function that the host passes on: the parameter is no register of its own. */
    kit_load(&kit, KERNEL(".func (.param .b32 r) seven(.param .b32 x)\n{ .reg .b32 %q; ld.param.u32 %q, [x]; "
                          "mul.lo.u32 %q, %q, 7; st.param.b32 [r], %q; ret; }\n",
                          "setp.ne.u64 %p0, %e, 0; @%p0 bra CALL; mov.u64 %d0, seven; st.global.u64 [%a], %d0; ret;\n"
                          "PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                          "CALL: { .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %gid;\n"
                          "call (r0), %e, (a0), PROTO; ld.param.b32 %r1, [r0]; }\n"
                          "mul.wide.u32 %d3, %gid, 4; add.u64 %d3, %d3, %b; st.global.u32 [%d3], %r1;"));
    kit_expect(&kit, kit_launch(&kit, 1, 1, (struct kit_params){{memory, 0, 0, 0}}));
    uint64_t seven;
    memcpy(&seven, words(), sizeof seven);
    kit_expect(&kit, kit_launch(&kit, 2, 40, (struct kit_params){{memory, memory + 4096, 0, seven}}));
    for (unsigned k = 0; k < 80; k++)
        assert_int_equal(words()[1024 + k], 7 * k);
    /* Stack memory of a size that is known only then; and what lay on the stack before stays. */
    kit_expect(
        &kit,
        run(KERNEL(
                "",
                ".local .align 4 .b8 own[4]; st.local.u32 [own], %gid; and.b32 %r0, %t, 7; add.u32 %r0, %r0, 1;\n"
                "mul.wide.u32 %d0, %r0, 16; stacksave.u64 %d9; alloca.u64 %d1, %d0, 16; mov.u32 %r1, 0; mov.u64 %d2, "
                "%d1;\n"
                "L: mad.lo.u32 %r2, %r1, 100, %t; st.local.u32 [%d2], %r2; add.u64 %d2, %d2, 16; add.u32 %r1, %r1, 1;\n"
                "setp.lt.u32 %p0, %r1, %r0; @%p0 bra L; mov.u32 %r3, 0;\n"
                "M: add.u64 %d2, %d2, -16; ld.local.u32 %r2, [%d2]; add.u32 %r3, %r3, %r2; setp.ne.u64 %p0, %d2, %d1; "
                "@%p0 bra M;\n"
                "stackrestore.u64 %d9; ld.local.u32 %r4, [own]; mul.wide.u32 %d3, %gid, 8; add.u64 %d3, %d3, %b;\n"
                "st.global.v2.u32 [%d3], {%r3, %r4};"),
            2, 40));
    for (unsigned k = 0; k < 80; k++) {
        unsigned t = k % 40, n = (t & 7) + 1;
        assert_int_equal(words()[1024 + 2 * k], n * t + 100 * n * (n - 1) / 2);
        assert_int_equal(words()[1024 + 2 * k + 1], k);
    }
}

int kit_run_system(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printf_formats),
        cmocka_unit_test(printf_counts),
        cmocka_unit_test(timer),
        cmocka_unit_test(asserts),
        cmocka_unit_test(heap),
        cmocka_unit_test(heap_addresses),
        cmocka_unit_test(limits),
        cmocka_unit_test(calls),
    };
    return cmocka_run_group_tests_name("system calls", tests, open_kit, close_kit);
}
