/* say.c - lines of the command's own on standard error. All of src/cli may call it, and it calls nobody. */
#include "cli.h"

static void complain(const struct mg_cli_options *options, const char *kind, const char *format, va_list args)
{
    fputs(options && options->style.color ? "\x1b[1mmargay:\x1b[0m " : "margay: ", stderr);
    fputs(kind, stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int mg__cli_complain(const struct mg_cli_options *options, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(options, "error: ", format, args);
    va_end(args);
    return MG_EXIT_SETUP;
}

void mg__cli_say(const struct mg_cli_options *options, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (options->verbose)
        complain(options, "", format, args);
    va_end(args);
}
