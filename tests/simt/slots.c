/* slots.c - registers and their slots: PTX is not SSA.
 *
 * Programs in which a register is set on some paths only, keeps an older value while its source goes on, or is a copy
 * of a copy; each is held to plain C under all engines, with one host thread and with three. Then the checker of the
 * assignment: it accepts what is assigned for these programs, and refuses assignments that are wrong in one place, the
 * one among them that takes a late copy for its source.
 */
#include "simt/kit.h"
#include "simt/lower.h"

#include <string.h>

enum { GRID = 3, BLOCK = 64, THREADS = GRID * BLOCK, IN = 16, OUT = 8 };

/* %d0: the thread's 16 words to read, %d1: its 8 results, %p9 and so on: free. */
#define PROGRAM(body) KERNEL("", "mad.wide.u32 %d0, %gid, 64, %a; mad.wide.u32 %d1, %gid, 32, %b;\n" body)
/* Once for each word: %r0 counts, %d2 is its address, %r1 the word. */
#define LOOP(body)                                                                                             \
    "mov.u32 %r0, 0; mov.u32 %r9, 0;\nL: mul.wide.u32 %d2, %r0, 4; add.u64 %d2, %d2, %d0; ld.global.u32 %r1, " \
    "[%d2];\n" body "\nadd.u32 %r0, %r0, 1; setp.lt.u32 %p15, %r0, 16; @%p15 bra L;\n"
/* Unless the word is a multiple of `of`, on to the label. */
#define UNLESS(of, label) "rem.u32 %r8, %r1, " #of "; setp.ne.u32 %p14, %r8, 0; @%p14 bra " #label ";\n"
/* The result, or 77 where it was never set. */
#define RESULT "setp.eq.u32 %p13, %r9, 0; selp.b32 %r10, 77, %r3, %p13; st.global.u32 [%d1], %r10;\n"

static void last_multiple(const uint32_t *in, uint32_t *out)
{
    out[0] = 77;
    for (unsigned k = 0; k < IN; k++)
        if (in[k] % 4 == 0)
            out[0] = in[k];
}

static void last_of_both(const uint32_t *in, uint32_t *out)
{
    uint32_t outer = 0;
    out[0] = 77;
    for (unsigned k = 0; k < IN; k++)
        if (in[k] % 2 == 0) {
            outer = in[k];
            if (in[k] % 3 == 0)
                out[0] = outer;
        }
}

static void through_address(const uint32_t *in, uint32_t *out)
{
    for (unsigned k = 0; k < IN; k++)
        if (in[k] % 3 == 0)
            out[1] = in[k] + 1;
}

static void last_index(const uint32_t *in, uint32_t *out)
{
    out[0] = 77;
    for (unsigned k = 0; k < IN; k++) {
        out[1] += k;
        if (in[k] % 3 == 0)
            out[0] = k;
    }
}

static void older(const uint32_t *in, uint32_t *out)
{
    uint32_t s = 1;
    for (unsigned k = 0; k < IN; k++) {
        uint32_t before = s;
        s = s * 5 + in[k];
        out[0] ^= before + s;
        out[1] += before;
    }
    out[2] = s;
}

static void fixed_in_arms(const uint32_t *in, uint32_t *out)
{
    for (unsigned k = 0; k < IN; k++)
        if (in[k] % 5 == 0)
            out[0] = 1234567, out[1] = 32, out[2] = BLOCK;
}

static void under_guards(const uint32_t *in, uint32_t *out)
{
    out[0] = 77;
    for (unsigned k = 0; k < IN; k++) {
        out[1] ^= out[0];
        if (in[k] % 3 == 0)
            out[0] = in[k];
    }
}

static void parts(const uint32_t *in, uint32_t *out)
{
    for (unsigned k = 0; k < IN; k++)
        if (in[k] % 3 == 0) {
            out[0] = in[k] >> 16;
            out[1] = in[k ^ 1];
            out[2] = (uint32_t)((uint64_t)in[k] * in[k] >> 32);
        }
}

static void previous(const uint32_t *in, uint32_t *out)
{
    for (unsigned k = 1; k < IN; k++)
        out[0] = out[0] * 31 + in[k - 1];
    out[1] = in[IN - 1];
}

static void two_addresses(const uint32_t *in, uint32_t *out)
{
    for (unsigned k = 0; k < IN; k += 2) {
        out[0] += in[k] ^ in[k + 1];
        if (k && in[k] % 2)
            out[1] += in[k - 2] * 3 + in[k - 1];
    }
}

static void either_arm(const uint32_t *in, uint32_t *out)
{
    for (unsigned k = 0; k < IN; k++)
        out[0] = out[0] * 7 + (in[k] % 2 ? in[k] + 100 : 9);
}

static const struct program {
    const char *name, *ptx;
    void (*plain)(const uint32_t *in, uint32_t *out);
    const char *copy, *through, *source; /* a late copy, and what it was copied through; NULL: there is none */
} programs[] = {
    {"a copy in an arm of a loop, used behind it",
     PROGRAM(LOOP(UNLESS(4, N) "mov.u32 %r3, %r1; add.u32 %r9, %r9, 1;\nN:") RESULT), last_multiple, "%r3", NULL,
     "%r1"},
    {"a copy of a copy",
     PROGRAM(LOOP(UNLESS(2, N) "mov.u32 %r4, %r1;\n" UNLESS(3, N) "mov.u32 %r3, %r4; add.u32 %r9, %r9, 1;\nN:") RESULT),
     last_of_both, "%r3", NULL, "%r4"},
    {"a copy of an address, as it is and as a global one",
     PROGRAM(LOOP(UNLESS(
         3, N) "mov.u64 %d5, %d2; cvta.to.global.u64 %d6, %d5; add.u32 %r9, %r9, 1;\nN:") "setp.eq.u32 %p1, %r9, 0; "
                                                                                          "@%p1 bra E; ld.global.u32 "
                                                                                          "%r3, [%d6]; add.u32 %r3, "
                                                                                          "%r3, 1; st.global.u32 "
                                                                                          "[%d1+4], %r3;\nE:"),
     through_address, "%d6", "%d5", "%d2"},
    {"a copy of a counter, before and after it counts",
     PROGRAM("mov.u32 %r5, 0;\n" LOOP("mov.u32 %r4, %r0; add.u32 %r5, %r5, %r4;\n" UNLESS(
         3, N) "mov.u32 %r3, %r0; add.u32 %r9, %r9, 1;\nN:") RESULT "st.global.u32 [%d1+4], %r5;"),
     last_index, "%r3", NULL, "%r0"},
    {"two copies, and the source goes on",
     PROGRAM("mov.u32 %r2, 1; mov.u32 %r6, 0; mov.u32 %r7, 0;\n" LOOP(
         "mov.u32 %r3, %r2; mov.u32 %r4, %r3; mad.lo.u32 %r2, %r2, 5, %r1; add.u32 %r5, %r4, %r2; xor.b32 %r6, "
         "%r6, "
         "%r5; add.u32 %r7, %r7, %r4;") "st.global.u32 [%d1], %r6; st.global.u32 [%d1+4], %r7; st.global.u32 "
                                        "[%d1+8], "
                                        "%r2;"),
     older, "%r4", "%r3", "%r2"},
    {"values that never change, set in an arm",
     PROGRAM(LOOP(UNLESS(
         5, N) "mov.u32 %r3, 1234567; ld.param.u64 %d5, [p3]; mov.u32 %r4, %ntid.x; add.u32 %r9, %r9, "
               "1;\nN: mul.lo.u32 %r11, %r1, %r1; xor.b32 %r12, %r11, %r1;") "setp.eq.u32 %p1, %r9, 0; @%p1 bra E; "
                                                                             "cvt.u32.u64 %r5, %d5; st.global.u32 "
                                                                             "[%d1], %r3; st.global.u32 "
                                                                             "[%d1+4], %r5; st.global.u32 [%d1+8], "
                                                                             "%r4;\nE:"),
     fixed_in_arms, NULL, NULL, NULL},
    {"a copy under a guard",
     PROGRAM("mov.u32 %r5, 0;\n" LOOP("setp.eq.u32 %p1, %r9, 0; selp.b32 %r11, 77, %r3, %p1; xor.b32 %r5, %r5, %r11; "
                                      "rem.u32 %r8, %r1, 3; setp.eq.u32 %p2, %r8, 0; @%p2 mov.u32 %r3, %r1; @%p2 "
                                      "add.u32 %r9, %r9, 1;") RESULT "st.global.u32 [%d1+4], %r5;"),
     under_guards, "%r3", NULL, "%r1"},
    {"halves, vectors and words of wider values, set in an arm",
     PROGRAM(LOOP(UNLESS(3, N) "mov.b32 {%h0, %h1}, %r1; and.b64 %d5, %d2, -8; ld.global.v2.u32 {%r4, %r5}, [%d5]; "
                               "and.b32 "
                               "%r6, %r0, 1; setp.eq.u32 %p2, %r6, 0; mul.wide.u32 %d6, %r1, %r1; mov.b64 {_, "
                               "%r7}, "
                               "%d6; add.u32 %r9, %r9, 1;\nN: add.u32 %r11, %r1, %r0; mul.wide.u32 %d7, %r11, "
                               "%r11;") "setp.eq.u32 %p1, %r9, 0; @%p1 bra E; cvt.u32.u16 %r10, %h1; st.global.u32 "
                                        "[%d1], %r10; selp.b32 %r12, "
                                        "%r5, %r4, %p2; st.global.u32 [%d1+4], %r12; st.global.u32 [%d1+8], "
                                        "%r7;\nE:"),
     parts, NULL, NULL, NULL},
    {"the previous word, which the first round does not have",
     PROGRAM("mov.u32 %r5, 0;\n" LOOP("setp.eq.u32 %p1, %r9, 0; @%p1 bra F; mad.lo.u32 %r5, %r5, 31, %r3;\nF: mov.u32 "
                                      "%r3, %r1; mov.u32 %r9, 1;") "st.global.u32 [%d1], %r5; st.global.u32 [%d1+4], "
                                                                   "%r3;"),
     previous, "%r3", NULL, "%r1"},
    {"accesses by an address and by the one before it",
     PROGRAM("mov.u32 %r0, 0; mov.u32 %r9, 0; mov.u32 %r5, 0; mov.u32 %r6, 0;\nL: mul.wide.u32 %d2, %r0, 4; add.u64 "
             "%d3, "
             "%d2, %d0; ld.global.u32 %r1, [%d3]; ld.global.u32 %r2, [%d3+4]; xor.b32 %r3, %r1, %r2; add.u32 %r5, %r5, "
             "%r3; and.b32 %r4, %r1, %r9; and.b32 %r4, %r4, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra N;\nld.global.u32 "
             "%r7, [%d4]; ld.global.u32 %r8, [%d4+4]; mad.lo.u32 %r7, %r7, 3, %r8; add.u32 %r6, %r6, %r7;\nN: mov.u64 "
             "%d4, %d3; mov.u32 %r9, 1; add.u32 %r0, %r0, 2; setp.lt.u32 %p2, %r0, 16; @%p2 bra L; st.global.u32 "
             "[%d1], %r5; st.global.u32 [%d1+4], %r6;"),
     two_addresses, "%d4", NULL, "%d3"},
    {"a value of its own in either arm",
     PROGRAM(
         "mov.u32 %r5, 0;\n" LOOP("and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra X; add.u32 %r3, %r1, 100; "
                                  "mov.u32 %r4, %r3; bra Y;\nX: mov.u32 %r4, 9;\nY: mad.lo.u32 %r5, %r5, 7, "
                                  "%r4;") "st.global.u32 [%d1], %r5;"),
     either_arm, NULL, NULL, NULL},
};

static void run_all(const char *engine, unsigned threads)
{
    struct kit kit;
    setenv("MARGAY_ENGINE", engine, 1);
    kit_open(&kit, threads, 60000, 0, NULL);
    uint64_t in = kit_alloc(&kit, THREADS * IN * 4), out = kit_alloc(&kit, THREADS * OUT * 4);
    uint32_t *words = (uint32_t *)(uintptr_t)in, *results = (uint32_t *)(uintptr_t)out, x = 7;
    for (unsigned k = 0; k < THREADS * IN; k++)
        x = x * 1664525u + 1013904223u, words[k] = x >> 8;
    for (unsigned n = 0; n < MG_COUNT(programs); n++) {
        memset(results, 0, THREADS * OUT * 4);
        kit_load(&kit, programs[n].ptx);
        kit_launch(&kit, GRID, BLOCK, (struct kit_params){{in, out, 0, 32}});
        kit_expect(&kit, MG_OK);
        for (unsigned t = 0; t < THREADS; t++) {
            uint32_t wanted[OUT] = {0};
            programs[n].plain(words + (size_t)t * IN, wanted);
            for (unsigned k = 0; k < OUT; k++)
                if (results[t * OUT + k] != wanted[k])
                    fail_msg("%s, %s, %u threads: thread %u, result %u is %u, not %u", programs[n].name, engine,
                             threads, t, k, results[t * OUT + k], wanted[k]);
        }
    }
    kit_close(&kit);
}

static void test_values(void **state)
{
    static const char *const engines[] = {"interp", "quick", "jit"};
    const char *was = getenv("MARGAY_ENGINE");
    char *kept = was ? strdup(was) : NULL;
    (void)state;
    for (unsigned e = 0; e < (kit_compiles() ? 3 : 1); e++) {
        run_all(engines[e], 1);
        run_all(engines[e], 3);
    }
    if (kept)
        setenv("MARGAY_ENGINE", kept, 1);
    else
        unsetenv("MARGAY_ENGINE");
    free(kept);
}

/* ---- the checker ---- */
struct bench { /* one function, as far as slots are assigned */
    struct mg_ptx_module *ptx;
    struct mg_cfg *cfg;
    struct mg_arena arena;
    struct mg_lower L;
};

static void set_up(struct bench *b, const char *ptx)
{
    struct mg_diag diag;
    memset(b, 0, sizeof *b);
    mg__arena_init(&b->arena);
    assert_int_equal(mg__ptx_parse(ptx, strlen(ptx), &b->ptx, &diag), MG_OK);
    b->L.func = mg__ptx_find_func(b->ptx, "k");
    assert_int_equal(mg__cfg_build(b->L.func, &b->cfg), MG_OK);
    b->L.cfg = b->cfg;
    b->L.slots = mg__arena_array(&b->arena, b->L.func->nregs + 1, sizeof *b->L.slots);
    b->L.skip = mg__arena_array(&b->arena, b->L.func->ninsns + 1, sizeof *b->L.skip);
    mg__strtab_init(&b->L.pool_index, &b->arena);
    b->L.carry = (int32_t)mg__lower_new_slot(&b->L, 4);
    for (unsigned i = 0; i < MG_COUNT(b->L.temp_pred); i++)
        b->L.temp_pred[i] = (int32_t)mg__lower_new_slot(&b->L, 4);
    for (unsigned i = 0; i < MG_COUNT(b->L.temp); i++)
        b->L.temp[i] = (int32_t)mg__lower_new_slot(&b->L, 256);
}

/* Every register has a slot of its own, and every instruction is executed. */
static void set_apart(struct bench *b)
{
    for (uint32_t r = 0; r < b->L.func->nregs; r++)
        b->L.slots[r] = (int32_t)mg__lower_new_slot(&b->L, 512);
}

static void take_down(struct bench *b)
{
    mg__strbuf_free(&b->L.pool);
    mg__vec_free(&b->L.fills);
    mg__cfg_free(b->cfg);
    mg__ptx_free(b->ptx);
    mg__arena_free(&b->arena);
}

static uint32_t reg_of(const struct bench *b, const char *name)
{
    for (uint32_t r = 0; r < b->L.func->nregs; r++)
        if (!strcmp(b->L.func->regs[r].name, name))
            return r;
    fail_msg("no register %s", name);
    return 0;
}

/* The n-th instruction (from 0) that has the register as its result. */
static uint32_t definition_of(const struct bench *b, uint32_t reg, unsigned n)
{
    for (uint32_t i = 0; i < b->L.func->ninsns; i++) {
        struct mg_flow_walk w = {b->L.func, &b->L.func->insns[i], 0, 0};
        uint32_t at;
        for (bool written; mg__flow_next(&w, &at, &written);)
            if (written && at == reg && n-- == 0)
                return i;
    }
    fail_msg("no such definition");
    return 0;
}

static void expect_refused(struct bench *b, const char *reg, const char *what)
{
    struct mg_strbuf why = {0};
    if (mg__check_slots(&b->L, &why))
        fail_msg("accepted, with a wrong slot of %s", reg);
    if (!why.at || !strstr(why.at, reg) || !strstr(why.at, what))
        fail_msg("'%s' does not say that %s %s", why.at ? why.at : "", reg, what);
    mg__strbuf_free(&why);
    take_down(b);
}

static void expect_accepted(struct bench *b, const char *name)
{
    struct mg_strbuf why = {0};
    if (!mg__check_slots(&b->L, &why))
        fail_msg("%s: %s", name, why.at);
    mg__strbuf_free(&why);
}

#define LATE "is read where its slot was last written for another register"

static void test_accepted(void **state)
{
    struct bench b;
    (void)state;
    for (unsigned n = 0; n < MG_COUNT(programs); n++) {
        set_up(&b, programs[n].ptx);
        assert_true(mg__assign_slots(&b.L));
        expect_accepted(&b, programs[n].name);
        take_down(&b);
        set_up(&b, programs[n].ptx);
        set_apart(&b);
        expect_accepted(&b, programs[n].name);
        take_down(&b);
    }
}

/* What every program would be if a register with one definition, a copy, were simply its source. */
static void test_late_copies(void **state)
{
    unsigned tried = 0;
    (void)state;
    for (unsigned n = 0; n < MG_COUNT(programs); n++) {
        struct bench b;
        if (!programs[n].copy)
            continue;
        set_up(&b, programs[n].ptx);
        set_apart(&b);
        const char *const names[] = {programs[n].copy, programs[n].through};
        bool guarded = false;
        for (unsigned k = 0; k < 2 && names[k]; k++) {
            uint32_t copy = reg_of(&b, names[k]), at = definition_of(&b, copy, 0);
            guarded |= b.L.func->insns[at].guard >= 0;
            b.L.slots[copy] = b.L.slots[reg_of(&b, programs[n].source)];
            b.L.skip[at] = true;
        }
        tried++;
        expect_refused(&b, programs[n].copy, guarded ? "is left out" : LATE);
    }
    assert_int_equal(tried, 8);
}

/* A copy that is its source as long as it is used is left out, and one that is not stays. */
static void test_what_is_left_out(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, programs[3].ptx);
    assert_true(mg__assign_slots(&b.L));
    assert_true(b.L.skip[definition_of(&b, reg_of(&b, "%r4"), 0)]);
    assert_int_equal(b.L.slots[reg_of(&b, "%r4")], b.L.slots[reg_of(&b, "%r0")]);
    assert_false(b.L.skip[definition_of(&b, reg_of(&b, "%r3"), 0)]);
    assert_int_not_equal(b.L.slots[reg_of(&b, "%r3")], b.L.slots[reg_of(&b, "%r0")]);
    take_down(&b);
    set_up(&b, programs[5].ptx);
    assert_true(mg__assign_slots(&b.L));
    assert_true(b.L.slots[reg_of(&b, "%r3")] & 1 && b.L.slots[reg_of(&b, "%r4")] & 1 &&
                b.L.slots[reg_of(&b, "%d5")] & 1);
    take_down(&b);
}

static void test_refused(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, programs[0].ptx); /* two that are live at once: the counter and the word */
    assert_true(mg__assign_slots(&b.L));
    b.L.slots[reg_of(&b, "%r0")] = b.L.slots[reg_of(&b, "%r1")];
    expect_refused(&b, "%r", LATE);
    set_up(&b, programs[0].ptx); /* the half of a wider register */
    set_apart(&b);
    b.L.slots[reg_of(&b, "%r0")] = b.L.slots[reg_of(&b, "%d0")] + 128;
    expect_refused(&b, "%d0", LATE);
    set_up(&b, programs[0].ptx); /* one that lowering uses itself */
    set_apart(&b);
    b.L.slots[reg_of(&b, "%r0")] = b.L.temp[3];
    expect_refused(&b, "%r0", "not its own");
    set_up(&b, programs[5].ptx); /* a constant, and not this one */
    assert_true(mg__assign_slots(&b.L));
    b.L.slots[reg_of(&b, "%r3")] = mg__lower_const(&b.L, 1234568, false);
    expect_refused(&b, "%r3", "does not hold its value");
    set_up(&b, programs[5].ptx); /* a parameter, and not this one */
    assert_true(mg__assign_slots(&b.L));
    b.L.slots[reg_of(&b, "%d5")] = b.L.slots[reg_of(&b, "%a")];
    expect_refused(&b, "%d5", "does not hold its value");
    set_up(&b, programs[5].ptx); /* a constant that is written */
    assert_true(mg__assign_slots(&b.L));
    b.L.skip[definition_of(&b, reg_of(&b, "%r3"), 0)] = false;
    expect_refused(&b, "%r3", "is written");
    set_up(&b, programs[10].ptx); /* of two definitions, one is left out */
    assert_true(mg__assign_slots(&b.L));
    b.L.slots[reg_of(&b, "%r4")] = mg__lower_const(&b.L, 9, false);
    b.L.skip[definition_of(&b, reg_of(&b, "%r4"), 1)] = true;
    expect_refused(&b, "%r4", "is written");
    set_up(&b, programs[0].ptx); /* an instruction that is no copy */
    set_apart(&b);
    b.L.skip[definition_of(&b, reg_of(&b, "%r8"), 0)] = true;
    expect_refused(&b, "%r8", "is left out");
}

/* ---- an op takes the operands of its row, and no others ---- */
static void test_rows(void **state)
{
    (void)state;
    struct mg_engine_operand of[300];
    for (unsigned k = 0; k < MG_COUNT(of); k++)
        of[k] = (struct mg_engine_operand)MG_WORD(128 * (int32_t)k);
    assert_true(mg__op_fits(MG_DO_MOV32, of, 1, 2));
    assert_false(mg__op_fits(MG_DO_MOV32, of, 1, 1));
    assert_false(mg__op_fits(MG_DO_MOV32, of, 1, 3));
    assert_false(mg__op_fits(MG_DO_MOV32, of, 2, 2));
    assert_false(mg__op_fits(MG_DO_MOV64, of, 1, 2));
    assert_false(mg__op_fits(MG_DO_MOV_PRED, of, 1, 2));
    of[1].slot = -1; /* one may be absent where the row says so */
    assert_false(mg__op_fits(MG_DO_MOV32, of, 1, 2));
    assert_true(mg__op_fits(MG_DO_UNPACK, of, 3, 4));
    assert_false(mg__op_fits(MG_DO_UNPACK, of, 5, 6));
    assert_true(mg__op_fits(MG_DO_LD_GLOBAL, of, 0, 1));
    assert_true(mg__op_fits(MG_DO_WARP, of, 100, MG_COUNT(of))); /* any number of them */
}

int kit_run_slots(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),           cmocka_unit_test(test_accepted), cmocka_unit_test(test_late_copies),
        cmocka_unit_test(test_what_is_left_out), cmocka_unit_test(test_refused),  cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
