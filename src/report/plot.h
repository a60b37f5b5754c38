/* plot.h - small pictures of lines and points: as text for a terminal, and as SVG that reads in light and in dark.
 *
 * A plot has two axes, each with a label that names its unit, and series drawn in their order. Lines and steps connect
 * their points; scattered points carry labels. Nothing here reads or writes files.
 *
 *     const double x[] = {32, 64, 96}, y[] = {50, 100, 75};
 *     struct mg_plot_series s = {.name = "occupancy", .kind = MG_PLOT_STEPS, .x = x, .y = y, .n = 3};
 *     struct mg_plot plot = {.title = "scale()", .x = {.label = "threads a block"},
 *                            .y = {.label = "occupancy (%)", .max = 100}, .series = &s, .nseries = 1};
 *     mg__plot_text(&plot, &style, &text);
 */
#ifndef MG_PLOT_H
#define MG_PLOT_H
#include "report/render.h"

/* log: ticks at powers of ten, or of two where the range is short */
enum mg_plot_scale { MG_PLOT_LINEAR, MG_PLOT_LOG };
enum mg_plot_kind {
    MG_PLOT_LINE,   /* straight from point to point */
    MG_PLOT_STEPS,  /* a value holds until the next point */
    MG_PLOT_POINTS, /* marks alone */
};
struct mg_plot_axis {
    const char *label; /* with its unit: "arithmetic intensity (FLOP/byte)" */
    enum mg_plot_scale scale;
    double min, max; /* equal: taken from the data. Log axes need min > 0. What lies outside is cut off. */
    double step;     /* between the ticks of a linear axis; 0: chosen */
};
struct mg_plot_series {
    const char *name; /* for the legend; NULL: not in it */
    enum mg_plot_kind kind;
    const double *x, *y;
    const char *const *labels; /* one a point, or NULL; each may be NULL */
    size_t n;
    bool muted; /* drawn faintly: a ceiling, a guide line */
};
struct mg_plot {
    const char *title;    /* may be NULL */
    const char *subtitle; /* may be NULL */
    struct mg_plot_axis x, y;
    const struct mg_plot_series *series;
    size_t nseries;
    unsigned rows; /* lines of the text picture between the axes; 0: 16 */
};
/* At most style->width columns wide. In ASCII where style->utf8 is false. False: out of memory. */
bool mg__plot_text(const struct mg_plot *plot, const struct mg_style *style, struct mg_strbuf *out);
/* A whole SVG document, 760 units wide, with its own colours for light and dark (prefers-color-scheme). */
bool mg__plot_svg(const struct mg_plot *plot, struct mg_strbuf *out);
#endif
