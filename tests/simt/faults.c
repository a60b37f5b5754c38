/* faults.c - launches that must fail: with the right status, a record of line, block and thread, and a device that
 * still works.
 *
 * A case's kernel marks the line at fault with HERE. To add one, add a row to `cases`.
 */
#include "kit.h"

#include <sys/resource.h>

/* In all cases %a is 4,096 bytes of memory, %b 100 bytes, %c freed memory, %e the number 0. */
static const struct bad {
    const char *name;
    enum mg_status status;
    const char *message; /* a part of it */
    const char *where;   /* "block …, thread …": a part of the message, likewise */
    uint32_t grid, block;
    unsigned timeout_ms;
    const char *ptx;
} cases[] = {
    {"null", MG_ERR_ADDRESS, "null pointer", "block 2,0,0, thread 40,0,0", 3, 64, 0,
     KERNEL("", "mul.wide.u32 %d0, %gid, 4; add.u64 %d0, %d0, %a; setp.eq.u32 %p0, %gid, 168;\n@%p0 mov.u64 %d0, %e;\n"
                "st.global.u32 [%d0], %t; // HERE\n")},
    {"a null pointer and an index", MG_ERR_ADDRESS, "null pointer", "block 0,0,0, thread 0,0,0", 1, 32, 0,
     KERNEL("", "ld.global.u32 %r0, [%e+400]; // HERE\n")},
    {"freed", MG_ERR_ADDRESS, "access of 4 bytes at", "block 0,0,0, thread 0,0,0", 1, 1, 0,
     KERNEL("", "\n\nld.global.u32 %r0, [%c]; // HERE\nst.global.u32 [%a], %r0;")},
    {"past an allocation", MG_ERR_ADDRESS, "4 bytes past the end of an allocation of 100 bytes", "thread 25,0,0", 1, 64,
     0, KERNEL("", "mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %b;\nst.global.u32 [%d0], %t; // HERE\n")},
    {"a vector over the end", MG_ERR_ADDRESS, "12 bytes past the end", "thread 0,0,0", 1, 1, 0,
     KERNEL("", "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%b+96]; // HERE\n")},
    {"before an allocation", MG_ERR_ADDRESS, "access of 8 bytes", "thread 31,0,0", 1, 32, 0,
     KERNEL("", "setp.eq.u32 %p0, %lane, 31; @%p0 sub.u64 %b, %b, 8;\nld.global.u64 %d0, [%b]; // HERE\n")},
    {"a wild address", MG_ERR_ADDRESS, "access of 4 bytes", "thread 0,0,0", 1, 32, 0,
     KERNEL("", "mov.u64 %d0, 0xfffffffffffffffc;\nld.global.u32 %r0, [%d0]; // HERE\n")},
    {"a wild generic address", MG_ERR_ADDRESS, "access of 4 bytes", "thread 0,0,0", 1, 32, 0,
     KERNEL("", "mov.u64 %d0, 0x123456789abcdef0;\nst.u32 [%d0], 1; // HERE\n")},
    {"an atomic past an allocation", MG_ERR_ADDRESS, "past the end", "thread 0,0,0", 1, 32, 0,
     KERNEL("", "atom.global.add.u32 %r0, [%b+100], 1; // HERE\n")},
    {"a loop that leaves its allocation", MG_ERR_ADDRESS, "past the end of an allocation of 4096 bytes",
     "thread 31,0,0", 1, 32, 0,
     KERNEL("", "mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %a; mov.u32 %r0, 0;\n"
                "L: ld.global.u32 %r1, [%d0+4]; // HERE\nadd.u64 %d0, %d0, 128; add.u32 %r0, %r0, 1;\n"
                "setp.lt.u32 %p0, %r0, 100; @%p0 bra L;")},
    {"past shared memory", MG_ERR_ADDRESS, "the block has 128 bytes of shared memory", "block 0,0,0, thread 32,0,0", 1,
     64, 0,
     KERNEL(".shared .align 4 .b8 buf[128];\n", "mov.u32 %r0, buf; shl.b32 %r1, %t, 2; add.u32 %r0, %r0, %r1;\n"
                                                "st.shared.u32 [%r0], %t; // HERE\n")},
    {"past shared memory by a generic address", MG_ERR_ADDRESS, "shared address", "thread 0,0,0", 1, 32, 0,
     KERNEL(".shared .align 4 .b8 buf[128];\n",
            "mov.u64 %d0, buf; cvta.shared.u64 %d0, %d0;\nld.u32 %r0, [%d0+4096]; // HERE\n")},
    {"dynamic shared memory that was not asked for", MG_ERR_ADDRESS, "the block has 0 bytes", "thread 0,0,0", 1, 32, 0,
     KERNEL(".extern .shared .align 4 .b8 dyn[];\n", "mov.u32 %r0, dyn;\nld.shared.u32 %r1, [%r0]; // HERE\n")},
    {"past local memory", MG_ERR_ADDRESS, "outside the thread's stack", "thread 3,0,0", 1, 32, 0,
     KERNEL("",
            ".local .align 4 .b8 mine[64]; mov.u64 %d0, mine; setp.eq.u32 %p0, %t, 3; @%p0 add.u64 %d0, %d0, 1048576;\n"
            "st.local.u32 [%d0], %t; // HERE\n")},
    {"misaligned global", MG_ERR_MISALIGNED, "not a multiple of the access's 4 bytes", "thread 9,0,0", 1, 32, 0,
     KERNEL("", "setp.eq.u32 %p0, %t, 9; @%p0 add.u64 %a, %a, 2;\nld.global.u32 %r0, [%a]; // HERE\n")},
    {"misaligned vector", MG_ERR_MISALIGNED, "16 bytes", "thread 0,0,0", 1, 32, 0,
     KERNEL("", "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%a+8]; // HERE\n")},
    {"misaligned shared", MG_ERR_MISALIGNED, "shared address", "thread 1,0,0", 1, 32, 0,
     KERNEL(".shared .align 16 .b8 buf[512];\n",
            "mov.u32 %r0, buf; mad.lo.u32 %r0, %t, 12, %r0;\nld.shared.u64 %d0, [%r0]; // HERE\n")},
    {"misaligned atomic", MG_ERR_MISALIGNED, "8 bytes", "thread 0,0,0", 1, 32, 0,
     KERNEL("", "atom.global.add.u64 %d0, [%a+4], 1; // HERE\n")},
    {"a barrier that some never reach", MG_ERR_DEADLOCK, "wait at barrier 0", "block 0,0,0, thread 0,0,0", 1, 64, 0,
     KERNEL("", "setp.ge.u32 %p0, %t, 32; @%p0 bra OTHER;\nbar.sync 0; // HERE\nbra END;\nOTHER: bar.sync 1;\nEND:")},
    {"a barrier for more threads than there are", MG_ERR_DEADLOCK, "32 of 64 threads", "block 1,0,0, thread 0,0,0", 2,
     32, 0, KERNEL("", "setp.eq.u32 %p0, %bid, 0; @%p0 ret;\nbar.sync 1, 64; // HERE\n")},
    {"a shuffle with lanes that never come", MG_ERR_DEADLOCK, "can no longer come", "thread 0,0,0", 1, 32, 0,
     KERNEL("", "setp.ge.u32 %p0, %t, 16; @%p0 bra OTHER;\nshfl.sync.bfly.b32 %r0, %t, 1, 31, -1; // HERE\nbra END;\n"
                "OTHER: bar.sync 0;\nEND:")},
    {"an endless loop", MG_ERR_TIMEOUT, "limit of 0.1 s", "block ", 4, 64, 100,
     KERNEL("", "L: add.u32 %r0, %r0, 1;\nbra L;")},
    {"an endless wait", MG_ERR_TIMEOUT, "limit of 0.1 s", "block ", 4, 64, 100,
     KERNEL("", "L: ld.volatile.global.u32 %r0, [%a]; setp.eq.u32 %p0, %r0, 0; @%p0 bra L;")},
    {"a wait within a block that never ends", MG_ERR_TIMEOUT, "limit of 0.1 s", "block ", 1, 64, 100,
     KERNEL("", "setp.lt.u32 %p1, %t, 32; @%p1 bra SYNC;\nL: ld.volatile.global.u32 %r0, [%a]; setp.eq.u32 %p0, %r0, "
                "0; @%p0 bra L;\n"
                "SYNC: bar.sync 0;\n")},
    {"recursion without end", MG_ERR_ADDRESS, "stack is full in the call of down", "block 0,0,0, thread 0,0,0", 2, 40,
     0,
     KERNEL(".func (.param .b32 r) down(.param .b32 x)\n{\n.reg .b32 %q<4>; .local .align 8 .b8 own[64]; ld.param.u32 "
            "%q0, [x];\n"
            "add.u32 %q0, %q0, 1;\n{ .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %q0;\n"
            "call (r0), down, (a0); // HERE\nld.param.b32 %q1, [r0]; }\nst.param.b32 [r], %q1; ret;\n}\n",
            "{ .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %t;\ncall (r0), down, (a0);\nld.param.b32 %r1, [r0]; "
            "}\n")},
    {"recursion without end or locals", MG_ERR_ADDRESS, "stack is full", "block 0,0,0, thread 0,0,0", 1, 32, 0,
     KERNEL(".func down()\n{\ncall down; // HERE\nret;\n}\n", "call down;")},
    {"a call of what is no function", MG_ERR_ADDRESS, "no function", "thread 5,0,0", 1, 32, 0,
     KERNEL(".func f(.param .b32 x)\n{ ret; }\n", "mov.u64 %d0, f; setp.eq.u32 %p0, %t, 5; @%p0 mov.u64 %d0, 0x12345;\n"
                                                  "PROTO: .callprototype _ (.param .b32 _);\n{ .param .b32 x; "
                                                  "st.param.b32 [x], %t;\ncall %d0, (x), PROTO; // HERE\n}")},
    {"a table of branches that is too short", MG_ERR_TRAP, "entry 3 of a table of 3", "thread 3,0,0", 1, 4, 0,
     KERNEL("", "TABLE: .branchtargets L0, L1, L0;\nbrx.idx %t, TABLE; // HERE\nL0: add.u32 %r0, %t, 1; bra END;\n"
                "L1: add.u32 %r0, %t, 2;\nEND: st.global.u32 [%a], %r0;")},
    {"trap", MG_ERR_TRAP, "trap", "block 1,0,0, thread 7,0,0", 2, 32, 0,
     KERNEL("", "setp.ne.u32 %p0, %gid, 39; @%p0 ret;\ntrap; // HERE\n")},
    {"an alloca that is too large", MG_ERR_ADDRESS, "alloca of 1048576 bytes", "thread 0,0,0", 1, 32, 0,
     KERNEL("", "mov.u64 %d1, 1048576;\nalloca.u64 %d0, %d1, 16; // HERE\nst.local.u32 [%d0], %t;")},
    {"a barrier of no such number", MG_ERR_TRAP, "barrier 16", "thread 0,0,0", 1, 32, 0,
     KERNEL("", "add.u32 %r0, %nt, -16;\nbar.sync %r0; // HERE\n")},
    {"a barrier for a number of threads that is none", MG_ERR_TRAP, "multiple of 32", "thread 0,0,0", 1, 64, 0,
     KERNEL("", "add.u32 %r0, %nt, -30;\nbar.sync 1, %r0; // HERE\n")},
    {"an instruction that is not simulated", MG_ERR_UNSUPPORTED, "is not simulated", "block 0,0,0", 1, 32, 0,
     KERNEL("", "vadd.s32.u32.s32.sat %r0, %r1.b0, %r2.h1; // HERE\n")},
    {"a texture that is none", MG_ERR_ADDRESS, "is no texture object", "thread 0,0,0", 1, 32, 0,
     KERNEL("", "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f4, %f5}]; // HERE\n")},
    {"an instruction of newer devices", MG_ERR_UNSUPPORTED, "tcgen05.wait::ld.sync.aligned is not simulated",
     "block 0,0,0", 1, 32, 0, KERNEL("", "tcgen05.wait::ld.sync.aligned; // HERE\n")},
    {"a matrix past shared memory", MG_ERR_ADDRESS, "the descriptor of B", "thread 0,0,0", 1, 128, 0,
     KERNEL(".shared .align 128 .b8 buf[2304];\n",
            "mov.u32 %r0, buf; mov.u64 %d0, 0x0000000800400000; mov.u64 %d1, 0x00000008000800f0;\n"
            "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0, %r1, %r2, %r3}, %d0, %d1, 1; // HERE\n")},
    {"a part of a register where none is taken", MG_ERR_UNSUPPORTED, "is not simulated", "block 0,0,0", 1, 32, 0,
     KERNEL("", "sad.u32 %r0, %r1.b0, %r2, %r3; // HERE\n")},
};

static struct kit kits[2];
static uint64_t big[2], small[2], gone[2];
static struct kit_params params[2];

static int open_kits(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        kit_open(&kits[i], i ? 3 : 1, 0, i ? MG_OBSERVE_SHAPES | MG_OBSERVE_COUNTS : 0, NULL);
        big[i] = kit_alloc(&kits[i], 4096);
        small[i] = kit_alloc(&kits[i], 100);
        gone[i] = kit_alloc(&kits[i], 1 << 20);
        assert_int_equal(mg__mem_free(kits[i].simt, gone[i]), MG_OK);
        assert_int_equal(mg__mem_free(kits[i].simt, gone[i]), MG_ERR_INVALID);
        params[i] = (struct kit_params){{big[i], small[i], gone[i], 0}};
    }
    return 0;
}

static int close_kits(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        kit_close(&kits[i]);
    return 0;
}

static void still_works(unsigned i)
{
    kit_load(&kits[i], KERNEL("", "mul.wide.u32 %d0, %gid, 4; add.u64 %d0, %d0, %a; st.global.u32 [%d0], %gid;"));
    memset((void *)(uintptr_t)big[i], 0xff, 4096);
    kit_expect(&kits[i], kit_launch(&kits[i], 8, 128, params[i]));
    for (uint32_t k = 0; k < 1024; k++)
        assert_int_equal(((const uint32_t *)(uintptr_t)big[i])[k], k);
    memset((void *)(uintptr_t)big[i], 0, 4096);
}

static void each_case(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t c = 0; c < MG_COUNT(cases); c++)
        for (unsigned i = 0; i < 2; i++) {
            const struct bad *b = &cases[c];
            kit_load(&kits[i], b->ptx);
            mg__simt_set_timeout(kits[i].simt, b->timeout_ms ? b->timeout_ms : 3000);
            enum mg_status status = kit_launch(&kits[i], b->grid, b->block, params[i]);
            const struct mg_diag *d = &kits[i].diag;
            unsigned line = kit_line(b->ptx);
            if (status != b->status || d->status != status || !strstr(d->message, b->message) ||
                !strstr(d->message, b->where) || strcmp(d->file, "<ptx>") != 0 || (line && d->line != line) ||
                !d->excerpt[0]) {
                print_error("%s: status %d, %s:%u (expected %d, line %u): %s [%s]\n", b->name, (int)status, d->file,
                            d->line, (int)b->status, line, d->message, d->excerpt);
                wrong++;
            }
            still_works(i);
        }
    assert_int_equal(wrong, 0);
}

static enum mg_status launch(unsigned i, struct mg_dim3 grid, struct mg_dim3 block, uint32_t shared, uint32_t optin)
{
    struct mg_occupancy_query allowed = mg_arch_query(0, 0, 0, 0);
    allowed.shared_optin = optin;
    struct mg_simt_launch l = {
        .grid = grid, .block = block, .shared = shared, .params = params[i].p, .compiled = &allowed};
    return kit_launch_full(&kits[i], &l);
}

static void limits(void **state)
{
    (void)state;
    static const struct {
        struct mg_dim3 grid, block;
        uint32_t shared, optin;
        enum mg_status status;
    } rows[] = {
        {{1, 1, 1}, {2048, 1, 1}, 0, 0, MG_ERR_INVALID},
        {{1, 1, 1}, {32, 33, 1}, 0, 0, MG_ERR_INVALID},
        {{1, 1, 1}, {1, 1, 65}, 0, 0, MG_ERR_INVALID},
        {{1, 1, 1}, {0xffffffff, 0xffffffff, 0xffffffff}, 0, 0, MG_ERR_INVALID},
        {{1, 1, 1}, {65536, 65536, 1}, 0, 0, MG_ERR_INVALID},
        {{0, 1, 1}, {32, 1, 1}, 0, 0, MG_ERR_INVALID},
        {{1, 1, 0}, {32, 1, 1}, 0, 0, MG_ERR_INVALID},
        {{1, 1, 1}, {32, 0, 1}, 0, 0, MG_ERR_INVALID},
        {{1, 65536, 1}, {1, 1, 1}, 0, 0, MG_ERR_INVALID},
        {{1, 1, 65536}, {1, 1, 1}, 0, 0, MG_ERR_INVALID},
        {{0x80000000, 1, 1}, {1, 1, 1}, 0, 0, MG_ERR_INVALID},
        {{1, 1, 1}, {32, 1, 1}, 49153, 0, MG_ERR_LAUNCH_LIMIT},
        {{1, 1, 1}, {32, 1, 1}, 0xffffffff, 0, MG_ERR_LAUNCH_LIMIT},
        {{1, 1, 1}, {32, 1, 1}, 232449, 0xffffffff, MG_ERR_LAUNCH_LIMIT},
        {{1, 1, 1}, {32, 1, 1}, 100000, 100000, MG_OK},
        {{1, 1, 1}, {32, 1, 1}, 49152, 0, MG_OK},
        {{1, 1, 1}, {32, 1, 1}, 232448, 232448, MG_OK},
        {{1, 3, 2}, {4, 4, 64}, 0, 0, MG_OK},
    };
    for (unsigned i = 0; i < 2; i++) {
        kit_load(&kits[i], KERNEL("", "st.global.u32 [%a], 1;"));
        for (size_t k = 0; k < MG_COUNT(rows); k++) {
            enum mg_status status = launch(i, rows[k].grid, rows[k].block, rows[k].shared, rows[k].optin);
            if (status != rows[k].status ||
                (status != MG_OK && (!kits[i].diag.message[0] || kits[i].diag.status != status)))
                fail_msg("row %zu: status %d: %s", k, (int)status, kits[i].diag.message);
        }
        kit_load(&kits[i], HEADER ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n"
                           ".maxntid 64, 1, 1\n{ .shared .align 4 .b8 big[40000]; ret; }\n");
        assert_int_equal(launch(i, (struct mg_dim3){1, 1, 1}, (struct mg_dim3){65, 1, 1}, 0, 0), MG_ERR_LAUNCH_LIMIT);
        assert_int_equal(launch(i, (struct mg_dim3){1, 1, 1}, (struct mg_dim3){64, 1, 1}, 0, 0), MG_OK);
        still_works(i);
    }
}

static long resident_kb(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

static void the_largest_grid(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        long before = resident_kb();
        kit_load(&kits[i], KERNEL("", "setp.eq.u32 %p0, %bid, 5000;\n@%p0 trap; // HERE\nred.global.add.u32 [%a], 1;"));
        mg__simt_set_timeout(kits[i].simt, 4000); /* under an observer all goes on until then */
        assert_int_equal(kit_launch(&kits[i], 2147483647, 256, params[i]), MG_ERR_TRAP);
        assert_non_null(strstr(kits[i].diag.message, "block 5000,0,0"));
        kit_load(&kits[i], KERNEL("", "mad.lo.u32 %r0, %t, 3, %bid; red.global.add.u32 [%a], %r0;"));
        mg__simt_set_timeout(kits[i].simt, 200);
        uint64_t began = mg__time_ns();
        assert_int_equal(kit_launch(&kits[i], 2147483647, 256, params[i]), MG_ERR_TIMEOUT);
        assert_true(mg__time_ns() - began < 3000000000ull);
        assert_true(resident_kb() - before < 64 << 10);
        still_works(i);
    }
}

int kit_run_faults(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case),
        cmocka_unit_test(limits),
        cmocka_unit_test(the_largest_grid),
    };
    return cmocka_run_group_tests_name("faults and limits", tests, open_kits, close_kits);
}
