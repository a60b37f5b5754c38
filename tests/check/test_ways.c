/* test_ways.c - random kernels, with races and without, are found to have the same mistakes whichever way they are
 * checked.
 *
 * The long way takes each lane of each access by itself, interpreted, on one worker (MG_CHECK_LONG). The others are the
 * short ones: whole warps, accesses that compiled code notes, and those that it leaves out; interpreted and compiled,
 * on one worker and on several (unless blocks race, and what they read is chance); and beside an observer who wants
 * every access of some blocks, as launches have that their program times. What the kernels do stands in
 * ways_programs.c. Compared is all that a finding says, of two launches after one another.
 *
 * What such kernels would hardly meet is written out below (`written`), and there results are compared as well. That
 * the short ways are gone at all is told by how few accesses the checker hears of (`short_ways`).
 *
 *     test_check_ways [FIRST [COUNT]]
 */
#include "check/check_priv.h"
#include "simt/kit.h"
#include "ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is found ---- */
static void on_found(void *arg, const struct mg_report_finding *f)
{
    struct text *t = arg;
    PUT(t, "%s/%s %u %u %s %llu: %s\n", f->check, f->kind, f->line, f->other_line, f->variable ? f->variable : "",
        (unsigned long long)f->count, f->message);
}

static uint32_t results[2][MOST / 4];  /* of the last run: what the two arrays hold */
static unsigned told;                  /* likewise: accesses that the checker heard of, on one worker */

static void on_access(void *worker, struct mg_access *a)
{
    told++;
    mg__watch_access(worker, a);
}

/* Who wants every access of two blocks: of the others he is told none where the launch is parted. */
static unsigned other_blocks;

static enum mg_status asks_begin(void *self, const struct mg_launch_info *info, unsigned workers, void **state)
{
    (void)self, (void)info, (void)workers;
    *state = &other_blocks;
    return MG_OK;
}

static void *asks_worker(void *state, unsigned index)
{
    (void)index;
    return state;
}

static unsigned asks_blocks(void *state, uint64_t *at, unsigned most)
{
    (void)state;
    assert_true(most >= 2);
    at[0] = LARGE - 2;
    at[1] = 3;
    return 2;
}

static void asks_access(void *worker, struct mg_access *a)
{
    mg__access_lanes(a);
    if (a->block != 3 && a->block != LARGE - 2)
        __atomic_fetch_add((unsigned *)worker, 1, __ATOMIC_RELAXED);
}

struct way {
    const char *engine;
    unsigned threads, checks, filled;
    struct mg_dim3 grid, block;
    bool fails, asked;
};

static void run(const char *ptx, const struct way *way, struct text *findings)
{
    struct kit k;
    struct mg_check *check;
    setenv("MARGAY_ENGINE", way->engine, 1);
    findings->n = 0;
    findings->at[0] = 0;
    kit_open(&k, way->threads, 60000, 0, NULL);
    assert_int_equal(mg__check_create(way->checks, on_found, findings, &check), MG_OK);
    struct mg_observer observer = mg__check_observer(check);
    if (way->threads == 1)
        observer.access = on_access;
    told = other_blocks = 0;
    const struct mg_observer asks = {.wants = MG_OBSERVE_EVERY | MG_OBSERVE_COUNTS | MG_OBSERVE_PARAMS,
                                     .launch_begin = asks_begin,
                                     .worker_begin = asks_worker,
                                     .access = asks_access, .blocks = asks_blocks};
    if (way->asked)
        assert_int_equal(mg__simt_observe(k.simt, &asks), MG_OK);
    assert_int_equal(mg__simt_observe(k.simt, &observer), MG_OK);
    const size_t bytes = (size_t)BLOCK * way->grid.x * 64;
    struct kit_params params = {{kit_alloc(&k, bytes), kit_alloc(&k, bytes)}};
    for (unsigned i = 0; i < 2; i++) {
        mg__check_allocated(check, params.p[i], bytes, MG_CHECK_DEVICE);
        if (way->filled >> i & 1)
            mg__check_filled(check, params.p[i], bytes);
    }
    kit_load(&k, ptx);
    for (unsigned i = 0; i < 2; i++) {
        if (i && strstr(ptx, "ld.volatile.global")) /* flags that are up already order nothing */
            memset((void *)(uintptr_t)params.p[1], 0, bytes);
        struct mg_simt_launch l = {.grid = way->grid, .block = way->block, .params = params.p};
        enum mg_status status = kit_launch_full(&k, &l);
        if (!way->fails)
            kit_expect(&k, status);
    }
    for (unsigned i = 0; i < 2; i++)
        memcpy(results[i], (const void *)(uintptr_t)params.p[i], bytes);
    kit_close(&k);
    mg__check_destroy(check);
}

static unsigned first = 1, count = 150, clean, wrong, parted;

static const struct way ways[] = {{.engine = "interp", .threads = 1},
                                  {.engine = "jit", .threads = 1},
                                  {.engine = "quick", .threads = 1},
                                  {.engine = "jit", .threads = 3},
                                  {.engine = "jit", .threads = 1, .asked = true},
                                  {.engine = "interp", .threads = 3, .asked = true},
                                  {.engine = "jit", .threads = 1, .checks = MG_CHECK_LONG}};

static void same_findings(void **unused)
{
    static struct text program, expected, found;
    (void)unused;
    if (!kit_compiles())
        skip();
    for (unsigned k = first; k < first + count; k++) {
        const bool in_rows = ways_make(&program, k);
        struct way way = {"interp",
                          1,
                          MG_CHECK_ALL | MG_CHECK_LONG,
                          ways_draw(4),
                          {k % 3 ? GRID : LARGE, 1, 1},
                          {ways_draw(4) ? BLOCK : BLOCK - 16, 1, 1},
                          false,
                          false};
        if (in_rows)
            way.block = (struct mg_dim3){ROW, BLOCK / ROW, 1};
        run(program.at, &way, &expected);
        *(expected.n ? &wrong : &clean) += 1;
        for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            const bool chance = strstr(expected.at, ", block ("); /* what they read of each other */
            if (chance && (ways[i].threads > 1 || ways[i].asked))
                continue;
            if (ways[i].asked && way.grid.x < LARGE)
                continue;
            way.engine = ways[i].engine;
            way.threads = ways[i].threads;
            way.checks = MG_CHECK_ALL | ways[i].checks;
            way.asked = ways[i].asked;
            run(program.at, &way, &found);
            parted += ways[i].asked && !other_blocks;
            if (strcmp(expected.at, found.at) != 0)
                fail_msg("program %u, %s, %u workers:\n%s\nthe long way finds\n%s\n%s", k, ways[i].engine,
                         ways[i].threads, found.at, expected.at, program.at);
        }
    }
    printf("%u kernels with findings, %u without; %u launched in two parts\n", wrong, clean, parted);
    assert_true(count < 100 || parted > count / 10);
    assert_true(count < 100 || (wrong > count / 10 && clean > count / 10));
}

/* ---- written out ---- */
/* The address of 32-bit element %r2 of %a, into %d1. */
#define AT "mul.wide.s32 %d9, %r2, 4; add.u64 %d1, %a, %d9;\n"
#define OWN "mov.u32 %r2, %gid;\n" AT
#define NEXT "add.u32 %r2, %gid, 1;\n" AT
#define PUT_GID "st.global.u32 [%d1], %gid;\n"
/* The beginning of a row of `n` elements for each thread, into %d2. */
#define ROW(n) "mul.wide.u32 %d10, %gid, 4*" #n "; add.u64 %d2, %a, %d10;\n"
/* For the flag of the block before, in %b; sets the block's own. */
#define WAITS                                                                                                          \
    "mul.wide.u32 %d12, %bid, 4; add.u64 %d13, %b, %d12; setp.ne.u32 %p5, %t, 0; setp.eq.u32 %p6, %bid, 0;\n"          \
    "or.pred %p5, %p5, %p6; @%p5 bra W1;\nW: ld.volatile.global.u32 %r30, [%d13+-4]; setp.eq.u32 %p7, %r30, 0;\n"     \
    "@%p7 bra W;\nmembar.gl;\nW1: bar.sync 0;\n"
#define TELLS                                                                                                          \
    "membar.gl; bar.sync 0; setp.ne.u32 %p5, %t, 0; @%p5 bra W2;\nmul.wide.u32 %d14, %bid, 4;\n"                      \
    "add.u64 %d15, %b, %d14; membar.gl; st.volatile.global.u32 [%d15], 1;\nW2:\n"
/* The thread's word of shared memory, into %r3. */
#define S_OWN "mov.u32 %r4, s; shl.b32 %r1, %t, 2; add.u32 %r3, %r4, %r1;\n"
/* The thread's double there, into %r8, and the next lane's, into %r9; it has stored its number. */
#define S_DOUBLE                                                                                               \
    "mov.u32 %r4, s; shl.b32 %r1, %t, 3; add.u32 %r8, %r4, %r1; xor.b32 %r9, %r1, 8; add.u32 %r9, %r9, %r4;\n" \
    "cvt.u64.u32 %d8, %t; st.shared.u64 [%r8], %d8;\n"
/* The thread's bytes there, into %r3, those of its counterpart in another warp, into %r7, and 16 of %b, into %d1. */
#define COPIES(bytes)                                                                                                  \
    "mov.u32 %r4, s; mul.lo.u32 %r3, %t, " #bytes "; sub.u32 %r7, 95*" #bytes ", %r3; add.u32 %r3, %r3, %r4;\n"       \
    "add.u32 %r7, %r7, %r4; and.b32 %r6, %t, 15; mul.wide.u32 %d9, %r6, 16; add.u64 %d1, %b, %d9;\n"
/* The thread has stored its number there; %r6: where the next lane's is. A loop begins. */
#define S_NEXT                                                                                                         \
    S_OWN "st.shared.u32 [%r3], %t;\nmov.u32 %r20, 0; add.u32 %r6, %lane, 1; and.b32 %r6, %r6, 31;\n"                 \
          "sub.u32 %r6, %r6, %lane; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r3;\n"
/* Doubles are added up at places of the lanes' own choice, %r6. */
#define ADDS                                                                                                           \
    S_DOUBLE "bar.sync 0;\nmul.lo.u32 %r6, %t, 7; and.b32 %r6, %r6, 31; shl.b32 %r6, %r6, 3; add.u32 %r6, %r6, %r4;\n" \
             "red.shared.add.u64 [%r6], %d8;"
/* Four words of each thread, at %r3, and then some thread's again and again. */
#define QUADS                                                                                                          \
    "mov.u32 %r4, s; shl.b32 %r3, %t, 4; add.u32 %r3, %r3, %r4; st.shared.v4.u32 [%r3], {%t, %t, %gid, %t};\n"         \
    "bar.sync 0;\nmov.u32 %r20, 0;\n"                                                                                 \
    "L: mad.lo.u32 %r6, %t, 11, %r20; rem.u32 %r6, %r6, 90; shl.b32 %r6, %r6, 4; add.u32 %r6, %r6, %r4;\n"            \
    "ld.shared.v4.u32 {%r5, %r7, %r8, %r9}, [%r6];\nadd.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 5; @%p1 bra L;\n"
#define LOCAL ".local .align 16 .b8 l[64]; mov.u64 %d1, l;\n"
#define PUT_R5 OWN "st.global.u32 [%d1], %r5;\n"
enum { FILLED = 3, NO_A = 2, ONLY_A = 1, NONE = 0 };

/* Of two launches. */
static const struct {
    const char *name, *body;
    unsigned findings, filled, grid_y, block_y;
    bool fails;
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
     "add.u32 %r20, %r20, 1; add.u32 %r2, %r4, 384; setp.lt.u32 %p1, %r20, 3; @%p1 bra L;\n"
     "mul.wide.u32 %d9, %gid, 4; add.u64 %d1, %a, %d9; st.global.u32 [%d1], %r5;\n",
     0, FILLED, 1, 1, false},

    /* Stores that are noted, and what they may hang on. */
    {"more of them than there are notes",
     S_OWN "mov.u32 %r20, 0;\nL: st.shared.u32 [%r3], %r20; ld.shared.u32 %r5, [%r3]; add.u32 %r20, %r20, 1;\n"
           "setp.lt.u32 %p1, %r20, 900; @%p1 bra L;\n" PUT_R5 "xor.b32 %r6, %r3, 4;\nld.shared.u32 %r7, [%r6];\n",
     2, FILLED, 1, 1, false},
    {"all warps store the same values",
     S_OWN "and.b32 %r6, %t, 31; shl.b32 %r7, %r6, 2; add.u32 %r7, %r7, %r4;\nst.shared.u32 [%r7], %r6;\n", 2, FILLED,
     1, 1, false},
    {"all warps store the same values, and then others",
     "mov.u32 %r4, s; shl.b32 %r7, %lane, 2; add.u32 %r7, %r7, %r4;\nst.shared.u32 [%r7], %lane;\n"
     "st.shared.u32 [%r7], %t;\nst.shared.u32 [%r7], %lane;\n", 2, FILLED, 1, 1, false},
    {"what was there before is stored again",
     "mov.u32 %r4, s; shl.b32 %r7, %lane, 2; add.u32 %r7, %r7, %r4;\nst.shared.u32 [%r7], 5;\nbar.sync 0;\n"
     "st.shared.u32 [%r7], 5;\nld.shared.u32 %r5, [%r7];\n", 6, FILLED, 1, 1, false},
    {"a named barrier for all, and a neighbour's word",
     S_OWN "st.shared.u32 [%r3], %t;\nbar.sync 1, 96;\nxor.b32 %r6, %r3, 256; ld.shared.u32 %r5, [%r3];\n"
           "st.shared.u32 [%r3], %r5;\nbar.sync 0;\nsub.u32 %r7, 380, %r3; add.u32 %r7, %r7, %r4;\n"
           "add.u32 %r7, %r7, %r4;\n"
           "ld.shared.u32 %r5, [%r7];\n" PUT_R5, 0, FILLED, 1, 1, false},
    {"a named barrier for some, and a neighbour's word",
     S_OWN "st.shared.u32 [%r3], %t;\nsetp.lt.u32 %p1, %t, 64; @%p1 bra T; bra J;\nT: bar.sync 1, 64;\n"
           "J: sub.u32 %r7, 380, %r3; add.u32 %r7, %r7, %r4; add.u32 %r7, %r7, %r4;\nld.shared.u32 %r5, [%r7];\n"
           "bar.sync 0;\n", 2, FILLED, 1, 1, false},
    {"a warp that does not come to the barrier",
     S_OWN "st.shared.u32 [%r3], %t;\nsetp.ge.u32 %p1, %t, 64; @%p1 bra X;\nbar.sync 0;\n"
           "ld.shared.u32 %r5, [%r3+128];\nX:\n", 2, FILLED, 1, 1, false},
    {"warps at different barriers",
     S_OWN "st.shared.u32 [%r3], %t;\nsetp.ge.u32 %p1, %t, 32; @%p1 bra X;\nbar.sync 0;\nbra Y;\nX:\nbar.sync 0;\n"
           "Y: sub.u32 %r7, 380, %r3; add.u32 %r7, %r7, %r4; add.u32 %r7, %r7, %r4;\nld.shared.u32 %r5, [%r7];\n", 2,
     FILLED, 1, 1, false},
    {"some of a warp at the barrier first, in a loop",
     S_OWN "mov.u32 %r20, 0;\nL: setp.lt.u32 %p1, %t, 7; @!%p1 bra B;\nst.shared.u32 [%r3], %r20;\nB: bar.sync 0;\n"
           "setp.lt.u32 %p2, %t, 32; @%p2 bra C;\nld.shared.u32 %r5, [%r3+-128];\nC: add.u32 %r20, %r20, 1;\n"
           "setp.lt.u32 %p3, %r20, 4; @%p3 bra L;\n", 2, FILLED, 1, 1, false},
    {"a neighbour's word behind a barrier of the warp, and another warp's",
     S_OWN "st.shared.u32 [%r3], %t;\nbar.warp.sync 0xffffffff;\nxor.b32 %r6, %lane, 31; sub.u32 %r6, %r6, %lane;\n"
           "shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r3; ld.shared.u32 %r5, [%r6];\n"
           "sub.u32 %r7, 380, %r3; add.u32 %r7, %r7, %r4; add.u32 %r7, %r7, %r4;\nld.shared.u32 %r6, [%r7];\n" PUT_R5,
     2, FILLED, 1, 1, false},
    /* Doubles, the next lane's, and what orders them. */
    {"a neighbour's double behind a barrier of the warp, again and again",
     S_DOUBLE "mov.u32 %r20, 0;\nL: bar.warp.sync 0xffffffff;\nld.shared.u64 %d9, [%r9]; add.u64 %d8, %d8, %d9;\n"
              "bar.warp.sync 0xffffffff;\nst.shared.u64 [%r8], %d8; add.u32 %r20, %r20, 1;\n"
              "setp.lt.u32 %p1, %r20, 4; @%p1 bra L;\ncvt.u32.u64 %r5, %d8;\n" PUT_R5,
     0, FILLED, 1, 1, false},
    {"the same, stored before the warp has met again",
     S_DOUBLE "mov.u32 %r20, 0;\nL: bar.warp.sync 0xffffffff;\nld.shared.u64 %d9, [%r9]; add.u64 %d8, %d8, %d9;\n"
              "st.shared.u64 [%r8], %d8; add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 4; @%p1 bra L;\n",
     2, FILLED, 1, 1, false},
    {"a neighbour's double, and the warp has not met", S_DOUBLE "ld.shared.u64 %d9, [%r9];\n", 2, FILLED, 1, 1, false},
    {"half of a double, and the warp has not met", S_DOUBLE "ld.shared.u32 %r5, [%r9+4];\n", 2, FILLED, 1, 1, false},
    {"one double for all lanes, behind a barrier of the warp",
     S_DOUBLE "sub.u32 %r9, %t, %lane; shl.b32 %r9, %r9, 3; add.u32 %r9, %r9, %r4;\nbar.warp.sync 0xffffffff;\n"
              "ld.shared.u64 %d9, [%r9+40];\nbar.warp.sync 0xffffffff;\nst.shared.u64 [%r8], %d9;\n",
     0, FILLED, 1, 1, false},
    {"one double for all lanes, which its lane stores too early",
     S_DOUBLE "sub.u32 %r9, %t, %lane; shl.b32 %r9, %r9, 3; add.u32 %r9, %r9, %r4;\nbar.warp.sync 0xffffffff;\n"
              "ld.shared.u64 %d9, [%r9+40];\nst.shared.u64 [%r8], %d9;\n",
     2, FILLED, 1, 1, false},
    {"half of the warp meets, and reads its own half",
     S_DOUBLE "setp.ge.u32 %p1, %lane, 16; @%p1 bra X;\nbar.warp.sync 0x0000ffff;\nbra Y;\n"
              "X: bar.warp.sync 0xffff0000;\nY: ld.shared.u64 %d9, [%r9];\n",
     0, FILLED, 1, 1, false},
    {"half of the warp meets, and reads the other half",
     S_DOUBLE "xor.b32 %r9, %r1, 128; add.u32 %r9, %r9, %r4; setp.ge.u32 %p1, %lane, 16; @%p1 bra X;\n"
              "bar.warp.sync 0x0000ffff;\nbra Y;\nX: bar.warp.sync 0xffff0000;\nY: ld.shared.u64 %d9, [%r9];\n",
     2, FILLED, 1, 1, false},
    {"read by another warp as well, before the warp meets and stores",
     S_DOUBLE "bar.sync 0;\nsetp.ge.u32 %p1, %t, 32; @!%p1 bra X;\nshl.b32 %r9, %lane, 3; add.u32 %r9, %r9, %r4;\n"
              "X: ld.shared.u64 %d9, [%r9];\nbar.warp.sync 0xffffffff;\n@%p1 bra Z;\nst.shared.u64 [%r8], %d9;\nZ:\n",
     2, FILLED, 1, 1, false},
    /* Warps that meet in the midst of notes. */
    {"words of the warp go round, again and again",
     S_NEXT "L: bar.warp.sync 0xffffffff; ld.shared.u32 %r5, [%r6]; bar.warp.sync 0xffffffff;\n"
           "st.shared.u32 [%r3], %r5; add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 40; @%p1 bra L;\n" PUT_R5,
     0, FILLED, 1, 1, false},
    {"the same, and the warp meets only before it reads",
     S_NEXT "L: bar.warp.sync 0xffffffff;\nld.shared.u32 %r5, [%r6];\n"
           "st.shared.u32 [%r3], %r5;\nadd.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 40; @%p1 bra L;\n",
     2, FILLED, 1, 1, false},
    {"a neighbour's place in global memory, behind a shared word and a meeting of the warp",
     S_OWN OWN PUT_GID "xor.b32 %r2, %gid, 1;\n" AT "mov.u32 %r20, 0;\nL: st.shared.u32 [%r3], %r20;\n"
           "shfl.sync.idx.b32 %r7, %r3, 0, 31, 0xffffffff; ld.global.u32 %r5, [%d1]; ld.shared.u32 %r6, [%r3];\n"
           "add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 4; @%p1 bra L;\n",
     0, NONE, 1, 1, false},
    {"the same, and the warp meets behind it",
     S_OWN OWN PUT_GID "xor.b32 %r2, %gid, 1;\n" AT "mov.u32 %r20, 0;\nL: st.shared.u32 [%r3], %r20;\n"
           "ld.global.u32 %r5, [%d1];\nshfl.sync.idx.b32 %r7, %r3, 0, 31, 0xffffffff; ld.shared.u32 %r6, [%r3];\n"
           "add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 4; @%p1 bra L;\n",
     2, FILLED, 1, 1, false},
    /* Lanes of 8 and 16 bytes at places of their own choice. */
    {"doubles added up at places of their own choice",
     ADDS " mad.lo.u32 %r6, %t, 5, 3; and.b32 %r6, %r6, 31; shl.b32 %r6, %r6, 3;\n"
              "add.u32 %r6, %r6, %r4; atom.shared.add.u64 %d9, [%r6], %d8;\nbar.sync 0;\n"
              "ld.shared.u64 %d9, [%r6]; cvt.u32.u64 %r5, %d9;\n" PUT_R5, 0, FILLED, 1, 1, false},
    {"half of one is read before the block meets",
     ADDS "\nsub.u32 %r7, %r4, %r6; add.u32 %r7, %r7, %r4; add.u32 %r7, %r7, 252;\n"
              "ld.shared.u32 %r5, [%r7];\n" PUT_R5, 2, FILLED, 1, 1, false},
    {"one is stored where another one is added to",
     ADDS "\nsetp.eq.u32 %p1, %t, 95; @%p1 bra X; bra Y;\n"
              "X: st.shared.u64 [%r4+8], %d8;\nY:\n", 2, FILLED, 1, 1, false},
    {"four words at places of their own choice, and one of them is stored again",
     QUADS "setp.ge.u32 %p2, %t, 90; @%p2 st.shared.u32 [%r3+8], 1;\n" PUT_R5, 0, FILLED, 1, 1, false},
    {"the same, of a place that another warp reads",
     QUADS "setp.eq.u32 %p2, %t, 70;\n@%p2 st.shared.u32 [%r3+8], 1;\n", 2, FILLED, 1, 1, false},
    /* Asynchronous copies: by each thread into its place, which another warp reads. */
    {"copies round after round, each behind a barrier",
     COPIES(16) "mov.u32 %r20, 0;\nL: cp.async.cg.shared.global [%r3], [%d1], 16; cp.async.commit_group;\n"
            "cp.async.wait_group 0; bar.sync 0;\nld.shared.u32 %r5, [%r7]; bar.sync 0;\n"
            "add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 5; @%p1 bra L;\n" PUT_R5,
     0, NO_A, 1, 1, false},
    {"the same, read before the block has met",
     COPIES(16) "mov.u32 %r20, 0;\nL: cp.async.cg.shared.global [%r3], [%d1], 16; cp.async.commit_group;\n"
            "cp.async.wait_group 0;\nld.shared.u32 %r5, [%r7];\nbar.sync 0;\n"
            "add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 5; @%p1 bra L;\n" PUT_R5,
     2, NO_A, 1, 1, false},
    {"the same, and nobody waits",
     COPIES(16) "cp.async.ca.shared.global [%r3], [%d1], 16; cp.async.commit_group; bar.sync 0;\n"
            "ld.shared.u32 %r5, [%r7];\n" PUT_R5, 2, NO_A, 1, 1, false},
    {"two stages, of which one is waited for",
     COPIES(8) "mov.u32 %r20, 0;\ncp.async.ca.shared.global [%r3], [%d1], 8; cp.async.commit_group;\n"
            "L: cp.async.ca.shared.global [%r3+768], [%d1], 8; cp.async.commit_group;\ncp.async.wait_group 1;\n"
            "bar.sync 0; ld.shared.u32 %r5, [%r7]; bar.sync 0;\n"
            "cp.async.ca.shared.global [%r3], [%d1], 8; cp.async.commit_group;\ncp.async.wait_group 1; bar.sync 0;\n"
            "ld.shared.u32 %r6, [%r7+768]; bar.sync 0;\n"
            "add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 3; @%p1 bra L;\n" PUT_R5,
     0, NO_A, 1, 1, false},
    {"two stages, and the one that is read is not the one waited for",
     COPIES(8) "cp.async.ca.shared.global [%r3], [%d1], 8; cp.async.commit_group;\n"
            "cp.async.ca.shared.global [%r3+768], [%d1], 8; cp.async.commit_group;\ncp.async.wait_group 1;\n"
            "bar.sync 0; ld.shared.u32 %r5, [%r7];\nld.shared.u32 %r6, [%r7+768];\nadd.u32 %r5, %r5, %r6;\n" PUT_R5,
     2, NO_A, 1, 1, false},
    {"a copy into what others still read, and one over another",
     COPIES(16) "cp.async.cg.shared.global [%r3], [%d1], 16; cp.async.commit_group;\n"
                "cp.async.wait_group 0; bar.sync 0;\n"
            "ld.shared.u32 %r5, [%r7];\ncp.async.cg.shared.global [%r3], [%d1], 16;\n"
            "cp.async.cg.shared.global [%r3], [%d1], 16;\ncp.async.commit_group; cp.async.wait_group 0;\n" PUT_R5,
     6, NO_A, 1, 1, false},
    /* Threads' own memory. */
    {"an array that all lanes fill, and each reads where it likes",
     LOCAL "st.local.v4.u32 [%d1], {%t, %t, %t, %t}; st.local.v2.u32 [%d1+16], {%t, %t};\n"
           "and.b32 %r6, %t, 3; mul.wide.u32 %d9, %r6, 4; add.u64 %d2, %d1, %d9; st.local.u32 [%d2+4], %gid;\n"
           "ld.local.u32 %r5, [%d2+8];\n" PUT_R5, 0, FILLED, 1, 1, false},
    {"the same, and some read behind its end",
     LOCAL "st.local.v4.u32 [%d1], {%t, %t, %t, %t}; st.local.v2.u32 [%d1+16], {%t, %t};\n"
           "and.b32 %r6, %t, 3; mul.wide.u32 %d9, %r6, 4; add.u64 %d2, %d1, %d9; ld.local.u32 %r5, [%d2+16];\n"
           "setp.eq.u32 %p1, %r5, 7; @%p1 st.shared.u32 [s], 1;\n", 2, FILLED, 1, 1, false},
    {"an array that some lanes fill, and all read",
     LOCAL "st.local.u32 [%d1], %t; setp.lt.u32 %p1, %lane, 30; @%p1 st.local.u32 [%d1+4], %t;\n"
           "ld.local.u32 %r5, [%d1]; ld.local.u32 %r6, [%d1+4];\nsetp.eq.u32 %p2, %r6, 7; @%p2 st.shared.u32 [s], 1;\n",
     2, FILLED, 1, 1, false},
    /* Volatile words. */
    {"a volatile word of one's own",
     S_OWN "mov.u32 %r20, 0;\nL: st.volatile.shared.u32 [%r3], %r20; ld.volatile.shared.u32 %r5, [%r3];\n"
           "ld.shared.u32 %r6, [%r3]; add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 9; @%p1 bra L;\n" PUT_R5,
     0, FILLED, 1, 1, false},
    {"a neighbour's volatile word behind a meeting of the warp",
     S_OWN "xor.b32 %r6, %r3, 4;\nst.volatile.shared.u32 [%r3], %t; bar.warp.sync 0xffffffff;\n"
           "ld.volatile.shared.u32 %r5, [%r6]; bar.warp.sync 0xffffffff; st.volatile.shared.u32 [%r3], %r5;\n" PUT_R5,
     0, FILLED, 1, 1, false},
    {"a neighbour's volatile word, and the warp has not met",
     S_OWN "xor.b32 %r6, %r3, 4;\nst.volatile.shared.u32 [%r3], %t;\nld.volatile.shared.u32 %r5, [%r6];\n" PUT_R5,
     2, FILLED, 1, 1, false},
    {"a volatile word that another warp reads",
     S_OWN "st.volatile.shared.u32 [%r3], %t; bar.sync 0;\nld.volatile.shared.u32 %r5, [%r3];\n"
           "ld.shared.u32 %r6, [%r3];\nsub.u32 %r7, 380, %r3; add.u32 %r7, %r7, %r4; add.u32 %r7, %r7, %r4;\n"
           "ld.shared.u32 %r6, [%r7]; setp.eq.u32 %p1, %t, 3;\n@%p1 st.volatile.shared.u32 [%r3], 7;\n",
     2, FILLED, 1, 1, false},
    {"volatile words, with a fence, and a flag",
     S_OWN "st.volatile.shared.u32 [%r3], %t;\nmembar.cta; st.volatile.shared.u32 [%r3+512], 1;\n"
           "ld.volatile.shared.u32 %r5, [%r3+512]; ld.volatile.shared.u32 %r6, [%r3];\n" PUT_R5,
     0, FILLED, 1, 1, false},
    {"a volatile word that nobody has written",
     S_OWN "ld.volatile.shared.u32 %r5, [%r3];\nsetp.eq.u32 %p1, %r5, 3; @%p1 st.shared.u32 [%r3], 1;\n",
     2, FILLED, 1, 1, false},
    {"a shuffle, and doubles far apart",
     "mov.u32 %r4, s; mul.lo.u32 %r1, %lane, 33; shl.b32 %r1, %r1, 3; rem.u32 %r1, %r1, 768; add.u32 %r8, %r4, %r1;\n"
     "setp.ge.u32 %p1, %t, 32; cvt.u64.u32 %d8, %t; @%p1 bra X;\nst.shared.u64 [%r8], %d8;\n"
     "shfl.sync.bfly.b32 %r5, %r8, 1, 31, 0xffffffff;\nld.shared.u64 %d9, [%r5];\nX:\n",
     0, FILLED, 1, 1, false},
    {"columns, and rows of them",
     "mov.u32 %r4, s; mad.lo.u32 %r3, %t, 20, %r4; st.shared.u32 [%r3], %t; st.shared.u32 [%r3+4], %t;\nbar.sync 0;\n"
     "ld.shared.u32 %r5, [%r3+4]; ld.shared.u32 %r6, [%r3+8];\nadd.u32 %r5, %r5, %r6;\n" PUT_R5, 2, FILLED, 1, 1,
     false},
    {"four words each, and the next thread's",
     "mov.u32 %r4, s; mad.lo.u32 %r3, %t, 16, %r4; st.shared.v4.u32 [%r3], {%t, %t, %gid, %t};\n"
     "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r3];\nst.shared.v2.u32 [%r3], {%r7, %r8};\nbar.sync 0;\n"
     "ld.shared.u32 %r5, [%r3+12]; xor.b32 %r9, %r3, 16; ld.shared.v2.u32 {%r6, %r7}, [%r9];\n" PUT_R5
     "st.shared.u32 [%r3+8], %t;\nld.shared.u32 %r5, [%r3+4];\n", 0, FILLED, 1, 1, false},
    {"counters, and what they come to",
     S_OWN "st.shared.u32 [%r3], 0;\nbar.sync 0;\nmul.lo.u32 %r6, %t, 7; and.b32 %r6, %r6, 31; shl.b32 %r6, %r6, 2;\n"
           "add.u32 %r6, %r6, %r4; red.shared.add.u32 [%r6], 3;\nred.shared.add.u32 [%r6+4], 1;\nbar.sync 0;\n"
           "ld.shared.u32 %r5, [%r3];\n" PUT_R5, 0, FILLED, 1, 1, false},
    {"counters, read too early",
     S_OWN "st.shared.u32 [%r3], 0;\nbar.sync 0;\nmul.lo.u32 %r6, %t, 7; and.b32 %r6, %r6, 31; shl.b32 %r6, %r6, 2;\n"
           "add.u32 %r6, %r6, %r4;\nred.shared.add.u32 [%r6], 3;\nld.shared.u32 %r5, [%r3];\n"
           "red.shared.add.u32 [%r6], 1;\n", 4, FILLED, 1, 1, false},
    {"counters, set again too early",
     S_OWN "st.shared.u32 [%r3], 0;\nbar.sync 0;\nmul.lo.u32 %r6, %t, 7; and.b32 %r6, %r6, 31; shl.b32 %r6, %r6, 2;\n"
           "add.u32 %r6, %r6, %r4;\nred.shared.add.u32 [%r6], 3;\nst.shared.u32 [%r3], 0;\n", 2, FILLED, 1, 1, false},
    {"a table, and a word of it that changes",
     S_OWN "st.shared.u32 [%r3], %t;\nbar.sync 0;\nmul.lo.u32 %r6, %t, %t; and.b32 %r6, %r6, 63; shl.b32 %r6, %r6, 2;\n"
           "add.u32 %r6, %r6, %r4;\nld.shared.u32 %r5, [%r6];\nst.shared.u32 [%r3], 1;\nld.shared.u32 %r7, [%r6];\n", 4,
     FILLED, 1, 1, false},
    {"counters, and a table beside them",
     S_OWN "st.shared.u32 [%r3], 0;\nbar.sync 0;\nmul.lo.u32 %r6, %t, 7; and.b32 %r6, %r6, 15; shl.b32 %r6, %r6, 2;\n"
           "add.u32 %r6, %r6, %r4; ld.shared.u32 %r5, [%r6+64]; red.shared.add.u32 [%r6], 3;\n"
           "ld.shared.u32 %r7, [%r6+64]; red.shared.add.u32 [%r6], %r5; setp.ge.u32 %p1, %t, 32; @!%p1 bra X;\n"
           "st.shared.u32 [%r3], %r7; ld.shared.u32 %r5, [%r3];\nX: bar.sync 0;\nld.shared.u32 %r5, [%r3];\n" PUT_R5,
     0, FILLED, 1, 1, false},
    {"counters that are a word of the table",
     S_OWN "st.shared.u32 [%r3], 0;\nbar.sync 0;\nmul.lo.u32 %r6, %t, 7; and.b32 %r6, %r6, 15; shl.b32 %r6, %r6, 2;\n"
           "add.u32 %r6, %r6, %r4; ld.shared.u32 %r5, [%r6+60];\nred.shared.add.u32 [%r6], 3;\n", 2, FILLED, 1, 1,
     false},
    {"counters, set to the same number by two warps before",
     S_OWN "st.shared.u32 [%r3], 0;\nbar.sync 0;\nshl.b32 %r6, %lane, 2; add.u32 %r6, %r6, %r4;\n"
           "setp.ge.u32 %p1, %t, 64; @%p1 bra X;\nst.shared.u32 [%r6], 5;\nbra Y;\n"
           "X: red.shared.add.u32 [%r6], 3;\nY: bar.sync 0;\n", 4, FILLED, 1, 1, false},
    {"words of two warps",
     S_OWN "st.shared.u32 [%r3], 0;\nbar.sync 0;\nand.b32 %r6, %t, 63; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r4;\n"
           "st.shared.u32 [%r6], %t;\n", 2, FILLED, 1, 1, false},
    {"the next lane's word, and the warp has not met",
     S_OWN "st.shared.u32 [%r3], 0; setp.lt.u32 %p1, %lane, 31;\nbar.sync 0;\nst.shared.u32 [%r3], %t;\n"
           "@%p1 ld.shared.u32 %r5, [%r3+4];\n", 2, FILLED, 1, 1, false},
    {"the next lane's word, stored to as well",
     S_OWN "st.shared.u32 [%r3], 0; setp.lt.u32 %p1, %lane, 31;\nbar.sync 0;\nst.shared.u32 [%r3], %t;\n"
           "@%p1 st.shared.u32 [%r3+4], %t;\n", 2, FILLED, 1, 1, false},
    {"the next lane's word in a table, and the warp has not met",
     S_OWN "st.shared.u32 [%r3], 0;\nbar.sync 0;\nst.shared.u32 [%r3], %t; mul.lo.u32 %r6, %lane, 5;\n"
           "and.b32 %r6, %r6, 31; sub.u32 %r6, %r6, %lane; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r3;\n"
           "ld.shared.u32 %r5, [%r6];\n", 2, FILLED, 1, 1, false},
    {"pairs of words, each one lane's",
     S_OWN "st.shared.u32 [%r3], %t; and.b32 %r6, %t, 7; add.u32 %r6, %t, %r6; mov.u32 %r20, 0;\n"
           "st.shared.u32 [%r3+384], %t; shr.u32 %r7, %t, 2; shl.b32 %r8, %r7, 3; and.b32 %r9, %t, 3;\n"
           "add.u32 %r8, %r8, %r9; shl.b32 %r8, %r8, 2; add.u32 %r8, %r8, %r4;\n"
           "L: bar.sync 0;\nld.shared.u32 %r5, [%r8]; ld.shared.u32 %r6, [%r8+16];\n"
           "st.shared.u32 [%r8], %r6; st.shared.u32 [%r8+16], %r5;\n"
           "add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 4; @%p1 bra L;\n" PUT_R5, 0, FILLED, 1, 1, false},
    {"read where lanes have parted, by eight bytes, and then stored to by another warp",
     S_OWN "st.shared.u32 [%r3], %t; st.shared.u32 [%r3+384], %t; and.b32 %r7, %lane, 3; mov.u32 %r20, 0;\n"
           "shl.b32 %r9, %t, 3; add.u32 %r9, %r9, %r4;\nbar.sync 0;\n"
           "L: ld.shared.v2.u32 {%r5, %r6}, [%r9];\nadd.u32 %r20, %r20, 1; setp.le.u32 %p1, %r20, %r7; @%p1 bra L;\n"
           "st.shared.u32 [%r3], %r20;\nbar.sync 0;\n", 2, FILLED, 1, 1, false},
    {"words that are copied, which in the next block are stored to first",
     S_OWN "st.shared.u32 [%r3], %t; xor.b32 %r6, %r3, 4;\nbar.sync 0;\nld.shared.u32 %r5, [%r6];\nbar.sync 0;\n"
     OWN "cp.async.ca.shared.global [%r3], [%d1], 4; cp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %r7, [%r6];\n"
         "add.u32 %r5, %r5, %r7; mul.wide.u32 %d10, %gid, 4; add.u64 %d2, %b, %d10; st.global.u32 [%d2], %r5;\n",
     0, FILLED, 1, 1, false},
    {"counters of eight bytes, and of their halves",
     S_OWN "st.shared.u32 [%r3], 0; st.shared.u32 [%r3+384], 0; shl.b32 %r6, %lane, 3; add.u32 %r6, %r6, %r4;\n"
           "mov.u64 %d8, 1; setp.ge.u32 %p1, %t, 32;\nbar.sync 0;\n@%p1 bra X;\n"
           "red.shared.add.u64 [%r6], %d8;\nbra Y;\nX: red.shared.add.u32 [%r6], 3;\nY: bar.sync 0;\n", 2, FILLED, 1,
     1, false},
    {"the same in global memory",
     "mul.wide.u32 %d10, %lane, 8; add.u64 %d2, %a, %d10; mov.u64 %d8, 1; setp.ge.u32 %p1, %t, 32;\n@%p1 bra X;\n"
     "red.global.add.u64 [%d2], %d8;\nbra Y;\nX: red.global.add.u32 [%d2], 3;\nY: bar.sync 0;\n", 2, FILLED, 1, 1,
     false},
    {"counters that nobody has set",
     S_OWN "mul.lo.u32 %r6, %t, 7; and.b32 %r6, %r6, 31; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r4;\n"
           "red.shared.add.u32 [%r6], 3;\n", 2, FILLED, 1, 1, false},

    /* Places of threads' own (src/check/own.c), and what is nearly so. */
    {"each thread its own", OWN PUT_GID, 0, NONE, 1, 1, false},
    {"read, changed and written", OWN "ld.global.u32 %r5, [%d1]; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;\n", 0,
     FILLED, 1, 1, false},
    {"read before anybody wrote it",
     OWN "ld.global.u32 %r5, [%d1]; setp.eq.u32 %p1, %r5, 7; @%p1 bra X; st.global.u32 [%d1], 3;\nX:\n", 1, NO_A, 1,
     1, false},
    {"written and read", OWN PUT_GID "ld.global.u32 %r5, [%d1]; setp.eq.u32 %p1, %r5, 7; @%p1 bra X;\n"
                                     "st.global.u32 [%d1], 3;\nX:\n", 0, NONE, 1, 1, false},
    {"half of it is written, and another one read",
     "shl.b32 %r2, %gid, 1;\n" AT PUT_GID "ld.global.u32 %r5, [%d1+4]; setp.eq.u32 %p1, %r5, 7; @%p1 bra X;\n"
     "st.global.u32 [%d1], 3;\nX:\n", 2, NONE, 1, 1, false},
    {"the block's number forgotten", "mov.u32 %r2, %t;\n" AT PUT_GID, 2, FILLED, 1, 1, false},
    {"the block's number in y forgotten", OWN PUT_GID, 2, FILLED, 2, 1, false},
    {"the thread's number in y forgotten", OWN PUT_GID, 2, FILLED, 1, 2, false},
    {"the block's number in y kept",
     "mov.u32 %r3, %ctaid.y; mad.lo.u32 %r2, %r3, 480, %gid;\n" AT "st.global.u32 [%d1], %gid;\n", 0, FILLED, 2, 1,
     false},
    {"the rows of blocks in y overlap by one",
     "mov.u32 %r3, %ctaid.y; mad.lo.u32 %r2, %r3, 479, %gid;\n" AT "st.global.u32 [%d1], %gid;\n", 2, FILLED, 2, 1,
     false},
    {"two elements each", "shl.b32 %r2, %gid, 1;\n" AT "st.global.v2.u32 [%d1], {%gid, %t};\n", 0, FILLED, 1, 1, false},
    {"two elements each, the last another one's first",
     "shl.b32 %r2, %gid, 1;\n" AT PUT_GID "st.global.u32 [%d1+4], %t; st.global.u32 [%d1+8], %t;\n", 4, FILLED, 1, 1,
     false},
    {"four elements, of which the next thread has three",
     OWN "st.global.u32 [%d1], %gid; st.global.u32 [%d1+12], %t;\n",
     4, FILLED, 1, 1, false},
    {"rows of 96, and of 95", "mad.lo.u32 %r2, %bid, 95, %t;\n" AT PUT_GID, 2, FILLED, 1, 1, false},
    {"one thread writes where another does",
     OWN PUT_GID "setp.eq.u32 %p1, %gid, 7; @%p1 st.global.u32 [%a+400], %gid;\n", 2, FILLED, 1, 1, false},
    {"one thread reads what another writes",
     OWN PUT_GID "setp.eq.u32 %p1, %gid, 7; @%p1 ld.global.u32 %r5, [%a+400];\n", 2, FILLED, 1, 1, false},
    {"an atomic beside", OWN PUT_GID "red.global.add.u32 [%a+200], 1;\n", 4, FILLED, 1, 1, false},
    {"an atomic on its own place", OWN PUT_GID "red.global.add.u32 [%d1], 1;\n", 0, FILLED, 1, 1, false},
    {"through a pointer that may be any",
     OWN PUT_GID "and.b64 %d2, %d1, 4; add.u64 %d3, %a, 100; sub.u64 %d4, %b, %d2; setp.eq.u64 %p1, %d2, 4;\n"
                 "selp.b64 %d3, %d3, %b, %p1; st.global.u32 [%d3], %gid;\n", 10, FILLED, 1, 1, false},
    {"backwards", "sub.u32 %r2, 1000, %gid;\n" AT PUT_GID, 0, FILLED, 1, 1, false},
    {"forwards and backwards",
     OWN PUT_GID "sub.u32 %r2, 479, %gid;\n" AT "st.global.u32 [%d1], %t;\n", 4, FILLED, 1, 1, false},
    {"an index that wraps",
     "shl.b32 %r2, %gid, 25; and.b32 %r3, %gid, 127; setp.eq.u32 %p1, %r3, 0; @!%p1 bra X;\n" AT PUT_GID "X:\n", 2,
     FILLED, 1, 1, false},
    {"a block's number that wraps",
     "shl.b32 %r3, %bid, 30; add.u32 %r2, %r3, %t; and.b32 %r4, %bid, 3; setp.eq.u32 %p1, %r4, 0; @!%p1 bra X;\n" AT
     PUT_GID "X:\n", 2, FILLED, 1, 1, false},
    {"steps of one forwards, and of two backwards",
     OWN PUT_GID "shl.b32 %r3, %gid, 1; sub.u32 %r4, 959, %r3; mul.wide.s32 %d11, %r4, 4;\n"
                 "add.u64 %d12, %a, %d11; st.global.u32 [%d12], %t;\n", 4, FILLED, 1, 1,
     false},
    {"an address that wraps",
     "cvt.u64.u32 %d8, %gid; shl.b64 %d9, %d8, 57; add.u64 %d1, %d9, %a; and.b32 %r3, %gid, 127;\n"
     "setp.eq.u32 %p1, %r3, 0; @!%p1 bra X;\n" PUT_GID "X:\n", 2, FILLED, 1, 1, false},
    {"some threads only", "setp.lt.u32 %p1, %gid, 301; @!%p1 bra X;\n" OWN PUT_GID "X:\n", 0, NONE, 1, 1, false},
    {"some threads only, which all read",
     "setp.lt.u32 %p1, %gid, 301; mov.u32 %r5, 1; @!%p1 bra X;\n" OWN PUT_GID
     "X:\nmov.u32 %r2, %gid;\n" AT "ld.global.u32 %r5, [%d1]; setp.eq.u32 %p2, %r5, 7; @%p2 st.global.u32 [%d1], 3;\n",
     2, NONE, 1, 1, false},
    {"strides of more than the grid",
     "mov.u32 %r2, %gid;\nL:\n" AT PUT_GID "add.u32 %r2, %r2, 512; setp.lt.u32 %p1, %r2, 5000; @%p1 bra L;\n", 0,
     NONE, 1, 1, false},
    {"strides of less than the grid",
     "mov.u32 %r2, %gid;\nL:\n" AT PUT_GID "add.u32 %r2, %r2, 256; setp.lt.u32 %p1, %r2, 5000; @%p1 bra L;\n", 2,
     FILLED, 1, 1, false},
    {"strides of less than the grid, some rounds later",
     "mov.u32 %r2, %gid; mov.u32 %r3, %gid; mov.u32 %r4, %gid; mov.u32 %r5, %gid; mov.u32 %r20, 0;\n"
     "L: mul.wide.s32 %d9, %r5, 4; add.u64 %d1, %a, %d9;\n" PUT_GID
     "mov.u32 %r5, %r4; mov.u32 %r4, %r3; mov.u32 %r3, %r2; add.u32 %r2, %r2, 256;\n"
     "add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 6; @%p1 bra L;\n", 2, FILLED, 1, 1, false},
    {"strides of the grid, from another place at times",
     "mov.u32 %r2, %gid; setp.lt.u32 %p2, %gid, 400; @%p2 add.u32 %r2, %r2, 1;\nL:\n" AT PUT_GID
     "add.u32 %r2, %r2, 512; setp.lt.u32 %p1, %r2, 5000; @%p1 bra L;\n", 2, FILLED, 1, 1, false},
    {"bytes", "cvt.u64.u32 %d9, %gid; add.u64 %d1, %d9, %a; st.global.u8 [%d1], %t;\n", 0, NONE, 1, 1, false},
    {"bytes of words, behind them words, and the next launch reads the first",
     OWN "ld.global.u32 %r5, [%d1];\n"
         "setp.eq.u32 %p1, %r5, 7; @%p1 bra X;\nX:\n" "st.global.u8 [%d1], %gid; st.global.u32 [%d1+1920], %gid;\n",
     2, NONE, 1, 1, false},
    {"eight bytes, and far apart",
     "mul.wide.u32 %d9, %gid, 64; add.u64 %d1, %a, %d9; cvt.u64.u32 %d2, %gid; st.global.v2.u64 [%d1], {%d2, %d1};\n"
     "st.global.u64 [%d1+24], %d2;\n", 0, NONE, 1, 1, false},
    {"past the end", "mul.wide.u32 %d9, %gid, 64; add.u64 %d1, %a, %d9; st.global.u32 [%d1+256], %gid;\n", 2, FILLED, 1,
     1, true},
    {"before the beginning", "sub.u32 %r2, %gid, 3;\n" AT PUT_GID, 2, FILLED, 1, 1, true},
    /* Rows of threads' own, from loops of one block. */
    {"rows of eight",
     ROW(8) "mov.u32 %r20, 0;\n"
            "L: add.u64 %d3, %d2, 4; st.global.u32 [%d3+-4], %gid; add.u64 %d2, %d2, 4; add.u32 %r20, %r20, 1;\n"
            "setp.ne.u32 %p1, %r20, 8; @%p1 bra L;\n",
     0, NONE, 1, 1, false},
    {"rows of eight, of which nine are written",
     ROW(8) "mov.u32 %r20, 0;\n"
            "L: st.global.u32 [%d2], %gid; add.u64 %d2, %d2, 4; add.u32 %r20, %r20, 1;\n"
            "setp.ne.u32 %p1, %r20, 9; @%p1 bra L;\n",
     4, FILLED, 1, 1, false},
    {"rows of eight, written behind the step",
     ROW(8) "mov.u32 %r20, 0;\n"
            "L: add.u64 %d2, %d2, 4; st.global.u32 [%d2], %gid; add.u32 %r20, %r20, 1;\n"
            "setp.ne.u32 %p1, %r20, 8; @%p1 bra L;\n",
     0, NONE, 1, 1, false},
    {"rows of eight, and one behind the loop",
     ROW(8) "mov.u32 %r20, 0;\n"
            "L: st.global.u32 [%d2], %gid; add.u64 %d2, %d2, 4; add.u32 %r20, %r20, 1;\n"
            "setp.ne.u32 %p1, %r20, 8; @%p1 bra L;\nst.global.u32 [%d2], %t;\n",
     4, FILLED, 1, 1, false},
    {"rows of eight backwards",
     ROW(8) "mov.u32 %r20, 7;\n"
            "L: st.global.u32 [%d2+28], %gid; add.s64 %d2, %d2, -4; add.s32 %r20, %r20, -1;\n"
            "setp.ge.s32 %p1, %r20, 0; @%p1 bra L;\n",
     0, NONE, 1, 1, false},
    {"rows of eight backwards, one too far",
     ROW(8) "mov.u32 %r20, 7;\n"
            "L: st.global.u32 [%d2+28], %gid; add.s64 %d2, %d2, -4; add.s32 %r20, %r20, -1;\n"
            "setp.ge.s32 %p1, %r20, -1; @%p1 bra L;\n",
     6, FILLED, 1, 1, true},
    {"rows of eight, until it is not so",
     ROW(8) "mov.u32 %r20, 0;\n"
            "L: st.global.u32 [%d2], %gid; add.u64 %d2, %d2, 4; add.u32 %r20, %r20, 1;\n"
            "setp.gt.s32 %p1, %r20, 7; @!%p1 bra L;\n",
     0, NONE, 1, 1, false},
    {"rows of eight, until it is more",
     ROW(8) "mov.u32 %r20, 0;\n"
            "L: st.global.u32 [%d2], %gid; add.u64 %d2, %d2, 4; add.u32 %r20, %r20, 1;\n"
            "setp.gt.s32 %p1, %r20, 8; @!%p1 bra L;\n",
     4, FILLED, 1, 1, false},
    {"a row of 96 of each block, in three steps of 32 threads",
     "mul.lo.u32 %r3, %bid, 96; and.b32 %r4, %t, 31; mov.u32 %r20, %r4;\n"
     "L: add.u32 %r2, %r3, %r20; mul.wide.s32 %d9, %r2, 4; add.u64 %d1, %a, %d9; st.global.u32 [%d1], %gid;\n"
     "add.u32 %r20, %r20, 32; setp.lt.s32 %p1, %r20, 96; @%p1 bra L;\n",
     2, FILLED, 1, 1, false},
    {"a row of 192 of each block, in two steps",
     "mul.lo.u32 %r3, %bid, 192; mov.u32 %r20, %t;\n"
     "L: add.u32 %r2, %r3, %r20; mul.wide.s32 %d9, %r2, 4; add.u64 %d1, %a, %d9; st.global.u32 [%d1], %gid;\n"
     "add.u32 %r20, %r20, 96; setp.lt.s32 %p1, %r20, 192; @%p1 bra L;\n",
     0, NONE, 1, 1, false},
    {"a row of 191 of each block, in two steps",
     "mul.lo.u32 %r3, %bid, 191; mov.u32 %r20, %t;\n"
     "L: add.u32 %r2, %r3, %r20; mul.wide.s32 %d9, %r2, 4; add.u64 %d1, %a, %d9; st.global.u32 [%d1], %gid;\n"
     "add.u32 %r20, %r20, 96; setp.lt.s32 %p1, %r20, 192; @%p1 bra L;\n",
     2, FILLED, 1, 1, false},
    {"a loop that goes on where it ended before",
     ROW(8) "mov.u32 %r21, 0;\nM: mov.u32 %r20, 0;\n"
            "L: st.global.u32 [%d2], %gid; add.u64 %d2, %d2, 4; add.u32 %r20, %r20, 1;\n"
            "setp.ne.u32 %p1, %r20, 8; @%p1 bra L;\nadd.u32 %r21, %r21, 1; setp.lt.u32 %p2, %r21, 2; @%p2 bra M;\n",
     4, FILLED, 1, 1, false},
    {"a loop that begins anew",
     ROW(8) "mov.u32 %r21, 0;\nM: mov.u32 %r20, 0; mov.u64 %d3, %d2;\n"
            "L: st.global.u32 [%d3], %gid; add.u64 %d3, %d3, 4; add.u32 %r20, %r20, 1;\n"
            "setp.ne.u32 %p1, %r20, 8; @%p1 bra L;\nadd.u32 %r21, %r21, 1; setp.lt.u32 %p2, %r21, 2; @%p2 bra M;\n",
     0, NONE, 1, 1, false},
    {"a loop as long as memory says",
     ROW(8) "mov.u32 %r20, 0; mov.u64 %d4, %b; ld.global.u32 %r8, [%d4]; add.u32 %r8, %r8, 9;\n"
            "L: st.global.u32 [%d2], %gid; add.u64 %d2, %d2, 4; add.u32 %r20, %r20, 1;\n"
            "setp.ne.u32 %p1, %r20, %r8; @%p1 bra L;\n",
     4, FILLED, 1, 1, false},
    {"a step that memory says",
     ROW(8) "mov.u32 %r20, 0; mov.u64 %d4, %b; ld.global.u64 %d8, [%d4]; add.u64 %d8, %d8, 32;\n"
            "L: st.global.u32 [%d2], %gid; add.u64 %d2, %d2, %d8; add.u32 %r20, %r20, 1;\n"
            "setp.ne.u32 %p1, %r20, 2; @%p1 bra L;\n",
     4, FILLED, 1, 1, false},
    {"a counter that wraps before it ends",
     ROW(8) "mov.u32 %r20, 0x7ffffffc;\n"
            "L: st.global.u32 [%d2], %gid; add.u64 %d2, %d2, 4; add.u32 %r20, %r20, 1;\n"
            "setp.ne.u32 %p1, %r20, 0x80000005; @%p1 bra L;\n",
     4, FILLED, 1, 1, false},
    {"a counter without a sign",
     ROW(8) "mov.u32 %r20, 0xfffffff0;\n"
            "L: st.global.u32 [%d2], %gid; add.u64 %d2, %d2, 4; add.u32 %r20, %r20, 1;\n"
            "setp.lt.u32 %p1, %r20, 0xfffffff9; @%p1 bra L;\n",
     4, FILLED, 1, 1, false},
    {"a counter that is set back on the way round",
     ROW(8) "mov.u32 %r20, 0; mov.u32 %r21, 0;\n"
            "L: st.global.u32 [%d2], %gid; add.u64 %d2, %d2, 4; add.u32 %r20, %r20, 1;\n"
            "setp.lt.u32 %p1, %r20, 8; @!%p1 bra X;\nadd.u32 %r21, %r21, 1; setp.eq.u32 %p2, %r21, 3;\n"
            "@%p2 mov.u32 %r20, 0;\nbra L;\nX:\n",
     4, FILLED, 1, 1, false},
    {"a store that nothing leads to",
     OWN PUT_GID "mov.u32 %r8, 3; setp.eq.s32 %p1, %r8, 3; @%p1 bra X;\nst.global.u32 [%a], 7;\nX:\n", 0, NONE, 1, 1,
     false},
    {"a store that a number leads to",
     OWN PUT_GID "mov.u32 %r8, 3; setp.eq.s32 %p1, %r8, 3; @!%p1 bra X;\nst.global.u32 [%a], 7;\nX:\n", 4, FILLED, 1,
     1, false},
    {"a store that a number leads to the second time",
     OWN PUT_GID "mov.u32 %r8, 3; mov.u32 %r20, 0;\n"
                 "L: setp.eq.s32 %p1, %r8, 3; mov.u32 %r8, 4; add.u32 %r20, %r20, 1; @%p1 bra L;\n"
                 "st.global.u32 [%a], 7;\n",
     4, FILLED, 1, 1, false},
    /* Blocks that wait for the one before them, and so run in order. */
    {"what the block before wrote, waited for",
     NEXT WAITS PUT_GID "bar.sync 0; ld.global.u32 %r5, [%d1+-4];\n" TELLS, 0, FILLED, 1, 1, false},
    {"what the block before wrote, not waited for",
     NEXT PUT_GID "bar.sync 0; ld.global.u32 %r5, [%d1+-4];\n" WAITS TELLS, 2, FILLED, 1, 1, false},
    {"what the block behind writes",
     NEXT WAITS PUT_GID "ld.global.u32 %r5, [%d1+384];\n" TELLS, 0, FILLED, 1, 1, false},
    {"far apart, and waited for",
     ROW(8) WAITS "st.global.u32 [%d2+32], %gid; st.global.v2.u32 [%d2+8], {%gid, %gid};\n"
                  "ld.global.u32 %r5, [%d2];\n" TELLS, 2, FILLED, 1, 1, false},
    {"a flag that is stored to by chance, and waited for",
     NEXT WAITS PUT_GID "setp.ne.u32 %p5, %t, 0; @%p5 bra W2;\nmul.wide.u32 %d14, %bid, 4; add.u64 %d15, %b, %d14;\n"
     "st.global.u32 [%d15], 1;\nW2:\n", 2, FILLED, 1, 1, false},
    {"the same value by all, and not waited for", "mov.u32 %r2, %t;\n" AT "st.global.u32 [%d1], 9;\n" WAITS TELLS, 2,
     FILLED, 1, 1, false},
    /* The second launch reads what the first one left. */
    {"what nobody made", OWN "ld.global.u32 %r5, [%d1]; setp.eq.u32 %p1, %r5, 7; @%p1 bra X;\nX:\n"
     "mul.wide.u32 %d10, %gid, 4; add.u64 %d2, %d10, %b; ld.global.u32 %r5, [%d2];\nst.global.u32 [%d1], %r5;\n", 1,
     ONLY_A, 1, 1, false},
    {"what nobody made, and then a number",
     OWN "ld.global.u32 %r5, [%d1]; setp.eq.u32 %p1, %r5, 7; @%p1 bra X;\nX:\n"
     "mul.wide.u32 %d10, %gid, 4; add.u64 %d2, %d10, %b; ld.global.u32 %r5, [%d2];\nst.global.u32 [%d1], %r5;\n"
     "mov.u32 %r5, 1; mov.u32 %r20, 0;\nL: add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 9; @%p1 bra L;\n" PUT_GID, 0,
     ONLY_A, 1, 1, false},
    {"what nobody made, then a number, and read",
     "mul.wide.u32 %d10, %gid, 4; add.u64 %d2, %d10, %b; ld.global.u32 %r5, [%d2];\n" OWN "st.global.u32 [%d1], %r5;\n"
     "mov.u32 %r5, 1; mov.u32 %r20, 0;\nL: add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 9; @%p1 bra L;\n" PUT_GID
     "ld.global.u32 %r5, [%d1]; setp.eq.u32 %p1, %r5, 7; @%p1 bra X;\nX:\n", 0, NONE, 1, 1, false},
    {"what nobody made, put where numbers were read, and read again",
     OWN "mul.wide.u32 %d10, %gid, 4; add.u64 %d2, %d10, %b; mov.u32 %r20, 0;\n"
     "L: ld.global.u32 %r6, [%d1]; setp.eq.u32 %p1, %r6, 7; @%p1 bra X;\nX: setp.ne.u32 %p2, %r20, 3; @%p2 bra Y;\n"
     "ld.global.u32 %r5, [%d2];\nst.global.u32 [%d1], %r5;\nmov.u32 %r5, 0;\n"
     "Y: add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 7; @%p3 bra L;\n", 2, ONLY_A, 1, 1, false},
    {"the same by some lanes",
     OWN "mul.wide.u32 %d10, %gid, 4; add.u64 %d2, %d10, %b; mov.u32 %r20, 0; and.b32 %r7, %t, 7;\n"
     "add.u32 %r8, %r7, 5;\n"
     "L: ld.global.u32 %r6, [%d1]; setp.eq.u32 %p1, %r6, 7; @%p1 bra X;\nX: setp.ne.u32 %p2, %r20, %r7; @%p2 bra Y;\n"
     "ld.global.u32 %r5, [%d2];\nst.global.u32 [%d1], %r5;\nmov.u32 %r5, 0;\n"
     "Y: add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, %r8; @%p3 bra L;\n", 2, ONLY_A, 1, 1, false},
    {"what nobody made, read where lanes have parted, and used where they are together",
     OWN "mul.wide.u32 %d10, %gid, 4; add.u64 %d2, %d10, %b; mov.u32 %r20, 0; mov.u32 %r5, 1; and.b32 %r7, %t, 3;\n"
     "L: setp.ge.u32 %p1, %r20, %r7; @%p1 bra X;\nld.global.u32 %r5, [%d2];\n"
     "add.u32 %r6, %r5, %t; xor.b32 %r5, %r6, 3;\n"
     "X: add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 4; @%p3 bra L;\n"
     "setp.eq.u32 %p2, %r5, 7; @%p2 bra Y;\nst.global.u32 [%d1], 3;\nY:\n", 2, ONLY_A, 1, 1, false},
    {"a neighbour's place behind a barrier",
     OWN PUT_GID "bar.sync 0; xor.b32 %r2, %gid, 1;\n" AT "ld.global.u32 %r5, [%d1];\n", 0, NONE, 1, 1, false},
    {"a neighbour's place without one", OWN PUT_GID "xor.b32 %r2, %gid, 1;\n" AT "ld.global.u32 %r5, [%d1];\n", 2,
     FILLED, 1, 1, false},
    /* Accesses that lanes make which have parted. */
    {"a load that overwrites its address",
     S_OWN "mov.u32 %r5, %r3; st.shared.u32 [%r3], %r3; bar.sync 0; mov.u32 %r20, 0;\n"
           "L: mov.u32 %r6, %r3; ld.shared.u32 %r6, [%r6]; ld.shared.u32 %r6, [%r6];\n"
           "setp.lt.u32 %p3, %t, 40; @!%p3 bra X; ld.shared.u32 %r6, [%r6];\nX: sub.u32 %r5, %r6, %r4;\n"
           "add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 3; @%p1 bra L;\n" PUT_R5,
     0, FILLED, 1, 1, false},
    {"some lanes store what others read, with a barrier and without",
     S_OWN "st.shared.u32 [%r3], %t; bar.sync 0; setp.lt.u32 %p3, %t, 37; @!%p3 bra X;\nst.shared.u32 [%r3], 7;\nX:\n"
           "xor.b32 %r6, %r3, 64;\nld.shared.u32 %r5, [%r6];\nbar.sync 0;\nld.shared.u32 %r5, [%r6];\n" PUT_R5,
     2, FILLED, 1, 1, false},
    {"the same by the same value",
     S_OWN "st.shared.u32 [%r3], 7; bar.sync 0; and.b32 %r6, %lane, 15; shl.b32 %r7, %r6, 2; add.u32 %r7, %r7, %r4;\n"
           "setp.lt.u32 %p3, %lane, 16; @!%p3 bra X;\nst.shared.u32 [%r7], 7;\nX: st.shared.u32 [%r3+512], 1;\n",
     2, FILLED, 1, 1, false},
    {"two ways store to one place",
     S_OWN "setp.lt.u32 %p3, %lane, 16; xor.b32 %r6, %r3, 64; @!%p3 bra X;\nst.shared.u32 [%r3], 7;\nbra Y;\n"
           "X:\nst.shared.u32 [%r6], 8;\nY:\n",
     2, FILLED, 1, 1, false},
    {"some lanes read what nobody has written, and all use it",
     S_OWN "mov.u32 %r5, 0; setp.lt.u32 %p3, %t, 40; @!%p3 bra X;\nld.shared.u32 %r5, [%r3]; add.u32 %r6, %r5, 1;\n"
           "st.shared.u32 [%r3+512], %r6;\nX: ld.shared.u32 %r7, [%r3+512];\nsetp.eq.u32 %p4, %r5, 3;\n"
           "@%p4 st.shared.u32 [%r3+1024], 1;\n",
     2, FILLED, 1, 1, false},
    {"some lanes of an arm in an arm read what nobody has written",
     S_OWN "mov.u32 %r5, 0; mov.u32 %r8, 1; setp.lt.u32 %p3, %t, 40; @!%p3 bra X;\nst.shared.u32 [%r3+512], %t;\n"
           "and.b32 %r6, %lane, 1; setp.eq.u32 %p4, %r6, 0; @%p4 bra Y;\nld.shared.u32 %r5, [%r3];\nY:\n"
           "add.u32 %r8, %r5, 2;\nbra Z;\nX:\nmov.u32 %r8, 9;\nst.shared.u32 [%r3+512], %t;\nZ: mov.u32 %r2, %gid;\n" AT
           "st.global.u32 [%d1], %r8;\nsetp.eq.u32 %p4, %r8, 3;\n@%p4 st.shared.u32 [%r3+1024], 1;\n",
     2, FILLED, 1, 1, false},
    {"columns of a matrix", "mad.lo.u32 %r2, %t, 8, %bid;\n" AT PUT_GID, 0, NONE, 1, 1, false},
    {"columns of a matrix that is too narrow", "mad.lo.u32 %r2, %t, 4, %bid;\n" AT PUT_GID, 2, FILLED, 1, 1, false},
};

static void same_as_written(void **unused)
{
    static struct text program, expected, found;
    static uint32_t right[2][MOST / 4];
    unsigned bad = 0;
    (void)unused;
    if (!kit_compiles())
        skip();
    for (unsigned k = 0; k < sizeof(written) / sizeof(written[0]); k++) {
        struct way way = {"interp",
                          1,
                          MG_CHECK_ALL | MG_CHECK_LONG,
                          written[k].filled,
                          {GRID, written[k].grid_y ? written[k].grid_y : 1, 1},
                          {BLOCK, written[k].block_y ? written[k].block_y : 1, 1},
                          written[k].fails,
                          false};
        program.n = 0;
        PUT(&program, "%s.shared .align 16 .b8 s[%u];\n.file 1 \"k.cu\"\n%s", HEADER, SHARED, ENTRY);
        unsigned line = 0;
        for (const char *c = written[k].body; *c; c++) { /* a line of the source for each of ours */
            if (c == written[k].body || c[-1] == '\n')
                PUT(&program, ".loc 1 %u 1\n", ++line);
            program.at[program.n++] = *c;
        }
        PUT(&program, "\nret;\n}\n");
        run(program.at, &way, &expected);
        memcpy(right, results, sizeof(right));
        unsigned n = 0;
        for (size_t i = 0; i < expected.n; i++)
            n += expected.at[i] == '\n';
        if (n != written[k].findings) {
            printf("%s: %u findings are expected, and these are made:\n%s", written[k].name, written[k].findings,
                   expected.at);
            bad++;
        }
        for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            way.engine = ways[i].engine;
            way.threads = ways[i].threads;
            way.checks = MG_CHECK_ALL | ways[i].checks;
            run(program.at, &way, &found);
            const bool same = strcmp(expected.at, found.at) == 0;
            if (same && (n || memcmp(right, results, sizeof(right)) == 0))
                continue;
            printf("%s, %s, %u workers: %s\n%s\nthe long way finds\n%s\n", written[k].name, ways[i].engine,
                   ways[i].threads, same ? "other results" : "other findings", found.at, expected.at);
            bad++;
        }
    }
    assert_int_equal(bad, 0);
}

/* ---- how many are told ---- */
#define EACH(n) "add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, " #n "; @%p1 bra L;\n"
#define SOME_OF(n) "mov.u32 %r20, 0;\nL: bar.sync 0; setp.ge.u32 %p3, %t, " #n "; @%p3 bra X;\n"
#define SHARED_WORDS "st.shared.u32 [%r3], %t; st.shared.u32 [%r3+512], %t; bar.sync 0;\n"
/* Of two launches of five blocks of three warps, so many accesses at most, where the long way hears of ten times
 * as many. */
static const struct {
    const char *name, *body;
    unsigned most;
    struct mg_dim3 block;
} few[] = {
    {"by the first lanes of a warp",
     S_OWN SHARED_WORDS SOME_OF(39) "ld.shared.u32 %r5, [%r3+512]; ld.shared.u32 %r6, [%r3];\n"
                                    "add.u32 %r5, %r5, %r6; st.shared.u32 [%r3], %r5;\nX:" EACH(100),
     200,
     {BLOCK, 1, 1}},
    {"by one lane",
     S_OWN SHARED_WORDS SOME_OF(1) "ld.shared.u32 %r5, [%r4+512]; st.shared.u32 [%r4], %r5;\nX:" EACH(100),
     200,
     {BLOCK, 1, 1}},
    {"by two ways in turns",
     S_OWN SHARED_WORDS SOME_OF(7) "st.shared.u32 [%r3], %r20;\nbra Y;\nX: st.shared.u32 [%r3], 5;\nY:" EACH(100),
     200,
     {BLOCK, 1, 1}},
    {"behind a guard",
     S_OWN SHARED_WORDS "mov.u32 %r20, 0; setp.lt.u32 %p4, %lane, 9;\nL: bar.sync 0;\n"
                        "@%p4 ld.shared.u32 %r5, [%r3+512]; @%p4 st.shared.u32 [%r3], %r5;\n" EACH(100),
     200,
     {BLOCK, 1, 1}},
    {"runs of loads through two registers",
     S_OWN SHARED_WORDS "mov.u32 %r20, 0;\nL: ld.shared.u32 %r5, [%r3]; ld.shared.u32 %r6, [%r4+40]; add.u32 %r5, %r5, "
                        "%r6;\nld.shared.u32 %r7, [%r3+512]; ld.shared.u32 %r8, [%r4+512]; xor.b32 %r7, %r7, %r8;\n"
                        "ld.shared.u32 %r9, [%r4]; add.u32 %r5, %r5, %r7; add.u32 %r5, %r5, %r9;\n" EACH(1500),
     200,
     {BLOCK, 1, 1}},
    {"rows of eleven, in a loop",
     "mov.u32 %r20, 0;\nL: mul.wide.u32 %d9, %gid, 44; add.u64 %d1, %a, %d9; mov.u32 %r21, 11;\n"
     "M: st.global.u32 [%d1], %gid; add.u64 %d1, %d1, 4; add.s32 %r21, %r21, -1;\n"
     "setp.ne.s32 %p2, %r21, 0; @%p2 bra M;\n"
     EACH(60), 200, {BLOCK, 1, 1}},
    {"rows of 191 of each block, from their ends", "mov.u32 %r20, 0;\nL: mul.lo.u32 %r3, %bid, 191; mov.u32 %r21, %t;\n"
     "M: not.b32 %r4, %r21; add.s32 %r5, %r3, 191; add.s32 %r2, %r5, %r4;\n" AT PUT_GID
     "add.s32 %r21, %r21, 96; setp.lt.s32 %p2, %r21, 191; @%p2 bra M;\n" EACH(200), 200, {BLOCK, 1, 1}},
    {"by some of two rows, which are padded",
     "mov.u32 %r43, %tid.y; mov.u32 %r4, s; mad.lo.u32 %r6, %r43, 68, %r4;\n"
     "shl.b32 %r1, %t, 2; add.u32 %r3, %r6, %r1; add.u32 %r7, %r4, %r1; st.shared.u32 [%r3], %t; bar.sync 0;\n" SOME_OF(
         5) "setp.eq.u32 %p4, %r43, 0; @%p4 bra X; ld.shared.u32 %r5, [%r7]; ld.shared.u32 %r8, [%r6+24];\n"
            "add.u32 %r5, %r5, %r8; st.shared.u32 [%r3], %r5;\nX:" EACH(100),
     200,
     {ROW, BLOCK / ROW, 1}},
};

static void short_ways(void **unused)
{
    static struct text program, found;
    (void)unused;
    if (!kit_compiles())
        skip();
    for (unsigned k = 0; k < sizeof(few) / sizeof(few[0]); k++) {
        struct way way = {"interp", 1, MG_CHECK_ALL | MG_CHECK_LONG, FILLED, {GRID, 1, 1}, few[k].block, false, false};
        program.n = 0;
        PUT(&program, "%s.shared .align 16 .b8 s[%u];\n%s%s\nret;\n}\n", HEADER, SHARED, ENTRY, few[k].body);
        run(program.at, &way, &found);
        const unsigned all = told;
        way.engine = "jit";
        way.checks = MG_CHECK_ALL;
        run(program.at, &way, &found);
        if (told > few[k].most || all < 10 * few[k].most || found.n)
            fail_msg("%s: %u of %u accesses are told, %u are expected at most\n%s", few[k].name, told, all, few[k].most,
                     found.at);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_findings), cmocka_unit_test(same_as_written),
                                       cmocka_unit_test(short_ways)};
    first = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : first;
    count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : count;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
