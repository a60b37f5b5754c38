/* metric.c - metric.def as functions: what each number is called and what it is, how several come together, what is
 * worked out of them. To add one, add its row there.
 */
#include "report/report.h"

static const struct row {
    const char *name, *unit, *text;
    uint8_t scope, adds, type, first, second;
} rows[MG_METRIC_ALL] = {
#define METRIC(id, name, unit, scope, adds, type, text) \
    [MG_METRIC_##id] = {name, unit, text, MG_SCOPE_OF_##scope, MG_ADDS_##adds, MG_TYPE_##type, 0, 0},
#define DERIVED(id, name, unit, scope, how, type, first, second, text) \
    [MG_METRIC_##id] = {                                               \
        name, unit, text, MG_SCOPE_OF_##scope, MG_ADDS_##how, MG_TYPE_##type, MG_METRIC_##first, MG_METRIC_##second},
#include "report/metric.def"
};

static bool there_is(enum mg_metric metric)
{
    return (unsigned)metric < MG_METRIC_ALL;
}

const char *mg__metric_name(enum mg_metric metric)
{
    return there_is(metric) ? rows[metric].name : "?";
}

const char *mg__metric_stall(enum mg_metric metric)
{
    const char *name = mg__metric_name(metric), *reason = strstr(name, "stalled_");
    return reason ? reason + strlen("stalled_") : name;
}

const char *mg__metric_unit(enum mg_metric metric)
{
    return there_is(metric) ? rows[metric].unit : "?";
}

const char *mg__metric_text(enum mg_metric metric)
{
    return there_is(metric) ? rows[metric].text : "?";
}

enum mg_metric_scope mg__metric_scope(enum mg_metric metric)
{
    return there_is(metric) ? (enum mg_metric_scope)rows[metric].scope : MG_SCOPE_OF_LAUNCH;
}

enum mg_metric_adds mg__metric_adds(enum mg_metric metric)
{
    return there_is(metric) ? (enum mg_metric_adds)rows[metric].adds : MG_ADDS_SUM;
}

enum mg_metric_type mg__metric_type(enum mg_metric metric)
{
    return there_is(metric) ? (enum mg_metric_type)rows[metric].type : MG_TYPE_COUNT;
}

void mg__metric_parts(enum mg_metric derived, enum mg_metric *first, enum mg_metric *second)
{
    *first = (enum mg_metric)rows[derived].first;
    *second = (enum mg_metric)rows[derived].second;
}

bool mg__metric_join(enum mg_metric_adds adds, uint64_t *to, uint64_t from)
{
    bool same = adds != MG_ADDS_SAME || *to == from;
    *to = adds == MG_ADDS_SUM ? *to + from : MG_MAX(*to, from);
    return same;
}

bool mg__metrics_add(struct mg_metrics *to, const struct mg_metrics *from)
{
    bool same = true;
    for (unsigned m = 0; m < MG_METRIC_COUNT; m++)
        same &= mg__metric_join((enum mg_metric_adds)rows[m].adds, &to->v[m], from->v[m]);
    return same;
}

uint64_t mg__metric_whole(const struct mg_metrics *metrics, enum mg_metric metric)
{
    if (metric < MG_METRIC_COUNT)
        return metrics->v[metric];
    if (mg__metric_adds(metric) != MG_ADDS_EXCESS)
        return 0;
    const uint64_t first = metrics->v[rows[metric].first], second = metrics->v[rows[metric].second];
    return first > second ? first - second : 0;
}

bool mg__metric_value(const struct mg_metrics *metrics, enum mg_metric metric, double *value)
{
    *value = (double)mg__metric_whole(metrics, metric);
    if (metric < MG_METRIC_COUNT || !there_is(metric))
        return there_is(metric);
    const uint64_t first = metrics->v[rows[metric].first], second = metrics->v[rows[metric].second];
    if (rows[metric].adds == MG_ADDS_EXCESS)
        return first || second;
    if (second)
        *value = (double)first / (double)second;
    if (rows[metric].adds == MG_ADDS_SHARE)
        *value = 100 * MG_MIN(*value, 1);
    return second != 0;
}
