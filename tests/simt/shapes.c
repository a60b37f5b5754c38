/* shapes.c - counts and shapes against the truth.
 *
 * The same kernel runs on devices with 1, 2, 3 and 7 workers, with each vector extension, and with observers that get
 * every access as it happens, alone and beside others. Results in memory, counts, and the sums over accesses must all
 * be equal: the memory of shapes, the comparison of address registers once a block, the vector paths and those that
 * give accesses away as patterns are thereby held against the path that looks at each address. Kernels are written
 * below, and made up by a generator from a seed.
 */
#include "kit.h"

#define IN_BYTES (1u << 19)
#define OUT_BYTES (1u << 21)

#define SHAPES (MG_OBSERVE_SHAPES | MG_OBSERVE_COUNTS)
#define EVERY (MG_OBSERVE_EVERY | MG_OBSERVE_COUNTS)
/* The first is the truth. `beside`: what a second observer wants. */
static const struct way {
    const char *name, *isa;
    unsigned threads, wants, beside;
} ways[] = {
    {"each lane", NULL, 1, EVERY | KIT_EACH_LANE, 0},
    {"1 thread", NULL, 1, SHAPES, 0},
    {"2 threads", NULL, 2, SHAPES, 0},
    {"3 threads", NULL, 3, SHAPES, 0},
    {"7 threads", NULL, 7, SHAPES, 0},
    {"v2", "v2", 1, SHAPES, 0},
    {"v3", "v3", 1, SHAPES, 0},
    {"v4", "v4", 1, SHAPES, 0},
    {"every access", NULL, 1, EVERY, 0},
    {"every access, 3 threads", NULL, 3, EVERY, 0},
    {"v2, every access", "v2", 2, EVERY, 0},
    {"v3, every access", "v3", 2, EVERY, 0},
    {"each lane, 3 threads", NULL, 3, EVERY | KIT_EACH_LANE, 0},
    {"shapes beside every access", NULL, 1, SHAPES, EVERY},
    {"every access twice, 3 threads", NULL, 3, EVERY, EVERY},
    {"shapes twice, 2 threads", NULL, 2, SHAPES, SHAPES},
    {"some blocks closely", NULL, 1, EVERY | KIT_SOME, 0},
    {"some blocks closely, 3 threads", NULL, 3, EVERY | KIT_SOME, 0},
    {"shapes beside some blocks closely", NULL, 2, SHAPES, EVERY | KIT_SOME},
    {"some blocks closely twice", NULL, 2, EVERY | KIT_SOME, EVERY | KIT_SOME},
    {"some blocks closely beside every access", NULL, 2, EVERY | KIT_SOME, EVERY},
    {"shapes beside named blocks", NULL, 1, SHAPES, EVERY | KIT_BLOCKS},
    {"shapes beside named blocks, 3 threads", NULL, 3, SHAPES, EVERY | KIT_BLOCKS},
    {"named blocks twice, 2 threads", NULL, 2, EVERY | KIT_BLOCKS, EVERY | KIT_BLOCKS},
    {"named blocks beside every access", NULL, 2, EVERY | KIT_BLOCKS, EVERY},
    {"every access beside named blocks", NULL, 1, EVERY, EVERY | KIT_BLOCKS},
    {"named blocks, and shapes of the others", NULL, 1, EVERY | KIT_BLOCKS | MG_OBSERVE_REST, EVERY | KIT_BLOCKS},
    {"named blocks, and shapes of the others, 3 threads", NULL, 3, SHAPES, EVERY | KIT_BLOCKS | MG_OBSERVE_REST},
    {"no observer", NULL, 2, 0, 0},
};
static struct device {
    struct kit kit;
    uint64_t in, out, sums;
} devices[MG_COUNT(ways)];

static int open_devices(void **state)
{
    (void)state;
    for (size_t i = 0; i < MG_COUNT(ways); i++) {
        struct device *d = &devices[i];
        kit_open(&d->kit, ways[i].threads, 60000, ways[i].wants, ways[i].isa);
        kit_beside(&d->kit, ways[i].beside);
        d->in = kit_alloc(&d->kit, IN_BYTES);
        d->out = kit_alloc(&d->kit, OUT_BYTES);
        d->sums = kit_alloc(&d->kit, 4096);
        uint32_t *in = (uint32_t *)(uintptr_t)d->in;
        for (uint32_t k = 0, x = 1; k < IN_BYTES / 4; k++)
            in[k] = x = x * 1664525u + 1013904223u;
    }
    return 0;
}

static int close_devices(void **state)
{
    (void)state;
    for (size_t i = 0; i < MG_COUNT(ways); i++)
        kit_close(&devices[i].kit);
    return 0;
}

#define SAME(field)                                                                                \
    if (sums->field != truth->field)                                                               \
    fail_msg("%s: %s: %llu %s, not %llu\n%s", what, name, (unsigned long long)sums->field, #field, \
             (unsigned long long)truth->field, ptx)
static void same(const char *what, const char *name, const char *ptx, const struct kit_sums *sums, unsigned wants,
                 bool parted)
{
    const struct kit_sums *truth = &devices[0].kit.sums;
    if (!wants)
        return;
    SAME(counts);
    SAME(issued);
    SAME(threads);
    SAME(divergent);
    if (wants & MG_OBSERVE_EVERY && parted) { /* of few blocks, but how much all did */
        SAME(by_block);
        if (!(wants & MG_OBSERVE_REST))
            return;
    }
    SAME(requests);
    SAME(lanes);
    SAME(sectors);
    SAME(wavefronts);
    SAME(shapes);
    if (wants & MG_OBSERVE_EVERY && !parted)
        SAME(by_block);
    if (wants & MG_OBSERVE_EVERY && !parted && !sums->joined)
        SAME(exact);
}

/* Runs the kernel every way; `truth` of the first remains in devices[0].kit.sums. */
static void hold(const char *what, const char *ptx, struct mg_dim3 grid, struct mg_dim3 block, uint32_t shared)
{
    for (size_t i = 0; i < MG_COUNT(ways); i++) {
        struct device *d = &devices[i];
        struct kit *k = &d->kit;
        memset((void *)(uintptr_t)d->out, 0x5a, OUT_BYTES);
        memset((void *)(uintptr_t)d->sums, 0, 4096);
        kit_load(k, ptx);
        struct kit_params params = {{d->in, d->out, d->sums, 7}};
        struct mg_simt_launch l = {.grid = grid, .block = block, .shared = shared, .params = params.p};
        if (kit_launch_full(k, &l) != MG_OK)
            fail_msg("%s: %s: line %u: %s [%s]\n%s", what, ways[i].name, k->diag.line, k->diag.message, k->diag.excerpt,
                     ptx);
        if (memcmp((void *)(uintptr_t)d->out, (void *)(uintptr_t)devices[0].out, OUT_BYTES) != 0 ||
            memcmp((void *)(uintptr_t)d->sums, (void *)(uintptr_t)devices[0].sums, 4096) != 0)
            fail_msg("%s: %s: other results\n%s", what, ways[i].name, ptx);
        same(what, ways[i].name, ptx, &k->sums, ways[i].wants, k->observers[0].parted && ways[i].wants & KIT_BLOCKS);
        same(what, ways[i].name, ptx, &k->beside, ways[i].beside,
             k->observers[1].parted && ways[i].beside & KIT_BLOCKS);
    }
}

static void hold1(const char *what, const char *ptx, uint32_t grid, uint32_t block)
{
    hold(what, ptx, (struct mg_dim3){grid, 1, 1}, (struct mg_dim3){block, 1, 1}, 0);
}

/* %d0: in + 4 gid; %d1: out + 4 gid; %d2 is 4 gid. */
#define PLACES "mul.wide.u32 %d2, %gid, 4; add.u64 %d0, %a, %d2; add.u64 %d1, %b, %d2;\n"

/* A launch in two parts, and those that are not: small ones, and where blocks may wait for one another. */
static void parted(void **state)
{
    static const char body[] =
        PLACES "mov.u32 %r10, words; shl.b32 %r1, %t, 2; add.u32 %r2, %r10, %r1; mul.lo.u32 %r3, %gid, 7;\n"
               "and.b32 %r3, %r3, 0xffff; mul.wide.u32 %d3, %r3, 4; add.u64 %d3, %a, %d3; ld.global.u32 %r0, [%d3];\n"
               "st.shared.u32 [%r2], %r0; bar.sync 0; and.b32 %r4, %r0, 0x7c; add.u32 %r4, %r4, %r10;\n"
               "ld.shared.u32 %r5, [%r4]; and.b32 %r6, %r0, 1; setp.eq.u32 %p1, %r6, 0; @%p1 bra EVEN;\n"
               "ld.global.u32 %r7, [%d0]; add.u32 %r5, %r5, %r7; red.global.add.u32 [%c], 1;\n"
               "EVEN: red.shared.add.u32 [%r10], 3; st.global.u32 [%d1], %r5;";
    static const char ticket[] =
        PLACES "mov.u32 %r10, words; atom.global.add.u32 %r0, [%c], 1; st.global.u32 [%d1], %r0;";
    char ptx[8192];
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        snprintf(ptx, sizeof ptx, "%s.shared .align 16 .b8 words[1024];\n%s%s\nret;\n}\n", HEADER, ENTRY,
                 k == 3 ? ticket : body);
        hold1("in two parts", ptx, k == 0 ? 600 : k == 1 ? 24 : k == 2 ? 15 : 600, k == 1 ? 256 : 96);
        for (size_t i = 0; i < MG_COUNT(ways); i++) {
            const bool named = (ways[i].wants | ways[i].beside) & KIT_BLOCKS;
            assert_int_equal(devices[i].kit.observers[1].parted, named && k < 2);
        }
    }
}

static void simple(void **state)
{
    (void)state;
    hold1("copy", KERNEL("", PLACES "ld.global.u32 %r0, [%d0]; add.u32 %r0, %r0, 1; st.global.u32 [%d1], %r0;"), 9, 96);
    /* The truth itself, by hand: 27 warps read and write 4 sectors each. */
    const struct kit_sums *s = &devices[0].kit.sums;
    assert_int_equal(s->requests, 54);
    assert_int_equal(s->sectors, 27 * 8);
    assert_int_equal(s->lanes, 54 * 32);
    assert_int_equal(s->divergent, 0);
    assert_int_equal(s->events, 54);
    assert_int_equal(devices[1].kit.sums.events, 2); /* two instructions, one shape each */
    for (size_t i = 0; i < MG_COUNT(ways); i++) {    /* whatever is attached beside */
        const struct kit *k = &devices[i].kit;
        bool by_shape = !(ways[i].wants & KIT_EACH_LANE);
        if (ways[i].wants & MG_OBSERVE_EVERY && !k->sums.joined) {
            assert_int_equal(k->sums.events, 54);
            assert_int_equal(k->sums.patterns, by_shape ? 54 : 0);
        }
        if (ways[i].beside & MG_OBSERVE_EVERY && !k->beside.joined)
            assert_int_equal(k->beside.patterns, 54);
        if (ways[i].wants & MG_OBSERVE_SHAPES && ways[i].threads == 1 && !k->beside.joined)
            assert_int_equal(k->sums.events, 2);
    }
    hold1("a partial last warp", KERNEL("", PLACES "ld.global.u32 %r0, [%d0]; st.global.u32 [%d1], %r0;"), 5, 45);
    assert_int_equal(devices[0].kit.sums.requests, 20);
    assert_int_equal(devices[0].kit.sums.lanes, 5 * 45 * 2);
    uint64_t sectors = 0;
    for (unsigned b = 0; b < 5; b++)
        for (unsigned w = 0; w < 2; w++)
            sectors += 2 * ((180 * b + (w ? 179 : 127)) / 32 - (180 * b + 128 * w) / 32 + 1);
    assert_int_equal(devices[0].kit.sums.sectors, sectors);
}

static void written(void **state)
{
    (void)state;
    hold1("divergent loops",
          KERNEL("", PLACES "and.b32 %r1, %gid, 31; mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
                 "L: setp.ge.u32 %p0, %r2, %r1; @%p0 bra OUT; ld.global.u32 %r4, [%d0]; add.u64 %d0, %d0, 12;\n"
                 "xor.b32 %r3, %r3, %r4; and.b32 %r5, %r4, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra EVEN;\n"
                 "ld.global.u32 %r6, [%d0+4]; add.u32 %r3, %r3, %r6; bra NEXT;\n"
                 "EVEN: ld.global.u32 %r6, [%d0+8]; sub.u32 %r3, %r3, %r6; st.global.u32 [%d1], %r6;\n"
                 "NEXT: add.u32 %r2, %r2, 1; bra L;\nOUT: st.global.u32 [%d1], %r3;"),
          11, 100);
    assert_true(devices[0].kit.sums.divergent > 0);
    hold1("a branch to what comes next",
          KERNEL("", PLACES "and.b32 %r1, %lane, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra NEXT;\n"
                 "NEXT: st.global.u32 [%d1], %r1;"),
          5, 45);
    assert_int_equal(devices[0].kit.sums.requests, 10); /* by whole warps: it parts nobody */
    assert_int_equal(devices[0].kit.sums.divergent, 0);
    hold1("arms behind barriers, of warps that are not whole",
          KERNEL(".shared .align 16 .b8 one[1024];\n",
                 PLACES "mov.u32 %r10, one; shl.b32 %r1, %t, 2; add.u32 %r2, %r10, %r1; ld.global.u32 %r3, [%d0];\n"
                 "st.shared.u32 [%r2], %r3; mov.u32 %r4, 0;\n"
                 "L: bar.sync 0; sub.u32 %r5, %r4, %t; setp.gt.u32 %p0, %r5, 15; @%p0 bra OVER;\n"
                 "shl.b32 %r6, %r5, 2; add.u32 %r6, %r6, %r10; ld.shared.u32 %r7, [%r6]; add.u32 %r3, %r3, %r7;\n"
                 "and.b32 %r8, %r3, 1; setp.eq.u32 %p1, %r8, 0; @%p1 bra EVEN; st.shared.u32 [%r2], %r3; bra OVER;\n"
                 "EVEN: add.u32 %r3, %r3, %lane;\n"
                 "OVER: bar.sync 0; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 40; @%p2 bra L;\n"
                 "st.global.u32 [%d1], %r3;"),
          6, 45);
    hold1("early returns",
          KERNEL("", PLACES
                 "ld.global.u32 %r0, [%d0]; and.b32 %r1, %r0, 0x300; setp.eq.u32 %p0, %r1, 0; @%p0 bra END;\n"
                 "st.global.u32 [%d1], %r0; setp.eq.u32 %p1, %r1, 0x100; @%p1 ret; ld.global.u32 %r2, [%d0+128];\n"
                 "and.b32 %r3, %r2, 3; setp.eq.u32 %p2, %r3, 2; @%p2 exit; st.global.u32 [%d1], %r2;\nEND:"),
          13, 90);
    hold1("shared memory",
          KERNEL(".shared .align 16 .b8 one[4096];\n.shared .align 16 .b8 two[4352];\n",
                 PLACES "ld.global.u32 %r0, [%d0]; mov.u32 %r10, one; mov.u32 %r11, two; shl.b32 %r1, %t, 2;\n"
                 "add.u32 %r2, %r10, %r1; st.shared.u32 [%r2], %r0; mul.lo.u32 %r3, %t, 17; and.b32 %r3, %r3, 1023;\n"
                 "shl.b32 %r3, %r3, 2; add.u32 %r4, %r11, %r3; st.shared.u32 [%r4], %r0; bar.sync 0;\n"
                 "and.b32 %r5, %r0, 0xfc; add.u32 %r5, %r5, %r10; ld.shared.u32 %r6, [%r5];\n"
                 "shl.b32 %r7, %lane, 7; add.u32 %r7, %r7, %r11; ld.shared.u32 %r8, [%r7]; xor.b32 %r6, %r6, %r8;\n"
                 "shl.b32 %r7, %lane, 4; add.u32 %r7, %r7, %r10; ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r7];\n"
                 "xor.b32 %r6, %r6, %r20; xor.b32 %r6, %r6, %r23; ld.shared.v2.u32 {%r20, %r21}, [%r7+8];\n"
                 "add.u32 %r6, %r6, %r21; ld.shared.u8 %r22, [%r7+3]; add.u32 %r6, %r6, %r22;\n"
                 "mov.u32 %r9, one; ld.shared.u32 %r24, [%r9+64]; add.u32 %r6, %r6, %r24;\n"
                 "red.shared.add.u32 [%r11+16], 3; st.global.u32 [%d1], %r6;"),
          7, 128);
    hold1("vectors, halves and bytes",
          KERNEL("", "mul.wide.u32 %d2, %gid, 32; add.u64 %d0, %a, %d2; add.u64 %d1, %b, %d2;\n"
                 "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%d0]; ld.global.v2.u64 {%d5, %d6}, [%d0+16];\n"
                 "st.global.v4.u32 [%d1], {%r3, %r2, %r1, %r0}; st.global.v2.u64 [%d1+16], {%d6, %d5};\n"
                 "ld.global.u8 %r4, [%d0+1]; ld.global.s8 %r5, [%d0+2]; ld.global.u16 %r6, [%d0+4];\n"
                 "ld.global.s16 %r7, [%d0+6]; st.global.u8 [%d1+3], %r4; st.global.u16 [%d1+4], %r7;\n"
                 "st.global.u8 [%d1+8], %r5; st.global.u16 [%d1+10], %r6; ld.global.v2.u8 {%h0, %h1}, [%d0+8];\n"
                 "st.global.v2.u8 [%d1+12], {%h1, %h0}; ld.global.v4.u8 {%h0, %h1, %h2, %h3}, [%d0+12];\n"
                 "st.global.v2.u16 [%d1+20], {%h3, %h0};"),
          6, 77);
    hold1("words of registers of 64 bits",
          KERNEL("", PLACES "mul.wide.u32 %d5, %gid, 7; st.global.u32 [%d1], %d5; mul.wide.u32 %d6, %gid, 12;\n"
                 "add.u64 %d6, %d6, %b; st.global.u32 [%d6+32768], %d5; ld.global.u32 %d7, [%d0];\n"
                 "st.global.u32 [%d1+65536], %d7; st.global.u16 [%d6+131072], %d7;"),
          8, 96);
    for (unsigned i = 0; i < 8 * 96; i++)
        assert_int_equal(((uint32_t *)(uintptr_t)devices[1].out)[i], 7 * i);
    hold1("generic addresses of several spaces",
          KERNEL(".shared .align 16 .b8 buf[1024];\n",
                 PLACES ".local .align 8 .b8 mine[64]; mov.u64 %d5, mine; cvta.local.u64 %d5, %d5; mov.u64 %d6, buf;\n"
                 "cvta.shared.u64 %d6, %d6; mul.wide.u32 %d7, %t, 8; add.u64 %d6, %d6, %d7; and.b32 %r0, %lane, 3;\n"
                 "setp.eq.u32 %p0, %r0, 1; setp.eq.u32 %p1, %r0, 2; selp.b64 %d8, %d5, %d0, %p0;\n"
                 "selp.b64 %d8, %d6, %d8, %p1; st.u32 [%d5], %gid; st.u32 [%d6], %lane; ld.u32 %r1, [%d8];\n"
                 "st.global.u32 [%d1], %r1;"),
          4, 70);
    hold(
        "a grid and a block of three dimensions, and dynamic shared memory",
        KERNEL(
            ".extern .shared .align 16 .b8 dyn[];\n",
            "mov.u32 %r0, %tid.y; mov.u32 %r1, %tid.z; mov.u32 %r2, %ntid.y; mad.lo.u32 %r3, %r1, %r2, %r0;\n"
            "mad.lo.u32 %r3, %r3, %nt, %t; mov.u32 %r4, %ctaid.y; mov.u32 %r5, %ctaid.z; mov.u32 %r6, %nctaid.x;\n"
            "mov.u32 %r7, %nctaid.y; mad.lo.u32 %r8, %r5, %r7, %r4; mad.lo.u32 %r8, %r8, %r6, %bid;\n"
            "mov.u32 %r9, %ntid.z; mul.lo.u32 %r9, %r9, %r2; mul.lo.u32 %r9, %r9, %nt; mad.lo.u32 %r9, %r8, %r9, %r3;\n"
            "mov.u32 %r10, dyn; shl.b32 %r11, %r3, 3; add.u32 %r10, %r10, %r11; mul.wide.u32 %d2, %r9, 8;\n"
            "add.u64 %d0, %a, %d2; add.u64 %d1, %b, %d2; ld.global.u64 %d3, [%d0]; st.shared.u64 [%r10], %d3;\n"
            "bar.sync 0; ld.shared.u32 %r12, [%r10+4]; st.global.v2.u32 [%d1], {%r9, %r12};"),
        (struct mg_dim3){3, 2, 2}, (struct mg_dim3){5, 3, 7}, 5 * 3 * 7 * 8);
}

/* One address register, several accesses by it, and what lies between them. */
static void address_registers(void **state)
{
    (void)state;
    hold1(
        "stores in between",
        KERNEL(
            "",
            "mul.wide.u32 %d2, %gid, 64; add.u64 %d0, %b, %d2; st.global.u32 [%d0], %gid; ld.global.u32 %r0, [%d0];\n"
            "add.u32 %r0, %r0, 1; st.global.u32 [%d0+4], %r0; ld.global.u32 %r1, [%d0+4]; st.global.u64 [%d0+8], %d2;\n"
            "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d0]; st.global.v4.u32 [%d0+16], {%r5, %r4, %r3, %r2};\n"
            "st.global.u8 [%d0+17], 9; ld.global.u32 %r6, [%d0+16]; st.global.u32 [%d0+32], %r6;"),
        9, 61);
    hold1(
        "redefined in between",
        KERNEL("", PLACES
               "ld.global.u32 %r0, [%d0]; add.u64 %d0, %d0, 4; ld.global.u32 %r1, [%d0];\n"
               "and.b32 %r2, %r0, 0xff0; cvt.u64.u32 %d3, %r2; add.u64 %d0, %a, %d3; ld.global.u32 %r3, [%d0];\n"
               "ld.global.u32 %r4, [%d0+8]; ld.global.u64 %d0, [%d0]; and.b64 %d0, %d0, 0xff0; add.u64 %d0, %d0, %a;\n"
               "ld.global.u32 %r5, [%d0]; ld.global.v2.u64 {%d4, %d5}, [%d0+16]; add.u32 %r0, %r1, %r3;\n"
               "add.u32 %r0, %r0, %r4; add.u32 %r0, %r0, %r5; cvt.u32.u64 %r6, %d5; add.u32 %r0, %r0, %r6;\n"
               "st.global.u32 [%d1], %r0;"),
        9, 64);
    hold1("redefined for some lanes",
          KERNEL("", PLACES "ld.global.u32 %r0, [%d0]; and.b32 %r1, %r0, 0x10000; setp.ne.u32 %p0, %r1, 0;\n"
                 "ld.global.u32 %r2, [%d0+4]; @%p0 add.u64 %d0, %d0, 32; ld.global.u32 %r3, [%d0+4];\n"
                 "@%p0 ld.global.u32 %r4, [%d0+8]; @!%p0 ld.global.u32 %r4, [%d0+12]; ld.global.u32 %r5, [%d0];\n"
                 "@%p0 ld.global.u64 %d0, [%a+8]; @%p0 mov.u64 %d0, %a; ld.global.u32 %r6, [%d0];\n"
                 "add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5; add.u32 %r2, %r2, %r6;\n"
                 "@%p0 st.global.u32 [%d1], %r2; @!%p0 st.global.u32 [%d1], %r0;"),
          12, 96);
    hold1(
        "changed by a loop",
        KERNEL(
            ".shared .align 16 .b8 buf[8192];\n", PLACES
            "mov.u32 %r0, 0; mov.u32 %r9, 0; mov.u32 %r5, buf; shl.b32 %r6, %t, 2; add.u32 %r5, %r5, %r6;\n"
            "L: ld.global.u32 %r1, [%d0]; ld.global.u32 %r2, [%d0+64]; xor.b32 %r9, %r9, %r1; add.u32 %r9, %r9, %r2;\n"
            "st.shared.u32 [%r5], %r9; ld.shared.u32 %r3, [%r5]; add.u32 %r9, %r9, %r3; mad.lo.u32 %r5, %r0, 132, "
            "%r5;\n"
            "and.b32 %r4, %r0, 3; shl.b32 %r4, %r4, 2; cvt.u64.u32 %d5, %r4; add.u64 %d0, %d0, %d5;\n"
            "add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 8; @%p0 bra L; st.global.u32 [%d1], %r9;"),
        8, 64);
    hold1(
        "bases that are no multiple of a sector",
        KERNEL(
            "", PLACES
            "mov.u32 %r0, 0; mov.u32 %r9, 0; add.u64 %d3, %a, 4;\n"
            "L: mad.lo.u32 %r1, %r0, 36, %lane; mul.wide.u32 %d4, %r1, 1; add.u64 %d4, %a, %d4;\n"
            "ld.global.u8 %r2, [%d4+1]; add.u32 %r9, %r9, %r2; mul.wide.u32 %d5, %lane, 2; mul.wide.u32 %d6, %r0, 6;\n"
            "add.u64 %d5, %d5, %d6; add.u64 %d5, %a, %d5; ld.global.u16 %r3, [%d5+2]; xor.b32 %r9, %r9, %r3;\n"
            "add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 40; @%p0 bra L; st.global.u32 [%d1], %r9;"),
        4, 64);
}

/* More patterns than a worker remembers, and more shapes than a site does. */
static void many_patterns(void **state)
{
    (void)state;
    struct mg_strbuf t = {0};
    mg__strbuf_printf(&t, "%s", HEADER ENTRY PLACES "mov.u32 %r9, %gid;\n");
    for (unsigned i = 0; i < 256; i++)
        mg__strbuf_printf(&t,
                          "mad.lo.u32 %%r9, %%r9, 1664525, %u; shr.u32 %%r1, %%r9, 14; and.b32 %%r1, %%r1, 0x3fffc;\n"
                          "cvt.u64.u32 %%d3, %%r1; add.u64 %%d3, %%d3, %%a; ld.global.u32 %%r2, [%%d3];\n"
                          "xor.b32 %%r9, %%r9, %%r2;\n",
                          2 * i + 1);
    mg__strbuf_printf(&t, "st.global.u32 [%%d1], %%r9;\nret;\n}\n");
    hold1("gathers at random", t.at, 8, 256);
    assert_int_equal(devices[0].kit.sums.requests, 257 * 64);
    mg__strbuf_free(&t);
    hold1("seven shapes in turn",
          KERNEL("", PLACES "mov.u32 %r0, 0; mov.u32 %r9, 0;\nL: rem.u32 %r1, %r0, 7; mul.lo.u32 %r2, %r1, %lane;\n"
                 "shl.b32 %r2, %r2, 2; mul.lo.u32 %r3, %r0, 12; add.u32 %r2, %r2, %r3; cvt.u64.u32 %d3, %r2;\n"
                 "add.u64 %d3, %d3, %a; ld.global.u32 %r4, [%d3]; add.u32 %r9, %r9, %r4; add.u32 %r0, %r0, 1;\n"
                 "setp.lt.u32 %p0, %r0, 300; @%p0 bra L; st.global.u32 [%d1], %r9;"),
          3, 64);
}

/* ---- kernels made up ----
 * %d0 … %d3 are addresses of what is only read (with an alignment each), %d4 and %d5 of what only this thread has in
 * global memory, %r40 … %r43 likewise in shared memory; %r10 is a value that all loads go into. */
struct maker {
    struct mg_strbuf text;
    uint64_t seed;
    unsigned align[4]; /* of %d0 … %d3 */
    unsigned labels;
};
static unsigned pick(struct maker *m, unsigned n)
{
    m->seed = m->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(m->seed >> 33) % n;
}
#define PUT(...) mg__strbuf_printf(&m->text, __VA_ARGS__)

/* Rarely changes how many bytes are at hand: the input has half a megabyte, and no address starts beyond its first
 * quarter. */
static void put_address(struct maker *m, unsigned k)
{
    m->align[k] = 1u << pick(m, 5);
    PUT("mad.lo.u32 %%r10, %%r10, 1664525, %u;\n", pick(m, 10000));
    switch (pick(m, 7)) {
    case 0:
        PUT("mul.lo.u32 %%r11, %%gid, %u;", m->align[k]);
        break;
    case 1:
        PUT("shr.u32 %%r11, %%r10, 13; and.b32 %%r11, %%r11, %u;", 0xffffu & ~(m->align[k] - 1));
        break;
    case 2:
        PUT("mov.u32 %%r11, %u;", 16 * pick(m, 100) + m->align[k]);
        break;
    case 3:
        PUT("mad.lo.u32 %%r11, %%lane, %u, %u;", m->align[k] * (1 + pick(m, 40)), m->align[k] * pick(m, 64));
        break;
    case 4:
        PUT("xor.b32 %%r11, %%lane, %u; mul.lo.u32 %%r11, %%r11, %u;", pick(m, 64), m->align[k]);
        break;
    case 5:
        PUT("and.b32 %%r11, %%r10, %u; mad.lo.u32 %%r11, %%r11, %u, %u;", 1 + pick(m, 3), 16 * pick(m, 20),
            16 * pick(m, 9));
        break;
    default:
        PUT("shr.u32 %%r11, %%gid, %u; mul.lo.u32 %%r11, %%r11, %u;", 1 + pick(m, 4), m->align[k]);
        break;
    }
    PUT(" cvt.u64.u32 %%d10, %%r11; add.u64 %%d%u, %%a, %%d10;\n", k);
}

static void put_own_address(struct maker *m)
{
    unsigned slots = pick(m, 2);
    switch (pick(m, 4)) {
    case 0: /* a piece of 256 bytes */
        PUT("and.b32 %%r11, %%r10, %u; shl.b32 %%r11, %%r11, 4; mad.lo.u32 %%r11, %%gid, 256, %%r11;\n",
            slots ? 7u : 0u);
        PUT("cvt.u64.u32 %%d10, %%r11; add.u64 %%d4, %%b, %%d10;\n");
        break;
    case 1: /* every n-th piece of 16 bytes, from the middle of the memory on */
        PUT("and.b32 %%r11, %%r10, %u; mad.lo.u32 %%r11, %%r11, 600, %%gid; shl.b32 %%r11, %%r11, 4;\n",
            slots ? 7u : 0u);
        PUT("add.u32 %%r11, %%r11, %u; cvt.u64.u32 %%d10, %%r11; add.u64 %%d5, %%b, %%d10;\n", OUT_BYTES / 2);
        break;
    case 2:
        PUT("and.b32 %%r11, %%r10, %u; shl.b32 %%r11, %%r11, 4; mov.u32 %%r12, own; mad.lo.u32 %%r12, %%t, %u, "
            "%%r12;\n",
            slots ? 3u : 0u, 80u);
        PUT("add.u32 %%r%u, %%r12, %%r11;\n", 40 + pick(m, 2));
        break;
    default:
        PUT("shr.u32 %%r11, %%r10, %u; and.b32 %%r11, %%r11, 0x7f0; mov.u32 %%r12, table; add.u32 %%r%u, %%r11, "
            "%%r12;\n",
            pick(m, 20), 42 + pick(m, 2));
        break;
    }
}

static void put_guard(struct maker *m)
{
    if (pick(m, 4) == 0)
        PUT("and.b32 %%r13, %%r10, %u; setp.ne.u32 %%p8, %%r13, 0; @%s%%p8 ", 64u << pick(m, 8) | 8,
            pick(m, 2) ? "!" : "");
}

static void put_load(struct maker *m)
{
    static const char *const kinds[] = {"u8 %r20",
                                        "s8 %r20",
                                        "u16 %r20",
                                        "s16 %r20",
                                        "u32 %r20",
                                        "u64 %d20",
                                        "v2.u32 {%r20, %r21}",
                                        "v4.u32 {%r20, %r21, %r22, %r23}",
                                        "v2.u64 {%d20, %d21}"};
    static const unsigned bytes[] = {1, 1, 2, 2, 4, 8, 8, 16, 16};
    unsigned from = pick(m, 9), kind, limit = from < 4 ? m->align[from] : 16;
    do
        kind = pick(m, MG_COUNT(kinds));
    while (bytes[kind] > limit);
    unsigned room = from < 4 ? 128 : 16, at = bytes[kind] * pick(m, room / bytes[kind]);
    bool wide = kind == 5 || kind == 8;
    PUT(wide ? "mov.u64 %%d20, 1;" : "mov.u32 %%r20, 1;"); /* what lanes get that the guard leaves out */
    PUT("\n");
    put_guard(m);
    PUT("ld.%s.", from < 6 ? "global" : "shared");
    PUT("%s, [", kinds[kind]);
    if (from < 6)
        PUT("%%d%u", from);
    else
        PUT("%%r%u", from == 6 ? 40 + pick(m, 2) : 42 + pick(m, 2));
    PUT("+%u];\n", at);
    if (wide)
        PUT("cvt.u32.u64 %%r20, %%d20;\n");
    if (kind == 7)
        PUT("and.b32 %%r23, %%r23, 0; add.u32 %%r20, %%r20, %%r23;\n");
    PUT("mad.lo.u32 %%r10, %%r10, 31, %%r20;\n");
}

static void put_store(struct maker *m)
{
    static const char *const kinds[] = {"u8", "u16", "u32", "u64", "v2.u32", "v4.u32", "v2.u64"};
    static const char *const from[] = {
        "%r10", "%r10", "%r10", "%d12", "{%r10, %gid}", "{%gid, %r10, %r10, %lane}", "{%d12, %d12}"};
    static const unsigned bytes[] = {1, 2, 4, 8, 8, 16, 16};
    unsigned kind = pick(m, MG_COUNT(kinds)), at = bytes[kind] * pick(m, 16 / bytes[kind]);
    PUT("cvt.u64.u32 %%d12, %%r10;\n");
    put_guard(m);
    if (pick(m, 2))
        PUT("st.global.%s [%%d%u+%u], %s;\n", kinds[kind], 4 + pick(m, 2), at, from[kind]);
    else
        PUT("st.shared.%s [%%r%u+%u], %s;\n", kinds[kind], 40 + pick(m, 2), at, from[kind]);
}

static void put_statements(struct maker *m, unsigned count, unsigned depth)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned label = ++m->labels, k = pick(m, 4), what = pick(m, 24);
        if (what < 9) {
            put_load(m);
        } else if (what < 13) {
            put_store(m);
        } else if (what < 15) {
            put_address(m, k);
        } else if (what < 17) {
            put_own_address(m);
        } else if (what == 17) {
            put_guard(m);
            PUT("add.u64 %%d%u, %%d%u, %u;\n", k, k, m->align[k] * pick(m, 4));
        } else if (what == 18) {
            PUT("and.b32 %%r14, %%r10, 0x3fc; cvt.u64.u32 %%d11, %%r14; add.u64 %%d11, %%d11, %%c;\n");
            put_guard(m);
            PUT("red.global.add.u32 [%%d11], %%r10;\n");
        } else if (what == 19) {
            PUT("mov.u32 %%r15, counters; and.b32 %%r14, %%r10, 0x3c; add.u32 %%r15, %%r15, %%r14;\n");
            put_guard(m);
            PUT("red.shared.add.u32 [%%r15], 5;\n");
        } else if (what == 20 && depth) {
            PUT("and.b32 %%r13, %%r10, %u; setp.eq.u32 %%p1, %%r13, 0; @%%p1 bra ELSE%u;\n", 1u << (4 + pick(m, 20)),
                label);
            unsigned before[4], here[4];
            memcpy(before, m->align, sizeof before);
            put_statements(m, 1 + pick(m, 4), depth - 1);
            memcpy(here, m->align, sizeof here);
            memcpy(m->align, before, sizeof before);
            PUT("bra JOIN%u;\nELSE%u:\n", label, label);
            put_statements(m, pick(m, 4), depth - 1);
            PUT("JOIN%u:\n", label);
            for (unsigned r = 0; r < 4; r++)
                m->align[r] = MG_MIN(m->align[r], here[r]);
        } else if (what == 21 && depth) {
            unsigned before[4];
            memcpy(before, m->align, sizeof before);
            /* What the body finds on its second round is known only afterwards: it must be good for the least
             * alignment. */
            for (unsigned r = 0; r < 4; r++)
                m->align[r] = 1;
            PUT("and.b32 %%r%u, %%r10, %u; mov.u32 %%r%u, 0;\nLOOP%u:\n", 50 + depth, pick(m, 2) ? 7u : 3u, 53 + depth,
                label);
            if (pick(m, 2))
                put_address(m, k);
            put_statements(m, 2 + pick(m, 5), depth - 1);
            PUT("add.u32 %%r%u, %%r%u, 1; setp.le.u32 %%p2, %%r%u, %%r%u; @%%p2 bra LOOP%u;\n", 53 + depth, 53 + depth,
                53 + depth, 50 + depth, label);
            for (unsigned r = 0; r < 4; r++)
                m->align[r] = 1;
        } else if (what == 22 && pick(m, 6) == 0) {
            PUT("and.b32 %%r13, %%r10, 0x%x; setp.eq.u32 %%p3, %%r13, 0; @%%p3 %s;\n", 0x7000u << pick(m, 8),
                pick(m, 2) ? "ret" : "bra DONE");
        } else {
            PUT("mad.lo.u32 %%r10, %%r10, 1103515245, %%gid;\n");
        }
    }
}

static void made_up(void **state)
{
    (void)state;
    const char *asked = getenv("MARGAY_TEST_SEED"), *number = getenv("MARGAY_TEST_KERNELS");
    uint64_t first = asked ? strtoull(asked, NULL, 0) : 1, count = number ? strtoull(number, NULL, 0) : 60;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct maker maker = {.seed = seed * 0x9e3779b97f4a7c15ull}, *m = &maker;
        PUT("%s",
            HEADER ".shared .align 16 .b8 table[2304];\n.shared .align 16 .b8 own[10240];\n"
                   ".shared .align 4 .b8 counters[64];\n" ENTRY "mov.u32 %r0, %t; mov.u32 %r1, table;\n"
                   "FILL: shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, %r1; mul.lo.u32 %r3, %r0, 2654435761; st.shared.u32 "
                   "[%r2], %r3;\n"
                   "add.u32 %r0, %r0, %nt; setp.lt.u32 %p0, %r0, 576; @%p0 bra FILL; bar.sync 0;\n"
                   "mul.lo.u32 %r10, %gid, 2654435761; mov.u32 %r40, own; mad.lo.u32 %r40, %t, 80, %r40;\n"
                   "add.u32 %r41, %r40, 16; add.u32 %r42, %r1, 32; mov.u32 %r43, %r1; mul.wide.u32 %d4, %gid, 256;\n"
                   "add.u64 %d4, %d4, %b; mul.wide.u32 %d5, %gid, 16;\n");
        PUT("add.u64 %%d5, %%d5, %%b; add.u64 %%d5, %%d5, %u;\n", OUT_BYTES / 2);
        for (unsigned k = 0; k < 4; k++)
            put_address(m, k);
        put_statements(m, 10 + pick(m, 40), 2);
        PUT("DONE: st.global.u32 [%%d5], %%r10;\nret;\n}\n");
        char name[64];
        snprintf(name, sizeof name, "the kernel of seed %llu", (unsigned long long)seed);
        hold1(name, m->text.at, 1 + pick(m, 6), 33 + pick(m, 64));
        mg__strbuf_free(&m->text);
    }
}

/* Compiled code tells the loads of blocks that need not be heard closely together: all that do not follow data, and
 * no others; and what is told is the same. */
static void told_together(const char *engine, unsigned threads)
{
    static const char ptx[] =
        KERNEL("", PLACES "mov.u32 %r5, 0; mov.u32 %r6, 0;\n"
                          "loop: ld.global.u32 %r0, [%d0]; ld.global.u8 %r1, [%d0+129];\n"
                          "and.b32 %r2, %r0, 1023; mul.wide.u32 %d3, %r2, 4; add.u64 %d3, %a, %d3;\n"
                          "ld.global.u32 %r3, [%d3]; add.u32 %r6, %r6, %r3; add.u32 %r6, %r6, %r1;\n"
                          "add.u64 %d0, %d0, 36; add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 20; @%p0 bra loop;\n"
                          "setp.gt.u32 %p1, %t, 40; @%p1 ld.global.u32 %r6, [%d0];\n"
                          "st.global.u32 [%d1], %r6;");
    enum { BLOCKS = 40, WARPS = 3 };
    struct kit truth, some;
    uint64_t at[2][3];
    setenv("MARGAY_ENGINE", engine, 1);
    kit_open(&truth, 1, 60000, EVERY, NULL);
    kit_open(&some, threads, 60000, EVERY | KIT_SOME, NULL);
    kit_beside(&some, SHAPES);
    unsetenv("MARGAY_ENGINE");
    struct kit *kits[] = {&truth, &some};
    for (unsigned k = 0; k < 2; k++) {
        at[k][0] = kit_alloc(kits[k], IN_BYTES);
        at[k][1] = kit_alloc(kits[k], OUT_BYTES);
        at[k][2] = kit_alloc(kits[k], 4096);
        for (uint32_t i = 0; i < IN_BYTES / 4; i++)
            ((uint32_t *)(uintptr_t)at[k][0])[i] = i * 2654435761u;
        kit_load(kits[k], ptx);
    }
    for (unsigned time = 0; time < 3; time++) { /* what is kept of a launch is not the next one's */
        for (unsigned k = 0; k < 2; k++)
            assert_int_equal(kit_launch(kits[k], BLOCKS, 32 * WARPS, (struct kit_params){{at[k][0], at[k][1], 0, 0}}),
                             MG_OK);
        assert_memory_equal((void *)(uintptr_t)at[0][1], (void *)(uintptr_t)at[1][1], OUT_BYTES);
        devices[0].kit.sums = truth.sums;
        same("loads", engine, ptx, &some.sums, EVERY, false);
        same("loads", engine, ptx, &some.beside, SHAPES, false);
        /* two loads of each of 20 rounds, and the last one where any lanes make it: but for the first of a line, which
         * may have to be told */
        const uint64_t most = (2 * 20 * WARPS + 2) * (BLOCKS - 13);
        if (strcmp(engine, "interp") != 0)
            assert_true(some.sums.joined <= most && some.sums.joined > most / 2);
        else
            assert_int_equal(some.sums.joined, 0);
    }
    kit_close(&truth);
    kit_close(&some);
}

static void together(void **state)
{
    (void)state;
    told_together("interp", 2);
    if (!kit_compiles())
        skip();
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        told_together("jit", threads);
        told_together("quick", threads);
    }
}

int kit_run_shapes(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple),       cmocka_unit_test(written), cmocka_unit_test(address_registers),
        cmocka_unit_test(many_patterns), cmocka_unit_test(made_up),
        cmocka_unit_test(together),     cmocka_unit_test(parted),
    };
    return cmocka_run_group_tests_name("counts and shapes", tests, open_devices, close_devices);
}
