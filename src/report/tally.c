/* tally.c - launches added up, so that a kernel launched a thousand times is one row.
 *
 * Rows are told apart by kernel, or by kernel and launch shape (grid, block, shared memory). Lines and variables of a
 * row are looked for first where the previous launch of the row had them: the same kernel reports the same lines in the
 * same order nearly always, so adding is linear.
 */
#include "report/render.h"

#include <math.h>

void mg__tally_init(struct mg_tally *tally, bool by_shape)
{
    memset(tally, 0, sizeof(*tally));
    mg__arena_init(&tally->arena);
    mg__strtab_init(&tally->index, &tally->arena);
    tally->by_shape = by_shape;
}

void mg__tally_free(struct mg_tally *tally)
{
    for (size_t i = 0; i < tally->kernels.count; i++) {
        mg__vec_free(&tally->kernels.at[i]->lines);
        mg__vec_free(&tally->kernels.at[i]->vars);
    }
    mg__vec_free(&tally->kernels);
    mg__arena_free(&tally->arena);
}

static bool same_dim(struct mg_dim3 a, struct mg_dim3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool add_line(struct mg_tally *tally, struct mg_tally_kernel *k, const struct mg_report_line *line, size_t guess)
{
    for (size_t n = 0; n < k->lines.count; n++) {
        struct mg_report_line *have = &k->lines.at[(guess + n) % k->lines.count];
        if (have->line == line->line && !strcmp(have->file, line->file)) {
            mg__metrics_add(&have->metrics, &line->metrics);
            return true;
        }
    }
    struct mg_report_line copy = *line;
    copy.file = mg__arena_strdup(&tally->arena, line->file);
    return copy.file && mg__vec_push(&k->lines, copy);
}

static bool add_var(struct mg_tally *tally, struct mg_tally_kernel *k, const struct mg_report_var *var)
{
    for (size_t n = 0; n < k->vars.count; n++) {
        struct mg_report_var *have = &k->vars.at[n];
        if (have->offset == var->offset && !strcmp(have->name, var->name)) {
            have->size = MG_MAX(have->size, var->size);
            mg__metrics_add(&have->metrics, &var->metrics);
            return true;
        }
    }
    struct mg_report_var copy = *var;
    copy.name = mg__arena_strdup(&tally->arena, var->name);
    return copy.name && mg__vec_push(&k->vars, copy);
}

static struct mg_tally_kernel *find_row(struct mg_tally *tally, const struct mg_report_launch *launch)
{
    struct mg_strbuf key = {0};
    bool ok = mg__strbuf_printf(&key, "%s", launch->mangled[0] ? launch->mangled : launch->kernel);
    if (ok && tally->by_shape)
        ok = mg__strbuf_printf(&key, "|%u,%u,%u|%u,%u,%u|%u|%u", launch->grid.x, launch->grid.y, launch->grid.z,
                               launch->block.x, launch->block.y, launch->block.z, launch->shared_static,
                               launch->shared_dynamic);
    if (!ok)
        goto fail;
    struct mg_tally_kernel *k = mg__strtab_get(&tally->index, key.at, key.count);
    if (!k) {
        k = mg__arena_alloc(&tally->arena, sizeof(*k));
        if (!k)
            goto fail;
        k->kernel = mg__arena_strdup(&tally->arena, launch->kernel);
        k->mangled = mg__arena_strdup(&tally->arena, launch->mangled);
        k->grid = launch->grid;
        k->block = launch->block;
        k->shared_static = launch->shared_static;
        k->shared_dynamic = launch->shared_dynamic;
        if (!k->kernel || !k->mangled || !mg__strtab_put(&tally->index, key.at, key.count, k) ||
            !mg__vec_push(&tally->kernels, k))
            goto fail;
    }
    mg__strbuf_free(&key);
    return k;
fail:
    mg__strbuf_free(&key);
    return NULL;
}

/* Launches are drawn from one by one: their errors come together as independent ones do. */
static void add_sample(struct mg_report_sample *to, const struct mg_report_launch *launch)
{
    const struct mg_report_sample *s = launch->sample;
    uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    to->blocks += s ? s->blocks : blocks;
    to->counted += s ? s->counted : blocks;
    to->left_out |= s && s->left_out;
    for (unsigned m = 0; s && m < MG_METRIC_COUNT; m++)
        to->half[m] = sqrt(to->half[m] * to->half[m] + s->half[m] * s->half[m]);
}

enum mg_status mg__tally_add(struct mg_tally *tally, const struct mg_report_launch *launch)
{
    struct mg_tally_kernel *k = find_row(tally, launch);
    if (!k)
        return MG_ERR_NOMEM;
    if (!k->launches++)
        k->metrics = launch->metrics;
    else
        k->shapes_differ |= !mg__metrics_add(&k->metrics, &launch->metrics);
    k->failed += launch->status != MG_OK;
    k->seconds += launch->seconds;
    add_sample(&k->sample, launch);
    k->regs = MG_MAX(k->regs, launch->regs);
    k->waits |= launch->waits;
    k->devices |= UINT32_C(1) << MG_MIN(launch->device, 31u);
    k->shapes_differ |= !same_dim(k->grid, launch->grid) || !same_dim(k->block, launch->block);
    for (size_t i = 0; i < launch->nlines; i++)
        if (!add_line(tally, k, &launch->lines[i], i))
            return MG_ERR_NOMEM;
    for (size_t i = 0; i < launch->nvars; i++)
        if (!add_var(tally, k, &launch->vars[i]))
            return MG_ERR_NOMEM;
    return MG_OK;
}

static uint64_t cost(const struct mg_tally_kernel *k)
{
    return k->metrics.v[MG_METRIC_WAVEFRONTS_SHARED] + k->metrics.v[MG_METRIC_SECTORS_GLOBAL];
}

static bool costlier(const struct mg_tally_kernel *a, const struct mg_tally_kernel *b)
{
    if (cost(a) != cost(b))
        return cost(a) > cost(b);
    return a->metrics.v[MG_METRIC_INST] > b->metrics.v[MG_METRIC_INST];
}

void mg__tally_sort(struct mg_tally *tally)
{
    /* Insertion: rows are few, and qsort would not keep ties in order. */
    struct mg_tally_kernel **at = tally->kernels.at;
    for (size_t i = 1; i < tally->kernels.count; i++) {
        struct mg_tally_kernel *k = at[i];
        size_t j = i;
        for (; j > 0 && costlier(k, at[j - 1]); j--)
            at[j] = at[j - 1];
        at[j] = k;
    }
}
