/* suppress.c - findings that are known and accepted, listed in a file.
 *
 * One entry a line; what follows a # at the beginning of a word is a comment:
 *
 *     CHECK/KIND [kernel=GLOB] [at=FILE[:LINE]] [variable=GLOB]
 *
 * CHECK and KIND may be *. What is not named matches anything. `kernel` is compared with the name as it was written,
 * with and without return type and parameters, and with the mangled one; `at` with the end of the path, from a slash
 * on, and with either line of a finding; `variable` without the element. Values with blanks stand in double quotes,
 * where \" is a quote; patterns are those of the shell (fnmatch).
 */
#include "cli.h"

#include <errno.h>
#include <fnmatch.h>

struct entry {
    char *check, *kind, *kernel, *file, *variable; /* NULL: anything */
    unsigned long line;                            /* 0: any */
    char *text;                                    /* as in the file */
    unsigned number;                               /* of its line there */
    bool used;
};
struct mg_suppressions {
    const char *name;
    struct mg_arena arena;
    MG_VEC(struct entry) entries;
};

/* ---- reading ---- */

/* The next word of *text, quotes taken away; NULL at the end. *bad: a quote is not closed. */
static char *next_word(char **text, bool *bad)
{
    char *from = *text + strspn(*text, " \t\r"), *to = from, *word = from;
    bool quoted = false;
    if (!*from || *from == '#') {
        *text = from + strlen(from);
        return NULL;
    }
    for (; *from && (quoted || !strchr(" \t\r", *from)); from++) {
        if (*from == '"')
            quoted = !quoted;
        else if (quoted && from[0] == '\\' && from[1] == '"')
            *to++ = *++from;
        else
            *to++ = *from;
    }
    *bad = quoted;
    *text = *from ? from + 1 : from;
    *to = 0;
    return word;
}

/* "file:12" -> file and 12. False when what follows the colon is no line. */
static bool split_place(char *place, unsigned long *line)
{
    char *colon = strrchr(place, ':'), *end;
    if (!colon)
        return place[0] != 0;
    errno = 0;
    *line = strtoul(colon + 1, &end, 10);
    *colon = 0;
    return place[0] && end != colon + 1 && !*end && !errno && colon[1] != '-' && *line > 0;
}

/* What is wrong with the line, or NULL. An empty line leaves entry->check NULL. */
static const char *parse(char *line, struct entry *entry)
{
    bool bad = false;
    char *word = next_word(&line, &bad);
    if (!word)
        return NULL;
    char *slash = strchr(word, '/');
    if (bad)
        return "a quote is not closed";
    if (!slash || slash == word || !slash[1])
        return "CHECK/KIND is needed first, such as race/write-read or bounds/*";
    *slash = 0;
    if (strcmp(word, "*") && !mg__kinds_has_check(word, strlen(word)))
        return "there is no check of that name";
    entry->check = word;
    entry->kind = slash + 1;
    while ((word = next_word(&line, &bad)) != NULL) {
        char *value = strchr(word, '=');
        if (bad)
            return "a quote is not closed";
        if (!value || !value[1])
            return "kernel=, at= or variable= is needed here";
        *value++ = 0;
        if (!strcmp(word, "kernel"))
            entry->kernel = value;
        else if (!strcmp(word, "variable"))
            entry->variable = value;
        else if (strcmp(word, "at"))
            return "kernel=, at= or variable= is needed here";
        else if (!split_place(value, &entry->line))
            return "at= needs FILE or FILE:LINE";
        else
            entry->file = value;
    }
    return NULL;
}

int mg__suppressions_load(const struct mg_cli_options *options, const char *file, struct mg_suppressions **list)
{
    *list = NULL;
    FILE *in = fopen(file, "re");
    if (!in)
        return mg__cli_complain(options, "%s: %s", file, strerror(errno));
    struct mg_suppressions *s = calloc(1, sizeof(*s));
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    unsigned number = 0;
    int result = s ? -1 : mg__cli_complain(options, "out of memory");
    if (s) {
        s->name = file;
        mg__arena_init(&s->arena);
    }
    while (result < 0 && (n = getline(&line, &size, in)) >= 0) {
        struct entry entry = {.number = ++number};
        if (memchr(line, 0, (size_t)n)) {
            result = mg__cli_complain(options, "%s:%u: this is no text", file, number);
            break;
        }
        line[strcspn(line, "\n")] = 0;
        entry.text = mg__arena_strdup(&s->arena, line + strspn(line, " \t"));
        char *copy = mg__arena_strdup(&s->arena, line);
        const char *wrong = copy ? parse(copy, &entry) : NULL;
        if (wrong)
            result = mg__cli_complain(options, "%s:%u: %s", file, number, wrong);
        else if (!copy || !entry.text || (entry.check && !mg__vec_push(&s->entries, entry)))
            result = mg__cli_complain(options, "out of memory");
    }
    if (result < 0 && ferror(in))
        result = mg__cli_complain(options, "%s: %s", file, strerror(errno));
    free(line);
    fclose(in);
    if (result < 0)
        *list = s;
    else
        mg__suppressions_free(s);
    return result;
}

void mg__suppressions_free(struct mg_suppressions *s)
{
    if (!s)
        return;
    mg__vec_free(&s->entries);
    mg__arena_free(&s->arena);
    free(s);
}

/* ---- matching ---- */
static bool matches(const char *glob, const char *text)
{
    return !glob || !strcmp(glob, "*") || fnmatch(glob, text, 0) == 0;
}

/* The first `length` characters of `text`. */
static bool matches_part(const char *glob, const char *text, size_t length)
{
    struct mg_strbuf part = {0};
    bool same = mg__strbuf_append(&part, text, length) && matches(glob, part.at);
    mg__strbuf_free(&part);
    return same;
}

static bool matches_kernel(const char *glob, const struct mg_report_finding *f)
{
    size_t start, length;
    if (!glob || matches(glob, f->kernel) || (f->mangled[0] && matches(glob, f->mangled)))
        return true;
    mg__kernel_bare_name(f->kernel, &start, &length);
    return matches_part(glob, f->kernel + start, length);
}

static bool matches_file(const char *glob, const char *path)
{
    for (; path; path = strchr(path, '/')) {
        path += path[0] == '/';
        if (matches(glob, path))
            return true;
    }
    return false;
}

static bool matches_place(const struct entry *e, const struct mg_report_finding *f)
{
    if (!e->file)
        return true;
    const char *other = f->other_file[0] ? f->other_file : f->file;
    bool whole = matches(e->file, f->file) || matches_file(e->file, f->file);
    if (whole && (!e->line || e->line == f->line))
        return true;
    whole = matches(e->file, other) || matches_file(e->file, other);
    return f->other_line && whole && (!e->line || e->line == f->other_line);
}

bool mg__suppressions_match(struct mg_suppressions *s, const struct mg_report_finding *f)
{
    bool any = false;
    for (size_t i = 0; s && i < s->entries.count; i++) {
        struct entry *e = &s->entries.at[i];
        if (!matches(e->check, f->check) || !matches(e->kind, f->kind) || !matches_kernel(e->kernel, f) ||
            !matches_place(e, f) ||
            (e->variable && !matches_part(e->variable, f->variable, mg__finding_variable_name(f->variable))))
            continue;
        e->used = any = true;
    }
    return any;
}

void mg__suppressions_tell_unused(const struct mg_suppressions *s, const struct mg_cli_options *options)
{
    for (size_t i = 0; s && i < s->entries.count; i++) {
        const struct entry *e = &s->entries.at[i];
        bool ran = !strcmp(e->check, "*") || strstr(options->checks, e->check);
        if (!e->used && ran)
            fprintf(stderr, "margay: note: %s:%u: nothing was suppressed by: %s\n", s->name, e->number, e->text);
    }
}

/* ---- writing ---- */

/* Appends key=value, quoted if need be, so that fnmatch takes it for these characters. */
static bool append_field(struct mg_strbuf *out, const char *key, const char *value, size_t length, const char *tail)
{
    bool quote = memchr(value, ' ', length) || memchr(value, '"', length) || memchr(value, '\t', length);
    bool ok = mg__strbuf_printf(out, " %s=%s", key, quote ? "\"" : "");
    for (size_t i = 0; ok && i < length; i++) {
        if (strchr("*?[\\", value[i]) || value[i] == '"')
            ok = mg__strbuf_append(out, "\\", 1);
        ok = ok && mg__strbuf_append(out, value + i, 1);
    }
    return ok && mg__strbuf_printf(out, "%s%s", tail, quote ? "\"" : "");
}

bool mg__suppression_for(const struct mg_report_finding *f, const struct mg_style *style, struct mg_strbuf *out)
{
    size_t start, length;
    char line[24] = "";
    const char *file = mg__layout_path(style, f->file);
    bool ok = mg__strbuf_printf(out, "%s/%s", f->check, f->kind);
    mg__kernel_bare_name(f->kernel, &start, &length);
    if (ok && length)
        ok = append_field(out, "kernel", f->kernel + start, length, "");
    if (f->line)
        snprintf(line, sizeof(line), ":%u", f->line);
    if (ok && f->file[0])
        ok = append_field(out, "at", file, strlen(file), line);
    length = mg__finding_variable_name(f->variable);
    if (ok && length)
        ok = append_field(out, "variable", f->variable, length, "");
    return ok;
}
