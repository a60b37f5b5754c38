/* given.c - source text that came with a report: what was compiled at run time, and is in no file. Renderers look here
 * before they look for a file (layout.c).
 */
#include "report/reader_priv.h"

struct given {
    const char *file, *text; /* text NULL: there were two */
};

void mg__given_init(struct mg_given *given)
{
    memset(given, 0, sizeof(*given));
    mg__arena_init(&given->arena);
    mg__strtab_init(&given->by_name, &given->arena);
}

void mg__given_free(struct mg_given *given)
{
    mg__vec_free(&given->at);
    mg__arena_free(&given->arena);
}

enum mg_status mg__given_add(struct mg_given *given, const char *file, const char *text)
{
    struct given *g = mg__strtab_get(&given->by_name, file, strlen(file));
    if (g) { /* of another process: whose lines the report has is not known */
        if (g->text && strcmp(g->text, text) != 0)
            g->text = NULL;
        return MG_OK;
    }
    g = mg__arena_alloc(&given->arena, sizeof(*g));
    if (!g)
        return MG_ERR_NOMEM;
    g->file = mg__arena_strdup(&given->arena, file);
    g->text = mg__arena_strdup(&given->arena, text);
    return g->file && g->text && mg__vec_push(&given->at, g) &&
                   mg__strtab_put(&given->by_name, g->file, strlen(g->file), g)
               ? MG_OK
               : MG_ERR_NOMEM;
}

bool mg__given_text(const struct mg_given *given, const char *file, const char **text)
{
    const struct given *g = given ? mg__strtab_get(&given->by_name, file, strlen(file)) : NULL;
    *text = g ? g->text : NULL;
    return g != NULL;
}

enum mg_status mg__given_load(struct mg_given *given, const char *json)
{
    json_t *root = json_loads(json, 0, NULL);
    enum mg_status status = json_is_array(root) ? MG_OK : MG_ERR_SYNTAX;
    for (size_t i = 0; status == MG_OK && i < json_array_size(root); i++) {
        const json_t *one = json_array_get(root, i);
        const char *file = json_string_value(json_object_get(one, "file"));
        const char *text = json_string_value(json_object_get(one, "text"));
        status = file && text ? mg__given_add(given, file, text) : MG_ERR_SYNTAX;
    }
    json_decref(root);
    return status;
}

bool mg__given_json(const struct mg_given *given, struct mg_strbuf *out)
{
    bool ok = mg__strbuf_append(out, "[", 1);
    const char *comma = "";
    for (size_t i = 0; ok && i < given->at.count; i++) {
        const struct given *g = given->at.at[i];
        if (!g->text)
            continue;
        ok = mg__strbuf_printf(out, "%s\n{\"file\": ", comma) && mg__json_string(out, g->file) &&
             mg__strbuf_printf(out, ", \"text\": ") && mg__json_string(out, g->text) && mg__strbuf_append(out, "}", 1);
        comma = ",";
    }
    return ok && mg__strbuf_append(out, "]", 1);
}
