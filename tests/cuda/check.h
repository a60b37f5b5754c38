/* check.h - what the programs of this folder share: they call the driver, and hold every answer to what it has to be.
 */
#ifndef CHECK_H
#define CHECK_H
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
/* `call` returns `want`, a CUresult. */
#define WANT(want, call)                                                                       \
    do {                                                                                       \
        int got_ = (int)(call);                                                                \
        if (got_ != (int)(want)) {                                                             \
            printf("%s:%d: %s is %d, not %d\n", __FILE__, __LINE__, #call, got_, (int)(want)); \
            failures++;                                                                        \
        }                                                                                      \
    } while (0)
#define OK(call) WANT(CUDA_SUCCESS, call)
#define TRUE(condition)                                                    \
    do {                                                                   \
        if (!(condition)) {                                                \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            failures++;                                                    \
        }                                                                  \
    } while (0)
#define DONE() (puts(failures ? "FAIL" : "PASS"), failures != 0)

/* y[i] += a * x[i], for i < n; a table of four; and kernels that fault. */
#define PTX                                                                                                     \
    ".version 7.8\n.target sm_80\n.address_size 64\n"                                                           \
    ".visible .global .align 4 .u32 table[4] = {1, 2, 3, 4};\n"                                                 \
    ".visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)\n"                       \
    "{\n .reg .pred %p;\n .reg .f32 %f<4>;\n .reg .b32 %r<5>;\n .reg .b64 %rd<6>;\n"                            \
    " ld.param.f32 %f1, [a];\n ld.param.u64 %rd1, [x];\n ld.param.u64 %rd2, [y];\n ld.param.u32 %r1, [n];\n"    \
    " mov.u32 %r2, %ctaid.x;\n mov.u32 %r3, %ntid.x;\n mov.u32 %r4, %tid.x;\n mad.lo.s32 %r2, %r2, %r3, %r4;\n" \
    " setp.ge.s32 %p, %r2, %r1;\n @%p bra done;\n mul.wide.s32 %rd3, %r2, 4;\n add.s64 %rd4, %rd1, %rd3;\n"     \
    " add.s64 %rd5, %rd2, %rd3;\n ld.global.f32 %f2, [%rd4];\n ld.global.f32 %f3, [%rd5];\n"                    \
    " fma.rn.f32 %f3, %f1, %f2, %f3;\n st.global.f32 [%rd5], %f3;\ndone:\n ret;\n}\n"                           \
    ".visible .entry bad()\n{\n .reg .u64 %p;\n mov.u64 %p, 16;\n st.global.u32 [%p], 1;\n ret;\n}\n"           \
    ".visible .entry good()\n{\n ret;\n}\n"
#endif
