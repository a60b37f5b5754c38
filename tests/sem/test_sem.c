/* test_sem.c - every row of sem.def against other arithmetic and against an H100.
 *
 * Cases come from tests/isa/alu.def: every operation, spelt as PTX, with every modifier. Each is compared with the
 * reference (ref.h) on edge values and random ones; 16-bit operations of one operand on all of their values; and the
 * hash of its results with the one that an H100 gave. A row without a case or without a reference fails.
 */
#include "isa/alu.h"
#include "ref.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static struct alu_list list;

static int set_up(void **state)
{
    (void)state;
    char wrong[96];
    if (alu_cases(&list, wrong))
        return 0;
    print_error("alu.def: no row of sem.def for \"%s\"\n", wrong);
    return -1;
}
static int tear_down(void **state)
{
    (void)state;
    alu_free(&list);
    return 0;
}

static void rows_are_sorted_and_found(void **state)
{
    (void)state;
    for (int i = 0; i < MG_SEM_OP_COUNT; i++) {
        assert_int_equal(mg__sem_find(mg_sem_rows[i].name), i);
        if (i)
            assert_true(strcmp(mg_sem_rows[i - 1].name, mg_sem_rows[i].name) < 0);
    }
    assert_int_equal(mg__sem_find("add_u33"), -1);
    assert_int_equal(mg__sem_find(""), -1);
    assert_int_equal(mg__sem_find("zzz"), -1);
    assert_int_equal(mg__sem_find(NULL), -1);
}

static void every_row_has_a_case_and_a_reference(void **state)
{
    (void)state;
    static bool seen[MG_SEM_OP_COUNT];
    for (size_t i = 0; i < list.count; i++)
        seen[list.at[i].op] = true;
    int missing = 0;
    for (int i = 0; i < MG_SEM_OP_COUNT; i++) {
        uint64_t v[4] = {0}, r;
        bool known = true;
        struct alu_case c = {.op = i};
        snprintf(c.text, sizeof(c.text), "%s", mg_sem_rows[i].name);
        if (alu_is_exact(&c))
            known = ref_eval(mg_sem_rows[i].name, v, 0, &r);
        else
            ref_approx(mg_sem_rows[i].name, v, 0, 0, &known);
        if (!seen[i] || !known) {
            print_error("%s: %s%s\n", mg_sem_rows[i].name, seen[i] ? "" : "no case ", known ? "" : "no reference");
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

/* One comparison; tells about the first few that differ. */
static bool agrees(const struct alu_case *c, const uint64_t v[4], int *told)
{
    uint64_t got = mg__sem_eval((enum mg_sem_op)c->op, v, c->mode), want = 0;
    const char *row = mg_sem_rows[c->op].name;
    bool known, ok;
    if (alu_is_exact(c))
        ok = ref_eval(row, v, c->mode, &want) && got == want;
    else
        ok = ref_approx(row, v, c->mode, got, &known);
    if (!ok && (*told)++ < 3)
        print_error("%s (%s): %#llx %#llx %#llx %#llx -> %#llx, reference %#llx\n", c->text, row,
                    (unsigned long long)v[0], (unsigned long long)v[1], (unsigned long long)v[2],
                    (unsigned long long)v[3], (unsigned long long)got, (unsigned long long)want);
    return ok;
}

static void operations_agree_with_the_reference(void **state)
{
    (void)state;
    const uint32_t n = 2000;
    int wrong = 0;
    for (size_t k = 0; k < list.count; k++) {
        int told = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t v[4];
            alu_input(&list.at[k], i, n, v);
            wrong += !agrees(&list.at[k], v, &told);
        }
    }
    assert_int_equal(wrong, 0);
}

static void halves_agree_on_all_values(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t k = 0; k < list.count; k++) {
        const struct mg_sem_row *row = &mg_sem_rows[list.at[k].op];
        if (row->nargs != 1 || row->arg[0] != MG_SEM_B16 || !strstr(row->name, "f16"))
            continue;
        int told = 0;
        for (uint32_t i = 0; i < 0x10000; i++) {
            uint64_t v[4] = {i};
            wrong += !agrees(&list.at[k], v, &told);
        }
    }
    assert_int_equal(wrong, 0);
}

static void results_are_those_of_an_h100(void **state)
{
    (void)state;
    FILE *file = fopen("tests/sem/h100.txt", "r");
    assert_non_null(file);
    int wrong = 0;
    char line[160];
    bool *seen = calloc(list.count, sizeof(*seen));
    while (fgets(line, sizeof(line), file)) {
        char text[96];
        unsigned long long want;
        if (line[0] == '#' || sscanf(line, "%llx %95s", &want, text) != 2)
            continue;
        size_t k = 0;
        while (k < list.count && strcmp(list.at[k].text, text) != 0)
            k++;
        if (k == list.count) {
            print_error("h100.txt: no case \"%s\"\n", text);
            wrong++;
            continue;
        }
        seen[k] = true;
        uint64_t hash = ALU_HASH_START;
        for (uint32_t i = 0; i < ALU_H100_INPUTS; i++) {
            uint64_t v[4];
            alu_input(&list.at[k], i, ALU_H100_INPUTS, v);
            hash = alu_hash(hash, mg__sem_eval((enum mg_sem_op)list.at[k].op, v, list.at[k].mode));
        }
        if (hash != want) {
            print_error("%s: not what the H100 gave\n", text);
            wrong++;
        }
    }
    fclose(file);
    for (size_t k = 0; k < list.count; k++) {
        if (!seen[k] && alu_is_exact(&list.at[k])) {
            print_error("h100.txt has no line for %s\n", list.at[k].text);
            wrong++;
        }
    }
    free(seen);
    assert_int_equal(wrong, 0);
}

/* The interpreter compiles the same source for newer processors, where fma is an instruction: the same results. */
uint64_t mg__sem_eval_v3(enum mg_sem_op op, const uint64_t arg[4], uint32_t mode);
static void newer_processors_compute_the_same(void **state)
{
    (void)state;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
        skip();
    const uint32_t n = 2000;
    int wrong = 0;
    for (size_t k = 0; k < list.count; k++) {
        for (uint32_t i = 0; i < n; i++) {
            uint64_t v[4];
            enum mg_sem_op op = (enum mg_sem_op)list.at[k].op;
            alu_input(&list.at[k], i, n, v);
            if (mg__sem_eval(op, v, list.at[k].mode) != mg__sem_eval_v3(op, v, list.at[k].mode) && wrong++ < 10)
                print_error("%s differs\n", list.at[k].text);
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sorted_and_found),           cmocka_unit_test(every_row_has_a_case_and_a_reference),
        cmocka_unit_test(operations_agree_with_the_reference), cmocka_unit_test(halves_agree_on_all_values),
        cmocka_unit_test(results_are_those_of_an_h100),        cmocka_unit_test(newer_processors_compute_the_same),
    };
    return cmocka_run_group_tests_name("sem", tests, set_up, tear_down);
}
