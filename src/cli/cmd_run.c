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
    options.style.given = &session.given;
    result = mg__session_run(&session, &options, &status);
    if (result < 0) {
        bool any = session.launches > 0, ok = true;
        if (any)
            ok = mg__strbuf_printf(&text, "margay: on a simulated %s:\n", session.device.name) &&
                 mg__render_summary(&session.tally, &options.style, &text);
        else if (!session.errors)
            ok = mg__strbuf_printf(&text, "margay: ") && mg__session_none(&session, &text) &&
                 mg__strbuf_printf(&text, "\n%s", mg__session_hint(&session));
        ok = ok && mg__hosted_render(&session.hosted, &options.style, &text);
        if (ok && text.at)
            fputs(text.at, stderr);
        result = status;
    }
    mg__strbuf_free(&text);
    mg__session_free(&session);
    return result;
}
