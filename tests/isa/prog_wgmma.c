/* prog_wgmma.c - multiplications by a warpgroup (tests/isa/test_wgmma.c has all of their forms and results). */
#include "prog.h"

/* A of 64 rows and B of 8 columns, 32 bytes each, in core matrices of 8 lines of 16 bytes: along k they lie 1,024 and
 * 128 bytes apart, else 128. Twice: of shared memory, then, behind a wait for the first, of registers. */
static uint8_t byte_of(const uint8_t *core, uint32_t lines, uint32_t line, uint32_t k)
{
    return core[k / 16 * lines * 16 + line / 8 * 128 + line % 8 * 16 + k % 16];
}

PROG(warpgroups, 1, 128, 0, ".shared .align 128 .b8 ma[2048];\n.shared .align 128 .b8 mb[256];\n",
     "shl.b32 %r0, %t, 4; mov.u32 %r1, ma; add.u32 %r1, %r1, %r0; not.b32 %r2, %a; xor.b32 %r3, %a, %b;\n"
     "st.shared.v4.b32 [%r1], {%a, %b, %r2, %r3}; setp.lt.u32 %p0, %t, 64; shl.b32 %r0, %t, 2; mov.u32 %r1, mb;\n"
     "add.u32 %r1, %r1, %r0; @%p0 st.shared.b32 [%r1], %c; fence.proxy.async; bar.sync 0;\n"
     "mov.u64 %d0, 0x0000000800400000; mov.u32 %r0, ma; shr.u32 %r0, %r0, 4; cvt.u64.u32 %d1, %r0; add.u64 %d1, %d1, "
     "%d0;\n"
     "mov.u64 %d0, 0x0000000800080000; mov.u32 %r0, mb; shr.u32 %r0, %r0, 4; cvt.u64.u32 %d2, %r0; add.u64 %d2, %d2, "
     "%d0;\n"
     "mov.u32 %r4, %a; mov.u32 %r5, 1; mov.u32 %r6, %b; mov.u32 %r7, 3; setp.eq.u32 %p1, 0, 0;\n"
     "wgmma.fence.sync.aligned;\n"
     "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%r4, %r5, %r6, %r7}, %d1, %d2, %p1;\n"
     "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
     "mov.u32 %r8, %a; mov.u32 %r9, %b; mov.u32 %r10, %a; mov.u32 %r11, %b; setp.ne.u32 %p1, 0, 0;\n"
     "wgmma.fence.sync.aligned;\n"
     "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%r12, %r13, %r14, %r15}, {%r8, %r9, %r10, %r11}, %d2, %p1;\n"
     "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
     "st.global.v4.b32 [%out], {%r4, %r5, %r6, %r7}; st.global.v4.b32 [%out+16], {%r12, %r13, %r14, %r15};\n")
{
    uint8_t ma[2048], mb[256], ra[64][32];
    EACH(i)
    {
        const uint32_t words[4] = {A(i), B(i), ~A(i), A(i) ^ B(i)}, c = C(i);
        memcpy(ma + 16 * i, words, 16);
        if (i < 64)
            memcpy(mb + 4 * i, &c, 4);
        for (uint32_t r = 0; r < 4; r++) /* as of mma.m16n8k32 */
            memcpy(&ra[i / 32 * 16 + i % 32 / 4 + r % 2 * 8][r / 2 * 16 + i % 4 * 4], words + r % 2, 4);
    }
    EACH(i)
    {
        uint32_t d[2][4];
        for (uint32_t r = 0; r < 4; r++) {
            const uint32_t row = i / 32 * 16 + i % 32 / 4 + r / 2 * 8, column = i % 4 * 2 + r % 2;
            const uint32_t before[4] = {A(i), 1, B(i), 3};
            int32_t first = 0, second = 0;
            for (uint32_t k = 0; k < 32; k++) {
                first += (int8_t)byte_of(ma, 64, row, k) * byte_of(mb, 8, column, k);
                second += (int8_t)ra[row][k] * byte_of(mb, 8, column, k);
            }
            d[0][r] = before[r] + (uint32_t)first;
            d[1][r] = (uint32_t)second;
        }
        memcpy(&OUT(i, 0), d, sizeof d);
    }
}

static const struct prog *const all[] = {&prog_warpgroups};
const struct prog_list prog_wgmma = {all, sizeof(all) / sizeof(all[0])};
