/* test_render.c - records read back, added up, and laid out. What the tables look like as a whole is in tests/cli. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <unistd.h>

#include "report/render.h"

static const struct mg_style wide = {.width = 80, .utf8 = true}, ascii = {.width = 80};

static enum mg_status parse(const char *line, size_t length, struct mg_arena *arena, struct mg_record *record)
{
    /* The text in memory of its own: reading past it is an error that the address sanitizer sees. */
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, line, length);
    enum mg_status status = mg__record_parse(copy, length, arena, record);
    free(copy);
    return status;
}

/* Launches that come again are read as the first one is, whatever came between. */
static void repeats(void **state)
{
    (void)state;
    static const char *const seconds[] = {"0.000012345", "0.25", "3", "1.5x", "", "1e3", "-1", "0.000000001", "1.2.3"};
    struct mg_repeats kept = {0};
    for (unsigned i = 0; i < 3 * 50 * MG_COUNT(seconds); i++) {
        unsigned kernel = i / 3 % 50; /* more than are kept */
        struct mg_strbuf text = {0};
        assert_true(mg__strbuf_printf(
            &text,
            "{\"record\": \"launch\", \"launch\": {\"kernel\": \"k%u \\\"seconds\\\": 7\", \"seconds\": %s, "
            "\"metrics\": {\"smsp__inst_executed.sum\": %u}, \"lines\": [{\"file\": \"a\", \"line\": %u}]%s}}",
            kernel, seconds[(i + i / 3) % MG_COUNT(seconds)], kernel % 7, kernel % 3, i % 11 ? "" : ", \"x\": 1"));
        struct mg_arena arena, other;
        struct mg_record got, plain;
        mg__arena_init(&arena);
        mg__arena_init(&other);
        char *copy = malloc(text.count);
        assert_non_null(copy);
        memcpy(copy, text.at, text.count);
        enum mg_status status = mg__record_repeat(&kept, copy, text.count, &arena, &got);
        free(copy);
        assert_int_equal(status, parse(text.at, text.count, &other, &plain));
        if (status == MG_OK) {
            assert_int_equal(got.kind, plain.kind);
            assert_string_equal(got.launch.kernel, plain.launch.kernel);
            assert_true(got.launch.seconds == plain.launch.seconds);
            assert_memory_equal(&got.launch.metrics, &plain.launch.metrics, sizeof(plain.launch.metrics));
            assert_int_equal(got.launch.nlines, plain.launch.nlines);
            assert_int_equal(got.launch.lines[0].line, plain.launch.lines[0].line);
        }
        mg__arena_free(&arena);
        mg__arena_free(&other);
        mg__strbuf_free(&text);
    }
    mg__repeats_free(&kept);
}

/* What the writer writes, the reader reads. */
static void round_trip(void **state)
{
    (void)state;
    struct mg_report_line lines[2] = {
        {.file = "dir/\"a\".cu", .line = 7, .written = {.loads = 1, .stores = 2, .atomics = 3, .guarded = 4}},
        {.file = "", .line = 0}};
    struct mg_report_var vars[1] = {{.name = "tile", .offset = 16, .size = 4096}};
    struct mg_report_launch in = {.kernel = "k(float*)", .mangled = "_Z1kPf", .device = 2, .grid = {2147483647, 2, 3},
                                  .block = {32, 4, 1}, .shared_static = 4112, .shared_dynamic = 64, .regs = 24,
                                  .seconds = 0.25, .status = MG_ERR_TRAP, .lines = lines, .nlines = 2, .vars = vars,
                                  .nvars = 1};
    for (unsigned m = 0; m < MG_METRIC_COUNT; m++) {
        in.metrics.v[m] = ((uint64_t)1 << 53) + m;
        lines[0].metrics.v[m] = m + 1;
    }
    vars[0].metrics.v[MG_METRIC_WAVEFRONTS_SHARED] = 5;
    struct mg_strbuf text = {0};
    assert_true(mg__strbuf_printf(&text, "{\"record\": \"launch\", \"launch\": ") &&
                mg__report_launch_json(&in, false, &text) && mg__strbuf_printf(&text, "}"));
    struct mg_arena arena;
    struct mg_record r;
    mg__arena_init(&arena);
    assert_int_equal(parse(text.at, text.count, &arena, &r), MG_OK);
    assert_int_equal(r.kind, MG_RECORD_LAUNCH);
    assert_string_equal(r.launch.kernel, in.kernel);
    assert_string_equal(r.launch.mangled, in.mangled);
    assert_int_equal(r.launch.device, in.device);
    assert_memory_equal(&r.launch.grid, &in.grid, sizeof(in.grid));
    assert_memory_equal(&r.launch.block, &in.block, sizeof(in.block));
    assert_int_equal(r.launch.shared_static, 4112);
    assert_int_equal(r.launch.shared_dynamic, 64);
    assert_int_equal(r.launch.regs, 24);
    assert_true(r.launch.seconds == 0.25);
    assert_int_equal(r.launch.status, MG_ERR_TRAP);
    assert_memory_equal(&r.launch.metrics, &in.metrics, sizeof(in.metrics));
    assert_int_equal(r.launch.nlines, 2);
    assert_string_equal(r.launch.lines[0].file, "dir/\"a\".cu");
    assert_int_equal(r.launch.lines[0].line, 7);
    assert_memory_equal(&r.launch.lines[0].written, &lines[0].written, sizeof(lines[0].written));
    assert_memory_equal(&r.launch.lines[1].written, &lines[1].written, sizeof(lines[1].written));
    for (unsigned m = 0; m < MG_METRIC_SHARED_STATIC; m++)
        assert_int_equal(r.launch.lines[0].metrics.v[m], m + 1);
    assert_int_equal(r.launch.nvars, 1);
    assert_string_equal(r.launch.vars[0].name, "tile");
    assert_int_equal(r.launch.vars[0].metrics.v[MG_METRIC_WAVEFRONTS_SHARED], 5);
    /* Read from a brief line, it is written out as if the line had been whole. */
    in.regs_from = "machine code for 9.0";
    struct mg_strbuf brief = {0}, out = {0};
    text.count = 0;
    assert_true(mg__strbuf_printf(&brief, "{\"record\": \"launch\", \"launch\": ") &&
                mg__report_launch_json(&in, true, &brief) && mg__strbuf_printf(&brief, "}") &&
                mg__report_launch_json(&in, false, &text));
    assert_int_equal(parse(brief.at, brief.count, &arena, &r), MG_OK);
    assert_true(mg__report_launch_json(&r.launch, false, &out));
    assert_string_equal(out.at, text.at);
    assert_true(brief.count < text.count);
    mg__strbuf_free(&brief);
    mg__strbuf_free(&out);
    text.count = 0;
    assert_true(mg__strbuf_printf(&text, "{\"record\": \"launch\", \"launch\": ") &&
                mg__report_launch_json(&in, false, &text) && mg__strbuf_printf(&text, "}"));

    /* Cut short anywhere, it is damage and nothing worse; with one byte changed, it may be anything but a crash. */
    for (size_t n = 0; n < text.count; n++) {
        struct mg_record broken;
        assert_int_equal(parse(text.at, n, &arena, &broken), MG_ERR_SYNTAX);
    }
    for (size_t n = 0; n < text.count; n++) {
        struct mg_record broken;
        char was = text.at[n];
        static const char others[] = "\"{}[],:0-e\\\x01\xff";
        text.at[n] = others[n % (sizeof(others) - 1)];
        parse(text.at, text.count, &arena, &broken);
        text.at[n] = was;
    }
    mg__arena_free(&arena);
    mg__strbuf_free(&text);
}

static void odd_records(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum mg_status status;
        enum mg_record_kind kind;
    } rows[] = {
        {"", MG_ERR_SYNTAX, MG_RECORD_UNKNOWN},
        {"null", MG_ERR_SYNTAX, MG_RECORD_UNKNOWN},
        {"[]", MG_ERR_SYNTAX, MG_RECORD_UNKNOWN},
        {"{}", MG_ERR_SYNTAX, MG_RECORD_UNKNOWN},
        {"{\"record\": 1}", MG_ERR_SYNTAX, MG_RECORD_UNKNOWN},
        {"{\"record\": \"later\"}", MG_OK, MG_RECORD_UNKNOWN},
        {"{\"record\": \"end\"}", MG_OK, MG_RECORD_END},
        {"{\"record\": \"header\", \"device\": 7}", MG_OK, MG_RECORD_HEADER},
        {"{\"record\": \"launch\", \"launch\": []}", MG_ERR_SYNTAX, MG_RECORD_LAUNCH},
        {"{\"record\": \"launch\", \"launch\": {}}", MG_OK, MG_RECORD_LAUNCH},
        {"{\"record\": \"launch\", \"launch\": {\"grid\": [-1, 1e9], \"lines\": 3, \"variables\": [7], \"regs\": -2,"
         " \"shared_static\": 99999999999}}", MG_OK, MG_RECORD_LAUNCH},
        {"{\"record\": \"error\"}", MG_OK, MG_RECORD_ERROR},
        {"{\"record\": \"warning\"}", MG_OK, MG_RECORD_WARNING},
        {"{\"record\": \"progress\", \"done\": \"x\"}", MG_OK, MG_RECORD_PROGRESS},
        {"{\"record\": \"finding\"}", MG_ERR_SYNTAX, MG_RECORD_FINDING},
        {"{\"record\": \"finding\", \"finding\": {\"kind\": \"race\"}}", MG_OK, MG_RECORD_FINDING},
    };
    struct mg_arena arena;
    mg__arena_init(&arena);
    for (size_t i = 0; i < MG_COUNT(rows); i++) {
        struct mg_record r;
        enum mg_status status = parse(rows[i].line, strlen(rows[i].line), &arena, &r);
        if (status != rows[i].status || r.kind != rows[i].kind)
            fail_msg("%s: status %d, kind %d", rows[i].line, status, r.kind);
    }
    mg__arena_free(&arena);
}

static void tally(void **state)
{
    (void)state;
    struct mg_report_line first[] = {{.file = "a.cu", .line = 1}, {.file = "a.cu", .line = 2}};
    struct mg_report_line second[] = {{.file = "a.cu", .line = 2}, {.file = "b.cu", .line = 2}};
    struct mg_report_launch a = {.kernel = "k()", .mangled = "_Z1kv", .grid = {1, 1, 1}, .block = {32, 1, 1},
                                 .lines = first, .nlines = 2, .seconds = 1};
    struct mg_report_launch b = a, other = {.kernel = "z()", .mangled = "_Z1zv", .grid = {1, 1, 1}, .block = {1, 1, 1}};
    b.grid.x = 2;
    b.lines = second;
    b.status = MG_ERR_TRAP;
    a.metrics.v[MG_METRIC_SHARED_STATIC] = b.metrics.v[MG_METRIC_SHARED_STATIC] = 64;
    first[1].metrics.v[MG_METRIC_INST] = second[0].metrics.v[MG_METRIC_INST] = 10;
    other.metrics.v[MG_METRIC_SECTORS_GLOBAL] = 1;
    struct mg_tally t;
    for (int by_shape = 0; by_shape < 2; by_shape++) {
        mg__tally_init(&t, by_shape);
        assert_int_equal(mg__tally_add(&t, &a), MG_OK);
        assert_int_equal(mg__tally_add(&t, &b), MG_OK);
        assert_int_equal(mg__tally_add(&t, &a), MG_OK);
        assert_int_equal(mg__tally_add(&t, &other), MG_OK);
        mg__tally_sort(&t);
        assert_int_equal(t.kernels.count, by_shape ? 3 : 2);
        assert_string_equal(t.kernels.at[0]->kernel, "z()"); /* it moved a sector: the costliest */
        const struct mg_tally_kernel *k = t.kernels.at[1];
        assert_string_equal(k->kernel, "k()");
        assert_int_equal(k->launches, by_shape ? 2 : 3);
        assert_int_equal(k->failed, by_shape ? 0 : 1);
        assert_int_equal(k->shapes_differ, !by_shape);
        assert_int_equal(k->metrics.v[MG_METRIC_SHARED_STATIC], 64); /* of a block, in however many launches */
        assert_int_equal(k->lines.count, by_shape ? 2 : 3);
        assert_int_equal(k->lines.at[1].metrics.v[MG_METRIC_INST], by_shape ? 20 : 30);
        mg__tally_free(&t);
    }
}

static void layout_numbers(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        const char *text;
    } rows[] = {
        {0, "         0"},          {999, "       999"},         {1000, "     1,000"},
        {99999999, "99,999,999"},   {100000000, "   100.0 M"},   {999949999, "   999.9 M"},
        {999950000, "     1.0 G"},  {UINT64_MAX, "    18.4 E"},  {1234567890123, "     1.2 T"},
    };
    for (size_t i = 0; i < MG_COUNT(rows); i++) {
        struct mg_strbuf out = {0};
        assert_true(mg__layout_number(&out, rows[i].value, 10));
        assert_string_equal(out.at, rows[i].text);
        mg__strbuf_free(&out);
    }
}

static void layout_text(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        unsigned width;
        const char *out;
        unsigned used;
        bool ascii;
    } rows[] = {
        {"abc", 3, "abc", 3, false},
        {"abcd", 3, "ab…", 3, false},
        {"abcdefg", 6, "abc...", 6, true},
        {"abc", 0, "", 0, false},
        {"abc", 2, "", 0, true},                  /* no room for the dots */
        {"\xc3\xa9\xc3\xa9\xc3\xa9", 3, "\xc3\xa9\xc3\xa9\xc3\xa9", 3, false},
        {"\xc3\xa9\xc3\xa9", 3, "??", 2, true},
        {"e\xcc\x81x", 2, "e\xcc\x81x", 2, false}, /* a combining accent takes no column */
        {"\xe6\xbc\xa2\xe5\xad\x97", 3, "\xe6\xbc\xa2…", 3, false}, /* wide characters take two */
        {"a\tb\x1b[31m\x7f", 80, "a b?[31m?", 9, false},            /* no escape sequences from outside */
        {"\xc2\x9b" "1m", 80, "?1m", 3, false},
        {"\xe2\x80\xae" "x", 80, "?x", 2, false},                   /* nor text turned around */
        {"\xff\xfe", 80, "??", 2, false},
    };
    for (size_t i = 0; i < MG_COUNT(rows); i++) {
        struct mg_strbuf out = {0};
        unsigned used = 99;
        assert_true(mg__layout_text(&out, rows[i].ascii ? &ascii : &wide, rows[i].in, strlen(rows[i].in),
                                    rows[i].width, &used));
        assert_string_equal(out.at, rows[i].out);
        assert_int_equal(used, rows[i].used);
        mg__strbuf_free(&out);
    }
}

static void sources(void **state)
{
    (void)state;
    char path[] = "/tmp/margay-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    static const char text[] = "first\n\t  second \r\n\nlast";
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    close(fd);
    struct mg_sources s;
    const char *line;
    size_t length, indent;
    mg__sources_init(&s, NULL);
    assert_true(mg__sources_line(&s, path, 1, &line, &length, &indent));
    assert_int_equal(length, 5);
    assert_int_equal(indent, 0);
    assert_true(mg__sources_line(&s, path, 2, &line, &length, &indent));
    assert_int_equal(length, 6);
    assert_memory_equal(line, "second", 6);
    assert_int_equal(indent, 3);
    assert_false(mg__sources_line(&s, path, 3, &line, &length, NULL));
    assert_true(mg__sources_line(&s, path, 4, &line, &length, NULL));
    assert_memory_equal(line, "last", 4);
    assert_false(mg__sources_line(&s, path, 5, &line, &length, NULL));
    assert_false(mg__sources_line(&s, path, 0, &line, &length, NULL));
    assert_false(mg__sources_line(&s, path, UINT32_MAX, &line, &length, NULL));
    assert_false(mg__sources_line(&s, "/no/such/file.cu", 1, &line, &length, NULL));
    assert_false(mg__sources_line(&s, "/tmp", 1, &line, &length, NULL));
    assert_false(mg__sources_line(&s, "", 1, &line, &length, NULL));
    mg__sources_free(&s);
    unlink(path);
}

/* Rendering must survive any width and hostile names. */
static void any_width(void **state)
{
    (void)state;
    static const char *const names[] = {"", "k", "void f<(ns::e)3>(int)", "(anonymous namespace)::inner<int>(float*)",
                                        ">>>>((((", "\xff\xfe\x1b[2J", "a::b<c, d(e)>::operator()(int) const"};
    struct mg_tally t;
    mg__tally_init(&t, true);
    for (size_t i = 0; i < MG_COUNT(names); i++) {
        struct mg_report_line line = {
            .file = "/a/very/long/path/that/goes/on/and/on/for/more/than/half/the/width/of/it.cu", .line = 4000000000u};
        struct mg_report_var var = {.name = names[i], .size = 1};
        line.metrics.v[MG_METRIC_WAVEFRONTS_SHARED] = UINT64_MAX;
        var.metrics.v[MG_METRIC_WAVEFRONTS_SHARED] = 1;
        struct mg_report_launch l = {.kernel = names[i], .mangled = names[i], .lines = &line, .nlines = 1,
                                     .vars = &var, .nvars = 1, .metrics = line.metrics};
        assert_int_equal(mg__tally_add(&t, &l), MG_OK);
    }
    mg__tally_sort(&t);
    const struct mg_report_device device = {.name = "d", .cc = 90, .sm_count = 1};
    for (unsigned width = 1; width < 200; width += 7) {
        const struct mg_style style = {.width = width, .utf8 = width % 2, .color = width % 3 == 0, .cwd = "/a/very"};
        struct mg_strbuf out = {0};
        struct mg_diag diag;
        memset(&diag, 0, sizeof(diag));
        mg__diag_set(&diag, MG_ERR_TRAP, "%s", names[5]);
        mg__diag_at(&diag, "f.cu", 1, width);
        mg__diag_excerpt(&diag, "abc", 3);
        assert_true(mg__render_profile(&t, &device, &style, &out));
        assert_true(mg__render_summary(&t, &style, &out));
        assert_true(mg__render_error(names[3], &diag, &style, &out));
        assert_true(mg__render_warning(names[3], &diag, &style, &out));
        assert_non_null(strstr(out.at, "warning: "));
        assert_null(strstr(out.at, "\x1b[2J"));
        if (!style.color)
            assert_null(strchr(out.at, '\x1b'));
        mg__strbuf_free(&out);
    }
    mg__tally_free(&t);
}

/* What has no column has a line, and a kernel without it has none. */
static void other_units(void **state)
{
    (void)state;
    struct mg_tally t;
    mg__tally_init(&t, true);
    struct mg_report_launch with = {.kernel = "with", .mangled = "with"}, without = {.kernel = "not", .mangled = "not"};
    with.metrics.v[MG_METRIC_TENSOR] = 4;
    with.metrics.v[MG_METRIC_OPS_FP16] = 4096;
    with.metrics.v[MG_METRIC_OPS_INT8] = 1;
    with.metrics.v[MG_METRIC_SECTORS_BULK_ST] = 2;
    with.metrics.v[MG_METRIC_SECTORS_BULK_RED] = 3;
    with.metrics.v[MG_METRIC_SECTORS_FAR] = 7;
    with.metrics.v[MG_METRIC_SECTORS_FAR_LD] = 7;
    assert_int_equal(mg__tally_add(&t, &with), MG_OK);
    assert_int_equal(mg__tally_add(&t, &without), MG_OK);
    mg__tally_sort(&t);
    const struct mg_report_device device = {.name = "d", .cc = 90, .sm_count = 1};
    const struct mg_style style = {.width = 100, .utf8 = true, .cwd = "/"};
    struct mg_strbuf out = {0};
    assert_true(mg__render_profile(&t, &device, &style, &out));
    const char *found = strstr(out.at, "    tensor cores: 4 instructions, 4,097 operations\n"
                                       "    bulk copies: 5 sectors stored\n"
                                       "    between blocks of a cluster: 7 sectors\n");
    assert_non_null(found);
    assert_null(strstr(found + sizeof("    tensor cores"), "tensor cores"));
    mg__strbuf_free(&out);
    mg__tally_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats),
        cmocka_unit_test(round_trip),  cmocka_unit_test(odd_records), cmocka_unit_test(tally),
        cmocka_unit_test(layout_numbers), cmocka_unit_test(layout_text), cmocka_unit_test(sources),
        cmocka_unit_test(any_width), cmocka_unit_test(other_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
