/* hosted.c - calls of libraries that the host computed, because their GPU code cannot be simulated: how often each
 * routine was called. Nothing of them is counted, and a report that did not say so would be read as if they cost
 * nothing.
 */
#include "report/render.h"

void mg__hosted_init(struct mg_hosted_rows *rows)
{
    memset(rows, 0, sizeof(*rows));
    mg__arena_init(&rows->arena);
}

void mg__hosted_free(struct mg_hosted_rows *rows)
{
    mg__vec_free(&rows->at);
    mg__arena_free(&rows->arena);
}

enum mg_status mg__hosted_add(struct mg_hosted_rows *rows, const char *library, const char *routine)
{
    size_t i = 0;
    int order = 1;
    for (; i < rows->at.count; i++) {
        const struct mg_hosted_row *row = rows->at.at[i];
        order = strcmp(row->library, library);
        order = order ? order : strcmp(row->routine, routine);
        if (order >= 0)
            break;
    }
    if (i < rows->at.count && order == 0) {
        rows->at.at[i]->calls++;
        return MG_OK;
    }
    struct mg_hosted_row *row = mg__arena_alloc(&rows->arena, sizeof(*row));
    if (!row || !mg__vec_push(&rows->at, row))
        return MG_ERR_NOMEM;
    memmove(&rows->at.at[i + 1], &rows->at.at[i], (rows->at.count - 1 - i) * sizeof(struct mg_hosted_row *));
    rows->at.at[i] = row;
    *row = (struct mg_hosted_row){mg__arena_strdup(&rows->arena, library), mg__arena_strdup(&rows->arena, routine), 1};
    if (!row->library)
        row->library = "";
    if (!row->routine)
        row->routine = "";
    return MG_OK;
}

bool mg__hosted_json(const struct mg_hosted_rows *rows, struct mg_strbuf *out)
{
    bool ok = mg__strbuf_append(out, "[", 1);
    for (size_t i = 0; ok && i < rows->at.count; i++) {
        const struct mg_hosted_row *row = rows->at.at[i];
        ok = mg__strbuf_printf(out, "%s\n{\"library\": ", i ? "," : "") && mg__json_string(out, row->library) &&
             mg__strbuf_printf(out, ", \"routine\": ") && mg__json_string(out, row->routine) &&
             mg__strbuf_printf(out, ", \"calls\": %llu}", (unsigned long long)row->calls);
    }
    return ok && mg__strbuf_append(out, "]", 1);
}

bool mg__hosted_render(const struct mg_hosted_rows *rows, const struct mg_style *style, struct mg_strbuf *out)
{
    struct mg_strbuf line = {0};
    bool ok = true;
    if (!rows->at.count)
        return true;
    ok = mg__strbuf_printf(&line, "margay: computed on the host, not counted: ");
    for (size_t i = 0; ok && i < rows->at.count; i++) {
        const struct mg_hosted_row *row = rows->at.at[i];
        ok = mg__strbuf_printf(&line, "%s%s", i ? ", " : "", row->routine) &&
             (row->calls == 1 || mg__strbuf_printf(&line, " (%llu times)", (unsigned long long)row->calls));
    }
    ok = ok && mg__layout_text(out, style, line.at, line.count, UINT32_MAX, NULL) && mg__strbuf_append(out, "\n", 1);
    mg__strbuf_free(&line);
    return ok;
}
