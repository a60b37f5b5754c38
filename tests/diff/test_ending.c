/* test_ending.c - a process may end while a thread makes code: that is waited for by a function which is registered
 * when LLVM is set up (jit/generate.c), and so comes before LLVM's own. What LLVM registers later would come before it,
 * and take from the thread what it works with. This counts what libraries register: nothing, whatever is compiled. */
#include "simt/engine.h"
#include "simt/kit.h"

#include <dlfcn.h>
#include <stdatomic.h>

static atomic_bool set_up;
static atomic_uint late;

/* In place of the C library's, for all libraries. */
__attribute__((visibility("default"))) int __cxa_atexit(void (*function)(void *), void *arg, void *library);
int __cxa_atexit(void (*function)(void *), void *arg, void *library)
{
    int (*real)(void (*)(void *), void *, void *);
    void *found = dlsym(RTLD_NEXT, "__cxa_atexit");
    memcpy(&real, &found, sizeof(real));
    late += set_up;
    return real(function, arg, library);
}

static const char ptx[] =
    KERNEL(".shared .align 8 .b8 s[2048];",
           ".reg .f64 %g<9>;\n"
           "mul.wide.u32 %d1, %gid, 8; add.u64 %d1, %a, %d1; ld.global.f64 %g1, [%d1]; ld.global.f32 %f1, [%d1];\n"
           "ld.global.s8 %r5, [%d1+1]; cvt.rn.f32.s32 %f2, %r5; sqrt.rn.f32 %f3, %f2; div.rn.f32 %f3, %f3, %f1;\n"
           "ex2.approx.f32 %f4, %f3; sin.approx.f32 %f5, %f4; lg2.approx.f32 %f6, %f5; fma.rn.f32 %f6, %f6, %f1, %f2;\n"
           "fma.rn.f64 %g2, %g1, %g1, %g1; sqrt.rn.f64 %g3, %g2; div.rn.f64 %g3, %g3, %g1; cvt.rn.f16.f32 %h1, %f6;\n"
           "fma.rn.f16 %h2, %h1, %h1, %h1; cvt.f32.f16 %f7, %h2; popc.b32 %r6, %r5; div.u32 %r7, %r6, 7; rem.u64 %d2, "
           "%d1, 11;\n"
           "shl.b32 %r1, %t, 3; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; st.shared.f64 [%r1], %g3; bar.sync 0;\n"
           "xor.b32 %r3, %r1, 8; ld.shared.f64 %g4, [%r3]; atom.shared.add.u32 %r4, [%r2], %r7;\n"
           "again: shfl.sync.bfly.b32 %r8, %r7, 5, 31, -1; vote.sync.ballot.b32 %r4, %p1, -1; add.u32 %r7, %r7, %r8;\n"
           "setp.lt.u32 %p1, %r7, %lane; @%p1 bra odd; mul.lo.u32 %r7, %r7, 3; atom.global.add.f32 %f1, [%a], %f7; "
           "bra.uni meet;\n"
           "odd: mad.lo.u32 %r7, %r7, 5, %lane; red.global.max.u32 [%b], %r7;\n"
           "meet: add.u32 %r5, %r5, 1; setp.lt.s32 %p1, %r5, 9; @%p1 bra again;\n"
           "add.f64 %g4, %g4, %g3; st.global.f64 [%d1], %g4; st.global.v2.u32 [%d1+8], {%r7, %r4};");

static void nothing_is_registered_late(void **state)
{
    (void)state;
    enum { BLOCK = 64, BLOCKS = 4, BYTES = 8 * BLOCK * BLOCKS + 16 };
    setenv("MARGAY_CACHE", "off", 1);
    static const char *const engines[] = {"quick", "jit"};
    for (unsigned k = 0; k < 2; k++) {
        struct kit kit;
        setenv("MARGAY_ENGINE", engines[k], 1);
        kit_open(&kit, 1, 60000, 0, NULL);
        assert_non_null(kit.engine);
        kit.engine->prepare(kit.engine->self);
        set_up = true;
        const uint64_t out = kit_alloc(&kit, BYTES);
        kit_load(&kit, ptx);
        kit_expect(&kit, kit_launch(&kit, BLOCKS, BLOCK, (struct kit_params){{out, out, 0, 0}}));
        set_up = false;
        kit_close(&kit);
    }
    assert_int_equal(late, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_registered_late)};
    return kit_compiles() ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
