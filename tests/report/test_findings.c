/* test_findings.c - findings put together, and what one looks like. The command's part is in tests/cli. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <unistd.h>

#include "report/render.h"

static const struct mg_style narrow = {.width = 60}, wide = {.width = 100, .utf8 = true};

/* A source file of four lines: what is marked in them is what the tests look at. */
static char path[] = "/tmp/margay-findings-XXXXXX";
static int make_source(void **state)
{
    static const char text[] = "    tile[threadIdx.x] = in[i];\n"
                               "\tint tiled = 2, sum = tile[y + tile[0]][x] + tile [3];\n"
                               "    helper(in);\n"
                               "    a[i] = b; /* \x1b[31m \xff */\n";
    (void)state;
    int fd = mkstemp(path);
    bool ok = fd >= 0 && write(fd, text, sizeof(text) - 1) == (ssize_t)(sizeof(text) - 1);
    return ok && close(fd) == 0 ? 0 : -1;
}

static int remove_source(void **state)
{
    (void)state;
    return unlink(path);
}

static struct mg_report_finding race(void)
{
    return (struct mg_report_finding){.check = "race", .kind = "write-read", .severity = MG_SEVERITY_ERROR,
                                      .kernel = "sum(int*)", .mangled = "_Z3sumPi", .file = path, .other_file = path,
                                      .line = 2, .other_line = 1, .variable = "tile[7]", .count = 1,
                                      .message = "thread (0,0,0) reads tile[7]", .advice = "Wait for it."};
}

/* What is rendered, for a style; in memory that the caller frees. */
static char *rendered(struct mg_report_finding f, const struct mg_style *style)
{
    struct mg_strbuf out = {0};
    struct mg_sources sources;
    f.kernel = f.kernel ? f.kernel : "";
    f.other_file = f.other_file ? f.other_file : "";
    mg__sources_init(&sources, NULL);
    assert_true(mg__render_finding(&f, &sources, style, &out));
    mg__sources_free(&sources);
    return out.at;
}

static void expect(struct mg_report_finding f, const struct mg_style *style, const char *wanted)
{
    char *text = rendered(f, style);
    if (!strstr(text, wanted))
        fail_msg("no\n%s\nin\n%s", wanted, text);
    free(text);
}

/* The caret is under the variable, with what its brackets hold, and not under a longer name that begins the same. */
static void marks(void **state)
{
    (void)state;
    struct mg_report_finding f = race();
    expect(f, &wide, "     2 | int tiled = 2, sum = tile[y + tile[0]][x] + tile [3];\n"
                     "       |                      ^~~~~~~~~~~~~~~~~~~~\n"
                     "     1 | tile[threadIdx.x] = in[i];\n"
                     "       | ^~~~~~~~~~~~~~~~~ the other access\n");
    f.column = 47; /* the compiler says which: the last */
    expect(f, &wide, "       |                                             ^~~~~~~~\n");
    f.variable = "nowhere";
    f.column = 6;
    expect(f, &wide, "       |     ^\n");
    f.column = 4000; /* past the line's end */
    expect(f, &wide, "       | ^\n");
    f = race();
    f.line = 3; /* not named: the beginning of the line */
    expect(f, &wide, "     3 | helper(in);\n       | ^\n     1 |");
}

static void places(void **state)
{
    (void)state;
    struct mg_report_finding f = race();
    f.other_line = f.line;
    expect(f, &wide, "         both accesses are on this line\n");
    f.check = "barrier";
    f.other_line = 1;
    expect(f, &wide, "^~~~~~~~~~~~~~~~~ the others are here\n");
    f.other_line = 4711;
    expect(f, &wide, "  4711 | (not to be read) the others are here\n");
    f.other_file = "/nonexistent/b.cu";
    f.other_line = 9;
    expect(f, &wide, "  --> /nonexistent/b.cu:9\n     9 | (not to be read) the others are here\n");
    f.file = f.other_file = "/nonexistent/a.cu";
    f.other_line = 0;
    expect(f, &wide, "  --> /nonexistent/a.cu:2\n  thread (0,0,0) reads tile[7]\n");
    f.line = 0; /* a finding of the host side */
    f.kernel = NULL;
    expect(f, &wide, "margay: error: barrier/write-read\n  thread");
}

static void sentences(void **state)
{
    (void)state;
    struct mg_report_finding f = race();
    f.count = 1234;
    expect(f, &wide, "  thread (0,0,0) reads tile[7] (1,234 times)\n  fix: Wait for it.\n");
    f.variable = "other[3]"; /* not in the sentence: told behind it */
    expect(f, &wide, "reads tile[7]; at other[3] (1,234 times)\n");
    f.message = "";
    expect(f, &wide, "  at other[3] (1,234 times)\n");
    f.message = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
    expect(f, &narrow,
           "  one two three four five six seven eight nine ten eleven\n    twelve thirteen fourteen; at other[3] "
           "(1,234 times)\n");
    f.advice = "";
    char *text = rendered(f, &wide);
    assert_null(strstr(text, "fix:"));
    free(text);
}

/* Nothing that a source file or a name holds reaches the terminal as a control sequence;
 * colours only when asked for. */
static void hostile(void **state)
{
    (void)state;
    struct mg_report_finding f = race();
    f.line = 4;
    f.kernel = "k\x1b]0;title\a\xc3";
    f.message = "\x1b[2J\xff\n\t\r message";
    f.variable = "[[[[";
    f.advice = "%s%n";
    for (unsigned width = 0; width < 70; width++) {
        struct mg_style style = {.width = width, .utf8 = width & 1};
        char *text = rendered(f, &style);
        assert_null(strpbrk(text, "\x1b\a\r"));
        assert_non_null(strstr(text, "fix: %s%n"));
        free(text);
    }
    struct mg_style colour = {.width = 80, .color = true};
    char *text = rendered(race(), &colour);
    assert_non_null(strstr(text, "\x1b["));
    free(text);
}

/* One record for a pair of lines and a variable, whatever the element and however many launches. */
static void merged(void **state)
{
    (void)state;
    struct mg_findings all;
    struct mg_report_finding f = race();
    mg__findings_init(&all);
    f.count = 3;
    assert_int_equal(mg__findings_add(&all, &f), MG_OK);
    f.variable = "tile[9]";
    f.message = "a later one";
    f.count = UINT64_MAX;
    assert_int_equal(mg__findings_add(&all, &f), MG_OK);
    assert_int_equal(all.at.count, 1);
    assert_string_equal(all.at.at[0]->variable, "tile[7]");
    assert_string_equal(all.at.at[0]->message, "thread (0,0,0) reads tile[7]");
    assert_true(all.at.at[0]->count == UINT64_MAX); /* counts stay at the end of their range */

    struct mg_report_finding other[] = {race(), race(), race(), race(), race(), race()};
    other[0].severity = MG_SEVERITY_WARNING;
    other[1].line = 1;
    other[2].other_line = 2;
    other[3].variable = "title[7]";
    other[4].mangled = "_Z3sumPf";
    other[5].kind = "read-write";
    for (size_t i = 0; i < MG_COUNT(other); i++)
        assert_int_equal(mg__findings_add(&all, &other[i]), MG_OK);
    assert_int_equal(all.at.count, 1 + MG_COUNT(other));
    struct mg_report_finding host = {.check = "bounds", .kind = "leak", .severity = MG_SEVERITY_WARNING};
    assert_int_equal(mg__findings_add(&all, &host), MG_OK);
    assert_string_equal(all.at.at[all.at.count - 1]->message, ""); /* no string is NULL from here on */
    assert_true(all.at.at[all.at.count - 1]->count == 1);

    mg__findings_sort(&all);
    for (size_t i = 1; i < all.at.count; i++) {
        const struct mg_report_finding *a = all.at.at[i - 1], *b = all.at.at[i];
        assert_true(a->severity >= b->severity);
        if (a->severity == b->severity && !strcmp(a->file, b->file))
            assert_true(a->line <= b->line);
    }
    assert_string_equal(all.at.at[0]->kind, "write-read");
    assert_int_equal(all.at.at[0]->line, 1);
    mg__findings_free(&all);
}

/* The order does not depend on the one in which findings came. */
static void order(void **state)
{
    (void)state;
    struct mg_report_finding f[6];
    char *first = NULL;
    for (size_t i = 0; i < MG_COUNT(f); i++) {
        f[i] = race();
        f[i].line = (uint32_t)(1 + i % 3);
        f[i].kind = i % 2 ? "write-read" : "write-write";
    }
    for (size_t turn = 0; turn < MG_COUNT(f); turn++) {
        struct mg_findings all;
        struct mg_strbuf text = {0};
        mg__findings_init(&all);
        for (size_t i = 0; i < MG_COUNT(f); i++)
            assert_int_equal(mg__findings_add(&all, &f[(i * 5 + turn) % MG_COUNT(f)]), MG_OK);
        mg__findings_sort(&all);
        for (size_t i = 0; i < all.at.count; i++)
            assert_true(mg__report_finding_json(all.at.at[i], &text) && mg__strbuf_printf(&text, "\n"));
        mg__findings_free(&all);
        if (first)
            assert_string_equal(text.at, first);
        else
            first = strdup(text.at);
        mg__strbuf_free(&text);
    }
    free(first);
}

/* What waits for ever comes behind what it may come of, wherever the two stand. */
static void waits_last(void **state)
{
    (void)state;
    struct mg_findings all;
    struct mg_report_finding wait = race(), cause = race();
    wait.check = "barrier";
    wait.kind = "not-reached";
    wait.line = 1;
    mg__findings_init(&all);
    assert_int_equal(mg__findings_add(&all, &wait), MG_OK);
    assert_int_equal(mg__findings_add(&all, &cause), MG_OK);
    mg__findings_sort(&all);
    assert_string_equal(all.at.at[0]->check, "race");
    assert_string_equal(all.at.at[1]->check, "barrier");
    mg__findings_free(&all);
}

/* What is written is read back; cut short anywhere or changed, it is damage and nothing worse. */
static void round_trip(void **state)
{
    (void)state;
    struct mg_report_finding f = race();
    f.column = 12;
    f.other_column = 5;
    f.count = (uint64_t)1 << 40;
    f.message = "\"quoted\" \\ \x01 \xff";
    struct mg_strbuf text = {0};
    assert_true(mg__strbuf_printf(&text, "{\"record\": \"finding\", \"finding\": ") &&
                mg__report_finding_json(&f, &text) && mg__strbuf_printf(&text, "}"));
    struct mg_arena arena;
    struct mg_record r;
    mg__arena_init(&arena);
    assert_int_equal(mg__record_parse(text.at, text.count, &arena, &r), MG_OK);
    assert_int_equal(r.kind, MG_RECORD_FINDING);
    assert_string_equal(r.finding.check, "race");
    assert_string_equal(r.finding.kernel, f.kernel);
    assert_string_equal(r.finding.variable, f.variable);
    assert_string_equal(r.finding.advice, f.advice);
    assert_int_equal(r.finding.severity, f.severity);
    assert_int_equal(r.finding.line, 2);
    assert_int_equal(r.finding.other_line, 1);
    assert_int_equal(r.finding.column, 12);
    assert_int_equal(r.finding.other_column, 5);
    assert_true(r.finding.count == f.count);
    assert_non_null(strstr(r.finding.message, "\"quoted\" \\ "));
    for (size_t n = 0; n < text.count; n++) {
        char was = text.at[n], *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        memcpy(copy, text.at, n);
        assert_int_equal(mg__record_parse(copy, n, &arena, &r), MG_ERR_SYNTAX);
        free(copy);
        text.at[n] = "\"{}[],:0-e\\\x01\xff"[n % 13];
        (void)mg__record_parse(text.at, text.count, &arena, &r);
        text.at[n] = was;
    }
    mg__arena_free(&arena);
    mg__strbuf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks),  cmocka_unit_test(places), cmocka_unit_test(sentences), cmocka_unit_test(hostile),
        cmocka_unit_test(merged), cmocka_unit_test(order), cmocka_unit_test(waits_last),  cmocka_unit_test(round_trip),
    };
    return cmocka_run_group_tests(tests, make_source, remove_source);
}
