/* plot_svg.c - a plot as an SVG document of its own.
 *
 * It carries its colours for light and dark grounds (prefers-color-scheme), asks for no font but the reader's
 * sans-serif, and says in every point's tooltip what the label and the numbers are. Colours are told apart by lightness
 * too, so that print and colour-blind readers keep them.
 */
#include "report/plot_priv.h"

#include <math.h>

enum { COLOURS = 6, MAX_LABELS = 256 };
static const int WIDTH = 760, LEFT = 76, RIGHT = 24, TOP = 62, HEIGHT = 300, BOTTOM = 58;

struct box {
    double x, y, width;
};
struct labels {
    struct box at[MAX_LABELS];
    unsigned n;
};

/* Text between tags: XML's own characters named, control characters and broken UTF-8 replaced. */
static bool put_escaped(struct mg_strbuf *out, const char *text)
{
    static const struct mg_style plain = {.width = 4096, .utf8 = true};
    struct mg_strbuf clean = {0};
    bool ok = mg__layout_text(&clean, &plain, text, strlen(text), plain.width, NULL);
    for (size_t i = 0; ok && i < clean.count; i++) {
        char c = clean.at[i];
        const char *name = c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : NULL;
        ok = name ? mg__strbuf_append(out, name, strlen(name)) : mg__strbuf_append(out, &c, 1);
    }
    mg__strbuf_free(&clean);
    return ok;
}

static bool put_label(struct mg_strbuf *out, const char *class, const char *anchor, double x, double y,
                      const char *text)
{
    return mg__strbuf_printf(out, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, anchor, x,
                             y) &&
           put_escaped(out, text) && mg__strbuf_printf(out, "</text>\n");
}

/* A label with a rim in the colour of the ground, which keeps it off the lines: the rim is a text of its own below it,
 * because not all renderers can be told to paint a text's outline first. */
static bool put_rimmed(struct mg_strbuf *out, const char *anchor, double x, double y, const char *text)
{
    return put_label(out, "rim", anchor, x, y, text) && put_label(out, "label", anchor, x, y, text);
}

static double px(const struct mg_plot_range *r, double value)
{
    return LEFT + mg__plot_at(r, value) * (WIDTH - LEFT - RIGHT);
}

static double py(const struct mg_plot_range *r, double value)
{
    return TOP + (1 - mg__plot_at(r, value)) * HEIGHT;
}

static bool put_axes(struct mg_strbuf *out, const struct mg_plot *plot, const struct mg_plot_range *xr,
                     const struct mg_plot_range *yr)
{
    char number[16];
    bool ok = true;
    double last = -1e9;
    for (unsigned i = 0; ok && i < yr->nticks; i++) {
        double y = py(yr, yr->ticks[i]);
        mg__plot_number(yr->ticks[i], number);
        ok = mg__strbuf_printf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, WIDTH - RIGHT) &&
             put_label(out, "tick", "end", LEFT - 8, y + 4, number);
    }
    for (unsigned i = 0; ok && i < xr->nticks; i++) {
        double x = px(xr, xr->ticks[i]);
        mg__plot_number(xr->ticks[i], number);
        ok = mg__strbuf_printf(out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", x, TOP, TOP + HEIGHT);
        if (ok && x - last >= 7.5 * (double)strlen(number)) {
            ok = put_label(out, "tick", "middle", x, TOP + HEIGHT + 18, number);
            last = x;
        }
    }
    ok = ok &&
         mg__strbuf_printf(out, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, TOP + HEIGHT, WIDTH - RIGHT);
    if (ok && plot->x.label)
        ok = put_label(out, "name", "middle", (LEFT + WIDTH - RIGHT) / 2.0, TOP + HEIGHT + 42, plot->x.label);
    if (ok && plot->y.label) {
        double middle = TOP + HEIGHT / 2.0;
        ok = mg__strbuf_printf(out, "<g transform=\"rotate(-90 18 %.1f)\">", middle) &&
             put_label(out, "name", "middle", 18, middle, plot->y.label) && mg__strbuf_printf(out, "</g>\n");
    }
    return ok;
}

static bool put_line(struct mg_strbuf *out, const struct mg_plot_series *s, const char *class,
                     const struct mg_plot_range *xr, const struct mg_plot_range *yr)
{
    bool ok = mg__strbuf_printf(out, "<path class=\"%s\" d=\"", class), pen = false;
    for (size_t i = 0; ok && i < s->n; i++) {
        double x = px(xr, s->x[i]), y = py(yr, s->y[i]);
        if (!isfinite(x) || !isfinite(y)) {
            pen = false;
            continue;
        }
        x = fmax(-1e4, fmin(1e4, x)), y = fmax(-1e4, fmin(1e4, y));
        if (pen && s->kind == MG_PLOT_STEPS)
            ok = mg__strbuf_printf(out, "H%.1fV%.1f", x, y);
        else
            ok = mg__strbuf_printf(out, "%c%.1f %.1f", pen ? 'L' : 'M', x, y);
        pen = true;
    }
    if (ok && pen && s->kind == MG_PLOT_STEPS)
        ok = mg__strbuf_printf(out, "H%d", WIDTH - RIGHT);
    return ok && mg__strbuf_printf(out, "\" clip-path=\"url(#area)\"/>\n");
}

static bool taken(const struct labels *labels, double x, double y, double width)
{
    for (unsigned i = 0; i < labels->n; i++)
        if (fabs(labels->at[i].y - y) < 13 && x < labels->at[i].x + labels->at[i].width && labels->at[i].x < x + width)
            return true;
    return false;
}

/* Where a label of a point stands without covering another label or a point: beside it on either side, else further and
 * further above and below. */
static void place(struct labels *labels, double x, double y, double width, double *at, bool *left)
{
    for (int step = 0; step < 24; step++) {
        double line = y + 4 + (step % 2 ? 1 : -1) * ((step + 1) / 2) * 14.0;
        for (int side = 0; side < 2; side++) {
            double start = side ? x - 9 - width : x + 9;
            if (line < TOP + 10 || line > TOP + HEIGHT - 4 || start < LEFT || start + width > WIDTH - RIGHT ||
                taken(labels, start, line, width))
                continue;
            *at = line;
            *left = side;
            if (labels->n < MAX_LABELS)
                labels->at[labels->n++] = (struct box){start, line, width};
            return;
        }
    }
    *at = y + 4;
    *left = x + 9 + width > WIDTH - RIGHT;
}

/* Whether the point is in the picture, and where. */
static bool locate(const struct mg_plot_series *s, size_t i, const struct mg_plot_range *xr,
                   const struct mg_plot_range *yr, double *x, double *y)
{
    *x = px(xr, s->x[i]);
    *y = py(yr, s->y[i]);
    return *x >= LEFT - 1 && *x <= WIDTH - RIGHT + 1 && *y >= TOP - 1 && *y <= TOP + HEIGHT + 1;
}

/* Points keep their places free of labels, those that are drawn later too. */
static void reserve_points(struct labels *labels, const struct mg_plot_series *s, const struct mg_plot_range *xr,
                           const struct mg_plot_range *yr)
{
    double x, y;
    for (size_t i = 0; i < s->n && labels->n < MAX_LABELS / 2; i++)
        if (locate(s, i, xr, yr, &x, &y))
            labels->at[labels->n++] = (struct box){x - 6, y + 4, 12};
}

static bool put_points(struct mg_strbuf *out, const struct mg_plot_series *s, const char *class, struct labels *labels,
                       const struct mg_plot_range *xr, const struct mg_plot_range *yr)
{
    bool ok = true;
    double x, y;
    for (size_t i = 0; ok && i < s->n; i++) {
        char nx[16], ny[16];
        const char *label = s->labels ? s->labels[i] : NULL;
        if (!locate(s, i, xr, yr, &x, &y))
            continue;
        mg__plot_number(s->x[i], nx);
        mg__plot_number(s->y[i], ny);
        if (label) {
            double width = 7.0 * (double)MG_MIN(strlen(label), 40u), line;
            bool left;
            char shortened[164];
            place(labels, x, y, width, &line, &left);
            snprintf(shortened, sizeof(shortened), "%.120s", label);
            if (strlen(label) > 40)
                snprintf(shortened, sizeof(shortened), "%.39s…", label);
            if (fabs(line - 4 - y) > 1) /* it is not beside its point: a line leads there */
                ok = mg__strbuf_printf(out, "<path class=\"leader\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x, y,
                                       left ? x - 8 : x + 8, line - 4);
            ok = ok && put_rimmed(out, left ? "end" : "start", left ? x - 9 : x + 9, line, shortened);
        }
        ok = ok &&
             mg__strbuf_printf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"><title>", class, x, y) &&
             (!label || put_escaped(out, label)) && mg__strbuf_printf(out, " (%s, %s)</title></circle>\n", nx, ny);
    }
    return ok;
}

/* The colours of one kind of ground. Written out, not by variables: not every viewer knows those. */
static bool put_colours(struct mg_strbuf *out, const char *ground, const char *ink, const char *soft, const char *grid,
                        const char *axis, const char *guide, const char *const series[COLOURS])
{
    bool ok =
        mg__strbuf_printf(out,
                          "text{fill:%s}.title,.name,.label{fill:%s}.ground{fill:%s}.grid{stroke:%s}.axis{stroke:%s}"
                          ".muted,.leader{stroke:%s}.point,.rim{stroke:%s}\n",
                          soft, ink, ground, grid, axis, guide, ground);
    for (int i = 0; ok && i < COLOURS; i++)
        ok = mg__strbuf_printf(out, ".line.c%d{stroke:%s}.point.c%d{fill:%s}\n", i, series[i], i, series[i]);
    return ok;
}

static bool put_style(struct mg_strbuf *out, double height)
{
    static const char *const light[COLOURS] = {"#1a5fb4", "#b5380b", "#1d7a43", "#7d3c98", "#8a6100", "#006c7a"};
    static const char *const dark[COLOURS] = {"#78aeff", "#ff9a66", "#63cf8f", "#d39bf0", "#e6bd4d", "#4fd0de"};
    return mg__strbuf_printf(
               out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" "
               "height=\"%.0f\" role=\"img\">\n<style>\n"
               "text{font:12px system-ui,sans-serif}.title{font-size:16px;font-weight:600}"
               ".name{font-size:13px}\n.axis,.line,.muted{fill:none}"
               ".line{stroke-width:2.2;stroke-linejoin:round}"
               ".muted{stroke-width:1.4;stroke-dasharray:5 4}.point{stroke-width:1.5}.leader{stroke-width:1}"
               ".rim{fill:none;stroke-width:3;stroke-linejoin:round}\n", /* off the lines */
               WIDTH, height, WIDTH, height) &&
           put_colours(out, "#ffffff", "#1c1e21", "#565b62", "#e2e5e9", "#8b9198", "#70767d", light) &&
           mg__strbuf_printf(out, "@media(prefers-color-scheme:dark){\n") &&
           put_colours(out, "#16181c", "#eceef1", "#aab1ba", "#2c3036", "#78808a", "#8f97a1", dark) &&
           mg__strbuf_printf(out,
                             "}\n</style>\n<clipPath id=\"area\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
                             "</clipPath>\n<rect class=\"ground\" width=\"100%%\" height=\"100%%\"/>\n",
                             LEFT - 2, TOP - 2, WIDTH - LEFT - RIGHT + 4, HEIGHT + 4);
}

/* Rows of "— name", as many as fit side by side. */
static bool put_legend(struct mg_strbuf *out, const struct mg_plot *plot)
{
    bool ok = true;
    unsigned colour = 0, row = 0;
    double x = LEFT, y = TOP + HEIGHT + BOTTOM + 6;
    for (size_t s = 0; ok && s < plot->nseries; s++) {
        const struct mg_plot_series *series = &plot->series[s];
        unsigned mine = series->muted ? 0 : colour++ % COLOURS;
        if (!series->name)
            continue;
        double width = 34 + 7.0 * (double)MG_MIN(strlen(series->name), 90u);
        if (x > LEFT && x + width > WIDTH - RIGHT)
            x = LEFT, row++;
        double at = y + row * 20;
        if (series->kind == MG_PLOT_POINTS)
            ok = mg__strbuf_printf(out, "<circle class=\"point c%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>\n", mine,
                                   x + 9, at - 4);
        else if (series->muted)
            ok = mg__strbuf_printf(out, "<path class=\"muted\" d=\"M%.1f %.1fh18\"/>\n", x, at - 4);
        else
            ok = mg__strbuf_printf(out, "<path class=\"line c%u\" d=\"M%.1f %.1fh18\"/>\n", mine, x, at - 4);
        ok = ok && put_rimmed(out, "start", x + 24, at, series->name);
        x += width;
    }
    return ok;
}

static unsigned legend_rows(const struct mg_plot *plot)
{
    double x = LEFT;
    unsigned rows = 0;
    for (size_t s = 0; s < plot->nseries; s++) {
        if (!plot->series[s].name)
            continue;
        double width = 34 + 7.0 * (double)MG_MIN(strlen(plot->series[s].name), 90u);
        if (!rows)
            rows = 1;
        if (x > LEFT && x + width > WIDTH - RIGHT)
            x = LEFT, rows++;
        x += width;
    }
    return rows;
}

bool mg__plot_svg(const struct mg_plot *plot, struct mg_strbuf *out)
{
    struct mg_plot_range xr, yr;
    struct labels labels = {.n = 0};
    unsigned colour = 0;
    char class[24];
    mg__plot_range(plot, false, 9, &xr);
    mg__plot_range(plot, true, 7, &yr);
    bool ok = put_style(out, TOP + HEIGHT + BOTTOM + 4 + legend_rows(plot) * 20.0);
    if (ok && plot->title)
        ok = mg__strbuf_printf(out, "<title>") && put_escaped(out, plot->title) &&
             mg__strbuf_printf(out, "</title>\n") && put_label(out, "title", "start", LEFT, 26, plot->title);
    if (ok && plot->subtitle)
        ok = put_label(out, "tick", "start", LEFT, 46, plot->subtitle);
    ok = ok && put_axes(out, plot, &xr, &yr);
    for (size_t s = 0; s < plot->nseries; s++)
        if (plot->series[s].kind == MG_PLOT_POINTS)
            reserve_points(&labels, &plot->series[s], &xr, &yr);
    for (size_t s = 0; ok && s < plot->nseries; s++)
        if (plot->series[s].muted && plot->series[s].kind != MG_PLOT_POINTS)
            ok = put_line(out, &plot->series[s], "muted", &xr, &yr);
    for (size_t s = 0; ok && s < plot->nseries; s++) {
        const struct mg_plot_series *series = &plot->series[s];
        if (series->muted)
            continue;
        snprintf(class, sizeof(class), "%s c%u", series->kind == MG_PLOT_POINTS ? "point" : "line", colour++ % COLOURS);
        if (series->kind == MG_PLOT_POINTS)
            ok = put_points(out, series, class, &labels, &xr, &yr);
        else
            ok = put_line(out, series, class, &xr, &yr);
    }
    return ok && put_legend(out, plot) && mg__strbuf_printf(out, "</svg>\n");
}
