/* items.c - the list of advice while it is made: what advisers add to it, and how they find what others added. What
 * would save less than MG_ADVICE_LEAST of the launch is left out.
 */
#include "advise/facts.h"

#include <stdarg.h>

char *mg__advise_text(struct mg_facts *f, const char *format, ...)
{
    va_list args;
    char small[1024];
    va_start(args, format);
    int n = vsnprintf(small, sizeof(small), format, args);
    va_end(args);
    char *copy = n < 0 ? NULL : mg__arena_strdup(&f->arena, small);
    static char none[1];
    return copy ? copy : none;
}

struct mg_report_advice_item *mg__advise_add_beyond(struct mg_facts *f, const char *id, struct mg_change *change,
                                                    double others)
{
    const double seconds = mg__change_saves(f, change) - others;
    struct mg_report_advice_item item = {
        .id = id, .title = "", .why = "", .how = "", .file = "", .variable = "", .seconds = seconds};
    item.gain = f->seconds > 0 ? seconds / f->seconds : 0;
    mg__change_range(f, seconds, &item.gain_least, &item.gain_most);
    bool nothing = !strcmp(id, "nothing");
    if ((!nothing && !mg__change_worth(f, seconds)) || !mg__vec_push(&f->items, item))
        return NULL;
    return &f->items.at[f->items.count - 1];
}

struct mg_report_advice_item *mg__advise_add(struct mg_facts *f, const char *id, struct mg_change *change)
{
    return mg__advise_add_beyond(f, id, change, 0);
}

void mg__advise_at(struct mg_facts *f, struct mg_report_advice_item *item, uint32_t insn)
{
    if (insn >= f->info->ninsns)
        return;
    mg__site_place(f->info, insn, &item->file, &item->line);
}

static void push(struct mg_report_value **at, size_t *n, const char *name, double value)
{
    struct mg_report_value *grown = realloc(*at, (*n + 1) * sizeof(**at));
    if (!grown)
        return;
    grown[(*n)++] = (struct mg_report_value){name, value};
    *at = grown;
}

void mg__advise_value(struct mg_facts *f, struct mg_report_advice_item *item, const char *name, double value)
{
    (void)f;
    push(&item->values, &item->nvalues, name, value);
}

void mg__advise_predict(struct mg_facts *f, struct mg_report_advice_item *item, enum mg_metric metric, double value)
{
    (void)f;
    /* a counter is whole */
    push(&item->predicted, &item->npredicted, mg__metric_name(metric), (double)mg__facts_round(value));
}

const struct mg_report_advice_item *mg__advise_has(const struct mg_facts *f, const char *id)
{
    for (size_t i = 0; i < f->items.count; i++)
        if (!strcmp(f->items.at[i].id, id))
            return &f->items.at[i];
    return NULL;
}

unsigned mg__advise_blocks_with(const struct mg_facts *f, int64_t change)
{
    struct mg_occupancy_query q = f->query;
    struct mg_occupancy o;
    int64_t bytes = (int64_t)q.shared_dynamic + change;
    if (!f->has_occupancy)
        return 0;
    if (bytes < 0) {
        q.shared_static = (uint32_t)MG_MAX(0, (int64_t)q.shared_static + bytes);
        bytes = 0;
    }
    q.shared_dynamic = (uint32_t)MG_MIN(bytes, (int64_t)UINT32_MAX);
    q.shared_optin = q.shared_dynamic;
    return mg_arch_occupancy(f->arch, &q, &o) == MG_OK ? o.blocks : 0;
}
