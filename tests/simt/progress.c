/* progress.c - threads that wait for each other: each lane goes on as long as some lane of the grid can.
 *
 * Independent thread scheduling within a warp, waits between blocks (in whatever order they start), barriers of blocks,
 * of parts of blocks and of the grid. Every kernel here ends within its time limit, with the one result it can have,
 * for one worker and for several.
 */
#include "kit.h"

static struct kit kits[2];
static uint64_t memory[2]; /* 64 KB of zeros before each launch */

static int open_kits(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        kit_open(&kits[i], i ? 3 : 1, 60000, 0, NULL);
        memory[i] = kit_alloc(&kits[i], 65536);
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

/* Runs on device i; returns the memory as words. */
static const uint32_t *run(unsigned i, const char *ptx, uint32_t grid, uint32_t block, bool cooperative)
{
    kit_load(&kits[i], ptx);
    memset((void *)(uintptr_t)memory[i], 0, 65536);
    struct kit_params params = {{memory[i], memory[i] + 4096, memory[i] + 8192, grid}};
    struct mg_simt_launch l = {
        .grid = {grid, 1, 1}, .block = {block, 1, 1}, .params = params.p, .cooperative = cooperative};
    kit_launch_full(&kits[i], &l);
    kit_expect(&kits[i], kits[i].diag.status);
    return (const uint32_t *)(uintptr_t)memory[i];
}
#define EACH_KIT(i) for (unsigned i = 0; i < 2; i++)

static void spin_locks(void **state)
{
    (void)state;
    EACH_KIT(i)
    {
        /* while (atomicCAS(lock, 0, 1) != 0); count++; lock = 0 */
        const uint32_t *m =
            run(i,
                KERNEL("", "L: atom.global.cas.b32 %r0, [%a], 0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra L;\n"
                           "ld.volatile.global.u32 %r1, [%b]; add.u32 %r1, %r1, 1; st.volatile.global.u32 [%b], %r1;\n"
                           "membar.gl; atom.global.exch.b32 %r2, [%a], 0;"),
                3, 70, false);
        assert_int_equal(m[1024], 210);
        assert_int_equal(m[0], 0);
        /* done = false; while (!done) if (atomicCAS(lock, 0, 1) == 0) { count++; lock = 0; done = true; } */
        m = run(
            i,
            KERNEL("",
                   "mov.u32 %r5, 0;\nL: setp.ne.u32 %p1, %r5, 0; @%p1 bra END; atom.global.cas.b32 %r0, [%a], 0, 1;\n"
                   "setp.ne.u32 %p0, %r0, 0; @%p0 bra L; ld.volatile.global.u32 %r1, [%b]; add.u32 %r1, %r1, 1;\n"
                   "st.volatile.global.u32 [%b], %r1; atom.global.exch.b32 %r2, [%a], 0; mov.u32 %r5, 1; bra L;\nEND:"),
            2, 64, false);
        assert_int_equal(m[1024], 128);
        /* The same in shared memory. */
        m = run(i,
                KERNEL(".shared .align 4 .u32 lock;\n.shared .align 4 .u32 count;\n",
                       "mov.u32 %r10, lock; mov.u32 %r11, count;\nL: atom.shared.cas.b32 %r0, [%r10], 0, 1;\n"
                       "setp.ne.u32 %p0, %r0, 0; @%p0 bra L; ld.volatile.shared.u32 %r1, [%r11]; add.u32 %r1, %r1, 1;\n"
                       "st.volatile.shared.u32 [%r11], %r1; atom.shared.exch.b32 %r2, [%r10], 0; bar.sync 0;\n"
                       "ld.shared.u32 %r3, [%r11]; mul.wide.u32 %d0, %bid, 4; add.u64 %d0, %d0, %b; st.global.u32 "
                       "[%d0], %r3;"),
                4, 96, false);
        for (unsigned b = 0; b < 4; b++)
            assert_int_equal(m[1024 + b], 96);
        /* A ticket lock that sleeps. */
        m = run(
            i,
            KERNEL(
                "",
                "atom.global.add.u32 %r0, [%a], 1;\nL: ld.volatile.global.u32 %r1, [%a+4];\n"
                "setp.eq.u32 %p0, %r0, %r1; @%p0 bra GO; nanosleep.u32 100; bra L;\n"
                "GO: ld.volatile.global.u32 %r2, [%b]; mad.lo.u32 %r2, %r2, 1, 3; st.volatile.global.u32 [%b], %r2;\n"
                "membar.gl; add.u32 %r1, %r1, 1; st.volatile.global.u32 [%a+4], %r1;"),
            4, 40, false);
        assert_int_equal(m[1024], 480);
        assert_int_equal(m[1], 160);
    }
}

/* A lock that is taken in a function, and in one that calls it: lanes that have returned go on without the others. */
#define TAKES_A_LOCK                                                                                               \
    ".func acquire(.param .b64 lock)\n{\n.reg .pred %q;\n.reg .b32 %x;\n.reg .b64 %y;\nld.param.u64 %y, [lock];\n" \
    "T: atom.global.cas.b32 %x, [%y], 0, 1; setp.ne.u32 %q, %x, 0; @%q bra T;\nret;\n}\n"                          \
    ".func (.param .b32 sum) take(.param .b64 lock, .param .b32 more)\n{\n.reg .b32 %x;\n.reg .b64 %y;\n"          \
    "ld.param.u64 %y, [lock]; ld.param.u32 %x, [more];\n"                                                          \
    "{ .param .b64 to; st.param.b64 [to], %y; call acquire, (to); }\n"                                             \
    "add.u32 %x, %x, 2; st.param.b32 [sum], %x;\nret;\n}\n"

static void spin_locks_in_functions(void **state)
{
    (void)state;
    EACH_KIT(i)
    {
        const uint32_t *m =
            run(i,
                KERNEL(TAKES_A_LOCK,
                       "{ .param .b64 l; .param .b32 n; .param .b32 s; st.param.b64 [l], %a; st.param.b32 [n], %t;\n"
                       "call (s), take, (l, n); ld.param.b32 %r3, [s]; }\n"
                       "ld.volatile.global.u32 %r1, [%b]; add.u32 %r1, %r1, %r3; st.volatile.global.u32 [%b], %r1;\n"
                       "membar.gl; atom.global.exch.b32 %r2, [%a], 0;"),
                3, 70, false);
        assert_int_equal(m[1024], 3 * (70 * 69 / 2 + 2 * 70));
        assert_int_equal(m[0], 0);
    }
}

/* A lane waits for another of its warp, on either side of the branch. */
static void lanes_wait_for_lanes(void **state)
{
    (void)state;
    EACH_KIT(i)
    {
        static const char *const conditions[] = {"setp.eq.u32 %p0, %lane, 0;", "setp.ne.u32 %p0, %lane, 0;",
                                                 "setp.eq.u32 %p0, %lane, 31;", "setp.lt.u32 %p0, %lane, 16;"};
        for (size_t c = 0; c < MG_COUNT(conditions); c++) {
            char ptx[4096];
            snprintf(
                ptx, sizeof ptx, "%s%s\n%s%s", HEADER ".shared .align 4 .u32 flag;\n" ENTRY, conditions[c],
                "mov.u32 %r9, flag; @%p0 bra GIVE;\nWAIT: ld.volatile.shared.u32 %r0, [%r9]; setp.eq.u32 %p1, %r0, 0;\n"
                "@%p1 bra WAIT; bra JOIN;\nGIVE: st.volatile.shared.u32 [%r9], 7; mov.u32 %r0, 7;\n",
                "JOIN: mul.wide.u32 %d0, %gid, 4; add.u64 %d0, %d0, %b; st.global.u32 [%d0], %r0;\nret;\n}\n");
            const uint32_t *m = run(i, ptx, 3, 32, false);
            for (unsigned k = 0; k < 96; k++)
                assert_int_equal(m[1024 + k], 7);
        }
        /* Both arms meet in a warp barrier that neither reaches first; then they exchange values. */
        const uint32_t *m = run(
            i,
            KERNEL(".shared .align 4 .b8 buf[128];\n",
                   "mov.u32 %r9, buf; shl.b32 %r8, %lane, 2; add.u32 %r9, %r9, %r8; and.b32 %r0, %lane, 1;\n"
                   "setp.eq.u32 %p0, %r0, 0; @%p0 bra EVEN; st.shared.u32 [%r9], %t; bar.warp.sync 0xffffffff;\n"
                   "ld.shared.u32 %r1, [%r9+-4]; bra JOIN;\nEVEN: mul.lo.u32 %r2, %t, 3; st.shared.u32 [%r9], %r2;\n"
                   "bar.warp.sync 0xffffffff; ld.shared.u32 %r1, [%r9+4];\nJOIN: bar.warp.sync -1;\n"
                   "mul.wide.u32 %d0, %gid, 4; add.u64 %d0, %d0, %b; st.global.u32 [%d0], %r1;"),
            1, 32, false);
        for (unsigned k = 0; k < 32; k++)
            assert_int_equal(m[1024 + k], k % 2 ? 3 * (k - 1) : k + 1);
        /* Half of the warp shuffles among itself, the other half likewise. */
        m = run(
            i,
            KERNEL(
                "",
                "setp.lt.u32 %p0, %lane, 16; @%p0 bra LOW; shfl.sync.bfly.b32 %r1, %t, 3, 31, 0xffff0000; bra JOIN;\n"
                "LOW: shfl.sync.bfly.b32 %r1, %t, 5, 31, 0x0000ffff;\nJOIN: vote.sync.ballot.b32 %r2, %p0, -1;\n"
                "add.u32 %r1, %r1, %r2; mul.wide.u32 %d0, %gid, 4; add.u64 %d0, %d0, %b; st.global.u32 [%d0], %r1;"),
            1, 32, false);
        for (unsigned k = 0; k < 32; k++)
            assert_int_equal(m[1024 + k], (k < 16 ? k ^ 5 : k ^ 3) + 0xffff);
    }
}

/* Lanes that wait at a join while one of them polls for other blocks are a warp again behind a grid's barrier. */
static void grid_barriers_keep_warps_together(void **state)
{
    (void)state;
    EACH_KIT(i)
    {
        const uint32_t *m =
            run(i,
                KERNEL("", "mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, -1; cvt.u32.u64 %r8, %e;\n"
                           "ROUND: add.u32 %r5, %r5, %r8; bar.sync 0; setp.ne.u32 %p0, %t, 0; @%p0 bra MET;\n"
                           "atom.global.add.u32 %r0, [%a], 1;\n"
                           "WAIT: ld.volatile.global.u32 %r1, [%a]; setp.lt.u32 %p1, %r1, %r5; @%p1 bra WAIT;\n"
                           "MET: bar.sync 0; activemask.b32 %r2; and.b32 %r7, %r7, %r2; add.u32 %r6, %r6, 1;\n"
                           "setp.lt.u32 %p2, %r6, 5; @%p2 bra ROUND;\n"
                           "mul.wide.u32 %d0, %gid, 4; add.u64 %d0, %d0, %b; st.global.u32 [%d0], %r7;"),
                6, 64, false);
        assert_int_equal(m[0], 30);
        for (unsigned k = 0; k < 6 * 64; k++)
            assert_int_equal(m[1024 + k], ~0u);
    }
}

static void blocks_wait_for_blocks(void **state)
{
    (void)state;
    EACH_KIT(i)
    {
        /* Block 0 waits for the last; all others for their follower. */
        const uint32_t *m = run(
            i,
            KERNEL("",
                   "add.u32 %r0, %bid, 1; cvt.u32.u64 %r1, %e; setp.eq.u32 %p0, %r0, %r1; mul.wide.u32 %d0, %bid, 4;\n"
                   "add.u64 %d0, %d0, %a; mov.u32 %r3, 0; @%p0 bra GIVE; setp.ne.u32 %p2, %t, 0; @%p2 bra MEET;\n"
                   "WAIT: ld.acquire.gpu.global.u32 %r3, [%d0+4]; setp.eq.u32 %p1, %r3, 0; @%p1 bra WAIT;\n"
                   "MEET: bar.sync 0;\nGIVE: setp.ne.u32 %p2, %t, 0; @%p2 bra END; add.u32 %r3, %r3, 5;\n"
                   "st.release.gpu.global.u32 [%d0], %r3;\nEND:"),
            40, 64, false);
        for (unsigned b = 0; b < 40; b++)
            assert_int_equal(m[b], 5 * (40 - b));
        /* A scan with look-back: flag and value in 64 bits, a warp looks at its predecessors. */
        m = run(
            i,
            KERNEL("",
                   "setp.ne.u32 %p0, %t, 0; @%p0 bra END; add.u32 %r0, %bid, 1; mul.wide.u32 %d0, %bid, 8;\n"
                   "add.u64 %d0, %d0, %a; mov.u32 %r1, 1; mov.b64 %d1, {%r1, %r0}; st.volatile.global.u64 [%d0], %d1;\n"
                   "mov.u32 %r5, %r0; mov.u64 %d2, %d0;\n"
                   "LOOK: setp.eq.u64 %p1, %d2, %a; @%p1 bra SUM; add.u64 %d2, %d2, -8;\n"
                   "POLL: ld.volatile.global.u64 %d3, [%d2]; mov.b64 {%r2, %r3}, %d3; setp.eq.u32 %p2, %r2, 0;\n"
                   "@%p2 bra POLL; add.u32 %r5, %r5, %r3; setp.eq.u32 %p3, %r2, 1; @%p3 bra LOOK;\n"
                   "SUM: mov.u32 %r1, 2; mov.b64 %d1, {%r1, %r5}; st.volatile.global.u64 [%d0], %d1;\nEND:"),
            60, 64, false);
        for (unsigned b = 0; b < 60; b++) {
            assert_int_equal(m[2 * b], 2);
            assert_int_equal(m[2 * b + 1], (b + 1) * (b + 2) / 2);
        }
        /* The last block to come adds up what the others left (threadFenceReduction). */
        m = run(i,
                KERNEL("",
                       "mul.wide.u32 %d0, %bid, 4; add.u64 %d0, %d0, %c; setp.ne.u32 %p0, %t, 0; @%p0 bra END;\n"
                       "add.u32 %r0, %bid, 100; st.global.u32 [%d0], %r0; membar.gl; cvt.u32.u64 %r1, %e; sub.u32 %r2, "
                       "%r1, 1;\n"
                       "atom.global.inc.u32 %r3, [%a], %r2; setp.ne.u32 %p1, %r3, %r2; @%p1 bra END; mov.u32 %r4, 0;\n"
                       "mov.u32 %r5, 0; mov.u64 %d1, %c;\nL: ld.global.u32 %r6, [%d1]; add.u32 %r5, %r5, %r6;\n"
                       "add.u64 %d1, %d1, 4; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %r1; @%p2 bra L;\n"
                       "st.global.u32 [%b], %r5;\nEND:"),
                50, 32, false);
        assert_int_equal(m[1024], 50 * 100 + 49 * 25);
        /* All blocks of a cooperative launch meet, several times. */
        m = run(
            i,
            KERNEL("",
                   "mov.u32 %r9, 0; cvt.u32.u64 %r1, %e;\n"
                   "ROUND: bar.sync 0; setp.ne.u32 %p0, %t, 0; @%p0 bra WAITED; membar.gl; atom.global.add.u32 %r0, "
                   "[%a], 1;\n"
                   "add.u32 %r2, %r9, 1; mul.lo.u32 %r2, %r2, %r1;\n"
                   "POLL: ld.volatile.global.u32 %r3, [%a]; setp.lt.u32 %p1, %r3, %r2; @%p1 bra POLL;\n"
                   "WAITED: bar.sync 0; add.u32 %r5, %bid, 1; rem.u32 %r5, %r5, %r1; mad.lo.u32 %r6, %r5, %nt, %t;\n"
                   "mad.lo.u32 %r8, %r9, 2048, %r6; mul.wide.u32 %d1, %r8, 4; add.u64 %d1, %d1, %c;\n"
                   "setp.eq.u32 %p2, %r9, 0; mov.u32 %r7, 0; @!%p2 ld.volatile.global.u32 %r7, [%d1+-8192];\n"
                   "mad.lo.u32 %r8, %r9, 2048, %gid; mul.wide.u32 %d2, %r8, 4; add.u64 %d2, %d2, %c;\n"
                   "add.u32 %r7, %r7, 1; st.volatile.global.u32 [%d2], %r7; add.u32 %r9, %r9, 1;\n"
                   "setp.lt.u32 %p3, %r9, 5; @%p3 bra ROUND;"),
            30, 64, true);
        for (unsigned r = 0; r < 5; r++)
            for (unsigned k = 0; k < 1920; k++)
                assert_int_equal(m[2048 + 2048 * r + k], r + 1);
    }
}

static void barriers(void **state)
{
    (void)state;
    EACH_KIT(i)
    {
        /* Two pairs of warps, a barrier each, and then all. */
        const uint32_t *m =
            run(i,
                KERNEL(".shared .align 4 .b8 buf[512];\n", "mov.u32 %r9, buf; shl.b32 %r8, %t, 2; add.u32 %r8, %r8, "
                                                           "%r9; shr.u32 %r0, %t, 6; add.u32 %r0, %r0, 1;\n"
                                                           "st.shared.u32 [%r8], %t; bar.sync %r0, 64; xor.b32 %r1, "
                                                           "%t, 32; shl.b32 %r1, %r1, 2; add.u32 %r1, %r1, %r9;\n"
                                                           "ld.shared.u32 %r2, [%r1]; bar.sync 0; xor.b32 %r1, %t, "
                                                           "127; shl.b32 %r1, %r1, 2; add.u32 %r1, %r1, %r9;\n"
                                                           "ld.shared.u32 %r3, [%r1]; mad.lo.u32 %r2, %r3, 1000, %r2; "
                                                           "mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %b;\n"
                                                           "st.global.u32 [%d0], %r2;"),
                1, 128, false);
        for (unsigned k = 0; k < 128; k++)
            assert_int_equal(m[1024 + k], (k ^ 127) * 1000 + (k ^ 32));
        /* A warp fills what another empties: full and empty barriers, ten rounds. */
        m = run(
            i,
            KERNEL(".shared .align 4 .b8 buf[128];\n",
                   "mov.u32 %r9, buf; shl.b32 %r8, %lane, 2; add.u32 %r9, %r9, %r8; mov.u32 %r0, 0; mov.u32 %r5, 0;\n"
                   "setp.ge.u32 %p0, %t, 32; @%p0 bra TAKE;\n"
                   "FILL: bar.sync 1, 64; mad.lo.u32 %r1, %r0, 7, %lane; st.shared.u32 [%r9], %r1; bar.arrive 2, 64;\n"
                   "add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 10; @%p1 bra FILL; bra END;\n"
                   "TAKE: bar.arrive 1, 64; bar.sync 2, 64; ld.shared.u32 %r1, [%r9]; add.u32 %r5, %r5, %r1;\n"
                   "add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 10; @%p1 bra TAKE; mul.wide.u32 %d0, %lane, 4;\n"
                   "add.u64 %d0, %d0, %b; st.global.u32 [%d0], %r5;\nEND:"),
            1, 64, false);
        for (unsigned k = 0; k < 32; k++)
            assert_int_equal(m[1024 + k], 45 * 7 + 10 * k);
        /* Some warps leave before the barrier; so do some lanes of one that stays; the last warp is not full. */
        m = run(i,
                KERNEL(".shared .align 4 .b8 buf[512];\n",
                       "mov.u32 %r9, buf; shl.b32 %r8, %t, 2; add.u32 %r8, %r8, %r9; shr.u32 %r0, %t, 5; setp.eq.u32 "
                       "%p0, %r0, 1;\n"
                       "@%p0 ret; setp.lt.u32 %p1, %t, 5; @%p1 exit; st.shared.u32 [%r8], %t; bar.sync 0;\n"
                       "mov.u32 %r1, 108; sub.u32 %r1, %r1, %t; shl.b32 %r1, %r1, 2; add.u32 %r1, %r1, %r9; "
                       "ld.shared.u32 %r2, [%r1];\n"
                       "add.u32 %r2, %r2, 1; mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %b; st.global.u32 [%d0], %r2;"),
                2, 109, false);
        for (unsigned k = 0; k < 109; k++) {
            unsigned other = 108 - k;
            bool gone = k / 32 == 1 || k < 5, none = other / 32 == 1 || other < 5;
            assert_int_equal(m[1024 + k], gone ? 0 : none ? 1 : other + 1);
        }
        /* A loop of barriers whose trips differ from warp to warp and in a warp: who is done leaves. */
        m = run(
            i,
            KERNEL(
                ".shared .align 4 .u32 sum;\n",
                "mov.u32 %r9, sum; and.b32 %r1, %t, 7; mov.u32 %r0, 0;\nL: bar.sync 0; red.shared.add.u32 [%r9], 1;\n"
                "bar.sync 0; ld.shared.u32 %r2, [%r9]; mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %b;\n"
                "st.global.u32 [%d0], %r2; add.u32 %r0, %r0, 1; setp.le.u32 %p0, %r0, %r1; @%p0 bra L;"),
            1, 96, false);
        for (unsigned k = 0, sum = 0; k < 8; k++) {
            sum += 12 * (8 - k);
            for (unsigned t = k; t < 96; t += 8)
                assert_int_equal(m[1024 + t], sum);
        }
        /* Barriers that reduce. */
        m = run(
            i,
            KERNEL("",
                   "and.b32 %r0, %t, 3; setp.eq.u32 %p0, %r0, 1; barrier.red.popc.u32 %r1, 0, %p0;\n"
                   "setp.lt.u32 %p1, %t, 1000; bar.red.and.pred %p2, 0, %p1; setp.eq.u32 %p3, %t, 77; bar.red.or.pred "
                   "%p4, 0, %p3;\n"
                   "bar.red.and.pred %p5, 0, %p3; selp.u32 %r2, 1000, 0, %p2; selp.u32 %r3, 2000, 0, %p4;\n"
                   "selp.u32 %r4, 4000, 0, %p5; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;\n"
                   "mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %b; st.global.u32 [%d0], %r1;"),
            1, 100, false);
        for (unsigned k = 0; k < 100; k++)
            assert_int_equal(m[1024 + k], 3025);
    }
}

int kit_run_progress(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spin_locks),
        cmocka_unit_test(spin_locks_in_functions),
        cmocka_unit_test(lanes_wait_for_lanes),
        cmocka_unit_test(grid_barriers_keep_warps_together),
        cmocka_unit_test(blocks_wait_for_blocks),
        cmocka_unit_test(barriers),
    };
    return cmocka_run_group_tests_name("forward progress", tests, open_kits, close_kits);
}
