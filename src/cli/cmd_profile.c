/* cmd_profile.c - `margay profile`: the program's own output, then the tables of kernels, source lines and variables.
 *
 * The tables go to standard error, so that the program's standard output can still be piped; --output sends them to a
 * file.
 */
#include "cli.h"

#include <errno.h>

static int show(struct mg_session *session, const struct mg_cli_options *options, FILE *to, const char *name)
{
    struct mg_strbuf text = {0};
    struct mg_style style = options->style;
    int result = -1;
    if (to != stderr) {
        style.color = false;
        style.width = 80;
    }
    mg__tally_sort(&session->tally);
    if (!mg__render_profile(&session->tally, &session->device, &style, &text) ||
        !mg__machine_render(&session->machine, &style, &text))
        result = mg__cli_complain(options, "out of memory");
    else if (fputs(text.at, to) < 0 || fflush(to) != 0)
        result = mg__cli_complain(options, "%s could not be written", name);
    mg__strbuf_free(&text);
    return result;
}

int mg__cmd_profile(int argc, char **argv)
{
    struct mg_cli_options options;
    struct mg_session session;
    FILE *to = stderr;
    int status = 0;
    int result = mg__cli_parse(MG_CMD_PROFILE, argc, argv, &options);
    if (result >= 0)
        return result;
    if (options.output) {
        to = fopen(options.output, "we");
        if (!to)
            return mg__cli_complain(&options, "%s: %s", options.output, strerror(errno));
    }
    result = mg__session_run(&session, &options, &status);
    if (result < 0) {
        int shown = show(&session, &options, to, options.output ? options.output : "standard error");
        result = shown >= 0 && status == 0 ? shown : status;
    }
    if (to != stderr && fclose(to) != 0 && result == 0)
        result = mg__cli_complain(&options, "%s could not be written", options.output);
    mg__session_free(&session);
    return result;
}
