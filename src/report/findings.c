/* findings.c - findings of all launches, put together.
 *
 * A checked launch reports each pair of source lines, variable and kind once; a kernel that is launched a thousand
 * times reports it a thousand times. Here these become one, the first one's words kept and the counts added. The
 * element of a variable is no part of what is told apart: tile[3] in one launch and tile[5] in the next are the same
 * mistake.
 */
#include "report/render.h"

void mg__findings_init(struct mg_findings *findings)
{
    memset(findings, 0, sizeof(*findings));
    mg__arena_init(&findings->arena);
    mg__strtab_init(&findings->index, &findings->arena);
}

void mg__findings_free(struct mg_findings *findings)
{
    mg__vec_free(&findings->at);
    mg__arena_free(&findings->arena);
}

size_t mg__finding_variable_name(const char *variable)
{
    return strcspn(variable, "[,");
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static bool append_key(struct mg_strbuf *key, const struct mg_report_finding *f)
{
    /* A control character stands between: none of the strings is parsed again. */
    return mg__strbuf_printf(key, "%d\x1f%s\x1f%s\x1f%s\x1f%s\x1f%u\x1f%s\x1f%u\x1f%.*s", (int)f->severity, f->check,
                             f->kind, f->mangled[0] ? f->mangled : f->kernel, f->file, f->line, f->other_file,
                             f->other_line, (int)mg__finding_variable_name(f->variable), f->variable);
}

/* A copy in the arena, without a NULL string. */
static struct mg_report_finding *copy(struct mg_arena *arena, const struct mg_report_finding *from)
{
    struct mg_report_finding *f = mg__arena_alloc(arena, sizeof(*f));
    if (!f)
        return NULL;
    *f = *from;
    const char **texts[] = {&f->check,      &f->kind,     &f->kernel,  &f->mangled, &f->file,
                            &f->other_file, &f->variable, &f->message, &f->advice};
    for (size_t i = 0; i < MG_COUNT(texts); i++) {
        *texts[i] = mg__arena_strdup(arena, or_empty(*texts[i]));
        if (!*texts[i])
            return NULL;
    }
    return f;
}

enum mg_status mg__findings_add(struct mg_findings *findings, const struct mg_report_finding *finding)
{
    struct mg_strbuf key = {0};
    enum mg_status status = MG_ERR_NOMEM;
    struct mg_report_finding *f = copy(&findings->arena, finding);
    if (!f || !append_key(&key, f))
        goto done;
    f->count = MG_MAX(f->count, 1u);
    struct mg_report_finding *have = mg__strtab_get(&findings->index, key.at, key.count);
    if (have) {
        have->count += MG_MIN(f->count, UINT64_MAX - have->count);
        status = MG_OK;
    } else if (mg__strtab_put(&findings->index, key.at, key.count, f) && mg__vec_push(&findings->at, f)) {
        status = MG_OK;
    }
done:
    mg__strbuf_free(&key);
    return status;
}

enum mg_status mg__findings_keep(struct mg_findings *findings, const struct mg_report_finding *finding)
{
    struct mg_report_finding *f = copy(&findings->arena, finding);
    return f && mg__vec_push(&findings->at, f) ? MG_OK : MG_ERR_NOMEM;
}

/* A wait that never ends is often what comes of another fault. */
static bool is_wait(const struct mg_report_finding *f)
{
    return !strcmp(f->check, "barrier") && (!strcmp(f->kind, "not-reached") || !strcmp(f->kind, "no-progress"));
}

static int by_gravity(const void *left, const void *right)
{
    const struct mg_report_finding *a = *(struct mg_report_finding *const *)left;
    const struct mg_report_finding *b = *(struct mg_report_finding *const *)right;
    const char *texts[][2] = {{a->check, b->check},     {a->kind, b->kind},         {a->kernel, b->kernel},
                              {a->mangled, b->mangled}, {a->variable, b->variable}, {a->other_file, b->other_file},
                              {a->message, b->message}};
    if (a->severity != b->severity)
        return a->severity > b->severity ? -1 : 1;
    if (is_wait(a) != is_wait(b))
        return is_wait(b) ? -1 : 1;
    int order = strcmp(a->file, b->file);
    if (order == 0)
        order = (a->line > b->line) - (a->line < b->line);
    if (order == 0)
        order = (a->other_line > b->other_line) - (a->other_line < b->other_line);
    for (size_t i = 0; i < MG_COUNT(texts) && order == 0; i++)
        order = strcmp(texts[i][0], texts[i][1]);
    return order;
}

void mg__findings_sort(struct mg_findings *findings)
{
    if (findings->at.count > 1)
        qsort(findings->at.at, findings->at.count, sizeof(*findings->at.at), by_gravity);
}
