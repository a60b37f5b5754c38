/* prog_memory.c - loads and stores of every width, space and vector; addresses; asynchronous copies; hints. */
#include "prog.h"
#include <stdlib.h>

PROG(load_widths, 2, 64, 0, "",
     "mul.wide.u32 %d0, %t, 16; add.u64 %d0, %d0, %buf;\n"
     "ld.global.u8 %r0, [%d0+1]; ld.global.s8 %r1, [%d0+2]; mov.b64 %d1, {%r0, %r1}; st.global.u64 [%out], %d1;\n"
     "ld.global.u16 %r2, [%d0+2]; ld.global.s16 %r3, [%d0+4]; mov.b64 %d2, {%r2, %r3}; st.global.u64 [%out+8], %d2;\n"
     "ld.global.s32 %d3, [%d0+8]; st.global.u64 [%out+16], %d3; ld.global.u32 %d4, [%d0+8];\n"
     "ld.global.s8 %d5, [%d0+3]; xor.b64 %d4, %d4, %d5; st.global.u64 [%out+24], %d4;")
{
    EACH(i)
    {
        const uint8_t *p = e->buf + 16 * i;
        uint32_t w = (uint32_t)p[8] | (uint32_t)p[9] << 8 | (uint32_t)p[10] << 16 | (uint32_t)p[11] << 24;
        OUT(i, 0) = p[1] | (uint64_t)(uint32_t)(int8_t)p[2] << 32;
        OUT(i, 1) = (uint32_t)(p[2] | p[3] << 8) | (uint64_t)(uint32_t)(int16_t)(p[4] | p[5] << 8) << 32;
        OUT(i, 2) = (uint64_t)(int64_t)(int32_t)w;
        OUT(i, 3) = w ^ (uint64_t)(int8_t)p[3];
    }
}

/* An array's name with an index in brackets: its element's address, in elements of the array's type. */
PROG(array_elements, 1, 32, 0,
     ".global .align 8 .u64 wide[4] = {11, 12, 13, 14};\n.const .align 4 .b32 grid[3][2] = {1, 2, 3, 4, 5, 6};\n",
     ".shared .align 4 .b8 bytes[64]; .shared .align 4 .b32 words[33];\n"
     "ld.global.u64 %d0, wide[2]; mov.u64 %d1, wide[1+2]; ld.global.u64 %d1, [%d1]; mad.lo.u64 %d0, %d0, 100, %d1;\n"
     "st.global.u64 [%out], %d0; mov.u64 %d3, grid[5]; ld.const.u32 %r1, [%d3]; ld.const.u32 %r2, grid[1];\n"
     "mov.b64 %d2, {%r1, %r2}; st.global.u64 [%out+8], %d2; st.shared.u32 words[32], 7; bar.warp.sync -1;\n"
     "ld.shared.u32 %r3, [words+128]; mov.u32 %r4, bytes[5]; mov.u32 %r5, bytes; sub.u32 %r4, %r4, %r5;\n"
     "mov.b64 %d3, {%r3, %r4}; st.global.u64 [%out+16], %d3;")
{
    EACH(i)
    {
        OUT(i, 0) = 1314;
        OUT(i, 1) = 6 | (uint64_t)2 << 32;
        OUT(i, 2) = 7 | (uint64_t)5 << 32;
    }
}

PROG(store_widths, 2, 64, 0, "",
     "mul.wide.u32 %d0, %t, 16; add.u64 %d0, %d0, %buf;\n"
     "st.global.u8 [%d0+1], %a; st.global.u16 [%d0+2], %b; st.global.b32 [%d0+4], %c; st.global.u8 [%d0+8], %da;\n"
     "st.global.b8 [%d0+9], 77; mov.u64 %d1, 0; st.global.v2.u64 [%out], {%d1, %d1}; st.global.v2.u64 [%out+16], {%d1, "
     "%d1};")
{
    EACH(i)
    {
        uint8_t *p = e->buf + 16 * i;
        p[1] = (uint8_t)A(i);
        p[2] = (uint8_t)B(i);
        p[3] = (uint8_t)(B(i) >> 8);
        for (int k = 0; k < 4; k++)
            p[4 + k] = (uint8_t)(C(i) >> 8 * k);
        p[8] = (uint8_t)IN(i, 0);
        p[9] = 77;
        for (uint32_t k = 0; k < 4; k++)
            OUT(i, k) = 0;
    }
}

PROG(vectors, 2, 64, 0, "",
     "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%in]; ld.global.v2.u64 {%d0, %d1}, [%in+16];\n"
     "mov.b64 %d2, {%r1, %r0}; mov.b64 %d3, {%r3, %r2}; st.global.v2.b64 [%out], {%d3, %d2};\n"
     "ld.global.v4.u8 {%h0, %h1, %h2, %h3}, [%in]; ld.global.v2.s16 {%h4, %h5}, [%in+4]; add.u16 %h0, %h0, %h3;\n"
     "mov.b64 %d4, {%h0, %h1, %h4, %h5}; st.global.b64 [%out+16], %d4;\n"
     "ld.global.v2.f32 {%f0, %f1}, [%in+8]; st.global.v2.f32 [%out+24], {%f1, %f0};")
{
    EACH(i)
    {
        uint64_t x = IN(i, 0), y = IN(i, 1);
        OUT(i, 0) = y << 32 | y >> 32;
        OUT(i, 1) = x << 32 | x >> 32;
        OUT(i, 2) =
            ((x & 0xff) + (x >> 24 & 0xff)) | (x >> 8 & 0xff) << 16 | (x >> 32 & 0xffff) << 32 | (x >> 48) << 48;
        OUT(i, 3) = y << 32 | y >> 32;
    }
}

/* The generic accesses come first in their block, and what they find out is not for the others by the same register;
 * the second warp shows it, when shapes are known. */
PROG(generic_first_by_a_register, 2, 64, 0, "",
     "bra.uni FIRST; FIRST: ld.global.u32 %r0, [%in+4]; ld.global.u32 %r2, [%in+12]; bra.uni NEXT;\n"
     "NEXT: st.u32 [%out], %a; ld.u32 %r1, [%out]; st.global.u32 [%out+4], %b; st.global.u32 [%out+8], %r0;\n"
     "st.global.u32 [%out+12], %r1; cvt.u64.u32 %d0, %r2; st.global.v2.u64 [%out+16], {%d0, %d0};")
{
    EACH(i)
    {
        OUT(i, 0) = A(i) | (uint64_t)B(i) << 32;
        OUT(i, 1) = IN(i, 0) >> 32 | (uint64_t)A(i) << 32;
        OUT(i, 2) = OUT(i, 3) = IN(i, 1) >> 32;
    }
}

PROG(words_of_128_bits, 2, 64, 0,
     ".const .align 16 .b8 fixed[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};",
     ".reg .b128 %q<8>; .shared .align 16 .b8 tile[1024]; .shared .b128 one; .local .align 16 .b8 mine[32];\n"
     "mul.wide.u32 %d0, %t, 16; add.u64 %d0, %d0, %buf; ld.global.b128 %q0, [%d0]; ld.relaxed.gpu.global.b128 %q1, "
     "[%d0];\n"
     "ld.volatile.b128 %q2, [%d0]; ld.global.nc.L1::no_allocate.b128 %q3, [%d0]; ld.acquire.sys.b128 %q4, [%d0];\n"
     "mov.b128 {%d1, %d2}, %q1; mov.b128 {%d3, %d4}, %q2; xor.b64 %d1, %d1, %d3; xor.b64 %d2, %d2, %d4; or.b64 %d1, "
     "%d1, %d2;\n"
     "mov.b128 {%d3, %d4}, %q3; mov.b128 {%d5, %d6}, %q4; xor.b64 %d3, %d3, %d5; xor.b64 %d4, %d4, %d6; or.b64 %d3, "
     "%d3, %d4;\n"
     "or.b64 %d1, %d1, %d3; st.global.u64 [%out], %d1; mov.u32 %r0, %tid.x; mov.u32 %r1, tile; shl.b32 %r2, %r0, 4;\n"
     "add.u32 %r1, %r1, %r2; st.shared.b128 [%r1], %q0; bar.sync 0; xor.b32 %r1, %r1, 16; ld.relaxed.cta.shared.b128 "
     "%q5, [%r1];\n"
     "bar.sync 0; setp.eq.u32 %p0, %r0, 5; @%p0 st.release.cta.shared.b128 [one], %q0; bar.sync 0; ld.shared.b128 %q6, "
     "[one];\n"
     "st.local.b128 [mine+16], %q5; st.weak.local.b128 [mine], %q6; ld.local.u64 %d7, [mine+24]; ld.local.b128 %q7, "
     "[mine];\n"
     "st.global.u64 [%out+8], %d7; mov.b128 {_, %d8}, %q7; st.global.u64 [%out+16], %d8; ld.const.b128 %q1, [fixed];\n"
     "mov.b128 {%d9, %d10}, %q1; xor.b64 %d9, %d9, %d10; st.global.u64 [%out+24], %d9;\n"
     "and.b32 %r3, %t, 1; setp.eq.u32 %p1, %r3, 1; @%p1 st.global.b128 [%d0], %q7; @!%p1 st.relaxed.gpu.b128 [%d0], 6;")
{
    uint8_t *before = malloc(PROG_BUF);
    memcpy(before, e->buf, PROG_BUF);
    EACH(i)
    {
        uint32_t block = i / 64 * 64;
        uint64_t other, one[2], six[2] = {6, 0};
        memcpy(&other, before + 16 * (i ^ 1) + 8, 8);
        memcpy(one, before + 16 * (block + 5), 16);
        OUT(i, 0) = 0;
        OUT(i, 1) = other;
        OUT(i, 2) = one[1];
        OUT(i, 3) = 0x0807060504030201 ^ 0x100f0e0d0c0b0a09;
        memcpy(e->buf + 16 * i, i & 1 ? one : six, 16);
    }
    free(before);
}

/* Every lane's own cell in global or in shared memory, by space and by generic address. */
PROG(
    atomics_of_128_bits, 2, 64, 0, "",
    ".reg .b128 %q<8>; .shared .align 16 .b8 cells[1024];\n"
    "mov.b128 %q0, {%da, %db}; ld.global.u64 %d0, [%in+16]; ld.global.u64 %d1, [%in+24]; mov.b128 %q1, {%d0, %d1};\n"
    "mov.b128 %q2, {%d1, %da}; mul.wide.u32 %d2, %t, 16; add.u64 %d2, %d2, %buf; mov.u32 %r0, %tid.x; shl.b32 %r0, "
    "%r0, 4;\n"
    "mov.u32 %r1, cells; add.u32 %r1, %r1, %r0; st.shared.b128 [%r1], %q0; cvt.u64.u32 %d3, %r1; cvta.shared.u64 %d3, "
    "%d3;\n"
    "atom.global.exch.b128 _, [%d2], %q0; atom.global.acq_rel.gpu.cas.b128 %q3, [%d2], %q1, %q2;\n" /* finds another */
    "atom.global.cas.b128 %q4, [%d2], %q3, %q1; ld.global.b128 %q5, [%d2];\n"                       /* finds it */
    "mov.b128 {%d4, %d5}, %q3; mov.b128 {%d6, %d7}, %q4; sub.u64 %d4, %d4, %d7; sub.u64 %d5, %d5, %d6;\n"
    "add.u64 %d4, %d4, %d5; st.global.u64 [%out], %d4; mov.b128 {%d8, %d9}, %q5; mad.lo.u64 %d8, %d9, 3, %d8;\n"
    "st.global.u64 [%out+8], %d8; and.b32 %r2, %t, 1; setp.eq.u32 %p0, %r2, 1; selp.b64 %d10, %d3, %d2, %p0;\n"
    "mov.b128 %q6, {%da, %d1}; mov.b128 %q7, 0; atom.cas.b128 %q6, [%d10], %q6, %q7; atom.exch.b128 %q7, [%d10], %q2;\n"
    "mov.b128 {%d11, %d12}, %q6; mad.lo.u64 %d11, %d12, 3, %d11; st.global.u64 [%out+16], %d11;\n"
    "@%p0 atom.shared.exch.b128 %q7, [%r1], 3; mov.b128 {%d13, %d14}, %q7; mad.lo.u64 %d13, %d14, 3, %d13;\n"
    "ld.shared.b128 %q6, [%r1]; mov.b128 {%d15, _}, %q6; add.u64 %d13, %d13, %d15; st.global.u64 [%out+24], %d13;")
{
    EACH(i)
    {
        uint64_t x = IN(i, 0), y = IN(i, 1), z = IN(i, 2), u = IN(i, 3);
        uint64_t end[2] = {i & 1 ? z : u, i & 1 ? u : x};
        memcpy(e->buf + 16 * i, end, 16);
        OUT(i, 0) = 0;
        OUT(i, 1) = z + 3 * u;
        OUT(i, 2) = i & 1 ? x + 3 * y : z + 3 * u;
        OUT(i, 3) = i & 1 ? u + 3 * x + 3 : z + 3 * u + x;
    }
}

/* All threads add to one number of 128 bits, each until its exchange succeeds. */
PROG(counters_of_128_bits, 3, 64, 0, "",
     ".reg .b128 %q<4>; mov.u64 %d0, %buf;\n"
     "ld.relaxed.gpu.global.b128 %q0, [%d0];\n"
     "AGAIN: mov.b128 {%d1, %d2}, %q0; add.u64 %d1, %d1, 1; mad.lo.u64 %d2, %d1, 3, 1; mov.b128 %q1, {%d1, %d2};\n"
     "atom.relaxed.gpu.global.cas.b128 %q2, [%d0], %q0, %q1; mov.b128 {%d3, %d4}, %q2; mov.b128 {%d5, %d6}, %q0;\n"
     "mov.b128 %q0, %q2; setp.ne.u64 %p0, %d3, %d5; setp.ne.or.u64 %p0, %d4, %d6, %p0; @%p0 bra AGAIN;\n"
     "mov.u64 %d7, 0; st.global.v2.u64 [%out], {%d7, %d7}; st.global.v2.u64 [%out+16], {%d7, %d7};")
{
    uint64_t v[2];
    memcpy(v, e->buf, 16);
    EACH(i)
    {
        v[0]++;
        v[1] = 3 * v[0] + 1;
        OUT(i, 0) = OUT(i, 1) = OUT(i, 2) = OUT(i, 3) = 0;
    }
    memcpy(e->buf, v, 16);
}

PROG(cache_operators, 1, 64, 0, "",
     "ld.global.ca.u64 %d0, [%in]; ld.global.cg.u64 %d1, [%in]; ld.global.cs.u64 %d2, [%in]; ld.global.lu.u64 %d3, "
     "[%in];\n"
     "ld.global.cv.u64 %d4, [%in]; ld.global.nc.u64 %d5, [%in]; ld.volatile.global.u64 %d6, [%in];\n"
     "ld.relaxed.gpu.global.u64 %d7, [%in]; ld.acquire.sys.global.u64 %d8, [%in]; ld.weak.global.u64 %d9, [%in];\n"
     "ld.global.L1::evict_last.u64 %d10, [%in]; ld.global.nc.L1::no_allocate.L2::128B.u64 %d11, [%in];\n"
     "ldu.global.u64 %d12, [%in]; xor.b64 %d1, %d1, %d2; xor.b64 %d3, %d3, %d4; xor.b64 %d5, %d5, %d6;\n"
     "xor.b64 %d7, %d7, %d8; xor.b64 %d9, %d9, %d10; xor.b64 %d11, %d11, %d12; or.b64 %d1, %d1, %d3;\n"
     "or.b64 %d1, %d1, %d5; or.b64 %d1, %d1, %d7; or.b64 %d1, %d1, %d9; or.b64 %d1, %d1, %d11;\n"
     "st.global.wb.u64 [%out], %d0; st.global.cg.u64 [%out+8], %d1; st.global.cs.u64 [%out+16], %d0;\n"
     "st.global.wt.u64 [%out+24], %d1; st.release.gpu.global.u64 [%out+24], %d0; st.volatile.global.u64 [%out+24], "
     "%d0;\n"
     "st.relaxed.sys.global.u64 [%out+24], %d0;")
{
    EACH(i)
    {
        OUT(i, 0) = OUT(i, 2) = OUT(i, 3) = IN(i, 0);
        OUT(i, 1) = 0;
    }
}

PROG(shared_reversed, 2, 128, 0, "",
     ".shared .align 16 .b8 tile[2048];\n"
     "mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 3; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2; st.shared.u64 [%r1], %da;\n"
     "bar.sync 0; sub.u32 %r3, 127, %r0; shl.b32 %r3, %r3, 3; add.u32 %r3, %r3, %r2; ld.shared.u64 %d0, [%r3];\n"
     "st.global.u64 [%out], %d0; ld.shared.u8 %r4, [%r3+7]; cvt.u64.u32 %d1, %r4; st.global.u64 [%out+8], %d1;\n"
     "and.b32 %r5, %r0, 0x7e; shl.b32 %r5, %r5, 3; add.u32 %r5, %r5, %r2; ld.shared.v2.u64 {%d2, %d3}, [%r5];\n"
     "st.global.v2.u64 [%out+16], {%d2, %d3};")
{
    EACH(i)
    {
        uint32_t base = i / 128 * 128, j = base + 127 - i % 128;
        OUT(i, 0) = IN(j, 0);
        OUT(i, 1) = IN(j, 0) >> 56;
        OUT(i, 2) = IN(base + (i % 128 & 0x7e), 0);
        OUT(i, 3) = IN(base + (i % 128 & 0x7e) + 1, 0);
    }
}

PROG(shared_dynamic, 1, 64, 1024, ".extern .shared .align 16 .b8 dyn[];",
     "mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 4; mov.u32 %r2, dyn; add.u32 %r2, %r2, %r1;\n"
     "st.shared.v4.b32 [%r2], {%a, %b, %c, %t}; bar.sync 0; xor.b32 %r3, %r1, 16; mov.u32 %r4, dyn;\n"
     "add.u32 %r3, %r3, %r4; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r3]; st.global.v4.b32 [%out], {%r5, %r6, %r7, "
     "%r8};\n"
     "mov.u32 %r9, %dynamic_smem_size; cvt.u64.u32 %d0, %r9; mov.u64 %d1, 0; st.global.v2.u64 [%out+16], {%d0, %d1};")
{
    EACH(i)
    {
        uint32_t j = i ^ 1;
        OUT(i, 0) = A(j) | (uint64_t)B(j) << 32;
        OUT(i, 1) = C(j) | (uint64_t)j << 32;
        OUT(i, 2) = 1024;
        OUT(i, 3) = 0;
    }
}

PROG(
    local_arrays, 2, 64, 0, "",
    ".local .align 8 .b8 mine[128];\n"
    "mov.u64 %d0, mine; mov.u32 %r0, 0; cvt.u64.u32 %d1, %a;\n"
    "FILL: mul.wide.u32 %d2, %r0, 8; add.u64 %d2, %d2, %d0; mad.lo.u64 %d3, %d1, 3, %db; mov.u64 %d1, %d3;\n"
    "st.local.u64 [%d2], %d3; add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 16; @%p0 bra FILL;\n"
    "and.b32 %r1, %c, 15; mul.wide.u32 %d4, %r1, 8; add.u64 %d4, %d4, %d0; ld.local.u64 %d5, [%d4];\n"
    "st.global.u64 [%out], %d5; ld.local.u64 %d6, [mine+120]; st.global.u64 [%out+8], %d6; ld.local.s8 %r2, [mine+9];\n"
    "cvt.s64.s32 %d7, %r2; st.global.u64 [%out+16], %d7; ld.local.v2.u32 {%r3, %r4}, [mine+16];\n"
    "st.global.v2.u32 [%out+24], {%r3, %r4};")
{
    EACH(i)
    {
        uint64_t m[16], x = A(i);
        for (int k = 0; k < 16; k++)
            m[k] = x = x * 3 + IN(i, 1);
        OUT(i, 0) = m[C(i) & 15];
        OUT(i, 1) = m[15];
        OUT(i, 2) = (uint64_t)(int8_t)(m[1] >> 8);
        OUT(i, 3) = m[2];
    }
}

PROG(constants_and_initialisers, 1, 64, 0,
     ".const .align 8 .u32 primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};\n"
     ".const .align 1 .b8 letters[5] = {104, 101, 108, 108, 111};\n"
     ".const .f32 half = 0f3F000000;\n"
     ".global .align 8 .b64 target[4] = {100, 200, 300, 400};\n.global .align 4 .s32 zeroes[4];\n"
     ".global .align 8 .u64 where = generic(target);\n.global .align 8 .u64 beyond[2] = {generic(target)+8, 42};\n",
     "and.b32 %r0, %a, 7; mul.wide.u32 %d0, %r0, 4; mov.u64 %d1, primes; add.u64 %d0, %d0, %d1; ld.const.u32 %r1, "
     "[%d0];\n"
     "ld.const.u8 %r2, [letters+1]; ld.const.f32 %f0, [half]; mov.b32 %r3, %f0; add.u32 %r2, %r2, %r3;\n"
     "mov.b64 %d2, {%r1, %r2}; st.global.u64 [%out], %d2; ld.global.u64 %d3, [where]; ld.u64 %d4, [%d3+16];\n"
     "st.global.u64 [%out+8], %d4; ld.global.u64 %d5, [beyond]; ld.u64 %d6, [%d5]; ld.global.u64 %d7, [beyond+8];\n"
     "add.u64 %d6, %d6, %d7; st.global.u64 [%out+16], %d6; ld.global.s32 %d8, [zeroes+8]; cvta.const.u64 %d9, %d1;\n"
     "ld.u32 %r4, [%d9+28]; cvt.u64.u32 %d10, %r4; add.u64 %d8, %d8, %d10; st.global.u64 [%out+24], %d8;")
{
    static const uint32_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
    EACH(i)
    {
        OUT(i, 0) = primes[A(i) & 7] | (uint64_t)(0x3f000000 + 101) << 32;
        OUT(i, 1) = 300;
        OUT(i, 2) = 242;
        OUT(i, 3) = 19;
    }
}

PROG(generic_addresses, 2, 64, 0, ".const .align 8 .u64 k[2] = {11, 22};",
     ".shared .align 8 .b8 s[512];\n.local .align 8 .b8 l[16];\n"
     "mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 8; mov.u64 %d1, s; add.u64 %d1, %d1, %d0; cvta.shared.u64 %d2, %d1;\n"
     "mov.u64 %d3, l; cvta.local.u64 %d4, %d3; cvta.to.global.u64 %d5, %buf; cvta.global.u64 %d6, %d5;\n"
     "mul.wide.u32 %d7, %t, 8; add.u64 %d6, %d6, %d7;\n"
     "st.u64 [%d2], %da; st.u64 [%d4+8], %db; st.u64 [%d6], %da; ld.shared.u64 %d8, [%d1]; ld.local.u64 %d9, [%d3+8];\n"
     "xor.b64 %d8, %d8, %d9; st.global.u64 [%out], %d8;\n"
     "rem.u32 %r1, %r0, 3; setp.eq.u32 %p0, %r1, 0; setp.eq.u32 %p1, %r1, 1; mov.u64 %d10, %d6; @%p0 mov.u64 %d10, "
     "%d2;\n"
     "add.u64 %d11, %d4, 8; @%p1 mov.u64 %d10, %d11; ld.u64 %d12, [%d10]; st.u64 [%out+8], %d12;\n"
     "cvta.to.shared.u64 %d13, %d2; cvta.to.local.u64 %d14, %d4; sub.u64 %d13, %d13, %d1; sub.u64 %d14, %d14, %d3;\n"
     "or.b64 %d13, %d13, %d14; st.u64 [%out+16], %d13;\n"
     "isspacep.shared %p2, %d10; isspacep.local %p3, %d10; isspacep.global %p4, %d10; mov.u64 %d15, k;\n"
     "cvta.const.u64 %d15, %d15; isspacep.const %p5, %d15; isspacep.const %p6, %d10;\n"
     "selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 2, 0, %p3; selp.u32 %r4, 4, 0, %p4; selp.u32 %r5, 8, 0, %p5;\n"
     "selp.u32 %r6, 16, 0, %p6; or.b32 %r2, %r2, %r3; or.b32 %r2, %r2, %r4; or.b32 %r2, %r2, %r5; or.b32 %r2, %r2, "
     "%r6;\n"
     "cvt.u64.u32 %d16, %r2; st.u64 [%out+24], %d16;")
{
    EACH(i)
    {
        uint32_t turn = i % 64 % 3;
        for (int k = 0; k < 8; k++)
            e->buf[8 * i + (uint32_t)k] = (uint8_t)(IN(i, 0) >> 8 * k);
        OUT(i, 0) = IN(i, 0) ^ IN(i, 1);
        OUT(i, 1) = turn == 1 ? IN(i, 1) : IN(i, 0);
        OUT(i, 2) = 0;
        OUT(i, 3) = (turn == 0 ? 1u : turn == 1 ? 2u : 4u) | 8u;
    }
}

PROG(
    async_copies, 2, 64, 0, "",
    ".shared .align 16 .b8 s[4096];\n"
    "mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 6; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; mul.wide.u32 %d0, %t, 64;\n"
    "add.u64 %d0, %d0, %buf; mov.u64 %d9, -1; st.shared.u64 [%r1+32], %d9; st.shared.u64 [%r1+40], %d9;\n"
    "cp.async.ca.shared.global [%r1], [%d0], 4; cp.async.ca.shared.global [%r1+8], [%d0+8], 8; cp.async.commit_group;\n"
    "cp.async.cg.shared.global [%r1+16], [%d0+16], 16; cp.async.cg.shared.global [%r1+32], [%d0+32], 16, 4;\n"
    "cp.async.commit_group; cp.async.wait_group 1; ld.shared.u32 %r3, [%r1]; ld.shared.u64 %d1, [%r1+8];\n"
    "cvt.u64.u32 %d2, %r3; xor.b64 %d1, %d1, %d2; st.global.u64 [%out], %d1; cp.async.wait_all;\n"
    "ld.shared.v2.u64 {%d3, %d4}, [%r1+16]; xor.b64 %d3, %d3, %d4; st.global.u64 [%out+8], %d3;\n"
    "ld.shared.v2.u64 {%d5, %d6}, [%r1+32]; st.global.v2.u64 [%out+16], {%d5, %d6};")
{
    EACH(i)
    {
        uint64_t w[8];
        memcpy(w, e->buf + 64 * i, sizeof(w));
        OUT(i, 0) = (w[0] & 0xffffffff) ^ w[1];
        OUT(i, 1) = w[2] ^ w[3];
        OUT(i, 2) = w[4] & 0xffffffff;
        OUT(i, 3) = 0;
    }
}

PROG(alloca_and_stack, 1, 64, 0, "",
     "stacksave.u64 %d0; and.b32 %r0, %t, 3; add.u32 %r0, %r0, 2; mul.wide.u32 %d1, %r0, 8; alloca.u64 %d2, %d1, 16;\n"
     "cvta.local.u64 %d8, %d2; mov.u32 %r1, 0;\n"
     "FILL: mul.wide.u32 %d3, %r1, 8; add.u64 %d4, %d2, %d3; cvt.u64.u32 %d5, %r1; add.u64 %d5, %d5, %da;\n"
     "st.local.u64 [%d4], %d5; add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, %r0; @%p0 bra FILL;\n"
     "ld.local.u64 %d6, [%d4]; st.global.u64 [%out], %d6; ld.u64 %d7, [%d8+8]; st.global.u64 [%out+8], %d7;\n"
     "and.b64 %d9, %d2, 15; st.global.u64 [%out+16], %d9; stackrestore.u64 %d0; stacksave.u64 %d10;\n"
     "sub.u64 %d10, %d10, %d0; st.global.u64 [%out+24], %d10;")
{
    EACH(i)
    {
        OUT(i, 0) = IN(i, 0) + (i & 3) + 1;
        OUT(i, 1) = IN(i, 0) + 1;
        OUT(i, 2) = OUT(i, 3) = 0;
    }
}

PROG(hints_change_nothing, 1, 64, 0, "",
     "prefetch.global.L1 [%in]; prefetch.global.L2 [%in]; prefetch.global.L2::evict_last [%in]; prefetchu.L1 [%in];\n"
     "applypriority.global.L2::evict_normal [%buf], 128; createpolicy.fractional.L2::evict_last.b64 %d1, 0.5;\n"
     "nanosleep.u32 20; pmevent 1; griddepcontrol.wait; griddepcontrol.launch_dependents;\n"
     "ld.global.L2::cache_hint.u64 %d2, [%in], %d1; st.global.u64 [%out], %d2; st.global.u64 [%out+8], %da;\n"
     "st.global.u64 [%out+16], %db; st.global.u64 [%out+24], %db;")
{
    EACH(i)
    {
        OUT(i, 0) = OUT(i, 1) = IN(i, 0);
        OUT(i, 2) = OUT(i, 3) = IN(i, 1);
    }
}

PROG(registers_given_and_taken, 1, 128, 0, "",
     "setmaxnreg.dec.sync.aligned.u32 24; st.global.v2.u64 [%out], {%da, %db}; setmaxnreg.inc.sync.aligned.u32 40;\n"
     "st.global.v2.u64 [%out+16], {%db, %da};")
{
    EACH(i)
    {
        OUT(i, 0) = OUT(i, 3) = IN(i, 0);
        OUT(i, 1) = OUT(i, 2) = IN(i, 1);
    }
}

PROG(discard_spares_the_rest, 1, 32, 0, "",
     "add.u64 %d0, %buf, 32768; setp.eq.u32 %p0, %t, 0; mov.u32 %r0, 0; @%p0 st.global.u32 [%d0], %r0;\n"
     "mov.u64 %d1, 0; st.global.v2.u64 [%out], {%da, %db}; st.global.v2.u64 [%out+16], {%d1, %d1};\n"
     "setp.eq.u32 %p1, %t, 99; @%p1 discard.global.L2 [%d0], 128;")
{
    e->buf[32768] = e->buf[32769] = e->buf[32770] = e->buf[32771] = 0;
    EACH(i)
    {
        OUT(i, 0) = IN(i, 0);
        OUT(i, 1) = IN(i, 1);
        OUT(i, 2) = OUT(i, 3) = 0;
    }
}

PROG(many_threads_one_cell, 4, 128, 0, ".global .align 8 .b8 unused[8];",
     ".shared .align 8 .b8 s[64];\n"
     "mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 8; mul.wide.u32 %d0, %r0, 8; mov.u64 %d1, s; add.u64 %d1, %d1, %d0;\n"
     "mov.u64 %d2, 0; @%p0 st.shared.u64 [%d1], %d2; bar.sync 0;\n"
     "atom.shared.add.u32 %r1, [s], 1; red.shared.max.u32 [s+8], %a; red.shared.xor.b64 [s+16], %da;\n"
     "atom.shared.inc.u32 %r2, [s+24], 9; red.shared.or.b32 [s+32], %b; red.shared.add.u64 [s+40], %db;\n"
     "atom.global.add.u32 %r3, [%buf+60000], 1; red.relaxed.gpu.global.min.s32 [%buf+60004], %c;\n"
     "red.global.add.u64 [%buf+60008], %da; atom.acq_rel.gpu.global.and.b32 %r4, [%buf+60016], %a; bar.sync 0;\n"
     "ld.shared.u32 %r5, [s]; ld.shared.u32 %r6, [s+8]; mov.b64 %d3, {%r5, %r6}; ld.shared.u64 %d4, [s+16];\n"
     "ld.shared.u32 %r7, [s+24]; ld.shared.u32 %r8, [s+32]; mov.b64 %d5, {%r7, %r8}; ld.shared.u64 %d6, [s+40];\n"
     "st.global.v2.u64 [%out], {%d3, %d4}; st.global.v2.u64 [%out+16], {%d5, %d6};")
{
    uint32_t count, least, bits;
    uint64_t sum;
    memcpy(&count, e->buf + 60000, 4);
    memcpy(&least, e->buf + 60004, 4);
    memcpy(&sum, e->buf + 60008, 8);
    memcpy(&bits, e->buf + 60016, 4);
    for (uint32_t g = 0; g < e->grid; g++) {
        uint64_t max = 0, x = 0, o = 0, s = 0;
        for (uint32_t i = g * 128; i < g * 128 + 128; i++) {
            max = A(i) > max ? A(i) : max;
            x ^= IN(i, 0);
            o |= B(i);
            s += IN(i, 1);
            count++;
            least = (int32_t)C(i) < (int32_t)least ? C(i) : least;
            sum += IN(i, 0);
            bits &= A(i);
        }
        for (uint32_t i = g * 128; i < g * 128 + 128; i++) {
            OUT(i, 0) = 128 | max << 32;
            OUT(i, 1) = x;
            OUT(i, 2) = 128 % 10 | o << 32;
            OUT(i, 3) = s;
        }
    }
    memcpy(e->buf + 60000, &count, 4);
    memcpy(e->buf + 60004, &least, 4);
    memcpy(e->buf + 60008, &sum, 8);
    memcpy(e->buf + 60016, &bits, 4);
}

PROG(atomics_on_vectors, 1, 64, 0, "",
     "mul.lo.u32 %r0, %t, 32; cvt.u64.u32 %d0, %r0; add.u64 %d0, %d0, %buf; mov.u64 %d1, 0;\n"
     "st.global.v2.u64 [%d0+4096], {%d1, %d1}; st.global.v2.u64 [%d0+4112], {%d1, %d1}; cvt.rn.f32.u32 %f0, %t;\n"
     "red.global.add.v4.f32 [%d0+4096], {%f0, 0f3F800000, %f0, 0f40000000};\n" /* t 1 t 2 */
     "atom.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%d0+4096], {%f0, %f0, 0f40400000, 0f40800000};\n" /* t t 3 4 */
     "atom.global.add.v2.f32 {%f2, %f1}, [%d0+4104], {%f1, %f2};\n" /* t 1, and back comes t + 3, 6 */
     "mov.u32 %r1, 0x3c004000; red.global.add.noftz.v2.f16x2 [%d0+4112], {%r1, %r1};\n" /* 2 1 2 1 */
     "mov.b16 %h0, 0x3c00; mov.b16 %h1, 0xc000; mov.b16 %h2, 0x7bff;\n"
     "atom.global.max.noftz.v4.f16 {%h3, %h4, %h5, %h6}, [%d0+4112], {%h0, %h1, %h2, %h0};\n"
     "mov.b64 %d2, {%h3, %h4, %h5, %h6}; mov.b64 %d3, {%f1, %f2};\n"
     "st.global.v2.u64 [%out], {%d2, %d3}; ld.global.v2.u64 {%d4, %d5}, [%d0+4096]; ld.global.u64 %d6, [%d0+4112];\n"
     "xor.b64 %d5, %d5, %d6; st.global.v2.u64 [%out+16], {%d4, %d5};")
{
    EACH(i)
    {
        float t = (float)i, cell[4] = {t + t, 1 + t, t + 3 + t, 2 + 4 + 1}, back[2] = {6, t + 3};
        uint16_t before[4] = {0x4000, 0x3c00, 0x4000, 0x3c00}, after[4] = {0x4000, 0x3c00, 0x7bff, 0x3c00};
        uint64_t two[2], halves;
        memcpy(two, cell, 16);
        memcpy(&halves, after, 8);
        memcpy(e->buf + 4096 + i * 32, cell, 16);
        memcpy(e->buf + 4112 + i * 32, after, 8);
        memset(e->buf + 4120 + i * 32, 0, 8);
        memcpy(&OUT(i, 0), before, 8);
        memcpy(&OUT(i, 1), back, 8);
        OUT(i, 2) = two[0];
        OUT(i, 3) = two[1] ^ halves;
    }
}

static const struct prog *const all[] = {&prog_load_widths,       &prog_array_elements, &prog_store_widths,
                                         &prog_vectors,           &prog_cache_operators,
                                         &prog_shared_reversed,   &prog_shared_dynamic,
                                         &prog_local_arrays,      &prog_constants_and_initialisers,
                                         &prog_generic_addresses, &prog_async_copies,
                                         &prog_alloca_and_stack,  &prog_hints_change_nothing,
                                         &prog_registers_given_and_taken,
                                         &prog_discard_spares_the_rest, &prog_many_threads_one_cell,
                                         &prog_atomics_on_vectors, &prog_words_of_128_bits,
                                         &prog_generic_first_by_a_register,
                                         &prog_atomics_of_128_bits, &prog_counters_of_128_bits};
const struct prog_list prog_memory = {all, sizeof(all) / sizeof(all[0])};
