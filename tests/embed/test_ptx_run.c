/* test_ptx_run.c - the call without a context: values and host pointers as arguments, parameters of every width,
 * modules kept by their text and forgotten, and errors that end the process. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "margay/margay.h"

#define HEAD ".version 7.5\n.target sm_75\n.address_size 64\n"
static const char add[] = HEAD ".visible .entry E(.param .u64 to, .param .u64 from, .param .u32 n, .param .f32 by)\n{\n"
                               ".reg .u64 %a<4>; .reg .u32 %r<6>; .reg .f32 %f<4>; .reg .pred %p;\n"
                               "ld.param.u64 %a0, [to]; ld.param.u64 %a1, [from];\n"
                               "ld.param.u32 %r0, [n]; ld.param.f32 %f0, [by];\n"
                               "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
                               "mad.lo.u32 %r4, %r1, %r2, %r3;\nsetp.ge.u32 %p, %r4, %r0;\n@%p ret;\n"
                               "mul.wide.u32 %a2, %r4, 4; add.u64 %a1, %a1, %a2; add.u64 %a0, %a0, %a2;\n"
                               "ld.global.f32 %f1, [%a1]; add.f32 %f1, %f1, %f0; st.global.f32 [%a0], %f1;\nret;\n}\n";

static void values(void **state)
{
    float from[100], to[101], by = 0.5f;
    uint32_t bits;
    (void)state;
    memcpy(&bits, &by, 4);
    for (int i = 0; i < 100; i++)
        from[i] = (float)i;
    to[100] = 7;
    void *args[] = {to, from, (void *)(uintptr_t)100, (void *)(uintptr_t)bits};
    ptx_run(add, 4, args, 32, 1, 1, 4, 1, 1, 0);
    for (int i = 0; i < 100; i++)
        assert_true(to[i] == (float)i + 0.5f);
    assert_true(to[100] == 7);
}

/* More texts than are kept, twice: each still does what it says. */
static void many(void **state)
{
    char text[512];
    (void)state;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 300; i++) {
            uint32_t got = 0;
            void *args[] = {&got};
            snprintf(text, sizeof(text),
                     HEAD ".visible .entry E(.param .u64 to)\n{\n.reg .u64 %%a; .reg .u32 %%r;\n"
                          "ld.param.u64 %%a, [to]; mov.u32 %%r, %d; st.global.u32 [%%a], %%r; ret;\n}\n",
                     1000 + i);
            ptx_run(text, 1, args, 1, 1, 1, 1, 1, 1, 0);
            assert_int_equal(got, 1000 + i);
        }
}

/* What the child said on standard error; it must have ended by abort. */
static void dies(const char *ptx, int n, void **args, int threads, const char *says)
{
    char text[4096] = "";
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        ptx_run(ptx, n, args, threads, 1, 1, 1, 1, 1, 0);
        _exit(0);
    }
    close(ends[1]);
    for (size_t at = 0; at < sizeof(text) - 1;) {
        ssize_t got = read(ends[0], text + at, sizeof(text) - 1 - at);
        if (got <= 0)
            break;
        at += (size_t)got;
    }
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    if (!strstr(text, says))
        fail_msg("'%s' is not in: %s", says, text);
}

static void errors(void **state)
{
    void *args[] = {NULL, NULL, NULL, NULL};
    (void)state;
    dies("not PTX", 0, NULL, 1, "the PTX was not loaded");
    dies(HEAD, 0, NULL, 1, "the PTX has no entry");
    dies(add, 2, args, 1, "4 parameters, and 2 came");
    dies(add, 4, args, 4096, "threads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors), cmocka_unit_test(values), cmocka_unit_test(many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
