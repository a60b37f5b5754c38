/* ways_programs.c - ways.h: they read and write shared memory and two arrays, by words, halves and bytes, at places
 * that are lanes' own, neighbours', one for all, far apart or anywhere; some in a loop or behind a condition, by all
 * lanes or where they have parted, in runs of loads and in functions that they call, with barriers or without, in
 * blocks of whole warps and of others, of one row of threads and of rows of 16.
 */
#include "ways.h"

#include "simt/kit.h"

#include <string.h>

static uint64_t state;
static bool in_rows; /* the block has rows of ROW threads: %r44 is the thread's place in one, %r43 its number */
static unsigned draw(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((state >> 33) % n);
}

/* A place among `bytes`, a power of two, of elements of `width`: its byte, into %r2. */
static void place(struct text *t, unsigned bytes, unsigned width, const char *thread)
{
    const unsigned n = bytes / width;
    if (bytes == SHARED && in_rows && draw(2)) { /* rows that are padded; one place of each; a place of one row */
        const unsigned by = ROW + draw(5), kind = draw(3), most = by * (BLOCK / ROW);
        PUT(t, "mul.lo.u32 %%r2, %%r43, %u; mad.lo.u32 %%r2, %%r44, %u, %%r2; add.u32 %%r2, %%r2, %u;\n",
            kind == 2 ? 0 : by * width, kind == 1 ? 0 : width, width * draw(n - most + 1));
        return;
    }
    if (bytes == SHARED && draw(2)) { /* on a line, as anybody can see */
        const unsigned by = width == 4 && draw(3) == 0 ? 5 : 1, most = by * (BLOCK - 1), from = width * draw(n - most);
        if (draw(5))
            PUT(t, "mul.lo.u32 %%r2, %%t, %u;\n", by * width);
        else /* the last warp where the first one is */
            PUT(t, "and.b32 %%r2, %%t, 63; mul.lo.u32 %%r2, %%r2, %u;\n", by * width);
        if (draw(4))
            PUT(t, "add.u32 %%r2, %%r2, %u;\n", from);
        else
            PUT(t, "sub.u32 %%r2, %u, %%r2;\n", from + most * width);
        return;
    }
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

/* A word of shared memory is read; lanes that are given an odd number write it then, and so may have parted. */
#define FUNCTION                                                                                                       \
    ".func (.param .b32 f_r) f(.param .b32 f_at, .param .b32 f_v)\n{\n.reg .pred %f_p; .reg .b32 %f<8>;\n"             \
    ".loc 1 5 1\nld.param.u32 %f1, [f_at]; ld.param.u32 %f2, [f_v]; ld.shared.u32 %f3, [%f1]; add.u32 %f3, %f3, "      \
    "%f2;\nand.b32 %f4, %f2, 1; setp.eq.u32 %f_p, %f4, 0; @%f_p bra F_OUT;\n.loc 1 6 1\nst.shared.u32 [%f1], %f3;\n" \
    "F_OUT: .loc 1 7 1\nld.shared.u32 %f5, [%f1]; xor.b32 %f3, %f3, %f5; st.param.b32 [f_r], %f3; ret;\n}\n"

static void call(struct text *t, const char *guard)
{
    place(t, SHARED, 4, "%t");
    PUT(t, "add.u32 %%r2, %%r2, %%r4; mov.u32 %%r5, 0;\n{ .param .b32 to; .param .b32 at; .param .b32 v;\n"
           "st.param.b32 [at], %%r2; st.param.b32 [v], %s; %scall (to), f, (at, v);\n"
           "%sld.param.b32 %%r5, [to]; }\nadd.u32 %%r1, %%r1, %%r5;\n", draw(2) ? "%r1" : "%t", guard, guard);
}

/* Loads of shared memory through few registers, which are told together, and what may come between them. */
static void loads(struct text *t, unsigned line)
{
    const unsigned n = 2 + draw(6), kind = draw(in_rows ? 3 : 2), far = draw(2) ? 12 : SHARED / 4 - BLOCK;
    if (kind == 0)
        PUT(t, "shl.b32 %%r2, %%t, 2; add.u32 %%r2, %%r2, %%r4;\n");
    else if (kind == 1) /* one place for all */
        PUT(t, "add.u32 %%r2, %%r4, %u;\n", 4 * draw(BLOCK));
    else /* one for each row */
        PUT(t, "mad.lo.u32 %%r2, %%r43, %u, %%r4;\n", 4 * ROW);
    PUT(t, "shl.b32 %%r3, %%t, 2; add.u32 %%r3, %%r3, %%r4;\n");
    for (unsigned k = 0; k < n; k++) {
        PUT(t, ".loc 1 %u 1\nld.shared.u32 %%r5, [%%r2+%u]; mad.lo.u32 %%r1, %%r1, 3, %%r5;\n", 200 + 8 * line + k,
            4 * draw(far));
        const unsigned between = draw(12);
        if (between == 0)
            PUT(t, "st.shared.u32 [%%r3], %%r1;\n");
        else if (between < 4)
            PUT(t, "ld.shared.u32 %%r6, [%%r3+%u]; add.u32 %%r1, %%r1, %%r6;\n", 4 * draw(8));
        else if (between == 4)
            PUT(t, "@%%p2 ld.global.u32 %%r6, [%%a]; xor.b32 %%r1, %%r1, %%r6;\n");
        else if (between == 5)
            PUT(t, "add.u32 %%r2, %%r2, 4;\n");
    }
}

static void step(struct text *t, unsigned line, bool narrow, bool parted)
{
    const unsigned kind = draw(parted ? 7 : 14), width = narrow ? 1u << draw(3) : 4u, bits = 8 * width;
    const char *to = draw(2) ? "%a" : "%b", *guard = draw(8) ? "" : "@%p2 ";
    PUT(t, ".loc 1 %u 1\n", line);
    if (kind < 6) {
        place(t, kind < 4 ? SHARED : 4096, width, kind < 4 || draw(4) == 0 ? "%t" : "%gid");
        if (kind < 4)
            PUT(t, "add.u32 %%r2, %%r2, %%r4;\n");
        else
            PUT(t, "cvt.u64.u32 %%d9, %%r2; add.u64 %%d1, %s, %%d9;\n", to); /* which is then known to be in there */
        const char *space = kind < 4 ? "shared" : "global", *at = kind < 4 ? "%r2" : "%d1";
        if (kind % 2)
            PUT(t, "%sst.%s.u%u [%s], %%r1;\n", guard, space, bits, at);
        else
            PUT(t, "%sld.%s.u%u %%r5, [%s]; add.u32 %%r1, %%r1, %%r5;\n", guard, space, bits, at);
    } else if (kind == 6) { /* far apart, each its own */
        PUT(t, "mul.wide.u32 %%d9, %%gid, 64; add.u64 %%d9, %%d9, %u; add.u64 %%d1, %s, %%d9;\n", 4 * draw(16), to);
        PUT(t, "%s%s\n", guard,
            draw(2) ? "st.global.u32 [%d1], %r1;" : "ld.global.u32 %r5, [%d1]; add.u32 %r1, %r1, %r5;");
    } else if (kind == 7) {
        PUT(t, "bar.warp.sync 0xffffffff;\n");
    } else if (kind == 8) {
        PUT(t, "mov.u32 %%r1, %u;\n", draw(3)); /* the same in all lanes */
    } else if (kind == 9) {
        const char *what[] = {"red.shared.add.u32 [%r2], %r1;", "atom.shared.max.u32 %r1, [%r2], %r20;"};
        place(t, SHARED, 4, "%t");
        PUT(t, "add.u32 %%r2, %%r2, %%r4; %s%s\n", guard, what[draw(2)]);
    } else if (kind == 10) {
        const char *what[] = {"st.shared.v2.u32 [%r2], {%r1, %r20};", "st.shared.v4.u32 [%r2], {%r1, %t, %r20, %r1};",
                              "ld.shared.v2.u32 {%r5, %r1}, [%r2];", "ld.shared.v4.u32 {%r5, %r1, %r6, %r7}, [%r2];",
                              "cvt.u64.u32 %d8, %r1; st.shared.u64 [%r2], %d8;"};
        const unsigned which = draw(5);
        place(t, SHARED, which % 2 ? 16 : 8, "%t");
        PUT(t, "add.u32 %%r2, %%r2, %%r4; %s\n", what[which]);
    } else if (kind == 11) {
        loads(t, line);
    } else if (kind == 12) {
        call(t, draw(4) ? "" : "@%p2 ");
    } else {
        PUT(t, "bar.sync 0;\n");
    }
}

/* One or two steps behind a branch that some lanes take, or in a loop that some leave before others. */
static void part(struct text *t, unsigned k, bool narrow)
{
    const bool loop = draw(3) == 0, nested = !loop && draw(3) == 0, other = !loop && draw(3) == 0;
    const unsigned by = draw(5);
    if (loop)
        PUT(t, "shr.u32 %%r22, %%t, %u; and.b32 %%r22, %%r22, 3; mov.u32 %%r21, 0;\nP%u:\n", by, k);
    else if (draw(2)) /* the first ones */
        PUT(t, "setp.ge.u32 %%p3, %%t, %u; @%%p3 bra P%u;\n", 1 + draw(BLOCK), k);
    else
        PUT(t, "shr.u32 %%r21, %%t, %u; and.b32 %%r21, %%r21, 1; setp.eq.u32 %%p3, %%r21, 0; @%%p3 bra P%u;\n", by, k);
    step(t, 10 + k, narrow, true);
    if (nested)
        PUT(t, "and.b32 %%r23, %%lane, %u; setp.eq.u32 %%p4, %%r23, 0; @%%p4 bra Q%u;\n", 1u << draw(5), k);
    if (nested || draw(2))
        step(t, 40 + k, narrow, true);
    if (nested)
        PUT(t, "Q%u:\n", k);
    if (other) {
        PUT(t, "bra R%u;\nP%u:\n", k, k);
        step(t, 70 + k, narrow, true);
        PUT(t, "R%u:\n", k);
    } else if (loop)
        PUT(t, "add.u32 %%r21, %%r21, 1; setp.le.u32 %%p3, %%r21, %%r22; @%%p3 bra P%u;\n", k);
    else
        PUT(t, "P%u:\n", k);
}

/* A loop that counts %r21 up or down so many times by `step` and, before it or behind it, uses the place of %d1, which
 * goes by `stride`; `k`: of the labels. Neither is set anew, or one in two ways, where it is gone through again. */
static void put_count(struct text *t, unsigned k, unsigned times, int stride, bool again)
{
    static const char *const less[] = {"lt.s32", "lt.u32", "le.s32", "ne.s32", "ge.s32"},
                            *const more[] = {"gt.s32", "ge.s32", "ne.b32", "le.s32"};
    const bool down = draw(3) == 0, behind = draw(3) == 0;
    const unsigned step = 1 + draw(4), first = down ? step * times + draw(3) : draw(3), which = draw(down ? 4 : 5);
    const char *cmp = down ? more[which] : less[which], *sign = down ? "-" : "";
    const bool negated = !strncmp(cmp, down ? "le" : "ge", 2);
    int bound = (int)first + (down ? -1 : 1) * (int)(step * times);
    bound += !strncmp(cmp, "le", 2) && !down ? -1 : down && which == 1 ? 1 : 0;
    if (!again || draw(4))
        PUT(t, "mov.u32 %%r21, %u;\n", first);
    else
        PUT(t, "setp.eq.u32 %%p5, %%r22, 0; @%%p5 mov.u32 %%r21, %u;\n@!%%p5 mov.u32 %%r21, %u;\n", first, first);
    PUT(t, "mov.u32 %%r24, %u; mov.u32 %%r25, %d;\nC%u:\n", step, bound, k);
    if (behind)
        PUT(t, "add.s64 %%d1, %%d1, %d;\n", stride);
    PUT(t, ".loc 1 %u 1\n", 100 + k);
    if (draw(3))
        PUT(t, "st.global.u32 [%%d1+%d], %%r1;\n", behind ? -stride : 0);
    else
        PUT(t, "ld.global.u32 %%r5, [%%d1+%d]; add.u32 %%r1, %%r1, %%r5;\n", behind ? -stride : 0);
    if (!behind)
        PUT(t, "add.s64 %%d1, %%d1, %d;\n", stride);
    if (down || draw(2))
        PUT(t, "add.s32 %%r21, %%r21, %s%u;\n", sign, step);
    else
        PUT(t, "add.s32 %%r21, %%r21, %%r24;\n");
    PUT(t, "setp.%s %%p3, %%r21, %s; @%s%%p3 bra C%u;\n", cmp, "%r25", negated ? "!" : "", k);
}

/* Loops over rows of one array, which fit beside one another or nearly so. */
static void make_loops(struct text *t)
{
    const unsigned loops = 1 + draw(3), row = 2 + draw(10), by_blocks = draw(3) == 0;
    t->n = 0;
    PUT(t, "%s.file 1 \"k.cu\"\n%smov.u32 %%r1, %%gid; mov.u32 %%r20, 0;\nL:\n", HEADER, ENTRY);
    for (unsigned k = 0; k < loops && !by_blocks; k++) {
        const unsigned from = draw(row), times = 1 + draw(row - from + (draw(3) == 0));
        const bool back = draw(3) == 0, again = draw(4) == 0, anew = draw(2);
        PUT(t, "mov.u32 %%r22, 0;\n");
        if (again && anew)
            PUT(t, "D%u:\n", k);
        PUT(t, "mad.lo.u32 %%r2, %%gid, %u, %u; mul.wide.u32 %%d9, %%r2, 4; add.u64 %%d1, %%a, %%d9;\n", row,
            8 + from + (back ? times - 1 : 0));
        if (again && !anew)
            PUT(t, "D%u:\n", k);
        put_count(t, k, again ? 1 + draw(2) : times, back ? -4 : 4, again);
        if (again)
            PUT(t, "add.u32 %%r22, %%r22, 1; setp.lt.u32 %%p4, %%r22, 2; @%%p4 bra D%u;\n", k);
    }
    for (unsigned k = 0; k < loops && by_blocks; k++) { /* a row of each block, in steps of its threads or others */
        const unsigned wide = 90 + draw(300), by = draw(3) ? BLOCK : 60 + draw(60), apart = wide + draw(4) - 1;
        PUT(t, "mov.u32 %%r22, %%bid;\nE%u: setp.ge.s32 %%p4, %%t, %u; @%%p4 bra G%u;\nmul.lo.u32 %%r23, %%r22, %u; "
               "mov.u32 %%r21, %%t;\n", k, wide, k, apart);
        if (draw(2))
            PUT(t, "F%u: add.u32 %%r2, %%r23, %%r21;\n", k);
        else /* from its end */
            PUT(t, "F%u: not.b32 %%r24, %%r21; add.u32 %%r25, %%r23, %u; add.u32 %%r2, %%r25, %%r24;\n", k, wide);
        PUT(t, "mul.wide.s32 %%d9, %%r2, 4; add.u64 %%d1, %%a, %%d9;\n.loc 1 %u 1\nst.global.u32 [%%d1], %%r1;\n",
            100 + k);
        PUT(t, "add.s32 %%r21, %%r21, %u; setp.lt.s32 %%p3, %%r21, %u; @%%p3 bra F%u;\n", by, wide, k);
        PUT(t, "G%u: add.s32 %%r22, %%r22, %u; setp.lt.s32 %%p4, %%r22, 15; @%%p4 bra E%u;\n", k, GRID, k);
    }
    PUT(t, "add.u32 %%r20, %%r20, 1; setp.lt.u32 %%p1, %%r20, %u; @%%p1 bra L;\nret;\n}\n", 1 + draw(2));
}

static void make(struct text *t)
{
    in_rows = false;
    if (draw(5) == 0) {
        make_loops(t);
        return;
    }
    const unsigned steps = 4 + draw(16), loop = draw(steps), sure = draw(4) != 0, narrow = draw(3) == 0,
                   parts = draw(3) == 0;
    t->n = 0;
    PUT(t, "%s.shared .align 16 .b8 s[%u];\n.file 1 \"k.cu\"\n%s", HEADER, SHARED, FUNCTION);
    PUT(t, "%s", ENTRY);
    in_rows = draw(4) == 0;
    if (in_rows)
        PUT(t,
            "mov.u32 %%r44, %%t; mov.u32 %%r43, %%tid.y; mad.lo.u32 %%t, %%r43, %u, %%t; mad.lo.u32 %%gid, %%bid, %u, "
            "%%t;\n",
            ROW, BLOCK);
    PUT(t, "mov.u32 %%r4, s; mov.u32 %%r1, %%gid; mov.u32 %%r5, 0; mov.u32 %%r20, 0; setp.lt.u32 %%p2, %%t, %u;\n",
        1 + draw(BLOCK));
    if (draw(6)) { /* all of it is written */
        PUT(t, ".loc 1 1 1\nmov.u32 %%r6, %%t;\nF: shl.b32 %%r7, %%r6, 2; add.u32 %%r7, %%r7, %%r4;\n"
               "st.shared.u32 [%%r7], %%r6; add.u32 %%r6, %%r6, %u; setp.lt.u32 %%p3, %%r6, %u; @%%p3 bra F;\n"
               "bar.sync 0;\n",
            BLOCK, SHARED / 4);
    }
    for (unsigned k = 0; k < steps; k++) {
        if (k == loop)
            PUT(t, "L:\n");
        if (!parts || draw(3))
            step(t, 10 + k, narrow, false);
        else
            part(t, k, narrow);
        if (sure)
            PUT(t, "bar.sync 0;\n");
    }
    PUT(t, "add.u32 %%r20, %%r20, 1; setp.lt.u32 %%p1, %%r20, 4; @%%p1 bra L;\n");
    PUT(t, "ret;\n}\n");
    assert_true(t->n < TEXT);
}

bool ways_make(struct text *t, uint64_t seed)
{
    state = seed;
    make(t);
    return in_rows;
}

unsigned ways_draw(unsigned n)
{
    return draw(n);
}
