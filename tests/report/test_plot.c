/* test_plot.c - pictures of lines and points: what a terminal shows, that SVG is well-formed whatever the names and
 * numbers are, and the axes' ticks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>

#include "report/plot_priv.h"

static const struct mg_style ascii = {.width = 44}, utf8 = {.width = 44, .utf8 = true};

static const double x[] = {1, 4, 6, 8}, y[] = {100, 75, 75, 25}, px = 5, py = 75;
static const char *const name = "here";
static const struct mg_plot_series steps[] = {
    {.name = NULL, .kind = MG_PLOT_STEPS, .x = x, .y = y, .n = 4},
    {.name = "point", .kind = MG_PLOT_POINTS, .x = &px, .y = &py, .labels = &name, .n = 1},
};
static const struct mg_plot plot = {.title = "title", .subtitle = "subtitle", .series = steps, .nseries = 2, .rows = 5,
                                    .x = {.label = "length (mm)", .max = 10, .step = 5},
                                    .y = {.label = "rate (%)", .max = 100, .step = 50}};

static void in_a_terminal(void **state)
{
    (void)state;
    static const char wanted[] = "title\n"
                                 "subtitle\n"
                                 "rate (%)\n"
                                 "    100 +   ***********\n"
                                 "        |             ****A**********\n"
                                 "     50 +                           *\n"
                                 "        |                           *******\n"
                                 "      0 +\n"
                                 "        ++----------------+---------------+\n"
                                 "         0                5              10\n"
                                 "                    length (mm)\n"
                                 "  A here  (5, 75)\n";
    struct mg_strbuf out = {0};
    assert_true(mg__plot_text(&plot, &ascii, &out));
    assert_string_equal(out.at, wanted);
    mg__strbuf_free(&out);
    assert_true(mg__plot_text(&plot, &utf8, &out));
    assert_non_null(strstr(out.at, "    100 ┤"));
    assert_non_null(strstr(out.at, "└┬──"));
    assert_non_null(strstr(out.at, "\xe2\xa0\xa4")); /* Braille */
    mg__strbuf_free(&out);
}

/* Tags match, and text holds no bare < or &. */
static void check_svg(const char *svg)
{
    char open[32][32];
    unsigned depth = 0;
    assert_memory_equal(svg, "<svg ", 5);
    for (const char *at = svg; *at; at++) {
        if (*at == '&')
            assert_true(!strncmp(at, "&lt;", 4) || !strncmp(at, "&gt;", 4) || !strncmp(at, "&amp;", 5) ||
                        !strncmp(at, "&quot;", 6));
        assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
        if (*at != '<')
            continue;
        const char *end = strchr(at, '>');
        assert_non_null(end);
        assert_null(memchr(at + 1, '<', (size_t)(end - at - 1)));
        if (at[1] == '/') {
            assert_true(depth > 0);
            depth--;
            assert_true(!strncmp(open[depth], at + 2, (size_t)(end - at - 2)));
        } else if (end[-1] != '/') {
            assert_true(depth < 32);
            snprintf(open[depth++], sizeof(open[0]), "%.*s", (int)strcspn(at + 1, " >"), at + 1);
        }
        at = end;
    }
    assert_int_equal(depth, 0);
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf"));
}

static void on_a_page(void **state)
{
    (void)state;
    struct mg_strbuf out = {0};
    assert_true(mg__plot_svg(&plot, &out));
    check_svg(out.at);
    static const char *const parts[] = {">title<",
                                        ">subtitle<",
                                        ">length (mm)<",
                                        ">rate (%)<",
                                        ">100<",
                                        ">here<",
                                        ">point<",
                                        "prefers-color-scheme:dark",
                                        "<title>here (5, 75)</title>"};
    for (size_t i = 0; i < MG_COUNT(parts); i++)
        if (!strstr(out.at, parts[i]))
            fail_msg("no %s in\n%s", parts[i], out.at);
    mg__strbuf_free(&out);
}

static void whatever_the_numbers(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY, 0, -1, 1e300, -1e300, 1e-300, 5, 5, 5, 5};
    const char *labels[MG_COUNT(bad)] = {"<b>&\"'\x1b[31m\x80", NULL, "", "a\nb",
                                         "long long long long long long long long long long"};
    for (unsigned n = 0; n <= MG_COUNT(bad); n += 3)
        for (unsigned mask = 0; mask < 16; mask++)
            for (unsigned kind = MG_PLOT_LINE; kind <= MG_PLOT_POINTS; kind++) {
                struct mg_plot_series series[3];
                for (unsigned i = 0; i < 3; i++)
                    series[i] = (struct mg_plot_series){.name = i ? "<&>" : NULL,
                                                        .kind = (enum mg_plot_kind)kind,
                                                        .x = bad + 12 - n,
                                                        .y = bad,
                                                        .n = n,
                                                        .labels = i == 2 ? labels : NULL,
                                                        .muted = i == 1};
                struct mg_plot p = {.title = mask & 1 ? "</svg>" : NULL, .series = series, .nseries = mask & 2 ? 3 : 1,
                                    .x = {.label = "<x>", .scale = mask & 4 ? MG_PLOT_LOG : MG_PLOT_LINEAR},
                                    .y = {.scale = mask & 8 ? MG_PLOT_LOG : MG_PLOT_LINEAR}};
                struct mg_strbuf out = {0};
                assert_true(mg__plot_svg(&p, &out));
                check_svg(out.at);
                mg__strbuf_free(&out);
                assert_true(mg__plot_text(&p, mask & 1 ? &utf8 : &ascii, &out));
                assert_null(strchr(out.at, '\x1b'));
                mg__strbuf_free(&out);
            }
}

static void numbers_and_ticks(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } numbers[] = {{0, "0"},           {0.25, "0.25"},   {1500, "1500"},  {12000, "12k"},
                   {3.35e12, "3.35T"}, {-40000, "-40k"}, {1e21, "1e+03E"}};
    for (size_t i = 0; i < MG_COUNT(numbers); i++) {
        char text[16];
        mg__plot_number(numbers[i].value, text);
        assert_string_equal(text, numbers[i].text);
    }
    struct mg_plot_range r;
    struct mg_plot p = {.x = {.scale = MG_PLOT_LOG, .min = 0.1, .max = 1000}, .y = {.max = 7}};
    mg__plot_range(&p, false, 9, &r);
    assert_true(r.nticks == 5 && fabs(r.ticks[0] - 0.1) < 1e-9 && fabs(r.ticks[4] - 1000) < 1e-6);
    assert_true(fabs(mg__plot_at(&r, 10) - 0.5) < 1e-9 && isnan(mg__plot_at(&r, 0)));
    mg__plot_range(&p, true, 4, &r);
    assert_true(r.nticks == 4 && r.ticks[1] == 2);
    double x0 = -1, y0 = 0.5, x1 = 2, y1 = 0.5;
    assert_true(mg__plot_clip(&x0, &y0, &x1, &y1) && x0 == 0 && x1 == 1 && y0 == 0.5);
    x0 = -1, y0 = -1, x1 = -0.5, y1 = 3;
    assert_false(mg__plot_clip(&x0, &y0, &x1, &y1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_a_terminal),
        cmocka_unit_test(on_a_page),
        cmocka_unit_test(whatever_the_numbers),
        cmocka_unit_test(numbers_and_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
