/* cmd_profile.c - `margay profile`: the program's own output, then the tables of kernels, source lines and variables.
 *
 * The tables go to standard error, so that the program's standard output can still be piped; --output sends them to a
 * file.
 */
#include "guard.h"

#include <errno.h>

/* Exceeded budgets go to standard error, whatever becomes of the tables: a build's log is where they are read. */
static int judge(const struct mg_session *session, const struct mg_cli_options *options,
                 const struct mg_budgets *budgets)
{
    struct mg_strbuf text = {0};
    int result = mg__budgets_judge(budgets, options, &session->tally, &options->style, &text);
    if (text.count && (fputs("\n", stderr) < 0 || fwrite(text.at, 1, text.count, stderr) != text.count))
        result = mg__cli_complain(options, "standard error could not be written");
    mg__strbuf_free(&text);
    return result;
}

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
    struct mg_budgets *budgets = NULL;
    if (options.expect) {
        result = mg__budgets_load(&options, options.expect, &budgets);
        if (result >= 0) {
            mg__budgets_free(budgets);
            return result;
        }
    }
    if (options.output) {
        to = fopen(options.output, "we");
        if (!to) {
            mg__budgets_free(budgets);
            return mg__cli_complain(&options, "%s: %s", options.output, strerror(errno));
        }
    }
    result = mg__session_run(&session, &options, &status);
    if (result < 0) {
        int shown = show(&session, &options, to, options.output ? options.output : "standard error");
        if (budgets && shown < 0)
            shown = judge(&session, &options, budgets);
        result = shown >= 0 && status == 0 ? shown : status;
    }
    if (to != stderr && fclose(to) != 0 && result == 0)
        result = mg__cli_complain(&options, "%s could not be written", options.output);
    mg__session_free(&session);
    mg__budgets_free(budgets);
    return result;
}
