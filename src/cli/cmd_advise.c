/* cmd_advise.c - `margay advise`: the program's own output, then for each kernel what would make it faster, and why.
 *
 * In short, a table of all kernels; with --kernel or --full, a page for each. It goes to standard error, so that the
 * program's standard output can still be piped; --output sends it to a file, --json has all of it, --svg draws the
 * rooflines.
 */
#include "cli.h"

static int draw(struct mg_session *session, const struct mg_cli_options *options)
{
    struct mg_strbuf text = {0};
    int result = -1;
    if (!mg__render_roofline_svg(&session->advices, &text) || !text.count)
        fprintf(stderr, "margay: no roofline for --svg: no kernel has both floating-point operations and accesses\n");
    else if (!mg__output_write(options, options->svg, &text))
        result = MG_EXIT_SETUP;
    mg__strbuf_free(&text);
    return result;
}

/* What there is to say in place of advice, where there is none. False: there is some. */
static bool none(const struct mg_session *s, struct mg_strbuf *out)
{
    if (s->advices.at.count)
        return false;
    if (!s->launches && s->errors)
        return true; /* they say why */
    if (mg__strbuf_printf(out, "margay: ") && mg__session_none(s, out))
        mg__strbuf_append(out, "\n", 1);
    return true;
}

static int show(struct mg_session *session, const struct mg_cli_options *options)
{
    struct mg_strbuf text = {0};
    struct mg_style style = options->style;
    bool full = options->full || options->kernel;
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
    else if (!none(session, &text) && !(full ? mg__render_advice(&session->advices, &style, &text)
                                             : mg__render_advice_table(&session->advices, &style, &text)))
        result = mg__cli_complain(options, "out of memory");
    else if (options->output)
        result = mg__output_write(options, options->output, &text) ? -1 : MG_EXIT_SETUP;
    else if ((text.count && fwrite(text.at, 1, text.count, stderr) != text.count) || fflush(stderr) != 0)
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
    const char *program = options.program[0]; /* compiling replaces it */
    result = mg__session_run(&session, &options, &status);
    if (result < 0) {
        int shown = show(&session, &options);
        int page = mg__cli_page(&session, program);
        shown = shown < 0 ? page : shown;
        result = shown >= 0 && status == 0 ? shown : status;
    }
    mg__session_free(&session);
    return result;
}
