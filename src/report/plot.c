/* plot.c - the axes of a plot: their ranges, ticks and numbers, and lines cut at their ends. */
#include "report/plot_priv.h"

#include <math.h>

static void data_range(const struct mg_plot *plot, bool vertical, bool log, double *min, double *max)
{
    *min = INFINITY;
    *max = -INFINITY;
    for (size_t s = 0; s < plot->nseries; s++)
        for (size_t i = 0; i < plot->series[s].n; i++) {
            double v = vertical ? plot->series[s].y[i] : plot->series[s].x[i];
            if (!isfinite(v) || (log && v <= 0))
                continue;
            *min = fmin(*min, v);
            *max = fmax(*max, v);
        }
}

/* 1, 2 or 5 times a power of ten, not smaller than `least`. */
static double nice(double least)
{
    double power = pow(10, floor(log10(least)));
    double digit = least / power;
    return (digit <= 1.0001 ? 1 : digit <= 2.0001 ? 2 : digit <= 5.0001 ? 5 : 10) * power;
}

static void add_tick(struct mg_plot_range *r, double value)
{
    double slack = r->log ? 1e-9 : (r->max - r->min) * 1e-9;
    if (r->nticks < MG_PLOT_TICKS && (r->log ? value >= r->min * (1 - slack) && value <= r->max * (1 + slack)
                                             : value >= r->min - slack && value <= r->max + slack))
        r->ticks[r->nticks++] = value;
}

static void log_ticks(struct mg_plot_range *r, unsigned most)
{
    double decades = log10(r->max / r->min);
    int first = (int)floor(log10(r->min)), last = (int)ceil(log10(r->max));
    int skip = (int)ceil((decades + 1) / most);
    if (decades <= 1.3 && most >= 4) { /* short: powers of two say more */
        for (int e = (int)floor(log2(r->min)); e <= (int)ceil(log2(r->max)); e++)
            add_tick(r, exp2(e));
        return;
    }
    for (int e = first; e <= last; e++) {
        if ((e - first) % skip == 0)
            add_tick(r, pow(10, e));
        if (decades * 3 <= most) {
            add_tick(r, 2 * pow(10, e));
            add_tick(r, 5 * pow(10, e));
        }
    }
}

void mg__plot_range(const struct mg_plot *plot, bool vertical, unsigned most, struct mg_plot_range *r)
{
    const struct mg_plot_axis *axis = vertical ? &plot->y : &plot->x;
    memset(r, 0, sizeof(*r));
    r->log = axis->scale == MG_PLOT_LOG;
    r->min = axis->min;
    r->max = axis->max;
    most = most < 2 ? 2 : most;
    bool given = isfinite(r->min) && isfinite(r->max) && r->max > r->min && (!r->log || r->min > 0);
    if (!given) {
        data_range(plot, vertical, r->log, &r->min, &r->max);
        if (!(r->max >= r->min)) { /* no data */
            r->min = r->log ? 1 : 0;
            r->max = r->log ? 10 : 1;
        } else if (r->log) {
            r->min = pow(10, floor(log10(r->min)));
            r->max = pow(10, ceil(log10(r->max)));
            if (r->max <= r->min)
                r->max = r->min * 10;
        } else {
            r->min = fmin(r->min, 0);
            if (r->max <= r->min)
                r->max = r->min + 1;
            r->max = ceil(r->max / nice((r->max - r->min) / most)) * nice((r->max - r->min) / most);
        }
    }
    if (r->log) {
        log_ticks(r, most);
        return;
    }
    double step = axis->step > 0 ? axis->step : nice((r->max - r->min) / most);
    while ((r->max - r->min) / step > most + 0.5)
        step *= 2;
    for (double k = ceil(r->min / step - 1e-9) + 0.0; k * step <= r->max + step * 1e-9 && r->nticks < MG_PLOT_TICKS;
         k++)
        add_tick(r, k * step);
}

double mg__plot_at(const struct mg_plot_range *r, double value)
{
    if (!r->log)
        return (value - r->min) / (r->max - r->min);
    return value > 0 ? log(value / r->min) / log(r->max / r->min) : NAN;
}

void mg__plot_number(double value, char text[16])
{
    static const char suffix[] = {0, 'k', 'M', 'G', 'T', 'P', 'E'};
    unsigned n = 0;
    while (fabs(value) >= 9999.5 * (n ? 0.1 : 1) && n + 1 < sizeof(suffix)) {
        value /= 1000;
        n++;
    }
    snprintf(text, 16, n ? "%.3g%c" : "%.4g%c", value, suffix[n]);
}

/* After Liang and Barsky. */
bool mg__plot_clip(double *x0, double *y0, double *x1, double *y1)
{
    double dx = *x1 - *x0, dy = *y1 - *y0, from = 0, to = 1;
    double p[4] = {-dx, dx, -dy, dy}, q[4] = {*x0, 1 - *x0, *y0, 1 - *y0};
    if (!isfinite(dx) || !isfinite(dy))
        return false;
    for (int i = 0; i < 4; i++) {
        if (p[i] == 0) {
            if (q[i] < 0)
                return false;
            continue;
        }
        double t = q[i] / p[i];
        if (p[i] < 0)
            from = fmax(from, t);
        else
            to = fmin(to, t);
    }
    if (from > to)
        return false;
    double ax = *x0, ay = *y0;
    *x0 = ax + from * dx, *y0 = ay + from * dy;
    *x1 = ax + to * dx, *y1 = ay + to * dy;
    return true;
}
