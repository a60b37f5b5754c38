/* Linking the PTX of several translation units: symbols, private names, line tables. */
#include "device/link.h"
#include "ptx/source.h"

#include <setjmp.h>
#include <cmocka.h>

#define HEADER ".version 8.4\n.target sm_90\n.address_size 64\n"

static char *link_texts(const char *const *texts, size_t count, enum mg_status want, struct mg_diag *diag)
{
    struct mg_linker *linker;
    char *text = NULL;
    size_t length;
    enum mg_status status = mg__link_create(&linker);
    memset(diag, 0, sizeof(*diag));
    for (size_t i = 0; i < count && !status; i++)
        status = mg__link_add(linker, texts[i], strlen(texts[i]), diag);
    if (!status)
        status = mg__link_finish(linker, &text, &length, diag);
    mg__link_destroy(linker);
    assert_int_equal(status, want);
    if (!status)
        assert_int_equal(length, strlen(text));
    return text;
}

#define LINK(...)                                                                                                      \
    link_texts((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), MG_OK, \
               &(struct mg_diag){0})

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

static void functions_across_units(void **state)
{
    (void)state;
    char *t = LINK(HEADER ".extern .func (.param .b32 r) f\n(\n.param .b32 p\n)\n;\n"
                          ".visible .entry k()\n{\n call (r), f, (p);\n ret;\n}\n",
                   HEADER ".visible .func (.param .b32 r) f(.param .b32 p)\n{\n ret;\n}\n");
    assert_int_equal(count(t, ".version"), 1);
    assert_int_equal(count(t, ".extern"), 0);
    assert_int_equal(count(t, ".visible .func"), 2); /* its declaration, before its use, and its definition */
    assert_true(strstr(t, ".visible .func") < strstr(t, ".entry k"));
    free(t);
}

static void variables_across_units(void **state)
{
    (void)state;
    char *t = LINK(HEADER ".extern .global .align 4 .u32 x;\n.visible .global .u64 p = generic(x);\n",
                   HEADER ".visible .global .align 4 .u32 x = 5;\n.extern .const .b8 c[16];\n",
                   HEADER ".visible .const .b8 c[16] = {1, 2};\n");
    assert_int_equal(count(t, ".extern"), 0);
    assert_int_equal(count(t, " x = 5"), 1);
    assert_int_equal(count(t, ".b8 c[16]"), 1);
    assert_true(strstr(t, "x = 5") < strstr(t, "generic(x)"));
    free(t);
}

static void own_names_are_kept_apart(void **state)
{
    (void)state;
    char *t = LINK(HEADER ".global .b8 $str[3] = {65, 0};\n.visible .entry a() { mov.u64 %rd1, $str; }\n",
                   HEADER ".global .b8 $str[3] = {66, 0};\n.visible .entry b() { mov.u64 %rd1, $str; }\n");
    assert_int_equal(count(t, "$str$unit1"), 2);
    assert_int_equal(count(t, "$str"), 4);
    free(t);
}

static void weak_and_shared_once(void **state)
{
    const char *unit =
        HEADER ".extern .shared .align 16 .b8 dyn[];\n.extern .func (.param .b32 r) vprintf(.param .b64 f);\n"
               ".weak .func inlined() { ret; }\n.weak .global .u32 w = 3;\n";
    (void)state;
    char *t = LINK(unit, unit, unit);
    assert_int_equal(count(t, "dyn[]"), 1);
    assert_int_equal(count(t, "vprintf"), 1);
    assert_int_equal(count(t, "inlined"), 1);
    assert_int_equal(count(t, " w = 3"), 1);
    free(t);
}

static void lines_stay_right(void **state)
{
    (void)state;
    char *t = LINK(HEADER ".entry a() {\n.loc 2 10 5\n}\n.file 1 \"a.cu\"\n.file 2 \"h.h\"\n",
                   HEADER ".entry b() {\n.loc 1 7 1\n.loc 1 8 1, function_name $L__info_string0, inlined_at 1 9 1\n}\n"
                          ".file 1 \"b.cu\"\n.section .debug_str\n{\n$L__info_string0:\n.b8 95,0\n}\n");
    assert_non_null(strstr(t, ".file 2 \"h.h\""));
    assert_non_null(strstr(t, ".file 3 \"b.cu\""));
    assert_non_null(strstr(t, ".loc 2 10 5"));
    assert_non_null(strstr(t, ".loc 3 7 1"));
    assert_non_null(strstr(t, "$L__info_string0_unit1, inlined_at 3 9 1"));
    assert_non_null(strstr(t, "$L__info_string0_unit1:"));
    free(t);
}

static void newest_header_wins(void **state)
{
    (void)state;
    char *t = LINK(HEADER, ".version 9.0\n.target sm_90, debug\n.address_size 64\n.global .u32 x;\n", HEADER);
    assert_int_equal(strncmp(t, ".version 9.0\n.target sm_90, debug\n.address_size 64\n", 50), 0);
    free(t);
}

static void refused(void **state)
{
    struct mg_diag diag;
    (void)state;
    const char *twice[] = {HEADER ".visible .global .u32 x;\n", HEADER ".visible .global .u32 x;\n"};
    link_texts(twice, 2, MG_ERR_SYNTAX, &diag);
    assert_non_null(strstr(diag.message, "x is defined in two"));
    const char *functions[] = {HEADER ".visible .func f() {}\n", HEADER ".visible .func f() {}\n"};
    link_texts(functions, 2, MG_ERR_SYNTAX, &diag);
    static const char *const wrong[] = {"",
                                        "}",
                                        ".func",
                                        ".func f(",
                                        ".global .u32 x",
                                        HEADER ".entry {",
                                        "\"open",
                                        HEADER ".file 99999999999 \"a\"\n",
                                        HEADER ".global ;",
                                        "/* never ends"};
    for (size_t i = 0; i < MG_COUNT(wrong); i++)
        link_texts(&wrong[i], 1, MG_ERR_SYNTAX, &diag);
}

/* Source texts go along, under the numbers that their files have in the result. */
static void sources(void **state)
{
    char *units[2], *t;
    static const char *const texts[] = {"first\n", "second\n"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct mg_strbuf unit = {0};
        size_t length;
        char *block = mg__ptx_source_block(2, texts[i], strlen(texts[i]), &length);
        assert_true(mg__strbuf_printf(&unit, HEADER ".visible .entry k%u()\n{\n.loc 2 1 0\nret;\n}\n", i) &&
                    mg__strbuf_printf(&unit, ".file 1 \"h\"\n.file 2 \"k.cu\"\n%s", block) &&
                    mg__strbuf_printf(&unit, "\n//margay:source 9 3\n//Zm9v\n")); /* of no file */
        units[i] = unit.at;
        free(block);
    }
    t = LINK(units[0], units[1]);
    const char *at = t;
    struct mg_ptx_source source;
    for (unsigned i = 0; i < 2; i++) {
        assert_true(mg__ptx_source_next(&at, t + strlen(t), &source));
        assert_int_equal(source.file, 2 + 2 * i);
        char *back = mg__ptx_source_text(&source);
        assert_string_equal(back, texts[i]);
        free(back);
        free(units[i]);
    }
    assert_false(mg__ptx_source_next(&at, t + strlen(t), &source));
    assert_non_null(strstr(t, ".loc 4 1 0"));
    free(t);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_across_units),
        cmocka_unit_test(variables_across_units),
        cmocka_unit_test(own_names_are_kept_apart),
        cmocka_unit_test(weak_and_shared_once),
        cmocka_unit_test(lines_stay_right),
        cmocka_unit_test(newest_header_wins),
        cmocka_unit_test(sources),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
