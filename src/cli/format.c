/* format.c - a finding in the form that other tools read: --format.
 *
 *   gcc      file:line:column: error: kernel: what happened [check/kind], with notes: editors jump to such lines
 *   github   ::error file=…,line=…,col=…,title=…::kernel: what happened: GitHub shows it beside the line
 *
 * Each message is one line: what would break it (a newline in a name, a colon in a property) is replaced or escaped as
 * the format asks. File names are relative to the working folder where they lie below it.
 */
#include "guard.h"

static const char *const names[] = {"text", "gcc", "github"};

bool mg__format_parse(const char *name, enum mg_format *format)
{
    for (size_t i = 0; i < MG_COUNT(names); i++)
        if (!strcmp(names[i], name)) {
            *format = (enum mg_format)i;
            return true;
        }
    return false;
}

static const char *other_label(const struct mg_report_finding *f)
{
    return !strcmp(f->check, "race")      ? "the other access"
           : !strcmp(f->check, "barrier") ? "the others are here"
                                          : "see also here";
}

/* ---- gcc ---- */

/* Made harmless, on one line. */
static bool word(struct mg_strbuf *out, const struct mg_style *style, const char *text)
{
    return mg__layout_text(out, style, text, strlen(text), UINT32_MAX, NULL);
}

/* "file:12:5: ", or "margay: " where there is no place. */
static bool gcc_place(struct mg_strbuf *out, const struct mg_style *style, const char *file, uint32_t line,
                      uint32_t column)
{
    if (!file[0] || !line)
        return mg__strbuf_printf(out, "margay: ");
    return word(out, style, mg__layout_path(style, file)) && mg__strbuf_printf(out, ":%u:", line) &&
           (!column || mg__strbuf_printf(out, "%u:", column)) && mg__strbuf_append(out, " ", 1);
}

static bool gcc(const struct mg_report_finding *f, const struct mg_style *style, struct mg_strbuf *out)
{
    const char *other = f->other_file[0] ? f->other_file : f->file;
    bool ok = gcc_place(out, style, f->file, f->line, f->column) &&
              mg__strbuf_printf(out, "%s: ", mg__report_severity_name(f->severity));
    if (ok && f->kernel[0])
        ok = word(out, style, f->kernel) && mg__strbuf_printf(out, ": ");
    ok = ok && word(out, style, f->message) && mg__strbuf_printf(out, " [") && word(out, style, f->check) &&
         mg__strbuf_append(out, "/", 1) && word(out, style, f->kind) && mg__strbuf_printf(out, "]\n");
    if (ok && f->other_line)
        ok = gcc_place(out, style, other, f->other_line, f->other_column) &&
             mg__strbuf_printf(out, "note: %s\n", other_label(f));
    if (ok && f->advice[0])
        ok = gcc_place(out, style, f->file, f->line, f->column) && mg__strbuf_printf(out, "note: fix: ") &&
             word(out, style, f->advice) && mg__strbuf_append(out, "\n", 1);
    return ok;
}

/* ---- github ---- */

/* Percent signs and line ends are escaped; in a property colons and commas too. */
static bool escaped(struct mg_strbuf *out, const char *text, bool property)
{
    bool ok = true;
    for (; ok && *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
            ok = mg__strbuf_printf(out, "%%%02X", c);
        else
            ok = mg__strbuf_append(out, text, 1);
    }
    return ok;
}

static bool github(const struct mg_report_finding *f, const struct mg_style *style, struct mg_strbuf *out)
{
    const char *command = f->severity == MG_SEVERITY_NOTE ? "notice" : mg__report_severity_name(f->severity);
    bool ok = mg__strbuf_printf(out, "::%s ", command);
    if (ok && f->file[0] && f->line) {
        ok = mg__strbuf_printf(out, "file=") && escaped(out, mg__layout_path(style, f->file), true) &&
             mg__strbuf_printf(out, ",line=%u,", f->line);
        if (ok && f->column)
            ok = mg__strbuf_printf(out, "col=%u,", f->column);
    }
    ok = ok && mg__strbuf_printf(out, "title=") && escaped(out, f->check, true) && mg__strbuf_append(out, "/", 1) &&
         escaped(out, f->kind, true) && mg__strbuf_printf(out, "::");
    if (ok && f->kernel[0])
        ok = escaped(out, f->kernel, false) && mg__strbuf_printf(out, ": ");
    ok = ok && escaped(out, f->message, false);
    if (ok && f->other_line) {
        const char *other = f->other_file[0] ? f->other_file : f->file;
        ok = mg__strbuf_printf(out, "%%0A%s: ", other_label(f)) && escaped(out, mg__layout_path(style, other), false) &&
             mg__strbuf_printf(out, ":%u", f->other_line);
    }
    if (ok && f->advice[0])
        ok = mg__strbuf_printf(out, "%%0Afix: ") && escaped(out, f->advice, false);
    return ok && mg__strbuf_append(out, "\n", 1);
}

bool mg__format_finding(enum mg_format format, const struct mg_report_finding *finding, struct mg_sources *sources,
                        const struct mg_style *style, struct mg_strbuf *out)
{
    switch (format) {
    case MG_FORMAT_GCC:
        return gcc(finding, style, out);
    case MG_FORMAT_GITHUB:
        return github(finding, style, out);
    default:
        return mg__render_finding(finding, sources, style, out);
    }
}
