/* cmd_profile.c - `margay profile`: the program's own output, then the tables of kernels, source lines and variables.
 *
 * The tables go to standard error, so that the program's standard output can still be piped; --output sends them to a
 * file.
 */
#include "guard.h"

static void judge(void *arg, struct mg_session *session)
{
    mg__tally_sort(&session->tally);
    if (mg__budgets_judge(arg, &session->options->style, &session->tally, &session->findings) != MG_OK)
        session->damaged++;
}

/* Exceeded budgets go to standard error, whatever becomes of the tables: a build's log is where they are read. */
static int tell(const struct mg_session *session, const struct mg_cli_options *options,
                const struct mg_budgets *budgets)
{
    struct mg_strbuf text = {0};
    int result = mg__budgets_tell(budgets, options, &session->tally, &session->findings, &text);
    if (text.count && (fputs("\n", stderr) < 0 || fwrite(text.at, 1, text.count, stderr) != text.count))
        result = mg__cli_complain(options, "standard error could not be written");
    mg__strbuf_free(&text);
    return result;
}

static bool write_sarif(const struct mg_session *s, const struct mg_budgets *budgets, FILE *to)
{
    struct mg_sarif_rule *rules = calloc(mg__budgets_count(budgets) + 1, sizeof(*rules));
    struct mg_strbuf text = {0};
    bool ok = rules &&
              mg__render_sarif(&s->findings, NULL, &s->given, rules, mg__budgets_rules(budgets, rules),
                               s->options->style.cwd, !s->errors && !s->damaged, &text) &&
              fwrite(text.at, 1, text.count, to) == text.count;
    mg__strbuf_free(&text);
    free(rules);
    return ok;
}

static void occupy(struct mg_session *session, const struct mg_arch *arch)
{
    for (size_t i = 0; i < session->tally.kernels.count; i++) {
        struct mg_tally_kernel *k = session->tally.kernels.at[i];
        uint64_t threads = (uint64_t)k->block.x * k->block.y * k->block.z;
        struct mg_occupancy_query q = mg_arch_query((unsigned)MG_MIN(threads, (uint64_t)UINT32_MAX), k->regs,
                                                    k->shared_static, k->shared_dynamic);
        struct mg_occupancy o;
        q.shared_optin = k->shared_dynamic;
        if (k->regs && mg_arch_occupancy(arch, &q, &o) == MG_OK)
            k->occupancy = o.occupancy;
    }
}

static int show(struct mg_session *session, const struct mg_cli_options *options, FILE *to)
{
    struct mg_strbuf text = {0};
    struct mg_style style = options->style;
    int result = -1;
    bool ok = true;
    if (options->output) {
        style.color = false;
        style.width = 80;
    }
    mg__tally_sort(&session->tally);
    occupy(session, options->arch);
    if (!session->launches && session->errors)
        return -1; /* they say why */
    if (!session->launches)
        ok = mg__strbuf_printf(&text, "margay: ") && mg__session_none(session, &text) &&
             mg__strbuf_printf(&text, "\n%s", mg__session_hint(session));
    else
        ok = mg__render_profile(&session->tally, &session->device, &style, &text) &&
             mg__machine_render(&session->machine, &style, &text);
    ok = ok && mg__hosted_render(&session->hosted, &style, &text);
    if (!ok)
        result = mg__cli_complain(options, "out of memory");
    else if (fputs(text.at, to) < 0 || fflush(to) != 0)
        result = mg__cli_complain(options, "%s could not be written",
                                  options->output ? mg__output_name(options->output) : "standard error");
    mg__strbuf_free(&text);
    return result;
}

int mg__cmd_profile(int argc, char **argv)
{
    struct mg_cli_options options;
    struct mg_session session = {0};
    struct mg_budgets *budgets = NULL;
    FILE *to = NULL, *sarif = NULL;
    int status = 0;
    int result = mg__cli_parse(MG_CMD_PROFILE, argc, argv, &options);
    if (result >= 0)
        return result;
    if (options.sarif && !options.expect)
        return mg__cli_complain(&options, "--sarif %s: of a profile, exceeded budgets are what it has: give --expect",
                                options.sarif);
    if (options.expect) {
        result = mg__budgets_load(&options, options.expect, &budgets);
        if (result >= 0)
            goto done;
        options.on_end = judge;
        options.on_end_arg = budgets;
    }
    result = MG_EXIT_SETUP;
    if (!mg__output_open(&options, options.output, &to) || !mg__output_open(&options, options.sarif, &sarif))
        goto done;
    const char *program = options.program[0]; /* compiling replaces it */
    options.style.given = &session.given;
    result = mg__session_run(&session, &options, &status);
    if (result < 0) {
        int shown = show(&session, &options, to ? to : stderr);
        if (budgets && shown < 0)
            shown = tell(&session, &options, budgets);
        bool written = !sarif || write_sarif(&session, budgets, sarif);
        if (!mg__output_close(&options, options.sarif, sarif, written))
            shown = MG_EXIT_SETUP;
        sarif = NULL;
        int page = mg__cli_page(&session, program);
        shown = shown < 0 ? page : shown;
        result = shown >= 0 && status == 0 ? shown : status;
    }
    if (!mg__output_close(&options, options.output, to, true) && result == 0)
        result = MG_EXIT_SETUP;
    to = NULL;
    mg__session_free(&session);
done:
    mg__output_discard(options.output, to);
    mg__output_discard(options.sarif, sarif);
    if (sarif)
        fclose(sarif);
    if (to)
        fclose(to);
    mg__budgets_free(budgets);
    return result;
}
