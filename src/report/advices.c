/* advices.c - advice read back: one row a kernel and launch shape.
 *
 * Launches of one kernel in one shape may differ, where work depends on data: the one that the estimate says takes
 * longest stands for them. At most MG_ADVICE_ROWS rows are kept. As with all records nothing is trusted: what is
 * missing reads as empty or zero, what is too much is cut.
 */
#include "report/render.h"

#include <jansson.h>

enum { MOST = 4096 }; /* entries of a list */

void mg__advices_init(struct mg_advices *a)
{
    memset(a, 0, sizeof(*a));
    mg__arena_init(&a->arena);
    mg__strtab_init(&a->index, &a->arena);
}

void mg__advices_free(struct mg_advices *a)
{
    for (size_t i = 0; i < a->at.count; i++)
        free(a->at.at[i]->json);
    mg__vec_free(&a->at);
    mg__arena_free(&a->arena);
}

static const char *text(struct mg_arena *arena, const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    value = mg__arena_strdup(arena, value ? value : "");
    return value ? value : "";
}

static double real(const json_t *object, const char *key)
{
    double v = json_number_value(json_object_get(object, key));
    return v >= 0 ? v : 0;
}

static uint64_t whole(const json_t *object, const char *key)
{
    json_int_t v = json_integer_value(json_object_get(object, key));
    return v > 0 ? (uint64_t)v : 0;
}

static uint32_t small(const json_t *object, const char *key)
{
    return (uint32_t)MG_MIN(whole(object, key), UINT32_MAX);
}

static struct mg_dim3 dim3(const json_t *object, const char *key)
{
    const json_t *array = json_object_get(object, key);
    uint32_t v[3] = {1, 1, 1};
    for (size_t i = 0; i < 3 && i < json_array_size(array); i++) {
        json_int_t n = json_integer_value(json_array_get(array, i));
        v[i] = n > 0 && n <= UINT32_MAX ? (uint32_t)n : 1;
    }
    return (struct mg_dim3){v[0], v[1], v[2]};
}

/* The elements of a list, and room for as many of `size`; NULL where there are none. */
static void *list(struct mg_arena *arena, const json_t *object, const char *key, size_t size, const json_t **array,
                  size_t *n)
{
    *array = json_object_get(object, key);
    *n = MG_MIN(json_array_size(*array), (size_t)MOST);
    void *at = *n ? mg__arena_array(arena, *n, size) : NULL;
    if (!at)
        *n = 0;
    return at;
}

static struct mg_report_value *values(struct mg_arena *arena, const json_t *object, const char *key, size_t *n)
{
    json_t *from = json_object_get(object, key);
    const char *name;
    json_t *value;
    size_t room = MG_MIN(json_object_size(from), (size_t)MOST);
    struct mg_report_value *v = room ? mg__arena_array(arena, room, sizeof(*v)) : NULL;
    *n = 0;
    if (!v)
        return NULL;
    json_object_foreach(from, name, value)
    {
        if (*n == room)
            break;
        v[*n].name = mg__arena_strdup(arena, name);
        v[*n].value = json_number_value(value);
        if (v[*n].name)
            (*n)++;
    }
    return v;
}

static struct mg_report_advice_row *rows(struct mg_arena *arena, const json_t *object, const char *key, size_t *n)
{
    const json_t *array;
    struct mg_report_advice_row *r = list(arena, object, key, sizeof(*r), &array, n);
    for (size_t i = 0; i < *n; i++) {
        const json_t *row = json_array_get(array, i);
        r[i] = (struct mg_report_advice_row){text(arena, row, "id"), text(arena, row, "text"),
                                             text(arena, row, "result"), text(arena, row, "counts")};
    }
    return r;
}

static void read_items(struct mg_arena *arena, const json_t *object, struct mg_report_advice *a)
{
    const json_t *array;
    a->items = list(arena, object, "advice", sizeof(*a->items), &array, &a->nitems);
    for (size_t i = 0; i < a->nitems; i++) {
        const json_t *from = json_array_get(array, i);
        struct mg_report_advice_item *item = &a->items[i];
        item->id = text(arena, from, "id");
        item->title = text(arena, from, "title");
        item->why = text(arena, from, "why");
        item->how = text(arena, from, "how");
        item->file = text(arena, from, "file");
        item->line = small(from, "line");
        item->variable = text(arena, from, "variable");
        item->gain = real(from, "gain");
        item->gain_least = real(from, "gain_least");
        item->gain_most = real(from, "gain_most");
        item->seconds = real(from, "seconds");
        item->values = values(arena, from, "values", &item->nvalues);
        item->predicted = values(arena, from, "predicted", &item->npredicted);
    }
}

static void read_sites(struct mg_arena *arena, const json_t *object, struct mg_report_advice *a)
{
    const json_t *array;
    a->sites = list(arena, object, "sites", sizeof(*a->sites), &array, &a->nsites);
    for (size_t i = 0; i < a->nsites; i++) {
        const json_t *from = json_array_get(array, i);
        a->sites[i] = (struct mg_report_advice_site){
            .file = text(arena, from, "file"),
            .line = small(from, "line"),
            .operation = text(arena, from, "operation"),
            .array = text(arena, from, "array"),
            .pattern = text(arena, from, "pattern"),
            .requests = whole(from, "requests"),
            .sectors = whole(from, "sectors"),
            .ideal = whole(from, "sectors_ideal"),
            .uses_byte = real(from, "uses_per_byte"),
            .threads_byte = real(from, "threads_per_byte"),
            .bytes_block = whole(from, "bytes_per_block"),
            .sampled = json_is_true(json_object_get(from, "sampled")),
            .remedy = text(arena, from, "remedy"),
            .staging = text(arena, from, "staging"),
            .stage_sectors = real(from, "staging_sectors_saved"),
            .stage_wavefronts = real(from, "staging_wavefronts"),
            .stage_barriers = real(from, "staging_warps_at_barriers"),
        };
    }
}

static void read_roofline(struct mg_arena *arena, const json_t *object, struct mg_report_advice *a)
{
    const json_t *from = json_object_get(object, "roofline"), *array;
    const char *binding = json_string_value(json_object_get(from, "binding"));
    a->flops_f16 = whole(from, "flops_f16");
    a->flops_f32 = whole(from, "flops_f32");
    a->flops_f64 = whole(from, "flops_f64");
    a->attainable = real(from, "attainable_flops_per_second");
    a->roofs = list(arena, from, "roofs", sizeof(*a->roofs), &array, &a->nroofs);
    for (size_t i = 0; i < a->nroofs; i++) {
        const json_t *roof = json_array_get(array, i);
        a->roofs[i] = (struct mg_report_roof){text(arena, roof, "name"), real(roof, "peak"), real(roof, "amount"),
                                              real(roof, "intensity"), real(roof, "seconds")};
        if (binding && !strcmp(binding, a->roofs[i].name))
            a->binding = i;
    }
}

static void read_advice(struct mg_arena *arena, const json_t *object, struct mg_report_advice *a)
{
    const json_t *occupancy = json_object_get(object, "occupancy");
    unsigned major = 0, minor = 0;
    memset(a, 0, sizeof(*a));
    a->kernel = text(arena, object, "kernel");
    a->mangled = text(arena, object, "mangled");
    a->board = text(arena, object, "board");
    if (sscanf(text(arena, object, "compute_capability"), "%3u.%1u", &major, &minor) == 2)
        a->cc = major * 10 + minor;
    a->grid = dim3(object, "grid");
    a->block = dim3(object, "block");
    a->shared_static = small(object, "shared_static");
    a->shared_dynamic = small(object, "shared_dynamic");
    a->regs = small(object, "regs");
    a->regs_from = text(arena, object, "regs_from");
    a->regs_exact = json_is_true(json_object_get(object, "regs_exact"));
    a->status = strcmp(text(arena, object, "status"), "MG_OK") ? MG_ERR_INTERNAL : MG_OK;
    a->blocks = whole(object, "blocks");
    a->blocks_sampled = whole(object, "blocks_sampled");
    a->seconds = real(object, "seconds");
    a->pages = real(object, "pages_seconds");
    a->occupancy_blocks = small(occupancy, "blocks");
    a->occupancy_warps = small(occupancy, "warps");
    a->occupancy_max_warps = small(occupancy, "max_warps");
    a->occupancy_limiter = text(arena, occupancy, "limiter");
    a->occupancy_step = text(arena, occupancy, "step");
    a->limiter = text(arena, object, "limited_by");
    a->verdict = text(arena, object, "verdict");
    a->chart = rows(arena, object, "chart", &a->nchart);
    a->checks = rows(arena, object, "checklist", &a->nchecks);
    read_roofline(arena, object, a);
    read_sites(arena, object, a);
    read_items(arena, object, a);
}

/* Only the launch that stands for a row is kept, as the record that it came in, so that memory does not grow with
 * launches. */
enum mg_status mg__advices_add(struct mg_advices *all, const char *json)
{
    enum mg_status status = MG_ERR_NOMEM;
    struct mg_strbuf key = {0};
    json_t *root = json_loads(json, 0, NULL);
    if (!json_is_object(root)) {
        json_decref(root);
        return MG_ERR_SYNTAX;
    }
    const char *mangled = json_string_value(json_object_get(root, "mangled"));
    struct mg_dim3 g = dim3(root, "grid"), b = dim3(root, "block");
    if (!mg__strbuf_printf(&key, "%s|%u,%u,%u|%u,%u,%u|%u|%u", mangled ? mangled : "", g.x, g.y, g.z, b.x, b.y, b.z,
                           small(root, "shared_static"), small(root, "shared_dynamic")))
        goto done;
    struct mg_advice_row *row = mg__strtab_get(&all->index, key.at, key.count);
    if (!row && all->at.count == MG_ADVICE_ROWS) {
        all->left_out++;
        status = MG_OK;
        goto done;
    }
    if (!row) {
        row = mg__arena_alloc(&all->arena, sizeof(*row));
        if (!row || !mg__strtab_put(&all->index, key.at, key.count, row) || !mg__vec_push(&all->at, row))
            goto done;
        memset(row, 0, sizeof(*row));
    }
    double seconds = real(root, "seconds");
    if (!row->json || seconds > row->advice.seconds) {
        char *copy = strdup(json);
        if (!copy)
            goto done;
        free(row->json);
        row->json = copy;
        row->advice.seconds = seconds;
    }
    const uint64_t launches = MG_MAX(whole(root, "launches"), UINT64_C(1)); /* a row read back has its number, … */
    row->launches += launches;
    row->looked += json_object_get(root, "looked_at") ? MG_MIN(whole(root, "looked_at"), launches) : launches;
    const bool row_read = json_object_get(root, "all_seconds") != NULL;
    const double pages = real(root, row_read ? "all_pages_seconds" : "pages_seconds");
    row->all += row_read ? real(root, "all_seconds") : seconds * (double)launches + pages;
    row->pages += pages;
    status = MG_OK;
done:
    mg__strbuf_free(&key);
    json_decref(root);
    return status;
}

enum mg_status mg__advices_load(struct mg_advices *a, const char *json)
{
    json_t *root = json_loads(json, 0, NULL);
    enum mg_status status = json_is_array(root) ? MG_OK : MG_ERR_SYNTAX;
    for (size_t i = 0; status == MG_OK && i < json_array_size(root); i++) {
        char *text = json_dumps(json_array_get(root, i), JSON_COMPACT | JSON_REAL_PRECISION(17));
        status = text ? mg__advices_add(a, text) : MG_ERR_NOMEM;
        free(text);
    }
    json_decref(root);
    return status;
}

bool mg__advices_json(const struct mg_advices *a, struct mg_strbuf *out)
{
    bool ok = mg__strbuf_append(out, "[", 1), first = true;
    for (size_t i = 0; ok && i < a->at.count; i++) {
        const struct mg_advice_row *row = a->at.at[i];
        if (!row->json || row->json[0] != '{' || row->json[1] == '}')
            continue;
        ok = mg__strbuf_printf(
            out, "%s{\"launches\": %llu, \"looked_at\": %llu, \"all_seconds\": %.17g, \"all_pages_seconds\": %.17g, %s",
            first ? "\n" : ",\n", (unsigned long long)row->launches, (unsigned long long)row->looked, row->all,
            row->pages, row->json + 1);
        first = false;
    }
    return ok && mg__strbuf_append(out, "]", 1);
}

/* Pages of managed memory come once, in the first of the row's launches: what is shown are fractions of all of them. */
static void share_pages(struct mg_advice_row *row)
{
    struct mg_report_advice *a = &row->advice;
    struct mg_report_advice_item prefetch = {0}, *items = a->items;
    const double part = row->all > 0 ? row->pages / row->all : 0;
    size_t n = 0;
    if (part > 0.5)
        a->limiter = "managed memory";
    for (size_t i = 0; i < a->nitems; i++) {
        items[i].gain *= 1 - part;
        items[i].gain_least *= 1 - part;
        items[i].gain_most *= 1 - part;
        if (!strcmp(items[i].id, "prefetch"))
            prefetch = items[i];
        else
            items[n++] = items[i];
    }
    if (prefetch.id && (part >= MG_ADVICE_LEAST || !n)) { /* in its place, by what it saves */
        prefetch.gain = prefetch.gain_least = prefetch.gain_most = part;
        size_t at = n++;
        for (; at > 0 && (items[at - 1].gain < part || !strcmp(items[at - 1].id, "nothing")); at--)
            items[at] = items[at - 1];
        items[at] = prefetch;
    }
    a->nitems = n;
}

enum mg_status mg__advices_read(struct mg_advices *a)
{
    struct mg_sources sources;
    enum mg_status status = MG_OK;
    mg__sources_init(&sources, a->given);
    for (size_t i = 0; i < a->at.count; i++) {
        struct mg_advice_row *row = a->at.at[i];
        json_t *root = row->json ? json_loads(row->json, 0, NULL) : NULL;
        if (!root) {
            status = MG_ERR_NOMEM;
            break;
        }
        read_advice(&a->arena, root, &row->advice);
        share_pages(row);
        mg__advice_name_parameters(&a->arena, &sources, &row->advice);
        json_decref(root);
    }
    mg__sources_free(&sources);
    return status;
}

void mg__advices_sort(struct mg_advices *a)
{
    for (size_t i = 1; i < a->at.count; i++) { /* insertion: few rows, and ties stay in order */
        struct mg_advice_row *row = a->at.at[i];
        size_t k = i;
        for (; k > 0 && row->all > a->at.at[k - 1]->all; k--)
            a->at.at[k] = a->at.at[k - 1];
        a->at.at[k] = row;
    }
}
