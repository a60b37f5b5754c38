/* cmd_env.c - `margay env`: what `margay run` sets for a program, for a shell or a CI job to set for all that it
 * starts.
 *
 * The options are those of `margay run`. There is nobody to take records, so what programs do wrong is told on their
 * own standard error.
 */
#include "cli.h"

static int help(void)
{
    fputs("usage: eval \"$(margay env [options])\"\n"
          "       margay env --lines [options] >>\"$GITHUB_ENV\"\n"
          "\n"
          "Prints what `margay run` sets for a program, so that every program started from a shell,\n"
          "or by a CI job, finds Margay's CUDA runtime and driver: as commands of a shell, or with\n"
          "--lines as NAME=VALUE. Options are those of `margay run` about the device and how it runs.\n",
          stdout);
    return 0;
}

/* In single quotes, as a shell reads them. */
static void print_quoted(const char *value)
{
    putchar('\'');
    for (; *value; value++)
        if (*value == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*value);
    putchar('\'');
}

int mg__cmd_env(int argc, char **argv)
{
    static const char *const names[] = {
        "PATH",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "MARGAY_DEVICE",
        "MARGAY_BOARD",
        "MARGAY_DEVICES",
        "MARGAY_THREADS",
        "MARGAY_ENGINE",
        "MARGAY_TIMEOUT",
        "MARGAY_STRICT",
        "MARGAY_VERBOSE",
        "TRITON_PTXAS_PATH",
        "TRITON_PTXAS_BLACKWELL_PATH",
        "CUPY_CACHE_DIR",
        "CUPY_CACHE_IN_MEMORY",
        "CUPY_ACCELERATORS",
        "TILELANG_EXECUTION_BACKEND",
        "TILELANG_CACHE_DIR",
        "TILELANG_DISABLE_CACHE",
        "CUDA_HOME",
    };
    struct mg_cli_options options;
    bool lines = false;
    char **args = calloc((size_t)argc + 2, sizeof(*args));
    int n = 0;
    if (!args)
        return mg__cli_complain(NULL, "no memory");
    for (int i = 0; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            free(args);
            return help();
        }
        if (!strcmp(argv[i], "--lines"))
            lines = true;
        else
            args[n++] = argv[i];
    }
    args[n++] = (char[]){"true"}; /* the program that the options are for */
    int result = mg__cli_parse(MG_CMD_RUN, n, args, &options);
    if (result < 0 && strcmp(options.program[0], "true") != 0)
        result = mg__cli_complain(NULL, "margay env takes no program, and is given %s", options.program[0]);
    if (result < 0)
        result = mg__session_settings(&options);
    for (size_t i = 0; result < 0 && i < MG_COUNT(names); i++) {
        const char *value = getenv(names[i]);
        if (!value)
            continue;
        printf("%s%s=", lines ? "" : "export ", names[i]);
        if (lines)
            fputs(value, stdout);
        else
            print_quoted(value);
        putchar('\n');
    }
    free(args);
    return result < 0 ? 0 : result;
}
