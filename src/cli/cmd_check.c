/* cmd_check.c - `margay check`: the program's own output, then what is wrong with its kernels.
 *
 * Findings go to standard error, or where --output says; --json and --sarif have them for machines. The exit status is
 * about the check and not the program's: 1 when something was found, 2 when it cannot tell. A program that fails,
 * that launches nothing, or a kernel of which a part was not executed is no pass: what was not looked at may be wrong.
 */
#include "guard.h"

#define MAX_SHOWN 50 /* more would scroll the gravest off the screen; --json and --sarif have them all */

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static uint64_t count_of(const struct mg_findings *findings, enum mg_severity severity)
{
    uint64_t n = 0;
    for (size_t i = 0; i < findings->at.count; i++)
        n += findings->at.at[i]->severity == severity;
    return n;
}

/* The text, broken at its blanks where the style says so. */
static bool put_broken(struct mg_strbuf *out, const struct mg_style *style, const char *text)
{
    unsigned at = 0;
    bool ok = true;
    while (ok && *text) {
        size_t n = strcspn(text + 1, " ") + 1; /* a blank, and the word behind it */
        if (style->broken && at && at + n > style->width) {
            ok = mg__strbuf_append(out, "\n ", 2);
            at = 1;
        }
        ok = ok && mg__strbuf_append(out, text, n);
        at += (unsigned)n;
        text += n;
    }
    return ok && mg__strbuf_append(out, "\n", 1);
}

/* "margay: 1 error and 2 warnings: 3 launches of 2 kernels checked for race, init; 1 suppressed" */
static bool summary(const struct mg_session *s, const struct mg_style *style, struct mg_strbuf *to)
{
    struct mg_strbuf text = {0}, *out = &text;
    const char *between = "";
    if (!s->findings.at.count && (!s->checked || s->unexplained || (!s->launches && !s->suppressed.at.count)))
        return true; /* the verdict says why: "no findings" would be heard as a clean bill */
    bool ok = mg__strbuf_printf(out, "margay: ");
    for (int severity = MG_SEVERITY_ERROR; ok && severity >= MG_SEVERITY_NOTE; severity--) {
        uint64_t n = count_of(&s->findings, (enum mg_severity)severity);
        if (n)
            ok = mg__strbuf_printf(out, "%s%llu %s%s", between, (unsigned long long)n,
                                   mg__report_severity_name((enum mg_severity)severity), plural(n));
        between = n ? ", " : between;
    }
    if (ok && !s->findings.at.count)
        ok = mg__strbuf_printf(out, "no findings");
    ok = ok && mg__strbuf_printf(out, ": %llu launch%s of %zu kernel%s checked for ", (unsigned long long)s->launches,
                                 s->launches == 1 ? "" : "es", s->tally.kernels.count, plural(s->tally.kernels.count));
    for (const char *c = s->options->checks; ok && *c; c++)
        ok = *c == ',' ? mg__strbuf_append(out, ", ", 2) : mg__strbuf_append(out, c, 1);
    ok = ok && mg__strbuf_printf(out, " on a simulated %s", s->device.name);
    if (ok && s->suppressed.at.count)
        ok = mg__strbuf_printf(out, "; %zu suppressed", s->suppressed.at.count);
    ok = ok && put_broken(to, style, text.at);
    mg__strbuf_free(&text);
    return ok;
}

static bool render(const struct mg_session *s, const struct mg_style *style, struct mg_strbuf *out)
{
    struct mg_sources sources;
    bool ok = true, lines = true, of_host = true; /* known */
    size_t count = s->findings.at.count;
    mg__sources_init(&sources, &s->given);
    for (size_t i = 0; ok && i < count && i < MAX_SHOWN; i++) {
        const struct mg_report_finding *f = s->findings.at.at[i];
        const bool host = !strcmp(f->check, "race") && !strcmp(f->kind, "host");
        lines &= f->line || !f->kernel[0] || host || !strcmp(f->check, "launch");
        of_host &= f->line || !host;
        ok = mg__format_finding((enum mg_format)s->options->format, f, &sources, style, out);
        if (s->options->verbose)
            ok = ok && mg__strbuf_printf(out, "  suppress: ") && mg__suppression_for(f, style, out) &&
                 mg__strbuf_append(out, "\n", 1);
        if (s->options->format == MG_FORMAT_TEXT)
            ok = ok && mg__strbuf_append(out, "\n", 1);
    }
    if (ok && count > MAX_SHOWN)
        ok = mg__strbuf_printf(out, "margay: %zu more, none graver: --json FILE has them all\n", count - MAX_SHOWN);
    if (ok && !lines)
        ok = mg__strbuf_printf(out, "margay: some source lines are unknown: compile with nvcc -lineinfo to see them\n");
    if (ok && !of_host)
        ok = mg__strbuf_printf(out, "margay: the host's line is unknown: compile with nvcc -g to see it\n");
    mg__sources_free(&sources);
    return ok && mg__hosted_render(&s->hosted, style, out) && summary(s, style, out);
}

static bool write_sarif(const struct mg_session *s, FILE *to, bool complete)
{
    size_t nrules;
    const struct mg_sarif_rule *rules = mg__kinds(&nrules);
    struct mg_strbuf text = {0};
    bool ok = mg__render_sarif(&s->findings, &s->suppressed, &s->given, rules, nrules, s->options->style.cwd, complete,
                               &text) &&
              fwrite(text.at, 1, text.count, to) == text.count;
    mg__strbuf_free(&text);
    return ok;
}

static int nothing_checked(const struct mg_session *s)
{
    struct mg_strbuf why = {0};
    bool known = mg__session_none(s, &why);
    int result = mg__cli_complain(s->options, "%s: nothing was checked", known ? why.at : "no kernel was launched");
    fputs(mg__session_hint(s), stderr);
    mg__strbuf_free(&why);
    return result;
}

/* What the run says, if all that was asked for could be written. */
static int verdict(const struct mg_session *s, int program_status)
{
    const struct mg_cli_options *o = s->options;
    bool found = false;
    for (size_t i = 0; i < s->findings.at.count; i++)
        found |= (int)s->findings.at.at[i]->severity >= o->fail_on;
    if (found)
        return MG_EXIT_FINDINGS;
    if (s->launches && !s->checked)
        return mg__cli_complain(o, "nothing was checked: this CUDA runtime runs kernels but does not check them");
    if (s->unexplained && !s->launches)
        return mg__cli_complain(o, "nothing was checked: the run failed with the error above");
    if (s->unexplained)
        return mg__cli_complain(o, "not everything was checked: a %s with the error above",
                                s->stopped ? "kernel stopped" : "call failed");
    if (s->damaged)
        return mg__cli_complain(o, "not everything was checked: records of the run were lost");
    if (s->signalled && !s->launches && !s->findings.at.count)
        return nothing_checked(s);
    if (program_status && o->fail_on <= MG_SEVERITY_ERROR && !s->findings.at.count)
        return mg__cli_complain(o, "nothing was found, but %s ended with status %d, and a run that fails is no proof",
                                o->program[0], program_status);
    if (!s->launches && !s->findings.at.count && !s->suppressed.at.count)
        return nothing_checked(s);
    return 0;
}

int mg__cmd_check(int argc, char **argv)
{
    struct mg_cli_options options;
    struct mg_session session;
    FILE *to = NULL, *sarif = NULL;
    int status = 0;
    int result = mg__cli_parse(MG_CMD_CHECK, argc, argv, &options);
    if (result >= 0)
        return result;
    if (options.suppress) {
        result = mg__suppressions_load(&options, options.suppress, &options.suppressions);
        if (result >= 0)
            return result;
    }
    memset(&session, 0, sizeof(session));
    result = MG_EXIT_SETUP;
    if (!mg__output_open(&options, options.output, &to) || !mg__output_open(&options, options.sarif, &sarif))
        goto done;
    const char *program = options.program[0]; /* compiling replaces it */
    options.style.given = &session.given;
    result = mg__session_run(&session, &options, &status);
    if (result < 0) {
        struct mg_strbuf text = {0};
        struct mg_style style = options.style;
        FILE *page = to ? to : stderr;
        if (to) {
            style.color = style.broken = false;
            style.width = 100;
        }
        options.program[0] = (char *)(uintptr_t)program;
        bool ok = render(&session, &style, &text) && fputs(text.at ? text.at : "", page) >= 0 && fflush(page) == 0;
        mg__strbuf_free(&text);
        mg__suppressions_tell_unused(options.suppressions, &options);
        bool sarif_ok = !sarif || write_sarif(&session, sarif, !session.unexplained && !session.damaged);
        ok = mg__output_close(&options, options.output, to, ok);
        ok = mg__output_close(&options, options.sarif, sarif, sarif_ok) && ok;
        to = sarif = NULL;
        ok = mg__cli_page(&session, program) < 0 && ok;
        result = verdict(&session, status);
        if (!ok)
            result = MG_EXIT_SETUP;
    }
    mg__session_free(&session);
done:
    mg__output_discard(options.output, to);
    mg__output_discard(options.sarif, sarif);
    if (to)
        fclose(to);
    if (sarif)
        fclose(sarif);
    mg__suppressions_free(options.suppressions);
    return result;
}
