/* prog_control.c - branches, tables of branches, calls of every kind, early ends. */
#include "prog.h"

PROG(
    diverging_loops, 2, 64, 0, "",
    "and.b32 %r0, %a, 31; mov.u32 %r1, 0; mov.u32 %r2, 0;\n"
    "OUTER: setp.ge.u32 %p0, %r1, %r0; @%p0 bra OUT1; and.b32 %r3, %r1, 3; mov.u32 %r4, 0;\n"
    "INNER: setp.gt.u32 %p1, %r4, %r3; @%p1 bra NEXT; mad.lo.u32 %r2, %r2, 5, %r4; add.u32 %r4, %r4, 1; bra.uni "
    "INNER;\n"
    "NEXT: add.u32 %r1, %r1, 1; setp.gt.u32 %p2, %r2, 0xf0000000; @%p2 bra OUT1; bra OUTER;\n"
    "OUT1: mov.b64 %d0, {%r1, %r2}; mov.u64 %d1, 0; st.global.v2.u64 [%out], {%d0, %d1};\n"
    "setp.lt.s32 %p3, %b, 0; @%p3 mov.u64 %d1, 5; @!%p3 add.u64 %d1, %d1, %da; st.global.v2.u64 [%out+16], {%d1, %d1};")
{
    EACH(i)
    {
        uint32_t k = 0, x = 0;
        while (k < (A(i) & 31)) {
            for (uint32_t j = 0; j <= (k & 3); j++)
                x = x * 5 + j;
            k++;
            if (x > 0xf0000000)
                break;
        }
        OUT(i, 0) = k | (uint64_t)x << 32;
        OUT(i, 1) = 0;
        OUT(i, 2) = OUT(i, 3) = (int32_t)B(i) < 0 ? 5 : IN(i, 0);
    }
}

PROG(branch_tables, 1, 64, 0, "",
     "TABLE: .branchtargets L0, L1, L2, L1;\n"
     "and.b32 %r0, %a, 3; mov.u32 %r1, 0; brx.idx %r0, TABLE;\n"
     "L0: mov.u32 %r1, 10; bra JOIN; L1: mov.u32 %r1, 20; bra JOIN; L2: mov.u32 %r1, 30;\n"
     "JOIN: add.u32 %r1, %r1, %r0; cvt.u64.u32 %d0, %r1; mov.u64 %d1, 0; st.global.v2.u64 [%out], {%d0, %d1};\n"
     "st.global.v2.u64 [%out+16], {%d1, %d1};")
{
    static const uint32_t to[] = {10, 20, 30, 20};
    EACH(i)
    {
        OUT(i, 0) = to[A(i) & 3] + (A(i) & 3);
        OUT(i, 1) = OUT(i, 2) = OUT(i, 3) = 0;
    }
}

PROG(
    calls, 2, 64, 0,
    ".func (.param .b32 r) scaled(.param .b32 x, .param .b64 y)\n"
    "{ .reg .b32 %q<3>; .reg .b64 %w; ld.param.u32 %q0, [x]; ld.param.u64 %w, [y]; cvt.u32.u64 %q1, %w;\n"
    "mad.lo.u32 %q2, %q0, 3, %q1; st.param.b32 [r], %q2; ret; }\n"
    ".func (.param .b32 r) factorial(.param .b32 x)\n"
    "{ .reg .b32 %q<4>; .reg .pred %z; ld.param.u32 %q0, [x]; setp.gt.u32 %z, %q0, 1; mov.u32 %q1, 1; @!%z bra END;\n"
    "sub.u32 %q2, %q0, 1; { .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %q2; call.uni (r0), factorial, (a0);\n"
    "ld.param.b32 %q3, [r0]; } mul.lo.u32 %q1, %q3, %q0; END: st.param.b32 [r], %q1; ret; }\n"
    ".func (.param .align 8 .b8 r[16]) pair(.param .align 8 .b8 x[16])\n"
    "{ .reg .b64 %w<3>; ld.param.u64 %w0, [x]; ld.param.u64 %w1, [x+8]; add.u64 %w2, %w0, %w1; st.param.b64 [r], %w2;\n"
    "sub.u64 %w2, %w0, %w1; st.param.b64 [r+8], %w2; ret; }\n"
    ".func nothing()\n{ ret; }\n",
    "{ .param .b32 x; .param .b64 y; .param .b32 v; st.param.b32 [x], %a; st.param.b64 [y], %db;\n"
    "call.uni (v), scaled, (x, y); ld.param.b32 %r0, [v]; }\n"
    "and.b32 %r1, %a, 7; { .param .b32 x; .param .b32 v; st.param.b32 [x], %r1; call (v), factorial, (x);\n"
    "ld.param.b32 %r2, [v]; } mov.b64 %d0, {%r0, %r2}; st.global.u64 [%out], %d0; call nothing;\n"
    "{ .param .align 8 .b8 x[16]; .param .align 8 .b8 v[16]; st.param.b64 [x], %da; st.param.b64 [x+8], %db;\n"
    "call (v), pair, (x); ld.param.b64 %d1, [v]; ld.param.b64 %d2, [v+8]; }\n"
    "st.global.u64 [%out+8], %d1; st.global.u64 [%out+16], %d2; setp.eq.u32 %p0, %r1, 2; mov.u32 %r3, 99; @!%p0 bra "
    "SKIP;\n"
    "{ .param .b32 x; .param .b32 v; st.param.b32 [x], 5; call (v), factorial, (x); ld.param.b32 %r3, [v]; }\n"
    "SKIP: cvt.u64.u32 %d3, %r3; st.global.u64 [%out+24], %d3;")
{
    EACH(i)
    {
        uint32_t f = 1;
        for (uint32_t k = 2; k <= (A(i) & 7); k++)
            f *= k;
        OUT(i, 0) = (uint32_t)(A(i) * 3 + B(i)) | (uint64_t)f << 32;
        OUT(i, 1) = IN(i, 0) + IN(i, 1);
        OUT(i, 2) = IN(i, 0) - IN(i, 1);
        OUT(i, 3) = (A(i) & 7) == 2 ? 120 : 99;
    }
}

PROG(indirect_calls, 2, 64, 0,
     ".func (.param .b32 r) inc(.param .b32 x)\n"
     "{ .reg .b32 %q; ld.param.u32 %q, [x]; add.u32 %q, %q, 1; st.param.b32 [r], %q; ret; }\n"
     ".func (.param .b32 r) twice(.param .b32 x)\n"
     "{ .reg .b32 %q; ld.param.u32 %q, [x]; add.u32 %q, %q, %q; st.param.b32 [r], %q; ret; }\n"
     ".global .align 8 .u64 functions[2] = {inc, twice};\n",
     "and.b32 %r0, %a, 1; mul.wide.u32 %d0, %r0, 8; mov.u64 %d1, functions; add.u64 %d1, %d1, %d0;\n"
     "ld.global.u64 %d2, [%d1]; { .param .b32 x; .param .b32 v; st.param.b32 [x], %b;\n"
     "PROTO: .callprototype (.param .b32 _) _ (.param .b32 _); call (v), %d2, (x), PROTO; ld.param.b32 %r1, [v]; }\n"
     "mov.u64 %d3, twice; { .param .b32 x; .param .b32 v; st.param.b32 [x], %c;\n"
     "LIST: .calltargets inc, twice; call (v), %d3, (x), LIST; ld.param.b32 %r2, [v]; }\n"
     "mov.b64 %d4, {%r1, %r2}; mov.u64 %d5, 0; st.global.v2.u64 [%out], {%d4, %d5};\n"
     "st.global.v2.u64 [%out+16], {%d5, %d5};")
{
    EACH(i)
    {
        OUT(i, 0) = (uint32_t)(A(i) & 1 ? 2 * B(i) : B(i) + 1) | (uint64_t)(uint32_t)(2 * C(i)) << 32;
        OUT(i, 1) = OUT(i, 2) = OUT(i, 3) = 0;
    }
}

PROG(
    early_ends, 1, 64, 0,
    ".func maybe_exit(.param .b32 x)\n"
    "{ .reg .b32 %q; .reg .pred %z; ld.param.u32 %q, [x]; and.b32 %q, %q, 3; setp.eq.u32 %z, %q, 2; @%z exit; ret; }\n",
    "mov.u64 %d0, 0; st.global.v2.u64 [%out], {%d0, %d0}; st.global.v2.u64 [%out+16], {%d0, %d0}; and.b32 %r0, %a, 3;\n"
    "setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 1; @%p0 ret; st.global.u64 [%out], %da; @%p1 exit;\n"
    "{ .param .b32 x; st.param.b32 [x], %a; call maybe_exit, (x); } st.global.u64 [%out+8], %db;\n"
    "setp.eq.u32 %p2, %t, 1000; @%p2 trap; @%p2 brkpt;")
{
    EACH(i)
    {
        uint32_t k = A(i) & 3;
        OUT(i, 0) = k == 0 ? 0 : IN(i, 0);
        OUT(i, 1) = k == 3 ? IN(i, 1) : 0;
        OUT(i, 2) = OUT(i, 3) = 0;
    }
}

/* A lock that lanes of one warp take in turn: the holder must go on while the others spin. */
PROG(spinning_lanes, 2, 64, 0, "",
     "add.u64 %d0, %buf, 50000;\n"
     "LOCK: atom.global.cas.b32 %r1, [%d0], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOCK; membar.gl;\n"
     "ld.volatile.global.u32 %r2, [%d0+4]; add.u32 %r2, %r2, 3; st.volatile.global.u32 [%d0+4], %r2; membar.gl;\n"
     "atom.global.exch.b32 %r3, [%d0], 0; mov.u64 %d1, 1; st.global.v2.u64 [%out], {%d1, %d1};\n"
     "st.global.v2.u64 [%out+16], {%d1, %d1};")
{
    uint32_t count;
    memcpy(&count, e->buf + 50004, 4);
    count += 3 * e->n;
    memcpy(e->buf + 50004, &count, 4);
    EACH(i)
    {
        for (uint32_t k = 0; k < 4; k++)
            OUT(i, k) = 1;
    }
}

static const struct prog *const all[] = {&prog_diverging_loops, &prog_branch_tables, &prog_calls,
                                         &prog_indirect_calls,  &prog_early_ends,    &prog_spinning_lanes};
const struct prog_list prog_control = {all, sizeof(all) / sizeof(all[0])};
