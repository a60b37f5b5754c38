/* prog_warp.c - operations across the lanes of a warp and the warps of a block. */
#include "prog.h"

/* The first thread of a thread's warp, for blocks of whole warps. */
static uint32_t warp_of(uint32_t i)
{
    return i & ~31u;
}

PROG(shuffles, 2, 64, 0, "",
     "shfl.sync.idx.b32 %r0|%p0, %a, %b, 31, -1; shfl.sync.up.b32 %r1|%p1, %a, 3, 0, -1; mov.b64 %d0, {%r0, %r1};\n"
     "st.global.u64 [%out], %d0; shfl.sync.down.b32 %r2|%p2, %a, 5, 31, -1; shfl.sync.bfly.b32 %r3, %a, 9, 31, -1;\n"
     "mov.b64 %d1, {%r2, %r3}; st.global.u64 [%out+8], %d1;\n"
     /* segments of eight lanes: bits 12…8 of the fourth operand are the lanes that must agree */
     "shfl.sync.down.b32 %r4|%p3, %a, 2, 0x1807, -1; shfl.sync.idx.b32 %r5|%p4, %a, 2, 0x181f, -1;\n"
     "mov.b64 %d2, {%r4, %r5}; st.global.u64 [%out+16], %d2; shfl.sync.up.b32 %r6|%p5, %a, 2, 0x1800, -1;\n"
     "selp.u32 %r7, 1, 0, %p0; selp.u32 %r8, 2, 0, %p1; selp.u32 %r9, 4, 0, %p2; selp.u32 %r10, 8, 0, %p3;\n"
     "selp.u32 %r11, 16, 0, %p4; selp.u32 %r12, 32, 0, %p5; or.b32 %r7, %r7, %r8; or.b32 %r7, %r7, %r9;\n"
     "or.b32 %r7, %r7, %r10; or.b32 %r7, %r7, %r11; or.b32 %r7, %r7, %r12; mov.b64 %d3, {%r6, %r7};\n"
     "st.global.u64 [%out+24], %d3;")
{
    EACH(i)
    {
        uint32_t w = warp_of(i), l = i % 32, seg = l & ~7u;
        bool up3 = l >= 3, down5 = l + 5 <= 31, down2 = (l & 7) + 2 <= 7, up2 = (l & 7) >= 2;
        OUT(i, 0) = A(w + B(i) % 32) | (uint64_t)A(up3 ? i - 3 : i) << 32;
        OUT(i, 1) = A(down5 ? i + 5 : i) | (uint64_t)A(w + (l ^ 9)) << 32;
        OUT(i, 2) = A(down2 ? i + 2 : i) | (uint64_t)A(w + (seg | 2)) << 32;
        uint32_t bits =
            1u | (uint32_t)up3 << 1 | (uint32_t)down5 << 2 | (uint32_t)down2 << 3 | 16u | (uint32_t)up2 << 5;
        OUT(i, 3) = A(up2 ? i - 2 : i) | (uint64_t)bits << 32;
    }
}

PROG(
    votes, 2, 64, 0, "",
    "and.b32 %r0, %a, 3; setp.eq.u32 %p0, %r0, 0; vote.sync.ballot.b32 %r1, %p0, -1; vote.sync.any.pred %p1, %p0, -1;\n"
    "vote.sync.all.pred %p2, %p0, -1; vote.sync.uni.pred %p3, %p0, -1; vote.sync.ballot.b32 %r2, !%p0, -1;\n"
    "mov.b64 %d0, {%r1, %r2}; st.global.u64 [%out], %d0; setp.ge.u32 %p4, %t, 32; vote.sync.all.pred %p5, %p4, -1;\n"
    "vote.sync.uni.pred %p6, %p4, -1; selp.u32 %r3, 1, 0, %p1; selp.u32 %r4, 2, 0, %p2; selp.u32 %r5, 4, 0, %p3;\n"
    "selp.u32 %r6, 8, 0, %p5; selp.u32 %r7, 16, 0, %p6; or.b32 %r3, %r3, %r4; or.b32 %r3, %r3, %r5; or.b32 %r3, %r3, "
    "%r6;\n"
    "or.b32 %r3, %r3, %r7; cvt.u64.u32 %d1, %r3; st.global.u64 [%out+8], %d1;\n"
    "activemask.b32 %r8; mov.u32 %r9, 0; and.b32 %r10, %t, 1; setp.eq.u32 %p1, %r10, 1; @!%p1 bra EVEN;\n"
    "activemask.b32 %r9; vote.sync.ballot.b32 %r11, %p0, 0xaaaaaaaa; bra DONE;\n"
    "EVEN: activemask.b32 %r9; vote.sync.ballot.b32 %r11, %p0, 0x55555555;\n"
    "DONE: mov.b64 %d2, {%r8, %r9}; st.global.u64 [%out+16], %d2; bar.warp.sync -1; cvt.u64.u32 %d3, %r11;\n"
    "st.global.u64 [%out+24], %d3;")
{
    EACH(i)
    {
        uint32_t ballot = 0;
        for (uint32_t l = 0; l < 32; l++)
            ballot |= (uint32_t)((A(warp_of(i) + l) & 3) == 0) << l;
        uint32_t side = i & 1 ? 0xaaaaaaaa : 0x55555555;
        OUT(i, 0) = ballot | (uint64_t)(uint32_t)~ballot << 32;
        OUT(i, 1) = (uint64_t)(ballot != 0) | (uint64_t)(ballot == 0xffffffff) << 1 |
                    (uint64_t)(ballot == 0 || ballot == 0xffffffff) << 2 | (uint64_t)(i >= 32) << 3 | 16;
        OUT(i, 2) = 0xffffffff | (uint64_t)side << 32;
        OUT(i, 3) = ballot & side;
    }
}

PROG(matches_and_reductions, 2, 64, 0, "",
     "and.b32 %r0, %a, 7; match.any.sync.b32 %r1, %r0, -1; match.all.sync.b32 %r2|%p0, %r0, -1; and.b32 %r3, %a, 0;\n"
     "match.all.sync.b32 %r4|%p1, %r3, -1; selp.u32 %r5, 1, 0, %p0; selp.u32 %r6, 2, 0, %p1; or.b32 %r5, %r5, %r6;\n"
     "mov.b64 %d0, {%r1, %r5}; st.global.u64 [%out], %d0; mov.b64 %d4, {%c, %r0}; and.b64 %d4, %d4, 0x700000000;\n"
     "match.any.sync.b64 %r7, %d4, -1; xor.b32 %r2, %r2, %r7; mov.b64 %d1, {%r2, %r4}; st.global.u64 [%out+8], %d1;\n"
     "redux.sync.add.s32 %r8, %a, -1; redux.sync.min.s32 %r9, %a, -1; redux.sync.max.u32 %r10, %a, -1;\n"
     "redux.sync.and.b32 %r11, %b, -1; redux.sync.or.b32 %r12, %b, -1; redux.sync.xor.b32 %r13, %b, -1;\n"
     "redux.sync.min.u32 %r14, %c, -1; redux.sync.max.s32 %r15, %c, -1; redux.sync.add.u32 %r16, %c, -1;\n"
     "xor.b32 %r11, %r11, %r14; xor.b32 %r12, %r12, %r15; xor.b32 %r13, %r13, %r16; xor.b32 %r8, %r8, %r11;\n"
     "mov.b64 %d2, {%r8, %r9}; st.global.u64 [%out+16], %d2; xor.b32 %r12, %r12, %r13; mov.b64 %d3, {%r10, %r12};\n"
     "st.global.u64 [%out+24], %d3;")
{
    EACH(i)
    {
        uint32_t w = warp_of(i), any = 0, add = 0, and = ~0u, or = 0, xor = 0, cadd = 0, umax = 0, cmin = ~0u;
        int32_t smin = INT32_MAX, csmax = INT32_MIN;
        for (uint32_t j = w; j < w + 32; j++) {
            any |= (uint32_t)((A(j) & 7) == (A(i) & 7)) << (j - w);
            add += A(j), cadd += C(j);
            and &= B(j), or |= B(j), xor ^= B(j);
            smin = (int32_t)A(j) < smin ? (int32_t)A(j) : smin;
            umax = A(j) > umax ? A(j) : umax;
            cmin = C(j) < cmin ? C(j) : cmin;
            csmax = (int32_t)C(j) > csmax ? (int32_t)C(j) : csmax;
        }
        bool same = any == 0xffffffff;
        OUT(i, 0) = any | (uint64_t)(same ? 3 : 2) << 32;
        OUT(i, 1) = ((same ? 0xffffffff : 0) ^ any) | (uint64_t)0xffffffff << 32;
        OUT(i, 2) = (add ^ and^cmin) | (uint64_t)(uint32_t)smin << 32;
        OUT(i, 3) = umax | (uint64_t)((or ^(uint32_t)csmax) ^ (xor^cadd)) << 32;
    }
}

PROG(transposed_matrices, 2, 64, 0, "",
     "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %a; movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;\n"
     "mov.b64 %d0, {%r0, %r1}; mov.u64 %d1, 0; st.global.v2.u64 [%out], {%d0, %d1};\n"
     "st.global.v2.u64 [%out+16], {%d1, %d1};")
{
    EACH(i)
    {
        uint32_t w = warp_of(i), to = 0;
        for (uint32_t half = 0; half < 2; half++) { /* the element of row r and column c is that of c and r */
            uint32_t r = i % 32 / 4, c = i % 4 * 2 + half, at = 8 * c + r;
            to |= (A(w + at / 2) >> 16 * (at % 2) & 0xffff) << 16 * half;
        }
        OUT(i, 0) = to | (uint64_t)A(i) << 32;
        OUT(i, 1) = OUT(i, 2) = OUT(i, 3) = 0;
    }
}

/* Rows through stmatrix and back through ldmatrix: 8 rows of 16 bytes a matrix, matrix j behind the others. The
 * modifiers in the order of the PTX ISA and, as CUTLASS writes them, in another. */
PROG(rows_of_matrices, 1, 32, 0, ".shared .align 16 .b8 rows[512];",
     "mov.u32 %r0, rows; and.b32 %r1, %t, 31; shl.b32 %r2, %r1, 4; add.u32 %r3, %r0, %r2; xor.b32 %r4, %a, %b;\n"
     "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r3], {%a, %b, %c, %r4}; bar.warp.sync -1;\n"
     "ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%r5, %r6}, [%r3];\n"
     "ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {%r7}, [%r3+384]; bar.warp.sync -1;\n"
     "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r3], {%a}; bar.warp.sync -1;\n"
     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8, %r9, %r10, %r11}, [%r3];\n"
     "mov.b64 %d0, {%r5, %r6}; mov.b64 %d1, {%r7, %r8}; mov.b64 %d2, {%r9, %r10}; cvt.u64.u32 %d3, %r11;\n"
     "st.global.v2.u64 [%out], {%d0, %d1}; st.global.v2.u64 [%out+16], {%d2, %d3};")
{
    EACH(i)
    {
        uint32_t turned[2] = {0, 0};
        for (uint32_t half = 0; half < 2; half++) { /* row r and column c of the one is c and r of the other */
            uint32_t at = 8 * (i % 4 * 2 + half) + i / 4;
            turned[0] |= (A(at / 2) >> 16 * (at % 2) & 0xffff) << 16 * half;
            turned[1] |= (B(at / 2) >> 16 * (at % 2) & 0xffff) << 16 * half;
        }
        OUT(i, 0) = turned[0] | (uint64_t)turned[1] << 32;
        OUT(i, 1) = (A(i) ^ B(i)) | (uint64_t)turned[0] << 32;
        OUT(i, 2) = B(i) | (uint64_t)C(i) << 32;
        OUT(i, 3) = A(i) ^ B(i);
    }
}

/* Element k of a register of bytes. */
static int32_t byte_of(uint32_t bits, uint32_t k)
{
    return (int32_t)(bits >> 8 * k & 0xff) - (int32_t)(bits >> 8 * k & 0x80) * 2;
}

PROG(products_of_matrices, 1, 32, 0, "",
     "mov.u32 %r0, 7; mov.u32 %r1, -9; mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r2, %r3}, {%a}, {%b}, {%r0, "
     "%r1};\n"
     "wmma.store.d.sync.aligned.row.m8n8k32.global.s32 [%buf], {%r2, %r3}, 12;\n"
     "wmma.load.c.sync.aligned.row.m8n8k32.global.s32 {%r4, %r5}, [%buf], 12;\n"
     "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r6, %r7}, {%a}, {%b}, {%r4, %r5};\n"
     "mov.b64 %d0, {%r2, %r3}; mov.b64 %d1, {%r6, %r7}; mov.u64 %d2, 0; st.global.v2.u64 [%out], {%d0, %d1};\n"
     "st.global.v2.u64 [%out+16], {%d2, %d2};")
{
    EACH(i)
    {
        uint32_t sum[2], bits[2], row = i / 4;
        for (uint32_t half = 0; half < 2; half++) {
            uint32_t column = i % 4 * 2 + half;
            int32_t total = half ? -9 : 7;
            bits[half] = 0;
            for (uint32_t k = 0; k < 16; k++)
                total += byte_of(A(4 * row + k / 4), k % 4) * byte_of(B(4 * column + k / 4), k % 4);
            for (uint32_t q = 0; q < 4; q++)
                bits[half] += (uint32_t)__builtin_popcount(A(4 * row + q) ^ B(4 * column + q));
            sum[half] = (uint32_t)total;
            memcpy(e->buf + 4 * (12 * row + column), &sum[half], 4);
        }
        OUT(i, 0) = sum[0] | (uint64_t)sum[1] << 32;
        OUT(i, 1) = (uint32_t)(sum[0] + bits[0]) | (uint64_t)(uint32_t)(sum[1] + bits[1]) << 32;
        OUT(i, 2) = OUT(i, 3) = 0;
    }
}

PROG(one_is_elected, 1, 64, 0, "",
     "elect.sync %r0|%p0, -1; selp.u32 %r1, 1, 0, %p0; vote.sync.ballot.b32 %r2, %p0, -1; popc.b32 %r3, %r2;\n"
     "bfind.u32 %r4, %r2; sub.u32 %r5, %r4, %r0; mov.b64 %d0, {%r3, %r5}; mov.u64 %d1, 0;\n"
     "st.global.v2.u64 [%out], {%d0, %d1}; st.global.v2.u64 [%out+16], {%d1, %d1};")
{
    EACH(i)
    {
        OUT(i, 0) = 1;
        OUT(i, 1) = OUT(i, 2) = OUT(i, 3) = 0;
    }
}

PROG(block_reductions, 2, 96, 0, "",
     "and.b32 %r0, %a, 3; setp.eq.u32 %p0, %r0, 0; bar.red.popc.u32 %r1, 0, %p0; barrier.red.and.pred %p1, 1, %p0;\n"
     "bar.red.or.pred %p2, 2, 96, %p0; setp.lt.u32 %p3, %t, 1000; barrier.sync.aligned 3; bar.red.and.pred %p4, 3, "
     "%p3;\n"
     "bar.red.popc.u32 %r2, 4, 96, !%p0; selp.u32 %r3, 1, 0, %p1; selp.u32 %r4, 2, 0, %p2; selp.u32 %r5, 4, 0, %p4;\n"
     "or.b32 %r3, %r3, %r4; or.b32 %r3, %r3, %r5; mov.b64 %d0, {%r1, %r3}; cvt.u64.u32 %d1, %r2; mov.u64 %d2, 0;\n"
     "st.global.v2.u64 [%out], {%d0, %d1}; st.global.v2.u64 [%out+16], {%d2, %d2};")
{
    EACH(i)
    {
        uint32_t base = i / 96 * 96, count = 0;
        for (uint32_t j = base; j < base + 96; j++)
            count += (A(j) & 3) == 0;
        OUT(i, 0) = count | (uint64_t)((uint32_t)(count == 96) | (uint32_t)(count > 0) << 1 | 4) << 32;
        OUT(i, 1) = 96 - count;
        OUT(i, 2) = OUT(i, 3) = 0;
    }
}

/* Warps 0 and 1 produce for warps 2 and 3 through named barriers: one side arrives, the other waits. */
PROG(producers_and_consumers, 2, 128, 0, "",
     ".shared .align 8 .b8 s[512];\n"
     "mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 63; shl.b32 %r2, %r1, 3; mov.u32 %r3, s; add.u32 %r2, %r2, %r3;\n"
     "shr.u32 %r4, %r1, 5; add.u32 %r4, %r4, 1; setp.lt.u32 %p0, %r0, 64; mov.u64 %d0, %da; @!%p0 bra CONSUME;\n"
     "st.shared.u64 [%r2], %da; membar.cta; bar.arrive %r4, 64; bra DONE;\n"
     "CONSUME: bar.sync %r4, 64; ld.shared.u64 %d0, [%r2];\n"
     "DONE: fence.acq_rel.gpu; fence.sc.sys; membar.gl; membar.sys; fence.proxy.async; mov.u64 %d1, 0;\n"
     "st.global.v2.u64 [%out], {%d0, %d1}; st.global.v2.u64 [%out+16], {%d1, %d1};")
{
    EACH(i)
    {
        OUT(i, 0) = IN(i % 128 < 64 ? i : i - 64, 0);
        OUT(i, 1) = OUT(i, 2) = OUT(i, 3) = 0;
    }
}

/* Lanes of one warp that hand over through memory, half at a time. */
PROG(partial_warp_barriers, 1, 64, 0, "",
     ".shared .align 4 .b8 s[256];\n"
     "mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %a;\n"
     "bar.warp.sync 0xffffffff; and.b32 %r3, %r0, 16; setp.eq.u32 %p0, %r3, 0; xor.b32 %r4, %r0, 15; shl.b32 %r4, %r4, "
     "2;\n"
     "add.u32 %r4, %r4, %r2; @!%p0 bra UPPER; ld.shared.u32 %r5, [%r4]; bar.warp.sync 0x0000ffff; st.shared.u32 [%r1], "
     "%r5;\n"
     "bar.warp.sync 0x0000ffff; bra MEET; UPPER: ld.shared.u32 %r5, [%r4]; add.u32 %r5, %r5, 1;\n"
     "bar.warp.sync 0xffff0000; st.shared.u32 [%r1], %r5; bar.warp.sync 0xffff0000;\n"
     "MEET: bar.warp.sync -1; xor.b32 %r6, %r0, 31; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r2; ld.shared.u32 %r7, "
     "[%r6];\n"
     "mov.b64 %d0, {%r5, %r7}; mov.u64 %d1, 0; st.global.v2.u64 [%out], {%d0, %d1}; st.global.v2.u64 [%out+16], {%d1, "
     "%d1};")
{
    EACH(i)
    {
        uint32_t mine = A(i ^ 15) + (i >> 4 & 1), other = i ^ 31, theirs = A(other ^ 15) + (other >> 4 & 1);
        OUT(i, 0) = mine | (uint64_t)theirs << 32;
        OUT(i, 1) = OUT(i, 2) = OUT(i, 3) = 0;
    }
}

/* A launch without clusters: each block is one of its own. tests/cudart/clusters.cu has larger ones. */
PROG(
    cluster_of_one, 2, 64, 0, ".shared .align 8 .b8 s[256];\n",
    "mov.u32 %r0, %tid.x; shl.b32 %r0, %r0, 2; mov.u32 %r1, s; add.u32 %r0, %r0, %r1; st.shared.u32 [%r0], %a;\n"
    "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; mov.u32 %r2, %cluster_ctarank;\n"
    "xor.b32 %r3, %r0, 4; mapa.shared::cluster.u32 %r4, %r3, %r2; ld.shared::cluster.u32 %r5, [%r4];\n"
    "getctarank.shared::cluster.u32 %r6, %r4; cvt.u64.u32 %d0, %r0; cvta.shared.u64 %d0, %d0; mapa.u64 %d1, %d0, %r2;\n"
    "ld.u32 %r7, [%d1]; getctarank.u64 %r8, %d1; barrier.cluster.arrive.relaxed; add.u32 %r9, %r5, %r7;\n"
    "barrier.cluster.wait; mapa.u64 %d1, %d0, 0; atom.shared::cluster.add.u32 %r10, [%r4], 9;\n"
    "barrier.cluster.arrive; barrier.cluster.wait.acquire; ld.shared.u32 %r11, [%r0];\n"
    "mov.b64 %d2, {%r5, %r7}; st.global.u64 [%out], %d2; mov.b64 %d3, {%r6, %r8}; st.global.u64 [%out+8], %d3;\n"
    "mov.b64 %d4, {%r9, %r10}; st.global.u64 [%out+16], %d4; cvt.u64.u32 %d5, %r11; st.global.u64 [%out+24], %d5;")
{
    EACH(i)
    {
        OUT(i, 0) = A(i ^ 1) | (uint64_t)A(i) << 32;
        OUT(i, 1) = 0;
        OUT(i, 2) = (uint32_t)(A(i ^ 1) + A(i)) | (uint64_t)A(i ^ 1) << 32;
        OUT(i, 3) = (uint32_t)(A(i) + 9);
    }
}

/* 64 threads. Phase 0 takes 66: one arrival each, one more of two that completes nothing, and the bytes; in its course
 * two of the arrivals are dropped. Phase 1 takes 64. */
PROG(
    mbarriers, 2, 64, 0, ".shared .align 8 .b64 m[2];\n.shared .align 4 .b32 w[64];\n",
    "mov.u32 %r0, %tid.x; mov.u32 %r1, m; setp.eq.u32 %p0, %r0, 0; setp.lt.u32 %p1, %r0, 2; shl.b32 %r2, %r0, 2;\n"
    "mov.u32 %r3, w; add.u32 %r2, %r2, %r3; @%p0 mbarrier.init.shared.b64 [%r1], 66; @%p0 mbarrier.init.b64 [m+8], 5;\n"
    "bar.sync 0; mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 1; mbarrier.test_wait.parity.shared.b64 %p3, [m], "
    "0;\n"
    "bar.sync 0; @%p0 mbarrier.arrive.noComplete.shared.b64 %d0, [m], 2; @%p0 mbarrier.pending_count.b64 %r4, %d0;\n"
    "@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 100;\n"
    "@%p0 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 60; bar.sync 0; st.shared.u32 [%r2], %a;\n"
    "@%p1 mbarrier.arrive_drop.shared.b64 %d1, [%r1]; @!%p1 mbarrier.arrive.release.cta.shared::cta.b64 %d1, [%r1], "
    "1;\n"
    "mbarrier.test_wait.shared.b64 %p4, [%r1], %d1; bar.sync 0;\n"
    "@%p0 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 40;\n"
    "WAIT: mbarrier.try_wait.shared.b64 %p5, [%r1], %d1, 100; @!%p5 bra WAIT; xor.b32 %r5, %r0, 32;\n"
    "shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r3; ld.shared.u32 %r6, [%r5]; bar.sync 0; @%p0 mbarrier.inval.shared.b64 "
    "[m+8];\n"
    "mul.wide.u32 %d2, %t, 4; add.u64 %d2, %d2, %buf; cp.async.ca.shared.global [%r2], [%d2], 4;\n"
    "@%p1 cp.async.mbarrier.arrive.noinc.shared.b64 [%r1]; @!%p1 cp.async.mbarrier.arrive.shared::cta.b64 [%r1];\n"
    "@!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 0;\n"
    "WAIT2: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p6, [%r1], 1; @!%p6 bra WAIT2;\n"
    "ld.shared.u32 %r7, [%r5]; mov.b64 %d3, {%r6, %r7}; st.global.u64 [%out], %d3; cvt.u64.u32 %d4, %r4;\n"
    "@!%p0 mov.u64 %d4, 66; st.global.u64 [%out+8], %d4; selp.u32 %r8, 1, 0, %p2; selp.u32 %r9, 1, 0, %p3;\n"
    "mov.b64 %d5, {%r8, %r9}; st.global.u64 [%out+16], %d5; selp.u32 %r8, 1, 0, %p4; cvt.u64.u32 %d6, %r8;\n"
    "st.global.u64 [%out+24], %d6;")
{
    EACH(i)
    {
        uint32_t copied;
        memcpy(&copied, e->buf + 4 * (i ^ 32), 4);
        OUT(i, 0) = A(i ^ 32) | (uint64_t)copied << 32;
        OUT(i, 1) = 66;
        OUT(i, 2) = 1; /* the phase before the first counts as over */
        OUT(i, 3) = 0; /* bytes lack */
    }
}

/* One thread of the block copies: into shared memory, to itself through the cluster's window, and out again; and adds.
 * A copy is in flight until its barrier is tried. */
PROG(bulk_copies, 2, 64, 0, ".shared .align 128 .b8 s[1024];\n.shared .align 8 .b64 m;\n",
     "mov.u32 %r0, %tid.x; mov.u32 %r1, s; mov.u32 %r2, m; setp.eq.u32 %p0, %r0, 0; shl.b32 %r3, %r0, 2;\n"
     "add.u32 %r4, %r1, %r3; mov.u32 %r5, %ctaid.x; mul.wide.u32 %d0, %r5, 1024; add.u64 %d0, %d0, %buf;\n"
     "st.shared.u32 [%r4], 5; st.shared.u32 [%r4+256], 7; st.shared.u32 [%r4+512], %a; st.shared.u32 [%r4+768], 0; "
     "fence.proxy.async;\n"
     "@%p0 mbarrier.init.shared.b64 [m], 1; fence.mbarrier_init.release.cluster; bar.sync 0; @!%p0 bra REST;\n"
     "cp.async.bulk.prefetch.L2.global [%d0], 256; mbarrier.arrive.expect_tx.shared.b64 _, [m], 272;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 256, [%r2];\n"
     "mov.u32 %r6, 5; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1+768], {%a, "
     "%r6}, [m];\n"
     "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1+776], 9, [m];\n"
     "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%r1+776], 4, [m];\n"
     "W0: mbarrier.try_wait.parity.shared.b64 %p1, [m], 0; @!%p1 bra W0;\n"
     "mbarrier.arrive.expect_tx.shared.b64 _, [m], 512;\n"
     "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1+256], [%r1], 256, [m];\n"
     "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r1+512], [%r1], 256, "
     "[m];\n"
     "W1: mbarrier.try_wait.parity.shared.b64 %p1, [m], 1; @!%p1 bra W1;\n"
     "cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b64 [%d0+512], [%r1+512], 256;\n"
     "cp.async.bulk.global.shared::cta.bulk_group [%d0+256], [%r1+256], 256; cp.async.bulk.commit_group;\n"
     "cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;\n"
     "REST: bar.sync 0; ld.shared.u32 %r7, [%r4]; mov.b64 %d1, {%r6, %r7}; @!%p0 mov.b64 %d1, {%r0, %r7};\n"
     "st.global.u64 [%out], %d1; ld.shared.u32 %r8, [%r4+256]; ld.shared.u32 %r9, [%r4+512]; mov.b64 %d2, {%r8, %r9};\n"
     "st.global.u64 [%out+8], %d2; ld.shared.v2.u32 {%r10, %r11}, [s+768]; ld.shared.u32 %r12, [s+776];\n"
     "mov.b64 %d3, {%r10, %r11}; st.global.u64 [%out+16], %d3; cvt.u64.u32 %d4, %r12; st.global.u64 [%out+24], %d4;")
{
    for (uint32_t b = 0; b < e->grid; b++) {
        uint8_t *at = e->buf + 1024 * b;
        for (uint32_t t = 0; t < e->block; t++) {
            uint32_t i = b * e->block + t, word, old;
            memcpy(&word, at + 4 * t, 4);
            memcpy(&old, at + 512 + 4 * t, 4);
            OUT(i, 0) = (t ? t : 5) | (uint64_t)word << 32;
            OUT(i, 1) = word | (uint64_t)(uint32_t)(A(i) + word) << 32;
            OUT(i, 2) = A(b * e->block) | (uint64_t)5 << 32;
            OUT(i, 3) = 13;
            old ^= A(i) + word;
            memcpy(at + 256 + 4 * t, &word, 4);
            memcpy(at + 512 + 4 * t, &old, 4);
        }
    }
}

/* Tensor maps are made by the driver: tests/cudart/tensors.cu has them. Here is no more than that such code is taken,
 * on a path that no thread goes. */
PROG(tensor_copies, 1, 32, 0, ".shared .align 128 .b8 tile[128];\n.shared .align 8 .b64 full;\n",
     "setp.gt.u32 %p0, %t, 100; mov.u32 %r0, %t; st.global.u64 [%out], %da; st.global.u64 [%out+8], 0;\n"
     "st.global.u64 [%out+16], 0; st.global.u64 [%out+24], 0; @!%p0 bra END;\n"
     "cp.async.bulk.prefetch.tensor.2d.L2.global [%buf, {%r0, 0}]; prefetch.tensormap [%buf];\n"
     "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%buf, {%r0, 0}], [full];\n"
     "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%buf, {%r0, 0}], [tile];\n"
     "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%buf, {%r0, 0, 1}], [tile];\n"
     "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [tile], 1, %r0;\n"
     "tensormap.replace.tile.global_address.global.b1024.b64 [%buf], %da;\n"
     "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%buf], [tile], 128;\n"
     "END:")
{
    EACH(i)
    {
        OUT(i, 0) = IN(i, 0);
        OUT(i, 1) = OUT(i, 2) = OUT(i, 3) = 0;
    }
}

static const struct prog *const all[] = {&prog_shuffles,
                                         &prog_votes,
                                         &prog_matches_and_reductions,
                                         &prog_transposed_matrices,
                                         &prog_rows_of_matrices,
                                         &prog_products_of_matrices,
                                         &prog_one_is_elected,
                                         &prog_block_reductions,
                                         &prog_producers_and_consumers,
                                         &prog_partial_warp_barriers,
                                         &prog_cluster_of_one,
                                         &prog_mbarriers,
                                         &prog_bulk_copies,
                                         &prog_tensor_copies};
const struct prog_list prog_warp = {all, sizeof(all) / sizeof(all[0])};
