/* options.c - the command line, read and checked.
 *
 * Options end at the first word that is none, or at `--`: what follows belongs to the program. Values are checked here,
 * so that a slip costs no run.
 */
#include "guard.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <regex.h>
#include <stddef.h>
#include <unistd.h>

enum {
    OPT_FIRST = 1000,
#define OPTION(id, name, arg, commands, text) OPT_##id,
#include "option.def"
#undef OPTION
    OPT_END
};

static const struct mg_cli_option table[] = {
#define RUN MG_CMD_RUN
#define PROFILE MG_CMD_PROFILE
#define CHECK MG_CMD_CHECK
#define ADVISE MG_CMD_ADVISE
#define BENCH MG_CMD_BENCH
#define OPTION(id, name, arg, commands, text) {OPT_##id, name, arg, text, commands},
#include "option.def"
#undef OPTION
#undef RUN
#undef PROFILE
#undef CHECK
#undef ADVISE
#undef BENCH
};

int mg__cli_help(enum mg_command command)
{
    if (command == MG_CMD_RUN)
        fputs("usage: margay run [options] PROGRAM|FILE.cu [args...]\n"
              "\n"
              "Runs a CUDA program on a simulated GPU. Its output and exit status are its own; one line\n"
              "for each kernel goes to standard error. A .cu file is compiled with nvcc first.\n",
              stdout);
    else if (command == MG_CMD_ADVISE)
        fputs("usage: margay advise [options] [KERNEL] PROGRAM|FILE.cu [args...]\n"
              "       margay advise [options] KERNEL\n"
              "\n"
              "Runs a CUDA program on a simulated GPU and says, on standard error, what would make each\n"
              "kernel faster, largest gain first, with what was counted and what the counters would be\n"
              "afterwards; whether shared memory is of use; the occupancy; the roofline; a checklist.\n"
              "A word that is no program is a kernel, as --kernel has it; alone, of the last program that\n"
              "was advised in this folder, which is not run again.\n"
              "A .cu file is compiled with nvcc first. Compile with -lineinfo to get source lines.\n",
              stdout);
    else if (command == MG_CMD_CHECK)
        fputs("usage: margay check [options] PROGRAM|FILE.cu [args...]\n"
              "\n"
              "Runs a CUDA program on a simulated GPU and says, on standard error, what is wrong with its\n"
              "kernels, gravest first: race (two threads, one byte, no order), barrier (threads that miss\n"
              "one), init (a read of what nobody wrote), bounds, launch (beyond the device's limits).\n"
              "A .cu file is compiled with nvcc first. Compile with -lineinfo to get source lines.\n",
              stdout);
    else if (command == MG_CMD_BENCH)
        fputs("usage: margay bench [options] [OPERATION...]\n"
              "\n"
              "Runs every rung of the collection's ladders (gemm, reduce, scan, ...; all, or those named)\n"
              "and holds its result to plain C. On a GPU it is then timed beside cuBLAS, CUB and a device\n"
              "copy; without one, or with --simulate, its shared-memory wavefronts, global sectors and\n"
              "instructions are counted.\n",
              stdout);
    else
        fputs("usage: margay profile [options] PROGRAM|FILE.cu [args...]\n"
              "\n"
              "Runs a CUDA program on a simulated GPU and shows, on standard error, what every kernel\n"
              "and every source line did with shared and global memory, worst first. A .cu file is\n"
              "compiled with nvcc first. Programs compiled with -lineinfo have source lines.\n",
              stdout);
    if (command != MG_CMD_BENCH)
        fputs("PROGRAM is whatever starts: ./a.out, python3 FILE.py, a script.\n", stdout);
    mg__cli_help_rows(&(struct mg_cli_reader){.table = table, .count = MG_COUNT(table), .command = command});
    if (command == MG_CMD_BENCH)
        fputs("\n"
              "Exit status: 0; 1 when a rung's result is wrong; 2 when it could not run.\n",
              stdout);
    else if (command == MG_CMD_CHECK)
        fputs("\n"
              "Exit status: 0 when nothing was found, 1 when something was (--fail-on says what counts),\n"
              "2 when the program could not be started or checked to its end, launched no kernel, or\n"
              "failed by itself.\n",
              stdout);
    else
        fputs("\n"
              "Exit status: the program's own (128 + N when signal N ended it); 2, with a message that\n"
              "starts with \"margay: error:\", when Margay could not start it or not write the report.\n",
              stdout);
    if (command == MG_CMD_PROFILE)
        fputs("With --expect: 1 when a kernel exceeds a budget and the program's own status is 0.\n", stdout);
    return 0;
}

static bool parse_count(const char *text, unsigned *value)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || n == 0 || n > INT32_MAX)
        return false;
    *value = (unsigned)n;
    return true;
}

int mg__cli_bad_capability(const struct mg_cli_options *o, const char *option, const char *text)
{
    char known[512] = "";
    const struct mg_arch *arch;
    for (size_t i = 0; (arch = mg_arch_at(i)) != NULL; i++) {
        size_t at = strlen(known);
        snprintf(known + at, sizeof(known) - at, "%s%u.%u", i ? ", " : "", arch->cc / 10, arch->cc % 10);
    }
    return mg__cli_complain(o, "--%s %s: no such compute capability; known are %s", option, text, known);
}

const struct mg_board *mg__cli_board(const struct mg_cli_options *o, const char *name)
{
    enum { LISTED = 16 };
    const struct mg_board *board = mg_board_find(name), *found[LISTED];
    if (board)
        return board;
    size_t count = mg_board_match(name, found, LISTED);
    struct mg_strbuf list = {0};
    for (size_t i = 0; i < MG_MIN(count, (size_t)LISTED); i++)
        mg__strbuf_printf(&list, "%s%s", i ? ", " : "", found[i]->name);
    if (count > LISTED)
        mg__strbuf_printf(&list, " and %zu more", count - LISTED);
    if (count)
        mg__cli_complain(o, "--board %s: several boards have that in their names: %s", name, list.at ? list.at : "");
    else
        mg__cli_complain(o, "--board %s: no board of that name; 'margay limits --all' lists them", name);
    mg__strbuf_free(&list);
    return NULL;
}

/* "race,init": names of checks, blanks allowed around them. */
static int parse_checks(struct mg_cli_options *o, const char *text)
{
    o->checks[0] = 0;
    for (const char *at = text;; at++) {
        at += strspn(at, " ");
        size_t n = strcspn(at, ", "), used = strlen(o->checks);
        if (!mg__kinds_has_check(at, n))
            return mg__cli_complain(o, "--only %s: a list of race, barrier, init, bounds and launch is needed", text);
        if (used + n + 2 > sizeof(o->checks))
            return mg__cli_complain(o, "--only %s: too long", text);
        snprintf(o->checks + used, sizeof(o->checks) - used, "%s%.*s", used ? "," : "", (int)n, at);
        at += n + strspn(at + n, " ");
        if (!*at)
            return -1;
        if (*at != ',')
            return mg__cli_complain(o, "--only %s: commas are needed between the names", text);
    }
}

int mg__cli_kernel(struct mg_cli_options *o, const char *text)
{
    regex_t regex;
    int error = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
    if (error) {
        char why[128];
        regerror(error, &regex, why, sizeof(why));
        return mg__cli_complain(o, "--kernel '%s': %s", text, why);
    }
    regfree(&regex);
    o->kernel = text;
    return -1;
}

static int parse_timeout(struct mg_cli_options *o, const char *text)
{
    char *end;
    errno = 0;
    double seconds = strtod(text, &end);
    if (errno || end == text || *end || !(seconds >= 0.001 && seconds <= 4e6))
        return mg__cli_complain(o, "--timeout %s: seconds are needed, such as 30 or 0.5", text);
    o->timeout_ms = (unsigned)lround(seconds * 1000);
    return -1;
}

static int parse_fail_on(struct mg_cli_options *o, const char *text)
{
    static const struct {
        const char *name;
        int least;
    } words[] = {{"error", MG_SEVERITY_ERROR}, {"warning", MG_SEVERITY_WARNING}, {"never", MG_SEVERITY_ERROR + 1}};
    for (size_t i = 0; i < MG_COUNT(words); i++)
        if (!strcmp(text, words[i].name)) {
            o->fail_on = words[i].least;
            return -1;
        }
    return mg__cli_complain(o, "--fail-on %s: error, warning or never is needed", text);
}

/* Options that are kept as they are given, and those that are given or not. */
static const struct {
    int id;
    size_t at; /* in struct mg_cli_options: a const char *, or a bool */
} words[] = {{OPT_JSON, offsetof(struct mg_cli_options, json)},
             {OPT_OUTPUT, offsetof(struct mg_cli_options, output)},
             {OPT_NVCC_ARGS, offsetof(struct mg_cli_options, nvcc_args)},
             {OPT_SIZES, offsetof(struct mg_cli_options, sizes)},
             {OPT_HTML, offsetof(struct mg_cli_options, html)},
             {OPT_SVG, offsetof(struct mg_cli_options, svg)},
             {OPT_SARIF, offsetof(struct mg_cli_options, sarif)},
             {OPT_SUPPRESS, offsetof(struct mg_cli_options, suppress)}},
  flags[] = {{OPT_STRICT, offsetof(struct mg_cli_options, strict)},
             {OPT_VERBOSE, offsetof(struct mg_cli_options, verbose)},
             {OPT_PICTURES, offsetof(struct mg_cli_options, pictures)},
             {OPT_TIME, offsetof(struct mg_cli_options, time)},
             {OPT_QUIET, offsetof(struct mg_cli_options, quiet)},
             {OPT_SIMULATE, offsetof(struct mg_cli_options, simulate)},
             {OPT_LEAKS, offsetof(struct mg_cli_options, leaks)},
             {OPT_PEDANTIC, offsetof(struct mg_cli_options, pedantic)},
             {OPT_NO_RESULTS, offsetof(struct mg_cli_options, no_results)},
             {OPT_PROGRESS, offsetof(struct mg_cli_options, progress)},
             {OPT_NO_PROGRESS, offsetof(struct mg_cli_options, no_progress)},
             {OPT_FULL, offsetof(struct mg_cli_options, full)}};

static bool keep(struct mg_cli_options *o, int id, const char *value)
{
    for (size_t i = 0; i < MG_COUNT(words); i++)
        if (words[i].id == id) {
            memcpy((char *)o + words[i].at, &value, sizeof(value));
            return true;
        }
    for (size_t i = 0; i < MG_COUNT(flags); i++)
        if (flags[i].id == id) {
            memcpy((char *)o + flags[i].at, &(bool){true}, sizeof(bool));
            return true;
        }
    return false;
}

/* What is to be read and checked. Returns -1 to go on. */
static int apply(void *arg, int id, const char *value)
{
    struct mg_cli_options *o = arg;
    unsigned n;
    if (keep(o, id, value))
        return -1;
    switch (id) {
    case OPT_KERNEL:
        return mg__cli_kernel(o, value);
    case OPT_LAUNCHES:
        return parse_count(value, &o->launches)
                   ? -1
                   : mg__cli_complain(o, "--launches %s: a number from 1 is needed", value);
    case OPT_THREADS:
        return parse_count(value, &o->threads) && o->threads <= 4096
                   ? -1
                   : mg__cli_complain(o, "--threads %s: a number from 1 to 4096 is needed", value);
    case OPT_DEVICE:
        o->arch = mg_arch_parse(value);
        return o->arch ? -1 : mg__cli_bad_capability(o, "device", value);
    case OPT_DEVICES:
        return parse_count(value, &o->devices) && o->devices <= MG_MOST_DEVICES
                   ? -1
                   : mg__cli_complain(o, "--devices %s: a number from 1 to %u is needed; --device takes a capability",
                                      value, MG_MOST_DEVICES);
    case OPT_BOARD:
        o->board = mg__cli_board(o, value);
        return o->board ? -1 : MG_EXIT_SETUP;
    case OPT_TIMEOUT:
        return parse_timeout(o, value);
    case OPT_ENGINE:
        if (strcmp(value, "jit") && strcmp(value, "quick") && strcmp(value, "interp"))
            return mg__cli_complain(o, "--engine %s: jit, quick or interp is needed", value);
        o->engine = value;
        return -1;
    case OPT_SAMPLE:
        o->sample = UINT64_MAX;
        if (strcmp(value, "auto") && (strncmp(value, "1/", 2) || !parse_count(value + 2, &n)))
            return mg__cli_complain(o, "--sample %s: 1/N, as 1/64, or auto is needed", value);
        if (strcmp(value, "auto"))
            o->sample = n;
        return -1;
    case OPT_CLOCK:
        if (strcmp(value, "device") && strcmp(value, "host"))
            return mg__cli_complain(o, "--clock %s: device or host is needed", value);
        o->host_clock = !strcmp(value, "host");
        return -1;
    case OPT_EXPECT:
        if (o->expect)
            return mg__cli_complain(o, "--expect is given twice; commas join budgets");
        o->expect = value;
        return -1;
    case OPT_FORMAT: {
        enum mg_format format;
        if (!mg__format_parse(value, &format))
            return mg__cli_complain(o, "--format %s: text, gcc or github is needed", value);
        o->format = (int)format;
        return -1;
    }
    case OPT_REPS:
        if (!parse_count(value, &n) || n < 20 || n > 1000)
            return mg__cli_complain(o, "--reps %s: a number from 20 to 1000 is needed", value);
        o->reps = value;
        return -1;
    case OPT_ONLY:
        return parse_checks(o, value);
    case OPT_FAIL_ON:
        return parse_fail_on(o, value);
    case OPT_HELP:
        return mg__cli_help(o->command);
    case OPT_VERSION:
        puts("margay " MG_VERSION_STRING);
        return 0;
    default:
        return mg__cli_complain(o, "option %d is not handled", id);
    }
}

/* No file for two reports; and those for machines that go to standard output have it for themselves. Returns -1 to go
 * on. */
static int reserve_output(struct mg_cli_options *o)
{
    static const char *const names[] = {"json", "html", "sarif", "svg", "output"};
    const char *const files[] = {o->json, o->html, o->sarif, o->svg, o->output};
    unsigned n = 0;
    for (size_t i = 0; i < MG_COUNT(files); i++)
        for (size_t k = 0; k < i; k++)
            if (mg__output_same(files[i], files[k]))
                return mg__cli_complain(o, "--%s and --%s name one file, %s: each report needs its own", names[k],
                                        names[i], files[i]);
    for (size_t i = 0; i + 1 < MG_COUNT(files); i++) /* --output is for people */
        n += mg__output_is_stdout(files[i]);
    o->reserved = n > 0;
    if (n > 1 || (n && mg__output_is_stdout(o->output)))
        return mg__cli_complain(o, "only one report can go to standard output");
    if (n && o->command == MG_CMD_BENCH)
        return mg__cli_complain(o, "--json -: a file is needed, as the tables go to standard output");
    return -1;
}

int mg__cli_parse(enum mg_command command, int argc, char **argv, struct mg_cli_options *o)
{
    memset(o, 0, sizeof(*o));
    o->command = command;
    o->name = argv[0];
    o->fail_on = MG_SEVERITY_WARNING;
    snprintf(o->checks, sizeof(o->checks), "race,barrier,init,bounds,launch");
    mg__cli_style(&o->style, STDERR_FILENO);
    o->style.cwd = getcwd(o->cwd, sizeof(o->cwd)) ? o->cwd : NULL;
    int result = mg__cli_read(&(struct mg_cli_reader){.table = table,
                                                      .count = MG_COUNT(table),
                                                      .command = command,
                                                      .mixed = command == MG_CMD_BENCH,
                                                      .help = OPT_HELP,
                                                      .options = o,
                                                      .apply = apply,
                                                      .arg = o},
                              argc, argv);
    if (result >= 0)
        return result;
    if (o->board && o->arch && o->board->cc != o->arch->cc)
        return mg__cli_complain(o, "%s has compute capability %u.%u, not %u.%u", o->board->name, o->board->cc / 10,
                                o->board->cc % 10, o->arch->cc / 10, o->arch->cc % 10);
    o->board_given = o->arch || o->board;
    if (!o->arch)
        o->arch = mg_arch_find(o->board ? o->board->cc : 90);
    if (!o->board)
        o->board = o->arch->board;
    if (o->no_results && !o->sample)
        return mg__cli_complain(o, "--no-results leaves out what --sample does not draw: give --sample 1/N or auto");
    if (o->sample && o->time)
        return mg__cli_complain(o, "--time draws blocks of its own: it goes without --sample");
    if (o->progress && o->no_progress)
        return mg__cli_complain(o, "--progress and --no-progress exclude one another");
    result = reserve_output(o);
    if (result >= 0)
        return result;
    if (optind >= argc && command != MG_CMD_BENCH)
        return mg__cli_complain(o, "no program given; usage: margay %s [options] PROGRAM|FILE.cu [args...]", o->name);
    o->program = argv + optind;
    return -1;
}
