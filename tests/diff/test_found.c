/* test_found.c - accesses whose lanes nothing proves to be consecutive: what compiled code makes of them where they
 * are, and where they are not, against the interpreter, in memory, in counts and in what is said of a fault; and that
 * it looks at them, and stops looking where there is nothing to be found.
 */
#include "simt/kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 600, REGION = 4096, LANES = 32, MOST = 256 };

/* A round's offset is a number of the thread's own, from a table; what is read there goes to a sum, and to the same
 * offset of another place. Accesses of other addresses, on lines that are known, have a cache operator. */
#define ROUND(declarations, addresses, body)                                                                     \
    KERNEL(declarations,                                                                                         \
           "mov.u32 %r1, %tid.y; mad.lo.u32 %t, %r1, %nt, %t; mov.u32 %r1, %ntid.y; mul.lo.u32 %nt, %nt, %r1;\n" \
           "mov.u32 %r4, 0; mov.b64 %d20, 0; mov.u32 %r2, 0;\n"                                                  \
           "again: mad.lo.u32 %r3, %r2, %nt, %t; mul.wide.u32 %d1, %r3, 4; add.u64 %d1, %b, %d1;\n"              \
           "ld.global.ca.u32 %r5, [%d1];\n" addresses "\n" body "\n"                                             \
           "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 600; @%p1 bra again;\n"                                   \
           "mul.wide.u32 %d2, %t, 8; add.u64 %d2, %a, %d2; cvt.u64.u32 %d3, %r4; add.u64 %d20, %d20, %d3;\n"     \
           "st.global.wb.u64 [%d2], %d20;")
#define PASS "shfl.sync.idx.b32 %r5, %r5, %lane, 31, -1; " /* what was just loaded nobody takes for a line */
#define LOADED "cvt.u64.u32 %d4, %r5; add.u64 %d5, %c, %d4; add.u64 %d6, %e, %d4;"
#define GLOBAL PASS LOADED
#define SHARED PASS "mov.u32 %r6, s; shr.u32 %r7, %t, 5; mad.lo.u32 %r6, %r7, 4096, %r6; add.u32 %r6, %r6, %r5;"
#define IN_SHARED ".shared .align 16 .b8 s[32768];"

static const struct kernel {
    const char *name, *ptx;
    unsigned bytes; /* of an access */
    int looked;     /* accesses a round that are looked at each time; -1: it depends; -2: those of some
                       lanes are as well, where the processor is one for that */
} kernels[] = {
    {"u8", ROUND("", GLOBAL, "ld.global.u8 %r8, [%d5]; add.u32 %r4, %r4, %r8; st.global.u8 [%d6], %r8;"), 1, 2},
    {"s8", ROUND("", GLOBAL, "ld.global.s8 %r8, [%d5+3]; add.u32 %r4, %r4, %r8; st.global.u8 [%d6+1], %r8;"), 1, 2},
    {"u16",
     ROUND("", GLOBAL,
           "ld.global.u16 %h1, [%d5]; cvt.u32.u16 %r8, %h1; add.u32 %r4, %r4, %r8;\n"
           "st.global.u16 [%d6], %h1;"),
     2, 2},
    {"u32", ROUND("", GLOBAL, "ld.global.u32 %r8, [%d5]; add.u32 %r4, %r4, %r8; st.global.u32 [%d6], %r8;"), 4, 2},
    {"u64", ROUND("", GLOBAL, "ld.global.u64 %d7, [%d5+8]; add.u64 %d20, %d20, %d7; st.global.u64 [%d6+8], %d7;"), 8,
     2},
    {"v2.u32",
     ROUND("", GLOBAL,
           "ld.global.v2.u32 {%r8, %r9}, [%d5]; mad.lo.u32 %r4, %r8, 3, %r4;\n"
           "add.u32 %r4, %r4, %r9;"),
     8, 1},
    {"v4.u32",
     ROUND("", GLOBAL,
           "ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%d5]; mad.lo.u32 %r4, %r8, 3, %r4;\n"
           "mad.lo.u32 %r4, %r9, 5, %r4; sub.u32 %r4, %r4, %r10; add.u32 %r4, %r4, %r11;"),
     16, 1},
    {"v4.u32, stored",
     ROUND("", GLOBAL,
           "mad.lo.u32 %r8, %r5, 3, %r2; mov.u32 %r9, %r5; mov.u32 %r10, %r4; add.u32 %r11, %r5, %lane;\n"
           "st.global.v4.u32 [%d6], {%r8, %r9, %r10, %r11};"),
     16, 1},
    {"v2.u64",
     ROUND("", GLOBAL,
           "ld.global.v2.u64 {%d8, %d9}, [%d5]; add.u64 %d20, %d20, %d8;\n"
           "sub.u64 %d20, %d20, %d9;"),
     16, 1},
    {"v4.u8",
     ROUND("", GLOBAL,
           "ld.global.v4.u8 {%r8, %r9, %r10, %r11}, [%d5]; mad.lo.u32 %r4, %r8, 3, %r4;\n"
           "mad.lo.u32 %r4, %r9, 5, %r4; sub.u32 %r4, %r4, %r10; add.u32 %r4, %r4, %r11;"),
     4, 1},
    {"to itself",
     ROUND("", GLOBAL,
           "mov.u64 %d7, %d5; ld.global.u64 %d7, [%d7]; add.u64 %d20, %d20, %d7;\n"
           "st.global.u64 [%d6], %d7;"),
     8, 2},
    {"several at one register", /* its third is behind an access that may leave */
     ROUND("", GLOBAL,
           "ld.global.u32 %r8, [%d5]; ld.global.u32 %r9, [%d5+4]; mad.lo.u32 %r4, %r8, 3, %r4;\n"
           "add.u32 %r10, %t, %r2; mul.wide.u32 %d10, %r10, 4; add.u64 %d10, %b, %d10;\n"
           "ld.global.ca.u32 %r12, [%d10]; add.u32 %r4, %r4, %r12;\n"
           "ld.global.u32 %r11, [%d5+128]; add.u32 %r4, %r4, %r9; sub.u32 %r4, %r4, %r11;\n"
           "st.global.u32 [%d5+8], %r4;"),
     4, 4},
    {"left in between", /* where lanes' 32-bit numbers wrap, which no line does */
     ROUND("", GLOBAL,
           "ld.global.u32 %r8, [%d5]; add.u32 %r4, %r4, %r8; and.b32 %r10, %r2, 7; shl.b32 %r10, %r10, 29;\n"
           "add.u32 %r10, %r10, %t; add.u32 %r10, %r10, -3; mul.wide.s32 %d10, %r10, 8;\n"
           "add.u64 %d20, %d20, %d10; ld.global.u32 %r9, [%d5+4]; add.u32 %r4, %r4, %r9;\n"
           "ld.global.u32 %r11, [%d5+8]; mad.lo.u32 %r4, %r11, 7, %r4;"),
     4, -1},
    {"guarded",
     ROUND("", GLOBAL,
           "and.b32 %r8, %r2, 3; add.u32 %r9, %t, %r2; and.b32 %r9, %r9, 64;\n"
           "setp.ne.u32 %p2, %r8, 0; setp.ne.u32 %p3, %r9, 0; mov.u32 %r10, 1;\n"
           "@%p2 ld.global.u32 %r10, [%d5]; add.u32 %r4, %r4, %r10;\n"
           "@%p3 ld.global.u32 %r10, [%d5+4]; add.u32 %r4, %r4, %r10;\n"
           "@%p3 st.global.u32 [%d6], %r4;"),
     4, -1},
    {"some lanes",
     ROUND("", GLOBAL,
           "add.u32 %r9, %t, %r2; and.b32 %r9, %r9, 16; setp.ne.u32 %p3, %r9, 0;\n"
           "@%p3 bra other; ld.global.u32 %r10, [%d5]; add.u32 %r4, %r4, %r10;\n"
           "st.global.u32 [%d6], %r4; bra both;\n"
           "other: ld.global.u16 %r10, [%d5+4]; sub.u32 %r4, %r4, %r10; both:"),
     4, -1},
    {"an index that lanes loaded",
     ROUND("", LOADED, "ld.global.u32 %r8, [%d5]; add.u32 %r4, %r4, %r8; st.global.u32 [%d6], %r8;"), 4, 0},
    {"most lanes, in a loop",
     ROUND("", GLOBAL,
           "setp.eq.u32 %p4, %lane, 0; @%p4 bra over; mov.u32 %r30, 0; inner: ld.global.u32 %r8, [%d5]; add.u32 %r4, "
           "%r4, %r8; ld.global.u32 %r9, [%d5+8];\n"
           "sub.u32 %r4, %r4, %r9; st.global.u32 [%d6], %r4; add.u32 %r30, %r30, 1; setp.lt.u32 %p5, %r30, 3;\n"
           "@%p5 bra inner; over:"),
     4, -2},
    {"some of the lanes, in a loop",
     ROUND("", GLOBAL,
           "and.b32 %r31, %r2, 31; setp.lt.u32 %p4, %lane, %r31; @%p4 bra over; mov.u32 %r30, 0; inner: ld.global.u32 "
           "%r8, [%d5]; add.u32 %r4, %r4, %r8; ld.global.u32 %r9, [%d5+8];\n"
           "sub.u32 %r4, %r4, %r9; st.global.u32 [%d6], %r4; add.u32 %r30, %r30, 1; setp.lt.u32 %p5, %r30, 3;\n"
           "@%p5 bra inner; over:"),
     4, -1},
    {"a few words, in a loop",
     ROUND(IN_SHARED, SHARED,
           "setp.gt.u32 %p4, %lane, 6; @%p4 bra over; mov.u32 %r30, 0;\n"
           "inner: ld.shared.u32 %r8, [%r6]; mad.lo.u32 %r4, %r4, 3, %r8; st.shared.u32 [%r6+4], %r4;\n"
           "add.u32 %r30, %r30, 1; setp.lt.u32 %p5, %r30, 3; @%p5 bra inner; over:"),
     4, -2},
    {"shared u32",
     ROUND(IN_SHARED, SHARED,
           "st.shared.u32 [%r6], %r4; ld.shared.u32 %r8, [%r6+4]; add.u32 %r4, %r4, %r8;\n"
           "add.u32 %r4, %r4, %r5;"),
     4, 2},
    {"shared u8",
     ROUND(IN_SHARED, SHARED, "st.shared.u8 [%r6+1], %r5; ld.shared.s8 %r8, [%r6]; add.u32 %r4, %r4, %r8;"), 1, 2},
    {"shared v4.u32",
     ROUND(IN_SHARED, SHARED,
           "st.shared.u32 [%r6], %r5; ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r6];\n"
           "mad.lo.u32 %r4, %r8, 3, %r4; add.u32 %r4, %r4, %r10;"),
     16, 1}};

/* What the offsets of a round are, in units of the access's bytes. */
enum { CONSECUTIVE, REVERSED, ONE_PLACE, ONE_IS_OFF, ANYWHERE, BY_TWO, ROWS, ROWS_OF_ONE, RETURNS, MIXED, PATTERNS };

static uint32_t unit_of(unsigned pattern, unsigned round, unsigned warp, unsigned lane)
{
    const uint32_t first = 4 + (round * 7 + warp * 3) % 60, odd = (round * 5 + warp) % LANES;
    switch (pattern) {
    case CONSECUTIVE:
        return first + lane;
    case REVERSED:
        return first + LANES - lane;
    case ONE_PLACE:
        return first;
    case ONE_IS_OFF:
        return first + lane + (lane == odd ? round % 2 ? 1u : -1u : 0);
    case ANYWHERE:
        return 4 + (round * 31 + warp * 17 + lane * lane * 13) % 90;
    case BY_TWO:
        return first + 2 * lane;
    case ROWS: /* of 16 lanes, which a block of so many has as well */
        return first + lane % 16 + lane / 16 * 20;
    case ROWS_OF_ONE:
        return first + lane / 16 * 9;
    case RETURNS: /* after what is not looked at any more */
        return first + (round < 10 ? lane ^ 1 : lane);
    default:
        return unit_of((round / 3 + warp) % RETURNS, round, warp, lane);
    }
}

/* ---- one launch ---- */
enum { INSNS = 128 };
struct seen {
    bool looked[INSNS]; /* by instruction: an access at a round's offset */
    uint64_t by_line;   /* of them, those that were counted by compiled code */
};
static struct seen seen;

static enum mg_status begin(void *self, const struct mg_launch_info *launch, unsigned workers, void **state)
{
    (void)workers;
    memset(&seen, 0, sizeof seen);
    for (uint32_t k = 0; k < launch->ninsns && k < INSNS; k++)
        seen.looked[k] = !strstr(launch->insns[k].insn->text, ".ca") && !strstr(launch->insns[k].insn->text, ".wb");
    *state = self;
    return MG_OK;
}

static void *worker(void *state, unsigned index)
{
    (void)index;
    return state;
}

/* The engine tells of these with addresses about 2^40. */
static void on_access(void *state, struct mg_access *a)
{
    struct seen *s = state;
    if (a->insn < INSNS && s->looked[a->insn] && a->address && a->address[0] - ((1ull << 40) - 4096) < 8192)
        s->by_line += a->times;
}

struct outcome {
    struct kit_sums sums;
    uint64_t by_line;
    uint64_t out[MOST];
    uint8_t other[REGION];
};

static void fill(uint32_t *table, const struct kernel *k, unsigned pattern, unsigned threads)
{
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned t = 0; t < threads; t++)
            table[round * threads + t] = k->bytes * unit_of(pattern, round, t / LANES, t % LANES);
}

static void run(const struct kernel *kernel, unsigned pattern, const char *engine, struct mg_dim3 block,
                struct outcome *o)
{
    const struct mg_observer observer = {
        .self = &seen, .wants = MG_OBSERVE_SHAPES, .launch_begin = begin, .worker_begin = worker, .access = on_access};
    const unsigned threads = block.x * block.y;
    struct kit k;
    setenv("MARGAY_ENGINE", engine, 1);
    kit_open(&k, 1, 60000, MG_OBSERVE_SHAPES | MG_OBSERVE_COUNTS, NULL);
    assert_int_equal(mg__simt_observe(k.simt, &observer), MG_OK);
    const uint64_t out = kit_alloc(&k, MOST * 8), table = kit_alloc(&k, (uint64_t)ROUNDS * threads * 4),
                   data = kit_alloc(&k, REGION), other = kit_alloc(&k, REGION);
    for (unsigned i = 0; i < REGION; i++)
        ((uint8_t *)(uintptr_t)data)[i] = (uint8_t)(i * i * 3 + i / 7);
    fill((uint32_t *)(uintptr_t)table, kernel, pattern, threads);
    const struct kit_params params = {{out, table, data, other}};
    kit_load(&k, kernel->ptx);
    const struct mg_simt_launch l = {.grid = {1, 1, 1}, .block = block, .params = params.p};
    kit_expect(&k, kit_launch_full(&k, &l));
    o->sums = k.sums;
    o->by_line = seen.by_line;
    memcpy(o->out, (void *)(uintptr_t)out, sizeof o->out);
    memcpy(o->other, (void *)(uintptr_t)other, sizeof o->other);
    kit_close(&k);
}

static void same(const char *name, unsigned pattern, const char *engine, const struct outcome *a,
                 const struct outcome *b)
{
    const uint64_t counts[][2] = {{a->sums.requests, b->sums.requests}, {a->sums.lanes, b->sums.lanes},
                                  {a->sums.sectors, b->sums.sectors},   {a->sums.wavefronts, b->sums.wavefronts},
                                  {a->sums.shapes, b->sums.shapes},     {a->sums.counts, b->sums.counts},
                                  {a->sums.issued, b->sums.issued},     {a->sums.threads, b->sums.threads}};
    for (unsigned n = 0; n < MG_COUNT(counts); n++)
        if (counts[n][0] != counts[n][1])
            fail_msg("%s, pattern %u, %s: count %u is %llu, interpreted %llu", name, pattern, engine, n,
                     (unsigned long long)counts[n][1], (unsigned long long)counts[n][0]);
    for (unsigned i = 0; i < MOST; i++)
        if (a->out[i] != b->out[i])
            fail_msg("%s, pattern %u, %s: thread %u", name, pattern, engine, i);
    for (unsigned i = 0; i < REGION; i++)
        if (a->other[i] != b->other[i])
            fail_msg("%s, pattern %u, %s: byte %u", name, pattern, engine, i);
}

static const char *const engines[] = {"jit", "quick"};

static void as_interpreted(void **state)
{
    (void)state;
    static const struct mg_dim3 blocks[] = {{64, 1, 1}, {16, 4, 1}, {4, 16, 1}, {2, 32, 1},
                                            {48, 1, 1}, {256, 1, 1}, {8, 8, 1}};
    static struct outcome reference, other;
    for (const struct kernel *k = kernels; k < kernels + MG_COUNT(kernels); k++)
        for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
            for (unsigned b = 0; b < MG_COUNT(blocks); b++) {
                const bool rows = b == 1 && (pattern == ROWS || pattern == ROWS_OF_ONE);
                if (b > 0 && !rows && (pattern + b + (unsigned)(k - kernels)) % 4) /* each, but not all of all */
                    continue;
                run(k, pattern, "interp", blocks[b], &reference);
                for (unsigned e = 0; e < MG_COUNT(engines); e++) {
                    run(k, pattern, engines[e], blocks[b], &other);
                    same(k->name, pattern, engines[e], &reference, &other);
                }
            }
}

/* Whether the lanes of accesses m and n, warp after warp, lie alike; of m = -1, whether those of n are consecutive. */
static bool alike(unsigned pattern, int m, int n)
{
    for (unsigned i = 1; i < LANES; i++) {
        const unsigned a = (unsigned)n % ROUNDS, b = (unsigned)m % ROUNDS, of_a = (unsigned)n / ROUNDS,
                       of_b = (unsigned)m / ROUNDS;
        const uint32_t from = unit_of(pattern, a, of_a, i) - unit_of(pattern, a, of_a, 0);
        if (from != (m < 0 ? i : unit_of(pattern, b, of_b, i) - unit_of(pattern, b, of_b, 0)))
            return false;
    }
    return true;
}

/* How many of the accesses are done by compiled code: all that lie as the one before, but for a few at the start of
 * each way to lie, and none that lie as no other one did. Where that was not found it is not looked for before a call
 * has. Quick code looks at none. */
enum { START = 40 /* calls that find a way to lie, replace the one before, and are looked at in vain */ };
static void looked_at(void **state)
{
    (void)state;
    static struct outcome o;
    const struct mg_dim3 block = {64, 1, 1};
    for (const struct kernel *k = kernels; k < kernels + MG_COUNT(kernels); k++)
        for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
            uint64_t least = 0, most = 0, in_a_row = 0;
            for (int n = 0; n < 2 * ROUNDS; n++) {
                bool met = alike(pattern, -1, n);
                for (int m = 0; m < n && !met; m++)
                    met = alike(pattern, m, n);
                most += met;
                in_a_row = n && alike(pattern, n - 1, n) ? in_a_row + 1 : 0;
                least += in_a_row >= START;
            }
            if (pattern == CONSECUTIVE)
                least = most;
            for (unsigned e = 0; k->looked >= 0 && e < MG_COUNT(engines); e++) {
                run(k, pattern, engines[e], block, &o);
                const uint64_t sites = e ? 0 : (unsigned)k->looked, from = least * sites,
                               to = most * (e ? 0 : MG_MAX(sites, 4)); /* others that lie alike are no lines */
                if (o.by_line < from || o.by_line > to)
                    fail_msg("%s, pattern %u, %s: %llu by the code itself, not %llu to %llu", k->name, pattern,
                             engines[e], (unsigned long long)o.by_line, (unsigned long long)from,
                             (unsigned long long)to);
            }
        }
}

/* Some of the lanes of a warp, always the same ones. */
static void some_looked_at(void **state)
{
    (void)state;
    static struct outcome o;
    if (mg__isa() < 4)
        skip();
    for (const struct kernel *k = kernels; k < kernels + MG_COUNT(kernels); k++) {
        if (k->looked != -2)
            continue;
        run(k, CONSECUTIVE, "jit", (struct mg_dim3){64, 1, 1}, &o);
        assert_true(o.by_line > 3 * ROUNDS); /* of 12 or 18 a round */
        run(k, BY_TWO, "jit", (struct mg_dim3){64, 1, 1}, &o);
        assert_int_equal(o.by_line, 0);
    }
}

/* ---- faults ---- */
/* In one round of one warp all lanes are consecutive, but some of them, or all, are where they must not be. */
static void faults(void **state)
{
    (void)state;
    static const struct {
        const char *ptx;
        uint32_t bytes, first; /* lane 0's offset */
    } wrong[] = {{ROUND("", GLOBAL, "ld.global.u32 %r8, [%d5]; add.u32 %r4, %r4, %r8;"), 4, REGION - 40},
                 {ROUND("", GLOBAL, "st.global.u32 [%d5], %r5;"), 4, REGION - 124},
                 {ROUND("", GLOBAL, "ld.global.u8 %r8, [%d5]; add.u32 %r4, %r4, %r8;"), 1, REGION - 31},
                 {ROUND("", GLOBAL, "ld.global.u32 %r8, [%d5]; add.u32 %r4, %r4, %r8;"), 4, 101},
                 {ROUND("", GLOBAL, "ld.global.u64 %d8, [%d5]; add.u64 %d20, %d20, %d8;"), 8, 4},
                 {ROUND("", GLOBAL, "ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%d5];"), 16, REGION - 16},
                 {ROUND("", GLOBAL, "ld.global.u32 %r8, [%d5-8];"), 4, 4},
                 {ROUND("", GLOBAL,
                        "st.global.u32 [%d6], %r2; ld.global.u32 %r8, [%d5]; st.global.u32 [%d5+4], %r8;\n"
                        "ld.global.u32 %r9, [%d5+128]; st.global.u32 [%d5+8], %r9;"),
                  4, REGION - 140},
                 {ROUND(IN_SHARED, SHARED, "ld.shared.u32 %r8, [%r6];"), 4, 32768 - 4096 - 60},
                 {ROUND(IN_SHARED, SHARED, "st.shared.u16 [%r6], %r5;"), 2, 3}};
    for (unsigned n = 0; n < MG_COUNT(wrong); n++) {
        char text[3][1024];
        static uint8_t other[3][REGION], data[3][REGION];
        for (unsigned side = 0; side < 3; side++) {
            struct kit k;
            setenv("MARGAY_ENGINE", side ? engines[side - 1] : "interp", 1);
            kit_open(&k, 1, 60000, MG_OBSERVE_SHAPES, NULL);
            const uint64_t out = kit_alloc(&k, MOST * 8), table = kit_alloc(&k, ROUNDS * 64 * 4),
                           first = kit_alloc(&k, REGION), second = kit_alloc(&k, REGION);
            uint32_t *offset = (uint32_t *)(uintptr_t)table;
            const struct kit_params params = {{out, table, first, second}};
            for (unsigned i = 0; i < ROUNDS * 64; i++)
                offset[i] = i / 64 == 40 && i % 64 >= 32 ? wrong[n].first + i % 32 * wrong[n].bytes
                                                         : (1 + i % 32) * wrong[n].bytes;
            kit_load(&k, wrong[n].ptx);
            const enum mg_status status = kit_launch(&k, 1, 64, params);
            assert_int_not_equal(status, MG_OK);
            char *at = strstr(k.diag.message, "0x"); /* where memory lies is another matter */
            snprintf(text[side], sizeof text[side], "%d: %s [%s] thread %u", (int)status, k.diag.message,
                     k.diag.excerpt, at ? (unsigned)(strtoull(at, NULL, 16) % 4096) : 0);
            for (char *c = text[side]; (c = strstr(c, "0x")) != NULL; c += 2)
                for (char *digit = c + 2; strchr("0123456789abcdef", *digit) && *digit; digit++)
                    *digit = '?';
            memcpy(data[side], (void *)(uintptr_t)first, REGION);
            memcpy(other[side], (void *)(uintptr_t)second, REGION);
            kit_close(&k);
        }
        for (unsigned side = 1; side < 3; side++) {
            assert_string_equal(text[0], text[side]);
            assert_memory_equal(data[0], data[side], REGION);
            assert_memory_equal(other[0], other[side], REGION);
        }
    }
}

int main(void)
{
    if (!kit_compiles())
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_interpreted), cmocka_unit_test(looked_at),
                                       cmocka_unit_test(some_looked_at), cmocka_unit_test(faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
