/* devrt.c - libcudadevrt.a: where a linker is given NVIDIA's archive of machine code, this PTX is linked instead.
 *
 * It has what compilers other than nvcc call for grid-wide barriers (Numba's cg.this_grid().sync()); nvcc's own
 * programs have theirs inline. The barrier is one word of the cooperative launch's workspace, at %envreg1 and %envreg2,
 * as cooperative_groups.h uses it: each block adds one to it, the first block what brings the sum to a change of the
 * topmost bit, and a block goes on when it sees that bit change.
 */
#include "cuda/driver.h"

static const char devrt[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)\n"
    "{\n"
    "  .reg .pred %p<2>;\n"
    "  .reg .b32 %r<4>;\n"
    "  .reg .b64 %rd<3>;\n"
    "  ld.param.u32 %r1, [scope];\n"
    "  mov.u32 %r2, %envreg2;\n"
    "  mov.u32 %r3, %envreg1;\n"
    "  mov.b64 %rd1, {%r2, %r3};\n"
    "  setp.eq.u32 %p1, %r1, 1;\n" /* cudaCGScopeGrid */
    "  selp.b64 %rd2, %rd1, 0, %p1;\n"
    "  st.param.b64 [result], %rd2;\n"
    "  ret;\n"
    "}\n"
    ".visible .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)\n"
    "{\n"
    "  .reg .pred %p<4>;\n"
    "  .reg .b32 %r<20>;\n"
    "  .reg .b64 %rd<2>;\n"
    "  ld.param.u64 %rd1, [handle];\n"
    "  bar.sync 0;\n"
    "  mov.u32 %r1, %tid.x;\n"
    "  mov.u32 %r2, %tid.y;\n"
    "  mov.u32 %r3, %tid.z;\n"
    "  or.b32 %r4, %r1, %r2;\n"
    "  or.b32 %r4, %r4, %r3;\n"
    "  setp.ne.u32 %p1, %r4, 0;\n"
    "  @%p1 bra done;\n"
    "  mov.u32 %r5, %nctaid.x;\n"
    "  mov.u32 %r6, %nctaid.y;\n"
    "  mov.u32 %r7, %nctaid.z;\n"
    "  mul.lo.u32 %r8, %r5, %r6;\n"
    "  mul.lo.u32 %r8, %r8, %r7;\n"
    "  mov.u32 %r9, %ctaid.x;\n"
    "  mov.u32 %r10, %ctaid.y;\n"
    "  mov.u32 %r11, %ctaid.z;\n"
    "  or.b32 %r12, %r9, %r10;\n"
    "  or.b32 %r12, %r12, %r11;\n"
    "  setp.eq.u32 %p2, %r12, 0;\n"
    "  sub.u32 %r13, 0x80000001, %r8;\n"
    "  selp.b32 %r14, %r13, 1, %p2;\n"
    "  membar.gl;\n"
    "  atom.global.add.u32 %r15, [%rd1+4], %r14;\n"
    "again:\n"
    "  ld.volatile.global.u32 %r16, [%rd1+4];\n"
    "  xor.b32 %r17, %r15, %r16;\n"
    "  setp.ge.s32 %p3, %r17, 0;\n"
    "  @%p3 bra again;\n"
    "  membar.gl;\n"
    "done:\n"
    "  bar.sync 0;\n"
    "  mov.u32 %r18, 0;\n"
    "  st.param.b32 [result], %r18;\n"
    "  ret;\n"
    "}\n";

const char *mg__cuda_own_archive(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, "libcudadevrt.a") ? NULL : devrt;
}
