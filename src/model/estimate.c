/* estimate.c - counts of a launch of which only some blocks were counted: estimated, with how sure that is.
 *
 * Two units (blocks, or clusters) are drawn of each stratum (simt/observe.h, mg_sample). A sum over the launch is
 * estimated as the sum over strata of their size times the mean of what was drawn. Where the others ran as well it is
 * known how many instructions all of them executed, and what is estimated is the ratio to that (the combined ratio
 * estimator), which varies far less than the sums. Its variance is that of the residuals inside the strata, with the
 * finite population's correction; the interval takes Student's t, whose degrees of freedom are Satterthwaite's, as few
 * strata may have most of the variance (Cochran, Sampling Techniques, chapters 5 and 6).
 *
 * Weights are kept doubled, as whole numbers, so that sums do not depend on the order of blocks or workers.
 */
#include "model/model_priv.h"

#include <math.h>

uint64_t mg__model_weight(const struct mg_sample *s, size_t unit)
{
    uint64_t size = s->sizes[s->at[unit].stratum];
    return size == 1 ? 2 : size;
}

/* 97.5 % of Student's distribution. */
static double student(double df)
{
    static const double at[][2] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},  {5, 2.571},
                                   {6, 2.447},  {8, 2.306},  {10, 2.228}, {15, 2.131}, {20, 2.086},
                                   {30, 2.042}, {60, 2.000}, {1e9, 1.960}};
    for (size_t i = 1; i < MG_COUNT(at); i++)
        if (df < at[i][0]) { /* between the two, along 1/df */
            double low = 1 / at[i - 1][0], high = 1 / at[i][0], x = 1 / MG_MAX(df, 1);
            return at[i - 1][1] + (at[i][1] - at[i - 1][1]) * (low - x) / (low - high);
        }
    return at[MG_COUNT(at) - 1][1];
}

static int by_unit(const void *a, const void *b)
{
    const struct mg_model_unit *x = a, *y = b;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* A block that was parked came in parts. */
size_t mg__model_units_join(struct mg_model_unit *units, size_t n)
{
    size_t kept = 0;
    if (n)
        qsort(units, n, sizeof(*units), by_unit);
    for (size_t i = 0; i < n; i++)
        if (kept && units[kept - 1].unit == units[i].unit)
            for (unsigned m = 0; m < MG_METRIC_COUNT; m++)
                units[kept - 1].metrics.v[m] += units[i].metrics.v[m];
        else
            units[kept++] = units[i];
    return kept;
}

static double weighted(const struct mg_sample *s, const struct mg_model_unit *units, size_t n, enum mg_metric m)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += mg__model_weight(s, units[i].unit) * units[i].metrics.v[m];
    return (double)sum / 2;
}

double mg__model_scale(const struct mg_sample *s, const struct mg_model_unit *units, size_t n, uint64_t executed)
{
    double estimate = weighted(s, units, n, MG_METRIC_INST);
    return s->left_out || estimate == 0 ? 1 : (double)executed / estimate;
}

/* What of a stratum's two units is not explained by how much they executed, squared, over both. */
static double spread(const struct mg_sample *s, const struct mg_model_unit *units, size_t n, enum mg_metric m,
                     double ratio, double *df)
{
    double variance = 0, fourth = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        uint64_t stratum = s->at[units[i].unit].stratum, size = s->sizes[stratum];
        size_t k = i + 1; /* strata of the rim and of the inside lie in between one another */
        while (k < n && s->at[units[k].unit].stratum != stratum)
            k++;
        if (k == n || size <= 2)
            continue;
        double a = (double)units[i].metrics.v[m] - ratio * (double)units[i].metrics.v[MG_METRIC_INST];
        double b = (double)units[k].metrics.v[m] - ratio * (double)units[k].metrics.v[MG_METRIC_INST];
        double v = (double)size * (double)(size - 2) * (a - b) * (a - b) / 4;
        variance += v;
        fourth += v * v;
    }
    *df = fourth > 0 ? variance * variance / fourth : 1;
    return variance;
}

void mg__model_intervals(const struct mg_sample *s, const struct mg_model_unit *units, size_t n, uint64_t executed,
                         double half[MG_METRIC_COUNT])
{
    double inst = weighted(s, units, n, MG_METRIC_INST), scale = mg__model_scale(s, units, n, executed), df;
    for (unsigned m = 0; m < MG_METRIC_COUNT; m++) {
        half[m] = 0;
        if (mg__metric_adds((enum mg_metric)m) != MG_ADDS_SUM ||
            (!s->left_out && mg__model_is_executed((enum mg_metric)m)))
            continue;
        double ratio = s->left_out || inst == 0 ? 0 : weighted(s, units, n, (enum mg_metric)m) / inst;
        double variance = spread(s, units, n, (enum mg_metric)m, ratio, &df);
        half[m] = student(df) * scale * sqrt(variance);
    }
}

/* Told by how often instructions were executed alone, which is known of all blocks that ran. */
bool mg__model_is_executed(enum mg_metric m)
{
    return m == MG_METRIC_INST || m == MG_METRIC_THREAD_INST || m == MG_METRIC_BRANCHES || m == MG_METRIC_DIVERGENT ||
           (m >= MG_METRIC_TENSOR && m <= MG_METRIC_OPS_INT1);
}
