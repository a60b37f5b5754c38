/* cmd_sweep.c - `margay sweep`: the time of a program's kernels on the device for every value of a few macros,
 * arguments and boards.
 *
 * A point is one value of each axis. Each is a run of `margay profile --time` by a process of its own, as many at once
 * as there are processors; its times go into the file of results (sweep_file.c) when it is over, so a sweep that is
 * stopped goes on where it was. Where mpirun or srun started the command several times, which their variables tell,
 * each process takes its share of the points. Whoever adds the last one shows table and plot.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sweep.h"

enum {
    OPT_BLOCK = 1000,
    OPT_SIZE,
    OPT_DEFINE,
    OPT_BOARD,
    OPT_KERNEL,
    OPT_LAUNCHES,
    OPT_TIMEOUT,
    OPT_NVCC_ARGS,
    OPT_JOBS,
    OPT_OUTPUT,
    OPT_HTML,
    OPT_SVG,
    OPT_HELP,
    OPT_VERSION,
    MOST_WORDS = 64,
    MOST_JOBS = 256
};
static const struct mg_cli_option table[] = {
    {OPT_BLOCK, "block", "LIST", "values of the macro BLOCK and of {BLOCK}: 32..1024, 64..512+64 or 96,128", 1},
    {OPT_SIZE, "size", "LIST", "the same of SIZE", 1},
    {OPT_DEFINE, "define", "NAME=LIST", "the same of a macro of any name; also -D NAME=LIST", 1},
    {OPT_BOARD, "board", "LIST", "simulate these boards, such as h100,a100,l4", 1},
    {OPT_KERNEL, "kernel", "REGEX", "look at kernels whose name matches alone", 1},
    {OPT_LAUNCHES, "launches", "N", "look at the first N launches alone", 1},
    {OPT_TIMEOUT, "timeout", "SECONDS", "end a kernel that takes longer", 1},
    {OPT_NVCC_ARGS, "nvcc-args", "ARGS", "more arguments for nvcc, when a .cu file is given", 1},
    {OPT_JOBS, "jobs", "N", "run N at once; default: one a processor", 1},
    {OPT_OUTPUT, "output", "FILE", "keep results in FILE, and go on from there; default: sweep.json", 1},
    {OPT_HTML, "html", "FILE", "write a page with plot and table", 1},
    {OPT_SVG, "svg", "FILE", "write the plot alone", 1},
    {OPT_HELP, "help", NULL, "show this help", 1},
    {OPT_VERSION, "version", NULL, "show the version", 1},
};

struct sweep {
    struct mg_sweep all;
    const char *kernel, *launches, *timeout, *nvcc_args, *html, *svg;
    unsigned jobs, rank, ranks;
    bool source; /* a .cu file */
    char **program;
    atomic_uint *next; /* point to be taken, of all jobs of this process */
};

static int help(void)
{
    fputs("usage: margay sweep --block LIST | --size LIST | -D NAME=LIST | --board LIST ... [options]\n"
          "                    PROGRAM|FILE.cu [args...]\n"
          "\n"
          "Says how long its kernels take on the device (docs/time.md) for every value: of macros of a .cu file,\n"
          "of {NAME} in the arguments, of boards. 32..1024 doubles from 32 on, 64..512+64 adds 64.\n"
          "What was found is kept in a file, from which the same sweep goes on when it is called again.\n"
          "Under mpirun or srun each process takes its share; the file must be where all can write it.\n",
          stdout);
    mg__cli_help_rows(&(struct mg_cli_reader){.table = table, .count = MG_COUNT(table), .command = 1});
    fputs("\nExit status: 0; 1 when some values could not be run; 2, with a message, when none could.\n", stdout);
    return 0;
}

/* ---- axes ---- */
static bool add_value(struct mg_sweep_axis *a, const char *text, size_t length)
{
    if (a->n == MG_SWEEP_VALUES || !length)
        return false;
    a->values[a->n] = strndup(text, length);
    return a->values[a->n++] != NULL;
}

/* "32..1024", "64..512+64" */
static bool add_range(struct mg_sweep_axis *a, const char *text)
{
    char *end, number[32];
    unsigned long long from = strtoull(text, &end, 10), to, step = 0;
    if (end == text || strncmp(end, "..", 2))
        return false;
    text = end + 2;
    to = strtoull(text, &end, 10);
    bool good = end != text;
    if (good && *end == '+') {
        text = end + 1;
        step = strtoull(text, &end, 10);
        good = end != text && step;
    }
    good = good && !*end && from && from <= to && to < 1ull << 40;
    for (unsigned long long v = from; good && v <= to; v = step ? v + step : v * 2) {
        snprintf(number, sizeof(number), "%llu", v);
        good = add_value(a, number, strlen(number));
    }
    return good;
}

static bool is_word(const char *text, size_t n, const char *more)
{
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr(more, c)))
            return false;
    }
    return n > 0;
}

static bool all_numbers(const struct mg_sweep_axis *a)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->values[i][strspn(a->values[i], "0123456789")] || !strtoull(a->values[i], NULL, 10))
            return false;
    return true;
}

static int add_axis(struct sweep *s, const char *name, size_t length, const char *list)
{
    struct mg_sweep_axis *a = &s->all.axes[s->all.naxes];
    bool board = length == 5 && !strncmp(name, "board", 5);
    if (s->all.naxes == MG_SWEEP_AXES)
        return mg__cli_complain(NULL, "at most %d things can be swept at once", MG_SWEEP_AXES);
    if (length >= sizeof(a->name) || !is_word(name, length, "_"))
        return mg__cli_complain(NULL, "%.*s: a macro's name is needed", (int)length, name);
    snprintf(a->name, sizeof(a->name), "%.*s", (int)length, name);
    a->board = board;
    for (unsigned i = 0; i < s->all.naxes; i++)
        if (!strcmp(s->all.axes[i].name, a->name))
            return mg__cli_complain(NULL, "%s is given twice", a->name);
    s->all.naxes++;
    bool good = !board && strstr(list, "..") ? add_range(a, list) : true;
    for (const char *at = list; good && !a->n;) /* a list */
        for (;;) {
            size_t n = strcspn(at, ",");
            good = good && is_word(at, n, board ? "_.+- " : "_.+-") && add_value(a, at, n);
            at += n;
            if (!good || !*at++)
                break;
        }
    return good ? -1
                : mg__cli_complain(NULL, "%s: '%s' is no list such as 32..1024, 64..512+64 or 96,128 (of at most %d)",
                                   a->name, list, MG_SWEEP_VALUES);
}

static int apply(void *arg, int id, const char *value)
{
    struct sweep *s = arg;
    char *end;
    switch (id) {
    case OPT_BLOCK:
    case OPT_SIZE: {
        const char *name = id == OPT_BLOCK ? "BLOCK" : "SIZE";
        int result = add_axis(s, name, strlen(name), value);
        if (result < 0 && !all_numbers(&s->all.axes[s->all.naxes - 1]))
            result = mg__cli_complain(NULL, "--%s %s: numbers from 1 are needed; -D %s=%s takes words",
                                      id == OPT_BLOCK ? "block" : "size", value, name, value);
        return result;
    }
    case OPT_BOARD:
        return add_axis(s, "board", 5, value);
    case OPT_DEFINE:
        if (!strchr(value, '='))
            return mg__cli_complain(NULL, "-D %s: NAME=LIST is needed", value);
        return add_axis(s, value, strcspn(value, "="), strchr(value, '=') + 1);
    case OPT_JOBS:
        s->jobs = (unsigned)strtoul(value, &end, 10);
        return !*end && s->jobs && s->jobs <= MOST_JOBS
                   ? -1
                   : mg__cli_complain(NULL, "--jobs %s: a number from 1 to %d is needed", value, MOST_JOBS);
    case OPT_VERSION:
        puts("margay " MG_VERSION_STRING);
        return 0;
    case OPT_HELP:
        return help();
    default:
        *(id == OPT_KERNEL      ? &s->kernel
          : id == OPT_LAUNCHES  ? &s->launches
          : id == OPT_TIMEOUT   ? &s->timeout
          : id == OPT_NVCC_ARGS ? &s->nvcc_args
          : id == OPT_HTML      ? &s->html
          : id == OPT_SVG       ? &s->svg
                                : &s->all.file) = value;
        return -1;
    }
}

/* Each axis must be able to change something. */
static int check_axes(const struct sweep *s)
{
    for (unsigned a = 0; a < s->all.naxes; a++) {
        char word[80];
        bool used = s->source || s->all.axes[a].board;
        snprintf(word, sizeof(word), "{%s}", s->all.axes[a].name);
        for (size_t i = 1; s->program[i]; i++)
            used |= strstr(s->program[i], word) != NULL;
        if (!used)
            return mg__cli_complain(NULL,
                                    "%s is compiled already, and %s is not among its arguments: nothing would change; "
                                    "give the .cu file, or an argument %s",
                                    s->program[0], word, word);
    }
    return -1;
}

/* ---- a point ---- */
/* The word with {NAME} replaced by the point's values. */
static bool fill_in(const struct sweep *s, unsigned point, const char *word, struct mg_strbuf *out)
{
    bool ok = mg__strbuf_append(out, "", 0);
    while (ok && *word) {
        unsigned a = 0;
        size_t n = 0;
        for (; *word == '{' && a < s->all.naxes; a++) {
            n = strlen(s->all.axes[a].name);
            if (!strncmp(word + 1, s->all.axes[a].name, n) && word[n + 1] == '}')
                break;
        }
        if (*word == '{' && a < s->all.naxes) {
            const char *value = mg__sweep_value(&s->all, point, a);
            ok = mg__strbuf_append(out, value, strlen(value));
            word += n + 2;
        } else {
            ok = mg__strbuf_append(out, word++, 1);
        }
    }
    return ok;
}

static int run_point(const struct sweep *s, unsigned point, const char *report, const char *log)
{
    const char *options[32] = {"--time", "--quiet", "--threads", "1", "--output", "/dev/null", "--json", report};
    struct mg_strbuf nvcc = {0}, words[MOST_WORDS] = {{0}};
    char *program[MOST_WORDS + 1] = {NULL};
    size_t n = 8, nwords = 0;
    int status = -1;
    bool ok = mg__strbuf_printf(&nvcc, "%s", s->nvcc_args ? s->nvcc_args : "");
    for (unsigned a = 0; ok && a < s->all.naxes; a++) {
        const char *value = mg__sweep_value(&s->all, point, a);
        if (s->all.axes[a].board) {
            options[n++] = "--board";
            options[n++] = value;
        } else if (s->source) {
            ok = mg__strbuf_printf(&nvcc, " -D%s=%s", s->all.axes[a].name, value);
        }
    }
    const char *const pairs[][2] = {
        {"--kernel", s->kernel}, {"--launches", s->launches}, {"--timeout", s->timeout}, {"--nvcc-args", nvcc.at}};
    for (size_t i = 0; ok && i < MG_COUNT(pairs); i++)
        if (pairs[i][1] && pairs[i][1][0] && (i + 1 < MG_COUNT(pairs) || s->source)) {
            options[n++] = pairs[i][0];
            options[n++] = pairs[i][1];
        }
    for (; ok && s->program[nwords] && nwords < MOST_WORDS; nwords++) {
        ok = fill_in(s, point, s->program[nwords], &words[nwords]);
        program[nwords] = words[nwords].at;
    }
    if (ok)
        status = mg__self_run(&(struct mg_self){"profile", options, program, log});
    for (size_t i = 0; i < nwords; i++)
        mg__strbuf_free(&words[i]);
    mg__strbuf_free(&nvcc);
    return status;
}

static const char *limiter_of(const struct mg_metrics *m)
{
    static const struct {
        enum mg_metric metric;
        const char *name;
    } parts[] = {
#define PART(id, metric, name) {MG_METRIC_##metric, name},
#include "report/part.def"
    };
    size_t best = 0;
    for (size_t i = 1; i < MG_COUNT(parts); i++)
        if (m->v[parts[i].metric] > m->v[parts[best].metric])
            best = i;
    return parts[best].name;
}

static bool begin_line(const struct sweep *s, unsigned point, struct mg_strbuf *out)
{
    bool ok = mg__strbuf_printf(out, "{\"point\": %u, \"at\": {", point);
    for (unsigned a = 0; ok && a < s->all.naxes; a++)
        ok = mg__strbuf_printf(out, "%s\"%s\": ", a ? ", " : "", s->all.axes[a].name) &&
             mg__json_string(out, mg__sweep_value(&s->all, point, a));
    return ok && mg__strbuf_printf(out, "}, ");
}

static bool has_times(const struct mg_tally *t)
{
    for (size_t i = 0; i < t->kernels.count; i++)
        if (t->kernels.at[i]->metrics.v[MG_METRIC_TIME])
            return true;
    return false;
}

static bool put_kernels(const struct mg_tally *t, struct mg_strbuf *out)
{
    bool ok = mg__strbuf_printf(out, "\"kernels\": ["), any = false;
    for (size_t i = 0; ok && i < t->kernels.count; i++) {
        const struct mg_tally_kernel *k = t->kernels.at[i];
        const uint64_t *v = k->metrics.v;
        double n = (double)MG_MAX(k->launches - k->failed, UINT64_C(1));
        if (!v[MG_METRIC_TIME])
            continue;
        ok = mg__strbuf_printf(out, "%s{\"kernel\": ", any ? ", " : "") && mg__json_string(out, k->kernel) &&
             mg__strbuf_printf(
                 out, ", \"launches\": %llu, \"ns\": %.0f, \"least\": %.0f, \"most\": %.0f, \"limiter\": \"%s\"}",
                 (unsigned long long)(k->launches - k->failed), (double)v[MG_METRIC_TIME] / n,
                 (double)v[MG_METRIC_TIME_LEAST] / n, (double)v[MG_METRIC_TIME_MOST] / n, limiter_of(&k->metrics));
        any = true;
    }
    return ok && mg__strbuf_printf(out, "]}");
}

/* The last line of what it printed, for a point that could not be run. */
static bool put_failure(const char *log, int status, struct mg_strbuf *out)
{
    char *text = NULL, why[200] = "";
    size_t size = 0;
    if (mg__file_read(log, (size_t)1 << 24, &text, &size, NULL) == MG_OK) {
        char *error = strstr(text, "error");
        while (error && error > text && error[-1] != '\n')
            error--;
        snprintf(why, sizeof(why), "%.*s", error ? (int)MG_MIN(strcspn(error, "\n"), (size_t)180) : 0,
                 error ? error : "");
    }
    free(text);
    if (!why[0] && !status)
        snprintf(why, sizeof(why), "no kernel was launched whose time is known");
    else if (!why[0])
        snprintf(why, sizeof(why), status >= 128 ? "ended by signal %d" : "exit status %d", status & 127);
    return mg__strbuf_printf(out, "\"failed\": ") && mg__json_string(out, why) && mg__strbuf_printf(out, "}");
}

static bool do_point(struct sweep *s, unsigned point)
{
    struct mg_compiled folder = {{0}, {0}};
    struct mg_report_file report;
    struct mg_strbuf line = {0};
    struct mg_diag diag;
    char json[sizeof(folder.dir) + 16], log[sizeof(folder.dir) + 16];
    if (!mg__self_folder(&folder))
        return false;
    snprintf(json, sizeof(json), "%s/report.json", folder.dir);
    snprintf(log, sizeof(log), "%s/log", folder.dir);
    mg__report_file_init(&report, false);
    int status = run_point(s, point, json, log);
    bool asked = status == 128 + SIGINT || status == 128 + SIGTERM || status == 128 + SIGHUP || status < 0;
    bool good = !status && mg__report_load(&report, json, &diag) == MG_OK && has_times(&report.tally);
    bool ok = !asked && begin_line(s, point, &line) &&
              (good ? put_kernels(&report.tally, &line) : put_failure(log, status, &line)) &&
              mg__sweep_add(&s->all, point, line.at);
    mg__report_file_free(&report);
    mg__strbuf_free(&line);
    mg__compile_clean(&folder);
    return ok;
}

/* ---- all of them ---- */
/* By the variables of Open MPI, of MPICH and its kin, of Slurm. */
static void find_rank(struct sweep *s)
{
    static const char *const names[][3] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
        {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
        {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_NTASKS_PER_NODE"}};
    unsigned here = 1;
    s->ranks = 1;
    for (size_t i = 0; i < MG_COUNT(names); i++) {
        const char *rank = getenv(names[i][0]), *size = getenv(names[i][1]), *local = getenv(names[i][2]);
        unsigned n = size ? (unsigned)strtoul(size, NULL, 10) : 0, r = rank ? (unsigned)strtoul(rank, NULL, 10) : 0;
        if (!rank || !n || r >= n)
            continue;
        s->rank = r;
        s->ranks = n;
        here = local ? MG_MAX((unsigned)strtoul(local, NULL, 10), 1u) : 1;
        break;
    }
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (!s->jobs)
        s->jobs = (unsigned)MG_MIN(MG_MAX((cpus > 0 ? (unsigned)cpus : 1) / here, 1u), (unsigned)MOST_JOBS);
}

static bool is_mine(const struct sweep *s, unsigned point)
{
    return point % s->ranks == s->rank && !s->all.points[point].line;
}

static int job(struct sweep *s)
{
    for (;;) {
        unsigned point = atomic_fetch_add(s->next, 1);
        if (point >= s->all.npoints)
            return 0;
        if (is_mine(s, point) && !do_point(s, point))
            return 1;
    }
}

static int run_all(struct sweep *s)
{
    unsigned left = 0, started = 0;
    bool good = true;
    for (unsigned i = 0; i < s->all.npoints; i++)
        left += is_mine(s, i);
    s->next = mmap(NULL, sizeof(*s->next), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->next == MAP_FAILED)
        return mg__cli_complain(NULL, "out of memory");
    for (; started < MG_MIN(s->jobs, left); started++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(job(s));
        if (pid < 0)
            break;
    }
    good = started > 0 || !left;
    for (int status; started-- && wait(&status) > 0;)
        good &= WIFEXITED(status) && !WEXITSTATUS(status);
    munmap(s->next, sizeof(*s->next));
    return good ? -1 : mg__cli_complain(NULL, "the sweep was stopped; the same command goes on from %s", s->all.file);
}

/* What is swept, and of what: the file's first line. */
static int describe(struct sweep *s)
{
    struct mg_strbuf out = {0}, facts = {0};
    char path[4096], *data = NULL;
    size_t size = 0;
    int why;
    uint64_t points = 1;
    struct mg_diag diag;
    bool found = s->source ? snprintf(path, sizeof(path), "%s", s->program[0]) > 0
                           : mg__find_program(s->program[0], path, sizeof(path), &why);
    if (!found || mg__file_read(path, (size_t)1 << 30, &data, &size, &diag) != MG_OK)
        return mg__cli_complain(NULL, "%s: there is no such program or file", s->program[0]);
    bool ok = mg__strbuf_append(&facts, data, size);
    free(data);
    const char *const more[] = {s->kernel, s->launches, s->timeout, s->nvcc_args};
    for (size_t i = 0; ok && i < MG_COUNT(more); i++)
        ok = mg__strbuf_printf(&facts, "\n%s", more[i] ? more[i] : "");
    ok = ok && mg__strbuf_printf(&out, "{\"margay\": {\"version\": \"" MG_VERSION_STRING "\"}, \"sweep\": [");
    for (size_t i = 0; ok && s->program[i]; i++)
        ok = mg__strbuf_printf(&out, i ? ", " : "") && mg__json_string(&out, s->program[i]);
    ok = ok && mg__strbuf_printf(&out, "], \"digest\": \"%016llx\", \"axes\": {",
                                 (unsigned long long)mg__hash(facts.at, facts.count));
    for (unsigned a = 0; ok && a < s->all.naxes; a++) {
        ok = mg__strbuf_printf(&out, "%s\"%s\": [", a ? ", " : "", s->all.axes[a].name);
        for (unsigned i = 0; ok && i < s->all.axes[a].n; i++)
            ok = mg__strbuf_printf(&out, i ? ", " : "") && mg__json_string(&out, s->all.axes[a].values[i]);
        ok = ok && mg__strbuf_printf(&out, "]");
        points *= s->all.axes[a].n;
        if (points > MG_SWEEP_POINTS)
            ok = false;
    }
    ok = ok && mg__strbuf_printf(&out, "}}");
    mg__strbuf_free(&facts);
    s->all.header = out.at;
    s->all.npoints = (unsigned)MG_MIN(points, (uint64_t)MG_SWEEP_POINTS);
    s->all.points = ok ? calloc(s->all.npoints, sizeof(*s->all.points)) : NULL;
    return s->all.points ? -1 : mg__cli_complain(NULL, "more than %d points, or no memory", MG_SWEEP_POINTS);
}

static int show(struct sweep *s)
{
    struct mg_strbuf text = {0}, svg = {0}, page = {0};
    struct mg_style style;
    unsigned done = 0, failed = 0;
    for (unsigned i = 0; i < s->all.npoints; i++) {
        done += s->all.points[i].line != NULL;
        failed += s->all.points[i].failed != NULL;
    }
    if (done < s->all.npoints)
        return 0; /* other processes have the rest, and the last of them shows it */
    mg__cli_style(&style, STDOUT_FILENO);
    bool ok = mg__sweep_table(&s->all, &style, &text) && mg__strbuf_append(&text, "\n", 1) &&
              mg__sweep_plot(&s->all, &style, false, &text) && mg__sweep_plot(&s->all, &style, true, &svg) &&
              mg__sweep_html(&s->all, s->program[0], &page);
    if (!ok)
        mg__cli_complain(NULL, "out of memory");
    ok = ok && fwrite(text.at, 1, text.count, stdout) == text.count && fflush(stdout) == 0 &&
         (!s->svg || mg__output_write(NULL, s->svg, &svg)) && (!s->html || mg__output_write(NULL, s->html, &page));
    mg__strbuf_free(&text);
    mg__strbuf_free(&svg);
    mg__strbuf_free(&page);
    return !ok || failed == s->all.npoints ? MG_EXIT_SETUP : failed ? MG_EXIT_FINDINGS : 0;
}

/* -D NAME=LIST, in one word or in two, is --define NAME=LIST; what stands behind the program's name is the program's.
 * What is made lives as long as the command. */
static void spell_out(int argc, char **argv)
{
    for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--"); i++) {
        if (!strcmp(argv[i], "-D")) {
            argv[i] = "--define";
        } else if (!strncmp(argv[i], "-D", 2)) {
            struct mg_strbuf word = {0};
            if (mg__strbuf_printf(&word, "--define=%s", argv[i] + 2))
                argv[i] = word.at;
        }
        i += !strchr(argv[i], '='); /* its value is the next word */
    }
}

int mg__cmd_sweep(int argc, char **argv)
{
    struct sweep s = {.all = {.file = "sweep.json"}};
    spell_out(argc, argv);
    int result = mg__cli_read(
        &(struct mg_cli_reader){
            .table = table, .count = MG_COUNT(table), .command = 1, .help = OPT_HELP, .apply = apply, .arg = &s},
        argc, argv);
    if (result < 0 && (optind == argc || !s.all.naxes))
        result = mg__cli_complain(NULL, "%s is needed; see 'margay sweep --help'",
                                  optind == argc ? "a program" : "something to sweep, such as --block 32..1024,");
    if (result < 0) {
        s.program = argv + optind;
        size_t n = strlen(s.program[0]);
        s.source = n > 3 && !strcmp(s.program[0] + n - 3, ".cu");
        if (argc - optind > MOST_WORDS)
            result = mg__cli_complain(NULL, "at most %d arguments", MOST_WORDS - 1);
    }
    const char *const files[] = {s.all.file, s.html, s.svg};
    for (size_t i = 0; result < 0 && i < MG_COUNT(files); i++)
        for (size_t k = 0; result < 0 && k < i; k++)
            if (mg__output_same(files[i], files[k]))
                result =
                    mg__cli_complain(NULL, "results, --html and --svg need a file each: %s is named twice", files[i]);
    if (result < 0)
        result = check_axes(&s);
    if (result < 0)
        result = describe(&s);
    if (result < 0)
        result = mg__sweep_begin(&s.all);
    if (result < 0)
        result = mg__sweep_read(&s.all);
    if (result < 0) {
        find_rank(&s);
        result = run_all(&s);
    }
    if (result < 0)
        result = mg__sweep_read(&s.all);
    if (result < 0)
        result = show(&s);
    mg__sweep_free(&s.all);
    return result;
}
