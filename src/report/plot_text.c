/* plot_text.c - a plot as text.
 *
 * One line among muted guides is drawn in Braille dots, two columns and four rows of them to a character; several lines
 * are told apart by their marks, and plain ASCII has marks always. Labelled points are letters in the picture and a
 * list below it, because names do not fit between them.
 */
#include "report/plot_priv.h"

#include <math.h>

struct cell {
    uint8_t dots; /* Braille */
    char mark;    /* 0: none */
    bool guide;
};
struct canvas {
    struct cell *cells;
    unsigned columns, rows;
    bool braille;
};

static const char marks[] = "*+ox#%@=";

static struct cell *cell_at(const struct canvas *c, double column, double row)
{
    if (!(column >= 0 && row >= 0 && column < c->columns && row < c->rows))
        return NULL;
    return &c->cells[(size_t)row * c->columns + (size_t)column];
}

/* A line in units of the whole picture, y upwards. */
static void draw_line(struct canvas *c, double x0, double y0, double x1, double y1, char mark, bool guide)
{
    static const uint8_t dot[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (!mg__plot_clip(&x0, &y0, &x1, &y1))
        return;
    double sx = c->columns * 2 - 1, sy = c->rows * 4 - 1;
    double n = fmax(fmax(fabs(x1 - x0) * sx, fabs(y1 - y0) * sy), 1);
    for (double k = 0; k <= n; k++) {
        double x = round((x0 + (x1 - x0) * k / n) * sx), y = round((1 - (y0 + (y1 - y0) * k / n)) * sy);
        struct cell *cell = cell_at(c, floor(x / 2), floor(y / 4));
        if (!cell)
            continue;
        if (guide)
            cell->guide = true;
        else if (c->braille)
            cell->dots |= dot[(unsigned)y % 4][(unsigned)x % 2];
        else
            cell->mark = mark;
    }
}

static void draw_series(struct canvas *c, const struct mg_plot_series *s, const struct mg_plot_range *xr,
                        const struct mg_plot_range *yr, char mark)
{
    double px = 0, py = 0;
    for (size_t i = 0; i < s->n; i++) {
        double x = mg__plot_at(xr, s->x[i]), y = mg__plot_at(yr, s->y[i]);
        if (i && s->kind == MG_PLOT_LINE)
            draw_line(c, px, py, x, y, mark, s->muted);
        if (s->kind == MG_PLOT_STEPS) {
            if (i) {
                draw_line(c, px, py, x, py, mark, s->muted);
                draw_line(c, x, py, x, y, mark, s->muted);
            }
            if (i + 1 == s->n)
                draw_line(c, x, y, 1, y, mark, s->muted);
        }
        px = x, py = y;
    }
}

/* "A" to "Z", then "a" to "z", then "?" */
static char letter(size_t n)
{
    return n < 26 ? (char)('A' + n) : n < 52 ? (char)('a' + n - 26) : '?';
}

static void draw_points(struct canvas *c, const struct mg_plot_series *s, const struct mg_plot_range *xr,
                        const struct mg_plot_range *yr, char mark, size_t *lettered)
{
    for (size_t i = 0; i < s->n; i++) {
        double x = mg__plot_at(xr, s->x[i]), y = mg__plot_at(yr, s->y[i]);
        struct cell *cell = cell_at(c, round(x * (c->columns - 1)), round((1 - y) * (c->rows - 1)));
        char m = s->labels && s->labels[i] ? letter((*lettered)++) : mark;
        while (cell && cell->mark >= 'A' &&
               cell < c->cells + (size_t)c->columns * c->rows - 1) /* one beside the other */
            cell++;
        if (cell)
            cell->mark = m;
    }
}

static bool put_cell(struct mg_strbuf *out, const struct mg_style *style, const struct cell *cell)
{
    if (cell->mark)
        return mg__layout_tone(out, style, MG_TONE_BOLD, true) && mg__strbuf_append(out, &cell->mark, 1) &&
               mg__layout_tone(out, style, MG_TONE_BOLD, false);
    if (cell->dots) {
        unsigned code = 0x2800u + cell->dots;
        char text[3] = {(char)(0xE0 | code >> 12), (char)(0x80 | (code >> 6 & 0x3F)), (char)(0x80 | (code & 0x3F))};
        return mg__strbuf_append(out, text, 3);
    }
    if (cell->guide)
        return mg__layout_tone(out, style, MG_TONE_DIM, true) &&
               mg__strbuf_append(out, style->utf8 ? "·" : ".", style->utf8 ? 2 : 1) &&
               mg__layout_tone(out, style, MG_TONE_DIM, false);
    return mg__strbuf_append(out, " ", 1);
}

static bool put_spaces(struct mg_strbuf *out, unsigned n)
{
    return mg__strbuf_printf(out, "%*s", (int)n, "");
}

static bool put_text(struct mg_strbuf *out, const struct mg_style *style, const char *text, unsigned indent)
{
    return put_spaces(out, indent) && mg__layout_text(out, style, text, strlen(text), style->width - indent, NULL) &&
           mg__strbuf_append(out, "\n", 1);
}

/* The numbers under the x axis; those that would touch the one before are left out. */
static bool put_x_numbers(struct mg_strbuf *out, const struct mg_plot_range *xr, unsigned left, unsigned columns)
{
    char line[512], number[16];
    unsigned width = MG_MIN(left + columns + 1, (unsigned)sizeof(line) - 1), last = 0;
    memset(line, ' ', sizeof(line));
    for (unsigned i = 0; i < xr->nticks; i++) {
        mg__plot_number(xr->ticks[i], number);
        unsigned n = (unsigned)strlen(number);
        unsigned at = left + (unsigned)lround(mg__plot_at(xr, xr->ticks[i]) * (columns - 1));
        at = at > n / 2 ? at - n / 2 : 0;
        if (at + n > width)
            at = width - n;
        if (last && at < last + 1)
            continue;
        memcpy(line + at, number, n);
        last = at + n;
    }
    return mg__strbuf_append(out, line, last) && mg__strbuf_append(out, "\n", 1);
}

static bool put_legend(const struct mg_plot *plot, const struct mg_style *style, const char *mark_of, bool braille,
                       struct mg_strbuf *out)
{
    bool ok = true;
    size_t lettered = 0, named = 0;
    for (size_t s = 0; s < plot->nseries; s++)
        named += plot->series[s].name != NULL;
    for (size_t s = 0; ok && s < plot->nseries; s++) {
        const struct mg_plot_series *series = &plot->series[s];
        char mark[8] = {mark_of[s], 0};
        if (series->muted)
            snprintf(mark, sizeof(mark), "%s", style->utf8 ? "·" : ".");
        else if (braille && series->kind != MG_PLOT_POINTS)
            snprintf(mark, sizeof(mark), "⠒");
        bool letters = series->kind == MG_PLOT_POINTS && series->labels;
        if (series->name && !letters && named > 1)
            ok = mg__strbuf_printf(out, "  %s ", mark) && put_text(out, style, series->name, 0);
        for (size_t i = 0; ok && letters && i < series->n; i++) {
            char x[16], y[16];
            if (!series->labels[i])
                continue;
            mg__plot_number(series->x[i], x);
            mg__plot_number(series->y[i], y);
            unsigned used = 0, tail = (unsigned)(strlen(x) + strlen(y)) + 6;
            ok = mg__strbuf_printf(out, "  %c ", letter(lettered++)) &&
                 mg__layout_text(out, style, series->labels[i], strlen(series->labels[i]),
                                 style->width > tail + 4 ? style->width - tail - 4 : 8, &used) &&
                 mg__strbuf_printf(out, "  (%s, %s)\n", x, y);
        }
    }
    return ok;
}

bool mg__plot_text(const struct mg_plot *plot, const struct mg_style *style, struct mg_strbuf *out)
{
    enum { LEFT = 8 }; /* columns of the numbers of the y axis, and the axis itself */
    struct mg_plot_range xr, yr;
    struct canvas c = {.rows = plot->rows ? plot->rows : 16};
    char mark_small[16] = {0}, *mark_of = mark_small;
    unsigned width = MG_MAX(MG_MIN(style->width, 400u), 40u), lines = 0, next = 0;
    size_t lettered = 0;
    bool ok = true;
    c.columns = width - LEFT - 2;
    if (plot->nseries > sizeof(mark_small) && !(mark_of = calloc(plot->nseries, 1)))
        return false;
    c.cells = calloc((size_t)c.columns * c.rows, sizeof(*c.cells));
    if (!c.cells) {
        if (mark_of != mark_small)
            free(mark_of);
        return false;
    }
    mg__plot_range(plot, false, c.columns / 9, &xr);
    mg__plot_range(plot, true, c.rows / 2, &yr);
    for (size_t s = 0; s < plot->nseries; s++) {
        lines += !plot->series[s].muted && plot->series[s].kind != MG_PLOT_POINTS;
        mark_of[s] = plot->series[s].muted ? '.' : marks[next++ % (sizeof(marks) - 1)];
    }
    c.braille = style->utf8 && lines == 1;
    for (int pass = 0; pass < 2; pass++) /* guides under curves */
        for (size_t s = 0; s < plot->nseries; s++)
            if (plot->series[s].kind != MG_PLOT_POINTS && plot->series[s].muted == (pass == 0))
                draw_series(&c, &plot->series[s], &xr, &yr, mark_of[s]);
    for (size_t s = 0; s < plot->nseries; s++)
        if (plot->series[s].kind == MG_PLOT_POINTS)
            draw_points(&c, &plot->series[s], &xr, &yr, mark_of[s], &lettered);

    if (plot->title)
        ok = mg__layout_tone(out, style, MG_TONE_BOLD, true) && put_text(out, style, plot->title, 0) &&
             mg__layout_tone(out, style, MG_TONE_BOLD, false);
    if (ok && plot->subtitle)
        ok = put_text(out, style, plot->subtitle, 0);
    if (ok && plot->y.label)
        ok = put_text(out, style, plot->y.label, 0);
    for (unsigned row = 0; ok && row < c.rows; row++) {
        char number[16] = "";
        for (unsigned i = 0; i < yr.nticks; i++)
            if (lround((1 - mg__plot_at(&yr, yr.ticks[i])) * (c.rows - 1)) == (long)row)
                mg__plot_number(yr.ticks[i], number);
        const char *axis = style->utf8 ? number[0] ? "┤" : "│" : number[0] ? "+" : "|";
        ok = mg__strbuf_printf(out, "%*s %s", LEFT - 1, number, axis);
        size_t end = c.columns;
        while (end && !c.cells[(size_t)row * c.columns + end - 1].mark &&
               !c.cells[(size_t)row * c.columns + end - 1].dots && !c.cells[(size_t)row * c.columns + end - 1].guide)
            end--;
        for (size_t k = 0; ok && k < end; k++)
            ok = put_cell(out, style, &c.cells[(size_t)row * c.columns + k]);
        ok = ok && mg__strbuf_append(out, "\n", 1);
    }
    ok = ok && put_spaces(out, LEFT) && mg__strbuf_printf(out, "%s", style->utf8 ? "└" : "+");
    for (unsigned k = 0; ok && k < c.columns; k++) {
        bool tick = false;
        for (unsigned i = 0; i < xr.nticks; i++)
            tick |= lround(mg__plot_at(&xr, xr.ticks[i]) * (c.columns - 1)) == (long)k;
        ok = mg__strbuf_printf(out, "%s", style->utf8 ? tick ? "┬" : "─" : tick ? "+" : "-");
    }
    ok = ok && mg__strbuf_append(out, "\n", 1) && put_x_numbers(out, &xr, LEFT + 1, c.columns);
    if (ok && plot->x.label) {
        unsigned n = (unsigned)strlen(plot->x.label), room = LEFT + 1 + c.columns;
        ok = put_text(out, style, plot->x.label, n < room ? MG_MAX((room - n + LEFT) / 2, 1u) : 0);
    }
    ok = ok && put_legend(plot, style, mark_of, c.braille, out);
    free(c.cells);
    if (mark_of != mark_small)
        free(mark_of);
    return ok;
}
