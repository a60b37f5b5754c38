/* main.c - the command `margay`: picks the command and hands over. A new command is a file cmd_<name>.c, a row of the
 * table below, and its options in option.def. */
#include "cli.h"

#include <locale.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    enum mg_command id;
} commands[] = {
    {"run", mg__cmd_run, MG_CMD_RUN},       {"profile", mg__cmd_profile, MG_CMD_PROFILE},
    {"check", mg__cmd_check, MG_CMD_CHECK}, {"advise", mg__cmd_advise, MG_CMD_ADVISE},
    {"bench", mg__cmd_bench, MG_CMD_BENCH}, {"diff", mg__cmd_diff, 0},
    {"compare", mg__cmd_compare, 0},        {"sweep", mg__cmd_sweep, 0},
    {"summary", mg__cmd_summary, 0},        {"banks", mg__cmd_banks, 0},
    {"limits", mg__cmd_limits, 0}, /* 0: it has options of its own (device_option.def) */
    {"occupancy", mg__cmd_occupancy, 0},    {"env", mg__cmd_env, 0},
};

const char *const mg__cli_commands[] = {"run",    "profile",   "check", "advise",  "bench",
                                        "diff",   "compare",   "sweep", "summary", "banks",
                                        "limits", "occupancy", "env",   "help",    NULL};

static int help(void)
{
    fputs("Margay runs CUDA programs on a machine with no GPU, and says what their shared memory did.\n"
          "\n"
          "usage: margay run [options] PROGRAM|FILE.cu [args...]\n"
          "       margay profile [options] PROGRAM|FILE.cu [args...]\n"
          "       margay check [options] PROGRAM|FILE.cu [args...]\n"
          "       margay advise [options] PROGRAM|FILE.cu [args...]\n"
          "       margay bench [options] [OPERATION...]\n"
          "       margay diff [options] A.json B.json\n"
          "       margay compare [options] A[:KERNEL][@NAME=VALUE,...] B[...] [args...]\n"
          "       margay sweep --block LIST | -D NAME=LIST ... [options] PROGRAM|FILE.cu [args...]\n"
          "       margay banks EXPRESSION --decl DECLARATION | REPORT.json --line [FILE:]LINE\n"
          "       margay summary [--json] REPORT.json... | PROGRAM|FILE.cu [args...]\n"
          "       margay limits [--cc CC | --board NAME | --device N | --all] [--json]\n"
          "       margay occupancy --threads N --regs N --smem BYTES | --kernel FILE[:REGEX]\n"
          "       margay env [--lines] [options]\n"
          "       margay help [COMMAND]\n"
          "\n"
          "PROGRAM is whatever starts: ./a.out, python3 FILE.py, a script. FILE.cu is compiled with nvcc\n"
          "first. FILE of occupancy may be a program, library, .cubin, .fatbin, .ptx or .cu file.\n"
          "\n"
          "  run      run the program; one line for each kernel on standard error\n"
          "  profile  run the program and count: shared-memory wavefronts, global sectors and\n"
          "           divergent branches, for every kernel and every source line\n"
          "  check    run the program and look for races, barriers that threads miss, reads of what\n"
          "           nobody wrote, accesses out of bounds, and launches that no device takes\n"
          "  advise   run the program and say what would make each kernel faster, tried where it can\n"
          "           be: shared memory or none, padding, index order, block size; the roofline\n"
          "  bench    verify the collection's kernels, and time them on a GPU or count without one\n"
          "  diff     what changed between two reports, and whether it became worse\n"
          "  compare  which of two kernels, programs or reports is faster on the device, how sure, and why\n"
          "  sweep    the time for every block size, macro, size and board of a list: table and plot\n"
          "  banks    which bank each lane accesses, before and after the best padding and swizzle\n"
          "  summary  is it right, what limits it, what to change: in a few lines, or in JSON\n"
          "  limits   what a launch, a block and a multiprocessor may have, for any GPU from 5.0 on\n"
          "  occupancy  how many blocks a multiprocessor holds, what binds, what to change\n"
          "  env      the settings of run, for a shell or a CI job: eval \"$(margay env)\"\n"
          "  help     show the options of a command\n"
          "\n"
          "  --help, --version\n"
          "\n"
          "Exit status: the program's own (128 + N when signal N ended it); 2, with a message that\n"
          "starts with \"margay: error:\", when Margay could not start it. Of check: 0 when nothing\n"
          "was found, 1 when something was, 2 when it could not run to its end.\n",
          stdout);
    return 0;
}

static int version(void)
{
    puts("margay " MG_VERSION_STRING);
    return 0;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, ""); /* which characters the terminal can show; numbers stay in the C locale */
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) {
        help();
        return MG_EXIT_SETUP;
    }
    if (!strcmp(name, "--version"))
        return version();
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || (!strcmp(name, "help") && argc == 2))
        return help();
    const char *wanted = !strcmp(name, "help") ? argv[2] : name;
    for (size_t i = 0; i < MG_COUNT(commands); i++)
        if (!strcmp(commands[i].name, wanted))
            return wanted == name        ? commands[i].run(argc - 1, argv + 1)
                   : commands[i].id == 0 ? commands[i].run(2, (char *[]){argv[2], "--help", NULL})
                                         : mg__cli_help(commands[i].id);
    const char *near = mg__cli_nearest(wanted, mg__cli_commands);
    if (wanted[0] == '-')
        return mg__cli_complain(NULL, "unknown option '%s'; see 'margay --help'", wanted);
    if (near)
        return mg__cli_complain(NULL, "unknown command '%s'; did you mean '%s'?", wanted, near);
    return mg__cli_complain(NULL, "unknown command '%s'; see 'margay --help'", wanted);
}
