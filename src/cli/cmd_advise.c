/* cmd_advise.c - `margay advise`: the program's own output, then for each kernel what would make it faster, and why.
 *
 * In short, a table of all kernels; with --kernel or --full, a page for each. A word that is no program is a kernel:
 * alone, of the last run in this folder, whose advice is kept (last.c). It goes to standard error, so that the
 * program's standard output can still be piped; --output sends it to a file, --json has all of it, --svg draws the
 * rooflines.
 */
#include "guard.h"

static int draw(const struct mg_advices *advices, const struct mg_cli_options *options)
{
    struct mg_strbuf text = {0};
    int result = -1;
    if (!mg__render_roofline_svg(advices, &text) || !text.count)
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
        mg__strbuf_printf(out, "\n%s", mg__session_hint(s));
    return true;
}

/* The advice, to where it is wanted; `instead` of it, if that is not empty. */
static int print(const struct mg_advices *advices, const struct mg_hosted_rows *hosted,
                 const struct mg_cli_options *options, struct mg_strbuf *instead)
{
    struct mg_style style = options->style;
    bool full = options->full || options->kernel;
    int result = -1;
    if (options->output) {
        style.color = false;
        style.width = 80;
    }
    if (!instead->count &&
        !(full ? mg__render_advice(advices, &style, instead) : mg__render_advice_table(advices, &style, instead)))
        result = mg__cli_complain(options, "out of memory");
    else if (hosted && !mg__hosted_render(hosted, &style, instead))
        result = mg__cli_complain(options, "out of memory");
    else if (options->output)
        result = mg__output_write(options, options->output, instead) ? -1 : MG_EXIT_SETUP;
    else if (fwrite(instead->at, 1, instead->count, stderr) != instead->count || fflush(stderr) != 0)
        result = mg__cli_complain(options, "standard error could not be written");
    if (result < 0 && options->svg)
        result = draw(advices, options);
    return result;
}

static int show(struct mg_session *session, const struct mg_cli_options *options)
{
    struct mg_strbuf text = {0};
    int result = -1;
    if (mg__advices_read(&session->advices) != MG_OK)
        return mg__cli_complain(options, "out of memory");
    mg__advices_sort(&session->advices);
    if (session->launches && !session->advices.at.count && session->signalled)
        result = mg__cli_complain(options, "no advice: the run ended before any was ready");
    else if (session->launches && !session->advices.at.count)
        result = mg__cli_complain(options, "no advice: this CUDA runtime runs kernels but does not look at them");
    else if (!none(session, &text) || text.count)
        result = print(&session->advices, &session->hosted, options, &text);
    mg__strbuf_free(&text);
    return result;
}

/* Of a kernel that the last run in this folder had. */
static int show_last(const struct mg_cli_options *options)
{
    struct mg_cli_options told = *options;
    struct mg_advices advices;
    struct mg_given given;
    struct mg_strbuf text = {0};
    mg__advices_init(&advices);
    mg__given_init(&given);
    advices.given = &given;
    told.style.given = &given;
    int result = mg__last_take(options, &advices, &given);
    if (result < 0)
        result = print(&advices, NULL, &told, &text);
    mg__strbuf_free(&text);
    mg__given_free(&given);
    mg__advices_free(&advices);
    return result < 0 ? 0 : result;
}

int mg__cmd_advise(int argc, char **argv)
{
    struct mg_cli_options options;
    struct mg_session session;
    int status = 0;
    int result = mg__cli_parse(MG_CMD_ADVISE, argc, argv, &options);
    if (result >= 0)
        return result;
    const char *program = options.program[0], *next = options.program[1]; /* compiling replaces the program */
    const bool kernel = mg__last_is_name(program) || (!next && mg__last_had(&options, program));
    if (!options.kernel && kernel && !(next && mg__last_is_name(next))) {
        result = mg__cli_kernel(&options, program);
        if (result >= 0 || !next)
            return result >= 0 ? result : show_last(&options);
        options.program++;
        program = next;
    }
    options.style.given = &session.given;
    result = mg__session_run(&session, &options, &status);
    if (result < 0) {
        int shown = show(&session, &options);
        int page = mg__cli_page(&session, program);
        mg__last_keep(&session, program);
        shown = shown < 0 ? page : shown;
        result = shown >= 0 && status == 0 ? shown : status;
    }
    mg__session_free(&session);
    return result;
}
