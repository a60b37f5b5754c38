/* test_counters.c - counters in shared memory: compiled code's own way of adding to them, against what C makes of them
 * and against the interpreter, in memory, in wavefronts, and in what is said of a fault.
 */
#include "simt/kit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 64, GRID = 3, ROUNDS = 50, WORDS = 2048 };

/* Counters s, zeroed, written out behind those of the blocks before; and 50 rounds in which a thread has a number of
 * its own in %r5 and s, from its first word on, in %r10. `bytes` of s, then what a round does. */
#define COUNT(declarations, bytes, round)                                                                              \
    KERNEL(declarations,                                                                                               \
           "mov.u32 %r10, s; add.u32 %r10, %r10, 3; and.b32 %r10, %r10, -4; shl.b32 %r1, %t, 2;\n"                     \
           "zero: setp.ge.u32 %p1, %r1, " #bytes "; @%p1 bra zeroed; add.u32 %r2, %r10, %r1;\n"                        \
           "st.shared.u32 [%r2], 0; "                                                                                  \
           "mad.lo.u32 %r1, %nt, 4, %r1; bra zero; zeroed: bar.sync 0;\n"                                              \
           "mov.u32 %r3, 0;\n"                                                                                         \
           "again: mad.lo.u32 %r4, %r3, %nt, %t; mul.wide.u32 %d1, %r4, 4; add.u64 %d1, %b, %d1;\n"                    \
           "ld.global.u32 %r5, [%d1];\n" round "\n"                                                                    \
           "add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 50; @%p2 bra again; bar.sync 0;\n"                              \
           "shl.b32 %r1, %t, 2; mul.wide.u32 %d2, %bid, 8192; add.u64 %d2, %a, %d2;\n"                                 \
           "out: setp.ge.u32 %p1, %r1, " #bytes "; @%p1 bra done; add.u32 %r2, %r10, %r1;\n"                           \
           "ld.shared.u32 %r6, [%r2]; cvt.u64.u32 %d3, %r1; add.u64 %d3, %d2, %d3; "                                   \
           "st.global.u32 [%d3], %r6;\n"                                                                               \
           "mad.lo.u32 %r1, %nt, 4, %r1; bra out; done:")

/* What thread i % BLOCK does in round i / BLOCK, its number being v. */
static void by_byte(uint32_t *s, uint32_t i, uint32_t v)
{
    (void)i;
    s[v & 255]++;
}
static void by_25(uint32_t *s, uint32_t i, uint32_t v)
{
    s[v % 25] += i % BLOCK;
}
static void by_warp(uint32_t *s, uint32_t i, uint32_t v)
{
    s[i % BLOCK / 32 * 300 + 7 + (v & 255)] += v;
}
static void by_round(uint32_t *s, uint32_t i, uint32_t v)
{
    s[i / BLOCK % 7 * 256 + (v & 255)] += v;
}
static void far_apart(uint32_t *s, uint32_t i, uint32_t v)
{
    (void)i;
    s[v & 2047] += 3;
}
static void both(uint32_t *s, uint32_t i, uint32_t v)
{
    s[v & 63] += i % BLOCK;
    s[64 + (v >> 8 & 31)]--;
}
static void some(uint32_t *s, uint32_t i, uint32_t v)
{
    (void)i;
    s[v & 255] += v & 256 ? 1 : 0;
    s[255 - (v & 255)] += 2;
}

static const struct counting {
    const char *name, *ptx;
    uint32_t dynamic; /* bytes */
    void (*round)(uint32_t *s, uint32_t i, uint32_t v);
    bool marked; /* all or some of it goes that way */
} cases[] = {
    {"256 words", COUNT(".shared .align 4 .b8 s[1024];", 1024,
                        "and.b32 %r6, %r5, 255; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r10;\n"
                        "red.shared.add.u32 [%r6], 1;"),
     0, by_byte, true},
    {"a small array that begins oddly, and more by lane",
     COUNT(".shared .align 1 .b8 pad[5]; .shared .align 1 .b8 s[103];", 100,
           "rem.u32 %r6, %r5, 25; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r10; st.shared.u8 [pad], %t;\n"
           "red.shared.add.u32 [%r6], %t;"),
     0, by_25, true},
    {"each warp has its own, and more by lane",
     COUNT(".shared .align 4 .b8 s[8192];", 8192,
           "and.b32 %r6, %r5, 255; shr.u32 %r7, %t, 5; mad.lo.u32 %r6, %r7, 300, %r6; shl.b32 %r6, %r6, 2;\n"
           "add.u32 %r6, %r6, %r10; red.shared.add.u32 [%r6+28], %r5;"),
     0, by_warp, true},
    {"other ones in each round",
     COUNT(".shared .align 4 .b8 s[8192];", 8192,
           "and.b32 %r6, %r5, 255; rem.u32 %r7, %r3, 7; mad.lo.u32 %r6, %r7, 256, %r6; shl.b32 %r6, %r6, 2;\n"
           "add.u32 %r6, %r6, %r10; red.shared.add.u32 [%r6], %r5;"),
     0, by_round, true},
    {"too far apart", COUNT(".shared .align 4 .b8 s[8192];", 8192,
                            "and.b32 %r6, %r5, 2047; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r10;\n"
                            "red.shared.add.u32 [%r6], 3;"),
     0, far_apart, false},
    {"two arrays in one, in turn",
     COUNT(".shared .align 4 .b8 s[384];", 384,
           "and.b32 %r6, %r5, 63; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r10; red.shared.add.u32 [%r6], %t;\n"
           "shr.u32 %r7, %r5, 8; and.b32 %r7, %r7, 31; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r10;\n"
           "red.shared.add.u32 [%r7+256], -1;"),
     0, both, true},
    {"dynamic, and some of the lanes",
     COUNT(".extern .shared .align 4 .b8 s[];", 1024,
           "and.b32 %r6, %r5, 255; shl.b32 %r6, %r6, 2; add.u32 %r7, %r6, %r10; and.b32 %r8, %r5, 256;\n"
           "setp.ne.u32 %p3, %r8, 0; @%p3 red.shared.add.u32 [%r7], 1; sub.u32 %r6, 1020, %r6;\n"
           "add.u32 %r6, %r6, %r10; red.shared.add.u32 [%r6], 2;"),
     1024, some, true}};

/* Wavefronts of additions by instruction, as the bank rule has them. */
enum { INSNS = 128 };
struct tally {
    uint64_t wavefronts[INSNS], requests[INSNS], marked;
};
static struct tally seen;

static enum mg_status begin(void *self, const struct mg_launch_info *launch, unsigned workers, void **state)
{
    (void)workers;
    assert_true(launch->ninsns <= INSNS);
    memset(&seen, 0, sizeof seen);
    *state = self;
    return MG_OK;
}

static void *worker(void *state, unsigned index)
{
    (void)index;
    return state;
}

static void count_row(struct tally *t, struct mg_access *a, uint32_t row)
{
    unsigned banks[32] = {0}, most = 0;
    for (unsigned i = 0; a->word && i < 32; i++)
        assert_true(a->word[32 * row + i] <= a->reach);
    t->marked += a->word && !a->at; /* told afterwards */
    mg__access_row(a, row);
    for (unsigned i = 0; i < 32; i++) {
        bool first = a->mask >> i & 1;
        for (unsigned k = 0; k < i && first; k++)
            first = !((a->mask >> k & 1) && a->address[k] == a->address[i]);
        if (first && ++banks[a->address[i] / 4 % 32] > most)
            most = banks[a->address[i] / 4 % 32];
    }
    t->wavefronts[a->insn] += most * a->times;
    t->requests[a->insn] += a->times;
}

static void on_access(void *state, struct mg_access *a)
{
    struct tally *t = state;
    if (a->kind != MG_ACCESS_RED || a->space != MG_SPACE_SHARED)
        return;
    for (uint32_t row = 0; row < a->rows; row++)
        count_row(t, a, row);
}

static void open_engine(struct kit *k, const char *engine, const char *isa)
{
    const struct mg_observer observer = {
        .self = &seen, .wants = MG_OBSERVE_SHAPES, .launch_begin = begin, .worker_begin = worker, .access = on_access};
    setenv("MARGAY_ENGINE", engine, 1);
    kit_open(k, 1, 60000, 0, isa);
    assert_int_equal(mg__simt_observe(k->simt, &observer), MG_OK);
}

static uint32_t data(uint32_t i)
{
    uint32_t x = (i + 1) * 2654435761u;
    x ^= x >> 15;
    x *= 0x2c1b3c6du;
    return i % 7 == 0 ? x & 0xff : x ^ x >> 13;
}

static void count(const struct counting *c, const char *engine, const char *isa, bool observed, struct tally *to)
{
    struct kit k;
    open_engine(&k, engine, isa);
    mg__simt_observe_enable(k.simt, observed);
    uint64_t out = kit_alloc(&k, GRID * WORDS * 4), in = kit_alloc(&k, ROUNDS * BLOCK * 4);
    struct kit_params params = {{out, in, 0, 0}};
    struct mg_simt_launch l = {
        .grid = {GRID, 1, 1}, .block = {BLOCK, 1, 1}, .shared = c->dynamic, .params = params.p};
    uint32_t want[WORDS] = {0};
    for (uint32_t i = 0; i < ROUNDS * BLOCK; i++) {
        ((uint32_t *)(uintptr_t)in)[i] = data(i);
        c->round(want, i, data(i));
    }
    kit_load(&k, c->ptx);
    kit_expect(&k, kit_launch_full(&k, &l));
    for (uint32_t b = 0; b < GRID; b++)
        assert_memory_equal((uint32_t *)(uintptr_t)out + (size_t)b * WORDS, want, sizeof want);
    *to = seen;
    kit_close(&k);
}

static void same_counts(void **state)
{
    (void)state;
    static const char *const engines[] = {"jit", "quick"}, *const isas[] = {"v2", "v3", NULL};
    for (const struct counting *c = cases; c < cases + MG_COUNT(cases); c++) {
        struct tally reference, other;
        count(c, "interp", NULL, true, &reference);
        assert_int_equal(reference.marked, 0);
        for (unsigned e = 0; e < MG_COUNT(engines); e++)
            for (unsigned i = 0; i < MG_COUNT(isas); i++) {
                count(c, engines[e], isas[i], true, &other);
                if ((other.marked > 0) != c->marked)
                    fail_msg("%s: %llu additions were marked", c->name, (unsigned long long)other.marked);
                assert_memory_equal(other.wavefronts, reference.wavefronts, sizeof other.wavefronts);
                assert_memory_equal(other.requests, reference.requests, sizeof other.requests);
                count(c, engines[e], isas[i], false, &other);
            }
    }
}

/* In the 40th round thread 37's address is one that the array does not have, or no word's. */
static const char astray[] = COUNT(".shared .align 4 .b8 s[1024];", 1024,
                                   "and.b32 %r6, %r5, 255; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r10;\n"
                                   "mad.lo.u32 %r7, %r3, 1000, %t; setp.eq.u32 %p3, %r7, 40037;\n"
                                   "cvt.u32.u64 %r8, %c; selp.b32 %r6, %r8, %r6, %p3;\n"
                                   "red.shared.add.u32 [%r6], 1;");

static void faults(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {2000, 1024, -4u, 1022, 2, 1};
    for (unsigned n = 0; n < MG_COUNT(wrong); n++) {
        char text[2][1024];
        for (unsigned side = 0; side < 2; side++) {
            struct kit k;
            open_engine(&k, side ? "jit" : "interp", NULL);
            uint64_t in = kit_alloc(&k, ROUNDS * BLOCK * 4), out = kit_alloc(&k, GRID * WORDS * 4);
            struct kit_params params = {{out, in, wrong[n], 0}};
            for (uint32_t i = 0; i < ROUNDS * BLOCK; i++)
                ((uint32_t *)(uintptr_t)in)[i] = data(i);
            kit_load(&k, astray);
            enum mg_status status = kit_launch(&k, GRID, BLOCK, params);
            snprintf(text[side], sizeof text[side], "%d: %s [%s]", (int)status, k.diag.message, k.diag.excerpt);
            assert_int_not_equal(status, MG_OK);
            kit_close(&k);
        }
        assert_string_equal(text[0], text[1]);
    }
}

int main(void)
{
    if (!kit_compiles())
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_counts), cmocka_unit_test(faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
