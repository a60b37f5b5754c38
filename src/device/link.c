/* link.c - makes one PTX text of those of several translation units, as nvlink does for machine code.
 *
 * The texts are cut into their module-scope statements and put together anew: one header (the newest language version),
 * the .file table, declarations of functions, variables, then functions. An extern variable gives way to its
 * definition, a weak or common symbol to the first of its name, and a name that two units use for something of their
 * own (string literals, say) is renamed in all but the first. File numbers are shifted unit by unit, so that lines stay
 * right.
 *
 * It works on tokens and does not understand instructions: what is wrong inside a function is the parser's to say.
 * Left out: variables that are declared several to a statement, which nvcc does not write; .alias across units.
 */
#include "device/link.h"
#include "ptx/source.h"

#include <ctype.h>

enum token_kind { END, NAME, DOT, NUMBER, STRING, PUNCT, BAD };
struct token {
    enum token_kind kind;
    const char *at;
    size_t length;
    bool new_line; /* the first of its line */
};
struct lexer {
    const char *at, *end;
    bool fresh;
};

enum statement_kind { FUNCTION, DECLARATION, VARIABLE, FILE_ENTRY, SECTION, OTHER, STATEMENT_KINDS };
enum linkage { OWN, EXTERN, VISIBLE, WEAK };
struct statement {
    enum statement_kind kind;
    enum linkage linkage;
    unsigned unit;
    const char *at;
    size_t length;
    const char *name; /* in the arena; NULL for files, sections and others */
    bool refers;      /* a variable whose initialiser names another symbol */
    bool dropped;
    const char *relinked; /* an extern declaration of what another unit defines: the definition's linkage */
};
struct mg_linker {
    struct mg_arena arena;
    MG_VEC(struct statement) statements;
    unsigned units;
    unsigned version, file_base; /* 904: 9.4; the file numbers taken so far */
    const char *header;          /* .version, .target and .address_size of the newest unit */
    size_t header_length;
    MG_VEC(unsigned) file_bases;      /* by unit */
    struct mg_strbuf sources;         /* the texts of their source files, numbered as in the result */
    MG_VEC(struct mg_strtab) renames; /* by unit: name -> new name */
};

/* ---- tokens ---- */
static bool name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static struct token next(struct lexer *lex)
{
    struct token t = {END, lex->at, 0, lex->fresh};
    while (lex->at < lex->end) { /* space and comments */
        const char *p = lex->at;
        if (*p == '\n') {
            t.new_line = true;
            lex->at++;
        } else if (isspace((unsigned char)*p)) {
            lex->at++;
        } else if (*p == '/' && lex->end - p > 1 && p[1] == '/') {
            const char *n = memchr(p, '\n', (size_t)(lex->end - p));
            lex->at = n ? n : lex->end;
        } else if (*p == '/' && lex->end - p > 1 && p[1] == '*') {
            for (p += 2; lex->end - p > 1 && !(p[0] == '*' && p[1] == '/'); p++)
                ;
            lex->at = lex->end - p > 1 ? p + 2 : lex->end;
        } else {
            break;
        }
    }
    lex->fresh = false;
    t.at = lex->at;
    if (lex->at == lex->end)
        return t;
    const char *p = lex->at + 1;
    char c = *lex->at;
    if (name_start(c)) {
        t.kind = NAME;
        while (p < lex->end && name_char(*p))
            p++;
    } else if (c == '.' && p < lex->end && name_start(*p)) {
        t.kind = DOT;
        while (p < lex->end && name_char(*p))
            p++;
    } else if (isdigit((unsigned char)c)) {
        t.kind = NUMBER;
        while (p < lex->end && (name_char(*p) || *p == '.'))
            p++;
    } else if (c == '"') {
        t.kind = STRING;
        while (p < lex->end && *p != '"' && *p != '\n')
            p += *p == '\\' && lex->end - p > 1 ? 2 : 1;
        if (p < lex->end && *p == '"')
            p++;
        else
            t.kind = BAD;
    } else {
        t.kind = PUNCT;
    }
    t.length = (size_t)(p - t.at);
    lex->at = p;
    return t;
}

static bool is(const struct token *t, const char *text)
{
    return t->length == strlen(text) && !memcmp(t->at, text, t->length);
}

static bool starts(const struct token *t, const char *text)
{
    return t->length >= strlen(text) && !memcmp(t->at, text, strlen(text));
}

/* ---- statements ---- */
static enum mg_status broken(struct mg_diag *diag, const char *what)
{
    mg__diag_set(diag, MG_ERR_SYNTAX, "the program's relocatable PTX cannot be linked: %s", what);
    mg__diag_hint(diag, "compile it without -rdc=true, or all in one file");
    return MG_ERR_SYNTAX;
}

/* Reads on to the end of the line that `lex` stands in, without eating the next line's first token. */
static void skip_line(struct lexer *lex)
{
    const char *n = memchr(lex->at, '\n', (size_t)(lex->end - lex->at));
    lex->at = n ? n + 1 : lex->end;
    lex->fresh = true;
}

static enum mg_status read_statement(struct mg_linker *l, struct lexer *lex, struct token t, struct mg_diag *diag)
{
    struct statement s = {.kind = OTHER, .unit = l->units, .at = t.at};
    int depth = 0;
    bool body = false, equals = false;
    if (is(&t, ".file")) {
        skip_line(lex);
        s.kind = FILE_ENTRY;
        s.length = (size_t)(lex->at - s.at);
        return mg__vec_push(&l->statements, s) ? MG_OK : MG_ERR_NOMEM;
    }
    for (;; t = next(lex)) {
        if (t.kind == END || t.kind == BAD)
            return broken(diag, "a statement does not end");
        s.length = (size_t)(t.at + t.length - s.at);
        if (t.kind == DOT && !depth) {
            if (is(&t, ".func") || is(&t, ".entry"))
                s.kind = FUNCTION;
            else if (is(&t, ".global") || is(&t, ".const") || is(&t, ".shared") || is(&t, ".tex"))
                s.kind = s.kind == OTHER ? VARIABLE : s.kind;
            else if (is(&t, ".section"))
                s.kind = SECTION;
            else if (is(&t, ".extern"))
                s.linkage = EXTERN;
            else if (is(&t, ".visible"))
                s.linkage = VISIBLE;
            else if (is(&t, ".weak") || is(&t, ".common"))
                s.linkage = WEAK;
        } else if (t.kind == NAME && equals) {
            s.refers |= !is(&t, "generic") && !is(&t, "mask");
        } else if (t.kind == NAME && !depth && !s.name && (s.kind == FUNCTION || s.kind == VARIABLE)) {
            s.name = mg__arena_strndup(&l->arena, t.at, t.length);
            if (!s.name)
                return MG_ERR_NOMEM;
        } else if (t.kind == PUNCT) {
            char c = *t.at;
            if (c == '{' && !depth)
                body = true;
            if (c == '{' || c == '(' || c == '[')
                depth++;
            else if (c == '}' || c == ')' || c == ']')
                depth--;
            else if (c == '=' && !depth)
                equals = true;
            if (depth < 0)
                return broken(diag, "a bracket closes that was not opened");
            if (c == ';' && !depth)
                break;
            if (c == '}' && !depth && body && s.kind != VARIABLE)
                break;
        }
    }
    if (s.kind == FUNCTION && !body)
        s.kind = DECLARATION;
    if ((s.kind == FUNCTION || s.kind == DECLARATION || s.kind == VARIABLE) && !s.name)
        return broken(diag, "a symbol has no name");
    return mg__vec_push(&l->statements, s) ? MG_OK : MG_ERR_NOMEM;
}

enum mg_status mg__link_create(struct mg_linker **linker)
{
    *linker = calloc(1, sizeof(**linker));
    if (!*linker)
        return MG_ERR_NOMEM;
    mg__arena_init(&(*linker)->arena);
    return MG_OK;
}

void mg__link_destroy(struct mg_linker *l)
{
    if (!l)
        return;
    mg__vec_free(&l->statements);
    mg__vec_free(&l->file_bases);
    mg__strbuf_free(&l->sources);
    mg__vec_free(&l->renames);
    mg__arena_free(&l->arena);
    free(l);
}

/* ".version 9.0" as 900; 0 when it is not one. */
static unsigned version_of(const struct token *t)
{
    unsigned major = 0, minor = 0;
    size_t i = 0;
    for (; i < t->length && isdigit((unsigned char)t->at[i]) && major < 1000; i++)
        major = major * 10 + (unsigned)(t->at[i] - '0');
    for (i++; i < t->length && isdigit((unsigned char)t->at[i]) && minor < 100; i++)
        minor = minor * 10 + (unsigned)(t->at[i] - '0');
    return major * 100 + minor;
}

/* The source text that the unit brings goes along, under the numbers that its files get. */
static bool keep_sources(struct mg_linker *l, const char *text, unsigned files)
{
    const char *at = text, *end = text + strlen(text);
    struct mg_ptx_source source;
    bool good = true;
    while (good && mg__ptx_source_next(&at, end, &source)) {
        char *decoded = source.file <= files ? mg__ptx_source_text(&source) : NULL;
        size_t length = 0;
        char *block = decoded ? mg__ptx_source_block(source.file + l->file_base, decoded, source.size, &length) : NULL;
        good = !block || mg__strbuf_append(&l->sources, block, length);
        free(block);
        free(decoded);
    }
    return good;
}

enum mg_status mg__link_add(struct mg_linker *l, const char *text, size_t length, struct mg_diag *diag)
{
    char *copy = mg__arena_strndup(&l->arena, text, length);
    struct mg_strtab renames;
    if (!copy)
        return mg__diag_set(diag, MG_ERR_NOMEM, "out of memory");
    struct lexer lex = {copy, copy + strlen(copy), true};
    const char *header = NULL;
    unsigned version = 0, files = 0;
    for (struct token t = next(&lex); t.kind != END; t = next(&lex)) {
        if (is(&t, ".version") || is(&t, ".target") || is(&t, ".address_size")) {
            if (is(&t, ".version")) {
                struct lexer peek = lex;
                struct token v = next(&peek);
                version = version_of(&v);
                header = t.at;
            }
            skip_line(&lex);
            if (header && version >= l->version) { /* a header is a run of those lines */
                l->header = header;
                l->header_length = (size_t)(lex.at - header);
            }
            continue;
        }
        if (is(&t, ".file")) {
            struct lexer peek = lex;
            struct token n = next(&peek);
            unsigned long number = n.kind == NUMBER ? strtoul(n.at, NULL, 10) : 0;
            if (number > 1000000)
                return broken(diag, "a .file has an impossible number");
            files = MG_MAX(files, (unsigned)number);
        }
        header = NULL;
        enum mg_status status = read_statement(l, &lex, t, diag);
        if (status)
            return status;
    }
    l->version = MG_MAX(l->version, version);
    mg__strtab_init(&renames, &l->arena);
    if (!mg__vec_push(&l->file_bases, l->file_base) || !mg__vec_push(&l->renames, renames) ||
        !keep_sources(l, copy, files))
        return mg__diag_set(diag, MG_ERR_NOMEM, "out of memory");
    l->file_base += files;
    l->units++;
    return MG_OK;
}

/* ---- resolution ---- */
/* Decides for every symbol which statement stands; the table holds the one that does so far. */
static enum mg_status resolve(struct mg_linker *l, struct mg_diag *diag)
{
    struct mg_strtab symbols;
    mg__strtab_init(&symbols, &l->arena);
    for (size_t i = 0; i < l->statements.count; i++) {
        struct statement *s = &l->statements.at[i];
        if (!s->name)
            continue;
        size_t n = strlen(s->name);
        struct statement *old = mg__strtab_get(&symbols, s->name, n);
        if (old && old->unit != s->unit && (s->linkage == OWN || old->linkage == OWN)) {
            /* One of the two is its unit's own: the later one is renamed, or the earlier when that is
             * the private one. */
            struct statement *own = s->linkage == OWN ? s : old;
            struct mg_strtab *table = &l->renames.at[own->unit];
            if (!mg__strtab_get(table, own->name, n)) {
                char *other = mg__arena_printf(&l->arena, "%s$unit%u", own->name, own->unit);
                if (!other || !mg__strtab_put(table, own->name, n, other))
                    return mg__diag_set(diag, MG_ERR_NOMEM, "out of memory");
            }
            if (own == s)
                continue;
            old = NULL;
        }
        bool same = old && old->unit == s->unit; /* a declaration and its definition */
        if (old && s->kind == VARIABLE) {
            if (s->linkage == EXTERN || (s->linkage == WEAK && old->linkage != EXTERN))
                s->dropped = true;
            else if (old->linkage == EXTERN || old->linkage == WEAK)
                old->dropped = true;
            else
                return mg__diag_set(diag, MG_ERR_SYNTAX, "the variable %s is defined in two translation units",
                                    s->name);
        } else if (old && s->kind == FUNCTION && old->kind == FUNCTION) {
            if (s->linkage == WEAK)
                s->dropped = true;
            else if (old->linkage == WEAK)
                old->dropped = true;
            else
                return mg__diag_set(diag, MG_ERR_SYNTAX, "the function %s is defined in two translation units",
                                    s->name);
        } else if (old && s->kind == DECLARATION && !same) {
            s->dropped = old->kind == DECLARATION; /* once is enough; declarations come before definitions */
            if (s->dropped)
                continue;
        }
        if (s->dropped || (old && s->kind == DECLARATION))
            continue;
        if (!mg__strtab_put(&symbols, s->name, n, s))
            return mg__diag_set(diag, MG_ERR_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < l->statements.count; i++) {
        struct statement *s = &l->statements.at[i];
        const struct statement *d = s->name ? mg__strtab_get(&symbols, s->name, strlen(s->name)) : NULL;
        if (s->kind == DECLARATION && s->linkage == EXTERN && d && d->kind == FUNCTION)
            s->relinked = d->linkage == WEAK ? ".weak" : ".visible";
    }
    return MG_OK;
}

/* ---- writing ---- */
static bool write_statement(struct mg_linker *l, const struct statement *s, struct mg_strbuf *out)
{
    struct lexer lex = {s->at, s->at + s->length, true};
    const char *done = s->at; /* written up to here */
    bool file_next = false, good = true;
    unsigned base = l->file_bases.at[s->unit];
    for (struct token t = next(&lex); good && t.kind != END; t = next(&lex)) {
        char *name = NULL;
        if (t.kind == NUMBER && file_next && base) {
            good = mg__strbuf_append(out, done, (size_t)(t.at - done)) &&
                   mg__strbuf_printf(out, "%lu", strtoul(t.at, NULL, 10) + base);
            done = t.at + t.length;
        } else if (t.kind == NAME) {
            name = mg__strtab_get(&l->renames.at[s->unit], t.at, t.length);
            if (name || (s->unit && starts(&t, "$L__info_string"))) {
                good = mg__strbuf_append(out, done, (size_t)(t.at - done)) &&
                       (name ? mg__strbuf_append(out, name, strlen(name))
                             : mg__strbuf_printf(out, "%.*s_unit%u", (int)t.length, t.at, s->unit));
                done = t.at + t.length;
            }
        }
        if (s->relinked && is(&t, ".extern")) {
            good = good && mg__strbuf_append(out, done, (size_t)(t.at - done)) &&
                   mg__strbuf_append(out, s->relinked, strlen(s->relinked));
            done = t.at + t.length;
        }
        file_next = is(&t, ".loc") || is(&t, ".file") || is(&t, "inlined_at");
    }
    return good && mg__strbuf_append(out, done, (size_t)(s->at + s->length - done)) && mg__strbuf_append(out, "\n", 1);
}

enum mg_status mg__link_finish(struct mg_linker *l, char **text, size_t *length, struct mg_diag *diag)
{
    static const enum statement_kind order[] = {FILE_ENTRY, DECLARATION, VARIABLE, VARIABLE, OTHER, FUNCTION, SECTION};
    struct mg_strbuf out = {0};
    *text = NULL;
    *length = 0;
    if (!l->header)
        return broken(diag, "there is none");
    enum mg_status status = resolve(l, diag);
    if (status)
        return status;
    bool good = mg__strbuf_append(&out, l->header, l->header_length) && mg__strbuf_append(&out, "\n", 1);
    for (size_t k = 0; k < MG_COUNT(order); k++)
        for (size_t i = 0; good && i < l->statements.count; i++) {
            const struct statement *s = &l->statements.at[i];
            if (s->kind != order[k] || s->dropped || (s->kind == VARIABLE && s->refers != (k == 3)))
                continue;
            good = write_statement(l, s, &out);
        }
    good = good && (!l->sources.count || mg__strbuf_append(&out, l->sources.at, l->sources.count));
    if (!good) {
        mg__strbuf_free(&out);
        return mg__diag_set(diag, MG_ERR_NOMEM, "out of memory");
    }
    *text = out.at;
    *length = out.count;
    return MG_OK;
}
