/* render.c - the tables that people read.
 *
 * One set of columns serves kernels and source lines: shared-memory wavefronts (taken, ideal, how many times the
 * ideal), global-memory sectors (taken, ideal, efficiency), divergent branches; the words are Nsight Compute's. Each
 * row has its name on a line of its own above the numbers, so that C++ names and source text have the whole width of
 * the terminal.
 * "-" says that nothing of the kind was accessed. Worst first means: by wavefronts above the ideal, then sectors above
 * the ideal; kernels are ordered by cost, see tally.h.
 */
#include "report/render.h"

#include <math.h>

#define MAX_LINE_ROWS 40 /* more would scroll the worst off the screen; the rest is in the JSON */

static bool spaces(struct mg_strbuf *out, unsigned n)
{
    return mg__strbuf_printf(out, "%*s", (int)n, "");
}

static bool plain(struct mg_strbuf *out, const char *text)
{
    return mg__strbuf_append(out, text, strlen(text));
}

/* A column of numbers: how wide, behind how many blanks, and of which metric there must be any; else it shows "-".
 * What is a factor is red from twice on, a percentage up to half. */
struct column {
    enum mg_metric metric, of;
    unsigned width, before;
};
static const struct column columns[] = {
    {MG_METRIC_WAVEFRONTS_SHARED, MG_METRIC_WAVEFRONTS_SHARED, 10, 4},
    {MG_METRIC_WAVEFRONTS_SHARED_IDEAL, MG_METRIC_WAVEFRONTS_SHARED, 10, 1},
    {MG_METRIC_TIMES_IDEAL, MG_METRIC_WAVEFRONTS_SHARED, 8, 1},
    {MG_METRIC_SECTORS_GLOBAL, MG_METRIC_SECTORS_GLOBAL, 11, 1},
    {MG_METRIC_SECTORS_GLOBAL_IDEAL, MG_METRIC_SECTORS_GLOBAL, 10, 1},
    {MG_METRIC_EFFICIENCY, MG_METRIC_SECTORS_GLOBAL, 10, 1},
    {MG_METRIC_DIVERGENT, MG_METRIC_COUNT, 10, 1},
};
static const struct column variable_columns[] = {
    {MG_METRIC_WAVEFRONTS_SHARED, MG_METRIC_WAVEFRONTS_SHARED, 10, 4},
    {MG_METRIC_WAVEFRONTS_SHARED_IDEAL, MG_METRIC_COUNT, 10, 1},
    {MG_METRIC_TIMES_IDEAL, MG_METRIC_WAVEFRONTS_SHARED, 8, 1},
    {MG_METRIC_INST_SHARED_LD, MG_METRIC_COUNT, 11, 1},
    {MG_METRIC_INST_SHARED_ST, MG_METRIC_COUNT, 10, 1},
};

static bool cell(struct mg_strbuf *out, const struct mg_style *style, const struct column *c,
                 const struct mg_metrics *m)
{
    enum mg_metric_type type = mg__metric_type(c->metric);
    double value;
    bool any = mg__metric_value(m, c->metric, &value) && (c->of == MG_METRIC_COUNT || m->v[c->of]);
    bool red = any && ((type == MG_TYPE_FACTOR && value >= 2) || (type == MG_TYPE_PERCENT && value <= 50));
    return spaces(out, c->before) && (!red || mg__layout_tone(out, style, MG_TONE_RED, true)) &&
           (any ? mg__layout_metric(out, style, m, c->metric, c->width) : mg__layout_right(out, "-", c->width, 1)) &&
           (!red || mg__layout_tone(out, style, MG_TONE_RED, false));
}

static bool header(struct mg_strbuf *out, const struct mg_style *style)
{
    return mg__layout_tone(out, style, MG_TONE_DIM, true) &&
           plain(out, "    -------- shared memory -------  --------- global memory --------  divergent\n") &&
           mg__strbuf_printf(out, "    %10s %10s   %s %11s %10s %10s %10s\n", "wavefronts", "ideal",
                             style->utf8 ? "×ideal" : "xideal", "sectors", "ideal", "efficiency", "branches") &&
           mg__layout_tone(out, style, MG_TONE_DIM, false);
}

static bool numbers(struct mg_strbuf *out, const struct mg_style *style, const struct mg_metrics *m)
{
    bool ok = true;
    for (size_t i = 0; ok && i < MG_COUNT(columns); i++)
        ok = cell(out, style, &columns[i], m);
    return ok && plain(out, "\n");
}

/* What has no column: a line of its own where there is some of it. */
static bool other_units(struct mg_strbuf *out, const struct mg_metrics *m)
{
    static const struct {
        const char *unit, *what;
        enum mg_metric first, last; /* which are added up */
    } rows[] = {
        {"tensor cores", "instructions", MG_METRIC_TENSOR, MG_METRIC_TENSOR},
        {"tensor cores", "operations", MG_METRIC_OPS_FP16, MG_METRIC_OPS_INT1},
        {"bulk copies", "sectors loaded", MG_METRIC_SECTORS_BULK_LD, MG_METRIC_SECTORS_BULK_LD},
        {"bulk copies", "sectors stored", MG_METRIC_SECTORS_BULK_ST, MG_METRIC_SECTORS_BULK_RED},
        {"between blocks of a cluster", "sectors", MG_METRIC_SECTORS_FAR, MG_METRIC_SECTORS_FAR},
    };
    const char *unit = NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < MG_COUNT(rows); i++) {
        uint64_t sum = 0;
        for (unsigned k = rows[i].first; k <= (unsigned)rows[i].last; k++)
            sum += m->v[k];
        if (!sum)
            continue;
        const bool same = unit && !strcmp(unit, rows[i].unit);
        ok = (same ? plain(out, ", ") : mg__strbuf_printf(out, "%s    %s: ", unit ? "\n" : "", rows[i].unit)) &&
             mg__layout_number(out, sum, 0) && mg__strbuf_printf(out, " %s", rows[i].what);
        unit = rows[i].unit;
    }
    return ok && (!unit || plain(out, "\n"));
}

static bool title(struct mg_strbuf *out, const struct mg_style *style, const char *text, const char *rest)
{
    return plain(out, "\n") && mg__layout_tone(out, style, MG_TONE_BOLD, true) && plain(out, text) &&
           mg__layout_tone(out, style, MG_TONE_BOLD, false) && plain(out, rest) && plain(out, "\n");
}

/* ---- kernels ---- */

/* "grid 32×32, block 32×8, 4 KiB shared, 12 launches" */
static bool shape(struct mg_strbuf *out, const struct mg_style *style, const struct mg_tally_kernel *k)
{
    uint64_t shared = (uint64_t)k->shared_static + k->shared_dynamic;
    bool ok = plain(out, "grid ") && mg__layout_dim3(out, style, k->grid) && plain(out, ", block ") &&
              mg__layout_dim3(out, style, k->block);
    if (k->shapes_differ)
        ok = ok && plain(out, " and others");
    if (shared)
        ok = ok && plain(out, ", ") && mg__layout_bytes(out, shared) && plain(out, " shared");
    if (k->launches != 1)
        ok =
            ok && mg__strbuf_printf(out, ", %s%llu launches", style->utf8 ? "×" : "x", (unsigned long long)k->launches);
    if (k->devices & (k->devices - 1))
        ok = ok && mg__strbuf_printf(out, " on %d devices", __builtin_popcount(k->devices));
    if (k->failed)
        ok = ok && mg__strbuf_printf(out, ", %llu failed", (unsigned long long)k->failed);
    return ok;
}

static unsigned text_columns(const char *text)
{
    unsigned n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

/* Of estimates, how far off they may be: a line below the numbers, and what was counted. */
static bool intervals(struct mg_strbuf *out, const struct mg_style *style, const struct mg_tally_kernel *k)
{
    const struct mg_report_sample *s = &k->sample;
    if (s->counted >= s->blocks)
        return true;
    bool any = false, ok = mg__layout_tone(out, style, MG_TONE_DIM, true);
    for (unsigned m = 0; m < MG_METRIC_COUNT; m++)
        any |= s->half[m] > 0;
    for (size_t i = 0; ok && any && i < MG_COUNT(columns); i++) {
        const struct column *c = &columns[i];
        struct mg_strbuf text = {0};
        double half = c->metric < MG_METRIC_COUNT ? s->half[c->metric] : 0;
        ok = (half <= 0 ||
              (plain(&text, style->utf8 ? "±" : "+-") && mg__layout_number(&text, (uint64_t)ceil(half), 0))) &&
             spaces(out, c->before) &&
             mg__layout_right(out, text.at ? text.at : "", c->width, text.at ? text_columns(text.at) : 0);
        mg__strbuf_free(&text);
    }
    return ok && plain(out, any ? "\n    estimated from " : "    estimated from ") &&
           mg__layout_number(out, s->counted, 0) && plain(out, " of ") && mg__layout_number(out, s->blocks, 0) &&
           plain(out,
                 any ? (style->utf8 ? " blocks; ± at 95 %" : " blocks; +- at 95 %") : " blocks, which are alike") &&
           plain(out, s->left_out ? "; the others did not run\n" : "\n") &&
           mg__layout_tone(out, style, MG_TONE_DIM, false);
}

/* "516,096 instructions, occupancy 100 %" */
static bool work(struct mg_strbuf *out, const struct mg_tally_kernel *k)
{
    uint64_t inst = k->metrics.v[MG_METRIC_INST];
    bool ok = mg__strbuf_append(out, "", 0) &&
              (!inst || (mg__layout_number(out, inst, 0) && plain(out, inst == 1 ? " instruction" : " instructions")));
    return ok &&
           (k->occupancy <= 0 || mg__strbuf_printf(out, "%soccupancy %.0f %%", inst ? ", " : "", 100 * k->occupancy));
}

/* The name, its shape and its work, in as few lines as they fit into. */
static bool kernel_name(struct mg_strbuf *out, const struct mg_style *style, const struct mg_tally_kernel *k)
{
    struct mg_strbuf tail = {0}, done = {0};
    const char *name = k->kernel[0] ? k->kernel : k->mangled;
    bool ok = shape(&tail, style, k) && work(&done, k);
    unsigned used = 0;
    if (ok) {
        unsigned tail_width = text_columns(tail.at), more = done.count ? 2 + text_columns(done.at) : 0;
        bool fits = text_columns(name) + 2 + tail_width <= style->width;
        bool same = (fits ? text_columns(name) : 0) + 2 + tail_width + more <= style->width;
        ok = mg__layout_tone(out, style, MG_TONE_BOLD, true) &&
             mg__layout_kernel(out, style, name, style->width, &used) &&
             mg__layout_tone(out, style, MG_TONE_BOLD, false) && plain(out, fits ? "  " : "\n  ") &&
             plain(out, tail.at) && (!done.count || (plain(out, same ? ", " : "\n  ") && plain(out, done.at))) &&
             plain(out, "\n");
    }
    mg__strbuf_free(&tail);
    mg__strbuf_free(&done);
    return ok;
}

/* ---- source lines: those of all kernels, one row for a line of a kernel ---- */
struct row {
    const struct mg_tally_kernel *kernel;
    const char *file;
    uint32_t line;
    struct mg_metrics metrics;
    bool several; /* the line is in more than one kernel: the row says which it is */
};

static bool worth_a_row(const struct mg_metrics *m)
{
    return m->v[MG_METRIC_WAVEFRONTS_SHARED] || m->v[MG_METRIC_SECTORS_GLOBAL] || m->v[MG_METRIC_DIVERGENT] ||
           m->v[MG_METRIC_TIME_LINE] || m->v[MG_METRIC_TENSOR] || m->v[MG_METRIC_SECTORS_BULK_LD] ||
           m->v[MG_METRIC_SECTORS_BULK_ST] || m->v[MG_METRIC_SECTORS_BULK_RED] || m->v[MG_METRIC_SECTORS_FAR];
}

static int by_place(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int order = strcmp(a->file, b->file);
    if (order == 0)
        order = (a->line > b->line) - (a->line < b->line);
    if (order == 0)
        order = strcmp(a->kernel->mangled, b->kernel->mangled);
    return order;
}

static int by_badness(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    static const enum mg_metric keys[] = {MG_METRIC_TIME_LINE,      MG_METRIC_CONFLICTS,
                                          MG_METRIC_SECTORS_EXCESS, MG_METRIC_WAVEFRONTS_SHARED,
                                          MG_METRIC_SECTORS_GLOBAL, MG_METRIC_DIVERGENT};
    for (size_t i = 0; i < MG_COUNT(keys); i++) {
        uint64_t x = mg__metric_whole(&a->metrics, keys[i]), y = mg__metric_whole(&b->metrics, keys[i]);
        if (x != y)
            return x > y ? -1 : 1;
    }
    return by_place(left, right);
}

/* Rows of all kernels, equal places of one kernel (launched in several shapes) merged, worst first. */
static bool gather_rows(const struct mg_tally *tally, struct row **rows, size_t *count)
{
    MG_VEC(struct row) v = {0};
    for (size_t i = 0; i < tally->kernels.count; i++) {
        const struct mg_tally_kernel *k = tally->kernels.at[i];
        for (size_t j = 0; j < k->lines.count; j++) {
            const struct mg_report_line *l = &k->lines.at[j];
            struct row r = {.kernel = k, .file = l->file, .line = l->line, .metrics = l->metrics};
            if (l->file[0] && l->line && worth_a_row(&l->metrics) && !mg__vec_push(&v, r)) {
                mg__vec_free(&v);
                return false;
            }
        }
    }
    if (v.count > 1)
        qsort(v.at, v.count, sizeof(*v.at), by_place);
    size_t n = 0;
    for (size_t i = 0; i < v.count; i++) {
        struct row *last = n ? &v.at[n - 1] : NULL;
        bool same_line = last && last->line == v.at[i].line && !strcmp(last->file, v.at[i].file);
        if (same_line && !strcmp(last->kernel->mangled, v.at[i].kernel->mangled)) {
            mg__metrics_add(&last->metrics, &v.at[i].metrics);
            continue;
        }
        if (same_line)
            last->several = v.at[i].several = true;
        v.at[n++] = v.at[i];
    }
    if (n > 1)
        qsort(v.at, n, sizeof(*v.at), by_badness);
    *rows = v.at;
    *count = n;
    return true;
}

/* "    time 12.3 us, 45 % of the kernel's: long_scoreboard 60 %, selected 13 %": what its warps did, from a tenth on,
 * most often first, by Nsight Compute's names. */
static bool line_time(struct mg_strbuf *out, const struct row *row)
{
    static const enum mg_metric stalls[] = {
#define STALL(id, metric) MG_METRIC_##metric,
#include "report/part.def"
    };
    const uint64_t *v = row->metrics.v, time = v[MG_METRIC_TIME_LINE], all = row->kernel->metrics.v[MG_METRIC_TIME];
    uint64_t samples = 0, below = UINT64_MAX;
    char text[MG_DURATION];
    if (!time)
        return true;
    mg__layout_duration(text, (double)time * 1e-9);
    bool ok = mg__strbuf_printf(out, "    time %s, %.0f %% of the kernel's", text,
                                100 * (double)time / (double)MG_MAX(all, UINT64_C(1)));
    for (size_t i = 0; i < MG_COUNT(stalls); i++)
        samples += v[stalls[i]];
    for (bool first = true; ok; first = false) {
        size_t next = MG_COUNT(stalls);
        for (size_t i = 0; i < MG_COUNT(stalls); i++)
            if (v[stalls[i]] < below && (next == MG_COUNT(stalls) || v[stalls[i]] > v[stalls[next]]))
                next = i;
        if (next == MG_COUNT(stalls) || !v[stalls[next]] || v[stalls[next]] * 10 < samples)
            break;
        below = v[stalls[next]];
        ok = mg__strbuf_printf(out, "%s%s %.0f %%", first ? ": " : ", ", mg__metric_stall(stalls[next]),
                               100 * (double)below / (double)samples);
    }
    return ok && plain(out, "\n");
}

static bool line_row(struct mg_strbuf *out, const struct mg_style *style, struct mg_sources *sources,
                     const struct row *row)
{
    const char *file = mg__layout_path(style, row->file), *text;
    size_t length;
    char number[16];
    int n = snprintf(number, sizeof(number), ":%u", row->line);
    unsigned used = 0, half = style->width / 2, left;
    /* A path that would leave the text no room loses its front: its end is what tells files apart. */
    size_t skip = 0, size = strlen(file);
    if (size > half) {
        const char *slash = strchr(file + (size - half), '/');
        skip = slash ? (size_t)(slash - file) + 1 : size - half;
    }
    bool ok = mg__layout_tone(out, style, MG_TONE_BOLD, true) &&
              mg__layout_text(out, style, file + skip, size - skip, style->width - (unsigned)n, &used) &&
              plain(out, number) && mg__layout_tone(out, style, MG_TONE_BOLD, false);
    left = style->width - MG_MIN(style->width, used + (unsigned)n + 2);
    if (ok && row->several) {
        size_t start, bare;
        mg__kernel_bare_name(row->kernel->kernel, &start, &bare);
        ok = plain(out, " (") && mg__layout_text(out, style, row->kernel->kernel + start, bare, left / 2, &used) &&
             plain(out, ")");
        left -= MG_MIN(left, used + 3);
    }
    if (ok && left > 8 && mg__sources_line(sources, row->file, row->line, &text, &length, NULL))
        ok = plain(out, "  ") && mg__layout_text(out, style, text, length, left, NULL);
    return ok && plain(out, "\n") && numbers(out, style, &row->metrics) && other_units(out, &row->metrics) &&
           line_time(out, row);
}

static bool source_table(const struct mg_tally *tally, const struct mg_style *style, struct mg_strbuf *out)
{
    struct row *rows = NULL;
    size_t count = 0;
    bool ok = gather_rows(tally, &rows, &count);
    if (ok && count) {
        struct mg_sources sources;
        mg__sources_init(&sources, style->given);
        ok = title(out, style, "Source lines", ", worst first") && header(out, style);
        for (size_t i = 0; ok && i < count && i < MAX_LINE_ROWS; i++)
            ok = line_row(out, style, &sources, &rows[i]);
        if (ok && count > MAX_LINE_ROWS)
            ok = mg__strbuf_printf(out, "and %zu more lines, none worse than these: --json FILE has them all\n",
                                   count - MAX_LINE_ROWS);
        mg__sources_free(&sources);
    }
    free(rows);
    return ok;
}

/* ---- shared variables: one row for a variable of a kernel, whatever the launch shapes ---- */

/* Adds to `sum` the same variable of the kernel's other rows, from row `from` on; true when there was any. */
static bool same_variable(const struct mg_tally *tally, size_t from, size_t to, const char *mangled,
                          const struct mg_report_var *var, struct mg_metrics *sum)
{
    bool any = false;
    for (size_t i = from; i < to; i++) {
        const struct mg_tally_kernel *k = tally->kernels.at[i];
        for (size_t j = 0; !strcmp(k->mangled, mangled) && j < k->vars.count; j++) {
            if (k->vars.at[j].offset != var->offset || strcmp(k->vars.at[j].name, var->name))
                continue;
            if (sum)
                mg__metrics_add(sum, &k->vars.at[j].metrics);
            any = true;
        }
    }
    return any;
}

static bool variable_row(struct mg_strbuf *out, const struct mg_style *style, const struct mg_tally_kernel *k,
                         const struct mg_report_var *v, const struct mg_metrics *sum)
{
    size_t start, length;
    unsigned used = 0;
    mg__kernel_bare_name(k->kernel, &start, &length);
    bool ok = mg__layout_tone(out, style, MG_TONE_BOLD, true) &&
              mg__layout_text(out, style, v->name, strlen(v->name), style->width / 2, &used) &&
              mg__layout_tone(out, style, MG_TONE_BOLD, false) && plain(out, " in ") &&
              mg__layout_text(out, style, k->kernel + start, length, style->width - used - 4, NULL) && plain(out, "\n");
    for (size_t i = 0; ok && i < MG_COUNT(variable_columns); i++)
        ok = cell(out, style, &variable_columns[i], sum);
    return ok && spaces(out, 1) && mg__layout_number(out, v->size, 10) && plain(out, "\n");
}

static bool variable_table(const struct mg_tally *tally, const struct mg_style *style, struct mg_strbuf *out)
{
    bool ok = true, titled = false;
    for (size_t i = 0; ok && i < tally->kernels.count; i++) {
        const struct mg_tally_kernel *k = tally->kernels.at[i];
        for (size_t j = 0; ok && j < k->vars.count; j++) {
            const struct mg_report_var *v = &k->vars.at[j];
            struct mg_metrics sum = {{0}};
            if (same_variable(tally, 0, i, k->mangled, v, NULL))
                continue; /* it has its row */
            same_variable(tally, i, tally->kernels.count, k->mangled, v, &sum);
            if (!sum.v[MG_METRIC_WAVEFRONTS_SHARED])
                continue;
            if (!titled)
                ok = title(out, style, "Shared variables", "") && mg__layout_tone(out, style, MG_TONE_DIM, true) &&
                     mg__strbuf_printf(out, "    %10s %10s   %s %11s %10s %10s\n", "wavefronts", "ideal",
                                       style->utf8 ? "×ideal" : "xideal", "loads", "stores", "bytes") &&
                     mg__layout_tone(out, style, MG_TONE_DIM, false);
            titled = true;
            ok = ok && variable_row(out, style, k, v, &sum);
        }
    }
    return ok;
}

/* Beside the numbers that it concerns. */
static bool waits_note(struct mg_strbuf *out, const struct mg_style *style, const struct mg_tally_kernel *k)
{
    const char *between = "";
    if (!k->waits)
        return true;
    bool ok = mg__layout_tone(out, style, MG_TONE_DIM, true) && plain(out, "    depends on the order of waiting: ");
    for (unsigned i = 0; i < MG_REPORT_WAITS; i++)
        if (k->waits >> i & 1) {
            ok = ok && plain(out, between) && plain(out, mg__report_wait_name(i));
            between = ", ";
        }
    return ok && plain(out, "\n") && mg__layout_tone(out, style, MG_TONE_DIM, false);
}

/* "    time 12.3 us (8.8 to 17.2 us): latency of memory 48 %, launch 13 %": the parts from a tenth on, largest first.
 */
static bool time_note(struct mg_strbuf *out, const struct mg_tally_kernel *k)
{
    static const struct {
        enum mg_metric metric;
        const char *name;
    } parts[] = {
#define PART(id, metric, name) {MG_METRIC_##metric, name},
#include "report/part.def"
    };
    const uint64_t *v = k->metrics.v, all = v[MG_METRIC_TIME];
    char least[MG_DURATION], most[MG_DURATION], time[MG_DURATION];
    if (!all)
        return true;
    mg__layout_duration(time, (double)all * 1e-9);
    mg__layout_duration(least, (double)v[MG_METRIC_TIME_LEAST] * 1e-9);
    mg__layout_duration(most, (double)v[MG_METRIC_TIME_MOST] * 1e-9);
    bool ok = mg__strbuf_printf(out, "    time %s (%s to %s)", time, least, most), first = true;
    for (uint64_t below = UINT64_MAX; ok;) {
        size_t next = MG_COUNT(parts);
        for (size_t i = 0; i < MG_COUNT(parts); i++)
            if (v[parts[i].metric] < below && (next == MG_COUNT(parts) || v[parts[i].metric] > v[parts[next].metric]))
                next = i;
        if (next == MG_COUNT(parts) || v[parts[next].metric] * 10 < all)
            break;
        below = v[parts[next].metric];
        ok = mg__strbuf_printf(out, "%s%s %.0f %%", first ? ": " : ", ", parts[next].name,
                               100 * (double)below / (double)all);
        first = false;
    }
    double hits;
    if (ok && mg__metric_value(&k->metrics, MG_METRIC_L1_HIT_RATE, &hits) && k->metrics.v[MG_METRIC_L1_SECTORS])
        ok = mg__strbuf_printf(out, "; hits in L1 %.0f %%", hits);
    if (ok && mg__metric_value(&k->metrics, MG_METRIC_L2_HIT_RATE, &hits) && k->metrics.v[MG_METRIC_L1_SECTORS])
        ok = mg__strbuf_printf(out, ", in L2 %.0f %%", hits);
    if (ok && v[MG_METRIC_TIME_NATIVE] < all)
        ok = plain(out, "; machine code guessed from PTX");
    return ok && plain(out, "\n");
}

/* Where a kernel's counts are far from their ideal, or its multiprocessors half empty, there is likely something to
 * gain: who says what is named. */
static bool point_at_advice(const struct mg_tally *tally, const struct mg_style *style, struct mg_strbuf *out)
{
    for (size_t i = 0; i < tally->kernels.count; i++) {
        const struct mg_tally_kernel *k = tally->kernels.at[i];
        double times, efficiency;
        bool conflicts = mg__metric_value(&k->metrics, MG_METRIC_TIMES_IDEAL, &times) && times >= 1.1;
        bool sectors = mg__metric_value(&k->metrics, MG_METRIC_EFFICIENCY, &efficiency) && efficiency < 80;
        if (!conflicts && !sectors && (k->occupancy <= 0 || k->occupancy >= 0.5))
            continue;
        size_t start, length;
        mg__kernel_bare_name(mg__kernel_own_name(k->kernel), &start, &length);
        return plain(out, "\nWhat to change, tried and priced: margay advise --kernel ") &&
               mg__layout_text(out, style, mg__kernel_own_name(k->kernel) + start,
                               strcspn(mg__kernel_own_name(k->kernel), "<("), 24, NULL) &&
               plain(out, "\n");
    }
    return true;
}

bool mg__render_profile(const struct mg_tally *tally, const struct mg_report_device *device,
                        const struct mg_style *style, struct mg_strbuf *out)
{
    bool ok = mg__strbuf_printf(out, "margay %s: counts of a simulated %s (compute capability %u.%u)\n",
                                MG_VERSION_STRING, device->name, device->cc / 10, device->cc % 10);
    if (!tally->kernels.count)
        return ok && plain(out, "no kernel was launched\n");
    bool any_line = false;
    ok = ok && title(out, style, "Kernels", ", costliest first") && header(out, style);
    for (size_t i = 0; ok && i < tally->kernels.count; i++) {
        const struct mg_tally_kernel *k = tally->kernels.at[i];
        ok = kernel_name(out, style, k) && numbers(out, style, &k->metrics) && intervals(out, style, k) &&
             other_units(out, &k->metrics) && time_note(out, k) && waits_note(out, style, k);
        for (size_t j = 0; j < k->lines.count; j++)
            any_line |= k->lines.at[j].file[0] && k->lines.at[j].line;
    }
    ok = ok && source_table(tally, style, out) && variable_table(tally, style, out) &&
         point_at_advice(tally, style, out);
    if (ok && !any_line)
        ok = plain(out, "\nno source lines are known: compile with nvcc -lineinfo to see the counts of each line\n");
    return ok;
}

bool mg__render_summary(const struct mg_tally *tally, const struct mg_style *style, struct mg_strbuf *out)
{
    bool ok = true;
    for (size_t i = 0; ok && i < tally->kernels.count; i++) {
        const struct mg_tally_kernel *k = tally->kernels.at[i];
        struct mg_strbuf tail = {0};
        const char *name = k->kernel[0] ? k->kernel : k->mangled;
        ok =
            plain(&tail, ": ") && shape(&tail, style, k) && plain(&tail, ", ") && mg__layout_seconds(&tail, k->seconds);
        if (ok) {
            /* One line a kernel whatever its name: the name gives way, down to half a screen. */
            unsigned rest = text_columns(tail.at) + 8, half = style->width / 2;
            unsigned room = style->width > rest + half ? style->width - rest : half;
            ok = plain(out, "margay: ") && mg__layout_kernel(out, style, name, room, NULL) && plain(out, tail.at) &&
                 plain(out, "\n");
        }
        mg__strbuf_free(&tail);
    }
    return ok;
}

/* ---- errors and warnings ----
 * margay: error: scale(float*, int): global load of 4 bytes at 0x7f… is outside every allocation
 *   --> examples/scale.cu:12:9
 *    12 | x[i] = y[i + 4096];
 *       | ^
 *   in /usr/local/cuda/include/…:91, inlined there
 *   hint: …
 */
static bool render_diag(const char *severity, enum mg_tone tone, const char *kernel, const struct mg_diag *diag,
                        const struct mg_style *style, struct mg_strbuf *out)
{
    bool ok = mg__layout_tone(out, style, MG_TONE_BOLD, true) && plain(out, "margay: ") &&
              mg__layout_tone(out, style, MG_TONE_BOLD, false) && mg__layout_tone(out, style, tone, true) &&
              plain(out, severity) && mg__layout_tone(out, style, tone, false);
    if (ok && kernel && kernel[0])
        ok = mg__layout_kernel(out, style, kernel, style->width, NULL) && plain(out, ": ");
    const char *message = diag->message[0] ? diag->message : mg_status_text(diag->status);
    ok = ok && mg__layout_text(out, style, message, strlen(message), UINT32_MAX, NULL) && plain(out, "\n");
    struct mg_sources sources;
    mg__sources_init(&sources, style->given);
    const char *text = diag->excerpt;
    size_t length = strlen(text), indent = 0;
    bool has_place = diag->file[0] && diag->line;
    if (ok && has_place) {
        const char *file = mg__layout_path(style, diag->file);
        ok = plain(out, "  --> ") && mg__layout_text(out, style, file, strlen(file), UINT32_MAX, NULL) &&
             mg__strbuf_printf(out, ":%u", diag->line) &&
             (!diag->column || mg__strbuf_printf(out, ":%u", diag->column)) && plain(out, "\n");
        const char *line;
        size_t line_length;
        if (mg__sources_line(&sources, diag->file, diag->line, &line, &line_length, &indent)) {
            text = line;
            length = line_length;
        }
    }
    if (ok && length) {
        char number[16] = "";
        if (has_place)
            snprintf(number, sizeof(number), "%u", diag->line);
        unsigned gutter = (unsigned)MG_MAX(strlen(number), 4u), room = style->width - MG_MIN(style->width, gutter + 4);
        unsigned caret = 0;
        ok = mg__strbuf_printf(out, "%*s | ", (int)gutter + 1, number) &&
             mg__layout_text(out, style, text, length, MG_MAX(room, 20u), NULL) && plain(out, "\n");
        if (diag->column > indent + 1 && diag->column - 1 - indent < length) {
            /* Columns count bytes; the caret goes under the character. */
            struct mg_strbuf measured = {0};
            ok = ok && mg__layout_text(&measured, style, text, diag->column - 1 - indent, UINT32_MAX, &caret);
            mg__strbuf_free(&measured);
        }
        if (ok && has_place && caret < room)
            ok = mg__strbuf_printf(out, "%*s | %*s^\n", (int)gutter + 1, "", (int)caret, "");
    }
    if (ok && diag->inlined_file[0]) {
        const char *header = mg__layout_path(style, diag->inlined_file);
        ok = plain(out, "  in ") && mg__layout_text(out, style, header, strlen(header), UINT32_MAX, NULL) &&
             mg__strbuf_printf(out, ":%u, inlined there\n", diag->inlined_line);
    }
    if (ok && diag->hint[0])
        ok = plain(out, "  hint: ") && mg__layout_text(out, style, diag->hint, strlen(diag->hint), UINT32_MAX, NULL) &&
             plain(out, "\n");
    mg__sources_free(&sources);
    return ok;
}

bool mg__render_error(const char *kernel, const struct mg_diag *diag, const struct mg_style *style,
                      struct mg_strbuf *out)
{
    return render_diag("error: ", MG_TONE_RED, kernel, diag, style, out);
}

bool mg__render_warning(const char *kernel, const struct mg_diag *diag, const struct mg_style *style,
                        struct mg_strbuf *out)
{
    return render_diag("warning: ", MG_TONE_BOLD, kernel, diag, style, out);
}
