/* html.c - a run as one page: a file that loads nothing, of the frame, style and scripts in html/ and of data as JSON.
 *
 * The page shows what the records say and computes nothing but places on the screen. The data stand in a script element
 * as JSON in which every "<" is escaped, so that no source text can end it; text that is not UTF-8 was made so before.
 * The page has a budget: what is large and can be missed, PTX first and then pictures, is left out from the cheapest
 * kernel on, and the page says so.
 */
#include "report/render.h"

#include <jansson.h>

#define BUDGET ((size_t)1900 << 10)       /* of the whole page */
#define SOURCE_BUDGET ((size_t)400 << 10) /* of source text */
#define ADVICE_BUDGET ((size_t)400 << 10)
#define FRAME ((size_t)64 << 10) /* of the style and the scripts, which are less */
enum { MOST_KERNELS = 1000, MOST_FINDINGS = 500, MOST_LINES = 4000, AROUND = 8, FEW_ACCESSES = 12, FEW_LINES = 60 };

extern const char mg_html_page[], mg_html_style[], mg_html_draw[], mg_html_views[], mg_html_script[];
static const char *const scripts[] = {mg_html_draw, mg_html_views, mg_html_script};

struct file { /* a source file, and the part of it that is shown */
    const char *name;
    uint32_t low, high;
};
struct page {
    const struct mg_page *given;
    struct mg_sources sources;
    MG_VEC(struct file) files;
    json_t *root;
    bool ok;
};

/* ---- values ---- */
/* Any bytes as a JSON string. */
static json_t *text_of(const char *text)
{
    json_t *plain = json_string(text ? text : "");
    if (plain)
        return plain;
    struct mg_strbuf quoted = {0};
    json_t *value = mg__json_string(&quoted, text) ? json_loads(quoted.at, JSON_DECODE_ANY, NULL) : NULL;
    mg__strbuf_free(&quoted);
    return value;
}

static void set(struct page *p, json_t *object, const char *key, json_t *value)
{
    p->ok &= value && json_object_set_new(object, key, value) == 0;
}

static void set_text(struct page *p, json_t *object, const char *key, const char *text)
{
    set(p, object, key, text_of(text));
}

static void set_number(struct page *p, json_t *object, const char *key, uint64_t value)
{
    set(p, object, key, json_integer((json_int_t)value));
}

static void push(struct page *p, json_t *array, json_t *value)
{
    p->ok &= value && json_array_append_new(array, value) == 0;
}

static void push_number(struct page *p, json_t *array, uint64_t value)
{
    push(p, array, json_integer((json_int_t)value));
}

static json_t *dim3(struct mg_dim3 d)
{
    return json_pack("[I,I,I]", (json_int_t)d.x, (json_int_t)d.y, (json_int_t)d.z);
}

static size_t size_of(const json_t *value)
{
    return json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);
}

/* What was counted, and within how much of the truth the estimates lie. */
static void set_sample(struct page *p, json_t *kernel, const struct mg_report_sample *s)
{
    if (s->counted >= s->blocks)
        return;
    json_t *sample = json_pack("{s:I, s:I, s:b, s:{}}", "blocks", (json_int_t)s->blocks, "counted",
                               (json_int_t)s->counted, "left_out", (int)s->left_out, "within");
    for (unsigned m = 0; sample && m < MG_METRIC_COUNT; m++)
        if (s->half[m] > 0)
            set(p, json_object_get(sample, "within"), mg__metric_name((enum mg_metric)m), json_real(s->half[m]));
    set(p, kernel, "sample", sample);
}

/* ---- source files ---- */
/* The file's number, of which this line is to be seen; 0: only the name matters. */
static json_int_t file_of(struct page *p, const char *name, uint32_t line)
{
    size_t i = 0;
    name = name ? name : "";
    while (i < p->files.count && strcmp(p->files.at[i].name, name))
        i++;
    if (i == p->files.count) {
        const char *own = mg__arena_strdup(&p->sources.arena, name);
        p->ok &= own && mg__vec_push(&p->files, ((struct file){own, UINT32_MAX, 0}));
    }
    if (p->ok && line) {
        p->files.at[i].low = MG_MIN(p->files.at[i].low, line);
        p->files.at[i].high = MG_MAX(p->files.at[i].high, line);
    }
    return (json_int_t)i;
}

static json_t *source_of(struct page *p, const struct file *file, size_t *room)
{
    struct mg_strbuf line = {0};
    uint32_t first = file->low > AROUND ? file->low - AROUND : 1, count = mg__sources_count(&p->sources, file->name);
    uint32_t last = MG_MIN(MG_MIN(file->high, UINT32_MAX - AROUND) + AROUND, count);
    if (!file->high || first > last)
        return json_null();
    json_t *lines = json_array(), *source = json_pack("{s:I}", "first", (json_int_t)first);
    for (uint32_t at = first; p->ok && at <= last && at - first < MOST_LINES; at++) {
        const char *text;
        size_t length, indent;
        line.count = 0;
        bool any = mg__sources_line(&p->sources, file->name, at, &text, &length, &indent);
        if (any && length + indent + 16 > *room)
            break;
        p->ok &= any ? mg__strbuf_append(&line, text - indent, length + indent) : mg__strbuf_append(&line, "", 0);
        *room -= any ? length + indent : 0;
        push(p, lines, text_of(any ? line.at : ""));
    }
    mg__strbuf_free(&line);
    set(p, source, "lines", lines);
    set_number(p, source, "count", count);
    return source;
}

static void add_files(struct page *p)
{
    json_t *files = json_array();
    size_t room = SOURCE_BUDGET;
    struct mg_style style = {.cwd = p->given->cwd};
    for (size_t i = 0; p->ok && i < p->files.count; i++) {
        json_t *file = json_object();
        set_text(p, file, "name", mg__layout_path(&style, p->files.at[i].name));
        set(p, file, "source", source_of(p, &p->files.at[i], &room));
        push(p, files, file);
    }
    set(p, p->root, "files", files);
}

/* ---- pictures ---- */
/* Places of a picture, in the page's files. */
static void place(struct page *p, const json_t *names, json_t *object, bool shown)
{
    const char *name =
        json_string_value(json_array_get(names, (size_t)json_integer_value(json_object_get(object, "file"))));
    json_int_t line = json_integer_value(json_object_get(object, "line"));
    set(p, object, "file",
        json_integer(file_of(p, name, shown && line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0)));
}

static void place_all(struct page *p, json_t *picture)
{
    const json_t *names = json_object_get(picture, "files");
    json_t *ptx = json_object_get(picture, "ptx"), *one;
    size_t i;
    json_array_foreach(json_object_get(picture, "accesses"), i, one) place(p, names, one, true);
    json_array_foreach(json_object_get(picture, "copies"), i, one) place(p, names, one, true);
    json_array_foreach(ptx, i, one)
    {
        json_int_t line = json_integer_value(json_array_get(one, 1));
        const char *name = json_string_value(json_array_get(names, (size_t)json_integer_value(json_array_get(one, 0))));
        uint32_t at = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
        p->ok &= json_array_set_new(one, 0, json_integer(file_of(p, name, at))) == 0;
    }
    json_object_del(picture, "files");
}

static bool same(struct mg_dim3 a, struct mg_dim3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Of the kernel, and of this very shape where shapes are apart. */
static bool belongs(const struct page *p, const struct mg_picture_row *row, const struct mg_tally_kernel *k)
{
    return !strcmp(row->mangled, k->mangled) &&
           (!p->given->tally->by_shape ||
            (same(row->grid, k->grid) && same(row->block, k->block) && row->shared_dynamic == k->shared_dynamic));
}

static void cut(json_t *list, size_t most)
{
    while (json_array_size(list) > most)
        json_array_remove(list, json_array_size(list) - 1);
}

/* A list cut to so many, and the rest counted. */
static void cut_list(json_t *object, const char *key, size_t most, const char *left_out)
{
    json_t *list = json_object_get(object, key);
    size_t n = json_array_size(list);
    json_int_t before = json_integer_value(json_object_get(object, left_out));
    cut(list, most);
    if (n > most)
        json_object_set_new(object, left_out, json_integer(before + (json_int_t)(n - most)));
}

/* The picture of the kernel's first shape, or what there is room for of it. */
static json_t *picture_of(struct page *p, const struct mg_tally_kernel *k, size_t *room)
{
    const struct mg_picture_rows *rows = p->given->pictures;
    json_t *picture = NULL;
    for (size_t i = 0; rows && i < rows->at.count && !picture; i++)
        if (belongs(p, &rows->at.at[i], k))
            picture = json_loads(rows->at.at[i].json, 0, NULL);
    if (!picture)
        return json_null();
    if (size_of(picture) > *room)
        cut_list(picture, "ptx", 0, "ptx_left_out");
    if (size_of(picture) > *room)
        cut_list(picture, "accesses", FEW_ACCESSES, "accesses_left_out");
    if (size_of(picture) > *room) {
        json_decref(picture);
        return json_null();
    }
    json_object_del(picture, "kernel");
    json_object_del(picture, "mangled");
    place_all(p, picture);
    *room -= MG_MIN(*room, size_of(picture));
    return picture;
}

/* ---- kernels ---- */
/* What warps did at the line, by Nsight Compute's names: those that are not 0. */
static json_t *stalls_of(struct page *p, const struct mg_metrics *metrics)
{
    static const enum mg_metric stalls[] = {
#define STALL(id, metric) MG_METRIC_##metric,
#include "report/part.def"
    };
    json_t *all = json_object();
    for (size_t i = 0; i < MG_COUNT(stalls); i++)
        if (metrics->v[stalls[i]])
            set_number(p, all, mg__metric_stall(stalls[i]), metrics->v[stalls[i]]);
    return all;
}

static json_t *lines_of(struct page *p, const struct mg_tally_kernel *k)
{
    static const enum mg_metric shown[] = {MG_METRIC_WAVEFRONTS_SHARED, MG_METRIC_WAVEFRONTS_SHARED_IDEAL,
                                           MG_METRIC_SECTORS_GLOBAL,    MG_METRIC_SECTORS_GLOBAL_IDEAL,
                                           MG_METRIC_DIVERGENT,         MG_METRIC_INST,
                                           MG_METRIC_TIME_LINE};
    json_t *lines = json_array();
    for (size_t i = 0; p->ok && i < k->lines.count; i++) {
        const struct mg_report_line *line = &k->lines.at[i];
        json_t *row = json_pack("[I,I]", file_of(p, line->file, line->line), (json_int_t)line->line);
        for (size_t m = 0; m < MG_COUNT(shown); m++)
            push_number(p, row, line->metrics.v[shown[m]]);
        push(p, row, stalls_of(p, &line->metrics));
        push(p, lines, row);
    }
    return lines;
}

static json_t *variables_of(struct page *p, const struct mg_tally_kernel *k)
{
    json_t *vars = json_array();
    for (size_t i = 0; p->ok && i < k->vars.count; i++) {
        const struct mg_report_var *v = &k->vars.at[i];
        json_t *row = json_array();
        push(p, row, text_of(v->name));
        push_number(p, row, v->size);
        push_number(p, row, v->metrics.v[MG_METRIC_WAVEFRONTS_SHARED]);
        push_number(p, row, v->metrics.v[MG_METRIC_WAVEFRONTS_SHARED_IDEAL]);
        push_number(p, row, v->metrics.v[MG_METRIC_INST_SHARED_LD]);
        push_number(p, row, v->metrics.v[MG_METRIC_INST_SHARED_ST]);
        push(p, vars, row);
    }
    return vars;
}

static void add_metrics(struct page *p, json_t *kernel, const struct mg_metrics *metrics)
{
    json_t *all = json_object();
    for (unsigned m = 0; m < MG_METRIC_COUNT; m++)
        if (metrics->v[m])
            set_number(p, all, mg__metric_name((enum mg_metric)m), metrics->v[m]);
    set(p, kernel, "metrics", all);
}

static json_t *kernel_of(struct page *p, const struct mg_tally_kernel *k)
{
    json_t *kernel = json_object();
    size_t start, length;
    mg__kernel_bare_name(k->kernel, &start, &length);
    char *bare = strndup(k->kernel + start, length);
    set_text(p, kernel, "kernel", k->kernel);
    set_text(p, kernel, "name", bare && *bare ? bare : k->kernel);
    free(bare);
    set_text(p, kernel, "mangled", k->mangled);
    set(p, kernel, "grid", dim3(k->grid));
    set(p, kernel, "block", dim3(k->block));
    set(p, kernel, "shapes_differ", json_boolean(k->shapes_differ));
    set_number(p, kernel, "shared_static", k->shared_static);
    set_number(p, kernel, "shared_dynamic", k->shared_dynamic);
    set_number(p, kernel, "regs", k->regs);
    set_number(p, kernel, "launches", k->launches);
    set_number(p, kernel, "failed", k->failed);
    set(p, kernel, "waits", json_boolean(k->waits != 0));
    set_sample(p, kernel, &k->sample);
    add_metrics(p, kernel, &k->metrics);
    set(p, kernel, "lines", lines_of(p, k));
    set(p, kernel, "variables", variables_of(p, k));
    struct mg_strbuf occupancy = {0};
    json_t *limits = NULL;
    if (p->given->occupancy && p->given->occupancy(p->given->arg, k, &occupancy) && occupancy.count)
        limits = json_loads(occupancy.at, 0, NULL);
    set(p, kernel, "occupancy", limits ? limits : json_null());
    mg__strbuf_free(&occupancy);
    return kernel;
}

/* ---- findings and advice ---- */
static void see(struct page *p, json_t *object, const char *file, const char *line)
{
    const char *name = json_string_value(json_object_get(object, file));
    json_int_t at = json_integer_value(json_object_get(object, line));
    bool any = name && *name;
    uint32_t seen = any && at > 0 && at <= UINT32_MAX ? (uint32_t)at : 0;
    set(p, object, file, any ? json_integer(file_of(p, name, seen)) : json_null());
}

static void add_findings(struct page *p)
{
    const struct mg_findings *findings = p->given->findings;
    json_t *list = json_array();
    size_t n = findings ? findings->at.count : 0;
    for (size_t i = 0; p->ok && i < n && i < MOST_FINDINGS; i++) {
        struct mg_strbuf text = {0};
        json_t *one = mg__report_finding_json(findings->at.at[i], &text) ? json_loads(text.at, 0, NULL) : NULL;
        mg__strbuf_free(&text);
        if (one) {
            see(p, one, "file", "line");
            see(p, one, "other_file", "other_line");
        }
        push(p, list, one);
    }
    set(p, p->root, "findings", list);
    set_number(p, p->root, "findings_left_out", n - MG_MIN(n, (size_t)MOST_FINDINGS));
}

static void add_advice(struct page *p)
{
    static const char *const unused[] = {"sites", "chart", "predicted"};
    const struct mg_advices *advices = p->given->advices;
    json_t *list = json_array();
    size_t room = ADVICE_BUDGET, left_out = 0;
    for (size_t i = 0; p->ok && advices && i < advices->at.count; i++) {
        struct mg_strbuf text = {0}; /* of what was read: parameters have their names there */
        json_t *one = mg__report_advice_json(&advices->at.at[i]->advice, &text) ? json_loads(text.at, 0, NULL) : NULL;
        json_t *item;
        size_t k;
        mg__strbuf_free(&text);
        for (k = 0; k < MG_COUNT(unused); k++)
            json_object_del(one, unused[k]);
        json_array_foreach(json_object_get(one, "advice"), k, item)
        {
            json_object_del(item, "values");
            json_object_del(item, "predicted");
            see(p, item, "file", "line");
        }
        size_t size = size_of(one);
        if (!one || size > room) {
            left_out++;
            json_decref(one);
            continue;
        }
        room -= size;
        push(p, list, one);
    }
    set(p, p->root, "advice", list);
    set_number(p, p->root, "advice_left_out", left_out);
}

static void add_errors(struct page *p)
{
    struct mg_strbuf text = {0};
    json_t *list = NULL, *one;
    size_t i;
    if (mg__strbuf_printf(&text, "[%s]", p->given->errors ? p->given->errors : ""))
        list = json_loads(text.at, 0, NULL);
    mg__strbuf_free(&text);
    json_array_foreach(list, i, one) see(p, one, "file", "line");
    if (list)
        cut(list, MOST_FINDINGS);
    set(p, p->root, "errors", list);
}

/* ---- the page ---- */
static void add_kernels(struct page *p)
{
    const struct mg_tally *tally = p->given->tally;
    json_t *kernels = json_array();
    size_t n = MG_MIN(tally->kernels.count, (size_t)MOST_KERNELS), used = 0;
    for (size_t i = 0; p->ok && i < n; i++) {
        json_t *kernel = kernel_of(p, tally->kernels.at[i]);
        used += size_of(kernel);
        if (used > BUDGET / 2)
            cut_list(kernel, "lines", FEW_LINES, "lines_left_out");
        push(p, kernels, kernel);
    }
    size_t fixed = used + size_of(p->root) + SOURCE_BUDGET + FRAME;
    size_t room = fixed < BUDGET ? BUDGET - fixed : 0;
    for (size_t i = 0; p->ok && i < n; i++)
        set(p, json_array_get(kernels, i), "picture", picture_of(p, tally->kernels.at[i], &room));
    set(p, p->root, "kernels", kernels);
    set_number(p, p->root, "kernels_left_out", tally->kernels.count - n);
}

/* JSON that no HTML parser takes for markup: "<" stands in strings alone. */
static bool put_data(struct mg_strbuf *out, const char *json)
{
    bool ok = true;
    while (ok && *json) {
        size_t n = strcspn(json, "<");
        ok = mg__strbuf_append(out, json, n) && (!json[n] || mg__strbuf_append(out, "\\u003c", 6));
        json += n + (json[n] != 0);
    }
    return ok;
}

/* The frame, with each {{name}} replaced. */
static bool put_page(struct mg_strbuf *out, const char *json)
{
    const char *at = mg_html_page, *open;
    bool ok = true;
    while (ok && (open = strstr(at, "{{")) != NULL) {
        ok = mg__strbuf_append(out, at, (size_t)(open - at));
        at = strstr(open, "}}") + 2;
        if (!strncmp(open, "{{style}}", 9))
            ok = ok && mg__strbuf_append(out, mg_html_style, strlen(mg_html_style));
        else if (!strncmp(open, "{{script}}", 10))
            for (size_t i = 0; i < MG_COUNT(scripts); i++)
                ok = ok && mg__strbuf_append(out, scripts[i], strlen(scripts[i]));
        else
            ok = ok && put_data(out, json);
    }
    return ok && mg__strbuf_append(out, at, strlen(at));
}

bool mg__render_html(const struct mg_page *given, struct mg_strbuf *out)
{
    struct page p = {.given = given, .root = json_object(), .ok = true};
    mg__sources_init(&p.sources, given->given);
    const struct mg_report_device *d = given->device;
    char cc[16];
    snprintf(cc, sizeof(cc), "%u.%u", d->cc / 10, d->cc % 10);
    set_text(&p, p.root, "version", MG_VERSION_STRING);
    set_text(&p, p.root, "command", given->command);
    set_text(&p, p.root, "program", given->program);
    set_text(&p, p.root, "device", d->name);
    set_text(&p, p.root, "capability", cc);
    add_findings(&p);
    add_advice(&p);
    add_errors(&p);
    add_kernels(&p); /* what is left of the page's size is for their pictures */
    add_files(&p);
    char *json = p.ok ? json_dumps(p.root, JSON_COMPACT) : NULL;
    bool ok = json && put_page(out, json);
    free(json);
    json_decref(p.root);
    mg__vec_free(&p.files);
    mg__sources_free(&p.sources);
    return ok;
}
