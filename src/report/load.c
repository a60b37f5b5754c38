/* load.c - a report file read back: what --json wrote, as tallies, findings, advice and pictures.
 *
 * Each object of the file's lists is what a record of the stream holds, and is read by the reader of those. Nothing in
 * the file is trusted. What cannot be told of a file: how often a line was executed by which launch, once tallied.
 */
#include "report/reader_priv.h"

void mg__report_file_init(struct mg_report_file *file, bool by_shape)
{
    memset(file, 0, sizeof(*file));
    mg__arena_init(&file->arena);
    mg__tally_init(&file->tally, by_shape);
    mg__findings_init(&file->findings);
    mg__advices_init(&file->advices);
    mg__pictures_init(&file->pictures);
    mg__given_init(&file->given);
    file->advices.given = &file->given;
}

void mg__report_file_free(struct mg_report_file *file)
{
    mg__tally_free(&file->tally);
    mg__findings_free(&file->findings);
    mg__advices_free(&file->advices);
    mg__pictures_free(&file->pictures);
    mg__given_free(&file->given);
    mg__vec_free(&file->errors);
    mg__arena_free(&file->arena);
}

static enum mg_status take(struct mg_report_file *file, struct mg_record *record)
{
    switch (record->kind) {
    case MG_RECORD_LAUNCH:
        file->launches++;
        return mg__tally_add(&file->tally, &record->launch);
    case MG_RECORD_FINDING:
        return mg__findings_add(&file->findings, &record->finding);
    case MG_RECORD_ADVICE:
        return mg__advices_add(&file->advices, record->json);
    case MG_RECORD_PICTURE:
        return mg__pictures_add(&file->pictures, record);
    case MG_RECORD_SOURCE:
        return mg__given_add(&file->given, record->file, record->text);
    case MG_RECORD_ERROR: {
        struct mg_report_error *error = mg__arena_alloc(&file->arena, sizeof(*error));
        if (!error)
            return MG_ERR_NOMEM;
        error->kernel = mg__arena_strdup(&file->arena, record->kernel);
        error->diag = record->diag;
        return error->kernel && mg__vec_push(&file->errors, error) ? MG_OK : MG_ERR_NOMEM;
    }
    default:
        return MG_OK;
    }
}

/* The objects of one of the file's lists. Of errors and sources the object itself is the record, of others a member. */
static enum mg_status take_list(struct mg_report_file *file, const json_t *root, const char *name, const char *kind)
{
    const json_t *list = json_object_get(root, name);
    enum mg_status status = MG_OK;
    for (size_t i = 0; status == MG_OK && i < json_array_size(list); i++) {
        json_t *object = json_array_get(list, i);
        if (!json_is_object(object))
            return MG_ERR_SYNTAX;
        bool flat = !strcmp(kind, "error") || !strcmp(kind, "source");
        json_t *wrapped = flat ? json_copy(object) : json_pack("{s:O}", kind, object);
        if (!wrapped || json_object_set_new(wrapped, "record", json_string(kind)) != 0) {
            json_decref(wrapped);
            return MG_ERR_NOMEM;
        }
        struct mg_arena arena;
        struct mg_record record;
        mg__arena_init(&arena);
        status = mg__record_of(wrapped, &arena, &record); /* takes `wrapped` */
        if (status == MG_OK)
            status = take(file, &record);
        mg__arena_free(&arena);
    }
    return status;
}

static enum mg_status damaged(struct mg_diag *diag, const char *path, enum mg_status status)
{
    if (status == MG_ERR_NOMEM)
        return mg__diag_set(diag, status, "%s: out of memory", path);
    return mg__diag_set(diag, status, "%s: a part of it is no report's", path);
}

enum mg_status mg__report_load(struct mg_report_file *file, const char *path, struct mg_diag *diag)
{
    json_error_t error;
    char *text = NULL;
    size_t size = 0;
    enum mg_status status = mg__file_read(path, (size_t)1 << 30, &text, &size, diag);
    if (status != MG_OK) {
        char why[sizeof(diag->message)];
        snprintf(why, sizeof(why), "%s", diag->message);
        return mg__diag_set(diag, status, "%s: %.*s", path, 300, why);
    }
    json_t *root = json_loadb(text, size, 0, &error);
    free(text);
    const json_t *margay = json_object_get(root, "margay"), *device = json_object_get(root, "device");
    if (!json_is_array(json_object_get(root, "launches")) || !json_is_object(margay)) {
        status =
            root ? mg__diag_set(diag, MG_ERR_SYNTAX, "%s is no report of Margay's (--json writes one)", path)
                 : mg__diag_set(diag, MG_ERR_SYNTAX, "%s:%d: %s; --json writes a report", path, error.line, error.text);
        goto done;
    }
    json_int_t schema = json_integer_value(json_object_get(margay, "schema"));
    if (schema != MG_REPORT_SCHEMA) {
        status = mg__diag_set(diag, MG_ERR_UNSUPPORTED, "%s is a report of schema %d, and this version reads schema %d",
                              path, (int)schema, MG_REPORT_SCHEMA);
        goto done;
    }
    const char *name = json_string_value(json_object_get(device, "name"));
    file->device = mg__arena_strdup(&file->arena, name ? name : "");
    file->checked |= json_object_get(root, "suppressed") != NULL;
    file->advised |= json_object_get(root, "advice") != NULL;
    static const char *const lists[][2] = {{"launches", "launch"},  {"findings", "finding"}, {"advice", "advice"},
                                           {"pictures", "picture"}, {"sources", "source"},   {"errors", "error"}};
    for (size_t i = 0; i < MG_COUNT(lists) && status == MG_OK; i++)
        status = take_list(file, root, lists[i][0], lists[i][1]);
    if (status != MG_OK || !file->device)
        status = damaged(diag, path, file->device ? status : MG_ERR_NOMEM);
    mg__findings_sort(&file->findings);
done:
    json_decref(root);
    return status;
}
