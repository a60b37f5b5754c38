/* test_again.c - what is remembered of a multiprocessor is what going through it gives, and whatever it is given is
 * told apart: each field of it is changed, one at a time, and the answer is that of a machine that remembers nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "margay/arch.h"
#include "time/time_priv.h"

enum { OPS = 6, BLOCKS = 2, REGS = 12, INSNS = 6 };
static struct mg_time_op ops[OPS];
static struct mg_time_block blocks[BLOCKS];
static uint32_t regs[REGS];
static struct mg_time_access accesses[INSNS];
static struct mg_time_code code;
static struct mg_time_machine machine;
static double stalled[2][INSNS][MG_STALLS];

/* A loop of eight rounds: two loads, a product, and a store behind it. */
static void make(void)
{
    static const uint8_t pipes[OPS] = {MG_PIPE_ALU, MG_PIPE_LSU, MG_PIPE_LSU, MG_PIPE_FMA,
                                        MG_PIPE_CONTROL, MG_PIPE_LSU};
    memset(ops, 0, sizeof ops);
    memset(blocks, 0, sizeof blocks);
    memset(accesses, 0, sizeof accesses);
    for (uint32_t i = 0; i < OPS; i++) {
        ops[i].insn = i;
        ops[i].pipe = pipes[i];
        ops[i].slots = 1;
        ops[i].interval = 2;
        ops[i].latency = 4;
        ops[i].access = pipes[i] == MG_PIPE_LSU;
        ops[i].regs = 2 * i;
        ops[i].reads = ops[i].writes = 1;
        ops[i].call = UINT32_MAX;
        regs[2 * i] = i ? i - 1 : 0;
        regs[2 * i + 1] = i;
        if (ops[i].access)
            accesses[i] = (struct mg_time_access){.space = MG_SPACE_GLOBAL,
                                                  .kind = i == 5 ? MG_ACCESS_ST : MG_ACCESS_LD,
                                                  .seen = true,
                                                  .requests = 64,
                                                  .sectors = 4,
                                                  .lines = 1,
                                                  .past_l1 = 2,
                                                  .misses = 0.5,
                                                  .first = 0.5,
                                                  .fresh = 0.25};
    }
    blocks[0] = (struct mg_time_block){.end = 5, .succ = {0, 1}, .nsucc = 2, .ipdom = 1, .rounds = 8, .leaves = 1};
    blocks[1] = (struct mg_time_block){.first = 5, .end = 6, .ipdom = UINT32_MAX};
    code = (struct mg_time_code){
        .ops = ops, .blocks = blocks, .regs = regs, .nops = OPS, .nblocks = BLOCKS, .nregs = OPS};
    machine = (struct mg_time_machine){.arch = mg_arch_find(90),
                                       .code = &code,
                                       .access = accesses,
                                       .blocks = 1000,
                                       .warps = 4,
                                       .resident = 8,
                                       .unequal = 1,
                                       .most = 10000,
                                       .ninsns = INSNS,
                                       .enough = 100000,
                                       .all_ops = 30000};
}

/* Asks the one that remembers, and goes through it anew; true: it is as `before` was. */
static bool hold(struct mg_time_again *again, const char *what, struct mg_time_result *before)
{
    struct mg_time_result r[2];
    memset(stalled, 0, sizeof stalled);
    memset(r, 0, sizeof r);
    machine.stalled = stalled[0];
    assert_true(mg__time_run_again(again, &machine, &r[0]));
    machine.stalled = stalled[1];
    assert_true(mg__time_run(&machine, &r[1]));
    if (memcmp(stalled[0], stalled[1], sizeof stalled[0]) || r[0].seconds != r[1].seconds ||
        memcmp(r[0].part, r[1].part, sizeof r[0].part) || memcmp(r[0].stalled, r[1].stalled, sizeof r[0].stalled) ||
        r[0].dram_read != r[1].dram_read || r[0].known != r[1].known)
        fail_msg("%s: %.12g s, not %.12g", what, r[0].seconds, r[1].seconds);
    bool same = before->seconds == r[1].seconds;
    *before = r[1];
    return same;
}

static void told_apart(void **state)
{
    (void)state;
    struct mg_time_again *again = mg__time_again_create();
    struct mg_time_result r = {0}, base;
    assert_non_null(again);
    make();
    hold(again, "first", &r);
    assert_true(r.known && r.seconds > 0);
    base = r;
    unsigned others = 0;
#define CHANGE(...)                                \
    __VA_ARGS__;                                   \
    r = base;                                      \
    others += !hold(again, #__VA_ARGS__, &r);      \
    make();                                        \
    r = base;                                      \
    assert_true(hold(again, "as it was", &r))
    CHANGE(machine.blocks = 5000);
    CHANGE(machine.warps = 8);
    CHANGE(machine.resident = 2);
    CHANGE(machine.unequal = 1.5);
    CHANGE(machine.enough = 500);
    CHANGE(machine.all_ops = 60000);
    CHANGE(machine.arch = mg_arch_find(80));
    CHANGE(ops[3].latency = 40);
    CHANGE(ops[0].pipe = MG_PIPE_FP64, ops[0].interval = 64);
    CHANGE(regs[6] = 0);
    CHANGE(blocks[0].rounds = 80);
    CHANGE(accesses[1].misses = 1, accesses[1].past_l1 = 4);
    CHANGE(accesses[5].sectors = 32);
    assert_true(others >= 10); /* most of these do change the time */
    for (unsigned k = 0; k < 100; k++) { /* more than are kept */
        ops[3].latency = (uint16_t)(4 + k);
        hold(again, "many", &r);
    }
    make();
    r = base;
    assert_true(hold(again, "as it was", &r));
    mg__time_again_free(again);
}

/* Code is made anew where anything that it is made from is another. */
static void codes(void **state)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                               ".reg .pred %p; .reg .b32 %r<3>; .reg .b64 %d;\nld.param.u64 %d, [p]; mov.u32 %r0, 0;\n"
                               "L: ld.global.u32 %r1, [%d]; add.u32 %r0, %r0, %r1; setp.lt.u32 %p, %r0, 9; @%p bra L;\n"
                               "st.global.u32 [%d], %r0; ret;\n}\n";
    struct mg_ptx_module *module;
    (void)state;
    assert_int_equal(mg__ptx_parse(text, strlen(text), &module, NULL), MG_OK);
    const struct mg_ptx_func *f = module->funcs[0];
    struct mg_insn_info insns[16] = {{0}};
    struct mg_insn_counts counts[16] = {{0}};
    const uint32_t n = (uint32_t)f->ninsns;
    assert_true(n > 6 && n <= 16);
    for (uint32_t i = 0; i < n; i++) {
        insns[i] = (struct mg_insn_info){.insn = &f->insns[i], .func = f};
        counts[i].warps = i < 2 || i + 2 >= n ? 4 : 40;
    }
    struct mg_launch_info info = {
        .program = 7, .func = f, .insns = insns, .ninsns = n, .grid = {4, 1, 1}, .block = {32, 1, 1}};
    struct mg_time_codes kept = {0};
    struct mg_time_code *first = mg__time_code_again(&kept, &info, counts, NULL, NULL);
    assert_non_null(first);
#define CODE(same, ...)                                                                      \
    {                                                                                        \
        __VA_ARGS__;                                                                         \
        struct mg_time_code *now = mg__time_code_again(&kept, &info, counts, NULL, NULL);    \
        struct mg_time_code *made = mg__time_code(&info, counts, NULL, NULL);                \
        assert_true((now == first) == (same));                                               \
        assert_int_equal(now->nops, made->nops);                                             \
        assert_memory_equal(now->ops, made->ops, made->nops * sizeof *made->ops);            \
        assert_memory_equal(now->blocks, made->blocks, made->nblocks * sizeof *made->blocks); \
        mg__time_code_free(now);                                                             \
        mg__time_code_free(made);                                                            \
    }
    CODE(true, (void)0)
    CODE(false, counts[3].warps++)
    CODE(true, counts[3].warps--)
    CODE(false, info.grid.x = 8)
    CODE(false, info.grid.x = 4, info.block.y = 2)
    CODE(false, info.block.y = 1, info.program = 8)
    CODE(false, info.program = 0)
    CODE(true, info.program = 7)
    for (uint32_t k = 0; k < 2 * MG_TIME_CODES; k++) /* more than are kept */
        CODE(false, info.program = 100 + k)
    assert_int_equal(first->others, 0); /* it is this test's alone */
    mg__time_code_free(first);
    mg__time_codes_forget(&kept);
    mg__ptx_free(module);
}

/* Without memory to remember in. */
static void nothing(void **state)
{
    (void)state;
    struct mg_time_result r = {0};
    make();
    hold(NULL, "nothing", &r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(told_apart), cmocka_unit_test(codes),
                                       cmocka_unit_test(nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
