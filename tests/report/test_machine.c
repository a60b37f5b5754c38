/* test_machine.c - a disassembler's listing held against the lines of a run: which lines are told, and what of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "report/render.h"

#define SECTION(kernel) "\t.section\t.text." kernel ",\"ax\",@progbits\n" kernel ":\n.text." kernel ":\n"
#define LINE(n) "\t//## File \"/src/a.cu\", line " #n "\n"
#define INSN(text) "        /*0040*/                   " text " ;\n"
#define GUARDED(text) "        /*0050*/              " text " ;\n"

/* What the toolkit's atomicAdd is, called from line 21, which was inlined as well. */
#define INLINED                                                                                                     \
    "\t//## File \"/usr/local/cuda/include/device_atomic_functions.hpp\", line 107 inlined at \"/src/a.cu\", line " \
    "21\n"                                                                                                          \
    "\t//## File \"/src/a.cu\", line 21 inlined at \"/src/a.cu\", line 22\n"

static const char LISTING[] = INSN("STG.E desc[UR4][R2.64], R0") /* of no kernel */
    SECTION("k") INSN("LDC R1, c[0x0][0x28]") LINE(10) INSN("LDG.E R2, desc[UR4][R2.64]") INSN("LDG.E.CONSTANT R3, "
                                                                                               "desc[UR4][R4.64]") LINE(
        11) INSN("STG.E desc[UR4][R4.64], R9") LINE(12) GUARDED("@!P0 BRA `(.L_x_1)") LINE(14) INSN("STS [R5], R0")
        INSN("STS.64 [R5+0x8], R0") GUARDED("@P1 STS [R5+0x10], R0") INSN("IADD3 R1, R1, 0x1, RZ") LINE(15) GUARDED(
            "@!P0 STG.E desc[UR4][R4.64], R7") "\t//## File \"/src/a.h\", line 5 inlined at \"/src/a.cu\", line "
                                               "16\n" INSN("LDS R4, [R4+UR4]") LINE(17) INSN("LDS R4, [R4]") INSN(
                                                   "ATOMS.CAST.SPIN R3, [R0], R4, R5") GUARDED("@!P0 BRA `(.L_x_2)")
                                                   LINE(18) INSN("REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R5") GUARDED(
                                                       "@!PT LDS RZ, [RZ]") LINE(11) INSN("LDSM.16.M88.4 R4, [R5]")
                                                       INSN("LDGSTS.E [R7], desc[UR4][R2.64]") INSN("LDL R1, [R2]")
                                                           LINE(19) INSN("ATOMG.E.CAS.STRONG.GPU PT, R2, "
                                                                         "desc[UR4][R2.64], R4, R5")
                                                               INSN("LDG.E R1, desc[UR4][R2.64]") INLINED LINE(22)
                                                                   INSN("REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R5")
                                                                       SECTION("calm") LINE(30)
                                                                           INSN("STG.E desc[UR4][R2.64], R0")
                                                                               INSN("STG.E desc[UR4][R2.64+0x4], R0");

struct place {
    const char *file;
    uint32_t line;
    struct mg_report_written written;
    bool idle;
};

static void run(struct mg_tally *tally, const char *kernel, uint64_t divergent, const struct place *places, size_t n)
{
    struct mg_report_line lines[16] = {0};
    struct mg_report_launch launch = {
        .kernel = kernel, .mangled = kernel, .grid = {1, 1, 1}, .block = {32, 1, 1}, .lines = lines, .nlines = n};
    assert_true(n <= MG_COUNT(lines));
    for (size_t i = 0; i < n; i++) {
        lines[i].file = places[i].file;
        lines[i].line = places[i].line;
        lines[i].written = places[i].written;
        lines[i].metrics.v[MG_METRIC_INST] = places[i].idle ? 0 : 1;
    }
    launch.metrics.v[MG_METRIC_DIVERGENT] = divergent;
    assert_int_equal(mg__tally_add(tally, &launch), MG_OK);
}

static const struct place places[] = {
    {"/src/a.cu", 10, {.loads = 2}, false},               /* as written */
    {"/src/a.cu", 11, {.stores = 2}, false},              /* one of two arms */
    {"/src/a.cu", 12, {.stores = 0}, false},              /* a branch alone */
    {"/src/a.cu", 13, {.stores = 1}, false},              /* the other: nothing is left of the line */
    {"/src/a.cu", 14, {.stores = 1}, false},              /* three copies */
    {"/src/a.cu", 15, {.stores = 1}, false},              /* under a predicate */
    {"/src/a.h", 5, {.loads = 2}, false},                 /* inlined; one load is at hand */
    {"/src/a.cu", 17, {.loads = 2, .stores = 1}, false},  /* a loop of swaps: its loads are not looked at */
    {"/src/a.cu", 18, {.atomics = 1}, false},             /* and a load that never runs */
    {"/src/a.cu", 19, {.atomics = 1, .loads = 7}, false}, /* as 17 */
    {"/src/a.cu", 21, {.atomics = 1}, false},             /* what the toolkit's header calls it is the caller's */
    {"/src/other.cu", 3, {.stores = 1}, false},           /* of a file that the listing does not have */
    {"", 0, {.stores = 9}, false},                        /* of no known line */
    {"/src/a.cu", 20, {.stores = 9}, true},               /* never ran */
};

static void lines_that_ptxas_changed(void **state)
{
    (void)state;
    struct mg_tally tally;
    struct mg_machine machine;
    mg__tally_init(&tally, true);
    mg__machine_init(&machine);
    static const struct place calm[] = {{"/src/a.cu", 30, {.stores = 1}, false}};
    run(&tally, "k", 0, places, MG_COUNT(places)); /* another shape of the same kernel; it diverges in the second */
    tally.kernels.at[0]->grid.x = 7;
    struct mg_report_launch wide = {.kernel = "k", .mangled = "k", .grid = {2, 1, 1}, .block = {32, 1, 1}};
    wide.metrics.v[MG_METRIC_DIVERGENT] = 3;
    assert_int_equal(mg__tally_add(&tally, &wide), MG_OK);
    run(&tally, "calm", 0, calm, 1); /* nothing diverges: copies change no count */
    assert_true(mg__machine_read(&machine, LISTING, strlen(LISTING)));
    assert_true(machine.known);
    assert_true(mg__machine_compare(&machine, &tally));

    static const struct {
        const char *file, *what;
        uint32_t line, written, made;
        enum mg_machine_kind kind;
    } want[] = {
        {"/src/a.cu", "stores", 11, 2, 1, MG_MACHINE_FEWER}, {"/src/a.cu", "stores", 13, 1, 0, MG_MACHINE_FEWER},
        {"/src/a.cu", "stores", 14, 1, 3, MG_MACHINE_MORE},  {"/src/a.cu", "accesses", 15, 0, 1, MG_MACHINE_PREDICATED},
        {"/src/a.h", "loads", 5, 2, 1, MG_MACHINE_FEWER},    {"/src/a.cu", "stores", 17, 1, 0, MG_MACHINE_FEWER},
    };
    assert_int_equal(machine.changes.count, MG_COUNT(want));
    for (size_t i = 0; i < MG_COUNT(want); i++) {
        const struct mg_machine_change *c = &machine.changes.at[i];
        assert_string_equal(c->kernel->mangled, "k");
        assert_string_equal(c->file, want[i].file);
        assert_string_equal(c->what, want[i].what);
        assert_int_equal(c->line, want[i].line);
        assert_int_equal(c->written, want[i].written);
        assert_int_equal(c->made, want[i].made);
        assert_int_equal(c->kind, want[i].kind);
    }

    struct mg_style style = {.width = 80, .cwd = "/src"};
    struct mg_strbuf text = {0};
    assert_true(mg__machine_render(&machine, &style, &text));
    assert_string_equal(text.at, "\nChanged by ptxas, in kernels that diverge: a device may count otherwise here\n"
                                 "    a.cu:11  stores: 2 in PTX, 1 in machine code (joined or dropped)\n"
                                 "    a.cu:13  stores: 1 in PTX, 0 in machine code (joined or dropped)\n"
                                 "    a.cu:14  stores: 1 in PTX, 3 in machine code (copied)\n"
                                 "    a.cu:15  under a predicate, no branch: its instructions differ alone\n"
                                 "    a.h:5  loads: 2 in PTX, 1 in machine code (joined or dropped)\n"
                                 "    a.cu:17  stores: 1 in PTX, 0 in machine code (joined or dropped)\n");
    text.count = 0;
    assert_true(mg__machine_json(&machine, &text));
    static const char row[] = "{\"kernel\": \"k\", \"mangled\": \"k\", \"file\": \"/src/a.cu\", \"line\": 15, "
                              "\"change\": \"predicated\", \"what\": \"accesses\", \"written\": 0, \"made\": 1}";
    assert_non_null(strstr(text.at, row));
    mg__strbuf_free(&text);
    mg__machine_free(&machine);
    mg__tally_free(&tally);
}

/* Cut short anywhere, a listing is read as far as it goes; and what is no listing says nothing. */
static void damaged_listings(void **state)
{
    (void)state;
    for (size_t n = 0; n <= strlen(LISTING); n++) {
        struct mg_machine machine;
        mg__machine_init(&machine);
        char *copy = malloc(n ? n : 1); /* of its own: the address sanitizer sees what is read past it */
        assert_non_null(copy);
        memcpy(copy, LISTING, n);
        assert_true(mg__machine_read(&machine, copy, n));
        free(copy);
        mg__machine_free(&machine);
    }
    static const char *const other[] = {
        "", "\n\n", "nvdisasm fatal: no", "\t//## File \"a\", line 1\n/*0*/ STG x ;\n",
        SECTION("k") "\t//## File \"a\n" INSN("STG.E x") "\t//## File \"a\", line x\n"
                                                         "/*\n/**/\n/*0*/@\n/*0*/ @P0\n/*0*/ ;\n"};
    for (size_t i = 0; i < MG_COUNT(other); i++) {
        struct mg_machine machine;
        struct mg_strbuf text = {0};
        mg__machine_init(&machine);
        assert_true(mg__machine_read(&machine, other[i], strlen(other[i])));
        assert_false(machine.known);
        assert_true(mg__machine_render(&machine, &(struct mg_style){.width = 80}, &text));
        assert_int_equal(text.count, 0);
        mg__machine_free(&machine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_that_ptxas_changed), cmocka_unit_test(damaged_listings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
