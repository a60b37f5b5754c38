/* metric.c - names, units and meanings of the counters: metric.def as functions. To add a
 * counter, add its row there. */
#include "report/report.h"

static const struct {
    const char *name, *unit, *text;
} metrics[MG_METRIC_COUNT] = {
#define METRIC(id, name, unit, text) {name, unit, text},
#include "report/metric.def"
#undef METRIC
};

const char *mg__metric_name(enum mg_metric metric)
{
    return (unsigned)metric < MG_METRIC_COUNT ? metrics[metric].name : "?";
}

const char *mg__metric_unit(enum mg_metric metric)
{
    return (unsigned)metric < MG_METRIC_COUNT ? metrics[metric].unit : "?";
}

const char *mg__metric_text(enum mg_metric metric)
{
    return (unsigned)metric < MG_METRIC_COUNT ? metrics[metric].text : "?";
}
