/* plot_priv.h - what the two renderings of a plot share: where its axes begin and end, and their ticks. */
#ifndef MG_PLOT_PRIV_H
#define MG_PLOT_PRIV_H
#include "report/plot.h"

enum { MG_PLOT_TICKS = 24 };
struct mg_plot_range {
    bool log;
    double min, max;
    double ticks[MG_PLOT_TICKS];
    unsigned nticks;
};
/* With room for about `most` ticks. */
void mg__plot_range(const struct mg_plot *plot, bool vertical, unsigned most, struct mg_plot_range *range);
/* 0 at the beginning of the axis, 1 at its end; beyond them for values beyond. NaN for what a log axis cannot show. */
double mg__plot_at(const struct mg_plot_range *range, double value);
/* "0.25", "1500", "12k", "3.35T". */
void mg__plot_number(double value, char text[16]);
/* The part of the line from (x0, y0) to (x1, y1) inside the unit square; false: none. */
bool mg__plot_clip(double *x0, double *y0, double *x1, double *y1);
#endif
