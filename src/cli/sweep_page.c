/* sweep_page.c - what a sweep found: a table, a plot for a terminal or as SVG, a page of both. */
#include "sweep.h"

#include <math.h>

#include "report/plot.h"

enum { SERIES = 8 };

static double total(const struct mg_sweep_point *p)
{
    double ns = 0;
    for (size_t i = 0; i < p->kernels.count; i++)
        ns += p->kernels.at[i].ns * (double)p->kernels.at[i].launches;
    return ns;
}

static double best_of(const struct mg_sweep *s, const char *kernel)
{
    double best = INFINITY;
    for (unsigned i = 0; i < s->npoints; i++)
        for (size_t k = 0; k < s->points[i].kernels.count; k++)
            if (!strcmp(s->points[i].kernels.at[k].kernel, kernel))
                best = MG_MIN(best, s->points[i].kernels.at[k].ns);
    return best;
}

static unsigned width_of(const struct mg_sweep *s, unsigned axis)
{
    size_t most = strlen(s->axes[axis].name);
    for (unsigned i = 0; i < s->axes[axis].n; i++)
        most = MG_MAX(most, strlen(s->axes[axis].values[i]));
    return (unsigned)most;
}

static bool plain(struct mg_strbuf *out, const char *text)
{
    return mg__strbuf_append(out, text, strlen(text));
}

/* ---- the table ---- */
static bool row(const struct mg_sweep *s, unsigned point, const struct mg_sweep_kernel *k, const struct mg_style *style,
                struct mg_strbuf *out)
{
    char time[MG_DURATION], least[MG_DURATION], most[MG_DURATION];
    bool ok = true;
    for (unsigned a = 0; ok && a < s->naxes; a++)
        ok = mg__strbuf_printf(out, "%*s  ", (int)width_of(s, a), mg__sweep_value(s, point, a));
    if (!ok)
        return false;
    if (!k)
        return mg__layout_text(out, style, s->points[point].failed, strlen(s->points[point].failed), 100, NULL) &&
               plain(out, "\n");
    double best = best_of(s, k->kernel);
    mg__layout_duration(time, k->ns * 1e-9);
    mg__layout_duration(least, k->least * 1e-9);
    mg__layout_duration(most, k->most * 1e-9);
    ok = mg__strbuf_printf(out, "%9s  %9s  %9s  ", time, least, most) &&
         (k->ns <= best ? plain(out, " best  ") : mg__strbuf_printf(out, "%5.2f  ", k->ns / best));
    return ok && mg__strbuf_printf(out, "%-18s  ", k->limiter) && mg__layout_kernel(out, style, k->kernel, 40, NULL) &&
           plain(out, "\n");
}

bool mg__sweep_table(const struct mg_sweep *s, const struct mg_style *style, struct mg_strbuf *out)
{
    bool ok = true;
    for (unsigned a = 0; ok && a < s->naxes; a++)
        ok = mg__strbuf_printf(out, "%*s  ", (int)width_of(s, a), s->axes[a].name);
    ok = ok && plain(out, "     time      least       most  times  limited by          kernel\n");
    for (unsigned i = 0; ok && i < s->npoints; i++) {
        if (s->points[i].failed)
            ok = row(s, i, NULL, style, out);
        for (size_t k = 0; ok && k < s->points[i].kernels.count; k++)
            ok = row(s, i, &s->points[i].kernels.at[k], style, out);
    }
    return ok;
}

/* ---- the plot ---- */
static bool number_of(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value);
}

/* The first axis of two numbers or more; s->naxes: there is none. */
static unsigned x_axis(const struct mg_sweep *s)
{
    for (unsigned a = 0; a < s->naxes; a++) {
        double x;
        bool numbers = s->axes[a].n > 1;
        for (unsigned i = 0; numbers && i < s->axes[a].n; i++)
            numbers = number_of(s->axes[a].values[i], &x);
        if (numbers)
            return a;
    }
    return s->naxes;
}

/* What stands beside the number: the other axes' values, and the kernel where there are several. */
static bool name_series(const struct mg_sweep *s, unsigned point, unsigned x, const char *kernel, struct mg_strbuf *out)
{
    bool ok = mg__strbuf_printf(out, "%.*s", (int)MG_MIN(strcspn(kernel, "(<"), (size_t)40), kernel);
    for (unsigned a = 0; ok && a < s->naxes; a++)
        if (a != x)
            ok = mg__strbuf_printf(out, " %s=%s", s->axes[a].name, mg__sweep_value(s, point, a));
    return ok;
}

struct lines {
    struct mg_plot_series series[SERIES];
    struct mg_strbuf names[SERIES];
    MG_VEC(double) x[SERIES], y[SERIES];
    size_t n;
};

static bool gather(const struct mg_sweep *s, unsigned x, struct lines *l)
{
    for (unsigned i = 0; i < s->npoints; i++)
        for (size_t k = 0; k < s->points[i].kernels.count; k++) {
            const struct mg_sweep_kernel *one = &s->points[i].kernels.at[k];
            struct mg_strbuf name = {0};
            size_t at = 0;
            double value = 0;
            if (!name_series(s, i, x, one->kernel, &name))
                return false;
            while (at < l->n && strcmp(l->names[at].at, name.at))
                at++;
            if (at == SERIES) {
                mg__strbuf_free(&name);
                continue; /* the table has them all */
            }
            if (at == l->n)
                l->names[l->n++] = name;
            else
                mg__strbuf_free(&name);
            (void)number_of(mg__sweep_value(s, i, x), &value);
            if (!mg__vec_push(&l->x[at], value) || !mg__vec_push(&l->y[at], one->ns * 1e-3))
                return false;
        }
    for (size_t i = 0; i < l->n; i++)
        l->series[i] = (struct mg_plot_series){
            .name = l->names[i].at, .kind = MG_PLOT_LINE, .x = l->x[i].at, .y = l->y[i].at, .n = l->x[i].count};
    return true;
}

bool mg__sweep_plot(const struct mg_sweep *s, const struct mg_style *style, bool svg, struct mg_strbuf *out)
{
    unsigned x = x_axis(s);
    struct lines l = {0};
    double least = INFINITY, most = 0, top = 0;
    if (x == s->naxes)
        return true;
    bool ok = gather(s, x, &l);
    for (unsigned i = 0; i < s->axes[x].n; i++) {
        double v;
        (void)number_of(s->axes[x].values[i], &v);
        least = MG_MIN(least, v);
        most = MG_MAX(most, v);
    }
    for (size_t i = 0; i < l.n; i++)
        for (size_t k = 0; k < l.y[i].count; k++)
            top = MG_MAX(top, l.y[i].at[k]);
    struct mg_plot plot = {.title = "Time of a launch",
                           .x = {.label = s->axes[x].name,
                                 .scale = least > 0 && most / least >= 4 ? MG_PLOT_LOG : MG_PLOT_LINEAR,
                                 .min = least,
                                 .max = most},
                           .y = {.label = "time (us)", .max = top * 1.1},
                           .series = l.series,
                           .nseries = l.n};
    if (ok && l.n)
        ok = svg ? mg__plot_svg(&plot, out) : mg__plot_text(&plot, style, out);
    for (size_t i = 0; i < l.n; i++) {
        mg__strbuf_free(&l.names[i]);
        mg__vec_free(&l.x[i]);
        mg__vec_free(&l.y[i]);
    }
    return ok;
}

/* ---- the page ---- */
static bool escaped(struct mg_strbuf *out, const char *text)
{
    bool ok = true;
    for (; ok && *text; text++)
        ok = *text == '<'   ? plain(out, "&lt;")
             : *text == '>' ? plain(out, "&gt;")
             : *text == '&' ? plain(out, "&amp;")
                            : mg__strbuf_append(out, text, 1);
    return ok;
}

bool mg__sweep_html(const struct mg_sweep *s, const char *program, struct mg_strbuf *out)
{
    const struct mg_style style = {.width = 240, .utf8 = true};
    unsigned fastest = UINT32_MAX;
    struct mg_strbuf table = {0};
    for (unsigned i = 0; i < s->npoints; i++)
        if (s->points[i].kernels.count && (fastest == UINT32_MAX || total(&s->points[i]) < total(&s->points[fastest])))
            fastest = i;
    bool ok = plain(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sweep of ") &&
              escaped(out, program) &&
              plain(out, "</title>\n<style>body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;"
                         "padding:0 1rem;color-scheme:light dark}pre{overflow-x:auto;font-size:13px}</style></head>\n"
                         "<body><h1>Sweep of ") &&
              escaped(out, program) && plain(out, "</h1>\n<p>");
    if (ok && fastest != UINT32_MAX) {
        char time[MG_DURATION];
        mg__layout_duration(time, total(&s->points[fastest]) * 1e-9);
        ok = mg__strbuf_printf(out, "All launches together take least, %s, with", time);
        for (unsigned a = 0; ok && a < s->naxes; a++)
            ok = plain(out, a ? ", " : " ") && escaped(out, s->axes[a].name) && plain(out, " ") &&
                 escaped(out, mg__sweep_value(s, fastest, a));
        ok = ok && plain(out, ". ");
    }
    ok = ok &&
         plain(out, "Times are those of a launch on the device, as modelled, with a range that holds four of five."
                    "</p>\n") &&
         mg__sweep_plot(s, &style, true, out) && mg__sweep_table(s, &style, &table) && plain(out, "\n<pre>") &&
         escaped(out, table.at) && plain(out, "</pre></body></html>\n");
    mg__strbuf_free(&table);
    return ok;
}
