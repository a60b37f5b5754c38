/* cmd_run.c - `margay run`: the program's own output, and one line a kernel. */
#include "cli.h"

int mg__cmd_run(int argc, char **argv)
{
    struct mg_cli_options options;
    struct mg_session session;
    struct mg_strbuf text = {0};
    int status = 0;
    int result = mg__cli_parse(MG_CMD_RUN, argc, argv, &options);
    if (result >= 0)
        return result;
    result = mg__session_run(&session, &options, &status);
    if (result < 0) {
        if (!session.launches && !session.errors)
            fputs("margay: no kernel was launched\n", stderr);
        else if (mg__render_summary(&session.tally, &options.style, &text) && text.at)
            fputs(text.at, stderr);
        result = status;
    }
    mg__strbuf_free(&text);
    mg__session_free(&session);
    return result;
}
