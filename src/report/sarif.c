/* sarif.c - findings in the Static Analysis Results Interchange Format 2.1.0 (OASIS), which code hosts show in place.
 *
 * A rule is a row of the catalogue of kinds, its id check/kind: "race/write-read". Files below `root` are told relative
 * to it, as the hosts want them (uriBaseId %SRCROOT%); others by their whole path. The other access of a race is a
 * related location. Suppressed findings are there too, marked so: the format has a place for them, and the hosts close
 * what is marked. A fingerprint leaves line numbers out, so that a finding stays the same one when lines move. The
 * compiler counts columns in bytes and the format in UTF-16's units: the source line, read again, says what the
 * difference is.
 */
#include "report/render.h"
#include "report/report_priv.h"

#define SCHEMA "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

/* What one file is written from. */
struct sarif {
    struct mg_strbuf *out;
    const char *root;
    const struct mg_sarif_rule *rules;
    size_t nrules;
    struct mg_sources sources;
};

static bool plain(struct mg_strbuf *out, const char *text)
{
    return mg__strbuf_append(out, text, strlen(text));
}

/* Appends a path as part of a URI. */
static bool uri_path(struct mg_strbuf *out, const char *path)
{
    bool ok = true;
    for (; ok && *path; path++) {
        unsigned char c = (unsigned char)*path;
        bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~/", c);
        ok = keep ? mg__strbuf_append(out, path, 1) : mg__strbuf_printf(out, "%%%02X", c);
    }
    return ok;
}

static const char *below(const char *root, const char *file)
{
    size_t n = root ? strlen(root) : 0;
    if (n && !strncmp(file, root, n) && file[n] == '/' && file[n + 1])
        return file + n + 1;
    return file[0] == '/' ? NULL : file;
}

/* The column of a byte in UTF-16's units, both from 1; as it is where the line cannot be read. */
static uint32_t utf16_column(struct sarif *s, const char *file, uint32_t line, uint32_t column)
{
    const char *text;
    size_t length, indent, fewer = 0;
    if (column == 0 || !mg__sources_line(&s->sources, file, line, &text, &length, &indent))
        return column;
    for (size_t i = 0; i < length && indent + i + 1 < column; i++) {
        unsigned char c = (unsigned char)text[i];
        fewer += (c & 0xC0) == 0x80; /* a sequence of two or three bytes is one unit, one of four is two */
        fewer -= c >= 0xF0;
    }
    return column - (uint32_t)fewer;
}

static bool physical(struct sarif *s, const char *file, uint32_t line, uint32_t column)
{
    struct mg_strbuf *out = s->out;
    const char *relative = below(s->root, file);
    column = utf16_column(s, file, line, column);
    bool ok = plain(out, "\"physicalLocation\": {\"artifactLocation\": {\"uri\": \"") &&
              (relative || plain(out, "file://")) && uri_path(out, relative ? relative : file) &&
              plain(out, relative ? "\", \"uriBaseId\": \"%SRCROOT%\"}" : "\"}");
    if (line)
        ok = ok && mg__strbuf_printf(out, ", \"region\": {\"startLine\": %u", line) &&
             (!column || mg__strbuf_printf(out, ", \"startColumn\": %u", column)) && plain(out, "}");
    return ok && plain(out, "}");
}

static bool text_object(struct mg_strbuf *out, const char *name, const char *text)
{
    return mg__strbuf_printf(out, "\"%s\": {\"text\": ", name) && mg__json_string(out, text) && plain(out, "}");
}

static bool rule(struct mg_strbuf *out, const struct mg_sarif_rule *r)
{
    return mg__strbuf_printf(out, "{\"id\": \"%s/%s\", \"name\": \"%s/%s\", ", r->check, r->kind, r->check, r->kind) &&
           text_object(out, "shortDescription", r->text) && plain(out, ", ") && text_object(out, "help", r->advice) &&
           mg__strbuf_printf(out, ", \"defaultConfiguration\": {\"level\": \"%s\"}}",
                             mg__report_severity_name(r->severity));
}

static bool fingerprint(struct mg_strbuf *out, const struct mg_report_finding *f, const char *root)
{
    struct mg_strbuf key = {0};
    const char *relative = below(root, f->file);
    bool ok =
        mg__strbuf_printf(&key, "%s\x1f%s\x1f%s\x1f%s\x1f%.*s", f->check, f->kind, f->kernel,
                          relative ? relative : f->file, (int)mg__finding_variable_name(f->variable), f->variable) &&
        mg__strbuf_printf(out, "\"partialFingerprints\": {\"margay/v1\": \"%016llx\"}",
                          (unsigned long long)mg__hash(key.at, key.count));
    mg__strbuf_free(&key);
    return ok;
}

static bool result(struct sarif *s, const struct mg_report_finding *f, bool suppressed)
{
    struct mg_strbuf *out = s->out, text = {0};
    bool ok = plain(out, "{\"ruleId\": ") && mg__strbuf_printf(&text, "%s/%s", f->check, f->kind) &&
              mg__json_string(out, text.at);
    for (size_t i = 0; ok && i < s->nrules; i++)
        if (!strcmp(s->rules[i].check, f->check) && !strcmp(s->rules[i].kind, f->kind))
            ok = mg__strbuf_printf(out, ", \"ruleIndex\": %zu", i);
    text.count = 0;
    ok = ok && mg__strbuf_printf(&text, "%s%s%s", f->message, f->message[0] && f->advice[0] ? "\n" : "", f->advice) &&
         mg__strbuf_printf(out, ", \"level\": \"%s\", ", mg__report_severity_name(f->severity)) &&
         text_object(out, "message", text.at);
    mg__strbuf_free(&text);
    if (!ok)
        return false;
    ok = plain(out, ", \"locations\": [");
    bool placed = f->file[0] != 0;
    if (placed || f->kernel[0]) {
        ok = ok && plain(out, "{") && (!placed || physical(s, f->file, f->line, f->column));
        if (f->kernel[0])
            ok = ok && plain(out, placed ? ", " : "") &&
                 plain(out, "\"logicalLocations\": [{\"kind\": \"function\", \"fullyQualifiedName\": ") &&
                 mg__json_string(out, f->kernel) && plain(out, ", \"decoratedName\": ") &&
                 mg__json_string(out, f->mangled) && plain(out, "}]");
        ok = ok && plain(out, "}");
    }
    ok = ok && plain(out, "]");
    if (f->other_line && (f->other_file[0] || placed))
        ok = ok && plain(out, ", \"relatedLocations\": [{\"id\": 1, ") &&
             physical(s, f->other_file[0] ? f->other_file : f->file, f->other_line, f->other_column) &&
             plain(out, ", ") &&
             text_object(out, "message", strcmp(f->check, "race") ? "the others are here" : "the other access") &&
             plain(out, "}]");
    uint64_t count = MG_MIN(f->count, (uint64_t)INT32_MAX); /* an integer of the format need not be wider */
    return ok && mg__strbuf_printf(out, ", \"occurrenceCount\": %llu, ", (unsigned long long)count) &&
           fingerprint(out, f, s->root) && plain(out, ", \"suppressions\": [") &&
           (!suppressed || plain(out, "{\"kind\": \"external\", \"status\": \"accepted\"}")) &&
           plain(out, "], \"properties\": {\"variable\": ") && mg__json_string(out, f->variable) && plain(out, "}}");
}

bool mg__render_sarif(const struct mg_findings *findings, const struct mg_findings *suppressed,
                      const struct mg_given *given, const struct mg_sarif_rule *rules, size_t nrules, const char *root,
                      bool complete, struct mg_strbuf *out)
{
    const struct mg_findings *lists[] = {findings, suppressed};
    struct sarif s = {.out = out, .root = root, .rules = rules, .nrules = nrules};
    bool ok = plain(out, "{\"$schema\": \"" SCHEMA "\",\n\"version\": \"2.1.0\",\n\"runs\": [{\"tool\": {\"driver\": {"
                         "\"name\": \"margay\", \"version\": \"" MG_VERSION_STRING "\", \"rules\": [");
    for (size_t i = 0; ok && i < nrules; i++)
        ok = plain(out, i ? ",\n" : "\n") && rule(out, &rules[i]);
    ok = ok && plain(out, "]}},\n");
    if (root)
        ok = ok && plain(out, "\"originalUriBaseIds\": {\"%SRCROOT%\": {\"uri\": \"file://") && uri_path(out, root) &&
             plain(out, "/\"}},\n");
    ok = ok && mg__strbuf_printf(out, "\"invocations\": [{\"executionSuccessful\": %s}],\n\"results\": [",
                                 complete ? "true" : "false");
    mg__sources_init(&s.sources, given);
    const char *comma = "\n";
    for (size_t l = 0; l < MG_COUNT(lists); l++)
        for (size_t i = 0; ok && lists[l] && i < lists[l]->at.count; i++) {
            ok = plain(out, comma) && result(&s, lists[l]->at.at[i], l == 1);
            comma = ",\n";
        }
    mg__sources_free(&s.sources);
    return ok && plain(out, "]}]}\n");
}
