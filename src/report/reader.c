/* reader.c - lines of the record stream back into records.
 *
 * The stream comes from another process, so nothing in it is trusted: a missing field reads as empty or zero, a number
 * that is none or is negative as zero, an unknown record or metric is skipped (a later version may write it). Only what
 * is no JSON object at all is an error.
 */
#include "report/reader_priv.h"

static uint64_t to_u64(const json_t *value)
{
    json_int_t n = json_is_integer(value) ? json_integer_value(value) : 0;
    return n > 0 ? (uint64_t)n : 0;
}

static uint64_t get_u64(const json_t *object, const char *key)
{
    return to_u64(json_object_get(object, key));
}

static uint32_t get_u32(const json_t *object, const char *key)
{
    return (uint32_t)MG_MIN(get_u64(object, key), UINT32_MAX);
}

static const char *get_text(const json_t *object, const char *key, struct mg_arena *arena)
{
    const char *text = json_string_value(json_object_get(object, key));
    text = mg__arena_strdup(arena, text ? text : "");
    return text ? text : "";
}

static void copy_text(char *to, size_t size, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    snprintf(to, size, "%s", text ? text : "");
}

static struct mg_dim3 get_dim3(const json_t *object, const char *key)
{
    uint32_t v[3] = {1, 1, 1};
    const json_t *array = json_object_get(object, key);
    for (size_t i = 0; i < 3 && i < json_array_size(array); i++) {
        json_int_t n = json_integer_value(json_array_get(array, i));
        v[i] = n > 0 && n <= UINT32_MAX ? (uint32_t)n : 0;
    }
    return (struct mg_dim3){v[0], v[1], v[2]};
}

/* The metric of that name, which is sought from `from` on; MG_METRIC_COUNT: there is none. */
static unsigned find_metric(const char *name, unsigned from)
{
    for (unsigned n = 0; n < MG_METRIC_COUNT; n++) {
        const unsigned m = (from + n) % MG_METRIC_COUNT;
        if (!strcmp(name, mg__metric_name((enum mg_metric)m)))
            return m;
    }
    return MG_METRIC_COUNT;
}

/* They stand in their order, as a rule. */
static struct mg_metrics get_metrics(const json_t *object)
{
    struct mg_metrics m = {{0}};
    json_t *values = json_object_get(object, "metrics");
    unsigned next = 0;
    for (void *at = json_object_iter(values); at; at = json_object_iter_next(values, at)) {
        const unsigned found = find_metric(json_object_iter_key(at), next);
        if (found == MG_METRIC_COUNT)
            continue;
        m.v[found] = to_u64(json_object_iter_value(at));
        next = found + 1;
    }
    return m;
}

static struct mg_report_written get_written(const json_t *object)
{
    return (struct mg_report_written){.loads = get_u32(object, "loads"),
                                      .stores = get_u32(object, "stores"),
                                      .atomics = get_u32(object, "atomics"),
                                      .guarded = get_u32(object, "guarded")};
}

static enum mg_status get_status(const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "status"));
    for (int s = MG_OK; name && s <= MG_ERR_INTERNAL; s++)
        if (!strcmp(name, mg_status_name((enum mg_status)s)))
            return (enum mg_status)s;
    return name ? MG_ERR_INTERNAL : MG_OK;
}

static const char *dump(const json_t *value, struct mg_arena *arena)
{
    char *text = json_dumps(value, JSON_REAL_PRECISION(12));
    char *copy = text ? mg__arena_strdup(arena, text) : NULL;
    free(text);
    return copy;
}

static uint32_t get_waits(const json_t *object)
{
    const json_t *names = json_object_get(object, "waits");
    uint32_t bits = 0;
    for (size_t i = 0; i < json_array_size(names); i++)
        for (unsigned b = 0; b < MG_REPORT_WAITS; b++) {
            const char *name = json_string_value(json_array_get(names, i));
            bits |= (uint32_t)(name && !strcmp(name, mg__report_wait_name(b))) << b;
        }
    return bits;
}

static const struct mg_report_sample *get_sample(const json_t *object, struct mg_arena *arena)
{
    const json_t *sample = json_object_get(object, "sample"), *within = json_object_get(sample, "within");
    struct mg_report_sample *s = json_is_object(sample) ? mg__arena_alloc(arena, sizeof(*s)) : NULL;
    if (!s)
        return NULL;
    const char *others = json_string_value(json_object_get(sample, "others"));
    *s = (struct mg_report_sample){.blocks = get_u64(sample, "blocks"), .counted = get_u64(sample, "counted")};
    s->left_out = others && !strcmp(others, "left out");
    for (unsigned m = 0; m < MG_METRIC_COUNT; m++)
        s->half[m] = MG_MAX(json_number_value(json_object_get(within, mg__metric_name((enum mg_metric)m))), 0);
    return s;
}

static enum mg_status parse_launch(const json_t *object, struct mg_arena *arena, struct mg_record *record)
{
    struct mg_report_launch *launch = &record->launch;
    if (!json_is_object(object))
        return MG_ERR_SYNTAX;
    launch->kernel = get_text(object, "kernel", arena);
    launch->mangled = get_text(object, "mangled", arena);
    launch->device = get_u32(object, "device");
    launch->grid = get_dim3(object, "grid");
    launch->block = get_dim3(object, "block");
    launch->shared_static = get_u32(object, "shared_static");
    launch->shared_dynamic = get_u32(object, "shared_dynamic");
    launch->regs = get_u32(object, "regs");
    launch->regs_from = json_object_get(object, "regs_from") ? get_text(object, "regs_from", arena) : NULL;
    launch->seconds = json_number_value(json_object_get(object, "seconds"));
    launch->status = get_status(object);
    launch->waits = get_waits(object);
    launch->metrics = get_metrics(object);
    launch->sample = get_sample(object, arena);

    const json_t *lines = json_object_get(object, "lines"), *vars = json_object_get(object, "variables");
    launch->nlines = json_array_size(lines);
    launch->nvars = json_array_size(vars);
    launch->lines = mg__arena_array(arena, launch->nlines, sizeof(*launch->lines));
    launch->vars = mg__arena_array(arena, launch->nvars, sizeof(*launch->vars));
    if ((launch->nlines && !launch->lines) || (launch->nvars && !launch->vars))
        return MG_ERR_NOMEM;
    for (size_t i = 0; i < launch->nlines; i++) {
        const json_t *line = json_array_get(lines, i);
        launch->lines[i].file = get_text(line, "file", arena);
        launch->lines[i].line = get_u32(line, "line");
        launch->lines[i].metrics = get_metrics(line);
        launch->lines[i].written = get_written(json_object_get(line, "written"));
    }
    for (size_t i = 0; i < launch->nvars; i++) {
        const json_t *var = json_array_get(vars, i);
        launch->vars[i].name = get_text(var, "name", arena);
        launch->vars[i].offset = get_u32(var, "offset");
        launch->vars[i].size = get_u32(var, "size");
        launch->vars[i].metrics = get_metrics(var);
    }
    return MG_OK;
}

static enum mg_status parse_finding(const json_t *object, struct mg_arena *arena, struct mg_report_finding *f)
{
    if (!json_is_object(object))
        return MG_ERR_SYNTAX;
    const char *severity = json_string_value(json_object_get(object, "severity"));
    f->severity = MG_SEVERITY_ERROR; /* of a later version's severity, the gravest is assumed */
    for (int s = MG_SEVERITY_NOTE; severity && s <= MG_SEVERITY_ERROR; s++)
        if (!strcmp(severity, mg__report_severity_name((enum mg_severity)s)))
            f->severity = (enum mg_severity)s;
    f->check = get_text(object, "check", arena);
    f->kind = get_text(object, "kind", arena);
    f->kernel = get_text(object, "kernel", arena);
    f->mangled = get_text(object, "mangled", arena);
    f->file = get_text(object, "file", arena);
    f->other_file = get_text(object, "other_file", arena);
    f->variable = get_text(object, "variable", arena);
    f->message = get_text(object, "message", arena);
    f->advice = get_text(object, "advice", arena);
    f->line = get_u32(object, "line");
    f->column = get_u32(object, "column");
    f->other_line = get_u32(object, "other_line");
    f->other_column = get_u32(object, "other_column");
    f->count = get_u64(object, "count");
    return MG_OK;
}

/* "9.0" -> 90 */
static unsigned parse_cc(const char *text)
{
    unsigned major = 0, minor = 0;
    if (text && sscanf(text, "%3u.%1u", &major, &minor) == 2)
        return major * 10 + minor;
    return 0;
}

enum mg_status mg__record_parse(const char *line, size_t length, struct mg_arena *arena, struct mg_record *record)
{
    return mg__record_of(json_loadb(line, length, 0, NULL), arena, record);
}

enum mg_status mg__record_of(json_t *root, struct mg_arena *arena, struct mg_record *record)
{
    memset(record, 0, sizeof(*record));
    const char *kind = json_string_value(json_object_get(root, "record"));
    enum mg_status status = kind ? MG_OK : MG_ERR_SYNTAX;
    if (!kind) {
        record->kind = MG_RECORD_UNKNOWN;
    } else if (!strcmp(kind, "header")) {
        const json_t *device = json_object_get(root, "device");
        record->kind = MG_RECORD_HEADER;
        record->version = get_text(root, "version", arena);
        record->schema = (int)get_u32(root, "schema");
        record->device.name = get_text(device, "name", arena);
        record->device.cc = parse_cc(json_string_value(json_object_get(device, "compute_capability")));
        record->device.sm_count = get_u32(device, "sm_count");
    } else if (!strcmp(kind, "launch")) {
        record->kind = MG_RECORD_LAUNCH;
        status = parse_launch(json_object_get(root, "launch"), arena, record);
    } else if (!strcmp(kind, "checks")) {
        record->kind = MG_RECORD_CHECKS;
    } else if (!strcmp(kind, "finding")) {
        record->kind = MG_RECORD_FINDING;
        status = parse_finding(json_object_get(root, "finding"), arena, &record->finding);
    } else if (!strcmp(kind, "advice")) {
        const json_t *advice = json_object_get(root, "advice");
        record->kind = MG_RECORD_ADVICE;
        record->json = json_is_object(advice) ? dump(advice, arena) : NULL;
        status = record->json ? MG_OK : MG_ERR_SYNTAX;
    } else if (!strcmp(kind, "picture")) {
        const json_t *picture = json_object_get(root, "picture");
        record->kind = MG_RECORD_PICTURE;
        record->launch.kernel = get_text(picture, "kernel", arena);
        record->launch.mangled = get_text(picture, "mangled", arena);
        record->launch.grid = get_dim3(picture, "grid");
        record->launch.block = get_dim3(picture, "block");
        record->launch.shared_dynamic = get_u32(picture, "shared_dynamic");
        record->json = json_is_object(picture) ? dump(picture, arena) : NULL;
        status = record->json ? MG_OK : MG_ERR_SYNTAX;
    } else if (!strcmp(kind, "error") || !strcmp(kind, "warning")) {
        record->kind = kind[0] == 'e' ? MG_RECORD_ERROR : MG_RECORD_WARNING;
        record->kernel = get_text(root, "kernel", arena);
        record->diag.status = get_status(root);
        record->diag.line = get_u32(root, "line");
        record->diag.column = get_u32(root, "column");
        copy_text(record->diag.message, sizeof(record->diag.message), root, "message");
        copy_text(record->diag.file, sizeof(record->diag.file), root, "file");
        copy_text(record->diag.excerpt, sizeof(record->diag.excerpt), root, "excerpt");
        copy_text(record->diag.hint, sizeof(record->diag.hint), root, "hint");
        copy_text(record->diag.inlined_file, sizeof(record->diag.inlined_file), root, "inlined_file");
        record->diag.inlined_line = get_u32(root, "inlined_line");
        json_object_del(root, "record");
        kind = NULL; /* it pointed into what was deleted */
        record->json = dump(root, arena);
        status = record->json ? MG_OK : MG_ERR_NOMEM;
    } else if (!strcmp(kind, "progress")) {
        record->kind = MG_RECORD_PROGRESS;
        record->kernel = get_text(root, "kernel", arena);
        record->done = get_u64(root, "done");
        record->total = get_u64(root, "total");
        record->seconds = json_number_value(json_object_get(root, "seconds"));
    } else if (!strcmp(kind, "note")) {
        record->kind = MG_RECORD_NOTE;
        record->note = get_text(root, "text", arena);
    } else if (!strcmp(kind, "hosted")) {
        record->kind = MG_RECORD_HOSTED;
        record->library = get_text(root, "library", arena);
        record->routine = get_text(root, "routine", arena);
    } else if (!strcmp(kind, "source")) {
        record->kind = MG_RECORD_SOURCE;
        record->file = get_text(root, "file", arena);
        record->text = get_text(root, "text", arena);
    } else if (!strcmp(kind, "end")) {
        record->kind = MG_RECORD_END;
    }
    json_decref(root);
    return status;
}
