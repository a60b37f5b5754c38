/* prog_values.c - moves, predicates, set, setp with two results, special registers. */
#include "prog.h"

PROG(mov_packs, 2, 64, 0, "",
     "mov.b64 %d0, {%a, %b}; st.global.u64 [%out], %d0;\n"
     "mov.b64 {%r0, %r1}, %da; add.u32 %r0, %r0, %r1; cvt.u64.u32 %d1, %r0; st.global.u64 [%out+8], %d1;\n"
     "mov.b32 {%h0, %h1}, %a; mov.b32 %r2, {%h1, %h0}; cvt.u64.u32 %d2, %r2; st.global.u64 [%out+16], %d2;\n"
     "mov.b64 {%h0, %h1, %h2, %h3}, %da; mov.b64 %d3, {%h3, %h2, %h1, %h0};\n"
     "mov.b64 {_, %r3}, %db; cvt.u64.u32 %d4, %r3; xor.b64 %d3, %d3, %d4; st.global.u64 [%out+24], %d3;")
{
    EACH(i)
    {
        uint64_t a = A(i), d = IN(i, 0);
        OUT(i, 0) = a | (uint64_t)B(i) << 32;
        OUT(i, 1) = (uint32_t)(d + (d >> 32));
        OUT(i, 2) = (uint32_t)(a << 16 | a >> 16);
        OUT(i, 3) = (d << 48 | (d >> 16 & 0xffff) << 32 | (d >> 32 & 0xffff) << 16 | d >> 48) ^ (IN(i, 1) >> 32);
    }
}

PROG(mov_immediates, 1, 32, 0, "",
     "mov.u32 %r0, 0xdeadbeef; mov.s32 %r1, -5; mov.b64 %d0, {%r0, %r1}; st.global.u64 [%out], %d0;\n"
     "mov.f32 %f0, 0f3FC00000; mov.f64 %g0, 0d4004000000000000; mov.b32 %r2, %f0; mov.b64 %d1, %g0;\n"
     "cvt.u64.u32 %d2, %r2; st.global.u64 [%out+8], %d2; st.global.u64 [%out+16], %d1;\n"
     "mov.u64 %d3, 0x123456789abcdef0; mov.f32 %f1, 1.5; setp.eq.f32 %p0, %f0, %f1;\n"
     "@%p0 add.s64 %d3, %d3, 1; st.global.u64 [%out+24], %d3;")
{
    EACH(i)
    {
        OUT(i, 0) = 0xfffffffbdeadbeef;
        OUT(i, 1) = 0x3fc00000;
        OUT(i, 2) = 0x4004000000000000;
        OUT(i, 3) = 0x123456789abcdef1;
    }
}

PROG(set_widens, 1, 64, 0, "",
     "set.lt.u32.s32 %r0, %a, %b; set.gt.s32.u32 %r1, %a, %b; mov.b64 %d0, {%r0, %r1}; st.global.u64 [%out], %d0;\n"
     "set.ge.f32.s32 %f0, %a, %b; mov.b32 %r2, %f0; cvt.u64.u32 %d1, %r2; st.global.u64 [%out+8], %d1;\n"
     "setp.ne.u32 %p0, %c, 0; and.b32 %r5, %c, 1; setp.eq.u32 %p0, %r5, 1;\n"
     "set.eq.and.u32.s32 %r3, %a, %a, %p0; set.ne.xor.u32.s32 %r4, %a, %a, !%p0;\n"
     "mov.b64 %d2, {%r3, %r4}; st.global.u64 [%out+16], %d2;\n"
     "mov.f32 %f1, 0f7FC00000; set.ltu.u32.f32 %r6, %f1, %f0; set.lt.or.u32.f32 %r7, %f1, %f0, %p0;\n"
     "mov.b64 %d3, {%r6, %r7}; st.global.u64 [%out+24], %d3;")
{
    EACH(i)
    {
        uint64_t odd = C(i) & 1, all = 0xffffffff;
        OUT(i, 0) = ((int32_t)A(i) < (int32_t)B(i) ? all : 0) | (A(i) > B(i) ? all << 32 : 0);
        OUT(i, 1) = (int32_t)A(i) >= (int32_t)B(i) ? 0x3f800000 : 0;
        OUT(i, 2) = (odd ? all : 0) | (odd ? 0 : all << 32);
        OUT(i, 3) = all | (odd ? all << 32 : 0);
    }
}

PROG(setp_two_results, 1, 64, 0, "",
     "and.b32 %r0, %c, 1; setp.eq.u32 %p0, %r0, 1;\n"
     "setp.lt.and.s32 %p1|%p2, %a, %b, %p0; setp.lt.or.s32 %p3|%p4, %a, %b, !%p0; setp.lt.xor.u32 %p5|%p6, %a, %b, "
     "%p0;\n"
     "selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 2, 0, %p2; selp.u32 %r3, 4, 0, %p3; selp.u32 %r4, 8, 0, %p4;\n"
     "selp.u32 %r5, 16, 0, %p5; selp.u32 %r6, 32, 0, %p6; or.b32 %r1, %r1, %r2; or.b32 %r1, %r1, %r3;\n"
     "or.b32 %r1, %r1, %r4; or.b32 %r1, %r1, %r5; or.b32 %r1, %r1, %r6; cvt.u64.u32 %d0, %r1;\n"
     "st.global.u64 [%out], %d0;\n"
     "setp.lt.s32 %p1|_, %a, %b; mov.u32 %r7, 7; @!%p1 mov.u32 %r7, 9; cvt.u64.u32 %d1, %r7;\n"
     "st.global.u64 [%out+8], %d1; mov.u64 %d2, 0; st.global.u64 [%out+16], %d2;\n"
     "mov.b32 %r8, 0x3c004000; mov.b32 {%h0, %h1}, %a; mov.b32 %r9, {%h0, %h0};\n"
     "setp.gt.f16x2 %p1|%p2, %r8, %r9; selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 2, 0, %p2; or.b32 %r1, %r1, %r2;\n"
     "cvt.u64.u32 %d3, %r1; st.global.u64 [%out+24], %d3;")
{
    EACH(i)
    {
        bool p = C(i) & 1, s = (int32_t)A(i) < (int32_t)B(i), u = A(i) < B(i);
        OUT(i, 0) = (uint64_t)((s && p) | (!s && p) << 1 | (s || !p) << 2 | (!s || !p) << 3 | (u != p) << 4 |
                               ((!u) != p) << 5);
        OUT(i, 1) = s ? 7 : 9;
        OUT(i, 2) = 0;
        uint32_t h = A(i) & 0xffff; /* less than 2 and less than 1, as f16 */
        bool negative = h & 0x8000, nan = (h & 0x7fff) > 0x7c00;
        OUT(i, 3) = (uint64_t)(!nan && (negative || h < 0x4000)) | (uint64_t)(!nan && (negative || h < 0x3c00)) << 1;
    }
}

PROG(lop3_predicate, 1, 64, 0, "",
     "setp.eq.u32 %p1, %t, 3; lop3.or.b32 %r0|%p0, %a, %b, %c, 0x80, %p1; selp.u32 %r1, 1, 0, %p0;\n"
     "mov.b64 %d0, {%r0, %r1}; st.global.u64 [%out], %d0; mov.u64 %d1, 0; st.global.u64 [%out+8], %d1;\n"
     "lop3.and.b32 _|%p0, %a, %b, %c, 0xfe, %p1; selp.u64 %d2, 1, 0, %p0; st.global.u64 [%out+16], %d2;\n"
     "st.global.u64 [%out+24], %d1;")
{
    EACH(i)
    {
        uint64_t all = A(i) & B(i) & C(i);
        OUT(i, 0) = all | (uint64_t)(all != 0 || i == 3) << 32;
        OUT(i, 1) = 0;
        OUT(i, 2) = (A(i) | B(i) | C(i)) != 0 && i == 3;
        OUT(i, 3) = 0;
    }
}

/* The predicate that goes in may be the one that comes out, negated or a constant; some lanes idle. */
PROG(lop3_predicate_some, 1, 64, 0, "",
     "and.b32 %r0, %a, 3; and.b32 %r1, %b, 1; and.b32 %r2, %c, 1; setp.eq.u32 %p0, %r2, 0; mov.u32 %r3, 77;\n"
     "setp.ne.u32 %p7, %r0, 3; setp.eq.u32 %p1, %r1, 1;\n"
     "@%p7 lop3.and.b32 %r3|%p0, %r0, %r1, %r2, 0x96, !%p0; selp.u32 %r4, 1, 0, %p0;\n"
     "mov.b64 %d0, {%r3, %r4}; st.global.u64 [%out], %d0;\n"
     "lop3.or.b32 _|%p2, %r1, 0, 5, 0xc0, 1; lop3.and.b32 _|%p3, %r1, 1, 5, 0xc0, 1; selp.u64 %d1, 1, 0, %p2;\n"
     "selp.u64 %d2, 2, 0, %p3; or.b64 %d1, %d1, %d2; st.global.u64 [%out+8], %d1;\n"
     "lop3.or.b32 %r1|%p1, %r1, %r0, %r2, 0x80, %p1; selp.u32 %r5, 1, 0, %p1; mov.b64 %d3, {%r1, %r5};\n"
     "st.global.u64 [%out+16], %d3; st.global.u64 [%out+24], %d1;")
{
    EACH(i)
    {
        uint32_t a = A(i) & 3, b = B(i) & 1, c = C(i) & 1, parity = a ^ b ^ c;
        uint64_t p = a != 3 ? parity != 0 && c : c == 0;
        OUT(i, 0) = (a != 3 ? parity : 77) | p << 32;
        OUT(i, 1) = OUT(i, 3) = 1 | b << 1;
        OUT(i, 2) = (a & b & c) | (uint64_t)((a & b & c) || b) << 32;
    }
}

PROG(mov_of_128_bits, 2, 64, 0, "",
     ".reg .b128 %q<4>; .reg .v2 .b64 %pair;\n"
     "mov.b128 %q0, {%da, %db}; mov.b128 %q1, %q0; mov.b128 {%d0, %d1}, %q1; st.global.v2.u64 [%out], {%d1, %d0};\n"
     "mov.b128 {%r0, %r1, %r2, %r3}, %q1; mov.b128 %q2, {%r3, %r0, %t, 7};\n"
     "and.b32 %r4, %t, 3; setp.eq.u32 %p0, %r4, 1; setp.eq.u32 %p1, %r4, 2; setp.eq.u32 %p2, %r4, 3;\n"
     "@%p0 mov.b128 %q2, {%db, 5}; @%p1 mov.b128 %q2, %q0; @%p2 mov.b128 %q2, 9;\n"
     "mov.b128 {_, %r5, %r6, _}, %q2; mov.b64 %d2, {%r5, %r6}; st.global.u64 [%out+16], %d2;\n"
     "mov.b128 %pair, %q2; mov.b128 {%d3, _}, %q2; mov.b128 {_, %d4}, %q2; sub.u64 %d4, %d4, %pair.x;\n"
     "sub.u64 %d3, %d3, %pair.y; add.u64 %d3, %d3, %d4; xor.b64 %d3, %d3, %pair.y; st.global.u64 [%out+24], %d3;")
{
    EACH(i)
    {
        uint64_t x = IN(i, 0), y = IN(i, 1);
        OUT(i, 0) = y;
        OUT(i, 1) = x;
        uint64_t low[] = {y >> 32 | x << 32, y, x, 9}, high[] = {i | (uint64_t)7 << 32, 5, y, 0};
        OUT(i, 2) = low[i & 3] >> 32 | high[i & 3] << 32;
        OUT(i, 3) = high[i & 3];
    }
}

PROG(special_registers, 3, 96, 0, "",
     "mov.u32 %r0, %laneid; mov.u32 %r1, %warpid; mov.u32 %r2, %nwarpid; mov.u32 %r3, %ctaid.x;\n"
     "shl.b32 %r1, %r1, 8; shl.b32 %r3, %r3, 16; or.b32 %r0, %r0, %r1; or.b32 %r0, %r0, %r3;\n"
     "mov.u32 %r4, %lanemask_eq; mov.b64 %d0, {%r0, %r4}; st.global.u64 [%out], %d0;\n"
     "mov.u32 %r5, %lanemask_lt; mov.u32 %r6, %lanemask_ge; mov.b64 %d1, {%r5, %r6}; st.global.u64 [%out+8], %d1;\n"
     "mov.u32 %r7, %lanemask_le; mov.u32 %r8, %lanemask_gt; mov.b64 %d2, {%r7, %r8}; st.global.u64 [%out+16], %d2;\n"
     "mov.u32 %r9, %ntid.x; mov.u32 %r10, %nctaid.x; mov.u32 %r11, %ntid.y; mov.u32 %r12, %nctaid.z;\n"
     "mov.u32 %r13, %tid.y; mov.u32 %r14, %ctaid.z; shl.b32 %r10, %r10, 8; add.u32 %r9, %r9, %r10;\n"
     "add.u32 %r11, %r11, %r12; add.u32 %r11, %r11, %r13; add.u32 %r11, %r11, %r14;\n"
     "mov.b64 %d3, {%r9, %r11}; st.global.u64 [%out+24], %d3;")
{
    EACH(i)
    {
        uint32_t t = i % 96, lane = t % 32, eq = 1u << lane;
        OUT(i, 0) = (lane | (t / 32) << 8 | (i / 96) << 16) | (uint64_t)eq << 32;
        OUT(i, 1) = (eq - 1) | (uint64_t)(uint32_t)~(eq - 1) << 32;
        OUT(i, 2) = (eq | (eq - 1)) | (uint64_t)(uint32_t)~(eq | (eq - 1)) << 32;
        OUT(i, 3) = (96 + (3u << 8)) | (uint64_t)2 << 32;
    }
}

PROG(clocks_go_on, 1, 32, 0, "",
     "mov.u32 %r0, %clock; mov.u64 %d0, %clock64; mov.u64 %d1, %globaltimer; mov.u32 %r3, %clock_hi;\n"
     "mov.u32 %r1, 0; LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 100; @%p0 bra LOOP;\n"
     "mov.u64 %d2, %clock64; mov.u64 %d3, %globaltimer; setp.gt.u64 %p1, %d2, %d0; setp.ge.u64 %p2, %d3, %d1;\n"
     "selp.u64 %d4, 1, 0, %p1; st.global.u64 [%out], %d4; selp.u64 %d4, 1, 0, %p2; st.global.u64 [%out+8], %d4;\n"
     "mov.u32 %r4, %smid; mov.u32 %r5, %nsmid; setp.lt.u32 %p3, %r4, %r5; selp.u64 %d4, 1, 0, %p3;\n"
     "st.global.u64 [%out+16], %d4; mov.u32 %r6, %total_smem_size; mov.u32 %r7, %dynamic_smem_size;\n"
     "cvt.u64.u32 %d5, %r7; st.global.u64 [%out+24], %d5;")
{
    EACH(i)
    {
        OUT(i, 0) = OUT(i, 1) = OUT(i, 2) = 1;
        OUT(i, 3) = 0;
    }
}

static const struct prog *const all[] = {&prog_mov_packs,        &prog_mov_immediates,  &prog_set_widens,
                                         &prog_setp_two_results, &prog_lop3_predicate,  &prog_lop3_predicate_some,
                                         &prog_mov_of_128_bits,  &prog_special_registers, &prog_clocks_go_on};
const struct prog_list prog_values = {all, sizeof(all) / sizeof(all[0])};
