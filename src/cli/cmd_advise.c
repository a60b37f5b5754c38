/* cmd_advise.c - `margay advise`: the program's own output, then for each kernel what would make it faster, and why.
 *
 * The advice goes to standard error, so that the program's standard output can still be piped; --output sends it to a
 * file,
 * --json has all of it, --svg draws the rooflines.
 */
#include "cli.h"

#include <errno.h>

static int write_file(const struct mg_cli_options *options, const char *name, const struct mg_strbuf *text)
{
    FILE *to = fopen(name, "we");
    if (!to)
        return mg__cli_complain(options, "%s: %s", name, strerror(errno));
    bool ok = fwrite(text->at, 1, text->count, to) == text->count;
    if (fclose(to) != 0 || !ok)
        return mg__cli_complain(options, "%s could not be written", name);
    return -1;
}

static int draw(struct mg_session *session, const struct mg_cli_options *options)
{
    struct mg_strbuf text = {0};
    int result = -1;
    if (mg__render_roofline_svg(&session->advices, &text) && text.count)
        result = write_file(options, options->svg, &text);
    else
        result = mg__cli_complain(options, "--svg %s: no kernel that was launched has floating-point operations and "
                                           "memory traffic, so there is no roofline", options->svg);
    mg__strbuf_free(&text);
    return result;
}

static int show(struct mg_session *session, const struct mg_cli_options *options)
{
    struct mg_strbuf text = {0};
    struct mg_style style = options->style;
    int result = -1;
    if (options->output) {
        style.color = false;
        style.width = 80;
    }
    if (mg__advices_read(&session->advices) != MG_OK)
        return mg__cli_complain(options, "out of memory");
    mg__advices_sort(&session->advices);
    if (session->launches && !session->advices.at.count && session->signalled)
        result = mg__cli_complain(options, "no advice: the run ended before any was ready");
    else if (session->launches && !session->advices.at.count)
        result = mg__cli_complain(options, "no advice: this CUDA runtime runs kernels but does not look at them");
    else if (!mg__render_advice(&session->advices, &style, &text))
        result = mg__cli_complain(options, "out of memory");
    else if (options->output)
        result = write_file(options, options->output, &text);
    else if (fwrite(text.at, 1, text.count, stderr) != text.count || fflush(stderr) != 0)
        result = mg__cli_complain(options, "standard error could not be written");
    mg__strbuf_free(&text);
    if (result < 0 && options->svg)
        result = draw(session, options);
    return result;
}

int mg__cmd_advise(int argc, char **argv)
{
    struct mg_cli_options options;
    struct mg_session session;
    int status = 0;
    int result = mg__cli_parse(MG_CMD_ADVISE, argc, argv, &options);
    if (result >= 0)
        return result;
    result = mg__session_run(&session, &options, &status);
    if (result < 0) {
        int shown = show(&session, &options);
        result = shown >= 0 && status == 0 ? shown : status;
    }
    mg__session_free(&session);
    return result;
}
