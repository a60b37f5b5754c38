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
        fputs("usage: margay run [options] PROGRAM [args...]\n"
              "\n"
              "Runs a CUDA program on a simulated GPU. Its output and exit status are its own; one line\n"
              "for each kernel goes to standard error.\n",
              stdout);
    else if (command == MG_CMD_ADVISE)
        fputs("usage: margay advise [options] PROGRAM|FILE.cu [args...]\n"
              "\n"
              "Runs a CUDA program on a simulated GPU and says, on standard error, what would make each\n"
              "kernel faster, largest gain first, with what was counted and what the counters would be\n"
              "afterwards; whether shared memory is of use; the occupancy; the roofline; a checklist.\n"
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

/* Returns -1 to go on. */
static int apply(void *arg, int id, const char *value)
{
    struct mg_cli_options *o = arg;
    char *end;
    switch (id) {
    case OPT_JSON:
        o->json = value;
        break;
    case OPT_OUTPUT:
        o->output = value;
        break;
    case OPT_KERNEL: {
        regex_t regex;
        int error = regcomp(&regex, value, REG_EXTENDED | REG_NOSUB);
        if (error) {
            char why[128];
            regerror(error, &regex, why, sizeof(why));
            return mg__cli_complain(o, "--kernel '%s': %s", value, why);
        }
        regfree(&regex);
        o->kernel = value;
        break;
    }
    case OPT_LAUNCHES:
        if (!parse_count(value, &o->launches))
            return mg__cli_complain(o, "--launches %s: a number from 1 is needed", value);
        break;
    case OPT_THREADS:
        if (!parse_count(value, &o->threads) || o->threads > 4096)
            return mg__cli_complain(o, "--threads %s: a number from 1 to 4096 is needed", value);
        break;
    case OPT_DEVICE:
        o->arch = mg_arch_parse(value);
        if (!o->arch)
            return mg__cli_bad_capability(o, "device", value);
        break;
    case OPT_DEVICES:
        if (!parse_count(value, &o->devices) || o->devices > MG_MOST_DEVICES)
            return mg__cli_complain(o, "--devices %s: a number from 1 to %u is needed; --device takes a capability",
                                    value, MG_MOST_DEVICES);
        break;
    case OPT_BOARD:
        o->board = mg_board_find(value);
        if (!o->board)
            return mg__cli_complain(o, "--board %s: no board of that name; 'margay limits --all' lists them", value);
        break;
    case OPT_TIMEOUT: {
        errno = 0;
        double seconds = strtod(value, &end);
        if (errno || end == value || *end || !(seconds >= 0.001 && seconds <= 4e6))
            return mg__cli_complain(o, "--timeout %s: seconds are needed, such as 30 or 0.5", value);
        o->timeout_ms = (unsigned)lround(seconds * 1000);
        break;
    }
    case OPT_STRICT:
        o->strict = true;
        break;
    case OPT_NVCC_ARGS:
        o->nvcc_args = value;
        break;
    case OPT_ENGINE:
        if (strcmp(value, "jit") && strcmp(value, "quick") && strcmp(value, "interp"))
            return mg__cli_complain(o, "--engine %s: jit, quick or interp is needed", value);
        o->engine = value;
        break;
    case OPT_QUIET:
        o->quiet = true;
        break;
    case OPT_VERBOSE:
        o->verbose = true;
        break;
    case OPT_EXPECT:
        if (o->expect)
            return mg__cli_complain(o, "--expect is given twice; commas join budgets");
        o->expect = value;
        break;
    case OPT_FORMAT: {
        enum mg_format format;
        if (!mg__format_parse(value, &format))
            return mg__cli_complain(o, "--format %s: text, gcc or github is needed", value);
        o->format = (int)format;
        break;
    }
    case OPT_SIZES:
        o->sizes = value;
        break;
    case OPT_REPS: {
        unsigned n;
        if (!parse_count(value, &n) || n < 20 || n > 1000)
            return mg__cli_complain(o, "--reps %s: a number from 20 to 1000 is needed", value);
        o->reps = value;
        break;
    }
    case OPT_SIMULATE:
        o->simulate = true;
        break;
    case OPT_SVG:
        o->svg = value;
        break;
    case OPT_SARIF:
        o->sarif = value;
        break;
    case OPT_ONLY:
        return parse_checks(o, value);
    case OPT_LEAKS:
        o->leaks = true;
        break;
    case OPT_SUPPRESS:
        o->suppress = value;
        break;
    case OPT_FAIL_ON:
        if (!strcmp(value, "error"))
            o->fail_on = MG_SEVERITY_ERROR;
        else if (!strcmp(value, "warning"))
            o->fail_on = MG_SEVERITY_WARNING;
        else if (!strcmp(value, "never"))
            o->fail_on = MG_SEVERITY_ERROR + 1;
        else
            return mg__cli_complain(o, "--fail-on %s: error, warning or never is needed", value);
        break;
    case OPT_HELP:
        return mg__cli_help(o->command);
    case OPT_VERSION:
        puts("margay " MG_VERSION_STRING);
        return 0;
    default:
        return mg__cli_complain(o, "option %d is not handled", id);
    }
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
    int result = mg__cli_read(&(struct mg_cli_reader){.table = table, .count = MG_COUNT(table), .command = command,
                                                      .mixed = command == MG_CMD_BENCH, .help = OPT_HELP, .options = o,
                                                      .apply = apply, .arg = o},
                              argc, argv);
    if (result >= 0)
        return result;
    if (o->board && o->arch && o->board->cc != o->arch->cc)
        return mg__cli_complain(o, "%s has compute capability %u.%u, not %u.%u", o->board->name, o->board->cc / 10,
                                o->board->cc % 10, o->arch->cc / 10, o->arch->cc % 10);
    if (!o->arch)
        o->arch = mg_arch_find(o->board ? o->board->cc : 90);
    if (!o->board)
        o->board = o->arch->board;
    if (optind >= argc && command != MG_CMD_BENCH)
        return mg__cli_complain(o, "no program given; usage: margay %s [options] PROGRAM [args...]", o->name);
    o->program = argv + optind;
    return -1;
}
