/* finding.c - one finding as people read it.
 *
 *   margay: error: race/write-read in sum(float*, int)
 *     --> sum.cu:12
 *      12 | total += tile[threadIdx.x + 1];
 *         |          ^~~~~~~~~~~~~~~~~~~~~
 *       9 | tile[threadIdx.x] = in[i];
 *         | ^~~~~~~~~~~~~~~~~ the other access
 *     thread (0,0,0) of block (0,0,0) reads tile[1], which … (255 times)
 *     fix: Put a __syncthreads() between the write and the read.
 *
 * The caret goes under the variable where the line names it, and what follows it in brackets; the compiler's columns,
 * which often are those of the whole statement, say which one is meant if it is there twice, and serve where it is not
 * named.
 */
#include "report/render.h"

#include <ctype.h>

static bool plain(struct mg_strbuf *out, const char *text)
{
    return mg__strbuf_append(out, text, strlen(text));
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Past blanks and brackets that follow `at`: the end of tile[y + 1][x]. */
static size_t after_subscripts(const char *text, size_t length, size_t at)
{
    for (;;) {
        size_t from = at, depth = 0;
        while (from < length && text[from] == ' ')
            from++;
        if (from >= length || text[from] != '[')
            return at;
        for (; from < length; from++) {
            if (text[from] == '[')
                depth++;
            else if (text[from] == ']' && --depth == 0)
                break;
        }
        if (from >= length)
            return at;
        at = from + 1;
    }
}

/* Where in the line the variable is. */
static bool find_variable(const char *text, size_t length, const char *variable, size_t column, size_t *start,
                          size_t *end)
{
    size_t n = mg__finding_variable_name(variable);
    bool found = false;
    if (n == 0 || n > length)
        return false;
    for (size_t i = 0; i + n <= length; i++) {
        if (memcmp(text + i, variable, n) || (i && in_word(text[i - 1])) || (i + n < length && in_word(text[i + n])))
            continue;
        *start = i;
        *end = after_subscripts(text, length, i + n);
        found = true;
        if (i >= column)
            break;
    }
    return found;
}

/* Columns that a piece of text takes. */
static unsigned measure(const struct mg_style *style, const char *text, size_t length)
{
    struct mg_strbuf scratch = {0};
    unsigned used = 0;
    (void)mg__layout_text(&scratch, style, text, length, UINT32_MAX, &used);
    mg__strbuf_free(&scratch);
    return used;
}

/* The source line and what marks it; nothing when there is no such line to read. */
static bool excerpt(struct mg_strbuf *out, const struct mg_style *style, struct mg_sources *sources, const char *file,
                    uint32_t line, uint32_t column, const char *variable, const char *label)
{
    const char *text;
    size_t length, indent, start = 0, end = 0;
    if (!mg__sources_line(sources, file, line, &text, &length, &indent))
        return !label[0] || mg__strbuf_printf(out, "%6u | (not to be read) %s\n", line, label);
    size_t at = column > indent ? column - 1 - indent : 0;
    if (at >= length)
        at = 0;
    if (!find_variable(text, length, variable, at, &start, &end)) {
        start = at;
        end = at + 1;
    }
    unsigned room = MG_MAX(style->width, 30u) - 10, before = measure(style, text, start);
    unsigned wide = measure(style, text + start, end - start);
    bool ok = mg__strbuf_printf(out, "%6u | ", line) && mg__layout_text(out, style, text, length, room, NULL) &&
              plain(out, "\n");
    if (!ok || before >= room)
        return ok && (!label[0] || mg__strbuf_printf(out, "%6s | %s\n", "", label));
    ok = mg__strbuf_printf(out, "%6s | %*s", "", (int)before, "") && mg__layout_tone(out, style, MG_TONE_BOLD, true) &&
         plain(out, "^");
    for (unsigned i = 1; ok && i < wide && before + i < room; i++)
        ok = plain(out, "~");
    return ok && mg__layout_tone(out, style, MG_TONE_BOLD, false) && (!label[0] || plain(out, " ")) &&
           plain(out, label) && plain(out, "\n");
}

/* Words, broken into lines that fit; lines after the first begin with two blanks more. */
static bool paragraph(struct mg_strbuf *out, const struct mg_style *style, const char *text)
{
    unsigned width = MG_MAX(style->width, 40u), at = 2;
    bool ok = plain(out, "  "), first = true;
    while (ok) {
        text += strspn(text, " \n");
        size_t n = strcspn(text, " \n");
        if (n == 0)
            break;
        unsigned wide = measure(style, text, n);
        if (!first && at + 1 + wide > width) {
            ok = plain(out, "\n    ");
            at = 4;
        } else if (!first) {
            ok = plain(out, " ");
            at++;
        }
        ok = ok && mg__layout_text(out, style, text, n, UINT32_MAX, NULL);
        at += wide;
        first = false;
        text += n;
    }
    return ok && plain(out, "\n");
}

static bool place(struct mg_strbuf *out, const struct mg_style *style, const char *file, uint32_t line)
{
    file = mg__layout_path(style, file);
    return plain(out, "  --> ") && mg__layout_text(out, style, file, strlen(file), UINT32_MAX, NULL) &&
           mg__strbuf_printf(out, ":%u\n", line);
}

static const char *other_label(const struct mg_report_finding *f)
{
    if (!strcmp(f->check, "race"))
        return "the other access";
    if (!strcmp(f->check, "barrier"))
        return "the others are here";
    return "see also here";
}

bool mg__render_finding(const struct mg_report_finding *f, struct mg_sources *sources, const struct mg_style *style,
                        struct mg_strbuf *out)
{
    enum mg_tone tone = f->severity == MG_SEVERITY_ERROR ? MG_TONE_RED : MG_TONE_BOLD;
    bool ok = mg__layout_tone(out, style, MG_TONE_BOLD, true) && plain(out, "margay: ") &&
              mg__layout_tone(out, style, MG_TONE_BOLD, false) && mg__layout_tone(out, style, tone, true) &&
              mg__strbuf_printf(out, "%s: ", mg__report_severity_name(f->severity)) &&
              mg__layout_tone(out, style, tone, false) &&
              mg__layout_text(out, style, f->check, strlen(f->check), 40, NULL) && plain(out, "/") &&
              mg__layout_text(out, style, f->kind, strlen(f->kind), 40, NULL);
    if (ok && f->kernel[0])
        ok = plain(out, " in ") && /* Numba's tags are of no use here, and longer than a line */
             mg__layout_kernel(out, style, f->kernel,
                               strstr(f->kernel, "[abi:") ? MG_MAX(style->width, 60u) - 20 : UINT32_MAX, NULL);
    ok = ok && plain(out, "\n");
    bool placed = f->file[0] && f->line;
    if (placed)
        ok = ok && place(out, style, f->file, f->line) &&
             excerpt(out, style, sources, f->file, f->line, f->column, f->variable, "");
    if (f->other_line) {
        const char *other = f->other_file[0] ? f->other_file : f->file;
        bool same_file = placed && !strcmp(other, f->file);
        if (same_file && f->other_line == f->line) {
            ok = ok && (strcmp(f->check, "race") || plain(out, "         both accesses are on this line\n"));
        } else {
            ok = ok && (same_file || place(out, style, other, f->other_line)) &&
                 excerpt(out, style, sources, other, f->other_line, f->other_column, f->variable, other_label(f));
        }
    }
    struct mg_strbuf text = {0};
    ok = ok && plain(&text, f->message);
    if (f->variable[0] && !strstr(f->message, f->variable))
        ok = ok && mg__strbuf_printf(&text, "%s%s", f->message[0] ? "; at " : "at ", f->variable);
    if (f->count > 1)
        ok = ok && plain(&text, " (") && mg__layout_number(&text, f->count, 0) && plain(&text, " times)");
    if (text.count)
        ok = ok && paragraph(out, style, text.at);
    text.count = 0;
    if (f->advice[0])
        ok = ok && mg__strbuf_printf(&text, "fix: %s", f->advice) && paragraph(out, style, text.at);
    mg__strbuf_free(&text);
    return ok;
}
