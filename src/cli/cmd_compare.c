/* cmd_compare.c - `margay compare A B`: which of two kernels is faster on the device, how sure that is, and why.
 *
 * A and B are reports of `profile --time --json`, or programs, which are run so. Of a program or report with several
 * kernels one is named (A:REGEX); else kernels of one name are compared. `diff` holds counts and findings of two
 * reports to each other, for whoever guards a build; this asks for the time alone, by the model of docs/time.md.
 *
 * How sure: the model's range holds four launches of five, so the logarithm of what it is off by is taken to be
 * normal, 1.28 deviations wide either way, and that of the two independent. Mistakes that both share are then counted
 * twice.
 */
#include "compare.h"
#include "cli.h"

#include <getopt.h>
#include <math.h>
#include <regex.h>
#include <unistd.h>

enum { OPT_JSON = 1000, OPT_BOARD, OPT_NVCC_ARGS, OPT_LAUNCHES, OPT_HELP, OPT_VERSION };
static const struct mg_cli_option table[] = {
    {OPT_JSON, "json", NULL, "write JSON", 1},
    {OPT_BOARD, "board", "NAME", "of programs: simulate a board, such as h200", 1},
    {OPT_LAUNCHES, "launches", "N", "of programs: look at the first N launches alone", 1},
    {OPT_NVCC_ARGS, "nvcc-args", "ARGS", "more arguments for nvcc, when a .cu file is given", 1},
    {OPT_HELP, "help", NULL, "show this help", 1},
    {OPT_VERSION, "version", NULL, "show the version", 1},
};
static const struct {
    enum mg_metric metric;
    const char *name;
} parts[] = {
#define PART(id, metric, name) {MG_METRIC_##metric, name},
#include "report/part.def"
};
static const struct {
    enum mg_metric metric;
    const char *name;
} counts[] = {{MG_METRIC_INST, "instructions"},
              {MG_METRIC_SECTORS_GLOBAL, "sectors"},
              {MG_METRIC_WAVEFRONTS_SHARED, "wavefronts"},
              {MG_METRIC_DRAM_READ, "bytes from DRAM"}};

struct side {
    char path[4096];
    const char *given, *kernel, *macros; /* NULL: none */
    struct mg_report_file report;
    struct mg_tally chosen; /* its kernels, but for those that were not named */
};
struct compare {
    bool json;
    const char *board, *nvcc_args, *launches;
    struct mg_style style;
    struct side side[2];
    struct mg_strbuf out;
};

static int help(void)
{
    fputs("usage: margay compare [options] A[:KERNEL][@NAME=VALUE,...] B[:KERNEL][@NAME=VALUE,...] [args...]\n"
          "\n"
          "Says which of two is faster on the device, how sure that is, and why: reports (of profile --time\n"
          "--json), programs or .cu files, which are run with these arguments. KERNEL (a regular expression)\n"
          "names one where there are several; NAME=VALUE are macros for a .cu file. Two block sizes of it:\n"
          "margay compare k.cu@BLOCK=128 k.cu@BLOCK=256\n",
          stdout);
    mg__cli_help_rows(&(struct mg_cli_reader){.table = table, .count = MG_COUNT(table), .command = 1});
    fputs("\nExit status: 0; 2, with a message, when there is nothing to compare.\n", stdout);
    return 0;
}

static int apply(void *arg, int id, const char *value)
{
    struct compare *c = arg;
    switch (id) {
    case OPT_JSON:
        c->json = true;
        return -1;
    case OPT_BOARD:
        c->board = value;
        return -1;
    case OPT_LAUNCHES:
        c->launches = value;
        return -1;
    case OPT_NVCC_ARGS:
        c->nvcc_args = value;
        return -1;
    case OPT_VERSION:
        puts("margay " MG_VERSION_STRING);
        return 0;
    default:
        return help();
    }
}

/* ---- the two sides ---- */
/* A file may have such characters in its name; else the first colon and the first @ end it. */
static int split(struct side *s, char *given)
{
    s->given = given;
    snprintf(s->path, sizeof(s->path), "%s", given);
    if (access(given, F_OK) == 0)
        return -1;
    char *at = strchr(s->path, '@'), *colon = strchr(s->path, ':');
    if (at)
        *at++ = 0;
    if (colon && (!at || colon < at))
        *colon++ = 0;
    s->macros = at;
    s->kernel = colon && *colon ? colon : NULL;
    size_t n = strlen(s->path);
    if (at && (n < 3 || strcmp(s->path + n - 3, ".cu")))
        return mg__cli_complain(NULL, "%s: macros (@%s) are for a .cu file", given, at);
    return -1;
}

static int run(const struct compare *c, const struct side *s, const char *report, char **args)
{
    const char *options[16] = {"--time", "--json", report, "--output", "/dev/null", "--quiet"};
    size_t n = 6, words = 0;
    struct mg_strbuf nvcc = {0};
    bool ok = mg__strbuf_printf(&nvcc, "%s", c->nvcc_args ? c->nvcc_args : "");
    for (const char *at = s->macros; ok && at && *at; at += strcspn(at, ","), at += *at == ',')
        ok = mg__strbuf_printf(&nvcc, " -D%.*s", (int)strcspn(at, ","), at);
    const char *const pairs[][2] = {{"--board", c->board}, {"--launches", c->launches}, {"--nvcc-args", nvcc.at}};
    for (size_t i = 0; i < MG_COUNT(pairs); i++)
        if (pairs[i][1] && pairs[i][1][0]) {
            options[n++] = pairs[i][0];
            options[n++] = pairs[i][1];
        }
    while (args[words])
        words++;
    char **program = calloc(words + 2, sizeof(*program));
    int status = -1;
    if (ok && program) {
        program[0] = (char *)(uintptr_t)s->path;
        memcpy(program + 1, args, words * sizeof(*args));
        status = mg__self_run(&(struct mg_self){"profile", options, program, NULL});
    }
    free(program);
    mg__strbuf_free(&nvcc);
    return status;
}

static int load(struct compare *c, struct side *s, char **args)
{
    struct mg_compiled folder = {{0}, {0}};
    struct mg_diag diag;
    char report[sizeof(folder.dir) + 16];
    size_t n = strlen(s->path);
    bool ran = n < 5 || strcmp(s->path + n - 5, ".json");
    const char *path = s->path;
    int result = -1;
    if (ran) {
        if (!mg__self_folder(&folder))
            return MG_EXIT_SETUP;
        snprintf(report, sizeof(report), "%s/report.json", folder.dir);
        int status = run(c, s, report, args);
        path = report;
        if (access(report, R_OK))
            result = status >= 128 ? status : MG_EXIT_SETUP; /* it has said why */
        else if (status)
            fprintf(stderr, "margay: %s ended with status %d\n", s->given, status);
    }
    if (result < 0 && mg__report_load(&s->report, path, &diag) != MG_OK)
        result = mg__cli_complain(NULL, "%s", diag.message);
    if (ran)
        mg__compile_clean(&folder);
    return result;
}

static int choose(struct side *s)
{
    regex_t only;
    if (s->kernel && regcomp(&only, s->kernel, REG_EXTENDED | REG_NOSUB))
        return mg__cli_complain(NULL, "%s is not a regular expression", s->kernel);
    bool ok = true, timed = false;
    struct mg_strbuf others = {0};
    bool exact = false; /* one has just that name, whatever else is in others' */
    for (size_t i = 0; s->kernel && i < s->report.tally.kernels.count; i++)
        exact |= mg__kernel_is_called(s->report.tally.kernels.at[i]->kernel, s->kernel, strlen(s->kernel));
    for (size_t i = 0; i < s->report.tally.kernels.count; i++) {
        struct mg_tally_kernel *k = s->report.tally.kernels.at[i];
        if (s->kernel && (exact ? !mg__kernel_is_called(k->kernel, s->kernel, strlen(s->kernel))
                                : regexec(&only, k->kernel, 0, NULL, 0))) {
            ok &= !k->metrics.v[MG_METRIC_TIME] || mg__strbuf_printf(&others, "%s%.*s", others.count ? ", " : "",
                                                                     (int)strcspn(k->kernel, "("), k->kernel);
            continue;
        }
        timed |= k->metrics.v[MG_METRIC_TIME] != 0;
        ok &= k->metrics.v[MG_METRIC_TIME] == 0 || mg__vec_push(&s->chosen.kernels, k);
    }
    if (s->kernel)
        regfree(&only);
    int result = -1;
    if (!ok)
        result = mg__cli_complain(NULL, "out of memory");
    else if (!timed && others.count)
        result = mg__cli_complain(NULL, "%s: no kernel '%s' was launched, but %s", s->given, s->kernel, others.at);
    else if (!timed)
        result = mg__cli_complain(NULL,
                                  "%s has no kernel%s%s%s of which the time is known; reports are made by 'margay "
                                  "profile --time --json FILE PROGRAM'",
                                  s->given, s->kernel ? " '" : "", s->kernel ? s->kernel : "", s->kernel ? "'" : "");
    mg__strbuf_free(&others);
    return result;
}

/* ---- what is told ---- */
static double each(const struct mg_tally_kernel *k, enum mg_metric m)
{
    return (double)k->metrics.v[m] / (double)MG_MAX(k->launches - k->failed, UINT64_C(1));
}

/* How sure it is that b takes longer than a. */
static double surely(const struct mg_tally_kernel *a, const struct mg_tally_kernel *b)
{
    double wide = 0;
    const struct mg_tally_kernel *const both[] = {a, b};
    for (unsigned i = 0; i < 2; i++) {
        double s = log(each(both[i], MG_METRIC_TIME_MOST) / each(both[i], MG_METRIC_TIME_LEAST)) / (2 * 1.2816);
        wide += s * s;
    }
    double apart = log(each(b, MG_METRIC_TIME) / each(a, MG_METRIC_TIME));
    return wide > 0 ? 0.5 * erfc(-apart / sqrt(2 * wide)) : apart > 0;
}

static bool plain(struct compare *c, const char *text)
{
    return mg__strbuf_append(&c->out, text, strlen(text));
}

static bool show_side(struct compare *c, const char *which, const struct mg_tally_kernel *k)
{
    char time[MG_DURATION], least[MG_DURATION], most[MG_DURATION];
    mg__layout_duration(time, each(k, MG_METRIC_TIME) * 1e-9);
    mg__layout_duration(least, each(k, MG_METRIC_TIME_LEAST) * 1e-9);
    mg__layout_duration(most, each(k, MG_METRIC_TIME_MOST) * 1e-9);
    return mg__strbuf_printf(&c->out, "%s  %9s  (%s to %s)  ", which, time, least, most) &&
           mg__layout_kernel(&c->out, &c->style, k->kernel, 40, NULL) && plain(c, "  grid ") &&
           mg__layout_dim3(&c->out, &c->style, k->grid) && plain(c, ", block ") &&
           mg__layout_dim3(&c->out, &c->style, k->block) && plain(c, "\n");
}

static bool show_count(struct compare *c, const char *name, double a, double b)
{
    return mg__strbuf_printf(&c->out, "   %-15s ", name) && mg__layout_number(&c->out, (uint64_t)(a + 0.5), 14) &&
           mg__layout_number(&c->out, (uint64_t)(b + 0.5), 11) && plain(c, "\n");
}

/* Parts of the time, those first that differ most; then counts that differ. */
static bool show_why(struct compare *c, const struct mg_tally_kernel *a, const struct mg_tally_kernel *b)
{
    bool told[MG_COUNT(parts)] = {false}, ok = true, any = false;
    double all = fabs(each(a, MG_METRIC_TIME) - each(b, MG_METRIC_TIME)), floor_ns = MG_MAX(all * 0.05, 10.0);
    for (;;) {
        size_t next = MG_COUNT(parts);
        double most = floor_ns;
        for (size_t i = 0; i < MG_COUNT(parts); i++) {
            double d = fabs(each(a, parts[i].metric) - each(b, parts[i].metric));
            if (!told[i] && d >= most) {
                most = d;
                next = i;
            }
        }
        if (!ok || next == MG_COUNT(parts))
            break;
        told[next] = true;
        char ta[MG_DURATION], tb[MG_DURATION];
        mg__layout_duration(ta, each(a, parts[next].metric) * 1e-9);
        mg__layout_duration(tb, each(b, parts[next].metric) * 1e-9);
        ok = (any || plain(c, "   of a launch              A          B\n")) &&
             mg__strbuf_printf(&c->out, "   %-20s %9s  %9s\n", parts[next].name, ta, tb);
        any = true;
    }
    for (size_t i = 0; ok && i < MG_COUNT(counts); i++) {
        double va = each(a, counts[i].metric), vb = each(b, counts[i].metric);
        if (fabs(va - vb) > 0.02 * MG_MAX(va, vb))
            ok = (any || plain(c, "   of a launch              A          B\n")) &&
                 show_count(c, counts[i].name, va, vb) && (any = true);
    }
    return ok;
}

static bool show(struct compare *c, const struct mg_tally_kernel *a, const struct mg_tally_kernel *b)
{
    double ta = each(a, MG_METRIC_TIME), tb = each(b, MG_METRIC_TIME), sure = surely(a, b);
    bool ok = show_side(c, "A", a) && show_side(c, "B", b);
    if (fabs(ta - tb) < 0.005 * ta)
        return ok && plain(c, "no difference to speak of\n") && show_why(c, a, b) && plain(c, "\n");
    return ok &&
           mg__strbuf_printf(&c->out, "%s is faster: %.2f times, %.0f %% sure\n", ta < tb ? "A" : "B",
                             MG_MAX(ta, tb) / MG_MIN(ta, tb), MG_MIN(100 * (ta < tb ? sure : 1 - sure), 99)) &&
           show_why(c, a, b) && plain(c, "\n");
}

static bool json_side(struct compare *c, const char *name, const struct mg_tally_kernel *k)
{
    bool ok = mg__strbuf_printf(&c->out, "\"%s\": {\"kernel\": ", name) && mg__json_string(&c->out, k->kernel) &&
              mg__strbuf_printf(&c->out,
                                ", \"launches\": %llu, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"ns\": %.0f, "
                                "\"least\": %.0f, \"most\": %.0f, \"parts\": {",
                                (unsigned long long)k->launches, k->grid.x, k->grid.y, k->grid.z, k->block.x,
                                k->block.y, k->block.z, each(k, MG_METRIC_TIME), each(k, MG_METRIC_TIME_LEAST),
                                each(k, MG_METRIC_TIME_MOST));
    for (size_t i = 0; ok && i < MG_COUNT(parts); i++)
        ok = mg__strbuf_printf(&c->out, "%s\"%s\": %.0f", i ? ", " : "", mg__metric_name(parts[i].metric),
                               each(k, parts[i].metric));
    return ok && plain(c, "}}");
}

static bool pair(struct compare *c, const struct mg_tally_kernel *a, const struct mg_tally_kernel *b, bool first)
{
    if (!c->json)
        return show(c, a, b);
    double sure = surely(a, b);
    return plain(c, first ? "\n{" : ",\n{") && json_side(c, "a", a) && plain(c, ", ") && json_side(c, "b", b) &&
           mg__strbuf_printf(&c->out, ", \"faster\": \"%s\", \"sure\": %.3f}", sure > 0.5 ? "a" : "b",
                             MG_MAX(sure, 1 - sure));
}

/* The one of each side, or those of one name. Returns -1 to go on. */
static int tell(struct compare *c)
{
    struct mg_comparison all = {0};
    struct mg_tally *a = &c->side[0].chosen, *b = &c->side[1].chosen;
    bool single = a->kernels.count == 1 && b->kernels.count == 1;
    bool ok = !c->json || plain(c, "{\"margay\": {\"version\": \"" MG_VERSION_STRING "\"}, \"pairs\": [");
    unsigned n = 0;
    if (single)
        ok = ok && pair(c, a->kernels.at[0], b->kernels.at[0], n++ == 0);
    else
        ok = ok && mg__compare(a, b, &all);
    for (size_t i = 0; ok && i < all.kernels.count; i++)
        if (all.kernels.at[i].a && all.kernels.at[i].b)
            ok = pair(c, all.kernels.at[i].a, all.kernels.at[i].b, n++ == 0);
    mg__comparison_free(&all);
    ok = ok && (!c->json || plain(c, "]}\n"));
    if (!ok)
        return mg__cli_complain(NULL, "out of memory");
    return n ? -1
             : mg__cli_complain(NULL,
                                "%s and %s have no kernel of one name, and more than one: name those that are meant, "
                                "as in %s:naive",
                                c->side[0].given, c->side[1].given, c->side[0].path);
}

int mg__cmd_compare(int argc, char **argv)
{
    struct compare c = {0};
    mg__cli_style(&c.style, STDOUT_FILENO);
    int result = mg__cli_read(
        &(struct mg_cli_reader){
            .table = table, .count = MG_COUNT(table), .command = 1, .help = OPT_HELP, .apply = apply, .arg = &c},
        argc, argv);
    if (result >= 0)
        return result;
    if (argc - optind < 2)
        return mg__cli_complain(NULL, "two kernels, programs or reports are needed; see 'margay compare --help'");
    for (unsigned i = 0; i < 2; i++) {
        mg__report_file_init(&c.side[i].report, false);
        mg__tally_init(&c.side[i].chosen, false);
    }
    for (unsigned i = 0; i < 2 && result < 0; i++) {
        result = split(&c.side[i], argv[optind + (int)i]);
        if (result < 0)
            result = load(&c, &c.side[i], argv + optind + 2);
        if (result < 0)
            result = choose(&c.side[i]);
    }
    if (result < 0 && strcmp(c.side[0].report.device, c.side[1].report.device))
        fprintf(stderr, "margay: A is of a %s, B of a %s\n", c.side[0].report.device, c.side[1].report.device);
    if (result < 0)
        result = tell(&c);
    if (result < 0)
        result = fwrite(c.out.at, 1, c.out.count, stdout) == c.out.count && fflush(stdout) == 0
                     ? 0
                     : mg__cli_complain(NULL, "standard output could not be written");
    for (unsigned i = 0; i < 2; i++) {
        mg__vec_free(&c.side[i].chosen.kernels); /* they are the report's */
        mg__tally_free(&c.side[i].chosen);
        mg__report_file_free(&c.side[i].report);
    }
    mg__strbuf_free(&c.out);
    return result;
}
